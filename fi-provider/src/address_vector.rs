//! Peers: where each is and how it is reached (fi_av(3)).

/// The record of one peer: one cache line, all that an operation reads of it.
///
/// Route and range are one test: the window of a peer on this node has a length, that of any other has
/// none, so that an address outside of it and a peer elsewhere leave the line at the same branch.
/// The rest of the line belongs to the route over a device: queue, address handle, remote base and key
/// per region.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Bytes of the peer's window that this process reaches by loads and stores; 0 for none.
    pub(crate) window_len: usize,
    /// What to add (modulo 2^64) to an own symmetric address to get the peer's, as mapped here.
    pub(crate) delta: usize,
}

const _: () = assert!(size_of::<Peer>() == 64);

/// The number of a peer in its address vector: the rank, densely from 0 (FI_AV_TABLE).
pub type PeerIndex = u32;

/// The peers of a job, inserted in the order of their ranks.
#[derive(Debug, Default)]
pub struct AddressVector {
    peers: Vec<Peer>,
}

impl AddressVector {
    /// An empty vector with room for `count` peers.
    pub fn with_capacity(count: usize) -> Self {
        Self {
            peers: Vec::with_capacity(count),
        }
    }

    /// Appends a peer of this node whose window of `len` bytes is mapped `delta` bytes (modulo 2^64)
    /// above the own one; returns its index.
    pub(crate) fn insert_on_node(&mut self, len: usize, delta: usize) -> PeerIndex {
        self.peers.push(Peer {
            window_len: len,
            delta,
        });
        (self.peers.len() - 1) as PeerIndex
    }

    /// The number of peers.
    pub fn len(&self) -> usize {
        self.peers.len()
    }

    /// Whether no peer was inserted.
    pub fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// The records, for endpoints.
    pub(crate) fn records(&self) -> &[Peer] {
        &self.peers
    }
}
