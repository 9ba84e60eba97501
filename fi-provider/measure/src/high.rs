//! The fabric above the driver: two endpoints of this process, each of a domain of its own, that
//! reach each other by the device alone and are used by one thread.

#![expect(unsafe_code, reason = "posts buffers for messages")]

use crate::clock::{Clock, Settling, now};
use crate::low::wait;
use crate::samples::Samples;
use crate::{Error, Plan};
use fi_provider::raw::address_vector::{AddressVector, PeerIndex};
use fi_provider::raw::completion::{CompletionQueue, Counted, Counter};
use fi_provider::raw::domain::{self, Domain};
use fi_provider::raw::endpoint::{Config, Endpoint, Posted, RemoteRegion};
use fi_provider::raw::far::Transport;
use fi_provider::raw::region::{Addressing, Memory, Rights};
use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;

/// Writes that are progressed at a time.
pub const WINDOW: usize = 16;
/// Entries of a completion queue of the fabric.
const ENTRIES: usize = 64;
/// Most calls of progress for the operations that have come.
const CALLS: u32 = 3;
/// Longest time that something may take.
const LIMIT: Duration = Duration::from_secs(20);

/// One endpoint.
struct End {
    endpoint: Endpoint,
    peer: PeerIndex,
    queue: CompletionQueue,
    received: Counter,
    done: Counter,
    /// Leaked, so that it stays mapped.
    buffer: *mut u8,
    /// Messages sent so far.
    sent: Cell<u64>,
    /// The memory that the other end writes to.
    memory: Memory,
    _domain: Domain,
}

impl End {
    fn new(vector: &AddressVector) -> Result<Self, Error> {
        let config = domain::Config {
            arena_bytes: 64 << 20,
            near: false,
            far: Some(Transport::Rc),
            ..domain::Config::default()
        };
        let domain = Domain::open(config)?;
        let memory = domain.allocate(4096, Rights::ALL, None, Addressing::Offset)?;
        let queue = CompletionQueue::new(ENTRIES);
        let config = Config::new(&queue);
        let (received, done) = (config.received.clone(), config.done.clone());
        let endpoint = Endpoint::open(&domain, vector, config)?;
        Ok(Self {
            endpoint,
            peer: PeerIndex::default(),
            queue,
            received,
            done,
            buffer: Box::into_raw(Box::new(0_u64)).cast(),
            sent: Cell::new(0),
            memory,
            _domain: domain,
        })
    }

    /// Sends a message of 8 bytes.
    #[inline(always)]
    fn send(&self) -> Result<(), Error> {
        self.endpoint.inject(self.peer, black_box(b"8 bytes."))?;
        self.sent.set(self.sent.get() + 1);
        Ok(())
    }

    /// Posts the buffer for one message.
    fn post(&self) {
        let posted = Posted {
            context: 0,
            source: None,
            least: None,
        };
        // SAFETY: the bytes at `buffer` are leaked, so that they stay mapped; nobody else has them.
        unsafe { self.endpoint.post_receive(self.buffer, 8, posted) };
    }

    /// Makes progress, and takes the entry of a message; false where none has come.
    #[inline(always)]
    fn receive(&self) -> bool {
        self.endpoint.progress();
        self.queue.next().is_some()
    }
}

/// The two endpoints.
pub struct High {
    /// The second end's memory, as the first one writes to it.
    region: RemoteRegion,
    ends: [End; 2],
    clock: Clock,
    plan: Plan,
    settling: Settling,
}

impl High {
    /// Opens two endpoints and connects them.
    ///
    /// # Errors
    /// [`Error::Fabric`], [`Error::Late`].
    pub fn open(clock: &Clock, plan: Plan) -> Result<Self, Error> {
        let vectors = [AddressVector::new(), AddressVector::new()];
        let mut ends = [End::new(&vectors[0])?, End::new(&vectors[1])?];
        for (at, vector) in vectors.iter().enumerate() {
            ends[at].peer = vector.insert(&ends[1 - at].endpoint.address())?;
        }
        let key = ends[1].memory.key();
        let region = ends[0].endpoint.resolve(ends[0].peer, key)?;
        let high = Self {
            region,
            ends,
            clock: clock.clone(),
            plan,
            settling: Settling::new(Duration::from_micros(50)),
        };
        // The first message of each makes a connection.
        for end in 0..2 {
            high.ends[end].send()?;
            high.settle()?;
        }
        Ok(high)
    }

    /// Takes all messages, and waits for everything that is under way.
    fn settle(&self) -> Result<(), Error> {
        for at in 0..2 {
            let (from, to) = (&self.ends[at], &self.ends[1 - at]);
            while to.received.read() < from.sent.get() {
                let before = to.received.read();
                to.post();
                let has_come = || {
                    from.endpoint.progress();
                    to.received.read() > before
                };
                if !to.endpoint.wait(LIMIT, has_come) {
                    return Err(Error::Late("a message", LIMIT.as_secs()));
                }
                while to.queue.next().is_some() {}
            }
        }
        for end in &self.ends {
            if !end.endpoint.quiet(LIMIT) {
                return Err(Error::Late("a completion", LIMIT.as_secs()));
            }
            // Nothing is left to look for.
            (0..4).for_each(|_| end.endpoint.progress());
        }
        Ok(())
    }

    /// Times the post of a write of 8 bytes, HLP and LLP together, and its progress, of [`WINDOW`]
    /// writes: waits are left out of the latter, as nothing is looked for before it has come.
    ///
    /// # Errors
    /// [`Error::Fabric`], [`Error::Late`].
    pub fn sending(&mut self) -> Result<(Samples, Samples), Error> {
        let (mut posts, mut progress) = (Samples::new(), Samples::new());
        let mut is_first = true;
        while posts.len() < self.plan.samples {
            let [one, _] = &self.ends;
            let target = one.done.read() + WINDOW as u64;
            let mut sent = Ok(());
            let from = now();
            for _ in 0..WINDOW {
                let value = black_box(b"8 bytes.");
                let posted = one.endpoint.inject_write(&self.region, 0, value, Counted);
                sent = sent.and(posted);
            }
            let to = now();
            sent?;
            let taken = self.progressed(target);
            self.settle()?;
            self.settling.note(taken.is_some())?;
            if let Some(ns) = taken
                && !std::mem::take(&mut is_first)
            {
                posts.add(self.clock.between(from, to) / WINDOW as f64);
                progress.add(ns / WINDOW as f64);
            }
        }
        Ok((posts, progress))
    }

    /// Calls progress until so many operations are done, with a pause before each call, which is not
    /// timed; none where it took too many calls.
    fn progressed(&self, target: u64) -> Option<f64> {
        let one = &self.ends[0];
        let mut ns = 0.0;
        for _ in 0..CALLS {
            self.settling.wait();
            ns += self.clock.time(|| one.endpoint.progress());
            if one.done.read() >= target {
                return Some(ns);
            }
        }
        None
    }

    /// Times taking one message that has come: progress, and its entry. HLP and LLP together.
    ///
    /// # Errors
    /// [`Error::Fabric`], [`Error::Late`].
    pub fn receiving(&mut self) -> Result<Samples, Error> {
        let mut samples = Samples::new();
        let mut is_first = true;
        while samples.len() < self.plan.samples {
            let [one, other] = &self.ends;
            other.post();
            one.send()?;
            self.settling.wait();
            let mut is_taken = false;
            let ns = self.clock.time(|| is_taken = other.receive());
            if !is_taken {
                wait("a message", || other.receive())?;
            }
            self.settle()?;
            self.settling.note(is_taken)?;
            if is_taken && !std::mem::take(&mut is_first) {
                samples.add(ns);
            }
        }
        Ok(samples)
    }

    /// Runs the benchmark of latency: a message of 8 bytes there and back. Returns half of the time.
    ///
    /// # Errors
    /// [`Error::Fabric`], [`Error::Late`].
    pub fn latency(&mut self) -> Result<Samples, Error> {
        let mut samples = Samples::new();
        let [one, other] = &self.ends;
        for round in 0..=self.plan.samples {
            one.post();
            other.post();
            let from = now();
            one.send()?;
            wait("a message", || other.receive())?;
            other.send()?;
            wait("a message", || one.receive())?;
            let to = now();
            self.settle()?;
            if round > 0 {
                samples.add(self.clock.between(from, to) / 2.0);
            }
        }
        Ok(samples)
    }

    /// Runs the benchmark of message rate: windows of writes and their progress, without waits.
    /// Returns the time of one write.
    ///
    /// # Errors
    /// [`Error::Fabric`], [`Error::Late`].
    pub fn injection(&mut self) -> Result<Samples, Error> {
        let (posts, progress) = self.sending()?;
        Ok(posts.plus(&progress))
    }
}
