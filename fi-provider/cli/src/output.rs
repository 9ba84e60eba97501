//! Tables, for people and for programs.

use std::fmt::Write as _;

/// How tables are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// In columns, for people.
    #[default]
    Text,
    /// With tabs between columns; the first one is the key of the table.
    Tsv,
    /// As one object of JSON.
    Json,
}

/// One field of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Words.
    Text(String),
    /// A measure; people see two decimals of it.
    Number(f64),
    /// How many there are.
    Count(u64),
    /// Nothing is known.
    Missing,
}

impl Cell {
    pub(crate) fn text(words: impl Into<String>) -> Self {
        Self::Text(words.into())
    }

    pub(crate) fn for_people(&self) -> String {
        match self {
            Self::Text(words) => words.clone(),
            Self::Number(number) => format!("{number:.2}"),
            Self::Count(count) => count.to_string(),
            Self::Missing => "-".to_owned(),
        }
    }

    fn for_tabs(&self) -> String {
        match self {
            Self::Text(words) => words.replace(['\t', '\n'], " "),
            Self::Number(number) => number.to_string(),
            _ => self.for_people(),
        }
    }

    fn for_json(&self) -> String {
        match self {
            Self::Text(words) => quoted(words),
            Self::Number(number) if number.is_finite() => number.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Number(_) | Self::Missing => "null".to_owned(),
        }
    }
}

/// A table with its notes.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The word by which programs find it.
    pub(crate) key: &'static str,
    pub(crate) title: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
    /// Sentences below it.
    pub(crate) notes: Vec<String>,
}

impl Table {
    pub(crate) fn new(key: &'static str, title: impl Into<String>, columns: &[&str]) -> Self {
        Self {
            key,
            title: title.into(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn for_people(&self, text: &mut String) {
        let _ = writeln!(text, "{}", self.title);
        let cells: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| row.iter().map(Cell::for_people).collect())
            .collect();
        let width = |at: usize| {
            let lines = cells.iter().filter_map(|row| row.get(at));
            let most = lines.map(|cell| cell.chars().count()).max().unwrap_or(0);
            most.max(self.columns[at].chars().count())
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        // A column is to the right where it has numbers.
        let is_right: Vec<bool> = (0..self.columns.len())
            .map(|at| {
                let mut cells = self.rows.iter().filter_map(|row| row.get(at));
                cells.any(|cell| matches!(cell, Cell::Number(_) | Cell::Count(_)))
            })
            .collect();
        for row in std::iter::once(&self.columns).chain(&cells) {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate() {
                let width = widths[at];
                // Writing to a string does not fail.
                let _ = if is_right[at] {
                    write!(line, "  {cell:>width$}")
                } else {
                    write!(line, "  {cell:<width$}")
                };
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        for note in &self.notes {
            let _ = writeln!(text, "  {note}");
        }
    }

    fn for_tabs(&self, text: &mut String) {
        let _ = writeln!(text, "table\t{}", self.columns.join("\t"));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(Cell::for_tabs).collect();
            let _ = writeln!(text, "{}\t{}", self.key, cells.join("\t"));
        }
    }

    fn for_json(&self) -> String {
        let list = |cells: Vec<String>| format!("[{}]", cells.join(","));
        let rows = self
            .rows
            .iter()
            .map(|row| list(row.iter().map(Cell::for_json).collect()));
        let words = |words: &[String]| list(words.iter().map(|word| quoted(word)).collect());
        format!(
            "{{\"key\":{},\"title\":{},\"columns\":{},\"rows\":{},\"notes\":{}}}",
            quoted(self.key),
            quoted(&self.title),
            words(&self.columns),
            list(rows.collect()),
            words(&self.notes),
        )
    }
}

/// Prints tables.
pub(crate) fn print(tables: &[Table], form: Form) -> String {
    let mut text = String::new();
    match form {
        Form::Json => {
            let tables: Vec<String> = tables.iter().map(Table::for_json).collect();
            let _ = writeln!(text, "{{\"tables\":[{}]}}", tables.join(",\n"));
        }
        Form::Text | Form::Tsv => {
            for (at, table) in tables.iter().enumerate() {
                if at > 0 {
                    text.push('\n');
                }
                if form == Form::Text {
                    table.for_people(&mut text);
                } else {
                    table.for_tabs(&mut text);
                }
            }
        }
    }
    text
}

/// Makes a string of JSON.
fn quoted(words: &str) -> String {
    let mut text = String::from('"');
    for character in words.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            character if character < ' ' => {
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            character => text.push(character),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("times", "Times", &["what", "ns"]);
        table.rows = vec![
            vec![Cell::text("a \"b\"\t"), Cell::Number(1.0 / 4.0)],
            vec![Cell::text("c"), Cell::Missing],
        ];
        table.notes.push("c: no trace".to_owned());
        table
    }

    #[test]
    fn each_form_has_all() {
        let tables = [table(), table()];
        let text = print(&tables, Form::Text);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["Times", "  what      ns"], "{text}");
        assert_eq!(
            lines[3..6],
            ["  c          -", "  c: no trace", ""],
            "{text}"
        );
        let tsv = print(&tables[..1], Form::Tsv);
        assert_eq!(tsv, "table\twhat\tns\ntimes\ta \"b\" \t0.25\ntimes\tc\t-\n");
        let json = print(&tables[..1], Form::Json);
        let rows = "\"rows\":[[\"a \\\"b\\\"\\u0009\",0.25],[\"c\",null]]";
        assert!(json.contains(rows), "{json}");
        assert!(json.contains("\"notes\":[\"c: no trace\"]"), "{json}");
    }
}
