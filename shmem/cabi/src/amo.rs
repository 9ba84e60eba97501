//! Atomic memory operations (section 9.7).

use core::ffi::c_int;
use shmem::amo;

families! {
    arguments {
        fetch: "an object of this PE, valid after a quiet and not after a fence",
        dest: "symmetric, an aligned object of PE pe",
        source: "symmetric, an aligned object of PE pe",
        cond: "what dest is compared with",
        value: "the operand",
        pe: "the PE, counted in the context's team",
    }
    errors "a PE that is not there, an object that is not symmetric, or an operation that the device lacks ends the job, with a message.";

    /// Returns the value of source on PE pe, read atomically.
    "9.7.1.1" ctx typed(Extended, "atomic_fetch")(source: *const T, pe: c_int) -> T = amo::fetch;
    /// Sets dest on PE pe to value.
    "9.7.1.2" ctx typed(Extended, "atomic_set")(dest: *mut T, value: T, pe: c_int) = amo::set;
    /// Sets dest on PE pe to value if it equals cond; returns its old value either way.
    "9.7.1.3" ctx typed(Amo, "atomic_compare_swap")(dest: *mut T, cond: T, value: T, pe: c_int) -> T = amo::compare_swap;
    /// Sets dest on PE pe to value and returns its old value.
    "9.7.1.4" ctx typed(Extended, "atomic_swap")(dest: *mut T, value: T, pe: c_int) -> T = amo::swap;
    /// Adds 1 to dest on PE pe and returns its old value.
    "9.7.1.5" ctx typed(Amo, "atomic_fetch_inc")(dest: *mut T, pe: c_int) -> T = amo::fetch_inc;
    /// Adds 1 to dest on PE pe.
    "9.7.1.6" ctx typed(Amo, "atomic_inc")(dest: *mut T, pe: c_int) = amo::inc;
    /// Adds value to dest on PE pe and returns its old value.
    "9.7.1.7" ctx typed(Amo, "atomic_fetch_add")(dest: *mut T, value: T, pe: c_int) -> T = amo::fetch_add;
    /// Adds value to dest on PE pe.
    "9.7.1.8" ctx typed(Amo, "atomic_add")(dest: *mut T, value: T, pe: c_int) = amo::add;
    /// Replaces dest on PE pe by its bitwise AND with value and returns its old value.
    "9.7.1.9" ctx typed(Bitwise, "atomic_fetch_and")(dest: *mut T, value: T, pe: c_int) -> T = amo::fetch_and;
    /// Replaces dest on PE pe by its bitwise AND with value.
    "9.7.1.10" ctx typed(Bitwise, "atomic_and")(dest: *mut T, value: T, pe: c_int) = amo::and;
    /// Replaces dest on PE pe by its bitwise OR with value and returns its old value.
    "9.7.1.11" ctx typed(Bitwise, "atomic_fetch_or")(dest: *mut T, value: T, pe: c_int) -> T = amo::fetch_or;
    /// Replaces dest on PE pe by its bitwise OR with value.
    "9.7.1.12" ctx typed(Bitwise, "atomic_or")(dest: *mut T, value: T, pe: c_int) = amo::or;
    /// Replaces dest on PE pe by its bitwise exclusive OR with value and returns its old value.
    "9.7.1.13" ctx typed(Bitwise, "atomic_fetch_xor")(dest: *mut T, value: T, pe: c_int) -> T = amo::fetch_xor;
    /// Replaces dest on PE pe by its bitwise exclusive OR with value.
    "9.7.1.14" ctx typed(Bitwise, "atomic_xor")(dest: *mut T, value: T, pe: c_int) = amo::xor;
    /// Starts to read source on PE pe atomically; the value is in fetch after a quiet.
    "9.7.2.1" ctx typed(Extended, "atomic_fetch_nbi")(fetch: *mut T, source: *const T, pe: c_int) = amo::fetch_nbi;
    /// Starts to set dest on PE pe to value if it equals cond; its old value is in fetch after a quiet.
    "9.7.2.2" ctx typed(Amo, "atomic_compare_swap_nbi")(fetch: *mut T, dest: *mut T, cond: T, value: T, pe: c_int) = amo::compare_swap_nbi;
    /// Starts to set dest on PE pe to value; its old value is in fetch after a quiet.
    "9.7.2.3" ctx typed(Extended, "atomic_swap_nbi")(fetch: *mut T, dest: *mut T, value: T, pe: c_int) = amo::swap_nbi;
    /// Starts to add 1 to dest on PE pe; its old value is in fetch after a quiet.
    "9.7.2.4" ctx typed(Amo, "atomic_fetch_inc_nbi")(fetch: *mut T, dest: *mut T, pe: c_int) = amo::fetch_inc_nbi;
    /// Starts to add value to dest on PE pe; its old value is in fetch after a quiet.
    "9.7.2.5" ctx typed(Amo, "atomic_fetch_add_nbi")(fetch: *mut T, dest: *mut T, value: T, pe: c_int) = amo::fetch_add_nbi;
    /// Starts a bitwise AND of value into dest on PE pe; its old value is in fetch after a quiet.
    "9.7.2.6" ctx typed(Bitwise, "atomic_fetch_and_nbi")(fetch: *mut T, dest: *mut T, value: T, pe: c_int) = amo::fetch_and_nbi;
    /// Starts a bitwise OR of value into dest on PE pe; its old value is in fetch after a quiet.
    "9.7.2.7" ctx typed(Bitwise, "atomic_fetch_or_nbi")(fetch: *mut T, dest: *mut T, value: T, pe: c_int) = amo::fetch_or_nbi;
    /// Starts a bitwise exclusive OR of value into dest on PE pe; its old value is in fetch after a quiet.
    "9.7.2.8" ctx typed(Bitwise, "atomic_fetch_xor_nbi")(fetch: *mut T, dest: *mut T, value: T, pe: c_int) = amo::fetch_xor_nbi;

    /// As shmem_atomic_fetch.
    /// Deprecated since 1.4: use shmem_atomic_fetch.
    "9.7.1.1" main typed(Extended, "fetch")(source: *const T, pe: c_int) -> T = amo::fetch;
    /// As shmem_atomic_set.
    /// Deprecated since 1.4: use shmem_atomic_set.
    "9.7.1.2" main typed(Extended, "set")(dest: *mut T, value: T, pe: c_int) = amo::set;
    /// As shmem_atomic_compare_swap.
    /// Deprecated since 1.4: use shmem_atomic_compare_swap.
    "9.7.1.3" main typed(Amo, "cswap")(dest: *mut T, cond: T, value: T, pe: c_int) -> T = amo::compare_swap;
    /// As shmem_atomic_swap.
    /// Deprecated since 1.4: use shmem_atomic_swap.
    "9.7.1.4" main typed(Extended, "swap")(dest: *mut T, value: T, pe: c_int) -> T = amo::swap;
    /// As shmem_atomic_fetch_inc.
    /// Deprecated since 1.4: use shmem_atomic_fetch_inc.
    "9.7.1.5" main typed(Amo, "finc")(dest: *mut T, pe: c_int) -> T = amo::fetch_inc;
    /// As shmem_atomic_inc.
    /// Deprecated since 1.4: use shmem_atomic_inc.
    "9.7.1.6" main typed(Amo, "inc")(dest: *mut T, pe: c_int) = amo::inc;
    /// As shmem_atomic_fetch_add.
    /// Deprecated since 1.4: use shmem_atomic_fetch_add.
    "9.7.1.7" main typed(Amo, "fadd")(dest: *mut T, value: T, pe: c_int) -> T = amo::fetch_add;
    /// As shmem_atomic_add.
    /// Deprecated since 1.4: use shmem_atomic_add.
    "9.7.1.8" main typed(Amo, "add")(dest: *mut T, value: T, pe: c_int) = amo::add;
}
