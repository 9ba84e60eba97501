//! Promises while peers are connected in the background: everything, and that they are.

use crate::party::Party;
use crate::transport::{Transport, check};
use std::time::{Duration, Instant};

/// Place of each party's pairs of elements in the heap of every other, in bytes.
const FIRST: usize = 0;
const SECOND: usize = 4096;

/// Pairs that are written in any case, and as many after all peers are connected.
const STEPS: u64 = 100;

/// Time that it may take until all are.
const LIMIT: Duration = Duration::from_secs(60);

/// Lets every party write pairs of elements to all others, the second behind a fence, until it
/// reaches all of them by queues of their own and for some time more, and watch the elements that
/// it gets.
pub(crate) fn keeps_order(transport: &dyn Transport) {
    check(transport, 3, |party| {
        let begin = Instant::now();
        let mut left = 2 * STEPS;
        let mut step = 0;
        while left > 0 {
            step += 1;
            write_pairs(party, step);
            watch(party);
            if left > STEPS || party.domain.connected_in_background() == party.count - 1 {
                left -= 1;
            }
            assert!(
                begin.elapsed() < LIMIT,
                "{} of {} peers are connected after {step} steps",
                party.domain.connected_in_background(),
                party.count - 1
            );
        }
        party.quiet_and_meet();
        watch(party);
        let sums = party.heap.load::<u64>(FIRST + 8 * party.right() as usize);
        assert!(sums >= 2 * STEPS, "all that was written is there");
    });
}

fn others(party: &Party) -> impl Iterator<Item = u32> {
    let own = party.rank;
    party.all().filter(move |&peer| peer != own)
}

fn write_pairs(party: &Party, step: u64) {
    let own = 8 * party.rank as usize;
    let (first, second) = (
        party.heap.place(FIRST + own),
        party.heap.place(SECOND + own),
    );
    for peer in others(party) {
        match step % 3 {
            0 => party.lane.write(first, &[step], peer).unwrap(),
            1 => party.lane.inject(step, first, peer).unwrap(),
            _ => party.lane.add(first, 1, peer).unwrap(),
        }
        party.lane.fence().unwrap();
        party.lane.inject(step, second, peer).unwrap();
    }
}

fn watch(party: &Party) {
    for peer in others(party) {
        let from = 8 * peer as usize;
        let later = party.heap.acquire(SECOND + from);
        let earlier = party.heap.acquire(FIRST + from);
        assert!(earlier >= later, "of {peer}: {later} came before {earlier}");
    }
}
