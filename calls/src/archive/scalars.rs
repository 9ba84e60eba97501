//! Numbers, and other values of few bytes.

use super::load::{Load, LoadError, Loader};
use super::save::{Save, Saver, fixed};
use std::num::NonZero;
use std::time::Duration;

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Save for $type {
            const FIXED: Option<usize> = Some(size_of::<Self>());

            #[inline]
            fn save<'a>(&'a self, to: &mut Saver<'a>) {
                to.bytes(&self.to_ne_bytes());
            }

            #[inline]
            fn save_all<'a>(slice: &'a [Self], to: &mut Saver<'a>) {
                to.slice(slice);
            }

            #[inline]
            fn save_each<'a>(slice: &'a [Self], to: &mut Saver<'a>) {
                to.bytes(bytemuck::cast_slice(slice));
            }
        }

        impl Load for $type {
            const LEAST: usize = size_of::<Self>();

            #[inline]
            fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
                from.array().map(Self::from_ne_bytes)
            }

            #[inline]
            fn load_all(from: &mut Loader<'_, '_>) -> Result<Vec<Self>, LoadError> {
                from.slice()
            }

            #[inline]
            fn load_each<const N: usize>(
                from: &mut Loader<'_, '_>,
            ) -> Result<[Self; N], LoadError> {
                let mut all = [Self::default(); N];
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut all);
                bytes.copy_from_slice(from.bytes(bytes.len())?);
                Ok(all)
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

macro_rules! nonzero {
    ($($type:ty)*) => {$(
        impl Save for NonZero<$type> {
            const FIXED: Option<usize> = Some(size_of::<Self>());

            #[inline]
            fn save<'a>(&'a self, to: &mut Saver<'a>) {
                to.bytes(&self.get().to_ne_bytes());
            }
        }

        impl Load for NonZero<$type> {
            const LEAST: usize = size_of::<Self>();

            #[inline]
            fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
                Self::new(<$type>::load(from)?).ok_or(LoadError::Value("NonZero"))
            }
        }
    )*};
}

nonzero!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl Save for bool {
    const FIXED: Option<usize> = Some(1);

    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        to.bytes(&[u8::from(*self)]);
    }
}

impl Load for bool {
    const LEAST: usize = 1;

    #[inline]
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        match from.array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(LoadError::Value("bool")),
        }
    }
}

impl Save for char {
    const FIXED: Option<usize> = Some(4);

    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        to.bytes(&u32::from(*self).to_ne_bytes());
    }
}

impl Load for char {
    const LEAST: usize = 4;

    #[inline]
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        Self::from_u32(u32::load(from)?).ok_or(LoadError::Value("char"))
    }
}

impl Save for Duration {
    const FIXED: Option<usize> = Some(12);

    #[inline]
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        to.bytes(&self.as_secs().to_ne_bytes());
        to.bytes(&self.subsec_nanos().to_ne_bytes());
    }
}

impl Load for Duration {
    const LEAST: usize = 12;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        let (seconds, nanoseconds) = (u64::load(from)?, u32::load(from)?);
        if nanoseconds < 1_000_000_000 {
            Ok(Self::new(seconds, nanoseconds))
        } else {
            Err(LoadError::Value("Duration"))
        }
    }
}

impl Save for () {
    const FIXED: Option<usize> = Some(0);

    #[inline]
    fn save<'a>(&'a self, _: &mut Saver<'a>) {}
}

impl Load for () {
    #[inline]
    fn load(_: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        Ok(())
    }
}

macro_rules! tuples {
    ($(($($name:ident)+))*) => {$(
        impl<$($name: Save),+> Save for ($($name,)+) {
            const FIXED: Option<usize> = fixed(&[$($name::FIXED),+]);

            #[inline]
            fn save<'a>(&'a self, to: &mut Saver<'a>) {
                #[expect(non_snake_case, reason = "the names of the types")]
                let ($($name,)+) = self;
                $($name.save(to);)+
            }
        }

        impl<$($name: Load),+> Load for ($($name,)+) {
            const LEAST: usize = 0 $(+ $name::LEAST)+;

            #[inline]
            fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
                Ok(($($name::load(from)?,)+))
            }
        }
    )*};
}

tuples! {
    (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H)
    (A B C D E F G H I) (A B C D E F G H I J) (A B C D E F G H I J K) (A B C D E F G H I J K L)
}
