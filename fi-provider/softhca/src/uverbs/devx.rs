//! DEVX: queries and commands of clients past verbs.
//!
//! The general command tells of capabilities, by which clients find the masked atomics. Beside it
//! there are the features that UCX wants of a device before it believes that it speaks DEVX: memory
//! that is named by a number, a file of events (on which none comes), and the queue pair's own
//! commands (`devx_queue_pairs`). Objects are not modelled: creating one is refused, so nothing
//! refers to the memory, and nothing subscribes to events.
//!
//! Source: the NVIDIA "Ethernet Adapters Programming Manual", QUERY_HCA_CAP, or `mlx5_ifc.h` of rdma-core; all fields are big-endian. The
//! numbers of attributes are those of the kernel's `mlx5_user_ioctl_cmds.h`.

use super::abi::{method, object};
use super::{Call, Device, Errno};
use crate::engine::ContextId;

/// Attributes of the general command.
const COMMAND_IN: u16 = 0x1000;
const COMMAND_OUT: u16 = 0x1001;

/// Attributes of the methods that register memory and drop it.
const MEMORY_HANDLE: u16 = 0x1000;
const MEMORY_ADDRESS: u16 = 0x1001;
const MEMORY_LENGTH: u16 = 0x1002;
const MEMORY_ACCESS: u16 = 0x1003;
const MEMORY_ID: u16 = 0x1004;

/// Rights that memory can be registered with: to write locally, to read and to write remotely.
const ACCESS: u64 = 7;

/// The largest number of pieces of memory of one context.
const MOST_MEMORY: usize = 1 << 16;

/// Attributes of the method that makes a file of events, and its one flag: that events carry no data.
const EVENT_DESCRIPTOR: u16 = 0x1000;
const EVENT_FLAGS: u16 = 0x1001;
const EVENTS_WITHOUT_DATA: u64 = 1;

/// Opcodes of the general command.
const QUERY_HCA_CAP: u16 = 0x100;
const QUERY_LAG: u16 = 0x842;

/// Kinds of capabilities (the operation's modifier, less its lowest bit, which tells current from greatest).
const GENERAL: u16 = 0;
const ATOMIC: u16 = 3;

/// Offset of the capabilities in the answer, and their length, in bytes.
const CAPABILITIES: usize = 16;
const LENGTH: usize = 4096;

/// General capabilities: byte, and the bits that are set in it.
const GENERAL_CAPABILITIES: [(usize, u8); 9] = [
    // 16 reads and atomics under way (log2), of a DC requester and responder and of a connected one.
    (0x25, 4),
    (0x27, 4),
    (0x29, 4),
    (0x2b, 4),
    // Messages of 2^30 bytes; UCX takes it that there is no DEVX where they are shorter.
    (0x38, 30),
    // Completion entries of version 1.
    (0x3f, 1),
    // Address vectors without a global route (bit 0x200 from the start).
    (0x40, 0b1000_0000),
    // Memory keys do not change whether they allow atomics (0x208).
    (0x41, 0b1000_0000),
    // Dynamic connections (0x21a) and atomics (0x21e).
    (0x43, 0b0010_0010),
];

/// The byte, and the bit in it, that tells of dynamic connections.
const DYNAMIC_CONNECTIONS: (usize, u8) = (0x43, 0b0010_0000);

/// Compare-and-swap and fetch-and-add; the same with masks; sizes of 4 and 8 bytes.
const PLAIN_OPERATIONS: u16 = 0b0011;
const MASKED_OPERATIONS: u16 = 0b1100;
const SIZES: u16 = 4 | 8;

impl Device {
    /// Answers a method of a context that may speak DEVX.
    pub(super) fn devx(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        match (call.object, call.method) {
            (object::MLX5_DEVX, method::DEVX_OTHER) => self.devx_general(call),
            (object::MLX5_DEVX_OBJECT, method::DEVX_MODIFY) => self.devx_modify(id, call),
            (object::MLX5_DEVX_OBJECT, method::DEVX_QUERY) => self.devx_query(id, call),
            (object::MLX5_DEVX_MEMORY, method::DEVX_MEMORY_REGISTER) => {
                self.devx_register(id, call)
            }
            (object::MLX5_DEVX_MEMORY, method::DEVX_MEMORY_DEREGISTER) => {
                self.devx_deregister(id, call)
            }
            (object::MLX5_DEVX_EVENTS, method::DEVX_EVENTS_ALLOC) => self.devx_events(id, call),
            _ => Err(Errno::PROTOCOL),
        }
    }

    fn devx_general(&mut self, call: &mut Call<'_>) -> Result<(), Errno> {
        let command = call.input(COMMAND_IN)?;
        match (word(&command, 0)?, word(&command, 6)? >> 1) {
            (QUERY_HCA_CAP, kind) => {
                let mut answer = vec![0; CAPABILITIES + LENGTH];
                self.tell(kind, &mut answer[CAPABILITIES..]);
                call.output(COMMAND_OUT, &answer)
            }
            // Ports are not bonded.
            (QUERY_LAG, _) => call.output(COMMAND_OUT, &[]),
            _ => Err(Errno::NOT_SUPPORTED),
        }
    }

    /// Writes the capabilities of a kind; those that are not named here are 0.
    fn tell(&self, kind: u16, capabilities: &mut [u8]) {
        match kind {
            GENERAL => {
                for (at, value) in GENERAL_CAPABILITIES {
                    capabilities[at] = value;
                }
                if self.settings.no_dc {
                    capabilities[DYNAMIC_CONNECTIONS.0] &= !DYNAMIC_CONNECTIONS.1;
                }
            }
            ATOMIC => {
                let masked = self.settings.masked_atomics;
                let operations = PLAIN_OPERATIONS | if masked { MASKED_OPERATIONS } else { 0 };
                let sizes = if masked { SIZES } else { 8 };
                // Results of 8 bytes are in the machine's byte order: mode 1, and it is supported.
                capabilities[8] = 0b0100_0010;
                capabilities[0x12..0x14].copy_from_slice(&operations.to_be_bytes());
                capabilities[0x16..0x18].copy_from_slice(&sizes.to_be_bytes());
                if !self.settings.no_dc {
                    capabilities[0x1a..0x1c].copy_from_slice(&sizes.to_be_bytes());
                }
            }
            _ => {}
        }
    }

    /// Names a range of the program's memory, which must be there, by a number.
    fn devx_register(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let (address, length) = (call.number(MEMORY_ADDRESS)?, call.number(MEMORY_LENGTH)?);
        if call.number(MEMORY_ACCESS)? & !ACCESS != 0 {
            return Err(Errno::INVALID);
        }
        let last = length
            .checked_sub(1)
            .and_then(|past| address.checked_add(past));
        for at in [address, last.ok_or(Errno::INVALID)?] {
            call.host.read(call.process, at, &mut [0])?;
        }
        let memory = &mut self.context(id)?.devx_memory;
        if memory.len() >= MOST_MEMORY {
            return Err(Errno::NO_MEMORY);
        }
        let number = memory.last().map_or(1, |last| last.wrapping_add(1));
        if !memory.insert(number) {
            return Err(Errno::NO_MEMORY);
        }
        call.output(MEMORY_ID, &number.to_ne_bytes())?;
        call.new_handle(MEMORY_HANDLE, number)
    }

    fn devx_deregister(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let number = call.handle(MEMORY_HANDLE)?;
        if !self.context(id)?.devx_memory.remove(&number) {
            return Err(Errno::INVALID);
        }
        Ok(())
    }

    /// Hands out a file of events.
    fn devx_events(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        if call.number(EVENT_FLAGS)? & !EVENTS_WITHOUT_DATA != 0 {
            return Err(Errno::INVALID);
        }
        let queue = call.host.create_queue(id)?;
        call.new_descriptor(EVENT_DESCRIPTOR, queue)
    }
}

/// Returns two bytes of a command.
pub(super) fn word(command: &[u8], at: usize) -> Result<u16, Errno> {
    let bytes = command.get(at..at + 2).ok_or(Errno::INVALID)?;
    Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
}
