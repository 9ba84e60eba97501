//! Teams, and collective operations on arrays and on values.

use super::Program;
use shmem::collective::combine::Complex;
use shmem::{Shared, Team, World};
use std::fmt::Debug;
use std::thread;

pub(super) const PROGRAMS: &[Program] = &[
    ("teams", teams),
    ("collectives", collectives),
    ("values", values),
    ("teams_of_threads", teams_of_threads),
    ("teams_forgotten", teams_forgotten),
    ("racing_reduction", racing_reduction),
];

/// Calls `test` for teams of several shapes: all PEs, those of a node, the odd ones backwards, rows
/// and columns.
fn on_teams(world: &World, test: impl Fn(&World, &Team<'_>)) {
    let (all, n) = (world.team(), world.n_pes());
    test(world, all);
    test(world, world.node_team());
    if n > 1 {
        let odd = n / 2;
        let last = odd * 2 - 1;
        if let Some(team) = all.split_strided(last, -2, odd).expect("a team") {
            test(world, &team);
            team.destroy();
        }
    }
    let (row, column) = all.split_2d(2).expect("two teams");
    test(world, &row);
    test(world, &column);
    row.destroy();
    column.destroy();
}

fn teams(world: World) {
    let (me, n, all) = (world.my_pe(), world.n_pes(), world.team());
    assert_eq!((all.my_pe(), all.n_pes()), (me, n));
    let near = world.node_team();
    assert_eq!(near.translate(near.my_pe(), all), Some(me));
    for round in 0..30 {
        let first = round % n;
        let size = n - first;
        let tail = all.split_strided(first, 1, size).expect("a team");
        assert_eq!(tail.is_some(), me >= first);
        assert_eq!(all.split_strided(0, -3, 1).expect("one").is_some(), me == 0);
        if let Some(tail) = tail {
            assert_eq!((tail.my_pe(), tail.n_pes()), (me - first, size));
            assert_eq!(tail.world_pes(), (first..n).collect::<Vec<_>>());
            assert_eq!(tail.translate(0, all), Some(first));
            assert_eq!(all.translate(0, &tail), (first == 0).then_some(0));
            let (x, y) = tail.split_2d(3).expect("two teams");
            assert_eq!((x.my_pe(), y.my_pe()), (tail.my_pe() % 3, tail.my_pe() / 3));
            // A context counts as its team does.
            let _: Shared<'_, u64> = world.alloc(n).expect("room");
            x.sync();
            x.destroy();
            y.destroy();
            tail.destroy();
        } else {
            let _: Shared<'_, u64> = world.alloc(n).expect("room");
        }
    }
    let counts: Shared<'_, u64> = world.alloc(1).expect("room");
    on_teams(&world, |_, team| {
        counts.store(0, 0);
        team.sync();
        let ctx = team.create_ctx().expect("a context");
        assert_eq!(ctx.n_pes(), team.n_pes());
        for pe in 0..team.n_pes() {
            ctx.add(&counts, 0, 1 << pe, pe);
        }
        drop(ctx);
        team.sync();
        let own = team.n_pes() as u64 * (1 << team.my_pe());
        assert_eq!(counts.load(0), own);
        team.sync();
    });
}

/// Returns a value of PE `pe` at `index`, less than 2^15.
fn value(pe: usize, index: usize) -> usize {
    (pe * 7919 + index * 31) % 32_000
}

/// Lengths that go through slots, and those that do not.
const LENGTHS: [usize; 3] = [1, 100, 4000];

fn collectives(world: World) {
    let (n, most) = (world.n_pes(), LENGTHS[2]);
    let to: Shared<'_, u32> = world.alloc(n * most).expect("room");
    let from: Shared<'_, u32> = world.alloc(n * most).expect("room");
    on_teams(&world, |_, team| {
        for count in LENGTHS {
            move_data(team, &to, &from, count);
            reduce(team, &to, &from, count);
        }
    });
    world.free(to);
    world.free(from);
    floats(&world);
}

fn of_pe(team: &Team<'_>, pe: usize, len: usize) -> Vec<u32> {
    let pe = team.world_pes()[pe];
    (0..len).map(|i| value(pe, i) as u32).collect()
}

fn expect_range<T: Copy + Debug + PartialEq + shmem::Pod>(
    what: &str,
    array: &Shared<'_, T>,
    expected: &[T],
) {
    let mut found = vec![T::zeroed(); expected.len()];
    array.read(0, &mut found);
    assert!(found == expected, "{what}: {found:?}, not {expected:?}");
}

fn move_data(team: &Team<'_>, to: &Shared<'_, u32>, from: &Shared<'_, u32>, count: usize) {
    let (me, n) = (team.my_pe(), team.n_pes());
    from.write(0, &of_pe(team, me, n * count));
    to.write(0, &vec![0; n * count]);
    // Nobody's source is of an earlier call.
    team.sync();
    for root in 0..n {
        team.broadcast((to, 0), (from, 0), count, root);
        expect_range("broadcast", to, &of_pe(team, root, count));
    }
    team.fcollect((to, 0), (from, 0), count);
    let all: Vec<u32> = (0..n).flat_map(|pe| of_pe(team, pe, count)).collect();
    expect_range("fcollect", to, &all);
    // PE 0 has nothing.
    let own = |pe: usize| count * pe / n;
    let sum = team.collect((to, 0), (from, 0), own(me));
    let all: Vec<u32> = (0..n).flat_map(|pe| of_pe(team, pe, own(pe))).collect();
    assert_eq!(sum, all.len());
    expect_range("collect", to, &all);
    team.alltoall((to, 0), (from, 0), count);
    let block = |pe| of_pe(team, pe, n * count)[me * count..][..count].to_vec();
    let all: Vec<u32> = (0..n).flat_map(block).collect();
    expect_range("alltoall", to, &all);
    if count >= 3 {
        let few = count / 3;
        team.alltoalls((to, 0, 1), (from, 0, 3), few);
        let block = |pe| {
            let words = of_pe(team, pe, n * count);
            (0..few).map(move |i| words[(me * few + i) * 3])
        };
        let all: Vec<u32> = (0..n).flat_map(block).collect();
        expect_range("alltoalls", to, &all);
    }
    team.sync();
}

fn reduce(team: &Team<'_>, to: &Shared<'_, u32>, from: &Shared<'_, u32>, count: usize) {
    let (me, n) = (team.my_pe(), team.n_pes());
    let all: Vec<Vec<u32>> = (0..n).map(|pe| of_pe(team, pe, count)).collect();
    let fold = |op: fn(u32, u32) -> u32, pes: usize| -> Vec<u32> {
        let at = |i: usize| all[..pes].iter().map(|words| words[i]).reduce(op);
        (0..count).map(|i| at(i).unwrap_or(0)).collect()
    };
    from.write(0, &all[me]);
    team.sync();
    team.and_reduce((to, 0), (from, 0), count);
    expect_range("and", to, &fold(|a, b| a & b, n));
    team.or_reduce((to, 0), (from, 0), count);
    expect_range("or", to, &fold(|a, b| a | b, n));
    team.xor_reduce((to, 0), (from, 0), count);
    expect_range("xor", to, &fold(|a, b| a ^ b, n));
    team.min_reduce((to, 0), (from, 0), count);
    expect_range("min", to, &fold(u32::min, n));
    team.max_reduce((to, 0), (from, 0), count);
    expect_range("max", to, &fold(u32::max, n));
    team.prod_reduce((to, 0), (from, 0), count);
    expect_range("prod", to, &fold(u32::wrapping_mul, n));
    team.sum_inscan((to, 0), (from, 0), count);
    expect_range("inscan", to, &fold(u32::wrapping_add, me + 1));
    team.sum_exscan((to, 0), (from, 0), count);
    expect_range("exscan", to, &fold(u32::wrapping_add, me));
    // In place.
    team.sum_reduce((from, 0), (from, 0), count);
    expect_range("sum", from, &fold(u32::wrapping_add, n));
    team.sync();
}

fn floats(world: &World) {
    let (n, team) = (world.n_pes(), world.team());
    let numbers: Shared<'_, f64> = world.alloc(500).expect("room");
    let points: Shared<'_, Complex<f32>> = world.alloc(500).expect("room");
    numbers.write(0, &[0.5; 500]);
    points.write(0, &[Complex { re: 0.0, im: 2.0 }; 500]);
    let numbers = world.freeze(numbers);
    let sums: Shared<'_, f64> = world.alloc(500).expect("room");
    team.sum_reduce((&sums, 0), (&numbers, 0), 500);
    expect_range("floats", &sums, &[n as f64 / 2.0; 500]);
    team.sum_reduce((&points, 0), (&points, 0), 500);
    let im = 2.0 * n as f32;
    expect_range("complex", &points, &[Complex { re: 0.0, im }; 500]);
    world.free(numbers);
    world.free(sums);
    world.free(points);
}

fn values(world: World) {
    on_teams(&world, |_, team| {
        let (me, n) = (team.my_pe(), team.n_pes());
        let sum = n * (n + 1) / 2;
        assert_eq!(team.sum(me + 1), sum);
        assert_eq!(team.sum(me as f32 + 1.0), sum as f32);
        assert_eq!(team.sum_up_to(me), me * (me + 1) / 2);
        assert_eq!(team.sum_before(me + 1), me * (me + 1) / 2);
        assert_eq!(team.max(-(me as i64)), 0);
        assert_eq!(team.min(-(me as i16)), 1 - n as i16);
        assert_eq!(team.prod(2_u64), 1 << n);
        assert_eq!((team.or(1_u8 << me), team.and(3_u8)), ((1 << n) - 1, 3));
        assert_eq!(team.xor(me), (0..n).fold(0, |all, pe| all ^ pe));
        for root in 0..n {
            assert_eq!(team.broadcast_value(me * 3, root), root * 3);
            // More than a slot holds.
            assert_eq!(
                team.broadcast_value([me as u64; 512], root),
                [root as u64; 512]
            );
        }
        assert_eq!(team.gather_values(me), (0..n).collect::<Vec<_>>());
        assert_eq!(team.gather_values(()), vec![(); n]);
        let large: Vec<_> = (0..n).map(|pe| [pe as u32; 1024]).collect();
        assert_eq!(team.gather_values([me as u32; 1024]), large);
    });
}

/// Gives each thread a team of its own, while this one uses that of all PEs.
fn teams_of_threads(world: World) {
    let (n, all) = (world.n_pes(), world.team());
    let teams: Vec<_> = (0..3)
        .filter_map(|_| all.split_strided(0, 1, n).expect("a team"))
        .collect();
    let arrays: Vec<Shared<'_, u64>> = (0..3).map(|_| world.alloc(2000).expect("room")).collect();
    thread::scope(|scope| {
        for (number, (team, array)) in teams.into_iter().zip(&arrays).enumerate() {
            scope.spawn(move || {
                for round in 0..50 {
                    let word = (number + round) as u64;
                    array.write(0, &[word; 1000]);
                    team.sum_reduce((array, 1000), (array, 0), 1000);
                    assert_eq!(array.load(1999), word * n as u64);
                    assert_eq!(team.sum(word), word * n as u64);
                    let ctx = team.create_ctx().expect("a context");
                    ctx.p(array, 0, 9, team.my_pe());
                    drop(ctx);
                    // Nobody writes the elements that others read.
                    team.sync();
                }
                team.destroy();
            });
        }
        for round in 0..50 {
            assert_eq!(all.sum(round), round * n);
            let other: Shared<'_, u8> = world.alloc(100).expect("room");
            let other = world.freeze(other);
            world.free(other);
        }
    });
}

/// Checks that teams that are dropped or forgotten, with contexts that are, live as long as the
/// library.
fn teams_forgotten(world: World) {
    for _ in 0..10 {
        let (row, column) = world.team().split_2d(2).expect("two teams");
        std::mem::forget(row.create_ctx().expect("a context"));
        std::mem::forget(column.create_ctx().expect("a context"));
        row.destroy();
        let array: Shared<'_, u64> = world.alloc(10).expect("room");
        world.free(array);
        if world.my_pe() == 0 {
            std::mem::forget(column);
        }
    }
    drop(world);
    let world = World::init().expect("another session");
    assert_eq!(world.team().sum(1), world.n_pes());
}

/// Lets peers and threads write elements that are being combined: sums are wrong then, and that is
/// all.
fn racing_reduction(world: World) {
    let (me, n, team) = (world.my_pe(), world.n_pes(), world.team());
    let array: Shared<'_, u64> = world.alloc(4000).expect("room");
    let ctx = world.create_ctx().expect("a context");
    thread::scope(|scope| {
        let array = &array;
        scope.spawn(move || {
            for i in 0..20_000 {
                ctx.p(array, i * 7 % 4000, i as u64, (me + 1) % n);
                array.store(i * 11 % 4000, 3);
            }
        });
        for count in [10, 100, 2000].repeat(10) {
            team.sum_reduce((array, 0), (array, 2000), count);
            team.sum_exscan((array, 2000), (array, 0), count);
        }
    });
    world.barrier_all();
    array.write(0, &[1; 4000]);
    team.sum_reduce((&array, 0), (&array, 2000), 2000);
    assert_eq!(array.load(1999), n as u64);
}
