//! The fabric's directory: the device's files and the socket. It goes when its owner goes.
//!
//! Processes of other PID namespaces may use the same folder for temporary files, so that the
//! number in a directory's name says nothing of its owner. The owner holds a lock on a file in the
//! directory as long as it lives.

use super::{sys, sysfs};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, process};

/// Prefix of directories' names, before the number of the owning process and a count.
const PREFIX: &str = "softhca-";

/// The longest name, in bytes, of the directory that ours may be made in: programs keep the paths
/// of a device's files in buffers that are made for those of `/sys`.
const LONGEST_BASE: usize = 100;

/// The file whose lock the owner holds. It is empty until the owner has the lock.
const LOCK: &str = "lock";

/// Protects, for so long, a directory that its owner has not locked: it may be about to, or be of a
/// version without locks.
const UNLOCKED_FOR: Duration = Duration::from_hours(24);

/// A directory that is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    _lock: File,
}

impl Directory {
    /// Makes the directory, with the device's files in it, and removes those that processes which
    /// were killed left behind.
    pub(crate) fn create(lid: u16) -> Result<Self> {
        let base = env::var_os("XDG_RUNTIME_DIR").map_or_else(env::temp_dir, PathBuf::from);
        let base = if base.is_dir() { base } else { env::temp_dir() };
        let base = if base.as_os_str().len() <= LONGEST_BASE {
            base
        } else {
            PathBuf::from("/tmp")
        };
        remove_abandoned(&base);
        let path = make(&base)?;
        let lock = lock(&path).inspect_err(|_| drop(fs::remove_dir_all(&path)))?;
        let directory = Self { path, _lock: lock };
        sysfs::write(&directory.path, lid)?;
        Ok(directory)
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // A file that cannot be removed now, as for want of descriptors, is removed by the next
        // run: the lock tells that one, and goes last.
        let lock = self.path.join(LOCK);
        let mut others = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let is_removed = |path: PathBuf| {
            path == lock || fs::remove_file(&path).is_ok() || fs::remove_dir_all(&path).is_ok()
        };
        if others.all(|entry| is_removed(entry.path())) {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn make(base: &Path) -> Result<PathBuf> {
    let mut count = 0;
    loop {
        let path = base.join(format!("{PREFIX}{}-{count}", process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && count < 1000 => count += 1,
            Err(error) => return Err(named(base, &error)),
        }
    }
}

/// Locks a new directory of this process.
fn lock(directory: &Path) -> Result<File> {
    let options = OpenOptions::new().write(true).create_new(true).to_owned();
    let mut file = options.open(directory.join(LOCK))?;
    // Where locks are not supported others cannot lock either, and leave the directory alone.
    if file.lock().is_ok() {
        writeln!(file, "{}", process::id())?;
    }
    Ok(file)
}

/// Makes an error about a directory in `base`, with its name and that of the variable that it comes
/// from.
fn named(base: &Path, error: &Error) -> Error {
    let is_from = |name: &&str| env::var_os(name).is_some_and(|value| Path::new(&value) == base);
    let variable = ["XDG_RUNTIME_DIR", "TMPDIR"].into_iter().find(is_from);
    let variable = variable.map_or(String::new(), |name| format!(" ({name})"));
    let text = format!(
        "cannot make a directory in {}{variable}: {error}",
        base.display()
    );
    Error::new(error.kind(), text)
}

/// Removes this user's directories whose owners are gone.
fn remove_abandoned(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let named = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|rest| rest.split_once('-'))
            .is_some_and(|(owner, _)| owner.parse::<u32>().is_ok());
        let Ok(status) = entry.path().symlink_metadata() else {
            continue;
        };
        let ours = named && status.is_dir() && status.uid() == sys::user();
        if ours && let Some(_lock) = lock_of_abandoned(&entry.path(), &status) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Locks a directory that its owner has left; `Some(None)` if it has no lock. Returns `None` if an
/// owner may live.
fn lock_of_abandoned(directory: &Path, status: &Metadata) -> Option<Option<File>> {
    let age = status.modified().ok()?.elapsed().unwrap_or_default();
    let old = age > UNLOCKED_FOR;
    match OpenOptions::new().write(true).open(directory.join(LOCK)) {
        Ok(file) => {
            let was_locked = file.metadata().ok()?.len() > 0;
            let abandoned = (was_locked || old) && file.try_lock().is_ok();
            abandoned.then_some(Some(file))
        }
        Err(error) => (old && error.kind() == ErrorKind::NotFound).then_some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    /// A number that no process has.
    const NOBODY: u32 = i32::MAX.cast_unsigned();

    /// Makes a directory as of a process that is gone; `lock` is the content of its lock's file.
    fn left(base: &Path, count: u32, lock: Option<&str>, age: Duration) -> PathBuf {
        let path = base.join(format!("{PREFIX}{NOBODY}-{count}"));
        fs::create_dir(&path).unwrap();
        if let Some(content) = lock {
            fs::write(path.join(LOCK), content).unwrap();
        }
        let modified = SystemTime::now() - age;
        let opened = File::open(&path).unwrap();
        opened.set_modified(modified).unwrap();
        path
    }

    #[test]
    fn a_lock_and_an_age_tell_which_directories_are_abandoned() {
        let base = env::temp_dir().join(format!("farreach-test-directory-{}", process::id()));
        fs::create_dir(&base).unwrap();
        let old = UNLOCKED_FOR + Duration::from_mins(1);
        let young = UNLOCKED_FOR - Duration::from_mins(1);
        let held = left(&base, 0, Some("1\n"), old);
        let lock = File::open(held.join(LOCK)).unwrap();
        lock.try_lock().unwrap();
        let stay = [
            left(&base, 1, None, young),
            left(&base, 2, Some(""), young),
            held,
        ];
        let go = [
            left(&base, 3, Some("1\n"), Duration::ZERO),
            left(&base, 4, Some(""), old),
            left(&base, 5, None, old),
        ];
        remove_abandoned(&base);
        assert!(stay.iter().all(|path| path.is_dir()), "{stay:?}");
        assert!(!go.iter().any(|path| path.exists()), "{go:?}");
        drop(lock);
        remove_abandoned(&base);
        assert!(!stay[2].exists(), "its owner is gone");
        fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn the_owner_of_a_directory_keeps_it_by_its_lock() {
        let base = env::temp_dir().join(format!("farreach-test-owner-{}", process::id()));
        fs::create_dir(&base).unwrap();
        let path = base.join(format!("{PREFIX}{NOBODY}-0"));
        fs::create_dir(&path).unwrap();
        let owned = lock(&path).unwrap();
        remove_abandoned(&base);
        assert!(path.is_dir());
        drop(owned);
        remove_abandoned(&base);
        assert!(!path.exists());
        fs::remove_dir(&base).unwrap();
    }
}
