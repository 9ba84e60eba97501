//! The memory of peers as the device reaches it, their mailboxes, and the peer that failed.

use super::Mlx5;
use crate::symmetric::Error;
use crate::symmetric::address_vector::{Peer, PeerIndex};
use crate::symmetric::endpoint::Endpoint;
use crate::symmetric::far::refused;
use fi_mlx5::lane::{Failure, To};

impl Mlx5 {
    /// Returns the place of `bytes` bytes at the own address `addr` on `peer`; the reason where
    /// there is none.
    pub(super) fn reach<'a>(
        &self,
        endpoint: &'a Endpoint,
        addr: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<To<'a>, Error> {
        let record = endpoint.record(peer);
        let record = record.ok_or_else(|| endpoint.refusal(addr, bytes, peer))?;
        if bytes > isize::MAX as usize {
            return Err(Error::TooLong);
        }
        if !self.gate().is_registered(addr, bytes) {
            let starts_inside = self.gate().is_registered(addr, 0);
            return Err(if starts_inside {
                Error::PastWindow
            } else {
                Error::NotInWindow
            });
        }
        Ok(to(endpoint, addr, record, peer))
    }

    /// Does as [`Mlx5::reach`], for a transfer, which is a matter of the device only where the
    /// peer's memory is not mapped here; returns `None` where there is nothing to transfer.
    pub(super) fn reach_far<'a>(
        &self,
        endpoint: &'a Endpoint,
        addr: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<Option<To<'a>>, Error> {
        let reached = if far_peer(endpoint, peer).is_some() {
            self.reach(endpoint, addr, bytes, peer)
        } else {
            Err(endpoint.refusal(addr, bytes, peer))
        };
        match reached {
            Ok(_) if bytes == 0 => Ok(None),
            Ok(reached) => Ok(Some(reached)),
            Err(error) => refused(error, bytes).map(|()| None),
        }
    }

    /// Writes or reads a word of a mailbox: [`Endpoint::post`] with a value to `write`, and
    /// [`Endpoint::peek`] without.
    pub(crate) fn mail(
        &self,
        endpoint: &Endpoint,
        slot: usize,
        write: Option<u64>,
        peer: PeerIndex,
    ) -> Result<u64, Error> {
        let record = endpoint.record(peer).ok_or(Error::NoSuchPeer)?;
        let word = self.gate().mailbox_word(slot).ok_or(Error::NoSuchPeer)?;
        endpoint.note_busy();
        let to = to(endpoint, word, record, peer);
        Ok(self.gate().mail(to, write)?)
    }

    /// Does [`Endpoint::culprit`].
    pub(crate) fn culprit(
        &self,
        endpoint: &Endpoint,
        peer: Option<PeerIndex>,
    ) -> Option<(PeerIndex, Failure)> {
        let number = |peer| endpoint.number_on_lane(peer);
        let peer = peer.filter(|&peer| peer < endpoint.peer_count());
        let held = self.lane().hold();
        let fault = self.lane().fault(peer.map(number))?;
        drop(held);
        let is_culprit = |&peer: &PeerIndex| {
            let record = endpoint.record(peer);
            record.is_some_and(|record| fault.is_of(number(peer), &record.remote.vector))
        };
        let found = (0..endpoint.peer_count()).find(is_culprit)?;
        Some((found, fault.failure))
    }
}

/// Returns the record of a peer whose memory is not mapped here.
#[inline(always)]
pub(super) fn far_peer(endpoint: &Endpoint, peer: PeerIndex) -> Option<&Peer> {
    endpoint
        .record(peer)
        .filter(|record| record.window_len == 0)
}

/// Returns the place of the own address `addr`, which is in the window, on the peer with this
/// record.
fn to<'a>(endpoint: &Endpoint, addr: usize, record: &'a Peer, peer: PeerIndex) -> To<'a> {
    let offset = endpoint.offset(addr);
    let (address, key) = record.remote.place(offset, endpoint.split);
    To {
        peer: endpoint.number_on_lane(peer),
        vector: &record.remote.vector,
        address,
        key,
    }
}
