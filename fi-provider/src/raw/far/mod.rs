//! Peers beyond the node, over the domain's device.
//!
//! * A device (`device`) is the domain's; each endpoint has two lanes on it (`hub`): one for
//!   records, whose queues stall where a receiver has no room, and one for memory (`memory`).
//! * Processes find each other by datagrams (`exchange`, `wire`), which the domain's thread
//!   answers: two endpoints connect queue pairs (RC), or learn of each other's targets (DC).
//! * Operations on memory are noted (`log`) by the entries that do them.
//! * Records are those of a ring of the node (`path`, `arrivals`): sent into the shared receive
//!   queue of the endpoint, within the credits that it has given. It writes back into the sender's
//!   memory the number of taken ones.
//! * The descriptor that an endpoint sleeps on holds the file of its queues' events (`waiting`).
//! * A queue that fails is replaced, unless the peer is gone (`mend`).

#![expect(
    unsafe_code,
    reason = "posts the entries that tell of those before them"
)]

use crate::device::Gate;
use crate::raw::waker::Set;
use arrivals::Arrivals;
use fi_mlx5::lane::{Lane as Queues, Nobody};
use fi_mlx5::receives::Receives;
use hub::Hub;
use lane::Lane;
use log::Log;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use traffic::Traffic;
pub use transport::Transport;

pub(crate) mod arrivals;
pub(crate) mod device;
pub(crate) mod exchange;
pub(crate) mod hub;
pub(crate) mod lane;
pub(crate) mod log;
pub(crate) mod lone;
pub(crate) mod mark;
pub(crate) mod memory;
mod mend;
pub(crate) mod path;
mod quick;
mod take;
pub(crate) mod traffic;
pub(crate) mod transport;
pub(crate) mod vector;
mod waiting;
pub(crate) mod wire;

/// Queues that are gone through in a turn that finds nothing, whether they are idle or not.
const FEW_QUEUES: usize = 16;

/// The side of an endpoint that goes by the device: of its thread.
#[derive(Debug)]
pub(crate) struct Far {
    pub(crate) receives: Receives,
    /// The first buffer of the receives, and the bytes from one to the next.
    buffers: (*mut u8, usize),
    pub(crate) arrivals: RefCell<Arrivals>,
    /// Logs by the queues of the memory lane.
    logs: RefCell<Vec<Option<Rc<Log>>>>,
    /// The one of the queue whose completion was taken last, if it has its queue; else nobody's.
    latest: Cell<*const Log>,
    nobody: Box<(Log, Nobody)>,
    pub(crate) traffic: Rc<Traffic>,
    /// The address vectors of peers that are gone: of their targets, as they lie in entries.
    gone: RefCell<HashSet<[u64; 2]>>,
    /// Turns that have found something since one that has not, modulo 256.
    busy_turns: Cell<u8>,
    /// Turns that have found nothing where something was waited for, and when peers were probed.
    idle_turns: Cell<u32>,
    probed: Cell<Instant>,
    /// Failures of queues so far for which nothing is to do any more.
    known_faults: Cell<usize>,
    /// Made when the endpoint is to sleep for the first time.
    both: OnceCell<Set>,
    pub(crate) hub: Arc<Hub>,
}

impl Far {
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        let queue = Nobody::default();
        let nobody = Box::new((Log::new(u32::MAX, Some(queue.lone()), None, 1), queue));
        Self {
            receives: arrivals::receives(&hub),
            buffers: (hub.buffer(0), hub.buffer(1).addr() - hub.buffer(0).addr()),
            arrivals: RefCell::default(),
            logs: RefCell::default(),
            latest: Cell::new(&raw const nobody.0),
            nobody,
            traffic: Rc::default(),
            gone: RefCell::default(),
            busy_turns: Cell::new(0),
            idle_turns: Cell::new(0),
            probed: Cell::new(Instant::now()),
            known_faults: Cell::new(0),
            both: OnceCell::new(),
            hub,
        }
    }

    /// Returns the address of buffer `index` of the receives.
    #[inline(always)]
    pub(crate) fn buffer(&self, index: u16) -> *mut u8 {
        let (first, bytes) = self.buffers;
        first.wrapping_add(usize::from(index) * bytes)
    }

    /// Returns the header of the message in buffer `index` of the receives.
    #[inline(always)]
    pub(crate) fn header(&self, index: u16) -> u64 {
        // SAFETY: the buffer is aligned, and has room for a header at least; the device has written
        // it, or writes none while the buffer is this side's.
        unsafe { self.buffer(index).cast::<u64>().read() }
    }

    /// Returns whether a turn is to look for more than messages and completions, though it has
    /// found some: one of each so many.
    #[inline(always)]
    pub(crate) fn is_time_for_more(&self) -> bool {
        let turns = self.busy_turns.get().wrapping_add(1);
        self.busy_turns.set(turns);
        turns == 0
    }

    /// Notes that nothing is outstanding or waited for.
    pub(crate) fn note_rest(&self) {
        self.traffic.is_busy.set(false);
        self.idle_turns.set(0);
    }

    /// Notes a turn that has looked for everything.
    pub(crate) fn note_whole_turn(&self) {
        self.busy_turns.set(0);
    }

    /// Returns whether there are so many queues that those that are idle are left out where all are
    /// gone through.
    pub(crate) fn has_many_queues(&self) -> bool {
        self.logs.borrow().len() > FEW_QUEUES
    }

    /// Returns the log of the queue by which memory of peer `number` is accessed, which is there.
    pub(crate) fn log(&self, number: u32) -> Rc<Log> {
        let lane = self.lane(Lane::Memory);
        let queue = lane.queue_to(number);
        let mut logs = self.logs.borrow_mut();
        if logs.len() <= queue as usize {
            logs.resize_with(queue as usize + 1, || None);
        }
        let log = logs[queue as usize].get_or_insert_with(|| {
            // Nothing was posted yet but entries without an operation.
            let log = Log::new(queue, lane.lone(queue), Some(lane), lane.blocks(queue));
            log.go_on(lane.posted(queue));
            Rc::new(log)
        });
        Rc::clone(log)
    }

    /// Notes the log of the queue whose completion was taken last: one of `logs`.
    #[inline(always)]
    fn note_latest(&self, log: &Rc<Log>) {
        self.latest.set(match log.lone {
            Some(_) => Rc::as_ptr(log),
            None => &raw const self.nobody.0,
        });
    }

    /// Returns the log of the queue whose completion was taken last, if it has its queue: one that
    /// has its queue in any case.
    #[inline(always)]
    fn latest(&self) -> &Log {
        // SAFETY: nobody's, or one of `logs`, from which none is ever taken: there as long as this.
        unsafe { &*self.latest.get() }
    }

    /// Returns the log of the initiator by which memory of all peers is accessed, if there was any.
    fn initiator_log(&self) -> Option<Rc<Log>> {
        self.logs.borrow().first().cloned().flatten()
    }

    fn all_logs(&self) -> Vec<Rc<Log>> {
        self.logs.borrow().iter().flatten().cloned().collect()
    }

    /// Returns the gate of a lane.
    fn gate(&self, lane: Lane) -> &Gate {
        match lane {
            Lane::Messages => &self.hub.messages,
            Lane::Memory => &self.hub.memory,
        }
    }

    fn lane(&self, lane: Lane) -> &Queues {
        self.gate(lane).lane()
    }

    /// Failures of queues so far.
    fn faults(&self) -> usize {
        let [messages, memory] = [Lane::Messages, Lane::Memory].map(|lane| self.lane(lane));
        messages.faults_so_far() + memory.faults_so_far()
    }

    /// Returns whether failures ask for something.
    pub(crate) fn has_to_mend(&self) -> bool {
        self.faults() != self.known_faults.get()
    }

    /// Has completions come for all that is outstanding, and lets the device act. Returns whether
    /// something is.
    pub(crate) fn let_act(&self, tidies: bool) -> bool {
        let lanes = [Lane::Messages, Lane::Memory].map(|lane| self.lane(lane));
        // SAFETY: this thread alone uses the lanes.
        let idle = lanes.map(|lane| unsafe { lane.ask(tidies) });
        let is_busy = idle.contains(&false);
        if is_busy {
            self.hub.device.kick();
        }
        is_busy
    }

    /// Takes the completions that are there, and reports nothing.
    pub(crate) fn drain(&self) {
        for lane in [Lane::Messages, Lane::Memory] {
            while self.lane(lane).take_next().is_some() {}
        }
    }

    /// Returns whether no operation on memory is under way.
    pub(crate) fn is_quiet(&self) -> bool {
        let lane = self.lane(Lane::Memory);
        let logs = self.logs.borrow();
        logs.iter()
            .flatten()
            .all(|log| log.is_empty(lane.posted(log.queue)))
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        // Operations may have links, which have the logs.
        for log in self.all_logs() {
            log.take_all(self.lane(Lane::Memory).posted(log.queue));
        }
    }
}
