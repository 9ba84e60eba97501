//! Errors of the engine.

use fi_provider::raw::error as raw;

/// Reason for which a call was refused, or failed. [`Error::code`] has the numbers of
/// farreach_am.h.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument is out of its range.
    #[error("{0}")]
    Argument(&'static str),
    /// The bytes do not lie in the peer's segment.
    #[error("the bytes do not lie in the segment of rank {rank}")]
    OutOfRange {
        /// The peer's rank.
        rank: u32,
    },
    /// There is no memory, no descriptor, or no room in a table.
    #[error("no memory, or no room: {0}")]
    NoRoom(raw::Error),
    /// The process of a peer has ended, or cannot be reached.
    #[error("rank {rank}: {source}")]
    Peer {
        /// The peer's rank.
        rank: u32,
        /// The fabric's error.
        source: raw::Error,
    },
    /// An operation that was under way has failed.
    #[error("an operation on the memory of a peer has failed: {0}")]
    Operation(raw::Error),
    /// The call is not allowed now.
    #[error("{0}")]
    NotNow(&'static str),
    /// The process cannot take part in the job, or a variable of the environment makes no sense.
    #[error(transparent)]
    Job(Box<fi_job::Error>),
    /// There is no room now: the call would wait. Only of those that try.
    #[error("there is no room now: the call would wait")]
    WouldWait,
    /// The operation is not done on elements of this type.
    #[error("the operation is not done on elements of this type")]
    Unsupported,
}

// Results of operations are returned in registers, or nearly.
const _: () = assert!(size_of::<Error>() <= 24);

impl From<fi_job::Error> for Error {
    fn from(error: fi_job::Error) -> Self {
        Self::Job(Box::new(error))
    }
}

impl Error {
    /// Returns the error of a variable of the environment whose value is not one of these.
    pub fn variable(variable: &str, value: &str, choices: &str) -> Self {
        let text = format!("{variable} is \"{value}\", which is not one of {choices}");
        fi_job::Error::Variable(text.into_boxed_str()).into()
    }

    /// Returns the number that farreach_am.h has for the error: negative.
    pub fn code(&self) -> i32 {
        match self {
            Self::Argument(_) => -1,
            Self::OutOfRange { .. } => -2,
            Self::NoRoom(_) => -3,
            Self::Peer { .. } | Self::Operation(_) => -4,
            Self::NotNow(_) => -5,
            Self::Job(error) => match **error {
                fi_job::Error::Rank | fi_job::Error::Variable(_) => -1,
                fi_job::Error::NoNetwork(_) => -7,
                _ => -6,
            },
            Self::Unsupported => -8,
            Self::WouldWait => -9,
        }
    }

    /// Returns the error of an operation with a peer.
    pub(crate) fn of_peer(rank: u32, source: raw::Error) -> Self {
        match source {
            raw::Error::OutOfRange => Self::OutOfRange { rank },
            raw::Error::NoRoom => Self::NoRoom(source),
            raw::Error::NotAllowed => Self::Unsupported,
            raw::Error::Misaligned => Self::Argument("the element is not aligned to its size"),
            _ => Self::Peer { rank, source },
        }
    }

    /// Returns the error of a call that concerns this process alone.
    pub(crate) fn of_domain(source: raw::Error) -> Self {
        match source {
            raw::Error::NoDevice | raw::Error::NoLibfabric => {
                let why = format!("{source} (farreach info tells why)");
                fi_job::Error::NoNetwork(why.into_boxed_str()).into()
            }
            _ => Self::NoRoom(source),
        }
    }
}
