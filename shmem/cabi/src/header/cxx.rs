//! C++: each generic name is overloaded over the types that are distinct, with and without a
//! context.

use super::{before, ctx_by_plain_name, function};
use crate::registry::{Family, GROUPS, Routine, families};
use crate::types::Type;
use std::fmt::Write;

pub(super) fn print(out: &mut String) {
    out.push_str(
        "\n/* ---- C++: overloads of the generic names, with or without a context ---- */\n\n\
         #ifdef __cplusplus\nextern \"C++\" {\n",
    );
    for family in GROUPS.iter().flat_map(|group| group.families) {
        let Some((base, set)) = family.generic() else {
            continue;
        };
        out.push('\n');
        let name = format!("shmem_{base}");
        for ctx in [false, true] {
            if ctx && !family.has_ctx {
                continue;
            }
            for t in Type::distinct_in(set) {
                print_overload(out, &name, &family.typed(ctx, t));
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
            print_overload(out, &format!("shmem_{name}"), routine);
        }
    }
    for routine in families().flat_map(Family::routines) {
        if routine.name == "shmem_team_sync" {
            print_overload(out, "shmem_sync", &routine);
        }
    }
    out.push_str("\n}\n#endif /* C++ */\n");
}

/// Prints the function, unless C has it already: shmem_wait_until of a long.
fn print_overload(out: &mut String, name: &str, routine: &Routine) {
    let types = |r: &Routine| {
        r.arguments
            .iter()
            .map(|(_, c)| c.clone())
            .collect::<Vec<_>>()
    };
    if function(name).is_some_and(|of_c| types(&of_c) == types(routine)) {
        return;
    }
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
        name: name.to_owned(),
        ..routine.clone()
    };
    let _ = writeln!(
        out,
        "{}inline {} {{ {result}{}({}); }}",
        before(routine),
        overload.prototype(),
        routine.name,
        names.join(", ")
    );
}
