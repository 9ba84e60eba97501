//! Reasons why nothing is measured.

/// Reason why nothing is measured.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The device cannot be used.
    #[error(transparent)]
    Device(#[from] fi_mlx5::error::Error),
    /// An operation failed.
    #[error(transparent)]
    Operation(#[from] fi_mlx5::lane::Failure),
    /// The fabric cannot be used, or an operation of it failed.
    #[error("the fabric: {0}")]
    Fabric(#[from] fi_provider::raw::error::Error),
    /// The device takes no copies into its registers.
    #[error(
        "the device takes no copies into its doorbell registers (BlueFlame), and posts without \
         them are none of the model's"
    )]
    NoBlueFlame,
    /// Something did not happen within its time.
    #[error("{0} did not come within {1} s")]
    Late(&'static str, u64),
    /// The clock does not advance.
    #[error("the processor's timer does not advance")]
    NoClock,
}
