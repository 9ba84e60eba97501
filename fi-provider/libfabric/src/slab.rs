//! Values by numbers that are given again.

/// The highest bit of every number: no pointer of a program has it.
const MARK: u64 = 1 << 63;

/// Returns whether this may be a number, and is no pointer.
#[inline(always)]
pub(crate) fn is_number(word: u64) -> bool {
    word & MARK != 0
}

/// Values, each with a number that no other has had.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    slots: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slab<T> {
    /// Adds a value; returns its number.
    pub(crate) fn add(&mut self, value: T) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            (self.slots.len() - 1) as u32
        });
        let (generation, slot) = &mut self.slots[index as usize];
        *generation = generation.wrapping_add(1) | (MARK >> 32) as u32;
        *slot = Some(value);
        u64::from(*generation) << 32 | u64::from(index)
    }

    /// Returns the value of a number.
    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        let (generation, slot) = self.slots.get(number as u32 as usize)?;
        slot.as_ref()
            .filter(|_| u64::from(*generation) == number >> 32)
    }

    /// Returns the value of a number, to be changed.
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let (generation, slot) = self.slots.get_mut(number as u32 as usize)?;
        let is_it = u64::from(*generation) == number >> 32;
        slot.as_mut().filter(|_| is_it)
    }

    /// Takes a value out.
    pub(crate) fn remove(&mut self, number: u64) -> Option<T> {
        self.get(number)?;
        let index = number as u32;
        self.free.push(index);
        self.slots[index as usize].1.take()
    }

    /// Returns all values, with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let slots = (0..).zip(&self.slots);
        slots.filter_map(|(index, (generation, slot))| {
            let number = u64::from(*generation) << 32 | index;
            slot.as_ref().map(|value| (number, value))
        })
    }

    /// Tells whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_never_anothers() {
        let mut slab = Slab::default();
        let first = slab.add('a');
        assert_eq!(slab.remove(first), Some('a'));
        assert!(slab.is_empty());
        let second = slab.add('b');
        assert_ne!(first, second);
        assert!(is_number(first) && is_number(second));
        assert!(!is_number((&raw const second).addr() as u64));
        assert_eq!(slab.get(first), None);
        assert_eq!(slab.remove(first), None);
        assert_eq!(slab.iter().collect::<Vec<_>>(), [(second, &'b')]);
        assert_eq!(slab.get_mut(second), Some(&mut 'b'));
    }
}
