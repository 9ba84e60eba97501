//! Messages between domains of a node, on the Unix sockets by which they find each other; those in
//! rings are in [`super::protocol`].

use super::address::{Address, Port};
use super::error::Error;
use fi_shm::handover::Ticket;

/// A request, behind the token: always so many bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Asks for the memory; tells the asking process and its protocol. The answer is a [`Welcome`],
    /// with the descriptor of the memory.
    Hello { process: Ticket, port: Port },
    /// Asks for a ring from the own endpoint `from` to the endpoint `to`. The answer is a [`Grant`].
    Ring { from: u32, to: u32 },
    /// Tells that the ring at this offset is used no more. There is no answer.
    Release { offset: u64 },
    /// Wakes endpoint `endpoint`, which has asked for it. There is no answer.
    Wake { endpoint: u32 },
}

/// The protocol between domains, rings included.
pub(crate) const PROTOCOL: u32 = 6;

/// Place of the port in a hello.
const PORT: usize = 8 + Ticket::BYTES;

impl Request {
    pub(crate) const BYTES: usize = PORT + Port::BYTES;

    pub(crate) fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        match self {
            Self::Hello { process, port } => {
                bytes[0] = 1;
                bytes[4..8].copy_from_slice(&PROTOCOL.to_le_bytes());
                bytes[8..PORT].copy_from_slice(&process.to_bytes());
                bytes[PORT..].copy_from_slice(&port.to_bytes());
            }
            Self::Ring { from, to } => {
                bytes[0] = 2;
                bytes[8..12].copy_from_slice(&from.to_le_bytes());
                bytes[12..16].copy_from_slice(&to.to_le_bytes());
            }
            Self::Release { offset } => {
                bytes[0] = 3;
                bytes[8..16].copy_from_slice(&offset.to_le_bytes());
            }
            Self::Wake { endpoint } => {
                bytes[0] = 4;
                bytes[8..12].copy_from_slice(&endpoint.to_le_bytes());
            }
        }
        bytes
    }

    /// Returns the request of these bytes; none where they make no sense.
    pub(crate) fn decode(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        Some(match bytes[0] {
            1 if word(bytes, 4) == PROTOCOL => Self::Hello {
                process: Ticket::of_bytes(bytes[8..].first_chunk()?),
                port: Port::of_bytes(bytes[PORT..].first_chunk()?)?,
            },
            2 => Self::Ring {
                from: word(bytes, 8),
                to: word(bytes, 12),
            },
            3 => Self::Release {
                offset: long(bytes, 8),
            },
            4 => Self::Wake {
                endpoint: word(bytes, 8),
            },
            _ => return None,
        })
    }
}

/// The answer to a hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Welcome {
    /// Bytes of the memory.
    pub(crate) len: u64,
}

impl Welcome {
    pub(crate) const BYTES: usize = 8;

    pub(crate) fn encode(self) -> [u8; Self::BYTES] {
        self.len.to_le_bytes()
    }

    pub(crate) fn decode(bytes: &[u8; Self::BYTES]) -> Self {
        Self {
            len: u64::from_le_bytes(*bytes),
        }
    }
}

/// A ring in the memory of the process that answers, and where its bell is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) offset: u64,
    pub(crate) capacity: u32,
    /// The bell: a bit of the words at `bells`.
    pub(crate) bell: u32,
    pub(crate) bells: u64,
    /// Whether the bell is the lowest bit of a byte that may be stored to.
    pub(crate) is_by_bytes: bool,
}

impl Grant {
    pub(crate) const BYTES: usize = 32;
    /// The bell of an answer without a ring, where there is no room for one. All zeros is the answer
    /// where there is no such endpoint.
    const NO_ROOM: u32 = 1;

    /// Returns the answer, granted or not.
    pub(crate) fn encode_all(granted: Result<Self, Error>) -> [u8; Self::BYTES] {
        let refusal = |error| Self {
            bell: u32::from(error == Error::NoRoom) * Self::NO_ROOM,
            ..Self::default()
        };
        granted.unwrap_or_else(refusal).encode()
    }

    fn encode(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.capacity.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.bell.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.bells.to_le_bytes());
        bytes[24] = self.is_by_bytes.into();
        bytes
    }

    /// Returns the ring that was granted.
    ///
    /// # Errors
    /// [`Error::PeerGone`], [`Error::NoRoom`].
    pub(crate) fn decode(bytes: &[u8; Self::BYTES]) -> Result<Self, Error> {
        let grant = Self {
            offset: long(bytes, 0),
            capacity: word(bytes, 8),
            bell: word(bytes, 12),
            bells: long(bytes, 16),
            is_by_bytes: bytes[24] != 0,
        };
        match (grant.capacity, grant.bell) {
            (0, Self::NO_ROOM) => Err(Error::NoRoom),
            (0, _) => Err(Error::PeerGone),
            _ => Ok(grant),
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

/// Returns the address of endpoint `number` of a process.
pub(crate) fn address(process: &Ticket, number: u32, port: Port) -> Address {
    Address {
        process: process.clone(),
        endpoint: number,
        port,
        name: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_decoded_as_they_were_encoded() {
        let process = Ticket::parse("a-b-c").unwrap();
        let port = Port::default();
        for request in [
            Request::Hello { process, port },
            Request::Ring {
                from: 3,
                to: u32::MAX,
            },
            Request::Release { offset: 1 << 40 },
            Request::Wake { endpoint: 1 << 31 },
        ] {
            assert_eq!(Request::decode(&request.encode()), Some(request));
        }
        let grant = Grant {
            offset: 1 << 33,
            capacity: 65536,
            bell: 70,
            bells: 4096,
            is_by_bytes: true,
        };
        for answer in [Ok(grant), Err(Error::NoRoom), Err(Error::PeerGone)] {
            assert_eq!(Grant::decode(&Grant::encode_all(answer)), answer);
        }
        assert_eq!(Welcome::decode(&Welcome { len: 9 }.encode()).len, 9);
    }

    #[test]
    fn another_protocol_is_refused() {
        let process = Ticket::parse("a-b-c").unwrap();
        let port = Port::default();
        let mut bytes = Request::Hello { process, port }.encode();
        bytes[4] += 1;
        assert_eq!(Request::decode(&bytes), None);
        assert_eq!(Request::decode(&[9; Request::BYTES]), None);
    }
}
