//! Actions: functions that other processes call.

use crate::archive::{Load, LoadError, Loader, Save};
use crate::calls::Calls;
use crate::error::Error;
use crate::reply::Reply;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A function that other processes call, as [`action`](macro@crate::action) makes it.
///
/// ```
/// use calls::{Action, action};
///
/// #[action]
/// fn double(number: u64) -> u64 {
///     2 * number
/// }
///
/// /// Returns the name by which other processes call an action.
/// fn name_of<A: Action>(action: fn() -> A) -> &'static str {
///     action().entry().name()
/// }
///
/// assert!(name_of(double).ends_with("::double"));
/// ```
pub trait Action: Copy + 'static {
    /// Its arguments, as a tuple.
    type Args: Load;
    /// Its result.
    type Output: Save + Load + Send + 'static;

    /// Returns its entry in the table of actions.
    fn entry(self) -> &'static Entry;

    /// Runs it here.
    fn here(here: &Here<'_>, args: Self::Args) -> Self::Output;
}

/// The circumstances of an action that runs: by whom it was called.
///
/// ```
/// use calls::{Calls, Here, action};
///
/// #[action]
/// fn whose(here: &Here) -> u32 {
///     here.source()
/// }
///
/// let calls = Calls::alone()?;
/// assert_eq!(calls.to(0)?.run(whose, ()).wait()?, 0);
/// # Ok::<(), calls::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Here<'a> {
    calls: &'a Calls,
    source: u32,
}

impl<'a> Here<'a> {
    pub(crate) fn new(calls: &'a Calls, source: u32) -> Self {
        Self { calls, source }
    }

    /// Returns the calls that the action came by: it may make others.
    pub fn calls(&self) -> &'a Calls {
        self.calls
    }

    /// Returns the rank that has called.
    pub fn source(&self) -> u32 {
        self.source
    }
}

/// An action, as the table of actions has it.
#[derive(Debug)]
pub struct Entry {
    name: &'static str,
    run: Run,
    /// Its number in the table.
    number: AtomicU32,
}

/// Loads arguments, and runs an action with them.
type Run = fn(&Here<'_>, Loader<'_, '_>, &Reply<'_>) -> Result<(), LoadError>;

/// A number that no action has.
const NONE: u32 = u32::MAX;

impl Entry {
    /// The entry of an action of this name.
    pub const fn of<A: Action>(name: &'static str) -> Self {
        Self {
            name,
            run: run::<A>,
            number: AtomicU32::new(NONE),
        }
    }

    /// Returns the name: the module's path, and the function's.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The number in the table, which is there since any calls were opened.
    #[inline]
    pub(crate) fn number(&self) -> u16 {
        // ORDERING: `table`, which opening calls, is before any call.
        self.number.load(Ordering::Relaxed) as u16
    }

    /// Runs the action.
    ///
    /// # Errors
    /// [`LoadError`] where the arguments cannot be loaded.
    pub(crate) fn run(
        &self,
        here: &Here<'_>,
        args: Loader<'_, '_>,
        reply: &Reply<'_>,
    ) -> Result<(), LoadError> {
        (self.run)(here, args, reply)
    }

    /// The hash by which actions are sorted: FNV-1a, of 64 bits.
    fn hash(&self) -> u64 {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
    }
}

fn run<A: Action>(
    here: &Here<'_>,
    args: Loader<'_, '_>,
    reply: &Reply<'_>,
) -> Result<(), LoadError> {
    let args = args.whole::<A::Args>()?;
    reply.send(A::here(here, args));
    Ok(())
}

/// An action of the program's, known since its start.
#[derive(Debug)]
pub struct Registered(pub &'static Entry);

inventory::collect!(Registered);

/// All actions of the program, by their hashes, and a number that is the same for processes that have
/// the same ones.
///
/// # Errors
/// [`Error::SameName`].
pub(crate) fn table() -> Result<&'static (Vec<&'static Entry>, u64), Error> {
    static TABLE: OnceLock<Result<(Vec<&'static Entry>, u64), Error>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut all: Vec<_> = inventory::iter::<Registered>().map(|one| one.0).collect();
        all.sort_by_key(|entry| (entry.hash(), entry.name));
        let same = all.windows(2).find(|pair| pair[0].hash() == pair[1].hash());
        if let Some(pair) = same {
            return Err(Error::SameName(pair[0].name, pair[1].name));
        }
        if all.len() > usize::from(u16::MAX) {
            return Err(Error::Setting(
                "a program has at most 65535 actions".to_owned(),
            ));
        }
        for (number, entry) in (0..).zip(&all) {
            // ORDERING: `get_or_init` orders it before the return to any caller.
            entry.number.store(number, Ordering::Relaxed);
        }
        let step = |sum: u64, entry: &&Entry| sum.rotate_left(7) ^ entry.hash();
        let digest = all.iter().fold(all.len() as u64, step);
        Ok((all, digest))
    });
    table.as_ref().map_err(Clone::clone)
}
