//! The values that one PE has put before one fence, as the bytes under one PMIx key.

/// The most bytes of a key: its length has two bytes.
const MAX_KEY: usize = u16::MAX as usize;

/// A key and its value.
pub(super) type Pair = (String, Vec<u8>);

/// Puts pairs in a row: of each the key's length in two bytes, the value's in eight, both with the
/// lowest byte first, and then key and value.
///
/// # Panics
/// When a key is longer than 65535 bytes.
pub(super) fn encode(pairs: &[Pair]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in pairs {
        assert!(key.len() <= MAX_KEY, "callers' keys are short");
        bytes.extend((key.len() as u16).to_le_bytes());
        bytes.extend((value.len() as u64).to_le_bytes());
        bytes.extend(key.as_bytes());
        bytes.extend(value);
    }
    bytes
}

/// Undoes [`encode`]; `None` for other bytes.
pub(super) fn decode(mut bytes: &[u8]) -> Option<Vec<Pair>> {
    let mut pairs = Vec::new();
    while !bytes.is_empty() {
        let (key_len, rest) = bytes.split_first_chunk()?;
        let (value_len, rest) = rest.split_first_chunk()?;
        let key_len = usize::from(u16::from_le_bytes(*key_len));
        let value_len = usize::try_from(u64::from_le_bytes(*value_len)).ok()?;
        let (key, rest) = rest.split_at_checked(key_len)?;
        let (value, rest) = rest.split_at_checked(value_len)?;
        pairs.push((String::from_utf8(key.to_vec()).ok()?, value.to_vec()));
        bytes = rest;
    }
    Some(pairs)
}

/// The rank at the end of a key, which is most likely that of the PE that has put it.
pub(super) fn rank_in(key: &str) -> Option<usize> {
    let digits = key
        .trim_end_matches(|character: char| character.is_ascii_digit())
        .len();
    key[digits..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranks_are_found() {
        assert_eq!(rank_in("address-12"), Some(12));
        assert_eq!(rank_in("am-3-0"), Some(0));
        assert_eq!(rank_in("sizes"), None);
        assert_eq!(rank_in("x99999999999999999999999"), None);
    }

    #[test]
    fn what_is_cut_short_is_refused() {
        let bytes = encode(&[("a".into(), vec![1, 2]), ("b".into(), vec![])]);
        for len in 0..bytes.len() {
            let whole = decode(&bytes[..len]).map(|pairs| pairs.len());
            // The first pair has 13 bytes.
            let expected = match len {
                0 => Some(0),
                13 => Some(1),
                _ => None,
            };
            assert_eq!(whole, expected, "{len}");
        }
    }

    proptest! {
        #[test]
        fn pairs_survive(pairs in proptest::collection::vec(("[a-z0-9.-]{1,56}", proptest::collection::vec(any::<u8>(), 0..200)), 0..9)) {
            prop_assert_eq!(decode(&encode(&pairs)), Some(pairs));
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode(&bytes);
        }
    }
}
