//! PMI-1's lines: `cmd=get_result rc=0 value=abc` and a newline.
//!
//! Readers look fields up by key: the order of fields, `msg` and `rc` differ between launchers.

use std::fmt::{Display, Write as _};

/// The longest line that a reader accepts, in bytes.
pub const MAX_LINE: usize = 64 * 1024;

/// The longest key of the key-value space, in bytes.
pub const KEYLEN_MAX: usize = 64;

/// The longest value of the key-value space, in bytes.
pub const VALLEN_MAX: usize = 1024;

/// The longest name of a key-value space, in bytes.
pub const KVSNAME_MAX: usize = 256;

/// Why a line is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The line is not UTF-8 text.
    #[error("the line is not text")]
    NotText,
    /// The line has no `cmd=` field.
    #[error("the line has no command")]
    NoCommand,
    /// No newline came within [`MAX_LINE`] bytes.
    #[error("the line is longer than {MAX_LINE} bytes")]
    TooLong,
}

/// One message, borrowed from its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    command: &'a str,
    fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Message<'a> {
    /// Reads one line, with or without its newline. Words without `=` are passed over.
    ///
    /// # Errors
    /// When the line is not text or has no command.
    pub fn parse(line: &'a [u8]) -> Result<Self, WireError> {
        let text = std::str::from_utf8(line).map_err(|_| WireError::NotText)?;
        let fields: Vec<_> = text
            .split_ascii_whitespace()
            .filter_map(|word| word.split_once('='))
            .collect();
        let command = fields
            .iter()
            .find_map(|&(key, value)| (key == "cmd").then_some(value))
            .ok_or(WireError::NoCommand)?;
        Ok(Message { command, fields })
    }

    /// The value of `cmd`.
    #[must_use]
    pub fn command(&self) -> &'a str {
        self.command
    }

    /// The value of the first field named `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.fields
            .iter()
            .find_map(|&(name, value)| (name == key).then_some(value))
    }

    /// The value of `key` as a number; `None` when it is absent or no number.
    #[must_use]
    pub fn number<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.get(key)?.parse().ok()
    }

    /// Whether the message reports success: `rc` is absent or zero.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.get("rc").is_none_or(|rc| rc == "0")
    }
}

/// A line in the making.
#[derive(Debug, Clone)]
pub struct Line(String);

impl Line {
    /// Starts a line with its command.
    #[must_use]
    pub fn new(command: &str) -> Self {
        Line(format!("cmd={command}"))
    }

    /// Adds a field. Blanks and newlines, which a field cannot hold, become `_`.
    #[must_use]
    pub fn field(mut self, key: &str, value: impl Display) -> Self {
        let start = self.0.len() + 1;
        // Writing to a String cannot fail.
        let _ = write!(self.0, " {key}={value}");
        if self.0[start..].contains(|c: char| c.is_ascii_whitespace()) {
            let clean = self.0[start..].replace(|c: char| c.is_ascii_whitespace(), "_");
            self.0.replace_range(start.., &clean);
        }
        self
    }

    /// The finished line with its newline.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.0.push('\n');
        self.0
    }
}

/// Cuts a stream of bytes into lines.
///
/// Keeps the bytes that were pushed and not taken: [`MAX_LINE`] at most for a caller that takes all
/// lines before the next push.
#[derive(Debug, Default)]
pub struct Lines {
    bytes: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Up to where there is no newline behind `start`.
    searched: usize,
}

impl Lines {
    /// Adds bytes that were read.
    pub fn push(&mut self, bytes: &[u8]) {
        // Once a push, not once a line: many lines would be moved as often.
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes the next whole line, without its newline; `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`WireError::TooLong`] when the line has no end in sight.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, WireError> {
        let found = self.bytes[self.searched..]
            .iter()
            .position(|&byte| byte == b'\n');
        let end = found.map_or(self.bytes.len(), |at| self.searched + at);
        if end - self.start > MAX_LINE {
            return Err(WireError::TooLong);
        }
        self.searched = end;
        if found.is_none() {
            return Ok(None);
        }
        let line = self.bytes[self.start..end].to_vec();
        self.start = end + 1;
        self.searched = self.start;
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_are_found_in_any_order() {
        let message = Message::parse(b"rc=0 value=a=b msg=success cmd=get_result noise\n").unwrap();
        assert_eq!(message.command(), "get_result");
        assert_eq!(message.get("value"), Some("a=b"));
        assert_eq!(message.number::<i32>("rc"), Some(0));
        assert_eq!(message.get("noise"), None);
        assert!(message.succeeded());
        assert!(!Message::parse(b"cmd=x rc=-1").unwrap().succeeded());
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        assert_eq!(Message::parse(b""), Err(WireError::NoCommand));
        assert_eq!(Message::parse(b"mcmd=spawn"), Err(WireError::NoCommand));
        assert_eq!(Message::parse(b"cmd=\xff"), Err(WireError::NotText));
    }

    #[test]
    fn lines_come_out_whole_however_they_arrive() {
        let mut lines = Lines::default();
        lines.push(b"cmd=a\ncmd");
        assert_eq!(lines.next_line(), Ok(Some(b"cmd=a".to_vec())));
        assert_eq!(lines.next_line(), Ok(None));
        lines.push(b"=b");
        assert_eq!(lines.next_line(), Ok(None));
        lines.push(b"\n\n");
        assert_eq!(lines.next_line(), Ok(Some(b"cmd=b".to_vec())));
        assert_eq!(lines.next_line(), Ok(Some(Vec::new())));
        lines.push(&vec![b'x'; MAX_LINE + 1]);
        assert_eq!(lines.next_line(), Err(WireError::TooLong));
    }

    #[test]
    fn a_long_line_is_too_long_with_its_end_too() {
        for (length, taken) in [(MAX_LINE, true), (MAX_LINE + 1, false)] {
            let mut lines = Lines::default();
            let mut line = vec![b'x'; length];
            line.push(b'\n');
            lines.push(&line);
            assert_eq!(lines.next_line().is_ok(), taken);
        }
    }

    #[test]
    fn a_million_lines_take_no_longer_than_their_bytes() {
        let mut lines = Lines::default();
        lines.push(&vec![b'\n'; 1 << 20]);
        let start = std::time::Instant::now();
        let count = std::iter::from_fn(|| lines.next_line().unwrap()).count();
        assert_eq!(count, 1 << 20);
        // Some 50 ms; were the rest moved for each line, minutes.
        let time = start.elapsed();
        assert!(time < std::time::Duration::from_secs(5), "{time:?}");
    }

    #[test]
    fn a_field_cannot_break_its_line() {
        let line = Line::new("abort")
            .field("msg", "two words\ncmd=put")
            .finish();
        assert_eq!(line, "cmd=abort msg=two_words_cmd=put\n");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut lines = Lines::default();
            let mut seen = 0;
            for piece in bytes.chunks(7) {
                lines.push(piece);
                while let Ok(Some(line)) = lines.next_line() {
                    seen += 1;
                    prop_assert!(!line.contains(&b'\n'));
                    let _ = Message::parse(&line);
                }
            }
            prop_assert_eq!(seen, bytes.iter().filter(|&&byte| byte == b'\n').count());
            let _ = Message::parse(&bytes);
        }

        #[test]
        fn what_is_written_is_read(key in "[a-z]{1,9}", value in "[!-~]{0,40}") {
            prop_assume!(key != "cmd");
            let line = Line::new("test").field(&key, &value).finish();
            let message = Message::parse(line.as_bytes()).unwrap();
            prop_assert_eq!(message.command(), "test");
            prop_assert_eq!(message.get(&key), Some(value.as_str()));
        }
    }
}
