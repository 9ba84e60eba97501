//! The process that the user started: it watches over the one that runs the job.
//!
//! When one of the two is killed, the other ends the job: the PEs' own processes die with the one
//! that runs the job; processes that they have started in turn are handed to the survivor and
//! killed by it. The job's software device, if it has one, ends after all of them.

use fi_bootstrap::server::Departure;

use super::device::Device;
use super::sys::{self, Signals};
use super::{Failure, processes, report};

/// Runs `job` in a process of its own, with the device that `provide` returns, and yields its status; forwards the
/// signals that end a job.
pub(super) fn watch_over(
    provide: impl FnOnce(&Signals) -> Result<Option<Device>, Failure>,
    job: impl FnOnce(Option<&Device>, &Signals) -> Result<i32, Failure>,
) -> Result<i32, Failure> {
    let failed = |error: std::io::Error| Failure::new(1, format!("cannot set up the job: {error}"));
    let signals = Signals::take().map_err(failed)?;
    sys::adopt_orphans().map_err(failed)?;
    let device = provide(&signals)?;
    let guard = std::process::id();
    if let Some(runner) = sys::fork().map_err(failed)? {
        return Ok(wait_for(runner, &signals));
    }
    let job = |signals: &Signals| job(device.as_ref(), signals);
    let status = run_below(guard, job).unwrap_or_else(|failure| report::failure(&failure));
    if sys::parent() != guard.cast_signed() {
        // Nobody else is there to see to the device's end.
        drop(device);
    }
    std::process::exit(status)
}

/// Runs the job in the child: `guard` is the parent that it must not outlive.
fn run_below(
    guard: u32,
    job: impl FnOnce(&Signals) -> Result<i32, Failure>,
) -> Result<i32, Failure> {
    let failed = |error: std::io::Error| Failure::new(1, format!("cannot set up the job: {error}"));
    sys::signal_on_parents_death(libc::SIGTERM).map_err(failed)?;
    if sys::parent() != guard.cast_signed() {
        return Err(Failure::silent(1));
    }
    sys::adopt_orphans().map_err(failed)?;
    job(&Signals::take().map_err(failed)?)
}

/// Waits for the child, in the parent.
fn wait_for(runner: i32, signals: &Signals) -> i32 {
    loop {
        sys::poll(&mut [sys::watch(signals, false)], None);
        while let Some(signal) = signals.next() {
            if signal != libc::SIGCHLD {
                sys::kill(runner, signal);
                continue;
            }
            while let Ok(Some((pid, departure))) = sys::reap() {
                match departure {
                    _ if pid != runner => {}
                    Departure::Exited(status) => return status,
                    Departure::Killed(signal) => {
                        processes::end_all(&[]);
                        let name = report::signal_name(signal);
                        report::line(&format!(
                            "the process that ran the job was killed by {name}; the job has ended"
                        ));
                        return 128 + signal;
                    }
                }
            }
        }
    }
}
