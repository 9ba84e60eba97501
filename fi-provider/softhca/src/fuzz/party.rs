//! The clients that do not behave: the objects that they have in the beginning, and the commands
//! that they may give.

use super::input::Input;
use super::memory::{BASE, Processes, SIZE};
use crate::engine::{
    Access, ContextId, CqInit, Engine, Path, Pid, QpAttr, QpInit, QpKind, QpState, QpUar, SrqInit,
    attr,
};

/// Addresses of a client's rings, records and data in its memory; all of it is one registered
/// region, its rings included.
pub(super) const CQ_RING: u64 = BASE;
pub(super) const CQ_ENTRIES: u32 = 16;
pub(super) const SRQ_RING: u64 = BASE + 0x400;
pub(super) const SRQ_ENTRIES: u32 = 8;
pub(super) const CQ_RECORD: u64 = BASE + 0x600;
pub(super) const SRQ_RECORD: u64 = BASE + 0x640;
pub(super) const QP_RECORDS: u64 = BASE + 0x680;
pub(super) const QP_RINGS: u64 = BASE + 0x800;
pub(super) const RECEIVES: u32 = 4;
pub(super) const BLOCKS: u32 = 8;
pub(super) const RING: u64 = 64 * (RECEIVES + BLOCKS) as u64;
/// Data are from here to the end.
pub(super) const DATA: u64 = BASE + 0x2000;

pub(super) const DC_KEY: u64 = 0xdc;

/// A queue pair, and how much was posted to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) handle: u32,
    pub(super) place: u64,
    pub(super) sent: u16,
    pub(super) received: u16,
}

/// A client: a connected queue pair, one that is connected to itself, an initiator and a target.
#[derive(Debug)]
pub(super) struct Party {
    pub(super) process: Pid,
    pub(super) context: ContextId,
    pub(super) pd: u32,
    pub(super) cq: u32,
    pub(super) srq: u32,
    pub(super) key: u32,
    pub(super) queues: [Queue; 4],
    pub(super) shared: u16,
}

pub(super) const TO_INIT: u32 = attr::PKEY_INDEX | attr::PORT | attr::ACCESS_FLAGS;
pub(super) const TO_RECEIVE: u32 = attr::AV
    | attr::PATH_MTU
    | attr::DEST_QPN
    | attr::RQ_PSN
    | attr::MAX_DEST_RD_ATOMIC
    | attr::MIN_RNR_TIMER;
pub(super) const TO_SEND: u32 =
    attr::TIMEOUT | attr::RETRY_CNT | attr::RNR_RETRY | attr::SQ_PSN | attr::MAX_QP_RD_ATOMIC;

impl Party {
    pub(super) fn new(
        engine: &mut Engine,
        memory: &mut Processes,
        process: Pid,
        setup: u8,
    ) -> Self {
        let context = engine.open_context(process);
        let pd = engine.alloc_pd(context).expect("a domain");
        let keys = engine
            .reg_mr(context, pd, BASE, SIZE as u64, BASE, Access(0xf))
            .expect("a region");
        let cq = CqInit {
            buf_addr: CQ_RING,
            db_addr: CQ_RECORD,
            cqe_count: CQ_ENTRIES,
            cqe_size: 64,
            ignore_overrun: setup & 2 != 0,
            channel: Some(1),
            user_handle: 3,
        };
        let cq = engine.create_cq(memory, context, &cq).expect("a queue");
        let srq = SrqInit {
            pd,
            buf_addr: SRQ_RING,
            db_addr: SRQ_RECORD,
            wqe_count: SRQ_ENTRIES,
            wqe_shift: 6,
            user_handle: 4,
        };
        let srq = engine.create_srq(context, &srq).expect("a queue");
        let mut party = Self {
            process,
            context,
            pd,
            cq,
            srq,
            key: keys.rkey,
            queues: [Queue {
                handle: 0,
                place: 0,
                sent: 0,
                received: 0,
            }; 4],
            shared: 0,
        };
        for n in 0..4 {
            party.add(engine, n, setup);
        }
        party
    }

    fn add(&mut self, engine: &mut Engine, n: usize, setup: u8) {
        let kind = [QpKind::Rc, QpKind::Rc, QpKind::Dci, QpKind::Dct][n];
        let place = QP_RINGS + n as u64 * RING;
        let shared = kind == QpKind::Dct || kind == QpKind::Rc && setup & 4 != 0;
        let init = QpInit {
            kind,
            pd: self.pd,
            send_cq: self.cq,
            recv_cq: self.cq,
            srq: shared.then_some(self.srq),
            buf_addr: place,
            db_addr: QP_RECORDS + 64 * n as u64,
            sq_offset: 64 * u64::from(RECEIVES),
            sq_wqe_count: BLOCKS,
            rq_wqe_count: if shared { 0 } else { RECEIVES },
            rq_wqe_shift: 6,
            uidx: n as u32,
            uar: QpUar::None,
            dc_key: DC_KEY,
            user_handle: 5,
        };
        let created = engine.create_qp(self.context, &init).expect("a queue pair");
        self.queues[n].handle = created.handle;
        self.queues[n].place = place;
    }

    /// Takes a queue pair through the states to the last one.
    pub(super) fn bring_up(&self, engine: &mut Engine, queue: usize, peer: u32) {
        let attr = QpAttr {
            access: Access(0xf),
            dest_qpn: peer,
            timeout: 14,
            retry_cnt: 1,
            rnr_retry: 1,
            min_rnr_timer: 1,
            max_rd_atomic: 1,
            max_dest_rd_atomic: 1,
            path: Path {
                dlid: engine.config().lid,
                port_num: 1,
                ..Path::default()
            },
            ..QpAttr::default()
        };
        let receive = attr::AV | attr::PATH_MTU;
        let masks = match queue {
            2 => [attr::PKEY_INDEX | attr::PORT, receive, TO_SEND],
            3 => [TO_INIT, receive | attr::MIN_RNR_TIMER, 0],
            _ => [TO_INIT, TO_RECEIVE, TO_SEND],
        };
        let states = [QpState::Init, QpState::ReadyToReceive, QpState::ReadyToSend];
        let steps = if queue == 3 { 2 } else { 3 };
        for (state, mask) in states.into_iter().zip(masks).take(steps) {
            let to = QpAttr { state, ..attr };
            engine
                .modify_qp(
                    self.context,
                    self.queues[queue].handle,
                    &to,
                    mask | attr::STATE,
                )
                .expect("a transition");
        }
    }
}

pub(super) fn completion_init(input: &mut Input<'_>) -> CqInit {
    CqInit {
        buf_addr: place(input),
        db_addr: place(input),
        cqe_count: input.number32(),
        cqe_size: [64, 128, input.number32()][input.below(3)],
        ignore_overrun: input.byte() & 1 == 1,
        channel: Some(1),
        user_handle: 0,
    }
}

pub(super) fn shared_init(input: &mut Input<'_>, pd: u32) -> SrqInit {
    SrqInit {
        pd,
        buf_addr: place(input),
        db_addr: place(input),
        wqe_count: input.number32(),
        wqe_shift: input.byte().into(),
        user_handle: 0,
    }
}

pub(super) fn queue_init(input: &mut Input<'_>, own: &Party) -> QpInit {
    QpInit {
        kind: [QpKind::Rc, QpKind::Dci, QpKind::Dct, QpKind::Ud, QpKind::Uc][input.below(5)],
        pd: own.pd,
        send_cq: own.cq,
        recv_cq: own.cq,
        srq: [None, Some(own.srq)][input.below(2)],
        buf_addr: place(input),
        db_addr: place(input),
        sq_offset: input.number(),
        sq_wqe_count: input.number32(),
        rq_wqe_count: input.number32(),
        rq_wqe_shift: input.byte().into(),
        uidx: 0,
        uar: [
            QpUar::None,
            QpUar::Choose,
            QpUar::Register(input.number32()),
            QpUar::Page(input.number32()),
        ][input.below(4)],
        dc_key: DC_KEY,
        user_handle: 0,
    }
}

/// Returns an address: in the memory of the process, or anywhere.
pub(super) fn place(input: &mut Input<'_>) -> u64 {
    match input.below(4) {
        0 => input.number(),
        _ => BASE + u64::from(input.u16()),
    }
}

pub(super) fn change(input: &mut Input<'_>, peer: u32) -> (QpAttr, u32) {
    let attr = QpAttr {
        state: QpState::from_number(input.byte() % 7).unwrap_or(QpState::Reset),
        access: Access(input.byte().into()),
        dest_qpn: [peer, input.u32()][input.below(2)],
        timeout: input.byte(),
        retry_cnt: input.byte(),
        rnr_retry: input.byte(),
        min_rnr_timer: input.byte(),
        max_rd_atomic: input.byte(),
        max_dest_rd_atomic: input.byte(),
        path: Path {
            dlid: input.byte().into(),
            port_num: 1,
            ..Path::default()
        },
        ..QpAttr::default()
    };
    let mask = match input.below(5) {
        0 => input.u32(),
        n => [TO_INIT, TO_RECEIVE, TO_SEND, 0][n - 1] | attr::STATE,
    };
    (attr, mask)
}
