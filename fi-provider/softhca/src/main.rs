//! `softhca run -- PROGRAM`: a program on a machine with a ConnectX in software.

use lexopt::Arg::{Long, Short, Value};
use softhca::command::{Error, HELP, Options, account, run};
use softhca::engine::Latencies;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
use std::str::FromStr;

fn main() -> ExitCode {
    match command() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("softhca: {error}");
            ExitCode::from(match error {
                Error::Usage(_) => 2,
                Error::Program { error, .. } if error.kind() == io::ErrorKind::NotFound => 127,
                Error::Program { .. } | Error::Folder(_) => 126,
                _ => 1,
            })
        }
    }
}

fn command() -> Result<ExitCode, Error> {
    let usage = |error: lexopt::Error| Error::Usage(error.to_string());
    let mut parser = lexopt::Parser::from_env();
    match parser.next().map_err(usage)? {
        Some(Short('h') | Long("help")) => {
            return print(HELP);
        }
        Some(Short('V') | Long("version")) => {
            return print(&format!("softhca {}\n", env!("CARGO_PKG_VERSION")));
        }
        Some(Value(verb)) if verb == "run" => {}
        Some(Value(verb)) if verb == "account" => {
            return match parser.next().map_err(usage)? {
                Some(Short('h') | Long("help")) => print(HELP),
                Some(more) => Err(usage(more.unexpected())),
                None => print(&account()?),
            };
        }
        Some(other) => return Err(usage(other.unexpected())),
        None => return Err(Error::Usage("nothing to do".to_owned())),
    }
    let mut options = Options::default();
    let program = loop {
        match parser.next().map_err(usage)? {
            Some(Long("legacy-uars")) => options.legacy_uars = true,
            Some(Long("no-dc")) => options.no_dc = true,
            Some(Long("no-devx")) => options.no_devx = true,
            Some(Long("no-hook")) => options.no_hook = true,
            Some(Long("on-kicks")) => options.on_kicks = true,
            Some(Long("no-masked-atomics")) => options.no_masked_atomics = true,
            Some(Long("max-message")) => {
                options.max_message = Some(number(&mut parser, "--max-message")?)
            }
            Some(Long("max-pinned")) => {
                options.max_pinned = Some(number(&mut parser, "--max-pinned")?)
            }
            Some(Long("uar-pages")) => {
                options.uar_pages = Some(number(&mut parser, "--uar-pages")?)
            }
            Some(Long("queue-pairs")) => {
                options.queue_pairs = Some(number(&mut parser, "--queue-pairs")?)
            }
            Some(Long("delay-seed")) => {
                options.delay_seed = Some(number(&mut parser, "--delay-seed")?)
            }
            Some(Long("delays")) => options.latencies = Some(delays(&mut parser)?),
            Some(Long("transactions")) => {
                let file = parser.value().map_err(usage)?;
                if file.is_empty() {
                    let text = "--transactions takes the name of a file, not \"\"";
                    return Err(Error::Usage(text.to_owned()));
                }
                options.transactions = Some(file.into());
            }
            Some(Long("strict")) => options.strict = true,
            Some(Long("trace")) => options.trace = true,
            Some(Short('h') | Long("help")) => return print(HELP),
            Some(Value(program)) if program.is_empty() => {
                return Err(Error::Usage("the program's name is empty".to_owned()));
            }
            Some(Value(program)) => break program,
            Some(other) => return Err(usage(other.unexpected())),
            None => return Err(Error::Usage("run which program?".to_owned())),
        }
    };
    let arguments: Vec<OsString> = parser.raw_args().map_err(usage)?.collect();
    run(&program, &arguments, options).map(ExitCode::from)
}

/// Writes to stdout; a reader that went away wants no more.
fn print(text: &str) -> Result<ExitCode, Error> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Output(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// A whole number that an option takes.
trait Number: FromStr {
    /// The largest one.
    const MOST: Self;
}

impl Number for u32 {
    const MOST: Self = u32::MAX;
}

impl Number for u64 {
    const MOST: Self = u64::MAX;
}

/// Returns the number that `option` has for its value.
fn number<T: Number + Display>(parser: &mut lexopt::Parser, option: &str) -> Result<T, Error> {
    let usage = |error: lexopt::Error| Error::Usage(error.to_string());
    let text = parser.value().map_err(usage)?;
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.ok_or_else(|| {
        let most = T::MOST;
        Error::Usage(format!(
            "{option} takes a number from 0 to {most}, not {text:?}"
        ))
    })
}

/// Returns the times that `--delays` gives.
fn delays(parser: &mut lexopt::Parser) -> Result<Latencies, Error> {
    let usage = |error: lexopt::Error| Error::Usage(error.to_string());
    let list = parser.value().map_err(usage)?;
    list.to_string_lossy()
        .parse()
        .map_err(|error| Error::Usage(format!("--delays: {error}")))
}
