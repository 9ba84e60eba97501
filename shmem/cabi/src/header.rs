//! Prints `include/shmem.h`: constants, prototypes, C11 generics, C++ overloads.

mod cxx;
mod generic;

use crate::constants;
use crate::registry::{Family, GROUPS, Naming};
use std::fmt::Write;

/// The header.
pub fn print() -> String {
    let mut out = String::from(OPENING);
    print_constants(&mut out);
    out.push_str("\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    print_prototypes(&mut out);
    out.push_str("\n#ifdef __cplusplus\n}\n#endif\n");
    generic::print(&mut out);
    cxx::print(&mut out);
    out.push_str("\n#endif /* FARREACH_SHMEM_H */\n");
    out
}

const OPENING: &str = "\
/* shmem.h: OpenSHMEM 1.6 in C and C++, by Farreach.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Printed from the tables of shmem/cabi by `cargo xtask headers`: change those, not this file.
 * Sections are those of the OpenSHMEM 1.6 specification. PEs are numbered from 0; nelems counts
 * elements, sizes are in bytes. dest of a put and source of a get, the operands of atomics, signals
 * and what is waited on are symmetric: they lie in the symmetric heap or in the program's static
 * data, and are named by their address here. */
#ifndef FARREACH_SHMEM_H
#define FARREACH_SHMEM_H

#include <stddef.h>
#include <stdint.h>

/* A communication context; the routines without a ctx argument use SHMEM_CTX_DEFAULT. */
typedef struct farreach_context *shmem_ctx_t;
";

fn print_constants(out: &mut String) {
    for (heading, constants) in constants::groups() {
        let _ = writeln!(out, "\n/* {heading} */");
        for c in &constants {
            let _ = writeln!(out, "#define {} {}", c.name, c.value);
        }
        for c in constants.iter().filter(|c| c.underscored) {
            let _ = writeln!(out, "#define _{} {}", c.name, c.name);
        }
    }
}

fn print_prototypes(out: &mut String) {
    for group in GROUPS {
        let _ = writeln!(out, "\n/* ---- {} ---- */", group.title);
        for family in group.families {
            let _ = writeln!(
                out,
                "\n/* {} Section {}. */",
                family.summary.trim(),
                family.section
            );
            for routine in family.routines() {
                let never = if routine.never_returns {
                    "__attribute__((__noreturn__)) "
                } else {
                    ""
                };
                let _ = writeln!(out, "{never}{};", routine.prototype());
            }
        }
    }
}

/// The families that have one generic name for all types: that name without `shmem_`, and how many
/// arguments its plain form takes.
fn generics(families: &'static [Family]) -> impl Iterator<Item = (&'static Family, &'static str)> {
    families.iter().filter_map(|family| match family.naming {
        Naming::Typed(_, base) => Some((family, base)),
        _ => None,
    })
}

/// The routines whose plain form is a function and whose generic name accepts a context as well
/// (sections 9.8.3 and 9.8.5).
fn ctx_by_plain_name() -> impl Iterator<Item = (&'static Family, &'static str)> {
    crate::signal::FAMILIES
        .iter()
        .filter_map(|family| match family.naming {
            Naming::Once(name) if family.has_ctx => Some((family, name)),
            _ => None,
        })
}
