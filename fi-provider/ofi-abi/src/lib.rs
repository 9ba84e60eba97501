//! libfabric's C structs and constants, as a provider needs them: the binary interface alone.
//!
//! Nothing of libfabric is needed to build it. Sizes and offsets are asserted when it is compiled,
//! and a test compares them with the headers of the system.
//!
//! Structs that applications and libfabric hand over are as long as in libfabric 1.17, the shortest
//! that the provider meets: later versions have added fields behind. Tables of functions are as
//! long as in the newest version, as libfabric calls their later functions without a look at
//! `size`.
//!
//! The names are libfabric's, and its manual pages describe each.

#![expect(missing_docs, reason = "libfabric's manual pages describe each name")]

mod constants;
mod info;
mod layout;
mod objects;
mod operations;
mod trigger;

pub use constants::*;
pub use info::*;
pub use layout::*;
pub use objects::*;
pub use operations::*;
pub use trigger::*;

/// Returns the number of a version of the interface.
pub const fn fi_version(major: u32, minor: u32) -> u32 {
    major << 16 | minor
}
