//! Values in one piece of memory, in lists: each is added to the end of a list and taken out of it
//! anywhere by few instructions, however many there are.

/// No place.
const NOWHERE: u32 = u32::MAX;

/// Values at places, which are given again; each may be in one list of each of `LISTS` kinds.
#[derive(Debug)]
pub(super) struct Slab<T, const LISTS: usize> {
    slots: Vec<Slot<T, LISTS>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T, const LISTS: usize> {
    value: Option<T>,
    links: [Link; LISTS],
}

/// The places before and behind, in a list.
#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    behind: u32,
}

/// The places of values in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    first: u32,
    last: u32,
}

impl List {
    pub(super) const EMPTY: Self = Self {
        first: NOWHERE,
        last: NOWHERE,
    };

    #[cfg(test)]
    pub(super) fn is_empty(self) -> bool {
        self.first == NOWHERE && self.last == NOWHERE
    }
}

impl<T, const LISTS: usize> Slab<T, LISTS> {
    const APART: [Link; LISTS] = [Link {
        before: NOWHERE,
        behind: NOWHERE,
    }; LISTS];

    pub(super) fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Adds a value, which is in no list; returns its place.
    #[inline]
    pub(super) fn add(&mut self, value: T) -> u32 {
        if let Some(at) = self.free.pop() {
            let slot = &mut self.slots[at as usize];
            slot.value = Some(value);
            slot.links = Self::APART;
            return at;
        }
        let at = self.slots.len();
        assert!(at < NOWHERE as usize, "2^32 values");
        self.slots.push(Slot {
            value: Some(value),
            links: Self::APART,
        });
        at as u32
    }

    #[inline(always)]
    pub(super) fn get(&self, at: u32) -> Option<&T> {
        self.slots.get(at as usize)?.value.as_ref()
    }

    pub(super) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        self.slots.get_mut(at as usize)?.value.as_mut()
    }

    /// Takes out the value of a place, which is in no list any more.
    #[inline]
    pub(super) fn remove(&mut self, at: u32) -> Option<T> {
        let value = self.slots.get_mut(at as usize)?.value.take();
        if value.is_some() {
            self.free.push(at);
        }
        value
    }

    /// All values with their places, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, &T)> {
        let all = (0..).zip(&self.slots);
        all.filter_map(|(at, slot)| Some((at, slot.value.as_ref()?)))
    }

    /// The values of a list of a kind with their places, in their order.
    #[inline(always)]
    pub(super) fn in_order(&self, kind: usize, list: List) -> impl Iterator<Item = (u32, &T)> {
        let mut next = list.first;
        std::iter::from_fn(move || {
            let slot = self.slots.get(next as usize)?;
            let at = std::mem::replace(&mut next, slot.links[kind].behind);
            Some((at, slot.value.as_ref()?))
        })
    }

    /// Adds the value of a place to the end of a list.
    #[inline]
    pub(super) fn append(&mut self, kind: usize, list: &mut List, at: u32) {
        self.slots[at as usize].links[kind] = Link {
            before: list.last,
            behind: NOWHERE,
        };
        match self.slots.get_mut(list.last as usize) {
            Some(last) => last.links[kind].behind = at,
            None => list.first = at,
        }
        list.last = at;
    }

    /// Takes the value of a place out of the list in which it is.
    #[inline]
    pub(super) fn unlink(&mut self, kind: usize, list: &mut List, at: u32) {
        let Link { before, behind } = self.slots[at as usize].links[kind];
        match self.slots.get_mut(before as usize) {
            Some(slot) => slot.links[kind].behind = behind,
            None => list.first = behind,
        }
        match self.slots.get_mut(behind as usize) {
            Some(slot) => slot.links[kind].before = before,
            None => list.last = before,
        }
    }
}
