//! The face that a context shows to the fabric: its endpoint, and that nothing returns from a failure.

use super::Context;
use crate::report;
use crate::routine::Routine;
use fi_provider::symmetric::Error;
use fi_provider::symmetric::address_vector::PeerIndex;
use fi_provider::symmetric::caller::{Access, Caller, Refused};
use fi_provider::symmetric::endpoint::Endpoint;
use std::ffi::c_int;

/// Ends the job with a message on an atomic operation, whose object has its name by the routine. A
/// function of its own, so that the callers need not keep anything while the name is looked for.
#[cold]
#[inline(never)]
fn update_refused(
    ctx: &Context,
    at: Routine,
    error: Error,
    addr: usize,
    bytes: usize,
    peer: PeerIndex,
) -> ! {
    let name = report::object_name(at, "dest");
    report::transfer_on(ctx, at, error, name, (addr, bytes), peer as c_int)
}

impl Caller for Context {
    type Routine = Routine;
    type Outcome<T> = T;

    #[inline(always)]
    unsafe fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    #[inline(always)]
    fn done<T>(value: T) -> T {
        value
    }

    /// Ends the job with a message that names the argument.
    #[inline(always)]
    fn refused<T>(&self, at: Routine, refused: Refused) -> T {
        let Refused {
            error,
            access,
            addr,
            bytes,
            peer,
        } = refused;
        let name = match access {
            Access::Read => "source",
            Access::Write => "dest",
            Access::Update => update_refused(self, at, error, addr, bytes, peer),
        };
        report::transfer_on(self, at, error, name, (addr, bytes), peer as c_int)
    }

    /// Ends the job with a message.
    #[inline(always)]
    fn failed(&self, at: Routine, error: Error) {
        report::call_on(self, at, error)
    }
}
