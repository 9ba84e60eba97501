//! News of memory that is unmapped, moved or emptied, from the kernel: userfaultfd(2) with its events and without a fault.
//!
//! There is one watcher a process, as memory can be watched by one. Its thread reads the events and
//! tells the tables of all caches. A thread that unmaps goes on when the event is *read*, not when
//! it is told. So the watcher says that it is about to read before it does, and takes that back
//! when all tables know; a lookup that comes meanwhile, or while the kernel waits for somebody to
//! read, goes without. It never waits for a lock: its holder may be a thread that waits for the
//! watcher to read. And it neither allocates nor frees: it would wait for itself where that gives
//! watched memory back.

use super::maps;
use super::table::{State, Table};
use crate::helper;
use std::io;
use std::mem::MaybeUninit;

use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// A cache's table, as the watcher has it.
pub(super) type Shared = Arc<Mutex<Table>>;

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// See the module's documentation.
pub(super) struct Watcher {
    file: OwnedFd,
    process: u32,
    /// News are being read that some table may not know yet.
    behind: AtomicBool,
    tables: Mutex<Vec<Shared>>,
    /// Ranges that are watched, once for each entry.
    watched: Mutex<Vec<Range<usize>>>,
}

/// The process's own, from the first use on.
static WATCHER: Mutex<Option<Arc<Watcher>>> = Mutex::new(None);

impl Watcher {
    /// Returns the process's watcher, made and started if need be; `None` where the system does not
    /// let a process watch.
    pub(super) fn of_process() -> Option<Arc<Self>> {
        // In a child that was forked meanwhile nobody would give it back.
        let mut current = try_lock(&WATCHER)?;
        let process = std::process::id();
        if let Some(watcher) = current.as_ref().filter(|it| it.process == process) {
            return Some(Arc::clone(watcher));
        }
        let watcher = Arc::new(Self::over(open().ok()?, process));
        let reader = Arc::clone(&watcher);
        helper::spawn("farreach-watch", move || reader.read_on()).ok()?;
        *current = Some(Arc::clone(&watcher));
        Some(watcher)
    }

    fn over(file: OwnedFd, process: u32) -> Self {
        Self {
            file,
            process,
            behind: AtomicBool::new(false),
            tables: Mutex::new(Vec::new()),
            watched: Mutex::new(Vec::new()),
        }
    }

    /// Tells `table` the news from here on.
    pub(super) fn tell(&self, table: &Shared) {
        lock(&self.tables).push(Arc::clone(table));
    }

    /// Forgets a table.
    pub(super) fn forget(&self, table: &Shared) {
        let mut tables = lock(&self.tables);
        let index = tables.iter().position(|it| Arc::ptr_eq(it, table));
        let forgotten = index.map(|index| tables.swap_remove(index));
        drop(tables);
        // Only now: the memory that this frees may be watched.
        drop(forgotten);
    }

    /// Returns whether something has happened that a table may not know of. To be asked before a
    /// look at the table.
    pub(super) fn is_behind(&self) -> bool {
        let ready = self.kernel() == Kernel::Ready;
        // ORDERING: Acquire pairs with the release in `read_on`: a thread that finds it done finds
        // the tables told. A thread that finds that the kernel has told finds it begun: the reader
        // says so before it reads.
        !ready || self.behind.load(Ordering::Acquire)
    }

    /// Returns the state of the kernel.
    ///
    /// Another thread may have its memory where somebody has unmapped his, and has not come back from that: the kernel
    /// tells only then. Before it unmaps, it notes that it is going to tell; then no request to it has an answer but
    /// this one, not even a request that makes no sense.
    fn kernel(&self) -> Kernel {
        let mut senseless = [0_u64; 3];
        if self.ask(WRITE_PROTECT, &mut senseless) {
            return Kernel::Lost;
        }
        match io::Error::last_os_error().raw_os_error() {
            Some(libc::EINVAL) => Kernel::Ready,
            Some(libc::EAGAIN) => Kernel::Telling,
            _ => Kernel::Lost,
        }
    }

    /// Watches memory of whole pages; `false` if that is not private memory of no file, or somebody else watches it.
    pub(super) fn watch(&self, range: &Range<usize>) -> bool {
        if !maps::is_plain(range) {
            return false;
        }
        let mut register = Register {
            start: range.start as u64,
            len: range.len() as u64,
            mode: MODE_WRITE_PROTECT,
            ioctls: 0,
        };
        // Held all the time, so that nobody else finds the range free meanwhile.
        let mut watched = lock(&self.watched);
        let registered = self.ask(REGISTER, &mut register);
        if registered {
            watched.push(range.clone());
        }
        registered
    }

    /// Notes that no entry has the range any more. Where its mapping is still the same, memory that
    /// no other entry has is not watched any more.
    pub(super) fn unwatch(&self, range: &Range<usize>, mapped: bool) {
        let mut watched = lock(&self.watched);
        if let Some(index) = watched.iter().position(|it| it == range) {
            watched.swap_remove(index);
        }
        let mut at = range.start;
        while mapped && at < range.end {
            let covering = watched.iter().find(|it| it.contains(&at));
            if let Some(other) = covering {
                at = other.end;
                continue;
            }
            let starts = watched.iter().map(|it| it.start);
            let next = starts
                .filter(|&start| start > at)
                .min()
                .unwrap_or(range.end);
            let end = next.min(range.end);
            let mut free = [at as u64, (end - at) as u64];
            // It fails where the memory is gone meanwhile, which is as well.
            self.ask(UNREGISTER, &mut free);
            at = end;
        }
    }

    fn ask<T>(&self, request: libc::c_ulong, argument: &mut T) -> bool {
        // SAFETY: the request reads and writes a structure of this type (ioctl_userfaultfd(2)).
        unsafe { libc::ioctl(self.file.as_raw_fd(), request, &raw mut *argument) == 0 }
    }

    /// Runs the watcher's thread. It ends where the program has closed the descriptor, which may be
    /// another file's by now; then nothing is looked up any more.
    fn read_on(&self) {
        let mut news = News::default();
        loop {
            let timeout = if news.is_empty() { -1 } else { 0 };
            let mut poll = libc::pollfd {
                fd: self.file.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: `poll` is one record, which outlives the call.
            unsafe { libc::poll(&raw mut poll, 1, timeout) };
            // ORDERING: SeqCst, so that no part of reading is before it; see `is_behind`.
            self.behind.store(true, Ordering::SeqCst);
            if self.kernel() == Kernel::Lost {
                return;
            }
            self.read(&mut news);
            if self.spread(&news) {
                news = News::default();
                // ORDERING: Release pairs with the acquire in `is_behind`.
                self.behind.store(false, Ordering::Release);
            } else {
                std::thread::yield_now();
            }
        }
    }

    fn read(&self, news: &mut News) {
        let mut messages = [const { MaybeUninit::<Message>::uninit() }; 16];
        loop {
            let (buffer, len) = (messages.as_mut_ptr().cast(), size_of_val(&messages));
            // SAFETY: the buffer has as many bytes.
            let got = unsafe { libc::read(self.file.as_raw_fd(), buffer, len) };
            let Some(count) = usize::try_from(got).ok().filter(|&got| got > 0) else {
                return;
            };
            for message in &messages[..count / size_of::<Message>()] {
                // SAFETY: the kernel has written so many whole messages.
                news.add(unsafe { message.assume_init_ref() });
            }
        }
    }

    /// Tells all tables; false if one of them could not be told now.
    fn spread(&self, news: &News) -> bool {
        let Some(tables) = try_lock(&self.tables) else {
            return false;
        };
        let mut all = true;
        for table in tables.iter() {
            match try_lock(table) {
                Some(mut table) => news.each(|range, state| table.invalidate(range, state)),
                None => all = false,
            }
        }
        all
    }
}

/// State of the kernel, as the descriptor shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    /// Everything that it had to tell was read.
    Ready,
    /// Somebody is unmapping.
    Telling,
    /// The descriptor leads to it no more.
    Lost,
}

/// Events that some table was not told yet.
struct News {
    ranges: [(usize, usize, State); Self::ROOM],
    count: usize,
}

impl Default for News {
    fn default() -> Self {
        Self {
            ranges: [(0, 0, State::Gone); Self::ROOM],
            count: 0,
        }
    }
}

impl News {
    const ROOM: usize = 64;

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn add(&mut self, message: &Message) {
        let [first, second, third] = message.arguments.map(|argument| argument as usize);
        let range = match message.event {
            EVENT_UNMAP => (first, second, State::Gone),
            EVENT_REMOVE => (first, second, State::Changed),
            // Where its mapping does not stay, an unmapping is told next. An entry that is let go
            // in between must not have its place unregistered, which may be another's by now.
            EVENT_REMAP => (first, first.saturating_add(third), State::Gone),
            _ => return,
        };
        if self.count == Self::ROOM {
            // So much at a time: all memory is taken to have changed.
            self.count = 0;
            self.ranges[0] = (0, usize::MAX, State::Gone);
        } else {
            self.ranges[self.count] = range;
        }
        self.count += 1;
    }

    fn each(&self, mut tell: impl FnMut(&Range<usize>, State)) {
        for &(start, end, state) in &self.ranges[..self.count] {
            tell(&(start..end), state);
        }
    }
}

// linux/userfaultfd.h; ioctl_userfaultfd(2), userfaultfd(2).
const USER_MODE_ONLY: libc::c_long = 1;
const API: libc::c_ulong = 0xc018_aa3f;
const REGISTER: libc::c_ulong = 0xc020_aa00;
const WRITE_PROTECT: libc::c_ulong = 0xc018_aa06;
const UNREGISTER: libc::c_ulong = 0x8010_aa01;
const VERSION: u64 = 0xaa;
const FEATURES: u64 = FEATURE_REMAP | FEATURE_REMOVE | FEATURE_UNMAP;
const FEATURE_REMAP: u64 = 1 << 2;
const FEATURE_REMOVE: u64 = 1 << 3;
const FEATURE_UNMAP: u64 = 1 << 6;
const EVENT_REMAP: u8 = 0x14;
const EVENT_REMOVE: u8 = 0x15;
const EVENT_UNMAP: u8 = 0x16;
/// Nothing is ever protected: it is the mode that changes nothing by itself.
const MODE_WRITE_PROTECT: u64 = 1 << 1;

/// `struct uffdio_register`.
#[repr(C)]
struct Register {
    start: u64,
    len: u64,
    mode: u64,
    ioctls: u64,
}

/// `struct uffd_msg`.
#[repr(C)]
struct Message {
    event: u8,
    _reserved: [u8; 7],
    arguments: [u64; 3],
}

const _: () = assert!(size_of::<Message>() == 32 && size_of::<Register>() == 32);

/// Opens a descriptor that tells of changes.
fn open() -> io::Result<OwnedFd> {
    let flags = libc::c_long::from(libc::O_CLOEXEC | libc::O_NONBLOCK) | USER_MODE_ONLY;
    // SAFETY: the system call takes a number and gives a descriptor.
    let got = unsafe { libc::syscall(libc::SYS_userfaultfd, flags) };
    let Some(fd) = i32::try_from(got).ok().filter(|&fd| fd >= 0) else {
        return Err(io::Error::last_os_error());
    };
    // SAFETY: nobody else has the new descriptor.
    let file = unsafe { OwnedFd::from_raw_fd(fd) };
    let mut api = [VERSION, FEATURES, 0];
    // SAFETY: the request reads and writes three words (`struct uffdio_api`).
    match unsafe { libc::ioctl(file.as_raw_fd(), API, api.as_mut_ptr()) } {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    const LEN: usize = 1 << 16;

    /// Maps new private memory.
    fn memory() -> Range<usize> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: new memory, which nobody has.
        let at = unsafe { libc::mmap(null_mut(), LEN, rights, flags, -1, 0) };
        assert_ne!(at, libc::MAP_FAILED);
        at.addr()..at.addr() + LEN
    }

    /// Moves memory of this test; returns where it is now.
    fn mremap(range: &Range<usize>, flags: libc::c_int) -> Range<usize> {
        let (old, flags) = (
            range.start as *mut libc::c_void,
            flags | libc::MREMAP_MAYMOVE,
        );
        // SAFETY: the memory is the test's own, and where it is moved to no one else's.
        let new = unsafe { libc::mremap(old, LEN, LEN, flags, null_mut::<libc::c_void>()) };
        assert_ne!(new, libc::MAP_FAILED);
        new.addr()..new.addr() + LEN
    }

    /// Runs `act`, which waits until the watcher has read; returns its result, and the changes that
    /// the kernel told of.
    fn told<T: Send>(
        watcher: &Watcher,
        act: impl FnOnce() -> T + Send,
    ) -> (T, Vec<(Range<usize>, State)>) {
        let mut news = News::default();
        let done = std::thread::scope(|scope| {
            let actor = scope.spawn(act);
            while !actor.is_finished() {
                watcher.read(&mut news);
                std::thread::yield_now();
            }
            actor.join().expect("it comes back")
        });
        let mut told = Vec::new();
        news.each(|range, state| told.push((range.clone(), state)));
        (done, told)
    }

    #[test]
    fn of_what_is_moved_emptied_or_unmapped_the_old_place_is_told() {
        let file = open().expect("userfaultfd(2) is there: not under valgrind, and allowed");
        let watcher = Watcher::over(file, std::process::id());
        let range = memory();
        assert!(watcher.watch(&range));
        // The mapping stays where it was: nothing else is told.
        let (moved, news) = told(&watcher, || mremap(&range, libc::MREMAP_DONTUNMAP));
        assert_eq!(news, [(range.clone(), State::Gone)]);
        assert_ne!(moved, range);
        let (_, news) = told(&watcher, || {
            // SAFETY: the test's own memory.
            unsafe { libc::madvise(range.start as *mut _, LEN, libc::MADV_DONTNEED) }
        });
        assert_eq!(news, [(range.clone(), State::Changed)]);
        for range in [range, moved] {
            let (_, news) = told(&watcher, || {
                // SAFETY: the test's own memory, which nobody uses any more.
                unsafe { libc::munmap(range.start as *mut _, LEN) }
            });
            assert_eq!(news, [(range, State::Gone)]);
        }
    }

    #[test]
    fn another_file_is_not_read() {
        let null = std::fs::File::open("/dev/null").expect("/dev/null");
        let watcher = Watcher::over(null.into(), std::process::id());
        assert!(watcher.is_behind());
        // Comes back.
        watcher.read_on();
        assert!(watcher.is_behind());
    }
}
