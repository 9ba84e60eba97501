//! How peers are named.

/// The number of a peer in its address vector (FI_AV_TABLE).
pub type PeerIndex = u32;
