//! The operations of one context that are under way, and those that are free.

use crate::error::Failure;
use crate::gather::Gathers;
use crate::operation::{Kind, Operation};
use crate::port::{Port, Shared};
use std::cell::Cell;
use std::ptr::NonNull;

/// The lists of free operations: of those that posts in short take, and of those that are kept from
/// them.
const READY: usize = 0;
const ASIDE: usize = 1;

/// Counts of operations under way on a lane, and marks that keep posts and quiet in short from it:
/// one word, which quiet in short compares with another.
#[derive(Debug)]
#[repr(C, align(8))]
struct UnderWay {
    /// Writes and reads that are not complete.
    writes: Cell<u32>,
    /// Operations that a peer's processor executes, and has not answered; [`SILENT`], and the bits of
    /// [`MARKS`].
    others: Cell<u32>,
}

/// Threads share the lane: its endpoint never notes that nothing is under way.
const SHARED: u32 = 1 << 31;

/// Posts in short find no operations.
const NOT_PLAIN: u32 = 1 << 30;

/// A request of which nobody awaits the result has gone since the last quiet and fence.
pub(crate) const GATHERING: u32 = 1 << 29;

/// The last gather ([`Gathers`]) is behind: its peer has requests that no probe has followed.
pub(crate) const SILENT: u32 = 1 << 28;

const MARKS: u32 = SHARED | NOT_PLAIN | GATHERING;

/// [`Lane::under_way`] where that is nothing, or one write alone, on a lane of one thread that is as
/// most are.
pub(crate) const NOTHING: u64 = 0;
// SAFETY: two numbers of 4 bytes, in their order in `UnderWay`, are one of 8.
pub(crate) const ONE_WRITE: u64 = unsafe { std::mem::transmute::<[u32; 2], u64>([1, 0]) };

/// Counts the operations of one context; guarded by the port's lock.
///
/// It lies in one place as long as operations are under way: they point to it.
#[derive(Debug)]
#[repr(C)]
pub struct Lane {
    /// The port's; alive as long as something is posted.
    shared: NonNull<Shared>,
    /// Free operations, all of them in the list `home`.
    free: [Cell<*mut Operation>; 2],
    home: Cell<usize>,
    under_way: UnderWay,
    pub(crate) gathers: Gathers,
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
    /// Makes a lane of the port, which threads share or one thread uses.
    pub fn new(port: &Port, is_shared: bool) -> Self {
        Self {
            shared: port.shared().into(),
            free: [const { Cell::new(std::ptr::null_mut()) }; 2],
            home: Cell::new(ASIDE),
            under_way: UnderWay {
                writes: Cell::new(0),
                others: Cell::new(NOT_PLAIN | if is_shared { SHARED } else { 0 }),
            },
            gathers: Gathers::new(),
            is_fenced: Cell::new(false),
            is_numbered: Cell::new(false),
            failure: Cell::new(None),
        }
    }

    /// Returns the port's part.
    ///
    /// # Safety
    /// The port is open.
    #[inline(always)]
    pub(crate) unsafe fn shared(&self) -> &Shared {
        // SAFETY: alive as long as the port is open.
        unsafe { self.shared.as_ref() }
    }

    /// Returns whether nothing is under way.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        let UnderWay { writes, others } = &self.under_way;
        writes.get() == 0 && others.get() & !MARKS == 0
    }

    /// Returns the operations under way: [`NOTHING`], [`ONE_WRITE`] or anything else.
    #[inline(always)]
    pub(crate) fn under_way(&self) -> u64 {
        // SAFETY: the two numbers are an aligned word, and under the port's lock nobody else uses them.
        unsafe { (&raw const self.under_way).cast::<u64>().read() }
    }

    /// Returns the number of writes and reads that are not complete.
    pub(crate) fn writes(&self) -> u32 {
        self.under_way.writes.get()
    }

    /// Returns whether there are operations that a peer's processor executes, and has not answered.
    pub(crate) fn has_atomics(&self) -> bool {
        self.under_way.others.get() & !MARKS != 0
    }

    /// Returns the number of these operations, and the bits that posts set in line.
    #[inline(always)]
    pub(crate) fn others(&self) -> &Cell<u32> {
        &self.under_way.others
    }

    /// Returns whether threads share the lane.
    pub(crate) fn is_shared(&self) -> bool {
        self.under_way.others.get() & SHARED != 0
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
        let others = &self.under_way.others;
        let is_set = if is_plain { 0 } else { NOT_PLAIN };
        others.set(others.get() & !NOT_PLAIN | is_set);
        self.gathers.hide();
    }

    /// Returns a free operation for a post in short; null where another function has to do it.
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

    /// Returns whether posts in short find free operations, if there are any: the lane is not
    /// fenced, and has no failure.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.home.get() == READY
    }

    /// Returns a free operation; null where there is none.
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

    /// Ends the only operation under way, a write; posts in short find it from now on.
    ///
    /// # Safety
    /// The lane has [`ONE_WRITE`] under way, which is this.
    #[inline(always)]
    pub(crate) unsafe fn end_one(&self, operation: *mut Operation) {
        self.under_way.writes.set(0);
        let list = &self.free[READY];
        // SAFETY: the operation lies in a chunk, and nobody uses it any more.
        unsafe { (*operation).next = list.get() };
        list.set(operation);
    }

    /// Returns the first of the free operations; null where there is none.
    #[cfg(test)]
    pub(crate) fn first_free(&self) -> *const Operation {
        self.free[self.home.get()].get()
    }

    /// Returns whether the operation is one of the lane's free ones.
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
    fn count(&self, kind: Kind) -> &Cell<u32> {
        if matches!(kind, Kind::Atomic | Kind::Swap) {
            &self.under_way.others
        } else {
            &self.under_way.writes
        }
    }

    /// Returns the first failure as an error.
    #[inline(always)]
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.failure.get() {
            None => Ok(()),
            Some((_, failure)) => Err(failure),
        }
    }
}
