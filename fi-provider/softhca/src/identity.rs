//! Identity that the device reports: constants of its answers and of its sysfs files.

/// Mellanox, as PCI knows it.
pub(crate) const PCI_VENDOR: u16 = 0x15b3;

/// ConnectX-6.
pub(crate) const PCI_DEVICE: u16 = 0x101b;

/// Mellanox, as an OUI.
pub(crate) const VENDOR_ID: u32 = 0x02c9;

/// The firmware's version: major, minor, sub-minor.
pub(crate) const FIRMWARE: (u64, u64, u64) = (20, 35, 2000);

/// The GUID, big-endian: locally administered, so that it is nobody's.
pub(crate) const NODE_GUID: [u8; 8] = [0x02, 0x50, 0xf1, 0x00, 0x00, 0x50, 0xca, 0x01];

/// Returns the port's GID: the default subnet's prefix and the GUID.
pub(crate) fn gid() -> [u8; 16] {
    let mut gid = [0; 16];
    gid[..2].copy_from_slice(&[0xfe, 0x80]);
    gid[8..].copy_from_slice(&NODE_GUID);
    gid
}
