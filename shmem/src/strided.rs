//! Strided remote memory access (OpenSHMEM 1.6, section 9.6): iput, iget, and with blocks ibput, ibget.
//!
//! Strides are of elements, from the beginning of one element or block to that of the next, and so
//! never less than the elements between: smaller ones end the job with a message.

#![expect(
    unsafe_code,
    reason = "C addresses of symmetric objects are passed on to the fabric"
)]

use crate::ctx::Context;
use crate::report;
use crate::routine::Routine;
use fi_provider::symmetric::blocks::Blocks;
use fi_provider::symmetric::strided;
use std::ffi::c_int;

/// The least stride, for messages.
#[derive(Clone, Copy)]
pub(crate) enum Least {
    One,
    BlockSize(usize),
}

/// Returns the shape of `count` blocks of `len` elements; ends the job where a stride is too small
/// for it. No elements are a shape whatever the strides.
#[inline]
pub(crate) fn shape(
    at: Routine,
    dst: isize,
    sst: isize,
    (len, count): (usize, usize),
    least: Least,
) -> Blocks {
    if len > 0 && count > 0 {
        for (name, stride) in [("dst", dst), ("sst", sst)] {
            if usize::try_from(stride).is_ok_and(|stride| stride >= len) {
                continue;
            }
            stride_too_small(at, name, stride, least);
        }
    }
    let blocks = Blocks {
        dest_stride: dst.cast_unsigned(),
        source_stride: sst.cast_unsigned(),
        len,
        count,
    };
    blocks.joined()
}

#[cold]
#[inline(never)]
fn stride_too_small(at: Routine, name: &str, stride: isize, least: Least) -> ! {
    let value = format_args!("{stride}");
    match least {
        Least::One => report::bad_argument(at, name, value, "at least 1"),
        Least::BlockSize(size) => {
            let allowed = format!("at least bsize, {size}");
            report::bad_argument(at, name, value, &allowed)
        }
    }
}

macro_rules! strided {
    ($(
        $(#[$doc:meta])* $name:ident,
        $(#[$block_doc:meta])* $blocks:ident: $operation:ident;
    )*) => {$(
        $(#[$doc])* ///
        /// Copies `nelems` elements of `size_of::<T>()` bytes, `dst` elements apart in `dest` and
        /// `sst` in `source`, at least 1; 0 elements do nothing, whatever the addresses and
        /// strides.
        ///
        /// # Safety
        /// The remote side is symmetric, the local side holds the elements, both are aligned for
        /// `T`, and they do not overlap unless they are the same.
        #[inline]
        #[expect(clippy::too_many_arguments, reason = "the standard's routine has them")]
        pub unsafe fn $name<T: Copy>(
            ctx: &Context,
            at: Routine,
            dest: *mut T,
            source: *const T,
            dst: isize,
            sst: isize,
            nelems: usize,
            pe: c_int,
        ) {
            let blocks = shape(at, dst, sst, (1, nelems), Least::One);
            // SAFETY: the rules of threads: this one may use the context's endpoint. The local side
            // holds the elements, both are aligned, and they do not overlap unless they are the
            // same.
            unsafe { strided::$operation(ctx, at, dest, source, &blocks, pe as u32) };
        }

        $(#[$block_doc])* ///
        /// Copies `nblocks` blocks of `bsize` elements of `size_of::<T>()` bytes, `dst` elements
        /// apart in `dest` and `sst` in `source`, at least `bsize`; 0 elements do nothing, whatever
        /// the addresses and strides.
        ///
        /// # Safety
        /// As without blocks.
        #[inline]
        #[expect(clippy::too_many_arguments, reason = "the standard's routine has them")]
        pub unsafe fn $blocks<T: Copy>(
            ctx: &Context,
            at: Routine,
            dest: *mut T,
            source: *const T,
            dst: isize,
            sst: isize,
            bsize: usize,
            nblocks: usize,
            pe: c_int,
        ) {
            let blocks = shape(at, dst, sst, (bsize, nblocks), Least::BlockSize(bsize));
            // SAFETY: the rules of threads: this one may use the context's endpoint. The local side
            // holds the elements, both are aligned, and they do not overlap unless they are the
            // same.
            unsafe { strided::$operation(ctx, at, dest, source, &blocks, pe as u32) };
        }
    )*};
}

strided! {
    /// Writes elements to PE `pe`; `source` may be changed when the call returns (9.6.1.3).
    iput,
    /// Writes blocks of elements to PE `pe`; `source` may be changed when the call returns (9.6.1.4).
    ibput: write;
    /// Reads elements from PE `pe`; they are there when the call returns (9.6.1.7).
    iget,
    /// Reads blocks of elements from PE `pe`; they are there when the call returns (9.6.1.8).
    ibget: read;
}
