//! Receives as they lie in the queue of those that were not sorted yet: a line each, of which fields
//! that mean nothing are neither written nor read.

#![expect(unsafe_code, reason = "promises that the end of a queue is one")]

use super::wanted::{Receive, Wanted};
use crate::raw::address_vector::PeerIndex;
use crate::raw::completion::Source;
use crate::raw::fifo::{First, Slot};

/// A receive, or none.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Queued {
    state: State,
    tag: u64,
    /// Source, where the state is not [`State::Plain`].
    source: Source,
    /// Ignored bits, where the state is [`State::Masked`] or [`State::Apart`].
    ignore: u64,
    address: *mut u8,
    len: usize,
    context: u64,
}

const _: () = assert!(size_of::<Queued>() == 64, "a line");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum State {
    Free,
    /// It takes one tag, of anybody.
    Plain,
    /// It takes one tag, of one source.
    Directed,
    /// It ignores bits of the tag.
    Masked,
    /// It takes any tags, and few instructions never find it.
    Apart,
    End,
}

/// The first receive of the queue, which takes a message.
pub(crate) struct Plain<'a>(First<'a, Queued>);

impl<'a> Plain<'a> {
    /// Returns the first receive, if it takes such a message by few instructions.
    #[inline(always)]
    pub(super) fn of(
        first: First<'a, Queued>,
        tag: u64,
        source: &Source,
        len: usize,
    ) -> Option<Self> {
        let queued = first.get();
        let is_of = match queued.state {
            State::Plain => true,
            State::Directed => queued.source == *source,
            _ => false,
        };
        (is_of && queued.tag == tag && len <= queued.len).then_some(Self(first))
    }

    /// Returns the number that the receive was posted with.
    #[inline(always)]
    pub(crate) fn context(&self) -> &u64 {
        &self.0.get().context
    }

    /// Takes the receive; returns the address of its buffer.
    #[inline(always)]
    pub(crate) fn take(self) -> *mut u8 {
        self.0.take().address
    }
}

impl Queued {
    const fn nothing(state: State) -> Self {
        Self {
            state,
            tag: 0,
            source: Source::NONE,
            ignore: 0,
            address: std::ptr::null_mut(),
            len: 0,
            context: 0,
        }
    }

    /// Makes it a receive.
    #[inline(always)]
    pub(super) fn set(&mut self, receive: &Receive) {
        let Wanted {
            tag,
            ignore,
            source,
        } = receive.wanted;
        self.tag = tag;
        self.address = receive.address;
        self.len = receive.len;
        self.context = receive.context;
        self.state = State::Plain;
        if ignore != 0 || source.is_some() {
            self.source = source.into();
            self.ignore = ignore;
            self.state = match ignore {
                0 => State::Directed,
                _ => State::Masked,
            };
        }
    }

    /// Makes it a receive that few instructions never find.
    pub(super) fn set_apart(&mut self, receive: &Receive) {
        self.set(receive);
        self.source = receive.wanted.source.into();
        self.ignore = receive.wanted.ignore;
        self.state = State::Apart;
    }

    /// Returns whether it is found by its tag and source, where it is sorted.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self.state, State::Plain | State::Directed)
    }

    /// Returns the receive.
    pub(super) fn receive(&self) -> Receive {
        let (ignore, source) = match self.state {
            State::Plain => (0, None),
            State::Directed => (0, self.source.into()),
            _ => (self.ignore, self.source.into()),
        };
        let wanted = Wanted {
            tag: self.tag,
            ignore,
            source,
        };
        Receive {
            wanted,
            address: self.address,
            len: self.len,
            context: self.context,
        }
    }

    /// Returns the number that it was posted with.
    pub(super) fn context(&self) -> u64 {
        self.context
    }

    pub(super) fn takes(&self, tag: u64, source: Option<PeerIndex>) -> bool {
        self.receive().wanted.takes(tag, source)
    }
}

// SAFETY: the end tells that it is.
unsafe impl Slot for Queued {
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
