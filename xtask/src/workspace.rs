//! The places of the tree and of its build products, and the way to run programs.

use crate::error::{At, Error, Result};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The profile of the C libraries, and the folder that they are built into.
pub(crate) const LIBRARIES_PROFILE: &str = "clib";

/// The profile of the tools, xtask included, and the folder that they are built into.
pub(crate) const TOOLS_PROFILE: &str = "tools";

/// The workspace.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// Returns the workspace that this program was built from. Its target directory is the one that
    /// cargo built this program into, `CARGO_TARGET_DIR` and cargo's configuration included.
    pub(crate) fn find() -> Result<Self> {
        // As it is when cargo runs this: two clones that share a target directory share the program,
        // and the path at compile time may be the other clone's.
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR");
        let manifest = PathBuf::from(manifest.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()));
        let exe = std::env::current_exe().at(Path::new("/proc/self/exe"))?;
        match (manifest.parent(), exe.ancestors().nth(2)) {
            (Some(root), Some(target)) => Ok(Self {
                root: root.to_owned(),
                target: target.to_owned(),
            }),
            _ => Err(Error::Check(format!(
                "{} is not in a target directory",
                exe.display()
            ))),
        }
    }

    /// Returns a file of the tree.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Returns a file of the target directory.
    pub(crate) fn built(&self, path: &str) -> PathBuf {
        self.target.join(path)
    }

    /// Returns `cargo` for this tree and this target directory, without progress messages.
    pub(crate) fn cargo(&self, command: &str) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .arg(command)
            .arg("--quiet")
            .arg("--manifest-path")
            .arg(self.file("Cargo.toml"));
        cargo
            .arg("--target-dir")
            .arg(&self.target)
            .env_remove("CARGO_BUILD_TARGET");
        cargo
    }

    /// Returns the output of `shmem-headers WHAT`: a text generated from the tables of the C
    /// interface.
    pub(crate) fn generated(&self, what: &str) -> Result<String> {
        let mut cargo = self.cargo("run");
        output(cargo.args([
            "--package",
            "shmem-cabi",
            "--bin",
            "shmem-headers",
            "--",
            what,
        ]))
    }
}

/// Returns the C compiler: `CC`, else `cc`.
pub(crate) fn cc() -> Command {
    Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

/// Runs a command; its messages go to this program's standard error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .map_err(|source| not_started(command, source))?;
    if status.success() {
        Ok(())
    } else {
        Err(failed(command, status))
    }
}

/// Runs a command and returns its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| not_started(command, source))?;
    if !output.status.success() {
        return Err(failed(command, output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

pub(crate) fn not_started(command: &Command, source: std::io::Error) -> Error {
    Error::NotStarted {
        program: name(command.get_program()),
        source,
    }
}

fn failed(command: &Command, status: std::process::ExitStatus) -> Error {
    Error::Failed {
        program: name(command.get_program()),
        status: status.to_string(),
    }
}

fn name(program: &OsStr) -> String {
    program.to_string_lossy().into_owned()
}

/// Returns the text of a file.
pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).at(path)
}

/// Writes a file, and the directories above it.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    make_parent(path)?;
    fs::write(path, text).at(path)
}

/// Makes the directories above a file.
pub(crate) fn make_parent(path: &Path) -> Result<()> {
    match path.parent() {
        Some(parent) => fs::create_dir_all(parent).at(parent),
        None => Ok(()),
    }
}
