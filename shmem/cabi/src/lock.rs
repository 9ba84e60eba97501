//! Distributed locks (section 9.13).

use core::ffi::{c_int, c_long};
use shmem::lock;

families! {
    arguments {
        lock: "symmetric, aligned, 0 on all PEs before its first use, and used by these routines only",
    }
    errors "an object that is not symmetric, or a lock that the calling PE misuses, ends the job, with a message.";

    /// Completes this PE's operations on the default context and passes the lock on, to the PE that has
    /// waited longest.
    "9.13.1" at once("clear_lock")(lock: *mut c_long) = lock::clear_lock;
    /// Sets the lock as soon as it is free; PEs get it in the order in which they come.
    "9.13.1" at once("set_lock")(lock: *mut c_long) = lock::set_lock;
    /// Sets the lock if it is free: returns 0 if it was, 1 if it was not; does not wait.
    "9.13.1" at once("test_lock")(lock: *mut c_long) -> c_int = lock::test_lock;
}
