//! Archives: the bytes of values, and the places of those that are too many to be copied.
//!
//! An archive has index data, into which values are written one after the other, and chunks: slices of
//! many bytes stay where they are, and the index data has their length alone (sections 3.1 and 3.4 of
//! Biddiscombe et al., "Zero Copy Serialization using RMA in the HPX Distributed Task-Based Runtime").
//! Index data begins at a multiple of 16 bytes. Numbers are in the byte order of the machine, as all
//! processes of a job run on machines of one kind.

mod arrays;
#[cfg(feature = "serde")]
mod bounded;
mod buffer;
mod load;
mod maps;
mod own;
mod save;
mod scalars;
#[cfg(feature = "serde")]
mod serde;

pub(crate) use buffer::{Arrived, Heap};
pub use load::{Load, LoadError, Loader};
pub use own::{SaveAs, SharedSlice};
pub(crate) use save::Chunk;
#[doc(hidden)]
pub use save::fixed;
pub use save::{Save, Saver};
#[cfg(feature = "serde")]
pub use serde::Serde;

/// Slices of so many bytes are chunks, where nothing else is said.
pub const THRESHOLD: usize = 4096;

/// A saved value, in this process: index data, and the chunks of the value that it was saved from.
///
/// ```
/// use calls::archive::Archive;
///
/// let value = (7_u32, vec![1.5_f64; 1000], "some text".to_owned());
/// let archive = Archive::of(&value, 4096);
/// assert_eq!(archive.chunks().collect::<Vec<_>>(), [8000]);
/// assert!(archive.index().len() < 64);
/// let back: (u32, Vec<f64>, String) = archive.load()?;
/// assert_eq!(back, value);
/// # Ok::<(), calls::archive::LoadError>(())
/// ```
#[derive(Debug)]
pub struct Archive<'a> {
    index: Vec<u8>,
    chunks: Vec<Chunk<'a>>,
}

impl<'a> Archive<'a> {
    /// Saves a value: its slices from `threshold` bytes on stay in the value.
    pub fn of<T: Save + ?Sized>(value: &'a T, threshold: usize) -> Self {
        Self::with(Vec::new(), value, threshold)
    }

    /// Saves a value as [`Archive::of`] does, with the memory of index data that is not used any more.
    pub fn with<T: Save + ?Sized>(memory: Vec<u8>, value: &'a T, threshold: usize) -> Self {
        let mut saver = Saver::new(memory, threshold, None);
        value.save(&mut saver);
        let (index, chunks) = saver.into_parts();
        Self { index, chunks }
    }

    /// Returns the index data.
    pub fn index(&self) -> &[u8] {
        &self.index
    }

    /// Returns the lengths of the chunks in bytes, in their order.
    pub fn chunks(&self) -> impl Iterator<Item = usize> {
        self.chunks.iter().map(|chunk| chunk.bytes().len())
    }

    /// Loads a value: the bytes of chunks are copied into it.
    ///
    /// # Errors
    /// [`LoadError`] where the archive is not one of the type's.
    pub fn load<T: Load>(&self) -> Result<T, LoadError> {
        let here = |chunk: &Chunk<'a>| Arrived::here(chunk.bytes());
        match &*self.chunks {
            [] => Loader::new(&self.index, &mut []).whole(),
            [one] => Loader::new(&self.index, &mut [here(one)]).whole(),
            many => {
                let mut arrived: Vec<_> = many.iter().map(here).collect();
                Loader::new(&self.index, &mut arrived).whole()
            }
        }
    }

    /// Returns the memory of the index data, for another archive.
    pub fn into_index(self) -> Vec<u8> {
        self.index
    }
}
