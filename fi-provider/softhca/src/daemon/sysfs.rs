//! Tree that programs find below `/sys/class/infiniband*` and `/dev/infiniband`: files and real
//! symbolic links in a directory.
//!
//! Source: the kernel's `Documentation/ABI/stable/sysfs-class-infiniband`; which of the files are read was seen by trial.

use crate::identity;
use crate::wire::{DEVICE_NODE, DEVICE_NUMBER};
use std::fmt::Write as _;
use std::fs;
use std::io::{Error, Result};
use std::os::unix::fs::symlink;
use std::path::Path;

/// The PCI device, seen from `sys`.
const PCI: &str = "devices/pci0000:00/0000:00:05.0";

/// Writes the tree of one device with one active port of this LID.
pub(super) fn write(directory: &Path, lid: u16) -> Result<()> {
    let sys = directory.join("sys");
    let pci = sys.join(PCI);
    write_pci(&pci)?;
    write_ib_device(&pci.join("infiniband/mlx5_0"), lid)?;
    let verbs = pci.join("infiniband_verbs/uverbs0");
    files(
        &verbs,
        &[
            ("ibdev", "mlx5_0"),
            ("abi_version", "1"),
            ("dev", &format!("{}:{}", DEVICE_NUMBER.0, DEVICE_NUMBER.1)),
        ],
    )?;
    symlink("../../../0000:00:05.0", verbs.join("device"))?;

    files(&sys.join("class/infiniband_verbs"), &[("abi_version", "6")])?;
    fs::create_dir_all(sys.join("class/infiniband"))?;
    symlink(
        format!("../../{PCI}/infiniband/mlx5_0"),
        sys.join("class/infiniband/mlx5_0"),
    )?;
    symlink(
        format!("../../{PCI}/infiniband_verbs/uverbs0"),
        sys.join("class/infiniband_verbs/uverbs0"),
    )?;

    let node = directory.join(DEVICE_NODE.trim_start_matches('/'));
    if let Some(parent) = node.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(node, "")
}

fn write_pci(pci: &Path) -> Result<()> {
    let vendor = identity::PCI_VENDOR;
    let device = identity::PCI_DEVICE;
    let modalias = format!(
        "pci:v{vendor:08X}d{device:08X}sv{vendor:08X}sd{:08X}bc02sc07i00",
        1
    );
    files(
        pci,
        &[
            ("modalias", &modalias),
            ("vendor", &format!("{vendor:#06x}")),
            ("device", &format!("{device:#06x}")),
            ("subsystem_vendor", &format!("{vendor:#06x}")),
            ("subsystem_device", "0x0001"),
            ("class", "0x020700"),
            ("numa_node", "-1"),
            ("local_cpus", "ffffffff,ffffffff"),
            ("local_cpulist", "0-63"),
        ],
    )
}

fn write_ib_device(device: &Path, lid: u16) -> Result<()> {
    let guid = groups_of_four(&identity::NODE_GUID);
    let (major, minor, sub) = identity::FIRMWARE;
    files(
        device,
        &[
            ("node_type", "1: CA"),
            ("node_guid", &guid),
            ("sys_image_guid", &guid),
            ("node_desc", "softhca"),
            ("fw_ver", &format!("{major}.{minor}.{sub:04}")),
            ("hw_rev", "0"),
            ("hca_type", "MT4123"),
            ("board_id", "SOFTHCA00001"),
        ],
    )?;
    symlink("../../../0000:00:05.0", device.join("device"))?;
    let port = device.join("ports/1");
    files(
        &port,
        &[
            ("state", "4: ACTIVE"),
            ("phys_state", "5: LinkUp"),
            ("link_layer", "InfiniBand"),
            ("rate", "200 Gb/sec (4X HDR)"),
            ("lid", &format!("{lid:#x}")),
            ("lid_mask_count", "0"),
            ("sm_lid", &format!("{lid:#x}")),
            ("sm_sl", "0"),
        ],
    )?;
    files(
        &port.join("gids"),
        &[("0", &groups_of_four(&identity::gid()))],
    )?;
    files(&port.join("pkeys"), &[("0", "0xffff")])
}

/// Writes files of one line each into a directory.
fn files(directory: &Path, contents: &[(&str, &str)]) -> Result<()> {
    fs::create_dir_all(directory)?;
    for (name, line) in contents {
        let file = directory.join(name);
        let named = |error: Error| Error::new(error.kind(), format!("{}: {error}", file.display()));
        fs::write(&file, format!("{line}\n")).map_err(named)?;
    }
    Ok(())
}

/// Writes GUIDs and GIDs as sysfs does: `0250:f100:…`.
fn groups_of_four(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (index, pair) in bytes.chunks(2).enumerate() {
        if index > 0 {
            text.push(':');
        }
        for byte in pair {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
        }
    }
    text
}
