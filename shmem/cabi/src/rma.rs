//! Remote memory access (section 9.6).

use core::ffi::c_int;
use shmem::{rma, strided};

families! {
    arguments {
        dest: "symmetric, an object of PE pe",
        source: "an object of this PE",
        value: "what is written",
        dst: "distance between elements or blocks in dest, in elements: at least 1, and at least bsize",
        sst: "the same in source",
        nelems: "elements; 0 does nothing",
        bsize: "elements of a block",
        nblocks: "blocks; 0 does nothing",
        pe: "the PE, counted in the context's team",
    }
    errors "a PE that is not there, an object that is not symmetric or too short, or a stride that is too small ends the job, with a message.";

    /// Copies nelems elements from source here to dest on PE pe; on return source may be reused.
    "9.6.1.1" ctx typed(Rma, "put")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::put;
    /// Copies nelems elements of the size in bits (mem: bytes) from source here to dest on PE pe; on
    /// return source may be reused.
    "9.6.1.1" ctx sized(All, "put", "")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::put;
    /// Copies one value to dest on PE pe.
    "9.6.1.2" ctx typed(Value, "p")(dest: *mut T, value: T, pe: c_int) = rma::p;
    /// Copies nelems elements, each sst elements after the one before, to places in dest on PE pe that are
    /// dst elements apart; on return source may be reused.
    "9.6.1.3" ctx typed(Rma, "iput")(dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe: c_int) = strided::iput;
    /// Copies nelems elements of the size in bits from places in source that are sst elements apart to
    /// places in dest on PE pe that are dst elements apart; on return source may be reused.
    "9.6.1.3" ctx sized(Bits, "iput", "")(dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe: c_int) = strided::iput;
    /// Copies nblocks blocks of bsize elements, which begin sst elements apart, to places in dest on PE pe
    /// that begin dst elements apart; on return source may be reused.
    "9.6.1.4" ctx typed(Rma, "ibput")(dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize, pe: c_int) = strided::ibput;
    /// Copies nblocks blocks of bsize elements of the size in bits, which begin sst elements apart, to
    /// places in dest on PE pe that begin dst elements apart; on return source may be reused.
    "9.6.1.4" ctx sized(Bits, "ibput", "")(dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize, pe: c_int) = strided::ibput;
    /// Copies nelems elements from source on PE pe to dest here; on return they have arrived.
    /// - dest: an object of this PE
    /// - source: symmetric, an object of PE pe
    "9.6.1.5" ctx typed(Rma, "get")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::get;
    /// Copies nelems elements of the size in bits (mem: bytes) from source on PE pe to dest here.
    /// - dest: an object of this PE
    /// - source: symmetric, an object of PE pe
    "9.6.1.5" ctx sized(All, "get", "")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::get;
    /// Returns the value of source on PE pe.
    /// - source: symmetric, an object of PE pe
    "9.6.1.6" ctx typed(Value, "g")(source: *const T, pe: c_int) -> T = rma::g;
    /// Copies nelems elements from places in source on PE pe that are sst elements apart to places in dest
    /// here that are dst elements apart; on return they have arrived.
    /// - dest: an object of this PE
    /// - source: symmetric, an object of PE pe
    "9.6.1.7" ctx typed(Rma, "iget")(dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe: c_int) = strided::iget;
    /// Copies nelems elements of the size in bits from places in source on PE pe that are sst elements
    /// apart to places in dest here that are dst elements apart; on return they have arrived.
    /// - dest: an object of this PE
    /// - source: symmetric, an object of PE pe
    "9.6.1.7" ctx sized(Bits, "iget", "")(dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe: c_int) = strided::iget;
    /// Copies nblocks blocks of bsize elements, which begin sst elements apart in source on PE pe, to
    /// places in dest here that begin dst elements apart; on return they have arrived.
    /// - dest: an object of this PE
    /// - source: symmetric, an object of PE pe
    "9.6.1.8" ctx typed(Rma, "ibget")(dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize, pe: c_int) = strided::ibget;
    /// Copies nblocks blocks of bsize elements of the size in bits, which begin sst elements apart in
    /// source on PE pe, to places in dest here that begin dst elements apart; on return they have arrived.
    /// - dest: an object of this PE
    /// - source: symmetric, an object of PE pe
    "9.6.1.8" ctx sized(Bits, "ibget", "")(dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize, pe: c_int) = strided::ibget;
    /// Starts to copy nelems elements to dest on PE pe; source may be reused after a quiet.
    "9.6.2.1" ctx typed(Rma, "put_nbi")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::put_nbi;
    /// Starts to copy nelems elements of the size in bits (mem: bytes) to dest on PE pe; source may be
    /// reused after a quiet.
    "9.6.2.1" ctx sized(All, "put", "_nbi")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::put_nbi;
    /// Starts to copy nelems elements from source on PE pe; they have arrived in dest after a quiet.
    /// - dest: an object of this PE, not to be touched until then
    /// - source: symmetric, an object of PE pe
    "9.6.2.2" ctx typed(Rma, "get_nbi")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::get_nbi;
    /// Starts to copy nelems elements of the size in bits (mem: bytes) from source on PE pe; they have
    /// arrived in dest after a quiet.
    /// - dest: an object of this PE, not to be touched until then
    /// - source: symmetric, an object of PE pe
    "9.6.2.2" ctx sized(All, "get", "_nbi")(dest: *mut T, source: *const T, nelems: usize, pe: c_int) = rma::get_nbi;
}
