//! The Rust interface: OpenSHMEM without `unsafe`.
//!
//! * [`World`] is the initialised library; dropping it finalises.
//! * [`Symmetric`] is an array that every PE has, in symmetric memory. Nothing ever gives a reference into
//!   it, because peers may write it at any time: elements are copied in and out.
//! * [`Ctx`] is a communication context, with all one-sided operations. It can move to another thread and
//!   cannot be used by two at once (it is `Send` and not `Sync`).
//!
//! Elements are [`Pod`]: every bit pattern is a value, so that whatever peers write is one.
//!
//! A PE, an index or a length that is out of range panics, as indexing does; a panic ends the job.
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

mod context;
mod symmetric;

pub use bytemuck::Pod;
pub use context::{Ctx, Element};
pub use symmetric::Symmetric;

use crate::job::error::Error;
use crate::routine::Routine;
use crate::{collective, memory, owner, query, world};
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

/// The initialised library (OpenSHMEM 1.6, section 9.1).
///
/// Its collective operations are called by all PEs in the same order.
///
/// # The end of the program
/// Dropping a `World` finalises. Where it is not dropped before the program ends with status 0, the
/// end finalises if no other thread can be using the `World`: if the thread that has used it last
/// is the one that ends the program, or has ended itself. A thread that comes to use it later
/// sleeps until the process has ended.
///
/// Otherwise, when main returns or [`std::process::exit`] is called while another thread has the
/// `World`, nothing is finalised under that thread's hands: a line on standard error says so, and
/// the job ends with status 1. So join the threads before main returns.
///
/// A panic that drops a `World` does not finalise, and neither does the end of the program then:
/// where the panic was caught, or was another thread's, the job ends in the same way.
pub struct World {
    ctx: Ctx,
}

/// `Send` and not `Sync`.
pub(crate) type OneThread = PhantomData<std::cell::Cell<()>>;

/// Whether there is a [`World`]: two would share one default context.
static IN_USE: AtomicBool = AtomicBool::new(false);

const INIT: Routine = &"World::init";
const DROP: Routine = &"World::drop";
const ALLOC: Routine = &"World::alloc";
const FREE: Routine = &"World::free";
const BARRIER: Routine = &"World::barrier_all";

impl World {
    /// Initialises the library; collective over all PEs of the job.
    ///
    /// # Errors
    /// What is wrong with the job's environment; [`Error::InUse`] while there is another `World`.
    pub fn init() -> Result<Self, Error> {
        const SERIALIZED: std::ffi::c_int = 2;
        if IN_USE.swap(true, Ordering::AcqRel) {
            return Err(Error::InUse);
        }
        owner::enter();
        // SAFETY: the rules of threads: there is no other `World`, so that no other thread is in
        // the library, and each use of this one has its thread to itself.
        unsafe { world::init_thread(INIT, SERIALIZED) }.inspect_err(|_| {
            owner::leave(false);
            IN_USE.store(false, Ordering::Release);
        })?;
        Ok(Self {
            ctx: Ctx::default_context(),
        })
    }

    /// The number of this PE, from 0.
    pub fn my_pe(&self) -> usize {
        owner::enter();
        // SAFETY: the rules of threads: this one has the `World`.
        unsafe { query::my_pe() as usize }
    }

    /// The number of PEs, at least 1.
    pub fn n_pes(&self) -> usize {
        owner::enter();
        // SAFETY: the rules of threads: this one has the `World`.
        unsafe { query::n_pes() as usize }
    }

    /// The default context.
    pub fn ctx(&self) -> &Ctx {
        &self.ctx
    }

    /// Waits for all PEs; every operation of theirs on the default context is delivered then.
    pub fn barrier_all(&self) {
        owner::enter();
        // SAFETY: the rules of threads: this one has the `World`.
        unsafe { collective::barrier_all(BARRIER) };
    }

    /// Allocates an array of `len` elements on every PE, all zero; collective. `None` on every PE where
    /// there is no room, and for no bytes.
    pub fn alloc<T: Pod>(&self, len: usize) -> Option<Symmetric<'_, T>> {
        owner::enter();
        // SAFETY: the rules of threads: this one has the `World`.
        let at = unsafe { memory::calloc(ALLOC, len, size_of::<T>()) };
        (!at.is_null()).then(|| Symmetric::new(at.cast(), len))
    }

    /// Frees an array; collective. Arrays that are not freed live as long as the library is initialised.
    pub fn free<T: Pod>(&self, array: Symmetric<'_, T>) {
        owner::enter();
        // SAFETY: no use of the block: the array is given up, here and, the call being collective,
        // on every PE. The rules of threads: this one has the `World`.
        unsafe { memory::free(FREE, array.as_ptr().cast()) };
    }
}

impl Drop for World {
    /// Finalises, behind a barrier; not during a panic, which ends the job.
    fn drop(&mut self) {
        if std::thread::panicking() {
            owner::leave(true);
            return;
        }
        owner::enter();
        // SAFETY: no use of symmetric memory: arrays borrow the world, so that none is left. The
        // rules of threads: this one has the `World`.
        unsafe { world::finalize(DROP) };
        owner::leave(false);
        IN_USE.store(false, Ordering::Release);
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}
