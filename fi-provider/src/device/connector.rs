//! Connecting queue pairs in the background (transport [`crate::device::config::Transport::Mixed`]).
//!
//! A lane that goes by initiators asks for a connected queue to a peer that it has posted much to. A thread makes the queue pair and tells
//! the peer's thread of it, which makes its own; each connects its end and says so, and only when both have, the lanes may use their queues.
//! A word for each peer in either mailbox is all that is told, each written by that peer's thread, over an initiator of its own. A
//! peer that does not answer, because it is stopped or has ended, is never connected to: its memory is reached as before.

#![expect(
    unsafe_code,
    reason = "reads the peer table and the mailbox from a thread beside the domain's users"
)]

use crate::device::error::Error;
use crate::device::gate::Gate;
use crate::helper;
use crate::symmetric::address_vector::Peer as Record;
use crate::symmetric::remote::Remote;
use fi_mlx5::device::{self as hca, CompletionQueue, Features, Peer, QueuePair};
use fi_mlx5::lane::{Hook, Lane, Later, Parts, Queues, Source, Threads, To};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Times for which the thread sleeps: after it has done something, and when for long there was
/// nothing to do.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(50);

/// Basic blocks of the thread's initiator.
const BLOCKS: u32 = 64;

/// Message between the threads of two peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Told {
    /// The queue pair for the other; without its process's key, which the other knows from
    /// elsewhere.
    peer: Peer,
    /// Whether it is connected.
    connected: bool,
}

/// Places of the parts of a word: the number of the queue pair, the local identifier, the largest
/// packet in units of 256 bytes, the reads and atomics, and two flags.
const LID: u32 = 24;
const MTU: u32 = 40;
const READS: u32 = 48;
const OFFERED: u64 = 1 << 62;
const CONNECTED: u64 = 1 << 63;
const MTU_UNIT: u16 = 256;

impl Told {
    fn to_word(self) -> u64 {
        let Peer {
            number,
            lid,
            mtu,
            max_read_atomic,
            key: _,
        } = self.peer;
        u64::from(number)
            | u64::from(lid) << LID
            | u64::from(mtu / MTU_UNIT) << MTU
            | u64::from(max_read_atomic) << READS
            | OFFERED
            | if self.connected { CONNECTED } else { 0 }
    }

    /// Decodes a word; `None` where nobody has written it.
    fn from_word(word: u64) -> Option<Self> {
        let peer = Peer {
            number: word as u32 & 0xff_ffff,
            lid: (word >> LID) as u16,
            mtu: u16::from((word >> MTU) as u8) * MTU_UNIT,
            max_read_atomic: (word >> READS) as u8,
            key: 0,
        };
        (word & OFFERED != 0).then_some(Self {
            peer,
            connected: word & CONNECTED != 0,
        })
    }
}

/// Stage of the queue pair for a peer.
#[derive(Debug, Default)]
enum Stage {
    #[default]
    None,
    /// It is there, and the peer was told.
    Offered(QueuePair),
    /// It is connected, and the peer was told.
    Connected(QueuePair),
    /// Both ends are connected; or it cannot be had.
    Over,
}

/// Parts of its domain that a connector uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings {
    /// The records of all peers.
    pub(crate) records: *const Record,
    /// Number of the records, and the number of the own process.
    pub(crate) count: u32,
    pub(crate) own: u32,
    /// The own words that the peers write, one each.
    pub(crate) words: *const AtomicU64,
    /// Offset of the words in the window, in bytes from its base, and that of the window's second
    /// part.
    pub(crate) offset: usize,
    pub(crate) split: usize,
}

/// State of the thread.
#[derive(Debug)]
struct Work {
    around: Surroundings,
    gate: Arc<Gate>,
    later: Arc<Later>,
    features: Features,
    stages: Vec<Stage>,
    mail: Lane,
    /// Keep the lane's rings.
    _initiator: QueuePair,
    _completions: CompletionQueue,
}

// SAFETY: the records and the words outlive the thread (`Connector::start`) and belong to no thread; the lane is this work's alone.
unsafe impl Send for Work {}

/// The thread, and the work with which it goes on when it is started again.
#[derive(Debug)]
pub(crate) struct Connector {
    stop: Arc<AtomicBool>,
    work: Mutex<Option<Work>>,
    thread: Mutex<Option<JoinHandle<Work>>>,
}

impl Connector {
    /// Prepares a thread that connects queues for this gate, which takes them; the thread is not
    /// started yet.
    ///
    /// # Errors
    /// The refusal of the device.
    pub(crate) fn new(
        hca: &hca::Device,
        hook: Option<Hook>,
        around: Surroundings,
        gate: Arc<Gate>,
        later: Arc<Later>,
    ) -> Result<Self, Error> {
        let domain = hca.plain_domain();
        let completions = hca.completion_queue(&domain, BLOCKS)?;
        let initiator = hca.initiator(&domain, &completions, BLOCKS)?;
        let mut ring = initiator.ring();
        // Other queues may have the register, too: a doorbell alone is one store.
        ring.register_size = 0;
        let parts = Parts {
            queues: Queues {
                initiators: vec![ring],
                ..Queues::default()
            },
            completions: Source::Own(completions.ring()),
            discard: (0, 0),
            threads: Threads::One,
            registers: None,
            hook,
        };
        let work = Work {
            around,
            gate,
            later,
            features: *hca.features(),
            stages: (0..around.count).map(|_| Stage::None).collect(),
            // SAFETY: queue pair and completion queue are kept beside the lane, and nobody else uses them.
            mail: unsafe { Lane::new(parts) },
            _initiator: initiator,
            _completions: completions,
        };
        Ok(Self {
            stop: Arc::default(),
            work: Mutex::new(Some(work)),
            thread: Mutex::default(),
        })
    }

    /// Starts the thread; where the system has none, nothing is connected.
    ///
    /// # Safety
    /// The records and the words are mapped until [`Connector::stop`].
    pub(crate) unsafe fn start(&self) {
        let Some(mut work) = lock(&self.work).take() else {
            return;
        };
        self.stop.store(false, Ordering::Relaxed);
        let stop = Arc::clone(&self.stop);
        let started = helper::spawn("farreach-connect", move || {
            work.run(&stop);
            work
        });
        *lock(&self.thread) = started.ok();
    }

    /// Ends the thread, if it runs.
    pub(crate) fn stop(&self) {
        let Some(thread) = lock(&self.thread).take() else {
            return;
        };
        self.stop.store(true, Ordering::Relaxed);
        thread.thread().unpark();
        *lock(&self.work) = thread.join().ok();
    }
}

impl Drop for Connector {
    fn drop(&mut self) {
        self.stop();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Work {
    /// Connects the queue pairs that are asked for, here or by peers, until `stop`.
    fn run(&mut self, stop: &AtomicBool) {
        let mut pause = SHORTEST;
        while !stop.load(Ordering::Relaxed) {
            let mut moved = false;
            for peer in 0..self.around.count {
                moved |= peer != self.around.own && self.advance(peer);
            }
            // A peer may have left, and its device answers nothing: not to be waited for at the end.
            let is_over = || stop.load(Ordering::Relaxed);
            // SAFETY: the lane is this thread's.
            if moved && unsafe { self.mail.quiet_unless(is_over) }.is_err() {
                // Nobody can be told anything any more.
                return;
            }
            pause = if moved {
                SHORTEST
            } else {
                LONGEST.min(2 * pause)
            };
            thread::park_timeout(pause);
        }
    }

    /// Goes on with one peer. Returns whether there was anything to do.
    fn advance(&mut self, peer: u32) -> bool {
        // SAFETY: there is a word for each peer, which is mapped while the thread runs. ORDERING: pairs with the write of the peer's device.
        let word = unsafe { (*self.around.words.add(peer as usize)).load(Ordering::Acquire) };
        let told = Told::from_word(word);
        let stage = std::mem::take(&mut self.stages[peer as usize]);
        let mut moved = true;
        let next = match (stage, told) {
            (Stage::None, told) if told.is_some() || self.later.is_wanted(peer) => {
                self.offer(peer).unwrap_or(Stage::Over)
            }
            (Stage::Offered(pair), Some(told)) => {
                self.connect(peer, pair, &told.peer).unwrap_or(Stage::Over)
            }
            (
                Stage::Connected(pair),
                Some(Told {
                    connected: true, ..
                }),
            ) => {
                // SAFETY: the gate keeps the queue pair beside its lane, and nobody else uses it.
                unsafe { self.later.offer(peer, pair.ring()) };
                self.gate.keep_pair(pair);
                Stage::Over
            }
            (stage, _) => {
                moved = false;
                stage
            }
        };
        self.stages[peer as usize] = next;
        moved
    }

    /// Makes a queue pair for a peer, and tells it.
    fn offer(&self, peer: u32) -> Result<Stage, Error> {
        let pair = self.gate.make_connected()?;
        self.tell(peer, &pair, false)?;
        Ok(Stage::Offered(pair))
    }

    /// Connects the queue pair for a peer to the one that the peer has for this process, and tells it.
    fn connect(&self, peer: u32, pair: QueuePair, other: &Peer) -> Result<Stage, Error> {
        let key = self.remote(peer).vector.key();
        pair.connect(&Peer { key, ..*other })?;
        self.tell(peer, &pair, true)?;
        Ok(Stage::Connected(pair))
    }

    /// Returns the record by which the peer is reached.
    fn remote(&self, peer: u32) -> &Remote {
        assert!(peer < self.around.count);
        // SAFETY: there is a record for each peer, which is mapped while the thread runs.
        unsafe { &(*self.around.records.add(peer as usize)).remote }
    }

    /// Writes into the peer's mailbox.
    fn tell(&self, peer: u32, pair: &QueuePair, connected: bool) -> Result<(), Error> {
        let Features {
            lid,
            mtu,
            max_read_atomic,
            ..
        } = self.features;
        let number = pair.number();
        let word = Told {
            peer: Peer {
                number,
                lid,
                mtu,
                max_read_atomic,
                key: 0,
            },
            connected,
        }
        .to_word();
        let remote = self.remote(peer);
        let own = self.around.own as usize;
        let offset = self.around.offset + own * size_of::<u64>();
        let (address, key) = remote.place(offset, self.around.split);
        let to = To {
            peer,
            vector: &remote.vector,
            address,
            key,
        };
        // SAFETY: the lane is this thread's, and the word is as long as said.
        let posted = unsafe {
            self.mail
                .write_inline(to, (&raw const word).cast(), size_of::<u64>())
        };
        posted.map_err(Error::Lane)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_fits_its_word() {
        let peer = Peer {
            number: 0xff_ffff,
            lid: 0xbeef,
            mtu: 4096,
            max_read_atomic: 255,
            key: 0,
        };
        for connected in [false, true] {
            let told = Told { peer, connected };
            assert_eq!(Told::from_word(told.to_word()), Some(told));
        }
        assert_eq!(Told::from_word(0), None);
    }
}
