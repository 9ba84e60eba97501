//! The arithmetic of reductions and scans (OpenSHMEM 1.6, sections 9.10.9 and 9.10.10): arrays are combined element by element.
//!
//! Integers wrap around, which for the signed ones is more than C promises. The maximum and the minimum of a number and a
//! NaN are the number, as those of C's `fmax` and `fmin`, so that they do not depend on the order
//! of the PEs. A product of complex numbers is that of C's `*`: infinite where a factor is and the
//! other is not zero.

#![expect(
    unsafe_code,
    reason = "arrays are given by address and length, as C has them"
)]

use bytemuck::{Pod, Zeroable};
use fi_provider::node::copy::copy;
use std::ops::{Add, Mul, Sub};

/// An operation on two numbers, element by element.
///
/// # Safety
/// `combine` reads and writes nothing but its arrays. The operation is associative and commutative, but for rounding.
pub unsafe trait Operation<T> {
    /// Replaces each `acc[i]` by `acc[i]` OP `other[i]`, for `count` elements.
    ///
    /// # Safety
    /// Unless `count` is 0, `acc` and `other` are aligned for `T`, hold `count` elements and do not overlap; nobody else
    /// writes to either or reads `acc` meanwhile.
    unsafe fn combine(acc: *mut T, other: *const T, count: usize);
}

/// An operation on elements of one type, as the algorithms see it: they are the same for all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    /// Bytes of an element.
    pub(crate) size: usize,
    combine: unsafe fn(*mut u8, *const u8, usize),
}

impl Kernel {
    /// Makes the kernel of operation `O` on elements of type `T`.
    pub(crate) const fn of<T, O: Operation<T>>() -> Self {
        Self {
            size: size_of::<T>(),
            combine: |acc, other, count| {
                // SAFETY: unless `count` is 0, both hold `count` elements of `T`, aligned, which do
                // not overlap and are ours meanwhile.
                unsafe { O::combine(acc.cast(), other.cast(), count) }
            },
        }
    }

    /// Makes a kernel as [`Kernel::of`] does, for arrays that others may write meanwhile: it
    /// combines copies, by pieces.
    pub(crate) const fn of_shared<T: Pod, O: Operation<T>>() -> Self {
        Self {
            size: size_of::<T>(),
            combine: |acc, other, count| {
                // SAFETY: unless `count` is 0, both hold `count` elements of `T`, aligned, which do
                // not overlap.
                unsafe { combine_copies::<T, O>(acc.cast(), other.cast(), count) }
            },
        }
    }

    /// Replaces each element of `acc` by the operation's result for it and that of `other`, for
    /// `count` elements.
    ///
    /// # Safety
    /// As [`Operation::combine`], for the type that the kernel is of.
    #[inline(always)]
    pub(crate) unsafe fn combine(&self, acc: *mut u8, other: *const u8, count: usize) {
        // SAFETY: unless `count` is 0, both hold `count` aligned elements of the kernel's type,
        // which do not overlap and are ours meanwhile.
        unsafe { (self.combine)(acc, other, count) }
    }
}

/// Elements that [`combine_copies`] copies at a time.
const PIECE: usize = 128;

/// Does the work of [`Operation::combine`] where others may read and write both arrays meanwhile:
/// no reference is made to them. Elements that change meanwhile are combined with one or the other
/// value, or parts of both.
///
/// # Safety
/// Unless `count` is 0, both hold `count` elements of `T` and do not overlap.
unsafe fn combine_copies<T: Pod, O: Operation<T>>(acc: *mut T, other: *const T, count: usize) {
    let (mut own, mut theirs) = ([T::zeroed(); PIECE], [T::zeroed(); PIECE]);
    for start in (0..count).step_by(PIECE) {
        let len = (count - start).min(PIECE);
        let bytes = len * size_of::<T>();
        let (to, from) = (acc.wrapping_add(start), other.wrapping_add(start));
        // SAFETY: both arrays hold `len` elements from `start` on, and the pieces have room for
        // them; any bytes are a value. The pieces are this call's alone.
        unsafe {
            copy(own.as_mut_ptr().cast(), to.cast(), bytes);
            copy(theirs.as_mut_ptr().cast(), from.cast(), bytes);
            O::combine(own.as_mut_ptr(), theirs.as_ptr(), len);
            copy(to.cast(), own.as_ptr().cast(), bytes);
        }
    }
}

/// Bitwise and.
#[derive(Clone, Copy, Debug)]
pub struct And;

/// Bitwise or.
#[derive(Clone, Copy, Debug)]
pub struct Or;

/// Bitwise exclusive or.
#[derive(Clone, Copy, Debug)]
pub struct Xor;

/// The greater one.
#[derive(Clone, Copy, Debug)]
pub struct Max;

/// The lesser one.
#[derive(Clone, Copy, Debug)]
pub struct Min;

/// The sum.
#[derive(Clone, Copy, Debug)]
pub struct Sum;

/// The product.
#[derive(Clone, Copy, Debug)]
pub struct Prod;

/// A complex number, laid out as C's `float _Complex` and `double _Complex`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Complex<F> {
    /// The real part.
    pub re: F,
    /// The imaginary part.
    pub im: F,
}

// SAFETY: zeros are a value of both parts.
unsafe impl<F: Zeroable> Zeroable for Complex<F> {}

// SAFETY: two values of a type that is `Pod`, one behind the other without a gap.
unsafe impl<F: Pod> Pod for Complex<F> {}

/// Runs the loop of all operations. The compiler knows that the arguments of a function do not
/// overlap, and so makes it take several elements at a time; in line it would look at the addresses
/// first, and need the loop twice.
#[inline(never)]
fn each<T: Copy>(acc: &mut [T], other: &[T], op: impl Fn(T, T) -> T) {
    for (to, &from) in acc.iter_mut().zip(other) {
        *to = op(*to, from);
    }
}

macro_rules! operations {
    ($($t:ty: { $($op:ident => $of:expr),* $(,)? })*) => {$($(
        // SAFETY: the loop visits the elements of both arrays; the functions here are associative and commutative.
        unsafe impl Operation<$t> for $op {
            unsafe fn combine(acc: *mut $t, other: *const $t, count: usize) {
                if count == 0 {
                    return;
                }
                // SAFETY: both hold `count` aligned elements that do not overlap; nobody else
                // writes to either or reads `acc` meanwhile, and all bit patterns are numbers.
                let (acc, other) = unsafe {
                    (
                        std::slice::from_raw_parts_mut(acc, count),
                        std::slice::from_raw_parts(other, count),
                    )
                };
                each(acc, other, $of);
            }
        }
    )*)*};
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        operations! {
            $t: {
                And => |a, b| a & b,
                Or => |a, b| a | b,
                Xor => |a, b| a ^ b,
                Max => Ord::max,
                Min => Ord::min,
                Sum => <$t>::wrapping_add,
                Prod => <$t>::wrapping_mul,
            }
        }
    )*};
}

macro_rules! floats {
    ($($f:ty)*) => {$(
        operations! {
            $f: {
                Max => <$f>::max,
                Min => <$f>::min,
                Sum => |a, b| a + b,
                Prod => |a, b| a * b,
            }
            Complex<$f>: {
                Sum => |a, b| Complex { re: a.re + b.re, im: a.im + b.im },
                Prod => product,
            }
        }

        impl Float for $f {
            fn is_infinite(self) -> bool {
                <$f>::is_infinite(self)
            }
            fn is_nan(self) -> bool {
                <$f>::is_nan(self)
            }
            fn copysign(self, sign: Self) -> Self {
                <$f>::copysign(self, sign)
            }
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const INFINITY: Self = <$f>::INFINITY;
        }
    )*};
}

integers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }
floats! { f32 f64 }

/// Operations on the parts of complex numbers that their product needs.
trait Float: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    const ZERO: Self;
    const ONE: Self;
    const INFINITY: Self;
    fn is_infinite(self) -> bool;
    fn is_nan(self) -> bool;
    fn copysign(self, sign: Self) -> Self;
}

#[inline(always)]
fn product<F: Float>(a: Complex<F>, b: Complex<F>) -> Complex<F> {
    let naive = Complex {
        re: a.re * b.re - a.im * b.im,
        im: a.re * b.im + a.im * b.re,
    };
    if naive.re.is_nan() && naive.im.is_nan() {
        return product_of_infinities(a, b).unwrap_or(naive);
    }
    naive
}

/// Returns the product of `a` and `b` where the usual formula gives NaNs; `None` if they are right
/// (C11, annex G.5.1).
#[cold]
fn product_of_infinities<F: Float>(a: Complex<F>, b: Complex<F>) -> Option<Complex<F>> {
    let is_infinite = |z: Complex<F>| z.re.is_infinite() || z.im.is_infinite();
    let overflows = [a.re * b.re, a.im * b.im, a.re * b.im, a.im * b.re]
        .into_iter()
        .any(F::is_infinite);
    if !is_infinite(a) && !is_infinite(b) && !overflows {
        return None;
    }
    // Of an infinite number only the directions count; a NaN beside an infinity counts nothing.
    let direction = |z: Complex<F>| {
        let is_infinite = is_infinite(z);
        let part = |x: F| match x {
            x if x.is_infinite() => F::ONE.copysign(x),
            x if is_infinite || x.is_nan() => F::ZERO.copysign(x),
            x => x,
        };
        Complex {
            re: part(z.re),
            im: part(z.im),
        }
    };
    let (a, b) = (direction(a), direction(b));
    Some(Complex {
        re: F::INFINITY * (a.re * b.re - a.im * b.im),
        im: F::INFINITY * (a.re * b.im + a.im * b.re),
    })
}

#[cfg(test)]
mod tests;
