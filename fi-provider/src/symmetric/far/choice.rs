//! The far part of each operation, by the transport of the endpoint.

#![expect(
    unsafe_code,
    reason = "C memory is given to the transport by its address"
)]

use super::{Cause, Far, Source, refused};
use crate::device::amo::Amo;
use crate::symmetric::Error;
use crate::symmetric::address_vector::{Peer, PeerIndex};
use crate::symmetric::blocks::Blocks;
use crate::symmetric::endpoint::Endpoint;
use std::time::Duration;

impl Endpoint {
    /// Returns whether writes are to be tried by [`Endpoint::try_write`].
    #[inline(always)]
    pub(crate) fn tries_writes(&self) -> bool {
        matches!(self.far, Far::Libfabric(_))
    }

    /// Writes an element of `BYTES` bytes, 4 or 8, on the peer of this record, which is on another
    /// node, as a message: so many bytes behind the begin of the window's upper part, and false
    /// where that is none. Has done nothing where it returns false.
    ///
    /// # Safety
    /// It is below `by_message`.
    #[inline(always)]
    pub(crate) unsafe fn swap_element<const BYTES: usize>(
        &self,
        inside: (usize, bool),
        word: impl FnOnce() -> u64,
        record: &Peer,
    ) -> bool {
        match &self.far {
            // SAFETY: that length is libfabric's alone.
            Far::None | Far::Mlx5(_) => unsafe { std::hint::unreachable_unchecked() },
            // SAFETY: it is that of lanes of one thread whose elements go as messages.
            Far::Libfabric(far) => unsafe { far.swap_element::<BYTES>(self, inside, word, record) },
        }
    }

    /// Writes the 8 bytes at `source`, which stay there until quiet, in the same way but as a write.
    ///
    /// # Safety
    /// As [`Endpoint::swap_element`]; `source` holds the bytes.
    #[inline(always)]
    pub(crate) unsafe fn write_kept_word(
        &self,
        inside: (usize, bool),
        source: *const u8,
        record: &Peer,
    ) -> bool {
        match &self.far {
            // SAFETY: that length is libfabric's alone.
            Far::None | Far::Mlx5(_) => unsafe { std::hint::unreachable_unchecked() },
            // SAFETY: `source` holds the bytes.
            Far::Libfabric(far) => unsafe { far.write_kept_word(self, inside, source, record) },
        }
    }

    /// Writes an element of `BYTES` bytes, 1, 2, 4 or 8, the first of a word, `offset` bytes from the
    /// own window's base, on the peer of this record, which is on another node, in the common case of
    /// a transport whose posts are not in line: in the upper part of the window, or else in the
    /// lower. Has done nothing where it returns false.
    #[inline(always)]
    pub(crate) fn try_write_element<const BYTES: usize, const UPPER: bool>(
        &self,
        offset: usize,
        word: u64,
        record: &Peer,
    ) -> bool {
        match &self.far {
            Far::None | Far::Mlx5(_) => false,
            Far::Libfabric(far) => {
                far.try_write_element::<BYTES, UPPER>(self, offset, word, record)
            }
        }
    }

    /// Does as [`Endpoint::write_far`], in the common case of a transport whose posts are not in
    /// line. Has done nothing where it returns false.
    ///
    /// # Safety
    /// As [`Endpoint::write_far`].
    #[inline(always)]
    pub(crate) unsafe fn try_write(
        &self,
        dest: usize,
        source: *const u8,
        bytes: usize,
        peer: PeerIndex,
        kept: Source,
    ) -> bool {
        match &self.far {
            Far::None | Far::Mlx5(_) => false,
            // SAFETY: `source` holds the bytes.
            Far::Libfabric(far) => unsafe { far.try_write(self, dest, source, bytes, peer, kept) },
        }
    }

    /// Writes `bytes` bytes to the own address `dest` on `peer`.
    ///
    /// # Errors
    /// [`Error::NoSuchPeer`], [`Error::NotInWindow`], [`Error::PastWindow`], [`Error::TooLong`],
    /// [`Error::NotEnabled`], and those of the device. No bytes are no error, at any address.
    ///
    /// # Safety
    /// `source` holds the bytes, and stays as it is as long as `kept` says.
    #[cold]
    pub(crate) unsafe fn write_far(
        &self,
        dest: usize,
        source: *const u8,
        bytes: usize,
        peer: PeerIndex,
        kept: Source,
    ) -> Result<(), Error> {
        match &self.far {
            Far::None => self.refuse_transfer(dest, bytes, peer),
            // SAFETY: `source` holds the bytes, and stays as it is as long as `kept` says.
            Far::Mlx5(mlx5) => unsafe { mlx5.write(self, dest, source, bytes, peer, kept) },
            // SAFETY: `source` holds the bytes, and stays as it is as long as `kept` says.
            Far::Libfabric(far) => unsafe { far.write(self, dest, source, bytes, peer, kept) },
        }
    }

    /// Reads `bytes` bytes from the own address `source` on `peer`; they are in `dest` when the
    /// call returns, or after quiet if it need not `wait`.
    ///
    /// # Errors
    /// As [`Endpoint::write_far`].
    ///
    /// # Safety
    /// `dest` has room for the bytes, and nobody else uses it until quiet where the call does not
    /// `wait`.
    #[cold]
    pub(crate) unsafe fn read_far(
        &self,
        dest: *mut u8,
        source: usize,
        bytes: usize,
        peer: PeerIndex,
        wait: bool,
    ) -> Result<(), Error> {
        match &self.far {
            Far::None => self.refuse_transfer(source, bytes, peer),
            // SAFETY: `dest` has room for the bytes, and nobody else uses it until quiet where the
            // call does not `wait`.
            Far::Mlx5(mlx5) => unsafe { mlx5.read(self, dest, source, bytes, peer, wait) },
            // SAFETY: `dest` has room for the bytes, and nobody else uses it until quiet where the
            // call does not `wait`.
            Far::Libfabric(far) => unsafe { far.read(self, dest, source, bytes, peer, wait) },
        }
    }

    /// Writes blocks of which the first begins at the own address `dest` on `peer`; all numbers are
    /// of bytes. The source may be changed when the call returns.
    ///
    /// # Errors
    /// As [`Endpoint::write_far`], for all the memory from the first to the last byte.
    ///
    /// # Safety
    /// `source` holds the blocks.
    #[cold]
    pub(crate) unsafe fn write_blocks_far(
        &self,
        dest: usize,
        source: *const u8,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        match &self.far {
            Far::None => self.refuse_transfer(dest, blocks.span(blocks.dest_stride), peer),
            // SAFETY: `source` holds the blocks.
            Far::Mlx5(mlx5) => unsafe { mlx5.write_blocks(self, dest, source, blocks, peer) },
            // SAFETY: `source` holds the blocks.
            Far::Libfabric(far) => unsafe { far.write_blocks(self, dest, source, blocks, peer) },
        }
    }

    /// Reads blocks of which the first begins at the own address `source` on `peer`; all numbers
    /// are of bytes.
    ///
    /// # Errors
    /// As [`Endpoint::write_far`], for all the memory from the first to the last byte.
    ///
    /// # Safety
    /// `dest` has room for the blocks.
    #[cold]
    pub(crate) unsafe fn read_blocks_far(
        &self,
        dest: *mut u8,
        source: usize,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        match &self.far {
            Far::None => self.refuse_transfer(source, blocks.span(blocks.source_stride), peer),
            // SAFETY: `dest` has room for the blocks.
            Far::Mlx5(mlx5) => unsafe { mlx5.read_blocks(self, dest, source, blocks, peer) },
            // SAFETY: `dest` has room for the blocks.
            Far::Libfabric(far) => unsafe { far.read_blocks(self, dest, source, blocks, peer) },
        }
    }

    /// Does an atomic operation on the object of `bytes` bytes (4 or 8) at the own address `target`
    /// on `peer`. Waits only where the device has no such operation.
    ///
    /// # Errors
    /// As [`Endpoint::write_far`], and [`Error::Unsupported`], [`Error::Misaligned`].
    #[cold]
    pub(crate) fn update_far(
        &self,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        match &self.far {
            Far::None => Err(self.refusal(target, bytes, peer)),
            Far::Mlx5(mlx5) => mlx5.update(self, what, target, bytes, peer),
            Far::Libfabric(far) => far.update(self, what, target, bytes, peer),
        }
    }

    /// Does as [`Endpoint::update_far`], and returns the previous value.
    ///
    /// # Errors
    /// As [`Endpoint::update_far`].
    #[cold]
    pub(crate) fn fetch_far(
        &self,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<u64, Error> {
        match &self.far {
            Far::None => Err(self.refusal(target, bytes, peer)),
            Far::Mlx5(mlx5) => mlx5.fetch(self, what, target, bytes, peer),
            Far::Libfabric(far) => far.fetch(self, what, target, bytes, peer),
        }
    }

    /// Does as [`Endpoint::fetch_far`], but the old value is at `dest` after quiet. Waits only
    /// where too many of them are outstanding, or where the device does not have the operation.
    ///
    /// # Errors
    /// As [`Endpoint::update_far`].
    ///
    /// # Safety
    /// `dest` has room for the bytes, and nobody else uses them until quiet.
    #[cold]
    pub(crate) unsafe fn start_fetch_far(
        &self,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
        dest: *mut u8,
    ) -> Result<(), Error> {
        match &self.far {
            Far::None => Err(self.refusal(target, bytes, peer)),
            // SAFETY: `dest` has room for the bytes, and nobody else uses them until quiet.
            Far::Mlx5(mlx5) => unsafe { mlx5.start_fetch(self, what, target, bytes, peer, dest) },
            // SAFETY: `dest` has room for the bytes, and nobody else uses them until quiet.
            Far::Libfabric(far) => unsafe {
                far.start_fetch(self, what, target, bytes, peer, dest)
            },
        }
    }

    /// Does [`Endpoint::fence`] where operations are outstanding.
    ///
    /// # Errors
    /// [`Error::NotEnabled`], and those of the device.
    #[cold]
    pub(crate) fn fence_far(&self) -> Result<(), Error> {
        match &self.far {
            Far::None => Err(Error::NotEnabled),
            Far::Mlx5(mlx5) => mlx5.fence(self),
            Far::Libfabric(far) => far.fence(),
        }
    }

    /// Does [`Endpoint::quiet`] where one operation is outstanding over a device, and is done;
    /// returns false otherwise, and none over another transport. For functions out of line.
    #[inline(always)]
    pub(crate) fn quiet_one_far(&self) -> Option<bool> {
        match &self.far {
            Far::Mlx5(mlx5) => Some(mlx5.quiet_one(self)),
            Far::None | Far::Libfabric(_) => None,
        }
    }

    /// Does [`Endpoint::quiet`] where [`Endpoint::quiet_one_far`] has none: after one look at the
    /// completion queue; gives the word back where that is not enough. The word is at most 8 bytes.
    #[inline(always)]
    pub(crate) fn quiet_look_far<W: Copy>(&self, word: W) -> Result<(), W> {
        match &self.far {
            Far::None | Far::Mlx5(_) => Err(word),
            Far::Libfabric(far) => far.quiet_one(self, word),
        }
    }

    /// Does [`Endpoint::quiet`], with any operations outstanding.
    ///
    /// # Errors
    /// [`Error::NotEnabled`], and those of the device.
    #[inline(never)]
    pub(crate) fn quiet_all_far(&self) -> Result<(), Error> {
        match &self.far {
            Far::None => Err(Error::NotEnabled),
            Far::Mlx5(mlx5) => mlx5.quiet_all(self),
            Far::Libfabric(far) => far.quiet_all(self),
        }
    }

    /// Does [`Endpoint::try_quiet`] where operations may be outstanding.
    ///
    /// # Errors
    /// [`Error::NotEnabled`], and those of the device.
    #[cold]
    pub(crate) fn try_quiet_far(&self) -> Result<bool, Error> {
        match &self.far {
            Far::None => Err(Error::NotEnabled),
            Far::Mlx5(mlx5) => mlx5.try_quiet(self),
            Far::Libfabric(far) => far.try_quiet(self),
        }
    }

    /// Writes `value` to word `slot` of the mailbox of `peer`, behind all that this endpoint wrote
    /// there before.
    ///
    /// # Errors
    /// [`Error::NotEnabled`] without a device, [`Error::NoSuchPeer`] also for a word that the
    /// mailbox does not have, and those of the device.
    pub fn post(&self, slot: usize, value: u64, peer: PeerIndex) -> Result<(), Error> {
        match &self.far {
            Far::None => Err(Error::NotEnabled),
            Far::Mlx5(mlx5) => mlx5.mail(self, slot, Some(value), peer).map(drop),
            Far::Libfabric(far) => far.mail(self, slot, Some(value), peer).map(drop),
        }
    }

    /// Reads word `slot` of the mailbox of `peer`.
    ///
    /// # Errors
    /// As [`Endpoint::post`].
    pub fn peek(&self, slot: usize, peer: PeerIndex) -> Result<u64, Error> {
        match &self.far {
            Far::None => Err(Error::NotEnabled),
            Far::Mlx5(mlx5) => mlx5.mail(self, slot, None, peer),
            Far::Libfabric(far) => far.mail(self, slot, None, peer),
        }
    }

    /// Sleeps for so long, or until [`Endpoint::progress`] may have something to do, where a transport
    /// can tell; returns whether it may.
    #[cold]
    pub fn sleep(&self, time: Duration) -> bool {
        match &self.far {
            Far::None | Far::Mlx5(_) => {
                std::thread::sleep(time);
                false
            }
            Far::Libfabric(far) => far.sleep(time),
        }
    }

    /// Returns whether writes of peers arrive by [`Endpoint::progress`] alone, or by a thread that
    /// serves peers in its stead.
    #[inline(always)]
    pub fn needs_progress(&self) -> bool {
        matches!(self.far, Far::Libfabric(_))
    }

    /// Looks once at the completion queue; where it is empty, a software device acts. Waits for
    /// nothing: callers decide when to look again. Returns whether a peer was served.
    ///
    /// # Errors
    /// Those of the device.
    pub fn progress(&self) -> Result<bool, Error> {
        match &self.far {
            Far::None => Ok(false),
            Far::Mlx5(mlx5) => mlx5.progress().map(|()| false),
            Far::Libfabric(far) => Ok(far.progress()),
        }
    }

    /// Returns the peer whose operation made the device refuse those to `peer`, and the cause; or
    /// the first peer of the lane, where none is named. The device stops a queue at the first
    /// operation that fails, and a queue may be that of several peers.
    ///
    /// Returns `None` where nothing has failed, or the peer is none of the endpoint's.
    #[cold]
    pub fn culprit(&self, peer: Option<PeerIndex>) -> Option<(PeerIndex, Cause)> {
        match &self.far {
            Far::None => None,
            Far::Mlx5(mlx5) => {
                let (peer, failure) = mlx5.culprit(self, peer)?;
                Some((peer, Cause::Mlx5(failure)))
            }
            Far::Libfabric(far) => {
                let (peer, failure) = far.culprit(self)?;
                Some((peer, Cause::Libfabric(failure)))
            }
        }
    }

    /// Refuses a transfer of `bytes` bytes at the own address `addr` on `peer`.
    fn refuse_transfer(&self, addr: usize, bytes: usize, peer: PeerIndex) -> Result<(), Error> {
        refused(self.refusal(addr, bytes, peer), bytes)
    }
}
