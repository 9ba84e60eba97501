//! The tools around libshmem: oshrun starts the PEs of a job and serves PMI-1 to them, oshcc and
//! oshc++ compile programs for it. All three find their installation from their own executable's
//! place, so that it can be moved.

pub mod compiler;
mod installation;
pub mod oshrun;
mod stdout;
