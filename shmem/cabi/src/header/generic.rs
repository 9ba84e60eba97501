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
    print_shorts(out);
    for family in GROUPS.iter().flat_map(|group| group.families) {
        if let Some((base, set)) = family.generic() {
            let select = if TAKE_SHORTS.contains(&base) {
                "FARREACH_AMO_OR_SHORT"
            } else {
                selector(set)
            };
            print_generic(out, family, base, select);
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

/// The generic names that take `short` and `unsigned short` too, beyond the standard: Sandia's library
/// does, and its tests ask for it.
const TAKE_SHORTS: &[&str] = &[
    "wait_until_all",
    "wait_until_any",
    "wait_until_some",
    "test_all",
    "test_any",
    "test_some",
];

/// Prints the functions of these names for the two types: loops over the deprecated routines for
/// one object, since the library exports the standard's routines and no others.
fn print_shorts(out: &mut String) {
    out.push_str(SHORTS);
    out.push_str("\n#define FARREACH_AMO_OR_SHORT(ptr, prefix, name) _Generic(*(ptr)");
    for t in Type::distinct_in(Set::Amo) {
        let _ = write!(out, ", \\\n    {}: prefix##{}_##name", t.c, t.name);
    }
    for t in Type::distinct_in(Set::Short) {
        let _ = write!(out, ", \\\n    {}: farreach_{}_##name", t.c, t.name);
    }
    out.push_str(")\n");
}

const SHORTS: &str = "
/* Beyond the standard: several objects of short or unsigned short, as some programs have them. */
#define FARREACH_SEVERAL(type, t) \\
    static __inline__ int farreach_##t##_test_all(type *ivars, size_t nelems, const int *status, int cmp, type value) \\
    { \\
        size_t i; \\
        for (i = 0; i < nelems; i++) \\
            if (!(status && status[i]) && !shmem_##t##_test(&ivars[i], cmp, value)) return 0; \\
        return 1; \\
    } \\
    static __inline__ size_t farreach_##t##_test_any(type *ivars, size_t nelems, const int *status, int cmp, type value) \\
    { \\
        size_t i; \\
        for (i = 0; i < nelems; i++) \\
            if (!(status && status[i]) && shmem_##t##_test(&ivars[i], cmp, value)) return i; \\
        return (size_t)-1; \\
    } \\
    static __inline__ size_t farreach_##t##_test_some(type *ivars, size_t nelems, size_t *indices, const int *status, int cmp, type value) \\
    { \\
        size_t i, found = 0; \\
        for (i = 0; i < nelems; i++) \\
            if (!(status && status[i]) && shmem_##t##_test(&ivars[i], cmp, value)) indices[found++] = i; \\
        return found; \\
    } \\
    static __inline__ int farreach_##t##_none(size_t nelems, const int *status) \\
    { \\
        size_t i; \\
        for (i = 0; i < nelems; i++) \\
            if (!(status && status[i])) return 0; \\
        return 1; \\
    } \\
    static __inline__ void farreach_##t##_wait_until_all(type *ivars, size_t nelems, const int *status, int cmp, type value) \\
    { \\
        size_t i; \\
        for (i = 0; i < nelems; i++) \\
            if (!(status && status[i])) shmem_##t##_wait_until(&ivars[i], cmp, value); \\
    } \\
    static __inline__ size_t farreach_##t##_wait_until_any(type *ivars, size_t nelems, const int *status, int cmp, type value) \\
    { \\
        size_t found = (size_t)-1; \\
        if (!farreach_##t##_none(nelems, status)) \\
            while ((found = farreach_##t##_test_any(ivars, nelems, status, cmp, value)) == (size_t)-1) {} \\
        return found; \\
    } \\
    static __inline__ size_t farreach_##t##_wait_until_some(type *ivars, size_t nelems, size_t *indices, const int *status, int cmp, type value) \\
    { \\
        size_t found = 0; \\
        if (!farreach_##t##_none(nelems, status)) \\
            while ((found = farreach_##t##_test_some(ivars, nelems, indices, status, cmp, value)) == 0) {} \\
        return found; \\
    }
FARREACH_SEVERAL(short, short)
FARREACH_SEVERAL(unsigned short, ushort)
";

/// Prints the macro of a generic name; a team stands before the pointers, a context is optional.
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

/// Prints the macros `FARREACH_n_OR_m(arguments, with_m, with_n, wrong, 0)`, which choose by the
/// number of arguments.
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

/// Prints the macro that turns the type of `*ptr` into the name of a function.
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
