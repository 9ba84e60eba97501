//! Moderation, flow control and fences: random operations, a device that acts whenever and as much as it likes.

use crate::model::{LOCAL, Rig, Shape, Taken, device};
use fi_mlx5::lane::{Atomic, Posted};
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::BASIC_BLOCK;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// In line, else on the slow path.
    Inject(u32),
    Add(u32),
    /// A few bytes without waiting, else on the slow path.
    Short(u32, usize),
    Inline(u32, usize),
    /// Without waiting, else on the slow path.
    Write(u32),
    Read(u32),
    Atomic(u32),
    /// At once, where the queue has nothing outstanding.
    Fetch(u32),
    /// For the entry of this many slow posts ago.
    Wait(usize),
    Drain(u32),
    Quiet,
    Fence,
    /// The device does so many entries of a queue.
    Device(u32, u32),
    /// The lane takes so many completions.
    Poll(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let peer = 0..4_u32;
    prop_oneof![
        12 => peer.clone().prop_map(Step::Inject),
        4 => peer.clone().prop_map(Step::Add),
        6 => (peer.clone(), 1..200_usize).prop_map(|(peer, len)| Step::Short(peer, len)),
        3 => (peer.clone(), 0..200_usize).prop_map(|(peer, len)| Step::Inline(peer, len)),
        2 => peer.clone().prop_map(Step::Write),
        2 => peer.clone().prop_map(Step::Read),
        2 => peer.clone().prop_map(Step::Atomic),
        2 => peer.clone().prop_map(Step::Fetch),
        2 => (0..6_usize).prop_map(Step::Wait),
        1 => peer.clone().prop_map(Step::Drain),
        1 => Just(Step::Quiet),
        2 => Just(Step::Fence),
        3 => (peer, 0..20_u32).prop_map(|(peer, count)| Step::Device(peer, count)),
        1 => (0..4_u32).prop_map(Step::Poll),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    (any::<[bool; 2]>(), 1..=4_u32, 4..=6_u32, 3..=6_u32).prop_map(
        |([dynamic, is_checked], queues, blocks, entries)| Shape {
            dynamic,
            is_checked,
            queues: if dynamic { 1 } else { queues },
            blocks: 1 << blocks,
            completions: 1 << entries,
            ..Shape::RC
        },
    )
}

/// Expectations of the next entry of a queue.
#[derive(Clone, Debug, Default)]
struct Expected {
    /// Blocks of reads and atomics that no fence has covered, first and last: one may be done and the other not.
    unfenced: Vec<u64>,
    /// Whether fence was called since the last entry while there were some.
    fence: bool,
    /// Entries without a completion since the last one with.
    silent: u32,
}

struct Run {
    rig: Rig,
    expected: Vec<Expected>,
    /// Slow posts: the queue and its first block.
    posts: Vec<(Posted, usize, u64)>,
    half: usize,
}

impl Run {
    fn new(shape: Shape, random: u64) -> Self {
        let rig = Rig::new(shape);
        device(|device| device.random = random);
        Self {
            rig,
            expected: vec![Expected::default(); shape.queues as usize],
            posts: Vec::new(),
            half: 0,
        }
    }

    fn queue(&self, peer: u32) -> usize {
        (peer % self.rig.shape.queues) as usize
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Inject(peer) => {
                let peer = self.queue(peer) as u32;
                if !self.rig.inject(peer, 0x5555_u64, 0x1000) {
                    self.slow(peer, |rig| rig.write(peer, &[0x55; 8]));
                }
            }
            Step::Add(peer) => {
                let peer = self.queue(peer) as u32;
                if !self.rig.add(peer, 1, 0x1000) && !self.rig.add_guarded(peer, 1, 0x1000) {
                    self.atomic(peer);
                }
            }
            Step::Short(peer, len) => {
                let peer = self.queue(peer) as u32;
                let bytes = vec![len as u8; len];
                if !self.rig.write_guarded(peer, &bytes, 0x1000) {
                    self.slow(peer, |rig| rig.write(peer, &bytes));
                }
            }
            Step::Inline(peer, len) => {
                let peer = self.queue(peer) as u32;
                self.slow(peer, |rig| rig.write(peer, &vec![len as u8; len]));
            }
            Step::Read(peer) => self.transfer(peer, Opcode::Read),
            Step::Write(peer) => self.transfer(peer, Opcode::Write),
            Step::Atomic(peer) => {
                let peer = self.queue(peer) as u32;
                if !self.rig.start_atomic(peer, &Atomic::xor_8(1), LOCAL, 8) {
                    self.atomic(peer);
                }
            }
            Step::Fetch(peer) => {
                let queue = self.queue(peer);
                if let Some(done) = self.rig.fetch(queue as u32, &Atomic::xor_8(1), LOCAL, 8) {
                    done.expect("its completion");
                    self.see();
                    self.is_done(queue);
                }
            }
            Step::Wait(back) => {
                let Some(&(posted, queue, block)) = self.posts.iter().rev().nth(back) else {
                    return;
                };
                self.rig.lane.wait(posted).expect("its completion");
                assert!(device(|device| device.is_done(queue, block)));
            }
            Step::Drain(peer) => {
                let queue = self.queue(peer);
                self.rig.drain(queue as u32).expect("drain");
                self.see();
                self.is_done(queue);
            }
            Step::Quiet => {
                self.rig.quiet().expect("quiet");
                self.see();
                (0..self.expected.len()).for_each(|queue| self.is_done(queue));
            }
            Step::Fence => {
                self.rig.lane.fence();
                for queue in &mut self.expected {
                    queue.fence |= !queue.unfenced.is_empty();
                }
            }
            Step::Device(peer, count) => {
                let queue = self.queue(peer);
                device(|device| (0..count).for_each(|_| device.finish(queue)));
            }
            Step::Poll(count) => {
                for _ in 0..count {
                    self.rig.lane.poll().expect("no failure");
                }
            }
        }
        self.see();
    }

    fn transfer(&mut self, peer: u32, opcode: Opcode) {
        let peer = self.queue(peer) as u32;
        if self.rig.start(opcode, peer, LOCAL, 8) {
            return;
        }
        self.slow(peer, |rig| {
            let to = rig.to(peer, 8);
            // SAFETY: no device touches the memory.
            unsafe {
                match opcode {
                    Opcode::Read => rig.lane.read(to, LOCAL),
                    _ => rig.lane.write(to, LOCAL),
                }
            }
        });
    }

    fn atomic(&mut self, peer: u32) {
        let add = Atomic::add_8(1);
        self.slow(peer, |rig| {
            let to = rig.to(peer, 8);
            // SAFETY: no device touches the memory.
            unsafe { rig.lane.atomic(to, &add, LOCAL) }
        });
    }

    fn slow<E: std::fmt::Debug>(
        &mut self,
        peer: u32,
        post: impl FnOnce(&Rig) -> Result<Posted, E>,
    ) {
        let queue = self.queue(peer);
        let block = device(|device| device.seen(queue));
        let posted = post(&self.rig).expect("a post");
        self.posts.push((posted, queue, block));
    }

    /// Checks that no entry of a queue is left to do.
    fn is_done(&mut self, queue: usize) {
        assert!(device(|device| !device.is_pending(queue)));
        self.expected[queue].unfenced.clear();
        self.expected[queue].fence = false;
    }

    /// Looks at the posted entries.
    fn see(&mut self) {
        let log = device(|device| {
            device.look();
            std::mem::take(&mut device.log)
        });
        let alone = log.len() == 1;
        for taken in log {
            if alone {
                let copy = device(|device| device.half(self.half));
                assert_eq!(
                    copy[..taken.bytes.len()],
                    taken.bytes,
                    "the register's copy"
                );
            }
            self.half ^= 1;
            self.check(&taken);
        }
    }

    fn check(&mut self, taken: &Taken) {
        let quarter = self.rig.shape.blocks / 4;
        let first = device(|device| device.seen(taken.queue))
            - taken.bytes.len().div_ceil(BASIC_BLOCK) as u64;
        let expected = &mut self.expected[taken.queue];
        let undone = |&block: &u64| device(|device| !device.is_done(taken.queue, block));
        if expected.fence && expected.unfenced.iter().any(undone) {
            assert!(taken.fenced(), "it must wait for reads and atomics");
        }
        if taken.fenced() {
            assert!(expected.fence, "it need not wait");
        }
        if expected.fence {
            expected.unfenced.clear();
            expected.fence = false;
        }
        if [Opcode::Read, Opcode::FetchAdd, Opcode::MaskedFetchAdd]
            .map(Opcode::number)
            .contains(&taken.control.opcode())
        {
            expected.unfenced.push(first);
        }
        expected.silent = if taken.signalled() {
            0
        } else {
            expected.silent + 1
        };
        assert!(
            expected.silent <= quarter,
            "a completion for each quarter of the ring"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_nothing_overflows(
        shape in shape(),
        random: u64,
        steps in prop::collection::vec(step(), 1..600),
    ) {
        let mut run = Run::new(shape, random);
        for step in steps {
            run.step(step);
        }
        run.step(Step::Quiet);
        // Behind quiet nothing is asked of the device.
        run.step(Step::Quiet);
    }
}

#[test]
fn an_entry_of_long_ago_may_be_waited_for() {
    let mut run = Run::new(Shape::RC, 1);
    run.step(Step::Inline(0, 8));
    run.step(Step::Quiet);
    run.step(Step::Quiet);
    run.step(Step::Wait(0));
    run.step(Step::Inject(0));
    run.step(Step::Quiet);
}

#[test]
fn a_fence_marks_the_next_entry_alone() {
    for dynamic in [false, true] {
        let shape = if dynamic { Shape::DC } else { Shape::RC };
        let rig = Rig::new(shape);
        let flags = || {
            device(|device| {
                device.look();
                let log = std::mem::take(&mut device.log);
                log.iter()
                    .map(|taken| (taken.queue, taken.fenced()))
                    .collect::<Vec<_>>()
            })
        };
        let add = Atomic::add_8(1);
        // SAFETY: no device touches the memory.
        unsafe { rig.lane.atomic(rig.to(0, 8), &add, LOCAL) }.expect("a post");
        assert!(rig.inject(0, 1_u32, 8));
        rig.lane.fence();
        assert!(!rig.inject(0, 1_u32, 8), "the fence takes the slow path");
        rig.write(0, &[1]).expect("a post");
        assert!(rig.inject(0, 1_u32, 8));
        rig.lane.fence();
        assert!(rig.inject(0, 1_u32, 8), "nothing to wait for");
        assert_eq!(
            flags()
                .iter()
                .map(|&(_, fenced)| fenced)
                .collect::<Vec<_>>(),
            [false, false, true, false, false]
        );
        if !dynamic {
            rig.write(1, &[1]).expect("a post");
            assert_eq!(flags(), [(1, false)]);
        }
    }
}

#[test]
fn whether_an_entry_is_done_is_told_without_waiting() {
    let rig = Rig::new(Shape::RC);
    let first = rig.write(0, &[1; 8]).expect("room");
    let second = rig.write(0, &[2; 8]).expect("room");
    let is_done = |posted| rig.lane.is_done(posted).expect("no failure");
    assert!(!is_done(first));
    device(|device| {
        device.look();
        device.finish(0);
    });
    assert!(!is_done(second));
    assert!(is_done(first));
    device(|device| device.finish(0));
    assert!(is_done(second) && is_done(first));
}
