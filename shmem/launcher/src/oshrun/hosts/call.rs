//! The call of an agent: oshrun's own executable, in a mode that no user asks for.
//!
//! `oshrun --agent HOST PORT ADDRESS,ADDRESS...`, with the secret as the first line of its standard input. HOST is the
//! name that oshrun knows the host by, or `-`: then it is in SLURMD_NODENAME.

use std::ffi::OsString;
use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;

use fi_bootstrap::server::Departure;

use super::super::sys::{self, Watch};
use super::super::{Failure, USAGE, report};
use super::list::{Host, Source};
use super::secret::Secret;

/// The first argument of an agent.
pub(in super::super) const MODE: &str = "--agent";

/// The host's name where the launcher does not tell it.
const BY_SLURM: &str = "-";

/// Bytes that are kept of a command's output.
const LAST_WORDS: usize = 4096;

/// ssh without a terminal, a display, or questions, which notices a host that is cut off.
const SSH: &str = "ssh -T -x -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=3 -o ServerAliveCountMax=2";

/// An agent's arguments.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Call {
    pub(in super::super) host: String,
    pub(in super::super) port: u16,
    pub(in super::super) addresses: Vec<String>,
}

impl Call {
    /// Reads the arguments behind [`MODE`].
    ///
    /// # Errors
    /// When somebody else than oshrun has written them.
    pub(in super::super) fn parse(
        arguments: impl Iterator<Item = OsString>,
    ) -> Result<Self, Failure> {
        let wrong = |what: &str| Failure::new(USAGE, format!("{MODE} is oshrun's own: {what}"));
        let words: Vec<String> = arguments
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let [host, port, addresses] = words.as_slice() else {
            return Err(wrong("it takes a host, a port and addresses"));
        };
        let host = if host == BY_SLURM {
            std::env::var("SLURMD_NODENAME").map_err(|_| wrong("SLURMD_NODENAME is not set"))?
        } else {
            host.clone()
        };
        Ok(Call {
            host,
            port: port.parse().map_err(|_| wrong("the port is no number"))?,
            addresses: addresses.split(',').map(str::to_owned).collect(),
        })
    }
}

/// The way in which agents are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Way {
    /// By a command for each host, which has these words before the host's name.
    Command(Vec<String>),
    /// By one srun for all hosts.
    Srun,
}

impl Way {
    /// Returns the way for hosts from this source; `given` is the user's command.
    ///
    /// # Errors
    /// When the user's command has no words.
    pub(in super::super) fn choose(
        given: Option<&OsString>,
        source: Source,
    ) -> Result<Self, Failure> {
        let Some(given) = given else {
            return Ok(match source {
                Source::Slurm => Way::Srun,
                Source::Named => Way::Command(SSH.split(' ').map(str::to_owned).collect()),
            });
        };
        let given = given.to_string_lossy();
        let words: Vec<_> = given.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(Failure::new(
                USAGE,
                "--launch-agent takes a command that starts a program on a host, not an empty one",
            ));
        }
        Ok(Way::Command(words))
    }
}

/// The parameters of an agent's command line.
#[derive(Debug)]
pub(in super::super) struct Caller<'a> {
    pub(in super::super) way: Way,
    /// Whether the user has named the command, which then starts the agent of this machine, too.
    pub(in super::super) is_given: bool,
    /// oshrun on this machine, and on the others.
    pub(in super::super) here: &'a Path,
    pub(in super::super) there: PathBuf,
    pub(in super::super) port: u16,
    pub(in super::super) addresses: String,
}

impl Caller<'_> {
    /// Returns the hosts that each command is for, by their numbers.
    pub(in super::super) fn groups(&self, hosts: &[Host]) -> Vec<Vec<usize>> {
        let all = 0..hosts.len();
        match self.way {
            Way::Srun => vec![all.collect()],
            Way::Command(_) => all.map(|number| vec![number]).collect(),
        }
    }

    /// Returns the words of the command that starts the agents of `hosts`, of which the own host's
    /// needs none but oshrun.
    fn words(&self, hosts: &[&str]) -> Vec<String> {
        let arguments = |oshrun: String, host: &str| {
            let port = self.port.to_string();
            let addresses = self.addresses.clone();
            [oshrun, MODE.to_owned(), host.to_owned(), port, addresses]
        };
        let there = quoted(&self.there.to_string_lossy());
        match (&self.way, hosts) {
            (Way::Command(_), [host]) if !self.is_given && is_own(host) => {
                arguments(self.here.to_string_lossy().into_owned(), host).into()
            }
            (Way::Command(words), hosts) => {
                let host = hosts.first().copied().unwrap_or_default();
                let words = words.iter().cloned().chain([host.to_owned()]);
                words.chain(arguments(there, host)).collect()
            }
            (Way::Srun, hosts) => {
                let count = hosts.len();
                let options = [
                    "srun".to_owned(),
                    "--overlap".to_owned(),
                    "--ntasks-per-node=1".to_owned(),
                    "--mpi=none".to_owned(),
                    "--cpu-bind=none".to_owned(),
                    "--kill-on-bad-exit=0".to_owned(),
                    format!("--nodes={count}"),
                    format!("--ntasks={count}"),
                    format!("--nodelist={}", hosts.join(",")),
                ];
                // No shell reads these.
                let oshrun = self.there.to_string_lossy().into_owned();
                options
                    .into_iter()
                    .chain(arguments(oshrun, BY_SLURM))
                    .collect()
            }
        }
    }

    /// Starts the agents of `hosts`, and tells them the secret.
    ///
    /// # Errors
    /// When the command itself cannot be started.
    pub(in super::super) fn start(
        &self,
        hosts: &[&str],
        secret: &Secret,
    ) -> Result<Process, String> {
        let words = self.words(hosts);
        let name = words[0].clone();
        let failed = |error: std::io::Error| format!("{name} cannot be started: {error}");
        let (reader, writer) = std::io::pipe().map_err(failed)?;
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(writer.try_clone().map_err(failed)?)
            .stderr(writer)
            // Signals that a terminal sends to all are for oshrun to pass on.
            .process_group(0);
        let nothing = sys::Setup {
            keep: None,
            cpu: None,
            descriptors: None,
        };
        sys::prepare(&mut command, nothing);
        let mut child = command.spawn().map_err(failed)?;
        let mut input = child.stdin.take();
        if let Some(input) = &mut input {
            // It fits into the pipe; a command that has ended already is seen to have ended.
            let _ = input.write_all(secret.text().as_bytes());
        }
        Ok(Process {
            name: words[0].clone(),
            pid: child.id().cast_signed(),
            _input: input,
            output: Some(reader),
            words: Vec::new(),
            ended: None,
        })
    }
}

/// A command that has started agents.
#[derive(Debug)]
pub(in super::super) struct Process {
    name: String,
    pub(in super::super) pid: i32,
    /// Open for as long as the command runs.
    _input: Option<ChildStdin>,
    output: Option<PipeReader>,
    /// The last that it has printed.
    words: Vec<u8>,
    /// Its end, if it has ended.
    pub(in super::super) ended: Option<Departure>,
}

impl Process {
    /// Returns the descriptor to poll.
    pub(in super::super) fn watch(&self) -> Option<Watch> {
        self.output.as_ref().map(|output| sys::watch(output, false))
    }

    /// Reads the command's output.
    pub(in super::super) fn serve(&mut self) {
        let mut bytes = [0; LAST_WORDS];
        let Some(output) = &mut self.output else {
            return;
        };
        match output.read(&mut bytes) {
            Ok(count) if count > 0 => {
                self.words.extend_from_slice(&bytes[..count]);
                let surplus = self.words.len().saturating_sub(LAST_WORDS);
                self.words.drain(..surplus);
            }
            _ => self.output = None,
        }
    }

    /// Reads all that was printed so far.
    fn catch_up(&mut self) {
        for _ in 0..64 {
            let Some(watch) = &mut self.watch() else {
                return;
            };
            sys::poll(std::slice::from_mut(watch), Some(Duration::ZERO));
            if watch.revents == 0 {
                return;
            }
            self.serve();
        }
    }

    /// Returns its end in words, with its own last ones.
    pub(in super::super) fn end(&mut self) -> String {
        let how = match self.ended {
            Some(Departure::Exited(status)) => format!("exited with status {status}"),
            Some(Departure::Killed(signal)) => {
                format!("was killed by {}", report::signal_name(signal))
            }
            None => "has not ended".to_owned(),
        };
        let name = Path::new(&self.name);
        let name = name.file_name().unwrap_or(name.as_os_str());
        let name = name.to_string_lossy().into_owned();
        match self.last_words() {
            Some(words) => format!("{name} {how}: {words}"),
            None => format!("{name} {how}"),
        }
    }

    /// Returns the last line that it has printed.
    pub(in super::super) fn last_words(&mut self) -> Option<String> {
        self.catch_up();
        let text = String::from_utf8_lossy(&self.words);
        let mut lines = text.lines().map(str::trim).rev();
        let line = lines.find(|line| !line.is_empty())?;
        let line = line.strip_prefix("oshrun: ").unwrap_or(line);
        Some(line.replace(char::is_control, " "))
    }
}

/// Returns a word as a shell on another host takes it.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.+:@%,".contains(&byte);
    if word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns whether a name is this machine's, or one of its addresses.
pub(in super::super) fn is_own(host: &str) -> bool {
    if host == "localhost" {
        return true;
    }
    if let Ok(address) = host.parse::<std::net::IpAddr>() {
        let own = sys::networks();
        return address.is_loopback() || own.iter().any(|(own, _)| *own == address);
    }
    let name = own_name();
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    host == name || host == short(&name) || (!name.contains('.') && short(host) == name)
}

/// Returns this machine's name.
fn own_name() -> String {
    let mut name = String::new();
    if let Ok(mut file) = File::open("/proc/sys/kernel/hostname") {
        let _ = file.read_to_string(&mut name);
    }
    name.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(way: Way, is_given: bool) -> Caller<'static> {
        Caller {
            way,
            is_given,
            here: Path::new("/here/oshrun"),
            there: PathBuf::from("/the re/bin/oshrun"),
            port: 42,
            addresses: "10.0.0.1,::1".to_owned(),
        }
    }

    #[test]
    fn commands() {
        let ssh = Way::choose(None, Source::Named).unwrap();
        assert_eq!(
            caller(ssh.clone(), false).words(&["me@b"]).join(" "),
            "ssh -T -x -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=3 -o ServerAliveCountMax=2 me@b '/the re/bin/oshrun' --agent me@b 42 10.0.0.1,::1"
        );
        assert_eq!(
            caller(ssh, false).words(&["localhost"]).join(" "),
            "/here/oshrun --agent localhost 42 10.0.0.1,::1"
        );
        let given = Way::choose(Some(&"rsh  -l me".into()), Source::Slurm).unwrap();
        assert!(
            caller(given, true)
                .words(&["localhost"])
                .join(" ")
                .starts_with("rsh -l me localhost '/the re/bin/oshrun' --agent localhost 42 ")
        );
        let srun = Way::choose(None, Source::Slurm).unwrap();
        let words = caller(srun, false).words(&["a", "b"]);
        assert!(words.contains(&"--nodelist=a,b".to_owned()));
        assert!(words.contains(&"--ntasks=2".to_owned()));
        assert_eq!(
            words[9..],
            ["/the re/bin/oshrun", "--agent", "-", "42", "10.0.0.1,::1"]
        );
        assert!(Way::choose(Some(&" ".into()), Source::Named).is_err());
    }

    #[test]
    fn a_call_is_read_as_it_was_written() {
        let words = ["b", "42", "10.0.0.1,::1"];
        let call = Call::parse(words.into_iter().map(OsString::from)).unwrap();
        assert_eq!((call.host.as_str(), call.port), ("b", 42));
        assert_eq!(call.addresses, ["10.0.0.1", "::1"]);
        for wrong in [&["b", "42"][..], &["b", "x", "a"], &["b", "1", "a", "c"]] {
            assert!(Call::parse(wrong.iter().map(OsString::from)).is_err());
        }
    }

    #[test]
    fn own_names() {
        let name = own_name();
        for own in ["localhost", "127.0.0.1", "127.3.2.1", "::1", &name] {
            assert!(is_own(own), "{own}");
        }
        for other in ["no-such-host", "192.0.2.1", "2001:db8::1", ""] {
            assert!(!is_own(other), "{other}");
        }
    }

    #[test]
    fn last_words_are_the_last_line() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut process = Process {
            name: "/usr/bin/ssh".to_owned(),
            pid: 0,
            _input: None,
            output: Some(reader),
            words: Vec::new(),
            ended: Some(Departure::Exited(255)),
        };
        assert_eq!(process.end(), "ssh exited with status 255");
        let noise = "x\n".repeat(LAST_WORDS);
        writer.write_all(noise.as_bytes()).unwrap();
        writer.write_all(b"b: Connection\trefused\r\n\n").unwrap();
        assert_eq!(
            process.end(),
            "ssh exited with status 255: b: Connection refused"
        );
        assert!(process.words.len() <= LAST_WORDS);
    }
}
