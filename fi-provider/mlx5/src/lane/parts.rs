//! Parts of a lane, and arguments of its posts.

use super::later::Later;
use super::shared::SharedCompletions;
use crate::completion::CompletionRing;
use crate::queue::SendRing;
use crate::registers::Registers;
use crate::remote::Vector;
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::opcode::Syndrome;
use std::sync::Arc;

/// Reason why the device did not execute a posted WQE. The lane is of no use any more.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The peer's memory is not registered there, or not with this key.
    #[error("the peer's device refuses access to the memory")]
    RemoteAccess,
    /// The peer does not answer.
    #[error("the peer does not answer")]
    Unreachable,
    /// The device is gone.
    #[error("the device is gone")]
    Lost,
    /// A completion told of another error.
    #[error("the device reports the error {0:#x} (manual: completion with error, syndrome)")]
    Other(u8),
}

impl Failure {
    pub(super) fn of(syndrome: u8) -> Self {
        match Syndrome::from_number(syndrome) {
            Some(Syndrome::RemoteAccess) => Self::RemoteAccess,
            Some(
                Syndrome::TransportRetryExceeded
                | Syndrome::ReceiverNotReadyRetryExceeded
                | Syndrome::RemoteAborted,
            ) => Self::Unreachable,
            _ => Self::Other(syndrome),
        }
    }
}

/// Function that a lane may call where it found its completion queue empty; returns 0, or -1 when
/// the device is gone.
pub type Hook = extern "C" fn() -> i32;

/// Queues by which a lane reaches its peers: those that have a connected queue by it, all others by
/// an initiator.
#[derive(Debug, Default)]
pub struct Queues {
    /// A connected queue for each of the first peers, in their order.
    pub connected: Vec<SendRing>,
    /// Queues that enter the peers' targets, none or a power of two of them: a peer has always the same, its index modulo their number.
    pub initiators: Vec<SendRing>,
    /// Connected queues for the peers that come when the lane is in use already; there are no others then.
    pub later: Option<Arc<Later>>,
    /// A queue as those that come later are, with their register, where there is no other one.
    pub pattern: Option<SendRing>,
}

/// By which queues a lane's peers are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Way {
    /// The posts that take no decision have to decline.
    None,
    /// By initiators, of which a peer has always the same.
    Initiators,
    /// By a connected queue for each peer.
    Connected,
    /// Some peers by connected queues, the others by initiators.
    Mixed,
}

/// Source of a lane's completions.
#[derive(Debug)]
pub enum Source {
    /// A completion queue of its own.
    Own(CompletionRing),
    /// One that other lanes share.
    Shared {
        /// The completion queue.
        completions: Arc<SharedCompletions>,
        /// Entries of it, a power of two, that the lane may have at a time.
        entries: u32,
    },
}

/// Threads that use a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One at a time.
    One,
    /// Several, which hold its lock by turns.
    Several,
    /// As [`Threads::Several`], on a lane that is the only one: they count the queues' depth before they compete for the lock.
    Counted,
}

/// Parts of a lane.
#[derive(Debug)]
pub struct Parts {
    /// The send queues.
    pub queues: Queues,
    /// Source of their completions.
    pub completions: Source,
    /// Local memory for results that nobody wants: address, local key.
    pub discard: (u64, u32),
    /// Threads that use the lane.
    pub threads: Threads,
    /// All registers of the device context, where other lanes ring the queues' registers as well.
    pub registers: Option<Arc<Registers>>,
    /// Called where the completion queue was found empty.
    pub hook: Option<Hook>,
}

/// Remote memory: which peer, and where there.
#[derive(Clone, Copy, Debug)]
pub struct To<'a> {
    /// The peer's index.
    pub peer: u32,
    /// Address vector by which it is reached.
    pub vector: &'a Vector,
    /// The address there.
    pub address: u64,
    /// Its key.
    pub key: Be32,
}

/// Place where an entry was posted: the queue, and the block behind its first, counted from the
/// queue's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted {
    pub(super) queue: u32,
    pub(super) end: u64,
}
