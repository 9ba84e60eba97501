//! How processes of other nodes are reached.

use crate::error::Error;
use fi_provider::raw::far::Transport;

/// Reads how other nodes are reached (FARREACH_FABRIC, FARREACH_TRANSPORT).
///
/// # Errors
/// [`Error::Variable`]; [`Error::NoDevice`] where no device is to be used.
pub fn transport() -> Result<Transport, Error> {
    let fabrics = [("auto", true), ("mlx5", true), ("shm", false)];
    if !choice("FARREACH_FABRIC", "auto, mlx5, shm", &fabrics)? {
        return Err(Error::NoDevice("FARREACH_FABRIC is shm"));
    }
    let transports = [
        ("auto", Transport::Rc),
        ("rc", Transport::Rc),
        ("dc", Transport::Dc),
    ];
    choice("FARREACH_TRANSPORT", "auto, rc, dc", &transports)
}

/// The choice that a variable makes, the first one by default.
fn choice<T: Copy>(
    variable: &'static str,
    choices: &'static str,
    known: &[(&str, T)],
) -> Result<T, Error> {
    let value = std::env::var_os(variable).map(|value| value.to_string_lossy().into_owned());
    let value = value.filter(|value| !value.is_empty());
    let wanted = value.as_deref().unwrap_or(known[0].0);
    let found = known.iter().find(|(name, _)| *name == wanted);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let text = format!("{variable} is \"{wanted}\", which is not one of {choices}");
        Error::Variable(text.into_boxed_str())
    })
}

/// The number of this process's node for the others: that which is pretended, or the system's.
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
