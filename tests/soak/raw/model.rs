//! Each message as it must be: a function of its sender, its receiver and its number. And the random
//! numbers of all.

/// The longest message and the longest range, in bytes.
pub(crate) const LONGEST: usize = 4 << 20;

/// Random numbers (xorshift).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Makes the numbers of a seed and of their purpose.
    pub(crate) fn new(seed: u64, what: [u64; 3]) -> Self {
        let mix = |state: u64, word: u64| {
            (state ^ word)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29)
        };
        Self(what.into_iter().fold(mix(seed, 1), mix) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 32) as usize) % bound
    }

    /// Returns a length up to the longest: all orders of magnitude as often, but for the last ones.
    pub(crate) fn len(&mut self) -> usize {
        let most = if self.below(40) == 0 { 23 } else { 16 };
        let bits = self.below(most);
        match self.below(50) {
            0 => 0,
            1 => 1 << bits,
            _ => self.below(1 << bits),
        }
        .min(LONGEST)
    }

    /// Returns random bytes.
    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes()[..part.len()]);
        }
        bytes
    }
}

/// Returns the message number `count` of one process to another.
pub(crate) fn message(seed: u64, from: u64, to: u64, count: u64) -> Vec<u8> {
    let mut random = Random::new(seed, [from, to, count]);
    let len = random.len();
    random.bytes(len)
}
