//! The ring at whose next header an endpoint looks in each turn, so that its sender need not ring: one
//! that was heard several times while no other was, until it is silent for long.
//!
//! A bell is a line that sender and receiver take from each other for each message. Where one peer
//! alone sends, as in an exchange of requests and replies, only the line with the message moves.

#![expect(unsafe_code, reason = "looks at a word in a ring")]

use super::{Endpoint, NEWS};
use fi_shm::membarrier;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// The times that a ring is heard by its bell, while no other one is, before it is polled; and where
/// another one is polled so far, as it takes a system call to end that.
const OFTEN: [u16; 2] = [4, 256];

/// The looks in vain that end polling: a program that is idle looks at bells alone.
const IDLE: u16 = 4096;

/// The word of no ring.
static SILENT: AtomicU64 = AtomicU64::new(0);

/// The ring that an endpoint polls.
#[derive(Debug)]
pub(super) struct Polled {
    /// The word of its next header; one that stays 0 where no ring is polled.
    word: Cell<NonNull<AtomicU64>>,
    /// Its bell, or [`NEWS`], and the bell's bit, or 0: rings are polled that have one in the first
    /// word.
    bell: Cell<usize>,
    bit: Cell<u64>,
    /// The looks in vain since it was heard.
    idle: Cell<u16>,
    /// The ring that was heard last by its bell, and how often in turn.
    other: Cell<usize>,
    times: Cell<u16>,
    is_allowed: Cell<bool>,
}

impl Polled {
    pub(super) fn new() -> Self {
        Self {
            word: Cell::new(NonNull::from(&SILENT)),
            bell: Cell::new(NEWS),
            bit: Cell::new(0),
            idle: Cell::new(0),
            other: Cell::new(NEWS),
            times: Cell::new(0),
            is_allowed: Cell::new(false),
        }
    }

    /// Returns whether there is a record in the ring.
    #[inline(always)]
    pub(super) fn has_come(&self) -> bool {
        // SAFETY: the word lies in a ring that the endpoint has (`Endpoint::forget_polled`), or is
        // `SILENT`.
        let word = unsafe { self.word.get().as_ref() };
        // ORDERING: decides only whether to look, which orders.
        word.load(Ordering::Relaxed) != 0
    }

    /// Returns the ring's bell, or [`NEWS`].
    #[inline(always)]
    pub(super) fn bell(&self) -> usize {
        self.bell.get()
    }

    /// Returns the bit of the ring's bell, or 0.
    #[inline(always)]
    pub(super) fn bit(&self) -> u64 {
        self.bit.get()
    }

    /// Counts a ring that was heard by its bell. Returns whether it was often enough.
    #[inline(always)]
    fn count(&self, bell: usize) -> bool {
        let before = if self.other.replace(bell) == bell {
            self.times.get()
        } else {
            0
        };
        let times = before.saturating_add(1);
        self.times.set(times);
        times == OFTEN[usize::from(self.bell.get() != NEWS)]
    }
}

impl Endpoint {
    /// Has [`Endpoint::progress_in_place`] poll rings, if this process takes part in barriers
    /// ([`membarrier::join`]): no progress is made in another way then.
    pub fn allow_polling(&self) {
        self.polled.is_allowed.set(membarrier::join());
    }

    /// Returns whether nothing but the ring that is polled makes [`Endpoint::todo`] ask for progress,
    /// and nothing has come there; as far as few instructions tell.
    #[inline(always)]
    pub fn polls_in_vain(&self) -> bool {
        self.todo.get() == 0 && !self.polled.has_come()
    }

    /// Counts a look in vain at the ring that is polled, and ends polling behind many.
    #[inline(always)]
    pub(super) fn note_silence(&self) {
        let idle = self.polled.idle.get() + 1;
        self.polled.idle.set(idle);
        if idle == IDLE {
            self.polled.idle.set(0);
            self.end_polling();
        }
    }

    /// Notes that a ring was heard, whose next header comes in this word.
    #[inline(always)]
    pub(super) fn note_heard(&self, bell: usize, next: NonNull<AtomicU64>) {
        if bell == self.polled.bell.get() {
            self.polled.word.set(next);
            self.polled.times.set(0);
            self.polled.idle.set(0);
        } else if self.polled.is_allowed.get() && self.polled.count(bell) {
            self.begin_polling(bell);
        }
    }

    /// Looks for the next header of the ring that is polled where that is now.
    #[inline(always)]
    pub(super) fn follow_polled(&self) {
        // SAFETY: the reference is used by no call that leads to rings.
        if let Some(one) = unsafe { self.ring_of(self.polled.bell.get()) } {
            self.polled.word.set(one.receiver.next_word());
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_polling(&self, bell: usize) {
        if !self.end_polling() {
            return;
        }
        // SAFETY: the reference is used by no call that leads to rings.
        if let Some(one) = unsafe { self.ring_of(bell) } {
            one.receiver.begin_polling();
            self.polled.bell.set(bell);
            self.polled.bit.set(1 << bell);
            self.polled.idle.set(0);
            self.polled.times.set(0);
            self.follow_polled();
            self.todo.set_polling(true);
        }
    }

    /// Ends polling, so that bells tell of all rings. Returns false where that is not possible.
    pub(super) fn end_polling(&self) -> bool {
        let bell = self.polled.bell.get();
        // SAFETY: the reference is used by no call that leads to rings.
        if let Some(one) = unsafe { self.ring_of(bell) } {
            match one.receiver.end_polling() {
                Some(true) => self.inbox.ring(bell),
                Some(false) => {}
                None => return false,
            }
        }
        self.forget_polled(bell);
        true
    }

    /// Polls a ring no longer that is gone.
    pub(super) fn forget_polled(&self, bell: usize) {
        if bell == self.polled.bell.get() {
            self.polled.bell.set(NEWS);
            self.polled.bit.set(0);
            self.polled.word.set(NonNull::from(&SILENT));
            self.todo.set_polling(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::address_vector::{AddressVector, PeerIndex};
    use crate::raw::completion::CompletionQueue;
    use crate::raw::domain::{self, Domain};
    use crate::raw::endpoint::{Config, InPlace, Lying, Sent};
    use std::time::Duration;

    /// Messages taken so far.
    type Taken = Cell<u32>;

    unsafe fn take(context: *const (), _: Option<PeerIndex>, _: Lying) -> bool {
        // SAFETY: the counter outlives the endpoint.
        let taken = unsafe { &*context.cast::<Taken>() };
        taken.set(taken.get() + 1);
        true
    }

    fn domain() -> Domain {
        let config = domain::Config {
            arena_bytes: 16 << 20,
            // For all messages: no sender has to look for room.
            ring_bytes: 1 << 16,
            ..domain::Config::default()
        };
        Domain::open(config).expect("a domain")
    }

    /// A receiver, and what senders to it need.
    struct Party {
        receiver: Endpoint,
        vector: AddressVector,
        peers: AddressVector,
        to: PeerIndex,
        other: Domain,
        taken: Box<Taken>,
    }

    impl Party {
        fn new() -> Self {
            let taken = Box::<Taken>::default();
            let (own, vector) = (domain(), AddressVector::new());
            // SAFETY: the counter is dropped last, and `take` calls nothing.
            let in_place = unsafe { InPlace::new(take, (&raw const *taken).cast()) };
            let config = Config {
                in_place: Some(in_place),
                ..Config::new(&CompletionQueue::new(1))
            };
            let receiver = Endpoint::open(&own, &vector, config).expect("an endpoint");
            receiver.allow_polling();
            let peers = AddressVector::new();
            let to = peers.insert(&receiver.address()).expect("a number");
            Self {
                receiver,
                vector,
                peers,
                to,
                other: domain(),
                taken,
            }
        }

        fn sender(&self) -> Endpoint {
            let config = Config::new(&CompletionQueue::new(1));
            let sender = Endpoint::open(&self.other, &self.peers, config).expect("an endpoint");
            let number = self.vector.insert(&sender.address());
            number.expect("a number");
            sender
        }

        fn send(&self, from: &Endpoint) {
            // SAFETY: the way is used at once. The first message makes it.
            let way = unsafe { from.way_now(self.to) };
            match way.map(|way| way.inject_words([7], &[])) {
                None => from.inject(self.to, &[7]).expect("sent"),
                Some(how) => assert_eq!(how, Sent::Yes),
            }
        }

        /// Sends a message, and takes it in one turn, or in the second one if it is the first.
        fn hear(&self, from: &Endpoint) {
            let before = self.taken.get();
            self.send(from);
            self.receiver.progress_in_place();
            self.receiver.progress_in_place();
            assert_eq!(self.taken.get(), before + 1);
        }

        fn polled(&self) -> usize {
            self.receiver.polled.bell()
        }

        /// Has a sender heard until its ring is polled: false where this process takes part in no
        /// barriers, and polls nothing. The message with which a ring comes is not counted.
        fn polls(&self, from: &Endpoint) -> bool {
            for _ in 0..=OFTEN[0] {
                assert_eq!((self.polled(), self.receiver.todo()), (NEWS, 0));
                self.hear(from);
                if self.polled() != NEWS {
                    assert!(membarrier::join() && self.receiver.todo() != 0);
                    return true;
                }
            }
            assert!(!membarrier::join());
            false
        }
    }

    #[test]
    fn a_ring_that_is_heard_often_takes_the_place_of_another_one() {
        let party = Party::new();
        let (first, second) = (party.sender(), party.sender());
        party.hear(&second);
        party.receiver.progress_in_place();
        if !party.polls(&first) {
            return;
        }
        let of_first = party.polled();
        // One message of the ring that is polled begins the count anew.
        for _ in 1..OFTEN[1] {
            party.hear(&second);
        }
        party.hear(&first);
        for _ in 0..OFTEN[1] {
            assert_eq!(party.polled(), of_first);
            party.hear(&second);
        }
        assert!(party.polled() != of_first && party.polled() != NEWS);
        party.hear(&first);
    }

    /// Returns a receiver that polls the ring of a sender; none where this process polls nothing.
    fn polling() -> Option<(Party, Endpoint)> {
        let party = Party::new();
        let sender = party.sender();
        party.polls(&sender).then_some((party, sender))
    }

    #[test]
    fn no_message_is_lost_where_polling_ends() {
        let Some((party, sender)) = polling() else {
            return;
        };
        let receiver = &party.receiver;
        // No bell tells of a message, until polling ends.
        let before = party.taken.get();
        party.send(&sender);
        assert_eq!(receiver.inbox.bells().take(0), 0);
        assert!(receiver.polled.has_come() && receiver.end_polling());
        assert_eq!((receiver.todo(), party.polled()), (0, NEWS));
        receiver.progress_in_place();
        assert_eq!(party.taken.get(), before + 1);
        // It ends behind long silence, of which `hear` has made one look.
        assert!(party.polls(&sender));
        for _ in 1..IDLE {
            assert!(receiver.polls_in_vain() && receiver.todo() != 0);
            receiver.progress_in_place();
        }
        assert_eq!((receiver.todo(), party.polled()), (0, NEWS));
        party.hear(&sender);
    }

    #[test]
    fn a_sender_that_ends_takes_its_ring_along() {
        let Some((party, sender)) = polling() else {
            return;
        };
        let receiver = &party.receiver;
        let before = party.taken.get();
        party.send(&sender);
        drop(sender);
        receiver.progress_in_place();
        assert_eq!(party.taken.get(), before + 1);
        // The domain's thread hears of the end: sooner than that many looks in vain end polling.
        for _ in 0..IDLE / 2 {
            if party.polled() == NEWS {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
            receiver.progress_in_place();
        }
        assert_eq!((receiver.polled.has_come(), party.polled()), (false, NEWS));
    }
}
