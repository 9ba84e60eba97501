//! Types of serde.

use super::bounded::Bounds;
use super::load::{Load, LoadError, Loader};
use super::save::{Save, Saver};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value of a type that serde knows, which travels in postcard's format, copied.
///
/// At most 256 structures, variants, options and sequences lie each in another one, and at most 2^24
/// elements take no bytes: others are refused by [`LoadError::Deep`] and [`LoadError::Count`].
///
/// ```
/// use calls::archive::{Archive, Serde};
///
/// #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
/// struct Point { x: f64, y: f64 }
///
/// let archived = Serde(Point { x: 1.0, y: 2.0 });
/// let Serde(back): Serde<Point> = Archive::of(&archived, 4096).load()?;
/// assert_eq!(back, archived.0);
/// # Ok::<(), calls::archive::LoadError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Serde<T>(pub T);

impl<T: Serialize> Save for Serde<T> {
    /// # Panics
    /// Where `T` refuses to be serialised.
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        let bytes = postcard::to_allocvec(&self.0);
        let bytes = bytes.unwrap_or_else(|error| panic!("serde: {error}"));
        to.count(bytes.len());
        to.bytes(&bytes);
    }
}

impl<T: DeserializeOwned> Load for Serde<T> {
    const LEAST: usize = 8;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        let len = from.count(1)?;
        let bounds = Bounds::of(len);
        let mut inner = postcard::Deserializer::from_bytes(from.bytes(len)?);
        let loaded = T::deserialize(bounds.around(&mut inner));
        loaded.map(Self).map_err(|error| {
            let serde = || LoadError::Serde(error.to_string());
            bounds.passed().unwrap_or_else(serde)
        })
    }
}
