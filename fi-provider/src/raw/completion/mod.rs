//! Word of operations that are done: queues of entries (fi_cq(3)), counters (fi_cntr(3)), and the
//! types by which each call chooses.

#![expect(
    unsafe_code,
    reason = "an operation touches its queue in few instructions"
)]

mod report;
mod told;

use super::address_vector::PeerIndex;
use super::error::Error;
use super::fifo::{Fifo, First};
pub(crate) use report::Promise;
pub use report::{
    Context, Counted, CountedContext, CountedFailureContext, FailureContext, Part, Report, Silent,
};
use std::cell::{Cell, UnsafeCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
pub use told::Seen;
pub(crate) use told::{Head, NOTE, Plain, Source};
use told::{State, Told};

/// The operation that an entry tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
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
    /// An atomic operation on elements was done whose caller wants those that were there.
    Fetch,
    /// A peer has written memory here, and tells so with its data.
    RemoteWrite,
}

/// An operation that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number that the operation was started with; 0 for [`Operation::RemoteWrite`].
    pub context: u64,
    /// Kind of the operation.
    pub operation: Operation,
    /// Its bytes.
    pub len: usize,
    /// The data that the peer has sent along.
    pub data: Option<u64>,
    /// The tag of the message, if it has one.
    pub tag: Option<u64>,
    /// The peer whose message it is, if it is in the endpoint's address vector.
    pub source: Option<PeerIndex>,
    /// Offset of the message, in bytes from the begin of the posted buffer.
    pub offset: usize,
    /// Whether the buffer that was posted is the caller's again: with a buffer for several messages
    /// (FI_MULTI_RECV) only the last entry says so, which may be of no message.
    pub is_last: bool,
}

/// An operation that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Reason of the failure.
    pub error: Error,
    /// The entry of its success, but `len` is of the bytes that were stored.
    pub entry: Entry,
    /// The bytes that were not stored, of a message that was longer than its buffer.
    pub cut: usize,
}

/// A queue of entries: a handle, whose clones are the same queue, for the endpoints of a thread.
///
/// It never overflows: operations that would report to it are refused with [`Error::Again`] when it
/// has no room for their entries, and messages wait in their rings while it is full of entries that
/// nobody has taken. Room that is kept for operations holds up no message.
#[derive(Clone, Debug)]
pub struct CompletionQueue(Rc<Queue>);

#[derive(Debug)]
struct Queue {
    /// They keep room for the entries that are to come for sure.
    entries: UnsafeCell<Fifo<Told>>,
    capacity: usize,
}

impl CompletionQueue {
    /// Makes a queue with room for `capacity` entries, at least one.
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        Self(Rc::new(Queue {
            entries: UnsafeCell::new(Fifo::new(capacity)),
            capacity,
        }))
    }

    /// Takes the oldest entry. It makes no progress: see
    /// [`Endpoint::progress`](super::endpoint::Endpoint::progress).
    #[inline(always)]
    pub fn next(&self) -> Option<Result<Entry, Failure>> {
        let done = |entries: &mut Fifo<Told>| {
            let first = entries.first();
            let first = first.filter(|first| first.get().is_done());
            first.map(|first| first.take().entry())
        };
        let is_idle = |entries: &mut Fifo<Told>| entries.is_idle();
        if self.with_entries(is_idle) {
            return None;
        }
        if let Some(entry) = self.with_entries(done) {
            return Some(Ok(entry));
        }
        if self.with_entries(Fifo::wrap) {
            if self.with_entries(is_idle) {
                return None;
            }
            if let Some(entry) = self.with_entries(done) {
                return Some(Ok(entry));
            }
        }
        self.next_failed().map(Err)
    }

    /// Takes the oldest entry if it is no failure and is wanted, and has `see` look at it; none
    /// otherwise, as where few instructions do not find it: [`CompletionQueue::next`] does.
    #[inline(always)]
    pub fn next_seen<T>(
        &self,
        is_wanted: impl FnOnce(Seen<'_>) -> bool,
        see: impl FnOnce(Seen<'_>) -> T,
    ) -> Option<T> {
        // Copies the entry, so that `see` may use the queue.
        let told = self.with_entries(|entries| {
            let first = entries.first();
            let first = first.filter(|first| first.get().is_done());
            let first = first.filter(|first| is_wanted(first.get().seen()));
            first.map(First::take)
        });
        told.map(|told| see(told.seen()))
    }

    /// Takes the oldest entry, that of a failure.
    #[cold]
    #[inline(never)]
    fn next_failed(&self) -> Option<Failure> {
        let told = self.with_entries(Fifo::pop)?;
        Some(told.failure())
    }

    /// Calls functions of [`Fifo`] for the entries.
    #[inline(always)]
    fn with_entries<T>(&self, act: impl FnOnce(&mut Fifo<Told>) -> T) -> T {
        // SAFETY: no other reference is there meanwhile: `act` calls functions of `Fifo` and `Told`
        // alone, which call nothing of the queue's; handles are of one thread, as `Rc` is; and the
        // value that `act` returns holds no reference, as its type does not depend on the lifetime
        // of its argument.
        act(unsafe { &mut *self.0.entries.get() })
    }

    /// Keeps room for an entry; false where there is none.
    pub(crate) fn reserve(&self) -> bool {
        let has_room = self.has_room();
        if has_room {
            self.reserve_anyway();
        }
        has_room
    }

    /// Keeps room for an entry that was accounted for before.
    #[inline(always)]
    pub(crate) fn reserve_anyway(&self) {
        self.with_entries(Fifo::keep_anyway);
    }

    /// Keeps room for an entry, where [`CompletionQueue::has_room`] has just found some.
    #[inline(always)]
    pub(crate) fn reserve_found(&self) {
        debug_assert!(self.is_open());
        // SAFETY: `has_room` leaves the queue open where it finds room.
        self.with_entries(|entries| unsafe { entries.keep() });
    }

    /// Gives up room that was kept.
    pub(crate) fn release(&self) {
        self.with_entries(Fifo::give_back);
    }

    /// Returns whether there is room for an entry.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.is_open() || self.find_room()
    }

    /// Returns whether it is known already that there is room.
    #[inline(always)]
    pub(crate) fn is_open(&self) -> bool {
        self.with_entries(|entries| entries.is_open())
    }

    /// Returns whether the entry of something that has come from a peer may be added: there is
    /// room, or fewer entries than the capacity wait to be taken. Answers that operations keep room
    /// for may be behind what has come, and the program can take nothing before them.
    #[inline(always)]
    pub(crate) fn admits(&self) -> bool {
        self.has_room() || self.room() > 0
    }

    #[cold]
    #[inline(never)]
    fn find_room(&self) -> bool {
        self.with_entries(|entries| entries.open_within(self.0.capacity))
    }

    /// Returns whether there is no entry, as far as one look tells: false also for some that are
    /// there.
    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        self.with_entries(|entries| entries.is_idle())
    }

    /// Returns the number of entries for which there is room where it is empty.
    pub fn capacity(&self) -> usize {
        self.0.capacity
    }

    /// Returns whether there are entries to take.
    pub fn has_entries(&self) -> bool {
        self.with_entries(|entries| entries.len()) > 0
    }

    /// Returns the number of entries that may be added of what has come
    /// ([`CompletionQueue::admits`]).
    #[cold]
    #[inline(never)]
    pub(crate) fn room(&self) -> usize {
        let taken = self.with_entries(|entries| entries.len());
        self.0.capacity.saturating_sub(taken)
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
        self.with_entries(|entries| entries.push(|told| told.set(entry)));
    }

    /// Adds the entry of an operation on memory that is done; the caller knows that there is room.
    #[inline(always)]
    pub(crate) fn push_plain(&self, operation: Operation, context: u64, len: usize) {
        if !self.push_plain_if_open(operation, context, len) {
            self.push_slowly(operation, context, len);
        }
    }

    /// Adds such an entry where it is known already that there is room. Returns whether it is.
    /// Calls nothing.
    #[inline(always)]
    pub(crate) fn push_plain_if_open(
        &self,
        operation: Operation,
        context: u64,
        len: usize,
    ) -> bool {
        self.with_entries(|entries| {
            entries.push_if_open(|told| told.set_memory(operation, context, len))
        })
    }

    /// Adds the entry of an operation on memory that is done, for which room is kept. Calls nothing
    /// where few instructions find the room, and a function at its end otherwise. Returns true.
    #[inline(always)]
    pub(crate) fn fill_plain(&self, plain: &Cell<Plain>) -> bool {
        let is_filled =
            self.with_entries(|entries| entries.push_kept(|told| told.set_plain(plain.get())));
        is_filled || self.fill_slowly(plain)
    }

    /// Has `see` look at the entry of an operation on memory that is done, for which room is kept,
    /// in place of adding it, and gives up that room.
    #[inline(always)]
    pub(crate) fn see_plain(&self, plain: &Cell<Plain>, see: impl FnOnce(Seen<'_>)) {
        self.with_entries(Fifo::give_back_later);
        let mut told = Told::nothing(State::Free);
        let Plain {
            operation,
            len,
            context,
            ..
        } = plain.get();
        // Of a note and of whether it has data, nothing is to be read.
        told.set_plain(Plain::new(operation, 0, len, context));
        see(told.seen());
    }

    /// Tells whether both handles are of one queue.
    #[inline(always)]
    pub(crate) fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Adds such an entry where the queue has to find its room.
    #[cold]
    #[inline(never)]
    fn push_slowly(&self, operation: Operation, context: u64, len: usize) {
        self.with_entries(|entries| entries.push(|told| told.set_memory(operation, context, len)));
    }

    /// Adds the entry for which room is kept where the queue has to find it. Returns true.
    #[cold]
    #[inline(never)]
    fn fill_slowly(&self, plain: &Cell<Plain>) -> bool {
        self.release();
        self.with_entries(|entries| entries.push(|told| told.set_plain(plain.get())));
        opaque(true)
    }

    /// Adds the entry of a message that has a buffer of its own, and a length of at most 32 bits,
    /// where few instructions find room; false otherwise. By references, so that no value waits in
    /// a register.
    #[inline(always)]
    pub(crate) fn push_message(&self, context: &u64, len: usize, source: &Source) -> bool {
        self.with_entries(|entries| {
            entries.push_if_open(|told| told.set_message(context, len, source, None))
        })
    }

    /// Does as [`CompletionQueue::push_message`] for a message with a tag.
    #[inline(always)]
    pub(crate) fn push_tagged(&self, context: &u64, len: usize, source: &Source, tag: u64) -> bool {
        self.with_entries(|entries| {
            entries.push_if_open(|told| told.set_message(context, len, source, Some(tag)))
        })
    }
}

/// Returns the same value, which the compiler does not know: for a function whose callers are to
/// end with its call, and not to go on behind it with the value that it always returns.
#[inline(always)]
pub(crate) fn opaque(value: bool) -> bool {
    std::hint::black_box(value)
}

/// A counter of operations that are done: a handle, whose clones are the same counter, for the
/// endpoints of a thread.
#[derive(Clone, Debug, Default)]
pub struct Counter(Rc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Written by one thread at a time, and read by any.
    done: AtomicU64,
    failed: Cell<u64>,
    /// The error of the latest failure that was counted.
    latest: Cell<Option<Error>>,
}

impl Counter {
    /// Makes a counter that stands at 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of operations that are done.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        // ORDERING: of the thread that counts.
        self.0.done.load(Ordering::Relaxed)
    }

    /// Returns the count of operations that are done, which any thread may read as long as a handle
    /// lives: by a load with Acquire, behind which the bytes of the counted operations are there.
    pub fn place(&self) -> &AtomicU64 {
        &self.0.done
    }

    /// Returns the number of operations that have failed.
    pub fn read_failed(&self) -> u64 {
        self.0.failed.get()
    }

    /// Adds to the operations that are done, modulo 2^64.
    #[inline(always)]
    pub fn add(&self, count: u64) {
        self.set(self.read().wrapping_add(count));
    }

    /// Sets the operations that are done.
    #[inline(always)]
    pub fn set(&self, count: u64) {
        // ORDERING: pairs with the loads of other threads, by [`Counter::place`].
        self.0.done.store(count, Ordering::Release);
    }

    /// Sets the number of operations that have failed.
    pub fn set_failed(&self, count: u64) {
        self.0.failed.set(count);
    }

    /// Counts an operation that has failed before it began.
    pub fn count_failure(&self, error: Error) {
        self.count(Err(error));
    }

    /// Counts an operation that has ended.
    pub(crate) fn count(&self, result: Result<(), Error>) {
        match result {
            Ok(()) => self.add(1),
            Err(error) => {
                self.0.failed.set(self.0.failed.get() + 1);
                self.0.latest.set(Some(error));
            }
        }
    }

    /// Returns the error of the latest failure, if more or fewer than `before` were counted.
    pub(crate) fn failure_since(&self, before: u64) -> Option<Error> {
        self.0.latest.get().filter(|_| self.read_failed() != before)
    }

    /// Tells whether both handles are of one counter.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares a queue with its model, whose room is a number.
    #[test]
    fn a_queue_has_room_as_long_as_entries_and_promises_leave_some() {
        for capacity in [1, 2, 3, 7] {
            let queue = CompletionQueue::new(capacity);
            let (mut entries, mut promised) = (std::collections::VecDeque::new(), 0);
            let mut random = 1_u64;
            for context in 0..20_000_u64 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let has_room = entries.len() + promised < capacity;
                match (random >> 33) % 7 {
                    0 | 1 => {
                        assert_eq!(queue.has_room(), has_room);
                        if has_room {
                            queue.reserve_found();
                            promised += 1;
                        }
                    }
                    2 if promised > 0 => {
                        let plain = Plain::new(Operation::Write, 0, 8, context);
                        assert!(queue.fill_plain(&Cell::new(plain)));
                        promised -= 1;
                        entries.push_back(context);
                    }
                    3 if promised > 0 => {
                        queue.release();
                        promised -= 1;
                    }
                    4 => {
                        if queue.push_message(&context, 8, &Source::NONE) {
                            assert!(has_room);
                            entries.push_back(context);
                        }
                    }
                    5 if promised > 0 => {
                        let mut seen = None;
                        let plain = Cell::new(Plain::new(Operation::Read, 0, 8, context));
                        queue.see_plain(&plain, |told| {
                            seen = Some(told.entry());
                        });
                        let seen = seen.expect("an entry");
                        assert_eq!((seen.context, seen.len), (context, 8));
                        assert_eq!((seen.operation, seen.is_last), (Operation::Read, true));
                        assert_eq!((seen.data, seen.tag, seen.source), (None, None, None));
                        promised -= 1;
                    }
                    _ => {
                        let taken = queue.next().map(|entry| entry.expect("done").context);
                        assert_eq!(taken, entries.pop_front());
                    }
                }
                assert!(entries.len() + promised <= capacity);
            }
        }
    }

    /// Checks that room that is kept and given up is there again.
    #[test]
    fn entries_that_are_seen_take_no_room() {
        let queue = CompletionQueue::new(2);
        assert!(queue.has_room());
        for context in 0..5 {
            queue.reserve_found();
            let plain = Cell::new(Plain::new(Operation::Write, 0, 8, context));
            queue.see_plain(&plain, |told| {
                assert_eq!(told.context(), context);
            });
            assert!(queue.has_room() && queue.is_idle() && queue.room() == 2);
        }
        assert_eq!(queue.next(), None);
        assert!(queue.is(&queue.clone()) && !queue.is(&CompletionQueue::new(2)));
    }

    #[test]
    fn a_queue_keeps_room_for_entries_to_come() {
        let queue = CompletionQueue::new(2);
        let entry = |context| Entry {
            context,
            operation: Operation::Send,
            len: 0,
            data: None,
            tag: None,
            source: None,
            offset: 0,
            is_last: true,
        };
        assert!(queue.reserve() && queue.reserve() && !queue.reserve());
        assert!(
            queue.admits() && queue.room() == 2,
            "nothing is to be taken"
        );
        queue.fill(Ok(entry(1)));
        assert!(!queue.has_room());
        assert_eq!(queue.next(), Some(Ok(entry(1))));
        assert!(queue.has_room());
        queue.release();
        queue.push(Ok(entry(2)));
        assert!(queue.reserve() && !queue.has_room() && queue.admits());
        assert_eq!((queue.next(), queue.next()), (Some(Ok(entry(2))), None));
    }
}
