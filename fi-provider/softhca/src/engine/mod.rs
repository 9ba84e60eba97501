//! The device itself, without any I/O of its own: objects, work queues, completions.
//!
//! Everything comes in by plain numbers, memory is reached through [`Memory`], and the caller tells
//! the time. Nothing acts by itself: [`Engine::step`] looks at the doorbell records and does the
//! due work.

mod census;
mod collect;
mod completion;
mod delay;
mod flight;
mod memory;
mod objects;
mod queue;
mod receive;
mod region;
mod request;
mod rings;
mod scan;
mod schedule;
mod strict;
mod table;
mod transaction;
mod transfer;
mod transition;
mod types;
mod uar;

pub use census::Census;
pub use memory::{Fault, Memory};
pub(crate) use region::whole_pages;
pub use transaction::{Content, Direction, Role, Transaction, TransactionKind};
pub(crate) use transition::MOST_READS;
pub use types::{
    Access, AsyncEvent, AsyncKind, CompletionEvent, Config, ContextId, CqInit, Error, Latencies,
    MrKeys, Path, Pid, Progress, QpAttr, QpCreated, QpInit, QpKind, QpModified, QpState, QpUar,
    RegisterKind, SrqInit, UarAccount, UarKind, UarRegime, UarRegister, UarReport, Violation, attr,
};
pub(crate) use uar::MAX_PAGES;

/// Answer of a command.
pub type Result<T> = std::result::Result<T, Error>;

use collect::Collector;
use completion::CompletionQueue;
use delay::Delays;
use flight::Flights;
use queue::{QueuePair, SharedQueue};
use region::Regions;
use scan::Known;
use std::collections::BTreeMap;
use table::{Owned, Table};
use uar::Uars;

/// The device: all contexts of all its processes.
#[derive(Debug)]
pub struct Engine {
    config: Config,
    contexts: BTreeMap<ContextId, Context>,
    next_context: u32,
    domains: Table<Domain>,
    regions: Regions,
    cqs: Table<CompletionQueue>,
    srqs: Table<SharedQueue>,
    qps: Table<QueuePair>,
    now: u64,
    /// Results of the current step.
    progress: Progress,
    /// Asynchronous events since the last step.
    async_events: Vec<AsyncEvent>,
    /// Doorbell records of processes, until these ring.
    known: BTreeMap<Pid, Known>,
    /// Bytes on their way.
    scratch: Vec<u8>,
    /// Stores to doorbell pages (strict mode).
    doorbells: Collector,
    /// Time up to which rung entries are executed at once (strict mode).
    released: u64,
    /// Violations that strict mode found since the last step.
    violations: Vec<(Pid, Violation)>,
    /// Choice of the queue pairs that are left alone for a while.
    delays: Option<Delays>,
    /// Operations under way, where these take time.
    flights: Option<Flights>,
}

/// An opened device.
#[derive(Debug)]
struct Context {
    pid: Pid,
    uars: Uars,
}

/// A protection domain.
#[derive(Debug)]
struct Domain(ContextId);

impl Owned for Domain {
    fn context(&self) -> ContextId {
        self.0
    }
}

/// Numbers of queues start here: low ones are special in InfiniBand.
const FIRST_QUEUE: u32 = 0x100;
/// Numbers of queues end here: they have 24 bits, and all ones is multicast.
const END_OF_QUEUES: u32 = 0xff_ffff;

impl Engine {
    /// Makes a device without contexts.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let timed = config.latencies.is_some() || config.transactions;
        let latencies = config.latencies.unwrap_or_default();
        Self {
            delays: config.delay_seed.map(Delays::new),
            flights: timed.then(|| Flights::new(latencies, config.transactions)),
            config,
            contexts: BTreeMap::new(),
            next_context: 1,
            domains: Table::new("protection domain", 1, END_OF_QUEUES),
            regions: Regions::new(),
            cqs: Table::new("completion queue", FIRST_QUEUE, END_OF_QUEUES),
            srqs: Table::new("shared receive queue", FIRST_QUEUE, END_OF_QUEUES),
            qps: Table::new("queue pair", FIRST_QUEUE, END_OF_QUEUES),
            now: 0,
            progress: Progress::default(),
            async_events: Vec::new(),
            known: BTreeMap::new(),
            scratch: Vec::new(),
            doorbells: Collector::default(),
            released: 0,
            violations: Vec::new(),
        }
    }

    /// Returns the constants it was made with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    fn raise(&mut self, context: ContextId, kind: AsyncKind, element: u64) {
        self.async_events.push(AsyncEvent {
            context,
            kind,
            element,
        });
    }
}
