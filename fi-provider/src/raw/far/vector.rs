//! Reading and writing memory of peers over the device from and to several pieces of registered
//! memory, by one entry.

#![expect(unsafe_code, reason = "posts operations on registered memory")]

use super::log::After;
use super::path::FarPath;
use crate::raw::completion::{Operation, Report};
use crate::raw::endpoint::{Endpoint, RemoteRegion};
use crate::raw::error::Error;
use fi_mlx5::lane::{Atomic, Lane, Local};

/// The most pieces of an entry.
pub(crate) const MOST_PIECES: usize = Lane::SEGMENTS;

impl Endpoint {
    /// Writes pieces of registered memory, at most [`MOST_PIECES`], to one place, one behind the
    /// other.
    ///
    /// # Errors
    /// [`Error::Again`], [`Error::PeerGone`].
    ///
    /// # Safety
    /// The pieces stay registered, and as they are, until the operation is reported.
    pub(crate) unsafe fn write_gathered_far<R: Report>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        address: u64,
        pieces: &[Local],
        report: R,
    ) -> Result<(), Error> {
        self.start_far(&region.link, path, report)?;
        let to = path.to(address, region.found.device_key);
        let lane = path.memory_lane();
        // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
        // pieces are registered until the operation is done.
        let posted = unsafe { lane.write_gathered(to, pieces.iter().copied()) };
        let what = (Operation::Write, bytes(pieces), report);
        self.note_posted(path, region.follows, what, posted, (After::Nothing, None))
    }

    /// Reads from one place into pieces of registered memory, at most [`MOST_PIECES`], of which one
    /// is filled after the other.
    ///
    /// # Errors
    /// As [`Endpoint::write_gathered_far`].
    ///
    /// # Safety
    /// The pieces stay registered, and are nobody else's, until the operation is reported.
    pub(crate) unsafe fn read_scattered_far<R: Report>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        address: u64,
        pieces: &[Local],
        report: R,
    ) -> Result<(), Error> {
        self.start_far(&region.link, path, report)?;
        let to = path.to(address, region.found.device_key);
        let lane = path.memory_lane();
        // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
        // pieces are registered until the operation is done.
        let posted = unsafe { lane.read_scattered(to, pieces.iter().copied()) };
        let what = (Operation::Read, bytes(pieces), report);
        self.note_posted(path, region.follows, what, posted, (After::Nothing, None))
    }

    /// Has the device do an atomic operation that is a part of another one.
    ///
    /// # Errors
    /// As [`Endpoint::write_gathered_far`].
    ///
    /// # Safety
    /// As [`Endpoint::fetch_atomic`].
    pub(super) unsafe fn atomic_part_far<R: Report>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        (address, entry): (u64, &Atomic),
        (found, bytes): (*mut u8, usize),
        report: R,
    ) -> Result<(), Error> {
        self.start_far(&region.link, path, report)?;
        let Some(kept) = path.hub.memory.claim_free(bytes) else {
            self.unstart_far(report);
            return Err(Error::Again);
        };
        let to = path.to(address, region.found.device_key);
        // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
        // piece is registered until the operation is done.
        let posted = unsafe { path.memory_lane().atomic(to, entry, kept.local) };
        let what = (Operation::Atomic, bytes, report);
        let after = After::Word(kept, found, bytes);
        self.note_posted(path, region.follows, what, posted, (after, None))
    }
}

/// Takes the word of 4 or 8 `bytes` that an atomic operation has brought to its place.
///
/// # Safety
/// The local memory holds the word, aligned; `dest` has room for it.
pub(super) unsafe fn take_word(local: Local, dest: *mut u8, bytes: usize) {
    // SAFETY: the local memory holds the word, aligned, and the destination has room for it.
    unsafe {
        if bytes == 4 {
            // The device gives results of four bytes in its own order.
            let word = (local.address as *const u32).read_volatile();
            dest.cast::<u32>().write_unaligned(u32::from_be(word));
        } else {
            let word = (local.address as *const u64).read_volatile();
            dest.cast::<u64>().write_unaligned(word);
        }
    }
}

fn bytes(pieces: &[Local]) -> usize {
    pieces.iter().map(|piece| piece.length as usize).sum()
}
