//! Errors: at the start ([`Error`]), and of an operation ([`Failure`]).

use crate::library::Library;
use std::ffi::c_int;
use std::fmt::{self, Display};

/// Reason why libfabric, or one of its objects, cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library is not there.
    #[error("{library} cannot be loaded (Debian: libfabric1): {reason}")]
    NotLoaded {
        /// The file that was looked for.
        library: String,
        /// The dynamic loader's words.
        reason: String,
    },
    /// The library lacks a function.
    #[error("{library} has no {symbol}")]
    NoSymbol {
        /// The file.
        library: String,
        /// The function.
        symbol: &'static str,
    },
    /// No provider of the name that is asked for has messages and RMA between RDM endpoints.
    #[error(
        "no provider {0:?} has messages and RMA between RDM endpoints (FARREACH_LIBFABRIC_PROVIDER)"
    )]
    NoSuchProvider(String),
    /// No provider has the capabilities that are needed.
    #[error("no provider of libfabric will do{}", listed(.seen))]
    NoProvider {
        /// The providers that were seen, and why none of them will do.
        seen: Vec<String>,
    },
    /// A call failed.
    #[error("{provider}: {call}: {}", reason(*.errno))]
    Call {
        /// The provider.
        provider: String,
        /// The C function.
        call: &'static str,
        /// The positive error number.
        errno: i32,
    },
    /// A peer's address makes no sense.
    #[error("the address that peer {0} told of its endpoint makes no sense")]
    Garbled(usize),
    /// A peer goes by another provider.
    #[error("peer {peer} goes by the provider {theirs}, and this process by {own}")]
    OtherProvider {
        /// The peer.
        peer: usize,
        /// The peer's provider.
        theirs: String,
        /// The provider of this process.
        own: String,
    },
    /// The system has no random bytes for a key, no descriptor or no thread.
    #[error("{what}: {source}")]
    System {
        /// The call.
        what: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
}

/// Reason why an operation failed: the numbers of its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The positive error number (fi_errno(3)).
    pub errno: i32,
    /// The operation, in a word.
    pub operation: &'static str,
}

impl Failure {
    /// Returns whether it means that the peer, or the way to it, is gone.
    pub fn is_unreachable(&self) -> bool {
        matches!(
            self.errno,
            libc::ECONNREFUSED
                | libc::ECONNRESET
                | libc::ECONNABORTED
                | libc::ENOTCONN
                | libc::EHOSTUNREACH
                | libc::ENETUNREACH
                | libc::EHOSTDOWN
                | libc::ETIMEDOUT
                | libc::ESHUTDOWN
                | libc::EPIPE
        )
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.operation, reason(self.errno))
    }
}

/// Returns the words of libfabric for an error number.
pub(crate) fn reason(errno: i32) -> String {
    match Library::get() {
        Ok(library) => library.words(errno as c_int),
        Err(_) => std::io::Error::from_raw_os_error(errno).to_string(),
    }
}

/// Returns `: a; b`, or nothing.
fn listed(seen: &[String]) -> String {
    match seen {
        [] => " (it lists none)".to_owned(),
        _ => format!(": {}", seen.join("; ")),
    }
}
