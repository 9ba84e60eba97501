//! Communication contexts, the transfers of contiguous elements, and their order.

#![expect(
    unsafe_code,
    reason = "calls the routines with addresses that the arrays' types vouch for"
)]

use super::checked::Checked;
use super::created::Created;
use super::{OneThread, Readable, Shared, World};
use crate::ctx::{self, Context};
use crate::job;
use crate::order;
use crate::routine::Routine;
use crate::team::{self, Handle};
use bytemuck::Pod;
use fi_provider::symmetric::address_vector::PeerIndex;
use fi_provider::symmetric::{element, range};
use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;

/// A communication context: a lane to all PEs of a team, for one thread at a time.
///
/// It has all one-sided operations. [`World::ctx`] is the default one, and stays with the thread
/// that has the [`World`]; a thread of its own takes one from [`World::create_ctx`] along, as it is
/// `Send` (and not `Sync`). Dropping a created one quiets it, and gives its lane back; forgetting it
/// keeps the lane until the `World` is dropped.
///
/// Operations on different contexts are not ordered. PEs are counted as in the team.
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let counters = world.alloc::<u64>(1).expect("eight bytes of heap");
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         let ctx = world.create_ctx().expect("a context");
///         let counters = &counters;
///         scope.spawn(move || ctx.add(counters, 0, 1, 0));
///     }
/// });
/// world.barrier_all();
/// if world.my_pe() == 0 {
///     assert_eq!(counters.load(0), 2 * world.n_pes() as u64);
/// }
/// # Ok(()) }
/// ```
pub struct Ctx<'w> {
    pub(super) context: &'static Context,
    /// None for the default context.
    created: Option<Created>,
    world: PhantomData<&'w ()>,
    one_thread: OneThread,
}

// SAFETY: a created context may be used by any thread at SHMEM_THREAD_MULTIPLE, by one at a time as
// the type is not `Sync`. The default one is only lent, by a `World` that is not `Sync`, so that it
// does not leave the thread that has the `World`.
unsafe impl Send for Ctx<'_> {}

impl World {
    /// Returns the default context.
    #[inline]
    pub fn ctx(&self) -> &Ctx<'_> {
        self.enter();
        &self.ctx
    }

    /// Creates a context, for a thread of its own or for operations that are quieted apart; not
    /// collective. `None` where that is not possible.
    pub fn create_ctx(&self) -> Option<Ctx<'_>> {
        self.enter();
        Ctx::created(&"World::create_ctx", team::WORLD)
    }
}

impl<'w> Ctx<'w> {
    /// Returns the default context, for the `World`.
    pub(super) fn default_context() -> Self {
        Self {
            context: ctx::default_ctx(),
            created: None,
            world: PhantomData,
            one_thread: PhantomData,
        }
    }

    /// Creates a context of `team`, which the calling thread has, and which lives as long as `'w`.
    pub(super) fn created(at: Routine, team: Handle) -> Option<Self> {
        let created = Created::new(at, team)?;
        Some(Self {
            context: created.context(),
            created: Some(created),
            world: PhantomData,
            one_thread: PhantomData,
        })
    }

    /// Returns the number of PEs that the context has.
    #[inline(always)]
    pub fn n_pes(&self) -> usize {
        self.context.endpoint.peer_count() as usize
    }

    /// Returns whether it counts PEs as the job does: it was made of the `World` or of its team.
    #[inline]
    pub(super) fn is_of_world(&self) -> bool {
        self.created.as_ref().is_none_or(Created::is_of_world)
    }

    /// Returns the number of a PE that the context has, as the routines take it.
    #[track_caller]
    #[inline(always)]
    pub(super) fn number(&self, pe: usize) -> c_int {
        number(self.context, pe)
    }

    /// Returns the number of a PE that the context has, as the fabric takes it. A context has none
    /// once the end of the program has finalised.
    #[track_caller]
    #[inline(always)]
    pub(super) fn peer(&self, pe: usize) -> PeerIndex {
        number(self.context, pe) as PeerIndex
    }

    /// Returns the context, for operations whose arguments were looked at.
    #[inline(always)]
    pub(super) fn checked(&self) -> &'static Checked {
        Checked::of(self.context)
    }

    /// Writes `source` to the elements from `index` on, on `pe`. `source` may change when this
    /// returns (OpenSHMEM 1.6, 9.6.1.1).
    ///
    /// # Panics
    /// If the elements or `pe` are out of range.
    #[track_caller]
    #[inline(always)]
    pub fn put<T: Pod>(&self, dest: &Shared<'_, T>, index: usize, source: &[T], pe: usize) {
        let to = dest.place.at(index, source.len());
        let peer = self.peer(pe);
        let (from, count) = (source.as_ptr(), source.len());
        // SAFETY: the array is shared on all PEs, at this place of their windows, and holds the
        // elements; `source` is apart from it, as nothing gives a reference to a shared array; the
        // PE is one of the context's. The rules of threads: this one has the context.
        unsafe { range::write(self.checked(), &"Ctx::put", to, from, count, peer) };
    }

    /// Reads the elements from `index` on, on `pe` (9.6.1.5).
    ///
    /// # Panics
    /// If the elements or `pe` are out of range.
    #[track_caller]
    #[inline(always)]
    pub fn get<T: Pod>(&self, dest: &mut [T], source: &impl Readable<T>, index: usize, pe: usize) {
        let from = source.place().at(index, dest.len());
        let peer = self.peer(pe);
        let (to, count) = (dest.as_mut_ptr(), dest.len());
        // SAFETY: the array is readable on all PEs, at this place of their windows, and holds the
        // elements; `dest` is apart from it, as nothing gives a mutable reference to it; the PE is
        // one of the context's. The rules of threads: this one has the context.
        unsafe { range::read(self.checked(), &"Ctx::get", to, from, count, peer) };
    }

    /// Writes `value` to element `index` on `pe` (9.6.1.2): for an element of up to 16 bytes, by
    /// fewer instructions than [`Ctx::put`].
    ///
    /// # Panics
    /// If `index` or `pe` is out of range.
    #[track_caller]
    #[inline(always)]
    pub fn p<T: Pod>(&self, dest: &Shared<'_, T>, index: usize, value: T, pe: usize) {
        const { assert!(size_of::<T>() <= 16) };
        let to = dest.place.one(index);
        let peer = self.peer(pe);
        // SAFETY: the array is shared on all PEs, at this place of their windows, and holds the
        // element, aligned; the PE is one of the context's. The rules of threads: this one has the
        // context.
        unsafe { element::write(self.checked(), &"Ctx::p", to, value, peer) };
    }

    /// Reads element `index` on `pe` (9.6.1.6): for an element of up to 16 bytes.
    ///
    /// # Panics
    /// If `index` or `pe` is out of range.
    #[track_caller]
    #[inline(always)]
    pub fn g<T: Pod>(&self, source: &impl Readable<T>, index: usize, pe: usize) -> T {
        const { assert!(size_of::<T>() <= 16) };
        let from = source.place().one(index);
        let peer = self.peer(pe);
        // SAFETY: the array is readable on all PEs, at this place of their windows, and holds the
        // element, aligned; any bits are a `T`; the PE is one of the context's. The rules of
        // threads: this one has the context.
        unsafe { element::read(self.checked(), &"Ctx::g", from, peer) }
    }

    /// Orders earlier puts and atomics to each PE before later ones (9.12.1).
    #[inline(always)]
    pub fn fence(&self) {
        // SAFETY: the rules of threads: this one has the context.
        unsafe { order::fence(self.context, &"Ctx::fence") };
    }

    /// Returns when every earlier operation on this context is delivered (9.12.2).
    #[inline(always)]
    pub fn quiet(&self) {
        // SAFETY: the rules of threads: this one has the context.
        unsafe { order::quiet(self.context, &"Ctx::quiet") };
    }

    /// Returns when every earlier operation on this context to the PEs `pes` is delivered (9.12.3).
    ///
    /// # Panics
    /// If one of them is out of range.
    #[track_caller]
    pub fn pe_quiet(&self, pes: &[usize]) {
        let pes: Vec<c_int> = pes.iter().map(|&pe| self.number(pe)).collect();
        // SAFETY: the vector holds so many numbers. The rules of threads: this one has the context.
        unsafe { order::pe_quiet(self.context, &"Ctx::pe_quiet", pes.as_ptr(), pes.len()) };
    }
}

/// Returns the number of a PE that `context` has, as the routines take it.
#[track_caller]
#[inline(always)]
pub(super) fn number(context: &Context, pe: usize) -> c_int {
    let count = context.endpoint.peer_count() as usize;
    if pe >= count {
        no_pe(pe, count);
    }
    pe as c_int
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_pe(pe: usize, count: usize) -> ! {
    panic!("PE {}: there is no PE {pe} of {count}", job::my_pe());
}

/// Ends the created object here, before the `World` that `'w` is of.
impl Drop for Ctx<'_> {
    fn drop(&mut self) {
        self.created = None;
    }
}

impl fmt::Debug for Ctx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx").finish_non_exhaustive()
    }
}
