//! Address of a process on its device, as the bytes that it gives its peers.

use crate::device::config::Transport;
use crate::symmetric::remote::PARTS;

/// The transports as bytes.
const RC: u8 = 1;
const DC: u8 = 2;
const MIXED: u8 = 3;

/// Address of a process over its device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Local identifier of the port.
    pub(crate) lid: u16,
    /// The largest packet in bytes.
    pub(crate) mtu: u16,
    /// Reads and atomics under way at a time.
    pub(crate) max_read_atomic: u8,
    /// The DC target's number, 0 without.
    pub(crate) target: u32,
    /// The DC access key by which the target is entered; the process's key.
    pub(crate) key: u64,
    /// The bases of the window's parts, in the order in which all processes have them.
    pub(crate) bases: [u64; PARTS],
    /// Their keys.
    pub(crate) keys: [u32; PARTS],
    /// Transport by which it reaches its peers, which all do alike.
    pub(crate) transport: Transport,
    /// The queue pair for each peer, where each has one from the start.
    pub(crate) queues: Vec<u32>,
}

impl Address {
    /// Returns the address as bytes: little-endian numbers in the order of the fields.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.lid.to_le_bytes());
        bytes.extend(self.mtu.to_le_bytes());
        bytes.push(self.max_read_atomic);
        bytes.extend(self.target.to_le_bytes());
        bytes.extend(self.key.to_le_bytes());
        bytes.extend(self.bases.iter().flat_map(|base| base.to_le_bytes()));
        bytes.extend(self.keys.iter().flat_map(|key| key.to_le_bytes()));
        bytes.push(match self.transport {
            Transport::Rc => RC,
            Transport::Dc => DC,
            Transport::Mixed => MIXED,
        });
        bytes.extend(self.queues.iter().flat_map(|queue| queue.to_le_bytes()));
        bytes
    }

    /// Returns the address that these bytes are; `None` where they are none.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let (lid, mtu) = (take(&mut rest)?, take(&mut rest)?);
        let [max_read_atomic] = take(&mut rest)?;
        let (target, key) = (take(&mut rest)?, take(&mut rest)?);
        let bases = [take(&mut rest)?, take(&mut rest)?];
        let keys = [take(&mut rest)?, take(&mut rest)?];
        let transport = match take(&mut rest)? {
            [RC] => Transport::Rc,
            [DC] => Transport::Dc,
            [MIXED] => Transport::Mixed,
            _ => return None,
        };
        let (queues, odd) = rest.as_chunks();
        if !odd.is_empty() {
            return None;
        }
        Some(Self {
            lid: u16::from_le_bytes(lid),
            mtu: u16::from_le_bytes(mtu),
            max_read_atomic,
            target: u32::from_le_bytes(target),
            key: u64::from_le_bytes(key),
            bases: bases.map(u64::from_le_bytes),
            keys: keys.map(u32::from_le_bytes),
            transport,
            queues: queues.iter().copied().map(u32::from_le_bytes).collect(),
        })
    }
}

/// Takes the first `N` bytes away, and returns them.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_go_there_and_back() {
        let address = Address {
            lid: 0x102,
            mtu: 4096,
            max_read_atomic: 16,
            target: 0xff_0001,
            key: 0x0123_4567_89ab_cdef,
            bases: [0x7fff_1234_5000, 0x1000],
            keys: [0x100, u32::MAX],
            transport: Transport::Rc,
            queues: vec![1, 2, 0xff_ffff],
        };
        let bytes = address.encode();
        assert_eq!(Address::decode(&bytes), Some(address));
        // docs/scale.md counts with it.
        assert_eq!(bytes.len(), 42 + 3 * 4);
        for len in [0, 1, 40, bytes.len() - 1] {
            assert_eq!(Address::decode(&bytes[..len]), None, "{len} bytes");
        }
    }
}
