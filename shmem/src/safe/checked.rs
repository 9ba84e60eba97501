//! The face that a context shows to the fabric for operations of the safe interface.

#![expect(
    unsafe_code,
    reason = "a reference to a context is one to the same under another name"
)]

use crate::ctx::Context;
use crate::routine::Routine;
use fi_provider::symmetric::Error;
use fi_provider::symmetric::caller::{Caller, Refused};
use fi_provider::symmetric::endpoint::Endpoint;

/// A context whose operations get arguments that were looked at: a PE that it has, and elements of
/// an array of the types in [`super`], which lie in every PE's symmetric memory.
#[repr(transparent)]
#[derive(Debug)]
pub(super) struct Checked(Context);

impl Checked {
    #[inline(always)]
    pub(super) fn of(context: &Context) -> &Self {
        // SAFETY: it is a context and nothing else.
        unsafe { &*std::ptr::from_ref(context).cast() }
    }
}

impl Caller for Checked {
    type Routine = Routine;
    type Outcome<T> = T;
    const IS_CHECKED: bool = true;

    #[inline(always)]
    unsafe fn endpoint(&self) -> &Endpoint {
        // SAFETY: the calling thread may use the endpoint, and arguments are looked at.
        unsafe { self.0.endpoint() }
    }

    #[inline(always)]
    fn done<T>(value: T) -> T {
        value
    }

    /// Ends the job with a message: of the device, as the arguments are right.
    #[inline(always)]
    fn refused<T>(&self, at: Routine, refused: Refused) -> T {
        self.0.refused(at, refused)
    }

    /// Ends the job with a message.
    #[inline(always)]
    fn failed(&self, at: Routine, error: Error) {
        self.0.failed(at, error);
    }
}
