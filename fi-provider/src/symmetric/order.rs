//! When operations are ordered and delivered (fi_cntr(3) with FI_DELIVERY_COMPLETE).
//!
//! An endpoint counts only what is not delivered when its call returns. On node nothing is: stores of
//! this processor become visible in their order, and [`Endpoint::quiet`] waits until the last one is. Over a device it
//! waits for the completions, which tell that the peer's device has the data; since whatever tells the peer comes
//! through the same device, it comes behind them.

use crate::symmetric::Error;
use crate::symmetric::endpoint::Endpoint;
use fi_shm::order;

impl Endpoint {
    /// Orders earlier writes and atomics to each peer before later ones to the same peer (FI_FENCE).
    ///
    /// # Errors
    /// [`Error::NotEnabled`].
    #[inline(always)]
    pub fn fence(&self) -> Result<(), Error> {
        if self.fence_near() {
            Ok(())
        } else {
            self.fence_far()
        }
    }

    /// [`Endpoint::fence`], where this processor's stores are all that is to be ordered; false otherwise.
    #[inline(always)]
    pub fn fence_near(&self) -> bool {
        if self.is_busy() {
            return false;
        }
        order::stores();
        true
    }

    /// Orders earlier writes to each peer before later atomic operations on the same peer, which is less than [`Endpoint::fence`].
    ///
    /// This processor's stores are ordered here. Writes and atomics over the device have one queue for a peer, which does them in their
    /// order without more (IBTA volume 1, 10.8.3.3); what the device does on memory of this node comes behind the stores, because a
    /// doorbell is rung behind them.
    #[inline(always)]
    pub fn order_writes_before_atomics(&self) {
        order::stores();
    }

    /// Returns when every earlier operation is delivered: visible in its target's memory, to everybody.
    ///
    /// # Errors
    /// [`Error::NotEnabled`].
    #[inline(always)]
    pub fn quiet(&self) -> Result<(), Error> {
        if self.quiet_near() {
            Ok(())
        } else {
            self.quiet_far()
        }
    }

    /// [`Endpoint::quiet`], where nothing is outstanding but this processor's stores; false otherwise.
    #[inline(always)]
    pub fn quiet_near(&self) -> bool {
        if self.is_busy() {
            return false;
        }
        order::full();
        true
    }

    /// [`Endpoint::fence`] where operations are outstanding on the lane.
    ///
    /// The processor's stores come before what the device does next, because a doorbell is rung behind them; the
    /// other way round, atomics that the device does on memory of this node have to be done.
    ///
    /// # Errors
    /// [`Error::NotEnabled`], and those of the device.
    #[cold]
    pub fn fence_far(&self) -> Result<(), Error> {
        let gate = self.gate().ok_or(Error::NotEnabled)?;
        let held = gate.lane().hold();
        if gate.has_near_atomics() {
            drop(held);
            return self.quiet_far();
        }
        gate.lane().fence();
        order::stores();
        Ok(())
    }

    /// [`Endpoint::quiet`] where operations are outstanding on the lane.
    ///
    /// # Errors
    /// [`Error::NotEnabled`], and those of the device.
    #[inline(always)]
    pub fn quiet_far(&self) -> Result<(), Error> {
        if self.quiet_one_far() {
            Ok(())
        } else {
            self.quiet_all()
        }
    }

    /// [`Endpoint::quiet_far`], where one operation is outstanding and the device has done it;
    /// false otherwise.
    #[inline(always)]
    pub fn quiet_one_far(&self) -> bool {
        let Some(gate) = self.gate() else {
            return false;
        };
        if !gate.lane().quiet_one() {
            return false;
        }
        gate.forget_near_atomics();
        self.note_idle(gate);
        order::full();
        true
    }

    /// [`Endpoint::quiet_far`], whatever is outstanding.
    ///
    /// # Errors
    /// As [`Endpoint::quiet_far`].
    #[inline(never)]
    pub fn quiet_all(&self) -> Result<(), Error> {
        let gate = self.gate().ok_or(Error::NotEnabled)?;
        gate.lane().await_one()?;
        if !self.quiet_one_far() {
            gate.quiet(|| self.note_idle(gate))?;
            order::full();
        }
        Ok(())
    }
}
