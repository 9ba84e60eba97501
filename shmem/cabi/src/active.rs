//! The deprecated collectives of active sets (section 9.10): PE_size PEs from PE_start on, every
//! 2^logPE_stride-th. All PEs of the set, and no others, call them with the same arguments.

use core::ffi::{c_int, c_long};
use shmem::collective::active;

families! {
    arguments {
        dest: "symmetric, apart from source, ready on all PEs of the set",
        source: "symmetric, ready on this PE",
        dst: "distance between elements in dest, in elements: at least 1",
        sst: "the same in source",
        nelems: "elements, the same on all PEs",
        nreduce: "elements, the same on all PEs",
        pe_root: "the PE whose source is copied, counted in the set from 0",
        pe_start: "the first PE of the set",
        log_pe_stride: "the distance from one PE to the next, as a power of two",
        pe_size: "PEs of the set",
        pwrk: "symmetric, SHMEM_REDUCE_MIN_WRKDATA_SIZE or nreduce / 2 + 1 elements; not used here",
        psync: "symmetric, as many words as the constant for the routine says, all SHMEM_SYNC_VALUE and in no other use; they are so again on return",
    }
    errors "a set that is not, or does not hold this PE, an object that is not symmetric, or a length out of range ends the job, with a message.";

    /// Completes this PE's operations on the default context and waits until every PE of the set has called it.
    /// Deprecated since 1.5: use shmem_quiet and shmem_team_sync.
    "9.10.2" at once("barrier")(pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, psync: *mut c_long) = active::barrier;
    /// Waits until every PE of the set has called it; what each has stored in memory is visible then, but no
    /// transfer is completed.
    /// Deprecated since 1.5: use shmem_team_sync.
    "9.10.3" at once("sync")(pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, psync: *mut c_long) = active::sync;
    /// Exchanges blocks of nelems elements of the size in bits: block i of PE j becomes block j of PE i.
    /// - dest: symmetric, a block for each PE of the set, apart from source, ready on all of them
    /// - source: symmetric, a block for each PE of the set, ready on this PE
    /// Deprecated since 1.5: use shmem_alltoall of a team.
    "9.10.5" at sized(Words, "alltoall", "")(dest: *mut T, source: *const T, nelems: usize, pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, psync: *mut c_long) = active::alltoall;
    /// Exchanges blocks of nelems elements of the size in bits, which lie dst and sst elements apart: block i
    /// of PE j becomes block j of PE i.
    /// Deprecated since 1.5: use shmem_alltoalls of a team.
    "9.10.6" at sized(Words, "alltoalls", "")(dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, psync: *mut c_long) = active::alltoalls;
    /// Copies nelems elements of the size in bits from source of PE PE_root to dest on the others of the set;
    /// dest of PE_root stays as it is.
    /// Deprecated since 1.5: use shmem_broadcast of a team.
    "9.10.7" at sized(Words, "broadcast", "")(dest: *mut T, source: *const T, nelems: usize, pe_root: c_int, pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, psync: *mut c_long) = active::broadcast;
    /// Puts the elements of the size in bits of all PEs of the set one behind the other into dest on each of
    /// them.
    /// - dest: symmetric, room for the elements of all PEs of the set, apart from source, ready on all of them
    /// - nelems: elements of this PE
    /// Deprecated since 1.5: use shmem_collect of a team.
    "9.10.8" at sized(Words, "collect", "")(dest: *mut T, source: *const T, nelems: usize, pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, psync: *mut c_long) = active::collect;
    /// Puts nelems elements of the size in bits of each PE of the set one behind the other into dest on each
    /// of them.
    /// - dest: symmetric, room for the elements of all PEs of the set, apart from source, ready on all of them
    /// Deprecated since 1.5: use shmem_fcollect of a team.
    "9.10.8" at sized(Words, "fcollect", "")(dest: *mut T, source: *const T, nelems: usize, pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, psync: *mut c_long) = active::fcollect;
    /// Writes to each element of dest, on every PE of the set, the bitwise AND of that element of
    /// source on all of them.
    /// - dest: symmetric, the same as source or apart from it, ready on all PEs of the set
    /// Deprecated since 1.5: use shmem_and_reduce.
    "9.10.9.1" at plain(OldBits, "and_to_all")(dest: *mut T, source: *const T, nreduce: c_int, pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, pwrk: *mut T, psync: *mut c_long) = active::and_to_all;
    /// Writes to each element of dest, on every PE of the set, the bitwise OR of that element of
    /// source on all of them.
    /// - dest: symmetric, the same as source or apart from it, ready on all PEs of the set
    /// Deprecated since 1.5: use shmem_or_reduce.
    "9.10.9.2" at plain(OldBits, "or_to_all")(dest: *mut T, source: *const T, nreduce: c_int, pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, pwrk: *mut T, psync: *mut c_long) = active::or_to_all;
    /// Writes to each element of dest, on every PE of the set, the bitwise exclusive OR of that element of
    /// source on all of them.
    /// - dest: symmetric, the same as source or apart from it, ready on all PEs of the set
    /// Deprecated since 1.5: use shmem_xor_reduce.
    "9.10.9.3" at plain(OldBits, "xor_to_all")(dest: *mut T, source: *const T, nreduce: c_int, pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, pwrk: *mut T, psync: *mut c_long) = active::xor_to_all;
    /// Writes to each element of dest, on every PE of the set, the maximum of that element of
    /// source on all of them.
    /// - dest: symmetric, the same as source or apart from it, ready on all PEs of the set
    /// Deprecated since 1.5: use shmem_max_reduce.
    "9.10.9.4" at plain(OldOrder, "max_to_all")(dest: *mut T, source: *const T, nreduce: c_int, pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, pwrk: *mut T, psync: *mut c_long) = active::max_to_all;
    /// Writes to each element of dest, on every PE of the set, the minimum of that element of
    /// source on all of them.
    /// - dest: symmetric, the same as source or apart from it, ready on all PEs of the set
    /// Deprecated since 1.5: use shmem_min_reduce.
    "9.10.9.5" at plain(OldOrder, "min_to_all")(dest: *mut T, source: *const T, nreduce: c_int, pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, pwrk: *mut T, psync: *mut c_long) = active::min_to_all;
    /// Writes to each element of dest, on every PE of the set, the sum of that element of
    /// source on all of them.
    /// - dest: symmetric, the same as source or apart from it, ready on all PEs of the set
    /// Deprecated since 1.5: use shmem_sum_reduce.
    "9.10.9.6" at plain(OldSum, "sum_to_all")(dest: *mut T, source: *const T, nreduce: c_int, pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, pwrk: *mut T, psync: *mut c_long) = active::sum_to_all;
    /// Writes to each element of dest, on every PE of the set, the product of that element of
    /// source on all of them.
    /// - dest: symmetric, the same as source or apart from it, ready on all PEs of the set
    /// Deprecated since 1.5: use shmem_prod_reduce.
    "9.10.9.7" at plain(OldSum, "prod_to_all")(dest: *mut T, source: *const T, nreduce: c_int, pe_start: c_int, log_pe_stride: c_int, pe_size: c_int, pwrk: *mut T, psync: *mut c_long) = active::prod_to_all;
}
