//! Counts the calls of gasnet.c: GASNet-1, between two processes.

use crate::Tools;
use crate::am::{LIBRARIES, flags};
use crate::cases::{Counted, OPTIONS, Program, UNCOUNTED, count};
use crate::instructions::Disassembly;
use std::ffi::OsString;
use std::path::Path;

/// Between the two processes, and oshrun's words for it.
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
    let mut counted = Counted::default();
    for (target, words) in TRANSPORTS {
        for mode in MODES {
            let mut launcher: Vec<OsString> =
                vec![tools.oshrun.clone().into(), "-n".into(), "2".into()];
            launcher.extend(words.iter().map(OsString::from));
            let program = Program {
                compiler: Path::new("cc"),
                flags: flags(tools, folder, mode),
                source: folder.join("gasnet.c"),
                libraries: &LIBRARIES,
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
