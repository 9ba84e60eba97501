//! Completions that tell of errors, and devices that go away.

use crate::model::{Rig, Shape, device, turn};
use fi_mlx5::lane::Failure;
use fi_mlx5::opcode::Syndrome;

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
fn the_first_failure_is_kept() {
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
    for peer in [0, 1] {
        let posted = rig.write(peer, &[1]);
        assert_eq!(posted.err(), Some(failure));
    }
    assert_eq!(rig.quiet(), Err(failure));
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
