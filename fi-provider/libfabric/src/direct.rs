//! Tables for programs that do operations in line, at the place of the call (farreach_direct.h):
//! fi_open_ops(3) opens them on endpoints and on counters.
//!
//! Programs do so in domains that one thread at a time uses (FI_THREAD_DOMAIN): there is no lock then.

use crate::object::object;
use crate::rma;
use crate::state::Objects;
use crate::{cntr, ep};
use fi_ofi_abi::{FI_EBADFLAGS, FI_ENOSYS, FI_EOPBADSTATE, Fid, FidEp};
use fi_provider::raw::endpoint::Endpoint;
use fi_provider::raw::endpoint::direct::{Allowed, PLACES, Slot};
use std::cell::{Cell, OnceCell};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// The version of the layout of all tables, and of the slots to which they lead.
const VERSION: u64 = 2;

/// The table of an endpoint, as C has it: `struct farreach_ops_direct`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Table {
    version: u32,
    bytes: u32,
    slots: *const Slot,
    /// The places of slots, less one.
    mask: u64,
    written: *mut u64,
    read: *mut u64,
    /// Not zero where operations without flags of their own make no completions.
    silent: Cell<u64>,
    far: WriteFar,
    endpoint: *const Endpoint,
}

/// A program's record of an endpoint, as far as [`write_far`] reads it: the begin of
/// `struct farreach_direct_ep`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Prepared {
    ep: *mut FidEp,
    endpoint: *const Endpoint,
}

/// Writes 8 bytes to the region of a slot where the program does not: the arguments of
/// fi_inject_write without length and key, but the slot, and in place of the address its distance
/// from the region's first.
type WriteFar = unsafe extern "C" fn(
    prepared: *const Prepared,
    bytes: *const c_void,
    slot: *const Slot,
    peer: u64,
    distance: u64,
) -> isize;

unsafe extern "C" fn write_far(
    prepared: *const Prepared,
    bytes: *const c_void,
    slot: *const Slot,
    peer: u64,
    distance: u64,
) -> isize {
    // SAFETY: the program calls this with its opened table, for a slot that it has just looked at,
    // in a domain of one thread, whose turn is this one; so endpoint and region live. `bytes` holds
    // 8, which lie in the region where the distance says so.
    unsafe {
        let (prepared, slot) = (&*prepared, &*slot);
        let address = slot.start.wrapping_add(distance);
        if distance >= slot.far_room {
            let (ep, len) = (prepared.ep, size_of::<u64>());
            return rma::now::inject::<false>(ep, bytes, len, peer, address, slot.key);
        }
        let region = &*slot.region;
        if (*prepared.endpoint).write_posted(region, address, bytes.cast()) {
            return 0;
        }
        rma::now::inject_wider::<false>(prepared.ep, bytes, region, peer, address)
    }
}

const _: () = assert!(size_of::<Table>() == 64 && size_of::<Slot>() == 128);
const _: () = assert!(PLACES.is_power_of_two());

/// The part of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct OfEndpoint {
    table: OnceCell<Box<Table>>,
    /// Of the table to come.
    is_silent: Cell<bool>,
}

impl OfEndpoint {
    /// Notes whether operations without flags of their own make no completions.
    pub(crate) fn note(&self, is_silent: bool) {
        self.is_silent.set(is_silent);
        if let Some(table) = self.table.get() {
            table.silent.set(is_silent.into());
        }
    }

    fn table(&self, raw: &Endpoint) -> *const Table {
        let direct = raw.direct();
        let new = || Table {
            version: VERSION as u32,
            bytes: size_of::<Table>() as u32,
            slots: direct.slots,
            mask: PLACES as u64 - 1,
            written: direct.written,
            read: direct.read,
            silent: Cell::new(self.is_silent.get().into()),
            far: write_far,
            endpoint: raw,
        };
        &raw const **self.table.get_or_init(|| Box::new(new()))
    }
}

/// Tells whether there is progress to make, as far as few instructions tell. Programs that read a
/// counter themselves read the first two words: there is some unless the word and the byte are 0.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Rest {
    bell: Cell<*const AtomicU64>,
    todo: Cell<*const u8>,
    /// The only endpoint of the domain, whose word and byte they are; else null, and the word is
    /// another one, which is never 0.
    only: Cell<*const Endpoint>,
}

/// A word that is not 0.
static RUNG: AtomicU64 = AtomicU64::new(1);

impl Default for Rest {
    fn default() -> Self {
        Self {
            bell: Cell::new(&raw const RUNG),
            todo: Cell::new((&raw const RUNG).cast()),
            only: Cell::new(std::ptr::null()),
        }
    }
}

impl Rest {
    /// Copies the contents of another one.
    pub(crate) fn copy_from(&self, other: &Self) {
        let Self { bell, todo, only } = self;
        bell.set(other.bell.get());
        todo.set(other.todo.get());
        only.set(other.only.get());
    }

    /// Returns the only endpoint of the domain, where calls have nothing to do but with that
    /// ([`Objects::is_special`]).
    ///
    /// # Safety
    /// The domain's objects are there, and the caller has its turn at them as long as the reference is
    /// used.
    #[inline(always)]
    pub(crate) unsafe fn only<'a>(&self) -> Option<&'a Endpoint> {
        // SAFETY: `note` keeps the pointer to an endpoint of the domain, which is not closed before
        // `note` is called again, in a turn.
        unsafe { self.only.get().as_ref() }
    }

    /// Returns whether there is nothing to do beside an operation.
    ///
    /// # Safety
    /// As [`Rest::unrung`].
    #[inline(always)]
    pub(crate) unsafe fn is_at_rest(&self) -> bool {
        // SAFETY: the domain's objects are there, and the turn is the caller's.
        let only = unsafe { self.unrung() };
        only.is_some_and(Endpoint::is_at_rest)
    }

    /// Returns the only endpoint of the domain where its first word of bells is 0, and calls have
    /// nothing to do but with the endpoint ([`Objects::is_special`]).
    ///
    /// # Safety
    /// As [`Rest::only`].
    #[inline(always)]
    pub(crate) unsafe fn unrung<'a>(&self) -> Option<&'a Endpoint> {
        // SAFETY: `note` keeps the pointers to a word that is always there, or to one of an endpoint
        // of the domain, which is not closed before `note` is called again, in a turn.
        // ORDERING: decides only whether to make progress, which orders.
        if unsafe { &*self.bell.get() }.load(Ordering::Relaxed) != 0 {
            return None;
        }
        // SAFETY: a word that may be 0 is that of the only endpoint.
        Some(unsafe { &*self.only.get() })
    }
}

/// The table of a counter, as C has it: `struct farreach_ops_direct_cntr`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct OfCounter {
    version: u32,
    bytes: u32,
    count: *const u64,
    rest: *const Rest,
}

/// Notes which operations programs may do themselves: after endpoints, watchers, or the numbers of peers have
/// changed.
pub(crate) fn note(objects: &Objects) {
    let allowed = match (objects.is_special, objects.has_waits) {
        (false, _) => Allowed::All,
        // A thread that sleeps is woken by functions alone.
        (true, true) => Allowed::Nothing,
        (true, false) => Allowed::Near,
    };
    let running = || objects.running.iter().filter_map(|ep| ep.raw.get());
    running().for_each(|raw| raw.allow_direct(allowed));
    let all = objects.running.iter();
    all.for_each(|ep| ep.note_quick(!objects.is_special));
    let mut all = running();
    let rest = match (all.next(), all.next()) {
        (Some(raw), None) if !objects.is_special => {
            let (word, byte) = raw.rest();
            Rest {
                bell: Cell::new(word),
                todo: Cell::new(byte),
                only: Cell::new(raw),
            }
        }
        _ => Rest::default(),
    };
    objects.rest.copy_from(&rest);
    let queues = objects.queues.iter();
    queues.for_each(|(_, queue)| queue.note_rest(&rest));
}

/// Refuses other names and versions than these tables have.
///
/// # Safety
/// `name` ends with a zero.
unsafe fn check(name: *const c_char, version: u64, is_shared: bool) -> Result<(), c_int> {
    // SAFETY: `name` ends with a zero.
    if unsafe { CStr::from_ptr(name) } != c"farreach_direct" || is_shared {
        return Err(-FI_ENOSYS);
    }
    if version != VERSION {
        return Err(-FI_EBADFLAGS);
    }
    Ok(())
}

/// Opens the table of an endpoint (fi_open_ops), of the version that `flags` name.
pub(crate) unsafe extern "C" fn open_endpoint(
    fid: *mut Fid,
    name: *const c_char,
    flags: u64,
    ops: *mut *mut c_void,
    _: *mut c_void,
) -> c_int {
    let object = object!(ep::Object, fid);
    // SAFETY: `name` ends with a zero, by fi_domain(3).
    if let Err(code) = unsafe { check(name, flags, object.shared.is_shared) } {
        return code;
    }
    let turn = object.shared.lock();
    let ep = object.ep.get(&turn);
    let Some(raw) = ep.raw.get() else {
        return -FI_EOPBADSTATE;
    };
    let table = ep.direct.table(raw);
    // SAFETY: `ops` is where the caller wants the pointer; programs only read the table.
    unsafe { ops.write(table.cast_mut().cast()) };
    0
}

/// Opens the table of a counter, in the same way.
pub(crate) unsafe extern "C" fn open_counter(
    fid: *mut Fid,
    name: *const c_char,
    flags: u64,
    ops: *mut *mut c_void,
    _: *mut c_void,
) -> c_int {
    let object = object!(cntr::Object, fid);
    // SAFETY: `name` ends with a zero, by fi_domain(3).
    if let Err(code) = unsafe { check(name, flags, object.shared().is_shared) } {
        return code;
    }
    let turn = object.shared().lock();
    let new = || OfCounter {
        version: VERSION as u32,
        bytes: size_of::<OfCounter>() as u32,
        count: object.count(&turn),
        rest: &raw const *turn.rest,
    };
    let table: *const OfCounter = &raw const **object.direct().get_or_init(|| Box::new(new()));
    // SAFETY: `ops` is where the caller wants the pointer; programs only read the table.
    unsafe { ops.write(table.cast_mut().cast()) };
    0
}
