//! Copies between memory of this process and memory that other processes read or write meanwhile.
//!
//! A reader of an aligned element of 1, 2, 4 or 8 bytes sees the old or the new value, never a mixture:
//! every byte is moved by a load and a store of at least the element's size, or of overlapping pieces
//! each of which holds whole elements. That takes source and destination that are both aligned for the element,
//! as those of typed transfers are.

use std::sync::atomic::{Ordering, compiler_fence};

/// Copies `bytes` bytes from `source` to `dest`, which do not overlap unless they are equal.
///
/// Up to 16 bytes are moved in line, more by a call.
///
/// # Safety
/// `source` must be mapped for reading and `dest` for writing for `bytes` bytes.
#[inline(always)]
pub unsafe fn copy(dest: *mut u8, source: *const u8, bytes: usize) {
    // No instruction: a caller that reads in a loop the bytes that a peer writes gets a new answer
    // each time, also where this is inlined into the loop.
    // ORDERING: of the compiler only; the program's own order of calls is kept.
    compiler_fence(Ordering::SeqCst);
    if bytes > 16 {
        // SAFETY: `source` is mapped for reading and `dest` for writing for `bytes` bytes.
        unsafe { copy_long(dest, source, bytes) }
    } else if bytes >= 8 {
        // SAFETY: both ends hold at least 8 bytes; the two pieces cover 8 to 16.
        unsafe { ends::<u64>(dest, source, bytes) }
    } else if bytes >= 4 {
        // SAFETY: both ends hold at least 4 bytes; the two pieces cover 4 to 8.
        unsafe { ends::<u32>(dest, source, bytes) }
    } else if bytes >= 2 {
        // SAFETY: both ends hold at least 2 bytes; the two pieces cover 2 to 4.
        unsafe { ends::<u16>(dest, source, bytes) }
    } else if bytes == 1 {
        // SAFETY: one byte is mapped at `source` for reading and at `dest` for writing.
        unsafe { dest.write_volatile(source.read_volatile()) }
    }
}

/// Has the processor fetch the cache line of `address` for reading; no more than a hint.
#[inline(always)]
pub fn expect_read(address: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction changes no memory and no register, and does nothing where `address` is
    // not mapped.
    unsafe {
        core::arch::asm!(
            "prefetcht0 [{}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Moves the first and the last `T` of a range of at least one and at most two `T`.
///
/// # Safety
/// As [`copy`], with `bytes` between one and two sizes of `T`.
#[inline(always)]
unsafe fn ends<T: Copy>(dest: *mut u8, source: *const u8, bytes: usize) {
    let last = bytes - size_of::<T>();
    // SAFETY: both pieces lie inside the ranges; unaligned accesses are asked for as such.
    unsafe {
        let head = source.cast::<T>().read_unaligned();
        let tail = source.add(last).cast::<T>().read_unaligned();
        dest.cast::<T>().write_unaligned(head);
        dest.add(last).cast::<T>().write_unaligned(tail);
    }
}

/// Copies as [`copy`], up to 64 bytes in line: for messages, many of which have more than 16.
///
/// # Safety
/// As [`copy`].
#[inline(always)]
pub unsafe fn copy_message(dest: *mut u8, source: *const u8, bytes: usize) {
    // SAFETY: both ends hold the bytes, of which the pieces are.
    unsafe {
        if bytes <= 16 || bytes > FEW {
            return copy(dest, source, bytes);
        }
        piece(dest, source);
        if bytes > 32 {
            piece(dest.add(16), source.add(16));
            piece(dest.add(bytes - 32), source.add(bytes - 32));
        }
        piece(dest.add(bytes - 16), source.add(bytes - 16));
    }
}

/// The most bytes that [`copy_message`] copies in line.
pub const FEW: usize = 64;

/// Moves 16 bytes.
///
/// # Safety
/// As [`copy`], with 16 bytes.
#[inline(always)]
unsafe fn piece(dest: *mut u8, source: *const u8) {
    // SAFETY: both hold 16 bytes.
    unsafe {
        dest.cast::<[u64; 2]>()
            .write_unaligned(source.cast::<[u64; 2]>().read_unaligned())
    };
}

/// From so many bytes on the string instruction is faster than a loop of vectors.
#[cfg(target_arch = "x86_64")]
const STRING_FROM: usize = 2048;

/// Does [`copy`] for more than 16 bytes.
///
/// The C library's memcpy moves up to 2 KiB by vectors, whose halves, quarters and so on hold whole
/// elements. From there on it may use `rep movsb`, which an interrupt can stop at any byte: readers
/// were seen to get torn elements. `rep movsq` stops at multiples of 8 bytes from the start only, and is
/// as fast.
///
/// # Safety
/// As [`copy`].
#[inline(never)]
pub unsafe fn copy_long(dest: *mut u8, source: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if bytes >= STRING_FROM {
        // SAFETY: `source` is mapped for reading and `dest` for writing for `bytes` bytes.
        return unsafe { copy_string(dest, source, bytes) };
    }
    // SAFETY: the ranges are mapped; ranges that are equal are as good as disjoint for every memcpy, though not for
    // std's checked form of it.
    unsafe { libc::memcpy(dest.cast(), source.cast(), bytes) };
}

/// Copies by the string instruction, and the last bytes in pieces of 4, 2 and 1.
///
/// # Safety
/// As [`copy`].
#[cfg(target_arch = "x86_64")]
#[inline]
unsafe fn copy_string(mut dest: *mut u8, mut source: *const u8, bytes: usize) {
    // SAFETY: moves `bytes / 8` words inside the ranges, upwards (the direction flag is clear by the ABI).
    unsafe {
        core::arch::asm!(
            "rep movsq",
            inout("rcx") bytes / 8 => _,
            inout("rdi") dest,
            inout("rsi") source,
            options(nostack, preserves_flags)
        );
    }
    macro_rules! piece {
        ($t:ty) => {
            if bytes & size_of::<$t>() != 0 {
                // SAFETY: the rest of the ranges holds this piece.
                unsafe {
                    let piece = source.cast::<$t>().read_unaligned();
                    dest.cast::<$t>().write_unaligned(piece);
                    dest = dest.add(size_of::<$t>());
                    source = source.add(size_of::<$t>());
                }
            }
        };
    }
    piece!(u32);
    piece!(u16);
    piece!(u8);
    let _ = (dest, source);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_alignment_arrives_and_nothing_else_changes() {
        let source: Vec<u8> = (0..5000_u32).map(|i| (i * 7 + 1) as u8).collect();
        for bytes in (0..300).chain(2040..2064).chain([4095, 4096, 4097]) {
            for (to, from, is_message) in [
                (0, 0, false),
                (1, 0, false),
                (4, 4, true),
                (3, 7, false),
                (8, 2, true),
            ] {
                let mut dest = vec![0xee_u8; bytes + 32];
                let copy = if is_message { copy_message } else { copy };
                // SAFETY: both vectors are longer than offset and length together.
                unsafe { copy(dest.as_mut_ptr().add(to), source.as_ptr().add(from), bytes) };
                assert_eq!(
                    dest[to..to + bytes],
                    source[from..from + bytes],
                    "{bytes} {to} {from}"
                );
                assert!(
                    dest[..to]
                        .iter()
                        .chain(&dest[to + bytes..])
                        .all(|&b| b == 0xee),
                    "{bytes} {to}"
                );
            }
        }
    }
}
