//! The way to one endpoint, by any path.

#![expect(unsafe_code, reason = "sends bytes by their C address")]

use super::near_path::{NearPath, Seldom};
use crate::raw::address::Address;
use crate::raw::error::Error;
use crate::raw::far::path::FarPath;
use crate::raw::libfabric::path::LibfabricPath;
use crate::raw::near::Near;
use crate::raw::protocol::Kind;
use crate::raw::record::MOST_WORDS;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// A link to an endpoint.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) path: Path,
    /// The longest message that one record takes, in bytes.
    pub(crate) eager: usize,
    /// One more than `eager` where the path is a ring, else 0.
    in_ring: usize,
    is_closed: Cell<bool>,
    /// Records that wait for room.
    pub(crate) owed: RefCell<VecDeque<(Kind, [u64; 3])>>,
    /// Streams that go this way.
    pub(crate) streams: Cell<usize>,
    /// Whether there was no room for one of them, this time.
    pub(crate) is_full: Cell<bool>,
    /// Own operations that wait for the peer.
    pub(crate) asked: Cell<usize>,
    /// Number of those of them that have no number: [`super::injected`].
    pub(super) unnumbered: Cell<usize>,
    pub(crate) address: Address,
    /// The number of the own endpoint.
    pub(crate) own: u32,
    /// As `in_ring` where a store rings the ring's bell ([`NearPath::byte`]), else 0.
    in_byte_ring: usize,
}

/// Path by which records go.
#[derive(Debug)]
pub(crate) enum Path {
    /// A ring of the node.
    Near(NearPath),
    /// The device.
    Far(FarPath),
    /// libfabric's messages.
    Libfabric(LibfabricPath),
}

impl Link {
    /// Makes the link of endpoint `own` to the endpoint of this address, by a path.
    pub(super) fn by(path: Path, own: u32, address: &Address) -> Self {
        let most = match &path {
            Path::Near(path) => path.most,
            Path::Far(path) => path.most(),
            Path::Libfabric(path) => path.most(),
        };
        let eager = most - 8 * MOST_WORDS;
        let (in_ring, in_byte_ring) = match &path {
            Path::Near(path) if path.byte.is_some() => (eager + 1, eager + 1),
            Path::Near(_) => (eager + 1, 0),
            Path::Far(_) | Path::Libfabric(_) => (0, 0),
        };
        Self {
            eager,
            in_ring,
            in_byte_ring,
            path,
            is_closed: Cell::new(false),
            owed: RefCell::default(),
            streams: Cell::new(0),
            is_full: Cell::new(false),
            asked: Cell::new(0),
            unnumbered: Cell::new(0),
            address: address.clone(),
            own,
        }
    }

    /// Returns the number of answers that wait for room.
    pub(crate) fn burden(&self) -> usize {
        self.owed.borrow().len() + self.streams.get()
    }

    /// Sends the records that wait, as there is room. Returns whether that was all.
    pub(crate) fn pay(&self) -> bool {
        let mut owed = self.owed.borrow_mut();
        while let Some(&(kind, words)) = owed.front() {
            if self.tell(kind, words) == Err(Error::Again) {
                return false;
            }
            owed.pop_front();
        }
        true
    }

    /// Returns the process, where it is of this node.
    #[inline(always)]
    pub(crate) fn near(&self) -> Option<&Near> {
        match &self.path {
            Path::Near(path) => Some(&path.near),
            Path::Far(_) | Path::Libfabric(_) => None,
        }
    }

    /// Returns the path over the device, where it is that.
    pub(crate) fn far(&self) -> Option<&FarPath> {
        match &self.path {
            Path::Near(_) | Path::Libfabric(_) => None,
            Path::Far(path) => Some(path),
        }
    }

    /// Returns the path by libfabric, where it is that.
    pub(crate) fn libfabric(&self) -> Option<&LibfabricPath> {
        match &self.path {
            Path::Near(_) | Path::Far(_) => None,
            Path::Libfabric(path) => Some(path),
        }
    }

    /// Returns the address of `len` bytes at `offset` of the peer's arena, if it is mapped here and
    /// has them.
    pub(crate) fn mapped(&self, offset: u64, len: usize) -> Option<*const u8> {
        let near = self.near()?;
        let end = offset.checked_add(len as u64)?;
        (end <= near.len()).then(|| near.at(offset).cast_const())
    }

    /// Reads memory of the peer's process by the kernel; false where it does not copy between the
    /// two.
    ///
    /// # Errors
    /// As [`Near::read`].
    ///
    /// # Safety
    /// `dest` has room for the bytes.
    pub(crate) unsafe fn read_by_kernel(
        &self,
        source: u64,
        dest: *mut u8,
        bytes: usize,
    ) -> Result<bool, Error> {
        // SAFETY: `dest` has room for the bytes.
        self.near()
            .map_or(Ok(false), |near| unsafe { near.read(source, dest, bytes) })
    }

    /// Writes to memory of the peer's process by the kernel; false where it does not copy between
    /// the two.
    ///
    /// # Errors
    /// As [`Near::write`].
    ///
    /// # Safety
    /// `source` holds the bytes.
    pub(crate) unsafe fn write_by_kernel(
        &self,
        dest: u64,
        source: *const u8,
        bytes: usize,
    ) -> Result<bool, Error> {
        // SAFETY: `source` holds the bytes.
        self.near()
            .map_or(Ok(false), |near| unsafe { near.write(dest, source, bytes) })
    }

    /// Returns whether the process runs, as far as is known.
    pub(crate) fn is_alive(&self) -> bool {
        // One after the other: a match of all three is a jump by a table.
        if let Path::Near(path) = &self.path {
            path.near.is_alive()
        } else {
            self.is_alive_beyond()
        }
    }

    #[inline(never)]
    fn is_alive_beyond(&self) -> bool {
        match &self.path {
            Path::Near(path) => path.near.is_alive(),
            Path::Far(path) => path.is_alive(),
            Path::Libfabric(path) => path.is_alive(),
        }
    }

    /// Returns whether the endpoint, or its process, is gone.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closed.get() || !self.is_alive()
    }

    /// Returns whether the peer has said that its endpoint is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// Notes that the endpoint is closed.
    pub(crate) fn close(&self) {
        self.is_closed.set(true);
        match &self.path {
            Path::Near(_) => {}
            Path::Far(path) => path.note_end(),
            Path::Libfabric(path) => path.note_end(),
        }
    }

    /// Returns the ring, if that is the path and takes a message of `len` bytes whole: by one
    /// comparison.
    #[inline(always)]
    pub(crate) fn ring_for(&self, len: usize) -> Option<&NearPath> {
        if len >= self.in_ring {
            return None;
        }
        match &self.path {
            Path::Near(path) => Some(path),
            // SAFETY: `in_ring` is 0 then, and every length at least that.
            Path::Far(_) | Path::Libfabric(_) => unsafe { std::hint::unreachable_unchecked() },
        }
    }

    /// Returns the ring as [`Link::ring_for`] does, where a store rings its bell.
    #[inline(always)]
    pub(super) fn byte_ring_for(&self, len: usize) -> Option<&NearPath> {
        if len >= self.in_byte_ring {
            return None;
        }
        match &self.path {
            Path::Near(path) => Some(path),
            // SAFETY: `in_byte_ring` is 0 then, and every length at least that.
            Path::Far(_) | Path::Libfabric(_) => unsafe { std::hint::unreachable_unchecked() },
        }
    }

    /// Sends a record of words and bytes.
    ///
    /// # Errors
    /// [`Error::Again`] where there is no room, [`Error::PeerGone`], [`Error::Broken`].
    ///
    /// # Safety
    /// `bytes` holds `len` bytes, at most [`Link::eager`].
    #[inline(always)]
    pub(crate) unsafe fn post<const N: usize>(
        &self,
        kind: u16,
        words: [u64; N],
        bytes: *const u8,
        len: usize,
    ) -> Result<(), Error> {
        const { assert!(N <= MOST_WORDS) };
        // SAFETY: `bytes` holds the bytes, at most `eager`, beside which there is room for the words.
        unsafe {
            match &self.path {
                Path::Near(path) => match path.post(kind, words, bytes, len) {
                    Ok(()) => Ok(()),
                    Err(left) => self.settle(path, left),
                },
                path => Self::post_beyond(path, kind, words, bytes, len),
            }
        }
    }

    /// Sends a record that goes by no ring, by a call: the ring's way stays short.
    ///
    /// # Errors
    /// As [`FarPath::post`].
    ///
    /// # Safety
    /// As [`FarPath::post`].
    #[inline(never)]
    unsafe fn post_beyond<const N: usize>(
        path: &Path,
        kind: u16,
        words: [u64; N],
        bytes: *const u8,
        len: usize,
    ) -> Result<(), Error> {
        // SAFETY: `bytes` holds the bytes, which are with the words no more than the path's longest
        // payload.
        unsafe {
            match path {
                Path::Far(path) => path.post(kind, &words, bytes, len),
                Path::Libfabric(path) => path.post(kind, &words, bytes, len),
                Path::Near(_) => Err(Error::Broken),
            }
        }
    }

    /// Sends a record of words alone.
    ///
    /// # Errors
    /// As [`Link::post`].
    pub(crate) fn tell<const N: usize>(&self, kind: Kind, words: [u64; N]) -> Result<(), Error> {
        // SAFETY: there are no bytes.
        unsafe { self.post(kind as u16, words, std::ptr::null(), 0) }
    }

    /// Finishes a post to the ring that is the path.
    ///
    /// # Errors
    /// As [`Link::post`].
    #[inline(always)]
    pub(crate) fn settle(&self, path: &NearPath, left: Seldom) -> Result<(), Error> {
        match left {
            Seldom::Full => Err(self.refusal()),
            Seldom::Watched => path.wake(),
        }
    }

    #[cold]
    #[inline(never)]
    fn refusal(&self) -> Error {
        match &self.path {
            _ if self.is_over() => Error::PeerGone,
            Path::Near(path) => path.refusal(),
            Path::Far(_) | Path::Libfabric(_) => Error::Again,
        }
    }
}
