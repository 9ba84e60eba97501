//! Calls of the program's handlers, and registration of all.

use super::{barrier, exit, index, operations};
use gasnet_conduit::{Category, Core, Handler, Message};
use std::ffi::c_void;

/// Calls a C function with so many arguments of a message behind the first ones.
macro_rules! call {
    ($function:ident, $message:ident, ($($type:ty: $value:expr),*), $($n:literal)*) => {{
        let function: unsafe extern "C" fn(*mut Message $(, $type)* $(, argument!($n))*) =
            // SAFETY: the program has registered a handler of this category, which takes so many
            // arguments: those that requests to it have (docs/gasnet.md).
            unsafe { std::mem::transmute::<*mut c_void, _>($function) };
        // SAFETY: the handler takes so many arguments, which the message has.
        unsafe { function($message $(, $value)* $(, *(*$message).args.add($n))*) }
    }};
}

/// The type of an argument.
macro_rules! argument {
    ($n:literal) => {
        u32
    };
}

/// Calls the function by the number of arguments.
macro_rules! by_number {
    ($function:ident, $message:ident, $before:tt) => {
        // SAFETY: the engine passes a message.
        match unsafe { (*$message).nargs } {
            0 => call!($function, $message, $before,),
            1 => call!($function, $message, $before, 0),
            2 => call!($function, $message, $before, 0 1),
            3 => call!($function, $message, $before, 0 1 2),
            4 => call!($function, $message, $before, 0 1 2 3),
            5 => call!($function, $message, $before, 0 1 2 3 4),
            6 => call!($function, $message, $before, 0 1 2 3 4 5),
            7 => call!($function, $message, $before, 0 1 2 3 4 5 6),
            8 => call!($function, $message, $before, 0 1 2 3 4 5 6 7),
            9 => call!($function, $message, $before, 0 1 2 3 4 5 6 7 8),
            10 => call!($function, $message, $before, 0 1 2 3 4 5 6 7 8 9),
            11 => call!($function, $message, $before, 0 1 2 3 4 5 6 7 8 9 10),
            12 => call!($function, $message, $before, 0 1 2 3 4 5 6 7 8 9 10 11),
            13 => call!($function, $message, $before, 0 1 2 3 4 5 6 7 8 9 10 11 12),
            14 => call!($function, $message, $before, 0 1 2 3 4 5 6 7 8 9 10 11 12 13),
            15 => call!($function, $message, $before, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14),
            _ => call!($function, $message, $before, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
        }
    };
}

/// Calls the program's handler of a message.
///
/// # Safety
/// The engine calls it, with the program's function as the context.
unsafe extern "C" fn run(message: *mut Message) {
    // SAFETY: the engine passes a message.
    let (function, category) = unsafe { ((*message).context, (*message).category) };
    if category == Category::Short as u8 {
        by_number!(function, message, ());
    } else {
        // SAFETY: the engine passes a message, which is there during the handler.
        let (payload, bytes) = unsafe { ((*message).payload, (*message).bytes) };
        by_number!(function, message, (*mut c_void: payload, usize: bytes));
    }
}

/// Has the program's function called with messages to an index.
///
/// # Safety
/// No message to the index comes before the function returns. The function is a handler as the
/// GASNet specification has it.
pub(super) unsafe fn register(engine: &Core, index: u8, function: *mut c_void) {
    // SAFETY: no message comes meanwhile; `run` calls a function that keeps to the rules.
    unsafe { engine.register(index, run, function) };
}

/// Registers the library's own handlers.
///
/// # Safety
/// No message comes before the function returns.
pub(super) unsafe fn register_own(engine: &Core) {
    let own: [(u8, Handler); 4] = [
        (index::BARRIER, barrier::arrives),
        (index::EXIT, exit::arrives),
        (index::FILL, operations::fill),
        (index::FILLED, operations::filled),
    ];
    for (index, handler) in own {
        // SAFETY: no message comes meanwhile; these handlers reply at most once, and store numbers.
        unsafe { engine.register(index, handler, std::ptr::null_mut()) };
    }
}

/// Returns the arguments of a message.
///
/// # Safety
/// The engine has passed the message to the handler that asks.
pub(super) unsafe fn arguments<'a>(message: *mut Message) -> &'a [u32] {
    // SAFETY: the message is there during the handler, with so many arguments.
    unsafe {
        let message = &*message;
        match message.nargs {
            0 => &[],
            many => std::slice::from_raw_parts(message.args, many.into()),
        }
    }
}

/// Returns two arguments for a number of 64 bits.
pub(super) fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// Returns the number that two arguments are.
pub(super) fn whole(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}
