//! The on-node transport: the means by which processes of one machine reach each other's memory
//! with plain loads, stores and CPU atomics.
//!
//! * [`segment`]: anonymous shared memory (memfd), address-space reservations and fixed mappings.
//! * [`handover`] and [`claim`]: giving such memory to other processes, and seeing which of them
//!   have ended.
//! * [`named`]: memory that processes of one user open by its name.
//! * [`foreign`]: the kernel's copy between memories of processes; [`split`]: two processes that do
//!   so at the same time.
//! * [`random`]: names and keys that nobody guesses.
//! * [`copy`]: copies that never tear an aligned element of 1, 2, 4 or 8 bytes.
//! * [`amo`]: atomic operations on raw addresses.
//! * [`order`]: the fences that `fence` and `quiet` need.
//! * [`futex`]: sleeping on a word of shared memory.
//! * [`flag`] and [`barrier`]: the library's own flags (futex) and the node barrier built of them.
//! * [`turns`] and [`arrival`]: the turns of shared slots, and the order of arrivals.
//! * [`ring`] and [`bell`]: messages from one process to another, and word of them.
//! * [`processors`]: whether processes share processors.
//! * [`helper`]: threads of the library's own.
//! * [`lock`]: a lock of one bit between threads, for short turns; one that its holder hands on.
//! * [`wait`]: spin, yield, sleep: for memory that peers change by plain stores.
//!
//! Nothing here knows of peers' names, of OpenSHMEM or of launchers.

#![expect(
    unsafe_code,
    reason = "this crate is the memory shared with other processes: mappings, raw copies, atomics at raw addresses"
)]

// Is compiled before all crates that would fail with other words.
#[cfg(target_env = "musl")]
compile_error!("Farreach needs glibc (docs/requirements.md): take a target that ends in -gnu");

pub mod amo;
pub mod arrival;
pub mod barrier;
pub mod bell;
pub mod claim;
pub mod copy;
pub mod flag;
pub mod foreign;
pub mod futex;
pub mod handover;
pub mod helper;
pub mod lock;
mod memcheck;
pub mod named;
pub mod order;
pub mod processors;
pub mod random;
pub mod ring;
pub mod segment;
pub mod split;
pub mod turns;
pub mod wait;

/// The atomics that the model-checked parts use: std's, or loom's under `--cfg loom`.
mod sync {
    #[cfg(loom)]
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    #[cfg(not(loom))]
    pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
}
