//! The memory of other processes, read and written by system calls as a device reads and writes it: no
//! naturally aligned element of up to 8 bytes is torn.
//!
//! The kernel copies by an instruction (`rep movsb`) that moves blocks of up to 16 bytes, where the
//! processor has that fast for short ranges (FSRM). Where both sides lie alike in such blocks, an element
//! is in one of them. Where they do not, an element is moved in two parts, and a process that stores or
//! loads it between them finds a mixture. So all bytes go through room that lies as the process's memory
//! does.
//!
//! On other processors the kernel moves words of 8 bytes from the first byte on, and then each byte of
//! the rest. So whole words are read. Parts of words are written by `/proc/PID/mem`, for which the
//! kernel moves 4 bytes at once; elements of 2 bytes may be torn there, and such a write reaches private
//! pages that the process has made read-only since.

#![expect(unsafe_code, reason = "system calls that take addresses")]

use super::sys::{checked, denied};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Error, Result};
use std::os::unix::fs::FileExt;

/// The blocks that an element is moved with.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
struct Block([u8; BLOCK]);

// SAFETY: an array of bytes, without padding: its alignment is its length.
unsafe impl bytemuck::Zeroable for Block {}
// SAFETY: likewise; any bytes are one.
unsafe impl bytemuck::Pod for Block {}

/// Bytes of a block.
const BLOCK: usize = 16;

/// Bytes of a word.
const WORD: usize = 8;

/// Reads and writes memory, through room of its own.
#[derive(Debug)]
pub(super) struct Mover {
    room: Vec<Block>,
    /// Whether the kernel moves blocks.
    moves_blocks: bool,
    /// The files `/proc/PID/mem` of processes that parts of words were written to.
    files: HashMap<u32, File>,
}

impl Default for Mover {
    fn default() -> Self {
        // The processor tells (FSRM, CPUID 7, EDX bit 4).
        #[cfg(target_arch = "x86_64")]
        let moves_blocks = core::arch::x86_64::__cpuid_count(7, 0).edx & 1 << 4 != 0;
        #[cfg(not(target_arch = "x86_64"))]
        let moves_blocks = true;
        Self {
            room: Vec::new(),
            moves_blocks,
            files: HashMap::new(),
        }
    }
}

impl Mover {
    /// Returns room for `length` bytes that lies in its blocks as `address` does.
    fn room(&mut self, address: u64, length: usize) -> &mut [u8] {
        let before = address as usize % BLOCK;
        let blocks = (before + length).div_ceil(BLOCK);
        if self.room.len() < blocks {
            self.room.resize(blocks, Block::default());
        }
        let bytes = bytemuck::cast_slice_mut::<Block, u8>(&mut self.room);
        &mut bytes[before..before + length]
    }

    /// Reads another process's memory.
    pub(super) fn read(&mut self, process: u32, address: u64, buffer: &mut [u8]) -> Result<()> {
        if buffer.is_empty() {
            return Ok(());
        }
        // Words are within pages, so that there is no fault that the range alone does not have.
        let before = address as usize % WORD;
        let length = (before + buffer.len()).next_multiple_of(WORD);
        let first = address - before as u64;
        let room = self.room(first, length);
        // SAFETY: the local part is the room.
        unsafe { read_parts(process, &[local(room)], &[remote(first, length)])? };
        buffer.copy_from_slice(&room[before..before + buffer.len()]);
        Ok(())
    }

    /// Reads a word, and fails also where the system denies to write the process's memory.
    pub(super) fn try_word(&mut self, process: u32, address: u64) -> Result<[u8; WORD]> {
        let mut found = [0; WORD];
        self.read(process, address, &mut found)?;
        // Writes nothing, which is denied as all writes are.
        self.write_at_once(process, address, &[])?;
        Ok(found)
    }

    /// Writes another process's memory.
    pub(super) fn write(&mut self, process: u32, address: u64, bytes: &[u8]) -> Result<()> {
        // A byte cannot be torn.
        if self.moves_blocks || bytes.len() == 1 {
            return self.write_at_once(process, address, bytes);
        }
        let to_word = (WORD - address as usize % WORD) % WORD;
        let (head, rest) = bytes.split_at(to_word.min(bytes.len()));
        let (words, tail) = rest.split_at(rest.len() / WORD * WORD);
        let mut at = address;
        for (part, is_whole) in [(head, false), (words, true), (tail, false)] {
            if is_whole && !part.is_empty() {
                self.write_at_once(process, at, part)?;
            } else if !part.is_empty() {
                self.write_part(process, at, part)?;
            }
            at += part.len() as u64;
        }
        Ok(())
    }

    /// Reads 8 bytes from each of these addresses of another process, which are at most `IOV_MAX`.
    pub(super) fn read_words(
        &mut self,
        process: u32,
        addresses: &[u64],
        into: &mut [[u8; WORD]],
    ) -> Result<()> {
        if self.room.len() < 2 * addresses.len() {
            self.room.resize(2 * addresses.len(), Block::default());
        }
        // Each in two blocks, where it lies as it does there.
        let bytes = bytemuck::cast_slice_mut::<Block, u8>(&mut self.room);
        let rooms = bytes.chunks_exact_mut(2 * BLOCK).zip(addresses);
        let here: Vec<_> = rooms
            .map(|(room, at)| local(&mut room[*at as usize % BLOCK..][..WORD]))
            .collect();
        let there: Vec<_> = addresses.iter().map(|at| remote(*at, WORD)).collect();
        // SAFETY: the local parts are of the room.
        unsafe { read_parts(process, &here, &there)? };
        let bytes = bytemuck::cast_slice::<Block, u8>(&self.room);
        let rooms = bytes.chunks_exact(2 * BLOCK).zip(addresses);
        for (word, (room, at)) in into.iter_mut().zip(rooms) {
            word.copy_from_slice(&room[*at as usize % BLOCK..][..WORD]);
        }
        Ok(())
    }

    /// Writes another process's memory, the last byte behind all others, which may be torn.
    pub(super) fn write_up_to_last(
        &mut self,
        process: u32,
        address: u64,
        bytes: &[u8],
    ) -> Result<()> {
        let before = bytes.len().saturating_sub(1);
        // The kernel copies one part behind the other.
        let parts = [
            remote(address, before),
            remote(address + before as u64, bytes.len() - before),
        ];
        self.write_parts(process, address, bytes, &parts)
    }

    /// Writes a part of a word.
    fn write_part(&mut self, process: u32, address: u64, bytes: &[u8]) -> Result<()> {
        let write = |file: &File| file.write_all_at(bytes, address).is_ok();
        if self.files.get(&process).is_some_and(write) {
            return Ok(());
        }
        // The file may be of memory that the process had before it executed another program.
        let path = format!("/proc/{process}/mem");
        match OpenOptions::new().write(true).open(path) {
            Ok(file) if write(&file) => {
                self.files.insert(process, file);
                Ok(())
            }
            // Where that is not allowed, and where it fails, the other way says why.
            _ => self.write_at_once(process, address, bytes),
        }
    }

    /// Closes the files: a process has ended, and another one may get its number.
    pub(super) fn forget(&mut self) {
        self.files.clear();
    }

    /// Writes by one call.
    fn write_at_once(&mut self, process: u32, address: u64, bytes: &[u8]) -> Result<()> {
        self.write_parts(process, address, bytes, &[remote(address, bytes.len())])
    }

    /// Writes by one call to these parts of the memory from `address` on, which together have room for
    /// all bytes.
    fn write_parts(
        &mut self,
        process: u32,
        address: u64,
        bytes: &[u8],
        parts: &[libc::iovec],
    ) -> Result<()> {
        let room = self.room(address, bytes.len());
        room.copy_from_slice(bytes);
        let local = local(room);
        // SAFETY: the local buffer is valid for reads of its length, and the list has as many parts as
        // said; the remote parts are the kernel's to check.
        let got = unsafe {
            libc::process_vm_writev(
                process.cast_signed(),
                &raw const local,
                1,
                parts.as_ptr(),
                parts.len() as libc::c_ulong,
                0,
            )
        };
        let got = checked(got).map_err(denied("process_vm_writev"))?;
        whole(got, bytes.len())
    }
}

/// Reads parts of another process's memory.
///
/// # Safety
/// The local parts are valid for writes.
unsafe fn read_parts(process: u32, here: &[libc::iovec], there: &[libc::iovec]) -> Result<()> {
    // SAFETY: the caller vouches for the local parts, and the lists have as many parts as said; the
    // remote parts are the kernel's to check.
    let got = unsafe {
        libc::process_vm_readv(
            process.cast_signed(),
            here.as_ptr(),
            here.len() as libc::c_ulong,
            there.as_ptr(),
            there.len() as libc::c_ulong,
            0,
        )
    };
    let got = checked(got).map_err(denied("process_vm_readv"))?;
    whole(got, here.iter().map(|part| part.iov_len).sum())
}

fn local(bytes: &mut [u8]) -> libc::iovec {
    libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    }
}

fn remote(address: u64, length: usize) -> libc::iovec {
    libc::iovec {
        // An address of another process; never followed here.
        iov_base: std::ptr::without_provenance_mut(address as usize),
        iov_len: length,
    }
}

fn whole(got: usize, wanted: usize) -> Result<()> {
    if got == wanted {
        Ok(())
    } else {
        Err(Error::from_raw_os_error(libc::EFAULT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

    /// Returns a mover for this processor, and one for processors that the kernel moves no blocks
    /// by, which is right on all.
    fn movers() -> [Mover; 2] {
        let of_words = Mover {
            moves_blocks: false,
            ..Mover::default()
        };
        [Mover::default(), of_words]
    }

    #[test]
    fn ranges_of_any_place_and_length() {
        movers().into_iter().for_each(moves_ranges);
    }

    fn moves_ranges(mut mover: Mover) {
        let process = std::process::id();
        for at in 0..16 {
            for length in 0..40 {
                let mut memory: [u8; 64] = std::array::from_fn(|at| at as u8);
                let address = (&raw mut memory[at]).expose_provenance() as u64;
                let mut found = vec![0; length];
                mover
                    .read(process, address, &mut found)
                    .expect("own memory");
                assert_eq!(found, memory[at..at + length]);
                mover
                    .write(process, address, &vec![99; length])
                    .expect("own memory");
                assert!(memory[at..at + length].iter().all(|&byte| byte == 99));
                assert_eq!(memory[at + length], (at + length) as u8);
                mover
                    .write_up_to_last(process, address, &vec![77; length])
                    .expect("own memory");
                assert!(memory[at..at + length].iter().all(|&byte| byte == 77));
                assert_eq!(memory[at + length], (at + length) as u8);
            }
        }
        let word = 5_u64;
        let address = (&raw const word).expose_provenance() as u64;
        let found = mover.try_word(process, address).expect("own memory");
        assert_eq!(found, word.to_ne_bytes());
        assert!(mover.read(process, 4096, &mut [0]).is_err());
        assert!(mover.write(process, 4096, &[0]).is_err());
        assert!(mover.try_word(process, 4096).is_err());
        assert!(mover.write_up_to_last(process, 4096, &[0; 2]).is_err());
        let mut words = [[0; 8]; 2];
        let read = mover.read_words(process, &[address, address], &mut words);
        read.expect("own memory");
        assert_eq!(words, [word.to_ne_bytes(); 2]);
        let read = mover.read_words(process, &[address, 4096], &mut words);
        assert!(read.is_err());
    }

    #[test]
    fn a_file_that_is_of_other_memory_is_opened_again() {
        let [_, mut mover] = movers();
        let process = std::process::id();
        let other = File::open("/dev/null").expect("a file that nothing is written to");
        mover.files.insert(process, other);
        let mut half = [0_u8; 4];
        let address = (&raw mut half).expose_provenance() as u64;
        for value in [1, 2] {
            let bytes = [value; 4];
            mover.write(process, address, &bytes).expect("own memory");
            assert_eq!(half, bytes);
        }
        mover.forget();
        assert!(mover.files.is_empty());
    }

    #[test]
    fn room_lies_as_the_memory_does() {
        let mut mover = Mover::default();
        for address in 4000..4040_u64 {
            for length in [0, 1, 15, 16, 17, 100] {
                let room = mover.room(address, length);
                assert_eq!(room.len(), length);
                assert_eq!(room.as_ptr().addr() % BLOCK, address as usize % BLOCK);
            }
        }
    }

    /// Values all of whose bytes are the same.
    const VALUES: [u64; 2] = [u64::MAX / 15, u64::MAX / 15 * 14];
    const WORDS: usize = 7;
    const TURNS: usize = 100_000;

    #[repr(align(64))]
    struct Aligned<T>([T; 8]);

    /// Moves elements, each of one of two values, beside a thread that uses them.
    fn beside<T: Sync, V: Copy + Sync>(
        elements: &[T],
        values: [V; 2],
        mut ours: impl FnMut(&mut Mover, u64, V),
        theirs: impl Fn(&T, V) + Sync,
    ) {
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut turn = 0;
                while !is_done.load(Ordering::Relaxed) {
                    turn += 1;
                    elements
                        .iter()
                        .for_each(|one| theirs(one, values[turn % 2]));
                }
            });
            let address = elements.as_ptr().expose_provenance() as u64;
            for mut mover in movers() {
                (0..TURNS).for_each(|turn| ours(&mut mover, address, values[turn % 2]));
            }
            is_done.store(true, Ordering::Relaxed);
        });
    }

    /// Moves words that begin in the middle of a block.
    fn words_beside(
        ours: impl FnMut(&mut Mover, u64, u64),
        theirs: impl Fn(&AtomicU64, u64) + Sync,
    ) {
        let words = Aligned([const { AtomicU64::new(VALUES[0]) }; WORDS + 1]);
        beside(&words.0[1..], VALUES, ours, theirs);
    }

    /// Checks that no word is torn that is read by `read`, beside stores.
    fn words_are_read_whole_by(
        mut read: impl FnMut(&mut Mover, u64, &mut [[u8; 8]]) -> Result<()>,
    ) {
        let mut torn = 0;
        let look = |mover: &mut Mover, address, _| {
            let mut found = [[0; 8]; WORDS];
            read(mover, address, &mut found).expect("own memory");
            let is_torn = |word: &&[u8; 8]| !VALUES.contains(&u64::from_ne_bytes(**word));
            torn += found.iter().filter(is_torn).count();
        };
        words_beside(look, |word, value| word.store(value, Ordering::Relaxed));
        assert_eq!(torn, 0);
    }

    #[test]
    fn words_are_read_whole() {
        // Into room of the caller's that lies otherwise.
        words_are_read_whole_by(|mover, address, found| {
            mover.read(std::process::id(), address, found.as_flattened_mut())
        });
    }

    #[test]
    fn words_are_read_whole_one_by_one() {
        words_are_read_whole_by(|mover, address, found| {
            let addresses: [u64; WORDS] = std::array::from_fn(|at| address + 8 * at as u64);
            mover.read_words(std::process::id(), &addresses, found)
        });
    }

    /// Checks that a thread that finds the last byte of an entry finds all others.
    #[test]
    fn the_last_byte_is_written_last() {
        const ENTRIES: u64 = 20_000;
        const LOOKS: u32 = 1_000;
        let words = Aligned([const { AtomicU64::new(0) }; 8]);
        let found = AtomicU64::new(0);
        let early = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for entry in 1..=ENTRIES {
                    let filled = u64::from_ne_bytes([entry as u8; 8]);
                    // The last byte of the last word, in the order of this processor.
                    let mut looks = 0_u32;
                    while words.0[7].load(Ordering::Acquire).to_ne_bytes()[7] != entry as u8 {
                        looks += 1;
                        // The writer may wait for this processor.
                        match looks.is_multiple_of(LOOKS) {
                            true => std::thread::yield_now(),
                            false => std::hint::spin_loop(),
                        }
                    }
                    let whole = words.0.iter().map(|word| word.load(Ordering::Relaxed));
                    if whole.into_iter().any(|word| word != filled) {
                        early.fetch_add(1, Ordering::Relaxed);
                    }
                    found.store(entry, Ordering::Release);
                }
            });
            let address = words.0.as_ptr().expose_provenance() as u64;
            let mut movers = movers();
            for entry in 1..=ENTRIES {
                movers[entry as usize % 2]
                    .write_up_to_last(std::process::id(), address, &[entry as u8; 64])
                    .expect("own memory");
                while found.load(Ordering::Acquire) != entry {
                    std::thread::yield_now();
                }
            }
        });
        assert_eq!(early.into_inner(), 0);
    }

    #[test]
    fn words_are_written_whole() {
        let torn = AtomicU64::new(0);
        let put = |mover: &mut Mover, address, value: u64| {
            let bytes = [value.to_ne_bytes(); WORDS];
            mover
                .write(std::process::id(), address, bytes.as_flattened())
                .expect("own memory");
        };
        words_beside(put, |word, _| {
            if !VALUES.contains(&word.load(Ordering::Relaxed)) {
                torn.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert_eq!(torn.into_inner(), 0);
    }

    const HALF: [u32; 2] = [VALUES[0] as u32, VALUES[1] as u32];

    /// Moves halves of words, of which the first and the last are parts of words.
    fn halves_beside(
        mut ours: impl FnMut(&mut Mover, u64, usize, u32),
        theirs: impl Fn(&AtomicU32, u32) + Sync,
    ) {
        for (first, count) in [(1, 1), (0, 3), (1, 6)] {
            let halves = Aligned([const { AtomicU32::new(HALF[0]) }; 8]);
            let ours = |mover: &mut Mover, address, value| ours(mover, address, count, value);
            beside(&halves.0[first..first + count], HALF, ours, &theirs);
        }
    }

    #[test]
    fn halves_of_words_are_read_whole() {
        let mut torn = 0;
        let look = |mover: &mut Mover, address, count, _| {
            let mut found = vec![[0; 4]; count];
            mover
                .read(std::process::id(), address, found.as_flattened_mut())
                .expect("own memory");
            let is_torn = |half: &&[u8; 4]| !HALF.contains(&u32::from_ne_bytes(**half));
            torn += found.iter().filter(is_torn).count();
        };
        halves_beside(look, |half, value| half.store(value, Ordering::Relaxed));
        assert_eq!(torn, 0);
    }

    #[test]
    fn halves_of_words_are_written_whole() {
        let torn = AtomicU64::new(0);
        let put = |mover: &mut Mover, address, count, value: u32| {
            let bytes = vec![value.to_ne_bytes(); count];
            mover
                .write(std::process::id(), address, bytes.as_flattened())
                .expect("own memory");
        };
        halves_beside(put, |half, _| {
            if !HALF.contains(&half.load(Ordering::Relaxed)) {
                torn.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert_eq!(torn.into_inner(), 0);
    }
}
