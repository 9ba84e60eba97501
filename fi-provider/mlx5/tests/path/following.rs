//! Users that follow entries by their blocks: short messages in line, completions queue by queue, and
//! those that are asked for.

use crate::entries::{Register, one};
use crate::model::{DC_KEY, KEY, Rig, Shape, Taken, device};
use crate::short::{ADDRESS, shapes};
use fi_mlx5::lane::Threads;
use fi_mlx5::remote::Segment;
use fi_mlx5::route::Route;
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::opcode::{Opcode, Syndrome};
use fi_mlx5_defs::wqe::CompactAddress;

/// Connected queues whose completion queue is not checked for overruns.
const UNCHECKED: Shape = Shape {
    is_checked: false,
    ..Shape::RC
};
/// The shapes of lanes that are one thread's.
const ALONE: [Shape; 2] = [
    UNCHECKED,
    Shape {
        is_checked: false,
        ..Shape::DC
    },
];

impl Rig {
    fn send_words<const N: usize>(&self, peer: u32, words: [u64; N]) -> Option<bool> {
        let place = crate::model::place(peer);
        // SAFETY: the lane is alive and this thread's; the peer is one of its.
        unsafe { self.route.send_words(words, &self.vector, place) }
    }

    fn send_few(&self, peer: u32, words: [u64; 2], bytes: &[u8]) -> Option<bool> {
        let (place, bytes) = (crate::model::place(peer), (bytes.as_ptr(), bytes.len()));
        // SAFETY: the lane is alive and this thread's; the peer is one of its, and the bytes are as
        // many as said.
        unsafe { self.route.send_few(words[0], [words[1]], bytes, place) }
    }

    fn send_short(&self, peer: u32, word: u64, bytes: &[u8]) -> bool {
        let (place, bytes) = (crate::model::place(peer), (bytes.as_ptr(), bytes.len()));
        // SAFETY: the lane is alive and used as its guard says; the peer is one of its, and the
        // bytes are as many as said.
        unsafe { self.route.send(word, bytes, &self.vector, place) }
    }

    /// Takes the completion of the one block that is outstanding on a queue.
    fn take_lone(&self, queue: u32) -> bool {
        let lone = self.lane.lone(queue).expect("its own, unchecked queue");
        // SAFETY: the lane is this thread's, and has returned it.
        unsafe {
            let has_come = self.lane.is_lone(lone) && self.lane.has_lone(lone);
            if has_come {
                self.lane.pass_lone(lone);
            }
            has_come
        }
    }

    fn ask(&self, tidies: bool) -> bool {
        // SAFETY: the lane is alive and this thread's.
        unsafe { self.lane.ask(tidies) }
    }

    /// Posts an entry that arms the queue of a peer once it is done.
    fn arm(&self, peer: u32) {
        self.write(peer, &[1]).expect("a post");
        finish(&self.shape, peer);
        let (queue, done) = self.lane.take_next().expect("a completion");
        assert_eq!(queue, self.lane.queue_to(peer));
        assert_eq!(
            (done, self.lane.done(queue)),
            (self.lane.posted(queue), done)
        );
    }
}

/// Lets the device do all entries that were posted to the queue of a peer.
fn finish(shape: &Shape, peer: u32) {
    let queue = if shape.dynamic {
        peer % shape.queues
    } else {
        peer
    } as usize;
    device(|device| {
        device.look();
        while device.is_pending(queue) {
            device.finish(queue);
        }
        device.log.clear();
    });
}

fn is_message(rig: &Rig, taken: &Taken, word: u64, bytes: &[u8]) {
    let (index, number) = (taken.control.index(), taken.control.qpn());
    let entry = Entry::new(Opcode::Send, index, number).flags(taken.control.flags);
    let entry = if rig.shape.dynamic {
        entry.address(CompactAddress::dc(DC_KEY, 0x0003_2100, 0x17))
    } else {
        entry
    };
    let data = [&word.to_le_bytes(), bytes].concat();
    let expected = entry.inline(&data).finish().expect("it fits");
    assert_eq!(taken.bytes.len(), expected.len());
    // Behind the bytes the last unit has those of another entry.
    let before = if rig.shape.dynamic { 32 } else { 16 };
    let end = before + size_of::<u32>() + data.len();
    assert_eq!(taken.bytes[..end], expected[..end]);
}

#[test]
fn messages_of_two_and_three_words() {
    for shape in ALONE {
        let rig = Rig::new(shape);
        let mut register = Register(0);
        assert_eq!(rig.send_words(1, [1, 2]), Some(false), "no room yet");
        rig.write(1, &[1]).expect("a post");
        register.check(&one());
        for word in 0..3 {
            let words = [0x0102_0304_0506_0708, word];
            assert_eq!(rig.send_words(1, words), Some(true));
            let taken = one();
            is_message(&rig, &taken, words[0], &word.to_le_bytes());
            register.check(&taken);
            let last = 0x1112_1314_1516_1718_u64;
            assert_eq!(rig.send_words(1, [words[0], word, last]), Some(true));
            let taken = one();
            let behind = [word.to_le_bytes(), last.to_le_bytes()].concat();
            is_message(&rig, &taken, words[0], &behind);
            register.check(&taken);
        }
        rig.quiet().expect("quiet");
    }
    for threads in [Threads::Several, Threads::Counted] {
        let shape = Shape {
            threads,
            ..Shape::RC
        };
        assert_eq!(Rig::new(shape).send_words(1, [1, 2]), None);
    }
}

#[test]
fn messages_of_every_length_under_every_guard() {
    let bytes: Vec<u8> = (0..=255).collect();
    for shape in shapes() {
        let rig = Rig::new(shape);
        let mut register = Register(0);
        rig.write(1, &[1]).expect("a post");
        register.check(&one());
        rig.quiet().expect("quiet");
        let mut declined = 0;
        let most = Route::MESSAGE.min(rig.lane.max_inline() - 8);
        for len in 0..=most {
            let word = 0xfedc_ba98_7654_3210 ^ len as u64;
            if rig.send_short(1, word, &bytes[..len]) {
                let taken = one();
                is_message(&rig, &taken, word, &bytes[..len]);
                register.check(&taken);
            } else {
                declined += 1;
                rig.write_at(1, &[1], ADDRESS).expect("a post");
                register.check(&one());
            }
        }
        // At the end of the ring, and where a quarter of it has no completion.
        assert!((1..80).contains(&declined), "{declined} of {shape:?}");
        assert!(!rig.send_short(1, 1, &bytes[..most + 1]));
        rig.quiet().expect("quiet");
    }
}

#[test]
fn messages_of_words_and_a_few_bytes() {
    let bytes: Vec<u8> = (1..=255).collect();
    let rig = Rig::new(Shape::RC);
    let mut register = Register(0);
    assert_eq!(rig.send_few(1, [1, 2], &[]), Some(false), "no room yet");
    rig.write(1, &[1]).expect("a post");
    register.check(&one());
    let mut declined = 0;
    for len in (0..=Route::FEW).chain(0..=Route::FEW) {
        let words = [0x0102_0304_0506_0708, 0x1112_1314_1516_1718 ^ len as u64];
        if rig.send_few(1, words, &bytes[..len]) == Some(true) {
            let taken = one();
            let behind = [&words[1].to_le_bytes(), &bytes[..len]].concat();
            is_message(&rig, &taken, words[0], &behind);
            register.check(&taken);
        } else {
            declined += 1;
            rig.write_at(1, &[1], ADDRESS).expect("a post");
            register.check(&one());
        }
    }
    // At the end of the ring, and where a quarter of it has no completion.
    assert!((1..80).contains(&declined), "{declined}");
    rig.quiet().expect("quiet");
    // An empty entry, if the last one asked for no completion.
    device(|device| {
        device.look();
        device.log.clear();
    });
    // The one entry of an armed queue has as many blocks as it needs.
    assert_eq!(rig.send_few(1, [1, 2], &bytes[..Route::FEW]), Some(true));
    assert!(one().signalled());
    assert_eq!(
        rig.send_few(1, [1, 2], &[]),
        Some(false),
        "it is outstanding"
    );
    rig.quiet().expect("quiet");
    let several = Shape {
        threads: Threads::Several,
        ..Shape::RC
    };
    for shape in [Shape::DC, several] {
        assert_eq!(Rig::new(shape).send_few(1, [1, 2], &[]), None);
    }
}

#[test]
fn a_connection_posts_what_its_route_does() {
    let rig = Rig::new(Shape::RC);
    let segment = || Segment::new(ADDRESS, Be32::new(KEY));
    let place = crate::model::place(1);
    // SAFETY: the lane is alive, and the peer is one of its.
    let connection = unsafe { rig.route.connection_with(place) }.expect("a connected queue");
    let done = || {
        finish(&rig.shape, 1);
        assert!(rig.lane.take_next().is_some());
    };
    rig.arm(1);
    for value in [7_u64, 8] {
        // SAFETY: the lane is alive and this thread's.
        let block = unsafe { connection.inject(|| value, || Some(segment())) };
        let posted = one();
        assert_eq!(block, Some(posted.control.index()));
        done();
        assert!(rig.inject(1, value, ADDRESS));
        assert_eq!(posted.bytes[16..], one().bytes[16..]);
        done();
        // SAFETY: the lane is alive and this thread's.
        let block = unsafe { connection.add(|| value, || Some(segment())) };
        let posted = one();
        assert_eq!(block, Some(posted.control.index()));
        assert_eq!(posted.control.opcode(), Opcode::FetchAdd.number());
        done();
        assert!(rig.add(1, value, ADDRESS));
        assert_eq!(posted.bytes[16..], one().bytes[16..]);
        done();
    }
    // Nothing where the memory is not found.
    // SAFETY: the lane is alive and this thread's.
    let block = unsafe { connection.inject(|| 1_u64, || None) };
    assert_eq!(block, None);
    device(|device| {
        device.look();
        assert!(device.log.is_empty());
    });
    // It goes on behind one entry, which asks for a completion.
    // SAFETY: the lane is alive and this thread's.
    let inject = || unsafe { connection.inject(|| 2_u64, || Some(segment())) };
    // SAFETY: the lane is alive and this thread's.
    let widen = || unsafe { connection.widen() };
    assert!(!widen(), "its one entry is not posted");
    assert!(inject().is_some() && one().signalled());
    assert!(inject().is_none() && widen());
    for _ in 0..rig.shape.blocks / 2 {
        assert!(inject().is_some() && !one().signalled());
    }
    assert!(inject().is_none() && !widen());
    // Not where a queue of the lane has failed: the lane looks at each.
    let rig = Rig::new(Shape::RC);
    rig.arm(0);
    rig.arm(1);
    assert!(rig.inject(0, 1_u64, ADDRESS) && rig.inject(1, 1_u64, ADDRESS));
    device(|device| {
        device.look();
        device.fail(1, Syndrome::RemoteAccess);
    });
    assert!(rig.lane.take_next().is_some() && rig.lane.faults() == 1);
    // SAFETY: the lane is alive and this thread's, and the peer is one of its.
    let connection = unsafe { rig.route.connection_with(crate::model::place(0)) };
    // SAFETY: the lane is alive and this thread's.
    assert!(!unsafe { connection.expect("a connected queue").widen() });
    assert!(rig.lane.widen(0));
    for shape in [
        Shape::DC,
        Shape {
            threads: Threads::Several,
            ..Shape::RC
        },
    ] {
        let rig = Rig::new(shape);
        // SAFETY: the lane is alive, and the peer is one of its.
        assert!(unsafe { rig.route.connection_with(place) }.is_none());
    }
}

#[test]
fn an_armed_queue_goes_on_in_line() {
    for shape in ALONE {
        let rig = Rig::new(shape);
        rig.arm(1);
        assert!(!rig.lane.widen(1), "its one entry is not posted");
        assert!(rig.inject(1, 1_u64, ADDRESS) && one().signalled());
        assert!(!rig.inject(1, 2_u64, ADDRESS) && rig.lane.widen(1));
        let half = (0..shape.blocks)
            .take_while(|_| rig.inject(1, 3_u64, ADDRESS))
            .inspect(|_| assert!(!one().signalled()))
            .count();
        assert_eq!(half as u32, shape.blocks / 2);
        assert!(!rig.lane.widen(1), "an entry has to ask for a completion");
        finish(&rig.shape, 1);
        // That of the first entry.
        let queue = rig.lane.queue_to(1);
        let posted = rig.lane.posted(queue);
        let before = posted - half as u64;
        assert_eq!(rig.lane.take_next(), Some((queue, before)));
        assert_eq!(rig.lane.take_next(), None);
        // All others, by an empty entry.
        assert!(!rig.ask(false) && one().is_nop());
        assert!(!rig.ask(false), "it is under way");
        device(|device| assert!(device.log.is_empty(), "one is enough"));
        finish(&rig.shape, 1);
        assert_eq!(rig.lane.take_next(), Some((queue, posted + 1)));
        assert!(rig.ask(false));
        assert!(
            rig.inject(1, 4_u64, ADDRESS) && one().signalled(),
            "it is armed"
        );
        finish(&rig.shape, 1);
        assert_eq!(rig.lane.take_next(), Some((queue, posted + 2)));
        assert!(rig.inject(1, 5_u64, ADDRESS), "armed again");
    }
}

#[test]
fn the_one_entry_of_an_armed_queue_is_taken_alone() {
    for shape in ALONE {
        let rig = Rig::new(shape);
        rig.arm(1);
        let queue = rig.lane.queue_to(1);
        assert_eq!(rig.lane.take_only(queue), None, "nothing was posted");
        for value in 0..3_u64 {
            assert!(rig.inject(1, value, ADDRESS) && one().signalled());
            assert_eq!(rig.lane.take_only(queue), None, "it is not done");
            finish(&rig.shape, 1);
            let posted = rig.lane.posted(queue);
            assert_eq!(rig.lane.take_only(queue), Some(posted));
            assert_eq!(rig.lane.take_only(queue), None);
        }
        // Not where there are more.
        assert!(rig.inject(1, 3_u64, ADDRESS));
        finish(&rig.shape, 1);
        assert!(rig.lane.widen(1) && rig.inject(1, 4_u64, ADDRESS));
        assert_eq!(rig.lane.take_only(queue), None);
        assert!(rig.lane.take_next().is_some());
    }
    // Nor where the completion is another queue's, or tells of a failure.
    let rig = Rig::new(Shape::RC);
    rig.arm(0);
    rig.arm(1);
    assert!(rig.inject(0, 1_u64, ADDRESS) && rig.inject(1, 1_u64, ADDRESS));
    finish(&rig.shape, 0);
    assert_eq!(rig.lane.take_only(1), None);
    assert_eq!(rig.lane.take_only(0), Some(rig.lane.posted(0)));
    device(|device| device.fail(1, Syndrome::RemoteAccess));
    assert_eq!(rig.lane.take_only(1), None);
    assert!(rig.lane.take_next().is_some() && rig.lane.faults() == 1);
}

#[test]
fn the_one_block_of_an_armed_queue_is_taken_round_the_rings_and_the_counters() {
    for shape in ALONE {
        let rig = Rig::new(shape);
        rig.arm(1);
        let queue = rig.lane.queue_to(1);
        let posted = || rig.lane.posted(queue);
        assert!(!rig.take_lone(queue), "nothing was posted");
        let ring = u64::from(shape.completions);
        // The indices of blocks are of 16 bits.
        for value in 0..66_000_u64 {
            let seen = posted();
            assert!(rig.inject(1, value, ADDRESS) && one().signalled());
            if value < 200 {
                assert!(!rig.take_lone(queue), "it is not done");
            }
            finish(&rig.shape, 1);
            let taken = u64::from(rig.lane.consumed()) + 1;
            assert_eq!(rig.lane.is_due(), taken.is_multiple_of(ring), "{taken}");
            if rig.lane.is_due() {
                assert!(!rig.take_lone(queue), "others are due");
                assert_eq!(rig.lane.take_next(), Some((queue, seen + 1)));
            } else {
                assert!(rig.take_lone(queue));
            }
            assert_eq!((posted(), rig.lane.done(queue)), (seen + 1, seen + 1));
            assert!(!rig.take_lone(queue));
        }
        // Not where there are more, nor where the entry has several blocks.
        let seen = posted();
        assert!(rig.inject(1, 3_u64, ADDRESS));
        finish(&rig.shape, 1);
        assert!(rig.lane.widen(1) && rig.inject(1, 4_u64, ADDRESS));
        assert!(!rig.take_lone(queue));
        assert_eq!(rig.lane.take_next(), Some((queue, seen + 1)));
        assert!(!rig.take_lone(queue), "it is not armed");
        rig.quiet().expect("quiet");
        finish(&rig.shape, 1);
        rig.arm(1);
        assert!(rig.write_guarded(1, &[7; 100], ADDRESS));
        finish(&rig.shape, 1);
        assert!(!rig.take_lone(queue));
        assert_eq!(rig.lane.take_only(queue), Some(posted()));
    }
}

#[test]
fn the_one_block_is_not_taken_by_another_queues_completion_or_a_failure() {
    let rig = Rig::new(UNCHECKED);
    rig.arm(0);
    rig.arm(1);
    let seen = [0, 1].map(|queue| rig.lane.posted(queue));
    assert!(rig.inject(0, 1_u64, ADDRESS) && rig.inject(1, 1_u64, ADDRESS));
    finish(&rig.shape, 0);
    assert!(!rig.take_lone(1), "the next is the other's");
    assert!(rig.take_lone(0));
    device(|device| device.fail(1, Syndrome::RemoteAccess));
    assert!(!rig.take_lone(1), "it has failed");
    assert_eq!(rig.lane.take_next(), Some((1, seen[1])));
    assert_eq!(rig.lane.faults(), 1);
    assert!(!rig.take_lone(1));
    assert!(rig.lane.lone(2).is_none(), "there is no such queue");
    let checked = Rig::new(Shape::RC);
    assert!(checked.lane.lone(0).is_none(), "its device counts");
}

#[test]
fn queues_that_are_idle_leave_the_list() {
    let rig = Rig::new(UNCHECKED);
    rig.arm(0);
    rig.arm(1);
    assert!(rig.ask(true));
    assert!(!rig.inject(0, 1_u64, ADDRESS), "closed to posts in line");
    // A post opens it again.
    rig.arm(0);
    assert!(rig.inject(0, 1_u64, ADDRESS));
    assert!(!rig.ask(true));
    finish(&rig.shape, 0);
    assert!(rig.lane.take_next().is_some());
    rig.arm(1);
    assert!(rig.ask(false));
}

#[test]
fn failures_are_told_by_their_queue() {
    let rig = Rig::new(UNCHECKED);
    rig.arm(1);
    assert!(rig.inject(1, 1_u64, ADDRESS));
    device(|device| {
        device.look();
        device.fail(1, Syndrome::RemoteAccess);
    });
    let queue = rig.lane.queue_to(1);
    let done = rig.lane.done(queue);
    assert_eq!(rig.lane.take_next(), Some((queue, done)));
    assert_eq!(rig.lane.faults(), 1);
    assert!(!rig.lane.widen(1) && !rig.inject(1, 2_u64, ADDRESS));
    assert!(rig.ask(true), "nothing comes of a queue that has failed");
}

#[test]
fn an_entry_of_several_blocks_is_known_whole_where_others_follow_it() {
    for shape in ALONE {
        let rig = Rig::new(shape);
        rig.arm(1);
        let queue = rig.lane.queue_to(1);
        let seen = rig.lane.posted(queue);
        assert!(rig.write_guarded(1, &[7; 100], ADDRESS));
        let end = rig.lane.posted(queue);
        assert!(end > seen + 1, "several blocks");
        assert!(rig.lane.widen(1) && rig.inject(1, 4_u64, ADDRESS));
        finish(&rig.shape, 1);
        assert!(!rig.take_lone(queue));
        assert_eq!(rig.lane.take_next(), Some((queue, end)));
        assert!(!rig.ask(false), "the other one is outstanding");
        finish(&rig.shape, 1);
        assert_eq!(rig.lane.take_next(), Some((queue, rig.lane.posted(queue))));
    }
}
