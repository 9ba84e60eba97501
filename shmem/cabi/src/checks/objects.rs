//! The arguments of a routine that point to memory: its length, and its owner.

use super::routine::{Kind, Routine};
use core::ffi::c_int;
use shmem::check::Object;

/// Ends the job when an object of the call is where it must not be, or a number out of its range.
pub(super) fn look_at(routine: &Routine<'_>) {
    let at = routine.at;
    let objects: Vec<Object> = match routine.kind {
        Kind::Put | Kind::Get => transfer(routine),
        Kind::Atomic => atomic(routine),
        Kind::Wait => wait(routine),
        Kind::Lock => routine.every("lock", 1).into_iter().collect(),
        // The check needs the group first.
        Kind::Collective | Kind::Other => return,
    };
    for object in &objects {
        let is_awaited = matches!(object.name, "ivar" | "ivars" | "sig_addr" | "lock");
        if object.pe.is_some() || is_awaited {
            routine.check.symmetric(at, object);
        } else {
            routine.check.not_freed(at, object);
        }
        if is_awaited || routine.kind == Kind::Atomic {
            let element = routine
                .pointer(object.name)
                .map_or(1, |(_, element)| element);
            routine.check.aligned(at, object, element);
        }
    }
    all_apart(routine, &objects);
}

/// Ends the job when two of the objects share memory, one of which is written to.
fn all_apart(routine: &Routine<'_>, objects: &[Object]) {
    for (index, one) in objects.iter().enumerate() {
        for other in &objects[index + 1..] {
            routine.check.disjoint(routine.at, one, other, false);
        }
    }
}

impl Routine<'_> {
    /// Returns the object of `count` elements of the calling PE; `None` where there is no such
    /// argument, or a null one.
    fn own(&self, name: &'static str, count: usize) -> Option<Object> {
        self.every(name, count).filter(|object| object.addr != 0)
    }

    /// Returns the object of `count` elements that every PE has. Null is not symmetric.
    pub(super) fn every(&self, name: &'static str, count: usize) -> Option<Object> {
        let (addr, element) = self.pointer(name)?;
        Some(Object {
            name,
            addr,
            bytes: element.saturating_mul(count),
            pe: None,
            owner: None,
        })
    }

    /// Returns the object of `count` elements of the PE that the routine is about. Null is not
    /// symmetric.
    fn remote(&self, name: &'static str, count: usize) -> Option<Object> {
        let (addr, element) = self.pointer(name)?;
        let pe = self.number("pe")? as c_int;
        Some(Object {
            name,
            addr,
            bytes: element.saturating_mul(count),
            pe: Some(pe),
            owner: self.check.owner(self.context(), pe),
        })
    }

    /// Returns the handle of the context that the routine is called on; `None` for the default one.
    pub(super) fn context(&self) -> Option<usize> {
        usize::try_from(self.number("ctx")?).ok()
    }

    /// Returns the number of elements from the first to the last that the call moves, with those
    /// between them.
    pub(super) fn extent(&self, stride: &str, count: usize) -> usize {
        let size = self.number("bsize").map_or(1, elements);
        match self.number(stride) {
            Some(stride) => span(count, size, stride),
            None => count,
        }
    }
}

/// Returns a number as one of elements: a negative one as none, and a number that is too large as
/// the most that there can be.
pub(super) fn elements(number: i128) -> usize {
    usize::try_from(number.max(0)).unwrap_or(usize::MAX)
}

/// Returns the elements from the first to the last of `count` blocks of `size`, which begin
/// `stride` apart.
fn span(count: usize, size: usize, stride: i128) -> usize {
    if count == 0 || size == 0 {
        return 0;
    }
    elements(stride)
        .saturating_mul(count - 1)
        .saturating_add(size)
}

fn transfer(routine: &Routine<'_>) -> Vec<Object> {
    let count = routine
        .number("nblocks")
        .or_else(|| routine.number("nelems"))
        .map_or(1, elements);
    if count > 0 {
        strides(routine, "dst");
        strides(routine, "sst");
    }
    let (dest, source) = (routine.extent("dst", count), routine.extent("sst", count));
    let objects = if routine.kind == Kind::Put {
        [
            routine.remote("dest", dest),
            routine.own("source", source),
            routine.remote("sig_addr", 1),
        ]
    } else {
        [
            routine.own("dest", dest),
            routine.remote("source", source),
            None,
        ]
    };
    objects.into_iter().flatten().collect()
}

/// Ends the job when elements or blocks would lie upon each other.
pub(super) fn strides(routine: &Routine<'_>, name: &str) {
    let least = routine.number("bsize").unwrap_or(1);
    if let Some(stride) = routine.number(name).filter(|&stride| stride < least) {
        routine.check.fail(
            routine.at,
            format_args!("{name} {stride} is less than {least}"),
        );
    }
}

fn atomic(routine: &Routine<'_>) -> Vec<Object> {
    let objects = [
        routine.own("fetch", 1),
        routine.remote("dest", 1),
        routine.remote("source", 1),
        routine.remote("sig_addr", 1),
    ];
    objects.into_iter().flatten().collect()
}

fn wait(routine: &Routine<'_>) -> Vec<Object> {
    let count = routine.number("nelems").map_or(1, elements);
    let objects = [
        routine.every("ivar", 1),
        routine.every("sig_addr", 1),
        routine.every("ivars", count),
        routine.own("indices", count),
        routine.own("status", count),
    ];
    objects.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_reach_from_the_first_to_the_last_element() {
        assert_eq!(span(0, 3, 5), 0);
        assert_eq!(span(3, 0, 5), 0);
        assert_eq!(span(1, 1, 7), 1);
        assert_eq!(span(4, 1, 1), 4);
        assert_eq!(span(4, 1, 3), 10);
        assert_eq!(span(3, 2, 5), 12);
        assert_eq!(span(usize::MAX, 1, 2), usize::MAX);
        assert_eq!(elements(-1), 0);
        assert_eq!(elements(1 << 100), usize::MAX);
    }
}
