//! The connections of one endpoint: made by the domain's thread, used by the endpoint's own.

#![expect(unsafe_code, reason = "hands queues to lanes, and registers memory")]

use super::device::{Device, MOST_CONNECTED, QpType};
use super::lane::Lane;
use super::wire::{Body, Ends, Renewal};
use crate::device::Gate;
use crate::raw::address::Address;
use crate::raw::arena::Arena;
use crate::raw::error::Error;
use crate::raw::inbox::{Inbox, Range};
use crate::raw::rights::{Addressing, Rights};
use fi_mlx5::device::{Channel, Peer, QueuePair, ReceiveQueue, Region, Target};
use fi_mlx5::queue::SendRing;
use std::collections::HashMap;
use std::mem::take;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Buffers for records.
pub(crate) const BUFFERS: u32 = 512;
/// Records that a peer may send before it is told that one was taken.
pub(crate) const CREDITS: u32 = 32;
/// Bytes of a record's header over a device.
pub(crate) const HEADER: usize = 8;

/// Time after which an unanswered datagram is sent again, and time for which that goes on.
const AGAIN: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(5);

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Hub {
    /// The endpoint's number.
    pub(crate) own: u32,
    /// Carries records.
    pub(crate) messages: Gate,
    /// Carries reads and writes.
    pub(crate) memory: Gate,
    /// Behind the gates: their lanes post to the queue pairs in here.
    state: Mutex<State>,
    changed: Condvar,
    pub(crate) receives: ReceiveQueue,
    pub(crate) buffers: Region,
    /// The file of the events of all three.
    pub(crate) channel: Channel,
    /// Time at which the endpoint is to be woken, if it asks for that.
    alarm: Mutex<Option<Instant>>,
    /// The targets of either lane, where peers enter them.
    targets: Option<[Target; 2]>,
    /// Lets peers write the words that count.
    counts: Region,
    space: Range,
    /// The longest payload of a record.
    pub(crate) most: usize,
    /// The own table of regions, for peers.
    table: (u64, u32),
    news: Arc<Inbox>,
    pub(crate) device: Arc<Device>,
}

#[derive(Debug, Default)]
struct State {
    connections: Vec<Connection>,
    /// The initiators that have come in the places of others, of either lane.
    initiators: [Option<QueuePair>; 2],
    /// Queue pairs that have failed, until others are in their places.
    old: Vec<QueuePair>,
    /// Numbers of connections, by [`Address::of_hub`].
    by_address: HashMap<Address, u32>,
    is_closed: bool,
}

/// A connection.
#[derive(Debug)]
struct Connection {
    address: Address,
    stage: Stage,
    /// The queue pairs, where there are connected ones.
    pairs: Option<Pairs>,
    theirs: Option<Ends>,
    /// Time at which the next datagram is due, and time since which datagrams are due.
    due: Option<Instant>,
    since: Instant,
    /// The queue pair that takes the place of the one by which memory is accessed.
    renewal: Option<Renewing>,
    /// Number of such renewals.
    times: u32,
    /// Number of times that the peer has asked for one.
    times_there: u32,
}

/// The queue pairs of a connection. One by which memory is accessed fails with the first access that
/// is refused, at both ends. So each has one direction: no operation of the other side is lost.
#[derive(Debug)]
struct Pairs {
    messages: QueuePair,
    outward: QueuePair,
    inward: QueuePair,
}

/// A queue pair on its way to the place of another.
#[derive(Debug)]
struct Renewing {
    pair: QueuePair,
    is_connected: bool,
}

/// Stage of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The peer is asked.
    Asking,
    /// The own ends are connected, and the peer was told.
    Answered,
    /// The peer's are, too.
    Ready,
    Failed(Error),
}

/// A connection that is ready.
#[derive(Clone, Debug)]
pub(crate) struct Connected {
    /// Its number: the peer's place in the lanes, and the origin of its records.
    pub(crate) number: u32,
    pub(crate) address: Address,
    pub(crate) theirs: Ends,
}

impl Hub {
    /// Opens the hub of endpoint `own`, whose peers send records of up to `most` bytes of payload.
    pub(crate) fn open(
        device: &Arc<Device>,
        own: u32,
        arena: &Arc<Arena>,
        news: &Arc<Inbox>,
        most: usize,
        table: (u64, u32),
    ) -> Result<Self, Error> {
        let most = most.next_multiple_of(8);
        let channel = device.hca.channel().map_err(|_| Error::NoRoom)?;
        let messages = device.lane(HEADER + most, &channel)?;
        let memory = device.lane(HEADER + most, &channel)?;
        let receives = device.hca.receive_queue_telling(&channel, BUFFERS);
        let receives = receives.map_err(|_| Error::NoRoom)?;
        let counts_bytes = MOST_CONNECTED as usize * 8;
        let buffers_bytes = BUFFERS as usize * (HEADER + most);
        let space = Range::take(arena, counts_bytes + buffers_bytes)?;
        let start = space.as_ptr();
        // SAFETY: the range is this hub's, mapped as long as the hub, and whole words are read from
        // its first part alone, which peers write.
        let counts = unsafe {
            let words = (start, counts_bytes);
            device.register(words, Rights::WRITE, Addressing::Virtual)?
        };
        let behind = start.wrapping_add(counts_bytes);
        // SAFETY: the range is this hub's, mapped as long as the hub; records are copied before
        // they are checked.
        let buffers = unsafe { device.hca.register_local(behind, buffers_bytes) };
        let targets = match device.qp_type {
            QpType::Rc => None,
            QpType::Dc => {
                let to_messages = device.hca.target_receiving(device.key, &receives);
                let to_memory = device.hca.target(device.key);
                let [one, other] = [to_messages, to_memory].map(|made| made.ok());
                one.zip(other).map(|(one, other)| [one, other])
            }
        };
        if device.qp_type == QpType::Dc && targets.is_none() {
            return Err(Error::NoRoom);
        }
        Ok(Self {
            own,
            messages,
            memory,
            receives,
            buffers: buffers.map_err(|_| Error::NoRoom)?,
            channel,
            alarm: Mutex::default(),
            targets,
            counts,
            space,
            most,
            table,
            news: Arc::clone(news),
            state: Mutex::default(),
            changed: Condvar::new(),
            device: Arc::clone(device),
        })
    }

    /// Returns the address of buffer `index`.
    pub(crate) fn buffer(&self, index: u16) -> *mut u8 {
        let counts = MOST_CONNECTED as usize * 8;
        let at = counts + usize::from(index) * (HEADER + self.most);
        self.space.as_ptr().wrapping_add(at)
    }

    /// Returns the word in which connection `number` tells the number of records that it has taken.
    pub(crate) fn count(&self, number: u32) -> *mut u64 {
        let at = number as usize * 8;
        self.space.as_ptr().wrapping_add(at).cast()
    }

    /// Returns the connection with the endpoint of this address; waits until it is there. `wake`
    /// has the domain's thread look.
    ///
    /// # Errors
    /// [`Error::Unreachable`] where nobody answers, or the peer's refusal.
    pub(crate) fn connect(
        &self,
        address: &Address,
        wake: impl FnOnce(),
    ) -> Result<Connected, Error> {
        let mut state = self.lock();
        let number = match state.by_address.get(&address.of_hub()) {
            Some(&number) => {
                state.connections[number as usize].try_again();
                number
            }
            None => self.add(&mut state, address, Stage::Asking)?,
        };
        wake();
        loop {
            let one = &state.connections[number as usize];
            match one.stage {
                Stage::Failed(error) => return Err(error),
                Stage::Ready => return one.connected(number).ok_or(Error::Broken),
                Stage::Asking | Stage::Answered => {}
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the connection of this number, if its ends are known: records may come by it.
    pub(crate) fn connection(&self, number: u32) -> Option<Connected> {
        self.lock()
            .connections
            .get(number as usize)?
            .connected(number)
    }

    /// Returns the queue pair by which the records of connection `number` come, where it has one of
    /// its own.
    pub(crate) fn queue_of(&self, number: u32) -> Option<u32> {
        let state = self.lock();
        let pairs = state.connections.get(number as usize)?.pairs.as_ref();
        pairs.map(|pairs| pairs.messages.number())
    }

    /// Returns whether the peer of connection `number` is gone.
    pub(crate) fn is_over(&self, number: u32) -> bool {
        let state = self.lock();
        let one = state.connections.get(number as usize);
        one.is_none_or(|one| one.stage == Stage::Failed(Error::PeerGone))
    }

    /// Notes that the peer of connection `number` is gone: nobody connects to it again.
    pub(crate) fn part(&self, number: u32) {
        if let Some(one) = self.lock().connections.get_mut(number as usize) {
            (one.stage, one.due) = (Stage::Failed(Error::PeerGone), None);
        }
    }

    /// Makes no more connections; threads that wait for one are told.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        for one in &mut state.connections {
            if one.stage != Stage::Ready {
                one.stage = Stage::Failed(Error::PeerGone);
                one.due = None;
            }
        }
        self.changed.notify_all();
    }

    /// Adds a connection; returns its number.
    fn add(&self, state: &mut State, address: &Address, stage: Stage) -> Result<u32, Error> {
        let number = state.connections.len() as u32;
        if number >= MOST_CONNECTED || state.is_closed {
            return Err(Error::NoRoom);
        }
        let pairs = match self.device.qp_type {
            QpType::Rc => Some(self.make_pairs()?),
            QpType::Dc => None,
        };
        let now = Instant::now();
        state.connections.push(Connection {
            address: address.clone(),
            stage,
            pairs,
            theirs: None,
            due: Some(now),
            since: now,
            renewal: None,
            times: 0,
            times_there: 0,
        });
        state.by_address.insert(address.of_hub(), number);
        Ok(number)
    }

    fn make_pairs(&self) -> Result<Pairs, Error> {
        let made = || {
            Ok::<_, crate::device::Error>(Pairs {
                messages: self.messages.make_receiving(&self.receives)?,
                outward: self.memory.make_connected()?,
                inward: self.memory.make_passive()?,
            })
        };
        made().map_err(|_| Error::NoRoom)
    }

    /// Returns the own ends of a connection.
    fn ends(&self, number: u32, one: &Connection) -> Ends {
        let features = self.device.hca.features();
        let [messages, outward, inward] = match (&one.pairs, &self.targets) {
            (Some(pairs), _) => {
                [&pairs.messages, &pairs.outward, &pairs.inward].map(QueuePair::number)
            }
            (None, Some([messages, memory])) => [messages.number(), 0, memory.number()],
            (None, None) => [0; 3],
        };
        Ends {
            messages,
            outward,
            inward,
            is_dynamic: self.targets.is_some(),
            lid: features.lid,
            mtu: features.mtu,
            max_read_atomic: features.max_read_atomic,
            key: self.device.key,
            origin: number,
            credits: CREDITS,
            most: self.most as u32,
            taken: (self.count(number).addr() as u64, self.counts.rkey()),
            table: self.table,
        }
    }

    /// Connects the own ends with the peer's.
    fn join(&self, number: u32, one: &mut Connection, theirs: &Ends) -> Result<(), Error> {
        if one.theirs.is_some() {
            return Ok(());
        }
        // Payloads are at most a quarter of a ring, which has 1 KiB or more.
        let is_sound = theirs.is_dynamic == self.targets.is_some()
            && theirs.origin < MOST_CONNECTED
            && theirs.credits > 0
            && (1 << 8..=1 << 28).contains(&theirs.most);
        if !is_sound {
            return Err(Error::Broken);
        }
        if let Some(pairs) = &one.pairs {
            connect(&pairs.messages, theirs, theirs.messages)?;
            connect(&pairs.outward, theirs, theirs.inward)?;
            connect(&pairs.inward, theirs, theirs.outward)?;
            let lanes = [
                (&self.messages, &pairs.messages),
                (&self.memory, &pairs.outward),
            ];
            for (gate, pair) in lanes {
                if let Some(later) = gate.later() {
                    // SAFETY: the pair, whose memory and register the ring is, is kept longer than
                    // the lane, as connections are never taken out; nobody else posts to it.
                    unsafe { later.offer(number, pair.ring()) };
                }
            }
        }
        one.theirs = Some(*theirs);
        Ok(())
    }

    /// Makes another queue pair by which the peer accesses memory; returns the renewal that the
    /// peer is told.
    fn renew_inward(&self, one: &mut Connection, renewal: Renewal) -> Option<Renewal> {
        let (pairs, theirs) = (one.pairs.as_mut()?, one.theirs.as_ref()?);
        if renewal.times == one.times_there.wrapping_add(1) {
            let inward = self.memory.make_passive().ok()?;
            connect(&inward, theirs, renewal.queue).ok()?;
            // The one before sends nothing, and nobody reads its completions.
            pairs.inward = inward;
            one.times_there = renewal.times;
        }
        (renewal.times == one.times_there).then(|| Renewal {
            times: renewal.times,
            queue: pairs.inward.number(),
        })
    }

    /// Asks for another queue pair by which memory of the peer of connection `number` is accessed,
    /// unless that was done already. `wake` has the domain's thread look.
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    pub(crate) fn renew(&self, number: u32, wake: impl FnOnce()) -> Result<(), Error> {
        let mut state = self.lock();
        let one = state.connections.get_mut(number as usize);
        let one = one.filter(|one| one.renewal.is_none());
        let Some(one) = one else { return Ok(()) };
        let pair = self.memory.make_connected().map_err(|_| Error::NoRoom)?;
        one.renewal = Some(Renewing {
            pair,
            is_connected: false,
        });
        one.times = one.times.wrapping_add(1);
        let now = Instant::now();
        (one.due, one.since) = (Some(now), now);
        wake();
        Ok(())
    }

    /// Returns the queue that takes the place of the one by which memory of the peer of connection
    /// `number` was accessed, once it is there.
    ///
    /// # Errors
    /// [`Error::Unreachable`] where the peer does not answer.
    pub(crate) fn renewed(&self, number: u32) -> Result<Option<SendRing>, Error> {
        let mut state = self.lock();
        let Some(one) = state.connections.get_mut(number as usize) else {
            return Ok(None);
        };
        if let Stage::Failed(error) = one.stage {
            return Err(error);
        }
        if !one.renewal.as_ref().is_some_and(|it| it.is_connected) {
            return Ok(None);
        }
        let Some((renewal, pairs)) = one.renewal.take().zip(one.pairs.as_mut()) else {
            return Ok(None);
        };
        let ring = renewal.pair.ring();
        let old = std::mem::replace(&mut pairs.outward, renewal.pair);
        state.old.push(old);
        Ok(Some(ring))
    }

    /// Returns another initiator for a lane of the endpoint, in the place of one that has failed.
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    pub(crate) fn initiator(&self, lane: Lane) -> Result<SendRing, Error> {
        let mut state = self.lock();
        let gate = match lane {
            Lane::Messages => &self.messages,
            Lane::Memory => &self.memory,
        };
        let pair = gate.make_initiator().map_err(|_| Error::NoRoom)?;
        let ring = pair.ring();
        let old = state.initiators[lane as usize].replace(pair);
        state.old.extend(old);
        Ok(ring)
    }

    /// Destroys queue pairs that have failed, in whose places others are by now.
    ///
    /// # Safety
    /// This thread alone uses the lanes, and lanes use the rings of [`Hub::renewed`] and
    /// [`Hub::initiator`].
    pub(crate) unsafe fn drop_old(&self) {
        // Nobody has to wait meanwhile.
        let old = take(&mut self.lock().old);
        for pair in old {
            for gate in [&self.messages, &self.memory] {
                // SAFETY: this thread alone uses the lanes.
                unsafe { gate.lane().disown(pair.number()) };
            }
        }
    }

    /// Takes a datagram from an endpoint; returns the answer, if there is one to give.
    pub(crate) fn take(&self, from: &Address, body: &Body) -> Option<Body> {
        let mut state = self.lock();
        let known = state.by_address.get(&from.of_hub()).copied();
        let (number, theirs) = match (body, known) {
            (Body::Ask(theirs), Some(number)) => (number, theirs),
            (Body::Ask(theirs), None) => match self.add(&mut state, from, Stage::Answered) {
                Ok(number) => (number, theirs),
                Err(error) => return Some(Body::Refuse(error)),
            },
            (Body::Answer(theirs), Some(number)) => (number, theirs),
            (Body::Confirm, Some(number)) => {
                let one = &mut state.connections[number as usize];
                if one.theirs.is_some() && one.stage == Stage::Answered {
                    one.get_ready();
                }
                self.tell();
                return None;
            }
            (Body::Renew(renewal), Some(number)) => {
                let one = &mut state.connections[number as usize];
                return self.renew_inward(one, *renewal).map(Body::Renewed);
            }
            (Body::Renewed(renewal), Some(number)) => {
                let one = &mut state.connections[number as usize];
                one.join_outward(*renewal);
                self.tell();
                return None;
            }
            (Body::Refuse(error), Some(number)) => {
                let one = &mut state.connections[number as usize];
                if one.stage == Stage::Asking {
                    (one.stage, one.due) = (Stage::Failed(*error), None);
                }
                self.changed.notify_all();
                return None;
            }
            (_, None) => return None,
        };
        let one = &mut state.connections[number as usize];
        let answer = match self.join(number, one, theirs) {
            Err(error) => {
                (one.stage, one.due) = (Stage::Failed(error), None);
                Body::Refuse(error)
            }
            Ok(()) if matches!(body, Body::Answer(_)) => {
                one.get_ready();
                Body::Confirm
            }
            Ok(()) => {
                if matches!(one.stage, Stage::Asking | Stage::Failed(Error::Unreachable)) {
                    one.stage = Stage::Answered;
                    one.since = Instant::now();
                }
                if one.stage == Stage::Answered {
                    one.due = Some(Instant::now() + AGAIN);
                }
                Body::Answer(self.ends(number, one))
            }
        };
        self.tell();
        Some(answer)
    }

    /// Calls `send` with the datagrams that are due, each with the endpoint that it is for. Returns
    /// the time of the next.
    pub(crate) fn due(&self, mut send: impl FnMut(&Address, Body)) -> Option<Instant> {
        let now = Instant::now();
        let mut state = self.lock();
        let mut next = None;
        let mut has_failed = false;
        for (number, one) in (0..).zip(&mut state.connections) {
            let Some(due) = one.due else { continue };
            if due <= now {
                if now - one.since > PATIENCE {
                    // An answer that nobody confirms is of a peer that is gone, too.
                    (one.stage, one.due) = (Stage::Failed(Error::Unreachable), None);
                    has_failed = true;
                    continue;
                }
                let ends = self.ends(number, one);
                let body = match (&one.renewal, one.stage) {
                    (Some(renewal), _) => Body::Renew(Renewal {
                        times: one.times,
                        queue: renewal.pair.number(),
                    }),
                    (None, Stage::Asking) => Body::Ask(ends),
                    (None, _) => Body::Answer(ends),
                };
                send(&one.address, body);
                one.due = Some(now + AGAIN);
            }
            next = [next, one.due].into_iter().flatten().min();
        }
        if has_failed {
            self.changed.notify_all();
        }
        drop(state);
        [next, self.ring_alarm(now)].into_iter().flatten().min()
    }

    /// Has the domain's thread wake the endpoint at this time, unless it will before; `wake` has that
    /// thread look.
    pub(crate) fn set_alarm(&self, at: Instant, wake: impl FnOnce()) {
        let mut alarm = self.alarm();
        if alarm.is_none() {
            *alarm = Some(at);
            drop(alarm);
            wake();
        }
    }

    /// Wakes the endpoint if it is time; returns when it will be.
    fn ring_alarm(&self, now: Instant) -> Option<Instant> {
        let mut alarm = self.alarm();
        if alarm.is_some_and(|at| at <= now) {
            *alarm = None;
            self.news.wake();
        }
        *alarm
    }

    fn alarm(&self) -> MutexGuard<'_, Option<Instant>> {
        self.alarm.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the threads that wait, and the endpoint.
    fn tell(&self) {
        self.changed.notify_all();
        self.news.tell();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connects a queue pair with that of this number at the peer.
fn connect(pair: &QueuePair, theirs: &Ends, number: u32) -> Result<(), Error> {
    let peer = Peer {
        number,
        lid: theirs.lid,
        mtu: theirs.mtu,
        max_read_atomic: theirs.max_read_atomic,
        key: theirs.key,
    };
    pair.connect(&peer).map_err(|_| Error::NoRoom)
}

impl Connection {
    /// Asks once more where nobody has answered, or the peer had no room.
    fn try_again(&mut self) {
        let is_over = matches!(
            self.stage,
            Stage::Failed(Error::Unreachable | Error::NoRoom)
        );
        if is_over && self.theirs.is_none() {
            self.stage = Stage::Asking;
            self.since = Instant::now();
            self.due = Some(self.since);
        }
    }

    /// Notes that both sides are connected.
    fn get_ready(&mut self) {
        self.stage = Stage::Ready;
        if self.renewal.is_none() {
            self.due = None;
        }
    }

    /// Connects the queue pair that takes the place of another, to the one that the peer has made.
    fn join_outward(&mut self, renewal: Renewal) {
        let (Some(theirs), Some(renewing)) = (&self.theirs, &mut self.renewal) else {
            return;
        };
        if renewal.times != self.times || renewing.is_connected {
            return;
        }
        self.due = None;
        match connect(&renewing.pair, theirs, renewal.queue) {
            Ok(()) => renewing.is_connected = true,
            Err(error) => self.stage = Stage::Failed(error),
        }
    }

    fn connected(&self, number: u32) -> Option<Connected> {
        Some(Connected {
            number,
            address: self.address.clone(),
            theirs: self.theirs?,
        })
    }
}
