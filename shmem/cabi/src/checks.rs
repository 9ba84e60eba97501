//! Checks around every routine in the checking library (feature `check`); none in the ordinary one.
//!
//! The macro of `define` hands over a routine's name, and the names and values of its arguments.
//! The names tell their meaning: `routine` takes a routine's name apart, `objects` knows which
//! arguments point to how much memory of which PE, `collectives` the arguments that the PEs of a
//! group must agree on.

#[cfg(feature = "check")]
mod calls;
#[cfg(feature = "check")]
mod collectives;
#[cfg(feature = "check")]
mod objects;
#[cfg(feature = "check")]
mod routine;
#[cfg(feature = "check")]
mod values;

#[cfg(feature = "check")]
pub(crate) use {
    calls::call,
    values::{Argument, Show},
};

/// Calls a routine.
#[cfg(not(feature = "check"))]
macro_rules! around {
    ($name:expr, [$($arg:tt)*], $call:expr) => {
        $call
    };
}

/// Calls a routine, and looks at its arguments before and at its results behind.
#[cfg(feature = "check")]
macro_rules! around {
    ($name:expr, [$($arg:ident: $ty:ty),* $(,)?], $call:expr) => {{
        let arguments = [$(crate::checks::Argument {
            name: stringify!($arg),
            value: crate::checks::Show::show($arg),
        }),*];
        crate::checks::call(&$name, &arguments, || $call)
    }};
}

pub(crate) use around;
