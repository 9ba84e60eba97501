//! Which message goes to which buffer. It does no I/O: arrivals come from any transport.

#![expect(unsafe_code, reason = "promises that the end of a queue is one")]

use super::address_vector::PeerIndex;
use super::fifo::{Fifo, First, Slot};
use std::collections::VecDeque;

/// A buffer that was posted for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    pub(crate) address: *mut u8,
    pub(crate) len: usize,
    pub(crate) context: u64,
    /// Only messages of this peer.
    pub(crate) source: Option<PeerIndex>,
    /// The buffer is for several messages, until fewer bytes than these are left.
    pub(crate) least: Option<usize>,
    /// Bytes that messages have taken.
    pub(crate) used: usize,
}

/// A buffer as it lies in the queue: its own fields alone are written and read of a plain one.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Waiting {
    state: State,
    buffer: Buffer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum State {
    Free,
    /// For one message, of any peer: `source`, `least` and `used` are undetermined.
    Plain,
    Other,
    End,
}

/// A place that was found for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) address: *mut u8,
    /// The bytes of the message that fit.
    pub(crate) len: usize,
    /// Bytes of the buffer before it.
    pub(crate) offset: usize,
    pub(crate) context: u64,
    /// Whether the buffer takes no more messages.
    pub(crate) is_last: bool,
    /// Whether others may still be coming to the buffer when this one is reported, so that its entry
    /// may not give the buffer back.
    pub(crate) has_others: bool,
}

/// The first buffer, for one message of any peer.
pub(crate) struct Plain<'a>(First<'a, Waiting>);

/// A message that has come before its buffer.
#[derive(Debug)]
pub(crate) struct Early<M> {
    source: Option<PeerIndex>,
    len: usize,
    message: M,
}

/// Buffers without messages, and messages (`M`) without buffers: never both for one another.
#[derive(Debug)]
pub(crate) struct Matcher<M> {
    /// Closed as long as there are early messages.
    buffers: Fifo<Waiting>,
    early: VecDeque<Early<M>>,
    /// Bytes and number of early messages that are held, at most.
    most: (usize, usize),
    held: usize,
    /// Early messages may have buffers that they were not given yet: others must not go before them.
    is_stalled: bool,
    /// Number of early messages whose senders have no numbers.
    nameless: usize,
}

impl<M> Matcher<M> {
    /// Makes a matcher that holds early messages of so many bytes, and so many.
    pub(crate) fn new(most: (usize, usize)) -> Self {
        Self {
            buffers: Fifo::new(64),
            early: VecDeque::new(),
            most,
            held: 0,
            is_stalled: false,
            nameless: 0,
        }
    }

    /// Returns the first buffer, for a message of `len` bytes: where few instructions find that it
    /// is for one message, of any peer, and long enough, so that [`Matcher::arrive`] would take it.
    #[inline(always)]
    pub(crate) fn first_plain(&mut self, len: usize) -> Option<Plain<'_>> {
        let first = self.buffers.first()?;
        let Waiting { state, buffer } = first.get();
        (*state == State::Plain && len <= buffer.len && !self.is_stalled).then_some(Plain(first))
    }

    /// Goes on at the first slot of the memory if it is its turn. Returns whether it was.
    #[inline(always)]
    pub(crate) fn wrap(&mut self) -> bool {
        self.buffers.wrap()
    }

    /// Finds a place for a message of `len` bytes that has come from `source`; buffers too full for
    /// it are closed, which `closed` is told.
    pub(crate) fn arrive(
        &mut self,
        source: Option<PeerIndex>,
        len: usize,
        mut closed: impl FnMut(&Buffer),
    ) -> Option<Place> {
        let mut at = 0;
        loop {
            let waiting = self.buffers.get(at)?;
            let mut buffer = waiting.buffer();
            if buffer.source.is_some() && buffer.source != source {
                at += 1;
            } else if buffer.least.is_some() && len > buffer.len - buffer.used && buffer.used > 0 {
                closed(&buffer);
                self.buffers.remove(at);
            } else {
                let place = buffer.place(len);
                waiting.set(buffer);
                if place.is_last {
                    self.buffers.remove(at);
                }
                return Some(place);
            }
        }
    }

    /// Returns whether [`Matcher::post`] has ended early: messages that arrive have to wait.
    #[inline(always)]
    pub(crate) fn is_stalled(&self) -> bool {
        self.is_stalled
    }

    /// Returns whether an early message of `len` bytes may be held.
    pub(crate) fn has_room(&self, len: usize) -> bool {
        self.early.len() < self.most.1 && len <= self.most.0 - self.held
    }

    /// Holds an early message of `held` bytes, for which there is room, whose length is `len`.
    pub(crate) fn hold(&mut self, source: Option<PeerIndex>, len: usize, held: usize, message: M) {
        self.held += held;
        self.nameless += usize::from(source.is_none());
        self.buffers.close();
        self.early.push_back(Early {
            source,
            len,
            message,
        });
    }

    /// Adds a buffer where few instructions find that no message waits for one; false otherwise.
    #[inline(always)]
    pub(crate) fn add_if_open(&mut self, buffer: Buffer) -> bool {
        self.buffers.push_if_open(|waiting| waiting.set(buffer))
    }

    /// Adds a buffer where no message waits for one.
    pub(crate) fn add(&mut self, buffer: Buffer) {
        debug_assert!(!self.has_early() && !self.is_stalled);
        if !self.buffers.is_open() {
            self.buffers.open(usize::MAX);
        }
        self.buffers.push(|waiting| waiting.set(buffer));
    }

    /// Adds a buffer. The messages that came early for it go to `deliver`, with their places and the
    /// peers that have sent them; `held` tells the bytes that each was held with. It ends early where
    /// `may_go_on` is false, and then is called again with no buffer.
    pub(crate) fn post(
        &mut self,
        buffer: Option<Buffer>,
        held: impl Fn(&M) -> usize,
        mut may_go_on: impl FnMut() -> bool,
        mut deliver: impl FnMut(Result<(M, Place, Option<PeerIndex>), Buffer>),
    ) {
        if let Some(buffer) = buffer {
            self.buffers.push(|waiting| waiting.set(buffer));
        }
        let mut at = 0;
        self.is_stalled = false;
        while at < self.early.len() && !self.buffers.is_empty() {
            if !may_go_on() {
                self.is_stalled = true;
                return;
            }
            let (source, len) = (self.early[at].source, self.early[at].len);
            let place = self.arrive(source, len, |closed| deliver(Err(*closed)));
            match (place, place.and_then(|_| self.early.remove(at))) {
                (Some(place), Some(early)) => {
                    self.held -= held(&early.message);
                    self.nameless -= usize::from(source.is_none());
                    deliver(Ok((early.message, place, source)));
                }
                _ => at += 1,
            }
        }
    }

    /// Returns whether senders of early messages have no numbers.
    pub(crate) fn has_nameless(&self) -> bool {
        self.nameless > 0
    }

    /// Gives early messages whose senders had no numbers those that `find` tells.
    pub(crate) fn name(&mut self, find: impl Fn(&M) -> Option<PeerIndex>) {
        let nameless = |early: &&mut Early<M>| early.source.is_none();
        for early in self.early.iter_mut().filter(nameless) {
            early.source = find(&early.message);
            self.nameless -= usize::from(early.source.is_some());
        }
    }

    /// Takes the first buffer with this context out; returns it, if there was one.
    pub(crate) fn cancel(&mut self, context: u64) -> Option<Buffer> {
        let many = self.buffers.len();
        let is_it = |at: &usize| {
            let waiting = self.buffers.get(*at);
            waiting.is_some_and(|waiting| waiting.buffer.context == context)
        };
        let at = (0..many).find(is_it)?;
        self.buffers.remove(at).map(|waiting| waiting.buffer())
    }

    /// Drops the early messages that are gone; `held` tells the bytes that each was held with.
    pub(crate) fn forget(&mut self, is_gone: impl Fn(&M) -> bool, held: impl Fn(&M) -> usize) {
        let Self {
            early,
            held: all,
            nameless,
            ..
        } = self;
        early.retain(|one| {
            let stays = !is_gone(&one.message);
            if !stays {
                *all -= held(&one.message);
                *nameless -= usize::from(one.source.is_none());
            }
            stays
        });
    }

    /// Returns whether there are early messages.
    #[inline(always)]
    pub(crate) fn has_early(&self) -> bool {
        !self.early.is_empty()
    }
}

impl Waiting {
    const fn nothing(state: State) -> Self {
        let buffer = Buffer {
            address: std::ptr::null_mut(),
            len: 0,
            context: 0,
            source: None,
            least: None,
            used: 0,
        };
        Self { state, buffer }
    }

    #[inline(always)]
    fn set(&mut self, buffer: Buffer) {
        if buffer.source.is_none() && buffer.least.is_none() {
            self.state = State::Plain;
            self.buffer.address = buffer.address;
            self.buffer.len = buffer.len;
            self.buffer.context = buffer.context;
        } else {
            self.state = State::Other;
            self.buffer = buffer;
        }
    }

    fn buffer(&self) -> Buffer {
        if self.state == State::Plain {
            Buffer {
                source: None,
                least: None,
                used: 0,
                ..self.buffer
            }
        } else {
            self.buffer
        }
    }
}

impl Place {
    /// Returns the buffer's address.
    pub(crate) fn buffer(&self) -> *mut u8 {
        self.address.wrapping_sub(self.offset)
    }
}

// SAFETY: the end tells that it is.
unsafe impl Slot for Waiting {
    const FREE: Self = Self::nothing(State::Free);
    const END: Self = Self::nothing(State::End);

    #[inline(always)]
    fn is_free(&self) -> bool {
        self.state == State::Free
    }

    #[inline(always)]
    fn is_end(&self) -> bool {
        self.state == State::End
    }

    #[inline(always)]
    fn set_free(&mut self) {
        self.state = State::Free;
    }
}

impl Plain<'_> {
    /// Returns the number that the buffer was posted with.
    #[inline(always)]
    pub(crate) fn context(&self) -> &u64 {
        &self.0.get().buffer.context
    }

    /// Takes the buffer, which takes no more messages; returns its address.
    #[inline(always)]
    pub(crate) fn take(self) -> *mut u8 {
        self.0.take().buffer.address
    }
}

impl Buffer {
    /// Takes room for a message of `len` bytes, or as much as there is.
    fn place(&mut self, len: usize) -> Place {
        let offset = self.used;
        let fits = len.min(self.len - offset);
        // The next message begins aligned.
        self.used = (offset + fits).next_multiple_of(8).min(self.len);
        let is_last = self
            .least
            .is_none_or(|least| self.len - self.used < least.max(1));
        Place {
            address: self.address.wrapping_add(offset),
            len: fits,
            offset,
            context: self.context,
            is_last,
            has_others: is_last && offset > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(context: u64, len: usize, source: Option<PeerIndex>, least: Option<usize>) -> Buffer {
        Buffer {
            address: std::ptr::without_provenance_mut(4096 * context as usize),
            len,
            context,
            source,
            least,
            used: 0,
        }
    }

    fn post(matcher: &mut Matcher<u32>, buffer: Buffer) -> Vec<Result<(u32, u64), u64>> {
        let mut told = Vec::new();
        let held = |_: &u32| 10;
        matcher.post(
            Some(buffer),
            held,
            || true,
            |what| {
                told.push(match what {
                    Ok((message, place, _)) => Ok((message, place.context)),
                    Err(closed) => Err(closed.context),
                });
            },
        );
        told
    }

    #[test]
    fn messages_go_to_the_first_buffer_for_their_source() {
        let mut matcher = Matcher::<u32>::new((100, 3));
        assert!(post(&mut matcher, buffer(1, 8, Some(5), None)).is_empty());
        assert!(post(&mut matcher, buffer(2, 8, None, None)).is_empty());
        let mut arrive = |source, len| matcher.arrive(source, len, |_| {});
        let place = arrive(Some(4), 6).unwrap();
        assert_eq!((place.context, place.len, place.is_last), (2, 6, true));
        assert_eq!(arrive(Some(4), 6), None);
        assert_eq!(arrive(None, 6), None);
        let place = arrive(Some(5), 9).unwrap();
        assert_eq!((place.context, place.len), (1, 8), "cut");
    }

    #[test]
    fn early_messages_are_bounded_and_go_in_their_order() {
        let mut matcher = Matcher::<u32>::new((30, 3));
        for message in 0..3 {
            assert!(matcher.has_room(10));
            matcher.hold(Some(message), 4, 10, message);
        }
        assert!(!matcher.has_room(0) && matcher.has_early());
        assert_eq!(
            post(&mut matcher, buffer(1, 8, Some(1), None)),
            [Ok((1, 1))]
        );
        assert!(matcher.has_room(10) && !matcher.has_room(11));
        let all = post(&mut matcher, buffer(2, 8, None, Some(1)));
        assert_eq!(
            all,
            [Ok((0, 2))],
            "8 bytes are full after 4: the next begins aligned"
        );
    }

    #[test]
    fn a_sender_may_get_its_number_behind_its_message() {
        let mut matcher = Matcher::<u32>::new((100, 9));
        matcher.hold(None, 4, 10, 1);
        matcher.hold(Some(6), 4, 10, 2);
        assert!(post(&mut matcher, buffer(1, 8, Some(5), None)).is_empty());
        matcher.name(|&message| (message == 1).then_some(5));
        let mut told = Vec::new();
        matcher.post(
            None,
            |_| 10,
            || true,
            |what| told.push(what.map(|(one, ..)| one)),
        );
        assert_eq!(told.len(), 1);
        assert_eq!(told.pop().map(Result::ok), Some(Some(1)));
        assert_eq!(
            post(&mut matcher, buffer(2, 8, Some(6), None)),
            [Ok((2, 2))]
        );
    }

    #[test]
    fn what_could_not_be_delivered_goes_before_others() {
        let mut matcher = Matcher::<u32>::new((100, 9));
        matcher.hold(None, 4, 10, 1);
        let mut delivered = 0;
        let buffer = buffer(1, 8, None, None);
        matcher.post(Some(buffer), |_| 10, || false, |_| delivered += 1);
        assert!(matcher.is_stalled() && matcher.has_early());
        matcher.post(None, |_| 10, || true, |_| delivered += 1);
        assert!(!matcher.is_stalled() && !matcher.has_early());
        assert_eq!(delivered, 1);
    }

    #[test]
    fn a_buffer_for_several_is_closed_when_little_is_left() {
        let mut matcher = Matcher::<u32>::new((100, 9));
        post(&mut matcher, buffer(1, 64, None, Some(16)));
        post(&mut matcher, buffer(2, 64, None, Some(16)));
        let mut closed = Vec::new();
        let mut arrive = |len| {
            let place = matcher.arrive(None, len, |buffer| closed.push(buffer.context));
            place.map(|place| (place.context, place.offset, place.is_last))
        };
        assert_eq!(arrive(5), Some((1, 0, false)));
        assert_eq!(arrive(30), Some((1, 8, false)));
        assert_eq!(
            arrive(30),
            Some((2, 0, false)),
            "24 bytes are left of the first"
        );
        assert_eq!(arrive(20), Some((2, 32, true)), "8 are left, fewer than 16");
        assert_eq!(arrive(1), None);
        assert_eq!(closed, [1]);
    }

    #[test]
    fn a_buffer_is_cancelled_once() {
        let mut matcher = Matcher::<u32>::new((100, 9));
        post(&mut matcher, buffer(1, 64, None, None));
        assert_eq!(matcher.cancel(2).map(|one| one.context), None);
        assert_eq!(matcher.cancel(1).map(|one| one.context), Some(1));
        assert!(matcher.cancel(1).is_none());
    }
}
