//! The one test command: `tests/run` builds this program and starts it.
//!
//! Each case is a command in a process group of its own, with a time limit, under the supervision of a process that
//! knows all that the command has started (`supervise.rs`). Cases come in groups (`groups/`); most groups find their
//! cases by looking into a folder, so that adding a file adds a case.

mod case;
mod deny;
mod groups;
mod launch;
mod leftovers;
mod own;
mod place;
mod procfs;
mod runline;
mod session;
mod supervise;
mod sys;

use case::Build;
use groups::{Ahead, Group};
use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt;
use place::Place;
use session::Session;
use std::collections::VecDeque;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const USAGE: &str = "\
tests/run [OPTIONS]

  --group NAME      run this group; may be repeated (default: all that do not say otherwise)
  --filter TEXT     run only the cases whose name, GROUP/CASE, contains TEXT; may be repeated
  --jobs N          run N cases at the same time, where a group allows it (default: one a core)
  --list            list the groups, with --group the cases of a group, and run nothing
";

/// The options of the command line.
struct Options {
    groups: Vec<&'static Group>,
    filters: Vec<String>,
    jobs: usize,
    list: bool,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    match args.first().map(String::as_str) {
        Some("supervise") => supervise_command(&args[1..]),
        Some("case") => own::main(&args[1..]),
        Some("deny") => deny::main(&args[1..]),
        _ => match parse(&args).and_then(|options| run(&options)) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("tests/run: {error}");
                ExitCode::from(2)
            }
        },
    }
}

fn supervise_command(args: &[String]) -> ExitCode {
    if let [limit, report, program, args @ ..] = args
        && let Ok(limit) = limit.parse()
    {
        return supervise::main(
            Duration::from_millis(limit),
            Path::new(report),
            program,
            args,
        );
    }
    eprintln!("farreach-tests supervise MILLISECONDS REPORT PROGRAM ARGS...");
    ExitCode::from(2)
}

fn parse(args: &[String]) -> Result<Options, String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut options = Options {
        groups: Vec::new(),
        filters: Vec::new(),
        jobs: cores,
        list: false,
    };
    let mut parser = lexopt::Parser::from_args(args);
    let text = |error: lexopt::Error| error.to_string();
    while let Some(arg) = parser.next().map_err(text)? {
        match arg {
            Long("group") | Short('g') => {
                let name = parser.value().map_err(text)?.string().map_err(text)?;
                let group = groups::ALL.iter().find(|group| group.name == name);
                options.groups.push(
                    group.ok_or_else(|| format!("there is no group {name}\n{}", group_names()))?,
                );
            }
            Long("filter") | Short('f') => {
                options
                    .filters
                    .push(parser.value().map_err(text)?.string().map_err(text)?);
            }
            Long("jobs") | Short('j') => {
                options.jobs = parser.value().map_err(text)?.parse().map_err(text)?;
            }
            Long("list") | Short('l') => options.list = true,
            Long("help") | Short('h') => {
                println!("{USAGE}\nGroups:\n{}", group_names());
                std::process::exit(0);
            }
            Value(_) | Long(_) | Short(_) => return Err(format!("{}\n{USAGE}", arg.unexpected())),
        }
    }
    if options.jobs == 0 {
        return Err("--jobs takes a number above 0".to_owned());
    }
    Ok(options)
}

fn group_names() -> String {
    groups::ALL
        .iter()
        .map(|group| format!("  {:12} {}\n", group.name, group.about))
        .collect()
}

/// Runs the cases that are asked for. `true` if all cases have passed and there was at least one.
fn run(options: &Options) -> Result<bool, String> {
    if options.list && options.groups.is_empty() {
        print!("{}", group_names());
        return Ok(true);
    }
    let session = Session::new(Place::find()?, options.jobs, options.filters.clone())
        .map_err(|error| format!("the target directory: {error}"))?;
    sys::become_subreaper().map_err(|error| error.to_string())?;
    let selected = if options.groups.is_empty() {
        groups::ALL
            .iter()
            .filter(|group| group.by_default)
            .collect()
    } else {
        options.groups.clone()
    };
    if options.list {
        for group in selected {
            list(&session, group)?;
        }
        let _ = std::fs::remove_dir_all(session.work());
        return Ok(true);
    }
    let started = Instant::now();
    if selected.iter().any(|group| group.needs_staging) {
        groups::stage(&session);
    }
    let ahead: Vec<_> = selected.iter().filter_map(|group| group.ahead).collect();
    for group in selected {
        let here = |ahead: &&Ahead| session.filters.is_empty() && ahead.beside == group.name;
        let beside = ahead.iter().filter(here);
        let beside: Vec<_> = beside.flat_map(|it| (it.builds)(&session)).collect();
        run_group(&session, group, &beside);
    }
    Ok(summary(&session, started.elapsed()))
}

fn list(session: &Session, group: &Group) -> Result<(), String> {
    for case in (group.cases)(session)? {
        let name = format!("{}/{}", group.name, case.name);
        if session.selects(&name) {
            match writeln!(std::io::stdout(), "{name}") {
                // The reader, such as head(1), has enough.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                written => written.map_err(|error| format!("standard output: {error}"))?,
            }
        }
    }
    Ok(())
}

/// Runs the cases of a group; beside them, these builds, whose failures the group tells that needs
/// them.
fn run_group(session: &Session, group: &Group, beside: &[Arc<Build>]) {
    let started = Instant::now();
    let before = leftovers::Snapshot::take();
    let cases = match (group.cases)(session) {
        Ok(cases) => cases,
        Err(why) => return session.finish(group.name, "cases", started.elapsed(), Err(why)),
    };
    if cases.is_empty() {
        return session.finish(
            group.name,
            "cases",
            started.elapsed(),
            Err("there is none".to_owned()),
        );
    }
    let selected = cases
        .into_iter()
        .filter(|case| session.selects(&format!("{}/{}", group.name, case.name)));
    let (alone, selected): (Vec<_>, Vec<_>) = selected.partition(|case| case.is_alone);
    let mut any = !alone.is_empty();
    for case in alone {
        session.run_case(group.name, &case);
    }
    let queue: Mutex<VecDeque<_>> = Mutex::new(selected.into());
    let take = || {
        queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    };
    let workers = match session.jobs {
        jobs if group.parallel && jobs > 1 => jobs + usize::from(group.waits),
        _ => 1,
    };
    std::thread::scope(|scope| {
        let work = || {
            let mut any = false;
            while let Some(case) = take() {
                session.run_case(group.name, &case);
                any = true;
            }
            any
        };
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        scope.spawn(|| beside.iter().for_each(|build| drop(session.build(build))));
        any |= work();
        any |= others.into_iter().any(|other| other.join().unwrap_or(true));
    });
    if any {
        println!(
            "       {:8.2} s  {} in all",
            started.elapsed().as_secs_f64(),
            group.name
        );
        let looked = Instant::now();
        let left = before.left_since();
        let result = if left.is_empty() {
            Ok(())
        } else {
            Err(format!("left behind:\n{}", left.join("\n")))
        };
        session.finish(
            group.name,
            "leaves nothing behind",
            looked.elapsed(),
            result,
        );
    }
}

/// Prints the slowest cases and the totals. `true` if all is well.
fn summary(session: &Session, took: Duration) -> bool {
    let mut finished = session.finished();
    let failed: Vec<_> = finished
        .iter()
        .filter(|case| !case.passed)
        .map(|case| case.name.clone())
        .collect();
    let passed = finished.len() - failed.len();
    finished.sort_by_key(|case| std::cmp::Reverse(case.took));
    println!(
        "\nThe slowest of {} cases in {:.0} s:",
        finished.len(),
        took.as_secs_f64()
    );
    for case in finished.iter().take(10) {
        println!("     {:8.2} s  {}", case.took.as_secs_f64(), case.name);
    }
    if failed.is_empty() {
        let _ = std::fs::remove_dir_all(session.work());
    } else {
        println!("\nFailed (output in {}):", session.work().display());
        for name in &failed {
            println!("     {name}");
        }
    }
    println!("\n{passed} passed, {} failed", failed.len());
    failed.is_empty() && passed > 0
}
