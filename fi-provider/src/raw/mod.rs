//! The fabric's own objects, for programs of any kind: libfabric's, cut to reliable datagrams and
//! typed.
//!
//! * a [`domain::Domain`] holds the memory that peers may reach: regions of the arena, which peers
//!   of the node map, and of any other memory; each has a key ([`region`]);
//! * an [`endpoint::Endpoint`] has an [`address::Address`], by which processes that no launcher has
//!   started find each other, and names its peers by their numbers in an
//!   [`address_vector::AddressVector`];
//! * it sends and receives messages, reads and writes regions of peers and does atomic operations on
//!   them;
//! * operations report to a [`completion::CompletionQueue`], a [`completion::Counter`], both or
//!   nobody, by the type of their report.
//!
//! Nothing is lost, and no call waits for room: one that finds none is refused with
//! [`error::Error::Again`]. A long copy that the peer's process has taken a share of waits for that.

pub mod address;
pub mod address_vector;
mod arena;
mod atomic;
pub mod completion;
pub mod domain;
pub mod endpoint;
pub mod error;
pub mod far;
mod fifo;
mod inbox;
mod libfabric;
mod matcher;
mod near;
#[cfg(test)]
mod nonsense;
mod peer;
pub mod progress;
mod protocol;
mod record;
pub mod region;
mod rights;
mod service;
mod shared_table;
mod splits;
mod tagged;
pub mod waker;
mod wire;

/// The lock of turns that are mostly short, for programs that share an endpoint among threads.
pub use fi_shm::lock;
