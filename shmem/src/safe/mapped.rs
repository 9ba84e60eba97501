//! Arrays all of whose parts are mapped here: their elements without a look at the PE each time.

#![expect(unsafe_code, reason = "reads elements that are mapped here")]

use super::{Array, Ctx, Dealt};
use bytemuck::Pod;
use fi_provider::node::copy;
use fi_provider::symmetric::atomic::expect_write;
use std::marker::PhantomData;

/// The parts of an array, where this process maps all of them. Its operations are complete when
/// they return, and need no quiet.
pub(super) struct Mapped<'a, T> {
    dealt: &'a Dealt,
    /// The address of the part of each PE.
    parts: Box<[usize]>,
    array: PhantomData<&'a Array<'a, T>>,
}

impl<'a, T: Pod> Mapped<'a, T> {
    /// Returns `None` where a part is not mapped, or not within reach of the processor's atomics,
    /// if they are asked for; and for fewer elements than there are parts.
    #[track_caller]
    pub(super) fn of(
        array: &'a Array<'_, T>,
        ctx: &Ctx<'_>,
        elements: usize,
        by_atomics: bool,
    ) -> Option<Self> {
        let (dealt, own) = (&array.dealt, array.part.place.base.addr());
        if elements < dealt.pes().len() {
            return None;
        }
        let part = |&pe: &u32| {
            let peer = ctx.peer(pe as usize);
            let distance = ctx.context.endpoint.mapped_at(peer, by_atomics)?;
            Some(own.wrapping_add(distance))
        };
        Some(Self {
            dealt,
            parts: dealt.pes().iter().map(part).collect::<Option<_>>()?,
            array: PhantomData,
        })
    }

    /// Returns the address of element `index`, where it is mapped, aligned.
    #[track_caller]
    #[inline(always)]
    fn at(&self, index: usize) -> *mut T {
        let (member, at) = self.dealt.member_of(index);
        (self.parts[member] as *mut T).wrapping_add(at)
    }

    /// Reads the elements `indices` to `values`, of which there are as many.
    #[track_caller]
    #[inline(always)]
    pub(super) fn read(&self, indices: &[usize], values: &mut [T]) {
        let mut values = values.iter_mut();
        self.for_each(indices.iter().copied(), copy::expect_read, |at| {
            let Some(value) = values.next() else { return };
            let (to, from) = (std::ptr::from_mut(value).cast(), at.cast_const().cast());
            // SAFETY: the element is mapped; `value` is written, of which any bytes are a value.
            unsafe { copy::copy(to, from, size_of::<T>()) };
        });
    }

    /// Calls `update` with the element's address and the value of each of `batch`.
    #[track_caller]
    #[inline(always)]
    pub(super) fn update(&self, batch: &[(usize, T)], mut update: impl FnMut(*mut T, T)) {
        let mut values = batch.iter();
        let indices = batch.iter().map(|&(index, _)| index);
        self.for_each(indices, expect_write, |at| {
            if let Some(&(_, value)) = values.next() {
                update(at, value);
            }
        });
    }

    /// Calls `f` with the address of each element, after `expect` with those that come up next: so
    /// that many are on their way from memory, also where each `f` waits for its own.
    #[track_caller]
    #[inline(always)]
    fn for_each(
        &self,
        mut indices: impl Iterator<Item = usize>,
        expect: impl Fn(usize),
        mut f: impl FnMut(*mut T),
    ) {
        /// Twice as many lines as a processor core commonly has under way, as some are there.
        const AHEAD: usize = 32;
        let expected = |index| {
            let at = self.at(index);
            expect(at.addr());
            at
        };
        let mut next = [std::ptr::null_mut(); AHEAD];
        let mut count = 0;
        for (at, index) in next.iter_mut().zip(&mut indices) {
            *at = expected(index);
            count += 1;
        }
        let mut turn = 0;
        for index in indices {
            let at = std::mem::replace(&mut next[turn], expected(index));
            turn = (turn + 1) % AHEAD;
            f(at);
        }
        for _ in 0..count {
            f(next[turn]);
            turn = (turn + 1) % count;
        }
    }
}
