//! The fabric: an OFI-shaped API over the transports.
//!
//! [`raw`] has its objects, for programs of any kind. [`symmetric`] is the view of programs with
//! symmetric memory. Under it lie the [`device`] and the [`registration`] of memory with it,
//! providers of the system's [`libfabric`], and the memory of the [`node`]. [`variables`] has what
//! users choose.

pub mod device;
pub mod libfabric;
pub mod raw;
pub mod registration;
pub mod software;
pub mod symmetric;
pub mod variables;

pub use fi_shm::helper;

/// The node's own shared memory, for layers above that keep flags and tables of their own there.
pub mod node {
    pub use fi_shm::{
        arrival, barrier, copy, flag, futex, handover, order, processors, segment, turns, wait,
    };
}
