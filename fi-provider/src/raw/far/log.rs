//! Operations on memory under way by one queue, each noted at the block that its entry begins with:
//! by a few words where nothing but its report is left to do.
//!
//! Entries without an operation, those of counts and probes, leave their blocks blank.

#![expect(unsafe_code, reason = "takes words to C addresses")]

use super::device::Device;
use crate::device::Kept;
use crate::raw::completion::{Entry, Operation, Promise, Report};
use crate::raw::endpoint::Link;
use crate::raw::error::Error;
use crate::raw::region::Rights;
use crate::registration::Loan;
use fi_mlx5::device::Region;
use fi_mlx5::direct::{LocalKey, LocalWord};
use fi_mlx5::lane::{Local, Lone};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The note of an operation: the [`Operation`] of one without details, and flags. Those of every
/// post are in the lower bits, so that an instruction has them in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(u32);

impl Mark {
    /// A write, or a read whose bytes the device puts where they belong.
    pub(crate) const WRITE: Self = Self(0);
    pub(crate) const READ: Self = Self(Self::READS);
    /// A word that is taken from the results to its place.
    pub(crate) const READ_WORD: Self = Self(Self::READS | Self::WORD);
    pub(crate) const ATOMIC: Self = Self(Self::UPDATES | Self::WORD);
    /// Such an operation whose word goes where nobody reads it.
    pub(crate) const ADDITION: Self = Self(Self::UPDATES);
    /// Such an operation, whose caller wants the word that was there.
    pub(crate) const FETCH: Self = Self(Self::ATOMIC.0 | Self::READS);
    /// No operation.
    const BLANK: Self = Self(Self::NONE);

    /// The operation, which is else a write: both of one that fetches.
    const READS: u32 = 1;
    const UPDATES: u32 = 2;
    /// Brings a word.
    const WORD: u32 = 4;
    const COUNTS: u32 = 8;
    const HAS_CONTEXT: u32 = 16;
    const FOLLOWS: u32 = 32;
    /// Its word comes where that of another block belongs.
    const MISPLACED: u32 = 64;
    const DETAILS: u32 = 128;
    const NONE: u32 = 256;

    /// The mark of an operation with this report, which follows its region's key where that says so.
    #[inline(always)]
    pub(crate) fn of<R: Report>(self, report: R, follows: Follows) -> Self {
        let counts = if report.counts() { Self::COUNTS } else { 0 };
        let context = report.context().map_or(0, |_| Self::HAS_CONTEXT);
        Self(self.0 | counts | context | follows.0)
    }

    /// Whether it has an entry in the queue.
    #[inline(always)]
    pub(crate) fn has_context(self) -> bool {
        self.0 & Self::HAS_CONTEXT != 0
    }

    /// Whether the endpoint's counter counts it.
    #[inline(always)]
    pub(crate) fn counts(self) -> bool {
        self.0 & Self::COUNTS != 0
    }

    /// The operation, for one without details.
    #[inline(always)]
    pub(crate) fn operation(self) -> Operation {
        let number = (self.0 & (Self::READS | Self::UPDATES)) as u8;
        // SAFETY: the three numbers behind that of a write are those of reads, of atomic operations,
        // and of those that fetch.
        unsafe { std::mem::transmute::<u8, Operation>(Operation::Write as u8 + number) }
    }

    /// Whether the counter of reads counts the operation.
    #[inline(always)]
    pub(crate) fn reads(self) -> bool {
        self.0 & Self::READS != 0
    }

    /// Whether the operation is an atomic one.
    #[inline(always)]
    fn updates(self) -> bool {
        self.0 & Self::UPDATES != 0
    }

    /// The right that it needs.
    pub(crate) fn rights(self) -> Rights {
        match self.operation() {
            Operation::Write => Rights::WRITE,
            Operation::Atomic | Operation::Fetch => Rights::ATOMIC,
            _ => Rights::READ,
        }
    }

    #[inline(always)]
    fn is_blank(self) -> bool {
        self.0 & Self::NONE != 0
    }

    /// Whether its operation has details.
    #[inline(always)]
    pub(crate) fn has_details(self) -> bool {
        self.0 & Self::DETAILS != 0
    }

    /// Whether its operation brings a word.
    #[inline(always)]
    pub(crate) fn has_word(self) -> bool {
        self.0 & Self::WORD != 0
    }

    /// Whether its operation leaves nothing to do but its report and, where it brings a word, to
    /// take that from the place of its own block.
    #[inline(always)]
    fn is_simple(self) -> bool {
        self.0 & (Self::NONE | Self::DETAILS | Self::MISPLACED) == 0
    }

    /// Whether the operation goes to the region that the peer has under the key by then.
    pub(crate) fn follows(self) -> bool {
        self.0 & Self::FOLLOWS != 0
    }
}

impl Default for Mark {
    fn default() -> Self {
        Self::BLANK
    }
}

const _: () = {
    let [writes, reads, updates] = [Operation::Write, Operation::Read, Operation::Atomic];
    assert!(Operation::Fetch as u32 == updates as u32 + Mark::READS);
    assert!(reads as u32 == writes as u32 + Mark::READS);
    assert!(updates as u32 == writes as u32 + Mark::UPDATES);
};

/// Whether an operation goes to the region that the peer has under the key by the time it is done,
/// as a mark has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Follows(u32);

impl Follows {
    pub(crate) const YES: Self = Self(Mark::FOLLOWS);
}

/// A block.
#[derive(Debug, Default)]
#[repr(align(32))]
struct Slot {
    mark: Cell<Mark>,
    len: Cell<u32>,
    context: Cell<u64>,
    /// The place of a word and, where it is misplaced, where among the results it comes.
    dest: Cell<usize>,
    word: Cell<u32>,
}

impl Slot {
    /// Notes an operation of `len` bytes.
    #[inline(always)]
    fn note<R: Report>(&self, mark: Mark, len: u32, report: R) {
        self.mark.set(mark);
        self.len.set(len);
        if let Some(context) = report.context() {
            self.context.set(context);
        }
    }

    /// Where among the results the word of the operation with this mark at this block comes.
    fn word_at(&self, mark: Mark, block: u64) -> u32 {
        match mark.0 & Mark::MISPLACED {
            0 => block as u32,
            _ => self.word.get(),
        }
    }

    /// Takes a word to its place.
    ///
    /// # Safety
    /// There is room for it.
    #[inline(always)]
    unsafe fn bring(&self, mark: Mark, word: u64) {
        let dest = std::ptr::with_exposed_provenance_mut::<u8>(self.dest.get());
        // SAFETY: there is room for the word.
        unsafe {
            match self.len.get() {
                8 => dest.cast::<u64>().write_unaligned(word),
                // The device gives results of four bytes in its own order.
                _ if mark.updates() => {
                    let word = u32::from_be(word as u32);
                    dest.cast::<u32>().write_unaligned(word);
                }
                _ => dest.cast::<u32>().write_unaligned(word as u32),
            }
        }
    }
}

/// The blocks of a log, one pointer nearer.
#[derive(Debug)]
pub(crate) struct Notes {
    slots: *const Slot,
    /// One less than their number, a power of two.
    mask: usize,
    /// Has the slots.
    _log: Rc<Log>,
}

impl Notes {
    /// Notes an operation as [`Log::note`] does.
    #[inline(always)]
    pub(crate) fn note<R: Report>(&self, block: u16, mark: Mark, len: u32, report: R) {
        let at = usize::from(block) & self.mask;
        // SAFETY: the log, which is held, has its slots where they are as long as it lives, and one
        // more than the mask.
        unsafe { &*self.slots.add(at) }.note(mark, len, report);
    }
}

/// An operation that leaves nothing to do but its report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simple<'a>(&'a Slot);

impl Simple<'_> {
    /// Whether it has an entry in the queue.
    #[inline(always)]
    pub(crate) fn has_context(self) -> bool {
        self.0.mark.get().has_context()
    }
}

/// An operation, as it was noted.
#[derive(Debug)]
pub(crate) struct Noted {
    /// Its block.
    pub(crate) block: u64,
    pub(crate) mark: Mark,
    pub(crate) len: u32,
    context: u64,
    dest: usize,
    word: u32,
    pub(crate) detail: Option<Detail>,
}

impl Noted {
    /// The context of its entry, if it has one, for an operation without details.
    pub(crate) fn context(&self) -> Option<u64> {
        self.mark.has_context().then_some(self.context)
    }
}

/// The rest of an operation that leaves more to do than its report.
#[derive(Debug)]
pub(crate) struct Detail {
    pub(crate) entry: Entry,
    pub(crate) promise: Promise,
    pub(crate) after: After,
    /// The data that the peer is told behind the write.
    pub(crate) told: Option<(u64, Rc<Link>)>,
    /// The operation that waits for this one, and reports.
    pub(crate) pending: Option<u64>,
}

/// The last step of an operation.
#[derive(Debug)]
pub(crate) enum After {
    Nothing,
    /// Lets memory go.
    Return(Loan),
    /// Takes so many bytes from the bounce memory to their place.
    Copy(Kept, *mut u8, usize),
    /// The same, of a word of so many bytes that an atomic operation has brought.
    Word(Kept, *mut u8, usize),
}

/// Registered memory for the words that operations bring, one for each block.
#[derive(Debug)]
struct Results {
    /// Before the words, which it registers.
    region: Region,
    words: Box<[AtomicU64]>,
}

/// The memory of all words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    first: *const AtomicU64,
    mask: usize,
    key: LocalKey,
}

impl Words {
    /// That for a word of `len` bytes that the entry at a block brings.
    #[inline(always)]
    pub(crate) fn at(self, block: u64, len: u32) -> Local {
        Local {
            address: self.place(block),
            length: len,
            key: self.key.key(),
        }
    }

    /// The same, of 8 bytes.
    #[inline(always)]
    pub(crate) fn word_at(self, block: u64) -> LocalWord {
        self.key.word_at(self.place(block))
    }

    #[inline(always)]
    fn place(self, block: u64) -> u64 {
        let place = self.first.wrapping_add(block as usize & self.mask);
        place.addr() as u64
    }
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Log {
    slots: Box<[Slot]>,
    /// One less than the slots.
    mask: usize,
    /// Blocks that were looked at, from the queue's beginning.
    seen: Cell<u64>,
    /// The queue, where its completion queue is not shared.
    pub(crate) lone: Option<Lone>,
    /// The words of the results; null where there are none. And the same, but null as long as some
    /// are misplaced; and their key.
    first: Cell<*const AtomicU64>,
    open: Cell<*const AtomicU64>,
    key: Cell<LocalKey>,
    details: RefCell<VecDeque<Detail>>,
    results: OnceCell<Results>,
    /// Operations whose words come where those of other blocks belong: their entries were posted
    /// again.
    misplaced: Cell<u32>,
    /// The number of the queue in its lane.
    pub(crate) queue: u32,
    /// Whether its operations fail, whatever the device does.
    is_over: Cell<bool>,
}

impl Log {
    /// The log of a queue that nothing was posted to, of so many blocks, a power of two.
    pub(crate) fn new(queue: u32, lone: Option<Lone>, blocks: u32) -> Self {
        assert!(blocks.is_power_of_two());
        Self {
            slots: (0..blocks).map(|_| Slot::default()).collect(),
            mask: blocks as usize - 1,
            seen: Cell::new(0),
            lone,
            first: Cell::new(std::ptr::null()),
            open: Cell::new(std::ptr::null()),
            key: Cell::new(LocalKey::new(0)),
            details: RefCell::default(),
            results: OnceCell::new(),
            misplaced: Cell::new(0),
            queue,
            is_over: Cell::new(false),
        }
    }

    #[inline(always)]
    fn slot(&self, block: u64) -> &Slot {
        // SAFETY: the mask is one less than the number of the slots, a power of two.
        unsafe { self.slots.get_unchecked(block as usize & self.mask) }
    }

    /// Notes an operation of `len` bytes at a block, modulo the ring.
    #[inline(always)]
    pub(crate) fn note<R: Report>(&self, block: u64, mark: Mark, len: u32, report: R) {
        self.slot(block).note(mark, len, report);
    }

    /// Where its operations are noted, for a path that holds it.
    pub(crate) fn notes(self: &Rc<Self>) -> Notes {
        Notes {
            slots: self.slots.as_ptr(),
            mask: self.mask,
            _log: Rc::clone(self),
        }
    }

    /// Notes an operation that brings a word of `len` bytes for `dest`.
    #[inline(always)]
    pub(crate) fn note_word<R: Report>(
        &self,
        block: u64,
        mark: Mark,
        (dest, len): (*mut u8, u32),
        report: R,
    ) {
        let slot = self.slot(block);
        slot.mark.set(mark);
        slot.len.set(len);
        slot.dest.set(dest.expose_provenance());
        if let Some(context) = report.context() {
            slot.context.set(context);
        }
    }

    /// Notes an operation with details.
    pub(crate) fn note_detail(&self, block: u64, follows: Follows, detail: Detail) {
        let slot = self.slot(block);
        slot.mark.set(Mark(Mark::DETAILS | follows.0));
        slot.len.set(detail.entry.len as u32);
        self.details.borrow_mut().push_back(detail);
    }

    /// Registered memory for words that entries bring; none where there is none yet
    /// ([`Log::make_results`]), or words may come where those of other blocks belong.
    #[inline(always)]
    pub(crate) fn words(&self) -> Option<Words> {
        let first = self.open.get();
        (!first.is_null()).then(|| Words {
            first,
            mask: self.mask,
            key: self.key.get(),
        })
    }

    /// Notes that so many more words, or fewer, come where those of other blocks belong.
    fn add_misplaced(&self, more: i32) {
        self.misplaced.update(|many| many.wrapping_add_signed(more));
        self.open.set(match self.misplaced.get() {
            0 => self.first.get(),
            _ => std::ptr::null(),
        });
    }

    /// Registers memory for words.
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    pub(crate) fn make_results(&self, device: &Device) -> Result<(), Error> {
        if self.results.get().is_none() {
            let words: Box<[AtomicU64]> = self.slots.iter().map(|_| AtomicU64::new(0)).collect();
            // SAFETY: the words are there as long as the region, which is beside them.
            let region = unsafe { device.register_own(&words)? };
            let results = self.results.get_or_init(|| Results { region, words });
            self.first.set(results.words.as_ptr());
            self.key.set(LocalKey::new(results.region.lkey()));
            self.add_misplaced(0);
        }
        Ok(())
    }

    /// A word that was brought.
    #[inline(always)]
    fn word(&self, at: u32) -> u64 {
        let at = at as usize & self.mask;
        let words = self.results.get().map(|results| &results.words[at]);
        // ORDERING: none: the completion was seen before, behind which the device's stores are.
        words.map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Has its operations fail, whatever the device does.
    pub(crate) fn end(&self) {
        self.is_over.set(true);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Whether all operations before block `posted` were taken.
    #[inline(always)]
    pub(crate) fn is_empty(&self, posted: u64) -> bool {
        self.is_over() || self.seen.get() == posted
    }

    /// Takes the mark of the oldest operation before block `end`, if that has no details; returns its
    /// block, too.
    #[inline(always)]
    pub(crate) fn take_plain(&self, end: u64) -> Option<(u64, Mark)> {
        let mut block = self.seen.get();
        while block < end {
            let slot = self.slot(block);
            let mark = slot.mark.get();
            if mark.has_details() {
                break;
            }
            block += 1;
            if !mark.is_blank() {
                slot.mark.set(Mark::BLANK);
                self.seen.set(block);
                return Some((block - 1, mark));
            }
        }
        self.seen.set(block);
        None
    }

    /// The block of the oldest operation, or one before it.
    #[inline(always)]
    pub(crate) fn seen(&self) -> u64 {
        self.seen.get()
    }

    /// Takes the operation at this block, before which all others were taken, if it leaves nothing
    /// to do but its report: brings its word to its place. Returns its mark, and where its context
    /// and its bytes are noted.
    ///
    /// # Safety
    /// The operation is done. There is room for a word where it is to be brought to, aligned to it.
    #[inline(always)]
    pub(crate) unsafe fn take_simple(&self, block: u64) -> Option<(Mark, &Cell<u64>, &Cell<u32>)> {
        // SAFETY: the operation is done, and there is room for its word.
        self.simple_at(block)
            .map(|simple| unsafe { self.take(block, simple) })
    }

    /// The operation at this block, if it leaves nothing to do but its report.
    #[inline(always)]
    pub(crate) fn simple_at(&self, block: u64) -> Option<Simple<'_>> {
        let slot = self.slot(block);
        slot.mark.get().is_simple().then_some(Simple(slot))
    }

    /// Takes an operation as [`Log::take_simple`] does.
    ///
    /// # Safety
    /// As [`Log::take_simple`]; the operation was just found at this block.
    #[inline(always)]
    pub(crate) unsafe fn take<'a>(
        &'a self,
        block: u64,
        Simple(slot): Simple<'a>,
    ) -> (Mark, &'a Cell<u64>, &'a Cell<u32>) {
        let mark = slot.mark.get();
        self.seen.set(block + 1);
        slot.mark.set(Mark::BLANK);
        if mark.has_word() {
            let place = self.first.get().wrapping_add(block as usize & self.mask);
            // SAFETY: operations that bring words are noted only where there are results, which
            // are there as long as the log; the mask is one less than the number of words.
            // ORDERING: none: the completion was seen before, behind which the device's stores are.
            let word = unsafe { (*place).load(Ordering::Relaxed) };
            // SAFETY: there is room for the word.
            unsafe { slot.bring(mark, word) };
        }
        (mark, &slot.context, &slot.len)
    }

    /// The context and the bytes of the operation at a block whose mark was taken just now.
    #[inline(always)]
    pub(crate) fn plain_at(&self, block: u64) -> (u64, usize) {
        let slot = self.slot(block);
        (slot.context.get(), slot.len.get() as usize)
    }

    /// Takes the mark of the oldest operation before block `end`; returns its block, too.
    #[inline(always)]
    pub(crate) fn advance(&self, end: u64) -> Option<(u64, Mark)> {
        let mut block = self.seen.get();
        while block < end {
            let mark = self.slot(block).mark.replace(Mark::BLANK);
            block += 1;
            if !mark.is_blank() {
                self.seen.set(block);
                return Some((block - 1, mark));
            }
        }
        self.seen.set(block);
        None
    }

    /// The details of the operation whose mark was taken just now.
    pub(crate) fn take_detail(&self) -> Option<Detail> {
        self.details.borrow_mut().pop_front()
    }

    /// Ends an operation whose mark was taken just now, and that has no details: brings a word to
    /// its place if it `is_done`. Returns its context, if it has one.
    ///
    /// # Safety
    /// There is room for a word where it is to be brought to, aligned to it.
    #[inline(always)]
    pub(crate) unsafe fn end_plain(&self, block: u64, mark: Mark, is_done: bool) -> Option<u64> {
        let slot = self.slot(block);
        if is_done && mark.has_word() {
            // SAFETY: there is room for the word.
            unsafe { slot.bring(mark, self.word(slot.word_at(mark, block))) };
        }
        if mark.0 & Mark::MISPLACED != 0 {
            self.add_misplaced(-1);
        }
        mark.has_context().then(|| slot.context.get())
    }

    /// The bytes of the operation at a block whose mark was taken just now.
    #[inline(always)]
    pub(crate) fn len_at(&self, block: u64) -> usize {
        self.slot(block).len.get() as usize
    }

    /// Takes all operations before block `end`, in their order.
    pub(crate) fn take_all(&self, end: u64) -> Vec<Noted> {
        let taken = std::iter::from_fn(|| self.advance(end));
        let noted = taken.map(|(block, mark)| {
            let slot = self.slot(block);
            Noted {
                block,
                mark,
                len: slot.len.get(),
                context: slot.context.get(),
                dest: slot.dest.get(),
                word: slot.word_at(mark, block),
                detail: mark.has_details().then(|| self.take_detail()).flatten(),
            }
        });
        noted.collect()
    }

    /// Notes an operation again, at another block behind all others.
    pub(crate) fn note_again(&self, noted: Noted, block: u64) {
        let slot = self.slot(block);
        let has_word = noted.mark.has_word();
        let misplaced = u32::from(has_word) * Mark::MISPLACED;
        slot.mark.set(Mark(noted.mark.0 | misplaced));
        slot.len.set(noted.len);
        slot.context.set(noted.context);
        slot.dest.set(noted.dest);
        slot.word.set(noted.word);
        if has_word && noted.mark.0 & Mark::MISPLACED == 0 {
            self.add_misplaced(1);
        }
        if let Some(detail) = noted.detail {
            self.details.borrow_mut().push_back(detail);
        }
    }

    /// Notes that an operation that was taken is not noted again.
    pub(crate) fn forget(&self, noted: &Noted) {
        if noted.mark.0 & Mark::MISPLACED != 0 {
            self.add_misplaced(-1);
        }
    }

    /// Goes on at this block: another queue has taken the place of the one before.
    pub(crate) fn go_on(&self, block: u64) {
        self.seen.set(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::completion::{Context, Counted, CountedContext, Silent};

    fn taken(log: &Log, end: u64) -> Vec<(u64, Mark)> {
        std::iter::from_fn(|| log.advance(end)).collect()
    }

    #[test]
    fn operations_are_taken_in_their_order_and_blanks_left_out() {
        let log = Log::new(0, None, 8);
        let follows = Follows::default();
        let (counted, told) = (
            Mark::WRITE.of(Counted, follows),
            Mark::WRITE.of(Context(7), Follows::YES),
        );
        // Twice around the ring.
        for start in [0, 6, 12] {
            log.note(start, counted, 8, Counted);
            log.note(start + 2, told, 5, Context(start));
            assert_eq!(taken(&log, start + 2), [(start, counted)]);
            assert!(log.is_empty(start + 2) && !log.is_empty(start + 3));
            assert_eq!(log.take_plain(start + 6), Some((start + 2, told)));
            assert_eq!(log.plain_at(start + 2), (start, 5));
            assert_eq!(log.take_plain(start + 6), None);
            assert!(log.is_empty(start + 6));
        }
        assert!(counted.counts() && !counted.has_context() && !counted.follows());
        assert!(!told.counts() && told.has_context() && told.follows());
        log.end();
        assert!(log.is_empty(100), "nothing more is waited for");
        assert_eq!(taken(&log, 3), [], "what is behind is not taken again");
    }

    #[test]
    fn operations_that_leave_a_report_alone_are_simple() {
        let log = Log::new(0, None, 8);
        let take = |block| {
            // SAFETY: none of the operations brings a word.
            let taken = unsafe { log.take_simple(block) };
            taken.map(|(mark, context, len)| (mark.operation(), context.get(), len.get()))
        };
        let mark = |mark: Mark| mark.of(Context(7), Follows::YES);
        // Past the end of the ring.
        for block in 5..12 {
            log.go_on(block);
            assert_eq!(take(block), None, "it is blank");
            log.note(block, mark(Mark::READ), 5, Context(block));
            assert_eq!(take(block), Some((Operation::Read, block, 5)));
            assert_eq!((take(block), log.seen()), (None, block + 1));
        }
        log.note(12, mark(Mark::WRITE), 6, Context(12));
        assert_eq!(take(12), Some((Operation::Write, 12, 6)));
        for other in [Mark::DETAILS, Mark::MISPLACED] {
            log.slot(13).mark.set(Mark(mark(Mark::READ).0 | other));
            assert_eq!((take(13), log.seen()), (None, 13), "it is left");
            assert!(log.simple_at(13).is_none());
        }
        for (report, has_context) in [(mark(Mark::WRITE), true), (Mark::WRITE, false)] {
            log.slot(13).mark.set(report);
            let simple = log.simple_at(13).expect("nothing but a report");
            assert_eq!((simple.has_context(), log.seen()), (has_context, 13));
        }
    }

    #[test]
    fn marks_tell_their_operations() {
        let all = [
            (Mark::WRITE, Operation::Write, false),
            (Mark::READ, Operation::Read, false),
            (Mark::READ_WORD, Operation::Read, true),
            (Mark::ATOMIC, Operation::Atomic, true),
            (Mark::ADDITION, Operation::Atomic, false),
            (Mark::FETCH, Operation::Fetch, true),
        ];
        for (mark, operation, has_word) in all {
            for mark in [mark, mark.of(CountedContext(1), Follows::YES)] {
                assert_eq!((mark.operation(), mark.has_word()), (operation, has_word));
                let reads = matches!(operation, Operation::Read | Operation::Fetch);
                assert_eq!(mark.reads(), reads);
                assert!(!mark.is_blank() && !mark.has_details());
            }
        }
        assert!(Mark::default().is_blank());
    }

    #[test]
    fn words_are_misplaced_until_their_operation_ends() {
        let log = Log::new(0, None, 8);
        let mark = Mark::READ_WORD.of(Silent, Follows::default());
        let mut word = 0_u64;
        let place = ((&raw mut word).cast(), 8);
        for is_reported in [true, false] {
            log.go_on(0);
            log.note_word(3, mark, place, Silent);
            log.note(4, Mark::WRITE, 8, Silent);
            assert_eq!(log.misplaced.get(), 0);
            let mut all = log.take_all(5);
            log.go_on(64);
            log.note_again(all.remove(0), 64);
            log.note_again(all.remove(0), 65);
            // Again, before it is done.
            let mut all = log.take_all(66);
            log.note_again(all.remove(0), 66);
            assert!(log.misplaced.get() > 0);
            if is_reported {
                let (block, mark) = log.advance(67).expect("the read");
                // SAFETY: there is room for a word.
                assert_eq!(unsafe { log.end_plain(block, mark, false) }, None);
            } else {
                log.forget(&log.take_all(67)[0]);
            }
            assert_eq!(log.misplaced.get(), 0);
        }
    }
}
