//! Functions of the libfabric in this process, found at run time: the library is linked with none.

use fi_ofi_abi::FiInfo;
use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::ptr::NonNull;

/// Finds a function of libfabric.
pub(crate) fn find(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: `name` ends with a zero, as dlsym requires.
    let found = NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) });
    found.or_else(|| {
        // A program that has loaded libfabric for itself alone, as a module of its own.
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: the name ends with a zero; the library is not loaded anew, so no code runs.
        let library = unsafe { libc::dlopen(c"libfabric.so.1".as_ptr(), flags) };
        let library = NonNull::new(library)?;
        // SAFETY: `library` is open, and stays open; `name` ends with a zero.
        NonNull::new(unsafe { libc::dlsym(library.as_ptr(), name.as_ptr()) })
    })
}

/// Returns the version of libfabric's interface.
pub(crate) fn version() -> Option<u32> {
    let found = find(c"fi_version")?;
    // SAFETY: the function of this name has no arguments and returns a `uint32_t`.
    let fi_version: extern "C" fn() -> u32 = unsafe { transmute(found) };
    Some(fi_version())
}

/// Returns an empty record with all its attributes, as long as this libfabric has them.
pub(crate) fn empty_info() -> Option<NonNull<FiInfo>> {
    let found = find(c"fi_dupinfo")?;
    // SAFETY: the function of this name takes a record or NULL, and returns a record.
    let dupinfo: extern "C" fn(*const FiInfo) -> *mut FiInfo = unsafe { transmute(found) };
    NonNull::new(dupinfo(std::ptr::null()))
}
