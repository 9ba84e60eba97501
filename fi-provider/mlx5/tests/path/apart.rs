//! Steps of a post that are done again and again: the words that they write, and that nothing is
//! posted.

use crate::entries::{Register, is_inline_write, one};
use crate::model::{KEY, Rig, Shape, device, place};
use crate::short::ADDRESS;
use fi_mlx5::remote::Segment;
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::wqe::BASIC_BLOCK;

const PEER: u32 = 1;

/// Returns the block that the next entry is to lie in, as the ring has it.
fn next_block() -> [u8; BASIC_BLOCK] {
    device(|device| {
        let at = device.producer(PEER as usize) as usize * BASIC_BLOCK;
        let ring = device.ring(PEER as usize);
        // SAFETY: few entries were posted, so that the block is inside the ring.
        unsafe { ring.base.add(at).cast::<[u8; BASIC_BLOCK]>().read() }
    })
}

#[test]
fn steps_apart_post_nothing_and_write_what_a_post_does() {
    let rig = Rig::new(Shape::RC);
    assert!(rig.route.is_connected_in_line());
    let there = Segment::new(ADDRESS, Be32::new(KEY));
    let describe = |value: u64| {
        // SAFETY: the lane is alive and this thread's, and its posts are in line; the peer is one
        // of its.
        unsafe { rig.route.describe(value, there, place(PEER)) }
    };
    // A queue that nothing was posted to has no room without looking.
    assert!(!describe(1));
    rig.write(PEER, &[1]).expect("a post");
    let mut register = Register(0);
    register.check(&one());
    rig.quiet().expect("quiet");
    let halves = || device(|device| [device.half(0), device.half(1)]);
    let before = (halves(), device(|device| device.producer(PEER as usize)));
    for value in [7, 8, 9_u64] {
        assert!(describe(value));
        // SAFETY: the lane is alive and this thread's, and its posts are in line; the peer is one
        // of its.
        unsafe { rig.route.count_again(place(PEER)) };
    }
    device(|device| {
        device.look();
        assert!(device.log.is_empty());
    });
    let after = (halves(), device(|device| device.producer(PEER as usize)));
    assert!(before == after, "the register, or the record");
    let described = next_block();
    assert!(rig.inject(PEER, 9_u64, ADDRESS));
    let taken = one();
    is_inline_write(&rig, &taken, &9_u64.to_ne_bytes());
    assert_eq!(described[..taken.bytes.len()], taken.bytes);
    register.check(&taken);
    rig.quiet().expect("quiet");
}
