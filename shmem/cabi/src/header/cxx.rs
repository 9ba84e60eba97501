//! C++: each generic name is overloaded over the types that are distinct, with and without a
//! context.

use super::{ctx_by_plain_name, generics};
use crate::registry::{GROUPS, Naming, Routine};
use crate::types::Type;
use std::fmt::Write;

pub(super) fn print(out: &mut String) {
    out.push_str(
        "\n/* ---- C++: overloads of the generic names, with or without a context ---- */\n\n\
         #ifdef __cplusplus\nextern \"C++\" {\n",
    );
    for group in GROUPS {
        for (family, base) in generics(group.families) {
            let Naming::Typed(set, _) = family.naming else {
                continue;
            };
            out.push('\n');
            for ctx in [false, true] {
                if ctx && !family.has_ctx {
                    continue;
                }
                for t in Type::distinct_in(set) {
                    print_overload(out, base, &family.typed(ctx, t));
                }
            }
        }
    }
    out.push('\n');
    for (family, name) in ctx_by_plain_name() {
        for routine in family
            .routines()
            .iter()
            .filter(|r| r.name.starts_with("shmem_ctx_"))
        {
            print_overload(out, name, routine);
        }
    }
    out.push_str("\n}\n#endif /* C++ */\n");
}

fn print_overload(out: &mut String, base: &str, routine: &Routine) {
    let result = if routine.result == "void" {
        ""
    } else {
        "return "
    };
    let names: Vec<&str> = routine
        .arguments
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let overload = Routine {
        name: format!("shmem_{base}"),
        ..routine.clone()
    };
    let _ = writeln!(
        out,
        "inline {} {{ {result}{}({}); }}",
        overload.prototype(),
        routine.name,
        names.join(", ")
    );
}
