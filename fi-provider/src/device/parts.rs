//! The parts of the own window as a device knows them: where each lies, and by which keys.

#![expect(
    unsafe_code,
    reason = "registers memory, and undoes advice to the kernel about it"
)]

use crate::device::error::Error;
use crate::symmetric::parts::Parts;
use crate::symmetric::remote::PARTS;
use crate::symmetric::window::{MemoryRegion, Window};
use fi_mlx5::device::{self as hca, Region};
use std::ops::Deref;
use std::sync::Arc;

/// The registered parts of the own window; a clone is the same registration.
#[derive(Clone, Debug)]
pub(crate) struct WindowParts {
    parts: Parts,
    /// Regions of the parts, in the order of their addresses.
    regions: Arc<[Region]>,
}

impl Deref for WindowParts {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

impl WindowParts {
    /// Registers the parts of the window.
    ///
    /// # Errors
    /// The device's refusal, or more parts than [`PARTS`].
    pub(crate) fn register(hca: &hca::Device, window: &Window) -> Result<Self, Error> {
        let parts = Parts::of(window).map_err(Error::Scattered)?;
        let mut regions = Vec::new();
        for part in parts.all() {
            let MemoryRegion { base, len, .. } = part.region;
            // SAFETY: the part is mapped as long as the domain, and the fabric's users know that
            // peers write it.
            regions.push(unsafe { hca.register(base as *mut u8, len)? });
            if hca.hides_memory_from_children() {
                show_to_children(&part.region);
            }
        }
        Ok(Self {
            parts,
            regions: regions.into(),
        })
    }

    /// Tells whether `bytes` bytes at `addr` are in one part, and so in one of every peer's.
    pub(crate) fn has(&self, addr: usize, bytes: usize) -> bool {
        self.place_of(addr, bytes).is_some()
    }

    /// Returns the local key of the part that has `bytes` bytes at `addr`.
    pub(crate) fn key_of(&self, addr: usize, bytes: usize) -> Option<u32> {
        let place = self.place_of(addr, bytes)?;
        Some(self.regions[place].lkey())
    }

    /// Returns the local keys of the parts.
    pub(crate) fn keys(&self) -> [u32; PARTS] {
        let mut keys = [0; PARTS];
        for (key, region) in keys.iter_mut().zip(self.regions.iter()) {
            *key = region.lkey();
        }
        keys
    }

    /// Returns the bases of the parts and the keys for peers, in the order in which all processes
    /// have them.
    pub(crate) fn for_peers(&self) -> ([u64; PARTS], [u32; PARTS]) {
        let parts = self.all().iter();
        let bases: Vec<_> = parts.map(|part| part.region.base as u64).collect();
        let keys: Vec<_> = self.regions.iter().map(Region::rkey).collect();
        (self.by_number(&bases), self.by_number(&keys))
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
