//! The state of calls that threads use by turns: endpoints, messages that wait for others, calls that
//! wait for replies.
//!
//! Nothing of the program's is called in a turn: no action, no `Drop` of arguments, no waker. They come
//! out of it as [`Ready`].

mod arrive;
mod fetch;
mod send;

pub(crate) use send::{Kept, KeptFor, Place, header};

use crate::call::Sink;
use crate::error::Error;
use crate::packet::{Packet, Record};
use crate::pool::Pool;
use crate::settle::Waves;
use fetch::{Fetch, Stalled};
use fi_job::Job;
use fi_provider::raw::completion::CompletionQueue;
use fi_provider::raw::domain::Domain;
use fi_provider::raw::endpoint::Endpoint;
use fi_provider::raw::error as raw;
use fi_provider::raw::region::Memory;
use send::Outbox;
use slab::Slab;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The two ways of messages: replies come also where calls do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Calls,
    Replies,
}

/// Work that comes out of a turn.
pub(crate) enum Ready {
    /// A message with calls.
    Calls(u32, Packet),
    /// A call whose chunks were fetched.
    Call(Record),
    /// A result.
    Reply(Arc<dyn Sink>, Record),
    /// A call that has failed.
    Failed(Arc<dyn Sink>, Error),
    /// A call without a reply that has failed.
    Lost(Error),
    /// Calls that have ended without a result.
    Ended(u64),
    /// Arguments that were sent.
    Sent(KeptFor),
}

/// A call that waits for its reply.
pub(crate) struct Waiting {
    pub(crate) sink: Arc<dyn Sink>,
    rank: u32,
    /// The number by which it is replied to.
    id: u64,
}

/// Reason why nothing is sent to a rank any more.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lost {
    /// The fabric's.
    Fabric(raw::Error),
    /// This process has closed its calls.
    Closed,
}

/// Another process, or this one.
#[derive(Default)]
pub(crate) struct Peer {
    /// By [`Way`].
    outboxes: [Outbox; 2],
    /// Why nothing is sent to it any more.
    lost: Option<Lost>,
    /// Calls to it that have not ended.
    unended: u64,
    /// Calls without a reply that it has said to have run.
    told: u64,
    /// Calls without a reply that were run for it here.
    ran: u64,
    /// It does not know of all of them.
    is_ran_noted: bool,
    /// Whether it is of this node, once that was asked.
    is_near: Option<bool>,
    /// A probe is under way.
    is_probed: bool,
}

/// All of a process's calls that threads use by turns. Endpoints are dropped first: they write to memory
/// of the fields behind them, and their functions lead to `arrivals`.
pub(crate) struct Core {
    requests: Endpoint,
    replies: Endpoint,
    /// Tells of the ends of reads.
    ended: CompletionQueue,
    /// Not in a `Box`: its moves would say that nobody else has a pointer to the list.
    arrivals: Rc<arrive::Arrivals>,
    pub(crate) peers: Vec<Peer>,
    /// Ranks with messages that were not sent, and their ways.
    dirty: Vec<(u32, Way)>,
    /// Ranks for which calls were run of which they do not know.
    ran: Vec<u32>,
    waiting: Slab<Waiting>,
    kept: Slab<(u32, u64, KeptFor)>,
    fetches: Slab<Fetch>,
    stalled: VecDeque<Stalled>,
    /// Numbers so far, of calls and others.
    numbers: u64,
    pub(crate) out: Vec<Ready>,
    pub(crate) waves: Waves,
    pub(crate) is_closed: bool,
    /// Calls that were made.
    pub(crate) made: u64,
    /// The most bytes of a message.
    message: usize,
    together: u32,
    delay: Duration,
    most: usize,
    /// Bytes for which there is no room.
    pub(crate) unsent: usize,
    /// Turns since the peers were looked at.
    turns: u32,
    looked: Instant,
    /// When those of other nodes were.
    looked_far: Instant,
    probed: Box<u64>,
    _probe: Memory,
    pool: Arc<Pool>,
    pub(crate) domain: Domain,
    rank: u32,
    pub(crate) job: Job,
}

/// The key of the memory that peers read to find out whether a process is there.
pub(crate) const PROBE: u64 = 1;
/// Turns before the clock is looked at, also where each turn finds something: a process that always has
/// work waits for others, too. A program may sleep between them.
const PATIENCE: u32 = 1 << 8;
/// The time between looks at peers of the node, and of others.
const LOOK: Duration = Duration::from_millis(20);
const LOOK_FAR: Duration = Duration::from_secs(1);
/// The time that messages have to leave at the end.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);

/// Settings of a core, and the objects that it is made of.
pub(crate) struct Parts {
    pub(crate) domain: Domain,
    pub(crate) pool: Arc<Pool>,
    pub(crate) probe: Memory,
    pub(crate) job: Job,
    pub(crate) message: usize,
    pub(crate) together: usize,
    pub(crate) delay: Duration,
    pub(crate) most: usize,
}

/// Whether the error of one operation says that no later one can be done either.
fn is_final(error: raw::Error) -> bool {
    use raw::Error::{Broken, PeerGone, Unreachable};
    matches!(error, PeerGone | Unreachable | Broken)
}

impl Core {
    /// Opens the endpoints, and tells all processes of them: collective.
    ///
    /// # Errors
    /// Those of the fabric and of the job.
    pub(crate) fn open(parts: Parts) -> Result<Self, Error> {
        let Parts {
            domain,
            pool,
            probe,
            mut job,
            message,
            together,
            delay,
            most,
        } = parts;
        let (rank, ranks) = job.rank_and_ranks();
        let arrivals = Rc::new(arrive::Arrivals::default());
        let ended = CompletionQueue::new(fetch::MOST_READS);
        let (requests, replies) = arrive::open(&domain, &arrivals, &ended, &mut job)?;
        Ok(Self {
            requests,
            replies,
            ended,
            arrivals,
            peers: (0..ranks).map(|_| Peer::default()).collect(),
            dirty: Vec::new(),
            ran: Vec::new(),
            waiting: Slab::new(),
            kept: Slab::new(),
            fetches: Slab::new(),
            stalled: VecDeque::new(),
            numbers: 0,
            out: Vec::new(),
            waves: Waves::new(rank, ranks),
            is_closed: false,
            made: 0,
            message,
            together: u32::try_from(together).unwrap_or(u32::MAX),
            delay,
            most,
            unsent: 0,
            turns: 0,
            looked: Instant::now(),
            looked_far: Instant::now(),
            probed: Box::default(),
            _probe: probe,
            pool,
            domain,
            rank,
            job,
        })
    }

    /// The longest message that rings and buffers take.
    pub(crate) fn longest(domain_ring: usize) -> usize {
        domain_ring / 4 - 64
    }

    /// Sends all that there is room for.
    pub(crate) fn send(&mut self) {
        if !self.ran.is_empty() {
            self.tell_of_ran();
        }
        self.flush();
    }

    /// Sends, receives and goes on with reads. `takes_calls` says whether there is room for calls that
    /// come.
    #[inline]
    pub(crate) fn turn(&mut self, takes_calls: bool) {
        if self.has_unsent() {
            self.send();
        }
        self.replies.progress_in_place();
        if takes_calls {
            self.requests.progress_in_place();
        }
        self.turns += 1;
        if !self.fetches.is_empty() || self.turns >= PATIENCE {
            self.go_on();
        }
        if self.arrivals.is_any() {
            self.sort();
        }
    }

    /// Has the next turn look at the clock: time has passed since the last one.
    pub(crate) fn note_sleep(&mut self) {
        self.turns = PATIENCE;
    }

    /// Goes on with reads, and looks at peers from time to time.
    #[cold]
    fn go_on(&mut self) {
        self.take_ended();
        if self.turns >= PATIENCE {
            self.turns = 0;
            self.look_at_peers();
        }
    }

    /// A number that no call or parcel has, with the key of its place in a table.
    fn number(&mut self, key: usize) -> u64 {
        self.numbers = (self.numbers + 1) & (u32::MAX as u64);
        self.numbers.max(1) << 32 | key as u64
    }

    /// Has a call wait for its reply; returns the number for that.
    pub(crate) fn wait_for(&mut self, rank: u32, sink: Arc<dyn Sink>) -> u64 {
        let key = self.waiting.vacant_key();
        let id = self.number(key);
        self.waiting.insert(Waiting { sink, rank, id });
        id
    }

    /// Takes the call that waits for a reply of this number.
    fn take_waiting(&mut self, rank: u32, id: u64) -> Option<Waiting> {
        let key = id as u32 as usize;
        let one = self.waiting.get(key)?;
        (one.id == id && one.rank == rank).then(|| self.waiting.remove(key))
    }

    /// Whether nothing is sent to a rank any more.
    #[inline]
    pub(crate) fn is_lost(&self, rank: u32) -> bool {
        self.peers[rank as usize].lost.is_some()
    }

    /// The error of calls to a rank that nothing is sent to any more; none where there is no such
    /// rank.
    #[cold]
    pub(crate) fn lost(&self, rank: u32) -> Option<Error> {
        let lost = self.peers.get(rank as usize)?.lost?;
        Some(Error::of_lost(rank, lost))
    }

    /// Has a call fail whose rank nothing is sent to any more.
    #[cold]
    pub(crate) fn fail_of_lost(&mut self, rank: u32, sink: Option<&Arc<dyn Sink>>) {
        if let Some(error) = self.lost(rank) {
            self.fail_at_once(sink, error);
        }
    }

    /// Has a call fail that was not begun with its rank.
    #[cold]
    pub(crate) fn fail_at_once(&mut self, sink: Option<&Arc<dyn Sink>>, error: Error) {
        match sink {
            Some(sink) => self.out.push(Ready::Failed(Arc::clone(sink), error)),
            None => self.out.extend([Ready::Lost(error), Ready::Ended(1)]),
        }
    }

    /// Notes a call that has not ended.
    #[inline]
    pub(crate) fn begin(&mut self, rank: u32) {
        self.peers[rank as usize].unended += 1;
    }

    /// Whether more bytes wait for room than these.
    #[inline]
    pub(crate) fn is_over(&self, bytes: usize) -> bool {
        self.unsent > bytes
    }

    /// Notes that a call without a reply was run for a rank.
    #[inline]
    pub(crate) fn note_ran(&mut self, rank: u32, calls: u64) {
        let peer = &mut self.peers[rank as usize];
        peer.ran += calls;
        if !peer.is_ran_noted {
            peer.is_ran_noted = true;
            self.ran.push(rank);
        }
    }

    /// Looks whether peers that something is waited for are there, by the clock: in a function of its
    /// own, which counts of instructions leave out.
    #[inline(never)]
    fn look_at_peers(&mut self) {
        if self.looked.elapsed() < LOOK {
            return;
        }
        self.looked = Instant::now();
        let is_time_for_far = self.looked_far.elapsed() >= LOOK_FAR;
        if is_time_for_far {
            self.looked_far = self.looked;
        }
        let mut has_kept = vec![false; self.peers.len()];
        for (_, (rank, ..)) in &self.kept {
            has_kept[*rank as usize] = true;
        }
        for rank in 0..self.peers.len() as u32 {
            let peer = &self.peers[rank as usize];
            let has_unsent = peer.outboxes.iter().any(Outbox::is_full);
            let is_waited_for = peer.unended > 0 || self.waves.waits_for(rank);
            let is_wanted = is_waited_for || has_unsent || has_kept[rank as usize];
            if peer.lost.is_some() || !is_wanted || rank == self.rank {
                continue;
            }
            let is_near = match peer.is_near {
                Some(is_near) => Ok(is_near),
                None => self.replies.is_near(rank),
            };
            let looked = match is_near {
                Ok(true) => self.replies.resolve(rank, PROBE).map(drop),
                Ok(false) if is_time_for_far => self.probe(rank),
                Ok(false) => Ok(()),
                Err(error) => Err(error),
            };
            self.peers[rank as usize].is_near = is_near.ok();
            if let Err(error) = looked
                && is_final(error)
            {
                self.part(rank, error);
            }
        }
    }

    /// Drops all that concerns a rank that nothing can be sent to, for this reason: calls to it fail.
    #[cold]
    pub(crate) fn part(&mut self, rank: u32, why: raw::Error) {
        use raw::Error::{BadAddress, NoSuchPeer, TooLong};
        debug_assert!(!matches!(why, BadAddress | NoSuchPeer | TooLong), "{why}");
        self.part_for(rank, Lost::Fabric(why));
    }

    /// Drops all that concerns a rank that nothing is sent to any more, for this reason.
    fn part_for(&mut self, rank: u32, why: Lost) {
        let peer = &mut self.peers[rank as usize];
        if peer.lost.is_some() {
            return;
        }
        peer.lost = Some(why);
        let error = Error::of_lost(rank, why);
        let mut unended = std::mem::take(&mut peer.unended);
        for outbox in &mut peer.outboxes {
            self.unsent -= outbox.drop_all();
        }
        let of_rank = self.waiting.iter().filter(|(_, one)| one.rank == rank);
        for key in of_rank.map(|(key, _)| key).collect::<Vec<_>>() {
            let one = self.waiting.remove(key);
            self.out.push(Ready::Failed(one.sink, error.clone()));
            unended = unended.saturating_sub(1);
        }
        let of_rank = self.kept.iter().filter(|(_, one)| one.0 == rank);
        for key in of_rank.map(|(key, _)| key).collect::<Vec<_>>() {
            self.out.push(Ready::Sent(self.kept.remove(key).2));
        }
        if unended > 0 {
            self.out.extend([Ready::Lost(error), Ready::Ended(unended)]);
        }
        self.waves.part(rank);
    }

    /// Waits until all messages have left, and all processes have come here: behind the last sum, so that
    /// nobody takes those that end before it for gone. Calls fail from then on. Collective.
    ///
    /// # Errors
    /// Those of the job.
    pub(crate) fn part_from_all(&mut self) -> Result<(), Error> {
        self.quiet(Instant::now() + FAREWELL);
        self.job.exchange(&[0])?;
        self.is_closed = true;
        for rank in 0..self.peers.len() as u32 {
            self.part_for(rank, Lost::Closed);
        }
        Ok(())
    }

    /// Waits until all messages have come that were sent, or the time has.
    pub(crate) fn quiet(&self, until: Instant) {
        for endpoint in [&self.requests, &self.replies] {
            endpoint.quiet(until.saturating_duration_since(Instant::now()));
        }
    }

    /// Whether messages wait to be sent.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.dirty.is_empty() || !self.ran.is_empty()
    }
}
