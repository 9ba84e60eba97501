//! libpmix, opened at run time and never closed: its threads may run to the end of the process.

#![expect(
    unsafe_code,
    reason = "functions of a library that is opened at run time"
)]

use super::abi::{COLLECT_DATA, ERR_NOT_FOUND, GLOBAL, Got, Info, Proc, SUCCESS, Value};
use crate::Error;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

const LIBRARY: &CStr = c"libpmix.so.2";

/// Where the functions of the process's only copy are.
static OPEN: OnceLock<Library> = OnceLock::new();

/// The function that an event's handler calls when it is done: its status, results and their
/// number, a function with its argument, and the data of the event.
pub(super) type Done = unsafe extern "C" fn(
    c_int,
    *mut Info,
    usize,
    Option<unsafe extern "C" fn(c_int, *mut c_void)>,
    *mut c_void,
    *mut c_void,
);

/// An event's handler: its number, the event, the process that it comes from, attributes and
/// results of earlier handlers with their numbers, the function to call, and the data of the event.
pub(super) type Handler = unsafe extern "C" fn(
    usize,
    c_int,
    *const Proc,
    *mut Info,
    usize,
    *mut Info,
    usize,
    Option<Done>,
    *mut c_void,
);

type Registered = Option<unsafe extern "C" fn(c_int, usize, *mut c_void)>;

/// A table of functions: `field = "symbol": fn(...)`.
macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// The functions that are used (`pmix.h`).
        #[derive(Debug)]
        pub(super) struct Library {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Library {
            fn find(library: fi_library::Library) -> Result<Self, Error> {
                Ok(Self {
                    $($field: {
                        let symbol = library.symbol($symbol).map_err(refused)?;
                        // SAFETY: the symbol is a function of libpmix's public interface, which has this
                        // type (`pmix.h`); the library stays loaded.
                        unsafe {
                            std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn($($argument),*) -> $result>(symbol)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    init = c"PMIx_Init": fn(*mut Proc, *mut Info, usize) -> c_int;
    finalize = c"PMIx_Finalize": fn(*const Info, usize) -> c_int;
    abort = c"PMIx_Abort": fn(c_int, *const c_char, *mut Proc, usize) -> c_int;
    put = c"PMIx_Put": fn(u8, *const c_char, *mut Value) -> c_int;
    commit = c"PMIx_Commit": fn() -> c_int;
    fence = c"PMIx_Fence": fn(*const Proc, usize, *const Info, usize) -> c_int;
    get = c"PMIx_Get": fn(*const Proc, *const c_char, *const Info, usize, *mut *mut Value) -> c_int;
    error_string = c"PMIx_Error_string": fn(c_int) -> *const c_char;
    register = c"PMIx_Register_event_handler":
        fn(*mut c_int, usize, *mut Info, usize, Handler, Registered, *mut c_void) -> c_int;
}

impl Library {
    /// The library, opened with the first call that can.
    ///
    /// # Errors
    /// [`Error::Library`].
    pub(super) fn get() -> Result<&'static Self, Error> {
        if let Some(library) = OPEN.get() {
            return Ok(library);
        }
        let library = fi_library::Library::open(LIBRARY).map_err(refused)?;
        let library = Self::find(library)?;
        Ok(OPEN.get_or_init(|| library))
    }

    /// Connects to the server that the environment names; returns this process.
    ///
    /// # Errors
    /// [`Error::Pmix`].
    pub(super) fn connect(&self) -> Result<Proc, Error> {
        let mut own = Proc::nobody();
        // SAFETY: `own` is a place for a process; there are no attributes.
        let status = unsafe { (self.init)(&raw mut own, std::ptr::null_mut(), 0) };
        self.check("PMIx_Init", status)?;
        Ok(own)
    }

    /// Ends the connection; returns the status.
    pub(super) fn finish(&self) -> c_int {
        // SAFETY: there are no attributes; without a connection the call says so.
        unsafe { (self.finalize)(std::ptr::null(), 0) }
    }

    /// Asks for the end of all processes of the namespace; returns the status.
    pub(super) fn abort_job(&self, code: c_int, text: &CStr) -> c_int {
        // SAFETY: `text` is a C string that outlives the call; no processes are named.
        unsafe { (self.abort)(code, text.as_ptr(), std::ptr::null_mut(), 0) }
    }

    /// Publishes bytes under a key of this process.
    ///
    /// # Errors
    /// [`Error::Pmix`].
    pub(super) fn publish(&self, key: &CStr, bytes: &[u8]) -> Result<(), Error> {
        let mut value = Value::of_bytes(bytes);
        // SAFETY: the key is a C string of less than 512 bytes, as callers' keys are short; the value
        // borrows `bytes`, which the call copies.
        let status = unsafe { (self.put)(GLOBAL, key.as_ptr(), &raw mut value) };
        self.check("PMIx_Put", status)?;
        // SAFETY: it takes nothing.
        self.check("PMIx_Commit", unsafe { (self.commit)() })
    }

    /// Waits for all processes of the namespace, which exchange their published values.
    ///
    /// # Errors
    /// [`Error::Pmix`].
    pub(super) fn meet(&self) -> Result<(), Error> {
        let collect = Info::on(COLLECT_DATA);
        // SAFETY: no processes are named, which stands for all; there is one attribute, which outlives
        // the call.
        let status = unsafe { (self.fence)(std::ptr::null(), 0, &raw const collect, 1) };
        self.check("PMIx_Fence", status)
    }

    /// Fetches the value of a process under a key, by the attribute `how`; `None` where there is
    /// none.
    ///
    /// # Errors
    /// [`Error::Pmix`].
    pub(super) fn fetch(&self, of: &Proc, key: &CStr, how: &Info) -> Result<Option<Got>, Error> {
        let mut value = std::ptr::null_mut();
        // SAFETY: the process, the key (a C string) and the one attribute outlive the call; `value` is
        // a place for a pointer.
        let status = unsafe {
            (self.get)(
                &raw const *of,
                key.as_ptr(),
                &raw const *how,
                1,
                &raw mut value,
            )
        };
        if status == ERR_NOT_FOUND {
            return Ok(None);
        }
        self.check("PMIx_Get", status)?;
        // SAFETY: the call has succeeded: the value is this process's to free.
        Ok(unsafe { Got::new(value) })
    }

    /// Has `handler` called for these events.
    ///
    /// # Errors
    /// [`Error::Pmix`].
    pub(super) fn on_events(&self, codes: &mut [c_int], handler: Handler) -> Result<(), Error> {
        // SAFETY: the codes are described by pointer and length, and copied; there are no attributes.
        // Without a function that is told of it, the call returns when the handler is there; its
        // result is the handler's number then, and negative otherwise.
        let status = unsafe {
            (self.register)(
                codes.as_mut_ptr(),
                codes.len(),
                std::ptr::null_mut(),
                0,
                handler,
                None,
                std::ptr::null_mut(),
            )
        };
        self.check("PMIx_Register_event_handler", status.min(SUCCESS))
    }

    /// Makes an error of a status other than success.
    ///
    /// # Errors
    /// [`Error::Pmix`] with the status's name.
    pub(super) fn check(&self, call: &'static str, status: c_int) -> Result<(), Error> {
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: it takes any number, and gives a C string that lives as long as the library.
        let name = unsafe { CStr::from_ptr((self.error_string)(status)) };
        Err(Error::Pmix {
            call,
            status,
            name: name.to_string_lossy().into_owned(),
        })
    }
}

/// Makes an error of the linker's words.
#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn refused(error: fi_library::Error) -> Error {
    Error::Library(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told() {
        let open = fi_library::Library::open;
        let error = open(c"libfarreach-none.so.1").expect_err("there is no such library");
        let text = refused(error).to_string();
        assert!(text.contains("libfarreach-none.so.1: "), "{text}");
        assert!(text.contains("Debian: libpmix2"), "{text}");
        let library = open(c"libc.so.6").expect("the C library");
        let error = Library::find(library).expect_err("it has no such functions");
        assert!(error.to_string().contains("PMIx_Init"), "{error}");
    }
}
