//! Counts the calls of ofi.c: libfabric's, on the installed provider.

use crate::Tools;
use crate::cases::{Counted, OPTIONS, Program, UNCOUNTED, count};
use crate::instructions::Disassembly;
use std::path::Path;

/// Each transport, as the target and as `FI_FARREACH_TRANSPORT`, and whether near peers are reached
/// on the node.
const TRANSPORTS: [(&str, &str, &str); 2] = [("shm", "none", "1"), ("mlx5", "rc", "0")];
/// The threads that may call: one in the domain, or all; or all, beside one that makes progress.
const THREADING: [&str; 3] = ["domain", "safe", "auto"];

/// Counts the calls of ofi.c, in `folder`, on each transport and for each promise of threads, which
/// take the place of the target together.
pub(crate) fn ofi(
    tools: &Tools,
    folder: &Path,
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let header = folder.join("../../include");
    let checks = folder.join("../../fi-provider/libfabric/tests/c");
    let mut counted = Counted::default();
    for (target, transport, near) in TRANSPORTS {
        for threading in THREADING {
            let mut launcher = vec!["env".into()];
            let mut provider = std::ffi::OsString::from("FI_PROVIDER_PATH=");
            provider.push(&tools.provider);
            launcher.push(provider);
            if near == "0" {
                launcher.push(tools.softhca.clone().into());
                launcher.extend(["run", "--"].map(Into::into));
            }
            let program = Program {
                compiler: Path::new("cc"),
                flags: ["-std=gnu11".as_ref(), "-I".as_ref(), header.as_os_str()]
                    .into_iter()
                    .chain(["-I".as_ref(), checks.as_os_str()])
                    .map(Into::into)
                    .collect(),
                source: folder.join("ofi.c"),
                libraries: &["-lfabric", "-ldl"],
                launcher,
                environment: vec![
                    ("FI_FARREACH_TRANSPORT", transport),
                    ("FI_FARREACH_NEAR", near),
                ],
                arguments: &[target, threading],
                options: &format!("{OPTIONS} {UNCOUNTED}"),
            };
            let one = count(&program, disassembly).map_err(|error| {
                format!("ofi.c, which needs the package libfabric-dev: {error}")
            })?;
            counted.extend(one);
        }
    }
    Ok(counted)
}
