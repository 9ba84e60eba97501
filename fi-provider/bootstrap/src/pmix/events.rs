//! The end of the server, as a descriptor that can be read then.

#![expect(unsafe_code, reason = "a function that the library calls")]

use super::abi::{
    ERR_LOST_CONNECTION, ERR_LOST_CONNECTION_TO_SERVER, EVENT_ACTION_COMPLETE, Info, Proc,
};
use super::library::{Done, Library};
use crate::Error;
use std::ffi::{c_int, c_void};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The end that is read, and the one that is written when the server is gone. The library has one
/// connection a process.
static ENDS: OnceLock<[UnixStream; 2]> = OnceLock::new();

/// Whether the server is gone.
static LOST: AtomicBool = AtomicBool::new(false);

/// Has the library tell of the server's end from now on.
///
/// # Errors
/// That of socketpair(2), or [`Error::Pmix`].
pub(super) fn watch(library: &Library) -> Result<(), Error> {
    if ENDS.get().is_none() {
        let (read, written) = UnixStream::pair()?;
        let _ = ENDS.set([read, written]);
    }
    library.on_events(
        &mut [ERR_LOST_CONNECTION, ERR_LOST_CONNECTION_TO_SERVER],
        server_is_gone,
    )
}

/// Whether the server is known to be gone.
pub(super) fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// The descriptor that can be read when the server is gone.
pub(super) fn lifeline() -> Option<&'static UnixStream> {
    ENDS.get().map(|[read, _]| read)
}

/// Notes the event; runs on the library's thread.
unsafe extern "C" fn server_is_gone(
    _: usize,
    _: c_int,
    _: *const Proc,
    _: *mut Info,
    _: usize,
    _: *mut Info,
    _: usize,
    done: Option<Done>,
    event: *mut c_void,
) {
    if !LOST.swap(true, Ordering::Relaxed)
        && let Some([_, written]) = ENDS.get()
    {
        // The first byte always has room.
        let _ = (&*written).write(&[0]);
    }
    if let Some(done) = done {
        // SAFETY: the library has handed this function over to be called once with the data of the
        // event; there are no results, and nothing to be told when it has taken note.
        unsafe {
            done(
                EVENT_ACTION_COMPLETE,
                std::ptr::null_mut(),
                0,
                None,
                std::ptr::null_mut(),
                event,
            );
        }
    }
}
