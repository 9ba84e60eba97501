//! Posts of a few bytes, under each guard: byte by byte, and the state in which they leave a queue.

use crate::entries::{Register, is_inline_write, one};
use crate::model::{Rig, Shape, device};
use fi_mlx5::guard::{Counted, OnBoth, OnLane, OnRegister};
use fi_mlx5::lane::Threads;

pub(crate) const ADDRESS: u64 = 0x1234_5678_9abc_def0;

/// Returns connected and dynamic lanes under each guard.
pub(crate) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for shape in [Shape::RC, Shape::DC] {
        for threads in [Threads::One, Threads::Several, Threads::Counted] {
            for registers_shared in [false, true] {
                shapes.push(Shape {
                    threads,
                    registers_shared,
                    ..shape
                });
            }
        }
    }
    shapes
}

#[test]
fn writes_of_every_length_under_every_guard() {
    let bytes: Vec<u8> = (0..=255).collect();
    for shape in shapes() {
        let rig = Rig::new(shape);
        let mut register = Register(0);
        let mut declined = 0;
        // The first one has to ask for a completion.
        rig.write(1, &[1]).expect("a post");
        register.check(&one());
        rig.quiet().expect("quiet");
        for len in 1..=rig.lane.max_inline() {
            if !rig.write_guarded(1, &bytes[..len], ADDRESS) {
                declined += 1;
                rig.write_at(1, &bytes[..len], ADDRESS).expect("a post");
            }
            let taken = one();
            is_inline_write(&rig, &taken, &bytes[..len]);
            register.check(&taken);
        }
        assert!(!rig.write_guarded(1, &bytes[..rig.lane.max_inline() + 1], ADDRESS));
        // At the end of the ring, and where a quarter of it has no completion.
        assert!((1..60).contains(&declined), "{declined} of {shape:?}");
        rig.quiet().expect("quiet");
    }
}

#[test]
fn a_block_of_a_lane_of_one_thread() {
    let bytes: Vec<u8> = (0..=255).collect();
    for shape in [Shape::RC, Shape::DC] {
        let rig = Rig::new(shape);
        let mut register = Register(0);
        rig.write(1, &[1]).expect("a post");
        register.check(&one());
        for len in 1..=12 {
            assert_eq!(rig.write_block(1, &bytes[..len], ADDRESS), Some(true));
            let taken = one();
            is_inline_write(&rig, &taken, &bytes[..len]);
            register.check(&taken);
        }
        let word = 0x0807_0605_0403_0201;
        assert_eq!(rig.write_word(1, word, ADDRESS), Some(true));
        let taken = one();
        is_inline_write(&rig, &taken, &word.to_ne_bytes());
        register.check(&taken);
    }
    for threads in [Threads::Several, Threads::Counted] {
        let rig = Rig::new(Shape {
            threads,
            ..Shape::RC
        });
        assert_eq!(rig.write_block(1, &[1], ADDRESS), None);
        assert_eq!(rig.write_word(1, 1, ADDRESS), None);
    }
}

#[test]
fn elements_under_every_guard() {
    for shape in shapes() {
        let rig = Rig::new(shape);
        let mut register = Register(0);
        rig.write(1, &[1]).expect("a post");
        register.check(&one());
        let value = 0x1817_1615_1413_1211_u64;
        let posted = match (shape.threads, shape.registers_shared) {
            (Threads::One, false) => rig.inject(1, value, ADDRESS),
            (Threads::One, true) => {
                assert!(
                    !rig.inject(1, value, ADDRESS),
                    "in line would be without the lock"
                );
                assert!(rig.inject_by::<_, OnRegister>(1, value, ADDRESS));
                register.check(&one());
                rig.inject_on_register(1, value, ADDRESS) == Some(true)
            }
            (_, true) => rig.inject_by::<_, OnBoth>(1, value, ADDRESS),
            (Threads::Several, false) => rig.inject_by::<_, OnLane>(1, value, ADDRESS),
            (Threads::Counted, false) => rig.inject_by::<_, Counted>(1, value, ADDRESS),
        };
        assert!(posted);
        let taken = one();
        is_inline_write(&rig, &taken, &value.to_le_bytes());
        register.check(&taken);
        rig.quiet().expect("quiet");
    }
}

#[test]
fn the_first_entry_of_an_armed_queue_may_be_long() {
    for shape in [Shape::RC, Shape::DC] {
        for len in [8, 40, 100, 200] {
            let rig = Rig::new(shape);
            for _ in 0..40 {
                rig.write(1, &[1]).expect("a post");
                rig.quiet().expect("quiet");
                if !rig.write_guarded(1, &vec![7; len], ADDRESS) {
                    // The end of the ring.
                    continue;
                }
                device(|device| {
                    device.look();
                    let taken = device.log.last().expect("a post");
                    assert!(taken.signalled());
                    (0..shape.queues as usize).for_each(|queue| device.finish(queue));
                });
                assert!(rig.lane.quiet_one(), "its completion is all there is");
                assert!(rig.inject(1, 1_u32, ADDRESS));
                rig.quiet().expect("quiet");
            }
        }
    }
}
