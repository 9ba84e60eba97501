//! Point-to-point synchronisation (OpenSHMEM 1.6, section 9.11): wait until own memory, which peers
//! change by puts and atomics, satisfies a comparison; or test whether it does.
//!
//! "All" of no elements is satisfied at once; "any" of none is `usize::MAX`, "some" of none is 0.
//! Elements whose `status` is not zero are left out.

#![expect(unsafe_code, reason = "C arrays are read that peers write meanwhile")]

use crate::amo::Integer;
use crate::ctx;
use crate::report;
use crate::routine::Routine;
use crate::stall::Watch;
use std::ffi::c_int;
use std::sync::atomic::{
    AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
    Ordering,
};

/// The comparison operators, as SHMEM_CMP_EQ and so on (section 9.11).
///
/// ```no_run
/// # use shmem::Cmp;
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let flag = world.alloc::<u32>(1).expect("room for a flag");
/// world.ctx().p(&flag, 0, 5, (world.my_pe() + 1) % world.n_pes());
/// world.ctx().wait_until(&flag, 0, Cmp::Gt, 4);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Cmp {
    /// Equal.
    Eq = 0,
    /// Not equal.
    Ne = 1,
    /// Greater than.
    Gt = 2,
    /// Less than or equal.
    Le = 3,
    /// Less than.
    Lt = 4,
    /// Greater than or equal.
    Ge = 5,
}

impl Cmp {
    #[inline(always)]
    fn from_c(at: Routine, cmp: c_int) -> Self {
        match cmp {
            0 => Self::Eq,
            1 => Self::Ne,
            2 => Self::Gt,
            3 => Self::Le,
            4 => Self::Lt,
            5 => Self::Ge,
            _ => report::bad_argument(at, "cmp", format_args!("{cmp}"), "a SHMEM_CMP_ constant"),
        }
    }

    #[inline(always)]
    fn holds<T: Ord>(self, left: T, right: T) -> bool {
        match self {
            Self::Eq => left == right,
            Self::Ne => left != right,
            Self::Gt => left > right,
            Self::Le => left <= right,
            Self::Lt => left < right,
            Self::Ge => left >= right,
        }
    }
}

/// Ends the job with a message unless the library is initialised.
#[inline(always)]
pub(crate) fn require_initialized(at: Routine) {
    if ctx::default_ctx().endpoint.peer_count() == 0 {
        report::call(at, fi_provider::symmetric::Error::NotEnabled);
    }
}

/// Begins a wait, where one look was not enough. Ends the job with a message where nobody could
/// write the awaited objects as a whole: they are not aligned.
#[cold]
fn begin_to_wait<T>(at: Routine, name: &'static str, ivar: *const T) -> Watch {
    if !ivar.is_aligned() {
        report::misaligned(
            at,
            report::object_name(at, name),
            ivar.addr(),
            size_of::<T>(),
        );
    }
    Watch::new(at)
}

/// Types that wait_until and test look at: the standard AMO types, and two deprecated ones that no
/// atomic operation is for.
pub trait Waited: Copy + Ord {
    /// Reads `*at`; writes before that of the value are visible then.
    ///
    /// # Safety
    /// `at` is aligned and mapped for reading.
    unsafe fn look(at: *const Self) -> Self;
}

macro_rules! waited {
    ($($t:ty: $atomic:ty;)*) => {$(
        impl Waited for $t {
            #[inline(always)]
            unsafe fn look(at: *const Self) -> Self {
                // SAFETY: `at` is aligned and mapped for reading; peers that write the element
                // meanwhile write it as a whole.
                // ORDERING: acquires the peer's writes before that of the element.
                unsafe { <$atomic>::from_ptr(at.cast_mut()) }.load(Ordering::Acquire)
            }
        }
    )*};
}

waited! {
    i16: AtomicI16;
    u16: AtomicU16;
    i32: AtomicI32;
    u32: AtomicU32;
    i64: AtomicI64;
    u64: AtomicU64;
    isize: AtomicIsize;
    usize: AtomicUsize;
}

/// Elements to look at: values that peers change, which of them count, and the values that they are
/// compared with.
struct Elements<T> {
    ivars: *const T,
    count: usize,
    status: *const c_int,
    cmp: Cmp,
    /// One value for all, or one for each when `step` is 1.
    values: *const T,
    step: usize,
}

impl<T: Integer> Elements<T> {
    /// Returns whether element `i` counts.
    #[inline(always)]
    fn counts(&self, i: usize) -> bool {
        // SAFETY: a status array that is given holds `count` numbers, as the forms over arrays
        // require.
        self.status.is_null() || unsafe { self.status.add(i).read() } == 0
    }

    /// Returns whether element `i` satisfies the comparison now.
    #[inline(always)]
    fn holds(&self, i: usize) -> bool {
        // SAFETY: `ivars` holds `count` aligned elements, `values` as many or one (step 0), as the
        // forms over arrays require.
        // ORDERING: the load acquires the peer's writes before that of the element.
        unsafe {
            let now = T::fetch(self.ivars.add(i).cast_mut());
            self.cmp.holds(now, self.values.add(i * self.step).read())
        }
    }

    fn all(&self) -> bool {
        (0..self.count).all(|i| !self.counts(i) || self.holds(i))
    }

    fn none_counts(&self) -> bool {
        !(0..self.count).any(|i| self.counts(i))
    }

    /// Returns an element that holds, searched from a place that changes: a series of calls must
    /// return each of those that hold some time (9.11.3).
    fn any(&self) -> usize {
        if self.count == 0 {
            return usize::MAX;
        }
        let start = somewhere() % self.count;
        (start..self.count)
            .chain(0..start)
            .find(|&i| self.counts(i) && self.holds(i))
            .unwrap_or(usize::MAX)
    }

    /// Writes the indices of the elements that hold to `indices`; returns how many.
    fn some(&self, indices: *mut usize) -> usize {
        let mut found = 0;
        for i in (0..self.count).filter(|&i| self.counts(i) && self.holds(i)) {
            // SAFETY: `indices` has room for `count` numbers, as the forms over arrays require, and
            // `found` < `count`.
            unsafe { indices.add(found).write(i) };
            found += 1;
        }
        found
    }

    /// Returns the result of a look, or of another one behind progress where the first gives
    /// `nothing`.
    fn tested(&self, at: Routine, mut look: impl FnMut(&Self) -> usize, nothing: usize) -> usize {
        let found = look(self);
        if found == nothing && look_again(at) {
            return look(self);
        }
        found
    }

    /// Looks again and again until `look` gives something.
    fn until<R>(&self, at: Routine, mut look: impl FnMut(&Self) -> Option<R>) -> R {
        if let Some(result) = look(self) {
            return result;
        }
        let mut watch = begin_to_wait(at, "ivars", self.ivars);
        loop {
            watch.pause();
            if let Some(result) = look(self) {
                return result;
            }
        }
    }

    fn until_any(&self, at: Routine) -> usize {
        if self.none_counts() {
            return usize::MAX;
        }
        self.until(at, |e| Some(e.any()).filter(|&i| i != usize::MAX))
    }

    fn until_some(&self, at: Routine, indices: *mut usize) -> usize {
        if self.none_counts() {
            return 0;
        }
        self.until(at, |e| Some(e.some(indices)).filter(|&n| n != 0))
    }
}

/// Returns a number without pattern, so that no order of calls on several arrays can prefer an
/// element.
fn somewhere() -> usize {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    // The odd constant and the shifts of splitmix64.
    let mut z = CALLS
        .fetch_add(1, Ordering::Relaxed)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ (z >> 31)) as usize
}

/// Waits until `*ivar` satisfies the comparison; returns the value that did.
///
/// # Safety
/// `ivar` is an aligned element of the calling PE.
#[inline]
pub(crate) unsafe fn wait_for<T: Waited>(at: Routine, ivar: *const T, cmp: c_int, value: T) -> T {
    require_initialized(at);
    let cmp = Cmp::from_c(at, cmp);
    // SAFETY: `ivar` is an aligned element of this PE, which is mapped for reading.
    let look = || Some(unsafe { T::look(ivar) }).filter(|&now| cmp.holds(now, value));
    if let Some(now) = look() {
        return now;
    }
    let mut watch = begin_to_wait(at, "ivar", ivar);
    loop {
        watch.pause();
        if let Some(now) = look() {
            return now;
        }
    }
}

/// Waits until `*ivar` satisfies the comparison (9.11.1).
///
/// # Safety
/// `ivar` is an aligned element of the calling PE.
#[inline]
pub unsafe fn wait_until<T: Waited>(at: Routine, ivar: *mut T, cmp: c_int, value: T) {
    // SAFETY: `ivar` is an aligned element of this PE.
    unsafe { wait_for(at, ivar, cmp, value) };
}

/// Returns whether `*ivar` satisfies the comparison now: 1 or 0 (9.11.8).
///
/// # Safety
/// `ivar` is an aligned element of the calling PE.
#[inline]
pub unsafe fn test<T: Waited>(at: Routine, ivar: *mut T, cmp: c_int, value: T) -> c_int {
    require_initialized(at);
    let cmp = Cmp::from_c(at, cmp);
    // SAFETY: `ivar` is an aligned element of this PE, which is mapped for reading.
    let holds = || cmp.holds(unsafe { T::look(ivar) }, value);
    c_int::from(holds() || (look_again(at) && holds()))
}

/// Has a test that fails make progress where writes of peers need that, as programs test in loops;
/// whether it did.
#[inline(always)]
fn look_again(at: Routine) -> bool {
    offer_processor();
    let needs_progress = ctx::default_ctx().endpoint.needs_progress();
    if needs_progress {
        ctx::progress::progress(at);
    }
    needs_progress
}

/// Tests in vain after which the processor is offered to others.
const TESTS: u32 = 256;

/// A count in a cache line of its own: threads that test in vain write it all the time.
#[repr(align(64))]
struct InVain(AtomicU32);

/// Offers the processor to others now and then: the process that a loop of tests waits for may wait
/// for this one's.
#[inline(always)]
fn offer_processor() {
    static IN_VAIN: InVain = InVain(AtomicU32::new(0));
    // ORDERING: an estimate; threads at the same time may count one test for two.
    let tests = IN_VAIN.0.load(Ordering::Relaxed).wrapping_add(1);
    IN_VAIN.0.store(tests, Ordering::Relaxed);
    if tests.is_multiple_of(TESTS) {
        yield_now();
    }
}

#[cold]
#[inline(never)]
fn yield_now() {
    std::thread::yield_now();
}

/// The forms over arrays: with one value for all elements, and with a vector of values.
macro_rules! over_arrays {
    ($($(#[$doc:meta])* $name:ident, $vector:ident($($indices:ident: $index_type:ty)?) -> $ret:ty: |$at:ident, $elements:ident| $body:expr;)*) => {$(
        $(#[$doc])* ///
        /// # Safety
        /// `ivars` holds `nelems` aligned elements of the calling PE; `status`, unless null, `nelems`
        /// numbers; `indices`, where there is one, has room for `nelems`.
        #[inline]
        pub unsafe fn $name<T: Integer>($at: Routine, ivars: *mut T, nelems: usize, $($indices: $index_type,)? status: *const c_int, cmp: c_int, value: T) -> $ret {
            require_initialized($at);
            let $elements = Elements { ivars, count: nelems, status, cmp: Cmp::from_c($at, cmp), values: &raw const value, step: 0 };
            $body
        }

        $(#[$doc])* ///
        /// Compares element `i` with `values[i]`.
        ///
        /// # Safety
        /// As the form with one value; `values` holds `nelems` elements.
        #[inline]
        pub unsafe fn $vector<T: Integer>($at: Routine, ivars: *mut T, nelems: usize, $($indices: $index_type,)? status: *const c_int, cmp: c_int, values: *const T) -> $ret {
            require_initialized($at);
            let $elements = Elements { ivars, count: nelems, status, cmp: Cmp::from_c($at, cmp), values, step: 1 };
            $body
        }
    )*};
}

over_arrays! {
    /// Waits until all elements satisfy the comparison (9.11.2, 9.11.5).
    wait_until_all, wait_until_all_vector() -> (): |at, e| e.until(at, |e| e.all().then_some(()));
    /// Waits until one element satisfies the comparison; returns its index (9.11.3, 9.11.6).
    wait_until_any, wait_until_any_vector() -> usize: |at, e| e.until_any(at);
    /// Waits until at least one element satisfies the comparison; returns how many do, and which
    /// (9.11.4, 9.11.7).
    wait_until_some, wait_until_some_vector(indices: *mut usize) -> usize: |at, e| e.until_some(at, indices);
    /// Returns whether all elements satisfy the comparison now: 1 or 0 (9.11.9, 9.11.12).
    test_all, test_all_vector() -> c_int: |at, e| c_int::from(e.all() || (look_again(at) && e.all()));
    /// Returns the index of an element that satisfies the comparison now (9.11.10, 9.11.13).
    test_any, test_any_vector() -> usize: |at, e| e.tested(at, Elements::any, usize::MAX);
    /// Returns the number of elements that satisfy the comparison now, and writes their indices
    /// (9.11.11, 9.11.14).
    test_some, test_some_vector(indices: *mut usize) -> usize: |at, e| e.tested(at, |e| e.some(indices), 0);
}
