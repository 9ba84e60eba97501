//! The places of the project and of its build products.

use std::path::{Path, PathBuf};

/// The project's root and cargo's target directory.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The project's root.
    pub(crate) root: PathBuf,
    /// Cargo's target directory.
    pub(crate) target: PathBuf,
}

impl Place {
    /// Returns the root that this program was built from, and the target directory that cargo has
    /// built it into.
    ///
    /// # Errors
    ///
    /// A sentence, if the program was moved.
    pub(crate) fn find() -> Result<Self, String> {
        let own = own_program()?;
        match (
            Path::new(env!("CARGO_MANIFEST_DIR")).parent(),
            own.ancestors().nth(2),
        ) {
            (Some(root), Some(target)) if root.join("tests/run").exists() => Ok(Self {
                root: root.to_owned(),
                target: target.to_owned(),
            }),
            _ => Err(format!(
                "{} is not where tests/run has built it",
                own.display()
            )),
        }
    }

    /// Returns a file of the staged installation.
    pub(crate) fn staged(&self, path: &str) -> PathBuf {
        self.target.join("farreach").join(path)
    }
}

/// Returns the path of the running program, which starts itself again to supervise and for the
/// cases that are written in Rust.
///
/// # Errors
///
/// A sentence, if the system does not tell.
pub(crate) fn own_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("/proc/self/exe: {error}"))
}
