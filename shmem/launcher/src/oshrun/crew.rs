//! The PEs of this host: started, served, watched, ended. A job on one machine has one crew; of a job on several hosts,
//! each host's agent has one.

use std::time::{Duration, Instant};

use fi_bootstrap::server::{Departure, Effect, Fault, Host, Left, Pair};

use super::output::{self, Output};
use super::pes::{Launch, Pe, Place};
use super::sys::{self, Watch};
use super::{Failure, processes, report};

/// Time that PEs have between SIGTERM and SIGKILL.
pub(super) const GRACE: Duration = Duration::from_millis(300);

/// The PEs of this host.
pub(super) struct Crew {
    host: Host,
    /// In ascending order, as the host has them.
    pes: Vec<Pe>,
    pub(super) output: Output,
    kills_before: u64,
    /// Time at which the PEs that are left are killed.
    ending: Option<Instant>,
}

/// A message of a host's PEs to the job.
#[derive(Debug)]
pub(super) enum Event {
    /// All of them stand in the barrier, and have put these values.
    Entered(Vec<Pair>),
    /// One has ended.
    Departed {
        left: Left,
        pid: i32,
        /// Whether the kernel has killed for lack of memory since the job began.
        out_of_memory: bool,
    },
    /// One ends the job.
    Abort {
        rank: usize,
        code: i32,
        message: Option<String>,
    },
    /// The job cannot go on.
    Fault(Fault),
}

/// An order of the job to each host.
#[derive(Debug, Clone)]
pub(super) enum Order {
    /// The barrier is open; these values were put since the last.
    Open(Vec<Pair>),
    /// A PE has ended that none is to wait for.
    Left(Left),
    /// End the PEs.
    End,
}

/// The owner of a [`Watch`] of [`Crew::watches`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Token {
    Pe(usize),
    Output(output::Token),
}

impl Crew {
    /// Starts all PEs of `host`, or none. Where several pretended nodes are on it, these have `per_node` PEs each.
    pub(super) fn start(
        launch: &Launch<'_>,
        host: Host,
        per_node: Option<usize>,
        mut output: Output,
    ) -> Result<Self, Failure> {
        let kills_before = report::out_of_memory_kills();
        let mut pes: Vec<Pe> = Vec::new();
        let count = host.ranks().len();
        for (here, rank) in host.ranks().enumerate() {
            let place = Place {
                rank,
                here,
                on_node: super::pes::on_node(here, count, per_node.unwrap_or(count)),
            };
            match launch.start(place, &mut output) {
                Ok(pe) => pes.push(pe),
                Err(failure) => {
                    processes::end_all(&pes.iter().map(|pe| pe.pid).collect::<Vec<_>>());
                    return Err(failure);
                }
            }
        }
        Ok(Crew {
            host,
            pes,
            output,
            kills_before,
            ending: None,
        })
    }

    /// Returns the PE `rank`, if it is of this host.
    pub(super) fn pe(&mut self, rank: usize) -> Option<&mut Pe> {
        let index = self.pes.binary_search_by_key(&rank, |pe| pe.rank).ok()?;
        self.pes.get_mut(index)
    }

    /// Returns the descriptors to poll, with their owners.
    pub(super) fn watches(&self) -> Vec<(Watch, Token)> {
        let connection =
            |(index, pe): (usize, &Pe)| Some((pe.connection.watch()?, Token::Pe(index)));
        // PEs that are to end are not heard any more.
        let pes = self.pes.iter().enumerate().filter_map(connection);
        let pes = pes.filter(|_| self.ending.is_none());
        let output = self.output.watches();
        let output = output.map(|(watch, token)| (watch, Token::Output(token)));
        pes.chain(output).collect()
    }

    /// Serves a descriptor that poll has found ready.
    pub(super) fn serve(&mut self, token: Token) -> Vec<Event> {
        match token {
            Token::Pe(index) => {
                self.pes[index].connection.take_turn();
                self.take_lines(index)
            }
            Token::Output(token) => {
                self.output.serve(token);
                Vec::new()
            }
        }
    }

    /// Acts on the lines that were read from a PE.
    fn take_lines(&mut self, index: usize) -> Vec<Event> {
        let mut events = Vec::new();
        while self.ending.is_none() {
            let rank = self.pes[index].rank;
            let effects = match self.pes[index].connection.next_line() {
                Ok(Some(line)) => self.host.receive(rank, &line),
                Ok(None) => break,
                Err(error) => vec![Effect::Fault(Fault::Garbage {
                    rank,
                    what: error.to_string(),
                })],
            };
            let over = effects
                .iter()
                .any(|effect| matches!(effect, Effect::Abort { .. }));
            self.carry_out(effects, &mut events);
            if over {
                break;
            }
        }
        events
    }

    /// Answers PEs; effects on the job become events.
    fn carry_out(&mut self, effects: Vec<Effect>, events: &mut Vec<Event>) {
        for effect in effects {
            match effect {
                Effect::Reply { rank, line } => {
                    if let Some(pe) = self.pe(rank) {
                        pe.connection.send(&line);
                    }
                }
                Effect::Entered { values } => events.push(Event::Entered(values)),
                Effect::Abort {
                    rank,
                    code,
                    message,
                } => events.push(Event::Abort {
                    rank,
                    code,
                    message,
                }),
                Effect::Fault(fault) => {
                    if let Fault::Garbage { rank, .. } = fault
                        && let Some(pe) = self.pe(rank)
                    {
                        pe.connection.ignore();
                    }
                    events.push(Event::Fault(fault));
                }
            }
        }
    }

    /// Reaps PEs, and processes that they have started.
    pub(super) fn reap(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Ok(Some((pid, departure))) = sys::reap() {
            let ended = |pe: &Pe| pe.alive && pe.pid == pid;
            if let Some(index) = self.pes.iter().position(ended) {
                self.pes[index].alive = false;
                events.extend(self.leave(index, departure));
            }
        }
        events
    }

    fn leave(&mut self, index: usize, departure: Departure) -> Vec<Event> {
        if self.ending.is_some() {
            return Vec::new();
        }
        // Its last words may have been finalize or abort.
        self.pes[index].connection.close();
        let mut events = self.take_lines(index);
        let pe = &self.pes[index];
        events.push(Event::Departed {
            left: self.host.depart(pe.rank, departure),
            pid: pe.pid,
            out_of_memory: report::out_of_memory_kills() > self.kills_before,
        });
        events
    }

    /// Carries out an order of the job.
    pub(super) fn obey(&mut self, order: Order) -> Vec<Event> {
        let mut events = Vec::new();
        match order {
            Order::Open(values) => {
                let replies = self.host.open(values);
                self.carry_out(replies, &mut events);
            }
            Order::Left(left) => events.extend(self.host.leave(left).map(Event::Fault)),
            Order::End => self.begin_ending(),
        }
        events
    }

    /// Asks all processes to end, with some time to do so.
    fn begin_ending(&mut self) {
        if self.ending.is_none() {
            processes::signal_all(libc::SIGTERM);
            processes::signal_all(libc::SIGCONT);
            self.ending = Some(Instant::now() + GRACE);
        }
    }

    /// Returns whether the processes of all PEs have ended.
    pub(super) fn is_gone(&self) -> bool {
        self.pes.iter().all(|pe| !pe.alive)
    }

    /// Returns whether an ending crew can be killed: it has had its time, or needs none.
    pub(super) fn is_due(&self) -> bool {
        self.ending.is_some_and(|until| Instant::now() >= until)
            || (self.is_gone() && processes::descendants().is_empty())
    }

    /// Kills the processes that are left, until there are none.
    pub(super) fn end_all(&mut self) {
        let alive = self.pes.iter().filter(|pe| pe.alive);
        processes::end_all(&alive.map(|pe| pe.pid).collect::<Vec<_>>());
        for pe in &mut self.pes {
            pe.alive = false;
        }
    }
}
