//! Errors of the fabric's objects and operations.

use std::io::{self, ErrorKind};

/// Reason why the fabric refused a call, or why an operation failed.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A ring, a queue or a table of operations is full: nothing was done, and the call may be
    /// repeated after [`Endpoint::progress`](super::endpoint::Endpoint::progress) (FI_EAGAIN).
    #[error("no room now: make progress and call again")]
    Again,
    /// The number is of no peer in the address vector.
    #[error("no such peer in the address vector")]
    NoSuchPeer,
    /// The peer's process has ended, or has closed its domain or endpoint.
    #[error("the peer is gone")]
    PeerGone,
    /// The peer is not of this node, and the domain has no device; or its process is stopped.
    #[error(
        "the peer cannot be reached: it does not answer, or is on another node without a device"
    )]
    Unreachable,
    /// There is no device, or it has not all that the domain needs:
    /// [`crate::device::probe`] tells why.
    #[error("there is no device, or it has not all that a domain needs")]
    NoDevice,
    /// libfabric is not there, or has no provider that will do:
    /// [`crate::libfabric::candidates()`] tells why.
    #[error("libfabric is not there, or has no provider that will do")]
    NoLibfabric,
    /// The address is of another version, or no address.
    #[error("the address makes no sense")]
    BadAddress,
    /// More bytes than one such operation takes.
    #[error("more bytes than one such operation takes")]
    TooLong,
    /// The message was longer than the buffer posted for it; at most the bytes that fit were stored.
    #[error("the message is longer than its buffer")]
    Truncated,
    /// The peer has no region of this key, or has closed it.
    #[error("the peer has no region of this key")]
    NoSuchKey,
    /// The key is another region's.
    #[error("the key is another region's")]
    KeyTaken,
    /// The region does not allow this kind of access.
    #[error("the region does not allow this access")]
    NotAllowed,
    /// The bytes do not lie in the region.
    #[error("the range does not lie in the region")]
    OutOfRange,
    /// The target of an atomic operation is not aligned to its size.
    #[error("the target of the atomic operation is not aligned to its size")]
    Misaligned,
    /// The arena, the table of regions or that of endpoints is full; or the peer's, for a ring.
    #[error("no room in the domain's arena or tables, or in the peer's")]
    NoRoom,
    /// The peer has written nonsense into memory that it shares with this process.
    #[error("the peer breaks the protocol")]
    Broken,
    /// The system refused something: the number is of errno(3).
    #[error("{}", io::Error::from_raw_os_error(*.0))]
    System(i32),
}

impl Error {
    /// Returns the code of libfabric for the same cause (fi_errno(3)), a positive number.
    pub fn code(self) -> i32 {
        match self {
            Self::Again => libc::EAGAIN,
            Self::NoSuchPeer | Self::BadAddress => libc::EINVAL,
            Self::PeerGone => libc::ECONNRESET,
            Self::Unreachable => libc::EHOSTUNREACH,
            Self::NoDevice | Self::NoLibfabric => libc::ENODEV,
            Self::TooLong => libc::EMSGSIZE,
            // FI_ETRUNC and FI_ENOKEY.
            Self::Truncated => 265,
            Self::NoSuchKey | Self::KeyTaken => 266,
            Self::NotAllowed => libc::EACCES,
            Self::OutOfRange => libc::EFAULT,
            Self::Misaligned => libc::EINVAL,
            Self::NoRoom => libc::ENOMEM,
            Self::Broken => libc::EPROTO,
            Self::System(errno) => errno,
        }
    }

    /// Returns the code in one byte, for a message to a peer.
    pub(crate) fn to_wire(self) -> u8 {
        match self {
            Self::NoSuchKey => 1,
            Self::NotAllowed => 2,
            Self::OutOfRange => 3,
            Self::Misaligned => 4,
            Self::Truncated => 5,
            Self::NoRoom => 7,
            _ => 6,
        }
    }

    /// Returns the end of an operation as a peer has told it: 0 is success.
    pub(crate) fn of_wire(code: u8) -> Result<(), Self> {
        Err(match code {
            0 => return Ok(()),
            1 => Self::NoSuchKey,
            2 => Self::NotAllowed,
            3 => Self::OutOfRange,
            4 => Self::Misaligned,
            5 => Self::Truncated,
            7 => Self::NoRoom,
            _ => Self::PeerGone,
        })
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // A thread that answers peers does nothing else: it has stopped.
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Self::Unreachable,
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Self::PeerGone,
            _ => error.raw_os_error().map_or(Self::PeerGone, Self::System),
        }
    }
}
