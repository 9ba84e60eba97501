//! Ways to processes of other nodes.

use crate::error::Error;
use fi_provider::libfabric;
use fi_provider::raw::far::Transport;

/// Wanted way to other nodes (FARREACH_FABRIC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// By a device where every process has one, or else by libfabric.
    Any,
    Device,
    Libfabric,
    Nothing,
}

/// Finds out how other nodes are reached (FARREACH_FABRIC, FARREACH_TRANSPORT,
/// FARREACH_LIBFABRIC_PROVIDER): in the same way by all processes. `do_all` tells whether all say
/// yes: collective.
///
/// # Errors
/// [`Error::Variable`]; [`Error::NoNetwork`] where there is none; those of `do_all`.
pub(crate) fn transport(
    mut do_all: impl FnMut(bool) -> Result<bool, Error>,
) -> Result<Transport, Error> {
    let fabrics = [
        ("auto", Wanted::Any),
        ("mlx5", Wanted::Device),
        ("libfabric", Wanted::Libfabric),
        ("shm", Wanted::Nothing),
    ];
    let wanted = choice("FARREACH_FABRIC", "auto, mlx5, libfabric, shm", &fabrics)?;
    let transports = [
        ("auto", Transport::Rc),
        ("rc", Transport::Rc),
        ("dc", Transport::Dc),
    ];
    let by_device = choice("FARREACH_TRANSPORT", "auto, rc, dc", &transports)?;
    let mut reasons = Vec::new();
    if matches!(wanted, Wanted::Any | Wanted::Device) {
        let probed = fi_provider::device::probe();
        if do_all(probed.is_ok())? {
            return Ok(by_device);
        }
        reasons.push(match probed {
            Ok(()) => "another process has no mlx5 device".to_owned(),
            Err(error) => format!("mlx5: {error}"),
        });
    }
    if matches!(wanted, Wanted::Any | Wanted::Libfabric) {
        let provider = value("FARREACH_LIBFABRIC_PROVIDER");
        let found = libfabric::best(provider.as_deref());
        if do_all(found.is_ok())? {
            // One string for each job, of which a process has few.
            let provider = provider.map(|name| &*name.leak());
            return Ok(Transport::Libfabric(provider));
        }
        reasons.push(match found {
            Ok(_) => "another process has no libfabric".to_owned(),
            Err(error) => format!("libfabric: {error}"),
        });
    }
    if reasons.is_empty() {
        reasons.push("FARREACH_FABRIC is shm".to_owned());
    }
    Err(Error::NoNetwork(reasons.join("; ").into_boxed_str()))
}

/// Returns the value of a variable that is set, and not empty.
fn value(variable: &str) -> Option<String> {
    let value = std::env::var_os(variable).map(|value| value.to_string_lossy().into_owned());
    value.filter(|value| !value.is_empty())
}

/// Returns the choice that a variable makes, the first one by default.
fn choice<T: Copy>(
    variable: &'static str,
    choices: &'static str,
    known: &[(&str, T)],
) -> Result<T, Error> {
    let value = value(variable);
    let wanted = value.as_deref().unwrap_or(known[0].0);
    let found = known.iter().find(|(name, _)| *name == wanted);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let text = format!("{variable} is \"{wanted}\", which is not one of {choices}");
        Error::Variable(text.into_boxed_str())
    })
}

/// Returns the number of this process's node for the others: the pretended one, or the system's.
pub(crate) fn this_node(pretended: Option<u32>) -> [u8; 8] {
    let host = || {
        // The same for all processes of one system, since it was started.
        let text = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        text.iter().fold(1_u64 << 32, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(u64::from(*byte))
        })
    };
    pretended.map_or_else(host, u64::from).to_le_bytes()
}
