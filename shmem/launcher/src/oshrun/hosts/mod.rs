//! A job on several hosts: an agent on each, which oshrun starts, knows by a secret, and speaks to
//! by TCP.
//!
//! Nobody waits for a host for ever: agents and oshrun show each other that they are there. After a
//! silence of FARREACH_HOST_TIMEOUT an agent ends its host's PEs, and oshrun the job.

mod call;
mod door;
mod end;
mod frame;
mod input;
mod link;
mod list;
mod secret;
mod setup;

use std::time::{Duration, Instant};

use fi_bootstrap::server::{Departure, Fault};

use super::Failure;
use super::arguments::Options;
use super::crew::{Event, Order};
use super::output::Output;
use super::sys::{self, Signals, Watch};
use crate::installation::Installation;
pub(super) use call::{Call, MODE, is_own};
use call::{Caller, Process};
use door::Door;
pub(super) use frame::{Frame, Start, VERSION, parts};
use input::Input;
pub(super) use link::{Account, Link, Way};
use list::Host;
pub(super) use list::List;
pub(super) use secret::{Role, Secret, random, same};
pub(super) use setup::check;

/// The silence that ends a job, in seconds: over within 10 s, with the time that ending takes.
const SILENCE: f64 = 5.0;

/// Time that agents have to be there, after their commands were started.
const ARRIVAL: Duration = Duration::from_secs(60);

/// Commands that run before their agents are there.
const AT_A_TIME: usize = 64;

/// Time that an agent's command has to tell why its agent is gone.
const EXPLANATION: Duration = Duration::from_millis(300);

/// Time that commands may go on when their agents are done.
const FAREWELL: Duration = Duration::from_millis(500);

/// Time between two looks around while the job ends.
const STEP: Duration = Duration::from_millis(50);

/// Names the silence that ends a job, in seconds; 0 is for ever.
const SILENCE_VARIABLE: &str = "FARREACH_HOST_TIMEOUT";

/// Names the command that starts agents.
const AGENT_VARIABLE: &str = "FARREACH_LAUNCH_AGENT";

/// Has oshrun say in the end which frames it has sent and taken.
const ACCOUNT_VARIABLE: &str = "FARREACH_LAUNCH_ACCOUNT";

/// News of a host.
#[derive(Debug)]
pub(super) enum News {
    /// A host's PEs have something to say.
    Event(usize, Event),
    /// The job cannot go on, with this status.
    Failed { status: i32, message: String },
}

/// The owner of a [`Watch`] of [`Hosts::watches`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Token {
    Door(door::Token),
    Agent(usize),
    Process(usize),
    Input,
}

/// The stage of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is not here yet.
    Awaited,
    Known,
    /// It can start its PEs.
    Ready,
    /// Its connection has ended, and its command may say why.
    Gone(Instant),
    /// Nothing more comes from it.
    Over,
}

/// An agent.
#[derive(Debug)]
struct Agent {
    stage: Stage,
    link: Option<Link>,
    /// The command that has started it.
    process: Option<usize>,
    /// Bytes of its output that it was not told to be taken.
    owed: [u32; 2],
    /// Whether it knows that nobody reads an output.
    unread: [bool; 2],
    /// The first parts of the values that its PEs have put.
    entered: Vec<fi_bootstrap::server::Pair>,
}

/// The hosts of a job.
pub(super) struct Hosts<'a> {
    hosts: Vec<Host>,
    /// The host of every PE.
    places: Vec<u32>,
    agents: Vec<Agent>,
    caller: Caller<'a>,
    /// The hosts of each command, the first of which are started.
    groups: Vec<Vec<usize>>,
    processes: Vec<Process>,
    secret: Secret,
    /// Until all agents are here.
    door: Option<Door>,
    start: Start,
    begun: Instant,
    patience: Option<Duration>,
    /// Whether PEs were started.
    going: bool,
    /// Whether agents were told to end.
    ending: bool,
    input: Input,
}

/// Runs a job on several hosts; yields its exit status.
pub(super) fn run(options: &Options, list: &List, signals: &Signals) -> Result<i32, Failure> {
    let place = Installation::find()
        .map_err(|error| Failure::new(1, format!("cannot read /proc/self/exe: {error}")))?;
    let here = place.tool("oshrun");
    let hosts = Hosts::new(options, list, &here)?;
    let output = Output::joined(options)
        .map_err(|error| Failure::new(1, format!("cannot write the output: {error}")))?;
    sys::raise_descriptor_limit();
    let job = fi_bootstrap::server::Job::new(options.pes, hosts.hosts.len());
    let pes = super::job::Pes::There(Box::new(hosts), output);
    Ok(super::job::Running::new(options, job, pes, signals, None).run())
}

impl<'a> Hosts<'a> {
    /// Returns the name of a PE's host.
    pub(super) fn host_of(&self, rank: usize) -> Option<&str> {
        let host = *self.places.get(rank)?;
        self.hosts.get(host as usize).map(|host| host.name.as_str())
    }

    /// Returns the descriptors to poll, with their owners.
    pub(super) fn watches(&self) -> Vec<(Watch, Token)> {
        let mut watches = Vec::new();
        if let Some(door) = self.door.as_ref().filter(|_| !self.ending) {
            let door = door.watches().into_iter();
            watches.extend(door.map(|(watch, token)| (watch, Token::Door(token))));
        }
        for (index, agent) in self.agents.iter().enumerate() {
            let watch = agent.link.as_ref().and_then(Link::watch);
            watches.extend(watch.map(|watch| (watch, Token::Agent(index))));
        }
        for (index, process) in self.processes.iter().enumerate() {
            let watch = process.watch();
            watches.extend(watch.map(|watch| (watch, Token::Process(index))));
        }
        if self.going && !self.ending {
            let watch = self.input.watch();
            watches.extend(watch.map(|watch| (watch, Token::Input)));
        }
        watches
    }

    /// Returns the longest time to wait before [`Self::look_around`].
    pub(super) fn patience(&self) -> Option<Duration> {
        let gone = |agent: &Agent| matches!(agent.stage, Stage::Gone(_));
        if self.ending || !self.going || self.agents.iter().any(gone) {
            return Some(STEP);
        }
        let beat = self
            .agents
            .iter()
            .find_map(|agent| agent.link.as_ref()?.beat());
        // Looks whether a terminal has come back, too.
        Some(beat.unwrap_or(Duration::from_secs(1)))
    }

    /// Serves a descriptor that poll has found ready.
    pub(super) fn serve(&mut self, token: Token, output: &mut Output) -> Vec<News> {
        match token {
            Token::Door(token) => {
                if let Some(door) = &mut self.door {
                    door.serve(token);
                }
            }
            Token::Agent(index) => return self.hear(index, output),
            Token::Process(index) => self.processes[index].serve(),
            Token::Input => {
                if let Some(bytes) = self.input.read() {
                    self.tell(self.places[0] as usize, &Frame::Input { bytes });
                }
            }
        }
        Vec::new()
    }

    /// Starts commands, lets agents in, notices those that are late or silent, and tells them how
    /// much of their output was taken.
    pub(super) fn look_around(&mut self, output: &mut Output) -> Vec<News> {
        let mut news = Vec::new();
        if !self.ending {
            self.call(&mut news);
            self.let_in();
            if !self.going && self.begun.elapsed() >= ARRIVAL {
                news.push(self.nobody_came());
            }
        }
        for index in 0..self.agents.len() {
            let agent = &mut self.agents[index];
            for way in 0..2 {
                let owed = agent.owed[way];
                let Some(link) = &mut agent.link else {
                    continue;
                };
                let number = u8::try_from(way).unwrap_or(0);
                if output.is_unread(way) && !agent.unread[way] {
                    agent.unread[way] = true;
                    link.send(&Frame::Unread { way: number });
                } else if owed > 0 && output.has_room(way) {
                    agent.owed[way] = 0;
                    link.send(&Frame::Room {
                        way: number,
                        bytes: owed,
                    });
                }
            }
            let silent = agent.link.as_mut().is_some_and(Link::keep_alive);
            if silent {
                agent.link = None;
                agent.stage = Stage::Over;
                let seconds = self.patience.unwrap_or_default().as_secs_f64();
                news.push(self.lost(index, &format!("has been silent for {seconds} s")));
            } else if let Stage::Gone(since) = agent.stage {
                let ended = agent
                    .process
                    .is_none_or(|at| self.processes[at].ended.is_some());
                if ended || since.elapsed() >= EXPLANATION {
                    news.push(self.explain(index));
                }
            }
        }
        news
    }

    /// Starts commands, not too many at a time.
    fn call(&mut self, news: &mut Vec<News>) {
        let awaited = |agent: &&Agent| agent.process.is_some() && agent.stage == Stage::Awaited;
        let mut open = self.agents.iter().filter(awaited).count();
        while open < AT_A_TIME && self.processes.len() < self.groups.len() {
            let group = &self.groups[self.processes.len()];
            let names: Vec<&str> = group
                .iter()
                .map(|&host| self.hosts[host].name.as_str())
                .collect();
            match self.caller.start(&names, &self.secret) {
                Ok(process) => {
                    for &host in group {
                        self.agents[host].process = Some(self.processes.len());
                    }
                    open += group.len();
                    self.begun = Instant::now();
                    self.processes.push(process);
                }
                Err(why) => {
                    let message = format!("{}: {why}", host_names(&names));
                    news.push(News::Failed { status: 1, message });
                    return;
                }
            }
        }
    }

    /// Takes over the agents that are known now; sends [`Frame::Start`] to all when all are here.
    fn let_in(&mut self) {
        let mut any = false;
        let arrivals = self.door.as_mut().map(Door::arrivals);
        for (name, mut link) in arrivals.unwrap_or_default() {
            let found = self.hosts.iter().position(|host| host.name == name);
            let Some(index) = found.filter(|&index| self.agents[index].stage == Stage::Awaited)
            else {
                continue;
            };
            link.trust(self.patience);
            self.agents[index].link = Some(link);
            self.agents[index].stage = Stage::Known;
            any = true;
        }
        let known = |agent: &Agent| agent.stage != Stage::Awaited;
        if any && self.agents.iter().all(known) {
            self.door = None;
            for index in 0..self.agents.len() {
                self.start.host = u32::try_from(index).unwrap_or(u32::MAX);
                let start = self.start.clone();
                self.tell(index, &Frame::Start { start });
            }
        }
    }

    fn nobody_came(&mut self) -> News {
        let awaited = |&index: &usize| self.agents[index].stage == Stage::Awaited;
        let missing: Vec<usize> = (0..self.agents.len()).filter(awaited).collect();
        let names: Vec<&str> = missing
            .iter()
            .map(|&index| self.hosts[index].name.as_str())
            .collect();
        let names = host_names(&names);
        let process = missing
            .first()
            .and_then(|&index| self.agents[index].process);
        let words = process.and_then(|at| self.processes[at].last_words());
        let words = words.map_or(String::new(), |words| format!(": {words}"));
        let seconds = ARRIVAL.as_secs();
        News::Failed {
            status: 1,
            message: format!(
                "{names}: no agent has come within {seconds} s{words}; no PE was started"
            ),
        }
    }

    /// Sends a frame to one agent.
    fn tell(&mut self, index: usize, frame: &Frame) {
        if let Some(link) = &mut self.agents[index].link {
            link.send(frame);
        }
    }

    /// Sends a frame to all agents.
    fn tell_all(&mut self, frame: &Frame) {
        let bytes = frame.encode().into();
        for link in self
            .agents
            .iter_mut()
            .filter_map(|agent| agent.link.as_mut())
        {
            link.send_encoded(&bytes);
        }
    }

    /// Sends an order of the job to all hosts.
    pub(super) fn order(&mut self, order: Order) {
        match order {
            Order::Open(values) => {
                for (values, last) in parts(values) {
                    self.tell_all(&Frame::Open { values, last });
                }
            }
            Order::Left(left) => self.tell_all(&Frame::Left { left }),
            Order::End => {
                self.ending = true;
                self.tell_all(&Frame::End {});
            }
        }
    }

    /// Takes in the frames of an agent.
    fn hear(&mut self, index: usize, output: &mut Output) -> Vec<News> {
        let mut news = Vec::new();
        let Some(link) = &mut self.agents[index].link else {
            return news;
        };
        link.serve();
        while let Some(link) = &mut self.agents[index].link {
            match link.next() {
                Ok(Some(frame)) => news.extend(self.take(index, frame, output)),
                Ok(None) if link.is_closed() => {
                    let agent = &mut self.agents[index];
                    agent.link = None;
                    if agent.stage != Stage::Over {
                        agent.stage = Stage::Gone(Instant::now());
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    self.agents[index].link = None;
                    self.agents[index].stage = Stage::Over;
                    news.push(self.lost(index, &format!("has sent what makes no sense ({error})")));
                }
            }
        }
        news
    }

    fn take(&mut self, index: usize, frame: Frame, output: &mut Output) -> Option<News> {
        let agent = &mut self.agents[index];
        let event = |event| Some(News::Event(index, event));
        match frame {
            Frame::Ready {} => {
                agent.stage = Stage::Ready;
                let ready = |agent: &Agent| agent.stage == Stage::Ready;
                if self.agents.iter().all(ready) {
                    self.going = true;
                    self.tell_all(&Frame::Go {});
                }
                None
            }
            Frame::Failed { status, message } => {
                let message = format!("host {}: {message}", self.hosts[index].name);
                Some(News::Failed { status, message })
            }
            Frame::Entered { values, last } => {
                agent.entered.extend(values);
                last.then(|| News::Event(index, Event::Entered(std::mem::take(&mut agent.entered))))
            }
            Frame::Departed {
                left,
                pid,
                out_of_memory,
            } => event(Event::Departed {
                left,
                pid,
                out_of_memory,
            }),
            Frame::Abort {
                rank,
                code,
                message,
            } => event(Event::Abort {
                rank,
                code,
                message,
            }),
            Frame::Awaited {
                rank,
                departure,
                finalized,
            } => event(Event::Fault(Fault::Awaited {
                rank,
                departure,
                finalized,
            })),
            Frame::Garbage { rank, what } => event(Event::Fault(Fault::Garbage { rank, what })),
            Frame::Output { way, bytes } => {
                let way = usize::from(way != 0);
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                agent.owed[way] = agent.owed[way].saturating_add(length);
                output.push(way, &bytes);
                None
            }
            Frame::Taken { bytes } => {
                self.input.taken(bytes);
                None
            }
            Frame::InputClosed {} => {
                self.input.close();
                None
            }
            Frame::Over {} => {
                agent.stage = Stage::Over;
                None
            }
            // A sign of life; all others are for agents.
            _ => None,
        }
    }

    /// Returns the reason for which a host is lost, in words.
    fn lost(&self, index: usize, why: &str) -> News {
        let name = &self.hosts[index].name;
        News::Failed {
            status: 1,
            message: format!("host {name} {why}; ending the job"),
        }
    }

    /// Explains the end of an agent, whose command has had its time to say why.
    fn explain(&mut self, index: usize) -> News {
        self.agents[index].stage = Stage::Over;
        let process = self.agents[index].process;
        let process = process.map(|at| &mut self.processes[at]);
        let words = process.and_then(Process::last_words);
        let words = words.map_or(String::new(), |words| format!(" ({words})"));
        self.lost(
            index,
            &format!("is lost: the connection to its agent has ended{words}"),
        )
    }

    /// Takes in the ends of commands. One that ends before its agents are here has failed.
    pub(super) fn reap(&mut self) -> Vec<News> {
        let mut news = Vec::new();
        while let Ok(Some((pid, departure))) = sys::reap() {
            let ended = |process: &Process| process.ended.is_none() && process.pid == pid;
            let Some(at) = self.processes.iter().position(ended) else {
                continue;
            };
            self.processes[at].ended = Some(departure);
            // An agent that has come and gone is known by its connection.
            let missing = |&index: &usize| self.agents[index].stage == Stage::Awaited;
            let missing: Vec<usize> = self.groups[at].iter().copied().filter(missing).collect();
            let names: Vec<&str> = missing
                .iter()
                .map(|&index| self.hosts[index].name.as_str())
                .collect();
            if !names.is_empty() && !self.ending {
                let names = host_names(&names);
                let hint = match departure {
                    Departure::Exited(126 | 127) => {
                        "; --prefix tells where Farreach is installed there"
                    }
                    _ => "",
                };
                let end = self.processes[at].end();
                let message = format!("{names}: no agent was started: {end}{hint}");
                news.push(News::Failed { status: 1, message });
            }
        }
        news
    }
}

/// Returns `host b`, or `hosts b, c`; of many the first.
fn host_names(names: &[&str]) -> String {
    const MOST: usize = 4;
    match names {
        [name] => format!("host {name}"),
        names if names.len() > MOST => {
            let others = names.len() - MOST;
            format!("hosts {} and {others} more", names[..MOST].join(", "))
        }
        names => format!("hosts {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_many_hosts_are_cut() {
        assert_eq!(host_names(&["b"]), "host b");
        assert_eq!(host_names(&["b", "c"]), "hosts b, c");
        let many = ["a", "b", "c", "d", "e", "f"];
        assert_eq!(host_names(&many), "hosts a, b, c, d and 2 more");
    }
}
