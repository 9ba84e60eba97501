//! Atomic operations on regions.

#![expect(unsafe_code, reason = "results are written to C addresses")]

use super::{LIMIT, Party, Way, check};
use fi_provider::raw::completion::{Context, Counted, Operation};
use fi_provider::raw::endpoint::{Arithmetic, Atomic, Datatype, RemoteRegion, Typed, Word};
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Addressing, Rights};

/// Checks that nothing is lost when all add at once, to words of both sizes, in memory of both
/// kinds.
pub(crate) fn add_up(way: Way) {
    add_up_in(way, |party, key| party.endpoint.resolve(0, key));
}

/// Does the same as [`add_up`] where the device does it, also for processes of the node and the
/// owner of the words.
pub(crate) fn by_device_add_up(way: Way) {
    add_up_in(way, |party, key| party.endpoint.resolve_by_device(0, key));
}

fn add_up_in(way: Way, look_up: fn(&Party<'_>, u64) -> Result<RemoteRegion, Error>) {
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
            let region = party.insist(|| look_up(party, key)).unwrap();
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

/// Checks that nothing is lost when all change elements of each type at once, by each operation
/// that the domain has; others are refused.
pub(crate) fn of_elements_add_up(way: Way) {
    const ROUNDS: usize = 60;
    check(way, 3, |party| {
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
        let arena = party
            .domain
            .allocate(64, Rights::ALL, Some(1), Addressing::Offset);
        let _arena = arena.unwrap();
        party.meet();
        let regions = [1, 2].map(|key| party.insist(|| party.endpoint.resolve(0, key)).unwrap());
        // Three elements of a region: the place of the first one, the operands.
        let change = |region, what, at: u64, operands: [u64; 3], fetches: bool| {
            let mut found = [0_u64; 3];
            let bytes = Typed::bytes(what);
            let mut number = 0..3_u64;
            let words = found.each_mut().map(|word| {
                let nth = number.next().unwrap();
                Word {
                    region,
                    address: at + nth * bytes as u64,
                    operand: operands[nth as usize],
                    comparand: 0,
                    found: if fetches {
                        std::ptr::from_mut(word).cast()
                    } else {
                        std::ptr::null_mut()
                    },
                }
            });
            // SAFETY: the words stay until the entry below.
            let started =
                party.insist(|| unsafe { party.endpoint.update(&words, what, Context(at)) });
            started.map(|()| {
                let entry = party.entry().unwrap();
                let kind = if fetches {
                    Operation::Fetch
                } else {
                    Operation::Atomic
                };
                assert_eq!((entry.operation, entry.context), (kind, at));
                assert_eq!(entry.len, 3 * bytes);
                found
            })
        };
        for region in &regions {
            for datatype in Datatype::ALL {
                let typed = |operation| Typed::new(operation, datatype).unwrap();
                let (one, sum) = (word_of(datatype, 1), typed(Arithmetic::Sum));
                let (read, write) = (typed(Arithmetic::Read), typed(Arithmetic::Write));
                let is_done = |what| party.domain.updates(what);
                if !is_done(sum) {
                    assert!(matches!(way, Way::Device(_)), "{datatype:?}");
                    let refused = change(region, sum, 8, [one; 3], false);
                    assert_eq!(refused, Err(Error::NotAllowed), "{datatype:?}");
                    continue;
                }
                assert!(is_done(read) && is_done(write), "{datatype:?}");
                if party.rank == 0 {
                    change(region, write, 8, [0, one, 0], false).unwrap();
                }
                party.meet();
                for round in 0..ROUNDS {
                    change(region, sum, 8, [one, 0, one], round % 2 == 0).unwrap();
                }
                party.meet();
                let sums = change(region, read, 8, [0; 3], true).unwrap();
                let expected = word_of(datatype, 3 * ROUNDS as u32);
                assert_eq!(sums, [expected, one, expected], "{datatype:?}");
                party.meet();
            }
        }
    });
}

/// Returns a number as an element.
fn word_of(datatype: Datatype, number: u32) -> u64 {
    match datatype {
        Datatype::Float | Datatype::FloatComplex => (number as f32).to_bits().into(),
        Datatype::Double => f64::from(number).to_bits(),
        _ => u64::from(number) & u64::MAX >> (64 - 8 * datatype.bytes()),
    }
}
