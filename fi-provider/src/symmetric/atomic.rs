//! Atomic operations on peers' memory (fi_atomic(3)).
//!
//! Where all processes of a job are on one node, they form one atomicity domain, the processor's. Otherwise it is that of
//! the target's device: every atomic operation goes there, also those on own memory and that of peers of this node. Addresses are the caller's own
//! addresses of the symmetric objects, aligned for their type. Near and far parts are as in
//! [`crate::symmetric::rma`].

#![expect(
    unsafe_code,
    reason = "on-node atomics work on raw pointers into the peers' mapped memory"
)]

use crate::symmetric::Error;
use crate::symmetric::address_vector::{Peer, PeerIndex};
use crate::symmetric::amo::{Amo, bits, is_aligned, value};
use crate::symmetric::endpoint::{Endpoint, anew};
pub use fi_shm::amo::{Integer, Word};

macro_rules! atomics {
    ($($(#[$doc:meta])* $near:ident, $far:ident: $kind:ident::$op:ident($($arg:ident),*) $(-> $ret:tt)?, $device:ident;)*) => {
        impl Endpoint {
            $($(#[$doc])* ///
            /// If `peer` is near; `None` otherwise.
            ///
            /// # Safety
            /// `target` is the address of an object in the own symmetric memory, aligned for `T`.
            #[inline(always)]
            pub unsafe fn $near<T: $kind>(&self, target: *mut T $(, $arg: T)*, peer: PeerIndex) -> Option<atomics!(@ret $($ret)?)> {
                let record = self.record(peer)?;
                if self.offset(target.addr()) >= record.atomic_len {
                    return atomics!(@in_line $op(self, target, record, peer $(, $arg)*));
                }
                let there = target.addr().wrapping_add(record.delta);
                // SAFETY: the peer's window is mapped at `there`, and as aligned as `target`.
                Some(unsafe { <T as $kind>::$op(there as *mut T $(, $arg)*) })
            }

            $(#[$doc])* ///
            /// For any peer.
            ///
            /// # Errors
            /// [`Error::NoSuchPeer`], [`Error::NotInWindow`], [`Error::NotEnabled`],
            /// [`Error::Misaligned`].
            ///
            /// # Safety
            /// `target` is the address of an object in the own symmetric memory.
            pub unsafe fn $far<T: $kind>(&self, target: *mut T $(, $arg: T)*, peer: PeerIndex) -> Result<atomics!(@ret $($ret)?), Error> {
                let what = atomics!(@amo $device($($arg),*));
                atomics!(@far self, what, target.addr(), size_of::<T>(), peer $(, $ret)?)
            })*
        }
    };
    (@ret) => { () };
    (@ret $ret:tt) => { $ret };
    (@far $self:ident, $what:ident, $target:expr, $bytes:expr, $peer:ident) => { $self.device_update($what, $target, $bytes, $peer) };
    (@far $self:ident, $what:ident, $target:expr, $bytes:expr, $peer:ident, $ret:tt) => {
        $self.device_fetch($what, $target, $bytes, $peer).map(value::<$ret>)
    };
    (@amo $device:ident()) => { Amo::$device };
    (@amo $device:ident($($arg:ident),+)) => { Amo::$device($(bits($arg)),+) };
    (@in_line add($self:ident, $target:ident, $record:ident, $peer:ident, $arg:ident)) => {
        // SAFETY: `$target` is the address of an object in the own symmetric memory, aligned for
        // `T`.
        unsafe { $self.add_in_line($target, $arg, $record, $peer) }
    };
    (@in_line $op:ident($($rest:tt)*)) => { None };
}

impl Endpoint {
    /// Adds over the device, if the lane can take the operation without looking. On memory of this node the slow path
    /// does it, which tells fence.
    ///
    /// # Safety
    /// As [`Endpoint::atomic_add_near`].
    #[inline(always)]
    unsafe fn add_in_line<T: Integer>(
        &self,
        target: *mut T,
        operand: T,
        record: &Peer,
        peer: PeerIndex,
    ) -> Option<()> {
        let offset = self.offset(target.addr());
        if size_of::<T>() != 8 || offset >= self.device_len || record.window_len > 0 {
            return None;
        }
        if !is_aligned(target.addr(), size_of::<T>()) {
            return None;
        }
        let there = record.remote.segment(offset, &self.split);
        // SAFETY: the lane is alive while the endpoint is enabled, and used by one thread at a time or declines; `peer` has a record.
        let posted = unsafe { self.route.add(bits(operand), there, anew(peer)) };
        posted.then(|| self.set_busy())
    }
}

atomics! {
    /// Reads the object (FI_ATOMIC_READ).
    atomic_fetch_near, atomic_fetch_far: Word::fetch() -> T, Fetch;
    /// Writes `value` (FI_ATOMIC_WRITE).
    atomic_set_near, atomic_set_far: Word::set(value), Swap;
    /// Writes `value` and returns what was there (FI_ATOMIC_WRITE, fetching).
    atomic_swap_near, atomic_swap_far: Word::swap(value) -> T, Swap;
    /// Adds `value` (FI_SUM).
    atomic_add_near, atomic_add_far: Integer::add(value), Add;
    /// Adds `value` and returns what was there (FI_SUM, fetching).
    atomic_fetch_add_near, atomic_fetch_add_far: Integer::fetch_add(value) -> T, Add;
    /// Bitwise and (FI_BAND).
    atomic_and_near, atomic_and_far: Integer::and(value), And;
    /// Bitwise or (FI_BOR).
    atomic_or_near, atomic_or_far: Integer::or(value), Or;
    /// Bitwise exclusive or (FI_BXOR).
    atomic_xor_near, atomic_xor_far: Integer::xor(value), Xor;
    /// Bitwise and; returns what was there (FI_BAND, fetching).
    atomic_fetch_and_near, atomic_fetch_and_far: Integer::fetch_and(value) -> T, And;
    /// Bitwise or; returns what was there (FI_BOR, fetching).
    atomic_fetch_or_near, atomic_fetch_or_far: Integer::fetch_or(value) -> T, Or;
    /// Bitwise exclusive or; returns what was there (FI_BXOR, fetching).
    atomic_fetch_xor_near, atomic_fetch_xor_far: Integer::fetch_xor(value) -> T, Xor;
    /// Writes `value` where `cond` stands; returns what was there (FI_CSWAP).
    atomic_compare_swap_near, atomic_compare_swap_far: Integer::compare_swap(cond, value) -> T, CompareSwap;
}

macro_rules! starts {
    ($($name:ident, $far:literal: $kind:ident($($arg:ident),*), $device:ident;)*) => {
        impl Endpoint {
            $(#[doc = concat!("As [`Endpoint::", $far, "`], without waiting: `found` has the old value after quiet.")]
            ///
            /// # Errors
            /// [`Error::NoSuchPeer`], [`Error::NotInWindow`], [`Error::NotEnabled`].
            ///
            /// # Safety
            /// `target` is the address of an object in the own symmetric memory, aligned for `T`;
            /// `found` has room for a `T`, and nobody else uses it until quiet.
            pub unsafe fn $name<T: $kind>(&self, target: *mut T $(, $arg: T)*, found: *mut T, peer: PeerIndex) -> Result<(), Error> {
                let what = atomics!(@amo $device($($arg),*));
                // SAFETY: there is room at `found`, and nobody else uses it until quiet (the
                // requirements here, too).
                unsafe { self.device_start_fetch(what, target.addr(), size_of::<T>(), peer, found.cast()) }
            })*
        }
    };
}

starts! {
    atomic_fetch_start, "atomic_fetch_far": Word(), Fetch;
    atomic_swap_start, "atomic_swap_far": Word(value), Swap;
    atomic_fetch_add_start, "atomic_fetch_add_far": Integer(value), Add;
    atomic_fetch_and_start, "atomic_fetch_and_far": Integer(value), And;
    atomic_fetch_or_start, "atomic_fetch_or_far": Integer(value), Or;
    atomic_fetch_xor_start, "atomic_fetch_xor_far": Integer(value), Xor;
    atomic_compare_swap_start, "atomic_compare_swap_far": Integer(cond, value), CompareSwap;
}
