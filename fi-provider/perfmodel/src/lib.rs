//! The injection overhead and the latency of a small message, as sums of the times of components.
//!
//! The model is that of Zambre, Grodowitz, Chandramowlishwaran and Shamis, "Breaking Band: A
//! Breakdown of High-performance Communication" (ICPP 2019), called *the paper* here. A
//! [`System`] has a time for each [`Component`], with its [`Source`]; [`Total`] adds them up,
//! [`figures`] divides the sums, and [`whatif`] changes them. Everything is arithmetic: no clock is
//! read, and no device is opened.

#![forbid(unsafe_code)]

mod component;
pub mod figures;
mod file;
mod ns;
mod paper;
mod source;
mod system;
mod total;
pub mod whatif;

#[cfg(test)]
mod tests;

pub use component::{Component, Family};
pub use file::FileError;
pub use ns::Ns;
pub use source::{Entry, Source};
pub use system::System;
pub use total::{Missing, Polling, Term, Total, polling};
