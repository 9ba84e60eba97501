//! Peers: where each is and how it is reached (fi_av(3)).

use fi_mlx5::remote::Remote;

/// The record of one peer: one cache line, all that an operation reads of it.
///
/// Route and range are one test: the window of a peer on this node has a length, that of any other has
/// none, so that an address outside of it and a peer elsewhere leave the line at the same branch. Atomics
/// have a length of their own, because in a job of several nodes those on peers of this node take the device too.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Bytes of the peer's window that this process reaches by loads and stores; 0 for none.
    pub(crate) window_len: usize,
    /// As `window_len`, for the processor's atomics.
    pub(crate) atomic_len: usize,
    /// What to add (modulo 2^64) to an own symmetric address to get the peer's, as mapped here.
    pub(crate) delta: usize,
    /// How a device reaches the peer.
    pub(crate) remote: Remote,
}

const _: () = assert!(size_of::<Peer>() == 64);

/// The number of a peer in its address vector: the rank, densely from 0 (FI_AV_TABLE).
pub type PeerIndex = u32;

/// The peers of a job, in the order of their ranks.
#[derive(Debug, Default)]
pub struct AddressVector {
    peers: Vec<Peer>,
}

impl AddressVector {
    /// A vector of `count` peers that nothing reaches.
    pub(crate) fn of_unreachable(count: u32) -> Self {
        let nowhere = Peer {
            window_len: 0,
            atomic_len: 0,
            delta: 0,
            remote: Remote::nowhere(),
        };
        Self {
            peers: vec![nowhere; count as usize],
        }
    }

    /// Makes `peer` one of this node whose window of `len` bytes is mapped `delta` bytes (modulo 2^64)
    /// above the own one.
    pub(crate) fn set_on_node(&mut self, peer: PeerIndex, len: usize, delta: usize) {
        let record = &mut self.peers[peer as usize];
        record.window_len = len;
        record.atomic_len = len;
        record.delta = delta;
    }

    /// Tells how a device reaches `peer`, by which its atomics go from now on.
    pub(crate) fn set_remote(&mut self, peer: PeerIndex, remote: Remote) {
        let record = &mut self.peers[peer as usize];
        record.atomic_len = 0;
        record.remote = remote;
    }

    /// The peers `members` of this vector, numbered anew in this order; `None` where one of them is no peer.
    pub fn select(&self, members: &[PeerIndex]) -> Option<Self> {
        let record = |&peer: &PeerIndex| self.peers.get(peer as usize).copied();
        let peers = members.iter().map(record).collect::<Option<_>>()?;
        Some(Self { peers })
    }

    /// The number of peers.
    pub fn len(&self) -> usize {
        self.peers.len()
    }

    /// Whether there is no peer.
    pub fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// The records, for endpoints.
    pub(crate) fn records(&self) -> &[Peer] {
        &self.peers
    }
}
