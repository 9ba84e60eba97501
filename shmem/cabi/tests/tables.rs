//! The tables against numbers and names that stand in the specification.

use shmem_cabi::registry::{self, Family, GROUPS, families, symbols};
use shmem_cabi::types::{Set, Type};
use std::collections::BTreeSet;

/// Returns the number of picked routines that are current, and of those that are deprecated.
fn counts(pick: impl Fn(&Family, &str) -> bool) -> (usize, usize) {
    let count = |deprecated: bool| {
        let families = families().filter(|family| family.deprecated().is_some() == deprecated);
        families
            .flat_map(|family| {
                family
                    .routines()
                    .into_iter()
                    .map(move |routine| (family, routine))
            })
            .filter(|(family, routine)| pick(family, &routine.name))
            .count()
    };
    (count(false), count(true))
}

#[test]
fn sets_have_as_many_types_as_in_the_specification() {
    let count = |set| Type::all_in(set).count();
    assert_eq!(count(Set::Rma), 24);
    assert_eq!(count(Set::Value), 24);
    assert_eq!(count(Set::Amo), 12);
    assert_eq!(count(Set::Extended), 14);
    assert_eq!(count(Set::Bitwise), 7);
    assert_eq!(count(Set::Short), 2);
    assert_eq!(count(Set::Waited), 14);
    assert_eq!(count(Set::Bits), 14);
    assert_eq!(count(Set::Sum), 26);
    assert_eq!(count(Set::OldBits), 4);
    assert_eq!(count(Set::OldOrder), 7);
    assert_eq!(count(Set::OldSum), 9);
}

#[test]
fn each_built_in_type_is_distinct_once() {
    for (set, expected) in [
        (Set::Rma, 14),
        (Set::Amo, 6),
        (Set::Extended, 8),
        (Set::Bitwise, 5),
        (Set::Waited, 8),
        (Set::Bits, 9),
        (Set::Sum, 16),
    ] {
        let distinct = Type::distinct_in(set);
        assert_eq!(distinct.len(), expected, "{set:?}");
        let same: BTreeSet<_> = Type::all_in(set).map(|t| t.same_as).collect();
        assert_eq!(same.len(), expected, "{set:?}");
    }
}

/// Compares the groups with those of the specification: current and deprecated routines.
#[test]
fn families_have_as_many_routines_as_in_the_specification() {
    let section = |section: &'static str| {
        counts(move |family, _| {
            family
                .section
                .strip_prefix(section)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    assert_eq!(section("9.1"), (12, 3));
    assert_eq!(section("9.2"), (2, 0));
    assert_eq!(section("9.3"), (6, 4));
    let strided = |name: &str| {
        ["iput", "iget", "ibput", "ibget"]
            .iter()
            .any(|part| name.contains(part))
    };
    assert_eq!(
        counts(|family, name| family.section.starts_with("9.6.1") && !strided(name)),
        (216, 0)
    );
    assert_eq!(counts(|_, name| strided(name)), (232, 0));
    assert_eq!(section("9.6.2"), (120, 0));
    assert_eq!(section("9.7.1"), (288, 102));
    assert_eq!(section("9.7.2"), (170, 0));
    assert_eq!(
        counts(|_, name| name.contains("_put") && name.contains("signal")),
        (120, 0)
    );
    assert_eq!(
        counts(|family, name| family.section.starts_with("9.8") && !name.contains("_put")),
        (5, 0)
    );
    assert_eq!(section("9.11"), (14 * 12 + 1, 10));
    assert_eq!(section("9.12"), (6, 0));
    assert_eq!(section("9.13"), (3, 0));
    let of = |parts: &'static [&str]| {
        counts(move |family, name| {
            family.section.starts_with("9.10.") && parts.iter().any(|part| name.contains(part))
        })
    };
    assert_eq!(of(&["broadcast", "collect", "alltoall"]).0, 125);
    assert_eq!(of(&["_reduce"]).0, 142);
    assert_eq!(of(&["_inscan", "_exscan"]).0, 52);
    assert_eq!(
        section("9.4").0 + of(&["team_sync"]).0 + counts(|_, name| name == "shmem_team_ptr").0,
        9
    );
    assert_eq!(section("9.5"), (4, 0));
    assert_eq!(section("9.9"), (2, 0));
    assert_eq!(of(&["_to_all"]), (0, 44));
    assert_eq!(
        of(&["broadcast", "collect", "alltoall", "_barrier", "_sync"]),
        (128, 12)
    );
    assert_eq!(section("10"), (1, 0));
    let all = counts(|_, _| true);
    assert_eq!((all.0 + all.1, all.1), (1860, 175));
}

#[test]
fn every_routine_has_a_name_for_profiling_and_the_list_little_else() {
    let mut expected: Vec<String> = registry::names()
        .flat_map(|name| [format!("p{name}"), name])
        .chain(["TEAM_INVALID", "TEAM_WORLD", "TEAM_SHARED"].map(|name| format!("SHMEM_{name}")))
        .chain(["CTX_INVALID", "CTX_DEFAULT"].map(|name| format!("SHMEM_{name}")))
        .chain(["farreach_direct_forget", "farreach_direct_register"].map(str::to_owned))
        .collect();
    expected.sort();
    assert_eq!(symbols(), expected);
}

#[test]
fn a_generic_name_covers_what_is_declared() {
    let all: BTreeSet<String> = registry::names().collect();
    for family in families() {
        if let Some((base, set)) = family.generic() {
            for t in Type::all_in(set) {
                let name = format!("shmem_{}_{base}", t.name);
                assert!(all.contains(&name), "{name}");
            }
        }
    }
}

#[test]
fn no_name_occurs_twice() {
    let all = symbols();
    let once: BTreeSet<_> = all.iter().collect();
    assert_eq!(all.len(), once.len());
}

#[test]
fn every_family_says_what_it_does_and_where_that_is_written() {
    for family in families() {
        let routine = &family.routines()[0].name;
        assert!(family.summary().ends_with('.'), "{routine}");
        assert!(family.on_errors().ends_with('.'), "{routine}");
        assert!(
            family.section.starts_with("9.") || family.section.starts_with("10."),
            "{routine}"
        );
        for (argument, _) in family.arguments.iter().filter(|(name, _)| *name != "more") {
            assert!(family.about(argument).is_some(), "{routine}: {argument}");
        }
        for line in family.docs {
            assert!(!line.contains("*/"), "{routine}");
            if let Some((name, _)) = line
                .trim()
                .strip_prefix("- ")
                .and_then(|line| line.split_once(": "))
            {
                assert!(
                    family.arguments.iter().any(|(known, _)| *known == name),
                    "{routine}: {name}"
                );
            }
        }
    }
    assert!(GROUPS.iter().all(|group| !group.families.is_empty()));
}

#[test]
fn prototypes_are_those_of_the_specification() {
    let all: Vec<_> = families().flat_map(|family| family.routines()).collect();
    for expected in [
        "void *shmem_malloc(size_t size)",
        "void shmem_info_get_version(int *major, int *minor)",
        "void shmem_global_exit(int status)",
        "void *shmem_ptr(const void *dest, int pe)",
        "int shmem_my_pe(void)",
        "void shmem_ctx_quiet(shmem_ctx_t ctx)",
        "long double shmem_longdouble_g(const long double *source, int pe)",
        "void shmem_put128_nbi(void *dest, const void *source, size_t nelems, int pe)",
        "unsigned long long shmem_ctx_ulonglong_atomic_fetch_xor(shmem_ctx_t ctx, \
         unsigned long long *dest, unsigned long long value, int pe)",
        "size_t shmem_ptrdiff_wait_until_some_vector(ptrdiff_t *ivars, size_t nelems, \
         size_t *indices, const int *status, int cmp, const ptrdiff_t *cmp_values)",
        "void shmem_longlong_wait(long long *ivar, long long cmp_value)",
        "void shmem_wait_until(long *ivar, int cmp, long cmp_value)",
        "int shmem_ushort_test(unsigned short *ivar, int cmp, unsigned short cmp_value)",
        "float shmem_float_swap(float *dest, float value, int pe)",
        "void *shmemalign(size_t alignment, size_t size)",
        "void start_pes(int npes)",
        "void shmem_pcontrol(int level, ...)",
        "void shmem_ctx_ibput128(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, \
         ptrdiff_t sst, size_t bsize, size_t nblocks, int pe)",
        "void shmem_putmem_signal(void *dest, const void *source, size_t nelems, \
         uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)",
    ] {
        assert!(
            all.iter().any(|routine| routine.prototype() == expected),
            "{expected}"
        );
    }
}
