//! The driver of the device: two connected queue pairs of this process, used by one thread.

#![expect(unsafe_code, reason = "posts to lanes and keeps their memory")]

use crate::clock::{Clock, Settling, now};
use crate::samples::Samples;
use crate::{Error, Plan};
use fi_mlx5::device::{CompletionQueue, Device, Peer, QueuePair, ReceiveQueue, Region};
use fi_mlx5::lane::{Lane, Local, Parts, Queues, Source, Threads, To};
use fi_mlx5::receives::{Buffers, Receives};
use fi_mlx5::remote::{Segment, Vector};
use fi_mlx5::route::Route;
use fi_mlx5_defs::endian::Be32;
use std::hint::black_box;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

/// Blocks of a send queue, of one entry each.
const BLOCKS: u32 = 1024;
/// Posts in line behind one that asks for a completion.
pub const QUARTER: usize = BLOCKS as usize / 4;
/// Posts that the benchmark of injection has for one completion: a quarter of the queue, and the one
/// that asks.
pub const PERIOD: u32 = QUARTER as u32 + 1;
/// Entries of a completion queue.
const COMPLETIONS: u32 = 256;
/// Entries with a completion of a sample of polls.
const POLLS: usize = 16;
/// Entries of a receive queue.
const RECEIVES: u32 = 8;
/// Bytes of a receive's buffer.
const BUFFER: u32 = 64;
/// Longest time that the device may take for something.
const LIMIT: Duration = Duration::from_secs(20);
/// The place of the one peer of a lane.
const PLACE: usize = 0;

/// Registered words, which the device reads and writes at any time.
struct Memory {
    region: Region,
    words: Box<[AtomicU64]>,
}

impl Memory {
    fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        let words: Box<[_]> = (0..bytes / 8).map(|_| AtomicU64::new(0)).collect();
        let base = words.as_ptr().cast::<u8>().cast_mut();
        // SAFETY: the words may be written at any time, as they are atomic, and outlive the region.
        let region = unsafe { device.register(base, size_of_val(&*words)) }?;
        Ok(Self { region, words })
    }

    fn address(&self) -> u64 {
        self.words.as_ptr().addr() as u64
    }
}

/// One end of the connection. Memory that the device uses is dropped behind the device's objects.
struct End {
    route: Route,
    /// In a box, as the route leads to it.
    lane: Box<Lane>,
    receives: Receives,
    pair: QueuePair,
    _completions: CompletionQueue,
    _receive_queue: ReceiveQueue,
    memory: Memory,
}

impl End {
    fn new(device: &Device) -> Result<Self, Error> {
        let domain = device.lane_domain()?;
        let completions = device.completion_queue(&domain, COMPLETIONS)?;
        let queue = device.receive_queue(RECEIVES)?;
        let pair = device.connected_receiving(&domain, &completions, &queue, BLOCKS)?;
        let entries = queue.ring().entries;
        let memory = Memory::new(device, (entries * BUFFER) as usize + 64)?;
        let buffers = Buffers {
            address: memory.address() + 64,
            bytes: BUFFER,
            key: memory.region.lkey(),
        };
        // SAFETY: the rings are as they were made, and live as long as the queue, which this end
        // keeps; the buffers are registered, and atomic words, to which nobody has a reference.
        let receives = unsafe { Receives::new(queue.ring(), queue.completion_ring(), buffers) };
        let parts = Parts {
            queues: Queues {
                connected: vec![pair.ring()],
                ..Queues::default()
            },
            completions: Source::Own(completions.ring()),
            discard: (0, 0),
            threads: Threads::One,
            registers: None,
            // Asking a device in software to act would be timed, too.
            hook: None,
        };
        // SAFETY: the queues and the register of the thread domain outlive the lane, which is
        // dropped first, and have no other user.
        let lane = Box::new(unsafe { Lane::new(parts) });
        let route = Route::of(&lane);
        if !route.is_connected_in_line() {
            return Err(Error::NoBlueFlame);
        }
        Ok(Self {
            route,
            lane,
            receives,
            pair,
            _completions: completions,
            _receive_queue: queue,
            memory,
        })
    }

    fn peer(&self, device: &Device) -> Peer {
        let features = device.features();
        Peer {
            number: self.pair.number(),
            lid: features.lid,
            mtu: features.mtu,
            max_read_atomic: features.max_read_atomic,
            key: 0,
        }
    }

    /// Sends a message of one word; false where the queue is not ready for it.
    #[inline(always)]
    fn send(&self, word: u64) -> bool {
        let nothing = (std::ptr::null(), 0);
        // SAFETY: the lane is alive and this thread's, its one peer is at the place, and no bytes
        // are read.
        unsafe { self.route.send(word, nothing, &Vector::nowhere(), PLACE) }
    }

    /// Takes the next message; false where none is there.
    #[inline(always)]
    fn receive(&self) -> bool {
        match self.receives.next() {
            Some(Ok(arrival)) => {
                self.receives.give(arrival.index);
                true
            }
            _ => false,
        }
    }

    /// Waits until everything that was posted is done, so that posts in line are possible again.
    fn drain(&self) -> Result<(), Error> {
        // SAFETY: this thread has the lane, whose one peer it is.
        Ok(unsafe { self.lane.drain(0) }?)
    }
}

/// The two ends, connected.
pub struct Low {
    ends: [End; 2],
    device: Device,
    clock: Clock,
    plan: Plan,
    /// Time until everything that is under way has come.
    settling: Settling,
}

/// The times of a post and its parts.
#[derive(Clone, Debug)]
pub struct Post {
    /// `LLP_post`.
    pub whole: Samples,
    /// Writing the descriptor.
    pub descriptor: Samples,
    /// Writing the doorbell record, with its barriers.
    pub record: Samples,
}

impl Low {
    /// Opens the device of this name, or the first one, and connects two queue pairs.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::NoBlueFlame`], [`Error::Operation`].
    pub fn open(device: Option<&str>, clock: &Clock, plan: Plan) -> Result<Self, Error> {
        let device = Device::open(device)?;
        let ends = [End::new(&device)?, End::new(&device)?];
        let [one, other] = ends.each_ref().map(|end| end.peer(&device));
        ends[0].pair.connect(&other)?;
        ends[1].pair.connect(&one)?;
        let low = Self {
            ends,
            device,
            clock: clock.clone(),
            plan,
            settling: Settling::new(Duration::from_micros(20)),
        };
        for end in 0..2 {
            low.write(end, false)?;
            low.ends[end].drain()?;
        }
        Ok(low)
    }

    /// Returns the device's name.
    #[must_use]
    pub fn device(&self) -> &str {
        self.device.name()
    }

    /// Posts a write to the other end by the first one, if nothing has to be waited for.
    #[inline(always)]
    fn inject(&self, value: u64) -> bool {
        let [end, other] = &self.ends;
        let key = Be32::new(other.memory.region.rkey());
        let there = Segment::new(other.memory.address(), key);
        // SAFETY: the lane is alive and this thread's, and its one peer is at the place.
        unsafe { end.route.inject(value, there, &Vector::nowhere(), PLACE) }
    }

    /// Posts a write with a completion by an end, of 8 bytes in the entry or, if `reads`, of bytes
    /// that the device reads.
    fn write(&self, from: usize, reads: bool) -> Result<(), Error> {
        let (end, other) = (&self.ends[from], &self.ends[1 - from]);
        let vector = Vector::nowhere();
        let to = To {
            peer: 0,
            vector: &vector,
            address: other.memory.address(),
            key: Be32::new(other.memory.region.rkey()),
        };
        if reads {
            let local = Local {
                address: end.memory.address(),
                length: 8,
                key: end.memory.region.lkey(),
            };
            // SAFETY: this thread has the lane, whose one peer it is; the memory is registered.
            unsafe { end.lane.write(to, local) }?;
        } else {
            let value = 1_u64;
            // SAFETY: this thread has the lane, whose one peer it is; the value has 8 bytes.
            unsafe { end.lane.write_inline(to, (&raw const value).cast(), 8) }?;
        }
        Ok(())
    }

    /// Brings the queue into the state in which posts in line follow each other.
    fn widen(&self) -> Result<(), Error> {
        if self.inject(0) && self.ends[0].lane.widen(0) {
            return Ok(());
        }
        Err(Error::Late("room in the send queue", 0))
    }

    /// Times `body`, called `times` times in a sample; `prepare` and `finish` are around each
    /// sample. Samples of which `finish` says that they are none are taken again.
    fn sample(
        &mut self,
        times: usize,
        mut prepare: impl FnMut(&Self) -> Result<(), Error>,
        mut body: impl FnMut(&Self) -> bool,
        mut finish: impl FnMut(&mut Self, bool) -> Result<bool, Error>,
    ) -> Result<Samples, Error> {
        let mut samples = Samples::new();
        let begin = Instant::now();
        // One sample more, which brings code and data into the caches.
        let mut is_first = true;
        while samples.len() < self.plan.samples {
            prepare(self)?;
            let mut is_right = true;
            let from = now();
            for _ in 0..times {
                is_right &= body(self);
            }
            let to = now();
            let ns = self.clock.between(from, to) / times as f64;
            if finish(self, is_right)? && !std::mem::take(&mut is_first) {
                samples.add(ns);
            }
            if begin.elapsed() > LIMIT * 3 {
                return Err(Error::Late("samples", LIMIT.as_secs() * 3));
            }
        }
        Ok(samples)
    }

    /// Times a post, and the parts of it that can be done apart.
    ///
    /// # Errors
    /// [`Error::Operation`], [`Error::Late`].
    pub fn post(&mut self) -> Result<Post, Error> {
        let batch = self.plan.batch.min(QUARTER);
        let drain = |low: &mut Self, is_right| low.ends[0].drain().map(|()| is_right);
        let whole = self.sample(batch, Self::widen, |low| low.inject(black_box(1)), drain)?;
        let key = Be32::new(self.ends[1].memory.region.rkey());
        let address = self.ends[1].memory.address();
        let descriptor = self.sample(
            batch,
            |_| Ok(()),
            |low| {
                let there = Segment::new(address, key);
                // SAFETY: the lane is alive and this thread's, its posts are in line by connected
                // queues (`End::new`), and its one peer is at the place.
                unsafe { low.ends[0].route.describe(black_box(1_u64), there, PLACE) }
            },
            |_, is_right| Ok(is_right),
        )?;
        let record = self.sample(
            batch,
            |_| Ok(()),
            |low| {
                // SAFETY: the lane is alive and this thread's, its posts are in line by connected
                // queues (`End::new`), and its one peer is at the place.
                unsafe { low.ends[0].route.count_again(black_box(PLACE)) };
                true
            },
            |_, is_right| Ok(is_right),
        )?;
        Ok(Post {
            whole,
            descriptor,
            record,
        })
    }

    /// Times taking one entry of the completion queue: `LLP_prog`.
    ///
    /// # Errors
    /// [`Error::Operation`], [`Error::Late`].
    pub fn progress(&mut self) -> Result<Samples, Error> {
        let post = |low: &Self| {
            for _ in 0..POLLS {
                low.write(0, false)?;
            }
            low.settling.wait();
            Ok(())
        };
        let take = |low: &Self| matches!(low.ends[0].lane.poll(), Ok(true));
        self.sample(POLLS, post, take, |low, is_right| {
            low.settling.note(is_right)?;
            low.ends[0].drain()?;
            Ok(is_right)
        })
    }

    /// Times a post that fails because the queue has no room without looking.
    ///
    /// # Errors
    /// [`Error::Operation`], [`Error::Late`].
    pub fn busy_post(&mut self) -> Result<Samples, Error> {
        let fill = |low: &Self| match low.inject(0) {
            true => Ok(()),
            false => Err(Error::Late("room in the send queue", 0)),
        };
        self.sample(
            self.plan.batch,
            fill,
            |low| !low.inject(black_box(1)),
            |low, is_right| low.ends[0].drain().map(|()| is_right),
        )
    }

    /// Times the work of the benchmark of injection for its own time stamps.
    ///
    /// # Errors
    /// [`Error::Late`].
    pub fn measurement_update(&mut self) -> Result<Samples, Error> {
        let mut stamps = Vec::with_capacity(QUARTER);
        self.sample(
            self.plan.batch,
            |_| Ok(()),
            |_| {
                if stamps.len() == QUARTER {
                    stamps.clear();
                }
                stamps.push(now());
                true
            },
            |_, is_right| Ok(is_right),
        )
    }

    /// Runs the benchmark of injection: posts of 8 bytes, a time stamp behind each, one completion
    /// for [`PERIOD`] posts. A wait for that completion is left out. Returns the time of one
    /// message, and the times between posts.
    ///
    /// # Errors
    /// [`Error::Operation`], [`Error::Late`].
    pub fn injection(&mut self) -> Result<(Samples, Samples), Error> {
        let (mut rates, mut gaps) = (Samples::new(), Samples::new());
        let mut stamps = Vec::with_capacity(QUARTER + 1);
        for round in 0..=self.plan.samples {
            self.widen()?;
            stamps.clear();
            let from = now();
            stamps.push(from);
            while self.inject(black_box(1)) {
                stamps.push(now());
            }
            self.write(0, false)?;
            let to = now();
            self.await_completion()?;
            // That of the post that has widened the queue.
            self.ends[0].lane.poll()?;
            self.await_completion()?;
            let mut taken = Ok(false);
            let progress = self.clock.time(|| taken = self.ends[0].lane.poll());
            let is_taken = taken?;
            self.ends[0].drain()?;
            if round == 0 || !is_taken {
                continue;
            }
            let posts = stamps.len() as f64;
            rates.add((self.clock.between(from, to) + progress) / posts);
            for pair in stamps.windows(2) {
                gaps.add(self.clock.apart(pair[0], pair[1]));
            }
        }
        Ok((rates, gaps))
    }

    fn await_completion(&self) -> Result<(), Error> {
        let lane = &self.ends[0].lane;
        wait("a completion", || lane.is_ready())
    }

    /// Runs the benchmark of latency: a message of 8 bytes there and back. Returns half of the time.
    ///
    /// # Errors
    /// [`Error::Late`].
    pub fn latency(&mut self) -> Result<Samples, Error> {
        let mut samples = Samples::new();
        let [one, other] = &self.ends;
        for round in 0..=self.plan.samples {
            let from = now();
            let is_sent = one.send(black_box(1));
            wait("a message", || other.receive())?;
            let is_answered = other.send(black_box(2));
            wait("a message", || one.receive())?;
            let to = now();
            if !(is_sent && is_answered) {
                return Err(Error::Late("room in the send queue", 0));
            }
            for end in [one, other] {
                wait("a completion", || end.lane.take_next().is_some())?;
            }
            if round > 0 {
                samples.add(self.clock.between(from, to) / 2.0);
            }
        }
        Ok(samples)
    }

    /// Times writes from the post to the poll that takes their completion: of 8 bytes in the entry
    /// or, if `reads`, of bytes that the device reads.
    ///
    /// # Errors
    /// [`Error::Operation`], [`Error::Late`].
    pub fn completion(&mut self, reads: bool) -> Result<Samples, Error> {
        let mut samples = Samples::new();
        for round in 0..=self.plan.samples {
            let from = now();
            self.write(0, reads)?;
            let lane = &self.ends[0].lane;
            wait("a completion", || matches!(lane.poll(), Ok(true)))?;
            let to = now();
            if round > 0 {
                samples.add(self.clock.between(from, to));
            }
        }
        self.ends[0].drain()?;
        Ok(samples)
    }
}

/// Looks before the processor is offered to others.
const LOOKS: u32 = 2000;

/// Looks until something is so.
#[inline(always)]
pub(crate) fn wait(what: &'static str, mut is_so: impl FnMut() -> bool) -> Result<(), Error> {
    let mut begin = None;
    let mut looks = 0_u32;
    while !is_so() {
        looks += 1;
        if looks.is_multiple_of(LOOKS) {
            let begin = begin.get_or_insert_with(Instant::now);
            if begin.elapsed() > LIMIT {
                return Err(Error::Late(what, LIMIT.as_secs()));
            }
            std::thread::yield_now();
        }
        std::hint::spin_loop();
    }
    Ok(())
}
