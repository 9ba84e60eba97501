//! Atomic operations on elements in pieces: how their lists come together, and how they start.

use crate::deferred::Later;
use crate::ep::{self, Object};
use crate::info::INJECT_SIZE;
use crate::object::{Code, object};
use crate::state::{Counts, Ep, Own};
use crate::transfer::{Flags, How, with_report};
use crate::work::trigger;
use fi_ofi_abi::*;
use fi_provider::raw::address_vector::PeerIndex;
use fi_provider::raw::completion::{
    Context, CountedContext, CountedFailureContext, FailureContext,
};
use fi_provider::raw::endpoint::{Arithmetic, Datatype, Endpoint, RemoteRegion, Typed, Word};
use fi_provider::raw::error::Error;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::slice::from_raw_parts;

/// Elements of one call, at most: each is an operation of its own.
pub(super) const MOST: usize = 256;
/// Pieces of a list, at most.
const MOST_PIECES: usize = 4;
/// Flags of the calls with a record.
pub(crate) const FLAGS: u64 = FI_COMPLETION
    | FI_MORE
    | FI_INJECT
    | FI_INJECT_COMPLETE
    | FI_TRANSMIT_COMPLETE
    | FI_DELIVERY_COMPLETE;

/// The three kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing comes back (fi_atomic).
    Base,
    /// The elements come back that were there (fi_fetch_atomic).
    Fetch,
    /// The former elements come back, of an operation with comparands (fi_compare_atomic).
    Compare,
}

/// An operation on elements of a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Update<'a> {
    pub(crate) kind: Kind,
    pub(crate) operands: &'a [FiIoc],
    pub(crate) comparands: &'a [FiIoc],
    pub(crate) results: &'a [FiIoc],
    pub(crate) peer: u64,
    pub(crate) there: &'a [FiRmaIoc],
    /// Type and operation.
    pub(crate) what: (u32, u32),
    pub(crate) context: *mut c_void,
    pub(crate) flags: Flags,
}

impl<'a> Update<'a> {
    /// Makes an operation that has the flags of its endpoint, and no lists.
    pub(crate) fn usual(
        kind: Kind,
        (peer, there): (u64, &'a [FiRmaIoc]),
        what: (u32, u32),
        context: *mut c_void,
    ) -> Self {
        Self {
            kind,
            operands: &[],
            comparands: &[],
            results: &[],
            peer,
            there,
            what,
            context,
            flags: Flags::Usual,
        }
    }

    /// Makes the operation of a record.
    ///
    /// # Safety
    /// The lists of the record are as long as it says.
    pub(crate) unsafe fn of(
        kind: Kind,
        msg: &'a FiMsgAtomic,
        (comparands, results): (&'a [FiIoc], &'a [FiIoc]),
        flags: u64,
    ) -> Self {
        // SAFETY: the lists are as long as the record says.
        let (operands, there) = unsafe {
            let operands = list(msg.msg_iov, msg.iov_count);
            (operands, list(msg.rma_iov, msg.rma_iov_count))
        };
        Self {
            operands,
            comparands,
            results,
            flags: Flags::Own(flags),
            ..Self::usual(kind, (msg.addr, there), (msg.datatype, msg.op), msg.context)
        }
    }
}

/// Goes from element to element of a list of pieces.
struct Walk<'a> {
    pieces: &'a [FiIoc],
    at: usize,
    bytes: usize,
}

impl Walk<'_> {
    /// Returns the place of the next element; null behind the last one.
    fn next(&mut self) -> *mut u8 {
        while let Some(piece) = self.pieces.first() {
            if self.at < piece.count {
                let place = piece.addr.cast::<u8>().wrapping_add(self.at * self.bytes);
                self.at += 1;
                return place;
            }
            (self.pieces, self.at) = (&self.pieces[1..], 0);
        }
        null_mut()
    }
}

/// Returns the operation of two numbers of libfabric's, if calls of this kind may have it.
pub(crate) fn typed(kind: Kind, (datatype, operation): (u32, u32)) -> Option<Typed> {
    let datatype = *Datatype::ALL.get(datatype as usize)?;
    let operation = *Arithmetic::ALL.get(operation as usize)?;
    let is_its = match kind {
        Kind::Base => !operation.compares() && operation != Arithmetic::Read,
        Kind::Fetch => !operation.compares(),
        Kind::Compare => operation.compares(),
    };
    Typed::new(operation, datatype).filter(|_| is_its)
}

/// Loads an element; 0 where there is none.
///
/// # Safety
/// `place` is NULL, or that of an element of 1, 2, 4 or 8 `bytes`.
#[inline(always)]
pub(super) unsafe fn load(place: *const u8, bytes: usize) -> u64 {
    if place.is_null() {
        return 0;
    }
    // SAFETY: the element is there, of so many bytes.
    unsafe {
        match bytes {
            1 => place.read().into(),
            2 => place.cast::<u16>().read_unaligned().into(),
            4 => place.cast::<u32>().read_unaligned().into(),
            _ => place.cast::<u64>().read_unaligned(),
        }
    }
}

/// Returns how many elements there are.
fn total(mut counts: impl Iterator<Item = usize>) -> Result<usize, Code> {
    let add = |sum: usize, count| sum.checked_add(count);
    counts.try_fold(0, add).ok_or(libc::EMSGSIZE)
}

impl Update<'_> {
    /// Returns how many elements there are, in each list as many.
    pub(crate) fn count(&self, typed: Typed) -> Result<usize, Code> {
        let lists = [self.operands, self.comparands, self.results];
        let is_long = lists.iter().any(|list| list.len() > MOST_PIECES);
        if is_long || self.there.is_empty() || self.there.len() > MOST_PIECES {
            return Err(libc::EINVAL);
        }
        let count = total(self.there.iter().map(|piece| piece.count))?;
        let reads = typed.operation() == Arithmetic::Read;
        let wanted = [!reads, self.kind == Kind::Compare, self.kind != Kind::Base];
        for (list, _) in lists.iter().zip(wanted).filter(|(_, is_wanted)| *is_wanted) {
            let has_place = |piece: &FiIoc| piece.count == 0 || !piece.addr.is_null();
            let is_sound = list.iter().all(has_place);
            if !is_sound || total(list.iter().map(|piece| piece.count))? != count {
                return Err(libc::EINVAL);
            }
        }
        match count {
            0 => Err(libc::EINVAL),
            1..=MOST => Ok(count),
            _ => Err(libc::EMSGSIZE),
        }
    }

    /// Returns the elements, whose regions are those of the pieces there.
    ///
    /// # Safety
    /// The lists have as many elements, each.
    pub(crate) unsafe fn elements<'r>(
        &self,
        typed: Typed,
        regions: &[&'r RemoteRegion],
    ) -> Vec<Word<'r>> {
        let bytes = typed.bytes();
        let walk = |pieces| Walk {
            pieces,
            at: 0,
            bytes,
        };
        let [mut operands, mut comparands, mut results] =
            [self.operands, self.comparands, self.results].map(walk);
        let reads = typed.operation() == Arithmetic::Read;
        // SAFETY: `place` is NULL or that of an element.
        let element = |place: *mut u8| unsafe { load(place, bytes) };
        let pieces = self.there.iter().zip(regions);
        let places = pieces.flat_map(|(piece, region)| {
            let addresses = (0..piece.count as u64).map(|at| (at, *piece, *region));
            addresses
                .map(|(at, piece, region)| (region, piece.addr.wrapping_add(at * bytes as u64)))
        });
        let elements = places.map(|(region, address)| Word {
            region,
            address,
            operand: if reads { 0 } else { element(operands.next()) },
            comparand: element(comparands.next()),
            found: results.next(),
        });
        elements.collect()
    }

    /// Returns the only element.
    ///
    /// # Safety
    /// Each list has one.
    unsafe fn element<'r>(&self, typed: Typed, region: &'r RemoteRegion) -> Word<'r> {
        let place = |pieces: &[FiIoc]| {
            let piece = pieces.iter().find(|piece| piece.count > 0);
            piece.map_or(null_mut(), |piece| piece.addr.cast::<u8>())
        };
        let reads = typed.operation() == Arithmetic::Read;
        // SAFETY: `place` is NULL or that of an element.
        let load = |place: *mut u8| unsafe { load(place, typed.bytes()) };
        Word {
            region,
            address: self.there[0].addr,
            operand: if reads { 0 } else { load(place(self.operands)) },
            comparand: load(place(self.comparands)),
            found: place(self.results),
        }
    }

    /// Starts the operation on regions that were looked up.
    ///
    /// # Safety
    /// The lists have as many elements, each; the results are nobody else's until the operation is
    /// reported.
    unsafe fn start(
        &self,
        ep: &Ep,
        (typed, how): (Typed, How),
        regions: &[&RemoteRegion],
    ) -> Result<(), Error> {
        let Some(raw) = ep.raw.get() else {
            return Err(Error::NoSuchPeer);
        };
        let (one, several);
        let elements = match (self.there, regions) {
            ([FiRmaIoc { count: 1, .. }], [region]) => {
                // SAFETY: the lists have as many elements: one.
                one = unsafe { self.element(typed, region) };
                std::slice::from_ref(&one)
            }
            _ => {
                // SAFETY: the lists have as many elements.
                several = unsafe { self.elements(typed, regions) };
                &several[..]
            }
        };
        with_report!(how, self.context, |report| {
            // SAFETY: each result has room for its element and is nobody else's until the operation
            // is reported; there is none in calls of the first kind.
            unsafe { raw.update(elements, typed, report) }
        })
    }

    /// Looks regions up, one for each piece there, and starts the operation on them.
    ///
    /// # Safety
    /// As [`Update::start`].
    unsafe fn look_up(
        &self,
        ep: &Ep,
        (raw, peer): (&Endpoint, PeerIndex),
        what: (Typed, How),
        found: &[&RemoteRegion],
    ) -> Result<(), Error> {
        let Some(next) = self.there.get(found.len()) else {
            // SAFETY: the lists and the results are as `start` requires, by this function's
            // requirement.
            return unsafe { self.start(ep, what, found) };
        };
        raw.on_region(peer, next.key, |region| {
            let all = [found, &[region]].concat();
            // SAFETY: the lists and the results are as `start` requires, by this function's
            // requirement.
            unsafe { self.look_up(ep, (raw, peer), what, &all) }
        })
    }
}

/// Starts an operation, unless its arguments are wrong.
///
/// # Safety
/// The operands and comparands are there during the call; the results have room, and are nobody
/// else's until the operation is reported.
pub(super) unsafe fn start(ep: *mut FidEp, update: &Update<'_>) -> isize {
    let domain = &object!(Object, ep).shared.raw;
    let known = typed(update.kind, update.what).filter(|typed| domain.updates(*typed));
    let act = |own: Own<'_>| {
        own.ep.enabled()?;
        let typed = known.ok_or(libc::EOPNOTSUPP)?;
        let count = update.count(typed)?;
        let counts = match update.kind {
            Kind::Base => Counts::Written,
            Kind::Fetch | Kind::Compare => Counts::Read,
        };
        let how = update.flags.how(own, counts)?;
        if how.injects && count * typed.bytes() > INJECT_SIZE {
            return Err(libc::EMSGSIZE);
        }
        let (peer, raw) = (own.ep.peer(update.peer)?, own.ep.enabled()?);
        // SAFETY: the lists have as many elements, as was just found out; the results are nobody
        // else's until the operation is reported, by this function's requirement.
        let done = unsafe { update.look_up(own.ep, (raw, peer), (typed, how), &[]) };
        done.map_err(Error::code)
    };
    ep::start(ep, act, |turn, object| {
        let flags = update.flags.of(object.own(turn).usual);
        let later = Later::Update(*update, known.ok_or(libc::EOPNOTSUPP)?);
        // SAFETY: operands, comparands and results stay until the completion, by fi_trigger(3).
        unsafe { trigger(turn, object, &later, (update.context, flags)) }
    })
}

/// Returns the elements at an address.
pub(crate) fn here(addr: *const c_void, count: usize) -> [FiIoc; 1] {
    let addr = addr.cast_mut();
    [FiIoc { addr, count }]
}

/// Returns a list that C has handed over.
///
/// # Safety
/// `first` leads to `count` records, which stay as they are as long as the list is used.
pub(crate) unsafe fn list<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() {
        return &[];
    }
    // SAFETY: there are so many records, which stay as they are.
    unsafe { from_raw_parts(first, count) }
}

/// Returns the elements of a peer that lists here are for.
pub(crate) fn there(addr: u64, key: u64, lists: &[FiIoc]) -> [FiRmaIoc; 1] {
    let counts = lists.iter().map(|piece| piece.count);
    // One that cannot be is refused.
    let count = total(counts).unwrap_or(usize::MAX);
    [FiRmaIoc { addr, count, key }]
}
