//! Heat on a square: the average of the four neighbours, over and over, by a grid of PEs.
//!
//! The PEs are laid out in rows and columns, which are teams. Each has a tile; in each step it puts its
//! edges into its neighbours' halos, sideways through a context of its row's team and up and down
//! through one of its column's team, whose PE numbers are the coordinates. The greatest change of a
//! step is found by all. PE 0 does the same alone in the end and compares.
//!
//! Usage: stencil [TILE STEPS], of TILE x TILE cells for each PE
//!
// run: np=1,2,4,6 expect-stdout="as on one"
// run: np=4 args=5 30

use shmem::{Shared, World};
use std::process::ExitCode;

/// A grid of cells with one row and column more on each side.
#[derive(Clone)]
struct Grid {
    width: usize,
    height: usize,
    cells: Vec<f64>,
}

impl Grid {
    fn new(width: usize, height: usize) -> Self {
        let cells = vec![0.0; (width + 2) * (height + 2)];
        Self {
            width,
            height,
            cells,
        }
    }

    fn at(&mut self, x: usize, y: usize) -> &mut f64 {
        &mut self.cells[y * (self.width + 2) + x]
    }

    fn row(&self, y: usize) -> Vec<f64> {
        (1..=self.width)
            .map(|x| self.cells[y * (self.width + 2) + x])
            .collect()
    }

    fn column(&self, x: usize) -> Vec<f64> {
        (1..=self.height)
            .map(|y| self.cells[y * (self.width + 2) + x])
            .collect()
    }

    /// Does one step; returns the greatest change.
    fn step(&mut self) -> f64 {
        let old = self.clone();
        let line = self.width + 2;
        let mut change: f64 = 0.0;
        for y in 1..=self.height {
            for x in 1..=self.width {
                let at = y * line + x;
                let near = [at - 1, at + 1, at - line, at + line];
                let new = near.map(|at| old.cells[at]).iter().sum::<f64>() / 4.0;
                change = change.max((new - old.cells[at]).abs());
                self.cells[at] = new;
            }
        }
        change
    }
}

/// Returns the columns of a grid of `n` PEs, as square as it can be.
fn columns_of(n: usize) -> usize {
    (1..=n)
        .filter(|x| n.is_multiple_of(*x) && x * x <= n)
        .max()
        .map_or(1, |rows| n / rows)
}

/// The heat above the upper edge.
const HOT: f64 = 100.0;

/// Returns all cells after `steps`, and the last change, by one PE: the upper edge is hot.
fn alone(width: usize, height: usize, steps: usize) -> (Grid, f64) {
    let mut grid = Grid::new(width, height);
    (1..=width).for_each(|x| *grid.at(x, 0) = HOT);
    let change = (0..steps).fold(0.0, |_, _| grid.step());
    (grid, change)
}

/// The sides of a tile: the place in the halo for the neighbour's values.
const LEFT: usize = 0;
const RIGHT: usize = 1;
const ABOVE: usize = 2;
const BELOW: usize = 3;

/// Returns this PE's tile after `steps`, and the last change on all.
fn on_all(world: &World, tile: usize, steps: usize) -> Result<(Grid, f64), shmem::Error> {
    let (row, column) = world.team().split_2d(columns_of(world.n_pes()))?;
    let (x, y) = (row.my_pe(), column.my_pe());
    let sideways = row.create_ctx().expect("a context of the row");
    let upright = column.create_ctx().expect("a context of the column");
    // Two halves, used in turn: a neighbour may be one step ahead.
    let halo: Shared<'_, f64> = world.alloc(8 * tile).expect("room for the halo");
    let mut grid = Grid::new(tile, tile);
    let mut change = 0.0;
    for step in 0..steps {
        let place = |side| (step % 2 * 4 + side) * tile;
        if x > 0 {
            sideways.put(&halo, place(RIGHT), &grid.column(1), x - 1);
        }
        if x + 1 < row.n_pes() {
            sideways.put(&halo, place(LEFT), &grid.column(tile), x + 1);
        }
        if y > 0 {
            upright.put(&halo, place(BELOW), &grid.row(1), y - 1);
        }
        if y + 1 < column.n_pes() {
            upright.put(&halo, place(ABOVE), &grid.row(tile), y + 1);
        }
        sideways.quiet();
        upright.quiet();
        row.sync();
        column.sync();
        for i in 0..tile {
            let of = |side| halo.load(place(side) + i);
            *grid.at(0, i + 1) = of(LEFT);
            *grid.at(tile + 1, i + 1) = of(RIGHT);
            *grid.at(i + 1, 0) = if y == 0 { HOT } else { of(ABOVE) };
            *grid.at(i + 1, tile + 1) = of(BELOW);
        }
        change = world.team().max(grid.step());
    }
    Ok((grid, change))
}

fn main() -> ExitCode {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let [tile, steps] = numbers[..].try_into().unwrap_or([24, 40]);
    let Ok(world) = World::init() else {
        return ExitCode::FAILURE;
    };
    let (me, n) = (world.my_pe(), world.n_pes());
    let (grid, change) = match on_all(&world, tile, steps) {
        Ok(all) => all,
        Err(error) => {
            eprintln!("stencil: {error}");
            return ExitCode::FAILURE;
        }
    };
    let tiles: Shared<'_, f64> = world.alloc(n * tile * tile).expect("room for all tiles");
    for y in 0..tile {
        let at = (me * tile + y) * tile;
        world.ctx().put(&tiles, at, &grid.row(y + 1), 0);
    }
    world.barrier_all();
    if me == 0 {
        let columns = columns_of(n);
        let (width, height) = (columns * tile, n / columns * tile);
        let (mut expected, last) = alone(width, height, steps);
        let mut found = |x: usize, y: usize| {
            let pe = y / tile * columns + x / tile;
            let cell = tiles.load((pe * tile + y % tile) * tile + x % tile);
            cell == *expected.at(x + 1, y + 1)
        };
        let is_equal = (0..height).all(|y| (0..width).all(|x| found(x, y)));
        if !is_equal || change != last {
            eprintln!("stencil: the {n} PEs and one PE disagree");
            return ExitCode::FAILURE;
        }
        println!(
            "{width} x {height} cells, changes of {change:.4} after {steps} steps on {n} PEs, as on one"
        );
    }
    ExitCode::SUCCESS
}
