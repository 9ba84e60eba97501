//! Communication contexts (OpenSHMEM 1.6, section 9.5): each is a lane of the fabric.
//!
//! Operations on one are ordered and completed apart from those on another. On one node a lane is no more than where the
//! peers are; in a job of several nodes it is send and completion queues of the device.
//!
//! This file has the context itself, plain data; `registry` has the contexts that programs create,
//! `created` and `sessions` have the routines, and `progress` completes operations for waits.

#![expect(
    unsafe_code,
    reason = "a C handle is turned into a reference to the context that it stands for"
)]

mod caller;
pub mod created;
pub(crate) mod progress;
pub(crate) mod registry;
pub mod sessions;

use crate::plain::Plain;
use fi_provider::symmetric::endpoint::Endpoint;
use std::ffi::c_long;

/// SHMEM_CTX_SERIALIZED: one thread at a time uses the context, which then has no lock.
pub const SERIALIZED: c_long = 1 << 0;
/// SHMEM_CTX_PRIVATE: only the thread that created the context uses it, which then has no lock.
pub const PRIVATE: c_long = 1 << 1;
/// SHMEM_CTX_NOSTORE: quiet and fence need not order stores of the program. Puts to PEs of this node are stores, too, and those
/// are ordered in any case: the option has no effect.
pub const NOSTORE: c_long = 1 << 2;

/// The size of a context.
const CONTEXT_BYTES: usize = 128;

/// A communication context: the endpoint that its operations go through.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Context {
    pub(crate) endpoint: Endpoint,
    reserved: [u8; CONTEXT_BYTES - size_of::<Endpoint>()],
}

// Its pointers (the peer table, the lane) lead to memory that lives until the context is closed.
// Safe code cannot use a context: [`from_handle`], which gives references out, and the routines
// that take them are unsafe, and have their callers keep to the rules of threads.
// SAFETY: `Sync` requires that uses at the same time do not race: a context is plain data that is
// written only while nobody else uses it, but for the endpoint's state, which the endpoint guards
// where several threads may use it at once.
unsafe impl Sync for Context {}
// SAFETY: a context belongs to no thread, and only one that has exclusive use writes it.
unsafe impl Send for Context {}

/// The distance in bytes between the static contexts, and the value of SHMEM_CTX_DEFAULT.
pub const DEFAULT_HANDLE: usize = size_of::<Context>();

/// The value of SHMEM_CTX_INVALID.
pub const INVALID_HANDLE: usize = 0;

const _: () = assert!(DEFAULT_HANDLE == CONTEXT_BYTES);

impl Context {
    const fn with(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            reserved: [0; CONTEXT_BYTES - size_of::<Endpoint>()],
        }
    }
}

/// The contexts that exist without being created: that of SHMEM_CTX_INVALID, without peers and with
/// nothing to wait for, and the default context.
///
/// A C handle is the distance in bytes of its context from the first of them. So both constants are
/// constants of the header, no object is exported, and no call has to test for either.
static CONTEXTS: Plain<[Context; 2]> = Plain::new([
    Context::with(Endpoint::void()),
    Context::with(Endpoint::closed()),
]);

/// Returns the default context.
#[inline(always)]
pub(crate) fn default_ctx() -> &'static Context {
    &CONTEXTS.get()[1]
}

/// Returns the context that the C handle `handle` stands for.
///
/// # Safety
/// `handle` is SHMEM_CTX_INVALID, SHMEM_CTX_DEFAULT or the handle of a context not yet destroyed.
#[inline(always)]
pub unsafe fn from_handle(handle: usize) -> &'static Context {
    // SAFETY: the handle is one of the two static contexts' or a live one's, hence the distance to
    // a context.
    unsafe {
        &*CONTEXTS
            .as_ptr()
            .cast::<Context>()
            .wrapping_byte_add(handle)
    }
}

/// Returns the handle of a context.
pub(crate) fn handle_of(ctx: &Context) -> usize {
    std::ptr::from_ref(ctx)
        .addr()
        .wrapping_sub(CONTEXTS.as_ptr().addr())
}

/// Returns whether `ctx` is the context that SHMEM_CTX_INVALID stands for.
pub(crate) fn is_invalid(ctx: &Context) -> bool {
    handle_of(ctx) == INVALID_HANDLE
}

/// Returns the endpoint of the default context, to be enabled or closed.
///
/// # Safety
/// No other thread is inside the library, and no reference to the contexts is in use.
pub(crate) unsafe fn default_endpoint() -> &'static mut Endpoint {
    // SAFETY: no other thread is inside the library, and no reference to the contexts is in use.
    unsafe { &mut CONTEXTS.get_mut()[1].endpoint }
}
