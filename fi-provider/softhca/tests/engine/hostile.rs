//! Any bytes in rings and records, any numbers in commands: errors, and nothing but errors.

use crate::world::{ALL, Pair, signalled};
use fi_mlx5_defs::opcode::Opcode;
use proptest::prelude::*;
use softhca::engine::{
    Access, Config, CqInit, Error, QpAttr, QpInit, QpKind, QpState, QpUar, SrqInit,
};

/// Checks that a bystander of its own, which must not notice, works.
fn bystander_works(pair: &mut Pair) {
    let pids = [100, 200];
    let clients = pids.map(|pid| pair.world.client(pid));
    let mut cq = pair.world.cq(clients[0], 16, 64, None);
    let other = pair.world.cq(clients[1], 16, 64, None);
    let mut qp = pair.world.qp(clients[0], &cq, 8, 0);
    let peer = pair.world.qp(clients[1], &other, 8, 0);
    pair.world.connect(&qp, peer.qpn);
    pair.world.connect(&peer, qp.qpn);
    let there = pair.world.buffer(clients[1], 64, ALL);
    pair.world.post(&mut qp, Opcode::Write, |e| {
        signalled(e)
            .remote(there.addr, there.key())
            .inline(b"unharmed")
    });
    pair.world.done(&mut cq);
    assert_eq!(pair.world.memory.bytes(200, there.addr, 8), b"unharmed");
}

/// Steps a while; a hostile client may keep its own queue busy for ever.
fn steps(pair: &mut Pair) {
    for _ in 0..50 {
        pair.world.step();
        pair.world.now += 100_000_000;
    }
}

/// Makes bytes that look like an entry here and there.
fn entry() -> impl Strategy<Value = Vec<u8>> {
    (
        prop::collection::vec(any::<u8>(), 64..1024),
        0..12_usize,
        0..64_u8,
        0..4_u8,
    )
        .prop_map(|(mut bytes, op, units, valid)| {
            bytes[3] = Opcode::ALL[op].number();
            if valid > 0 {
                bytes[7] = units;
            }
            if valid > 1 {
                bytes[0] = 9;
            }
            bytes
        })
}

proptest! {
    #[test]
    fn any_entry(
        entries in prop::collection::vec(entry(), 1..6),
        named in any::<bool>(),
        keyed in any::<bool>(),
        receives in prop::collection::vec(any::<u8>(), 0..512),
    ) {
        let mut pair = Pair::new();
        let [here, there] = pair.buffer;
        let pid = pair.qp[1].client.pid;
        let receive_ring = pair.qp[1].init.buf_addr;
        pair.world.memory.put(pid, receive_ring, &receives);
        pair.qp[1].received = (receives.len() / 64) as u16;
        pair.world.record(&pair.qp[1]);
        for mut bytes in entries {
            if named {
                let (index, qpn) = (pair.qp[0].producer, pair.qp[0].qpn);
                bytes[1..3].copy_from_slice(&index.to_be_bytes());
                bytes[4..7].copy_from_slice(&qpn.to_be_bytes()[1..]);
            }
            if keyed {
                let remote = there.addr + u64::from(bytes[23]);
                bytes[16..24].copy_from_slice(&remote.to_be_bytes());
                bytes[24..28].copy_from_slice(&there.key().to_be_bytes());
                bytes[36..40].copy_from_slice(&here.key().to_be_bytes());
                bytes[40..48].copy_from_slice(&here.addr.to_be_bytes());
                bytes[32..35].fill(0);
            }
            pair.world.post_bytes(&mut pair.qp[0], &bytes);
        }
        steps(&mut pair);
        bystander_works(&mut pair);
    }

    #[test]
    fn any_record(records in prop::collection::vec((0..4_usize, any::<[u32; 2]>()), 1..20), state in 0..7_u8) {
        let mut pair = Pair::new();
        let (pid, qp_db) = (pair.qp[0].client.pid, pair.qp[0].init.db_addr);
        let to = QpAttr { state: QpState::from_number(state).unwrap(), ..QpAttr::default() };
        let (context, handle) = (pair.qp[0].client.context, pair.qp[0].handle);
        // Most are refused; that is fine.
        ignore(pair.world.engine.modify_qp(context, handle, &to, 1));
        for (which, words) in records {
            let at = [qp_db, pair.qp[1].init.db_addr, pair.cq[0].db, pair.cq[1].db][which];
            let pid = if which % 2 == 0 { pid } else { pair.qp[1].client.pid };
            pair.world.memory.put(pid, at, bytemuck::bytes_of(&words));
            pair.world.step();
        }
        steps(&mut pair);
        bystander_works(&mut pair);
    }

    #[test]
    fn any_command(
        words in prop::collection::vec((0..14_u8, any::<[u64; 3]>(), any::<[u32; 6]>()), 1..40),
        small in any::<bool>(),
    ) {
        let mut pair = Pair::new();
        let client = pair.qp[0].client;
        let context = client.context;
        let numbers = [pair.qp[0].handle, pair.cq[0].cqn, client.pd, 1, 0];
        for (command, long, mut short) in words {
            if small {
                short = short.map(|n| numbers.get((n % 8) as usize).copied().unwrap_or(n % 32));
            }
            issue(&mut pair, context, command, long, short);
            pair.world.step();
        }
        pair.world.engine.close_context(context);
        steps(&mut pair);
        bystander_works(&mut pair);
    }

    #[test]
    fn any_doorbell(rings in prop::collection::vec((any::<u32>(), prop::collection::vec(any::<u8>(), 0..300)), 1..20)) {
        let mut pair = Pair::with(Config { strict: true, ..Config::default() }, 16, 8);
        let (context, qpn) = (pair.qp[0].client.context, pair.qp[0].qpn);
        for (n, (offset, mut bytes)) in rings.into_iter().enumerate() {
            if n % 2 == 0 && bytes.len() > 7 {
                bytes[4..7].copy_from_slice(&qpn.to_be_bytes()[1..]);
            }
            pair.world.engine.ring(&mut pair.world.memory, context, offset % 7, offset % 4096, &bytes);
            pair.world.step();
        }
        steps(&mut pair);
    }
}

/// Issues a command made of any numbers; whether it is refused does not matter.
fn issue(
    pair: &mut Pair,
    context: softhca::engine::ContextId,
    command: u8,
    long: [u64; 3],
    short: [u32; 6],
) {
    let engine = &mut pair.world.engine;
    let memory = &mut pair.world.memory;
    let srq = SrqInit {
        pd: short[0],
        buf_addr: long[0],
        db_addr: long[1],
        wqe_count: short[1],
        wqe_shift: short[2],
        user_handle: 0,
    };
    let cq = cq(pair.cq[0].db, long, short);
    match command {
        0 => ignore(engine.alloc_pd(context)),
        1 => ignore(engine.dealloc_pd(context, short[0])),
        2 => {
            let access = Access(short[1]);
            ignore(engine.reg_mr(context, short[0], long[0], long[1], long[2], access));
        }
        3 => ignore(engine.dereg_mr(context, short[0])),
        4 => ignore(engine.create_cq(memory, context, &cq)),
        5 => ignore(engine.destroy_cq(context, short[0])),
        6 => ignore(engine.create_srq(context, &srq)),
        7 => ignore(engine.arm_srq(context, short[0], short[1])),
        8 => ignore(engine.destroy_srq(context, short[0])),
        9 => ignore(engine.create_qp(context, &qp(long, short))),
        10 => ignore(engine.modify_qp(context, short[0], &attr(short), short[5])),
        11 => ignore(engine.destroy_qp(context, short[0])),
        12 => ignore(engine.uar_destroy(context, short[0])),
        _ => ignore(engine.query_qp(context, short[0])),
    }
}

/// Makes the attributes of a queue pair of these numbers.
fn qp(long: [u64; 3], short: [u32; 6]) -> QpInit {
    QpInit {
        kind: [QpKind::Rc, QpKind::Dci, QpKind::Dct][short[0] as usize % 3],
        pd: short[1],
        send_cq: short[2],
        recv_cq: short[2],
        srq: short[3].is_multiple_of(2).then_some(short[3]),
        buf_addr: long[0],
        db_addr: long[1],
        sq_offset: long[2],
        sq_wqe_count: short[4],
        rq_wqe_count: short[5],
        rq_wqe_shift: short[0] % 100,
        uidx: 0,
        uar: [
            QpUar::None,
            QpUar::Choose,
            QpUar::Register(short[1]),
            QpUar::Page(short[1]),
        ][short[2] as usize % 4],
        dc_key: long[0],
        user_handle: 0,
    }
}

/// Makes the attributes of a completion queue of these numbers, with the doorbell `db` or another
/// one.
fn cq(db: u64, long: [u64; 3], short: [u32; 6]) -> CqInit {
    CqInit {
        buf_addr: long[0],
        db_addr: if short[0].is_multiple_of(2) {
            db
        } else {
            long[1]
        },
        cqe_count: short[1],
        cqe_size: if short[2].is_multiple_of(2) {
            64
        } else {
            short[2]
        },
        ignore_overrun: short[3].is_multiple_of(3),
        channel: Some(1),
        user_handle: 0,
    }
}

/// Makes attributes of a queue pair of these numbers.
fn attr(short: [u32; 6]) -> QpAttr {
    QpAttr {
        state: QpState::from_number((short[0] % 7) as u8).unwrap(),
        dest_qpn: short[1],
        timeout: short[2] as u8,
        min_rnr_timer: short[3] as u8,
        access: Access(short[4]),
        ..QpAttr::default()
    }
}

/// Ignores whether a command is refused.
fn ignore<T>(_: Result<T, Error>) {}
