//! `pshmem.h`: each routine by the name that a profiling library calls it by (section 10).

use super::print_prototype;
use crate::registry::{Family, GROUPS, Routine};
use std::fmt::Write;

/// Returns the text of `pshmem.h`.
pub fn print() -> String {
    let mut out = String::from(OPENING);
    for group in GROUPS {
        let _ = writeln!(out, "\n/* ---- {} ---- */\n", group.title);
        for routine in group.families.iter().flat_map(Family::routines) {
            let name = format!("p{}", routine.name);
            print_prototype(&mut out, &Routine { name, ..routine });
        }
    }
    out.push_str("\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* FARREACH_PSHMEM_H */\n");
    out
}

const OPENING: &str = "\
/* pshmem.h: the profiling interface of OpenSHMEM 1.6 (section 10).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Printed from the tables of shmem/cabi by `cargo xtask headers`: change those, not this file.
 * Each routine has a second name, with p before it. A library that is found before libshmem may define
 * the first name and call the second. The generic names of C11 are macros and those of C++ inline
 * functions: they call the routines that are named by type, so a library that replaces those sees them
 * too; int32_t is int to them, and so on. Four routines have the names of generic macros: in C11 write
 * (shmem_wait_until), (shmem_sync), (shmem_signal_add), (shmem_signal_set) to define them. The routines
 * of libshmem do not call each other by these names. */
#ifndef FARREACH_PSHMEM_H
#define FARREACH_PSHMEM_H

#include <shmem.h>

#ifdef __cplusplus
extern \"C\" {
#endif
";
