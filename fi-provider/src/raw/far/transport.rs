//! Transports to other nodes.

use super::device::QpType;

/// Transport to endpoints of other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// By an mlx5 device and connected queue pairs, three for each endpoint (RC).
    Rc,
    /// By an mlx5 device and initiators that go to all (DC).
    Dc,
    /// By messages of the system's libfabric: of this provider, or of its best one. The peers'
    /// processes do all accesses to memory, as they make progress.
    Libfabric(Option<&'static str>),
}

impl Transport {
    /// Returns the type of the queue pairs of the device, if it is one.
    pub(crate) fn qp_type(self) -> Option<QpType> {
        match self {
            Self::Rc => Some(QpType::Rc),
            Self::Dc => Some(QpType::Dc),
            Self::Libfabric(_) => None,
        }
    }
}
