//! The posts that take no decision: written from registers into the ring and the BlueFlame register.
//!
//! A [`Route`] is what an endpoint holds of its lane. Where the lane belongs to one thread and has BlueFlame and registers of its own,
//! [`Route::inject`] and [`Route::add`] are in line at the place of the call. All lanes with BlueFlame have the posts of
//! [`crate::short`], which are compiled for each guard. Where the queue has no room without looking, all of them decline, and the
//! lane's own functions ([`crate::lane`]) do the work.

#![expect(
    unsafe_code,
    reason = "writes rings and doorbell registers through raw pointers"
)]

use crate::guard::{Alone, Guard, Kind};
use crate::lane::Lane;
use crate::lane::head::{head, slot};
use crate::queue::{Control, Queue, count, what};
use crate::remote::{Remote, Segment};
use crate::unit::{
    Unit, combine, entry_before_record, flush_register, record_before_register, store_to_register,
    unit,
};
use fi_mlx5_defs::endian::{Be32, Be64};
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::INLINE;

/// Keeps the compiler from making one of the ends of two paths: what they hold in registers would have to be moved to
/// the same ones.
macro_rules! kept_apart {
    ($name:literal) => {
        // SAFETY: a comment of the assembler's.
        unsafe {
            core::arch::asm!(
                concat!("/* ", $name, " */"),
                options(nomem, nostack, preserves_flags)
            )
        }
    };
}
pub(crate) use kept_apart;

/// By which queues a lane's peers are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Way {
    /// The posts that take no decision have to decline.
    None,
    /// By initiators, of which a peer has always the same.
    Initiators,
    /// By a connected queue for each peer.
    Connected,
    /// Some peers by connected queues, the others by initiators.
    Mixed,
}

/// Where in the lane's queues a peer's is: 64 times the peer's index, as peers and queues take 64 bytes each.
pub type Place = usize;

/// What an endpoint holds of its lane: job constants.
#[derive(Debug)]
#[repr(C)]
pub struct Route {
    /// Whether elements are posted in line by initiators, of which a peer has always the same.
    pub(crate) initiators: bool,
    /// Whether they are posted in line by a connected queue for each peer.
    pub(crate) connected: bool,
    /// The same, in a function of their own, on registers that other lanes ring as well.
    pub(crate) initiators_on_register: bool,
    pub(crate) connected_on_register: bool,
    /// Which way it is, each by a comparison of its own.
    pub(crate) by_initiators: bool,
    pub(crate) by_connection: bool,
    pub(crate) way: Way,
    pub(crate) guard: Kind,
    /// Bytes that an entry may hold inline.
    pub(crate) most_inline: u16,
    /// The places of the initiators, of which there are a power of two.
    pub(crate) mask: Place,
    pub(crate) queues: *const Queue,
    pub(crate) lane: *const Lane,
}

/// Between the two halves of a BlueFlame register that posts alternate between.
pub(crate) const HALF: usize = 256;

/// Bytes of an element that fit into one block beside an address vector; into one unit in any case.
pub(crate) const BESIDE_VECTOR: usize = 12;

impl Route {
    /// No route.
    pub const fn none() -> Self {
        Self {
            initiators: false,
            connected: false,
            initiators_on_register: false,
            connected_on_register: false,
            by_initiators: false,
            by_connection: false,
            way: Way::None,
            guard: Kind::Alone,
            most_inline: 0,
            mask: 0,
            queues: std::ptr::null(),
            lane: std::ptr::null(),
        }
    }

    /// The same way, and nothing posted in line: for endpoints whose peers have other numbers than the lane's.
    #[must_use]
    pub fn out_of_line(self) -> Self {
        Self {
            queues: self.queues,
            lane: self.lane,
            guard: self.guard,
            ..Self::none()
        }
    }

    /// The lane, if there is one.
    ///
    /// # Safety
    /// The lane that the route was made of is alive.
    #[inline(always)]
    pub unsafe fn lane(&self) -> Option<&Lane> {
        // SAFETY: null, or the lane that the route was made of, which is alive.
        unsafe { self.lane.as_ref() }
    }

    /// Whether posts are in line, or else there are only those of [`crate::short`] and of the lane.
    #[must_use]
    pub fn is_in_line(&self) -> bool {
        self.initiators || self.connected
    }

    /// Whether several threads may use the lane.
    #[inline(always)]
    #[must_use]
    pub fn is_shared(&self) -> bool {
        !matches!(self.guard, Kind::Alone | Kind::OnRegister)
    }

    /// The queue of the initiator for the peer at `place`.
    ///
    /// # Safety
    /// The route's lane is alive, and has initiators.
    #[inline(always)]
    pub(crate) unsafe fn initiator(&self, place: Place) -> *const Queue {
        // SAFETY: the mask is that of the lane's initiators, so that the sum lies in the allocation
        // of its queues.
        unsafe { self.queues.byte_add(place & self.mask) }
    }

    /// The queue that is connected with the peer at `place`.
    ///
    /// # Safety
    /// The route's lane is alive, and has a connected queue for each peer.
    #[inline(always)]
    pub(crate) unsafe fn connection(&self, place: Place) -> *const Queue {
        // SAFETY: the lane has a queue for each peer, so that the sum lies in the allocation of its
        // queues.
        unsafe { self.queues.byte_add(place) }
    }

    /// Writes `value` to `address` of the peer at `place`, if nothing has to be waited for.
    ///
    /// # Safety
    /// The route's lane is alive and used by this thread alone; `place` is that of one of its peers, `remote` that peer's.
    #[inline(always)]
    pub unsafe fn inject<T: Copy>(
        &self,
        value: T,
        there: Segment,
        remote: &Remote,
        place: Place,
    ) -> bool {
        let Segment(there) = there;
        let queues = self.queues;
        if self.initiators {
            // SAFETY: the lane is alive and this thread's, and the place that of a peer; in-line
            // routes have initiators under `Alone`.
            let posted = unsafe {
                let queue = self.initiator(place);
                element_to::<T, Alone>(queues, queue, value, there, remote)
            };
            kept_apart!("initiator");
            return posted;
        }
        if !self.connected {
            return false;
        }
        // SAFETY: the lane is alive and this thread's, and the place that of a peer; it has a
        // connected queue under `Alone`.
        let posted = unsafe {
            let queue = self.connection(place);
            element::<T, Alone>(queues, queue, value, there)
        };
        kept_apart!("connected");
        posted
    }

    /// Adds `value`, of 8 bytes, at `address` of the peer at `place`, if nothing has to be waited for.
    ///
    /// # Safety
    /// As [`Route::inject`].
    #[inline(always)]
    pub unsafe fn add(&self, value: u64, there: Segment, place: Place) -> bool {
        if !self.connected {
            return false;
        }
        // SAFETY: the lane is alive and this thread's, so that nobody changes the queue meanwhile;
        // it has one for each peer.
        let queue = unsafe { &*self.connection(place) };
        let Some(at) = queue.free_block() else {
            return false;
        };
        const OTHER: u64 = what(Opcode::Write, 0, 3) ^ what(Opcode::FetchAdd, 0, 4);
        let record = queue.record;
        // SAFETY: the lane is alive, and with it the record.
        let control = control(queue, unsafe { next_place(record) } ^ OTHER);
        let operand = unit(Be64::new(value).raw(), 0);
        // SAFETY: the lane is alive.
        let [low, high] = unsafe { head(self.queues) }.discard;
        let result = unit(low, high);
        queue.unfenced.set(true);
        let entry = [control, there.0, operand, result];
        // SAFETY: the block is free, and the queue this thread's.
        unsafe { commit::<Alone>(self.queues, queue, record, at, entry, 4) };
        true
    }
}

/// Writes `value` by an initiator, if nothing has to be waited for.
///
/// # Safety
/// The queue is one of `queues`, which are a live lane's of guard `G`, and an initiator.
#[inline(always)]
pub(crate) unsafe fn element_to<T: Copy, G: Guard>(
    queues: *const Queue,
    queue: *const Queue,
    value: T,
    there: Unit,
    remote: &Remote,
) -> bool {
    if size_of::<T>() > BESIDE_VECTOR {
        return false;
    }
    // SAFETY: the queue is one of `queues`, which are a live lane's of guard `G`.
    let Some((queue, at)) = (unsafe { enter::<G>(queues, queue) }) else {
        return false;
    };
    let record = queue.record;
    // SAFETY: the lane is alive, and with it the record.
    let control = control(queue, unsafe { next_place(record) });
    let [low, high] = remote.vector;
    let entry = [control, unit(low, high), there, inline_units(value)[0]];
    // SAFETY: the block is free, and the queue was entered.
    unsafe { commit::<G>(queues, queue, record, at, entry, 4) };
    true
}

/// Writes `value` by a connected queue, if nothing has to be waited for.
///
/// # Safety
/// As [`element_to`], but that the queue is a connected one.
#[inline(always)]
pub(crate) unsafe fn element<T: Copy, G: Guard>(
    queues: *const Queue,
    queue: *const Queue,
    value: T,
    there: Unit,
) -> bool {
    // SAFETY: the queue is one of `queues`, which are a live lane's of guard `G`.
    let Some((queue, at)) = (unsafe { enter::<G>(queues, queue) }) else {
        return false;
    };
    let [first, second] = inline_units(value);
    // The second unit of a longer value is one more than the template says.
    let (longer, used) = if size_of::<T>() > BESIDE_VECTOR {
        (ONE_MORE, 4)
    } else {
        (0, 3)
    };
    let record = queue.record;
    // SAFETY: the lane is alive, and with it the record.
    let control = control(queue, unsafe { next_place(record) } ^ longer);
    // SAFETY: the block is free, and the queue was entered.
    unsafe {
        commit::<G>(
            queues,
            queue,
            record,
            at,
            [control, there, first, second],
            used,
        )
    };
    true
}

/// Enters the queue; returns it, and its next block, which is free. Returns `None` where the post
/// has to decline.
///
/// # Safety
/// The queue is one of `queues`, which are a live lane's of guard `G`.
#[inline(always)]
pub(crate) unsafe fn enter<'a, G: Guard>(
    queues: *const Queue,
    queue: *const Queue,
) -> Option<(&'a Queue, u16)> {
    // SAFETY: the queue is one of `queues`, which are a live lane's of guard `G`, as the caller
    // promises.
    let queue = unsafe { entered::<G>(queues, queue) }?;
    let at = queue.free_block();
    if at.is_none() {
        // SAFETY: it was entered.
        unsafe { G::leave(queues, queue, 0) };
    }
    Some((queue, at?))
}

/// The queue, once it is entered: from there on it is this thread's. Returns `None` where the post
/// has to decline.
///
/// # Safety
/// The queue is one of `queues`, which are a live lane's of guard `G`.
#[inline(always)]
pub(crate) unsafe fn entered<'a, G: Guard>(
    queues: *const Queue,
    queue: *const Queue,
) -> Option<&'a Queue> {
    // SAFETY: the queue is one of `queues`, which are a live lane's of guard `G`, as the caller
    // promises.
    let is_entered = unsafe { G::enter(queues, queue) };
    // SAFETY: the queue lives with its lane, and only the thread that has entered changes it, which
    // is this one.
    is_entered.then(|| unsafe { &*queue })
}

/// Writes an entry of one block, of which the first `used` units count, rings and leaves the queue.
///
/// # Safety
/// The record is the queue's, block `at` is free and the next one, and the queue was entered under its guard.
#[inline(always)]
pub(crate) unsafe fn commit<G: Guard>(
    queues: *const Queue,
    queue: &Queue,
    record: *mut Be32,
    at: u16,
    entry: [Unit; 4],
    used: usize,
) {
    let block = queue.block(at).cast::<Unit>();
    for (place, &unit) in entry.iter().take(used).enumerate() {
        // SAFETY: a block has four units, and this one is free.
        unsafe { block.add(place).write(unit) };
    }
    // SAFETY: the record is the queue's, the entry is complete now, and the queue was entered; a
    // half of the register has room for the entry's 64 bytes.
    unsafe {
        finish::<G>(queues, queue, record, at, 1, |half| {
            store_to_register(half, &entry)
        });
    }
}

/// Counts an entry of `blocks` blocks that is in the ring, rings by `store` and leaves the queue.
///
/// # Safety
/// The record is the queue's, the entry at block `at` is complete, and the queue was entered under its guard. `store` stores
/// the entry into half a register.
#[inline(always)]
pub(crate) unsafe fn finish<G: Guard>(
    queues: *const Queue,
    queue: &Queue,
    record: *mut Be32,
    at: u16,
    blocks: u16,
    store: impl FnOnce(*mut u8),
) {
    let next = at.wrapping_add(blocks);
    queue.producer.set(next);
    entry_before_record();
    // SAFETY: the record is mapped as long as the queue.
    unsafe { count(record, next) };
    record_before_register();
    // SAFETY: the queues are a live lane's, whose queues have slots. Its registers have two halves for BlueFlame.
    unsafe {
        G::ring(slot(queues, queue.register), |half| {
            store(half);
            flush_register();
        });
        G::leave(queues, queue, blocks);
    }
}

/// What makes an entry one unit longer or, as here, its length of 3 one of 4.
const ONE_MORE: u64 = what(Opcode::Nop, 0, 3 ^ 4);

/// [`Queue::place`] of the next block of the queue with this doorbell record, which holds its index as the device reads it.
///
/// # Safety
/// The record is mapped, and nobody else writes it.
#[inline(always)]
pub(crate) unsafe fn next_place(record: *const Be32) -> u64 {
    // SAFETY: the record is mapped, and nobody else writes it.
    let index = unsafe { record.read() };
    u64::from(index.raw() >> 8)
}

/// The queue's control segment with these bits of its first word changed.
#[inline(always)]
pub(crate) fn control(queue: &Queue, change: u64) -> Unit {
    let Control([first, second]) = queue.control.get();
    combine(unit(first, second), unit(change, 0))
}

/// The half of a doorbell register that is not `half`.
#[inline(always)]
pub(crate) fn other_half(half: *mut u8) -> *mut u8 {
    half.map_addr(|addr| addr ^ HALF)
}

/// The inline segment of one element of up to 16 bytes.
#[inline(always)]
fn inline_units<T: Copy>(value: T) -> [Unit; 2] {
    const { assert!(size_of::<T>() <= 16) };
    let mut words = [0_u64; 2];
    // SAFETY: the words hold as many bytes, and any bytes are valid words; bytes of padding are taken as they are.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const value).cast::<u8>(),
            words.as_mut_ptr().cast::<u8>(),
            size_of::<T>(),
        );
    }
    let count = u64::from(Be32::new(INLINE | size_of::<T>() as u32).raw());
    let [low, high] = words;
    let first = unit(count | low << 32, low >> 32 | high << 32);
    // Where one unit suffices, what fills up the block is of no account: the register gets whole blocks.
    let second = if size_of::<T>() > 12 {
        unit(high >> 32, 0)
    } else {
        first
    };
    [first, second]
}
