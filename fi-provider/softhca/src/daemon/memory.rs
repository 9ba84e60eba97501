//! The memory of other processes, read and written by system calls as a device reads and writes it.
//!
//! The kernel copies by an instruction that a processor may leave between any two bytes
//! (`rep movsb`), and that takes a word in two parts where source and destination are not aligned
//! alike: a word that the process stores at that moment may be read as a part of the old value and a
//! part of the new one, which no device reads. So whole aligned words are read, to words, and twice;
//! those that differ are read until two readings agree.

#![expect(unsafe_code, reason = "system calls that take addresses")]

use super::sys::{checked, denied};
use std::io::{Error, Result};

/// Bytes of a word.
const WORD: usize = size_of::<u64>();
/// Readings of a word that its process changes all the time. The last one counts.
const READINGS: usize = 32;

/// Reads memory; keeps room for the words that it reads.
#[derive(Debug, Default)]
pub(super) struct Reader {
    words: Vec<u64>,
    again: Vec<u64>,
    settled: Vec<bool>,
}

impl Reader {
    /// Reads another process's memory, no naturally aligned element of up to 8 bytes torn.
    pub(super) fn read(&mut self, process: u32, address: u64, buffer: &mut [u8]) -> Result<()> {
        let inside = address as usize % WORD;
        // The rest of the first and of the last word is of the same pages.
        let count = (inside + buffer.len()).div_ceil(WORD);
        let from = [remote(address - inside as u64, count * WORD)];
        let words = self.settle(count, |words| read_once(process, &from, words))?;
        let bytes = bytemuck::cast_slice::<u64, u8>(words);
        buffer.copy_from_slice(&bytes[inside..inside + buffer.len()]);
        Ok(())
    }

    /// Reads 8 bytes from each of these addresses of another process, which are at most `IOV_MAX`.
    pub(super) fn read_words(
        &mut self,
        process: u32,
        addresses: &[u64],
        into: &mut [[u8; WORD]],
    ) -> Result<()> {
        let from: Vec<_> = addresses.iter().map(|at| remote(*at, WORD)).collect();
        let words = self.settle(from.len(), |words| read_once(process, &from, words))?;
        for (into, word) in into.iter_mut().zip(words) {
            *into = word.to_ne_bytes();
        }
        Ok(())
    }

    /// Reads so many words by `read`, again and again until each has the value of the reading before.
    fn settle(
        &mut self,
        count: usize,
        mut read: impl FnMut(&mut [u64]) -> Result<()>,
    ) -> Result<&[u64]> {
        self.words.resize(count, 0);
        self.again.resize(count, 0);
        read(&mut self.words)?;
        read(&mut self.again)?;
        if self.words != self.again {
            self.settled.clear();
            self.settled.resize(count, false);
            let mut readings = 2;
            while !self.compare() && readings < READINGS {
                read(&mut self.again)?;
                readings += 1;
            }
        }
        Ok(&self.words)
    }

    /// Notes the words that the last two readings agree on, and takes the others from the last one;
    /// true where two have agreed on each.
    fn compare(&mut self) -> bool {
        let pairs = self.words.iter_mut().zip(&self.again);
        let mut all = true;
        for ((word, again), settled) in pairs.zip(&mut self.settled) {
            if !*settled {
                *settled = word == again;
                *word = *again;
                all &= *settled;
            }
        }
        all
    }
}

fn read_once(process: u32, from: &[libc::iovec], words: &mut [u64]) -> Result<()> {
    let buffer = bytemuck::cast_slice_mut::<u64, u8>(words);
    let local = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: the local buffer is valid for writes of its length, and the list has as many parts as
    // said; the remote parts are the kernel's to check.
    let got = unsafe {
        libc::process_vm_readv(
            process.cast_signed(),
            &raw const local,
            1,
            from.as_ptr(),
            from.len() as libc::c_ulong,
            0,
        )
    };
    let got = checked(got).map_err(denied("process_vm_readv"))?;
    whole(got, buffer.len())
}

/// Writes another process's memory.
pub(super) fn write(process: u32, address: u64, bytes: &[u8]) -> Result<()> {
    let local = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let remote = remote(address, bytes.len());
    // SAFETY: the local buffer is valid for reads of its length; the remote one is the kernel's to
    // check.
    let got = unsafe {
        libc::process_vm_writev(
            process.cast_signed(),
            &raw const local,
            1,
            &raw const remote,
            1,
            0,
        )
    };
    let got = checked(got).map_err(denied("process_vm_writev"))?;
    whole(got, bytes.len())
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
    use proptest::prelude::*;

    const VALUES: [u64; 2] = [u64::MAX / 15, u64::MAX / 15 * 14];

    proptest! {
        /// A process stores either of two values to each word, and some readings are torn at some
        /// byte: from there on they have the words of the reading before.
        #[test]
        fn torn_readings_are_read_again(
            count in 0..12_usize,
            values in prop::collection::vec(0..2_usize, 12 * READINGS),
            torn in prop::collection::vec(prop::option::weighted(0.3, 0..96_usize), READINGS),
        ) {
            let bytes_of = |reading: usize, at: usize| VALUES[values[reading * 12 + at / WORD]].to_ne_bytes();
            let mut readings = 0;
            let mut reader = Reader::default();
            let words = reader.settle(count, |words| {
                for (at, byte) in bytemuck::cast_slice_mut::<u64, u8>(words).iter_mut().enumerate() {
                    let is_old = readings > 0 && torn[readings].is_some_and(|torn| at >= torn);
                    *byte = bytes_of(readings - usize::from(is_old), at)[at % WORD];
                }
                readings += 1;
                Ok(())
            });
            let words = words.expect("readings do not fail");
            // Two that are torn at the same byte look whole.
            let mut pairs = torn.windows(2).take(readings);
            prop_assume!(readings < READINGS);
            prop_assume!(!pairs.any(|pair| pair[0].is_some() && pair[0] == pair[1]));
            prop_assert!(words.iter().all(|word| VALUES.contains(word)), "{words:x?}");
        }
    }

    #[test]
    fn readings_come_to_an_end() {
        let read = |step: u64| {
            let mut readings = 0;
            let mut reader = Reader::default();
            let words = reader.settle(3, |words| {
                readings += 1;
                words.fill(readings * step);
                Ok(())
            });
            assert_eq!(words.expect("readings do not fail"), [readings * step; 3]);
            readings
        };
        assert_eq!(read(0), 2);
        assert_eq!(read(1), READINGS as u64);
    }

    #[test]
    fn ranges_of_any_place_and_length() {
        let process = std::process::id();
        let mut reader = Reader::default();
        for at in 0..16 {
            for length in 0..40 {
                let mut memory: [u8; 64] = std::array::from_fn(|at| at as u8);
                let address = (&raw mut memory[at]).expose_provenance() as u64;
                let mut found = vec![0; length];
                reader
                    .read(process, address, &mut found)
                    .expect("own memory");
                assert_eq!(found, memory[at..at + length]);
                write(process, address, &vec![99; length]).expect("own memory");
                assert!(memory[at..at + length].iter().all(|&byte| byte == 99));
                assert_eq!(memory[at + length], (at + length) as u8);
            }
        }
        assert!(reader.read(process, 4096, &mut [0]).is_err());
        assert!(write(process, 4096, &[0]).is_err());
    }
}
