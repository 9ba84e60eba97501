//! The handle by which a process calls others.

use crate::action::{Action, table};
use crate::archive::{Save, SaveAs};
use crate::call::{Call, Sink, State};
use crate::config::{Config, LEAST_MESSAGE};
use crate::core::{Core, PROBE, Parts, Way, header};
use crate::error::Error;
use crate::inner::{Inner, Post, Settings, Target};
use crate::meeting::Together;
use crate::pool::Pool;
use crate::rma::{RmaBox, RmaVec};
use crate::settle::Collective;
use crate::wire::{CALL, Header, UNIT};
use bytemuck::Pod;
use fi_job::Job;
use fi_provider::raw::domain::{self, Domain};
use fi_provider::raw::region::{Addressing, Rights};
use std::fmt::{self, Debug};
use std::sync::Arc;

/// A process's part in a job whose processes call each other: a handle, for any thread, whose clones are
/// the same. The process takes part until the last of them is dropped.
///
/// Nothing comes and goes but as threads poll, wait or call: see [`Calls::poll`].
///
/// ```
/// use calls::{Calls, action};
///
/// #[action]
/// fn add(left: u64, right: u64) -> u64 {
///     left + right
/// }
///
/// // `Calls::open` in a job; this one is of one process.
/// let calls = Calls::alone()?;
/// for rank in 0..calls.ranks() {
///     assert_eq!(calls.to(rank)?.run(add, (2, 3)).wait()?, 5);
/// }
/// calls.settle()?;
/// # Ok::<(), calls::Error>(())
/// ```
#[derive(Clone)]
pub struct Calls(Arc<Inner>);

impl Calls {
    /// Joins the job of the launcher that has started this process: collective. Without a launcher it is
    /// a job of one process.
    ///
    /// # Errors
    /// [`Error::Job`], [`Error::Fabric`], [`Error::SameName`], [`Error::OtherActions`].
    pub fn open() -> Result<Self, Error> {
        Self::open_with(Config::default())
    }

    /// Joins a job with other settings: collective.
    ///
    /// # Errors
    /// As [`Calls::open`]; [`Error::Setting`].
    pub fn open_with(mut config: Config) -> Result<Self, Error> {
        config.check()?;
        let job = match config.meeting.take() {
            None => Job::launched("calls")?,
            Some(meeting) => Job::brought_by(meeting)?,
        };
        Self::join(job, config)
    }

    /// Opens the calls of a job of this process alone.
    ///
    /// # Errors
    /// As [`Calls::open`].
    pub fn alone() -> Result<Self, Error> {
        Self::alone_with(Config::default())
    }

    /// Opens the calls of a job of this process alone, with other settings.
    ///
    /// # Errors
    /// As [`Calls::open_with`].
    pub fn alone_with(config: Config) -> Result<Self, Error> {
        let meeting = Together::of(1).pop().map(|one| Box::new(one) as _);
        Self::open_with(Config { meeting, ..config })
    }

    fn join(mut job: Job, config: Config) -> Result<Self, Error> {
        let (rank, ranks) = job.rank_and_ranks();
        let (actions, digest) = table()?;
        let place = job.place(config.node)?;
        let longest = Core::longest(config.ring);
        let message = match config.message {
            0 => longest,
            some => some.min(longest),
        };
        let message = agree(&mut job, *digest, message)?;
        if message < LEAST_MESSAGE {
            return Err(Error::Setting(
                "Config::ring is too small for a message".to_owned(),
            ));
        }
        let rings = (ranks as usize * 2 + 64) * (config.ring + (8 << 10));
        let domain = Domain::open(domain::Config {
            arena_bytes: config.pool_limit + rings + (64 << 20),
            ring_bytes: config.ring,
            far: place.far,
            node: place.node,
            ..domain::Config::default()
        })?;
        let pool = Pool::new(&domain, config.pool_growth, config.pool_limit);
        let probe = domain.allocate(
            size_of::<u64>(),
            Rights::READ,
            Some(PROBE),
            Addressing::Offset,
        )?;
        let settings = Settings {
            threshold: config.threshold,
            most_body: message - UNIT,
            backlog: config.backlog,
            waiting: config.waiting,
            nested: config.nested,
            run: config.pool,
            are_crowded: std::thread::available_parallelism().map_or(1, usize::from)
                < ranks as usize,
        };
        let core = Core::open(Parts {
            domain,
            pool: Arc::clone(&pool),
            probe,
            job,
            message,
            together: config.together,
            delay: config.delay,
            most: config.most,
        })?;
        let inner = Inner::new(core, (rank, ranks), pool, actions, settings);
        Ok(Self(Arc::new(inner)))
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    /// The shared part, which counts the handles.
    pub(crate) fn shared(&self) -> &Arc<Inner> {
        &self.0
    }

    /// Returns the rank of this process.
    pub fn rank(&self) -> u32 {
        self.0.rank
    }

    /// Returns the number of processes.
    pub fn ranks(&self) -> u32 {
        self.0.ranks
    }

    /// Returns a process that may be called.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    pub fn to(&self, rank: u32) -> Result<Peer<'_>, Error> {
        let ranks = self.0.ranks;
        if rank < ranks {
            Ok(Peer { calls: self, rank })
        } else {
            Err(Error::NoSuchRank { rank, ranks })
        }
    }

    /// Calls an action on several processes: the arguments are saved once.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    ///
    /// ```
    /// use calls::{Calls, action};
    ///
    /// #[action]
    /// fn length(text: String) -> usize {
    ///     text.len()
    /// }
    ///
    /// let calls = Calls::alone()?;
    /// for call in calls.to_each(0..calls.ranks(), length, ("abc".to_owned(),))? {
    ///     assert_eq!(call.wait()?, 3);
    /// }
    /// # Ok::<(), calls::Error>(())
    /// ```
    pub fn to_each<A: Action, X: Arguments<A::Args> + 'static>(
        &self,
        ranks: impl IntoIterator<Item = u32>,
        action: fn() -> A,
        args: X,
    ) -> Result<Vec<Call<A::Output>>, Error> {
        let (mut targets, mut calls) = (Vec::new(), Vec::new());
        for rank in ranks {
            self.to(rank)?;
            let state = Arc::new(State::new());
            targets.push(Target {
                rank,
                sink: Some(Arc::clone(&state) as _),
            });
            calls.push(Call::new(self, state));
        }
        let post = Post {
            way: Way::Calls,
            header: call_of(action),
            targets: &targets,
        };
        if self.inner().post(post, args) {
            self.hold_back();
        }
        Ok(calls)
    }

    /// Waits until all calls of this process have run.
    ///
    /// # Errors
    /// The first failure of one that was made by [`Peer::tell`]; [`Error::Nested`] in an action.
    pub fn wait_all(&self) -> Result<(), Error> {
        self.refuse_in_actions()?;
        self.wait_until(|| self.0.made_and_unended().1 == 0)?;
        self.0.take_lost().map_or(Ok(()), Err)
    }

    /// Waits until no call of any process is under way, those included that actions have made: then
    /// waits for all others, and leaves the job. Collective. Calls that are made by other handles
    /// after that fail.
    ///
    /// # Errors
    /// As [`Calls::settle`]: this process then has not left the job, if it has other handles.
    pub fn close(self) -> Result<(), Error> {
        self.collectively(Collective::Close, |waits| {
            self.settle_by(waits)?;
            waits.wait(&self, || !self.0.turn().has_unsent());
            let mut core = self.0.turn();
            core.part_from_all()?;
            // Now, as handles may stay: in statics, say.
            Ok(core.job.leave()?)
        })?;
        self.0.take_lost().map_or(Ok(()), Err)
    }

    /// Returns a vector in registered memory with these elements.
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    pub fn rma_vec<T: Pod>(&self, elements: &[T]) -> Result<RmaVec<T>, Error> {
        let mut all = self.rma_vec_with(elements.len())?;
        all.extend_from_slice(elements)?;
        Ok(all)
    }

    /// Returns an empty vector in registered memory with room for `capacity` elements.
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    pub fn rma_vec_with<T: Pod>(&self, capacity: usize) -> Result<RmaVec<T>, Error> {
        RmaVec::with_capacity(&self.0.pool, capacity)
    }

    /// Returns a value in registered memory.
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    pub fn rma_box<T: Pod>(&self, value: T) -> Result<RmaBox<T>, Error> {
        RmaBox::new(&self.0.pool, value)
    }

    /// Returns how often the pool has registered memory.
    pub fn pool_registrations(&self) -> u64 {
        self.0.pool.registrations()
    }
}

impl Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls")
            .field("rank", &self.rank())
            .field("ranks", &self.ranks())
            .finish_non_exhaustive()
    }
}

/// Finds out whether all processes have the same actions; returns the shortest of the longest messages.
fn agree(job: &mut Job, digest: u64, message: usize) -> Result<usize, Error> {
    let own = [digest.to_ne_bytes(), (message as u64).to_ne_bytes()].concat();
    let mut shortest = message;
    for (rank, theirs) in (0..).zip(job.exchange(&own)?.chunks_exact(own.len())) {
        if theirs[..8] != own[..8] {
            return Err(Error::OtherActions { rank });
        }
        let theirs: [u8; 8] = theirs[8..].try_into().unwrap_or_default();
        shortest = shortest.min(u64::from_ne_bytes(theirs) as usize);
    }
    Ok(shortest)
}

/// The header of a call.
#[inline]
pub(crate) fn call_of<A: Action>(action: fn() -> A) -> Header {
    header(CALL, action().entry().number(), 0)
}

/// Arguments in the place of others: a tuple, of which each may be of another type that is saved alike
/// ([`SaveAs`]).
///
/// ```
/// use calls::{Action, Arguments, Calls, Error, action};
///
/// #[action]
/// fn joined(texts: Vec<String>, between: String) -> String {
///     texts.join(&between)
/// }
///
/// /// Calls an action on each rank, one after the other.
/// fn in_turn<A: Action>(
///     calls: &Calls,
///     action: fn() -> A,
///     args: impl Arguments<A::Args> + Clone + 'static,
/// ) -> Result<Vec<A::Output>, Error> {
///     let ranks = 0..calls.ranks();
///     ranks.map(|rank| calls.to(rank)?.run(action, args.clone()).wait()).collect()
/// }
///
/// let calls = Calls::alone()?;
/// let texts = vec!["a".to_owned(), "b".to_owned()];
/// assert_eq!(in_turn(&calls, joined, (texts, "-"))?, ["a-b"]);
/// # Ok::<(), calls::Error>(())
/// ```
pub trait Arguments<Args>: Save + Send {}

impl Arguments<()> for () {}

macro_rules! arguments {
    ($(($($name:ident $as:ident)+))*) => {$(
        impl<$($name: SaveAs<$as> + Send, $as),+> Arguments<($($as,)+)> for ($($name,)+) {}
    )*};
}

arguments! {
    (A1 A2) (A1 A2 B1 B2) (A1 A2 B1 B2 C1 C2) (A1 A2 B1 B2 C1 C2 D1 D2)
    (A1 A2 B1 B2 C1 C2 D1 D2 E1 E2) (A1 A2 B1 B2 C1 C2 D1 D2 E1 E2 F1 F2)
    (A1 A2 B1 B2 C1 C2 D1 D2 E1 E2 F1 F2 G1 G2)
    (A1 A2 B1 B2 C1 C2 D1 D2 E1 E2 F1 F2 G1 G2 H1 H2)
}

/// A process that may be called. See [`Calls::to`].
///
/// ```
/// use calls::{Calls, Error, Peer, action};
///
/// #[action]
/// fn reversed(text: String) -> String {
///     text.chars().rev().collect()
/// }
///
/// fn ask(peer: Peer<'_>, text: &'static str) -> Result<String, Error> {
///     peer.run(reversed, (text,)).wait()
/// }
///
/// let calls = Calls::alone()?;
/// assert_eq!(ask(calls.to(0)?, "abc")?, "cba");
/// assert!(matches!(calls.to(1), Err(Error::NoSuchRank { rank: 1, ranks: 1 })));
/// # Ok::<(), calls::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    calls: &'a Calls,
    rank: u32,
}

impl Peer<'_> {
    /// Calls an action there. The arguments are a tuple, and the call's until they were sent, whatever
    /// becomes of its handle: short ones are copied at once, long ones read where they are. Calls of one
    /// process run in any order.
    pub fn run<A: Action, X: Arguments<A::Args> + 'static>(
        &self,
        action: fn() -> A,
        args: X,
    ) -> Call<A::Output> {
        let state = Arc::new(State::new());
        let targets = [Target {
            rank: self.rank,
            sink: Some(Arc::clone(&state) as Arc<dyn Sink>),
        }];
        let post = Post {
            way: Way::Calls,
            header: call_of(action),
            targets: &targets,
        };
        if self.calls.inner().post(post, args) {
            self.calls.hold_back();
        }
        Call::new(self.calls, state)
    }

    /// Calls an action there whose result nobody waits for. A failure is told by [`Calls::wait_all`].
    ///
    /// ```
    /// use calls::{Calls, action};
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// static SUM: AtomicU64 = AtomicU64::new(0);
    ///
    /// #[action]
    /// fn count(number: u64) {
    ///     SUM.fetch_add(number, Ordering::Relaxed);
    /// }
    ///
    /// let calls = Calls::alone()?;
    /// for number in 0..10 {
    ///     calls.to(0)?.tell(count, (number,));
    /// }
    /// calls.wait_all()?;
    /// assert_eq!(SUM.load(Ordering::Relaxed), 45);
    /// # Ok::<(), calls::Error>(())
    /// ```
    pub fn tell<A: Action, X: Arguments<A::Args> + 'static>(&self, action: fn() -> A, args: X) {
        let targets = [Target {
            rank: self.rank,
            sink: None,
        }];
        let post = Post {
            way: Way::Calls,
            header: call_of(action),
            targets: &targets,
        };
        if self.calls.inner().post(post, args) {
            self.calls.hold_back();
        }
    }
}
