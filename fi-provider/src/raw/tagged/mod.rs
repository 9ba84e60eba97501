//! Which tagged message goes to which receive. It does no I/O: arrivals come from any transport.
//!
//! Receives that take one tag alone, and early messages, are found by a hash of tag and source;
//! receives that ignore bits are in a list beside them. Numbers in posting order decide between the
//! two.

mod buckets;
mod lists;
#[cfg(test)]
mod tests;

use super::address_vector::PeerIndex;
use super::completion::Source;
use super::matcher::Place;
use buckets::{Buckets, Key};
use lists::{List, Slab};
use std::collections::VecDeque;

/// The messages that a receive takes, or that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Their tag.
    pub tag: u64,
    /// Bits of the tag that may be any.
    pub ignore: u64,
    /// Their sender, or anybody.
    pub source: Option<PeerIndex>,
}

impl Wanted {
    /// The messages of this tag, of anybody.
    pub fn tag(tag: u64) -> Self {
        Self {
            tag,
            ignore: 0,
            source: None,
        }
    }

    #[inline(always)]
    fn takes(&self, tag: u64, source: Option<PeerIndex>) -> bool {
        let is_of = self.source.is_none() || self.source == source;
        is_of && (self.tag ^ tag) & !self.ignore == 0
    }
}

/// A buffer for one message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receive {
    pub(crate) wanted: Wanted,
    pub(crate) address: *mut u8,
    pub(crate) len: usize,
    pub(crate) context: u64,
}

impl Receive {
    /// The place of a message of `len` bytes.
    #[inline(always)]
    pub(crate) fn place(&self, len: usize) -> Place {
        Place {
            address: self.address,
            len: len.min(self.len),
            offset: 0,
            context: self.context,
            is_last: true,
        }
    }
}

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

/// A receive that is posted.
#[derive(Clone, Copy, Debug)]
struct Posted {
    receive: Receive,
    /// Of the tag and source that it wants.
    key: Key,
    /// In posting order.
    number: u64,
}

/// The only kind of list of receives.
const POSTED: usize = 0;
/// The kinds of lists of early messages: of all, of one tag, of one tag and source.
const ALL: usize = 0;
const OF_TAG: usize = 1;
const OF_SOURCE: usize = 2;

/// Receives without messages, and messages (`M`) without receives: never both for one another.
#[derive(Debug)]
pub(crate) struct Tagged<M> {
    receives: Slab<Posted, 1>,
    /// Receives of one tag: those of one source, and those of any.
    exact: Buckets,
    /// How many of them are of one source, and of any.
    many: [usize; 2],
    /// Receives that ignore bits of the tag.
    masked: List,
    posted: u64,
    early: Slab<Early<M>, 3>,
    all: List,
    /// Early messages by tag.
    of_tag: Buckets,
    /// Those whose senders have numbers, by tag and source.
    of_source: Buckets,
    /// Messages that are kept for a receive of the same context, the oldest first.
    claimed: VecDeque<(u64, Early<M>)>,
    /// Bytes and number of early messages that are held, at most.
    most: (usize, usize),
    held: usize,
    /// How many early messages have senders without numbers.
    nameless: usize,
}

impl<M> Tagged<M> {
    /// A matcher that holds early messages of so many bytes, and so many.
    pub(crate) fn new(most: (usize, usize)) -> Self {
        Self {
            receives: Slab::new(),
            exact: Buckets::new(),
            many: [0; 2],
            masked: List::EMPTY,
            posted: 0,
            early: Slab::new(),
            all: List::EMPTY,
            of_tag: Buckets::new(),
            of_source: Buckets::new(),
            claimed: VecDeque::new(),
            most,
            held: 0,
            nameless: 0,
        }
    }

    /// Finds the place for a message of `len` bytes that has come from `source`.
    #[inline]
    pub(crate) fn arrive(
        &mut self,
        tag: u64,
        source: Option<PeerIndex>,
        len: usize,
    ) -> Option<Place> {
        let exact = self.first_exact(tag, source);
        let before = exact.map_or(u64::MAX, |(number, _)| number);
        let at = match self.first_masked(tag, source, before) {
            Some(at) => at,
            None => exact?.1,
        };
        Some(self.take_receive(at)?.place(len))
    }

    /// The first receive of this tag alone, and its number.
    #[inline(always)]
    fn first_exact(&self, tag: u64, source: Option<PeerIndex>) -> Option<(u64, u32)> {
        let first = |source: Option<PeerIndex>| {
            let key = Key::new(tag, source);
            let mut near = self.receives.in_order(POSTED, self.exact.of(key));
            let found = near.find(|(_, posted)| posted.key == key);
            found.map(|(at, posted)| (posted.number, at))
        };
        let [directed, any] = self.many;
        let directed = source.filter(|_| directed > 0);
        let directed = directed.and_then(|source| first(Some(source)));
        let any = if any > 0 { first(None) } else { None };
        match (directed, any) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// The first receive that ignores bits and takes the message, if it was posted before `before`.
    #[inline(always)]
    fn first_masked(&self, tag: u64, source: Option<PeerIndex>, before: u64) -> Option<u32> {
        let masked = self.receives.in_order(POSTED, self.masked);
        let mut masked = masked.take_while(|(_, posted)| posted.number < before);
        let found = masked.find(|(_, posted)| posted.receive.wanted.takes(tag, source));
        found.map(|(at, _)| at)
    }

    /// Takes out the receive of a place.
    fn take_receive(&mut self, at: u32) -> Option<Receive> {
        let Posted { receive, key, .. } = self.receives.get(at)?;
        if receive.wanted.ignore == 0 {
            self.many[usize::from(receive.wanted.source.is_none())] -= 1;
            let list = self.exact.of_mut(*key);
            self.receives.unlink(POSTED, list, at);
        } else {
            self.receives.unlink(POSTED, &mut self.masked, at);
        }
        Some(self.receives.remove(at)?.receive)
    }

    /// Posts a receive; returns the message that has come early for it, if there is one: then the
    /// receive is not posted.
    #[inline]
    pub(crate) fn post(&mut self, receive: Receive) -> Option<Early<M>> {
        if self.early.len() > 0
            && let Some(at) = self.find(&receive.wanted)
        {
            return self.take_early(at);
        }
        let number = self.posted;
        self.posted += 1;
        let wanted = receive.wanted;
        let key = Key::new(wanted.tag, wanted.source);
        let (receives, exact) = (&mut self.receives, &mut self.exact);
        exact.fit(receives, POSTED, |posted| posted.key);
        let at = receives.add(Posted {
            receive,
            key,
            number,
        });
        if wanted.ignore == 0 {
            self.many[usize::from(wanted.source.is_none())] += 1;
            self.receives.append(POSTED, self.exact.of_mut(key), at);
        } else {
            self.receives.append(POSTED, &mut self.masked, at);
        }
        None
    }

    /// Takes out the oldest receive that was posted with this context.
    pub(crate) fn cancel(&mut self, context: u64) -> Option<Receive> {
        let all = self.receives.all();
        let with_it = all.filter(|(_, posted)| posted.receive.context == context);
        let (at, _) = with_it.min_by_key(|(_, posted)| posted.number)?;
        self.take_receive(at)
    }

    /// Whether an early message may be held, of which `held` bytes are counted.
    pub(crate) fn has_room(&self, held: usize) -> bool {
        let many = self.early.len() + self.claimed.len();
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
        self.nameless += usize::from(source.is_none());
        let (of_tag, of_source) = (&mut self.of_tag, &mut self.of_source);
        of_tag.fit(&mut self.early, OF_TAG, Early::tag_key);
        of_source.fit(&mut self.early, OF_SOURCE, Early::source_key);
        let at = self.early.add(Early {
            tag,
            source,
            len,
            message,
            held,
        });
        self.early.append(ALL, &mut self.all, at);
        let list = self.of_tag.of_mut(Key::new(tag, None));
        self.early.append(OF_TAG, list, at);
        if source.is_some() {
            self.note_source(at, tag, source);
        }
    }

    /// Adds an early message to those of its tag and source.
    fn note_source(&mut self, at: u32, tag: u64, source: Option<PeerIndex>) {
        let list = self.of_source.of_mut(Key::new(tag, source));
        self.early.append(OF_SOURCE, list, at);
    }

    /// The first early message that is wanted.
    fn find(&self, wanted: &Wanted) -> Option<u32> {
        let key = Key::new(wanted.tag, wanted.source);
        let (kind, list) = match (wanted.ignore, wanted.source) {
            (0, None) => (OF_TAG, self.of_tag.of(key)),
            (0, Some(_)) => (OF_SOURCE, self.of_source.of(key)),
            _ => (ALL, self.all),
        };
        let mut early = self.early.in_order(kind, list);
        let found = early.find(|(_, early)| wanted.takes(early.tag, early.source));
        found.map(|(at, _)| at)
    }

    /// Takes out the early message of a place, which still counts.
    fn unlink_early(&mut self, at: u32) -> Option<Early<M>> {
        let &Early { tag, source, .. } = self.early.get(at)?;
        self.early.unlink(ALL, &mut self.all, at);
        let list = self.of_tag.of_mut(Key::new(tag, None));
        self.early.unlink(OF_TAG, list, at);
        if source.is_some() {
            let list = self.of_source.of_mut(Key::new(tag, source));
            self.early.unlink(OF_SOURCE, list, at);
        } else {
            self.nameless -= 1;
        }
        self.early.remove(at)
    }

    fn take_early(&mut self, at: u32) -> Option<Early<M>> {
        let early = self.unlink_early(at)?;
        self.held -= early.held;
        Some(early)
    }

    /// The first early message that is wanted: it stays.
    pub(crate) fn peek(&self, wanted: &Wanted) -> Option<&Early<M>> {
        self.early.get(self.find(wanted)?)
    }

    /// Takes out the first early message that is wanted.
    pub(crate) fn take(&mut self, wanted: &Wanted) -> Option<Early<M>> {
        let at = self.find(wanted)?;
        self.take_early(at)
    }

    /// Keeps the first early message that is wanted for [`Tagged::take_claimed`] with this context.
    pub(crate) fn claim(&mut self, wanted: &Wanted, context: u64) -> Option<&Early<M>> {
        let at = self.find(wanted)?;
        let early = self.unlink_early(at)?;
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

    /// Whether senders of early messages have no numbers.
    pub(crate) fn has_nameless(&self) -> bool {
        self.nameless > 0
    }

    /// Gives early messages whose senders had no numbers those that `find` tells. Returns those that
    /// have receives by that, with their places.
    pub(crate) fn name(
        &mut self,
        find: impl Fn(&M) -> Option<PeerIndex>,
    ) -> Vec<(Early<M>, Place)> {
        let all = self.early.in_order(ALL, self.all);
        let nameless = all.filter(|(_, early)| early.source.is_none());
        let named = nameless.filter_map(|(at, early)| Some((at, find(&early.message)?)));
        let named: Vec<_> = named.collect();
        self.nameless -= named.len();
        let mut matched = Vec::new();
        for (at, source) in named {
            let Some(early) = self.early.get_mut(at) else {
                continue;
            };
            early.source = Some(source);
            let (tag, len) = (early.tag, early.len);
            // None of the same sender came later: names are looked up before it is matched.
            self.note_source(at, tag, Some(source));
            if let Some(place) = self.arrive(tag, Some(source), len)
                && let Some(early) = self.take_early(at)
            {
                matched.push((early, place));
            }
        }
        matched
    }
}
