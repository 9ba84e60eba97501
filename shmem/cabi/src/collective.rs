//! The collectives of teams and of all PEs (section 9.10). All are collective over their team: every PE of it
//! calls them, in the same order, with the same arguments.

use core::ffi::c_int;
use shmem::collective;
use shmem::team::Handle;

families! {
    arguments {
        team: "a team that the calling PE is in; all its PEs call with the same arguments",
        dest: "symmetric, apart from source, ready on all PEs",
        source: "symmetric, ready on this PE",
        nelems: "elements, the same on all PEs",
        nreduce: "elements",
        dst: "distance between elements in dest, in elements: at least 1",
        sst: "the same in source",
        pe_root: "the PE whose source is copied, counted in team",
    }
    errors "a handle that is no team, or a PE or a length out of range, ends the job, with a message.";

    /// Completes this PE's operations on the default context and waits until every PE has called it.
    /// Errors: a failure of the device ends the job, with a message.
    "9.10.1" at once("barrier_all")() = collective::barrier_all;
    /// Waits until every PE has called it; what each has stored in memory is visible then, but no transfer
    /// is completed.
    /// Errors: none.
    "9.10.4" at once("sync_all")() = collective::sync_all;

    /// Exchanges blocks of nelems elements and returns 0: block i of PE j becomes block j of PE i.
    /// - dest: symmetric, a block for each PE of team, apart from source, ready on all PEs
    /// - source: symmetric, a block for each PE of team, ready on this PE
    "9.10.5" at typed(Rma, "alltoall")(team: Handle, dest: *mut T, source: *const T, nelems: usize) -> c_int = collective::alltoall;
    /// Exchanges blocks of nelems bytes and returns 0: block i of PE j becomes block j of PE i.
    /// - dest: symmetric, a block for each PE of team, apart from source, ready on all PEs
    /// - source: symmetric, a block for each PE of team, ready on this PE
    /// - nelems: bytes, the same on all PEs
    "9.10.5" at sized(Mem, "alltoall", "")(team: Handle, dest: *mut T, source: *const T, nelems: usize) -> c_int = collective::alltoall;
    /// Exchanges blocks of nelems elements, which lie dst and sst elements apart, and returns 0: block i of
    /// PE j becomes block j of PE i.
    "9.10.6" at typed(Rma, "alltoalls")(team: Handle, dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize) -> c_int = collective::alltoalls;
    /// Exchanges blocks of nelems bytes, which lie dst and sst bytes apart, and returns 0: block i of PE j
    /// becomes block j of PE i.
    /// - dst: distance between bytes in dest: at least 1
    /// - nelems: bytes, the same on all PEs
    "9.10.6" at sized(Mem, "alltoalls", "")(team: Handle, dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize) -> c_int = collective::alltoalls;
    /// Copies nelems elements of source of PE PE_root to dest on every PE of team, and returns 0.
    "9.10.7" at typed(Rma, "broadcast")(team: Handle, dest: *mut T, source: *const T, nelems: usize, pe_root: c_int) -> c_int = collective::broadcast;
    /// Copies nelems bytes of source of PE PE_root to dest on every PE of team, and returns 0.
    /// - nelems: bytes, the same on all PEs
    "9.10.7" at sized(Mem, "broadcast", "")(team: Handle, dest: *mut T, source: *const T, nelems: usize, pe_root: c_int) -> c_int = collective::broadcast;
    /// Puts the elements of all PEs of team one behind the other into dest on each of them, and returns 0.
    /// - dest: symmetric, room for the elements of all PEs, apart from source, ready on all PEs
    /// - nelems: elements of this PE
    "9.10.8" at typed(Rma, "collect")(team: Handle, dest: *mut T, source: *const T, nelems: usize) -> c_int = collective::collect;
    /// Puts the bytes of all PEs of team one behind the other into dest on each of them, and returns 0.
    /// - dest: symmetric, room for the bytes of all PEs, apart from source, ready on all PEs
    /// - nelems: bytes of this PE
    "9.10.8" at sized(Mem, "collect", "")(team: Handle, dest: *mut T, source: *const T, nelems: usize) -> c_int = collective::collect;
    /// Puts nelems elements of each PE of team one behind the other into dest on each of them, and returns 0.
    /// - dest: symmetric, room for the elements of all PEs, apart from source, ready on all PEs
    "9.10.8" at typed(Rma, "fcollect")(team: Handle, dest: *mut T, source: *const T, nelems: usize) -> c_int = collective::fcollect;
    /// Puts nelems bytes of each PE of team one behind the other into dest on each of them, and returns 0.
    /// - dest: symmetric, room for the bytes of all PEs, apart from source, ready on all PEs
    /// - nelems: bytes, the same on all PEs
    "9.10.8" at sized(Mem, "fcollect", "")(team: Handle, dest: *mut T, source: *const T, nelems: usize) -> c_int = collective::fcollect;
}
