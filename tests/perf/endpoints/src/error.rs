//! The reason for which a benchmark did not run to its end.

use std::io;
use std::path::PathBuf;

/// An error of the command.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line does not name the action.
    #[error("{0} (see endpoints --help)")]
    Usage(String),
    /// The device, or the library below it.
    #[error(transparent)]
    Device(#[from] fi_mlx5::error::Error),
    /// The device did not execute a posted entry.
    #[error("the device failed: {0}")]
    Failure(#[from] fi_mlx5::lane::Failure),
    /// A process of the benchmark, or the way to it.
    #[error("{what}: {error}")]
    Job {
        /// The action that failed.
        what: String,
        /// The reason.
        error: io::Error,
    },
    /// A process of the benchmark ended early, or said something else than the awaited word.
    #[error("process {rank} of the benchmark {what}")]
    Member {
        /// The number of the process.
        rank: usize,
        /// Its wrong action, in words.
        what: String,
    },
    /// The processes of a benchmark do not understand each other.
    #[error("not understood: {0}")]
    Words(String),
    /// A file.
    #[error("{}: {error}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A file of results.
    #[error("{}, line {line}: {what}", path.display())]
    Results {
        /// Its path.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The fault there.
        what: String,
    },
    /// A figure could not be drawn.
    #[error("{}: {what}", path.display())]
    Figure {
        /// The place for which it was meant.
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// The result of the computation is not that of a serial run.
    #[error("wrong result: {0}")]
    Wrong(String),
}

/// Result of the functions here.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns an [`Error::Job`] of this try.
    pub(crate) fn job(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |error| Self::Job { what, error }
    }
}
