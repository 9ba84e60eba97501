//! Slices, text, and values that have others.

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
    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        for value in self {
            value.save(to);
        }
    }
}

impl<T: Load, const N: usize> Load for [T; N] {
    const LEAST: usize = N * T::LEAST;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        let mut failed = None;
        let all = std::array::from_fn(|_| match failed {
            None => T::load(from).map_err(|error| failed = Some(error)).ok(),
            Some(_) => None,
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(all.map(|value| value.expect("each was loaded"))),
        }
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
        Self::from_utf8(from.slice()?).map_err(|_| LoadError::Value("String"))
    }
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
