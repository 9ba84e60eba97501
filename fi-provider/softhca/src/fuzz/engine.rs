//! Any bytes as entries, records, receives, registers and commands of two clients that do not behave.

use super::input::Input;
use super::memory::{BASE, Processes};
use super::party::{
    BLOCKS, CQ_RECORD, DATA, DC_KEY, Party, QP_RECORDS, RECEIVES, SRQ_ENTRIES, SRQ_RECORD,
    SRQ_RING, change, completion_init, queue_init, shared_init,
};
use super::witness::Witness;
use crate::engine::{Access, Census, Config, Engine, Latencies, Pid, UarKind};
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::{CompactAddress, masked_modifier};

/// The process of the bystander; those of the others are 1 and 2.
const WITNESS: Pid = 9;

/// The times of a device on which operations take time.
const LATENCIES: Latencies = Latencies {
    pcie: 30_000,
    wire: 500_000,
    switch: 0,
    memory: 100_000,
};

/// Runs the input on a device that acts on records.
pub(super) fn run(bytes: &[u8]) {
    play(bytes, false);
}

/// Runs the input on a device that acts on registers alone.
pub(super) fn run_strict(bytes: &[u8]) {
    play(bytes, true);
}

fn play(bytes: &[u8], strict: bool) {
    let mut input = Input(bytes);
    let mut bench = Bench::new(strict, input.byte());
    for _ in 0..64 {
        if input.is_empty() {
            break;
        }
        bench.act(&mut input);
    }
    bench.rest(4);
    bench.check();
    for n in 0..2 {
        let context = bench.parties[n].context;
        bench.engine.close_context(context);
    }
    bench.rest(1);
    bench.check();
    assert_eq!(
        bench.engine.census(),
        bench.before,
        "something outlives its context"
    );
}

struct Bench {
    engine: Engine,
    memory: Processes,
    now: u64,
    witness: Witness,
    /// Census of the objects before the clients came.
    before: Census,
    parties: Vec<Party>,
}

impl Bench {
    fn new(strict: bool, setup: u8) -> Self {
        let config = Config {
            max_message: 1 << 13,
            burst: [64, 1][usize::from(setup & 1)],
            burst_bytes: 1 << 14,
            strict,
            latencies: (setup & 8 != 0).then_some(LATENCIES),
            transactions: setup & 16 != 0,
            ..Config::default()
        };
        let mut engine = Engine::new(config);
        let mut memory = Processes::default();
        memory.add(WITNESS);
        let context = engine.open_context(WITNESS);
        let witness = Witness::new(&mut engine, &mut memory, context, (WITNESS, BASE));
        let mut bench = Self {
            before: engine.census(),
            engine,
            memory,
            now: 0,
            witness,
            parties: Vec::new(),
        };
        for process in 1..=2 {
            bench.memory.add(process);
            let party = Party::new(&mut bench.engine, &mut bench.memory, process, setup);
            bench.parties.push(party);
        }
        bench.connect();
        bench
    }

    fn connect(&mut self) {
        let numbers: Vec<[u32; 4]> = self
            .parties
            .iter()
            .map(|party| party.queues.map(|queue| queue.handle))
            .collect();
        for (n, party) in self.parties.iter().enumerate() {
            for (queue, peer) in [(0, numbers[1 - n][0]), (1, numbers[n][1]), (2, 0), (3, 0)] {
                party.bring_up(&mut self.engine, queue, peer);
            }
        }
    }

    fn check(&mut self) {
        self.memory.begin();
        self.witness
            .check(&mut self.engine, &mut self.memory, &mut self.now);
    }

    fn rest(&mut self, steps: usize) {
        for _ in 0..steps {
            self.step(400_000_000);
        }
    }

    fn step(&mut self, time: u64) {
        self.memory.begin();
        self.now += time;
        self.engine.step(&mut self.memory, self.now);
    }

    fn act(&mut self, input: &mut Input<'_>) {
        let choice = input.byte();
        let party = usize::from(choice >> 7);
        let queue = usize::from(choice >> 5 & 3);
        match choice & 15 {
            0 => {
                let (offset, length) = (input.u16(), input.byte());
                let bytes = input.bytes(length.into());
                let process = self.parties[party].process;
                self.memory.put(process, offset.into(), bytes);
            }
            1 | 2 => self.post_raw(input, party, queue),
            3 => {
                let words = [input.u32(), input.u32()];
                let place = [
                    QP_RECORDS + 64 * queue as u64,
                    CQ_RECORD,
                    SRQ_RECORD,
                    QP_RECORDS,
                ][usize::from(choice >> 4 & 1) * queue];
                self.put(party, place, bytemuck::bytes_of(&words));
            }
            4 | 5 => self.step(u64::from(input.u16()) * 100_000),
            6 => self.command(input, party),
            7 | 8 => self.ring(input, party, queue),
            9 => self.receive(input, party, queue),
            10 => self.receive_shared(input, party),
            _ => self.post(input, party, queue),
        }
    }

    fn put(&mut self, party: usize, at: u64, bytes: &[u8]) {
        let process = self.parties[party].process;
        self.memory.put(process, (at - BASE) as usize, bytes);
    }

    /// Posts any bytes as an entry, with its number and its queue pair put right where the input
    /// wants it.
    fn post_raw(&mut self, input: &mut Input<'_>, party: usize, queue: usize) {
        let (fixed, length) = (input.byte(), input.byte());
        let mut bytes = input.bytes(length.into()).to_vec();
        let to = self.parties[party].queues[queue];
        if fixed & 1 == 0 && bytes.len() >= 8 {
            bytes[1..3].copy_from_slice(&to.sent.to_be_bytes());
            bytes[4..7].copy_from_slice(&to.handle.to_be_bytes()[1..]);
        }
        if fixed & 2 != 0 && bytes.len() >= 48 {
            let (key, far) = (self.parties[party].key, self.parties[1 - party].key);
            bytes[16..22].copy_from_slice(&DATA.to_be_bytes()[..6]);
            bytes[24..28].copy_from_slice(&far.to_be_bytes());
            bytes[36..40].copy_from_slice(&key.to_be_bytes());
            bytes[40..46].copy_from_slice(&DATA.to_be_bytes()[..6]);
        }
        self.append(party, queue, &bytes);
    }

    /// Posts an entry as a program would write it, but for its numbers.
    fn post(&mut self, input: &mut Input<'_>, party: usize, queue: usize) {
        let own = &self.parties[party];
        let far = &self.parties[[1 - party, party][queue & 1]];
        let to = own.queues[queue];
        let opcode = Opcode::ALL[input.below(Opcode::ALL.len())];
        let size = [4, 8][input.below(2)];
        let mut entry = Entry::new(opcode, to.sent, to.handle)
            .flags(input.byte())
            .immediate(input.byte().into());
        if matches!(opcode, Opcode::MaskedCompareSwap | Opcode::MaskedFetchAdd) {
            entry = entry.modifier(masked_modifier(size));
        }
        if queue == 2 {
            let target = far.queues[3].handle;
            entry = entry.address(CompactAddress::dc(DC_KEY, target, self.engine.config().lid));
        }
        if !matches!(
            opcode,
            Opcode::Nop | Opcode::Send | Opcode::SendImmediate | Opcode::SendInvalidate
        ) {
            entry = entry.remote(BASE + u64::from(input.u16()), far.key);
        }
        for _ in 0..input.below(4) {
            entry = match input.below(3) {
                0 => {
                    let length = input.byte();
                    entry.inline(input.bytes(length.into()))
                }
                1 => entry.segment(&[input.u64(), input.u64()]),
                _ => entry.data(BASE + u64::from(input.u16()), input.u16().into(), own.key),
            };
        }
        if let Ok(bytes) = entry.finish() {
            self.append(party, queue, &bytes);
        }
    }

    fn append(&mut self, party: usize, queue: usize, bytes: &[u8]) {
        let to = self.parties[party].queues[queue];
        for (n, chunk) in bytes.chunks(64).enumerate() {
            let slot = (u64::from(to.sent) + n as u64) % u64::from(BLOCKS);
            let at = to.place + 64 * (u64::from(RECEIVES) + slot);
            self.put(party, at, chunk);
        }
        let blocks = bytes.len().div_ceil(64) as u16;
        let sent = to.sent.wrapping_add(blocks);
        self.parties[party].queues[queue].sent = sent;
        self.record(party, queue);
        if self.engine.config().strict && !bytes.is_empty() {
            let context = self.parties[party].context;
            let first = &bytes[..bytes.len().min(64)];
            self.engine.ring(&mut self.memory, context, 0, 0x800, first);
        }
    }

    fn record(&mut self, party: usize, queue: usize) {
        let to = self.parties[party].queues[queue];
        let words = [to.received, to.sent].map(|count| u32::from(count).to_be());
        let at = QP_RECORDS + 64 * queue as u64;
        self.put(party, at, bytemuck::bytes_of(&words));
    }

    fn ring(&mut self, input: &mut Input<'_>, party: usize, queue: usize) {
        let (page, offset, length) = (input.number32(), input.u16(), input.byte());
        let mut bytes = input.bytes(length.into()).to_vec();
        let own = &self.parties[party];
        if page & 1 == 0 && bytes.len() >= 8 {
            bytes[4..7].copy_from_slice(&own.queues[queue].handle.to_be_bytes()[1..]);
        }
        self.memory.begin();
        self.engine.ring(
            &mut self.memory,
            own.context,
            page >> 1,
            offset.into(),
            &bytes,
        );
    }

    fn receive(&mut self, input: &mut Input<'_>, party: usize, queue: usize) {
        let to = self.parties[party].queues[queue];
        let slot = u64::from(to.received) % u64::from(RECEIVES);
        let bytes = self.list(input, party);
        self.put(party, to.place + 64 * slot, &bytes);
        self.parties[party].queues[queue].received = to.received.wrapping_add(1);
        self.record(party, queue);
    }

    fn receive_shared(&mut self, input: &mut Input<'_>, party: usize) {
        let count = self.parties[party].shared;
        let next = u16::from(input.byte());
        let mut bytes = vec![0; 16];
        bytes[2..4].copy_from_slice(&next.to_be_bytes());
        bytes.extend(self.list(input, party));
        let slot = u64::from(count) % u64::from(SRQ_ENTRIES);
        self.put(party, SRQ_RING + 64 * slot, &bytes);
        self.parties[party].shared = count.wrapping_add(1);
        let word = u32::from(count.wrapping_add(1)).to_be_bytes();
        self.put(party, SRQ_RECORD, &word);
    }

    /// Makes a list of up to three pieces of memory.
    fn list(&self, input: &mut Input<'_>, party: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..input.below(4) {
            bytes.extend(u32::from(input.u16()).to_be_bytes());
            let key = self.parties[party].key ^ u32::from(input.byte() & 1);
            bytes.extend(key.to_be_bytes());
            bytes.extend((BASE + u64::from(input.u16())).to_be_bytes());
        }
        bytes
    }

    fn command(&mut self, input: &mut Input<'_>, party: usize) {
        let own = &self.parties[party];
        let (context, engine) = (own.context, &mut self.engine);
        let known = [
            own.pd,
            own.cq,
            own.srq,
            own.queues[0].handle,
            own.queues[2].handle,
            own.queues[3].handle,
            own.key >> 8,
        ];
        let choice = input.byte();
        let name = match input.below(8) {
            7 => input.number32(),
            n => known[n],
        };
        match choice % 15 {
            0 => ignore(engine.alloc_pd(context)),
            1 => ignore(engine.dealloc_pd(context, name)),
            2 => {
                let (start, length) = (input.number(), input.number());
                let rights = Access(input.number32());
                ignore(engine.reg_mr(context, own.pd, start, length, start, rights));
            }
            3 => ignore(engine.dereg_mr(context, name)),
            4 => {
                let init = completion_init(input);
                ignore(engine.create_cq(&mut self.memory, context, &init));
            }
            5 => ignore(engine.destroy_cq(context, name)),
            6 => ignore(engine.create_srq(context, &shared_init(input, own.pd))),
            7 => ignore(engine.arm_srq(context, name, input.number32())),
            8 => ignore(engine.destroy_srq(context, name)),
            9 => {
                let init = queue_init(input, own);
                ignore(engine.create_qp(context, &init));
            }
            10 | 11 => {
                let (attr, mask) = change(input, known[3]);
                ignore(engine.modify_qp(context, name, &attr, mask));
            }
            12 => ignore(engine.destroy_qp(context, name)),
            13 => ignore(engine.uar_alloc(context, UarKind::BlueFlame)),
            _ => {
                ignore(engine.uar_destroy(context, name));
                ignore(engine.query_qp(context, name));
                ignore(engine.uar_account(context));
            }
        }
    }
}

/// Ignores whether a command is refused.
fn ignore<T>(_: crate::engine::Result<T>) {}
