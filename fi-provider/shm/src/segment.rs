//! Shared memory without names: memfds, reservations of address space, fixed mappings.
//!
//! A memfd disappears with its last user, so nothing is left behind when processes are killed, and
//! the size of `/dev/shm` does not matter (memfd_create(2)).

use crate::memcheck::{self, Request};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;

/// Returns the size of a page in bytes.
#[inline]
pub fn page_size() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    *SIZE.get_or_init(|| {
        // SAFETY: sysconf has no memory preconditions.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).unwrap_or(4096)
    })
}

/// The size and alignment, in bytes, at which transparent huge pages can back a mapping.
pub const HUGE_PAGE: usize = 2 << 20;

/// An anonymous shared memory object.
#[derive(Debug)]
pub struct Memfd {
    file: File,
    /// Device and inode: a program that closes descriptors that are not its own may get the number again, for a
    /// file of its own, which must not be mapped then.
    identity: (u64, u64),
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    let metadata = file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

impl Memfd {
    /// Creates an object of `bytes` bytes, all zero, of which pages are provided at first touch;
    /// `name` shows up in `/proc/PID/maps` only. Nobody can change its length any more, so that
    /// mapped pages stay there.
    ///
    /// # Errors
    /// The error of memfd_create(2), ftruncate(2) or fcntl(2).
    pub fn create(name: &CStr, bytes: usize) -> io::Result<Self> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: `name` is a valid C string for the duration of the call.
        let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
        let file = unsafe { File::from_raw_fd(fd) };
        file.set_len(bytes as u64)?;
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: F_ADD_SEALS takes an integer and touches no memory of this process.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Self::of(file)
    }

    /// Returns the object of which a descriptor was received.
    pub(crate) fn of(file: File) -> io::Result<Self> {
        // A program that has closed a standard stream gets its number here, and its output must not
        // go into the memory. A clone has a number above those of the standard streams.
        let file = if file.as_raw_fd() <= libc::STDERR_FILENO {
            file.try_clone()?
        } else {
            file
        };
        let identity = identity(&file)?;
        Ok(Self { file, identity })
    }

    /// Returns whether the descriptor still leads to the same file.
    pub(crate) fn is_intact(&self) -> bool {
        identity(&self.file).is_ok_and(|now| now == self.identity)
    }

    /// Returns whether the object, which another process may have made, has `bytes` bytes and keeps
    /// them: pages that nobody can take away while they are mapped.
    ///
    /// # Errors
    /// The error of fstat(2) or fcntl(2).
    pub fn keeps(&self, bytes: u64) -> io::Result<bool> {
        // SAFETY: F_GET_SEALS has no argument and touches no memory of this process.
        let seals = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_GET_SEALS) };
        if seals < 0 {
            return Err(io::Error::last_os_error());
        }
        let is_fixed = seals & libc::F_SEAL_SHRINK != 0;
        Ok(is_fixed && self.file.metadata()?.len() >= bytes)
    }

    /// Writes bytes at this place, which other processes can read when they know that it is done.
    ///
    /// # Errors
    /// The error of pwrite(2).
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    /// Reads bytes at this place.
    ///
    /// # Errors
    /// The error of pread(2), or that the object ends before.
    pub fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }

    /// Returns the number of the descriptor in this process.
    pub fn raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Returns the next range of at least one byte, at or after `from` and before `end`, that has
    /// pages, as (start, end) in bytes.
    ///
    /// Reads the file's holes by lseek(2) with SEEK_DATA and SEEK_HOLE; allocates nothing, so that
    /// it can be called in the child of a fork. Returns all of the rest where the holes cannot be
    /// told, as when the program has closed the descriptor.
    pub fn next_data(&self, from: usize, end: usize) -> Option<(usize, usize)> {
        let seek = |offset: usize, whence: i32| {
            let offset = libc::off_t::try_from(offset).ok()?;
            // SAFETY: lseek has no memory preconditions; the descriptor is open.
            let found = unsafe { libc::lseek(self.raw_fd(), offset, whence) };
            usize::try_from(found).ok()
        };
        if !self.is_intact() {
            return (from < end).then_some((from, end));
        }
        let start = seek(from, libc::SEEK_DATA)?;
        if start >= end {
            return None;
        }
        let stop = seek(start, libc::SEEK_HOLE).unwrap_or(end);
        Some((start, stop.min(end)))
    }
}

impl AsFd for Memfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Returns the error of a memory whose descriptor the program has closed.
pub(crate) fn closed() -> io::Error {
    io::Error::other("the program has closed the descriptor of the job's memory")
}

/// Address space that belongs to this value and is given back when it is dropped.
#[derive(Debug)]
pub struct Reservation {
    base: usize,
    len: usize,
}

impl Reservation {
    /// Reserves `len` bytes anywhere; no access is allowed and no memory is used.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn anywhere(len: usize) -> io::Result<Self> {
        Self::map(0, len, 0)
    }

    /// Reserves `len` bytes at exactly `base`, if nothing is mapped there.
    ///
    /// # Errors
    /// The error of mmap(2); `AlreadyExists` when part of the range is in use.
    pub fn at(base: usize, len: usize) -> io::Result<Self> {
        let got = Self::map(base, len, libc::MAP_FIXED_NOREPLACE)?;
        if got.base == base {
            Ok(got)
        } else {
            // Kernels and tools that do not know the flag take the address for a hint.
            Err(io::Error::from(io::ErrorKind::AlreadyExists))
        }
    }

    /// Returns `len` bytes of zeroed memory of this process alone, which is taken at first touch.
    ///
    /// # Errors
    /// The error of mmap(2) or mprotect(2).
    pub fn zeroed(len: usize) -> io::Result<Self> {
        let space = Self::anywhere(len)?;
        // SAFETY: the range was reserved above, and nothing is there.
        match unsafe {
            libc::mprotect(
                space.base as *mut _,
                len,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        } {
            0 => Ok(space),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn map(base: usize, len: usize, flags: i32) -> io::Result<Self> {
        let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new private mapping without MAP_FIXED replaces nothing that exists.
        let got = unsafe { libc::mmap(base as *mut _, len, libc::PROT_NONE, flags, -1, 0) };
        if got == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            base: got as usize,
            len,
        })
    }

    /// Returns the first address.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the reservation has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Maps `len` bytes of `memory` from `offset` at `base() + at`, readable and writable, shared.
    ///
    /// # Errors
    /// `InvalidInput` when the range leaves the reservation, else the error of mmap(2).
    pub fn map_shared(
        &self,
        at: usize,
        memory: &Memfd,
        offset: usize,
        len: usize,
    ) -> io::Result<()> {
        let addr = self.place(at, len)?;
        // SAFETY: the range lies inside the reservation, which this value owns; pages that an earlier
        // call mapped there are only reachable through this value's addresses.
        unsafe { map_shared_at(addr, memory, offset, len) }
    }

    /// Maps as [`Reservation::map_shared`], but the writes of this process there are its own: it
    /// has a copy of the page then, and shares all others.
    ///
    /// # Errors
    /// As [`Reservation::map_shared`].
    pub fn map_private(
        &self,
        at: usize,
        memory: &Memfd,
        offset: usize,
        len: usize,
    ) -> io::Result<()> {
        let addr = self.place(at, len)?;
        // SAFETY: the range lies inside the reservation, which this value owns; pages that an
        // earlier call mapped there are only reachable through this value's addresses.
        unsafe { map_at(addr, memory, offset, len, READ_WRITE, libc::MAP_PRIVATE) }
    }

    /// Maps as [`Reservation::map_shared`], for reading alone.
    ///
    /// # Errors
    /// As [`Reservation::map_shared`].
    pub(crate) fn map_for_reading(
        &self,
        at: usize,
        memory: &Memfd,
        offset: usize,
        len: usize,
    ) -> io::Result<()> {
        let addr = self.place(at, len)?;
        let (access, kind) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: the range lies inside the reservation, which this value owns; pages that an
        // earlier call mapped there are only reachable through this value's addresses.
        unsafe { map_at(addr, memory, offset, len, access, kind) }
    }

    /// Returns the address of the `len` bytes from `base() + at`, if they are in the reservation.
    fn place(&self, at: usize, len: usize) -> io::Result<usize> {
        if at.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        Ok(self.base + at)
    }

    /// Has valgrind's memcheck take `len` bytes from `base() + at` for memory that nobody may
    /// access: its leak check reads all other memory, and fills mappings whose pages come with the
    /// first touch.
    pub fn hide(&self, at: usize, len: usize) {
        memcheck::request(Request::NoAccess, self.base + at, len);
    }

    /// Has memcheck take `len` bytes from `base() + at` for memory that has values.
    pub fn show(&self, at: usize, len: usize) {
        memcheck::request(Request::Defined, self.base + at, len);
    }

    /// Hides the range, and has memcheck report no access to it: of memory in which another process
    /// knows the parts that are in use.
    pub fn keep_from_memcheck(&self) {
        self.hide(0, self.len);
        memcheck::request(Request::ReportNot, self.base, self.len);
    }

    /// Tells the kernel that children of a fork shall not have these addresses.
    pub fn keep_from_children(&self) {
        // SAFETY: the range is owned by this value; the advice changes no contents in this process.
        unsafe { libc::madvise(self.base as *mut _, self.len, libc::MADV_DONTFORK) };
    }

    /// Tells the kernel that a core file shall hold nothing of these addresses: it would touch all
    /// pages of a shared mapping to write them.
    pub fn keep_from_cores(&self) {
        // SAFETY: the range is owned by this value; the advice changes no contents.
        unsafe { libc::madvise(self.base as *mut _, self.len, libc::MADV_DONTDUMP) };
    }

    /// Tells the kernel that a core file shall hold the `len` bytes from `base() + at`, whole
    /// pages, all the same.
    ///
    /// # Errors
    /// `InvalidInput` when the range leaves the reservation.
    pub fn put_into_cores(&self, at: usize, len: usize) -> io::Result<()> {
        let addr = self.place(at, len)?;
        // SAFETY: the range is owned by this value; the advice changes no contents.
        unsafe { libc::madvise(addr as *mut _, len, libc::MADV_DODUMP) };
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        memcheck::request(Request::Report, self.base, self.len);
        // SAFETY: the range is owned by this value, and callers that got addresses in it were told
        // that they live as long as it does.
        unsafe { libc::munmap(self.base as *mut _, self.len) };
    }
}

/// Maps `len` bytes of `memory` from `offset` at `addr`, replacing the memory that is there.
///
/// # Errors
/// The error of mmap(2).
///
/// # Safety
/// The range must belong to the caller, and the memory that was mapped there must be of no further
/// use, or its contents must have been copied to `memory` before.
pub unsafe fn map_shared_at(
    addr: usize,
    memory: &Memfd,
    offset: usize,
    len: usize,
) -> io::Result<()> {
    // SAFETY: the range belongs to the caller, and its former contents are of no further use or in
    // `memory`.
    unsafe { map_at(addr, memory, offset, len, READ_WRITE, libc::MAP_SHARED)? };
    // Transparent huge pages where the system's shmem policy is "advise"; elsewhere a no-op.
    // SAFETY: the range was mapped above; the advice changes no contents.
    unsafe { libc::madvise(addr as *mut _, len, libc::MADV_HUGEPAGE) };
    Ok(())
}

const READ_WRITE: i32 = libc::PROT_READ | libc::PROT_WRITE;

/// Maps, for this access, as `kind` says, which is MAP_SHARED or MAP_PRIVATE.
///
/// # Safety
/// As [`map_shared_at`].
unsafe fn map_at(
    addr: usize,
    memory: &Memfd,
    offset: usize,
    len: usize,
    access: i32,
    kind: i32,
) -> io::Result<()> {
    let offset =
        libc::off_t::try_from(offset).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    if !memory.is_intact() {
        return Err(closed());
    }
    // SAFETY: the range belongs to the caller, and its former contents are of no further use or in
    // `memory`.
    let got = unsafe {
        libc::mmap(
            addr as *mut _,
            len,
            access,
            kind | libc::MAP_FIXED | libc::MAP_NORESERVE,
            memory.raw_fd(),
            offset,
        )
    };
    if got == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Gives the pages of a shared mapping back; every process then reads zeros there.
///
/// # Errors
/// The error of madvise(2).
///
/// # Safety
/// The range must be page-aligned and part of a shared memfd mapping whose contents nobody needs.
pub unsafe fn discard(addr: usize, len: usize) -> io::Result<()> {
    // SAFETY: the range is page-aligned and part of a shared memfd mapping, and nobody needs its
    // contents.
    match unsafe { libc::madvise(addr as *mut _, len, libc::MADV_REMOVE) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
