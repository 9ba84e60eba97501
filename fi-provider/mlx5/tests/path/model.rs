//! The model of a device, and lanes over it.

use bytemuck::Zeroable;
use fi_mlx5::completion::CompletionRing;
use fi_mlx5::guard::Guard;
use fi_mlx5::lane::{
    Atomic, Hook, Lane, Later, Local, Parts, Queues, SharedCompletions, Source, Threads, To,
};
use fi_mlx5::queue::Place;
use fi_mlx5::queue::SendRing;
use fi_mlx5::registers::Registers;
use fi_mlx5::remote::{Segment, Vector};
use fi_mlx5::route::Route;
use fi_mlx5::short::There;
use fi_mlx5_defs::cqe::{Cqe, INVALID, owner_of};
use fi_mlx5_defs::decode::{self, Service};
use fi_mlx5_defs::doorbell::CompletionRecord;
use fi_mlx5_defs::endian::{Be16, Be32};
use fi_mlx5_defs::opcode::{CqeOpcode, Opcode, Syndrome};
use fi_mlx5_defs::wqe::{BASIC_BLOCK, Control, UNIT, blocks, flags};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

pub(crate) const DC_KEY: u64 = 0x1122_3344_5566_7788;
pub(crate) const DISCARD: (u64, u32) = (0x7000_0000_1000, 0x4242);
pub(crate) const KEY: u32 = 0x00c0_ffee;
/// Bytes of one half of the register.
pub(crate) const HALF: usize = 256;
const PAGE: usize = 4096;

/// Memory that starts at a page and is zero.
struct Memory {
    base: *mut u8,
    layout: Layout,
}

impl Memory {
    fn new(len: usize) -> Self {
        let layout = Layout::from_size_align(len.max(PAGE), PAGE).expect("a size");
        // SAFETY: the size is not zero.
        let base = unsafe { alloc_zeroed(layout) };
        assert!(!base.is_null());
        Self { base, layout }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.base, self.layout) };
    }
}

/// Shape that a lane is to have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) dynamic: bool,
    pub(crate) queues: u32,
    /// Peers that get a connected queue later; the last queue is one of these then.
    pub(crate) later: u32,
    pub(crate) blocks: u32,
    pub(crate) completions: u32,
    /// Whether the device looks for overruns of the completion queue.
    pub(crate) is_checked: bool,
    pub(crate) threads: Threads,
    /// Whether other lanes ring the register as well.
    pub(crate) registers_shared: bool,
    /// Bytes of half a register; 0 for no BlueFlame.
    pub(crate) register: u32,
}

impl Shape {
    pub(crate) const RC: Self = Self {
        dynamic: false,
        queues: 2,
        later: 0,
        blocks: 64,
        completions: 64,
        is_checked: true,
        threads: Threads::One,
        registers_shared: false,
        register: HALF as u32,
    };
    pub(crate) const DC: Self = Self {
        dynamic: true,
        queues: 1,
        ..Self::RC
    };

    pub(crate) fn service(&self, queue: usize) -> Service {
        let is_later = self.later > 0 && queue + 1 == self.queues as usize;
        if self.dynamic && !is_later {
            Service::Addressed
        } else {
            Service::Connected
        }
    }
}

/// An entry that the device has seen.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) queue: usize,
    pub(crate) control: Control,
    pub(crate) bytes: Vec<u8>,
    /// Its first block and the one behind it, counted from the beginning.
    start: u64,
    end: u64,
}

impl Taken {
    pub(crate) fn signalled(&self) -> bool {
        self.control.flags & flags::COMPLETION != 0
    }

    pub(crate) fn fenced(&self) -> bool {
        self.control.flags & flags::FENCE != 0
    }

    pub(crate) fn is_nop(&self) -> bool {
        self.control.opcode() == Opcode::Nop.number()
    }
}

struct Port {
    ring: SendRing,
    /// Blocks seen, and blocks done, of all that were ever posted.
    seen: u64,
    done: u64,
    pending: VecDeque<Taken>,
}

/// The device.
pub(crate) struct Device {
    shape: Shape,
    pub(crate) later: Option<Arc<Later>>,
    ports: Vec<Port>,
    cqes: *mut Cqe,
    record: *mut CompletionRecord,
    register: *mut u8,
    /// Completions written, and completions asked for by entries that were seen.
    written: u32,
    due: u32,
    /// Entries that were seen since the test last asked.
    pub(crate) log: Vec<Taken>,
    memory: Vec<Memory>,
    /// Of its context, where lanes share them.
    pub(crate) registers: Option<Arc<Registers>>,
    /// State of the generator by which a turn of the device is decided.
    pub(crate) random: u64,
}

// SAFETY: its pointers are to memory of its own, which lanes and devices share as a process and its device do.
unsafe impl Send for Device {}

impl Device {
    pub(crate) fn new(shape: Shape) -> Self {
        let mut memory = Vec::new();
        let mut take = |len: usize| {
            memory.push(Memory::new(len));
            memory.last().expect("just pushed").base
        };
        let register = take(2 * HALF);
        let record = take(size_of::<CompletionRecord>()).cast();
        let cqes: *mut Cqe = take(size_of::<Cqe>() * shape.completions as usize).cast();
        for at in 0..shape.completions as usize {
            let mut cqe = Cqe::zeroed();
            cqe.opcode_owner = INVALID;
            // SAFETY: inside the ring.
            unsafe { cqes.add(at).write(cqe) };
        }
        let ports = (0..shape.queues).map(|index| Port {
            ring: SendRing {
                number: 0x00ab_0100 + 64 * index,
                base: take(BASIC_BLOCK * shape.blocks as usize),
                blocks: shape.blocks,
                record: take(8).cast(),
                register,
                register_size: shape.register,
                max_inline: 512,
            },
            seen: 0,
            done: 0,
            pending: VecDeque::new(),
        });
        let ports = ports.collect();
        Self {
            shape,
            later: (shape.later > 0).then(|| Later::new(shape.later)),
            ports,
            cqes,
            record,
            register,
            written: 0,
            due: 0,
            log: Vec::new(),
            memory,
            registers: shape.registers_shared.then(|| Arc::new(Registers::new())),
            random: 1,
        }
    }

    /// Makes a lane of this device.
    pub(crate) fn lane(&self, hook: Option<Hook>) -> Box<Lane> {
        let mut rings: Vec<_> = self.ports.iter().map(|port| port.ring).collect();
        let mut queues = Queues::default();
        if self.later.is_some() {
            rings.pop();
            queues.later = self.later.clone();
        }
        if self.shape.dynamic {
            queues.initiators = rings;
        } else {
            queues.connected = rings;
        }
        let parts = Parts {
            queues,
            completions: Source::Own(CompletionRing {
                base: self.cqes,
                entries: self.shape.completions,
                record: self.record,
                is_checked: self.shape.is_checked,
            }),
            discard: DISCARD,
            threads: self.shape.threads,
            registers: self.registers.clone(),
            hook,
        };
        assert!(!self.memory.is_empty());
        // SAFETY: tests drop the lane before the device.
        Box::new(unsafe { Lane::new(parts) })
    }

    /// Makes lanes of a queue each that share the completion queue, in equal parts.
    pub(crate) fn lanes(&self, hook: Option<Hook>) -> Vec<Lane> {
        let ring = CompletionRing {
            base: self.cqes,
            entries: self.shape.completions,
            record: self.record,
            is_checked: true,
        };
        // SAFETY: tests drop the lanes before the device.
        let completions = Arc::new(unsafe { SharedCompletions::new(ring) });
        let lane = |port: &Port| {
            let parts = Parts {
                queues: Queues {
                    connected: vec![port.ring],
                    ..Queues::default()
                },
                completions: Source::Shared {
                    completions: Arc::clone(&completions),
                    entries: self.shape.completions / self.shape.queues,
                },
                discard: DISCARD,
                threads: self.shape.threads,
                registers: None,
                hook,
            };
            // SAFETY: tests drop the lane before the device, whose memory its queues and registers
            // are.
            unsafe { Lane::new(parts) }
        };
        self.ports.iter().map(lane).collect()
    }

    pub(crate) fn ring(&self, queue: usize) -> SendRing {
        self.ports[queue].ring
    }

    pub(crate) fn number(&self, queue: usize) -> u32 {
        self.ports[queue].ring.number
    }

    /// Returns the record of a queue as it stands.
    pub(crate) fn producer(&self, queue: usize) -> u32 {
        // SAFETY: mapped; the other side may write it.
        let word = unsafe { self.ports[queue].ring.record.read_volatile() };
        // ORDERING: pairs with the lane's barrier between entry and record.
        fence(Ordering::Acquire);
        word.get()
    }

    /// Returns a half of the register.
    pub(crate) fn half(&self, half: usize) -> [u8; HALF] {
        // SAFETY: the register has two halves.
        unsafe { self.register.add(half * HALF).cast::<[u8; HALF]>().read() }
    }

    /// Returns the number of completions that were asked for and that the lane has not taken.
    fn owed(&self) -> u32 {
        // SAFETY: mapped; the other side may write it.
        let consumer = unsafe { (&raw const (*self.record).consumer).read_volatile() };
        let owed = self.due.wrapping_sub(consumer.get()) & 0xff_ffff;
        if self.shape.is_checked { owed } else { 0 }
    }

    fn read(&self, queue: usize, start: u64, count: usize) -> Vec<u8> {
        let ring = &self.ports[queue].ring;
        let mut bytes = Vec::new();
        for at in start..start + count as u64 {
            let at = (at as usize & (ring.blocks as usize - 1)) * BASIC_BLOCK;
            // SAFETY: inside the ring.
            bytes.extend(unsafe { ring.base.add(at).cast::<[u8; BASIC_BLOCK]>().read() });
        }
        bytes
    }

    /// Reads the entries that were posted to all queues.
    pub(crate) fn look(&mut self) {
        for queue in 0..self.ports.len() {
            let producer = self.producer(queue);
            assert!(producer <= 0xffff, "the record counts modulo 2^16");
            while self.ports[queue].seen as u16 != producer as u16 {
                self.take(queue);
            }
            let port = &self.ports[queue];
            assert!(port.seen - port.done <= u64::from(port.ring.blocks));
        }
        assert!(
            self.owed() <= self.shape.completions,
            "more than the CQ has"
        );
    }

    fn take(&mut self, queue: usize) {
        let start = self.ports[queue].seen;
        let control = decode::control(&self.read(queue, start, 1)).expect("a control segment");
        assert_eq!(
            control.index(),
            start as u16,
            "the index of its first block"
        );
        assert_eq!(control.qpn(), self.number(queue));
        let count = blocks(control.units());
        let mut bytes = self.read(queue, start, count);
        bytes.truncate(control.units() * UNIT);
        let request = decode::request(&bytes, self.shape.service(queue)).expect("an entry");
        request.pieces.collect().expect("whole data segments");
        let end = start + count as u64;
        let taken = Taken {
            queue,
            control,
            bytes,
            start,
            end,
        };
        self.due += u32::from(taken.signalled());
        self.log.push(taken.clone());
        self.ports[queue].seen = end;
        self.ports[queue].pending.push_back(taken);
    }

    /// Returns whether the device has entries of this queue to do.
    pub(crate) fn is_pending(&self, queue: usize) -> bool {
        !self.ports[queue].pending.is_empty()
    }

    /// Returns whether the entry that begins with this block, of all that were ever posted, is
    /// done.
    pub(crate) fn is_done(&self, queue: usize, block: u64) -> bool {
        self.ports[queue].done > block
    }

    /// Returns the number of blocks that were seen.
    pub(crate) fn seen(&self, queue: usize) -> u64 {
        self.ports[queue].seen
    }

    /// Does the oldest entry of a queue. It must still be as it was when the device saw it first.
    pub(crate) fn finish(&mut self, queue: usize) {
        let Some(taken) = self.ports[queue].pending.pop_front() else {
            return;
        };
        let count = blocks(taken.control.units());
        let mut now = self.read(queue, taken.start, count);
        now.truncate(taken.bytes.len());
        assert_eq!(now, taken.bytes, "written over before it was done");
        self.ports[queue].done = taken.end;
        if taken.signalled() {
            self.complete(&taken, Cqe::new(CqeOpcode::Requester));
        }
    }

    /// Lets the oldest entry of a queue fail.
    pub(crate) fn fail(&mut self, queue: usize, syndrome: Syndrome) {
        let taken = self.ports[queue].pending.pop_front().expect("an entry");
        let mut cqe = Cqe::new(CqeOpcode::RequesterError);
        cqe.set_syndrome(syndrome, 0x99);
        self.complete(&taken, cqe);
    }

    fn complete(&mut self, taken: &Taken, mut cqe: Cqe) {
        cqe.opcode_qpn = Be32::new(u32::from(taken.control.opcode()) << 24 | taken.control.qpn());
        cqe.wqe_counter = Be16::new(taken.control.index());
        cqe.set_owner(owner_of(self.written, self.shape.completions));
        let last = cqe.opcode_owner;
        cqe.opcode_owner = INVALID;
        let at = (self.written & (self.shape.completions - 1)) as usize;
        let place = self.cqes.wrapping_add(at);
        // SAFETY: inside the ring.
        unsafe {
            place.cast::<[u8; 63]>().write(
                *bytemuck::cast::<_, [[u8; 64]; 1]>(cqe)[0]
                    .first_chunk()
                    .expect("63 of 64"),
            )
        };
        // ORDERING: the last byte after all others, as the lane reads them.
        fence(Ordering::Release);
        // SAFETY: inside the ring.
        unsafe { (&raw mut (*place).opcode_owner).write_volatile(last) };
        self.written = self.written.wrapping_add(1);
    }

    /// Looks, and does some entries.
    pub(crate) fn turn(&mut self) {
        self.look();
        let mut random = self.random;
        for _ in 0..1 + random % 4 {
            random = random
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            let queue = (random >> 33) as usize % self.ports.len();
            for _ in 0..1 + (random >> 20) % 16 {
                self.finish(queue);
            }
        }
        self.random = random;
    }
}

thread_local! {
    /// The device of the test that this thread runs.
    static DEVICE: RefCell<Option<Device>> = const { RefCell::new(None) };
}

/// Does something with the device of this thread.
pub(crate) fn device<R>(what: impl FnOnce(&mut Device) -> R) -> R {
    DEVICE.with_borrow_mut(|device| what(device.as_mut().expect("a device")))
}

/// Gives the device its turn: lanes call it where they found no completion.
pub(crate) extern "C" fn turn() -> i32 {
    device(Device::turn);
    0
}

/// A lane on the device of this thread.
pub(crate) struct Rig {
    pub(crate) shape: Shape,
    pub(crate) lane: Box<Lane>,
    pub(crate) route: Route,
    pub(crate) vector: Vector,
}

impl Rig {
    pub(crate) fn new(shape: Shape) -> Self {
        Self::with_hook(shape, turn)
    }

    pub(crate) fn with_hook(shape: Shape, hook: Hook) -> Self {
        let new = Device::new(shape);
        let lane = new.lane(Some(hook));
        let route = Route::of(&lane);
        DEVICE.set(Some(new));
        Self {
            shape,
            lane,
            route,
            vector: Vector::new(DC_KEY, 0x0003_2100, 0x17),
        }
    }

    pub(crate) fn to(&self, peer: u32, address: u64) -> To<'_> {
        To {
            peer,
            vector: &self.vector,
            address,
            key: Be32::new(KEY),
        }
    }

    /// Writes inline on the slow path, which always asks for a completion.
    pub(crate) fn write(
        &self,
        peer: u32,
        bytes: &[u8],
    ) -> Result<fi_mlx5::lane::Posted, fi_mlx5::lane::Failure> {
        self.write_at(peer, bytes, 0x1000)
    }

    pub(crate) fn write_at(
        &self,
        peer: u32,
        bytes: &[u8],
        address: u64,
    ) -> Result<fi_mlx5::lane::Posted, fi_mlx5::lane::Failure> {
        let to = self.to(peer, address);
        // SAFETY: the bytes are as many as said.
        unsafe { self.lane.write_inline(to, bytes.as_ptr(), bytes.len()) }
    }

    pub(crate) fn inject<T: Copy>(&self, peer: u32, value: T, address: u64) -> bool {
        let key = Be32::new(KEY);
        // SAFETY: the lane is alive and this thread's; the peer is one of its.
        unsafe {
            self.route
                .inject(value, Segment::new(address, key), &self.vector, place(peer))
        }
    }

    pub(crate) fn add(&self, peer: u32, value: u64, address: u64) -> bool {
        // SAFETY: the lane is alive and this thread's; the peer is one of its.
        unsafe {
            self.route
                .add(value, Segment::new(address, Be32::new(KEY)), place(peer))
        }
    }

    fn there(&self, peer: u32, address: u64) -> There<'_> {
        There {
            segment: Segment::new(address, Be32::new(KEY)),
            vector: &self.vector,
            place: place(peer),
        }
    }

    /// Writes a few bytes without waiting, under any guard.
    pub(crate) fn write_guarded(&self, peer: u32, bytes: &[u8], address: u64) -> bool {
        let there = self.there(peer, address);
        // SAFETY: the lane is alive and used as its guard allows; the peer is one of its, and the
        // bytes are as many as said.
        unsafe { self.route.write_guarded(bytes.as_ptr(), bytes.len(), there) }
    }

    /// Writes a few bytes on a lane of one thread, into one block.
    pub(crate) fn write_block(&self, peer: u32, bytes: &[u8], address: u64) -> Option<bool> {
        let there = self.there(peer, address);
        // SAFETY: the lane is alive and this thread's; the peer is one of its, and the bytes are as
        // many as said.
        unsafe { self.route.write_block(bytes.as_ptr(), bytes.len(), there) }
    }

    /// Writes 8 bytes on a lane of one thread; nothing is asked of them.
    pub(crate) fn write_word(&self, peer: u32, word: u64, address: u64) -> Option<bool> {
        let there = || Some(self.there(peer, address));
        // SAFETY: the lane is alive and this thread's; the peer is one of its, and a word has 8
        // bytes.
        unsafe { self.route.write_word((&raw const word).cast(), there) }
    }

    pub(crate) fn add_guarded(&self, peer: u32, value: u64, address: u64) -> bool {
        let (at, key) = DISCARD;
        let nowhere = Local {
            address: at,
            length: 8,
            key,
        };
        self.start_atomic(peer, &Atomic::add_8(value), nowhere, address)
    }

    /// Starts an atomic operation without waiting, under any guard.
    pub(crate) fn start_atomic(
        &self,
        peer: u32,
        what: &Atomic,
        local: Local,
        address: u64,
    ) -> bool {
        // SAFETY: the lane is alive and used as its guard allows; the peer is one of its; no device
        // touches the memory.
        unsafe {
            self.route
                .start_atomic(what, local, self.there(peer, address))
        }
    }

    /// Starts a transfer without waiting, under any guard.
    pub(crate) fn start(&self, opcode: Opcode, peer: u32, local: Local, address: u64) -> bool {
        let there = self.there(peer, address);
        // SAFETY: the lane is alive and used as its guard allows; the peer is one of its; no device
        // touches the memory.
        unsafe {
            match opcode {
                Opcode::Read => self.route.start_read(local, there),
                _ => self.route.start_write(local, there),
            }
        }
    }

    /// Does an atomic operation or a read and waits for it, on a lane of one thread, on a queue
    /// with no entry outstanding.
    pub(crate) fn fetch(
        &self,
        peer: u32,
        what: &Atomic,
        local: Local,
        address: u64,
    ) -> Option<Result<(), fi_mlx5::lane::Failure>> {
        // SAFETY: the lane is alive and this thread's; the peer is one of its; no device touches
        // the memory.
        unsafe { self.route.fetch(what, local, self.there(peer, address)) }
    }

    /// Writes an element under the guard `G`, which is the lane's.
    pub(crate) fn inject_by<T: Copy, G: Guard>(&self, peer: u32, value: T, address: u64) -> bool {
        // SAFETY: the lane is alive and has the guard `G`; the peer is one of its.
        unsafe {
            self.route
                .inject_by::<T, G>(value, self.there(peer, address))
        }
    }

    /// Writes an element under [`OnRegister`](fi_mlx5::guard::OnRegister), if the lane has that
    /// guard.
    pub(crate) fn inject_on_register<T: Copy>(
        &self,
        peer: u32,
        value: T,
        address: u64,
    ) -> Option<bool> {
        let there = || Some(self.there(peer, address));
        // SAFETY: the lane is alive and this thread's; the peer is one of its.
        unsafe { self.route.inject_on_register(value, there) }
    }

    pub(crate) fn quiet(&self) -> Result<(), fi_mlx5::lane::Failure> {
        let _held = self.lane.hold();
        // SAFETY: the lane is held.
        unsafe { self.lane.quiet() }
    }

    pub(crate) fn drain(&self, peer: u32) -> Result<(), fi_mlx5::lane::Failure> {
        let _held = self.lane.hold();
        // SAFETY: the lane is held.
        unsafe { self.lane.drain(peer) }
    }
}

/// Returns the place of a peer's queue.
pub(crate) fn place(peer: u32) -> Place {
    peer as usize * 64
}

/// Local memory that no test looks at.
pub(crate) const LOCAL: Local = Local {
    address: 0x7000_0000_2000,
    length: 8,
    key: 0x77,
};
