//! Endpoints: reliable, without connections that the caller sees, to any number of peers
//! (fi_endpoint(3), FI_EP_RDM).

#![expect(
    unsafe_code,
    reason = "takes the receiving ends of rings in shared memory"
)]

mod arithmetic;
mod arrive;
mod atomic;
mod by_device;
mod by_key;
mod call;
mod closing;
mod counted;
pub mod direct;
pub mod due;
mod early;
mod elements;
mod handed;
mod held;
#[cfg(test)]
mod hostile;
mod in_place;
mod injected;
mod keys;
mod landings;
mod leaving;
pub(crate) mod link;
mod links;
mod lying;
mod message;
mod near_path;
mod opening;
pub(crate) mod origin;
mod pending;
mod posted;
mod range;
mod remote;
mod rma;
mod scattered;
mod shared;
mod sharing;
mod short;
mod slots;
mod stream;
mod streams;
mod tagged;
mod threshold;
mod todo;
mod together;
mod told;
mod transmitted;
pub(crate) mod unguarded;
mod vector;
mod waiting;

pub use super::atomic::Atomic;
pub use crate::raw::tagged::Wanted;
pub use arithmetic::{Arithmetic, Datatype, Typed};
pub use call::{Call, Condition, Start};
pub use elements::OneWord;
pub use held::Peeked;
pub use in_place::{Sent, Way};
pub use injected::Injected;
pub use lying::{InPlace, Lying, Take};
pub use posted::{Few, Level, Posted};
pub use range::{Range, Word};
pub use remote::RemoteRegion;
pub use rma::KernelWrite;
pub(crate) use rma::rma_entry;
pub use shared::ReceiveContext;
pub use threshold::{Act, Counting, Work};
pub(crate) use waiting::Outlook;

use super::address::Address;
use super::address_vector::{AddressVector, PeerIndex};
use super::completion::{CompletionQueue, Counter, Entry, Failure, Operation, Promise, Report};
use super::domain::Domain;
use super::error::Error;
use super::far::Far;
use super::far::mark::Mark;
use super::inbox::{BellKind, Inbox, Lead, NEWS};
use super::libfabric::Libfabric;
use super::matcher::{Matcher, Place};
use super::region::Regions;
use super::tagged::Tagged;
use fi_mlx5::lane::Local;
use fi_shm::bell::{BYTE_BELLS, RINGS_PER_WORD};
use fi_shm::wait::{Patience, Waiter};
use fi_shm::{order, ring};
use held::Early;
use keys::{Keys, Places};
use landings::Landings;
use leaving::Leaving;
pub(crate) use link::Link;
pub(crate) use origin::{Fate, Origin};
pub(crate) use pending::State;
use pending::{Pending, Table};
use shared::Member;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, compiler_fence};
use std::time::{Duration, Instant};
use stream::Stream;
use threshold::Deferred;
use todo::Todo;

/// Queues and counters to which an endpoint reports, and limits of the early messages that it
/// holds.
#[derive(Clone, Debug)]
pub struct Config {
    /// Takes the entries of operations that this side starts.
    pub transmit: CompletionQueue,
    /// Takes the entries of messages that come, and of peers' writes with data.
    pub receive: CompletionQueue,
    /// Counts messages that are sent.
    pub done: Counter,
    /// Counts writes, and atomic operations.
    pub written: Counter,
    /// Counts reads.
    pub read: Counter,
    /// Counts messages that come.
    pub received: Counter,
    /// Bytes and number of messages that are held before buffers are posted for them, and as much
    /// again of tagged ones; more wait in their rings, and then their senders.
    pub most_early: (usize, usize),
    /// Has the buffers for messages, of which the endpoint has none then: the context's limit of
    /// early messages is in the place of `most_early`.
    pub shared: Option<ReceiveContext>,
    /// Takes messages of bytes alone where they lie, in the place of buffers.
    pub in_place: Option<InPlace>,
}

impl Config {
    /// Reports all to one queue, and counts all operations that this side starts by one counter.
    pub fn new(queue: &CompletionQueue) -> Self {
        let done = Counter::new();
        Self {
            transmit: queue.clone(),
            receive: queue.clone(),
            written: done.clone(),
            read: done.clone(),
            done,
            received: Counter::new(),
            most_early: (1 << 20, 1 << 12),
            shared: None,
            in_place: None,
        }
    }
}

/// Records of one ring that are taken in one turn, at most: the other rings have theirs.
pub(crate) const TURN: usize = 256;
/// Longest time that an endpoint that closes waits for room to say so to a peer.
const FAREWELL: Duration = Duration::from_millis(500);
/// Operations that may wait for a peer at a time: more are refused.
const MOST_ASKED: usize = 1 << 10;
/// Answers to a peer that may wait for room; then nothing more that asks for one is taken from its
/// ring. A peer that keeps to the protocol never has so many: those to its own operations, those to
/// operations of this side, and those to parts of writes that fail.
const MOST_OWED: usize = 4 * MOST_ASKED;

/// Something waits for room, or was left.
const WORK: u8 = 1;
/// There is a device to look at.
const DEVICE: u8 = 2;
/// There are further words of bells.
const WORDS: u8 = 4;
/// Operations wait for counters.
const DEFERRED: u8 = 8;
/// Messages wait until they have left.
const LEAVING: u8 = 16;
/// Early messages wait for their senders to get numbers.
const NAMELESS: u8 = 32;
/// There is a shared receive context to look at.
const SHARED: u8 = 64;
/// There is libfabric to look at.
const LIBFABRIC: u8 = 128;

/// An endpoint, used by one thread. Another thread opens one of its own in the same domain.
#[derive(Debug)]
pub struct Endpoint {
    /// Links by the peers' numbers, as long as the vector's version is `seen`.
    links: RefCell<Vec<Option<Rc<Link>>>>,
    seen: Cell<u64>,
    /// The vector's version with which the senders of early messages were looked up.
    named: Cell<u64>,
    /// Links by their addresses: senders that are not in the vector are answered, too.
    known: RefCell<HashMap<Address, Rc<Link>>>,
    places: Places,
    /// Has the places.
    keys: Rc<Keys>,
    /// Receiving ends of rings, by their bells.
    incoming: RefCell<Vec<Option<Box<Incoming>>>>,
    /// The first word of bells, which is the inbox's.
    first_bells: *const AtomicU64,
    /// Words of bells that have rings.
    words: Cell<usize>,
    /// Something to do that the first word of bells does not tell ([`WORK`], [`DEVICE`], [`WORDS`],
    /// [`DEFERRED`], [`LEAVING`], [`NAMELESS`], [`SHARED`], [`LIBFABRIC`]).
    todo: Todo,
    /// Requests to be woken so far.
    requests: Cell<u64>,
    /// Bells of rings that have records left.
    left: RefCell<Vec<usize>>,
    /// Links on which records wait for room.
    owing: RefCell<Vec<Rc<Link>>>,
    streams: RefCell<VecDeque<Stream>>,
    matcher: RefCell<Matcher<Early>>,
    tagged: RefCell<Tagged<Early>>,
    /// Tagged messages that have receives, and wait for room for their entries.
    paired: RefCell<VecDeque<(Early, Place, Option<PeerIndex>)>>,
    /// Its part of the shared receive context, if it has one.
    shared: Option<Member>,
    pending: RefCell<Table>,
    deferred: RefCell<Deferred>,
    leaving: RefCell<Vec<Leaving>>,
    config: Config,
    vector: AddressVector,
    number: u32,
    /// Its part of the device.
    far: Option<Far>,
    /// Its endpoint of libfabric.
    libfabric: Option<Rc<Libfabric>>,
    /// By the addresses of the buffers that are posted in the place of pieces; dropped when
    /// the device writes there no more.
    landings: Landings,
    /// Counters of receives, by their contexts, in the place of the endpoint's.
    receive_counters: RefCell<HashMap<u64, Counter>>,
    /// Counters of operations on memory by a device, by their marks ([`Mark::counter`]).
    pub(crate) counters: [Counter; Mark::COUNTERS],
    /// Takes results that nobody reads; dropped when the device writes there no more.
    unread: Box<Cell<u64>>,
    inbox: Arc<Inbox>,
    domain: Domain,
}

/// The receiving end of a ring.
#[derive(Debug)]
struct Incoming {
    receiver: ring::Receiver,
    origin: Origin,
    lead: Arc<Lead>,
}

impl Endpoint {
    /// Returns the address by which peers reach the endpoint.
    pub fn address(&self) -> Address {
        match &self.libfabric {
            Some(libfabric) => libfabric.address().clone(),
            None => self.domain.shared().address(self.number),
        }
    }

    /// Returns a number by which operations reach a context of a peer: see
    /// [`AddressVector::context`].
    ///
    /// # Errors
    /// As [`AddressVector::context`].
    pub fn context_of(&self, peer: PeerIndex, context: u32) -> Result<PeerIndex, Error> {
        self.vector.context(peer, context)
    }

    /// Takes messages that have come, goes on with operations that wait for peers, and notes the
    /// end of peers. Nothing comes or goes on otherwise, but for memory that peers of the node
    /// write and read themselves.
    #[inline(always)]
    pub fn progress(&self) {
        // SAFETY: the word is mapped as long as the inbox, which is beside it, and aligned.
        // ORDERING: decides only whether to swap; the swap orders.
        if unsafe { &*self.first_bells }.load(Ordering::Relaxed) != 0 {
            self.look_first();
        }
        if self.todo.get() != 0 {
            self.look_further::<false>();
        }
    }

    /// Looks for work of which the first word of bells does not tell; with `IN_PLACE` messages are
    /// taken by few instructions where they lie, and otherwise where they go to buffers.
    #[inline(always)]
    fn look_further<const IN_PLACE: bool>(&self) {
        // The compiler reads the byte anew, so that this comparison, too, is one with memory, and
        // needs no register.
        compiler_fence(Ordering::SeqCst);
        if self.todo.get() != DEVICE {
            return self.work_off();
        }
        // SAFETY: the bit says that there is a device.
        let far = unsafe { self.far.as_ref().unwrap_unchecked() };
        let has_come = far.receives.is_ready();
        // SAFETY: something has come.
        if has_come && !unsafe { self.take_next_message::<IN_PLACE>(far) } {
            return self.turn_quickly::<IN_PLACE>(far);
        }
        // Where a message has come, others are looked for first, but not for ever.
        if far.traffic.is_busy.get() && !self.end_only(far) && (!has_come || far.is_time_for_more())
        {
            self.turn_quickly::<IN_PLACE>(far);
        }
    }

    /// Takes messages and completions, and does the rest of a turn only where there is some.
    #[inline(never)]
    fn turn_quickly<const IN_PLACE: bool>(&self, far: &Far) {
        let is_busy = far.traffic.is_busy.get();
        let has_come = far.receives.is_ready();
        if has_come && !self.take_messages::<IN_PLACE>(far) {
            return self.work_off();
        }
        if is_busy && (!(self.look_far(far) | has_come) || far.is_time_for_more()) {
            self.work_off();
        }
    }

    /// Has the next progress look at all that waits.
    pub(crate) fn note_work(&self) {
        self.todo.set(self.todo.get() | WORK);
    }

    /// Makes progress until `is_done`, or until the time is over: whether it was done.
    pub fn wait(&self, limit: Duration, mut is_done: impl FnMut() -> bool) -> bool {
        let mut waiter = Waiter::new(Patience::new(false));
        let start = Instant::now();
        loop {
            self.progress();
            if is_done() {
                return true;
            }
            if waiter.pause() && start.elapsed() >= limit {
                return false;
            }
        }
    }

    /// Makes progress until no own operation is under way, and orders all writes before everything
    /// after: they are delivered. Deferred operations count from the moment that their threshold is
    /// reached. Returns false if the time is over first.
    pub fn quiet(&self, limit: Duration) -> bool {
        let is_far_done = || self.far().is_none_or(Far::is_quiet);
        let is_done = || {
            self.pending.borrow().len() == 0
                && !self.has_unnumbered()
                && self.owing.borrow().is_empty()
                && is_far_done()
                && !self.is_any_due()
        };
        let is_quiet = is_done() || self.wait(limit, is_done);
        order::full();
        is_quiet
    }

    /// Looks at the rings whose bells in this word have rung.
    #[inline(never)]
    fn look_closely(&self, word: usize, mut bells: u64) {
        while bells != 0 {
            let bell = word * RINGS_PER_WORD + bells.trailing_zeros() as usize;
            bells &= bells - 1;
            if bell == NEWS {
                self.take_news();
            } else if !self.drain_renewed(bell) {
                self.drain_at(bell);
            }
        }
    }

    /// Takes the records of one ring, as a call.
    #[inline(never)]
    fn drain(&self, bell: usize) {
        self.drain_at(bell);
    }

    /// Takes the records of one ring: in line where bells are looked at.
    #[inline(always)]
    fn drain_at(&self, bell: usize) {
        let mut incoming = self.incoming.borrow_mut();
        if !matches!(incoming.get(bell), Some(Some(_))) {
            drop(incoming);
            // Its news is in a word that was looked at before.
            self.take_news();
            incoming = self.incoming.borrow_mut();
        }
        let Some(slot) = incoming.get_mut(bell) else {
            return;
        };
        let Some(one) = slot else {
            return;
        };
        let Incoming {
            receiver,
            origin,
            lead,
        } = &mut **one;
        for _ in 0..TURN {
            let fate = match receiver.next() {
                Ok(Some(record)) => Some(self.arrive(origin, record)),
                Ok(None) => None,
                Err(ring::Broken) => Some(Fate::Broken),
            };
            match fate {
                // Saves a call that finds nothing.
                Some(Fate::Taken) if receiver.is_idle() && !lead.is_over() => return,
                Some(Fate::Taken) => {}
                Some(Fate::Left) => break,
                None if !lead.is_over() => return,
                // Published before the ring was over; nothing is behind that.
                None if !receiver.is_idle() => {}
                // Also a ring whose sender has ended: nothing more comes. One that breaks the
                // protocol gives no answers any more, either.
                None | Some(Fate::Broken) => {
                    if fate.is_some() {
                        self.part(origin);
                    }
                    *slot = None;
                    self.inbox.free(bell);
                    return;
                }
            }
        }
        let mut left = self.left.borrow_mut();
        if !left.contains(&bell) {
            left.push(bell);
        }
        self.note_work();
    }

    /// Takes over rings that are new, and drops the state of peers that have ended.
    #[cold]
    fn take_news(&self) {
        for lead in self.inbox.take_new() {
            let ring = lead.ring;
            // SAFETY: the ring is this lead's, which the value holds, in pages that were zero; only
            // this endpoint, which takes each lead once, receives by it.
            let receiver = unsafe { ring::Receiver::new(lead.memory.as_ptr(), lead.capacity) };
            let origin = Origin::new(lead.from.clone());
            let one = Incoming {
                receiver,
                origin,
                lead,
            };
            let mut incoming = self.incoming.borrow_mut();
            if incoming.len() <= ring {
                incoming.resize_with(ring + 1, || None);
            }
            incoming[ring] = Some(Box::new(one));
            let kind = self.inbox.bell_kind();
            self.words.set(kind.words(incoming.len()));
            if kind == BellKind::Bytes {
                note_shared_bell(&incoming, ring % BYTE_BELLS);
            }
            self.note_work();
        }
        let is_over = |(ring, one): (usize, &Option<Box<Incoming>>)| {
            one.as_ref().filter(|one| one.lead.is_over()).map(|_| ring)
        };
        let over: Vec<usize> = {
            let incoming = self.incoming.borrow();
            incoming.iter().enumerate().filter_map(is_over).collect()
        };
        over.into_iter().for_each(|ring| self.drain(ring));
        self.part_from_gone(Link::is_over);
    }

    /// Drops the state of peers that are gone, and whose answers were taken: their operations fail.
    pub(crate) fn part_from_gone(&self, is_dead: fn(&Link) -> bool) {
        let mut gone = Vec::new();
        self.known.borrow_mut().retain(|_, link| {
            let is_dead = is_dead(link);
            if is_dead && link.unnumbered.get() > 0 {
                gone.push(Rc::clone(link));
            }
            !is_dead
        });
        self.keys.retain(|region| !is_dead(&region.link));
        for link in self.links.borrow_mut().iter_mut() {
            link.take_if(|link| is_dead(link));
        }
        let is_left = |link: &Link| {
            let is_dead = is_dead(link);
            if is_dead {
                link.owed.borrow_mut().clear();
                link.streams.set(0);
            }
            !is_dead
        };
        self.owing.borrow_mut().retain(|link| is_left(link));
        self.streams
            .borrow_mut()
            .retain(|stream| is_left(&stream.link));
        let is_over = |one: &Pending| is_dead(&one.link) && !one.is_with_others();
        let dead = self.pending.borrow().numbers(is_over);
        for number in dead {
            self.finish(number, Err(Error::PeerGone));
        }
        gone.iter().for_each(|link| self.fail_unnumbered(link));
    }

    /// Looks at the device, and reports the operations that it has done.
    fn turn_far(&self, far: &Far) {
        far.note_whole_turn();
        let any = self.take_far(far) | self.look_far(far) | self.collect_taken(far);
        if far.traffic.has_ended.take() {
            self.end_logs(far);
        }
        if far.has_to_mend() {
            self.mend(far);
            self.collect_taken(far);
        }
        if !any {
            self.rest_far(far);
        }
    }

    /// Lets the device act where something is outstanding. Where nothing is, and nothing is waited
    /// for, no look at it but for messages is due.
    fn rest_far(&self, far: &Far) {
        let tidies = self.note_idle(far) && far.has_many_queues();
        let is_under_way = far.let_act(tidies) | self.sweep_far(far) | far.has_to_mend();
        let has_more = far.traffic.is_starved.get() || far.traffic.has_left.get();
        let is_waiting = is_under_way || has_more;
        if !is_waiting && self.pending.borrow().len() == 0 && self.owing.borrow().is_empty() {
            far.note_rest();
        }
    }

    /// Lets the device or libfabric act, of which nothing is reported any more. Returns whether it
    /// has something to do for the endpoint.
    fn let_act(&self) -> bool {
        let is_busy = self.libfabric.as_ref().is_some_and(|it| it.let_act());
        self.far.as_ref().map_or(is_busy, |far| {
            far.drain();
            far.let_act(false)
        })
    }

    /// Returns the regions of the domain.
    pub(crate) fn regions(&self) -> &Regions {
        self.domain.regions()
    }

    /// Has the domain's thread look.
    pub(crate) fn wake_service(&self) {
        self.domain.shared().wake();
    }

    /// Returns the endpoint's part of the device.
    pub(crate) fn far(&self) -> Option<&Far> {
        self.far.as_ref()
    }

    /// Returns the memory of an own region that has so many bytes at an address, for own entries.
    pub(crate) fn own_memory(&self, address: usize, bytes: usize) -> Option<Local> {
        self.domain.regions().local_memory(address, bytes)
    }

    /// Returns the counter of such operations.
    #[inline(always)]
    pub(crate) fn counter(&self, operation: Operation) -> &Counter {
        self.ends(operation).1
    }

    /// Returns the endpoint's number in its domain.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the queue for the entries of operations that this side starts.
    pub(crate) fn transmit(&self) -> &CompletionQueue {
        &self.config.transmit
    }

    /// Looks at further words of bells, and does the work that waits for room: answers, streams,
    /// and records that were left.
    #[inline(never)]
    fn work_off(&self) {
        if let Some(far) = &self.far {
            self.turn_far(far);
        }
        if let Some(libfabric) = &self.libfabric {
            self.turn_libfabric(libfabric);
        }
        if self.todo.get() & !(DEVICE | LIBFABRIC) != 0 {
            self.work_off_rest();
        }
    }

    fn work_off_rest(&self) {
        if self.todo.get() & NAMELESS != 0 {
            self.look_for_names();
        }
        if self.todo.get() & (WORK | WORDS) != 0 {
            self.push_work();
        }
        if self.todo.get() & LEAVING != 0 {
            self.end_transmitted();
        }
        if let Some(member) = &self.shared {
            self.deliver_shared(member);
        }
        // Behind all that counts.
        if self.todo.get() & DEFERRED != 0 {
            self.start_deferred();
        }
    }

    fn push_work(&self) {
        let words = self.words.get();
        let mut owing = self.owing.borrow_mut();
        owing.retain(|link| !link.pay());
        let work = if owing.is_empty() { 0 } else { WORK };
        let more = if words > 1 { WORDS } else { 0 };
        self.todo
            .set(self.todo.get() & !(WORK | WORDS) | work | more);
        drop(owing);
        let rung = (1..words).filter(|&word| self.inbox.bells().is_rung(word));
        rung.for_each(|word| self.look(word));
        self.push_streams();
        self.match_early();
        self.deliver_paired();
        let left = std::mem::take(&mut *self.left.borrow_mut());
        left.into_iter().for_each(|bell| self.drain(bell));
    }

    /// Returns the queue and the counter that an operation reports to.
    #[inline(always)]
    fn ends(&self, operation: Operation) -> (&CompletionQueue, &Counter) {
        match operation {
            Operation::Receive | Operation::RemoteWrite => {
                (&self.config.receive, &self.config.received)
            }
            Operation::Send => (&self.config.transmit, &self.config.done),
            Operation::Read | Operation::Fetch => (&self.config.transmit, &self.config.read),
            Operation::Write | Operation::Atomic => (&self.config.transmit, &self.config.written),
        }
    }

    /// Adds an operation that waits, and keeps room for its entry.
    fn begin(
        &self,
        link: &Rc<Link>,
        entry: Entry,
        promise: Promise,
        state: State,
    ) -> Result<u64, Error> {
        let (queue, _) = self.ends(entry.operation);
        // Nothing tells of the end of a peer that is gone already.
        if link.is_over() {
            return Err(Error::PeerGone);
        }
        // A region may be another endpoint's, whose numbers mean other operations.
        if link.own != self.number {
            return Err(Error::NoSuchPeer);
        }
        // A message has room for its entry since it was matched, and its sender bounds its number.
        let is_asked = entry.operation == Operation::Receive;
        if !is_asked && link.asked.get() >= MOST_ASKED {
            return Err(Error::Again);
        }
        let has_entry = promise.has_entry;
        if has_entry && is_asked {
            queue.reserve_anyway();
        } else if has_entry && !queue.reserve() {
            return Err(Error::Again);
        }
        let pending = Pending {
            link: Rc::clone(link),
            entry,
            promise,
            part: None,
            state,
            rare: None,
        };
        let number = self.pending.borrow_mut().add(pending);
        if number.is_none() && promise.has_entry {
            queue.release();
        }
        number.ok_or(Error::Again)
    }

    /// Adds an operation that waits, and that may be a part of another one.
    pub(crate) fn begin_reported<R: Report>(
        &self,
        link: &Rc<Link>,
        entry: Entry,
        report: R,
        state: State,
    ) -> Result<u64, Error> {
        let number = self.begin(link, entry, Promise::of(report), state)?;
        if let Some(whole) = report.part() {
            self.pending.borrow_mut().set_part(number, whole);
        }
        Ok(number)
    }

    /// Takes back an operation that could not be sent.
    #[cold]
    fn abandon(&self, number: u64) {
        if let Some(pending) = self.pending.borrow_mut().take(number)
            && pending.promise.has_entry
        {
            self.ends(pending.entry.operation).0.release();
        }
    }

    /// Ends an operation that waits, or a part of it: reports it, and answers the peer if it waits
    /// for that.
    pub(crate) fn finish(&self, number: u64, result: Result<(), Error>) {
        let ended = self.pending.borrow_mut().end(number, result);
        let Some((mut pending, result)) = ended else {
            return;
        };
        if let Some(rare) = &mut pending.rare {
            let counted = std::mem::take(&mut rare.counted);
            if !counted.is_empty() {
                return self.count_whole(pending, counted, result);
            }
            if let (Some(cut), Ok(())) = (rare.cut, result) {
                return self.finish_cut(&mut pending, cut.get());
            }
        }
        self.tell_whole(&pending, result);
        if let Some(rare) = &pending.rare
            && let Some(counter) = &rare.counter
        {
            counter.count(result);
        }
        if let Some(whole) = pending.part {
            return self.finish(whole.get(), result);
        }
        self.let_buffer_go(&mut pending, result);
        self.report(pending.entry, pending.promise, result, true);
    }

    /// Reports the end of an operation, for whose entry room `is_kept` if it has one.
    pub(crate) fn report(
        &self,
        entry: Entry,
        promise: Promise,
        result: Result<(), Error>,
        is_kept: bool,
    ) {
        let (queue, counter) = self.ends(entry.operation);
        let told = result.map(|()| entry).map_err(|error| Failure {
            error,
            entry,
            cut: 0,
        });
        if promise.has_entry && is_kept {
            queue.fill(told);
        } else if promise.has_entry || told.is_err() {
            queue.push(told);
        }
        if promise.counts {
            counter.count(result);
        }
    }
}

/// Has the first ring of a bell by bytes know of others that have the same.
fn note_shared_bell(incoming: &[Option<Box<Incoming>>], bell: usize) {
    let mut rings = incoming.iter().skip(bell).step_by(BYTE_BELLS);
    if let Some(Some(first)) = rings.next()
        && rings.any(Option::is_some)
    {
        first.lead.share();
    }
}
