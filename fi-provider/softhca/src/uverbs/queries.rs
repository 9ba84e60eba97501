//! Answers to queries of the device, the port and the GIDs.

use super::abi::{
    DEVICE_ATTRIBUTES_OLD, DRIVER_DEVICE_ATTRIBUTES, DRIVER_OUT, DeviceAttributes, GidEntry, Port,
    invoke_write,
};
use super::{Call, Device, Errno};
use crate::engine::MOST_READS;
use crate::identity;
use bytemuck::{Zeroable, bytes_of};

/// Attributes of QUERY_PORT.
const PORT_NUMBER: u16 = 0;
const PORT_RESPONSE: u16 = 1;

/// Attributes of QUERY_GID_TABLE.
const TABLE_ENTRY_SIZE: u16 = 0;
const TABLE_FLAGS: u16 = 1;
const TABLE_ENTRIES: u16 = 2;
const TABLE_COUNT: u16 = 3;

/// Attributes of QUERY_GID_ENTRY.
const ENTRY_PORT: u16 = 0;
const ENTRY_INDEX: u16 = 1;
const ENTRY_FLAGS: u16 = 2;
const ENTRY_RESPONSE: u16 = 3;

/// Capabilities of the device and the port, in the bits of `ibv_device_cap_flags` and the port's
/// capability mask.
const DEVICE_CAPABILITIES: u32 = 1 << 10 | 1 << 11 | 1 << 12;
const PORT_CAPABILITIES: u32 = 1 << 11 | 1 << 14;

/// The rate of the clock that completions have their times from, in kHz: they are in ns.
const CORE_CLOCK: u64 = 1_000_000;

impl Device {
    /// Returns the device's attributes; limits that the engine does not have are those of a
    /// ConnectX-6.
    pub(super) fn query_device(
        &mut self,
        call: &mut Call<'_>,
        extended: bool,
    ) -> Result<(), Errno> {
        let attributes = DeviceAttributes {
            fw_ver: identity::FIRMWARE.0 << 32 | identity::FIRMWARE.1 << 16 | identity::FIRMWARE.2,
            node_guid: identity::NODE_GUID,
            sys_image_guid: identity::NODE_GUID,
            max_mr_size: u64::MAX,
            page_size_cap: 0xffff_ffff_ffff_f000,
            vendor_id: identity::VENDOR_ID,
            vendor_part_id: u32::from(identity::PCI_DEVICE),
            max_qp: self.settings.queue_pairs.unwrap_or(1 << 18),
            max_qp_wr: 32768,
            device_cap_flags: DEVICE_CAPABILITIES,
            max_sge: 30,
            max_sge_rd: 30,
            max_cq: 1 << 24,
            max_cqe: (1 << 22) - 1,
            max_mr: 1 << 24,
            max_pd: 1 << 24,
            max_qp_rd_atom: MOST_READS.into(),
            max_res_rd_atom: u32::from(MOST_READS) << 18,
            max_qp_init_rd_atom: MOST_READS.into(),
            // IBV_ATOMIC_HCA: atomic among the device's own operations, not with the processor's.
            atomic_cap: 1,
            max_srq: 1 << 23,
            max_srq_wr: 32767,
            max_srq_sge: 31,
            max_pkeys: 1,
            local_ca_ack_delay: 16,
            phys_port_cnt: 1,
            response_length: size_of::<DeviceAttributes>() as u32,
            timestamp_mask: u64::MAX,
            hca_core_clock: CORE_CLOCK,
            device_cap_flags_ex: u64::from(DEVICE_CAPABILITIES),
            ..Zeroable::zeroed()
        };
        if !extended {
            return call.output(
                invoke_write::CORE_OUT,
                &bytes_of(&attributes)[..DEVICE_ATTRIBUTES_OLD],
            );
        }
        call.answer(invoke_write::CORE_OUT, &attributes)?;
        let mut driver = [0; DRIVER_DEVICE_ATTRIBUTES];
        let length = driver.len().min(call.room(DRIVER_OUT)) as u32;
        driver[4..8].copy_from_slice(&length.to_ne_bytes());
        call.output(DRIVER_OUT, &driver)
    }

    pub(super) fn query_port(&mut self, call: &mut Call<'_>) -> Result<(), Errno> {
        if call.number(PORT_NUMBER)? != 1 {
            return Err(Errno::INVALID);
        }
        let config = self.engine.config();
        let port = Port {
            capabilities: PORT_CAPABILITIES,
            max_msg_sz: config.max_message,
            gid_tbl_len: 1,
            pkey_tbl_len: 1,
            lid: config.lid,
            sm_lid: config.lid,
            // Active, link up.
            state: 4,
            phys_state: 5,
            // 4096 bytes.
            max_mtu: 5,
            active_mtu: 5,
            max_vl_num: 4,
            subnet_timeout: 18,
            // 4 lanes of 50 Gb/s (HDR).
            active_width: 2,
            active_speed: 64,
            // InfiniBand.
            link_layer: 1,
            ..Zeroable::zeroed()
        };
        call.answer(PORT_RESPONSE, &port)
    }

    pub(super) fn query_gid_table(&mut self, call: &mut Call<'_>) -> Result<(), Errno> {
        let size = usize::try_from(call.number(TABLE_ENTRY_SIZE)?).map_err(|_| Errno::INVALID)?;
        if size < size_of::<GidEntry>() || call.number(TABLE_FLAGS)? != 0 {
            return Err(Errno::INVALID);
        }
        if call.room(TABLE_ENTRIES) < size {
            return Err(Errno::INVALID);
        }
        call.answer(TABLE_ENTRIES, &gid_entry())?;
        call.answer(TABLE_COUNT, &1_u64)
    }

    pub(super) fn query_gid_entry(&mut self, call: &mut Call<'_>) -> Result<(), Errno> {
        if call.number(ENTRY_PORT)? != 1 || call.number(ENTRY_FLAGS)? != 0 {
            return Err(Errno::INVALID);
        }
        match call.number(ENTRY_INDEX)? {
            0 => call.answer(ENTRY_RESPONSE, &gid_entry()),
            _ => Err(Errno::NO_DATA),
        }
    }
}

/// Returns the only GID: the default subnet's prefix and the device's GUID.
fn gid_entry() -> GidEntry {
    GidEntry {
        gid: identity::gid(),
        gid_index: 0,
        port: 1,
        kind: 0,
        netdev: 0,
    }
}
