//! Completions that tell of errors, and devices that go away.

use crate::model::{DC_KEY, Rig, Shape, device, turn};
use fi_mlx5::lane::{Failure, Threads, To};
use fi_mlx5::remote::Vector;
use fi_mlx5_defs::opcode::Syndrome;

#[test]
fn what_the_syndromes_mean() {
    for (syndrome, failure) in [
        (Syndrome::RemoteAccess, Failure::RemoteAccess),
        (Syndrome::TransportRetryExceeded, Failure::Unreachable),
        (
            Syndrome::ReceiverNotReadyRetryExceeded,
            Failure::Unreachable,
        ),
        (Syndrome::RemoteAborted, Failure::Unreachable),
        (Syndrome::LocalProtection, Failure::Other(4)),
    ] {
        let rig = Rig::new(Shape::RC);
        let posted = rig.write(0, &[1]).expect("a post");
        device(|device| {
            device.look();
            device.fail(0, syndrome);
        });
        assert_eq!(rig.lane.wait(posted), Err(failure));
    }
}

#[test]
fn the_first_failure_of_a_queue_is_kept() {
    let rig = Rig::new(Shape::RC);
    let other = rig.write(1, &[1]).expect("a post");
    let first = rig.write(0, &[1]).expect("a post");
    // In line, without completions: one that fails has one all the same.
    assert!(rig.inject(0, 1_u8, 0) && rig.inject(0, 2_u8, 0));
    device(|device| {
        device.look();
        device.finish(0);
        device.fail(0, Syndrome::RemoteAccess);
        device.fail(0, Syndrome::Flushed);
        device.finish(1);
    });
    let failure = Failure::RemoteAccess;
    assert_eq!(rig.lane.wait(first), Ok(()), "it was done before");
    assert_eq!(rig.lane.poll(), Err(failure));
    assert_eq!(rig.lane.poll(), Err(failure), "flushed");
    assert_eq!(rig.lane.wait(other), Ok(()), "done by another queue");
    assert_eq!(rig.lane.poll(), Err(failure));
    assert_eq!(rig.quiet(), Err(failure));
    assert_eq!(rig.drain(0), Err(failure));
    for _ in 0..2 {
        assert_eq!(rig.write(0, &[1]).err(), Some(failure));
        assert!(!rig.inject(0, 1_u8, 0), "in line neither");
        assert_eq!(rig.quiet(), Err(failure));
    }
}

/// Fails a queue: its own peer is named, and entries of other queues go on, several times around
/// their rings.
fn others_go_on(threads: Threads) {
    let shape = Shape {
        threads,
        queues: 3,
        ..Shape::RC
    };
    let rig = Rig::new(shape);
    let failure = Failure::Unreachable;
    let (fine, bad) = (2, 1);
    rig.write(fine, &[1]).expect("a post");
    rig.write(0, &[1]).expect("a post");
    rig.quiet().expect("quiet");
    let lost = [(); 3].map(|()| rig.write(bad, &[1]).expect("a post"));
    device(|device| {
        device.look();
        device.finish(bad as usize);
        device.fail(bad as usize, Syndrome::TransportRetryExceeded);
        device.fail(bad as usize, Syndrome::Flushed);
    });
    // Neither a post nor a wait of another peer's is told.
    for turn in 0..400 {
        let posted = rig.write(fine, &[7; 100]).expect("a post to another peer");
        if turn % 7 == 0 {
            let _held = rig.lane.hold();
            assert_eq!(rig.lane.wait(posted), Ok(()), "turn {turn}");
        }
    }
    assert_eq!(rig.drain(fine), Ok(()));
    let held = rig.lane.hold();
    assert_eq!(
        lost.map(|posted| rig.lane.wait(posted)),
        [Ok(()), Err(failure), Err(failure)]
    );
    drop(held);
    assert_eq!(rig.write(bad, &[1]).err(), Some(failure));
    // Quiet tells, and waits for the others before.
    rig.write(fine, &[1]).expect("a post");
    rig.write(0, &[1]).expect("a post");
    assert_eq!(rig.quiet(), Err(failure));
    device(|device| {
        assert!(!device.is_pending(fine as usize) && !device.is_pending(0));
    });
    let fault = rig.lane.fault(None).expect("a fault");
    assert_eq!(rig.lane.fault(Some(bad)), Some(fault));
    assert_eq!(fault.failure, failure);
    for peer in 0..3 {
        assert_eq!(fault.is_of(peer, &rig.vector), peer == bad, "peer {peer}");
    }
    assert_eq!(rig.lane.fault(Some(fine)), None);
}

#[test]
fn other_queues_go_on() {
    others_go_on(Threads::One);
}

#[test]
fn other_queues_of_a_lane_of_several_threads_go_on() {
    others_go_on(Threads::Several);
    others_go_on(Threads::Counted);
}

#[test]
fn a_queue_that_fails_while_quiet_waits() {
    extern "C" fn fail_then_turn() -> i32 {
        device(|device| {
            device.look();
            if device.is_pending(0) {
                device.fail(0, Syndrome::RemoteAccess);
            }
            device.finish(1);
        });
        0
    }
    let rig = Rig::with_hook(Shape::RC, fail_then_turn);
    rig.write(1, &[1]).expect("a post");
    rig.write(0, &[1]).expect("a post");
    rig.write(1, &[1]).expect("a post");
    assert_eq!(rig.quiet(), Err(Failure::RemoteAccess));
    device(|device| assert!(!device.is_pending(1)));
    rig.write(1, &[1]).expect("a post to the other peer");
    assert_eq!(rig.drain(1), Ok(()));
}

#[test]
fn a_failure_names_the_peer_that_was_entered() {
    let rig = Rig::new(Shape::DC);
    let other = Vector::new(DC_KEY, 0x0003_2101, 0x17);
    rig.write(0, &[1]).expect("a post");
    let to = To {
        vector: &other,
        ..rig.to(1, 0x1000)
    };
    // SAFETY: the lane is this thread's, and there is a byte.
    let posted = unsafe { rig.lane.write_inline(to, [1].as_ptr(), 1) };
    rig.write(0, &[1]).expect("a post");
    device(|device| {
        device.look();
        device.finish(0);
        device.fail(0, Syndrome::TransportRetryExceeded);
        device.fail(0, Syndrome::Flushed);
    });
    let failure = Failure::Unreachable;
    assert_eq!(rig.lane.wait(posted.expect("a post")), Err(failure));
    let fault = rig.lane.fault(Some(0)).expect("they share the queue");
    assert!(fault.is_of(1, &other) && !fault.is_of(0, &rig.vector));
}

extern "C" fn gone() -> i32 {
    -1
}

#[test]
fn a_device_that_is_gone() {
    for dynamic in [false, true] {
        let shape = if dynamic { Shape::DC } else { Shape::RC };
        let rig = Rig::with_hook(shape, gone);
        let posted = rig.write(0, &[1]).expect("a post");
        assert_eq!(rig.lane.wait(posted), Err(Failure::Lost));
        assert_eq!(rig.quiet(), Err(Failure::Lost));
        assert_eq!(rig.drain(0), Err(Failure::Lost));
        assert_eq!(rig.write(0, &[1]).err(), Some(Failure::Lost));
    }
}

#[test]
fn a_device_that_goes_while_a_post_waits_for_room() {
    let rig = Rig::with_hook(Shape::RC, gone);
    let posts = (0..100).take_while(|_| rig.write(0, &[1; 100]).is_ok());
    assert!(posts.count() < 64 / 2);
    assert_eq!(rig.quiet(), Err(Failure::Lost));
    let fine = Rig::with_hook(Shape::RC, turn);
    assert!((0..100).all(|_| fine.write(0, &[1; 100]).is_ok()));
}
