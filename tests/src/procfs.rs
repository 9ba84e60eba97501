//! Reads the state of processes from /proc.

use crate::sys::Pid;
use std::collections::HashMap;
use std::fs;

/// One process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its id.
    pub(crate) pid: Pid,
    /// Its parent's id.
    pub(crate) parent: Pid,
    /// Its state: `R`, `S`, `D`, `T`, `Z` …
    pub(crate) state: char,
}

impl Process {
    /// Reads the entry of `pid`, or `None` if there is no such process.
    pub(crate) fn read(pid: Pid) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may hold blanks and parentheses itself.
        let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
        Some(Self {
            pid,
            state: fields.next()?.chars().next()?,
            parent: fields.next()?.parse().ok()?,
        })
    }

    /// Returns whether it has ended and only waits for its parent to notice.
    pub(crate) fn is_zombie(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    /// Returns its command line, for people to read.
    pub(crate) fn command(&self) -> String {
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        let words: Vec<_> = line
            .split(|&byte| byte == 0)
            .filter(|word| !word.is_empty())
            .map(String::from_utf8_lossy)
            .collect();
        if words.is_empty() {
            fs::read_to_string(format!("/proc/{}/comm", self.pid))
                .map_or_else(|_| "?".to_owned(), |name| format!("[{}]", name.trim()))
        } else {
            words.join(" ")
        }
    }
}

/// Returns all processes below `root`, children of children included, parents before their
/// children.
pub(crate) fn descendants(root: Pid) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut children: HashMap<Pid, Vec<Process>> = HashMap::new();
    let pids = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for process in pids.filter_map(Process::read) {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found: Vec<Process> = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(process) = found.get(next) {
        let below = children.remove(&process.pid).unwrap_or_default();
        found.extend(below);
        next += 1;
    }
    found
}

/// Returns this process's own id.
pub(crate) fn own_pid() -> Pid {
    Pid::try_from(std::process::id()).unwrap_or(Pid::MAX)
}
