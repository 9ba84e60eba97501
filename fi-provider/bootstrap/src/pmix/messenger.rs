//! A thread that makes the calls that signal handlers ask for.
//!
//! `PMIx_Abort` and `PMIx_Finalize` allocate and take locks, which a signal handler must not. It
//! writes a request to a socket instead, and waits for the answer, but not for long: the signal may
//! have come in the middle of malloc, which the thread's call may need then. The process ends
//! afterwards in any case, and the launcher takes that for a failure of its own accord.

use super::library::Library;
use crate::sys;
use std::ffi::{CString, c_int};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread::Builder;
use std::time::Duration;

/// How long a caller waits for the answer.
const PATIENCE: Duration = Duration::from_secs(2);

const ABORT: u8 = 1;
const FINALIZE: u8 = 2;
const ABORT_LATER: u8 = 3;

/// How long the caller of a later abort has to end its process.
const GRACE: Duration = Duration::from_secs(1);

/// The kind of a request, an exit status, and the length of the text that follows.
const REQUEST: usize = 9;

/// The callers' end.
#[derive(Debug)]
pub(super) struct Messenger(UnixStream);

impl Messenger {
    /// Starts the thread, which ends when this is dropped.
    ///
    /// # Errors
    /// That of socketpair(2) or of pthread_create(3).
    pub(super) fn start(library: &'static Library) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(PATIENCE))?;
        sys::without_signals(|| {
            Builder::new()
                .name("farreach-pmix".to_owned())
                .spawn(move || serve(library, &theirs))
        })?;
        Ok(Messenger(ours))
    }

    /// Has the job aborted with an exit status and a text; without one it allocates nothing.
    ///
    /// # Errors
    /// When the call did not return in time; the status that it has returned otherwise.
    pub(super) fn abort(&self, code: c_int, text: &str) -> io::Result<c_int> {
        self.ask(ABORT, code, text)
    }

    /// As [`abort`](Self::abort), but unless the process has ended within a second, and at once back.
    ///
    /// # Errors
    /// The socket's.
    pub(super) fn abort_later(&self, code: c_int, text: &str) -> io::Result<()> {
        self.send(ABORT_LATER, code, text)
    }

    /// Has the library finalized; allocates nothing.
    ///
    /// # Errors
    /// As [`abort`](Self::abort).
    pub(super) fn finalize(&self) -> io::Result<c_int> {
        self.ask(FINALIZE, 0, "")
    }

    fn send(&self, kind: u8, code: c_int, text: &str) -> io::Result<()> {
        let mut request = [0; REQUEST];
        request[0] = kind;
        request[1..5].copy_from_slice(&code.to_ne_bytes());
        request[5..].copy_from_slice(&(text.len() as u32).to_ne_bytes());
        sys::send_all(&self.0, &request)?;
        sys::send_all(&self.0, text.as_bytes())
    }

    fn ask(&self, kind: u8, code: c_int, text: &str) -> io::Result<c_int> {
        self.send(kind, code, text)?;
        let mut answer = [0; size_of::<c_int>()];
        loop {
            // One write of so few bytes is read at once.
            match (&self.0).read(&mut answer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => return Ok(c_int::from_ne_bytes(answer)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn serve(library: &Library, mut requests: &UnixStream) {
    let mut request = [0; REQUEST];
    while requests.read_exact(&mut request).is_ok() {
        let [kind, a, b, c, d, length @ ..] = request;
        let mut text = vec![0; u32::from_ne_bytes(length) as usize];
        if requests.read_exact(&mut text).is_err() {
            return;
        }
        let status = match kind {
            ABORT | ABORT_LATER => {
                if kind == ABORT_LATER {
                    std::thread::sleep(GRACE);
                }
                text.retain(|&byte| byte != 0);
                let text = CString::new(text).unwrap_or_default();
                library.abort_job(c_int::from_ne_bytes([a, b, c, d]), &text)
            }
            _ => library.finish(),
        };
        if kind == ABORT_LATER {
            continue;
        }
        if requests.write_all(&status.to_ne_bytes()).is_err() {
            return;
        }
    }
}
