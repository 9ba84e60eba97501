//! Waits for own elements that peers change, and tests (OpenSHMEM 1.6, section 9.11).

#![expect(
    unsafe_code,
    reason = "calls the routines with addresses that the arrays' types vouch for"
)]

use super::{Ctx, Element, Shared};
use crate::job;
use crate::sync::{self, Cmp};
use std::ffi::c_int;
use std::ops::Range;

/// Own elements of an array that [`Ctx::wait_until_all`] and its like look at.
///
/// ```no_run
/// # use shmem::{Awaited, Cmp};
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let flags = world.alloc::<u64>(world.n_pes()).expect("room");
/// let ctx = world.ctx();
/// (0..world.n_pes()).for_each(|pe| ctx.p(&flags, world.my_pe(), 1, pe));
/// let mut seen = vec![false; world.n_pes()];
/// while let Some(pe) = ctx.wait_until_any(Awaited::of(&flags).but(&seen), Cmp::Eq, 1) {
///     println!("PE {pe} has come");
///     seen[pe] = true;
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Awaited<'a, T> {
    array: &'a Shared<'a, T>,
    first: usize,
    count: usize,
    but: Option<&'a [bool]>,
}

impl<'a, T: Element> Awaited<'a, T> {
    /// Returns all elements of `array`.
    pub fn of(array: &'a Shared<'a, T>) -> Self {
        Self {
            array,
            first: 0,
            count: array.len(),
            but: None,
        }
    }

    /// Returns the elements `range` of `array`; results count from the first of them.
    ///
    /// # Panics
    /// If they are out of range.
    #[track_caller]
    pub fn range(array: &'a Shared<'a, T>, range: Range<usize>) -> Self {
        let count = range.len();
        array.place.at(range.start, count);
        Self {
            array,
            first: range.start,
            count,
            but: None,
        }
    }

    /// Leaves out those whose place in `skipped` is true.
    ///
    /// # Panics
    /// If `skipped` has not as many places as there are elements.
    #[must_use]
    #[track_caller]
    pub fn but(self, skipped: &'a [bool]) -> Self {
        require(skipped.len(), self.count);
        Self {
            but: Some(skipped),
            ..self
        }
    }

    /// Returns the statuses as the routines take them; empty for none.
    fn statuses(&self) -> Vec<c_int> {
        let skipped = self.but.unwrap_or_default();
        skipped.iter().map(|&skip| c_int::from(skip)).collect()
    }
}

/// Values to compare elements with: one value for all, or a slice with a value for each.
///
/// ```no_run
/// # use shmem::{Against, Awaited, Cmp};
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let counts = world.alloc::<u64>(3).expect("room for counts");
/// let ctx = world.ctx();
/// (0..3).for_each(|index| ctx.add(&counts, index, index as u64 + 1, world.my_pe()));
/// // One value for all, and a value for each.
/// ctx.wait_until_all(Awaited::of(&counts), Cmp::Ge, Against::One(1));
/// ctx.wait_until_all(Awaited::of(&counts), Cmp::Eq, Against::Each(&[1, 2, 3]));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Against<'a, T> {
    /// One value.
    One(T),
    /// A value for each element.
    Each(&'a [T]),
}

impl<T: Element> From<T> for Against<'_, T> {
    fn from(value: T) -> Self {
        Self::One(value)
    }
}

impl<'a, T: Element> From<&'a [T]> for Against<'a, T> {
    fn from(values: &'a [T]) -> Self {
        Self::Each(values)
    }
}

#[track_caller]
fn require(has: usize, needs: usize) {
    assert!(
        has == needs,
        "PE {}: a slice of {has} for {needs} elements",
        job::my_pe()
    );
}

impl Ctx<'_> {
    /// Waits until the own element `index` satisfies the comparison; returns its value then (9.11.1,
    /// 9.11.15).
    ///
    /// # Panics
    /// If `index` is out of range.
    #[track_caller]
    pub fn wait_until<T: Element>(
        &self,
        array: &Shared<'_, T>,
        index: usize,
        cmp: Cmp,
        value: T,
    ) -> T {
        let element = array.place.one(index);
        // SAFETY: the element is in range and aligned, and this PE's.
        unsafe { sync::wait_for(&"Ctx::wait_until", element, cmp as c_int, value) }
    }

    /// Returns whether the own element `index` satisfies the comparison now (9.11.8).
    ///
    /// # Panics
    /// If `index` is out of range.
    #[track_caller]
    pub fn test<T: Element>(
        &self,
        array: &Shared<'_, T>,
        index: usize,
        cmp: Cmp,
        value: T,
    ) -> bool {
        let element = array.place.one(index);
        // SAFETY: the element is in range and aligned, and this PE's.
        unsafe { sync::test(&"Ctx::test", element, cmp as c_int, value) != 0 }
    }
}

/// The calls over several elements: for one value, and for a vector of them.
macro_rules! over_arrays {
    ($(
        $(#[$doc:meta])*
        $name:ident, $vector:ident($($indices:ident)?) -> $ret:ty: |$result:ident, $count:ident| $give:expr;
    )*) => {
        impl Ctx<'_> {$(
            $(#[$doc])* ///
            /// # Panics
            /// If there are not as many values as elements.
            #[track_caller]
            pub fn $name<'a, T: Element>(
                &self,
                elements: Awaited<'_, T>,
                cmp: Cmp,
                values: impl Into<Against<'a, T>>,
            ) -> $ret {
                let at = &concat!("Ctx::", stringify!($name));
                let $count = elements.count;
                let (first, cmp) = (elements.array.place.at(elements.first, $count), cmp as c_int);
                let statuses = elements.statuses();
                let statuses = match elements.but {
                    Some(_) => statuses.as_ptr(),
                    None => std::ptr::null(),
                };
                $(let mut $indices = vec![0_usize; $count];)?
                // SAFETY: the elements are in range and aligned, and this PE's; the statuses, the
                // values and the room for indices, where there are any, are as many.
                let $result = unsafe {
                    match values.into() {
                        Against::One(value) => {
                            sync::$name(at, first, $count, $($indices.as_mut_ptr(),)? statuses, cmp, value)
                        }
                        Against::Each(values) => {
                            require(values.len(), $count);
                            sync::$vector(at, first, $count, $($indices.as_mut_ptr(),)? statuses, cmp, values.as_ptr())
                        }
                    }
                };
                $($indices.truncate($result);)?
                $give
            }
        )*}
    };
}

over_arrays! {
    /// Waits until all elements satisfy the comparison (9.11.2, 9.11.5).
    wait_until_all, wait_until_all_vector() -> (): |result, count| result;
    /// Waits until one element satisfies the comparison; returns its number, or none where all are
    /// left out (9.11.3, 9.11.6).
    wait_until_any, wait_until_any_vector() -> Option<usize>: |result, count| Some(result).filter(|&at| at < count);
    /// Waits until at least one element satisfies the comparison; returns the numbers of those that
    /// do, none where all are left out (9.11.4, 9.11.7).
    wait_until_some, wait_until_some_vector(indices) -> Vec<usize>: |result, count| indices;
    /// Returns whether all elements satisfy the comparison now (9.11.9, 9.11.12).
    test_all, test_all_vector() -> bool: |result, count| result != 0;
    /// Returns the number of an element that satisfies the comparison now (9.11.10, 9.11.13).
    test_any, test_any_vector() -> Option<usize>: |result, count| Some(result).filter(|&at| at < count);
    /// Returns the numbers of the elements that satisfy the comparison now (9.11.11, 9.11.14).
    test_some, test_some_vector(indices) -> Vec<usize>: |result, count| indices;
}
