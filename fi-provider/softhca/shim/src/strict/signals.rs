//! The handler of SIGSEGV, in front of the program's own one.
//!
//! The program may install, change and ask for its handler as ever: its functions for that are this
//! library's, which keeps the program's action and calls it for faults that are no store to a
//! doorbell page. SIGSEGV is never blocked, as a store would then end the program.

use super::frame::Frame;
use super::{SET, is_wanted, keeping_errno, pages, set_mask, stores};
use crate::calls::original;
use std::ffi::{c_int, c_void};
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// A store that the page's protection forbids (`SEGV_ACCERR`).
const FORBIDDEN: c_int = 2;

/// SIGSEGV in a set.
const SEGV: u64 = 1 << (libc::SIGSEGV - 1);

/// The program's action; null is the default one. A replaced action is not freed: a handler may be
/// reading it.
static ACTION: AtomicPtr<libc::sigaction> = AtomicPtr::new(null_mut());

/// The process that the handler is installed in; 0 when there is none. A child of vfork, which has the parent's memory and its own
/// actions, is not it.
static PROCESS: AtomicI32 = AtomicI32::new(0);

unsafe extern "C" {
    /// Calls the C library's own `sigaction`: other libraries, too, put theirs before it.
    fn __sigaction(
        signal: c_int,
        action: *const libc::sigaction,
        before: *mut libc::sigaction,
    ) -> c_int;
}

type Handler = unsafe extern "C" fn(c_int);
type LongHandler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

fn handler() -> usize {
    on_fault as LongHandler as usize
}

fn process() -> i32 {
    // SAFETY: getpid has no requirements.
    unsafe { libc::getpid() }
}

fn default_action() -> libc::sigaction {
    // SAFETY: all zeros is the default action with no flags and an empty set.
    unsafe { zeroed() }
}

/// Returns the action that the kernel has.
fn installed_action() -> libc::sigaction {
    let mut action = default_action();
    // SAFETY: the old action may be written.
    unsafe { __sigaction(libc::SIGSEGV, null(), &raw mut action) };
    action
}

/// Returns true when the program's action is kept here.
fn is_installed() -> bool {
    // ORDERING: a thread that asks has installed it, or was ordered behind the one that did by the program.
    PROCESS.load(Ordering::Relaxed) == process()
}

/// Looks for doorbell pages that are mapped, and makes them read-only once the handler is there.
pub(crate) fn watch() {
    pages::watch(install);
}

/// Puts the handler in front, also of one that was installed past this library.
fn install() {
    let before = installed_action();
    if before.sa_sigaction != handler() {
        set_action(&before);
        let mut action = default_action();
        action.sa_sigaction = handler();
        // On the alternate stack if there is one: the program's handler may be about a stack that overflowed.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        // SAFETY: the set may be written. The handler may be called at any time from then on.
        unsafe {
            libc::sigfillset(&raw mut action.sa_mask);
            __sigaction(libc::SIGSEGV, &raw const action, null_mut());
        }
    }
    // ORDERING: as in `is_installed`.
    if PROCESS.swap(process(), Ordering::Relaxed) == 0 {
        // SAFETY: the function is async-signal-safe.
        unsafe { libc::pthread_atfork(None, None, Some(after_fork)) };
    }
}

extern "C" fn after_fork() {
    // ORDERING: the child has one thread.
    PROCESS.store(process(), Ordering::Relaxed);
}

fn action() -> libc::sigaction {
    // ORDERING: Acquire pairs with the Release in `set_action`.
    let action = ACTION.load(Ordering::Acquire);
    // SAFETY: null, or from Box::into_raw and never freed.
    unsafe { action.as_ref() }.map_or_else(default_action, |action| *action)
}

fn set_action(action: &libc::sigaction) {
    // The default one takes no memory: handlers set it, this library's own among them.
    let action = if action.sa_sigaction == libc::SIG_DFL {
        null_mut()
    } else {
        Box::into_raw(Box::new(*action))
    };
    // ORDERING: Release publishes the action to those that load the pointer.
    ACTION.store(action, Ordering::Release);
}

unsafe extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    keeping_errno(|| {
        // SAFETY: the kernel gives a handler with SA_SIGINFO a siginfo.
        let (code, address) = unsafe { ((*info).si_code, (*info).si_addr()) };
        // SAFETY: and a context, which is this handler's own.
        let mut frame = Frame::new(unsafe { &mut *context.cast::<libc::ucontext_t>() });
        if code == FORBIDDEN && stores::emulate(&mut frame, address.addr() as u64, install) {
            return;
        }
        let blocked = frame.blocked();
        // SAFETY: these are the kernel's arguments.
        unsafe { hand_on(signal, info, context, blocked) };
    });
}

/// Executes the program's action as the kernel would.
///
/// # Safety
/// The arguments are those of a signal handler with `SA_SIGINFO`.
unsafe fn hand_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void, blocked: u64) {
    let action = action();
    // SAFETY: `info` is the siginfo that a handler with SA_SIGINFO gets.
    let sent = unsafe { (*info).si_code } <= 0;
    if action.sa_sigaction == libc::SIG_IGN && sent {
        return;
    }
    if matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) {
        let default = default_action();
        // SAFETY: an action without a handler. The thread goes back to its instruction, which
        // faults again; a signal that was sent is sent again.
        unsafe {
            __sigaction(libc::SIGSEGV, &raw const default, null_mut());
            if sent {
                let thread = libc::syscall(libc::SYS_gettid);
                libc::syscall(libc::SYS_rt_tgsigqueueinfo, process(), thread, signal, info);
            }
        }
        return;
    }
    if action.sa_flags & libc::SA_RESETHAND != 0 {
        set_action(&default_action());
    }
    let mut mask = blocked | low(&action.sa_mask);
    if action.sa_flags & libc::SA_NODEFER == 0 {
        mask |= SEGV;
    }
    set_mask(&mask, None);
    // SAFETY: the program gave a handler of this kind; null (SIG_DFL) was excluded.
    unsafe {
        if action.sa_flags & libc::SA_SIGINFO != 0 {
            std::mem::transmute::<usize, LongHandler>(action.sa_sigaction)(signal, info, context);
        } else {
            std::mem::transmute::<usize, Handler>(action.sa_sigaction)(signal);
        }
    }
}

/// Returns the kernel's part of a set of signals.
fn low(set: &libc::sigset_t) -> u64 {
    // SAFETY: the C library's set is longer than the kernel's, which it starts with.
    unsafe { (&raw const *set).cast::<[u8; SET]>().cast::<u64>().read() }
}

/// Returns a copy of a set without SIGSEGV.
fn without(set: &libc::sigset_t) -> libc::sigset_t {
    let mut set = *set;
    // SAFETY: a set that is initialised.
    unsafe { libc::sigdelset(&raw mut set, libc::SIGSEGV) };
    set
}

/// Does `sigaction` for the program.
///
/// # Safety
/// `wanted` is null or points to an action, whose handler fits its flags; `before` is null or
/// writable.
unsafe fn change_action(
    signal: c_int,
    wanted: *const libc::sigaction,
    before: *mut libc::sigaction,
) -> c_int {
    // SAFETY: `wanted` is null or points to an action.
    let wanted = unsafe { wanted.as_ref() }.map(|wanted| {
        let mut wanted = *wanted;
        if is_wanted() {
            wanted.sa_mask = without(&wanted.sa_mask);
        }
        wanted
    });
    if signal == libc::SIGSEGV && is_installed() {
        let found = action();
        if let Some(wanted) = &wanted {
            set_action(wanted);
        }
        // SAFETY: `before` is null or writable.
        if let Some(before) = unsafe { before.as_mut() } {
            *before = found;
        }
        return 0;
    }
    let wanted = wanted.as_ref().map_or(null(), |wanted| &raw const *wanted);
    let function = original!(
        "sigaction\0"
            as unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int
    );
    match function {
        // SAFETY: `wanted` is null or a copy of the program's action, whose handler fits its flags;
        // `before` is null or writable.
        Some(function) => unsafe { function(signal, wanted, before) },
        None => crate::fail(libc::ENOSYS),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(
    signal: c_int,
    wanted: *const libc::sigaction,
    before: *mut libc::sigaction,
) -> c_int {
    // SAFETY: `wanted` is null or an action, whose handler fits its flags; `before` is null or
    // writable, as sigaction(2) requires.
    unsafe { change_action(signal, wanted, before) }
}

/// The functions that set a handler alone, and the flags that theirs have.
macro_rules! handlers {
    ($($name:ident $c_name:literal $flags:expr;)+) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(signal: c_int, wanted: libc::sighandler_t) -> libc::sighandler_t {
            if signal == libc::SIGSEGV && is_installed() {
                let mut action = default_action();
                action.sa_sigaction = wanted;
                action.sa_flags = $flags;
                let before = self::action().sa_sigaction;
                set_action(&action);
                return before;
            }
            match original!($c_name as unsafe extern "C" fn(c_int, libc::sighandler_t) -> libc::sighandler_t) {
                // SAFETY: `wanted` is SIG_DFL, SIG_IGN or a handler, as signal(2) requires.
                Some(function) => unsafe { function(signal, wanted) },
                None => libc::SIG_ERR,
            }
        }
    )+ };
}
handlers! {
    signal "signal\0" libc::SA_RESTART;
    bsd_signal "bsd_signal\0" libc::SA_RESTART;
    sysv_signal "sysv_signal\0" libc::SA_RESETHAND | libc::SA_NODEFER;
    __sysv_signal "__sysv_signal\0" libc::SA_RESETHAND | libc::SA_NODEFER;
}

/// The functions that block signals: SIGSEGV stays as it is.
macro_rules! masks {
    ($($name:ident $c_name:literal $failure:expr;)+) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(how: c_int, set: *const libc::sigset_t, before: *mut libc::sigset_t) -> c_int {
            // SAFETY: `set` is null or points to a set, as sigprocmask(2) requires.
            let wanted = unsafe { set.as_ref() }
                .filter(|_| how != libc::SIG_UNBLOCK && is_wanted())
                .map(without);
            let set = wanted.as_ref().map_or(set, |wanted| &raw const *wanted);
            match original!($c_name as unsafe extern "C" fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int) {
                // SAFETY: `set` is null or a set, and `before` is null or writable, as
                // sigprocmask(2) requires.
                Some(function) => unsafe { function(how, set, before) },
                None => $failure,
            }
        }
    )+ };
}
masks! {
    sigprocmask "sigprocmask\0" crate::fail(libc::ENOSYS);
    pthread_sigmask "pthread_sigmask\0" libc::ENOSYS;
}

/// Unblocks SIGSEGV: a program may be started with it blocked.
extern "C" fn start() {
    if is_wanted() {
        keeping_errno(|| {
            let segv = SEGV;
            // SAFETY: the set has the size that is given, and the old one is not asked for.
            unsafe {
                libc::syscall(
                    libc::SYS_rt_sigprocmask,
                    libc::SIG_UNBLOCK,
                    &raw const segv,
                    null_mut::<u64>(),
                    SET,
                )
            };
        });
    }
}

// SAFETY: the loader calls the function that stands there once, before the program starts; the
// function has no requirements.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;
