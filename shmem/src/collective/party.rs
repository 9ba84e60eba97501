//! The PEs that take part in a collective operation, as the algorithms see them.

use crate::ctx;
use crate::report;
use crate::rma;
use crate::routine::Routine;
use crate::team::group::Team;
use fi_provider::symmetric::address_vector::PeerIndex;
use std::ffi::c_int;
use std::sync::atomic::Ordering;

/// The PEs of a team or an active set, of which this PE is one.
pub(crate) trait Party {
    /// Returns their number.
    fn len(&self) -> usize;

    /// Returns this PE's number among them.
    fn me(&self) -> usize;

    /// Returns the PE with number `index`.
    fn pe(&self, index: usize) -> PeerIndex;

    /// Returns whether the memory of all is reached by loads and stores.
    fn is_near(&self) -> bool;

    /// Waits for all; their earlier stores are visible then.
    fn meet(&self, at: Routine);

    /// Tells the others a count, which they may ask for between the next two meetings.
    fn publish(&self, count: usize);

    /// Returns the count that `index` has told.
    fn published(&self, at: Routine, index: usize) -> usize;
}

impl Party for Team {
    fn len(&self) -> usize {
        self.pes().len()
    }

    fn me(&self) -> usize {
        Self::me(self)
    }

    fn pe(&self, index: usize) -> PeerIndex {
        self.pes()[index]
    }

    fn is_near(&self) -> bool {
        self.groups().len() == 1
    }

    fn meet(&self, at: Routine) {
        Self::meet(self, at);
    }

    fn publish(&self, count: usize) {
        // ORDERING: the PEs meet before they read it.
        self.block().count.store(count as u64, Ordering::Relaxed);
    }

    fn published(&self, at: Routine, index: usize) -> usize {
        let count = self.block().count.as_ptr();
        // SAFETY: the word is in the workspace, which is symmetric.
        let count = unsafe { rma::g(ctx::default_ctx(), at, count, self.pes()[index] as i32) };
        count as usize
    }
}

/// Reads `bytes` bytes at the symmetric address `source` of `party`'s PE `index`.
///
/// # Safety
/// `dest` is writable for `bytes` bytes.
#[inline]
pub(crate) unsafe fn fetch(
    party: &impl Party,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    index: usize,
) {
    let pe = party.pe(index) as c_int;
    // SAFETY: `dest` is writable for `bytes` bytes; a source that is not symmetric is refused.
    unsafe { rma::get(ctx::default_ctx(), at, dest, source, bytes, pe) };
}

/// Returns the address in this process of the `bytes` bytes at the symmetric address `addr` of
/// `party`'s PE `index`; ends the job where the address is not symmetric. The party is near, or the
/// PE is this one.
#[inline]
pub(crate) fn near(
    party: &impl Party,
    at: Routine,
    what: &'static str,
    addr: usize,
    bytes: usize,
    index: usize,
) -> usize {
    let endpoint = &ctx::default_ctx().endpoint;
    let pe = party.pe(index);
    match endpoint.range(addr, bytes, 1, pe) {
        Some(address) => address,
        None => {
            let error = endpoint.refusal(addr, bytes, pe);
            report::transfer(at, error, what, addr, bytes, pe as c_int)
        }
    }
}

/// Ends the job where `bytes` bytes at `dest` or `source` are not in the own symmetric memory.
///
/// Little data goes through slots, and then no PE would find out from the others' arrays.
pub(crate) fn expect_symmetric(
    party: &impl Party,
    at: Routine,
    dest: *const u8,
    source: *const u8,
    bytes: usize,
) {
    for (what, array) in [("dest", dest), ("source", source)] {
        near(party, at, what, array.addr(), bytes, party.me());
    }
}
