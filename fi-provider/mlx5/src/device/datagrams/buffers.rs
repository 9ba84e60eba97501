//! Registered memory of datagrams.

use super::super::context::Protection;
use super::super::region::{Region, Rights};
use crate::error::Error;
use crate::verbs::datagrams::Sge;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::Arc;

const PAGE: usize = 4096;

/// Buffers of one length. Their pages are their own: children may lack registered ones.
#[derive(Debug)]
pub(super) struct Buffers {
    // The region goes first.
    region: Region,
    pages: Pages,
    count: u32,
    bytes: usize,
}

#[derive(Debug)]
struct Pages {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: nothing in the memory belongs to a thread.
unsafe impl Send for Pages {}

impl Buffers {
    pub(super) fn new(
        protection: &Arc<Protection>,
        count: u32,
        bytes: usize,
    ) -> Result<Self, Error> {
        let pages = Pages::new(count as usize * bytes);
        let (base, len) = (pages.base.as_ptr(), pages.layout.size());
        // SAFETY: the bytes are mapped, readable and writable, and nobody has references to them.
        let region = unsafe { Region::new(protection, base, len, Rights::NONE)? };
        Ok(Self {
            region,
            pages,
            count,
            bytes,
        })
    }

    /// Returns the address of the `len` bytes of a buffer from `at` on.
    fn place(&self, buffer: u32, at: usize, len: usize) -> *mut u8 {
        assert!(buffer < self.count && at + len <= self.bytes);
        let at = buffer as usize * self.bytes + at;
        self.pages.base.as_ptr().wrapping_add(at)
    }

    /// Returns a whole buffer, for a request.
    pub(super) fn piece(&self, buffer: u32) -> Sge {
        Sge {
            addr: self.place(buffer, 0, self.bytes).addr() as u64,
            length: self.bytes as u32,
            lkey: self.region.lkey(),
        }
    }

    /// Copies into a buffer that the device does not have.
    pub(super) fn fill(&mut self, buffer: u32, bytes: &[u8]) {
        let place = self.place(buffer, 0, bytes.len());
        // SAFETY: so many bytes are in the buffer, which is nobody else's.
        unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    /// Copies from a buffer that the device does not have, from byte `at` on.
    pub(super) fn take(&self, buffer: u32, at: usize, into: &mut [u8]) {
        let place = self.place(buffer, at, into.len());
        // SAFETY: so many bytes are in the buffer, and nobody writes there.
        unsafe { place.copy_to_nonoverlapping(into.as_mut_ptr(), into.len()) };
    }
}

impl Pages {
    fn new(bytes: usize) -> Self {
        let size = bytes.next_multiple_of(PAGE);
        let layout = Layout::from_size_align(size, PAGE).expect("a size");
        // SAFETY: the size is not 0: there is a buffer.
        let base = unsafe { alloc_zeroed(layout) };
        let base = NonNull::new(base).unwrap_or_else(|| handle_alloc_error(layout));
        Self { base, layout }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated so, and the device no longer has it: its region is gone.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}
