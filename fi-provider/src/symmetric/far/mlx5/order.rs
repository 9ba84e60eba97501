//! Fence, quiet and progress of a lane.

use super::Mlx5;
use crate::symmetric::Error;
use crate::symmetric::endpoint::Endpoint;
use fi_shm::order;

impl Mlx5 {
    /// Does [`Endpoint::fence`] where operations are outstanding on the lane.
    ///
    /// The processor's stores come before the next operations of the device, because a doorbell is
    /// rung behind them; the other way round, atomics that the device does on memory of this node
    /// have to be done.
    ///
    /// # Errors
    /// Those of the device.
    #[inline(always)]
    pub(crate) fn fence(&self, endpoint: &Endpoint) -> Result<(), Error> {
        let held = self.lane().hold();
        if self.gate().has_near_atomics() {
            drop(held);
            return if self.quiet_one(endpoint) {
                Ok(())
            } else {
                endpoint.quiet_all_far()
            };
        }
        self.lane().fence();
        order::stores();
        Ok(())
    }

    /// Does [`Endpoint::quiet`], where one operation is outstanding and the device has done it;
    /// returns false otherwise.
    #[inline(always)]
    pub(crate) fn quiet_one(&self, endpoint: &Endpoint) -> bool {
        if !self.lane().quiet_one() {
            return false;
        }
        self.gate().forget_near_atomics();
        self.note_idle(endpoint);
        order::full();
        true
    }

    /// Does [`Endpoint::quiet`], with any operations outstanding.
    ///
    /// # Errors
    /// Those of the device.
    #[inline(always)]
    pub(crate) fn quiet_all(&self, endpoint: &Endpoint) -> Result<(), Error> {
        self.lane().await_one()?;
        if !self.quiet_one(endpoint) {
            self.gate().quiet(|| self.note_idle(endpoint))?;
            order::full();
        }
        Ok(())
    }

    /// Does [`Endpoint::try_quiet`] where operations may be outstanding.
    ///
    /// # Errors
    /// Those of the device.
    #[inline(never)]
    pub(crate) fn try_quiet(&self, endpoint: &Endpoint) -> Result<bool, Error> {
        let is_quiet = self.gate().is_quiet()?;
        if is_quiet {
            self.quiet_all(endpoint)?;
        }
        Ok(is_quiet)
    }

    /// Does [`Endpoint::progress`].
    pub(crate) fn progress(&self) -> Result<(), Error> {
        Ok(self.lane().progress()?)
    }

    /// Notes that nothing is outstanding on the lane; one that threads share is never known to be
    /// idle.
    #[inline(always)]
    fn note_idle(&self, endpoint: &Endpoint) {
        if !self.gate().is_shared() {
            endpoint.set_idle();
        }
    }
}
