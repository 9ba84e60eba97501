//! Registered memory.

use super::context::Protection;
use crate::error::Error;
use crate::verbs::core::Mr;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

/// Memory that the device may read and write, for its process and for peers that know the key.
#[derive(Debug)]
pub struct Region {
    mr: NonNull<Mr>,
    lkey: u32,
    rkey: u32,
    protection: Arc<Protection>,
}

// SAFETY: libibverbs lets any thread use a region.
unsafe impl Send for Region {}
// SAFETY: libibverbs lets several threads do so at a time.
unsafe impl Sync for Region {}

impl Region {
    /// # Safety
    /// As for [`super::Device::register`].
    pub(super) unsafe fn new(
        protection: &Arc<Protection>,
        base: *mut u8,
        len: usize,
        rights: u32,
    ) -> Result<Self, Error> {
        let context = &protection.context;
        let rights = rights.cast_signed();
        // SAFETY: the domain is alive; the bytes are mapped, readable and writable.
        let mr = unsafe {
            (context.library.reg_mr)(protection.raw().as_ptr(), base.cast(), len, rights)
        };
        let mr = NonNull::new(mr)
            .ok_or_else(|| Error::of("ibv_reg_mr", io::Error::last_os_error(), Some(len)))?;
        // SAFETY: the library gave a region, whose keys do not change.
        let (lkey, rkey) = unsafe { (mr.as_ref().lkey, mr.as_ref().rkey) };
        context.book.note(|objects| objects.regions += 1);
        Ok(Self {
            mr,
            lkey,
            rkey,
            protection: Arc::clone(protection),
        })
    }

    /// The key by which own entries name it.
    #[must_use]
    pub fn lkey(&self) -> u32 {
        self.lkey
    }

    /// The key by which peers' entries name it.
    #[must_use]
    pub fn rkey(&self) -> u32 {
        self.rkey
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let context = &self.protection.context;
        context.book.note(|objects| objects.regions -= 1);
        // SAFETY: it is the library's, and deregistered once.
        context.close(|library| unsafe { (library.dereg_mr)(self.mr.as_ptr()) });
    }
}
