//! Doorbell pages and registers: accounts in both regimes, and doorbells that are watched.

use crate::world::{Client, Cq, Qp, World, signalled};
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::doorbell::{ARM_OFFSET, Arm, PAGE, SEND_OFFSET, register_offset};
use fi_mlx5_defs::opcode::Opcode;
use softhca::engine::{Config, QpKind, QpState, QpUar, UarAccount, UarKind, UarRegime};

fn create(world: &mut World, client: Client, cq: &Cq, uar: QpUar) -> (Qp, u32) {
    let mut init = world.qp_init(client, QpKind::Rc, cq, 4, 0);
    init.uar = uar;
    let created = world.engine.create_qp(client.context, &init).unwrap();
    world
        .engine
        .destroy_qp(client.context, created.handle)
        .unwrap();
    let qp = world.create(client, init);
    let number = qp.qpn;
    world.connect(&qp, number);
    (qp, created.bfreg_index)
}

/// Posts a NOP and rings register `register` of `page`, in one half or the other.
fn ring(world: &mut World, qp: &mut Qp, page: u32, register: u32, half: u64) {
    let bytes = Entry::new(Opcode::Nop, qp.producer, qp.qpn)
        .finish()
        .unwrap();
    world.post_bytes(qp, &bytes);
    store(
        world,
        (qp.client, page),
        register_offset(register) + half * 256,
        &bytes[..8],
    );
}

/// Stores to a doorbell page.
fn store(world: &mut World, (client, page): (Client, u32), at: u64, bytes: &[u8]) {
    let pages = world.memory.uars.entry((client.context, page));
    let page = pages.or_insert_with(|| vec![0; PAGE as usize]);
    page[at as usize..][..bytes.len()].copy_from_slice(bytes);
}

/// Two processes with a connected queue pair each that rings a page of the library, and a device
/// that looks at doorbell pages.
struct Watched {
    world: World,
    qp: [Qp; 2],
    cq: [Cq; 2],
    page: [u32; 2],
}

impl Watched {
    fn new() -> Self {
        let mut world = World::new(Config {
            burst: 1,
            ..Config::default()
        });
        world.memory.watches = true;
        let clients = [world.client(10), world.client(20)];
        let cq = clients.map(|client| world.cq(client, 16, 64, Some(1)));
        let page = clients.map(|client| {
            let page = world.engine.uar_alloc(client.context, UarKind::BlueFlame);
            page.unwrap()
        });
        let qp = [0, 1].map(|n| {
            let mut init = world.qp_init(clients[n], QpKind::Rc, &cq[n], 8, 8);
            init.uar = QpUar::Page(page[n]);
            world.create(clients[n], init)
        });
        let numbers = [qp[0].qpn, qp[1].qpn];
        world.connect(&qp[0], numbers[1]);
        world.connect(&qp[1], numbers[0]);
        world.settle();
        Self {
            world,
            qp,
            cq,
            page,
        }
    }

    fn post(&mut self, side: usize, opcode: Opcode) {
        self.world.post(&mut self.qp[side], opcode, signalled);
    }

    /// Rings for all that is posted.
    fn ring(&mut self, side: usize) {
        let qp = &self.qp[side];
        let bytes = Entry::new(Opcode::Nop, qp.producer.wrapping_sub(1), qp.qpn).finish();
        let place = (qp.client, self.page[side]);
        store(&mut self.world, place, SEND_OFFSET, &bytes.unwrap()[..8]);
    }

    fn completions(&mut self, side: usize) -> usize {
        self.world.drain(&mut self.cq[side]).len()
    }
}

#[test]
fn records_are_read_again_where_their_process_rings() {
    let mut watched = Watched::new();
    let before = watched.world.memory.reads;
    for _ in 0..3 {
        watched.world.step();
    }
    assert_eq!(watched.world.memory.reads, before, "nobody rings");

    watched.post(0, Opcode::Nop);
    watched.post(0, Opcode::Nop);
    watched.post(0, Opcode::Nop);
    assert_eq!(watched.completions(0), 0, "posted, and not rung");
    watched.ring(0);
    assert_eq!(watched.completions(0), 3, "three turns for one ring");

    // The record before the register, as a process writes them: the device may look in between.
    watched.post(0, Opcode::Nop);
    watched.world.step();
    watched.ring(0);
    assert_eq!(watched.completions(0), 1);
}

#[test]
fn receives_of_a_failed_queue_pair_complete_without_a_ring() {
    let mut watched = Watched::new();
    let [qp, _] = &watched.qp;
    watched.world.modify(qp, QpState::Error, 0, |_| {});
    assert_eq!(watched.completions(0), 0);
    watched.world.receive(&mut watched.qp[0], &[]);
    assert_eq!(watched.completions(0), 1);
}

#[test]
fn a_record_from_before_a_reset_does_not_count() {
    let mut watched = Watched::new();
    watched.post(0, Opcode::Nop);
    watched.ring(0);
    assert_eq!(watched.completions(0), 1);
    let peer = watched.qp[1].qpn;
    let qp = &mut watched.qp[0];
    watched.world.modify(qp, QpState::Reset, 0, |_| {});
    qp.producer = 0;
    watched.world.record(qp);
    watched.world.connect(qp, peer);
    assert_eq!(watched.completions(0), 0);
    assert_eq!(watched.world.state(&watched.qp[0]), QpState::ReadyToSend);
    watched.post(0, Opcode::Nop);
    watched.ring(0);
    assert_eq!(watched.completions(0), 1);
}

#[test]
fn an_armed_queue_tells_of_entries_that_a_peer_rings_for() {
    let mut watched = Watched::new();
    watched.world.receive(&mut watched.qp[1], &[]);
    let arm = Arm {
        sequence: 0,
        solicited_only: false,
        consumer: 0,
    };
    watched.world.arm(&watched.cq[1], arm);
    let place = (watched.qp[1].client, watched.page[1]);
    store(&mut watched.world, place, ARM_OFFSET, &[1; 8]);
    assert!(watched.world.settle().completions.is_empty());
    watched.post(0, Opcode::Send);
    watched.ring(0);
    let told: Vec<_> = watched.world.settle().completions;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].cqn, watched.cq[1].cqn);
}

#[test]
fn a_thousand_thread_domains_of_the_library_have_a_thousand_registers() {
    let mut world = World::new(Config::default());
    let client = world.client(1);
    let cq = world.cq(client, 4, 64, None);
    let plain = world
        .engine
        .uar_alloc(client.context, UarKind::NonCached)
        .unwrap();
    let mut pages = Vec::new();
    for n in 0..1000_u32 {
        if n % 2 == 0 {
            pages.push(
                world
                    .engine
                    .uar_alloc(client.context, UarKind::BlueFlame)
                    .unwrap(),
            );
        }
        let page = pages[n as usize / 2];
        let (mut qp, _) = create(&mut world, client, &cq, QpUar::Page(page));
        ring(&mut world, &mut qp, page, n % 2, u64::from(n / 3 % 2));
        if n % 100 == 0 {
            world.settle();
        }
    }
    world.settle();
    let expected = UarAccount {
        pages: 501,
        used_pages: 500,
        registers: 1000,
        largest_sharing: 1,
    };
    assert_eq!(world.engine.uar_account(client.context), Ok(expected));
    assert_eq!(
        world
            .engine
            .uar_destroy(client.context, pages[7])
            .unwrap_err()
            .errno(),
        16
    );
    world.engine.uar_destroy(client.context, plain).unwrap();
}

#[test]
fn registers_of_the_library_are_known_once_they_ring() {
    let mut world = World::new(Config::default());
    let client = world.client(1);
    let cq = world.cq(client, 4, 64, None);
    let page = world
        .engine
        .uar_alloc(client.context, UarKind::BlueFlame)
        .unwrap();
    let mut qps: Vec<Qp> = (0..3)
        .map(|_| create(&mut world, client, &cq, QpUar::Page(page)).0)
        .collect();
    let account = |world: &World| {
        let account = world.engine.uar_account(client.context).unwrap();
        (
            account.used_pages,
            account.registers,
            account.largest_sharing,
        )
    };
    assert_eq!(account(&world), (1, 0, 0));
    for (n, expected) in [(0, (1, 1, 1)), (1, (1, 1, 2)), (2, (1, 2, 2))] {
        ring(&mut world, &mut qps[n], page, n as u32 / 2, 1);
        world.settle();
        assert_eq!(account(&world), expected);
    }
}

#[test]
fn forty_queue_pairs_and_twenty_thread_domains_of_the_kernel() {
    for (total, low_latency, expected) in [
        (16, 4, (15, 8, 4)),
        (16, 15, (16, 8, 25)),
        (32, 8, (31, 16, 2)),
    ] {
        let regime = UarRegime::Legacy { total, low_latency };
        let mut world = World::new(Config::default());
        let client = world.client(1);
        world.engine.set_uar_regime(client.context, regime).unwrap();
        let cq = world.cq(client, 4, 64, None);
        for n in 0..40 {
            let (_, index) = create(&mut world, client, &cq, QpUar::Choose);
            assert!(
                index % 4 < 2 && index / 4 < total / 2,
                "queue pair {n}: {index}"
            );
        }
        let account = world.engine.uar_account(client.context).unwrap();
        assert_eq!(
            (
                account.registers,
                account.used_pages,
                account.largest_sharing
            ),
            expected
        );
        for n in 0..20 {
            create(&mut world, client, &cq, QpUar::Register(n));
        }
        assert!(
            world.engine.set_uar_regime(client.context, regime).is_err(),
            "in use"
        );
        let with = world.engine.uar_account(client.context).unwrap();
        assert_eq!(
            (with.registers, with.used_pages),
            (expected.0 + 20, expected.1 + 10)
        );
        assert_eq!(with.pages, total / 2 + 10);
    }
}

fn strict() -> (World, Cq, Qp, u32) {
    let mut world = World::new(Config {
        strict: true,
        ..Config::default()
    });
    let client = world.client(1);
    let cq = world.cq(client, 16, 64, None);
    let page = world
        .engine
        .uar_alloc(client.context, UarKind::BlueFlame)
        .unwrap();
    let (qp, _) = create(&mut world, client, &cq, QpUar::Page(page));
    (world, cq, qp, page)
}

#[test]
fn strictly_nothing_moves_without_a_doorbell() {
    let (mut world, mut cq, mut qp, page) = strict();
    let context = qp.client.context;
    world.post(&mut qp, Opcode::Nop, signalled);
    assert!(world.drain(&mut cq).is_empty());
    let bytes = signalled(Entry::new(Opcode::Nop, 0, qp.qpn))
        .finish()
        .unwrap();
    assert_eq!(
        world
            .engine
            .ring(&mut world.memory, context, page, 0x800, &bytes[..8]),
        []
    );
    world.done(&mut cq);
    let account = world.engine.uar_account(context).unwrap();
    assert_eq!((account.registers, account.used_pages), (1, 1));
    // A doorbell for the last of three moves all three; BlueFlame copies are whole blocks.
    for _ in 0..2 {
        world.post(&mut qp, Opcode::Nop, signalled);
    }
    let mut bytes = signalled(Entry::new(Opcode::Send, 3, qp.qpn))
        .inline(&[1; 40])
        .finish()
        .unwrap();
    world.post_bytes(&mut qp, &bytes);
    bytes.resize(64, 0);
    assert_eq!(
        world
            .engine
            .ring(&mut world.memory, context, page, 0x900, &bytes),
        []
    );
    world.settle();
    assert_eq!(
        std::iter::from_fn(|| world.poll(&mut cq)).count(),
        2,
        "the send waits for its receive"
    );
}

#[test]
fn strictly_what_was_not_rung_waits() {
    let (mut world, mut cq, mut qp, page) = strict();
    let context = qp.client.context;
    for _ in 0..2 {
        world.post(&mut qp, Opcode::Nop, signalled);
    }
    for n in 0..2 {
        let bytes = signalled(Entry::new(Opcode::Nop, n, qp.qpn))
            .finish()
            .unwrap();
        let told = world
            .engine
            .ring(&mut world.memory, context, page, 0x800, &bytes[..8]);
        assert_eq!(told, []);
        assert_eq!(world.done(&mut cq).wqe_counter.get(), n);
    }
}
