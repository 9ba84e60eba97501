//! Finds leftovers of a group on the machine: files in /dev/shm, temporary files of ours,
//! processes.

use crate::procfs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files of other programs come and go: a file that is there for longer than this is a leftover.
const PATIENCE: Duration = Duration::from_secs(3);

/// Paths of files.
pub(crate) type Files = BTreeSet<PathBuf>;

/// The files in the watched folders at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot(Files);

impl Snapshot {
    /// Looks now.
    pub(crate) fn take() -> Self {
        let mut found = shared_memory();
        found.extend(entries(&std::env::temp_dir(), is_ours));
        found.extend(entries(Path::new("/tmp"), is_ours));
        Self(found)
    }

    /// Returns the files that are there now and were not when this snapshot was taken, and the
    /// processes below this one: a line each.
    pub(crate) fn left_since(&self) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = Self::take();
            let files = now
                .0
                .difference(&self.0)
                .map(|path| path.display().to_string());
            let processes = procfs::descendants(procfs::own_pid());
            let processes = processes.iter().map(|process| {
                format!(
                    "process {} ({}) {}",
                    process.pid,
                    process.state,
                    process.command()
                )
            });
            let left: Vec<_> = files.chain(processes).collect();
            if left.is_empty() || Instant::now() >= deadline {
                return left;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Returns the files in /dev/shm, without those of Open MPI, which anybody may be running beside
/// the tests.
pub(crate) fn shared_memory() -> Files {
    entries(Path::new("/dev/shm"), |name| {
        !name.starts_with("vader_segment.")
    })
}

/// Returns the entries of a folder whose names are wanted; none if there is no such folder.
pub(crate) fn entries(dir: &Path, wanted: fn(&str) -> bool) -> Files {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter(|entry| wanted(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect()
}

/// Returns whether a temporary file has a name as ours have. If that holds the number of a living
/// process, it is that process's: nothing that a finished case has started lives.
fn is_ours(name: &str) -> bool {
    let ours = ["farreach", "oshrun", "oshcc", "shmem", "softhca-"]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    let mut numbers = name
        .split(|character: char| !character.is_ascii_digit())
        .filter(|number| !number.is_empty());
    ours && !numbers.any(|number| Path::new("/proc").join(number).exists())
}
