//! Unreliable connections: requests arrive as reliable ones do, and nobody tells of those that do
//! not.

use crate::world::{ALL, Cq, Pair, World, signalled, syndrome};
use bytemuck::Zeroable;
use fi_mlx5_defs::cqe::Cqe;
use fi_mlx5_defs::opcode::{CqeOpcode, Opcode, Syndrome};
use fi_mlx5_defs::wqe::{Atomic, Data};
use softhca::engine::{Config, QpKind, QpState, attr};

const TO_RECEIVE: u32 = attr::AV | attr::PATH_MTU | attr::DEST_QPN | attr::RQ_PSN;

/// Returns two queue pairs that are connected. Their packets count from different numbers.
fn pair() -> Pair {
    let mut world = World::new(Config::default());
    let clients = [10, 20].map(|pid| world.client(pid));
    let cq = clients.map(|client| world.cq(client, 64, 64, None));
    let qp = [0, 1].map(|n| {
        let init = world.qp_init(clients[n], QpKind::Uc, &cq[n], 16, 8);
        world.create(clients[n], init)
    });
    for n in 0..2 {
        let peer = qp[1 - n].qpn;
        world.enter_init(&qp[n], ALL);
        world.modify(&qp[n], QpState::ReadyToReceive, TO_RECEIVE, |attr| {
            (attr.dest_qpn, attr.path_mtu, attr.rq_psn) = (peer, 5, 7);
        });
        world.modify(&qp[n], QpState::ReadyToSend, attr::SQ_PSN, |_| {});
    }
    let buffer = clients.map(|client| world.buffer(client, 4096, ALL));
    Pair {
        world,
        cq,
        qp,
        buffer,
    }
}

/// Checks that the first queue pair's request has completed, and nothing is amiss with either.
fn is_sent(pair: &mut Pair) {
    assert_eq!(pair.done().opcode(), Some(CqeOpcode::Requester));
    assert_eq!(pair.states(), [QpState::ReadyToSend; 2]);
}

#[test]
fn sends_and_writes_arrive() {
    let mut pair = pair();
    let [here, there] = pair.buffer;
    for _ in 0..2 {
        let to = Data::new(there.addr + 8, 64, there.key());
        pair.world.receive(&mut pair.qp[1], &[to]);
    }
    pair.fill(0, 0, b"told");
    pair.post(Opcode::SendImmediate, |entry| {
        let entry = signalled(entry).immediate(5);
        entry.data(here.addr, 4, here.key())
    });
    is_sent(&mut pair);
    assert_eq!(pair.bytes(1, 8, 4), b"told");
    pair.post(Opcode::WriteImmediate, |entry| {
        let entry = signalled(entry).immediate(6);
        let entry = entry.remote(there.addr + 100, there.key());
        entry.inline(b"written")
    });
    is_sent(&mut pair);
    assert_eq!(pair.bytes(1, 100, 7), b"written");
    let came = pair.drain(1);
    let numbers: Vec<_> = came.iter().map(|cqe| cqe.immediate.get()).collect();
    assert_eq!(numbers, [5, 6]);
    pair.post(Opcode::Write, |entry| {
        let entry = signalled(entry).remote(there.addr + 200, there.key());
        entry.inline(b"alone")
    });
    is_sent(&mut pair);
    assert_eq!(pair.bytes(1, 200, 5), b"alone");
}

#[test]
fn requests_that_the_peer_does_not_take_are_lost() {
    let mut pair = pair();
    let there = pair.buffer[1];
    // No receive, a wrong key, and memory beyond the region.
    pair.post(Opcode::Send, |entry| signalled(entry).inline(b"lost"));
    is_sent(&mut pair);
    for (at, key) in [
        (there.addr, there.key() ^ 1),
        (there.addr + 4096, there.key()),
    ] {
        pair.post(Opcode::Write, |entry| {
            signalled(entry).remote(at, key).inline(b"lost")
        });
        is_sent(&mut pair);
    }
    let to = Data::new(there.addr + 64, 8, there.key());
    pair.world.receive(&mut pair.qp[1], &[to]);
    assert!(pair.drain(1).is_empty(), "they do not come later");
    assert_eq!(pair.bytes(1, 0, 100), [0; 100]);
    pair.post(Opcode::Send, |entry| signalled(entry).inline(b"next"));
    is_sent(&mut pair);
    assert_eq!(pair.bytes(1, 64, 4), b"next");
}

#[test]
fn a_peer_that_is_gone_is_not_missed() {
    let mut pair = pair();
    let peer = &pair.qp[1];
    let gone = pair
        .world
        .engine
        .destroy_qp(peer.client.context, peer.handle);
    gone.expect("the queue pair was there");
    pair.post(Opcode::Send, |entry| signalled(entry).inline(b"lost"));
    assert_eq!(pair.done().opcode(), Some(CqeOpcode::Requester));
}

#[test]
fn a_receive_without_room_fails_at_the_peer_alone() {
    let mut pair = pair();
    let there = pair.buffer[1];
    let to = Data::new(there.addr, 2, there.key());
    pair.world.receive(&mut pair.qp[1], &[to]);
    pair.post(Opcode::Send, |entry| signalled(entry).inline(b"long"));
    assert_eq!(pair.done().opcode(), Some(CqeOpcode::Requester));
    let told = told(&mut pair.world, &mut pair.cq[1]);
    assert_eq!(told, [Some(Syndrome::LocalLength)]);
    assert_eq!(pair.states(), [QpState::ReadyToSend, QpState::Error]);
}

#[test]
fn reads_atomics_and_own_mistakes_fail() {
    let wrong = |opcode, wrong_key, syndrome| {
        let mut pair = pair();
        let [here, there] = pair.buffer;
        pair.post(opcode, |entry| {
            let entry = signalled(entry).remote(there.addr, there.key());
            let entry = match opcode {
                Opcode::FetchAdd => entry.segment(&Atomic::zeroed()),
                _ => entry,
            };
            entry.data(here.addr, 8, here.key() ^ wrong_key)
        });
        let told = told(&mut pair.world, &mut pair.cq[0]);
        assert_eq!(told, [Some(syndrome)], "{opcode:?}");
        assert_eq!(pair.states()[1], QpState::ReadyToSend);
    };
    wrong(Opcode::Read, 0, Syndrome::LocalQpOperation);
    wrong(Opcode::FetchAdd, 0, Syndrome::LocalQpOperation);
    wrong(Opcode::Write, 1, Syndrome::LocalProtection);
}

/// Returns the syndromes of all completions.
fn told(world: &mut World, cq: &mut Cq) -> Vec<Option<Syndrome>> {
    let all: Vec<Cqe> = world.drain(cq);
    all.iter().map(syndrome).collect()
}
