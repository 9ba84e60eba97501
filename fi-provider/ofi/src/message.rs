//! Messages that ask a peer's processor for atomic operations, and their answers: bytes.
//!
//! A request may go without an answer of its own. A probe asks for one answer, which comes behind the
//! execution of all requests before it.

use fi_shm::amo::Amo;

/// Words and bytes of the longest message.
pub(crate) const WORDS: usize = 7;
pub(crate) const BYTES: usize = size_of::<u64>() * WORDS;

const REQUEST: u8 = 1;
const ANSWER: u8 = 2;
const PROBE: u8 = 3;

/// Fourth byte of a request that asks for no answer.
pub(crate) const UNANSWERED: u8 = 7;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Request(Request),
    Answer(Answer),
    Probe(Probe),
}

/// An atomic operation on the object of `bytes` bytes (4 or 8) at `address` of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The key of the job: messages without it are dropped.
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
    /// Whether it asks for an answer.
    pub(crate) asks: bool,
}

/// The question whether all requests before it are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    pub(crate) key: u64,
    /// As of a request.
    pub(crate) from: u32,
    pub(crate) token: u64,
}

/// The old value of an object, or that the operation was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) key: u64,
    pub(crate) token: u64,
    pub(crate) found: Option<u64>,
}

impl Message {
    /// Returns the message as words of the wire, whose bytes are in their order there, and the
    /// number of the bytes.
    #[inline(always)]
    pub(crate) fn encode(&self) -> ([u64; WORDS], usize) {
        let (words, count) = match self {
            Self::Request(request) => {
                let (code, [first, second]) = code(request.amo);
                let head = u64::from(REQUEST) | u64::from(code) << 8;
                let head = head | u64::from(request.bytes) << 16 | u64::from(request.from) << 32;
                let mark = if request.asks { 0 } else { UNANSWERED };
                let head = head | u64::from(mark) << 24;
                let Request {
                    key,
                    token,
                    region,
                    address,
                    ..
                } = *request;
                ([head, key, token, region, address, first, second], WORDS)
            }
            Self::Answer(answer) => {
                let head = u64::from(ANSWER) | u64::from(answer.found.is_some()) << 8;
                let found = answer.found.unwrap_or(0);
                ([head, answer.key, answer.token, found, 0, 0, 0], 4)
            }
            Self::Probe(probe) => {
                let head = u64::from(PROBE) | u64::from(probe.from) << 32;
                ([head, probe.key, probe.token, 0, 0, 0, 0], 3)
            }
        };
        (words.map(u64::to_le), size_of::<u64>() * count)
    }

    /// Returns the message that these bytes are; none where they are none.
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
            ([REQUEST, code, bytes @ (4 | 8), mark, from @ ..], 6) => {
                Some(Self::Request(Request {
                    key,
                    from: u32::from_le_bytes(from),
                    token,
                    region: third,
                    address,
                    bytes,
                    amo: operation(code, [first, second])?,
                    asks: mark != UNANSWERED,
                }))
            }
            ([PROBE, _, _, _, from @ ..], 2) => Some(Self::Probe(Probe {
                key,
                from: u32::from_le_bytes(from),
                token,
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

/// Returns the first word of a request of process `from` to swap an element of `bytes` bytes.
pub(crate) fn swap_head(bytes: u8, from: u32) -> u64 {
    let request = Request {
        key: 0,
        from,
        token: 0,
        region: 0,
        address: 0,
        bytes,
        amo: Amo::Swap(0),
        asks: true,
    };
    let ([head, ..], _) = Message::Request(request).encode();
    head
}

/// Returns the code and the operands of an operation.
#[inline(always)]
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

    fn bytes_of(words: [u64; WORDS]) -> Vec<u8> {
        words.into_iter().flat_map(u64::to_ne_bytes).collect()
    }

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
                asks: amo != Amo::Fetch,
            })
        });
        let probe = Message::Probe(Probe {
            key: 1,
            from: 2,
            token: 3,
        });
        let answers = [Some(11), Some(0), None].map(|found| {
            Message::Answer(Answer {
                key: 1,
                token: 2,
                found,
            })
        });
        for message in requests.into_iter().chain(answers).chain([probe]) {
            let (words, len) = message.encode();
            let bytes = bytes_of(words);
            assert_eq!(Message::decode(&bytes[..len]), Some(message));
            for cut in 0..len {
                assert_eq!(Message::decode(&bytes[..cut]), None, "{cut} bytes");
            }
        }
    }

    #[test]
    fn nonsense_is_no_message() {
        let (words, len) = Message::Request(Request {
            key: 1,
            from: 2,
            token: 3,
            region: 4,
            address: 8,
            bytes: 8,
            amo: Amo::Fetch,
            asks: true,
        })
        .encode();
        let mut bytes = bytes_of(words);
        for (place, value) in [(0, 4), (0, 3), (1, 7), (2, 5), (2, 0)] {
            let before = std::mem::replace(&mut bytes[place], value);
            assert_eq!(Message::decode(&bytes[..len]), None, "{place}: {value}");
            bytes[place] = before;
        }
        assert!(Message::decode(&bytes[..len]).is_some());
        assert_eq!(Message::decode(&[0; 4096]), None);
    }
}
