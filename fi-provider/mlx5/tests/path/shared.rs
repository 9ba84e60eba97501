//! A lane that several threads use, each while it holds it, by itself or by the guard of a post.

use crate::model::{Device, KEY, Shape, place};
use fi_mlx5::lane::{Failure, Lane, Posted, Threads, To};
use fi_mlx5::remote::{Segment, Vector};
use fi_mlx5::route::Route;
use fi_mlx5::short::There;
use fi_mlx5_defs::endian::Be32;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

const THREADS: u32 = 4;
const POSTS: u32 = 300;

struct Shared {
    lane: Box<Lane>,
    route: Route,
    /// Posts that took no slow path.
    guarded: AtomicU32,
}

// SAFETY: threads use it only while they hold the lane.
unsafe impl Sync for Shared {}

impl Shared {
    /// Writes a word to a peer; the lane is held.
    fn write(&self, peer: u32) -> Posted {
        let vector = Vector::nowhere();
        let to = To {
            peer,
            vector: &vector,
            address: 0x1000,
            key: Be32::new(KEY),
        };
        let value = 1_u64;
        // SAFETY: the lane is held, and the value has eight bytes.
        unsafe { self.lane.write_inline(to, (&raw const value).cast(), 8) }.expect("a post")
    }

    fn post(&self, thread: u32, at: u32) {
        let vector = Vector::nowhere();
        let value = u64::from(thread) << 32 | u64::from(at);
        let to = To {
            peer: (thread + at) % 2,
            vector: &vector,
            address: 0x1000,
            key: Be32::new(KEY),
        };
        let source = (&raw const value).cast();
        let there = There {
            segment: Segment::new(to.address, to.key),
            vector: &vector,
            place: place(to.peer),
        };
        // Mostly as it is posted under the lane's guard, which holds it by itself.
        // SAFETY: the value has eight bytes.
        if !at.is_multiple_of(5) && unsafe { self.route.write_guarded(source, 8, there) } {
            self.guarded.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let held = self.lane.hold();
        // SAFETY: the lane is held, and the value has eight bytes.
        let posted = unsafe { self.lane.write_inline(to, source, 8) };
        let posted = posted.expect("a post");
        if at.is_multiple_of(7) {
            self.lane.wait(posted).expect("its completion");
        }
        if at.is_multiple_of(31) {
            // SAFETY: the lane is held.
            unsafe { self.lane.quiet() }.expect("quiet");
        }
        drop(held);
    }
}

#[test]
fn threads_take_turns() {
    take_turns(Threads::Several, false);
}

#[test]
fn threads_take_turns_on_a_register_of_several_lanes() {
    take_turns(Threads::Several, true);
}

#[test]
fn threads_count_the_depth_and_take_turns() {
    take_turns(Threads::Counted, false);
}

fn take_turns(threads: Threads, registers_shared: bool) {
    let device = Device::new(Shape {
        threads,
        registers_shared,
        ..Shape::RC
    });
    let lane = device.lane(None);
    let shared = Shared {
        route: Route::of(&lane),
        lane,
        guarded: AtomicU32::new(0),
    };
    assert!(
        // SAFETY: the lane is alive.
        !unsafe {
            shared.route.inject(
                1_u32,
                Segment::new(0, Be32::new(KEY)),
                &Vector::nowhere(),
                0,
            )
        },
        "in line would be without the lock"
    );
    let done = AtomicBool::new(false);
    let mut values = std::thread::scope(|scope| {
        let model = scope.spawn(|| {
            let mut device = device;
            // ORDERING: pairs with the store below, behind all posts.
            while !done.load(Ordering::Acquire) {
                device.turn();
                std::thread::yield_now();
            }
            device.look();
            let values = device.log.iter().filter(|taken| !taken.is_nop());
            values
                .map(|taken| taken.bytes[36..44].to_vec())
                .collect::<Vec<_>>()
        });
        let shared = &shared;
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || (0..POSTS).for_each(|at| shared.post(thread, at))))
            .collect();
        let ended = threads.into_iter().all(|thread| thread.join().is_ok());
        // ORDERING: pairs with the load above.
        done.store(true, Ordering::Release);
        assert!(ended);
        model.join().expect("the device")
    });
    // As many as the rings have blocks would be posted so if nobody gave depth back.
    let guarded = shared.guarded.load(Ordering::Relaxed);
    assert!(guarded > 2 * 64, "{guarded} posts under the guard");
    values.sort();
    values.dedup();
    assert_eq!(values.len(), (THREADS * POSTS) as usize);
}

/// A thread's wait for the entry that it has posted to peer 0.
type Waits = fn(&Lane, Posted) -> Result<(), Failure>;

/// Lets one thread wait for an entry that the device leaves undone. Another one posts to another
/// peer meanwhile, and waits for that.
fn others_post_meanwhile(threads: Threads, waits: Waits) {
    let mut device = Device::new(Shape {
        threads,
        ..Shape::RC
    });
    let lane = device.lane(None);
    let shared = Shared {
        route: Route::of(&lane),
        lane,
        guarded: AtomicU32::new(0),
    };
    let (has_posted, has_waited, others) = (
        AtomicBool::new(false),
        AtomicBool::new(false),
        AtomicBool::new(false),
    );
    let shared = &shared;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let held = shared.lane.hold();
            let posted = shared.write(0);
            has_posted.store(true, Ordering::Relaxed);
            let done = waits(&shared.lane, posted);
            has_waited.store(true, Ordering::Relaxed);
            drop(held);
            done.expect("it is done at last");
        });
        scope.spawn(|| {
            while !has_posted.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            // More than the ring has blocks.
            for _ in 0..100 {
                let _held = shared.lane.hold();
                let posted = shared.write(1);
                shared.lane.wait(posted).expect("its completion");
            }
            others.store(true, Ordering::Relaxed);
        });
        let begin = Instant::now();
        let is_through = || others.load(Ordering::Relaxed);
        while !is_through() && begin.elapsed() < Duration::from_secs(20) {
            device.look();
            device.finish(1);
            std::thread::yield_now();
        }
        let in_time = is_through() && !has_waited.load(Ordering::Relaxed);
        while !has_waited.load(Ordering::Relaxed) || !is_through() {
            device.look();
            device.finish(0);
            device.finish(1);
            std::thread::yield_now();
        }
        assert!(in_time, "the lane was held by the thread that waited");
    });
}

#[test]
fn a_thread_that_waits_lets_others_post() {
    let waits: [Waits; 3] = [
        |lane, posted| lane.wait(posted),
        // SAFETY: the thread holds the lane.
        |lane, _| unsafe { lane.quiet() },
        // SAFETY: the thread holds the lane.
        |lane, _| unsafe { lane.drain(0) },
    ];
    for waits in waits {
        others_post_meanwhile(Threads::Several, waits);
        others_post_meanwhile(Threads::Counted, waits);
    }
}
