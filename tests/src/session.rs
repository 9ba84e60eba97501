//! One run of the test command: its folders, the start of commands, and the cases that have passed
//! and failed so far.

use crate::case::{self, Build, Case, Invocation, Outcome};
use crate::place::{self, Place};
use crate::supervise::{End, Report};
use crate::sys::Ended;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Variables of the caller that would change the behaviour of a job.
const HIDDEN_PREFIXES: [&str; 10] = [
    "SHMEM_",
    "SMA_",
    "FARREACH_",
    "PMI_",
    "PMIX_",
    "OMPI_",
    "PRTE_",
    "SLURM_",
    "OSHCC_",
    "OSHCXX_",
];
const HIDDEN: [&str; 3] = ["LD_LIBRARY_PATH", "LD_PRELOAD", "RUSTFLAGS"];
/// Variables that are passed on nevertheless: they name another libfabric than the system's, and a provider of it.
const PASSED: [&str; 2] = ["FARREACH_LIBFABRIC", "FARREACH_LIBFABRIC_PROVIDER"];
/// Lines of output shown of a case that has failed, of each stream.
const SHOWN: usize = 40;

/// A finished case.
#[derive(Debug, Clone)]
pub(crate) struct Finished {
    /// `GROUP/NAME`.
    pub(crate) name: String,
    /// From its start to its end, builds that it was the first to need included.
    pub(crate) took: Duration,
    /// Whether it has passed.
    pub(crate) passed: bool,
}

/// The state of a run.
#[derive(Debug)]
pub(crate) struct Session {
    /// Place of the project and its build products.
    pub(crate) place: Place,
    /// Number of cases that may run at the same time, in groups that allow it.
    pub(crate) jobs: usize,
    /// Only cases whose full name contains one of these; all if there is none.
    pub(crate) filters: Vec<String>,
    work: PathBuf,
    next: AtomicUsize,
    finished: Mutex<Vec<Finished>>,
}

impl Session {
    /// Makes a session whose files go to a folder of its own in the target directory.
    ///
    /// # Errors
    ///
    /// Those of creating that folder.
    pub(crate) fn new(place: Place, jobs: usize, filters: Vec<String>) -> io::Result<Self> {
        let all = place.target.join("farreach-tests");
        fs::create_dir_all(&all)?;
        remove_old(&all);
        let work = all.join(std::process::id().to_string());
        fs::create_dir_all(&work)?;
        Ok(Self {
            place,
            jobs,
            filters,
            work,
            next: AtomicUsize::new(0),
            finished: Mutex::default(),
        })
    }

    /// Returns a path for something that is built for the tests; its folder exists.
    pub(crate) fn built(&self, name: &str) -> PathBuf {
        let name: String = name
            .chars()
            .map(|character| {
                if character.is_alphanumeric() || "._-+".contains(character) {
                    character
                } else {
                    '_'
                }
            })
            .collect();
        self.work.join("built-".to_owned() + &name)
    }

    /// Returns whether a case is selected.
    pub(crate) fn selects(&self, full_name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|part| full_name.contains(part))
    }

    /// Returns cargo, with this session's target directory.
    pub(crate) fn cargo(&self, args: &[&str]) -> Invocation {
        Invocation::new("cargo")
            .args(args)
            .env("CARGO_TARGET_DIR", &self.place.target)
    }

    /// Runs a command under supervision and returns its outcome.
    ///
    /// # Errors
    ///
    /// A sentence, if the supervising process itself failed.
    pub(crate) fn run(&self, run: &Invocation, limit: Duration) -> Result<Outcome, String> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let dir = self.work.join(number.to_string());
        let error = |error: io::Error| format!("{}: {error}", dir.display());
        let temporary = dir.join("tmp");
        fs::create_dir_all(&temporary).map_err(error)?;
        let (stdout, stderr, report) = (dir.join("stdout"), dir.join("stderr"), dir.join("report"));

        let mut command = Command::new(place::own_program()?);
        command
            .arg("supervise")
            .arg(limit.as_millis().to_string())
            .arg(&report)
            .arg(&run.program);
        command.args(&run.args);
        command.stdin(Stdio::null());
        command.stdout(fs::File::create(&stdout).map_err(error)?);
        command.stderr(fs::File::create(&stderr).map_err(error)?);
        command.current_dir(run.dir.as_ref().unwrap_or(&self.place.root));
        hide_environment(&mut command);
        command.env("TMPDIR", &temporary);
        command.envs(run.env.iter().map(|(name, value)| (name, value)));
        command.status().map_err(error)?;
        let report = Report::from_text(&case::read(&report)).ok_or_else(|| {
            format!(
                "the supervising process has left no report\n{}",
                case::read(&stderr)
            )
        })?;
        Ok(Outcome {
            report,
            stdout,
            stderr,
            temporary,
        })
    }

    /// Runs a build, or waits for the thread that is running it, and says whether its product is
    /// there.
    ///
    /// # Errors
    ///
    /// The reason of its failure: a sentence, and to the caller that has run it also the end of its
    /// output.
    pub(crate) fn build(&self, build: &Build) -> Result<(), String> {
        let mut printed = String::new();
        let done = build.done.get_or_init(|| {
            let outcome = self.run(&build.run, build.limit)?;
            match &outcome.report.end {
                End::Ended(Ended::Exit(0)) => Ok(()),
                end => {
                    printed = output(&outcome);
                    Err(format!("not built: {}: {end:?}", describe(&build.run)))
                }
            }
        });
        done.clone().map_err(|why| format!("{why}\n{printed}"))
    }

    /// Runs one case of `group` and reports it.
    pub(crate) fn run_case(&self, group: &str, case: &Case) {
        let started = Instant::now();
        let result = case
            .needs
            .iter()
            .try_for_each(|need| self.build(need))
            .and_then(|()| {
                let outcome = self.run(&case.run, case.limit)?;
                let wrong = case::judge(case, &outcome);
                if wrong.is_empty() {
                    Ok(())
                } else {
                    Err(format!(
                        "{}\n  {}\n{}",
                        wrong.join("\n"),
                        describe(&case.run),
                        output(&outcome)
                    ))
                }
            });
        self.finish(group, &case.name, started.elapsed(), result);
    }

    /// Reports a case: one line, and its mistakes.
    pub(crate) fn finish(
        &self,
        group: &str,
        name: &str,
        took: Duration,
        result: Result<(), String>,
    ) {
        let name = format!("{group}/{name}");
        let passed = result.is_ok();
        let mut text = format!(
            "{} {:8.2} s  {name}",
            if passed { "pass" } else { "FAIL" },
            took.as_secs_f64()
        );
        if let Err(why) = result {
            for line in why.lines() {
                text.push_str("\n    ");
                text.push_str(line);
            }
        }
        let mut finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
        println!("{text}");
        finished.push(Finished { name, took, passed });
    }

    /// Returns the finished cases so far.
    pub(crate) fn finished(&self) -> Vec<Finished> {
        self.finished
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the folder with the output of all commands.
    pub(crate) fn work(&self) -> &Path {
        &self.work
    }
}

/// Removes folders of runs whose process is gone.
fn remove_old(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let alive = Path::new("/proc").join(&name).exists();
        if name.to_string_lossy().parse::<u32>().is_ok() && !alive {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn hide_environment(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let hidden = HIDDEN.contains(&&*text)
            || HIDDEN_PREFIXES
                .iter()
                .any(|prefix| text.starts_with(prefix));
        if hidden && !PASSED.contains(&&*text) {
            command.env_remove(&name);
        }
    }
}

/// Returns a command for people to read and repeat.
fn describe(run: &Invocation) -> String {
    let words = run
        .env
        .iter()
        .map(|(name, value)| format!("{name}={}", value.to_string_lossy()));
    let words = words.chain(std::iter::once(&run.program).chain(&run.args).map(quoted));
    words.collect::<Vec<_>>().join(" ")
}

fn quoted(word: &OsString) -> String {
    let text = word.to_string_lossy();
    if text.is_empty()
        || text.contains(|character: char| {
            character.is_whitespace() || "'\"$&;|<>".contains(character)
        })
    {
        format!("'{text}'")
    } else {
        text.into_owned()
    }
}

/// Returns the end of a command's output.
fn output(outcome: &Outcome) -> String {
    let mut text = String::new();
    for (name, path) in [("output", &outcome.stdout), ("error", &outcome.stderr)] {
        let printed = case::read(path);
        if !printed.is_empty() {
            text.push_str(&format!(
                "  standard {name}:\n{}",
                case::tail(&printed, SHOWN)
            ));
        }
    }
    text
}
