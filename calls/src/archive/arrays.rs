//! Slices, text, and values that have others.

#![expect(unsafe_code, reason = "text of ASCII is not looked at twice")]

use super::load::{Load, LoadError, Loader};
use super::save::{Save, Saver};
use std::sync::Arc;

impl<T: Save> Save for [T] {
    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        T::save_all(self, to);
    }
}

impl<T: Save> Save for Vec<T> {
    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        T::save_all(self, to);
    }
}

impl<T: Load> Load for Vec<T> {
    const LEAST: usize = 8;

    #[inline]
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        T::load_all(from)
    }
}

impl<T: Load> Load for Box<[T]> {
    const LEAST: usize = 8;

    #[inline]
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        T::load_all(from).map(Vec::into_boxed_slice)
    }
}

impl<T: Load> Load for Arc<[T]> {
    const LEAST: usize = 8;

    #[inline]
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        T::load_all(from).map(Into::into)
    }
}

impl<T: Save, const N: usize> Save for [T; N] {
    const FIXED: Option<usize> = match T::FIXED {
        Some(bytes) => Some(N * bytes),
        None => None,
    };

    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        T::save_each(self, to);
    }
}

impl<T: Load, const N: usize> Load for [T; N] {
    const LEAST: usize = N * T::LEAST;

    #[inline]
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        T::load_each(from)
    }
}

impl Save for str {
    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        to.slice(self.as_bytes());
    }
}

impl Save for String {
    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        to.slice(self.as_bytes());
    }
}

impl Load for String {
    const LEAST: usize = 8;

    #[inline]
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        let bytes = from.slice::<u8>()?;
        if is_ascii(&bytes) {
            // SAFETY: ASCII is UTF-8.
            return Ok(unsafe { Self::from_utf8_unchecked(bytes) });
        }
        Self::from_utf8(bytes).map_err(|_| LoadError::Value("String"))
    }
}

/// Whether all bytes are ASCII, as those of most texts are: found out by many bytes at a time, and by
/// the last ones once more in the place of fewer.
#[inline]
fn is_ascii(bytes: &[u8]) -> bool {
    const AT_ONCE: usize = 32;
    let any = |bytes: &[u8; AT_ONCE]| bytes.iter().fold(0, |all, byte| all | byte);
    let Some(last) = bytes.last_chunk() else {
        return bytes.is_ascii();
    };
    let (whole, _) = bytes.as_chunks();
    whole.iter().fold(any(last), |all, bytes| all | any(bytes)) < 0x80
}

impl<T: Save + ?Sized> Save for &T {
    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        (**self).save(to);
    }
}

impl<T: Save + ?Sized> Save for Box<T> {
    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        (**self).save(to);
    }
}

impl<T: Load> Load for Box<T> {
    const LEAST: usize = T::LEAST;

    #[inline]
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        from.deeper(T::load).map(Self::new)
    }
}

impl<T: Save + ?Sized> Save for Arc<T> {
    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        (**self).save(to);
    }
}

impl<T: Load> Load for Arc<T> {
    const LEAST: usize = T::LEAST;

    #[inline]
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        from.deeper(T::load).map(Self::new)
    }
}

impl<T: Save> Save for Option<T> {
    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        to.bytes(&[u8::from(self.is_some())]);
        if let Some(value) = self {
            value.save(to);
        }
    }
}

impl<T: Load> Load for Option<T> {
    const LEAST: usize = 1;

    #[inline]
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        Ok(if bool::load(from)? {
            Some(T::load(from)?)
        } else {
            None
        })
    }
}

impl<T: Save, E: Save> Save for Result<T, E> {
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        to.bytes(&[u8::from(self.is_err())]);
        match self {
            Ok(value) => value.save(to),
            Err(error) => error.save(to),
        }
    }
}

impl<T: Load, E: Load> Load for Result<T, E> {
    const LEAST: usize = 1;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        Ok(if bool::load(from)? {
            Err(E::load(from)?)
        } else {
            Ok(T::load(from)?)
        })
    }
}
