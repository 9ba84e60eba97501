//! Programs under `softhca run`, with all that they leave behind.

use crate::support::{finish, softhca, text};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Compiles C files of this directory into a program.
pub(crate) fn compile(name: &str, files: &[&str]) -> PathBuf {
    let directory = softhca()
        .with_file_name("softhca-tests")
        .join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory for the program");
    let program = directory.join(name);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/robust");
    let output = Command::new("cc")
        .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .args(files.iter().map(|file| sources.join(file)))
        .args(["-libverbs", "-lmlx5", "-ldl"])
        .output()
        .expect("cc runs");
    assert!(
        output.status.success(),
        "{name} does not build (it needs cc and libibverbs-dev): {}",
        text(&output)
    );
    program
}

/// A directory for the temporary files of one run: in the end it must be empty, and no process may be left.
pub(crate) struct Run {
    scratch: PathBuf,
    patience: Duration,
}

impl Run {
    pub(crate) fn new(name: &str, patience: Duration) -> Self {
        Self::within(Path::new("/tmp"), name, patience)
    }

    /// Makes a run with the directory in `parent`.
    pub(crate) fn within(parent: &Path, name: &str, patience: Duration) -> Self {
        let scratch = parent.join(format!("softhca-robust-{name}-{}", std::process::id()));
        fs::create_dir_all(&scratch).expect("a scratch directory");
        Self { scratch, patience }
    }

    /// Runs a command line under the device; its processes must be gone when it has ended.
    pub(crate) fn of(&self, program: &Path, arguments: &[&str]) -> Output {
        self.prepared(Command::new(softhca()), program, arguments)
    }

    /// Runs a command line likewise, by a command that runs `softhca`.
    pub(crate) fn prepared(
        &self,
        mut command: Command,
        program: &Path,
        arguments: &[&str],
    ) -> Output {
        let child = command
            .args(["run", "--"])
            .arg(program)
            .args(arguments)
            .env("TMPDIR", &self.scratch)
            .env_remove("XDG_RUNTIME_DIR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("softhca starts");
        let group = child.id();
        let output = finish(child, self.patience);
        // Those that end with their parents take a moment.
        let end = Instant::now() + Duration::from_secs(5);
        while !members(group).is_empty() {
            let left = members(group);
            assert!(Instant::now() < end, "processes are left: {left:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
        let left: Vec<_> = fs::read_dir(&self.scratch)
            .expect("the scratch directory")
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert!(left.is_empty(), "left behind: {left:?}");
        output
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Nothing to be done about it where it cannot be removed.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// Returns the processes of a group that are not zombies.
fn members(group: u32) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let status = processes.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    status
        .filter(|line| {
            // Behind the name: the state, the parent, the group.
            let fields: Vec<&str> = line
                .rsplit_once(')')
                .map_or("", |(_, rest)| rest)
                .split_whitespace()
                .collect();
            fields.first() != Some(&"Z") && fields.get(2) == Some(&group.to_string().as_str())
        })
        .collect()
}
