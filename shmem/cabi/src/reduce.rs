//! Reductions and scans over teams (sections 9.10.9 and 9.10.10): collective, as the other collectives.

use core::ffi::c_int;
use shmem::collective;
use shmem::team::Handle;

families! {
    arguments {
        team: "a team that the calling PE is in; all its PEs call with the same arguments",
        dest: "symmetric, the same as source or apart from it, ready on all PEs",
        source: "symmetric, ready on this PE",
        nreduce: "elements, the same on all PEs",
        nelems: "elements, the same on all PEs",
    }
    errors "a handle that is no team, or a length out of range, ends the job, with a message.";

    /// Writes to each element of dest, on every PE of team, the bitwise AND of that element of source on
    /// all of them, and returns 0.
    "9.10.9.1" at typed(Bits, "and_reduce")(team: Handle, dest: *mut T, source: *const T, nreduce: usize) -> c_int = collective::and_reduce;
    /// Writes to each element of dest, on every PE of team, the bitwise OR of that element of source on
    /// all of them, and returns 0.
    "9.10.9.2" at typed(Bits, "or_reduce")(team: Handle, dest: *mut T, source: *const T, nreduce: usize) -> c_int = collective::or_reduce;
    /// Writes to each element of dest, on every PE of team, the bitwise exclusive OR of that element of source on
    /// all of them, and returns 0.
    "9.10.9.3" at typed(Bits, "xor_reduce")(team: Handle, dest: *mut T, source: *const T, nreduce: usize) -> c_int = collective::xor_reduce;
    /// Writes to each element of dest, on every PE of team, the maximum of that element of source on
    /// all of them, and returns 0.
    "9.10.9.4" at typed(Rma, "max_reduce")(team: Handle, dest: *mut T, source: *const T, nreduce: usize) -> c_int = collective::max_reduce;
    /// Writes to each element of dest, on every PE of team, the minimum of that element of source on
    /// all of them, and returns 0.
    "9.10.9.5" at typed(Rma, "min_reduce")(team: Handle, dest: *mut T, source: *const T, nreduce: usize) -> c_int = collective::min_reduce;
    /// Writes to each element of dest, on every PE of team, the sum of that element of source on
    /// all of them, and returns 0.
    "9.10.9.6" at typed(Sum, "sum_reduce")(team: Handle, dest: *mut T, source: *const T, nreduce: usize) -> c_int = collective::sum_reduce;
    /// Writes to each element of dest, on every PE of team, the product of that element of source on
    /// all of them, and returns 0.
    "9.10.9.7" at typed(Sum, "prod_reduce")(team: Handle, dest: *mut T, source: *const T, nreduce: usize) -> c_int = collective::prod_reduce;
    /// Writes to each element of dest the sum of that element of source on the PEs of team up to this one,
    /// and returns 0.
    "9.10.10" at typed(Sum, "sum_inscan")(team: Handle, dest: *mut T, source: *const T, nelems: usize) -> c_int = collective::sum_inscan;
    /// Writes to each element of dest the sum of that element of source on the PEs of team before this
    /// one, 0 on the first, and returns 0.
    "9.10.10" at typed(Sum, "sum_exscan")(team: Handle, dest: *mut T, source: *const T, nelems: usize) -> c_int = collective::sum_exscan;
}
