//! Messages that come: each is checked, and its handler called where it lies; and replies that wait
//! for room.

#![expect(
    unsafe_code,
    reason = "reads messages in memory that peers share, and calls handlers of C"
)]

use crate::engine::{BACKLOG, CLOSING, Core, HANDLER};
use crate::message::{Category, Message};
use crate::segment::By;
use crate::send::Parts;
use crate::wire::Header;
use fi_provider::raw::completion::Context;
use fi_provider::raw::endpoint::Lying;
use fi_provider::raw::error as raw;
use fi_shm::copy;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Whether a message may be replied to: the engine's part of [`Message`].
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Reply {
    /// It is a request, and no reply was sent.
    /// A whole word, so that the message is made by stores alone.
    is_due: Cell<u64>,
    rest: MaybeUninit<[u64; 3]>,
}

/// Takes a request.
///
/// # Safety
/// `core` is the engine of the endpoint that the message came to, and this its turn.
pub(crate) unsafe fn take_request(core: *const (), source: Option<u32>, lying: Lying) -> bool {
    // SAFETY: the engine is there, as its endpoint is.
    let core = unsafe { &*core.cast::<Core>() };
    core.take::<false>(source, lying)
}

/// Takes a reply.
///
/// # Safety
/// As [`take_request`].
pub(crate) unsafe fn take_reply(core: *const (), source: Option<u32>, lying: Lying) -> bool {
    // SAFETY: the engine is there, as its endpoint is.
    let core = unsafe { &*core.cast::<Core>() };
    core.take::<true>(source, lying)
}

/// A payload in this process.
type Payload = (*mut u8, usize);

impl Core {
    /// Handles a message; false where it has to wait. Mostly it is a short one, and
    /// [`Core::work`] has the endpoints look: then the call of the handler is all that is to be done.
    #[inline(always)]
    fn take<const IS_REPLY: bool>(&self, source: Option<u32>, lying: Lying) -> bool {
        if let Some(source) = source
            && self.rest.runs_without(Self::against(IS_REPLY))
            && let Some((header, args)) = short(lying)
            && let (Some(handler), context) = self.handlers.get(header.handler)
        {
            let payload = (std::ptr::null_mut(), 0);
            let mut message = self.message((source, IS_REPLY), header, args, payload, context);
            // SAFETY: the handler may be called with a message of this context (the requirement of
            // `Engine::register`).
            unsafe { handler(&raw mut message) };
            return true;
        }
        self.take_otherwise::<IS_REPLY>(source, lying)
    }

    /// Returns the things against which a message is not handled at once.
    const fn against(is_reply: bool) -> u8 {
        if is_reply { CLOSING } else { CLOSING | BACKLOG }
    }

    /// Handles a message of any kind; false where it has to wait. Drops those that come when the
    /// engine is closed.
    #[inline(never)]
    fn take_otherwise<const IS_REPLY: bool>(&self, source: Option<u32>, lying: Lying) -> bool {
        let Some(source) = source else {
            return true;
        };
        if self.rest.has(Self::against(IS_REPLY)) {
            if self.rest.has(CLOSING) {
                return true;
            }
            if self.backlog.is_of(source) {
                return false;
            }
        }
        let Some((header, args, payload)) = self.split(lying) else {
            self.end_job(format_args!("a message of rank {source} makes no sense"));
        };
        let place = if IS_REPLY { At::Replies } else { At::Requests };
        // SAFETY: there are as many arguments, and the payload is the message's or in memory of
        // this process that peers may write.
        unsafe { self.handle((source, IS_REPLY, place), header, args, payload) };
        true
    }

    /// Finds header, arguments and payload of a message, all where they lie; stores a payload that
    /// is to be stored.
    #[inline(always)]
    fn split(&self, lying: Lying) -> Option<(Header, *const u32, Payload)> {
        let Lying { bytes, len } = lying;
        let header = Header::of_word(word(lying, 0)?)?;
        let args_at = if header.category == Category::Long {
            16
        } else {
            8
        };
        let (args, at) = behind(lying, args_at, header)?;
        let carried = (bytes.wrapping_add(at), len.saturating_sub(at));
        let payload = match header.category {
            Category::Short => (std::ptr::null_mut(), 0),
            Category::Medium => carried,
            Category::Long => self.stored(header, word(lying, 8)?, carried)?,
        };
        Some((header, args, payload))
    }

    /// Returns the payload of a long message, at `to`; stores it there if it has come with the
    /// message.
    fn stored(&self, header: Header, to: u64, carried: Payload) -> Option<Payload> {
        let place = std::ptr::with_exposed_provenance_mut(to as usize);
        if !header.is_carried {
            return Some((place, header.bytes as usize));
        }
        let (bytes, len) = carried;
        if !self.regions.has(to, len as u64) {
            return None;
        }
        // SAFETY: the bytes at `to` lie in memory that peers may write; the payload is the
        // message's.
        unsafe { copy::copy(place, bytes, len) };
        Some((place, len))
    }

    /// Calls the handler of a message, from whose place in the endpoints `at` is: one in which
    /// no handler runs yet, or in another handler.
    ///
    /// # Safety
    /// `args` has as many as the header says; `payload` is memory for the handler.
    #[inline(always)]
    pub(crate) unsafe fn handle(
        &self,
        (source, is_reply, at): (u32, bool, At),
        header: Header,
        args: *const u32,
        payload: Payload,
    ) {
        let (handler, context) = self.handlers.get(header.handler);
        let Some(handler) = handler else {
            let handler = header.handler;
            self.end_job(format_args!(
                "a message of rank {source} names handler {handler}, which is not registered"
            ));
        };
        let mut message = self.message((source, is_reply), header, args, payload, context);
        let is_nested = self.running.is_any();
        if !is_nested {
            self.begin_handlers(at);
        }
        // SAFETY: the handler may be called with a message of this context (the requirement of
        // `Engine::register`).
        unsafe { handler(&raw mut message) };
        if !is_nested {
            self.end_handlers();
        }
    }

    /// Makes a message for its handler.
    #[inline(always)]
    fn message(
        &self,
        (source, is_reply): (u32, bool),
        header: Header,
        args: *const u32,
        payload: Payload,
        context: *mut c_void,
    ) -> Message {
        Message {
            engine: std::ptr::from_ref(self).cast(),
            context,
            payload: payload.0.cast::<c_void>(),
            bytes: payload.1,
            args,
            source,
            handler: header.handler,
            category: header.category as u8,
            nargs: header.args,
            is_reply: is_reply.into(),
            reply: Reply {
                is_due: Cell::new(u64::from(!is_reply)),
                rest: MaybeUninit::uninit(),
            },
        }
    }

    /// Notes that handlers run from here on, on this thread.
    #[inline(always)]
    pub(crate) fn begin_handlers(&self, at: At) {
        self.running.begin(at);
        self.rest.set(HANDLER, true);
    }

    #[inline(always)]
    pub(crate) fn end_handlers(&self) {
        self.running.end();
        self.rest.set(HANDLER, false);
    }

    /// Sends the replies that wait, as there is room.
    #[cold]
    pub(crate) fn push_backlog(&self) {
        let mut is_any = false;
        for (rank, waiting) in (0..).zip(self.backlog.0.borrow_mut().iter_mut()) {
            while let Some(first) = waiting.front_mut() {
                if !self.push(rank, first) {
                    is_any = true;
                    break;
                }
                waiting.pop_front();
            }
        }
        self.rest.set(BACKLOG, is_any);
    }

    /// Goes on with a reply; whether it is sent, or lost with its receiver.
    fn push(&self, rank: u32, waiting: &mut Waiting) -> bool {
        if let Some(long) = &mut waiting.payload
            && !self.write(rank, long)
        {
            return false;
        }
        let words = &waiting.words;
        // SAFETY: the words hold so many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), waiting.len) };
        self.replies.inject(rank, bytes) != Err(raw::Error::Again)
    }

    /// Goes on with writing the payload of a long reply; whether it is there, or never will be.
    fn write(&self, rank: u32, long: &mut Far) -> bool {
        if !long.is_posted {
            let (bytes, len) = (long.bytes.as_ptr(), long.bytes.len());
            let report = Context(std::ptr::from_ref(&*long.done).addr() as u64);
            let posted = self
                .regions
                .with(self, By::Any, rank, (long.to, len), |region| {
                    // SAFETY: the bytes stay until the end is counted, or the endpoint is dropped,
                    // which is before the backlog.
                    unsafe { self.replies.write(region, long.to, bytes, len, report) }
                });
            match posted {
                Ok(()) => long.is_posted = true,
                Err(raw::Error::Again) => return false,
                Err(_) => return true,
            }
        }
        // ORDERING: this thread counts, in `take_ended`.
        long.done.load(Ordering::Relaxed) != 0
    }
}

/// Returns header and arguments of a short message, where they lie; none for other messages.
#[inline(always)]
fn short(lying: Lying) -> Option<(Header, *const u32)> {
    let first = word(lying, 0)?;
    let header = Header::of_short_word(first)?;
    let bytes = Header::short_args_bytes(first);
    // They lie behind a word, and both together in a multiple of 8 bytes.
    let args = lying.bytes.wrapping_add(8).cast_const().cast();
    (bytes < lying.len).then_some((header, args))
}

/// Returns the arguments of a message, at a multiple of 8 bytes, and the place behind them.
#[inline(always)]
fn behind(lying: Lying, args_at: usize, header: Header) -> Option<(*const u32, usize)> {
    let at = args_at + usize::from(header.args).next_multiple_of(2) * size_of::<u32>();
    let args = lying.bytes.wrapping_add(args_at).cast_const().cast();
    (at <= lying.len.next_multiple_of(8)).then_some((args, at))
}

/// Returns the word at a multiple of 8 bytes.
#[inline(always)]
fn word(lying: Lying, at: usize) -> Option<u64> {
    if at >= lying.len {
        return None;
    }
    // SAFETY: the message begins aligned, and is readable up to the next multiple of 8. Volatile,
    // as the sender may still change it.
    Some(unsafe { lying.bytes.wrapping_add(at).cast::<u64>().read_volatile() })
}

impl Message {
    /// Returns the engine, where the message may be replied to: it is a request, and was not.
    #[inline(always)]
    pub(crate) fn due(&self) -> Option<&Core> {
        // SAFETY: the engine has made the message, and is there during the handler.
        (self.reply.is_due.get() != 0).then(|| unsafe { self.core() })
    }

    #[inline(always)]
    pub(crate) fn note_reply(&self) {
        self.reply.is_due.set(0);
    }

    /// Returns the engine.
    ///
    /// # Safety
    /// The engine has made the message, whose handler runs.
    #[inline(always)]
    pub(crate) unsafe fn core(&self) -> &Core {
        // SAFETY: the engine is there during the handler.
        unsafe { &*self.engine.cast::<Core>() }
    }
}

/// Place in which a handler runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum At {
    /// In no endpoint's progress: sender and receiver are one.
    #[default]
    Own,
    Requests,
    Replies,
}

/// The handlers that are running, one in another, or the progress that may call them.
#[derive(Debug, Default)]
pub(crate) struct Running {
    /// The thread that runs them, or 0.
    thread: AtomicUsize,
    at: Cell<At>,
    /// Endpoints in whose progress a handler was left for ever.
    left: Cell<[bool; 2]>,
}

impl Running {
    /// Returns whether they run on this thread.
    #[inline(always)]
    pub(crate) fn is_here(&self) -> bool {
        // ORDERING: a thread finds its own store.
        let thread = self.thread.load(Ordering::Relaxed);
        thread != 0 && is_this(thread)
    }

    /// Returns whether they run, where they could on this thread alone.
    #[inline(always)]
    fn is_any(&self) -> bool {
        // ORDERING: as in `is_here`.
        self.thread.load(Ordering::Relaxed) != 0
    }

    /// Notes that they begin, in this place.
    #[inline(always)]
    fn begin(&self, at: At) {
        self.go_on(at);
        // ORDERING: as in `is_here`.
        self.thread.store(this_thread(), Ordering::Relaxed);
    }

    /// Notes that handlers are called in this place from here on.
    #[inline(always)]
    pub(crate) fn go_on(&self, at: At) {
        self.at.set(at);
    }

    #[inline(always)]
    fn end(&self) {
        // ORDERING: as in `is_here`.
        self.thread.store(0, Ordering::Relaxed);
    }

    /// Leaves the handler of this thread for ever; false where there is none.
    pub(crate) fn abandon(&self) -> bool {
        if !self.is_here() {
            return false;
        }
        let [requests, replies] = self.left.get();
        let at = self.at.get();
        (self.left).set([requests || at == At::Requests, replies || at == At::Replies]);
        self.end();
        true
    }

    /// Returns whether the endpoint's progress was never left for ever.
    #[inline(always)]
    pub(crate) fn may_progress(&self, is_replies: bool) -> bool {
        !self.left.get()[usize::from(is_replies)]
    }
}

#[cold]
#[inline(never)]
fn is_this(thread: usize) -> bool {
    thread == this_thread()
}

/// Returns a number that no other thread has.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn this_thread() -> usize {
    let pointer: usize;
    // SAFETY: loads the thread pointer, which lies at its own address (System V ABI, AMD64, 3.4.6).
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(pure, readonly, nostack, preserves_flags));
    }
    pointer
}

/// Returns a number that no other thread has.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// Replies that wait for room: of each peer mostly one.
#[derive(Debug)]
pub(crate) struct Backlog(RefCell<Vec<VecDeque<Waiting>>>);

/// A reply that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    words: Box<[u64]>,
    len: usize,
    /// A long payload, which is written before.
    payload: Option<Far>,
}

#[derive(Debug)]
struct Far {
    to: u64,
    bytes: Box<[u8]>,
    is_posted: bool,
    done: Box<AtomicU64>,
}

impl Waiting {
    /// Makes a reply as it travels.
    pub(crate) fn new(parts: &Parts<'_>) -> Self {
        let (words, len) = parts.joined();
        Self {
            words,
            len,
            payload: None,
        }
    }

    /// Makes a reply that travels behind the payload that is to be written to the peer's memory.
    pub(crate) fn behind(self, to: u64, payload: &[u8]) -> Self {
        let payload = Some(Far {
            to,
            bytes: payload.into(),
            is_posted: false,
            done: Box::default(),
        });
        Self { payload, ..self }
    }
}

impl Backlog {
    pub(crate) fn new(ranks: u32) -> Self {
        Self(RefCell::new((0..ranks).map(|_| VecDeque::new()).collect()))
    }

    /// Returns whether a reply to this peer waits.
    #[cold]
    pub(crate) fn is_of(&self, rank: u32) -> bool {
        (self.0.borrow().get(rank as usize)).is_some_and(|of| !of.is_empty())
    }
}

impl Core {
    /// Has a reply sent when there is room.
    #[cold]
    pub(crate) fn keep(&self, rank: u32, waiting: Waiting) {
        self.backlog.0.borrow_mut()[rank as usize].push_back(waiting);
        self.rest.set(BACKLOG, true);
    }
}
