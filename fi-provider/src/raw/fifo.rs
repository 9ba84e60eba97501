//! A queue of values in memory that is taken at once and grows at need: few instructions to add a
//! value and to take the oldest.
//!
//! Slots tell themselves whether they have a value, so that a look at one slot answers as a
//! comparison of positions would. Behind the last slot lies one that ends the memory; a walk that
//! comes to it goes on at the first.

#![expect(unsafe_code, reason = "goes through slots by their addresses")]

use std::ptr::NonNull;

/// A slot of a queue, which has a value, is free, or is the end.
///
/// # Safety
/// `END.is_end()` is true.
pub(crate) unsafe trait Slot: Copy {
    /// A slot without a value.
    const FREE: Self;
    /// The slot behind the last.
    const END: Self;

    fn is_free(&self) -> bool;
    fn is_end(&self) -> bool;
    /// Takes the value away.
    fn set_free(&mut self);
}

/// A queue.
#[derive(Debug)]
pub(crate) struct Fifo<T> {
    /// The first slot, and the end: of one allocation, every slot initialized, and the slot at `end`
    /// never written again.
    begin: NonNull<T>,
    end: NonNull<T>,
    /// The oldest value. Without one, that is `tail`, or `end` in place of the first slot.
    head: NonNull<T>,
    /// The slot of the next value to come, or `end` in place of the first slot.
    tail: NonNull<T>,
    /// The slots from `tail` up to here are free, and may take values; at most `end`.
    limit: NonNull<T>,
    /// The slots from `limit` up to here are free, too, and kept for as many values that are to come
    /// for sure ([`Fifo::keep`]); at most `end`.
    kept: NonNull<T>,
    /// Further values that are to come for sure: [`Fifo::open`] finds their slots.
    more: usize,
    /// Values among those that are not to come any more: [`Fifo::open`] finds room in their place.
    fewer: usize,
}

/// The slot of the oldest value.
pub(crate) struct First<'a, T> {
    fifo: &'a mut Fifo<T>,
    /// The queue's `head`: a slot with a value, and so not the end, which tells that it is.
    slot: NonNull<T>,
}

impl<T: Slot> Fifo<T> {
    /// Makes a queue that has memory for `many` values, and no room yet.
    pub(crate) fn new(many: usize) -> Self {
        let mut slots = vec![T::FREE; many.max(1) + 1];
        slots[many.max(1)] = T::END;
        let slots = Box::leak(slots.into_boxed_slice());
        let begin = NonNull::from(&mut *slots).cast::<T>();
        Self {
            begin,
            // SAFETY: the slice has one slot more than `many.max(1)`.
            end: unsafe { begin.add(many.max(1)) },
            head: begin,
            tail: begin,
            limit: begin,
            kept: begin,
            more: 0,
            fewer: 0,
        }
    }

    /// Returns the number of slots, without the end.
    fn slots(&self) -> usize {
        // SAFETY: both are of one allocation, and `end` is not before `begin`.
        unsafe { self.end.offset_from_unsigned(self.begin) }
    }

    /// Returns the number of the slot, the first one's for the end.
    fn number(&self, slot: NonNull<T>) -> usize {
        // SAFETY: all places of the queue are of its allocation, not before `begin`.
        let number = unsafe { slot.offset_from_unsigned(self.begin) };
        if slot == self.end { 0 } else { number }
    }

    /// Returns the slot with so many from `head` before it.
    fn slot(&mut self, at: usize) -> NonNull<T> {
        let number = (self.number(self.head) + at) % self.slots();
        // SAFETY: the number is below that of the slots.
        unsafe { self.begin.add(number) }
    }

    pub(crate) fn len(&self) -> usize {
        self.len_from((self.number(self.head), self.number(self.tail)))
    }

    /// Returns the number of values where these are the numbers of `head` and `tail`.
    #[inline(always)]
    fn len_from(&self, (head, tail): (usize, usize)) -> usize {
        // SAFETY: `number` is of a slot.
        let is_free = unsafe { self.begin.add(head).as_ref().is_free() };
        match tail.checked_sub(head) {
            Some(0) if is_free => 0,
            Some(len) if len > 0 => len,
            _ => self.slots() + tail - head,
        }
    }

    /// Returns whether there is no value, as far as one look tells: false also for values behind
    /// the end.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        // SAFETY: `head` is a slot or the end, both initialized.
        unsafe { self.head.as_ref().is_free() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether [`Fifo::open`] has made room for a value.
    #[inline(always)]
    pub(crate) fn is_open(&self) -> bool {
        self.tail != self.limit
    }

    /// Makes room: for as many values as there are free slots in a row, one at least, at most `most`,
    /// and behind that for those that are to come.
    #[cold]
    #[inline(never)]
    pub(crate) fn open(&mut self, most: usize) {
        let (mut head, mut tail) = (self.number(self.head), self.number(self.tail));
        // SAFETY: `number` is of a slot.
        if head == tail && !unsafe { self.begin.add(head).as_ref().is_free() } {
            self.grow();
            (head, tail) = (self.number(self.head), self.number(self.tail));
        }
        // Saves the next look at the oldest value a slow way.
        self.wrap();
        self.open_from((head, tail), most, self.kept_many());
    }

    /// Makes room for as many as make up `capacity` with the values and those that are to come;
    /// false where these do so. The capacity is no more than the slots.
    #[inline(always)]
    pub(crate) fn open_within(&mut self, capacity: usize) -> bool {
        let places = (self.number(self.head), self.number(self.tail));
        let kept = self.kept_many();
        let taken = self.len_from(places) + kept;
        taken < capacity && self.open_from(places, capacity - taken, kept)
    }

    /// Makes room where these are the numbers of `head` and `tail`, which is a free slot, and so many
    /// values are to come. Returns true.
    #[inline(always)]
    fn open_from(&mut self, (head, tail): (usize, usize), most: usize, kept: usize) -> bool {
        let behind = if head > tail { head } else { self.slots() };
        // SAFETY: `tail` is below the number of slots, and `behind` at most that.
        unsafe {
            self.tail = self.begin.add(tail);
            self.limit = self.tail.add((behind - tail).min(most));
        }
        self.kept = self.limit;
        self.more = kept;
        self.fewer = 0;
        kept == 0 || self.open_behind(behind - tail, most)
    }

    /// Has room for values that are to come behind that for up to `most` others, of so many free slots.
    /// Returns true.
    #[inline(never)]
    fn open_behind(&mut self, free: usize, most: usize) -> bool {
        let all = free.min(most.saturating_add(self.more));
        let within = self.more.min(all.saturating_sub(most.min(1)));
        // SAFETY: the slots from `tail` on are free, `all` are no more than these, and `within` no
        // more than `all`.
        unsafe {
            self.kept = self.tail.add(all);
            self.limit = self.kept.sub(within);
        }
        self.more -= within;
        true
    }

    /// Returns the number of values that are to come for sure.
    pub(crate) fn kept_many(&self) -> usize {
        // SAFETY: both are of one allocation, and `kept` is not before `limit`.
        let kept = unsafe { self.kept.offset_from_unsigned(self.limit) };
        self.more + kept - self.fewer
    }

    /// Keeps room for a value that is to come, whether there is some or not.
    #[inline(always)]
    pub(crate) fn keep_anyway(&mut self) {
        if self.is_open() {
            // SAFETY: there is room.
            unsafe { self.keep() };
        } else {
            self.more += 1;
        }
    }

    /// Keeps room for a value that is to come.
    ///
    /// # Safety
    /// There is some ([`Fifo::is_open`]).
    #[inline(always)]
    pub(crate) unsafe fn keep(&mut self) {
        debug_assert!(self.is_open());
        // SAFETY: `tail` is before `limit`, in the same allocation.
        self.limit = unsafe { self.limit.sub(1) };
    }

    /// Gives up room for a value that was to come, and does not.
    #[inline(always)]
    pub(crate) fn give_back(&mut self) {
        if self.limit == self.kept {
            self.more -= 1;
            return;
        }
        // SAFETY: `limit` is before `kept`, in the same allocation.
        self.limit = unsafe { self.limit.add(1) };
    }

    /// Gives up room for a value that was to come, and does not: it is found when the rest is used up.
    #[inline(always)]
    pub(crate) fn give_back_later(&mut self) {
        self.fewer += 1;
    }

    /// Adds the newest value, one that was to come, where few instructions find a place: there is room
    /// for as many others as before. `set` as in [`Fifo::push_if_open`].
    #[inline(always)]
    pub(crate) fn push_kept(&mut self, set: impl FnOnce(&mut T)) -> bool {
        if self.limit == self.kept {
            return false;
        }
        // SAFETY: `tail` is at most `limit`, and that is before `kept`: so `tail` is a free slot
        // before the end, and one more than either is of the same allocation. `set` has the only
        // reference, as the queue is borrowed.
        unsafe {
            set(self.tail.as_mut());
            self.tail = self.tail.add(1);
            self.limit = self.limit.add(1);
        }
        true
    }

    /// Leaves no room until [`Fifo::open`] is called.
    pub(crate) fn close(&mut self) {
        self.more = self.kept_many();
        self.fewer = 0;
        self.limit = self.tail;
        self.kept = self.tail;
    }

    /// Adds the newest value where there is room for it: `set` writes it, into a slot that still
    /// has the fields of another. Returns false where [`Fifo::open`] has to be called.
    #[inline(always)]
    pub(crate) fn push_if_open(&mut self, set: impl FnOnce(&mut T)) -> bool {
        if !self.is_open() {
            return false;
        }
        // SAFETY: `tail` is before `limit`, and so a slot before the end; `set` has the only
        // reference, as the queue is borrowed.
        unsafe {
            set(self.tail.as_mut());
            self.tail = self.tail.add(1);
        }
        true
    }

    /// Adds the newest value, for which memory is taken at need.
    #[inline(always)]
    pub(crate) fn push(&mut self, set: impl FnOnce(&mut T)) {
        if !self.is_open() {
            self.open(1);
        }
        self.push_if_open(set);
    }

    /// Returns the oldest value, where one look finds it.
    #[inline(always)]
    pub(crate) fn first(&mut self) -> Option<First<'_, T>> {
        // SAFETY: `head` is a slot or the end, both initialized.
        let first = unsafe { self.head.as_ref() };
        if first.is_free() || first.is_end() {
            return None;
        }
        let slot = self.head;
        Some(First { fifo: self, slot })
    }

    /// Goes on at the first slot where the oldest value is behind the end. Returns whether it was
    /// there.
    #[inline(always)]
    pub(crate) fn wrap(&mut self) -> bool {
        let is_behind = self.head == self.end;
        if is_behind {
            self.head = self.begin;
        }
        is_behind
    }

    /// Takes the oldest value.
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.wrap();
        self.first().map(First::take)
    }

    /// Returns the value with so many before it.
    pub(crate) fn get(&mut self, at: usize) -> Option<&mut T> {
        if at >= self.len() {
            return None;
        }
        let mut slot = self.slot(at);
        // SAFETY: `slot` gives slots before the end; the reference is the only one, as the queue is
        // borrowed.
        Some(unsafe { slot.as_mut() })
    }

    /// Takes the value with so many before it.
    #[inline(never)]
    pub(crate) fn remove(&mut self, at: usize) -> Option<T> {
        let value = *self.get(at)?;
        if at == 0 {
            return self.pop();
        }
        let len = self.len();
        for behind in at + 1..len {
            let moved = *self.get(behind)?;
            *self.get(behind - 1)? = moved;
        }
        self.get(len - 1)?.set_free();
        self.tail = self.slot(len - 1);
        self.close();
        Some(value)
    }

    /// Doubles the memory.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut larger = Self::new(2 * self.slots());
        larger.more = self.kept_many();
        larger.limit = larger.end;
        larger.kept = larger.end;
        while let Some(value) = self.pop() {
            larger.push_if_open(|slot| *slot = value);
        }
        *self = larger;
    }
}

impl<T> Drop for Fifo<T> {
    fn drop(&mut self) {
        // SAFETY: both are of one allocation, and `end` is not before `begin`.
        let many = unsafe { self.end.offset_from_unsigned(self.begin) } + 1;
        let slots = NonNull::slice_from_raw_parts(self.begin, many);
        // SAFETY: `new` has leaked the box of these slots, and nothing refers to them any more.
        drop(unsafe { Box::from_raw(slots.as_ptr()) });
    }
}

impl<T: Slot> First<'_, T> {
    #[inline(always)]
    pub(crate) fn get(&self) -> &T {
        // SAFETY: a slot, initialized; the queue is borrowed.
        unsafe { self.slot.as_ref() }
    }

    /// Takes the value.
    #[inline(always)]
    pub(crate) fn take(mut self) -> T {
        // SAFETY: a slot before the end: it may be written, which nothing else refers to, as the
        // queue is borrowed; and the slot or end behind it is of the same allocation.
        unsafe {
            let value = *self.slot.as_ref();
            self.slot.as_mut().set_free();
            self.fifo.head = self.slot.add(1);
            value
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SAFETY: the end tells that it is.
    unsafe impl Slot for i64 {
        const FREE: Self = 0;
        const END: Self = -1;

        fn is_free(&self) -> bool {
            *self == Self::FREE
        }

        fn is_end(&self) -> bool {
            *self == Self::END
        }

        fn set_free(&mut self) {
            *self = Self::FREE;
        }
    }

    fn push(fifo: &mut Fifo<i64>, value: i64) {
        fifo.push(|slot| *slot = value);
    }

    #[test]
    fn values_come_out_in_their_order_past_the_end_and_after_growth() {
        for first in 1..9 {
            let mut fifo = Fifo::new(3);
            for value in 1..first {
                push(&mut fifo, value);
                assert_eq!((fifo.len(), fifo.pop()), (1, Some(value)));
            }
            assert!(fifo.is_empty() && fifo.pop().is_none() && fifo.get(0).is_none());
            (1..21).for_each(|value| push(&mut fifo, value));
            assert_eq!((fifo.len(), fifo.slots()), (20, 24));
            assert_eq!(fifo.get(19), Some(&mut 20));
            assert_eq!(fifo.get(20), None);
            assert!((1..21).all(|value| fifo.pop() == Some(value)));
        }
    }

    #[test]
    fn a_value_is_taken_out_from_between() {
        for first in 1..6 {
            let mut fifo = Fifo::new(4);
            for value in 1..first {
                push(&mut fifo, value);
                fifo.pop();
            }
            (1..5).for_each(|value| push(&mut fifo, value));
            assert_eq!(
                (fifo.remove(1), fifo.remove(2), fifo.remove(2)),
                (Some(2), Some(4), None)
            );
            push(&mut fifo, 5);
            assert_eq!((fifo.remove(0), fifo.len()), (Some(1), 2));
            assert_eq!(
                (fifo.pop(), fifo.pop(), fifo.pop()),
                (Some(3), Some(5), None)
            );
        }
    }

    #[test]
    fn room_is_what_it_was_opened_for() {
        let mut fifo = Fifo::new(4);
        assert!(!fifo.push_if_open(|slot| *slot = 1), "no room yet");
        fifo.open(2);
        assert!((1..3).all(|value| fifo.push_if_open(|slot| *slot = value)));
        assert!(!fifo.is_open() && !fifo.is_idle());
        fifo.open(usize::MAX);
        assert!((3..5).all(|value| fifo.push_if_open(|slot| *slot = value)));
        assert!(!fifo.is_open(), "the end");
        assert_eq!((fifo.pop(), fifo.pop()), (Some(1), Some(2)));
        fifo.open(usize::MAX);
        assert!((5..7).all(|value| fifo.push_if_open(|slot| *slot = value)));
        assert!(!fifo.is_open(), "the oldest value");
        fifo.close();
        assert_eq!((fifo.len(), fifo.slots()), (4, 4));
        assert!((3..7).all(|value| fifo.pop() == Some(value)));
        assert!(fifo.first().is_none() && fifo.is_empty());
    }

    #[test]
    fn random_operations_do_as_those_of_a_deque() {
        let mut random = 1_u64;
        let mut fifo = Fifo::new(2);
        let mut model = std::collections::VecDeque::new();
        for value in 1..20_000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1);
            let at = (random >> 40) as usize % 6;
            match random >> 60 {
                0..6 => {
                    push(&mut fifo, value);
                    model.push_back(value);
                }
                6..12 => assert_eq!(fifo.pop(), model.pop_front()),
                12 => assert_eq!(fifo.remove(at), model.remove(at)),
                13 => fifo.open(at),
                14 => assert_eq!(fifo.get(at), model.get_mut(at)),
                _ => drop(fifo.wrap()),
            }
            assert_eq!(fifo.len(), model.len());
        }
    }
}
