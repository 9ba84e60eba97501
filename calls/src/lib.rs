//! Remote calls whose large arguments travel by RMA from where they are to where they are used.
//!
//! Processes of a job call functions of each other by name. Arguments and results are values of any
//! types that can be saved ([`Save`], [`Load`]). Few bytes go in a message, together with those of other
//! calls; of many bytes the message has the places, and the receiver reads them, without a copy between.
//! An [`RmaVec`] lies in memory that is registered for good.
//!
//! The crate implements Biddiscombe et al., "Zero Copy Serialization using RMA in the HPX Distributed
//! Task-Based Runtime" (2017), on the fabric's messages, regions and completions: on a node, and over
//! mlx5 devices.
//!
//! ```
//! use calls::{Calls, RmaVec, action};
//!
//! #[action]
//! fn scale(factor: f64, mut values: RmaVec<f64>) -> RmaVec<f64> {
//!     values.get_mut().expect("the only handle").iter_mut().for_each(|value| *value *= factor);
//!     values
//! }
//!
//! let calls = Calls::alone()?;
//! let values = calls.rma_vec(&vec![1.0; 1_000_000])?;
//! let scaled = calls.to(0)?.run(scale, (2.0, values)).wait()?;
//! assert!(scaled.iter().all(|value| *value == 2.0));
//! # Ok::<(), calls::Error>(())
//! ```
//!
//! # Progress
//!
//! No thread works behind the program's back: messages are sent and taken, and actions run, in
//! [`Calls::poll`] and in all that waits. Calls gather in messages meanwhile; those that wait for others
//! leave with the next poll, or with later calls: see [`Config::together`] and [`Config::delay`].
//!
//! # Deadlocks
//!
//! A call returns at once, and its arguments wait with the caller where the receiver has no room. Only
//! where [`Config::waiting`] bytes do so, a call that is made outside of an action runs actions until
//! there are fewer: a thread that holds a lock which actions want should not make so many. Actions may
//! call and wait, up to [`Config::nested`] of them, each in another one.

mod action;
pub mod archive;
mod call;
mod calls;
mod config;
mod core;
mod error;
mod inner;
mod meeting;
mod packet;
mod pool;
mod reply;
mod rma;
mod scope;
mod settle;
mod sync;
mod wire;

pub use action::{Action, Here};
#[cfg(feature = "serde")]
pub use archive::Serde;
pub use archive::{Load, LoadError, Loader, Save, SaveAs, Saver, SharedSlice};
pub use call::{Call, Sent};
pub use calls::{Arguments, Calls, Peer};
pub use calls_derive::{Load, Save, action};
pub use config::{Config, Work};
pub use error::Error;
pub use fi_job::Meeting;
pub use meeting::Together;
pub use rma::{RmaBox, RmaVec};
pub use scope::Scope;

/// Parts that the macros name.
#[doc(hidden)]
pub mod __private {
    pub use crate::action::{Entry, Registered};
    pub use crate::reply::Reply;
    pub use bytemuck;
    pub use inventory;
}
