//! The model of time: operations under way between the sight of an entry and its completion.
//!
//! Each entry is taken from its ring when it is seen. Its course is computed then; its effect takes
//! place at the time when that is visible in the responder's memory, and its data and completion
//! come to
//! the requester's at theirs. All is done in the order of those times, whenever a step comes.

use super::Engine;
use super::memory::{Fault, Memory};
use super::queue::{Outcome, QueuePair};
use super::receive::Responder;
use super::region::Span;
use super::schedule::wants_completion;
use super::transaction::{Content, Direction, Port, Role, Trace, Transaction, TransactionKind};
use super::transfer::{Side, Source, copy};
use super::types::{AsyncKind, Latencies, Pid, QpKind, QpState};
use fi_mlx5_defs::decode::{Operation, Piece, Service, control, request};
use fi_mlx5_defs::doorbell::BLUEFLAME_HALF;
use fi_mlx5_defs::opcode::Syndrome;
use fi_mlx5_defs::wqe::{BASIC_BLOCK, Control};
use std::collections::{BTreeSet, VecDeque};
use std::mem::take;

/// Values of the fence field of a control segment from here on wait for reads and atomics.
const FENCED: u8 = 2;

/// The times of an operation, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Course {
    /// The request is at the responder's NIC.
    arrived: u64,
    /// The responder's memory is read or written.
    effect: u64,
    /// The answer is at the requester's NIC.
    answered: u64,
}

impl Course {
    /// Moves all times.
    fn later(self, by: u64) -> Self {
        Self {
            arrived: self.arrived + by,
            effect: self.effect + by,
            answered: self.answered + by,
        }
    }

    /// Keeps the order with the operation before it.
    fn behind(self, before: Self) -> Self {
        Self {
            arrived: self.arrived.max(before.arrived),
            effect: self.effect.max(before.effect),
            answered: self.answered.max(before.answered),
        }
    }
}

/// The legs of an operation's course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Legs {
    /// Ends at the requester's NIC.
    Local,
    /// Data goes there, and an acknowledgement comes back.
    There,
    /// Data is read there.
    Back,
    /// Data is read and written there.
    Both,
}

/// An entry whose effect is to come.
#[derive(Debug)]
struct Outward {
    operation: u64,
    index: u16,
    /// The entry; nothing where the ring holds none.
    bytes: Vec<u8>,
    course: Course,
    fenced: bool,
}

/// An operation whose completion is to come.
#[derive(Debug)]
struct Homeward {
    operation: u64,
    index: u16,
    control: Control,
    answered: u64,
    outcome: Result<u32, Syndrome>,
    /// Data for the requester's memory.
    data: Vec<(Pid, u64, Vec<u8>)>,
}

/// The operations of a queue pair that are under way.
#[derive(Debug, Default)]
pub(super) struct Underway {
    outward: VecDeque<Outward>,
    homeward: VecDeque<Homeward>,
    /// Time when the NIC had sent the last entry.
    sent: u64,
    /// Time when the last answer with data is at the NIC.
    brought: u64,
    /// The course of the last operation that took effect.
    before: Course,
    /// An event tells when it has drained.
    pub(super) tells_drained: bool,
}

impl Underway {
    pub(super) fn is_empty(&self) -> bool {
        self.outward.is_empty() && self.homeward.is_empty()
    }

    /// Returns the next event, and its time; data takes `home` from the NIC to the memory.
    fn next(&self, home: u64) -> Option<(u64, Event)> {
        let landing = self.homeward.front().map(|first| first.answered + home);
        let failed = self.homeward.iter().any(|op| op.outcome.is_err());
        let effect = self.outward.front().filter(|_| !failed).map(|first| {
            let brought = self.homeward.iter().rev().find(|op| !op.data.is_empty());
            let fence = brought.filter(|_| first.fenced);
            let fence = fence.map_or(0, |op| op.answered + home);
            first.course.behind(self.before).effect.max(fence)
        });
        match (landing, effect) {
            (Some(landing), Some(effect)) if effect < landing => Some((effect, Event::Effect)),
            (Some(landing), _) => Some((landing, Event::Landing)),
            (None, Some(effect)) => Some((effect, Event::Effect)),
            (None, None) => None,
        }
    }

    /// Returns the earliest time of a transaction that is not noted yet.
    fn untold(&self) -> Option<u64> {
        let outward = self.outward.front();
        let outward = outward.map(|first| first.course.behind(self.before).arrived);
        let homeward = self.homeward.front().map(|first| first.answered);
        outward.into_iter().chain(homeward).min()
    }
}

/// An event of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// Its effect on the responder's memory.
    Effect,
    /// Its data and completion in the requester's.
    Landing,
}

/// The operation that takes effect now.
#[derive(Debug)]
struct Current {
    operation: u64,
    course: Course,
    data: Vec<(Pid, u64, Vec<u8>)>,
}

/// Everything that is under way.
#[derive(Debug)]
pub(super) struct Flights {
    latencies: Latencies,
    /// Queue pairs with something under way.
    aloft: BTreeSet<u32>,
    current: Option<Current>,
    operations: u64,
    trace: Option<Trace>,
}

impl Flights {
    pub(super) fn new(latencies: Latencies, traced: bool) -> Self {
        Self {
            latencies,
            aloft: BTreeSet::new(),
            current: None,
            operations: 0,
            trace: traced.then(Trace::default),
        }
    }

    /// Returns the time from a NIC to its memory, in ns, until a write is visible there.
    fn home(&self) -> u64 {
        self.latencies.pcie + self.latencies.memory
    }

    fn course(&self, legs: Legs, sent: u64) -> Course {
        let (way, network) = (self.latencies.pcie, self.latencies.network());
        let arrived = sent + network;
        let (effect, answered) = match legs {
            Legs::Local => {
                return Course {
                    arrived: sent,
                    effect: sent,
                    answered: sent,
                };
            }
            Legs::There => (arrived + self.home(), arrived + network),
            Legs::Back => (arrived + way, arrived + 2 * way + network),
            Legs::Both => (arrived + 2 * way + self.home(), arrived + 2 * way + network),
        };
        Course {
            arrived,
            effect,
            answered,
        }
    }
}

/// The facts about an entry that the NIC needs before it sends it.
struct Plan {
    legs: Legs,
    fenced: bool,
    /// Bytes of its payload, as they are read by DMA.
    gathered: Vec<u64>,
}

impl Plan {
    fn of(kind: QpKind, bytes: &[u8]) -> Option<Self> {
        let service = match kind {
            QpKind::Rc | QpKind::Uc => Service::Connected,
            _ => Service::Addressed,
        };
        let request = request(bytes, service).ok()?;
        let legs = match request.operation {
            Operation::Nop | Operation::Other(_) => Legs::Local,
            Operation::Send(_) | Operation::Write(..) => Legs::There,
            Operation::Read(_) => Legs::Back,
            Operation::Atomic(..) => Legs::Both,
        };
        let pieces = request.pieces.collect().ok()?;
        let local = pieces.iter().filter(|piece| {
            legs == Legs::There && matches!(piece, Piece::Local { .. }) && !piece.is_empty()
        });
        Some(Self {
            legs,
            fenced: request.control.flags >> 5 >= FENCED,
            gathered: local.map(Piece::len).collect(),
        })
    }
}

/// Memory whose writes are kept for later.
struct Keeping<'a> {
    memory: &'a mut dyn Memory,
    kept: &'a mut Vec<(Pid, u64, Vec<u8>)>,
}

impl Memory for Keeping<'_> {
    fn read(&mut self, process: Pid, addr: u64, buf: &mut [u8]) -> Result<(), Fault> {
        self.memory.read(process, addr, buf)
    }

    fn write(&mut self, process: Pid, addr: u64, data: &[u8]) -> Result<(), Fault> {
        self.kept.push((process, addr, data.to_vec()));
        Ok(())
    }
}

impl Engine {
    /// Takes an entry of `length` blocks that was just seen; `bytes` is empty where it is none.
    pub(super) fn take_off(
        &mut self,
        memory: &mut dyn Memory,
        handle: u32,
        (index, length): (u16, u16),
        bytes: &[u8],
    ) {
        // It may have been posted after the step has begun.
        let seen = memory.time(self.now);
        let (Some(flights), Some(qp)) = (&mut self.flights, self.qps.get_mut(handle)) else {
            return;
        };
        flights.operations += 1;
        flights.aloft.insert(handle);
        let way = flights.latencies.pcie;
        let port = requester(handle, qp, flights.operations);
        let plan = Plan::of(qp.init.kind, bytes).unwrap_or(Plan {
            legs: Legs::Local,
            fenced: false,
            gathered: Vec::new(),
        });
        let trace = &mut flights.trace;
        let size = u64::from(length) * BASIC_BLOCK as u64;
        let rung = (Direction::Down, TransactionKind::MemoryWrite);
        let mut sent = seen + way;
        if size > BLUEFLAME_HALF {
            if let Some(trace) = trace {
                trace.note(&port, sent, rung, Content::Doorbell, 8);
                trace.read(&port, sent, way, Content::Entry, size);
            }
            sent += 2 * way;
        } else if let Some(trace) = trace {
            trace.note(&port, sent, rung, Content::Post, size);
        }
        if plan.fenced {
            sent = sent.max(qp.underway.brought);
        }
        for bytes in &plan.gathered {
            if let Some(trace) = trace {
                trace.read(&port, sent, way, Content::Payload, *bytes);
            }
        }
        if !plan.gathered.is_empty() {
            sent += 2 * way;
        }
        sent = sent.max(qp.underway.sent);
        qp.underway.sent = sent;
        let course = flights.course(plan.legs, sent);
        if matches!(plan.legs, Legs::Back | Legs::Both) {
            qp.underway.brought = qp.underway.brought.max(course.answered);
        }
        qp.underway.outward.push_back(Outward {
            operation: flights.operations,
            index,
            bytes: bytes.to_vec(),
            course,
            fenced: plan.fenced,
        });
    }

    /// Does all that is due. The progress tells when something is next, and the transactions
    /// before.
    pub(super) fn fly(&mut self, memory: &mut dyn Memory) {
        let Some(flights) = &mut self.flights else {
            return;
        };
        let home = flights.home();
        let aloft: Vec<u32> = flights.aloft.iter().copied().collect();
        for handle in aloft {
            if self
                .qps
                .get(handle)
                .is_some_and(|qp| qp.state() == QpState::Error)
            {
                self.flush_flights(memory, handle);
            }
        }
        // Those that wait for their peer: one attempt a step.
        let mut waiting = BTreeSet::new();
        while let Some((_, event, handle)) = self.next_event(home, &waiting, Some(self.now)) {
            match event {
                Event::Landing => self.land(memory, handle),
                Event::Effect if self.take_effect(memory, handle) => {}
                Event::Effect => {
                    waiting.insert(handle);
                }
            }
        }
        self.progress.due = self.next_event(home, &waiting, None).map(|(due, ..)| due);
        self.tell(&waiting);
    }

    /// Returns the next event of all queue pairs but some, by a time.
    fn next_event(
        &mut self,
        home: u64,
        but: &BTreeSet<u32>,
        by: Option<u64>,
    ) -> Option<(u64, Event, u32)> {
        let flights = self.flights.as_mut()?;
        let qps = &self.qps;
        let has_any = |handle: &u32| qps.get(*handle).is_some_and(|qp| !qp.underway.is_empty());
        flights.aloft.retain(has_any);
        let others = flights.aloft.iter().filter(|handle| !but.contains(handle));
        let events = others.filter_map(|handle| {
            let qp = qps.get(*handle)?;
            let moves = matches!(qp.state(), QpState::ReadyToSend | QpState::SendDrained);
            let (time, event) = qp.underway.next(home).filter(|_| moves)?;
            Some((time, event, *handle))
        });
        let next = events.min()?;
        by.is_none_or(|by| next.0 <= by).then_some(next)
    }

    /// Executes the first operation of a queue pair that has not been; false when it waits.
    fn take_effect(&mut self, memory: &mut dyn Memory, handle: u32) -> bool {
        let now = self.now;
        let (Some(flights), Some(qp)) = (&mut self.flights, self.qps.get_mut(handle)) else {
            return true;
        };
        let home = flights.home();
        let due = qp.underway.next(home).map_or(now, |(due, _)| due);
        let Some(flight) = qp.underway.outward.pop_front() else {
            return true;
        };
        let mut course = flight.course.behind(qp.underway.before);
        // An operation that had to wait has come when it could be done.
        let came = if qp.waiting.is_some() { now } else { due };
        course = course.later(came.saturating_sub(course.effect));
        flights.current = Some(Current {
            operation: flight.operation,
            course,
            data: Vec::new(),
        });
        let outcome = match flight.bytes.is_empty() {
            true => Outcome::Failed(Syndrome::LocalQpOperation),
            false => self.execute(memory, handle, &flight.bytes),
        };
        let outcome = self.patience(handle, outcome);
        let current = self
            .flights
            .as_mut()
            .and_then(|flights| flights.current.take());
        let Some(qp) = self.qps.get_mut(handle) else {
            return true;
        };
        let outcome = match outcome {
            Outcome::Wait(_) => {
                qp.underway.outward.push_front(flight);
                self.progress.waiting = true;
                return false;
            }
            Outcome::Done(bytes) => Ok(bytes),
            Outcome::Failed(syndrome) => Err(syndrome),
        };
        qp.underway.before = course;
        qp.underway.homeward.push_back(Homeward {
            operation: flight.operation,
            index: flight.index,
            control: control(&flight.bytes).unwrap_or_default(),
            answered: course.answered,
            outcome,
            data: current.map(|current| current.data).unwrap_or_default(),
        });
        self.progress.worked = true;
        true
    }

    /// Writes the data and the completion of the first operation that has its answer.
    fn land(&mut self, memory: &mut dyn Memory, handle: u32) {
        let Some(qp) = self.qps.get_mut(handle) else {
            return;
        };
        let Some(flight) = qp.underway.homeward.pop_front() else {
            return;
        };
        self.progress.worked = true;
        let mut writes = flight.data.iter();
        let written = writes.try_for_each(|(pid, addr, data)| memory.write(*pid, *addr, data));
        let outcome = match written {
            Ok(()) => flight.outcome,
            Err(Fault) => Err(Syndrome::LocalProtection),
        };
        let drained = qp.underway.is_empty() && take(&mut qp.underway.tells_drained);
        let (context, element) = (qp.context, qp.init.user_handle);
        let port = requester(handle, qp, flight.operation);
        if let (Ok(bytes), false) = (outcome, flight.data.is_empty()) {
            self.trace_write(&port, flight.answered, Content::Payload, bytes.into());
        }
        if drained {
            self.raise(context, AsyncKind::SendQueueDrained, element);
        }
        let control = flight.control;
        if outcome.is_err() || wants_completion(&control) {
            let bytes = outcome.unwrap_or(0);
            let index = flight.index;
            let written = self.complete_send(memory, handle, index, &control, outcome.err(), bytes);
            self.trace_write(&port, flight.answered, Content::CompletionEntry, 64);
            self.goes_on(handle, outcome.err(), written);
        }
    }

    /// Flushes the operations under way of a queue pair in error.
    pub(super) fn flush_flights(&mut self, memory: &mut dyn Memory, handle: u32) {
        let Some(qp) = self.qps.get_mut(handle) else {
            return;
        };
        let underway = take(&mut qp.underway);
        let homeward = underway
            .homeward
            .iter()
            .map(|op| (op.operation, op.index, op.control));
        let outward = underway.outward.iter().map(|op| {
            let control = control(&op.bytes).unwrap_or_default();
            (op.operation, op.index, control)
        });
        for (operation, index, control) in homeward.chain(outward) {
            self.complete_send(memory, handle, index, &control, Some(Syndrome::Flushed), 0);
            self.trace_flush(handle, Role::Requester, operation);
            self.progress.worked = true;
        }
    }

    /// Copies to the requester's memory, or keeps for when the data is there.
    pub(super) fn bring(
        &mut self,
        memory: &mut dyn Memory,
        sources: &[Source<'_>],
        destinations: &[Span],
    ) -> Result<(), Side> {
        let current = self
            .flights
            .as_mut()
            .and_then(|flights| flights.current.as_mut());
        let Some(current) = current else {
            return copy(memory, sources, destinations, &mut self.scratch);
        };
        let kept = &mut current.data;
        copy(
            &mut Keeping { memory, kept },
            sources,
            destinations,
            &mut self.scratch,
        )
    }

    /// Notes that the responder's NIC writes.
    pub(super) fn trace_delivery(&mut self, responder: &Responder, what: Content, bytes: u64) {
        if let Some((port, course)) = self.answering_port(responder)
            && bytes > 0
        {
            self.trace_write(&port, course.arrived, what, bytes);
        }
    }

    /// Notes that the responder's NIC reads, and with `writes` that it writes as much afterwards.
    pub(super) fn trace_fetch(&mut self, responder: &Responder, bytes: u64, writes: bool) {
        let Some((port, course)) = self.answering_port(responder).filter(|_| bytes > 0) else {
            return;
        };
        let Some(flights) = &mut self.flights else {
            return;
        };
        let way = flights.latencies.pcie;
        if let Some(trace) = &mut flights.trace {
            trace.read(&port, course.arrived, way, Content::Payload, bytes);
        }
        if writes {
            self.trace_write(&port, course.arrived + 2 * way, Content::Payload, bytes);
        }
    }

    fn answering_port(&self, responder: &Responder) -> Option<(Port, Course)> {
        let current = self.flights.as_ref()?.current.as_ref()?;
        let port = Port {
            queue_pair: responder.handle,
            process: responder.pid,
            side: Role::Responder,
            operation: current.operation,
        };
        Some((port, current.course))
    }

    /// Notes the completion of something that is flushed now.
    pub(super) fn trace_flush(&mut self, handle: u32, side: Role, operation: u64) {
        if let Some(qp) = self.qps.get(handle) {
            let port = Port {
                side,
                ..requester(handle, qp, operation)
            };
            self.trace_write(&port, self.now, Content::CompletionEntry, 64);
        }
    }

    /// Notes that a NIC writes at a time.
    fn trace_write(&mut self, port: &Port, time: u64, what: Content, bytes: u64) {
        if let Some(flights) = &mut self.flights
            && let Some(trace) = &mut flights.trace
        {
            trace.write(port, time, flights.latencies.pcie, what, bytes);
        }
    }

    /// Hands out the transactions before which nothing can be noted any more.
    fn tell(&mut self, waiting: &BTreeSet<u32>) {
        let Some(flights) = &mut self.flights else {
            return;
        };
        let Some(trace) = &mut flights.trace else {
            return;
        };
        let qps = &self.qps;
        let mut end = self.now;
        for handle in &flights.aloft {
            let Some(underway) = qps.get(*handle).map(|qp| &qp.underway) else {
                continue;
            };
            let untold = match waiting.contains(handle) {
                false => underway.untold(),
                // It comes when it can be done, from now on.
                true => underway.outward.front().map(|first| {
                    let effect = self.now.max(first.course.effect);
                    effect - (first.course.effect - first.course.arrived)
                }),
            };
            let homeward = underway.homeward.front().map(|first| first.answered);
            end = untold.into_iter().chain(homeward).fold(end, u64::min);
        }
        self.progress.transactions.append(&mut trace.take(end));
    }

    /// Hands out all transactions that are noted: nothing comes any more.
    pub fn last_transactions(&mut self) -> Vec<Transaction> {
        let flights = self.flights.as_mut();
        let trace = flights.and_then(|flights| flights.trace.as_mut());
        trace.map(|trace| trace.take(u64::MAX)).unwrap_or_default()
    }
}

/// Returns the requester's NIC.
fn requester(handle: u32, qp: &QueuePair, operation: u64) -> Port {
    Port {
        queue_pair: handle,
        process: qp.pid,
        side: Role::Requester,
        operation,
    }
}
