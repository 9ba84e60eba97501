//! Starts one PE of a job under callgrind, and reads what callgrind writes.
//!
//! The format of its files is described in valgrind's manual, "Callgrind Format Specification".

use crate::scratch::Scratch;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs in place of the program on every PE. The PE to be counted goes on under valgrind, the others as they are. PMI_RANK
/// is what PMI-1's launchers set, OMPI_COMM_WORLD_RANK what Open MPI's does.
const WRAPPER: &str = r#"[ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}" = @PE@ ] || exec "$@"
exec valgrind --quiet --tool=callgrind --callgrind-out-file='@OUT@' @OPTIONS@ "$@"
"#;

/// A job of which one PE is counted, or a program that is PE 0 of none.
pub(crate) struct Job<'a> {
    /// What starts the program, and its arguments.
    pub(crate) launcher: &'a [OsString],
    /// Variables of the job.
    pub(crate) environment: &'a [(&'a str, &'a str)],
    /// The PE that is counted.
    pub(crate) pe: u32,
    /// callgrind's options, for a shell.
    pub(crate) options: &'a str,
    /// The program and its arguments.
    pub(crate) program: &'a [OsString],
}

/// Runs the job; callgrind's files go into `scratch`. The program's errors go to standard error, its output is returned when
/// it is `captured` and goes to standard output otherwise.
pub(crate) fn run(job: &Job<'_>, scratch: &Scratch, captured: bool) -> Result<Output, String> {
    let wrapper = scratch.file("wrapper");
    let out = out(scratch).display().to_string();
    if out.contains('\'') {
        return Err(format!(
            "the name of the temporary folder, {out}, contains an apostrophe"
        ));
    }
    let text = WRAPPER
        .replace("@PE@", &job.pe.to_string())
        .replace("@OUT@", &out)
        .replace("@OPTIONS@", job.options);
    fs::write(&wrapper, text).map_err(|error| format!("{}: {error}", wrapper.display()))?;
    let (launcher, arguments) = job.launcher.split_first().ok_or("no launcher")?;
    let mut command = Command::new(launcher);
    command
        .args(arguments)
        .arg("/bin/sh")
        .arg(&wrapper)
        .args(job.program);
    // Every symbol is resolved before the program starts, so that no first call is dearer than the others.
    command
        .env("LD_BIND_NOW", "1")
        .envs(job.environment.iter().copied())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    command.stdout(if captured {
        Stdio::piped()
    } else {
        Stdio::inherit()
    });
    let output = command
        .output()
        .map_err(|error| format!("{}: {error}", launcher.display()))?;
    if output.status.success() {
        Ok(output)
    } else {
        Err(format!("{}: {}", launcher.display(), output.status))
    }
}

/// callgrind's file with what it counts up to the end.
pub(crate) fn out(scratch: &Scratch) -> PathBuf {
    scratch.file("callgrind.out")
}

/// What callgrind has written before the end, part by part.
pub(crate) fn parts(scratch: &Scratch) -> Result<Vec<String>, String> {
    let mut parts = Vec::new();
    loop {
        let path = scratch.file(&format!("callgrind.out.{}", parts.len() + 1));
        if !path.exists() {
            return Ok(parts);
        }
        parts.push(read(&path)?);
    }
}

/// The total of a part.
pub(crate) fn total(part: &str) -> Result<u64, String> {
    let total = part.lines().find_map(|line| line.strip_prefix("totals: "));
    let total = total.and_then(|total| total.trim().parse().ok());
    total.ok_or_else(|| "a part that callgrind has written has no total".to_owned())
}

/// Reads a file of callgrind.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// What a profile says of one function.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    /// How often it was called, by other functions than itself.
    pub(crate) calls: u64,
    /// Instructions from its entries to its returns.
    pub(crate) inclusive: u64,
    /// Of these, its own.
    pub(crate) own: u64,
    /// Of these, those of the functions that it has called: name, calls, instructions.
    pub(crate) callees: Vec<(String, u64, u64)>,
}

/// Reads what a profile says of the function `name`. `None` if it was never called.
pub(crate) fn profile(text: &str, name: &str) -> Result<Option<Profile>, String> {
    let mut names = HashMap::new();
    let mut found = Profile::default();
    let mut callees: HashMap<String, (u64, u64)> = HashMap::new();
    let (mut function, mut callee) = (String::new(), String::new());
    let mut calls = None;
    let mut positions = 1;
    for (number, line) in text.lines().enumerate() {
        let error = || {
            format!(
                "line {} of the profile is not understood: {line}",
                number + 1
            )
        };
        if let Some(value) = line.strip_prefix("positions: ") {
            positions = value.split_whitespace().count();
        } else if let Some(value) = line.strip_prefix("fn=") {
            function = full_name(value, &mut names).ok_or_else(error)?;
        } else if let Some(value) = line.strip_prefix("cfn=") {
            callee = full_name(value, &mut names).ok_or_else(error)?;
        } else if let Some(value) = line.strip_prefix("calls=") {
            let count = value
                .split(' ')
                .next()
                .and_then(|count| count.parse::<u64>().ok());
            calls = Some(count.ok_or_else(error)?);
        } else if line.starts_with(['+', '-', '*'])
            || line.starts_with(|first: char| first.is_ascii_digit())
        {
            // A position and a cost; after a line "calls=" it is the cost of these calls.
            let cost: u64 = line
                .split(' ')
                .nth(positions)
                .unwrap_or("0")
                .parse()
                .map_err(|_| error())?;
            match calls.take() {
                None if is_named(&function, name) => found.own += cost,
                Some(count) if is_named(&function, name) && !is_named(&callee, name) => {
                    let entry = callees.entry(callee.clone()).or_default();
                    *entry = (entry.0 + count, entry.1 + cost);
                }
                Some(count) if is_named(&callee, name) && !is_named(&function, name) => {
                    found.calls += count;
                    found.inclusive += cost;
                }
                _ => {}
            }
        }
    }
    found.callees = callees
        .into_iter()
        .map(|(name, (calls, cost))| (name, calls, cost))
        .collect();
    found
        .callees
        .sort_by(|one, other| other.2.cmp(&one.2).then_with(|| one.0.cmp(&other.0)));
    Ok((found.calls > 0).then_some(found))
}

/// The name for `(NUMBER) NAME`, which defines a number, and for `(NUMBER)`. Others are names, as
/// `(below main)`.
fn full_name(value: &str, names: &mut HashMap<String, String>) -> Option<String> {
    let Some(rest) = value.strip_prefix('(') else {
        return Some(value.to_owned());
    };
    let (number, name) = rest.split_once(')')?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(value.to_owned());
    }
    if name.is_empty() {
        return names.get(number).cloned();
    }
    names.insert(number.to_owned(), name.trim_start().to_owned());
    names.get(number).cloned()
}

/// Whether a function in a profile is the one asked for: parameters of C++ and marks of recursion apart.
fn is_named(function: &str, name: &str) -> bool {
    function
        .strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('(') || rest.starts_with('\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
version: 1
positions: line
events: Ir
fn=(1) main
10 5
cfn=(2) work
calls=3 20
+1 300
cfn=(3) other
calls=1 50
* 40
fn=(2)
20 30
+1 3
cob=(4) libshmem.so
cfn=(5) shmem_int_p
calls=6 0
+1 72
cfn=(6) memcpy
calls=2 0
* 195
fn=(3)
50 9
cfn=(2)
calls=1 20
51 31
fn=(7) worker
60 1000
totals: 1
";

    #[test]
    fn calls_from_everywhere_are_added() {
        let expected = Profile {
            calls: 4,
            inclusive: 331,
            own: 33,
            callees: vec![
                ("memcpy".to_owned(), 2, 195),
                ("shmem_int_p".to_owned(), 6, 72),
            ],
        };
        assert_eq!(profile(TEXT, "work"), Ok(Some(expected)));
    }

    #[test]
    fn a_function_that_was_not_called_is_not_found() {
        assert_eq!(profile(TEXT, "wor"), Ok(None));
        assert_eq!(profile(TEXT, "worker"), Ok(None));
    }

    #[test]
    fn recursion_and_parameters_do_not_change_the_name() {
        assert!(is_named("f(int, double)", "f"));
        assert!(is_named("f'2", "f"));
        assert!(!is_named("f2", "f"));
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        assert!(profile("fn=(9)\n", "f").is_err());
        assert!(profile("fn=f\n10 many\n", "f").is_err());
    }
}
