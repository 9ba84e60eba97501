//! The device's process: programs connect to it, it answers their ioctls and does their work.
//!
//! It is single-threaded. Between requests it looks at the queues by itself: again at once while there is work, and else after a
//! sleep that grows, so that an idle device costs next to nothing.

mod ask;
mod directory;
mod host;
mod memory;
mod server;
mod shared;
mod sys;
mod sysfs;
mod transactions;
mod view;

pub(crate) use ask::account;
pub(crate) use directory::Directory;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use server::bench;
pub(crate) use server::{Manners, Server, Signals};
pub(crate) use transactions::Transactions;
