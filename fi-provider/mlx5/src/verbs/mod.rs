//! The C interface of rdma-core, as far as the set-up of queues needs it: written by hand, so that neither headers nor
//! libraries are there when this is built.
//!
//! * [`core`]: the structures of libibverbs (`infiniband/verbs.h`).
//! * [`datagrams`]: those of its own data path, which datagrams alone use.
//! * [`direct`]: those of libmlx5 (`infiniband/mlx5dv.h`).
//! * [`library`]: both libraries, opened at run time, and the functions that they export.
//! * [`inline`]: functions that the header defines in line, by way of the context's table.
//!
//! Structures have the C names without prefix and in Rust's spelling. rdma-core keeps them
//! compatible by letting them grow at their ends alone (a context's table at its start): a
//! structure that the library allocates may end here behind its last used field.

#![expect(unsafe_code, reason = "calls C functions through pointers to them")]

pub(crate) mod core;
pub(crate) mod datagrams;
pub(crate) mod direct;
pub(crate) mod inline;
pub(crate) mod library;

#[cfg(test)]
mod tests;

pub(crate) use library::Library;
