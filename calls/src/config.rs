//! Settings.

use crate::archive::THRESHOLD;
use crate::error::Error;
use fi_job::Meeting;
use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

/// A piece of work for a pool of threads, as [`Config::pool`] gets it.
///
/// ```
/// use calls::{Calls, Config, Work, action};
/// use std::sync::{Arc, Mutex, mpsc};
/// use std::thread;
///
/// #[action]
/// fn is_on_another_thread(caller: String) -> bool {
///     format!("{:?}", thread::current().id()) != caller
/// }
///
/// // Two threads that take work from a channel, until nobody can send any more.
/// let (work, works) = mpsc::channel::<Work>();
/// let works = Arc::new(Mutex::new(works));
/// for _ in 0..2 {
///     let works = Arc::clone(&works);
///     thread::spawn(move || loop {
///         let next = works.lock().unwrap().recv();
///         match next {
///             Ok(work) => work(),
///             Err(_) => break,
///         }
///     });
/// }
/// let config = Config {
///     pool: Some(Arc::new(move |piece| work.send(piece).unwrap())),
///     ..Config::default()
/// };
/// let calls = Calls::alone_with(config)?;
/// let own = format!("{:?}", thread::current().id());
/// assert!(calls.to(0)?.run(is_on_another_thread, (own,)).wait()?);
/// # Ok::<(), calls::Error>(())
/// ```
pub type Work = Box<dyn FnOnce() + Send>;

/// How calls are opened.
///
/// ```
/// let config = calls::Config {
///     threshold: 8192,
///     ..calls::Config::default()
/// };
/// let calls = calls::Calls::alone_with(config)?;
/// assert_eq!(calls.ranks(), 1);
/// # Ok::<(), calls::Error>(())
/// ```
pub struct Config {
    /// Slices of so many bytes are not copied into a message, where they do not all fit in one. 4096.
    pub threshold: usize,
    /// The most bytes of a message: of a call that is sent whole, or of several. At most a quarter of
    /// the ring, less 64 bytes; 0 for as many. The least of all processes counts.
    pub message: usize,
    /// The bytes of the ring of each pair on a node, a power of two from 1 KiB on. 64 KiB.
    pub ring: usize,
    /// The most calls that wait for others to the same rank, to be sent together. 256.
    pub together: usize,
    /// The longest time that a call waits so, as long as this process makes calls or polls. 50 us.
    pub delay: Duration,
    /// Bytes of registered memory that the pool takes at a time, up to the next power of two. 64 MiB.
    pub pool_growth: usize,
    /// The most bytes of registered memory, at most 16 TiB: as many addresses are kept for it, here and
    /// in each process of the node. 8 GiB.
    pub pool_limit: usize,
    /// The most bytes that the arguments of a call may have in the receiver's memory. 4 GiB.
    pub most: usize,
    /// Messages with calls that have come and have not run, before others are left with their senders.
    /// 65536.
    pub backlog: usize,
    /// Bytes of messages for which there is no room yet, before a call that is made outside of an action
    /// runs actions until there are fewer. 64 MiB.
    pub waiting: usize,
    /// Actions that may wait on a thread, each in another one. 64.
    pub nested: usize,
    /// Runs actions: on a pool of threads, say. Without, they run on the thread that polls.
    pub pool: Option<Arc<dyn Fn(Work) + Send + Sync>>,
    /// Brings the processes together, where no launcher does.
    pub meeting: Option<Box<dyn Meeting>>,
    /// The number of this process's node, where it is to pretend one.
    pub node: Option<u32>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            threshold: THRESHOLD,
            message: 0,
            ring: 64 << 10,
            together: 256,
            delay: Duration::from_micros(50),
            pool_growth: 64 << 20,
            pool_limit: 8 << 30,
            most: 4 << 30,
            backlog: 1 << 16,
            waiting: 64 << 20,
            nested: 64,
            pool: None,
            meeting: None,
            node: None,
        }
    }
}

impl Config {
    /// # Errors
    /// [`Error::Setting`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        let complain = |text: &str| Err(Error::Setting(text.to_owned()));
        if self.threshold == 0 {
            return complain("Config::threshold is 0");
        }
        if !self.ring.is_power_of_two() || !(1 << 10..=1 << 30).contains(&self.ring) {
            return complain("Config::ring is no power of two from 1 KiB to 1 GiB");
        }
        if self.message != 0 && self.message < LEAST_MESSAGE {
            return complain("Config::message is below 128 bytes");
        }
        if self.pool_growth.max(self.pool_limit) > MOST_POOL {
            return complain("Config::pool_growth and pool_limit are at most 16 TiB");
        }
        if self.together == 0 || self.backlog == 0 || self.nested == 0 {
            return complain("Config::together, backlog and nested are at least 1");
        }
        Ok(())
    }
}

/// The most bytes of a pool: a process has addresses for a few of such.
const MOST_POOL: usize = 1 << 44;

/// The bytes of the smallest message: a call of index data alone that is too long for it has one chunk.
pub(crate) const LEAST_MESSAGE: usize = 128;

impl Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("threshold", &self.threshold)
            .field("message", &self.message)
            .field("has_pool", &self.pool.is_some())
            .finish_non_exhaustive()
    }
}
