//! What the routines of `longdouble.c` call: `long double` by value becomes sixteen bytes in memory.

use crate::types::Sixteen;
use core::ffi::c_int;
use shmem::{ctx, rma};

/// `shmem_longdouble_p`.
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_longdouble_p(dest: *mut Sixteen, value: *const Sixteen, pe: c_int) {
    // SAFETY: `value` is a local variable of the C routine, whose caller vouches for the rest.
    unsafe {
        rma::put(
            ctx::default_ctx(),
            &"shmem_longdouble_p",
            dest,
            value,
            1,
            pe,
        )
    }
}

/// `shmem_ctx_longdouble_p`.
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_ctx_longdouble_p(
    ctx: usize,
    dest: *mut Sixteen,
    value: *const Sixteen,
    pe: c_int,
) {
    // SAFETY: as above, and the handle is one that the library gave out.
    unsafe {
        rma::put(
            ctx::from_handle(ctx),
            &"shmem_ctx_longdouble_p",
            dest,
            value,
            1,
            pe,
        )
    }
}

/// `shmem_longdouble_g`.
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_longdouble_g(value: *mut Sixteen, source: *const Sixteen, pe: c_int) {
    // SAFETY: `value` is a local variable of the C routine, whose caller vouches for the rest.
    unsafe {
        rma::get(
            ctx::default_ctx(),
            &"shmem_longdouble_g",
            value,
            source,
            1,
            pe,
        )
    }
}

/// `shmem_ctx_longdouble_g`.
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_ctx_longdouble_g(
    ctx: usize,
    value: *mut Sixteen,
    source: *const Sixteen,
    pe: c_int,
) {
    // SAFETY: as above, and the handle is one that the library gave out.
    unsafe {
        rma::get(
            ctx::from_handle(ctx),
            &"shmem_ctx_longdouble_g",
            value,
            source,
            1,
            pe,
        )
    }
}
