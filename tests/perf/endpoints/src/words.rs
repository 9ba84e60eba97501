//! Messages between the processes of a benchmark: one line of `key=value` words each.

use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::str::FromStr;

/// Writes a line.
#[derive(Debug, Default)]
pub(crate) struct Line(String);

impl Line {
    /// Makes a line without words.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a word. The value has no spaces.
    pub(crate) fn word(mut self, key: &str, value: impl Display) -> Self {
        // Writing to a string does not fail.
        let _ = write!(self.0, "{key}={value} ");
        self
    }

    /// Adds a word whose value is a list.
    pub(crate) fn list<T: Display>(self, key: &str, values: &[T]) -> Self {
        let texts: Vec<String> = values.iter().map(T::to_string).collect();
        self.word(key, texts.join(","))
    }

    /// Returns the line.
    pub(crate) fn end(self) -> String {
        self.0.trim_end().to_owned()
    }
}

/// A line that was read.
#[derive(Debug)]
pub(crate) struct Words<'a>(BTreeMap<&'a str, &'a str>, &'a str);

impl<'a> Words<'a> {
    /// Returns the words of `line`.
    pub(crate) fn of(line: &'a str) -> Self {
        let words = line.split_whitespace().filter_map(|w| w.split_once('='));
        Self(words.collect(), line)
    }

    /// Returns the value of `key`.
    pub(crate) fn get<T: FromStr>(&self, key: &str) -> Result<T> {
        self.text(key)?.parse().map_err(|_| self.wrong(key))
    }

    /// Returns the list at `key`.
    pub(crate) fn list<T: FromStr>(&self, key: &str) -> Result<Vec<T>> {
        let values = self.text(key)?.split(',').filter(|text| !text.is_empty());
        let values: std::result::Result<_, _> = values.map(str::parse).collect();
        values.map_err(|_| self.wrong(key))
    }

    fn text(&self, key: &str) -> Result<&'a str> {
        self.0.get(key).copied().ok_or_else(|| self.wrong(key))
    }

    fn wrong(&self, key: &str) -> Error {
        Error::Words(format!("{key} in \"{}\"", self.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let none: [u32; 0] = [];
        let line = Line::new().word("a", 1).list("b", &[2, 3]).list("c", &none);
        let line = line.end();
        let words = Words::of(&line);
        assert_eq!(words.get::<u32>("a").unwrap(), 1);
        assert_eq!(words.list::<u64>("b").unwrap(), [2, 3]);
        assert!(words.list::<u64>("c").unwrap().is_empty());
        assert!(words.get::<u32>("d").is_err() && words.get::<u32>("b").is_err());
    }
}
