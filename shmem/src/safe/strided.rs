//! Strided transfers, of elements and of blocks (OpenSHMEM 1.6, sections 9.6.1.3, 9.6.1.4, 9.6.1.7
//! and 9.6.1.8).

#![expect(
    unsafe_code,
    reason = "calls the routines with addresses that the arrays' types vouch for"
)]

use super::{Ctx, Readable, Shared};
use crate::{job, strided};
use bytemuck::Pod;

/// Blocks of elements at regular distances.
///
/// ```
/// // The first two of every ten elements, 5 times.
/// let columns = shmem::Blocks { size: 2, count: 5 };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Elements of a block.
    pub size: usize,
    /// Blocks.
    pub count: usize,
}

/// Returns the number of elements that blocks `stride` apart take, from the first to the last; 0
/// for none.
///
/// # Panics
/// If blocks overlap, or the number overflows.
#[track_caller]
fn span(Blocks { size, count }: Blocks, stride: usize) -> usize {
    if size == 0 || count == 0 {
        return 0;
    }
    let me = job::my_pe();
    assert!(
        stride >= size,
        "PE {me}: a stride of {stride} elements, and blocks of {size}"
    );
    let last = (count - 1).checked_mul(stride);
    let span = last.and_then(|last| last.checked_add(size));
    // The routines take strides and counts up to the largest `isize`.
    let span = span.filter(|_| isize::try_from(stride).is_ok());
    span.unwrap_or_else(|| panic!("PE {me}: {count} blocks {stride} elements apart"))
}

impl Ctx<'_> {
    /// Writes the elements of `source` that are `from` apart to elements of `dest` on `pe` that are
    /// `by` apart, from `index` on, `count` of them (9.6.1.3).
    ///
    /// # Panics
    /// If an element or `pe` is out of range, or a stride is 0 and `count` is not.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), shmem::Error> {
    /// let world = shmem::World::init()?;
    /// let (rows, columns) = (10, 8);
    /// let matrix = world.alloc::<f64>(rows * columns).expect("room for a matrix");
    /// // The third column on PE 0.
    /// world.ctx().iput((&matrix, 2, columns), (&[1.0; 10], 1), rows, 0);
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn iput<T: Pod>(
        &self,
        dest: (&Shared<'_, T>, usize, usize),
        source: (&[T], usize),
        count: usize,
        pe: usize,
    ) {
        self.ibput(dest, source, Blocks { size: 1, count }, pe);
    }

    /// Reads elements of `source` on `pe` that are `from` apart, from `index` on, to those of `dest`
    /// that are `by` apart, `count` of them (9.6.1.7).
    ///
    /// # Panics
    /// If an element or `pe` is out of range, or a stride is 0 and `count` is not.
    #[track_caller]
    pub fn iget<T: Pod>(
        &self,
        dest: (&mut [T], usize),
        source: (&impl Readable<T>, usize, usize),
        count: usize,
        pe: usize,
    ) {
        self.ibget(dest, source, Blocks { size: 1, count }, pe);
    }

    /// Writes blocks of `source` that begin `from` elements apart to places in `dest` on `pe` that
    /// are `by` apart, from `index` on (9.6.1.4).
    ///
    /// # Panics
    /// If an element or `pe` is out of range, or a stride is less than a block.
    #[track_caller]
    pub fn ibput<T: Pod>(
        &self,
        (dest, index, by): (&Shared<'_, T>, usize, usize),
        (source, from): (&[T], usize),
        blocks: Blocks,
        pe: usize,
    ) {
        let to = dest.place.at(index, span(blocks, by));
        check_local(span(blocks, from), source.len());
        let pe = self.number(pe);
        let Blocks { size, count } = blocks;
        let (by, from) = (by.cast_signed(), from.cast_signed());
        let (source, at) = (source.as_ptr(), &"Ctx::ibput");
        // SAFETY: the array is shared on all PEs, at this place, and holds the blocks, as the slice
        // does; both are aligned, and they are apart, as nothing gives a reference to a shared
        // array. The rules of threads: this one has the context.
        unsafe { strided::ibput(self.context, at, to, source, by, from, size, count, pe) };
    }

    /// Reads blocks of `source` on `pe` that begin `from` elements apart, from `index` on, to places
    /// in `dest` that are `by` apart (9.6.1.8).
    ///
    /// # Panics
    /// If an element or `pe` is out of range, or a stride is less than a block.
    #[track_caller]
    pub fn ibget<T: Pod>(
        &self,
        (dest, by): (&mut [T], usize),
        (source, index, from): (&impl Readable<T>, usize, usize),
        blocks: Blocks,
        pe: usize,
    ) {
        let source = source.place().at(index, span(blocks, from));
        check_local(span(blocks, by), dest.len());
        let pe = self.number(pe);
        let Blocks { size, count } = blocks;
        let (by, from) = (by.cast_signed(), from.cast_signed());
        let (dest, at) = (dest.as_mut_ptr(), &"Ctx::ibget");
        // SAFETY: the array is readable on all PEs, at this place, and holds the blocks, as the
        // slice does; both are aligned, and they are apart, as nothing gives a mutable reference to
        // it. The rules of threads: this one has the context.
        unsafe { strided::ibget(self.context, at, dest, source, by, from, size, count, pe) };
    }
}

#[track_caller]
fn check_local(span: usize, len: usize) {
    assert!(
        span <= len,
        "PE {}: blocks of {span} elements in a slice of {len}",
        job::my_pe()
    );
}
