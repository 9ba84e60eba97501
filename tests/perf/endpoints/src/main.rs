//! The benchmarks of Zambre, Chandramowlishwaran and Balaji, "Scalable Communication Endpoints for
//! MPI+Threads Applications", on the project's own mlx5 transport: the resources of endpoints, and
//! their throughput, as threads share more and more of them.
//!
//! `options` knows the command line, `cases` the cases of the figures; `benches` runs the cases,
//! each as processes of its own (`job`), which make lanes (`lanes`) as a `shape` says and do their
//! part: `message_rate`, `global_array`, `stencil`.

mod benches;
mod cases;
mod connect;
mod error;
mod figures;
mod global_array;
mod grid;
mod job;
mod lanes;
mod memory;
mod message_rate;
mod options;
mod outcome;
mod results;
mod shape;
mod stencil;
mod tables;
mod threads;
mod tiles;
mod usage;
mod words;

use error::{Error, Result};
use job::Member;
use options::{Bench, Command, HELP, Options};
use outcome::Outcome;
use results::Row;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use words::Words;

fn main() -> ExitCode {
    let done = options::parse(lexopt::Parser::from_env()).and_then(act);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("endpoints: {error}");
            ExitCode::from(if matches!(error, Error::Usage(_)) {
                2
            } else {
                1
            })
        }
    }
}

fn act(command: Command) -> Result<()> {
    match command {
        Command::Help => {
            print!("{HELP}");
            Ok(())
        }
        Command::Bench(bench, options) => bench_all(&bench, &options),
        Command::Serve(port, device) => job::serve(port, device.as_deref()),
        Command::Member(address, rank, device) => member(address, rank, device.as_deref()),
        Command::Draw(files, directory) => {
            let rows: Vec<Vec<Row>> = files
                .iter()
                .map(|file| results::read(file))
                .collect::<Result<_>>()?;
            draw(&rows.concat(), &directory)
        }
        Command::Tables(files) => {
            let rows: Vec<Vec<Row>> = files
                .iter()
                .map(|file| results::read(file))
                .collect::<Result<_>>()?;
            print!("{}", tables::markdown(&rows));
            Ok(())
        }
    }
}

/// Runs a benchmark and prints, saves and draws its results.
fn bench_all(bench: &Bench, options: &Options) -> Result<()> {
    let mut count = 0;
    let is_watched = std::io::stderr().is_terminal();
    let rows = benches::run(bench, options, &mut |rows| {
        count += rows.len();
        if is_watched {
            eprint!("\r{count} rows");
        }
    });
    if is_watched {
        eprintln!();
    }
    let rows = rows?;
    print!("{}", results::to_table(&rows));
    if rows
        .iter()
        .any(|row| row.rate.is_some() && row.is_software())
    {
        println!(
            "\nThe device is software: the counts are exact, the throughput says nothing about any hardware."
        );
    }
    let Some(directory) = &options.out else {
        return Ok(());
    };
    let name = match bench {
        Bench::MessageRate(_) => message_rate::NAME,
        Bench::GlobalArray => global_array::NAME,
        Bench::Stencil => stencil::NAME,
        Bench::Account => "account",
    };
    let file = |error, path: &Path| Error::File {
        path: path.to_owned(),
        error,
    };
    std::fs::create_dir_all(directory).map_err(|error| file(error, directory))?;
    let path = directory.join(format!("{name}.tsv"));
    std::fs::write(&path, results::to_tsv(&rows)).map_err(|error| file(error, &path))?;
    draw(&rows, directory)
}

/// Draws the rows of each figure; those of a second device, or regime, as a figure of their own, `NAME-2.svg`.
fn draw(rows: &[Row], directory: &Path) -> Result<()> {
    let mut figures: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let key = (row.figure.as_str(), row.device.as_str());
        if !figures.contains(&key) {
            figures.push(key);
        }
    }
    for (at, &(figure, device)) in figures.iter().enumerate() {
        let is_of = |row: &&Row| row.figure == figure && row.device == device;
        let rows: Vec<&Row> = rows.iter().filter(is_of).collect();
        let before = figures[..at].iter().filter(|key| key.0 == figure).count();
        let name = match before {
            0 => format!("{figure}.svg"),
            _ => format!("{figure}-{}.svg", before + 1),
        };
        figures::draw(cases::title(figure), &rows, &directory.join(name))?;
    }
    Ok(())
}

/// Does this process's part of a benchmark.
fn member(address: SocketAddr, rank: usize, device: Option<&str>) -> Result<()> {
    job::end_with_parent();
    // A thread that panics would be waited for by the others.
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tell(panic);
        std::process::abort();
    }));
    let mut member = Member::join(address, rank)?;
    let part = Words::of(&member.plan.clone())
        .get::<String>("benchmark")
        .and_then(|name| match name.as_str() {
            message_rate::NAME => message_rate::run(&mut member, device),
            global_array::NAME => global_array::run(&mut member, device),
            stencil::NAME => stencil::run(&mut member, device),
            _ => Err(Error::Words(name)),
        });
    member.end(
        part.as_ref()
            .map(Outcome::tell)
            .map_err(ToString::to_string),
    )?;
    part.map(drop)
}
