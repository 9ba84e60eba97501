//! Tells where an object lies, by a number that is the same on every PE, and ends the job where
//! something is wrong.

use crate::job::{self, message};
use crate::routine::Routine;
use std::fmt::Arguments;

/// The place of the first byte of the heap, far behind the end of any static data.
const HEAP: u64 = 1 << 62;

/// Names the mistake in a call of routine `at`, and ends the job.
#[cold]
pub(super) fn fail(at: Routine, what: Arguments<'_>) -> ! {
    message::fatal(format_args!("{at}: {what}"))
}

/// Returns the place of the object at `addr` in symmetric memory.
pub(super) fn place_of(addr: usize) -> Option<u64> {
    let [statics, heap] = job::symmetric_ranges()?;
    if statics.contains(&addr) {
        Some((addr - statics.start) as u64)
    } else {
        let in_heap = heap.contains(&addr).then(|| (addr - heap.start) as u64);
        in_heap.map(|offset| HEAP + offset)
    }
}

/// Returns the place of the object at `addr` in words.
pub(super) fn describe_place(addr: usize) -> String {
    match place_of(addr) {
        Some(place) if place >= HEAP => format!("at {:#x} of the heap", place - HEAP),
        Some(place) => format!("at {place:#x} of the static data"),
        None if addr == 0 => "null".to_owned(),
        None => "nowhere in symmetric memory".to_owned(),
    }
}
