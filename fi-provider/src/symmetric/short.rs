//! Posts over the device that are not in line at the place of the call, but take no decision either: elements where the lane has a
//! guard, and a few bytes. Where they decline, the far part does the operation, and says what is wrong with it.

#![expect(unsafe_code, reason = "C memory is taken into entries by its address")]

use crate::symmetric::address_vector::{Peer, PeerIndex};
use crate::symmetric::endpoint::Endpoint;
use fi_mlx5::guard::{Alone, Counted, Guard, Kind, OnBoth, OnLane, OnRegister};
use fi_mlx5::route::Route;
use fi_mlx5::short::There;

/// What became of [`Endpoint::inject_near`].
#[derive(Clone, Copy, Debug)]
pub enum Injected<'a> {
    /// It is done.
    Done,
    /// The peer is elsewhere, or the address is: what [`Endpoint::inject_by`] is for.
    Beyond(Beyond<'a>),
    /// [`Endpoint::inject_far`] has to do it.
    Not,
}

/// What became of [`Endpoint::write_near`].
#[derive(Clone, Copy, Debug)]
pub enum Written<'a> {
    /// It is done.
    Done,
    /// The peer of this record is elsewhere, or some of the range is: what [`Endpoint::write_block`] is for.
    Beyond(&'a Peer),
    /// There is no such peer.
    Not,
}

impl Written<'_> {
    /// Whether it is done.
    #[must_use]
    pub fn is_done(self) -> bool {
        matches!(self, Self::Done)
    }
}

/// An own address as the path to a peer that is elsewhere has it: [`Endpoint::inject_near`] has found it out.
#[derive(Clone, Copy, Debug)]
pub struct Beyond<'a> {
    /// Bytes from the window's base.
    pub offset: usize,
    /// The peer's record.
    pub record: &'a Peer,
}

impl Endpoint {
    /// Which guard the lane has: the one to call [`Endpoint::inject_by`] with.
    #[inline(always)]
    pub fn guard(&self) -> Kind {
        self.route.guard()
    }

    /// Goes on where [`Endpoint::inject_near`] could not, on a lane whose registers others ring; none where
    /// [`Endpoint::inject_by`] is to be tried.
    ///
    /// # Safety
    /// As [`Endpoint::inject_near`], whose result this is of.
    #[inline(always)]
    pub unsafe fn inject_on_register<T: Copy>(&self, value: T, beyond: Beyond<'_>) -> Option<bool> {
        // SAFETY: the lane is alive while the endpoint is enabled, and used as it was made for; the record is one of its peers'.
        let posted = unsafe {
            self.route
                .inject_on_register(value, || self.there_for(beyond))?
        };
        if posted {
            self.set_busy();
        }
        Some(posted)
    }

    /// The same on a lane with guard `G`; false where [`Endpoint::inject_far`] has to do it.
    ///
    /// # Safety
    /// As [`Endpoint::inject_near`], whose result this is of; `G` is the lane's guard.
    #[inline(always)]
    pub unsafe fn inject_by<T: Copy, G: Guard>(&self, value: T, beyond: Beyond<'_>) -> bool {
        let Some(there) = self.there_for(beyond) else {
            return false;
        };
        // SAFETY: the lane is alive while the endpoint is enabled, has the guard `G` and is used as
        // that allows; the record is one of its peers'.
        let posted = unsafe { self.route.inject_by::<T, G>(value, there) };
        if posted && !G::IS_SHARED {
            self.set_busy();
        }
        posted
    }

    /// As [`Endpoint::inject_by`], whatever the guard is.
    ///
    /// # Safety
    /// As [`Endpoint::inject_near`], whose result this is of.
    #[inline(always)]
    pub unsafe fn inject_beyond<T: Copy>(&self, value: T, beyond: Beyond<'_>) -> bool {
        // SAFETY: the lane's guard is the one matched, and the record is of the result of
        // `inject_near`.
        unsafe {
            match self.guard() {
                Kind::Alone => self.inject_by::<T, Alone>(value, beyond),
                Kind::OnRegister => self.inject_by::<T, OnRegister>(value, beyond),
                Kind::OnLane => self.inject_by::<T, OnLane>(value, beyond),
                Kind::OnBoth => self.inject_by::<T, OnBoth>(value, beyond),
                Kind::Counted => self.inject_by::<T, Counted>(value, beyond),
            }
        }
    }

    /// Notes on a lane of one thread that something was posted, if it was.
    #[inline(always)]
    pub(crate) fn note_posted(&self, posted: bool) -> bool {
        if posted && !self.route.is_shared() {
            self.set_busy();
        }
        posted
    }

    /// The number of the peer with this record.
    pub fn peer_of(&self, record: &Peer) -> PeerIndex {
        (self.place(record) / size_of::<Peer>()) as PeerIndex
    }

    /// Writes 8 bytes over the device, if the lane, of one thread, can take them without looking; `source` may be changed at once. None
    /// where [`Endpoint::write_short`] is to be tried.
    ///
    /// # Safety
    /// As [`Endpoint::write_block`], with so many bytes.
    #[inline(always)]
    pub unsafe fn write_word(&self, dest: usize, source: *const u8, record: &Peer) -> Option<bool> {
        // SAFETY: the lane is alive while the endpoint is enabled, and used as its guard allows;
        // the record is one of its peers', and `source` has 8 bytes.
        let posted = unsafe {
            let there = || self.there_of(dest, size_of::<u64>(), record);
            self.route.write_word(source, there)?
        };
        if posted {
            self.set_busy();
        }
        Some(posted)
    }

    /// Writes a few bytes over the device, if they fit into one block and the lane, of one thread, can take them without looking;
    /// `source` may be changed at once. None where [`Endpoint::write_short`] is to be tried.
    ///
    /// # Safety
    /// [`Endpoint::write_near`] has declined, and the record is of its result. `source` has `bytes` bytes.
    #[inline(always)]
    pub unsafe fn write_block(
        &self,
        dest: usize,
        source: *const u8,
        bytes: usize,
        record: &Peer,
    ) -> Option<bool> {
        if bytes.wrapping_sub(1) >= Route::BLOCK {
            return None;
        }
        // A range in mapped memory of this node was written, so this one is elsewhere or reaches beyond the end.
        let there = self.there_of(dest, bytes, record)?;
        // SAFETY: the lane is alive while the endpoint is enabled, and used as its guard allows;
        // the record is one of its peers', and `source` has the bytes.
        let posted = unsafe { self.route.write_block(source, bytes, there)? };
        if posted {
            self.set_busy();
        }
        Some(posted)
    }

    /// Writes a few bytes over the device, if the lane can take them without looking; `source` may be changed at once.
    ///
    /// # Safety
    /// As [`Endpoint::write_block`].
    #[inline(always)]
    pub unsafe fn write_short(
        &self,
        dest: usize,
        source: *const u8,
        bytes: usize,
        record: &Peer,
    ) -> bool {
        if bytes.wrapping_sub(1) >= Route::SHORT {
            return false;
        }
        let Some(there) = self.there_of(dest, bytes, record) else {
            return false;
        };
        // SAFETY: the lane is alive while the endpoint is enabled, and used as its guard allows;
        // the record is one of its peers', and `source` has the bytes.
        let posted = unsafe { self.route.write_guarded(source, bytes, there) };
        self.note_posted(posted)
    }

    /// Where the bytes at an own address are, fewer than the window may have, if they are in one part of it.
    #[inline(always)]
    pub(crate) fn there_of<'a>(
        &self,
        addr: usize,
        bytes: usize,
        record: &'a Peer,
    ) -> Option<There<'a>> {
        let offset = self.offset(addr);
        let segment = if self.part(offset, bytes)? {
            record.remote.segment_if(true, offset, &self.split)
        } else {
            record.remote.segment_if(false, offset, &self.split)
        };
        Some(There {
            segment,
            vector: &record.remote.vector,
            place: self.place(record),
        })
    }

    /// Whether the bytes, fewer than the window may have, are in the lower part of the window or else in the upper; none where they are
    /// not in one part.
    #[inline(always)]
    pub(crate) fn part(&self, offset: usize, bytes: usize) -> Option<bool> {
        let [lower, upper] = self.ends;
        if offset < self.split {
            // The upper part begins within the window, so that nothing wraps before it.
            (offset.wrapping_add(bytes) <= lower).then_some(true)
        } else {
            (offset.checked_add(bytes)? <= upper).then_some(false)
        }
    }

    /// Where an element at an own address is. It may reach over the end by as much as the path in line lets it.
    #[inline(always)]
    fn there_for<'a>(&self, Beyond { offset, record }: Beyond<'a>) -> Option<There<'a>> {
        if offset >= self.reach {
            return None;
        }
        let place = self.place(record);
        Some(There {
            segment: record.remote.segment(offset, &self.split),
            vector: &record.remote.vector,
            place,
        })
    }
}
