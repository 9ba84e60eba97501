//! Disturbances that the device withstands: processes that are killed, stopped or replaced at any
//! moment, names that are too long, a crowd of files.
//!
//! The C programs need Debian's packages `libibverbs-dev` and `ibverbs-providers`.

mod ends;
mod soak;
#[path = "../support/mod.rs"]
mod support;
mod under;
