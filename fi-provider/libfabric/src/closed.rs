//! Endpoints, queues and counters that were closed: their memory is kept for a while, so that a call
//! with one of them, which is an error of the application, is refused (`-FI_EOPBADSTATE`).

use fi_ofi_abi::*;
use std::alloc::{Layout, dealloc};
use std::collections::VecDeque;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

/// Number of objects that are kept, of all domains.
const KEPT: usize = 64;

/// The objects that were closed last.
static CLOSED: Mutex<VecDeque<Closed>> = Mutex::new(VecDeque::new());

/// The memory of an object: its C part, whose functions refuse, and zeros.
struct Closed {
    memory: *mut u8,
    layout: Layout,
}

// SAFETY: `Send` requires that another thread may drop the value: the memory is its own, and is
// freed by any thread.
unsafe impl Send for Closed {}

impl Drop for Closed {
    fn drop(&mut self) {
        // SAFETY: the global allocator has made the memory with this layout, as `retire` requires,
        // and it is freed here alone.
        unsafe { dealloc(self.memory, self.layout) };
    }
}

/// A table of functions, as long as any.
#[repr(C)]
struct Table {
    size: usize,
    functions: [Stub; 16],
}

static REFUSING: Table = refusing();
static CQ_OPS: Table = {
    let mut table = refusing();
    // The last but one of a queue's functions returns a text.
    table.functions[6] = no_text;
    table
};
const _: () = assert!(std::mem::offset_of!(FiOpsCq, strerror) == 7 * size_of::<usize>());

const fn refusing() -> Table {
    Table {
        size: size_of::<Table>(),
        functions: [refuse; 16],
    }
}

extern "C" fn refuse() -> isize {
    -(FI_EOPBADSTATE as isize)
}

extern "C" fn no_text() -> isize {
    c"the queue is closed".as_ptr().addr().cast_signed()
}

impl Table {
    /// Returns the table in the place of another type of table.
    const fn of<T>(&'static self) -> *const T {
        const { assert!(size_of::<T>() <= size_of::<Self>()) };
        (&raw const *self).cast()
    }
}

/// Returns the fid of an object, of a class that no function takes for an open one.
fn fid() -> Fid {
    Fid {
        fclass: 0,
        context: null_mut(),
        ops: REFUSING.of(),
    }
}

/// Returns the C part of an endpoint that is closed.
pub(crate) fn endpoint() -> FidEp {
    FidEp {
        fid: fid(),
        ops: REFUSING.of(),
        cm: REFUSING.of(),
        msg: REFUSING.of(),
        rma: REFUSING.of(),
        tagged: REFUSING.of(),
        atomic: REFUSING.of(),
        collective: REFUSING.of(),
    }
}

/// Returns the C part of a completion queue that is closed.
pub(crate) fn queue() -> FidCq {
    FidCq {
        fid: fid(),
        ops: CQ_OPS.of(),
    }
}

/// Returns the C part of a counter that is closed.
pub(crate) fn counter() -> FidCntr {
    FidCntr {
        fid: fid(),
        ops: REFUSING.of(),
    }
}

/// Drops an object, and leaves this C part in its memory for a while.
///
/// # Safety
/// [`give`](crate::object::give) has given the object of type `O`, which begins with an `F`, and
/// nobody refers to it.
pub(crate) unsafe fn retire<O, F>(object: *mut Fid, closed: F) {
    const { assert!(size_of::<F>() <= size_of::<O>()) };
    let memory = object.cast::<O>();
    // SAFETY: the memory holds an `O`, which is used no more when it has been read; it begins with
    // an `F`, so that there is room for one.
    unsafe {
        drop(memory.read());
        memory.write_bytes(0, 1);
        memory.cast::<F>().write(closed);
    }
    let one = Closed {
        memory: memory.cast(),
        layout: Layout::new::<O>(),
    };
    let mut kept = CLOSED.lock().unwrap_or_else(PoisonError::into_inner);
    kept.push_back(one);
    if kept.len() > KEPT {
        kept.pop_front();
    }
}

/// Frees the memory of all.
pub(crate) fn free() {
    *CLOSED.lock().unwrap_or_else(PoisonError::into_inner) = VecDeque::new();
}
