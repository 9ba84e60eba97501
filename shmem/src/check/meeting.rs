//! Before a collective begins, its PEs show each other their calls, and compare.
//!
//! A PE writes its call on its board and waits until all others of the group, those of its own node, have done so for
//! the same collective of that group. Then it says that it has compared, and leaves when all others have said so or have
//! left: no call disappears from a board before all have seen it.
//!
//! Where the others never come because they are in collectives of other groups, each waiting for
//! another, the PEs find that from the boards too: the waits form a circle.

use super::board::{Mark, Phase, SEATS, Seat};
use super::place::fail;
use super::teams::{Group, fingerprint, next_number};
use crate::job::node::{Node, state};
use crate::job::places::Rank;
use crate::report;
use crate::routine::Routine;
use crate::stall::{Watch, threads};
use crate::{ctx, job, order};
use fi_provider::symmetric::address_vector::PeerIndex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time that a PE waits for others before it looks at their calls.
const PATIENCE: Duration = Duration::from_millis(30);

/// Time for which a PE leaves it to one with a lower number to say that the calls do not match.
const POLITENESS: Duration = Duration::from_millis(300);

/// SHMEM_THREAD_MULTIPLE.
const MULTIPLE: i32 = 3;

/// The call of a collective.
#[derive(Clone, Debug)]
pub struct Call {
    /// The routine.
    pub at: Routine,
    /// The PEs that take part.
    pub group: Group,
    /// The text that has to be the same on all PEs.
    pub compared: String,
    /// The call, for a message.
    pub shown: String,
    /// Whether the routine completes this PE's operations before it waits for others.
    pub quiets: bool,
}

/// Waits until every PE of the group that is on this node is in the same collective; ends the job when one is in another.
pub(super) fn meet(call: &Call) {
    let Some(node) = job::node() else { return };
    let (Some(members), Some(team)) = (call.group.members(), call.group.name()) else {
        return;
    };
    if !members.contains(&node.pe()) {
        return;
    }
    if call.quiets {
        // SAFETY: the rules of threads: the caller of the routine that meets keeps to them.
        unsafe { order::quiet(ctx::default_ctx(), call.at) };
    }
    let others = node
        .ranks()
        .filter(|&rank| rank != node.places.rank() && members.contains(&node.places.pe_at(rank)));
    Meeting {
        call,
        others: others.collect(),
        mark: Mark {
            version: 0,
            phase: Phase::Came,
            team,
            number: next_number(team),
            fingerprint: fingerprint(&call.compared),
            waits_for: None,
            is_alone: is_alone(),
        },
        seat: take_seat(),
        node,
    }
    .hold();
}

/// Returns whether no other thread of this process calls the library while this one is in it.
fn is_alone() -> bool {
    job::session().is_some_and(|session| session.thread_level < MULTIPLE) || threads() == Some(1)
}

/// The seats of the own board that are taken.
static TAKEN: [AtomicBool; SEATS] = [const { AtomicBool::new(false) }; SEATS];

/// Takes a seat of the own board.
fn take_seat() -> usize {
    loop {
        // ORDERING: acquires the last writes there of the thread that had the seat; released when a
        // meeting ends.
        let free = |seat: &AtomicBool| !seat.swap(true, Ordering::Acquire);
        if let Some(index) = TAKEN.iter().position(free) {
            return index;
        }
        std::thread::yield_now();
    }
}

/// A PE that waits in a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Waiting {
    pe: PeerIndex,
    seat: usize,
    version: u32,
}

struct Meeting<'a> {
    call: &'a Call,
    node: Arc<Node>,
    /// The other PEs of the group on this node.
    others: Vec<Rank>,
    mark: Mark,
    seat: usize,
}

impl Meeting<'_> {
    fn hold(mut self) {
        self.own_seat().write(self.mark, &self.call.shown);
        self.wait(|meeting, rank| {
            let found = meeting.find(rank);
            if let Some((seat, theirs)) = found {
                meeting.compare(rank, seat, &theirs);
            }
            found.is_some_and(|(_, theirs)| theirs.fingerprint == meeting.mark.fingerprint)
        });
        self.mark.phase = Phase::Compared;
        self.own_seat().rewrite(self.mark);
        self.wait(|meeting, rank| {
            meeting
                .find(rank)
                .is_none_or(|(_, theirs)| theirs.phase == Phase::Compared)
        });
        self.mark.phase = Phase::Nobody;
        self.own_seat().rewrite(self.mark);
        // ORDERING: pairs with the exchange in `take_seat`.
        TAKEN[self.seat].store(false, Ordering::Release);
    }

    fn own_seat(&self) -> &Seat {
        &self.node.own().board.seats[self.seat]
    }

    /// Returns the call of the PE with rank `rank` in this collective, and its seat.
    fn find(&self, rank: Rank) -> Option<(usize, Mark)> {
        let marks = self.marks(rank);
        marks
            .into_iter()
            .find(|(_, mark)| (mark.team, mark.number) == (self.mark.team, self.mark.number))
    }

    /// Returns all calls of the PE with rank `rank`, and their seats.
    fn marks(&self, rank: Rank) -> Vec<(usize, Mark)> {
        let seats = self.node.slot(rank).board.seats.iter().enumerate();
        seats
            .filter_map(|(index, seat)| Some((index, seat.mark()?)))
            .collect()
    }

    /// Waits until `is_done` holds for every other PE.
    fn wait(&mut self, is_done: impl Fn(&Self, Rank) -> bool) {
        let mut missing = self.others.clone();
        let mut watch = Watch::new(self.call.at);
        let mut next_look = Instant::now() + PATIENCE;
        loop {
            missing.retain(|&rank| !is_done(self, rank));
            if missing.is_empty() {
                return;
            }
            watch.pause();
            if self.mark.phase == Phase::Came && Instant::now() > next_look {
                self.look_for_trouble(&missing);
                next_look = Instant::now() + PATIENCE;
            }
        }
    }

    /// Ends the job when the PE with rank `rank` is in the same collective by another call.
    fn compare(&self, rank: Rank, seat: usize, theirs: &Mark) {
        if theirs.fingerprint == self.mark.fingerprint {
            return;
        }
        let (me, other) = (self.node.pe(), self.node.places.pe_at(rank));
        let text = self.node.slot(rank).board.seats[seat].text();
        let (first, second) = if me < other {
            ((me, &self.call.shown), (other, &text))
        } else {
            // Both have seen it.
            std::thread::sleep(POLITENESS);
            ((other, &text), (me, &self.call.shown))
        };
        fail(
            self.call.at,
            format_args!(
                "the collectives do not match: PE {} calls {}, PE {} calls {}",
                first.0, first.1, second.0, second.1
            ),
        );
    }

    /// Ends the job when a PE that is missing can never come.
    fn look_for_trouble(&mut self, missing: &[Rank]) {
        for &rank in missing {
            // ORDERING: acquire: a PE that has begun to finalise is in no collective any more.
            let state = self.node.slot(rank).state.load(Ordering::Acquire);
            if state == state::FINALIZING && self.find(rank).is_none() {
                report::nobody_left(self.call.at, self.node.places.pe_at(rank));
            }
        }
        // One that waits in another collective may never come; one that computes will.
        let waits = |&&rank: &&Rank| self.waiting(rank).is_some();
        let awaited = missing.iter().find(waits).or(missing.first());
        let awaited = awaited.map(|&rank| self.node.places.pe_at(rank));
        if awaited != self.mark.waits_for {
            self.mark.waits_for = awaited;
            self.own_seat().rewrite(self.mark);
            return;
        }
        if let Some(circle) = self
            .circle()
            .filter(|circle| self.circle().as_ref() == Some(circle))
        {
            // All in the circle have seen it; the lowest of them says so.
            if circle.iter().all(|waiting| self.node.pe() <= waiting.pe) {
                self.say_circle(&circle);
            }
        }
    }

    /// Returns the one call that the PE with rank `rank` waits in, and the PE that it waits for.
    fn waiting(&self, rank: Rank) -> Option<(Waiting, PeerIndex)> {
        let marks = self.marks(rank);
        let [(seat, mark)] = marks[..] else {
            return None;
        };
        let waiting = Waiting {
            pe: self.node.places.pe_at(rank),
            seat,
            version: mark.version,
        };
        let waits = mark.phase == Phase::Came && mark.is_alone;
        Some((waiting, mark.waits_for?)).filter(|_| waits)
    }

    /// Returns the circle of waits from this PE to one that it waits for, and on, and back to this
    /// PE. It was so at one time if it is found twice.
    fn circle(&self) -> Option<Vec<Waiting>> {
        let mut circle: Vec<Waiting> = Vec::new();
        let mut rank = self.node.places.rank();
        loop {
            let (waiting, next) = self.waiting(rank)?;
            circle.push(waiting);
            if next == self.node.pe() {
                return Some(circle);
            }
            if circle.iter().any(|waiting| waiting.pe == next) {
                return None;
            }
            let near = self.node.places.near();
            rank = Rank(near.iter().position(|&pe| pe == next)? as u32);
        }
    }

    #[cold]
    fn say_circle(&self, circle: &[Waiting]) -> ! {
        let near = self.node.places.near();
        let texts = circle.iter().map(|waiting| {
            let rank = near.iter().position(|&pe| pe == waiting.pe).unwrap_or(0);
            let seat = &self.node.slot(Rank(rank as u32)).board.seats[waiting.seat];
            format!("PE {} is in {}", waiting.pe, seat.text())
        });
        let texts: Vec<String> = texts.collect();
        fail(
            self.call.at,
            format_args!(
                "the collectives do not match, and each waits for the next: {}",
                texts.join(", ")
            ),
        );
    }
}
