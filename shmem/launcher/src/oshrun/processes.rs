//! All that descends from oshrun: found in /proc, killed, reaped.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::sys;

/// Time to go on killing processes that do not end: one in an uninterruptible wait outlives even
/// SIGKILL.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns every process below this one, as far as /proc tells.
pub(super) fn descendants() -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in entries.flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let stat = std::fs::read(entry.path().join("stat")).unwrap_or_default();
        if let Some(parent) = parent_of(&stat) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![std::process::id().cast_signed()];
    while let Some(parent) = next.pop() {
        // Removed, so that numbers reused while /proc was read cannot make a circle.
        for pid in children.remove(&parent).unwrap_or_default() {
            found.push(pid);
            next.push(pid);
        }
    }
    found
}

/// Returns whether this process runs below the process `pid`, as far as /proc tells.
pub(super) fn descends_from(pid: i32) -> bool {
    let mut at = sys::parent();
    while at > 1 && at != pid {
        let stat = std::fs::read(format!("/proc/{at}/stat")).unwrap_or_default();
        at = parent_of(&stat).unwrap_or(0);
    }
    at == pid && pid > 0
}

/// Returns the parent in a line of /proc/PID/stat, of a process that still runs: the name before it
/// may hold anything.
fn parent_of(stat: &[u8]) -> Option<i32> {
    let after = stat.iter().rposition(|&byte| byte == b')')?;
    let mut words = stat[after + 1..]
        .split(|&byte| byte == b' ')
        .filter(|word| !word.is_empty());
    let _state = words.next()?;
    std::str::from_utf8(words.next()?).ok()?.parse().ok()
}

/// Sends `signal` to every descendant.
pub(super) fn signal_all(signal: i32) {
    for pid in descendants() {
        sys::kill(pid, signal);
    }
}

/// Kills and reaps until nothing descends from this process any more. `also` are children in case /proc does not help.
pub(super) fn end_all(also: &[i32]) {
    let deadline = Instant::now() + PATIENCE;
    for &pid in also {
        sys::kill(pid, libc::SIGKILL);
    }
    while Instant::now() < deadline {
        loop {
            match sys::reap() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        signal_all(libc::SIGKILL);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        assert_eq!(parent_of(b"12 (a) R 5 (b) S 77 12 12"), Some(77));
        assert_eq!(parent_of(b"12 (sh) S 1 12"), Some(1));
        assert_eq!(parent_of(b""), None);
        assert_eq!(parent_of(b"12 (sh) S"), None);
    }
}
