//! Reads the files of callgrind.
//!
//! Their format is described in valgrind's manual, "Callgrind Format Specification". Names and
//! positions may be compressed.

use std::collections::HashMap;
use std::fmt;

/// A line of a profile that is of use here, with its names as they are in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// The next costs are of this file of machine code.
    Object(String),
    /// The next costs are of this function.
    Function(String),
    /// The next call is of a function of this name.
    Callee(String),
    /// The cost that follows is that of so many calls of the callee.
    Calls(u64),
    /// Costs of the function itself at an address, or behind [`Line::Calls`] those of the callee,
    /// its own callees included.
    Cost {
        /// The address in the object; 0 where the profile has none (no `--dump-instr=yes`).
        address: u64,
        /// Instructions.
        instructions: u64,
    },
}

/// A line that is not in callgrind's format: its number, from 1, and its words.
#[derive(Debug, PartialEq, Eq)]
pub struct NotUnderstood(usize, String);

impl fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number, text) = self;
        write!(
            f,
            "line {number} of callgrind's profile is not understood: {text}"
        )
    }
}

impl std::error::Error for NotUnderstood {}

/// Reads a profile line by line.
pub fn lines(text: &str) -> impl Iterator<Item = Result<Line, NotUnderstood>> {
    let mut reader = Reader::default();
    text.lines().enumerate().filter_map(move |(index, line)| {
        let read = reader.read(line);
        read.map_err(|Wrong| NotUnderstood(index + 1, line.to_owned()))
            .transpose()
    })
}

/// Returns the total of a profile; `None` where it has none.
pub fn total(text: &str) -> Option<u64> {
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    total.and_then(|total| total.trim().parse().ok())
}

/// A line that cannot be read.
struct Wrong;

/// Names by their numbers, and the position of the last cost.
#[derive(Debug)]
struct Reader {
    objects: HashMap<String, String>,
    functions: HashMap<String, String>,
    /// Columns in front of a cost, and the address among them.
    positions: usize,
    has_addresses: bool,
    address: u64,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            objects: HashMap::new(),
            functions: HashMap::new(),
            positions: 1,
            has_addresses: false,
            address: 0,
        }
    }
}

impl Reader {
    fn read(&mut self, line: &str) -> Result<Option<Line>, Wrong> {
        if let Some(value) = line.strip_prefix("positions: ") {
            let mut columns = value.split_whitespace();
            self.has_addresses = columns.next() == Some("instr");
            self.positions = 1 + columns.count();
            return Ok(None);
        }
        if line.starts_with(['+', '-', '*'])
            || line.starts_with(|first: char| first.is_ascii_digit())
        {
            return self.cost(line).map(Some);
        }
        let Some((key, value)) = line.split_once('=') else {
            return Ok(None);
        };
        Ok(Some(match key {
            "ob" => Line::Object(full_name(value, &mut self.objects).ok_or(Wrong)?),
            "fn" => Line::Function(full_name(value, &mut self.functions).ok_or(Wrong)?),
            "cfn" => Line::Callee(full_name(value, &mut self.functions).ok_or(Wrong)?),
            "cob" => {
                full_name(value, &mut self.objects).ok_or(Wrong)?;
                return Ok(None);
            }
            "calls" => {
                let count = value.split(' ').next();
                Line::Calls(count.and_then(|count| count.parse().ok()).ok_or(Wrong)?)
            }
            _ => return Ok(None),
        }))
    }

    fn cost(&mut self, line: &str) -> Result<Line, Wrong> {
        let mut words = line.split(' ');
        if self.has_addresses {
            let word = words.next().ok_or(Wrong)?;
            self.address = position(word, self.address).ok_or(Wrong)?;
        }
        let rest = self.positions - usize::from(self.has_addresses);
        // A cost of nothing is left out.
        let instructions = words.nth(rest).unwrap_or("0").parse();
        Ok(Line::Cost {
            address: self.address,
            instructions: instructions.map_err(|_| Wrong)?,
        })
    }
}

/// Returns an address: a number, one relative to `last`, or `*` for the same.
fn position(word: &str, last: u64) -> Option<u64> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    match word.split_at_checked(1)? {
        ("*", "") => Some(last),
        ("+", more) => last.checked_add(number(more)?),
        ("-", less) => last.checked_sub(number(less)?),
        _ => number(word),
    }
}

/// The name for `(NUMBER) NAME`, which defines a number, and for `(NUMBER)`. Others are names, as
/// `(below main)`.
fn full_name(value: &str, names: &mut HashMap<String, String>) -> Option<String> {
    let Some(rest) = value.strip_prefix('(') else {
        return Some(value.to_owned());
    };
    let (number, name) = rest.split_once(')')?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(value.to_owned());
    }
    if name.is_empty() {
        return names.get(number).cloned();
    }
    names.insert(number.to_owned(), name.trim_start().to_owned());
    names.get(number).cloned()
}

/// Returns whether a function in a profile has this name: parameters of C++ and marks of recursion
/// apart.
pub fn is_named(function: &str, name: &str) -> bool {
    function
        .strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('(') || rest.starts_with('\''))
}

/// Returns the instructions of all calls of the function `name` by others, with all that it calls.
///
/// # Errors
///
/// Fails on a line that is not in callgrind's format.
pub fn inclusive(text: &str, name: &str) -> Result<u64, NotUnderstood> {
    let (mut is_function, mut is_callee) = (false, false);
    let mut is_of_calls = false;
    let mut sum = 0;
    for line in lines(text) {
        match line? {
            Line::Function(function) => is_function = is_named(&function, name),
            Line::Callee(callee) => is_callee = is_named(&callee, name),
            Line::Calls(_) => is_of_calls = true,
            Line::Cost { instructions, .. } => {
                if std::mem::take(&mut is_of_calls) && is_callee && !is_function {
                    sum += instructions;
                }
            }
            Line::Object(_) => {}
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
version: 1
positions: instr line
events: Ir
ob=(1) /bin/prog
fl=(1) prog.c
fn=(1) main
0x1000 10 5
cob=(2) /lib/libshmem.so
cfn=(2) shmem_quiet
calls=3 0x20 20
+4 1 300
fn=(3) other
* 30
ob=(2)
fn=(2)
0x20 20 30
-0x10 +1 3
cfn=(4) memcpy
calls=2 0x90 0
* * 195
totals: 538
";

    fn cost(address: u64, instructions: u64) -> Line {
        Line::Cost {
            address,
            instructions,
        }
    }

    #[test]
    fn names_and_positions_are_in_full() {
        let read: Result<Vec<_>, _> = lines(TEXT).collect();
        let expected = [
            Line::Object("/bin/prog".to_owned()),
            Line::Function("main".to_owned()),
            cost(0x1000, 5),
            Line::Callee("shmem_quiet".to_owned()),
            Line::Calls(3),
            cost(0x1004, 300),
            Line::Function("other".to_owned()),
            cost(0x1004, 0),
            Line::Object("/lib/libshmem.so".to_owned()),
            Line::Function("shmem_quiet".to_owned()),
            cost(0x20, 30),
            cost(0x10, 3),
            Line::Callee("memcpy".to_owned()),
            Line::Calls(2),
            cost(0x10, 195),
        ];
        assert_eq!(read.as_deref(), Ok(&expected[..]));
        assert_eq!(total(TEXT), Some(538));
    }

    #[test]
    fn calls_of_others_are_added() {
        assert_eq!(inclusive(TEXT, "shmem_quiet"), Ok(300));
        assert_eq!(inclusive(TEXT, "memcpy"), Ok(195));
        assert_eq!(inclusive(TEXT, "shmem_quie"), Ok(0));
    }

    #[test]
    fn recursion_and_parameters_do_not_change_the_name() {
        assert!(is_named("f(int, double)", "f"));
        assert!(is_named("f'2", "f"));
        assert!(!is_named("f2", "f"));
    }

    #[test]
    fn lines_of_another_format_are_errors() {
        for text in [
            "fn=(9)\n",
            "fn=f\n10 many\n",
            "calls=many 1\n",
            "-9 1\n0x 1",
        ] {
            let text = format!("positions: instr\n{text}");
            assert!(lines(&text).any(|line| line.is_err()), "{text}");
        }
    }
}
