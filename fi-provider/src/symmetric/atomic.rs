//! Atomic operations on peers' memory (fi_atomic(3)).
//!
//! Where all processes of a job are on one node, they form one atomicity domain, the processor's.
//! Otherwise it is that of the target's device: every atomic operation goes there, also those on
//! own memory and that of peers of this node. Addresses are the caller's own addresses of the
//! symmetric objects. Near and far parts are as in [`crate::symmetric::element`].

#![expect(
    unsafe_code,
    reason = "on-node atomics work on raw pointers into the peers' mapped memory"
)]

use crate::device::amo::Amo;
use crate::symmetric::address_vector::{Peer, PeerIndex};
use crate::symmetric::amo::{bits, is_aligned, value};
use crate::symmetric::caller::{Access, Caller, Refused};
use crate::symmetric::endpoint::{Endpoint, anew, is_within};
pub use fi_shm::amo::{Integer, Word, expect_write};

/// The object of an operation on a peer.
#[derive(Clone, Copy)]
enum Object<'a> {
    /// It is mapped here, at this address, and the processor's atomics are for it.
    Mapped(usize),
    /// The peer of this record is elsewhere, or the object is outside of the window.
    Beyond(&'a Peer),
    /// There is no such peer.
    Nowhere,
}

/// The near part of an operation on the object at `$target`; none where the far part has to do it.
macro_rules! near {
    ($endpoint:ident, $peer:ident, $kind:ident::$op:ident($target:ident $(, $given:expr)*)) => {
        match $endpoint.object(C::IS_CHECKED, $target.addr(), $peer) {
            Object::Mapped(there) => Some(<T as $kind>::$op(there as *mut T $(, $given)*)),
            Object::Beyond(record) => {
                near!(@beyond $op($endpoint, record, $peer, $target $(, $given)*))
            }
            Object::Nowhere => None,
        }
    };
    (@beyond add($endpoint:ident, $record:ident, $peer:ident, $target:ident, $given:expr)) => {
        $endpoint.add_in_line($target, $given, $record, $peer)
    };
    (@beyond $op:ident($endpoint:ident, $record:ident $($rest:tt)*)) => {{
        let _ = $record;
        None
    }};
}

/// An operation as the device has it.
macro_rules! amo {
    ($device:ident()) => { Amo::$device };
    ($device:ident($($given:expr),+)) => { Amo::$device($(bits($given)),+) };
}

/// Operations that are done, or begun where they return nothing, when the call returns.
macro_rules! atomics {
    ($(
        $(#[$doc:meta])*
        $name:ident($($arg:ident),*): $kind:ident::$op:ident($($given:expr),*) $(-> $ret:tt)?,
        $device:ident, $access:ident;
    )*) => {$(
        $(#[$doc])* ///
        /// # Safety
        /// As [`Caller::endpoint`]. `target` is the address of an object in the own symmetric
        /// memory, aligned for `T`.
        #[inline(always)]
        pub unsafe fn $name<C: Caller, T: $kind>(
            caller: &C,
            routine: C::Routine,
            target: *mut T,
            $($arg: T,)*
            peer: PeerIndex,
        ) -> C::Outcome<atomics!(@ret $($ret)?)> {
            /// # Safety
            /// As the near part.
            #[cold]
            #[inline(never)]
            unsafe fn far<C: Caller, T: $kind>(
                target: *mut T,
                $($arg: T,)*
                peer: PeerIndex,
                caller: &C,
                routine: C::Routine,
            ) -> C::Outcome<atomics!(@ret $($ret)?)> {
                let what = amo!($device($($given),*));
                let (addr, bytes) = (target.addr(), size_of::<T>());
                // SAFETY: this thread may use the endpoint.
                let endpoint = unsafe { caller.endpoint() };
                match atomics!(@far endpoint, what, addr, bytes, peer $(, $ret)?) {
                    Ok(done) => C::done(done),
                    Err(error) => {
                        let access = Access::$access;
                        caller.refused(routine, Refused { error, access, addr, bytes, peer })
                    }
                }
            }
            // SAFETY: this thread may use the endpoint; `target` is the address of an object in the
            // own symmetric memory, aligned for `T`, and `there` that of a peer's.
            unsafe {
                let endpoint = caller.endpoint();
                match near!(endpoint, peer, $kind::$op(target $(, $given)*)) {
                    Some(done) => C::done(done),
                    None => far(target, $($arg,)* peer, caller, routine),
                }
            }
        }
    )*};
    (@ret) => { () };
    (@ret $ret:tt) => { $ret };
    (@far $endpoint:ident, $what:ident, $addr:ident, $bytes:ident, $peer:ident) => {
        $endpoint.update_far($what, $addr, $bytes, $peer)
    };
    (@far $endpoint:ident, $what:ident, $addr:ident, $bytes:ident, $peer:ident, $ret:tt) => {
        $endpoint.fetch_far($what, $addr, $bytes, $peer).map(value::<$ret>)
    };
}

atomics! {
    /// Reads the object (FI_ATOMIC_READ).
    fetch(): Word::fetch() -> T, Fetch, Read;
    /// Writes `value` (FI_ATOMIC_WRITE).
    set(value): Word::set(value), Swap, Update;
    /// Writes `value` and returns the previous value (FI_ATOMIC_WRITE, fetching).
    swap(value): Word::swap(value) -> T, Swap, Update;
    /// Adds `value` (FI_SUM).
    add(value): Integer::add(value), Add, Update;
    /// Adds one (FI_SUM).
    inc(): Integer::add(T::ONE), Add, Update;
    /// Adds `value` and returns the previous value (FI_SUM, fetching).
    fetch_add(value): Integer::fetch_add(value) -> T, Add, Update;
    /// Adds one and returns the previous value (FI_SUM, fetching).
    fetch_inc(): Integer::fetch_add(T::ONE) -> T, Add, Update;
    /// Bitwise and (FI_BAND).
    and(value): Integer::and(value), And, Update;
    /// Bitwise or (FI_BOR).
    or(value): Integer::or(value), Or, Update;
    /// Bitwise exclusive or (FI_BXOR).
    xor(value): Integer::xor(value), Xor, Update;
    /// Bitwise and; returns the previous value (FI_BAND, fetching).
    fetch_and(value): Integer::fetch_and(value) -> T, And, Update;
    /// Bitwise or; returns the previous value (FI_BOR, fetching).
    fetch_or(value): Integer::fetch_or(value) -> T, Or, Update;
    /// Bitwise exclusive or; returns the previous value (FI_BXOR, fetching).
    fetch_xor(value): Integer::fetch_xor(value) -> T, Xor, Update;
    /// Writes `value` where `cond` stands; returns the previous value (FI_CSWAP).
    compare_swap(cond, value): Integer::compare_swap(cond, value) -> T, CompareSwap, Update;
}

/// Operations that may go on when the call returns.
macro_rules! starts {
    ($(
        $name:ident($($arg:ident),*), $waiting:literal: $kind:ident::$op:ident($($given:expr),*),
        $device:ident, $access:ident;
    )*) => {$(
        #[doc = concat!("Starts what [`", $waiting, "`] does; `found` has the old value after")]
        /// [`quiet`](super::order::quiet).
        ///
        /// # Safety
        /// As [`Caller::endpoint`]. `target` is the address of an object in the own symmetric
        /// memory, aligned for `T`; `found` has room for a `T` and is aligned, and nobody else uses
        /// it until quiet.
        #[inline(always)]
        pub unsafe fn $name<C: Caller, T: $kind>(
            caller: &C,
            routine: C::Routine,
            found: *mut T,
            target: *mut T,
            $($arg: T,)*
            peer: PeerIndex,
        ) -> C::Outcome<()> {
            /// # Safety
            /// As the near part.
            #[cold]
            #[inline(never)]
            unsafe fn far<C: Caller, T: $kind>(
                target: *mut T,
                $($arg: T,)*
                found: *mut T,
                peer: PeerIndex,
                caller: &C,
                routine: C::Routine,
            ) -> C::Outcome<()> {
                let what = amo!($device($($given),*));
                let (addr, bytes) = (target.addr(), size_of::<T>());
                // SAFETY: this thread may use the endpoint; there is room at `found`, and nobody
                // else uses it until quiet.
                let started = unsafe {
                    let endpoint = caller.endpoint();
                    endpoint.start_fetch_far(what, addr, bytes, peer, found.cast())
                };
                match started {
                    Ok(()) => C::done(()),
                    Err(error) => {
                        let access = Access::$access;
                        caller.refused(routine, Refused { error, access, addr, bytes, peer })
                    }
                }
            }
            // SAFETY: this thread may use the endpoint; `target` is the address of an object in the
            // own symmetric memory, aligned for `T`, and `there` that of a peer's; `found` has
            // room, is aligned, and is nobody else's until quiet.
            unsafe {
                let endpoint = caller.endpoint();
                match near!(endpoint, peer, $kind::$op(target $(, $given)*)) {
                    Some(old) => {
                        found.write(old);
                        C::done(())
                    }
                    None => far(target, $($arg,)* found, peer, caller, routine),
                }
            }
        }
    )*};
}

starts! {
    start_fetch(), "fetch": Word::fetch(), Fetch, Read;
    start_swap(value), "swap": Word::swap(value), Swap, Update;
    start_compare_swap(cond, value), "compare_swap": Integer::compare_swap(cond, value),
        CompareSwap, Update;
    start_fetch_inc(), "fetch_inc": Integer::fetch_add(T::ONE), Add, Update;
    start_fetch_add(value), "fetch_add": Integer::fetch_add(value), Add, Update;
    start_fetch_and(value), "fetch_and": Integer::fetch_and(value), And, Update;
    start_fetch_or(value), "fetch_or": Integer::fetch_or(value), Or, Update;
    start_fetch_xor(value), "fetch_xor": Integer::fetch_xor(value), Xor, Update;
}

impl Endpoint {
    /// Returns the object at the own address `addr` on `peer`.
    ///
    /// # Safety
    /// The arguments are looked at, if the caller `is_checked`.
    #[inline(always)]
    unsafe fn object(&self, is_checked: bool, addr: usize, peer: PeerIndex) -> Object<'_> {
        // SAFETY: the endpoint has the peer, if the caller is checked.
        let Some(record) = (unsafe { self.record_for(is_checked, peer) }) else {
            return Object::Nowhere;
        };
        if !is_within(is_checked, || self.offset(addr), record.atomic_len) {
            return Object::Beyond(record);
        }
        Object::Mapped(addr.wrapping_add(record.delta))
    }

    /// Adds over the device, if the lane can take the operation without looking. On memory of this
    /// node the slow path does it, which tells fence.
    ///
    /// # Safety
    /// As [`add`].
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
        // SAFETY: the lane is alive while the endpoint is enabled, and used by one thread at a time
        // or declines; `peer` has a record.
        let posted = unsafe { self.route.add(bits(operand), there, anew(peer)) };
        posted.then(|| self.set_busy())
    }
}
