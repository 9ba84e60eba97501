//! The life of a job: serve, watch, end; with the PEs on this machine, or on several hosts.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use fi_bootstrap::server::{Fault, Job};

use super::arguments::Options;
use super::crew::{self, Crew, Event, GRACE, Order};
use super::device::Device;
use super::hosts::{self, Hosts};
use super::output::{self, Output};
use super::sys::{self, Signals, Watch};
use super::{TIMED_OUT, report};

/// Time that a fault waits for an abort, which explains it better: PEs that end each other may be
/// seen to exit before the one that asked for it has told.
const SETTLE: Duration = Duration::from_millis(50);

/// Time between two looks whether all is gone, while the job ends.
const STEP: Duration = Duration::from_millis(10);

/// Time from which on another signal is taken for a second one, after the job was told to end.
const AGAIN: Duration = Duration::from_millis(500);

/// Time to wait for a reader that takes nothing of the PEs' output, after the job was ended by
/// force.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(2);

/// The PEs, by their places.
pub(super) enum Pes<'a> {
    /// On this machine.
    Here(Crew),
    /// On several hosts, whose output comes out here.
    There(Box<Hosts<'a>>, Output),
}

/// Returns the status that a shell sees for the `code` by which a PE has ended the job: its low
/// eight bits, but 0 for 0 alone.
fn exit_status(code: i32) -> i32 {
    match code & 0xff {
        0 if code != 0 => 1,
        status => status,
    }
}

/// Reason for which the job cannot go on.
#[derive(Debug, Clone)]
struct Trouble {
    fault: Fault,
    /// The PE's process, for one that was killed.
    pid: i32,
    out_of_memory: bool,
    /// Whether it explains the end of PEs that were seen to end before.
    explains: bool,
}

/// The state of the job.
#[derive(Debug)]
enum State {
    Going,
    /// Something went wrong; an abort may still explain it.
    Settling {
        trouble: Trouble,
        until: Instant,
    },
    /// The PEs were told to end.
    Ending {
        status: i32,
        begun: Instant,
        until: Instant,
    },
}

/// A job that runs.
pub(super) struct Running<'a> {
    job: Job,
    pes: Pes<'a>,
    signals: &'a Signals,
    device: Option<&'a Device>,
    /// The parent process: when it is gone there is nobody to be gentle for.
    guard: i32,
    /// Time at which the job is to end, and the time that it was given.
    timeout: Option<(Instant, Duration)>,
    state: State,
    /// Whether hosts were told of the first PE that has left.
    told: bool,
}

#[derive(Clone, Copy)]
enum Token {
    Signals,
    Device,
    Crew(crew::Token),
    Hosts(hosts::Token),
    Output(output::Token),
}

impl<'a> Running<'a> {
    pub(super) fn new(
        options: &Options,
        job: Job,
        pes: Pes<'a>,
        signals: &'a Signals,
        device: Option<&'a Device>,
    ) -> Self {
        Running {
            job,
            pes,
            signals,
            device,
            guard: sys::parent(),
            timeout: options.timeout.map(|time| (Instant::now() + time, time)),
            state: State::Going,
            told: false,
        }
    }

    /// Goes on until the job is over; yields its exit status.
    pub(super) fn run(mut self) -> i32 {
        while !self.is_over() {
            self.wait();
            self.take_signals();
            self.check_time();
        }
        let (status, forced) = match std::mem::replace(&mut self.state, State::Going) {
            State::Going => (self.job.status(), false),
            State::Settling { trouble, .. } => {
                self.report(&trouble);
                (self.status_of(&trouble), true)
            }
            State::Ending { status, .. } => (status, true),
        };
        let signals = self.signals;
        let stop = || std::iter::from_fn(|| signals.next()).any(|signal| signal != libc::SIGCHLD);
        let patience = forced.then_some(LAST_WORDS);
        let all = match &mut self.pes {
            Pes::Here(crew) => {
                crew.end_all();
                crew.output.finish(patience, stop)
            }
            Pes::There(hosts, output) => {
                hosts.finish(output, patience, stop) && output.finish(patience, stop)
            }
        };
        // Output that could not be written is a failure, if no other has come before.
        if status == 0 && !all { 1 } else { status }
    }

    fn is_over(&self) -> bool {
        let ending = match self.state {
            State::Ending { until, .. } => Some(until),
            State::Going | State::Settling { .. } => None,
        };
        let cut = || ending.is_some_and(|until| Instant::now() >= until);
        match &self.pes {
            _ if ending.is_some() && (cut() || sys::parent() != self.guard) => true,
            Pes::Here(crew) if ending.is_some() => crew.is_due(),
            Pes::Here(crew) => crew.is_gone(),
            Pes::There(hosts, _) if ending.is_some() => hosts.are_over(),
            Pes::There(..) => self.job.running() == 0,
        }
    }

    /// Waits for something to happen and serves PEs and output.
    fn wait(&mut self) {
        let mut watches: Vec<(Watch, Token)> =
            vec![(sys::watch(self.signals, false), Token::Signals)];
        if let Some(device) = self.device
            && !matches!(self.state, State::Ending { .. })
        {
            watches.push((sys::watch(device, false), Token::Device));
        }
        match &self.pes {
            Pes::Here(crew) => {
                let crew = crew.watches().into_iter();
                watches.extend(crew.map(|(watch, token)| (watch, Token::Crew(token))));
            }
            Pes::There(hosts, output) => {
                let hosts = hosts.watches().into_iter();
                watches.extend(hosts.map(|(watch, token)| (watch, Token::Hosts(token))));
                let output = output.watches();
                watches.extend(output.map(|(watch, token)| (watch, Token::Output(token))));
            }
        }
        let (mut watches, tokens): (Vec<_>, Vec<_>) = watches.into_iter().unzip();
        sys::poll(&mut watches, self.patience());
        for (watch, token) in watches.iter().zip(tokens) {
            if watch.revents != 0 {
                self.serve(token);
            }
        }
        if let Pes::There(hosts, output) = &mut self.pes {
            let news = hosts.look_around(output);
            self.hear(news);
        }
    }

    fn serve(&mut self, token: Token) {
        match (token, &mut self.pes) {
            (Token::Device, _) => self.lose_device(),
            (Token::Crew(token), Pes::Here(crew)) => {
                let events = crew.serve(token);
                self.take(0, events);
            }
            (Token::Hosts(token), Pes::There(hosts, output)) => {
                let news = hosts.serve(token, output);
                self.hear(news);
            }
            (Token::Output(token), Pes::There(_, output)) => drop(output.serve(token)),
            _ => {}
        }
    }

    /// Returns the longest time to wait.
    fn patience(&self) -> Option<Duration> {
        let next = match self.state {
            State::Going => self.timeout.map(|(at, _)| at),
            State::Settling { until, .. } => Some(until),
            State::Ending { until, .. } => Some(until.min(Instant::now() + STEP)),
        };
        let next = next.map(|at| at.saturating_duration_since(Instant::now()));
        match &self.pes {
            Pes::Here(_) => next,
            Pes::There(hosts, _) => [next, hosts.patience()].into_iter().flatten().min(),
        }
    }

    /// Acts on news of hosts.
    fn hear(&mut self, news: Vec<hosts::News>) {
        for news in news {
            match news {
                hosts::News::Event(host, event) => self.take(host, vec![event]),
                hosts::News::Failed { status, message } => {
                    if !matches!(self.state, State::Ending { .. }) {
                        report::line(&message);
                        self.begin_ending(status);
                    }
                }
            }
        }
    }

    /// Acts on events of a host, until one ends the job.
    fn take(&mut self, host: usize, events: Vec<Event>) {
        let mut events = VecDeque::from(events);
        while let Some(event) = events.pop_front() {
            if matches!(self.state, State::Ending { .. }) {
                return;
            }
            match event {
                Event::Entered(values) => {
                    if let Some(values) = self.job.enter(host, values) {
                        events.extend(self.order(Order::Open(values)));
                    }
                }
                Event::Departed {
                    left,
                    pid,
                    out_of_memory,
                } => {
                    if let Some(fault) = self.job.depart(left) {
                        self.begin_settling(Trouble {
                            fault,
                            pid,
                            out_of_memory,
                            explains: false,
                        });
                    }
                    if let Some(left) = self.job.first_left().filter(|_| !self.told) {
                        self.told = true;
                        events.extend(self.order(Order::Left(left)));
                    }
                }
                Event::Abort {
                    rank,
                    code,
                    message,
                } => {
                    if let Some(message) = message {
                        report::line(&format!(
                            "{} ended the job with status {code}: {message}",
                            report::pe(rank, self.host_of(rank))
                        ));
                    }
                    self.begin_ending(exit_status(code));
                }
                Event::Fault(fault) => self.begin_settling(Trouble {
                    fault,
                    pid: 0,
                    out_of_memory: false,
                    explains: false,
                }),
            }
        }
    }

    /// Tells all hosts.
    fn order(&mut self, order: Order) -> Vec<Event> {
        match &mut self.pes {
            Pes::Here(crew) => crew.obey(order),
            Pes::There(hosts, _) => {
                hosts.order(order);
                Vec::new()
            }
        }
    }

    /// Returns the name of a PE's host, where that is not this one.
    fn host_of(&self, rank: usize) -> Option<&str> {
        match &self.pes {
            Pes::Here(_) => None,
            Pes::There(hosts, _) => hosts.host_of(rank),
        }
    }

    fn take_signals(&mut self) {
        while let Some(signal) = self.signals.next() {
            if signal == libc::SIGCHLD {
                match &mut self.pes {
                    Pes::Here(crew) => {
                        let events = crew.reap();
                        self.take(0, events);
                    }
                    Pes::There(hosts, _) => {
                        let news = hosts.reap();
                        self.hear(news);
                    }
                }
            } else if let State::Ending { begun, until, .. } = &mut self.state {
                // A user that asks again waits for no host. One Ctrl-C may come twice: from the
                // terminal and the guard.
                if begun.elapsed() >= AGAIN {
                    *until = Instant::now();
                }
            } else {
                if sys::parent() == self.guard {
                    report::line(&format!(
                        "{} came; ending the job",
                        report::signal_name(signal)
                    ));
                }
                self.begin_ending(128 + signal);
            }
        }
    }

    /// Ends the job without the device: PEs would wait for ever, or fail in ways that explain less.
    fn lose_device(&mut self) {
        if let Some(device) = self.device
            && !matches!(self.state, State::Ending { .. })
        {
            report::line(&device.loss());
            self.begin_ending(1);
        }
    }

    fn check_time(&mut self) {
        let now = Instant::now();
        match &self.state {
            State::Settling { trouble, until } if now >= *until => {
                let trouble = trouble.clone();
                self.report(&trouble);
                self.begin_ending(self.status_of(&trouble));
            }
            State::Going => {
                if let Some((at, time)) = self.timeout
                    && now >= at
                {
                    report::line(&format!(
                        "the job ran longer than {} s; ending the job",
                        time.as_secs_f64()
                    ));
                    self.begin_ending(TIMED_OUT);
                }
            }
            _ => {}
        }
    }

    /// Returns the job's status: that of the first PE that failed, even where another's fault ended
    /// the job.
    fn status_of(&self, trouble: &Trouble) -> i32 {
        match self.job.status() {
            status if status != 0 && !trouble.explains => status,
            _ => trouble.fault.status(),
        }
    }

    fn report(&mut self, trouble: &Trouble) {
        // The PEs' own words explain it better.
        match &mut self.pes {
            Pes::Here(crew) => crew.output.catch_up(),
            Pes::There(_, output) => output.catch_up(),
        }
        let host = |rank| self.host_of(rank);
        let text = report::fault(&trouble.fault, trouble.pid, trouble.out_of_memory, host);
        report::line(&text);
    }

    /// Takes the first fault as the one that counts, but for one thing: the connections of a PE
    /// that is killed are closed before its end can be seen, so that PEs may be seen to leave
    /// because of it before.
    fn begin_settling(&mut self, trouble: Trouble) {
        match &mut self.state {
            State::Going => {
                self.state = State::Settling {
                    trouble,
                    until: Instant::now() + SETTLE,
                };
            }
            State::Settling { trouble: first, .. }
                if matches!(first.fault, Fault::LeftEarly { .. })
                    && matches!(
                        trouble.fault,
                        Fault::Killed {
                            signal: libc::SIGKILL,
                            ..
                        }
                    ) =>
            {
                *first = Trouble {
                    explains: true,
                    ..trouble
                };
            }
            State::Settling { .. } | State::Ending { .. } => {}
        }
    }

    fn begin_ending(&mut self, status: i32) {
        self.order(Order::End);
        let grace = match &self.pes {
            Pes::Here(_) => GRACE,
            // They have the same, and then have to kill, to pass on the PEs' output, and to say so.
            Pes::There(..) => GRACE + LAST_WORDS,
        };
        let begun = Instant::now();
        self.state = State::Ending {
            status,
            begun,
            until: begun + grace,
        };
    }
}
