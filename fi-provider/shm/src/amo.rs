//! Atomic memory operations at raw addresses, by the CPU's own atomic instructions.
//!
//! Every operation is sequentially consistent on x86-64, where each read-modify-write is a locked
//! instruction; fetch is an acquire load and set a release store, single moves.

use std::sync::atomic::{
    AtomicI32, AtomicI64, AtomicIsize, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};

/// A type that fetch, set and swap work on: 4 or 8 bytes, any bit pattern valid.
pub trait Word: Copy + PartialEq + Sealed {
    /// Reads `*at` atomically.
    ///
    /// # Safety
    /// `at` must be aligned and mapped for reading.
    unsafe fn fetch(at: *mut Self) -> Self;
    /// Writes `*at` atomically.
    ///
    /// # Safety
    /// `at` must be aligned and mapped for writing.
    unsafe fn set(at: *mut Self, value: Self);
    /// Writes `*at` and returns the previous value, atomically.
    ///
    /// # Safety
    /// `at` must be aligned and mapped for writing.
    unsafe fn swap(at: *mut Self, value: Self) -> Self;
}

/// Keeps the traits of this module to the types listed here.
pub trait Sealed {}

/// Has the processor fetch the cache line of `address` for writing; no more than a hint.
#[inline(always)]
pub fn expect_write(address: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction changes no memory and no register, and does nothing where `address` is
    // not mapped. Processors that do not know it take it as none.
    unsafe {
        core::arch::asm!(
            "prefetchw [{}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

macro_rules! integer_methods {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) $(-> $ret:tt)?;)*) => {
        /// An integer of 4 or 8 bytes that arithmetic and bitwise operations work on.
        ///
        /// # Safety
        /// Of every function: `at` must be aligned and mapped for writing.
        pub trait Integer: Word + Ord {
            /// One.
            const ONE: Self;
            $($(#[$doc])* ///
            /// # Safety
            /// `at` must be aligned and mapped for writing.
            unsafe fn $name(at: *mut Self $(, $arg: Self)*) $(-> $ret)?;)*
        }
    };
}

integer_methods! {
    /// Adds, modulo 2^n.
    add(value);
    /// Adds, modulo 2^n, and returns the previous value.
    fetch_add(value) -> Self;
    /// Bitwise and.
    and(value);
    /// Bitwise or.
    or(value);
    /// Bitwise exclusive or.
    xor(value);
    /// Bitwise and; returns the previous value.
    fetch_and(value) -> Self;
    /// Bitwise or; returns the previous value.
    fetch_or(value) -> Self;
    /// Bitwise exclusive or; returns the previous value.
    fetch_xor(value) -> Self;
    /// Writes `value` where `cond` stands; returns the previous value.
    compare_swap(cond, value) -> Self;
}

/// The atomic view of `*at`.
macro_rules! view {
    ($atomic:ident, $at:expr) => {
        // SAFETY: `at` is aligned and mapped, as every method of `Word` and `Integer` requires;
        // peers reach the same bytes by atomic instructions or by single moves only.
        // ORDERING: pairs with the same instructions in the peers' processes.
        unsafe { $atomic::from_ptr($at) }
    };
}

macro_rules! impl_integer {
    ($($t:ty: $atomic:ident;)*) => {$(
        impl Sealed for $t {}

        impl Word for $t {
            #[inline(always)]
            unsafe fn fetch(at: *mut Self) -> Self {
                view!($atomic, at).load(Ordering::Acquire)
            }
            #[inline(always)]
            unsafe fn set(at: *mut Self, value: Self) {
                view!($atomic, at).store(value, Ordering::Release);
            }
            #[inline(always)]
            unsafe fn swap(at: *mut Self, value: Self) -> Self {
                view!($atomic, at).swap(value, Ordering::SeqCst)
            }
        }

        impl Integer for $t {
            const ONE: Self = 1;
            #[inline(always)]
            unsafe fn add(at: *mut Self, value: Self) {
                view!($atomic, at).fetch_add(value, Ordering::SeqCst);
            }
            #[inline(always)]
            unsafe fn fetch_add(at: *mut Self, value: Self) -> Self {
                view!($atomic, at).fetch_add(value, Ordering::SeqCst)
            }
            #[inline(always)]
            unsafe fn and(at: *mut Self, value: Self) {
                view!($atomic, at).fetch_and(value, Ordering::SeqCst);
            }
            #[inline(always)]
            unsafe fn or(at: *mut Self, value: Self) {
                view!($atomic, at).fetch_or(value, Ordering::SeqCst);
            }
            #[inline(always)]
            unsafe fn xor(at: *mut Self, value: Self) {
                view!($atomic, at).fetch_xor(value, Ordering::SeqCst);
            }
            #[inline(always)]
            unsafe fn fetch_and(at: *mut Self, value: Self) -> Self {
                view!($atomic, at).fetch_and(value, Ordering::SeqCst)
            }
            #[inline(always)]
            unsafe fn fetch_or(at: *mut Self, value: Self) -> Self {
                view!($atomic, at).fetch_or(value, Ordering::SeqCst)
            }
            #[inline(always)]
            unsafe fn fetch_xor(at: *mut Self, value: Self) -> Self {
                view!($atomic, at).fetch_xor(value, Ordering::SeqCst)
            }
            #[inline(always)]
            unsafe fn compare_swap(at: *mut Self, cond: Self, value: Self) -> Self {
                let atomic = view!($atomic, at);
                match atomic.compare_exchange(cond, value, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(old) | Err(old) => old,
                }
            }
        }
    )*};
}

impl_integer! {
    i32: AtomicI32;
    u32: AtomicU32;
    i64: AtomicI64;
    u64: AtomicU64;
    isize: AtomicIsize;
    usize: AtomicUsize;
}

macro_rules! impl_float {
    ($($t:ty: $bits:ty;)*) => {$(
        impl Sealed for $t {}

        impl Word for $t {
            #[inline(always)]
            unsafe fn fetch(at: *mut Self) -> Self {
                // SAFETY: the integer has the float's size and alignment, and `at` is aligned and
                // mapped for reading.
                Self::from_bits(unsafe { <$bits as Word>::fetch(at.cast()) })
            }
            #[inline(always)]
            unsafe fn set(at: *mut Self, value: Self) {
                // SAFETY: the integer has the float's size and alignment, and `at` is aligned and
                // mapped for writing.
                unsafe { <$bits as Word>::set(at.cast(), value.to_bits()) }
            }
            #[inline(always)]
            unsafe fn swap(at: *mut Self, value: Self) -> Self {
                // SAFETY: the integer has the float's size and alignment, and `at` is aligned and
                // mapped for writing.
                Self::from_bits(unsafe { <$bits as Word>::swap(at.cast(), value.to_bits()) })
            }
        }
    )*};
}

impl_float! {
    f32: u32;
    f64: u64;
}
/// An atomic operation with its operands, of whose low bytes as many count as the object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amo {
    /// Leaves the object as it is.
    Fetch,
    /// Writes the operand.
    Swap(u64),
    /// Adds the operand.
    Add(u64),
    /// Bitwise and.
    And(u64),
    /// Bitwise or.
    Or(u64),
    /// Bitwise exclusive or.
    Xor(u64),
    /// Writes the second operand where the first stands.
    CompareSwap(u64, u64),
}

impl Amo {
    /// Returns the value of an object of eight bytes after the operation, where it was `before`.
    pub fn apply(self, before: u64) -> u64 {
        match self {
            Self::Fetch => before,
            Self::Swap(value) => value,
            Self::Add(value) => before.wrapping_add(value),
            Self::And(value) => before & value,
            Self::Or(value) => before | value,
            Self::Xor(value) => before ^ value,
            Self::CompareSwap(compare, value) if before == compare => value,
            Self::CompareSwap(..) => before,
        }
    }
}

/// Does an operation on the object of `bytes` bytes (4 or 8) at `address`; returns the old value.
///
/// # Panics
/// On another number of bytes.
///
/// # Safety
/// The object is aligned, mapped and writable.
pub unsafe fn perform(amo: Amo, address: usize, bytes: usize) -> u64 {
    // SAFETY: the object is aligned, mapped and writable.
    unsafe {
        match bytes {
            4 => on::<u32>(amo, address as *mut u32, |operand| operand as u32).into(),
            8 => on::<u64>(amo, address as *mut u64, |operand| operand),
            _ => panic!("an object of {bytes} bytes"),
        }
    }
}

/// # Safety
/// The object is aligned, mapped and writable.
unsafe fn on<T: Integer>(amo: Amo, at: *mut T, of: impl Fn(u64) -> T) -> T {
    // SAFETY: the object is aligned, mapped and writable.
    unsafe {
        match amo {
            Amo::Fetch => T::fetch(at),
            Amo::Swap(value) => T::swap(at, of(value)),
            Amo::Add(value) => T::fetch_add(at, of(value)),
            Amo::And(value) => T::fetch_and(at, of(value)),
            Amo::Or(value) => T::fetch_or(at, of(value)),
            Amo::Xor(value) => T::fetch_xor(at, of(value)),
            Amo::CompareSwap(compare, value) => T::compare_swap(at, of(compare), of(value)),
        }
    }
}
