//! Errors of the start of a job.

use super::workspace::TEAMS;
use fi_provider::device;
use fi_provider::software;
use fi_provider::variables::NoneOf;
use std::io;

/// Reason for which the library could not be initialised.
///
/// ```no_run
/// match shmem::World::init() {
///     Ok(world) => println!("PE {}", world.my_pe()),
///     Err(shmem::Error::InUse) => eprintln!("there is a World already"),
///     Err(error) => eprintln!("{error}"),
/// }
/// ```
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
    /// PEs that the launcher counts to one node are not on one machine.
    #[error(
        "PE {pe} is on another machine than PE {leader}, and the launcher does not say that they are on different nodes: it has to tell the nodes (PMI_process_mapping), or all PEs have to be on one machine"
    )]
    OtherMachine {
        /// The PE that is not where its node's leader is.
        pe: u32,
        /// The lowest PE of the node.
        leader: u32,
    },
    /// PEs of a node are in several network namespaces.
    #[error(
        "PE {pe} is in another network namespace than PE {leader}, from which it takes the node's memory: the PEs of a node have to be in one network namespace (of containers: a common one, or the host's)"
    )]
    OtherNetwork {
        /// The PE that is not where its node's leader is.
        pe: u32,
        /// The lowest PE of the node.
        leader: u32,
    },
    /// A node's leader does not give the node's memory, or it cannot be received.
    #[error("the node's memory cannot be taken from PE {leader} (has it ended?): {source}")]
    NotHandedOver {
        /// The lowest PE of the node.
        leader: u32,
        /// The system's answer.
        source: io::Error,
    },
    /// A variable is none of the words that it may be: FARREACH_FABRIC names no fabric, say.
    #[error(transparent)]
    Variable(#[from] NoneOf),
    /// A variable's value is no number.
    #[error("{0}={1:?} is not a whole number from 0 to 4294967295")]
    Number(&'static str, String),
    /// FARREACH_HOST_TIMEOUT is no time.
    #[error(
        "FARREACH_HOST_TIMEOUT={0:?} is not a number of seconds from 0.1 to 1000000, or 0 for ever"
    )]
    HostTimeout(String),
    /// FARREACH_DCIS is no number of queues.
    #[error("FARREACH_DCIS={0} is no power of two up to 64")]
    Initiators(u32),
    /// FARREACH_REGISTRATION_CACHE gives no limits.
    #[error(
        "FARREACH_REGISTRATION_CACHE={0:?} is neither a number of bytes, perhaps with k, m, g or t, nor that, a comma and a number of entries up to 1048576"
    )]
    RegistrationCache(String),
    /// FARREACH_COLLECTIVE_NODE_SIZE is not a number of PEs.
    #[error("FARREACH_COLLECTIVE_NODE_SIZE={0:?} is not a number of PEs, from 1")]
    CollectiveNodeSize(String),
    /// A device is needed and was not allowed.
    #[error(
        "the job has PEs on {nodes} nodes, and FARREACH_FABRIC=shm reaches one: put all PEs on one node, or take auto, mlx5 or libfabric"
    )]
    NodesWithoutDevice {
        /// Nodes of the job.
        nodes: usize,
    },
    /// A device is needed and cannot be used.
    #[error(
        "the job has PEs on {nodes} nodes, which takes a device: {source}. {}",
        software::remedy(source)
    )]
    Device {
        /// Nodes of the job.
        nodes: usize,
        /// The missing part, or the device's refusal.
        source: device::Error,
    },
    /// Libfabric is needed, for lack of a device or because the user wants it, and cannot be used.
    #[error(
        "the job has PEs on {nodes} nodes, which takes a network: {}{source}",
        before(.device)
    )]
    Network {
        /// Nodes of the job.
        nodes: usize,
        /// Reason for which this PE has no device, where it looked for one.
        device: Option<Box<device::Error>>,
        /// Reason for which libfabric cannot be used.
        source: device::Error,
    },
    /// Another PE has the error, and has said so.
    #[error("another PE has said why the job cannot start")]
    SaidByAnother,
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
    /// The PEs of a team have no number left that they could all give to another team.
    #[error(
        "no other team can be made: a PE is in {TEAMS} teams at most, that of all PEs and that of its node included"
    )]
    NoTeam,
    /// There is a [`crate::World`] already.
    #[error("there is another World, and a process has one at a time")]
    InUse,
    /// The library was initialised before for fewer threads than a [`crate::World`] needs.
    #[error(
        "the library gives thread level {0}, as an earlier initialisation has asked for less than SHMEM_THREAD_MULTIPLE, which a World needs"
    )]
    FewerThreads(i32),
    /// The call came from a process that a PE forked.
    #[error("a process forked by a PE is not a PE")]
    Forked,
    /// The system does not tell how many threads there are.
    #[error(
        "cannot tell whether other threads run, whose writes to global variables would be lost during this call: {0} (is /proc mounted?)"
    )]
    UncountedThreads(io::Error),
    /// A thread of the program does not come to a stop while the static data moves.
    #[error(
        "thread {id} ({name}) does not react to signals, and its writes to global variables would be lost during this call: start it afterwards"
    )]
    DeafThread {
        /// Its number, as gettid(2) gives it.
        id: i32,
        /// Its name.
        name: String,
    },
    /// More threads run than can be held while the static data moves.
    #[error("more than {most} threads run: start some of them afterwards")]
    ManyThreads {
        /// Threads that can be held.
        most: usize,
    },
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
        /// The action that failed.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

impl Error {
    /// Returns the reason of a device that cannot be used.
    pub(super) fn of_device(self) -> Option<device::Error> {
        match self {
            Self::Device { source, .. } => Some(source),
            _ => None,
        }
    }

    /// Makes a system error with the action that failed, for `map_err`.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}

/// Returns the reason for which there is no device, before another reason.
fn before(device: &Option<Box<device::Error>>) -> String {
    match device {
        Some(device) => format!("{device}. {}. And libfabric: ", software::remedy(device)),
        None => String::new(),
    }
}
