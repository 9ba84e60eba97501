//! Every operation over a reliable connection, with its data.

use crate::world::{ALL, Pair, signalled};
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::endian::{Be32, Be64};
use fi_mlx5_defs::opcode::{CqeOpcode, Opcode};
use fi_mlx5_defs::wqe::{
    Atomic, Data, MaskedCompareSwap32, MaskedCompareSwap64, MaskedFetchAdd32, MaskedFetchAdd64,
    flags, masked_modifier,
};
use softhca::engine::{Config, QpState};

#[test]
fn send_gathers_and_receive_scatters() {
    let mut pair = Pair::new();
    let [here, there] = pair.buffer;
    pair.fill(0, 0, b"one, ");
    pair.fill(0, 100, b"two, ");
    let to = [
        Data::new(there.addr + 8, 3, there.key()),
        Data::new(there.addr + 64, 100, there.key()),
    ];
    pair.world.receive(&mut pair.qp[1], &to);
    pair.post(Opcode::SendImmediate, |entry| {
        signalled(entry)
            .immediate(0xdead_beef)
            .data(here.addr, 5, here.key())
            .data(here.addr + 100, 5, here.key())
            .inline(b"three")
    });
    let sent = pair.done();
    assert_eq!(
        (sent.opcode_qpn.get() >> 24, sent.qpn()),
        (0x0b, pair.qp[0].qpn)
    );
    assert_eq!((sent.user_index.get(), sent.wqe_counter.get()), (0x77, 0));
    assert_eq!(pair.bytes(1, 8, 3), b"one");
    assert_eq!(pair.bytes(1, 64, 13), b", two, three\0");
    let received = pair.drain(1);
    assert_eq!(received.len(), 1);
    let cqe = received[0];
    assert_eq!(cqe.opcode(), Some(CqeOpcode::ReceiveSendImmediate));
    assert_eq!(
        (cqe.immediate.get(), cqe.byte_count.get()),
        (0xdead_beef, 15)
    );
    assert_eq!(
        (cqe.qpn(), cqe.flags_remote_qpn.get()),
        (pair.qp[1].qpn, pair.qp[0].qpn)
    );
    assert_eq!(
        (cqe.wqe_counter.get(), cqe.user_index.get(), cqe.slid.get()),
        (0, 0x77, 1)
    );
}

#[test]
fn an_empty_send_takes_a_receive() {
    let mut pair = Pair::new();
    pair.world.receive(&mut pair.qp[1], &[]);
    pair.post(Opcode::Send, signalled);
    pair.done();
    let received = pair.drain(1);
    assert_eq!((received.len(), received[0].byte_count.get()), (1, 0));
    assert_eq!(received[0].opcode(), Some(CqeOpcode::ReceiveSend));
}

#[test]
fn writes_inline_and_gathered() {
    let mut pair = Pair::new();
    let [here, there] = pair.buffer;
    pair.post(Opcode::Write, |entry| {
        signalled(entry)
            .remote(there.addr + 40, there.key())
            .inline(&[1, 2, 3, 4, 5, 6, 7, 8])
    });
    pair.done();
    assert_eq!(pair.bytes(1, 39, 10), [0, 1, 2, 3, 4, 5, 6, 7, 8, 0]);
    let data: Vec<u8> = (0..2000).map(|n: u32| (n % 253) as u8).collect();
    pair.fill(0, 0, &data);
    pair.post(Opcode::Write, |entry| {
        signalled(entry)
            .remote(there.addr + 1, there.key())
            .data(here.addr, 999, here.key())
            .inline(b"middle")
            .data(here.addr + 999, 1001, here.key())
    });
    assert_eq!(pair.done().wqe_counter.get(), 1);
    let expected = [&data[..999], b"middle", &data[999..]].concat();
    assert_eq!(pair.bytes(1, 1, 2006), expected);
    assert!(
        pair.drain(1).is_empty(),
        "the peer learns nothing of a write"
    );
}

#[test]
fn an_inline_write_of_eight_bytes_is_one_write() {
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    pair.post(Opcode::Write, |entry| {
        entry.remote(there.addr + 8, there.key()).inline(&[9; 8])
    });
    pair.world.memory.writes.clear();
    pair.world.settle();
    assert_eq!(pair.world.memory.writes, [(20, there.addr + 8, 8)]);
}

#[test]
fn write_with_immediate_takes_a_receive_and_leaves_its_buffer() {
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    pair.world.receive(
        &mut pair.qp[1],
        &[Data::new(there.addr + 512, 64, there.key())],
    );
    pair.post(Opcode::WriteImmediate, |entry| {
        signalled(entry)
            .immediate(77)
            .remote(there.addr, there.key())
            .inline(b"written")
    });
    pair.done();
    assert_eq!(pair.bytes(1, 0, 7), b"written");
    assert_eq!(pair.bytes(1, 512, 7), [0; 7]);
    let received = pair.drain(1);
    assert_eq!(received[0].opcode(), Some(CqeOpcode::ReceiveWriteImmediate));
    assert_eq!(
        (received[0].immediate.get(), received[0].byte_count.get()),
        (77, 7)
    );
}

#[test]
fn write_with_immediate_writes_nothing_before_there_is_a_receive() {
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    pair.post(Opcode::WriteImmediate, |entry| {
        signalled(entry)
            .remote(there.addr, there.key())
            .inline(b"written")
    });
    assert!(pair.world.settle().waiting);
    assert_eq!(pair.bytes(1, 0, 7), [0; 7]);
    pair.world.receive(&mut pair.qp[1], &[]);
    pair.done();
    assert_eq!(pair.bytes(1, 0, 7), b"written");
}

#[test]
fn reads_scatter() {
    let mut pair = Pair::new();
    let [here, there] = pair.buffer;
    pair.fill(1, 300, b"far away");
    pair.post(Opcode::Read, |entry| {
        signalled(entry)
            .remote(there.addr + 300, there.key())
            .data(here.addr + 10, 3, here.key())
            .data(here.addr + 20, 5, here.key())
    });
    assert_eq!(pair.done().byte_count.get(), 8);
    assert_eq!(pair.bytes(0, 10, 4), b"far\0");
    assert_eq!(pair.bytes(0, 20, 6), b" away\0");
}

/// Executes an atomic on `old` of `size` bytes and returns the value that the requester got, and
/// the value that is left.
fn atomic(
    opcode: Opcode,
    size: usize,
    old: u64,
    operands: impl FnOnce(Entry) -> Entry,
) -> (u64, u64) {
    let mut pair = Pair::new();
    let [here, there] = pair.buffer;
    pair.fill(0, 0, &[0xee; 16]);
    pair.fill(1, 0, &[0xee; 16]);
    let at = 8 - size as u64;
    pair.fill(1, at, &old.to_ne_bytes()[..size]);
    pair.post(opcode, |entry| {
        let entry = signalled(entry).remote(there.addr + at, there.key());
        operands(entry).data(here.addr, size as u32, here.key())
    });
    assert_eq!(pair.done().byte_count.get(), size as u32);
    let mut got = [0; 8];
    let mut left = [0; 8];
    got[..size].copy_from_slice(&pair.bytes(0, 0, size));
    left[..size].copy_from_slice(&pair.bytes(1, at, size));
    assert_eq!(
        pair.bytes(0, size as u64, 8),
        [0xee; 8],
        "behind the result"
    );
    assert_eq!(pair.bytes(1, 8, 8), [0xee; 8], "behind the word");
    if size == 4 {
        assert_eq!(pair.bytes(1, 0, 4), [0xee; 4], "before the word");
        // Results of 4 bytes are big-endian.
        got[..4].reverse();
    }
    (u64::from_ne_bytes(got), u64::from_ne_bytes(left))
}

/// Hardware is told the logarithm of their number, which has no word for none.
#[test]
fn a_requester_that_names_no_reads_has_one() {
    let mut pair = Pair::new();
    let [here, there] = pair.buffer;
    let peer = pair.qp[1].qpn;
    let qp = &pair.qp[0];
    pair.world.modify(qp, QpState::Reset, 0, |_| {});
    pair.world.enter_init(qp, ALL);
    pair.world.enter_receive(qp, peer, |_| {});
    pair.world.enter_send(qp, |attr| attr.max_rd_atomic = 0);
    pair.fill(1, 0, b"word");
    pair.post(Opcode::Read, |entry| {
        let entry = signalled(entry).remote(there.addr, there.key());
        entry.data(here.addr, 4, here.key())
    });
    assert_eq!(pair.done().opcode(), Some(CqeOpcode::Requester));
    assert_eq!(pair.bytes(0, 0, 4), b"word");
}

#[test]
fn plain_atomics() {
    let operands = |swap_or_add: u64, compare: u64| {
        let segment = Atomic {
            swap_or_add: swap_or_add.into(),
            compare: compare.into(),
        };
        move |entry: Entry| entry.segment(&segment)
    };
    let old = 0x0102_0304_0506_0708;
    assert_eq!(
        atomic(Opcode::FetchAdd, 8, old, operands(0x10, 0)),
        (old, old + 0x10)
    );
    assert_eq!(
        atomic(Opcode::FetchAdd, 8, u64::MAX, operands(2, 0)),
        (u64::MAX, 1)
    );
    assert_eq!(
        atomic(Opcode::CompareSwap, 8, old, operands(9, old)),
        (old, 9)
    );
    assert_eq!(
        atomic(Opcode::CompareSwap, 8, old, operands(9, old + 1)),
        (old, old)
    );
}

#[test]
fn masked_atomics_of_eight_bytes() {
    let size = 8;
    let cas = |swap: u64, compare: u64, swap_mask: u64, compare_mask: u64| {
        let segment = MaskedCompareSwap64 {
            swap: Be64::new(swap),
            compare: Be64::new(compare),
            swap_mask: Be64::new(swap_mask),
            compare_mask: Be64::new(compare_mask),
        };
        move |entry: Entry| entry.modifier(masked_modifier(size)).segment(&segment)
    };
    let add = |add: u64, field_boundary: u64| {
        let segment = MaskedFetchAdd64 {
            add: add.into(),
            field_boundary: field_boundary.into(),
        };
        move |entry: Entry| entry.modifier(masked_modifier(size)).segment(&segment)
    };
    let old = 0xf0f0_0000_1234_5678;
    let v = 0x00ff_00ff_00ff_00ff;
    let run = |operands: &dyn Fn(Entry) -> Entry, opcode| atomic(opcode, size, old, operands);
    let swap = Opcode::MaskedCompareSwap;
    assert_eq!(run(&cas(v, 0, v, 0), swap), (old, old | v));
    assert_eq!(run(&cas(0, 0, !v, 0), swap), (old, old & v));
    assert_eq!(run(&cas(v, 0, u64::MAX, 0), swap), (old, v));
    assert_eq!(run(&cas(v, 0x78, 0xff00, 0xff), swap), (old, old & !0xff00));
    assert_eq!(run(&cas(v, 0x79, 0xff00, 0xff), swap), (old, old));
    assert_eq!(
        run(&add(v, u64::MAX), Opcode::MaskedFetchAdd),
        (old, old ^ v)
    );
    assert_eq!(run(&add(5, 0), Opcode::MaskedFetchAdd), (old, old + 5));
    assert_eq!(
        run(&add(0xffff_ffff, 1 << 31), Opcode::MaskedFetchAdd),
        (old, old - 1)
    );
}

#[test]
fn masked_atomics_of_four_bytes() {
    let size = 4;
    let cas = |swap: u32, compare: u32, swap_mask: u32, compare_mask: u32| {
        let segment = MaskedCompareSwap32 {
            swap: Be32::new(swap),
            compare: Be32::new(compare),
            swap_mask: Be32::new(swap_mask),
            compare_mask: Be32::new(compare_mask),
        };
        move |entry: Entry| entry.modifier(masked_modifier(size)).segment(&segment)
    };
    let add = |add: u32, field_boundary: u32| {
        let segment = MaskedFetchAdd32 {
            add: add.into(),
            field_boundary: field_boundary.into(),
            reserved: [0; 8],
        };
        move |entry: Entry| entry.modifier(masked_modifier(size)).segment(&segment)
    };
    let old = 0xffff_fff0;
    let v = 0x00ff_00ff;
    let run = |operands: &dyn Fn(Entry) -> Entry, opcode| atomic(opcode, size, old, operands);
    let swap = Opcode::MaskedCompareSwap;
    assert_eq!(run(&cas(v, 0, v, 0), swap), (old, old | u64::from(v)));
    assert_eq!(run(&cas(0, 0, !v, 0), swap), (old, old & u64::from(v)));
    assert_eq!(run(&cas(v, 0, u32::MAX, 0), swap), (old, u64::from(v)));
    assert_eq!(
        run(&cas(v, old as u32, u32::MAX, u32::MAX), swap),
        (old, u64::from(v))
    );
    assert_eq!(run(&cas(v, 0, u32::MAX, u32::MAX), swap), (old, old));
    assert_eq!(
        run(&add(v, u32::MAX), Opcode::MaskedFetchAdd),
        (old, old ^ u64::from(v))
    );
    assert_eq!(run(&add(0x20, 0), Opcode::MaskedFetchAdd), (old, 0x10));
}

#[test]
fn a_nop_does_nothing_and_completes() {
    let mut pair = Pair::new();
    pair.post(Opcode::Nop, signalled);
    pair.done();
    assert!(pair.drain(1).is_empty());
}

#[test]
fn unsignalled_entries_complete_with_the_next_signalled_one() {
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    for n in 0..9_u64 {
        pair.post(Opcode::Write, |entry| {
            let entry = if n == 8 { signalled(entry) } else { entry };
            entry
                .remote(there.addr + n, there.key())
                .inline(&[n as u8 + 1])
        });
    }
    assert_eq!(pair.done().wqe_counter.get(), 8);
    assert_eq!(pair.bytes(1, 0, 10), [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
}

#[test]
fn entries_wrap_around_the_ring_and_indices_around_their_field() {
    let mut pair = Pair::with(Config::default(), 8, 8);
    let [here, there] = pair.buffer;
    let mut blocks = 0_u32;
    let mut round = 0_u64;
    while blocks <= 0x1_0100 {
        let len = (round * 37 % 400) as usize;
        let data: Vec<u8> = (0..len).map(|n| (n as u64 + round) as u8).collect();
        pair.fill(1, 0, &[0; 400]);
        let index = pair.qp[0].producer;
        pair.post(Opcode::Write, |entry| {
            let entry = signalled(entry)
                .remote(there.addr, there.key())
                .inline(&data);
            entry.data(here.addr, 1, here.key())
        });
        blocks += u32::from(pair.qp[0].producer.wrapping_sub(index));
        assert_eq!(pair.done().wqe_counter.get(), index);
        assert_eq!(pair.bytes(1, 0, len), data);
        round += 1;
    }
}

#[test]
fn a_fenced_write_sees_the_read_before_it() {
    let mut pair = Pair::new();
    let [here, there] = pair.buffer;
    pair.fill(1, 0, &[5; 8]);
    pair.post(Opcode::Read, |entry| {
        entry
            .remote(there.addr, there.key())
            .data(here.addr, 8, here.key())
    });
    pair.post(Opcode::Write, |entry| {
        let entry = entry.flags(flags::COMPLETION | flags::FENCE);
        entry
            .remote(there.addr + 64, there.key())
            .data(here.addr, 8, here.key())
    });
    pair.post(Opcode::Write, |entry| {
        let entry = entry.flags(flags::SMALL_FENCE);
        entry
            .remote(there.addr + 72, there.key())
            .data(here.addr, 8, here.key())
    });
    assert_eq!(pair.done().wqe_counter.get(), 1);
    assert_eq!(pair.bytes(1, 64, 17), [&[5; 16][..], &[0]].concat());
}

#[test]
fn a_burst_is_bounded_and_the_rest_follows() {
    let mut pair = Pair::with(
        Config {
            burst: 2,
            ..Config::default()
        },
        16,
        8,
    );
    for _ in 0..5 {
        pair.post(Opcode::Nop, signalled);
    }
    let progress = pair.world.step();
    assert!(progress.more && progress.worked);
    let first: Vec<_> = std::iter::from_fn(|| pair.world.poll(&mut pair.cq[0])).collect();
    assert_eq!(first.len(), 2);
    assert_eq!(pair.drain(0).len(), 3);
    assert!(!pair.world.step().worked);
}

#[test]
fn a_turn_is_bounded_in_bytes_too() {
    let config = Config {
        burst_bytes: 100,
        ..Config::default()
    };
    let mut pair = Pair::with(config, 16, 8);
    let there = pair.buffer[1];
    for _ in 0..5 {
        pair.post(Opcode::Write, |e| {
            signalled(e)
                .remote(there.addr, there.key())
                .inline(&[1; 40])
        });
    }
    assert!(pair.world.step().more);
    let first = std::iter::from_fn(|| pair.world.poll(&mut pair.cq[0])).count();
    assert_eq!(first, 3);
    assert_eq!(pair.drain(0).len(), 2);
}

#[test]
fn by_a_seed_queue_pairs_are_left_alone_and_keep_their_order() {
    let config = Config {
        delay_seed: Some(1),
        ..Config::default()
    };
    let mut pair = Pair::with(config, 64, 8);
    let there = pair.buffer[1];
    let mut waits = 0;
    for n in (0..60_u8).step_by(3) {
        for value in n..n + 3 {
            pair.post(Opcode::Write, |e| {
                signalled(e)
                    .remote(there.addr, there.key())
                    .inline(&[value; 4])
            });
        }
        let mut seen = Vec::new();
        while seen.len() < 3 {
            let progress = pair.world.step();
            let taken = std::iter::from_fn(|| pair.world.poll(&mut pair.cq[0]));
            seen.extend(taken.map(|cqe| cqe.wqe_counter.get()));
            assert_eq!(progress.waiting, !progress.worked);
            waits += u32::from(progress.waiting);
        }
        assert!(seen.is_sorted(), "{seen:?}");
        assert_eq!(pair.bytes(1, 0, 4), [n + 2; 4]);
    }
    assert!(waits > 100, "{waits} steps in which nothing was done");
}

#[test]
fn a_queue_pair_connected_to_itself() {
    let mut pair = Pair::new();
    let client = pair.qp[0].client;
    let mut cq = pair.world.cq(client, 16, 64, None);
    let mut own = pair.world.qp(client, &cq, 8, 4);
    let number = own.qpn;
    pair.world.connect(&own, number);
    let here = pair.buffer[0];
    pair.world
        .receive(&mut own, &[Data::new(here.addr, 16, here.key())]);
    pair.world.post(&mut own, Opcode::Send, |entry| {
        signalled(entry).inline(b"to myself")
    });
    let all = pair.world.drain(&mut cq);
    assert_eq!(all.len(), 2);
    assert_eq!(pair.bytes(0, 0, 9), b"to myself");
}
