//! The RDM endpoint: one lane to all peers (fi_endpoint(3)).

#![expect(
    unsafe_code,
    reason = "an endpoint reads the peer table through a raw pointer, so that it can live in a static and cost no indirection"
)]

use crate::symmetric::Error;
use crate::symmetric::address_vector::{AddressVector, Peer, PeerIndex};
use crate::symmetric::domain::Domain;
use crate::symmetric::far::Far;
use crate::symmetric::far::libfabric::way::Libfabric;
use crate::symmetric::far::mlx5::Mlx5;
use crate::symmetric::gate::Gate;
use fi_mlx5::queue::Place;
use fi_mlx5::route::Route;
use fi_mlx5::short::There;
use std::cell::Cell;

/// A lane to all peers of a domain, for one thread at a time unless the device was opened for several.
///
/// Plain data, so that a layer above can keep its default endpoint in a static: constants of a job
/// are read without any synchronisation. It starts closed; [`Endpoint::enable`] binds it.
#[repr(C)]
#[derive(Debug)]
pub struct Endpoint {
    peers: *const Peer,
    pub(crate) window_base: usize,
    peer_count: u32,
    /// Not zero where fence and quiet have more to do than order this processor's stores: the endpoint is closed, or
    /// operations are outstanding on its lane. Where several threads share the lane it never changes.
    busy: Cell<u32>,
    /// Bytes of a peer's window as posts in line reach it; 0 where there are none.
    pub(crate) device_len: usize,
    /// Begin of the window's second part, in bytes from its base: it has another key.
    pub(crate) split: usize,
    /// Ends of the two parts, in bytes from the window's base.
    pub(crate) ends: [usize; 2],
    /// Bytes of the window where an element of 8 bytes may begin that goes as a message of libfabric; 0
    /// where elements go otherwise, or several threads use the lane.
    pub(crate) by_message: usize,
    pub(crate) route: Route,
    pub(crate) far: Far,
    /// The lane's numbers of the peers over a device, where they are others than the endpoint's; null
    /// otherwise.
    numbers: *const PeerIndex,
}

const _: () = assert!(size_of::<Endpoint>() <= 128);

/// The places and lengths by which a program does the near part of operations itself, at the place
/// of the call: constants as long as the endpoint is enabled.
#[derive(Clone, Copy, Debug)]
pub struct InLine {
    /// The records of the peers.
    pub peers: *const Peer,
    /// Number of the records; 0 where the endpoint is closed.
    pub peer_count: u32,
    /// The base of the own window.
    pub window_base: usize,
    /// Whether a fence has nothing to order but this processor's stores, after any earlier call.
    pub stores_alone: bool,
}

impl Endpoint {
    /// Makes an endpoint without peers; fence and quiet on it report that it is not enabled.
    pub const fn closed() -> Self {
        Self {
            peers: std::ptr::null(),
            window_base: 0,
            peer_count: 0,
            busy: Cell::new(1),
            device_len: 0,
            split: 0,
            ends: [0; 2],
            by_message: 0,
            route: Route::none(),
            far: Far::None,
            numbers: std::ptr::null(),
        }
    }

    /// Makes an endpoint without peers whose fence and quiet have nothing to do: for handles that
    /// stand for no context.
    pub const fn void() -> Self {
        Self {
            busy: Cell::new(0),
            ..Self::closed()
        }
    }

    /// Binds the endpoint to the peers and the memory of `domain`, and to its default lane if there is a device.
    ///
    /// # Safety
    /// The domain must outlive every use of the endpoint until [`Endpoint::close`]. Endpoints of one lane are used by one thread
    /// at a time, unless the lane is for several.
    pub unsafe fn enable(&mut self, domain: &Domain) {
        // SAFETY: domain, peers and gate, which is the domain's, outlive every use of the endpoint;
        // those of one gate are used by one thread at a time, unless it is for several.
        unsafe { self.enable_on(domain, domain.peers(), None, domain.gate()) };
    }

    /// Binds the endpoint to `peers`, which are some of those of `domain`, numbered as in `peers`, to the memory of `domain`,
    /// and to `gate`, which is one of [`Domain::open_gate`]'s. Which peers of the domain they are, `numbers` says, where that is not all
    /// of them in their order.
    ///
    /// # Safety
    /// Domain, peers, numbers and gate must outlive every use of the endpoint until [`Endpoint::close`]. Endpoints of one gate are used by
    /// one thread at a time, unless it is for several.
    pub unsafe fn enable_on(
        &mut self,
        domain: &Domain,
        peers: &AddressVector,
        numbers: Option<&[PeerIndex]>,
        gate: Option<&Gate>,
    ) {
        let records = peers.records();
        assert!(numbers.is_none_or(|numbers| numbers.len() == records.len()));
        *self = Self {
            peers: records.as_ptr(),
            window_base: domain.window().base(),
            peer_count: records.len() as u32,
            busy: Cell::new(0),
            ..Self::closed()
        };
        let Some((gate, network)) = gate.zip(domain.network()) else {
            return;
        };
        self.split = network.split();
        self.ends = network.ends();
        self.busy = Cell::new(gate.is_shared().into());
        let other = numbers.filter(|numbers| numbers.iter().zip(0..).any(|(&a, b)| a != b));
        if let Gate::Libfabric(gate) = gate {
            if gate.swaps_elements() {
                self.by_message = self.ends[1].saturating_sub(size_of::<u64>() - 1);
            }
            // SAFETY: the gate outlives every use of the endpoint.
            self.far = Far::Libfabric(unsafe { Libfabric::new(gate) });
        }
        if let Gate::Mlx5(gate) = gate {
            self.route = Route::of(gate.lane());
            if let (Some(numbers), true) = (other, gate.is_default()) {
                // It may have a queue for each peer, by the domain's numbers.
                self.numbers = numbers.as_ptr();
                self.route = Route::of(gate.lane()).out_of_line();
            }
            if self.route.is_in_line() {
                self.device_len = domain.window().len();
            }
            // SAFETY: the gate outlives every use of the endpoint; those of one gate are used by
            // one thread at a time, unless it is for several.
            self.far = Far::Mlx5(unsafe { Mlx5::new(gate) });
        }
    }

    /// Returns the lane's number of a peer that the endpoint has.
    #[inline]
    pub(crate) fn number_on_lane(&self, peer: PeerIndex) -> PeerIndex {
        if self.numbers.is_null() {
            return peer;
        }
        assert!(peer < self.peer_count);
        // SAFETY: there are as many numbers as peers, and they live while the endpoint is enabled.
        unsafe { *self.numbers.add(peer as usize) }
    }

    /// Unbinds the endpoint; operations on it are refused from then on.
    pub fn close(&mut self) {
        *self = Self::closed();
    }

    /// Returns whether fence and quiet have more to do than order this processor's stores.
    #[inline(always)]
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.get() != 0
    }

    /// Notes that something is outstanding on the lane, which is this thread's alone.
    #[inline(always)]
    pub(crate) fn set_busy(&self) {
        self.busy.set(1);
    }

    /// Notes that something is outstanding on the lane.
    pub(crate) fn note_busy(&self) {
        if !self.is_busy() {
            self.set_busy();
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

    /// Notes that nothing is outstanding on the lane, which is this thread's alone.
    #[inline(always)]
    pub(crate) fn set_idle(&self) {
        self.busy.set(0);
    }

    /// Returns the places and lengths for a program that does the near part of operations itself.
    pub fn in_line(&self) -> InLine {
        InLine {
            peers: self.peers,
            peer_count: self.peer_count,
            window_base: self.window_base,
            stores_alone: self.peer_count > 0 && matches!(self.far, Far::None),
        }
    }

    /// Returns the number of peers, 0 when closed.
    #[inline(always)]
    pub fn peer_count(&self) -> u32 {
        self.peer_count
    }

    /// Returns the place of an element of up to [`crate::symmetric::window::ELEMENT_SLACK`] bytes
    /// at the own symmetric address `addr` on `peer`, as an address of this process; `None` when it
    /// takes another route or is not symmetric.
    #[inline(always)]
    pub fn element(&self, addr: usize, peer: PeerIndex) -> Option<usize> {
        let record = self.record(peer)?;
        if addr.wrapping_sub(self.window_base) < record.window_len {
            Some(addr.wrapping_add(record.delta))
        } else {
            None
        }
    }

    /// Does as [`Endpoint::element`], for `count` elements of `size` bytes each; their product may
    /// overflow.
    #[inline(always)]
    pub fn range(&self, addr: usize, count: usize, size: usize, peer: PeerIndex) -> Option<usize> {
        let record = self.record(peer)?;
        self.range_on(addr, count, size, record)
    }

    /// Does as [`Endpoint::range`], on the peer of this record.
    #[inline(always)]
    pub(crate) fn range_on(
        &self,
        addr: usize,
        count: usize,
        size: usize,
        record: &Peer,
    ) -> Option<usize> {
        let offset = addr.wrapping_sub(self.window_base);
        if offset < record.window_len && count <= (record.window_len - offset) / size {
            Some(addr.wrapping_add(record.delta))
        } else {
            None
        }
    }

    /// Returns the bytes from the window's base to `addr`, modulo 2^64.
    #[inline(always)]
    pub(crate) fn offset(&self, addr: usize) -> usize {
        addr.wrapping_sub(self.window_base)
    }

    /// Returns the own address so many bytes from the window's base, modulo 2^64.
    #[inline(always)]
    pub(crate) fn addr(&self, offset: usize) -> usize {
        offset.wrapping_add(self.window_base)
    }

    /// Returns the place of the queue of the peer with this record.
    #[inline(always)]
    pub(crate) fn place(&self, record: &Peer) -> Place {
        again((&raw const *record).addr()).wrapping_sub(self.peers.addr())
    }

    /// Returns the number of the peer with this record.
    pub(crate) fn peer_of(&self, record: &Peer) -> PeerIndex {
        (self.place(record) / size_of::<Peer>()) as PeerIndex
    }

    /// Returns the place of the bytes at an own address over the device, fewer than the window may
    /// have; `None` where they are not in one part of it.
    #[inline(always)]
    pub(crate) fn there_of<'a>(
        &self,
        addr: usize,
        bytes: usize,
        record: &'a Peer,
    ) -> Option<There<'a>> {
        self.there_at(self.offset(addr), bytes, record)
    }

    /// Does as [`Endpoint::there_of`], for bytes at `offset` from the own window's base.
    #[inline(always)]
    pub(crate) fn there_at<'a>(
        &self,
        offset: usize,
        bytes: usize,
        record: &'a Peer,
    ) -> Option<There<'a>> {
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

    /// Returns whether the bytes, fewer than the window may have, are in the lower part of the
    /// window or else in the upper; none where they are not in one part.
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

    /// Returns the record of a peer, which exists if the caller `is_checked`.
    ///
    /// # Safety
    /// The endpoint has the peer, if the caller `is_checked`.
    #[inline(always)]
    pub(crate) unsafe fn record_for(&self, is_checked: bool, peer: PeerIndex) -> Option<&Peer> {
        if is_checked {
            // SAFETY: `peers` points to records of all peers, of which this is one, that live while
            // the endpoint is enabled.
            Some(unsafe { &*in_register(self.peers.add(peer as usize)) })
        } else {
            self.record(peer)
        }
    }

    #[inline(always)]
    pub(crate) fn record(&self, peer: PeerIndex) -> Option<&Peer> {
        if peer < self.peer_count {
            // SAFETY: `peers` points to `peer_count` records that live while the endpoint is enabled.
            Some(unsafe { &*in_register(self.peers.add(peer as usize)) })
        } else {
            None
        }
    }

    /// Returns the bytes to add, modulo 2^64, to an address in the own window to get that of `peer` as
    /// mapped here: `None` where loads and stores do not reach it, or the processor's atomics, if they
    /// are asked for.
    pub fn mapped_at(&self, peer: PeerIndex, by_atomics: bool) -> Option<usize> {
        let record = self.record(peer)?;
        let len = if by_atomics {
            record.atomic_len
        } else {
            record.window_len
        };
        (len != 0).then_some(record.delta)
    }

    /// Returns the reason why `bytes` bytes at `addr` on `peer` are not reached; `bytes` saturates.
    #[cold]
    pub fn refusal(&self, addr: usize, bytes: usize, peer: PeerIndex) -> Error {
        if self.peer_count == 0 {
            return Error::NotEnabled;
        }
        let Some(record) = self.record(peer) else {
            return Error::NoSuchPeer;
        };
        if bytes > isize::MAX as usize {
            Error::TooLong
        } else if addr.wrapping_sub(self.window_base) < record.window_len {
            Error::PastWindow
        } else {
            Error::NotInWindow
        }
    }
}

/// Returns whether an object at `offset` in a window is within `len` bytes of it, which are the
/// window's or none: one that is known to be in the window is, if there are any.
#[inline(always)]
pub(crate) fn is_within(is_checked: bool, offset: impl FnOnce() -> usize, len: usize) -> bool {
    if is_checked { len != 0 } else { offset() < len }
}

/// Returns the place of the queue of a peer, of a number which the compiler takes for another: so
/// values computed from it are not shared with those that the paths to peers of this node compute,
/// and those keep their registers.
#[inline(always)]
pub(crate) fn anew(number: u32) -> Place {
    #[cfg(target_arch = "x86_64")]
    {
        let again: usize;
        // SAFETY: one move between registers, which clears the upper half of its target.
        unsafe {
            core::arch::asm!("mov {0:e}, {1:e}", lateout(reg) again, in(reg) number, options(pure, nomem, nostack, preserves_flags));
        }
        again * size_of::<Peer>()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        number as usize * size_of::<Peer>()
    }
}

/// Returns the same word, which the compiler takes for another: so values computed from it need not
/// be kept.
#[inline(always)]
pub(crate) fn again(word: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        let mut word = word;
        // SAFETY: a comment of the assembler's.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) word, options(nomem, nostack, preserves_flags));
        }
        word
    }
    #[cfg(not(target_arch = "x86_64"))]
    word
}

/// Returns any word, which the compiler does not know: an argument that holds its register, so that
/// those behind it stay in theirs. It stays where it stands: a branch behind it can be a call in
/// the tail position.
#[inline(always)]
pub(crate) fn anything() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        let word: usize;
        // SAFETY: a comment of the assembler's; any word will do.
        unsafe {
            core::arch::asm!("/* {0} */", out(reg) word, options(nomem, nostack, preserves_flags));
        }
        word
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// Returns the same pointer, computed once: without this the compiler computes the record's address
/// anew for each of its fields, one instruction more on every path.
#[inline(always)]
fn in_register<T>(pointer: *const T) -> *const T {
    #[cfg(target_arch = "x86_64")]
    {
        let mut pointer = pointer;
        // SAFETY: no instruction at all; "readonly" is said of its possible use of a pointer.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) pointer, options(pure, readonly, nostack, preserves_flags));
        }
        pointer
    }
    #[cfg(not(target_arch = "x86_64"))]
    pointer
}
