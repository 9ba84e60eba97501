//! A deserialiser of serde's around another one: it bounds how deep values lie in each other, and how
//! many elements there are, as formats without marks (postcard) do not.

use super::load::{LoadError, MOST_DEEP, MOST_EMPTY};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use std::cell::Cell;
use std::fmt;

/// The bounds of a value that is being loaded.
pub(super) struct Bounds {
    /// Elements that may still come: no more than there are bytes take any.
    elements: Cell<usize>,
    /// The bound that was passed.
    passed: Cell<Option<LoadError>>,
}

impl Bounds {
    pub(super) fn of(bytes: usize) -> Self {
        Self {
            elements: Cell::new(bytes.saturating_add(MOST_EMPTY)),
            passed: Cell::new(None),
        }
    }

    /// Wraps a deserialiser of the outermost value.
    pub(super) fn around<D>(&self, inner: D) -> Bounded<'_, D> {
        let left = MOST_DEEP;
        Bounded {
            inner,
            left,
            bounds: self,
        }
    }

    /// The bound that was passed, if one was.
    pub(super) fn passed(&self) -> Option<LoadError> {
        self.passed.take()
    }

    fn pass<E: Error>(&self, why: LoadError) -> E {
        let error = E::custom(&why);
        self.passed.set(Some(why));
        error
    }
}

/// A part of serde's machinery, which stands `left` levels above the bound.
#[derive(Clone, Copy)]
pub(super) struct Bounded<'b, T> {
    inner: T,
    left: u32,
    bounds: &'b Bounds,
}

impl<'b, T> Bounded<'b, T> {
    /// The same for another part.
    fn with<U>(&self, inner: U) -> Bounded<'b, U> {
        Bounded {
            inner,
            left: self.left,
            bounds: self.bounds,
        }
    }

    /// The same for a part one level deeper.
    fn deeper<U, E: Error>(&self, inner: U) -> Result<Bounded<'b, U>, E> {
        match self.left.checked_sub(1) {
            Some(left) => Ok(Bounded {
                inner,
                left,
                bounds: self.bounds,
            }),
            None => Err(self.bounds.pass(LoadError::Deep)),
        }
    }

    /// Counts an element.
    fn count<E: Error>(&self) -> Result<(), E> {
        match self.bounds.elements.get().checked_sub(1) {
            Some(left) => {
                self.bounds.elements.set(left);
                Ok(())
            }
            None => Err(self.bounds.pass(LoadError::Count)),
        }
    }
}

macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $name<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let visitor = self.with(visitor);
            self.inner.$name($($argument,)* visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Bounded<'_, D> {
    type Error = D::Error;

    forward! {
        deserialize_any() deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32()
        deserialize_i64() deserialize_i128() deserialize_u8() deserialize_u16() deserialize_u32()
        deserialize_u64() deserialize_u128() deserialize_f32() deserialize_f64() deserialize_char()
        deserialize_str() deserialize_string() deserialize_bytes() deserialize_byte_buf()
        deserialize_option() deserialize_unit() deserialize_seq() deserialize_map()
        deserialize_identifier() deserialize_ignored_any()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! visit {
    ($($name:ident($type:ty))*) => {$(
        fn $name<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.inner.$name(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Bounded<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    visit! {
        visit_bool(bool) visit_i8(i8) visit_i16(i16) visit_i32(i32) visit_i64(i64) visit_i128(i128)
        visit_u8(u8) visit_u16(u16) visit_u32(u32) visit_u64(u64) visit_u128(u128) visit_f32(f32)
        visit_f64(f64) visit_char(char) visit_str(&str) visit_borrowed_str(&'de str)
        visit_bytes(&[u8]) visit_borrowed_bytes(&'de [u8])
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        let from = self.deeper(from)?;
        self.inner.visit_some(from)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        let from = self.deeper(from)?;
        self.inner.visit_newtype_struct(from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, from: A) -> Result<V::Value, A::Error> {
        let from = self.deeper(from)?;
        self.inner.visit_seq(from)
    }

    fn visit_map<A: MapAccess<'de>>(self, from: A) -> Result<V::Value, A::Error> {
        let from = self.deeper(from)?;
        self.inner.visit_map(from)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, from: A) -> Result<V::Value, A::Error> {
        let from = self.deeper(from)?;
        self.inner.visit_enum(from)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Bounded<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        let from = self.with(from);
        self.inner.deserialize(from)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Bounded<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.count()?;
        let seed = self.with(seed);
        self.inner.next_element_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Bounded<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.count()?;
        let seed = self.with(seed);
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.with(seed);
        self.inner.next_value_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, 'b, A: EnumAccess<'de>> EnumAccess<'de> for Bounded<'b, A> {
    type Error = A::Error;
    type Variant = Bounded<'b, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let seed = self.with(seed);
        let (left, bounds) = (self.left, self.bounds);
        let (value, inner) = self.inner.variant_seed(seed)?;
        let variant = Bounded {
            inner,
            left,
            bounds,
        };
        Ok((value, variant))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Bounded<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.with(seed);
        self.inner.newtype_variant_seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        let visitor = self.with(visitor);
        self.inner.tuple_variant(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let visitor = self.with(visitor);
        self.inner.struct_variant(fields, visitor)
    }
}
