//! The parts of the own window as a device knows them: where each lies, and by which keys.

#![expect(
    unsafe_code,
    reason = "registers memory, and undoes advice to the kernel about it"
)]

use crate::device::error::Error;
use crate::symmetric::remote::PARTS;
use crate::symmetric::window::{MemoryRegion, Window};
use fi_mlx5::device::{self as hca, Region};
use std::sync::Arc;

/// A registered part of the own window.
#[derive(Debug)]
struct Part {
    region: Region,
    base: usize,
    len: usize,
    /// Its number among the window's parts, the same in all processes.
    number: usize,
}

impl Part {
    /// Tells whether it has `bytes` bytes at `addr`.
    fn has(&self, addr: usize, bytes: usize) -> bool {
        let offset = addr.wrapping_sub(self.base);
        offset < self.len && bytes <= self.len - offset
    }
}

/// The registered parts of the own window in the order of their addresses; a clone is the same
/// registration.
#[derive(Clone, Debug)]
pub(crate) struct WindowParts(Arc<[Part]>);

impl WindowParts {
    /// Registers the parts of the window.
    ///
    /// # Errors
    /// The device's refusal, or more parts than [`PARTS`].
    pub(crate) fn register(hca: &hca::Device, window: &Window) -> Result<Self, Error> {
        let parts: Vec<_> = window.parts().iter().filter(|part| part.len > 0).collect();
        if parts.len() > PARTS {
            return Err(Error::Scattered(parts.len()));
        }
        let mut registered = Vec::new();
        for (number, part) in parts.into_iter().enumerate() {
            // SAFETY: the part is mapped as long as the domain, and the fabric's users know that
            // peers write it.
            let region = unsafe { hca.register(part.base as *mut u8, part.len)? };
            if hca.hides_memory_from_children() {
                show_to_children(part);
            }
            registered.push(Part {
                region,
                base: part.base,
                len: part.len,
                number,
            });
        }
        registered.sort_by_key(|part: &Part| part.base);
        Ok(Self(registered.into()))
    }

    /// Returns the part that has `bytes` bytes at `addr`.
    fn part_of(&self, addr: usize, bytes: usize) -> Option<&Part> {
        self.0.iter().find(|part| part.has(addr, bytes))
    }

    /// Tells whether `bytes` bytes at `addr` are in one part, and so in one of every peer's.
    pub(crate) fn has(&self, addr: usize, bytes: usize) -> bool {
        self.part_of(addr, bytes).is_some()
    }

    /// Returns the local key of the part that has `bytes` bytes at `addr`.
    pub(crate) fn key_of(&self, addr: usize, bytes: usize) -> Option<u32> {
        self.part_of(addr, bytes).map(|part| part.region.lkey())
    }

    /// Returns the local keys of the parts.
    pub(crate) fn keys(&self) -> [u32; PARTS] {
        let mut keys = [0; PARTS];
        for (key, part) in keys.iter_mut().zip(self.0.iter()) {
            *key = part.region.lkey();
        }
        keys
    }

    /// Returns the address of the lowest part, 0 without any.
    pub(crate) fn lowest(&self) -> usize {
        self.0.first().map_or(0, |part| part.base)
    }

    /// Returns the place at which the second part begins, in bytes from `base`, the window's.
    pub(crate) fn split(&self, base: usize) -> usize {
        self.0.get(1).map_or(usize::MAX, |part| part.base - base)
    }

    /// Returns the ends of the parts, in bytes from the lowest one's base.
    pub(crate) fn ends(&self) -> [usize; PARTS] {
        let base = self.lowest();
        let mut ends = [0; PARTS];
        for (end, part) in ends.iter_mut().zip(self.0.iter()) {
            *end = part.base + part.len - base;
        }
        ends
    }

    /// Returns the bases of the parts and the keys for peers, in the order in which all processes
    /// have them.
    pub(crate) fn for_peers(&self) -> ([u64; PARTS], [u32; PARTS]) {
        let (mut bases, mut keys) = ([0; PARTS], [0; PARTS]);
        for part in self.0.iter() {
            bases[part.number] = part.base as u64;
            keys[part.number] = part.region.rkey();
        }
        (bases, keys)
    }

    /// Puts a peer's bases and keys, which are in the order of [`WindowParts::for_peers`], into the
    /// order of the own parts' addresses.
    pub(crate) fn in_own_order(
        &self,
        peer_bases: &[u64; PARTS],
        peer_keys: &[u32; PARTS],
    ) -> ([u64; PARTS], [u32; PARTS]) {
        let (mut bases, mut keys) = ([0; PARTS], [0; PARTS]);
        for (place, part) in self.0.iter().enumerate() {
            bases[place] = peer_bases[part.number];
            keys[place] = peer_keys[part.number];
        }
        (bases, keys)
    }
}

/// Takes back the library's advice to the kernel to keep registered memory from forked children:
/// they would be without their static data. Shared pages are never copied for one of their
/// processes, so that a device always has the process's own.
fn show_to_children(part: &MemoryRegion) {
    // SAFETY: the part is mapped, and nothing about this process's own use of it changes. After a
    // failure the advice stands.
    unsafe { libc::madvise(part.base as *mut libc::c_void, part.len, libc::MADV_DOFORK) };
}
