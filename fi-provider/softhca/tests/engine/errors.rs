//! Wrong keys, ranges and rights; peers that are not ready or not there; the entries that an error
//! flushes.

use crate::world::{ALL, Pair, RC_INIT, World, signalled, syndrome};
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::opcode::{CqeOpcode, Opcode, Syndrome};
use fi_mlx5_defs::wqe::{Atomic, Data};
use softhca::engine::{Access, AsyncKind, Config, QpState};

const MS: u64 = 1_000_000;

/// Posts an entry that must fail, one behind it, and a receive, and checks their completions.
fn fails(
    mut pair: Pair,
    opcode: Opcode,
    build: impl FnOnce(Entry) -> Entry,
    why: Syndrome,
) -> Pair {
    pair.world.receive(&mut pair.qp[0], &[]);
    let first = pair.qp[0].producer;
    pair.post(opcode, build);
    let second = pair.qp[0].producer;
    pair.post(Opcode::Nop, |entry| entry);
    let all = pair.drain(0);
    let told: Vec<_> = all
        .iter()
        .map(|cqe| (cqe.opcode().unwrap(), syndrome(cqe).unwrap()))
        .collect();
    let flushed = Syndrome::Flushed;
    assert_eq!(
        told,
        [
            (CqeOpcode::RequesterError, why),
            (CqeOpcode::RequesterError, flushed),
            (CqeOpcode::ResponderError, flushed),
        ]
    );
    assert_eq!(
        (all[0].wqe_counter.get(), all[1].wqe_counter.get()),
        (first, second)
    );
    assert_eq!(all[0].opcode_qpn.get() >> 24, opcode.number().into());
    assert_eq!(pair.states()[0], QpState::Error);
    pair
}

#[test]
fn the_remote_key_the_range_and_the_rights_count() {
    let read_only = Access(Access::REMOTE_READ);
    let cases: [(Opcode, Access, u32, u64); 7] = [
        (Opcode::Write, ALL, 1, 0),
        (Opcode::Write, ALL, 0x100, 0),
        (Opcode::Write, ALL, 0, 4089),
        (Opcode::Write, ALL, 0, u64::MAX - 3),
        (Opcode::Write, read_only, 0, 0),
        (
            Opcode::Read,
            Access(Access::LOCAL_WRITE | Access::REMOTE_WRITE),
            0,
            0,
        ),
        (
            Opcode::FetchAdd,
            Access(Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ),
            0,
            0,
        ),
    ];
    for (opcode, access, key_off, offset) in cases {
        let mut pair = Pair::new();
        let client = pair.qp[1].client;
        let there = pair.world.buffer(client, 4096, access);
        let here = pair.buffer[0];
        let before = pair.world.memory.bytes(20, there.addr, 4096);
        let mut pair = fails(
            pair,
            opcode,
            |entry| {
                let entry = entry.remote(there.addr.wrapping_add(offset), there.key() ^ key_off);
                let entry = if opcode == Opcode::FetchAdd {
                    entry.segment(&Atomic::default())
                } else {
                    entry
                };
                entry.data(here.addr, 8, here.key())
            },
            Syndrome::RemoteAccess,
        );
        assert_eq!(pair.states()[1], QpState::Error, "the responder fails, too");
        assert_eq!(pair.world.memory.bytes(20, there.addr, 4096), before);
    }
}

#[test]
fn the_responder_is_told_of_refused_access() {
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    pair.world.receive(&mut pair.qp[1], &[]);
    pair.post(Opcode::Write, |entry| {
        entry.remote(there.addr, 0).inline(&[1])
    });
    let events = pair.world.settle().async_events;
    assert_eq!(events.len(), 1);
    assert_eq!(
        (events[0].kind, events[0].element),
        (AsyncKind::QpAccessError, 0xa0)
    );
    assert_eq!(events[0].context, pair.qp[1].client.context);
    let flushed = pair.drain(1);
    assert_eq!(
        (flushed.len(), syndrome(&flushed[0])),
        (1, Some(Syndrome::Flushed))
    );
}

#[test]
fn a_key_of_another_domain_or_of_the_past_is_wrong() {
    let mut pair = Pair::new();
    let client = pair.qp[1].client;
    let pd = pair.world.engine.alloc_pd(client.context).unwrap();
    let addr = pair.buffer[1].addr;
    let keys = pair
        .world
        .engine
        .reg_mr(client.context, pd, addr, 8, addr, ALL)
        .unwrap();
    fails(
        pair,
        Opcode::Write,
        |e| e.remote(addr, keys.rkey).inline(&[1]),
        Syndrome::RemoteAccess,
    );
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    let client = pair.qp[1].client;
    pair.world
        .engine
        .dereg_mr(client.context, there.keys.handle)
        .unwrap();
    fails(
        pair,
        Opcode::Write,
        |e| e.remote(there.addr, there.key()).inline(&[1]),
        Syndrome::RemoteAccess,
    );
}

#[test]
fn the_local_key_the_range_and_the_right_count() {
    type Wrong = fn(u64, u32, u32) -> (u64, u32);
    let cases: [(Opcode, Wrong); 4] = [
        (Opcode::Write, |addr, key, _| (addr, key ^ 1)),
        (Opcode::Write, |addr, key, _| (addr + 4089, key)),
        (Opcode::Read, |addr, _, theirs| (addr, theirs)),
        (Opcode::Send, |addr, key, _| (addr - 1, key)),
    ];
    for (opcode, wrong) in cases {
        let mut pair = Pair::new();
        let there = pair.buffer[1];
        let here = pair.buffer[0];
        let (addr, key) = wrong(here.addr, here.key(), there.key());
        pair.world
            .receive(&mut pair.qp[1], &[Data::new(there.addr, 64, there.key())]);
        let pair = fails(
            pair,
            opcode,
            |entry| {
                let entry = if opcode == Opcode::Send {
                    entry
                } else {
                    entry.remote(there.addr, there.key())
                };
                entry.data(addr, 8, key)
            },
            Syndrome::LocalProtection,
        );
        assert_eq!(
            pair.states()[1],
            QpState::ReadyToSend,
            "the responder saw nothing of it"
        );
    }
    let mut pair = Pair::new();
    let (client, there) = (pair.qp[0].client, pair.buffer[1]);
    let constant = pair.world.buffer(client, 64, Access(0));
    let read = |entry: Entry| {
        entry
            .remote(there.addr, there.key())
            .data(constant.addr, 8, constant.key())
    };
    let pair = fails(pair, Opcode::Read, read, Syndrome::LocalProtection);
    drop(pair);
}

#[test]
fn the_rights_of_the_queue_pair_count() {
    let cases = [
        (Opcode::Write, ALL.0 & !Access::REMOTE_WRITE, 16),
        (Opcode::Read, ALL.0 & !Access::REMOTE_READ, 16),
        (Opcode::FetchAdd, ALL.0 & !Access::REMOTE_ATOMIC, 16),
        (Opcode::Read, ALL.0, 0),
    ];
    for (opcode, access, reads) in cases {
        let mut pair = Pair::new();
        let [here, there] = pair.buffer;
        let number = pair.qp[0].qpn;
        pair.world.modify(&pair.qp[1], QpState::Reset, 0, |_| {});
        pair.world.enter_init(&pair.qp[1], Access(access));
        pair.world
            .enter_receive(&pair.qp[1], number, |attr| attr.max_dest_rd_atomic = reads);
        let build = |entry: Entry| {
            let entry = entry.remote(there.addr, there.key());
            let entry = if opcode == Opcode::FetchAdd {
                entry.segment(&Atomic::default())
            } else {
                entry
            };
            entry.data(here.addr, 8, here.key())
        };
        fails(pair, opcode, build, Syndrome::RemoteInvalidRequest);
    }
}

#[test]
fn atomics_are_aligned_and_have_room_for_the_result() {
    let pair = Pair::new();
    let [here, there] = pair.buffer;
    let build = |entry: Entry| {
        let entry = entry
            .remote(there.addr + 4, there.key())
            .segment(&Atomic::default());
        entry.data(here.addr, 8, here.key())
    };
    fails(
        pair,
        Opcode::FetchAdd,
        build,
        Syndrome::RemoteInvalidRequest,
    );
    let build = |entry: Entry| {
        let entry = entry
            .remote(there.addr, there.key())
            .segment(&Atomic::default());
        entry.data(here.addr, 4, here.key())
    };
    fails(Pair::new(), Opcode::FetchAdd, build, Syndrome::LocalLength);
}

#[test]
fn entries_that_are_none() {
    let malformed = Syndrome::LocalQpOperation;
    let pair = Pair::new();
    let there = pair.buffer[1];
    fails(pair, Opcode::Umr, |e| e.inline(&[0; 4]), malformed);
    fails(
        Pair::new(),
        Opcode::SendInvalidate,
        |e| e.inline(&[0; 4]),
        malformed,
    );
    fails(Pair::new(), Opcode::Write, |e| e, malformed);
    fails(
        Pair::new(),
        Opcode::MaskedFetchAdd,
        |e| e.modifier(2).remote(0, 0).segment(&[0_u64; 2]),
        malformed,
    );
    fails(
        Pair::new(),
        Opcode::Read,
        |e| e.remote(there.addr, there.key()).inline(&[0; 4]),
        malformed,
    );
    // The wrong queue pair, the wrong index, no length, a length beyond the posted blocks.
    let change: [fn(&mut [u8]); 4] = [|b| b[6] ^= 1, |b| b[2] ^= 1, |b| b[7] = 0, |b| b[7] = 5];
    for change in change {
        let mut pair = Pair::new();
        let entry = Entry::new(Opcode::Nop, 0, pair.qp[0].qpn);
        let mut bytes = entry.finish().unwrap();
        change(&mut bytes);
        pair.world.post_bytes(&mut pair.qp[0], &bytes);
        let all = pair.drain(0);
        assert_eq!((all.len(), syndrome(&all[0])), (1, Some(malformed)));
    }
}

#[test]
fn a_message_that_does_not_fit_fails_both_sides() {
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    pair.world
        .receive(&mut pair.qp[1], &[Data::new(there.addr, 7, there.key())]);
    pair.world.receive(&mut pair.qp[1], &[]);
    let mut pair = fails(
        pair,
        Opcode::Send,
        |e| e.inline(&[1; 8]),
        Syndrome::RemoteInvalidRequest,
    );
    let told: Vec<_> = pair.drain(1).iter().map(syndrome).collect();
    assert_eq!(told, [Some(Syndrome::LocalLength), Some(Syndrome::Flushed)]);
    assert_eq!(pair.states()[1], QpState::Error);
}

#[test]
fn a_receive_with_a_wrong_key_fails_both_sides() {
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    pair.world.receive(
        &mut pair.qp[1],
        &[Data::new(there.addr, 8, there.key() ^ 1)],
    );
    let mut pair = fails(
        pair,
        Opcode::Send,
        |e| e.inline(&[1; 8]),
        Syndrome::RemoteOperation,
    );
    let told: Vec<_> = pair.drain(1).iter().map(syndrome).collect();
    assert_eq!(told, [Some(Syndrome::LocalProtection)]);
    assert_eq!(pair.bytes(1, 0, 8), [0; 8]);
}

#[test]
fn a_send_waits_for_a_receive_and_holds_up_what_follows() {
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    pair.post(Opcode::Send, |e| signalled(e).inline(b"late"));
    pair.post(Opcode::Write, |e| {
        signalled(e)
            .remote(there.addr + 64, there.key())
            .inline(b"later")
    });
    assert!(pair.world.settle().waiting);
    pair.world.now = 3_600_000 * MS;
    assert!(pair.drain(0).is_empty(), "7 retries are for ever");
    assert_eq!(pair.bytes(1, 64, 5), [0; 5]);
    pair.world
        .receive(&mut pair.qp[1], &[Data::new(there.addr, 8, there.key())]);
    assert_eq!(pair.drain(0).len(), 2);
    assert_eq!(pair.bytes(1, 0, 4), b"late");
    assert_eq!(pair.bytes(1, 64, 5), b"later");
}

#[test]
fn retries_for_a_receive_are_counted_in_the_peers_time() {
    let mut pair = Pair::new();
    let number = pair.qp[1].qpn;
    pair.world.modify(&pair.qp[0], QpState::Reset, 0, |_| {});
    pair.world.enter_init(&pair.qp[0], ALL);
    pair.world.enter_receive(&pair.qp[0], number, |_| {});
    // Code 12 is 0.64 ms.
    pair.world
        .enter_send(&pair.qp[0], |attr| attr.rnr_retry = 3);
    pair.post(Opcode::Send, |e| e.inline(b"late"));
    assert!(pair.drain(0).is_empty());
    pair.world.now = 3 * 640_000 - 1;
    assert!(pair.drain(0).is_empty());
    pair.world.now += 1;
    let told: Vec<_> = pair.drain(0).iter().map(syndrome).collect();
    assert_eq!(told, [Some(Syndrome::ReceiverNotReadyRetryExceeded)]);
}

#[test]
fn packets_that_count_from_elsewhere_are_not_answered() {
    let mut world = World::new(Config::default());
    let clients = [world.client(10), world.client(20)];
    let mut cq = clients.map(|client| world.cq(client, 64, 64, Some(1)));
    let mut ends = |received: [u32; 2]| {
        let mut qp = [0, 1].map(|n| world.qp(clients[n], &cq[n], 16, 8));
        for n in 0..2 {
            let peer = qp[1 - n].qpn;
            world.enter_init(&qp[n], ALL);
            world.enter_receive(&qp[n], peer, |attr| attr.rq_psn = received[n]);
            world.enter_send(&qp[n], |attr| attr.sq_psn = [0x12_3456, 0x65_4321][n]);
        }
        let there = world.buffer(clients[1], 64, ALL);
        world.post(&mut qp[0], Opcode::Write, |entry| {
            signalled(entry)
                .remote(there.addr, there.key())
                .inline(&[7])
        });
        world.settle();
        world.now += 1_000_000_000_000;
        let all = world.drain(&mut cq[0]);
        (all[0], world.memory.bytes(20, there.addr, 1))
    };
    let (cqe, bytes) = ends([0x65_4321, 0x12_3456]);
    assert_eq!((cqe.opcode(), bytes), (Some(CqeOpcode::Requester), vec![7]));
    let (cqe, bytes) = ends([0x65_4321, 0x12_3457]);
    assert_eq!(cqe.syndrome(), Syndrome::TransportRetryExceeded.number());
    assert_eq!(bytes, [0]);
}

#[test]
fn a_peer_that_is_gone_is_given_up() {
    for how in 0..3 {
        let mut pair = Pair::new();
        let (client, there) = (pair.qp[1].client, pair.buffer[1]);
        match how {
            0 => pair
                .world
                .engine
                .destroy_qp(client.context, pair.qp[1].handle)
                .unwrap(),
            1 => pair.world.engine.close_context(client.context),
            _ => drop(pair.world.modify(&pair.qp[1], QpState::Error, 0, |_| {})),
        }
        pair.post(Opcode::Write, |e| {
            e.remote(there.addr, there.key()).inline(&[1])
        });
        assert!(pair.world.settle().waiting);
        // 8 times 4.096 us << 14.
        pair.world.now = 536 * MS;
        assert!(pair.drain(0).is_empty());
        pair.world.now = 537 * MS;
        let told: Vec<_> = pair.drain(0).iter().map(syndrome).collect();
        assert_eq!(told, [Some(Syndrome::TransportRetryExceeded)]);
        assert_eq!(pair.world.state(&pair.qp[0]), QpState::Error);
    }
}

#[test]
fn a_short_time_out_is_drawn_out_and_none_is_for_ever() {
    for timeout in [1, 0] {
        let mut pair = Pair::new();
        let number = pair.qp[1].qpn;
        pair.world.modify(&pair.qp[0], QpState::Reset, 0, |_| {});
        pair.world.enter_init(&pair.qp[0], ALL);
        pair.world.enter_receive(&pair.qp[0], number, |_| {});
        pair.world
            .enter_send(&pair.qp[0], |attr| attr.timeout = timeout);
        pair.world.modify(&pair.qp[1], QpState::Reset, 0, |_| {});
        pair.post(Opcode::Send, |e| e.inline(&[1]));
        pair.world.settle();
        pair.world.now = 499 * MS;
        assert!(pair.drain(0).is_empty());
        pair.world.now = if timeout == 0 {
            3_600_000 * MS
        } else {
            500 * MS
        };
        assert_eq!(pair.drain(0).len(), usize::from(timeout));
    }
}

#[test]
fn another_lid_or_another_partner_does_not_answer() {
    for how in 0..2 {
        let mut pair = Pair::new();
        let there = pair.buffer[1];
        let (mine, number) = (pair.qp[0].qpn, pair.qp[1].qpn);
        let changed = &pair.qp[how];
        pair.world.modify(changed, QpState::Reset, 0, |_| {});
        pair.world.enter_init(changed, ALL);
        pair.world
            .enter_receive(changed, if how == 0 { number } else { mine + 7 }, |attr| {
                attr.path.dlid = if how == 0 { 2 } else { 1 };
            });
        pair.world.enter_send(changed, |_| {});
        pair.post(Opcode::Write, |e| {
            e.remote(there.addr, there.key()).inline(&[1])
        });
        assert!(pair.world.settle().waiting);
        assert_eq!(pair.bytes(1, 0, 1), [0]);
    }
}

#[test]
fn memory_that_is_gone_is_no_end_of_others() {
    let mut pair = Pair::new();
    let [here, there] = pair.buffer;
    pair.world.memory.forget(20);
    pair.post(Opcode::Write, |e| {
        e.remote(there.addr, there.key())
            .data(here.addr, 8, here.key())
    });
    let told: Vec<_> = pair.drain(0).iter().map(syndrome).collect();
    assert_eq!(told, [Some(Syndrome::RemoteOperation)]);
    let events = pair.world.settle().async_events;
    assert!(events.is_empty() || events.iter().all(|e| e.kind == AsyncKind::QpFatal));
    assert_eq!(pair.states()[1], QpState::Error);
}

#[test]
fn error_by_command_flushes_both_queues_and_goes_on_doing_so() {
    let mut pair = Pair::new();
    pair.world.receive(&mut pair.qp[0], &[]);
    pair.post(Opcode::Nop, |e| e);
    pair.world.modify(&pair.qp[0], QpState::Error, 0, |_| {});
    let told: Vec<_> = pair
        .drain(0)
        .iter()
        .map(|c| (c.opcode().unwrap(), syndrome(c).unwrap()))
        .collect();
    let flushed = Syndrome::Flushed;
    assert_eq!(
        told,
        [
            (CqeOpcode::RequesterError, flushed),
            (CqeOpcode::ResponderError, flushed)
        ]
    );
    pair.post(Opcode::Nop, |e| e);
    pair.world.receive(&mut pair.qp[0], &[]);
    pair.world.receive(&mut pair.qp[0], &[]);
    let again = pair.drain(0);
    assert_eq!(again.len(), 3);
    let receives: Vec<u16> = again[1..].iter().map(|cqe| cqe.wqe_counter.get()).collect();
    assert_eq!(receives, [1, 2]);
}

#[test]
fn reset_starts_anew() {
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    for _ in 0..3 {
        pair.post(Opcode::Nop, signalled);
    }
    assert_eq!(pair.drain(0).len(), 3);
    let number = pair.qp[1].qpn;
    pair.world.modify(&pair.qp[0], QpState::Reset, 0, |_| {});
    assert!(!pair.world.step().worked, "the old record is not looked at");
    pair.qp[0].producer = 0;
    pair.world.record(&pair.qp[0]);
    pair.world.connect(&pair.qp[0], number);
    pair.post(Opcode::Write, |e| {
        signalled(e).remote(there.addr, there.key()).inline(b"anew")
    });
    assert_eq!(pair.done().wqe_counter.get(), 0);
    assert_eq!(pair.bytes(1, 0, 4), b"anew");
}

#[test]
fn nothing_is_sent_before_it_is_allowed() {
    let mut pair = Pair::new();
    let number = pair.qp[1].qpn;
    pair.world.modify(&pair.qp[0], QpState::Reset, 0, |_| {});
    pair.post(Opcode::Nop, signalled);
    assert!(pair.drain(0).is_empty());
    pair.world
        .modify(&pair.qp[0], QpState::Init, RC_INIT, |_| {});
    assert!(pair.drain(0).is_empty());
    pair.world.enter_receive(&pair.qp[0], number, |_| {});
    assert!(pair.drain(0).is_empty());
    pair.world.enter_send(&pair.qp[0], |_| {});
    assert_eq!(pair.drain(0).len(), 1);
}

#[test]
fn records_that_cannot_be_true_are_the_end_of_the_queue_pair() {
    let mut pair = Pair::new();
    pair.qp[0].producer = 17;
    pair.world.record(&pair.qp[0]);
    let events = pair.world.settle().async_events;
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [AsyncKind::QpFatal]);
    let told: Vec<_> = pair.drain(0).iter().map(syndrome).collect();
    assert_eq!(told, [Some(Syndrome::LocalQpOperation)]);
    assert_eq!(pair.states()[0], QpState::Error);
    let mut pair = Pair::new();
    pair.qp[1].received = 9;
    pair.world.record(&pair.qp[1]);
    pair.post(Opcode::Send, |e| e);
    let told: Vec<_> = pair.drain(0).iter().map(syndrome).collect();
    assert_eq!(told, [Some(Syndrome::RemoteOperation)]);
    assert_eq!(pair.states(), [QpState::Error; 2]);
    assert!(pair.drain(1).is_empty());
}

#[test]
fn a_flushed_entry_ends_where_the_record_does() {
    let mut pair = Pair::new();
    pair.world.modify(&pair.qp[0], QpState::Error, 0, |_| {});
    for n in 0..3 {
        let entry = Entry::new(Opcode::Nop, n, pair.qp[0].qpn);
        let mut bytes = entry.finish().unwrap();
        bytes[7] = 63;
        pair.world.post_bytes(&mut pair.qp[0], &bytes);
        let all = pair.drain(0);
        assert_eq!((all.len(), all[0].wqe_counter.get()), (1, n));
    }
}
