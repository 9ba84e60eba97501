//! Counts of instructions under callgrind, by the layers of a call.
//!
//! [`callgrind`] runs one PE of a job under valgrind's callgrind, [`profile`] reads the profiles,
//! [`source`] finds the lines and functions of an address, [`layer`] the layer of these. [`costs`]
//! puts them together, and [`calls`] does all of it for the routines that a user's program calls.
//! [`table`] stores counts and compares them.

#![forbid(unsafe_code)]

pub mod callgrind;
pub mod calls;
pub mod costs;
pub mod layer;
pub mod profile;
pub mod source;
pub mod table;
