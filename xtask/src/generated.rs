//! The generated files that are checked in: the headers and the list of exported names.

use crate::error::{Error, Result};
use crate::library::{ONLY_STATIC, SONAME, SYMBOLS};
use crate::stage;
use crate::workspace::{Workspace, output, read, write};
use std::collections::HashSet;
use std::process::Command;

const HEADER: &str = "include/shmem.h";
const DIRECT: &str = "include/shmem_direct.h";
const PROFILING: &str = "include/pshmem.h";
const EXTENSIONS: &str = "include/shmemx.h";

/// The generator's names of the files, and where they lie.
const FILES: [(&str, &str); 5] = [
    ("header", HEADER),
    ("direct", DIRECT),
    ("profiling", PROFILING),
    ("extensions", EXTENSIONS),
    ("symbols", SYMBOLS),
];

/// Writes the headers and the list of names, or compares them.
pub(crate) fn headers(ws: &Workspace, check: bool) -> Result<()> {
    for (what, path) in FILES {
        let fresh = ws.generated(what)?;
        let path = ws.file(path);
        if !check {
            write(&path, &fresh)?;
        } else if let Some(difference) = first_difference(&read(&path)?, &fresh) {
            return Err(Error::Check(format!(
                "{}: {difference}; `cargo xtask headers` writes it anew",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Compares the names that libshmem.so and libshmem.a offer to the linker, and those that the headers
/// declare, with the list; the names of the routines have to be weak there.
pub(crate) fn symbols(ws: &Workspace) -> Result<()> {
    let list = read(&ws.file(SYMBOLS))?;
    let listed: Vec<&str> = list.lines().collect();
    let lib = stage::stage(ws)?.join("lib");
    let checking = format!("check/{SONAME}");
    let mut of_archive = listed.clone();
    of_archive.push(ONLY_STATIC);
    of_archive.sort_unstable();
    let libraries = [
        (SONAME, "--dynamic", &listed),
        (&checking, "--dynamic", &listed),
        ("libshmem.a", "--extern-only", &of_archive),
    ];
    for (library, table, expected) in libraries {
        let mut nm = Command::new("nm");
        let output = output(nm.args([table, "--defined-only"]).arg(lib.join(library)))?;
        let symbols = output.lines().filter_map(|line| line.rsplit_once(' '));
        let (mut offered, mut weak) = (Vec::new(), Vec::new());
        for (before, name) in symbols {
            offered.push(name);
            if before.ends_with('W') {
                weak.push(name);
            }
        }
        offered.sort_unstable();
        weak.sort_unstable();
        same(library, expected, &offered)?;
        same(library, &routines(&listed), &weak)?;
    }
    let header = read(&ws.file(HEADER))?;
    same(HEADER, &routines(&listed), &declared(&header))?;
    let profiling: Vec<String> = routines(&listed)
        .iter()
        .map(|name| format!("p{name}"))
        .collect();
    let profiling: Vec<&str> = profiling.iter().map(String::as_str).collect();
    let header = read(&ws.file(PROFILING))?;
    same(PROFILING, &profiling, &declared(&header))
}

/// Returns the names without those for profiling libraries: the names that are listed with a `p`
/// before them as well.
fn routines<'a>(listed: &[&'a str]) -> Vec<&'a str> {
    let all: HashSet<&str> = listed.iter().copied().collect();
    let names = listed.iter().copied();
    names
        .filter(|name| all.contains(format!("p{name}").as_str()))
        .collect()
}

/// Returns the names that the header declares, sorted: each prototype is one line without a body.
fn declared(header: &str) -> Vec<&str> {
    let prototypes = header.lines().filter(|line| line.ends_with(");"));
    let mut names: Vec<&str> = prototypes
        .filter(|line| !line.starts_with("inline") && !line.starts_with(' '))
        .filter_map(|line| {
            let line = line.trim_start_matches("__attribute__((__noreturn__)) ");
            let (before, _) = line.split_once('(')?;
            before.rsplit([' ', '*']).next()
        })
        .collect();
    names.sort_unstable();
    names
}

/// Compares names that were found with the listed ones; both are sorted.
fn same(place: &str, listed: &[&str], found: &[&str]) -> Result<()> {
    let lacking: Vec<_> = listed.iter().filter(|name| !found.contains(name)).collect();
    let beyond: Vec<_> = found.iter().filter(|name| !listed.contains(name)).collect();
    if lacking.is_empty() && beyond.is_empty() && listed.len() == found.len() {
        return Ok(());
    }
    Err(Error::Check(format!(
        "{place}: {} names where {SYMBOLS} has {}; lacking {lacking:?}, beyond the list {beyond:?}",
        found.len(),
        listed.len()
    )))
}

/// Says where two texts first differ.
fn first_difference(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let (mut old_lines, mut new_lines) = (old.lines(), new.lines());
    let mut number = 0;
    loop {
        number += 1;
        let (was, is) = (old_lines.next(), new_lines.next());
        if was != is || was.is_none() {
            let (was, is) = (was.unwrap_or("nothing"), is.unwrap_or("nothing"));
            return Some(format!("line {number} is `{was}` and would be `{is}`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_too_few_or_too_many_is_found() {
        assert!(same("x", &["a", "b"], &["a", "b"]).is_ok());
        assert!(same("x", &["a", "b"], &["a"]).is_err());
        assert!(same("x", &["a"], &["a", "b"]).is_err());
        assert!(same("x", &["a"], &["a", "a"]).is_err());
    }

    #[test]
    fn prototypes_are_read_and_bodies_are_not() {
        let header = "void *shmem_malloc(size_t size);\nint _my_pe(void);\n\
            __attribute__((__noreturn__)) void shmem_global_exit(int status);\n\
            __extension__ int shmem_x(double _Complex *dest);\n\
            inline void shmem_p(int *dest, int value, int pe) { shmem_int_p(dest, value, pe); }\n\
            #define shmem_put(...) x(__VA_ARGS__)\n";
        assert_eq!(
            declared(header),
            ["_my_pe", "shmem_global_exit", "shmem_malloc", "shmem_x"]
        );
    }

    #[test]
    fn names_for_profiling_are_told_from_the_others() {
        assert_eq!(routines(&["a", "pa", "pb", "ppb"]), ["a", "pb"]);
    }

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(
            first_difference("a\nb\n", "a\nc\n").unwrap(),
            "line 2 is `b` and would be `c`"
        );
        assert!(first_difference("a\n", "a").is_some());
    }
}
