//! Parties over the device: processes, each on a pretended node of its own or a few on each, under `softhca run`.
//!
//! A process has the software device only from its start, so that a test is this program again, under the device, asked
//! for that test alone. It needs Debian's package `ibverbs-providers`.

use crate::party::Party;
use crate::processes;
use crate::shm::Setting;
use crate::transport::Transport;
use fi_provider::device::{self, Config};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Says to this program that it runs under the device.
const UNDER: &str = "FARREACH_CONTRACT_UNDER_SOFTHCA";
/// Seconds after which a contract on the device is ended.
const LIMIT: &str = "170";
/// By what numbers of repetitions are divided: an operation takes microseconds, and in strict mode some dozens per store.
const SLOWNESS: u32 = 250;
const STRICT_SLOWNESS: u32 = 1000;
/// Words of each mailbox, which no contract is about.
const MAILBOX_WORDS: usize = 8;

/// Parties are processes, of which `per_node` each are on one node.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) transport: device::Transport,
    pub(crate) per_node: u32,
    /// See [`Setting::beside`].
    pub(crate) beside: Option<bool>,
    /// Whether the device checks what is written to its registers.
    pub(crate) strict: bool,
}

impl Transport for Device {
    fn name(&self) -> &'static str {
        match self.transport {
            device::Transport::Rc => "mlx5 by RC",
            device::Transport::Dc => "mlx5 by DC",
        }
    }

    fn maps(&self, rank: u32, peer: u32) -> bool {
        rank / self.per_node == peer / self.per_node
    }

    fn has_run(&self, test: &str) -> bool {
        let elsewhere = std::env::var_os(UNDER).is_none();
        if elsewhere {
            self.run_under_softhca(test);
        }
        elsewhere
    }

    fn run(&self, parties: u32, body: &(dyn Fn(&Party) + Sync)) -> Result<(), String> {
        let setting = Setting {
            per_node: self.per_node,
            device: Some(Config {
                transport: self.transport,
                shared: false,
                mailbox_words: MAILBOX_WORDS,
            }),
            beside: self.beside,
            slowness: if self.strict {
                STRICT_SLOWNESS
            } else {
                SLOWNESS
            },
        };
        processes::run(parties, &setting, body)
    }
}

impl Device {
    /// Runs one test of this program under the device; in strict mode its violations are failures, too.
    fn run_under_softhca(&self, test: &str) {
        let output = Command::new("timeout")
            .args(["-k", "5", LIMIT])
            .arg(softhca())
            .arg("run")
            .args(self.strict.then_some("--strict"))
            .arg("--")
            .arg(this_program())
            .args([test, "--exact", "--nocapture"])
            .env(UNDER, "yes")
            .stdin(Stdio::null())
            .output()
            .expect("timeout starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let done = output.status.success() && text.contains("1 passed");
        assert!(done, "{test}: {}\n{text}\n{errors}", output.status);
    }
}

fn this_program() -> PathBuf {
    std::env::current_exe().expect("this program")
}

/// The command `softhca`, built once a process, with its shim, in this program's profile.
fn softhca() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
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
