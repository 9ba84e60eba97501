//! Doorbell pages of the device, and the connection over which stores to them are told.
//!
//! The mappings are found by the name of the command file, after each command: so it does not matter by which function they were made.

use super::Blocked;
use crate::device;
use crate::wire::{COMMAND_FILE, Store};
use fi_mlx5_defs::doorbell::{self, PAGE};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A mapping of doorbell pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watched {
    start: u64,
    end: u64,
    /// Offset of its start in the command file, in bytes.
    at: u64,
    context: u32,
}

impl Watched {
    /// Returns the number of bytes from an address in it to its end; 0 for one that is not in it.
    pub(super) fn room(&self, address: u64) -> u64 {
        if address < self.start {
            return 0;
        }
        self.end.saturating_sub(address)
    }
}

/// Doorbell pages that one process knows. A child of fork makes its own: the parent's locks may be
/// held by threads that the child does not have.
struct Pages {
    process: i32,
    watched: Mutex<Vec<Watched>>,
    /// The connection for stores. It has its own lock, which is held only with all signals blocked: so a signal handler that rings
    /// cannot find it held by the thread that it interrupted.
    socket: Mutex<Option<i32>>,
}

static PAGES: AtomicPtr<Pages> = AtomicPtr::new(null_mut());

/// Returns the doorbell pages of this process, and whether they are new.
fn pages() -> (&'static Pages, bool) {
    // SAFETY: getpid has no requirements.
    let process = unsafe { libc::getpid() };
    // ORDERING: Acquire pairs with the Release below: a thread that sees the pointer sees its
    // target.
    let found = PAGES.load(Ordering::Acquire);
    // SAFETY: the pointer is null or came from Box::into_raw below and is never freed.
    if let Some(pages) = unsafe { found.as_ref() }
        && pages.process == process
    {
        return (pages, false);
    }
    let made = Box::into_raw(Box::new(Pages {
        process,
        watched: Mutex::new(Vec::new()),
        socket: Mutex::new(None),
    }));
    // ORDERING: Release publishes the new pages to the Acquire loads; a lost race is resolved by keeping the winner's.
    match PAGES.compare_exchange(found, made, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            // SAFETY: `made` came from Box::into_raw and is never freed from here on.
            (unsafe { &*made }, true)
        }
        Err(_) => {
            // SAFETY: nobody else has seen `made`; it came from Box::into_raw.
            drop(unsafe { Box::from_raw(made) });
            pages()
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks for doorbell pages that are mapped; if there are any, calls `install`, which installs the
/// handler of faults, and makes them read-only.
pub(super) fn watch(install: fn()) {
    look(pages().0, install);
}

fn look(pages: &Pages, install: fn()) {
    let _blocked = Blocked::new();
    let mut watched = lock(&pages.watched);
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return;
    };
    // Also those that are read-only already: a child of fork has its parent's.
    let found: Vec<(Watched, bool)> = maps.lines().filter_map(parse).collect();
    if !found.is_empty() {
        install();
    }
    for (mapping, _) in found.iter().filter(|(_, writable)| *writable) {
        // SAFETY: the mapping is of the device's file; stores to it fault, and the handler serves
        // them.
        unsafe {
            libc::syscall(
                libc::SYS_mprotect,
                mapping.start,
                mapping.end - mapping.start,
                libc::PROT_READ,
            )
        };
    }
    *watched = found.into_iter().map(|(mapping, _)| mapping).collect();
}

/// Returns the mapping in a line of `/proc/self/maps`, if it is one of a command file, and whether
/// it is writable.
fn parse(line: &str) -> Option<(Watched, bool)> {
    let (_, name) = line.split_once(COMMAND_FILE)?;
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let writable = words.next()?.as_bytes().get(1) == Some(&b'w');
    let number = |digits| u64::from_str_radix(digits, 16).ok();
    let at = number(words.next()?)?;
    let digits = name.split(' ').next()?;
    let mapping = Watched {
        start: number(start)?,
        end: number(end)?,
        at,
        context: digits.parse().ok()?,
    };
    Some((mapping, writable))
}

/// Returns the mapping that an address is in.
pub(super) fn find(address: u64, install: fn()) -> Option<Watched> {
    let (pages, are_new) = pages();
    if are_new {
        // In a child of fork the parent's mappings are there already.
        look(pages, install);
    }
    let watched = lock(&pages.watched);
    watched
        .iter()
        .find(|mapping| mapping.room(address) > 0)
        .copied()
}

/// Tells the device of a store to an address of a mapping, and waits until it has taken it. A
/// device that is gone takes nothing.
///
/// The rest of a copy is not waited for: the device compares it with the entry as it was when that
/// was rung. It takes these stores in their order with others of the process, before requests of
/// the process, and before its end. The first one on a connection is waited for, as the device has
/// to know the connection.
pub(super) fn tell(mapping: &Watched, address: u64, bytes: &[u8]) {
    // SAFETY: gettid has no requirements.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) };
    let mut socket = lock(&pages().0.socket);
    let is_first = socket.is_none();
    if is_first {
        *socket = device::connect().ok();
    }
    let Some(socket) = *socket else { return };
    let at = mapping.at + (address - mapping.start);
    let mut store = Store {
        context: mapping.context,
        thread: thread as u32,
        at,
        size: bytes.len() as u32,
        is_awaited: is_first || !doorbell::goes_on_with_copy(at % PAGE),
        bytes: [0; Store::LONGEST],
    };
    store.bytes[..bytes.len()].copy_from_slice(bytes);
    let _ = if store.is_awaited {
        device::exchange(socket, &store.encode()).map(drop)
    } else {
        device::send(socket, &store.encode())
    };
}
