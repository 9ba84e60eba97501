//! Queues that come later: which peer gets one, and when it is used.

use crate::model::{Rig, Shape, device};
use fi_mlx5::lane::Later;
use std::sync::Arc;

/// Indices in the model of the initiator, and of the queue that comes later.
const INITIATOR: usize = 0;
const LATER: usize = 1;

/// Peers of the lane, and posts that are many.
const PEERS: u32 = 2;
const MANY: usize = 16;

fn rig() -> (Rig, Arc<Later>) {
    let rig = Rig::new(Shape {
        queues: 2,
        later: PEERS,
        ..Shape::DC
    });
    let later = device(|device| device.later.clone());
    (rig, later.expect("a lane that gets queues later"))
}

/// Returns the queues of the entries that were posted since the last time.
fn queues() -> Vec<usize> {
    device(|device| {
        device.look();
        device.log.drain(..).map(|taken| taken.queue).collect()
    })
}

#[test]
fn a_queue_is_wanted_for_a_peer_that_much_is_posted_to() {
    let (rig, later) = rig();
    for post in 1..=MANY {
        assert!(!later.is_wanted(0), "before post {post}");
        rig.write(0, &[1]).unwrap();
    }
    assert!(later.is_wanted(0) && !later.is_wanted(1));
    assert_eq!(queues(), [INITIATOR; MANY]);
}

#[test]
fn a_peer_changes_its_queue_when_nothing_is_outstanding() {
    for random in 1..20 {
        let (rig, later) = rig();
        device(|device| device.random = random);
        for _ in 0..MANY {
            rig.write(0, &[1]).unwrap();
        }
        rig.write(1, &[1]).unwrap();
        assert_eq!(queues(), [INITIATOR; MANY + 1]);
        let ring = device(|device| device.ring(LATER));
        // SAFETY: the device lives longer than the lane.
        unsafe { later.offer(0, ring) };
        assert_eq!(later.taken(), 0);
        assert!(!rig.inject(0, 1_u32, 0x1000), "not in line by itself");
        rig.write(0, &[2]).unwrap();
        assert_eq!(later.taken(), 1);
        assert!(
            device(|device| device.is_done(INITIATOR, MANY as u64 - 1)),
            "all that was posted to the peer before"
        );
        rig.write(1, &[2]).unwrap();
        let mut posted = queues();
        posted.sort_unstable();
        assert_eq!(posted, [INITIATOR, LATER], "the other peer keeps its queue");
        rig.quiet().unwrap();
        assert!(rig.inject(0, 3_u32, 0x1000) && !rig.inject(1, 3_u32, 0x1000));
        assert_eq!(queues(), [LATER]);
        rig.quiet().unwrap();
        drop(rig);
    }
}

#[test]
fn a_queue_with_another_register_is_not_used() {
    let (rig, later) = rig();
    let mut ring = device(|device| device.ring(LATER));
    ring.register = ring.register.wrapping_add(1);
    // SAFETY: the device lives longer than the lane.
    unsafe { later.offer(1, ring) };
    for _ in 0..2 * MANY {
        rig.write(1, &[1]).unwrap();
    }
    assert_eq!(queues(), [INITIATOR; 2 * MANY]);
    assert!(later.taken() == 0 && !later.is_wanted(1));
}
