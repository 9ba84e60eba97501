//! Lanes that share a completion queue: each gets its own completions, also where another lane
//! looks.

use crate::model::{Device, KEY, Shape};
use fi_mlx5::lane::{Failure, Lane, Posted, To};
use fi_mlx5::remote::Vector;
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::opcode::Syndrome;
use std::sync::atomic::{AtomicBool, Ordering};

const LANES: u32 = 4;
const POSTS: u64 = 1000;

/// A queue for each lane; the completion queue is as short as may be.
const SHAPE: Shape = Shape {
    queues: LANES,
    completions: LANES * 8,
    ..Shape::RC
};

/// Writes eight bytes, by an entry with a completion.
fn write(lane: &Lane, value: u64) -> Posted {
    let vector = Vector::nowhere();
    let to = To {
        peer: 0,
        vector: &vector,
        address: 0x1000,
        key: Be32::new(KEY),
    };
    // SAFETY: the value has eight bytes, and lanes here are used by one thread each.
    unsafe { lane.write_inline(to, (&raw const value).cast(), 8) }.expect("a post")
}

#[test]
fn each_lane_gets_its_own() {
    let mut device = Device::new(SHAPE);
    let lanes = device.lanes(None);
    let posted: Vec<_> = lanes.iter().map(|lane| write(lane, 1)).collect();
    device.look();
    assert_eq!(lanes[2].poll(), Ok(false));
    for queue in [3, 1, 0, 2] {
        device.finish(queue);
    }
    // The first that looks finds its own, and leaves the others theirs.
    for (lane, posted) in lanes.iter().zip(posted) {
        assert_eq!(lane.is_done(posted), Ok(true));
        assert_eq!(lane.poll(), Ok(false));
    }
}

#[test]
fn a_failure_is_that_of_its_lane() {
    let mut device = Device::new(SHAPE);
    let lanes = device.lanes(None);
    let posted: Vec<_> = lanes.iter().map(|lane| write(lane, 1)).collect();
    device.look();
    device.fail(1, Syndrome::RemoteAccess);
    for queue in [0, 2, 3] {
        device.finish(queue);
    }
    for (at, (lane, posted)) in lanes.iter().zip(posted).enumerate() {
        let expected = if at == 1 {
            Err(Failure::RemoteAccess)
        } else {
            Ok(true)
        };
        assert_eq!(lane.is_done(posted), expected, "lane {at}");
    }
}

#[test]
fn what_a_lane_leaves_is_not_the_next_ones() {
    let mut device = Device::new(SHAPE);
    let mut lanes = device.lanes(None);
    for lane in &lanes {
        write(lane, 1);
    }
    device.look();
    for queue in 0..4 {
        device.finish(queue);
    }
    let last = lanes.pop().expect("four lanes");
    drop(last);
    // More than the completion queue has entries: the place of entries that nobody took is free
    // again.
    for value in 0..64 {
        let posted = write(&lanes[0], value);
        device.look();
        device.finish(0);
        assert_eq!(lanes[0].is_done(posted), Ok(true));
    }
    assert_eq!(lanes[1].poll(), Ok(true));
}

/// A lane that goes to another thread.
struct Sent(Lane);

// SAFETY: the thread that it goes to alone uses it.
unsafe impl Send for Sent {}

#[test]
fn threads_look_for_each_other() {
    let device = Device::new(SHAPE);
    let lanes: Vec<_> = device.lanes(None).into_iter().map(Sent).collect();
    let done = AtomicBool::new(false);
    let mut values = std::thread::scope(|scope| {
        let done = &done;
        let model = scope.spawn(move || {
            let mut device = device;
            // ORDERING: pairs with the store below, behind all posts.
            while !done.load(Ordering::Acquire) {
                device.turn();
                std::thread::yield_now();
            }
            device.look();
            let values = device.log.iter().filter(|taken| !taken.is_nop());
            values
                .map(|taken| (taken.queue, taken.bytes[36..44].to_vec()))
                .collect::<Vec<_>>()
        });
        let threads: Vec<_> = lanes
            .into_iter()
            .map(|lane| {
                scope.spawn(move || {
                    let Sent(lane) = { lane };
                    for value in 0..POSTS {
                        let posted = write(&lane, value);
                        if value % 5 == 0 {
                            lane.wait(posted).expect("its completion");
                        }
                        if value % 31 == 0 {
                            // SAFETY: the lane is this thread's.
                            unsafe { lane.quiet() }.expect("quiet");
                        }
                    }
                    // SAFETY: the lane is this thread's.
                    unsafe { lane.quiet() }.expect("quiet");
                    Sent(lane)
                })
            })
            .collect();
        let lanes: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        // ORDERING: pairs with the load above.
        done.store(true, Ordering::Release);
        assert!(lanes.iter().all(Result::is_ok));
        model.join().expect("the device")
    });
    values.sort();
    values.dedup();
    assert_eq!(values.len() as u64, u64::from(LANES) * POSTS);
}
