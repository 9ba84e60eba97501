//! Atomic operations on regions.

#![expect(unsafe_code, reason = "results are written to C addresses")]

use super::{LIMIT, Way, check};
use fi_provider::raw::completion::Counted;
use fi_provider::raw::endpoint::Atomic;
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Addressing, Rights};

/// Nothing is lost when all add at once, to words of both sizes, in memory of both kinds.
pub(crate) fn add_up(way: Way) {
    const ROUNDS: u64 = 500;
    check(way, 3, |party| {
        let arena = party
            .domain
            .allocate(64, Rights::ALL, Some(1), Addressing::Offset);
        let _arena = arena.unwrap();
        let mut own = [0_u64; 8];
        let place = own.as_mut_ptr().cast();
        // SAFETY: the words are mapped until the region is dropped, before them.
        let foreign = unsafe {
            let addressing = Addressing::Offset;
            party
                .domain
                .register(place, 64, Rights::ALL, Some(2), addressing)
        };
        let _foreign = foreign.unwrap();
        party.meet();
        for key in [1, 2] {
            let region = party.endpoint.resolve(0, key).unwrap();
            let fetch = |target: (u64, usize), operation, operand: u64, comparand: u64| {
                let mut found = 0_u64;
                let dest = (&raw mut found).cast();
                // SAFETY: the word stays until quiet.
                let started = party.insist(|| unsafe {
                    let operands = (operand, comparand);
                    party
                        .endpoint
                        .fetch_atomic(&region, target, operation, operands, dest, Counted)
                });
                started.map(|()| {
                    assert!(party.endpoint.quiet(LIMIT));
                    found
                })
            };
            for round in 0..ROUNDS {
                fetch((0, 8), Atomic::Add, 3, 0).unwrap();
                fetch((12, 4), Atomic::Add, 1 << 31 | 1, 0).unwrap();
                // Each bit once.
                let bit = u64::from(party.rank) * 20 + round % 20;
                fetch((16, 8), Atomic::Xor, 1 << bit, 0).unwrap();
            }
            for target in [(4, 8), (2, 4), (13, 4)] {
                assert_eq!(fetch(target, Atomic::Add, 1, 0), Err(Error::Misaligned));
            }
            assert_eq!(fetch((0, 2), Atomic::Add, 1, 0), Err(Error::TooLong));
            assert_eq!(fetch((64, 8), Atomic::Add, 1, 0), Err(Error::OutOfRange));
            party.meet();
            if party.rank == 1 {
                assert_eq!(fetch((0, 8), Atomic::Read, 0, 0), Ok(9 * ROUNDS));
                let sum = (1_u32 << 31 | 1).wrapping_mul(3 * ROUNDS as u32);
                assert_eq!(fetch((12, 4), Atomic::Read, 0, 0), Ok(sum.into()));
                assert_eq!(
                    fetch((8, 4), Atomic::Read, 0, 0),
                    Ok(0),
                    "the word before it"
                );
                let all = if ROUNDS / 20 % 2 == 1 {
                    (1 << 60) - 1
                } else {
                    0
                };
                assert_eq!(fetch((16, 8), Atomic::Swap, 6, 0), Ok(all));
                assert_eq!(fetch((16, 8), Atomic::And, 3, 0), Ok(6));
                assert_eq!(fetch((16, 8), Atomic::Or, 9, 0), Ok(2));
                assert_eq!(fetch((16, 8), Atomic::CompareSwap, 5, 10), Ok(11));
                assert_eq!(fetch((16, 8), Atomic::CompareSwap, 5, 11), Ok(11));
                assert_eq!(fetch((16, 8), Atomic::Read, 0, 0), Ok(5));
            }
            party.meet();
        }
    });
}
