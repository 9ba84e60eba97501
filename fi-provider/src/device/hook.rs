//! The way to make a software device (softhca) act at once.

#![expect(
    unsafe_code,
    reason = "looks up a C function that another library may have, and calls it"
)]

use fi_mlx5::lane::Hook;
use std::io;

unsafe extern "C" {
    fn dlsym(handle: *mut libc::c_void, name: *const libc::c_char) -> *mut libc::c_void;
}

/// Returns the function by which a software device is made to act, if the process runs on one that
/// lets itself be made to.
pub(crate) fn software_hook() -> Option<Hook> {
    // SAFETY: the name is a C string, and the lookup has no other precondition.
    let found = unsafe { dlsym(libc::RTLD_DEFAULT, c"farreach_softhca_kick".as_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: the function of this name is of this type (docs/softhca.md).
    let hook = unsafe { std::mem::transmute::<*mut libc::c_void, Hook>(found) };
    let is_refused =
        hook() != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EOPNOTSUPP);
    (!is_refused).then_some(hook)
}
