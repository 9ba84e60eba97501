//! fork: the child gets a private copy of the symmetric memory, and is not a PE.
//!
//! Shared mappings stay shared over fork, so that without this a child's writes to its globals would
//! change the parent's, and the parent's the child's. The child copies what has pages before fork returns
//! in either process. The peers' memory is not mapped in the child at all. (system, popen and
//! posix_spawn do not come by here: they share the parent's memory until they execute another program.)
//!
//! In a static executable the C library's own data is shared as well. There fork's child would write it
//! before the handlers run (it makes anew the locks and lists of a process with one thread), and so spoil
//! the parent's. The copy must come sooner: [`by`] stands around `_Fork`, the system call within fork.

#![expect(
    unsafe_code,
    reason = "fork handlers, pipes, and the replacement of mappings in the child"
)]

use crate::job::{self, Phase};
use fi_provider::memory::MemoryRegion;
use fi_provider::node::segment::Memfd;
use std::cell::Cell;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

thread_local! {
    /// The pipe by which the child tells its parent that it has its copy: where to read and where to write, -1
    /// while there is none. Of the thread, because several may fork at once, and because statics of a static
    /// executable are shared by parent and child until the child has its copy.
    static PIPE: [Cell<c_int>; 2] = const { [Cell::new(-1), Cell::new(-1)] };

    /// Whether [`by`] has done already what the handlers are for.
    static SEPARATED: Cell<bool> = const { Cell::new(false) };
}

const READ_END: usize = 0;
const WRITE_END: usize = 1;

/// Registers the handlers, once for the life of the process.
pub(crate) fn install() {
    // SAFETY: the handlers are plain functions that live as long as the program.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

extern "C" fn before() {
    SEPARATED.set(false);
    if job::phase() == Phase::Forked {
        // What this process has is its own already.
        return;
    }
    let mut ends = [-1; 2];
    // SAFETY: the array has room for two descriptors.
    unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    PIPE.with(|pipe| pipe[READ_END].set(ends[READ_END]));
    PIPE.with(|pipe| pipe[WRITE_END].set(ends[WRITE_END]));
}

extern "C" fn in_parent() {
    if !SEPARATED.take() {
        wait_for_child();
    }
}

extern "C" fn in_child() {
    let separated = SEPARATED.take();
    if job::phase() == Phase::Forked && !separated {
        return;
    }
    if !separated {
        separate();
    }
    job::become_child();
}

/// In the parent: until the child has its copy, or has ended.
fn wait_for_child() {
    close(WRITE_END);
    let mut byte = 0_u8;
    let read_end = end(READ_END);
    // Ends with the byte, or with the child.
    // SAFETY: the buffer is one byte; a descriptor of -1 is refused.
    while unsafe { libc::read(read_end, (&raw mut byte).cast(), 1) } < 0
        && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
    {}
    close(READ_END);
}

/// In the child: takes its copy, and tells the parent.
fn separate() {
    close(READ_END);
    job::for_each_shared_region(|memory, region| {
        // SAFETY: in the child only this thread exists, and the region is its mapping of `memory`.
        if unsafe { make_private(memory, region) }.is_none() {
            // Going on would mean to write the parent's memory, and so would formatting a message.
            const WHY: &[u8] =
                b"farreach: fork: the system refuses the child memory for its copy of the symmetric memory\n";
            // SAFETY: the buffer has these bytes; _exit has no preconditions.
            unsafe {
                libc::write(libc::STDERR_FILENO, WHY.as_ptr().cast(), WHY.len());
                libc::_exit(crate::report::FAILURE)
            };
        }
    });
    let byte = 1_u8;
    // SAFETY: the buffer is one byte; a descriptor of -1 is refused.
    unsafe { libc::write(end(WRITE_END), (&raw const byte).cast(), 1) };
    close(WRITE_END);
}

/// In a static executable: `_Fork`, with the child's copy made before the C library goes on in either process.
/// `threads` is the lock of the C library's lists of threads, null where it has none by that name.
///
/// # Safety
/// `fork` is the C library's `_Fork`, and `threads` null or its lock.
pub unsafe fn by(
    fork: unsafe extern "C" fn() -> libc::pid_t,
    threads: *const AtomicI32,
) -> libc::pid_t {
    if end(READ_END) < 0 {
        // The program called _Fork itself, which runs no handlers; or there was no descriptor left.
        before();
    }
    let mut mask = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both sets are filled before they are read. A handler in the child would write what is still shared.
    unsafe {
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), mask.as_mut_ptr());
    }
    // SAFETY: the contract is the caller's.
    let threads = unsafe { threads.as_ref() }.filter(|lock| locked(lock));
    // SAFETY: the contract is the caller's.
    let pid = unsafe { fork() };
    // SAFETY: errno belongs to this thread.
    let errno = unsafe { *libc::__errno_location() };
    if pid != 0 {
        wait_for_child();
        SEPARATED.set(true);
    } else if job::phase() != Phase::Forked {
        separate();
        job::leave();
        SEPARATED.set(true);
    }
    if let Some(lock) = threads {
        unlock(lock);
    }
    // SAFETY: the set was filled above; errno belongs to this thread.
    unsafe {
        libc::pthread_sigmask(libc::SIG_SETMASK, mask.as_ptr(), std::ptr::null_mut());
        *libc::__errno_location() = errno;
    }
    pid
}

/// How long the lock of the lists of threads is waited for.
const HELD_BY_A_WAITING_THREAD: Duration = Duration::from_millis(100);

/// Takes a lock of the C library: 0 is free, 1 taken, 2 taken and waited for. Not for ever: who holds it may free
/// memory, and so wait for the locks that fork has already. Then the lists are as good as locked.
fn locked(lock: &AtomicI32) -> bool {
    let since = Instant::now();
    // ORDERING: Acquire, so that the lists are copied as the last holder left them.
    while lock
        .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
        .is_err()
    {
        if since.elapsed() > HELD_BY_A_WAITING_THREAD {
            return false;
        }
        // SAFETY: no preconditions.
        unsafe { libc::sched_yield() };
    }
    true
}

fn unlock(lock: &AtomicI32) {
    // ORDERING: Release, as any unlocking; nothing was written under it.
    if lock.swap(0, Ordering::Release) == 2 {
        let word: *const AtomicI32 = lock;
        // SAFETY: the word is a valid futex.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word,
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                1,
            )
        };
    }
}

/// The descriptor of one end of this thread's pipe.
fn end(which: usize) -> c_int {
    PIPE.with(|pipe| pipe[which].get())
}

fn close(which: usize) {
    // SAFETY: the descriptor is the pipe's, or -1, which is refused.
    unsafe { libc::close(PIPE.with(|pipe| pipe[which].replace(-1))) };
}

/// Puts a private copy of the region in its place.
///
/// # Safety
/// This thread is the only one, and the region is a mapping of `memory` in this process.
unsafe fn make_private(memory: &Memfd, region: &MemoryRegion) -> Option<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping replaces nothing.
    let copy = unsafe { libc::mmap(std::ptr::null_mut(), region.len, access, flags, -1, 0) };
    if copy == libc::MAP_FAILED {
        return None;
    }
    let end = region.file_offset + region.len;
    let mut at = region.file_offset;
    // From here to the exchange nothing may write static data: plain copies and system calls only.
    while let Some((start, stop)) = memory.next_data(at, end) {
        let offset = start - region.file_offset;
        let source = (region.base + offset) as *const u8;
        // SAFETY: both ranges are mapped and apart.
        unsafe { source.copy_to_nonoverlapping(copy.cast::<u8>().add(offset), stop - start) };
        at = stop;
    }
    // SAFETY: the target is the region's own mapping, whose contents have been copied.
    let moved = unsafe {
        libc::mremap(
            copy,
            region.len,
            region.len,
            libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
            region.base as *mut libc::c_void,
        )
    };
    (moved != libc::MAP_FAILED).then_some(())
}
