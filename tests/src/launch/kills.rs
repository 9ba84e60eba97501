//! kill -9 at random moments: for any process that it hits, the job is over within two seconds and
//! nothing is left.

use super::job::{Job, Jobs};
use crate::place::Place;
use crate::sys::{self, Ended};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const ROUNDS: u32 = 100;
const ROUNDS_UNDER_HYDRA: u32 = 10;
/// The latest moment of a kill after the start: four PEs are up and at their work well before.
const LATEST_US: u64 = 150_000;

/// Kills a PE; oshrun names it and its exit status tells the signal.
pub(crate) fn one_pe(place: &Place, args: &[String]) -> Result<(), String> {
    rounds(place, args, ROUNDS, None, |job, random| {
        let pes = job.wait_for_pes()?;
        sys::kill(pes[random.below(pes.len())].pid, libc::SIGKILL);
        Ok(Some((137, "was killed by signal 9 (SIGKILL)")))
    })
}

/// Kills one of the processes that execute oshrun.
pub(crate) fn oshrun(place: &Place, args: &[String]) -> Result<(), String> {
    let name = place.staged("bin/oshrun").display().to_string();
    rounds(place, args, ROUNDS, None, |job, random| {
        let mut hit = job.processes();
        hit.retain(|process| process.pid == job.launcher() || process.command().starts_with(&name));
        if !hit.is_empty() {
            sys::kill(hit[random.below(hit.len())].pid, libc::SIGKILL);
        }
        Ok(None)
    })
}

/// Kills every process of the job.
pub(crate) fn all_at_once(place: &Place, args: &[String]) -> Result<(), String> {
    rounds(place, args, ROUNDS, None, |job, _| {
        for process in job.processes() {
            sys::kill(process.pid, libc::SIGKILL);
        }
        Ok(None)
    })
}

/// Kills a PE of a job that MPICH's launcher has started.
pub(crate) fn pe_under_hydra(place: &Place, args: &[String]) -> Result<(), String> {
    let hydra = Some(Path::new("/usr/bin/mpiexec.hydra"));
    rounds(place, args, ROUNDS_UNDER_HYDRA, hydra, |job, random| {
        let pes = job.wait_for_pes()?;
        sys::kill(pes[random.below(pes.len())].pid, libc::SIGKILL);
        Ok(None)
    })
}

/// Expected end of a killed job, if that is known: the exit status, and a text on standard error.
type Expected = Option<(i32, &'static str)>;

fn rounds(
    place: &Place,
    args: &[String],
    rounds: u32,
    launcher: Option<&Path>,
    mut kill: impl FnMut(&Job<'_>, &mut Random) -> Result<Expected, String>,
) -> Result<(), String> {
    let jobs = Jobs::new(place, args)?;
    let mut random = Random::new();
    let seed = random.0;
    let mut slowest = Duration::ZERO;
    for round in 0..rounds {
        let moment = Duration::from_micros(random.next() % LATEST_US);
        let in_round =
            |error: String| format!("round {round} after {moment:?} (seed {seed:#x}): {error}");
        let job = match launcher {
            Some(launcher) => jobs.start_by(launcher, &["everywhere"]),
            None => jobs.start(&["everywhere"]),
        }
        .map_err(in_round)?;
        std::thread::sleep(moment);
        let expected = kill(&job, &mut random).map_err(in_round)?;
        let over = job.wait_until_over().map_err(in_round)?;
        jobs.check_files().map_err(in_round)?;
        if let Some((status, text)) = expected
            && (over.ended != Ended::Exit(status) || !over.stderr.contains(text))
        {
            return Err(in_round(format!(
                "{:?}, expected {status} and \"{text}\"\n{}",
                over.ended, over.stderr
            )));
        }
        slowest = slowest.max(over.took);
    }
    println!("{rounds} rounds, seed {seed:#x}, the slowest was over after {slowest:?}");
    jobs.finish()
}

/// Marsaglia's xorshift: any sequence will do, if it can be told by its seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Self {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self(u64::from(now.subsec_nanos()) << 20 | u64::from(std::process::id()) | 1)
    }

    /// Returns the seed, which tells the sequence, before its first number.
    pub(super) fn seed(&self) -> u64 {
        self.0
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or(0)
    }
}
