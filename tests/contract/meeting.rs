//! The meeting place of parties beside the fabric: memory of this machine that all of them have,
//! with any transport.

#![expect(
    unsafe_code,
    reason = "the meeting place is found at the start of a shared mapping"
)]

use fi_provider::node::processors::{Processors, each_has_its_own};
use fi_provider::node::segment::{Memfd, Reservation};
use fi_provider::node::wait::{Patience, Waiter};
use std::any::Any;
use std::panic;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The most parties.
const PARTIES: usize = 16;
/// Bytes kept of the message of the first failure.
const MESSAGE: usize = 2048;
/// Bytes that a party may tell of itself.
const ADDRESS: usize = 1 << 10;
/// Time that a party waits for another before it gives up.
const LIMIT: Duration = Duration::from_secs(60);
/// Looks at a counter between two looks at the clock and at the failure of others.
const LOOKS: u32 = 500;

/// The bytes that a meeting takes in the memory of a node, a multiple of the page's size on all machines.
pub(crate) const BYTES: usize = 1 << 16;

/// The meeting place; all zero bytes is its initial state.
#[repr(C)]
#[derive(Debug)]
struct Shared {
    arrived: AtomicU32,
    epoch: AtomicU32,
    failed: AtomicU32,
    /// Parties that have left.
    gone: AtomicU32,
    length: AtomicU32,
    lined_up: AtomicU64,
    message: [AtomicU8; MESSAGE],
    words: [AtomicU64; PARTIES],
    steps: [Step; PARTIES],
    addresses: [Address; PARTIES],
}

/// The step of a party in something that it does in step with another.
#[repr(C, align(64))]
#[derive(Debug)]
struct Step(AtomicU64);

/// Address that a party tells the others.
#[repr(C)]
#[derive(Debug)]
struct Address {
    length: AtomicU32,
    bytes: [AtomicU8; ADDRESS],
}

const _: () = assert!(size_of::<Shared>() <= BYTES);

/// Payload of a party's panic when another one has failed.
#[derive(Debug)]
pub(crate) struct Abandoned;

/// A meeting of `parties` parties.
#[derive(Debug)]
pub(crate) struct Meeting {
    mapping: Reservation,
    parties: u32,
    patience: Patience,
}

impl Meeting {
    /// Makes the meeting whose place is at the start of `memory`, which is all zero.
    ///
    /// # Errors
    /// The reason for which the meeting place could not be mapped.
    pub(crate) fn in_memory(memory: &Memfd, parties: u32) -> Result<Self, String> {
        assert!(parties as usize <= PARTIES);
        let text = |error: std::io::Error| format!("the meeting place: {error}");
        let mapping = Reservation::anywhere(BYTES).map_err(text)?;
        mapping.map_shared(0, memory, 0, BYTES).map_err(text)?;
        // The parties are children of this process, and may use the same processors.
        let processors = vec![Processors::own(); parties as usize];
        Ok(Self {
            mapping,
            parties,
            patience: Patience::new(!each_has_its_own(&processors)),
        })
    }

    fn shared(&self) -> &Shared {
        // SAFETY: the mapping is large enough, aligned to a page, lives as long as `self`, and
        // holds zeros or words that other parties have left by the same type's atomics.
        unsafe { &*(self.mapping.base() as *const Shared) }
    }

    /// Waits until all parties have come here as often as this one; their earlier stores are then visible.
    pub(crate) fn meet(&self) {
        let shared = self.shared();
        // ORDERING: nobody starts the next epoch before this party has arrived in this one.
        let epoch = shared.epoch.load(Ordering::Relaxed);
        // ORDERING: each arrival releases its stores; the last acquires them and releases them through `epoch`.
        if shared.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            shared.arrived.store(0, Ordering::Relaxed);
            shared.epoch.store(epoch.wrapping_add(1), Ordering::Release);
        } else {
            // ORDERING: pairs with the release above.
            self.until("the others", || {
                shared.epoch.load(Ordering::Acquire) != epoch
            });
        }
    }

    /// Waits as [`Meeting::meet`] does, doing `work` meanwhile.
    pub(crate) fn meet_while(&self, mut work: impl FnMut()) {
        let shared = self.shared();
        // ORDERING: nobody starts the next epoch before this party has arrived in this one.
        let epoch = shared.epoch.load(Ordering::Relaxed);
        let left = shared.gone.load(Ordering::Relaxed);
        // ORDERING: as in `meet`.
        if shared.arrived.fetch_add(1, Ordering::AcqRel) + 1 + left == self.parties {
            shared.arrived.store(0, Ordering::Relaxed);
            shared.epoch.store(epoch.wrapping_add(1), Ordering::Release);
            return;
        }
        self.until("the others", || {
            work();
            // ORDERING: pairs with the release above.
            shared.epoch.load(Ordering::Acquire) != epoch
        });
    }

    /// Leaves the meeting, as the last call of this party here: the others meet without it.
    pub(crate) fn leave(&self) {
        // ORDERING: the others see it with the party's end, which they learn behind it.
        self.shared().gone.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes a word of this party, for [`Meeting::told`] behind a meeting.
    pub(crate) fn tell(&self, party: u32, word: u64) {
        // ORDERING: the meeting publishes it.
        self.shared().words[party as usize].store(word, Ordering::Relaxed);
    }

    /// Returns the word of `party`.
    pub(crate) fn told(&self, party: u32) -> u64 {
        // ORDERING: the meeting has published it.
        self.shared().words[party as usize].load(Ordering::Relaxed)
    }

    /// Returns whether `party` has come to `step`.
    pub(crate) fn has_come(&self, party: u32, step: u64) -> bool {
        let counter = &self.shared().steps[party as usize].0;
        // ORDERING: acquires nothing but keeps later loads behind.
        counter.load(Ordering::Acquire) >= step
    }

    /// Tells all parties `own`; returns the bytes that each has told, in the order of their ranks.
    pub(crate) fn exchange(&self, party: u32, own: &[u8]) -> Vec<Vec<u8>> {
        assert!(own.len() <= ADDRESS);
        let addresses = &self.shared().addresses;
        // ORDERING: the meeting publishes the bytes.
        let told = |cell: &AtomicU8| cell.load(Ordering::Relaxed);
        let mine = &addresses[party as usize];
        for (cell, &byte) in mine.bytes.iter().zip(own) {
            cell.store(byte, Ordering::Relaxed);
        }
        mine.length.store(own.len() as u32, Ordering::Relaxed);
        self.meet();
        let of = |address: &Address| {
            let length = address.length.load(Ordering::Relaxed) as usize;
            address.bytes[..length].iter().map(told).collect()
        };
        addresses[..self.parties as usize].iter().map(of).collect()
    }

    /// Waits until `done` says so; panics when another party has failed, or when it takes too long.
    pub(crate) fn until(&self, what: &str, mut done: impl FnMut() -> bool) {
        let mut waiter = Waiter::new(self.patience);
        let mut deadline = None;
        while !done() {
            if waiter.pause() {
                self.look_around(
                    what,
                    *deadline.get_or_insert_with(|| Instant::now() + LIMIT),
                );
            }
        }
    }

    /// Ends this party when another one has failed: for loops that wait for others while they work.
    pub(crate) fn give_up_if_failed(&self) {
        // ORDERING: only the flag itself matters.
        if self.shared().failed.load(Ordering::Relaxed) != 0 {
            panic::resume_unwind(Box::new(Abandoned));
        }
    }

    fn look_around(&self, what: &str, deadline: Instant) {
        self.give_up_if_failed();
        assert!(Instant::now() < deadline, "waited for {what} in vain");
    }

    /// Says that this party has come to `step`, without ordering anything else.
    #[inline]
    pub(crate) fn announce(&self, party: u32, step: u64) {
        // ORDERING: none wanted: the fabric alone decides which writes are visible to a party at
        // this step.
        self.shared().steps[party as usize]
            .0
            .store(step, Ordering::Relaxed);
    }

    /// Waits until `party` has come to `step`, without ordering anything else but later loads.
    #[inline]
    pub(crate) fn keep_step(&self, party: u32, step: u64) {
        let counter = &self.shared().steps[party as usize].0;
        // ORDERING: acquires nothing but keeps later loads behind; the announcement releases nothing.
        self.spin("a step", || counter.load(Ordering::Acquire) >= step);
    }

    /// Waits as [`Meeting::meet`] does, awake, so that all go on within a moment of each other.
    pub(crate) fn line_up(&self) {
        let counter = &self.shared().lined_up;
        // ORDERING: each arrival releases its stores, and all are acquired below.
        let before = counter.fetch_add(1, Ordering::AcqRel);
        let all = (before / u64::from(self.parties) + 1) * u64::from(self.parties);
        self.spin("the others", || counter.load(Ordering::Acquire) >= all);
    }

    /// Waits as [`Meeting::until`] does, but stays awake.
    #[inline]
    pub(crate) fn spin(&self, what: &str, mut done: impl FnMut() -> bool) {
        let mut deadline = None;
        loop {
            for _ in 0..LOOKS {
                if done() {
                    return;
                }
                std::hint::spin_loop();
            }
            std::thread::yield_now();
            self.look_around(
                what,
                *deadline.get_or_insert_with(|| Instant::now() + LIMIT),
            );
        }
    }

    /// Notes that `party` has failed; the first failure is kept.
    pub(crate) fn fail(&self, party: u32, why: &str) {
        let shared = self.shared();
        // ORDERING: the winner alone writes the message, which the length releases.
        if shared
            .failed
            .compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
        {
            let text = format!("party {party}: {why}");
            for (cell, byte) in shared.message.iter().zip(text.bytes()) {
                cell.store(byte, Ordering::Relaxed);
            }
            // ORDERING: pairs with the load in `verdict`.
            shared
                .length
                .store(text.len().min(MESSAGE) as u32, Ordering::Release);
        }
    }

    /// Calls [`Meeting::fail`] with the payload of the party's panic.
    pub(crate) fn fail_by(&self, party: u32, payload: &(dyn Any + Send)) {
        if payload.is::<Abandoned>() {
            return;
        }
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        self.fail(party, text.unwrap_or("panicked"));
    }

    /// Returns the result, when all parties are through.
    ///
    /// # Errors
    /// The message of the first failure.
    pub(crate) fn verdict(&self) -> Result<(), String> {
        let shared = self.shared();
        if shared.failed.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        // ORDERING: pairs with the release in `fail`.
        let length = shared.length.load(Ordering::Acquire) as usize;
        let bytes: Vec<u8> = shared.message[..length]
            .iter()
            .map(|cell| cell.load(Ordering::Relaxed))
            .collect();
        Err(String::from_utf8_lossy(&bytes).into_owned())
    }
}
