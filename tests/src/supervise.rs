//! One command under supervision: in a process group of its own, with a time limit, and with all that it starts.
//!
//! The runner starts itself again for each command (`farreach-tests supervise …`). That process is the subreaper of all
//! that the command leaves behind, so it knows exactly which processes belong to the command, and nothing outlives it.

use crate::procfs::{self, Process};
use crate::sys::{self, Ended, Pid, Reaped};
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// Time that a process of the command may still take to disappear once the command has ended.
const GRACE: Duration = Duration::from_millis(500);
/// Time that killing may take: a process stuck in the kernel does not hold up the rest for ever.
const KILLING: Duration = Duration::from_secs(10);
const SIGNALS: [i32; 4] = [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP];

/// End of a command, and the processes that it left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    /// The end of the command itself.
    pub(crate) end: End,
    /// The processes that were still there afterwards, and were killed: a line each.
    pub(crate) left: Vec<String>,
}

/// The end of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself.
    Ended(Ended),
    /// By the time limit.
    TimedOut,
    /// It could not be started.
    NotStarted(String),
}

impl Report {
    fn to_text(&self) -> String {
        let mut text = match &self.end {
            End::Ended(Ended::Exit(status)) => format!("exit {status}\n"),
            End::Ended(Ended::Signal(signal)) => format!("signal {signal}\n"),
            End::TimedOut => "timeout\n".to_owned(),
            End::NotStarted(why) => format!("not-started {}\n", why.replace('\n', " ")),
        };
        for line in &self.left {
            text.push_str("left ");
            text.push_str(&line.replace('\n', " "));
            text.push('\n');
        }
        text
    }

    /// Reads the text that the supervising process has written; `None` if it is not a whole report.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (word, rest) = lines
            .next()
            .map(|line| line.split_once(' ').unwrap_or((line, "")))?;
        let end = match word {
            "exit" => End::Ended(Ended::Exit(rest.parse().ok()?)),
            "signal" => End::Ended(Ended::Signal(rest.parse().ok()?)),
            "timeout" => End::TimedOut,
            "not-started" => End::NotStarted(rest.to_owned()),
            _ => return None,
        };
        let left = lines.map(|line| line.strip_prefix("left ").map(str::to_owned));
        Some(Self {
            end,
            left: left.collect::<Option<_>>()?,
        })
    }
}

/// Runs `program` for at most `limit`, as the supervising process, and writes a [`Report`] to the
/// file `report`.
pub(crate) fn main(limit: Duration, report: &Path, program: &str, args: &[String]) -> ExitCode {
    let result = supervise(limit, program, args);
    let text = match result {
        Ok(found) => found.to_text(),
        Err(error) => Report {
            end: End::NotStarted(error.to_string()),
            left: Vec::new(),
        }
        .to_text(),
    };
    match fs::write(report, text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("farreach-tests: {}: {error}", report.display());
            ExitCode::FAILURE
        }
    }
}

fn supervise(limit: Duration, program: &str, args: &[String]) -> io::Result<Report> {
    sys::become_subreaper()?;
    sys::signal_when_parent_ends(libc::SIGTERM)?;
    sys::block(&SIGNALS)?;
    let started = Instant::now();
    let mut command = Command::new(program);
    let child = match sys::isolate(command.args(args)).spawn() {
        Ok(child) => Pid::try_from(child.id()).map_err(io::Error::other)?,
        Err(error) => {
            let end = End::NotStarted(format!("{program}: {error}"));
            return Ok(Report {
                end,
                left: Vec::new(),
            });
        }
    };
    let end = wait(child, started + limit);
    let left = match end {
        End::Ended(_) => remaining(),
        _ => Vec::new(),
    };
    kill_everything();
    Ok(Report { end, left })
}

/// Waits for `child` and reaps all others that end before it.
fn wait(child: Pid, deadline: Instant) -> End {
    loop {
        while let Reaped::Child(pid, ended) = sys::reap() {
            if pid == child {
                return End::Ended(ended);
            }
        }
        let rest = deadline.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return End::TimedOut;
        }
        match sys::wait_for_signal(&SIGNALS, rest) {
            Some(libc::SIGCHLD) | None => {}
            Some(_) => {
                // The runner is gone or wants to go: nobody reads a report any more.
                kill_everything();
                std::process::exit(1);
            }
        }
    }
}

/// Returns the processes that are still there after a short wait, described.
fn remaining() -> Vec<String> {
    let deadline = Instant::now() + GRACE;
    loop {
        if reap_all() == Reaped::NoChild {
            return Vec::new();
        }
        if Instant::now() >= deadline {
            break;
        }
        let _ = sys::wait_for_signal(&[libc::SIGCHLD], Duration::from_millis(10));
    }
    procfs::descendants(procfs::own_pid())
        .iter()
        .filter(|process| !process.is_zombie())
        .map(describe)
        .collect()
}

fn describe(process: &Process) -> String {
    format!(
        "process {} ({}) {}",
        process.pid,
        process.state,
        process.command()
    )
}

/// Kills all that is below this process, again and again until nothing is left: a process may start another meanwhile.
fn kill_everything() {
    let deadline = Instant::now() + KILLING;
    while reap_all() != Reaped::NoChild && Instant::now() < deadline {
        for process in procfs::descendants(procfs::own_pid()) {
            sys::kill(process.pid, libc::SIGKILL);
        }
        let _ = sys::wait_for_signal(&[libc::SIGCHLD], Duration::from_millis(2));
    }
}

fn reap_all() -> Reaped {
    loop {
        match sys::reap() {
            Reaped::Child(..) => {}
            other => return other,
        }
    }
}
