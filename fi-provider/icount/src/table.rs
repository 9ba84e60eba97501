//! A table of counts by layer: stored as text, printed, and compared with another.

use crate::costs::Layers;
use crate::layer::Layer;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The first line of a stored table: its columns.
const COLUMNS: &str = "operation\ttarget\tlayer\tinstructions";

/// Counts that differ by less are the same: the average of calls that do not all take equally many.
const SAME: f64 = 0.05;

/// Counts of one call in each layer, by operation and target.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Table(pub BTreeMap<(String, String), Layers>);

impl Table {
    /// Returns the text of the table: lines of operation, target, layer and instructions of one
    /// call, with tabs between them.
    pub fn text(&self) -> String {
        let mut text = format!("{COLUMNS}\n");
        for ((operation, target), layers) in &self.0 {
            for (layer, count) in layers {
                if !is_none(*count) {
                    let _ = writeln!(text, "{operation}\t{target}\t{layer}\t{}", number(*count));
                }
            }
        }
        text
    }

    /// Reads a table from its text; lines that begin with `#` are left out.
    ///
    /// # Errors
    ///
    /// Fails on a line that is none of a table's, with its number.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut table = Self::default();
        for (index, line) in text.lines().enumerate() {
            if line.starts_with('#') || line == COLUMNS || line.is_empty() {
                continue;
            }
            let read = || {
                let mut fields = line.split('\t');
                let operation = fields.next()?.to_owned();
                let target = fields.next()?.to_owned();
                let layer = Layer::named(fields.next()?)?;
                let count: f64 = fields.next()?.parse().ok()?;
                (fields.next().is_none() && count.is_finite()).then_some((
                    (operation, target),
                    layer,
                    count,
                ))
            };
            let (call, layer, count) =
                read().ok_or_else(|| format!("line {} is not of a table: {line}", index + 1))?;
            table.0.entry(call).or_default().insert(layer, count);
        }
        Ok(table)
    }

    /// Returns the differences from an older table, a line each: operation, target, the counts and
    /// the layers that differ. Operations that only one of them has are named.
    pub fn against(&self, old: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        for (call, layers) in &self.0 {
            let name = format!("{}, {}", call.0, call.1);
            match old.0.get(call) {
                None => lines.push(format!("{name}: {}, new", number(sum(layers)))),
                Some(before) => lines.extend(difference(&name, before, layers)),
            }
        }
        let gone = old.0.keys().filter(|call| !self.0.contains_key(*call));
        lines.extend(gone.map(|call| format!("{}, {}: gone", call.0, call.1)));
        lines
    }
}

/// Returns the line for an operation that differs.
fn difference(name: &str, before: &Layers, now: &Layers) -> Option<String> {
    let of = |layers: &Layers, layer| layers.get(&layer).copied().unwrap_or(0.0);
    let changed: Vec<_> = Layer::ALL
        .into_iter()
        .filter(|layer| (of(now, *layer) - of(before, *layer)).abs() >= SAME)
        .map(|layer| format!("{layer} {}", change(of(before, layer), of(now, layer))))
        .collect();
    if changed.is_empty() {
        return None;
    }
    let (old, new) = (sum(before), sum(now));
    let share = if old > 0.0 {
        format!(", {:+.1} %", (new - old) / old * 100.0)
    } else {
        String::new()
    };
    let layers = changed.join(", ");
    Some(format!("{name}: {}{share} ({layers})", change(old, new)))
}

fn change(old: f64, new: f64) -> String {
    format!("{} -> {}", number(old), number(new))
}

/// Returns whether a count is none, to three digits.
pub fn is_none(count: f64) -> bool {
    count.abs() < 0.0005
}

/// Returns the instructions of all layers.
pub fn sum(layers: &Layers) -> f64 {
    layers.values().sum()
}

/// Returns a count in words: a fraction has three digits.
pub fn number(count: f64) -> String {
    let rounded = count.round();
    if (count - rounded).abs() < 0.0005 {
        format!("{}", rounded + 0.0)
    } else {
        format!("{count:.3}")
    }
}

/// Returns the layers of which some of these have instructions, from the caller down.
pub fn used<'a>(all: impl Iterator<Item = &'a Layers>) -> Vec<Layer> {
    let mut used = Vec::new();
    for layers in all {
        let some = layers.iter().filter(|(_, count)| !is_none(**count));
        used.extend(some.map(|(layer, _)| *layer));
    }
    used.sort_unstable();
    used.dedup();
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(counts: &[(&str, Layer, f64)]) -> Table {
        let mut table = Table::default();
        for (operation, layer, count) in counts {
            let call = ((*operation).to_owned(), "heap".to_owned());
            table.0.entry(call).or_default().insert(*layer, *count);
        }
        table
    }

    #[test]
    fn a_stored_table_is_read_again() {
        let table = table(&[
            ("a b", Layer::Interface, 3.0),
            ("a b", Layer::DoorbellRecord, 1.25),
        ]);
        assert_eq!(Table::read(&table.text()), Ok(table));
        for text in [
            "a\tb\tinterface",
            "a\tb\tnowhere\t1",
            "a\tb\tmisc\tx",
            "a\tb\tmisc\t1\t2",
        ] {
            let error = Table::read(text).expect_err(text);
            assert!(error.starts_with("line 1 "), "{error}");
        }
    }

    #[test]
    fn differences_are_named_with_their_layers() {
        let old = table(&[
            ("a", Layer::Routing, 4.0),
            ("a", Layer::Memory, 1.0),
            ("b", Layer::Misc, 1.0),
            ("c", Layer::Misc, 1.0),
        ]);
        let new = table(&[
            ("a", Layer::Routing, 5.0),
            ("a", Layer::Memory, 1.01),
            ("c", Layer::Misc, 1.0),
            ("d", Layer::Misc, 2.0),
        ]);
        assert_eq!(
            new.against(&old),
            [
                "a, heap: 5 -> 6.010, +20.2 % (routing 4 -> 5)",
                "d, heap: 2, new",
                "b, heap: gone",
            ]
        );
        assert!(new.against(&new).is_empty());
    }

    #[test]
    fn layers_in_use() {
        let layers: Layers = [(Layer::Misc, 1.0), (Layer::Caller, 2.0), (Layer::Lock, 0.0)].into();
        assert_eq!(
            used([&layers, &Layers::new()].into_iter()),
            [Layer::Caller, Layer::Misc]
        );
    }
}
