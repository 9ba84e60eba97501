//! Datagrams between domains, by which two endpoints connect; records are in
//! [`super::super::protocol`].
//!
//! The side that asks tells its ends of the connection; the other connects its own, and answers with
//! them; the first confirms. Datagrams may be lost or come twice: the first two are repeated until
//! the next has come, and each says the same each time.

use crate::raw::address::Address;
use crate::raw::error::Error;
use fi_mlx5::remote::Vector;

/// The first bytes of a datagram: the protocol and its version.
const MAGIC: [u8; 8] = *b"farrch\0\x02";

/// Bytes of the token by which a process is entered.
pub(crate) const TOKEN: usize = 16;

/// One side's ends of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The queue pair or target to which records come.
    pub(crate) messages: u32,
    /// The queue pair by which this side accesses memory; none with targets.
    pub(crate) outward: u32,
    /// The queue pair or target by which memory of this side is accessed.
    pub(crate) inward: u32,
    /// Whether these are targets.
    pub(crate) is_dynamic: bool,
    pub(crate) lid: u16,
    pub(crate) mtu: u16,
    pub(crate) max_read_atomic: u8,
    /// The process's key, by which targets are entered and first packets are numbered.
    pub(crate) key: u64,
    /// The number by which records to this side name their sender.
    pub(crate) origin: u32,
    /// Records that this side takes before it has told that it has taken any.
    pub(crate) credits: u32,
    /// The longest payload of a record to this side, in bytes.
    pub(crate) most: u32,
    /// Place where this side is told the number of its records that were taken: address and remote
    /// key.
    pub(crate) taken: (u64, u32),
    /// Place of the table of regions of this side: address and remote key.
    pub(crate) table: (u64, u32),
}

/// A datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    /// The token of the process that it is for.
    pub(crate) token: [u8; TOKEN],
    /// The number of the endpoint there.
    pub(crate) to: u32,
    /// The endpoint that it is from.
    pub(crate) from: Address,
    pub(crate) body: Body,
}

/// The meaning of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// Asks for a connection.
    Ask(Ends),
    /// Tells that this side is connected.
    Answer(Ends),
    /// Refuses a connection.
    Refuse(Error),
    /// Tells that the answer has come, and that this side is connected.
    Confirm,
    /// Asks for another queue pair by which memory is accessed.
    Renew(Renewal),
    /// Tells that it is connected.
    Renewed(Renewal),
}

/// Another queue pair in the place of one that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Renewal {
    /// Number of such renewals, this one included.
    pub(crate) times: u32,
    pub(crate) queue: u32,
}

/// Bytes of a datagram.
pub(crate) const BYTES: usize = 8 + TOKEN + 8 + Address::BYTES + ENDS;
/// Bytes of the ends of a connection.
pub(crate) const ENDS: usize = 76;

impl Ends {
    /// Returns the address vector of one of the targets; that of nobody where the ends are queue
    /// pairs.
    pub(crate) fn vector(&self, target: u32) -> Vector {
        if self.is_dynamic {
            Vector::new(self.key, target, self.lid)
        } else {
            Vector::nowhere()
        }
    }

    fn put(&self, to: &mut Writer<'_>) {
        to.put(&self.messages.to_le_bytes());
        to.put(&self.outward.to_le_bytes());
        to.put(&self.inward.to_le_bytes());
        to.put(&self.lid.to_le_bytes());
        to.put(&self.mtu.to_le_bytes());
        to.put(&[self.max_read_atomic, self.is_dynamic.into(), 0, 0]);
        to.put(&self.key.to_le_bytes());
        to.put(&self.origin.to_le_bytes());
        to.put(&self.credits.to_le_bytes());
        to.put(&self.most.to_le_bytes());
        to.put(&self.taken.1.to_le_bytes());
        to.put(&self.taken.0.to_le_bytes());
        to.put(&self.table.0.to_le_bytes());
        to.put(&self.table.1.to_le_bytes());
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (messages, outward, inward) = (number(from)?, number(from)?, number(from)?);
        let [lid, mtu] = [take(from)?, take(from)?].map(u16::from_le_bytes);
        let [max_read_atomic, is_dynamic, 0, 0] = take(from)? else {
            return None;
        };
        let key = u64::from_le_bytes(take(from)?);
        let (origin, credits, most) = (number(from)?, number(from)?, number(from)?);
        let taken_key = number(from)?;
        let [taken, table] = [take(from)?, take(from)?].map(u64::from_le_bytes);
        Some(Self {
            messages,
            outward,
            inward,
            is_dynamic: is_dynamic == 1,
            lid,
            mtu,
            max_read_atomic,
            key,
            origin,
            credits,
            most,
            taken: (taken, taken_key),
            table: (table, number(from)?),
        })
    }
}

impl Renewal {
    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Self {
            times: number(from)?,
            queue: number(from)?,
        })
    }
}

impl Datagram {
    pub(crate) fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let mut to = Writer {
            bytes: &mut bytes,
            at: 0,
        };
        to.put(&MAGIC);
        to.put(&self.token);
        to.put(&self.to.to_le_bytes());
        let (kind, code) = match self.body {
            Body::Ask(_) => (1, 0),
            Body::Answer(_) => (2, 0),
            Body::Refuse(error) => (3, error.to_wire()),
            Body::Confirm => (4, 0),
            Body::Renew(_) => (5, 0),
            Body::Renewed(_) => (6, 0),
        };
        to.put(&[kind, code, 0, 0]);
        to.put(&self.from.to_short_bytes());
        if let Body::Ask(ends) | Body::Answer(ends) = &self.body {
            ends.put(&mut to);
        }
        if let Body::Renew(renewal) | Body::Renewed(renewal) = &self.body {
            to.put(&renewal.times.to_le_bytes());
            to.put(&renewal.queue.to_le_bytes());
        }
        bytes
    }

    /// Returns the datagram of these bytes; none where they make no sense.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.first_chunk::<BYTES>()?.as_slice();
        if take(&mut rest)? != MAGIC {
            return None;
        }
        let (token, to) = (take(&mut rest)?, number(&mut rest)?);
        let [kind, code, 0, 0] = take(&mut rest)? else {
            return None;
        };
        let from = Address::of_bytes(&take::<{ Address::BYTES }>(&mut rest)?).ok()?;
        let body = match kind {
            1 => Body::Ask(Ends::take(&mut rest)?),
            2 => Body::Answer(Ends::take(&mut rest)?),
            3 => Body::Refuse(Error::of_wire(code).err()?),
            4 => Body::Confirm,
            5 => Body::Renew(Renewal::take(&mut rest)?),
            6 => Body::Renewed(Renewal::take(&mut rest)?),
            _ => return None,
        };
        Some(Self {
            token,
            to,
            from,
            body,
        })
    }
}

/// Bytes that are filled from the first on.
struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }
}

/// Takes the first `N` bytes away, and returns them.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    take(rest).map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::address::Port;
    use fi_shm::handover::Ticket;

    fn ends() -> Ends {
        Ends {
            messages: 0xff_0001,
            outward: 0x10_0203,
            inward: 0x3,
            is_dynamic: true,
            lid: 0xbeef,
            mtu: 4096,
            max_read_atomic: 16,
            key: 0x0123_4567_89ab_cdef,
            origin: 77,
            credits: 16,
            most: 1 << 14,
            taken: (0x7fff_0000_1000, 5),
            table: (u64::MAX, u32::MAX),
        }
    }

    #[test]
    fn datagrams_are_decoded_as_they_were_encoded() {
        let from = Address {
            process: Ticket::parse("a-b-c").unwrap(),
            endpoint: 9,
            port: Port {
                lid: 1,
                number: 2,
                node: 3,
                is_far: true,
            },
            name: None,
        };
        for body in [
            Body::Ask(ends()),
            Body::Answer(ends()),
            Body::Refuse(Error::PeerGone),
            Body::Confirm,
            Body::Renew(Renewal { times: 1, queue: 9 }),
            Body::Renewed(Renewal { times: 2, queue: 8 }),
        ] {
            let datagram = Datagram {
                token: [7; TOKEN],
                to: 3,
                from: from.clone(),
                body,
            };
            let mut bytes = datagram.encode();
            assert_eq!(Datagram::decode(&bytes), Some(datagram));
            assert_eq!(Datagram::decode(&bytes[1..]), None);
            bytes[0] ^= 1;
            assert_eq!(Datagram::decode(&bytes), None);
        }
    }
}
