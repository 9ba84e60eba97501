//! Writes and reads of any number of elements (fi_write(3), fi_read(3)).
//!
//! Addresses of remote memory are the caller's own addresses of the symmetric objects. To and from
//! a peer whose memory is mapped here the bytes are copied, in line at the place of the call. A
//! write of a few bytes over the device is posted in a step of its own: of a word, of a block, or
//! under any guard. A transfer that none of these takes is a matter of `far`, which also finds out
//! why an operation is refused.

#![expect(
    unsafe_code,
    reason = "C memory is copied to and from mapped memory of peers, and given to the device"
)]

use crate::symmetric::address_vector::{Peer, PeerIndex};
use crate::symmetric::caller::{Access, Caller, Refused};
use crate::symmetric::endpoint::{Endpoint, again, anything, is_within};
use crate::symmetric::far::Source;
use fi_mlx5::route::Route;
use fi_shm::{copy, order};

/// Outcome of a write in line.
#[derive(Clone, Copy)]
enum InLine<'a> {
    /// It is done.
    Done,
    /// The peer of this record is elsewhere, or some of the range is outside of the window.
    Beyond(&'a Peer),
    /// There is no such peer.
    Declined,
}

/// Writes `count` elements; `source` may be changed when the call returns. No elements are no
/// error, at any addresses.
///
/// # Safety
/// As [`Caller::endpoint`]. `source` holds `count` elements and does not overlap the target unless
/// it is the target.
#[inline(always)]
pub unsafe fn write<C: Caller, T: Copy>(
    caller: &C,
    routine: C::Routine,
    dest: *mut T,
    source: *const T,
    count: usize,
    peer: PeerIndex,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `source` holds `count` elements and does not
    // overlap the target unless it is the target.
    unsafe { write_as::<C, T, false>(caller, routine, dest, source, count, peer) }
}

/// Starts a write as [`write()`]; `source` stays as it is until [`quiet`](super::order::quiet).
///
/// # Safety
/// As [`write()`]; `source` stays as it is until quiet.
#[inline(always)]
pub unsafe fn start_write<C: Caller, T: Copy>(
    caller: &C,
    routine: C::Routine,
    dest: *mut T,
    source: *const T,
    count: usize,
    peer: PeerIndex,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `source` holds `count` elements, stays as it is
    // until quiet, and does not overlap the target unless it is the target.
    unsafe { write_as::<C, T, true>(caller, routine, dest, source, count, peer) }
}

/// Writes `count` elements, from a source that is kept until quiet if `KEPT`.
///
/// # Safety
/// As [`write()`], or as [`start_write`] if `KEPT`.
#[inline(always)]
unsafe fn write_as<C: Caller, T: Copy, const KEPT: bool>(
    caller: &C,
    routine: C::Routine,
    dest: *mut T,
    source: *const T,
    count: usize,
    peer: PeerIndex,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `source` holds `count` elements as long as `KEPT`
    // says, and does not overlap the target unless it is the target; the record is of the result of
    // `write_range_in_line`.
    unsafe {
        match caller
            .endpoint()
            .write_range_in_line(C::IS_CHECKED, dest, source, count, peer)
        {
            InLine::Done => C::done(()),
            InLine::Beyond(record) => {
                // A length that cannot be multiplied is too long for any way.
                let bytes = count.saturating_mul(size_of::<T>());
                let (dest, source) = (dest.cast(), source.cast());
                write_word::<C, KEPT>(dest, source, bytes, record, caller, routine)
            }
            InLine::Declined => {
                let bytes = count.saturating_mul(size_of::<T>());
                let (dest, source) = (dest.addr(), source.cast());
                write_bytes_far::<C, KEPT>(dest, source, bytes, peer, caller, routine)
            }
        }
    }
}

/// Writes 8 bytes over the device, the commonest number; leads to all others.
///
/// # Safety
/// As [`write_as`], of whose near part's result the record is; `source` holds `bytes` bytes.
#[cold]
#[inline(never)]
unsafe fn write_word<C: Caller, const KEPT: bool>(
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    record: &Peer,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `source` holds `bytes` bytes as long as `KEPT`
    // says, and is apart from the target or the same; the record is of the near part's result.
    unsafe {
        if bytes != size_of::<u64>() {
            return write_block::<C, KEPT>(dest, source, bytes, record, caller, routine);
        }
        let endpoint = caller.endpoint();
        match endpoint.post_word(dest.addr(), source, record) {
            Some(true) => C::done(()),
            Some(false) => {
                let peer = endpoint.peer_of(record);
                write_bytes_far::<C, KEPT>(dest.addr(), source, bytes, peer, caller, routine)
            }
            None => {
                // Of no use to the paths before: so it is computed behind them, in one register.
                let offset = endpoint.offset(again(dest.addr()));
                // It holds the register of the number, so that the others stay in theirs.
                let third = anything();
                if offset < endpoint.by_message {
                    return word_by_libfabric::<C, KEPT>(
                        offset, source, third, record, caller, routine,
                    );
                }
                write_word_guarded::<C, KEPT>(offset, source, third, record, caller, routine)
            }
        }
    }
}

/// Writes 8 bytes over the device under any guard, `offset` bytes from the window's base.
///
/// # Safety
/// As [`write_word`].
#[inline(never)]
unsafe fn write_word_guarded<C: Caller, const KEPT: bool>(
    offset: usize,
    source: *const u8,
    third: usize,
    record: &Peer,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<()> {
    let bytes = size_of::<u64>();
    // SAFETY: this thread may use the endpoint; `source` holds so many bytes as long as `KEPT`
    // says, and is apart from the target or the same; the record is of the near part's result.
    unsafe {
        let endpoint = caller.endpoint();
        if endpoint.post_word_guarded(offset, source, record) {
            return C::done(());
        }
        again(third);
        let peer = endpoint.peer_of(record);
        write_bytes_far::<C, KEPT>(endpoint.addr(offset), source, bytes, peer, caller, routine)
    }
}

/// Writes 8 bytes by libfabric, `offset` bytes from the window's base, into its upper part, where the
/// heap is of most programs.
///
/// # Safety
/// As [`write_word`]; the offset is in memory that messages reach.
#[cold]
#[inline(never)]
unsafe fn word_by_libfabric<C: Caller, const KEPT: bool>(
    offset: usize,
    source: *const u8,
    third: usize,
    record: &Peer,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<()> {
    const WORD: usize = size_of::<u64>();
    // SAFETY: this thread may use the endpoint; `source` holds so many bytes as long as `KEPT`
    // says, and the record is of the near part's result.
    unsafe {
        let endpoint = caller.endpoint();
        let word = || source.cast::<u64>().read_unaligned();
        let inside = offset.overflowing_sub(endpoint.split);
        let posted = if KEPT {
            endpoint.write_kept_word(inside, source, record)
        } else {
            endpoint.swap_element::<WORD>(inside, word, record)
        };
        if posted {
            return C::done(());
        }
        let offset = again(inside.0).wrapping_add(endpoint.split);
        if !KEPT {
            return word_as_element::<C>(offset, source, third, record, caller, routine);
        }
        again(third);
        let (dest, peer) = (endpoint.addr(offset), endpoint.peer_of(record));
        try_bytes::<C, KEPT>(dest, source, WORD, peer, caller, routine)
    }
}

/// Does as [`word_by_libfabric`], where the word does not follow another one to the same peer.
///
/// # Safety
/// As [`word_by_libfabric`].
#[cold]
#[inline(never)]
unsafe fn word_as_element<C: Caller>(
    offset: usize,
    source: *const u8,
    third: usize,
    record: &Peer,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<()> {
    const WORD: usize = size_of::<u64>();
    // SAFETY: this thread may use the endpoint; `source` holds so many bytes, and the record is of the
    // near part's result.
    unsafe {
        let endpoint = caller.endpoint();
        let word = source.cast::<u64>().read_unaligned();
        if endpoint.try_write_element::<WORD, true>(offset, word, record) {
            return C::done(());
        }
        again(third);
        let (dest, peer) = (endpoint.addr(offset), endpoint.peer_of(record));
        try_bytes::<C, false>(dest, source, WORD, peer, caller, routine)
    }
}

/// Returns the time for which a source stays.
fn kept<const KEPT: bool>() -> Source {
    if KEPT {
        Source::KeptUntilQuiet
    } else {
        Source::Reusable
    }
}

/// Writes over the device as many bytes as one block takes.
///
/// # Safety
/// As [`write_word`].
#[cold]
#[inline(never)]
unsafe fn write_block<C: Caller, const KEPT: bool>(
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    record: &Peer,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `source` holds `bytes` bytes as long as `KEPT`
    // says, and is apart from the target or the same; the record is of the near part's result.
    unsafe {
        let endpoint = caller.endpoint();
        match endpoint.post_block(dest.addr(), source, bytes, record) {
            Some(true) => C::done(()),
            Some(false) => {
                let peer = endpoint.peer_of(record);
                write_bytes_far::<C, KEPT>(dest.addr(), source, bytes, peer, caller, routine)
            }
            None => write_short::<C, KEPT>(dest, source, bytes, record, caller, routine),
        }
    }
}

/// Writes over the device as many bytes as a BlueFlame copy takes, under any guard.
///
/// # Safety
/// As [`write_word`].
#[cold]
#[inline(never)]
unsafe fn write_short<C: Caller, const KEPT: bool>(
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    record: &Peer,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `source` holds `bytes` bytes as long as `KEPT`
    // says, and is apart from the target or the same; the record is of the near part's result.
    unsafe {
        let endpoint = caller.endpoint();
        if endpoint.post_guarded(dest.addr(), source, bytes, record) {
            return C::done(());
        }
        let peer = endpoint.peer_of(record);
        write_bytes_far::<C, KEPT>(dest.addr(), source, bytes, peer, caller, routine)
    }
}

/// Writes to any peer, by any path, or refuses. Leads to a function for each kind of transport, and
/// has no frame itself.
///
/// # Safety
/// As [`write_as`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn write_bytes_far<C: Caller, const KEPT: bool>(
    dest: usize,
    source: *const u8,
    bytes: usize,
    peer: PeerIndex,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `source` holds the elements as long as `KEPT` says.
    unsafe {
        if caller.endpoint().tries_writes() {
            return try_bytes::<C, KEPT>(dest, source, bytes, peer, caller, routine);
        }
        write_bytes_slowly::<C, KEPT>(dest, source, bytes, peer, caller, routine)
    }
}

/// # Safety
/// As [`write_bytes_far`].
#[cold]
#[inline(never)]
unsafe fn try_bytes<C: Caller, const KEPT: bool>(
    dest: usize,
    source: *const u8,
    bytes: usize,
    peer: PeerIndex,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<()> {
    let kept = kept::<KEPT>();
    // SAFETY: this thread may use the endpoint; `source` holds the elements as long as `KEPT` says.
    unsafe {
        if caller.endpoint().try_write(dest, source, bytes, peer, kept) {
            return C::done(());
        }
        write_bytes_slowly::<C, KEPT>(dest, source, bytes, peer, caller, routine)
    }
}

/// # Safety
/// As [`write_bytes_far`].
#[cold]
#[inline(never)]
unsafe fn write_bytes_slowly<C: Caller, const KEPT: bool>(
    dest: usize,
    source: *const u8,
    bytes: usize,
    peer: PeerIndex,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<()> {
    let kept = kept::<KEPT>();
    // SAFETY: this thread may use the endpoint; `source` holds the elements as long as `KEPT` says.
    let written = unsafe { caller.endpoint().write_far(dest, source, bytes, peer, kept) };
    match written {
        Ok(()) => C::done(()),
        Err(error) => {
            let (access, addr) = (Access::Write, dest);
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

/// Does as [`write_bytes_far`], with the first `bytes` bytes of a word, 1, 2, 4 or 8.
///
/// # Safety
/// As [`Caller::endpoint`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn write_word_far<C: Caller>(
    dest: usize,
    word: u64,
    bytes: usize,
    peer: PeerIndex,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<()> {
    let source = (&raw const word).cast();
    // SAFETY: this thread may use the endpoint; the word has the bytes, which are taken over at
    // once.
    unsafe { write_bytes_slowly::<C, false>(dest, source, bytes, peer, caller, routine) }
}

/// Reads `count` elements; they are in `dest` when the call returns. No elements are no error, at
/// any addresses.
///
/// # Safety
/// As [`Caller::endpoint`]. `dest` has room for `count` elements and does not overlap the source
/// unless it is the source.
#[inline(always)]
pub unsafe fn read<C: Caller, T: Copy>(
    caller: &C,
    routine: C::Routine,
    dest: *mut T,
    source: *const T,
    count: usize,
    peer: PeerIndex,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `dest` has room for `count` elements and does not
    // overlap the source unless it is the source.
    unsafe { read_as::<C, T, true>(caller, routine, dest, source, count, peer) }
}

/// Starts a read as [`read`]; the elements are in `dest` after [`quiet`](super::order::quiet).
///
/// # Safety
/// As [`read`]; nobody else uses `dest` until quiet.
#[inline(always)]
pub unsafe fn start_read<C: Caller, T: Copy>(
    caller: &C,
    routine: C::Routine,
    dest: *mut T,
    source: *const T,
    count: usize,
    peer: PeerIndex,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `dest` has room for `count` elements, which nobody
    // else uses until quiet, and does not overlap the source unless it is the source.
    unsafe { read_as::<C, T, false>(caller, routine, dest, source, count, peer) }
}

/// Reads `count` elements; they are there when the call returns if it `WAITS`, otherwise after
/// quiet.
///
/// # Safety
/// As [`start_read`], or as [`read`] if it `WAITS`.
#[inline(always)]
unsafe fn read_as<C: Caller, T: Copy, const WAITS: bool>(
    caller: &C,
    routine: C::Routine,
    dest: *mut T,
    source: *const T,
    count: usize,
    peer: PeerIndex,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `dest` has room for `count` elements, which are
    // nobody else's until quiet or, if it `WAITS`, until the call returns, and does not overlap the
    // source unless it is the source.
    unsafe {
        if caller
            .endpoint()
            .read_mapped_range(C::IS_CHECKED, dest, source, count, peer)
        {
            return C::done(());
        }
        read_far::<C, T, WAITS>(dest, source, count, peer, caller, routine)
    }
}

/// Reads from any peer, by any path, or refuses.
///
/// # Safety
/// As [`read_as`].
#[cold]
#[inline(never)]
unsafe fn read_far<C: Caller, T: Copy, const WAITS: bool>(
    dest: *mut T,
    source: *const T,
    count: usize,
    peer: PeerIndex,
    caller: &C,
    routine: C::Routine,
) -> C::Outcome<()> {
    let bytes = count.saturating_mul(size_of::<T>());
    // SAFETY: this thread may use the endpoint; `dest` has room for the elements, and nobody else
    // uses it until quiet or, if it `WAITS`, until the call returns.
    let read = unsafe {
        let endpoint = caller.endpoint();
        endpoint.read_far(dest.cast(), source.addr(), bytes, peer, WAITS)
    };
    match read {
        Ok(()) => C::done(()),
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
    /// Writes `count` elements, if `peer` is near.
    ///
    /// # Safety
    /// `source` holds `count` elements and does not overlap the target unless it is the target. The
    /// arguments are looked at, if the caller `is_checked`.
    #[inline(always)]
    unsafe fn write_range_in_line<T: Copy>(
        &self,
        is_checked: bool,
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> InLine<'_> {
        // SAFETY: the endpoint has the peer, if the caller is checked.
        let Some(record) = (unsafe { self.record_for(is_checked, peer) }) else {
            return InLine::Declined;
        };
        let Some(there) = self.range_for::<T>(is_checked, dest.addr(), count, record) else {
            return InLine::Beyond(record);
        };
        // SAFETY: `source` holds `count` elements; the target range lies in the peer's mapped
        // window. The product does not overflow: it is at most the window's length.
        unsafe { copy::copy(there as *mut u8, source.cast(), count * size_of::<T>()) };
        InLine::Done
    }

    /// Returns the place in this process of `count` elements at the own address `addr`, of the peer
    /// with this record; none where it is elsewhere, or they are not in the window, which a checked
    /// caller knows.
    #[inline(always)]
    fn range_for<T>(
        &self,
        is_checked: bool,
        addr: usize,
        count: usize,
        record: &Peer,
    ) -> Option<usize> {
        if is_checked {
            let is_near = is_within(true, || 0, record.window_len);
            return is_near.then_some(addr.wrapping_add(record.delta));
        }
        self.range_on(addr, count, size_of::<T>(), record)
    }

    /// Writes 8 bytes over the device, if the lane, of one thread, can take them without looking;
    /// `source` may be changed at once. Returns none where [`Endpoint::post_guarded`] is to be
    /// tried.
    ///
    /// # Safety
    /// As [`Endpoint::post_block`], with so many bytes.
    #[inline(always)]
    unsafe fn post_word(&self, dest: usize, source: *const u8, record: &Peer) -> Option<bool> {
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

    /// Writes a few bytes over the device, if they fit into one block and the lane, of one thread,
    /// can take them without looking; `source` may be changed at once. Returns none where
    /// [`Endpoint::post_guarded`] is to be tried.
    ///
    /// # Safety
    /// [`Endpoint::write_range_in_line`] has declined, and the record is of its result. `source`
    /// has `bytes` bytes.
    #[inline(always)]
    unsafe fn post_block(
        &self,
        dest: usize,
        source: *const u8,
        bytes: usize,
        record: &Peer,
    ) -> Option<bool> {
        if bytes.wrapping_sub(1) >= Route::BLOCK {
            return None;
        }
        // A range in mapped memory of this node was written, so this one is elsewhere or reaches
        // beyond the end.
        let there = self.there_of(dest, bytes, record)?;
        // SAFETY: the lane is alive while the endpoint is enabled, and used as its guard allows;
        // the record is one of its peers', and `source` has the bytes.
        let posted = unsafe { self.route.write_block(source, bytes, there)? };
        if posted {
            self.set_busy();
        }
        Some(posted)
    }

    /// Writes 8 bytes over the device, if the lane can take them without looking; `source` may be
    /// changed at once.
    ///
    /// # Safety
    /// As [`Endpoint::post_block`], with so many bytes.
    #[inline(always)]
    unsafe fn post_word_guarded(&self, offset: usize, source: *const u8, record: &Peer) -> bool {
        let Some(there) = self.there_at(offset, size_of::<u64>(), record) else {
            return false;
        };
        // SAFETY: the lane is alive while the endpoint is enabled, and used as its guard allows;
        // the record is one of its peers', and `source` has the bytes.
        let posted = unsafe { self.route.write_word_guarded(source, there) };
        self.note_posted(posted)
    }

    /// Writes a few bytes over the device, if the lane can take them without looking; `source` may
    /// be changed at once.
    ///
    /// # Safety
    /// As [`Endpoint::post_block`].
    #[inline(always)]
    unsafe fn post_guarded(
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

    /// Reads `count` elements, if `peer` is near; they are in `dest` when the call returns.
    ///
    /// # Safety
    /// `dest` has room for `count` elements and does not overlap the source unless it is the
    /// source. The arguments are looked at, if the caller `is_checked`.
    #[inline(always)]
    unsafe fn read_mapped_range<T: Copy>(
        &self,
        is_checked: bool,
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> bool {
        // SAFETY: the endpoint has the peer, if the caller is checked.
        let record = unsafe { self.record_for(is_checked, peer) };
        let range = |record| self.range_for::<T>(is_checked, source.addr(), count, record);
        let Some(there) = record.and_then(range) else {
            return false;
        };
        // SAFETY: `dest` has room for `count` elements; the source range lies in the peer's mapped
        // window. The product does not overflow: it is at most the window's length.
        unsafe { copy::copy(dest.cast(), there as *const u8, count * size_of::<T>()) };
        order::loads();
        true
    }
}
