//! A system as text: one line for each value, which a user may edit.
//!
//! ```text
//! # Comment.
//! name = two nodes, ConnectX-6
//! upper_layer = OpenSHMEM
//! lower_layer = fabric
//! unsignaled_period = 64 | given
//! low_level_period = 1
//! llp_prog = 61.63 ns | measured: how; spread 1.5 ns, 100 samples
//! wire = unknown | no trace
//! switch = within wire | one trace does not tell them apart
//! observed.latency = 1336 ns | given
//! ```

use crate::{Component, Entry, Ns, Source, System, Total};
use std::fmt::{self, Display, Write as _};

/// Says which line of a file is wrong, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The line, from 1.
    pub line: usize,
    /// The mistake.
    pub reason: String,
}

impl Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for FileError {}

/// The prefix of the name of a total.
const OBSERVED: &str = "observed.";
/// Why a value that a file does not have is unknown.
const ABSENT: &str = "the system file has no value";
/// The beginning of a file.
const HEAD: &str = "\
# A system for `farreach model` and `farreach whatif` (docs/model.md): key = value | source.
# A value is a time with its unit (ns, us, ms), `unknown`, or `within KEY` for a part that cannot
# be told apart. A value of your own has the source `given`.
";

impl System {
    /// Prints the system as text that [`System::parse`] reads.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = HEAD.to_owned();
        // Writing to a string does not fail.
        let _ = writeln!(text, "name = {}", line_of(&self.name));
        let _ = writeln!(text, "upper_layer = {}", line_of(&self.upper));
        let _ = writeln!(text, "lower_layer = {}", line_of(&self.lower));
        write_entry(&mut text, "unsignaled_period", &self.period, u32::to_string);
        let _ = writeln!(text, "low_level_period = {}", self.low_period);
        for component in Component::ALL {
            write_entry(&mut text, component.key(), self.entry(component), time);
        }
        for total in Total::ALL {
            let key = format!("{OBSERVED}{}", total.key());
            write_entry(&mut text, &key, self.observed(total), time);
        }
        text
    }

    /// Reads a system. Components that the text does not have are unknown.
    ///
    /// # Errors
    /// Fails at the first line that is wrong.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let mut system = Self::unknown("a system without a name", ABSENT);
        let mut seen = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fails = |reason| FileError {
                line: at + 1,
                reason,
            };
            let (key, rest) = line
                .split_once('=')
                .ok_or_else(|| fails(format!("{line:?} is not `key = value | source`")))?;
            let (key, rest) = (key.trim(), rest.trim());
            if seen.contains(&key) {
                return Err(fails(format!("{key} is there twice")));
            }
            seen.push(key);
            system.read(key, rest).map_err(fails)?;
        }
        Ok(system)
    }

    /// Takes over one line.
    fn read(&mut self, key: &str, rest: &str) -> Result<(), String> {
        match key {
            "name" => rest.clone_into(&mut self.name),
            "upper_layer" => rest.clone_into(&mut self.upper),
            "lower_layer" => rest.clone_into(&mut self.lower),
            "low_level_period" => self.low_period = count(rest)?,
            "unsignaled_period" => self.period = entry(key, rest, None, count)?,
            _ => {
                let of_total = key
                    .strip_prefix(OBSERVED)
                    .and_then(|name| Total::ALL.into_iter().find(|total| total.key() == name));
                if let Some(total) = of_total {
                    self.observe(total, entry(key, rest, None, Ns::parse)?);
                } else if let Some(component) = Component::named(key) {
                    self.set(component, entry(key, rest, Some(component), Ns::parse)?);
                } else {
                    return Err(format!("there is no component {key:?}"));
                }
            }
        }
        Ok(())
    }
}

/// Prints a time with all its digits.
fn time(time: &Ns) -> String {
    format!("{} ns", time.0)
}

fn count(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| format!("{text:?} is no number of operations from 1 on"))
}

/// Makes text one line.
fn line_of(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn write_entry<T>(text: &mut String, key: &str, entry: &Entry<T>, print: fn(&T) -> String) {
    let (value, source) = match entry {
        Entry::Known { value, source } => (print(value), source.to_string()),
        Entry::Within(host, reason) => (format!("within {}", host.key()), reason.clone()),
        Entry::Unknown(reason) => ("unknown".to_owned(), reason.clone()),
    };
    // Writing to a string does not fail.
    let _ = writeln!(text, "{key} = {value} | {}", line_of(&source));
}

fn entry<T>(
    key: &str,
    rest: &str,
    component: Option<Component>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Entry<T>, String> {
    let (value, source) = rest
        .split_once('|')
        .ok_or_else(|| format!("{key} has no source; `{key} = {rest} | given` has"))?;
    let (value, source) = (value.trim(), source.trim());
    if source.is_empty() {
        return Err(format!("{key} has an empty source"));
    }
    if value == "unknown" {
        return Ok(Entry::Unknown(source.to_owned()));
    }
    if let Some(host) = value.strip_prefix("within ") {
        let host = Component::named(host.trim())
            .ok_or_else(|| format!("{key}: there is no component {host:?}"))?;
        let family = component.and_then(Component::family);
        if component == Some(host) || family.is_none() || host.family() != family {
            return Err(format!("{key} cannot be within {}", host.key()));
        }
        return Ok(Entry::Within(host, source.to_owned()));
    }
    let value = parse(value).map_err(|reason| format!("{key}: {reason}"))?;
    Ok(Entry::known(value, Source::parse(source)?))
}
