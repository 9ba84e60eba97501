//! When operations are ordered and delivered (fi_cntr(3) with FI_DELIVERY_COMPLETE).
//!
//! An endpoint counts only what is not delivered when its call returns. On node nothing is: stores of
//! this processor become visible in their order, and [`Endpoint::quiet`] waits until the last one is.

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
        if self.busy != 0 {
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
        if self.busy != 0 {
            return self.quiet_busy();
        }
        order::full();
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn fence_busy(&self) -> Result<(), Error> {
        Err(Error::NotEnabled)
    }

    #[cold]
    #[inline(never)]
    fn quiet_busy(&self) -> Result<(), Error> {
        Err(Error::NotEnabled)
    }
}
