//! Reasons for which a device cannot be used. Those of an operation are in [`crate::symmetric::error`].

use crate::symmetric::remote::PARTS;
use fi_mlx5::device as hca;
use fi_mlx5::lane::Failure;

/// Reason why the device cannot be used.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is none, or it refused something.
    #[error(transparent)]
    Hca(#[from] fi_mlx5::error::Error),
    /// The system's libfabric cannot be used.
    #[error(transparent)]
    Libfabric(#[from] fi_ofi::Error),
    /// The device lacks a feature that this fabric needs.
    #[error("{device} has no {what}")]
    Lacks {
        /// The device's name.
        device: String,
        /// The feature that it has not.
        what: &'static str,
    },
    /// A lane of the fabric's own has failed.
    #[error(transparent)]
    Lane(#[from] Failure),
    /// Memory for the device's own use cannot be had.
    #[error("memory for the device: {0}")]
    Memory(#[from] std::io::Error),
    /// The system has no random bytes for a key.
    #[error("a key for the device: {0}")]
    Key(std::io::Error),
    /// The window is in more parts than peers have keys for.
    #[error("the symmetric memory is in {0} parts, and a device takes at most {PARTS}")]
    Scattered(usize),
    /// A peer's address of its device makes no sense.
    #[error("what peer {0} told of its device makes no sense")]
    Garbled(usize),
    /// The domain has no device.
    #[error("the device is not open")]
    NotOpen,
    /// All lanes are one, and there is one.
    #[error("all lanes are one")]
    NoLane,
    /// A peer reaches others in another way than this process.
    #[error("peer {0} has another transport")]
    OtherTransport(usize),
    /// Lanes beside the default one go by dynamic connections, and some peer's device has none.
    #[error("peer {0} has no target of dynamic connections (DC)")]
    NoTarget(usize),
}

impl Error {
    /// Says that this device has no `what`.
    pub(crate) fn lacks(hca: &hca::Device, what: &'static str) -> Self {
        Self::Lacks {
            device: hca.name().to_owned(),
            what,
        }
    }
}
