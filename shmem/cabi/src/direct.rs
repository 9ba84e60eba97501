//! Functions for programs compiled with `SHMEM_DIRECT`, which are no routines: `header::direct`
//! prints the programs' side.

use crate::types::types;
use core::ffi::c_int;
use shmem::direct::{self, Beyond, Peer, TYPES, Table};

/// The names that the library exports for them.
pub(crate) const SYMBOLS: [&str; 2] = ["farreach_direct_forget", "farreach_direct_register"];

/// # Safety
/// As [`direct::register`].
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_direct_register(table: *mut Table) {
    // SAFETY: the header hands over its table before the program's operations may be called.
    unsafe { direct::register(table, &beyond()) }
}

/// # Safety
/// As [`direct::forget`].
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_direct_forget(table: *mut Table) {
    // SAFETY: the C program keeps to the rules of threads.
    unsafe { direct::forget(table) }
}

/// The function of one type, put to its place.
macro_rules! one_beyond {
    ({ $all:ident $next:ident } $name:literal $rust:ty) => {{
        unsafe extern "C" fn entry(
            dest: *mut $rust,
            value: $rust,
            pe: c_int,
            record: *const Peer,
            offset: usize,
        ) {
            let at = &concat!("shmem_", $name, "_p");
            // SAFETY: the header passes the arguments of the routine, whose requirements the
            // program keeps to, and the record and the offset that its table gives for them.
            unsafe { direct::p_beyond(at, dest, value, pe, record, offset) }
        }
        $all[$next] = entry as *const ();
        $next += 1;
    }};
}

/// Returns the functions that go on with `shmem_TYPE_p` for peers elsewhere.
fn beyond() -> Beyond {
    let mut all = [core::ptr::null(); TYPES];
    let mut next = 0;
    types! { Value => one_beyond! { all next } }
    assert!(next == TYPES);
    all
}
