//! The far part of operations: on peers whose memory is not mapped here, and atomics that are not
//! the processor's.
//!
//! An endpoint has the transport that it goes through as a [`Far`]. `choice` alone matches it, in
//! functions that lie out of line: they are called where neither mapped memory nor a post in line
//! has done the work. One more transport is one more variant and an arm in each function. Posts in
//! line are those of an mlx5 lane (`fi_mlx5::route`); they decline on an endpoint without one.

mod choice;
pub(crate) mod libfabric;
pub(crate) mod mlx5;

use crate::symmetric::Error;
use fi_mlx5::lane::Failure as OfMlx5;
use fi_ofi::Failure as OfLibfabric;
use libfabric::way::Libfabric;
use mlx5::Mlx5;
use std::fmt::{self, Display};

/// The transport of an endpoint.
///
/// The variant is a byte of its own, so that to look at it keeps no pointer in a register.
#[derive(Debug)]
#[repr(u8)]
pub(crate) enum Far {
    /// None: the endpoint is closed, or all peers are on this node.
    None,
    /// A lane of an mlx5 device.
    Mlx5(Mlx5),
    /// An endpoint of libfabric.
    Libfabric(Libfabric),
}

/// Reason why a transport refuses operations, in its own words.
#[derive(Clone, Copy, Debug)]
pub enum Cause {
    /// Of a lane of an mlx5 device.
    Mlx5(OfMlx5),
    /// Of an endpoint of libfabric.
    Libfabric(OfLibfabric),
}

impl Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mlx5(failure) => failure.fmt(f),
            Self::Libfabric(failure) => failure.fmt(f),
        }
    }
}

impl From<Cause> for Error {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Mlx5(failure) => failure.into(),
            Cause::Libfabric(failure) => failure.into(),
        }
    }
}

/// Time for which the source of a write stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// It may be changed when the call returns.
    Reusable,
    /// It stays until quiet.
    KeptUntilQuiet,
}

/// Returns the outcome of a transfer of `bytes` bytes that is refused for `error`: no bytes are no
/// error, at any address.
fn refused(error: Error, bytes: usize) -> Result<(), Error> {
    match error {
        Error::NotInWindow | Error::PastWindow if bytes == 0 => Ok(()),
        error => Err(error),
    }
}
