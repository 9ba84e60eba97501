//! Random bytes, for names and keys that nobody shall guess (getrandom(2)).

use std::io;

/// Returns `N` random bytes, up to 256.
///
/// # Errors
/// The error of getrandom(2).
pub fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    // Up to so many come whole, also with signals.
    const { assert!(N <= 256) };
    let mut bytes = [0; N];
    // SAFETY: getrandom writes at most `N` bytes, which the array has, and the array outlives the
    // call.
    match unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), N, 0) } {
        got if got == N as isize => Ok(bytes),
        _ => Err(io::Error::last_os_error()),
    }
}
