//! Counts the calls of am.c: active messages, and access to the memory of peers.

use crate::Tools;
use crate::cases::{Counted, OPTIONS, Program, UNCOUNTED, count};
use crate::instructions::Disassembly;
use std::ffi::OsString;
use std::path::Path;

/// Between the two processes.
const TRANSPORTS: [&str; 2] = ["shm", "mlx5"];
/// The threads that may call: one, or any.
const THREADS: [&str; 2] = ["-UFARREACH_AM_THREADS", "-DFARREACH_AM_THREADS"];

/// Counts the calls of am.c, in `folder`, on each transport and for each promise of threads, which
/// take the place of the target together.
pub(crate) fn am(
    tools: &Tools,
    folder: &Path,
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let mut libraries = OsString::from("-L");
    libraries.push(&tools.libraries);
    let mut found = OsString::from("-Wl,-rpath,");
    found.push(&tools.libraries);
    let mut counted = Counted::default();
    for target in TRANSPORTS {
        for threads in THREADS {
            let mut launcher: Vec<OsString> = vec!["env".into()];
            if target == "mlx5" {
                launcher.push(tools.softhca.clone().into());
                launcher.extend(["run", "--"].map(Into::into));
            }
            let include = folder.join("../../include").into();
            let program = Program {
                compiler: Path::new("cc"),
                flags: vec![
                    "-std=gnu11".into(),
                    threads.into(),
                    "-I".into(),
                    include,
                    libraries.clone(),
                    found.clone(),
                ],
                source: folder.join("am.c"),
                libraries: &["-lfarreach-am", "-lpthread", "-ldl"],
                launcher,
                environment: vec![("FARREACH_TRANSPORT", "rc")],
                arguments: &[target],
                options: &format!("{OPTIONS} {UNCOUNTED}"),
            };
            counted.extend(count(&program, disassembly)?);
        }
    }
    Ok(counted)
}
