//! The kernel's copy between memories of processes (process_vm_readv(2), process_vm_writev(2)): for
//! memory of another process that is not mapped here.
//!
//! The kernel asks for the rights of ptrace(2): under Yama's ptrace_scope 1 the other process has to
//! allow it (PR_SET_PTRACER).

use std::io::{self, ErrorKind};

/// The system call of either direction.
type Call = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> isize;

/// Reads `bytes` bytes at the address `source` of process `pid`.
///
/// # Errors
/// `PermissionDenied` where the kernel refuses, `ESRCH` where the process is gone, `EFAULT` where it
/// has not so many bytes there; some may have been copied then.
///
/// # Safety
/// `dest` has room for the bytes.
pub unsafe fn read(pid: i32, source: u64, dest: *mut u8, bytes: usize) -> io::Result<()> {
    // SAFETY: `dest` has room for the bytes, which is all that the call writes in this process.
    unsafe { copy(libc::process_vm_readv, pid, dest, source, bytes) }
}

/// Writes `bytes` bytes to the address `dest` of process `pid`.
///
/// # Errors
/// As [`read`].
///
/// # Safety
/// `source` holds the bytes.
pub unsafe fn write(pid: i32, dest: u64, source: *const u8, bytes: usize) -> io::Result<()> {
    // SAFETY: `source` holds the bytes, which the call only reads.
    unsafe { copy(libc::process_vm_writev, pid, source.cast_mut(), dest, bytes) }
}

/// A write to the memory of another process, by one call. It lies in memory during that: a caller
/// that reads from it the values that it needs behind the call keeps no registers for them.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    pid: i32,
    local: libc::iovec,
    remote: libc::iovec,
}

impl Write {
    /// Makes the write of so many bytes to the address `dest` of process `pid`.
    #[inline(always)]
    #[must_use]
    pub fn new(pid: i32, dest: u64, source: *const u8, bytes: usize) -> Self {
        let piece = |address: *mut u8| libc::iovec {
            iov_base: address.cast(),
            iov_len: bytes,
        };
        Self {
            pid,
            local: piece(source.cast_mut()),
            remote: piece(dest as *mut u8),
        }
    }

    /// Writes, and returns false where it has not written all of the bytes.
    ///
    /// # Safety
    /// The source holds the bytes.
    #[inline(always)]
    #[must_use]
    pub unsafe fn run(&self) -> bool {
        let (local, remote) = (&raw const self.local, &raw const self.remote);
        // SAFETY: both lists have one piece, and the source holds the bytes, which the call only
        // reads.
        let copied = unsafe { libc::process_vm_writev(self.pid, local, 1, remote, 1, 0) };
        copied.cast_unsigned() == self.local.iov_len
    }

    /// Returns the source.
    #[must_use]
    pub fn source(&self) -> *const u8 {
        self.local.iov_base.cast_const().cast()
    }

    /// Returns the address in the other process.
    #[must_use]
    pub fn dest(&self) -> u64 {
        self.remote.iov_base.addr() as u64
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.local.iov_len
    }
}

/// Bytes of this process, and as many of another one.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// The address here.
    pub here: *mut u8,
    /// The address in the other process.
    pub there: u64,
    /// The bytes.
    pub len: usize,
}

/// Reads pieces of the memory of process `pid`, one after the other.
///
/// # Errors
/// As [`read`].
///
/// # Safety
/// Each piece has room for its bytes here.
pub unsafe fn read_pieces(pid: i32, pieces: &[Piece]) -> io::Result<()> {
    // SAFETY: the pieces have room for their bytes, which is all that the call writes here.
    unsafe { copy_pieces(libc::process_vm_readv, pid, pieces) }
}

/// Writes pieces of the memory of process `pid`, one after the other.
///
/// # Errors
/// As [`read`].
///
/// # Safety
/// Each piece holds its bytes here.
pub unsafe fn write_pieces(pid: i32, pieces: &[Piece]) -> io::Result<()> {
    // SAFETY: the pieces hold their bytes, which the call only reads.
    unsafe { copy_pieces(libc::process_vm_writev, pid, pieces) }
}

/// # Safety
/// `here` is mapped for `bytes` bytes, for the direction of `call`.
unsafe fn copy(call: Call, pid: i32, here: *mut u8, there: u64, len: usize) -> io::Result<()> {
    // SAFETY: the local range is mapped for the direction.
    unsafe {
        if copy_at_once(call, pid, here, there, len) {
            return Ok(());
        }
        copy_pieces(call, pid, &[Piece { here, there, len }])
    }
}

/// Copies by one call, and returns false where it has not copied all.
///
/// # Safety
/// `here` is mapped for `bytes` bytes, for the direction of `call`.
#[inline(always)]
unsafe fn copy_at_once(call: Call, pid: i32, here: *mut u8, there: u64, len: usize) -> bool {
    let piece = |address: *mut u8| libc::iovec {
        iov_base: address.cast(),
        iov_len: len,
    };
    let (local, remote) = (piece(here), piece(there as *mut u8));
    // SAFETY: both lists have one piece, and the local range is mapped for the direction.
    let copied = unsafe { call(pid, &raw const local, 1, &raw const remote, 1, 0) };
    // Compared with the list, which is in memory anyway: no register has to outlive the call.
    copied.cast_unsigned() == local.iov_len
}

/// Pieces that one call takes.
const AT_ONCE: usize = 32;

/// Copies in as many calls as the kernel wants (it stops at 2 GiB).
///
/// # Safety
/// Each piece is mapped here, for the direction of `call`.
unsafe fn copy_pieces(call: Call, pid: i32, mut pieces: &[Piece]) -> io::Result<()> {
    // Bytes of the first piece that are copied already.
    let mut done = 0;
    loop {
        while let Some((first, others)) = pieces.split_first()
            && first.len <= done
        {
            done -= first.len;
            pieces = others;
        }
        if pieces.is_empty() {
            return Ok(());
        }
        let nothing = libc::iovec {
            iov_base: std::ptr::null_mut(),
            iov_len: 0,
        };
        let (mut local, mut remote) = ([nothing; AT_ONCE], [nothing; AT_ONCE]);
        let mut skipped = done;
        let many = pieces.len().min(AT_ONCE);
        for (at, piece) in pieces[..many].iter().enumerate() {
            let iov_len = piece.len - skipped;
            local[at] = libc::iovec {
                iov_base: piece.here.wrapping_add(skipped).cast(),
                iov_len,
            };
            remote[at] = libc::iovec {
                iov_base: piece.there.wrapping_add(skipped as u64) as *mut _,
                iov_len,
            };
            skipped = 0;
        }
        let count = many as libc::c_ulong;
        // SAFETY: both arrays outlive the call and have so many records; the local ranges are
        // mapped for the direction.
        match unsafe { call(pid, local.as_ptr(), count, remote.as_ptr(), count, 0) } {
            0 => return Err(io::Error::from_raw_os_error(libc::EFAULT)),
            got if got > 0 => done += got.unsigned_abs(),
            _ => match io::Error::last_os_error() {
                error if error.kind() == ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process;

    #[test]
    fn bytes_go_both_ways_and_a_hole_is_an_error() {
        let own = process::id() as i32;
        let there: Vec<u8> = (0..100_000_u32).map(|i| (i * 7) as u8).collect();
        let mut here = vec![0; there.len()];
        let address = there.as_ptr().addr() as u64;
        // SAFETY: `here` has as many bytes as `there`.
        unsafe { read(own, address, here.as_mut_ptr(), there.len()).unwrap() };
        assert_eq!(here, there);
        let mut word = 5_u64;
        let address = (&raw mut word).addr() as u64;
        // SAFETY: the source is a word.
        unsafe { write(own, address, (&raw const here[0]).cast(), 8).unwrap() };
        assert_eq!(word.to_ne_bytes(), here[..8]);
        let few = Write::new(own, address, (&raw const here[8]).cast(), 8);
        // SAFETY: the source is a word.
        assert!(unsafe { few.run() });
        assert_eq!(word.to_ne_bytes(), here[8..16]);
        let told = (few.source(), few.dest(), few.bytes());
        assert_eq!(told, ((&raw const here[8]).cast(), address, 8));
        // SAFETY: the source is a word.
        assert!(!unsafe { Write::new(own, 16, (&raw const here[0]).cast(), 8).run() });
        // More pieces than a call takes, of all lengths, to where the last one comes first.
        let mut pieces = Vec::new();
        let (mut at, mut end) = (0, there.len());
        here.fill(0);
        for len in (0..100).cycle().take(250) {
            end -= len;
            pieces.push(Piece {
                here: here[end..].as_mut_ptr(),
                there: there[at..].as_ptr().addr() as u64,
                len,
            });
            at += len;
        }
        // SAFETY: `here` has room for all pieces.
        unsafe { read_pieces(own, &pieces).unwrap() };
        let (mut at, mut end) = (0, there.len());
        for piece in &pieces {
            end -= piece.len;
            assert_eq!(here[end..end + piece.len], there[at..at + piece.len]);
            at += piece.len;
        }
        assert!(here[..end].iter().all(|byte| *byte == 0));
        // SAFETY: `here` has room for a byte.
        let refused = unsafe { read(own, 16, here.as_mut_ptr(), 1) };
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::EFAULT));
    }
}
