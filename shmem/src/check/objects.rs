//! The places of the objects of a call: in symmetric memory, in blocks that are in use, apart from
//! each other.

use super::place::fail;
use crate::heap::Stretch;
use crate::job;
use crate::report::Whereabouts;
use crate::routine::Routine;
use fi_provider::symmetric::address_vector::PeerIndex;
use std::ffi::c_int;
use std::fmt::{self, Display};

/// An argument that points to memory.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// The argument's name.
    pub name: &'static str,
    /// Its value.
    pub addr: usize,
    /// The bytes that the routine reads or writes there; more than there can be where a product overflows.
    pub bytes: usize,
    /// The PE that the routine was given for it, in its numbering; `None` for the calling PE's own object.
    pub pe: Option<c_int>,
    /// The number of that PE in the job, where that is known.
    pub owner: Option<PeerIndex>,
}

impl Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:#x}", self.name, self.addr)?;
        match self.pe {
            Some(pe) => write!(f, " for PE {pe}"),
            None => Ok(()),
        }
    }
}

impl Object {
    fn end(&self) -> usize {
        self.addr.saturating_add(self.bytes)
    }

    /// Returns the PE in whose memory it really is, and its address in the caller's object.
    fn physical(&self) -> Option<(PeerIndex, usize)> {
        if self.pe.is_some() {
            return Some((self.owner?, self.addr));
        }
        job::owner_of(self.addr).or_else(|| Some((u32::try_from(job::my_pe()).ok()?, self.addr)))
    }
}

/// Ends the job unless the object is symmetric: static data, or a part of one block of the heap that is in use.
/// An object of 0 bytes may be anywhere.
pub(super) fn symmetric(at: Routine, object: &Object) {
    let Some([statics, heap]) = job::symmetric_ranges().filter(|_| object.bytes > 0) else {
        return;
    };
    if statics.contains(&object.addr) {
        if object.end() > statics.end {
            fail(
                at,
                format_args!(
                    "{} bytes at {object} run over the end of the static data: {Whereabouts}",
                    object.bytes
                ),
            );
        }
    } else if heap.contains(&object.addr) {
        not_freed(at, object);
    } else {
        fail(at, format_args!("{object} is not symmetric: {Whereabouts}"));
    }
}

/// Ends the job when the object lies in the heap, but not inside one block that is in use. It may be elsewhere.
pub(super) fn not_freed(at: Routine, object: &Object) {
    let Some([_, heap]) = job::symmetric_ranges().filter(|_| object.bytes > 0) else {
        return;
    };
    let (Some(session), true) = (job::session(), heap.contains(&object.addr)) else {
        return;
    };
    let offset = object.addr - heap.start;
    match session.with_arena(|arena| arena.stretch_at(offset)) {
        Some((Stretch { free: true, .. }, true)) => fail(
            at,
            format_args!("{object} lies in memory of the heap that was freed"),
        ),
        None | Some((Stretch { free: true, .. }, false)) => fail(
            at,
            format_args!("{object} lies in memory of the heap that was never allocated"),
        ),
        Some((block, _)) => {
            let start = heap.start + block.start;
            if object.end() > start + block.size {
                fail(
                    at,
                    format_args!(
                        "{} bytes at {object} run over the end of their block of the heap, which has {} bytes from {start:#x}",
                        object.bytes, block.size
                    ),
                );
            }
        }
    }
}

/// Ends the job unless the object, which others may work on at the same time, is aligned to `bytes`
/// bytes: it would not be read and written as a whole.
pub(super) fn aligned(at: Routine, object: &Object, bytes: usize) {
    if object.bytes > 0 && !object.addr.is_multiple_of(bytes) {
        fail(at, format_args!("{object} is not aligned to {bytes} bytes"));
    }
}

/// Ends the job when two objects of a call share memory; where `in_place`, they may be the same.
pub(super) fn disjoint(at: Routine, one: &Object, other: &Object, in_place: bool) {
    let (Some((owner, a)), Some((other_owner, b))) = (one.physical(), other.physical()) else {
        return;
    };
    let is_empty = one.bytes == 0 || other.bytes == 0;
    if is_empty || owner != other_owner || (in_place && a == b) {
        return;
    }
    if a < b.saturating_add(other.bytes) && b < a.saturating_add(one.bytes) {
        let may_be = if in_place {
            "must be the same or apart"
        } else {
            "must not overlap"
        };
        fail(
            at,
            format_args!(
                "{} bytes at {one} and {} bytes at {other} share memory of PE {owner}, and {may_be}",
                one.bytes, other.bytes
            ),
        );
    }
}
