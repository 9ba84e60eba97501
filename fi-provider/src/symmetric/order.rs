//! Order and delivery of operations (fi_cntr(3) with FI_DELIVERY_COMPLETE).
//!
//! An endpoint counts only operations that are not delivered when their call returns. On node there
//! are none: stores of this processor become visible in their order, and [`Endpoint::quiet`] waits
//! until the last one is. Over a device it waits for the completions, which tell that the peer's
//! device has the data; since any word to the peer comes through the same device, it comes behind
//! them.

#![expect(
    unsafe_code,
    reason = "a caller says when its endpoint may be used, which safe code cannot check"
)]

use crate::symmetric::Error;
use crate::symmetric::caller::Caller;
use crate::symmetric::endpoint::Endpoint;
use fi_shm::order;

/// Orders earlier writes and atomics to each peer before later ones to the same peer (FI_FENCE).
///
/// # Safety
/// As [`Caller::endpoint`].
#[inline(always)]
pub unsafe fn fence<C: Caller>(caller: &C, routine: C::Routine) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint.
    unsafe {
        if caller.endpoint().fence_near() {
            return C::done(());
        }
        fence_far(caller, routine)
    }
}

/// # Safety
/// As [`fence`].
#[cold]
#[inline(never)]
unsafe fn fence_far<C: Caller>(caller: &C, routine: C::Routine) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint.
    match unsafe { caller.endpoint().fence_far() } {
        Ok(()) => C::done(()),
        Err(error) => caller.failed(routine, error),
    }
}

/// Returns when every earlier operation is delivered: visible in its target's memory, to everybody.
///
/// # Safety
/// As [`Caller::endpoint`].
#[inline(always)]
pub unsafe fn quiet<C: Caller>(caller: &C, routine: C::Routine) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint.
    unsafe {
        if caller.endpoint().quiet_near() {
            return C::done(());
        }
        quiet_one(caller, routine)
    }
}

/// Waits for nothing where one operation is outstanding and the device has done it.
///
/// # Safety
/// As [`quiet`].
#[cold]
#[inline(never)]
unsafe fn quiet_one<C: Caller>(caller: &C, routine: C::Routine) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint.
    unsafe {
        match caller.endpoint().quiet_one_far() {
            Some(true) => C::done(()),
            Some(false) => quiet_all(caller, routine),
            None => quiet_look(caller, routine),
        }
    }
}

/// Waits for nothing where one look at the completion queue is enough.
///
/// # Safety
/// As [`quiet`].
#[cold]
#[inline(never)]
unsafe fn quiet_look<C: Caller>(caller: &C, routine: C::Routine) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint.
    unsafe {
        match caller.endpoint().quiet_look_far(routine) {
            Ok(()) => C::done(()),
            Err(routine) => quiet_all(caller, routine),
        }
    }
}

/// Does the rare case, in the tail position: the common one, of one operation that is done, needs
/// no frame.
///
/// # Safety
/// As [`quiet`].
#[cold]
#[inline(never)]
unsafe fn quiet_all<C: Caller>(caller: &C, routine: C::Routine) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint.
    match unsafe { caller.endpoint().quiet_all_far() } {
        Ok(()) => C::done(()),
        Err(error) => caller.failed(routine, error),
    }
}

impl Endpoint {
    /// Does [`fence`] on behalf of the endpoint itself.
    ///
    /// # Errors
    /// [`Error::NotEnabled`], and those of the device.
    #[inline(always)]
    pub fn fence(&self) -> Result<(), Error> {
        // SAFETY: this thread may use the endpoint: it is not `Sync`, so that other threads have a
        // reference only by unsafe code that promises as much.
        unsafe { fence(self, ()) }
    }

    /// Does [`Endpoint::fence`], where this processor's stores are all that is to be ordered;
    /// returns false otherwise.
    #[inline(always)]
    fn fence_near(&self) -> bool {
        if self.is_busy() {
            return false;
        }
        order::stores();
        true
    }

    /// Orders earlier writes to each peer before later atomic operations on the same peer, which is less than [`Endpoint::fence`].
    ///
    /// This processor's stores are ordered here. Writes and atomics over the device have one queue
    /// for a peer, which does them in their order without more (IBTA volume 1, 10.8.3.3); the
    /// device's operations on memory of this node come behind the stores, because a doorbell is
    /// rung behind them.
    #[inline(always)]
    pub fn order_writes_before_atomics(&self) {
        order::stores();
    }

    /// Does [`quiet`] on behalf of the endpoint itself.
    ///
    /// # Errors
    /// [`Error::NotEnabled`], and those of the device.
    #[inline(always)]
    pub fn quiet(&self) -> Result<(), Error> {
        // SAFETY: this thread may use the endpoint: it is not `Sync`, so that other threads have a
        // reference only by unsafe code that promises as much.
        unsafe { quiet(self, ()) }
    }

    /// Returns whether every earlier operation is delivered, as [`Endpoint::quiet`] sees to, after
    /// one look at the device. On a lane that several endpoints share, operations of the others
    /// count, too.
    ///
    /// # Errors
    /// [`Error::NotEnabled`], and those of the device.
    pub fn try_quiet(&self) -> Result<bool, Error> {
        if self.quiet_near() {
            return Ok(true);
        }
        self.try_quiet_far()
    }

    /// Does [`Endpoint::quiet`], where nothing is outstanding but this processor's stores; returns
    /// false otherwise.
    #[inline(always)]
    fn quiet_near(&self) -> bool {
        if self.is_busy() {
            return false;
        }
        order::full();
        true
    }
}
