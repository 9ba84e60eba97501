//! Registered memory under addresses of its own, on the software device.
//!
//! The tests under `softhca run` are this program again. They need Debian's package
//! `ibverbs-providers`.
#![expect(unsafe_code, reason = "maps and registers memory, and posts")]

use fi_mlx5::device::{CompletionQueue, Device, Peer, QueuePair, Region, Rights};
use fi_mlx5::lane::{Atomic, Failure, Lane, Local, Parts, Queues, Source, Threads, To};
use fi_mlx5::remote::Vector;
use fi_mlx5_defs::endian::Be32;
use softhca_again::Again;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

/// Longer than 32 bits count.
const LEN: usize = (4 << 30) + (1 << 20);

/// The last word.
const LAST: u64 = LEN as u64 - 8;

/// Memory that is zero and of which most is never touched.
struct Memory(*mut u8);

impl Memory {
    fn new() -> Self {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a mapping of its own, anywhere.
        let base = unsafe { libc::mmap(null_mut(), LEN, rights, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        Self(base.cast())
    }

    fn word(&self, at: u64) -> &AtomicU64 {
        assert!(at <= LAST && at.is_multiple_of(8));
        // SAFETY: the word is aligned and in the mapping, and lives as long as this.
        unsafe { &*self.0.add(at as usize).cast::<AtomicU64>() }
    }

    fn register(&self, device: &Device, io_address: u64, rights: Rights) -> Region {
        // SAFETY: the bytes are mapped, and read as atomic words alone.
        let region = unsafe { device.register_at(self.0, LEN, io_address, rights) };
        region.expect("a region")
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's, and nobody uses it any more.
        assert_eq!(unsafe { libc::munmap(self.0.cast(), LEN) }, 0);
    }
}

/// A queue that is connected with itself.
struct Loop {
    lane: Lane,
    _pair: QueuePair,
    _completions: CompletionQueue,
}

impl Loop {
    fn new(device: &Device) -> Self {
        let domain = device.plain_domain();
        let completions = device.completion_queue(&domain, 16).expect("a queue");
        let pair = device.connected(&domain, &completions, 16);
        let pair = pair.expect("a queue pair");
        let features = device.features();
        let own = Peer {
            number: pair.number(),
            lid: features.lid,
            mtu: features.mtu,
            max_read_atomic: features.max_read_atomic,
            key: 0,
        };
        pair.connect(&own).expect("connected");
        let parts = Parts {
            queues: Queues {
                connected: vec![pair.ring()],
                ..Queues::default()
            },
            completions: Source::Own(completions.ring()),
            discard: (0, 0),
            threads: Threads::One,
            registers: None,
            hook: None,
        };
        Self {
            // SAFETY: the queues outlive the lane, which is dropped first, and have no other user.
            lane: unsafe { Lane::new(parts) },
            _pair: pair,
            _completions: completions,
        }
    }

    fn write(&self, value: u64, address: u64, key: u32) -> Result<(), Failure> {
        let (vector, source) = (Vector::nowhere(), (&raw const value).cast());
        let to = to(&vector, address, key);
        // SAFETY: this thread has the lane, whose one peer it is; the value has 8 bytes.
        self.lane
            .wait(unsafe { self.lane.write_inline(to, source, 8)? })
    }

    fn read(&self, local: Local, address: u64, key: u32) -> Result<(), Failure> {
        let vector = Vector::nowhere();
        let to = to(&vector, address, key);
        // SAFETY: this thread has the lane, whose one peer it is; the memory is registered.
        self.lane.wait(unsafe { self.lane.read(to, local)? })
    }

    fn add(&self, local: Local, address: u64, key: u32) -> Result<(), Failure> {
        let vector = Vector::nowhere();
        let to = to(&vector, address, key);
        // SAFETY: this thread has the lane, whose one peer it is; the memory is registered.
        self.lane
            .wait(unsafe { self.lane.atomic(to, &Atomic::add_8(1), local)? })
    }
}

fn to(vector: &Vector, address: u64, key: u32) -> To<'_> {
    To {
        peer: 0,
        vector,
        address,
        key: Be32::new(key),
    }
}

fn on_device(test: &str, body: fn()) {
    // As much as the tests register, for users who may lock less.
    let again = Again {
        options: &["--trace", "--max-pinned", "34359738368"],
        ..Again::default()
    };
    again.body(test, body);
}

#[test]
fn peers_name_memory_by_offsets() {
    on_device("peers_name_memory_by_offsets", offsets);
}

fn offsets() {
    let device = Device::open(None).expect("a device");
    let memory = Memory::new();
    for io_address in [0, 0x10_0000_0000_1000] {
        let region = memory.register(&device, io_address, Rights::ALL);
        let (way, key) = (Loop::new(&device), region.rkey());
        for (value, at) in [(1, 0), (2, 4096), (3, LAST)] {
            way.write(value, io_address + at, key).expect("written");
            assert_eq!(memory.word(at).load(Ordering::Acquire), value);
        }
        // Own entries name it so, too.
        let local = Local {
            address: io_address + 64,
            length: 8,
            key: region.lkey(),
        };
        way.read(local, io_address + LAST, key).expect("read");
        assert_eq!(memory.word(64).load(Ordering::Acquire), 3);
        way.add(local, io_address + LAST, key).expect("added");
        assert_eq!(memory.word(LAST).load(Ordering::Acquire), 4);
        // Nothing is reached beyond either end, nor by the process's addresses.
        let before = io_address.wrapping_sub(8);
        let own = memory.0.addr() as u64;
        for wrong in [io_address + LAST + 1, before, own] {
            let way = Loop::new(&device);
            assert_eq!(way.write(9, wrong, key), Err(Failure::RemoteAccess));
        }
        assert_eq!(memory.word(0).load(Ordering::Acquire), 1);
    }
}

#[test]
fn peers_have_the_rights_that_they_were_given() {
    on_device("peers_have_the_rights_that_they_were_given", rights);
}

fn rights() {
    let device = Device::open(None).expect("a device");
    let memory = Memory::new();
    let own = memory.register(&device, 0, Rights::NONE);
    let local = Local {
        address: 8,
        length: 8,
        key: own.lkey(),
    };
    let all = [Rights::READ, Rights::WRITE, Rights::ATOMIC];
    for (given, may) in [
        (Rights::NONE, [false, false, false]),
        (Rights::READ, [true, false, false]),
        (Rights::WRITE, [false, true, false]),
        (Rights::ATOMIC, [false, false, true]),
        (Rights::READ | Rights::ATOMIC, [true, false, true]),
        (Rights::ALL, [true, true, true]),
    ] {
        let region = memory.register(&device, 0, given);
        for (right, may) in all.into_iter().zip(may) {
            let way = Loop::new(&device);
            let done = match right {
                Rights::READ => way.read(local, 0, region.rkey()),
                Rights::WRITE => way.write(1, 0, region.rkey()),
                _ => way.add(local, 0, region.rkey()),
            };
            let expected = if may {
                Ok(())
            } else {
                Err(Failure::RemoteAccess)
            };
            assert_eq!(done, expected, "{right:?} of {given:?}");
        }
    }
}
