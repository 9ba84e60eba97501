//! The life of a job: start, serve, watch, end.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fi_bootstrap::server::{Effect, Fault, Job};

use super::arguments::Options;
use super::device::Device;
use super::output::{self, Output};
use super::pes::{Launch, Pe};
use super::sys::{self, Signals};
use super::{Failure, TIMED_OUT, binding, compile, processes, program, report};
use crate::installation::Installation;

/// How long a fault waits for an abort, which explains it better: PEs that end each other may be seen to exit before
/// the one that asked for it has told.
const SETTLE: Duration = Duration::from_millis(50);

/// How long PEs have between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(300);

/// How often to look whether all is gone while the job ends.
const STEP: Duration = Duration::from_millis(10);

/// How long to wait for a reader that takes nothing of what PEs have written, after the job was ended by force.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Runs the job; yields its exit status.
pub(super) fn run(
    options: &Options,
    device: Option<&Device>,
    signals: &Signals,
) -> Result<i32, Failure> {
    let place = Installation::find()
        .map_err(|error| Failure::new(1, format!("cannot read /proc/self/exe: {error}")))?;
    let cpus = if options.bind {
        Some(binding::cores(options.pes)?)
    } else {
        None
    };
    let program = Program::prepare(options, &place, signals)?;
    let kills_before = report::out_of_memory_kills();
    let launch = Launch {
        options,
        executable: program.executable(),
        name: program.name(options),
        place: &place,
        device,
        cpus,
        descriptors: sys::raise_descriptor_limit(),
    };
    let mut output = Output::new(options)
        .map_err(|error| Failure::new(1, format!("cannot write the output: {error}")))?;
    let mut pes = Vec::new();
    for rank in 0..options.pes {
        match launch.start(rank, &mut output) {
            Ok(pe) => pes.push(pe),
            Err(failure) => {
                processes::end_all(&pes.iter().map(|pe: &Pe| pe.pid).collect::<Vec<_>>());
                return Err(failure);
            }
        }
    }
    // All PEs execute it: the file may go.
    drop(program);
    let job = Job::new(options.pes, &format!("kvs_{}", std::process::id()));
    let running = Running {
        job: job.on_nodes_of(options.per_node.unwrap_or(options.pes)),
        pes,
        output,
        signals,
        device,
        guard: sys::parent(),
        kills_before,
        timeout: options.timeout.map(|time| (Instant::now() + time, time)),
        state: State::Going,
    };
    Ok(running.run())
}

/// What the PEs execute.
enum Program {
    File(PathBuf),
    Compiled(compile::Compiled),
}

impl Program {
    fn prepare(
        options: &Options,
        place: &Installation,
        signals: &Signals,
    ) -> Result<Self, Failure> {
        let name = Path::new(&options.program);
        match program::source_language(name) {
            Some(language) => {
                program::check_source(name)?;
                compile::compile(name, language, place, signals).map(Program::Compiled)
            }
            None => program::find(&options.program, std::env::var_os("PATH").as_deref())
                .map(Program::File),
        }
    }

    fn executable(&self) -> &Path {
        match self {
            Program::File(path) => path,
            Program::Compiled(compiled) => &compiled.executable,
        }
    }

    /// What the program finds as its own name.
    fn name<'a>(&'a self, options: &'a Options) -> &'a std::ffi::OsStr {
        match self {
            Program::File(_) => &options.program,
            Program::Compiled(compiled) => compiled.executable.as_os_str(),
        }
    }
}

/// The status that a shell sees for the `code` by which a PE has ended the job: its low eight bits,
/// but 0 for 0 alone.
fn exit_status(code: i32) -> i32 {
    match code & 0xff {
        0 if code != 0 => 1,
        status => status,
    }
}

/// How far the job has come.
#[derive(Debug)]
enum State {
    Going,
    /// Something went wrong; an abort may still explain it.
    Settling {
        fault: Fault,
        until: Instant,
    },
    /// The PEs were told to end.
    Ending {
        status: i32,
        until: Instant,
    },
}

struct Running<'a> {
    job: Job,
    pes: Vec<Pe>,
    output: Output,
    signals: &'a Signals,
    device: Option<&'a Device>,
    /// The parent process: when it is gone there is nobody to be gentle for.
    guard: i32,
    kills_before: u64,
    /// When the job is to end, and the time that it was given.
    timeout: Option<(Instant, Duration)>,
    state: State,
}

#[derive(Clone, Copy)]
enum Token {
    Signals,
    Device,
    Pe(usize),
    Output(output::Token),
}

impl Running<'_> {
    fn run(mut self) -> i32 {
        while !self.is_over() {
            self.wait();
            self.take_signals();
            self.check_time();
        }
        let (status, forced) = match std::mem::replace(&mut self.state, State::Going) {
            State::Going => (self.job.status(), false),
            State::Settling { fault, .. } => {
                self.report_fault(&fault);
                (self.status_of(&fault), true)
            }
            State::Ending { status, .. } => (status, true),
        };
        let alive: Vec<_> = self
            .pes
            .iter()
            .filter(|pe| pe.alive)
            .map(|pe| pe.pid)
            .collect();
        processes::end_all(&alive);
        let signals = self.signals;
        let stop = || std::iter::from_fn(|| signals.next()).any(|signal| signal != libc::SIGCHLD);
        let all = self.output.finish(forced.then_some(LAST_WORDS), stop);
        // What could not be written is a failure, if no other has come before.
        if status == 0 && !all { 1 } else { status }
    }

    fn is_over(&self) -> bool {
        let gone = self.pes.iter().all(|pe| !pe.alive);
        match self.state {
            State::Ending { until, .. } => {
                Instant::now() >= until
                    || sys::parent() != self.guard
                    || (gone && processes::descendants().is_empty())
            }
            State::Going | State::Settling { .. } => gone,
        }
    }

    /// Waits for something to happen and serves PEs and output.
    fn wait(&mut self) {
        let mut watches = vec![sys::watch(self.signals, false)];
        let mut tokens = vec![Token::Signals];
        if !matches!(self.state, State::Ending { .. }) {
            if let Some(device) = self.device {
                watches.push(sys::watch(device, false));
                tokens.push(Token::Device);
            }
            for (rank, pe) in self.pes.iter().enumerate() {
                if let Some(watch) = pe.connection.watch() {
                    watches.push(watch);
                    tokens.push(Token::Pe(rank));
                }
            }
        }
        for (watch, token) in self.output.watches() {
            watches.push(watch);
            tokens.push(Token::Output(token));
        }
        sys::poll(&mut watches, self.patience());
        for (watch, token) in watches.iter().zip(tokens) {
            match token {
                _ if watch.revents == 0 => {}
                Token::Signals => {}
                Token::Device => self.lose_device(),
                Token::Pe(rank) => self.serve(rank),
                Token::Output(token) => drop(self.output.serve(token)),
            }
        }
    }

    /// How long to wait at most.
    fn patience(&self) -> Option<Duration> {
        let next = match self.state {
            State::Going => self.timeout.map(|(at, _)| at),
            State::Settling { until, .. } => Some(until),
            State::Ending { until, .. } => Some(until.min(Instant::now() + STEP)),
        };
        next.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Reads a part of the bytes that a PE has sent, and acts on the lines.
    fn serve(&mut self, rank: usize) {
        self.pes[rank].connection.take_turn();
        self.take_lines(rank);
    }

    /// Acts on the lines that were read from a PE, until one of them ends the job.
    fn take_lines(&mut self, rank: usize) {
        while !matches!(self.state, State::Ending { .. }) {
            let effects = match self.pes[rank].connection.next_line() {
                Ok(Some(line)) => self.job.receive(rank, &line),
                Ok(None) => return,
                Err(error) => vec![Effect::Fault(Fault::Garbage {
                    rank,
                    what: error.to_string(),
                })],
            };
            for effect in effects {
                self.carry_out(effect);
            }
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Reply { rank, line } => self.pes[rank].connection.send(&line),
            Effect::Abort {
                rank,
                code,
                message,
            } => {
                if matches!(self.state, State::Ending { .. }) {
                    return;
                }
                if let Some(message) = message {
                    report::line(&format!(
                        "PE {rank} ended the job with status {code}: {message}"
                    ));
                }
                self.begin_ending(exit_status(code));
            }
            Effect::Fault(fault) => {
                if let Fault::Garbage { rank, .. } = &fault {
                    self.pes[*rank].connection.ignore();
                }
                self.begin_settling(fault);
            }
        }
    }

    fn take_signals(&mut self) {
        while let Some(signal) = self.signals.next() {
            if signal == libc::SIGCHLD {
                while let Ok(Some((pid, departure))) = sys::reap() {
                    if let Some(rank) = self.pes.iter().position(|pe| pe.alive && pe.pid == pid) {
                        self.pes[rank].alive = false;
                        self.leave(rank, departure);
                    }
                }
            } else if !matches!(self.state, State::Ending { .. }) {
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

    /// Without the device PEs wait for ever, or fail in ways that explain less.
    fn lose_device(&mut self) {
        if let Some(device) = self.device
            && !matches!(self.state, State::Ending { .. })
        {
            report::line(&device.loss());
            self.begin_ending(1);
        }
    }

    fn leave(&mut self, rank: usize, departure: fi_bootstrap::server::Departure) {
        if matches!(self.state, State::Ending { .. }) {
            return;
        }
        // Its last words may have been finalize or abort.
        self.pes[rank].connection.close();
        self.take_lines(rank);
        if let Some(fault) = self.job.depart(rank, departure) {
            self.begin_settling(fault);
        }
    }

    fn check_time(&mut self) {
        let now = Instant::now();
        match &self.state {
            State::Settling { fault, until } if now >= *until => {
                let fault = fault.clone();
                self.report_fault(&fault);
                self.begin_ending(self.status_of(&fault));
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

    /// The first PE that failed gives the job its status, be it that another's fault ended the job.
    fn status_of(&self, fault: &Fault) -> i32 {
        match self.job.status() {
            0 => fault.status(),
            status => status,
        }
    }

    fn report_fault(&mut self, fault: &Fault) {
        // The PEs' own words explain it better.
        self.output.catch_up();
        let pids: Vec<_> = self.pes.iter().map(|pe| pe.pid).collect();
        let out_of_memory = report::out_of_memory_kills() > self.kills_before;
        report::line(&report::fault(fault, &pids, out_of_memory));
    }

    /// The first fault is the one that counts.
    fn begin_settling(&mut self, fault: Fault) {
        if matches!(self.state, State::Going) {
            self.state = State::Settling {
                fault,
                until: Instant::now() + SETTLE,
            };
        }
    }

    fn begin_ending(&mut self, status: i32) {
        processes::signal_all(libc::SIGTERM);
        processes::signal_all(libc::SIGCONT);
        self.state = State::Ending {
            status,
            until: Instant::now() + GRACE,
        };
    }
}
