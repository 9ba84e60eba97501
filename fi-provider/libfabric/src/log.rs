//! Words for the user: lines for libfabric's log (fi_log(3)), which FI_LOG_LEVEL and FI_LOG_PROV
//! turn on, and those that have to be seen without it.

use crate::core;
use fi_ofi_abi::{FI_LOG_CORE, FI_LOG_EP_CTRL, FI_LOG_INFO, FiProvider};
use std::ffi::{CString, c_char, c_int};
use std::mem::transmute;
use std::sync::{Mutex, PoisonError};

/// `fi_log_enabled`.
type IsEnabled = unsafe extern "C" fn(*const FiProvider, u32, u32) -> c_int;
/// `fi_log`.
type Log =
    unsafe extern "C" fn(*const FiProvider, u32, u32, *const c_char, c_int, *const c_char, ...);

/// The part of the provider that a line is about, which the user may choose (FI_LOG_SUBSYS).
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum Subsystem {
    /// The offer of the provider.
    Core = FI_LOG_CORE,
    Endpoint = FI_LOG_EP_CTRL,
}

/// Tells on standard error, once, why a call fails: by a setting of the user, or without a device.
pub(crate) fn tell(line: &str) {
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told.iter().any(|known| known == line) {
        eprintln!("farreach: {line}");
        told.push(line.to_owned());
    }
}

/// Writes a line to the log, where the user wants such.
pub(crate) fn info(of: Subsystem, line: &str) {
    let Some((is_enabled, log)) = core::find(c"fi_log_enabled").zip(core::find(c"fi_log")) else {
        return;
    };
    let Ok(line) = CString::new(line) else { return };
    // SAFETY: the functions of these names have these arguments; libfabric has the record of the
    // provider since it was loaded; the strings end with zeros, and the format takes one.
    unsafe {
        let is_enabled: IsEnabled = transmute(is_enabled);
        let log: Log = transmute(log);
        let (provider, of) = (crate::provider(), of as u32);
        if is_enabled(provider, FI_LOG_INFO, of) != 0 {
            let (place, format) = (c"farreach".as_ptr(), c"%s\n".as_ptr());
            log(provider, FI_LOG_INFO, of, place, 0, format, line.as_ptr());
        }
    }
}
