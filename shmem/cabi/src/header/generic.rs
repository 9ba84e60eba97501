//! C11: each generic name is a macro. The number of its arguments says whether the first is a
//! context, the type that the first pointer points to which function is called; qualifiers of that
//! type do not matter.

use super::ctx_by_plain_name;
use crate::registry::{Family, GROUPS, families};
use crate::types::{Set, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

pub(super) fn print(out: &mut String) {
    out.push_str(
        "\n/* ---- C11: generic names, with or without a context as the first argument ---- */\n\n\
         #if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n",
    );
    print_counters(out);
    let sets: BTreeMap<&str, Set> = families()
        .filter_map(Family::generic)
        .map(|(_, set)| (selector(set), set))
        .collect();
    for set in sets.into_values() {
        print_selector(out, set);
    }
    for family in GROUPS.iter().flat_map(|group| group.families) {
        if let Some((base, set)) = family.generic() {
            print_generic(out, family, base, selector(set));
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
    out.push_str(SYNC);
    out.push_str("\n#endif /* C11 */\n");
}

/// The one generic name that is told by the number of arguments: a team, or an active set.
const SYNC: &str = "
#define FARREACH_1_OR_4(a1, a2, a3, a4, name, ...) name
#define shmem_sync(...) FARREACH_1_OR_4(__VA_ARGS__, shmem_sync, FARREACH_WRONG_COUNT, FARREACH_WRONG_COUNT, shmem_team_sync, 0)(__VA_ARGS__)
";

/// The macro of a generic name; a team stands before the pointers, a context is optional.
fn print_generic(out: &mut String, family: &Family, base: &str, select: &str) {
    if !family.has_ctx {
        let team = if family.arguments[0].0 == "team" {
            "team, "
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "\n#define shmem_{base}({team}ptr, ...) {select}(ptr, shmem_, {base})({team}ptr, __VA_ARGS__)"
        );
        return;
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
        Set::Short => "FARREACH_SHORT",
        Set::Waited => "FARREACH_WAITED",
        Set::Bits => "FARREACH_BITS",
        Set::Sum => "FARREACH_SUM",
        Set::OldBits => "FARREACH_OLD_BITS",
        Set::OldOrder => "FARREACH_OLD_ORDER",
        Set::OldSum => "FARREACH_OLD_SUM",
    }
}
