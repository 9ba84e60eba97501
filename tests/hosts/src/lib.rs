//! Several hosts on one machine, for tests.
//!
//! A host is a set of namespaces (net, uts, ipc, mount, pid) with a hostname, boot id and machine
//! id of its own, its own `/dev/shm`, `/tmp` and `/run`, and a veth to a bridge. All other files are
//! the machine's, as by a network file system. The bridge is in a set of namespaces too, the switch
//! `sw`, where launchers are to run: from there each host can be entered, and each process is seen.
//!
//! Hosts are called `h1`, `h2` ..., with the addresses 10.77.0.1, 10.77.0.2 ...; `sw` has
//! 10.77.0.254. `/run/hosts/rsh HOST WORDS...` in `sw` is a remote shell.
//!
//! Nothing of a lab has a name outside of its namespaces: labs do not meet, and when the process
//! that has started one ends, however it does, the kernel ends all processes of the lab and frees
//! its devices.
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! let lab = farreach_hosts::Lab::start(2)?;
//! let said = lab.command("h1", "ping").args(["-c", "1", "h2"]).output()?;
//! assert!(said.status.success());
//! lab.cut("h2")?;
//! # Ok(())
//! # }
//! ```

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// The script of the switch.
const SWITCH: &str = include_str!("switch.sh");
/// The script of a host.
const HOST: &str = include_str!("host.sh");

/// The namespaces that the switch and each host have of their own.
const NAMESPACES: [&str; 8] = [
    "--net",
    "--uts",
    "--ipc",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
];

/// The most hosts of a lab: those that the network has addresses for.
pub const MOST: usize = 250;

/// The name of the switch, which commands may run in as in a host.
pub const SWITCH_NAME: &str = "sw";

/// The remote shell, a path in the switch: `rsh HOST WORDS...`.
pub const RSH: &str = "/run/hosts/rsh";

/// Returns why no lab can be started here, or `None` where one can.
#[must_use]
pub fn missing() -> Option<String> {
    if std::fs::metadata("/proc/self").map_or(0, |own| own.uid()) != 0 {
        return Some("not root".to_owned());
    }
    for tool in ["unshare", "nsenter", "ip"] {
        if !is_there(tool) {
            return Some(format!("no {tool}"));
        }
    }
    let tried = Command::new("unshare")
        .args(NAMESPACES)
        .arg("true")
        .output();
    match tried {
        Ok(tried) if tried.status.success() => None,
        Ok(tried) => Some(format!(
            "no namespaces: {}",
            String::from_utf8_lossy(&tried.stderr).trim()
        )),
        Err(error) => Some(format!("unshare: {error}")),
    }
}

/// Returns why no lab can drop packets here ([`Lab::drop_packets`]), or `None` where one can.
#[must_use]
pub fn missing_for_drops() -> Option<String> {
    missing().or_else(|| (!is_there("nft")).then(|| "no nft (Debian: nftables)".to_owned()))
}

fn is_there(tool: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|dir| dir.join(tool).is_file())
}

/// A lab of hosts. Dropping it ends all that runs in it.
#[derive(Debug)]
pub struct Lab {
    /// The switch's first process, as this process's namespace numbers it.
    first: u32,
    /// The process that waits for it; `None` in a lab that somebody else has started.
    unshare: Option<Child>,
}

impl Lab {
    /// Starts `hosts` hosts, which end with this value, or with this process.
    ///
    /// # Errors
    /// Refusals of the system, with the output of the command that failed.
    pub fn start(hosts: usize) -> io::Result<Self> {
        Self::begin(hosts, "cat", Stdio::piped())
    }

    /// Starts `hosts` hosts that stay when this process ends, and returns the process to
    /// [`attach`](Self::attach) to; SIGKILL to it ends them.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_detached(hosts: usize) -> io::Result<u32> {
        let mut lab = Self::begin(hosts, "sleep infinity", Stdio::null())?;
        lab.unshare = None;
        Ok(lab.first)
    }

    fn begin(hosts: usize, stays: &str, stdin: Stdio) -> io::Result<Self> {
        if !(1..=MOST).contains(&hosts) {
            let text = format!("a lab has 1 to {MOST} hosts, not {hosts}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let mut unshare = Command::new("unshare")
            .args(NAMESPACES)
            .args(["sh", "-euc", SWITCH, "switch"])
            .args([&hosts.to_string(), HOST, stays])
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let mut said = String::new();
        let stdout = unshare.stdout.take().map(BufReader::new);
        for line in stdout.into_iter().flat_map(BufRead::lines) {
            let line = line?;
            if line == "up" {
                let first = only_child(unshare.id())?;
                let unshare = Some(unshare);
                return Ok(Self { first, unshare });
            }
            said.push_str(&line);
            said.push('\n');
        }
        // It has ended, or has closed its output and cannot be used.
        unshare.kill()?;
        let own = unshare.wait_with_output()?.stderr;
        said.push_str(&String::from_utf8_lossy(&own));
        Err(io::Error::other(said))
    }

    /// Returns the lab whose switch's first process is `first`. Dropping it ends nothing.
    #[must_use]
    pub fn attach(first: u32) -> Self {
        let unshare = None;
        Self { first, unshare }
    }

    /// Returns a command that runs `program` in `host` (`h1` ..., or `sw`), in this process's working
    /// directory. Its exit status is the program's. To kill it does not kill the program.
    pub fn command(&self, host: &str, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        let dir = std::env::current_dir().unwrap_or_else(|_| "/".into());
        let mut wdns = OsString::from("--wdns=");
        wdns.push(dir);
        command
            .args(["--target", &self.first.to_string()])
            .args(["--net", "--uts", "--ipc", "--mount", "--pid"])
            .arg(wdns)
            .args(["--", "/run/hosts/enter", host])
            .arg(program)
            // The folders that these name are on the machine itself.
            .env("TMPDIR", "/tmp")
            .env_remove("XDG_RUNTIME_DIR");
        command
    }

    /// Runs a shell's script in `host`, and returns its output.
    ///
    /// # Errors
    /// The script's output to standard error, when its exit status is not 0.
    pub fn script(&self, host: &str, script: &str) -> io::Result<String> {
        let mut command = self.command(host, "sh");
        output(command.args(["-euc", script]).stdin(Stdio::null()))
    }

    /// Cuts `host` off from the others: its link is down on the switch's side, and on its own.
    ///
    /// # Errors
    /// Errors of ip(8).
    pub fn cut(&self, host: &str) -> io::Result<()> {
        self.script(SWITCH_NAME, &format!("ip link set v{host} down"))
            .map(drop)
    }

    /// Undoes [`cut`](Self::cut) and [`drop_packets`](Self::drop_packets).
    ///
    /// # Errors
    /// Errors of ip(8) or nft(8).
    pub fn heal(&self, host: &str) -> io::Result<()> {
        let script = format!(
            "ip link set v{host} up
             if command -v nft > /dev/null && nft list table bridge lossy_{host} > /dev/null 2>&1; then
                 nft delete table bridge lossy_{host}
             fi"
        );
        self.script(SWITCH_NAME, &script).map(drop)
    }

    /// Drops `percent` of the frames to `host` and of those from it, each at random; with 100, the
    /// host is silent while its link stays up. Replaces an earlier percentage.
    ///
    /// # Errors
    /// Errors of nft(8).
    pub fn drop_packets(&self, host: &str, percent: u32) -> io::Result<()> {
        let chance = match percent {
            100.. => String::new(),
            _ => format!("numgen random mod 100 < {percent}"),
        };
        let [from, to] =
            ["iifname", "oifname"].map(|end| format!("{end} \"v{host}\" {chance} drop"));
        let chain = |hook: &str, rules: &[&str]| {
            let rules = rules.join("\n");
            format!("chain {hook} {{ type filter hook {hook} priority 0\n{rules}\n}}\n")
        };
        let rules = format!(
            "table bridge lossy_{host} {{}}\ndelete table bridge lossy_{host}\n\
             table bridge lossy_{host} {{\n{}{}{}}}\n",
            chain("forward", &[&from, &to]),
            chain("input", &[&from]),
            chain("output", &[&to]),
        );
        let mut nft = self
            .command(SWITCH_NAME, "nft")
            .args(["-f", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = nft.stdin.take() {
            stdin.write_all(rules.as_bytes())?;
        }
        let said = nft.wait_with_output()?;
        if said.status.success() {
            return Ok(());
        }
        Err(io::Error::other(
            String::from_utf8_lossy(&said.stderr).into_owned(),
        ))
    }

    /// Kills `host`: all its processes at once, and its network. Returns when they are gone.
    ///
    /// # Errors
    /// When there is no such host.
    pub fn kill(&self, host: &str) -> io::Result<()> {
        let script = format!(
            "first=$(cat /run/hosts/{host}); rm /run/hosts/{host}; kill -KILL $first
             while test -e /proc/$first; do sleep 0.01; done"
        );
        self.script(SWITCH_NAME, &script).map(drop)
    }

    /// Returns the first process of the switch, for [`attach`](Self::attach).
    #[must_use]
    pub fn first(&self) -> u32 {
        self.first
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if let Some(unshare) = &mut self.unshare {
            // The first process of the lab ends with its input, and with it all others, before its
            // parent learns of it.
            drop(unshare.stdin.take());
            let _ = unshare.wait();
        }
    }
}

/// Returns the only child of a process.
fn only_child(process: u32) -> io::Result<u32> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"))?;
    let first = children.split_whitespace().next();
    first
        .and_then(|child| child.parse().ok())
        .ok_or_else(|| io::Error::other(format!("process {process} has no child")))
}

fn output(command: &mut Command) -> io::Result<String> {
    let said = command.output()?;
    if said.status.success() {
        return Ok(String::from_utf8_lossy(&said.stdout).into_owned());
    }
    let text = String::from_utf8_lossy(&said.stderr);
    Err(io::Error::other(format!(
        "{}: {}",
        said.status,
        text.trim()
    )))
}
