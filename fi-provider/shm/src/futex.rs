//! Sleeping on a word of shared memory, and waking the sleepers (futex(2)).
//!
//! Never private: the processes map the word at different addresses.

use std::time::Duration;

/// Longest time that a sleep of [`sleep_while`] lasts.
const LONGEST: Duration = Duration::from_millis(40);

/// Sleeps until somebody calls [`wake`] for the word, at most 40 ms, and not at all unless it is
/// `seen`. May wake for no reason.
///
/// # Safety
/// `word` is aligned, and mapped during the call.
pub unsafe fn sleep_while(word: *const u32, seen: u32) {
    // SAFETY: the word is aligned and mapped during the call.
    unsafe { sleep_for(word, seen, LONGEST) };
}

/// Does as [`sleep_while`], for this time at most.
///
/// # Safety
/// As [`sleep_while`].
pub(crate) unsafe fn sleep_for(word: *const u32, seen: u32, time: Duration) {
    let time = libc::timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    // SAFETY: the word is aligned and mapped during the call, in which the time is read.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word,
            libc::FUTEX_WAIT,
            seen,
            &raw const time,
        );
    }
}

/// Wakes all sleepers on the word.
///
/// # Safety
/// As [`sleep_while`].
#[cold]
pub unsafe fn wake(word: *const u32) {
    // SAFETY: the word is aligned and mapped during the call.
    unsafe {
        libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE, i32::MAX);
    }
}
