//! The arithmetic of the global array: matrices that lie tile by tile, and their product.
//!
//! The elements are small integers, so that every order of additions gives the same bits.

/// The factor that gives a matrix its elements.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Factor {
    /// The first factor.
    A,
    /// The second one.
    B,
}

/// A square matrix of square tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Tiles along an edge of the matrix.
    pub(crate) tiles: usize,
    /// Elements along an edge of a tile.
    pub(crate) edge: usize,
}

impl Layout {
    /// Returns the number of elements of a tile.
    pub(crate) fn tile_len(self) -> usize {
        self.edge * self.edge
    }

    /// Returns the number of bytes of a tile.
    pub(crate) fn tile_bytes(self) -> usize {
        self.tile_len() * size_of::<f64>()
    }

    /// Returns the number of elements of the matrix.
    pub(crate) fn len(self) -> usize {
        self.tiles * self.tiles * self.tile_len()
    }

    /// Returns the first element of a tile.
    pub(crate) fn tile(self, row: usize, column: usize) -> usize {
        (row * self.tiles + column) * self.tile_len()
    }

    /// Returns the place of the element of a row and a column.
    fn place(self, row: usize, column: usize) -> usize {
        let tile = self.tile(row / self.edge, column / self.edge);
        tile + row % self.edge * self.edge + column % self.edge
    }

    /// Returns a factor's elements as they lie.
    pub(crate) fn factor(self, which: Factor) -> Vec<f64> {
        let mut all = vec![0.0; self.len()];
        let edge = self.tiles * self.edge;
        for row in 0..edge {
            for column in 0..edge {
                let value = match which {
                    Factor::A => (3 * row + 5 * column) % 17,
                    Factor::B => (7 * row + 2 * column) % 13,
                };
                all[self.place(row, column)] = value as f64;
            }
        }
        all
    }

    /// Returns the product of both factors, as a serial program finds it: by rows and columns,
    /// knowing nothing of tiles.
    pub(crate) fn product(self) -> Vec<f64> {
        let (a, b) = (self.factor(Factor::A), self.factor(Factor::B));
        let mut all = vec![0.0; self.len()];
        let edge = self.tiles * self.edge;
        for row in 0..edge {
            for column in 0..edge {
                let terms = (0..edge).map(|k| a[self.place(row, k)] * b[self.place(k, column)]);
                all[self.place(row, column)] = terms.sum();
            }
        }
        all
    }
}

/// Adds the product of tiles `a` and `b` to tile `c`.
pub(crate) fn multiply_add(edge: usize, a: &[f64], b: &[f64], c: &mut [f64]) {
    for row in 0..edge {
        for k in 0..edge {
            let factor = a[row * edge + k];
            for column in 0..edge {
                c[row * edge + column] += factor * b[k * edge + column];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_multiply_to_the_product() {
        let layout = Layout { tiles: 3, edge: 4 };
        let (a, b) = (layout.factor(Factor::A), layout.factor(Factor::B));
        let mut c = vec![0.0; layout.len()];
        let tile =
            |row, column| layout.tile(row, column)..layout.tile(row, column) + layout.tile_len();
        for row in 0..3 {
            for column in 0..3 {
                for k in 0..3 {
                    multiply_add(
                        4,
                        &a[tile(row, k)],
                        &b[tile(k, column)],
                        &mut c[tile(row, column)],
                    );
                }
            }
        }
        assert_eq!(c, layout.product());
        assert!(c.iter().any(|&element| element > 100.0));
    }
}
