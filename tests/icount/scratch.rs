//! A folder for the files of one run, removed at its end.

use std::fs;
use std::path::PathBuf;

/// The folder.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Makes the folder among the temporary files.
    pub(crate) fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("farreach-icount-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }

    /// The path of a file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
