//! C11: each generic name is a macro. The number of its arguments says whether the first is a
//! context, the type that the first pointer points to which function is called; qualifiers of that
//! type do not matter.

use super::{ctx_by_plain_name, generics};
use crate::registry::{GROUPS, families};
use crate::types::{Set, Type};
use std::collections::BTreeSet;
use std::fmt::Write;

pub(super) fn print(out: &mut String) {
    out.push_str(
        "\n/* ---- C11: generic names, with or without a context as the first argument ---- */\n\n\
         #if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n",
    );
    print_counters(out);
    for set in [Set::Rma, Set::Amo, Set::Extended, Set::Bitwise] {
        print_selector(out, set);
    }
    for group in GROUPS {
        for (family, base) in generics(group.families) {
            let crate::registry::Naming::Typed(set, _) = family.naming else {
                continue;
            };
            let select = selector(set);
            if !family.has_ctx {
                let _ = writeln!(
                    out,
                    "\n#define shmem_{base}(ptr, ...) {select}(ptr, shmem_, {base})(ptr, __VA_ARGS__)"
                );
                continue;
            }
            let counter = counter(family.arguments.len());
            let _ = writeln!(
                out,
                "\n#define shmem_{base}(...) {counter}(__VA_ARGS__, FARREACH_ctx_{base}, \
                 FARREACH_{base}, FARREACH_WRONG_COUNT, 0)(__VA_ARGS__)\n\
                 #define FARREACH_{base}(ptr, ...) {select}(ptr, shmem_, {base})(ptr, __VA_ARGS__)\n\
                 #define FARREACH_ctx_{base}(ctx, ptr, ...) {select}(ptr, shmem_ctx_, {base})(ctx, ptr, __VA_ARGS__)"
            );
        }
    }
    for (family, name) in ctx_by_plain_name() {
        let counter = counter(family.arguments.len());
        let _ = writeln!(
            out,
            "\n#define shmem_{name}(...) {counter}(__VA_ARGS__, shmem_ctx_{name}, \
             shmem_{name}, FARREACH_WRONG_COUNT, 0)(__VA_ARGS__)"
        );
    }
    out.push_str("\n#endif /* C11 */\n");
}

/// `FARREACH_n_OR_m(arguments, with_m, with_n, wrong, 0)` is the macro for their number.
fn print_counters(out: &mut String) {
    let with_ctx = families().filter(|family| family.has_ctx);
    let counts: BTreeSet<usize> = with_ctx
        .map(|family| family.arguments.len())
        .filter(|n| *n > 1)
        .collect();
    out.push_str("\n#define FARREACH_WRONG_COUNT(...) sizeof(struct FARREACH_too_few_arguments)\n");
    for n in counts {
        let names: Vec<String> = (1..=n + 1).map(|i| format!("a{i}")).collect();
        let _ = writeln!(
            out,
            "#define {}({}, name, ...) name",
            counter(n),
            names.join(", ")
        );
    }
}

fn counter(n: usize) -> String {
    format!("FARREACH_{n}_OR_{}", n + 1)
}

/// The macro that turns the type of `*ptr` into the name of a function.
fn print_selector(out: &mut String, set: Set) {
    let _ = write!(
        out,
        "\n#define {}(ptr, prefix, name) _Generic(*(ptr)",
        selector(set)
    );
    for t in Type::distinct_in(set) {
        let _ = write!(out, ", \\\n    {}: prefix##{}_##name", t.c, t.name);
    }
    out.push_str(")\n");
}

fn selector(set: Set) -> &'static str {
    match set {
        // The same 24 types.
        Set::Rma | Set::Value => "FARREACH_RMA",
        Set::Amo => "FARREACH_AMO",
        Set::Extended => "FARREACH_EXTENDED",
        Set::Bitwise => "FARREACH_BITWISE",
    }
}
