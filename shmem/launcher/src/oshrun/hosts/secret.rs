//! The way in which oshrun and its agents know each other: both can compute HMAC-SHA-256 (FIPS
//! 180-4, RFC 2104) with the job's secret, of numbers that both have chosen. The secret itself is
//! on no connection.
//!
//! Frames afterwards are neither encrypted nor signed.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;

use super::frame::{Nonce, Proof};

const LENGTH: usize = 32;

/// The secret of a job.
#[derive(Clone)]
pub(in super::super) struct Secret([u8; LENGTH]);

/// The side that shows that it knows the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Role {
    Oshrun,
    Agent,
}

impl Secret {
    /// Makes a new one, of the system's random numbers.
    pub(in super::super) fn new() -> std::io::Result<Self> {
        random().map(Secret)
    }

    /// Reads the text of [`Self::text`].
    pub(in super::super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim_end().as_bytes();
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (pairs, rest) = text.as_chunks::<2>();
        let bytes: Option<Vec<u8>> = pairs
            .iter()
            .map(|&[high, low]| u8::try_from(digit(high)? * 16 + digit(low)?).ok())
            .collect();
        let bytes = bytes.filter(|_| rest.is_empty())?;
        bytes.try_into().ok().map(Secret)
    }

    /// Returns the line that the agent reads.
    pub(in super::super) fn text(&self) -> String {
        let mut text = String::new();
        for byte in self.0 {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
        text
    }

    /// Returns the proof that its sender knows the secret. The numbers are the agent's and
    /// oshrun's.
    pub(in super::super) fn proof(
        &self,
        role: Role,
        host: &str,
        agents: &Nonce,
        oshruns: &Nonce,
    ) -> Proof {
        let role: &[u8] = match role {
            Role::Oshrun => b"oshrun",
            Role::Agent => b"agent!",
        };
        hmac(&self.0, &[role, agents, oshruns, host.as_bytes()])
    }
}

/// Returns random bytes.
pub(in super::super) fn random<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether two proofs are the same, in a time that tells nothing of where they differ.
pub(in super::super) fn same(one: &Proof, other: &Proof) -> bool {
    let pairs = one.iter().zip(other);
    let differing = pairs.fold(0, |sum, (one, other)| sum | (one ^ other));
    std::hint::black_box(differing) == 0
}

/// Returns HMAC-SHA-256 of a key of at most a block.
fn hmac(key: &[u8], parts: &[&[u8]]) -> Proof {
    let mut pads = [[0x36_u8; BLOCK], [0x5c; BLOCK]];
    for pad in &mut pads {
        for (byte, key) in pad.iter_mut().zip(key) {
            *byte ^= key;
        }
    }
    let mut inner = pads[0].to_vec();
    inner.extend(parts.iter().copied().flatten());
    let mut outer = pads[1].to_vec();
    outer.extend(sha256(&inner));
    sha256(&outer)
}

const BLOCK: usize = 64;

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Returns the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
fn round_constants() -> [u32; 64] {
    let mut primes = (2_u64..).filter(|number| (2..*number).all(|part| number % part != 0));
    std::array::from_fn(|_| {
        let prime = u128::from(primes.next().unwrap_or(2));
        // floor(2^32 * cbrt(p)) = floor(cbrt(p * 2^96)); its low half is the fractional part.
        let cube = prime << 96;
        let (mut low, mut high) = (0_u128, 1 << 36);
        while high - low > 1 {
            let middle = u128::midpoint(low, high);
            if middle * middle * middle <= cube {
                low = middle;
            } else {
                high = middle;
            }
        }
        u32::try_from(low & 0xffff_ffff).unwrap_or(0)
    })
}

/// Returns the SHA-256 hash (FIPS 180-4, section 6.2).
fn sha256(message: &[u8]) -> Proof {
    let constants = round_constants();
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % BLOCK != BLOCK - 8 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    let mut hash = INITIAL;
    for block in padded.as_chunks::<BLOCK>().0 {
        compress(&mut hash, block, &constants);
    }
    let mut digest = [0; 32];
    for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(hash) {
        *bytes = word.to_be_bytes();
    }
    digest
}

/// Hashes one block: FIPS 180-4, section 6.2.2.
fn compress(hash: &mut [u32; 8], block: &[u8; BLOCK], constants: &[u32; 64]) {
    let mut schedule = [0_u32; 64];
    for (word, bytes) in schedule.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for at in 16..64 {
        let (two, fifteen) = (schedule[at - 2], schedule[at - 15]);
        let one = two.rotate_right(17) ^ two.rotate_right(19) ^ (two >> 10);
        let zero = fifteen.rotate_right(7) ^ fifteen.rotate_right(18) ^ (fifteen >> 3);
        schedule[at] = one
            .wrapping_add(schedule[at - 7])
            .wrapping_add(zero)
            .wrapping_add(schedule[at - 16]);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *hash;
    for (constant, word) in constants.iter().zip(schedule) {
        let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let first = h
            .wrapping_add(sum)
            .wrapping_add((e & f) ^ (!e & g))
            .wrapping_add(*constant)
            .wrapping_add(word);
        let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = sum.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (word, new) in hash.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hexadecimal(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn known_digests() {
        // FIPS 180-4's examples, and one of more blocks than one.
        for (message, digest) in [
            (
                "",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
            (
                "abc",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ] {
            assert_eq!(hexadecimal(&sha256(message.as_bytes())), digest);
        }
        // RFC 4231, test case 2.
        assert_eq!(
            hexadecimal(&hmac(b"Jefe", &[b"what do ya want ", b"for nothing?"])),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn a_proof_is_of_all_that_goes_into_it() {
        let secret = Secret([3; LENGTH]);
        let (one, two) = ([1; 16], [2; 16]);
        let proof = secret.proof(Role::Agent, "a", &one, &two);
        assert!(same(&proof, &secret.proof(Role::Agent, "a", &one, &two)));
        for other in [
            Secret([4; LENGTH]).proof(Role::Agent, "a", &one, &two),
            secret.proof(Role::Oshrun, "a", &one, &two),
            secret.proof(Role::Agent, "b", &one, &two),
            secret.proof(Role::Agent, "a", &two, &one),
        ] {
            assert!(!same(&proof, &other));
        }
    }

    #[test]
    fn a_secret_is_read_as_it_was_written() {
        let secret = Secret::new().unwrap();
        assert_eq!(Secret::parse(&secret.text()).unwrap().0, secret.0);
        assert_ne!(Secret::new().unwrap().0, secret.0);
        for wrong in ["", "00", "zz", &secret.text()[1..], "\n"] {
            assert!(Secret::parse(wrong).is_none(), "{wrong:?}");
        }
    }
}
