//! The benchmarks as a whole: every case, one after the other, and the rows that come of them.

use crate::cases::{Basis, Case, Figure};
use crate::error::{Error, Result};
use crate::job;
use crate::message_rate;
use crate::options::{Bench, Options};
use crate::outcome::Outcome;
use crate::results::{Row, median};
use crate::shape::Shape;
use crate::{global_array, stencil};

/// Runs a benchmark; `tell` is told each row as soon as it is there.
pub(crate) fn run(
    bench: &Bench,
    options: &Options,
    tell: &mut dyn FnMut(&[Row]),
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut add = |more: Vec<Row>| {
        tell(&more);
        rows.extend(more);
    };
    match bench {
        Bench::MessageRate(figures) => {
            for figure in figures {
                message_rate(figure, options, &mut add)?;
            }
        }
        Bench::GlobalArray => {
            for policy in options.policies() {
                let shape = Shape::of_policy(policy, options.threads);
                add(global_array(shape, options)?);
            }
        }
        Bench::Stencil => {
            for (processes, threads) in options.layouts() {
                for policy in options.policies() {
                    let shape = Shape::of_policy(policy, threads);
                    add(stencil(shape, processes, options)?);
                }
            }
        }
        Bench::Account => {
            for policy in options.policies() {
                for threads in 1..=options.threads {
                    add(account(Shape::of_policy(policy, threads), options)?);
                }
            }
        }
    }
    Ok(rows)
}

/// Returns a row without a rate.
fn row(figure: &str, place: &str, endpoints: &str, threads: usize, outcome: &Outcome) -> Row {
    Row {
        figure: figure.to_owned(),
        place: place.to_owned(),
        endpoints: endpoints.to_owned(),
        work: "-".to_owned(),
        threads: threads as u64,
        device: outcome.device(),
        rate: None,
        usage: outcome.usage,
    }
}

/// Runs a benchmark of twice so many processes; returns the joint outcome of the first half.
fn measure(options: &Options, per_node: usize, plan: &str) -> Result<Outcome> {
    let said = job::run(&options.place, per_node, plan)?;
    let all: Vec<Outcome> = said[..per_node]
        .iter()
        .map(|line| Outcome::hear(line))
        .collect::<Result<_>>()?;
    Outcome::join(&all).ok_or_else(|| Error::Words("no process".to_owned()))
}

fn plan(shape: Shape, options: &Options) -> message_rate::Plan {
    message_rate::Plan {
        shape,
        features: options.features,
        depth: options.depth,
        size: options.size,
        packed: false,
        messages: options.messages,
        rounds: options.rounds,
    }
}

fn message_rate(figure: &Figure, options: &Options, add: &mut dyn FnMut(Vec<Row>)) -> Result<()> {
    let shape = Shape::of_policy(&fi_mlx5::policy::POLICIES[0], options.threads);
    let basis = Basis {
        plan: plan(shape, options),
    };
    let mut known: Vec<(String, String)> = Vec::new();
    for Case {
        place,
        endpoints,
        work,
        plan,
    } in figure.cases(&basis)?
    {
        let key = (place.clone(), endpoints.clone());
        let threads = plan.shape.threads;
        if !options.resources_only {
            let outcome = measure(options, 1, &plan.tell())?;
            let rate = median(outcome.rates[0].clone());
            add(vec![Row {
                work,
                rate,
                ..row(figure.name, &place, &endpoints, threads, &outcome)
            }]);
        } else if !known.contains(&key) {
            let outcome = message_rate::endpoints(options.place.device.as_deref(), &plan)?;
            add(vec![row(
                figure.name,
                &place,
                &endpoints,
                threads,
                &outcome,
            )]);
            known.push(key);
        }
    }
    Ok(())
}

fn global_array(shape: Shape, options: &Options) -> Result<Vec<Row>> {
    let plan = global_array::Plan {
        shape,
        layout: options.layout,
        rounds: options.rounds,
    };
    let name = shape.policy.name;
    let row = |outcome: &Outcome| row(global_array::NAME, name, name, shape.threads, outcome);
    if options.resources_only {
        return Ok(vec![row(&global_array::endpoints(
            options.place.device.as_deref(),
            &plan,
        )?)]);
    }
    let outcome = measure(options, 1, &plan.tell())?;
    let kinds = global_array::KINDS.iter().zip(&outcome.rates);
    let rows = kinds.map(|(&work, rates)| Row {
        work: work.to_owned(),
        rate: median(rates.clone()),
        ..row(&outcome)
    });
    Ok(rows.collect())
}

fn stencil(shape: Shape, processes: usize, options: &Options) -> Result<Vec<Row>> {
    let (rows, columns) = options.grid;
    let plan = stencil::Plan {
        shape,
        rows,
        columns,
        steps: options.steps,
        rounds: options.rounds,
    };
    let place = format!("{processes}.{}", shape.threads);
    if !plan.grid(2 * processes).is_even() {
        return Err(Error::Usage(format!(
            "{rows} rows and {columns} columns cannot be cut evenly for {place} on two machines"
        )));
    }
    let row = |outcome: &Outcome| {
        row(
            stencil::NAME,
            &place,
            shape.policy.name,
            processes * shape.threads,
            outcome,
        )
    };
    if options.resources_only {
        return Ok(vec![row(&stencil::endpoints(
            options.place.device.as_deref(),
            &plan,
            processes,
        )?)]);
    }
    let outcome = measure(options, processes, &plan.tell())?;
    let rate = median(outcome.rates[0].clone());
    Ok(vec![Row {
        work: "elements of the edges".to_owned(),
        rate,
        ..row(&outcome)
    }])
}

/// Returns the row of a policy's usage for so many threads with a peer each.
fn account(shape: Shape, options: &Options) -> Result<Vec<Row>> {
    let outcome = message_rate::endpoints(options.place.device.as_deref(), &plan(shape, options))?;
    Ok(vec![row(
        "account",
        &shape.threads.to_string(),
        shape.policy.name,
        shape.threads,
        &outcome,
    )])
}
