//! Conway's game of life on a torus, the rows dealt out over the PEs.
//!
//! Every PE keeps its own rows and one more above and below: copies of its neighbours' edge rows, which
//! they put there, with a signal that says for which generation. PE 0 plays the same game alone in the end
//! and compares.
//!
//! Usage: life [COLUMNS ROWS GENERATIONS]
//!
// run: np=1,2,3,4

use shmem::{Cmp, Shared, Signal, World};
use std::process::ExitCode;

/// Returns the next generation of the rows 1 to `rows` of a field of `columns` columns; rows 0 and
/// `rows + 1` are read only.
fn step(old: &[u8], columns: usize, rows: usize) -> Vec<u8> {
    let mut new = old.to_vec();
    for y in 1..=rows {
        for x in 0..columns {
            let (left, right) = ((x + columns - 1) % columns, (x + 1) % columns);
            let cells = |y: usize| [left, x, right].map(|x| old[y * columns + x]);
            let sum: u8 = [y - 1, y, y + 1].into_iter().flat_map(cells).sum();
            let alive = old[y * columns + x];
            new[y * columns + x] = u8::from(sum == 3 || (sum == 4 && alive == 1));
        }
    }
    new
}

/// Returns the cell of the first generation: a fixed pattern without symmetry.
fn seed(x: usize, y: usize) -> u8 {
    let mixed = (x * 7919 + y * 104_729).wrapping_mul(2_654_435_761) >> 7;
    u8::from(mixed.is_multiple_of(3))
}

/// Returns the whole field after `generations`, by one PE.
fn alone(columns: usize, rows: usize, generations: u64) -> Vec<u8> {
    let wrapped = |y: usize| (y + rows - 1) % rows;
    let mut field: Vec<u8> = (0..rows + 2)
        .flat_map(|y| (0..columns).map(move |x| seed(x, wrapped(y))))
        .collect();
    for _ in 0..generations {
        field = step(&field, columns, rows);
        field.copy_within(columns..2 * columns, (rows + 1) * columns);
        field.copy_within(rows * columns..(rows + 1) * columns, 0);
    }
    field[columns..(rows + 1) * columns].to_vec()
}

/// Plays the own rows; returns them.
fn play(world: &World, columns: usize, rows: usize, generations: u64) -> Vec<u8> {
    let (me, n, ctx) = (world.my_pe(), world.n_pes(), world.ctx());
    let (above, below) = ((me + n - 1) % n, (me + 1) % n);
    // Two halves, used in turn: a neighbour may be one generation ahead.
    let edges: Shared<u8> = world.alloc(4 * columns).expect("room for the edges");
    let ready: Shared<u64> = world.alloc(4).expect("room for the signals");
    let mut field: Vec<u8> = (0..rows + 2)
        .flat_map(|y| {
            (0..columns).map(move |x| seed(x, (me * rows + y + n * rows - 1) % (n * rows)))
        })
        .collect();
    for generation in 1..=generations {
        field = step(&field, columns, rows);
        let half = 2 * (generation % 2) as usize;
        let (top, bottom) = (
            &field[columns..2 * columns],
            &field[rows * columns..(rows + 1) * columns],
        );
        ctx.put_signal(
            (&edges, (half + 1) * columns),
            top,
            (&ready, half + 1),
            Signal::Set(generation),
            above,
        );
        ctx.put_signal(
            (&edges, half * columns),
            bottom,
            (&ready, half),
            Signal::Set(generation),
            below,
        );
        ctx.wait_until(&ready, half, Cmp::Ge, generation);
        ctx.wait_until(&ready, half + 1, Cmp::Ge, generation);
        edges.read(half * columns, &mut field[..columns]);
        edges.read((half + 1) * columns, &mut field[(rows + 1) * columns..]);
    }
    field[columns..(rows + 1) * columns].to_vec()
}

fn main() -> ExitCode {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let [columns, rows, generations] = numbers[..].try_into().unwrap_or([64, 60, 50]);
    let world = match World::init() {
        Ok(world) => world,
        Err(_) => return ExitCode::FAILURE,
    };
    let (me, n) = (world.my_pe(), world.n_pes());
    if columns == 0 || rows == 0 || rows % n != 0 {
        if me == 0 {
            eprintln!("life: {rows} rows of {columns} cells cannot be dealt out over {n} PEs");
        }
        return ExitCode::FAILURE;
    }
    let mine = play(&world, columns, rows / n, generations as u64);
    let field: Shared<u8> = world.alloc(columns * rows).expect("room for the field");
    world.ctx().put(&field, me * mine.len(), &mine, 0);
    world.barrier_all();
    if me == 0 {
        let all = field.to_vec();
        let cells = all.iter().filter(|&&cell| cell == 1).count();
        if all != alone(columns, rows, generations as u64) {
            eprintln!("life: the {n} PEs and one PE disagree");
            return ExitCode::FAILURE;
        }
        println!("{cells} cells live after {generations} generations on {n} PEs, as on one");
    }
    ExitCode::SUCCESS
}
