//! The fabric: an OFI-shaped API over the transports.
//!
//! The shapes are those of libfabric's RDM endpoints (fi_endpoint(3), fi_av(3), fi_rma(3),
//! fi_atomic(3)), cut to what PGAS programs need and typed:
//!
//! * a [`domain::Domain`] holds the memory that peers may reach and the address vector;
//! * an [`endpoint::Endpoint`] is a lane: one per communication context, without locks but where threads share it; beside the
//!   default one each has a [`device::Gate`] of its own where a device is used;
//! * an [`address_vector::Peer`] is the record of one peer, one cache line, its route fixed at insertion;
//! * a [`memory::Window`] is the symmetric memory of one process: one range of addresses that holds
//!   its static data and its heap, at the same distances in every process;
//! * [`rma`] and [`atomic`] are the operations, [`counter`] says when they are delivered.
//!
//! A remote address is given as the caller's own address of the symmetric object: the endpoint turns
//! it into the peer's by the window's offset, as libfabric does for memory regions registered without
//! FI_MR_VIRT_ADDR.
//!
//! Peers of the node are reached by loads, stores and CPU atomics, in line, at the place of the call;
//! an operation is then delivered when the call returns, but for the store buffer. Everything else
//! leaves the line at one branch, which is the test of the address range as well.

pub mod address_vector;
mod amo;
pub mod atomic;
mod blocks;
pub mod counter;
pub mod device;
mod direct;
pub mod domain;
pub mod endpoint;
pub mod error;
pub mod helper;
pub mod memory;
pub mod registration;
mod remote;
pub mod rma;
pub mod short;
pub mod software;
pub use fi_mlx5::guard;
pub mod strided;
mod transfer;

pub use error::Error;

/// The node's own shared memory, for layers above that keep flags and tables of their own there.
pub mod node {
    pub use fi_shm::{
        arrival, barrier, copy, flag, futex, handover, order, processors, segment, turns, wait,
    };
}
