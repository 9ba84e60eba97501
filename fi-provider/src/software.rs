//! Detection of a device in software (softhca), and of the obstacles to it.

use crate::device::Error;
use crate::device::hook::software_hook;
use fi_mlx5::error::Error as Hca;

/// Names the device's directory to the programs that are on it.
const DIRECTORY: &str = "FARREACH_SOFTHCA";

/// Returns the remedy for a process that cannot use a device for the reason `error`, in a sentence
/// for its user.
///
/// To let a device in software stand in helps only where none does already, and where rdma-core is
/// there, on which it relies.
pub fn remedy(error: &Error) -> &'static str {
    let is_there = std::env::var_os(DIRECTORY).is_some();
    remedy_of(error, is_there, is_there && software_hook().is_some())
}

fn remedy_of(error: &Error, is_there: bool, is_loaded: bool) -> &'static str {
    match error {
        Error::Hca(Hca::NotInstalled { .. } | Hca::NotLoaded { .. } | Hca::TooOld { .. }) => {
            "Without one, put all PEs on one node; a software device (softhca) needs these \
             libraries as well"
        }
        _ if is_there && !is_loaded => {
            "There is a software device (softhca), and its libsofthca_shim.so is not loaded into \
             this process: statically linked programs load nothing, and others what LD_PRELOAD \
             names, unless they are set-user-ID"
        }
        Error::Hca(Hca::Locked { .. }) if is_there => {
            "The device is a software one (softhca), which goes by that limit, or by its option \
             --max-pinned; one that oshrun starts itself (--fabric softhca, not below softhca run) \
             has no limit"
        }
        _ if is_there => {
            "The device is a software one (softhca), which says on standard error why it refuses a \
             process (docs/softhca.md, \"When it does not work\")"
        }
        _ => {
            "Without one, put all PEs on one node, or let a software device stand in \
             (oshrun --fabric softhca)"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_advised_to_take_the_device_that_is_there() {
        let library = "libibverbs.so.1";
        let missing = || Error::Hca(Hca::NotInstalled { library });
        let none = || Error::Hca(Hca::NoDevice { seen: Vec::new() });
        let locked = || {
            Error::Hca(Hca::Locked {
                call: "ibv_reg_mr",
                bytes: Some(1),
                limit: "0 bytes".to_owned(),
            })
        };
        let stand_in = "let a software device stand in";
        for (error, there, loaded, part) in [
            (none(), false, false, stand_in),
            (locked(), false, false, stand_in),
            (missing(), false, false, "needs these libraries as well"),
            (missing(), true, true, "needs these libraries as well"),
            (missing(), true, false, "needs these libraries as well"),
            (none(), true, false, "statically linked"),
            (locked(), true, true, "has no limit"),
            (none(), true, true, "says on standard error why"),
        ] {
            let said = remedy_of(&error, there, loaded);
            assert!(said.contains(part), "{error}: {said}");
            assert_eq!(said.contains(stand_in), part == stand_in);
        }
    }
}
