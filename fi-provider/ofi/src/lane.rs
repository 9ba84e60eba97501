//! The operations of one context that are under way, and those that are free.

use crate::error::Failure;
use crate::operation::{Kind, Operation};
use crate::port::{Port, Shared};
use std::cell::Cell;
use std::ptr::NonNull;

/// The lists of free operations: of those that posts in short take, and of those that are kept from
/// them.
const READY: usize = 0;
const ASIDE: usize = 1;

/// Counts the operations of one context; guarded by the port's lock.
///
/// It lies in one place as long as operations are under way: they point to it.
#[derive(Debug)]
pub struct Lane {
    /// The port's; alive as long as something is posted.
    shared: NonNull<Shared>,
    /// Free operations, all of them in the list `home`.
    free: [Cell<*mut Operation>; 2],
    home: Cell<usize>,
    /// Writes and reads that are not complete.
    pub(crate) writes: Cell<u64>,
    /// Operations that a peer's processor executes, and has not answered.
    pub(crate) atomics: Cell<u64>,
    /// Whether a write has to wait for atomic operations before it.
    pub(crate) is_fenced: Cell<bool>,
    /// Whether peers have the provider's numbers, as posts in short take it.
    is_numbered: Cell<bool>,
    /// The first failure, and the peer of it.
    pub(crate) failure: Cell<Option<(u32, Failure)>>,
}

// SAFETY: all accesses are under the port's lock.
unsafe impl Sync for Lane {}
// SAFETY: as above; nothing in it belongs to one thread.
unsafe impl Send for Lane {}

impl Lane {
    /// A lane of the port.
    pub fn new(port: &Port) -> Self {
        Self {
            shared: port.shared().into(),
            free: [const { Cell::new(std::ptr::null_mut()) }; 2],
            home: Cell::new(ASIDE),
            writes: Cell::new(0),
            atomics: Cell::new(0),
            is_fenced: Cell::new(false),
            is_numbered: Cell::new(false),
            failure: Cell::new(None),
        }
    }

    /// The port's part.
    ///
    /// # Safety
    /// The port is open.
    #[inline(always)]
    pub(crate) unsafe fn shared(&self) -> &Shared {
        // SAFETY: alive as long as the port is open.
        unsafe { self.shared.as_ref() }
    }

    /// Whether nothing is under way.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.writes.get() | self.atomics.get() == 0
    }

    pub(crate) fn set_fenced(&self, is_fenced: bool) {
        if self.is_fenced.get() != is_fenced {
            self.is_fenced.set(is_fenced);
            self.settle();
        }
    }

    /// Notes that each peer's number is the provider's, too.
    pub(crate) fn set_numbered(&self) {
        if !self.is_numbered.replace(true) {
            self.settle();
        }
    }

    /// Keeps the first failure.
    #[cold]
    pub(crate) fn fail(&self, peer: u32, failure: Failure) {
        if self.failure.get().is_none() {
            self.failure.set(Some((peer, failure)));
            self.settle();
        }
    }

    /// Has posts in short find free operations where the lane is as most are: not fenced, and without
    /// a failure.
    fn settle(&self) {
        let is_plain =
            self.is_numbered.get() && !self.is_fenced.get() && self.failure.get().is_none();
        let home = if is_plain { READY } else { ASIDE };
        let free = self.free[self.home.get()].replace(std::ptr::null_mut());
        self.free[home].set(free);
        self.home.set(home);
    }

    /// A free operation for a post in short; null where another function has to do it.
    ///
    /// # Safety
    /// This thread has the port's lock.
    #[inline(always)]
    pub(crate) unsafe fn take_ready(&self) -> *mut Operation {
        let taken = self.free[READY].get();
        if !taken.is_null() {
            // SAFETY: a free operation lies in a chunk, which stays.
            self.free[READY].set(unsafe { (*taken).next });
        }
        taken
    }

    /// Whether posts in short find free operations, if there are any: the lane is not fenced, and has
    /// no failure.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.home.get() == READY
    }

    /// A free operation; null where there is none.
    pub(crate) fn take(&self) -> *mut Operation {
        let list = &self.free[self.home.get()];
        let taken = list.get();
        if !taken.is_null() {
            // SAFETY: a free operation lies in a chunk, which stays.
            list.set(unsafe { (*taken).next });
        }
        taken
    }

    /// Makes an operation one of the lane's free ones.
    ///
    /// # Safety
    /// It lies in a chunk, and nobody uses it.
    #[inline(always)]
    pub(crate) unsafe fn give_back(&self, operation: *mut Operation) {
        // SAFETY: there are two lists, and `home` is one of them.
        let list = unsafe { self.free.get_unchecked(self.home.get()) };
        // SAFETY: the operation lies in a chunk, and nobody uses it.
        unsafe { (*operation).next = list.get() };
        list.set(operation);
    }

    /// Whether the operation is one of the lane's free ones.
    pub(crate) fn has_free(&self, operation: *const Operation) -> bool {
        let mut next = self.free[self.home.get()].get().cast_const();
        while !next.is_null() && next != operation {
            // SAFETY: a free operation lies in a chunk, which stays.
            next = unsafe { (*next).next };
        }
        !next.is_null()
    }

    /// Counts an operation that begins.
    #[inline(always)]
    pub(crate) fn begin(&self, kind: Kind) {
        let count = self.count(kind);
        count.set(count.get() + 1);
    }

    /// Counts an operation that has ended.
    #[inline(always)]
    pub(crate) fn end(&self, kind: Kind) {
        let count = self.count(kind);
        count.set(count.get() - 1);
    }

    #[inline(always)]
    fn count(&self, kind: Kind) -> &Cell<u64> {
        if matches!(kind, Kind::Atomic | Kind::Swap) {
            &self.atomics
        } else {
            &self.writes
        }
    }

    /// The first failure as an error.
    #[inline(always)]
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.failure.get() {
            None => Ok(()),
            Some((_, failure)) => Err(failure),
        }
    }
}
