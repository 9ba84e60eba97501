//! Lines for libfabric's log (fi_log(3)), which the user turns on (FI_LOG_LEVEL, FI_LOG_PROV).

use crate::core;
use fi_ofi_abi::{FI_LOG_EP_CTRL, FI_LOG_INFO, FiProvider};
use std::ffi::{CString, c_char, c_int};
use std::mem::transmute;

/// `fi_log_enabled`.
type IsEnabled = unsafe extern "C" fn(*const FiProvider, u32, u32) -> c_int;
/// `fi_log`.
type Log =
    unsafe extern "C" fn(*const FiProvider, u32, u32, *const c_char, c_int, *const c_char, ...);

/// Writes a line about an endpoint, where the user wants such.
pub(crate) fn info(line: &str) {
    let Some((is_enabled, log)) = core::find(c"fi_log_enabled").zip(core::find(c"fi_log")) else {
        return;
    };
    let Ok(line) = CString::new(line) else { return };
    // SAFETY: the functions of these names have these arguments; libfabric has the record of the
    // provider since it was loaded; the strings end with zeros, and the format takes one.
    unsafe {
        let is_enabled: IsEnabled = transmute(is_enabled);
        let log: Log = transmute(log);
        let (provider, of) = (crate::provider(), FI_LOG_EP_CTRL);
        if is_enabled(provider, FI_LOG_INFO, of) != 0 {
            let (place, format) = (c"farreach".as_ptr(), c"%s\n".as_ptr());
            log(provider, FI_LOG_INFO, of, place, 0, format, line.as_ptr());
        }
    }
}
