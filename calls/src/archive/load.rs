//! Loading: nothing that a peer has written is believed.

use super::buffer::Arrived;
use super::save::IS_CHUNK;
use crate::pool::Block;
use bytemuck::Pod;

/// The most elements of an archive's sequences of which none takes any bytes.
pub(super) const MOST_EMPTY: usize = 1 << 24;
/// Values in boxes and sequences, each in another one: an archive of more would use up the stack.
pub(super) const MOST_DEEP: u32 = 256;

/// Values that can be loaded.
///
/// `#[derive(Load)]` does so for structures and enumerations; with `#[save(pod)]` as for
/// [`Save`](super::Save). Others load by hand: see [`Loader`].
///
/// ```
/// use calls::archive::Archive;
/// use calls::{Load, LoadError, Save};
///
/// /// Saves a value, and loads it as one of another type.
/// fn again<T: Save, U: Load>(value: &T) -> Result<U, LoadError> {
///     Archive::of(value, 4096).load()
/// }
///
/// let pairs: Vec<(char, u8)> = again(&[('a', 1_u8), ('b', 2)].as_slice())?;
/// assert_eq!(pairs, [('a', 1), ('b', 2)]);
/// assert!(again::<_, Vec<bool>>(&pairs).is_err());
/// # Ok::<(), LoadError>(())
/// ```
pub trait Load: Sized {
    /// The fewest bytes of index data that a value takes.
    const LEAST: usize = 0;

    /// Loads a value.
    ///
    /// # Errors
    /// [`LoadError`] where the bytes are not those of such a value.
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError>;

    /// Loads a number and as many values.
    ///
    /// # Errors
    /// As [`Load::load`].
    #[inline]
    fn load_all(from: &mut Loader<'_, '_>) -> Result<Vec<Self>, LoadError> {
        let count = from.count(Self::LEAST)?;
        // No more memory than there are bytes, before elements are there.
        let most = from.rest() / size_of::<Self>().max(1);
        from.deeper(|from| {
            let mut all = Vec::with_capacity(count.min(most));
            for _ in 0..count {
                all.push(Self::load(from)?);
            }
            Ok(all)
        })
    }

    /// Loads values one behind the other, without a number.
    ///
    /// # Errors
    /// As [`Load::load`].
    #[doc(hidden)]
    fn load_each<const N: usize>(from: &mut Loader<'_, '_>) -> Result<[Self; N], LoadError> {
        let mut failed = None;
        let all = std::array::from_fn(|_| match failed {
            None => Self::load(from).map_err(|error| failed = Some(error)).ok(),
            Some(_) => None,
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(all.map(|value| value.expect("each was loaded"))),
        }
    }
}

/// Why an archive is not one of a type's.
///
/// ```
/// use calls::LoadError;
/// use calls::archive::Archive;
///
/// let number = 2_u8;
/// let archive = Archive::of(&number, 4096);
/// assert_eq!(archive.load::<bool>(), Err(LoadError::Value("bool")));
/// assert_eq!(archive.load::<u64>(), Err(LoadError::Short));
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The index data ends before the value.
    #[error("the index data ends before the value")]
    Short,
    /// There are bytes or chunks behind the value.
    #[error("there is more than the value")]
    Long,
    /// A number of elements is larger than the bytes that are there.
    #[error("a number of elements is larger than the bytes that are there")]
    Count,
    /// The bytes are of no value of this type.
    #[error("the bytes are of no value of the type {0}")]
    Value(&'static str),
    /// A chunk is missing, or has another length than its elements.
    #[error("a chunk is missing, or has another length than its elements")]
    Chunk,
    /// The loaded value needs memory of a pool, and there is none.
    #[error("no memory in the pool")]
    Pool,
    /// More than 256 values lie in boxes and sequences, each in another one.
    #[error("more than {MOST_DEEP} values lie each in another one")]
    Deep,
    /// serde's type was not loaded.
    #[error("serde: {0}")]
    Serde(String),
}

/// Gives the values of an archive.
///
/// ```
/// use calls::archive::Archive;
/// use calls::{Load, LoadError, Loader, Save};
///
/// #[derive(Save)]
/// struct Percent(u8);
///
/// impl Load for Percent {
///     const LEAST: usize = 1;
///
///     fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
///         // A peer may write any bytes.
///         match u8::load(from)? {
///             percent @ 0..=100 => Ok(Self(percent)),
///             _ => Err(LoadError::Value("Percent")),
///         }
///     }
/// }
///
/// assert_eq!(Archive::of(&Percent(7), 4096).load::<Percent>()?.0, 7);
/// assert!(Archive::of(&Percent(101), 4096).load::<Percent>().is_err());
/// # Ok::<(), LoadError>(())
/// ```
#[derive(Debug)]
pub struct Loader<'a, 'b> {
    index: &'a [u8],
    chunks: std::slice::IterMut<'b, Arrived<'a>>,
    /// Values that are being loaded, each in another one.
    depth: u32,
    /// Elements so far that take no bytes.
    empty: usize,
    pool: Option<&'b std::sync::Arc<crate::pool::Pool>>,
}

impl<'a, 'b> Loader<'a, 'b> {
    #[inline]
    pub(crate) fn new(index: &'a [u8], chunks: &'b mut [Arrived<'a>]) -> Self {
        Self {
            index,
            chunks: chunks.iter_mut(),
            depth: 0,
            empty: 0,
            pool: None,
        }
    }

    /// The same, with a pool for values that have their memory there.
    #[inline]
    pub(crate) fn with_pool(mut self, pool: &'b std::sync::Arc<crate::pool::Pool>) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Loads the one value that the archive has.
    #[inline]
    pub(crate) fn whole<T: Load>(mut self) -> Result<T, LoadError> {
        let value = T::load(&mut self)?;
        // Index data in a message is as long as a multiple of 16.
        if self.index.len() < 16 && self.chunks.len() == 0 {
            Ok(value)
        } else {
            Err(LoadError::Long)
        }
    }

    /// Loads a value that lies in another one: in a box or a sequence, so that a type may have values of its
    /// own type. Bounds how many do so, each in another one.
    ///
    /// # Errors
    /// [`LoadError::Deep`]; those of `load`.
    #[inline]
    pub fn deeper<T>(
        &mut self,
        load: impl FnOnce(&mut Self) -> Result<T, LoadError>,
    ) -> Result<T, LoadError> {
        if self.depth == MOST_DEEP {
            return Err(LoadError::Deep);
        }
        self.depth += 1;
        let loaded = load(self);
        self.depth -= 1;
        loaded
    }

    /// Bytes of index data that are left.
    #[inline]
    pub fn rest(&self) -> usize {
        self.index.len()
    }

    /// Takes so many bytes of index data.
    ///
    /// # Errors
    /// [`LoadError::Short`].
    #[inline]
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], LoadError> {
        let (bytes, rest) = self.index.split_at_checked(len).ok_or(LoadError::Short)?;
        self.index = rest;
        Ok(bytes)
    }

    /// Takes `N` bytes.
    ///
    /// # Errors
    /// [`LoadError::Short`].
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], LoadError> {
        let (bytes, rest) = self.index.split_first_chunk().ok_or(LoadError::Short)?;
        self.index = rest;
        Ok(*bytes)
    }

    #[inline]
    fn word(&mut self) -> Result<u64, LoadError> {
        self.array().map(u64::from_ne_bytes)
    }

    /// Takes the number of elements that are loaded one by one, of at least `least` bytes each.
    ///
    /// # Errors
    /// [`LoadError::Short`]; [`LoadError::Count`] where they cannot all be there.
    #[inline]
    pub fn count(&mut self, least: usize) -> Result<usize, LoadError> {
        let word = self.word()?;
        let count = (word >> 1) as usize;
        let most = match least {
            0 => MOST_EMPTY - self.empty,
            least => self.index.len() / least,
        };
        if word & IS_CHUNK != 0 || count > most {
            return Err(LoadError::Count);
        }
        if least == 0 {
            self.empty += count;
        }
        Ok(count)
    }

    /// The number of plain elements, and the chunk that has them if their bytes are one.
    #[inline]
    fn plain<T: Pod>(&mut self) -> Result<(usize, usize, Option<&'b mut Arrived<'a>>), LoadError> {
        const { assert!(size_of::<T>() > 0, "elements have bytes") }
        let word = self.word()?;
        let count = (word >> 1) as usize;
        let bytes = count.checked_mul(size_of::<T>()).ok_or(LoadError::Count)?;
        if word & IS_CHUNK == 0 {
            return Ok((count, bytes, None));
        }
        let chunk = self.chunks.next().ok_or(LoadError::Chunk)?;
        if chunk.len() == bytes {
            Ok((count, bytes, Some(chunk)))
        } else {
            Err(LoadError::Chunk)
        }
    }

    /// Takes a slice of plain elements: the memory that its bytes have come to, where they are a chunk
    /// that was fetched for it, else a copy.
    ///
    /// # Errors
    /// [`LoadError::Short`], [`LoadError::Count`], [`LoadError::Chunk`].
    #[inline]
    pub fn slice<T: Pod>(&mut self) -> Result<Vec<T>, LoadError> {
        match self.plain::<T>()? {
            (count, bytes, None) => Ok(copied(self.bytes(bytes)?, count)),
            (count, _, Some(chunk)) => Ok(chunk.take_vec(count)),
        }
    }

    /// Takes a slice of plain elements into a block of the pool: the one that its bytes have come to, or
    /// another.
    ///
    /// # Errors
    /// As [`Loader::slice`]; [`LoadError::Pool`].
    pub(crate) fn block<T: Pod>(&mut self) -> Result<(std::sync::Arc<Block>, usize), LoadError> {
        let (count, bytes, mut chunk) = self.plain::<T>()?;
        if let Some(block) = chunk.as_deref_mut().and_then(Arrived::take_block) {
            return Ok((block, count));
        }
        let bytes = match &chunk {
            Some(chunk) => chunk.bytes(),
            None => self.bytes(bytes)?,
        };
        let pool = self.pool.ok_or(LoadError::Pool)?;
        let mut block = pool.take(bytes.len()).map_err(|_| LoadError::Pool)?;
        block.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        Ok((std::sync::Arc::new(block), count))
    }
}

/// A copy of plain elements, of which the bytes are there.
#[inline]
pub(super) fn copied<T: Pod>(bytes: &[u8], count: usize) -> Vec<T> {
    debug_assert_eq!(bytes.len(), count * size_of::<T>());
    if let Ok(elements) = bytemuck::try_cast_slice(bytes) {
        return elements.to_vec();
    }
    let mut all = vec![T::zeroed(); count];
    bytemuck::cast_slice_mut(&mut all).copy_from_slice(bytes);
    all
}
