//! Which tagged message goes to which receive. It does no I/O: arrivals come from any transport.
//!
//! Receives are in a queue, in posting order, as long as each message goes to the first of them. A
//! message that goes to another has those before that sorted, once: the ones that take one tag alone
//! are found by a hash of tag and source, as early messages are; the ones that ignore bits are in a
//! list beside them. Numbers in posting order decide between the two, and both are older than all
//! that is in the queue.

#![expect(unsafe_code, reason = "tells which values are in which lists")]

mod buckets;
mod lists;
mod queue;
#[cfg(test)]
mod tests;
mod wanted;

use super::address_vector::PeerIndex;
use super::completion::Source;
use super::fifo::Fifo;
use super::matcher::Place;
use buckets::{Buckets, Key};
use lists::{Heads, List, Slab};
use queue::{Plain, Queued};
use std::collections::VecDeque;
pub(crate) use wanted::Receive;
pub use wanted::Wanted;

/// A message that has come before its receive.
#[derive(Debug)]
pub(crate) struct Early<M> {
    pub(crate) tag: u64,
    pub(crate) source: Option<PeerIndex>,
    pub(crate) len: usize,
    pub(crate) message: M,
    /// The bytes that it is held with.
    held: usize,
}

impl<M> Early<M> {
    fn tag_key(&self) -> Key {
        Key::new(self.tag, None)
    }

    fn source_key(&self) -> Key {
        Key::new(self.tag, self.source)
    }
}

/// A receive of one tag that is sorted.
#[derive(Clone, Copy, Debug)]
struct Posted {
    key: Key,
    /// Number in posting order.
    number: u64,
    address: *mut u8,
    len: usize,
    context: u64,
}

impl Posted {
    fn receive(self) -> Receive {
        let wanted = Wanted {
            tag: self.key.tag,
            ignore: 0,
            source: self.key.source(),
        };
        Receive {
            wanted,
            address: self.address,
            len: self.len,
            context: self.context,
        }
    }
}

/// The place of a receive of one tag.
type Exact = lists::At<Posted, 1>;
/// The place of an early message.
type Held<M> = lists::At<Early<M>, 3>;

/// Slots of the queue of receives at first.
const SLOTS: usize = 64;
/// The only kind of list of receives.
const POSTED: usize = 0;
/// The kinds of lists of early messages: of all, of one tag, of one tag and source.
const ALL: usize = 0;
const OF_TAG: usize = 1;
const OF_SOURCE: usize = 2;

/// Receives without messages, and messages (`M`) without receives: never both for one another.
#[derive(Debug)]
pub(crate) struct Tagged<M> {
    /// Number of early messages that are held, without those that are claimed.
    waiting: usize,
    /// Number of obstacles to a message's way to the first receive of the queue: receives that are
    /// sorted, early messages whose senders have no numbers, and messages that wait after they were
    /// matched.
    special: usize,
    /// Receives that are not sorted, in posting order. Closed as long as there are early messages.
    queue: Fifo<Queued>,
    /// The next number of a receive that is sorted.
    sorted: u64,
    /// Sorted receives of one tag, each in the list of its key in `exact` alone.
    receives: Slab<Posted, 1>,
    exact: Buckets,
    /// Other sorted receives: those that ignore bits of the tag, by their numbers.
    masked: VecDeque<(u64, Receive)>,
    /// Early messages, each in `all`, in the list of its tag in `of_tag`, and in that of its tag
    /// and source in `of_source` if its sender has a number.
    early: Slab<Early<M>, 3>,
    /// One list.
    all: Heads,
    of_tag: Buckets,
    of_source: Buckets,
    /// Messages that are kept for a receive of the same context, the oldest first.
    claimed: VecDeque<(u64, Early<M>)>,
    /// Bytes and number of early messages that are held, at most.
    most: (usize, usize),
    held: usize,
    /// Number of early messages whose senders have no numbers.
    nameless: usize,
}

/// A receive that was found for a message, also where something is special.
pub(crate) enum Found<'a> {
    Queued(Plain<'a>),
    Sorted(Sorted<'a>),
}

/// A sorted receive of one tag.
pub(crate) struct Sorted<'a> {
    receives: &'a mut Slab<Posted, 1>,
    special: &'a mut usize,
    /// A receive of the slab, in a list of live heads.
    at: Exact,
}

impl Found<'_> {
    /// Returns the number that the receive was posted with.
    #[inline(always)]
    pub(crate) fn context(&self) -> &u64 {
        match self {
            Self::Queued(plain) => plain.context(),
            // SAFETY: the place is that of a receive.
            Self::Sorted(sorted) => &unsafe { sorted.receives.get(sorted.at) }.context,
        }
    }

    /// Takes the receive; returns the address of its buffer.
    #[inline(always)]
    pub(crate) fn take(self) -> *mut u8 {
        match self {
            Self::Queued(plain) => plain.take(),
            Self::Sorted(sorted) => {
                *sorted.special -= 1;
                // SAFETY: the place is that of a receive, in a list of live heads, and forgotten
                // with `self`.
                unsafe { sorted.receives.remove(sorted.at) }.address
            }
        }
    }
}

impl<M> Tagged<M> {
    /// Makes a matcher that holds early messages of so many bytes, and so many.
    pub(crate) fn new(most: (usize, usize)) -> Self {
        Self {
            waiting: 0,
            special: 0,
            queue: Fifo::new(SLOTS),
            sorted: 0,
            receives: Slab::new(),
            exact: Buckets::new(),
            masked: VecDeque::new(),
            early: Slab::new(),
            all: Heads::new(1),
            of_tag: Buckets::new(),
            of_source: Buckets::new(),
            claimed: VecDeque::new(),
            most,
            held: 0,
            nameless: 0,
        }
    }

    /// Returns the first receive of the queue, where few instructions find that it is for a message
    /// of `len` bytes that has come from `source`, and long enough, and that nothing is special
    /// ([`Tagged::has_special`]): so that [`Tagged::arrive`] would take it.
    #[inline(always)]
    pub(crate) fn first_plain(
        &mut self,
        tag: u64,
        source: &Source,
        len: usize,
    ) -> Option<Plain<'_>> {
        debug_assert!(!self.has_special());
        Plain::of(self.queue.first()?, tag, source, len)
    }

    /// Returns whether there are other receives than those of the queue, or messages that may go
    /// first.
    #[inline(always)]
    pub(crate) fn has_special(&self) -> bool {
        self.special != 0
    }

    /// Notes that a message waits after it was matched.
    pub(crate) fn note_waiting(&mut self) {
        self.special += 1;
    }

    /// Notes that such a message waits no more.
    pub(crate) fn note_delivered(&mut self) {
        self.special -= 1;
    }

    /// Goes on at the first slot of the queue's memory if it is its turn. Returns whether it was.
    #[inline(always)]
    pub(crate) fn wrap(&mut self) -> bool {
        self.queue.wrap()
    }

    /// Does as [`Tagged::first_plain`] also where something is special: none where a receive that
    /// ignores bits is first, or one that is apart or too short.
    #[inline(never)]
    pub(crate) fn find_plain(&mut self, tag: u64, source: Source, len: usize) -> Option<Found<'_>> {
        let exact = self.first_exact(tag, source);
        if !self.masked.is_empty() && self.first_masked(tag, source.into(), exact).is_some() {
            return None;
        }
        if let Some(at) = exact {
            // SAFETY: the place is that of a receive.
            if len > unsafe { self.receives.get(at) }.len {
                return None;
            }
            let Self {
                receives, special, ..
            } = self;
            return Some(Found::Sorted(Sorted {
                receives,
                special,
                at,
            }));
        }
        if !self.sort_before(tag, source.into()) {
            return None;
        }
        Plain::of(self.queue.first()?, tag, &source, len).map(Found::Queued)
    }

    /// Finds the place for a message of `len` bytes that has come from `source`.
    pub(crate) fn arrive(
        &mut self,
        tag: u64,
        source: Option<PeerIndex>,
        len: usize,
    ) -> Option<Place> {
        let exact = self.first_exact(tag, source.into());
        let receive = match (self.first_masked(tag, source, exact), exact) {
            (Some(at), _) => self.take_masked(at)?,
            // SAFETY: the place is that of a receive, which nobody looks for any more.
            (None, Some(at)) => unsafe { self.take_exact(at) },
            (None, None) if self.sort_before(tag, source) => self.queue.pop()?.receive(),
            (None, None) => return None,
        };
        Some(receive.place(len))
    }

    /// Sorts the receives of the queue before the first one that takes a message. Returns whether
    /// there is one. No sorted one takes it.
    fn sort_before(&mut self, tag: u64, source: Option<PeerIndex>) -> bool {
        loop {
            self.queue.wrap();
            let Some(first) = self.queue.first() else {
                return false;
            };
            if first.get().takes(tag, source) {
                return true;
            }
            let queued = first.take();
            self.sort(&queued);
        }
    }

    /// Sorts a receive.
    fn sort(&mut self, queued: &Queued) {
        let (receive, number) = (queued.receive(), self.sorted);
        self.sorted += 1;
        self.special += 1;
        if !queued.is_exact() {
            return self.masked.push_back((number, receive));
        }
        if self.receives.is_full() {
            self.receives.grow();
            let receives = &mut self.receives;
            let many = receives.capacity();
            // SAFETY: the lists of `exact` are those of receives alone.
            unsafe { (self.exact).grow(many, (receives, POSTED), |posted| posted.key) };
        }
        let key = Key::new(receive.wanted.tag, receive.wanted.source);
        let posted = Posted {
            key,
            number,
            address: receive.address,
            len: receive.len,
            context: receive.context,
        };
        // SAFETY: there is room; the lists of `exact` are those of receives alone.
        unsafe { self.receives.add(self.exact.of(key), posted) };
    }

    /// Returns the first sorted receive of one tag for a message.
    #[inline(always)]
    fn first_exact(&self, tag: u64, source: Source) -> Option<Exact> {
        let any = self.first_of(Key::from(tag, Source::NONE));
        if source == Source::NONE {
            return any;
        }
        let directed = self.first_of(Key::from(tag, source));
        match (directed, any) {
            (Some(one), Some(other)) => {
                // SAFETY: both places are those of receives.
                let [first, second] = [one, other].map(|at| unsafe { self.receives.get(at) });
                Some(if first.number < second.number {
                    one
                } else {
                    other
                })
            }
            (one, other) => one.or(other),
        }
    }

    /// Returns the first receive of this key.
    #[inline(always)]
    fn first_of(&self, key: Key) -> Option<Exact> {
        // SAFETY: the lists of `exact` are those of receives alone.
        let mut near = unsafe { self.receives.in_order(POSTED, self.exact.of(key)) };
        // Mostly the first.
        let (first, posted) = near.next()?;
        if posted.key == key {
            return Some(first);
        }
        let found = near.find(|(_, posted)| posted.key == key);
        found.map(|(at, _)| at)
    }

    /// Returns the first sorted receive that ignores bits and takes the message, if it was posted
    /// before `exact`.
    fn first_masked(
        &self,
        tag: u64,
        source: Option<PeerIndex>,
        exact: Option<Exact>,
    ) -> Option<usize> {
        // SAFETY: the place is that of a receive.
        let before = exact.map_or(u64::MAX, |at| unsafe { self.receives.get(at) }.number);
        let masked = self.masked.iter();
        let mut masked = masked.take_while(|(number, _)| *number < before);
        masked.position(|(_, receive)| receive.wanted.takes(tag, source))
    }

    fn take_masked(&mut self, at: usize) -> Option<Receive> {
        let (_, receive) = self.masked.remove(at)?;
        self.special -= 1;
        Some(receive)
    }

    /// # Safety
    /// The place is that of a receive, and of none from then on.
    unsafe fn take_exact(&mut self, at: Exact) -> Receive {
        // SAFETY: the place is that of a receive, which is in a list of `exact`.
        let posted = unsafe { self.receives.remove(at) };
        self.special -= 1;
        posted.receive()
    }

    /// Posts a receive where few instructions find that no message waits for one, and room for it;
    /// false otherwise: then nothing was done.
    #[inline(always)]
    pub(crate) fn post_plain(&mut self, receive: &Receive) -> bool {
        self.queue.push_if_open(|queued| queued.set(receive))
    }

    /// Posts a receive; returns the message that has come early for it, if there is one: then the
    /// receive is not posted.
    pub(crate) fn post(&mut self, receive: Receive) -> Option<Early<M>> {
        self.post_by(&receive, |queued| queued.set(&receive))
    }

    /// Posts a receive as [`Tagged::post`] does, but so that few instructions never find it.
    pub(crate) fn post_apart(&mut self, receive: Receive) -> Option<Early<M>> {
        self.post_by(&receive, |queued| queued.set_apart(&receive))
    }

    fn post_by(&mut self, receive: &Receive, set: impl FnOnce(&mut Queued)) -> Option<Early<M>> {
        if self.waiting > 0
            && let Some(at) = self.find(&receive.wanted)
        {
            // SAFETY: the place is that of an early message, which nobody looks for any more.
            return Some(unsafe { self.take_early(at) });
        }
        if self.waiting == 0 && !self.queue.is_open() {
            self.queue.open(usize::MAX);
        }
        self.queue.push(set);
        None
    }

    /// Takes out the oldest receive that was posted with this context.
    pub(crate) fn cancel(&mut self, context: u64) -> Option<Receive> {
        let exact = self.receives.all();
        let exact = exact.filter(|(_, posted)| posted.context == context);
        let exact = exact.map(|(at, posted)| (posted.number, at));
        let exact = exact.min_by_key(|(number, _)| *number);
        let mut masked = self.masked.iter();
        let masked = masked.position(|(_, receive)| receive.context == context);
        match (exact, masked) {
            (Some((number, _)), Some(at)) if self.masked[at].0 < number => self.take_masked(at),
            // SAFETY: the place is that of a receive, which nobody looks for any more.
            (Some((_, at)), _) => Some(unsafe { self.take_exact(at) }),
            (None, Some(at)) => self.take_masked(at),
            (None, None) => self.cancel_queued(context),
        }
    }

    /// Takes out the oldest receive of the queue that was posted with this context.
    fn cancel_queued(&mut self, context: u64) -> Option<Receive> {
        let many = self.queue.len();
        let is_it = |at: &usize| {
            let queued = self.queue.get(*at);
            queued.is_some_and(|queued| queued.context() == context)
        };
        let at = (0..many).find(is_it)?;
        self.queue.remove(at).map(|queued| queued.receive())
    }

    /// Returns whether an early message may be held, of which `held` bytes are counted.
    pub(crate) fn has_room(&self, held: usize) -> bool {
        let many = self.waiting + self.claimed.len();
        many < self.most.1 && held <= self.most.0 - self.held
    }

    /// Holds an early message by `held` bytes, for which there is room, whose length is `len`.
    pub(crate) fn hold(
        &mut self,
        tag: u64,
        source: Option<PeerIndex>,
        len: usize,
        held: usize,
        message: M,
    ) {
        self.held += held;
        self.waiting += 1;
        self.queue.close();
        if source.is_none() {
            self.nameless += 1;
            self.special += 1;
        }
        if self.early.is_full() {
            self.grow_early();
        }
        let early = Early {
            tag,
            source,
            len,
            message,
            held,
        };
        let (all, of_tag) = (self.all.list(0), self.of_tag.of(early.tag_key()));
        // SAFETY: there is room; `all` and the lists of `of_tag` are of early messages alone, of
        // these kinds.
        let at = unsafe {
            let at = self.early.add(all, early);
            self.early.append(OF_TAG, of_tag, at);
            at
        };
        if source.is_some() {
            // SAFETY: the place is that of an early message, which is in no such list yet.
            unsafe { self.note_source(at) };
        }
    }

    #[cold]
    fn grow_early(&mut self) {
        self.early.grow();
        let many = self.early.capacity();
        let early = &mut self.early;
        // SAFETY: the lists of both are of early messages alone, of these kinds.
        unsafe {
            (self.of_tag).grow(many, (early, OF_TAG), Early::tag_key);
            (self.of_source).grow(many, (early, OF_SOURCE), Early::source_key);
        }
    }

    /// Adds an early message to those of its tag and source.
    ///
    /// # Safety
    /// The place is that of an early message, which is not among those.
    unsafe fn note_source(&mut self, at: Held<M>) {
        // SAFETY: the place is that of an early message, in no list of this kind; those of
        // `of_source` have early messages alone.
        unsafe {
            let list = self.of_source.of(self.early.get(at).source_key());
            self.early.append(OF_SOURCE, list, at);
        }
    }

    /// Returns the first early message that is wanted.
    fn find(&self, wanted: &Wanted) -> Option<Held<M>> {
        let key = Key::new(wanted.tag, wanted.source);
        let (kind, list): (usize, List) = match (wanted.ignore, wanted.source) {
            (0, None) => (OF_TAG, self.of_tag.of(key)),
            (0, Some(_)) => (OF_SOURCE, self.of_source.of(key)),
            _ => (ALL, self.all.list(0)),
        };
        // SAFETY: the lists of each kind have early messages alone.
        let mut early = unsafe { self.early.in_order(kind, list) };
        let found = early.find(|(_, early)| wanted.takes(early.tag, early.source));
        found.map(|(at, _)| at)
    }

    /// Takes out an early message, whose bytes still count.
    ///
    /// # Safety
    /// The place is that of an early message, and of none from then on.
    unsafe fn unlink_early(&mut self, at: Held<M>) -> Early<M> {
        // SAFETY: the place is that of an early message, which is in its lists: in one of its
        // source if that is known. It is in `all` alone when it is removed.
        let early = unsafe {
            self.early.unlink(OF_TAG, at);
            if self.early.get(at).source.is_some() {
                self.early.unlink(OF_SOURCE, at);
            }
            self.early.remove(at)
        };
        if early.source.is_none() {
            self.nameless -= 1;
            self.special -= 1;
        }
        self.waiting -= 1;
        early
    }

    /// # Safety
    /// As [`Tagged::unlink_early`].
    unsafe fn take_early(&mut self, at: Held<M>) -> Early<M> {
        // SAFETY: the place is that of an early message, and of none from then on.
        let early = unsafe { self.unlink_early(at) };
        self.held -= early.held;
        early
    }

    /// Returns the first early message that is wanted: it stays.
    pub(crate) fn peek(&self, wanted: &Wanted) -> Option<&Early<M>> {
        let at = self.find(wanted)?;
        // SAFETY: the place is that of an early message.
        Some(unsafe { self.early.get(at) })
    }

    /// Takes out the first early message that is wanted.
    pub(crate) fn take(&mut self, wanted: &Wanted) -> Option<Early<M>> {
        let at = self.find(wanted)?;
        // SAFETY: the place is that of an early message, which nobody looks for any more.
        Some(unsafe { self.take_early(at) })
    }

    /// Keeps the first early message that is wanted for [`Tagged::take_claimed`] with this context.
    pub(crate) fn claim(&mut self, wanted: &Wanted, context: u64) -> Option<&Early<M>> {
        let at = self.find(wanted)?;
        // SAFETY: the place is that of an early message, which nobody looks for any more.
        let early = unsafe { self.unlink_early(at) };
        self.claimed.push_back((context, early));
        self.claimed.back().map(|(_, early)| early)
    }

    /// Takes out the oldest message that was claimed with this context.
    pub(crate) fn take_claimed(&mut self, context: u64) -> Option<Early<M>> {
        let mut claimed = self.claimed.iter();
        let at = claimed.position(|(own, _)| *own == context)?;
        let (_, early) = self.claimed.remove(at)?;
        self.held -= early.held;
        Some(early)
    }

    /// Drops the early messages that are gone, claimed ones, too.
    pub(crate) fn forget(&mut self, is_gone: impl Fn(&M) -> bool) {
        // SAFETY: `all` has early messages alone.
        let all = unsafe { self.early.in_order(ALL, self.all.list(0)) };
        let gone = all.filter(|(_, early)| is_gone(&early.message));
        let gone: Vec<_> = gone.map(|(at, _)| at).collect();
        for at in gone {
            // SAFETY: the place is that of an early message: none was taken out but those before
            // it. Nobody looks for it any more.
            drop(unsafe { self.take_early(at) });
        }
        let Self { claimed, held, .. } = self;
        claimed.retain(|(_, early)| {
            let stays = !is_gone(&early.message);
            if !stays {
                *held -= early.held;
            }
            stays
        });
    }

    /// Returns whether senders of early messages have no numbers.
    pub(crate) fn has_nameless(&self) -> bool {
        self.nameless > 0
    }

    /// Gives early messages whose senders had no numbers those that `find` tells. Returns those
    /// that have receives by that, with their places.
    pub(crate) fn name(
        &mut self,
        find: impl Fn(&M) -> Option<PeerIndex>,
    ) -> Vec<(Early<M>, Place)> {
        // SAFETY: `all` has early messages alone.
        let all = unsafe { self.early.in_order(ALL, self.all.list(0)) };
        let nameless = all.filter(|(_, early)| early.source.is_none());
        let named = nameless.filter_map(|(at, early)| Some((at, find(&early.message)?)));
        let named: Vec<_> = named.collect();
        self.nameless -= named.len();
        self.special -= named.len();
        let mut matched = Vec::new();
        for (at, source) in named {
            // SAFETY: the place is that of an early message: none was taken out but those before
            // it. It is in no list of a source yet.
            let (tag, len) = unsafe {
                let early = self.early.get_mut(at);
                early.source = Some(source);
                let told = (early.tag, early.len);
                // None of the same sender came later: names are looked up before it is matched.
                self.note_source(at);
                told
            };
            if let Some(place) = self.arrive(tag, Some(source), len) {
                // SAFETY: the place is that of an early message, and not used any more.
                matched.push((unsafe { self.take_early(at) }, place));
            }
        }
        matched
    }
}
