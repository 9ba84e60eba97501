//! Arrays that are dealt out over PEs, with one numbering of all elements.

#![expect(unsafe_code, reason = "updates elements that are mapped here")]

use super::dealt::out_of_range;
use super::mapped::Mapped;
use super::{Ctx, Dealt, Element, Layout, Shared, Team, World};
use crate::job;
use bytemuck::Pod;
use std::ops::Range;

/// An array of `len` elements that is dealt out over the PEs of a team: a [`Shared`] part on each,
/// and one numbering for all.
///
/// Operations take a context of the [`World`]. They are the one-sided operations of [`Ctx`], and
/// ordered as those are.
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// use shmem::Layout;
/// let world = shmem::World::init()?;
/// let bins = world.array::<u64>(1000, Layout::Block).expect("room");
/// let mine: Vec<(usize, u64)> = (0..100).map(|i| (i * 7 % 1000, 1)).collect();
/// bins.batch_add(world.ctx(), &mine);
/// world.barrier_all();
/// let sum: u64 = bins.own().map(|(_, count)| count).sum();
/// assert_eq!(world.team().sum(sum), 100 * world.n_pes() as u64);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Array<'w, T> {
    pub(super) part: Shared<'w, T>,
    pub(super) dealt: Dealt,
}

impl World {
    /// Allocates an array of `len` elements over all PEs, all zero; collective. `None` on every PE
    /// where there is no room, and for no elements.
    ///
    /// # Panics
    /// If the PEs do not all call this with the same length and size of `T`.
    #[track_caller]
    pub fn array<T: Pod>(&self, len: usize, layout: Layout) -> Option<Array<'_, T>> {
        self.array_of(self.team(), len, layout)
    }

    /// Allocates an array over the PEs of a team; collective over all PEs, each with a team that it
    /// is in: teams that have no PE in common get an array each, with equal parts.
    ///
    /// # Panics
    /// If the PEs do not all call this with the same elements of a PE and the same size of `T`, or
    /// those of a team with another length or layout than the others.
    #[track_caller]
    pub fn array_of<T: Pod>(
        &self,
        team: &Team<'_>,
        len: usize,
        layout: Layout,
    ) -> Option<Array<'_, T>> {
        let (least, most) = (team.min(len), team.max(len));
        let layouts = team.sum(usize::from(layout == Layout::Cyclic));
        let n = team.n_pes();
        assert!(
            least == most && (layouts == 0 || layouts == n),
            "PE {}: an array of {len} elements, {layout:?}, and of {least} to {most} on others",
            job::my_pe()
        );
        let pes = team.world_pes().iter().map(|&pe| pe as u32).collect();
        let dealt = Dealt::new(len, layout, pes, team.my_pe());
        Some(Array {
            part: self.alloc(dealt.part())?,
            dealt,
        })
    }

    /// Frees an array; collective over all PEs.
    ///
    /// # Panics
    /// If the PEs do not all free the same array.
    #[track_caller]
    pub fn free_array<T: Pod>(&self, array: Array<'_, T>) {
        self.free(array.part);
    }
}

impl<'w, T: Pod> Array<'w, T> {
    /// Returns the number of elements on all PEs.
    pub fn len(&self) -> usize {
        self.dealt.len()
    }

    /// Returns whether there are no elements, which is never so.
    pub fn is_empty(&self) -> bool {
        self.dealt.is_empty()
    }

    /// Returns which PE has which elements.
    pub fn dealt(&self) -> &Dealt {
        &self.dealt
    }

    /// Returns the part of each PE; that of the last ones may be longer than their elements.
    pub fn part(&self) -> &Shared<'w, T> {
        &self.part
    }

    /// Takes the array apart, to convert the part to a slice: see [`World::freeze`] and
    /// [`World::own`].
    pub fn into_parts(self) -> (Shared<'w, T>, Dealt) {
        (self.part, self.dealt)
    }

    /// Makes an array of a part on each PE; the contrary of [`Array::into_parts`].
    ///
    /// # Panics
    /// If the part has not the length that `dealt` says.
    #[track_caller]
    pub fn from_parts(part: Shared<'w, T>, dealt: Dealt) -> Self {
        let (has, needs) = (part.len(), dealt.part());
        let me = job::my_pe();
        assert!(
            has == needs,
            "PE {me}: a part of {has} elements, not {needs}"
        );
        Self { part, dealt }
    }

    /// Reads element `index`, wherever it is.
    ///
    /// # Panics
    /// If `index` is out of range, or `ctx` is of a team.
    #[track_caller]
    #[inline]
    pub fn get(&self, ctx: &Ctx<'_>, index: usize) -> T {
        expect_world(ctx);
        let (pe, at) = self.dealt.owner_of(index);
        let mut value = [T::zeroed()];
        ctx.get(&mut value, &self.part, at, pe);
        value[0]
    }

    /// Writes element `index`, wherever it is.
    ///
    /// # Panics
    /// If `index` is out of range, or `ctx` is of a team.
    #[track_caller]
    #[inline]
    pub fn put(&self, ctx: &Ctx<'_>, index: usize, value: T) {
        expect_world(ctx);
        let (pe, at) = self.dealt.owner_of(index);
        ctx.put(&self.part, at, &[value], pe);
    }

    /// Reads the elements from `index` on, of several PEs; they are all on their way at a time.
    ///
    /// # Panics
    /// If the elements are out of range, or `ctx` is of a team.
    #[track_caller]
    pub fn read(&self, ctx: &Ctx<'_>, index: usize, to: &mut [T]) {
        let range = self.range(ctx, index, to.len());
        let mut rest = to;
        ctx.scope(|scope| {
            self.dealt.for_pieces(range, |pe, at, piece| {
                let (to, behind) = std::mem::take(&mut rest).split_at_mut(piece.len());
                rest = behind;
                scope.get(to, &self.part, at, pe);
            });
        });
    }

    /// Writes the elements from `index` on, to several PEs; they are delivered when this returns.
    ///
    /// # Panics
    /// If the elements are out of range, or `ctx` is of a team.
    #[track_caller]
    pub fn write(&self, ctx: &Ctx<'_>, index: usize, from: &[T]) {
        let range = self.range(ctx, index, from.len());
        ctx.scope(|scope| {
            self.dealt.for_pieces(range, |pe, at, piece| {
                scope.put(&self.part, at, &from[piece], pe);
            });
        });
    }

    #[track_caller]
    fn range(&self, ctx: &Ctx<'_>, index: usize, count: usize) -> Range<usize> {
        expect_world(ctx);
        if index > self.len() || count > self.len() - index {
            out_of_range(index, count, self.len());
        }
        index..index + count
    }

    /// Returns the elements `indices`, in their order; they are all on their way at a time.
    ///
    /// # Panics
    /// If an index is out of range, or `ctx` is of a team.
    #[track_caller]
    pub fn gather(&self, ctx: &Ctx<'_>, indices: &[usize]) -> Vec<T> {
        let mut values = vec![T::zeroed(); indices.len()];
        self.gather_to(ctx, indices, &mut values);
        values
    }

    /// Reads the elements `indices` to `values`, in their order; they are all on their way at a time.
    ///
    /// # Panics
    /// If an index is out of range, if there are not as many values, or if `ctx` is of a team.
    #[track_caller]
    pub fn gather_to(&self, ctx: &Ctx<'_>, indices: &[usize], values: &mut [T]) {
        expect_world(ctx);
        expect_as_many(indices.len(), values.len());
        if let Some(mapped) = Mapped::of(self, ctx, indices.len(), false) {
            return mapped.read(indices, values);
        }
        ctx.scope(|scope| {
            for (&index, value) in indices.iter().zip(values) {
                let (pe, at) = self.dealt.owner_of(index);
                scope.get(std::slice::from_mut(value), &self.part, at, pe);
            }
        });
    }

    /// Writes `values` to the elements `indices`; they are delivered when this returns. Of several
    /// values for an element any one may be the last.
    ///
    /// # Panics
    /// If an index is out of range, if there are not as many values, or if `ctx` is of a team.
    #[track_caller]
    pub fn scatter(&self, ctx: &Ctx<'_>, indices: &[usize], values: &[T]) {
        expect_world(ctx);
        expect_as_many(indices.len(), values.len());
        ctx.scope(|scope| {
            for (&index, value) in indices.iter().zip(values) {
                let (pe, at) = self.dealt.owner_of(index);
                scope.put(&self.part, at, std::slice::from_ref(value), pe);
            }
        });
    }

    /// Returns the elements of this PE, copied, each with its global index.
    pub fn own(&self) -> impl ExactSizeIterator<Item = (usize, T)> + '_ {
        (0..self.dealt.own_len()).map(|at| (self.dealt.global(at), self.part.load(at)))
    }

    /// Replaces each element of this PE by the result of `f` for its global index and its value.
    pub fn update_own(&self, mut f: impl FnMut(usize, T) -> T) {
        for at in 0..self.dealt.own_len() {
            self.part
                .store(at, f(self.dealt.global(at), self.part.load(at)));
        }
    }
}

macro_rules! batches {
    ($($(#[$doc:meta])* $name:ident: $op:ident;)*) => {
        impl<T: Element> Array<'_, T> {$(
            $(#[$doc])* ///
            /// Delivers them all before it returns; they are all on their way at a time.
            ///
            /// # Panics
            /// If an index is out of range, or `ctx` is of a team.
            #[track_caller]
            pub fn $name(&self, ctx: &Ctx<'_>, batch: &[(usize, T)]) {
                expect_world(ctx);
                if let Some(mapped) = Mapped::of(self, ctx, batch.len(), true) {
                    return mapped.update(batch, |at, value| {
                        // SAFETY: the address is that of an element, mapped and aligned.
                        unsafe { T::$op(at, value) };
                    });
                }
                for &(index, value) in batch {
                    let (pe, at) = self.dealt.owner_of(index);
                    ctx.$op(&self.part, at, value, pe);
                }
                ctx.quiet();
            }
        )*}
    };
}

batches! {
    /// Adds atomically to each element of `batch`, modulo 2^n.
    batch_add: add;
    /// Combines each element of `batch` by an atomic bitwise and.
    batch_and: and;
    /// Combines each element of `batch` by an atomic bitwise or.
    batch_or: or;
    /// Combines each element of `batch` by an atomic bitwise exclusive or.
    batch_xor: xor;
}

impl<T: Element> Array<'_, T> {
    /// Adds atomically to element `index`; returns the old value.
    ///
    /// # Panics
    /// If `index` is out of range, or `ctx` is of a team.
    #[track_caller]
    #[inline]
    pub fn fetch_add(&self, ctx: &Ctx<'_>, index: usize, value: T) -> T {
        expect_world(ctx);
        let (pe, at) = self.dealt.owner_of(index);
        ctx.fetch_add(&self.part, at, value, pe)
    }

    /// Adds atomically to each element of `batch`; returns the old value, in the order of the batch.
    ///
    /// # Panics
    /// If an index is out of range, or `ctx` is of a team.
    #[track_caller]
    pub fn batch_fetch_add(&self, ctx: &Ctx<'_>, batch: &[(usize, T)]) -> Vec<T> {
        expect_world(ctx);
        let mut found = vec![T::zeroed(); batch.len()];
        if let Some(mapped) = Mapped::of(self, ctx, batch.len(), true) {
            let mut places = found.iter_mut();
            mapped.update(batch, |at, value| {
                // SAFETY: the address is that of an element, mapped and aligned.
                let old = unsafe { T::fetch_add(at, value) };
                places.next().into_iter().for_each(|place| *place = old);
            });
            return found;
        }
        ctx.scope(|scope| {
            for (&(index, value), found) in batch.iter().zip(&mut found) {
                let (pe, at) = self.dealt.owner_of(index);
                scope.fetch_add(found, &self.part, at, value, pe);
            }
        });
        found
    }
}

#[track_caller]
fn expect_as_many(elements: usize, values: usize) {
    assert!(
        elements == values,
        "PE {}: {values} values for {elements} elements",
        job::my_pe()
    );
}

/// Panics where `ctx` counts PEs as a team does: owners are counted as the job does.
#[track_caller]
#[inline]
fn expect_world(ctx: &Ctx<'_>) {
    if !ctx.is_of_world() {
        of_team();
    }
}

#[cold]
#[track_caller]
fn of_team() -> ! {
    panic!("PE {}: an array takes a context of the World", job::my_pe());
}
