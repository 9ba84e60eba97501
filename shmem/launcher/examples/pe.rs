//! A PE without a library: it speaks PMI-1 to its launcher and carries out its arguments, one after
//! the other. The launcher's tests run it.
//!
//! To the launcher: `scale:HOSTS,EACH,NETWORK` (all that a PE of OpenSHMEM says in such a job), `init`, `barrier`, `exchange` (everybody's bytes to all), `finalize`, `again` (init after
//! finalize), `abort:STATUS[:MESSAGE]`. By itself: `say:TEXT`, `complain:TEXT` (on stderr), `lines:COUNT` (numbered
//! ones, in blocks that end anywhere, as stdio writes them), `env:NAME`, `pid`, `stdin` (echo it), `sleep:MILLISECONDS`, `spawn:SECONDS` (a child that sleeps),
//! `start:ACTION+ACTION...` (a child that does these, until its end), `alone:ACTION+ACTION...`
//! (the same, without PMI_FD), `kill:SIGNAL` (itself), `exit:STATUS`. `@R,` before an action
//! limits it to PE R.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use fi_bootstrap::{Bootstrap, Error};
use shmem_launcher::oshrun::scale::{self, Step};

fn main() {
    let mut launcher = None;
    for word in std::env::args().skip(1) {
        let mut action = word.as_str();
        if let Some((rank, rest)) = action
            .strip_prefix('@')
            .and_then(|text| text.split_once(','))
        {
            if rank != std::env::var("PMI_RANK").unwrap_or_else(|_| "0".to_owned()) {
                continue;
            }
            action = rest;
        }
        let (name, value) = action.split_once(':').unwrap_or((action, ""));
        match name {
            "init" => {
                launcher =
                    Some(Bootstrap::connect().unwrap_or_else(|error| fail(&error.to_string())))
            }
            "barrier" | "finalize" | "again" | "exchange" | "abort" => {
                let launcher = launcher
                    .as_mut()
                    .unwrap_or_else(|| fail("init comes first"));
                speak(launcher, name, value).unwrap_or_else(|error| fail(&error.to_string()));
            }
            "scale" => play(value).unwrap_or_else(|error| fail(&error.to_string())),
            _ => act(name, value),
        }
    }
}

/// Sends the requests of a PE of OpenSHMEM.
fn play(shape: &str) -> Result<(), Error> {
    let shape = scale::Shape::read(shape).unwrap_or_else(|| fail("no shape of a job"));
    let mut launcher = Bootstrap::connect()?;
    let mut steps = scale::steps(&shape, launcher.rank());
    // The first step is done.
    steps.remove(0);
    steps.extend(scale::ending());
    for step in steps {
        match step {
            Step::Introduce => {}
            Step::NodeMap => drop(launcher.node_map()?),
            Step::Put(key, bytes) => launcher.put(&key, &vec![7; bytes])?,
            Step::Barrier => launcher.barrier()?,
            Step::Get(key) => drop(launcher.get(&key)?),
            Step::GetAll { prefix, count, but } => {
                for number in (0..count).filter(|&number| Some(number) != but) {
                    launcher.get(&format!("{prefix}-{number}"))?;
                }
            }
            Step::Finalize => launcher.finalize()?,
        }
    }
    Ok(())
}

fn fail(message: &str) -> ! {
    eprintln!("pe: {message}");
    std::process::exit(99);
}

fn speak(launcher: &mut Bootstrap, name: &str, value: &str) -> Result<(), Error> {
    match name {
        "barrier" => launcher.barrier(),
        "finalize" => launcher.finalize(),
        "again" => launcher
            .try_reinit()
            .map(|listens| println!("listens: {listens}")),
        "exchange" => exchange(launcher),
        _ => {
            let (code, message) = value.split_once(':').unwrap_or((value, ""));
            launcher.abort(code.parse().unwrap_or(1), message)
        }
    }
}

/// Publishes bytes of each PE's own, of another length each, and checks everybody's.
fn exchange(launcher: &mut Bootstrap) -> Result<(), Error> {
    let bytes = |rank: usize| vec![u8::try_from(rank % 251).unwrap_or(0); 500 * rank];
    launcher.put(
        &format!("bytes-{}", launcher.rank()),
        &bytes(launcher.rank()),
    )?;
    launcher.barrier()?;
    for rank in 0..launcher.size() {
        if launcher.get(&format!("bytes-{rank}"))? != bytes(rank) {
            fail("wrong bytes");
        }
    }
    let nodes = launcher.node_map()?.unwrap_or_default();
    println!(
        "{} of {} on nodes {nodes:?}",
        launcher.rank(),
        launcher.size()
    );
    Ok(())
}

fn write_lines(count: u64) -> std::io::Result<()> {
    let rank = std::env::var("PMI_RANK").unwrap_or_default();
    let lines: String = (0..count)
        .map(|number| format!("{rank} {number} {:->width$}{rank}\n", "", width = 60))
        .collect();
    // Not std's stdout, which writes whole lines.
    let mut stdout = std::fs::File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    lines
        .as_bytes()
        .chunks(4096)
        .try_for_each(|block| stdout.write_all(block))
}

fn act(name: &str, value: &str) {
    let number = || {
        value
            .parse::<u64>()
            .unwrap_or_else(|_| fail("a number is missing"))
    };
    let me = std::process::id();
    match name {
        "say" => println!("{value}"),
        "complain" => eprintln!("{value}"),
        "lines" => write_lines(number()).unwrap_or_else(|error| fail(&error.to_string())),
        "env" => println!("{}", std::env::var(value).unwrap_or_default()),
        "pid" => println!("{me}"),
        "stdin" => {
            let mut text = String::new();
            let count = std::io::stdin()
                .read_to_string(&mut text)
                .unwrap_or_else(|error| fail(&error.to_string()));
            println!("{count}: {}", text.trim());
        }
        "sleep" => std::thread::sleep(Duration::from_millis(number())),
        "spawn" => {
            let child = Command::new("sleep")
                .arg(number().to_string())
                .stdin(Stdio::null())
                .spawn();
            println!(
                "{}",
                child.unwrap_or_else(|error| fail(&error.to_string())).id()
            );
        }
        "start" | "alone" => {
            let program = std::env::current_exe().unwrap_or_else(|error| fail(&error.to_string()));
            let mut command = Command::new(program);
            command.args(value.split('+'));
            if name == "alone" {
                command.env_remove("PMI_FD");
            }
            let status = command.status();
            let status = status.unwrap_or_else(|error| fail(&error.to_string()));
            println!("{name}: {status}");
        }
        "kill" => {
            let _ = Command::new("sh")
                .args(["-c", "kill -$0 $1", value, &me.to_string()])
                .status();
            std::thread::sleep(Duration::from_secs(60));
        }
        "exit" => std::process::exit(value.parse().unwrap_or(1)),
        _ => fail(&format!("{name} is no action")),
    }
}
