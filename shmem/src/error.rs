//! What can go wrong when a job starts.

use std::io;

/// Why the library could not be initialised.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// SHMEM_SYMMETRIC_SIZE is not a size.
    #[error(
        "SHMEM_SYMMETRIC_SIZE={0:?} is not a size: a number of bytes, perhaps with k, m, g or t"
    )]
    SymmetricSize(String),
    /// The heap does not fit into the machine.
    #[error(
        "SHMEM_SYMMETRIC_SIZE: a symmetric heap of {asked} bytes per PE is more than this machine's {available} bytes of memory and swap"
    )]
    HeapTooLarge {
        /// Bytes per PE that were asked for.
        asked: usize,
        /// Bytes of memory and swap of the machine.
        available: usize,
    },
    /// No thread level has this number.
    #[error("{0} is not a thread level: SHMEM_THREAD_SINGLE to SHMEM_THREAD_MULTIPLE are 0 to 3")]
    ThreadLevel(i32),
    /// The launcher cannot be spoken to.
    #[error(transparent)]
    Bootstrap(#[from] fi_bootstrap::Error),
    /// The PEs of the job are not all on one machine.
    #[error(
        "PE {pe} is on another machine or in another container than PE 0: a job over several hosts is not supported yet; start all PEs on one"
    )]
    SeveralHosts {
        /// The PE that is not where PE 0 is.
        pe: usize,
    },
    /// The PEs do not run the same program.
    #[error("this PE runs another executable than PE 0: all PEs must run the same")]
    OtherExecutable,
    /// The PEs disagree about the size of the heap.
    #[error(
        "this PE's SHMEM_SYMMETRIC_SIZE gives {mine} bytes and PE 0's {theirs}: they must be equal"
    )]
    OtherHeap {
        /// Bytes of this PE.
        mine: usize,
        /// Bytes of PE 0.
        theirs: usize,
    },
    /// SHMEM_SYMMETRIC_SIZE is more than it was at the first initialisation.
    #[error(
        "SHMEM_SYMMETRIC_SIZE gives {now} bytes and gave {first} at the first initialisation: a later one can have as much or less"
    )]
    HeapGrown {
        /// Bytes of heap per PE that were asked for now.
        now: usize,
        /// Bytes of heap per PE at the first initialisation.
        first: usize,
    },
    /// There is a [`crate::World`] already.
    #[error("there is another World, and a process has one at a time")]
    InUse,
    /// The call came from a process that a PE forked.
    #[error("a process forked by a PE is not a PE")]
    Forked,
    /// The limit of file sizes holds for shared memory too.
    #[error(
        "the job's memory of {total} bytes is over the limit of file sizes of {limit} bytes (see ulimit -f)"
    )]
    FileSize {
        /// Bytes of the node's memory.
        total: usize,
        /// Bytes of the limit.
        limit: u64,
    },
    /// There is no place in the address space for the heap and the peers' memory.
    #[error(
        "no place in the address space for a heap of {heap} bytes and the windows of {processes} PEs (see ulimit -v)"
    )]
    AddressSpace {
        /// Bytes of heap per PE.
        heap: usize,
        /// PEs on the node.
        processes: usize,
    },
    /// The system refused something.
    #[error("{what}: {source}")]
    System {
        /// What was being done.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: a system error with what was being done.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
