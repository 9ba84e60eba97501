//! Names of peers.

/// The number of a peer in its address vector (FI_AV_TABLE).
pub type PeerIndex = u32;
