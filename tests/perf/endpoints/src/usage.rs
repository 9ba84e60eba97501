//! Usage of endpoints: their objects and memory.

use crate::error::Result;
use crate::words::{Line, Words};
use std::iter::Sum;
use std::ops::Add;

/// Bytes of a context, a protection domain, a region, a queue pair and a completion queue as table I of "Scalable
/// Communication Endpoints for MPI+Threads Applications" has them.
const TABLE: [u64; 5] = [256 << 10, 144, 144, 80 << 10, 9 << 10];

/// Objects and memory of the endpoints of a process, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Device contexts.
    pub(crate) contexts: u64,
    /// Protection domains.
    pub(crate) protections: u64,
    /// Registered regions.
    pub(crate) regions: u64,
    /// Queue pairs.
    pub(crate) queue_pairs: u64,
    /// Completion queues.
    pub(crate) completion_queues: u64,
    /// Doorbell pages (UARs).
    pub(crate) pages: u64,
    /// Doorbell registers of the data path on them (uUARs).
    pub(crate) registers: u64,
    /// Bytes of the rings and doorbell pages that are mapped.
    pub(crate) bytes: u64,
}

/// The numbers by their names, in the order of [`Usage::numbers`].
pub(crate) const NAMES: [&str; 9] = [
    "contexts",
    "pds",
    "mrs",
    "qps",
    "cqs",
    "uars",
    "uuars",
    "bytes",
    "table_i_bytes",
];

impl Usage {
    /// Returns the bytes that the paper's table I makes of these objects; it counts neither
    /// doorbell pages nor rings of other sizes.
    pub(crate) fn table_bytes(&self) -> u64 {
        let counts = [
            self.contexts,
            self.protections,
            self.regions,
            self.queue_pairs,
            self.completion_queues,
        ];
        counts
            .iter()
            .zip(TABLE)
            .map(|(count, each)| count * each)
            .sum()
    }

    /// Returns all numbers, the bytes of table I last.
    pub(crate) fn numbers(&self) -> [u64; NAMES.len()] {
        [
            self.contexts,
            self.protections,
            self.regions,
            self.queue_pairs,
            self.completion_queues,
            self.pages,
            self.registers,
            self.bytes,
            self.table_bytes(),
        ]
    }

    /// Returns the usage of which [`Usage::numbers`] gave these numbers.
    pub(crate) fn of_numbers(numbers: [u64; NAMES.len()]) -> Self {
        let [
            contexts,
            protections,
            regions,
            queue_pairs,
            completion_queues,
            pages,
            registers,
            bytes,
            _,
        ] = numbers;
        Self {
            contexts,
            protections,
            regions,
            queue_pairs,
            completion_queues,
            pages,
            registers,
            bytes,
        }
    }

    /// Adds them to a line.
    pub(crate) fn tell(&self, line: Line) -> Line {
        line.list("usage", &self.numbers())
    }

    /// Returns the numbers of a line.
    pub(crate) fn hear(words: &Words<'_>) -> Result<Self> {
        let numbers: Vec<u64> = words.list("usage")?;
        let numbers = numbers
            .try_into()
            .map_err(|_| crate::error::Error::Words("usage".to_owned()))?;
        Ok(Self::of_numbers(numbers))
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let mut sum = self.numbers();
        for (one, more) in sum.iter_mut().zip(other.numbers()) {
            *one += more;
        }
        Self::of_numbers(sum)
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> Usage {
        Usage {
            contexts: 1,
            protections: 1,
            regions: 1,
            queue_pairs: 1,
            completion_queues: 1,
            ..Usage::default()
        }
    }

    #[test]
    fn an_endpoint_takes_what_the_table_says() {
        // "Total 345K", and "the CTX occupying 74.2% of it".
        let bytes = one().table_bytes();
        assert_eq!(bytes >> 10, 345);
        assert_eq!((256 << 10) * 1000 / bytes, 741);
        // "5.39 MB" of 16 contexts, "1.39 MB" of their queues.
        let sixteen: Usage = (0..16).map(|_| one()).sum();
        assert_eq!((sixteen.table_bytes() * 100) >> 20, 539);
        let queues = Usage {
            queue_pairs: 16,
            completion_queues: 16,
            ..Usage::default()
        };
        assert_eq!((queues.table_bytes() * 100) >> 20, 139);
    }

    #[test]
    fn numbers_pass_through_lines() {
        let usage = Usage {
            pages: 9,
            registers: 18,
            bytes: 4096,
            ..one()
        };
        let line = usage.tell(Line::new()).end();
        assert_eq!(Usage::hear(&Words::of(&line)).unwrap(), usage);
    }
}
