//! Memory in the place of several pieces.

#![expect(
    unsafe_code,
    reason = "gathers bytes by their C addresses, and frees memory that it has made"
)]

use crate::raw::error::Error;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Memory of the endpoint's in the place of pieces: for a message that comes.
#[derive(Debug)]
pub(super) struct Landing {
    memory: *mut [u8],
    pub(super) pieces: Box<[(*mut u8, usize)]>,
}

/// Memory in the place of pieces, by its addresses: a handle, for those that take such memory from
/// each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Landings(pub(super) Rc<RefCell<HashMap<*mut u8, Landing>>>);

impl Landings {
    /// Returns the only piece, or memory that stands for several.
    pub(super) fn whole(&self, pieces: &[(*mut u8, usize)]) -> Result<(*mut u8, usize), Error> {
        match pieces {
            &[whole] => Ok(whole),
            _ => self.landing(pieces),
        }
    }

    /// Makes memory that stands for pieces; returns its address and their length.
    pub(super) fn landing(&self, pieces: &[(*mut u8, usize)]) -> Result<(*mut u8, usize), Error> {
        let len = sum(pieces.iter().map(|(_, len)| *len))?;
        // Even one without bytes has an address of its own.
        let memory = Box::into_raw(zeroed(len.max(1))?.into_boxed_slice());
        let address = memory.cast::<u8>();
        let landing = Landing {
            memory,
            pieces: pieces.into(),
        };
        self.0.borrow_mut().insert(address, landing);
        Ok((address, len))
    }

    /// Lets the memory at an address go, if it stands for pieces.
    pub(super) fn let_go(&self, buffer: Option<*mut u8>) {
        if let Some(buffer) = buffer {
            self.0.borrow_mut().remove(&buffer);
        }
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        // SAFETY: the memory was a box's, and nobody else frees it.
        drop(unsafe { Box::from_raw(self.memory) });
    }
}

/// Returns zeroed memory.
///
/// # Errors
/// [`Error::NoRoom`].
fn zeroed(len: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| Error::NoRoom)?;
    bytes.resize(len, 0);
    Ok(bytes)
}

/// Returns the number of bytes of all pieces.
fn sum(mut lengths: impl Iterator<Item = usize>) -> Result<usize, Error> {
    let sum = lengths.try_fold(0_usize, usize::checked_add);
    sum.filter(|sum| isize::try_from(*sum).is_ok())
        .ok_or(Error::TooLong)
}

/// Returns the bytes of all pieces, one behind the other.
///
/// # Errors
/// [`Error::NoRoom`]; [`Error::TooLong`] where there cannot be so many.
///
/// # Safety
/// Each piece holds its bytes.
pub(super) unsafe fn gathered(pieces: &[(*const u8, usize)]) -> Result<Vec<u8>, Error> {
    let mut whole = zeroed(sum(pieces.iter().map(|(_, len)| *len))?)?;
    let mut at = 0;
    for (piece, len) in pieces.iter().filter(|(_, len)| *len > 0) {
        // SAFETY: the piece holds its bytes, and there is room for those of all.
        unsafe { piece.copy_to(whole[at..].as_mut_ptr(), *len) };
        at += len;
    }
    Ok(whole)
}
