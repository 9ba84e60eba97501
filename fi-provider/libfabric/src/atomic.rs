//! Atomic operations on memory of peers (fi_atomic(3)).

use crate::ep::{self, Object};
use crate::info::INJECT_SIZE;
use crate::object::{Code, object, only, size, status};
use crate::state::{Counts, Ep};
use crate::transfer::{Flags, with_report};
use crate::{domain, work};
use fi_ofi_abi::*;
use fi_provider::raw::completion::{Context, Counted, CountedContext, Silent};
use fi_provider::raw::endpoint::{Arithmetic, Datatype, RemoteRegion, Typed, Word};
use fi_provider::raw::error::Error;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::slice::from_raw_parts;

pub(crate) static OPS: FiOpsAtomic = FiOpsAtomic {
    size: size_of::<FiOpsAtomic>(),
    write,
    writev,
    writemsg,
    inject,
    readwrite,
    readwritev,
    readwritemsg,
    compwrite,
    compwritev,
    compwritemsg,
    writevalid,
    readwritevalid,
    compwritevalid,
};

/// Elements of one call, at most: each is an operation of its own.
const MOST: usize = 256;
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
    /// These, of an operation with comparands (fi_compare_atomic).
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
        let element = |place: *mut u8| unsafe {
            if place.is_null() {
                return 0;
            }
            let mut word = [0_u8; 8];
            std::ptr::copy_nonoverlapping(place, word.as_mut_ptr(), bytes);
            u64::from_le_bytes(word)
        };
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

    /// Starts the operation on regions that were looked up.
    ///
    /// # Safety
    /// The lists have as many elements, each; the results are nobody else's until the operation is
    /// reported.
    unsafe fn start(&self, ep: &Ep, typed: Typed, regions: &[&RemoteRegion]) -> Result<(), Error> {
        let counts = match self.kind {
            Kind::Base => Counts::Written,
            Kind::Fetch | Kind::Compare => Counts::Read,
        };
        let how = self.flags.how(ep, counts);
        // SAFETY: the lists have as many elements.
        let elements = unsafe { self.elements(typed, regions) };
        let Some(raw) = ep.raw.get() else {
            return Err(Error::NoSuchPeer);
        };
        with_report!(how, self.context, |report| {
            // SAFETY: each result has room for its element and is nobody else's until the operation
            // is reported; there is none in calls of the first kind.
            unsafe { raw.update(&elements, typed, report) }
        })
    }

    /// Looks regions up, one for each piece there, and starts the operation on them.
    ///
    /// # Safety
    /// As [`Update::start`].
    unsafe fn look_up(
        &self,
        ep: &Ep,
        typed: Typed,
        regions: &mut Vec<RemoteRegion>,
    ) -> Result<(), Code> {
        let next = self.there[regions.len()];
        let (peer, raw) = (ep.peer(self.peer)?, ep.enabled()?);
        if regions.len() + 1 == self.there.len() {
            let done = raw.on_region(peer, next.key, |last| {
                let all: Vec<_> = regions.iter().chain([last]).collect();
                // SAFETY: the lists and the results are as `start` requires, by this function's
                // requirement.
                unsafe { self.start(ep, typed, &all) }
            });
            return done.map_err(Error::code);
        }
        let found = raw.on_region(peer, next.key, |region| Ok(region.clone()));
        regions.push(found.map_err(Error::code)?);
        // SAFETY: the lists and the results are as `start` requires, by this function's requirement.
        unsafe { self.look_up(ep, typed, regions) }
    }
}

/// Starts an operation, unless its arguments are wrong.
///
/// # Safety
/// The operands and comparands are there during the call; the results have room, and are nobody
/// else's until the operation is reported.
unsafe fn start(ep: *mut FidEp, update: &Update<'_>) -> isize {
    let domain = &object!(Object, ep).shared.raw;
    let known = typed(update.kind, update.what).filter(|typed| domain.updates(*typed));
    ep::start(ep, |ep| {
        ep.enabled()?;
        let typed = known.ok_or(libc::EOPNOTSUPP)?;
        let count = update.count(typed)?;
        let injects = update.flags.how(ep, Counts::Written).injects;
        if injects && count * typed.bytes() > INJECT_SIZE {
            return Err(libc::EMSGSIZE);
        }
        // SAFETY: the lists have as many elements, as was just found out; the results are nobody
        // else's until the operation is reported, by this function's requirement.
        unsafe { update.look_up(ep, typed, &mut Vec::new()) }
    })
}

/// The elements at an address.
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

/// The elements of a peer that lists here are for.
pub(crate) fn there(addr: u64, key: u64, lists: &[FiIoc]) -> [FiRmaIoc; 1] {
    let counts = lists.iter().map(|piece| piece.count);
    // One that cannot be is refused.
    let count = total(counts).unwrap_or(usize::MAX);
    [FiRmaIoc { addr, count, key }]
}

unsafe extern "C" fn write(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    _desc: *mut c_void,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
    context: *mut c_void,
) -> isize {
    let update = Update {
        kind: Kind::Base,
        operands: &here(operands, count),
        comparands: &[],
        results: &[],
        peer,
        there: &[FiRmaIoc { addr, count, key }],
        what: (datatype, operation),
        context,
        flags: Flags::Usual,
    };
    // SAFETY: the operands are there during the call, by fi_atomic(3), and there are no results.
    unsafe { start(ep, &update) }
}

unsafe extern "C" fn writev(
    ep: *mut FidEp,
    operands: *const FiIoc,
    _desc: *mut *mut c_void,
    count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
    context: *mut c_void,
) -> isize {
    // SAFETY: there are `count` pieces, by fi_atomic(3).
    let operands = unsafe { list(operands, count) };
    let update = Update {
        kind: Kind::Base,
        operands,
        comparands: &[],
        results: &[],
        peer,
        there: &there(addr, key, operands),
        what: (datatype, operation),
        context,
        flags: Flags::Usual,
    };
    // SAFETY: the operands are there during the call, by fi_atomic(3), and there are no results.
    unsafe { start(ep, &update) }
}

/// Starts the operation of a record.
///
/// # Safety
/// The lists of the record are as long as it says; the operands and comparands are there during the
/// call; the results have room, and are nobody else's until the operation is reported.
unsafe fn of_record(
    ep: *mut FidEp,
    kind: Kind,
    message: *const FiMsgAtomic,
    (comparands, results): (&[FiIoc], &[FiIoc]),
    flags: u64,
) -> isize {
    if let Err(code) = only(flags, FLAGS) {
        if flags & FI_TRIGGER != 0 {
            // SAFETY: the record's lists are as long as it says, and its context is one of
            // fi_trigger(3); operands, comparands and results stay until the completion.
            return size(unsafe {
                work::update(ep, (kind, &*message), (comparands, results), flags)
            });
        }
        return size(Err(code));
    }
    // SAFETY: the record has lists as long as it says; operands, comparands and results are as
    // `start` requires.
    unsafe {
        let message = &*message;
        let update = Update {
            kind,
            operands: list(message.msg_iov, message.iov_count),
            comparands,
            results,
            peer: message.addr,
            there: list(message.rma_iov, message.rma_iov_count),
            what: (message.datatype, message.op),
            context: message.context,
            flags: Flags::Own(flags),
        };
        start(ep, &update)
    }
}

unsafe extern "C" fn writemsg(ep: *mut FidEp, message: *const FiMsgAtomic, flags: u64) -> isize {
    // SAFETY: the record's lists are as long as it says, and the operands are there during the call,
    // by fi_atomic(3); there are no results.
    unsafe { of_record(ep, Kind::Base, message, (&[], &[]), flags) }
}

unsafe extern "C" fn inject(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
) -> isize {
    let update = Update {
        kind: Kind::Base,
        operands: &here(operands, count),
        comparands: &[],
        results: &[],
        peer,
        there: &[FiRmaIoc { addr, count, key }],
        what: (datatype, operation),
        context: null_mut(),
        flags: Flags::Inject,
    };
    // SAFETY: the operands are there during the call, by fi_atomic(3), and there are no results.
    unsafe { start(ep, &update) }
}

unsafe extern "C" fn readwrite(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    _desc: *mut c_void,
    results: *mut c_void,
    _result_desc: *mut c_void,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
    context: *mut c_void,
) -> isize {
    let update = Update {
        kind: Kind::Fetch,
        operands: &here(operands, count),
        comparands: &[],
        results: &here(results, count),
        peer,
        there: &[FiRmaIoc { addr, count, key }],
        what: (datatype, operation),
        context,
        flags: Flags::Usual,
    };
    // SAFETY: the operands are there during the call, and the application leaves the results alone
    // until the completion, by fi_atomic(3).
    unsafe { start(ep, &update) }
}

unsafe extern "C" fn readwritev(
    ep: *mut FidEp,
    operands: *const FiIoc,
    _desc: *mut *mut c_void,
    count: usize,
    results: *mut FiIoc,
    _result_desc: *mut *mut c_void,
    result_count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
    context: *mut c_void,
) -> isize {
    // SAFETY: there are so many pieces of each, by fi_atomic(3).
    let (operands, results) = unsafe { (list(operands, count), list(results, result_count)) };
    let update = Update {
        kind: Kind::Fetch,
        operands,
        comparands: &[],
        results,
        peer,
        there: &there(addr, key, results),
        what: (datatype, operation),
        context,
        flags: Flags::Usual,
    };
    // SAFETY: the operands are there during the call, and the application leaves the results alone
    // until the completion, by fi_atomic(3).
    unsafe { start(ep, &update) }
}

unsafe extern "C" fn readwritemsg(
    ep: *mut FidEp,
    message: *const FiMsgAtomic,
    results: *mut FiIoc,
    _result_desc: *mut *mut c_void,
    result_count: usize,
    flags: u64,
) -> isize {
    // SAFETY: the lists are as long as is said, the operands are there during the call, and the
    // application leaves the results alone until the completion, by fi_atomic(3).
    unsafe {
        let results = list(results, result_count);
        of_record(ep, Kind::Fetch, message, (&[], results), flags)
    }
}

unsafe extern "C" fn compwrite(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    _desc: *mut c_void,
    comparands: *const c_void,
    _compare_desc: *mut c_void,
    results: *mut c_void,
    _result_desc: *mut c_void,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
    context: *mut c_void,
) -> isize {
    let update = Update {
        kind: Kind::Compare,
        operands: &here(operands, count),
        comparands: &here(comparands, count),
        results: &here(results, count),
        peer,
        there: &[FiRmaIoc { addr, count, key }],
        what: (datatype, operation),
        context,
        flags: Flags::Usual,
    };
    // SAFETY: operands and comparands are there during the call, and the application leaves the
    // results alone until the completion, by fi_atomic(3).
    unsafe { start(ep, &update) }
}

unsafe extern "C" fn compwritev(
    ep: *mut FidEp,
    operands: *const FiIoc,
    _desc: *mut *mut c_void,
    count: usize,
    comparands: *const FiIoc,
    _compare_desc: *mut *mut c_void,
    compare_count: usize,
    results: *mut FiIoc,
    _result_desc: *mut *mut c_void,
    result_count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
    context: *mut c_void,
) -> isize {
    // SAFETY: there are so many pieces of each, by fi_atomic(3).
    let (operands, comparands, results) = unsafe {
        let comparands = list(comparands, compare_count);
        (
            list(operands, count),
            comparands,
            list(results, result_count),
        )
    };
    let update = Update {
        kind: Kind::Compare,
        operands,
        comparands,
        results,
        peer,
        there: &there(addr, key, results),
        what: (datatype, operation),
        context,
        flags: Flags::Usual,
    };
    // SAFETY: operands and comparands are there during the call, and the application leaves the
    // results alone until the completion, by fi_atomic(3).
    unsafe { start(ep, &update) }
}

unsafe extern "C" fn compwritemsg(
    ep: *mut FidEp,
    message: *const FiMsgAtomic,
    comparands: *const FiIoc,
    _compare_desc: *mut *mut c_void,
    compare_count: usize,
    results: *mut FiIoc,
    _result_desc: *mut *mut c_void,
    result_count: usize,
    flags: u64,
) -> isize {
    // SAFETY: the lists are as long as is said, operands and comparands are there during the call,
    // and the application leaves the results alone until the completion, by fi_atomic(3).
    unsafe {
        let lists = (list(comparands, compare_count), list(results, result_count));
        of_record(ep, Kind::Compare, message, lists, flags)
    }
}

/// Writes how many elements calls of a kind may have.
///
/// # Safety
/// `count` is NULL or may be written.
unsafe fn valid(ep: *mut FidEp, kind: Kind, what: (u32, u32), count: *mut usize) -> c_int {
    let domain = &object!(Object, ep).shared.raw;
    if !typed(kind, what).is_some_and(|typed| domain.updates(typed)) {
        return status(Err(libc::EOPNOTSUPP));
    }
    // SAFETY: `count` may be written if it is not NULL.
    match unsafe { count.as_mut() } {
        Some(count) => {
            *count = MOST;
            0
        }
        None => status(Err(libc::EINVAL)),
    }
}

unsafe extern "C" fn writevalid(
    ep: *mut FidEp,
    datatype: u32,
    op: u32,
    count: *mut usize,
) -> c_int {
    // SAFETY: `count` is NULL or may be written, by fi_atomic(3).
    unsafe { valid(ep, Kind::Base, (datatype, op), count) }
}

unsafe extern "C" fn readwritevalid(
    ep: *mut FidEp,
    datatype: u32,
    op: u32,
    count: *mut usize,
) -> c_int {
    // SAFETY: `count` is NULL or may be written, by fi_atomic(3).
    unsafe { valid(ep, Kind::Fetch, (datatype, op), count) }
}

unsafe extern "C" fn compwritevalid(
    ep: *mut FidEp,
    datatype: u32,
    op: u32,
    count: *mut usize,
) -> c_int {
    // SAFETY: `count` is NULL or may be written, by fi_atomic(3).
    unsafe { valid(ep, Kind::Compare, (datatype, op), count) }
}

/// Tells whether endpoints of the domain do an operation (fi_query_atomic).
pub(crate) unsafe extern "C" fn query(
    domain: *mut FidDomain,
    datatype: u32,
    operation: u32,
    attr: *mut FiAtomicAttr,
    flags: u64,
) -> c_int {
    let kind = match flags {
        0 => Kind::Base,
        FI_FETCH_ATOMIC => Kind::Fetch,
        FI_COMPARE_ATOMIC => Kind::Compare,
        _ => return -FI_EBADFLAGS,
    };
    let raw = &object!(domain::Object, domain).shared.raw;
    let typed = typed(kind, (datatype, operation)).filter(|typed| raw.updates(*typed));
    // SAFETY: `attr` is NULL or may be written, by fi_atomic(3).
    let attr = unsafe { attr.as_mut() };
    status(match (typed, attr) {
        (None, _) => Err(libc::EOPNOTSUPP),
        (_, None) => Err(libc::EINVAL),
        (Some(typed), Some(attr)) => {
            (attr.count, attr.size) = (MOST, typed.bytes());
            Ok(())
        }
    })
}
