//! The rings that lead to an endpoint: made by the thread that answers peers, taken over by the
//! endpoint's own.

#![expect(
    unsafe_code,
    reason = "gives memory back, and rings a bell in shared memory"
)]

use super::address::Address;
use super::arena::Arena;
use super::error::Error;
use super::waker::Waker;
use super::wire::Grant;
use fi_shm::bell::{self, BYTE_BELLS, Bell, Bells, RINGS_PER_WORD};
use fi_shm::ring;
use std::io;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Rings to one endpoint, by number: the first is none.
const RINGS: usize = 1024;
/// The bell by which the endpoint's own process tells it of news, which no ring has.
pub(crate) const NEWS: usize = 0;

/// The bells that an endpoint's rings have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BellKind {
    /// One for each ring, a bit: the endpoint may sleep.
    Bits,
    /// A few bytes ([`ByteBell`](bell::ByteBell)): ring `i` has that of number `i % 8`. The endpoint
    /// never sleeps.
    Bytes,
}

impl BellKind {
    /// Returns the bit of a ring.
    fn bit(self, ring: usize) -> usize {
        match self {
            Self::Bits => ring,
            Self::Bytes => 8 * (ring % BYTE_BELLS),
        }
    }

    /// Returns the number of rings that have bits of their own.
    fn rings(self) -> usize {
        match self {
            Self::Bits => RINGS,
            Self::Bytes => 0,
        }
    }

    /// Returns the number of words that have the bits of rings up to this number.
    pub(crate) fn words(self, rings: usize) -> usize {
        match self {
            Self::Bits => rings.div_ceil(RINGS_PER_WORD),
            Self::Bytes => 1,
        }
    }

    /// Returns whether a ring of this number would have the bell for news.
    fn is_of_news(self, ring: usize) -> bool {
        self.bit(ring) == NEWS
    }
}

/// A range of the own arena, given back with its last user.
#[derive(Debug)]
pub(crate) struct Range {
    arena: Arc<Arena>,
    pub(crate) offset: usize,
    bytes: usize,
}

impl Range {
    pub(crate) fn take(arena: &Arc<Arena>, bytes: usize) -> Result<Self, Error> {
        Ok(Self {
            offset: arena.take(bytes)?,
            bytes,
            arena: Arc::clone(arena),
        })
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.arena.at(self.offset)
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        // SAFETY: the range's users in this process are gone, and its sender has released it or
        // ended.
        unsafe { self.arena.give_back(self.offset, self.bytes) };
    }
}

/// Bytes from the bells of an endpoint to those of the next one in the same pages.
pub(crate) const BELL_STEP: usize = 256;
const _: () = assert!(bell::bytes(RINGS) <= BELL_STEP);

/// Endpoints whose bells lie in the same pages.
const SIDE_BY_SIDE: usize = 16;

/// The pages in which the bells of a domain's endpoints lie side by side, so that a thread that
/// looks at those of several finds them at fixed distances.
#[derive(Debug, Default)]
pub(crate) struct Belfry(Mutex<(Weak<Range>, usize)>);

impl Belfry {
    /// Takes a place that nobody has had; returns its pages, and the offset in the arena.
    fn place(&self, arena: &Arc<Arena>) -> Result<(Arc<Range>, usize), Error> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (pages, taken) = &mut *last;
        let pages = match pages.upgrade() {
            Some(begun) if *taken < SIDE_BY_SIDE => begun,
            _ => {
                let begun = Arc::new(Range::take(arena, BELL_STEP * SIDE_BY_SIDE)?);
                (*pages, *taken) = (Arc::downgrade(&begun), 0);
                begun
            }
        };
        let offset = pages.offset + *taken * BELL_STEP;
        *taken += 1;
        Ok((pages, offset))
    }
}

/// A ring to an endpoint.
#[derive(Debug)]
pub(crate) struct Lead {
    pub(crate) memory: Range,
    pub(crate) capacity: usize,
    /// The number of the ring.
    pub(crate) ring: usize,
    /// The sender.
    pub(crate) from: Address,
    /// [`OVER`], [`SHARED`].
    notes: AtomicU8,
}

/// The sender has released the ring or is gone.
const OVER: u8 = 1;
/// Other rings have the same bell.
const SHARED: u8 = 2;

/// The rings to one endpoint, and their bells.
#[derive(Debug)]
pub(crate) struct Inbox {
    bells: Bells,
    news: Bell,
    /// Made when the endpoint is to sleep for the first time.
    waker: OnceLock<Waker>,
    /// The pages of the bells, and where these lie in the arena.
    bells_at: (Arc<Range>, usize),
    kind: BellKind,
    capacity: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Rings that are in use, by number, and numbers that none may have.
    used: Vec<bool>,
    /// Rings that the endpoint has not taken over yet.
    new: Vec<Arc<Lead>>,
    is_closed: bool,
}

impl Inbox {
    /// Makes an inbox whose rings have bells of this kind, and `capacity` bytes each.
    pub(crate) fn new(
        arena: &Arc<Arena>,
        belfry: &Belfry,
        kind: BellKind,
        capacity: usize,
    ) -> Result<Self, Error> {
        let bells_at = belfry.place(arena)?;
        // SAFETY: a place for these bells alone, zero and aligned as pages are, of enough bytes, in pages
        // which `self` holds as long as it lives.
        let of = |rings| unsafe { Bells::new(arena.at(bells_at.1), rings) };
        Ok(Self {
            news: of(RINGS).bell(NEWS).ok_or(Error::NoRoom)?,
            bells: of(kind.rings()),
            waker: OnceLock::new(),
            bells_at,
            kind,
            capacity,
            state: Mutex::default(),
        })
    }

    /// Returns the bells, for the endpoint.
    #[inline(always)]
    pub(crate) fn bells(&self) -> &Bells {
        &self.bells
    }

    /// Makes a ring for a sender.
    ///
    /// # Errors
    /// [`Error::PeerGone`] where the endpoint is closed, [`Error::NoRoom`].
    pub(crate) fn lead(
        &self,
        arena: &Arc<Arena>,
        from: Address,
    ) -> Result<(Arc<Lead>, Grant), Error> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(Error::PeerGone);
        }
        let free = state.used.iter().position(|used| !used);
        let ring = free.unwrap_or_else(|| {
            while self.kind.is_of_news(state.used.len()) {
                state.used.push(true);
            }
            state.used.len()
        });
        if ring >= RINGS {
            return Err(Error::NoRoom);
        }
        let lead = Arc::new(Lead {
            memory: Range::take(arena, ring::bytes(self.capacity))?,
            capacity: self.capacity,
            ring,
            from,
            notes: AtomicU8::new(0),
        });
        if ring == state.used.len() {
            state.used.push(true);
        } else {
            state.used[ring] = true;
        }
        state.new.push(Arc::clone(&lead));
        drop(state);
        self.tell();
        let grant = Grant {
            offset: lead.memory.offset as u64,
            capacity: self.capacity as u32,
            bell: self.kind.bit(ring) as u32,
            bells: self.bells_at.1 as u64,
            is_by_bytes: self.kind == BellKind::Bytes,
        };
        Ok((lead, grant))
    }

    /// Tells the endpoint that there is news: a ring, or a process that has ended.
    pub(crate) fn tell(&self) {
        // Whether it asks or not: a peer may have cleared the watch. An endpoint that asks only behind
        // this finds the bell.
        self.news.ring();
        self.wake();
    }

    /// Wakes the endpoint's thread if it may sleep.
    pub(crate) fn wake(&self) {
        if let Some(waker) = self.known_waker() {
            // Before it is woken, which asks anew: nobody has to be asked twice.
            self.bells.unwatch();
            waker.wake();
        }
    }

    /// Returns the waker, for the endpoint, which alone makes it.
    ///
    /// # Errors
    /// That of [`Waker::new`].
    pub(crate) fn waker(&self) -> io::Result<&Waker> {
        if let Some(waker) = self.known_waker() {
            return Ok(waker);
        }
        let made = Waker::new()?;
        Ok(self.waker.get_or_init(|| made))
    }

    /// Returns the waker, if it was needed before.
    pub(crate) fn known_waker(&self) -> Option<&Waker> {
        self.waker.get()
    }

    /// Returns the rings that are new.
    pub(crate) fn take_new(&self) -> Vec<Arc<Lead>> {
        std::mem::take(&mut self.lock().new)
    }

    /// Returns the kind of the bells.
    pub(crate) fn bell_kind(&self) -> BellKind {
        self.kind
    }

    /// Frees the number of a ring that is over and empty.
    pub(crate) fn free(&self, ring: usize) {
        if let Some(used) = self.lock().used.get_mut(ring) {
            *used = false;
        }
    }

    /// Makes no more rings.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lead {
    pub(crate) fn is_over(&self) -> bool {
        // ORDERING: pairs with `end`: records before it are seen.
        self.notes.load(Ordering::Acquire) & OVER != 0
    }

    pub(crate) fn end(&self) {
        // ORDERING: pairs with the acquire load in `is_over`.
        self.notes.fetch_or(OVER, Ordering::Release);
    }

    /// Notes that other rings have the same bell.
    pub(crate) fn share(&self) {
        // ORDERING: only the thread that notes it asks.
        self.notes.fetch_or(SHARED, Ordering::Relaxed);
    }

    /// Returns whether the ring is neither over nor shares its bell.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        // ORDERING: a ring that is over is looked at again.
        self.notes.load(Ordering::Relaxed) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bells_lie_side_by_side_and_their_pages_go_with_the_last_of_them() {
        let arena = Arc::new(Arena::new(1 << 20).expect("an arena"));
        let belfry = Belfry::default();
        let inbox = || Inbox::new(&arena, &belfry, BellKind::Bits, 1 << 16).expect("an inbox");
        let inboxes: Vec<_> = (0..=SIDE_BY_SIDE).map(|_| inbox()).collect();
        let first = inboxes[0].bells().first().addr();
        for (at, inbox) in inboxes.iter().enumerate().take(SIDE_BY_SIDE) {
            assert_eq!(inbox.bells().first().addr(), first + at * BELL_STEP);
            assert_eq!(inbox.bells_at.1, inboxes[0].bells_at.1 + at * BELL_STEP);
        }
        // The pages are full.
        assert!(!Arc::ptr_eq(
            &inboxes[SIDE_BY_SIDE].bells_at.0,
            &inboxes[0].bells_at.0
        ));
        // A place is used once, also where its user is gone.
        let next = inboxes[SIDE_BY_SIDE].bells_at.1 + BELL_STEP;
        drop(inboxes);
        let others = [inbox(), inbox()];
        assert_eq!(others[1].bells_at.1, others[0].bells_at.1 + BELL_STEP);
        assert_ne!(others[0].bells_at.1, next);
    }
}
