//! The library's own symmetric memory: a block for each team and the mailbox, right below the heap in the same part of the window.
//!
//! So peers of the node load and store in it, and everybody else reaches it by the fabric's operations, with the key
//! that the heap has. It lives as long as the process, from one session to the next, and so do the epochs and turns in it,
//! which only grow.

#![expect(
    unsafe_code,
    reason = "a slot's bytes are shared, and used through raw pointers only"
)]

use fi_provider::node::arrival::{Arrival, Arrivals};
use fi_provider::node::barrier::{Central, Rounds};
use fi_provider::node::flag;
use std::cell::UnsafeCell;
use std::sync::atomic::AtomicU64;

/// Teams that a PE can be in at a time, the predefined ones included.
pub(crate) const TEAMS: usize = 256;

/// Bytes that a slot has for data.
pub(crate) const SLOT: usize = 1072;

/// The slots of a block.
pub(crate) const RING: usize = 8;

/// The most rounds in which the leaders of a team's nodes meet.
pub(crate) const ROUNDS: usize = 32;

/// Bytes of a team's block.
pub(crate) const BLOCK: usize = 12 << 10;

/// Bytes of the workspace: whole huge pages.
pub(crate) const WORKSPACE: usize = 4 << 20;

/// Place of the mailbox in the workspace, behind the blocks; [`crate::mailbox`] has its meaning.
pub(crate) const MAILBOX: usize = TEAMS * BLOCK;

/// The most rounds of a barrier of nodes, each with a word of the mailbox: more than there can be of
/// 2^31 PEs.
pub(crate) const BARRIER_ROUNDS: usize = 32;

/// The most PEs of a job in which each tells the others that it finalises, by a word for each.
pub(crate) const FAREWELLS: u32 = 4096;

/// The most PEs of a job in which the fabric connects queue pairs in the background, which takes a
/// word for each.
pub(crate) const CONNECTIONS: u32 = 4096;

/// Words of a mailbox that are the library's own: how the PE sleeps, rounds and farewells.
pub(crate) const OWN_WORDS: usize = 1 + BARRIER_ROUNDS + FAREWELLS as usize;

/// Words of a mailbox: its own, and behind them the fabric's.
pub(crate) const MAILBOX_WORDS: usize = OWN_WORDS + CONNECTIONS as usize;

/// Bytes of a mailbox.
const MAILBOX_BYTES: usize = MAILBOX_WORDS * size_of::<u64>();

/// A PE's memory for one team. All zero bytes is the initial state.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Block {
    /// Meeting place of the team's PEs of this node, in the block of the first of them.
    pub(crate) central: Central,
    /// Meeting place of the team's PEs of this node, by dissemination.
    pub(crate) rounds: Rounds,
    /// Written by the leader of another node in each round of their meeting: its epoch.
    pub(crate) leaders: [AtomicU64; ROUNDS],
    /// Number of times that PEs of a team on one node have come to a collective that asks for their
    /// order: in the first one's block.
    pub(crate) arrivals: Arrivals,
    /// This PE's word of its arrival.
    pub(crate) arrival: Arrival,
    /// Elements of this PE, which it tells the others in collect.
    pub(crate) count: AtomicU64,
    /// Bytes that it shows them, in turns.
    pub(crate) slots: [Slot; RING],
}

/// Bytes that one PE shows to others: the first ones in the cache line of the word that tells of them.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Slot {
    /// The turn that the bytes are of.
    pub(crate) turn: flag::Word,
    /// Aligned for every type.
    bytes: Bytes,
}

#[repr(C, align(16))]
#[derive(Debug)]
struct Bytes(UnsafeCell<[u8; SLOT]>);

// SAFETY: plain bytes, used through raw pointers only; their users order writing and reading by the turn, or meet.
unsafe impl Sync for Bytes {}

impl Slot {
    /// Returns the bytes.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> *mut u8 {
        self.bytes.0.get().cast()
    }
}

const _: () = assert!(size_of::<Block>() <= BLOCK && MAILBOX + MAILBOX_BYTES <= WORKSPACE);
