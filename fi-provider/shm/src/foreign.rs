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

/// Copies in as many calls as the kernel wants (it stops at 2 GiB).
///
/// # Safety
/// `here` is mapped for `bytes` bytes, for the direction of `call`.
unsafe fn copy(call: Call, pid: i32, here: *mut u8, there: u64, bytes: usize) -> io::Result<()> {
    let mut done = 0;
    while done < bytes {
        let local = libc::iovec {
            iov_base: here.wrapping_add(done).cast(),
            iov_len: bytes - done,
        };
        let remote = libc::iovec {
            iov_base: there.wrapping_add(done as u64) as *mut _,
            iov_len: bytes - done,
        };
        // SAFETY: both records outlive the call; the local range is mapped for the direction.
        match unsafe { call(pid, &raw const local, 1, &raw const remote, 1, 0) } {
            0 => return Err(io::Error::from_raw_os_error(libc::EFAULT)),
            got if got > 0 => done += got.unsigned_abs(),
            _ => match io::Error::last_os_error() {
                error if error.kind() == ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
    Ok(())
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
        // SAFETY: `here` has room for a byte.
        let refused = unsafe { read(own, 16, here.as_mut_ptr(), 1) };
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::EFAULT));
    }
}
