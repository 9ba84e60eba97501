//! Lines for libfabric's log (fi_log(3)), whose level the user sets (FI_LOG_LEVEL, FI_LOG_PROV).

use crate::core;
use fi_ofi_abi::{
    FI_LOG_CORE, FI_LOG_DOMAIN, FI_LOG_EP_CTRL, FI_LOG_INFO, FI_LOG_WARN, FiProvider,
};
use std::ffi::{CString, c_char, c_int};
use std::mem::transmute;

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
    Domain = FI_LOG_DOMAIN,
    Endpoint = FI_LOG_EP_CTRL,
}

/// Writes a line that the user sees by default: why a call fails.
pub(crate) fn warn(of: Subsystem, line: &str) {
    write(FI_LOG_WARN, of, line);
}

/// Writes a line, where the user wants such.
pub(crate) fn info(of: Subsystem, line: &str) {
    write(FI_LOG_INFO, of, line);
}

fn write(level: u32, of: Subsystem, line: &str) {
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
        if is_enabled(provider, level, of) != 0 {
            let (place, format) = (c"farreach".as_ptr(), c"%s\n".as_ptr());
            log(provider, level, of, place, 0, format, line.as_ptr());
        }
    }
}
