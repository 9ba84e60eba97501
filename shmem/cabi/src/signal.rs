//! Signaling operations (section 9.8), and the wait on a signal (9.11.15).

use core::ffi::c_int;
use shmem::signal;

families! {
    arguments {
        dest: "symmetric, an object of PE pe",
        source: "an object of this PE",
        nelems: "elements; 0 writes the signal only",
        sig_addr: "symmetric, the signal object of PE pe, apart from dest",
        signal: "the operand",
        sig_op: "SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD",
        pe: "the PE, counted in the context's team",
        cmp: "a SHMEM_CMP_ constant",
        cmp_value: "what sig_addr is compared with",
    }
    errors "a PE that is not there, an object that is not symmetric, or another sig_op or cmp ends the job, with a message.";

    /// Copies nelems elements to dest on PE pe, then sets or adds to sig_addr there; on return source may be reused.
    "9.8.1" ctx typed(Rma, "put_signal")(dest: *mut T, source: *const T, nelems: usize, sig_addr: *mut u64, signal: u64, sig_op: c_int, pe: c_int) = signal::put_signal;
    /// Copies nelems elements of the size in bits (mem: bytes) to dest on PE pe, then sets or adds
    /// to sig_addr there; on return source may be reused.
    "9.8.1" ctx sized(All, "put", "_signal")(dest: *mut T, source: *const T, nelems: usize, sig_addr: *mut u64, signal: u64, sig_op: c_int, pe: c_int) = signal::put_signal;
    /// Starts to copy nelems elements to dest on PE pe and to signal there; source may be reused after a quiet.
    "9.8.2" ctx typed(Rma, "put_signal_nbi")(dest: *mut T, source: *const T, nelems: usize, sig_addr: *mut u64, signal: u64, sig_op: c_int, pe: c_int) = signal::put_signal_nbi;
    /// Starts to copy nelems elements of the size in bits (mem: bytes) to dest on PE pe and to signal
    /// there; source may be reused after a quiet.
    "9.8.2" ctx sized(All, "put", "_signal_nbi")(dest: *mut T, source: *const T, nelems: usize, sig_addr: *mut u64, signal: u64, sig_op: c_int, pe: c_int) = signal::put_signal_nbi;
    /// Adds signal to the signal object sig_addr on PE pe.
    "9.8.3" ctx once("signal_add")(sig_addr: *mut u64, signal: u64, pe: c_int) = signal::signal_add;
    /// Returns the value of the signal object sig_addr of this PE.
    /// - sig_addr: symmetric, a signal object of this PE
    /// Errors: none.
    "9.8.4" at once("signal_fetch")(sig_addr: *const u64) -> u64 = signal::signal_fetch;
    /// Sets the signal object sig_addr on PE pe to signal.
    "9.8.5" ctx once("signal_set")(sig_addr: *mut u64, signal: u64, pe: c_int) = signal::signal_set;
    /// Waits until the signal object sig_addr of this PE compares to cmp_value by cmp; returns the value that did.
    /// - sig_addr: symmetric, a signal object of this PE
    /// Errors: another cmp ends the job, with a message.
    "9.11.15" at once("signal_wait_until")(sig_addr: *mut u64, cmp: c_int, cmp_value: u64) -> u64 = signal::signal_wait_until;
}
