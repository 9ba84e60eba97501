//! Runs `endpoints` on the software device, and reads the files that it leaves.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory that is removed when the test is over.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("endpoints-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.0.join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs `endpoints` with these words under `softhca run` with these options; returns its output.
pub(crate) fn endpoints(options: &[&str], words: &[&str]) -> String {
    let mut command = under_softhca(options);
    command.arg(program()).args(words);
    finish(command)
}

pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_endpoints")
}

/// Returns `softhca run` with these options; the program is to be added.
pub(crate) fn under_softhca(options: &[&str]) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["-k", "5", "150"])
        .arg(softhca_again::softhca())
        .arg("run")
        .args(options)
        .arg("--");
    command
}

pub(crate) fn finish(mut command: Command) -> String {
    let output = command
        .stdin(Stdio::null())
        .output()
        .expect("timeout starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{text}\n{errors}",
        output.status
    );
    text
}
