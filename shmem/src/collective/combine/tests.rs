//! Every operation on every type against arithmetic that is written down once more, over addresses of any alignment that
//! the type allows.

use super::*;
use proptest::prelude::*;
use std::fmt::Debug;

/// Combines copies of the arrays that begin `skip` elements behind an address of 64 bytes' alignment, and looks whether
/// the elements before and behind are left alone.
fn combined<T: Copy + Default + PartialEq + Debug, Op: Operation<T>>(
    acc: &[T],
    other: &[T],
    skip: usize,
) -> Vec<T> {
    assert_eq!(acc.len(), other.len());
    let (mut to, from) = (Shifted::new(acc, skip), Shifted::new(other, skip / 2));
    // SAFETY: two arrays of their own, of the length given.
    unsafe { Op::combine(to.start(), from.start_const(), acc.len()) };
    assert!(to.outside().all(|&x| x == T::default()));
    to.inside().to_vec()
}

/// An array inside a larger one.
struct Shifted<T> {
    all: Vec<T>,
    first: usize,
    len: usize,
}

impl<T: Copy + Default> Shifted<T> {
    fn new(inside: &[T], skip: usize) -> Self {
        let mut all = vec![T::default(); inside.len() + skip + 64];
        let first = all.as_ptr().align_offset(64).min(63) + skip;
        all[first..first + inside.len()].copy_from_slice(inside);
        Self {
            all,
            first,
            len: inside.len(),
        }
    }

    fn start(&mut self) -> *mut T {
        self.all[self.first..].as_mut_ptr()
    }

    fn start_const(&self) -> *const T {
        self.all[self.first..].as_ptr()
    }

    fn inside(&self) -> &[T] {
        &self.all[self.first..self.first + self.len]
    }

    fn outside(&self) -> impl Iterator<Item = &T> {
        self.all[..self.first]
            .iter()
            .chain(&self.all[self.first + self.len..])
    }
}

/// Returns pairs of elements, among them the ends of the type's range, and their distance from an
/// aligned address.
fn pairs<T: Arbitrary + Clone + 'static>(
    ends: Vec<T>,
) -> impl Strategy<Value = (Vec<(T, T)>, usize)> {
    let element = prop_oneof![4 => any::<T>(), 1 => proptest::sample::select(ends)];
    (
        proptest::collection::vec((element.clone(), element), 0..70),
        0..9_usize,
    )
}

/// Asserts that the operation has the function's result for each pair.
macro_rules! agrees {
    ($op:ident, $t:ty, $a:expr, $b:expr, $skip:expr, $want:expr) => {{
        let want: Vec<$t> = $a.iter().zip($b).map(|(&a, &b)| $want(a, b)).collect();
        prop_assert_eq!(
            combined::<$t, $op>($a, $b, $skip),
            want,
            "{}",
            stringify!($op)
        );
    }};
}

macro_rules! integer_tests {
    ($($name:ident: $t:ty;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(100))]
            $(#[test]
            fn $name((pairs, skip) in pairs(vec![<$t>::MIN, <$t>::MAX, 0, 1])) {
                let (a, b): (Vec<$t>, Vec<$t>) = pairs.into_iter().unzip();
                // Of 128 bits the low ones are those of the number modulo its range.
                let wide = |of: fn(i128, i128) -> i128| move |a: $t, b: $t| of(a as i128, b as i128) as $t;
                agrees!(And, $t, &a, &b, skip, wide(|a, b| a & b));
                agrees!(Or, $t, &a, &b, skip, wide(|a, b| a | b));
                agrees!(Xor, $t, &a, &b, skip, wide(|a, b| a ^ b));
                agrees!(Max, $t, &a, &b, skip, wide(|a, b| if a < b { b } else { a }));
                agrees!(Min, $t, &a, &b, skip, wide(|a, b| if a < b { a } else { b }));
                agrees!(Sum, $t, &a, &b, skip, wide(|a, b| a + b));
                agrees!(Prod, $t, &a, &b, skip, wide(i128::wrapping_mul));
            })*
        }
    };
}

integer_tests! {
    integers_of_8_bits: i8;
    integers_of_16_bits: i16;
    integers_of_32_bits: i32;
    integers_of_64_bits: i64;
    integers_as_long_as_pointers: isize;
    naturals_of_8_bits: u8;
    naturals_of_16_bits: u16;
    naturals_of_32_bits: u32;
    naturals_of_64_bits: u64;
    naturals_as_long_as_pointers: usize;
}

/// Compares two values by their bits, but takes any NaN for a NaN: which one an operation gives is
/// the processor's choice.
macro_rules! same {
    ($a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
    }};
}

macro_rules! float_tests {
    ($($floats:ident, $complex:ident: $f:ident;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(100))]
            $(#[test]
            fn $floats((pairs, skip) in pairs(vec![0.0, -1.0, $f::MAX, $f::INFINITY, $f::NEG_INFINITY])) {
                let (a, b): (Vec<$f>, Vec<$f>) = pairs.into_iter().unzip();
                agrees!(Max, $f, &a, &b, skip, |a, b| if a < b { b } else { a });
                agrees!(Min, $f, &a, &b, skip, |a, b| if b < a { b } else { a });
                let sums = combined::<$f, Sum>(&a, &b, skip);
                let products = combined::<$f, Prod>(&a, &b, skip);
                for (i, (&a, &b)) in a.iter().zip(&b).enumerate() {
                    prop_assert!(same!(sums[i], a + b), "{a} + {b} is {}", sums[i]);
                    prop_assert!(same!(products[i], a * b), "{a} * {b} is {}", products[i]);
                }
            }

            #[test]
            fn $complex((pairs, skip) in pairs(vec![(0.0, 1.0), (-1.0, 0.0)])) {
                let number = |(re, im): ($f, $f)| Complex { re, im };
                let (a, b): (Vec<_>, Vec<_>) = pairs.into_iter().map(|(a, b)| (number(a), number(b))).unzip();
                agrees!(Sum, Complex<$f>, &a, &b, skip, |a: Complex<$f>, b: Complex<$f>| {
                    Complex { re: a.re + b.re, im: a.im + b.im }
                });
                let finite = |x: $f| x.clamp(-1e9, 1e9);
                let tame = |z: Complex<$f>| Complex { re: finite(z.re), im: finite(z.im) };
                let (a, b): (Vec<_>, Vec<_>) = a.into_iter().zip(b).map(|(a, b)| (tame(a), tame(b))).unzip();
                agrees!(Prod, Complex<$f>, &a, &b, skip, |a: Complex<$f>, b: Complex<$f>| {
                    Complex { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re }
                });
            })*
        }
    };
}

float_tests! {
    floats_of_32_bits, complex_numbers_of_32_bits: f32;
    floats_of_64_bits, complex_numbers_of_64_bits: f64;
}

#[test]
fn the_extremes_leave_out_nans_on_either_side() {
    let (a, b) = ([f64::NAN, 1.0, f64::NAN], [2.0, f64::NAN, f64::NAN]);
    for result in [
        combined::<f64, Max>(&a, &b, 0),
        combined::<f64, Min>(&a, &b, 0),
    ] {
        assert_eq!(result[..2], [2.0, 1.0]);
        assert!(result[2].is_nan());
    }
    let (a, b) = ([f32::NAN, 1.0], [2.0, f32::NAN]);
    assert_eq!(combined::<f32, Max>(&a, &b, 0), [2.0, 1.0]);
    assert_eq!(combined::<f32, Min>(&a, &b, 0), [2.0, 1.0]);
}

#[test]
fn complex_products_with_infinities_are_those_of_c() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    // Two factors and the product of gcc's multiplication, real part and imaginary part of each.
    let cases = [
        [INF, INF, 1.0, 1.0, NAN, INF],
        [INF, NAN, 1.0, 1.0, INF, INF],
        [-INF, NAN, 1.0, 1.0, -INF, -INF],
        [0.0, INF, 0.0, INF, -INF, NAN],
        [INF, 0.0, 0.0, 0.0, NAN, NAN],
        [NAN, 0.0, 1.0, 1.0, NAN, NAN],
        [1e200, 1e200, 1e200, 1e200, NAN, INF],
        [INF, 2.0, NAN, 3.0, NAN, INF],
        [NAN, INF, -2.0, 0.0, NAN, -INF],
        [1e200, 1e200, 1e200, NAN, INF, INF],
        [2.0, INF, -INF, 1.0, -INF, -INF],
    ];
    for [a, b, c, d, re, im] in cases {
        let product =
            combined::<_, Prod>(&[Complex { re: a, im: b }], &[Complex { re: c, im: d }], 0)[0];
        let is_right = same!(product.re, re) && same!(product.im, im);
        assert!(is_right, "({a}, {b}) * ({c}, {d}) is {product:?}");
    }
}

#[test]
fn nothing_at_no_address_is_combined_with_nothing() {
    // SAFETY: no element is touched.
    unsafe { <Sum as Operation<f64>>::combine(std::ptr::null_mut(), std::ptr::null(), 0) };
}
