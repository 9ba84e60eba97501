//! The RDM endpoint: one lane to all peers (fi_endpoint(3)).

#![expect(
    unsafe_code,
    reason = "an endpoint reads the peer table through a raw pointer, so that it can live in a static and cost no indirection"
)]

use crate::address_vector::{Peer, PeerIndex};
use crate::domain::Domain;
use crate::error::Error;

/// A lane to all peers of a domain, for one thread at a time.
///
/// Plain data, so that a layer above can keep its default endpoint in a static: what is constant during
/// a job is read without any synchronisation. It starts closed; [`Endpoint::enable`] binds it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    peers: *const Peer,
    window_base: usize,
    peer_count: u32,
    /// Not zero where fence and quiet have more to do than order this processor's stores.
    pub(crate) busy: u32,
}

impl Endpoint {
    /// An endpoint without peers; fence and quiet on it report that it is not enabled.
    pub const fn closed() -> Self {
        Self {
            peers: std::ptr::null(),
            window_base: 0,
            peer_count: 0,
            busy: 1,
        }
    }

    /// An endpoint without peers whose fence and quiet have nothing to do: for handles that stand for
    /// no context.
    pub const fn void() -> Self {
        Self {
            busy: 0,
            ..Self::closed()
        }
    }

    /// Binds the endpoint to the peers and the memory of `domain`.
    ///
    /// # Safety
    /// The domain must outlive every use of the endpoint until [`Endpoint::close`].
    pub unsafe fn enable(&mut self, domain: &Domain) {
        let records = domain.peers().records();
        *self = Self {
            peers: records.as_ptr(),
            window_base: domain.window().base(),
            peer_count: records.len() as u32,
            busy: 0,
        };
    }

    /// Unbinds the endpoint; operations on it are refused from then on.
    pub fn close(&mut self) {
        *self = Self::closed();
    }

    /// The number of peers, 0 when closed.
    #[inline(always)]
    pub fn peer_count(&self) -> u32 {
        self.peer_count
    }

    /// Where an element of up to [`crate::memory::ELEMENT_SLACK`] bytes at the own symmetric address
    /// `addr` lies on `peer`, as an address of this process; `None` when it takes another route or is
    /// not symmetric.
    #[inline(always)]
    pub fn element(&self, addr: usize, peer: PeerIndex) -> Option<usize> {
        let record = self.record(peer)?;
        if addr.wrapping_sub(self.window_base) < record.window_len {
            Some(addr.wrapping_add(record.delta))
        } else {
            None
        }
    }

    /// As [`Endpoint::element`] for `count` elements of `size` bytes each; their product may overflow.
    #[inline(always)]
    pub fn range(&self, addr: usize, count: usize, size: usize, peer: PeerIndex) -> Option<usize> {
        let record = self.record(peer)?;
        let offset = addr.wrapping_sub(self.window_base);
        if offset < record.window_len && count <= (record.window_len - offset) / size {
            Some(addr.wrapping_add(record.delta))
        } else {
            None
        }
    }

    #[inline(always)]
    fn record(&self, peer: PeerIndex) -> Option<&Peer> {
        if peer < self.peer_count {
            // SAFETY: `peers` points to `peer_count` records that live while the endpoint is enabled.
            Some(unsafe { &*in_register(self.peers.add(peer as usize)) })
        } else {
            None
        }
    }

    /// Why `bytes` bytes at `addr` on `peer` are not reached; `bytes` saturates.
    #[cold]
    pub fn refusal(&self, addr: usize, bytes: usize, peer: PeerIndex) -> Error {
        if self.peer_count == 0 {
            return Error::NotEnabled;
        }
        let Some(record) = self.record(peer) else {
            return Error::NoSuchPeer;
        };
        if bytes > isize::MAX as usize {
            Error::TooLong
        } else if addr.wrapping_sub(self.window_base) < record.window_len {
            Error::PastWindow
        } else {
            Error::NotInWindow
        }
    }
}

/// The same pointer, computed once: without this the compiler computes the record's address anew for
/// each of its fields, one instruction more on every path.
#[inline(always)]
fn in_register<T>(pointer: *const T) -> *const T {
    #[cfg(target_arch = "x86_64")]
    {
        let mut pointer = pointer;
        // SAFETY: no instruction at all; "readonly" is said of what it could do with a pointer.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) pointer, options(pure, readonly, nostack, preserves_flags));
        }
        pointer
    }
    #[cfg(not(target_arch = "x86_64"))]
    pointer
}
