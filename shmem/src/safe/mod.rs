//! The Rust interface: OpenSHMEM without `unsafe`.
//!
//! * [`World`] is the initialised library; dropping it finalises.
//! * An array that every PE has, in symmetric memory, is in one of three phases, which its type
//!   tells. [`Shared`]: all PEs read and write it; nothing ever gives a reference into it, as peers
//!   may write it at any time, and elements are copied in and out. [`Frozen`]: nobody writes it, and
//!   it is a slice. [`Owned`]: no peer reaches it, and it is a mutable slice. [`World::share`],
//!   [`World::freeze`] and [`World::own`] convert; they are collective.
//! * [`Ctx`] is a communication context, with all one-sided operations. It can move to another thread and
//!   cannot be used by two at once (it is `Send` and not `Sync`).
//!
//! Elements are [`Pod`]: every bit pattern is a value, so that all bytes that peers write are one.
//!
//! A PE, an index or a length that is out of range panics, as indexing does; a panic ends the job.
//!
//! # The ground of the types
//! A peer writes only within an array for which it holds a [`Shared`]; all PEs agree on the place
//! and the length of that array, and all hold it as `Shared` then. That is so because every
//! collective call but for the barriers begins with a meeting in which PEs compare their calls: where
//! one has come to another call, or to the same with other arguments, PEs panic, and none goes on as
//! if all had agreed. Before that meeting a PE that converts or frees an array has given its value up
//! and has quieted all its contexts, those of other threads, too.
//!
//! ```no_run
//! # fn main() -> Result<(), shmem::Error> {
//! let world = shmem::World::init()?;
//! let counters = world.alloc::<u64>(1).expect("eight bytes of heap");
//! world.ctx().fetch_add(&counters, 0, 1, 0);
//! world.barrier_all();
//! if world.my_pe() == 0 {
//!     assert_eq!(counters.load(0), world.n_pes() as u64);
//! }
//! # Ok(()) }
//! ```

#![expect(
    unsafe_code,
    reason = "calls the routines, whose rules the types keep: one thread at a time has the World"
)]

mod array;
mod atomics;
mod checked;
mod collective;
mod context;
mod created;
mod dealt;
mod distributed;
mod lock;
mod mapped;
mod meet;
mod op;
mod phase;
mod scope;
mod session;
mod shared;
mod signals;
mod statics;
mod strided;
mod team;
mod values;
mod waits;

pub use array::Array;
pub use atomics::{Element, Word};
pub use bytemuck::Pod;
pub use context::Ctx;
pub use dealt::{Dealt, Layout};
pub use distributed::{Distributed, Token};
pub use lock::{Held, Lock};
pub use op::Op;
pub use phase::{Frozen, Owned, Phase};
pub use scope::Scope;
pub use session::Session;
pub use shared::{Readable, Shared};
pub use signals::Signal;
pub use statics::{SharedStatic, Static};
pub use strided::Blocks;
pub use team::Team;
pub use waits::{Against, Awaited};

use crate::job::MULTIPLE;
use crate::job::error::Error;
use crate::routine::Routine;
use crate::{owner, query, world};
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

/// Traits that other crates can name and not use.
mod sealed {
    use super::phase::Place;

    /// Keeps a trait to this crate's types.
    pub trait Sealed {}

    /// An array whose place on all PEs is known.
    pub trait Placed<T> {
        /// Returns the place where it lies.
        fn place(&self) -> Place<T>;
    }
}

/// The initialised library (OpenSHMEM 1.6, section 9.1).
///
/// Its collective operations are called by all PEs in the same order.
///
/// The library is initialised for several threads (SHMEM_THREAD_MULTIPLE). The `World` and its
/// default context are used by one thread at a time; others get a context of their own by
/// [`World::create_ctx`].
///
/// # The end of the program
/// Dropping a `World` finalises. Where it is not dropped before the program ends with status 0, the
/// end finalises if no other thread can be using the `World`: if the thread that has used it last
/// is the one that ends the program, or has ended itself, and if no [`Ctx`] is there that was
/// created. A thread that comes to use it later sleeps until the process has ended.
///
/// Otherwise, when main returns or [`std::process::exit`] is called while another thread has the
/// `World`, nothing is finalised under that thread's hands: a line on standard error says so, and
/// the job ends with status 1. So join the threads before main returns.
///
/// A panic that drops a `World` does not finalise, and neither does the end of the program then:
/// where the panic was caught, or was another thread's, the job ends in the same way.
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// println!("PE {} of {}", world.my_pe(), world.n_pes());
/// world.barrier_all();
/// drop(world);
/// # Ok(()) }
/// ```
pub struct World {
    ctx: Ctx<'static>,
    teams: [Team<'static>; 2],
    distributed: RefCell<distributed::Registry>,
}

/// `Send` and not `Sync`.
pub(crate) type OneThread = PhantomData<std::cell::Cell<()>>;

/// Whether there is a [`World`]: two would share one default context.
static IN_USE: AtomicBool = AtomicBool::new(false);

const INIT: Routine = &"World::init";
const DROP: Routine = &"World::drop";
const BARRIER: Routine = &"World::barrier_all";
const SYNC: Routine = &"World::sync_all";

impl World {
    /// Initialises the library; collective over all PEs of the job.
    ///
    /// # Errors
    /// The fault of the job's environment; [`Error::InUse`] while there is another `World`;
    /// [`Error::FewerThreads`] where C code has initialised the library before, for fewer threads.
    pub fn init() -> Result<Self, Error> {
        if IN_USE.swap(true, Ordering::AcqRel) {
            return Err(Error::InUse);
        }
        owner::enter();
        Self::begin().inspect_err(|_| {
            owner::leave(false);
            IN_USE.store(false, Ordering::Release);
        })
    }

    fn begin() -> Result<Self, Error> {
        // SAFETY: the rules of threads: there is no other `World`, so that no other thread is in
        // the library.
        let level = unsafe { world::init_thread(INIT, MULTIPLE) }?;
        if level != MULTIPLE {
            // SAFETY: the rules of threads: as above. This initialisation has given nobody an
            // address of symmetric memory.
            unsafe { world::finalize(INIT) };
            return Err(Error::FewerThreads(level));
        }
        Ok(Self {
            ctx: Ctx::default_context(),
            teams: Team::predefined(),
            distributed: Self::no_values(),
        })
    }

    /// Returns the number of this PE, from 0.
    pub fn my_pe(&self) -> usize {
        self.enter();
        // SAFETY: the rules of threads: this one has the `World`.
        unsafe { query::my_pe() as usize }
    }

    /// Returns the number of PEs, at least 1.
    pub fn n_pes(&self) -> usize {
        self.enter();
        // SAFETY: the rules of threads: this one has the `World`.
        unsafe { query::n_pes() as usize }
    }

    /// Waits for all PEs; every operation of theirs on the default context is delivered then.
    pub fn barrier_all(&self) {
        self.enter();
        // SAFETY: the rules of threads: this one has the `World`.
        unsafe { crate::collective::barrier_all(BARRIER) };
    }

    /// Waits for all PEs; the stores of each to own elements are visible then (9.10.4).
    pub fn sync_all(&self) {
        self.enter();
        // SAFETY: the rules of threads: this one has the `World`.
        unsafe { crate::collective::sync_all(SYNC) };
    }
}

impl Drop for World {
    /// Finalises, behind a barrier; not during a panic, which ends the job.
    fn drop(&mut self) {
        if std::thread::panicking() {
            owner::leave(true);
            return;
        }
        self.enter();
        // SAFETY: no use of symmetric memory: arrays and contexts live no longer than the world,
        // so that those that are left were forgotten. The rules of threads: this one has the
        // `World`, and no other a context.
        unsafe { world::finalize(DROP) };
        created::forget_all();
        owner::leave(false);
        IN_USE.store(false, Ordering::Release);
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}
