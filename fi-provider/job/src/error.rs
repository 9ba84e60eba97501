//! Errors of a job.

use fi_provider::variables::NoneOf;

/// Reason why a process cannot take part in a job.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The rank is not below the number of ranks.
    #[error("the rank is not below the number of ranks")]
    Rank,
    /// The launcher has failed.
    #[error("{0}")]
    Launcher(Box<fi_bootstrap::Error>),
    /// The program's function to exchange bytes has failed.
    #[error("the program's function to exchange bytes has failed: it returned {0}")]
    Exchange(i32),
    /// Another process tells things that make no sense: another version of the library, say.
    #[error("rank {rank} runs another version of this library")]
    Version {
        /// Its rank.
        rank: u32,
    },
    /// Other nodes are to be reached, and nothing is there that all processes have.
    #[error("the job has several nodes, and no network between them: {0}")]
    NoNetwork(Box<str>),
    /// A variable of the environment makes no sense.
    #[error("{0}")]
    Variable(Box<str>),
}

impl From<NoneOf> for Error {
    fn from(error: NoneOf) -> Self {
        Self::Variable(error.to_string().into_boxed_str())
    }
}

impl From<fi_bootstrap::Error> for Error {
    fn from(error: fi_bootstrap::Error) -> Self {
        Self::Launcher(Box::new(error))
    }
}
