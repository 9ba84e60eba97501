//! Arithmetic that `longdouble.c` does for this crate, and the functions that its routines call:
//! `long double` by value becomes sixteen bytes in memory.

use crate::checks;
use crate::types::Sixteen;
use core::ffi::c_int;
use shmem::collective::combine::{Max, Min, Operation, Prod, Sum};
use shmem::{ctx, rma};

macro_rules! operations {
    ($($op:ident: $function:ident;)*) => {
        unsafe extern "C" {
            $(fn $function(acc: *mut Sixteen, other: *const Sixteen, count: usize);)*
        }
        $(
            // SAFETY: the C function visits `count` elements of both arrays; sums, products, maxima and minima are
            // associative and commutative but for rounding.
            unsafe impl Operation<Sixteen> for $op {
                unsafe fn combine(acc: *mut Sixteen, other: *const Sixteen, count: usize) {
                    // SAFETY: unless `count` is 0, `acc` and `other` are aligned and hold `count`
                    // elements, which do not overlap and nobody else uses meanwhile.
                    unsafe { $function(acc, other, count) }
                }
            }
        )*
    };
}

operations! {
    Sum: farreach_longdouble_sum;
    Prod: farreach_longdouble_prod;
    Max: farreach_longdouble_max;
    Min: farreach_longdouble_min;
}

/// Does the work of `shmem_longdouble_p`.
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_longdouble_p(dest: *mut Sixteen, value: *const Sixteen, pe: c_int) {
    const NAME: &str = "shmem_longdouble_p";
    // SAFETY: `value` is one element, a local variable of the C routine, and `dest` is symmetric.
    unsafe {
        checks::around!(
            NAME,
            [dest: *mut Sixteen, pe: c_int],
            rma::put(
            ctx::from_handle(ctx::DEFAULT_HANDLE),
            &NAME,
            dest,
            value,
            1,
            pe,
        )
        )
    }
}

/// Does the work of `shmem_ctx_longdouble_p`.
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_ctx_longdouble_p(
    ctx: usize,
    dest: *mut Sixteen,
    value: *const Sixteen,
    pe: c_int,
) {
    const NAME: &str = "shmem_ctx_longdouble_p";
    // SAFETY: `value` is one element, a local variable of the C routine, `dest` is symmetric, and
    // the handle is one that the library gave out.
    unsafe {
        checks::around!(
            NAME,
            [ctx: usize, dest: *mut Sixteen, pe: c_int],
            rma::put(
            ctx::from_handle(ctx),
            &NAME,
            dest,
            value,
            1,
            pe,
        )
        )
    }
}

/// Does the work of `shmem_longdouble_g`.
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_longdouble_g(value: *mut Sixteen, source: *const Sixteen, pe: c_int) {
    const NAME: &str = "shmem_longdouble_g";
    // SAFETY: `value` has room for one element, a local variable of the C routine, and `source` is
    // symmetric.
    unsafe {
        checks::around!(
            NAME,
            [source: *const Sixteen, pe: c_int],
            rma::get(
            ctx::from_handle(ctx::DEFAULT_HANDLE),
            &NAME,
            value,
            source,
            1,
            pe,
        )
        )
    }
}

/// Does the work of `shmem_ctx_longdouble_g`.
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_ctx_longdouble_g(
    ctx: usize,
    value: *mut Sixteen,
    source: *const Sixteen,
    pe: c_int,
) {
    const NAME: &str = "shmem_ctx_longdouble_g";
    // SAFETY: `value` has room for one element, a local variable of the C routine, `source` is
    // symmetric, and the handle is one that the library gave out.
    unsafe {
        checks::around!(
            NAME,
            [ctx: usize, source: *const Sixteen, pe: c_int],
            rma::get(
            ctx::from_handle(ctx),
            &NAME,
            value,
            source,
            1,
            pe,
        )
        )
    }
}
