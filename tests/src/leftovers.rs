//! What a group must not leave on the machine: files in /dev/shm, temporary files of ours, processes.

use crate::procfs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files of other programs come and go: what is there for longer than this is a leftover.
const PATIENCE: Duration = Duration::from_secs(3);

/// What lies in the watched folders at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot(BTreeSet<PathBuf>);

impl Snapshot {
    /// Looks now.
    pub(crate) fn take() -> Self {
        let mut found = BTreeSet::new();
        add(&mut found, Path::new("/dev/shm"), |_| true);
        add(&mut found, &std::env::temp_dir(), is_ours);
        add(&mut found, Path::new("/tmp"), is_ours);
        Self(found)
    }

    /// What is there now and was not when this snapshot was taken, and the processes below this one: a line each.
    pub(crate) fn left_since(&self) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = Self::take();
            let files = now.0.difference(&self.0).map(|path| path.display().to_string());
            let processes = procfs::descendants(procfs::own_pid());
            let processes = processes
                .iter()
                .map(|process| format!("process {} ({}) {}", process.pid, process.state, process.command()));
            let left: Vec<_> = files.chain(processes).collect();
            if left.is_empty() || Instant::now() >= deadline {
                return left;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

fn is_ours(name: &str) -> bool {
    ["farreach", "oshrun", "oshcc", "shmem"].iter().any(|prefix| name.starts_with(prefix))
}

fn add(found: &mut BTreeSet<PathBuf>, dir: &Path, wanted: fn(&str) -> bool) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if wanted(&entry.file_name().to_string_lossy()) {
            found.insert(entry.path());
        }
    }
}
