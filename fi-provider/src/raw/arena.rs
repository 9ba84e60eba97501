//! The arena: the memory of a process that peers of its node map, whole.
//!
//! It is one memfd, as long as it may ever be: pages come with the first touch and go when they are
//! given back. So its length never changes, and a peer maps it once.

#![expect(unsafe_code, reason = "gives pages back that nobody uses any more")]

use super::error::Error;
use fi_shm::segment::{self, Memfd, Reservation, page_size};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, PoisonError};

/// The own arena.
#[derive(Debug)]
pub(crate) struct Arena {
    memory: Memfd,
    space: Reservation,
    /// Free ranges: where each begins, and its bytes; no two of them touch.
    free: Mutex<BTreeMap<usize, usize>>,
}

impl Arena {
    /// Makes an arena of up to `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> io::Result<Self> {
        let bytes = bytes.max(page_size()).next_multiple_of(page_size());
        let memory = Memfd::create(c"farreach-arena", bytes)?;
        let space = Reservation::anywhere(bytes)?;
        space.map_shared(0, &memory, 0, bytes)?;
        space.keep_from_children();
        space.keep_from_cores();
        space.hide(0, bytes);
        Ok(Self {
            memory,
            space,
            free: Mutex::new(BTreeMap::from([(0, bytes)])),
        })
    }

    /// Returns the memory, for peers.
    pub(crate) fn memory(&self) -> &Memfd {
        &self.memory
    }

    /// Returns the number of bytes in all.
    pub(crate) fn len(&self) -> usize {
        self.space.len()
    }

    /// Returns the address here of the byte at `offset`.
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        (self.space.base() as *mut u8).wrapping_add(offset)
    }

    /// Returns the offset of `address`, if it is in the arena.
    pub(crate) fn offset_of(&self, address: usize) -> Option<usize> {
        let offset = address.wrapping_sub(self.space.base());
        (offset < self.space.len()).then_some(offset)
    }

    /// Takes zeroed whole pages, the lowest that are free, of at least `bytes` bytes; returns their
    /// offset.
    pub(crate) fn take(&self, bytes: usize) -> Result<usize, Error> {
        let bytes = pages(bytes).ok_or(Error::NoRoom)?;
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |(&at, &len): (&usize, &usize)| (len >= bytes).then_some((at, len));
        let (at, len) = free.iter().find_map(fits).ok_or(Error::NoRoom)?;
        free.remove(&at);
        if len > bytes {
            free.insert(at + bytes, len - bytes);
        }
        self.space.show(at, bytes);
        Ok(at)
    }

    /// Gives back the memory that [`Arena::take`] returned for as many bytes; the pages are zero
    /// again.
    ///
    /// # Safety
    /// Nobody uses the memory any more, in this process or another.
    pub(crate) unsafe fn give_back(&self, at: usize, bytes: usize) {
        let bytes = pages(bytes).unwrap_or(0);
        // SAFETY: whole pages of the arena's mapping that nobody uses any more.
        if unsafe { segment::discard(self.at(at).addr(), bytes) }.is_err() {
            // Pages that could not be cleared are never given out again.
            return;
        }
        self.space.hide(at, bytes);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut at, mut len) = (at, bytes);
        if let Some(after) = free.remove(&(at + len)) {
            len += after;
        }
        if let Some((&before, &its_len)) = free.range(..at).next_back()
            && before + its_len == at
        {
            (at, len) = (before, its_len + len);
        }
        free.insert(at, len);
    }
}

/// Returns the size of whole pages of at least so many bytes, in bytes.
fn pages(bytes: usize) -> Option<usize> {
    bytes.max(1).checked_next_multiple_of(page_size())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_taken_apart_and_come_together_again() {
        let page = page_size();
        let arena = Arena::new(8 * page).unwrap();
        let taken: Vec<_> = (0..4).map(|_| arena.take(page + 1).unwrap()).collect();
        assert_eq!(taken, [0, 2 * page, 4 * page, 6 * page]);
        assert_eq!(arena.take(1), Err(Error::NoRoom));
        // SAFETY: the pages are the arena's.
        unsafe { arena.at(taken[1]).write(7) };
        for at in [taken[1], taken[3], taken[0], taken[2]] {
            // SAFETY: nobody uses the memory.
            unsafe { arena.give_back(at, page + 1) };
        }
        assert_eq!(arena.take(8 * page), Ok(0), "one range again");
        // SAFETY: the page is the arena's.
        assert_eq!(unsafe { arena.at(taken[1]).read() }, 0, "zero again");
        assert_eq!(arena.take(usize::MAX), Err(Error::NoRoom));
    }
}
