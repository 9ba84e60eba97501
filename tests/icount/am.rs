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

/// The library of active messages, and those that it needs.
pub(crate) const LIBRARIES: [&str; 3] = ["-lfarreach-am", "-lpthread", "-ldl"];

/// Returns the compiler's arguments for a program on the library of active messages, in a mode of
/// threads.
pub(crate) fn flags(tools: &Tools, folder: &Path, mode: &str) -> Vec<OsString> {
    let with = |option: &str, path: &Path| {
        let mut words = OsString::from(option);
        words.push(path);
        words
    };
    vec![
        "-std=gnu11".into(),
        mode.into(),
        with("-I", &folder.join("../../include")),
        with("-L", &tools.libraries),
        with("-Wl,-rpath,", &tools.libraries),
    ]
}

/// Counts the calls of am.c, in `folder`, on each transport and for each promise of threads, which
/// take the place of the target together.
pub(crate) fn am(
    tools: &Tools,
    folder: &Path,
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let mut counted = Counted::default();
    for target in TRANSPORTS {
        for threads in THREADS {
            let mut launcher: Vec<OsString> = vec!["env".into()];
            if target == "mlx5" {
                launcher.push(tools.softhca.clone().into());
                launcher.extend(["run", "--"].map(Into::into));
            }
            let program = Program {
                compiler: Path::new("cc"),
                flags: flags(tools, folder, threads),
                source: folder.join("am.c"),
                libraries: &LIBRARIES,
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
