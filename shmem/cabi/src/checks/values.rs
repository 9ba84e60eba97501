//! The arguments of a routine, whatever their types.

use crate::types::Sixteen;

/// An argument: its name in the table, and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) value: Value,
}

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// An address, and the size in bytes of the element there.
    Pointer { addr: usize, element: usize },
    /// An integer.
    Number(i128),
    /// A value that no check reads.
    Other,
}

/// A type of arguments.
pub(crate) trait Show {
    /// Returns the argument's value.
    fn show(self) -> Value;
}

impl<T> Show for *const T {
    fn show(self) -> Value {
        Value::Pointer {
            addr: self.addr(),
            element: size_of::<T>(),
        }
    }
}

impl<T> Show for *mut T {
    fn show(self) -> Value {
        self.cast_const().show()
    }
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Show for $t {
            fn show(self) -> Value {
                Value::Number(self as i128)
            }
        }
    )*};
}

numbers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

macro_rules! others {
    ($($t:ty)*) => {$(
        impl Show for $t {
            fn show(self) -> Value {
                Value::Other
            }
        }
    )*};
}

others! { f32 f64 Sixteen }
