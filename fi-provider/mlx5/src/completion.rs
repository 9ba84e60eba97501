//! The completion queue of a lane, as its only consumer sees it.
//!
//! An entry is known by its last byte, which is written last: by the device, or by the thread that
//! puts entries into the inbox of a lane ([`crate::lane::SharedCompletions`]). It is the only byte
//! that is read before the entry is the consumer's, and it is read by atomic loads of its size
//! alone, as it is written.

#![expect(
    unsafe_code,
    reason = "reads entries that a device writes, and writes the doorbell record"
)]

use crate::unit::after_device;
use fi_mlx5_defs::cqe::{Cqe, owner_of};
use fi_mlx5_defs::doorbell::CompletionRecord;
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::opcode::CqeOpcode;
use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// A completion queue's memory, as its owner mapped it and told the device.
#[derive(Clone, Copy, Debug)]
pub struct CompletionRing {
    /// The first entry.
    pub base: *mut Cqe,
    /// Entries, a power of two.
    pub entries: u32,
    /// The doorbell record.
    pub record: *mut CompletionRecord,
    /// Whether the device looks there for overruns, and so has to be told of entries that were taken.
    pub is_checked: bool,
}

/// Completion of a request, as its CQE told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completed {
    /// The queue pair.
    pub(crate) number: u32,
    /// The first block of the request.
    pub(crate) index: u16,
    /// The syndrome, where the request failed.
    pub(crate) syndrome: Option<u8>,
}

/// Mask of the bytes of an entry's [`Cqe::opcode_qpn`], as they lie in memory, that are the queue's
/// number.
pub(crate) const OF_QUEUE: u32 = 0xff_ff_ff << 8;

/// Returns the last byte of an entry.
///
/// # Safety
/// The entry is inside a ring that is mapped, of which the caller is the only consumer.
#[inline(always)]
unsafe fn last_byte(entry: *mut Cqe) -> u8 {
    // SAFETY: the entry is inside a ring that is mapped; a byte is aligned, and while the entry is
    // not the consumer's the byte is accessed by atomic operations alone.
    let last = unsafe { AtomicU8::from_ptr(&raw mut (*entry).opcode_owner) };
    // ORDERING: none yet; the user of the entry calls `after_device`.
    last.load(Ordering::Relaxed)
}

/// Returns the end of the stretch that an entry of a ring is in.
fn stop(ring: &CompletionRing, entry: *mut Cqe) -> *mut Cqe {
    let at = (entry.addr() - ring.base.addr()) / size_of::<Cqe>();
    let stop = (at / STRETCH + 1) * STRETCH;
    ring.base.wrapping_add(stop.min(ring.entries as usize))
}

/// A ring of completion entries and how far it has been read.
#[derive(Debug)]
pub(crate) struct Completions {
    ring: CompletionRing,
    /// Behind the last entry.
    end: *mut Cqe,
    /// The entry that comes next.
    next: Cell<*mut Cqe>,
    /// The end of the stretch of [`STRETCH`] entries that the next one is in, or of the ring.
    stop: Cell<*mut Cqe>,
    /// Entries of the rounds before this one, modulo 2^24.
    before: Cell<u32>,
    /// The owner bit of the next entry, once it has come.
    owner: Cell<u8>,
}

/// Entries are counted modulo this, a multiple of the entries of every ring.
const COUNTED: u32 = 1 << 24;
/// The entries of a stretch: a user that takes them by few instructions is stopped at its end, so that
/// it looks at everything else, too.
const STRETCH: usize = 1024;

impl Completions {
    /// # Safety
    /// The ring is mapped as long as this lives, and nobody else consumes from it.
    pub(crate) unsafe fn new(ring: CompletionRing) -> Self {
        assert!(ring.entries.is_power_of_two() && ring.entries <= COUNTED);
        Self {
            ring,
            end: ring.base.wrapping_add(ring.entries as usize),
            next: Cell::new(ring.base),
            stop: Cell::new(stop(&ring, ring.base)),
            before: Cell::new(0),
            owner: Cell::new(owner_of(0, ring.entries).into()),
        }
    }

    /// Returns the number of entries taken so far, modulo 2^24.
    #[inline(always)]
    pub(crate) fn consumed(&self) -> u32 {
        let bytes = self.next.get().addr() - self.ring.base.addr();
        // The last entry of a round begins the next one: less than the modulus is added.
        self.before.get() + (bytes / size_of::<Cqe>()) as u32
    }

    pub(crate) fn entries(&self) -> u32 {
        self.ring.entries
    }

    /// Returns whether the device looks for overruns.
    pub(crate) fn is_checked(&self) -> bool {
        self.ring.is_checked
    }

    /// Returns the last byte of the next entry.
    #[inline(always)]
    pub(crate) fn last(&self) -> u8 {
        // SAFETY: `next` is an entry of the ring. `Completions::new` was promised that the ring is
        // mapped as long as this lives, and has no other consumer.
        unsafe { last_byte(self.next.get()) }
    }

    /// Returns the owner bit of the next entry, once it has come.
    #[inline(always)]
    pub(crate) fn owner(&self) -> u8 {
        self.owner.get()
    }

    /// Returns the last byte of the next entry when the device has written it and it tells of a
    /// success.
    #[inline(always)]
    fn success(&self) -> u8 {
        // The bits between opcode and owner are zero in a requester's entry, but for that of a
        // solicited one, which is not asked for.
        CqeOpcode::Requester.number() << 4 | self.owner.get()
    }

    /// Returns whether the device has written the next entry, of which this is the last byte.
    #[inline(always)]
    fn has_come(&self, last: u8) -> bool {
        last >> 4 != CqeOpcode::Invalid.number() && last & 1 == self.owner.get()
    }

    /// Returns whether the next entry ends a stretch.
    #[inline(always)]
    pub(crate) fn ends_stretch(&self) -> bool {
        self.next.get().wrapping_add(1) == self.stop.get()
    }

    /// Returns whether the device has written the next entry.
    pub(crate) fn is_ready(&self) -> bool {
        self.has_come(self.last())
    }

    /// Returns the next entry.
    ///
    /// # Safety
    /// The device has written it, as its last byte has told before a call of [`after_device`].
    #[inline(always)]
    pub(crate) unsafe fn entry(&self) -> &Cqe {
        // SAFETY: `next` is an entry of the ring, which is mapped and aligned; it belongs to
        // software, as the device has written it.
        unsafe { &*self.next.get() }
    }

    /// Takes the next entry, if the device has written it and it tells of a success.
    #[inline(always)]
    pub(crate) fn take_success(&self) -> bool {
        if self.last() != self.success() {
            return false;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others, and after
        // the data; or with the release of `Inbox::put`.
        after_device();
        self.skip();
        true
    }

    /// Takes the next entry, if the device has written it and it tells of a success of the queue whose
    /// number this is, as it lies in an entry behind a byte of another.
    #[inline(always)]
    pub(crate) fn take_success_of(&self, number: impl FnOnce() -> u32) -> bool {
        let next = self.next.get();
        if !self.is_success_of(next, number) {
            return false;
        }
        self.go_to(next.wrapping_add(1));
        true
    }

    /// Returns whether the device has written the next entry. It also has to tell of a success of
    /// the queue with this number, and not to end a stretch.
    #[inline(always)]
    pub(crate) fn has_success_of(&self, number: impl FnOnce() -> u32) -> bool {
        !self.ends_stretch() && self.is_success_of(self.next.get(), number)
    }

    /// Takes the next entry, which is there and does not end a stretch, of a ring that is not checked.
    #[inline(always)]
    pub(crate) fn pass_one(&self) {
        debug_assert!(!self.ring.is_checked && self.is_ready() && !self.ends_stretch());
        self.next.set(self.next.get().wrapping_add(1));
    }

    /// Returns whether the device has written this entry, the next one, and it tells of a success
    /// of the queue with this number.
    #[inline(always)]
    fn is_success_of(&self, next: *mut Cqe, number: impl FnOnce() -> u32) -> bool {
        // SAFETY: `next` is an entry of the ring. `Completions::new` was promised that the ring is
        // mapped as long as this lives, and has no other consumer.
        if unsafe { last_byte(next) } != self.success() {
            return false;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others, and after
        // the data; or with the release of `Inbox::put`.
        after_device();
        // SAFETY: the entry is inside the ring, which is mapped and aligned, and belongs to software
        // now.
        let found = unsafe { (*next).opcode_qpn.raw() };
        found & OF_QUEUE == number()
    }

    /// Takes the next entry, which the device has written.
    #[inline(always)]
    pub(crate) fn skip(&self) {
        self.go_to(self.next.get().wrapping_add(1));
    }

    /// Goes behind the next entry, and leaves it to [`Completions::settle`] to give it back: returns
    /// whether that is to be done before another one is looked at. It is where the bits of `mask`
    /// are 0 in the address behind the entry, as they are at the end of the ring.
    #[inline(always)]
    pub(crate) fn pass(&self, mask: usize) -> bool {
        let next = self.next.get().wrapping_add(1);
        self.next.set(next);
        next.addr() & mask == 0
    }

    /// Gives the entries back that were passed, of which the last is not that of the ring.
    #[inline(always)]
    pub(crate) fn tell(&self) {
        if self.ring.is_checked {
            self.record();
        }
    }

    /// Gives all entries back that were passed.
    #[inline(always)]
    pub(crate) fn settle(&self) {
        self.go_to(self.next.get());
    }

    /// Returns the entry that comes next, whether it has come or not.
    #[inline(always)]
    pub(crate) fn place(&self) -> *mut Cqe {
        self.next.get()
    }

    /// Has no entry tell of the queue pair of this number, all of whose entries were taken. The
    /// device may write these places meanwhile: entries of others stay as they are.
    pub(crate) fn disown(&self, number: u32) {
        for at in 0..self.ring.entries as usize {
            let entry = self.ring.base.wrapping_add(at);
            // SAFETY: the words are aligned, and in an entry of the ring, which is mapped as long
            // as this lives. Nobody else reads entries that were taken, and the device writes as by
            // atomic operations.
            let words = unsafe {
                [&raw mut (*entry).user_index, &raw mut (*entry).opcode_qpn]
                    .map(|word| AtomicU32::from_ptr(word.cast()))
            };
            // ORDERING: a word that is as before is the same entry's: the queue pair has no other
            // ones, and no other queue pair has its number or index as long as it is there.
            let [index, queue] = words.each_ref().map(|word| word.load(Ordering::Relaxed));
            if queue & OF_QUEUE != number.to_be() {
                continue;
            }
            for (word, seen) in words.into_iter().zip([index, queue]) {
                let nobody = seen | OF_QUEUE;
                // ORDERING: see above.
                let _ = word.compare_exchange(seen, nobody, Ordering::Relaxed, Ordering::Relaxed);
            }
        }
    }

    /// Goes on at `next`, which may be the ring's end, and gives the entries before it back to the
    /// device.
    #[inline(always)]
    fn go_to(&self, next: *mut Cqe) {
        self.step_to(next);
        self.tell();
    }

    /// Goes on at `next`, which may be the ring's end.
    #[inline(always)]
    fn step_to(&self, next: *mut Cqe) {
        self.next.set(next);
        if next >= self.stop.get() {
            self.begin_stretch(next);
        }
    }

    /// Goes on at `next`, in a stretch behind others or at the ring's end.
    #[inline(always)]
    fn begin_stretch(&self, next: *mut Cqe) {
        let mut next = next;
        if next == self.end {
            next = self.ring.base;
            self.next.set(next);
            self.owner.set(self.owner.get() ^ 1);
            let before = self.before.get() + self.ring.entries;
            // A multiple of the entries of every ring.
            self.before.set(before & (COUNTED - 1));
        }
        self.stop.set(stop(&self.ring, next));
    }

    /// Tells the device how many entries were taken.
    #[inline(always)]
    fn record(&self) {
        let taken = Be32::new(self.consumed());
        // SAFETY: the record is mapped with the ring, as long as this; volatile, because the device
        // reads it.
        unsafe { (&raw mut (*self.ring.record).consumer).write_volatile(taken) };
    }

    /// Takes the entries that are there, up to the end of the ring, as long as they are of the
    /// queue with this number and tell of successes; returns how many they are, and the first block
    /// of the request of the last one.
    #[inline(always)]
    pub(crate) fn take_all_of(&self, number: u32) -> (u32, u16) {
        // The same for all of them: the owner changes at the end of the ring.
        let success = self.success();
        // As it lies in memory, behind the opcode of the request.
        let number = number.to_be();
        let (first, end) = (self.next.get(), self.end);
        let (mut entry, mut index) = (first, 0);
        loop {
            // SAFETY: the entry is in front of the ring's end. `Completions::new` was promised that
            // the ring is mapped as long as this lives, and has no other consumer.
            if unsafe { last_byte(entry) } != success {
                break;
            }
            // ORDERING: pairs with the device, which writes the last byte after all others, and
            // after the data; or with the release of `Inbox::put`.
            after_device();
            // SAFETY: the entry is inside the ring, which is mapped and aligned, and belongs to
            // software now.
            let found = unsafe { &*entry };
            if found.opcode_qpn.raw() & OF_QUEUE != number {
                break;
            }
            index = found.wqe_counter.get();
            entry = entry.wrapping_add(1);
            if entry == end {
                break;
            }
        }
        let count = ((entry.addr() - first.addr()) / size_of::<Cqe>()) as u32;
        if count > 0 {
            self.go_to(entry);
        }
        (count, index)
    }

    /// Takes the next entry whole, if the device has written it.
    pub(crate) fn take(&self) -> Option<Cqe> {
        let next = self.next.get();
        if !self.is_ready() {
            return None;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others, or with the
        // release of `Inbox::put`.
        after_device();
        // SAFETY: the entry is inside the ring, which is mapped and aligned, and belongs to software
        // now.
        let cqe = unsafe { next.read() };
        self.go_to(next.wrapping_add(1));
        Some(cqe)
    }

    /// Takes the next entry, if the device has written it.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<Completed> {
        let last = self.last();
        if !self.has_come(last) {
            return None;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others, or with the
        // release of `Inbox::put`.
        after_device();
        // SAFETY: the last byte has told that the device has written the entry.
        let entry = unsafe { self.entry() };
        let done = Completed {
            number: entry.qpn(),
            index: entry.wqe_counter.get(),
            syndrome: (last >> 4 != CqeOpcode::Requester.number()).then(|| entry.syndrome()),
        };
        self.skip();
        Some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    #[test]
    fn entries_are_counted_past_the_end_of_the_count() {
        const ENTRIES: u32 = 4;
        let mut cqes = [Cqe::zeroed(); ENTRIES as usize];
        cqes.iter_mut().for_each(|cqe| cqe.set_owner(true));
        let mut record = CompletionRecord::zeroed();
        let (base, record) = (cqes.as_mut_ptr(), &raw mut record);
        let ring = CompletionRing {
            base,
            entries: ENTRIES,
            record,
            is_checked: true,
        };
        // SAFETY: entries and record are there as long as the ring is used, by this alone.
        let completions = unsafe { Completions::new(ring) };
        completions.before.set(COUNTED - ENTRIES);
        for at in 0..3 * ENTRIES {
            assert!(!completions.is_ready() && !completions.take_success());
            // SAFETY: the entry is in the ring.
            unsafe {
                let cqe = &mut *base.add((at % ENTRIES) as usize);
                cqe.wqe_counter = (at as u16).into();
                cqe.set_owner(owner_of(at, ENTRIES));
            }
            match at % 3 {
                0 => assert!(completions.take_success()),
                1 => assert_eq!(completions.take_all_of(0), (1, at as u16)),
                _ => assert_eq!(completions.next().map(|done| done.index), Some(at as u16)),
            }
            let consumed = (COUNTED - ENTRIES + at + 1) % COUNTED;
            assert_eq!(completions.consumed(), consumed);
            // SAFETY: the record is there.
            assert_eq!(unsafe { (*record).consumer.get() }, consumed);
        }
    }

    #[test]
    fn entries_of_a_queue_pair_that_goes_tell_of_nobody() {
        const NOBODY: u32 = 0xff_ffff;
        let numbers = [0x12_3456, 0x12_3457, 0x12_3456, 0x56_3412];
        let entry = |number: u32| {
            let mut cqe = Cqe::zeroed();
            (cqe.opcode_qpn, cqe.user_index) =
                (Be32::new(0x08 << 24 | number), Be32::new(number + 1));
            cqe
        };
        let mut cqes = numbers.map(entry);
        let mut record = CompletionRecord::zeroed();
        let ring = CompletionRing {
            base: cqes.as_mut_ptr(),
            entries: numbers.len() as u32,
            record: &raw mut record,
            is_checked: true,
        };
        // SAFETY: entries and record are there as long as the ring is used, by this alone.
        unsafe { Completions::new(ring) }.disown(numbers[0]);
        for (cqe, number) in cqes.iter().zip(numbers) {
            let own = match number == numbers[0] {
                true => (0x08 << 24 | NOBODY, NOBODY),
                false => (0x08 << 24 | number, number + 1),
            };
            assert_eq!((cqe.opcode_qpn.get(), cqe.user_index.get()), own);
        }
    }
}
