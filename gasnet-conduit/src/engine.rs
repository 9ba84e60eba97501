//! The engine: opening, progress, waiting.

#![expect(
    unsafe_code,
    reason = "shares itself with C, and leads the endpoints' functions back to itself"
)]

use crate::arrive::{self, At, Backlog, Running};
use crate::config::Config;
use crate::device::DeviceDoes;
use crate::error::Error;
use crate::job;
use crate::later::Later;
use crate::lock::{Guard, Threads};
use crate::message::Handler;
use crate::remote::Failed;
use crate::segment::{Regions, Segment};
use crate::wire::{HANDLERS, MOST_WORDS};
use fi_job::Job;
use fi_provider::raw::address_vector::AddressVector;
use fi_provider::raw::completion::CompletionQueue;
use fi_provider::raw::domain::{self, Domain};
use fi_provider::raw::endpoint::{self, Endpoint, InPlace, Take};
use fi_shm::wait::{Patience, Waiter};
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Operations of this process that may be under way and want to be told of.
const MOST_OPERATIONS: usize = 1 << 13;

/// The engine of a process. C has it as `farreach_am_t`.
#[repr(C)]
#[derive(Debug)]
pub struct Engine<G: Guard> {
    pub(crate) core: Core,
    pub(crate) guard: G,
}

// Endpoints, regions and cells of the core, which has all handles to the fabric's objects, are used in a
// [`Turn`] alone, or in a handler within the turn of its thread. The rest is `Sync` of itself, but for
// the table of handlers, whose entry nobody reads while it is changed (`Core::register`).
// SAFETY: `Send` requires that uses by threads one after the other do not race: the lock orders turns.
unsafe impl Send for Engine<Threads> {}
// SAFETY: `Sync` requires the same, for uses at the same time: the lock keeps turns apart.
unsafe impl Sync for Engine<Threads> {}

/// All of an engine but its lock.
#[derive(Debug)]
pub struct Core {
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
    pub(crate) most_medium: usize,
    /// Takes requests. Dropped first, with `replies`: their functions lead here.
    pub(crate) requests: Endpoint,
    /// Takes replies, and accesses memory of peers.
    pub(crate) replies: Endpoint,
    /// Tells of the ends of operations.
    pub(crate) ended: CompletionQueue,
    pub(crate) rest: Rest,
    pub(crate) handlers: Handlers,
    pub(crate) running: Running,
    pub(crate) backlog: Backlog,
    pub(crate) later: Later,
    pub(crate) failed: Cell<Option<Failed>>,
    pub(crate) regions: Regions,
    pub(crate) segments: OnceLock<Box<[Segment]>>,
    /// By rank, whether memory of the process may be mapped here.
    pub(crate) near: Box<[bool]>,
    pub(crate) device_does: DeviceDoes,
    /// Whether the processes of the node share processors.
    are_crowded: bool,
    job: Mutex<Job>,
    pub(crate) domain: Domain,
}

/// The words by which few instructions tell that there is nothing to do.
#[derive(Debug)]
pub(crate) struct Rest {
    /// The word of requests; that of replies is [`Endpoint::REST_STEP`] behind it.
    bells: *const AtomicU64,
    busy: Cell<u8>,
    /// Byte in which the program looks for those of these things that are to be gone on with.
    shown: Cell<Option<NonNull<AtomicU8>>>,
}

/// Replies wait for room.
pub(crate) const BACKLOG: u8 = 1;
/// Operations on memory may have ended of which nobody was told.
pub(crate) const ENDED: u8 = 16;
/// A handler runs.
pub(crate) const HANDLER: u8 = 4;
/// The engine is being closed.
pub(crate) const CLOSING: u8 = 8;
/// A handler was left for ever.
const LEFT: u8 = 32;
/// Requests of handlers are to be sent.
pub(crate) const LATER: u8 = 64;

// So that one byte tells of these things and of a device alone: `Core::is_at_rest`.
const _: () = assert!((BACKLOG | ENDED | HANDLER | CLOSING | LEFT | LATER) & Endpoint::DEVICE == 0);

impl Rest {
    /// Makes the words of two endpoints, which were opened one after the other in a new domain.
    fn of(endpoints: [&Endpoint; 2]) -> Self {
        // In the domain's arena.
        let [bells, of_replies] = endpoints.map(|one| one.rest().0);
        assert!(of_replies == bells.wrapping_add(Endpoint::REST_STEP));
        Self {
            bells,
            busy: Cell::new(0),
            shown: Cell::new(None),
        }
    }

    /// Returns whether no ring has rung.
    #[inline(always)]
    fn is_silent(&self) -> bool {
        let (first, second) = (self.bells, self.bells.wrapping_add(Endpoint::REST_STEP));
        // SAFETY: the words are the endpoints', and beside them.
        // ORDERING: decides only whether to look.
        unsafe { (*first).load(Ordering::Relaxed) | (*second).load(Ordering::Relaxed) == 0 }
    }

    /// Returns whether there is one of these things.
    #[inline(always)]
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.get() != 0
    }

    /// Returns whether a handler runs, and there is none of these things.
    #[inline(always)]
    pub(crate) fn runs_without(&self, things: u8) -> bool {
        self.busy.get() & (HANDLER | things) == HANDLER
    }

    /// Returns whether there is this thing.
    #[inline(always)]
    pub(crate) fn has(&self, thing: u8) -> bool {
        self.busy.get() & thing != 0
    }

    #[inline(always)]
    pub(crate) fn set(&self, thing: u8, is_there: bool) {
        let others = self.busy.get() & !thing;
        self.busy
            .set(if is_there { others | thing } else { others });
        // The byte that calls in handlers look at is for the thread of the handlers alone.
        if thing != HANDLER {
            self.show();
        }
    }

    /// Shows the program the work that is there.
    #[inline(always)]
    fn show(&self) {
        if let Some(shown) = self.shown.get() {
            let things = self.busy.get() & !HANDLER;
            // SAFETY: the byte stays as long as the engine (the requirement of `Core::show`).
            // ORDERING: decides only whether the program calls for progress.
            unsafe { shown.as_ref() }.store(things, Ordering::Relaxed);
        }
    }
}

/// Keeps the compiler from making one of the ways that lead here and others.
#[inline(always)]
fn kept_apart() {
    // SAFETY: a comment of the assembler's.
    unsafe { std::arch::asm!("/* apart */", options(nomem, nostack, preserves_flags)) };
}

/// Returns the same bits, of which the compiler does not know that they were looked at before: so
/// the look before stays the first, and one instruction beside that which has brought them
/// together.
#[inline(always)]
fn asked_again(bits: u8) -> u8 {
    #[cfg(target_arch = "x86_64")]
    {
        let mut bits = bits;
        // SAFETY: a comment of the assembler's.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg_byte) bits, options(nomem, nostack, preserves_flags));
        }
        bits
    }
    #[cfg(not(target_arch = "x86_64"))]
    bits
}

/// The handlers, by their indices.
#[derive(Debug)]
pub(crate) struct Handlers([UnsafeCell<Registered>; HANDLERS]);

/// A handler and its context.
type Registered = (Option<Handler>, *mut c_void);

impl Handlers {
    fn new() -> Self {
        Self([const { UnsafeCell::new((None, std::ptr::null_mut())) }; HANDLERS])
    }

    #[inline(always)]
    pub(crate) fn get(&self, index: u8) -> Registered {
        // SAFETY: the caller of `Engine::register` promises that no entry that is read is changed.
        unsafe { *self.0[usize::from(index)].get() }
    }
}

/// A thread's turn at an engine.
#[derive(Debug)]
pub(crate) struct Turn<'a, G: Guard>(&'a Engine<G>);

impl<'a, G: Guard> Turn<'a, G> {
    #[inline(always)]
    pub(crate) fn engine(&self) -> &'a Engine<G> {
        self.0
    }

    /// Ends the turn, and has a thread that has waited for long go first.
    #[inline(always)]
    pub(crate) fn hand_on(self) {
        // SAFETY: `Engine::turn` has locked, on this thread: the value is not sent.
        if unsafe { self.0.guard.hand_on() } {
            std::mem::forget(self);
        }
    }
}

impl<G: Guard> Drop for Turn<'_, G> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `Engine::turn` has locked, on this thread: the value is not sent.
        unsafe { self.0.guard.unlock() };
    }
}

impl<G: Guard> Engine<G> {
    /// Opens the engine of this process, and connects it with all others of its job: collective.
    ///
    /// # Errors
    /// [`Error::Job`], [`Error::NoRoom`],
    /// [`Error::Argument`].
    pub fn open(config: Config) -> Result<Box<Self>, Error> {
        let mut job = job::join(config.exchange)?;
        let (rank, ranks) = job.rank_and_ranks();
        let ring_bytes = config.ring()?;
        let place = job.place(config.node)?;
        let defaults = domain::Config::default();
        let domain = Domain::open(domain::Config {
            arena_bytes: match config.most_memory {
                0 => defaults.arena_bytes,
                // The rings of peers lie there, too.
                bytes => bytes + (ranks as usize * 2 + 64) * (ring_bytes + (8 << 10)) + (64 << 20),
            },
            ring_bytes,
            far: place.far,
            node: place.node,
            ..defaults
        });
        let domain = domain.map_err(Error::of_domain)?;
        let mut engine = Box::<Self>::new_uninit();
        let at = engine.as_mut_ptr().cast::<()>().cast_const();
        let (vectors, ended) = (
            [AddressVector::new(), AddressVector::new()],
            CompletionQueue::new(MOST_OPERATIONS),
        );
        let open = |vector, queue: &CompletionQueue, take: Take| {
            // SAFETY: the engine is there as long as its endpoints, whose progress is made in turns; the
            // functions send by the other endpoint alone.
            let in_place = unsafe { InPlace::new(take, at) };
            let config = endpoint::Config {
                in_place: Some(in_place),
                ..endpoint::Config::new(queue)
            };
            Endpoint::open(&domain, vector, config).map_err(Error::of_domain)
        };
        let requests = open(&vectors[0], &CompletionQueue::new(1), arrive::take_request)?;
        let replies = open(&vectors[1], &ended, arrive::take_reply)?;
        let [to_requests, to_replies] = &vectors;
        let own = [requests.address(), replies.address()];
        job.introduce(own, [to_requests, to_replies])?;
        let near = find_near(&replies, rank, ranks)?;
        let device_does = DeviceDoes::all(&domain, &mut job)?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let core = Core {
            rank,
            ranks,
            most_medium: (requests.inject_size() - 8 * MOST_WORDS) & !63,
            rest: Rest::of([&requests, &replies]),
            requests,
            replies,
            ended,
            handlers: Handlers::new(),
            running: Running::default(),
            backlog: Backlog::new(ranks),
            later: Later::default(),
            failed: Cell::new(None),
            regions: Regions::new(ranks),
            segments: OnceLock::new(),
            are_crowded: near.iter().filter(|is_near| **is_near).count() > processors,
            near,
            device_does,
            job: Mutex::new(job),
            domain,
        };
        Ok(Box::write(
            engine,
            Self {
                core,
                guard: G::default(),
            },
        ))
    }

    /// Waits for the turn of this thread.
    ///
    /// # Errors
    /// [`Error::NotNow`] in a handler.
    #[inline(always)]
    pub(crate) fn turn(&self) -> Result<Turn<'_, G>, Error> {
        if self.core.running.is_here() {
            return Err(in_handler());
        }
        self.guard.lock();
        Ok(Turn(self))
    }

    /// Takes the turn for this thread, with `TRIES` only where no other thread has it.
    ///
    /// # Errors
    /// [`Error::NotNow`] in a handler; [`Error::WouldWait`].
    #[inline(always)]
    pub(crate) fn turn_of<const TRIES: bool>(&self) -> Result<Turn<'_, G>, Error> {
        if !TRIES {
            return self.turn();
        }
        if self.core.running.is_here() {
            return Err(in_handler());
        }
        if self.guard.try_lock() {
            Ok(Turn(self))
        } else {
            Err(Error::WouldWait)
        }
    }

    /// Tells, by few instructions, that there is nothing to handle and nothing to go on with: may return
    /// false also then.
    #[inline(always)]
    pub fn is_at_rest(&self) -> bool {
        if !self.guard.try_lock() {
            return false;
        }
        if !self.core.is_at_rest() {
            // SAFETY: locked above.
            unsafe { self.guard.unlock() };
            return false;
        }
        // Known to be true there, and not a value of several origins.
        kept_apart();
        // SAFETY: locked above.
        unsafe { self.guard.unlock() };
        true
    }

    /// Handles messages that have come, and goes on with operations.
    ///
    /// # Errors
    /// [`Error::Peer`] where an operation of this process has failed; [`Error::NotNow`] in a handler.
    #[inline]
    pub fn poll(&self) -> Result<(), Error> {
        let turn = self.turn()?;
        if !self.core.is_at_rest() {
            self.core.work();
        }
        let told = self.core.tell_failure();
        turn.hand_on();
        told
    }

    /// Does as [`Engine::poll`] where [`Engine::is_at_rest`] has just returned false. Returns false
    /// where that has an error to tell of, which it does then.
    #[inline(always)]
    pub fn attend(&self) -> bool {
        match self.turn() {
            Ok(turn) => Self::work_in(turn),
            Err(_) => false,
        }
    }

    /// Makes progress, and ends the turn. Returns false where there is a failure to tell of.
    #[inline(always)]
    fn work_in(turn: Turn<'_, G>) -> bool {
        let core = &turn.engine().core;
        core.work();
        if core.has_failed() {
            return false;
        }
        turn.hand_on();
        true
    }

    /// Polls until `is_done` returns true.
    ///
    /// # Errors
    /// As [`Engine::poll`].
    pub fn wait(&self, mut is_done: impl FnMut() -> bool) -> Result<(), Error> {
        let mut waiter = self.core.waiter();
        while !is_done() {
            self.poll()?;
            if is_done() {
                break;
            }
            waiter.pause();
        }
        Ok(())
    }

    /// Tells the launcher that this process is done, and keeps all others out of the engine for ever: for a
    /// process that is about to end while its threads may use the engine.
    ///
    /// # Errors
    /// Those of the launcher.
    pub fn depart(&self) -> Result<(), Error> {
        // In a handler this thread has the turn.
        std::mem::forget(self.turn());
        self.core.end()
    }

    /// Leaves the handler, or the progress, that this thread runs in, and returns whether it does
    /// run in one: the process is about to end, and the handler is never returned to. Requests and
    /// polls are possible again; those messages that the handler's endpoint takes do not come any
    /// more ([`Engine::announce`] reaches a process by either endpoint).
    ///
    /// # Safety
    /// The handler never returns, and the engine is never dropped.
    pub unsafe fn leave_handler(&self) -> bool {
        if !self.core.running.abandon() {
            return false;
        }
        self.core.rest.set(HANDLER, false);
        self.core.rest.set(LEFT, true);
        // SAFETY: the thread has the turn in which it runs the handler, and that never ends.
        unsafe { self.guard.unlock() };
        true
    }

    /// Returns whether a handler was left for ever: the engine stays open then, as long as the
    /// process.
    pub fn has_left_handler(&self) -> bool {
        self.core.rest.has(LEFT)
    }
}

impl<G: Guard> Drop for Engine<G> {
    fn drop(&mut self) {
        // The endpoints may make progress once more: no handler runs meanwhile.
        self.core.rest.set(CLOSING, true);
    }
}

impl<G: Guard> Deref for Engine<G> {
    type Target = Core;

    #[inline(always)]
    fn deref(&self) -> &Core {
        &self.core
    }
}

/// Facts, and functions that need no lock. C has them for engines of any kind, which begin with this.
impl Core {
    /// Returns the rank of this process.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the number of processes.
    #[inline]
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Returns the most payload bytes of a medium message.
    pub fn most_medium(&self) -> usize {
        self.most_medium
    }

    /// Returns whether a process is of this node, and its memory may be mapped here.
    pub fn is_near(&self, rank: u32) -> bool {
        self.near.get(rank as usize).is_some_and(|near| *near)
    }

    /// See [`Core::show`].
    pub const SHOWN_STEP: usize = Endpoint::REST_STEP;

    /// Has a program see by itself that [`Engine::poll`] has nothing to do outside of handlers: while the
    /// bytes at `todo`, which the engine writes from now on, the word that this returns, and that
    /// [`Core::SHOWN_STEP`] behind it are all 0. Where a device is, one of the bytes is never 0.
    ///
    /// # Safety
    /// The bytes stay, and are written by nobody else, until the engine is closed. No other thread uses
    /// the engine during the call.
    pub unsafe fn show(&self, todo: NonNull<[AtomicU8; 3]>) -> *const AtomicU64 {
        let [own, requests, replies] = [0, 1, 2].map(|at| {
            // SAFETY: there are three.
            unsafe { todo.cast::<AtomicU8>().add(at) }
        });
        // SAFETY: the bytes stay as long as the endpoints, which are closed with the engine.
        unsafe {
            self.requests.show_todo(requests);
            self.replies.show_todo(replies);
        }
        self.rest.shown.set(Some(own));
        self.rest.show();
        self.rest.bells
    }

    /// Has `handler` called with messages to an index.
    ///
    /// # Safety
    /// No message to the index comes meanwhile. The handler keeps to the rules of [`Handler`], and may be
    /// called by each thread that makes progress, with messages whose `context` is this one.
    pub unsafe fn register(&self, index: u8, handler: Handler, context: *mut c_void) {
        let place = self.handlers.0[usize::from(index)].get();
        // SAFETY: nobody reads the entry meanwhile.
        unsafe { *place = (Some(handler), context) };
    }

    /// Gives each process the bytes of all, of the same number each: collective, for a few bytes.
    ///
    /// # Errors
    /// Those of the launcher, or of the program's function.
    pub fn exchange(&self, own: &[u8]) -> Result<Vec<u8>, Error> {
        let mut job = self.job.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(job.exchange(own)?)
    }

    /// Asks the launcher to end all processes of the job. Waits for nothing, so that it may be called
    /// anywhere.
    pub fn abort(&self, code: i32, message: &str) {
        if let Ok(job) = self.job.try_lock() {
            job.abort(code, message);
        }
    }

    /// Tells the launcher that this process is done.
    ///
    /// # Errors
    /// Those of the launcher.
    pub fn leave(&self) -> Result<(), Error> {
        let mut job = self.job.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(job.leave()?)
    }

    /// As [`Core::leave`], where the process ends without handlers of its exit.
    ///
    /// # Errors
    /// Those of the launcher.
    pub fn end(&self) -> Result<(), Error> {
        let mut job = self.job.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(job.end()?)
    }

    /// Has the device or libfabric do all that it was given, for a while at most: for a process
    /// that ends with the engine open. No operation of the process is reported any more.
    pub fn settle(&self) {
        self.requests.settle();
        self.replies.settle();
    }

    /// Returns the segments of all processes, by rank; none before they are attached.
    pub fn segments(&self) -> Option<&[Segment]> {
        self.segments.get().map(|segments| &**segments)
    }
}

#[cold]
fn in_handler() -> Error {
    Error::NotNow("a handler calls for more than a reply")
}

/// Finds out, by trial, which processes are reached in their memory, by rank.
fn find_near(replies: &Endpoint, own: u32, ranks: u32) -> Result<Box<[bool]>, Error> {
    let is_near = |rank| {
        let is_near = match rank == own {
            true => Ok(true),
            false => replies.is_near(rank),
        };
        is_near.map_err(|error| Error::of_peer(rank, error))
    };
    (0..ranks).map(is_near).collect()
}

impl Core {
    /// Handles messages if some have come, and goes on with replies that wait; returns whether
    /// there were any.
    #[inline(always)]
    pub(crate) fn listen(&self) -> bool {
        let is_any = self.rest.has(BACKLOG | LATER) || !self.is_silent();
        if is_any {
            self.work();
        }
        is_any
    }

    /// Returns whether no message has come, and the endpoints have nothing to do: where a device
    /// is, as far as that tells.
    #[inline(always)]
    pub(crate) fn is_silent(&self) -> bool {
        if !self.rest.is_silent() {
            return false;
        }
        let todo = self.requests.todo() | self.replies.todo();
        if todo == 0 {
            return true;
        }
        if asked_again(todo) != Endpoint::DEVICE {
            return false;
        }
        // SAFETY: one of the endpoints has a device, which is that of the domain of both.
        unsafe { !self.requests.has_come_over_device() && !self.replies.has_come_over_device() }
    }

    /// Returns whether there is nothing to do, as far as few instructions tell.
    #[inline(always)]
    pub(crate) fn is_at_rest(&self) -> bool {
        if !self.rest.is_silent() {
            return false;
        }
        let todo = self.requests.todo() | self.replies.todo() | self.rest.busy.get();
        if todo == 0 {
            return true;
        }
        if asked_again(todo) != Endpoint::DEVICE {
            return false;
        }
        // SAFETY: one of the endpoints has a device, which is that of the domain of both.
        unsafe { self.requests.is_device_at_rest() && self.replies.is_device_at_rest() }
    }

    /// Makes progress by both endpoints: replies first, which make room for others.
    #[inline(never)]
    pub(crate) fn work(&self) {
        if self.rest.has(LEFT | BACKLOG) {
            return self.work_with_rest();
        }
        self.work_on::<false>();
    }

    /// Makes progress where replies wait for room, or a handler was left for ever.
    #[cold]
    #[inline(never)]
    fn work_with_rest(&self) {
        self.work_on::<true>();
    }

    /// Makes progress; with `REST` some of it may not be made, and replies that wait are sent.
    #[inline(always)]
    fn work_on<const REST: bool>(&self) {
        self.begin_handlers(At::Replies);
        if !REST || self.running.may_progress(true) {
            self.replies.progress_in_place();
        }
        if REST && self.rest.has(BACKLOG) {
            self.push_backlog();
        }
        self.running.go_on(At::Requests);
        if !REST || self.running.may_progress(false) {
            self.requests.progress_in_place();
        }
        self.end_handlers();
        if self.rest.has(ENDED | LATER) {
            if self.rest.has(LATER) {
                self.push_later();
            }
            self.take_ended();
        } else if !self.ended.is_idle() {
            self.take_ended();
        }
    }

    /// Says why this process cannot go on, and ends the job: others may wait for it for ever.
    #[cold]
    pub(crate) fn end_job(&self, why: std::fmt::Arguments<'_>) -> ! {
        let text = format!("farreach: rank {}: {why}", self.rank);
        eprintln!("{text}");
        if let Ok(job) = self.job.try_lock() {
            job.abort(1, &text);
        }
        std::process::exit(1)
    }

    pub(crate) fn waiter(&self) -> Waiter {
        Waiter::new(Patience::new(self.are_crowded))
    }

    /// # Errors
    /// [`Error::Argument`].
    pub(crate) fn check_rank(&self, rank: u32) -> Result<(), Error> {
        if rank < self.ranks {
            Ok(())
        } else {
            Err(Error::Argument("there is no such rank"))
        }
    }
}
