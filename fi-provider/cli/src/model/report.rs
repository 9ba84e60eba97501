//! The tables of a system: its components, totals and breakdowns.

use crate::output::{Cell, Table};
use fi_perfmodel::{Component, Entry, Ns, System, Total, figures, polling};

/// Returns all tables.
pub(crate) fn tables(system: &System) -> Vec<Table> {
    let mut tables = vec![components(system), totals(system)];
    tables.extend(breakdowns(system));
    tables
}

/// Returns the table of components with their sources.
pub(super) fn components(system: &System) -> Table {
    let title = format!("System: {}", system.name);
    let columns = ["component", "key", "ns", "source"];
    let mut table = Table::new("components", title, &columns);
    for component in Component::ALL {
        let words = system.words(component);
        let row = row(
            words,
            component.key(),
            system.entry(component),
            |time: &Ns| Cell::Number(time.0),
        );
        table.rows.push(row);
    }
    let words = "Unsignaled period (operations)".to_owned();
    let row = row(
        words,
        "unsignaled_period",
        &system.period,
        |&period: &u32| Cell::Count(period.into()),
    );
    table.rows.push(row);
    table.rows.push(vec![
        Cell::text("The same of the low-level benchmark"),
        Cell::text("low_level_period"),
        Cell::Count(system.low_period.into()),
        Cell::text("1 where each message has a completion"),
    ]);
    table
}

fn row<T>(words: String, key: &str, entry: &Entry<T>, cell: impl Fn(&T) -> Cell) -> Vec<Cell> {
    let (value, source) = match entry {
        Entry::Known { value, source } => (cell(value), source.to_string()),
        Entry::Within(host, reason) => (Cell::Missing, format!("in {}: {reason}", host.key())),
        Entry::Unknown(reason) => (Cell::Missing, format!("unknown: {reason}")),
    };
    vec![
        Cell::Text(words),
        Cell::text(key),
        value,
        Cell::Text(source),
    ]
}

/// Returns the table of totals, modelled and observed.
pub(super) fn totals(system: &System) -> Table {
    let columns = [
        "total",
        "key",
        "modelled ns",
        "observed ns",
        "off %",
        "observed by",
    ];
    let mut table = Table::new("totals", "Modelled and observed", &columns);
    for total in Total::ALL {
        let modelled = total.value(system);
        if let Err(missing) = &modelled {
            table.notes.push(format!("{} {missing}.", total.words()));
        }
        let modelled = modelled.ok();
        let (observed, source) = match system.observed(total) {
            Entry::Known { value, source } => (Some(*value), source.to_string()),
            Entry::Within(_, reason) | Entry::Unknown(reason) => {
                (None, format!("unknown: {reason}"))
            }
        };
        let off = modelled
            .zip(observed)
            .map(|(modelled, observed)| (modelled - observed).percent_of(observed));
        let number = |value: Option<f64>| value.map_or(Cell::Missing, Cell::Number);
        table.rows.push(vec![
            Cell::text(total.words()),
            Cell::text(total.key()),
            number(modelled.map(|time| time.0)),
            number(observed.map(|time| time.0)),
            number(off),
            Cell::Text(source),
        ]);
    }
    table.notes.push(of_polling(system));
    table
}

/// Says how often there has to be a poll.
fn of_polling(system: &System) -> String {
    match polling(system) {
        Ok(bound) => {
            let assumed = if bound.assumes_8_bytes {
                ", where RC-to-MEM(8B) stands for RC-to-MEM(64B), which is not known"
            } else {
                ""
            };
            format!(
                "gen_completion is {}{assumed}: p >= {} posts before a poll leave no post waiting.",
                bound.gen_completion, bound.posts
            )
        }
        Err(missing) => format!("The bound on posts before a poll {missing}."),
    }
}

/// Returns a table for each figure.
fn breakdowns(system: &System) -> Vec<Table> {
    let figures = figures::all(system).into_iter();
    figures
        .map(|figure| {
            let title = format!("{} (figure {})", figure.title, figure.number);
            let columns = ["figure", "whole", "part", "ns", "%"];
            let mut table = Table::new("breakdown", title, &columns);
            for bar in figure.bars {
                match bar {
                    Ok(bar) => table.rows.extend(bar.parts.iter().map(|part| {
                        vec![
                            Cell::Count(figure.number.into()),
                            Cell::text(&bar.name),
                            Cell::text(&part.name),
                            Cell::Number(part.time.0),
                            Cell::Number(part.percent),
                        ]
                    })),
                    Err(missing) => table.notes.push(format!("A part {missing}.")),
                }
            }
            table
        })
        .collect()
}
