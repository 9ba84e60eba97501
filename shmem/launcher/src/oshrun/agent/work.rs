//! The work of an agent for oshrun, from the first frame to the last.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fi_bootstrap::server::{Fault, Host, Pair};

use super::super::crew::{self, Crew, Event, Order};
use super::super::environment::{self, Variable};
use super::super::hosts::{Frame, Link, Start, parts};
use super::super::job::LAST_WORDS;
use super::super::output::Output;
use super::super::output::sink::Sink;
use super::super::pes::{Input, Launch};
use super::super::sys::{self, Signals};
use super::super::{Failure, binding, processes, program, report};
use crate::installation::Installation;

/// Bytes of each output that may be on their way to oshrun's own.
const WINDOW: usize = 256 * 1024;

/// Bytes of an output in one frame, unless a line is longer.
const PIECE: usize = 64 * 1024;

/// Time between two looks whether all is gone, while PEs end.
const STEP: Duration = Duration::from_millis(10);

/// Time that oshrun may take to hang up in the end.
const FAREWELL: Duration = Duration::from_secs(3);

/// The stage of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// PEs run, or are to.
    Working,
    /// They were told to end.
    Ending,
    /// They have ended; their output is passed on. That of PEs that were ended by force, not for
    /// ever.
    Draining { forced: bool },
    /// Nothing is left to do.
    Over,
}

/// The program to run, found on this host.
struct Prepared {
    start: Start,
    environment: Vec<Variable>,
    executable: PathBuf,
    place: Installation,
    cpus: Option<Vec<usize>>,
}

/// An agent that oshrun knows.
pub(super) struct Agent<'a> {
    link: Link,
    signals: &'a Signals,
    /// The process that watches over this one.
    guard: i32,
    prepared: Option<Prepared>,
    crew: Option<Crew>,
    /// The barrier's values, of which more are to come.
    opened: Vec<Pair>,
    /// Bytes of each output that oshrun takes now.
    credit: [i64; 2],
    /// The input of PE 0, and whether no more comes.
    input: Option<Sink>,
    input_ends: bool,
    stage: Stage,
    /// Time at which something was last passed on.
    progress: Instant,
    /// Whether nobody is there to be told.
    lost: bool,
}

#[derive(Clone, Copy)]
enum Token {
    Signals,
    Link,
    Crew(crew::Token),
    Input,
}

impl<'a> Agent<'a> {
    pub(super) fn new(link: Link, signals: &'a Signals, guard: i32) -> Self {
        let window = i64::try_from(WINDOW).unwrap_or(i64::MAX);
        Agent {
            link,
            signals,
            guard,
            prepared: None,
            crew: None,
            opened: Vec::new(),
            credit: [window; 2],
            input: None,
            input_ends: false,
            stage: Stage::Working,
            progress: Instant::now(),
            lost: false,
        }
    }

    /// Goes on until the PEs have ended and oshrun knows it; yields the exit status.
    pub(super) fn run(mut self) -> i32 {
        while self.stage != Stage::Over {
            self.wait();
            self.take_signals();
            self.check_link();
            self.relay();
            self.go_on();
        }
        processes::end_all(&[]);
        if self.lost {
            return 1;
        }
        self.link.send(&Frame::Over {});
        let until = Instant::now() + FAREWELL;
        while Instant::now() < until {
            let Some(watch) = &mut self.link.watch() else {
                break;
            };
            sys::poll(std::slice::from_mut(watch), Some(STEP));
            self.link.serve();
            while let Ok(Some(_)) = self.link.next() {}
        }
        0
    }

    /// Waits for something to happen, and serves PEs and oshrun.
    fn wait(&mut self) {
        let mut watches = vec![(sys::watch(self.signals, false), Token::Signals)];
        if let Some(watch) = self.link.watch() {
            watches.push((watch, Token::Link));
        }
        if let Some(watch) = self.input.as_ref().and_then(Sink::watch) {
            watches.push((watch, Token::Input));
        }
        if let Some(crew) = &self.crew {
            let crew = crew.watches().into_iter();
            watches.extend(crew.map(|(watch, token)| (watch, Token::Crew(token))));
        }
        let (mut watches, tokens): (Vec<_>, Vec<_>) = watches.into_iter().unzip();
        let step = (self.stage != Stage::Working).then_some(STEP);
        let patience = [step, self.link.beat()].into_iter().flatten().min();
        sys::poll(&mut watches, patience);
        for (watch, token) in watches.iter().zip(tokens) {
            match token {
                _ if watch.revents == 0 => {}
                Token::Signals => {}
                Token::Link => {
                    self.link.serve();
                    self.hear();
                }
                Token::Crew(token) => {
                    let events = self.crew.as_mut().map(|crew| crew.serve(token));
                    self.report(events.unwrap_or_default());
                }
                Token::Input => self.feed(),
            }
        }
    }

    fn take_signals(&mut self) {
        while let Some(signal) = self.signals.next() {
            if signal == libc::SIGCHLD {
                let events = match &mut self.crew {
                    Some(crew) => crew.reap(),
                    None => Vec::new(),
                };
                self.report(events);
            } else if self.stage == Stage::Working {
                let failure = if sys::parent() == self.guard {
                    let name = report::signal_name(signal);
                    let message = format!("{name} came to its agent; ending the job");
                    Failure::new(128 + signal, message)
                } else {
                    Failure::new(1, "its agent was killed; ending the job")
                };
                self.fail(&failure);
                self.begin_ending();
            }
        }
    }

    /// Ends the PEs without oshrun: nobody wants them then.
    fn check_link(&mut self) {
        let silent = self.link.keep_alive();
        if !self.lost && (silent || self.link.is_closed()) {
            self.lost = true;
            if self.stage == Stage::Working {
                report::line(if silent {
                    "nothing is heard of oshrun; ending its PEs on this host"
                } else {
                    "oshrun has gone; ending its PEs on this host"
                });
            }
            self.begin_ending();
        }
    }

    fn begin_ending(&mut self) {
        if self.stage == Stage::Working {
            self.stage = Stage::Ending;
            if let Some(crew) = &mut self.crew {
                crew.obey(Order::End);
            }
        }
    }

    /// Takes the next step of the end.
    fn go_on(&mut self) {
        let Some(crew) = &mut self.crew else {
            if self.stage != Stage::Working {
                self.stage = Stage::Over;
            }
            return;
        };
        match self.stage {
            Stage::Ending if crew.is_due() => {
                crew.end_all();
                self.drain(true);
            }
            Stage::Draining { forced } => {
                let stuck = self.progress.elapsed() >= LAST_WORDS;
                if stuck && !forced {
                    // Another process may have taken the bytes in the pipes.
                    crew.output.stop_reading();
                }
                let read = crew.output.is_read();
                if self.lost || (forced && stuck) || (read && self.is_relayed()) {
                    self.stage = Stage::Over;
                }
            }
            _ => {}
        }
    }

    fn drain(&mut self, forced: bool) {
        if let Some(crew) = &mut self.crew {
            crew.output.read_the_rest();
        }
        self.progress = Instant::now();
        self.stage = Stage::Draining { forced };
    }

    /// Passes on the output of PEs, as far as oshrun takes it.
    fn relay(&mut self) {
        let Some(crew) = &mut self.crew else {
            return;
        };
        for way in 0..2_u8 {
            let credit = &mut self.credit[usize::from(way)];
            while let Ok(most @ 1..) = usize::try_from(*credit) {
                let bytes = crew.output.take_relayed(way.into(), most.min(PIECE));
                if bytes.is_empty() {
                    break;
                }
                // A line that is longer than allowed is owed.
                *credit -= i64::try_from(bytes.len()).unwrap_or(i64::MAX);
                self.progress = Instant::now();
                self.link.send(&Frame::Output { way, bytes });
            }
        }
    }

    /// Returns whether all bytes that were read are passed on.
    fn is_relayed(&mut self) -> bool {
        self.relay();
        self.credit.iter().all(|&credit| credit > 0)
    }

    /// Sends events to oshrun, after the output that PEs have written before.
    fn report(&mut self, events: Vec<Event>) {
        for event in events {
            if let (Event::Departed { .. } | Event::Abort { .. }, Some(crew)) =
                (&event, &mut self.crew)
            {
                crew.output.catch_up();
                self.relay();
            }
            match event {
                Event::Entered(values) => {
                    for (values, last) in parts(values) {
                        self.link.send(&Frame::Entered { values, last });
                    }
                }
                Event::Departed {
                    left,
                    pid,
                    out_of_memory,
                } => self.link.send(&Frame::Departed {
                    left,
                    pid,
                    out_of_memory,
                }),
                Event::Abort {
                    rank,
                    code,
                    message,
                } => self.link.send(&Frame::Abort {
                    rank,
                    code,
                    message,
                }),
                Event::Fault(Fault::Awaited {
                    rank,
                    departure,
                    finalized,
                }) => self.link.send(&Frame::Awaited {
                    rank,
                    departure,
                    finalized,
                }),
                Event::Fault(Fault::Garbage { rank, what }) => {
                    self.link.send(&Frame::Garbage { rank, what });
                }
                // Others are oshrun's to find.
                Event::Fault(_) => {}
            }
        }
    }

    fn fail(&mut self, failure: &Failure) {
        self.link.send(&Frame::Failed {
            status: failure.status,
            message: failure.message.clone(),
        });
    }

    /// Carries out the frames of oshrun.
    fn hear(&mut self) {
        loop {
            match self.link.next() {
                Ok(Some(frame)) => self.obey(frame),
                Ok(None) => return,
                Err(error) => {
                    report::line(&format!("oshrun makes no sense ({error}); ending its PEs"));
                    self.lost = true;
                    self.begin_ending();
                    return;
                }
            }
        }
    }

    fn obey(&mut self, frame: Frame) {
        match frame {
            Frame::Start { start } => match prepare(start) {
                Ok(prepared) => {
                    self.prepared = Some(prepared);
                    self.link.send(&Frame::Ready {});
                }
                Err(failure) => self.fail(&failure),
            },
            Frame::Go {} => {
                if let Some(prepared) = self.prepared.take()
                    && self.stage == Stage::Working
                {
                    match prepared.start() {
                        Ok(crew) => self.take_over(crew),
                        Err(failure) => self.fail(&failure),
                    }
                }
            }
            Frame::Open { values, last } => {
                self.opened.extend(values);
                if last {
                    let values = std::mem::take(&mut self.opened);
                    self.order(Order::Open(values));
                }
            }
            Frame::Left { left } => self.order(Order::Left(left)),
            Frame::Input { bytes } if bytes.is_empty() => {
                self.input_ends = true;
                self.feed();
            }
            Frame::Input { bytes } => match &mut self.input {
                Some(input) => input.push(&bytes),
                None => self.link.send(&Frame::InputClosed {}),
            },
            Frame::Room { way, bytes } => {
                if let Some(credit) = self.credit.get_mut(usize::from(way)) {
                    *credit += i64::from(bytes);
                    self.progress = Instant::now();
                }
            }
            Frame::Unread { way } => {
                if let Some(credit) = self.credit.get_mut(usize::from(way)) {
                    *credit = i64::MAX / 2;
                    if let Some(crew) = &mut self.crew {
                        crew.output.lose_reader(way.into());
                    }
                }
            }
            Frame::End {} => self.begin_ending(),
            Frame::Finish {} => {
                if let (Stage::Working, Some(crew)) = (self.stage, &mut self.crew) {
                    crew.end_all();
                    self.drain(false);
                } else {
                    self.begin_ending();
                }
            }
            // A sign of life; all others are for oshrun.
            _ => {}
        }
    }

    fn order(&mut self, order: Order) {
        let events = self.crew.as_mut().map(|crew| crew.obey(order));
        self.report(events.unwrap_or_default());
    }

    /// Begins with PEs that were started.
    fn take_over(&mut self, mut crew: Crew) {
        let input = crew.pe(0).and_then(|pe| pe.input.take());
        self.input = input.and_then(|input| Sink::new(OwnedFd::from(input).into()).ok());
        self.crew = Some(crew);
    }

    /// Gives PE 0 as much of its input as it takes.
    fn feed(&mut self) {
        let Some(input) = &mut self.input else {
            return;
        };
        let count = input.write();
        if count > 0 {
            let bytes = u32::try_from(count).unwrap_or(u32::MAX);
            self.link.send(&Frame::Taken { bytes });
        }
        if input.has_lost_its_reader() || input.has_failed() {
            self.input = None;
            self.link.send(&Frame::InputClosed {});
        } else if self.input_ends && input.pending().is_empty() {
            self.input = None;
        }
    }
}

/// Looks whether a job can run on this host.
fn prepare(start: Start) -> Result<Prepared, Failure> {
    let place = Installation::find()
        .map_err(|error| Failure::new(1, format!("cannot read /proc/self/exe: {error}")))?;
    let directory = Path::new(&start.directory);
    std::env::set_current_dir(directory).map_err(|error| {
        let shown = directory.display();
        Failure::new(1, format!("the working directory {shown}: {error}"))
    })?;
    let environment = environment::brought_here(start.environment.clone(), &start.given);
    let path = environment::find(&environment, "PATH").map(OsStr::to_owned);
    let executable = program::find(&start.program, path.as_deref())?;
    let count = start
        .hosts
        .iter()
        .filter(|&&host| host == start.host)
        .count();
    let cpus = if start.bind {
        Some(binding::cores(count)?)
    } else {
        None
    };
    Ok(Prepared {
        start,
        environment,
        executable,
        place,
        cpus,
    })
}

impl Prepared {
    /// Starts the PEs of this host.
    fn start(self) -> Result<Crew, Failure> {
        let start = &self.start;
        let launch = Launch {
            size: start.hosts.len(),
            executable: &self.executable,
            name: &start.program,
            arguments: &start.arguments,
            environment: &self.environment,
            place: &self.place,
            device: None,
            cpus: self.cpus,
            descriptors: sys::raise_descriptor_limit(),
            input: Input::Pipe,
        };
        let host = Host::of(&start.hosts, start.host, &start.kvsname);
        let output = Output::relayed(start.label, start.lines);
        Crew::start(&launch, host, None, output)
    }
}
