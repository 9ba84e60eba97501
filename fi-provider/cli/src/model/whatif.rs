//! The tables of changes: totals before and after, and the curves.

use crate::output::{Cell, Table};
use fi_perfmodel::whatif::{Change, REDUCTIONS, apply, curves, effect};
use fi_perfmodel::{System, Total};

/// Returns all tables; which change cannot be made, otherwise.
pub(crate) fn tables(system: &System, changes: &[Change]) -> Result<Vec<Table>, String> {
    let mut tables = Vec::new();
    if !changes.is_empty() {
        tables.push(changed(system, changes)?);
    }
    tables.extend(reductions(system));
    Ok(tables)
}

fn changed(system: &System, changes: &[Change]) -> Result<Table, String> {
    let after = apply(system, changes)?;
    let words: Vec<String> = changes
        .iter()
        .map(|change| format!("{} {}", change.group.name, change.amount))
        .collect();
    let title = format!("What if: {} ({})", words.join(", "), system.name);
    let columns = [
        "total",
        "key",
        "before ns",
        "after ns",
        "removed ns",
        "speed-up %",
    ];
    let mut table = Table::new("whatif", title, &columns);
    for total in Total::ALL {
        let mut row = vec![Cell::text(total.words()), Cell::text(total.key())];
        match effect(system, &after, total) {
            Ok(effect) => row.extend([
                Cell::Number(effect.before.0),
                Cell::Number(effect.after.0),
                Cell::Number((effect.before - effect.after).0),
                Cell::Number(effect.speedup()),
            ]),
            Err(missing) => {
                row.extend(vec![Cell::Missing; 4]);
                table.notes.push(format!("{} {missing}.", total.words()));
            }
        }
        table.rows.push(row);
    }
    table
        .notes
        .push("A speed-up is the time removed over the time before.".to_owned());
    Ok(table)
}

fn reductions(system: &System) -> Vec<Table> {
    let mut columns = vec![
        "panel".to_owned(),
        "total".to_owned(),
        "component".to_owned(),
    ];
    columns.extend(REDUCTIONS.map(|percent| format!("-{percent} %")));
    let panels = curves(system).into_iter();
    panels
        .map(|panel| {
            let title = format!(
                "{}, speed-up in % by a reduction of (figure 17{})",
                panel.title, panel.letter
            );
            let mut table = Table::new("curves", title, &[]);
            table.columns.clone_from(&columns);
            for line in panel.lines {
                let mut row = vec![
                    Cell::text(panel.letter),
                    Cell::text(panel.total.key()),
                    Cell::text(line.group.name),
                ];
                match line.speedups {
                    Ok(points) => row.extend(points.map(Cell::Number)),
                    Err(missing) => {
                        row.extend(vec![Cell::Missing; REDUCTIONS.len()]);
                        table.notes.push(format!("{} {missing}.", line.group.name));
                    }
                }
                table.rows.push(row);
            }
            table
        })
        .collect()
}
