//! The cache before a device that has its pages as hardware has them: physical ones, also when
//! other memory is mapped there later.
//!
//! Such a device holds references to pages, in a pipe that vmsplice(2) put them into; it reads by
//! tee(2). So a registration that has outlived its mapping gives the old contents, as on hardware.

use super::cache::Cache;
use super::registrar::Registrar;
use super::watch::lock;
use super::*;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

const PAGE: usize = 4096;
/// Bytes of a pipe, which needs one of its buffers for each page.
const PIPE: libc::c_int = 1 << 20;

/// The memory that the device knows, by key.
type Pinned = Arc<Mutex<HashMap<u32, (Range<usize>, OwnedFd)>>>;

#[derive(Debug, Clone, Default)]
struct Pins {
    pinned: Pinned,
    keys: Arc<AtomicU64>,
    /// Registrations that may be at a time; 0 for any number.
    most: usize,
}

/// Ends a registration.
struct Pin(Pinned, u32);

impl Drop for Pin {
    fn drop(&mut self) {
        let out = lock(&self.0).remove(&self.1);
        assert!(out.is_some(), "ended once");
    }
}

fn pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [-1; 2];
    // SAFETY: room for two descriptors, which are new.
    unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        assert!(libc::fcntl(ends[1], libc::F_SETPIPE_SZ, PIPE) > 0);
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    }
}

impl Registrar for Pins {
    unsafe fn register(&self, range: &Range<usize>) -> Option<(u32, Box<dyn Send + Sync>)> {
        let mut pinned = lock(&self.pinned);
        if self.most > 0 && pinned.len() >= self.most {
            return None;
        }
        for page in range.clone().step_by(PAGE) {
            let byte = page as *mut u8;
            // SAFETY: the page is mapped and writable. A device that may write makes the process
            // have pages of its own.
            unsafe { (*byte.cast::<AtomicU8>()).fetch_add(0, Ordering::SeqCst) };
        }
        let (reading, writing) = pipe();
        let part = libc::iovec {
            iov_base: range.start as *mut libc::c_void,
            iov_len: range.len(),
        };
        // SAFETY: the pages are mapped, and `part` is one valid record.
        let taken = unsafe { libc::vmsplice(writing.as_raw_fd(), &raw const part, 1, 0) };
        assert_eq!(taken, range.len() as isize, "a pipe has room for 256 pages");
        let key = self.keys.fetch_add(1, Ordering::SeqCst) as u32;
        pinned.insert(key, (range.clone(), reading));
        Some((key, Box::new(Pin(Arc::clone(&self.pinned), key))))
    }
}

impl Pins {
    /// Returns the bytes that a device reads when it is told to.
    fn read(&self, key: u32, addr: usize, len: usize) -> Vec<u8> {
        let pinned = lock(&self.pinned);
        let (range, pages) = pinned.get(&key).expect("a key that is registered");
        assert!(
            range.start <= addr && addr + len <= range.end,
            "in its range"
        );
        let (reading, writing) = pipe();
        // SAFETY: both are pipes.
        let copied = unsafe { libc::tee(pages.as_raw_fd(), writing.as_raw_fd(), range.len(), 0) };
        assert_eq!(copied, range.len() as isize);
        let mut bytes = vec![0; range.len()];
        File::from(reading)
            .read_exact(&mut bytes)
            .expect("all of it");
        bytes[addr - range.start..][..len].to_vec()
    }
}

/// A fork is one of the whole process, and so is an unmapping: each test has it for itself.
static PROCESS: Mutex<()> = Mutex::new(());

/// A cache before such a device.
struct Bench {
    pins: Pins,
    cache: Cache,
    counters: Arc<Counters>,
}

impl Bench {
    fn new(limits: Limits, most: usize) -> Self {
        let pins = Pins {
            most,
            ..Pins::default()
        };
        let counters = Arc::new(Counters::default());
        let cache = Cache::open(Box::new(pins.clone()), limits, Arc::clone(&counters))
            .expect("userfaultfd(2) is there: not under valgrind, and allowed in this container");
        Self {
            pins,
            cache,
            counters,
        }
    }

    fn of_entries(entries: usize) -> Self {
        let bytes = 1 << 24;
        Self::new(Limits { bytes, entries }, 0)
    }

    /// Returns the bytes that arrive of a buffer that is put: through the cache if that lends, and
    /// otherwise those in the buffer.
    fn put(&self, memory: &Memory) -> Vec<u8> {
        // SAFETY: the memory is mapped as long as it is borrowed.
        match unsafe { self.cache.lend(memory.base, memory.len, Absent::Register) } {
            Some(loan) => self.pins.read(loan.key(), memory.base, memory.len),
            None => memory.bytes(),
        }
    }

    /// Checks that the memory arrives, when nothing is told to anybody.
    fn arrives(&self, memory: &Memory) {
        self.settle();
        self.arrives_now(memory);
    }

    fn arrives_now(&self, memory: &Memory) {
        assert!(
            self.put(memory) == memory.bytes(),
            "other bytes: {}",
            self.statistics()
        );
    }

    fn statistics(&self) -> Statistics {
        self.counters.statistics()
    }

    /// Waits until the watcher has told everybody.
    fn settle(&self) {
        while self.cache.is_behind() {
            std::thread::yield_now();
        }
    }
}

/// Some mapped memory; its drop unmaps it.
struct Memory {
    base: usize,
    len: usize,
}

impl Memory {
    /// Maps memory over the present one.
    fn over(at: usize, len: usize, fill: u8) -> Self {
        Self::map(at, len, fill, libc::MAP_FIXED)
    }

    /// Maps memory where nothing is, or anywhere if another thread was quicker.
    fn again(at: usize, len: usize, fill: u8) -> Self {
        Self::map(at, len, fill, 0)
    }

    fn map(at: usize, len: usize, fill: u8, fixed: libc::c_int) -> Self {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | fixed;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: new memory, or over a test's own.
        let base = unsafe { libc::mmap(at as *mut libc::c_void, len, rights, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        let memory = Self {
            base: base.addr(),
            len,
        };
        memory.fill(fill);
        memory
    }

    fn new(len: usize, fill: u8) -> Self {
        Self::map(0, len, fill, 0)
    }

    fn fill(&self, byte: u8) {
        // SAFETY: the test's own memory.
        unsafe { std::ptr::write_bytes(self.base as *mut u8, byte, self.len) };
    }

    fn bytes(&self) -> Vec<u8> {
        // SAFETY: the test's own memory; nobody writes meanwhile.
        unsafe { std::slice::from_raw_parts(self.base as *const u8, self.len) }.to_vec()
    }

    fn unmap(self) {
        drop(self);
    }

    /// Returns some of it.
    fn part(&self, offset: usize, len: usize) -> std::mem::ManuallyDrop<Self> {
        std::mem::ManuallyDrop::new(Self {
            base: self.base + offset,
            len,
        })
    }

    fn advise(&self, advice: libc::c_int) {
        // SAFETY: the test's own memory.
        let result = unsafe { libc::madvise(self.base as *mut _, self.len, advice) };
        assert_eq!(result, 0);
    }

    /// Moves its pages elsewhere; the mapping stays, and is empty.
    fn leave_empty(&self) -> Self {
        let (old, flags) = (
            self.base as *mut libc::c_void,
            libc::MREMAP_MAYMOVE | libc::MREMAP_DONTUNMAP,
        );
        // SAFETY: the test's own memory.
        let new =
            unsafe { libc::mremap(old, self.len, self.len, flags, null_mut::<libc::c_void>()) };
        assert_ne!(new, libc::MAP_FAILED);
        Self {
            base: new.addr(),
            len: self.len,
        }
    }

    fn remap(&mut self, len: usize, flags: libc::c_int, to: usize) {
        let old = self.base as *mut libc::c_void;
        // SAFETY: the test's own memory; `to` is, too, if it is used.
        let new = unsafe { libc::mremap(old, self.len, len, flags, to as *mut libc::c_void) };
        assert_ne!(new, libc::MAP_FAILED);
        (self.base, self.len) = (new.addr(), len);
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the test's own memory, which nobody uses any more.
        unsafe { libc::munmap(self.base as *mut libc::c_void, self.len) };
    }
}

const LEN: usize = 16 * PAGE;

#[test]
fn the_second_put_of_a_buffer_hits() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(8);
    let memory = Memory::new(LEN, 1);
    bench.arrives(&memory);
    memory.fill(2);
    bench.arrives(&memory);
    // Some of it, not at pages.
    bench.arrives(&memory.part(100, 5000));
    let now = bench.statistics();
    assert_eq!(
        (now.hits, now.misses, now.entries, now.bytes),
        (2, 1, 1, LEN as u64),
        "{now}"
    );
}

#[test]
fn other_memory_at_the_same_address() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(8);
    let mut memory = Memory::new(LEN, 1);
    for fill in 2..40 {
        bench.arrives_now(&memory);
        let (base, len) = (memory.base, memory.len);
        if fill % 2 == 0 {
            // Unmapped, and mapped again.
            // SAFETY: the test's own memory.
            unsafe { libc::munmap(base as *mut libc::c_void, len) };
            std::mem::forget(std::mem::replace(
                &mut memory,
                Memory::again(base, len, fill),
            ));
        } else {
            std::mem::forget(Memory::over(base, len, fill));
        }
        bench.arrives_now(&memory);
    }
    bench.settle();
    assert!(
        bench.statistics().invalidations >= 5,
        "{}",
        bench.statistics()
    );
}

#[test]
fn a_table_that_was_not_told_is_not_asked() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(8);
    let memory = Memory::new(LEN, 1);
    bench.arrives(&memory);
    let held = bench.cache.hold();
    // Comes back when the watcher has read of it.
    memory.unmap();
    assert!(bench.cache.is_behind());
    drop(held);
    bench.settle();
    assert_eq!(bench.statistics().invalidations, 1);
}

#[test]
fn some_pages_of_it_are_others() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(8);
    let memory = Memory::new(LEN, 1);
    bench.arrives(&memory);
    std::mem::forget(Memory::over(memory.base + 3 * PAGE, PAGE, 2));
    bench.arrives(&memory);
}

#[test]
fn moved_grown_and_shrunk() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(8);
    let mut memory = Memory::new(LEN, 1);
    let place = Memory::new(4 * LEN, 9);
    bench.arrives(&memory);
    let first = memory.base;
    memory.remap(LEN, libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED, place.base);
    bench.arrives(&memory);
    // Other memory where it was.
    let other = Memory::again(first, LEN, 2);
    bench.arrives(&other);
    memory.remap(LEN / 2, 0, 0);
    memory.fill(3);
    let half = Memory::again(memory.base + LEN / 2, LEN / 2, 4);
    if half.base == memory.base + LEN / 2 {
        bench.arrives(&memory.part(0, LEN));
    }
    memory.remap(8 * LEN, libc::MREMAP_MAYMOVE, 0);
    memory.fill(5);
    bench.arrives(&memory.part(0, 4 * LEN));
    std::mem::forget(place);
}

#[test]
fn moved_without_an_unmapping() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(8);
    let memory = Memory::new(LEN, 1);
    bench.arrives(&memory);
    let moved = memory.leave_empty();
    memory.fill(2);
    bench.arrives(&memory);
    bench.arrives(&moved);
}

#[test]
fn emptied() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(8);
    let memory = Memory::new(LEN, 1);
    for fill in 2..20 {
        bench.arrives_now(&memory);
        memory.part(PAGE, 2 * PAGE).advise(libc::MADV_DONTNEED);
        bench.arrives_now(&memory);
        memory.fill(fill);
        bench.arrives_now(&memory);
    }
}

#[test]
fn freed_and_allocated_again() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(8);
    for fill in 1..60 {
        // From where free gives back at once, and from where malloc_trim does.
        let len = if fill % 2 == 0 { 1 << 18 } else { 60_000 };
        // SAFETY: memory of malloc's, used by its size and freed once.
        unsafe {
            let base = libc::malloc(len);
            let memory = std::mem::ManuallyDrop::new(Memory {
                base: base.addr(),
                len,
            });
            memory.fill(fill);
            bench.arrives_now(&memory);
            libc::free(base);
            libc::malloc_trim(0);
        }
    }
}

#[test]
fn the_heap_shrinks_and_grows() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(8);
    let mut done = 0;
    for fill in 1..100 {
        // SAFETY: the added memory is this test's while the end stays where it is; otherwise it
        // stays added.
        unsafe {
            let base = libc::sbrk(LEN as isize + PAGE as isize);
            let memory = std::mem::ManuallyDrop::new(Memory {
                base: base.addr().next_multiple_of(PAGE),
                len: LEN,
            });
            memory.fill(fill);
            bench.arrives_now(&memory);
            if libc::sbrk(0).addr() == base.addr() + LEN + PAGE {
                libc::sbrk(-((LEN + PAGE) as isize));
                done += 1;
            }
        }
    }
    assert!(done > 10, "others moved the end of the heap {done}");
}

#[test]
fn forks() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(8);
    let memory = Memory::new(LEN, 1);
    for fill in 2..12 {
        bench.arrives_now(&memory);
        // SAFETY: the child makes only calls that a forked child may make.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: the child's own copy of the test's memory, and no cache for it; _exit has no
            // preconditions.
            unsafe {
                let lent = bench.cache.lend(memory.base, memory.len, Absent::Register);
                std::ptr::write_bytes(memory.base as *mut u8, 99, memory.len);
                libc::munmap(memory.base as *mut libc::c_void, memory.len);
                libc::_exit(i32::from(lent.is_some()));
            }
        }
        // Half of it while the child is there perhaps, and all of it later.
        memory.part(0, LEN / 2).fill(fill);
        bench.arrives_now(&memory);
        let mut status = 0;
        // SAFETY: an own child, and room for its status.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0, "the child was lent nothing, and ended");
        memory.fill(fill);
        bench.arrives_now(&memory);
    }
}

#[test]
fn what_is_in_use_stays() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(2);
    let memories: Vec<_> = (0..4).map(|fill| Memory::new(LEN, fill)).collect();
    let lend = |memory: &Memory| {
        // SAFETY: mapped to the end of the test.
        unsafe { bench.cache.lend(memory.base, memory.len, Absent::Register) }
    };
    let loans: Vec<_> = memories.iter().map(lend).collect();
    let lent: Vec<_> = loans.iter().map(Option::is_some).collect();
    assert_eq!(lent, [true, true, false, false]);
    for (memory, loan) in memories.iter().zip(&loans) {
        if let Some(loan) = loan {
            assert!(bench.pins.read(loan.key(), memory.base, LEN) == memory.bytes());
        }
    }
    // Even where the memory is not: transfers under way are not cut off.
    let mut memories = memories.into_iter();
    memories.next().expect("four").unmap();
    bench.settle();
    bench.cache.drop_invalid();
    let first = loans[0].as_ref().expect("lent");
    assert!(lock(&bench.pins.pinned).contains_key(&first.key()));
    drop(loans);
    assert_eq!(lock(&bench.pins.pinned).len(), 1);
    let memories: Vec<_> = memories.collect();
    for memory in &memories {
        bench.arrives(memory);
        bench.arrives(memory);
    }
    let now = bench.statistics();
    assert_eq!(
        (now.entries, now.refusals, now.invalidations),
        (2, 2, 1),
        "{now}"
    );
    assert!(now.evictions >= 1 && now.hits >= 3, "{now}");
}

#[test]
fn no_more_than_the_limits() {
    let _alone = lock(&PROCESS);
    let limits = Limits {
        bytes: 3 * LEN,
        entries: 100,
    };
    let bench = Bench::new(limits, 0);
    let memories: Vec<_> = (0..9).map(|fill| Memory::new(LEN, fill)).collect();
    for memory in memories.iter().chain(&memories) {
        bench.arrives(memory);
        let pages: usize = lock(&bench.pins.pinned)
            .values()
            .map(|(range, _)| range.len())
            .sum();
        assert!(pages <= limits.bytes && pages as u64 == bench.statistics().bytes);
    }
    let large = Memory::new(4 * LEN, 7);
    bench.arrives(&large);
    let now = bench.statistics();
    assert_eq!(
        (now.entries, now.misses, now.refusals, now.evictions),
        (3, 18, 1, 15),
        "{now}"
    );
}

#[test]
fn where_the_device_takes_no_more() {
    let _alone = lock(&PROCESS);
    let bench = Bench::new(Limits::default(), 2);
    let memories: Vec<_> = (0..4).map(|fill| Memory::new(LEN, fill)).collect();
    for memory in memories.iter().chain(&memories) {
        bench.arrives(memory);
    }
    assert!(lock(&bench.pins.pinned).len() <= 2);
    assert_eq!(bench.statistics().refusals, 0, "{}", bench.statistics());
    // Nothing that could make room.
    // SAFETY: mapped to the end of the test.
    let lend = |memory: &Memory| unsafe { bench.cache.lend(memory.base, LEN, Absent::Register) };
    let _loans = (lend(&memories[0]), lend(&memories[1]));
    bench.arrives(&memories[2]);
    assert_eq!(bench.statistics().refusals, 1, "{}", bench.statistics());
}

#[test]
fn overlapping_neighbouring_and_within() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(16);
    let memory = Memory::new(8 * PAGE, 1);
    for (offset, len) in [
        (0, 2),
        (2, 2),
        (1, 2),
        (4, 1),
        (3, 4),
        (0, 8),
        (5, 3),
        (0, 1),
    ] {
        bench.arrives(&memory.part(offset * PAGE, len * PAGE));
    }
    let now = bench.statistics();
    assert_eq!((now.entries, now.misses, now.hits), (1, 6, 2), "{now}");
    // Of two entries that overlap, the evicted one leaves the other one watched.
    let bench = Bench::of_entries(2);
    bench.arrives(&memory.part(0, 4 * PAGE));
    bench.arrives(&memory.part(2 * PAGE, 4 * PAGE));
    let far = Memory::new(PAGE, 2);
    bench.arrives(&far);
    std::mem::forget(Memory::over(memory.base + 3 * PAGE, PAGE, 7));
    bench.arrives(&memory.part(2 * PAGE, 4 * PAGE));
}

#[test]
fn what_is_no_private_memory_is_left_alone() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(4);
    static TABLE: [u8; 1 << 18] = [7; 1 << 18];
    let constant = std::mem::ManuallyDrop::new(Memory {
        base: TABLE.as_ptr().addr(),
        len: TABLE.len(),
    });
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: new memory.
    let shared = unsafe { libc::mmap(null_mut(), LEN, rights, flags, -1, 0) };
    let shared = Memory {
        base: shared.addr(),
        len: LEN,
    };
    bench.arrives(&constant);
    bench.arrives(&shared);
    assert_eq!(bench.statistics().refusals, 2, "{}", bench.statistics());
    assert_eq!(bench.statistics().entries, 0);
}

#[test]
fn two_caches_over_the_same_memory() {
    let _alone = lock(&PROCESS);
    let (one, two) = (Bench::of_entries(4), Bench::of_entries(4));
    let memory = Memory::new(LEN, 1);
    one.arrives(&memory);
    two.arrives(&memory);
    drop(one);
    std::mem::forget(Memory::over(memory.base, LEN, 2));
    two.arrives(&memory);
    assert_eq!(two.statistics().refusals, 0);
}

#[test]
fn many_threads_that_map_and_unmap() {
    let _alone = lock(&PROCESS);
    let bench = Bench::of_entries(2);
    std::thread::scope(|scope| {
        for thread in 0..8_u8 {
            let bench = &bench;
            scope.spawn(move || {
                for round in 0..150_u8 {
                    let memory = Memory::new(LEN, thread.wrapping_mul(31) ^ round);
                    bench.arrives_now(&memory);
                    if round % 3 == 0 {
                        memory.advise(libc::MADV_DONTNEED);
                    }
                    bench.arrives_now(&memory);
                }
            });
        }
    });
    drop(bench.cache);
    assert!(lock(&bench.pins.pinned).is_empty(), "everything was let go");
}

#[test]
fn off_is_no_cache() {
    let _alone = lock(&PROCESS);
    let pins = || Box::new(Pins::default());
    assert!(Cache::open(pins(), Limits::OFF, Arc::default()).is_none());
    let limits = Limits {
        entries: 0,
        ..Limits::default()
    };
    assert!(Cache::open(pins(), limits, Arc::default()).is_none());
}
