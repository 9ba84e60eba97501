//! Starts one PE of a job under callgrind.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Runs in place of the program on every PE. The counted PE goes on under valgrind, the others as
/// they are. The variables are those of PMI-1's launchers, of PMIx's, of Open MPI's and of Slurm.
const WRAPPER: &str = r#"[ "${PMI_RANK:-${PMIX_RANK:-${OMPI_COMM_WORLD_RANK:-${SLURM_PROCID:-0}}}}" = @PE@ ] || exec "$@"
exec valgrind --quiet --tool=callgrind --callgrind-out-file='@OUT@' @OPTIONS@ "$@"
"#;

/// A job of which one PE is counted, or a program that is PE 0 of none.
#[derive(Debug)]
pub struct Job<'a> {
    /// The launcher and its arguments.
    pub launcher: &'a [OsString],
    /// Variables of the job.
    pub environment: &'a [(&'a str, &'a str)],
    /// The PE that is counted.
    pub pe: u32,
    /// callgrind's options, for a shell.
    pub options: &'a str,
    /// The program and its arguments.
    pub program: &'a [OsString],
}

/// The profiles of a run, in a folder that goes with this value.
#[derive(Debug)]
pub struct Profiles(TempDir);

impl Profiles {
    /// Makes the folder among the temporary files.
    ///
    /// # Errors
    ///
    /// Fails where no folder can be made.
    pub fn new() -> Result<Self, String> {
        let made = tempfile::Builder::new()
            .prefix("farreach-icount-")
            .tempdir();
        made.map(Self)
            .map_err(|error| format!("a temporary folder: {error}"))
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the profile of the instructions up to the end.
    ///
    /// # Errors
    ///
    /// Fails where callgrind has written none.
    pub fn whole(&self) -> Result<String, String> {
        read(&self.file(OUT))
    }

    /// Returns the profiles that were written before the end (`--dump-after`), in their order.
    ///
    /// # Errors
    ///
    /// Fails on a file that cannot be read.
    pub fn parts(&self) -> Result<Vec<String>, String> {
        let mut parts = Vec::new();
        loop {
            let path = self.file(&format!("{OUT}.{}", parts.len() + 1));
            if !path.exists() {
                return Ok(parts);
            }
            parts.push(read(&path)?);
        }
    }
}

/// The file that callgrind writes at the end.
const OUT: &str = "callgrind.out";

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs the job; callgrind's files go into `profiles`. Errors of the program go to standard error;
/// its output is returned when it is `captured`, and goes to standard output otherwise.
///
/// # Errors
///
/// Fails where the launcher cannot be started or its status is not 0.
pub fn run(job: &Job<'_>, profiles: &Profiles, captured: bool) -> Result<Output, String> {
    let wrapper = profiles.file("wrapper");
    let out = profiles.file(OUT).display().to_string();
    if out.contains('\'') {
        return Err(format!(
            "the name of the temporary folder, {out}, contains an apostrophe"
        ));
    }
    let text = WRAPPER
        .replace("@PE@", &job.pe.to_string())
        .replace("@OUT@", &out)
        .replace("@OPTIONS@", job.options);
    fs::write(&wrapper, text).map_err(|error| format!("{}: {error}", wrapper.display()))?;
    let (launcher, arguments) = job.launcher.split_first().ok_or("no launcher")?;
    let mut command = Command::new(launcher);
    command
        .args(arguments)
        .arg("/bin/sh")
        .arg(&wrapper)
        .args(job.program);
    // Every symbol is resolved before the program starts: no first call is dearer than the others.
    command
        .env("LD_BIND_NOW", "1")
        .envs(job.environment.iter().copied())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    command.stdout(if captured {
        Stdio::piped()
    } else {
        Stdio::inherit()
    });
    let output = command
        .output()
        .map_err(|error| format!("{}: {error}", launcher.display()))?;
    if output.status.success() {
        Ok(output)
    } else {
        Err(format!("{}: {}", launcher.display(), output.status))
    }
}
