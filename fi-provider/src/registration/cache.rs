//! The cache of one device context: looks entries up, registers, and lets go.

use super::counts::{Counters, Limits};
use super::loan::{Absent, Loan};
use super::registrar::Registrar;
use super::table::{Entry, State, Table};
use super::watch::{Shared, Watcher, lock};
use fi_shm::segment::page_size;
use std::fmt::{self, Debug};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once};

/// Forks of this process, each counted right before it and right behind: memory that is registered
/// in between is of both times.
static FORKS: AtomicU64 = AtomicU64::new(0);

extern "C" fn count_fork() {
    // ORDERING: SeqCst; read by this thread and by those that it orders itself with.
    FORKS.fetch_add(1, Ordering::SeqCst);
}

/// See the module's documentation of `registration`. Any thread may use it.
pub(super) struct Cache {
    shared: Shared,
    limits: Limits,
    registrar: Box<dyn Registrar>,
    watcher: Arc<Watcher>,
    process: u32,
    /// Forks before the entries were made.
    forks: AtomicU64,
    counters: Arc<Counters>,
    /// Memory that was refused last, and the number of requests since: asking the kernel again
    /// takes as long as copying it.
    refused: Mutex<(Range<usize>, u32)>,
}

/// So often memory that was refused once is refused without a question.
const REFUSED_FOR: u32 = 256;

impl Cache {
    /// Opens a cache of this device's; `None` where there is to be none, or the system does not
    /// tell of unmapped memory.
    pub(super) fn open(
        registrar: Box<dyn Registrar>,
        limits: Limits,
        counters: Arc<Counters>,
    ) -> Option<Self> {
        static INSTALLED: Once = Once::new();
        if limits.bytes == 0 || limits.entries == 0 {
            return None;
        }
        let watcher = Watcher::of_process()?;
        INSTALLED.call_once(|| {
            // SAFETY: the handler is a plain function that lives as long as the program.
            unsafe { libc::pthread_atfork(Some(count_fork), Some(count_fork), None) };
        });
        let table = Table::new(limits, Arc::clone(&counters));
        let shared = Arc::new(Mutex::new(table));
        watcher.tell(&shared);
        Some(Self {
            shared,
            limits,
            registrar,
            watcher,
            process: std::process::id(),
            forks: AtomicU64::new(FORKS.load(Ordering::SeqCst)),
            counters,
            refused: Mutex::new((0..0, 0)),
        })
    }

    /// Returns registered memory that has `len` bytes at `addr`, if there is such or can be.
    ///
    /// # Safety
    /// The bytes are mapped, and stay so until the loan is given back.
    pub(super) unsafe fn lend(&self, addr: usize, len: usize, absent: Absent) -> Option<Loan> {
        if std::process::id() != self.process {
            return None;
        }
        let page = page_size();
        let start = addr - addr % page;
        let end = addr.checked_add(len)?.checked_next_multiple_of(page)?;
        let range = start..end;
        self.note_forks();
        let found = self.find(&range);
        let loan = match found {
            Ok(None) if absent == Absent::Leave => return None,
            // SAFETY: the bytes are mapped until the loan is given back, and whole pages are as
            // their bytes are.
            Ok(None) => unsafe { self.add(range) },
            Ok(found) => found,
            Err(Behind) => None,
        };
        if loan.is_none() && absent == Absent::Register {
            self.counters.refusals.add(1);
        }
        loan
    }

    /// Returns whether something has happened that the table does not know of yet.
    pub(super) fn is_behind(&self) -> bool {
        self.watcher.is_behind()
    }

    /// Returns the table, which the watcher cannot tell anything meanwhile.
    #[cfg(test)]
    pub(super) fn hold(&self) -> MutexGuard<'_, Table> {
        lock(&self.shared)
    }

    fn find(&self, range: &Range<usize>) -> Result<Option<Loan>, Behind> {
        if self.is_behind() {
            return Err(Behind);
        }
        let mut shared = self.valid();
        let found = shared.find(range);
        drop(shared);
        if found.is_some() {
            self.counters.hits.add(1);
        }
        Ok(found.map(Loan))
    }

    /// # Safety
    /// The pages are mapped, and stay so until the loan is given back.
    unsafe fn add(&self, range: Range<usize>) -> Option<Loan> {
        if self.was_refused(&range) || !self.make_room(range.len()) {
            return None;
        }
        if !self.watcher.watch(&range) {
            *lock(&self.refused) = (range, 0);
            return None;
        }
        // SAFETY: the pages are mapped until the loan is given back; only private memory that can
        // be written is watched.
        let mut registered = unsafe { self.registrar.register(&range) };
        if registered.is_none() && self.evict_all() {
            // SAFETY: the pages are mapped until the loan is given back; only private memory that
            // can be written is watched.
            registered = unsafe { self.registrar.register(&range) };
        }
        let Some((key, registration)) = registered else {
            self.watcher.unwatch(&range, true);
            *lock(&self.refused) = (range, 0);
            return None;
        };
        self.counters.misses.add(1);
        let entry = Arc::new(Entry::new(range, key, registration));
        Some(Loan(self.insert(entry)))
    }

    /// Takes in the entry that was registered just now, or gives the one that another thread has
    /// registered meanwhile.
    fn insert(&self, entry: Arc<Entry>) -> Arc<Entry> {
        loop {
            let mut shared = self.valid();
            if let Some(found) = shared.find(&entry.range) {
                drop(shared);
                self.discard(entry);
                return found;
            }
            if let Some(inside) = shared.take_inside(&entry.range) {
                drop(shared);
                self.discard(inside);
                continue;
            }
            let refused = shared.insert(Arc::clone(&entry)).err();
            drop(shared);
            if let Some(entry) = refused {
                // Others have taken the room: the entry ends with its loan.
                self.discard(entry);
            }
            return entry;
        }
    }

    /// Returns whether so many bytes may be registered beside the entries in use; idle ones go if
    /// need be.
    fn make_room(&self, bytes: usize) -> bool {
        if bytes > self.limits.bytes {
            return false;
        }
        loop {
            let mut shared = lock(&self.shared);
            if shared.has_room(bytes) {
                return true;
            }
            let Some(oldest) = shared.take_oldest() else {
                return false;
            };
            drop(shared);
            self.counters.evictions.add(1);
            self.discard(oldest);
        }
    }

    /// Returns whether there was anything to let go of.
    fn evict_all(&self) -> bool {
        let mut any = false;
        loop {
            let oldest = lock(&self.shared).take_oldest();
            let Some(oldest) = oldest else {
                return any;
            };
            any = true;
            self.counters.evictions.add(1);
            self.discard(oldest);
        }
    }

    /// Lets go of entries that are not valid any more.
    pub(super) fn drop_invalid(&self) {
        if std::process::id() == self.process {
            drop(self.valid());
        }
    }

    /// Returns the table, when nothing invalid is left in it.
    fn valid(&self) -> MutexGuard<'_, Table> {
        loop {
            let mut shared = lock(&self.shared);
            let Some(invalid) = shared.take_invalid() else {
                return shared;
            };
            drop(shared);
            self.discard(invalid);
        }
    }

    /// Invalidates the registrations from before a fork.
    fn note_forks(&self) {
        // ORDERING: see `count_fork`.
        let forks = FORKS.load(Ordering::SeqCst);
        if self.forks.swap(forks, Ordering::SeqCst) != forks {
            lock(&self.shared).invalidate(&(0..usize::MAX), State::Changed);
        }
    }

    /// Lets the registration end when the last user of the entry gives it back.
    fn discard(&self, entry: Arc<Entry>) {
        self.watcher
            .unwatch(&entry.range, entry.state() != State::Gone);
    }

    fn was_refused(&self, range: &Range<usize>) -> bool {
        let mut refused = lock(&self.refused);
        let (before, count) = &mut *refused;
        *count += 1;
        before.start <= range.start && range.end <= before.end && *count <= REFUSED_FOR
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        if std::process::id() == self.process {
            self.watcher.forget(&self.shared);
            drop(self.valid());
            self.evict_all();
        }
    }
}

impl Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Something has happened that the table does not know of yet.
struct Behind;
