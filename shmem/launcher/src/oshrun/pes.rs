//! The PEs' processes, started with their connection.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

use fi_bootstrap::environment;

use super::connection::Connection;
use super::device::Device;
use super::environment::{self as variables, Variable};
use super::output::Output;
use super::{Failure, NOT_EXECUTABLE, interpreter, sys};
use crate::installation::Installation;

const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// The standard input of all PEs but the first.
const NULL: &str = "/dev/null";

/// Asks for the checking library; the second name is the old form.
const CHECK: [&str; 2] = ["SHMEM_CHECK", "SMA_CHECK"];

/// One PE's process and the launcher's end of its connection.
#[derive(Debug)]
pub(super) struct Pe {
    pub(super) rank: usize,
    pub(super) pid: i32,
    /// Whether the process has not been reaped.
    pub(super) alive: bool,
    pub(super) connection: Connection,
    /// The writing end of its standard input, if that is a pipe of this process.
    pub(super) input: Option<ChildStdin>,
}

/// The parameters that all PEs have in common.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    /// PEs of the job.
    pub(super) size: usize,
    /// The file to execute, the name that the program is given, and its arguments.
    pub(super) executable: &'a Path,
    pub(super) name: &'a OsStr,
    pub(super) arguments: &'a [OsString],
    /// All variables but those that each PE has of its own.
    pub(super) environment: &'a [Variable],
    pub(super) place: &'a Installation,
    pub(super) device: Option<&'a Device>,
    /// The CPU of each PE of this host.
    pub(super) cpus: Option<Vec<usize>>,
    pub(super) descriptors: Option<sys::DescriptorLimit>,
    /// The input of PE 0.
    pub(super) input: Input,
}

/// The standard input of PE 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    /// The standard input of this process.
    Inherited,
    /// A pipe, which [`Pe::input`] is the other end of.
    Pipe,
}

/// A PE's number in the job, and those that depend on its host.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) rank: usize,
    /// Its number among the PEs of this host.
    pub(super) here: usize,
    /// Its number among those of its node, and how many these are.
    pub(super) on_node: (usize, usize),
}

impl Launch<'_> {
    /// Starts a PE. The pipes of its output go to `output` if there are any.
    pub(super) fn start(&self, place: Place, output: &mut Output) -> Result<Pe, Failure> {
        let (size, rank) = (self.size, place.rank);
        let connect = |error| cannot_start(&format!("connect PE {rank} of {size}"), &error);
        let (ours, theirs) = UnixStream::pair().map_err(connect)?;
        ours.set_nonblocking(true).map_err(connect)?;
        let mut command = Command::new(self.executable);
        command.arg0(self.name).args(self.arguments);
        let inode = sys::inode(&theirs).map_err(connect)?;
        let connection = environment::connection(theirs.as_raw_fd(), rank, size, inode);
        self.set_environment(&mut command, place, &theirs);
        command.env(environment::CONNECTION, connection);
        if rank != 0 {
            let null = File::open(NULL).map_err(|error| {
                cannot_start(&format!("start PE {rank} of {size}: {NULL}"), &error)
            })?;
            command.stdin(null);
        } else if self.input == Input::Pipe {
            command.stdin(Stdio::piped());
        }
        output.prepare(&mut command);
        let setup = sys::Setup {
            keep: Some(theirs.as_fd()),
            cpu: self.cpus.as_ref().map(|cpus| cpus[place.here]),
            descriptors: self.descriptors,
        };
        sys::prepare(&mut command, setup);
        let mut child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::OutOfMemory => {
                cannot_start(&format!("start PE {rank} of {size}"), &error)
            }
            _ if is_out_of_files(&error) => {
                cannot_start(&format!("start PE {rank} of {size}"), &error)
            }
            _ => self.not_executable(&error),
        })?;
        output.take(rank, &mut child);
        Ok(Pe {
            rank,
            input: child.stdin.take(),
            pid: child.id().cast_signed(),
            alive: true,
            connection: Connection::new(ours),
        })
    }

    /// Returns the failure of a program that is there and cannot be started.
    fn not_executable(&self, error: &std::io::Error) -> Failure {
        let program = self.executable.display();
        let missing = Some(error).filter(|error| error.kind() == ErrorKind::NotFound);
        let why = match missing.and_then(|_| interpreter::missing(self.executable)) {
            Some(name) => format!("its interpreter {name:?} is missing"),
            None => error.to_string(),
        };
        Failure::new(
            NOT_EXECUTABLE,
            format!("{program} cannot be started: {why}"),
        )
    }

    /// Sets the job's variables, and those of this PE alone.
    fn set_environment(&self, command: &mut Command, place: Place, socket: &UnixStream) {
        command.env_clear();
        let variables = self.environment.iter();
        command.envs(variables.map(|(name, value)| (name, value)));
        command.env(LIBRARY_PATH, self.library_path());
        if let Some(device) = self.device {
            device.give_to(command, |name| self.given(name));
        }
        command
            .env("FARREACH_OSHRUN", "1")
            .env("PMI_FD", socket.as_raw_fd().to_string())
            .env("PMI_RANK", place.rank.to_string())
            .env("PMI_SIZE", self.size.to_string())
            // Variables of hydra about the node, pretended or not, for programs that read them.
            .env("MPI_LOCALRANKID", place.on_node.0.to_string())
            .env("MPI_LOCALNRANKS", place.on_node.1.to_string());
    }

    /// Returns the value that the PEs would have of a variable.
    fn given(&self, name: &str) -> Option<OsString> {
        variables::find(self.environment, name).map(OsStr::to_owned)
    }

    /// Returns the folders in which the PEs look for libraries: the checking library's where it is
    /// asked for, the user's, and the installation's. Those of the installation hold libshmem.so
    /// alone.
    fn library_path(&self) -> OsString {
        let check = self.wants_check();
        let check = check.then(|| self.place.lib().join("check").into());
        let users = self.given(LIBRARY_PATH).filter(|path| !path.is_empty());
        let own = self.place.run_time().into();
        let folders: Vec<OsString> = check.into_iter().chain(users).chain([own]).collect();
        folders.join(OsStr::new(":"))
    }

    /// Returns whether SHMEM_CHECK is set, and not to 0.
    fn wants_check(&self) -> bool {
        let given = CHECK.iter().find_map(|name| self.given(name));
        given.is_some_and(|value| !value.is_empty() && value != "0")
    }
}

/// Returns a failure to do something for a PE.
fn cannot_start(what: &str, error: &std::io::Error) -> Failure {
    let hint = match error.raw_os_error() {
        Some(libc::EMFILE) => "; a larger limit (ulimit -n) may help",
        _ => "",
    };
    Failure::new(1, format!("cannot {what}: {error}{hint}"))
}

/// Returns whether the process, or the system, has no descriptor left.
fn is_out_of_files(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Returns a PE's number among those of its node, and how many these are, with nodes of `per_node`
/// PEs.
pub(super) fn on_node(rank: usize, size: usize, per_node: usize) -> (usize, usize) {
    let local = rank % per_node;
    (local, per_node.min(size - (rank - local)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_descriptors_is_named_where_it_was_hit() {
        let said = |number| {
            let error = std::io::Error::from_raw_os_error(number);
            cannot_start("connect PE 3 of 4", &error).message
        };
        assert!(said(libc::EMFILE).ends_with("(ulimit -n) may help"));
        for number in [libc::ENFILE, libc::EPERM, libc::ENOMEM, libc::EAFNOSUPPORT] {
            let said = said(number);
            assert!(said.starts_with("cannot connect PE 3 of 4: ") && !said.contains("ulimit"));
        }
    }

    #[test]
    fn places_on_nodes() {
        let places = |size, per_node| -> Vec<_> {
            (0..size)
                .map(|rank| on_node(rank, size, per_node))
                .collect()
        };
        assert_eq!(places(3, 3), [(0, 3), (1, 3), (2, 3)]);
        assert_eq!(places(5, 2), [(0, 2), (1, 2), (0, 2), (1, 2), (0, 1)]);
        assert_eq!(places(2, 1), [(0, 1), (0, 1)]);
        assert_eq!(places(2, 9), [(0, 2), (1, 2)]);
    }
}
