//! A matrix product by tiles, which are dealt out over all PEs.
//!
//! The factors are frozen: nobody writes them any more, and everybody may read. Each PE computes its
//! tiles of the product; while it multiplies two tiles, the next two are on their way to it. PE 0
//! computes the product alone in the end and compares.
//!
//! Usage: matmul [TILES SIZE], for a square of TILES x TILES tiles of SIZE x SIZE elements
//!
// run: np=1,2,3,4 expect-stdout="as alone"
// run: np=2 args=1 7

use shmem::{Ctx, Frozen, Op, Shared, World};
use std::process::ExitCode;

/// The way in which a matrix is dealt out: tile after tile, row by row, to one PE after the other.
#[derive(Clone, Copy)]
struct Tiles {
    /// Tiles in a row.
    count: usize,
    /// Elements in a row of a tile.
    size: usize,
    pes: usize,
}

impl Tiles {
    /// Returns the PE that has tile (`row`, `column`), and the place in its part at which the tile
    /// begins.
    fn place(self, row: usize, column: usize) -> (usize, usize) {
        let number = row * self.count + column;
        (number % self.pes, number / self.pes * self.area())
    }

    fn area(self) -> usize {
        self.size * self.size
    }

    /// Returns the rows and columns of the tiles that PE `pe` has, in their order.
    fn of(self, pe: usize) -> impl Iterator<Item = (usize, usize)> {
        let numbers = (pe..self.count * self.count).step_by(self.pes);
        numbers.map(move |number| (number / self.count, number % self.count))
    }

    /// Returns the elements of tile (`row`, `column`) of the matrix with the formula `f`.
    fn fill(self, (row, column): (usize, usize), f: fn(usize, usize) -> f64) -> Vec<f64> {
        let at = |i: usize| {
            f(
                row * self.size + i / self.size,
                column * self.size + i % self.size,
            )
        };
        (0..self.area()).map(at).collect()
    }

    /// Returns the matrix with the formula `f`, frozen.
    fn matrix(self, world: &World, f: fn(usize, usize) -> f64) -> Frozen<'_, f64> {
        let part = self.part(world);
        for (number, tile) in self.of(world.my_pe()).enumerate() {
            part.write(number * self.area(), &self.fill(tile, f));
        }
        world.freeze(part)
    }

    /// Makes room for this PE's tiles of a matrix.
    fn part(self, world: &World) -> Shared<'_, f64> {
        let most = (self.count * self.count).div_ceil(self.pes);
        world.alloc(most * self.area()).expect("room for a matrix")
    }

    /// Begins to read tile (`row`, `column`) of `matrix`.
    fn fetch<'c>(
        self,
        ctx: &'c Ctx<'c>,
        matrix: &Frozen<'_, f64>,
        (row, column): (usize, usize),
    ) -> Op<'c, Vec<f64>> {
        let (pe, at) = self.place(row, column);
        ctx.get_owned(vec![0.0; self.area()], matrix, at, pe)
    }
}

/// Adds the product of two squares of `size` x `size` elements.
fn add_product(sum: &mut [f64], a: &[f64], b: &[f64], size: usize) {
    for (sums, row) in sum.chunks_exact_mut(size).zip(a.chunks_exact(size)) {
        for (&factor, other) in row.iter().zip(b.chunks_exact(size)) {
            for (sum, &element) in sums.iter_mut().zip(other) {
                *sum += factor * element;
            }
        }
    }
}

/// Returns whole numbers, so that sums do not depend on their order.
fn left(row: usize, column: usize) -> f64 {
    ((row * 3 + column * 5) % 17) as f64 - 8.0
}

fn right(row: usize, column: usize) -> f64 {
    ((row * 7 + column) % 13) as f64 - 6.0
}

/// Returns this PE's tiles of the product.
fn multiply<'w>(world: &'w World, tiles: Tiles) -> Shared<'w, f64> {
    let (a, b) = (tiles.matrix(world, left), tiles.matrix(world, right));
    let product = tiles.part(world);
    let ctx = world.ctx();
    for (number, (row, column)) in tiles.of(world.my_pe()).enumerate() {
        let fetch = |k| {
            (
                tiles.fetch(ctx, &a, (row, k)),
                tiles.fetch(ctx, &b, (k, column)),
            )
        };
        let mut sum = vec![0.0; tiles.area()];
        let mut next = Some(fetch(0));
        for k in 1..=tiles.count {
            let Some((a, b)) = next.take() else { break };
            let (a, b) = (a.wait(), b.wait());
            next = (k < tiles.count).then(|| fetch(k));
            add_product(&mut sum, &a, &b, tiles.size);
        }
        product.write(number * tiles.area(), &sum);
    }
    world.free(a);
    world.free(b);
    product
}

fn main() -> ExitCode {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let [count, size] = numbers[..].try_into().unwrap_or([5, 24]);
    let Ok(world) = World::init() else {
        return ExitCode::FAILURE;
    };
    let pes = world.n_pes();
    let tiles = Tiles { count, size, pes };
    let product = world.freeze(multiply(&world, tiles));
    if world.my_pe() == 0 {
        let len = count * size;
        let whole = Tiles {
            count: 1,
            size: len,
            pes: 1,
        };
        let mut alone = vec![0.0; len * len];
        add_product(
            &mut alone,
            &whole.fill((0, 0), left),
            &whole.fill((0, 0), right),
            len,
        );
        for (row, column) in (0..count * count).map(|tile| (tile / count, tile % count)) {
            let found = tiles.fetch(world.ctx(), &product, (row, column)).wait();
            for (y, line) in found.chunks(size).enumerate() {
                let at = (row * size + y) * len + column * size;
                if line != &alone[at..at + size] {
                    eprintln!("matmul: {pes} PEs and one PE disagree in tile {row}, {column}");
                    return ExitCode::FAILURE;
                }
            }
        }
        println!(
            "{len} x {len} elements in {} tiles on {pes} PEs, as alone",
            count * count
        );
    }
    // Others have tiles that PE 0 reads.
    world.barrier_all();
    ExitCode::SUCCESS
}
