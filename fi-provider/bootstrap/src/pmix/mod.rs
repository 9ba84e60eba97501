//! A launcher that speaks PMIx: Open MPI's mpirun, Slurm's `srun --mpi=pmix`.
//!
//! The protocol belongs to libpmix, which connects to a server on the same node; its interface is
//! C (the PMIx standard, versions 3 to 5, and `pmix.h`). Values there are those of a process.
//! Callers here have keys of the job: the pairs that a PE has put before a barrier go under one
//! key of its own, `farreach.N` before barrier N. A key is looked for in the PEs' values, first
//! in those of the PE whose rank ends the key.

mod abi;
mod events;
mod library;
mod messenger;
mod values;

use crate::{Error, sys};
use abi::Info;
use library::Library;
use messenger::Messenger;
use std::collections::HashMap;
use std::ffi::{CString, c_int};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use values::Pair;

/// How long a published value may take, in seconds.
const PATIENCE: c_int = 30;

/// Threads of this process that this module and the library have started.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The connection of this process to the node's server.
#[derive(Debug)]
pub(crate) struct Session {
    library: &'static Library,
    own: Own,
    size: usize,
    messenger: Messenger,
    /// Whether the launcher is one that ends the job by the status of a process.
    ends_by_status: bool,
    /// Put since the last barrier.
    fresh: Vec<Pair>,
    /// Barriers so far.
    barriers: u32,
    /// Of each PE, how many barriers' values were read.
    read: Vec<u32>,
    /// The values that were read: the rank that has put each, and its bytes.
    known: HashMap<String, (usize, Vec<u8>)>,
}

/// This process, and a printed form of it.
struct Own(abi::Proc);

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Own").field(&self.0.rank).finish()
    }
}

impl Session {
    /// Connects to the server that the environment names.
    ///
    /// # Errors
    /// [`Error::Library`], [`Error::Pmix`], or [`Error::Environment`] when the server leaves out a
    /// value that is required.
    pub(crate) fn connect() -> Result<Self, Error> {
        let library = Library::get()?;
        let own = begin(library).map_err(|error| match error {
            Error::Pmix { status, .. } if is_gone(status) => Error::Environment(format!(
                "PMIX_NAMESPACE and PMIX_RANK are set, and no PMIx server answers ({error}). A program \
                 that no launcher starts is a job of one without them (env -u PMIX_NAMESPACE -u \
                 PMIX_RANK PROGRAM)"
            )),
            other => other,
        })?;
        let messenger = Messenger::start(library)?;
        THREADS.fetch_add(1, Ordering::Relaxed);
        let mut session = Session {
            library,
            own: Own(own),
            size: 0,
            messenger,
            ends_by_status: std::env::var_os("OMPI_COMM_WORLD_RANK").is_some(),
            fresh: Vec::new(),
            barriers: 0,
            read: Vec::new(),
            known: HashMap::new(),
        };
        let size = session.number(abi::RANK_WILDCARD, abi::JOB_SIZE)?;
        session.size = size.ok_or_else(|| untold(abi::JOB_SIZE))? as usize;
        session.read = vec![0; session.size];
        if session.rank() >= session.size || i32::try_from(session.size).is_err() {
            return Err(Error::Environment(format!(
                "PMIx tells rank {} of {}",
                session.rank(),
                session.size
            )));
        }
        Ok(session)
    }

    pub(crate) fn rank(&self) -> usize {
        self.own.0.rank as usize
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Keeps a value for the next barrier.
    pub(crate) fn put(&mut self, key: &str, value: &[u8]) {
        self.fresh.push((key.to_owned(), value.to_vec()));
    }

    /// Publishes the pairs that were put, and waits for all PEs.
    ///
    /// # Errors
    /// [`Error::Closed`] when the server is gone, [`Error::Departed`] when a PE is, else [`Error::Pmix`].
    pub(crate) fn barrier(&mut self) -> Result<(), Error> {
        let number = self.barriers + 1;
        let bytes = values::encode(&self.fresh);
        let met = self.library.publish(&values_key(number), &bytes);
        met.and_then(|()| self.library.meet()).map_err(or_closed)?;
        self.barriers = number;
        self.fresh.clear();
        Ok(())
    }

    /// Finds the value that some PE has put before the last barrier.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Garbled`], [`Error::Closed`] or [`Error::Pmix`].
    pub(crate) fn get(&mut self, key: &str) -> Result<Vec<u8>, Error> {
        let known = self.known.get(key).map(|&(rank, _)| rank);
        let likely = known.or_else(|| values::rank_in(key).filter(|&rank| rank < self.size));
        for rank in likely.into_iter().chain(0..self.size) {
            self.read(rank, key)?;
            if let Some((_, value)) = self.known.get(key) {
                return Ok(value.clone());
            }
        }
        Err(Error::Missing(key.to_owned()))
    }

    /// Reads the values of `rank` that were not read yet, for the sake of `key`.
    fn read(&mut self, rank: usize, key: &str) -> Result<(), Error> {
        for number in self.read[rank] + 1..=self.barriers {
            let got = self.fetch(rank as u32, &values_key(number), &published())?;
            let pairs = got.as_ref().and_then(|got| values::decode(got.bytes()?));
            let pairs = pairs.ok_or_else(|| Error::Garbled(key.to_owned()))?;
            for (key, value) in pairs {
                self.known.insert(key, (rank, value));
            }
            self.read[rank] = number;
        }
        Ok(())
    }

    /// The node of every rank, numbered in the order in which ranks come to new ones.
    ///
    /// # Errors
    /// [`Error::Environment`] when the server does not tell, [`Error::Closed`] or [`Error::Pmix`].
    pub(crate) fn node_map(&self) -> Result<Vec<u32>, Error> {
        let mut names = Vec::with_capacity(self.size);
        for rank in 0..self.size as u32 {
            let name = match self.number(rank, abi::NODEID)? {
                Some(number) => number.to_string(),
                None => match self.text(rank, abi::HOSTNAME)? {
                    Some(name) => name,
                    None if self.all_are_here()? => String::new(),
                    None => return Err(untold(abi::NODEID)),
                },
            };
            names.push(name);
        }
        Ok(numbered(&names))
    }

    /// Whether the server has all PEs on its node.
    fn all_are_here(&self) -> Result<bool, Error> {
        let peers = self.text(abi::RANK_WILDCARD, abi::LOCAL_PEERS)?;
        Ok(peers.is_some_and(|peers| peers.split(',').count() == self.size))
    }

    fn number(&self, rank: u32, key: &str) -> Result<Option<u32>, Error> {
        let key = CString::new(key).unwrap_or_default();
        let got = self.fetch(rank, &key, &told())?;
        Ok(got.and_then(|got| got.uint32()))
    }

    fn text(&self, rank: u32, key: &str) -> Result<Option<String>, Error> {
        let key = CString::new(key).unwrap_or_default();
        let got = self.fetch(rank, &key, &told())?;
        Ok(got.and_then(|got| got.text()))
    }

    fn fetch(&self, rank: u32, key: &CString, how: &Info) -> Result<Option<abi::Got>, Error> {
        let of = self.own.0.of_rank(rank);
        self.library.fetch(&of, key, how).map_err(or_closed)
    }

    /// Asks the server for the end of the job; without a message, a signal handler may.
    ///
    /// Open MPI's mpirun ends the job when a process ends with a status other than 0. When it is asked
    /// while PEs are in a barrier, its version 4.1 may hang or crash: so it is asked only if this process
    /// does not end by itself.
    ///
    /// # Errors
    /// [`Error::Closed`] when the server is gone, the socket's when the answer does not come in time.
    pub(crate) fn abort(&self, code: c_int, message: &str) -> Result<(), Error> {
        if self.ends_by_status && code & 0xff != 0 {
            return Ok(self.messenger.abort_later(code, message)?);
        }
        status(self.messenger.abort(code, message)?)
    }

    /// Ends the connection; a signal handler may.
    ///
    /// # Errors
    /// As [`abort`](Self::abort).
    pub(crate) fn leave(&self) -> Result<(), Error> {
        status(self.messenger.finalize()?)
    }

    /// Ends the connection for good: PMIx 5.0 frees memory twice at the end of a second one.
    ///
    /// # Errors
    /// [`Error::Closed`] or [`Error::Pmix`].
    pub(crate) fn finalize(&self) -> Result<(), Error> {
        let before = sys::threads();
        let status = self.library.finish();
        let ended = before.saturating_sub(sys::threads());
        THREADS.fetch_sub(
            ended.min(THREADS.load(Ordering::Relaxed)),
            Ordering::Relaxed,
        );
        self.library
            .check("PMIx_Finalize", status)
            .map_err(or_closed)
    }

    /// The descriptor that can be read when the server is gone.
    pub(crate) fn lifeline(&self) -> Option<BorrowedFd<'_>> {
        events::lifeline().map(AsFd::as_fd)
    }
}

/// Restricts a query to values that the server has told: without that, it would wait for values
/// that may never come.
fn told() -> Info {
    Info::on(abi::IMMEDIATE)
}

/// Asks for the values that a PE has published before a barrier: some servers have them brought
/// then, as PRRTE does for clients of PMIx 4. A PE that is gone has published nothing.
fn published() -> Info {
    Info::number(abi::TIMEOUT, PATIENCE)
}

/// The threads of this process that serve the connection.
pub(crate) fn threads() -> usize {
    THREADS.load(Ordering::Relaxed)
}

/// Connects, and has the library tell of the server's end.
fn begin(library: &Library) -> Result<abi::Proc, Error> {
    let before = sys::threads();
    // The library's threads inherit the mask: signals are the program's.
    let own = sys::without_signals(|| library.connect())?;
    THREADS.fetch_add(sys::threads().saturating_sub(before), Ordering::Relaxed);
    events::watch(library)?;
    Ok(own)
}

/// The key of a PE's values before barrier `number`.
fn values_key(number: u32) -> CString {
    CString::new(format!("farreach.{number}")).unwrap_or_default()
}

/// Gives equal names equal numbers, from 0 in the order of their first places.
fn numbered(names: &[String]) -> Vec<u32> {
    let mut numbers = HashMap::new();
    names
        .iter()
        .map(|name| {
            let next = numbers.len() as u32;
            *numbers.entry(name).or_insert(next)
        })
        .collect()
}

fn untold(key: &str) -> Error {
    Error::Environment(format!("the PMIx server does not tell {key}"))
}

/// The same error, or that the server is gone, or another PE.
fn or_closed(error: Error) -> Error {
    match error {
        Error::Pmix { status, .. } if status == abi::ERR_PARTIAL_SUCCESS => Error::Departed,
        Error::Pmix { status, .. } if events::is_lost() || is_gone(status) => Error::Closed,
        other => other,
    }
}

fn is_gone(status: c_int) -> bool {
    [
        abi::ERR_UNREACH,
        abi::ERR_COMM_FAILURE,
        abi::ERR_LOST_CONNECTION,
        abi::ERR_LOST_CONNECTION_TO_SERVER,
    ]
    .contains(&status)
}

/// The result of a call that a signal handler may have asked for: no error has a text.
fn status(status: c_int) -> Result<(), Error> {
    match status {
        abi::SUCCESS => Ok(()),
        _ => Err(Error::Closed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_as_they_come() {
        let names = ["b", "a", "b", "c", "a"].map(str::to_owned);
        assert_eq!(numbered(&names), [0, 1, 0, 2, 1]);
        assert_eq!(numbered(&[]), []);
    }
}
