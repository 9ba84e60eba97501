//! Vectors and values in registered memory: the paper's `rma_vector` and `rma_object`.

use crate::archive::{Load, LoadError, Loader, Save, Saver};
use crate::error::Error;
use crate::pool::{Block, Pool};
use bytemuck::Pod;
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// A vector of plain elements in memory that is registered for good: in a call it is not copied, and
/// nothing is registered. The receiver reads it by RMA into a vector of its own.
///
/// A clone shares the elements; they may be changed by the only handle ([`RmaVec::get_mut`]). Made by
/// [`Calls::rma_vec`](crate::Calls::rma_vec).
///
/// ```
/// let calls = calls::Calls::alone()?;
/// let mut all = calls.rma_vec(&[1.0_f64, 2.0, 3.0])?;
/// all.get_mut().expect("the only handle")[0] = 7.0;
/// let shared = all.clone();
/// assert!(all.get_mut().is_none());
/// assert_eq!(*shared, [7.0, 2.0, 3.0]);
/// # Ok::<(), calls::Error>(())
/// ```
pub struct RmaVec<T> {
    block: Arc<Block>,
    len: usize,
    of: PhantomData<Box<[T]>>,
}

impl<T: Pod> RmaVec<T> {
    /// Room for `capacity` elements.
    pub(crate) fn with_capacity(pool: &Arc<Pool>, capacity: usize) -> Result<Self, Error> {
        const {
            assert!(size_of::<T>() > 0, "elements have bytes");
            assert!(
                align_of::<T>() <= 128,
                "blocks begin at multiples of 128 bytes"
            );
        }
        let bytes = capacity.checked_mul(size_of::<T>());
        let bytes = bytes.ok_or(Error::NoRoom { bytes: usize::MAX })?;
        Ok(Self {
            block: Arc::new(pool.take(bytes)?),
            len: 0,
            of: PhantomData,
        })
    }

    /// Elements that there is room for.
    pub fn capacity(&self) -> usize {
        self.block.len() / size_of::<T>()
    }

    /// Returns the elements, to be changed, where this is the only handle.
    pub fn get_mut(&mut self) -> Option<&mut [T]> {
        Some(Arc::get_mut(&mut self.block)?.elements_mut(self.len))
    }

    /// Returns the elements, to be changed: those of a copy, where others share them.
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    pub fn make_mut(&mut self) -> Result<&mut [T], Error> {
        self.own(self.len)?;
        Ok(self.get_mut().unwrap_or_default())
    }

    /// Makes this the only handle of a block with room for `capacity` elements.
    fn own(&mut self, capacity: usize) -> Result<(), Error> {
        if capacity <= self.capacity() && Arc::get_mut(&mut self.block).is_some() {
            return Ok(());
        }
        let mut other = Self::with_capacity(self.block.pool(), capacity.max(self.len))?;
        if let Some(block) = Arc::get_mut(&mut other.block) {
            block.elements_mut(self.len).copy_from_slice(self);
        }
        other.len = self.len;
        *self = other;
        Ok(())
    }

    /// Appends elements: in a copy, where others share those that are there, or there is no room.
    ///
    /// # Errors
    /// [`Error::NoRoom`], and nothing was done.
    pub fn extend_from_slice(&mut self, more: &[T]) -> Result<(), Error> {
        let len = self.len + more.len();
        let capacity = if len <= self.capacity() {
            len
        } else {
            len.max(2 * self.len)
        };
        self.own(capacity)?;
        if let Some(block) = Arc::get_mut(&mut self.block) {
            block.elements_mut(len)[self.len..].copy_from_slice(more);
            self.len = len;
        }
        Ok(())
    }

    /// Appends an element, as [`RmaVec::extend_from_slice`] does.
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    pub fn push(&mut self, element: T) -> Result<(), Error> {
        self.extend_from_slice(&[element])
    }

    /// Keeps the first `len` elements.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl<T> Clone for RmaVec<T> {
    fn clone(&self) -> Self {
        Self {
            block: Arc::clone(&self.block),
            len: self.len,
            of: PhantomData,
        }
    }
}

impl<T: Pod> Deref for RmaVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.block.elements(self.len)
    }
}

impl<T: Pod + Debug> Debug for RmaVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Pod + PartialEq> PartialEq for RmaVec<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Pod> Save for RmaVec<T> {
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        to.block::<T>(&self.block, self.len);
    }
}

impl<T: Pod> Load for RmaVec<T> {
    const LEAST: usize = 8;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        let (block, len) = from.block::<T>()?;
        Ok(Self {
            block,
            len,
            of: PhantomData,
        })
    }
}

/// One plain value in registered memory, as [`RmaVec`] has many. Made by
/// [`Calls::rma_box`](crate::Calls::rma_box).
///
/// ```
/// let calls = calls::Calls::alone()?;
/// let tile = calls.rma_box([[0.0_f32; 32]; 32])?;
/// assert_eq!(tile[3][4], 0.0);
/// # Ok::<(), calls::Error>(())
/// ```
#[derive(Clone)]
pub struct RmaBox<T>(RmaVec<T>);

impl<T: Pod> RmaBox<T> {
    pub(crate) fn new(pool: &Arc<Pool>, value: T) -> Result<Self, Error> {
        let mut all = RmaVec::with_capacity(pool, 1)?;
        all.push(value)?;
        Ok(Self(all))
    }

    /// Returns the value, to be changed, where this is the only handle.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.get_mut()?.first_mut()
    }
}

impl<T: Pod> Deref for RmaBox<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0[0]
    }
}

impl<T: Pod + Debug> Debug for RmaBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Pod> Save for RmaBox<T> {
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        self.0.save(to);
    }
}

impl<T: Pod> Load for RmaBox<T> {
    const LEAST: usize = 8;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        let all = RmaVec::load(from)?;
        match all.len() {
            1 => Ok(Self(all)),
            _ => Err(LoadError::Value("RmaBox")),
        }
    }
}
