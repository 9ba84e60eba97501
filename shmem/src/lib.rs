//! OpenSHMEM 1.6 in Rust, over the fabric of [`fi_provider`].
//!
//! Rust programs use [`World`], [`Symmetric`] and [`Ctx`], without `unsafe`: see [`safe`].
//!
//! The modules [`rma`], [`strided`], [`amo`], [`order`], [`signal`], [`sync`], [`lock`], [`collective`], [`memory`] and [`world`]
//! hold the routines as C programs call them: unsafe, with addresses, in line. The C symbols are one-line
//! bodies over them (crate `shmem-cabi`). `at` is always the name of the C routine, for messages.

pub mod amo;
#[cfg(feature = "check")]
pub mod check;
pub mod collective;
pub mod ctx;
pub mod fork;
pub mod heap;
pub mod lock;
pub mod memory;
pub mod order;
pub mod rma;
pub mod safe;
pub mod signal;
pub mod strided;
pub mod sync;
pub mod team;
pub mod world;

mod arena;
mod env;
mod error;
mod exit;
mod fault;
mod handlers;
mod job;
mod mailbox;
#[cfg(test)]
mod model;
mod node;
mod places;
mod plain;
mod report;
mod session;
mod stall;
mod standstill;
mod statics;
mod window;
mod workspace;

pub use error::Error;
pub use report::Routine;
pub use safe::{Ctx, Element, Pod, Symmetric, World};
pub use sync::Cmp;

/// The vendor string (SHMEM_VENDOR_STRING).
pub const VENDOR: &str = concat!("Farreach ", env!("CARGO_PKG_VERSION"));

/// The version of the standard, in words.
pub const STANDARD: &str = "OpenSHMEM 1.6";
