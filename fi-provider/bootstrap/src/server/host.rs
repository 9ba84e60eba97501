//! The PEs of one host: their requests, and the values that all PEs of the job have put.

use std::collections::{BTreeSet, HashMap};

use super::{Departure, Effect, Fault, Left, Pair, Phase};
use crate::wire::{KEYLEN_MAX, KVSNAME_MAX, Line, Message, VALLEN_MAX};
use crate::{encoding, mapping};

/// Bytes of keys and values that a host holds for each of its PEs: far more than one has to tell.
pub(super) const ROOM_PER_PE: usize = 4 << 20;

#[derive(Debug, Clone)]
struct Pe {
    rank: usize,
    phase: Phase,
    /// How much more often it has initialised than finalized: libraries that have begun.
    begun: u64,
    in_barrier: bool,
    gone: bool,
}

impl Pe {
    /// Takes in that a library has initialised. Several may at a time: their lines come by turns,
    /// as each waits for its answer.
    fn begin(&mut self) {
        self.begun += 1;
        self.phase = Phase::Inside;
    }

    /// Takes in that one of them has finalized.
    fn finalize(&mut self) {
        self.begun = self.begun.saturating_sub(1);
        self.phase = match self.begun {
            0 => Phase::Finalized,
            _ => Phase::Partly,
        };
    }
}

/// The PEs of one host.
#[derive(Debug)]
pub struct Host {
    /// PEs of the job.
    size: usize,
    /// Those of this host, by rank.
    pes: Vec<Pe>,
    kvsname: String,
    values: HashMap<String, String>,
    /// Keys that were put since the last barrier.
    fresh: BTreeSet<String>,
    /// Bytes of keys and values that can still be put.
    room: usize,
    /// A PE of the job that has ended, and that nobody can wait for.
    left: Option<Left>,
}

impl Host {
    /// All `size` PEs of a job on one host and one node, none of which has said anything yet. `kvsname` is a word of at
    /// most 256 bytes that names the job.
    #[must_use]
    pub fn alone(size: usize, kvsname: &str) -> Self {
        Self::of(&vec![0; size], 0, kvsname)
    }

    /// The PEs of host `host`, where `hosts` has the number of every PE's host.
    #[must_use]
    pub fn of(hosts: &[u32], host: u32, kvsname: &str) -> Self {
        debug_assert!(kvsname.len() <= KVSNAME_MAX && !kvsname.contains(char::is_whitespace));
        let here = hosts.iter().enumerate().filter(|&(_, &at)| at == host);
        let pes: Vec<Pe> = here
            .map(|(rank, _)| Pe {
                rank,
                phase: Phase::Outside,
                begun: 0,
                in_barrier: false,
                gone: false,
            })
            .collect();
        Host {
            size: hosts.len(),
            room: pes.len().saturating_mul(ROOM_PER_PE),
            pes,
            kvsname: kvsname.to_owned(),
            values: HashMap::from([(mapping::KEY.to_owned(), mapping::of_hosts(hosts))]),
            fresh: BTreeSet::new(),
            left: None,
        }
    }

    /// The same host, with its PEs spread over pretended nodes in blocks of `each` consecutive ranks; the last node may
    /// have fewer.
    ///
    /// # Panics
    /// When `each` is 0.
    #[must_use]
    pub fn on_nodes_of(mut self, each: usize) -> Self {
        let mapping = mapping::of_blocks(self.size, each);
        self.values.insert(mapping::KEY.to_owned(), mapping);
        self
    }

    /// The PEs of this host, in ascending order.
    pub fn ranks(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.pes.iter().map(|pe| pe.rank)
    }

    /// The PE `rank`.
    fn pe(&mut self, rank: usize) -> &mut Pe {
        let place = self.pes.binary_search_by_key(&rank, |pe| pe.rank);
        &mut self.pes[place.expect("a PE of this host")]
    }

    /// Takes in one line of a PE, without its newline.
    ///
    /// # Panics
    /// When `rank` is no PE of this host.
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
        match (command, self.pe(rank).phase) {
            ("abort", _) => vec![Effect::Abort {
                rank,
                code: message.number("exitcode").unwrap_or(1),
                message: message.get("message").and_then(abort_message),
            }],
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
                    .field("size", self.size),
            ),
            ("get_appnum", _) => reply(Line::new("appnum").field("rc", 0).field("appnum", 0)),
            ("put", _) => reply(self.put(&message)),
            ("get", _) => reply(self.get(&message)),
            ("barrier_in", _) => self.barrier_in(rank),
            ("finalize", _) => {
                self.pe(rank).finalize();
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
            self.pe(rank).begin();
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
        self.fresh.insert(key.to_owned());
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
        let pe = self.pe(rank);
        if pe.in_barrier {
            return garbage(rank, "entered a barrier twice".to_owned());
        }
        pe.in_barrier = true;
        if let Some(fault) = self.awaited() {
            return vec![Effect::Fault(fault)];
        }
        if !self.pes.iter().all(|pe| pe.in_barrier) {
            return Vec::new();
        }
        let fresh = std::mem::take(&mut self.fresh);
        let value = |key: String| self.values.get(&key).cloned().map(|value| (key, value));
        vec![Effect::Entered {
            values: fresh.into_iter().filter_map(value).collect(),
        }]
    }

    /// Opens the barrier, in which the PEs of all hosts stand. `values` are those that were put since the last one, on
    /// this host or on others.
    pub fn open(&mut self, values: Vec<Pair>) -> Vec<Effect> {
        self.values.extend(values);
        let line = Line::new("barrier_out").field("rc", 0).finish();
        let reply = |pe: &mut Pe| {
            pe.in_barrier = false;
            Effect::Reply {
                rank: pe.rank,
                line: line.clone(),
            }
        };
        self.pes.iter_mut().map(reply).collect()
    }

    /// A PE that is gone while others stand in a barrier that it can no longer join.
    fn awaited(&self) -> Option<Fault> {
        let waits = self.pes.iter().any(|pe| pe.in_barrier && !pe.gone);
        self.left.filter(|_| waits).map(Left::awaited)
    }

    /// Takes in the end of a PE's process, after all that it has sent, for [`super::Job::depart`].
    ///
    /// # Panics
    /// When `rank` is no PE of this host.
    pub fn depart(&mut self, rank: usize, departure: Departure) -> Left {
        let pe = self.pe(rank);
        pe.gone = true;
        Left {
            rank,
            departure,
            phase: pe.phase,
        }
    }

    /// Takes in that a PE of the job, on any host, has ended without a fault; the fault is that of PEs that wait for it.
    pub fn leave(&mut self, left: Left) -> Option<Fault> {
        self.left.get_or_insert(left);
        self.awaited()
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
