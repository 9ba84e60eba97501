//! The rows by Farreach's safe interface, and the same accesses without it.

use farreach_beside_lamellar::{BLOCK, LEN, PES, PLACES, calls, entry, hits, places, row};
use shmem::{Layout, World};
use std::hint::black_box;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};

const SMALL: usize = 100_000;
const LARGE: usize = 20;
const BARRIERS: usize = 2000;

fn main() -> Result<(), shmem::Error> {
    let world = World::init()?;
    assert_eq!(world.n_pes(), PES);
    let (me, ctx) = (world.my_pe(), world.ctx());
    let is_first = me == 0;
    let words = world.alloc::<u64>(64).expect("room");
    let block = world.alloc::<u64>(BLOCK / 8).expect("room");
    let bins = world.array::<u64>(LEN, Layout::Block).expect("room");
    let table = world.array::<u64>(LEN, Layout::Block).expect("room");
    table.update_own(|index, _| entry(index));
    world.barrier_all();

    if is_first {
        let mut next = 0;
        row("put 8 B", SMALL, 1, true, || {
            next += 1;
            ctx.p(&words, 0, next, 1);
        });
        ctx.quiet();
        row("get 8 B", SMALL, 1, true, || {
            assert_eq!(ctx.g(&words, 0, 1), next);
        });
        row("add 8 B", SMALL, 1, true, || ctx.add(&words, 1, 1, 1));
        row("fetch_add 8 B", SMALL, 1, true, || {
            black_box(ctx.fetch_add(&words, 2, 1, 1));
        });
        let mut buffer = vec![7; BLOCK / 8];
        row("put 1 MiB", LARGE, 1, true, || {
            ctx.put(&block, 0, &buffer, 1)
        });
        ctx.quiet();
        row("get 1 MiB", LARGE, 1, true, || {
            ctx.get(&mut buffer, &block, 0, 1);
        });
        assert!(buffer.iter().all(|&word| word == 7));
    }
    world.barrier_all();
    if !is_first {
        let all = calls(SMALL) as u64;
        assert_eq!([0, 1, 2].map(|at| words.load(at)), [all, all, all]);
    }
    row("barrier", BARRIERS, 1, is_first, || world.barrier_all());

    let places = places(me);
    let ones: Vec<_> = places.iter().map(|&place| (place, 1)).collect();
    row("histogram, an update", 1, PLACES, is_first, || {
        bins.batch_add(ctx, &ones);
        world.barrier_all();
    });
    let start = me * LEN / PES;
    for (hits, (_, count)) in hits(start..start + LEN / PES).iter().zip(bins.own()) {
        assert_eq!(count, hits * calls(1) as u64);
    }
    let mut found = vec![0; PLACES];
    row("index gather, a read", 1, PLACES, is_first, || {
        table.gather_to(ctx, &places, &mut found);
        world.barrier_all();
    });
    assert!(
        found
            .iter()
            .zip(&places)
            .all(|(&value, &place)| value == entry(place))
    );
    floor(&world, is_first, &places);
    Ok(())
}

/// Times the same accesses without a library: by instructions, to memory of this process or, at
/// random places, to memory of both.
fn floor(world: &World, is_first: bool, places: &[usize]) {
    let (from, mut to) = (vec![7_u64; BLOCK / 8], vec![0; BLOCK / 8]);
    if is_first {
        row("floor: put, get 1 MiB", LARGE, 1, true, || {
            black_box(&mut to).copy_from_slice(black_box(&from));
        });
        let word = AtomicU64::new(0);
        row("floor: fetch_add 8 B", SMALL, 1, true, || {
            black_box(black_box(&word).fetch_add(1, Ordering::Relaxed));
        });
    }
    // The least of a barrier of two: a store to the other's memory, which it waits for.
    let (flags, ctx) = (world.alloc::<u64>(1).expect("room"), world.ctx());
    let other = 1 - world.my_pe();
    let mut turn = 0;
    world.barrier_all();
    row("floor: barrier", BARRIERS, 1, is_first, || {
        turn += 1;
        ctx.p(&flags, 0, turn, other);
        while flags.load(0) < turn {
            std::hint::spin_loop();
        }
    });
    let bins = words_of_both();
    row("floor: histogram, an update", 1, PLACES, is_first, || {
        for &place in places {
            bins[place].fetch_add(1, Ordering::Relaxed);
        }
        world.barrier_all();
    });
    let mut found = vec![0; PLACES];
    row("floor: index gather, a read", 1, PLACES, is_first, || {
        for (found, &place) in found.iter_mut().zip(places) {
            *found = bins[place].load(Ordering::Relaxed);
        }
        world.barrier_all();
    });
}

/// Returns the words that both processes map, in the file of the variable FLOOR.
fn words_of_both() -> &'static [AtomicU64] {
    let path = std::env::var_os("FLOOR").expect("FLOOR");
    let mut options = std::fs::OpenOptions::new();
    let file = options.read(true).write(true).open(path).expect("FLOOR");
    file.set_len(LEN as u64 * 8).expect("room");
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new mapping, of a file of that length, which stays; any bits are an atomic word.
    unsafe {
        let memory = libc::mmap(
            std::ptr::null_mut(),
            LEN * 8,
            access,
            kind,
            file.as_raw_fd(),
            0,
        );
        assert_ne!(memory, libc::MAP_FAILED);
        std::slice::from_raw_parts(memory.cast(), LEN)
    }
}
