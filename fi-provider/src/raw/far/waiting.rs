//! Sleeping until the device tells of something.

use super::Far;
use crate::raw::endpoint::{Endpoint, Outlook};
use crate::raw::error::Error;
use crate::raw::waker::{Set, Waker};
use std::os::fd::{AsFd, BorrowedFd};

impl Far {
    /// Returns the descriptor that is readable when this one is, or the device tells of something.
    pub(crate) fn descriptor(&self, waker: &Waker) -> Result<BorrowedFd<'_>, Error> {
        if let Some(both) = self.both.get() {
            return Ok(both.as_fd());
        }
        let made = Set::new()?;
        made.add(waker)?;
        made.add(&self.hub.channel)?;
        Ok(self.both.get_or_init(|| made).as_fd())
    }

    /// Has the device tell of the next completion of either lane, and of the next record. Returns
    /// false where something is there already.
    fn arm(&self) -> bool {
        // A device that is gone brings nothing; operations tell of it.
        let _ = self.hub.channel.drain();
        let gates = [&self.hub.messages, &self.hub.memory];
        gates.iter().for_each(|gate| gate.arm());
        self.hub.receives.arm(self.receives.consumed());
        self.let_act(false);
        // Completions from before it was armed; later ones are told of.
        !self.receives.is_ready() && gates.iter().all(|gate| !gate.lane().is_ready())
    }
}

impl Endpoint {
    /// Does as [`Far::arm`]. Peers that something is waited for are probed meanwhile: the domain's
    /// thread wakes for that.
    pub(crate) fn arm_far(&self, far: &Far) -> Outlook {
        if far.has_to_mend() || far.traffic.has_left.get() {
            return Outlook::Untold;
        }
        // Posts take completions of others, and note the ends of peers.
        let has_ended = far.traffic.has_ended.take();
        if has_ended {
            self.end_logs(far);
        }
        if has_ended | self.collect_taken(far) | self.sweep_far(far) {
            return Outlook::Busy;
        }
        if let Some(at) = self.probe_in_time(far) {
            far.hub.set_alarm(at, || self.wake_service());
        }
        if far.arm() {
            Outlook::Quiet
        } else {
            Outlook::Busy
        }
    }
}
