//! Remote memory access (section 9.6).

use core::ffi::c_int;
use shmem::rma;

families! {
    /// Copies nelems elements from source here to dest on PE pe; on return source may be reused.
    "9.6.1.1" ctx typed(Rma, "put")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::put;
    /// Copies nelems elements of the size in bits (mem: bytes) from source here to dest on PE pe.
    "9.6.1.1" ctx sized("put", "")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::put;
    /// Copies one value to dest on PE pe.
    "9.6.1.2" ctx typed(Value, "p")(dest: *mut T, value: T, pe: c_int) = rma::p;
    /// Copies nelems elements from source on PE pe to dest here; on return they have arrived.
    "9.6.1.5" ctx typed(Rma, "get")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::get;
    /// Copies nelems elements of the size in bits (mem: bytes) from source on PE pe to dest here.
    "9.6.1.5" ctx sized("get", "")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::get;
    /// Returns the value of source on PE pe.
    "9.6.1.6" ctx typed(Value, "g")(source: *const T, pe: c_int) -> T = rma::g;
    /// Starts to copy nelems elements to dest on PE pe; source may be reused after a quiet.
    "9.6.2.1" ctx typed(Rma, "put_nbi")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::put_nbi;
    /// Starts to copy nelems elements of the size in bits (mem: bytes) to dest on PE pe.
    "9.6.2.1" ctx sized("put", "_nbi")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::put_nbi;
    /// Starts to copy nelems elements from source on PE pe; they have arrived in dest after a quiet.
    "9.6.2.2" ctx typed(Rma, "get_nbi")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::get_nbi;
    /// Starts to copy nelems elements of the size in bits (mem: bytes) from source on PE pe.
    "9.6.2.2" ctx sized("get", "_nbi")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::get_nbi;
}
