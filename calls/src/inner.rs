//! The state that handles of calls share: the core by turns, and the work that comes out of these.

#![expect(
    unsafe_code,
    reason = "shares the core by turns, and keeps arguments that a scope lends"
)]

use crate::action::Entry;
use crate::archive::{Chunk, Save, Saver};
use crate::call::Sink;
use crate::config::Work;
use crate::core::{Core, FAREWELL, Kept, KeptFor, Place, Ready, Way};
use crate::error::Error;
use crate::packet::Record;
use crate::pool::{Block, Pool};
use crate::sync::{Mutex, MutexGuard, lock};
use crate::wire::{CALL, Described, Header, REFUSED, Table, padded};
use fi_provider::raw::lock::Lock;
use fi_provider::raw::region::{Addressing, Region, Rights};
use std::cell::{Cell, UnsafeCell};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

thread_local! {
    /// Memory for index data.
    static INDEX: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The longest index data that is saved in a turn: longer is copied in more time than a turn takes.
const MOST_FIXED: usize = 512;
/// The longest index data whose memory a thread keeps.
const MOST_INDEX: usize = 1 << 20;

/// The state that handles share.
pub(crate) struct Inner {
    /// Taken for a turn at the core.
    turns: Lock,
    core: ByTurns,
    ready: Mutex<VecDeque<Ready>>,
    /// Calls for the program's pool, of which it has as many turns or more.
    pub(crate) given: Mutex<VecDeque<Record>>,
    /// Messages in `ready`, and calls that were given to the program's pool.
    pub(crate) queued: AtomicUsize,
    /// Calls that have ended.
    ended: AtomicU64,
    pub(crate) lost: Mutex<Option<Error>>,
    collective: Mutex<()>,
    pub(crate) pool: Arc<Pool>,
    /// Turns of the program's pool that have handles.
    pub(crate) turns_given: Arc<AtomicUsize>,
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

/// The core, which is used in a [`Turn`] alone: its endpoints, queues and list of arrivals are of one
/// thread at a time, and no handle to them leaves it.
/// The compiler finds out about all else that handles share.
struct ByTurns(UnsafeCell<Core>);

// SAFETY: `Send` requires that uses by threads one after the other do not race: the lock orders turns.
unsafe impl Send for ByTurns {}
// SAFETY: `Sync` requires the same for uses at the same time: the lock keeps turns apart.
unsafe impl Sync for ByTurns {}

/// A rank that a call goes to, and the sink that waits for its reply.
pub(crate) struct Target {
    pub(crate) rank: u32,
    pub(crate) sink: Option<Arc<dyn Sink>>,
}

/// A record that is sent to some ranks, with values.
#[derive(Clone, Copy)]
pub(crate) struct Post<'a> {
    pub(crate) way: Way,
    pub(crate) header: Header,
    pub(crate) targets: &'a [Target],
}

/// The bytes that chunks and their table take in a message.
#[inline(never)]
fn bytes_of_chunks(chunks: &[Chunk<'_>]) -> usize {
    let bytes = chunks.iter().map(|chunk| padded(chunk.bytes().len()));
    size_of::<Table>() + size_of::<Described>() * chunks.len() + bytes.sum::<usize>()
}

/// Places of chunks, regions that they are in, and the block of index data.
type Placed = (Vec<Place>, Vec<Region>, Option<Block>);

/// A thread's turn at the core.
pub(crate) struct Turn<'a>(&'a Inner);

impl Deref for Turn<'_> {
    type Target = Core;

    #[inline]
    fn deref(&self) -> &Core {
        // SAFETY: the lock is this value's, so nobody changes the core.
        unsafe { &*self.0.core.0.get() }
    }
}

impl DerefMut for Turn<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Core {
        // SAFETY: the lock is this value's, so nobody else uses the core; the value is borrowed for the
        // caller alone.
        unsafe { &mut *self.0.core.0.get() }
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
            core: ByTurns(UnsafeCell::new(core)),
            ready: Mutex::new(VecDeque::new()),
            given: Mutex::new(VecDeque::new()),
            queued: AtomicUsize::new(0),
            ended: AtomicU64::new(0),
            lost: Mutex::new(None),
            collective: Mutex::new(()),
            pool,
            turns_given: Arc::default(),
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
    pub(crate) fn end(&self, calls: u64) {
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
    pub(crate) fn post<X: Save + Send + 'static>(&self, post: Post<'_>, values: X) -> bool {
        // SAFETY: the values live as long as any others may.
        unsafe { self.post_lent(post, values, None) }
    }

    /// Does as [`Inner::post`] with values that a scope lends.
    ///
    /// # Safety
    /// The values may be used until `borrowed` is dropped.
    #[inline]
    pub(crate) unsafe fn post_lent<X: Save + Send>(
        &self,
        post: Post<'_>,
        values: X,
        borrowed: Option<Arc<dyn Send + Sync>>,
    ) -> bool {
        if std::mem::needs_drop::<X>() {
            // SAFETY: the values may be used until `borrowed` is dropped.
            return unsafe { self.post_boxed(post, Box::new(values), borrowed) };
        }
        if let Some(len @ 0..=MOST_FIXED) = X::FIXED
            && padded(len) <= self.settings.most_body
        {
            return self.post_fixed(post, (&values, len));
        }
        let (index, chunks) = self.save(&values, self.settings.threshold);
        let sent = self.post_whole(post, (&index, &chunks));
        INDEX.set(index);
        drop(chunks);
        match sent {
            Some(is_over) => is_over,
            // Again, from a place where they stay.
            // SAFETY: the values may be used until `borrowed` is dropped.
            None => unsafe { self.post_boxed(post, Box::new(values), borrowed) },
        }
    }

    /// Sends values that have [`Save::FIXED`], from where they are; returns whether too many bytes wait
    /// for room.
    #[inline]
    fn post_fixed<X: Save>(&self, post: Post<'_>, values: (&X, usize)) -> bool {
        let mut core = self.turn();
        for target in post.targets {
            if let Some(header) = self.begin(&mut core, post.header, target) {
                if let Some(sink) = &target.sink {
                    sink.sent_at_once();
                }
                core.append_fixed(target.rank, post.way, header, values);
            }
        }
        core.is_over(self.settings.waiting)
    }

    /// # Safety
    /// As [`Inner::post_lent`].
    unsafe fn post_boxed<X: Save + Send>(
        &self,
        post: Post<'_>,
        values: Box<X>,
        borrowed: Option<Arc<dyn Send + Sync>>,
    ) -> bool {
        let (index, chunks) = self.save(&*values, self.settings.threshold);
        if let Some(is_over) = self.post_whole(post, (&index, &chunks)) {
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
                self.fail_here(post.header, post.targets, &error);
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
        for target in post.targets {
            let kept = KeptFor {
                kept: Arc::clone(&kept),
                sink: target.sink.clone(),
            };
            if let Some(header) = self.begin(&mut core, post.header, target) {
                core.append_places(target.rank, post.way, header, (in_message, &places), kept);
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
    fn post_whole(&self, post: Post<'_>, (index, chunks): (&[u8], &[Chunk<'_>])) -> Option<bool> {
        let bytes = match chunks {
            [] => 0,
            _ => bytes_of_chunks(chunks),
        };
        if padded(index.len()) + bytes > self.settings.most_body {
            return None;
        }
        let mut core = self.turn();
        for target in post.targets {
            if let Some(header) = self.begin(&mut core, post.header, target) {
                if let Some(sink) = &target.sink {
                    sink.sent_at_once();
                }
                if chunks.is_empty() {
                    core.append(target.rank, post.way, header, std::iter::once(index));
                } else {
                    core.append_whole(target.rank, post.way, header, (index, chunks));
                }
            }
        }
        Some(core.is_over(self.settings.waiting))
    }

    /// Begins a call; returns the header with its number. None where nothing can be sent to the rank.
    #[inline]
    fn begin(&self, core: &mut Core, mut header: Header, target: &Target) -> Option<Header> {
        let rank = target.rank;
        let is_call = header.kind == CALL;
        core.made += u64::from(is_call);
        if core.is_lost(rank) {
            if is_call {
                core.fail_of_lost(rank, target.sink.as_ref());
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
            core.fail_at_once(target.sink.as_ref(), error.clone());
        }
    }

    /// Takes a turn; returns a piece of work, if `at_once` and there is one alone.
    #[inline]
    pub(crate) fn receive(&self, at_once: bool) -> Option<Ready> {
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
    pub(crate) fn next(&self) -> Option<Ready> {
        // ORDERING: looked at again under the lock.
        if self.queued.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let next = lock(&self.ready).pop_front()?;
        // ORDERING: a bound.
        self.queued.fetch_sub(1, Ordering::Relaxed);
        Some(next)
    }

    /// The next call for the program's pool.
    pub(crate) fn next_given(&self) -> Option<Record> {
        self.settings.run.as_ref()?;
        let next = lock(&self.given).pop_front()?;
        // ORDERING: a bound, which need not be exact.
        self.queued.fetch_sub(1, Ordering::Relaxed);
        Some(next)
    }

    /// Sends all that there is room for.
    pub(crate) fn send(&self) {
        let mut core = self.turn();
        if core.has_unsent() {
            core.send();
        }
    }

    /// The next piece of work that is no call.
    pub(crate) fn next_end(&self) -> Option<Ready> {
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
            // Takes calls, too, which nobody runs: over a device requests are sent by the progress
            // that takes them.
            core.turn(true);
            core.out.clear();
        }
        core.quiet(begin + FAREWELL);
        core.out.clear();
        // Where nobody has closed the calls. The launcher may be gone.
        let _ = core.job.leave();
    }
}
