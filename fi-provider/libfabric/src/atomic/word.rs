//! Atomic operations on one word, in few instructions.

use super::update::{Kind, load};
use crate::quick;
use fi_ofi_abi::*;
use fi_provider::raw::completion::CountedContext;
use fi_provider::raw::endpoint::{Atomic, Injected, OneWord, RemoteRegion, Typed};
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
    quick::at_once::<SAFE>(ep, |own, raw| {
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
                        raw.update_beyond_now(&one, Typed::wire_of(what.0, what.1), report)
                    }
            }
    })
}

/// The types and the operations of which the table below knows are below this.
const NUMBERS: u32 = 16;

/// The operations on words without results, by type and operation.
static INJECTED: [Option<Injected>; (NUMBERS * NUMBERS) as usize] = {
    let mut table = [None; (NUMBERS * NUMBERS) as usize];
    let types = [
        (FI_INT64, true),
        (FI_UINT64, true),
        (FI_INT32, false),
        (FI_UINT32, false),
    ];
    let mut at = 0;
    while at < types.len() {
        let (datatype, is_long) = types[at];
        let first = (datatype * NUMBERS) as usize;
        let [sum, write, and, or, xor] = if is_long {
            use Injected::*;
            [Add64, Set64, And64, Or64, Xor64]
        } else {
            use Injected::*;
            [Add32, Set32, And32, Or32, Xor32]
        };
        table[first + FI_SUM as usize] = Some(sum);
        table[first + FI_ATOMIC_WRITE as usize] = Some(write);
        table[first + FI_BAND as usize] = Some(and);
        table[first + FI_BOR as usize] = Some(or);
        table[first + FI_BXOR as usize] = Some(xor);
        at += 1;
    }
    table
};

/// Returns the operation on a word that libfabric's numbers are of, where no result is wanted.
#[inline(always)]
pub(super) fn injected(datatype: u32, operation: u32) -> Option<Injected> {
    // Both at once: a power of 2.
    if datatype | operation >= NUMBERS {
        return None;
    }
    INJECTED[(datatype * NUMBERS + operation) as usize]
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
