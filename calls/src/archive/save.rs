//! Saving.

use crate::pool::{Block, Pool};
use bytemuck::Pod;
use std::sync::Arc;

/// Values that can be saved.
///
/// `#[derive(Save)]` does so for structures and enumerations, field by field. With `#[save(pod)]` a
/// structure that is [`Pod`] is saved as its bytes, and slices of it at once.
///
/// ```
/// use calls::{Load, Save};
///
/// #[derive(Save, Load)]
/// struct Named {
///     name: String,
///     values: Vec<f64>,
/// }
/// ```
///
/// Others save by hand: see [`Saver`].
pub trait Save {
    /// Bytes of index data, where each value takes as many, has no chunk, and runs nothing of the
    /// program's as it is saved: of numbers, and of tuples, arrays and derived structures of such. A
    /// message takes them at once.
    #[doc(hidden)]
    const FIXED: Option<usize> = None;

    /// Saves the value.
    fn save<'a>(&'a self, to: &mut Saver<'a>);

    /// Saves the elements of a slice, without their number.
    #[inline]
    fn save_all<'a>(slice: &'a [Self], to: &mut Saver<'a>)
    where
        Self: Sized,
    {
        to.count(slice.len());
        Self::save_each(slice, to);
    }

    /// Saves elements one behind the other, without a number.
    #[doc(hidden)]
    #[inline]
    fn save_each<'a>(slice: &'a [Self], to: &mut Saver<'a>)
    where
        Self: Sized,
    {
        for value in slice {
            value.save(to);
        }
    }
}

/// The sum of [`Save::FIXED`] of some types, where each has it.
#[must_use]
pub const fn fixed(mut types: &[Option<usize>]) -> Option<usize> {
    let mut sum = 0;
    while let [first, rest @ ..] = types {
        match first {
            Some(bytes) => sum += *bytes,
            None => return None,
        }
        types = rest;
    }
    Some(sum)
}

/// Takes values for an archive.
///
/// ```
/// use calls::archive::Archive;
/// use calls::{Load, LoadError, Loader, Save, Saver};
///
/// /// Rows of the same length, one behind the other.
/// #[derive(Debug, PartialEq)]
/// struct Rows {
///     elements: Vec<f32>,
///     len: usize,
/// }
///
/// impl Save for Rows {
///     fn save<'a>(&'a self, to: &mut Saver<'a>) {
///         self.len.save(to);
///         // A chunk, where it is long.
///         to.slice(&self.elements);
///     }
/// }
///
/// impl Load for Rows {
///     const LEAST: usize = 16;
///
///     fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
///         let (len, elements) = (usize::load(from)?, from.slice()?);
///         Ok(Self { elements, len })
///     }
/// }
///
/// let rows = Rows { elements: vec![1.5; 3000], len: 30 };
/// let archive = Archive::of(&rows, 4096);
/// assert_eq!(archive.chunks().collect::<Vec<_>>(), [12_000]);
/// assert_eq!(archive.load::<Rows>()?, rows);
/// # Ok::<(), LoadError>(())
/// ```
#[derive(Debug)]
pub struct Saver<'a> {
    index: Vec<u8>,
    chunks: Vec<Chunk<'a>>,
    threshold: usize,
    /// The pool whose blocks peers know by their keys.
    pool: Option<&'a Arc<Pool>>,
}

/// Bytes that stay where they are.
#[derive(Clone, Debug)]
pub(crate) enum Chunk<'a> {
    /// In any memory; with the alignment of their elements.
    Plain(&'a [u8], u8),
    /// In a block of the pool: of a length.
    Block(&'a Arc<Block>, usize),
}

impl<'a> Chunk<'a> {
    /// The bytes.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        match self {
            Self::Plain(bytes, _) => bytes,
            Self::Block(block, len) => &block.bytes()[..*len],
        }
    }
}

/// In the place of the number of a slice: the number in the upper 63 bits, and this one where its bytes
/// are a chunk.
pub(super) const IS_CHUNK: u64 = 1;

impl<'a> Saver<'a> {
    #[inline]
    pub(crate) fn new(mut memory: Vec<u8>, threshold: usize, pool: Option<&'a Arc<Pool>>) -> Self {
        memory.clear();
        Self {
            index: memory,
            chunks: Vec::new(),
            threshold,
            pool,
        }
    }

    /// Saves a value that has [`Save::FIXED`], behind the bytes that are in `memory`.
    #[inline(always)]
    pub(crate) fn append_fixed<T: Save>(memory: &mut Vec<u8>, value: &'a T) {
        let mut saver = Self {
            index: std::mem::take(memory),
            chunks: Vec::new(),
            threshold: usize::MAX,
            pool: None,
        };
        value.save(&mut saver);
        *memory = saver.index;
    }

    /// The index data and the chunks.
    #[inline]
    pub(crate) fn into_parts(self) -> (Vec<u8>, Vec<Chunk<'a>>) {
        (self.index, self.chunks)
    }

    /// Appends bytes to the index data.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.index.extend_from_slice(bytes);
    }

    /// Appends a word.
    #[inline]
    pub(crate) fn word(&mut self, word: u64) {
        self.index.extend_from_slice(&word.to_ne_bytes());
    }

    /// Appends the number of elements that are saved one by one.
    #[inline]
    pub fn count(&mut self, count: usize) {
        self.word((count as u64) << 1);
    }

    /// Saves a slice of plain elements: as a chunk where it is long.
    #[inline]
    pub fn slice<T: Pod>(&mut self, slice: &'a [T]) {
        const { assert!(size_of::<T>() > 0, "elements have bytes") }
        let bytes: &[u8] = bytemuck::cast_slice(slice);
        let count = (slice.len() as u64) << 1;
        if bytes.len() < self.threshold || bytes.is_empty() {
            self.index.reserve(8 + bytes.len());
            self.word(count);
            self.bytes(bytes);
        } else {
            self.word(count | IS_CHUNK);
            let align = const { align_of::<T>() as u8 };
            self.chunks.push(Chunk::Plain(bytes, align));
        }
    }

    /// Saves the first `len` elements of a block, which is of the pool's.
    pub(crate) fn block<T: Pod>(&mut self, block: &'a Arc<Block>, len: usize) {
        let is_known = self.pool.is_some_and(|pool| block.is_of(pool));
        let bytes = len * size_of::<T>();
        if is_known && bytes >= self.threshold.max(1) {
            self.word((len as u64) << 1 | IS_CHUNK);
            self.chunks.push(Chunk::Block(block, bytes));
        } else {
            self.slice(block.elements::<T>(len));
        }
    }
}
