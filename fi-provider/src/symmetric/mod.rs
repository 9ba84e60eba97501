//! Symmetric memory: the view of the fabric for programs whose processes all have the same memory,
//! at the same distances, and know one another by rank.
//!
//! The shapes are those of libfabric's RDM endpoints (fi_endpoint(3), fi_av(3), fi_rma(3),
//! fi_atomic(3)), cut to the needs of OpenSHMEM and typed:
//!
//! * a [`domain::Domain`] holds the memory that peers may reach and the address vector;
//! * an [`endpoint::Endpoint`] is used by one communication context, without locks but where threads
//!   share it; beside the default one each has a [`Gate`](crate::device::Gate) of its own where a
//!   device is used;
//! * an [`address_vector::Peer`] is the record of one peer, one cache line, its route fixed at
//!   insertion;
//! * a [`window::Window`] is the symmetric memory of one process: one range of addresses that holds
//!   its static data and its heap, at the same distances in every process;
//! * [`element`], [`range`], [`strided`] and [`atomic`] are the operations, [`order`] says when
//!   they are ordered and delivered: functions over the layer above's own context, a
//!   [`caller::Caller`].
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
pub mod blocks;
pub mod caller;
pub mod domain;
pub mod element;
pub mod endpoint;
mod error;
mod far;
pub mod gate;
mod network;
pub mod order;
pub(crate) mod parts;
pub mod range;
pub(crate) mod remote;
pub mod strided;
pub mod window;

pub use error::Error;
