//! The barrier of the PEs of the node, over the flags in the node's control memory.

#![expect(
    unsafe_code,
    reason = "the barrier's state is a static that one thread at a time writes"
)]

use crate::node::Node;
use crate::plain::Plain;
use crate::report::{self, Routine};
use crate::stall::Watch;
use fi_provider::node::barrier::{Kind, disseminate};
use fi_provider::node::order;
use fi_provider::node::wait::Patience;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long the launcher has to end a job whose PE is gone, before another PE does so: it knows more.
const LAUNCHER_TIME: Duration = Duration::from_millis(500);

/// What this PE knows of the barrier.
#[derive(Debug)]
struct NodeBarrier {
    node: Arc<Node>,
    kind: Kind,
    patience: Patience,
    /// Barriers that this PE has completed, modulo 2^32.
    epoch: AtomicU32,
}

impl NodeBarrier {
    fn new(node: Arc<Node>) -> Self {
        let kind = if node.control().barrier_kind == Kind::Dissemination as u32 {
            Kind::Dissemination
        } else {
            Kind::Central
        };
        Self {
            patience: Patience::for_processes(node.processes() as usize),
            kind,
            node,
            epoch: AtomicU32::new(0),
        }
    }

    fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Waits for all PEs of the node on behalf of routine `at`.
    #[inline]
    fn wait(&self, at: Routine) {
        let epoch = self.epoch().wrapping_add(1);
        let mut watch = None;
        self.wait_with(epoch, || {
            watch
                .get_or_insert_with(|| Watch::new(at))
                .look_around(Some(epoch));
        });
    }

    /// The barrier at the end of an initialisation: PEs that have finalised before may take their time,
    /// but processes that are gone do not come.
    fn wait_for_init(&self) {
        let mut seen = None;
        self.wait_with(self.epoch().wrapping_add(1), || {
            let gone = (0..self.node.processes()).find(|&pe| self.node.is_gone(pe));
            if let Some(pe) = gone
                && seen.get_or_insert_with(Instant::now).elapsed() > LAUNCHER_TIME
            {
                report::nobody_left(&"shmem_init", pe);
            }
        });
    }

    /// Only one thread of a PE may be in a barrier of all PEs, so that counting needs no atomic addition.
    #[inline]
    fn wait_with(&self, epoch: u32, idle: impl FnMut()) {
        let processes = self.node.processes();
        if processes == 1 {
            order::full();
        } else if self.kind == Kind::Dissemination {
            let rounds = |pe| &self.node.slot(pe).rounds;
            disseminate(
                rounds,
                self.node.rank(),
                processes,
                epoch,
                self.patience,
                idle,
            );
        } else {
            let central = &self.node.control().central;
            central.wait(processes, epoch, self.patience, idle);
        }
        self.epoch.store(epoch, Ordering::Relaxed);
    }
}

static BARRIER: Plain<Option<NodeBarrier>> = Plain::new(None);

/// Makes the barrier, for the life of the process: its epochs go on from one session to the next.
///
/// # Safety
/// No other thread is inside the library.
pub(crate) unsafe fn set_up(node: Arc<Node>) {
    // SAFETY: the contract is the same.
    unsafe { *BARRIER.get_mut() = Some(NodeBarrier::new(node)) };
}

/// Waits for all PEs on behalf of routine `at`; the library is initialised.
#[inline]
pub(crate) fn wait(at: Routine) {
    if let Some(barrier) = BARRIER.get() {
        barrier.wait(at);
    }
}

/// Waits for all PEs at the end of an initialisation.
pub(crate) fn wait_for_init() {
    if let Some(barrier) = BARRIER.get() {
        barrier.wait_for_init();
    }
}

/// The barriers that this PE has completed, modulo 2^32.
pub(crate) fn barriers_done() -> u32 {
    BARRIER.get().as_ref().map_or(0, NodeBarrier::epoch)
}

/// The algorithm of the barrier.
pub(crate) fn barrier_kind() -> Kind {
    BARRIER
        .get()
        .as_ref()
        .map_or(Kind::Central, |barrier| barrier.kind)
}
