//! The start of a PE in its job: its rank, the job's size, and an exchange of a few bytes before
//! there is a fabric.
//!
//! The protocol is PMI-1: one line of `key=value` words per message over the stream socket whose number
//! the launcher leaves in `PMI_FD`. oshrun serves it (through [`server`]), and so do hydra's `mpiexec.hydra`
//! and Slurm's `srun --mpi=pmi2`. Open MPI's `mpirun` and `srun --mpi=pmix` speak PMIx, which a
//! library does that is opened when it is needed (`pmix`). Without a launcher a process is a job of one PE.
//!
//! ```no_run
//! # fn main() -> Result<(), fi_bootstrap::Error> {
//! let mut launcher = fi_bootstrap::Bootstrap::connect()?;
//! launcher.put(&format!("address-{}", launcher.rank()), b"anything")?;
//! launcher.barrier()?;
//! for rank in 0..launcher.size() {
//!     let address = launcher.get(&format!("address-{rank}"))?;
//!     # let _ = address;
//! }
//! launcher.finalize()
//! # }
//! ```
//!
//! The crate knows nothing of the fabric: it carries opaque bytes.

mod client;
mod encoding;
pub mod environment;
pub mod mapping;
mod pmix;
pub mod request;
pub mod server;
mod sys;
pub mod wire;

pub use client::Bootstrap;

/// The threads of this process that the connection to its launcher has started: two under PMIx, of
/// which one is libpmix's.
#[must_use]
pub fn threads() -> usize {
    pmix::threads()
}

/// An error between a PE and its launcher.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The launcher speaks a protocol that this crate does not.
    #[error(
        "{launcher} started this process, and that protocol is not spoken here; use oshrun, mpiexec.hydra, mpirun of Open MPI, or srun with --mpi=pmi2 or --mpi=pmix"
    )]
    Unsupported {
        /// The launcher that was found in the environment, in words.
        launcher: &'static str,
    },
    /// A variable that the launcher should have set is missing or makes no sense.
    #[error("the launcher's environment makes no sense: {0}")]
    Environment(String),
    /// This process is in a job already, or has been in one.
    #[error(
        "this process has joined its launcher's job already, by OpenSHMEM or by another library: \
         it does so once"
    )]
    Connected,
    /// The launcher closed the connection, or is gone.
    #[error("the connection to the launcher is closed")]
    Closed,
    /// The connection failed in another way.
    #[error("the connection to the launcher failed: {0}")]
    Io(#[from] std::io::Error),
    /// The launcher answered with something else than the answer to the request.
    #[error("the launcher answered \"{answer}\" to {request}")]
    Unexpected {
        /// The command that was sent.
        request: &'static str,
        /// The line that came back.
        answer: String,
    },
    /// The launcher's line is no PMI-1 message.
    #[error("the launcher's answer cannot be read: {0}")]
    Wire(#[from] wire::WireError),
    /// The key is empty, too long, or holds a character that PMI-1 cannot carry.
    #[error("\"{0}\" cannot be a key: 1 to {max} letters, digits, '-', '_' or '.'", max = encoding::MAX_KEY)]
    Key(String),
    /// Nobody has put this key before the last barrier.
    #[error("no value was put under the key \"{0}\"")]
    Missing(String),
    /// The value under this key was not put by this crate.
    #[error("the value under the key \"{0}\" cannot be decoded")]
    Garbled(String),
    /// PMIx's library cannot be used; the reason is dlopen(3)'s.
    #[error(
        "the launcher speaks PMIx (as Open MPI's mpirun and srun --mpi=pmix do), and its library cannot be used: {0} (Debian: libpmix2). Under oshrun, mpiexec.hydra and srun --mpi=pmi2 it is not needed"
    )]
    Library(String),
    /// A call of PMIx's library has failed.
    #[error("{call}: {name} ({status})")]
    Pmix {
        /// The function.
        call: &'static str,
        /// Its status.
        status: i32,
        /// The library's words for the status.
        name: String,
    },
    /// A PE has ended that this one waits for.
    #[error("a PE has ended that the others wait for")]
    Departed,
    /// The call came from a process forked by the PE, which must not use its parent's connection.
    #[error("a process forked by a PE cannot speak to the PE's launcher")]
    Forked,
    /// The call came after [`Bootstrap::finalize`].
    #[error("the launcher was told already that this PE has finished")]
    Finalized,
}
