//! The C symbols of OpenSHMEM 1.6.
//!
//! Every routine is one row of a family table (`setup`, `memory`, `rma`, `amo`, `signal`, `sync`,
//! `order` and the others), every type one row of [`types`]. The macro of `define` turns a family row into the
//! `extern "C"` functions, one for each type, in the plain and the `shmem_ctx_` form, and into a
//! [`registry::Family`], from which [`header`] prints `include/shmem.h` and [`registry::symbols`]
//! the list of exported names. So a prototype cannot differ from the function it declares.
//!
//! To add a routine, add a row. To add a set of types, add a column to the table of types.
#![expect(
    unsafe_code,
    reason = "C callers pass raw pointers, and exported names are unsafe attributes"
)]

#[macro_use]
mod define;
mod checks;

pub mod check;
pub mod constants;
pub mod header;
pub mod registry;
pub mod types;

mod active;
mod amo;
mod collective;
mod ctx;
mod direct;
mod fork;
mod handles;
mod lock;
mod longdouble;
mod memory;
mod order;
mod profiling;
mod reduce;
mod rma;
mod setup;
mod signal;
mod sync;
mod team;
