//! Prints the headers of `include/`: `shmem.h` with constants, prototypes, C11 generics and C++
//! overloads, `shmem_direct.h`, `pshmem.h` and `shmemx.h`.

mod cxx;
mod direct;
mod extensions;
mod generic;
mod profiling;

pub use direct::print as print_direct;
pub use extensions::{extended, print as print_extensions};
pub use profiling::print as print_profiling;

use crate::constants;
use crate::registry::{Family, GROUPS, Naming, Routine, c_name, families};
use std::fmt::Write;

/// Returns the text of `shmem.h`.
pub fn print() -> String {
    let mut out = String::from(OPENING);
    print_constants(&mut out);
    out.push_str("\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    print_prototypes(&mut out);
    out.push_str("\n#ifdef __cplusplus\n}\n#endif\n");
    out.push_str(DIRECT);
    generic::print(&mut out);
    cxx::print(&mut out);
    out.push_str("\n#endif /* FARREACH_SHMEM_H */\n");
    out
}

const DIRECT: &str = "
/* ---- p, g, the atomics, ptr and fence in line, for those who ask for it ---- */

#ifdef SHMEM_DIRECT
#include <shmem_direct.h>
#endif
";

const OPENING: &str = "\
/* shmem.h: OpenSHMEM 1.6 in C and C++, by Farreach.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Printed from the tables of shmem/cabi by `cargo xtask headers`: change those, not this file.
 * Sections are those of the OpenSHMEM 1.6 specification. PEs are numbered from 0. An object is
 * symmetric when it lies in the symmetric heap or in the program's static data; it is named by its
 * address on the calling PE. An error that ends the job with a message ends all of it, with
 * status 1. So does a call before initialization or after finalization, but for the routines that
 * initialize, query_initialized, the info routines, pe_accessible, addr_accessible and ptr, which
 * tell that nothing can be reached. */
#ifndef FARREACH_SHMEM_H
#define FARREACH_SHMEM_H

#include <stddef.h>
#include <stdint.h>

/* A communication context; the routines without a ctx argument use SHMEM_CTX_DEFAULT. */
typedef struct farreach_context *shmem_ctx_t;

/* A team of PEs, numbered from 0; the routines without a team or a context use SHMEM_TEAM_WORLD. */
typedef struct farreach_team *shmem_team_t;

/* The configuration of a team: how many contexts the program wants to have of it at a time. They are
 * made when they are asked for; a wish for none, the default, does not forbid them. Section 9.4.3. */
typedef struct {
    int num_contexts;
} shmem_team_config_t;

/* Configures a session: the most operations that are expected in it. Section 9.9.1. */
typedef struct {
    size_t total_ops;
} shmem_ctx_session_config_t;
";

fn print_constants(out: &mut String) {
    for (heading, constants) in constants::groups() {
        let _ = writeln!(out, "\n/* {heading} */");
        // Before the macros, which would take their names.
        for c in &constants {
            if let Some(object) = c.object {
                let _ = writeln!(out, "extern const {object} {};", c.name);
            }
        }
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
            let _ = write!(out, "\n{}", comment(family));
            for routine in family.routines() {
                print_prototype(out, &routine);
            }
        }
    }
}

/// Prints a prototype on a line of its own.
fn print_prototype(out: &mut String, routine: &Routine) {
    let _ = writeln!(out, "{}{};", before(routine), routine.prototype());
}

/// Returns the words before a declaration: attributes, and the permission of complex numbers, which
/// strict C++ does not have.
fn before(routine: &Routine) -> String {
    let mut words = String::new();
    if routine
        .arguments
        .iter()
        .any(|(_, c)| c.contains("_Complex"))
    {
        words.push_str("__extension__ ");
    }
    if routine.never_returns {
        words.push_str("__attribute__((__noreturn__)) ");
    }
    words
}

/// The greatest width of a comment.
const WIDTH: usize = 100;

/// Returns the documentation of a family as a C comment: the contract, the arguments, errors,
/// section.
fn comment(family: &Family) -> String {
    let mut lines = wrap(&family.summary(), "");
    if family.has_ctx {
        lines.extend(wrap(
            "ctx: the context; without it the default context",
            "  ",
        ));
    }
    for (argument, _) in family.arguments {
        if let Some(meaning) = family.about(argument) {
            lines.extend(wrap(&format!("{}: {meaning}", c_name(argument)), "  "));
        }
    }
    lines.extend(wrap(&format!("Errors: {}", family.on_errors()), ""));
    if let Some(deprecated) = family.deprecated() {
        lines.extend(wrap(deprecated, ""));
    }
    lines.push(format!("Section {}.", family.section));
    format!("/* {} */\n", lines.join("\n * "))
}

/// Breaks a text into lines; the first begins with `indent`, the others with more of it.
fn wrap(text: &str, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = indent.to_owned();
    let mut has_words = false;
    for word in text.split_whitespace() {
        if has_words && line.len() + 1 + word.len() > WIDTH - 3 {
            lines.push(line);
            line = format!("{indent}{indent}");
            has_words = false;
        }
        if has_words {
            line.push(' ');
        }
        line.push_str(word);
        has_words = true;
    }
    lines.push(line);
    lines
}

/// Returns the routines whose plain form is a function and whose generic name accepts a context as
/// well (sections 9.8.3 and 9.8.5).
fn ctx_by_plain_name() -> impl Iterator<Item = (&'static Family, &'static str)> {
    crate::signal::FAMILIES
        .iter()
        .filter_map(|family| match family.naming {
            Naming::Once(name) if family.has_ctx => Some((family, name)),
            _ => None,
        })
}

/// Returns the routine of that name, if it is one of its own and not made for each type or size.
fn function(name: &str) -> Option<Routine> {
    families()
        .filter(|family| matches!(family.naming, Naming::Once(_)))
        .flat_map(Family::routines)
        .find(|routine| routine.name == name)
}
