//! A lane: the send queues of one endpoint, their completion queue, and whatever takes more than a post.
//!
//! * Every post here asks for a completion; those in line ([`crate::post`]) do so where the queue was idle and is
//!   armed for it. So the first entry has a completion, which is all that a put followed by quiet needs, and then one
//!   for each quarter of the ring (moderation); at the end quiet adds an empty entry where the last one has none.
//! * Completions of a queue come in the order of its entries, so that one tells of all before it.
//! * Queues that were used since the last quiet but one are a list; quiet walks no others.
//!
//! A lane is used by one thread at a time. Where several may come, it is made `shared`, and takes a lock.

#![expect(
    unsafe_code,
    reason = "writes rings and doorbell registers through raw pointers"
)]

use crate::completion::{Completed, CompletionRing, Completions};
use crate::endian::Be32;
use crate::entry::Entry;
use crate::opcode::{Opcode, Syndrome};
use crate::post::{HALF, Route, other_half};
use crate::queue::{END, Queue, SendRing, after};
use crate::remote::Remote;
use crate::unit::{entry_before_record, flush_register, record_before_register, store_to_register};
use crate::wqe::{flags, masked_modifier};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why the device did not do what was posted. The lane is of no use any more.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The peer's memory is not registered there, or not with this key.
    #[error("the peer's device refuses access to the memory")]
    RemoteAccess,
    /// The peer does not answer.
    #[error("the peer does not answer")]
    Unreachable,
    /// The device is gone.
    #[error("the device is gone")]
    Lost,
    /// A completion told of another error.
    #[error("the device reports the error {0:#x} (manual: completion with error, syndrome)")]
    Other(u8),
}

impl Failure {
    fn of(syndrome: u8) -> Self {
        match Syndrome::from_number(syndrome) {
            Some(Syndrome::RemoteAccess) => Self::RemoteAccess,
            Some(
                Syndrome::TransportRetryExceeded
                | Syndrome::ReceiverNotReadyRetryExceeded
                | Syndrome::RemoteAborted,
            ) => Self::Unreachable,
            _ => Self::Other(syndrome),
        }
    }
}

/// What a lane may call where it found its completion queue empty; returns 0, or -1 when the device is gone.
pub type Hook = extern "C" fn() -> i32;

/// How a lane reaches its peers.
#[derive(Debug)]
pub enum Queues {
    /// By a connected queue for each, in their order.
    Connected(Vec<SendRing>),
    /// By one queue, which enters their targets.
    Dynamic(SendRing),
}

/// What a lane is made of.
#[derive(Debug)]
pub struct Parts {
    /// The send queues.
    pub queues: Queues,
    /// Their completion queue.
    pub completions: CompletionRing,
    /// Local memory for results that nobody wants: address, local key.
    pub discard: (u64, u32),
    /// Whether several threads may use the lane at a time.
    pub shared: bool,
    /// Called where the completion queue was found empty.
    pub hook: Option<Hook>,
}

/// See the module's documentation.
#[derive(Debug)]
pub struct Lane {
    queues: Box<[Queue]>,
    dynamic: bool,
    completions: Completions,
    /// Entries posted with a completion that was not seen yet, without those of armed queues.
    outstanding: Cell<u32>,
    /// The first queue in use: its index + 1.
    used: Cell<u32>,
    /// Which queue has a number: open addressing, index + 1.
    by_number: Box<[u32]>,
    failure: Cell<Option<Failure>>,
    /// Bytes of a BlueFlame copy; 0 for none.
    blueflame: usize,
    register: *mut u8,
    max_inline: usize,
    discard: [u64; 2],
    hook: Option<Hook>,
    lock: Option<AtomicBool>,
}

/// Where an entry was posted: the queue, and the block behind its first, counted from the queue's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted {
    queue: u32,
    end: u64,
}

/// Holds a lane's lock, where it has one.
#[derive(Debug)]
pub struct Held<'a>(Option<&'a AtomicBool>);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(lock) = self.0 {
            // ORDERING: pairs with the exchange in `Lane::hold`.
            lock.store(false, Ordering::Release);
        }
    }
}

/// Looks at an empty queue before the processor is offered to others.
const LOOKS: u32 = 200;

impl Lane {
    /// A lane of these parts.
    ///
    /// # Safety
    /// The memory of the queues, the registers and the memory for results live longer than the lane, and nobody else
    /// uses them.
    pub unsafe fn new(parts: Parts) -> Self {
        let (rings, dynamic) = match parts.queues {
            Queues::Connected(rings) => (rings, false),
            Queues::Dynamic(ring) => (vec![ring], true),
        };
        let fits = |ring: &SendRing| {
            ring.blocks.is_power_of_two() && (16..=1 << 15).contains(&ring.blocks)
        };
        assert!(rings.iter().all(fits), "a ring of 16 to 32768 blocks");
        let entries = parts.completions.entries;
        assert!(entries.is_power_of_two() && entries as usize > rings.len());
        for ring in &rings {
            // SAFETY: by contract. Queues take their next index from their records.
            unsafe { ring.record.write_volatile(Be32::new(0)) };
        }
        let all = |what: fn(&SendRing) -> u32| rings.iter().map(what).min().unwrap_or(0) as usize;
        let blueflame = match all(|ring| ring.register_size) {
            size if size >= HALF => HALF,
            _ => 0,
        };
        let (address, lkey) = parts.discard;
        // Control segment, remote address and the element; between them the address vector where queues are not connected.
        let units = if dynamic { 4 } else { 3 };
        Self {
            queues: rings.iter().map(|ring| Queue::new(ring, units)).collect(),
            dynamic,
            // SAFETY: by contract.
            completions: unsafe { Completions::new(parts.completions) },
            outstanding: Cell::new(0),
            used: Cell::new(END),
            by_number: index_numbers(&rings),
            failure: Cell::new(None),
            blueflame,
            register: rings
                .first()
                .map_or(std::ptr::null_mut(), |ring| ring.register),
            max_inline: all(|ring| ring.max_inline),
            discard: Entry::data_words(address, 8, lkey),
            hook: parts.hook,
            lock: parts.shared.then(|| AtomicBool::new(false)),
        }
    }

    /// The route to the lane, for one endpoint; the lane must not move while it is used.
    pub fn route(&self) -> Route {
        let in_line = self.lock.is_none() && self.blueflame > 0;
        Route {
            connected: in_line && !self.dynamic,
            dynamic: in_line && self.dynamic,
            register: Cell::new(self.register),
            queues: self.queues.as_ptr(),
            discard: self.discard,
            lane: &raw const *self,
        }
    }

    /// Whether several threads may use it.
    #[inline(always)]
    pub fn is_shared(&self) -> bool {
        self.lock.is_some()
    }

    /// Keeps other threads out until the result is dropped, where the lane is shared.
    pub fn hold(&self) -> Held<'_> {
        if let Some(lock) = &self.lock {
            // ORDERING: pairs with the release in `Held::drop`: what one thread left, the next one finds.
            while lock
                .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
                .is_err()
            {
                std::thread::yield_now();
            }
        }
        Held(self.lock.as_ref())
    }

    /// Bytes that an entry for `write` may hold inline.
    pub fn max_inline(&self) -> usize {
        self.max_inline.min(Entry::INLINE)
    }

    /// An empty entry that goes to peer `index`.
    fn entry(&self, remote: &Remote) -> Entry {
        let mut entry = Entry::new();
        if self.dynamic {
            let [low, high] = remote.vector;
            entry.words(low, high);
        }
        entry
    }

    /// The queue that peer `index` is reached by.
    fn queue_of(&self, index: u32) -> u32 {
        if self.dynamic { 0 } else { index }
    }

    /// Posts a write of the bytes at `source`, which the entry takes with it.
    ///
    /// # Safety
    /// `route` leads to this lane, which this thread holds; the peer is one of the lane's. `source` has `len` bytes, at most
    /// [`Lane::max_inline`].
    pub unsafe fn write_inline(
        &self,
        route: &Route,
        to: To<'_>,
        source: *const u8,
        len: usize,
    ) -> Result<Posted, Failure> {
        let mut entry = self.entry(to.remote);
        entry.remote(to.address, to.key);
        // SAFETY: by contract.
        unsafe { entry.inline(source, len) };
        // SAFETY: by contract.
        unsafe { self.post(route, self.queue_of(to.peer), Opcode::Write, 0, &entry) }
    }

    /// Posts a write of local memory, which has to stay as it is until the completion.
    ///
    /// # Safety
    /// As [`Lane::write_inline`]; the local memory is registered under its key.
    pub unsafe fn write(&self, route: &Route, to: To<'_>, local: Local) -> Result<Posted, Failure> {
        let mut entry = self.entry(to.remote);
        entry.remote(to.address, to.key);
        entry.data(local.address, local.length, local.key);
        // SAFETY: by contract.
        unsafe { self.post(route, self.queue_of(to.peer), Opcode::Write, 0, &entry) }
    }

    /// Posts a read into local memory.
    ///
    /// # Safety
    /// As [`Lane::write`].
    pub unsafe fn read(&self, route: &Route, to: To<'_>, local: Local) -> Result<Posted, Failure> {
        let mut entry = self.entry(to.remote);
        entry.remote(to.address, to.key);
        entry.data(local.address, local.length, local.key);
        let queue = self.queue_of(to.peer);
        // SAFETY: by contract.
        let posted = unsafe { self.post(route, queue, Opcode::Read, 0, &entry) };
        self.queues[queue as usize].unfenced.set(true);
        posted
    }

    /// Posts an atomic operation; what was there before comes into local memory.
    ///
    /// # Safety
    /// As [`Lane::write`].
    pub unsafe fn atomic(
        &self,
        route: &Route,
        to: To<'_>,
        what: &Atomic,
        local: Local,
    ) -> Result<Posted, Failure> {
        let mut entry = self.entry(to.remote);
        entry.remote(to.address, to.key);
        for &[low, high] in &what.operands[..what.units] {
            entry.words(low, high);
        }
        entry.data(local.address, local.length, local.key);
        let queue = self.queue_of(to.peer);
        // SAFETY: by contract.
        let posted = unsafe { self.post(route, queue, what.opcode, what.modifier, &entry) };
        self.queues[queue as usize].unfenced.set(true);
        posted
    }

    /// Posts an entry with a completion, and waits for room before that.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    unsafe fn post(
        &self,
        route: &Route,
        index: u32,
        opcode: Opcode,
        modifier: u8,
        entry: &Entry,
    ) -> Result<Posted, Failure> {
        let blocks = entry.blocks();
        let flags = self.prepare(index, blocks)?;
        let queue = &self.queues[index as usize];
        let at = queue.producer.get();
        let head = queue.head(opcode, modifier, at, entry.units());
        let entry = entry.with_head(head, flags);
        for (place, block) in (0..).zip(entry.iter().take(blocks.into())) {
            let place = queue.block(after(at, place));
            // SAFETY: `prepare` has made room for the entry.
            unsafe { place.cast::<[u64; 8]>().write(*block) };
        }
        let next = after(at, blocks.into());
        queue.producer.set(next);
        entry_before_record();
        // SAFETY: the record is mapped as long as the queue; volatile, because the device reads it.
        unsafe { queue.record.write_volatile(Be32::new(next)) };
        record_before_register();
        let register = route.register.get();
        if self.blueflame > 0 {
            let units = entry.as_ptr().cast();
            // SAFETY: the entry has as many units and their alignment, and is no longer than the register.
            unsafe {
                store_to_register(
                    register,
                    std::slice::from_raw_parts(units, usize::from(blocks) * 4),
                )
            };
            route.register.set(other_half(register));
        } else {
            // SAFETY: the register is mapped, and eight bytes are written at once.
            unsafe { register.cast::<u64>().write_volatile(head) };
        }
        flush_register();
        let before = queue.consumed.get();
        let end = before + u64::from((at as u16).wrapping_sub(before as u16)) + 1;
        Ok(Posted { queue: index, end })
    }

    /// Makes room for an entry of `blocks` blocks, which must be posted next and with the flags returned, and for
    /// entries without looking behind it.
    fn prepare(&self, index: u32, blocks: u16) -> Result<u8, Failure> {
        if let Some(failure) = self.failure.get() {
            return Err(failure);
        }
        let queue = &self.queues[index as usize];
        if queue.link.get() == 0 {
            queue.link.set(self.used.get());
            self.used.set(index + 1);
        }
        self.disarm(queue);
        let ahead = u32::from(blocks) + (queue.mask + 1) / 4;
        // Armed queues have completions that are not counted.
        let most = self.completions.entries() - self.queues.len() as u32;
        while queue.in_flight() + ahead > queue.mask + 1 || self.outstanding.get() >= most {
            self.wait_once()?;
        }
        let at = queue.producer.get();
        queue.signalled.set(at as u16);
        queue.signalled_end.set(after(at, blocks.into()) as u16);
        queue.limit.set(after(at, ahead));
        self.outstanding.set(self.outstanding.get() + 1);
        let fence = queue.fence.replace(false);
        Ok(flags::COMPLETION | if fence { flags::FENCE } else { 0 })
    }

    /// Gives the next entry, of a queue with nothing outstanding, a completion that is not counted.
    #[inline(always)]
    fn arm(&self, queue: &Queue) {
        let at = queue.producer.get();
        queue.signalled.set(at as u16);
        queue.signalled_end.set(after(at, 1) as u16);
        queue.limit.set(after(at, 1));
        queue.set_flags(flags::COMPLETION);
        queue.armed.set(true);
        queue.unfenced.set(false);
        queue.fence.set(false);
    }

    /// Takes that back where the entry was not posted, and otherwise counts its completion.
    fn disarm(&self, queue: &Queue) {
        if !queue.armed.replace(false) {
            return;
        }
        queue.set_flags(0);
        queue.limit.set(queue.producer.get());
        if queue.is_idle() {
            queue.signalled_end.set(queue.producer.get() as u16);
        } else {
            self.outstanding.set(self.outstanding.get() + 1);
        }
    }

    /// Takes a completion, or lets the device have its turn.
    #[inline]
    fn wait_once(&self) -> Result<(), Failure> {
        if self.poll()? { Ok(()) } else { self.idle() }
    }

    /// Takes the next completion, if there is one.
    #[inline(always)]
    pub fn poll(&self) -> Result<bool, Failure> {
        let Some(done) = self.completions.next() else {
            return self.failure.get().map_or(Ok(false), Err);
        };
        self.complete(done)
    }

    #[inline(always)]
    fn complete(&self, done: Completed) -> Result<bool, Failure> {
        if let Some(syndrome) = done.syndrome {
            return Err(self.keep(Failure::of(syndrome)));
        }
        let queue = self.queue_numbered(done.number);
        if queue.armed.get() {
            // The one entry of an armed queue.
            queue.armed.set(false);
            queue.set_flags(0);
        } else {
            self.outstanding.set(self.outstanding.get() - 1);
        }
        let end = if done.index == queue.signalled.get() {
            queue.signalled_end.get()
        } else {
            done.index.wrapping_add(1)
        };
        queue.complete(end);
        Ok(true)
    }

    /// Keeps a failure and returns the first one, which is the cause: it makes the device flush the rest.
    #[cold]
    fn keep(&self, failure: Failure) -> Failure {
        let failure = self.failure.get().unwrap_or(failure);
        self.failure.set(Some(failure));
        failure
    }

    /// Lets the device have its turn: the completion queue was found empty.
    #[cold]
    #[inline(never)]
    pub fn idle(&self) -> Result<(), Failure> {
        match self.hook {
            Some(hook) if hook() != 0 => Err(self.keep(Failure::Lost)),
            Some(_) => Ok(()),
            None => {
                // The device writes on while the processor is another's.
                for _ in 0..LOOKS {
                    if self.completions.is_ready() {
                        return Ok(());
                    }
                    std::hint::spin_loop();
                }
                std::thread::yield_now();
                self.failure.get().map_or(Ok(()), Err)
            }
        }
    }

    /// Waits until an entry is done.
    pub fn wait(&self, posted: Posted) -> Result<(), Failure> {
        let queue = &self.queues[posted.queue as usize];
        while queue.consumed.get() < posted.end {
            self.wait_once()?;
        }
        self.rest(queue);
        Ok(())
    }

    /// Waits until everything that was posted to peer `index` is done.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub unsafe fn drain(&self, route: &Route, index: u32) -> Result<(), Failure> {
        let index = self.queue_of(index);
        let queue = &self.queues[index as usize];
        if queue.link.get() == 0 {
            return Ok(());
        }
        // SAFETY: by contract.
        unsafe { self.sign_last(route, index)? };
        while !queue.is_idle() {
            self.wait_once()?;
        }
        self.rest(queue);
        Ok(())
    }

    /// Arms a queue that has nothing outstanding.
    fn rest(&self, queue: &Queue) {
        // A queue out of the list must stay closed to posts in line: quiet would not see them.
        if queue.is_idle() && queue.link.get() != 0 {
            self.arm(queue);
        }
    }

    /// Sees to it that the last entry of a queue has a completion.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    unsafe fn sign_last(&self, route: &Route, index: u32) -> Result<(), Failure> {
        let queue = &self.queues[index as usize];
        if queue.is_idle() || u32::from(queue.signalled_end.get()) == queue.producer.get() {
            return Ok(());
        }
        // SAFETY: by contract.
        unsafe { self.post(route, index, Opcode::Nop, 0, &Entry::new()) }.map(|_| ())
    }

    /// [`Lane::quiet`] for the commonest case, a lane of one thread where one armed queue has its one entry outstanding and
    /// the device has done it: the next completion is that entry's. Does nothing, and returns false, in any other.
    #[inline(always)]
    pub fn quiet_one(&self) -> bool {
        if self.is_shared() {
            // Other threads may be at the rest.
            return false;
        }
        let Some(queue) = self.queues.get(self.used.get().wrapping_sub(1) as usize) else {
            return false;
        };
        let at = queue.producer.get();
        let is_only = queue.armed.get()
            && at == queue.limit.get()
            && queue.link.get() == END
            && self.outstanding.get() == 0;
        if !is_only || !self.completions.take_success() {
            return false;
        }
        let next = after(at, 1);
        queue.consumed.set(queue.consumed.get() + 1);
        queue.signalled.set(at as u16);
        queue.signalled_end.set(next as u16);
        queue.limit.set(next);
        queue.unfenced.set(false);
        true
    }

    /// Waits for the device, if [`Lane::quiet_one`] would only have to wait.
    ///
    /// # Errors
    /// That the device is gone, or has failed before.
    pub fn await_one(&self) -> Result<(), Failure> {
        while self.lock.is_none() && self.outstanding.get() == 0 && !self.completions.is_ready() {
            let index = self.used.get().wrapping_sub(1) as usize;
            match self.queues.get(index) {
                Some(queue) if queue.armed.get() && !queue.is_idle() => self.idle()?,
                _ => break,
            }
        }
        Ok(())
    }

    /// Waits until everything that was posted is done.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub unsafe fn quiet(&self, route: &Route) -> Result<(), Failure> {
        if let Some(failure) = self.failure.get() {
            return Err(failure);
        }
        let mut at = self.used.get();
        while at != END {
            // SAFETY: by contract.
            unsafe { self.sign_last(route, at - 1)? };
            at = self.queues[(at - 1) as usize].link.get();
        }
        let mut at = self.used.replace(END);
        while at != END {
            let queue = &self.queues[(at - 1) as usize];
            let next = queue.link.replace(0);
            if queue.armed.get() && queue.is_idle() {
                // Not used since the last time: out of the list.
                self.disarm(queue);
            } else {
                while !queue.is_idle() {
                    self.wait_once()?;
                }
                queue.link.set(self.used.replace(at));
                self.arm(queue);
            }
            at = next;
        }
        Ok(())
    }

    /// Orders everything that was posted before everything posted later to the same peer. Writes are in order by
    /// themselves; what comes behind reads and atomics has to wait for them (manual: "fence").
    pub fn fence(&self) {
        let mut at = self.used.get();
        while at != END {
            let queue = &self.queues[(at - 1) as usize];
            if queue.unfenced.replace(false) {
                queue.fence.set(true);
                queue.limit.set(queue.producer.get());
            }
            at = queue.link.get();
        }
    }

    /// The queue with this number.
    #[inline(always)]
    fn queue_numbered(&self, number: u32) -> &Queue {
        let mask = self.by_number.len() - 1;
        let mut at = number as usize & mask;
        loop {
            // The table has a place for every number that the device was given.
            let queue = &self.queues[(self.by_number[at] - 1) as usize];
            if queue.number() == number {
                return queue;
            }
            at = (at + 1) & mask;
        }
    }
}

/// The table for [`Lane::queue_numbered`].
fn index_numbers(rings: &[SendRing]) -> Box<[u32]> {
    let len = (2 * rings.len()).next_power_of_two();
    let mut table = vec![0; len].into_boxed_slice();
    for (index, ring) in rings.iter().enumerate() {
        let mut at = ring.number as usize & (len - 1);
        while table[at] != 0 {
            at = (at + 1) & (len - 1);
        }
        table[at] = index as u32 + 1;
    }
    table
}

/// Remote memory: which peer, and where there.
#[derive(Clone, Copy, Debug)]
pub struct To<'a> {
    /// The peer's index.
    pub peer: u32,
    /// How it is reached.
    pub remote: &'a Remote,
    /// The address there.
    pub address: u64,
    /// Its key.
    pub key: Be32,
}

/// Local memory that is registered.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    /// The address.
    pub address: u64,
    /// Bytes.
    pub length: u32,
    /// The local key.
    pub key: u32,
}

/// An atomic operation as an entry has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    pub(crate) opcode: Opcode,
    pub(crate) modifier: u8,
    pub(crate) operands: [[u64; 2]; 2],
    pub(crate) units: usize,
}

impl Atomic {
    /// Adds to 8 bytes.
    pub fn add_8(value: u64) -> Self {
        Self::one(Opcode::FetchAdd, 0, [value.to_be(), 0])
    }

    /// Replaces 8 bytes where they equal `compare`.
    pub fn compare_swap_8(compare: u64, value: u64) -> Self {
        Self::one(Opcode::CompareSwap, 0, [value.to_be(), compare.to_be()])
    }

    /// Adds to 4 bytes (masked).
    pub fn add_4(value: u32) -> Self {
        Self::one(
            Opcode::MaskedFetchAdd,
            masked_modifier(4),
            [value.to_be().into(), 0],
        )
    }

    /// Inverts the bits of `value` in 8 bytes (masked): an addition that carries nothing.
    pub fn xor_8(value: u64) -> Self {
        Self::one(
            Opcode::MaskedFetchAdd,
            masked_modifier(8),
            [value.to_be(), u64::MAX],
        )
    }

    /// Inverts the bits of `value` in 4 bytes (masked).
    pub fn xor_4(value: u32) -> Self {
        let words = u64::from(value.to_be()) | u64::from(u32::MAX) << 32;
        Self::one(Opcode::MaskedFetchAdd, masked_modifier(4), [words, 0])
    }

    /// Replaces the bits of `swap_mask` in 8 bytes where those of `compare_mask` equal `compare` (masked).
    pub fn masked_swap_8(value: u64, swap_mask: u64, compare: u64, compare_mask: u64) -> Self {
        Self {
            opcode: Opcode::MaskedCompareSwap,
            modifier: masked_modifier(8),
            operands: [
                [value.to_be(), compare.to_be()],
                [swap_mask.to_be(), compare_mask.to_be()],
            ],
            units: 2,
        }
    }

    /// As [`Atomic::masked_swap_8`], 4 bytes.
    pub fn masked_swap_4(value: u32, swap_mask: u32, compare: u32, compare_mask: u32) -> Self {
        let pair =
            |first: u32, second: u32| u64::from(first.to_be()) | u64::from(second.to_be()) << 32;
        let operands = [pair(value, compare), pair(swap_mask, compare_mask)];
        Self::one(Opcode::MaskedCompareSwap, masked_modifier(4), operands)
    }

    fn one(opcode: Opcode, modifier: u8, operands: [u64; 2]) -> Self {
        Self {
            opcode,
            modifier,
            operands: [operands, [0; 2]],
            units: 1,
        }
    }
}
