//! fork: the child gets a private copy of the symmetric memory, and is not a PE.
//!
//! Shared mappings stay shared over fork, so that without this a child's writes to its globals would
//! change the parent's, and the parent's the child's. The parent copies the pages that have
//! contents right before the fork, into memory of its own, which the child inherits as any private
//! memory; the child puts the copy in the place of the shared mappings. So neither waits for the
//! other, and no descriptor is needed. The peers' memory is not mapped in the child at all.
//! (system, popen and posix_spawn do not come by here: they share the parent's memory until they
//! execute another program.)
//!
//! In a static executable the C library's own data is shared as well. There fork writes it behind
//! the handlers that run before it (it takes the locks of malloc and of streams), and fork's child
//! before those that run after it, and so spoils the parent's. Copy and exchange must be nearer to
//! the system call: [`by`] stands around `_Fork`, which is within fork.

#![expect(
    unsafe_code,
    reason = "fork handlers, and the replacement of mappings in the child"
)]

use crate::ctx::registry;
use crate::direct;
use crate::job::{self, Phase, exit};
use fi_provider::node::segment::{Memfd, page_size};
use fi_provider::symmetric::window::MemoryRegion;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

thread_local! {
    /// The copy for the child that this thread forks. Of the thread, because several may fork at
    /// once, and because statics of a static executable are shared by parent and child until the
    /// exchange.
    static SNAPSHOT: Cell<Snapshot> = const { Cell::new(Snapshot::Nothing) };
}

/// Whether [`by`] copies and exchanges in the handlers' place. The first fork tells.
static IS_BY: AtomicBool = AtomicBool::new(false);

/// Registers the handlers, once for the life of the process.
pub(crate) fn install() {
    // SAFETY: the handlers are plain functions that live as long as the program.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

extern "C" fn before() {
    if !IS_BY.load(Ordering::Relaxed) {
        SNAPSHOT.set(Snapshot::take());
    }
}

extern "C" fn in_parent() {
    SNAPSHOT.take().give_back();
}

extern "C" fn in_child() {
    match SNAPSHOT.take() {
        // The parent was no PE.
        Snapshot::Nothing => return,
        Snapshot::Exchanged => (),
        snapshot => snapshot.exchange(),
    }
    become_child();
}

/// Makes the child no PE from here on: it gives back the resources of a PE.
fn become_child() {
    job::leave();
    // SAFETY: only the thread that called fork exists in the child, and outstanding operations are
    // the parent's.
    unsafe {
        registry::close_all();
        job::forget_peers();
        direct::update();
    }
}

/// The copy of the symmetric memory that a fork's child gets.
#[derive(Clone, Copy, Default)]
enum Snapshot {
    /// There is nothing to be copied.
    #[default]
    Nothing,
    /// The system has refused the memory.
    Refused,
    /// It is in its place, in this process.
    Exchanged,
    /// At this address: [`Contents`], and from the next page on the regions, one behind the other.
    At(*mut Contents),
}

/// The regions whose copies follow; in the mapping itself, because the child may read no static
/// data before the exchange.
struct Contents {
    /// Bytes of the mapping, this page included.
    len: usize,
    count: usize,
    regions: [(usize, usize); MOST],
}

/// The segments of the static data, and the heaps of a session and of one that has ended. More do
/// not fit into a page.
const MOST: usize = 64;

impl Snapshot {
    /// Copies this process's symmetric memory, if it is a PE.
    fn take() -> Self {
        if job::phase() == Phase::Forked {
            return Self::Nothing;
        }
        let page = page_size();
        let (mut len, mut count) = (page, 0);
        job::for_each_shared_region(|_, region| {
            len += region.len;
            count += 1;
        });
        if count == 0 {
            return Self::Nothing;
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping replaces nothing.
        let copy = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags, -1, 0) };
        if copy == libc::MAP_FAILED || count > MOST {
            return Self::Refused;
        }
        let contents = copy.cast::<Contents>();
        // SAFETY: the mapping begins with a page for this; all-zero is valid.
        let index = unsafe { &mut *contents };
        (index.len, index.count) = (len, 0);
        let mut at = copy.addr() + page;
        job::for_each_shared_region(|memory, region| {
            index.regions[index.count] = (region.base, region.len);
            index.count += 1;
            // SAFETY: the region is mapped in this process, and its length is left from `at` on.
            unsafe { copy_pages(memory, region, at) };
            at += region.len;
        });
        Self::At(contents)
    }

    /// Gives the memory back, in the parent.
    fn give_back(self) {
        if let Self::At(contents) = self {
            // SAFETY: `take` has mapped this many bytes there, and nothing else knows them.
            unsafe { libc::munmap(contents.cast(), (*contents).len) };
        }
    }

    /// Puts the copy in the place of the shared memory, in the child. Writes no static data before.
    fn exchange(self) {
        let Self::At(contents) = self else {
            return if matches!(self, Self::Refused) {
                refuse()
            };
        };
        // SAFETY: `take` has written it, and the child has it as the parent had.
        let Contents { count, regions, .. } = unsafe { &*contents };
        let mut at = contents.addr() + page_size();
        for &(base, len) in &regions[..*count] {
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            // SAFETY: the target is the region's own mapping, whose contents have been copied.
            let moved = unsafe {
                libc::mremap(
                    at as *mut libc::c_void,
                    len,
                    len,
                    flags,
                    base as *mut libc::c_void,
                )
            };
            if moved == libc::MAP_FAILED {
                refuse();
            }
            at += len;
        }
        // SAFETY: this page is left of the mapping.
        unsafe { libc::munmap(contents.cast(), page_size()) };
    }
}

/// Ends the child: going on would mean to write the parent's memory, and so would formatting a
/// message.
fn refuse() -> ! {
    const WHY: &[u8] =
        b"farreach: fork: the system refuses memory for the child's copy of the symmetric memory\n";
    // SAFETY: the buffer has these bytes; _exit has no preconditions.
    unsafe {
        libc::write(libc::STDERR_FILENO, WHY.as_ptr().cast(), WHY.len());
        libc::_exit(exit::FAILURE)
    }
}

/// Copies the pages of the region that have contents to `to`, by plain copies and system calls
/// alone.
///
/// # Safety
/// The region is a mapping of `memory` in this process, and its length is mapped at `to`.
unsafe fn copy_pages(memory: &Memfd, region: &MemoryRegion, to: usize) {
    let end = region.file_offset + region.len;
    let mut at = region.file_offset;
    while let Some((start, stop)) = memory.next_data(at, end) {
        let offset = start - region.file_offset;
        let source = (region.base + offset) as *const u8;
        // SAFETY: the region is mapped, and so is its length at `to`, which is apart from it.
        unsafe { source.copy_to_nonoverlapping((to + offset) as *mut u8, stop - start) };
        at = stop;
    }
}

/// Forks in a static executable: calls `_Fork`, with the copy made and put in its place before the
/// C library goes on in either process. `threads` is the lock of the C library's lists of threads,
/// null where it has none by that name.
///
/// # Safety
/// `fork` is the C library's `_Fork`, and `threads` null or its lock.
pub unsafe fn by(
    fork: unsafe extern "C" fn() -> libc::pid_t,
    threads: *const AtomicI32,
) -> libc::pid_t {
    IS_BY.store(true, Ordering::Relaxed);
    // That of the first fork, by `before`: it lacks the C library's writes since then.
    SNAPSHOT.take().give_back();
    let mut mask = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both sets are filled before they are read. A handler in the child would write memory
    // that is still shared.
    unsafe {
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), mask.as_mut_ptr());
    }
    // SAFETY: null, or the C library's lock, which lives as long as the process.
    let threads = unsafe { threads.as_ref() }.filter(|lock| locked(lock));
    let snapshot = Snapshot::take();
    // SAFETY: `fork` is the C library's `_Fork`, which has no requirement on memory; signals are
    // blocked.
    let pid = unsafe { fork() };
    // SAFETY: errno belongs to this thread.
    let errno = unsafe { *libc::__errno_location() };
    if pid != 0 {
        snapshot.give_back();
    } else if !matches!(snapshot, Snapshot::Nothing) {
        snapshot.exchange();
        job::leave();
        SNAPSHOT.set(Snapshot::Exchanged);
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

/// Time to wait for the lock of the lists of threads.
const HELD_BY_A_WAITING_THREAD: Duration = Duration::from_millis(100);

/// Takes a lock of the C library: 0 is free, 1 taken, 2 taken and waited for. Not for ever: a
/// thread that holds it may free memory, and so wait for the locks that fork has already. Then the
/// lists are as good as locked.
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
