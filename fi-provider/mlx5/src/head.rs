//! Parts of a lane that posts in line change: its queues, and in front of them, in the same
//! allocation, the lane's head and the slots of its doorbell registers. So one pointer leads to all
//! of it.
//!
//! ```text
//! | slot of register n-1 | ... | slot of register 1 | head: slot of register 0, lock, ... | queue 0 | queue 1 | ...
//! ```
//!
//! Several endpoints may use a lane, one after the other or under its lock: nothing of this is theirs.

#![expect(
    unsafe_code,
    reason = "one allocation of several types, found from a pointer to its queues"
)]

use crate::queue::Queue;
use crate::registers::Register;
use fi_shm::lock::Lock;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

/// The place of a doorbell register in a lane: the half to be written next, or where other lanes ring the register as well, the
/// [`Register`] that knows it.
#[derive(Debug)]
#[repr(transparent)]
pub struct Slot(Cell<*mut u8>);

impl Slot {
    /// Returns the half of a register of the lane's own that is to be written next.
    #[inline(always)]
    pub(crate) fn half(&self) -> &Cell<*mut u8> {
        &self.0
    }

    /// Returns the register, which others ring as well.
    #[inline(always)]
    pub(crate) fn register(&self) -> *const Register {
        self.0.get().cast()
    }
}

/// The most doorbell registers of a lane.
const SLOTS: usize = 256;

/// The number of the slot that is in the head; the others have lower ones.
pub(crate) const FIRST: u8 = (SLOTS - 1) as u8;

/// See the module's documentation.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Head {
    first: Slot,
    /// Taken by a thread that uses a lane of several.
    pub(crate) lock: Lock,
    /// The data segment of atomics whose result is not wanted, as it lies in an entry.
    pub(crate) discard: [u64; 2],
}

/// Returns the slot `number` of the lane whose queues these are.
///
/// # Safety
/// The queues are a live [`Body`]'s, which has such a slot.
#[inline(always)]
pub(crate) unsafe fn slot<'a>(queues: *const Queue, number: u8) -> &'a Slot {
    // SAFETY: the queues are a live body's, which has this slot; the first slot is the head's first
    // word, and the head lies directly before the queues.
    unsafe {
        let first = queues.cast::<Head>().sub(1).cast::<Slot>();
        &*first.offset(isize::from(number) - isize::from(FIRST))
    }
}

/// Returns the head in front of these queues.
///
/// # Safety
/// The queues are a live [`Body`]'s.
#[inline(always)]
pub(crate) unsafe fn head<'a>(queues: *const Queue) -> &'a Head {
    // SAFETY: the queues are a live body's, whose head lies directly before them.
    unsafe { &*queues.cast::<Head>().sub(1) }
}

/// The allocation.
#[derive(Debug)]
pub(crate) struct Body {
    queues: NonNull<Queue>,
    count: usize,
    memory: NonNull<u8>,
    layout: Layout,
}

impl Body {
    /// Makes the body of these queues, which ring the registers that `slots` leads to: halves, or
    /// [`Register`]s. A queue's `register` is the number of its slot, counted downwards from
    /// [`FIRST`].
    pub(crate) fn new(queues: Vec<Queue>, slots: &[*mut u8], discard: [u64; 2]) -> Self {
        assert!(
            slots.len() <= SLOTS,
            "a lane has at most {SLOTS} doorbell registers"
        );
        let before = size_of::<Slot>() * slots.len().saturating_sub(1);
        let before = before.next_multiple_of(align_of::<Head>());
        let len = before + size_of::<Head>() + size_of_val(queues.as_slice());
        // Two lines, because processors fetch them in pairs: the words that other lanes write lie
        // on others.
        let layout = Layout::from_size_align(len, 2 * align_of::<Head>()).expect("a size");
        // SAFETY: the length is that of a head at least.
        let memory = unsafe { alloc(layout) };
        let Some(memory) = NonNull::new(memory) else {
            handle_alloc_error(layout)
        };
        let count = queues.len();
        // SAFETY: the allocation has room for slots, head and queues, each at its alignment.
        unsafe {
            let head = memory.add(before).cast::<Head>();
            head.write(Head {
                first: Slot(Cell::new(std::ptr::null_mut())),
                lock: Lock::new(),
                discard,
            });
            for (at, &register) in slots.iter().enumerate() {
                let slot = head.cast::<Slot>().sub(at);
                slot.write(Slot(Cell::new(register)));
            }
            let first = head.add(1).cast::<Queue>();
            for (at, queue) in queues.into_iter().enumerate() {
                first.add(at).write(queue);
            }
            Self {
                queues: first,
                count,
                memory,
                layout,
            }
        }
    }

    /// Returns the head.
    #[inline(always)]
    pub(crate) fn head(&self) -> &Head {
        // SAFETY: the queues are this one's.
        unsafe { head(self.queues.as_ptr()) }
    }

    /// Returns the number of queues.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the address of a queue.
    pub(crate) fn place(&self, at: usize) -> *mut Queue {
        assert!(at < self.count);
        // SAFETY: inside the allocation.
        unsafe { self.queues.as_ptr().add(at) }
    }

    /// Returns whether a queue is there: for a thread that holds the lane, where queues come later.
    pub(crate) fn is_there(&self, at: usize) -> bool {
        // SAFETY: the queue is inside the allocation, and was written when that was made.
        unsafe { Queue::is_there(self.place(at)) }
    }

    /// Returns the slot of a queue's register.
    #[inline(always)]
    pub(crate) fn slot(&self, queue: &Queue) -> &Slot {
        // SAFETY: the queues are this one's, and have numbers of its slots.
        unsafe { slot(self.queues.as_ptr(), queue.register) }
    }
}

impl std::ops::Deref for Body {
    type Target = [Queue];

    #[inline(always)]
    fn deref(&self) -> &[Queue] {
        // SAFETY: written when it was made, and alive as long as this.
        unsafe { std::slice::from_raw_parts(self.queues.as_ptr(), self.count) }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; nothing in it needs to be dropped.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) };
    }
}

/// Holds the lock of a lane of several threads, if it is one.
#[derive(Debug)]
pub struct Held<'a>(Option<&'a Lock>);

impl<'a> Held<'a> {
    /// Takes the lock.
    pub(crate) fn take(lock: Option<&'a Lock>) -> Self {
        if let Some(lock) = lock {
            lock.take();
        }
        Self(lock)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(lock) = self.0 {
            lock.give();
        }
    }
}
