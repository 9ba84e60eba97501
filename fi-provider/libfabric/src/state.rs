//! The objects of a domain, all behind one lock.

use crate::automatic::Automatic;
use crate::contexts::Further;
use crate::cq;
use crate::direct::{self, Rest};
use crate::events::Feed;
use crate::object::{Code, InUse};
use crate::slab::{Slab, is_number};
use crate::wait::WaitObject;
use fi_ofi_abi::{
    FI_ADDR_NOTAVAIL, FI_COMPLETION, FI_DIRECTED_RECV, FI_INJECT, FI_MULTI_RECV, FI_TRIGGER,
};
use fi_provider::raw::address_vector::{AddressVector, PeerIndex};
use fi_provider::raw::completion::{CompletionQueue, Counter, Operation};
use fi_provider::raw::domain::Domain;
use fi_provider::raw::endpoint::due::Ends;
use fi_provider::raw::endpoint::{Endpoint, RemoteRegion};
use fi_provider::raw::error::Error;
use fi_provider::raw::lock::Lock;
use fi_provider::raw::region::Addressing;
use std::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A domain, which all its objects share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Dropped before the domain, which its endpoints use.
    objects: UnsafeCell<Objects>,
    pub(crate) raw: Domain,
    turns: Lock,
    /// Whether calls may come from several threads at a time (fi_domain(3), threading).
    pub(crate) is_shared: bool,
    /// Whether the domain reaches peers by a device.
    pub(crate) has_device: bool,
    /// Whether keys are the fabric's choice (FI_MR_PROV_KEY).
    pub(crate) chooses_keys: bool,
    /// Whether peers name bytes of regions by their addresses (FI_MR_VIRT_ADDR).
    pub(crate) by_address: bool,
    /// Whether accesses of peers to all regions are counted (FI_RMA_EVENT).
    pub(crate) counts_accesses: bool,
    /// The version of the interface that the application uses.
    pub(crate) api_version: u32,
}

// SAFETY: `Sync` requires that shared accesses do not race. The objects are reached by a [`Turn`]
// alone, which one thread has at a time: by the lock, or by the application's promise that it calls
// from one thread at a time (FI_THREAD_DOMAIN). They are `Send`; all else is `Sync` of itself.
unsafe impl Sync for Shared {}

/// A thread's turn at the objects of a domain. A function takes one, and none beside it.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    objects: *mut Objects,
    _held: Option<Held<'a>>,
}

/// The lock of the turns of a domain, which this thread has; given back at the end.
#[derive(Debug)]
struct Held<'a>(&'a Lock);

impl Drop for Held<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.give();
    }
}

impl Turn<'_> {
    /// Leaves the turn to a function that is called last, which takes it over by [`Shared::left`]: so
    /// that the caller needs no frame.
    #[inline(always)]
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }
}

impl Deref for Turn<'_> {
    type Target = Objects;

    #[inline(always)]
    fn deref(&self) -> &Objects {
        // SAFETY: the domain's objects live as long as the turn, which is the only one.
        unsafe { &*self.objects }
    }
}

impl DerefMut for Turn<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Objects {
        // SAFETY: the domain's objects live as long as the turn, which is the only one; of it there
        // is one reference.
        unsafe { &mut *self.objects }
    }
}

/// An object that its C object leads to without a look into a table.
#[derive(Debug)]
pub(crate) struct Kept<T>(Rc<T>);

impl<T> Kept<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Rc::new(value))
    }

    /// Returns the object, during a turn at its domain.
    #[inline(always)]
    pub(crate) fn get(&self, _: &Turn<'_>) -> &T {
        &self.0
    }

    /// Returns the same object for another C object, during a turn at its domain.
    pub(crate) fn again(&self, turn: &Turn<'_>) -> Self {
        Self(self.share(turn))
    }

    /// Returns another handle, during a turn at its domain.
    pub(crate) fn share(&self, _: &Turn<'_>) -> Rc<T> {
        Rc::clone(&self.0)
    }
}

/// State by which an object finds whether there is progress to make, as long as it holds its
/// domain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtRest(*const Rest);

impl AtRest {
    pub(crate) fn of(turn: &Turn<'_>) -> Self {
        Self(&raw const *turn.rest)
    }

    /// Returns [`Rest::is_at_rest`], during a turn at the object's domain.
    ///
    /// # Safety
    /// The domain is there.
    #[inline(always)]
    pub(crate) unsafe fn get(self, _: &Turn<'_>) -> bool {
        // SAFETY: the value lies in a box of the domain's objects, which are there; the turn is the
        // caller's.
        unsafe { (*self.0).is_at_rest() }
    }
}

/// The tables: the C objects hold the numbers.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub(crate) endpoints: Slab<Rc<Ep>>,
    /// The endpoints that are enabled.
    pub(crate) running: Vec<Rc<Ep>>,
    pub(crate) vectors: Slab<Vector>,
    pub(crate) queues: Slab<Rc<Queue>>,
    pub(crate) counters: Slab<Rc<Count>>,
    /// Receives with more to note than a pointer.
    pub(crate) receives: Slab<Receive>,
    pub(crate) regions: usize,
    /// Scalable endpoints and shared contexts.
    pub(crate) contexts: usize,
    /// Whether an endpoint has queues that nobody reads.
    pub(crate) has_unread: bool,
    /// Whether there are entries to drop: such queues, or receives that do not report
    /// ([`Ep::dropping`]).
    pub(crate) has_drops: bool,
    /// Poll sets.
    pub(crate) sets: usize,
    /// Whether queues or counters have wait objects, on which threads may sleep.
    pub(crate) has_waits: bool,
    /// Whether somebody has to be told of progress: threads that may sleep, or the domain's.
    pub(crate) has_watchers: bool,
    /// The thread that makes progress (FI_PROGRESS_AUTO).
    pub(crate) automatic: Option<Automatic>,
    /// Counters of the accesses of peers.
    pub(crate) feeds: Vec<Feed>,
    /// Whether calls have more to do than few instructions: there are such queues, threads that may
    /// sleep, poll sets, such counters, or automatic progress.
    pub(crate) is_special: bool,
    /// Tells whether there is progress to make: queues, counters, and programs that read counters
    /// themselves.
    pub(crate) rest: Box<Rest>,
}

// The fabric's objects are not `Send` as they count their handles without atomics and have cells. All
// handles to any of them are in one value of this type, or in a [`Kept`] of a C object of the same
// domain. Both are used in a [`Turn`] alone, which the lock, or the application, orders. The objects keep
// nothing in thread-local variables. Their raw pointers lead to memory of the process; `op_context`
// pointers and buffers are the application's, which may use them by any thread.
// SAFETY: `Send` requires that another thread may use the value: one thread at a time uses all handles
// (turns), and nothing that they lead to is a thread's own.
unsafe impl Send for Objects {}

/// An address vector.
#[derive(Debug)]
pub(crate) struct Vector {
    pub(crate) raw: AddressVector,
    /// Number of upper bits of an address that name a receive context of its peer.
    pub(crate) context_bits: u32,
    /// Number of objects that are bound to it.
    pub(crate) users: usize,
}

/// A counter.
#[derive(Debug)]
pub(crate) struct Count {
    pub(crate) raw: Counter,
    pub(crate) users: Cell<usize>,
    /// The counts when they were read last.
    pub(crate) told: Cell<(u64, u64)>,
    /// Whether reading it is noted, or makes progress, also where progress is automatic: for a
    /// descriptor, a poll set, or accesses of peers.
    pub(crate) is_noted: AtomicBool,
    pub(crate) wait: WaitObject,
}

/// A completion queue.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) raw: CompletionQueue,
    pub(crate) format: u32,
    /// Looked at, but not given out.
    held: RefCell<VecDeque<Result<Told, Wrong>>>,
    /// Whether there is progress to make, or there are such.
    rest: Rest,
    /// Whether there is progress to make, without such completions.
    rest_of_domain: Rest,
    /// Whether the operations of the only endpoint report to it.
    pub(crate) ends: Cell<Ends>,
    pub(crate) users: Cell<usize>,
    pub(crate) is_signalled: Cell<bool>,
    pub(crate) wait: WaitObject,
}

/// A completion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) context: *mut c_void,
    pub(crate) flags: u64,
    pub(crate) len: usize,
    pub(crate) buffer: *mut u8,
    pub(crate) data: u64,
    pub(crate) source: u64,
    pub(crate) tag: u64,
}

/// The completion of an operation that has failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrong {
    pub(crate) told: Told,
    pub(crate) code: Code,
    /// The bytes that were not stored, of a message that was longer than its buffer.
    pub(crate) cut: usize,
}

/// A buffer that was posted for messages.
#[derive(Debug)]
pub(crate) struct Receive {
    pub(crate) context: *mut c_void,
    pub(crate) buffer: *mut u8,
    pub(crate) is_multi: bool,
    /// Whether its success makes a completion.
    pub(crate) reports: bool,
    pub(crate) endpoint: u64,
    /// The tag that it wants, if it is for a tagged message.
    pub(crate) tag: Option<u64>,
}

impl Receive {
    /// Takes the buffer back, which has this number; false where a message has come to it.
    pub(crate) fn take_back(&self, raw: &Endpoint, number: u64) -> bool {
        // Finds those that wait for a counter, and were not posted yet.
        raw.cancel_act(number)
            || match self.tag {
                None => raw.cancel_receive(number),
                Some(_) => raw.cancel_tagged(number).is_some(),
            }
    }
}

/// The operations that an endpoint counts: the places of its counters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counts {
    Sent,
    Received,
    Read,
    Written,
}

/// A queue that is bound to an endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub(crate) queue: u64,
    /// Whether only operations report that are told to (FI_SELECTIVE_COMPLETION).
    pub(crate) is_selective: bool,
}

/// An endpoint.
#[derive(Debug)]
pub(crate) struct Ep {
    /// Empty before it is enabled.
    pub(crate) raw: OnceCell<Endpoint>,
    /// Whether it is enabled, and calls have no more to do than few instructions
    /// ([`Objects::is_special`]).
    pub(crate) is_quick: Cell<bool>,
    pub(crate) caps: u64,
    pub(crate) vector: Cell<Option<u64>>,
    pub(crate) transmit: Cell<Option<Binding>>,
    pub(crate) receive: Cell<Option<Binding>>,
    /// By [`Counts`].
    pub(crate) counters: Cell<[Option<u64>; 4]>,
    /// Held as long as a queue of events is bound.
    pub(crate) events: RefCell<Option<InUse>>,
    /// The messages that have come.
    pub(crate) received: OnceCell<Counter>,
    /// Queues of its own, where none is bound: nobody reads them.
    pub(crate) unread: RefCell<Vec<CompletionQueue>>,
    /// Whether receives were deferred that report to a counter alone.
    pub(crate) has_silent: Cell<bool>,
    /// Bytes that are left of a buffer for several messages when it is given back.
    pub(crate) least: Cell<usize>,
    /// The table for programs that access memory themselves.
    pub(crate) direct: direct::OfEndpoint,
    pub(crate) further: Further,
}

impl Ep {
    /// Returns the queue in which there are entries of receives that do not report, if there may be
    /// some.
    fn dropping(&self) -> Option<Binding> {
        let binding = self.receive.get();
        binding.filter(|it| it.is_selective || self.has_silent.get())
    }
}

/// Flags of operations without flags of their own: of an endpoint's C object, or of an alias's.
#[derive(Debug)]
pub(crate) struct Usual {
    transmit: Cell<u64>,
    receive: Cell<u64>,
    /// Whether accesses make completions, and do nothing else that is special.
    pub(crate) is_plain: Cell<bool>,
    /// Whether receives make completions, and are for one message.
    is_plain_receive: Cell<bool>,
}

/// A C object's part of an endpoint, with the endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own<'a> {
    pub(crate) ep: &'a Ep,
    pub(crate) usual: &'a Usual,
}

impl Usual {
    /// Makes the flags of the two sides. Before [`Own::note_usual`] nothing is plain.
    pub(crate) fn new(transmit: u64, receive: u64) -> Self {
        Self {
            transmit: Cell::new(transmit),
            receive: Cell::new(receive),
            is_plain: Cell::default(),
            is_plain_receive: Cell::default(),
        }
    }

    /// Sets the flags of the sending side or of the receiving one.
    pub(crate) fn set(&self, sends: bool, flags: u64) {
        let side = if sends { &self.transmit } else { &self.receive };
        side.set(flags);
    }

    /// Returns the flags of the sending side.
    #[inline(always)]
    pub(crate) fn transmit(&self) -> u64 {
        self.transmit.get()
    }

    /// Returns the flags of the receiving side.
    #[inline(always)]
    pub(crate) fn receive(&self) -> u64 {
        self.receive.get()
    }
}

impl Own<'_> {
    /// Notes the plain operations. Returns whether accesses make no completions, and do nothing
    /// else that is special.
    pub(crate) fn note_usual(&self) -> bool {
        let Self { ep, usual } = self;
        let completes = |flags: u64, queue: Option<Binding>| {
            let wants = |queue: Binding| flags & FI_COMPLETION != 0 || !queue.is_selective;
            queue.is_some_and(wants)
        };
        let flags = usual.transmit();
        let is_told = completes(flags, ep.transmit.get());
        let is_special = flags & (FI_INJECT | FI_TRIGGER) != 0;
        usual.is_plain.set(is_told && !is_special);
        let flags = usual.receive();
        let is_own = ep.further.receiver.borrow().is_none();
        let is_plain_receive = is_own && flags & (FI_MULTI_RECV | FI_TRIGGER) == 0;
        let receives = completes(flags, ep.receive.get());
        usual.is_plain_receive.set(receives && is_plain_receive);
        !is_told && !is_special
    }

    /// Tells whether a receive without flags of its own, from this source, has nothing to note but its
    /// context.
    #[inline(always)]
    pub(crate) fn posts_plainly(&self, context: u64, from: u64) -> bool {
        let is_plain = self.usual.is_plain_receive.get() && !is_number(context);
        is_plain && (from == FI_ADDR_NOTAVAIL || self.ep.caps & FI_DIRECTED_RECV == 0)
    }
}

impl Shared {
    pub(crate) fn new(
        raw: Domain,
        is_shared: bool,
        (caps, mr_mode): (u64, i32),
        api_version: u32,
    ) -> Self {
        let either = |mode| mr_mode & (mode | fi_ofi_abi::FI_MR_BASIC) != 0;
        Self {
            objects: UnsafeCell::default(),
            has_device: raw.has_device(),
            raw,
            turns: Lock::new(),
            is_shared,
            chooses_keys: either(fi_ofi_abi::FI_MR_PROV_KEY),
            by_address: either(fi_ofi_abi::FI_MR_VIRT_ADDR),
            counts_accesses: caps & fi_ofi_abi::FI_RMA_EVENT != 0,
            api_version,
        }
    }

    /// Returns how peers name bytes of regions.
    pub(crate) fn addressing(&self) -> Addressing {
        if self.by_address {
            Addressing::Virtual
        } else {
            Addressing::Offset
        }
    }

    /// Takes a turn where nobody has one, in a domain that is `SAFE` for several threads.
    #[inline(always)]
    pub(crate) fn lock_at_once<const SAFE: bool>(&self) -> Option<Turn<'_>> {
        if SAFE && !self.turns.try_take() {
            return None;
        }
        Some(Turn {
            objects: self.objects.get(),
            _held: SAFE.then(|| Held(&self.turns)),
        })
    }

    /// Takes over a turn that was left to the caller ([`Turn::leave`]), in a domain that is `SAFE` for
    /// several threads.
    ///
    /// # Safety
    /// It was left by this thread, and nobody else takes it over.
    #[inline(always)]
    pub(crate) unsafe fn left<const SAFE: bool>(&self) -> Turn<'_> {
        // The turn that was left has the lock, and does not give it back.
        Turn {
            objects: self.objects.get(),
            _held: SAFE.then(|| Held(&self.turns)),
        }
    }

    /// Takes a turn.
    #[inline(always)]
    pub(crate) fn lock(&self) -> Turn<'_> {
        if self.is_shared {
            self.turns.take_patiently();
        }
        Turn {
            objects: self.objects.get(),
            _held: self.is_shared.then(|| Held(&self.turns)),
        }
    }
}

impl Objects {
    /// Notes whether calls have more to do than few instructions.
    pub(crate) fn note_special(&mut self) {
        let may_watch = self.has_waits || self.sets > 0 || self.automatic.is_some();
        self.is_special = may_watch || self.has_unread || !self.feeds.is_empty();
        direct::note(self);
    }

    /// Wakes threads that sleep, as something may be done already, or is to be done.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_watchers(&mut self) {
        if self.has_watchers {
            self.tell_news(true);
        }
    }

    /// Makes progress of all endpoints.
    #[inline(always)]
    pub(crate) fn progress(&mut self) {
        if !self.feeds.is_empty() {
            self.feed();
        }
        for ep in &self.running {
            if let Some(raw) = ep.raw.get() {
                raw.progress();
            }
        }
        if self.has_drops {
            self.drop_unread();
        }
        if self.has_watchers {
            self.tell_news(false);
        }
    }

    /// Notes which entries are to be dropped.
    pub(crate) fn note_drops(&mut self) {
        let has_unread = |one: &Rc<Ep>| !one.unread.borrow().is_empty();
        self.has_unread = self.running.iter().any(has_unread);
        let drops = |one: &Rc<Ep>| one.dropping().is_some();
        self.has_drops = self.has_unread || self.running.iter().any(drops);
    }

    /// Takes the entries that nobody reads.
    #[cold]
    #[inline(never)]
    pub(crate) fn drop_unread(&mut self) {
        for ep in &self.running {
            if let Some(binding) = ep.dropping()
                && let Some(queue) = self.queues.get(binding.queue)
            {
                cq::make_room(queue, &mut self.receives);
            }
            for queue in &*ep.unread.borrow() {
                while let Some(entry) = queue.next() {
                    let entry = entry.unwrap_or_else(|failure| failure.entry);
                    let is_receive = entry.operation == Operation::Receive;
                    if is_receive && entry.is_last {
                        self.receives.remove(entry.context);
                    }
                }
            }
        }
    }

    /// Tells whether nothing is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.endpoints.is_empty()
            && self.vectors.is_empty()
            && self.queues.is_empty()
            && self.counters.is_empty()
            && self.regions == 0
            && self.contexts == 0
            && self.sets == 0
    }
}

impl Count {
    /// Makes a counter that stands at 0.
    pub(crate) fn new() -> Self {
        Self {
            raw: Counter::new(),
            users: Cell::default(),
            told: Cell::default(),
            is_noted: AtomicBool::default(),
            wait: WaitObject::default(),
        }
    }

    /// Has reading it be noted from now on.
    pub(crate) fn note_reads(&self) {
        // ORDERING: readers that do not know yet read as they did before.
        self.is_noted.store(true, Ordering::Relaxed);
    }

    /// Notes the counts, which are read.
    #[inline(always)]
    pub(crate) fn note_told(&self) {
        self.told.set((self.raw.read(), self.raw.read_failed()));
    }

    /// Tells whether it was counted since it was read.
    pub(crate) fn has_changed(&self) -> bool {
        self.told.get() != (self.raw.read(), self.raw.read_failed())
    }
}

impl Queue {
    /// Tells whether there is something to read.
    pub(crate) fn has_entries(&self) -> bool {
        self.holds() || self.is_signalled.get() || self.raw.has_entries()
    }

    /// Makes a queue with room for so many entries.
    pub(crate) fn new(room: usize, format: u32) -> Self {
        Self {
            raw: CompletionQueue::new(room),
            format,
            held: RefCell::default(),
            rest: Rest::default(),
            rest_of_domain: Rest::default(),
            ends: Cell::new(Ends::ELSEWHERE),
            users: Cell::default(),
            is_signalled: Cell::default(),
            wait: WaitObject::default(),
        }
    }

    /// Returns whether there are completions that were looked at, but not given out.
    pub(crate) fn holds(&self) -> bool {
        self.held_many() > 0
    }

    /// Returns the only endpoint of the domain, where no bell has rung and there is nothing to read but
    /// the entries of the fabric's queue ([`Rest::unrung`]).
    ///
    /// # Safety
    /// As [`Rest::only`].
    #[inline(always)]
    pub(crate) unsafe fn unrung<'a>(&self) -> Option<&'a Endpoint> {
        // SAFETY: the domain's objects are there, and the turn is the caller's.
        unsafe { self.rest.unrung() }
    }

    /// Returns the only endpoint of the domain, where there is nothing to read but the entries of the
    /// fabric's queue.
    ///
    /// # Safety
    /// As [`Rest::only`].
    #[inline(always)]
    pub(crate) unsafe fn only<'a>(&self) -> Option<&'a Endpoint> {
        // SAFETY: the domain's objects are there, and the turn is the caller's.
        unsafe { self.rest.only() }
    }

    /// Notes where the domain's progress is told of.
    pub(crate) fn note_rest(&self, rest: &Rest) {
        self.rest_of_domain.copy_from(rest);
        // SAFETY: the domain's objects are there, and the caller has its turn.
        let only = unsafe { rest.only() };
        let ends = only.map_or(Ends::ELSEWHERE, |only| only.ends_in(&self.raw));
        self.ends.set(ends);
        self.note_held();
    }

    /// Notes whether completions are held.
    fn note_held(&self) {
        if self.holds() {
            self.rest.copy_from(&Rest::default());
        } else {
            self.rest.copy_from(&self.rest_of_domain);
        }
    }

    /// Puts a completion back that was looked at.
    pub(crate) fn hold_first(&self, told: Result<Told, Wrong>) {
        self.held.borrow_mut().push_front(told);
        self.note_held();
    }

    /// Adds a completion behind those that it holds.
    pub(crate) fn hold_last(&self, told: Result<Told, Wrong>) {
        self.held.borrow_mut().push_back(told);
        self.note_held();
    }

    /// Returns the number of completions that it holds.
    pub(crate) fn held_many(&self) -> usize {
        self.held.borrow().len()
    }

    /// Takes the first completion that it holds.
    pub(crate) fn take_held(&self) -> Option<Result<Told, Wrong>> {
        let first = self.held.borrow_mut().pop_front();
        self.note_held();
        first
    }
}

impl Ep {
    /// Returns the endpoint for a call of few instructions: none where it is not enabled, or where
    /// calls have more to do.
    #[inline(always)]
    pub(crate) fn quick(&self) -> Option<&Endpoint> {
        // SAFETY: `note_quick` has found the endpoint.
        self.is_quick
            .get()
            .then(|| unsafe { self.raw.get().unwrap_unchecked() })
    }

    /// Notes whether calls have no more to do than few instructions.
    pub(crate) fn note_quick(&self, is_quick: bool) {
        self.is_quick.set(is_quick && self.raw.get().is_some());
    }

    /// Returns the endpoint, if it is enabled.
    pub(crate) fn enabled(&self) -> Result<&Endpoint, Code> {
        self.raw.get().ok_or(fi_ofi_abi::FI_EOPBADSTATE)
    }

    /// Tells whether operations of this kind are counted.
    pub(crate) fn counts(&self, what: Counts) -> bool {
        self.counters.get()[what as usize].is_some()
    }

    /// Acts on the region of a peer's key.
    pub(crate) fn with_region(
        &self,
        peer: u64,
        key: u64,
        act: impl Fn(&Endpoint, &RemoteRegion) -> Result<(), Error>,
    ) -> Result<(), Code> {
        let (peer, raw) = (self.peer(peer)?, self.enabled()?);
        raw.on_region(peer, key, |region| act(raw, region))
            .map_err(Error::code)
    }

    /// Returns the number of the peer that an application names.
    pub(crate) fn peer(&self, address: u64) -> Result<PeerIndex, Code> {
        PeerIndex::try_from(address).or_else(|_| self.named_context(address))
    }
}
