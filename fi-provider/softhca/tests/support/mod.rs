//! Parts that tests of the real libraries share: the command with its shim, C programs, and runs
//! under the device.
#![allow(
    dead_code,
    reason = "each test program that includes this uses its own part"
)]

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// After this long a program is taken to hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Numbers the directories of this process.
static DIRECTORIES: AtomicU32 = AtomicU32::new(0);

/// Returns the command, with the shim built beside it.
pub(crate) fn softhca() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_softhca"));
        // target/PROFILE/softhca
        let profile = program.parent().expect("a directory");
        let target = profile.parent().expect("a target directory");
        let name = match profile.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "softhca-shim"])
            .args(["--profile", name, "--target-dir"])
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the shim does not build");
        program
    })
}

/// Returns the program of `c/NAME.c`, built once a process with these libraries.
pub(crate) fn program(name: &str, libraries: &[&str]) -> String {
    static BUILT: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    // A build that failed has failed its own test: the others say so themselves.
    let mut built = BUILT
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(program) = built.get(name) {
        return program.clone();
    }
    let program = build(name, libraries);
    built.insert(name.to_owned(), program.clone());
    program
}

fn build(name: &str, libraries: &[&str]) -> String {
    let directory = softhca().with_file_name("softhca-tests");
    std::fs::create_dir_all(&directory).expect("a directory for the program");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/c/{name}.c"));
    // Another test program may be running the program that was built before.
    let new = directory.join(format!("{name}-{}", std::process::id()));
    let output = Command::new("cc")
        .args(["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror"])
        .arg("-o")
        .args([&new, &source])
        .args(libraries.iter().map(|library| format!("-l{library}")))
        .args(["-ldl", "-rdynamic"])
        .output()
        .expect("cc runs");
    assert!(
        output.status.success(),
        "{name}.c does not build; it needs cc, libibverbs-dev, ibverbs-providers and (for UCX) libucx-dev: {}",
        text(&output)
    );
    let program = directory.join(name);
    std::fs::rename(&new, &program).expect("the program moves");
    program.to_str().expect("a plain path").to_owned()
}

/// Fails with the packages' names when a program of the system is missing.
pub(crate) fn need(program: &str) {
    let found = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
    });
    assert!(
        found,
        "{program} is missing: apt-get install ibverbs-providers ibverbs-utils perftest libibverbs-dev ucx-utils libucx-dev"
    );
}

/// Makes a directory of a test's own, with a short name, as the device asks for.
pub(crate) fn scratch() -> PathBuf {
    let number = DIRECTORIES.fetch_add(1, Relaxed);
    let scratch = Path::new("/tmp").join(format!("softhca-test-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("a scratch directory");
    scratch
}

/// Options and environment with which a command line is run under the device.
#[derive(Clone, Copy, Default)]
pub(crate) struct Under<'a> {
    /// Options of `softhca run`.
    pub(crate) options: &'a [&'a str],
    /// Variables of the program.
    pub(crate) environment: &'a [(&'a str, &'a str)],
}

impl Under<'_> {
    /// Runs a command line, in a directory for temporary files of its own, which must be empty in the end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let scratch = scratch();
        let child = Command::new(softhca())
            .args(["run", "--trace"])
            .args(self.options)
            .arg("--")
            .args(arguments)
            .envs(self.environment.iter().copied())
            .env("TMPDIR", &scratch)
            .env_remove("XDG_RUNTIME_DIR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("softhca starts");
        let output = finish(child, PATIENCE);
        let left: Vec<_> = std::fs::read_dir(&scratch)
            .expect("the scratch directory")
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert!(left.is_empty(), "left behind: {left:?}");
        std::fs::remove_dir(&scratch).expect("an empty directory");
        output
    }

    /// Runs a command line that must succeed; returns its output.
    pub(crate) fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Starts a server in the background and a client until it finds the server; both must succeed,
    /// and start again where one could not [tell the time](UNTIMED).
    pub(crate) fn server_and_client(&self, server: &str, client: &str) -> String {
        let script = format!(
            "{server} > /dev/null & server=$!
            for attempt in 1 2 3 4 5 6 7 8 9 10; do
                sleep 0.3
                if out=$({client} 2>&1); then
                    printf '%s\\n' \"$out\"
                    wait $server || {{ echo \"the server failed\" >&2; exit 1; }}
                    exit 0
                fi
                kill -0 $server 2>/dev/null || break
                case $out in *\"Couldn't connect\"* | *\"Connection refused\"*) ;; *) break ;; esac
            done
            printf '%s\\n' \"$out\" >&2
            kill $server 2>/dev/null
            exit 1"
        );
        for _ in 1..MOST_TRIES {
            let output = self.run(&["sh", "-c", &script]);
            if output.status.success() {
                return String::from_utf8_lossy(&output.stdout).into_owned();
            }
            let said = text(&output);
            assert!(said.contains(UNTIMED), "{script}: {said}");
        }
        self.succeed(&["sh", "-c", &script])
    }
}

/// Words of programs of perftest, at whose start the processor's counter and the clock did not go
/// alike: they measure that for some milliseconds, in which a machine may be disturbed.
pub(crate) const UNTIMED: &str = "Correlation coefficient";

/// The most times that such a program starts.
const MOST_TRIES: u32 = 5;

/// Waits for a child, and ends it with its group when it hangs.
pub(crate) fn finish(child: Child, patience: Duration) -> Output {
    let id = child.id();
    let (send, receive) = channel::<()>();
    let watch = std::thread::spawn(move || {
        if receive.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            // The whole group: softhca, its program, and the processes that that has started.
            let group = format!("-{id}");
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            return true;
        }
        false
    });
    let output = child.wait_with_output().expect("the program ends");
    drop(send);
    let hung = watch.join().expect("the watch ends");
    assert!(!hung, "hung: {}", text(&output));
    output
}

pub(crate) fn text(output: &Output) -> String {
    format!(
        "{}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Returns a TCP port that is free now, for programs that meet over TCP.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}
