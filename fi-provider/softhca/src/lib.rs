//! A software ConnectX at the kernel's uverbs boundary, for machines without the hardware.
//!
//! Unmodified libibverbs and libmlx5 run above it. [`engine`] is the device: queues, keys, transports, in plain Rust and without
//! input or output. `uverbs` answers the kernel's commands and calls the engine; `daemon` is the process that programs speak to;
//! [`command`] starts both. The shim that is preloaded into programs is a package of its own, and shares the module `wire`.

pub mod command;
mod daemon;
pub mod engine;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;
mod identity;
mod latencies;
mod uverbs;
#[cfg_attr(
    not(any(test, feature = "fuzzing")),
    expect(dead_code, reason = "the shim uses the other half")
)]
mod wire;
