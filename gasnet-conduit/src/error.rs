//! Errors of the engine.

use fi_provider::raw::error as raw;

/// Why a call was refused, or failed. [`Error::code`] has the numbers of farreach_am.h.
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
    /// The launcher has failed.
    #[error("{0}")]
    Launcher(Box<fi_bootstrap::Error>),
    /// The program's function to exchange bytes has failed.
    #[error("the program's function to exchange bytes has failed: it returned {0}")]
    Exchange(i32),
    /// Other processes tell things that make no sense: another version of the library, say.
    #[error("rank {rank} runs another version of this library")]
    Version {
        /// The peer's rank.
        rank: u32,
    },
    /// Other nodes are to be reached, and there is no device, or none is to be used.
    #[error("the job has several nodes, which need an mlx5 device: {0}")]
    NoDevice(&'static str),
    /// A variable of the environment makes no sense.
    #[error("{0}")]
    Variable(Box<str>),
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
        match error {
            fi_job::Error::Rank => Self::Argument("the rank is not below the number of ranks"),
            fi_job::Error::Launcher(error) => Self::Launcher(error),
            fi_job::Error::Exchange(code) => Self::Exchange(code),
            fi_job::Error::Version { rank } => Self::Version { rank },
            fi_job::Error::NoDevice(why) => Self::NoDevice(why),
            fi_job::Error::Variable(text) => Self::Variable(text),
            _ => Self::NotNow("the job cannot be joined"),
        }
    }
}

impl Error {
    /// The error of a variable of the environment whose value is not one of these.
    pub fn variable(variable: &str, value: &str, choices: &str) -> Self {
        let text = format!("{variable} is \"{value}\", which is not one of {choices}");
        Self::Variable(text.into_boxed_str())
    }

    /// The number that farreach_am.h has for the error: negative.
    pub fn code(&self) -> i32 {
        match self {
            Self::Argument(_) | Self::Variable(_) => -1,
            Self::OutOfRange { .. } => -2,
            Self::NoRoom(_) => -3,
            Self::Peer { .. } | Self::Operation(_) => -4,
            Self::NotNow(_) => -5,
            Self::Launcher(_) | Self::Exchange(_) | Self::Version { .. } => -6,
            Self::NoDevice(_) => -7,
            Self::Unsupported => -8,
            Self::WouldWait => -9,
        }
    }

    /// The error of an operation with a peer.
    pub(crate) fn of_peer(rank: u32, source: raw::Error) -> Self {
        match source {
            raw::Error::OutOfRange => Self::OutOfRange { rank },
            raw::Error::NoRoom => Self::NoRoom(source),
            raw::Error::NotAllowed => Self::Unsupported,
            raw::Error::Misaligned => Self::Argument("the element is not aligned to its size"),
            _ => Self::Peer { rank, source },
        }
    }

    /// The error of a call that concerns this process alone.
    pub(crate) fn of_domain(source: raw::Error) -> Self {
        match source {
            raw::Error::NoDevice => Self::NoDevice("there is none (farreach info tells why)"),
            _ => Self::NoRoom(source),
        }
    }
}
