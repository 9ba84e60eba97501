//! Calls in all directions, by threads and by actions, with the smallest memory for messages.

use super::{Program, Random};
use calls::{Calls, Error, Here, action};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) const PROGRAMS: &[Program] = &[
    ("storm", storm),
    ("threads", threads),
    ("calls_by_calls", calls_by_calls),
    ("graph", graph),
];

#[action]
fn echo(number: u64, bytes: Vec<u8>) -> (u64, Vec<u8>) {
    (number, bytes)
}

static TOLD: AtomicU64 = AtomicU64::new(0);

#[action]
fn tell(bytes: Vec<u8>) {
    TOLD.fetch_add(bytes.len() as u64, Ordering::Relaxed);
}

#[action]
fn told() -> u64 {
    TOLD.swap(0, Ordering::Relaxed)
}

/// Returns a length: mostly short.
fn length(random: &mut Random) -> usize {
    let most = [8, 64, 1 << 10, 1 << 13, 1 << 16][random.below(5) as usize];
    random.below(most) as usize
}

/// Makes many calls, before any result is waited for.
fn storm(calls: &Calls) {
    let mut random = Random(calls.rank().into());
    let mut waiting = Vec::new();
    let mut sent = 0;
    for number in 0..300_u64 {
        let to = random.below(calls.ranks().into()) as u32;
        let peer = calls.to(to).expect("a rank");
        let bytes = vec![number as u8; length(&mut random)];
        waiting.push((number, bytes.len(), peer.run(echo, (number, bytes))));
        let bytes = vec![1; length(&mut random) / 16];
        sent += bytes.len() as u64;
        peer.tell(tell, (bytes,));
    }
    for (number, len, call) in waiting {
        let (back, bytes) = call.wait().expect("a result");
        assert_eq!((back, bytes), (number, vec![number as u8; len]));
    }
    calls.settle().expect("all are there");
    if calls.rank() == 0 {
        let each = calls.to_each(0..calls.ranks(), told, ());
        let all: u64 = each
            .expect("ranks")
            .into_iter()
            .map(|call| call.wait().expect("a sum"))
            .sum();
        assert!(all >= sent, "{all} of {sent} and more");
    }
}

fn threads(calls: &Calls) {
    std::thread::scope(|threads| {
        for thread in 0..3_u64 {
            threads.spawn(move || {
                let mut random = Random(thread << 32 | u64::from(calls.rank()));
                for number in 0..60 {
                    let to = random.below(calls.ranks().into()) as u32;
                    let bytes = vec![thread as u8; length(&mut random)];
                    let call = calls
                        .to(to)
                        .expect("a rank")
                        .run(echo, (number, bytes.clone()));
                    assert_eq!(call.wait().expect("a result"), (number, bytes));
                }
            });
        }
    });
    // A thread waits for one that has ended: nobody polls by itself.
    calls.barrier().expect("all are there");
}

static VISITED: AtomicU64 = AtomicU64::new(0);

#[action]
fn visit(here: &Here, hops: u32) {
    VISITED.fetch_add(1, Ordering::Relaxed);
    let calls = here.calls();
    for next in (0..2).filter(|_| hops > 0) {
        let to = (calls.rank() + 1 + next) % calls.ranks();
        calls.to(to).expect("a rank").tell(visit, (hops - 1,));
    }
}

#[action]
fn visited() -> u64 {
    VISITED.swap(0, Ordering::Relaxed)
}

/// Calls that calls have made are waited for.
fn calls_by_calls(calls: &Calls) {
    for hops in [0, 3, 8] {
        calls.barrier().expect("all are there");
        let last = calls.ranks() - 1;
        if calls.rank() == last {
            calls.to(0).expect("a rank").tell(visit, (hops,));
        }
        calls.settle().expect("all are there");
        if calls.rank() == 0 {
            let each = calls.to_each(0..calls.ranks(), visited, ()).expect("ranks");
            let all = each.into_iter().map(|call| call.wait().expect("a number"));
            assert_eq!(all.sum::<u64>(), (2 << hops) - 1);
        }
    }
}

/// Returns the number of leaves of a tree of calls that wait for others; `None` where too many
/// waited on a thread.
#[action]
fn leaves(here: &Here, height: u32) -> Option<u64> {
    if height == 0 {
        return Some(1);
    }
    let calls = here.calls();
    let one = |add| {
        let to = (calls.rank() + add) % calls.ranks();
        calls.to(to).expect("a rank").run(leaves, (height - 1,))
    };
    let parts = [one(1), one(2)].map(|call| match call.wait() {
        Err(Error::Nested(_)) => None,
        other => other.expect("a number"),
    });
    Some(parts[0]? + parts[1]?)
}

fn graph(calls: &Calls) {
    let to = calls.to(calls.rank()).expect("a rank");
    let found = to.run(leaves, (5,)).wait().expect("a number");
    assert!(found.is_none_or(|leaves| leaves == 32), "{found:?}");
}
