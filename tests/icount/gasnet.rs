//! Counts the calls of gasnet.c: GASNet-1, between two processes.

use crate::Tools;
use crate::cases::{Counted, OPTIONS, Program, UNCOUNTED, count};
use crate::instructions::Disassembly;
use std::ffi::OsString;
use std::path::Path;

/// Between the two processes, and what oshrun is told for it.
const TRANSPORTS: [(&str, &[&str]); 2] = [
    ("shm", &[]),
    (
        "mlx5",
        &["--ppn", "1", "--fabric", "softhca", "--transport", "rc"],
    ),
];
/// The modes of threads.
const MODES: [&str; 2] = ["-DGASNET_SEQ", "-DGASNET_PAR"];

/// Counts the calls of gasnet.c, in `folder`, on each transport and in each mode, which take the place
/// of the target together.
pub(crate) fn gasnet(
    tools: &Tools,
    folder: &Path,
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let mut libraries = OsString::from("-L");
    libraries.push(&tools.libraries);
    let mut found = OsString::from("-Wl,-rpath,");
    found.push(&tools.libraries);
    let mut counted = Counted::default();
    for (target, words) in TRANSPORTS {
        for mode in MODES {
            let mut launcher: Vec<OsString> =
                vec![tools.oshrun.clone().into(), "-n".into(), "2".into()];
            launcher.extend(words.iter().map(OsString::from));
            let program = Program {
                compiler: Path::new("cc"),
                flags: vec![
                    "-std=gnu11".into(),
                    mode.into(),
                    "-I".into(),
                    folder.join("../../include").into(),
                    libraries.clone(),
                    found.clone(),
                ],
                source: folder.join("gasnet.c"),
                libraries: &["-lfarreach-am", "-lpthread", "-ldl"],
                launcher,
                environment: Vec::new(),
                arguments: &[target],
                options: &format!("{OPTIONS} {UNCOUNTED}"),
            };
            counted.extend(count(&program, disassembly)?);
        }
    }
    Ok(counted)
}
