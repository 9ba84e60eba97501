//! The bytes that an mlx5 driver and its device exchange, as both sides of the bus see them.
//!
//! * [`endian`]: big-endian numbers, of which all descriptors are made.
//! * [`opcode`]: the operations of work-queue entries and completion entries, error syndromes.
//! * [`wqe`]: the segments of work-queue entries.
//! * [`build`] and [`decode`]: whole entries, made of and taken apart into segments.
//! * [`cqe`]: completion entries.
//! * [`doorbell`]: doorbell records, doorbell pages and their registers.
//! * [`atomic`]: the arithmetic of extended (masked) atomics.
//!
//! Layouts are those of NVIDIA's "Ethernet Adapters Programming Manual" (chapters "Work Queue Structure and
//! Access", "Completion Queues", "User Access Region"), whose structures rdma-core publishes as `mlx5dv.h`.
//! Names of that header are given where they differ.

pub mod atomic;
pub mod build;
pub mod cqe;
pub mod decode;
pub mod doorbell;
pub mod endian;
pub mod opcode;
pub mod wqe;
