//! The endpoints of a process: lanes of the transport, made as a [`Shape`] says.

#![expect(
    unsafe_code,
    reason = "posts to lanes, whose memory this keeps alive; shares them among threads"
)]

use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::message_rate::Features;
use crate::shape::Shape;
use crate::usage::Usage;
use fi_mlx5::device::{CompletionQueue, Device, Overrun, Peer, Pool, QueuePair, Region, Seat};
use fi_mlx5::lane::{
    Failure, Hook, Lane, Local, Parts, Payload, Posted, Queues, SharedCompletions, Signals, Source,
    Threads, To, Write,
};
use fi_mlx5::policy::Completions;
use fi_mlx5::registers::Registers;
use fi_mlx5::remote::Vector;
use fi_mlx5_defs::endian::Be32;
use std::ffi::CStr;
use std::sync::{Arc, OnceLock};

/// The part of its name that tells a device in software.
pub(crate) const SOFTWARE: &str = "softhca";

/// The call by which a device in software is told to act; hardware has none.
const HOOK: &CStr = c"farreach_softhca_kick";

/// The most basic blocks of a send queue.
const LONGEST: usize = 1 << 15;

/// The parameters of queues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    /// Basic blocks of a send queue that are for one thread: queues that several share are as much longer.
    pub(crate) depth: u32,
    /// Entries of the completion queue that are for one thread.
    pub(crate) completions: u32,
    /// Whether entries are written to the doorbell register, where it takes them.
    pub(crate) blueflame: bool,
}

/// The objects of a process's endpoints.
pub(crate) struct Ends {
    shape: Shape,
    queue: Queue,
    /// A device for each context that is made here.
    contexts: Vec<Device>,
    /// A pool for each protection domain.
    pools: Vec<Pool>,
    lanes: Vec<Made>,
    regions: Vec<Registered>,
}

/// The objects of one lane.
struct Made {
    pool: usize,
    seat: Seat,
    completions: CompletionQueue,
    pairs: Vec<QueuePair>,
}

/// A registered region, and where.
struct Registered {
    /// The protection domain: the pool's, or the lane's where that has its own context.
    of: (usize, Option<usize>),
    base: u64,
    len: usize,
    region: Region,
}

impl Ends {
    /// Makes the endpoints that `shape` says, each lane with so many queue pairs, which are to be
    /// connected next.
    pub(crate) fn new(
        device: Option<&str>,
        shape: &Shape,
        pairs: usize,
        queue: Queue,
    ) -> Result<Self> {
        shape.check()?;
        let ways = shape.ways;
        if queue.depth as usize * ways.pair > LONGEST {
            let what = format!(
                "{} threads to a queue of {} blocks for each",
                ways.pair, queue.depth
            );
            return Err(Error::Usage(what));
        }
        let mut contexts = vec![Device::open(device)?];
        while contexts.len() < shape.threads / ways.context {
            contexts.push(contexts[0].another_context()?);
        }
        let mut pools = Vec::new();
        for context in &contexts {
            let pool = |device: &Device| Pool::new(device, shape.policy, Completions::Own);
            pools.push(pool(context));
            for _ in 1..ways.context / ways.protection {
                pools.push(pool(&context.another_protection_domain()?));
            }
        }
        let mut ends = Self {
            shape: *shape,
            queue,
            contexts,
            pools,
            lanes: Vec::new(),
            regions: Vec::new(),
        };
        for lane in 0..shape.lanes() {
            let made = ends.make(lane, pairs)?;
            ends.lanes.push(made);
        }
        Ok(ends)
    }

    fn make(&self, lane: usize, pairs: usize) -> Result<Made> {
        let ways = self.shape.ways;
        let thread = lane * ways.pair;
        let pool = thread / ways.protection;
        // Only one lane is asked for where all are one.
        let seat = self.pools[pool]
            .seat()?
            .ok_or_else(|| Error::Words("no lane".to_owned()))?;
        if seat.is_short() {
            return Err(Error::Usage(format!(
                "the device has too little left for {} lanes",
                self.shape.lanes()
            )));
        }
        let first = thread / ways.completion * ways.completion / ways.pair;
        let completions = match self.lanes.get(first) {
            Some(made) => made.completions.clone(),
            None => {
                let entries = self.queue.completions * ways.completion as u32;
                seat.completion_queue(entries, Overrun::Possible)?
            }
        };
        let pair = |_| seat.connected(&completions, self.queue.depth * ways.pair as u32);
        let pairs = (0..pairs)
            .map(pair)
            .collect::<std::result::Result<_, _>>()?;
        Ok(Made {
            pool,
            seat,
            completions,
            pairs,
        })
    }

    /// Returns the addresses for the process that connects to it: of each lane, its queue pairs.
    pub(crate) fn addresses(&self) -> Vec<Vec<Peer>> {
        let features = *self.contexts[0].features();
        let address = |pair: &QueuePair| Peer {
            number: pair.number(),
            lid: features.lid,
            mtu: features.mtu,
            max_read_atomic: features.max_read_atomic,
            key: 0,
        };
        self.lanes
            .iter()
            .map(|made| made.pairs.iter().map(address).collect())
            .collect()
    }

    /// Connects queue pair `pair` of lane `lane`.
    pub(crate) fn connect(&mut self, lane: usize, pair: usize, peer: &Peer) -> Result<()> {
        Ok(self.lanes[lane].pairs[pair].connect(peer)?)
    }

    /// Registers part of the memory where a lane's queue pairs may use it, unless it is: its local and its remote key.
    ///
    /// The memory has to outlive the endpoints.
    pub(crate) fn register(
        &mut self,
        lane: usize,
        memory: &Memory,
        offset: usize,
        len: usize,
    ) -> Result<(u32, u32)> {
        let made = &self.lanes[lane];
        let of = (made.pool, made.seat.has_other_context().then_some(lane));
        let base = memory.address(offset);
        assert!(offset + len <= memory.len());
        let same = |known: &&Registered| known.of == of && known.base == base && known.len == len;
        if let Some(known) = self.regions.iter().find(same) {
            return Ok((known.region.lkey(), known.region.rkey()));
        }
        // SAFETY: the bytes are mapped, and only ever reached by volatile accesses; the memory
        // outlives the endpoints.
        let region = unsafe { made.seat.device().register(memory.at(offset), len)? };
        let keys = (region.lkey(), region.rkey());
        self.regions.push(Registered {
            of,
            base,
            len,
            region,
        });
        Ok(keys)
    }

    /// Returns the objects and memory that they take.
    pub(crate) fn usage(&self) -> Usage {
        let policy = self.shape.policy;
        let accounts: Vec<_> = if policy.own_context {
            self.pools.iter().map(Pool::account).collect()
        } else {
            self.contexts.iter().map(Device::account).collect()
        };
        let other = self
            .lanes
            .iter()
            .filter(|made| made.seat.has_other_context())
            .count();
        let objects = Usage {
            protections: (self.pools.len() + other) as u64,
            regions: self.regions.len() as u64,
            ..Usage::default()
        };
        let all = accounts.iter().map(|account| Usage {
            contexts: account.contexts.into(),
            queue_pairs: account.queue_pairs.into(),
            completion_queues: account.completion_queues.into(),
            pages: account.uars.into(),
            registers: account.uuars.into(),
            bytes: account.bytes,
            ..Usage::default()
        });
        all.sum::<Usage>() + objects
    }

    /// Returns the device's name, and the manager of its doorbell pages.
    pub(crate) fn device(&self) -> (String, String) {
        let device = &self.contexts[0];
        (device.name().to_owned(), device.regime().name().to_owned())
    }

    /// Returns the lanes, ready to post.
    pub(crate) fn open(&self) -> Vec<End> {
        let ways = self.shape.ways;
        let registers = Arc::new(Registers::new());
        let mut ends: Vec<End> = Vec::new();
        for lanes in self.lanes.chunks(ways.completion / ways.pair) {
            let ring = lanes[0].completions.ring();
            let shared = (lanes.len() > 1).then(|| {
                // SAFETY: a caller with open endpoints keeps the objects (`Ends`), and nobody else
                // takes from the ring.
                Arc::new(unsafe { SharedCompletions::new(ring) })
            });
            for made in lanes {
                let completions = match &shared {
                    None => Source::Own(ring),
                    Some(shared) => Source::Shared {
                        completions: Arc::clone(shared),
                        entries: self.queue.completions * ways.pair as u32,
                    },
                };
                let parts = self.parts(made, completions, &registers);
                // SAFETY: a caller with open endpoints keeps the objects (`Ends`), and nobody else
                // posts to the queues.
                let lane = unsafe { Lane::new(parts) };
                ends.push(End { lane });
            }
        }
        ends
    }

    fn parts(&self, made: &Made, completions: Source, registers: &Arc<Registers>) -> Parts {
        let ring = |pair: &QueuePair| {
            let mut ring = pair.ring();
            if !self.queue.blueflame {
                ring.register_size = 0;
            }
            ring
        };
        let threads = if self.shape.ways.pair > 1 {
            // As the paper has it: the lane's lock, and an account of the queue's depth.
            Threads::Counted
        } else {
            Threads::One
        };
        Parts {
            queues: Queues {
                connected: made.pairs.iter().map(ring).collect(),
                ..Queues::default()
            },
            completions,
            discard: (0, 0),
            threads,
            registers: made.seat.shares_registers().then(|| Arc::clone(registers)),
            hook: hook(),
        }
    }
}

/// Returns the call by which a device in software acts, if this process has one.
pub(crate) fn hook() -> Option<Hook> {
    static FOUND: OnceLock<Option<Hook>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        // SAFETY: the name is a C string.
        let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, HOOK.as_ptr()) };
        // SAFETY: null becomes none; otherwise it is the software device's function of this name, which has this type.
        unsafe { std::mem::transmute::<*mut libc::c_void, Option<Hook>>(symbol) }
    })
}

/// A lane that threads post to.
pub(crate) struct End {
    lane: Lane,
}

// SAFETY: a lane may be used by one thread after the other.
unsafe impl Send for End {}
// SAFETY: threads that share a lane hold it while they use it; otherwise each lane has one thread (`Shape::lane_of`).
unsafe impl Sync for End {}

/// Memory of the process at the other end of a queue pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct There {
    /// The queue pair of the lane.
    pub(crate) pair: u32,
    /// The address there.
    pub(crate) address: u64,
    /// Its key.
    pub(crate) key: u32,
}

/// Own memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here<'a> {
    /// The memory.
    pub(crate) memory: &'a Memory,
    /// Offset in it.
    pub(crate) offset: usize,
    /// Bytes.
    pub(crate) len: usize,
    /// The local key of a region that holds it.
    pub(crate) key: u32,
}

impl End {
    /// Posts a write, with a completion: of bytes that the entry holds where they fit, and otherwise of memory that has to stay
    /// as it is until the completion.
    pub(crate) fn write(&self, there: There, here: Here<'_>) -> Result<Posted> {
        let nowhere = Vector::nowhere();
        let _held = self.lane.hold();
        // SAFETY: this thread has the lane, whose queue pairs are the peers; the bytes are there, and registered under the key.
        let posted = unsafe {
            if here.len <= self.lane.max_inline() {
                self.lane
                    .write_inline(there.to(&nowhere), here.memory.at(here.offset), here.len)
            } else {
                self.lane.write(there.to(&nowhere), here.local())
            }
        };
        Ok(posted?)
    }

    /// Posts so many writes of the same bytes with these features, and waits until they are done.
    pub(crate) fn write_many(
        &self,
        there: There,
        here: Here<'_>,
        features: Features,
        messages: u64,
    ) -> Result<()> {
        let nowhere = Vector::nowhere();
        let payload = if features.inlining && here.len <= self.lane.max_inline() {
            Payload::Inline(here.memory.at(here.offset), here.len)
        } else {
            Payload::Local(here.local())
        };
        let write = Write {
            address: there.address,
            key: Be32::new(there.key),
            payload,
        };
        let list = vec![write; features.postlist as usize];
        let mut signals = Signals::every(features.unsignalled);
        let mut left = messages;
        while left > 0 {
            let count = left.min(list.len() as u64);
            let list = &list[..count as usize];
            let _held = self.lane.hold();
            // SAFETY: this thread has the lane, whose queue pairs are the peers; the bytes are there, and registered under the key.
            unsafe {
                self.lane
                    .write_list(there.pair, &nowhere, list, &mut signals)
            }?;
            left -= count;
        }
        let _held = self.lane.hold();
        // SAFETY: this thread has the lane, whose queue pairs are the peers.
        Ok(unsafe { self.lane.drain(there.pair) }?)
    }

    /// Posts a read, with a completion.
    pub(crate) fn read(&self, there: There, here: Here<'_>) -> Result<Posted> {
        let nowhere = Vector::nowhere();
        let _held = self.lane.hold();
        // SAFETY: this thread has the lane, whose queue pairs are the peers; the memory is registered under the key.
        Ok(unsafe { self.lane.read(there.to(&nowhere), here.local()) }?)
    }

    /// Waits until the posted entries are done. Threads that share the lane get it between two
    /// looks.
    pub(crate) fn wait(&self, posted: Posted) -> Result<()> {
        if !self.lane.is_shared() {
            return Ok(self.lane.wait(posted)?);
        }
        let mut looks = 0;
        while !self.is_done(posted)? {
            pause(&mut looks)?;
        }
        Ok(())
    }

    fn is_done(&self, posted: Posted) -> Result<bool> {
        let _held = self.lane.hold();
        Ok(self.lane.is_done(posted)?)
    }
}

impl There {
    fn to<'a>(&self, vector: &'a Vector) -> To<'a> {
        To {
            peer: self.pair,
            vector,
            address: self.address,
            key: Be32::new(self.key),
        }
    }
}

impl Here<'_> {
    fn local(&self) -> Local {
        Local {
            address: self.memory.address(self.offset),
            length: self.len as u32,
            key: self.key,
        }
    }
}

/// Looks at memory before the processor is offered to others.
const LOOKS: u32 = 1000;

/// Lets a device in software act, and others run, between two looks at memory that the device
/// writes.
pub(crate) fn pause(looks: &mut u32) -> Result<()> {
    *looks += 1;
    match hook() {
        Some(hook) if hook() != 0 => return Err(Failure::Lost.into()),
        None if !(*looks).is_multiple_of(LOOKS) => std::hint::spin_loop(),
        _ => std::thread::yield_now(),
    }
    Ok(())
}
