//! A completion queue that several lanes' queues complete into.
//!
//! Each lane has an inbox, a ring of entries in memory that looks to it as a device's ring of its
//! own would. A lane that finds its inbox empty takes the entries that the device has written, if
//! nobody else is at it, and puts each entry into the inbox of the lane whose queue it is of. So a
//! lane takes no lock and shares no line for entries that are there; and as lanes have no more
//! completions due than their inboxes have entries, no inbox is ever full.

use crate::completion::{CompletionRing, Completions};
use bytemuck::Zeroable;
use fi_mlx5_defs::cqe::{Cqe, INVALID, owner_of};
use fi_mlx5_defs::doorbell::CompletionRecord;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

/// A completion queue, and the lanes that share it.
#[derive(Debug)]
pub struct SharedCompletions(Mutex<State>);

#[derive(Debug)]
struct State {
    completions: Completions,
    /// Inbox of the lane that has the queue of a number.
    inboxes: BTreeMap<u32, Arc<Inbox>>,
}

// SAFETY: the ring is mapped as long as this, as `SharedCompletions::new` requires, and used under
// the lock.
unsafe impl Send for State {}

/// Entries for one lane, and how far it has read them.
#[derive(Debug)]
struct Inbox {
    entries: Box<[UnsafeCell<Cqe>]>,
    record: UnsafeCell<CompletionRecord>,
    /// Entries put in; under the lock.
    producer: Cell<u32>,
}

// SAFETY: nothing in it belongs to one thread: the producer is used under the lock; an entry
// belongs to the lane or to the thread that holds the lock by its last byte, which is atomic; and
// the lane alone writes the record, which nobody reads.
unsafe impl Send for Inbox {}
// SAFETY: the producer is used under the lock; an entry belongs to the lane or to the thread that
// holds the lock by its last byte, which is atomic; and the lane alone writes the record, which
// nobody reads.
unsafe impl Sync for Inbox {}

impl Inbox {
    fn new(entries: u32) -> Self {
        let empty = Cqe {
            opcode_owner: INVALID,
            ..Cqe::zeroed()
        };
        Self {
            entries: (0..entries).map(|_| UnsafeCell::new(empty)).collect(),
            record: UnsafeCell::new(CompletionRecord::zeroed()),
            producer: Cell::new(0),
        }
    }

    fn ring(&self) -> CompletionRing {
        CompletionRing {
            base: UnsafeCell::raw_get(self.entries.as_ptr()),
            entries: self.entries.len() as u32,
            record: self.record.get(),
            is_checked: false,
        }
    }

    /// Puts an entry in; its lane has room, by the number of entries that it has posted.
    fn put(&self, cqe: &Cqe) {
        let (at, len) = (self.producer.get(), self.entries.len() as u32);
        let place = self.entries[(at & (len - 1)) as usize].get();
        let mut cqe = *cqe;
        cqe.set_owner(owner_of(at, len));
        let last = cqe.opcode_owner;
        // SAFETY: the place is the inbox's, valid and aligned. Its last byte says that the entry is
        // not the lane's until the store below, and until it has seen that byte the lane reads no
        // other. The lane has read the entry that was here before it posted the request of this
        // one; the device, which has completed that request, lies between.
        unsafe {
            place
                .cast::<[u8; size_of::<Cqe>() - 1]>()
                .write(head_of(&cqe));
        }
        // SAFETY: the byte lives as long as the inbox, and all others access it by atomic loads.
        let owner = unsafe { AtomicU8::from_ptr(&raw mut (*place).opcode_owner) };
        // ORDERING: pairs with the fences (`after_device`) behind the loads of this byte in
        // `Completions`.
        owner.store(last, Ordering::Release);
        self.producer.set(at.wrapping_add(1));
    }
}

/// Returns all bytes of an entry but the last.
fn head_of(cqe: &Cqe) -> [u8; size_of::<Cqe>() - 1] {
    let mut head = [0; size_of::<Cqe>() - 1];
    head.copy_from_slice(&bytemuck::bytes_of(cqe)[..size_of::<Cqe>() - 1]);
    head
}

impl SharedCompletions {
    /// Makes the shared completion queue with this ring, which no lane shares yet.
    ///
    /// # Safety
    /// The ring is mapped as long as this and the lanes that share it live, and nobody else consumes from it.
    #[must_use]
    pub unsafe fn new(ring: CompletionRing) -> Self {
        // SAFETY: the ring is mapped as long as this lives, and nobody else consumes from it.
        let completions = unsafe { Completions::new(ring) };
        Self(Mutex::new(State {
            completions,
            inboxes: BTreeMap::new(),
        }))
    }

    /// Opens an inbox of so many entries, a power of two, for queues of these numbers.
    pub(super) fn open(self: Arc<Self>, numbers: Vec<u32>, entries: u32) -> Share {
        let inbox = Arc::new(Inbox::new(entries));
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Entries left of queues that had these numbers before are nobody's.
        state.distribute();
        for &number in &numbers {
            state.inboxes.insert(number, Arc::clone(&inbox));
        }
        drop(state);
        Share {
            completions: self,
            numbers: RefCell::new(numbers),
            inbox,
        }
    }

    /// Gives each lane the entries that the device has written for it, unless another thread is at
    /// it.
    #[cold]
    fn distribute(&self) {
        let state = match self.0.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        state.distribute();
    }
}

impl State {
    fn distribute(&self) {
        while let Some(cqe) = self.completions.take() {
            // Of a lane that is gone nobody wants to know.
            if let Some(inbox) = self.inboxes.get(&cqe.qpn()) {
                inbox.put(&cqe);
            }
        }
    }
}

/// A lane's share of a completion queue.
#[derive(Debug)]
pub(super) struct Share {
    completions: Arc<SharedCompletions>,
    /// Of the thread that holds the lane.
    numbers: RefCell<Vec<u32>>,
    inbox: Arc<Inbox>,
}

impl Share {
    /// Returns the inbox, as a ring of the lane's own.
    pub(super) fn ring(&self) -> CompletionRing {
        self.inbox.ring()
    }

    /// Takes entries of the queue of this number, too.
    pub(super) fn add(&self, number: u32) {
        let state = self.completions.0.lock();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.inboxes.insert(number, Arc::clone(&self.inbox));
        self.numbers.borrow_mut().push(number);
    }

    /// Looks for entries.
    pub(super) fn look(&self) {
        self.completions.distribute();
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let state = self.completions.0.lock();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        for number in self.numbers.get_mut() {
            state.inboxes.remove(number);
        }
    }
}
