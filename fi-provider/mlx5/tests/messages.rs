//! Messages between queue pairs of the software device: lanes send, receive queues take them.
//!
//! The tests under `softhca run` are this program again. They need Debian's package
//! `ibverbs-providers`.
#![expect(unsafe_code, reason = "registers memory and posts from it")]

use fi_mlx5::device::{CompletionQueue, Device, Peer, QueuePair, ReceiveQueue, Region, Target};
use fi_mlx5::lane::{Failure, Lane, Local, Parts, Posted, Queues, Source, Threads};
use fi_mlx5::receives::{Arrival, Buffers, Failed, Receives};
use fi_mlx5::remote::Vector;
use fi_mlx5_defs::doorbell::Arm;
use fi_mlx5_defs::opcode::Syndrome;
use softhca_again::Again;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const DC_KEY: u64 = 0x1122_3344_5566_7788;

/// Words of a receive's buffer, and of the longest message therefore.
const WORDS: usize = 32;

/// Runs `body`, of the test of this name, on the software device with these options.
fn on_device(test: &str, body: fn(), options: &[&str]) {
    let options = &[&["--trace"], options].concat();
    let again = Again {
        options,
        ..Again::default()
    };
    again.body(test, body);
}

/// Calls `attempt` until it gives something.
fn wait<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(done) = attempt() {
            return done;
        }
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

/// Registered words, which the device reads and writes at any time.
struct Memory {
    // The region goes first.
    region: Region,
    words: Box<[AtomicU64]>,
}

impl Memory {
    fn new(device: &Device, words: usize) -> Self {
        let words: Box<[_]> = (0..words).map(|_| AtomicU64::new(0)).collect();
        let base = words.as_ptr().cast::<u8>().cast_mut();
        // SAFETY: the words may be written at any time, as they are atomic, and outlive the region.
        let region = unsafe { device.register(base, size_of_val(&*words)) };
        Self {
            region: region.expect("a region"),
            words,
        }
    }

    fn address(&self) -> u64 {
        self.words.as_ptr().addr() as u64
    }

    fn word(&self, at: usize) -> u64 {
        self.words[at].load(Ordering::Relaxed)
    }

    /// Returns the first `words` words, as a piece of a message.
    fn piece(&self, words: usize) -> Local {
        Local {
            address: self.address(),
            length: words as u32 * 8,
            key: self.region.lkey(),
        }
    }
}

/// A process that takes messages.
struct Receiver {
    receives: Receives,
    queue: ReceiveQueue,
    memory: Memory,
}

impl Receiver {
    fn new(device: &Device, entries: u32) -> Self {
        let queue = device.receive_queue(entries).expect("a receive queue");
        Self::of(device, queue, entries)
    }

    fn of(device: &Device, queue: ReceiveQueue, entries: u32) -> Self {
        let ring = queue.ring();
        assert_eq!(ring.entries, entries);
        let memory = Memory::new(device, entries as usize * WORDS);
        let buffers = Buffers {
            address: memory.address(),
            bytes: WORDS as u32 * 8,
            key: memory.region.lkey(),
        };
        // SAFETY: the rings are as they were made, and live as long as the queue; the buffers are
        // registered, and atomic words.
        let receives = unsafe { Receives::new(ring, queue.completion_ring(), buffers) };
        Self {
            receives,
            queue,
            memory,
        }
    }

    /// Returns word `at` of the message in buffer `index`.
    fn word(&self, index: u16, at: usize) -> u64 {
        self.memory.word(usize::from(index) * WORDS + at)
    }

    fn next(&self) -> Result<Arrival, Failed> {
        wait("no message", || self.receives.next())
    }

    /// Returns whether nothing has come, and nothing comes within some time.
    fn is_silent(&self) -> bool {
        std::thread::sleep(Duration::from_millis(30));
        self.receives.next().is_none()
    }
}

/// A process that sends messages, by one queue.
struct Sender {
    lane: Lane,
    pair: QueuePair,
    _completions: CompletionQueue,
    vector: Vector,
    memory: Memory,
    device: Device,
    key: u64,
}

/// Entries of the longest length that the sender's ring has.
const DEPTH: u32 = 16;

impl Sender {
    fn new(
        key: u64,
        vector: Vector,
        make: impl FnOnce(&Device, &CompletionQueue) -> QueuePair,
    ) -> Self {
        let device = Device::open(None).expect("a device").with_key(key);
        let domain = device.plain_domain();
        let completions = device.completion_queue(&domain, 64).expect("a queue");
        let pair = make(&device, &completions);
        let queues = if vector.key() == 0 {
            Queues {
                connected: vec![pair.ring()],
                ..Queues::default()
            }
        } else {
            Queues {
                initiators: vec![pair.ring()],
                ..Queues::default()
            }
        };
        let parts = Parts {
            queues,
            completions: Source::Own(completions.ring()),
            discard: (0, 0),
            threads: Threads::One,
            registers: None,
            hook: None,
        };
        Self {
            // SAFETY: the queues outlive the lane, which is dropped first, and have no other user.
            lane: unsafe { Lane::new(parts) },
            memory: Memory::new(&device, 2 * WORDS),
            _completions: completions,
            pair,
            vector,
            device,
            key,
        }
    }

    fn peer(&self) -> Peer {
        peer(&self.device, self.pair.number(), self.key)
    }

    fn has_room(&self) -> bool {
        // SAFETY: this thread has the lane, whose one peer it is.
        unsafe { self.lane.has_room(0, |_| ()) }
    }

    fn send_inline(&self, words: &[u64]) -> Result<Posted, Failure> {
        let (source, len) = (words.as_ptr().cast(), size_of_val(words));
        // SAFETY: this thread has the lane, whose one peer it is; the words are as long as said.
        unsafe { self.lane.send_inline(0, &self.vector, source, len) }
    }

    /// Sends these words, and as many more of the registered memory.
    fn send(&self, header: &[u64], more: usize) -> Result<Posted, Failure> {
        let piece = [self.memory.piece(more)];
        // SAFETY: this thread has the lane, whose one peer it is; the memory is registered.
        unsafe { self.lane.send_headed(0, &self.vector, header, piece) }
    }
}

fn peer(device: &Device, number: u32, key: u64) -> Peer {
    let features = device.features();
    Peer {
        number,
        lid: features.lid,
        mtu: features.mtu,
        max_read_atomic: features.max_read_atomic,
        key,
    }
}

/// The key of the process that receives.
const HOME: u64 = 77;

/// Opens a device that takes messages.
fn home() -> Device {
    Device::open(None).expect("a device").with_key(HOME)
}

/// Makes a sender that is connected to this receiver, and the receiver's end.
fn connected(home: &Device, receiver: &Receiver, key: u64) -> (Sender, QueuePair) {
    let domain = home.plain_domain();
    let completions = home.completion_queue(&domain, 4).expect("a queue");
    let end = home.connected_receiving(&domain, &completions, &receiver.queue, 4);
    let end = end.expect("a queue pair");
    let sender = Sender::new(key, Vector::nowhere(), |device, completions| {
        let domain = device.plain_domain();
        let made = device.connected(&domain, completions, 4 * DEPTH);
        made.expect("a queue pair")
    });
    end.connect(&sender.peer()).expect("connected");
    let there = peer(home, end.number(), HOME);
    sender.pair.connect(&there).expect("connected");
    (sender, end)
}

/// Makes a sender that enters a target of this receiver.
fn entering(home: &Device, target: &Target, key: u64) -> Sender {
    let vector = Vector::new(DC_KEY, target.number(), home.features().lid);
    Sender::new(key, vector, |device, completions| {
        let domain = device.plain_domain();
        let made = device.initiator(&domain, completions, 4 * DEPTH);
        made.expect("an initiator")
    })
}

fn target(home: &Device, receiver: &Receiver) -> Target {
    let target = home.target_receiving(DC_KEY, &receiver.queue);
    target.expect("a target")
}

#[test]
fn messages_of_several_peers_come_in_their_order() {
    let name = "messages_of_several_peers_come_in_their_order";
    on_device(name, in_order, &[]);
    on_device(name, in_order, &["--delay-seed", "5"]);
}

fn in_order() {
    let (home, few) = (home(), 8);
    let receiver = Receiver::new(&home, few);
    let target = target(&home, &receiver);
    let (mut senders, mut ends) = (Vec::new(), Vec::new());
    for key in 1..=2 {
        let (sender, end) = connected(&home, &receiver, key);
        ends.push(end.number());
        senders.push((sender, end));
    }
    let connected: Vec<_> = senders.iter().map(|(sender, _)| sender).collect();
    let entering = [3, 4].map(|key| entering(&home, &target, key));
    ends.extend([target.number(); 2]);
    let all: Vec<_> = connected.into_iter().chain(&entering).collect();
    exchange(&receiver, &all, &ends);
}

/// Messages of each sender.
const MESSAGES: u64 = 600;

/// Lets all send, and checks each message that comes: the sender's place and the message's number,
/// and as many words more as the number says.
fn exchange(receiver: &Receiver, senders: &[&Sender], ends: &[u32]) {
    let (mut sent, mut seen) = (vec![0; senders.len()], vec![0; senders.len()]);
    for sender in senders {
        for (at, word) in sender.memory.words.iter().enumerate() {
            word.store(at as u64, Ordering::Relaxed);
        }
    }
    let deadline = Instant::now() + Duration::from_secs(40);
    while seen.iter().any(|&seen| seen < MESSAGES) {
        for (at, sender) in senders.iter().enumerate() {
            if sent[at] < MESSAGES && sender.has_room() {
                let header = [at as u64, sent[at]];
                let more = sent[at] as usize % (WORDS - 1);
                let posted = match more {
                    0 => sender.send_inline(&header),
                    _ => sender.send(&header, more - 1),
                };
                posted.expect("the queue is well");
                sent[at] += 1;
            }
        }
        while let Some(arrival) = receiver.receives.next() {
            let arrival = arrival.expect("a message");
            let [from, number] = [0, 1].map(|at| receiver.word(arrival.index, at));
            let at = from as usize;
            assert_eq!((number, arrival.queue), (seen[at], ends[at]));
            let more = (number as usize % (WORDS - 1)).saturating_sub(1);
            assert_eq!(arrival.bytes as usize, (2 + more) * 8);
            assert_eq!(arrival.immediate, None);
            for word in 0..more {
                assert_eq!(receiver.word(arrival.index, 2 + word), word as u64);
            }
            seen[at] += 1;
            receiver.receives.give(arrival.index);
        }
        assert!(Instant::now() < deadline, "{sent:?} {seen:?}");
    }
    assert!(receiver.is_silent());
}

#[test]
fn a_queue_that_is_armed_tells_of_one_message() {
    let name = "a_queue_that_is_armed_tells_of_one_message";
    on_device(name, telling, &[]);
    on_device(name, telling, &["--strict"]);
}

fn telling() {
    let (home, few) = (home(), 8);
    let channel = home.channel().expect("a file of events");
    let queue = home.receive_queue_telling(&channel, few);
    let receiver = Receiver::of(&home, queue.expect("a receive queue"), few);
    let target = target(&home, &receiver);
    let sender = entering(&home, &target, 5);
    let take = || {
        sender.send_inline(&[7]).expect("the queue is well");
        let arrival = receiver.next().expect("a message");
        receiver.receives.give(arrival.index);
    };
    let (soon, late) = (Duration::from_millis(10), Duration::from_secs(10));
    for round in 0..6 {
        receiver.queue.arm(receiver.receives.consumed());
        let record = receiver.queue.completion_ring().record;
        // SAFETY: the record is mapped as long as the queue, and the device does not write it.
        let word = unsafe { (&raw const (*record).arm).read_volatile() };
        // Each message told once, each event counted, both before this.
        let expected = Arm {
            sequence: (round % 4) as u8,
            solicited_only: false,
            consumer: 2 * round,
        };
        assert_eq!(Arm::from_word(word.get()), Some(expected));
        assert!(!is_readable(&channel, soon), "nothing has come");
        take();
        assert!(is_readable(&channel, late), "a message has come");
        channel.drain().expect("events");
        assert!(!is_readable(&channel, soon), "the event was taken");
        take();
        assert!(!is_readable(&channel, soon), "nobody has asked");
    }
}

/// Returns whether the file is readable within this time.
fn is_readable(file: &impl AsFd, limit: Duration) -> bool {
    let mut watch = libc::pollfd {
        fd: file.as_fd().as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: poll reads and writes the one record.
    let ready = unsafe { libc::poll(&raw mut watch, 1, limit.as_millis() as i32) };
    assert!(ready >= 0, "{}", std::io::Error::last_os_error());
    ready == 1
}

#[test]
fn a_sender_waits_for_receives() {
    on_device("a_sender_waits_for_receives", waiting, &[]);
}

fn waiting() {
    let home = home();
    let receiver = Receiver::new(&home, 4);
    let target = target(&home, &receiver);
    let (sender, _end) = connected(&home, &receiver, 1);
    let entering = entering(&home, &target, 2);
    for sender in [&sender, &entering] {
        let mut posted = Vec::new();
        while sender.has_room() {
            let number = posted.len() as u64;
            posted.push(sender.send_inline(&[number; 20]).expect("posted"));
            assert!(posted.len() < 100, "there is room for ever");
        }
        // No more than three quarters of the ring, and no less than one fewer would take.
        assert!(posted.len() >= 8, "{}", posted.len());
        let arrived: Vec<_> = (0..3)
            .map(|_| receiver.next().expect("a message"))
            .collect();
        assert!(receiver.is_silent(), "more messages than receives");
        let last = posted[posted.len() - 1];
        assert_eq!(sender.lane.is_done(last), Ok(false));
        for arrival in &arrived {
            receiver.receives.give(arrival.index);
        }
        for number in 3..posted.len() as u64 {
            let arrival = receiver.next().expect("a message");
            assert_eq!(receiver.word(arrival.index, 0), number);
            receiver.receives.give(arrival.index);
        }
        sender.lane.wait(last).expect("all have come");
        assert!(sender.has_room() && receiver.is_silent());
    }
}

#[test]
fn messages_have_any_length_up_to_the_buffers() {
    on_device(
        "messages_have_any_length_up_to_the_buffers",
        lengths,
        &["--strict"],
    );
}

fn lengths() {
    let home = home();
    let receiver = Receiver::new(&home, 16);
    let target = target(&home, &receiver);
    let (sender, _end) = connected(&home, &receiver, 1);
    for sender in [&sender, &entering(&home, &target, 2)] {
        sender.send_inline(&[]).expect("posted");
        sender.send(&[], 0).expect("posted");
        sender.send(&[], WORDS).expect("posted");
        sender.send(&[1; 9], WORDS - 9).expect("posted");
        for words in [0, 0, WORDS, WORDS] {
            let arrival = receiver.next().expect("a message");
            assert_eq!(arrival.bytes as usize, words * 8);
            receiver.receives.give(arrival.index);
        }
    }
}

#[test]
fn a_message_that_does_not_fit_fails_its_sender_alone() {
    on_device(
        "a_message_that_does_not_fit_fails_its_sender_alone",
        too_long,
        &[],
    );
}

fn too_long() {
    let home = home();
    let receiver = Receiver::new(&home, 8);
    let target = target(&home, &receiver);
    let (sender, end) = connected(&home, &receiver, 1);
    let (other, _end) = connected(&home, &receiver, 2);
    let dynamic = entering(&home, &target, 3);
    let again = entering(&home, &target, 4);
    for (sender, end) in [(&sender, end.number()), (&dynamic, target.number())] {
        sender.send(&[5], 3).expect("posted");
        let posted = sender.send(&[5], WORDS).expect("posted");
        // Flushed: nobody hears of it.
        sender.send(&[6], 3).expect("posted");
        let arrival = receiver.next().expect("a message");
        receiver.receives.give(arrival.index);
        let failed = receiver.next().expect_err("too long");
        assert_eq!(failed.queue, end);
        assert_eq!(failed.syndrome, Syndrome::LocalLength.number());
        receiver
            .receives
            .give(failed.index.expect("a receive was used up"));
        assert!(sender.lane.wait(posted).is_err());
        assert!(receiver.is_silent());
        // A post that fails does not wait.
        assert!(sender.has_room() && sender.send(&[7], 0).is_err());
    }
    // Several times around the list.
    for sender in [&other, &again] {
        for number in 0..50 {
            sender.send(&[number], 0).expect("posted");
            let arrival = receiver.next().expect("a message");
            assert_eq!(receiver.word(arrival.index, 0), number);
            receiver.receives.give(arrival.index);
        }
    }
}
