//! Cases: a command, the builds that it needs before it can run, and its expected result.

use crate::supervise::{End, Report};
use crate::sys::Ended;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A command to start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Invocation {
    /// The program, by its path or by a name to be found in PATH.
    pub(crate) program: OsString,
    /// Its arguments.
    pub(crate) args: Vec<OsString>,
    /// Variables of its environment, beside the runner's.
    pub(crate) env: Vec<(String, OsString)>,
    /// Its working directory; the project's root if there is none.
    pub(crate) dir: Option<PathBuf>,
}

impl Invocation {
    /// Makes a command without arguments.
    pub(crate) fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            ..Self::default()
        }
    }

    /// Adds one argument.
    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds several arguments.
    pub(crate) fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable in the environment.
    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Sets the working directory.
    pub(crate) fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }
}

/// The exit status that is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// This one.
    Is(i32),
    /// Any but 0.
    Nonzero,
}

/// Expected result of a command that ends in time.
#[derive(Debug, Clone)]
pub(crate) struct Expect {
    /// Its exit status.
    pub(crate) status: Status,
    /// Texts that standard output has to contain.
    pub(crate) stdout: Vec<String>,
    /// Texts that standard error has to contain.
    pub(crate) stderr: Vec<String>,
    /// Texts that standard error must not contain.
    pub(crate) refused: Vec<String>,
    /// The lines of standard error, if their number matters.
    pub(crate) stderr_lines: Option<usize>,
}

impl Default for Expect {
    fn default() -> Self {
        Self {
            status: Status::Is(0),
            stdout: Vec::new(),
            stderr: Vec::new(),
            refused: Vec::new(),
            stderr_lines: None,
        }
    }
}

/// Something that cases need and that is made once, by the first of them: a compiled program.
#[derive(Debug)]
pub(crate) struct Build {
    /// The command that makes it.
    pub(crate) run: Invocation,
    /// Its time limit.
    pub(crate) limit: Duration,
    /// Its result; the text says why it failed.
    pub(crate) done: OnceLock<Result<(), String>>,
}

impl Build {
    /// Makes a build that has not run yet.
    pub(crate) fn new(run: Invocation, limit: Duration) -> Arc<Self> {
        Arc::new(Self {
            run,
            limit,
            done: OnceLock::new(),
        })
    }
}

/// One case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// Its name within its group.
    pub(crate) name: String,
    /// The builds that have to be made before.
    pub(crate) needs: Vec<Arc<Build>>,
    /// The command.
    pub(crate) run: Invocation,
    /// Its time limit.
    pub(crate) limit: Duration,
    /// Its expected result.
    pub(crate) expect: Expect,
    /// Whether its temporary directory has to be empty afterwards.
    pub(crate) leaves_nothing: bool,
    /// Whether nothing may run beside it: it measures times.
    pub(crate) is_alone: bool,
}

impl Case {
    /// Makes a case that passes when `run` exits with status 0 within `seconds`.
    pub(crate) fn new(name: impl Into<String>, seconds: u64, run: Invocation) -> Self {
        Self {
            name: name.into(),
            needs: Vec::new(),
            run,
            limit: Duration::from_secs(seconds),
            expect: Expect::default(),
            leaves_nothing: false,
            is_alone: false,
        }
    }
}

/// Result of a command: its report, and the files with its output.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// The report of its end.
    pub(crate) report: Report,
    /// The file with its standard output.
    pub(crate) stdout: PathBuf,
    /// The file with its standard error.
    pub(crate) stderr: PathBuf,
    /// The temporary directory that it was given.
    pub(crate) temporary: PathBuf,
}

/// Returns every difference between `outcome` and the expectations of `case`, a sentence each.
/// Empty if the case has passed.
pub(crate) fn judge(case: &Case, outcome: &Outcome) -> Vec<String> {
    let mut wrong = Vec::new();
    match (&outcome.report.end, case.expect.status) {
        (End::TimedOut, _) => wrong.push(format!("not over after {} s", case.limit.as_secs())),
        (End::NotStarted(why), _) => wrong.push(format!("not started: {why}")),
        (End::Ended(Ended::Signal(signal)), _) => wrong.push(format!("ended by signal {signal}")),
        (End::Ended(Ended::Exit(0)), Status::Nonzero) => {
            wrong.push("exit status 0, expected another".to_owned());
        }
        (End::Ended(Ended::Exit(got)), Status::Is(expected)) if *got != expected => {
            wrong.push(format!("exit status {got}, expected {expected}"));
        }
        (End::Ended(Ended::Exit(_)), _) => {}
    }
    let stdout = read(&outcome.stdout);
    let stderr = read(&outcome.stderr);
    for (name, text, wanted) in [
        ("output", &stdout, &case.expect.stdout),
        ("error", &stderr, &case.expect.stderr),
    ] {
        for part in wanted.iter().filter(|part| !text.contains(part.as_str())) {
            wrong.push(format!("standard {name} does not contain \"{part}\""));
        }
    }
    for part in case
        .expect
        .refused
        .iter()
        .filter(|part| stderr.contains(part.as_str()))
    {
        wrong.push(format!("standard error contains \"{part}\""));
    }
    let lines = stderr.lines().count();
    if let Some(expected) = case
        .expect
        .stderr_lines
        .filter(|&expected| expected != lines)
    {
        wrong.push(format!(
            "standard error has {lines} lines, expected {expected}"
        ));
    }
    wrong.extend(
        outcome
            .report
            .left
            .iter()
            .map(|line| format!("left behind: {line}")),
    );
    if case.leaves_nothing {
        wrong.extend(files_left(&outcome.temporary));
    }
    wrong
}

/// Returns the files in a temporary directory. Pipes of valgrind's debugger do not count: a killed
/// valgrind cannot remove them.
fn files_left(dir: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return vec![format!("{} is gone", dir.display())];
    };
    entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with("vgdb-"))
        .map(|name| format!("left behind in TMPDIR: {name}"))
        .collect()
}

/// Returns the text in a file; nothing if there is no such file. Bytes that are not UTF-8 are
/// replaced.
pub(crate) fn read(path: &Path) -> String {
    std::fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default()
}

/// Returns the last `lines` lines of a text, each indented.
pub(crate) fn tail(text: &str, lines: usize) -> String {
    let all: Vec<_> = text.lines().collect();
    let from = all.len().saturating_sub(lines);
    let mut short = String::new();
    if from > 0 {
        short.push_str(&format!("        ({from} lines before)\n"));
    }
    for line in &all[from..] {
        short.push_str("        ");
        short.push_str(line);
        short.push('\n');
    }
    short
}
