//! OpenSHMEM 1.6 in Rust, over the fabric of [`fi_provider`].
//!
//! Rust programs use [`World`], [`Shared`] and [`Ctx`], without `unsafe`: see [`safe`].
//!
//! The modules [`rma`], [`strided`], [`amo`], [`order`], [`signal`], [`sync`], [`lock`],
//! [`collective`], [`team`], [`ctx`], [`memory`], [`query`] and [`world`] hold the routines as C
//! programs call them: unsafe, with addresses, in line. The C symbols are one-line bodies over them
//! (crate `shmem-cabi`). `at` is always the name of the C routine, for messages.
//!
//! # Rules of threads
//! Callers of the unsafe routines, whatever else these ask for, see to it that
//!
//! * initialisation and finalisation, also that by the end of the program, overlap with no other
//!   call of the process;
//! * threads call as the level says that initialisation has returned: one thread alone, one at a
//!   time, or (`SHMEM_THREAD_MULTIPLE`) any at any time;
//! * a context that was created with `SHMEM_CTX_SERIALIZED` or `SHMEM_CTX_PRIVATE` is used by one
//!   thread at a time, and none after it was destroyed.
//!
//! Safe code cannot break them, as it cannot call the routines:
//!
//! ```compile_fail,E0133
//! shmem::world::init(&"shmem_init");
//! ```
//! ```compile_fail,E0133
//! shmem::collective::barrier_all(&"shmem_barrier_all");
//! ```
//!
//! ```no_run
//! // SAFETY: the rules of threads: there is only this one.
//! unsafe {
//!     shmem::world::init(&"shmem_init");
//!     shmem::collective::barrier_all(&"shmem_barrier_all");
//! }
//! ```

#[cfg(target_env = "musl")]
compile_error!("shmem needs glibc, as musl has no on_exit(3): take a target that ends in -gnu");

pub mod amo;
#[cfg(feature = "check")]
pub mod check;
pub mod collective;
pub mod ctx;
pub mod direct;
pub mod fork;
pub mod heap;
pub mod lock;
pub mod memory;
pub mod order;
pub mod query;
pub mod rma;
pub mod safe;
pub mod signal;
pub mod strided;
pub mod sync;
pub mod team;
pub mod world;

mod arena;
mod barrier;
mod job;
mod mailbox;
#[cfg(test)]
mod model;
mod owner;
mod plain;
mod report;
mod routine;
mod stall;

pub use job::error::Error;
pub use routine::Routine;
pub use safe::{
    Against, Array, Awaited, Blocks, Ctx, Dealt, Distributed, Element, Frozen, Held, Layout, Lock,
    Op, Owned, Phase, Pod, Readable, Scope, Session, Shared, SharedStatic, Signal, Static, Team,
    Token, Word, World,
};
pub use sync::Cmp;

/// The vendor string (SHMEM_VENDOR_STRING).
pub const VENDOR: &str = concat!("Farreach ", env!("CARGO_PKG_VERSION"));

/// The version of the standard, in words.
pub const STANDARD: &str = "OpenSHMEM 1.6";
