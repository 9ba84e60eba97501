//! Fate of a context's objects when it is closed, in any state of theirs.

use crate::world::{ALL, Client, Cq, Qp, RTS, World, signalled};
use fi_mlx5_defs::doorbell::Arm;
use fi_mlx5_defs::opcode::{CqeOpcode, Opcode, Syndrome};
use fi_mlx5_defs::wqe::{CompactAddress, Data};
use softhca::engine::{Config, QpKind, QpState, attr};
use std::collections::BTreeSet;

const KEY: u64 = 0xdc;

/// Makes an initiator that is ready to send.
fn initiator(world: &mut World, client: Client, cq: &Cq) -> Qp {
    let mut init = world.qp_init(client, QpKind::Dci, cq, 8, 0);
    init.rq_wqe_count = 0;
    let qp = world.create(client, init);
    world.modify(&qp, QpState::Init, attr::PKEY_INDEX | attr::PORT, |_| {});
    world.modify(
        &qp,
        QpState::ReadyToReceive,
        attr::PATH_MTU | attr::AV,
        |_| {},
    );
    world.modify(&qp, QpState::ReadyToSend, RTS, |_| {});
    qp
}

/// Makes a target with its shared receive queue; returns its number.
fn target(world: &mut World, client: Client, cq: &Cq) -> u32 {
    let mut srq = world.srq(client, 4);
    let there = world.buffer(client, 64, ALL);
    world.receive_shared(&mut srq, 0, 1, &[Data::new(there.addr, 64, there.key())]);
    let mut init = world.qp_init(client, QpKind::Dct, cq, 0, 0);
    init.srq = Some(srq.srqn);
    init.dc_key = KEY;
    let qp = world.create(client, init);
    let rights = attr::PKEY_INDEX | attr::PORT | attr::ACCESS_FLAGS;
    world.modify(&qp, QpState::Init, rights, |_| {});
    let receive = attr::MIN_RNR_TIMER | attr::PATH_MTU | attr::AV;
    world.modify(&qp, QpState::ReadyToReceive, receive, |_| {})
}

#[test]
fn nothing_is_left_and_peers_find_nobody() {
    let mut world = World::new(Config::default());
    let stays = world.client(1);
    let mut cq = world.cq(stays, 64, 64, None);
    let mut connected = world.qp(stays, &cq, 8, 4);
    let mut dynamic = initiator(&mut world, stays, &cq);
    let before = world.engine.census();

    let goes = world.client(2);
    let events = world.cq(goes, 64, 64, Some(1));
    let there = world.buffer(goes, 64, ALL);
    let mut peer = world.qp(goes, &events, 8, 4);
    let number = target(&mut world, goes, &events);
    world.connect(&connected, peer.qpn);
    world.connect(&peer, connected.qpn);
    // It is in the middle of things: armed, with a request that waits for a receive, and one that nobody has looked at.
    world.arm(
        &events,
        Arm {
            sequence: 0,
            solicited_only: false,
            consumer: 0,
        },
    );
    world.post(&mut peer, Opcode::Send, |e| signalled(e).inline(b"waits"));
    assert!(world.step().waiting);
    world.post(&mut peer, Opcode::Send, |e| signalled(e).inline(b"more"));
    world.modify(&peer, QpState::Error, 0, |_| {});
    world.engine.close_context(goes.context);
    assert_eq!(world.engine.census(), before);

    // Its memory is still there, as that of a process which only closed its file.
    let address = CompactAddress::dc(KEY, number, world.engine.config().lid);
    world.post(&mut connected, Opcode::Write, |e| {
        signalled(e)
            .remote(there.addr, there.key())
            .inline(b"too late")
    });
    world.post(&mut dynamic, Opcode::Write, |e| {
        signalled(e)
            .address(address)
            .remote(there.addr, there.key())
            .inline(b"too late")
    });
    assert!(world.step().waiting);
    world.now += 2_000_000_000;
    let failed = world.drain(&mut cq);
    assert_eq!(failed.len(), 2);
    for cqe in failed {
        assert_eq!(cqe.opcode(), Some(CqeOpcode::RequesterError));
        assert_eq!(cqe.syndrome(), Syndrome::TransportRetryExceeded.number());
    }
    assert_eq!(world.memory.u64(2, there.addr), 0);
}

#[test]
fn numbers_and_keys_are_not_those_of_who_was_there_before() {
    let mut world = World::new(Config::default());
    let mut seen = BTreeSet::new();
    for _ in 0..200 {
        let client = world.client(1);
        let cq = world.cq(client, 4, 64, None);
        let qp = world.qp(client, &cq, 4, 0);
        let buffer = world.buffer(client, 64, ALL);
        for (kind, number) in [
            ("context", client.context.0),
            ("domain", client.pd),
            ("completion queue", cq.cqn),
            ("queue pair", qp.qpn),
            ("key", buffer.key()),
        ] {
            assert!(seen.insert((kind, number)), "{kind} {number} again");
        }
        world.engine.close_context(client.context);
    }
}
