//! Registered memory.

use super::context::Protection;
use crate::error::Error;
use crate::verbs::core::{Mr, access};
use std::io;
use std::ops::BitOr;
use std::ptr::NonNull;
use std::sync::Arc;

/// The rights of peers to registered memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights(u32);

impl Rights {
    /// None: the memory is for this process's own entries.
    pub const NONE: Self = Self(0);
    /// To read.
    pub const READ: Self = Self(access::REMOTE_READ);
    /// To write.
    pub const WRITE: Self = Self(access::REMOTE_WRITE);
    /// To do atomics.
    pub const ATOMIC: Self = Self(access::REMOTE_ATOMIC);
    /// All of them.
    pub const ALL: Self = Self(access::REMOTE);

    /// Returns the flags of libibverbs, with the process's own right to write, which it always has.
    fn bits(self) -> std::ffi::c_int {
        (self.0 | access::LOCAL_WRITE).cast_signed()
    }
}

impl BitOr for Rights {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

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
        rights: Rights,
    ) -> Result<Self, Error> {
        let (register, pd) = (protection.context.library.reg_mr, protection.raw());
        // SAFETY: the domain is alive; the bytes are mapped, readable and writable.
        let mr = unsafe { register(pd.as_ptr(), base.cast(), len, rights.bits()) };
        Self::made("ibv_reg_mr", protection, mr, len)
    }

    /// # Safety
    /// As for [`super::Device::register`].
    pub(super) unsafe fn at(
        protection: &Arc<Protection>,
        base: *mut u8,
        len: usize,
        io_address: u64,
        rights: Rights,
    ) -> Result<Self, Error> {
        let register = protection.context.library.register_at()?;
        let (pd, rights) = (protection.raw(), rights.bits());
        // SAFETY: the domain is alive; the bytes are mapped, readable and writable.
        let mr = unsafe { register(pd.as_ptr(), base.cast(), len, io_address, rights) };
        Self::made("ibv_reg_mr_iova", protection, mr, len)
    }

    /// Returns the region of `len` bytes that `call` gave, or the error for which it gave none.
    fn made(
        call: &'static str,
        protection: &Arc<Protection>,
        mr: *mut Mr,
        len: usize,
    ) -> Result<Self, Error> {
        let context = &protection.context;
        let mr = NonNull::new(mr)
            .ok_or_else(|| Error::of(call, io::Error::last_os_error(), Some(len)))?;
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

    /// Returns the key by which own entries name it.
    #[must_use]
    pub fn lkey(&self) -> u32 {
        self.lkey
    }

    /// Returns the key by which peers' entries name it.
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
