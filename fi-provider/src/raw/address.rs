//! Addresses of endpoints: all that a process has to know to reach one (fi_av(3), fi_getname(3)).

use super::error::Error;
use fi_shm::handover::Ticket;
use std::fmt::{self, Display};
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

/// The version that an address begins with.
const VERSION: u8 = 2;
/// The letters that a printed address begins with.
const PREFIX: &str = "farreach:";

/// The version that an address with a name of libfabric's begins with.
const WITH_NAME: u8 = 3;

/// The address of an endpoint: at most [`Address::MOST_BYTES`] bytes, the same on every machine.
///
/// It gives the right to reach the endpoint: it holds the token that the endpoint's process asks
/// for, which nobody guesses. It is printed and parsed as one word.
///
/// Two addresses are the same where they are of one endpoint, whether both have its name or not.
#[derive(Clone, Debug)]
pub struct Address {
    /// The process.
    pub(crate) process: Ticket,
    /// The number of the endpoint in its domain, which no other ever has: see [`Family`].
    pub(crate) endpoint: u32,
    pub(crate) port: Port,
    /// Name by which libfabric reaches it, if that does.
    pub(crate) name: Option<Name>,
}

/// The address of an endpoint of libfabric, in its provider's form.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    bytes: Arc<[u8]>,
}

impl Name {
    /// The most bytes of a name.
    const MOST: usize = Address::MOST_BYTES - Address::BYTES - 1;

    /// Makes the name of these bytes; none of too many, or of none.
    pub(crate) fn new(bytes: &[u8]) -> Option<Self> {
        (1..=Self::MOST).contains(&bytes.len()).then(|| Self {
            bytes: bytes.into(),
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Numbers of endpoints that belong together: those of the contexts of a scalable endpoint
/// (fi_scalable_ep). The first half is of endpoints that receive, and the second of those that only
/// start operations. The upper bits of a number are the logarithm of their number, which is 0 for
/// an endpoint of its own; the lower ones count from a multiple of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family(pub(crate) u32);

impl Family {
    /// The lower bits of a number.
    const COUNT_BITS: u32 = 27;
    /// The first number that is none.
    pub(crate) const END: u32 = 1 << Self::COUNT_BITS;
    /// The most endpoints of each half.
    pub const MOST: u32 = 1 << 12;

    /// Makes the family of the numbers from `first` on, a multiple of 2 to the `log`.
    pub(crate) fn new(first: u32, log: u32) -> Self {
        debug_assert!(first < Self::END && first.is_multiple_of(1 << log));
        Self(log << Self::COUNT_BITS | first)
    }

    /// Returns the family to which a number belongs.
    pub(crate) fn of(number: u32) -> Self {
        let log = number >> Self::COUNT_BITS;
        Self(number & !(((1 << log) - 1) & (Self::END - 1)))
    }

    /// Returns the number of endpoints of each half.
    fn half(self) -> u32 {
        ((1 << (self.0 >> Self::COUNT_BITS)) / 2).min(Self::END)
    }

    /// Returns the number of endpoint `index` of those that receive, if there are so many.
    pub fn receiver(self, index: u32) -> Option<Member> {
        (index < self.half().max(1)).then_some(Member(self.0 | index))
    }

    /// Returns the number of endpoint `index` of those that only start operations, if there are so
    /// many.
    pub fn sender(self, index: u32) -> Option<Member> {
        let half = self.half();
        (index < half).then_some(Member(self.0 | half | index))
    }
}

/// The number of an endpoint of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member(pub(crate) u32);

/// Location of the endpoint's process, and the means by which it answers processes of other nodes.
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

    /// Returns whether the two processes say that they are of one node and reach each other in
    /// memory.
    pub(crate) fn may_be_near(self, other: Self) -> bool {
        self.node == other.node && !self.is_far && !other.is_far
    }

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

    /// Returns whether there is a device.
    pub(crate) fn has_device(&self) -> bool {
        self.number != 0
    }
}

impl Address {
    /// The bytes of an address with a name of libfabric's, and the most of any.
    pub const MOST_BYTES: usize = 128;
    /// The bytes of an address without: of a domain that does not go by libfabric.
    pub const BYTES: usize = 8 + Ticket::BYTES + Port::BYTES;

    /// Returns the address of the same endpoint, as peers on its node reach it that go by its
    /// device.
    pub(crate) fn by_device(&self) -> Self {
        self.with_far(true)
    }

    /// Returns the address that is the same for all peers that go by a device to the endpoint: they
    /// share a connection.
    pub(crate) fn of_hub(&self) -> Self {
        self.with_far(false)
    }

    fn with_far(&self, is_far: bool) -> Self {
        let mut same = self.clone();
        same.port.is_far = is_far;
        same
    }

    /// Returns the address of the first endpoint of the same family, which stands for all of it.
    pub(crate) fn first(&self) -> Self {
        Self {
            endpoint: Family::of(self.endpoint).0,
            ..self.clone()
        }
    }

    /// Returns the bytes to send to others: [`Address::BYTES`], or, with a name of libfabric's,
    /// [`Address::MOST_BYTES`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.to_short_bytes().to_vec();
        if let Some(name) = &self.name {
            bytes[0] = WITH_NAME;
            bytes.push(name.bytes.len() as u8);
            bytes.extend(name.bytes());
            bytes.resize(Self::MOST_BYTES, 0);
        }
        bytes
    }

    /// Returns the bytes without a name.
    pub fn to_short_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[0] = VERSION;
        bytes[4..8].copy_from_slice(&self.endpoint.to_le_bytes());
        bytes[8..8 + Ticket::BYTES].copy_from_slice(&self.process.to_bytes());
        bytes[8 + Ticket::BYTES..].copy_from_slice(&self.port.to_bytes());
        bytes
    }

    /// Returns the address of these bytes.
    ///
    /// # Errors
    /// [`Error::BadAddress`].
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (short, name) = bytes
            .split_first_chunk::<{ Self::BYTES }>()
            .ok_or(Error::BadAddress)?;
        let [version, 0, 0, 0, a, b, c, d, rest @ ..] = short else {
            return Err(Error::BadAddress);
        };
        let name = match (*version, name) {
            (VERSION, []) => None,
            (WITH_NAME, [len, name @ ..]) if bytes.len() == Self::MOST_BYTES => {
                let (name, rest) = name
                    .split_at_checked(usize::from(*len))
                    .ok_or(Error::BadAddress)?;
                let is_clean = rest.iter().all(|byte| *byte == 0);
                let name = Name::new(name).filter(|_| is_clean);
                Some(name.ok_or(Error::BadAddress)?)
            }
            _ => return Err(Error::BadAddress),
        };
        let (ticket, port) = rest.split_first_chunk().ok_or(Error::BadAddress)?;
        let port = port.try_into().map_err(|_| Error::BadAddress)?;
        Ok(Self {
            process: Ticket::of_bytes(ticket),
            endpoint: u32::from_le_bytes([*a, *b, *c, *d]),
            port: Port::of_bytes(port).ok_or(Error::BadAddress)?,
            name,
        })
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        let of = |one: &Self| (one.endpoint, one.port);
        of(self) == of(other) && self.process == other.process
    }
}

impl Eq for Address {}

impl Hash for Address {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_short_bytes().hash(state);
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
            name: None,
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
    fn an_address_with_a_name_is_printed_and_parsed() {
        for len in [1, 16, Name::MOST] {
            let name = Name::new(&vec![7; len]);
            assert!(name.is_some(), "{len} bytes");
            let named = Address { name, ..some() };
            assert_eq!(named.to_bytes().len(), Address::MOST_BYTES);
            let parsed: Address = named.to_string().parse().unwrap();
            assert_eq!(parsed, named);
            assert_eq!(parsed.to_bytes(), named.to_bytes());
            assert_eq!(named, some(), "of one endpoint");
            let mut bytes = named.to_bytes();
            bytes[Address::BYTES] = 0;
            assert_eq!(Address::of_bytes(&bytes), Err(Error::BadAddress));
            bytes[Address::BYTES] = 255;
            assert_eq!(Address::of_bytes(&bytes), Err(Error::BadAddress));
        }
        assert!(Name::new(&[0; Name::MOST + 1]).is_none() && Name::new(&[]).is_none());
    }

    #[test]
    fn a_family_has_its_members_alone() {
        let one = Family::new(5, 0);
        assert_eq!((one.receiver(0), one.receiver(1)), (Some(Member(5)), None));
        assert_eq!((one.sender(0), Family::of(5)), (None, one));
        let eight = Family::new(16, 3);
        let all = (0..4).flat_map(|index| [eight.receiver(index), eight.sender(index)]);
        let mut all: Vec<u32> = all.map(|member| member.unwrap().0).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 8);
        assert!(all.iter().all(|&number| Family::of(number) == eight));
        assert_eq!((eight.receiver(4), eight.sender(4)), (None, None));
        assert_ne!(Family::of(24), eight);
        // Any number is one, as peers send any.
        let widest = Family::of(u32::MAX);
        assert_eq!((widest, widest.receiver(1 << 27)), (Family(31 << 27), None));
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
