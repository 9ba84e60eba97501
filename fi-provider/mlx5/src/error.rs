//! Errors that keep a device or one of its objects from being set up.

#![expect(unsafe_code, reason = "asks for a limit of the process")]

use std::io;

/// Error that kept a device or one of its objects from being set up.
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
        /// Message of the dynamic loader.
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
    /// The kernel did not lock so much memory of this process for the device, which it does for registered memory and queues.
    #[error(
        "{call}: this process may not lock {} for the device (its limit of locked memory: {limit}); what helps is `ulimit -l unlimited` before the job starts, a line \"* - memlock unlimited\" in /etc/security/limits.d, or for a container --ulimit memlock=-1",
        amount(.bytes)
    )]
    Locked {
        /// The C function.
        call: &'static str,
        /// Bytes that were to be locked, where that is known.
        bytes: Option<usize>,
        /// The limit (RLIMIT_MEMLOCK) in words.
        limit: String,
    },
    /// The library made another object than the requested one.
    #[error("{call} gave {what}")]
    Unexpected {
        /// The C function.
        call: &'static str,
        /// Description of the object that it gave.
        what: String,
    },
}

impl Error {
    /// Returns the failure of `call` that errno tells of.
    pub(crate) fn last(call: &'static str) -> Self {
        Self::of(call, io::Error::last_os_error(), None)
    }

    /// Returns the failure of `call`, which would have locked so many bytes, where that is known.
    pub(crate) fn of(call: &'static str, error: io::Error, bytes: Option<usize>) -> Self {
        let limit = locked_limit();
        // Of queues the kernel says the same when the device has no more.
        let by_limit = bytes.is_some() || limit.is_some_and(|limit| limit < USUAL);
        if error.raw_os_error() != Some(libc::ENOMEM) || !by_limit {
            return Self::Call { call, error };
        }
        let limit = limit.map_or_else(|| "none".to_owned(), |limit| format!("{limit} bytes"));
        Self::Locked { call, bytes, limit }
    }
}

/// Bytes below which a limit of locked memory is the likely cause of a refused queue.
const USUAL: u64 = 64 << 20;

/// Returns the bytes of memory that this process may lock; `None` without a limit, or with the
/// right to go beyond.
fn locked_limit() -> Option<u64> {
    if may_lock_all() {
        return None;
    }
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the structure is written where it may be.
    unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) };
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Returns whether no limit of locked memory holds for this process (CAP_IPC_LOCK: capabilities(7),
/// proc(5)).
fn may_lock_all() -> bool {
    const IPC_LOCK: u64 = 1 << 14;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.is_some_and(|set| set & IPC_LOCK != 0)
}

fn amount(bytes: &Option<usize>) -> String {
    match bytes {
        Some(bytes) => format!("{bytes} bytes"),
        None => "more memory".to_owned(),
    }
}

fn listed(seen: &[String]) -> String {
    match seen {
        [] => String::new(),
        seen => format!(" ({})", seen.join("; ")),
    }
}
