//! The job of a program that stands on the fabric's own objects ([`fi_provider::raw`]): which
//! process this is, of how many, their nodes, and the exchange of their addresses.
//!
//! A launcher brings the processes together ([`Job::launched`]), or the program does
//! ([`Job::brought_by`]).

mod error;
mod reach;

pub use error::Error;

use fi_bootstrap::Bootstrap;
use fi_provider::raw::address::Address;
use fi_provider::raw::address_vector::AddressVector;
use fi_provider::raw::far::Transport;
use std::fmt::Debug;

/// Brings the processes of a job together, where no launcher does.
///
/// ```
/// use fi_job::{Job, Meeting};
///
/// /// One process, which meets nobody.
/// #[derive(Debug)]
/// struct Alone;
///
/// impl Meeting for Alone {
///     fn rank(&self) -> u32 {
///         0
///     }
///
///     fn ranks(&self) -> u32 {
///         1
///     }
///
///     fn exchange(&mut self, own: &[u8], all: &mut [u8]) -> Result<(), i32> {
///         all.copy_from_slice(own);
///         Ok(())
///     }
/// }
///
/// let mut job = Job::brought_by(Box::new(Alone))?;
/// assert_eq!(job.exchange(&[1, 2])?, [1, 2]);
/// # Ok::<(), fi_job::Error>(())
/// ```
pub trait Meeting: Debug + Send {
    /// Returns the rank of this process.
    fn rank(&self) -> u32;

    /// Returns the number of processes.
    fn ranks(&self) -> u32;

    /// Gives each process the bytes of all, of the same number each: collective. `all` has room for
    /// those of each rank, in the order of ranks.
    ///
    /// # Errors
    /// A number of the program's that says why.
    fn exchange(&mut self, own: &[u8], all: &mut [u8]) -> Result<(), i32>;
}

/// Means by which the processes of a job come together.
#[derive(Debug)]
enum By {
    Launcher(Bootstrap),
    Program(Box<dyn Meeting>),
}

/// A job.
#[derive(Debug)]
pub struct Job {
    by: By,
    /// Begins the keys by which the launcher knows values.
    name: &'static str,
    /// Exchanges so far: keys of the launcher's are put once.
    rounds: u64,
}

/// Places of the processes of a job, as one of them sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of this process's node, where the launcher tells of several, or one is pretended.
    pub node: Option<u32>,
    /// Transport to other nodes, if there are some.
    pub far: Option<Transport>,
}

impl Job {
    /// Joins the job of the launcher that has started this process, or one of this process alone.
    /// `name` keeps the values of several libraries apart.
    ///
    /// # Errors
    /// [`Error::Launcher`].
    pub fn launched(name: &'static str) -> Result<Self, Error> {
        let launcher = Bootstrap::connect()?;
        if let Some(remark) = launcher.remark() {
            eprintln!("farreach: {remark}");
        }
        Ok(Self {
            by: By::Launcher(launcher),
            name,
            rounds: 0,
        })
    }

    /// Joins a job that the program brings together.
    ///
    /// # Errors
    /// [`Error::Rank`].
    pub fn brought_by(meeting: Box<dyn Meeting>) -> Result<Self, Error> {
        if meeting.rank() >= meeting.ranks() {
            return Err(Error::Rank);
        }
        Ok(Self {
            by: By::Program(meeting),
            name: "",
            rounds: 0,
        })
    }

    /// Returns the rank of this process, and the number of all.
    pub fn rank_and_ranks(&self) -> (u32, u32) {
        match &self.by {
            By::Launcher(launcher) => (launcher.rank() as u32, launcher.size() as u32),
            By::Program(meeting) => (meeting.rank(), meeting.ranks()),
        }
    }

    /// Finds out whether the processes are on several nodes, and how others are reached then:
    /// collective. This process's node is `pretended`, where that is given. FARREACH_FABRIC and
    /// FARREACH_TRANSPORT that name nothing are refused on one node, too.
    ///
    /// # Errors
    /// [`Error::NoNetwork`], [`Error::Variable`], and those of [`Job::exchange`].
    pub fn place(&mut self, pretended: Option<u32>) -> Result<Place, Error> {
        let wishes = reach::Wishes::read()?;
        let node = match pretended {
            None => self.node()?,
            pretended => pretended,
        };
        let nodes = self.exchange(&reach::this_node(node))?;
        let are_several = nodes.chunks_exact(8).any(|node| node != &nodes[..8]);
        Ok(Place {
            node,
            far: are_several
                .then(|| reach::transport(wishes, |is_here| self.do_all(is_here)))
                .transpose()?,
        })
    }

    /// Tells whether all processes say yes: collective.
    fn do_all(&mut self, says_yes: bool) -> Result<bool, Error> {
        let told = self.exchange(&[says_yes.into()])?;
        Ok(told.iter().all(|told| *told == 1))
    }

    /// Returns the number of this process's node, where the launcher tells of several.
    fn node(&mut self) -> Result<Option<u32>, Error> {
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

    /// Gives each process the bytes of all, of the same number each, by rank: collective, for a few
    /// bytes.
    ///
    /// # Errors
    /// [`Error::Launcher`], [`Error::Exchange`]; [`Error::Version`] where a process tells another
    /// number of bytes.
    pub fn exchange(&mut self, own: &[u8]) -> Result<Vec<u8>, Error> {
        let (rank, ranks) = self.rank_and_ranks();
        let mut all = vec![0; own.len() * ranks as usize];
        match &mut self.by {
            By::Launcher(launcher) => {
                let (name, round) = (self.name, self.rounds);
                self.rounds += 1;
                launcher.put(&format!("{name}-{round}-{rank}"), own)?;
                launcher.barrier()?;
                for (of, place) in all.chunks_exact_mut(own.len().max(1)).enumerate() {
                    let theirs = launcher.get(&format!("{name}-{round}-{of}"))?;
                    if theirs.len() != own.len() {
                        return Err(Error::Version { rank: of as u32 });
                    }
                    place.copy_from_slice(&theirs);
                }
            }
            By::Program(meeting) => meeting.exchange(own, &mut all).map_err(Error::Exchange)?,
        }
        Ok(all)
    }

    /// Tells all processes the addresses of this one's endpoints, and enters theirs into the vectors
    /// of these endpoints, each by its rank: collective.
    ///
    /// # Errors
    /// Those of [`Job::exchange`]; [`Error::Version`] where a process tells no addresses.
    pub fn introduce<const N: usize>(
        &mut self,
        own: [Address; N],
        vectors: [&AddressVector; N],
    ) -> Result<(), Error> {
        let own = own.map(|address| address.to_bytes()).concat();
        let each = own.len() / N;
        for (of, theirs) in (0..).zip(self.exchange(&own)?.chunks_exact(own.len())) {
            for (bytes, vector) in theirs.chunks_exact(each).zip(vectors) {
                let address = Address::of_bytes(bytes);
                let number = address.and_then(|address| vector.insert(&address));
                if number != Ok(of) {
                    return Err(Error::Version { rank: of });
                }
            }
        }
        Ok(())
    }

    /// Tells the launcher that this process is done.
    ///
    /// # Errors
    /// [`Error::Launcher`].
    pub fn leave(&mut self) -> Result<(), Error> {
        match &mut self.by {
            By::Launcher(launcher) => Ok(launcher.finalize()?),
            By::Program(_) => Ok(()),
        }
    }

    /// As [`Job::leave`], where the process ends without handlers of its exit.
    ///
    /// # Errors
    /// [`Error::Launcher`].
    pub fn end(&mut self) -> Result<(), Error> {
        match &mut self.by {
            By::Launcher(launcher) => Ok(launcher.end()?),
            By::Program(_) => Ok(()),
        }
    }

    /// Asks the launcher to end all processes of the job.
    pub fn abort(&self, code: i32, message: &str) {
        if let By::Launcher(launcher) = &self.by {
            // This process ends anyway.
            let _ = launcher.abort(code, message);
        }
    }
}
