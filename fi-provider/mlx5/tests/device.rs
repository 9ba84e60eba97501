//! Devices and the objects on them: without a device, and, as programs of the software device, with
//! one.
//!
//! The tests under `softhca run` are this program again. They need Debian's package
//! `ibverbs-providers`.
#![expect(
    unsafe_code,
    reason = "posts by hand: writes rings and registers, and forks"
)]

use fi_mlx5::completion::CompletionRing;
use fi_mlx5::device::{CompletionQueue, Device, Peer, QueuePair, Region, ThreadDomain};
use fi_mlx5::error::Error;
use fi_mlx5::queue::SendRing;
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::cqe::{Cqe, is_ready};
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::opcode::{CqeOpcode, Opcode, Syndrome};
use fi_mlx5_defs::wqe::{BASIC_BLOCK, CompactAddress, flags};
use softhca_again::Again;
use std::cell::UnsafeCell;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

const DC_KEY: u64 = 0x1122_3344_5566_7788;

/// Variable that tells the tests below whether their device has masked atomics.
const MASKED: &str = "FI_MLX5_TEST_MASKED";

/// Runs `body`, of the test of this name, on the software device: in this program again, where it is on the device already.
fn on_device(test: &str, body: fn(), options: &[&str], masked: bool) {
    let again = Again {
        options: &[&["--trace"], options].concat(),
        environment: &[(MASKED, if masked { "yes" } else { "no" })],
        ..Again::default()
    };
    again.body(test, body);
}

#[test]
fn without_a_device_it_is_said_so() {
    if Path::new("/sys/class/infiniband_verbs").exists() {
        println!("this machine has a device; not tried");
        return;
    }
    let error = Device::open(None).expect_err("there is no device");
    match &error {
        Error::NotInstalled { library } => assert_eq!(
            error.to_string(),
            format!("{library} is not installed (Debian: libibverbs1, ibverbs-providers)")
        ),
        error => assert_eq!(
            error.to_string(),
            "no mlx5 device with an active InfiniBand port"
        ),
    }
}

#[test]
fn features_are_what_the_device_tells() {
    on_device("features_are_what_the_device_tells", features, &[], true);
    on_device(
        "features_are_what_the_device_tells",
        features,
        &["--no-masked-atomics"],
        false,
    );
    on_device(
        "features_are_what_the_device_tells",
        features,
        &["--no-devx"],
        false,
    );
}

fn features() {
    let device = Device::open(None).expect("a device");
    assert_eq!(device.name(), "mlx5_0");
    let features = device.features();
    let masked = std::env::var(MASKED).expect("set") == "yes";
    assert_eq!(
        (features.masked_atomics_4, features.masked_atomics_8),
        (masked, masked)
    );
    assert!(features.dc && features.host_endian_atomics);
    let port = (features.port, features.lid, features.mtu);
    assert_eq!(port, (1, 1, 4096));
    assert_eq!(
        (features.max_read_atomic, features.max_message),
        (16, 1 << 30)
    );
    assert!(features.max_completions > 65536);
    assert!(Device::open(Some("mlx5_0")).is_ok());
    let error = Device::open(Some("mlx5_7")).expect_err("there is no such device");
    assert_eq!(
        error.to_string(),
        "no mlx5 device with an active InfiniBand port (there is no mlx5_7)"
    );
}

#[test]
fn registers_are_those_of_the_thread_domain() {
    on_device(
        "registers_are_those_of_the_thread_domain",
        registers,
        &[],
        true,
    );
    on_device(
        "registers_are_those_of_the_thread_domain",
        registers,
        &["--legacy-uars"],
        true,
    );
}

fn registers() {
    let device = Device::open(None).expect("a device");
    let mut seen = Vec::new();
    for _ in 0..2 {
        let domain = device.lane_domain().expect("a thread domain");
        assert!(domain.exclusive());
        let completions = device.completion_queue(&domain, 16).expect("a queue");
        let pair = |blocks| {
            device
                .connected(&domain, &completions, blocks)
                .expect("a queue pair")
        };
        let pairs = [pair(4), pair(64), pair(1)];
        let [first, second, third] = pairs.each_ref().map(QueuePair::ring);
        // As much as was wanted, and no more.
        assert_eq!([first.blocks, second.blocks, third.blocks], [4, 64, 4]);
        assert_eq!(first.register, second.register);
        assert_eq!(first.register_size, 256);
        assert_eq!(first.max_inline, 256 - 36);
        assert_ne!(first.number, second.number);
        assert_eq!(second.number, pairs[1].number());
        assert_eq!(second.base.addr() % BASIC_BLOCK, 0);
        let initiator = device
            .initiator(&domain, &completions, 128)
            .expect("an initiator");
        assert_eq!(initiator.ring().register, first.register);
        assert_eq!(initiator.ring().blocks, 128);
        assert_eq!(initiator.ring().max_inline, 256 - 84);
        seen.push((first.register, domain));
    }
    assert_ne!(seen[0].0, seen[1].0);
}

#[test]
fn completion_queues_have_the_entries_that_were_wanted() {
    on_device(
        "completion_queues_have_the_entries_that_were_wanted",
        completion_queues,
        &[],
        true,
    );
}

fn completion_queues() {
    let device = Device::open(None).expect("a device");
    let domain = device.lane_domain().expect("a thread domain");
    for (wanted, entries) in [(2, 2), (3, 4), (64, 64), (65, 128), (4096, 4096)] {
        let queue = device.completion_queue(&domain, wanted).expect("a queue");
        let ring = queue.ring();
        assert_eq!(ring.entries, entries);
        // SAFETY: the ring has so many entries, and the device writes none as there is no queue pair.
        let all = unsafe { std::slice::from_raw_parts(ring.base, entries as usize) };
        assert!(all.iter().all(|it| it.opcode() == Some(CqeOpcode::Invalid)));
        assert_ne!(queue.number(), 0);
    }
    let most = device.features().max_completions;
    assert!(
        device
            .completion_queue(&domain, most.saturating_mul(2))
            .is_err()
    );
}

/// Memory for the device to use.
#[repr(align(4096))]
struct Memory(UnsafeCell<[u8; 4096]>);

impl Memory {
    fn new() -> Box<Self> {
        Box::new(Self(UnsafeCell::new([0; 4096])))
    }

    fn address(&self, at: usize) -> u64 {
        self.0.get().addr() as u64 + at as u64
    }

    fn bytes(&self, at: usize, len: usize) -> Vec<u8> {
        let base = self.0.get().cast::<AtomicU8>().cast_const();
        // SAFETY: the place is within the memory, which others write by single bytes or larger at any time.
        let byte = |n: usize| unsafe { &*base.add(at + n) }.load(Ordering::Relaxed);
        (0..len).map(byte).collect()
    }
}

/// All that one lane has.
struct Lane {
    ring: SendRing,
    posted: u16,
    half: usize,
    completions: CompletionRing,
    taken: u32,
}

impl Lane {
    fn new(pair: &QueuePair, completions: &CompletionQueue) -> Self {
        Self {
            ring: pair.ring(),
            posted: 0,
            half: 0,
            completions: completions.ring(),
            taken: 0,
        }
    }

    fn entry(&self, opcode: Opcode) -> Entry {
        Entry::new(opcode, self.posted, self.ring.number).flags(flags::COMPLETION)
    }

    /// Writes an entry, the doorbell record and a copy of the entry into the register.
    fn post(&mut self, entry: &Entry) {
        let bytes = entry.finish().expect("it fits");
        let blocks = entry.blocks();
        for n in 0..blocks {
            let index = (self.posted as usize + n) % self.ring.blocks as usize;
            let from = &bytes[n * BASIC_BLOCK..bytes.len().min((n + 1) * BASIC_BLOCK)];
            // SAFETY: the block is in the ring, and the device is not at it.
            unsafe {
                let to = self.ring.base.add(index * BASIC_BLOCK);
                to.write_bytes(0, BASIC_BLOCK);
                to.copy_from_nonoverlapping(from.as_ptr(), from.len());
            }
        }
        self.posted = self.posted.wrapping_add(blocks as u16);
        // ORDERING: the device reads the entry after the record, and acts on the register after both.
        fence(Ordering::SeqCst);
        let record = Be32::new(u32::from(self.posted)).raw();
        // SAFETY: the record is a word that lives as long as the queue pair.
        unsafe { &*self.ring.record.cast::<AtomicU32>() }.store(record, Ordering::Release);
        fence(Ordering::SeqCst);
        self.ring_register(&bytes);
    }

    fn ring_register(&mut self, bytes: &[u8]) {
        let mut copy = bytes.to_vec();
        copy.resize(bytes.len().next_multiple_of(BASIC_BLOCK), 0);
        assert!(copy.len() <= self.ring.register_size as usize);
        for (n, word) in copy.chunks_exact(8).enumerate() {
            let word = u64::from_ne_bytes(word.try_into().expect("8 bytes"));
            // SAFETY: the register has two halves of this size.
            unsafe {
                let to = self.ring.register.add(self.half + n * 8);
                to.cast::<u64>().write_volatile(word);
            }
        }
        fence(Ordering::SeqCst);
        self.half ^= self.ring.register_size as usize;
    }

    /// Waits for the next completion.
    fn wait(&mut self) -> Cqe {
        let entries = self.completions.entries;
        let at = (self.taken % entries) as usize;
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            // SAFETY: the entry is in the ring; its last byte is written last.
            let last = unsafe { &raw const (*self.completions.base.add(at)).opcode_owner };
            // SAFETY: the byte lives as long as the queue; the device writes it as a whole.
            let owner = unsafe { &*last.cast::<AtomicU8>() }.load(Ordering::Acquire);
            if is_ready(owner, self.taken, entries) {
                break;
            }
            assert!(Instant::now() < deadline, "no completion");
            std::thread::yield_now();
        }
        // SAFETY: the entry is whole, and the device leaves it alone until the record says that it was taken.
        let cqe = unsafe { self.completions.base.add(at).read_volatile() };
        self.taken += 1;
        let consumer = Be32::new(self.taken & 0xff_ffff).raw();
        // SAFETY: the record lives as long as the queue.
        let record = unsafe { &raw const (*self.completions.record).consumer };
        // SAFETY: the record lives as long as the queue; its consumer is an aligned word.
        unsafe { &*record.cast::<AtomicU32>() }.store(consumer, Ordering::Release);
        cqe
    }

    /// Posts it, and waits until it is done.
    fn perform(&mut self, entry: &Entry) {
        let index = self.posted;
        self.post(entry);
        let cqe = self.wait();
        assert_eq!(cqe.opcode(), Some(CqeOpcode::Requester), "{cqe:?}");
        assert_eq!(cqe.qpn(), self.ring.number);
        assert_eq!(cqe.wqe_counter.get(), index);
    }
}

/// A device with memory, of which the second half is called remote.
struct World {
    device: Device,
    key: u64,
    region: Region,
    memory: Box<Memory>,
}

const FAR: usize = 2048;

impl World {
    fn new() -> Self {
        Self::of(0x0123_4567_89ab_cdef)
    }

    /// Makes the world of a process with this key.
    fn of(key: u64) -> Self {
        let device = Device::open(None).expect("a device").with_key(key);
        let memory = Memory::new();
        // SAFETY: it is memory that is looked at by atomic loads alone, and outlives the region.
        let region = unsafe { device.register(memory.0.get().cast(), 4096) }.expect("a region");
        Self {
            device,
            key,
            region,
            memory,
        }
    }

    fn lane(&self) -> (ThreadDomain, CompletionQueue) {
        let domain = self.device.lane_domain().expect("a thread domain");
        let completions = self.device.completion_queue(&domain, 4).expect("a queue");
        (domain, completions)
    }

    fn peer(&self, number: u32) -> Peer {
        let features = self.device.features();
        Peer {
            number,
            lid: features.lid,
            mtu: features.mtu,
            max_read_atomic: features.max_read_atomic,
            key: self.key,
        }
    }

    /// Does a write, a read and a fetch-and-add on the memory of another world, `rounds` times;
    /// `entry` begins an entry.
    fn operate(
        &self,
        other: &Self,
        lane: &mut Lane,
        rounds: u8,
        entry: impl Fn(&Lane, Opcode) -> Entry,
    ) {
        let (memory, region) = (&self.memory, &self.region);
        let far = |at| other.memory.address(FAR + at);
        let rkey = other.region.rkey();
        for round in 0..rounds {
            // Of four blocks, the largest that the register takes.
            let data: Vec<u8> = (0..180).map(|n| n ^ round).collect();
            lane.perform(
                &entry(lane, Opcode::Write)
                    .remote(far(0), rkey)
                    .inline(&data),
            );
            assert_eq!(other.memory.bytes(FAR, data.len()), data);
            let read = entry(lane, Opcode::Read).remote(far(0), rkey);
            lane.perform(&read.data(memory.address(8), data.len() as u32, region.lkey()));
            assert_eq!(memory.bytes(8, data.len()), data);
            let operands = fi_mlx5_defs::wqe::Atomic {
                swap_or_add: 3.into(),
                compare: 0.into(),
            };
            let add = entry(lane, Opcode::FetchAdd).remote(far(512), rkey);
            lane.perform(
                &add.segment(&operands)
                    .data(memory.address(0), 8, region.lkey()),
            );
            let result = self.word(0).load(Ordering::Acquire);
            assert_eq!(result, 3 * u64::from(round));
        }
        assert_eq!(
            other.word(FAR + 512).swap(0, Ordering::AcqRel),
            3 * u64::from(rounds)
        );
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: a word of the memory, aligned.
        unsafe { &*self.memory.0.get().byte_add(at).cast::<AtomicU64>() }
    }
}

#[test]
fn a_connected_queue_pair_does_what_is_posted() {
    on_device(
        "a_connected_queue_pair_does_what_is_posted",
        connected,
        &[],
        true,
    );
    on_device(
        "a_connected_queue_pair_does_what_is_posted",
        connected,
        &["--legacy-uars", "--no-devx"],
        false,
    );
}

fn connected() {
    let world = World::new();
    let (domain, completions) = world.lane();
    let own = world
        .device
        .connected(&domain, &completions, 16)
        .expect("a queue pair");
    own.connect(&world.peer(own.number()))
        .expect("connected to itself");
    let mut lane = Lane::new(&own, &completions);
    // More than the rings hold, of entries and of completions.
    world.operate(&world, &mut lane, 20, |lane, opcode| lane.entry(opcode));
    let again = own.connect(&world.peer(own.number()));
    let again = again.expect_err("it is connected").to_string();
    assert!(again.starts_with("ibv_modify_qp to RTR: "), "{again}");

    // A pair of two on devices of their own, so that neither's key is good for the other; one says that it may have fewer reads under way.
    let far = World::of(0xfedc_ba98_7654_3210);
    let (far_domain, far_completions) = far.lane();
    let a = world
        .device
        .connected(&domain, &completions, 16)
        .expect("a queue pair");
    let b = far
        .device
        .connected(&far_domain, &far_completions, 16)
        .expect("a queue pair");
    let weak = Peer {
        max_read_atomic: 1,
        mtu: 256,
        ..far.peer(b.number())
    };
    a.connect(&weak).expect("connected");
    b.connect(&world.peer(a.number())).expect("connected");
    let mut far_lane = Lane::new(&b, &far_completions);
    far.operate(&world, &mut far_lane, 3, |lane, opcode| lane.entry(opcode));

    // A key that nobody gave.
    let wrong = lane.entry(Opcode::Write);
    let wrong = wrong.remote(world.memory.address(FAR), world.region.rkey() ^ 1);
    lane.post(&wrong.inline(b"no"));
    let cqe = lane.wait();
    assert!(cqe.is_error(), "{cqe:?}");
    assert_eq!(cqe.syndrome(), Syndrome::RemoteAccess.number());
}

#[test]
fn who_has_not_the_key_reaches_nothing() {
    on_device("who_has_not_the_key_reaches_nothing", keys, &[], true);
}

fn keys() {
    let (world, far) = (World::of(1), World::of(2));
    let (domain, completions) = world.lane();
    let (far_domain, far_completions) = far.lane();
    let ends = || {
        let near = world.device.connected(&domain, &completions, 16);
        let there = far.device.connected(&far_domain, &far_completions, 16);
        (near.expect("a queue pair"), there.expect("a queue pair"))
    };

    // Memory for the own entries alone.
    let private = Memory::new();
    // SAFETY: it is memory that is looked at by atomic loads alone, and outlives the region.
    let region = unsafe { far.device.register_local(private.0.get().cast(), 4096) };
    let region = region.expect("a region");
    let (a, b) = ends();
    a.connect(&far.peer(b.number())).expect("connected");
    b.connect(&world.peer(a.number())).expect("connected");
    let mut lane = Lane::new(&a, &completions);
    let write = lane.entry(Opcode::Write);
    let write = write.remote(private.address(0), region.rkey());
    lane.post(&write.inline(b"no"));
    let cqe = lane.wait();
    assert_eq!(cqe.syndrome(), Syndrome::RemoteAccess.number(), "{cqe:?}");

    // A peer of another key sends packets that this one does not expect: it goes on asking, and
    // nothing is written.
    let (c, d) = ends();
    c.connect(&far.peer(d.number())).expect("connected");
    let stranger = Peer {
        key: 3,
        ..world.peer(c.number())
    };
    d.connect(&stranger).expect("connected");
    // The completions are the same queue's.
    let mut other = Lane::new(&c, &completions);
    let write = other.entry(Opcode::Write);
    let write = write.remote(far.memory.address(FAR), far.region.rkey());
    other.post(&write.inline(b"no"));
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(far.memory.bytes(FAR, 2), [0, 0]);

    // The same for initiators, which have the key in each entry.
    let target = far.device.target(2).expect("a target");
    let initiator = world.device.initiator(&domain, &completions, 16);
    let initiator = initiator.expect("an initiator");
    let lid = world.device.features().lid;
    let mut third = Lane::new(&initiator, &completions);
    let write = third.entry(Opcode::Write);
    let write = write.address(CompactAddress::dc(1, target.number(), lid));
    let write = write.remote(far.memory.address(FAR), far.region.rkey());
    third.post(&write.inline(b"no"));
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(far.memory.bytes(FAR, 2), [0, 0]);
}

#[test]
fn an_initiator_reaches_a_target() {
    on_device("an_initiator_reaches_a_target", dynamic, &[], true);
}

fn dynamic() {
    let world = World::new();
    let (domain, completions) = world.lane();
    let target = world.device.target(DC_KEY).expect("a target");
    let other = world.device.target(DC_KEY).expect("a target");
    assert_ne!(target.number(), 0);
    assert_ne!(target.number(), other.number());
    let initiator = world
        .device
        .initiator(&domain, &completions, 16)
        .expect("an initiator");
    let mut lane = Lane::new(&initiator, &completions);
    let lid = world.device.features().lid;
    let address = CompactAddress::dc(DC_KEY, target.number(), lid);
    world.operate(&world, &mut lane, 20, |lane, opcode| {
        lane.entry(opcode).address(address)
    });
    let connected = initiator.connect(&world.peer(target.number()));
    assert!(connected.is_err(), "initiators are not connected");

    drop(target);
    // Nobody takes requests of this number any more; others are not touched by it.
    let address = CompactAddress::dc(DC_KEY, other.number(), lid);
    world.operate(&world, &mut lane, 2, |lane, opcode| {
        lane.entry(opcode).address(address)
    });
}

#[test]
fn everything_is_closed_in_order_and_by_its_own_process() {
    // A close that comes too early, twice, or from a child, is refused, and then the program stops.
    on_device(
        "everything_is_closed_in_order_and_by_its_own_process",
        closing,
        &[],
        true,
    );
}

fn closing() {
    let World {
        device,
        region,
        memory,
        key: _,
    } = World::new();
    let domain = device.lane_domain().expect("a thread domain");
    let completions = device.completion_queue(&domain, 4).expect("a queue");
    let pair = device
        .connected(&domain, &completions, 4)
        .expect("a queue pair");
    let target = device.target(1).expect("a target");
    // SAFETY: the child drops its objects and ends, by calls that need no lock of another thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop((pair, target, completions, domain, region, device));
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for the child, and writes where it may.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    // Objects on which others depend go first.
    drop(device);
    drop(domain);
    drop(completions);
    drop(region);
    drop(memory);
    drop(target);
    drop(pair);
}
