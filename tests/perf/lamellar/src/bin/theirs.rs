//! The rows by lamellar: puts and gets of memory regions, atomic operations of an `AtomicArray`,
//! reads of a `ReadOnlyArray`.

use farreach_beside_lamellar::{BLOCK, LEN, PES, PLACES, calls, entry, hits, places, row};
use lamellar::array::prelude::*;
use lamellar::memregion::prelude::*;
use std::hint::black_box;

const SMALL: usize = 20_000;
/// Calls that wait for an answer of the other process.
const CALLS: usize = 200;
const LARGE: usize = 20;
const BARRIERS: usize = 200;

fn main() {
    let world = lamellar::LamellarWorldBuilder::new().build();
    assert_eq!(world.num_pes(), PES);
    let me = world.my_pe();
    let is_first = me == 0;
    let words = world.alloc_shared_mem_region::<u64>(64).block();
    let block = world.alloc_shared_mem_region::<u64>(BLOCK / 8).block();
    let own = world.alloc_one_sided_mem_region::<u64>(1);
    let buffer = world.alloc_one_sided_mem_region::<u64>(BLOCK / 8);
    let bins = AtomicArray::<u64>::new(&world, LEN, Distribution::Block).block();
    let counters = AtomicArray::<u64>::new(&world, 64, Distribution::Block).block();
    let table = UnsafeArray::<u64>::new(&world, LEN, Distribution::Block).block();
    let start = me * LEN / PES;
    // SAFETY: each process fills its own part, which nobody else uses before the conversion.
    let mine = unsafe { table.local_as_mut_slice() };
    for (at, value) in mine.iter_mut().enumerate() {
        *value = entry(start + at);
    }
    let table = table.into_read_only().block();
    world.barrier();

    if is_first {
        // SAFETY: nobody else uses the words and the block meanwhile, and the slices are there.
        unsafe {
            own.as_mut_slice().expect("own memory")[0] = 7;
            row("put 8 B", SMALL, 1, true, || words.put(1, 0, &own));
            own.as_mut_slice().expect("own memory")[0] = 0;
            row("get 8 B", SMALL, 1, true, || words.blocking_get(1, 0, &own));
            assert_eq!(own.as_slice().expect("own memory")[0], 7);
        }
        let there = 64 / PES;
        row("add 8 B", CALLS, 1, true, || {
            counters.add(there, 1).block();
        });
        row("fetch_add 8 B", CALLS, 1, true, || {
            black_box(counters.fetch_add(there + 1, 1).block());
        });
        // SAFETY: nobody else uses the block meanwhile, and the slices are of memory that is there.
        unsafe {
            buffer.as_mut_slice().expect("own memory").fill(7);
            row("put 1 MiB", LARGE, 1, true, || block.put(1, 0, &buffer));
            buffer.as_mut_slice().expect("own memory").fill(0);
            row("get 1 MiB", LARGE, 1, true, || {
                block.blocking_get(1, 0, &buffer)
            });
            let found = buffer.as_slice().expect("own memory");
            assert!(found.iter().all(|&word| word == 7));
        }
    }
    world.barrier();
    if !is_first {
        let found = counters.local_data();
        assert_eq!(
            [0, 1].map(|at| found.at(at).load()),
            [calls(CALLS) as u64; 2]
        );
    }
    row("barrier", BARRIERS, 1, is_first, || world.barrier());

    let places = places(me);
    row("histogram, an update", 1, PLACES, is_first, || {
        bins.batch_add(&places, 1).block();
        world.barrier();
    });
    for (hits, count) in hits(start..start + LEN / PES)
        .iter()
        .zip(bins.local_data().iter())
    {
        assert_eq!(count.load(), hits * calls(1) as u64);
    }
    let mut found = Vec::new();
    row("index gather, a read", 1, PLACES, is_first, || {
        found = table.batch_load(&places).block();
        world.barrier();
    });
    assert!(
        found
            .iter()
            .zip(&places)
            .all(|(&value, &place)| value == entry(place))
    );
}
