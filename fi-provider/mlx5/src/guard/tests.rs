//! Guards under contention: threads that ring one register, and threads that count one queue's
//! depth.

use super::*;
use crate::head::{Body, FIRST};
use crate::queue::SendRing;
use crate::registers::Registers;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

const THREADS: u32 = 4;
const BLOCKS: u32 = 16;
/// Two halves of a register.
const REGISTER: usize = 512;

/// The queue of a lane, and the slot of its register.
struct Lane(Body);

// SAFETY: threads use the queue behind its guard alone, as those of a lane do.
unsafe impl Sync for Lane {}

impl Lane {
    /// Makes one whose slot holds `register`.
    fn new(register: *mut u8) -> Self {
        let ring = SendRing {
            number: 1,
            base: std::ptr::null_mut(),
            blocks: BLOCKS,
            record: std::ptr::null_mut(),
            register,
            register_size: 256,
            max_inline: 0,
        };
        let queue = Queue::new(&ring, 3, FIRST);
        Self(Body::new(vec![queue], &[register], [0; 2]))
    }

    fn queue(&self) -> *const Queue {
        self.0.place(0)
    }

    fn enter<G: Guard>(&self) -> bool {
        // SAFETY: the queue is the first of a live lane's.
        unsafe { G::enter(self.queue(), self.queue()) }
    }

    fn leave<G: Guard>(&self, blocks: u16) {
        // SAFETY: the queue is the first of a live lane's, and was entered.
        unsafe { G::leave(self.queue(), &*self.queue(), blocks) };
    }

    fn depth(&self) -> i32 {
        // SAFETY: the queue is alive, and its depth is atomic.
        unsafe { &(*self.queue()).depth }.load(Ordering::Relaxed)
    }
}

/// Lets threads with a lane each ring one register; each offers the processor to the others in the
/// middle of it.
fn ring_by_turns<G: Guard>() {
    let mut memory = [0_u8; 2 * REGISTER];
    let first = memory
        .as_mut_ptr()
        .map_addr(|at| at.next_multiple_of(REGISTER));
    let registers = Registers::new();
    let register = registers.at(first);
    // A thread that failed with the lock would have the others wait: all is looked at in the end.
    let (inside, mixed, repeated) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    let last = AtomicUsize::new(0);
    let shared = Arc::as_ptr(&register).expose_provenance();
    let start = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let shared = std::ptr::with_exposed_provenance_mut(shared);
                let lane = Lane::new(shared);
                start.wait();
                for _ in 0..50 {
                    // SAFETY: the slot is that of the lane's queue, and leads to a register that
                    // lives as long.
                    unsafe {
                        G::ring(lane.0.slot(&*lane.queue()), |half| {
                            let others = inside.fetch_add(1, Ordering::Relaxed);
                            let before = last.swap(half.addr(), Ordering::Relaxed);
                            thread::yield_now();
                            mixed.fetch_add(others, Ordering::Relaxed);
                            repeated.fetch_add((before == half.addr()).into(), Ordering::Relaxed);
                            inside.fetch_sub(1, Ordering::Relaxed);
                        });
                    }
                }
            });
        }
    });
    assert_eq!(
        mixed.into_inner(),
        0,
        "threads that came into another's copy"
    );
    assert_eq!(repeated.into_inner(), 0, "one half twice");
    assert_eq!(register.lock().get(), first, "rung an even number of times");
}

#[test]
fn a_register_of_several_lanes_is_rung_by_one_thread_at_a_time() {
    ring_by_turns::<OnRegister>();
    ring_by_turns::<OnBoth>();
}

#[test]
fn the_depth_is_what_nobody_has_posted() {
    let lane = Lane::new(std::ptr::null_mut());
    // Declined, of one block, and of several.
    for (blocks, left) in [(0, 16), (1, 15), (3, 12), (4, 8), (0, 8), (8, 0)] {
        assert!(lane.enter::<Counted>());
        lane.leave::<Counted>(blocks);
        assert_eq!(lane.depth(), left, "behind {blocks} blocks");
    }
    assert!(!lane.enter::<Counted>(), "there is no room");
    assert_eq!(lane.depth(), 0);
}

#[test]
fn without_depth_nobody_waits_for_the_lock() {
    let lane = Lane::new(std::ptr::null_mut());
    assert!(lane.enter::<Counted>());
    lane.leave::<Counted>(BLOCKS as u16 - 1);
    // The last block is taken, and the lock with it.
    assert!(lane.enter::<Counted>());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(!lane.enter::<Counted>());
            done.store(true, Ordering::Relaxed);
        });
        let patience = std::time::Instant::now() + Duration::from_secs(20);
        while !done.load(Ordering::Relaxed) && std::time::Instant::now() < patience {
            thread::yield_now();
        }
        let came_back = done.load(Ordering::Relaxed);
        // Before anything fails: the waiting thread has to come back.
        lane.leave::<Counted>(1);
        assert!(came_back, "waits for the lock");
    });
}

#[test]
fn threads_count_the_depth_and_lose_nothing() {
    let lane = Lane::new(std::ptr::null_mut());
    let (lane, start) = (&lane, Barrier::new(THREADS as usize));
    let (inside, mixed) = (&AtomicU32::new(0), &AtomicU32::new(0));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for at in 0..2000 {
                    if !lane.enter::<Counted>() {
                        thread::yield_now();
                        continue;
                    }
                    let others = inside.fetch_add(1, Ordering::Relaxed);
                    let too_deep = lane.depth() >= BLOCKS as i32;
                    mixed.fetch_add(others + u32::from(too_deep), Ordering::Relaxed);
                    let blocks = ((thread + at) % 4) as u16;
                    inside.fetch_sub(1, Ordering::Relaxed);
                    lane.leave::<Counted>(blocks);
                    // As `Lane::complete_to` does.
                    // SAFETY: the queue is alive, and its depth is atomic.
                    let depth = unsafe { &(*lane.queue()).depth };
                    depth.fetch_add(blocks.into(), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(mixed.load(Ordering::Relaxed), 0, "more than one at a time");
    assert_eq!(lane.depth(), BLOCKS as i32);
}
