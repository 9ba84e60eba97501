//! Opens shared libraries of the system at run time, which stay open to the end of the process.
//!
//! An executable that is linked with `-static` opens none. Its C library is not that of the opened
//! one: threads that it starts lack the data that the other copy keeps for each thread, and crash
//! in it.

#![expect(
    unsafe_code,
    reason = "the dynamic linker takes and returns C strings and untyped addresses"
)]

use std::ffi::{CStr, c_int, c_void};
use std::ptr::NonNull;

/// Says why a library, or a symbol of one, is not to be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The executable of this process is linked statically.
    #[error(
        "{0}: this executable is linked with -static, and its threads would crash in a shared library"
    )]
    Static(String),
    /// The dynamic linker refuses, in these words of its own.
    #[error("{0}")]
    Linker(String),
}

/// An open library.
#[derive(Clone, Copy, Debug)]
pub struct Library(NonNull<c_void>);

impl Library {
    /// Opens the library of this name or path, with all that it needs. Its initialisers run.
    ///
    /// # Errors
    /// [`Error::Static`], [`Error::Linker`].
    pub fn open(name: &CStr) -> Result<Self, Error> {
        if is_static() {
            return Err(Error::Static(name.to_string_lossy().into_owned()));
        }
        // SAFETY: `name` is a C string. Initialisers run as in a program that is linked with the
        // library.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        NonNull::new(handle).map(Self).ok_or_else(refusal)
    }

    /// Finds the address of a symbol.
    ///
    /// # Errors
    /// [`Error::Linker`].
    pub fn symbol(self, name: &CStr) -> Result<NonNull<c_void>, Error> {
        // SAFETY: the handle is of an open library, as none is closed; `name` is a C string.
        let found = unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) };
        NonNull::new(found).ok_or_else(refusal)
    }

    /// Finds the address of a symbol in this version of the library's interface.
    ///
    /// # Errors
    /// [`Error::Linker`].
    pub fn symbol_of(self, name: &CStr, version: &CStr) -> Result<NonNull<c_void>, Error> {
        // SAFETY: the handle is of an open library, as none is closed; `name` and `version` are C
        // strings.
        let found = unsafe { libc::dlvsym(self.0.as_ptr(), name.as_ptr(), version.as_ptr()) };
        NonNull::new(found).ok_or_else(refusal)
    }
}

/// Returns the words of the dynamic linker for the last call of this thread, which has failed.
fn refusal() -> Error {
    // SAFETY: dlerror(3) takes nothing, and returns null or a C string that lives until the thread's
    // next call of the linker.
    let words = unsafe { libc::dlerror() };
    if words.is_null() {
        return Error::Linker(String::new());
    }
    // SAFETY: `words` is not null, hence a C string, and is copied before another call.
    let words = unsafe { CStr::from_ptr(words) };
    Error::Linker(words.to_string_lossy().into_owned())
}

/// Returns whether the executable names no dynamic linker. The first object of dl_iterate_phdr(3)
/// is the executable.
fn is_static() -> bool {
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        out: *mut c_void,
    ) -> c_int {
        // SAFETY: the C library passes a valid record, and the address of the caller's flag.
        let (info, has_none) = unsafe { (&*info, &mut *out.cast::<bool>()) };
        // SAFETY: the record holds the place of the executable's headers and their number.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        *has_none = headers
            .iter()
            .all(|header| header.p_type != libc::PT_INTERP);
        1
    }
    let mut has_none = false;
    // SAFETY: the function gets the address of a live flag, and keeps nothing.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut has_none).cast()) };
    has_none
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_found() {
        let library = Library::open(c"libc.so.6").expect("the C library");
        library.symbol(c"getpid").expect("a function");
        let error = library
            .symbol(c"farreach_none")
            .expect_err("no such function");
        assert!(error.to_string().contains("farreach_none"), "{error}");
        let version = if cfg!(target_arch = "x86_64") {
            c"GLIBC_2.2.5"
        } else {
            c"GLIBC_2.17"
        };
        library.symbol_of(c"getpid", version).expect("a function");
        library
            .symbol_of(c"getpid", c"FARREACH_1")
            .expect_err("no such version");
    }

    #[test]
    fn a_missing_library_is_named() {
        let error = Library::open(c"libfarreach-none.so.1").expect_err("no such library");
        assert!(
            error.to_string().contains("libfarreach-none.so.1"),
            "{error}"
        );
    }

    #[test]
    fn this_program_is_linked_dynamically() {
        assert!(!is_static());
    }
}
