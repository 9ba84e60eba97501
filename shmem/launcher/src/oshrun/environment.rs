//! The PEs' environment, as far as it is the same for all of them.

use std::ffi::{OsStr, OsString};

use super::arguments::{Fabric, Options};

/// A variable's name and its value.
pub(super) type Variable = (OsString, OsString);

/// Beginnings of the names of variables that another launcher has left, and that PEs must not take
/// for their own.
const FOREIGN: [&str; 3] = ["PMI_", "PMI2_", "PMIX_"];

/// Beginnings of the names of variables that are true on one host only.
const LOCAL: [&str; 11] = [
    "HOSTNAME",
    "HOST",
    "SSH_",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_",
    "DBUS_SESSION_",
    "SLURMD_",
    "SLURM_NODEID",
    "SLURM_LOCALID",
    "SLURM_PROCID",
    "SLURM_TASK_PID",
];

/// The number of messages that libfabric's ofi_rxm has buffers for, 16 KiB each, which it writes at
/// its start: 4096 unless this is set, more than half of the memory of a PE. Senders wait for room.
const MESSAGE_BUFFERS: (&str, &str) = ("FI_OFI_RXM_MSG_RX_SIZE", "512");

/// Returns oshrun's environment without the variables of another launcher, and with those that the
/// options set; for a job on several hosts, or on one.
pub(super) fn of(options: &Options, has_hosts: bool) -> Vec<Variable> {
    let mut variables: Vec<Variable> = std::env::vars_os()
        .filter(|(name, _)| !begins(name, &FOREIGN))
        .collect();
    for (name, value) in &options.environment {
        set(&mut variables, name, value.clone());
    }
    if let Some(fabric) = options.fabric {
        set(&mut variables, "FARREACH_FABRIC", fabric.variable());
    }
    if let Some(transport) = options.transport {
        set(&mut variables, "FARREACH_TRANSPORT", transport.variable());
    }
    if let Some(lanes) = &options.lanes {
        set(&mut variables, "FARREACH_LANES", lanes);
    }
    let fabric = find(&variables, "FARREACH_FABRIC");
    let may_be_libfabric = has_hosts || fabric == Some(Fabric::Libfabric.variable().as_ref());
    if may_be_libfabric && find(&variables, MESSAGE_BUFFERS.0).is_none() {
        set(&mut variables, MESSAGE_BUFFERS.0, MESSAGE_BUFFERS.1);
    }
    variables
}

/// Sets a variable.
fn set(variables: &mut Vec<Variable>, name: impl AsRef<OsStr>, value: impl Into<OsString>) {
    let name = name.as_ref();
    variables.retain(|(known, _)| known != name);
    variables.push((name.to_owned(), value.into()));
}

/// Returns the value of a variable.
pub(super) fn find<'a>(variables: &'a [Variable], name: &str) -> Option<&'a OsStr> {
    let known = variables.iter().find(|(known, _)| known == name);
    known.map(|(_, value)| value.as_os_str())
}

/// Returns `variables`, which came from another host, with those that are true on that host alone
/// as this process has them. Those that `kept` names stay: the user has set them for the job.
pub(super) fn brought_here(mut variables: Vec<Variable>, kept: &[OsString]) -> Vec<Variable> {
    let is_local = |name: &OsStr| begins(name, &LOCAL) && !kept.iter().any(|kept| kept == name);
    variables.retain(|(name, _)| !is_local(name));
    let own = std::env::vars_os().filter(|(name, _)| is_local(name));
    variables.extend(own);
    variables
}

/// Returns whether a name begins with one of these; one without `_` at its end is the whole name.
fn begins(name: &OsStr, with: &[&str]) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    with.iter().any(|start| {
        name.strip_prefix(start)
            .is_some_and(|rest| rest.is_empty() || start.ends_with('_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts_and_launchers() {
        for (name, foreign, local) in [
            ("PMI_RANK", true, false),
            ("PMIX_RANK", true, false),
            ("PMI", false, false),
            ("HOSTNAME", false, true),
            ("HOSTNAMES", false, false),
            ("SSH_CONNECTION", false, true),
            ("SLURM_PROCID", false, true),
            ("SLURM_JOB_ID", false, false),
        ] {
            assert_eq!(begins(OsStr::new(name), &FOREIGN), foreign, "{name}");
            assert_eq!(begins(OsStr::new(name), &LOCAL), local, "{name}");
        }
    }

    #[test]
    fn what_is_true_on_another_host_does_not_come_along() {
        let variable = |name: &str| (OsString::from(name), OsString::from("there"));
        let from = vec![variable("A"), variable("HOST"), variable("SSH_KEPT")];
        let here = brought_here(from, &["SSH_KEPT".into()]);
        let there = |name| find(&here, name) == Some(OsStr::new("there"));
        assert!(there("A") && there("SSH_KEPT") && !there("HOST"));
    }
}
