//! Arrays dealt out over PEs, and values of which each PE has one.

use super::Program;
use shmem::{Array, Layout, Shared, Token, World};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub(super) const PROGRAMS: &[Program] = &[
    ("dealt", dealt),
    ("batches", batches),
    ("arrays_of_teams", arrays_of_teams),
    ("distributed", distributed),
];

const LAYOUTS: [Layout; 2] = [Layout::Block, Layout::Cyclic];

/// Reads each element by its global index, in pieces, and as a slice.
fn dealt(world: World) {
    let (me, n, ctx) = (world.my_pe(), world.n_pes(), world.ctx());
    for layout in LAYOUTS {
        for len in [1, 2, 7, 1000] {
            let array: Array<'_, u32> = world.array(len, layout).expect("room");
            for index in (me..len).step_by(n) {
                array.put(ctx, index, index as u32 * 3);
            }
            world.barrier_all();
            let all: Vec<u32> = (0..len as u32).map(|index| index * 3).collect();
            let found: Vec<u32> = (0..len).map(|index| array.get(ctx, index)).collect();
            assert_eq!(found, all, "{layout:?}");
            let (from, to) = (len / 3, len - len / 4);
            let mut piece = vec![0; to - from];
            array.read(ctx, from, &mut piece);
            assert_eq!(piece, all[from..to], "{layout:?}");
            world.barrier_all();
            array.update_own(|index, value| value + index as u32);
            let own: Vec<_> = array.own().collect();
            assert!(own.iter().all(|&(i, value)| value == i as u32 * 4));
            assert_eq!(world.team().sum(own.len()), len);
            let (part, dealt) = array.into_parts();
            let part = world.freeze(part);
            let slice = &part[..dealt.own_len()];
            assert_eq!(slice.len(), own.len());
            let is_there = |(at, &value): (usize, &u32)| dealt.global(at) as u32 * 4 == value;
            assert!(slice.iter().enumerate().all(is_there));
            let array = Array::from_parts(world.share(part), dealt);
            if me == n - 1 {
                let words: Vec<u32> = (0..len as u32).collect();
                array.write(ctx, 0, &words);
            }
            world.barrier_all();
            assert!(array.own().all(|(index, value)| index as u32 == value));
            world.free_array(array);
        }
    }
}

/// Makes histograms, and gathers of scattered values.
fn batches(world: World) {
    let (me, n, ctx) = (world.my_pe(), world.n_pes(), world.ctx());
    let len = 501;
    for layout in LAYOUTS {
        let array: Array<'_, u64> = world.array(len, layout).expect("room");
        let batch: Vec<(usize, u64)> = (0..2000).map(|i| (i * 17 % len, i as u64)).collect();
        array.batch_add(ctx, &batch);
        world.barrier_all();
        let mut sums = vec![0; len];
        for &(index, value) in &batch {
            sums[index] += value * n as u64;
        }
        let backwards: Vec<usize> = (0..len).rev().collect();
        sums.reverse();
        assert_eq!(array.gather(ctx, &backwards), sums, "{layout:?}");
        world.barrier_all();
        let mine: Vec<usize> = (me..len).step_by(n).collect();
        let values: Vec<u64> = mine.iter().map(|&index| index as u64 * 8).collect();
        array.scatter(ctx, &mine, &values);
        world.barrier_all();
        assert!(array.own().all(|(index, value)| value == index as u64 * 8));
        world.barrier_all();
        // Bits 0 to 2 are 0.
        let bits: Vec<(usize, u64)> = (0..len).map(|index| (index, 5)).collect();
        array.batch_or(ctx, &bits);
        world.barrier_all();
        assert!(
            array
                .own()
                .all(|(index, value)| value == index as u64 * 8 + 5)
        );
        world.barrier_all();
        if me == 0 {
            array.batch_xor(ctx, &bits);
            array.batch_and(ctx, &[(2, 0)]);
        }
        world.barrier_all();
        let expected = |index: usize| if index == 2 { 0 } else { index as u64 * 8 };
        assert!(array.own().all(|(index, value)| value == expected(index)));
        // As many as are fetched ahead, more and fewer.
        for count in [0, 1, 2, 31, 32, 33, 65, 100] {
            let indices: Vec<usize> = (0..count).map(|i| i * 5).collect();
            let values: Vec<u64> = indices.iter().map(|&index| expected(index)).collect();
            assert_eq!(array.gather(ctx, &indices), values, "{count} elements");
            let nothing: Vec<(usize, u64)> = indices.iter().map(|&index| (index, 0)).collect();
            assert_eq!(array.batch_fetch_add(ctx, &nothing), values);
        }
        world.barrier_all();
        // Tickets: each is given out once.
        let tickets = array.batch_fetch_add(ctx, &[(2, 1); 100]);
        let first = array.fetch_add(ctx, 2, 1);
        assert!(tickets.is_sorted() && first > tickets[99]);
        let sum: u64 = tickets.iter().sum::<u64>() + first;
        let all = 101 * n as u64;
        assert_eq!(world.team().sum(sum), all * (all - 1) / 2);
        world.free_array(array);
    }
}

/// Gives the teams of a split an array each; a thread has a context for it.
fn arrays_of_teams(world: World) {
    let (row, column) = world.team().split_2d(2).expect("two teams");
    for layout in LAYOUTS {
        // Equal parts, of teams of several sizes.
        let len = row.n_pes() * 10;
        let array: Array<'_, u64> = world.array_of(&row, len, layout).expect("room");
        let ctx = world.create_ctx().expect("a context");
        thread::scope(|scope| {
            let array = &array;
            scope.spawn(move || {
                (0..len).for_each(|index| _ = array.fetch_add(&ctx, index, 1));
            });
        });
        row.sync();
        assert!(array.own().all(|(_, value)| value == row.n_pes() as u64));
        world.free_array(array);
    }
    let array: Array<'_, u64> = world.array(10, Layout::Block).expect("room");
    let ctx = row.create_ctx().expect("a context");
    let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| array.get(&ctx, 0)));
    assert!(tried.is_err(), "a context that counts PEs as a team");
    drop(ctx);
    row.destroy();
    column.destroy();
}

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Noted(usize);

impl Drop for Noted {
    fn drop(&mut self) {
        DROPPED.fetch_add(self.0, Ordering::Relaxed);
    }
}

fn distributed(world: World) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let next = (me + 1) % n;
    let mail: Shared<'_, Token> = world.alloc(2).expect("room");
    let texts = world.distribute(Mutex::new(format!("PE {me}")));
    let noted = world.distribute(Noted(1));
    world
        .ctx()
        .put(&mail, 0, &[texts.token(), noted.token()], next);
    world.barrier_all();
    let same = world.resolve::<Mutex<String>>(mail.load(0)).expect("texts");
    // Another type, and no token.
    assert!(world.resolve::<Mutex<u8>>(mail.load(0)).is_none());
    assert!(world.resolve::<Noted>(mail.load(0)).is_none());
    assert!(world.resolve::<Noted>(Token::default()).is_none());
    thread::scope(|scope| {
        let texts = texts.clone();
        scope.spawn(move || texts.lock().unwrap().push_str(" and a thread"));
    });
    assert_eq!(*same.lock().unwrap(), format!("PE {me} and a thread"));
    assert!(world.retire(texts).is_none());
    assert!(world.resolve::<Mutex<String>>(mail.load(0)).is_none());
    assert!(same.lock().unwrap().starts_with("PE"));
    drop(world.retire(noted).expect("the last handle"));
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
    drop(world.distribute(Noted(2)));
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
    drop(same);
    drop(world);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 3);
}
