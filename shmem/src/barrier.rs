//! The barrier of all PEs: on each node over the flags in its control memory, and then among the nodes.

#![expect(
    unsafe_code,
    reason = "the barrier's state is a static that one thread at a time writes"
)]

pub(crate) mod nodes;

use crate::ctx;
use crate::job::node::Node;
use crate::job::places::Rank;
use crate::mailbox::Word;
use crate::plain::Plain;
use crate::report;
use crate::routine::Routine;
use crate::stall::Watch;
use fi_provider::node::barrier::{Kind, disseminate};
use fi_provider::node::order;
use fi_provider::node::wait::{Patience, Waiter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time that the launcher has to end a job whose PE is gone, before another PE does so: it knows
/// more.
const LAUNCHER_TIME: Duration = Duration::from_millis(500);

/// This PE's state of the barrier.
#[derive(Debug)]
struct Barrier {
    node: Arc<Node>,
    /// Whether the PEs of this node are all there are.
    is_one_node: bool,
    /// The algorithm on the node.
    kind: Kind,
    patience: Patience,
    /// Barriers that this PE has completed, of 64 bits as the flags that tell of them.
    epoch: AtomicU64,
}

impl Barrier {
    fn new(node: Arc<Node>) -> Self {
        Self {
            patience: node.patience(),
            is_one_node: node.places.is_one_node(),
            kind: node.barrier_kind(),
            node,
            epoch: AtomicU64::new(0),
        }
    }

    fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Waits for all PEs on behalf of routine `at`.
    #[inline]
    fn wait(&self, at: Routine) {
        let epoch = self.epoch() + 1;
        let mut watch = None;
        self.wait_with(at, epoch, || {
            watch
                .get_or_insert_with(|| Watch::new(at))
                .look_around(Some(epoch));
        });
    }

    /// Waits in the barrier at the end of an initialisation: PEs that have finalised before may
    /// take their time, but processes of this node that are gone do not come. (Of those elsewhere
    /// the launcher knows.)
    fn wait_for_init(&self) {
        const AT: Routine = &"shmem_init";
        let mut seen = None;
        let own = self.node.places.rank().0;
        // Each looks for one other: before each that is gone comes one that is there, or another
        // that is gone.
        let next = Rank((own + 1) % self.node.processes());
        self.wait_with(AT, self.epoch() + 1, || {
            if self.node.is_gone(next)
                && seen.get_or_insert_with(Instant::now).elapsed() > LAUNCHER_TIME
            {
                report::nobody_left(AT, self.node.places.pe_at(next));
            }
        });
    }

    /// Waits in a barrier of all PEs. Only one thread of a PE may be in one, so that counting needs
    /// no atomic addition.
    #[inline]
    fn wait_with(&self, at: Routine, epoch: u64, mut idle: impl FnMut()) {
        if self.is_one_node {
            self.wait_on_node(epoch, &mut idle);
        } else {
            self.wait_across_nodes(at, epoch, &mut idle);
        }
        self.epoch.store(epoch, Ordering::Relaxed);
    }

    /// Waits for the PEs of this node; `epoch` counts these calls.
    #[inline]
    fn wait_on_node(&self, epoch: u64, idle: impl FnMut()) {
        let processes = self.node.processes();
        if processes == 1 {
            order::full();
        } else if self.kind == Kind::Dissemination {
            let rounds = |rank| &self.node.slot(Rank(rank)).rounds;
            let own = self.node.places.rank().0;
            disseminate(rounds, own, processes, epoch, self.patience, idle);
        } else {
            let central = &self.node.control().central;
            central.wait(processes, epoch, self.patience, idle);
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_across_nodes(&self, at: Routine, epoch: u64, mut idle: &mut dyn FnMut()) {
        let places = &self.node.places;
        nodes::across(
            epoch,
            places.is_leader(),
            &mut idle,
            |idle, epoch| self.wait_on_node(epoch, idle),
            |idle| {
                let (me, count) = (places.node(), places.nodes());
                let done = nodes::disseminate(me, count, |round, node| {
                    Word::Round(round).post(epoch, places.leader(node))?;
                    self.wait_for_node(round, epoch, idle)
                });
                if let Err(error) = done {
                    report::call(at, error);
                }
            },
        );
    }

    /// Waits for the leader that posts to this one in `round`.
    fn wait_for_node(
        &self,
        round: usize,
        epoch: u64,
        idle: &mut dyn FnMut(),
    ) -> Result<(), fi_provider::symmetric::Error> {
        let mut waiter = Waiter::new(self.patience);
        while Word::Round(round).get() < epoch {
            if ctx::default_ctx().endpoint.progress()? {
                waiter.stay_awake();
            }
            if ctx::progress::pause(&mut waiter) {
                idle();
            }
        }
        Ok(())
    }
}

static BARRIER: Plain<Option<Barrier>> = Plain::new(None);

/// Makes the barrier, for the life of the process: its epochs go on from one session to the next.
///
/// # Safety
/// No other thread is inside the library.
pub(crate) unsafe fn set_up(node: Arc<Node>) {
    // SAFETY: no other thread is inside the library, and this one has no reference to the value.
    unsafe { *BARRIER.get_mut() = Some(Barrier::new(node)) };
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

/// Returns the number of barriers that this PE has completed.
pub(crate) fn barriers_done() -> u64 {
    BARRIER.get().as_ref().map_or(0, Barrier::epoch)
}

/// Returns the algorithm of the barrier on this node.
pub(crate) fn kind() -> Kind {
    BARRIER
        .get()
        .as_ref()
        .map_or(Kind::Central, |barrier| barrier.kind)
}
