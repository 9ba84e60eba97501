//! Registrars of memory.

#![expect(unsafe_code, reason = "registers the program's memory")]

use fi_mlx5::device as hca;
use std::fmt::Debug;
use std::ops::Range;

/// Registrar of memory: a device, or a test's.
pub(crate) trait Registrar: Send + Sync + Debug {
    /// Registers memory for the device to read and write; gives the local key, and the guard that
    /// ends the registration when it is dropped.
    ///
    /// # Safety
    /// The bytes are mapped, readable and writable, and nobody minds that the device writes them when asked to.
    unsafe fn register(&self, range: &Range<usize>) -> Option<(u32, Box<dyn Send + Sync>)>;
}

impl Registrar for hca::Device {
    unsafe fn register(&self, range: &Range<usize>) -> Option<(u32, Box<dyn Send + Sync>)> {
        // SAFETY: the bytes are mapped, readable and writable, and nobody minds that the device
        // writes them.
        let region = unsafe { self.register_local(range.start as *mut u8, range.len()) };
        let region = region.ok()?;
        Some((region.lkey(), Box::new(region)))
    }
}
