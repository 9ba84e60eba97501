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
    reason = "gives memory back that the borrow checker knows to be out of use"
)]

mod context;
mod symmetric;

pub use bytemuck::Pod;
pub use context::{Ctx, Element};
pub use symmetric::Symmetric;

use crate::report::Routine;
use crate::{Error, collective, memory, world};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

/// The initialised library (OpenSHMEM 1.6, section 9.1).
///
/// Its collective operations are called by all PEs in the same order.
#[derive(Debug)]
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
        world::init_thread(INIT, SERIALIZED)
            .inspect_err(|_| IN_USE.store(false, Ordering::Release))?;
        Ok(Self {
            ctx: Ctx::default_context(),
        })
    }

    /// The number of this PE, from 0.
    pub fn my_pe(&self) -> usize {
        world::my_pe() as usize
    }

    /// The number of PEs, at least 1.
    pub fn n_pes(&self) -> usize {
        world::n_pes() as usize
    }

    /// The default context.
    pub fn ctx(&self) -> &Ctx {
        &self.ctx
    }

    /// Waits for all PEs; every operation of theirs on the default context is delivered then.
    pub fn barrier_all(&self) {
        collective::barrier_all(BARRIER);
    }

    /// Allocates an array of `len` elements on every PE, all zero; collective. `None` on every PE where
    /// there is no room, and for no bytes.
    pub fn alloc<T: Pod>(&self, len: usize) -> Option<Symmetric<'_, T>> {
        let at = memory::calloc(ALLOC, len, size_of::<T>());
        (!at.is_null()).then(|| Symmetric::new(at.cast(), len))
    }

    /// Frees an array; collective. Arrays that are not freed live as long as the library is initialised.
    pub fn free<T: Pod>(&self, array: Symmetric<'_, T>) {
        // SAFETY: the array is given up, here and, the call being collective, on every PE.
        unsafe { memory::free(FREE, array.as_ptr().cast()) };
    }
}

impl Drop for World {
    /// Finalises, behind a barrier; not during a panic, which ends the job.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: arrays borrow the world, so that none is left.
            unsafe { world::finalize(DROP) };
            IN_USE.store(false, Ordering::Release);
        }
    }
}
