//! The far part over a lane of an mlx5 device.
//!
//! Operations of one WQE from and into registered memory are in `one_entry`; `transfer` and
//! `atomic` go on where that declines, and say why an operation is refused; `blocks` has many
//! blocks at a time, `order` fence and quiet, and `reach` finds the memory of peers.

#![expect(
    unsafe_code,
    reason = "an endpoint keeps its gate by a pointer, so that it can live in a static"
)]

mod atomic;
mod blocks;
mod one_entry;
mod order;
mod reach;
mod transfer;

use crate::device::Gate;
use crate::symmetric::Error;
use fi_mlx5::lane::{Failure, Lane};
use std::ptr::NonNull;

/// The gate of an endpoint on an mlx5 device.
#[derive(Debug)]
pub(crate) struct Mlx5 {
    gate: NonNull<Gate>,
}

impl Mlx5 {
    /// Goes by `gate`.
    ///
    /// # Safety
    /// The gate outlives every use of the result. Results of one gate are used by one thread at a
    /// time, unless it is for several.
    pub(crate) unsafe fn new(gate: &Gate) -> Self {
        Self { gate: gate.into() }
    }

    /// Returns the gate.
    #[inline(always)]
    fn gate(&self) -> &Gate {
        // SAFETY: the gate outlives every use of `self`, as `new` requires.
        unsafe { self.gate.as_ref() }
    }

    /// Returns the lane.
    #[inline(always)]
    fn lane(&self) -> &Lane {
        self.gate().lane()
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unreachable => Self::PeerUnreachable,
            _ => Self::Device,
        }
    }
}
