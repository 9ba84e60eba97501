//! The user's settings: environment variables, as libfabric's providers have them (`fi_info -e`).

use crate::core;
use fi_provider::device;
use fi_provider::raw::domain::Config;
use fi_provider::raw::far::Transport;
use std::ffi::CStr;

/// A setting: its name to libfabric, that of its variable, and its help.
struct Setting {
    name: &'static CStr,
    variable: &'static str,
    help: &'static CStr,
}

const TRANSPORT: Setting = Setting {
    name: c"transport",
    variable: "FI_FARREACH_TRANSPORT",
    help: c"How endpoints of other nodes are reached over an mlx5 device: rc, by connected queue \
pairs; dc, by dynamic connections; none; or auto, which is rc where there is a device (default: \
auto)",
};
const NEAR: Setting = Setting {
    name: c"near",
    variable: "FI_FARREACH_NEAR",
    help:
        c"Whether endpoints of the node are reached in its memory: 1, or 0, which is by the device \
alone (default: 1)",
};

/// Tells libfabric of the settings.
pub(crate) fn define() {
    for setting in [TRANSPORT, NEAR] {
        core::define_parameter(setting.name, setting.help);
    }
}

/// Returns the configuration of a domain, without the provider's own part.
///
/// # Errors
/// The sentence for the user, where a variable has a value that it cannot have.
pub(crate) fn config() -> Result<Config, String> {
    with(|| device::probe().is_ok())
}

/// Returns whether endpoints of other nodes may be reached, where there is a device.
///
/// # Errors
/// As [`config`].
pub(crate) fn reaches_others() -> Result<bool, String> {
    with(|| true).map(|config| config.far.is_some())
}

fn with(has_device: impl FnOnce() -> bool) -> Result<Config, String> {
    let value = |setting: Setting| core::parameter(setting.name);
    config_of(&value(TRANSPORT), &value(NEAR), has_device)
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
            let variable = TRANSPORT.variable;
            return Err(format!(
                "{variable} is '{other}': it may be rc, dc, none or auto"
            ));
        }
    };
    let near = match near {
        "" | "1" => true,
        "0" => false,
        other => {
            let variable = NEAR.variable;
            return Err(format!("{variable} is '{other}': it may be 0 or 1"));
        }
    };
    if !near && far.is_none() {
        let variable = NEAR.variable;
        return Err(format!(
            "{variable} is 0, and there is no device, or none is to be used"
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
