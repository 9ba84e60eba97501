//! mlx5 devices and their data path, by way of rdma-core. The bytes between a driver and a device are in
//! `fi-mlx5-defs`.
//!
//! * [`device`]: devices, registered memory, completion queues, queue pairs, and the contexts and
//!   pages in which lanes are made; [`error`]: errors of their set-up.
//! * [`policy`]: how much lanes share.
//! * [`lane`]: send queues and their completions; [`route`], [`connection`], [`short`], [`direct`]
//!   and [`message`]: posts in one step, [`local`]: the local memory that they name; [`receives`]:
//!   messages that come; [`apart`]: the steps of a post, to be timed.

pub mod apart;
pub mod completion;
pub mod connection;
pub mod device;
pub mod direct;
mod entry;
pub mod error;
pub mod guard;
mod head;
pub mod lane;
pub mod local;
pub mod message;
pub mod policy;
mod post;
pub mod queue;
pub mod receives;
pub mod registers;
pub mod remote;
pub mod route;
pub mod short;
mod unit;
mod verbs;
