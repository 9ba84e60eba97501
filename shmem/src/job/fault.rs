//! Faults in symmetric memory.
//!
//! The fast path's range test takes the whole window, holes included; nothing is mapped in the holes of
//! a peer's window, so that an address there faults. And a page that the system has no memory for
//! raises SIGBUS. Both get a message; every other fault goes on to the handler that was there
//! before, which leaves this one in its place.
//!
//! The thread may have been stopped anywhere, with any lock: nothing here allocates or locks, or
//! calls a function that does.

#![expect(unsafe_code, reason = "signal handlers")]

mod before;
mod routine;

use super::{exit, message};
use crate::job;
use before::Before;
use std::ffi::{c_int, c_void};
use std::sync::Once;

/// The signals of memory that cannot be used, each with the action that was there before.
static SIGNALS: [(c_int, Before); 2] = [
    (libc::SIGSEGV, Before::unknown()),
    (libc::SIGBUS, Before::unknown()),
];

/// The `si_code` of a fault in a page that the system has no memory for (`BUS_ADRERR`).
const NO_MEMORY: c_int = 2;

/// Installs the handlers, once for the life of the process.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: initialisation: no other thread is in the library.
        unsafe { routine::learn() };
        for (signal, before) in &SIGNALS {
            // SAFETY: initialisation: no other thread is in the library. The handler has the form
            // that is asked for.
            unsafe { before.replace(*signal, on_fault) };
        }
    });
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the location is the thread's own.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the kernel passes a record of its own to handlers with SA_SIGINFO; both signals' have
    // an address.
    let (code, addr) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if code > 0 {
        explain(signal, code, addr, context);
    }
    // SAFETY: as above: the location is the thread's own.
    unsafe { *libc::__errno_location() = errno };
    if let Some((_, before)) = SIGNALS.iter().find(|(known, _)| *known == signal) {
        // SAFETY: the arguments are those of this handler, which returns next.
        unsafe { before.call(signal, info, context) };
    }
}

/// Ends the job with a message if the fault is one of a routine, or in symmetric memory.
fn explain(signal: c_int, code: c_int, addr: usize, context: *mut c_void) {
    let Some((pe, own_addr)) = job::owner_of(addr) else {
        return;
    };
    // SAFETY: the kernel passes a valid context to handlers with SA_SIGINFO.
    let routine = unsafe { routine::at_fault(context) };
    let at = routine.unwrap_or("a load or store of the program");
    if signal == libc::SIGBUS {
        if code == NO_MEMORY {
            fatal(format_args!(
                "{at}: the system has no memory for the symmetric memory of PE {pe} at {own_addr:#x}: use a smaller problem, fewer PEs, or a machine or container with more memory"
            ));
        }
    } else if routine.is_some() || job::job().is_none_or(|job| job.node.pe() != pe) {
        fatal(format_args!(
            "{at}: {own_addr:#x} for PE {pe} is not symmetric: it lies between the static data and the heap, where the program keeps other things"
        ));
    }
    // The program's own code or constants, written to by the program itself.
}

fn fatal(line: std::fmt::Arguments<'_>) -> ! {
    message::say_in_handler(line);
    exit::end_in_handler(exit::FAILURE)
}
