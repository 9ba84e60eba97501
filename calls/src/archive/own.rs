//! Arguments that are saved as another type: so that a call has shared or borrowed ones, and the action
//! its own.

use super::load::{Load, LoadError, Loader};
use super::save::{Save, Saver};
use std::fmt::{self, Debug};
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Values whose archives are those of a `T`.
///
/// Each `T` is one, and so is a reference to it. In the place of a `Vec<T>` there may be a slice, an
/// `Arc<[T]>` or a [`SharedSlice`], and in the place of a `String` text.
///
/// A type of the program's may be saved as another one:
///
/// ```
/// use calls::{Calls, Save, SaveAs, Saver, action};
///
/// /// A square of elements, of which the receiver gets a vector.
/// struct Tile([[f64; 32]; 32]);
///
/// impl Save for Tile {
///     fn save<'a>(&'a self, to: &mut Saver<'a>) {
///         to.slice(self.0.as_flattened());
///     }
/// }
///
/// impl SaveAs<Vec<f64>> for Tile {}
///
/// #[action]
/// fn sum(elements: Vec<f64>) -> f64 {
///     elements.iter().sum()
/// }
///
/// let calls = Calls::alone()?;
/// assert_eq!(calls.to(0)?.run(sum, (Tile([[0.5; 32]; 32]),)).wait()?, 512.0);
/// # Ok::<(), calls::Error>(())
/// ```
pub trait SaveAs<T>: Save {}

impl<T: Save> SaveAs<T> for T {}
impl<T: Save> SaveAs<T> for &T {}
impl<T: Save> SaveAs<Vec<T>> for &[T] {}
impl<T: Save> SaveAs<Vec<T>> for Arc<[T]> {}
impl<T: Save> SaveAs<Vec<T>> for SharedSlice<T> {}
impl<T: Save> SaveAs<T> for Arc<T> {}
impl SaveAs<String> for &str {}
impl SaveAs<String> for Arc<str> {}

/// A range of a vector that several calls and the program share: its elements are not copied.
///
/// ```
/// use calls::SharedSlice;
///
/// let all = SharedSlice::from(vec![1, 2, 3, 4]);
/// let half = all.slice(0..2);
/// drop(all);
/// assert_eq!(*half, [1, 2]);
/// ```
pub struct SharedSlice<T> {
    whole: Arc<Vec<T>>,
    range: Range<usize>,
}

impl<T> SharedSlice<T> {
    /// Returns a part, which shares the elements.
    ///
    /// # Panics
    /// If the range is not in this slice.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let _ = &self[range.clone()];
        Self {
            whole: Arc::clone(&self.whole),
            range: self.range.start + range.start..self.range.start + range.end,
        }
    }
}

impl<T> From<Vec<T>> for SharedSlice<T> {
    fn from(whole: Vec<T>) -> Self {
        let range = 0..whole.len();
        Self {
            whole: Arc::new(whole),
            range,
        }
    }
}

impl<T> Clone for SharedSlice<T> {
    fn clone(&self) -> Self {
        Self {
            whole: Arc::clone(&self.whole),
            range: self.range.clone(),
        }
    }
}

impl<T> Deref for SharedSlice<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.whole[self.range.clone()]
    }
}

impl<T: Debug> Debug for SharedSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Save> Save for SharedSlice<T> {
    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        (**self).save(to);
    }
}

impl<T: Load> Load for SharedSlice<T> {
    const LEAST: usize = 8;

    #[inline]
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        Vec::load(from).map(Self::from)
    }
}
