//! Errors of tasks.

use std::path::{Path, PathBuf};

/// An error of a task: one message for the developer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// A file operation failed.
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A program could not be started.
    #[error("cannot run {program}: {source}")]
    NotStarted {
        program: String,
        source: std::io::Error,
    },
    /// A program failed; its message went to standard error.
    #[error("{program} failed ({status})")]
    Failed { program: String, status: String },
    /// A check found something.
    #[error("{0}")]
    Check(String),
    /// The command line makes no sense.
    #[error("{0} (cargo xtask --help)")]
    Usage(#[from] lexopt::Error),
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Names the file in an error.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T>;
}

impl<T> At<T> for std::io::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|source| Error::File {
            path: path.to_owned(),
            source,
        })
    }
}
