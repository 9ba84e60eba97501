//! What a fault in symmetric memory means.
//!
//! The fast path's range test takes the whole window, holes included; nothing is mapped in the holes of
//! a peer's window, so that an address there faults. And a page that the system has no memory for
//! raises SIGBUS. Both get a message; every other fault goes on to whoever handled it before.

#![expect(
    unsafe_code,
    reason = "signal handlers, and a look at the stack for the routine's name"
)]

use crate::job;
use crate::report;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// What handled the signals before.
static PREVIOUS: OnceLock<[Action; 2]> = OnceLock::new();

#[derive(Clone, Copy)]
struct Action(libc::sigaction);

// SAFETY: an action is plain data; the function addresses in it are valid in every thread.
unsafe impl Send for Action {}
// SAFETY: as above, and it is never written after it was stored.
unsafe impl Sync for Action {}

/// Installs the handlers, once for the life of the process.
pub(crate) fn install() {
    PREVIOUS.get_or_init(|| {
        SIGNALS.map(|signal| {
            // SAFETY: all-zero actions are valid; both live during the call; the handler is a function of
            // the three-argument form that SA_SIGINFO asks for.
            unsafe {
                let mut before: libc::sigaction = std::mem::zeroed();
                let mut ours: libc::sigaction = std::mem::zeroed();
                ours.sa_sigaction = on_fault as *const () as usize;
                ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
                libc::sigaction(signal, &raw const ours, &raw mut before);
                Action(before)
            }
        })
    });
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid record for both signals.
    let addr = unsafe { (*info).si_addr() } as usize;
    restore(signal);
    // SAFETY: as above.
    if unsafe { (*info).si_code } <= 0 {
        // Somebody's kill or raise, which no instruction repeats; the previous handler is there for it now.
        // SAFETY: raise has no memory preconditions.
        unsafe { libc::raise(signal) };
        return;
    }
    let Some((pe, own_addr)) = job::owner_of(addr) else {
        // Returning runs the instruction again, now with the previous handler.
        return;
    };
    let routine = routine(context);
    if signal == libc::SIGSEGV && routine.is_none() && Some(pe as usize) == job::known_pe() {
        // The program's own code or constants, written to by the program itself.
        return;
    }
    let at = routine.unwrap_or("a load or store of the program");
    if signal == libc::SIGBUS {
        report::fatal(format_args!(
            "{at}: the system has no memory for the symmetric memory of PE {pe} at {own_addr:#x}: use a smaller problem, fewer PEs, or a machine or container with more memory"
        ));
    }
    report::fatal(format_args!(
        "{at}: {own_addr:#x} for PE {pe} is not symmetric: it lies between the static data and the heap, where the program keeps other things"
    ));
}

/// Puts the previous handler of `signal` back.
fn restore(signal: c_int) {
    let index = usize::from(signal == SIGNALS[1]);
    if let Some(previous) = PREVIOUS.get() {
        // SAFETY: the action came from sigaction(2) itself.
        unsafe { libc::sigaction(signal, &raw const previous[index].0, std::ptr::null_mut()) };
    }
}

/// The OpenSHMEM routine that the fault happened in, as the symbols of shared libraries tell it: the one
/// that holds the place of the fault or the nearest return address on the stack, or that was called from
/// there (a large copy is a jump out of the routine, which leaves no address of its own).
fn routine(context: *mut c_void) -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        const WORDS: usize = 256;
        // SAFETY: the kernel passes a valid context to handlers with SA_SIGINFO.
        let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
        let place = registers[libc::REG_RIP as usize] as usize;
        let stack = registers[libc::REG_RSP as usize] as usize & !7;
        let page = fi_provider::node::segment::page_size();
        // The page of the stack pointer is mapped; the next one need not be.
        let words = WORDS.min((stack / page * page + page - stack) / size_of::<usize>());
        let on_stack = (0..words).map(|i| {
            // SAFETY: the word lies in the mapped page of the interrupted thread's stack pointer.
            unsafe { (stack as *const usize).add(i).read_volatile() }
        });
        let called = |address| symbol(address).or_else(|| symbol(callee(address)?));
        symbol(place).or_else(|| on_stack.into_iter().find_map(called))
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = context;
        None
    }
}

/// What the call before `return_address` went to, through a jump of the procedure linkage table if there
/// is one.
#[cfg(target_arch = "x86_64")]
fn callee(return_address: usize) -> Option<usize> {
    const CALL: u8 = 0xe8;
    const JUMP_INDIRECT: [u8; 2] = [0xff, 0x25];
    const CALL_INDIRECT: [u8; 2] = [0xff, 0x15];
    const PREFIXES: [&[u8]; 2] = [&[0xf3, 0x0f, 0x1e, 0xfa], &[0xf2]];
    let bytes = |at: usize| -> Option<[u8; 12]> {
        object_of(at)?;
        // SAFETY: the place lies in the code of a loaded object, which other code and data follow.
        Some(unsafe { (at as *const [u8; 12]).read_unaligned() })
    };
    let relative = |code: &[u8]| code.try_into().ok().map(i32::from_le_bytes);
    let slot = |next: usize, distance: i32| {
        let slot = next.wrapping_add_signed(distance as isize);
        object_of(slot)?;
        // SAFETY: the slot of a call or jump lies in the object's table of addresses.
        Some(unsafe { (slot as *const usize).read_unaligned() })
    };
    let before = bytes(return_address.checked_sub(6)?)?;
    if before[..2] == CALL_INDIRECT {
        return slot(return_address, relative(&before[2..6])?);
    }
    if before[1] != CALL {
        return None;
    }
    let mut target = return_address.wrapping_add_signed(relative(&before[2..6])? as isize);
    for prefix in PREFIXES {
        if bytes(target)?.starts_with(prefix) {
            target += prefix.len();
        }
    }
    let code = bytes(target)?;
    if code[..2] == JUMP_INDIRECT {
        slot(target + 6, relative(&code[2..6])?)
    } else {
        Some(target)
    }
}

/// What the dynamic linker knows of the loaded object that `address` lies in.
fn object_of(address: usize) -> Option<libc::Dl_info> {
    // SAFETY: all-zero is a valid Dl_info to be filled in.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: dladdr takes any address; the record lives during the call.
    let found = unsafe { libc::dladdr(address as *const c_void, &raw mut info) };
    (found != 0).then_some(info)
}

/// The name of the exported OpenSHMEM routine that `address` lies in.
fn symbol(address: usize) -> Option<&'static str> {
    let info = object_of(address)?;
    if info.dli_sname.is_null() {
        return None;
    }
    // SAFETY: the name is a C string in a loaded object, and stays for the rest of this process's life.
    let name = unsafe { CStr::from_ptr(info.dli_sname) }.to_str().ok()?;
    // The profiling interface gives every routine two names at one address.
    let name = name.strip_prefix('p').unwrap_or(name);
    name.starts_with("shmem_").then_some(name)
}
