//! Functions of the libfabric in this process, found at run time: the library is linked with none.

use fi_ofi_abi::{FI_PARAM_STRING, FiInfo, FiProvider};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::{NonNull, null};

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
    NonNull::new(dupinfo(null()))
}

/// Returns the names of bits, as libfabric writes those of this kind (`enum fi_type`).
pub(crate) fn names(bits: u64, kind: u32) -> Option<String> {
    type Write = unsafe extern "C" fn(*mut c_char, usize, *const c_void, u32) -> *mut c_char;
    let found = find(c"fi_tostr_r")?;
    let mut text = [0_u8; 1024];
    // SAFETY: the function of this name has these arguments: it writes at most so many bytes, the
    // last one a zero, and reads an integer of 64 bits for kinds of bits.
    unsafe {
        let write: Write = transmute(found);
        write(
            text.as_mut_ptr().cast(),
            text.len(),
            (&raw const bits).cast(),
            kind,
        );
    }
    let text = CStr::from_bytes_until_nul(&text).ok()?;
    Some(text.to_string_lossy().into_owned())
}

/// Tells libfabric of a variable of the provider's, which `fi_info -e` lists with this help.
pub(crate) fn define_parameter(name: &CStr, help: &CStr) {
    type Define =
        unsafe extern "C" fn(*const FiProvider, *const c_char, c_int, *const c_char, ...) -> c_int;
    if let Some(found) = find(c"fi_param_define") {
        // SAFETY: the function of this name has these arguments; the strings end with zeros, and
        // the format takes one.
        unsafe {
            let define: Define = transmute(found);
            let (name, format, help) = (name.as_ptr(), c"%s".as_ptr(), help.as_ptr());
            define(crate::provider(), name, FI_PARAM_STRING, format, help);
        }
    }
}

/// Returns the user's value of a variable that was defined; empty where there is none.
pub(crate) fn parameter(name: &CStr) -> String {
    type Get = unsafe extern "C" fn(*const FiProvider, *const c_char, *mut c_void) -> c_int;
    let mut value: *const c_char = null();
    if let Some(found) = find(c"fi_param_get") {
        // SAFETY: the function of this name has these arguments, and gives a pointer for a variable
        // that is a string; the name ends with a zero.
        unsafe {
            let get: Get = transmute(found);
            let _ = get(crate::provider(), name.as_ptr(), (&raw mut value).cast());
        }
    }
    match value.is_null() {
        true => String::new(),
        // SAFETY: libfabric gives the text of a variable of the environment.
        false => unsafe { CStr::from_ptr(value) }
            .to_string_lossy()
            .into_owned(),
    }
}
