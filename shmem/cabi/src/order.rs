//! Memory ordering (section 9.12).

use core::ffi::c_int;
use shmem::order;

families! {
    arguments {
        target_pes: "npes numbers of PEs, counted in the context's team",
        npes: "how many; 0 does nothing",
    }
    errors "a PE that is not there, or a failure of the device, ends the job, with a message.";

    /// Orders: what was put to a PE before is delivered there before what is put to it after.
    "9.12.1" ctx once("fence")() = order::fence;
    /// Completes: all that was put, got and updated so far is in the memory it was meant for.
    "9.12.2" ctx once("quiet")() = order::quiet;
    /// Completes what was put to, got from and updated on the npes PEs of target_pes.
    "9.12.3" ctx once("pe_quiet")(target_pes: *const c_int, npes: usize) = order::pe_quiet;
}
