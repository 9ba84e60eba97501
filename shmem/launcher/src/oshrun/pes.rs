//! The PEs' processes, started with their connection.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use fi_bootstrap::environment;

use super::arguments::Options;
use super::connection::Connection;
use super::device::Device;
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
    pub(super) pid: i32,
    /// Whether the process has not been reaped.
    pub(super) alive: bool,
    pub(super) connection: Connection,
}

/// What all PEs have in common.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    pub(super) options: &'a Options,
    /// The file to execute, and what the program is told that it is called.
    pub(super) executable: &'a Path,
    pub(super) name: &'a std::ffi::OsStr,
    pub(super) place: &'a Installation,
    pub(super) device: Option<&'a Device>,
    pub(super) cpus: Option<Vec<usize>>,
    pub(super) descriptors: Option<sys::DescriptorLimit>,
}

impl Launch<'_> {
    /// Starts PE `rank`. The pipes of its output go to `output` if there are any.
    pub(super) fn start(&self, rank: usize, output: &mut Output) -> Result<Pe, Failure> {
        let size = self.options.pes;
        let connect = |error| cannot_start(&format!("connect PE {rank} of {size}"), &error);
        let (ours, theirs) = UnixStream::pair().map_err(connect)?;
        ours.set_nonblocking(true).map_err(connect)?;
        let mut command = Command::new(self.executable);
        command.arg0(self.name).args(&self.options.arguments);
        let inode = sys::inode(&theirs).map_err(connect)?;
        let connection = environment::connection(theirs.as_raw_fd(), rank, size, inode);
        self.set_environment(&mut command, rank, &theirs);
        command.env(environment::CONNECTION, connection);
        if rank != 0 {
            let null = File::open(NULL).map_err(|error| {
                cannot_start(&format!("start PE {rank} of {size}: {NULL}"), &error)
            })?;
            command.stdin(null);
        }
        output.prepare(&mut command);
        let setup = sys::Setup {
            keep: Some(theirs.as_fd()),
            cpu: self.cpus.as_ref().map(|cpus| cpus[rank]),
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
            pid: child.id().cast_signed(),
            alive: true,
            connection: Connection::new(ours),
        })
    }

    /// The failure of a program that is there and cannot be started.
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

    /// oshrun's whole environment, except what another launcher has left in it, and what the PE is to know.
    fn set_environment(&self, command: &mut Command, rank: usize, socket: &UnixStream) {
        let foreign = |name: &str| {
            ["PMI_", "PMI2_", "PMIX_"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
        };
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(foreign))
        {
            command.env_remove(name);
        }
        command.envs(
            self.options
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        );
        command.env(LIBRARY_PATH, self.library_path());
        if let Some(fabric) = self.options.fabric {
            command.env("FARREACH_FABRIC", fabric.variable());
        }
        if let Some(transport) = self.options.transport {
            command.env("FARREACH_TRANSPORT", transport.variable());
        }
        if let Some(lanes) = &self.options.lanes {
            command.env("FARREACH_LANES", lanes);
        }
        if let Some(device) = self.device {
            device.give_to(command, |name| self.given(name));
        }
        let size = self.options.pes;
        let (local_rank, local_size) = on_node(rank, size, self.options.per_node.unwrap_or(size));
        command
            .env("FARREACH_OSHRUN", "1")
            .env("PMI_FD", socket.as_raw_fd().to_string())
            .env("PMI_RANK", rank.to_string())
            .env("PMI_SIZE", size.to_string())
            // What hydra tells about the node, pretended or not, for programs that look at it.
            .env("MPI_LOCALRANKID", local_rank.to_string())
            .env("MPI_LOCALNRANKS", local_size.to_string());
    }

    /// The value that the PEs would have of a variable: from the command line, or else from the environment.
    fn given(&self, name: &str) -> Option<OsString> {
        let mut given = self.options.environment.iter().rev();
        given
            .find(|(given, _)| given == name)
            .map(|(_, value)| value.clone())
            .or_else(|| std::env::var_os(name))
    }

    /// The folders in which the PEs look for libraries: the checking library's where it is asked for, the user's, and
    /// the installation's. Those of the installation hold libshmem.so alone.
    fn library_path(&self) -> OsString {
        let check = self.wants_check();
        let check = check.then(|| self.place.lib().join("check").into());
        let users = self.given(LIBRARY_PATH).filter(|path| !path.is_empty());
        let own = self.place.run_time().into();
        let folders: Vec<OsString> = check.into_iter().chain(users).chain([own]).collect();
        folders.join(OsStr::new(":"))
    }

    /// Whether SHMEM_CHECK is set, and not to 0.
    fn wants_check(&self) -> bool {
        let given = CHECK.iter().find_map(|name| self.given(name));
        given.is_some_and(|value| !value.is_empty() && value != "0")
    }
}

/// A failure to do something for a PE.
fn cannot_start(what: &str, error: &std::io::Error) -> Failure {
    let hint = match error.raw_os_error() {
        Some(libc::EMFILE) => "; a larger limit (ulimit -n) may help",
        _ => "",
    };
    Failure::new(1, format!("cannot {what}: {error}{hint}"))
}

/// Whether the process, or the system, has no descriptor left.
fn is_out_of_files(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// A PE's number among those of its node, and how many these are.
fn on_node(rank: usize, size: usize, per_node: usize) -> (usize, usize) {
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
