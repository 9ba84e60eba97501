//! The types by which an operation chooses how it tells of its end.

use std::num::NonZero;

/// Way in which an operation reports its end: chosen by type, so that a call without a report has
/// none of its instructions.
pub trait Report: Copy + Sealed {
    /// Whether the endpoint's counter counts the operation.
    const COUNTS: bool;
    /// Returns whether the endpoint's counter counts the operation.
    #[inline(always)]
    fn counts(self) -> bool {
        Self::COUNTS
    }
    /// Returns the context of the entry of its success, if that has one.
    fn context(self) -> Option<u64>;
    /// Returns the context of the entry of its failure, which is 0 where it has none.
    fn failure(self) -> Option<u64>;
    /// Whether the operation is one of several that are reported together.
    const IS_PART: bool = false;
    /// Returns the operation of which it is a part then.
    #[inline(always)]
    fn part(self) -> Option<NonZero<u64>> {
        None
    }
}

/// Keeps [`Report`] to the types of this module.
pub trait Sealed {}

/// Reports success to nobody; a failure goes to the queue, with context 0, and is counted.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

/// Counts.
#[derive(Clone, Copy, Debug)]
pub struct Counted;

/// Reports success to nobody; a failure goes to the queue, with this context, and is counted.
#[derive(Clone, Copy, Debug)]
pub struct FailureContext(pub u64);

/// Counts; a failure goes to the queue, too, with this context.
#[derive(Clone, Copy, Debug)]
pub struct CountedFailureContext(pub u64);

/// Makes an entry with this context.
#[derive(Clone, Copy, Debug)]
pub struct Context(pub u64);

/// Makes an entry with this context, and counts.
#[derive(Clone, Copy, Debug)]
pub struct CountedContext(pub u64);

macro_rules! reports {
    ($($name:ident: counts $counts:literal, has_entry $has_entry:literal, |$own:ident| $context:expr;)*) => {$(
        impl Sealed for $name {}

        impl Report for $name {
            const COUNTS: bool = $counts;

            #[inline(always)]
            fn context(self) -> Option<u64> {
                if $has_entry { self.failure() } else { None }
            }

            #[inline(always)]
            fn failure(self) -> Option<u64> {
                let $own = self;
                $context
            }
        }
    )*};
}

reports! {
    Silent: counts false, has_entry false, |_own| None;
    Counted: counts true, has_entry false, |_own| None;
    FailureContext: counts false, has_entry false, |own| Some(own.0);
    CountedFailureContext: counts true, has_entry false, |own| Some(own.0);
    Context: counts false, has_entry true, |own| Some(own.0);
    CountedContext: counts true, has_entry true, |own| Some(own.0);
}

// The report of an operation that is started for another call. Operations of programs have
// instances of their own: their arguments, as far as known, make them shorter.
impl Sealed for Promise {}

impl Report for Promise {
    const COUNTS: bool = false;

    #[inline(always)]
    fn counts(self) -> bool {
        self.counts
    }

    #[inline(always)]
    fn context(self) -> Option<u64> {
        self.has_entry.then_some(self.context)
    }

    #[inline(always)]
    fn failure(self) -> Option<u64> {
        Some(self.context)
    }
}

/// Tells the operation of this number, of which it is a part: see
/// [`Call`](crate::raw::endpoint::Call).
#[derive(Clone, Copy, Debug)]
pub struct Part(pub(crate) NonZero<u64>);

impl Sealed for Part {}

impl Report for Part {
    const COUNTS: bool = false;
    const IS_PART: bool = true;

    #[inline(always)]
    fn context(self) -> Option<u64> {
        None
    }

    #[inline(always)]
    fn failure(self) -> Option<u64> {
        None
    }

    #[inline(always)]
    fn part(self) -> Option<NonZero<u64>> {
        Some(self.0)
    }
}

/// A report of an operation that is under way, kept until it ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise {
    /// Context of its entry, of a failure or of a success.
    pub(crate) context: u64,
    /// Whether its success has an entry.
    pub(crate) has_entry: bool,
    pub(crate) counts: bool,
}

impl Promise {
    /// Reports nothing but a failure.
    pub(crate) const NOTHING: Self = Self {
        context: 0,
        has_entry: false,
        counts: false,
    };

    #[inline(always)]
    pub(crate) fn of<R: Report>(report: R) -> Self {
        Self {
            context: report.failure().unwrap_or(0),
            has_entry: report.context().is_some(),
            counts: report.counts(),
        }
    }

    /// Makes the promise of a message that comes to a buffer with this context.
    pub(crate) fn of_receive(context: u64) -> Self {
        Self::of(CountedContext(context))
    }
}
