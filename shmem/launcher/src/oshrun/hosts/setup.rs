//! The setup before the first agent is called.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::arguments::{Fabric, Options};
use super::super::{Failure, USAGE, environment, output, program};
use super::call::{Caller, Way};
use super::door::{self, Door};
use super::input::Input;
use super::list::place;
use super::secret::Secret;
use super::{
    AGENT_VARIABLE, Agent, Frame, Hosts, List, SILENCE, SILENCE_VARIABLE, Stage, Start, frame,
};

/// Refuses options that a job on several hosts cannot have.
pub(in super::super) fn check(options: &Options) -> Result<(), Failure> {
    let refuse = |message: &str| Err(Failure::new(USAGE, message));
    if options.per_node.is_some() {
        return refuse(
            "--ppn pretends nodes on one machine; with several hosts their slots say how many PEs each has, as in --host a:2,b:2",
        );
    }
    if options.fabric == Some(Fabric::Softhca) {
        return refuse(
            "--fabric softhca is a device of one machine, and the job has several hosts",
        );
    }
    if program::source_language(Path::new(&options.program)).is_some() {
        return refuse(
            "a source file is compiled on this machine only: for several hosts compile it with oshcc first, to a place that all have",
        );
    }
    silence().map(drop)
}

/// Returns the silence that ends a job, if any does.
fn silence() -> Result<Option<Duration>, Failure> {
    let given = std::env::var_os(SILENCE_VARIABLE);
    let given = given.filter(|text| !text.is_empty());
    let seconds = match &given {
        None => Some(SILENCE),
        Some(text) => text.to_str().and_then(|text| text.parse().ok()),
    };
    // The lower bound: a beat is a fifth of it.
    match seconds {
        Some(0.0) => Ok(None),
        Some(seconds) if (0.1..=1e6).contains(&seconds) => {
            Ok(Some(Duration::from_secs_f64(seconds)))
        }
        _ => Err(Failure::new(
            USAGE,
            format!(
                "{SILENCE_VARIABLE} is {:?}: it takes a number of seconds from 0.1 to 1000000, or 0 for ever",
                given.unwrap_or_default()
            ),
        )),
    }
}

impl<'a> Hosts<'a> {
    /// Settles all, and listens for agents. `here` is oshrun's own executable.
    pub(super) fn new(options: &Options, list: &List, here: &'a Path) -> Result<Self, Failure> {
        let failed =
            |what: &str, error: std::io::Error| Failure::new(1, format!("cannot {what}: {error}"));
        let places = place(&list.hosts, options.pes);
        let mut hosts = list.hosts.clone();
        // The last ones, if there are fewer PEs than slots.
        hosts.truncate(places.iter().max().map_or(0, |&last| last as usize + 1));
        let directory =
            std::env::current_dir().map_err(|error| failed("find the working directory", error))?;
        let start = Start {
            hosts: places.clone(),
            host: 0,
            kvsname: format!("kvs_{}", std::process::id()),
            program: options.program.clone(),
            arguments: options.arguments.clone(),
            environment: environment::of(options, true),
            given: options
                .environment
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
            directory: directory.into(),
            bind: options.bind,
            label: options.label,
            lines: output::keeps_lines(options),
        };
        let frame = Frame::Start {
            start: start.clone(),
        };
        if frame.encode().len() > frame::LONGEST {
            let message = "the program's arguments and environment are too long for other hosts";
            return Err(Failure::new(1, message));
        }
        let given = options.launch_agent.clone();
        let given = given.or_else(|| std::env::var_os(AGENT_VARIABLE));
        let given = given.filter(|command| options.launch_agent.is_some() || !command.is_empty());
        let patience = silence()?;
        let secret = Secret::new().map_err(|error| failed("read /dev/urandom", error))?;
        let door = Door::open(secret.clone(), patience)
            .map_err(|error| failed("listen for agents", error))?;
        let prefix = options.prefix.as_ref();
        let caller = Caller {
            way: Way::choose(given.as_ref(), list.source)?,
            is_given: given.is_some(),
            here,
            there: prefix.map_or_else(|| here.to_owned(), |prefix| installed(prefix)),
            port: door.port(),
            addresses: door::addresses()?.join(","),
        };
        let agent = || Agent {
            stage: Stage::Awaited,
            link: None,
            process: None,
            owed: [0; 2],
            unread: [false; 2],
            entered: Vec::new(),
        };
        Ok(Hosts {
            agents: hosts.iter().map(|_| agent()).collect(),
            groups: caller.groups(&hosts),
            hosts,
            places,
            caller,
            processes: Vec::new(),
            secret,
            door: Some(door),
            start,
            begun: Instant::now(),
            patience,
            going: false,
            ending: false,
            input: Input::new(),
        })
    }
}

/// Returns oshrun in an installation.
fn installed(prefix: &Path) -> PathBuf {
    prefix.join("bin/oshrun")
}
