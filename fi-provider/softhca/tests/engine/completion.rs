//! Completion queues: rounds, sizes, overruns, events.

use crate::world::{Pair, World, signalled};
use fi_mlx5_defs::doorbell::Arm;
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::{Data, flags};
use softhca::engine::{AsyncKind, Config, QpState};

fn arm(sequence: u8, consumer: u32) -> Arm {
    Arm {
        sequence,
        solicited_only: false,
        consumer,
    }
}

#[test]
fn entries_of_both_sizes_go_round_and_round() {
    for size in [64, 128] {
        let mut world = World::new(Config::default());
        let client = world.client(1);
        let mut cq = world.cq(client, 4, size, None);
        let mut qp = world.qp(client, &cq, 8, 0);
        let number = qp.qpn;
        world.connect(&qp, number);
        for n in 0..41 {
            world.post(&mut qp, Opcode::Nop, signalled);
            let cqe = world.done(&mut cq);
            assert_eq!(cqe.wqe_counter.get(), n);
        }
    }
}

#[test]
fn the_last_byte_is_written_last() {
    let mut pair = Pair::new();
    pair.post(Opcode::Nop, signalled);
    pair.world.memory.writes.clear();
    pair.world.settle();
    let writes = &pair.world.memory.writes;
    let last = writes.last().unwrap();
    assert_eq!(last.2, 1);
    assert_eq!(last.1 % 64, 63);
    assert!(
        writes[..writes.len() - 1]
            .iter()
            .all(|w| w.1 + (w.2 as u64) <= last.1)
    );
}

#[test]
fn a_queue_that_overruns_fails_and_overwrites_nothing() {
    let mut world = World::new(Config::default());
    let client = world.client(1);
    let mut cq = world.cq(client, 4, 64, None);
    let mut qp = world.qp(client, &cq, 16, 0);
    let number = qp.qpn;
    world.connect(&qp, number);
    for _ in 0..6 {
        world.post(&mut qp, Opcode::Nop, signalled);
    }
    let kinds: Vec<_> = world
        .settle()
        .async_events
        .iter()
        .map(|event| event.kind)
        .collect();
    assert_eq!(kinds, [AsyncKind::CqError, AsyncKind::QpFatal]);
    assert_eq!(world.state(&qp), QpState::Error);
    let kept: Vec<u16> = world
        .drain(&mut cq)
        .iter()
        .map(|cqe| cqe.wqe_counter.get())
        .collect();
    assert_eq!(kept, [0, 1, 2, 3]);
}

#[test]
fn an_overrun_that_is_ignored_overwrites() {
    let mut world = World::new(Config::default());
    let client = world.client(1);
    let mut cq = world.cq_that(client, 4, 64, |init| init.ignore_overrun = true);
    let mut qp = world.qp(client, &cq, 16, 0);
    let number = qp.qpn;
    world.connect(&qp, number);
    for _ in 0..6 {
        world.post(&mut qp, Opcode::Nop, signalled);
    }
    assert!(world.settle().async_events.is_empty());
    assert!(world.poll(&mut cq).is_none(), "slot 0 is of the next round");
    cq.consumer = 4;
    let later: Vec<u16> = std::iter::from_fn(|| world.poll(&mut cq))
        .map(|cqe| cqe.wqe_counter.get())
        .collect();
    assert_eq!(later, [4, 5]);
}

#[test]
fn the_first_arming_is_seen_though_it_writes_zero() {
    let mut pair = Pair::new();
    pair.post(Opcode::Nop, signalled);
    assert!(pair.world.settle().completions.is_empty(), "not armed yet");
    let mut pair = Pair::new();
    pair.world.arm(&pair.cq[0], arm(0, 0));
    assert!(
        pair.world.settle().completions.is_empty(),
        "nothing to tell yet"
    );
    pair.post(Opcode::Nop, signalled);
    let events = pair.world.settle().completions;
    assert_eq!(events.len(), 1);
    assert_eq!(
        (events[0].cqn, events[0].channel, events[0].user_handle),
        (pair.cq[0].cqn, 1, 0xc0)
    );
    pair.post(Opcode::Nop, signalled);
    assert!(
        pair.world.settle().completions.is_empty(),
        "one event for one arming"
    );
    pair.world.arm(&pair.cq[0], arm(1, 1));
    assert_eq!(
        pair.world.settle().completions.len(),
        1,
        "an entry is there already"
    );
    pair.world.arm(&pair.cq[0], arm(2, 2));
    assert!(
        pair.world.settle().completions.is_empty(),
        "all entries were seen"
    );
}

#[test]
fn a_record_that_is_gone_keeps_no_event_from_the_others() {
    let mut world = World::new(Config::default());
    let client = world.client(1);
    let cq = world.cq(client, 4, 64, Some(1));
    let mut qp = world.qp(client, &cq, 8, 0);
    let number = qp.qpn;
    world.connect(&qp, number);
    let gone = world.cq(client, 4, 64, Some(2));
    world.memory.cut(client.pid, gone.db);
    world.arm(&cq, arm(0, 0));
    world.post(&mut qp, Opcode::Nop, signalled);
    let events = world.settle().completions;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].cqn, cq.cqn);
}

#[test]
fn an_entry_is_told_once_however_often_the_queue_is_armed() {
    let mut pair = Pair::new();
    pair.world.arm(&pair.cq[0], arm(0, 0));
    pair.post(Opcode::Nop, signalled);
    assert_eq!(pair.world.settle().completions.len(), 1);
    // As programs do that arm before they look.
    pair.world.arm(&pair.cq[0], arm(1, 0));
    assert!(pair.world.settle().completions.is_empty());
    pair.post(Opcode::Nop, signalled);
    assert_eq!(pair.world.settle().completions.len(), 1);
    assert_eq!(pair.drain(0).len(), 2);
    pair.world.arm(&pair.cq[0], arm(2, 2));
    assert!(pair.world.settle().completions.is_empty());
}

#[test]
fn solicited_events_wait_for_solicited_entries_or_errors() {
    let solicited = |sequence, consumer| Arm {
        sequence,
        solicited_only: true,
        consumer,
    };
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    for _ in 0..3 {
        pair.world
            .receive(&mut pair.qp[1], &[Data::new(there.addr, 8, there.key())]);
    }
    pair.world.arm(&pair.cq[1], solicited(0, 0));
    pair.post(Opcode::Send, |e| e.inline(b"quiet"));
    assert!(pair.world.settle().completions.is_empty());
    pair.post(Opcode::Send, |e| e.flags(flags::SOLICITED).inline(b"loud"));
    assert_eq!(pair.world.settle().completions.len(), 1);
    let solicited_bits: Vec<bool> = pair.drain(1).iter().map(|cqe| cqe.solicited()).collect();
    assert_eq!(solicited_bits, [false, true]);
    pair.world.arm(&pair.cq[1], solicited(1, 2));
    assert!(pair.world.settle().completions.is_empty());
    pair.world.modify(&pair.qp[1], QpState::Error, 0, |_| {});
    assert_eq!(pair.world.settle().completions.len(), 1, "an error is told");
}

#[test]
fn entries_from_before_the_arming_do_not_count() {
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    for n in 0..4 {
        pair.world
            .receive(&mut pair.qp[1], &[Data::new(there.addr, 8, there.key())]);
        let solicited = if n == 2 { flags::SOLICITED } else { 0 };
        pair.post(Opcode::Send, |e| {
            e.flags(solicited | flags::COMPLETION).inline(b"unheard")
        });
    }
    assert_eq!(pair.drain(0).len(), 4);
    pair.world.arm(&pair.cq[0], arm(0, 4));
    assert!(
        pair.world.settle().completions.is_empty(),
        "all were taken before"
    );
    assert_eq!(pair.drain(1).len(), 4);
    let solicited = Arm {
        sequence: 0,
        solicited_only: true,
        consumer: 3,
    };
    pair.world.arm(&pair.cq[1], solicited);
    assert!(
        pair.world.settle().completions.is_empty(),
        "the solicited one was taken before"
    );
}

#[test]
fn a_queue_without_a_channel_tells_nobody() {
    let mut world = World::new(Config::default());
    let client = world.client(1);
    let cq = world.cq(client, 4, 64, None);
    let mut qp = world.qp(client, &cq, 8, 0);
    let number = qp.qpn;
    world.connect(&qp, number);
    world.arm(&cq, arm(0, 0));
    world.post(&mut qp, Opcode::Nop, signalled);
    assert!(world.settle().completions.is_empty());
}
