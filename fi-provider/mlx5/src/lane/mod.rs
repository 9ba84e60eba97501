//! A lane: send queues, the source of their completions, and the calls that take more than a post.
//!
//! * Every post here asks for a completion; those in line ([`crate::route`]) do so where the queue was idle and is
//!   armed for it. So the first entry has a completion, which is all that a put followed by quiet needs, and then one
//!   for each quarter of the ring (moderation); at the end quiet adds an empty entry where the last one has none.
//! * Completions of a queue come in the order of its entries, so that one tells of all before it.
//! * Queues that were used since the last quiet but one are a list; quiet walks no others.
//!
//! A lane is used by one thread at a time. Where several may come, it is made for
//! [`Threads::Several`], and takes a lock. Any number of endpoints may use it: the state that posts
//! change is the lane's.

#![expect(
    unsafe_code,
    reason = "writes rings and doorbell registers through raw pointers"
)]

mod atomic;
mod change;
mod completing;
mod fault;
mod faults;
mod following;
mod later;
mod list;
mod parts;
mod posting;
mod quiet;
mod renewal;
mod sending;
mod shared;

pub use crate::entry::Local;
pub use crate::head::Held;
pub use atomic::Atomic;
pub use fault::Fault;
pub use following::{Lone, Nobody};
pub use later::Later;
pub use list::{Payload, Signals, Write};
pub(crate) use parts::Way;
pub use parts::{Failure, Hook, Parts, Posted, Queues, Source, Threads, To};
pub use renewal::{Flushed, Undone};
pub use shared::SharedCompletions;

use crate::completion::Completions;
use crate::entry::Entry;
use crate::guard::Kind;
use crate::head::{Body, FIRST};
use crate::queue::{END, Place, Queue, SendRing};
use crate::registers::{HALF, Register};
use fault::Faults;
use fi_mlx5_defs::endian::Be32;
use shared::Share;
use std::cell::Cell;
use std::sync::Arc;

/// See the module's documentation.
#[derive(Debug)]
pub struct Lane {
    /// The connected ones, and behind them the initiators.
    queues: Body,
    initiators: u32,
    /// Connected queues that are not all there yet.
    later: Option<Arc<Later>>,
    /// The register of the first queue.
    register: *mut u8,
    completions: Completions,
    /// The lane's share of the completion queue, where that is not its own: completions are looked
    /// for there.
    share: Option<Share>,
    /// Entries posted with a completion that was not seen yet, without those of armed queues.
    outstanding: Cell<u32>,
    /// The first queue in use: its index + 1.
    used: Cell<u32>,
    /// Queues by their numbers: open addressing, index + 1.
    by_number: Box<[Cell<u32>]>,
    faults: Faults,
    /// Whether quiet has more to look at than the next completions: several threads use the lane, a
    /// queue has failed, or callers have to do something behind quiet.
    careful: Cell<bool>,
    /// Bytes of a BlueFlame copy; 0 for none.
    blueflame: usize,
    /// The registers, where other lanes ring them, too.
    registers: Box<[Arc<Register>]>,
    max_inline: usize,
    hook: Option<Hook>,
    threads: Threads,
}

/// Units of the entry that writes an element: control segment, remote address and the element; between them the address vector
/// where queues are not connected.
const CONNECTED_UNITS: usize = 3;
const INITIATOR_UNITS: usize = 4;

impl Lane {
    /// Makes a lane of these parts.
    ///
    /// # Safety
    /// The memory of the queues, the registers and the memory for results live longer than the lane, and nobody else
    /// uses them, but for registers that are in [`Parts::registers`].
    pub unsafe fn new(parts: Parts) -> Self {
        let Queues {
            connected,
            initiators,
            later,
            pattern,
        } = parts.queues;
        let count = initiators.len();
        assert!(count == 0 || count.is_power_of_two());
        let to_come = later.as_ref().map_or(0, |later| later.len());
        assert!(to_come == 0 || connected.is_empty());
        let rings: Vec<_> = connected.into_iter().chain(initiators).collect();
        assert!(rings.iter().all(fits), "a ring of 16 to 32768 blocks");
        let (completions, share) = match parts.completions {
            Source::Own(ring) => (ring, None),
            Source::Shared {
                completions,
                entries,
            } => {
                let numbers = rings.iter().map(|ring| ring.number).collect();
                let share = completions.open(numbers, entries);
                (share.ring(), Some(share))
            }
        };
        let entries = completions.entries;
        assert!(entries.is_power_of_two() && entries as usize > rings.len());
        for ring in &rings {
            // SAFETY: the memory of the queues is mapped, and nobody else uses it. Queues take
            // their next index from their records.
            unsafe { ring.record.write_volatile(Be32::new(0)) };
        }
        let known = || rings.iter().chain(&pattern);
        let all = |what: fn(&SendRing) -> u32| known().map(what).min().unwrap_or(0) as usize;
        let blueflame = match all(|ring| ring.register_size) {
            size if size >= HALF => HALF,
            _ => 0,
        };
        let addresses = distinct_registers(known());
        let registers = parts.registers.map_or(Box::default(), |known| {
            addresses.iter().map(|&at| known.at(at)).collect()
        });
        let (address, lkey) = parts.discard;
        Self {
            queues: body(
                &rings,
                to_come,
                count,
                &addresses,
                &registers,
                Entry::data_words(address, 8, lkey),
            ),
            initiators: count as u32,
            later,
            register: addresses.first().copied().unwrap_or(std::ptr::null_mut()),
            // SAFETY: the ring outlives the lane and nobody else consumes from it: it is the lane's
            // own, or the inbox's, which is kept beside it.
            completions: unsafe { Completions::new(completions) },
            share,
            outstanding: Cell::new(0),
            used: Cell::new(END),
            by_number: index_numbers(&rings, to_come),
            faults: Faults::default(),
            careful: Cell::new(parts.threads != Threads::One),
            blueflame,
            registers,
            max_inline: all(|ring| ring.max_inline),
            hook: parts.hook,
            threads: parts.threads,
        }
    }

    /// Returns by which queues its peers are reached in one step.
    pub(crate) fn way(&self) -> Way {
        let connected = self.queues.len() - self.initiators as usize;
        match (self.initiators, connected) {
            _ if self.blueflame == 0 => Way::None,
            (0, _) => Way::Connected,
            (_, 0) => Way::Initiators,
            // Where the queue is not there yet, there is no room in it: these posts decline, and the lane's own functions
            // see to it that a peer has one way at a time.
            _ if self.later.is_some() => Way::Connected,
            _ => Way::Mixed,
        }
    }

    /// Returns the guard of its posts.
    pub(crate) fn guard(&self) -> Kind {
        match (self.threads, self.registers.is_empty()) {
            (Threads::One, true) => Kind::Alone,
            (Threads::One, false) => Kind::OnRegister,
            (Threads::Several, true) => Kind::OnLane,
            (Threads::Counted, true) => Kind::Counted,
            (_, false) => Kind::OnBoth,
        }
    }

    /// Returns the number of initiators: none, or a power of two.
    pub(crate) fn initiators(&self) -> u32 {
        self.initiators
    }

    /// Returns the first of its queues.
    pub(crate) fn queues(&self) -> *const Queue {
        self.queues.as_ptr()
    }

    /// Returns whether several threads may use it.
    #[inline(always)]
    pub fn is_shared(&self) -> bool {
        self.threads != Threads::One
    }

    /// Keeps other threads out until the result is dropped, where there are several.
    pub fn hold(&self) -> Held<'_> {
        Held::take(self.is_shared().then(|| &self.queues.head().lock))
    }

    /// Returns the number of bytes that an entry for `write` may hold inline.
    pub fn max_inline(&self) -> usize {
        self.max_inline.min(Entry::INLINE)
    }

    /// Returns the queue for the peer at `place`, which is not entered yet, and whether it is an
    /// initiator.
    ///
    /// # Safety
    /// The lane has no queues that come later.
    pub(crate) unsafe fn queue_at(&self, place: Place) -> (*const Queue, bool) {
        let index = self.queue_of((place / size_of::<Queue>()) as u32);
        (
            self.queues.place(index as usize),
            self.enters_targets(index),
        )
    }

    /// Returns the queue that peer `index` is reached by: for a thread that holds the lane, where
    /// queues come later.
    fn queue_of(&self, index: u32) -> u32 {
        let connected = self.connected();
        if index < connected && self.queues.is_there(index as usize) {
            index
        } else {
            connected + (index & (self.initiators - 1))
        }
    }

    /// Returns the number of connected queues, those that are to come included: the first initiator
    /// is behind them.
    fn connected(&self) -> u32 {
        self.queues.count() as u32 - self.initiators
    }

    /// Returns whether this queue enters targets: an initiator, not a connected one.
    fn enters_targets(&self, index: u32) -> bool {
        index >= self.connected()
    }

    /// Tells completions which queue has a number.
    fn note_number(&self, number: u32, index: u32) {
        let mask = self.by_number.len() - 1;
        let mut at = number as usize & mask;
        while self.by_number[at].get() != 0 {
            at = (at + 1) & mask;
        }
        self.by_number[at].set(index + 1);
    }
}

/// Returns the doorbell registers of these queues.
fn distinct_registers<'a>(rings: impl Iterator<Item = &'a SendRing>) -> Vec<*mut u8> {
    let mut registers = Vec::new();
    for ring in rings {
        if !registers.contains(&ring.register) {
            registers.push(ring.register);
        }
    }
    registers
}

/// Returns whether a lane can use a ring.
fn fits(ring: &SendRing) -> bool {
    ring.blocks.is_power_of_two() && (16..=1 << 15).contains(&ring.blocks)
}

/// Makes the body with places for `to_come` connected queues, and queues of these rings, of which
/// the last `initiators` enter targets, with the registers at these addresses: their own, or
/// `shared` ones.
fn body(
    rings: &[SendRing],
    to_come: usize,
    initiators: usize,
    addresses: &[*mut u8],
    shared: &[Arc<Register>],
    discard: [u64; 2],
) -> Body {
    let slots: Vec<_> = if shared.is_empty() {
        addresses.to_vec()
    } else {
        let place = |register: &Arc<Register>| Arc::as_ptr(register).cast::<u8>().cast_mut();
        shared.iter().map(place).collect()
    };
    let queue = |(at, ring): (usize, &SendRing)| {
        let units = if at >= rings.len() - initiators {
            INITIATOR_UNITS
        } else {
            CONNECTED_UNITS
        };
        let register = addresses.iter().position(|&other| other == ring.register);
        // `Body` refuses more slots than there are numbers.
        Queue::new(ring, units, FIRST.wrapping_sub(register.unwrap_or(0) as u8))
    };
    let absent = std::iter::repeat_with(|| Queue::absent(FIRST)).take(to_come);
    let present = rings.iter().enumerate().map(queue);
    Body::new(absent.chain(present).collect(), &slots, discard)
}

/// Returns the table for [`Lane::queue_numbered`].
fn index_numbers(rings: &[SendRing], to_come: usize) -> Box<[Cell<u32>]> {
    let len = (2 * (rings.len() + to_come)).next_power_of_two();
    let table = vec![Cell::new(0); len].into_boxed_slice();
    for (index, ring) in (to_come..).zip(rings) {
        let mut at = ring.number as usize & (len - 1);
        while table[at].get() != 0 {
            at = (at + 1) & (len - 1);
        }
        table[at].set(index as u32 + 1);
    }
    table
}
