//! Errors.

use crate::archive::LoadError;
use crate::core::Lost;
use fi_provider::raw::error as raw;

/// Why a call, or the opening of calls, has failed.
///
/// ```
/// use calls::{Calls, Error, action};
///
/// #[action]
/// fn root(number: i64) -> i64 {
///     number.isqrt()
/// }
///
/// let calls = Calls::alone()?;
/// match calls.to(0)?.run(root, (-1,)).wait() {
///     Err(Error::Panicked { rank: 0, message }) => assert!(message.contains("root: ")),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), calls::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The process of the rank has ended, or cannot be reached.
    #[error("rank {rank} is gone, or cannot be reached")]
    Gone {
        /// The rank.
        rank: u32,
    },
    /// Nothing can be sent to the rank any more, though it is not known to be gone: there is no memory
    /// or no descriptor for the connection, say. The rank does not learn of it.
    #[error("nothing can be sent to rank {rank}: {error}")]
    Link {
        /// The rank.
        rank: u32,
        /// The fabric's error.
        error: raw::Error,
    },
    /// The action has panicked.
    #[error("an action has panicked on rank {rank}: {message}")]
    Panicked {
        /// The rank that it ran on.
        rank: u32,
        /// The name of the action, and the message of the panic.
        message: String,
    },
    /// The result cannot be loaded.
    #[error("the bytes from rank {rank} cannot be loaded: {error}")]
    Load {
        /// The rank that has sent them.
        rank: u32,
        /// Why.
        error: LoadError,
    },
    /// Arguments or a result were refused: the receiver's pool has no room for them, they are more
    /// bytes than it takes, or they cannot be loaded.
    #[error("rank {rank} refuses a call or its result: {message}")]
    Refused {
        /// The rank.
        rank: u32,
        /// Why.
        message: String,
    },
    /// There is no such rank.
    #[error("there is no rank {rank}: {ranks} take part")]
    NoSuchRank {
        /// The rank.
        rank: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// The pool, or the arena, has no room for so many bytes.
    #[error("the pool has no room for {bytes} bytes")]
    NoRoom {
        /// Bytes that were asked for.
        bytes: usize,
    },
    /// Processes have come to collective calls that differ: all make the same ones, in the same
    /// order. Each of them gets this error, and none has done its call.
    #[error("this process calls {own}, and rank {rank} calls {other}")]
    Differ {
        /// The collective call of this process.
        own: &'static str,
        /// A rank that has come to another one.
        rank: u32,
        /// That.
        other: &'static str,
    },
    /// This process has closed its calls, by this handle or another one.
    #[error("this process has closed its calls")]
    Closed,
    /// Two actions of the program have the same hash, or the same name.
    #[error("the actions {0} and {1} cannot be told apart: rename one")]
    SameName(&'static str, &'static str),
    /// A process has other actions.
    #[error("rank {rank} has other actions than this process: it runs another program")]
    OtherActions {
        /// Its rank.
        rank: u32,
    },
    /// A setting makes no sense.
    #[error("{0}")]
    Setting(String),
    /// The processes cannot come together.
    #[error("{0}")]
    Job(std::sync::Arc<fi_job::Error>),
    /// The fabric has failed.
    #[error("{0}")]
    Fabric(raw::Error),
    /// Too many actions wait, each in another one.
    #[error("{0} actions wait on this thread, each in another one: nest fewer, or give a pool")]
    Nested(usize),
}

impl Error {
    /// The error of calls to a rank that nothing is sent to any more, for this reason.
    pub(crate) fn of_lost(rank: u32, why: Lost) -> Self {
        match why {
            Lost::Closed => Self::Closed,
            Lost::Fabric(raw::Error::PeerGone | raw::Error::Unreachable) => Self::Gone { rank },
            Lost::Fabric(error) => Self::Link { rank, error },
        }
    }
}

impl From<fi_job::Error> for Error {
    fn from(error: fi_job::Error) -> Self {
        Self::Job(std::sync::Arc::new(error))
    }
}

impl From<raw::Error> for Error {
    fn from(error: raw::Error) -> Self {
        Self::Fabric(error)
    }
}
