//! Operations on memory under way by one queue, each noted at the block that its entry begins with:
//! by a few words where nothing but its report is left to do.
//!
//! Entries without an operation, those of counts and probes, leave their blocks blank.

#![expect(unsafe_code, reason = "takes words to C addresses")]

use super::device::Device;
use super::mark::{Follows, Mark};
use crate::device::Kept;
use crate::raw::completion::{Entry, NOTE, Operation, Plain, Promise, Report, Silent};
use crate::raw::endpoint::link::Link;
use crate::raw::error::Error;
use crate::registration::Loan;
use fi_mlx5::device::Region;
use fi_mlx5::lane::{Lane, Local, Lone};
use fi_mlx5::local::{LocalKey, LocalWord};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering, compiler_fence};

/// The note of a block without an operation.
const BLANK: u8 = (Mark::NONE >> NOTE) as u8;

/// A block.
#[derive(Debug)]
#[repr(C, align(32))]
struct Slot {
    /// The report of its operation's success, with the flags of its mark as the note.
    plain: Cell<Plain>,
    /// The place of a word and, where it is misplaced, where among the results it comes.
    dest: Cell<usize>,
    word: Cell<u32>,
}

impl Default for Slot {
    fn default() -> Self {
        Self {
            plain: Cell::new(Plain::new(Operation::Send, BLANK, 0, 0)),
            dest: Cell::new(0),
            word: Cell::new(0),
        }
    }
}

impl Slot {
    #[inline(always)]
    fn mark(&self) -> Mark {
        let Plain {
            operation, note, ..
        } = self.plain.get();
        Mark::noted(operation, note)
    }

    #[inline(always)]
    fn context(&self) -> u64 {
        self.plain.get().put_context()
    }

    #[inline(always)]
    fn len(&self) -> u32 {
        self.plain.get().len
    }

    /// Notes an operation, whose block has none: completions of a queue are reported before its
    /// blocks are used again. A context is that of its entry, of a failure or of a success.
    #[inline(always)]
    fn note(&self, mark: Mark, len: u32, context: Option<u64>) {
        debug_assert_eq!(
            self.plain.get().note,
            BLANK,
            "an operation was not reported"
        );
        Plain::put(&self.plain, mark.head(), len, context);
    }

    /// Has no operation at the block any more.
    #[inline(always)]
    fn clear(&self) {
        Plain::set_note(&self.plain, BLANK);
    }

    /// Returns the place among the results of the word of the operation with this mark at this
    /// block.
    fn word_at(&self, mark: Mark, block: u64) -> u32 {
        match mark.flags & Mark::MISPLACED {
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
            match self.len() {
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
        unsafe { &*self.slots.add(at) }.note(mark, len, report.failure());
    }
}

/// The oldest operation of a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Oldest<'a> {
    log: &'a Log,
    slot: &'a Slot,
}

impl<'a> Oldest<'a> {
    #[inline(always)]
    fn note(self) -> usize {
        self.slot.plain.get().note.into()
    }

    /// Returns whether it leaves nothing to do but its entry and a count.
    #[inline(always)]
    pub(crate) fn is_entry(self) -> bool {
        self.note() < Mark::COUNTERS
    }

    /// Returns whether it leaves nothing to do but to bring a word to its place, its entry and a
    /// count.
    #[inline(always)]
    pub(crate) fn is_word(self) -> bool {
        !self.is_entry() && self.note() < Mark::WORDS
    }

    /// Takes it: returns its note, below [`Mark::COUNTERS`], and its entry. Brings its word to its
    /// place if `IS_WORD`.
    ///
    /// # Safety
    /// It is an [entry](Oldest::is_entry), or a [word](Oldest::is_word) if `IS_WORD`: then the
    /// operation is done, and there is room for the word where it is to be brought to, aligned to
    /// it.
    #[inline(always)]
    pub(crate) unsafe fn take<const IS_WORD: bool>(self) -> (usize, &'a Cell<Plain>) {
        let Self { log, slot } = self;
        if IS_WORD {
            // SAFETY: the operation is done; there is room for its word.
            unsafe { log.bring(log.seen.get(), slot, slot.mark()) };
        }
        // Has the compiler read the numbers anew, which need no registers before.
        compiler_fence(Ordering::SeqCst);
        let note = match IS_WORD {
            true => self.note() % Mark::COUNTERS,
            false => self.note(),
        };
        slot.clear();
        log.seen.set(log.seen.get() + 1);
        (note, &slot.plain)
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
    /// Returns its promise, for an operation without details.
    pub(crate) fn promise(&self) -> Promise {
        self.mark.promise(self.context)
    }

    /// Returns which operation it is, and the number of the one that it is a part of, if there is
    /// one.
    pub(crate) fn whole(&self) -> (Operation, Option<u64>) {
        let whole = self.detail.as_ref().and_then(|detail| detail.pending);
        (self.mark.operation(), whole)
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
    /// Takes a word of so many bytes, which an atomic operation has brought, from the bounce memory
    /// to its place.
    Word(Kept, *mut u8, usize),
}

/// Registered memory for the words that operations bring, one for each block.
#[derive(Debug)]
struct Results {
    /// Before the words, which it registers.
    region: Region,
    words: Box<[AtomicU64]>,
}

/// The memory of all words of a log, in which none is misplaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a>(&'a Log);

impl Words<'_> {
    /// Returns the memory for a word of `len` bytes that the entry at a block brings.
    #[inline(always)]
    pub(crate) fn at(self, block: u64, len: u32) -> Local {
        Local {
            address: self.place(block),
            length: len,
            key: self.0.key.get().key(),
        }
    }

    /// Returns the memory for a word of 8 bytes that the entry at a block brings.
    #[inline(always)]
    pub(crate) fn word_at(self, block: u64) -> LocalWord {
        self.0.key.get().word_at(self.place(block))
    }

    #[inline(always)]
    fn place(self, block: u64) -> u64 {
        let Log { first, mask, .. } = self.0;
        let place = first.get().wrapping_add(block as usize & mask);
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
    /// Its lane, if it is there.
    lane: *const Lane,
    /// The words of the results; null where there are none. Whether there are some, of which none
    /// is misplaced; and their key.
    first: Cell<*const AtomicU64>,
    has_open_words: Cell<bool>,
    key: Cell<LocalKey>,
    details: RefCell<VecDeque<Detail>>,
    results: OnceCell<Results>,
    /// Operations whose words come where those of other blocks belong: their entries were posted
    /// again.
    misplaced: Cell<u32>,
    /// The number of the queue in its lane.
    pub(crate) queue: u32,
    /// Whether its operations fail, independently of the device.
    is_over: Cell<bool>,
}

impl Log {
    /// Makes the log of a queue that nothing was posted to, of so many blocks, a power of two, and
    /// of a lane that outlives it; or of a queue that is nobody's, without a lane.
    pub(crate) fn new(queue: u32, lone: Option<Lone>, lane: Option<&Lane>, blocks: u32) -> Self {
        assert!(blocks.is_power_of_two());
        Self {
            slots: (0..blocks).map(|_| Slot::default()).collect(),
            mask: blocks as usize - 1,
            seen: Cell::new(0),
            lone,
            lane: lane.map_or(std::ptr::null(), std::ptr::from_ref),
            first: Cell::new(std::ptr::null()),
            has_open_words: Cell::new(false),
            key: Cell::new(LocalKey::new(0)),
            details: RefCell::default(),
            results: OnceCell::new(),
            misplaced: Cell::new(0),
            queue,
            is_over: Cell::new(false),
        }
    }

    /// Returns the lane of the queue.
    ///
    /// # Safety
    /// The queue is one of a lane.
    #[inline(always)]
    pub(super) unsafe fn lane(&self) -> &Lane {
        // SAFETY: there is one, which outlives the log.
        unsafe { &*self.lane }
    }

    #[inline(always)]
    fn slot(&self, block: u64) -> &Slot {
        // SAFETY: the mask is one less than the number of the slots, a power of two.
        unsafe { self.slots.get_unchecked(block as usize & self.mask) }
    }

    /// Notes an operation of `len` bytes at a block, modulo the ring.
    #[inline(always)]
    pub(crate) fn note<R: Report>(&self, block: u64, mark: Mark, len: u32, report: R) {
        self.slot(block).note(mark, len, report.failure());
    }

    /// Returns the notes of its operations, for a path that holds it.
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
        slot.dest.set(dest.expose_provenance());
        slot.note(mark, len, report.failure());
    }

    /// Notes an operation with details.
    pub(crate) fn note_detail(&self, block: u64, follows: Follows, detail: Detail) {
        let slot = self.slot(block);
        let mark = Mark::new(detail.entry.operation, Mark::DETAILS).of(Silent, follows);
        slot.note(mark, detail.entry.len as u32, None);
        self.details.borrow_mut().push_back(detail);
    }

    /// Returns registered memory for words that entries bring; none where there is none yet
    /// ([`Log::make_results`]), or words may come where those of other blocks belong.
    #[inline(always)]
    pub(crate) fn words(&self) -> Option<Words<'_>> {
        self.has_open_words.get().then_some(Words(self))
    }

    /// Notes that so many more words, or fewer, come where those of other blocks belong.
    fn add_misplaced(&self, more: i32) {
        self.misplaced.update(|many| many.wrapping_add_signed(more));
        let has_words = !self.first.get().is_null();
        (self.has_open_words).set(has_words && self.misplaced.get() == 0);
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

    /// Returns a word that was brought.
    #[inline(always)]
    fn word(&self, at: u32) -> u64 {
        let at = at as usize & self.mask;
        let words = self.results.get().map(|results| &results.words[at]);
        // ORDERING: none: the completion was seen before, behind which the device's stores are.
        words.map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Has its operations fail, independently of the device.
    pub(crate) fn end(&self) {
        self.is_over.set(true);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Returns whether all operations before block `posted` were taken.
    #[inline(always)]
    pub(crate) fn is_empty(&self, posted: u64) -> bool {
        self.is_over() || self.seen.get() == posted
    }

    /// Takes the mark of the oldest operation before block `end`, if that has no details; returns
    /// its block, too.
    #[inline(always)]
    pub(crate) fn take_plain(&self, end: u64) -> Option<(u64, Mark)> {
        let mut block = self.seen.get();
        while block < end {
            let slot = self.slot(block);
            let mark = slot.mark();
            if mark.has_details() {
                break;
            }
            block += 1;
            if !mark.is_blank() {
                slot.clear();
                self.seen.set(block);
                return Some((block - 1, mark));
            }
        }
        self.seen.set(block);
        None
    }

    /// Returns the block of the oldest operation, or one before it.
    #[inline(always)]
    pub(crate) fn seen(&self) -> u64 {
        self.seen.get()
    }

    /// Returns the oldest operation, or a blank.
    #[inline(always)]
    pub(crate) fn oldest(&self) -> Oldest<'_> {
        Oldest {
            log: self,
            slot: self.slot(self.seen()),
        }
    }

    /// Takes the operation at this block, before which all others were taken, if it leaves nothing
    /// to do but its report: brings its word to its place. Returns its mark, and its entry if it
    /// has one.
    ///
    /// # Safety
    /// The operation is done. There is room for a word where it is to be brought to, aligned to it.
    #[inline(always)]
    pub(crate) unsafe fn take_simple(&self, block: u64) -> Option<(Mark, &Cell<Plain>)> {
        let slot = self.slot(block);
        let mark = slot.mark();
        if !mark.is_simple() {
            return None;
        }
        self.pass(block, slot);
        if mark.has_word() {
            // SAFETY: the operation is done; there is room for its word.
            unsafe { self.bring(block, slot, mark) };
        }
        Some((mark, &slot.plain))
    }

    /// Brings the word of the operation with this mark at this block, whose slot this is, to its
    /// place.
    ///
    /// # Safety
    /// The operation is done, and brings a word, which is in the place of its block. There is room
    /// for it, aligned to it.
    #[inline(always)]
    unsafe fn bring(&self, block: u64, slot: &Slot, mark: Mark) {
        let place = self.first.get().wrapping_add(block as usize & self.mask);
        // SAFETY: operations that bring words are noted only where there are results, which
        // are there as long as the log; the mask is one less than the number of words.
        // ORDERING: none: the completion was seen before, behind which the device's stores are.
        let word = unsafe { (*place).load(Ordering::Relaxed) };
        // SAFETY: there is room for the word.
        unsafe { slot.bring(mark, word) };
    }

    /// Takes the operation at this block, whose slot this is.
    #[inline(always)]
    fn pass(&self, block: u64, slot: &Slot) {
        self.seen.set(block + 1);
        slot.clear();
    }

    /// Returns the entry of the operation at a block whose mark was taken just now, if it has one.
    #[inline(always)]
    pub(crate) fn plain_at(&self, block: u64) -> &Cell<Plain> {
        &self.slot(block).plain
    }

    /// Takes the mark of the oldest operation before block `end`; returns its block, too.
    #[inline(always)]
    pub(crate) fn advance(&self, end: u64) -> Option<(u64, Mark)> {
        let mut block = self.seen.get();
        while block < end {
            let (slot, mark) = (self.slot(block), self.slot(block).mark());
            slot.clear();
            block += 1;
            if !mark.is_blank() {
                self.seen.set(block);
                return Some((block - 1, mark));
            }
        }
        self.seen.set(block);
        None
    }

    /// Returns the details of the operation whose mark was taken just now.
    pub(crate) fn take_detail(&self) -> Option<Detail> {
        self.details.borrow_mut().pop_front()
    }

    /// Ends an operation whose mark was taken just now, and that has no details: brings a word to
    /// its place if it `is_done`. Returns its promise.
    ///
    /// # Safety
    /// There is room for a word where it is to be brought to, aligned to it.
    #[inline(always)]
    pub(crate) unsafe fn end_plain(&self, block: u64, mark: Mark, is_done: bool) -> Promise {
        let slot = self.slot(block);
        if is_done && mark.has_word() {
            // SAFETY: there is room for the word.
            unsafe { slot.bring(mark, self.word(slot.word_at(mark, block))) };
        }
        if mark.flags & Mark::MISPLACED != 0 {
            self.add_misplaced(-1);
        }
        mark.promise(slot.context())
    }

    /// Returns the bytes of the operation at a block whose mark was taken just now.
    #[inline(always)]
    pub(crate) fn len_at(&self, block: u64) -> usize {
        self.slot(block).len() as usize
    }

    /// Takes all operations before block `end`, in their order.
    pub(crate) fn take_all(&self, end: u64) -> Vec<Noted> {
        let taken = std::iter::from_fn(|| self.advance(end));
        let noted = taken.map(|(block, mark)| {
            let slot = self.slot(block);
            Noted {
                block,
                mark,
                len: slot.len(),
                context: slot.context(),
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
        let flags = noted.mark.flags | misplaced;
        let mark = Mark {
            flags,
            ..noted.mark
        };
        slot.note(mark, noted.len, Some(noted.context));
        slot.dest.set(noted.dest);
        slot.word.set(noted.word);
        if has_word && noted.mark.flags & Mark::MISPLACED == 0 {
            self.add_misplaced(1);
        }
        if let Some(detail) = noted.detail {
            self.details.borrow_mut().push_back(detail);
        }
    }

    /// Notes that an operation that was taken is not noted again.
    pub(crate) fn forget(&self, noted: &Noted) {
        if noted.mark.flags & Mark::MISPLACED != 0 {
            self.add_misplaced(-1);
        }
    }

    /// Goes on at this block: another queue has taken the place of the one before.
    pub(crate) fn go_on(&self, block: u64) {
        self.seen.set(block);
    }
}

#[cfg(test)]
mod tests;
