//! Communication contexts and the operations on them.

#![expect(
    unsafe_code,
    reason = "calls the routines with addresses that the arrays' types vouch for"
)]

use super::{OneThread, Symmetric};
use crate::ctx::{self, Context};
use crate::routine::Routine;
use crate::sync::Cmp;
use crate::{amo, order, owner, query, rma, signal, sync};
use bytemuck::Pod;
use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;

/// An integer that atomic operations and waits work on: 4 or 8 bytes.
pub trait Element: Pod + amo::Integer + sync::Waited {}

impl<T: Pod + amo::Integer + sync::Waited> Element for T {}

/// A communication context: a lane to all PEs, for one thread at a time.
pub struct Ctx {
    context: &'static Context,
    one_thread: OneThread,
}

const CTX: Routine = &"Ctx";

macro_rules! atomics {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) $(-> $ret:tt)?;)*) => {$(
        $(#[$doc])* ///
        /// # Panics
        /// If `index` or `pe` is out of range.
        #[track_caller]
        pub fn $name<T: Element>(&self, dest: &Symmetric<'_, T>, index: usize $(, $arg: T)*, pe: usize) $(-> $ret)? {
            let dest = dest.place(index, 1);
            // SAFETY: the array is symmetric and aligned, the element and the PE are in range; this
            // thread has the context.
            unsafe { amo::$name(self.context(), CTX, dest $(, $arg)*, number(pe)) }
        }
    )*};
}

/// The number of a PE that exists.
#[track_caller]
fn number(pe: usize) -> c_int {
    // SAFETY: the rules of threads: this one is in an operation on a context, and so has the
    // `World`.
    let count = unsafe { query::n_pes() as usize };
    assert!(pe < count, "PE {pe} of {count}");
    pe as c_int
}

impl Ctx {
    pub(super) fn default_context() -> Self {
        Self {
            context: ctx::default_ctx(),
            one_thread: PhantomData,
        }
    }

    /// The context, for an operation that the calling thread is about to begin.
    fn context(&self) -> &'static Context {
        owner::enter();
        self.context
    }

    /// Writes `source` to the elements from `index` on, on `pe`.
    ///
    /// # Panics
    /// If the elements or `pe` are out of range.
    #[track_caller]
    pub fn put<T: Pod>(&self, dest: &Symmetric<'_, T>, index: usize, source: &[T], pe: usize) {
        let dest = dest.place(index, source.len());
        // SAFETY: the array is symmetric and holds the elements; `source` is no symmetric memory.
        unsafe {
            rma::put(
                self.context(),
                CTX,
                dest,
                source.as_ptr(),
                source.len(),
                number(pe),
            );
        }
    }

    /// Reads the elements from `index` on, on `pe`.
    ///
    /// # Panics
    /// If the elements or `pe` are out of range.
    #[track_caller]
    pub fn get<T: Pod>(&self, dest: &mut [T], source: &Symmetric<'_, T>, index: usize, pe: usize) {
        let source = source.place(index, dest.len());
        // SAFETY: the array is symmetric and holds the elements; `dest` is no symmetric memory.
        unsafe {
            rma::get(
                self.context(),
                CTX,
                dest.as_mut_ptr(),
                source,
                dest.len(),
                number(pe),
            );
        }
    }

    atomics! {
        /// Adds `value` to the element on `pe`.
        add(value);
        /// Adds `value` to the element on `pe`; returns what was there.
        fetch_add(value) -> T;
        /// Writes `value` to the element on `pe` atomically.
        set(value);
        /// Writes `value` to the element on `pe`; returns what was there.
        swap(value) -> T;
        /// Writes `value` to the element on `pe` where `cond` stands; returns what was there.
        compare_swap(cond, value) -> T;
    }

    /// Reads the element on `pe` atomically.
    ///
    /// # Panics
    /// If `index` or `pe` is out of range.
    #[track_caller]
    pub fn fetch<T: Element>(&self, source: &Symmetric<'_, T>, index: usize, pe: usize) -> T {
        let source = source.place(index, 1);
        // SAFETY: the array is symmetric and aligned, the element and the PE are in range; this
        // thread has the context.
        unsafe { amo::fetch(self.context(), CTX, source, number(pe)) }
    }

    /// Writes `source` as [`Ctx::put`] does, and then `value` to the signal word `signals[word]` on `pe`:
    /// whoever sees the signal sees the elements.
    ///
    /// # Panics
    /// If the elements, the word or `pe` are out of range.
    #[track_caller]
    pub fn put_signal<T: Pod>(
        &self,
        (dest, index): (&Symmetric<'_, T>, usize),
        source: &[T],
        (signals, word): (&Symmetric<'_, u64>, usize),
        value: u64,
        pe: usize,
    ) {
        let dest = dest.place(index, source.len());
        let signal = signals.place(word, 1);
        // SAFETY: both arrays are symmetric and hold the elements; `source` is no symmetric memory.
        unsafe {
            signal::put_signal(
                self.context(),
                CTX,
                dest,
                source.as_ptr(),
                source.len(),
                signal,
                value,
                signal::SIGNAL_SET,
                number(pe),
            );
        }
    }

    /// Waits until the own element `index` satisfies the comparison; returns its value then.
    ///
    /// # Panics
    /// If `index` is out of range.
    #[track_caller]
    pub fn wait_until<T: Element>(
        &self,
        array: &Symmetric<'_, T>,
        index: usize,
        cmp: Cmp,
        value: T,
    ) -> T {
        let element = array.place(index, 1);
        owner::enter();
        // SAFETY: the element is in range and aligned.
        unsafe { sync::wait_for(CTX, element, cmp as c_int, value) }
    }

    /// Orders earlier puts and atomics to each PE before later ones.
    pub fn fence(&self) {
        // SAFETY: the rules of threads: this one has the context.
        unsafe { order::fence(self.context(), CTX) };
    }

    /// Returns when every earlier operation on this context is delivered.
    pub fn quiet(&self) {
        // SAFETY: the rules of threads: this one has the context.
        unsafe { order::quiet(self.context(), CTX) };
    }
}

impl fmt::Debug for Ctx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx").finish_non_exhaustive()
    }
}
