//! Ways to processes of other nodes.

use crate::error::Error;
use fi_provider::libfabric;
use fi_provider::raw::far::Transport;
use fi_provider::variables::{self, Fabric, NoneOf};

/// Ways to other nodes that the user wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes {
    fabric: Fabric,
    by_device: Transport,
}

impl Wishes {
    /// Reads FARREACH_FABRIC and FARREACH_TRANSPORT.
    ///
    /// # Errors
    /// [`NoneOf`] where one of them names nothing.
    pub(crate) fn read() -> Result<Self, NoneOf> {
        Ok(Self {
            fabric: variables::fabric()?,
            by_device: variables::transport(Transport::Rc, Transport::Rc, Transport::Dc)?,
        })
    }
}

/// Finds out how other nodes are reached (FARREACH_LIBFABRIC_PROVIDER, too): in the same way by all
/// processes. `do_all` tells whether all say yes: collective.
///
/// # Errors
/// [`Error::NoNetwork`] where there is none; those of `do_all`.
pub(crate) fn transport(
    wishes: Wishes,
    mut do_all: impl FnMut(bool) -> Result<bool, Error>,
) -> Result<Transport, Error> {
    let mut reasons = Vec::new();
    if matches!(wishes.fabric, Fabric::Auto | Fabric::Mlx5) {
        let probed = fi_provider::device::probe();
        if do_all(probed.is_ok())? {
            return Ok(wishes.by_device);
        }
        reasons.push(match probed {
            Ok(()) => "another process has no mlx5 device".to_owned(),
            Err(error) => format!("mlx5: {error}"),
        });
    }
    if matches!(wishes.fabric, Fabric::Auto | Fabric::Libfabric) {
        let provider = variables::libfabric_provider();
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
