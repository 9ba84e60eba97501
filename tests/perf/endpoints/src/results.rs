//! Results: a row for each configuration, as a table and as tab-separated values.

use crate::error::{Error, Result};
use crate::usage::{NAMES, Usage};
use std::fmt::Write as _;
use std::path::Path;

/// A configuration and its results.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// The figure that it belongs to: `scaling`, `share-ctx`, `global-array`, `stencil`, …
    pub(crate) figure: String,
    /// Its place on the figure's horizontal axis: threads, threads to a shared object, a policy, a layout.
    pub(crate) place: String,
    /// The endpoints: a policy, or the words that tell them apart from the others of the figure.
    pub(crate) endpoints: String,
    /// Their work: the features that were used, or the operation.
    pub(crate) work: String,
    /// Threads of the machine that the numbers are of.
    pub(crate) threads: u64,
    /// The device, and how it manages doorbell pages.
    pub(crate) device: String,
    /// Whole messages a second, as they are saved: median, least and most of the rounds; none where nothing was sent.
    pub(crate) rate: Option<[u64; 3]>,
    /// The usage of the endpoints.
    pub(crate) usage: Usage,
}

/// The columns before those of the usage.
const COLUMNS: [&str; 9] = [
    "figure",
    "place",
    "endpoints",
    "work",
    "threads",
    "device",
    "rate",
    "rate_min",
    "rate_max",
];

/// The text of a column without a number.
const NONE: &str = "-";

impl Row {
    /// Returns whether the device is one in software, which tells nothing about the speed of
    /// hardware.
    pub(crate) fn is_software(&self) -> bool {
        self.device.contains(crate::lanes::SOFTWARE)
    }

    fn fields(&self) -> Vec<String> {
        let rates = match self.rate {
            Some(rates) => rates.map(|rate| rate.to_string()),
            None => [NONE; 3].map(str::to_owned),
        };
        let words = [&self.figure, &self.place, &self.endpoints, &self.work].map(String::clone);
        let mut fields: Vec<String> = words.into();
        fields.push(self.threads.to_string());
        fields.push(self.device.clone());
        fields.extend(rates);
        fields.extend(self.usage.numbers().map(|number| number.to_string()));
        fields
    }

    fn of(fields: &[&str]) -> std::result::Result<Self, String> {
        let columns = COLUMNS.len() + NAMES.len();
        if fields.len() != columns {
            return Err(format!("{} columns instead of {columns}", fields.len()));
        }
        let number = |at: usize| {
            fields[at]
                .parse()
                .map_err(|_| format!("\"{}\" is no number", fields[at]))
        };
        let mut numbers = [0; NAMES.len()];
        for (at, place) in numbers.iter_mut().enumerate() {
            *place = number(COLUMNS.len() + at)?;
        }
        let rate = match fields[6] {
            NONE => None,
            _ => Some([number(6)?, number(7)?, number(8)?]),
        };
        let text = |at: usize| fields[at].to_owned();
        Ok(Self {
            figure: text(0),
            place: text(1),
            endpoints: text(2),
            work: text(3),
            threads: number(4)?,
            device: text(5),
            rate,
            usage: Usage::of_numbers(numbers),
        })
    }
}

/// Returns the rows as tab-separated values, with a line of names.
pub(crate) fn to_tsv(rows: &[Row]) -> String {
    let mut text = format!("{}\t{}\n", COLUMNS.join("\t"), NAMES.join("\t"));
    for row in rows {
        text.push_str(&row.fields().join("\t"));
        text.push('\n');
    }
    text
}

/// Reads the rows that [`to_tsv`] wrote.
pub(crate) fn read(path: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::File {
        path: path.to_owned(),
        error,
    })?;
    let mut rows = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(at, _)| *at > 0) {
        let fields: Vec<&str> = line.split('\t').collect();
        rows.push(Row::of(&fields).map_err(|what| Error::Results {
            path: path.to_owned(),
            line: at + 1,
            what,
        })?);
    }
    Ok(rows)
}

/// The columns of the table: throughput and resources.
const TABLE: [&str; 13] = [
    "figure",
    "place",
    "endpoints",
    "work",
    "Mmsg/s",
    "CTX",
    "PD",
    "MR",
    "QP",
    "CQ",
    "UAR",
    "uUAR",
    "KiB (table I)",
];

/// Returns the rows side by side for people.
pub(crate) fn to_table(rows: &[Row]) -> String {
    let mut lines: Vec<Vec<String>> = vec![TABLE.map(str::to_owned).into()];
    for row in rows {
        let mut line: Vec<String> = [&row.figure, &row.place, &row.endpoints, &row.work]
            .map(String::clone)
            .into();
        line.push(row.rate.map_or_else(
            || NONE.to_owned(),
            |[rate, ..]| format!("{:.3}", rate as f64 / 1e6),
        ));
        let numbers = row.usage.numbers();
        line.extend(numbers[..7].iter().map(u64::to_string));
        line.push((row.usage.table_bytes() >> 10).to_string());
        lines.push(line);
    }
    let width = |column: usize| {
        lines
            .iter()
            .map(|line| line[column].len())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..TABLE.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        for (column, (field, width)) in line.iter().zip(&widths).enumerate() {
            // Words to the left, numbers to the right. Writing to a string does not fail.
            let _ = if column < 4 {
                write!(text, "{field:width$}  ")
            } else {
                write!(text, "{field:>width$}  ")
            };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// Returns median, least and most, in whole messages a second.
pub(crate) fn median(mut rates: Vec<f64>) -> Option<[u64; 3]> {
    rates.sort_by(f64::total_cmp);
    let (least, most) = (*rates.first()?, *rates.last()?);
    let middle = rates.len() / 2;
    let median = if rates.len().is_multiple_of(2) {
        (rates[middle - 1] + rates[middle]) / 2.0
    } else {
        rates[middle]
    };
    Some([median, least, most].map(|rate| rate.round() as u64))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a row of any figure.
    pub(crate) fn row(figure: &str, place: &str, endpoints: &str, work: &str) -> Row {
        Row {
            figure: figure.to_owned(),
            place: place.to_owned(),
            endpoints: endpoints.to_owned(),
            work: work.to_owned(),
            threads: 16,
            device: format!("mlx5_0 ({}, legacy pages)", crate::lanes::SOFTWARE),
            rate: Some([3_000_000, 2_000_000, 4_000_000]),
            usage: Usage {
                contexts: 1,
                queue_pairs: 16,
                pages: 24,
                registers: 48,
                ..Usage::default()
            },
        }
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        let rows = [
            row("scaling", "16", "own", "All"),
            Row {
                rate: None,
                ..row("stencil", "4.4", "static", "-")
            },
        ];
        let path = std::env::temp_dir().join(format!("endpoints-{}.tsv", std::process::id()));
        std::fs::write(&path, to_tsv(&rows)).unwrap();
        let again = read(&path);
        std::fs::write(&path, to_tsv(&rows).replace("\t24\t", "\tmany\t")).unwrap();
        let wrong = read(&path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(again.unwrap(), rows);
        assert!(
            wrong
                .unwrap_err()
                .to_string()
                .contains("line 2: \"many\" is no number")
        );
    }

    #[test]
    fn the_table_has_a_line_for_each_row() {
        let text = to_table(&[row("scaling", "16", "own", "All")]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with("uUAR  KiB (table I)") && lines[1].contains("3.000"));
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some([2, 1, 3]));
        assert_eq!(median(vec![4.2, 1.0]), Some([3, 1, 4]));
        assert_eq!(median(Vec::new()), None);
    }
}
