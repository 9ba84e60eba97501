//! The tables against numbers and names that stand in the specification.

use shmem_cabi::registry::{GROUPS, families, symbols};
use shmem_cabi::types::{Set, Type};
use std::collections::BTreeSet;

fn names(pick: impl Fn(&str) -> bool) -> Vec<String> {
    symbols().into_iter().filter(|name| pick(name)).collect()
}

#[test]
fn sets_have_as_many_types_as_in_the_specification() {
    let count = |set| Type::all_in(set).count();
    assert_eq!(count(Set::Rma), 24);
    assert_eq!(count(Set::Value), 24);
    assert_eq!(count(Set::Amo), 12);
    assert_eq!(count(Set::Extended), 14);
    assert_eq!(count(Set::Bitwise), 7);
}

#[test]
fn each_built_in_type_is_distinct_once() {
    for (set, expected) in [
        (Set::Rma, 14),
        (Set::Amo, 6),
        (Set::Extended, 8),
        (Set::Bitwise, 5),
    ] {
        let distinct = Type::distinct_in(set);
        assert_eq!(distinct.len(), expected, "{set:?}");
        let same: BTreeSet<_> = Type::all_in(set).map(|t| t.same_as).collect();
        assert_eq!(same.len(), expected, "{set:?}");
    }
}

#[test]
fn families_have_as_many_routines_as_in_the_specification() {
    let is_nbi = |name: &str| name.ends_with("_nbi");
    let is_atomic = |name: &str| name.contains("_atomic_");
    let is_signal = |name: &str| name.contains("signal");
    let is_put_get = |name: &str| {
        let parts: Vec<&str> = name.split('_').collect();
        let is_one = |part: &&str| {
            matches!(*part, "p" | "g") || part.starts_with("put") || part.starts_with("get")
        };
        let is_other = is_atomic(name) || is_signal(name) || name.starts_with("shmem_info");
        !is_other && parts.iter().any(is_one)
    };
    assert_eq!(names(|n| is_put_get(n) && !is_nbi(n)).len(), 216);
    assert_eq!(names(|n| is_put_get(n) && is_nbi(n)).len(), 120);
    assert_eq!(names(|n| is_atomic(n) && !is_nbi(n)).len(), 288);
    assert_eq!(names(|n| is_atomic(n) && is_nbi(n)).len(), 170);
    assert_eq!(names(|n| n.contains("_put") && is_signal(n)).len(), 120);
    assert_eq!(
        names(|n| n.contains("_signal_") && !n.contains("_put")).len(),
        6
    );
    assert_eq!(
        names(|n| n.contains("_wait_until") && !is_signal(n)).len(),
        7 * 12
    );
    assert_eq!(names(|n| n.contains("_test")).len(), 7 * 12);
    assert_eq!(
        names(|n| n.ends_with("quiet") || n.ends_with("fence")).len(),
        6
    );
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
        assert!(family.summary.trim().ends_with('.'), "{family:?}");
        assert!(family.section.starts_with("9."), "{family:?}");
        assert!(!family.summary.contains("*/"), "{family:?}");
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
        "void shmem_putmem_signal(void *dest, const void *source, size_t nelems, \
         uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)",
    ] {
        assert!(
            all.iter().any(|routine| routine.prototype() == expected),
            "{expected}"
        );
    }
}
