//! The parameters by which an engine is opened.

use crate::error::Error;
use crate::job::Exchange;

/// The parameters by which an engine is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// Brings the job together where no launcher does.
    pub exchange: Option<Exchange>,
    /// The number of this process's node, where it is to pretend one.
    pub node: Option<u32>,
    /// The most bytes of memory that the engine takes for segments, of address space; 16 GiB if 0.
    pub most_memory: usize,
    /// The bytes of the ring of each pair on a node, a power of two from 32 KiB on; 64 KiB if 0.
    pub ring_bytes: usize,
}

/// The bytes of a ring, at least: so that medium messages of 4 KiB fit.
const LEAST_RING: usize = 32 << 10;
/// The bytes of a ring, where nobody says otherwise.
const RING: usize = 64 << 10;

impl Config {
    /// Returns the bytes of each ring.
    ///
    /// # Errors
    /// [`Error::Argument`].
    pub(crate) fn ring(&self) -> Result<usize, Error> {
        match self.ring_bytes {
            0 => Ok(RING),
            bytes if bytes >= LEAST_RING && bytes.is_power_of_two() => Ok(bytes),
            _ => Err(Error::Argument(
                "ring_bytes is no power of two from 32 KiB on",
            )),
        }
    }
}
