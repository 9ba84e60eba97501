//! Writes and reads of one element of up to 16 bytes (fi_inject_write(3), fi_read(3)).
//!
//! Addresses of remote memory are the caller's own addresses of the symmetric objects. A write to a
//! peer whose memory is mapped here is a store, in line at the place of the call; over the device
//! it is posted in line on a lane that is one thread's alone, with its registers, and on any other
//! by a step that is compiled for the lane's guard. Elements that none of these takes are a matter of
//! `far`, which also finds out why an operation is refused.

#![expect(
    unsafe_code,
    reason = "elements are stored and loaded through raw pointers into mapped memory of peers"
)]

use crate::symmetric::address_vector::{Peer, PeerIndex};
use crate::symmetric::caller::{Access, Caller, Refused};
use crate::symmetric::endpoint::{Endpoint, again, anew, is_within};
use crate::symmetric::range;
use crate::symmetric::window::ELEMENT_SLACK;
use fi_mlx5::guard::{Alone, Counted, Guard, Kind, OnBoth, OnLane, OnRegister};
use fi_mlx5::queue::Place;
use fi_mlx5::short::There;
use fi_shm::order;
use std::mem::MaybeUninit;

/// Outcome of a write in line.
#[derive(Clone, Copy)]
enum InLine<'a> {
    /// It is done.
    Done,
    /// The peer is elsewhere, or the address is outside of the window: a matter of the lane's
    /// guard.
    Beyond(Beyond<'a>),
    /// The far part has to do it.
    Declined,
}

/// An element's place on the path to a peer that is elsewhere.
#[derive(Clone, Copy)]
struct Beyond<'a> {
    /// Bytes from the window's base.
    offset: usize,
    /// The peer's record.
    record: &'a Peer,
}

/// Writes one element of up to 16 bytes; `value` is taken over at once.
///
/// # Safety
/// As [`Caller::endpoint`]. `dest` is the address of an object in the own symmetric memory, aligned
/// for `T`.
#[inline(always)]
pub unsafe fn write<C: Caller, T: Copy>(
    caller: &C,
    routine: C::Routine,
    dest: *mut T,
    value: T,
    peer: PeerIndex,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `dest` is symmetric and aligned for `T`; `offset`
    // and `record` are those of the result of `write_element_in_line`.
    unsafe {
        let endpoint = caller.endpoint();
        match endpoint.write_element_in_line(C::IS_CHECKED, value, dest, peer) {
            InLine::Done => C::done(()),
            InLine::Beyond(Beyond { offset, record }) => {
                write_on_register(dest, value, offset, caller, routine, record)
            }
            InLine::Declined => write_far(dest, value, peer, caller, routine),
        }
    }
}

/// Goes on with a write that [`write()`]'s near part could not do, in a caller that has done that
/// part itself, as [`Endpoint::in_line`] tells.
///
/// # Safety
/// As [`write()`]. `record` is that of the peer, and `offset` the bytes from the own window's base to
/// `dest`, modulo 2^64, which are not mapped here for loads and stores.
#[inline(always)]
pub unsafe fn write_beyond<C: Caller, T: Copy>(
    caller: &C,
    routine: C::Routine,
    dest: *mut T,
    value: T,
    peer: PeerIndex,
    (record, offset): (&Peer, usize),
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `dest` is symmetric and aligned for `T`; `offset`
    // and `record` are those that an endpoint finds.
    unsafe {
        let endpoint = caller.endpoint();
        let beyond = Beyond { offset, record };
        match endpoint.post_element_in_line(value, beyond, || endpoint.place(record)) {
            InLine::Done => C::done(()),
            InLine::Beyond(Beyond { offset, record }) => {
                write_on_register(dest, value, offset, caller, routine, record)
            }
            InLine::Declined => write_far(dest, value, peer, caller, routine),
        }
    }
}

/// Writes on a lane whose registers other lanes ring; leads to all other guards.
///
/// # Safety
/// As [`write()`]; `offset` and `record` are those of the result of
/// [`Endpoint::write_element_in_line`].
#[cold]
#[inline(never)]
unsafe fn write_on_register<C: Caller, T: Copy>(
    dest: *mut T,
    value: T,
    offset: usize,
    caller: &C,
    routine: C::Routine,
    record: &Peer,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `dest` is symmetric and aligned for `T`; the record
    // is of the result of `write_element_in_line`, and the guard is the lane's.
    unsafe {
        let endpoint = caller.endpoint();
        match endpoint.post_element_on_register(value, Beyond { offset, record }) {
            Some(true) => return C::done(()),
            Some(false) => {
                return write_far(dest, value, endpoint.peer_of(record), caller, routine);
            }
            None if offset < endpoint.by_message => {
                return swap(dest, value, offset, caller, routine, record);
            }
            None => {}
        }
        match endpoint.route.guard() {
            Kind::None => try_element(dest, value, offset, caller, routine, record),
            Kind::Alone => write_by::<C, T, Alone>(dest, value, offset, caller, routine, record),
            Kind::OnRegister => {
                write_by::<C, T, OnRegister>(dest, value, offset, caller, routine, record)
            }
            Kind::OnLane => write_by::<C, T, OnLane>(dest, value, offset, caller, routine, record),
            Kind::OnBoth => write_by::<C, T, OnBoth>(dest, value, offset, caller, routine, record),
            Kind::Counted => {
                write_by::<C, T, Counted>(dest, value, offset, caller, routine, record)
            }
        }
    }
}

/// Writes by a message of libfabric, into the upper part of a window, where the heap is of most
/// programs.
///
/// # Safety
/// As [`write_on_register`].
#[cold]
#[inline(never)]
unsafe fn swap<C: Caller, T: Copy>(
    dest: *mut T,
    value: T,
    offset: usize,
    caller: &C,
    routine: C::Routine,
    record: &Peer,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; the record is of the result of
    // `write_element_in_line`.
    unsafe {
        let endpoint = caller.endpoint();
        let inside = offset.overflowing_sub(endpoint.split);
        if endpoint.swap(value, inside, record) {
            return C::done(());
        }
        let offset = again(inside.0).wrapping_add(endpoint.split);
        try_element(dest, value, offset, caller, routine, record)
    }
}

/// Writes by a transport whose posts are not in line, into the upper part of a window,
/// where the heap is of most programs.
///
/// # Safety
/// As [`write_on_register`].
#[cold]
#[inline(never)]
unsafe fn try_element<C: Caller, T: Copy>(
    dest: *mut T,
    value: T,
    offset: usize,
    caller: &C,
    routine: C::Routine,
    record: &Peer,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; the record is of the result of
    // `write_element_in_line`.
    unsafe {
        if caller
            .endpoint()
            .try_element::<T, true>(value, Beyond { offset, record })
        {
            return C::done(());
        }
        try_lower_element(dest, value, offset, caller, routine, record)
    }
}

/// Writes as [`write_on_register`], into the lower part, or at all.
///
/// # Safety
/// As [`write_on_register`].
#[cold]
#[inline(never)]
unsafe fn try_lower_element<C: Caller, T: Copy>(
    dest: *mut T,
    value: T,
    offset: usize,
    caller: &C,
    routine: C::Routine,
    record: &Peer,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; the record is of the result of
    // `write_element_in_line`.
    unsafe {
        let endpoint = caller.endpoint();
        if endpoint.try_element::<T, false>(value, Beyond { offset, record }) {
            return C::done(());
        }
        write_far(dest, value, endpoint.peer_of(record), caller, routine)
    }
}

/// Writes on a lane with guard `G`.
///
/// # Safety
/// As [`write_on_register`]; `G` is the lane's guard.
#[cold]
#[inline(never)]
unsafe fn write_by<C: Caller, T: Copy, G: Guard>(
    dest: *mut T,
    value: T,
    offset: usize,
    caller: &C,
    routine: C::Routine,
    record: &Peer,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `dest` is symmetric and aligned for `T`; the record
    // is of the result of `write_element_in_line`, and `G` is the lane's guard.
    unsafe {
        let endpoint = caller.endpoint();
        if endpoint.post_element_by::<T, G>(value, Beyond { offset, record }) {
            return C::done(());
        }
        write_far(dest, value, endpoint.peer_of(record), caller, routine)
    }
}

/// Writes to any peer, by any path, or refuses: in the tail position, an element of at most 8 bytes
/// in a register, so that this needs no frame.
///
/// # Safety
/// As [`write()`].
#[cold]
#[inline(never)]
unsafe fn write_far<C: Caller, T: Copy>(
    dest: *mut T,
    value: T,
    peer: PeerIndex,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<()> {
    let (dest, bytes) = (dest.addr(), size_of::<T>());
    // SAFETY: this thread may use the endpoint; the value is as long as said, and taken over at
    // once. Its bytes are the first of the word.
    unsafe {
        if bytes <= size_of::<u64>() {
            let mut word = 0_u64;
            (&raw mut word).cast::<T>().write_unaligned(value);
            return range::write_word_far(dest, word, bytes, peer, caller, routine);
        }
        let source = (&raw const value).cast();
        range::write_bytes_far::<C, false>(dest, source, bytes, peer, caller, routine)
    }
}

/// Reads one element of up to 16 bytes.
///
/// # Safety
/// As [`Caller::endpoint`]. `source` is the address of an object in the own symmetric memory,
/// aligned for `T`, and every bit pattern is a valid `T`.
#[inline(always)]
pub unsafe fn read<C: Caller, T: Copy>(
    caller: &C,
    routine: C::Routine,
    source: *const T,
    peer: PeerIndex,
) -> C::Outcome<T> {
    // SAFETY: this thread may use the endpoint; `source` is symmetric and aligned for `T`, for
    // which every bit pattern is valid.
    unsafe {
        let endpoint = caller.endpoint();
        match endpoint.read_mapped_element(C::IS_CHECKED, source, peer) {
            Some(value) => C::done(value),
            None => read_far(source, peer, caller, routine),
        }
    }
}

/// Reads from any peer, by any path, or refuses.
///
/// # Safety
/// As [`read`].
#[cold]
#[inline(never)]
unsafe fn read_far<C: Caller, T: Copy>(
    source: *const T,
    peer: PeerIndex,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<T> {
    let bytes = size_of::<T>();
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: this thread may use the endpoint; there is room for a value.
    let read = unsafe {
        let dest = value.as_mut_ptr().cast();
        caller
            .endpoint()
            .read_far(dest, source.addr(), bytes, peer, true)
    };
    match read {
        // SAFETY: the value was read, and every bit pattern is a valid `T`.
        Ok(()) => C::done(unsafe { value.assume_init() }),
        Err(error) => {
            let (access, addr) = (Access::Read, source.addr());
            caller.refused(
                routine,
                Refused {
                    error,
                    access,
                    addr,
                    bytes,
                    peer,
                },
            )
        }
    }
}

impl Endpoint {
    /// Writes one element, if `peer` is near or the lane takes it in line; `value` is taken over at
    /// once.
    ///
    /// # Safety
    /// `dest` is the address of an object in the own symmetric memory, aligned for `T`, and the
    /// arguments are looked at, if the caller `is_checked`.
    #[inline(always)]
    unsafe fn write_element_in_line<T: Copy>(
        &self,
        is_checked: bool,
        value: T,
        dest: *mut T,
        peer: PeerIndex,
    ) -> InLine<'_> {
        const { assert!(size_of::<T>() <= ELEMENT_SLACK) };
        // SAFETY: the endpoint has the peer, if the caller is checked.
        let Some(record) = (unsafe { self.record_for(is_checked, peer) }) else {
            return InLine::Declined;
        };
        let offset = self.offset(dest.addr());
        if is_within(is_checked, || offset, record.window_len) {
            let there = dest.map_addr(|addr| addr.wrapping_add(record.delta));
            // SAFETY: the peer's window is mapped at `there`; one volatile store keeps an element
            // of a register whole.
            unsafe { there.write_volatile(value) };
            return InLine::Done;
        }
        // SAFETY: the record is the peer's, and `anew` gives its queue's place.
        unsafe { self.post_element_in_line(value, Beyond { offset, record }, || anew(peer)) }
    }

    /// Posts a write of one element to a peer that is elsewhere, on a lane that takes it in line.
    ///
    /// # Safety
    /// As [`Endpoint::write_element_in_line`]; the record is one of the endpoint's peers', and
    /// `place` gives where its queue is.
    #[inline(always)]
    unsafe fn post_element_in_line<'a, T: Copy>(
        &self,
        value: T,
        beyond: Beyond<'a>,
        place: impl FnOnce() -> Place,
    ) -> InLine<'a> {
        let Beyond { offset, record } = beyond;
        if offset >= self.device_len {
            return InLine::Beyond(beyond);
        }
        let there = record.remote.segment(offset, &self.split);
        // SAFETY: the lane is alive while the endpoint is enabled, and used by one thread at a
        // time; the place is that of a peer's queue.
        let posted = unsafe {
            self.route
                .inject(value, there, &record.remote.vector, place())
        };
        if posted {
            self.set_busy();
            InLine::Done
        } else {
            InLine::Declined
        }
    }

    /// Goes on where [`Endpoint::write_element_in_line`] could not, on a lane whose registers
    /// others ring; none where [`Endpoint::post_element_by`] is to be tried.
    ///
    /// # Safety
    /// As [`Endpoint::write_element_in_line`], whose result this is of.
    #[inline(always)]
    unsafe fn post_element_on_register<T: Copy>(
        &self,
        value: T,
        beyond: Beyond<'_>,
    ) -> Option<bool> {
        // SAFETY: the lane is alive while the endpoint is enabled, and used as it was made for; the
        // record is one of its peers'.
        let posted = unsafe {
            self.route
                .inject_on_register(value, || self.element_there(beyond))?
        };
        if posted {
            self.set_busy();
        }
        Some(posted)
    }

    /// Does as [`Endpoint::post_element_on_register`], on a lane with guard `G`; returns false
    /// where the far part has to do it.
    ///
    /// # Safety
    /// As [`Endpoint::write_element_in_line`], whose result this is of; `G` is the lane's guard.
    #[inline(always)]
    unsafe fn post_element_by<T: Copy, G: Guard>(&self, value: T, beyond: Beyond<'_>) -> bool {
        let Some(there) = self.element_there(beyond) else {
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

    /// Writes the element by a message of libfabric, so many bytes behind the begin of the window's
    /// upper part, if it is there; returns false where another function has to do it.
    ///
    /// # Safety
    /// The element begins below `by_message`.
    #[inline(always)]
    unsafe fn swap<T: Copy>(&self, value: T, inside: (usize, bool), record: &Peer) -> bool {
        // SAFETY: the offset is in memory that messages reach.
        unsafe {
            match size_of::<T>() {
                4 => self.swap_element::<4>(inside, || word(value), record),
                8 => self.swap_element::<8>(inside, || word(value), record),
                _ => false,
            }
        }
    }

    /// Writes the element by a transport whose posts are not in line; returns false where another
    /// part of the window, or the far part, has to do it.
    #[inline(always)]
    fn try_element<T: Copy, const UPPER: bool>(&self, value: T, beyond: Beyond<'_>) -> bool {
        let Beyond { offset, record } = beyond;
        // SAFETY: elements of at most so many bytes ask for it.
        let word = || unsafe { word(value) };
        match size_of::<T>() {
            1 => self.try_write_element::<1, UPPER>(offset, word(), record),
            2 => self.try_write_element::<2, UPPER>(offset, word(), record),
            4 => self.try_write_element::<4, UPPER>(offset, word(), record),
            8 => self.try_write_element::<8, UPPER>(offset, word(), record),
            _ => false,
        }
    }

    /// Returns the place of an element at an own address. It may reach over the end by as much as
    /// the path in line lets it.
    #[inline(always)]
    fn element_there<'a>(&self, Beyond { offset, record }: Beyond<'a>) -> Option<There<'a>> {
        if offset >= self.ends[1] {
            return None;
        }
        let place = self.place(record);
        Some(There {
            segment: record.remote.segment(offset, &self.split),
            vector: &record.remote.vector,
            place,
        })
    }

    /// Reads one element, if `peer` is near.
    ///
    /// # Safety
    /// `source` is the address of an object in the own symmetric memory, aligned for `T`, and every
    /// bit pattern is a valid `T`. The arguments are looked at, if the caller `is_checked`.
    #[inline(always)]
    unsafe fn read_mapped_element<T: Copy>(
        &self,
        is_checked: bool,
        source: *const T,
        peer: PeerIndex,
    ) -> Option<T> {
        const { assert!(size_of::<T>() <= ELEMENT_SLACK) };
        // SAFETY: the endpoint has the peer, if the caller is checked.
        let record = unsafe { self.record_for(is_checked, peer)? };
        if !is_within(is_checked, || self.offset(source.addr()), record.window_len) {
            return None;
        }
        let there = source.addr().wrapping_add(record.delta);
        // SAFETY: the peer's window is mapped at `there`; one volatile load keeps an element of a
        // register whole.
        let value = unsafe { (there as *const T).read_volatile() };
        order::loads();
        Some(value)
    }
}

/// Returns the word that begins with an element.
///
/// # Safety
/// The element has at most 8 bytes.
#[inline(always)]
unsafe fn word<T: Copy>(value: T) -> u64 {
    let mut word = 0_u64;
    // SAFETY: there is room for the element.
    unsafe { (&raw mut word).cast::<T>().write_unaligned(value) };
    word
}
