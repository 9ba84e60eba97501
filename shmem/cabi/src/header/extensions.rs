//! `shmemx.h`: names with `shmemx_` of routines that programs used before they were standard, and a clock.

use crate::registry::{Family, GROUPS, Naming, families};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::LazyLock;

/// The families that have been in the standard since its first version, or nearly: nobody calls these by
/// other names. Deprecated ones do not count either.
const FIRST: &[&str] = &[
    "init",
    "my_pe",
    "n_pes",
    "finalize",
    "global_exit",
    "pe_accessible",
    "addr_accessible",
    "ptr",
    "info_get_version",
    "info_get_name",
    "malloc",
    "free",
    "realloc",
    "align",
    "put",
    "p",
    "iput",
    "get",
    "g",
    "iget",
    "barrier_all",
    "wait_until",
    "fence",
    "quiet",
    "set_lock",
    "clear_lock",
    "test_lock",
    "pcontrol",
];

/// Returns the text of `shmemx.h`.
pub fn print() -> String {
    let mut out = String::from(OPENING);
    for group in GROUPS {
        let families = group
            .families
            .iter()
            .filter(|family| became_standard(family));
        let names: Vec<String> = families.flat_map(names).collect();
        if !names.is_empty() {
            let _ = writeln!(out, "\n/* ---- {} ---- */\n", group.title);
        }
        for name in names {
            let _ = writeln!(out, "#define {} {name}", with_x(&name));
        }
    }
    out.push_str(CLOCK);
    out
}

/// Returns the name that `shmemx.h` has for a routine or a generic name, if it has one.
pub fn extended(name: &str) -> Option<String> {
    static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let families = families().filter(|family| became_standard(family));
        families.flat_map(names).collect()
    });
    NAMES.contains(name).then(|| with_x(name))
}

fn with_x(name: &str) -> String {
    name.replacen("shmem_", "shmemx_", 1)
}

/// Returns the names of a family's routines, and its generic name.
fn names(family: &'static Family) -> impl Iterator<Item = String> {
    let routines = family.routines().into_iter().map(|routine| routine.name);
    routines.chain(family.generic().map(|(base, _)| format!("shmem_{base}")))
}

/// Returns whether the routines of the family came later, and are current.
fn became_standard(family: &Family) -> bool {
    let name = match family.naming {
        Naming::Once(name) => name.to_owned(),
        Naming::Old(_) => return false,
        Naming::Sized(_, before, after) => format!("{before}{after}"),
        Naming::Typed { base, .. } => base.to_owned(),
    };
    family.deprecated().is_none() && !FIRST.contains(&name.as_str())
}

const OPENING: &str = "\
/* shmemx.h: extensions beyond OpenSHMEM 1.6 (section 5), and the names that programs use for
 * routines which were extensions before they became standard.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Printed from the tables of shmem/cabi by `cargo xtask headers`: change those, not this file.
 * A name with shmemx_ stands for the one without x, whatever that is: a function, a generic macro of
 * C11, an overloaded function of C++. The library exports none of these names. */
#ifndef FARREACH_SHMEMX_H
#define FARREACH_SHMEMX_H

#include <shmem.h>
";

/// The clock of the system: declared by another name, so that a strict C99 or a program that asks for
/// another POSIX than the one with clocks can have it too.
const CLOCK: &str = "
#define shmemx_sync shmem_sync

/* ---- Beyond the standard ---- */

/* The PEs that share the caller's memory. */
#define SHMEMX_TEAM_NODE SHMEM_TEAM_SHARED

/* A hint for shmem_malloc_with_hints that asks for nothing: every allocation ends with a barrier. */
#define SHMEMX_MALLOC_NO_BARRIER 0L

#ifdef __cplusplus
extern \"C\" {
#endif

/* Tells programs that shmemx_wtime is there; without it they define a clock of their own. */
#define HAVE_SHMEMX_WTIME 1

struct farreach_time {
    long seconds, nanoseconds;
};

int farreach_clock(int clock, struct farreach_time *now) __asm__(\"clock_gettime\");

/* Returns the seconds since some moment in the past, by a clock that never goes back (Linux's
 * CLOCK_MONOTONIC). May be called at any time.
 * Errors: none. */
static __inline__ double shmemx_wtime(void)
{
    struct farreach_time now = {0, 0};
    (void)farreach_clock(1, &now);
    return (double)now.seconds + 1e-9 * (double)now.nanoseconds;
}

#ifdef __cplusplus
}
#endif

#endif /* FARREACH_SHMEMX_H */
";
