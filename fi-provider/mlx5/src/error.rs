//! Why a device or one of its objects could not be set up.

use std::io;

/// Why a device or one of its objects could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A library of rdma-core is not there.
    #[error("{library} is not installed (Debian: libibverbs1, ibverbs-providers)")]
    NotInstalled {
        /// The file that was looked for.
        library: &'static str,
    },
    /// A library of rdma-core is there and cannot be loaded.
    #[error("{library} cannot be loaded: {reason}")]
    NotLoaded {
        /// The file that was looked for.
        library: &'static str,
        /// What the dynamic loader says.
        reason: String,
    },
    /// A library of rdma-core lacks a function.
    #[error("{library} is too old: it does not have {symbol}")]
    TooOld {
        /// The library.
        library: &'static str,
        /// The function.
        symbol: &'static str,
    },
    /// No device can be used.
    #[error("no mlx5 device with an active InfiniBand port{}", listed(.seen))]
    NoDevice {
        /// The devices that were seen, and why none of them will do.
        seen: Vec<String>,
    },
    /// A call failed.
    #[error("{call}: {error}")]
    Call {
        /// The C function.
        call: &'static str,
        /// Its errno.
        error: io::Error,
    },
    /// The library made something else than what was asked for.
    #[error("{call} gave {what}")]
    Unexpected {
        /// The C function.
        call: &'static str,
        /// What it gave.
        what: String,
    },
}

impl Error {
    /// The failure of `call` that errno tells of.
    pub(crate) fn last(call: &'static str) -> Self {
        Self::Call {
            call,
            error: io::Error::last_os_error(),
        }
    }
}

fn listed(seen: &[String]) -> String {
    match seen {
        [] => String::new(),
        seen => format!(" ({})", seen.join("; ")),
    }
}
