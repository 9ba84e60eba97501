//! Atomic operations on peers' memory (fi_atomic(3)).
//!
//! All processes of a node form one atomicity domain: the CPU's. Addresses are the caller's own
//! addresses of the symmetric objects, aligned for their type. Near and far parts are as in
//! [`crate::rma`].

#![expect(
    unsafe_code,
    reason = "on-node atomics work on raw pointers into the peers' mapped memory"
)]

use crate::address_vector::PeerIndex;
use crate::endpoint::Endpoint;
use crate::error::Error;
pub use fi_shm::amo::{Integer, Word};

macro_rules! atomics {
    ($($(#[$doc:meta])* $near:ident, $far:ident: $kind:ident::$op:ident($($arg:ident),*) $(-> $ret:tt)?;)*) => {
        impl Endpoint {
            $($(#[$doc])* ///
            /// If `peer` is near; `None` otherwise.
            ///
            /// # Safety
            /// `target` is the address of an object in the own symmetric memory, aligned for `T`.
            #[inline(always)]
            pub unsafe fn $near<T: $kind>(&self, target: *mut T $(, $arg: T)*, peer: PeerIndex) -> Option<atomics!(@ret $($ret)?)> {
                let there = self.element(target.addr(), peer)?;
                // SAFETY: the peer's window is mapped at `there`, and as aligned as `target`.
                Some(unsafe { <T as $kind>::$op(there as *mut T $(, $arg)*) })
            }

            $(#[$doc])* ///
            /// For any peer.
            ///
            /// # Errors
            /// [`Error::NoSuchPeer`], [`Error::NotInWindow`], [`Error::NotEnabled`].
            ///
            /// # Safety
            /// `target` is the address of an object in the own symmetric memory, aligned for `T`.
            pub unsafe fn $far<T: $kind>(&self, target: *mut T $(, $arg: T)*, peer: PeerIndex) -> Result<atomics!(@ret $($ret)?), Error> {
                $(let _ = $arg;)*
                Err(self.refusal(target.addr(), size_of::<T>(), peer))
            })*
        }
    };
    (@ret) => { () };
    (@ret $ret:tt) => { $ret };
}

atomics! {
    /// Reads the object (FI_ATOMIC_READ).
    atomic_fetch_near, atomic_fetch_far: Word::fetch() -> T;
    /// Writes `value` (FI_ATOMIC_WRITE).
    atomic_set_near, atomic_set_far: Word::set(value);
    /// Writes `value` and returns what was there (FI_ATOMIC_WRITE, fetching).
    atomic_swap_near, atomic_swap_far: Word::swap(value) -> T;
    /// Adds `value` (FI_SUM).
    atomic_add_near, atomic_add_far: Integer::add(value);
    /// Adds `value` and returns what was there (FI_SUM, fetching).
    atomic_fetch_add_near, atomic_fetch_add_far: Integer::fetch_add(value) -> T;
    /// Bitwise and (FI_BAND).
    atomic_and_near, atomic_and_far: Integer::and(value);
    /// Bitwise or (FI_BOR).
    atomic_or_near, atomic_or_far: Integer::or(value);
    /// Bitwise exclusive or (FI_BXOR).
    atomic_xor_near, atomic_xor_far: Integer::xor(value);
    /// Bitwise and; returns what was there (FI_BAND, fetching).
    atomic_fetch_and_near, atomic_fetch_and_far: Integer::fetch_and(value) -> T;
    /// Bitwise or; returns what was there (FI_BOR, fetching).
    atomic_fetch_or_near, atomic_fetch_or_far: Integer::fetch_or(value) -> T;
    /// Bitwise exclusive or; returns what was there (FI_BXOR, fetching).
    atomic_fetch_xor_near, atomic_fetch_xor_far: Integer::fetch_xor(value) -> T;
    /// Writes `value` where `cond` stands; returns what was there (FI_CSWAP).
    atomic_compare_swap_near, atomic_compare_swap_far: Integer::compare_swap(cond, value) -> T;
}
