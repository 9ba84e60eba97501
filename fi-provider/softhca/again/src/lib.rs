//! Tests as programs of the software device.
//!
//! A process has the device only from its start. So a test that needs it is its test program again, under `softhca run`, asked
//! for that test alone; [`Again::run`] starts that and looks at how it ends. Debian's package `ibverbs-providers` has to be there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Set in a program that runs under the device.
pub const UNDER: &str = "FARREACH_TEST_UNDER_SOFTHCA";

/// Names the command `softhca`, for programs that are not to build it.
pub const BUILT: &str = "FARREACH_TEST_SOFTHCA";

/// Returns whether this program runs under the device.
#[must_use]
pub fn is_under() -> bool {
    std::env::var_os(UNDER).is_some()
}

/// Options with which a test is run again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Again<'a> {
    /// Options of `softhca run`.
    pub options: &'a [&'a str],
    /// Variables of the program.
    pub environment: &'a [(&'a str, &'a str)],
    /// Seconds after which it is ended; 0 stands for a minute.
    pub seconds: u32,
}

impl Again<'_> {
    /// Runs `body` of `test`, which is the test's full name: here, where this program is under the device, and otherwise
    /// in this program again.
    ///
    /// # Panics
    /// When the test fails there.
    pub fn body(&self, test: &str, body: impl FnOnce()) {
        if is_under() {
            body();
        } else {
            self.run(test);
        }
    }

    /// Runs `test`, which is the test's full name, in this program again, under the device.
    ///
    /// # Panics
    /// When it fails there.
    pub fn run(&self, test: &str) {
        let seconds = if self.seconds == 0 { 60 } else { self.seconds };
        let output = Command::new("timeout")
            .args(["-k", "5", &seconds.to_string()])
            .arg(softhca())
            .arg("run")
            .args(self.options)
            .arg("--")
            .arg(this_program())
            .args([test, "--exact", "--nocapture"])
            .envs(self.environment.iter().copied())
            .env(UNDER, "yes")
            .stdin(Stdio::null())
            .output()
            .expect("timeout starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let done = output.status.success() && text.contains("1 passed");
        assert!(
            done,
            "{test} {:?}: {}\n{text}\n{errors}",
            self.options, output.status
        );
    }
}

fn this_program() -> PathBuf {
    std::env::current_exe().expect("this program")
}

/// Returns the command `softhca`: the one that [`BUILT`] names, or else the one of this program's
/// profile, built once a process, with its shim.
///
/// # Panics
/// When it does not build.
pub fn softhca() -> &'static Path {
    static COMMAND: OnceLock<PathBuf> = OnceLock::new();
    COMMAND.get_or_init(|| {
        if let Some(built) = std::env::var_os(BUILT) {
            return built.into();
        }
        let program = this_program();
        // It is in `deps`, one below.
        let profile = program.parent().and_then(Path::parent);
        let profile = profile.expect("a target directory");
        let name = match profile.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--profile", name])
            .args(["--package", "softhca", "--package", "softhca-shim"])
            .arg("--target-dir")
            .arg(profile.parent().expect("a target directory"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdin(Stdio::null())
            .status();
        assert!(
            status.expect("cargo runs").success(),
            "softhca does not build"
        );
        profile.join("softhca")
    })
}
