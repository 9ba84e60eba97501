//! Bytes as PMI-1 values: hexadecimal text, cut into pieces that fit the launcher's limits.
//!
//! The first piece lies under the key itself and starts with the number of pieces and `-`; piece `i` lies under
//! `key.i`.

use crate::wire::KEYLEN_MAX;
use std::fmt::{self, Display, Formatter};

/// The longest key of a caller, in bytes: it leaves room for the number of a piece.
pub(crate) const MAX_KEY: usize = KEYLEN_MAX - 8;

/// The most pieces of one value: the room left in a key allows no more, and nobody needs as many.
const MAX_PIECES: usize = 99_999;

/// Whether a launcher can carry `key`.
pub(crate) fn is_key(key: &str) -> bool {
    (1..=MAX_KEY).contains(&key.len())
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// The key of piece `index`.
pub(crate) fn piece_key(key: &str, index: usize) -> String {
    if index == 0 {
        key.to_owned()
    } else {
        format!("{key}.{index}")
    }
}

/// Encodes `value` into pieces of at most `limit` characters each; `None` when it would take too many.
pub(crate) fn encode(value: &[u8], limit: usize) -> Option<Vec<String>> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let text: Vec<u8> = value
        .iter()
        .flat_map(|&byte| {
            [
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]
        })
        .collect();
    // The first piece also carries the count: six characters are set aside for it in every piece.
    let room = limit.checked_sub(6).filter(|&room| room > 0)?;
    let count = text.len().div_ceil(room).max(1);
    if count > MAX_PIECES {
        return None;
    }
    let mut pieces: Vec<String> = text
        .chunks(room)
        .map(|piece| piece.iter().copied().map(char::from).collect())
        .collect();
    if pieces.is_empty() {
        pieces.push(String::new());
    }
    pieces[0] = format!("{count}-{}", pieces[0]);
    Some(pieces)
}

/// A short value as one piece, put together as it is written.
pub(crate) struct Piece<'a>(pub(crate) &'a [u8]);

impl Display for Piece<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("1-")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Reads the first piece: how many pieces there are, and the text of this one.
pub(crate) fn first_piece(piece: &str) -> Option<(usize, &str)> {
    let (count, text) = piece.split_once('-')?;
    let count = count
        .parse()
        .ok()
        .filter(|count| (1..=MAX_PIECES).contains(count))?;
    Some((count, text))
}

/// Turns the joined text of all pieces into bytes again.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs
        .iter()
        .map(|&[high, low]| u8::try_from(digit(high)? * 16 + digit(low)?).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_value_is_one_piece() {
        for value in [&b""[..], b"two words\n", &[0, 9, 255]] {
            let pieces = encode(value, 1000).expect("room");
            assert_eq!(pieces, [Piece(value).to_string()]);
        }
    }

    #[test]
    fn keys_are_plain_words() {
        assert!(is_key("heap-12"));
        for bad in ["", "a b", "a=b", "a\n", "ä", &"k".repeat(MAX_KEY + 1)] {
            assert!(!is_key(bad), "{bad:?}");
        }
        assert!(piece_key(&"k".repeat(MAX_KEY), MAX_PIECES).len() <= KEYLEN_MAX);
    }

    #[test]
    fn garbage_is_refused() {
        for bad in ["", "1", "0-", "x-00", "100000-00", "-"] {
            assert_eq!(first_piece(bad), None, "{bad:?}");
        }
        assert_eq!(decode("0"), None);
        assert_eq!(decode("0g"), None);
        assert_eq!(decode("+1"), None);
        assert_eq!(encode(b"x", 6), None);
    }

    proptest! {
        #[test]
        fn bytes_survive(value in proptest::collection::vec(any::<u8>(), 0..400), limit in 8_usize..80) {
            let pieces = encode(&value, limit).unwrap();
            prop_assert!(pieces.iter().all(|piece| piece.len() <= limit));
            let (count, first) = first_piece(&pieces[0]).unwrap();
            prop_assert_eq!(count, pieces.len());
            let text = first.to_owned() + &pieces[1..].concat();
            prop_assert_eq!(decode(&text), Some(value));
        }

        #[test]
        fn any_text_is_decoded_without_panic(text in "\\PC{0,40}") {
            let _ = first_piece(&text);
            let _ = decode(&text);
        }
    }
}
