//! The report of an operation as it lies in a queue.

#![expect(
    unsafe_code,
    reason = "writes and reads fields of a report by themselves"
)]

use super::{Entry, Failure, Operation};
use crate::raw::address_vector::PeerIndex;
use crate::raw::error::Error;
use crate::raw::fifo::Slot;
use std::cell::Cell;
use std::mem::MaybeUninit;

/// The report of an operation as it lies in a queue: an [`Entry`] in a line, of which only the
/// fields that mean something are written and read.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Told {
    plain: Plain,
    /// Offset, where it has a place. Of a message that was cut, the bytes that were not stored: it
    /// begins its buffer.
    offset: usize,
    /// Source, where it has a place.
    source: Source,
    /// Data, where it has some.
    data: u64,
    /// Tag, where it has one.
    tag: u64,
    /// The upper half of a length that is long.
    upper: u32,
    /// Error, where the state is [`State::Failed`]. Hidden, so that it does not tell an `Option` of
    /// a report from none.
    error: MaybeUninit<Error>,
}

const _: () = assert!(size_of::<Told>() == 64, "a line");

/// The whole report of an operation on memory, and the begin of any other.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Plain {
    state: State,
    pub(crate) operation: Operation,
    /// [`DATA`] and those behind it.
    has: u8,
    /// Means nothing in a queue.
    pub(crate) note: u8,
    pub(crate) len: u32,
    pub(crate) context: u64,
}

/// The report has data.
const DATA: u8 = 1;
/// The report has a tag.
const TAG: u8 = 2;
/// The report is of a message that was cut.
const CUT: u8 = 4;
/// The report has a length of more than 32 bits.
const LONG: u8 = 8;
/// The report has an offset and a source.
const PLACE: u8 = 16;
/// The report is [`Entry::is_last`].
const LAST: u8 = 32;
/// The operation has a context, though its success may have no entry. Means nothing in a queue.
const NAMED: u8 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum State {
    Free,
    Done,
    Failed,
    End,
}

/// A peer's number, if there is one, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source(u64);

impl Source {
    pub(crate) const NONE: Self = Self(u64::MAX);

    /// Returns the peer's number, or one that is no peer's.
    #[inline(always)]
    pub(crate) fn word(self) -> u64 {
        self.0
    }
}

impl From<Option<PeerIndex>> for Source {
    #[inline(always)]
    fn from(source: Option<PeerIndex>) -> Self {
        source.map_or(Self::NONE, |number| Self(number.into()))
    }
}

impl From<Source> for Option<PeerIndex> {
    #[inline(always)]
    fn from(Source(word): Source) -> Self {
        word.try_into().ok()
    }
}

impl Plain {
    /// Makes the report of a successful operation on memory.
    #[inline(always)]
    pub(crate) const fn new(operation: Operation, note: u8, len: u32, context: u64) -> Self {
        Self {
            state: State::Done,
            operation,
            has: LAST,
            note,
            len,
            context,
        }
    }

    /// Puts the success of an operation on memory there, with its context, if it has one.
    #[inline(always)]
    pub(crate) fn put(place: &Cell<Self>, head: Head, len: u32, context: Option<u64>) {
        let place = place.as_ptr();
        // SAFETY: the cell's thread has no reference to its value meanwhile, and its fields are
        // valid for writes; the first four are bytes, in which a head has values of their types.
        unsafe {
            (*place).len = len;
            if let Some(context) = context {
                place.cast::<u32>().write(head.0 | Head::NAMED);
                (*place).context = context;
            } else {
                place.cast::<u32>().write(head.0);
            }
        }
    }

    /// Returns the context that the operation was [put](Plain::put) there with, or 0.
    #[inline(always)]
    pub(crate) fn put_context(self) -> u64 {
        match self.has & NAMED {
            0 => 0,
            _ => self.context,
        }
    }

    /// Changes the note.
    #[inline(always)]
    pub(crate) fn set_note(place: &Cell<Self>, note: u8) {
        // SAFETY: the cell's thread has no reference to its value meanwhile, and the field is valid
        // for writes.
        unsafe { (*place.as_ptr()).note = note };
    }
}

/// The first word of the success of an operation on memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head(u32);

impl Head {
    const NAMED: u32 = u32::from_le_bytes([0, 0, NAMED, 0]);

    /// Makes the first word of such an operation, with a note: `note` has it in its upper byte, and
    /// nothing in others.
    #[inline(always)]
    pub(crate) const fn new(operation: Operation, note: u32) -> Self {
        let rest = u32::from_le_bytes([State::Done as u8, operation as u8, LAST, 0]);
        Self(rest | note)
    }
}

/// The bit where the note begins in the first word.
pub(crate) const NOTE: u32 = 24;

const _: () = {
    assert!(std::mem::offset_of!(Plain, state) == 0 && std::mem::offset_of!(Plain, operation) == 1);
    assert!(std::mem::offset_of!(Plain, has) == 2 && std::mem::offset_of!(Plain, note) == 3);
};

impl Told {
    pub(super) const fn nothing(state: State) -> Self {
        Self {
            plain: Plain {
                state,
                ..Plain::new(Operation::Send, 0, 0, 0)
            },
            offset: 0,
            source: Source::NONE,
            data: 0,
            tag: 0,
            upper: 0,
            error: MaybeUninit::new(Error::Again),
        }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, told: Result<Entry, Failure>) {
        let (state, entry, cut) = match told {
            Ok(entry) => (State::Done, entry, 0),
            Err(Failure { error, entry, cut }) => {
                self.error = MaybeUninit::new(error);
                (State::Failed, entry, cut)
            }
        };
        let mut has = PLACE;
        if entry.is_last {
            has |= LAST;
        }
        self.offset = entry.offset;
        self.source = entry.source.into();
        if let Some(data) = entry.data {
            has |= DATA;
            self.data = data;
        }
        if let Some(tag) = entry.tag {
            has |= TAG;
            self.tag = tag;
        }
        if cut > 0 {
            debug_assert_eq!(entry.offset, 0, "others go to another buffer whole");
            has |= CUT;
            self.offset = cut;
        }
        let plain = Plain::new(entry.operation, 0, 0, entry.context);
        self.plain = Plain {
            state,
            has,
            ..plain
        };
        self.set_len(entry.len);
    }

    /// Sets the length of a report that is complete otherwise.
    #[inline(always)]
    fn set_len(&mut self, len: usize) {
        self.plain.len = len as u32;
        let upper = (len as u64 >> u32::BITS) as u32;
        if upper != 0 {
            self.plain.has |= LONG;
            self.upper = upper;
        }
    }

    /// Sets the slot to the success of an operation on memory.
    #[inline(always)]
    pub(super) fn set_memory(&mut self, operation: Operation, context: u64, len: usize) {
        self.plain = Plain::new(operation, 0, 0, context);
        self.set_len(len);
    }

    /// Sets the slot to the success of an operation on memory, which is put together.
    #[inline(always)]
    pub(super) fn set_plain(&mut self, plain: Plain) {
        self.plain = plain;
    }

    /// Sets the slot to that of a message that has a buffer of its own, of a length of at most 32
    /// bits. By references, so that no value waits in a register.
    #[inline(always)]
    pub(super) fn set_message(
        &mut self,
        context: &u64,
        len: usize,
        source: &Source,
        tag: Option<u64>,
    ) {
        debug_assert!(u32::try_from(len).is_ok());
        let has_tag = if tag.is_some() { TAG } else { 0 };
        self.plain.state = State::Done;
        self.plain.operation = Operation::Receive;
        self.plain.has = has_tag | PLACE | LAST;
        self.plain.note = 0;
        // As a word, so that the compiler has the length in one register alone.
        // SAFETY: behind the begin of the report there are the length and, in the upper half of the
        // word, a part of the context, which is written behind that.
        unsafe {
            let behind = (&raw mut self.plain).byte_add(std::mem::offset_of!(Plain, len));
            behind.cast::<u64>().write_unaligned(len as u64);
        }
        self.plain.context = *context;
        self.offset = 0;
        self.source = *source;
        if let Some(tag) = tag {
            self.tag = tag;
        }
    }

    #[inline(always)]
    fn has(&self, what: u8) -> bool {
        self.plain.has & what != 0
    }

    /// Returns whether it tells of a success.
    #[inline(always)]
    pub(super) fn is_done(&self) -> bool {
        self.plain.state == State::Done
    }

    #[inline(always)]
    pub(super) fn seen(&self) -> Seen<'_> {
        Seen(self)
    }

    #[inline(always)]
    fn len(&self) -> usize {
        let len = self.plain.len as usize;
        if self.has(LONG) {
            return (self.upper as usize) << u32::BITS | len;
        }
        len
    }

    #[inline(always)]
    pub(super) fn entry(&self) -> Entry {
        let place = if self.has(PLACE) {
            (self.source, self.offset)
        } else {
            (Source::NONE, 0)
        };
        Entry {
            context: self.plain.context,
            operation: self.plain.operation,
            len: self.len(),
            data: self.has(DATA).then_some(self.data),
            tag: self.has(TAG).then_some(self.tag),
            source: place.0.into(),
            offset: place.1,
            is_last: self.has(LAST),
        }
    }

    /// Returns the failure of an operation that has failed.
    pub(super) fn failure(&self) -> Failure {
        let (mut entry, mut cut) = (self.entry(), 0);
        if self.has(CUT) {
            cut = std::mem::take(&mut entry.offset);
        }
        Failure {
            // SAFETY: `nothing` has initialized the error, and `set` writes none but whole ones.
            error: unsafe { self.error.assume_init() },
            entry,
            cut,
        }
    }
}

/// An entry that is looked at where it lies: fields that mean nothing are not read.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a>(&'a Told);

impl Seen<'_> {
    /// Returns [`Entry::context`].
    #[inline(always)]
    pub fn context(&self) -> u64 {
        self.0.plain.context
    }

    /// Returns [`Entry::operation`].
    #[inline(always)]
    pub fn operation(&self) -> Operation {
        self.0.plain.operation
    }

    /// Returns [`Entry::len`], of an entry that [is plain](Seen::is_plain): it has no more than 32
    /// bits.
    #[inline(always)]
    pub fn short_len(&self) -> u32 {
        self.0.plain.len
    }

    /// Returns the source's number, or `u64::MAX` without one.
    #[inline(always)]
    pub fn source(&self) -> u64 {
        match self.0.has(PLACE) {
            true => self.0.source.0,
            false => Source::NONE.0,
        }
    }

    /// Returns whether the entry is without data, and its length of at most 32 bits.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        !self.0.has(DATA | CUT | LONG)
    }

    /// Returns [`Entry::tag`].
    #[inline(always)]
    pub fn tag(&self) -> Option<u64> {
        self.0.has(TAG).then_some(self.0.tag)
    }

    /// Returns the whole entry.
    #[inline(always)]
    pub fn entry(&self) -> Entry {
        self.0.entry()
    }
}

// SAFETY: the end tells that it is.
unsafe impl Slot for Told {
    const FREE: Self = Self::nothing(State::Free);
    const END: Self = Self::nothing(State::End);

    #[inline(always)]
    fn is_free(&self) -> bool {
        self.plain.state == State::Free
    }

    #[inline(always)]
    fn is_end(&self) -> bool {
        self.plain.state == State::End
    }

    #[inline(always)]
    fn set_free(&mut self) {
        self.plain.state = State::Free;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: Entry = Entry {
        context: u64::MAX - 1,
        operation: Operation::Receive,
        len: 5,
        data: None,
        tag: None,
        source: Some(3),
        offset: 7,
        is_last: false,
    };

    #[test]
    fn entries_are_told_whole() {
        let mut told = Told::nothing(State::Free);
        let all = [5, u32::MAX as usize, 1 << 32, usize::MAX].map(|len| {
            [None, Some(9)].map(|word| Entry {
                len,
                data: word,
                tag: word,
                is_last: word.is_some(),
                ..ENTRY
            })
        });
        for entry in all.into_iter().flatten() {
            told.set(Ok(entry));
            assert_eq!((told.entry(), told.is_done()), (entry, true));
            let is_short = entry.len <= u32::MAX as usize;
            assert_eq!(told.seen().is_plain(), is_short && entry.data.is_none());
            let failure = Failure {
                error: Error::PeerGone,
                entry: Entry { offset: 0, ..entry },
                cut: 11,
            };
            told.set(Err(failure));
            assert_eq!((told.failure(), told.is_done()), (failure, false));
        }
    }

    #[test]
    fn what_another_report_has_left_is_not_told() {
        let mut told = Told::nothing(State::Free);
        let memory = |context, len| Entry {
            context,
            operation: Operation::Fetch,
            len,
            source: None,
            offset: 0,
            is_last: true,
            ..ENTRY
        };
        let message = Entry {
            data: Some(1),
            tag: Some(2),
            len: 1 << 40,
            ..ENTRY
        };
        for len in [8, 1 << 33] {
            told.set(Ok(message));
            told.set_memory(Operation::Fetch, 4, len);
            assert_eq!(told.entry(), memory(4, len));
        }
        told.set(Ok(message));
        let place = Cell::new(Plain::new(Operation::Send, 1, 0, 6));
        Plain::put(&place, Head::new(Operation::Fetch, 0x7f << NOTE), 8, None);
        told.set_plain(place.get());
        assert_eq!((told.entry(), place.get().note), (memory(6, 8), 0x7f));
        assert_eq!(place.get().put_context(), 0);
        assert_eq!(told.seen().source(), u64::MAX);
        Plain::put(&place, Head::new(Operation::Fetch, 0), 9, Some(u64::MAX));
        Plain::set_note(&place, 3);
        told.set_plain(place.get());
        assert_eq!((told.entry(), place.get().note), (memory(u64::MAX, 9), 3));
        assert_eq!(place.get().put_context(), u64::MAX);
        for tag in [None, Some(8)] {
            told.set(Ok(message));
            told.set_message(&u64::MAX, 5, &Source::from(Some(3)), tag);
            let expected = Entry {
                context: u64::MAX,
                tag,
                offset: 0,
                is_last: true,
                ..ENTRY
            };
            assert_eq!(told.entry(), expected);
        }
    }
}
