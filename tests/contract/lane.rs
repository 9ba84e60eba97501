//! The operations, on behalf of the endpoint itself: their outcome is a result.

#![expect(
    unsafe_code,
    reason = "the fabric's operations are unsafe; places make them safe to call"
)]

use crate::access::Place;
use bytemuck::Pod;
use fi_provider::symmetric::Error;
use fi_provider::symmetric::address_vector::{AddressVector, PeerIndex};
use fi_provider::symmetric::atomic::{self, Integer, Word};
use fi_provider::symmetric::blocks::Blocks;
use fi_provider::symmetric::domain::Domain;
use fi_provider::symmetric::endpoint::Endpoint;
use fi_provider::symmetric::gate::Gate;
use fi_provider::symmetric::strided;
use fi_provider::symmetric::{element, range};
use std::ops::Deref;

/// An endpoint whose operations are safe, as they work on places only.
#[derive(Debug)]
pub(crate) struct Lane<'a> {
    endpoint: Endpoint,
    /// Address vector and gate that the endpoint is enabled on, if it is not the default one: given
    /// up after it.
    own: Option<Own>,
    /// Keeps the domain open.
    _domain: Option<&'a Domain>,
}

/// Resources of an endpoint beside the default one.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) peers: AddressVector,
    /// None on one node.
    /// Which peers of the domain they are.
    pub(crate) numbers: Vec<PeerIndex>,
    pub(crate) gate: Option<Gate>,
}

// SAFETY: an endpoint belongs to no thread, and the objects that it points to are there as long as
// the lane.
unsafe impl Send for Lane<'_> {}

/// A lane that several threads use at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared<'a, 'd>(&'a Lane<'d>);

// SAFETY: only lanes that were made for several threads are given out like this; their endpoint
// takes the gate's lock.
unsafe impl Send for Shared<'_, '_> {}

impl<'d> Deref for Shared<'_, 'd> {
    type Target = Lane<'d>;

    fn deref(&self) -> &Lane<'d> {
        self.0
    }
}

macro_rules! atomics {
    ($($name:ident: $kind:ident($($arg:ident),*) $(-> $ret:tt)?;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name<T: $kind>(&self, target: Place<T> $(, $arg: T)*, peer: PeerIndex) -> Result<atomics!(@ret $($ret)?), Error> {
            // SAFETY: threads share only lanes made for that ([`Shared`]). A place is aligned, and
            // holds an object of the own symmetric memory or is refused.
            unsafe { atomic::$name(&self.endpoint, (), target.at $(, $arg)*, peer) }
        }
    )*};
    (@ret) => { () };
    (@ret $ret:tt) => { $ret };
}

impl<'a> Lane<'a> {
    /// Makes a lane to the peers of `domain`.
    pub(crate) fn enabled(domain: &'a Domain) -> Self {
        let mut endpoint = Endpoint::closed();
        // SAFETY: the lane borrows the domain as long as it lives and never gives the endpoint away.
        unsafe { endpoint.enable(domain) };
        Self {
            endpoint,
            own: None,
            _domain: Some(domain),
        }
    }

    /// Makes a lane beside the default one, to the peers that it has of its own.
    pub(crate) fn beside(domain: &'a Domain, own: Own) -> Self {
        let mut endpoint = Endpoint::closed();
        // SAFETY: the lane borrows the domain as long as it lives; peers, numbers and gate are kept
        // in the lane, and do not move.
        unsafe { endpoint.enable_on(domain, &own.peers, Some(&own.numbers), own.gate.as_ref()) };
        Self {
            endpoint,
            own: Some(own),
            _domain: Some(domain),
        }
    }

    /// Closes the lane, and gives back its own parts.
    pub(crate) fn into_own(mut self) -> Option<Own> {
        self.endpoint.close();
        self.own
    }

    /// Returns the lane for several threads at a time; none where it was not made for them.
    pub(crate) fn shared(&self) -> Option<Shared<'_, 'a>> {
        let gate = self.own.as_ref()?.gate.as_ref();
        gate.is_none_or(|gate| gate.is_shared())
            .then_some(Shared(self))
    }

    /// Makes a lane to nobody.
    pub(crate) fn nowhere(endpoint: Endpoint) -> Self {
        assert_eq!(endpoint.peer_count(), 0);
        Self {
            endpoint,
            own: None,
            _domain: None,
        }
    }

    /// Unbinds the endpoint.
    pub(crate) fn close(&mut self) {
        self.endpoint.close();
    }

    /// Returns the endpoint's own number of peers.
    pub(crate) fn peer_count(&self) -> u32 {
        self.endpoint.peer_count()
    }

    /// Returns the place at which the fast path finds the element at `addr` of `peer`.
    pub(crate) fn element(&self, addr: usize, peer: PeerIndex) -> Option<usize> {
        self.endpoint.element(addr, peer)
    }

    #[inline(always)]
    pub(crate) fn inject<T: Copy>(
        &self,
        value: T,
        dest: Place<T>,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        // SAFETY: threads share only lanes made for that ([`Shared`]). A place is aligned, and
        // holds an object of the own symmetric memory or is refused.
        unsafe { element::write(&self.endpoint, (), dest.at, value, peer) }
    }

    #[inline(always)]
    pub(crate) fn read_element<T: Pod>(
        &self,
        source: Place<T>,
        peer: PeerIndex,
    ) -> Result<T, Error> {
        // SAFETY: threads share only lanes made for that ([`Shared`]). A place is aligned, and
        // holds an object of the own symmetric memory or is refused; a Pod has no invalid bit
        // patterns.
        unsafe { element::read(&self.endpoint, (), source.at, peer) }
    }

    pub(crate) fn write<T: Pod>(
        &self,
        dest: Place<T>,
        source: &[T],
        peer: PeerIndex,
    ) -> Result<(), Error> {
        assert!(source.len() <= dest.room);
        // SAFETY: the slice holds its elements and is not in symmetric memory; there is room for them at the place.
        unsafe { self.write_raw(dest.at, source.as_ptr(), source.len(), peer) }
    }

    pub(crate) fn read<T: Pod>(
        &self,
        dest: &mut [T],
        source: Place<T>,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        assert!(dest.len() <= source.room);
        // SAFETY: the slice has room for its elements and is not in symmetric memory; so many are at the place.
        unsafe { self.read_raw(dest.as_mut_ptr(), source.at, dest.len(), peer) }
    }

    /// Starts a write of each slice to its place, and waits for them.
    pub(crate) fn start_writes<T: Pod>(
        &self,
        writes: &[(Place<T>, &[T])],
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let result = writes.iter().try_for_each(|(dest, source)| {
            assert!(source.len() <= dest.room);
            // SAFETY: the slice holds its elements and is not in symmetric memory; there is room
            // for them at the place, and the slice stays as it is until the quiet below.
            unsafe { self.start_write_raw(dest.at, source.as_ptr(), source.len(), peer) }
        });
        result.and(self.quiet())
    }

    /// Starts a read of each place to its slice, and waits for them.
    pub(crate) fn start_reads<T: Pod>(
        &self,
        reads: &mut [(&mut [T], Place<T>)],
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let result = reads.iter_mut().try_for_each(|(dest, source)| {
            assert!(dest.len() <= source.room);
            // SAFETY: the slice has room for its elements and is not in symmetric memory; so many
            // are at the place, and nobody looks at the slice before the quiet below.
            unsafe { self.start_read_raw(dest.as_mut_ptr(), source.at, dest.len(), peer) }
        });
        result.and(self.quiet())
    }

    /// Does a [`Lane::write`] by pointers.
    ///
    /// # Safety
    /// The fabric refuses the range, or `dest` has room for `count` elements and `source` holds as many, which do not
    /// overlap the target unless they are the target.
    pub(crate) unsafe fn write_raw<T: Copy>(
        &self,
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        // SAFETY: threads share only lanes made for that ([`Shared`]). The fabric refuses the
        // range, or `source` holds `count` elements, which do not overlap the target unless they
        // are the target.
        unsafe { range::write(&self.endpoint, (), dest, source, count, peer) }
    }

    /// Does a [`Lane::read`] by pointers.
    ///
    /// # Safety
    /// The fabric refuses the range, or `source` holds `count` elements and `dest` has room for as many, which do not
    /// overlap the source unless they are the source.
    pub(crate) unsafe fn read_raw<T: Copy>(
        &self,
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        // SAFETY: threads share only lanes made for that ([`Shared`]). The fabric refuses the
        // range, or `dest` has room for `count` elements, which do not overlap the source unless
        // they are the source.
        unsafe { range::read(&self.endpoint, (), dest, source, count, peer) }
    }

    /// Starts a [`Lane::write_raw`] alone.
    ///
    /// # Safety
    /// As [`Lane::write_raw`], and `source` stays as it is until [`Lane::quiet`].
    pub(crate) unsafe fn start_write_raw<T: Copy>(
        &self,
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        // SAFETY: threads share only lanes made for that ([`Shared`]). The fabric refuses the
        // range, or `source` holds `count` elements and stays as it is until quiet; it does not
        // overlap the target unless it is the target.
        unsafe { range::start_write(&self.endpoint, (), dest, source, count, peer) }
    }

    /// Starts a [`Lane::read_raw`] alone.
    ///
    /// # Safety
    /// As [`Lane::read_raw`], and nobody uses `dest` until [`Lane::quiet`].
    pub(crate) unsafe fn start_read_raw<T: Copy>(
        &self,
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        // SAFETY: threads share only lanes made for that ([`Shared`]). The fabric refuses the
        // range, or `dest` has room for `count` elements, and nobody uses it until quiet; it does
        // not overlap the source unless it is the source.
        unsafe { range::start_read(&self.endpoint, (), dest, source, count, peer) }
    }

    /// Writes blocks; the fabric refuses blocks that do not fit behind the place.
    pub(crate) fn write_blocks<T: Pod>(
        &self,
        dest: Place<T>,
        source: &[T],
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let room = source.len();
        let at = source.as_ptr().cast_mut();
        self.write_blocks_from_home(dest, Place { at, room }, blocks, peer)
    }

    /// Does a [`Lane::write_blocks`] from the own symmetric memory.
    pub(crate) fn write_blocks_from_home<T: Pod>(
        &self,
        dest: Place<T>,
        source: Place<T>,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        assert!(blocks.span(blocks.source_stride) <= source.room);
        // SAFETY: threads share only lanes made for that ([`Shared`]). The source holds the blocks;
        // there is room for them or they are refused.
        unsafe { strided::write(&self.endpoint, (), dest.at, source.at, blocks, peer) }
    }

    /// Reads blocks; the fabric refuses blocks that are not all behind the place.
    pub(crate) fn read_blocks<T: Pod>(
        &self,
        dest: &mut [T],
        source: Place<T>,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let room = dest.len();
        let at = dest.as_mut_ptr();
        self.read_blocks_home(Place { at, room }, source, blocks, peer)
    }

    /// Does a [`Lane::read_blocks`] to the own symmetric memory.
    pub(crate) fn read_blocks_home<T: Pod>(
        &self,
        dest: Place<T>,
        source: Place<T>,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        assert!(blocks.span(blocks.dest_stride) <= dest.room);
        // SAFETY: threads share only lanes made for that ([`Shared`]). There is room for the
        // blocks; they are behind the place or refused.
        unsafe { strided::read(&self.endpoint, (), dest.at, source.at, blocks, peer) }
    }

    /// Adds one so many times without waiting, and then waits for quiet; returns the old value of
    /// each time.
    pub(crate) fn count<T: Integer>(
        &self,
        target: Place<T>,
        times: usize,
        peer: PeerIndex,
    ) -> Result<Vec<T>, Error> {
        let mut found = vec![T::ONE; times];
        for place in &mut found {
            // SAFETY: threads share only lanes made for that ([`Shared`]). A place is aligned, and
            // holds an object of the own symmetric memory or is refused; the vector is not touched
            // until quiet.
            let started =
                unsafe { atomic::start_fetch_inc(&self.endpoint, (), place, target.at, peer) };
            if started.is_err() {
                // The operations started so far still write to the vector.
                return self.quiet().and(started).map(|()| Vec::new());
            }
        }
        self.quiet().map(|()| found)
    }

    #[inline(always)]
    pub(crate) fn fence(&self) -> Result<(), Error> {
        self.endpoint.fence()
    }

    #[inline(always)]
    pub(crate) fn order_writes_before_atomics(&self) {
        self.endpoint.order_writes_before_atomics();
    }

    #[inline(always)]
    pub(crate) fn quiet(&self) -> Result<(), Error> {
        self.endpoint.quiet()
    }

    atomics! {
        fetch: Word() -> T;
        set: Word(value);
        swap: Word(value) -> T;
        add: Integer(value);
        fetch_add: Integer(value) -> T;
        and: Integer(value);
        or: Integer(value);
        xor: Integer(value);
        fetch_and: Integer(value) -> T;
        fetch_or: Integer(value) -> T;
        fetch_xor: Integer(value) -> T;
        compare_swap: Integer(cond, value) -> T;
    }
}
