//! Dynamically connected transport, and shared receive queues.

use crate::world::{ALL, Buffer, Client, Cq, Pair, Qp, RTS, Srq, World, signalled};
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::opcode::{CqeOpcode, Opcode, Syndrome};
use fi_mlx5_defs::wqe::{Atomic, CompactAddress, Data, EXTENDED_AV, GlobalRoute};
use softhca::engine::{Access, AsyncKind, Config, QpKind, QpState, attr};

const KEY: u64 = 0x1234_5678_9abc_def0;

struct Target {
    client: Client,
    cq: Cq,
    srq: Srq,
    qp: Qp,
    dctn: u32,
    buffer: Buffer,
}

fn target(world: &mut World, pid: u32) -> Target {
    let client = world.client(pid);
    let cq = world.cq(client, 16, 64, None);
    let srq = world.srq(client, 8);
    let mut init = world.qp_init(client, QpKind::Dct, &cq, 0, 0);
    init.srq = Some(srq.srqn);
    init.dc_key = KEY;
    init.uidx = 0x33;
    let qp = world.create(client, init);
    assert_eq!(qp.qpn, 0);
    let mask = attr::PKEY_INDEX | attr::PORT | attr::ACCESS_FLAGS;
    assert_eq!(world.modify(&qp, QpState::Init, mask, |_| {}), 0);
    let mask = attr::MIN_RNR_TIMER | attr::AV | attr::PATH_MTU;
    let dctn = world.modify(&qp, QpState::ReadyToReceive, mask, |_| {});
    let buffer = world.buffer(client, 1024, ALL);
    Target {
        client,
        cq,
        srq,
        qp,
        dctn,
        buffer,
    }
}

fn initiator(world: &mut World, pid: u32) -> (Cq, Qp, Buffer) {
    let client = world.client(pid);
    let cq = world.cq(client, 64, 64, None);
    let init = world.qp_init(client, QpKind::Dci, &cq, 16, 0);
    let qp = world.create(client, init);
    world.modify(&qp, QpState::Init, attr::PKEY_INDEX | attr::PORT, |_| {});
    world.modify(
        &qp,
        QpState::ReadyToReceive,
        attr::PATH_MTU | attr::AV,
        |_| {},
    );
    world.modify(&qp, QpState::ReadyToSend, RTS, |_| {});
    let buffer = world.buffer(client, 1024, ALL);
    (cq, qp, buffer)
}

fn to(target: &Target) -> impl Fn(Entry) -> Entry + use<> {
    let address = CompactAddress::dc(KEY, target.dctn, 1);
    move |entry| signalled(entry).address(address)
}

#[test]
fn one_initiator_reaches_two_targets() {
    let mut world = World::new(Config::default());
    let targets = [target(&mut world, 2), target(&mut world, 3)];
    let (mut cq, mut qp, here) = initiator(&mut world, 1);
    assert_ne!(targets[0].dctn, targets[1].dctn);
    for (n, target) in targets.iter().enumerate() {
        let (there, data) = (target.buffer, [n as u8 + 1; 8]);
        world.post(&mut qp, Opcode::Write, |e| {
            to(target)(e).remote(there.addr, there.key()).inline(&data)
        });
        world.done(&mut cq);
        assert_eq!(world.memory.bytes(target.client.pid, there.addr, 8), data);
        world.post(&mut qp, Opcode::FetchAdd, |e| {
            let add = Atomic {
                swap_or_add: 1.into(),
                compare: 0.into(),
            };
            to(target)(e)
                .remote(there.addr, there.key())
                .segment(&add)
                .data(here.addr, 8, here.key())
        });
        world.done(&mut cq);
        let old = u64::from_ne_bytes(data);
        assert_eq!(world.memory.u64(1, here.addr), old);
        assert_eq!(world.memory.u64(target.client.pid, there.addr), old + 1);
        world.post(&mut qp, Opcode::Read, |e| {
            to(target)(e)
                .remote(there.addr, there.key())
                .data(here.addr + 64, 8, here.key())
        });
        world.done(&mut cq);
        assert_eq!(world.memory.u64(1, here.addr + 64), old + 1);
    }
}

#[test]
fn sends_go_through_the_shared_queue() {
    let mut world = World::new(Config::default());
    let mut target = target(&mut world, 2);
    let (mut cq, mut qp, _) = initiator(&mut world, 1);
    let there = target.buffer;
    // Slot 0, then 5, then 2.
    for (slot, next) in [(0, 5), (5, 2), (2, 7)] {
        let piece = Data::new(there.addr + u64::from(slot) * 16, 16, there.key());
        world.receive_shared(&mut target.srq, slot, next, &[piece]);
    }
    let mut address = CompactAddress::dc(KEY, target.dctn, 1);
    address.destination = Be32::new(target.dctn | EXTENDED_AV);
    for text in [b"one", b"two", b"six"] {
        world.post(&mut qp, Opcode::SendImmediate, |e| {
            let entry = signalled(e)
                .immediate(4)
                .address(address)
                .route(GlobalRoute::default());
            entry.inline(text)
        });
        world.done(&mut cq);
    }
    for (slot, text) in [(0, b"one"), (5, b"two"), (2, b"six")] {
        assert_eq!(&world.memory.bytes(2, there.addr + slot * 16, 3), text);
    }
    let all = world.drain(&mut target.cq);
    let slots: Vec<u16> = all.iter().map(|cqe| cqe.wqe_counter.get()).collect();
    assert_eq!(slots, [0, 5, 2]);
    assert_eq!(
        (
            all[0].user_index.get(),
            all[0].qpn(),
            all[0].flags_remote_qpn.get()
        ),
        (0x33, target.dctn, qp.qpn)
    );
    assert_eq!(all[0].opcode(), Some(CqeOpcode::ReceiveSendImmediate));
    world.post(&mut qp, Opcode::Send, |e| {
        to(&target)(e).inline(b"none left")
    });
    assert!(world.settle().waiting);
}

#[test]
fn a_wrong_dc_key_is_not_answered() {
    let mut world = World::new(Config::default());
    let target = target(&mut world, 2);
    let (mut cq, mut qp, _) = initiator(&mut world, 1);
    let there = target.buffer;
    let wrong = CompactAddress::dc(KEY ^ 1, target.dctn, 1);
    world.post(&mut qp, Opcode::Write, |e| {
        e.address(wrong)
            .remote(there.addr, there.key())
            .inline(&[1])
    });
    assert!(world.settle().waiting);
    world.now = 1_000_000_000;
    let all = world.drain(&mut cq);
    assert_eq!(all[0].syndrome(), Syndrome::TransportRetryExceeded.number());
    assert_eq!(world.memory.bytes(2, there.addr, 1), [0]);
}

#[test]
fn an_initiator_that_errs_leaves_the_target_to_others() {
    let mut world = World::new(Config::default());
    let target = target(&mut world, 2);
    let there = target.buffer;
    let (mut bad_cq, mut bad, _) = initiator(&mut world, 1);
    world.post(&mut bad, Opcode::Write, |e| {
        to(&target)(e).remote(there.addr, 0).inline(&[1])
    });
    let all = world.drain(&mut bad_cq);
    assert_eq!(all[0].syndrome(), Syndrome::RemoteAccess.number());
    assert_eq!(world.state(&bad), QpState::Error);
    let (mut cq, mut good, _) = initiator(&mut world, 4);
    world.post(&mut good, Opcode::Write, |e| {
        to(&target)(e).remote(there.addr, there.key()).inline(&[7])
    });
    world.done(&mut cq);
    assert_eq!(world.memory.bytes(2, there.addr, 1), [7]);
    world
        .engine
        .destroy_qp(target.client.context, target.qp.handle)
        .unwrap();
    world.post(&mut good, Opcode::Write, |e| {
        to(&target)(e).remote(there.addr, there.key()).inline(&[8])
    });
    assert!(world.settle().waiting);
}

#[test]
fn a_connected_queue_pair_is_no_target() {
    let mut pair = Pair::new();
    let there = pair.buffer[1];
    let (_, mut qp, _) = initiator(&mut pair.world, 30);
    let address = CompactAddress::dc(0, pair.qp[1].qpn, 1);
    pair.world.post(&mut qp, Opcode::Write, |e| {
        e.address(address)
            .remote(there.addr, there.key())
            .inline(&[1])
    });
    assert!(pair.world.settle().waiting);
    assert_eq!(pair.bytes(1, 0, 1), [0]);
}

#[test]
fn two_connections_share_receives() {
    let mut world = World::new(Config::default());
    let client = world.client(1);
    let mut cq = world.cq(client, 16, 64, None);
    let mut srq = world.srq(client, 4);
    let buffer = world.buffer(client, 64, Access(Access::LOCAL_WRITE));
    let mut senders = Vec::new();
    for uidx in [1, 2] {
        let mut init = world.qp_init(client, QpKind::Rc, &cq, 0, 0);
        init.srq = Some(srq.srqn);
        init.uidx = uidx;
        let receiver = world.create(client, init);
        let peer = world.client(10 + uidx);
        let peer_cq = world.cq(peer, 16, 64, None);
        let sender = world.qp(peer, &peer_cq, 8, 0);
        world.connect(&receiver, sender.qpn);
        world.connect(&sender, receiver.qpn);
        senders.push((sender, receiver));
    }
    world.engine.arm_srq(client.context, srq.srqn, 2).unwrap();
    for slot in 0..3 {
        let piece = Data::new(buffer.addr + u64::from(slot) * 8, 8, buffer.key());
        world.receive_shared(&mut srq, slot, slot + 1, &[piece]);
    }
    let mut events = Vec::new();
    for (n, text) in [(1, b"a"), (0, b"b")] {
        world.post(&mut senders[n].0, Opcode::Send, |e| e.inline(text));
        events.extend(world.settle().async_events);
    }
    assert_eq!(world.memory.bytes(1, buffer.addr, 9), *b"a\0\0\0\0\0\0\0b");
    let uidx: Vec<u32> = world
        .drain(&mut cq)
        .iter()
        .map(|cqe| cqe.user_index.get())
        .collect();
    assert_eq!(uidx, [2, 1]);
    let kinds: Vec<_> = events.iter().map(|e| (e.kind, e.element)).collect();
    assert_eq!(kinds, [(AsyncKind::SrqLimit, 0x50)]);
    world.modify(&senders[0].1, QpState::Error, 0, |_| {});
    let kinds: Vec<_> = world.settle().async_events.iter().map(|e| e.kind).collect();
    assert_eq!(kinds, [AsyncKind::LastWqe]);
    assert!(
        world.drain(&mut cq).is_empty(),
        "shared receives are not flushed"
    );
    world.post(&mut senders[1].0, Opcode::Send, |e| e.inline(b"c"));
    let events = world.settle().async_events;
    assert!(events.is_empty(), "a limit tells once: {events:?}");
    assert_eq!(world.memory.bytes(1, buffer.addr + 16, 1), b"c");
}

#[test]
fn links_and_records_of_a_shared_queue_stay_in_its_ring() {
    let mut world = World::new(Config::default());
    let mut target = target(&mut world, 2);
    let (mut cq, mut qp, _) = initiator(&mut world, 1);
    let there = target.buffer;
    for (slot, next) in [(0, 8 + 5), (5, 0)] {
        let piece = Data::new(there.addr + u64::from(slot) * 16, 16, there.key());
        world.receive_shared(&mut target.srq, slot, next, &[piece]);
        world.post(&mut qp, Opcode::Send, |e| to(&target)(e).inline(b"here"));
        world.done(&mut cq);
        assert_eq!(
            world.memory.bytes(2, there.addr + u64::from(slot) * 16, 4),
            b"here"
        );
    }
    world
        .memory
        .put(2, target.srq.init.db_addr, &11_u32.to_be_bytes());
    world.post(&mut qp, Opcode::Send, |e| to(&target)(e).inline(b"nowhere"));
    let events = world.settle().async_events;
    assert_eq!(
        events
            .iter()
            .map(|e| (e.kind, e.element))
            .collect::<Vec<_>>(),
        [(AsyncKind::SrqError, 0x50)]
    );
    assert_eq!(
        world.drain(&mut cq)[0].syndrome(),
        Syndrome::RemoteOperation.number()
    );
}
