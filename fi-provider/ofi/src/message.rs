//! Messages that ask a peer's processor for atomic operations, and their answers: bytes.

use fi_shm::amo::Amo;

/// Bytes of the longest message.
pub(crate) const BYTES: usize = 56;

const REQUEST: u8 = 1;
const ANSWER: u8 = 2;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Request(Request),
    Answer(Answer),
}

/// An atomic operation on the object of `bytes` bytes (4 or 8) at `address` of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The key of the receiver's process: messages without it are dropped.
    pub(crate) key: u64,
    /// The sender's number, to which the answer goes.
    pub(crate) from: u32,
    /// The sender's name for the operation.
    pub(crate) token: u64,
    /// The key of the receiver's memory, as accesses give it.
    pub(crate) region: u64,
    pub(crate) address: u64,
    pub(crate) bytes: u8,
    pub(crate) amo: Amo,
}

/// The old value of an object, or that the operation was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) key: u64,
    pub(crate) token: u64,
    pub(crate) found: Option<u64>,
}

impl Message {
    /// The message as bytes, and how many they are.
    pub(crate) fn encode(&self) -> ([u8; BYTES], usize) {
        let mut bytes = [0; BYTES];
        let words = match self {
            Self::Request(request) => {
                let (code, operands) = code(request.amo);
                bytes[..3].copy_from_slice(&[REQUEST, code, request.bytes]);
                bytes[4..8].copy_from_slice(&request.from.to_le_bytes());
                let [first, second] = operands;
                let Request {
                    key,
                    token,
                    region,
                    address,
                    ..
                } = *request;
                ([key, token, region, address, first, second], 6)
            }
            Self::Answer(answer) => {
                bytes[..2].copy_from_slice(&[ANSWER, answer.found.is_some().into()]);
                let found = answer.found.unwrap_or(0);
                ([answer.key, answer.token, found, 0, 0, 0], 3)
            }
        };
        let (words, count) = words;
        for (place, word) in bytes[8..].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        (bytes, 8 + 8 * count)
    }

    /// The message that these bytes are; none where they are none.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<8>()?;
        let mut words = [0; 6];
        let (whole, odd) = rest.as_chunks::<8>();
        if !odd.is_empty() || whole.len() > words.len() {
            return None;
        }
        for (word, place) in words.iter_mut().zip(whole) {
            *word = u64::from_le_bytes(*place);
        }
        let [key, token, third, address, first, second] = words;
        match (*head, whole.len()) {
            ([REQUEST, code, bytes @ (4 | 8), _, from @ ..], 6) => Some(Self::Request(Request {
                key,
                from: u32::from_le_bytes(from),
                token,
                region: third,
                address,
                bytes,
                amo: operation(code, [first, second])?,
            })),
            ([ANSWER, is_done @ (0 | 1), ..], 3) => Some(Self::Answer(Answer {
                key,
                token,
                found: (is_done == 1).then_some(third),
            })),
            _ => None,
        }
    }
}

/// The code and the operands of an operation.
fn code(amo: Amo) -> (u8, [u64; 2]) {
    match amo {
        Amo::Fetch => (0, [0; 2]),
        Amo::Swap(value) => (1, [value, 0]),
        Amo::Add(value) => (2, [value, 0]),
        Amo::And(value) => (3, [value, 0]),
        Amo::Or(value) => (4, [value, 0]),
        Amo::Xor(value) => (5, [value, 0]),
        Amo::CompareSwap(compare, value) => (6, [compare, value]),
    }
}

fn operation(code: u8, [first, second]: [u64; 2]) -> Option<Amo> {
    Some(match code {
        0 => Amo::Fetch,
        1 => Amo::Swap(first),
        2 => Amo::Add(first),
        3 => Amo::And(first),
        4 => Amo::Or(first),
        5 => Amo::Xor(first),
        6 => Amo::CompareSwap(first, second),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_there_and_back() {
        let operations = [
            Amo::Fetch,
            Amo::Swap(1),
            Amo::Add(u64::MAX),
            Amo::And(3),
            Amo::Or(4),
            Amo::Xor(5),
            Amo::CompareSwap(6, 7),
        ];
        let requests = operations.map(|amo| {
            Message::Request(Request {
                key: 0x0123_4567_89ab_cdef,
                from: 0x8000_0001,
                token: 9,
                region: 10,
                address: u64::MAX - 7,
                bytes: 4,
                amo,
            })
        });
        let answers = [Some(11), Some(0), None].map(|found| {
            Message::Answer(Answer {
                key: 1,
                token: 2,
                found,
            })
        });
        for message in requests.into_iter().chain(answers) {
            let (bytes, len) = message.encode();
            assert_eq!(Message::decode(&bytes[..len]), Some(message));
            for cut in 0..len {
                assert_eq!(Message::decode(&bytes[..cut]), None, "{cut} bytes");
            }
        }
    }

    #[test]
    fn nonsense_is_no_message() {
        let (mut bytes, len) = Message::Request(Request {
            key: 1,
            from: 2,
            token: 3,
            region: 4,
            address: 8,
            bytes: 8,
            amo: Amo::Fetch,
        })
        .encode();
        for (place, value) in [(0, 3), (1, 7), (2, 5), (2, 0)] {
            let before = std::mem::replace(&mut bytes[place], value);
            assert_eq!(Message::decode(&bytes[..len]), None, "{place}: {value}");
            bytes[place] = before;
        }
        assert!(Message::decode(&bytes[..len]).is_some());
        assert_eq!(Message::decode(&[0; 4096]), None);
    }
}
