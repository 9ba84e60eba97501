//! The lines that a PE sends to its launcher.

use crate::encoding;
use crate::mapping;
use crate::wire::{KEYLEN_MAX, Line};

/// The longest line that a PE sends: some launchers read into buffers of 1024 bytes.
pub(crate) const SAFE_LINE: usize = 1000;

/// The lines by which a PE introduces itself, with the command of the answer to each.
#[must_use]
pub fn introduction() -> [(Line, &'static str); 3] {
    let hello = Line::new("init")
        .field("pmi_version", 1)
        .field("pmi_subversion", 1);
    [
        (hello, "response_to_init"),
        (Line::new("get_maxes"), "maxes"),
        (Line::new("get_my_kvsname"), "my_kvsname"),
    ]
}

/// The lines that publish `value` under `key`, to a launcher that takes values of `vallen_max`
/// bytes; none where the value is too long.
#[must_use]
pub fn put(kvsname: &str, vallen_max: usize, key: &str, value: &[u8]) -> Option<Vec<Line>> {
    let overhead = "cmd=put kvsname= key= value=\n".len() + kvsname.len() + KEYLEN_MAX;
    let limit = vallen_max.min(SAFE_LINE.saturating_sub(overhead));
    let pieces = encoding::encode(value, limit)?;
    let line = |(index, piece): (usize, &String)| {
        Line::new("put")
            .field("kvsname", kvsname)
            .field("key", encoding::piece_key(key, index))
            .field("value", piece)
    };
    Some(pieces.iter().enumerate().map(line).collect())
}

/// Returns the line that asks for piece `index`, from 0, of the value published under `key`.
#[must_use]
pub fn get(kvsname: &str, key: &str, index: usize) -> Line {
    Line::new("get")
        .field("kvsname", kvsname)
        .field("key", encoding::piece_key(key, index))
}

/// How many pieces a value has, by the first of them; none where it is no such piece.
#[must_use]
pub fn pieces(first: &str) -> Option<usize> {
    encoding::first_piece(first).map(|(count, _)| count)
}

/// The line that asks for the nodes of all PEs.
#[must_use]
pub fn node_map(kvsname: &str) -> Line {
    get(kvsname, mapping::KEY, 0)
}

/// The line that says that a PE has come to the barrier.
#[must_use]
pub fn barrier() -> Line {
    Line::new("barrier_in")
}

/// The line that says that a PE is done.
#[must_use]
pub fn finalize() -> Line {
    Line::new("finalize")
}
