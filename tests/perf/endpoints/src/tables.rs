//! Accounts as tables of a document: for each kind of object the policies and how many threads, with the regimes in which
//! doorbell pages are managed side by side.

use crate::results::Row;
use crate::usage::Usage;
use std::fmt::Write as _;

/// A table of one kind of object: its title, and the number.
type Kind = (&'static str, fn(&Usage) -> u64);

/// The tables.
const KINDS: [Kind; 5] = [
    ("Device contexts", |usage| usage.contexts),
    ("Queue pairs", |usage| usage.queue_pairs),
    ("Completion queues", |usage| usage.completion_queues),
    ("Doorbell pages (UARs)", |usage| usage.pages),
    ("Doorbell registers (uUARs)", |usage| usage.registers),
];

/// Returns the tables as Markdown. `sources` are the rows of an account in one regime each; where
/// they differ, a cell has a number of each.
pub(crate) fn markdown(sources: &[Vec<Row>]) -> String {
    let mut text = String::new();
    for (title, number) in KINDS {
        // Writing to a string does not fail.
        let _ = table(&mut text, title, number, sources);
    }
    text
}

fn table(
    text: &mut String,
    title: &str,
    number: fn(&Usage) -> u64,
    sources: &[Vec<Row>],
) -> std::fmt::Result {
    let first = sources.first().map_or(&[][..], Vec::as_slice);
    let threads: Vec<&str> = distinct(first.iter().map(|row| row.place.as_str()));
    let policies: Vec<&str> = distinct(first.iter().map(|row| row.endpoints.as_str()));
    writeln!(text, "| {title}, threads: | {} |", threads.join(" | "))?;
    writeln!(text, "|---{}|", "|--:".repeat(threads.len()))?;
    for policy in policies {
        write!(text, "| {policy} |")?;
        for &threads in &threads {
            let of = |row: &&Row| row.endpoints == policy && row.place == threads;
            let cells = sources
                .iter()
                .map(|rows| rows.iter().find(of).map(|row| number(&row.usage)));
            let cells =
                cells.map(|cell| cell.map_or_else(|| "-".to_owned(), |number| number.to_string()));
            let cells: Vec<String> = cells.collect();
            write!(
                text,
                " {} |",
                distinct(cells.iter().map(String::as_str)).join(" / ")
            )?;
        }
        writeln!(text)?;
    }
    writeln!(text)
}

fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::row;

    #[test]
    fn regimes_stand_side_by_side_where_they_differ() {
        let one = row("account", "16", "dynamic", "-");
        let mut other = one.clone();
        other.usage.pages = 17;
        let text = markdown(&[vec![one], vec![other]]);
        assert!(text.contains(
            "| Doorbell pages (UARs), threads: | 16 |\n|---|--:|\n| dynamic | 24 / 17 |\n"
        ));
        assert!(text.contains("| Queue pairs, threads: | 16 |\n|---|--:|\n| dynamic | 16 |\n"));
    }
}
