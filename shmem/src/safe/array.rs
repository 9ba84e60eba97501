//! Arrays that are dealt out over PEs, with one numbering of all elements.

use super::{Ctx, Element, Shared, Team, World};
use crate::job;
use bytemuck::Pod;
use std::ops::Range;

/// How the elements of an [`Array`] are dealt out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Each PE has the next ones: the first PE elements 0 to `part`, the second those behind.
    Block,
    /// Each PE has one in turn: element i is on PE i modulo the number of PEs.
    Cyclic,
}

/// Which PE has which elements of an [`Array`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dealt {
    len: usize,
    layout: Layout,
    /// The elements of a PE, of the last ones fewer.
    part: usize,
    /// The PEs, as the job counts them.
    pes: Box<[u32]>,
    /// The number of this PE among them.
    me: usize,
}

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
    part: Shared<'w, T>,
    dealt: Dealt,
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
        let dealt = Dealt {
            len,
            layout,
            part: len.div_ceil(n),
            pes: team.world_pes().iter().map(|&pe| pe as u32).collect(),
            me: team.my_pe(),
        };
        Some(Array {
            part: self.alloc(dealt.part)?,
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

impl Dealt {
    /// Returns the number of elements on all PEs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the layout.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the PE, as the job counts them, that has element `index`, and which one of its part it
    /// is.
    ///
    /// # Panics
    /// If `index` is out of range.
    #[track_caller]
    #[inline]
    pub fn owner_of(&self, index: usize) -> (usize, usize) {
        if index >= self.len {
            out_of_range(index, 1, self.len);
        }
        let (member, at) = match self.layout {
            Layout::Block => (index / self.part, index % self.part),
            Layout::Cyclic => (index % self.pes.len(), index / self.pes.len()),
        };
        (self.pes[member] as usize, at)
    }

    /// Returns the number of elements on this PE.
    pub fn own_len(&self) -> usize {
        let n = self.pes.len();
        match self.layout {
            Layout::Block => {
                let start = self.len.min(self.me * self.part);
                self.part.min(self.len - start)
            }
            Layout::Cyclic => (self.len + n - 1 - self.me) / n,
        }
    }

    /// Returns the global index of element `at` of this PE's part.
    #[inline]
    pub fn global(&self, at: usize) -> usize {
        match self.layout {
            Layout::Block => self.me * self.part + at,
            Layout::Cyclic => at * self.pes.len() + self.me,
        }
    }

    /// Calls `f` for each piece of `range` that is one PE's, with the PE, the place in its part, and
    /// the piece as places in the range.
    #[track_caller]
    fn for_pieces(&self, range: Range<usize>, mut f: impl FnMut(usize, usize, Range<usize>)) {
        let mut next = range.start;
        while next < range.end {
            let (pe, at) = self.owner_of(next);
            let len = match self.layout {
                Layout::Block => (self.part - at).min(range.end - next),
                Layout::Cyclic => 1,
            };
            let start = next - range.start;
            f(pe, at, start..start + len);
            next += len;
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn out_of_range(index: usize, count: usize, len: usize) -> ! {
    let me = job::my_pe();
    panic!("PE {me}: elements {index} to {index} + {count} of an array of {len}");
}

impl<'w, T: Pod> Array<'w, T> {
    /// Returns the number of elements on all PEs.
    pub fn len(&self) -> usize {
        self.dealt.len
    }

    /// Returns whether there are no elements, which is never so.
    pub fn is_empty(&self) -> bool {
        self.dealt.len == 0
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
        let (has, needs) = (part.len(), dealt.part);
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
        expect_world(ctx);
        let mut values = vec![T::zeroed(); indices.len()];
        ctx.scope(|scope| {
            for (&index, value) in indices.iter().zip(values.chunks_mut(1)) {
                let (pe, at) = self.dealt.owner_of(index);
                scope.get(value, &self.part, at, pe);
            }
        });
        values
    }

    /// Writes `values` to the elements `indices`; they are delivered when this returns. Of several
    /// values for an element any one may be the last.
    ///
    /// # Panics
    /// If an index is out of range, if there are not as many values, or if `ctx` is of a team.
    #[track_caller]
    pub fn scatter(&self, ctx: &Ctx<'_>, indices: &[usize], values: &[T]) {
        expect_world(ctx);
        let (count, me) = (indices.len(), job::my_pe());
        assert!(
            count == values.len(),
            "PE {me}: {} values for {count} elements",
            values.len()
        );
        ctx.scope(|scope| {
            for (&index, value) in indices.iter().zip(values.chunks(1)) {
                let (pe, at) = self.dealt.owner_of(index);
                scope.put(&self.part, at, value, pe);
            }
        });
    }

    /// Returns the elements of this PE, copied, each with its global index.
    pub fn own(&self) -> impl ExactSizeIterator<Item = (usize, T)> + '_ {
        (0..self.dealt.own_len()).map(|at| (self.dealt.global(at), self.part.load(at)))
    }

    /// Replaces each element of this PE by what `f` makes of its global index and its value.
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
            /// They are all on their way at a time, and delivered when this returns.
            ///
            /// # Panics
            /// If an index is out of range, or `ctx` is of a team.
            #[track_caller]
            pub fn $name(&self, ctx: &Ctx<'_>, batch: &[(usize, T)]) {
                expect_world(ctx);
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
        ctx.scope(|scope| {
            for (&(index, value), found) in batch.iter().zip(&mut found) {
                let (pe, at) = self.dealt.owner_of(index);
                scope.fetch_add(found, &self.part, at, value, pe);
            }
        });
        found
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_element_is_one_pes(
            len in 1_usize..200,
            n in 1_usize..20,
            layout in prop_oneof![Just(Layout::Block), Just(Layout::Cyclic)],
        ) {
            let mut found = vec![0; len];
            for me in 0..n {
                let pes: Box<[u32]> = (0..n as u32).map(|pe| pe * 2).collect();
                let dealt = Dealt { len, layout, part: len.div_ceil(n), pes, me };
                prop_assert!(dealt.own_len() <= dealt.part);
                for at in 0..dealt.own_len() {
                    let index = dealt.global(at);
                    prop_assert_eq!(dealt.owner_of(index), (me * 2, at));
                    found[index] += 1;
                }
                let mut sum = 0;
                dealt.for_pieces(0..len, |pe, at, piece| {
                    assert_eq!(dealt.owner_of(piece.start), (pe, at));
                    sum += piece.len();
                });
                prop_assert_eq!(sum, len);
            }
            prop_assert!(found.iter().all(|&count| count == 1));
        }
    }
}
