//! The launcher's end: the state of one job, without any input or output.
//!
//! The launcher feeds [`Job`] with the lines that its PEs send and with the way each of them ended, and carries out
//! the [`Effect`]s that come back. Whether a PE may leave is decided here.

use std::collections::HashMap;

use crate::wire::{KEYLEN_MAX, KVSNAME_MAX, Line, Message, VALLEN_MAX};
use crate::{encoding, mapping};

/// Bytes of keys and values that a job holds for each of its PEs: far more than one has to tell.
const ROOM_PER_PE: usize = 4 << 20;

/// What the launcher has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send this line, newline included.
    Reply {
        /// To whom.
        rank: usize,
        /// The line.
        line: String,
    },
    /// End all PEs: this one asked for it.
    Abort {
        /// Who asked.
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
        /// What it did.
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

/// Where a PE stands between its `init` and its `finalize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Outside,
    Inside,
    Finalized,
}

#[derive(Debug, Clone)]
struct Pe {
    phase: Phase,
    in_barrier: bool,
    departure: Option<Departure>,
}

/// The state of one job.
#[derive(Debug)]
pub struct Job {
    pes: Vec<Pe>,
    kvsname: String,
    values: HashMap<String, String>,
    /// Bytes of keys and values that can still be put.
    room: usize,
    first_failure: Option<i32>,
}

impl Job {
    /// A job of `size` PEs, all on one node, none of which has said anything yet. `kvsname` is a word of at most 256 bytes
    /// that names the job.
    #[must_use]
    pub fn new(size: usize, kvsname: &str) -> Self {
        debug_assert!(kvsname.len() <= KVSNAME_MAX && !kvsname.contains(char::is_whitespace));
        let pe = Pe {
            phase: Phase::Outside,
            in_barrier: false,
            departure: None,
        };
        let mapping = mapping::of_blocks(size, size.max(1));
        Job {
            pes: vec![pe; size],
            kvsname: kvsname.to_owned(),
            values: HashMap::from([(mapping::KEY.to_owned(), mapping)]),
            room: size.saturating_mul(ROOM_PER_PE),
            first_failure: None,
        }
    }

    /// The same job, spread over nodes in blocks of `each` consecutive ranks; the last node may have fewer.
    ///
    /// # Panics
    /// When `each` is 0.
    #[must_use]
    pub fn on_nodes_of(mut self, each: usize) -> Self {
        let mapping = mapping::of_blocks(self.pes.len(), each);
        self.values.insert(mapping::KEY.to_owned(), mapping);
        self
    }

    /// The status of the PE that was the first to end with one other than 0, or 0.
    #[must_use]
    pub fn status(&self) -> i32 {
        self.first_failure.unwrap_or(0)
    }

    /// Takes in one line of a PE, without its newline.
    ///
    /// # Panics
    /// When `rank` is no PE of the job.
    pub fn receive(&mut self, rank: usize, line: &[u8]) -> Vec<Effect> {
        let message = match Message::parse(line) {
            Ok(message) => message,
            Err(error) => return garbage(rank, error.to_string()),
        };
        let command = message.command();
        let reply = |line: Line| {
            vec![Effect::Reply {
                rank,
                line: line.finish(),
            }]
        };
        match (command, self.pes[rank].phase) {
            ("abort", _) => vec![Effect::Abort {
                rank,
                code: message.number("exitcode").unwrap_or(1),
                message: message.get("message").and_then(abort_message),
            }],
            ("init", Phase::Inside) => {
                garbage(rank, "began again without shmem_finalize".to_owned())
            }
            ("init", _) => self.init(rank, &message),
            (_, Phase::Outside | Phase::Finalized) => {
                garbage(rank, format!("sent {command} outside init and finalize"))
            }
            ("get_maxes", _) => reply(
                Line::new("maxes")
                    .field("rc", 0)
                    .field("kvsname_max", KVSNAME_MAX)
                    .field("keylen_max", KEYLEN_MAX)
                    .field("vallen_max", VALLEN_MAX),
            ),
            ("get_my_kvsname", _) => reply(
                Line::new("my_kvsname")
                    .field("rc", 0)
                    .field("kvsname", &self.kvsname),
            ),
            ("get_universe_size", _) => reply(
                Line::new("universe_size")
                    .field("rc", 0)
                    .field("size", self.pes.len()),
            ),
            ("get_appnum", _) => reply(Line::new("appnum").field("rc", 0).field("appnum", 0)),
            ("put", _) => reply(self.put(&message)),
            ("get", _) => reply(self.get(&message)),
            ("barrier_in", _) => self.barrier_in(rank),
            ("finalize", _) => {
                self.pes[rank].phase = Phase::Finalized;
                reply(Line::new("finalize_ack").field("rc", 0))
            }
            _ => garbage(rank, format!("sent {command}, which is not known here")),
        }
    }

    fn init(&mut self, rank: usize, message: &Message<'_>) -> Vec<Effect> {
        let known = message
            .get("pmi_version")
            .is_none_or(|version| version == "1");
        if known {
            self.pes[rank].phase = Phase::Inside;
        }
        let line = Line::new("response_to_init")
            .field("pmi_version", 1)
            .field("pmi_subversion", 1)
            .field("rc", if known { 0 } else { -1 });
        vec![Effect::Reply {
            rank,
            line: line.finish(),
        }]
    }

    /// A value replaces an older one: a PE that starts over puts its keys again.
    fn put(&mut self, message: &Message<'_>) -> Line {
        let line = Line::new("put_result");
        let (Some(key), Some(value)) = (message.get("key"), message.get("value")) else {
            return line.field("rc", -1).field("msg", "no_key_or_no_value");
        };
        if key.is_empty() || key.len() > KEYLEN_MAX || value.len() > VALLEN_MAX {
            return line.field("rc", -1).field("msg", "key_or_value_too_long");
        }
        let old = self.values.get(key).map(|old| key.len() + old.len());
        let room = self.room.saturating_add(old.unwrap_or(0));
        let Some(room) = room.checked_sub(key.len() + value.len()) else {
            return line.field("rc", -1).field("msg", "no_room");
        };
        self.room = room;
        self.values.insert(key.to_owned(), value.to_owned());
        line.field("rc", 0).field("msg", "success")
    }

    fn get(&self, message: &Message<'_>) -> Line {
        let line = Line::new("get_result");
        match message.get("key").and_then(|key| self.values.get(key)) {
            Some(value) => line
                .field("rc", 0)
                .field("msg", "success")
                .field("value", value),
            None => line
                .field("rc", -1)
                .field("msg", "key_not_found")
                .field("value", "unknown"),
        }
    }

    fn barrier_in(&mut self, rank: usize) -> Vec<Effect> {
        if self.pes[rank].in_barrier {
            return garbage(rank, "entered a barrier twice".to_owned());
        }
        self.pes[rank].in_barrier = true;
        if let Some(fault) = self.awaited() {
            return vec![Effect::Fault(fault)];
        }
        if !self.pes.iter().all(|pe| pe.in_barrier) {
            return Vec::new();
        }
        for pe in &mut self.pes {
            pe.in_barrier = false;
        }
        let line = Line::new("barrier_out").field("rc", 0).finish();
        (0..self.pes.len())
            .map(|rank| Effect::Reply {
                rank,
                line: line.clone(),
            })
            .collect()
    }

    /// A PE that is gone while others stand in a barrier that it can no longer join.
    fn awaited(&self) -> Option<Fault> {
        if !self
            .pes
            .iter()
            .any(|pe| pe.in_barrier && pe.departure.is_none())
        {
            return None;
        }
        let gone = |(rank, pe): (usize, &Pe)| {
            pe.departure.map(|departure| Fault::Awaited {
                rank,
                departure,
                finalized: pe.phase == Phase::Finalized,
            })
        };
        self.pes.iter().enumerate().find_map(gone)
    }

    /// Takes in the end of a PE's process, after all that it has sent; the fault ends the job.
    ///
    /// A PE that never initialised or has finalized may exit with any status, unless others wait for it. The last
    /// PE to leave ends nothing any more: then only status 0 without finalization is a fault.
    ///
    /// # Panics
    /// When `rank` is no PE of the job.
    pub fn depart(&mut self, rank: usize, departure: Departure) -> Option<Fault> {
        let pe = &mut self.pes[rank];
        pe.departure = Some(departure);
        let phase = pe.phase;
        let others = self.pes.iter().any(|pe| pe.departure.is_none());
        let fault = match departure {
            Departure::Killed(signal) => Some(Fault::Killed {
                rank,
                signal,
                others,
            }),
            Departure::Exited(status) if phase == Phase::Inside && (others || status == 0) => {
                Some(Fault::LeftEarly {
                    rank,
                    status,
                    others,
                })
            }
            Departure::Exited(_) => self.awaited(),
        };
        let status = fault.as_ref().map_or(departure.status(), Fault::status);
        if status != 0 {
            self.first_failure.get_or_insert(status);
        }
        fault
    }
}

fn garbage(rank: usize, what: String) -> Vec<Effect> {
    vec![Effect::Fault(Fault::Garbage { rank, what })]
}

/// The text that a PE sent with its abort, made fit for one line.
fn abort_message(field: &str) -> Option<String> {
    let (_, text) = encoding::first_piece(field)?;
    let text = String::from_utf8_lossy(&encoding::decode(text)?).replace(char::is_control, " ");
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
