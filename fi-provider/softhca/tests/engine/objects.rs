//! Commands: owners of objects, objects in use, refusals.

use crate::world::{ALL, Pair, World};
use softhca::engine::{
    Access, Config, CqInit, Error, QpAttr, QpInit, QpKind, QpState, SrqInit, attr,
};

fn is_invalid(result: Result<impl std::fmt::Debug, Error>) -> bool {
    matches!(result, Err(Error::Invalid(_) | Error::NotFound(_)))
}

#[test]
fn objects_belong_to_their_context() {
    let mut pair = Pair::new();
    let (own, other) = (pair.qp[0].client, pair.qp[1].client);
    let (qp, cqn, handle) = (
        pair.qp[0].handle,
        pair.cq[0].cqn,
        pair.buffer[0].keys.handle,
    );
    let engine = &mut pair.world.engine;
    assert!(is_invalid(engine.dereg_mr(other.context, handle)));
    assert!(is_invalid(engine.destroy_qp(other.context, qp)));
    assert!(is_invalid(engine.query_qp(other.context, qp)));
    assert!(is_invalid(engine.modify_qp(
        other.context,
        qp,
        &QpAttr::default(),
        attr::STATE
    )));
    assert!(is_invalid(engine.destroy_cq(other.context, cqn)));
    assert!(is_invalid(engine.dealloc_pd(other.context, own.pd)));
    assert!(is_invalid(engine.reg_mr(
        other.context,
        own.pd,
        0,
        1,
        0,
        ALL
    )));
    for change in [
        |init: &mut QpInit, _| init.pd = 1,
        |init: &mut QpInit, cqn| init.recv_cq = cqn,
    ] {
        let mut init = pair.qp[1].init;
        change(&mut init, cqn);
        assert!(is_invalid(
            pair.world.engine.create_qp(other.context, &init)
        ));
    }
}

#[test]
fn what_is_in_use_stays() {
    let mut pair = Pair::new();
    let own = pair.qp[0].client;
    let engine = &mut pair.world.engine;
    assert_eq!(
        engine
            .destroy_cq(own.context, pair.cq[0].cqn)
            .unwrap_err()
            .errno(),
        16
    );
    assert_eq!(
        engine.dealloc_pd(own.context, own.pd).unwrap_err().errno(),
        16
    );
    engine.destroy_qp(own.context, pair.qp[0].handle).unwrap();
    engine.destroy_cq(own.context, pair.cq[0].cqn).unwrap();
    assert!(
        engine.dealloc_pd(own.context, own.pd).is_err(),
        "a region is left"
    );
    engine
        .dereg_mr(own.context, pair.buffer[0].keys.handle)
        .unwrap();
    engine.dealloc_pd(own.context, own.pd).unwrap();
    assert!(is_invalid(engine.dealloc_pd(own.context, own.pd)));
    assert!(is_invalid(
        engine.destroy_qp(own.context, pair.qp[0].handle)
    ));
}

#[test]
fn a_closed_context_leaves_nothing() {
    let mut pair = Pair::new();
    let own = pair.qp[0].client;
    let engine = &mut pair.world.engine;
    engine.close_context(own.context);
    engine.close_context(own.context);
    assert!(is_invalid(engine.alloc_pd(own.context)));
    assert!(is_invalid(engine.query_qp(own.context, pair.qp[0].handle)));
    assert!(is_invalid(engine.uar_account(own.context)));
    assert!(!pair.world.settle().worked);
}

#[test]
fn completion_queues_that_are_refused() {
    let mut world = World::new(Config::default());
    let client = world.client(1);
    let db_addr = world.memory.alloc(1, 8);
    let good = CqInit {
        buf_addr: 0x1000,
        db_addr,
        cqe_count: 4,
        cqe_size: 64,
        ignore_overrun: false,
        channel: None,
        user_handle: 0,
    };
    let mut create = |init: &CqInit| {
        world
            .engine
            .create_cq(&mut world.memory, client.context, init)
    };
    assert!(create(&good).is_ok());
    assert!(is_invalid(create(&CqInit {
        cqe_count: 0,
        ..good
    })));
    assert!(is_invalid(create(&CqInit {
        cqe_count: 3,
        ..good
    })));
    assert!(is_invalid(create(&CqInit {
        cqe_count: 1 << 31,
        ..good
    })));
    assert!(is_invalid(create(&CqInit {
        cqe_size: 96,
        ..good
    })));
    assert!(is_invalid(create(&CqInit {
        buf_addr: u64::MAX,
        ..good
    })));
    assert_eq!(
        create(&CqInit { db_addr: 0, ..good }).unwrap_err().errno(),
        14
    );
}

#[test]
fn queue_pairs_that_are_refused() {
    let mut world = World::new(Config::default());
    let client = world.client(1);
    let cq = world.cq(client, 4, 64, None);
    let good = world.qp_init(client, QpKind::Rc, &cq, 4, 4);
    let mut create = |init: &QpInit| world.engine.create_qp(client.context, init);
    assert!(create(&good).is_ok());
    for init in [
        QpInit {
            sq_wqe_count: 3,
            ..good
        },
        QpInit {
            sq_wqe_count: 1 << 16,
            ..good
        },
        QpInit {
            rq_wqe_count: 5,
            ..good
        },
        QpInit {
            rq_wqe_shift: 3,
            ..good
        },
        QpInit {
            rq_wqe_shift: 77,
            ..good
        },
        QpInit {
            buf_addr: u64::MAX - 64,
            ..good
        },
        QpInit {
            sq_offset: u64::MAX - 64,
            ..good
        },
        QpInit {
            db_addr: u64::MAX - 3,
            ..good
        },
        QpInit {
            send_cq: cq.cqn + 1,
            ..good
        },
        QpInit {
            srq: Some(1),
            ..good
        },
        QpInit {
            kind: QpKind::Dct,
            ..good
        },
    ] {
        assert!(is_invalid(create(&init)), "{init:?}");
    }
}

#[test]
fn shared_queues_that_are_refused() {
    let mut world = World::new(Config::default());
    let client = world.client(1);
    let srq = world.srq(client, 8);
    let good = srq.init;
    let engine = &mut world.engine;
    for init in [
        SrqInit { pd: 99, ..good },
        SrqInit {
            wqe_count: 0,
            ..good
        },
        SrqInit {
            wqe_count: 1 << 16,
            ..good
        },
        SrqInit {
            wqe_shift: 4,
            ..good
        },
        SrqInit {
            wqe_shift: 64,
            ..good
        },
        SrqInit {
            buf_addr: u64::MAX,
            ..good
        },
    ] {
        assert!(
            is_invalid(engine.create_srq(client.context, &init)),
            "{init:?}"
        );
    }
    assert!(is_invalid(engine.arm_srq(client.context, srq.srqn, 9)));
    engine.destroy_srq(client.context, srq.srqn).unwrap();
    assert!(is_invalid(engine.destroy_srq(client.context, srq.srqn)));
}

#[test]
fn attributes_come_back() {
    let pair = Pair::new();
    let attr = pair
        .world
        .engine
        .query_qp(pair.qp[0].client.context, pair.qp[0].handle)
        .unwrap();
    assert_eq!(
        (attr.state, attr.cur_state),
        (QpState::ReadyToSend, QpState::ReadyToSend)
    );
    assert_eq!(
        (attr.dest_qpn, attr.path.dlid, attr.access),
        (pair.qp[1].qpn, 1, ALL)
    );
    assert_eq!(
        (
            attr.timeout,
            attr.retry_cnt,
            attr.rnr_retry,
            attr.max_rd_atomic
        ),
        (14, 7, 7, 16)
    );
}

#[test]
fn transitions_that_are_refused_change_nothing() {
    let mut pair = Pair::new();
    let (context, handle) = (pair.qp[0].client.context, pair.qp[0].handle);
    let back = QpAttr {
        state: QpState::Init,
        ..QpAttr::default()
    };
    let mask = attr::STATE | attr::PKEY_INDEX | attr::PORT | attr::ACCESS_FLAGS;
    assert!(is_invalid(
        pair.world.engine.modify_qp(context, handle, &back, mask)
    ));
    let rights = QpAttr {
        access: Access(0),
        dest_qpn: 5,
        ..QpAttr::default()
    };
    assert!(is_invalid(pair.world.engine.modify_qp(
        context,
        handle,
        &rights,
        attr::DEST_QPN
    )));
    pair.world
        .engine
        .modify_qp(context, handle, &rights, attr::ACCESS_FLAGS)
        .unwrap();
    let attr = pair.world.engine.query_qp(context, handle).unwrap();
    assert_eq!(
        (attr.state, attr.dest_qpn),
        (QpState::ReadyToSend, pair.qp[1].qpn)
    );
    assert_eq!(attr.access, Access(0));
}

#[test]
fn a_drained_queue_pair_answers_and_does_not_send() {
    use fi_mlx5_defs::opcode::Opcode;
    let mut pair = Pair::new();
    let here = pair.buffer[0];
    pair.world.modify(
        &pair.qp[0],
        QpState::SendDrained,
        attr::EN_SQD_ASYNC_NOTIFY,
        |_| {},
    );
    assert_eq!(pair.world.settle().async_events.len(), 1);
    pair.post(Opcode::Nop, crate::world::signalled);
    assert!(pair.drain(0).is_empty());
    pair.world.post(&mut pair.qp[1], Opcode::Write, |e| {
        e.remote(here.addr, here.key()).inline(&[3])
    });
    pair.world.settle();
    assert_eq!(pair.bytes(0, 0, 1), [3]);
    pair.world
        .modify(&pair.qp[0], QpState::ReadyToSend, 0, |_| {});
    pair.done();
}
