//! The mark of an operation on memory under way: its kind, and the work that it leaves.

use crate::raw::completion::{Head, NOTE, Operation, Promise, Report};
use crate::raw::rights::Rights;

/// The mark of an operation: which it is, and flags, as a report has them in its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(super) operation: Operation,
    pub(super) flags: u32,
}

impl Mark {
    /// A write, or a read whose bytes the device puts where they belong.
    pub(crate) const WRITE: Self = Self::new(Operation::Write, 0);
    pub(crate) const READ: Self = Self::new(Operation::Read, 0);
    /// A word that is taken from the results to its place.
    pub(crate) const READ_WORD: Self = Self::new(Operation::Read, Self::WORD);
    pub(crate) const ATOMIC: Self = Self::new(Operation::Atomic, Self::WORD);
    /// Such an operation whose word goes where nobody reads it.
    pub(crate) const ADDITION: Self = Self::new(Operation::Atomic, 0);
    /// Such an operation, whose caller wants the word that was there.
    pub(crate) const FETCH: Self = Self::new(Operation::Fetch, Self::WORD);
    /// No operation.
    const BLANK: Self = Self::new(Operation::Send, Self::NONE);

    /// Goes to the region that the peer has under the key by the time it is done.
    const FOLLOWS: u32 = 1 << NOTE;
    /// The counter of reads counts it, if one does.
    const READS: u32 = 2 << NOTE;
    const COUNTS: u32 = 4 << NOTE;
    /// Brings a word.
    pub(super) const WORD: u32 = 8 << NOTE;
    /// Its word comes where that of another block belongs.
    pub(super) const MISPLACED: u32 = 16 << NOTE;
    pub(super) const DETAILS: u32 = 32 << NOTE;
    pub(super) const NONE: u32 = 64 << NOTE;
    /// Has no entry in the queue.
    pub(super) const SILENT: u32 = 128 << NOTE;

    /// Marks, as notes, of operations that leave nothing to do but an entry and a count are below
    /// this number, by which [`Mark::counter`] tells the counter that counts them.
    pub(crate) const COUNTERS: usize = (Self::WORD >> NOTE) as usize;
    /// Marks, as notes, of such operations and of those that bring a word besides are below this
    /// number.
    pub(super) const WORDS: usize = (Self::MISPLACED >> NOTE) as usize;

    /// Flags of marks for which [`Mark::is_simple`] is false.
    const NOT_SIMPLE: u32 = Self::NONE | Self::DETAILS | Self::MISPLACED;

    pub(super) const fn new(operation: Operation, flags: u32) -> Self {
        let reads = if operation as u8 & READS != 0 {
            Self::READS
        } else {
            0
        };
        Self {
            operation,
            flags: flags | reads,
        }
    }

    /// Makes the mark of an operation whose report has this note.
    #[inline(always)]
    pub(super) fn noted(operation: Operation, note: u8) -> Self {
        Self {
            operation,
            flags: u32::from(note) << NOTE,
        }
    }

    /// Returns `read`, `written` or `nothing`: the counter of operations whose mark, as a note, is
    /// `note`, one below [`Mark::COUNTERS`].
    pub(crate) fn counter<T>(note: usize, [read, written, nothing]: [T; 3]) -> T {
        let has = |flag: u32| note & (flag >> NOTE) as usize != 0;
        match (has(Self::COUNTS), has(Self::READS)) {
            (false, _) => nothing,
            (true, true) => read,
            (true, false) => written,
        }
    }

    /// Returns the first word of the report of its success, which has the flags as its note.
    #[inline(always)]
    pub(super) fn head(self) -> Head {
        Head::new(self.operation, self.flags)
    }

    /// Makes the mark of an operation with this report, which follows its region's key where that
    /// says so.
    #[inline(always)]
    pub(crate) fn of<R: Report>(self, report: R, follows: Follows) -> Self {
        let counts = if report.counts() { Self::COUNTS } else { 0 };
        let silent = report.context().map_or(Self::SILENT, |_| 0);
        Self {
            flags: self.flags | counts | silent | follows.0,
            ..self
        }
    }

    /// Returns whether it has an entry in the queue.
    #[inline(always)]
    pub(crate) fn has_context(self) -> bool {
        self.flags & Self::SILENT == 0
    }

    /// Returns the promise of its operation, whose entry has this context.
    #[inline(always)]
    pub(super) fn promise(self, context: u64) -> Promise {
        Promise {
            context,
            has_entry: self.has_context(),
            counts: self.counts(),
        }
    }

    /// Returns whether the endpoint's counter counts it.
    #[inline(always)]
    pub(crate) fn counts(self) -> bool {
        self.flags & Self::COUNTS != 0
    }

    /// Returns the operation, for one without details.
    #[inline(always)]
    pub(crate) fn operation(self) -> Operation {
        self.operation
    }

    /// Returns whether the counter of reads counts the operation.
    #[inline(always)]
    pub(crate) fn reads(self) -> bool {
        self.flags & Self::READS != 0
    }

    /// Returns whether the operation is an atomic one.
    #[inline(always)]
    pub(super) fn updates(self) -> bool {
        self.operation as u8 & UPDATES != 0
    }

    /// Returns the right that it needs.
    pub(crate) fn rights(self) -> Rights {
        match self.operation {
            Operation::Write => Rights::WRITE,
            Operation::Atomic | Operation::Fetch => Rights::ATOMIC,
            _ => Rights::READ,
        }
    }

    #[inline(always)]
    pub(super) fn is_blank(self) -> bool {
        self.flags & Self::NONE != 0
    }

    /// Returns whether its operation has details.
    #[inline(always)]
    pub(crate) fn has_details(self) -> bool {
        self.flags & Self::DETAILS != 0
    }

    /// Returns whether its operation brings a word.
    #[inline(always)]
    pub(crate) fn has_word(self) -> bool {
        self.flags & Self::WORD != 0
    }

    /// Returns whether its operation leaves nothing to do but its report and, where it brings a
    /// word, to take that from the place of its own block.
    #[inline(always)]
    pub(super) fn is_simple(self) -> bool {
        self.flags & Self::NOT_SIMPLE == 0
    }

    /// Returns whether the operation goes to the region that the peer has under the key by then.
    pub(crate) fn follows(self) -> bool {
        self.flags & Self::FOLLOWS != 0
    }
}

impl Default for Mark {
    fn default() -> Self {
        Self::BLANK
    }
}

/// The bits of the number of an operation on memory that tell its kind.
const READS: u8 = 1;
const UPDATES: u8 = 4;

const _: () = {
    const fn bits(operation: Operation) -> u8 {
        operation as u8 & (READS | UPDATES)
    }
    assert!(bits(Operation::Write) == 0 && bits(Operation::Read) == READS);
    assert!(bits(Operation::Atomic) == UPDATES && bits(Operation::Fetch) == UPDATES | READS);
};

/// Whether an operation goes to the region that the peer has under the key by the time it is done,
/// as a mark has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Follows(u32);

impl Follows {
    pub(crate) const YES: Self = Self(Mark::FOLLOWS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::completion::CountedContext;

    #[test]
    fn marks_tell_their_operations() {
        let all = [
            (Mark::WRITE, Operation::Write, false),
            (Mark::READ, Operation::Read, false),
            (Mark::READ_WORD, Operation::Read, true),
            (Mark::ATOMIC, Operation::Atomic, true),
            (Mark::ADDITION, Operation::Atomic, false),
            (Mark::FETCH, Operation::Fetch, true),
        ];
        for (mark, operation, has_word) in all {
            for mark in [mark, mark.of(CountedContext(1), Follows::YES)] {
                assert_eq!((mark.operation(), mark.has_word()), (operation, has_word));
                let reads = matches!(operation, Operation::Read | Operation::Fetch);
                assert_eq!(mark.reads(), reads);
                assert!(!mark.is_blank() && !mark.has_details());
            }
        }
        assert!(Mark::default().is_blank());
    }
}
