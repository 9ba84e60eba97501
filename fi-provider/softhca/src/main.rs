//! `softhca run -- PROGRAM`: a program on a machine with a ConnectX in software.

use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt;
use softhca::command::{Error, HELP, Options, account, run};
use std::ffi::OsString;
use std::process::ExitCode;
use std::str::FromStr;

fn main() -> ExitCode {
    match command() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("softhca: {error}");
            ExitCode::from(match error {
                Error::Usage(_) => 2,
                Error::Program { .. } => 127,
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
            print!("{HELP}");
            return Ok(ExitCode::SUCCESS);
        }
        Some(Short('V') | Long("version")) => {
            println!("softhca {}", env!("CARGO_PKG_VERSION"));
            return Ok(ExitCode::SUCCESS);
        }
        Some(Value(verb)) if verb == "run" => {}
        Some(Value(verb)) if verb == "account" => {
            match parser.next().map_err(usage)? {
                Some(Short('h') | Long("help")) => print!("{HELP}"),
                Some(more) => return Err(usage(more.unexpected())),
                None => print!("{}", account()?),
            }
            return Ok(ExitCode::SUCCESS);
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
            Some(Long("max-message")) => options.max_message = Some(number(&mut parser)?),
            Some(Long("max-pinned")) => options.max_pinned = Some(number(&mut parser)?),
            Some(Long("uar-pages")) => options.uar_pages = Some(number(&mut parser)?),
            Some(Long("queue-pairs")) => options.queue_pairs = Some(number(&mut parser)?),
            Some(Long("delay-seed")) => options.delay_seed = Some(number(&mut parser)?),
            Some(Long("delays")) => options.latencies = Some(number(&mut parser)?),
            Some(Long("transactions")) => {
                options.transactions = Some(parser.value().map_err(usage)?.into());
            }
            Some(Long("strict")) => options.strict = true,
            Some(Long("trace")) => options.trace = true,
            Some(Short('h') | Long("help")) => {
                print!("{HELP}");
                return Ok(ExitCode::SUCCESS);
            }
            Some(Value(program)) => break program,
            Some(other) => return Err(usage(other.unexpected())),
            None => return Err(Error::Usage("run which program?".to_owned())),
        }
    };
    let arguments: Vec<OsString> = parser.raw_args().map_err(usage)?.collect();
    run(&program, &arguments, options).map(ExitCode::from)
}

/// Returns the value of an option, read from its words.
fn number<T>(parser: &mut lexopt::Parser) -> Result<T, Error>
where
    T: FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    let usage = |error: lexopt::Error| Error::Usage(error.to_string());
    parser
        .value()
        .and_then(|value| value.parse())
        .map_err(usage)
}
