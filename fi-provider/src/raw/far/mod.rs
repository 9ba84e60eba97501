//! Peers beyond the node, over the domain's device.
//!
//! * A device (`device`) is the domain's; each endpoint has two lanes on it (`hub`): one for records,
//!   whose queues stall where a receiver has no room, and one for memory (`memory`).
//! * Processes find each other by datagrams (`exchange`, `wire`), which the domain's thread answers:
//!   two endpoints connect queue pairs (RC), or learn of each other's targets (DC).
//! * Records are those of a ring of the node (`path`, `arrivals`): sent into the shared receive queue
//!   of the endpoint, within the credits that it has given. It writes back into the sender's memory
//!   how many it has taken.
//! * A queue that fails is replaced, unless the peer is gone (`mend`).

use crate::device::Gate;
use crate::raw::endpoint::Link;
use arrivals::Arrivals;
use fi_mlx5::lane::Lane as Queues;
use hub::Hub;
use memory::Lane;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

pub(crate) mod arrivals;
pub(crate) mod device;
pub(crate) mod exchange;
pub(crate) mod hub;
pub(crate) mod memory;
mod mend;
pub(crate) mod path;
pub(crate) mod wire;

pub use device::Transport;

/// The side of an endpoint that goes by the device: of its thread.
#[derive(Debug)]
pub(crate) struct Far {
    pub(crate) arrivals: RefCell<Arrivals>,
    /// Links with operations on memory under way.
    pub(crate) active: RefCell<Vec<Rc<Link>>>,
    /// The address vectors of peers that are gone: of their targets, as they lie in entries.
    gone: RefCell<HashSet<[u64; 2]>>,
    /// Turns that have found nothing, and when peers were probed.
    idle_turns: Cell<u32>,
    probed: Cell<Instant>,
    /// Queues that have failed and for which nothing is to do.
    known_faults: Cell<usize>,
    pub(crate) hub: Arc<Hub>,
}

impl Far {
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        Self {
            arrivals: RefCell::new(Arrivals::new(&hub)),
            active: RefCell::default(),
            gone: RefCell::default(),
            idle_turns: Cell::new(0),
            probed: Cell::new(Instant::now()),
            known_faults: Cell::new(0),
            hub,
        }
    }

    /// Takes the completions that are there; whether there were any.
    pub(crate) fn look(&self) -> bool {
        let lanes = [&self.hub.messages, &self.hub.memory];
        lanes
            .iter()
            .fold(false, |any, gate| gate.lane().look() | any)
    }

    /// The gate of a lane.
    fn gate(&self, lane: Lane) -> &Gate {
        match lane {
            Lane::Messages => &self.hub.messages,
            Lane::Memory => &self.hub.memory,
        }
    }

    fn lane(&self, lane: Lane) -> &Queues {
        self.gate(lane).lane()
    }

    /// Queues that have failed.
    fn faults(&self) -> usize {
        self.lane(Lane::Messages).faults() + self.lane(Lane::Memory).faults()
    }

    /// Whether failures ask for something.
    pub(crate) fn has_to_mend(&self) -> bool {
        self.faults() != self.known_faults.get()
    }

    /// Lets the device act where it has something to do for the endpoint, and tells that.
    pub(crate) fn let_act(&self) -> bool {
        let lanes = [&self.hub.messages, &self.hub.memory];
        let is_busy = lanes.iter().any(|gate| !gate.lane().is_idle());
        if is_busy {
            self.hub.device.kick();
        }
        is_busy
    }

    /// Whether no operation on memory is under way.
    pub(crate) fn is_quiet(&self) -> bool {
        self.active.borrow().is_empty()
    }
}
