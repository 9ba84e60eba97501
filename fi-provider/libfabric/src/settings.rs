//! The user's settings: environment variables, as libfabric's providers have them.

use fi_provider::device;
use fi_provider::raw::domain::Config;
use fi_provider::raw::far::Transport;

/// Says how endpoints of other nodes are reached: `rc`, `dc`, `none`, or `auto`, which is `rc` where
/// there is a device.
const TRANSPORT: &str = "FI_FARREACH_TRANSPORT";
/// Says whether endpoints of the node are reached in its memory: 1, or 0, which is by the device
/// alone.
const NEAR: &str = "FI_FARREACH_NEAR";

/// Returns the configuration of a domain, without the provider's own part.
///
/// # Errors
/// The sentence for the user, where a variable has a value that it cannot have.
pub(crate) fn config() -> Result<Config, String> {
    let value = |name| std::env::var(name).unwrap_or_default();
    config_of(&value(TRANSPORT), &value(NEAR), || device::probe().is_ok())
}

/// Returns whether endpoints of other nodes may be reached, where there is a device.
pub(crate) fn reaches_others() -> bool {
    std::env::var(TRANSPORT).as_deref() != Ok("none")
}

fn config_of(
    transport: &str,
    near: &str,
    has_device: impl FnOnce() -> bool,
) -> Result<Config, String> {
    let far = match transport {
        "rc" => Some(Transport::Rc),
        "dc" => Some(Transport::Dc),
        "none" => None,
        "" | "auto" => has_device().then_some(Transport::Rc),
        other => {
            return Err(format!(
                "{TRANSPORT} is '{other}': it may be rc, dc, none or auto"
            ));
        }
    };
    let near = match near {
        "" | "1" => true,
        "0" => false,
        other => return Err(format!("{NEAR} is '{other}': it may be 0 or 1")),
    };
    if !near && far.is_none() {
        return Err(format!(
            "{NEAR} is 0, and there is no device, or none is to be used"
        ));
    }
    Ok(Config {
        far,
        near,
        ..Config::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_mean_what_is_documented() {
        let far = |transport, has| config_of(transport, "", || has).map(|config| config.far);
        for (transport, has, expected) in [
            ("", true, Some(Transport::Rc)),
            ("auto", false, None),
            ("none", true, None),
            ("rc", false, Some(Transport::Rc)),
            ("dc", true, Some(Transport::Dc)),
        ] {
            assert_eq!(far(transport, has), Ok(expected), "{transport}");
        }
        let near = |near| config_of("rc", near, || true).map(|config| config.near);
        assert_eq!(
            (near(""), near("1"), near("0")),
            (Ok(true), Ok(true), Ok(false))
        );
        let wrong = far("ib", true).unwrap_err();
        assert!(wrong.contains("FI_FARREACH_TRANSPORT is 'ib'"), "{wrong}");
        assert!(near("no").unwrap_err().contains("FI_FARREACH_NEAR is 'no'"));
        let alone = config_of("none", "0", || true).map(|_| ());
        assert!(alone.unwrap_err().contains("no device"));
    }
}
