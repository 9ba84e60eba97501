//! Preloaded into a program: sends its uverbs calls to the software device.
//!
//! It replaces the C library's functions that a program (libibverbs, libmlx5, UCX) reaches the device by: names below
//! `/sys/class/infiniband*` and `/dev/infiniband` lead into the fabric's directory, opening the device node and its ioctls become
//! requests to the device's process, and everything else goes on to the kernel unchanged. It keeps no state but the numbers of the
//! open device files. Without the variable `FARREACH_SOFTHCA` it does nothing.
#![expect(
    unsafe_code,
    reason = "it stands in for C functions, and what they are given are raw pointers"
)]

#[cfg(target_env = "musl")]
compile_error!("the shim stands in for functions of glibc: take a target that ends in -gnu");

mod calls;
mod device;
mod paths;
#[cfg(target_arch = "x86_64")]
mod strict;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the other side uses the other half")
)]
#[path = "../../src/wire.rs"]
mod wire;

use std::sync::atomic::{AtomicI32, Ordering};

/// Sets `errno` and returns -1, as a failing system call does.
fn fail(errno: i32) -> i32 {
    // SAFETY: the C library gives a valid pointer to the calling thread's own errno.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// Lets the device act now: when it returns, everything that this process posted before has been looked at.
///
/// A program that knows of the device calls this where it found a queue empty, so that it need not wait until the device looks
/// by itself. It returns 0, or -1 with `errno` when there is no device.
#[unsafe(no_mangle)]
pub extern "C" fn farreach_softhca_kick() -> i32 {
    match device::request(wire::Operation::Kick, 0, 0) {
        Ok(answer) if answer.reply.errno == 0 => 0,
        Ok(answer) => fail(answer.reply.errno),
        Err(errno) => fail(errno),
    }
}

/// The numbers of the contexts behind the program's file descriptors; 0 where a descriptor is not the device's.
static CONTEXTS: [AtomicI32; 65536] = [const { AtomicI32::new(0) }; 65536];

/// Returns the context behind a file descriptor.
fn context(fd: i32) -> Option<u32> {
    let slot = CONTEXTS.get(usize::try_from(fd).ok()?)?;
    // ORDERING: threads of one process hand descriptors to each other by means that order their accesses.
    match slot.load(Ordering::Relaxed) {
        0 => None,
        number => Some(number.cast_unsigned()),
    }
}

/// Notes the context behind a file descriptor; false when the number is too large for the table.
fn set_context(fd: i32, number: u32) -> bool {
    let slot = usize::try_from(fd).ok().and_then(|fd| CONTEXTS.get(fd));
    // ORDERING: as in `context`.
    slot.map(|slot| slot.store(number.cast_signed(), Ordering::Relaxed))
        .is_some()
}
