//! Posts of registered memory, under each guard: byte by byte, the state in which they leave a
//! queue, and how the ones that wait end.

use crate::entries::{Register, built, one};
use crate::model::{DISCARD, LOCAL, Rig, Shape, device};
use crate::short::{ADDRESS, shapes};
use fi_mlx5::lane::{Atomic, Failure, Threads};
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::endian::Be64;
use fi_mlx5_defs::opcode::{Opcode, Syndrome};
use fi_mlx5_defs::wqe;

fn local(entry: Entry) -> Vec<u8> {
    let entry = entry.data(LOCAL.address, LOCAL.length, LOCAL.key);
    entry.finish().expect("it fits")
}

#[test]
fn transfers_under_every_guard() {
    for shape in shapes() {
        for opcode in [Opcode::Write, Opcode::Read] {
            let rig = Rig::new(shape);
            let mut register = Register(0);
            assert!(
                !rig.start(opcode, 1, LOCAL, ADDRESS),
                "nothing asked for room yet"
            );
            rig.write(1, &[1]).expect("a post");
            register.check(&one());
            for _ in 0..3 {
                assert!(rig.start(opcode, 1, LOCAL, ADDRESS));
                let taken = one();
                assert!(!taken.signalled());
                assert_eq!(taken.bytes, local(built(&rig, &taken, opcode, 0)));
                register.check(&taken);
            }
            rig.lane.fence();
            rig.write(1, &[1]).expect("a post");
            assert_eq!(one().fenced(), opcode == Opcode::Read);
            rig.quiet().expect("quiet");
            device(|device| {
                (0..shape.queues as usize).for_each(|queue| assert!(!device.is_pending(queue)))
            });
        }
    }
}

#[test]
fn additions_under_every_guard() {
    for shape in shapes() {
        let rig = Rig::new(shape);
        let mut register = Register(0);
        rig.write(1, &[1]).expect("a post");
        register.check(&one());
        rig.quiet().expect("quiet");
        for at in 0..3 {
            // The first one is that of an armed queue.
            assert!(rig.add_guarded(1, 0x0102_0304_0506_0708, ADDRESS) || at > 0);
            let log = device(|device| {
                device.look();
                std::mem::take(&mut device.log)
            });
            let [taken] = log.as_slice() else {
                assert!(at > 0 && log.is_empty());
                rig.write(1, &[1]).expect("a post");
                register.check(&one());
                continue;
            };
            let expected = built(&rig, taken, Opcode::FetchAdd, 0)
                .segment(&wqe::Atomic {
                    swap_or_add: Be64::new(0x0102_0304_0506_0708),
                    compare: Be64::new(0),
                })
                .data(DISCARD.0, 8, DISCARD.1);
            assert_eq!(taken.bytes, expected.finish().expect("it fits"));
            register.check(taken);
        }
        rig.lane.fence();
        rig.write(1, &[1]).expect("a post");
        assert!(one().fenced(), "behind an addition");
    }
}

#[test]
fn an_atomic_of_two_operands() {
    for shape in shapes() {
        let rig = Rig::new(shape);
        rig.write(1, &[1]).expect("a post");
        one();
        let what = Atomic::masked_swap_8(1, 2, 3, 4);
        assert!(rig.start_atomic(1, &what, LOCAL, ADDRESS));
        let taken = one();
        let modifier = wqe::masked_modifier(8);
        let pair = |swap_or_add, compare| wqe::Atomic {
            swap_or_add: Be64::new(swap_or_add),
            compare: Be64::new(compare),
        };
        let expected = built(&rig, &taken, Opcode::MaskedCompareSwap, modifier)
            .segment(&pair(1, 3))
            .segment(&pair(2, 4));
        assert_eq!(taken.bytes, local(expected));
        rig.quiet().expect("quiet");
    }
}

#[test]
fn what_is_waited_for_at_once() {
    for shape in shapes() {
        let rig = Rig::new(shape);
        assert_eq!(
            rig.fetch(1, &Atomic::READ, LOCAL, ADDRESS),
            None,
            "not used yet"
        );
        rig.write(1, &[1]).expect("a post");
        rig.quiet().expect("quiet");
        device(|device| device.log.clear());
        let (mut done, mut declined) = (0, 0);
        // Several times around the ring, at whose end they decline.
        for turn in 0..200 {
            let what = [
                Atomic::READ,
                Atomic::add_8(7),
                Atomic::masked_swap_8(1, 2, 3, 4),
            ][turn % 3];
            let Some(result) = rig.fetch(1, &what, LOCAL, ADDRESS) else {
                declined += 1;
                rig.write(1, &[1]).expect("a post");
                assert_eq!(
                    rig.fetch(1, &what, LOCAL, ADDRESS),
                    None,
                    "something is outstanding"
                );
                rig.quiet().expect("quiet");
                device(|device| device.log.clear());
                continue;
            };
            assert_eq!(result, Ok(()));
            let taken = one();
            assert!(taken.signalled());
            device(|device| assert!(!device.is_pending(taken.queue), "it is done"));
            done += 1;
            if turn % 5 == 0 {
                assert!(
                    rig.inject(1, 1_u32, ADDRESS) != rig.route.is_shared()
                        || shape.registers_shared
                );
                rig.quiet().expect("quiet");
                device(|device| device.log.clear());
            }
        }
        if shape.threads == Threads::One {
            assert!(done > 150, "{done} done, {declined} declined");
        } else {
            assert_eq!(done, 0, "several threads use the lane");
        }
    }
}

/// Lets the oldest entry fail on the device: lanes call it where they found no completion.
extern "C" fn fail() -> i32 {
    device(|device| {
        device.look();
        device.fail(1, Syndrome::RemoteAccess);
    });
    0
}

extern "C" fn finish() -> i32 {
    device(|device| {
        device.look();
        device.finish(1);
    });
    0
}

#[test]
fn a_failure_of_what_is_waited_for() {
    let rig = Rig::with_hook(Shape::RC, fail);
    rig.write(1, &[1]).expect("a post");
    finish();
    rig.quiet().expect("quiet");
    let result = rig.fetch(1, &Atomic::READ, LOCAL, ADDRESS);
    assert_eq!(result, Some(Err(Failure::RemoteAccess)));
    assert_eq!(rig.quiet(), Err(Failure::RemoteAccess), "it is kept");
}
