//! Counters that reach thresholds: waits for them (fi_cntr(3)), and operations that start then
//! (fi_trigger(3), FI_TRIGGER).
//!
//! Counting stays one addition: [`Endpoint::progress`] looks at the counters that operations wait
//! for, as long as there are some. An operation that starts may count itself, and so start others.

#![expect(unsafe_code, reason = "operations are on memory by its C address")]

use super::call::{Call, Condition};
use super::remote::RemoteRegion;
use super::{Atomic, DEFERRED, Endpoint, Level, Operation, Typed, Word};
use crate::raw::address_vector::PeerIndex;
use crate::raw::completion::{Counter, Entry, Part, Promise, Report};
use crate::raw::error::Error;
use crate::raw::region::Access;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Operations of an endpoint that may wait for counters at a time.
const MOST: usize = 1 << 16;

/// An operation that starts later: see [`Endpoint::defer`].
#[derive(Clone, Debug)]
pub enum Work {
    /// Sends a message, whose bytes the operation holds (fi_inject).
    Inject {
        /// The receiver.
        peer: PeerIndex,
        /// The message, of at most [`Endpoint::inject_size`] bytes.
        message: Box<[u8]>,
    },
    /// Does as [`Endpoint::send`].
    Send {
        /// The receiver.
        peer: PeerIndex,
        /// The first byte of the message.
        message: *const u8,
        /// Its bytes.
        len: usize,
        /// 64 bits that go with it.
        data: Option<u64>,
        /// Level at which it counts as sent.
        level: Level,
    },
    /// Writes bytes that the operation holds, as [`Endpoint::inject_write`] does.
    InjectWrite {
        /// The target.
        region: RemoteRegion,
        /// Address for its first byte.
        address: u64,
        /// The bytes.
        bytes: Box<[u8]>,
    },
    /// Does as [`Endpoint::write`].
    Write {
        /// The target.
        region: RemoteRegion,
        /// Address for the first byte.
        address: u64,
        /// The first byte.
        source: *const u8,
        /// The bytes.
        len: usize,
    },
    /// Does as [`Endpoint::read`].
    Read {
        /// The source.
        region: RemoteRegion,
        /// Address of the first byte.
        address: u64,
        /// Address for the first byte here.
        dest: *mut u8,
        /// The bytes.
        len: usize,
    },
    /// Does as [`Endpoint::fetch_atomic`].
    Atomic {
        /// The target.
        region: RemoteRegion,
        /// Address of the word, and the number of its bytes.
        word: (u64, usize),
        /// The operation.
        operation: Atomic,
        /// Operand and comparand.
        operands: (u64, u64),
        /// Address for the word that was there.
        found: *mut u8,
    },
    /// Does as [`Endpoint::update`], on one element.
    Update {
        /// The target.
        region: RemoteRegion,
        /// Address of the element.
        address: u64,
        /// The operation, on elements of its type.
        typed: Typed,
        /// Operand and comparand.
        operands: (u64, u64),
        /// Address for the element that was there; null if nobody wants it.
        found: *mut u8,
    },
    /// An operation that the program starts itself.
    Call(Call),
    /// Anything that the program does at once, such as posting a buffer, and that reports nothing.
    Do(Act),
    /// Adds to a counter, or sets it; reports nothing.
    Count {
        /// The counter.
        counter: Counter,
        /// The value that is added, or set.
        value: u64,
        /// Whether it is set.
        sets: bool,
    },
    /// Has the peer's device count an access that is a part of the same operation.
    CountAccess(Counting),
}

/// The count of an access to a region that counts.
#[derive(Clone, Debug)]
pub struct Counting {
    pub(super) plain: RemoteRegion,
    pub(super) access: Access,
}

/// A function of a program.
#[derive(Clone)]
pub struct Act(pub Rc<dyn Fn(&Endpoint)>);

impl std::fmt::Debug for Act {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Act")
    }
}

/// Operations that go one way are started in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Messages(PeerIndex),
    /// The address of the link.
    Memory(usize),
    Nowhere,
}

impl Work {
    fn operation(&self) -> Operation {
        match self {
            Self::Inject { .. } | Self::Send { .. } => Operation::Send,
            Self::InjectWrite { .. } | Self::Write { .. } => Operation::Write,
            Self::Read { .. } => Operation::Read,
            Self::Update { found, .. } if !found.is_null() => Operation::Fetch,
            Self::Atomic { .. } | Self::Update { .. } | Self::CountAccess(_) => Operation::Atomic,
            Self::Call(call) => call.operation,
            Self::Do(_) | Self::Count { .. } => Operation::Receive,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Inject { message: bytes, .. } | Self::InjectWrite { bytes, .. } => bytes.len(),
            Self::Send { len, .. } | Self::Write { len, .. } | Self::Read { len, .. } => *len,
            Self::Atomic { word, .. } => word.1,
            Self::Update { typed, .. } => typed.bytes(),
            Self::Call(call) => call.len,
            Self::Do(_) | Self::Count { .. } | Self::CountAccess(_) => 0,
        }
    }

    fn way(&self) -> Way {
        match self {
            Self::Inject { peer, .. } | Self::Send { peer, .. } => Way::Messages(*peer),
            Self::Call(call) => Way::Messages(call.peer),
            Self::Do(_) | Self::Count { .. } => Way::Nowhere,
            Self::InjectWrite { region, .. }
            | Self::Write { region, .. }
            | Self::Read { region, .. }
            | Self::Atomic { region, .. }
            | Self::Update { region, .. }
            | Self::CountAccess(Counting { plain: region, .. }) => {
                Way::Memory(Rc::as_ptr(&region.link).addr())
            }
        }
    }
}

/// An operation, and how it reports.
#[derive(Debug)]
struct Later {
    work: Work,
    promise: Promise,
    /// The operation of which it is a part.
    part: Option<Part>,
    /// Counts it, in the place of the endpoint's counter.
    counter: Option<Counter>,
    /// Number by which it is cancelled; 0 before it has one.
    number: u64,
}

impl Later {
    /// Returns the context of a function.
    fn act(&self) -> Option<u64> {
        matches!(self.work, Work::Do(_)).then_some(self.promise.context)
    }

    /// Returns the entry of its end.
    fn entry(&self) -> Entry {
        Entry {
            context: self.promise.context,
            operation: self.work.operation(),
            len: self.work.len(),
            data: None,
            tag: None,
            source: None,
            offset: 0,
            is_last: true,
        }
    }
}

/// The operations that wait for one counter, by their thresholds and in the order in which they
/// were given.
#[derive(Debug)]
struct Waiting {
    counter: Counter,
    /// Whether failures count, too.
    with_failures: bool,
    operations: BTreeMap<(u64, u64), Later>,
}

impl Waiting {
    /// Returns the count that is compared with thresholds.
    fn counted(&self) -> u64 {
        let failed = if self.with_failures {
            self.counter.read_failed()
        } else {
            0
        };
        self.counter.read().wrapping_add(failed)
    }
}

/// All of an endpoint.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    waiting: Vec<Waiting>,
    /// Operations whose thresholds are reached.
    due: VecDeque<Later>,
}

/// The number of the next operation, of any endpoint: they may go from one to another.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Deferred {
    fn len(&self) -> usize {
        let waiting = self.waiting.iter().map(|one| one.operations.len());
        self.due.len() + waiting.sum::<usize>()
    }

    fn is_empty(&self) -> bool {
        self.due.is_empty() && self.waiting.is_empty()
    }

    /// Adds an operation; returns its number.
    fn add(&mut self, condition: Condition<'_>, mut later: Later) -> u64 {
        let is_it = |one: &Waiting| {
            one.counter.is(condition.counter) && one.with_failures == condition.with_failures
        };
        let known = self.waiting.iter().position(is_it);
        let at = known.unwrap_or_else(|| {
            self.waiting.push(Waiting {
                counter: condition.counter.clone(),
                with_failures: condition.with_failures,
                operations: BTreeMap::new(),
            });
            self.waiting.len() - 1
        });
        if later.number == 0 {
            // ORDERING: none is needed: the number alone has to be another one each time.
            later.number = NEXT.fetch_add(1, Ordering::Relaxed);
        }
        let number = later.number;
        let key = (condition.threshold, number);
        self.waiting[at].operations.insert(key, later);
        number
    }

    /// Returns whether a threshold is reached.
    fn is_any_due(&self) -> bool {
        let is_reached = |one: &Waiting| {
            let first = one.operations.keys().next();
            first.is_some_and(|(threshold, _)| one.counted() >= *threshold)
        };
        !self.due.is_empty() || self.waiting.iter().any(is_reached)
    }

    /// Takes out the operations whose thresholds are reached.
    fn take_due(&mut self) -> VecDeque<Later> {
        for one in &mut self.waiting {
            let counted = one.counted();
            while let Some(first) = one.operations.first_entry()
                && first.key().0 <= counted
            {
                self.due.push_back(first.remove());
            }
        }
        self.waiting.retain(|one| !one.operations.is_empty());
        std::mem::take(&mut self.due)
    }

    /// Takes out the operations that have not started for which `is_it`, with their conditions.
    fn take_if(&mut self, is_it: impl Fn(Condition<'_>, &Later) -> bool) -> Vec<(Taken, Later)> {
        let mut taken = Vec::new();
        for one in &mut self.waiting {
            let counter = one.counter.clone();
            let with_failures = one.with_failures;
            let condition = |threshold| Condition {
                counter: &counter,
                threshold,
                with_failures,
            };
            let own = (one.operations).extract_if(.., |(threshold, _), later| {
                is_it(condition(*threshold), later)
            });
            let from = |threshold| Taken {
                counter: counter.clone(),
                threshold,
                with_failures,
            };
            taken.extend(own.map(|((threshold, _), later)| (from(threshold), later)));
        }
        self.waiting.retain(|one| !one.operations.is_empty());
        taken
    }
}

/// The condition of an operation that was taken out.
struct Taken {
    counter: Counter,
    threshold: u64,
    with_failures: bool,
}

/// Returns the contexts of the functions among operations.
fn acts_of(taken: &[(Taken, Later)]) -> Vec<u64> {
    let acts = taken.iter().filter_map(|(_, later)| later.act());
    acts.collect()
}

impl Endpoint {
    /// Makes progress until a counter has reached a threshold (fi_cntr_wait); false if the time is
    /// over first.
    ///
    /// # Errors
    /// That of an operation whose failure the counter has counted since the call began, if the
    /// threshold is not reached.
    pub fn wait_for(
        &self,
        counter: &Counter,
        threshold: u64,
        limit: Duration,
    ) -> Result<bool, Error> {
        let before = counter.read_failed();
        let is_reached = || counter.read() >= threshold;
        if is_reached() {
            return Ok(true);
        }
        self.wait(limit, || {
            is_reached() || counter.failure_since(before).is_some()
        });
        if is_reached() {
            return Ok(true);
        }
        counter.failure_since(before).map_or(Ok(false), Err)
    }

    /// Starts an operation as soon as the counter has reached the threshold, at once or in
    /// [`Endpoint::progress`] (fi_trigger). It reports as if it were called then: refused for want
    /// of room it is tried again, any other error is that of its end. Operations on one counter
    /// start by their thresholds and in the order in which they were given; so do messages to one
    /// peer, and accesses to the memory of one peer, that have to wait for room. Closing the
    /// endpoint drops those that have not started.
    ///
    /// # Errors
    /// [`Error::Again`] where too many wait; [`Error::TooLong`] for a [`Work::Inject`] of more
    /// bytes than [`Endpoint::inject_size`].
    ///
    /// # Safety
    /// The memory is as the operation demands, from now on until it is reported, or the endpoint
    /// dropped.
    pub unsafe fn defer<R: Report>(
        &self,
        (counter, threshold): (&Counter, u64),
        work: Work,
        report: R,
    ) -> Result<(), Error> {
        if matches!(work, Work::Inject { .. }) && work.len() > self.inject_size() {
            return Err(Error::TooLong);
        }
        let condition = Condition {
            counter,
            threshold,
            with_failures: false,
        };
        self.defer_on(condition, work, Promise::of(report), None)
            .map(drop)
    }

    /// Starts an operation as [`Endpoint::defer`] does; returns its number, by which it is
    /// cancelled.
    ///
    /// # Errors
    /// [`Error::Again`] where too many wait.
    pub(super) fn defer_on(
        &self,
        condition: Condition<'_>,
        work: Work,
        promise: Promise,
        counter: Option<&Counter>,
    ) -> Result<u64, Error> {
        let later = Later {
            work,
            promise,
            part: None,
            counter: counter.cloned(),
            number: 0,
        };
        let (number, is_due) = {
            let mut deferred = self.deferred.borrow_mut();
            if deferred.len() >= MOST {
                return Err(Error::Again);
            }
            let number = deferred.add(condition, later);
            (number, deferred.is_any_due())
        };
        self.todo.set(self.todo.get() | DEFERRED);
        if is_due {
            self.start_deferred();
        }
        Ok(number)
    }

    /// Takes back the operation of this number; false where its threshold has been reached.
    pub fn cancel_deferred(&self, number: u64) -> bool {
        let mut deferred = self.deferred.borrow_mut();
        let taken = deferred.take_if(|_, later| later.number == number);
        !taken.is_empty()
    }

    /// Takes back the function with this context; false where it was called, or there is none.
    pub fn cancel_act(&self, context: u64) -> bool {
        if !self.has_deferred() {
            return false;
        }
        let is_it = |_: Condition<'_>, later: &Later| later.act() == Some(context);
        let taken = self.deferred.borrow_mut().take_if(is_it);
        !taken.is_empty()
    }

    /// Takes back the operations whose thresholds are not reached, of conditions with failures:
    /// those on this counter, or all. Returns the contexts of the functions among them.
    pub fn flush_deferred(&self, counter: Option<&Counter>) -> Vec<u64> {
        let is_it = |one: Condition<'_>, _: &Later| {
            one.with_failures && counter.is_none_or(|counter| counter.is(one.counter))
        };
        acts_of(&self.deferred.borrow_mut().take_if(is_it))
    }

    /// Takes back all operations whose thresholds are not reached. Returns as
    /// [`Endpoint::flush_deferred`].
    pub fn drop_deferred(&self) -> Vec<u64> {
        acts_of(&self.deferred.borrow_mut().take_if(|_, _| true))
    }

    /// Leaves later counts to another endpoint, as this one closes.
    pub fn leave_counts_to(&self, other: &Self) {
        let is_count = |_: Condition<'_>, later: &Later| matches!(later.work, Work::Count { .. });
        let taken = self.deferred.borrow_mut().take_if(is_count);
        for (from, later) in taken {
            let condition = Condition {
                counter: &from.counter,
                threshold: from.threshold,
                with_failures: from.with_failures,
            };
            other.deferred.borrow_mut().add(condition, later);
            other.todo.set(other.todo.get() | DEFERRED);
        }
    }

    /// Starts a part of an operation when there is room for it.
    pub(super) fn start_part_later(&self, work: Work, part: Part) {
        let later = Later {
            work,
            promise: Promise::of(part),
            part: Some(part),
            counter: None,
            number: 0,
        };
        self.deferred.borrow_mut().due.push_back(later);
        self.todo.set(self.todo.get() | DEFERRED);
    }

    /// Has counts that wait for room, of accesses that are parts of `whole`, go to this region, in
    /// the place of the one that was accessed first.
    pub(super) fn move_counts(&self, whole: u64, to: &RemoteRegion) {
        for later in &mut self.deferred.borrow_mut().due {
            let is_its = later.part.is_some_and(|Part(part)| part.get() == whole);
            if let Work::CountAccess(Counting { plain, .. }) = &mut later.work
                && is_its
                && plain.key() == to.key()
            {
                *plain = to.clone();
            }
        }
    }

    /// Starts a part of an operation, now or when there is room for it.
    pub(super) fn start_part(&self, work: Work, part: Part) {
        let later = Later {
            work,
            promise: Promise::of(part),
            part: Some(part),
            counter: None,
            number: 0,
        };
        if !self.start_later(&later) {
            self.start_part_later(later.work, part);
        }
    }

    /// Returns whether operations wait for counters.
    pub fn has_deferred(&self) -> bool {
        self.todo.get() & DEFERRED != 0
    }

    /// Returns whether an operation could start by now that has not.
    pub(super) fn is_any_due(&self) -> bool {
        self.todo.get() & DEFERRED != 0 && self.deferred.borrow().is_any_due()
    }

    /// Starts operations whose thresholds are reached, and those that follow from them.
    #[cold]
    pub(super) fn start_deferred(&self) {
        loop {
            let due = self.deferred.borrow_mut().take_due();
            let mut left = VecDeque::new();
            let mut full = Vec::new();
            let mut has_begun = false;
            for later in due {
                let way = later.work.way();
                if !full.contains(&way) && self.start_later(&later) {
                    has_begun = true;
                } else {
                    full.push(way);
                    left.push_back(later);
                }
            }
            let mut deferred = self.deferred.borrow_mut();
            left.append(&mut deferred.due);
            deferred.due = left;
            if !has_begun {
                if deferred.is_empty() {
                    self.todo.set(self.todo.get() & !DEFERRED);
                }
                return;
            }
        }
    }

    /// Starts an operation, or reports why it cannot be done; false where it has to wait for room.
    fn start_later(&self, later: &Later) -> bool {
        let Later {
            work,
            promise,
            part,
            counter,
            ..
        } = later;
        if let Work::Do(Act(act)) = work {
            act(self);
            return true;
        }
        // SAFETY: the memory is as the operation demands until it is reported (the requirement of
        // `defer`).
        let started = unsafe {
            match (work, part) {
                (Work::Call(call), _) => self.call(call, *promise, counter.as_ref()),
                (_, Some(part)) => self.start(work, *part),
                (_, None) => self.start(work, *promise),
            }
        };
        match started {
            Ok(()) => true,
            Err(Error::Again) => false,
            // The region was closed behind the access, with its counts.
            Err(Error::NoSuchKey)
                if let (Work::CountAccess(_), Some(Part(whole))) = (work, part) =>
            {
                self.finish(whole.get(), Ok(()));
                true
            }
            Err(_) if promise.has_entry && !self.config.transmit.has_room() => false,
            Err(error) if let Some(Part(whole)) = part => {
                self.finish(whole.get(), Err(error));
                true
            }
            Err(error) => {
                if let Some(counter) = counter {
                    counter.count(Err(error));
                }
                self.report(later.entry(), *promise, Err(error), false);
                true
            }
        }
    }

    /// Calls the operation.
    ///
    /// # Safety
    /// The memory is as the operation demands.
    unsafe fn start<R: Report>(&self, work: &Work, report: R) -> Result<(), Error> {
        // SAFETY: the memory is as the operation demands. Messages that the operation holds are
        // copied before the call returns: only longer ones than `inject_size` are not.
        unsafe {
            match work {
                Work::Inject { peer, message } => self.send_short(*peer, message, report),
                &Work::Send {
                    peer,
                    message,
                    len,
                    data,
                    level,
                } => self.send(peer, message, len, data, level, report),
                Work::InjectWrite {
                    region,
                    address,
                    bytes,
                } => self.inject_write(region, *address, bytes, report),
                Work::Write {
                    region,
                    address,
                    source,
                    len,
                } => self.write(region, *address, *source, *len, report),
                Work::Read {
                    region,
                    address,
                    dest,
                    len,
                } => self.read(region, *address, *dest, *len, report),
                Work::Atomic {
                    region,
                    word,
                    operation,
                    operands,
                    found,
                } => self.fetch_atomic(region, *word, *operation, *operands, *found, report),
                Work::Update {
                    region,
                    address,
                    typed,
                    operands,
                    found,
                } => {
                    let element = Word {
                        region,
                        address: *address,
                        operand: operands.0,
                        comparand: operands.1,
                        found: *found,
                    };
                    self.update(&[element], *typed, report)
                }
                Work::Count {
                    counter,
                    value,
                    sets,
                } => {
                    if *sets {
                        counter.set(*value);
                    } else {
                        counter.add(*value);
                    }
                    Ok(())
                }
                Work::CountAccess(Counting { plain, access }) => {
                    self.count_by_device(plain, *access, report)
                }
                // Started otherwise.
                Work::Call(_) | Work::Do(_) => Ok(()),
            }
        }
    }

    /// Sends a message whose bytes are taken over at once, and reports.
    fn send_short<R: Report>(
        &self,
        peer: PeerIndex,
        message: &[u8],
        report: R,
    ) -> Result<(), Error> {
        let is_short = self.with_link(peer, |link| Ok(message.len() <= link.eager))?;
        if !is_short {
            return Err(Error::TooLong);
        }
        let (source, len) = (message.as_ptr(), message.len());
        // SAFETY: the slice holds the bytes, which are copied before the call returns, as they fit
        // into one record.
        unsafe { self.send(peer, source, len, None, Level::Free, report) }
    }
}
