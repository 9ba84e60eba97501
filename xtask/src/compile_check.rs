//! Compiles and links programs that use every routine and every generic name, in every language and
//! with every compiler that the header is for; and makes sure that wrong uses do not compile.

use crate::error::{At, Error, Result};
use crate::stage;
use crate::workspace::{Workspace, write};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const C: [(&str, &[&str]); 2] = [
    ("gcc", &["c99", "c11", "c17"]),
    ("clang", &["c99", "c11", "c17"]),
];
const CXX: [(&str, &[&str]); 2] = [
    ("g++", &["c++17", "c++20"]),
    ("clang++", &["c++17", "c++20"]),
];
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// Runs the whole check. Prints its result in one line.
pub(crate) fn run(ws: &Workspace) -> Result<()> {
    let lacking: Vec<&str> = C
        .iter()
        .chain(&CXX)
        .map(|(name, _)| *name)
        .filter(|name| !exists(name))
        .collect();
    if !lacking.is_empty() {
        let lacking = lacking.join(", ");
        return Err(Error::Check(format!(
            "compile-check needs {lacking} (apt install g++ clang)"
        )));
    }
    let stage = stage::stage(ws)?;
    let work = ws.built(&format!("compile-check.{}", std::process::id()));
    fs::create_dir_all(&work).at(&work)?;
    let check = Check { stage, work };

    let mut programs = Vec::new();
    for (what, file, compilers) in [("check-c", "all.c", &C), ("check-cxx", "all.cpp", &CXX)] {
        let source = check.work.join(file);
        write(&source, &ws.generated(what)?)?;
        for (compiler, standards) in compilers {
            let further = ["-static", "-DSHMEM_DIRECT"].map(|word| (standards[0], Some(word)));
            let plain = standards.iter().map(|standard| (*standard, None));
            programs.extend(
                plain
                    .chain(further)
                    .map(|(standard, word)| (*compiler, standard, source.clone(), word)),
            );
        }
    }
    each(
        &programs,
        |number, (compiler, standard, source, further)| {
            let with: Vec<_> = further.iter().copied().chain(["-lshmem"]).collect();
            check.link_and_run(compiler, standard, source, &with, number)
        },
    )?;
    let compiled = programs.len();
    let wrong = ws.generated("check-bad")?;
    let lines: Vec<&str> = wrong.lines().collect();
    let refused = each(&lines, |number, line| check.refused(line, number))?;
    let refused: usize = refused.iter().sum();
    println!(
        "compile-check: {compiled} programs compiled, linked and ran; {refused} wrong ones did not compile"
    );
    fs::remove_dir_all(&check.work).at(&check.work)
}

struct Check {
    stage: PathBuf,
    work: PathBuf,
}

impl Check {
    fn compiler(&self, compiler: &str, standard: &str) -> Command {
        let mut command = Command::new(compiler);
        command
            .arg(format!("-std={standard}"))
            .args(WARNINGS)
            .arg("-I")
            .arg(self.stage.join("include"));
        command
    }

    /// Compiles without a warning, links against the staged library and runs.
    fn link_and_run(
        &self,
        compiler: &str,
        standard: &str,
        source: &Path,
        with: &[&str],
        number: usize,
    ) -> Result<()> {
        let lib = self.stage.join("lib");
        let program = self.work.join(format!("program{number}"));
        let mut command = self.compiler(compiler, standard);
        command
            .arg(source)
            .arg("-o")
            .arg(&program)
            .arg("-L")
            .arg(&lib)
            .args(with);
        crate::workspace::run(&mut command)?;
        crate::workspace::run(Command::new(&program).env("LD_LIBRARY_PATH", &lib))
    }

    /// Compiles the wrong use in a line: the declaration of `x`, then the call. Returns how many
    /// times a compiler refused.
    fn refused(&self, line: &str, number: usize) -> Result<usize> {
        let mut refused = 0;
        let (declaration, call) = line.rsplit_once("; ").unwrap_or(("", line));
        for (extension, compilers, standard) in [
            ("c", ["gcc", "clang"], "c11"),
            ("cpp", ["g++", "clang++"], "c++17"),
        ] {
            let source = self.work.join(format!("wrong{number}.{extension}"));
            let text = |body: &str| {
                format!(
                    "#include <shmem.h>\n{declaration};\nvoid f(void);\nvoid f(void)\n{{\n{body}\n}}\n"
                )
            };
            for compiler in compilers {
                // The code around the call must be right, or the refusal means nothing.
                write(&source, &text(""))?;
                if !self.compiles(compiler, standard, &source)? {
                    return Err(Error::Check(format!("{compiler} refuses `{declaration}`")));
                }
                write(&source, &text(&format!("    {call};")))?;
                if self.compiles(compiler, standard, &source)? {
                    return Err(Error::Check(format!(
                        "{compiler} accepts `{declaration}; {call}`"
                    )));
                }
                refused += 1;
            }
        }
        Ok(refused)
    }

    /// Returns whether the source compiles, warnings allowed.
    fn compiles(&self, compiler: &str, standard: &str, source: &Path) -> Result<bool> {
        let mut command = self.compiler(compiler, standard);
        command
            .args(["-Wno-error", "-fsyntax-only"])
            .arg(source)
            .stderr(Stdio::null());
        let status = command
            .status()
            .map_err(|source| crate::workspace::not_started(&command, source))?;
        Ok(status.success())
    }
}

/// Calls `task` with the number and the item of each of `items`, on all processors. Returns the
/// results of the calls, in no order, or the first error; after an error no further item is begun.
fn each<T: Sync, R: Send>(
    items: &[T],
    task: impl Fn(usize, &T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let work = || -> Result<Vec<R>> {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else {
                break;
            };
            let result = task(number, item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.push(result?);
        }
        Ok(done)
    };
    std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().expect("compiling does not panic")?);
        }
        Ok(all)
    })
}

/// Returns whether a program of this name can be run.
fn exists(name: &str) -> bool {
    Command::new(name)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}
