//! Threads of the library's own: all signals are blocked in them, and they are counted, so that others can tell them from the program's.

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of the library's own threads that run in this process.
pub fn threads() -> usize {
    COUNT.load(Ordering::Relaxed)
}

/// Counts a thread as long as it lives.
struct Counted;

impl Counted {
    fn one() -> Self {
        COUNT.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Starts a thread of this name.
///
/// # Errors
/// That of pthread_create(3).
pub fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    // Counted before it can be seen; also where it does not start, as it is dropped with the body then.
    let counted = Counted::one();
    without_signals(|| {
        Builder::new().name(name.to_owned()).spawn(move || {
            let _counted = counted;
            body()
        })
    })
}

/// Does something, such as to start a thread that inherits it, with all signals blocked: they are the program's.
fn without_signals<T>(what: impl FnOnce() -> T) -> T {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: the set is filled, then read; the other one is written.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = what();
    // SAFETY: the set was written above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}
