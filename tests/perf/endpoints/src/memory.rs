//! Memory that a device reads and writes while threads do.

#![expect(
    unsafe_code,
    reason = "memory that others change is reached by raw pointers"
)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{Ordering, fence};

/// The alignment: that of pages.
const PAGE: usize = 4096;

/// Memory of whole pages, zero at first. Everything in it is read and written in words of 8 bytes, or single bytes.
#[derive(Debug)]
pub(crate) struct Memory {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it is memory, and its use by threads at a time is the benchmark's business: accesses are
// volatile.
unsafe impl Send for Memory {}
// SAFETY: the use of the memory by threads at a time is the benchmark's business: accesses are
// volatile.
unsafe impl Sync for Memory {}

impl Memory {
    /// Allocates at least so many bytes.
    pub(crate) fn new(len: usize) -> Self {
        let len = len.max(1).next_multiple_of(PAGE);
        let layout = Layout::from_size_align(len, PAGE).expect("a size");
        // SAFETY: the length is not zero.
        let base = unsafe { alloc_zeroed(layout) };
        let Some(base) = NonNull::new(base) else {
            handle_alloc_error(layout)
        };
        Self { base, layout }
    }

    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.layout.size()
    }

    /// Returns the byte at `offset`.
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.len(), "{offset} of {} bytes", self.len());
        self.base.as_ptr().wrapping_add(offset)
    }

    /// Returns its address, as the device knows it.
    pub(crate) fn address(&self, offset: usize) -> u64 {
        self.at(offset).addr() as u64
    }

    fn word_at(&self, offset: usize) -> *mut u64 {
        assert!(offset.is_multiple_of(size_of::<u64>()) && offset + size_of::<u64>() <= self.len());
        self.at(offset).cast()
    }

    /// Returns the word at `offset`; the writes before it there are seen, too.
    pub(crate) fn load(&self, offset: usize) -> u64 {
        // SAFETY: within the memory and aligned; volatile, because the device writes it.
        let word = unsafe { self.word_at(offset).read_volatile() };
        // ORDERING: pairs with the device, which writes the data of one queue's entries in order.
        fence(Ordering::Acquire);
        word
    }

    /// Sets the word at `offset`.
    pub(crate) fn store(&self, offset: usize, word: u64) {
        // SAFETY: within the memory and aligned; volatile, because the device reads it.
        unsafe { self.word_at(offset).write_volatile(word) };
    }

    /// Returns the number at `offset`.
    pub(crate) fn number(&self, offset: usize) -> f64 {
        f64::from_bits(self.load(offset))
    }

    /// Sets the number at `offset`.
    pub(crate) fn set_number(&self, offset: usize, number: f64) {
        self.store(offset, number.to_bits());
    }

    /// Returns the byte at `offset`.
    pub(crate) fn byte(&self, offset: usize) -> u8 {
        // SAFETY: within the memory; volatile, because the device writes it.
        unsafe { self.at(offset).read_volatile() }
    }

    /// Sets the byte at `offset`.
    pub(crate) fn set_byte(&self, offset: usize, byte: u8) {
        // SAFETY: within the memory; volatile, because the device reads it.
        unsafe { self.at(offset).write_volatile(byte) };
    }

    /// Sets the numbers from `offset` on.
    pub(crate) fn set_numbers(&self, offset: usize, numbers: &[f64]) {
        for (at, &number) in numbers.iter().enumerate() {
            self.set_number(offset + at * size_of::<f64>(), number);
        }
    }

    /// Reads the numbers from `offset` on into a slice.
    pub(crate) fn numbers(&self, offset: usize, into: &mut [f64]) {
        for (at, number) in into.iter_mut().enumerate() {
            *number = self.number(offset + at * size_of::<f64>());
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; regions on it are gone before (their owners drop them first).
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}
