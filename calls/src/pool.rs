//! Registered memory: blocks of which peers know by key and place, so that nothing is registered when
//! they travel.
//!
//! Slabs are regions of the domain's arena. Blocks are halves of halves of them (buddies), which come
//! together again when they are free.

#![expect(unsafe_code, reason = "lends memory of regions as slices")]

use crate::error::Error;
use bytemuck::Pod;
use fi_provider::raw::domain::Domain;
use fi_provider::raw::region::{Addressing, Memory, Rights};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The smallest block, in bytes: a multiple of any element's alignment, and of a cache line.
const LEAST: usize = 128;

/// Slabs of one domain.
#[derive(Debug)]
pub(crate) struct Pool {
    domain: Domain,
    /// Bytes that a new slab has, at least: a power of two.
    growth: usize,
    /// Bytes that all slabs have, at most.
    limit: usize,
    slabs: Mutex<Vec<Arc<Slab>>>,
    /// Regions so far.
    registrations: AtomicU64,
}

/// A region, of which blocks are parts.
#[derive(Debug)]
struct Slab {
    memory: Memory,
    /// Where free blocks begin, by the logarithm of their bytes.
    free: Mutex<Vec<BTreeSet<usize>>>,
}

/// A block, which is free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Block {
    slab: Arc<Slab>,
    /// The same pool's blocks alone have its keys.
    pool: Arc<Pool>,
    at: usize,
    bytes: usize,
}

impl Pool {
    /// A pool without memory.
    pub(crate) fn new(domain: &Domain, growth: usize, limit: usize) -> Arc<Self> {
        Arc::new(Self {
            domain: domain.clone(),
            growth: growth.max(LEAST).next_power_of_two(),
            limit,
            slabs: Mutex::default(),
            registrations: AtomicU64::new(0),
        })
    }

    /// How often the pool has registered memory.
    pub(crate) fn registrations(&self) -> u64 {
        // ORDERING: a number for people.
        self.registrations.load(Ordering::Relaxed)
    }

    /// Takes a block of at least `len` bytes, which begins at a multiple of [`LEAST`].
    ///
    /// # Errors
    /// [`Error::NoRoom`] where the pool would get larger than its limit.
    pub(crate) fn take(self: &Arc<Self>, len: usize) -> Result<Block, Error> {
        let full = || Error::NoRoom { bytes: len };
        let bytes = len
            .max(LEAST)
            .checked_next_power_of_two()
            .ok_or_else(full)?;
        let mut slabs = self.slabs.lock().unwrap_or_else(PoisonError::into_inner);
        let found = slabs.iter().find_map(|slab| {
            let at = slab.take(bytes)?;
            Some((Arc::clone(slab), at))
        });
        let (slab, at) = match found {
            Some(found) => found,
            None => {
                let all: usize = slabs.iter().map(|slab| slab.memory.len()).sum();
                let new = bytes.max(self.growth);
                let new = if all + new <= self.limit { new } else { bytes };
                if all + new > self.limit {
                    return Err(full());
                }
                let slab = Arc::new(Slab::new(&self.domain, new)?);
                // ORDERING: a number for people.
                self.registrations.fetch_add(1, Ordering::Relaxed);
                slabs.push(Arc::clone(&slab));
                let at = slab.take(bytes).ok_or_else(full)?;
                (slab, at)
            }
        };
        Ok(Block {
            slab,
            pool: Arc::clone(self),
            at,
            bytes,
        })
    }
}

impl Slab {
    fn new(domain: &Domain, bytes: usize) -> Result<Self, Error> {
        let memory = domain.allocate(bytes, Rights::READ, None, Addressing::Offset)?;
        let mut free = vec![BTreeSet::new(); bytes.ilog2() as usize + 1];
        free[bytes.ilog2() as usize].insert(0);
        Ok(Self {
            memory,
            free: Mutex::new(free),
        })
    }

    /// Takes a block of a power of two of bytes.
    fn take(&self, bytes: usize) -> Option<usize> {
        let order = bytes.ilog2() as usize;
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let larger = (order..free.len()).find(|&one| !free[one].is_empty())?;
        let at = free[larger].pop_first()?;
        for half in order..larger {
            free[half].insert(at + (1 << half));
        }
        Some(at)
    }

    fn give_back(&self, mut at: usize, bytes: usize) {
        let mut order = bytes.ilog2() as usize;
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while order + 1 < free.len() && free[order].remove(&(at ^ (1 << order))) {
            at &= !(1 << order);
            order += 1;
        }
        free[order].insert(at);
    }
}

impl Block {
    /// Whether the block is a pool's.
    pub(crate) fn is_of(&self, pool: &Arc<Pool>) -> bool {
        Arc::ptr_eq(&self.pool, pool)
    }

    /// The pool that it is of.
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// The key of its region, and where it begins there.
    pub(crate) fn place(&self) -> (u64, u64) {
        (self.slab.memory.key(), self.at as u64)
    }

    /// The first byte.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.slab.memory.as_ptr().wrapping_add(self.at)
    }

    /// All bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the bytes are mapped as long as the slab, and written from their first mapping on;
        // they are the block's. Peers may read the region and not write it; the own process does so by
        // `bytes_mut`, and by a fetch into a block that nobody else has yet.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.bytes) }
    }

    /// All bytes, to be changed.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; the block is borrowed for the caller alone.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.bytes) }
    }

    /// The first `len` elements.
    pub(crate) fn elements<T: Pod>(&self, len: usize) -> &[T] {
        bytemuck::cast_slice(&self.bytes()[..len * size_of::<T>()])
    }

    /// The first `len` elements, to be changed.
    pub(crate) fn elements_mut<T: Pod>(&mut self, len: usize) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.bytes_mut()[..len * size_of::<T>()])
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.slab.give_back(self.at, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fi_provider::raw::domain;

    fn pool(growth: usize, limit: usize) -> Arc<Pool> {
        let domain = Domain::open(domain::Config::default()).unwrap();
        Pool::new(&domain, growth, limit)
    }

    #[test]
    fn blocks_come_together_again() {
        let pool = pool(1 << 12, 1 << 12);
        for _ in 0..3 {
            let mut blocks: Vec<_> = (0..32).map(|_| pool.take(LEAST).unwrap()).collect();
            assert!(matches!(pool.take(1), Err(Error::NoRoom { bytes: 1 })));
            // Every second one, and then the others.
            let mut is_first = false;
            blocks.retain(|_| {
                is_first = !is_first;
                is_first
            });
            assert!(pool.take(2 * LEAST).is_err(), "no two of them touch");
            drop(blocks);
            assert_eq!(pool.take(1 << 12).unwrap().place().1, 0);
        }
        assert_eq!(pool.registrations(), 1);
    }

    #[test]
    fn a_pool_grows_to_its_limit() {
        let pool = pool(1 << 12, 3 << 12);
        let first = pool.take(1 << 13).unwrap();
        let second = pool.take(1 << 12).unwrap();
        assert_ne!(first.place().0, second.place().0, "another region");
        assert!(pool.take(1).is_err());
        drop(first);
        assert!(pool.take(1).is_ok());
        assert_eq!(pool.registrations(), 2);
    }

    #[test]
    fn blocks_do_not_overlap() {
        let pool = pool(1 << 16, 1 << 20);
        let mut blocks = Vec::new();
        for round in 0..200_usize {
            let mut block = pool.take(1 + round * 37 % 3000).unwrap();
            block.bytes_mut().fill(round as u8);
            blocks.push((round as u8, block));
            if round % 3 == 0 {
                blocks.swap_remove(round / 2 % blocks.len());
            }
        }
        let is_whole = |(fill, block): &(u8, Block)| block.bytes().iter().all(|one| one == fill);
        assert!(blocks.iter().all(is_whole));
    }
}
