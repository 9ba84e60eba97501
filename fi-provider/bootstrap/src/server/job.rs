//! The state of a job that concerns all its hosts.

use super::{Departure, Fault, Left, Pair, Phase};

/// The state of one job: barriers of its hosts, and the ends of its PEs.
#[derive(Debug)]
pub struct Job {
    /// PEs that have not ended.
    running: usize,
    /// Whether all PEs of a host stand in the barrier.
    entered: Vec<bool>,
    /// The values that they have put since the last barrier.
    values: Vec<Pair>,
    first_left: Option<Left>,
    first_failure: Option<i32>,
}

impl Job {
    /// A job of `size` PEs on `hosts` hosts, none of which has said anything yet.
    #[must_use]
    pub fn new(size: usize, hosts: usize) -> Self {
        Job {
            running: size,
            entered: vec![false; hosts],
            values: Vec::new(),
            first_left: None,
            first_failure: None,
        }
    }

    /// The PEs that have not ended.
    #[must_use]
    pub fn running(&self) -> usize {
        self.running
    }

    /// The status of the PE that was the first to end with one other than 0, or 0.
    #[must_use]
    pub fn status(&self) -> i32 {
        self.first_failure.unwrap_or(0)
    }

    /// The PE that was the first to end without a fault of its own. Hosts are told of it ([`super::Host::leave`]).
    #[must_use]
    pub fn first_left(&self) -> Option<Left> {
        self.first_left
    }

    /// Takes in that all PEs of `host` stand in the barrier. When those of all hosts do, returns the values to open it
    /// with ([`super::Host::open`]): all that were put since the last barrier.
    ///
    /// # Panics
    /// When `host` is no host of the job.
    pub fn enter(&mut self, host: usize, values: Vec<Pair>) -> Option<Vec<Pair>> {
        self.entered[host] = true;
        self.values.extend(values);
        if !self.entered.iter().all(|&entered| entered) {
            return None;
        }
        self.entered.fill(false);
        Some(std::mem::take(&mut self.values))
    }

    /// Takes in the end of a PE, once for each; the fault ends the job.
    ///
    /// A PE that never initialised or has finalized may exit with any status, unless others wait
    /// for it, which their host says; one that has finalized in part with status 0. The last PE to
    /// leave ends nothing any more: then only status 0 without finalization is a fault.
    pub fn depart(&mut self, left: Left) -> Option<Fault> {
        self.running = self.running.saturating_sub(1);
        let (rank, others) = (left.rank, self.running > 0);
        let is_early = |status| match left.phase {
            Phase::Inside => others || status == 0,
            Phase::Partly => others && status != 0,
            Phase::Outside | Phase::Finalized => false,
        };
        let fault = match left.departure {
            Departure::Killed(signal) => Some(Fault::Killed {
                rank,
                signal,
                others,
            }),
            Departure::Exited(status) if is_early(status) => Some(Fault::LeftEarly {
                rank,
                status,
                others,
            }),
            Departure::Exited(_) => {
                self.first_left.get_or_insert(left);
                None
            }
        };
        let status = fault
            .as_ref()
            .map_or(left.departure.status(), Fault::status);
        if status != 0 {
            self.first_failure.get_or_insert(status);
        }
        fault
    }
}
