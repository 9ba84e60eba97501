//! Objects that C holds pointers to, and the codes that functions return.

use fi_ofi_abi::{FI_ENOSYS, FiOps, Fid};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

/// A code of errno(3) or fi_errno(3), positive.
pub(crate) type Code = i32;

/// Refuses, in a place of a table for which there is no function.
pub(crate) extern "C" fn stub() -> isize {
    -(FI_ENOSYS as isize)
}

/// Refuses to bind anything to an object.
pub(crate) unsafe extern "C" fn no_bind(_: *mut Fid, _: *mut Fid, _: u64) -> c_int {
    -FI_ENOSYS
}

/// Refuses all commands to an object.
pub(crate) unsafe extern "C" fn no_control(_: *mut Fid, _: c_int, _: *mut c_void) -> c_int {
    -FI_ENOSYS
}

/// Refuses to open tables of further functions.
pub(crate) unsafe extern "C" fn no_ops(
    _: *mut Fid,
    _: *const c_char,
    _: u64,
    _: *mut *mut c_void,
    _: *mut c_void,
) -> c_int {
    -FI_ENOSYS
}

/// Returns the functions of an object that may only be closed.
pub(crate) const fn closing(close: unsafe extern "C" fn(*mut Fid) -> c_int) -> FiOps {
    FiOps {
        size: size_of::<FiOps>(),
        close,
        bind: no_bind,
        control: no_control,
        ops_open: no_ops,
        tostr: stub,
        ops_set: stub,
    }
}

/// The object of type `$kind` of a fid that C has handed over.
macro_rules! object {
    ($kind:ty, $fid:expr) => {{
        // SAFETY: libfabric calls an object's functions with that object alone, while it is open.
        // So the pointer leads to a live value of the type, which begins with the fid, and which is
        // only accessed by shared references until it is closed.
        unsafe { &*$fid.cast::<$kind>().cast_const() }
    }};
}
pub(crate) use object;

/// Reference count of an object's users: each holds a clone as long as it uses the object.
pub(crate) type InUse = Arc<()>;

/// Refuses to close an object that others use.
pub(crate) fn unused(by: &InUse) -> Result<(), Code> {
    if Arc::strong_count(by) == 1 {
        Ok(())
    } else {
        Err(libc::EBUSY)
    }
}

/// Gives an object to C: writes the pointer to its fid.
///
/// # Safety
/// `place` may be written, and an `O` begins with an `F`.
pub(crate) unsafe fn give<O, F>(object: O, place: *mut *mut F) {
    // SAFETY: `place` may be written.
    unsafe { place.write(Box::into_raw(Box::new(object)).cast()) };
}

/// Takes an object back from C, which is about to be dropped.
///
/// # Safety
/// [`give`] has given the object of this type, and C uses it no more.
pub(crate) unsafe fn take<O>(fid: *mut Fid) -> Box<O> {
    // SAFETY: the pointer is of a box of this type, as `give` has made it, and nobody uses it.
    unsafe { Box::from_raw(fid.cast()) }
}

/// Makes the result of a C function that returns an `int`.
pub(crate) fn status(result: Result<(), Code>) -> c_int {
    result.map_or_else(|code| -code, |()| 0)
}

/// Makes the result of a C function that returns an `ssize_t`.
pub(crate) fn size(result: Result<usize, Code>) -> isize {
    result.map_or_else(|code| -(code as isize), |size| size as isize)
}

/// Refuses flags other than these.
pub(crate) fn only(flags: u64, known: u64) -> Result<(), Code> {
    if flags & !known == 0 {
        Ok(())
    } else {
        Err(fi_ofi_abi::FI_EBADFLAGS)
    }
}
