//! Access to the memory of peers.

#![expect(unsafe_code, reason = "reads and writes memory by C addresses")]

use crate::engine::{Core, ENDED, Engine, HANDLER};
use crate::error::Error;
use crate::lock::Guard;
use crate::segment::By;
use fi_provider::raw::completion::{Context, Failure};
use fi_provider::raw::endpoint::{Arithmetic, Datatype, RemoteRegion, Typed, Word};
use fi_provider::raw::error as raw;
use fi_shm::{copy, order};
use std::sync::atomic::{AtomicU64, Ordering};

/// The word or function by which an operation tells of its end, where it is not complete on return:
/// C's `uint64_t *done`.
#[derive(Clone, Copy, Debug)]
pub struct Done(pub(crate) u64);

/// A function that an operation calls at its end (`farreach_am_completion_t`).
#[repr(C)]
#[derive(Debug)]
pub struct Completion {
    done: unsafe extern "C" fn(*mut Completion),
}

impl Done {
    /// Adds 1 to the word. With the lowest bit set, the rest is the address of a [`Completion`]
    /// whose function is called, in a turn of the engine.
    ///
    /// # Safety
    /// The word, or the completion, stays where it is until the end of the operation; the function
    /// calls nothing of the engine.
    pub unsafe fn new(word: *mut u64) -> Self {
        Self(word.expose_provenance() as u64)
    }

    /// Tells of the end.
    #[inline(always)]
    fn tell(self) {
        let address = self.0 as usize;
        if address & 1 != 0 {
            let completion = std::ptr::with_exposed_provenance_mut::<Completion>(address & !1);
            // SAFETY: the completion is there (the requirement of `new`).
            return unsafe { ((*completion).done)(completion) };
        }
        let word: *mut u64 = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: the word is there (the requirement of `new`); threads that look at it do so by
        // atomic loads.
        let word = unsafe { AtomicU64::from_ptr(word) };
        // ORDERING: behind the bytes of the operation; pairs with the program's acquire load.
        word.fetch_add(1, Ordering::Release);
    }
}

/// Time at which an operation is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// On return.
    Now,
    /// When the word says so.
    Later,
}

/// Time at which the source of a put may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// On return.
    Reused,
    /// When the operation is complete.
    Kept,
}

/// An operation of this process that has failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed(pub(crate) raw::Error);

/// An atomic operation on an element of a peer's memory.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// The operation.
    pub operation: Arithmetic,
    /// The type of the element.
    pub datatype: Datatype,
    /// The operand, in the lower bytes.
    pub operand: u64,
    /// The comparand of [`Arithmetic::SwapIfEqual`].
    pub comparand: u64,
    /// Takes the value before, of the type's size, if it is not null.
    pub result: *mut u8,
}

/// Has the endpoint for accesses post to the region of process `$rank` that was accessed last, if
/// posts to it are in line ([`Regions::last_in_line`]): by an expression that looks up no region.
/// False where there is none, another thread has the turn, or a handler runs. In line, as a closure
/// of this size is not.
///
/// [`Regions::last_in_line`]: crate::segment::Regions::last_in_line
macro_rules! on_last_in_line {
    ($engine:expr, $by:expr, $rank:expr, |$endpoint:ident, $region:ident| $post:expr) => {{
        let engine = $engine;
        let core = &engine.core;
        if !engine.guard.try_lock() {
            return false;
        }
        // The functions of the endpoint know nothing of the table, which this thread alone uses.
        let is_posted = match core.regions.last_in_line($by, $rank) {
            Some($region) if !core.rest.has($crate::engine::HANDLER) => {
                let $endpoint = &core.replies;
                $post
            }
            _ => false,
        };
        // Locked above.
        engine.guard.unlock();
        is_posted
    }};
}
pub(crate) use on_last_in_line;

impl<G: Guard> Engine<G> {
    /// Writes bytes to a peer's memory. A put that is complete is visible there.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Argument`], [`Error::Peer`]; [`Error::NotNow`] in a handler.
    ///
    /// # Safety
    /// `from` holds the bytes, until the put is complete if the source is kept.
    #[inline]
    pub unsafe fn put(
        &self,
        rank: u32,
        to: u64,
        (from, bytes): (*const u8, usize),
        source: Source,
        done: Done,
    ) -> Result<Ended, Error> {
        // SAFETY: `from` holds the bytes as long as `put` wants them.
        unsafe { self.put_or_try::<false>(rank, to, (from, bytes), source, done) }
    }

    /// Writes bytes as [`Engine::put`] does where that can be started at once. A source that is
    /// reused and is longer than a medium payload is waited for, once its write has been started.
    ///
    /// # Errors
    /// As [`Engine::put`]; [`Error::WouldWait`] where nothing has been done.
    ///
    /// # Safety
    /// As [`Engine::put`].
    #[inline]
    pub unsafe fn try_put(
        &self,
        rank: u32,
        to: u64,
        (from, bytes): (*const u8, usize),
        source: Source,
        done: Done,
    ) -> Result<Ended, Error> {
        // SAFETY: `from` holds the bytes as long as `put` wants them.
        unsafe { self.put_or_try::<true>(rank, to, (from, bytes), source, done) }
    }

    /// # Safety
    /// As [`Engine::put`].
    #[inline(always)]
    unsafe fn put_or_try<const TRIES: bool>(
        &self,
        rank: u32,
        to: u64,
        (from, bytes): (*const u8, usize),
        source: Source,
        done: Done,
    ) -> Result<Ended, Error> {
        // SAFETY: `from` holds the bytes.
        if unsafe { self.core.put_now(rank, to, from, bytes) } {
            return Ok(Ended::Now);
        }
        let _turn = self.turn_of::<TRIES>()?;
        // SAFETY: `from` holds the bytes as long as `put` wants them.
        unsafe { self.put_later::<TRIES>(rank, to, (from, bytes), source, done) }
    }

    /// Starts a put of a few bytes, which may be changed on return, to memory that is not mapped
    /// here: by few instructions. Returns false where that is not possible, and has done nothing.
    ///
    /// # Safety
    /// `from` holds the bytes.
    #[inline(always)]
    pub unsafe fn put_beyond_now(
        &self,
        rank: u32,
        to: u64,
        (from, bytes): (*const u8, usize),
        done: Done,
    ) -> bool {
        let core = &self.core;
        if !self.guard.try_lock() {
            return false;
        }
        let is_posted = match core.regions.last(By::Any, rank, (to, bytes)) {
            Some(region) if !core.rest.has(HANDLER) => {
                let report = Context(done.0);
                // SAFETY: `from` holds the bytes.
                unsafe { (core.replies).write_beyond_now(&region, to, from, bytes, report) }
            }
            _ => false,
        };
        if is_posted {
            core.rest.set(ENDED, true);
        }
        // SAFETY: locked above.
        unsafe { self.guard.unlock() };
        is_posted
    }

    /// Starts a put of 8 bytes, which may be changed on return, over the device to the region of
    /// the peer that was accessed last. Returns false where that is not possible at once, and has
    /// done nothing. Calls nothing.
    ///
    /// # Safety
    /// `rank` is that of a process of the job, and `from` holds the bytes.
    #[inline(always)]
    pub unsafe fn put_word_now(&self, rank: usize, to: u64, from: *const u8, done: Done) -> bool {
        // The device's progress tells of its end: ENDED need not be set.
        let report = Context(done.0);
        // SAFETY: the rank is one of the job's; `from` holds the bytes, and posts to the region are
        // in line.
        unsafe {
            on_last_in_line!(self, By::Any, rank, |endpoint, region| {
                endpoint.write_word_resolved(region, to, from, report)
            })
        }
    }

    /// Starts a get of 8 bytes as [`Engine::put_word_now`] starts a put.
    ///
    /// # Safety
    /// `rank` is that of a process of the job; `to` has room for the bytes, and is nobody else's
    /// until the get is complete.
    #[inline(always)]
    pub unsafe fn get_word_now(&self, rank: usize, to: *mut u8, from: u64, done: Done) -> bool {
        // As for a put, ENDED need not be set.
        let report = Context(done.0);
        // SAFETY: the rank is one of the job's; `to` has room for the bytes until the end is told,
        // and posts to the region are in line.
        unsafe {
            on_last_in_line!(self, By::Any, rank, |endpoint, region| {
                endpoint.read_word_in_line(region, from, to, report)
            })
        }
    }

    /// Sees to it that [`Engine::put_word_now`] and [`Engine::get_word_now`] find room again, if
    /// one of them declined for that. Returns false where it would do so again.
    ///
    /// # Safety
    /// `rank` is that of a process of the job.
    #[inline(always)]
    pub unsafe fn widen_words(&self, rank: usize) -> bool {
        // SAFETY: the rank is one of the job's.
        unsafe { self.widen_posts(By::Any, rank) }
    }

    /// Sees to it that posts in line to a process find room again.
    ///
    /// # Safety
    /// `rank` is that of a process of the job.
    #[inline(always)]
    pub(crate) unsafe fn widen_posts(&self, by: By, rank: usize) -> bool {
        // SAFETY: the rank is one of the job's.
        unsafe {
            // The report makes no difference here.
            on_last_in_line!(self, by, rank, |endpoint, region| {
                endpoint.widen(region, Context(0))
            })
        }
    }

    /// Reads bytes of a peer's memory.
    ///
    /// # Errors
    /// As [`Engine::put`].
    ///
    /// # Safety
    /// `to` has room for the bytes, and is nobody else's until the get is complete.
    #[inline]
    pub unsafe fn get(
        &self,
        rank: u32,
        (to, bytes): (*mut u8, usize),
        from: u64,
        done: Done,
    ) -> Result<Ended, Error> {
        // SAFETY: `to` has room for the bytes until the end is told.
        unsafe { self.get_or_try::<false>(rank, (to, bytes), from, done) }
    }

    /// Reads bytes as [`Engine::get`] does where that can be started at once.
    ///
    /// # Errors
    /// As [`Engine::put`]; [`Error::WouldWait`] where nothing has been done.
    ///
    /// # Safety
    /// As [`Engine::get`].
    #[inline]
    pub unsafe fn try_get(
        &self,
        rank: u32,
        (to, bytes): (*mut u8, usize),
        from: u64,
        done: Done,
    ) -> Result<Ended, Error> {
        // SAFETY: `to` has room for the bytes until the end is told.
        unsafe { self.get_or_try::<true>(rank, (to, bytes), from, done) }
    }

    /// # Safety
    /// As [`Engine::get`].
    #[inline(always)]
    unsafe fn get_or_try<const TRIES: bool>(
        &self,
        rank: u32,
        (to, bytes): (*mut u8, usize),
        from: u64,
        done: Done,
    ) -> Result<Ended, Error> {
        // SAFETY: `to` has room for the bytes.
        if unsafe { self.core.get_now(rank, to, from, bytes) } {
            return Ok(Ended::Now);
        }
        let _turn = self.turn_of::<TRIES>()?;
        let range = (from, bytes);
        self.access::<TRIES>(By::Any, rank, range, |region, core| {
            // SAFETY: `to` has room for the bytes until the end is told.
            unsafe { core.replies.read(region, from, to, bytes, Context(done.0)) }
        })
    }

    /// Does an atomic operation on an element of a peer's memory, aligned to its size. Elements are
    /// atomic to operations of this kind.
    ///
    /// # Errors
    /// As [`Engine::put`]; [`Error::Unsupported`] where it is not done on this type.
    ///
    /// # Safety
    /// The result has room for an element, and is nobody else's until the operation is complete.
    pub unsafe fn atomic(
        &self,
        rank: u32,
        to: u64,
        atomic: &Atomic,
        done: Done,
    ) -> Result<Ended, Error> {
        // SAFETY: the result has room for an element until the end is told, or is null.
        unsafe { self.atomic_or_try::<false>(rank, to, atomic, done) }
    }

    /// Does an atomic operation as [`Engine::atomic`] does where that can be started at once.
    ///
    /// # Errors
    /// As [`Engine::atomic`]; [`Error::WouldWait`] where nothing has been done.
    ///
    /// # Safety
    /// As [`Engine::atomic`].
    pub unsafe fn try_atomic(
        &self,
        rank: u32,
        to: u64,
        atomic: &Atomic,
        done: Done,
    ) -> Result<Ended, Error> {
        // SAFETY: the result has room for an element until the end is told, or is null.
        unsafe { self.atomic_or_try::<true>(rank, to, atomic, done) }
    }

    /// # Safety
    /// As [`Engine::atomic`].
    #[inline(always)]
    unsafe fn atomic_or_try<const TRIES: bool>(
        &self,
        rank: u32,
        to: u64,
        atomic: &Atomic,
        done: Done,
    ) -> Result<Ended, Error> {
        let Atomic {
            operation,
            datatype,
            operand,
            comparand,
            result,
        } = *atomic;
        let Some(typed) = Typed::new(operation, datatype) else {
            return Err(Error::Unsupported);
        };
        // SAFETY: the result has room for an element, or is null.
        if unsafe { self.core.atomic_now(rank, to, typed, atomic) } {
            return Ok(Ended::Now);
        }
        let _turn = self.turn_of::<TRIES>()?;
        let range = (to, datatype.bytes());
        self.access::<TRIES>(By::Any, rank, range, |region, core| {
            let word = Word {
                region,
                address: to,
                operand,
                comparand,
                found: result,
            };
            // SAFETY: the result has room for an element until the end is told, or is null.
            unsafe { core.replies.update(&[word], typed, Context(done.0)) }
        })
    }
}

/// Starting operations, in turns.
impl<G: Guard> Engine<G> {
    /// Starts an operation on a peer's memory in a turn, and waits for room if need be and not with
    /// `TRIES`.
    #[inline(always)]
    pub(crate) fn access<const TRIES: bool>(
        &self,
        by: By,
        rank: u32,
        range: (u64, usize),
        mut start: impl FnMut(&RemoteRegion, &Core) -> Result<(), raw::Error>,
    ) -> Result<Ended, Error> {
        let core = &self.core;
        core.check_rank(rank)?;
        core.rest.set(ENDED, true);
        self.insist_or_try::<_, TRIES>(rank, || {
            (core.regions).with(core, by, rank, range, |region| start(region, core))
        })?;
        Ok(Ended::Later)
    }

    /// Starts a put in a turn.
    ///
    /// # Safety
    /// As [`Engine::put`].
    unsafe fn put_later<const TRIES: bool>(
        &self,
        rank: u32,
        to: u64,
        (from, bytes): (*const u8, usize),
        source: Source,
        done: Done,
    ) -> Result<Ended, Error> {
        if source == Source::Reused && bytes > self.core.most_medium {
            // SAFETY: `from` holds the bytes during the call.
            let source = unsafe { std::slice::from_raw_parts(from, bytes) };
            let written = self.write_now::<TRIES>(rank, source, to);
            return written.map(|()| Ended::Now);
        }
        self.access::<TRIES>(By::Any, rank, (to, bytes), |region, core| {
            let report = Context(done.0);
            // SAFETY: `from` holds the bytes during the call, in which they are taken over if the
            // source is reused, and otherwise until the end is told.
            unsafe {
                if source == Source::Reused {
                    let bytes = std::slice::from_raw_parts(from, bytes);
                    return core.replies.inject_write(region, to, bytes, report);
                }
                core.replies.write(region, to, from, bytes, report)
            }
        })
    }

    /// Writes bytes to a peer's memory, and waits until they are there; with `TRIES` where the
    /// write can be started at once.
    pub(crate) fn write_now<const TRIES: bool>(
        &self,
        rank: u32,
        bytes: &[u8],
        to: u64,
    ) -> Result<(), Error> {
        let count = AtomicU64::new(0);
        // SAFETY: the word stays until it is counted, below.
        let done = unsafe { Done::new(count.as_ptr()) };
        self.access::<TRIES>(By::Any, rank, (to, bytes.len()), |region, core| {
            let (from, len) = (bytes.as_ptr(), bytes.len());
            // SAFETY: the slice holds the bytes until the end is counted.
            unsafe { core.replies.write(region, to, from, len, Context(done.0)) }
        })?;
        // ORDERING: behind the end of the operation, of which any thread may tell in its turn.
        self.insist(rank, || match count.load(Ordering::Acquire) {
            0 => Err(raw::Error::Again),
            _ => Ok(()),
        })?;
        self.core.tell_failure()
    }
}

/// Operations on segments that are mapped here: false where they are not, and nothing was done.
impl Core {
    /// Writes bytes as [`Engine::put`] does.
    ///
    /// # Safety
    /// `from` holds the bytes.
    #[inline(always)]
    pub unsafe fn put_now(&self, rank: u32, to: u64, from: *const u8, bytes: usize) -> bool {
        let place = self.mapped(rank, to, bytes);
        if let Some(place) = place {
            // SAFETY: the bytes lie in a segment that is mapped here; `from` holds them.
            unsafe { copy::copy(place, from, bytes) };
        }
        place.is_some()
    }

    /// Reads bytes as [`Engine::get`] does.
    ///
    /// # Safety
    /// `to` has room for the bytes.
    #[inline(always)]
    pub unsafe fn get_now(&self, rank: u32, to: *mut u8, from: u64, bytes: usize) -> bool {
        let place = self.mapped(rank, from, bytes);
        if let Some(place) = place {
            // SAFETY: the bytes lie in a segment that is mapped here; `to` has room for them.
            unsafe { copy::copy(to, place, bytes) };
            order::loads();
        }
        place.is_some()
    }

    /// Does an operation as [`Engine::atomic`] does.
    ///
    /// # Safety
    /// The result has room for an element, or is null.
    #[inline(always)]
    unsafe fn atomic_now(&self, rank: u32, to: u64, typed: Typed, atomic: &Atomic) -> bool {
        let Some(place) = self.mapped(rank, to, typed.bytes()) else {
            return false;
        };
        // SAFETY: the element lies in a segment that is mapped here, which all may write.
        let Ok(found) = (unsafe { typed.apply(place, atomic.operand, atomic.comparand) }) else {
            return false;
        };
        if !atomic.result.is_null() {
            let bytes = found.to_ne_bytes();
            // SAFETY: the result has room for an element. Its bytes are the lower ones.
            unsafe { copy::copy(atomic.result, bytes.as_ptr(), typed.bytes()) };
        }
        true
    }
}

impl Core {
    /// Returns the address of bytes of a segment that is mapped here.
    #[inline(always)]
    fn mapped(&self, rank: u32, start: u64, bytes: usize) -> Option<*mut u8> {
        let segment = self.segments.get()?.get(rank as usize)?;
        let offset = start.wrapping_sub(segment.start);
        let is_there = offset <= segment.near && bytes as u64 <= segment.near - offset;
        is_there.then(|| segment.mapped.wrapping_add(offset as usize))
    }

    /// Tells of the operations that have ended.
    #[inline(never)]
    pub(crate) fn take_ended(&self) {
        while let Some(ended) = self.ended.next() {
            let context = match ended {
                Ok(entry) => entry.context,
                Err(Failure { error, entry, .. }) => {
                    self.failed.set(Some(Failed(error)));
                    entry.context
                }
            };
            if context != 0 {
                Done(context).tell();
            }
        }
        // Of those that go by a device its progress tells.
        self.rest.set(ENDED, false);
    }

    /// Returns whether an operation has failed that was not told of.
    #[inline(always)]
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.get().is_some()
    }

    /// Tells, once, that an operation has failed.
    ///
    /// # Errors
    /// [`Error::Operation`].
    #[inline(always)]
    pub(crate) fn tell_failure(&self) -> Result<(), Error> {
        match self.failed.get() {
            None => Ok(()),
            Some(Failed(error)) => {
                self.failed.set(None);
                Err(Error::Operation(error))
            }
        }
    }
}
