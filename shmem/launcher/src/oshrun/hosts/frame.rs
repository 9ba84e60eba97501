//! The messages between oshrun and its agents on other hosts: frames of a length (four bytes,
//! little-endian, of the bytes that follow), a kind (one byte) and fields.
//!
//! Numbers are little-endian; texts, lists and bytes begin with their length in four bytes. A frame has no field too few
//! and none too many. [`VERSION`] changes with anything here.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use fi_bootstrap::mapping;
use fi_bootstrap::server::{Departure, Left, Pair, Phase};

use super::super::environment::Variable;

/// The protocol's number.
pub(in super::super) const VERSION: u16 = 3;

/// The longest frame, in bytes: a job's start, with its arguments and environment, is more than all others.
pub(in super::super) const LONGEST: usize = 8 << 20;

/// The most PEs of a job that an agent takes part in.
const MOST_PES: usize = 1 << 24;

/// The longest frame of a connection whose other end is not yet known.
pub(in super::super) const LONGEST_GREETING: usize = 512;

/// Reason for which bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum Malformed {
    #[error("a frame of {0} bytes is too long")]
    TooLong(usize),
    #[error("a frame of kind {0} cannot be read")]
    Kind(u8),
    #[error("a frame is empty")]
    Empty,
}

/// A number that is used once.
pub(in super::super) type Nonce = [u8; 16];

/// The proof that its sender knows the job's secret.
pub(in super::super) type Proof = [u8; 32];

/// Defines the frames, each with its kind and its fields in order.
macro_rules! frames {
    ($($(#[$doc:meta])* $kind:literal $name:ident { $($field:ident: $type:ty),* $(,)? },)*) => {
        /// One frame.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(in super::super) enum Frame {
            $($(#[$doc])* $name { $($field: $type),* },)*
        }

        impl Frame {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Frame::$name { $($field),* } => {
                        out.push($kind);
                        $($field.put(out);)*
                    })*
                }
            }

            fn take(kind: u8, rest: &mut &[u8]) -> Option<Self> {
                match kind {
                    $($kind => {
                        $(let $field = Field::take(rest)?;)*
                        Some(Frame::$name { $($field),* })
                    })*
                    _ => None,
                }
            }

            /// Returns the name of a kind of frames; none where there is no such kind.
            pub(in super::super) fn name_of(kind: u8) -> Option<&'static str> {
                match kind {
                    $($kind => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

frames! {
    /// An agent begins: the name of its host, as oshrun knows it.
    1 Hello { version: u16, host: String, nonce: Nonce },
    /// oshrun answers, and shows that it is oshrun. `patience` is the silence that ends the job, in milliseconds, or 0.
    2 Welcome { version: u16, nonce: Nonce, proof: Proof, patience: u32 },
    /// The agent shows that it is one.
    3 Known { proof: Proof },
    /// Somebody is there.
    4 Beat {},

    /// The program to run.
    10 Start { start: Start },
    /// All hosts are ready: start the PEs.
    11 Go {},
    /// The barrier opens, with values that were put; more follow unless this is the last such frame.
    12 Open { values: Vec<Pair>, last: bool },
    /// A PE has left that none is to wait for.
    13 Left { left: Left },
    /// The next input of PE 0; nothing at the end.
    14 Input { bytes: Vec<u8> },
    /// More of a host's output is taken: so many bytes.
    15 Room { way: u8, bytes: u32 },
    /// Nobody reads an output any more.
    16 Unread { way: u8 },
    /// End the PEs.
    17 End {},
    /// All PEs have ended: end the processes that they have left.
    18 Finish {},

    /// The program can be run.
    30 Ready {},
    /// The host cannot take part.
    31 Failed { status: i32, message: String },
    /// All PEs of the host stand in the barrier, and have put these values; more follow unless this is the last such
    /// frame.
    32 Entered { values: Vec<Pair>, last: bool },
    /// A PE has ended.
    33 Departed { left: Left, pid: i32, out_of_memory: bool },
    /// A PE ends the job.
    34 Abort { rank: usize, code: i32, message: Option<String> },
    /// PEs wait for one that has left.
    35 Awaited { rank: usize, departure: Departure, finalized: bool },
    /// A PE does not keep to the protocol.
    36 Garbage { rank: usize, what: String },
    /// Output of PEs to stdout (0) or stderr (1).
    37 Output { way: u8, bytes: Vec<u8> },
    /// PE 0 has taken so many bytes.
    38 Taken { bytes: u32 },
    /// PE 0 reads no more.
    39 InputClosed {},
    /// All processes of the job on this host have ended, and their output is passed on.
    40 Over {},
}

/// The program that an agent is to run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in super::super) struct Start {
    /// The host of every PE.
    pub(in super::super) hosts: Vec<u32>,
    /// The agent's own.
    pub(in super::super) host: u32,
    /// The job's name in PMI-1.
    pub(in super::super) kvsname: String,
    pub(in super::super) program: OsString,
    pub(in super::super) arguments: Vec<OsString>,
    pub(in super::super) environment: Vec<Variable>,
    /// Names of variables that the user has set for the job.
    pub(in super::super) given: Vec<OsString>,
    /// The working directory.
    pub(in super::super) directory: OsString,
    /// Whether each PE is bound to a core.
    pub(in super::super) bind: bool,
    /// Whether lines have labels, and whether they come out whole.
    pub(in super::super) label: bool,
    pub(in super::super) lines: bool,
}

impl Frame {
    /// Returns the frame as it is sent, its length first.
    pub(in super::super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![0; 4];
        self.put(&mut out);
        let length = u32::try_from(out.len() - 4).unwrap_or(u32::MAX);
        out[..4].copy_from_slice(&length.to_le_bytes());
        out
    }

    /// Takes the first frame off `bytes`; `None` when more bytes are needed.
    ///
    /// # Errors
    /// When they are no frame, or one of more than `longest` bytes.
    pub(in super::super) fn decode(
        bytes: &mut &[u8],
        longest: usize,
    ) -> Result<Option<Self>, Malformed> {
        let Some((length, rest)) = bytes.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > longest {
            return Err(Malformed::TooLong(length));
        }
        let Some((frame, after)) = rest.split_at_checked(length) else {
            return Ok(None);
        };
        let (&kind, mut fields) = frame.split_first().ok_or(Malformed::Empty)?;
        let frame = Frame::take(kind, &mut fields).filter(|_| fields.is_empty());
        *bytes = after;
        frame.map(Some).ok_or(Malformed::Kind(kind))
    }
}

/// Splits values into parts that fit a frame each; at least one part.
pub(in super::super) fn parts(values: Vec<Pair>) -> Vec<(Vec<Pair>, bool)> {
    const ENOUGH: usize = 1 << 20;
    let (mut parts, mut size) = (vec![Vec::new()], 0);
    for (key, value) in values {
        let length = key.len() + value.len() + 8;
        if size + length > ENOUGH {
            parts.push(Vec::new());
            size = 0;
        }
        size += length;
        if let Some(part) = parts.last_mut() {
            part.push((key, value));
        }
    }
    let count = parts.len();
    let parts = parts.into_iter().enumerate();
    parts
        .map(|(index, part)| (part, index + 1 == count))
        .collect()
}

/// A type that a frame can hold.
trait Field: Sized {
    fn put(&self, out: &mut Vec<u8>);

    fn take(rest: &mut &[u8]) -> Option<Self>;

    fn put_all(items: &[Self], out: &mut Vec<u8>) {
        for item in items {
            item.put(out);
        }
    }

    fn take_all(count: usize, rest: &mut &[u8]) -> Option<Vec<Self>> {
        // Each takes a byte at least.
        let mut items = Vec::with_capacity(count.min(rest.len()).min(1024));
        for _ in 0..count {
            items.push(Self::take(rest)?);
        }
        Some(items)
    }
}

/// Takes an array off the front.
fn chunk<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Field for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn take(rest: &mut &[u8]) -> Option<Self> {
                chunk(rest).map(Self::from_le_bytes)
            }
        }
    )*};
}

numbers!(u16, u32, i32);

impl Field for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        chunk(rest).map(|[byte]| byte)
    }

    fn put_all(items: &[Self], out: &mut Vec<u8>) {
        out.extend_from_slice(items);
    }

    fn take_all(count: usize, rest: &mut &[u8]) -> Option<Vec<Self>> {
        let (first, after) = rest.split_at_checked(count)?;
        *rest = after;
        Some(first.to_vec())
    }
}

impl<const N: usize> Field for [u8; N] {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        chunk(rest)
    }
}

/// A PE's number.
impl Field for usize {
    fn put(&self, out: &mut Vec<u8>) {
        u32::try_from(*self).unwrap_or(u32::MAX).put(out);
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        u32::take(rest)?.try_into().ok()
    }
}

impl Field for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        match u8::take(rest)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Field> Field for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        T::put_all(self, out);
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        let count = usize::take(rest)?;
        T::take_all(count, rest)
    }
}

impl<T: Field> Field for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(item) = self {
            item.put(out);
        }
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        if bool::take(rest)? {
            T::take(rest).map(Some)
        } else {
            Some(None)
        }
    }
}

impl<A: Field, B: Field> Field for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        Some((A::take(rest)?, B::take(rest)?))
    }
}

impl Field for String {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        String::from_utf8(Vec::take(rest)?).ok()
    }
}

impl Field for OsString {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        Vec::take(rest).map(OsString::from_vec)
    }
}

impl Field for Departure {
    fn put(&self, out: &mut Vec<u8>) {
        match *self {
            Departure::Exited(status) => (0_u8, status).put(out),
            Departure::Killed(signal) => (1_u8, signal).put(out),
        }
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        match Field::take(rest)? {
            (0_u8, status) => Some(Departure::Exited(status)),
            (1, signal) => Some(Departure::Killed(signal)),
            _ => None,
        }
    }
}

impl Field for Phase {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(match self {
            Phase::Outside => 0,
            Phase::Inside => 1,
            Phase::Finalized => 2,
            Phase::Partly => 3,
        });
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        match u8::take(rest)? {
            0 => Some(Phase::Outside),
            1 => Some(Phase::Inside),
            2 => Some(Phase::Finalized),
            3 => Some(Phase::Partly),
            _ => None,
        }
    }
}

impl Field for Left {
    fn put(&self, out: &mut Vec<u8>) {
        self.rank.put(out);
        self.departure.put(out);
        self.phase.put(out);
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        Some(Left {
            rank: Field::take(rest)?,
            departure: Field::take(rest)?,
            phase: Field::take(rest)?,
        })
    }
}

impl Field for Start {
    fn put(&self, out: &mut Vec<u8>) {
        // Not a number for each PE: oshrun sends it to every host.
        self.hosts.len().put(out);
        mapping::of_hosts(&self.hosts).put(out);
        self.host.put(out);
        self.kvsname.put(out);
        self.program.put(out);
        self.arguments.put(out);
        self.environment.put(out);
        self.given.put(out);
        self.directory.put(out);
        self.bind.put(out);
        self.label.put(out);
        self.lines.put(out);
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        Some(Start {
            hosts: {
                let pes = usize::take(rest).filter(|pes| *pes <= MOST_PES)?;
                let text = String::take(rest)?;
                if pes == 0 {
                    Vec::new()
                } else {
                    mapping::parse(&text, pes)?
                }
            },
            host: Field::take(rest)?,
            kvsname: Field::take(rest)?,
            program: Field::take(rest)?,
            arguments: Field::take(rest)?,
            environment: Field::take(rest)?,
            given: Field::take(rest)?,
            directory: Field::take(rest)?,
            bind: Field::take(rest)?,
            label: Field::take(rest)?,
            lines: Field::take(rest)?,
        })
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
