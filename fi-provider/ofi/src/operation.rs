//! Operations under way: their contexts, which libfabric gives back with completions.

use crate::error::Failure;
use crate::form::Swap;
use crate::lane::Lane;
use crate::message;
use std::cell::Cell;

/// Operations of one chunk of memory.
const CHUNK: usize = 64;

/// Number of operations that a lane takes at a time.
const SHARE: usize = 16;

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A write that nobody waits for alone, and that has no piece: the commonest. Free operations have
    /// this kind, so that such a write need not set it.
    Plain,
    /// A write; its piece, if it has one, is given back.
    Write,
    /// A read; where it has a piece, the bytes go from there to `dest`.
    Read,
    /// A request to a peer's processor: ends with the answer.
    Atomic,
    /// A request to swap an element, for a write: its message is the operation's own.
    Swap,
    /// A buffer, for messages that come.
    Receive,
    /// Requests to one peer's processor that ask for no answer, as a lane gathers them (`gather`).
    Silent = message::UNANSWERED,
}

impl Kind {
    /// Returns the operation in a word, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain | Self::Write | Self::Swap => "write",
            Self::Read => "read",
            Self::Atomic | Self::Silent => "atomic operation",
            Self::Receive => "receive",
        }
    }
}

/// The state of operations for the caller that waits for them, in its frame.
#[derive(Debug)]
pub(crate) struct Notice {
    /// Operations that have not ended.
    pub(crate) left: Cell<usize>,
    /// The old value that an atomic operation found.
    pub(crate) found: Cell<u64>,
    pub(crate) failure: Cell<Option<Failure>>,
}

impl Notice {
    pub(crate) fn new() -> Self {
        Self {
            left: Cell::new(0),
            found: Cell::new(0),
            failure: Cell::new(None),
        }
    }

    pub(crate) fn result(&self) -> Result<u64, Failure> {
        self.failure.get().map_or(Ok(self.found.get()), Err)
    }
}

/// An operation under way. A free one is plain, and has no notice, no `dest` and no piece; one of a
/// lane's free ones has that lane.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Operation {
    /// libfabric's own (FI_CONTEXT2).
    context: [usize; 8],
    /// The peer, but of a swap, whose message has it.
    peer: u32,
    /// Its lane; null for a receive.
    pub(crate) lane: *const Lane,
    /// Its lane, but null for gathers, and for writes and reads that are not plain: one comparison
    /// tells whose completion a queue has, and that there is no more to do for it.
    pub(crate) plain: *const Lane,
    /// The next one of a list of free ones.
    pub(crate) next: *mut Operation,
    /// The name by which an answer finds it: the number of its uses by atomic operations, and, in
    /// the lower half, its place among all.
    pub(crate) token: u64,
    /// The notice of the caller that waits; null where none waits for this operation alone.
    pub(crate) notice: *const Notice,
    /// Address for bytes that are not there yet; null where there are none.
    pub(crate) dest: *mut u8,
    /// Number of those bytes; of a receive, the number of its buffer.
    pub(crate) len: usize,
    /// The piece of registered memory that it goes by.
    pub(crate) piece: Option<usize>,
    /// Of a silent one: whether requests went since the last probe, and whether a probe is not
    /// answered.
    pub(crate) is_behind: bool,
    pub(crate) is_asked: bool,
    /// The name of the region that its message is for (`gather`).
    pub(crate) name: usize,
    /// The message of a swap, and the kind. It has this operation's token and context at any time.
    pub(crate) swap: Swap,
}

impl Operation {
    /// Returns the peer.
    pub(crate) fn peer(&self) -> u32 {
        match self.kind() {
            Kind::Swap => self.swap.peer(),
            _ => self.peer,
        }
    }

    #[inline(always)]
    pub(crate) fn kind(&self) -> Kind {
        self.swap.head.kind
    }

    #[inline(always)]
    pub(crate) fn set_kind(&mut self, kind: Kind) {
        self.swap.head.kind = kind;
        if matches!(kind, Kind::Write | Kind::Read) {
            self.plain = std::ptr::null();
        }
    }

    #[inline(always)]
    pub(crate) fn set_peer(&mut self, peer: u32) {
        self.peer = peer;
    }

    /// Has answers to the name of before find nothing.
    pub(crate) fn rename(&mut self) {
        self.token = self.token.wrapping_add(1 << 32);
        self.swap.set_token(self.token);
    }

    /// Makes it as free ones are.
    pub(crate) fn reset(&mut self) {
        if matches!(self.kind(), Kind::Atomic | Kind::Swap | Kind::Silent) {
            self.rename();
        }
        self.set_kind(Kind::Plain);
        self.plain = self.lane;
        self.notice = std::ptr::null();
        self.dest = std::ptr::null_mut();
        self.piece = None;
    }
}

/// All operations, of which those that are free, and no lane's, form a list.
#[derive(Debug)]
pub(crate) struct Operations {
    chunks: Vec<Box<[Operation; CHUNK]>>,
    free: *mut Operation,
    /// The number of this process, and the key of the job, for messages.
    own: u32,
    key: u64,
    /// Whether lanes have operations: their messages have the key.
    is_given: bool,
}

// SAFETY: guarded by the port's lock; lanes, notices and memory outlive the operations.
unsafe impl Send for Operations {}

impl Operations {
    /// Makes the operations of process `own`.
    pub(crate) fn new(own: u32) -> Self {
        Self {
            chunks: Vec::new(),
            free: std::ptr::null_mut(),
            own,
            key: 0,
            is_given: false,
        }
    }

    /// Sets the key of the job, which all messages have from now on.
    pub(crate) fn set_key(&mut self, key: u64) {
        self.key = key;
        if !self.is_given {
            return;
        }
        for operation in self.chunks.iter_mut().flat_map(|chunk| chunk.iter_mut()) {
            operation.swap.set_key(key);
        }
    }

    /// Returns a free operation of no lane, which is used from now on.
    pub(crate) fn take(&mut self) -> *mut Operation {
        if self.free.is_null() {
            self.grow();
        }
        let taken = self.free;
        // SAFETY: a free operation lies in a chunk, which stays.
        unsafe {
            self.free = (*taken).next;
        }
        taken
    }

    /// Returns a free operation of the lane, which gets more where it has none.
    #[inline]
    pub(crate) fn take_for(&mut self, lane: &Lane) -> *mut Operation {
        let taken = lane.take();
        if taken.is_null() {
            return self.supply(lane);
        }
        taken
    }

    /// Gives operations to a lane that has none, and returns a free one.
    #[cold]
    #[inline(never)]
    fn supply(&mut self, lane: &Lane) -> *mut Operation {
        self.is_given = true;
        for _ in 0..SHARE {
            let more = self.take();
            // SAFETY: the operation lies in a chunk, and nobody uses it.
            unsafe {
                (*more).swap.set_key(self.key);
                (*more).lane = &raw const *lane;
                (*more).plain = &raw const *lane;
                lane.give_back(more);
            }
        }
        lane.take()
    }

    /// Takes the free operations of a lane back, and those by which it has gathered.
    pub(crate) fn retire(&mut self, lane: &Lane) {
        for operation in lane.take_gathers() {
            // SAFETY: nothing is under way by it, and nobody uses it any more.
            unsafe { self.give_back(operation) };
        }
        loop {
            let operation = lane.take();
            if operation.is_null() {
                return;
            }
            // SAFETY: it was free, and is nobody's now.
            unsafe { self.give_back(operation) };
        }
    }

    /// Gives an operation back that is no lane's.
    ///
    /// # Safety
    /// It was taken, nobody uses it, and its piece, if it had one, was given back.
    #[inline]
    pub(crate) unsafe fn give_back(&mut self, operation: *mut Operation) {
        // SAFETY: the operation lies in a chunk, and nobody uses it.
        unsafe {
            (*operation).reset();
            (*operation).lane = std::ptr::null();
            (*operation).plain = std::ptr::null();
            (*operation).next = self.free;
        }
        self.free = operation;
    }

    /// Returns the operation with this name that waits for an answer, if there is one.
    pub(crate) fn find(&mut self, token: u64) -> Option<*mut Operation> {
        let number = token as u32 as usize;
        let chunk = self.chunks.get_mut(number / CHUNK)?;
        let operation = &mut chunk[number % CHUNK];
        let is_asked = match operation.kind() {
            Kind::Atomic | Kind::Swap => true,
            Kind::Silent => operation.is_asked,
            _ => false,
        };
        (operation.token == token && is_asked).then_some(operation)
    }

    /// Returns the number of operations.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.chunks.len() * CHUNK
    }

    #[cold]
    fn grow(&mut self) {
        let first = self.chunks.len() * CHUNK;
        let chunk = Box::new(std::array::from_fn(|place| Operation {
            context: [0; 8],
            peer: 0,
            lane: std::ptr::null(),
            plain: std::ptr::null(),
            next: std::ptr::null_mut(),
            token: (first + place) as u64,
            notice: std::ptr::null(),
            dest: std::ptr::null_mut(),
            len: 0,
            piece: None,
            is_behind: false,
            is_asked: false,
            name: 0,
            swap: Swap::new(self.own),
        }));
        self.chunks.push(chunk);
        let Some(chunk) = self.chunks.last_mut() else {
            return;
        };
        let base = chunk.as_mut_ptr();
        for place in (0..CHUNK).rev() {
            // SAFETY: the chunk has so many operations, which stay there, and all are free.
            unsafe {
                let operation = base.add(place);
                Swap::bind(&raw mut (*operation).swap, operation, (*operation).token);
                (*operation).next = self.free;
                self.free = operation;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_finds_the_operation_that_asked_and_no_later_one() {
        let mut all = Operations::new(0);
        let taken: Vec<_> = (0..3 * CHUNK).map(|_| all.take()).collect();
        for &one in &taken {
            // SAFETY: taken above, and used by nobody else.
            let token = unsafe {
                (*one).set_kind(Kind::Atomic);
                (*one).token
            };
            assert_eq!(all.find(token), Some(one));
            assert_eq!(all.find(token + (1 << 32)), None);
        }
        let fifth = taken[4];
        // SAFETY: taken above, and used by nobody else.
        unsafe {
            let before = (*fifth).token;
            all.give_back(fifth);
            assert_eq!(all.find(before), None);
            assert_eq!(all.take(), fifth);
            (*fifth).set_kind(Kind::Atomic);
            assert_eq!(all.find(before), None);
        }
        assert_eq!(all.find(u64::MAX), None);
    }

    #[test]
    fn messages_of_operations_have_the_key_of_the_job_and_their_token() {
        let mut all = Operations::new(3);
        all.set_key(7);
        let one = all.take();
        all.is_given = true;
        all.set_key(8);
        // SAFETY: taken above, and used by nobody else.
        unsafe {
            assert_eq!((*one).swap.key(), 8);
            (*one).set_kind(Kind::Swap);
            assert_eq!((*one).swap.token(), (*one).token);
            all.give_back(one);
            assert_eq!((*one).swap.token(), (*one).token);
            assert_eq!(((*one).kind(), (*one).token >> 32), (Kind::Plain, 1));
        }
    }
}
