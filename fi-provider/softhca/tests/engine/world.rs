//! Processes with memory, and drivers that write descriptors as a library would.

use bytemuck::bytes_of;
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::cqe::{Cqe, INVALID, is_ready};
use fi_mlx5_defs::doorbell::Arm;
use fi_mlx5_defs::opcode::{CqeOpcode, Opcode, Syndrome};
use fi_mlx5_defs::wqe::{Data, SrqNext, flags};
use softhca::engine::{
    Access, Config, ContextId, CqInit, Engine, Fault, Memory, MrKeys, Path, Pid, Progress, QpAttr,
    QpInit, QpKind, QpState, QpUar, SrqInit, attr,
};
use std::collections::BTreeMap;

/// Address where each process's memory starts.
pub(crate) const BASE: u64 = 0x10_0000;
/// Bytes of a process.
pub(crate) const SIZE: u64 = 1 << 20;

/// All memory there is.
#[derive(Default)]
pub(crate) struct Processes {
    memory: BTreeMap<Pid, Vec<u8>>,
    used: BTreeMap<Pid, u64>,
    pub(crate) uars: BTreeMap<(ContextId, u32), Vec<u8>>,
    /// Every write, in order: process and address.
    pub(crate) writes: Vec<(Pid, u64, usize)>,
    /// Number of reads.
    pub(crate) reads: usize,
    /// Whether doorbell pages are looked at, as they were at the last look.
    pub(crate) watches: bool,
    seen: BTreeMap<ContextId, Vec<Option<Vec<u8>>>>,
}

impl Processes {
    fn range(&self, pid: Pid, addr: u64, len: usize) -> Result<std::ops::Range<usize>, Fault> {
        let memory = self.memory.get(&pid).ok_or(Fault)?;
        let start = usize::try_from(addr.checked_sub(BASE).ok_or(Fault)?).map_err(|_| Fault)?;
        let end = start
            .checked_add(len)
            .filter(|&end| end <= memory.len())
            .ok_or(Fault)?;
        Ok(start..end)
    }

    pub(crate) fn alloc(&mut self, pid: Pid, len: u64) -> u64 {
        self.memory
            .entry(pid)
            .or_insert_with(|| vec![0; SIZE as usize]);
        let used = self.used.entry(pid).or_default();
        let addr = BASE + *used;
        *used += len.next_multiple_of(64) + 64;
        assert!(*used <= SIZE, "the process is full");
        addr
    }

    pub(crate) fn forget(&mut self, pid: Pid) {
        self.memory.remove(&pid);
    }

    /// Takes away the memory of a process from an address on.
    pub(crate) fn cut(&mut self, pid: Pid, from: u64) {
        let left = usize::try_from(from - BASE).unwrap();
        self.memory.get_mut(&pid).unwrap().truncate(left);
    }

    pub(crate) fn bytes(&mut self, pid: Pid, addr: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.read(pid, addr, &mut bytes).unwrap();
        bytes
    }

    pub(crate) fn u64(&mut self, pid: Pid, addr: u64) -> u64 {
        u64::from_ne_bytes(self.bytes(pid, addr, 8).try_into().unwrap())
    }

    pub(crate) fn put(&mut self, pid: Pid, addr: u64, data: &[u8]) {
        self.write(pid, addr, data).unwrap();
    }
}

impl Memory for Processes {
    fn read(&mut self, pid: Pid, addr: u64, buf: &mut [u8]) -> Result<(), Fault> {
        let range = self.range(pid, addr, buf.len())?;
        buf.copy_from_slice(&self.memory[&pid][range]);
        self.reads += 1;
        Ok(())
    }

    fn write(&mut self, pid: Pid, addr: u64, data: &[u8]) -> Result<(), Fault> {
        let range = self.range(pid, addr, data.len())?;
        self.memory.get_mut(&pid).ok_or(Fault)?[range].copy_from_slice(data);
        self.writes.push((pid, addr, data.len()));
        Ok(())
    }

    fn read_uar(
        &mut self,
        context: ContextId,
        page: u32,
        offset: u32,
        buf: &mut [u8; 8],
    ) -> Result<(), Fault> {
        let page = self.uars.get(&(context, page)).ok_or(Fault)?;
        let word = page.get(offset as usize..offset as usize + 8);
        buf.copy_from_slice(word.ok_or(Fault)?);
        Ok(())
    }

    fn has_rung(&mut self, context: ContextId, pages: &mut dyn Iterator<Item = u32>) -> bool {
        let page = |page| self.uars.get(&(context, page)).cloned();
        let now: Vec<_> = pages.map(page).collect();
        !self.watches || self.seen.insert(context, now.clone()) != Some(now)
    }
}

/// The device and its clients.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) memory: Processes,
    pub(crate) now: u64,
}

/// A context with one protection domain.
#[derive(Clone, Copy)]
pub(crate) struct Client {
    pub(crate) pid: Pid,
    pub(crate) context: ContextId,
    pub(crate) pd: u32,
}

/// A registered buffer.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    pub(crate) addr: u64,
    pub(crate) keys: MrKeys,
}

impl Buffer {
    pub(crate) fn key(&self) -> u32 {
        self.keys.lkey
    }
}

pub(crate) const ALL: Access = Access(
    Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ | Access::REMOTE_ATOMIC,
);

/// A completion queue.
pub(crate) struct Cq {
    pub(crate) cqn: u32,
    pid: Pid,
    buf: u64,
    pub(crate) db: u64,
    count: u32,
    size: u32,
    pub(crate) consumer: u32,
}

/// A queue pair.
pub(crate) struct Qp {
    pub(crate) handle: u32,
    pub(crate) qpn: u32,
    pub(crate) client: Client,
    pub(crate) init: QpInit,
    pub(crate) producer: u16,
    pub(crate) received: u16,
}

/// A shared receive queue.
pub(crate) struct Srq {
    pub(crate) srqn: u32,
    client: Client,
    pub(crate) init: SrqInit,
    counter: u16,
}

impl World {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            engine: Engine::new(config),
            memory: Processes::default(),
            now: 0,
        }
    }

    pub(crate) fn client(&mut self, pid: Pid) -> Client {
        self.memory.alloc(pid, 64);
        let context = self.engine.open_context(pid);
        let pd = self.engine.alloc_pd(context).unwrap();
        Client { pid, context, pd }
    }

    pub(crate) fn buffer(&mut self, client: Client, len: u64, access: Access) -> Buffer {
        let addr = self.memory.alloc(client.pid, len);
        let keys = self
            .engine
            .reg_mr(client.context, client.pd, addr, len, addr, access)
            .unwrap();
        Buffer { addr, keys }
    }

    pub(crate) fn cq(&mut self, client: Client, count: u32, size: u32, channel: Option<u64>) -> Cq {
        self.cq_that(client, count, size, |init| init.channel = channel)
    }

    pub(crate) fn cq_that(
        &mut self,
        client: Client,
        count: u32,
        size: u32,
        change: impl FnOnce(&mut CqInit),
    ) -> Cq {
        let buf = self.memory.alloc(client.pid, u64::from(count * size));
        for n in 0..count {
            self.memory
                .put(client.pid, buf + u64::from((n + 1) * size) - 1, &[INVALID]);
        }
        let db = self.memory.alloc(client.pid, 8);
        let mut init = CqInit {
            buf_addr: buf,
            db_addr: db,
            cqe_count: count,
            cqe_size: size,
            ignore_overrun: false,
            channel: None,
            user_handle: 0xc0,
        };
        change(&mut init);
        let cqn = self
            .engine
            .create_cq(&mut self.memory, client.context, &init)
            .unwrap();
        Cq {
            cqn,
            pid: client.pid,
            buf,
            db,
            count,
            size,
            consumer: 0,
        }
    }

    /// Returns sizes and places of a queue pair, not created yet.
    pub(crate) fn qp_init(
        &mut self,
        client: Client,
        kind: QpKind,
        cq: &Cq,
        blocks: u32,
        receives: u32,
    ) -> QpInit {
        let buf = self
            .memory
            .alloc(client.pid, u64::from(blocks * 64 + receives * 64));
        QpInit {
            kind,
            pd: client.pd,
            send_cq: cq.cqn,
            recv_cq: cq.cqn,
            srq: None,
            buf_addr: buf,
            db_addr: self.memory.alloc(client.pid, 8),
            sq_offset: u64::from(receives * 64),
            sq_wqe_count: blocks,
            rq_wqe_count: receives,
            rq_wqe_shift: 6,
            uidx: 0x77,
            uar: QpUar::None,
            dc_key: 0,
            user_handle: 0xa0,
        }
    }

    pub(crate) fn create(&mut self, client: Client, init: QpInit) -> Qp {
        let created = self.engine.create_qp(client.context, &init).unwrap();
        Qp {
            handle: created.handle,
            qpn: created.qpn,
            client,
            init,
            producer: 0,
            received: 0,
        }
    }

    pub(crate) fn qp(&mut self, client: Client, cq: &Cq, blocks: u32, receives: u32) -> Qp {
        let init = self.qp_init(client, QpKind::Rc, cq, blocks, receives);
        self.create(client, init)
    }

    pub(crate) fn modify(
        &mut self,
        qp: &Qp,
        to: QpState,
        mask: u32,
        change: impl FnOnce(&mut QpAttr),
    ) -> u32 {
        let lid = self.engine.config().lid;
        let mut attr = QpAttr {
            state: to,
            access: ALL,
            max_rd_atomic: 16,
            max_dest_rd_atomic: 16,
            timeout: 14,
            retry_cnt: 7,
            rnr_retry: 7,
            min_rnr_timer: 12,
            path: Path {
                dlid: lid,
                port_num: 1,
                ..Path::default()
            },
            ..QpAttr::default()
        };
        change(&mut attr);
        let done = self
            .engine
            .modify_qp(qp.client.context, qp.handle, &attr, attr::STATE | mask);
        done.unwrap().dctn
    }

    pub(crate) fn enter_init(&mut self, qp: &Qp, access: Access) {
        self.modify(qp, QpState::Init, RC_INIT, |attr| attr.access = access);
    }

    pub(crate) fn enter_receive(&mut self, qp: &Qp, peer: u32, change: impl FnOnce(&mut QpAttr)) {
        self.modify(qp, QpState::ReadyToReceive, RC_RTR, |attr| {
            attr.dest_qpn = peer;
            change(attr);
        });
    }

    pub(crate) fn enter_send(&mut self, qp: &Qp, change: impl FnOnce(&mut QpAttr)) {
        self.modify(qp, QpState::ReadyToSend, RTS, change);
    }

    pub(crate) fn connect(&mut self, qp: &Qp, peer: u32) {
        self.enter_init(qp, ALL);
        self.enter_receive(qp, peer, |_| {});
        self.enter_send(qp, |_| {});
    }

    pub(crate) fn state(&self, qp: &Qp) -> QpState {
        self.engine
            .query_qp(qp.client.context, qp.handle)
            .unwrap()
            .state
    }

    /// Writes an entry, then the doorbell record.
    pub(crate) fn post(&mut self, qp: &mut Qp, opcode: Opcode, build: impl FnOnce(Entry) -> Entry) {
        let entry = build(Entry::new(opcode, qp.producer, qp.qpn));
        self.post_bytes(qp, &entry.finish().unwrap());
    }

    /// Writes any bytes as an entry, then the doorbell record.
    pub(crate) fn post_bytes(&mut self, qp: &mut Qp, bytes: &[u8]) {
        let ring = u64::from(qp.init.sq_wqe_count) * 64;
        let base = qp.init.buf_addr + qp.init.sq_offset;
        for (n, chunk) in bytes.chunks(64).enumerate() {
            let at = (u64::from(qp.producer) + n as u64) * 64 % ring;
            self.memory.put(qp.client.pid, base + at, chunk);
        }
        qp.producer = qp.producer.wrapping_add(bytes.len().div_ceil(64) as u16);
        self.record(qp);
    }

    pub(crate) fn record(&mut self, qp: &Qp) {
        let words = [
            u32::from(qp.received).to_be(),
            u32::from(qp.producer).to_be(),
        ];
        self.memory
            .put(qp.client.pid, qp.init.db_addr, bytes_of(&words));
    }

    pub(crate) fn receive(&mut self, qp: &mut Qp, pieces: &[Data]) {
        let slot = u64::from(u32::from(qp.received) & (qp.init.rq_wqe_count - 1));
        let bytes = list(pieces, 64);
        self.memory
            .put(qp.client.pid, qp.init.buf_addr + slot * 64, &bytes);
        qp.received = qp.received.wrapping_add(1);
        self.record(qp);
    }

    pub(crate) fn srq(&mut self, client: Client, count: u32) -> Srq {
        let init = SrqInit {
            pd: client.pd,
            buf_addr: self.memory.alloc(client.pid, u64::from(count * 64)),
            db_addr: self.memory.alloc(client.pid, 4),
            wqe_count: count,
            wqe_shift: 6,
            user_handle: 0x50,
        };
        let srqn = self.engine.create_srq(client.context, &init).unwrap();
        Srq {
            srqn,
            client,
            init,
            counter: 0,
        }
    }

    /// Posts slot `slot`, which will be followed by slot `next`.
    pub(crate) fn receive_shared(&mut self, srq: &mut Srq, slot: u16, next: u16, pieces: &[Data]) {
        let link = SrqNext {
            next_index: next.into(),
            ..SrqNext::default()
        };
        let mut bytes = bytes_of(&link).to_vec();
        bytes.extend(list(pieces, 48));
        let at = srq.init.buf_addr + u64::from(slot) * 64;
        self.memory.put(srq.client.pid, at, &bytes);
        srq.counter = srq.counter.wrapping_add(1);
        let counter = u32::from(srq.counter).to_be_bytes();
        self.memory.put(srq.client.pid, srq.init.db_addr, &counter);
    }

    pub(crate) fn step(&mut self) -> Progress {
        let now = self.now;
        self.engine.step(&mut self.memory, now)
    }

    /// Steps until nothing is left to do, and gathers the progress.
    pub(crate) fn settle(&mut self) -> Progress {
        let mut all = Progress::default();
        for _ in 0..10_000 {
            let progress = self.step();
            all.worked |= progress.worked;
            all.waiting = progress.waiting;
            all.completions.extend(progress.completions);
            all.async_events.extend(progress.async_events);
            all.transactions.extend(progress.transactions);
            // Operations under way are waited for.
            let due = progress.due.filter(|due| *due > self.now);
            if let Some(due) = due {
                self.now = due;
            } else if !progress.more {
                return all;
            }
        }
        panic!("the engine does not come to rest");
    }

    pub(crate) fn poll(&mut self, cq: &mut Cq) -> Option<Cqe> {
        let slot = u64::from(cq.consumer & (cq.count - 1));
        let at = cq.buf + slot * u64::from(cq.size) + u64::from(cq.size) - 64;
        let cqe: Cqe = bytemuck::pod_read_unaligned(&self.memory.bytes(cq.pid, at, 64));
        if !is_ready(cqe.opcode_owner, cq.consumer, cq.count) {
            return None;
        }
        cq.consumer = cq.consumer.wrapping_add(1);
        let record = (cq.consumer & 0xff_ffff).to_be_bytes();
        self.memory.put(cq.pid, cq.db, &record);
        Some(cqe)
    }

    /// Settles, and takes all completions.
    pub(crate) fn drain(&mut self, cq: &mut Cq) -> Vec<Cqe> {
        self.settle();
        std::iter::from_fn(|| self.poll(cq)).collect()
    }

    /// Settles, and takes the one completion there must be, of a request that is done.
    pub(crate) fn done(&mut self, cq: &mut Cq) -> Cqe {
        let all = self.drain(cq);
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(all[0].opcode(), Some(CqeOpcode::Requester), "{:?}", all[0]);
        all[0]
    }

    pub(crate) fn arm(&mut self, cq: &Cq, arm: Arm) {
        self.memory
            .put(cq.pid, cq.db + 4, &arm.word().to_be_bytes());
    }
}

pub(crate) const RC_INIT: u32 = attr::PKEY_INDEX | attr::PORT | attr::ACCESS_FLAGS;
pub(crate) const RC_RTR: u32 = attr::AV
    | attr::PATH_MTU
    | attr::DEST_QPN
    | attr::RQ_PSN
    | attr::MAX_DEST_RD_ATOMIC
    | attr::MIN_RNR_TIMER;
pub(crate) const RTS: u32 =
    attr::TIMEOUT | attr::RETRY_CNT | attr::RNR_RETRY | attr::SQ_PSN | attr::MAX_QP_RD_ATOMIC;

/// Returns the syndrome of a completion that must be of an error.
pub(crate) fn syndrome(cqe: &Cqe) -> Option<Syndrome> {
    assert!(cqe.is_error(), "{cqe:?}");
    Syndrome::from_number(cqe.syndrome())
}

fn list(pieces: &[Data], room: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = pieces
        .iter()
        .flat_map(|piece| bytes_of(piece).to_vec())
        .collect();
    if bytes.len() < room {
        bytes.extend_from_slice(bytes_of(&Data::end()));
    }
    assert!(bytes.len() <= room);
    bytes
}

pub(crate) fn signalled(entry: Entry) -> Entry {
    entry.flags(flags::COMPLETION)
}

/// Two processes with a connected queue pair and a buffer of 4096 bytes each.
pub(crate) struct Pair {
    pub(crate) world: World,
    pub(crate) cq: [Cq; 2],
    pub(crate) qp: [Qp; 2],
    pub(crate) buffer: [Buffer; 2],
}

impl Pair {
    pub(crate) fn new() -> Self {
        Self::with(Config::default(), 16, 8)
    }

    pub(crate) fn with(config: Config, blocks: u32, receives: u32) -> Self {
        let mut world = World::new(config);
        let clients = [world.client(10), world.client(20)];
        let cq = clients.map(|client| world.cq(client, 64, 64, Some(1)));
        let qp = [0, 1].map(|n| world.qp(clients[n], &cq[n], blocks, receives));
        let numbers = [qp[0].qpn, qp[1].qpn];
        world.connect(&qp[0], numbers[1]);
        world.connect(&qp[1], numbers[0]);
        let buffer = clients.map(|client| world.buffer(client, 4096, ALL));
        Self {
            world,
            cq,
            qp,
            buffer,
        }
    }

    /// Posts to the first queue pair.
    pub(crate) fn post(&mut self, opcode: Opcode, build: impl FnOnce(Entry) -> Entry) {
        self.world.post(&mut self.qp[0], opcode, build);
    }

    pub(crate) fn fill(&mut self, side: usize, at: u64, data: &[u8]) {
        let pid = self.qp[side].client.pid;
        self.world
            .memory
            .put(pid, self.buffer[side].addr + at, data);
    }

    pub(crate) fn bytes(&mut self, side: usize, at: u64, len: usize) -> Vec<u8> {
        let pid = self.qp[side].client.pid;
        self.world
            .memory
            .bytes(pid, self.buffer[side].addr + at, len)
    }

    pub(crate) fn done(&mut self) -> Cqe {
        self.world.done(&mut self.cq[0])
    }

    pub(crate) fn drain(&mut self, side: usize) -> Vec<Cqe> {
        self.world.drain(&mut self.cq[side])
    }

    pub(crate) fn states(&self) -> [QpState; 2] {
        [self.world.state(&self.qp[0]), self.world.state(&self.qp[1])]
    }
}
