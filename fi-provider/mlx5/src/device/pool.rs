//! Pool in which lanes are made: it realises a row of [`crate::policy::POLICIES`] on an unmodified
//! rdma-core.
//!
//! libmlx5 gives two thread domains that are made one after the other the two registers of one page, so that a page of one's own
//! takes two of them, of which one is used. Domains of a lane are made together and go together: so registers that are used again are
//! again those of one page.

use super::context::Context;
use super::{
    Account, Channel, CompletionQueue, Device, Overrun, QueuePair, ReceiveQueue, ThreadDomain,
};
use crate::error::Error;
use crate::lane::{SharedCompletions, Source};
use crate::policy::{Completions, Policy};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Entries of a completion queue that lanes share, unless one of them needs more: enough for sixteen lanes of 512 basic blocks.
const SHARED_ENTRIES: u32 = 8192;

/// The lanes of a device under one policy.
#[derive(Clone, Debug)]
pub struct Pool(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: Device,
    policy: &'static Policy,
    completions: Completions,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    seats: u32,
    /// Whether a lane has the device's first context, where each has one.
    first_taken: bool,
    contexts: Vec<Weak<Context>>,
    shared: Vec<SharedQueue>,
}

/// A completion queue that lanes share.
#[derive(Debug)]
struct SharedQueue {
    queue: CompletionQueue,
    completions: Arc<SharedCompletions>,
    /// Entries that no lane counts with.
    free: u32,
}

/// Device and thread domains in which the queues of one lane are made.
#[derive(Debug)]
pub struct Seat {
    pool: Arc<Inner>,
    place: Place,
    /// The file of the events of completion queues of its own.
    channel: Option<Channel>,
    is_short: AtomicBool,
    /// Entries of shared completion queues: their place in the list, and how many.
    taken: Mutex<Vec<(usize, u32)>>,
}

/// Device and thread domains of a seat.
#[derive(Debug)]
struct Place {
    device: Device,
    /// Thread domain in which its queue pairs are made.
    domain: ThreadDomain,
    /// Thread domain in which spare ones are made.
    spare: Option<ThreadDomain>,
    /// All thread domains, also those that only keep a register from others.
    domains: Vec<ThreadDomain>,
    shares_registers: bool,
    /// Whether it has the first context, where each has one.
    has_first: bool,
    is_short: bool,
}

impl Pool {
    /// Makes the pool of the lanes of `device`, which are none yet.
    #[must_use]
    pub fn new(device: &Device, policy: &'static Policy, completions: Completions) -> Self {
        Self(Arc::new(Inner {
            device: device.clone(),
            policy,
            completions,
            state: Mutex::default(),
        }))
    }

    /// Returns the policy, which says which objects lanes share.
    #[must_use]
    pub fn policy(&self) -> &'static Policy {
        self.0.policy
    }

    /// Returns which lanes use a completion queue.
    #[must_use]
    pub fn completions(&self) -> Completions {
        self.0.completions
    }

    /// Makes a seat for one more lane; none where all lanes are one, and there is one. Where the
    /// device has no context or page left that the policy asks for, the seat has less
    /// ([`Seat::is_short`]).
    ///
    /// # Errors
    /// [`Error::Call`] where nothing is left that a lane could go by.
    pub fn seat(&self) -> Result<Option<Seat>, Error> {
        let pool = &self.0;
        let mut state = pool.lock();
        if pool.policy.one_lane && state.seats > 0 {
            return Ok(None);
        }
        let place = if pool.policy.own_context {
            pool.place_in_context(&mut state)?
        } else {
            pool.place_in_domain(pool.policy.thread_domains)
        };
        state.seats += 1;
        state.first_taken |= place.has_first;
        Ok(Some(Seat {
            pool: Arc::clone(pool),
            is_short: AtomicBool::new(place.is_short),
            place,
            channel: None,
            taken: Mutex::default(),
        }))
    }

    /// Returns the resources that the lanes take, with those of the device's first context that are
    /// there without them.
    #[must_use]
    pub fn account(&self) -> Account {
        let mut account = self.0.device.account();
        let contexts = self.0.lock().contexts.clone();
        for context in contexts.iter().filter_map(Weak::upgrade) {
            account += context.book.account();
        }
        account
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a place on the registers that the driver assigns.
    fn plain_place(&self, device: &Device) -> Place {
        Place {
            domain: device.plain_domain(),
            device: device.clone(),
            spare: None,
            domains: Vec::new(),
            shares_registers: self.policy.shares_registers(),
            has_first: false,
            is_short: false,
        }
    }

    /// Makes a place in a context of its own, the first if it is free; where there is no more, with
    /// a thread domain of the first.
    fn place_in_context(&self, state: &mut State) -> Result<Place, Error> {
        if !state.first_taken {
            return Ok(Place {
                has_first: true,
                ..self.plain_place(&self.device)
            });
        }
        if let Ok(device) = self.device.another_context() {
            state.contexts.retain(|context| context.strong_count() > 0);
            state.contexts.push(Arc::downgrade(&device.context));
            return Ok(self.plain_place(&device));
        }
        // Not on a register that the driver assigns: the first lane may have it, and takes no lock.
        let domain = self.device.lane_domain()?;
        Ok(Place {
            domain: domain.clone(),
            domains: vec![domain],
            is_short: true,
            ..self.plain_place(&self.device)
        })
    }

    /// Makes a place with so many thread domains of the first context; where they are not there,
    /// with one or none.
    fn place_in_domain(&self, wanted: u32) -> Place {
        let mut place = self.plain_place(&self.device);
        let made = (0..wanted).map_while(|_| self.device.lane_domain().ok());
        place.domains = made.collect();
        if place.domains.len() < wanted as usize {
            // The others keep nothing from anybody.
            place.domains.truncate(1);
            place.is_short = true;
            place.shares_registers = place.domains.is_empty();
        }
        if let Some(first) = place.domains.first() {
            place.domain = first.clone();
        }
        if self.policy.queues_per_lane > 1 {
            let second = wanted / self.policy.queues_per_lane;
            place.spare = place.domains.get(second as usize).cloned();
        }
        place
    }

    /// Returns the shared completion queue that has room for `entries` more: its place in the list,
    /// itself, and the part that its lanes share.
    fn shared_queue(
        &self,
        entries: u32,
    ) -> Result<(usize, CompletionQueue, Arc<SharedCompletions>), Error> {
        let mut state = self.lock();
        let room = state.shared.iter().position(|it| it.free >= entries);
        let at = match room {
            Some(at) => at,
            None => {
                let most = self.device.features().max_completions;
                let wanted = SHARED_ENTRIES.max(entries).min(most.max(entries));
                let wanted = (wanted, Overrun::Possible);
                let queue = CompletionQueue::new(&self.device.context, None, None, wanted, None)?;
                let ring = queue.ring();
                state.shared.push(SharedQueue {
                    queue,
                    // SAFETY: the ring is the queue's, which lanes have from their seats.
                    completions: Arc::new(unsafe { SharedCompletions::new(ring) }),
                    free: ring.entries,
                });
                state.shared.len() - 1
            }
        };
        let shared = &mut state.shared[at];
        shared.free -= entries;
        let completions = Arc::clone(&shared.completions);
        Ok((at, shared.queue.clone(), completions))
    }
}

impl Seat {
    /// Returns this seat with a file of the pool's context: its own completion queues that are made
    /// from now on have events in it.
    #[must_use]
    pub fn telling(mut self, channel: Option<&Channel>) -> Self {
        debug_assert!(!self.has_other_context() || channel.is_none());
        self.channel = channel.cloned();
        self
    }

    /// Returns the device as the lane has it: where its context is its own, memory for its queue
    /// pairs has to be registered here.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.place.device
    }

    /// Returns whether its context is not the pool's.
    #[must_use]
    pub fn has_other_context(&self) -> bool {
        !Arc::ptr_eq(&self.place.device.context, &self.pool.device.context)
    }

    /// Returns whether all queue pairs of the lane, whenever they are made, have the doorbell
    /// register of its thread domain.
    #[must_use]
    pub fn has_domain(&self) -> bool {
        !self.place.domains.is_empty()
    }

    /// Returns whether other lanes may ring the same registers, so that copies to them take a lock.
    #[must_use]
    pub fn shares_registers(&self) -> bool {
        self.place.shares_registers
    }

    /// Returns whether its lane is the only one there is, which all threads use.
    #[must_use]
    pub fn is_only(&self) -> bool {
        self.pool.policy.one_lane
    }

    /// Returns whether it has less than the policy says, because the device has no more.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.is_short.load(Ordering::Relaxed)
    }

    /// Returns whether its completion queues are those of other lanes, too.
    #[must_use]
    pub fn shares_completions(&self) -> bool {
        self.pool.completions == Completions::Shared && !self.has_other_context() && !self.is_only()
    }

    /// Returns the source of the lane's completions, at least so many at a time: a completion queue
    /// of its own, of which `overrun` tells, or one that the lanes of a context share.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn completions(
        &self,
        entries: u32,
        overrun: Overrun,
    ) -> Result<(CompletionQueue, Source), Error> {
        if !self.shares_completions() {
            let queue = self.completion_queue(entries, overrun)?;
            let source = Source::Own(queue.ring());
            return Ok((queue, source));
        }
        let entries = entries.next_power_of_two();
        let (at, queue, completions) = self.pool.shared_queue(entries)?;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.push((at, entries));
        let source = Source::Shared {
            completions,
            entries,
        };
        Ok((queue, source))
    }

    /// Makes a completion queue of at least so many entries of 64 bytes, and the spare ones that
    /// belong to it.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn completion_queue(
        &self,
        entries: u32,
        overrun: Overrun,
    ) -> Result<CompletionQueue, Error> {
        let (context, entries) = (&self.place.device.context, (entries, overrun));
        let spare = self.place.spare.as_ref();
        let made =
            spare.map(|domain| CompletionQueue::new(context, Some(domain), None, entries, None));
        let spare = self.spare_or_short(made);
        let (domain, channel) = (&self.place.domain, self.channel.as_ref());
        CompletionQueue::new(context, Some(domain), channel, entries, spare)
    }

    /// Makes a connected queue pair, as [`Device::connected`] does, and the spare ones that belong
    /// to it.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn connected(
        &self,
        completions: &CompletionQueue,
        blocks: u32,
    ) -> Result<QueuePair, Error> {
        let pair = self
            .place
            .device
            .connected(&self.place.domain, completions, blocks)?;
        Ok(self.with_spare(pair))
    }

    /// Makes a connected queue pair with receives, as [`Device::connected_receiving`] does, and the
    /// spare ones that belong to it.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn connected_receiving(
        &self,
        completions: &CompletionQueue,
        receives: &ReceiveQueue,
        blocks: u32,
    ) -> Result<QueuePair, Error> {
        let (device, domain) = (&self.place.device, &self.place.domain);
        let pair = device.connected_receiving(domain, completions, receives, blocks)?;
        Ok(self.with_spare(pair))
    }

    /// Makes an initiator of dynamic connections, as [`Device::initiator`] does, and the spare ones
    /// that belong to it.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn initiator(
        &self,
        completions: &CompletionQueue,
        blocks: u32,
    ) -> Result<QueuePair, Error> {
        let pair = self
            .place
            .device
            .initiator(&self.place.domain, completions, blocks)?;
        Ok(self.with_spare(pair))
    }

    fn with_spare(&self, mut pair: QueuePair) -> QueuePair {
        let spare = self.place.spare.as_ref();
        let made = spare.map(|domain| pair.make_spare(&self.place.device, domain));
        self.spare_or_short(made);
        pair
    }

    /// Returns the spare object, if there is to be one; a lane does without where that has failed.
    fn spare_or_short<T>(&self, made: Option<Result<T, Error>>) -> Option<T> {
        let made = made?.ok();
        if made.is_none() {
            self.is_short.store(true, Ordering::Relaxed);
        }
        made
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.seats -= 1;
        if self.place.has_first {
            state.first_taken = false;
        }
        let taken = self.taken.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (at, entries) in taken.drain(..) {
            state.shared[at].free += entries;
        }
        // While no other lane makes or drops its own: the registers of a page stay together.
        self.place.spare = None;
        self.place.domain = self.place.device.plain_domain();
        self.place.domains.clear();
    }
}
