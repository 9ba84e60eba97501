//! The account of scalable endpoints: the resources of threads under each policy.
//!
//! It is that of `farreach info`: lanes are made on the device here, and counted.

use crate::output::{Cell, Table};
use fi_provider::device::{self, Completions, POLICIES, Survey};

/// The columns whose share of mpi-everywhere's is told.
const COLUMNS: [&str; 5] = ["QPs", "CQs", "UARs", "uUARs", "bytes"];
/// The policy that the others are compared with.
const WHOLE: &str = "mpi-everywhere";

/// Returns the table, for so many threads with a lane each.
pub(crate) fn tables(threads: u32) -> Result<Vec<Table>, device::Error> {
    let mut surveys = Vec::new();
    for policy in &POLICIES {
        surveys.push(device::survey(policy, Completions::Own, threads)?);
    }
    Ok(vec![table(threads, &surveys)])
}

fn numbers(survey: &Survey) -> [u64; 5] {
    let account = &survey.report.account;
    [
        account.queue_pairs.into(),
        account.completion_queues.into(),
        account.uars.into(),
        account.uuars.into(),
        account.bytes,
    ]
}

fn table(threads: u32, surveys: &[Survey]) -> Table {
    let place = surveys.first().map_or_else(String::new, |survey| {
        let regime = survey.report.regime.name();
        format!(" of {}, registers in the regime {regime}", survey.device)
    });
    let title = format!("{threads} threads, a lane each{place}; % is of {WHOLE}'s");
    let mut table = Table::new("endpoints", title, &["policy", "threads"]);
    for column in COLUMNS {
        table
            .columns
            .extend([column.to_owned(), format!("{column} %")]);
    }
    let whole = surveys
        .iter()
        .find(|survey| survey.report.policy.name == WHOLE)
        .map(numbers);
    for survey in surveys {
        let report = &survey.report;
        let mut row = vec![Cell::text(report.policy.name), Cell::Count(threads.into())];
        for (at, number) in numbers(survey).into_iter().enumerate() {
            let share = whole.map(|whole| number as f64 / whole[at] as f64 * 100.0);
            row.extend([
                Cell::Count(number),
                share.map_or(Cell::Missing, Cell::Number),
            ]);
        }
        table.rows.push(row);
        if report.short + report.shared > 0 {
            table.notes.push(format!(
                "{}: {} lanes have less than the policy says, {} more had to share the first one ({}).",
                report.policy.name,
                report.short,
                report.shared,
                report.reason.as_deref().unwrap_or("the device has no more"),
            ));
        }
    }
    table
}
