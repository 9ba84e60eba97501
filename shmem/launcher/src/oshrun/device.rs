//! The software device of a job: `softhca run`, with a program that only holds it, beside the PEs.
//!
//! softhca is the guard's child and in a process group of its own: signals of a terminal or an
//! ending job to the PEs do not take the device from them while they clean up. It ends, and removes
//! its directory, when nobody has the writing end of the holder's standard input any more: neither
//! guard nor runner, however these have ended. When softhca itself is killed the runner sees its
//! end and ends the job.

use std::ffi::OsString;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use super::arguments::{Fabric, Options};
use super::report::interrupted;
use super::sys::{self, Signals};
use super::{Failure, processes};
use crate::installation::Installation;

/// Names the device's directory to the processes that use it; softhca sets it.
const DIRECTORY: &str = "FARREACH_SOFTHCA";

/// Lists with colons in which softhca puts entries in front of the user's: the libraries that the
/// loader brings into every program, and options of AddressSanitizer's runtime, which otherwise
/// refuses to come behind such a library.
const LISTS: [&str; 2] = ["LD_PRELOAD", "ASAN_OPTIONS"];

/// The program that holds the device: it prints the values of variables that softhca has set, each
/// ended by a NUL, and waits for the end of its input.
const HOLDER: &str =
    r#"printf '%s\0%s\0%s\0' "$FARREACH_SOFTHCA" "$LD_PRELOAD" "$ASAN_OPTIONS"; read -r end"#;

/// Time that softhca has to end after its holder.
const GRACE: Duration = Duration::from_secs(2);

/// A softhca that this job depends on.
#[derive(Debug)]
pub(super) struct Device {
    pid: i32,
    /// Readable when softhca has ended.
    end: OwnedFd,
    /// The resources of one that runs for this job alone.
    own: Option<Own>,
}

#[derive(Debug)]
struct Own {
    /// Closed when the device is to end.
    holder: Option<ChildStdin>,
    directory: PathBuf,
    /// The values that softhca has given to [`LISTS`].
    lists: [OsString; LISTS.len()],
}

impl AsRawFd for Device {
    fn as_raw_fd(&self) -> RawFd {
        self.end.as_raw_fd()
    }
}

/// Returns the device that these options ask for: that of a `softhca run` around this process, or a
/// new one.
///
/// For the guard, before it splits; `None` where the job depends on no softhca.
pub(super) fn provide(options: &Options, signals: &Signals) -> Result<Option<Device>, Failure> {
    if options.fabric == Some(Fabric::Shm) {
        return Ok(None);
    }
    match std::env::var_os(DIRECTORY).map(PathBuf::from) {
        Some(directory) if directory.is_dir() => Ok(around(&directory)),
        _ if options.fabric == Some(Fabric::Softhca) => start(signals).map(Some),
        _ => Ok(None),
    }
}

/// Returns the softhca that this process runs below; one that runs elsewhere is not watched.
fn around(directory: &Path) -> Option<Device> {
    let pid = owner(directory)?;
    if !processes::descends_from(pid) {
        return None;
    }
    Some(Device {
        pid,
        end: sys::process(pid).ok()?,
        own: None,
    })
}

/// Returns the process that has made a directory `softhca-PID-N`.
fn owner(directory: &Path) -> Option<i32> {
    let name = directory.file_name()?.to_str()?;
    let (pid, _) = name.strip_prefix("softhca-")?.split_once('-')?;
    pid.parse().ok().filter(|&pid| pid > 0)
}

fn start(signals: &Signals) -> Result<Device, Failure> {
    let failed = |what: &str, error: std::io::Error| {
        Failure::new(1, format!("cannot start softhca: {what}: {error}"))
    };
    let softhca = Installation::find()
        .map_err(|error| failed("/proc/self/exe", error))?
        .tool("softhca");
    if !softhca.is_file() {
        return Err(Failure::new(
            1,
            format!(
                "{} is missing, which --fabric softhca runs",
                softhca.display()
            ),
        ));
    }
    let mut command = Command::new(&softhca);
    command
        // It pins nothing: the user's limit on locked memory is no matter for a device of this job
        // alone.
        .args(["run", "--max-pinned", &u64::MAX.to_string()])
        .args(["--", "/bin/sh", "-c", HOLDER])
        // The PEs' own come back to them; softhca's values then hold its own entries alone.
        .env_remove(LISTS[0])
        .env_remove(LISTS[1])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0);
    sys::prepare_server(&mut command);
    // It has a few descriptors for each PE.
    let limit = sys::raise_descriptor_limit();
    let child = command.spawn();
    if let Some(limit) = limit {
        sys::restore_descriptor_limit(limit);
    }
    let mut child = child.map_err(|error| failed(&softhca.display().to_string(), error))?;
    let pid = child.id().cast_signed();
    let mut device = Device {
        pid,
        end: sys::process(pid).map_err(|error| failed("pidfd_open", error))?,
        own: Some(Own {
            holder: child.stdin.take(),
            directory: PathBuf::new(),
            lists: Default::default(),
        }),
    };
    let [directory, lists @ ..] = hear(&mut child, signals)?;
    if let Some(own) = &mut device.own {
        own.directory = directory.into();
        own.lists = lists;
    }
    Ok(device)
}

/// Reads the values that the holder prints. A softhca that fails has said why.
fn hear(softhca: &mut Child, signals: &Signals) -> Result<[OsString; 3], Failure> {
    let failed = |error: std::io::Error| Failure::new(1, format!("softhca: {error}"));
    let mut pipe = softhca.stdout.take();
    let mut text = Vec::new();
    while let Some(answer) = &mut pipe {
        let mut watches = [sys::watch(signals, false), sys::watch(answer, false)];
        sys::poll(&mut watches, None);
        while let Some(signal) = signals.next() {
            if signal != libc::SIGCHLD {
                return Err(interrupted(signal, "the device was being set up"));
            }
        }
        if watches[1].revents == 0 {
            continue;
        }
        let mut bytes = [0; 4096];
        match answer.read(&mut bytes).map_err(failed)? {
            0 => pipe = None,
            count => text.extend(&bytes[..count]),
        }
        let mut values = text.split(|&byte| byte == 0);
        let mut value = || {
            values
                .next()
                .map(|value| OsString::from_vec(value.to_vec()))
        };
        if let (Some(directory), Some(preload), Some(options), Some(_)) =
            (value(), value(), value(), value())
        {
            return Ok([directory, preload, options]);
        }
    }
    let status = softhca.wait().map_err(failed)?;
    match status.signal() {
        Some(signal) => Err(Failure::new(
            128 + signal,
            format!("softhca was killed by signal {signal}"),
        )),
        None => Err(Failure::silent(status.code().unwrap_or(1).max(1))),
    }
}

impl Device {
    /// Returns the message of its loss.
    pub(super) fn loss(&self) -> String {
        format!(
            "softhca (pid {}), the job's device, has ended; ending the job",
            self.pid
        )
    }

    /// Brings a program to the device; `given` returns the program's own value of a variable.
    pub(super) fn give_to(&self, command: &mut Command, given: impl Fn(&str) -> Option<OsString>) {
        let Some(own) = &self.own else {
            // The environment leads there.
            return;
        };
        command.env(DIRECTORY, &own.directory);
        for (name, first) in LISTS.into_iter().zip(&own.lists) {
            let mut list = first.clone();
            if let Some(others) = given(name).filter(|others| !others.is_empty()) {
                list.push(":");
                list.push(others);
            }
            command.env(name, list);
        }
    }

    /// Returns whether softhca ends in this time, or has ended.
    fn ends_within(&self, time: Duration) -> bool {
        let mut watches = [sys::watch(self, false)];
        sys::poll(&mut watches, Some(time));
        watches[0].revents != 0
    }
}

/// In the guard, or in the runner when it has outlived the guard.
impl Drop for Device {
    fn drop(&mut self) {
        let Some(mut own) = self.own.take() else {
            return;
        };
        own.holder = None;
        if !self.ends_within(GRACE) {
            processes::end_all(&[self.pid]);
        }
        // It does so itself, unless it was killed.
        if self.ends_within(GRACE) && owner(&own.directory) == Some(self.pid) {
            let _ = std::fs::remove_dir_all(&own.directory);
        }
    }
}
