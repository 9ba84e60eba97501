//! A matrix product by tiles that their owners hand out.
//!
//! Each PE computes its tiles of the product. It asks the owners for a row and a column of tiles of the
//! factors, and multiplies them as they come. A tile is an `RmaVec`: the owner's action returns another
//! handle to it, and a long tile is read from where it lies to where it is used, without a copy
//! between. PE 0 computes the product alone in the end and compares.
//!
//! Usage: tiles [TILES SIZE], for a square of TILES x TILES tiles of SIZE x SIZE elements
//!
// run: np=1,2,3,4 expect-stdout="as alone"
// run: np=2 args=1 7

use calls::{Call, Calls, Load, RmaVec, Save, action};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Mutex, MutexGuard};

/// The factors, and their product.
#[derive(Save, Load, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Matrix {
    Left,
    Right,
    Product,
}

/// A tile of a matrix: its row and its column among the tiles.
type Place = (Matrix, usize, usize);

type Tiles = BTreeMap<Place, RmaVec<f64>>;

/// Returns the tiles that this PE owns.
fn owned() -> MutexGuard<'static, Tiles> {
    static OWNED: Mutex<Tiles> = Mutex::new(Tiles::new());
    OWNED.lock().expect("no action has panicked")
}

/// Returns a tile, which is not copied.
#[action]
fn tile(place: Place) -> Option<RmaVec<f64>> {
    owned().get(&place).cloned()
}

/// The tiles of a job.
struct Grid<'a> {
    calls: &'a Calls,
    /// Tiles in a row.
    count: usize,
    /// Elements in a row of a tile.
    size: usize,
}

impl Grid<'_> {
    /// Returns the PE that owns a tile.
    fn owner(&self, row: usize, column: usize) -> u32 {
        ((row * self.count + column) % self.calls.ranks() as usize) as u32
    }

    /// Returns the rows and columns of all tiles.
    fn all(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.count * self.count).map(|at| (at / self.count, at % self.count))
    }

    /// Returns the rows and columns of the tiles that this PE owns.
    fn own(&self) -> impl Iterator<Item = (usize, usize)> {
        let rank = self.calls.rank();
        self.all()
            .filter(move |&(row, column)| self.owner(row, column) == rank)
    }

    /// Makes this PE's tiles of the matrix with the formula `element`.
    fn fill(&self, matrix: Matrix, element: fn(usize, usize) -> f64) -> Result<(), calls::Error> {
        for (row, column) in self.own() {
            let tile = square(self.size, (row, column), element);
            owned().insert((matrix, row, column), self.calls.rma_vec(&tile)?);
        }
        Ok(())
    }

    /// Asks for a tile.
    fn ask(&self, place: Place) -> Result<Call<Option<RmaVec<f64>>>, calls::Error> {
        let (_, row, column) = place;
        Ok(self.calls.to(self.owner(row, column))?.run(tile, (place,)))
    }

    /// Computes a tile of the product.
    fn multiply(&self, row: usize, column: usize) -> Result<RmaVec<f64>, Box<dyn Error>> {
        let mut asked = Vec::with_capacity(self.count);
        for k in 0..self.count {
            let left = self.ask((Matrix::Left, row, k))?;
            asked.push((left, self.ask((Matrix::Right, k, column))?));
        }
        let mut product = self.calls.rma_vec(&vec![0.0; self.size * self.size])?;
        let sum = product.get_mut().ok_or("a new tile has one handle")?;
        for (left, right) in asked {
            let tiles = left.wait()?.zip(right.wait()?);
            let (left, right) = tiles.ok_or("an owner has no such tile")?;
            add_product(sum, &left, &right, self.size);
        }
        Ok(product)
    }

    /// Looks for a tile of the product that differs from the same of one PE, whose rows are `alone`.
    fn differs(&self, alone: &[f64]) -> Result<Option<(usize, usize)>, Box<dyn Error>> {
        for (row, column) in self.all() {
            let tile = self.ask((Matrix::Product, row, column))?.wait()?;
            let tile = tile.ok_or("an owner has no such tile")?;
            let at = |i| (row * self.size + i) * self.count * self.size + column * self.size;
            let mut lines = tile.chunks_exact(self.size).enumerate();
            if lines.any(|(i, line)| line != &alone[at(i)..at(i) + self.size]) {
                return Ok(Some((row, column)));
            }
        }
        Ok(None)
    }
}

/// Returns the elements of a tile of `size` x `size` elements, of the matrix with the formula
/// `element`.
fn square(
    size: usize,
    (row, column): (usize, usize),
    element: fn(usize, usize) -> f64,
) -> Vec<f64> {
    let at = |i| element(row * size + i / size, column * size + i % size);
    (0..size * size).map(at).collect()
}

/// Adds the product of two squares of `size` x `size` elements.
fn add_product(sum: &mut [f64], left: &[f64], right: &[f64], size: usize) {
    for (sums, row) in sum.chunks_exact_mut(size).zip(left.chunks_exact(size)) {
        for (&factor, other) in row.iter().zip(right.chunks_exact(size)) {
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

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Result<Vec<usize>, _> = std::env::args().skip(1).map(|a| a.parse()).collect();
    let [count, size] = numbers?[..].try_into().unwrap_or([5, 64]);
    let calls = Calls::open()?;
    let grid = Grid {
        calls: &calls,
        count,
        size,
    };
    grid.fill(Matrix::Left, left)?;
    grid.fill(Matrix::Right, right)?;
    calls.barrier()?;

    for (row, column) in grid.own() {
        let product = grid.multiply(row, column)?;
        owned().insert((Matrix::Product, row, column), product);
    }
    calls.barrier()?;

    if calls.rank() == 0 {
        let (len, ranks) = (count * size, calls.ranks());
        let whole = |element| square(len, (0, 0), element);
        let mut alone = vec![0.0; len * len];
        add_product(&mut alone, &whole(left), &whole(right), len);
        if let Some((row, column)) = grid.differs(&alone)? {
            let text = format!("{ranks} PEs and one PE disagree in tile {row}, {column}");
            return Err(text.into());
        }
        let tiles = count * count;
        println!("{len} x {len} elements in {tiles} tiles on {ranks} PEs, as alone");
    }
    // PE 0 asks others for tiles until then.
    calls.settle()?;
    owned().clear();
    Ok(calls.close()?)
}
