//! Point-to-point synchronization (section 9.11) over the standard AMO types.
//!
//! In the array forms an element whose status is not 0 is left out; a null status leaves out none.

use core::ffi::{c_int, c_long};
use shmem::sync::{self, Waited};
use shmem::{Cmp, Routine};

families! {
    arguments {
        ivar: "symmetric, an aligned object of this PE",
        ivars: "symmetric, nelems aligned elements of this PE",
        nelems: "elements of ivars",
        indices: "room for nelems indices, counted from 0",
        status: "nelems numbers: elements with another one than 0 are left out; NULL leaves out none",
        cmp: "a SHMEM_CMP_ constant",
        cmp_value: "what is compared with",
        cmp_values: "nelems values, one for each element",
    }
    errors "another cmp ends the job, with a message.";

    /// Waits until ivar of this PE compares to cmp_value by cmp.
    "9.11.1" at generic(Amo, Waited, "wait_until")(ivar: *mut T, cmp: c_int, cmp_value: T) = sync::wait_until;
    /// Waits until all nelems elements of ivars compare to cmp_value by cmp.
    "9.11.2" at typed(Amo, "wait_until_all")(ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_value: T) = sync::wait_until_all;
    /// Waits until one of nelems elements of ivars compares to cmp_value by cmp; returns its index, SIZE_MAX if all are left out.
    "9.11.3" at typed(Amo, "wait_until_any")(ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_value: T) -> usize = sync::wait_until_any;
    /// Waits until some of nelems elements of ivars compare to cmp_value by cmp; writes their indices and returns how many.
    "9.11.4" at typed(Amo, "wait_until_some")(ivars: *mut T, nelems: usize, indices: *mut usize, status: *const c_int, cmp: c_int, cmp_value: T) -> usize = sync::wait_until_some;
    /// Waits until all nelems elements of ivars compare by cmp, each to its own of cmp_values.
    "9.11.5" at typed(Amo, "wait_until_all_vector")(ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_values: *const T) = sync::wait_until_all_vector;
    /// Waits until one of nelems elements of ivars compares by cmp to its own of cmp_values; returns its index, SIZE_MAX if all are left out.
    "9.11.6" at typed(Amo, "wait_until_any_vector")(ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_values: *const T) -> usize = sync::wait_until_any_vector;
    /// Waits until some of nelems elements of ivars compare by cmp, each to its own of cmp_values; writes their indices and returns how many.
    "9.11.7" at typed(Amo, "wait_until_some_vector")(ivars: *mut T, nelems: usize, indices: *mut usize, status: *const c_int, cmp: c_int, cmp_values: *const T) -> usize = sync::wait_until_some_vector;
    /// Returns 1 if ivar of this PE compares to cmp_value by cmp, else 0.
    "9.11.8" at generic(Amo, Waited, "test")(ivar: *mut T, cmp: c_int, cmp_value: T) -> c_int = sync::test;
    /// Returns 1 if all nelems elements of ivars compare to cmp_value by cmp, else 0.
    "9.11.9" at typed(Amo, "test_all")(ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_value: T) -> c_int = sync::test_all;
    /// Returns the index of one of nelems elements of ivars that compares to cmp_value by cmp, SIZE_MAX if none does.
    "9.11.10" at typed(Amo, "test_any")(ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_value: T) -> usize = sync::test_any;
    /// Writes the indices of those of nelems elements of ivars that compare to cmp_value by cmp, and returns how many.
    "9.11.11" at typed(Amo, "test_some")(ivars: *mut T, nelems: usize, indices: *mut usize, status: *const c_int, cmp: c_int, cmp_value: T) -> usize = sync::test_some;
    /// Returns 1 if all nelems elements of ivars compare by cmp, each to its own of cmp_values, else 0.
    "9.11.12" at typed(Amo, "test_all_vector")(ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_values: *const T) -> c_int = sync::test_all_vector;
    /// Returns the index of one of nelems elements of ivars that compares by cmp to its own of cmp_values, SIZE_MAX if none does.
    "9.11.13" at typed(Amo, "test_any_vector")(ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_values: *const T) -> usize = sync::test_any_vector;
    /// Writes the indices of those of nelems elements of ivars that compare by cmp to their own of cmp_values, and returns how many.
    "9.11.14" at typed(Amo, "test_some_vector")(ivars: *mut T, nelems: usize, indices: *mut usize, status: *const c_int, cmp: c_int, cmp_values: *const T) -> usize = sync::test_some_vector;

    /// As shmem_wait_until of the standard AMO types.
    /// Deprecated since 1.5: use a standard AMO type.
    "9.11.1" at plain(Short, "wait_until")(ivar: *mut T, cmp: c_int, cmp_value: T) = sync::wait_until;
    /// As shmem_long_wait_until.
    /// Deprecated since 1.4: use shmem_long_wait_until.
    "9.11.1" at once("wait_until")(ivar: *mut c_long, cmp: c_int, cmp_value: c_long) = sync::wait_until;
    /// Waits until ivar of this PE is not cmp_value.
    /// Deprecated since 1.4: use shmem_long_wait_until with SHMEM_CMP_NE.
    /// Errors: none.
    "9.11.1" at once("wait")(ivar: *mut c_long, cmp_value: c_long) = wait;
    /// Waits until ivar of this PE is not cmp_value.
    /// Deprecated since 1.4: use shmem_wait_until with SHMEM_CMP_NE.
    /// Errors: none.
    "9.11.1" at plain(OldBits, "wait")(ivar: *mut T, cmp_value: T) = wait;
    /// As shmem_test of the standard AMO types.
    /// Deprecated since 1.5: use a standard AMO type.
    "9.11.8" at plain(Short, "test")(ivar: *mut T, cmp: c_int, cmp_value: T) -> c_int = sync::test;
}

/// Waits until `*ivar` is not `value` (section 9.11.1).
///
/// # Safety
/// `ivar` is an aligned element of the calling PE.
unsafe fn wait<T: Waited>(at: Routine, ivar: *mut T, value: T) {
    // SAFETY: `ivar` is an aligned element of this PE.
    unsafe { sync::wait_until(at, ivar, Cmp::Ne as c_int, value) }
}
