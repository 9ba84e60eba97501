//! Errors of operations.

/// Reason why the fabric refused an operation; nothing was transferred then.
///
/// The code of each is stable: the negated value of libfabric's errno for the same cause
/// (fi_errno(3)).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(i32)]
pub enum Error {
    /// The endpoint is not enabled: no address vector is bound to it.
    #[error("the endpoint is not enabled")]
    NotEnabled = 258,
    /// The peer was never inserted into the address vector.
    #[error("no such peer")]
    NoSuchPeer = 22,
    /// The bytes do not lie in the registered memory.
    #[error("the address is not in symmetric memory")]
    NotInWindow = 14,
    /// The range starts in the registered memory and ends outside of it.
    #[error("the range runs over the end of symmetric memory")]
    PastWindow = 34,
    /// The number of bytes is over `isize::MAX`.
    #[error("the length is over PTRDIFF_MAX bytes")]
    TooLong = 90,
    /// The device has no such atomic operation.
    #[error("the device has no atomic operation of this size (masked atomics)")]
    Unsupported = 95,
    /// The object of an atomic operation is not aligned to its size.
    #[error("the object is not aligned to its size, as atomic operations of the device need it")]
    Misaligned = 99,
    /// The peer's device does not answer, or the peer is gone.
    #[error("the peer does not answer")]
    PeerUnreachable = 113,
    /// A completion told of an error, or the device is gone.
    #[error("the device reports an error")]
    Device = 5,
}

impl Error {
    /// Returns the stable code, positive.
    pub fn code(self) -> i32 {
        self as i32
    }
}
