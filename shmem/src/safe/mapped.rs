//! Arrays all of whose parts are mapped here: their elements without a look at the PE each time.

#![expect(unsafe_code, reason = "reads elements that are mapped here")]

use super::{Array, Ctx, Dealt};
use bytemuck::Pod;
use fi_provider::node::copy;
use fi_provider::symmetric::atomic::expect_write;
use std::marker::PhantomData;

/// The parts of an array, where this process maps all of them. What is done by it is done when it
/// returns, and needs no quiet.
pub(super) struct Mapped<'a, T> {
    dealt: &'a Dealt,
    /// The address of the part of each PE.
    parts: Box<[usize]>,
    array: PhantomData<&'a Array<'a, T>>,
}

impl<'a, T: Pod> Mapped<'a, T> {
    /// `None` where a part is not mapped, or not within reach of the processor's atomics, if they are asked
    /// for; and for fewer elements than there are parts.
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

    /// The address of element `index`, where it is mapped, aligned.
    #[track_caller]
    #[inline(always)]
    fn at(&self, index: usize) -> *mut T {
        let (member, at) = self.dealt.member_of(index);
        (self.parts[member] as *mut T).wrapping_add(at)
    }

    /// Reads element `index`.
    #[track_caller]
    #[inline(always)]
    pub(super) fn read(&self, index: usize) -> T {
        let mut value = T::zeroed();
        let (to, from) = ((&raw mut value).cast(), self.at(index).cast_const().cast());
        // SAFETY: the element is mapped; `value` is written, of which any bytes are a value.
        unsafe { copy::copy(to, from, size_of::<T>()) };
        value
    }

    /// Calls `update` with the number, the element's address and the value of each of `batch`.
    #[track_caller]
    #[inline(always)]
    pub(super) fn update(&self, batch: &[(usize, T)], mut update: impl FnMut(usize, *mut T, T)) {
        /// As many lines as a processor core commonly has under way: atomic instructions do not
        /// overlap, and what they wait for may.
        const AHEAD: usize = 32;
        let (updates, ahead) = (batch.iter().enumerate(), batch.iter().skip(AHEAD));
        let ahead = ahead.map(Some).chain(std::iter::repeat(None));
        for ((number, &(index, value)), later) in updates.zip(ahead) {
            if let Some(&(index, _)) = later {
                expect_write(self.at(index).addr());
            }
            update(number, self.at(index), value);
        }
    }
}
