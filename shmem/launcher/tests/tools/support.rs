//! Helpers of the tests of the tools: running a tool under a time limit, and looking at the output
//! and processes that it leaves.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// After this time a tool counts as hanging.
const LIMIT: Duration = Duration::from_secs(30);

/// The result of a tool's run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Its exit status, or 128 and the signal.
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) time: Duration,
}

impl Outcome {
    /// Returns the lines of stdout in alphabetical order: PEs write in any.
    pub(crate) fn lines(&self) -> Vec<&str> {
        let mut lines: Vec<_> = self.stdout.lines().collect();
        lines.sort_unstable();
        lines
    }

    /// Asserts the status and that stderr is one line of oshrun's which holds all of `parts`.
    #[track_caller]
    pub(crate) fn assert_one_line(&self, status: i32, parts: &[&str]) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(self.stderr.starts_with("oshrun: "), "{self:?}");
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} in {self:?}");
        }
    }
}

/// A tool that runs; killed when dropped.
pub(crate) struct Running {
    child: Child,
    start: Instant,
}

impl Running {
    /// Starts `command` with its output captured and no input unless it was given one.
    pub(crate) fn start(command: &mut Command) -> Self {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the tool starts");
        Running {
            child,
            start: Instant::now(),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Reads the next `count` lines of stdout as numbers.
    pub(crate) fn numbers(&mut self, count: usize) -> Vec<u32> {
        let lines = self.lines(count);
        let numbers = lines.iter().map(|line| line.parse().expect("a number"));
        numbers.collect()
    }

    /// Reads the next `count` lines of stdout.
    pub(crate) fn lines(&mut self, count: usize) -> Vec<String> {
        let stdout = self.child.stdout.as_mut().expect("captured");
        let mut text = String::new();
        let mut byte = [0];
        while text.matches('\n').count() < count
            && stdout.read(&mut byte).is_ok_and(|count| count == 1)
        {
            text.push(char::from(byte[0]));
        }
        text.lines().map(str::to_owned).collect()
    }

    /// Waits for the end.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Outcome {
        use std::os::unix::process::ExitStatusExt;
        let mut outputs = [String::new(), String::new()];
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let status = std::thread::scope(|scope| {
            let [out, err] = &mut outputs;
            scope.spawn(move || stdout.expect("captured").read_to_string(out).expect("text"));
            scope.spawn(move || stderr.expect("captured").read_to_string(err).expect("text"));
            wait_until(|| self.child.try_wait().expect("a child").is_some());
            let status = self.child.try_wait().expect("a child");
            if status.is_none() {
                let _ = self.child.kill();
            }
            status
        });
        let time = self.start.elapsed();
        let [stdout, stderr] = outputs;
        let status = status.unwrap_or_else(|| panic!("the tool hangs: {stdout} {stderr}"));
        let status = status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        Outcome {
            status,
            stdout,
            stderr,
            time,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `condition` holds, but not for ever; yields whether it does.
pub(crate) fn wait_until(condition: impl FnMut() -> bool) -> bool {
    wait_at_most(LIMIT, condition)
}

/// Waits until `condition` holds or the time has passed; yields whether it does.
pub(crate) fn wait_at_most(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

/// Sends a signal by name to a process.
pub(crate) fn signal(name: &str, pid: u32) {
    let status = Command::new("sh")
        .args(["-c", "kill -$0 $1", name, &pid.to_string()])
        .status();
    assert!(status.expect("a shell").success(), "kill -{name} {pid}");
}

/// Returns the state and the parent of a process, unless it has ended; one that was not reaped yet
/// has ended.
fn look_at(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    let state = words.next()?;
    let parent = words.next()?.parse().ok()?;
    (state != "Z" && state != "X").then_some(parent)
}

/// Returns whether a process is stopped.
pub(crate) fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| rest.starts_with('T'))
}

/// Returns whether a process runs.
pub(crate) fn runs(pid: u32) -> bool {
    look_at(pid).is_some()
}

/// Returns the running children of a process.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&child| look_at(child) == Some(pid))
        .collect()
}

/// A folder that is gone when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("farreach-test-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the number of its entries.
    pub(crate) fn count(&self) -> usize {
        std::fs::read_dir(&self.0).expect("the folder").count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes an installation in `folder` out of the tools just built and a library with one function, `shmem_answer`.
pub(crate) fn install(folder: &Path) {
    for name in ["bin", "include", "lib"] {
        std::fs::create_dir(folder.join(name)).expect("a folder");
    }
    let tools = [
        (env!("CARGO_BIN_EXE_oshrun"), "oshrun"),
        (env!("CARGO_BIN_EXE_oshcc"), "oshcc"),
        (env!("CARGO_BIN_EXE_oshcxx"), "oshc++"),
    ];
    for (built, name) in tools {
        std::fs::copy(built, folder.join("bin").join(name)).expect("a copy");
    }
    let header = "#ifdef __cplusplus\nextern \"C\"\n#endif\nint shmem_answer(void);\n";
    std::fs::write(folder.join("include/shmem.h"), header).expect("a header");
    let source = folder.join("lib/answer.c");
    std::fs::write(&source, "int shmem_answer(void) { return 42; }\n").expect("a source");
    let library = folder.join("lib/libshmem.so");
    run(Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source));
    std::fs::create_dir(folder.join("lib/farreach")).expect("a folder");
    symlink("../libshmem.so", folder.join("lib/farreach/libshmem.so")).expect("a link");
    let object = folder.join("lib/answer.o");
    run(Command::new("cc")
        .arg("-c")
        .arg(&source)
        .arg("-o")
        .arg(&object));
    run(Command::new("ar")
        .arg("rcs")
        .arg(folder.join("lib/libshmem.a"))
        .arg(&object));
}

/// Returns softhca with its shim, built beside oshrun as an installation has them.
pub(crate) fn softhca() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // target/PROFILE/oshrun
        let profile = Path::new(env!("CARGO_BIN_EXE_oshrun"))
            .parent()
            .expect("a folder");
        let name = match profile.file_name().and_then(OsStr::to_str) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let target = profile.parent().expect("a target folder");
        run(Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--profile", name])
            .args(["--package", "softhca", "--package", "softhca-shim"])
            .args(["--bins", "--lib", "--target-dir"])
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR")));
        profile.join("softhca")
    })
}

/// Runs a command that must succeed.
#[track_caller]
pub(crate) fn run(command: &mut Command) {
    let status = command.status();
    assert!(
        status.as_ref().is_ok_and(std::process::ExitStatus::success),
        "{command:?}: {status:?}"
    );
}

/// Returns the example `pe`, which cargo builds together with the tests.
pub(crate) fn pe() -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let folder = test
        .parent()
        .and_then(Path::parent)
        .expect("the build's folder");
    let pe = folder.join("examples/pe");
    assert!(
        pe.is_file(),
        "{} is missing: cargo build --package shmem-launcher --example pe",
        pe.display()
    );
    pe
}

/// Returns oshrun with these arguments, which are words separated by blanks; `PE` stands for the
/// example's path.
pub(crate) fn oshrun(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oshrun"));
    let pe = pe();
    command.args(line.split(' ').map(|word| {
        if word == "PE" {
            pe.as_os_str()
        } else {
            OsStr::new(word)
        }
    }));
    command.stdin(Stdio::null());
    command
}

/// Runs oshrun to its end.
#[track_caller]
pub(crate) fn launch(line: &str) -> Outcome {
    Running::start(&mut oshrun(line)).finish()
}
