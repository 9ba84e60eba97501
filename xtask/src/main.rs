//! `cargo xtask TASK`: the tasks that cargo itself cannot do for this tree.

mod compile_check;
mod error;
mod flags;
mod generated;
mod layers;
mod library;
mod stage;
mod workspace;

use crate::error::{Error, Result};
use crate::workspace::Workspace;
use lexopt::Arg::{Long, Short, Value};
use lexopt::{Parser, ValueExt};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask TASK

  headers [--check]       write shmem.h, shmem_direct.h, pshmem.h and shmemx.h in include, and
                          shmem/cabi/symbols.txt, from the tables of shmem/cabi, or fail if they differ
  symbols [--check]       fail if libshmem.so, libshmem.a, shmem.h or pshmem.h offers other names than
                          shmem/cabi/symbols.txt lists
  compile-check           compile and link programs that use every routine and generic name, as C99,
                          C11, C17 and C++17, with gcc and clang
  layers                  fail if a crate depends on one above it
  stage                   build the library, its tools and softhca into target/farreach
  install --prefix DIR    copy them to DIR (bin, lib, include, share)
  oshrun ARGUMENTS        stage what the job needs, then run target/farreach/bin/oshrun ARGUMENTS
";

fn main() -> ExitCode {
    match task() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn task() -> Result<()> {
    let mut parser = Parser::from_env();
    let task = match parser.next()? {
        Some(Value(task)) => task.string()?,
        Some(Long("help") | Short('h')) | None => "help".to_owned(),
        Some(other) => return Err(other.unexpected().into()),
    };
    // oshrun answers a request for help itself.
    let wants_help = |word: OsString| word == "--help" || word == "-h";
    if task != "oshrun" && std::env::args_os().skip(2).any(wants_help) {
        print!("{USAGE}");
        return Ok(());
    }
    let ws = Workspace::find()?;
    match task.as_str() {
        "help" => {
            print!("{USAGE}");
            Ok(())
        }
        "oshrun" => {
            let arguments: Vec<OsString> = parser.raw_args()?.collect();
            stage::oshrun(&ws, arguments)
        }
        "headers" => generated::headers(&ws, check_flag(parser)?),
        "symbols" => {
            check_flag(parser)?;
            generated::symbols(&ws)
        }
        "compile-check" => {
            no_more(parser)?;
            compile_check::run(&ws)
        }
        "layers" => {
            no_more(parser)?;
            layers::check(&ws)
        }
        "stage" => {
            no_more(parser)?;
            stage::stage(&ws).map(|_| ())
        }
        "install" => stage::install(&ws, &prefix(parser)?),
        other => Err(Error::Check(format!(
            "there is no task {other} (cargo xtask --help)"
        ))),
    }
}

fn check_flag(mut parser: Parser) -> Result<bool> {
    let mut check = false;
    while let Some(argument) = parser.next()? {
        match argument {
            Long("check") => check = true,
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(check)
}

fn no_more(mut parser: Parser) -> Result<()> {
    match parser.next()? {
        Some(other) => Err(other.unexpected().into()),
        None => Ok(()),
    }
}

fn prefix(mut parser: Parser) -> Result<PathBuf> {
    let mut prefix = None;
    while let Some(argument) = parser.next()? {
        match argument {
            Long("prefix") => prefix = Some(PathBuf::from(parser.value()?)),
            other => return Err(other.unexpected().into()),
        }
    }
    match prefix {
        Some(prefix) if prefix != Path::new("") => Ok(prefix),
        _ => Err(Error::Check("install needs --prefix DIR".to_owned())),
    }
}
