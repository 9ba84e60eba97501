//! Programs that do the near part of operations in line, without a call (`SHMEM_DIRECT`).
//!
//! The header has such a program, and each shared library that was compiled so, register a
//! [`Table`] when it is loaded. While there is a session, a table says where the peers are; at any
//! other time it is empty, and the program's operations call the library, which knows the right
//! action or message. The same holds for a table of another version than the library's, and for all
//! tables in the checking library.
//!
//! A table is the program's own, so that its words are found without an indirection.

#![expect(
    unsafe_code,
    reason = "writes tables that programs read as plain memory while only one thread is in the library"
)]

use crate::ctx;
use crate::job;
use crate::routine::Routine;
pub use fi_provider::symmetric::address_vector::Peer;
use fi_provider::symmetric::element;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

/// The version of the layout that programs rely on: of [`Table`], and of the words of a [`Peer`].
pub const VERSION: u32 = 1;

/// Number of types that `shmem_TYPE_p` has in Rust.
pub const TYPES: usize = 23;

/// The functions that go on with `shmem_TYPE_p` for peers elsewhere ([`p_beyond`]), in the order of
/// the types.
pub type Beyond = [*const (); TYPES];

/// Table that a program reads in the place of a call.
#[repr(C)]
#[derive(Debug)]
pub struct Table {
    /// The version of the layout, from the program.
    pub version: u32,
    /// Bytes of the table, from the program.
    pub bytes: u32,
    /// The number of PEs; 0 where the library is to be called.
    pub peer_count: u32,
    /// The number of PEs where all of them are near, and else 0.
    pub near_count: u32,
    /// Their records.
    pub peers: *const Peer,
    /// The base of the own window.
    pub window: usize,
    /// Base and length of the two ranges of symmetric memory, in bytes.
    pub ranges: [[usize; 2]; 2],
    /// Not zero where a fence has the processor's own stores to order, and nothing else.
    pub stores_alone: usize,
    /// The steps to peers elsewhere.
    pub beyond: Beyond,
}

/// The tables of this process.
#[derive(Debug)]
struct Registry {
    tables: Vec<*mut Table>,
    /// The version of a table that has another layout, if one came.
    other: Option<u32>,
}

// SAFETY: a table may be written by any thread that keeps to the rules of `fill`.
unsafe impl Send for Registry {}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    tables: Vec::new(),
    other: None,
});

/// Registers the table of a program or a shared library, when it is loaded. Does nothing where the
/// table is registered.
///
/// # Safety
/// `table` begins with its version and its length, is valid for reads and writes of that length until
/// it is [forgotten](forget), and nobody writes or reads it meanwhile but the operations of the
/// object that it belongs to. None of these has been called yet.
pub unsafe fn register(table: *mut Table, beyond: &Beyond) {
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: every table begins with these words.
    let (version, bytes) = unsafe { ((*table).version, (*table).bytes) };
    if version != VERSION || bytes as usize != size_of::<Table>() {
        registry.other = Some(version);
        return;
    }
    if registry.tables.contains(&table) {
        return;
    }
    registry.tables.push(table);
    // SAFETY: the table has this layout, and is not read yet.
    unsafe {
        (*table).beyond = *beyond;
        fill(table);
    }
}

/// Forgets a table whose memory goes away.
///
/// # Safety
/// The rules of threads: initialisation and finalisation do not overlap with this.
pub unsafe fn forget(table: *mut Table) {
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    registry.tables.retain(|known| *known != table);
}

/// Returns the version of a program's table that has another layout than this library's, if there
/// is one.
pub(crate) fn other_version() -> Option<u32> {
    let registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    registry.other
}

/// Brings all tables up to date, after the default context was enabled, or closed.
///
/// # Safety
/// No other thread is inside the library, or in an operation in line.
pub(crate) unsafe fn update() {
    // In the child of a fork a thread of the parent may hold the lock for ever, which was loading or
    // unloading a shared library.
    let Ok(registry) = REGISTRY.try_lock() else {
        return;
    };
    for table in &registry.tables {
        // SAFETY: the table is registered, and nobody reads it.
        unsafe { fill(*table) };
    }
}

/// Brings one table up to date.
///
/// # Safety
/// The table has this layout, is valid for writes, and nobody reads it.
unsafe fn fill(table: *mut Table) {
    if cfg!(feature = "check") {
        return;
    }
    let endpoint = ctx::default_ctx().endpoint.in_line();
    let (near_count, ranges) = job::direct_map().direct();
    // SAFETY: the table has this layout, is valid for writes, and nobody reads it.
    unsafe {
        (*table).peer_count = endpoint.peer_count;
        (*table).near_count = near_count;
        (*table).peers = endpoint.peers;
        (*table).window = endpoint.window_base;
        (*table).ranges = ranges.map(<[usize; 2]>::from);
        (*table).stores_alone = endpoint.stores_alone.into();
    }
}

/// Goes on with `shmem_TYPE_p` to a peer whose memory at `dest` is not in reach of stores.
///
/// # Safety
/// `dest` is symmetric and aligned for `T`; `record` is that of PE `pe` by a table, and `offset` the
/// bytes from that table's window to `dest`, modulo 2^64. The rules of threads.
#[inline(always)]
pub unsafe fn p_beyond<T: Copy>(
    at: Routine,
    dest: *mut T,
    value: T,
    pe: c_int,
    record: *const Peer,
    offset: usize,
) {
    // SAFETY: the rules of threads: this one may use the default context's endpoint, whose table and
    // window those of a program are. `dest` is symmetric and aligned for `T`; the record is the
    // peer's, and lives while the endpoint is enabled.
    unsafe {
        let ctx = ctx::default_ctx();
        element::write_beyond(ctx, at, dest, value, pe as u32, (&*record, offset));
    }
}
