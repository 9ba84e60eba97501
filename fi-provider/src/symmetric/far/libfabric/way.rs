//! The way of an endpoint on libfabric: apart from its operations, which know the endpoint.

#![expect(
    unsafe_code,
    reason = "an endpoint keeps its gate by a pointer, which outlives it by contract"
)]

use crate::libfabric::{Gate, Way};
use std::ptr::NonNull;

/// The way of an endpoint on libfabric.
#[derive(Debug)]
pub(crate) struct Libfabric {
    pub(super) way: NonNull<Way>,
}

impl Libfabric {
    /// Goes by `gate`.
    ///
    /// # Safety
    /// The gate stays where it is, and outlives every use of the result.
    pub(crate) unsafe fn new(gate: &Gate) -> Self {
        gate.port().forget_names(gate.lane());
        Self {
            way: gate.way().into(),
        }
    }
}
