//! The ways of endpoints to peers that are elsewhere.

use crate::device;
use crate::libfabric;
use std::sync::Arc;

/// The way of one endpoint or several, made by
/// [`Domain::open_gate`](crate::symmetric::domain::Domain::open_gate); a clone is the same one.
#[derive(Clone, Debug)]
pub enum Gate {
    /// A lane of an mlx5 device.
    Mlx5(Arc<device::Gate>),
    /// A lane of an endpoint of libfabric.
    Libfabric(Arc<libfabric::Gate>),
}

impl Gate {
    /// Returns whether it is the default endpoint's.
    pub fn is_default(&self) -> bool {
        match self {
            Self::Mlx5(gate) => gate.is_default(),
            Self::Libfabric(gate) => gate.is_default(),
        }
    }

    /// Returns whether several threads may use it at a time.
    pub fn is_shared(&self) -> bool {
        match self {
            Self::Mlx5(gate) => gate.is_shared(),
            Self::Libfabric(gate) => gate.is_shared(),
        }
    }
}
