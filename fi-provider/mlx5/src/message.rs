//! Messages of a few bytes that decide nothing but by the kind of their lane: a word in front, and
//! bytes from the caller's memory, all of which the entry takes with it.
//!
//! They decline where those of [`crate::short`] do.

#![expect(
    unsafe_code,
    reason = "writes rings and doorbell registers through raw pointers"
)]

use crate::guard::{Alone, Counted, Guard, Kind, OnBoth, OnLane, OnRegister};
use crate::post::{control, finish, kept_apart, message, next_place};
use crate::queue::{Place, Queue, what};
use crate::registers::HALF;
use crate::remote::Vector;
use crate::route::Route;
use crate::short::{FEW, copy, copy_few, finish_in_ring, guarded};
use crate::unit::{Unit, settled, store_to_register, unit};
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::{BASIC_BLOCK, INLINE, UNIT, blocks, inline_len};

/// Bytes of the word in front.
const WORD: usize = size_of::<u64>();

impl Route {
    /// The most bytes behind the word for [`Route::send`] on any lane: as many as fit into a
    /// BlueFlame copy.
    pub const MESSAGE: usize = HALF - UNIT * 2 - size_of::<Be32>() - WORD;

    /// The most bytes for [`Route::send_few`].
    pub const FEW: usize = FEW;

    /// Sends two or three words to the peer at `place`, on a lane of one thread, if nothing has to be
    /// waited for. Returns `None` where the lane is another.
    ///
    /// # Safety
    /// As [`Route::inject`].
    #[inline(always)]
    pub unsafe fn send_words<const N: usize>(
        &self,
        words: [u64; N],
        vector: &Vector,
        place: Place,
    ) -> Option<bool> {
        let queues = self.queues;
        if self.connected {
            // SAFETY: the lane is alive, this thread's and has connected queues under `Alone`; the
            // place is a peer's.
            let posted =
                unsafe { message::<N, Alone>(queues, self.connection(place), words, None) };
            kept_apart!("connected");
            return Some(posted);
        }
        if !self.initiators {
            return None;
        }
        // SAFETY: the lane is alive, this thread's and has initiators under `Alone`; the place is a
        // peer's.
        let posted = unsafe {
            let queue = self.initiator(place);
            message::<N, Alone>(queues, queue, words, Some(vector))
        };
        kept_apart!("initiator");
        Some(posted)
    }

    /// Sends a word, `N` more and the `len` bytes at `source`, at most [`Route::FEW`] of them, to the peer at
    /// `place` by its connected queue, on a lane of one thread, if nothing has to be waited for.
    /// Returns `None` where the lane is another, or entries do not hold as much.
    ///
    /// # Safety
    /// As [`Route::inject`]; there are `len` bytes at `source`, no more than [`Route::FEW`].
    #[inline(always)]
    pub unsafe fn send_few<const N: usize>(
        &self,
        word: u64,
        words: [u64; N],
        (source, len): (*const u8, usize),
        place: Place,
    ) -> Option<bool> {
        let before = WORD + N * WORD;
        // The entry has two blocks at most.
        const { assert!(UNIT + size_of::<Be32>() + (1 + N) * WORD + FEW <= 2 * BASIC_BLOCK) };
        let bytes = before + len;
        if bytes > usize::from(self.connected_inline) {
            return None;
        }
        let all = UNIT + size_of::<Be32>() + bytes;
        let (units, blocks) = (all.div_ceil(UNIT), all.div_ceil(BASIC_BLOCK) as u16);
        // SAFETY: the lane is alive, this thread's and has a connected queue under `Alone` for the
        // peer at the place.
        let entered = unsafe { self.enter_some::<Alone>(self.connection(place), blocks) };
        let Some((queue, at)) = entered else {
            return Some(false);
        };
        const CHANGE: u64 = what(Opcode::Send, 0, 0) ^ what(Opcode::Write, 0, 0);
        let record = queue.record;
        // SAFETY: the blocks are free and follow each other, the queue was entered, and its record is
        // mapped as long as it; words and bytes fit behind the control segment, and `source` has the
        // bytes.
        unsafe {
            let control = control(queue, next_place(record) ^ CHANGE);
            let first = settled(queue.block(at)).cast::<Unit>();
            first.write(control);
            // The length lies in the last byte of the first word.
            first.cast::<u8>().add(WORD - 1).write(units as u8);
            let count = Be32::new(INLINE | bytes as u32);
            let segment = first.add(1).cast::<u8>();
            segment.cast::<u32>().write(count.raw());
            let behind = segment.add(size_of::<Be32>());
            behind.cast::<u64>().write_unaligned(word);
            behind.add(WORD).cast::<[u64; N]>().write_unaligned(words);
            copy_few(behind.add(before), source, len);
            finish::<Alone>(self.queues, queue, record, at, blocks, |half| {
                let block =
                    |place: usize| first.add(place * (BASIC_BLOCK / UNIT)).cast::<[Unit; 4]>();
                store_to_register(half, &block(0).read());
                if blocks > 1 {
                    store_to_register(half.add(BASIC_BLOCK), &block(1).read());
                }
            });
        }
        kept_apart!("few");
        Some(true)
    }

    /// Sends a word and the `len` bytes at `source` to the peer at `place`, if they fit into a
    /// BlueFlame copy and nothing has to be waited for. They may be changed at once.
    ///
    /// # Safety
    /// The route's lane is alive and used as its guard is made for; `place` is that of one of its
    /// peers, `vector` leads to that peer, and there are `len` bytes at `source`.
    #[inline(always)]
    pub unsafe fn send(
        &self,
        word: u64,
        (source, len): (*const u8, usize),
        vector: &Vector,
        place: Place,
    ) -> bool {
        // SAFETY: there is room for the bytes, which `source` has, and which do not overlap.
        let fill = |to: *mut u8| unsafe { copy(to, source, len) };
        // SAFETY: the lane is alive and used as its guard is made for, and the place is a peer's.
        unsafe { self.send_filled(word, (len, fill), vector, place) }
    }

    /// Sends a word and `len` bytes as [`Route::send`] does, which `fill` writes where they are to be:
    /// at any address, and no more.
    ///
    /// # Safety
    /// As [`Route::send`].
    #[inline(always)]
    pub unsafe fn send_filled(
        &self,
        word: u64,
        (len, fill): (usize, impl FnOnce(*mut u8)),
        vector: &Vector,
        place: Place,
    ) -> bool {
        if len > Self::MESSAGE || len + WORD > usize::from(self.most_inline) {
            return false;
        }
        let bytes = (len, fill);
        if self.connected {
            // SAFETY: the lane is alive, this thread's and has connected queues under `Alone`; the
            // place is a peer's, and the bytes fit.
            let posted = unsafe {
                let queue = (self.connection(place), false);
                self.send_on::<Alone>(queue, word, bytes, vector)
            };
            kept_apart!("filled, connected");
            return posted;
        }
        // SAFETY: the lane is alive, has the guard matched and is used as that allows; the place is
        // a peer's, and the bytes fit.
        unsafe { guarded!(self, [], send_by(word, bytes, vector, place)) }
    }

    /// # Safety
    /// As [`Route::send`]; `G` is the lane's guard, and the bytes fit.
    #[inline(always)]
    unsafe fn send_by<G: Guard>(
        &self,
        word: u64,
        bytes: (usize, impl FnOnce(*mut u8)),
        vector: &Vector,
        place: Place,
    ) -> bool {
        // SAFETY: the lane is alive, and the place is that of one of its peers.
        let Some(queue) = (unsafe { self.queue_of(place) }) else {
            return false;
        };
        // SAFETY: the queue is one of the lane's.
        unsafe { self.send_on::<G>(queue, word, bytes, vector) }
    }

    /// # Safety
    /// As [`Route::send_by`]; the queue is one of the lane's, and whether it is an initiator.
    #[inline(always)]
    unsafe fn send_on<G: Guard>(
        &self,
        (queue, is_initiator): (*const Queue, bool),
        word: u64,
        (len, fill): (usize, impl FnOnce(*mut u8)),
        vector: &Vector,
    ) -> bool {
        let before = 1 + usize::from(is_initiator);
        let units = before + inline_len(WORD + len) / UNIT;
        let blocks = blocks(units) as u16;
        // SAFETY: the queue is one of the lane's, which is alive and has guard `G`.
        let Some((queue, at)) = (unsafe { self.enter_some::<G>(queue, blocks) }) else {
            return false;
        };
        // Entries in line have one unit more than the remote address takes.
        let change = what(Opcode::Send, 0, units) ^ what(Opcode::Write, 0, before + 2);
        let record = queue.record;
        // SAFETY: the blocks are free and follow each other, the queue was entered, and its record
        // is mapped as long as it; the bytes fit behind the units before them.
        unsafe {
            let control = control(queue, next_place(record) ^ change);
            let first = queue.block(at).cast::<Unit>();
            first.write(control);
            if is_initiator {
                let [low, high] = vector.0;
                first.add(1).write(unit(low, high));
            }
            put(first.add(before).cast(), word, len, fill);
            finish_in_ring::<G>(self.queues, queue, record, at, blocks);
        }
        true
    }
}

/// Writes an inline segment: the length, the word, and `len` bytes.
///
/// # Safety
/// `segment` has room for it.
#[inline(always)]
unsafe fn put(segment: *mut u8, word: u64, len: usize, fill: impl FnOnce(*mut u8)) {
    let count = Be32::new(INLINE | (WORD + len) as u32);
    // SAFETY: `segment` has room for the length, the word and `len` bytes.
    unsafe {
        segment.cast::<u32>().write(count.raw());
        let behind = segment.add(size_of::<Be32>());
        behind.cast::<u64>().write_unaligned(word);
        fill(behind.add(WORD));
    }
}
