//! The arithmetic of atomic operations on elements of many types (fi_atomic(3)), which the processor
//! does by loops of compare-and-swap.

#![expect(unsafe_code, reason = "atomic operations at raw addresses")]

use crate::raw::atomic::Atomic;
use crate::raw::error::Error;
use crate::raw::region::Rights;
use fi_shm::amo::Integer;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// The type of an element: with the numbers of libfabric's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Datatype {
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float,
    Double,
    FloatComplex,
}

impl Datatype {
    /// All types, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Int8,
        Self::Uint8,
        Self::Int16,
        Self::Uint16,
        Self::Int32,
        Self::Uint32,
        Self::Int64,
        Self::Uint64,
        Self::Float,
        Self::Double,
        Self::FloatComplex,
    ];

    /// Returns the number of bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float => 4,
            Self::Int64 | Self::Uint64 | Self::Double | Self::FloatComplex => 8,
        }
    }

    fn is_integer(self) -> bool {
        (self as u8) < Self::Float as u8
    }
}

/// New value of an element: with the numbers of libfabric's operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Arithmetic {
    /// The lesser of the element and the operand (FI_MIN).
    Min,
    /// The greater one (FI_MAX).
    Max,
    /// The sum; of integers modulo 2^n (FI_SUM).
    Sum,
    /// The product; of integers modulo 2^n (FI_PROD).
    Product,
    /// 1 if one of both is not 0, else 0 (FI_LOR).
    LogicalOr,
    /// 1 if neither is 0, else 0 (FI_LAND).
    LogicalAnd,
    /// Bitwise or (FI_BOR).
    BitOr,
    /// Bitwise and (FI_BAND).
    BitAnd,
    /// 1 if just one of both is 0, else 0 (FI_LXOR).
    LogicalXor,
    /// Bitwise exclusive or (FI_BXOR).
    BitXor,
    /// The element stays (FI_ATOMIC_READ).
    Read,
    /// The operand (FI_ATOMIC_WRITE).
    Write,
    /// The operand if the comparand is equal to the element (FI_CSWAP).
    SwapIfEqual,
    /// The operand if the comparand is not (FI_CSWAP_NE).
    SwapIfUnequal,
    /// The operand if the comparand is less than the element or equal (FI_CSWAP_LE).
    SwapIfLessOrEqual,
    /// The operand if the comparand is less (FI_CSWAP_LT).
    SwapIfLess,
    /// The operand if the comparand is greater or equal (FI_CSWAP_GE).
    SwapIfGreaterOrEqual,
    /// The operand if the comparand is greater (FI_CSWAP_GT).
    SwapIfGreater,
    /// The operand's bits where the comparand has ones (FI_MSWAP).
    SwapMasked,
    /// The element less the operand; of integers modulo 2^n (FI_DIFF).
    Difference,
}

impl Arithmetic {
    /// All operations, in the order of their numbers.
    pub const ALL: [Self; 20] = [
        Self::Min,
        Self::Max,
        Self::Sum,
        Self::Product,
        Self::LogicalOr,
        Self::LogicalAnd,
        Self::BitOr,
        Self::BitAnd,
        Self::LogicalXor,
        Self::BitXor,
        Self::Read,
        Self::Write,
        Self::SwapIfEqual,
        Self::SwapIfUnequal,
        Self::SwapIfLessOrEqual,
        Self::SwapIfLess,
        Self::SwapIfGreaterOrEqual,
        Self::SwapIfGreater,
        Self::SwapMasked,
        Self::Difference,
    ];

    /// Tells whether it takes a comparand, or a mask.
    pub fn compares(self) -> bool {
        (Self::SwapIfEqual as u8..=Self::SwapMasked as u8).contains(&(self as u8))
    }
}

/// An atomic operation on elements of a type, for which it is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed {
    operation: Arithmetic,
    datatype: Datatype,
}

impl Typed {
    /// Returns none where the operation is not defined for the type: bits are those of integers, and
    /// complex numbers have no order.
    pub fn new(operation: Arithmetic, datatype: Datatype) -> Option<Self> {
        let is_defined = match operation {
            Arithmetic::BitOr
            | Arithmetic::BitAnd
            | Arithmetic::BitXor
            | Arithmetic::SwapMasked => datatype.is_integer(),
            Arithmetic::Min
            | Arithmetic::Max
            | Arithmetic::SwapIfLessOrEqual
            | Arithmetic::SwapIfLess
            | Arithmetic::SwapIfGreaterOrEqual
            | Arithmetic::SwapIfGreater => datatype != Datatype::FloatComplex,
            _ => true,
        };
        is_defined.then_some(Self {
            operation,
            datatype,
        })
    }

    /// Returns the number of bytes of an element.
    pub fn bytes(self) -> usize {
        self.datatype.bytes()
    }

    /// Returns the operation.
    pub fn operation(self) -> Arithmetic {
        self.operation
    }

    /// Returns the right that a region has to give.
    pub(crate) fn right(self) -> Rights {
        match self.operation {
            Arithmetic::Read => Rights::READ,
            _ => Rights::ATOMIC,
        }
    }

    /// Returns the operation on a word that does the same.
    pub fn native(self) -> Option<Atomic> {
        let is_word = matches!(self.bytes(), 4 | 8);
        let is_integer = self.datatype.is_integer();
        Some(match self.operation {
            _ if !is_word => return None,
            Arithmetic::Read => Atomic::Read,
            Arithmetic::Write => Atomic::Swap,
            _ if !is_integer => return None,
            Arithmetic::Sum => Atomic::Add,
            Arithmetic::BitAnd => Atomic::And,
            Arithmetic::BitOr => Atomic::Or,
            Arithmetic::BitXor => Atomic::Xor,
            Arithmetic::SwapIfEqual => Atomic::CompareSwap,
            _ => return None,
        })
    }

    /// Returns the operation in one word of a record: of no sense as the number of bytes.
    pub fn to_wire(self) -> u64 {
        Self::wire_of(self.datatype as u32, self.operation as u32)
    }

    /// Returns the word of two numbers, each below 256, that are those of an operation.
    #[inline(always)]
    pub const fn wire_of(datatype: u32, operation: u32) -> u64 {
        (1 << 16 | operation << 8 | datatype) as u64
    }

    /// Returns the two numbers of such a word.
    pub fn numbers_of(word: u64) -> (u32, u32) {
        ((word & 0xff) as u32, (word >> 8 & 0xff) as u32)
    }

    /// Returns the operation; none where the word makes no sense.
    pub(crate) fn of_wire(word: u64) -> Option<Self> {
        if word >> 16 != 1 {
            return None;
        }
        let operation = Arithmetic::ALL.get((word >> 8 & 0xff) as usize)?;
        let datatype = Datatype::ALL.get((word & 0xff) as usize)?;
        Self::new(*operation, *datatype)
    }

    /// Returns the element that takes the place of `old`.
    pub(crate) fn value(self, old: u64, operand: u64, comparand: u64) -> u64 {
        let words = (old, operand, comparand);
        match self.datatype {
            Datatype::Int8 => value::<i8>(self.operation, words),
            Datatype::Uint8 => value::<u8>(self.operation, words),
            Datatype::Int16 => value::<i16>(self.operation, words),
            Datatype::Uint16 => value::<u16>(self.operation, words),
            Datatype::Int32 => value::<i32>(self.operation, words),
            Datatype::Uint32 => value::<u32>(self.operation, words),
            Datatype::Int64 => value::<i64>(self.operation, words),
            Datatype::Uint64 => value::<u64>(self.operation, words),
            Datatype::Float => value::<f32>(self.operation, words),
            Datatype::Double => value::<f64>(self.operation, words),
            Datatype::FloatComplex => value::<Complex>(self.operation, words),
        }
    }

    /// Does the operation by the processor on the element at `place`; returns the one that was there.
    ///
    /// # Errors
    /// [`Error::Misaligned`].
    ///
    /// # Safety
    /// The element is mapped, and writable unless it is only read.
    pub unsafe fn apply(self, place: *mut u8, operand: u64, comparand: u64) -> Result<u64, Error> {
        if let Some(native) = self.native() {
            // SAFETY: the word is mapped, and writable unless it is only read.
            return unsafe { apply(native, place, self.bytes(), operand, comparand) };
        }
        if !place.addr().is_multiple_of(self.bytes()) {
            return Err(Error::Misaligned);
        }
        macro_rules! update {
            ($atomic:ty, $word:ty) => {{
                // SAFETY: the element is mapped and aligned, and writable where it is written to;
                // this process and others access it by atomic instructions, or by moves.
                let atomic = unsafe { <$atomic>::from_ptr(place.cast()) };
                if self.operation == Arithmetic::Read {
                    // ORDERING: pairs with the updates of peers below.
                    return Ok(atomic.load(Ordering::Acquire).into());
                }
                let change = |old: $word| Some(self.value(old.into(), operand, comparand) as $word);
                // ORDERING: pairs with the updates and loads of peers here and in `apply`.
                match atomic.fetch_update(Ordering::SeqCst, Ordering::Acquire, change) {
                    Ok(old) | Err(old) => old.into(),
                }
            }};
        }
        Ok(match self.bytes() {
            1 => update!(AtomicU8, u8),
            2 => update!(AtomicU16, u16),
            4 => update!(AtomicU32, u32),
            _ => update!(AtomicU64, u64),
        })
    }
}

/// Stores an element.
///
/// # Safety
/// There is room for so many bytes at `place`.
pub(crate) unsafe fn put_element(place: *mut u8, bytes: usize, element: u64) {
    // SAFETY: there is room for so many bytes, at most eight.
    unsafe { std::ptr::copy_nonoverlapping(element.to_le_bytes().as_ptr(), place, bytes) };
}

/// A type of elements, in a word.
trait Element: Copy + PartialEq + PartialOrd {
    const ZERO: Self;
    const ONE: Self;
    fn of_word(word: u64) -> Self;
    fn to_word(self) -> u64;
    fn sum(self, other: Self) -> Self;
    fn difference(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
}

fn value<T: Element>(operation: Arithmetic, (old, operand, comparand): (u64, u64, u64)) -> u64 {
    let [here, new, condition] = [old, operand, comparand].map(T::of_word);
    let truth = |is_true| if is_true { T::ONE } else { T::ZERO };
    let choose = |is_new| if is_new { new } else { here };
    let (a, b) = (here != T::ZERO, new != T::ZERO);
    let value = match operation {
        Arithmetic::Min => choose(new < here),
        Arithmetic::Max => choose(new > here),
        Arithmetic::Sum => here.sum(new),
        Arithmetic::Difference => here.difference(new),
        Arithmetic::Product => here.product(new),
        Arithmetic::LogicalOr => truth(a || b),
        Arithmetic::LogicalAnd => truth(a && b),
        Arithmetic::LogicalXor => truth(a != b),
        Arithmetic::BitOr => return old | operand,
        Arithmetic::BitAnd => return old & operand,
        Arithmetic::BitXor => return old ^ operand,
        Arithmetic::SwapMasked => return operand & comparand | old & !comparand,
        Arithmetic::Read => here,
        Arithmetic::Write => new,
        Arithmetic::SwapIfEqual => choose(condition == here),
        Arithmetic::SwapIfUnequal => choose(condition != here),
        Arithmetic::SwapIfLessOrEqual => choose(condition <= here),
        Arithmetic::SwapIfLess => choose(condition < here),
        Arithmetic::SwapIfGreaterOrEqual => choose(condition >= here),
        Arithmetic::SwapIfGreater => choose(condition > here),
    };
    value.to_word()
}

macro_rules! integers {
    ($($type:ty, $unsigned:ty;)*) => {$(
        impl Element for $type {
            const ZERO: Self = 0;
            const ONE: Self = 1;

            fn of_word(word: u64) -> Self {
                word as Self
            }

            fn to_word(self) -> u64 {
                (self as $unsigned).into()
            }

            fn sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn difference(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn product(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}

integers! {
    i8, u8;
    u8, u8;
    i16, u16;
    u16, u16;
    i32, u32;
    u32, u32;
    i64, u64;
    u64, u64;
}

macro_rules! floats {
    ($($type:ty, $bits:ty;)*) => {$(
        impl Element for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            fn of_word(word: u64) -> Self {
                Self::from_bits(word as $bits)
            }

            fn to_word(self) -> u64 {
                self.to_bits().into()
            }

            fn sum(self, other: Self) -> Self {
                self + other
            }

            fn difference(self, other: Self) -> Self {
                self - other
            }

            fn product(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}

floats! {
    f32, u32;
    f64, u64;
}

/// A complex number: its real part in the lower half of the word. The order has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Complex(f32, f32);

impl Element for Complex {
    const ZERO: Self = Self(0.0, 0.0);
    const ONE: Self = Self(1.0, 0.0);

    fn of_word(word: u64) -> Self {
        Self(f32::of_word(word), f32::of_word(word >> 32))
    }

    fn to_word(self) -> u64 {
        self.0.to_word() | self.1.to_word() << 32
    }

    fn sum(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }

    fn difference(self, other: Self) -> Self {
        Self(self.0 - other.0, self.1 - other.1)
    }

    fn product(self, other: Self) -> Self {
        let real = self.0 * other.0 - self.1 * other.1;
        Self(real, self.0 * other.1 + self.1 * other.0)
    }
}

/// Does an operation on the word of 4 or 8 `bytes` at `place`; returns the word that was there.
///
/// # Errors
/// [`Error::Misaligned`].
///
/// # Safety
/// The word is mapped and writable.
#[inline]
pub(crate) unsafe fn apply(
    operation: Atomic,
    place: *mut u8,
    bytes: usize,
    operand: u64,
    comparand: u64,
) -> Result<u64, Error> {
    if !place.addr().is_multiple_of(bytes) {
        return Err(Error::Misaligned);
    }
    // SAFETY: the word is mapped and writable, and aligned.
    Ok(unsafe {
        if bytes == 4 {
            let (operand, comparand) = (operand as u32, comparand as u32);
            update(operation, place.cast::<u32>(), operand, comparand).into()
        } else {
            update(operation, place.cast::<u64>(), operand, comparand)
        }
    })
}

/// # Safety
/// The word is mapped, writable and aligned.
#[inline(always)]
unsafe fn update<T: Integer>(operation: Atomic, at: *mut T, operand: T, comparand: T) -> T {
    // SAFETY: the word is mapped, writable and aligned.
    unsafe {
        match operation {
            Atomic::Read => T::fetch(at),
            Atomic::Swap => T::swap(at, operand),
            Atomic::Add => T::fetch_add(at, operand),
            Atomic::And => T::fetch_and(at, operand),
            Atomic::Or => T::fetch_or(at, operand),
            Atomic::Xor => T::fetch_xor(at, operand),
            Atomic::CompareSwap => T::compare_swap(at, comparand, operand),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all() -> impl Iterator<Item = Typed> {
        let types = |operation| {
            Datatype::ALL
                .iter()
                .filter_map(move |datatype| Typed::new(operation, *datatype))
        };
        Arithmetic::ALL.into_iter().flat_map(types)
    }

    #[test]
    fn operations_are_told_as_they_are() {
        assert_eq!(all().count(), 8 * 20 + 2 * 16 + 10);
        for typed in all() {
            assert_eq!(Typed::of_wire(typed.to_wire()), Some(typed));
        }
        let told = (0..1 << 18).filter_map(Typed::of_wire);
        assert_eq!(told.count(), all().count());
    }

    /// Loads an element.
    ///
    /// # Safety
    /// There are so many bytes at `place`.
    unsafe fn get_element(place: *const u8, bytes: usize) -> u64 {
        let mut word = [0; 8];
        // SAFETY: there are so many bytes, at most eight.
        unsafe { std::ptr::copy_nonoverlapping(place, word.as_mut_ptr(), bytes) };
        u64::from_le_bytes(word)
    }

    /// Computes as C does for signed integers, by wider ones.
    fn of_wide(operation: Arithmetic, old: i128, new: i128, cond: i128) -> i128 {
        let choose = |is_new| if is_new { new } else { old };
        match operation {
            Arithmetic::Min => old.min(new),
            Arithmetic::Max => old.max(new),
            Arithmetic::Sum => old + new,
            Arithmetic::Product => old.wrapping_mul(new),
            Arithmetic::LogicalOr => (old != 0 || new != 0).into(),
            Arithmetic::LogicalAnd => (old != 0 && new != 0).into(),
            Arithmetic::BitOr => old | new,
            Arithmetic::BitAnd => old & new,
            Arithmetic::LogicalXor => ((old != 0) ^ (new != 0)).into(),
            Arithmetic::BitXor => old ^ new,
            Arithmetic::Read => old,
            Arithmetic::Write => new,
            Arithmetic::SwapIfEqual => choose(cond == old),
            Arithmetic::SwapIfUnequal => choose(cond != old),
            Arithmetic::SwapIfLessOrEqual => choose(cond <= old),
            Arithmetic::SwapIfLess => choose(cond < old),
            Arithmetic::SwapIfGreaterOrEqual => choose(cond >= old),
            Arithmetic::SwapIfGreater => choose(cond > old),
            Arithmetic::SwapMasked => (new & cond) | (old & !cond),
            Arithmetic::Difference => old - new,
        }
    }

    /// Returns the number that a word of this type is; none of floating point.
    fn number(datatype: Datatype, word: u64) -> Option<i128> {
        Some(match datatype {
            Datatype::Int8 => (word as i8).into(),
            Datatype::Uint8 => (word as u8).into(),
            Datatype::Int16 => (word as i16).into(),
            Datatype::Uint16 => (word as u16).into(),
            Datatype::Int32 => (word as i32).into(),
            Datatype::Uint32 => (word as u32).into(),
            Datatype::Int64 => (word as i64).into(),
            Datatype::Uint64 => word.into(),
            _ => return None,
        })
    }

    fn words() -> impl Strategy<Value = (u64, u64, u64)> {
        let word = || prop_oneof![any::<u64>(), 0..4_u64, (0..4_u64).prop_map(|few| !few)];
        (word(), word(), word())
    }

    proptest! {
        #[test]
        fn integers_are_those_of_wider_ones((old, new, cond) in words()) {
            for typed in all() {
                let bytes = typed.bytes();
                let read = |word| number(typed.datatype, word);
                let (Some(a), Some(b), Some(c)) = (read(old), read(new), read(cond)) else {
                    continue;
                };
                let expected = of_wide(typed.operation, a, b, c) as u64;
                let mut memory = [old, !old];
                let place = memory.as_mut_ptr().cast::<u8>();
                // SAFETY: the words are there, aligned.
                let found = unsafe { typed.apply(place, new, cond).unwrap() };
                // SAFETY: the element is there.
                let (there, rest) = unsafe {
                    (get_element(place, bytes), get_element(place.add(bytes), 8 - bytes))
                };
                let mask = u64::MAX >> (64 - 8 * bytes);
                prop_assert_eq!(found, old & mask, "{:?}", typed);
                prop_assert_eq!(there, expected & mask, "{:?}", typed);
                prop_assert_eq!(rest, old.checked_shr(8 * bytes as u32).unwrap_or(0));
                prop_assert_eq!(memory[1], !old);
            }
        }

        #[test]
        fn floats_are_those_of_doubles(old in -9..9_i8, new in -9..9_i8, cond in -9..9_i8) {
            let [a, b, c] = [old, new, cond].map(f64::from);
            for operation in Arithmetic::ALL {
                let expected = of_wide(operation, old.into(), new.into(), cond.into());
                if let Some(double) = Typed::new(operation, Datatype::Double) {
                    let value = double.value(a.to_bits(), b.to_bits(), c.to_bits());
                    prop_assert_eq!(f64::from_bits(value), expected as f64, "{:?}", operation);
                }
                if let Some(float) = Typed::new(operation, Datatype::Float) {
                    let [a, b, c] = [a, b, c].map(|one| u64::from((one as f32).to_bits()));
                    let value = f32::from_bits(float.value(a, b, c) as u32);
                    prop_assert_eq!(value, expected as f32, "{:?}", operation);
                }
                if let Some(complex) = Typed::new(operation, Datatype::FloatComplex) {
                    let [a, b, c] = [a, b, c].map(|one| Complex(one as f32, 0.0).to_word());
                    let value = Complex::of_word(complex.value(a, b, c));
                    prop_assert_eq!(value, Complex(expected as f32, 0.0), "{:?}", operation);
                }
            }
        }
    }

    #[test]
    fn numbers_that_are_none_stay() {
        let nan = f64::NAN.to_bits();
        for operation in [Arithmetic::Min, Arithmetic::Max, Arithmetic::SwapIfEqual] {
            let double = Typed::new(operation, Datatype::Double).unwrap();
            assert_eq!(double.value(nan, 0, nan), nan, "{operation:?}");
        }
        let product = Typed::new(Arithmetic::Product, Datatype::FloatComplex).unwrap();
        let i = Complex(0.0, 1.0).to_word();
        let squared = Complex::of_word(product.value(i, i, 0));
        assert_eq!(squared, Complex(-1.0, 0.0));
    }

    #[test]
    fn elements_that_are_not_aligned_are_refused() {
        let mut word = 0_u64;
        let place = (&raw mut word).cast::<u8>();
        for typed in all().filter(|typed| typed.bytes() > 1) {
            // SAFETY: nothing is accessed.
            let done = unsafe { typed.apply(place.add(1), 0, 0) };
            assert_eq!(done, Err(Error::Misaligned), "{typed:?}");
        }
    }
}
