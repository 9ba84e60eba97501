//! Instructions of calls by region, from a table of counts.

use super::bars::{Bar, Part, together};
use super::figure::Figure;
use super::ink::{Drawn, colours};

/// Regions in the order in which a call goes through them; others stand behind them, and the rest
/// last.
const ORDER: [&str; 6] = [
    "interface",
    "routing",
    "descriptor",
    "doorbell record",
    "blueflame",
    "completion",
];
const REST: &str = "misc";

/// A row: operation, target, region, count.
type Row = (String, String, String, f64);

/// Reads the table: four columns between tabs; a header, empty lines and comments (`#`) are passed
/// over.
fn read(text: &str) -> Result<Vec<Row>, String> {
    let mut rows: Vec<Row> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let at = at + 1;
        if line.trim().is_empty() || line.starts_with('#') || line.starts_with("operation\t") {
            continue;
        }
        let cells: Vec<&str> = line.split('\t').collect();
        let [operation, target, region, count] = cells[..] else {
            return Err(format!("line {at}: not operation, target, region, count"));
        };
        let count = count
            .parse::<f64>()
            .ok()
            .filter(|count| count.is_finite() && *count >= 0.0);
        let count = count.ok_or_else(|| format!("line {at}: no count of instructions"))?;
        let same = |row: &Row| (&row.0[..], &row.1[..], &row.2[..]) == (operation, target, region);
        if rows.iter().any(same) {
            return Err(format!(
                "line {at}: {operation}, {target}, {region} is there twice"
            ));
        }
        rows.push((operation.into(), target.into(), region.into(), count));
    }
    if rows.is_empty() {
        return Err("there is no count in it".to_owned());
    }
    Ok(rows)
}

/// Returns a figure for each target; why the text has none, otherwise.
pub(super) fn figures(text: &str) -> Drawn<Vec<Figure>> {
    let rows = read(text)?;
    let mut regions = distinct(rows.iter().map(|row| &row.2));
    regions.sort_by_key(|region| place(region));
    if regions.len() > colours() {
        return Err(format!(
            "{} regions; {} can be told apart",
            regions.len(),
            colours()
        ));
    }
    let figure = |(at, target): (usize, &&String)| {
        let of_target = || rows.iter().filter(|row| row.1 == **target);
        let bars: Vec<Bar> = distinct(of_target().map(|row| &row.0))
            .into_iter()
            .map(|operation| bar(operation, of_target(), &regions))
            .collect();
        let (id, title) = (
            format!("instructions-{}", at + 1),
            format!("Instructions of a call: {target}"),
        );
        together(&id, &title, "instructions", &bars)
    };
    let targets = distinct(rows.iter().map(|row| &row.1));
    targets.iter().enumerate().map(figure).collect()
}

/// Returns the place of a region among others.
fn place(region: &str) -> usize {
    let region = region.to_lowercase();
    let known = ORDER.iter().position(|known| *known == region);
    known.unwrap_or(if region == REST {
        ORDER.len() + 1
    } else {
        ORDER.len()
    })
}

/// Makes the bar of an operation, its regions in the order of the table.
fn bar<'a>(operation: &str, rows: impl Iterator<Item = &'a Row>, regions: &[&String]) -> Bar {
    let mut parts: Vec<Part> = rows
        .filter(|row| row.0 == operation)
        .map(|(_, _, region, count)| Part {
            name: region.clone(),
            amount: *count,
            colour: regions
                .iter()
                .position(|known| *known == region)
                .unwrap_or_default(),
        })
        .collect();
    parts.sort_by_key(|part| part.colour);
    Bar {
        name: operation.to_owned(),
        parts,
    }
}

/// Returns the words, each once, in the order in which they come.
fn distinct<'a>(words: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut all = Vec::new();
    for word in words {
        if !all.contains(&word) {
            all.push(word);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "operation\ttarget\tregion\tcount\n# a comment\n\
        put\tRC\tdescriptor\t31\nput\tRC\tinterface\t20\nget\tRC\tdescriptor\t30.5\n\
        put\tnode\tinterface\t12\n";

    #[test]
    fn a_figure_for_each_target() {
        let figures = figures(TABLE).expect("drawn");
        let titles: Vec<_> = figures.iter().map(|figure| &figure.title[..]).collect();
        assert_eq!(
            titles,
            ["Instructions of a call: RC", "Instructions of a call: node"]
        );
        let svg = figures[0].svg.as_deref().expect("a picture");
        // A part for each count, and one in the legend for each region.
        assert_eq!(svg.matches("class=\"f-0\"").count(), 2, "{svg}");
        assert_eq!(svg.matches("class=\"f-1\"").count(), 3, "{svg}");
        for words in ["put", "get", "51", "30.5", "interface", "descriptor"] {
            assert!(svg.contains(&format!("\n{words}\n")), "{words}: {svg}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("operation\ttarget\tregion\tcount\n", "no count in it"),
            ("a\tb\tc", "line 1: not operation"),
            ("a\tb\tc\t-1", "line 1: no count"),
            ("a\tb\tc\t1\na\tb\tc\t1", "line 2: a, b, c is there twice"),
        ] {
            let message = figures(text).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
        let many: String = (0..10).map(|n| format!("a\tb\t{n}\t1\n")).collect();
        assert!(figures(&many).expect_err("too many").contains("10 regions"));
    }
}
