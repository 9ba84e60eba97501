//! The arithmetic of the stencil: a grid that closes on itself in both directions, and its parts.
//!
//! Every process has the same number of columns, and its threads share its rows. An element's next value is the mean of its
//! own and its four neighbours', summed in one order, so that parts and a serial run give the same bits.

use std::ops::Range;

/// A grid and how it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Rows.
    pub(crate) rows: usize,
    /// Columns.
    pub(crate) columns: usize,
    /// Processes, which have the columns among them.
    pub(crate) processes: usize,
    /// Threads of each, which have the rows among them.
    pub(crate) threads: usize,
}

/// Returns the initial value of an element.
fn first(row: usize, column: usize) -> f64 {
    ((row * 31 + column * 17) % 101) as f64
}

/// Returns the next value of an element: it, and its neighbours above, below, to the left and to
/// the right.
fn mean(own: f64, above: f64, below: f64, left: f64, right: f64) -> f64 {
    (own + above + below + left + right) * 0.2
}

impl Grid {
    /// Returns the number of columns of a process.
    pub(crate) fn width(&self) -> usize {
        self.columns / self.processes
    }

    /// Returns the rows of a thread.
    pub(crate) fn rows_of(&self, thread: usize) -> Range<usize> {
        let each = self.rows / self.threads;
        thread * each..(thread + 1) * each
    }

    /// Returns whether the parts are of one size, and none is empty.
    pub(crate) fn is_even(&self) -> bool {
        self.rows.is_multiple_of(self.threads)
            && self.columns.is_multiple_of(self.processes)
            && self.rows > 0
            && self.columns > 0
    }

    /// Returns the part of a process, row by row.
    pub(crate) fn part(&self, process: usize) -> Vec<f64> {
        self.cut(process, &self.whole())
    }

    fn whole(&self) -> Vec<f64> {
        let places =
            (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| (row, column)));
        places.map(|(row, column)| first(row, column)).collect()
    }

    fn cut(&self, process: usize, whole: &[f64]) -> Vec<f64> {
        let columns = process * self.width()..(process + 1) * self.width();
        whole
            .chunks(self.columns)
            .flat_map(|row| row[columns.clone()].iter().copied())
            .collect()
    }

    /// Returns the part of a process after so many steps, as a serial program finds it.
    pub(crate) fn serial(&self, process: usize, steps: usize) -> Vec<f64> {
        let mut now = self.whole();
        for _ in 0..steps {
            let at = |row: usize, column: usize| {
                now[row % self.rows * self.columns + column % self.columns]
            };
            let mut next = Vec::with_capacity(now.len());
            for row in 0..self.rows {
                for column in 0..self.columns {
                    next.push(mean(
                        at(row, column),
                        at(row + self.rows - 1, column),
                        at(row + 1, column),
                        at(row, column + self.columns - 1),
                        at(row, column + 1),
                    ));
                }
            }
            now = next;
        }
        self.cut(process, &now)
    }

    /// Computes one row of a process's part after a step. `now` is the part before it; `left` and
    /// `right` are the columns beside it.
    pub(crate) fn step_row(
        &self,
        row: usize,
        now: &[f64],
        left: f64,
        right: f64,
        next: &mut [f64],
    ) {
        let width = self.width();
        let of = |row: usize| &now[row % self.rows * width..][..width];
        let (own, above, below) = (of(row), of(row + self.rows - 1), of(row + 1));
        for column in 0..width {
            let left = if column == 0 { left } else { own[column - 1] };
            let right = own.get(column + 1).copied().unwrap_or(right);
            next[column] = mean(own[column], above[column], below[column], left, right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_exchange_their_edges_make_the_serial_run() {
        for (processes, threads) in [(1, 1), (2, 3), (6, 2), (3, 6)] {
            let grid = Grid {
                rows: 6,
                columns: 12,
                processes,
                threads,
            };
            assert!(grid.is_even());
            let mut parts: Vec<Vec<f64>> =
                (0..processes).map(|process| grid.part(process)).collect();
            let width = grid.width();
            for _ in 0..5 {
                let before = parts.clone();
                for (process, part) in parts.iter_mut().enumerate() {
                    let left = &before[(process + processes - 1) % processes];
                    let right = &before[(process + 1) % processes];
                    for row in (0..threads).flat_map(|thread| grid.rows_of(thread)) {
                        let at = row * width;
                        let next = &mut part[at..at + width];
                        grid.step_row(row, &before[process], left[at + width - 1], right[at], next);
                    }
                }
            }
            for (process, part) in parts.iter().enumerate() {
                assert_eq!(*part, grid.serial(process, 5));
            }
        }
        assert!(
            !Grid {
                rows: 5,
                columns: 12,
                processes: 2,
                threads: 2
            }
            .is_even()
        );
    }
}
