//! Resources that lanes take under each policy: the formulas of the paper, the account of the
//! library here, and the objects that the device sees, are the same.
//!
//! The tests are this program again, under `softhca run`. They need Debian's package `ibverbs-providers`.

use fi_mlx5::device::{Account, CompletionQueue, Device, Overrun, Pool, QueuePair, Regime, Seat};
use fi_mlx5::policy::{Completions, POLICIES, Policy};
use softhca_again::{Again, softhca};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The most lanes.
const LANES: u32 = 16;
/// Basic blocks of a queue pair.
const BLOCKS: u32 = 64;

const LEGACY: &[&str] = &["--legacy-uars"];

/// A lane of one queue pair.
struct Lane {
    pair: QueuePair,
    _completions: CompletionQueue,
    seat: Seat,
}

fn lane(pool: &Pool, connected: bool) -> Option<Lane> {
    let seat = pool.seat().expect("a seat")?;
    let (completions, _) = seat
        .completions(BLOCKS, Overrun::Possible)
        .expect("a completion queue");
    let make = if connected {
        Seat::connected
    } else {
        Seat::initiator
    };
    let pair = make(&seat, &completions, BLOCKS).expect("a queue pair");
    Some(Lane {
        pair,
        _completions: completions,
        seat,
    })
}

/// Returns the resources that `lanes` lanes take by the paper: contexts, QPs, CQs, UARs, uUARs.
fn formula(policy: &Policy, lanes: u32) -> [u32; 5] {
    let pages = |pages| [1, lanes, lanes, 8 + pages, 16 + 2 * pages];
    match policy.name {
        "mpi-everywhere" => [lanes, lanes, lanes, 8 * lanes, 16 * lanes],
        "2x-dynamic" => [1, 2 * lanes, 2 * lanes, 8 + 2 * lanes, 16 + 4 * lanes],
        "dynamic" => pages(lanes),
        "shared-dynamic" => pages(lanes.div_ceil(2)),
        "static" => pages(0),
        "mpi+threads" => [1, 1, 1, 8, 16],
        other => panic!("what does {other} take?"),
    }
}

fn numbers(account: &Account) -> [u32; 5] {
    [
        account.contexts,
        account.queue_pairs,
        account.completion_queues,
        account.uars,
        account.uuars,
    ]
}

/// Objects of this process that the device sees: contexts, pages, registers that are rung, and on
/// each of these the queue pairs.
#[derive(Debug, Default)]
struct Seen {
    contexts: u32,
    pages: u32,
    registers: u32,
    unseen: usize,
    pairs: Vec<BTreeSet<u32>>,
}

fn seen() -> Seen {
    let output = Command::new(softhca()).arg("account").output();
    let output = output.expect("softhca starts");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut seen = Seen::default();
    let mut own = BTreeSet::new();
    for line in text.lines() {
        let words: BTreeMap<_, _> = line
            .split(' ')
            .filter_map(|word| word.split_once('='))
            .collect();
        if line.starts_with("context=") && words["process"] == std::process::id().to_string() {
            own.insert(words["context"].to_owned());
            seen.contexts += 1;
            seen.pages += words["pages"].parse::<u32>().expect("a number");
            seen.registers += words["registers"].parse::<u32>().expect("a number");
            seen.unseen += words["unseen"].parse::<usize>().expect("a number");
        } else if line.starts_with("register ") && own.contains(words["context"]) {
            let pairs = words["queue_pairs"].split(',');
            seen.pairs
                .push(pairs.map(|pair| pair.parse().expect("a number")).collect());
        }
    }
    seen
}

/// Checks that the pool's account of up to [`LANES`] lanes is `expected`, and that the device sees
/// the same contexts and pages.
fn grows(policy: &'static Policy, regime: Regime, expected: impl Fn(u32) -> [u32; 5]) {
    let device = Device::open(None).expect("a device");
    assert_eq!(device.regime(), regime);
    let pool = Pool::new(&device, policy, Completions::Own);
    // It has no doorbell, and stands in no account.
    let _target = device.target(7).expect("a target");
    let mut lanes = Vec::new();
    for count in 1..=LANES {
        let lane = lane(&pool, false);
        assert_eq!(lane.is_none(), policy.one_lane && count > 1);
        lanes.extend(lane);
        let account = pool.account();
        assert_eq!(
            numbers(&account),
            expected(count),
            "{count} lanes of {}",
            policy.name
        );
        let seen = seen();
        let told = (account.contexts, account.uars);
        assert_eq!((seen.contexts, seen.pages), told, "{count} {}", policy.name);
        if regime == Regime::Legacy {
            assert_eq!(seen.registers, account.used_uuars, "{}", policy.name);
            assert_eq!(seen.unseen, 0);
        }
        assert!(!lanes.iter().any(|lane: &Lane| lane.seat.is_short()));
    }
    let most = pool.account();
    assert!(most.bytes > u64::from(most.queue_pairs) * u64::from(BLOCKS) * 128);
    drop(lanes);
    let none = pool.account();
    assert_eq!(
        [none.contexts, none.queue_pairs, none.completion_queues],
        [1, 0, 0]
    );
    assert_eq!(none.bytes, 0);
    // Resources that were given back are used again, and no page more.
    let again: Vec<_> = (0..LANES).filter_map(|_| lane(&pool, false)).collect();
    assert_eq!(pool.account(), most, "{} again", policy.name);
    drop(again);
}

/// Does `grows` for every policy.
fn all_grow(regime: Regime, expected: fn(&Policy, u32) -> [u32; 5]) {
    for policy in &POLICIES {
        grows(policy, regime, |lanes| expected(policy, lanes));
    }
}

#[test]
fn accounts_are_the_papers_where_the_kernel_assigns_registers() {
    let again = Again {
        options: LEGACY,
        seconds: 120,
        ..Again::default()
    };
    again.body(
        "accounts_are_the_papers_where_the_kernel_assigns_registers",
        || all_grow(Regime::Legacy, formula),
    );
}

#[test]
fn sixteen_lanes_take_what_the_papers_figures_show() {
    let at_16 = POLICIES.each_ref().map(|policy| formula(policy, 16));
    assert_eq!(at_16.map(|it| it[4]), [256, 80, 48, 32, 16, 16]);
    assert_eq!(at_16.map(|it| it[1]), [16, 32, 16, 16, 16, 1]);
    assert_eq!(at_16.map(|it| it[2]), [16, 32, 16, 16, 16, 1]);
}

/// Returns the account where libmlx5 asks for pages: there is one in the beginning, and none for
/// queue pairs that do not come.
fn of_the_library(policy: &Policy, lanes: u32) -> [u32; 5] {
    // Four registers for a queue pair each, then a page for each until twelve are there to be shared.
    let plain = |pairs: u32| match pairs {
        0..=4 => pairs.div_ceil(2),
        5..=10 => pairs - 2,
        _ => 8,
    };
    let [contexts, pairs, completions, ..] = formula(policy, lanes);
    let pages = match policy.name {
        "mpi-everywhere" => lanes * (1 + plain(1)),
        "2x-dynamic" => 1 + 2 * lanes,
        "dynamic" => 1 + lanes,
        "shared-dynamic" => 1 + lanes.div_ceil(2),
        _ => 1 + plain(pairs),
    };
    [contexts, pairs, completions, pages, 2 * pages]
}

#[test]
fn accounts_are_what_the_device_sees_where_the_library_asks_for_pages() {
    let again = Again {
        seconds: 120,
        ..Again::default()
    };
    again.body(
        "accounts_are_what_the_device_sees_where_the_library_asks_for_pages",
        || all_grow(Regime::Library, of_the_library),
    );
}

#[test]
fn variables_of_libmlx5_are_honoured() {
    let name = "variables_of_libmlx5_are_honoured";
    for (options, total, low_latency, pages) in [
        (LEGACY, "32", "8", 16),
        (LEGACY, "5", "1", 3),
        // The page that takes no copies; all forty have to share the six on three pages, or have one of the twenty.
        (&[], "32", "8", 1 + 16),
        (&[], "6", "0", 1 + 3),
    ] {
        let variables = [
            ("MLX5_TOTAL_UUARS", total),
            ("MLX5_NUM_LOW_LAT_UUARS", low_latency),
            ("FI_MLX5_TEST_PAGES", &format!("{pages}")),
        ];
        let again = Again {
            options,
            environment: &variables,
            seconds: 60,
        };
        again.body(name, || {
            let pages = std::env::var("FI_MLX5_TEST_PAGES").expect("set");
            let device = Device::open(None).expect("a device");
            let policy = Policy::named("static").expect("a policy");
            let pool = Pool::new(&device, policy, Completions::Own);
            let lanes: Vec<_> = (0..40).filter_map(|_| lane(&pool, true)).collect();
            assert_eq!(pool.account().uars.to_string(), pages);
            assert_eq!(pool.account().uars, seen().pages);
            assert!(lanes.iter().all(|lane| lane.seat.shares_registers()));
        });
        if softhca_again::is_under() {
            break;
        }
    }
}

/// Checks that lanes that have pages or registers of their own have them, as the device sees it.
fn registers() {
    for policy in &POLICIES {
        let device = Device::open(None).expect("a device");
        let pool = Pool::new(&device, policy, Completions::Own);
        let mut lanes: Vec<_> = (0..8).filter_map(|_| lane(&pool, true)).collect();
        if !policy.one_lane {
            // Registers that lanes leave in any order are used again, pages by pages.
            for place in [5, 1, 3] {
                lanes.swap_remove(place);
            }
            lanes.extend((0..3).filter_map(|_| lane(&pool, true)));
        }
        let registers = lanes.iter().map(|lane| lane.pair.ring().register.addr());
        let registers: BTreeSet<_> = registers.collect();
        let pages: BTreeSet<_> = registers.iter().map(|register| register / 4096).collect();
        let of_their_own = match policy.name {
            "mpi-everywhere" | "2x-dynamic" | "dynamic" | "static" => (8, 8),
            "shared-dynamic" => (8, 4),
            _ => (1, 1),
        };
        if policy.name != "static" {
            assert_eq!(
                (registers.len(), pages.len()),
                of_their_own,
                "{}",
                policy.name
            );
        }
        let seen = seen();
        for lane in &lanes {
            let with = seen
                .pairs
                .iter()
                .find(|pairs| pairs.contains(&lane.pair.number()))
                .expect("a register");
            assert!(with.len() == 1 || lane.seat.shares_registers());
        }
        assert!(lanes.iter().all(|lane| lane.pair.ring().register_size > 0));
    }
}

#[test]
fn registers_of_lanes_are_those_of_the_policy() {
    let again = Again {
        options: LEGACY,
        ..Again::default()
    };
    again.body("registers_of_lanes_are_those_of_the_policy", registers);
}

#[test]
fn completion_queues_are_shared_by_the_lanes_of_a_context() {
    Again::default().body(
        "completion_queues_are_shared_by_the_lanes_of_a_context",
        || {
            let device = Device::open(None).expect("a device");
            for policy in &POLICIES {
                let pool = Pool::new(&device, policy, Completions::Shared);
                let lanes: Vec<_> = (0..LANES).filter_map(|_| lane(&pool, true)).collect();
                let account = pool.account();
                assert_eq!(
                    account.completion_queues, account.contexts,
                    "{}",
                    policy.name
                );
                assert_eq!(account.queue_pairs, formula(policy, LANES)[1]);
                drop(lanes);
            }
        },
    );
}

/// Checks that lanes have less where pages run out, and say so.
fn few_pages() {
    let device = Device::open(None).expect("a device");
    let policy = Policy::named("dynamic").expect("a policy");
    let pool = Pool::new(&device, policy, Completions::Own);
    let lanes: Vec<_> = (0..6).filter_map(|_| lane(&pool, true)).collect();
    let short: Vec<_> = lanes.iter().map(|lane| lane.seat.is_short()).collect();
    assert_eq!(short, [false, false, false, false, true, true]);
    let locked = lanes.iter().map(|lane| lane.seat.shares_registers());
    assert_eq!(locked.collect::<Vec<_>>(), short);
    assert_eq!(pool.account().uars, 8 + 4);
}

#[test]
fn lanes_without_pages_have_what_the_context_has_anyway() {
    let again = Again {
        options: &["--legacy-uars", "--uar-pages", "12"],
        ..Again::default()
    };
    again.body(
        "lanes_without_pages_have_what_the_context_has_anyway",
        few_pages,
    );
}

#[test]
fn lanes_without_contexts_have_a_register_of_the_first() {
    let again = Again {
        options: &["--legacy-uars", "--uar-pages", "25"],
        ..Again::default()
    };
    again.body(
        "lanes_without_contexts_have_a_register_of_the_first",
        || {
            let device = Device::open(None).expect("a device");
            let policy = Policy::named("mpi-everywhere").expect("a policy");
            let pool = Pool::new(&device, policy, Completions::Own);
            let lanes: Vec<_> = (0..5).filter_map(|_| lane(&pool, true)).collect();
            let short: Vec<_> = lanes.iter().map(|lane| lane.seat.is_short()).collect();
            assert_eq!(short, [false, false, false, true, true]);
            assert!(!lanes.iter().any(|lane| lane.seat.shares_registers()));
            let account = pool.account();
            assert_eq!((account.contexts, account.uars), (3, 3 * 8 + 1));
            assert_eq!(account.used_uuars, 5);
        },
    );
}
