//! DEVX: the one general command by which clients learn what verbs do not tell.
//!
//! Source: the NVIDIA "Ethernet Adapters Programming Manual", QUERY_HCA_CAP, or `mlx5_ifc.h` of rdma-core; all fields are big-endian. Objects are
//! not modelled.

use super::{Call, Device, Errno};

/// Attributes of the general command.
const COMMAND_IN: u16 = 0x1000;
const COMMAND_OUT: u16 = 0x1001;

/// The opcode of QUERY_HCA_CAP.
const QUERY_HCA_CAP: u16 = 0x100;

/// Kinds of capabilities (the operation's modifier, less its lowest bit, which tells current from greatest).
const GENERAL: u16 = 0;
const ATOMIC: u16 = 3;

/// Where the capabilities start in the answer, and how long they are, in bytes.
const CAPABILITIES: usize = 16;
const LENGTH: usize = 4096;

/// Compare-and-swap and fetch-and-add; the same with masks; sizes of 4 and 8 bytes.
const PLAIN_OPERATIONS: u16 = 0b0011;
const MASKED_OPERATIONS: u16 = 0b1100;
const SIZES: u16 = 4 | 8;

impl Device {
    pub(super) fn devx_general(&mut self, call: &mut Call<'_>) -> Result<(), Errno> {
        let command = call.input(COMMAND_IN)?;
        let word = |at: usize| {
            let bytes = command.get(at..at + 2).ok_or(Errno::INVALID)?;
            Ok::<u16, Errno>(u16::from_be_bytes([bytes[0], bytes[1]]))
        };
        let (opcode, modifier) = (word(0)?, word(6)?);
        if opcode != QUERY_HCA_CAP {
            return Err(Errno::NOT_SUPPORTED);
        }
        let mut answer = vec![0; CAPABILITIES + LENGTH];
        let capabilities = &mut answer[CAPABILITIES..];
        match modifier >> 1 {
            GENERAL => {
                // With no longest message UCX takes it that DEVX is not for creating objects, and uses verbs.
                // Dynamic connections (bit 0x21a from the start) and atomics (0x21e).
                capabilities[0x43] = 0b0010_0010;
            }
            ATOMIC => {
                let masked = self.settings.masked_atomics;
                let operations = PLAIN_OPERATIONS | if masked { MASKED_OPERATIONS } else { 0 };
                let sizes = if masked { SIZES } else { 8 };
                // Results of 8 bytes are in the machine's byte order: mode 1, and it is supported.
                capabilities[8] = 0b0100_0010;
                capabilities[0x12..0x14].copy_from_slice(&operations.to_be_bytes());
                capabilities[0x16..0x18].copy_from_slice(&sizes.to_be_bytes());
                capabilities[0x1a..0x1c].copy_from_slice(&sizes.to_be_bytes());
            }
            // Of everything else it is capable of nothing.
            _ => {}
        }
        call.output(COMMAND_OUT, &answer)
    }
}
