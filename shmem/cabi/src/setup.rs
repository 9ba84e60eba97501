//! Library set-up, exit and query (section 9.1) and thread support (section 9.2).

use crate::constants::{MAJOR_VERSION, MINOR_VERSION};
use core::ffi::{c_char, c_int, c_void};
use shmem::{Routine, VENDOR, query, world};

families! {
    arguments {
        initialized: "room for a number",
        status: "the exit status of the job",
        pe: "the number of a PE",
        addr: "any address of this PE",
        dest: "symmetric, an object as this PE addresses it",
        major: "room for a number",
        minor: "room for a number",
        name: "room for SHMEM_MAX_NAME_LEN bytes",
        requested: "a SHMEM_THREAD_ constant",
        provided: "room for the level that is provided",
        npes: "not used; should be 0",
    }
    errors "none.";

    /// Initializes the library. Collective; may be called again, once for each finalize.
    /// Errors: a launcher, a heap or a device that is not as it should be ends the job, with a message.
    "9.1.1" at once("init")() = world::init;
    /// Returns the number of this PE, from 0.
    "9.1.2" bare once("my_pe")() -> c_int = query::my_pe;
    /// Returns the number of PEs of the job.
    "9.1.3" bare once("n_pes")() -> c_int = query::n_pes;
    /// Ends what the matching initialization began; the last one ends the library. Collective.
    "9.1.4" at once("finalize")() = world::finalize;
    /// Writes to initialized nonzero between initialization and finalize, else 0; may be called at any time.
    "9.1.5" bare once("query_initialized")(initialized: *mut c_int) = query_initialized;
    /// Ends all PEs of the job, with exit status status; does not return.
    "9.1.6" bare once("global_exit")(status: c_int) -> ! = world::global_exit;
    /// Returns 1 if PE pe can be reached, else 0.
    "9.1.7" bare once("pe_accessible")(pe: c_int) -> c_int = query::pe_accessible;
    /// Returns 1 if addr is symmetric and can be reached on PE pe, else 0.
    "9.1.8" bare once("addr_accessible")(addr: *const c_void, pe: c_int) -> c_int = query::addr_accessible;
    /// Returns an address for loads and stores to the object dest of PE pe, or NULL.
    "9.1.9" bare once("ptr")(dest: *const c_void, pe: c_int) -> *mut c_void = query::ptr;
    /// Writes the version of the specification that the library implements.
    "9.1.11" bare once("info_get_version")(major: *mut c_int, minor: *mut c_int) = info_get_version;
    /// Writes SHMEM_VENDOR_STRING and a null character to name, at most SHMEM_MAX_NAME_LEN bytes.
    "9.1.12" bare once("info_get_name")(name: *mut c_char) = info_get_name;
    /// As shmem_init, for the thread level requested; writes the level provided; returns 0, or nonzero on failure.
    /// Errors: nonzero, and a message, for what ends the job in shmem_init.
    "9.2.1" at once("init_thread")(requested: c_int, provided: *mut c_int) -> c_int = init_thread;
    /// Writes the thread level that the library provides.
    "9.2.2" bare once("query_thread")(provided: *mut c_int) = query_thread;

    /// Initializes the library unless it is; the end of the program finalizes it.
    /// Deprecated since 1.2: use shmem_init.
    /// Errors: as shmem_init.
    "9.1.13" at old("start_pes")(npes: c_int) = start_pes;
    /// As shmem_my_pe.
    /// Deprecated since 1.2: use shmem_my_pe.
    "9.1.2" bare old("_my_pe")() -> c_int = query::my_pe;
    /// As shmem_n_pes.
    /// Deprecated since 1.2: use shmem_n_pes.
    "9.1.3" bare old("_num_pes")() -> c_int = query::n_pes;
}

/// Initializes the library unless it is (section 9.1.13).
///
/// # Safety
/// The rules of threads of `shmem`.
unsafe fn start_pes(at: Routine, _npes: c_int) {
    if query::query_initialized() == 0 {
        // SAFETY: the rules of threads: the C program keeps to them.
        unsafe { world::init(at) };
    }
}

/// Writes whether the library is initialized (section 9.1.5).
///
/// # Safety
/// `initialized` is valid for a write.
unsafe fn query_initialized(initialized: *mut c_int) {
    // SAFETY: `initialized` is valid for a write.
    unsafe { initialized.write(query::query_initialized()) }
}

/// Writes the version of the specification (section 9.1.11).
///
/// # Safety
/// Both pointers are valid for a write.
unsafe fn info_get_version(major: *mut c_int, minor: *mut c_int) {
    // SAFETY: both pointers are valid for a write.
    unsafe {
        major.write(MAJOR_VERSION);
        minor.write(MINOR_VERSION);
    }
}

/// Writes the vendor string and the null character that ends it (section 9.1.12).
///
/// # Safety
/// `name` is valid for `MAX_NAME_LEN` bytes.
unsafe fn info_get_name(name: *mut c_char) {
    // SAFETY: `name` is valid for MAX_NAME_LEN bytes, and the string is shorter (asserted where
    // that is defined), so there is room for the null character; a constant does not overlap them.
    unsafe {
        name.cast::<u8>()
            .copy_from_nonoverlapping(VENDOR.as_ptr(), VENDOR.len());
        name.add(VENDOR.len()).write(0);
    }
}

/// Initializes the library for a thread level (section 9.2.1). The error has been reported to the
/// user by the time it arrives here; C learns that there was one.
///
/// # Safety
/// `provided` is valid for a write. The rules of threads of `shmem`.
unsafe fn init_thread(at: Routine, requested: c_int, provided: *mut c_int) -> c_int {
    // SAFETY: the rules of threads: the C program keeps to them.
    match unsafe { world::init_thread(at, requested) } {
        Ok(level) => {
            // SAFETY: `provided` is valid for a write.
            unsafe { provided.write(level) }
            0
        }
        Err(_) => 1,
    }
}

/// Writes the thread level (section 9.2.2).
///
/// # Safety
/// `provided` is valid for a write. The rules of threads of `shmem`.
unsafe fn query_thread(provided: *mut c_int) {
    // SAFETY: the caller vouches for the pointer, and keeps to the rules of threads.
    unsafe { provided.write(query::query_thread()) }
}
