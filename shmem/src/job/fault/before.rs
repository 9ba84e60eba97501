//! The action that a signal had before this library's: it is called as the kernel would have called
//! it.

#![expect(
    unsafe_code,
    reason = "actions, masks, and a handler known by its address"
)]

use crate::plain::Plain;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// A handler of the form that SA_SIGINFO asks for. The kernel passes all three arguments to any
/// handler.
pub(super) type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The flags of the former action that this library's has, too: its handler runs on the same stack,
/// and interrupts the same calls.
const SHARED_FLAGS: c_int = libc::SA_ONSTACK | libc::SA_RESTART;

/// The `si_code` of a SIGBUS that no instruction of this thread has raised (`BUS_MCEERR_AO`).
const OF_NO_INSTRUCTION: c_int = 5;

/// A former action.
pub(super) struct Before {
    action: Plain<Option<libc::sigaction>>,
    /// Whether the action was for one signal only (SA_RESETHAND), which has come.
    is_spent: AtomicBool,
}

impl Before {
    pub(super) const fn unknown() -> Self {
        Self {
            action: Plain::new(None),
            is_spent: AtomicBool::new(false),
        }
    }

    /// Keeps the action of `signal`, and installs `handler`.
    ///
    /// # Safety
    /// No other thread is inside the library.
    pub(super) unsafe fn replace(&self, signal: c_int, handler: Handler) {
        let mut before = default_action();
        // SAFETY: no action is given; the record to be filled lives during the call.
        unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut before) };
        let mut ours = default_action();
        ours.sa_sigaction = handler as *const () as usize;
        // With no handler before, on another stack where there is one: the fault may be that of a
        // full stack.
        let shared = match before.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => libc::SA_ONSTACK,
            _ => before.sa_flags & SHARED_FLAGS,
        };
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | shared;
        // SAFETY: no other thread is inside the library, by contract, and the handler, which reads
        // it, is not installed yet.
        unsafe { *self.action.get_mut() = Some(before) };
        // SAFETY: the action lives during the call; its handler has the form that SA_SIGINFO asks
        // for.
        unsafe { libc::sigaction(signal, &raw const ours, std::ptr::null_mut()) };
    }

    /// Does as the kernel would with the former action, which leaves the present one installed
    /// unless the signal is to end the process.
    ///
    /// # Safety
    /// The arguments are those of a handler with SA_SIGINFO and SA_NODEFER, which returns next.
    pub(super) unsafe fn call(
        &self,
        signal: c_int,
        info: *mut libc::siginfo_t,
        context: *mut c_void,
    ) {
        // SAFETY: the kernel's record, by contract.
        let code = unsafe { (*info).si_code };
        // A signal that was sent, or that the kernel raised in passing, does not come again with
        // the instruction.
        let is_sent = code <= 0 || (signal == libc::SIGBUS && code == OF_NO_INSTRUCTION);
        let action = self.current();
        match action.sa_sigaction {
            // A fault cannot be ignored: the kernel ends the process by it.
            libc::SIG_IGN if is_sent => (),
            libc::SIG_IGN | libc::SIG_DFL => die(signal, is_sent),
            handler => {
                block(&action, signal);
                // SAFETY: the address came from sigaction(2) and is none of its constants: a
                // handler, which finds the arguments that it knows of in their places.
                let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
                // The mask is the interrupted code's again when the handler of the kernel's call
                // returns.
                handler(signal, info, context);
            }
        }
    }

    /// Returns the action for a signal that has come.
    fn current(&self) -> libc::sigaction {
        let action = self.action.get().unwrap_or_else(default_action);
        let is_for_one = action.sa_flags & libc::SA_RESETHAND != 0;
        // ORDERING: a swap makes one handler of several threads the first; nothing else is ordered
        // by it.
        if is_for_one && self.is_spent.swap(true, Ordering::Relaxed) {
            return default_action();
        }
        action
    }
}

fn default_action() -> libc::sigaction {
    // SAFETY: all zeros is the default action, without flags and with an empty mask.
    unsafe { std::mem::zeroed() }
}

/// Blocks the signals that the kernel would block while the handler of `action` runs.
fn block(action: &libc::sigaction, signal: c_int) {
    let mut mask = action.sa_mask;
    if action.sa_flags & libc::SA_NODEFER == 0 {
        // SAFETY: the set is the C library's, initialised; the signal is one that has come.
        unsafe { libc::sigaddset(&raw mut mask, signal) };
    }
    // SAFETY: the set lives during the call, and the old one is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const mask, std::ptr::null_mut()) };
}

/// Lets the signal end the process: when the handler returns, by the instruction that faults again,
/// and by another signal where this one `is_sent`.
fn die(signal: c_int, is_sent: bool) {
    let default = default_action();
    // SAFETY: the action lives during the call; raise has no memory preconditions.
    unsafe {
        libc::sigaction(signal, &raw const default, std::ptr::null_mut());
        if is_sent {
            libc::raise(signal);
        }
    }
}
