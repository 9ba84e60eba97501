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
use fi_shm::bell::{self, Bell, Bells};
use fi_shm::ring;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Bells of one endpoint: one for each ring that leads to it, and the first.
const BELLS: usize = 1024;
/// The bell by which the endpoint's own process tells it of news.
pub(crate) const NEWS: usize = 0;

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
const _: () = assert!(bell::bytes(BELLS) <= BELL_STEP);

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
    pub(crate) bell: usize,
    /// The sender.
    pub(crate) from: Address,
    /// Set when the sender has released the ring or is gone.
    pub(crate) is_over: AtomicBool,
}

/// The rings to one endpoint, and their bells.
#[derive(Debug)]
pub(crate) struct Inbox {
    bells: Bells,
    news: Bell,
    /// Made when the endpoint is to sleep for the first time.
    waker: OnceLock<Waker>,
    /// The pages of the bells, and where these lie in the arena.
    bells_at: (Arc<Range>, usize),
    capacity: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Bells that are in use.
    used: Vec<bool>,
    /// Rings that the endpoint has not taken over yet.
    new: Vec<Arc<Lead>>,
    is_closed: bool,
}

impl Inbox {
    /// Makes an inbox whose rings have `capacity` bytes each.
    pub(crate) fn new(arena: &Arc<Arena>, belfry: &Belfry, capacity: usize) -> Result<Self, Error> {
        let bells_at = belfry.place(arena)?;
        // SAFETY: a place for these bells alone, zero and aligned as pages are, of enough bytes, in pages
        // which `self` holds as long as it lives.
        let bells = unsafe { Bells::new(arena.at(bells_at.1), BELLS) };
        let state = State {
            used: vec![true],
            ..State::default()
        };
        Ok(Self {
            news: bells.bell(NEWS).ok_or(Error::NoRoom)?,
            bells,
            waker: OnceLock::new(),
            bells_at,
            capacity,
            state: Mutex::new(state),
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
        let bell = free.unwrap_or(state.used.len());
        if bell >= BELLS {
            return Err(Error::NoRoom);
        }
        let lead = Arc::new(Lead {
            memory: Range::take(arena, ring::bytes(self.capacity))?,
            capacity: self.capacity,
            bell,
            from,
            is_over: AtomicBool::new(false),
        });
        if bell == state.used.len() {
            state.used.push(true);
        } else {
            state.used[bell] = true;
        }
        state.new.push(Arc::clone(&lead));
        drop(state);
        self.tell();
        let grant = Grant {
            offset: lead.memory.offset as u64,
            capacity: self.capacity as u32,
            bell: bell as u32,
            bells: self.bells_at.1 as u64,
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

    /// Frees the bell of a ring that is over and empty.
    pub(crate) fn free(&self, bell: usize) {
        if let Some(used) = self.lock().used.get_mut(bell) {
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
        // ORDERING: pairs with the release store in `end`: records before it are seen.
        self.is_over.load(Ordering::Acquire)
    }

    pub(crate) fn end(&self) {
        // ORDERING: pairs with the acquire load in `is_over`.
        self.is_over.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bells_lie_side_by_side_and_their_pages_go_with_the_last_of_them() {
        let arena = Arc::new(Arena::new(1 << 20).expect("an arena"));
        let belfry = Belfry::default();
        let inbox = || Inbox::new(&arena, &belfry, 1 << 16).expect("an inbox");
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
