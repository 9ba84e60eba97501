//! Addresses of endpoints: all that a process has to know to reach one (fi_av(3), fi_getname(3)).

use super::error::Error;
use fi_shm::handover::Ticket;
use std::fmt::{self, Display};
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// The version that an address begins with.
const VERSION: u8 = 2;
/// The letters that a printed address begins with.
const PREFIX: &str = "farreach:";

/// The address of an endpoint: at most [`Address::MOST_BYTES`] bytes, the same on every machine.
///
/// It gives the right to reach the endpoint: it holds the token that the endpoint's process asks
/// for, which nobody guesses. It is printed and parsed as one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The process.
    pub(crate) process: Ticket,
    /// The number of the endpoint in its domain, which no other ever has.
    pub(crate) endpoint: u32,
    pub(crate) port: Port,
}

/// Where the endpoint's process is, and by what it answers processes of other nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Port {
    /// The queue that takes datagrams: its local identifier and its number, 0 without a device.
    pub(crate) lid: u16,
    pub(crate) number: u32,
    /// The node, by a number that processes of one system have in common.
    pub(crate) node: u32,
    /// Whether the process is reached by its device alone, also from its node: the device does all
    /// atomic operations on its memory.
    pub(crate) is_far: bool,
}

impl Port {
    pub(crate) const BYTES: usize = 12;

    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..2].copy_from_slice(&self.lid.to_le_bytes());
        bytes[2] = self.is_far.into();
        bytes[4..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..].copy_from_slice(&self.node.to_le_bytes());
        bytes
    }

    pub(crate) fn of_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let [l0, l1, far, 0, n0, n1, n2, n3, node @ ..] = *bytes else {
            return None;
        };
        (far <= 1).then_some(Self {
            lid: u16::from_le_bytes([l0, l1]),
            number: u32::from_le_bytes([n0, n1, n2, n3]),
            node: u32::from_le_bytes(node),
            is_far: far == 1,
        })
    }

    /// Whether there is a device.
    pub(crate) fn has_device(&self) -> bool {
        self.number != 0
    }
}

impl Address {
    /// The most bytes of an address.
    pub const MOST_BYTES: usize = 64;
    /// The bytes of an address of this version.
    pub const BYTES: usize = 8 + Ticket::BYTES + Port::BYTES;

    /// The bytes to send to others.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[0] = VERSION;
        bytes[4..8].copy_from_slice(&self.endpoint.to_le_bytes());
        bytes[8..8 + Ticket::BYTES].copy_from_slice(&self.process.to_bytes());
        bytes[8 + Ticket::BYTES..].copy_from_slice(&self.port.to_bytes());
        bytes
    }

    /// The address of these bytes.
    ///
    /// # Errors
    /// [`Error::BadAddress`].
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let bytes: &[u8; Self::BYTES] = bytes.try_into().map_err(|_| Error::BadAddress)?;
        let [VERSION, 0, 0, 0, a, b, c, d, rest @ ..] = bytes else {
            return Err(Error::BadAddress);
        };
        let (ticket, port) = rest.split_first_chunk().ok_or(Error::BadAddress)?;
        let port = port.try_into().map_err(|_| Error::BadAddress)?;
        Ok(Self {
            process: Ticket::of_bytes(ticket),
            endpoint: u32::from_le_bytes([*a, *b, *c, *d]),
            port: Port::of_bytes(port).ok_or(Error::BadAddress)?,
        })
    }
}

impl Hash for Address {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_bytes().hash(state);
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.to_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.trim().strip_prefix(PREFIX).ok_or(Error::BadAddress)?;
        let byte = |pair: &[u8]| {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let [high, low] = *pair else { return None };
            Some((digit(high)? << 4 | digit(low)?) as u8)
        };
        let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
        Self::of_bytes(&bytes.ok_or(Error::BadAddress)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Address {
        Address {
            process: Ticket::parse("12-345678-9").unwrap(),
            endpoint: 0x1234_5678,
            port: Port {
                lid: 0x102,
                number: 0x34_5678,
                node: 0x9abc_def0,
                is_far: true,
            },
        }
    }

    #[test]
    fn an_address_is_printed_and_parsed_and_fits() {
        const { assert!(Address::BYTES <= Address::MOST_BYTES) };
        let address = some();
        assert_eq!(address.to_string().parse::<Address>(), Ok(address.clone()));
        assert_eq!(Address::of_bytes(&address.to_bytes()), Ok(address));
    }

    #[test]
    fn nonsense_is_no_address() {
        let text = some().to_string();
        for wrong in [
            "",
            "farreach:",
            &text[1..],
            &text[..text.len() - 1],
            &text[..text.len() - 2],
            &text.replace(":02", ":01"),
            &text.replace(":0200", ":02zz"),
            &format!("{text}00"),
        ] {
            assert_eq!(wrong.parse::<Address>(), Err(Error::BadAddress), "{wrong}");
        }
    }
}
