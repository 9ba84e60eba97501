//! Registered memory by which transfers go whose own memory is not, or must not be waited for.

use crate::error::Error;
use crate::objects::{Objects, Registration};
use std::cell::UnsafeCell;
use std::ffi::c_void;

/// Bytes of a piece, and the number of pieces.
pub(crate) const PIECE: usize = 64 << 10;
const COUNT: usize = 16;

/// Pieces of memory, each used by one operation at a time.
#[derive(Debug)]
pub(crate) struct Pieces {
    memory: Box<[UnsafeCell<u8>]>,
    registration: Option<Registration>,
    free: Vec<usize>,
}

impl Pieces {
    /// Makes them, registered where the provider asks for that.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub(crate) fn new(objects: &mut Objects, is_registered: bool) -> Result<Self, Error> {
        let bytes = (0..PIECE * COUNT).map(|_| UnsafeCell::new(0));
        let memory: Box<[UnsafeCell<u8>]> = bytes.collect();
        let (start, len) = (memory[0].get(), memory.len());
        let registration = is_registered
            // SAFETY: the memory is kept until the registration has ended.
            .then(|| unsafe { objects.register(start, len, false) })
            .transpose()?;
        Ok(Self {
            memory,
            registration,
            free: (0..COUNT).rev().collect(),
        })
    }

    /// Returns a piece that nobody uses; none where all are in use.
    pub(crate) fn take(&mut self) -> Option<usize> {
        self.free.pop()
    }

    pub(crate) fn give_back(&mut self, piece: usize) {
        self.free.push(piece);
    }

    /// Returns the address of a piece.
    pub(crate) fn at(&self, piece: usize) -> *mut u8 {
        self.memory[piece * PIECE..][..PIECE]
            .as_ptr()
            .cast_mut()
            .cast()
    }

    /// Returns the descriptor for local accesses.
    pub(crate) fn descriptor(&self) -> *mut c_void {
        let registration = self.registration.as_ref();
        registration.map_or(std::ptr::null_mut(), |one| one.descriptor)
    }

    pub(crate) fn close(&mut self) {
        if let Some(registration) = self.registration.take() {
            Objects::deregister(&registration);
        }
    }
}
