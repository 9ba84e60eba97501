//! Guards that keep posts of several threads, or of several lanes on one doorbell register, apart.
//! A guard is a type, chosen when a lane is made; posts are compiled for each, so that [`Alone`]
//! costs nothing.
//!
//! | guard | users | action of a post |
//! |---|---|---|
//! | [`Alone`] | one thread, registers of the lane's own | nothing |
//! | [`OnRegister`] | one thread, registers that other lanes ring | locks the register while it rings |
//! | [`OnLane`] | several threads | locks the lane |
//! | [`OnBoth`] | several threads, registers that other lanes ring | both |
//! | [`Counted`] | several threads, and the lane is the only one | takes a block of the queue's depth, then locks the lane |
//!
//! The last one is the shared queue pair of Zambre, Chandramowlishwaran and Balaji, "Scalable
//! Communication Endpoints for MPI+Threads Applications", section VI: threads take of the queue's
//! depth by an atomic subtraction before they compete for its lock, and a thread that takes
//! completions gives back.

#![expect(
    unsafe_code,
    reason = "rings doorbell registers, and finds a lane's head and slots by its queues"
)]

use crate::head::{Slot, head};
use crate::queue::Queue;
use crate::registers::other_half;
use std::sync::atomic::Ordering;

/// See the module's documentation. The types here are all there are.
pub trait Guard: sealed::Sealed {
    /// Whether several threads use such a lane.
    const IS_SHARED: bool;

    /// Comes before anything of the queue is read or changed; false where the post has to decline.
    /// There may be a reference to the queue only behind it: before, another thread may be putting
    /// the queue in its place.
    ///
    /// # Safety
    /// The queue is one of `queues`, which are a live lane's of this guard.
    unsafe fn enter(queues: *const Queue, queue: *const Queue) -> bool;

    /// Comes behind a post that `blocks` blocks were posted by; 0 where it declined.
    ///
    /// # Safety
    /// As [`Guard::enter`], which was true.
    unsafe fn leave(queues: *const Queue, queue: &Queue, blocks: u16);

    /// Calls `store` with the half of the register that is to be written next; it sends the stored
    /// bytes on their way.
    ///
    /// # Safety
    /// The slot is the queue's, in a lane of this guard that was entered.
    unsafe fn ring(slot: &Slot, store: impl FnOnce(*mut u8));
}

/// Rings a register that is the lane's own.
#[inline(always)]
fn ring_own(slot: &Slot, store: impl FnOnce(*mut u8)) {
    let half = slot.half();
    store(half.get());
    // Read again: so it is changed in its place.
    half.set(other_half(half.get()));
}

/// Rings a register that other lanes ring as well.
///
/// # Safety
/// The slot leads to a live one.
#[inline(always)]
unsafe fn ring_shared(slot: &Slot, store: impl FnOnce(*mut u8)) {
    // SAFETY: the slot leads to a live register.
    let register = unsafe { &*slot.register() };
    let half = register.lock();
    store(half.get());
    half.set(other_half(half.get()));
    register.unlock();
}

/// One thread, and registers of the lane's own.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl sealed::Sealed for Alone {}

impl Guard for Alone {
    const IS_SHARED: bool = false;

    #[inline(always)]
    unsafe fn enter(_: *const Queue, _: *const Queue) -> bool {
        true
    }

    #[inline(always)]
    unsafe fn leave(_: *const Queue, _: &Queue, _: u16) {}

    #[inline(always)]
    unsafe fn ring(slot: &Slot, store: impl FnOnce(*mut u8)) {
        ring_own(slot, store);
    }
}

/// One thread, and registers that other lanes ring as well.
#[derive(Clone, Copy, Debug)]
pub struct OnRegister;

impl sealed::Sealed for OnRegister {}

impl Guard for OnRegister {
    const IS_SHARED: bool = false;

    #[inline(always)]
    unsafe fn enter(_: *const Queue, _: *const Queue) -> bool {
        true
    }

    #[inline(always)]
    unsafe fn leave(_: *const Queue, _: &Queue, _: u16) {}

    #[inline(always)]
    unsafe fn ring(slot: &Slot, store: impl FnOnce(*mut u8)) {
        // SAFETY: such a lane's slots lead to registers that it has a share of.
        unsafe { ring_shared(slot, store) };
    }
}

/// Several threads.
#[derive(Clone, Copy, Debug)]
pub struct OnLane;

impl sealed::Sealed for OnLane {}

impl Guard for OnLane {
    const IS_SHARED: bool = true;

    #[inline(always)]
    unsafe fn enter(queues: *const Queue, _: *const Queue) -> bool {
        // SAFETY: the queues are a live lane's, hence a live body's.
        unsafe { head(queues) }.lock.take();
        true
    }

    #[inline(always)]
    unsafe fn leave(queues: *const Queue, _: &Queue, _: u16) {
        // SAFETY: the queues are a live lane's, hence a live body's.
        unsafe { head(queues) }.lock.give();
    }

    #[inline(always)]
    unsafe fn ring(slot: &Slot, store: impl FnOnce(*mut u8)) {
        ring_own(slot, store);
    }
}

/// Several threads, and registers that other lanes ring as well.
#[derive(Clone, Copy, Debug)]
pub struct OnBoth;

impl sealed::Sealed for OnBoth {}

impl Guard for OnBoth {
    const IS_SHARED: bool = true;

    #[inline(always)]
    unsafe fn enter(queues: *const Queue, queue: *const Queue) -> bool {
        // SAFETY: the queue is one of `queues`, which are a live lane's.
        unsafe { OnLane::enter(queues, queue) }
    }

    #[inline(always)]
    unsafe fn leave(queues: *const Queue, queue: &Queue, blocks: u16) {
        // SAFETY: the queue is one of `queues`, which are a live lane's, and `OnLane::enter` was
        // true.
        unsafe { OnLane::leave(queues, queue, blocks) };
    }

    #[inline(always)]
    unsafe fn ring(slot: &Slot, store: impl FnOnce(*mut u8)) {
        // SAFETY: such a lane's slots lead to registers that it has a share of.
        unsafe { ring_shared(slot, store) };
    }
}

/// Several threads, which count the queue's depth.
#[derive(Clone, Copy, Debug)]
pub struct Counted;

impl sealed::Sealed for Counted {}

impl Guard for Counted {
    const IS_SHARED: bool = true;

    #[inline(always)]
    unsafe fn enter(queues: *const Queue, queue: *const Queue) -> bool {
        // SAFETY: the queue is alive with its lane; its depth is changed by atomic operations
        // alone, and has no other reference.
        let depth = unsafe { &(*queue).depth };
        // ORDERING: none: the number alone tells whether there is room, and the lock orders the rest.
        if depth.fetch_sub(1, Ordering::Relaxed) <= 0 {
            // ORDERING: none, likewise.
            depth.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        // SAFETY: the queues are a live lane's, hence a live body's.
        unsafe { head(queues) }.lock.take();
        true
    }

    #[inline(always)]
    unsafe fn leave(queues: *const Queue, queue: &Queue, blocks: u16) {
        if blocks != 1 {
            // ORDERING: as in `enter`.
            queue
                .depth
                .fetch_add(1 - i32::from(blocks), Ordering::Relaxed);
        }
        // SAFETY: the queues are a live lane's, hence a live body's.
        unsafe { head(queues) }.lock.give();
    }

    #[inline(always)]
    unsafe fn ring(slot: &Slot, store: impl FnOnce(*mut u8)) {
        ring_own(slot, store);
    }
}

/// The guard of a lane, where one is chosen at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// None: there is no lane.
    None,
    /// [`Alone`]
    Alone,
    /// [`OnRegister`]
    OnRegister,
    /// [`OnLane`]
    OnLane,
    /// [`OnBoth`]
    OnBoth,
    /// [`Counted`]
    Counted,
}

mod sealed {
    /// Keeps other types from being guards.
    pub trait Sealed {}
}

#[cfg(test)]
mod tests;
