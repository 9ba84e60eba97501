//! A job that a case starts, watches and kills.

use crate::case;
use crate::leftovers;
use crate::place::Place;
use crate::procfs::{self, Process};
use crate::sys::{self, Ended, Pid, Reaped};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time that a job may last once its end has begun.
pub(super) const OVER_WITHIN: Duration = Duration::from_secs(2);
/// Time to wait for events that are bound to happen.
const PATIENCE: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(1);
/// The longest that a sleep of [`STEP`] takes on a busy machine.
const LONGEST_STEP: Duration = Duration::from_millis(100);

/// Starts the jobs of a case.
#[derive(Debug)]
pub(super) struct Jobs {
    oshrun: PathBuf,
    program: PathBuf,
    scratch: PathBuf,
    shm: leftovers::Files,
}

/// A running job.
#[derive(Debug)]
pub(super) struct Job<'a> {
    jobs: &'a Jobs,
    launcher: Pid,
}

/// Result of a job that is over.
#[derive(Debug)]
pub(super) struct Over {
    /// The end of its launcher.
    pub(super) ended: Ended,
    /// Time from the call until nothing was left.
    pub(super) took: Duration,
    /// Its standard error.
    pub(super) stderr: String,
}

impl Jobs {
    /// Prepares this process, which becomes the one that inherits all orphans.
    pub(super) fn new(place: &Place, args: &[String]) -> Result<Self, String> {
        let [program] = args else {
            return Err("the argument is the compiled job.c".to_owned());
        };
        sys::become_subreaper().map_err(|error| error.to_string())?;
        let scratch = std::env::temp_dir().join("scratch");
        fs::create_dir_all(scratch.join("tmp")).map_err(|error| error.to_string())?;
        Ok(Self {
            oshrun: place.staged("bin/oshrun"),
            program: program.into(),
            scratch,
            shm: leftovers::shared_memory(),
        })
    }

    /// Starts `oshrun -n 4 job ARGS`.
    pub(super) fn start(&self, args: &[&str]) -> Result<Job<'_>, String> {
        let launcher = self.oshrun.clone();
        self.start_by(&launcher, args)
    }

    /// Starts `LAUNCHER -n 4 job ARGS`.
    pub(super) fn start_by(&self, launcher: &Path, args: &[&str]) -> Result<Job<'_>, String> {
        let error = |error: std::io::Error| format!("{}: {error}", launcher.display());
        let mut command = Command::new(launcher);
        command.args(["-n", "4"]).arg(&self.program).args(args);
        command.stdin(Stdio::null());
        command.stdout(File::create(self.stdout()).map_err(error)?);
        command.stderr(File::create(self.stderr()).map_err(error)?);
        command.env("TMPDIR", self.scratch.join("tmp"));
        let child = command.spawn().map_err(error)?;
        let launcher = Pid::try_from(child.id()).map_err(|error| error.to_string())?;
        Ok(Job {
            jobs: self,
            launcher,
        })
    }

    /// Checks that no job has left a file.
    pub(super) fn check_files(&self) -> Result<(), String> {
        let shm = leftovers::shared_memory();
        let mut left: Vec<_> = shm.difference(&self.shm).cloned().collect();
        left.extend(leftovers::entries(&self.scratch.join("tmp"), |_| true));
        if left.is_empty() {
            Ok(())
        } else {
            Err(format!("left behind: {left:?}"))
        }
    }

    /// Removes the files that this case itself has put into its temporary directory.
    pub(super) fn finish(self) -> Result<(), String> {
        self.check_files()?;
        fs::remove_dir_all(&self.scratch).map_err(|error| error.to_string())
    }

    fn stdout(&self) -> PathBuf {
        self.scratch.join("stdout")
    }

    fn stderr(&self) -> PathBuf {
        self.scratch.join("stderr")
    }
}

impl Job<'_> {
    /// Returns the process that was started.
    pub(super) fn launcher(&self) -> Pid {
        self.launcher
    }

    /// Returns all processes of the job, the launcher's own included.
    pub(super) fn processes(&self) -> Vec<Process> {
        let mut all = procfs::descendants(procfs::own_pid());
        all.retain(|process| !process.is_zombie());
        all
    }

    /// Returns those of them that execute the job's program: its PEs.
    pub(super) fn pes(&self) -> Vec<Process> {
        let program = self.jobs.program.display().to_string();
        let mut all = self.processes();
        all.retain(|process| process.command().starts_with(&program));
        all
    }

    /// Waits until the job has PEs.
    pub(super) fn wait_for_pes(&self) -> Result<Vec<Process>, String> {
        let mut pes = Vec::new();
        wait("a PE", || {
            pes = self.pes();
            !pes.is_empty()
        })?;
        Ok(pes)
    }

    /// Waits until the program has said "ready".
    pub(super) fn wait_until_ready(&self) -> Result<(), String> {
        wait("\"ready\"", || {
            case::read(&self.jobs.stdout()).contains("ready")
        })
        .map_err(|error| format!("{error}\n{}", case::read(&self.jobs.stderr())))
    }

    /// Waits until no process of the job is left; that must not take longer than [`OVER_WITHIN`].
    pub(super) fn wait_until_over(self) -> Result<Over, String> {
        let mut time = Time::start();
        let mut ended = None;
        loop {
            match sys::reap() {
                Reaped::Child(pid, how) if pid == self.launcher => ended = Some(how),
                Reaped::Child(..) => {}
                Reaped::NoChild => break,
                Reaped::AllRun if time.passed > OVER_WITHIN => return Err(self.still_there()),
                Reaped::AllRun => {
                    std::thread::sleep(STEP);
                    time.take_step();
                }
            }
        }
        let ended = ended.ok_or("the launcher has ended before")?;
        Ok(Over {
            ended,
            took: time.passed,
            stderr: case::read(&self.jobs.stderr()),
        })
    }

    fn still_there(&self) -> String {
        let mut text = format!("not over after {} s:", OVER_WITHIN.as_secs());
        for process in self.processes() {
            text.push_str(&format!(
                "\n  {} ({}) {}",
                process.pid,
                process.state,
                process.command()
            ));
        }
        text.push('\n');
        text.push_str(&case::read(&self.jobs.stderr()));
        text
    }
}

/// The time in which the machine ran. A virtual one may stand still for seconds, its processes and
/// not its clock: such a step counts as [`LONGEST_STEP`].
#[derive(Debug)]
struct Time {
    passed: Duration,
    last: Instant,
}

impl Time {
    fn start() -> Self {
        Self {
            passed: Duration::ZERO,
            last: Instant::now(),
        }
    }

    /// Adds the time since the last step.
    fn take_step(&mut self) {
        let now = Instant::now();
        self.passed += (now - self.last).min(LONGEST_STEP);
        self.last = now;
    }
}

fn wait(what: &str, mut there: impl FnMut() -> bool) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    while !there() {
        if Instant::now() > deadline {
            return Err(format!(
                "{what} did not come within {} s",
                PATIENCE.as_secs()
            ));
        }
        std::thread::sleep(STEP);
    }
    Ok(())
}
