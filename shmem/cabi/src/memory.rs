//! Memory management (section 9.3). All but free of NULL and requests of size 0 are collective.

#![expect(
    unused_unsafe,
    reason = "the macro writes one body for all, and these functions are safe"
)]

use core::ffi::{c_long, c_void};
use shmem::memory;

families! {
    /// Returns size bytes of the symmetric heap, the same on every PE, or NULL on every PE. Collective.
    "9.3.1" at once("malloc")(size: usize) -> *mut c_void = memory::malloc;
    /// Gives a block back to the symmetric heap. Collective; nothing for NULL.
    "9.3.2" at once("free")(ptr: *mut c_void) = memory::free;
    /// Resizes a block to size bytes, moving it if needed; NULL on failure, and the block stays. Collective.
    "9.3.3" at once("realloc")(ptr: *mut c_void, size: usize) -> *mut c_void = memory::realloc;
    /// As malloc, at an address that alignment (bytes, a power of two) divides. Collective.
    "9.3.4" at once("align")(alignment: usize, size: usize) -> *mut c_void = memory::align;
    /// As malloc, with a bitwise OR of SHMEM_MALLOC_ hints. Collective.
    "9.3.5" at once("malloc_with_hints")(size: usize, hints: c_long) -> *mut c_void = memory::malloc_with_hints;
    /// As malloc, count elements of size bytes, all zero. Collective.
    "9.3.6" at once("calloc")(count: usize, size: usize) -> *mut c_void = memory::calloc;
}
