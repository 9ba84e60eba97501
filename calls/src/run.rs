//! Polling: actions that others have called are run, and calls of this process end.

#![expect(
    unsafe_code,
    reason = "an action that waits goes on with messages of functions that it runs within"
)]

use crate::action::{Entry, Here};
use crate::archive::{LoadError, Loader};
use crate::call::Sink;
use crate::calls::Calls;
use crate::core::{FAREWELL, KeptFor, Ready};
use crate::error::Error;
use crate::inner::Inner;
use crate::packet::{Broken, Packet, Record, record};
use crate::reply::Reply;
use crate::sync::lock;
use crate::wire::{CALL, CHUNKS, Described, HERE, Header, PANICKED, REFUSED, UNIT, UNLOADED};
use fi_shm::wait::{Patience, Waiter};
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
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

/// The call of a rank that runs.
struct Running {
    source: u32,
    /// None between calls.
    entry: Cell<Option<&'static Entry>>,
    /// The number by which its caller waits, or 0.
    id: Cell<u64>,
    is_replied: Cell<bool>,
}

impl Running {
    fn of(source: u32) -> Self {
        Self {
            source,
            entry: Cell::new(None),
            id: Cell::new(0),
            is_replied: Cell::new(false),
        }
    }
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
    fn new(calls: &Calls) -> Self {
        // ORDERING: the turn goes to its thread behind it.
        calls.inner().turns_given.fetch_add(1, Ordering::Relaxed);
        Self(Some(calls.clone()))
    }

    fn run(mut self) {
        let Some(calls) = self.0.take() else { return };
        if let Some(record) = calls.inner().next_given() {
            calls.run(record);
        }
        Self::end(calls);
    }

    /// Ends a turn: lets its handle go, and then tells so.
    fn end(calls: Calls) {
        // The thread may not poll.
        calls.inner().send();
        let turns = Arc::clone(&calls.inner().turns_given);
        // It is not the program's, which waits for turns where it drops its last handle.
        DEPTH.set(depth() + 1);
        drop(calls);
        DEPTH.set(depth() - 1);
        // ORDERING: pairs with the load in the drop of `Calls`.
        turns.fetch_sub(1, Ordering::Release);
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
        Self::end(calls);
    }
}

impl Drop for Calls {
    /// Waits, where this is the program's last handle, for the handles of the program's pool, for a
    /// while: with the last one of all this process leaves the job, which a thread of the pool may not
    /// come to where the program ends.
    fn drop(&mut self) {
        let inner = self.shared();
        // ORDERING: pairs with the end of turns.
        let turns = || inner.turns_given.load(Ordering::Acquire);
        if depth() > 0 || turns() == 0 {
            return;
        }
        let begin = Instant::now();
        while (1..=turns()).contains(&(Arc::strong_count(inner) - 1)) && begin.elapsed() < FAREWELL
        {
            std::thread::yield_now();
        }
    }
}

thread_local! {
    /// The last message whose calls this thread has begun to start.
    static BATCH: Cell<*const Batch> = const { Cell::new(std::ptr::null()) };
    /// Actions that run on this thread, each in another one.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Bursts of looks before a wait sleeps, where each process has a processor: some milliseconds, as long
/// as a copy of tens of megabytes takes. The sleep of a shorter patience ends late.
const AWAKE: u32 = 2000;

/// A panic that goes on later.
pub(crate) type Panic = Box<dyn Any + Send>;

/// The number of actions that run on this thread, each in another one.
fn depth() -> usize {
    DEPTH.get()
}

/// Sets the number of actions that run on this thread back.
struct BackTo(usize);

impl Drop for BackTo {
    #[inline]
    fn drop(&mut self) {
        DEPTH.set(self.0);
    }
}

/// Runs a function of the program's that a poll calls, which counts as an action does: it may wait
/// in the same places.
#[inline]
pub(crate) fn nested<T>(run: impl FnOnce() -> T) -> T {
    let _back = BackTo(depth());
    DEPTH.set(depth() + 1);
    run()
}

/// Keeps the first panic of several.
pub(crate) fn keep_first(first: &mut Option<Panic>, panic: Panic) {
    match first {
        None => *first = Some(panic),
        Some(_) => drop_panic(panic),
    }
}

/// Drops a panic that does not go on. Its value is the program's, and may panic in turn when it is
/// dropped: such a second value is never dropped.
pub(crate) fn drop_panic(panic: Panic) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(second);
    }
}

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

    /// Sends and receives, and starts no action; ends no call either in a function that was called
    /// so.
    #[cold]
    fn poll_for_ends(&self) -> bool {
        let inner = self.inner();
        let mut any = false;
        inner.receive(false);
        if depth() > inner.settings.nested {
            return false;
        }
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
    fn start_next(&self, batch: &Batch) -> bool {
        let first = batch.at.get();
        // An action of the message may wait, and others of it run meanwhile: each time has its own.
        let running = Running::of(batch.source);
        let gives = self.inner().settings.run.is_some();
        let bytes = batch.packet.bytes();
        self.catch(&running, || {
            while let Some((header, end)) = record(bytes, batch.at.get()) {
                let at = batch.at.replace(end) + UNIT;
                if header.flags & CHUNKS != 0 || gives {
                    let packet = batch.packet.clone();
                    self.start(Record::new(batch.source, header, packet, at));
                    continue;
                }
                let has_run = self.run_with(&running, header, |here, entry, reply| {
                    let args = Loader::new(&bytes[at..end], &mut []);
                    Ok(entry.run(here, args.with_pool(&self.inner().pool), reply))
                });
                batch.ran.set(batch.ran.get() + u64::from(has_run));
            }
        });
        batch.at.get() != first
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
        let given = Given::new(self);
        run(Box::new(move || given.run()));
    }

    /// Runs the action of a record.
    fn run(&self, record: Record) {
        let (source, header) = (record.source, record.header);
        let running = Running::of(source);
        let mut record = Some(record);
        let mut has_run = false;
        self.catch(&running, || {
            let Some(mut record) = record.take() else {
                return;
            };
            has_run = self.run_with(&running, header, |here, entry, reply| {
                record.load(&self.inner().pool, |args| entry.run(here, args, reply))
            });
        });
        if has_run {
            self.inner().turn().note_ran(source, 1);
        }
    }

    /// Runs actions by `run`, and again behind one that has panicked, of which its caller is told.
    /// A panic of the program's pool goes on behind the last of them.
    #[inline]
    fn catch(&self, running: &Running, mut run: impl FnMut()) {
        let outer = depth();
        let mut of_pool = None;
        while let Err(panic) = catch_unwind(AssertUnwindSafe(&mut run)) {
            DEPTH.set(outer);
            match running.entry.take() {
                Some(entry) => self.tell_panic(running, entry, panic),
                None => keep_first(&mut of_pool, panic),
            }
        }
        if let Some(panic) = of_pool {
            resume_unwind(panic);
        }
    }

    /// Tells the caller of an action that it has panicked.
    #[cold]
    fn tell_panic(&self, running: &Running, entry: &Entry, panic: Panic) {
        let id = running.id.get();
        // Else of a destructor, behind the result.
        if !running.is_replied.get() || id == 0 {
            let text = format!("{}: {}", entry.name(), message(&*panic));
            let mut core = self.inner().turn();
            core.fail(running.source, id, PANICKED, &text);
        }
        drop_panic(panic);
    }

    /// Runs an action; whether its caller has to be told, as it waits for no reply.
    #[inline]
    fn run_with(
        &self,
        running: &Running,
        header: Header,
        run: impl FnOnce(&Here<'_>, &Entry, &Reply<'_>) -> Result<Result<(), LoadError>, Broken>,
    ) -> bool {
        let source = running.source;
        let id = header.id;
        let entry = self.inner().actions.get(usize::from(header.word));
        let Some(&entry) = entry.filter(|_| header.kind == CALL) else {
            self.refuse((source, id), REFUSED, "there is no such action");
            return false;
        };
        running.entry.set(Some(entry));
        running.id.set(id);
        running.is_replied.set(false);
        let reply = Reply::new(self, source, id, &running.is_replied);
        let depth = depth();
        DEPTH.set(depth + 1);
        let ran = run(&Here::new(self, source), entry, &reply);
        DEPTH.set(depth);
        running.entry.set(None);
        if matches!(ran, Ok(Ok(()))) {
            return id == 0;
        }
        self.tell_failure((source, id), entry.name(), ran);
        false
    }

    #[cold]
    fn tell_failure(&self, of: (u32, u64), name: &str, ran: Result<Result<(), LoadError>, Broken>) {
        let (how, text) = match ran {
            Ok(Err(error)) => (UNLOADED, error.to_string()),
            _ => (REFUSED, "the table of chunks makes no sense".to_owned()),
        };
        self.refuse(of, how, &format!("{name}: {text}"));
    }

    /// Tells a caller that its call has not run.
    #[cold]
    fn refuse(&self, (source, id): (u32, u64), how: u16, text: &str) {
        self.inner().turn().fail(source, id, how, text);
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
            if waiter.pause() {
                self.inner().turn().note_sleep();
            }
        }
    }

    /// Does as [`Calls::wait_anyhow`], to its end also where functions of the program's, which a poll
    /// calls, panic.
    ///
    /// # Errors
    /// The first panic.
    pub(crate) fn wait_through(&self, is_done: impl Fn() -> bool) -> Result<(), Panic> {
        let mut first = None;
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.wait_anyhow(&is_done))) {
            keep_first(&mut first, panic);
        }
        first.map_or(Ok(()), Err)
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

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message")
}
