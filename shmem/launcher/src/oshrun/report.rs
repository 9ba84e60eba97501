//! oshrun's own lines on stderr: one a failure.

use fi_bootstrap::server::{Departure, Fault};

use super::Failure;

/// Prints one line.
pub(super) fn line(text: &str) {
    use std::io::Write;
    // One write for the whole line, so that it is not cut by output of PEs; nobody may be
    // listening.
    let _ = std::io::stderr().write_all(format!("oshrun: {text}\n").as_bytes());
}

/// Prints a failure, if it has words, and yields its status.
pub(super) fn failure(failure: &Failure) -> i32 {
    if !failure.message.is_empty() {
        line(&failure.message);
    }
    failure.status
}

/// Returns the failure of a job that a signal has ended before it began.
pub(super) fn interrupted(signal: i32, meanwhile: &str) -> Failure {
    let name = signal_name(signal);
    let message = format!("{name} came while {meanwhile}; no PE was started");
    Failure::new(128 + signal, message)
}

/// Returns `PE 3`, or `PE 3 on host b`.
pub(super) fn pe(rank: usize, host: Option<&str>) -> String {
    match host {
        Some(host) => format!("PE {rank} on host {host}"),
        None => format!("PE {rank}"),
    }
}

/// Returns a fault in words. `pid` is the process of a PE that was killed, `out_of_memory` whether
/// its kernel has killed for lack of memory since the job began; `host` names a PE's host, where
/// that is not this one.
pub(super) fn fault<'a>(
    fault: &Fault,
    pid: i32,
    out_of_memory: bool,
    host: impl Fn(usize) -> Option<&'a str>,
) -> String {
    let ending = |others: bool| if others { "; ending the job" } else { "" };
    let pe = |rank: usize| pe(rank, host(rank));
    match fault {
        Fault::Killed {
            rank,
            signal,
            others,
        } => {
            let hint = if *signal == libc::SIGKILL && out_of_memory {
                ", as it seems by the kernel for lack of memory"
            } else {
                ""
            };
            format!(
                "{} (pid {pid}) was killed by {}{hint}{}",
                pe(*rank),
                signal_name(*signal),
                ending(*others)
            )
        }
        Fault::LeftEarly {
            rank,
            status,
            others,
        } => {
            let company = if *others {
                " while others were still running; ending the job"
            } else {
                ""
            };
            let how = format!("exited with status {status} before shmem_finalize or gasnet_exit");
            format!("{} {how}{company}", pe(*rank))
        }
        Fault::Awaited {
            rank,
            departure,
            finalized,
        } => {
            let when = if *finalized {
                "after shmem_finalize or gasnet_exit"
            } else {
                "without calling shmem_init or gasnet_init"
            };
            let how = match departure {
                Departure::Exited(status) => format!("exited with status {status}"),
                Departure::Killed(signal) => format!("was killed by {}", signal_name(*signal)),
            };
            let pe = pe(*rank);
            format!("{pe} {how} {when} while others wait for it; ending the job")
        }
        Fault::Garbage { rank, what } => {
            let pe = pe(*rank);
            format!("{pe} broke the protocol of PMI-1: {what}; ending the job")
        }
        other => format!("{other:?}; ending the job"),
    }
}

/// Returns `signal 9 (SIGKILL)`.
pub(super) fn signal_name(signal: i32) -> String {
    const NAMES: &[(i32, &str)] = &[
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGXCPU, "SIGXCPU"),
        (libc::SIGXFSZ, "SIGXFSZ"),
        (libc::SIGSYS, "SIGSYS"),
    ];
    match NAMES.iter().find(|(number, _)| *number == signal) {
        Some((_, name)) => format!("signal {signal} ({name})"),
        None => format!("signal {signal}"),
    }
}

/// Returns how often the kernel has killed for lack of memory since the machine started; 0 where it
/// does not tell.
pub(super) fn out_of_memory_kills() -> u64 {
    let statistics = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    statistics
        .lines()
        .find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_in_words() {
        let none = |_: usize| None;
        let killed = Fault::Killed {
            rank: 2,
            signal: 9,
            others: true,
        };
        assert_eq!(
            fault(&killed, 123, false, none),
            "PE 2 (pid 123) was killed by signal 9 (SIGKILL); ending the job"
        );
        assert_eq!(
            fault(&killed, 123, false, |rank| (rank == 2).then_some("b")),
            "PE 2 on host b (pid 123) was killed by signal 9 (SIGKILL); ending the job"
        );
        assert!(fault(&killed, 123, true, none).contains("lack of memory"));
        let early = |others| Fault::LeftEarly {
            rank: 1,
            status: 0,
            others,
        };
        assert_eq!(
            fault(&early(true), 0, false, none),
            "PE 1 exited with status 0 before shmem_finalize or gasnet_exit \
             while others were still running; ending the job"
        );
        assert_eq!(
            fault(&early(false), 0, false, none),
            "PE 1 exited with status 0 before shmem_finalize or gasnet_exit"
        );
        let awaited = Fault::Awaited {
            rank: 0,
            departure: Departure::Exited(0),
            finalized: false,
        };
        assert_eq!(
            fault(&awaited, 0, false, none),
            "PE 0 exited with status 0 without calling shmem_init or gasnet_init \
             while others wait for it; ending the job"
        );
        assert_eq!(signal_name(64), "signal 64");
    }
}
