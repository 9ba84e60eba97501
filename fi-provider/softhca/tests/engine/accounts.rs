//! Doorbell pages and registers: accounts in both regimes, and doorbells that are watched.

use crate::world::{Client, Cq, Qp, World, signalled};
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::doorbell::{PAGE, register_offset};
use fi_mlx5_defs::opcode::Opcode;
use softhca::engine::{Config, QpKind, QpUar, UarAccount, UarKind, UarRegime};

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
    let at = (register_offset(register) + half * 256) as usize;
    let pages = world.memory.uars.entry((qp.client.context, page));
    pages.or_insert_with(|| vec![0; PAGE as usize])[at..at + 8].copy_from_slice(&bytes[..8]);
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
