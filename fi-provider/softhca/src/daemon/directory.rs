//! The fabric's directory: the device's files and the socket. It goes when its owner goes.

use super::{sys, sysfs};
use std::fs::{self, DirBuilder};
use std::io::{ErrorKind, Result};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{env, process};

/// How directories are named: this, the number of the owning process, and a count.
const PREFIX: &str = "softhca-";

/// The longest name, in bytes, of the directory that ours may be made in: programs keep the paths of a device's files
/// in buffers that are made for those of `/sys`.
const LONGEST_BASE: usize = 100;

/// A directory that is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    /// Makes the directory, with the device's files in it, and removes those that processes which were killed left behind.
    pub(crate) fn create(lid: u16) -> Result<Self> {
        let base = env::var_os("XDG_RUNTIME_DIR").map_or_else(env::temp_dir, PathBuf::from);
        let base = if base.is_dir() { base } else { env::temp_dir() };
        let base = if base.as_os_str().len() <= LONGEST_BASE {
            base
        } else {
            PathBuf::from("/tmp")
        };
        remove_abandoned(&base);
        let directory = Self { path: make(&base)? };
        sysfs::write(&directory.path, lid)?;
        Ok(directory)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next run.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn make(base: &Path) -> Result<PathBuf> {
    let mut count = 0;
    loop {
        let path = base.join(format!("{PREFIX}{}-{count}", process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && count < 1000 => count += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Removes this user's directories whose owners are gone.
fn remove_abandoned(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|rest| rest.split_once('-'))
            .and_then(|(owner, _)| owner.parse::<u32>().ok());
        let Some(owner) = owner else {
            continue;
        };
        let ours = fs::symlink_metadata(entry.path())
            .is_ok_and(|status| status.is_dir() && status.uid() == sys::user());
        if ours && !sys::is_alive(owner) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
