//! Atomic operations by the device.

#![expect(unsafe_code, reason = "C functions, which take addresses")]

use super::{Alone, Any, Done, Engine, Error, NOT_TYPED, OK, Threads, atomic, ended, fail, typed};
use gasnet_conduit::{Guard, OfWord};
use std::ffi::c_int;

/// The operations on words, by their numbers in farreach_am.h.
static OF_WORDS: [Option<OfWord>; 11] = [
    Some(OfWord::Swap),
    Some(OfWord::Read),
    Some(OfWord::Add),
    None,
    None,
    None,
    Some(OfWord::And),
    Some(OfWord::Or),
    Some(OfWord::Xor),
    Some(OfWord::Swap),
    Some(OfWord::CompareSwap),
];

/// FARREACH_AM_ADD.
const ADD: c_int = 2;

/// The types of 8 bytes that have such operations, by their numbers in farreach_am.h.
const I64: c_int = 2;
const U64: c_int = 3;

/// Does as `farreach_am_device_atomic` where few instructions do not.
///
/// # Safety
/// As the C function.
#[inline(never)]
unsafe fn otherwise<G: Guard, const TRIES: bool>(
    am: *const Engine<G>,
    (rank, to): (u32, u64),
    (operation, datatype): (c_int, c_int),
    operands: (u64, u64),
    result: *mut u8,
    done: *mut u64,
) -> c_int {
    let Some(atomic) = atomic(operation, datatype, operands, result) else {
        return fail(&Error::Argument(NOT_TYPED));
    };
    // SAFETY: the engine is open; the rest is the caller's promise.
    ended(unsafe { (*am).device_atomic::<TRIES>(rank, to, &atomic, Done::new(done)) })
}

/// Starts an addition by few instructions, and calls nothing. Returns false where that is not
/// possible, and has done nothing.
///
/// # Safety
/// As `farreach_am_device_fetch_add`, whose result may be null here.
#[inline(always)]
unsafe fn add_now<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    to: u64,
    operand: u64,
    result: *mut u8,
    done: *mut u64,
) -> bool {
    let (place, operands) = ((rank as usize, to), (operand, 0));
    // SAFETY: the engine is open, and the rank one of the job's; the rest is the caller's promise.
    unsafe {
        rank < (*am).ranks()
            && (*am).device_word_now(place, OfWord::Add, operands, result, Done::new(done))
    }
}

/// Adds where few instructions do not, or do once there is room.
///
/// # Safety
/// As [`add_now`].
#[inline(never)]
unsafe fn add_otherwise<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    to: u64,
    operand: u64,
    result: *mut u8,
    done: *mut u64,
) -> c_int {
    // SAFETY: the engine is open, and the rank one of the job's; the rest is the caller's promise.
    unsafe {
        if rank < (*am).ranks()
            && (*am).widen_device_words(rank as usize)
            && add_now(am, rank, to, operand, result, done)
        {
            return OK;
        }
        otherwise::<_, false>(am, (rank, to), (ADD, U64), (operand, 0), result, done)
    }
}

macro_rules! functions {
    ($guard:ty: $add:ident $fetch_add:ident $($name:ident $tries:literal)+) => {
        /// Has the device add to a word of 8 bytes of a process's memory.
        ///
        /// # Safety
        /// `done` stays, as farreach_am.h says.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $add(
            am: *const Engine<$guard>,
            rank: u32,
            to: u64,
            operand: u64,
            done: *mut u64,
        ) -> c_int {
            let result = std::ptr::null_mut();
            // SAFETY: the engine is open; the rest is the caller's promise.
            unsafe {
                if add_now(am, rank, to, operand, result, done) {
                    return OK;
                }
                add_otherwise(am, rank, to, operand, result, done)
            }
        }

        /// Has the device add to a word of 8 bytes of a process's memory, and bring the word before.
        ///
        /// # Safety
        /// `result` is null or has room for the word, and `done` stays, as farreach_am.h says.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $fetch_add(
            am: *const Engine<$guard>,
            result: *mut u8,
            rank: u32,
            to: u64,
            operand: u64,
            done: *mut u64,
        ) -> c_int {
            // SAFETY: the engine is open; the rest is the caller's promise.
            unsafe {
                if !result.is_null() && add_now(am, rank, to, operand, result, done) {
                    return OK;
                }
                add_otherwise(am, rank, to, operand, result, done)
            }
        }

        $(
        /// Has the device do an atomic operation on an element of a process's memory.
        ///
        /// # Safety
        /// `result` is null or has room for an element, and `done` stays, as farreach_am.h says.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name(
            am: *const Engine<$guard>,
            rank: u32,
            to: u64,
            operation: c_int,
            datatype: c_int,
            operand: u64,
            comparand: u64,
            result: *mut u8,
            done: *mut u64,
        ) -> c_int {
            let (place, operands) = ((rank as usize, to), (operand, comparand));
            let of_word = match OF_WORDS.get(operation as usize) {
                Some(&of_word) if matches!(datatype, I64 | U64) => of_word,
                _ => None,
            };
            // SAFETY: the engine is open, and the rank one of the job's; the rest is the caller's
            // promise.
            unsafe {
                if let Some(of_word) = of_word
                    && rank < (*am).ranks()
                    && (*am).device_word_now(place, of_word, operands, result, Done::new(done))
                {
                    return OK;
                }
                let what = (operation, datatype);
                otherwise::<_, $tries>(am, (rank, to), what, operands, result, done)
            }
        }
    )+};
}

functions! { Alone: farreach_am_device_add farreach_am_device_fetch_add
farreach_am_device_atomic false farreach_am_try_device_atomic true }
functions! { Threads: farreach_am_device_add_threads farreach_am_device_fetch_add_threads
farreach_am_device_atomic_threads false farreach_am_try_device_atomic_threads true }

/// Returns whether the devices of all processes do an operation on elements of a type, 1 or 0.
///
/// # Safety
/// `am` is open.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_device_does(
    am: *const Any,
    operation: c_int,
    datatype: c_int,
) -> c_int {
    let typed = typed(operation, datatype);
    // SAFETY: the engine is open.
    typed
        .is_some_and(|(operation, datatype)| unsafe { (*am).device_does(operation, datatype) })
        .into()
}
