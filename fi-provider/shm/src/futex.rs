//! Sleeping on a word of shared memory, and waking the sleepers (futex(2)).
//!
//! Never private: the processes map the word at different addresses.

/// Longest time that a sleep lasts.
static LONGEST: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 40_000_000,
};

/// Sleeps until somebody calls [`wake`] for the word, at most 40 ms, and not at all unless it is `seen`. May wake for no
/// reason.
///
/// # Safety
/// `word` is aligned, in shared memory, and mapped during the call.
pub unsafe fn sleep_while(word: *const u32, seen: u32) {
    // SAFETY: the word is aligned and mapped during the call; the time is a constant.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word,
            libc::FUTEX_WAIT,
            seen,
            &raw const LONGEST,
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
