//! Features that can be asked of a device.

/// Features and limits of a device and its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Features {
    /// Dynamic connections can be had: [`super::Device::initiator`] and [`super::Device::target`].
    pub dc: bool,
    /// Atomics of 8 bytes give their results in the machine's byte order (`IBV_ATOMIC_HCA` or better); otherwise there are no atomics.
    pub host_endian_atomics: bool,
    /// Atomics with masks, of 4 bytes. Their results are big-endian, also where those of 8 bytes
    /// are not.
    pub masked_atomics_4: bool,
    /// Atomics with masks, of 8 bytes.
    pub masked_atomics_8: bool,
    /// Reads and atomics that a queue pair can have under way, in either direction.
    pub max_read_atomic: u8,
    /// The port, counted from 1.
    pub port: u8,
    /// The port's local identifier.
    pub lid: u16,
    /// The port's largest packet, in bytes of payload.
    pub mtu: u16,
    /// The longest message, in bytes.
    pub max_message: u32,
    /// The most entries that a completion queue can have.
    pub max_completions: u32,
}
