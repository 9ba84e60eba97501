//! Strict mode: the violations by doorbells that are not as hardware needs them, and the effects of
//! these doorbells.

use crate::world::{Client, Cq, Qp, World, signalled};
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::doorbell::Arm;
use fi_mlx5_defs::opcode::Opcode;
use softhca::engine::{Config, Pid, Progress, QpKind, QpUar, UarKind, UarRegime, Violation};

/// Offsets where a register of a page is rung: its first half, and its second.
const REGISTER: u32 = 0x800;
const HALF: u32 = 0x900;

/// One queue pair, connected to itself, on a page of its own.
struct Bench {
    world: World,
    cq: Cq,
    qp: Qp,
    page: u32,
}

impl Bench {
    fn new() -> Self {
        Self::with(0, UarKind::BlueFlame)
    }

    fn with(hold_ns: u64, kind: UarKind) -> Self {
        let mut world = World::new(Config {
            strict: true,
            hold_ns,
            ..Config::default()
        });
        let client = world.client(1);
        let page = world.engine.uar_alloc(client.context, kind).unwrap();
        let cq = world.cq(client, 16, 64, Some(5));
        let qp = queue_pair(&mut world, client, &cq, QpUar::Page(page));
        Self {
            world,
            cq,
            qp,
            page,
        }
    }

    fn client(&self) -> Client {
        self.qp.client
    }

    /// Returns the bytes of the next entry: a NOP with 48 bytes behind its control segment.
    fn bytes(&self) -> Vec<u8> {
        let entry = signalled(Entry::new(Opcode::Write, self.qp.producer, self.qp.qpn));
        let mut bytes = entry.remote(0x10, 0).inline(&[7; 16]).finish().unwrap();
        assert_eq!(bytes.len(), 64);
        bytes[3] = 0; // a NOP, with any bytes behind it
        bytes
    }

    /// Posts the next entry and gives its bytes.
    fn post(&mut self) -> Vec<u8> {
        let bytes = self.bytes();
        self.world.post_bytes(&mut self.qp, &bytes);
        bytes
    }

    fn store(&mut self, offset: u32, bytes: &[u8]) -> Vec<Violation> {
        self.store_of(0, self.page, offset, bytes)
    }

    fn store_of(&mut self, thread: u32, page: u32, offset: u32, bytes: &[u8]) -> Vec<Violation> {
        let context = self.client().context;
        let (engine, memory) = (&mut self.world.engine, &mut self.world.memory);
        engine.store(memory, context, thread, page, offset, bytes)
    }

    fn step_at(&mut self, now: u64) -> Progress {
        self.world.now = now;
        self.world.step()
    }
}

fn queue_pair(world: &mut World, client: Client, cq: &Cq, uar: QpUar) -> Qp {
    let mut init = world.qp_init(client, QpKind::Rc, cq, 4, 0);
    init.uar = uar;
    let qp = world.create(client, init);
    let number = qp.qpn;
    world.connect(&qp, number);
    qp
}

fn told(pid: Pid, violation: Violation) -> Vec<(Pid, Violation)> {
    vec![(pid, violation)]
}

#[test]
fn doorbells_and_copies_around_the_ring_are_served() {
    let mut bench = Bench::new();
    for n in 0..20 {
        let bytes = bench.post();
        if n % 2 == 0 {
            assert_eq!(bench.store(REGISTER, &bytes[..8]), []);
        } else {
            for at in [48, 0, 16, 32] {
                assert_eq!(bench.store(HALF + at, &bytes[at as usize..][..16]), []);
            }
        }
        assert_eq!(bench.world.done(&mut bench.cq).wqe_counter.get(), n);
    }
}

#[test]
fn the_record_comes_first() {
    let mut bench = Bench::new();
    let (qpn, bytes) = (bench.qp.qpn, bench.bytes());
    bench.world.memory.put(1, bench.qp.init.buf_addr, &bytes);
    let behind = Violation::RecordBehind {
        qpn,
        rung: 0,
        record: 0,
    };
    assert_eq!(bench.store(REGISTER, &bytes[..8]), [behind]);
    bench.world.done(&mut bench.cq);
}

#[test]
fn the_entry_comes_first() {
    let mut bench = Bench::new();
    let (qpn, bytes) = (bench.qp.qpn, bench.post());
    let at = bench.qp.init.buf_addr;
    bench.world.memory.put(1, at + 9, &[9]);
    assert_eq!(bench.store(REGISTER, &bytes[..8]), []);
    bench.world.memory.put(1, at + 3, &[9]);
    assert_eq!(
        bench.store(HALF, &bytes[..8]),
        [
            Violation::EntryDiffers(qpn),
            Violation::OutOfOrder {
                qpn,
                rung: 1,
                before: 1
            }
        ]
    );
}

#[test]
fn what_is_changed_after_it_was_rung_is_told_once() {
    let mut bench = Bench::with(1000, UarKind::BlueFlame);
    let (qpn, bytes) = (bench.qp.qpn, bench.post());
    bench.step_at(5000);
    assert_eq!(bench.store(REGISTER, &bytes), []);
    let progress = bench.step_at(5999);
    assert!(progress.waiting && !progress.worked);
    bench.world.memory.put(1, bench.qp.init.buf_addr + 40, &[1]);
    let changed = Violation::EntryChanged {
        qpn,
        index: 0,
        at: 40,
    };
    assert_eq!(bench.step_at(6000).violations, told(1, changed));
    assert_eq!(bench.step_at(6001).violations, []);
    // A kick ends the time.
    let bytes = bench.post();
    assert_eq!(bench.store(HALF, &bytes), []);
    assert!(!bench.step_at(6002).worked);
    bench.world.engine.release();
    let progress = bench.step_at(6003);
    assert!(progress.worked && progress.violations.is_empty());
}

#[test]
fn a_copy_equals_the_entry() {
    let mut bench = Bench::new();
    let qpn = bench.qp.qpn;
    let mut bytes = bench.post();
    bytes[44] ^= 1;
    let differs = Violation::BlueFlameDiffers { qpn, at: 44 };
    assert_eq!(bench.store(REGISTER, &bytes), [differs]);
    bench.world.done(&mut bench.cq);
    // In pieces: known when no more comes.
    let mut bytes = bench.post();
    bytes[60] ^= 1;
    for at in [0, 16, 32, 48] {
        assert_eq!(bench.store(HALF + at, &bytes[at as usize..][..16]), []);
    }
    bench.world.done(&mut bench.cq);
    bench.world.engine.close_context(bench.client().context);
    let differs = Violation::BlueFlameDiffers { qpn, at: 60 };
    assert_eq!(bench.step_at(1).violations, told(1, differs));
}

#[test]
fn a_register_without_blueflame_takes_no_copies() {
    let mut bench = Bench::with(0, UarKind::NonCached);
    let qpn = bench.qp.qpn;
    let bytes = bench.post();
    assert_eq!(bench.store(REGISTER, &bytes[..8]), []);
    let bytes = bench.post();
    assert_eq!(
        bench.store(REGISTER, &bytes),
        [Violation::NoBlueFlame { qpn }]
    );
}

#[test]
fn registers_of_the_kernel_have_blueflame_but_for_the_first() {
    let mut world = World::new(Config {
        strict: true,
        ..Config::default()
    });
    let client = world.client(1);
    let regime = UarRegime::Legacy {
        total: 4,
        low_latency: 3,
    };
    world.engine.set_uar_regime(client.context, regime).unwrap();
    assert_eq!(world.engine.static_pages(client.context), Ok(2));
    let cq = world.cq(client, 16, 64, None);
    for (page, offset, free) in [
        (0, 0xa00, true),
        (1, 0x800, true),
        (1, 0xa00, true),
        (0, 0x800, false),
    ] {
        let mut qp = queue_pair(&mut world, client, &cq, QpUar::Choose);
        let mut bytes = Entry::new(Opcode::Nop, 0, qp.qpn).finish().unwrap();
        bytes.resize(64, 0);
        world.post_bytes(&mut qp, &bytes);
        let found = world
            .engine
            .ring(&mut world.memory, client.context, page, offset, &bytes);
        let expected = if free {
            vec![]
        } else {
            vec![Violation::NoBlueFlame { qpn: qp.qpn }]
        };
        assert_eq!(found, expected, "register at {offset:#x} of page {page}");
    }
}

#[test]
fn doorbells_come_once_and_in_order() {
    let mut bench = Bench::new();
    let qpn = bench.qp.qpn;
    let first = bench.post();
    let second = bench.post();
    let order = |rung, before| Violation::OutOfOrder { qpn, rung, before };
    assert_eq!(bench.store(REGISTER, &second[..8]), []);
    assert_eq!(bench.store(HALF, &second[..8]), [order(2, 2)]);
    assert_eq!(bench.store(REGISTER, &first[..8]), [order(1, 2)]);
    assert_eq!(bench.world.drain(&mut bench.cq).len(), 2);
    // A counter that is further ahead than the ring is long is none, either.
    let mut far = bench.bytes();
    far[2] = 7;
    let found = bench.store(REGISTER, &far[..8]);
    assert!(found.contains(&order(8, 2)), "{found:?}");
    assert!(!bench.step_at(0).worked);
}

#[test]
fn a_queue_pair_is_rung_on_its_own_page() {
    let mut bench = Bench::new();
    let (context, qpn, own) = (bench.client().context, bench.qp.qpn, bench.page);
    let other = bench
        .world
        .engine
        .uar_alloc(context, UarKind::BlueFlame)
        .unwrap();
    let bytes = bench.post();
    let wrong = Violation::WrongPage {
        qpn,
        rung_on: other,
        own,
    };
    assert_eq!(bench.store_of(0, other, REGISTER, &bytes[..8]), [wrong]);
    assert!(bench.world.drain(&mut bench.cq).is_empty());
    let mut nobody = bytes.clone();
    nobody[5] ^= 0x40;
    let found = bench.store(REGISTER, &nobody[..8]);
    assert_eq!(found, [Violation::UnknownQueue(qpn ^ 0x4000)]);
    // Another context's is nobody's.
    let stranger = bench.world.client(2).context;
    let (engine, memory) = (&mut bench.world.engine, &mut bench.world.memory);
    let found = engine.ring(memory, stranger, own, REGISTER, &bytes[..8]);
    assert_eq!(found, [Violation::UnknownQueue(qpn)]);
    assert_eq!(bench.store(REGISTER, &bytes[..8]), []);
    bench.world.done(&mut bench.cq);
}

#[test]
fn writes_to_no_register_are_told() {
    let mut bench = Bench::new();
    let bytes = bench.post();
    for (offset, size) in [
        (0, 8),
        (0x24, 8),
        (0x7fc, 8),
        (0xc00, 8),
        (0x8f8, 16),
        (0xbfc, 8),
        (0x800, 2),
        (0x802, 8),
        (0xfff, 1),
        (0x800, 0),
    ] {
        let none = Violation::NoRegister { offset, size };
        assert_eq!(bench.store(offset, &bytes[..size]), [none]);
    }
    assert!(bench.world.drain(&mut bench.cq).is_empty());
}

#[test]
fn what_is_never_rung_is_told_in_the_end() {
    for (destroyed, wait, expected) in [(true, 0, true), (false, 200, true), (false, 20, false)] {
        let mut bench = Bench::new();
        let (context, qpn) = (bench.client().context, bench.qp.qpn);
        bench.step_at(1_000_000);
        let rung = bench.post();
        assert_eq!(bench.store(REGISTER, &rung[..8]), []);
        bench.step_at(12_000_000);
        bench.post();
        bench.step_at(23_000_000);
        bench.step_at(23_000_000 + wait * 1_000_000);
        let (engine, memory) = (&mut bench.world.engine, &mut bench.world.memory);
        if destroyed {
            engine.check_rung(memory, context, bench.qp.handle);
            engine.destroy_qp(context, bench.qp.handle).unwrap();
        } else {
            // The process has ended.
            memory.forget(1);
            engine.step(memory, 23_000_000 + wait * 1_000_000 + 20_000_000);
            engine.close_context(context);
        }
        let never = Violation::NeverRung {
            qpn,
            rung: 1,
            record: 2,
        };
        let expected = if expected { told(1, never) } else { vec![] };
        assert_eq!(
            bench.world.step().violations,
            expected,
            "{destroyed} {wait}"
        );
    }
}

#[test]
fn queue_pairs_that_rang_everything_end_in_silence() {
    let mut bench = Bench::new();
    let context = bench.client().context;
    let bytes = bench.post();
    bench.store(REGISTER, &bytes[..8]);
    bench.world.done(&mut bench.cq);
    let (engine, memory) = (&mut bench.world.engine, &mut bench.world.memory);
    engine.check_rung(memory, context, bench.qp.handle);
    engine.close_context(context);
    assert_eq!(bench.step_at(500_000_000).violations, []);
}

#[test]
fn completion_queues_are_armed_by_the_register() {
    let mut bench = Bench::new();
    let arm = Arm {
        sequence: 0,
        solicited_only: false,
        consumer: 0,
    };
    let bytes = bench.post();
    bench.store(REGISTER, &bytes[..8]);
    bench.world.arm(&bench.cq, arm);
    assert_eq!(bench.world.settle().completions, [], "the record alone");
    let cqn = bench.cq.cqn;
    let register = arm.register(cqn).get().to_be_bytes();
    assert_eq!(bench.store(0x20, &register), []);
    assert_eq!(bench.world.settle().completions.len(), 1);
    assert_eq!(bench.world.settle().completions, []);
    // By halves, and again with the same word.
    assert_eq!(bench.store(0x20, &register[..4]), []);
    assert_eq!(bench.store(0x24, &register[4..]), []);
    let bytes = bench.post();
    bench.store(HALF, &bytes[..8]);
    assert_eq!(bench.world.settle().completions.len(), 1);
    let other = Arm { sequence: 1, ..arm };
    let differs = Violation::ArmDiffers {
        cqn,
        rung: other.word(),
        record: arm.word(),
    };
    let found = bench.store(0x20, &other.register(cqn).get().to_be_bytes());
    assert_eq!(found, [differs]);
    let unknown = arm.register(cqn + 9).get().to_be_bytes();
    let found = bench.store(0x20, &unknown);
    assert_eq!(found, [Violation::UnknownCompletionQueue(cqn + 9)]);
}

#[test]
fn threads_do_not_share_a_copy() {
    let mut bench = Bench::new();
    let page = bench.page;
    let first = bench.post();
    assert_eq!(bench.store_of(1, page, REGISTER, &first[..16]), []);
    let second = bench.post();
    let interleaved = Violation::Interleaved {
        page,
        offset: REGISTER,
    };
    let found = bench.store_of(2, page, REGISTER, &second[..8]);
    assert_eq!(found, [interleaved]);
    assert_eq!(bench.world.drain(&mut bench.cq).len(), 2);
}
