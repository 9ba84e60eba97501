//! Names: which ones lead into the fabric's directory.

use crate::wire;
use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

/// The longest name that is looked at, in bytes; longer ones are not the device's.
const LONGEST: usize = 1024;

/// Returns the fabric's directory, or nothing when there is none.
pub(crate) fn directory() -> Option<&'static CStr> {
    static DIRECTORY: OnceLock<Option<CString>> = OnceLock::new();
    DIRECTORY
        .get_or_init(|| {
            let value = variable(wire::DIRECTORY_VARIABLE)?;
            (value.count_bytes() + 1 < LONGEST).then_some(value)
        })
        .as_deref()
}

/// Returns the value of an environment variable.
pub(crate) fn variable(name: &str) -> Option<CString> {
    let name = CString::new(name).ok()?;
    // SAFETY: `name` is a C string; the value is copied before anything else runs on this thread.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: a value that getenv returned is a C string.
    Some(unsafe { CStr::from_ptr(value) }.to_owned())
}

/// A name as the kernel shall see it: the program's own, or the one in the fabric's directory.
pub(crate) struct Name {
    buffer: [u8; 2 * LONGEST],
    original: *const c_char,
    replaced: bool,
    device: bool,
}

impl Name {
    /// Returns the name to use in place of `path`.
    ///
    /// # Safety
    /// `path` is null or points to a C string that outlives the result.
    pub(crate) unsafe fn of(path: *const c_char) -> Self {
        let mut name = Self {
            buffer: [0; 2 * LONGEST],
            original: path,
            replaced: false,
            device: false,
        };
        if path.is_null() {
            return name;
        }
        // SAFETY: not null, hence a C string that outlives the result.
        let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
        if !leads_to_the_device(bytes) || bytes.len() >= LONGEST {
            return name;
        }
        let Some(directory) = directory() else {
            return name;
        };
        let directory = directory.to_bytes();
        name.buffer[..directory.len()].copy_from_slice(directory);
        name.buffer[directory.len()..directory.len() + bytes.len()].copy_from_slice(bytes);
        name.replaced = true;
        name.device = bytes == wire::DEVICE_NODE.as_bytes();
        name
    }

    /// Returns the name for the kernel.
    pub(crate) fn as_ptr(&self) -> *const c_char {
        if self.replaced {
            self.buffer.as_ptr().cast()
        } else {
            self.original
        }
    }

    /// Returns true for the device node itself.
    pub(crate) fn is_device(&self) -> bool {
        self.device
    }
}

/// Returns true for the names below which a program finds RDMA devices.
fn leads_to_the_device(path: &[u8]) -> bool {
    path.starts_with(b"/sys/class/infiniband") || path.starts_with(b"/dev/infiniband")
}
