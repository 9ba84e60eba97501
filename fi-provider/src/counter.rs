//! When operations are ordered and delivered (fi_cntr(3) with FI_DELIVERY_COMPLETE).
//!
//! An endpoint counts only what is not delivered when its call returns. On node nothing is: stores of
//! this processor become visible in their order, and [`Endpoint::quiet`] waits until the last one is. Over a device it
//! waits for the completions, which tell that the peer's device has the data; since whatever tells the peer comes
//! through the same device, it comes behind them.

use crate::endpoint::Endpoint;
use crate::error::Error;
use fi_shm::order;

impl Endpoint {
    /// Orders earlier writes and atomics to each peer before later ones to the same peer (FI_FENCE).
    ///
    /// # Errors
    /// [`Error::NotEnabled`].
    #[inline(always)]
    pub fn fence(&self) -> Result<(), Error> {
        if self.is_busy() {
            return self.fence_busy();
        }
        order::stores();
        Ok(())
    }

    /// Returns when every earlier operation is delivered: visible in its target's memory, to everybody.
    ///
    /// # Errors
    /// [`Error::NotEnabled`].
    #[inline(always)]
    pub fn quiet(&self) -> Result<(), Error> {
        if self.is_busy() {
            return self.quiet_busy();
        }
        order::full();
        Ok(())
    }

    /// The processor's stores come before what the device does next, because a doorbell is rung behind them; the
    /// other way round, atomics that the device does on memory of this node have to be done.
    #[cold]
    #[inline(never)]
    fn fence_busy(&self) -> Result<(), Error> {
        let device = self.device().ok_or(Error::NotEnabled)?;
        if device.has_near_atomics() {
            return self.quiet_busy();
        }
        let _held = device.lane().hold();
        device.lane().fence();
        order::stores();
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn quiet_busy(&self) -> Result<(), Error> {
        let device = self.device().ok_or(Error::NotEnabled)?;
        device.quiet(&self.route, || self.set_busy(false))?;
        order::full();
        Ok(())
    }
}
