//! The barrier of two phases: by dissemination, in log2 rounds of short messages.
//!
//! In round k each process tells its knowledge to the one 2^k ranks above: whether barriers were
//! named, and how. The handler of a message that has come in its turn has the next one sent, so
//! that a notify waits for nobody, and each call that handles messages goes on with a barrier.
//! Messages carry the phase's lowest bit: a process is at most one phase ahead of others.

use super::handlers::arguments;
use super::{
    BARRIER_MISMATCH, Mode, NOT_READY, OK, core, engine, failure, for_both, index, poll, rank,
    ranks, wait,
};
use gasnet_conduit::{Core, Error, Message};
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Flags, as gasnet.h has them.
const ANONYMOUS: c_int = 1;
const MISMATCH: c_int = 2;

/// Rounds of the largest job.
const MOST_ROUNDS: usize = 32;

/// The knowledge of the names that processes have given to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// None has named it.
    Anonymous,
    /// The processes that have named it have named it so.
    Named(u32),
    /// Two have named it differently, or one has said so.
    Mismatch,
}

impl Known {
    fn of_call(id: c_int, flags: c_int) -> Self {
        if flags & MISMATCH != 0 {
            Self::Mismatch
        } else if flags & ANONYMOUS != 0 {
            Self::Anonymous
        } else {
            Self::Named(id.cast_unsigned())
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Anonymous, one) | (one, Self::Anonymous) => one,
            (Self::Named(one), Self::Named(other)) if one == other => self,
            _ => Self::Mismatch,
        }
    }

    /// Returns it as two arguments; the first one fits in 2 bits.
    fn to_args(self) -> [u32; 2] {
        match self {
            Self::Anonymous => [0, 0],
            Self::Named(id) => [1, id],
            Self::Mismatch => [2, 0],
        }
    }

    fn of_args(kind: u32, id: u32) -> Self {
        match kind {
            0 => Self::Anonymous,
            1 => Self::Named(id),
            _ => Self::Mismatch,
        }
    }
}

/// Words that have come: for each parity of the phase, and each round. 0 is none.
static CAME: [[AtomicU64; MOST_ROUNDS]; 2] =
    [const { [const { AtomicU64::new(0) }; MOST_ROUNDS] }; 2];

/// Marks a word that has come.
const HAS_COME: u64 = 1 << 63;

/// The state of this process.
#[derive(Debug)]
struct Own {
    phase: u32,
    is_notified: bool,
    /// Rounds that are over.
    round: u32,
    known: Known,
    /// The outcome of the last barrier.
    last: Known,
}

static OWN: Mutex<Own> = Mutex::new(Own {
    phase: 0,
    is_notified: false,
    round: 0,
    known: Known::Anonymous,
    last: Known::Anonymous,
});

fn own() -> MutexGuard<'static, Own> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the number of rounds until all have heard of all.
pub(super) fn rounds() -> u32 {
    ranks().next_power_of_two().trailing_zeros()
}

/// Returns the rank that is told in a round.
pub(super) fn above(round: u32) -> u32 {
    ((u64::from(rank()) + (1_u64 << round)) % u64::from(ranks())) as u32
}

/// A message to the process above of a round: its rank, and the arguments.
type Telling = (u32, [u32; 2]);

/// The begin of a round: its phase and number, and the knowledge to be told.
struct Round(u32, u32, Known);

impl Round {
    /// Returns the message of the round; none behind the last one.
    fn telling(&self) -> Option<Telling> {
        let &Self(phase, round, known) = self;
        let [kind, id] = known.to_args();
        let args = [phase & 1 | round << 1 | kind << 8, id];
        (round < rounds()).then(|| (above(round), args))
    }
}

impl Own {
    /// Ends the round that is under way, if its word has come; returns the next one.
    fn advance(&mut self) -> Option<Round> {
        if !self.is_notified || self.round >= rounds() {
            return None;
        }
        let place = &CAME[(self.phase & 1) as usize][self.round as usize];
        // ORDERING: pairs with the store in `arrives`.
        let value = place.swap(0, Ordering::Acquire);
        if value == 0 {
            return None;
        }
        let come = Known::of_args((value >> 32) as u32 & 3, value as u32);
        self.known = self.known.and(come);
        self.round += 1;
        Some(Round(self.phase, self.round, self.known))
    }
}

/// Sends a message, outside of handlers.
fn tell<G: Mode>((rank, args): Telling) {
    let sent = engine::<G>().request_short(rank, index::BARRIER, &args);
    sent.unwrap_or_else(|error| fail(&error));
}

fn fail(error: &Error) {
    failure::end_job("gasnet_barrier", format_args!("{error}"));
}

/// Handles a message of the barrier.
///
/// # Safety
/// The engine calls it.
pub(super) unsafe extern "C" fn arrives(message: *mut Message) {
    // SAFETY: the message is the engine's.
    let (&[first, id], Some(core)) = (unsafe { arguments(message) }, core()) else {
        return;
    };
    let (phase, round, kind) = (first & 1, first >> 1 & 0x7f, first >> 8);
    if let Some(place) = CAME[phase as usize].get(round as usize) {
        let value = HAS_COME | u64::from(kind) << 32 | u64::from(id);
        // ORDERING: pairs with the swap in `Own::advance`: stores of the sender before its notify
        // is seen by those that wait, as the engine's message before.
        place.store(value, Ordering::Release);
    }
    // With the lock held, so that nobody finds the round over and the message neither sent nor
    // kept.
    let mut own = own();
    while let Some(next) = own.advance() {
        if let Some((rank, args)) = next.telling() {
            let kept = core.request_later(rank, index::BARRIER, args);
            kept.unwrap_or_else(|error| fail(&error));
        }
    }
}

/// Goes on with the words that have come, outside of handlers.
fn advance<G: Mode>() {
    loop {
        // Not with the lock held: handlers may run while a message is sent.
        let next = own().advance();
        match next {
            None => return,
            Some(next) => next.telling().into_iter().for_each(tell::<G>),
        }
    }
}

/// Begins a barrier.
fn notify<G: Mode>(id: c_int, flags: c_int) {
    if core().is_none() {
        failure::before_init();
    }
    let known = Known::of_call(id, flags);
    let mut own = own();
    if own.is_notified {
        let what = format_args!("a notify before the last one's barrier was waited for");
        failure::end_job("gasnet_barrier_notify", what);
    }
    own.phase = own.phase.wrapping_add(1);
    (own.is_notified, own.round, own.known) = (true, 0, known);
    let first = Round(own.phase, 0, known);
    drop(own);
    if let Some(first) = first.telling() {
        tell::<G>(first);
        advance::<G>();
    }
}

/// Returns whether all have notified, and this process has told so: until then others may wait for
/// it. It was notified here.
fn is_complete(routine: &str) -> bool {
    let own = own();
    if !own.is_notified {
        failure::end_job(routine, format_args!("no gasnet_barrier_notify before"));
    }
    own.round >= rounds() && !core().is_some_and(Core::has_later)
}

/// Ends a barrier that is complete.
fn end(id: c_int, flags: c_int) -> c_int {
    let mut own = own();
    own.is_notified = false;
    own.last = own.known;
    let as_waited = own.known.and(Known::of_call(id, flags));
    match as_waited {
        Known::Mismatch => BARRIER_MISMATCH,
        _ => OK,
    }
}

fn barrier_wait<G: Mode>(id: c_int, flags: c_int) -> c_int {
    let routine = "gasnet_barrier_wait";
    if !is_complete(routine) {
        wait::<G>(routine, || is_complete(routine));
    }
    end(id, flags)
}

fn barrier_try<G: Mode>(id: c_int, flags: c_int) -> c_int {
    let routine = "gasnet_barrier_try";
    if !is_complete(routine) {
        poll::<G>(routine);
        if !is_complete(routine) {
            return NOT_READY;
        }
    }
    end(id, flags)
}

for_both! {
    fn farreach_gasnet_notify / farreach_gasnet_notify_threads = notify(id: c_int, flags: c_int);
    fn farreach_gasnet_barrier_wait / farreach_gasnet_barrier_wait_threads
        = barrier_wait(id: c_int, flags: c_int) -> c_int;
    fn farreach_gasnet_barrier_try / farreach_gasnet_barrier_try_threads
        = barrier_try(id: c_int, flags: c_int) -> c_int;
}

/// Says how the last barrier was named; returns 0, or 1 if it was not.
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_gasnet_barrier_result(id: *mut c_int) -> c_int {
    match own().last {
        Known::Anonymous => 1,
        Known::Named(name) => {
            // SAFETY: the program passes the address of an int.
            unsafe { *id = name.cast_signed() };
            0
        }
        Known::Mismatch => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_meet_in_any_order() {
        let all = [
            Known::Anonymous,
            Known::Named(1),
            Known::Named(2),
            Known::Mismatch,
        ];
        for one in all {
            assert_eq!(one.and(one), one);
            let [kind, id] = one.to_args();
            assert_eq!(Known::of_args(kind, id), one);
            for other in all {
                assert_eq!(one.and(other), other.and(one));
                for third in all {
                    assert_eq!(one.and(other).and(third), one.and(other.and(third)));
                }
            }
        }
        assert_eq!(Known::Named(1).and(Known::Named(2)), Known::Mismatch);
        assert_eq!(Known::Anonymous.and(Known::Named(2)), Known::Named(2));
    }

    #[test]
    fn flags_win_over_names() {
        assert_eq!(Known::of_call(7, 0), Known::Named(7));
        assert_eq!(Known::of_call(7, ANONYMOUS), Known::Anonymous);
        assert_eq!(Known::of_call(7, ANONYMOUS | MISMATCH), Known::Mismatch);
    }
}
