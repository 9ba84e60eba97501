//! The job: which process this is, of how many, and how they tell each other a few bytes.

#![expect(unsafe_code, reason = "calls a C function of the program's")]

use crate::error::Error;
use fi_bootstrap::Bootstrap;
use std::ffi::{c_int, c_void};

/// Gives each process the bytes of all: `farreach_am_exchange_t`.
pub type Meeting = unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut c_void) -> c_int;

/// A job that the program brings together itself.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
    meeting: Meeting,
    context: *mut c_void,
}

impl Exchange {
    /// The job of `ranks` processes, of which this is number `rank`. `meeting` is called with
    /// `context`, this process's bytes, their number, and room for those of all.
    ///
    /// # Safety
    /// `meeting` may be called so as long as the engine lives, and writes no more than that room.
    pub unsafe fn new(rank: u32, ranks: u32, meeting: Meeting, context: *mut c_void) -> Self {
        Self {
            rank,
            ranks,
            meeting,
            context,
        }
    }
}

/// How the processes of a job come together.
#[derive(Debug)]
enum By {
    Launcher(Bootstrap),
    Program(Exchange),
}

/// The job.
#[derive(Debug)]
pub(crate) struct Job {
    by: By,
    /// Exchanges so far: keys of the launcher's are put once.
    rounds: u64,
}

impl Job {
    pub(crate) fn join(exchange: Option<Exchange>) -> Result<Self, Error> {
        let by = match exchange {
            None => {
                let launcher = Bootstrap::connect()?;
                if let Some(remark) = launcher.remark() {
                    eprintln!("farreach: {remark}");
                }
                By::Launcher(launcher)
            }
            Some(exchange) if exchange.rank >= exchange.ranks => {
                return Err(Error::Argument("the rank is not below the number of ranks"));
            }
            Some(exchange) => By::Program(exchange),
        };
        Ok(Self { by, rounds: 0 })
    }

    /// The rank of this process, and the number of all.
    pub(crate) fn rank_and_ranks(&self) -> (u32, u32) {
        match &self.by {
            By::Launcher(launcher) => (launcher.rank() as u32, launcher.size() as u32),
            By::Program(exchange) => (exchange.rank, exchange.ranks),
        }
    }

    /// The number of this process's node, where the launcher tells of several.
    pub(crate) fn node(&mut self) -> Result<Option<u32>, Error> {
        let By::Launcher(launcher) = &mut self.by else {
            return Ok(None);
        };
        let rank = launcher.rank();
        let nodes = launcher.node_map()?.unwrap_or_default();
        let several = nodes.iter().any(|node| *node != nodes[0]);
        Ok(if several {
            nodes.get(rank).copied()
        } else {
            None
        })
    }

    /// Gives each process the bytes of all, of the same number each; returns them by rank.
    pub(crate) fn exchange(&mut self, own: &[u8]) -> Result<Vec<u8>, Error> {
        let (rank, ranks) = self.rank_and_ranks();
        let mut all = vec![0; own.len() * ranks as usize];
        match &mut self.by {
            By::Launcher(launcher) => {
                let round = self.rounds;
                self.rounds += 1;
                launcher.put(&format!("am-{round}-{rank}"), own)?;
                launcher.barrier()?;
                for (of, place) in all.chunks_exact_mut(own.len().max(1)).enumerate() {
                    let theirs = launcher.get(&format!("am-{round}-{of}"))?;
                    if theirs.len() != own.len() {
                        return Err(Error::Version { rank: of as u32 });
                    }
                    place.copy_from_slice(&theirs);
                }
            }
            By::Program(exchange) => {
                let (own, len) = (own.as_ptr().cast(), own.len());
                // SAFETY: the program's promise in `Exchange::new`; there is room for all.
                let failed = unsafe {
                    (exchange.meeting)(exchange.context, own, len, all.as_mut_ptr().cast())
                };
                if failed != 0 {
                    return Err(Error::Exchange(failed));
                }
            }
        }
        Ok(all)
    }

    /// Tells the launcher that this process is done.
    pub(crate) fn leave(&mut self) -> Result<(), Error> {
        match &mut self.by {
            By::Launcher(launcher) => Ok(launcher.finalize()?),
            By::Program(_) => Ok(()),
        }
    }

    /// Asks the launcher to end all processes of the job.
    pub(crate) fn abort(&self, code: i32, message: &str) {
        if let By::Launcher(launcher) = &self.by {
            // This process ends anyway.
            let _ = launcher.abort(code, message);
        }
    }
}
