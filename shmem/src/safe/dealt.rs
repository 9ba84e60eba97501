//! The elements that each PE has of an array that is dealt out.

use crate::job;
use std::ops::Range;

/// The way in which the elements of an [`Array`](super::Array) are dealt out.
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// use shmem::Layout;
/// let world = shmem::World::init()?;
/// let n = world.n_pes();
/// let blocks = world.array::<u64>(10 * n, Layout::Block).expect("room");
/// assert_eq!(blocks.dealt().owner_of(10 * n - 1), (n - 1, 9));
/// let turns = world.array::<u64>(10 * n, Layout::Cyclic).expect("room");
/// assert_eq!(turns.dealt().owner_of(10 * n - 1), (n - 1, 9));
/// assert_eq!(turns.dealt().owner_of(n), (0, 1));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Each PE has the next ones: the first PE elements 0 to `part`, the second those behind.
    Block,
    /// Each PE has one in turn: element i is on PE i modulo the number of PEs.
    Cyclic,
}

/// The elements that each PE has of an [`Array`](super::Array).
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// use shmem::Layout;
/// let world = shmem::World::init()?;
/// let array = world.array::<u64>(1000, Layout::Block).expect("room");
/// let dealt = array.dealt().clone();
/// assert_eq!((dealt.len(), dealt.layout()), (1000, Layout::Block));
/// let (pe, at) = dealt.owner_of(7);
/// if pe == world.my_pe() {
///     assert_eq!(dealt.global(at), 7);
/// }
/// let all = world.team().sum(dealt.own_len());
/// assert_eq!(all, 1000);
/// # Ok(()) }
/// ```
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
    /// The elements of a PE, or the PEs: the divisor of an index.
    divisor: Divisor,
}

/// A number that many others are divided by: a multiplication takes a quarter of a division's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Divisor {
    number: usize,
    /// 2^64 through the number, at most 1 less.
    reciprocal: u64,
}

impl Divisor {
    fn new(number: usize) -> Self {
        let reciprocal = u64::MAX / number as u64;
        Self { number, reciprocal }
    }

    /// Returns quotient and remainder.
    #[inline(always)]
    fn divide(self, dividend: usize) -> (usize, usize) {
        let product = u128::from(self.reciprocal) * dividend as u128;
        // By at most 1 too small: by less than 1 for the reciprocal's error, and by less for the
        // bits that the shift cuts off.
        let quotient = (product >> 64) as usize;
        let rest = dividend - quotient * self.number;
        if rest >= self.number {
            (quotient + 1, rest - self.number)
        } else {
            (quotient, rest)
        }
    }
}

impl Dealt {
    /// Deals `len` elements out to `pes`, of which this PE is number `me`.
    pub(super) fn new(len: usize, layout: Layout, pes: Box<[u32]>, me: usize) -> Self {
        let part = len.div_ceil(pes.len());
        let by = match layout {
            Layout::Block => part.max(1),
            Layout::Cyclic => pes.len(),
        };
        Self {
            len,
            layout,
            part,
            pes,
            me,
            divisor: Divisor::new(by),
        }
    }

    /// Returns the number of elements that each PE has room for.
    pub(super) fn part(&self) -> usize {
        self.part
    }

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
        let (member, at) = self.member_of(index);
        (self.pes[member] as usize, at)
    }

    /// Returns the PE's place among [`Dealt::pes`] and the element's in its part, which has it.
    #[track_caller]
    #[inline(always)]
    pub(super) fn member_of(&self, index: usize) -> (usize, usize) {
        if index >= self.len {
            out_of_range(index, 1, self.len);
        }
        let (quotient, rest) = self.divisor.divide(index);
        match self.layout {
            Layout::Block => (quotient, rest),
            Layout::Cyclic => (rest, quotient),
        }
    }

    /// Returns the PEs, as the job counts them.
    pub(super) fn pes(&self) -> &[u32] {
        &self.pes
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
    pub(super) fn for_pieces(
        &self,
        range: Range<usize>,
        mut f: impl FnMut(usize, usize, Range<usize>),
    ) {
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
pub(super) fn out_of_range(index: usize, count: usize, len: usize) -> ! {
    let me = job::my_pe();
    panic!("PE {me}: elements {index} to {index} + {count} of an array of {len}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns numbers of all magnitudes, and those near powers of two.
    fn edges() -> impl Strategy<Value = usize> {
        prop_oneof![
            (any::<usize>(), 0_u32..64).prop_map(|(number, shift)| number >> shift),
            (0_u32..64, 0_usize..5)
                .prop_map(|(shift, by)| (1_usize << shift).wrapping_add(by).wrapping_sub(2)),
        ]
    }

    proptest! {
        #[test]
        fn a_reciprocal_divides(number in edges(), dividend in edges()) {
            let number = number.max(1);
            let expected = (dividend / number, dividend % number);
            prop_assert_eq!(Divisor::new(number).divide(dividend), expected);
        }

        #[test]
        fn each_element_is_one_pes(
            len in 1_usize..200,
            n in 1_usize..20,
            layout in prop_oneof![Just(Layout::Block), Just(Layout::Cyclic)],
        ) {
            let mut found = vec![0; len];
            for me in 0..n {
                let pes: Box<[u32]> = (0..n as u32).map(|pe| pe * 2).collect();
                let dealt = Dealt::new(len, layout, pes, me);
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
