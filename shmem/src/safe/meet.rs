//! The way in which the PEs of a team see that they call the same before they do it.
//!
//! Every collective call of the safe interface but for the barriers begins with [`meet`]. PEs that
//! come to different calls, or to the same one with other arguments, panic there, before anything
//! is allocated, freed, converted or transferred. So all PEs agree on the place, the length and the
//! phase of every array, which the proofs of the one-sided operations build on.

use crate::job;
use crate::routine::Routine;
use crate::team::agree::{self, Other};
use crate::team::{Handle, table};
use std::fmt;

/// The arguments of a collective call that all PEs have to agree on; 0 for those that it has not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Args {
    /// The size of an element in bytes.
    pub(super) size: usize,
    /// The number of elements.
    pub(super) count: usize,
    /// Beginning of an array, in bytes from the start of the heap, or an index.
    pub(super) place: Option<usize>,
    /// Beginning of a second array, in the same way.
    pub(super) source: Option<usize>,
    /// The argument that is left, a root, a stride or a number, below 2^63; below 2^20 beside a
    /// second array.
    pub(super) extra: usize,
}

/// Says in the last word that there is a second array; its place is above the bits of `extra`.
const HAS_SOURCE: u64 = 1 << 63;
const EXTRA_BITS: u32 = 20;

/// Packs `extra` and `source` into a word. Places are below 2^43, as those of
/// [`Place::args`](super::phase::Place::args).
fn packed(Args { source, extra, .. }: Args) -> u64 {
    match source {
        None => extra as u64 & !HAS_SOURCE,
        Some(source) => {
            let low = extra as u64 & ((1 << EXTRA_BITS) - 1);
            HAS_SOURCE | (source as u64) << EXTRA_BITS | low
        }
    }
}

/// Unpacks `source` and `extra` from a word of [`packed`].
fn unpacked(word: u64) -> (Option<usize>, usize) {
    if word & HAS_SOURCE == 0 {
        return (None, word as usize);
    }
    let source = (word & !HAS_SOURCE) >> EXTRA_BITS;
    (
        Some(source as usize),
        (word & ((1 << EXTRA_BITS) - 1)) as usize,
    )
}

/// A call in words: its name and its arguments.
struct Call<'a>(&'a str, Args);

/// Bytes of a routine's name that PEs compare.
const NAME: usize = 16;

/// Returns the name of a routine without its type, to be compared: the first bytes of it.
fn name_of(at: Routine) -> [u8; NAME] {
    let name = at.rsplit("::").next().unwrap_or(at);
    let mut bytes = [0; NAME];
    let len = name.len().min(NAME);
    bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
    bytes
}

fn words_of(at: Routine, args: Args) -> agree::Call {
    let [low, high] = bytemuck::cast::<[u8; NAME], [u64; 2]>(name_of(at));
    let Args {
        size, count, place, ..
    } = args;
    [
        low,
        high,
        size as u64,
        count as u64,
        // An offset is below the length of the heap.
        place.map_or(0, |place| place as u64 + 1),
        packed(args),
    ]
}

/// Waits for all PEs of `team`, each of which calls `at` with `args`; their stores before
/// are visible then, and their operations are delivered where they have quieted them.
///
/// The calling thread has the team for itself, as the owner of the `World` or of the safe team has.
///
/// # Panics
/// If a PE has come to another call, or with other arguments: on that PE, too.
#[track_caller]
pub(super) fn meet(at: Routine, team: Handle, args: Args) {
    let group = table::expect(at, team);
    if let Err(other) = group.agree(at, &words_of(at, args)) {
        let pe = group.pes()[other.index];
        differ(at, args, pe, &other);
    }
}

#[cold]
#[track_caller]
fn differ(at: Routine, args: Args, pe: u32, other: &Other) -> ! {
    let own = Call(at, args);
    let me = job::my_pe();
    let Some(words) = other.call else {
        panic!("PE {me} calls {own}, and PE {pe} is in a barrier or another call");
    };
    let name = bytemuck::cast::<[u64; 2], [u8; NAME]>([words[0], words[1]]);
    let name = String::from_utf8_lossy(&name);
    let name = name.trim_end_matches('\0');
    let [size, count, place] = [2, 3, 4].map(|i| words[i] as usize);
    let (source, extra) = unpacked(words[5]);
    let theirs = Args {
        size,
        count,
        place: place.checked_sub(1),
        source,
        extra,
    };
    if words_of(at, args) == words {
        panic!("PE {me} calls {own}, and PE {pe} calls it behind another number of barriers");
    }
    panic!(
        "PE {me} calls {own}, and PE {pe} calls {}",
        Call(name, theirs)
    );
}

impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name, args) = self;
        write!(f, "{name}")?;
        if args.size > 0 {
            write!(f, " of {} elements of {} bytes", args.count, args.size)?;
        } else if args.count > 0 {
            write!(f, " with count {}", args.count)?;
        }
        if let Some(place) = args.place {
            write!(f, " at offset {place:#x}")?;
        }
        if let Some(source) = args.source {
            write!(f, " from offset {source:#x}")?;
        }
        match (args.extra >> 32, args.extra & 0xffff_ffff) {
            (0, 0) => Ok(()),
            (0, low) => write!(f, " with {low}"),
            (high, low) => write!(f, " with {high} and {low}"),
        }
    }
}
