//! What handles of calls share: the core by turns, and the work that comes out of these.

#![expect(
    unsafe_code,
    reason = "shares the core by turns, and keeps arguments that a scope lends"
)]

use crate::action::{Entry, Here};
use crate::archive::{Chunk, LoadError, Loader, Save, Saver};
use crate::call::Sink;
use crate::calls::Calls;
use crate::config::Work;
use crate::core::{Core, FAREWELL, Kept, KeptFor, Place, Ready, Way};
use crate::error::Error;
use crate::packet::{Broken, Packet, Record};
use crate::pool::Pool;
use crate::reply::Reply;
use crate::sync::{Mutex, MutexGuard, lock};
use crate::wire::{
    CALL, CHUNKS, Described, HERE, Header, PANICKED, REFUSED, Table, UNIT, UNLOADED, padded,
};
use fi_provider::raw::lock::Lock;
use fi_provider::raw::region::{Addressing, Rights};
use fi_shm::wait::{Patience, Waiter};
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// A message whose calls are being started.
struct Batch {
    /// The calls that it has come by.
    of: *const Inner,
    source: u32,
    packet: Packet,
    /// Where the next one begins.
    at: Cell<usize>,
    /// Calls without a reply that have run, and of which the source was not told.
    ran: Cell<u64>,
    /// The message of an action that waits on this thread, if there is one.
    outer: *const Self,
}

/// Takes the last message off the list of this thread.
struct LastBatch<'a>(&'a Batch);

impl Drop for LastBatch<'_> {
    #[inline]
    fn drop(&mut self) {
        BATCH.set(self.0.outer);
    }
}

/// Ends a call when it is dropped: behind the program's functions, which may panic.
struct Ending<'a>(&'a Inner);

impl Drop for Ending<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.end(1);
    }
}

/// A turn of the program's pool at the calls that wait for it.
struct Given(Option<Calls>);

impl Given {
    fn run(mut self) {
        let Some(calls) = self.0.take() else { return };
        if let Some(record) = calls.inner().next_given() {
            calls.run(record);
        }
        // The thread may not poll.
        calls.inner().send();
    }
}

impl Drop for Given {
    /// The pool has dropped the turn.
    fn drop(&mut self) {
        let Some(calls) = self.0.take() else { return };
        if let Some(record) = calls.inner().next_given() {
            let text = "the program's pool has dropped it";
            let (rank, id) = (record.source, record.header.id);
            calls.inner().turn().fail(rank, id, REFUSED, text);
        }
        calls.inner().send();
    }
}

thread_local! {
    /// The last message whose calls this thread has begun to start.
    static BATCH: Cell<*const Batch> = const { Cell::new(std::ptr::null()) };
    /// Actions that run on this thread, each in another one.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Memory for index data.
    static INDEX: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Bursts of looks before a wait sleeps, where each process has a processor: some milliseconds, as long
/// as a copy of tens of megabytes takes. The sleep of a shorter patience ends late.
const AWAKE: u32 = 2000;
/// The longest index data whose memory a thread keeps.
const MOST_INDEX: usize = 1 << 20;

/// What handles share.
pub(crate) struct Inner {
    /// Taken for a turn at the core.
    turns: Lock,
    core: UnsafeCell<Core>,
    ready: Mutex<VecDeque<Ready>>,
    /// Calls for the program's pool, of which it has as many turns or more.
    given: Mutex<VecDeque<Record>>,
    /// Messages in `ready`, and calls that were given to the program's pool.
    queued: AtomicUsize,
    /// Calls that have ended.
    ended: AtomicU64,
    lost: Mutex<Option<Error>>,
    collective: Mutex<()>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) actions: &'static [&'static Entry],
    pub(crate) settings: Settings,
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
}

/// Settings that each call looks at.
pub(crate) struct Settings {
    pub(crate) threshold: usize,
    pub(crate) most_body: usize,
    pub(crate) backlog: usize,
    pub(crate) waiting: usize,
    pub(crate) nested: usize,
    pub(crate) run: Option<Arc<dyn Fn(Work) + Send + Sync>>,
    pub(crate) are_crowded: bool,
}

// Handles to the fabric's objects are in the core alone, and all that it has is used in a `Turn`.
// SAFETY: `Send` requires that uses by threads one after the other do not race: the lock orders turns.
unsafe impl Send for Inner {}
// SAFETY: `Sync` requires the same for uses at the same time: the lock keeps turns apart, and all else
// is `Sync` of itself.
unsafe impl Sync for Inner {}

/// A rank that a call goes to, and that which waits for its reply.
pub(crate) struct Target {
    pub(crate) rank: u32,
    pub(crate) sink: Option<Arc<dyn Sink>>,
}

/// A thread's turn at the core.
pub(crate) struct Turn<'a>(&'a Inner);

impl Deref for Turn<'_> {
    type Target = Core;

    #[inline]
    fn deref(&self) -> &Core {
        // SAFETY: the lock is this value's, so nobody changes the core.
        unsafe { &*self.0.core.get() }
    }
}

impl DerefMut for Turn<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Core {
        // SAFETY: the lock is this value's, so nobody else uses the core; the value is borrowed for the
        // caller alone.
        unsafe { &mut *self.0.core.get() }
    }
}

impl Drop for Turn<'_> {
    #[inline]
    fn drop(&mut self) {
        let inner = self.0;
        let core: &mut Core = self;
        if !core.out.is_empty() {
            // ORDERING: a bound, which need not be exact.
            inner.queued.fetch_add(core.out.len(), Ordering::Relaxed);
            lock(&inner.ready).extend(core.out.drain(..));
        }
        inner.turns.give();
    }
}

/// Whether an action runs on this thread, or more of them, each in another one.
fn depth() -> usize {
    DEPTH.get()
}

impl Inner {
    pub(crate) fn new(
        core: Core,
        (rank, ranks): (u32, u32),
        pool: Arc<Pool>,
        actions: &'static [&'static Entry],
        settings: Settings,
    ) -> Self {
        Self {
            turns: Lock::new(),
            core: UnsafeCell::new(core),
            ready: Mutex::new(VecDeque::new()),
            given: Mutex::new(VecDeque::new()),
            queued: AtomicUsize::new(0),
            ended: AtomicU64::new(0),
            lost: Mutex::new(None),
            collective: Mutex::new(()),
            pool,
            actions,
            settings,
            rank,
            ranks,
        }
    }

    /// Waits for the turn of this thread.
    #[inline]
    pub(crate) fn turn(&self) -> Turn<'_> {
        self.turns.take();
        Turn(self)
    }

    /// Calls that were made, and those of them that have not ended.
    pub(crate) fn made_and_unended(&self) -> (u64, u64) {
        // ORDERING: pairs with the release addition in `end`: the effects of the ends are there.
        let ended = self.ended.load(Ordering::Acquire);
        let made = self.turn().made;
        (made, made.wrapping_sub(ended))
    }

    /// Notes the end of calls.
    #[inline]
    fn end(&self, calls: u64) {
        // ORDERING: behind all that the ends have brought; pairs with the load in `made_and_unended`.
        self.ended.fetch_add(calls, Ordering::Release);
    }

    /// Keeps other threads out of collective calls.
    pub(crate) fn collective(&self) -> MutexGuard<'_, ()> {
        lock(&self.collective)
    }

    /// Takes the first failure of a call without a reply.
    pub(crate) fn take_lost(&self) -> Option<Error> {
        lock(&self.lost).take()
    }

    /// Begins calls to targets, sends their arguments, or keeps them until these were read.
    ///
    /// A sink is told of the end, and of arguments that are the program's again. Returns whether too many
    /// bytes wait for room.
    #[inline]
    pub(crate) fn post<X: Save + Send + 'static>(
        &self,
        way: Way,
        header: Header,
        targets: &[Target],
        values: X,
        borrowed: Option<Arc<dyn Send + Sync>>,
    ) -> bool {
        // SAFETY: the values live as long as any others may.
        unsafe { self.post_lent(way, header, targets, values, borrowed) }
    }

    /// Does as [`Inner::post`] with values that a scope lends.
    ///
    /// # Safety
    /// The values may be used until `borrowed` is dropped.
    #[inline]
    pub(crate) unsafe fn post_lent<X: Save + Send>(
        &self,
        way: Way,
        header: Header,
        targets: &[Target],
        values: X,
        borrowed: Option<Arc<dyn Send + Sync>>,
    ) -> bool {
        if std::mem::needs_drop::<X>() {
            // SAFETY: the values may be used until `borrowed` is dropped.
            return unsafe { self.post_boxed(way, header, targets, Box::new(values), borrowed) };
        }
        let (index, chunks) = self.save(&values, self.settings.threshold);
        let sent = self.post_whole(way, header, targets, (&index, &chunks));
        INDEX.set(index);
        drop(chunks);
        match sent {
            Some(is_over) => is_over,
            // Again, from a place where they stay.
            // SAFETY: the values may be used until `borrowed` is dropped.
            None => unsafe { self.post_boxed(way, header, targets, Box::new(values), borrowed) },
        }
    }

    /// # Safety
    /// As [`Inner::post_lent`].
    unsafe fn post_boxed<X: Save + Send>(
        &self,
        way: Way,
        header: Header,
        targets: &[Target],
        values: Box<X>,
        borrowed: Option<Arc<dyn Send + Sync>>,
    ) -> bool {
        let (index, chunks) = self.save(&*values, self.settings.threshold);
        if let Some(is_over) = self.post_whole(way, header, targets, (&index, &chunks)) {
            drop(chunks);
            INDEX.set(index);
            return is_over;
        }
        let table = size_of::<Table>() + (chunks.len() + 1) * size_of::<Described>();
        let (index, chunks) = if table > self.settings.most_body {
            // So many chunks that not even their places fit in a message.
            drop(chunks);
            self.save(&*values, usize::MAX)
        } else {
            (index, chunks)
        };
        let placed = self.place(&index, &chunks);
        drop(chunks);
        let (places, regions, block) = match placed {
            Ok(placed) => placed,
            Err(error) => {
                INDEX.set(index);
                self.fail_here(header, targets, &error);
                return false;
            }
        };
        let arguments: Box<dyn Send + '_> = values;
        // SAFETY: only the lifetime changes: the values are used as long as they are kept, which is
        // until `borrowed`, beside them, is dropped (the requirement of the function).
        let arguments =
            unsafe { std::mem::transmute::<Box<dyn Send + '_>, Box<dyn Send>>(arguments) };
        let kept = Arc::new(Kept {
            regions,
            index: block,
            arguments: Mutex::new(arguments),
            borrowed,
        });
        let in_message = if kept.index.is_some() { &[] } else { &*index };
        let mut core = self.turn();
        for target in targets {
            let kept = KeptFor {
                kept: Arc::clone(&kept),
                sink: target.sink.clone(),
            };
            if let Some(header) = self.begin(&mut core, header, target) {
                core.append_places(target.rank, way, header, (in_message, &places), kept);
            }
        }
        let is_over = core.is_over(self.settings.waiting);
        drop(core);
        INDEX.set(index);
        is_over
    }

    fn save<'a, X: Save>(&'a self, values: &'a X, threshold: usize) -> (Vec<u8>, Vec<Chunk<'a>>) {
        let mut memory = INDEX.take();
        if memory.capacity() > MOST_INDEX {
            memory = Vec::new();
        }
        let mut saver = Saver::new(memory, threshold, Some(&self.pool));
        values.save(&mut saver);
        saver.into_parts()
    }

    /// Sends values whole, if they fit in a message; returns whether too many bytes wait for room.
    #[inline]
    fn post_whole(
        &self,
        way: Way,
        header: Header,
        targets: &[Target],
        (index, chunks): (&[u8], &[Chunk<'_>]),
    ) -> Option<bool> {
        let bytes = chunks.iter().map(|chunk| padded(chunk.bytes().len()));
        let table = match chunks.len() {
            0 => 0,
            many => size_of::<Table>() + many * size_of::<Described>(),
        };
        if table + padded(index.len()) + bytes.sum::<usize>() > self.settings.most_body {
            return None;
        }
        let mut core = self.turn();
        for target in targets {
            if let Some(header) = self.begin(&mut core, header, target) {
                if let Some(sink) = &target.sink {
                    sink.sent_at_once();
                }
                if chunks.is_empty() {
                    core.append_one(target.rank, way, header, index);
                } else {
                    core.append_whole(target.rank, way, header, (index, chunks));
                }
            }
        }
        Some(core.is_over(self.settings.waiting))
    }

    /// Begins a call; returns the header with its number. None where the rank is gone.
    #[inline]
    fn begin(&self, core: &mut Core, mut header: Header, target: &Target) -> Option<Header> {
        let rank = target.rank;
        let is_call = header.kind == CALL;
        core.made += u64::from(is_call);
        if core.is_gone(rank) {
            if is_call {
                core.out.push(match &target.sink {
                    Some(sink) => Ready::Failed(Arc::clone(sink), Error::Gone { rank }),
                    None => Ready::Lost(Error::Gone { rank }),
                });
                if target.sink.is_none() {
                    core.out.push(Ready::Ended(1));
                }
            }
            return None;
        }
        if is_call {
            core.begin(rank);
            header.id = match &target.sink {
                Some(sink) => core.wait_for(rank, Arc::clone(sink)),
                None => 0,
            };
        }
        Some(header)
    }

    /// Registers chunks where they lie, and puts index data that is too long for a message into a block.
    ///
    /// # Errors
    /// [`Error::NoRoom`], [`Error::Fabric`].
    fn place(&self, index: &[u8], chunks: &[Chunk<'_>]) -> Result<Placed, Error> {
        let mut placed = (Vec::with_capacity(chunks.len() + 1), Vec::new(), None);
        let (places, regions, block) = &mut placed;
        let table = size_of::<Table>() + chunks.len() * size_of::<Described>();
        if table + padded(index.len()) > self.settings.most_body {
            let mut one = self.pool.take(index.len())?;
            one.bytes_mut()[..index.len()].copy_from_slice(index);
            places.push(Place::of_block(&one, index.len(), true));
            *block = Some(one);
        }
        let domain = self.turn().domain.clone();
        for chunk in chunks {
            places.push(match chunk {
                Chunk::Block(block, len) => Place::of_block(block, *len, false),
                Chunk::Plain(bytes, align) => {
                    let at = bytes.as_ptr().cast_mut();
                    // SAFETY: the bytes are of values that are kept until they were read, and the
                    // region is dropped before them. Peers only read.
                    let region = unsafe {
                        domain.register(at, bytes.len(), Rights::READ, None, Addressing::Offset)?
                    };
                    let place = Place::of_region(&region, bytes.len(), *align);
                    regions.push(region);
                    place
                }
            });
        }
        Ok(placed)
    }

    /// Has calls fail before they were sent; or tells callers that there is no reply.
    #[cold]
    fn fail_here(&self, header: Header, targets: &[Target], error: &Error) {
        let mut core = self.turn();
        for target in targets {
            if header.kind != CALL {
                core.fail(target.rank, header.id, REFUSED, &error.to_string());
                continue;
            }
            core.made += 1;
            match &target.sink {
                Some(sink) => {
                    let failed = Ready::Failed(Arc::clone(sink), error.clone());
                    core.out.push(failed);
                }
                None => {
                    core.out.push(Ready::Lost(error.clone()));
                    core.out.push(Ready::Ended(1));
                }
            }
        }
    }
}

/// Places of chunks, regions that they are in, and the block of index data.
type Placed = (
    Vec<Place>,
    Vec<fi_provider::raw::region::Region>,
    Option<crate::pool::Block>,
);

impl Calls {
    /// Sends, receives, and runs the actions that others have called.
    pub fn poll(&self) {
        self.poll_once();
    }

    /// Does as [`Calls::poll`]; whether there was something.
    #[inline]
    pub(crate) fn poll_once(&self) -> bool {
        let inner = self.inner();
        let is_nested = depth() > 0;
        if is_nested && depth() >= inner.settings.nested {
            return self.poll_for_ends();
        }
        let mut any = is_nested && self.go_on();
        if is_nested && let Some(record) = inner.next_given() {
            // The threads of the pool may all wait, as this one does.
            self.run(record);
            any = true;
        }
        let mut next = inner.receive(true).or_else(|| inner.next());
        while let Some(ready) = next {
            any = true;
            self.handle(ready);
            next = inner.next();
        }
        if any {
            let mut core = inner.turn();
            if core.has_unsent() {
                core.send();
            }
        }
        any
    }

    /// Sends and receives, and starts no action.
    #[cold]
    fn poll_for_ends(&self) -> bool {
        let inner = self.inner();
        let mut any = false;
        inner.receive(false);
        while let Some(ready) = inner.next_end() {
            any = true;
            self.handle(ready);
        }
        any
    }

    #[inline]
    fn handle(&self, ready: Ready) {
        let inner = self.inner();
        match ready {
            Ready::Calls(source, packet) => self.start_all(source, packet),
            Ready::Reply(sink, record) => {
                let _ending = Ending(inner);
                self.finish(&*sink, record);
            }
            other => self.handle_rare(other),
        }
    }

    #[cold]
    fn handle_rare(&self, ready: Ready) {
        let inner = self.inner();
        match ready {
            Ready::Calls(..) | Ready::Reply(..) => {}
            Ready::Call(record) => self.give(record),
            Ready::Failed(sink, error) => {
                let _ending = Ending(inner);
                sink.fail(error);
            }
            Ready::Lost(error) => {
                lock(&inner.lost).get_or_insert(error);
            }
            Ready::Ended(calls) => inner.end(calls),
            Ready::Sent(KeptFor { kept, sink }) => {
                drop(kept);
                if let Some(sink) = sink {
                    sink.sent();
                }
            }
        }
    }

    /// Starts the calls of a message.
    fn start_all(&self, source: u32, packet: Packet) {
        let batch = Batch {
            of: self.inner(),
            source,
            packet,
            at: Cell::new(0),
            ran: Cell::new(0),
            outer: BATCH.get(),
        };
        BATCH.set(&raw const batch);
        // Behind a panic of the program's pool, too.
        let last = LastBatch(&batch);
        self.start_next(&batch);
        drop(last);
        self.tell_ran(&batch);
    }

    /// Starts the calls of a message that were not started yet.
    #[inline]
    fn start_next(&self, batch: &Batch) -> bool {
        let mut any = false;
        while let Some((header, end)) = batch.packet.record(batch.at.get()) {
            let at = batch.at.replace(end) + UNIT;
            any = true;
            if header.flags & CHUNKS != 0 || self.inner().settings.run.is_some() {
                self.start(Record::new(batch.source, header, batch.packet.clone(), at));
                continue;
            }
            let body = &batch.packet.bytes()[at..end];
            let has_run = self.run_with(batch.source, header, |here, entry, reply| {
                let args = Loader::new(body, &mut []).with_pool(&self.inner().pool);
                Ok(entry.run(here, args, reply))
            });
            batch.ran.set(batch.ran.get() + u64::from(has_run));
        }
        any
    }

    /// Tells the source of a message how many of its calls without a reply have run.
    fn tell_ran(&self, batch: &Batch) {
        let ran = batch.ran.take();
        if ran > 0 {
            self.inner().turn().note_ran(batch.source, ran);
        }
    }

    /// Goes on with messages whose calls this thread has begun to start: an action of one of them waits.
    #[cold]
    fn go_on(&self) -> bool {
        let mut any = false;
        let mut at = BATCH.get();
        // SAFETY: the messages are those of functions that this thread runs, each within the one before,
        // and takes them off the list at its end.
        while let Some(batch) = unsafe { at.as_ref() } {
            if std::ptr::eq(batch.of, self.inner()) {
                self.tell_ran(batch);
                any |= self.start_next(batch);
                self.tell_ran(batch);
            }
            at = batch.outer;
        }
        any
    }

    /// Ends a call by its reply.
    fn finish(&self, sink: &dyn Sink, mut record: Record) {
        if record.header.word != crate::wire::RETURNED {
            return sink.fail(record.failure());
        }
        let source = record.source;
        let loaded = record.load(&self.inner().pool, |from| sink.load(source, from));
        if loaded.is_err() {
            sink.fail(Error::Refused {
                rank: source,
                message: "the reply makes no sense".to_owned(),
            });
        }
    }

    /// Starts a call that has come: its chunks are read first, if it has some.
    fn start(&self, record: Record) {
        if record.header.flags & CHUNKS != 0 {
            let is_here = |chunk: &Described| chunk.kind == HERE;
            let is_whole = match record.table() {
                Ok(Some((_, chunks))) => chunks.iter().all(is_here),
                _ => false,
            };
            if !is_whole {
                return self.inner().turn().fetch(record, None);
            }
        }
        self.give(record);
    }

    /// Runs a call whose chunks are there, or gives it to the program's pool.
    fn give(&self, record: Record) {
        let inner = self.inner();
        let Some(run) = &inner.settings.run else {
            return self.run(record);
        };
        // ORDERING: a bound, which need not be exact.
        inner.queued.fetch_add(1, Ordering::Relaxed);
        lock(&inner.given).push_back(record);
        let given = Given(Some(self.clone()));
        run(Box::new(move || given.run()));
    }

    /// Runs the action of a record.
    fn run(&self, mut record: Record) {
        let (source, header) = (record.source, record.header);
        let has_run = self.run_with(source, header, |here, entry, reply| {
            record.load(&self.inner().pool, |args| entry.run(here, args, reply))
        });
        if has_run {
            self.inner().turn().note_ran(source, 1);
        }
    }

    /// Runs an action; whether its caller has to be told, as it waits for no reply.
    #[inline]
    fn run_with(
        &self,
        source: u32,
        header: Header,
        run: impl FnOnce(&Here<'_>, &Entry, &Reply<'_>) -> Result<Result<(), LoadError>, Broken>,
    ) -> bool {
        let inner = self.inner();
        let id = header.id;
        let entry = inner.actions.get(usize::from(header.word));
        let Some(entry) = entry.filter(|_| header.kind == CALL) else {
            inner
                .turn()
                .fail(source, id, REFUSED, "there is no such action");
            return false;
        };
        let reply = Reply::new(self, source, id);
        DEPTH.set(depth() + 1);
        let ran = catch_unwind(AssertUnwindSafe(|| {
            run(&Here::new(self, source), entry, &reply)
        }));
        DEPTH.set(depth() - 1);
        match ran {
            Ok(Ok(Ok(()))) => id == 0,
            // Of a destructor, behind the result.
            Err(_) if reply.is_sent() && id != 0 => false,
            failed => {
                self.tell_failure((source, id), entry.name(), failed);
                false
            }
        }
    }

    #[cold]
    fn tell_failure(
        &self,
        (source, id): (u32, u64),
        name: &str,
        ran: std::thread::Result<Result<Result<(), LoadError>, Broken>>,
    ) {
        let (how, text) = match ran {
            Ok(Ok(Err(error))) => (UNLOADED, format!("{name}: {error}")),
            Ok(_) => (
                REFUSED,
                format!("{name}: the table of chunks makes no sense"),
            ),
            Err(panic) => (PANICKED, format!("{name}: {}", message(&*panic))),
        };
        self.inner().turn().fail(source, id, how, &text);
    }

    /// # Errors
    /// [`Error::Nested`] in an action.
    pub(crate) fn refuse_in_actions(&self) -> Result<(), Error> {
        match depth() {
            0 => Ok(()),
            depth => Err(Error::Nested(depth)),
        }
    }

    /// # Errors
    /// [`Error::Nested`] where no action may run within those that this thread runs.
    pub(crate) fn refuse_too_deep(&self) -> Result<(), Error> {
        match depth() {
            depth if depth >= self.inner().settings.nested => Err(Error::Nested(depth)),
            _ => Ok(()),
        }
    }

    /// Polls until `is_done`, and runs actions meanwhile.
    ///
    /// # Errors
    /// [`Error::Nested`].
    pub(crate) fn wait_until(&self, is_done: impl Fn() -> bool) -> Result<(), Error> {
        if is_done() {
            return Ok(());
        }
        self.refuse_too_deep()?;
        self.wait_anyhow(is_done);
        Ok(())
    }

    /// Polls until `is_done`, and runs actions meanwhile unless too many wait for others.
    pub(crate) fn wait_anyhow(&self, is_done: impl Fn() -> bool) {
        let are_crowded = self.inner().settings.are_crowded;
        let mut patience = Patience::new(are_crowded);
        if !are_crowded {
            patience.bursts = AWAKE;
        }
        let patience = || Waiter::new(patience);
        let mut waiter = patience();
        loop {
            let any = self.poll_once();
            if is_done() {
                return;
            }
            if any {
                waiter = patience();
            }
            waiter.pause();
        }
    }

    /// Runs actions while too many bytes wait for room, unless this is an action.
    #[cold]
    pub(crate) fn hold_back(&self) {
        let inner = self.inner();
        if depth() == 0 {
            self.wait_anyhow(|| !inner.turn().is_over(inner.settings.waiting));
        }
    }
}

impl Inner {
    /// Takes a turn; returns a piece of work, if `at_once` and there is one alone.
    #[inline]
    fn receive(&self, at_once: bool) -> Option<Ready> {
        // ORDERING: a bound, which need not be exact.
        let queued = self.queued.load(Ordering::Relaxed);
        let mut core = self.turn();
        core.turn(queued < self.settings.backlog);
        if at_once && queued == 0 && core.out.len() == 1 {
            return core.out.pop();
        }
        None
    }

    /// The next piece of work.
    #[inline]
    fn next(&self) -> Option<Ready> {
        // ORDERING: looked at again under the lock.
        if self.queued.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let next = lock(&self.ready).pop_front()?;
        // ORDERING: a bound.
        self.queued.fetch_sub(1, Ordering::Relaxed);
        Some(next)
    }
}

impl Inner {
    /// The next call for the program's pool.
    fn next_given(&self) -> Option<Record> {
        self.settings.run.as_ref()?;
        let next = lock(&self.given).pop_front()?;
        // ORDERING: a bound, which need not be exact.
        self.queued.fetch_sub(1, Ordering::Relaxed);
        Some(next)
    }

    /// Sends all that there is room for.
    fn send(&self) {
        let mut core = self.turn();
        if core.has_unsent() {
            core.send();
        }
    }

    /// The next piece of work that is no call.
    fn next_end(&self) -> Option<Ready> {
        let mut ready = lock(&self.ready);
        let is_end = |ready: &Ready| !matches!(ready, Ready::Calls(..) | Ready::Call(_));
        let at = ready.iter().position(is_end)?;
        // ORDERING: a bound.
        self.queued.fetch_sub(1, Ordering::Relaxed);
        ready.remove(at)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let begin = Instant::now();
        let mut core = self.turn();
        while core.has_unsent() && begin.elapsed() < FAREWELL {
            core.turn(false);
        }
        core.out.clear();
        // The launcher may be gone.
        let _ = core.job.leave();
    }
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message")
}
