//! The name that messages have for a routine.

/// The C name of the routine that is being executed, for messages.
///
/// A reference to a reference, so that it takes one register where a string takes two: the cold
/// continuation of every operation gets it.
pub type Routine = &'static &'static str;
