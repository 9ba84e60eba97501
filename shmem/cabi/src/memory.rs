//! Memory management (section 9.3). All but free of NULL and requests of size 0 are collective.

use core::ffi::{c_long, c_void};
use shmem::memory;

families! {
    arguments {
        size: "bytes; 0 gives NULL and is not collective",
        ptr: "a block of the symmetric heap, or NULL",
        alignment: "bytes, a power of two of at most 64 MiB",
        hints: "a bitwise OR of SHMEM_MALLOC_ constants, or 0",
        count: "elements",
    }
    errors "NULL on every PE where the heap has no room.";

    /// Returns size bytes of the symmetric heap, the same on every PE, or NULL on every PE. Collective.
    "9.3.1" at once("malloc")(size: usize) -> *mut c_void = memory::malloc;
    /// Gives a block back to the symmetric heap. Collective; nothing for NULL.
    /// Errors: what is no block of the heap ends the job, with a message.
    "9.3.2" at once("free")(ptr: *mut c_void) = memory::free;
    /// Resizes a block to size bytes, moving it if needed; NULL on failure, and the block stays. Collective.
    /// - size: bytes; 0 frees the block
    /// Errors: NULL on every PE where the heap has no room; what is no block ends the job, with a message.
    "9.3.3" at once("realloc")(ptr: *mut c_void, size: usize) -> *mut c_void = memory::realloc;
    /// As shmem_malloc, at an address that alignment (bytes, a power of two) divides. Collective.
    /// Errors: NULL on every PE where the heap has no room, and for any other alignment.
    "9.3.4" at once("align")(alignment: usize, size: usize) -> *mut c_void = memory::align;
    /// As shmem_malloc, with a bitwise OR of SHMEM_MALLOC_ hints. Collective.
    "9.3.5" at once("malloc_with_hints")(size: usize, hints: c_long) -> *mut c_void = memory::malloc_with_hints;
    /// As shmem_malloc, count elements of size bytes, all zero. Collective.
    /// - size: bytes of an element
    /// Errors: NULL on every PE where the heap has no room, and where count times size is no number of bytes.
    "9.3.6" at once("calloc")(count: usize, size: usize) -> *mut c_void = memory::calloc;

    /// As shmem_malloc.
    /// Deprecated since 1.2: use shmem_malloc.
    "9.3.1" at old("shmalloc")(size: usize) -> *mut c_void = memory::malloc;
    /// As shmem_free.
    /// Deprecated since 1.2: use shmem_free.
    /// Errors: what is no block of the heap ends the job, with a message.
    "9.3.2" at old("shfree")(ptr: *mut c_void) = memory::free;
    /// As shmem_realloc.
    /// - size: bytes; 0 frees the block
    /// Deprecated since 1.2: use shmem_realloc.
    /// Errors: NULL on every PE where the heap has no room; what is no block ends the job, with a message.
    "9.3.3" at old("shrealloc")(ptr: *mut c_void, size: usize) -> *mut c_void = memory::realloc;
    /// As shmem_align.
    /// Deprecated since 1.2: use shmem_align.
    /// Errors: NULL on every PE where the heap has no room, and for any other alignment.
    "9.3.4" at old("shmemalign")(alignment: usize, size: usize) -> *mut c_void = memory::align;
}
