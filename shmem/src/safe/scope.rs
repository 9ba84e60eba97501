//! Nonblocking operations on borrowed buffers (OpenSHMEM 1.6, sections 9.6.2, 9.7.2 and 9.8.2).

#![expect(
    unsafe_code,
    reason = "starts operations on buffers that stay borrowed until quiet"
)]

use super::context::number;
use super::{Ctx, Element, OneThread, Readable, Shared, Signal, Word};
use crate::ctx::Context;
use crate::{amo, order, rma, signal};
use bytemuck::Pod;
use std::marker::PhantomData;

/// Starts operations whose buffers are borrowed until they are done; made by [`Ctx::scope`].
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let counters = world.alloc::<u64>(4).expect("room");
/// let mut tickets = [0; 4];
/// world.ctx().scope(|s| {
///     for (index, ticket) in tickets.iter_mut().enumerate() {
///         s.fetch_inc(ticket, &counters, index, 0);
///     }
/// });
/// println!("{tickets:?}");
/// # Ok(()) }
/// ```
///
/// `'scope` lasts until they are; buffers are borrowed for at least as long, and so have to be made
/// outside of the closure.
///
/// ```compile_fail,E0597
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let array = world.alloc::<u64>(100).expect("room");
/// world.ctx().scope(|s| {
///     let buffer = vec![0; 100];
///     s.put(&array, 0, &buffer, 0);
/// });
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    context: &'static Context,
    /// Invariant, as those of [`std::thread::Scope`].
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
    one_thread: OneThread,
}

/// Quiets a context when it is dropped, also by a panic.
struct Quiet(&'static Context);

impl Drop for Quiet {
    fn drop(&mut self) {
        // SAFETY: the rules of threads: this one has the context, in `Ctx::scope`.
        unsafe { order::quiet(self.0, &"Ctx::scope") };
    }
}

impl Ctx<'_> {
    /// Calls `f` with a scope for nonblocking operations, and returns when all of them are
    /// delivered; also when `f` panics.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), shmem::Error> {
    /// let world = shmem::World::init()?;
    /// let array = world.alloc::<u64>(200).expect("room");
    /// let (out, mut inward) = (vec![1; 100], vec![0; 100]);
    /// let next = (world.my_pe() + 1) % world.n_pes();
    /// world.ctx().scope(|s| {
    ///     s.put(&array, 0, &out, next);
    ///     s.get(&mut inward, &array, 100, next);
    /// });
    /// println!("{}", inward[0]);
    /// # Ok(()) }
    /// ```
    pub fn scope<'env, R>(
        &self,
        f: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> R {
        let scope = Scope {
            context: self.context,
            scope: PhantomData,
            env: PhantomData,
            one_thread: PhantomData,
        };
        let _quiet = Quiet(self.context);
        f(&scope)
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts to write `source` to the elements from `index` on, on `pe` (9.6.2.1).
    ///
    /// # Panics
    /// If the elements or `pe` are out of range.
    #[track_caller]
    #[inline]
    pub fn put<T: Pod>(
        &'scope self,
        dest: &Shared<'_, T>,
        index: usize,
        source: &'scope [T],
        pe: usize,
    ) {
        let to = dest.place.at(index, source.len());
        let pe = number(self.context, pe);
        let (from, count) = (source.as_ptr(), source.len());
        // SAFETY: the array is shared on all PEs, at this place, and holds the elements until all
        // contexts are quiet, whatever becomes of it; `source` is apart from it, and stays borrowed
        // until the quiet at the end of the scope. The rules of threads: this one has the context.
        unsafe { rma::put_nbi(self.context, &"Scope::put", to, from, count, pe) };
    }

    /// Starts to read the elements from `index` on, on `pe` (9.6.2.2).
    ///
    /// # Panics
    /// If the elements or `pe` are out of range.
    #[track_caller]
    #[inline]
    pub fn get<T: Pod>(
        &'scope self,
        dest: &'scope mut [T],
        source: &impl Readable<T>,
        index: usize,
        pe: usize,
    ) {
        let from = source.place().at(index, dest.len());
        let pe = number(self.context, pe);
        let (to, count) = (dest.as_mut_ptr(), dest.len());
        // SAFETY: the array is readable on all PEs, at this place, and holds the elements until all
        // contexts are quiet, whatever becomes of it; `dest` is apart from it, and stays borrowed
        // until the quiet at the end of the scope. The rules of threads: this one has the context.
        unsafe { rma::get_nbi(self.context, &"Scope::get", to, from, count, pe) };
    }

    /// Starts to write `source`, and then to update a signal word, as [`Ctx::put_signal`] does
    /// (9.8.2).
    ///
    /// # Panics
    /// If the elements, the word or `pe` are out of range.
    #[track_caller]
    pub fn put_signal<T: Pod>(
        &'scope self,
        (dest, index): (&Shared<'_, T>, usize),
        source: &'scope [T],
        (signals, word): (&Shared<'_, u64>, usize),
        signal: Signal,
        pe: usize,
    ) {
        let to = dest.place.at(index, source.len());
        let word = signals.place.one(word);
        let pe = number(self.context, pe);
        let (from, count) = (source.as_ptr(), source.len());
        let (value, op) = signal.parts();
        let at = &"Scope::put_signal";
        // SAFETY: both arrays are shared on all PEs, at these places, and hold the elements until
        // all contexts are quiet; `source` is apart from them, and stays borrowed until the quiet
        // at the end of the scope. The rules of threads: this one has the context.
        unsafe {
            signal::put_signal_nbi(self.context, at, to, from, count, word, value, op, pe);
        }
    }
}

macro_rules! fetching {
    ($($(#[$doc:meta])* $name:ident, $nbi:ident($($arg:ident),*): $kind:ident;)*) => {
        impl<'scope> Scope<'scope, '_> {$(
            $(#[$doc])* ///
            /// # Panics
            /// If `index` or `pe` is out of range.
            #[track_caller]
            pub fn $name<T: $kind>(
                &'scope self,
                found: &'scope mut T,
                array: &Shared<'_, T>,
                index: usize,
                $($arg: T,)*
                pe: usize,
            ) {
                let at = array.place.one(index);
                let pe = number(self.context, pe);
                let routine = &concat!("Scope::", stringify!($name));
                // SAFETY: the array is shared on all PEs, at this place, and holds the element,
                // aligned, until all contexts are quiet; `found` is apart from it, aligned, and
                // stays borrowed until the quiet at the end of the scope. The rules of threads:
                // this one has the context.
                unsafe { amo::$nbi(self.context, routine, found, at, $($arg,)* pe) };
            }
        )*}
    };
}

fetching! {
    /// Starts to read the element on `pe` atomically to `found` (9.7.2.1).
    fetch, fetch_nbi(): Word;
    /// Starts to write `value` to the element on `pe`; `found` gets the old value (9.7.2.3).
    swap, swap_nbi(value): Word;
    /// Starts to write `value` where `cond` stands; `found` gets the old value (9.7.2.2).
    compare_swap, compare_swap_nbi(cond, value): Element;
    /// Starts to add 1; `found` gets the old value (9.7.2.4).
    fetch_inc, fetch_inc_nbi(): Element;
    /// Starts to add `value`; `found` gets the old value (9.7.2.5).
    fetch_add, fetch_add_nbi(value): Element;
    /// Starts a bitwise and; `found` gets the old value (9.7.2.6).
    fetch_and, fetch_and_nbi(value): Element;
    /// Starts a bitwise or; `found` gets the old value (9.7.2.7).
    fetch_or, fetch_or_nbi(value): Element;
    /// Starts a bitwise exclusive or; `found` gets the old value (9.7.2.8).
    fetch_xor, fetch_xor_nbi(value): Element;
}
