//! How operations tell that they are done: queues of entries (fi_cq(3)), counters (fi_cntr(3)), and
//! the types by which each call chooses.

#![expect(
    unsafe_code,
    reason = "an operation touches its queue in few instructions"
)]

use super::address_vector::PeerIndex;
use super::error::Error;
use super::fifo::Fifo;
use std::cell::{Cell, UnsafeCell};
use std::rc::Rc;

/// The operation that an entry tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A message was sent.
    Send,
    /// A message was received.
    Receive,
    /// Memory of a peer was written.
    Write,
    /// Memory of a peer was read.
    Read,
    /// An atomic operation was done.
    Atomic,
    /// A peer has written memory here, and tells so with its data.
    RemoteWrite,
}

/// An operation that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number that the operation was started with; 0 for [`Operation::RemoteWrite`].
    pub context: u64,
    /// Which it was.
    pub operation: Operation,
    /// Its bytes.
    pub len: usize,
    /// The data that the peer has sent along.
    pub data: Option<u64>,
    /// The peer whose message it is, if it is in the endpoint's address vector.
    pub source: Option<PeerIndex>,
    /// Where the message lies, in bytes from the begin of the buffer that was posted.
    pub offset: usize,
    /// Whether the buffer that was posted is the caller's again: with a buffer for several messages
    /// (FI_MULTI_RECV) only the last entry says so, which may be of no message.
    pub is_last: bool,
}

/// An operation that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Why.
    pub error: Error,
    /// The entry of its success, but `len` is of the bytes that were stored.
    pub entry: Entry,
}

/// A queue of entries: a handle, whose clones are the same queue, for the endpoints of a thread.
///
/// It never overflows: operations that would report to it are refused with [`Error::Again`] when it
/// has no room for their entries, and messages wait in their rings.
#[derive(Clone, Debug)]
pub struct CompletionQueue(Rc<Queue>);

#[derive(Debug)]
struct Queue {
    entries: UnsafeCell<Fifo<Result<Entry, Failure>>>,
    /// Room that entries to come have for sure.
    reserved: Cell<usize>,
    capacity: usize,
}

impl CompletionQueue {
    /// A queue with room for `capacity` entries, at least one.
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        Self(Rc::new(Queue {
            entries: UnsafeCell::new(Fifo::new(capacity)),
            reserved: Cell::new(0),
            capacity,
        }))
    }

    /// Takes the oldest entry. It makes no progress: see
    /// [`Endpoint::progress`](super::endpoint::Endpoint::progress).
    #[inline(always)]
    pub fn next(&self) -> Option<Result<Entry, Failure>> {
        self.with_entries(Fifo::pop)
    }

    /// Calls one of [`Fifo`]'s functions for the entries.
    #[inline(always)]
    fn with_entries<T>(&self, act: impl FnOnce(&mut Fifo<Result<Entry, Failure>>) -> T) -> T {
        // SAFETY: no other reference is there meanwhile: `act` is a function of `Fifo` each time,
        // which calls nothing of the queue's; handles are of one thread, as `Rc` is; and what `act`
        // returns holds no reference, as its type does not depend on the lifetime of its argument.
        act(unsafe { &mut *self.0.entries.get() })
    }

    /// Entries that are there, and those that have room for sure.
    #[inline(always)]
    fn taken(&self) -> usize {
        self.with_entries(|entries| entries.len()) + self.0.reserved.get()
    }

    /// Keeps room for an entry; false where there is none.
    #[inline(always)]
    pub(crate) fn reserve(&self) -> bool {
        let has_room = self.has_room();
        if has_room {
            self.0.reserved.set(self.0.reserved.get() + 1);
        }
        has_room
    }

    /// Keeps room for an entry that was accounted for before.
    pub(crate) fn reserve_anyway(&self) {
        self.0.reserved.set(self.0.reserved.get() + 1);
    }

    /// Gives up room that was kept.
    pub(crate) fn release(&self) {
        self.0.reserved.set(self.0.reserved.get() - 1);
    }

    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.taken() < self.0.capacity
    }

    /// Entries for which there is room.
    pub(crate) fn room(&self) -> usize {
        self.0.capacity.saturating_sub(self.taken())
    }

    /// Adds an entry for which room is kept.
    #[inline(always)]
    pub(crate) fn fill(&self, entry: Result<Entry, Failure>) {
        self.release();
        self.push(entry);
    }

    /// Adds an entry; the caller knows that there is room.
    #[inline(always)]
    pub(crate) fn push(&self, entry: Result<Entry, Failure>) {
        self.with_entries(|entries| entries.push(entry));
    }
}

/// A counter of operations that are done: a handle, whose clones are the same counter, for the
/// endpoints of a thread.
#[derive(Clone, Debug, Default)]
pub struct Counter(Rc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    done: Cell<u64>,
    failed: Cell<u64>,
}

impl Counter {
    /// A counter that stands at 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many operations are done.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        self.0.done.get()
    }

    /// How many have failed.
    pub fn read_failed(&self) -> u64 {
        self.0.failed.get()
    }

    /// Adds to the operations that are done, modulo 2^64.
    #[inline(always)]
    pub fn add(&self, count: u64) {
        self.0.done.set(self.0.done.get().wrapping_add(count));
    }

    /// Sets the operations that are done.
    pub fn set(&self, count: u64) {
        self.0.done.set(count);
    }

    /// Sets how many have failed.
    pub fn set_failed(&self, count: u64) {
        self.0.failed.set(count);
    }

    pub(crate) fn count(&self, is_done: bool) {
        if is_done {
            self.add(1);
        } else {
            self.0.failed.set(self.0.failed.get() + 1);
        }
    }
}

/// How an operation reports its end: chosen by type, so that a call without a report has none of
/// its instructions.
pub trait Report: Copy + Sealed {
    /// Whether the endpoint's counter counts the operation.
    const COUNTS: bool;
    /// The context of its entry in the queue, if it has one.
    fn context(self) -> Option<u64>;
}

/// Keeps [`Report`] to the types of this module.
pub trait Sealed {}

/// Reports success to nobody; a failure goes to the queue, with context 0, and is counted.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

/// Counts.
#[derive(Clone, Copy, Debug)]
pub struct Counted;

/// Makes an entry with this context.
#[derive(Clone, Copy, Debug)]
pub struct Context(pub u64);

/// Makes an entry with this context, and counts.
#[derive(Clone, Copy, Debug)]
pub struct CountedContext(pub u64);

macro_rules! reports {
    ($($name:ident: $counts:literal, |$own:ident| $context:expr;)*) => {$(
        impl Sealed for $name {}

        impl Report for $name {
            const COUNTS: bool = $counts;

            #[inline(always)]
            fn context(self) -> Option<u64> {
                let $own = self;
                $context
            }
        }
    )*};
}

reports! {
    Silent: false, |_own| None;
    Counted: true, |_own| None;
    Context: false, |own| Some(own.0);
    CountedContext: true, |own| Some(own.0);
}

/// A report of an operation that is under way, kept until it ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise {
    pub(crate) context: Option<u64>,
    pub(crate) counts: bool,
}

impl Promise {
    #[inline(always)]
    pub(crate) fn of<R: Report>(report: R) -> Self {
        Self {
            context: report.context(),
            counts: R::COUNTS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_keeps_room_for_entries_to_come() {
        let queue = CompletionQueue::new(2);
        let entry = |context| Entry {
            context,
            operation: Operation::Send,
            len: 0,
            data: None,
            source: None,
            offset: 0,
            is_last: true,
        };
        assert!(queue.reserve() && queue.reserve() && !queue.reserve());
        queue.fill(Ok(entry(1)));
        assert!(!queue.has_room());
        assert_eq!(queue.next(), Some(Ok(entry(1))));
        assert!(queue.has_room());
        queue.release();
        queue.push(Ok(entry(2)));
        assert!(queue.reserve() && !queue.has_room());
        assert_eq!((queue.next(), queue.next()), (Some(Ok(entry(2))), None));
    }
}
