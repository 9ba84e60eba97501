//! Files in memory that the device maps, and programs as well.
#![expect(unsafe_code, reason = "mapped memory that others change meanwhile")]

use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{
    AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// Part of a file in memory that programs read and write meanwhile, which is moved by naturally
/// aligned elements of up to 8 bytes: none of them is torn.
#[derive(Debug)]
pub(super) struct View {
    first: NonNull<u8>,
    bytes: usize,
    is_writable: bool,
}

impl View {
    /// Maps so many bytes of the file, which nobody can make shorter, from `at` on.
    pub(super) fn of(file: BorrowedFd<'_>, at: u64, bytes: u64, is_writable: bool) -> Result<Self> {
        let bytes = usize::try_from(bytes).map_err(|_| ErrorKind::OutOfMemory)?;
        let rights = match is_writable {
            true => libc::PROT_READ | libc::PROT_WRITE,
            false => libc::PROT_READ,
        };
        // SAFETY: the system chooses where there is room.
        let first = unsafe {
            libc::mmap(
                null_mut(),
                bytes,
                rights,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                at.cast_signed(),
            )
        };
        if first == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        let first = NonNull::new(first.cast()).ok_or(ErrorKind::OutOfMemory)?;
        Ok(Self {
            first,
            bytes,
            is_writable,
        })
    }

    /// Returns the aligned word at byte `at`, if there is one.
    pub(super) fn word(&self, at: u64) -> Option<u64> {
        // ORDERING: a doorbell record is written before the register that it is looked at for.
        Some(self.atomic(at)?.load(Acquire))
    }

    /// Takes the aligned word at byte `at`, if there is one that can be written: leaves 0, so that
    /// the same word is seen if it is written again.
    pub(super) fn take_word(&self, at: u64) -> Option<u64> {
        let word = self.atomic(at).filter(|_| self.is_writable)?;
        // ORDERING: as in `word`.
        match word.load(Acquire) {
            0 => Some(0),
            _ => Some(word.swap(0, Acquire)),
        }
    }

    fn atomic(&self, at: u64) -> Option<&AtomicU64> {
        let at = usize::try_from(at).ok()?;
        if !at.is_multiple_of(WORD) || !self.has(at, WORD) {
            return None;
        }
        // SAFETY: the word is in the mapping, which lives as long as `self`, and is aligned, as
        // mappings are by pages. It is written only where the mapping is writable.
        Some(unsafe { AtomicU64::from_ptr(self.first.add(at).as_ptr().cast()) })
    }

    /// Reads from byte `at` on; returns false if there are not so many bytes.
    pub(super) fn read(&self, at: usize, into: &mut [u8]) -> bool {
        if !self.has(at, into.len()) {
            return false;
        }
        let (to_word, of_words) = parts(at, into.len());
        let (head, rest) = into.split_at_mut(to_word);
        let (words, tail) = rest.split_at_mut(of_words);
        // SAFETY: all that is read is in the mapping, and elements are aligned in it.
        unsafe {
            let first = self.first.add(at);
            read_parts(first, head);
            let first = first.add(to_word);
            for (index, word) in words.as_chunks_mut().0.iter_mut().enumerate() {
                let from = AtomicU64::from_ptr(first.add(index * WORD).as_ptr().cast());
                // ORDERING: the fence below orders all loads.
                *word = from.load(Relaxed).to_ne_bytes();
            }
            read_parts(first.add(of_words), tail);
        }
        // ORDERING: later accesses of the device come behind these loads.
        fence(Acquire);
        true
    }

    /// Writes from byte `at` on; returns false if there are not so many bytes, or if they are not
    /// to be written.
    pub(super) fn write(&self, at: usize, bytes: &[u8]) -> bool {
        if !self.is_writable || !self.has(at, bytes.len()) {
            return false;
        }
        let (to_word, of_words) = parts(at, bytes.len());
        let (head, rest) = bytes.split_at(to_word);
        let (words, tail) = rest.split_at(of_words);
        // ORDERING: bytes of an earlier transfer are seen before these.
        fence(Release);
        // SAFETY: all that is written is in the mapping, and elements are aligned in it.
        unsafe {
            let first = self.first.add(at);
            write_parts(first, head);
            let first = first.add(to_word);
            for (index, word) in words.as_chunks().0.iter().enumerate() {
                let to = AtomicU64::from_ptr(first.add(index * WORD).as_ptr().cast());
                // ORDERING: words of one transfer have no order.
                to.store(u64::from_ne_bytes(*word), Relaxed);
            }
            write_parts(first.add(of_words), tail);
        }
        true
    }

    fn has(&self, at: usize, bytes: usize) -> bool {
        at.checked_add(bytes).is_some_and(|end| end <= self.bytes)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: the mapping is this, and nobody looks at it any more.
        unsafe { libc::munmap(self.first.as_ptr().cast(), self.bytes) };
    }
}

/// Returns the bytes of `length` bytes from `at` on that come before the first whole word, and those
/// of whole words.
fn parts(at: usize, length: usize) -> (usize, usize) {
    let to_word = (at.wrapping_neg() % WORD).min(length);
    (to_word, (length - to_word) / WORD * WORD)
}

/// Returns the size of the element at `at` of a range that ends `left` bytes behind, fewer than a
/// word.
fn element(at: NonNull<u8>, left: usize) -> usize {
    let mut sizes = [size_of::<u32>(), size_of::<u16>()].into_iter();
    let is_one = |size: &usize| *size <= left && at.addr().get().is_multiple_of(*size);
    sizes.find(is_one).unwrap_or(1)
}

/// Reads part of a word.
///
/// # Safety
/// All bytes from `from` on are readable.
unsafe fn read_parts(mut from: NonNull<u8>, mut into: &mut [u8]) {
    while !into.is_empty() {
        let size = element(from, into.len());
        let (now, rest) = into.split_at_mut(size);
        let at = from.as_ptr();
        // SAFETY: the caller vouches for the bytes; the element is aligned.
        // ORDERING: a fence of the caller orders all loads.
        unsafe {
            match size {
                4 => {
                    now.copy_from_slice(&AtomicU32::from_ptr(at.cast()).load(Relaxed).to_ne_bytes())
                }
                2 => {
                    now.copy_from_slice(&AtomicU16::from_ptr(at.cast()).load(Relaxed).to_ne_bytes())
                }
                _ => now[0] = AtomicU8::from_ptr(at).load(Relaxed),
            }
            from = from.add(size);
        }
        into = rest;
    }
}

/// Writes part of a word.
///
/// # Safety
/// All bytes from `to` on are writable.
unsafe fn write_parts(mut to: NonNull<u8>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let size = element(to, bytes.len());
        let (now, rest) = bytes.split_at(size);
        let at = to.as_ptr();
        // SAFETY: the caller vouches for the bytes; the element is aligned.
        // ORDERING: elements of one transfer have no order.
        unsafe {
            match *now {
                [a, b, c, d] => {
                    AtomicU32::from_ptr(at.cast()).store(u32::from_ne_bytes([a, b, c, d]), Relaxed)
                }
                [a, b] => AtomicU16::from_ptr(at.cast()).store(u16::from_ne_bytes([a, b]), Relaxed),
                _ => AtomicU8::from_ptr(at).store(now[0], Relaxed),
            }
            to = to.add(size);
        }
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::super::sys;
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::AtomicBool;

    const SIZE: u64 = 4096;

    /// Returns a view, and the file that it is of.
    fn view(is_writable: bool) -> (View, File) {
        let file = sys::sparse_file("view", SIZE).expect("a file");
        let view = View::of(file.as_fd(), 0, SIZE, is_writable).expect("room");
        (view, File::from(file))
    }

    #[test]
    fn ranges_of_any_place_and_length() {
        let (view, file) = view(true);
        for at in 0..16 {
            for length in 0..40 {
                let before: [u8; 64] = std::array::from_fn(|at| at as u8);
                file.write_all_at(&before, 0).expect("room");
                let mut found = vec![0; length];
                assert!(view.read(at, &mut found));
                assert_eq!(found, before[at..at + length]);
                let mut expected = before;
                expected[at..at + length].fill(99);
                assert!(view.write(at, &vec![99; length]));
                let mut after = [0; 64];
                file.read_exact_at(&mut after, 0).expect("bytes");
                assert_eq!(after, expected, "{length} bytes at {at}");
            }
        }
    }

    #[test]
    fn bounds_and_rights() {
        let (writable, _) = view(true);
        let last = SIZE as usize - 1;
        assert!(writable.read(last, &mut [0]) && writable.write(last, &[0]));
        assert!(!writable.read(last, &mut [0; 2]) && !writable.write(last, &[0; 2]));
        assert!(!writable.read(usize::MAX, &mut [0; 2]));
        assert_eq!(writable.word(SIZE - 8), Some(0));
        assert_eq!(writable.word(SIZE), None);
        assert_eq!(writable.word(4), None);
        let (constant, _) = view(false);
        assert!(constant.read(0, &mut [0; 8]) && !constant.write(0, &[0; 8]));
    }

    #[test]
    fn elements_are_not_torn() {
        const TURNS: u32 = 200_000;
        let (view, _) = view(true);
        // From the middle of a word to that of another one, and words between.
        let range = 4..28;
        let is_done = AtomicBool::new(false);
        let halves = [4, 24].map(|at| {
            // SAFETY: the mapping has room for these aligned elements.
            unsafe { AtomicU32::from_ptr(view.first.add(at).as_ptr().cast()) }
        });
        let words = [8, 16].map(|at| {
            // SAFETY: the mapping has room for these aligned words.
            unsafe { AtomicU64::from_ptr(view.first.add(at).as_ptr().cast()) }
        });
        let is_whole = |bytes: &[u8]| bytes.iter().all(|byte| *byte == bytes[0]);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Relaxed) {
                    let halves = halves.map(|half| half.load(Relaxed).to_ne_bytes());
                    assert!(halves.iter().all(|half| is_whole(half)), "{halves:x?}");
                    let words = words.map(|word| word.load(Relaxed).to_ne_bytes());
                    assert!(words.iter().all(|word| is_whole(word)), "{words:x?}");
                }
            });
            for turn in 0..TURNS {
                assert!(view.write(range.start, &vec![turn as u8; range.len()]));
            }
            is_done.store(true, Relaxed);
        });
    }
}
