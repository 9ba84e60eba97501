//! The launcher's end: the state of one job, without any input or output.
//!
//! A job runs on one host or on several. [`Host`] has the PEs of one: the launcher feeds it with
//! the lines that they send and with the way each of them ended, and carries out the [`Effect`]s
//! that come back. [`Job`] has the state of all hosts: when a barrier opens, and whether a PE may
//! leave. With one host the launcher hands the results of each to the other; with several, a
//! message to each host and one back is an exchange.

mod host;
mod job;

pub use host::Host;
pub use job::Job;

/// A key and its value, as PEs put them.
pub type Pair = (String, String);

/// An action for the launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send this line, newline included.
    Reply {
        /// To whom.
        rank: usize,
        /// The line.
        line: String,
    },
    /// Tell the job that all PEs of the host stand in the barrier: [`Job::enter`].
    Entered {
        /// The values that they have put since the last barrier.
        values: Vec<Pair>,
    },
    /// End all PEs: this one asked for it.
    Abort {
        /// The PE that asked.
        rank: usize,
        /// The job's exit status.
        code: i32,
        /// Why, if it said so.
        message: Option<String>,
    },
    /// End all PEs: something went wrong.
    Fault(Fault),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    /// It exited with this status.
    Exited(i32),
    /// It was killed by this signal.
    Killed(i32),
}

impl Departure {
    /// The status that a shell would report.
    #[must_use]
    pub fn status(self) -> i32 {
        match self {
            Departure::Exited(status) => status,
            Departure::Killed(signal) => 128 + signal,
        }
    }
}

/// Why the job cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A PE was killed by a signal.
    Killed {
        /// Which PE.
        rank: usize,
        /// By which signal.
        signal: i32,
        /// Whether other PEs were still there.
        others: bool,
    },
    /// A PE exited between initialisation and finalization.
    LeftEarly {
        /// Which PE.
        rank: usize,
        /// Its exit status.
        status: i32,
        /// Whether other PEs were still there.
        others: bool,
    },
    /// A PE has exited that others now wait for in a barrier.
    Awaited {
        /// The PE that is gone.
        rank: usize,
        /// How it ended.
        departure: Departure,
        /// Whether it had initialised and finalized before; otherwise it never initialised.
        finalized: bool,
    },
    /// A PE does not keep to the protocol.
    Garbage {
        /// Which PE.
        rank: usize,
        /// Its mistake, in words.
        what: String,
    },
}

impl Fault {
    /// The exit status that the fault gives to the job: never 0.
    #[must_use]
    pub fn status(&self) -> i32 {
        let status = match self {
            Fault::Killed { signal, .. } => 128 + signal,
            Fault::LeftEarly { status, .. } => *status,
            Fault::Awaited { departure, .. } => departure.status(),
            Fault::Garbage { .. } => 1,
        };
        if status == 0 { 1 } else { status }
    }
}

/// Where a PE stands between its `init` and its `finalize`, of which it has several where libraries
/// in it share the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It has not initialised.
    Outside,
    /// It has initialised last.
    Inside,
    /// It has finalized last, and not as often as it has initialised. Another library may be unable
    /// to: MPICH up to 4.1 ends the connection of all as it finalizes.
    Partly,
    /// It has finalized as often as it has initialised.
    Finalized,
}

/// A PE that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Which PE.
    pub rank: usize,
    /// How its process ended.
    pub departure: Departure,
    /// Where it stood then.
    pub phase: Phase,
}

impl Left {
    /// The fault of others that wait for it in a barrier.
    fn awaited(self) -> Fault {
        Fault::Awaited {
            rank: self.rank,
            departure: self.departure,
            finalized: matches!(self.phase, Phase::Partly | Phase::Finalized),
        }
    }
}

#[cfg(test)]
mod tests;
