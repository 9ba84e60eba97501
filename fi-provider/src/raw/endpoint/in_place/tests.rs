//! An endpoint that takes messages where they lie, and many senders to it.

use super::*;
use crate::raw::address_vector::AddressVector;
use crate::raw::completion::CompletionQueue;
use crate::raw::domain::{self, Domain};
use crate::raw::endpoint::Config;
use std::cell::RefCell;
use std::time::Duration;

/// More than twice as many as there are bells.
const SENDERS: usize = 20;
/// Longest time that anything may take.
const LIMIT: Duration = Duration::from_secs(30);

/// The messages that have come: their senders' numbers, and their words.
type Taken = RefCell<Vec<(PeerIndex, u64)>>;

/// # Safety
/// `taken` leads to a [`Taken`] of this thread, and the message is there.
unsafe fn take(taken: *const (), source: Option<PeerIndex>, lying: Lying) -> bool {
    // SAFETY: the caller promises both. Messages are aligned to 8, and those of the test have so many
    // bytes.
    let (taken, word) = unsafe { (&*taken.cast::<Taken>(), lying.bytes.cast::<u64>().read()) };
    assert_eq!(lying.len, size_of::<u64>());
    let source = source.expect("a sender of the vector");
    taken.borrow_mut().push((source, word));
    true
}

fn domain() -> Domain {
    let config = domain::Config {
        arena_bytes: 16 << 20,
        ..domain::Config::default()
    };
    Domain::open(config).expect("a domain")
}

/// A receiver, and senders in another domain.
struct World<'a> {
    taken: &'a Taken,
    receiver: Endpoint,
    /// The senders, and their numbers at the receiver.
    senders: Vec<(Endpoint, PeerIndex)>,
    vector: AddressVector,
    /// The receiver's number at the senders.
    to: PeerIndex,
    peers: AddressVector,
    other: Domain,
}

impl<'a> World<'a> {
    fn open(taken: &'a Taken) -> Self {
        let (vector, peers) = (AddressVector::new(), AddressVector::new());
        // SAFETY: the list outlives the endpoint, and belongs to this thread; `take` calls nothing.
        let in_place = unsafe { InPlace::new(take, std::ptr::from_ref(taken).cast()) };
        let config = Config {
            in_place: Some(in_place),
            ..Config::new(&CompletionQueue::new(1))
        };
        let receiver = Endpoint::open(&domain(), &vector, config).expect("an endpoint");
        let to = peers.insert(&receiver.address()).expect("a number");
        let senders = Vec::new();
        let other = domain();
        let mut world = Self {
            taken,
            receiver,
            senders,
            vector,
            to,
            peers,
            other,
        };
        (0..SENDERS).for_each(|_| world.add_sender());
        world
    }

    /// Adds a sender, which has a ring from then on.
    fn add_sender(&mut self) {
        let config = Config::new(&CompletionQueue::new(1));
        let sender = Endpoint::open(&self.other, &self.peers, config).expect("an endpoint");
        let number = self.vector.insert(&sender.address()).expect("a number");
        assert_eq!(sender.inject_words(self.to, [0], &[]), Ok(()));
        let has_come = || self.taken.borrow_mut().pop() == Some((number, 0));
        assert!(self.receiver.wait(LIMIT, has_come));
        self.senders.push((sender, number));
    }

    /// Has each of some senders send two messages, of which one turn of the receiver takes all.
    fn check(&self, sends: impl Fn(usize) -> bool, progress: fn(&Endpoint)) {
        let mut expected = Vec::new();
        let sending = self.senders.iter().enumerate();
        for (_, (sender, number)) in sending.filter(|&(at, _)| sends(at)) {
            for word in [7, 8] {
                // SAFETY: the way is used at once.
                let way = unsafe { sender.way_now(self.to) }.expect("a way");
                assert_eq!(way.inject_words([word], &[]), Sent::Yes);
                expected.push((*number, word));
            }
        }
        progress(&self.receiver);
        let mut taken = std::mem::take(&mut *self.taken.borrow_mut());
        // Those of one sender have come in order: the sort is stable.
        taken.sort_by_key(|one| one.0);
        expected.sort_by_key(|one| one.0);
        assert_eq!(taken, expected);
    }
}

#[test]
fn rings_that_share_a_bell_are_all_heard() {
    let taken = Taken::default();
    let mut world = World::open(&taken);
    // The second time, the senders that were there first are gone, and others have their rings.
    for _ in 0..2 {
        for progress in [Endpoint::progress_in_place, Endpoint::progress] {
            world.check(|_| false, progress);
            for one in 0..SENDERS {
                world.check(|at| at == one, progress);
                world.check(|at| at % (one + 1) == 0, progress);
            }
        }
        world.senders.drain(..SENDERS / 2);
        world.check(|_| true, Endpoint::progress_in_place);
        (0..SENDERS / 2).for_each(|_| world.add_sender());
    }
}

#[test]
fn an_endpoint_that_is_not_woken_does_not_arm() {
    let taken = Taken::default();
    let world = World::open(&taken);
    world.receiver.descriptor().expect("a descriptor");
    assert!(!world.receiver.arm() && !world.receiver.arm_for_more());
}
