//! Nonblocking operations on owned buffers, which are futures.

#![expect(
    unsafe_code,
    reason = "starts operations on buffers that nobody has until quiet"
)]

use super::{Ctx, Element, Readable, Shared, Word};
use crate::{amo, order, rma};
use bytemuck::Pod;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A nonblocking operation, and the buffer that it works on: an `R`, which [`Op::wait`] and `.await`
/// give back when the operation is done.
///
/// It is a future for any executor that runs it on its own thread. There is no thread that makes
/// progress: a poll looks at the device once, and where the operation is not done it asks to be
/// polled again. A poll sees whether all operations of the context are done; so many are as soon
/// awaited as one.
///
/// Dropping an `Op` waits; forgetting one keeps the buffer for ever.
///
/// ```no_run
/// # async fn exchange() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let array = world.alloc::<u64>(100).expect("room");
/// let next = (world.my_pe() + 1) % world.n_pes();
/// let ctx = world.ctx();
/// let put = ctx.put_owned(&array, 0, vec![7; 50], next);
/// let ticket = ctx.fetch_add_nbi(&array, 99, 1, 0);
/// println!("ticket {}, and {} words are there", ticket.await, put.await.len());
/// # Ok(()) }
/// ```
#[must_use = "dropping it waits for the operation"]
pub struct Op<'c, R> {
    ctx: &'c Ctx<'c>,
    /// None when the buffer was given back.
    buffer: Option<Raw>,
    /// Makes the buffer of its parts again.
    make: unsafe fn(Raw) -> R,
    result: PhantomData<R>,
}

/// A buffer's parts: no reference to it and no owner is there while the device uses it.
#[derive(Clone, Copy)]
struct Raw {
    start: *mut u8,
    len: usize,
    capacity: usize,
}

impl Raw {
    fn of_vec<T>(vec: Vec<T>) -> Self {
        let mut vec = ManuallyDrop::new(vec);
        Self {
            start: vec.as_mut_ptr().cast(),
            len: vec.len(),
            capacity: vec.capacity(),
        }
    }

    fn of_value<T>(value: T) -> Self {
        Self {
            start: Box::into_raw(Box::new(value)).cast(),
            len: 1,
            capacity: 1,
        }
    }
}

/// # Safety
/// The parts are those of a vector of `T`, from [`Raw::of_vec`], taken once.
unsafe fn make_vec<T>(raw: Raw) -> Vec<T> {
    // SAFETY: the parts are those of a vector of `T`, which is nobody else's.
    unsafe { Vec::from_raw_parts(raw.start.cast(), raw.len, raw.capacity) }
}

/// # Safety
/// The parts are those of a box of a `T`, from [`Raw::of_value`], taken once.
unsafe fn make_value<T>(raw: Raw) -> T {
    // SAFETY: the parts are those of a box of a `T`, which is nobody else's.
    unsafe { *Box::from_raw(raw.start.cast::<T>()) }
}

// The buffer is on the heap.
impl<R> Unpin for Op<'_, R> {}

impl<R> Op<'_, R> {
    /// Waits until the operation is done, and returns its buffer.
    pub fn wait(mut self) -> R {
        let raw = self.buffer.take();
        self.finish(raw.expect("an operation that was not waited for"))
    }

    /// Waits, and makes the buffer again, which was taken from the field.
    fn finish(&self, raw: Raw) -> R {
        self.ctx.quiet();
        // SAFETY: `make` is that of the kind of buffer, as the operations below put them together;
        // the buffer was taken from its field, which happens once; the context is quiet, so that
        // nothing uses it.
        unsafe { (self.make)(raw) }
    }
}

impl<R> Future for Op<'_, R> {
    type Output = R;

    /// Looks at the device once.
    ///
    /// # Panics
    /// If the operation was awaited before.
    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<R> {
        assert!(self.buffer.is_some(), "an operation is awaited once");
        // SAFETY: the rules of threads: this one has the context.
        if !unsafe { order::try_quiet(self.ctx.context, &"Op::poll") } {
            task.waker().wake_by_ref();
            return Poll::Pending;
        }
        match self.buffer.take() {
            Some(raw) => Poll::Ready(self.finish(raw)),
            None => Poll::Pending,
        }
    }
}

impl<R> Drop for Op<'_, R> {
    fn drop(&mut self) {
        if let Some(raw) = self.buffer.take() {
            drop(self.finish(raw));
        }
    }
}

impl<R> fmt::Debug for Op<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Op").finish_non_exhaustive()
    }
}

impl Ctx<'_> {
    /// Makes the operation on a buffer; `make` is for its kind.
    fn op<R>(&self, raw: Raw, make: unsafe fn(Raw) -> R) -> Op<'_, R> {
        Op {
            ctx: self,
            buffer: Some(raw),
            make,
            result: PhantomData,
        }
    }

    /// Starts to write `source` to the elements from `index` on, on `pe` (9.6.2.1).
    ///
    /// # Panics
    /// If the elements or `pe` are out of range.
    #[track_caller]
    pub fn put_owned<T: Pod>(
        &self,
        dest: &Shared<'_, T>,
        index: usize,
        source: Vec<T>,
        pe: usize,
    ) -> Op<'_, Vec<T>> {
        let to = dest.place.at(index, source.len());
        let pe = self.number(pe);
        let op = self.op(Raw::of_vec(source), make_vec);
        let Some(raw) = op.buffer else { return op };
        let from = raw.start.cast::<T>();
        let at = &"Ctx::put_owned";
        // SAFETY: the array is shared on all PEs, at this place, and holds the elements until all
        // contexts are quiet, whatever becomes of it; the source is apart from it, and nobody's
        // until `finish` has quieted the context. The rules of threads: this one has the context.
        unsafe { rma::put_nbi(self.context, at, to, from, raw.len, pe) };
        op
    }

    /// Starts to read elements from `index` on, on `pe`, as many as `dest` has, which are there in
    /// the end (9.6.2.2).
    ///
    /// # Panics
    /// If the elements or `pe` are out of range.
    #[track_caller]
    pub fn get_owned<T: Pod>(
        &self,
        dest: Vec<T>,
        source: &impl Readable<T>,
        index: usize,
        pe: usize,
    ) -> Op<'_, Vec<T>> {
        let from = source.place().at(index, dest.len());
        let pe = self.number(pe);
        let op = self.op(Raw::of_vec(dest), make_vec);
        let Some(raw) = op.buffer else { return op };
        let to = raw.start.cast::<T>();
        let at = &"Ctx::get_owned";
        // SAFETY: the array is readable on all PEs, at this place, and holds the elements until all
        // contexts are quiet, whatever becomes of it; the destination is apart from it, and nobody's
        // until `finish` has quieted the context. The rules of threads: this one has the context.
        unsafe { rma::get_nbi(self.context, at, to, from, raw.len, pe) };
        op
    }
}

macro_rules! fetching {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*): $kind:ident;)*) => {
        impl Ctx<'_> {$(
            $(#[$doc])* ///
            /// # Panics
            /// If `index` or `pe` is out of range.
            #[track_caller]
            pub fn $name<T: $kind>(
                &self,
                array: &Shared<'_, T>,
                index: usize,
                $($arg: T,)*
                pe: usize,
            ) -> Op<'_, T> {
                let at = array.place.one(index);
                let pe = self.number(pe);
                let op = self.op(Raw::of_value(T::zeroed()), make_value);
                let Some(raw) = op.buffer else { return op };
                let found = raw.start.cast::<T>();
                let routine = &concat!("Ctx::", stringify!($name));
                // SAFETY: the array is shared on all PEs, at this place, and holds the element,
                // aligned, until all contexts are quiet; the value is apart from it, aligned, and
                // nobody's until `finish` has quieted the context. The rules of threads: this one
                // has the context.
                unsafe { amo::$name(self.context, routine, found, at, $($arg,)* pe) };
                op
            }
        )*}
    };
}

fetching! {
    /// Starts to read the element on `pe` atomically (9.7.2.1).
    fetch_nbi(): Word;
    /// Starts to write `value` to the element on `pe`; gives the old value (9.7.2.3).
    swap_nbi(value): Word;
    /// Starts to write `value` where `cond` stands; gives the old value (9.7.2.2).
    compare_swap_nbi(cond, value): Element;
    /// Starts to add 1; gives the old value (9.7.2.4).
    fetch_inc_nbi(): Element;
    /// Starts to add `value`; gives the old value (9.7.2.5).
    fetch_add_nbi(value): Element;
    /// Starts a bitwise and; gives the old value (9.7.2.6).
    fetch_and_nbi(value): Element;
    /// Starts a bitwise or; gives the old value (9.7.2.7).
    fetch_or_nbi(value): Element;
    /// Starts a bitwise exclusive or; gives the old value (9.7.2.8).
    fetch_xor_nbi(value): Element;
}
