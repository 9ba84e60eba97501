//! Posts of a few bytes that decide by the kind of the lane alone: under each guard, from the
//! caller's memory, of up to as many blocks as one BlueFlame copy holds. They are written where
//! they stay, in the ring, and the register gets a copy of that; but for eight bytes, the commonest
//! number, which are put together in registers as elements are.
//!
//! They decline, as those in line do, where the queue has no room without looking, and at the end of the ring.

#![expect(
    unsafe_code,
    reason = "writes rings and doorbell registers through raw pointers"
)]

use crate::guard::{Alone, Counted, Guard, Kind, OnBoth, OnLane, OnRegister};
use crate::lane::Way;
use crate::post::{
    BESIDE_VECTOR, control, element, element_to, enter, entered, finish, kept_apart, next_place,
};
use crate::queue::{Place, Queue, what};
use crate::registers::HALF;
use crate::remote::{Segment, Vector};
use crate::route::Route;
use crate::unit::{Unit, now, store_to_register, unit};
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::{BASIC_BLOCK, INLINE, UNIT, blocks, inline_len};

/// Calls a method with the guard of a lane as its last type, behind those given; false where there is
/// no lane.
macro_rules! guarded {
    ($route:ident, [$($type:ident),*], $method:ident($($argument:ident),*)) => {
        match $route.guard {
            Kind::None => false,
            Kind::Alone => $route.$method::<$($type,)* Alone>($($argument),*),
            Kind::OnRegister => $route.$method::<$($type,)* OnRegister>($($argument),*),
            Kind::OnLane => $route.$method::<$($type,)* OnLane>($($argument),*),
            Kind::OnBoth => $route.$method::<$($type,)* OnBoth>($($argument),*),
            Kind::Counted => $route.$method::<$($type,)* Counted>($($argument),*),
        }
    };
}
pub(crate) use guarded;

/// Remote memory, and the place of the peer's queue.
#[derive(Clone, Copy)]
pub struct There<'a> {
    /// The address there, and its key.
    pub segment: Segment,
    /// Address vector by which the peer is reached.
    pub vector: &'a Vector,
    /// Place of the peer's queue.
    pub place: Place,
}

impl Route {
    /// Returns which guard the lane has.
    #[inline(always)]
    #[must_use]
    pub fn guard(&self) -> Kind {
        self.guard
    }

    /// Writes an element as [`Route::inject`] does, on a lane that is guarded by its registers
    /// alone, with queues of one kind; returns `None` on another lane.
    ///
    /// # Safety
    /// As [`Route::inject_by`] with [`OnRegister`].
    #[inline(always)]
    pub unsafe fn inject_on_register<'a, T: Copy>(
        &self,
        value: T,
        there: impl FnOnce() -> Option<There<'a>>,
    ) -> Option<bool> {
        if self.initiators_on_register {
            let Some(there) = there() else {
                return Some(false);
            };
            // SAFETY: the lane is alive, has the guard `OnRegister`, and has initiators; the place
            // is a peer's.
            let posted = unsafe { self.inject_to::<T, OnRegister>(value, there) };
            kept_apart!("initiator");
            return Some(posted);
        }
        if !self.connected_on_register {
            return None;
        }
        let Some(there) = there() else {
            return Some(false);
        };
        // SAFETY: the lane is alive, has the guard `OnRegister`, and has connected queues; the
        // place is a peer's.
        let posted = unsafe { self.inject_connected::<T, OnRegister>(value, there) };
        kept_apart!("connected");
        Some(posted)
    }

    /// Writes an element as [`Route::inject`] does, on any lane with queues of one kind.
    ///
    /// # Safety
    /// The route's lane is alive, has the guard `G`, and is used as that is made for; the place is that of one of its peers.
    #[inline(always)]
    pub unsafe fn inject_by<T: Copy, G: Guard>(&self, value: T, there: There<'_>) -> bool {
        if self.by_initiators {
            // SAFETY: the lane is alive, has the guard `G`, and has initiators; the place is a
            // peer's.
            let posted = unsafe { self.inject_to::<T, G>(value, there) };
            kept_apart!("initiator");
            return posted;
        }
        if !self.by_connection {
            return false;
        }
        // SAFETY: the lane is alive, has the guard `G`, and has connected queues; the place is a
        // peer's.
        let posted = unsafe { self.inject_connected::<T, G>(value, there) };
        kept_apart!("connected");
        posted
    }

    /// Writes an element by an initiator.
    ///
    /// # Safety
    /// As [`Route::inject_by`]; the lane has initiators.
    #[inline(always)]
    unsafe fn inject_to<T: Copy, G: Guard>(&self, value: T, there: There<'_>) -> bool {
        let address = now(there.segment.0);
        // SAFETY: the lane is alive, has the guard `G` and initiators, of which the peer's is one
        // of `queues`.
        unsafe {
            let queue = self.initiator(there.place);
            element_to::<T, G>(self.queues, queue, value, address, there.vector).is_some()
        }
    }

    /// Writes an element by a connected queue.
    ///
    /// # Safety
    /// As [`Route::inject_by`]; the lane has a connected queue for each peer.
    #[inline(always)]
    unsafe fn inject_connected<T: Copy, G: Guard>(&self, value: T, there: There<'_>) -> bool {
        let address = now(there.segment.0);
        // SAFETY: the lane is alive, has the guard `G` and a connected queue for the peer at the
        // place.
        unsafe {
            let queue = self.connection(there.place);
            element::<T, G>(self.queues, queue, value, address).is_some()
        }
    }

    /// Returns the queue for the peer at `place`, which is not entered yet, and whether it is an
    /// initiator.
    #[inline(always)]
    pub(crate) unsafe fn queue_of(&self, place: Place) -> Option<(*const Queue, bool)> {
        // SAFETY: by contract of the callers; each way has such queues.
        unsafe {
            match self.way {
                Way::Initiators => Some((self.initiator(place), true)),
                Way::Connected => Some((self.connection(place), false)),
                Way::Mixed => Some((*self.lane).queue_at(place)),
                Way::None => None,
            }
        }
    }

    /// Writes the 8 bytes at `source`, the commonest number by far, on a lane of one thread, if there is a place for them and nothing has to
    /// be waited for. They may be changed at once. None where the lane is another.
    ///
    /// # Safety
    /// As [`Route::inject_by`] with [`Alone`]; there are as many bytes at `source`, if there is a place for them.
    #[inline(always)]
    pub unsafe fn write_word<'a>(
        &self,
        source: *const u8,
        there: impl FnOnce() -> Option<There<'a>>,
    ) -> Option<bool> {
        if self.initiators {
            let Some(there) = there() else {
                return Some(false);
            };
            // SAFETY: 8 bytes are at `source`; the lane is alive and used by this thread alone, has
            // initiators under `Alone`, and the place is a peer's.
            let posted = unsafe {
                let word = source.cast::<u64>().read_unaligned();
                self.inject_to::<u64, Alone>(word, there)
            };
            kept_apart!("initiator");
            return Some(posted);
        }
        if !self.connected {
            return None;
        }
        let Some(there) = there() else {
            return Some(false);
        };
        // SAFETY: 8 bytes are at `source`; the lane is alive and used by this thread alone, has
        // connected queues under `Alone`, and the place is a peer's.
        let posted = unsafe {
            let word = source.cast::<u64>().read_unaligned();
            self.inject_connected::<u64, Alone>(word, there)
        };
        kept_apart!("connected");
        Some(posted)
    }

    /// Writes the `len` bytes at `source`, if they fit into one block beside an address vector, on a lane of one thread, and nothing has
    /// to be waited for. They may be changed at once. None where the lane is another, or the bytes are more.
    ///
    /// # Safety
    /// As [`Route::inject_by`] with [`Alone`]; there are as many bytes at `source`.
    #[inline(always)]
    pub unsafe fn write_block(
        &self,
        source: *const u8,
        len: usize,
        there: There<'_>,
    ) -> Option<bool> {
        let address = there.segment.0;
        let queues = self.queues;
        if self.initiators {
            // SAFETY: the lane is alive, this thread's and has initiators under `Alone`; the place
            // is a peer's, and `source` has `len` bytes, which fit.
            let posted = unsafe {
                let queue = self.initiator(there.place);
                let vector = Some(there.vector);
                write_one::<Alone>(queues, queue, source, len, address, vector)
            };
            kept_apart!("initiator");
            return Some(posted);
        }
        if !self.connected {
            return None;
        }
        // SAFETY: the lane is alive, this thread's and has connected queues under `Alone`; the
        // place is a peer's, and `source` has `len` bytes, which fit.
        let posted = unsafe {
            let queue = self.connection(there.place);
            write_one::<Alone>(queues, queue, source, len, address, None)
        };
        kept_apart!("connected");
        Some(posted)
    }

    /// The most bytes for [`Route::write_block`].
    pub const BLOCK: usize = BESIDE_VECTOR;

    /// The most bytes for [`Route::write_guarded`] on any lane: as many as fit into a BlueFlame
    /// copy.
    pub const SHORT: usize = HALF - UNIT * 3 - size_of::<Be32>();

    /// Writes the `len` bytes at `source`, if they fit into a BlueFlame copy and nothing has to be waited for. They may be changed
    /// at once.
    ///
    /// # Safety
    /// As [`Route::write_block`].
    #[inline(always)]
    pub unsafe fn write_guarded(&self, source: *const u8, len: usize, there: There<'_>) -> bool {
        // SAFETY: the lane is alive, has the guard matched and is used as that allows; the place is
        // a peer's, and `source` has `len` bytes.
        unsafe { guarded!(self, [], write_by(source, len, there)) }
    }

    /// Writes 8 bytes as [`Route::write_guarded`] does.
    ///
    /// # Safety
    /// As [`Route::write_block`], with so many bytes.
    #[inline(always)]
    pub unsafe fn write_word_guarded(&self, source: *const u8, there: There<'_>) -> bool {
        // SAFETY: the lane is alive, has the guard matched and is used as that allows; the place is
        // a peer's, and `source` has the bytes.
        unsafe { guarded!(self, [], write_word_by(source, there)) }
    }

    /// # Safety
    /// As [`Route::inject_by`]; there are 8 bytes at `source`.
    #[inline(always)]
    unsafe fn write_word_by<G: Guard>(&self, source: *const u8, there: There<'_>) -> bool {
        // SAFETY: the lane is alive, and the place is that of one of its peers, of which the queue is;
        // it is an initiator where it says so. `source` has the bytes.
        unsafe {
            let Some((queue, is_initiator)) = self.queue_of(there.place) else {
                return false;
            };
            let (value, address) = (source.cast::<u64>().read_unaligned(), there.segment.0);
            if is_initiator {
                element_to::<u64, G>(self.queues, queue, value, address, there.vector).is_some()
            } else {
                element::<u64, G>(self.queues, queue, value, address).is_some()
            }
        }
    }

    /// # Safety
    /// As [`Route::inject_by`]; there are `len` bytes at `source`.
    #[inline(always)]
    unsafe fn write_by<G: Guard>(&self, source: *const u8, len: usize, there: There<'_>) -> bool {
        // SAFETY: the lane is alive, and the place is that of one of its peers.
        let Some((queue, is_initiator)) = (unsafe { self.queue_of(there.place) }) else {
            return false;
        };
        // SAFETY: the queue is the peer's in the live lane of guard `G`, an initiator where it says
        // so; `source` has `len` bytes, which fit where one unit takes them.
        unsafe {
            let address = there.segment.0;
            if len == size_of::<u64>() {
                let value = source.cast::<u64>().read_unaligned();
                return if is_initiator {
                    element_to::<u64, G>(self.queues, queue, value, address, there.vector).is_some()
                } else {
                    element::<u64, G>(self.queues, queue, value, address).is_some()
                };
            }
            if len <= BESIDE_VECTOR {
                let vector = is_initiator.then_some(there.vector);
                return write_one::<G>(self.queues, queue, source, len, address, vector);
            }
            self.write_some::<G>(queue, is_initiator, source, len, there)
        }
    }

    /// Writes bytes that take several blocks.
    ///
    /// # Safety
    /// As [`Route::write_by`], with the peer's queue.
    #[inline(always)]
    unsafe fn write_some<G: Guard>(
        &self,
        queue: *const Queue,
        is_initiator: bool,
        source: *const u8,
        len: usize,
        there: There<'_>,
    ) -> bool {
        let before = 2 + usize::from(is_initiator);
        if len > Self::SHORT || len > usize::from(self.most_inline) {
            return false;
        }
        let units = before + inline_len(len) / UNIT;
        let blocks = blocks(units) as u16;
        // SAFETY: the queue is one of the lane's, which is alive and has guard `G`.
        let Some((queue, at)) = (unsafe { self.enter_some::<G>(queue, blocks) }) else {
            return false;
        };
        let template = before + 1;
        let change = what(Opcode::Nop, 0, units) ^ what(Opcode::Nop, 0, template);
        let record = queue.record;
        // SAFETY: the blocks are free and follow each other, the queue was entered, and the bytes fit behind the units before them.
        unsafe {
            let control = control(queue, next_place(record) ^ change);
            let first = queue.block(at).cast::<Unit>();
            begin(first, control, there, is_initiator);
            put_inline(first.add(before).cast(), source, len);
            finish_in_ring::<G>(self.queues, queue, record, at, blocks);
        }
        true
    }

    /// Enters the queue; returns it, and the next of `blocks` blocks that are free and follow each
    /// other. Returns `None` where the post has to decline.
    ///
    /// # Safety
    /// As [`crate::post::enter`].
    #[inline(always)]
    pub(crate) unsafe fn enter_some<G: Guard>(
        &self,
        queue: *const Queue,
        blocks: u16,
    ) -> Option<(&Queue, u16)> {
        // SAFETY: the queue is one of the lane's, which is alive and of guard `G`, as the caller
        // promises.
        let queue = unsafe { entered::<G>(self.queues, queue) }?;
        let at = queue.free_blocks(blocks);
        if at.is_none() {
            // SAFETY: it was entered.
            unsafe { G::leave(self.queues, queue, 0) };
        }
        Some((queue, at?))
    }
}

/// Writes the units before the payload of an entry: its control segment, in one for an initiator
/// the address vector, and the remote address.
///
/// # Safety
/// From `first` on there is room for so many units.
#[inline(always)]
pub(crate) unsafe fn begin(first: *mut Unit, control: Unit, there: There<'_>, is_initiator: bool) {
    // SAFETY: from `first` on there is room for the control segment, the vector where there is one,
    // and the address.
    unsafe {
        first.write(control);
        if is_initiator {
            let [low, high] = there.vector.0;
            first.add(1).write(unit(low, high));
        }
        let before = 1 + usize::from(is_initiator);
        first.add(before).write(there.segment.0);
    }
}

/// Writes bytes that fit into one unit, behind an address vector where there is one.
///
/// # Safety
/// The queue is one of `queues`, which are a live lane's of guard `G`; it is an
/// initiator if there is a `vector`. `source` has `len` bytes, which fit.
#[inline(always)]
unsafe fn write_one<G: Guard>(
    queues: *const Queue,
    queue: *const Queue,
    source: *const u8,
    len: usize,
    there: Unit,
    vector: Option<&Vector>,
) -> bool {
    // SAFETY: the queue is one of `queues`, which are a live lane's of guard `G`.
    let Some((queue, at)) = (unsafe { enter::<G>(queues, queue) }) else {
        return false;
    };
    let record = queue.record;
    // SAFETY: the lane is alive, and with it the record.
    let control = control(queue, unsafe { next_place(record) });
    let block = queue.block(at).cast::<Unit>();
    // SAFETY: the block is free, the queue was entered, and the bytes fit behind the units before them.
    unsafe {
        block.write(control);
        if let Some(vector) = vector {
            let [low, high] = vector.0;
            let vector = unit(low, high);
            block.add(1).write(vector);
            block.add(2).write(there);
            put_inline(block.add(3).cast(), source, len);
            let entry = [control, vector, there, block.add(3).read()];
            finish::<G>(queues, queue, record, at, 1, |half| {
                store_to_register(half, &entry);
            });
        } else {
            block.add(1).write(there);
            put_inline(block.add(2).cast(), source, len);
            // The register gets whole blocks; the bytes that fill up this one are of no account.
            let data = block.add(2).read();
            let entry = [control, there, data, data];
            finish::<G>(queues, queue, record, at, 1, |half| {
                store_to_register(half, &entry);
            });
        }
    }
    true
}

/// Counts an entry of `blocks` blocks that is in the ring, rings with a copy of it and leaves the queue.
///
/// # Safety
/// As [`finish`]; the blocks follow each other.
#[inline(always)]
pub(crate) unsafe fn finish_in_ring<G: Guard>(
    queues: *const Queue,
    queue: &Queue,
    record: *mut Be32,
    at: u16,
    blocks: u16,
) {
    let units = usize::from(blocks) * (BASIC_BLOCK / UNIT);
    // SAFETY: the entry is in the ring, and stays there.
    let entry = unsafe { std::slice::from_raw_parts(queue.block(at).cast::<Unit>(), units) };
    // SAFETY: the record is the queue's, the entry at block `at` is complete, and the queue was
    // entered; the entry fits into half a register.
    unsafe {
        finish::<G>(queues, queue, record, at, blocks, |half| {
            store_to_register(half, entry);
        });
    }
}

/// Writes an inline segment: the length, and `len` bytes.
///
/// # Safety
/// `segment` has room for it, and `source` has as many bytes.
#[inline(always)]
unsafe fn put_inline(segment: *mut u8, source: *const u8, len: usize) {
    let count = Be32::new(INLINE | len as u32);
    // SAFETY: `segment` has room for the length and `len` bytes, which `source` has, and which do
    // not overlap.
    unsafe {
        segment.cast::<u32>().write(count.raw());
        copy(segment.add(size_of::<Be32>()), source, len);
    }
}

/// Copies by pieces in registers, of which the last two may overlap.
///
/// # Safety
/// Both have `len` bytes, and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy(dest: *mut u8, source: *const u8, len: usize) {
    macro_rules! ends {
        ($t:ty) => {{
            let last = len - size_of::<$t>();
            let head = source.cast::<$t>().read_unaligned();
            let tail = source.add(last).cast::<$t>().read_unaligned();
            dest.cast::<$t>().write_unaligned(head);
            dest.add(last).cast::<$t>().write_unaligned(tail);
        }};
    }
    // SAFETY: every piece lies inside both.
    unsafe {
        if len >= 16 {
            let mut at = 0;
            while at + 16 < len {
                let piece = source.add(at).cast::<u128>().read_unaligned();
                dest.add(at).cast::<u128>().write_unaligned(piece);
                at += 16;
            }
            let piece = source.add(len - 16).cast::<u128>().read_unaligned();
            dest.add(len - 16).cast::<u128>().write_unaligned(piece);
        } else if len >= 8 {
            ends!(u64);
        } else if len >= 4 {
            ends!(u32);
        } else if len >= 2 {
            ends!(u16);
        } else if len == 1 {
            dest.write(source.read());
        }
    }
}

/// The most bytes for [`copy_few`].
pub(crate) const FEW: usize = 64;

/// Copies up to [`FEW`] bytes as [`copy`] does, without a loop.
///
/// # Safety
/// As [`copy`].
#[inline(always)]
pub(crate) unsafe fn copy_few(dest: *mut u8, source: *const u8, len: usize) {
    // SAFETY: every piece lies inside both.
    unsafe {
        if len < 16 {
            return copy(dest, source, len);
        }
        let piece = |at: usize| {
            let piece = source.add(at).cast::<[u64; 2]>().read_unaligned();
            dest.add(at).cast::<[u64; 2]>().write_unaligned(piece);
        };
        piece(0);
        if len > 32 {
            piece(16);
            piece(len - 32);
        }
        piece(len - 16);
    }
}
