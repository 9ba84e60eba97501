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
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
mod inner;
mod meeting;
mod packet;
mod pool;
mod reply;
mod rma;
mod run;
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
pub use config::{Config, Work};
pub use error::Error;
pub use fi_job::Meeting;
pub use meeting::Together;
pub use rma::{RmaBox, RmaVec};
pub use scope::Scope;

/// Makes values that can be loaded, field by field: as `Save` saves them, or with `#[save(pod)]` from
/// their bytes.
///
/// ```
/// use calls::Load;
/// use calls::archive::Archive;
///
/// #[derive(Load)]
/// struct Point<T> {
///     x: T,
///     y: T,
/// }
///
/// // A pair is saved as the fields are, in their order.
/// let point: Point<f32> = Archive::of(&(1.0_f32, 2.0_f32), 4096).load()?;
/// assert_eq!((point.x, point.y), (1.0, 2.0));
/// # Ok::<(), calls::LoadError>(())
/// ```
#[doc(inline)]
pub use calls_derive::Load;

/// Makes values that can be saved, field by field. With `#[save(pod)]` a structure that is
/// [`Pod`](bytemuck::Pod) is saved as its bytes, and slices of it at once.
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use calls::archive::Archive;
/// use calls::{Load, Save};
///
/// /// Plain bytes: a vector of such bodies is one chunk.
/// #[derive(Save, Load, Clone, Copy, Pod, Zeroable, PartialEq, Debug)]
/// #[save(pod)]
/// #[repr(C)]
/// struct Body {
///     at: [f64; 3],
///     mass: f64,
/// }
///
/// #[derive(Save, Load, PartialEq, Debug)]
/// enum Change {
///     Nothing,
///     Moved { bodies: Vec<Body> },
///     Lost(u64),
/// }
///
/// let bodies = vec![Body { at: [0.5; 3], mass: 1.0 }; 200];
/// let change = Change::Moved { bodies };
/// let archive = Archive::of(&change, 4096);
/// assert_eq!(archive.chunks().collect::<Vec<_>>(), [6400]);
/// assert_eq!(archive.load::<Change>()?, change);
/// # Ok::<(), calls::LoadError>(())
/// ```
#[doc(inline)]
pub use calls_derive::Save;

/// Makes a function an action, which other processes call by its name: `calls.to(1)?.run(name, args)`.
///
/// Its arguments, of types with `Load`, are given as a tuple. A first one of type `&Here` is not among
/// them: it tells of the circumstances. The function itself is called by `name::here(&here, args)`, with
/// the trait [`Action`].
///
/// ```
/// use calls::{Action, Calls, Here, action};
///
/// mod bank {
///     # use calls::action;
///     /// Its name ends in `bank::deposit`.
///     #[action]
///     pub(crate) fn deposit(amount: u64) -> Result<u64, String> {
///         amount.checked_add(100).ok_or_else(|| "too much".to_owned())
///     }
/// }
///
/// #[action]
/// fn ask(here: &Here, amount: u64) -> Result<u64, String> {
///     // As a function, without a call.
///     bank::deposit::here(here, (amount,))
/// }
///
/// let calls = Calls::alone()?;
/// assert_eq!(calls.to(0)?.run(bank::deposit, (1,)).wait()?, Ok(101));
/// assert!(calls.to(0)?.run(ask, (u64::MAX,)).wait()?.is_err());
/// # Ok::<(), calls::Error>(())
/// ```
#[doc(inline)]
pub use calls_derive::action;

/// Parts that the macros name.
#[doc(hidden)]
pub mod __private {
    pub use crate::action::{Entry, Registered};
    pub use crate::archive::fixed;
    pub use crate::reply::Reply;
    pub use bytemuck;
    pub use inventory;
}
