//! A queue of values in memory that is taken at once and grows at need: few instructions to add a
//! value and to take the oldest.

#![expect(
    unsafe_code,
    reason = "values lie in memory of which a part is initialized"
)]

use std::mem::MaybeUninit;

/// A queue.
#[derive(Debug)]
pub(crate) struct Fifo<T> {
    /// A power of two of them; value number `n` lies at `n & mask`.
    slots: Box<[MaybeUninit<T>]>,
    mask: usize,
    /// The number of the oldest value, and that of the next to come: modulo 2^64, at most as far
    /// from each other as there are slots. The slots of all between are initialized.
    head: usize,
    tail: usize,
}

impl<T: Copy> Fifo<T> {
    /// A queue that has memory for `many` values.
    pub(crate) fn new(many: usize) -> Self {
        let slots = Box::new_uninit_slice(many.max(1).next_power_of_two());
        Self {
            mask: slots.len() - 1,
            slots,
            head: 0,
            tail: 0,
        }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.tail == self.head
    }

    #[inline(always)]
    fn slot(&mut self, number: usize) -> &mut MaybeUninit<T> {
        // SAFETY: `mask` is one less than the number of slots, so that the index is below it.
        unsafe { self.slots.get_unchecked_mut(number & self.mask) }
    }

    /// Adds the newest value.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: T) {
        if self.len() > self.mask {
            self.grow();
        }
        let tail = self.tail;
        self.slot(tail).write(value);
        self.tail = tail.wrapping_add(1);
    }

    /// Takes the oldest value.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let first = *self.get(0)?;
        self.head = self.head.wrapping_add(1);
        Some(first)
    }

    /// The value with so many before it.
    #[inline(always)]
    pub(crate) fn get(&mut self, at: usize) -> Option<&mut T> {
        if at >= self.len() {
            return None;
        }
        let number = self.head.wrapping_add(at);
        // SAFETY: the number is between head and tail, where slots are initialized.
        Some(unsafe { self.slot(number).assume_init_mut() })
    }

    /// Takes the value with so many before it.
    #[inline(never)]
    pub(crate) fn remove(&mut self, at: usize) -> Option<T> {
        let value = *self.get(at)?;
        for behind in at + 1..self.len() {
            let number = self.head.wrapping_add(behind);
            let moved = *self.slot(number);
            *self.slot(number.wrapping_sub(1)) = moved;
        }
        self.tail = self.tail.wrapping_sub(1);
        Some(value)
    }

    /// Doubles the memory.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut larger = Self::new(2 * self.slots.len());
        while let Some(value) = self.pop() {
            larger.push(value);
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_in_their_order_past_the_end_and_after_growth() {
        for first in 0..9 {
            let mut fifo = Fifo::new(3);
            for value in 0..first {
                fifo.push(value);
                assert_eq!(fifo.pop(), Some(value));
            }
            assert!(fifo.is_empty() && fifo.pop().is_none() && fifo.get(0).is_none());
            (0..20).for_each(|value| fifo.push(value));
            assert_eq!((fifo.len(), fifo.slots.len()), (20, 32));
            assert_eq!(fifo.get(19), Some(&mut 19));
            assert_eq!(fifo.get(20), None);
            assert!((0..20).all(|value| fifo.pop() == Some(value)));
        }
    }

    #[test]
    fn a_value_is_taken_out_from_between() {
        for first in 0..5 {
            let mut fifo = Fifo::new(4);
            for value in 0..first {
                fifo.push(value);
                fifo.pop();
            }
            (0..4).for_each(|value| fifo.push(value));
            assert_eq!(
                (fifo.remove(1), fifo.remove(2), fifo.remove(2)),
                (Some(1), Some(3), None)
            );
            assert_eq!(
                (fifo.pop(), fifo.pop(), fifo.pop()),
                (Some(0), Some(2), None)
            );
        }
    }
}
