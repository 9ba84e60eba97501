//! The kernel's side of uverbs: parses the commands that libibverbs and libmlx5 send, asks the engine, and writes the answers.
//!
//! Nothing here is input or output of its own: a program's memory and the queues of events are
//! reached through [`Host`]. Commands that are not modelled are refused: an ioctl method with
//! `EPROTONOSUPPORT`, so that the library goes back to the older command, and an older command with
//! `EOPNOTSUPP`.

pub(crate) mod abi;
mod account;
mod call;
mod contexts;
mod devx;
mod devx_queue_pairs;
mod doorbells;
mod objects;
mod queries;
mod queue_pairs;
mod shared_receive;
#[cfg(test)]
mod tests;

pub(crate) use call::{Call, Descriptor};
pub(crate) use contexts::{CLOCK_PAGE, FIRST_UAR_PAGE, clock_info};
pub(crate) use doorbells::Store;

use crate::engine::{self, ContextId, Engine, Memory, Pid, Progress};
use abi::{command, invoke_write, method, object};
use std::collections::{BTreeSet, HashMap};

/// The errno that a command fails with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

impl Errno {
    pub(crate) const INVALID: Self = Self(libc::EINVAL);
    pub(crate) const FAULT: Self = Self(libc::EFAULT);
    pub(crate) const NO_SPACE: Self = Self(libc::ENOSPC);
    pub(crate) const NO_DATA: Self = Self(libc::ENODATA);
    pub(crate) const NO_MEMORY: Self = Self(libc::ENOMEM);
    pub(crate) const NOT_PERMITTED: Self = Self(libc::EPERM);
    pub(crate) const NOT_SUPPORTED: Self = Self(libc::EOPNOTSUPP);
    /// There is no such ioctl: the library tries the older command.
    pub(crate) const PROTOCOL: Self = Self(libc::EPROTONOSUPPORT);
}

impl From<engine::Fault> for Errno {
    fn from(_: engine::Fault) -> Self {
        Self::FAULT
    }
}

impl From<engine::Error> for Errno {
    fn from(error: engine::Error) -> Self {
        Self(error.errno())
    }
}

/// A command that was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) errno: Errno,
    /// The command, in words.
    pub(crate) what: String,
    /// The library asks for this and then goes another way: nothing is amiss.
    pub(crate) expected: bool,
}

/// Surroundings that the device needs: the memory of programs, and queues of events that programs
/// read as files.
pub(crate) trait Host: Memory {
    /// Makes a queue of events for a context; its reading end is going to be handed out.
    fn create_queue(&mut self, context: ContextId) -> Result<u64, Errno>;

    /// Returns the queue whose reading end the process has as descriptor `fd`.
    fn find_queue(&mut self, process: Pid, fd: i32) -> Option<u64>;

    /// Puts an event into a queue; false when it has no room for one more.
    fn deliver(&mut self, queue: u64, event: &[u8]) -> bool;

    /// Takes in that `range` of a process, its start and length, was registered as a region.
    fn register(&mut self, _context: ContextId, _process: Pid, _region: u32, _range: (u64, u64)) {}

    /// Takes in that a region is no more, except by the end of its context.
    fn deregister(&mut self, _region: u32) {}

    /// Returns the bytes that a process may lock; `None`: without a limit, or the limit is not
    /// known.
    fn may_lock(&mut self, _process: Pid) -> Option<u64> {
        None
    }

    /// Takes the events that nobody has read and that start with `element` out of a queue; says how many they were.
    fn withdraw(&mut self, queue: u64, element: u64) -> u32;
}

/// Events of an object, which it has to tell when it is destroyed.
#[derive(Clone, Copy, Debug, Default)]
struct Events {
    /// The library's handle, by which the events name the object.
    element: u64,
    /// The queue of its completion events, if it has any.
    channel: Option<u64>,
    completions: u32,
    asynchronous: u32,
}

/// Capacities of a queue pair that the engine does not keep, to be told when the program queries:
/// those that it asked for, and those of the ring of receives.
#[derive(Clone, Copy, Debug, Default)]
struct Capacities {
    max_send_wr: u32,
    max_recv_wr: u32,
    max_send_sge: u32,
    max_recv_sge: u32,
    max_inline_data: u32,
    sq_sig_all: u8,
}

/// Capacities and events of a shared receive queue, kept likewise.
#[derive(Clone, Copy, Debug, Default)]
struct SharedReceive {
    max_wr: u32,
    max_sge: u32,
    limit: u32,
    events: Events,
}

/// An open file of the device.
#[derive(Debug)]
struct Context {
    process: Pid,
    /// GET_CONTEXT was answered: objects can be made.
    ready: bool,
    /// It may speak DEVX.
    devx: bool,
    /// Numbers of memory that DEVX registered.
    devx_memory: BTreeSet<u32>,
    asynchronous: Option<u64>,
    completion_queues: HashMap<u32, Events>,
    queue_pairs: HashMap<u32, (Capacities, Events)>,
    shared_receive: HashMap<u32, SharedReceive>,
}

/// Features and limits that the device reports, where clients behave differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The kernel assigns doorbell registers to queue pairs, as old kernels do, even if the library
    /// can manage them.
    pub(crate) legacy_uars: bool,
    /// Contexts may speak DEVX.
    pub(crate) devx: bool,
    /// Atomics with masks, and of 4 bytes; only DEVX tells of them.
    pub(crate) masked_atomics: bool,
    /// There are no dynamic connections.
    pub(crate) no_dc: bool,
    /// Bytes that a process may register; `None`: as its own limit says.
    pub(crate) max_pinned: Option<u64>,
    /// Doorbell pages that a process gets in all its contexts, static ones included; `None`: as many as there are.
    pub(crate) uar_pages: Option<u32>,
    /// Queue pairs that a process gets, likewise.
    pub(crate) queue_pairs: Option<u32>,
}

/// The device behind the character device: all open files, and the engine.
#[derive(Debug)]
pub(crate) struct Device {
    engine: Engine,
    settings: Settings,
    contexts: HashMap<ContextId, Context>,
}

impl Device {
    pub(crate) fn new(config: engine::Config, settings: Settings) -> Self {
        Self {
            engine: Engine::new(config),
            settings,
            contexts: HashMap::new(),
        }
    }

    /// Returns the engine, for callers that look behind the commands.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Opens the device for a process.
    pub(crate) fn open(&mut self, process: Pid) -> ContextId {
        let id = self.engine.open_context(process);
        let context = Context {
            process,
            ready: false,
            devx: false,
            devx_memory: BTreeSet::new(),
            asynchronous: None,
            completion_queues: HashMap::new(),
            queue_pairs: HashMap::new(),
            shared_receive: HashMap::new(),
        };
        self.contexts.insert(id, context);
        id
    }

    /// Closes a context with all its objects, when its file is closed, or its process has ended.
    pub(crate) fn close(&mut self, id: ContextId) {
        if self.contexts.remove(&id).is_some() {
            self.engine.close_context(id);
        }
    }

    /// Returns true when some context may have queues to look at.
    pub(crate) fn has_queue_pairs(&self) -> bool {
        let mut contexts = self.contexts.values();
        contexts.any(|context| !context.queue_pairs.is_empty())
    }

    /// Notes that the pages of a process from `start` to `end` are going to be others (strict
    /// mode).
    pub(crate) fn unmapped(&mut self, process: Pid, start: u64, end: u64) {
        self.engine.unmapped(process, start, end);
    }

    /// Lets the engine act and delivers the events; `now` is a monotonic time in ns.
    pub(crate) fn step(&mut self, host: &mut dyn Host, now: u64) -> Progress {
        let progress = self.engine.step(host, now);
        for event in &progress.completions {
            let delivered = host.deliver(event.channel, &event.user_handle.to_ne_bytes());
            let queues = self.contexts.get_mut(&event.context);
            if let Some(events) =
                queues.and_then(|context| context.completion_queues.get_mut(&event.cqn))
            {
                // Only those are told of that can be read.
                events.completions += u32::from(delivered);
            }
        }
        for event in &progress.async_events {
            let Some(context) = self.contexts.get_mut(&event.context) else {
                continue;
            };
            let Some(queue) = context.asynchronous else {
                continue;
            };
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&event.element.to_ne_bytes());
            bytes[8..12].copy_from_slice(&(event.kind as u32).to_ne_bytes());
            if host.deliver(queue, &bytes) {
                context.count_asynchronous(event.element);
            }
        }
        progress
    }

    /// Returns the PCIe transactions that are noted when the run ends.
    pub(crate) fn last_transactions(&mut self) -> Vec<engine::Transaction> {
        self.engine.last_transactions()
    }

    /// Answers an ioctl whose header is at address `at` of the process.
    pub(crate) fn ioctl(
        &mut self,
        host: &mut dyn Host,
        id: ContextId,
        process: Pid,
        at: u64,
    ) -> Result<Option<Descriptor>, Refusal> {
        let unread = |errno| Refusal {
            errno,
            what: "an ioctl".to_owned(),
            expected: false,
        };
        let owner = self.contexts.get(&id).ok_or(unread(Errno::INVALID))?;
        if owner.process != process {
            return Err(unread(Errno::NOT_PERMITTED));
        }
        let ready = owner.ready;
        let mut call = Call::read(host, process, at).map_err(unread)?;
        match self.dispatch(id, &mut call, ready) {
            Ok(()) => Ok(call.descriptor),
            Err(errno) => Err(Refusal {
                errno,
                what: call.to_string(),
                expected: match errno {
                    // There is an older command for requests that are not the driver's own.
                    Errno::PROTOCOL => call.object < object::MLX5_DEVX,
                    // The probe before GET_CONTEXT, and its requests for DEVX.
                    Errno::NO_SPACE | Errno::NOT_PERMITTED => !ready,
                    _ => false,
                },
            }),
        }
    }

    fn dispatch(&mut self, id: ContextId, call: &mut Call<'_>, ready: bool) -> Result<(), Errno> {
        match (call.object, call.method) {
            (object::DEVICE, method::GET_CONTEXT) => self.get_context(id, call),
            (object::DEVICE, method::INVOKE_WRITE)
                if !ready && !call.has(invoke_write::CORE_OUT) =>
            {
                // The library asks whether this method is there, with a command that is too short.
                Err(Errno::NO_SPACE)
            }
            _ if !ready => Err(Errno::INVALID),
            (object::DEVICE, method::INVOKE_WRITE) => self.invoke_write(id, call),
            (object::DEVICE, method::QUERY_PORT) => self.query_port(call),
            (object::DEVICE, method::QUERY_GID_TABLE) => self.query_gid_table(call),
            (object::DEVICE, method::QUERY_GID_ENTRY) => self.query_gid_entry(call),
            (object::ASYNC_EVENT, method::ASYNC_EVENT_ALLOC) => self.alloc_async(id, call),
            (object::MLX5_DEVX..=object::MLX5_DEVX_EVENTS, _) if self.context(id)?.devx => {
                self.devx(id, call)
            }
            (object::MLX5_UAR, method::UAR_ALLOC) => self.alloc_uar(id, call),
            (object::MLX5_UAR, method::UAR_DESTROY) => self.destroy_uar(id, call),
            _ => Err(Errno::PROTOCOL),
        }
    }

    fn invoke_write(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let number = call.number(invoke_write::COMMAND)?;
        let extended = number & invoke_write::EXTENDED != 0;
        match (number & !invoke_write::EXTENDED, extended) {
            (command::QUERY_DEVICE, extended) => self.query_device(call, extended),
            (command::ALLOC_PD, false) => self.alloc_pd(id, call),
            (command::DEALLOC_PD, false) => self.dealloc_pd(id, call),
            (command::REG_MR, false) => self.reg_mr(id, call),
            (command::DEREG_MR, false) => self.dereg_mr(id, call),
            (command::CREATE_COMP_CHANNEL, false) => self.create_channel(id, call),
            (command::CREATE_CQ, extended) => self.create_cq(id, call, extended),
            (command::DESTROY_CQ, false) => self.destroy_cq(id, call),
            (command::CREATE_QP, extended) => self.create_qp(id, call, extended),
            (command::QUERY_QP, false) => self.query_qp(id, call),
            (command::MODIFY_QP, extended) => self.modify_qp(id, call, extended),
            (command::DESTROY_QP, false) => self.destroy_qp(id, call),
            (command::CREATE_SRQ, false) => self.create_srq(id, call),
            (command::CREATE_XSRQ, false) => self.create_xsrq(id, call),
            (command::MODIFY_SRQ, false) => self.modify_srq(id, call),
            (command::QUERY_SRQ, false) => self.query_srq(id, call),
            (command::DESTROY_SRQ, false) => self.destroy_srq(id, call),
            _ => Err(Errno::NOT_SUPPORTED),
        }
    }

    fn context(&mut self, id: ContextId) -> Result<&mut Context, Errno> {
        self.contexts.get_mut(&id).ok_or(Errno::INVALID)
    }
}

impl Context {
    /// Counts an asynchronous event for the object that it names.
    fn count_asynchronous(&mut self, element: u64) {
        let queues = self.completion_queues.values_mut();
        let pairs = self.queue_pairs.values_mut().map(|(_, events)| events);
        let shared = self
            .shared_receive
            .values_mut()
            .map(|kept| &mut kept.events);
        if let Some(events) = queues
            .chain(pairs)
            .chain(shared)
            .find(|events| events.element == element)
        {
            events.asynchronous += 1;
        }
    }

    /// Returns the numbers of events of an object that the program has read: (completion events,
    /// asynchronous events). The others are taken back.
    fn reported(&self, host: &mut dyn Host, events: &Events) -> (u32, u32) {
        let unread = events
            .channel
            .map_or(0, |queue| host.withdraw(queue, events.element));
        let unread_asynchronous = self
            .asynchronous
            .map_or(0, |queue| host.withdraw(queue, events.element));
        (
            events.completions.saturating_sub(unread),
            events.asynchronous.saturating_sub(unread_asynchronous),
        )
    }
}
