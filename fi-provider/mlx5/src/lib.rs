//! mlx5 devices. Their descriptors, as both sides of the bus see them, what a driver writes and a device reads, and the
//! other way round:
//!
//! * [`endian`]: big-endian numbers, which is what all descriptors are made of.
//! * [`opcode`]: the operations of work-queue entries and completion entries, error syndromes.
//! * [`wqe`]: the segments of work-queue entries.
//! * [`build`] and [`decode`]: whole entries, made of and taken apart into segments.
//! * [`cqe`]: completion entries.
//! * [`doorbell`]: doorbell records, doorbell pages and their registers.
//! * [`atomic`]: what extended (masked) atomics compute.
//!
//! And a device with what is made on it, by way of rdma-core:
//!
//! * [`device`]: devices, registered memory, completion queues, queue pairs, and what lanes are made in; [`error`]: why not.
//! * [`policy`]: what lanes share.
//!
//! Layouts are those of NVIDIA's "Ethernet Adapters Programming Manual" (chapters "Work Queue Structure and
//! Access", "Completion Queues", "User Access Region"), whose structures rdma-core publishes as `mlx5dv.h`.
//! Names of that header are given where they differ.

pub mod atomic;
pub mod build;
pub mod completion;
pub mod cqe;
pub mod decode;
pub mod device;
pub mod direct;
pub mod doorbell;
pub mod endian;
mod entry;
pub mod error;
pub mod guard;
pub mod lane;
pub mod opcode;
pub mod policy;
pub mod post;
pub mod queue;
pub mod registers;
pub mod remote;
pub mod short;
mod unit;
mod verbs;
pub mod wqe;
