//! Memory that both processes have without the fabric: two flags, and bytes to copy.

#![expect(
    unsafe_code,
    reason = "maps memory, reads and writes it by its address, and binds processes"
)]

use std::hint::spin_loop;
use std::io::Error;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes before those to copy.
const FLAGS: usize = 4096;
/// Bytes to copy.
pub(crate) const BYTES: usize = 8_000_000;

static SHARED: OnceLock<Shared> = OnceLock::new();

/// The mapping.
#[derive(Debug)]
pub(crate) struct Shared(*mut u8);

// SAFETY: `Send` requires that the address may be used by other threads: it is mapped for good.
unsafe impl Send for Shared {}
// SAFETY: `Sync` requires that uses at a time do not race: flags are atomic, and the bytes are written
// and read by turns, behind calls.
unsafe impl Sync for Shared {}

/// Returns the mapping of this process.
pub(crate) fn shared() -> &'static Shared {
    SHARED.get().expect("the memory is mapped first")
}

/// Maps new memory; returns this process and the file by which the other one finds it.
pub(crate) fn create() -> Result<(u32, i32), Error> {
    // SAFETY: the name is a C string, and the file is this process's own.
    let file = unsafe {
        let file = libc::memfd_create(c"calls".as_ptr(), 0);
        if file < 0 || libc::ftruncate(file, (FLAGS + BYTES) as i64) != 0 {
            return Err(Error::last_os_error());
        }
        file
    };
    map(file)?;
    Ok((std::process::id(), file))
}

/// Maps the memory of another process.
pub(crate) fn open(process: u32, file: i32) -> Result<(), Error> {
    use std::os::fd::AsRawFd;
    let path = format!("/proc/{process}/fd/{file}");
    let file = std::fs::File::options().read(true).write(true).open(path)?;
    map(file.as_raw_fd())
}

fn map(file: i32) -> Result<(), Error> {
    let (rights, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new mapping at a place of the kernel's choice.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), FLAGS + BYTES, rights, kind, file, 0) };
    if at == libc::MAP_FAILED {
        return Err(Error::last_os_error());
    }
    let _ = SHARED.set(Shared(at.cast()));
    Ok(())
}

/// Binds this thread to the processor of a number, of those that it may use.
pub(crate) fn bind(number: usize) -> Result<(), Error> {
    // SAFETY: a set of processors is plain bits, and the calls read and write this one.
    unsafe {
        let mut own: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of_val(&own);
        if libc::sched_getaffinity(0, size, &raw mut own) != 0 {
            return Err(Error::last_os_error());
        }
        let mine = (0..1024)
            .filter(|&cpu| libc::CPU_ISSET(cpu, &own))
            .nth(number);
        let Some(mine) = mine else {
            return Err(Error::other("fewer than two processors"));
        };
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(mine, &mut one);
        libc::sched_setaffinity(0, size, &raw const one);
    }
    Ok(())
}

impl Shared {
    fn flag(&self, rank: usize) -> &AtomicU64 {
        // SAFETY: the words are mapped for good, and aligned.
        unsafe { AtomicU64::from_ptr(self.0.add(rank * 1024).cast()) }
    }

    /// Sets flags in turns; the process of rank 0 begins.
    pub(crate) fn flags(&self, rank: usize, turns: u64) {
        let [mine, theirs] = [self.flag(rank), self.flag(1 - rank)];
        let base = mine.load(Ordering::Relaxed);
        for turn in base + 1..=base + turns {
            if rank == 0 {
                mine.store(turn, Ordering::Release);
            }
            while theirs.load(Ordering::Acquire) != turn {
                spin_loop();
            }
            if rank == 1 {
                mine.store(turn, Ordering::Release);
            }
        }
    }

    /// Writes all bytes anew.
    pub(crate) fn write(&self, value: f64) {
        // SAFETY: so many elements are mapped, aligned; the other process waits.
        let all =
            unsafe { std::slice::from_raw_parts_mut(self.0.add(FLAGS).cast::<f64>(), BYTES / 8) };
        all.fill(value);
    }

    /// Reads all elements, which the other process has written.
    pub(crate) fn all(&self) -> &[f64] {
        // SAFETY: so many elements are mapped, aligned; the other process waits.
        unsafe { std::slice::from_raw_parts(self.0.add(FLAGS).cast(), BYTES / 8) }
    }
}
