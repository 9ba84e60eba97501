//! A bystander on the device: its memory is not touched, and its operations work.

use crate::engine::{
    Access, ContextId, CqInit, Engine, Memory, Path, Pid, QpAttr, QpInit, QpKind, QpState, QpUar,
    attr,
};
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::cqe::{Cqe, is_ready};
use fi_mlx5_defs::opcode::{CqeOpcode, Opcode};
use fi_mlx5_defs::wqe::flags;

/// Offsets in its memory: rings, records, completions, data.
const RINGS: [u64; 2] = [0, 0x100];
const RECORDS: [u64; 2] = [0x200, 0x240];
const CQ_RECORD: u64 = 0x280;
const CQ_RING: u64 = 0x400;
const DATA: u64 = 0x800;
const END: usize = 0xc00;

const CQ_ENTRIES: u32 = 8;
const BLOCKS: u32 = 4;

/// A process with two queue pairs that are connected to each other.
#[derive(Debug)]
pub(super) struct Witness {
    process: Pid,
    base: u64,
    context: ContextId,
    qps: [u32; 2],
    key: u32,
    producer: u16,
    consumer: u32,
    /// Known contents of its memory.
    memory: Vec<u8>,
    strict: bool,
}

impl Witness {
    /// Sets up in a context of its own, with memory from `base` on.
    pub(super) fn new(
        engine: &mut Engine,
        memory: &mut dyn Memory,
        context: ContextId,
        (process, base): (Pid, u64),
    ) -> Self {
        let strict = engine.config().strict;
        let blank = vec![0xff; END];
        memory.write(process, base, &blank).expect("memory");
        memory
            .write(process, base + RECORDS[0], &[0; 0x100])
            .expect("memory");
        let pd = engine.alloc_pd(context).expect("a domain");
        let rights = Access(Access::LOCAL_WRITE | Access::REMOTE_WRITE);
        let keys = engine
            .reg_mr(context, pd, base + DATA, 0x400, base + DATA, rights)
            .expect("a region");
        let cq = CqInit {
            buf_addr: base + CQ_RING,
            db_addr: base + CQ_RECORD,
            cqe_count: CQ_ENTRIES,
            cqe_size: 64,
            ignore_overrun: true,
            channel: None,
            user_handle: 1,
        };
        let cq = engine.create_cq(memory, context, &cq).expect("a queue");
        let qps = [0, 1].map(|n| {
            let init = QpInit {
                kind: QpKind::Rc,
                pd,
                send_cq: cq,
                recv_cq: cq,
                srq: None,
                buf_addr: base + RINGS[n],
                db_addr: base + RECORDS[n],
                sq_offset: 0,
                sq_wqe_count: BLOCKS,
                rq_wqe_count: 0,
                rq_wqe_shift: 0,
                uidx: 7,
                uar: QpUar::None,
                dc_key: 0,
                user_handle: 2,
            };
            engine.create_qp(context, &init).expect("a queue pair").qpn
        });
        connect(engine, context, qps[0], qps[1]);
        connect(engine, context, qps[1], qps[0]);
        let mut witness = Self {
            process,
            base,
            context,
            qps,
            key: keys.rkey,
            producer: 0,
            consumer: 0,
            memory: blank,
            strict,
        };
        witness.remember(memory);
        witness
    }

    fn remember(&mut self, memory: &mut dyn Memory) {
        memory
            .read(self.process, self.base, &mut self.memory)
            .expect("memory");
    }

    /// Checks that its memory is as it was, and that a write of its own changes its target and
    /// nothing else.
    pub(super) fn check(&mut self, engine: &mut Engine, memory: &mut dyn Memory, now: &mut u64) {
        let mut found = vec![0; END];
        memory
            .read(self.process, self.base, &mut found)
            .expect("memory");
        assert!(
            found == self.memory,
            "the memory of a bystander was changed"
        );
        let number = self.memory[DATA as usize..][..8].to_vec();
        let at = self.base + DATA;
        let word = u64::from(self.producer) | 0x5a5a << 32;
        let entry = Entry::new(Opcode::Write, self.producer, self.qps[0])
            .flags(flags::COMPLETION)
            .remote(at + 64, self.key)
            .inline(&word.to_ne_bytes());
        self.post(engine, memory, &entry.finish().expect("it fits"));
        let cqe = self.completed(engine, memory, now);
        assert_eq!(cqe.opcode(), Some(CqeOpcode::Requester), "{cqe:?}");
        let before = std::mem::take(&mut self.memory);
        self.memory = vec![0; END];
        self.remember(memory);
        let data = &self.memory[DATA as usize..];
        assert_eq!(data[..8], number, "a word beside the one that was written");
        assert_eq!(
            data[64..72],
            word.to_ne_bytes(),
            "the word that was written"
        );
        assert_eq!(data[72..], before[DATA as usize + 72..]);
    }

    fn post(&mut self, engine: &mut Engine, memory: &mut dyn Memory, bytes: &[u8]) {
        let slot = u64::from(u32::from(self.producer) % BLOCKS) * 64;
        let mut put = |at, bytes: &[u8]| memory.write(self.process, at, bytes).expect("memory");
        put(self.base + RINGS[0] + slot, bytes);
        self.producer = self.producer.wrapping_add(1);
        let record = u32::from(self.producer).to_be_bytes();
        put(self.base + RECORDS[0] + 4, &record);
        if self.strict {
            let found = engine.ring(memory, self.context, 0, 0x800, &bytes[..8]);
            assert!(found.is_empty(), "{found:?}");
        }
    }

    /// Returns the next completion: there is one after a step.
    fn completed(&mut self, engine: &mut Engine, memory: &mut dyn Memory, now: &mut u64) -> Cqe {
        // Operations under way are waited for.
        while let Some(due) = engine.step(memory, *now).due.filter(|due| *due > *now) {
            *now = due;
        }
        let mut bytes = [0; 64];
        let slot = u64::from(self.consumer % CQ_ENTRIES) * 64;
        memory
            .read(self.process, self.base + CQ_RING + slot, &mut bytes)
            .expect("memory");
        let cqe: Cqe = bytemuck::pod_read_unaligned(&bytes);
        assert!(
            is_ready(cqe.opcode_owner, self.consumer, CQ_ENTRIES),
            "a bystander waits for ever"
        );
        self.consumer += 1;
        cqe
    }
}

fn connect(engine: &mut Engine, context: ContextId, qp: u32, peer: u32) {
    let attr = QpAttr {
        access: Access(Access::REMOTE_WRITE),
        dest_qpn: peer,
        max_rd_atomic: 1,
        max_dest_rd_atomic: 1,
        timeout: 14,
        path: Path {
            dlid: engine.config().lid,
            port_num: 1,
            ..Path::default()
        },
        ..QpAttr::default()
    };
    let (init, receive, send) = (
        attr::PKEY_INDEX | attr::PORT | attr::ACCESS_FLAGS,
        attr::AV
            | attr::PATH_MTU
            | attr::DEST_QPN
            | attr::RQ_PSN
            | attr::MAX_DEST_RD_ATOMIC
            | attr::MIN_RNR_TIMER,
        attr::TIMEOUT | attr::RETRY_CNT | attr::RNR_RETRY | attr::SQ_PSN | attr::MAX_QP_RD_ATOMIC,
    );
    for (state, mask) in [
        (QpState::Init, init),
        (QpState::ReadyToReceive, receive),
        (QpState::ReadyToSend, send),
    ] {
        let to = QpAttr { state, ..attr };
        engine
            .modify_qp(context, qp, &to, mask | attr::STATE)
            .expect("a transition");
    }
}
