//! The record that is saved: the shape of cpp-serializers'.

/// Integers of a record.
pub(crate) const NUMBERS: usize = 1000;
/// Strings of a record, and the characters of each.
pub(crate) const TEXTS: usize = 100;
pub(crate) const CHARACTERS: usize = 86;

/// A record, as all libraries know it that have derives.
#[derive(
    PartialEq,
    Debug,
    calls::Save,
    calls::Load,
    bincode::Encode,
    bincode::Decode,
    serde::Serialize,
    serde::Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
    wincode::SchemaWrite,
    wincode::SchemaRead,
)]
pub(crate) struct Record {
    pub(crate) numbers: Vec<i64>,
    pub(crate) texts: Vec<String>,
}

impl Record {
    /// Makes a record: integers of 8, 16, 32 and 64 bits at random, as many of each, as in
    /// cpp-serializers; and strings.
    pub(crate) fn new() -> Self {
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let numbers = (0..NUMBERS).map(|_| {
            let bits = 8 << (next() % 4);
            next() as i64 >> (64 - bits)
        });
        let numbers = numbers.collect();
        let texts = (0..TEXTS).map(|_| {
            let letter = |_| char::from(b'a' + (next() % 26) as u8);
            (0..CHARACTERS).map(letter).collect()
        });
        let texts = texts.collect();
        Self { numbers, texts }
    }
}
