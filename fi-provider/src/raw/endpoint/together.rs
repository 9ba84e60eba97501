//! Long memory of a process of the node that is not mapped here: the kernel copies it page by page,
//! so two processors do.
//!
//! The endpoint that wants the copy tells the peer of it ([`Kind::Share`]), and copies piece by piece.
//! A peer that makes progress meanwhile claims pieces of its own ([`fi_shm::split`]), and copies them
//! from its side. So the copy waits for no peer that does not, but for the piece that one is at. It is
//! done when the call returns.

#![expect(
    unsafe_code,
    reason = "has the kernel copy between C addresses and a peer's memory"
)]

use super::Endpoint;
use super::link::{Link, Path};
use super::near_path::NearPath;
use super::origin::Origin;
use super::pending::State;
use super::remote::RemoteRegion;
use crate::raw::error::Error;
use crate::raw::near::Near;
use crate::raw::protocol::Kind;
use crate::raw::record::Record;
use crate::raw::region::{Access, Rights};
use fi_shm::split::{self, Split};
use fi_shm::wait::{Patience, Waiter};

/// The fewest bytes that two processes copy.
pub(crate) const LEAST: usize = 256 << 10;
/// The bytes of a piece: less than that costs more calls, and of more the last one is waited for
/// longer.
const SHORTEST: usize = 128 << 10;
const LONGEST: usize = 512 << 10;
/// Pieces of a copy that is neither very short nor very long.
const PIECES: usize = 16;

/// In the word of the length: the bytes go to the peer.
const WRITES: u64 = 1 << 63;
/// In the word of the length: the bytes are those of a message that the peer has offered.
const OFFERED: u64 = 1 << 62;

/// The pieces of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pieces {
    len: usize,
    each: usize,
    count: u32,
}

impl Pieces {
    /// Returns the pieces of so many bytes; none where they are too many.
    fn of(len: usize) -> Option<Self> {
        let each = (len / PIECES).clamp(SHORTEST, LONGEST) & !(SHORTEST - 1);
        let count = u32::try_from(len.div_ceil(each)).ok()?;
        Some(Self { len, each, count })
    }

    /// Returns the begin of a piece, and its bytes.
    fn range(&self, piece: u32) -> (usize, usize) {
        let at = piece as usize * self.each;
        (at, self.each.min(self.len.saturating_sub(at)))
    }
}

/// Name that the peer gives its memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    /// By the key and an address of a region.
    Region(u64, u64),
    /// By the number of a message that it has offered, from the first byte on.
    Offer(u64),
}

/// A copy between memory here and memory of a peer, which lies there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) access: Access,
    pub(super) here: *mut u8,
    pub(super) there: u64,
    pub(super) len: usize,
}

impl Transfer {
    /// Copies some of the bytes by the kernel; false where that does not copy between the two.
    ///
    /// # Safety
    /// `here` is mapped for the bytes of the copy, for writing where it reads.
    unsafe fn part(&self, near: &Near, (at, len): (usize, usize)) -> Result<bool, Error> {
        let (here, there) = (
            self.here.wrapping_add(at),
            self.there.wrapping_add(at as u64),
        );
        // SAFETY: the range is one of the copy's, for which `here` is mapped.
        unsafe {
            match self.access {
                Access::Read => near.read(there, here, len),
                Access::Write => near.write(there, here, len),
            }
        }
    }
}

impl Link {
    /// Reads or writes long memory of the peer's process by the kernel; false where it does not copy
    /// between the two.
    ///
    /// # Errors
    /// As [`Near::read`].
    ///
    /// # Safety
    /// `here` is mapped for the bytes, for writing where they are read.
    pub(super) unsafe fn copy_together(&self, name: Name, copy: Transfer) -> Result<bool, Error> {
        let Path::Near(path) = &self.path else {
            return Ok(false);
        };
        let near = &path.near;
        let all = (0, copy.len);
        if copy.len >= LEAST
            && near.may_copy()
            && let Some(pieces) = Pieces::of(copy.len)
            && let Some(words) = path.sharing.words()
        {
            let turn = words.next_turn();
            words.split.begin(turn);
            let (first, second, offered) = match name {
                Name::Region(key, address) => (key, address, 0),
                Name::Offer(number) => (number, 0, OFFERED),
            };
            let writes = match copy.access {
                Access::Read => 0,
                Access::Write => WRITES,
            };
            let asked = copy.len as u64 | offered | writes;
            let (here, words) = (copy.here.expose_provenance() as u64, words.offset as u64);
            let told = [first, second, asked, here, words, turn.into()];
            if self.tell(Kind::Share, told).is_ok() {
                path.sharing.told.set(turn);
                // SAFETY: `here` is mapped for the bytes.
                return unsafe { share(path, turn, pieces, copy) };
            }
        }
        // SAFETY: `here` is mapped for the bytes.
        unsafe { copy.part(near, all) }
    }

    /// Returns the words of a turn that the peer has begun.
    fn split_at(&self, offset: u64) -> Option<Split> {
        let at = self.mapped(offset, split::BYTES)?;
        // SAFETY: the words lie in the peer's memory, which the link keeps mapped, aligned; this
        // process accesses them by atomic operations, as it does all of that memory, for any bytes
        // that the peer has there.
        (offset.is_multiple_of(split::BYTES as u64)).then(|| unsafe { Split::at(at.cast_mut()) })
    }
}

/// Copies piece by piece, beside the peer, which has been told of the turn.
///
/// # Safety
/// As [`Link::copy_together`].
unsafe fn share(path: &NearPath, turn: u32, pieces: Pieces, copy: Transfer) -> Result<bool, Error> {
    let Some(words) = path.sharing.words.get().and_then(Option::as_ref) else {
        return Ok(false);
    };
    let (near, split) = (&path.near, &words.split);
    let (mut own, mut done) = (0, Ok(true));
    // A peer may have changed the words: no more than there are.
    while done == Ok(true)
        && own < pieces.count
        && let Some(piece) = split.claim(turn, pieces.count)
    {
        own += 1;
        // SAFETY: `here` is mapped for the bytes.
        done = unsafe { copy.part(near, pieces.range(piece)) };
    }
    let theirs = split.stop(turn, pieces.count).saturating_sub(own);
    let mut waiter = Waiter::new(Patience::new(false));
    let ended = loop {
        let ended = split.ended();
        if ended.pieces >= theirs {
            break ended;
        }
        if !near.is_alive() {
            return Err(Error::PeerGone);
        }
        waiter.pause();
    };
    #[cfg(test)]
    path.sharing.theirs.update(|all| all + theirs);
    if theirs > 0 && ended.has_failed && done == Ok(true) {
        path.sharing.is_refused.set(true);
        // SAFETY: `here` is mapped for the bytes.
        return unsafe { copy.part(near, (0, copy.len)) };
    }
    done
}

impl RemoteRegion {
    /// Reads or writes long memory of the region as [`Link::copy_together`] does.
    ///
    /// # Errors
    /// As [`Link::copy_together`].
    ///
    /// # Safety
    /// As [`Link::copy_together`].
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn copy_long(
        &self,
        access: Access,
        address: u64,
        here: *mut u8,
        len: usize,
    ) -> Result<bool, Error> {
        let there = self.found.place(address);
        let copy = Transfer {
            access,
            here,
            there,
            len,
        };
        // SAFETY: `here` is mapped for the bytes.
        unsafe {
            self.link
                .copy_together(Name::Region(self.key, address), copy)
        }
    }
}

impl Endpoint {
    /// Takes a share of a copy that a peer is at.
    pub(super) fn help(&self, origin: &mut Origin, record: &impl Record) -> Option<()> {
        let [name, address, asked, there, words, turn] = record.words()?;
        let link = self.way_back(origin)?;
        let near = link.near()?;
        let split = link.split_at(words)?;
        let turn = u32::try_from(turn).ok().filter(|&turn| turn != 0)?;
        split.see(turn);
        let len = usize::try_from(asked & !(WRITES | OFFERED)).ok()?;
        let pieces = Pieces::of(len)?;
        let (access, rights) = match asked & WRITES {
            0 => (Access::Write, Rights::READ),
            _ => (Access::Read, Rights::WRITE),
        };
        let here = match asked & OFFERED {
            0 => self
                .range(name, address, len, rights)
                .ok()
                .map(|(at, _)| at),
            _ => self
                .offered(name, &link, len)
                .filter(|_| access == Access::Write),
        };
        // It may have ended here meanwhile: the peer finds out by its own part.
        let Some(here) = here else {
            return Some(());
        };
        let copy = Transfer {
            access,
            here,
            there,
            len,
        };
        for _ in 0..pieces.count {
            let Some(piece) = split.claim(turn, pieces.count) else {
                break;
            };
            // SAFETY: the range is in a region, which is mapped while it is open, and writable where
            // it gives that right; or in a message, which stays until the peer has told of its end.
            let done = unsafe { copy.part(near, pieces.range(piece)) };
            split.end(done == Ok(true));
            if done != Ok(true) {
                break;
            }
        }
        Some(())
    }

    /// Returns the address of a message that was offered to the peer of `link`, and has so many
    /// bytes.
    fn offered(&self, number: u64, link: &Link, len: usize) -> Option<*mut u8> {
        let mut pending = self.pending.borrow_mut();
        let offered = pending.get(number, link)?;
        match offered.state {
            State::Offered { source } if len <= offered.entry.len => Some(source.cast_mut()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
