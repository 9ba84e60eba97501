//! Atomic operations on one word, in few instructions.

use super::update::{Kind, load, typed};
use crate::ep;
use fi_ofi_abi::*;
use fi_provider::raw::completion::CountedContext;
use fi_provider::raw::endpoint::{Atomic, OneWord, RemoteRegion};
use std::ffi::c_void;

/// Does an operation on one word, whether it was done: not where few instructions do not.
///
/// # Safety
/// The operand and the comparand, of [`Kind::Compare`], are there during the call, if they are not
/// NULL; the result has room, and is nobody else's until the operation is reported.
#[inline(always)]
pub(super) unsafe fn at_once<const SAFE: bool>(
    ep: *mut FidEp,
    kind: Kind,
    what: (u32, u32),
    (peer, there): (u64, FiRmaIoc),
    values: (*const c_void, *const c_void),
    (result, context): (*mut c_void, *mut c_void),
) -> bool {
    let Some(native) = native(kind, what).filter(|_| there.count == 1) else {
        return false;
    };
    let has_operand = !values.0.is_null() || native.0 == Atomic::Read;
    if !has_operand || result.is_null() != (kind == Kind::Base) {
        return false;
    }
    ep::at_once::<SAFE>(ep, |own, raw| {
        // SAFETY: of the endpoint's functions only those are called that update now.
        let Some(region) = (unsafe { raw.region_now(peer, there.key) }) else {
            return false;
        };
        let report = CountedContext(context.addr() as u64);
        // SAFETY: operand and comparand are there; the result has room until the operation is
        // reported.
        own.usual.is_plain.get()
            && unsafe {
                let one = one_word(region, there.addr, native, values, result.cast());
                raw.update_mapped_now(&one, report)
                    || if region.is_updated_in_line() {
                        // A value of its own, so that the other one needs no memory.
                        let one = one_word(region, there.addr, native, values, result.cast());
                        raw.update_word_over_device(&one, report)
                    } else {
                        typed(kind, what)
                            .is_some_and(|typed| raw.update_beyond_now(&one, typed, report))
                    }
            }
    })
}

/// Returns the operation on a word that libfabric's numbers are of, and the bytes of the word.
#[inline(always)]
pub(super) fn native(kind: Kind, (datatype, operation): (u32, u32)) -> Option<(Atomic, usize)> {
    let bytes = match datatype {
        FI_INT32 | FI_UINT32 => 4,
        FI_INT64 | FI_UINT64 => 8,
        _ => return None,
    };
    let native = match (kind, operation) {
        (Kind::Compare, FI_CSWAP) => Atomic::CompareSwap,
        (Kind::Compare, _) => return None,
        (_, FI_SUM) => Atomic::Add,
        (_, FI_BOR) => Atomic::Or,
        (_, FI_BAND) => Atomic::And,
        (_, FI_BXOR) => Atomic::Xor,
        (_, FI_ATOMIC_WRITE) => Atomic::Swap,
        (Kind::Fetch, FI_ATOMIC_READ) => Atomic::Read,
        _ => return None,
    };
    Some((native, bytes))
}

/// # Safety
/// Operand and comparand are NULL, or there, of the word's bytes.
#[inline(always)]
pub(super) unsafe fn one_word(
    region: &RemoteRegion,
    address: u64,
    (operation, bytes): (Atomic, usize),
    (operand, comparand): (*const c_void, *const c_void),
    found: *mut u8,
) -> OneWord<'_> {
    // SAFETY: the values are of so many bytes.
    let load = |value: *const c_void| unsafe { load(value.cast(), bytes) };
    OneWord {
        region,
        address,
        bytes,
        operation,
        operands: (load(operand), load(comparand)),
        found,
    }
}
