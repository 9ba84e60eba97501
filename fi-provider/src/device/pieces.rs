//! The bounce memory of a gate: pieces through which bytes go that are not registered.
//!
//! A thread that waits lets others have the lane. So a piece belongs to the thread that has claimed
//! it until it gives it back, or until an entry is done that it names.

use crate::device::scratch::{PIECES, Scratch};
use fi_mlx5::lane::{Failure, Lane, Local, Posted, Undone};
use std::cell::{Cell, RefCell};

/// Owner of a piece.
#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Free,
    /// A thread's.
    Claimed,
    /// The device's, until this is done: by the queue that takes the place of its own, where that
    /// fails before.
    Until(Posted),
    /// The device's, until this is done or its queue has failed: no other takes its place.
    Last(Posted),
}

/// The states of a gate's pieces; of the thread that holds the lane.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    states: [Cell<State>; PIECES],
    next: Cell<usize>,
    /// Entries of look-ups that were not done as their queues have failed: nobody wants them.
    unwanted: RefCell<Vec<Posted>>,
}

/// A piece that an entry of a queue that has failed has, until that is posted again.
pub(crate) type Waiting = (Posted, Kept);

/// A piece that the caller has claimed, for as many bytes as it asked for. Dropped while the lane
/// is held.
#[derive(Debug)]
pub(crate) struct Piece<'a> {
    lane: &'a Lane,
    state: &'a Cell<State>,
    pub(crate) local: Local,
    user: Option<Posted>,
}

impl Piece<'_> {
    /// Notes the entry that reads or writes the piece.
    pub(crate) fn used_by(&mut self, posted: Posted) {
        self.user = Some(posted);
    }

    /// Waits for that entry.
    pub(crate) fn wait(&mut self) -> Result<(), Failure> {
        match self.user.take() {
            Some(posted) => self.lane.wait(posted),
            None => Ok(()),
        }
    }
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        let state = self.user.map_or(State::Free, State::Until);
        self.state.set(state);
    }
}

/// A piece that the caller has claimed until it releases it.
#[derive(Debug)]
pub(crate) struct Kept {
    index: usize,
    pub(crate) local: Local,
}

impl Pieces {
    /// Claims a piece for `length` bytes of it, if there is one that nobody uses any more, as far
    /// as completions tell that were taken. The lane is held. Entries behind one that has failed
    /// are posted again, and have their pieces still.
    pub(crate) fn claim_free(&self, lane: &Lane, scratch: &Scratch, length: usize) -> Option<Kept> {
        let index = (0..PIECES - 1).find(|&index| self.is_free(lane, index))?;
        Some(self.keep(scratch, index, length))
    }

    /// Claims a piece as [`Pieces::claim_free`] does, for bytes of a look-up: there is one that all
    /// others leave to them, as a queue that has failed may wait for a look-up and have the rest.
    pub(crate) fn claim_for_look_up(
        &self,
        lane: &Lane,
        scratch: &Scratch,
        length: usize,
    ) -> Option<Kept> {
        let mut all = (0..PIECES).rev();
        let index = all.find(|&index| self.is_free(lane, index))?;
        Some(self.keep(scratch, index, length))
    }

    #[inline(always)]
    fn is_free(&self, lane: &Lane, index: usize) -> bool {
        match self.states[index].get() {
            State::Free => true,
            State::Claimed => false,
            State::Until(posted) => lane.end(posted) == Some(true),
            State::Last(posted) => lane.end(posted).is_some(),
        }
    }

    #[inline(always)]
    fn keep(&self, scratch: &Scratch, index: usize, length: usize) -> Kept {
        self.states[index].set(State::Claimed);
        let local = scratch.piece(index, length);
        Kept { index, local }
    }

    /// Gives the piece of a look-up up; `unfinished` is its entry where that was not done, as its
    /// queue has failed.
    pub(crate) fn release_of_look_up(&self, kept: Kept, unfinished: Option<Posted>) {
        self.release(kept, None);
        self.unwanted.borrow_mut().extend(unfinished);
    }

    /// Takes the pieces of the entries that a queue that has failed has left undone, by which peer
    /// `index` was reached, and removes those that nobody wants.
    pub(crate) fn take(
        &self,
        lane: &Lane,
        scratch: &Scratch,
        index: u32,
        undone: &mut Undone,
    ) -> Vec<Waiting> {
        let mut unwanted = self.unwanted.borrow_mut();
        (undone.behind).retain(|entry| !unwanted.contains(&entry.posted));
        unwanted.retain(|&posted| !lane.is_to(posted, index));
        let entries = std::iter::once(&undone.failed).chain(&undone.behind);
        let undone: Vec<_> = entries.map(|entry| entry.posted).collect();
        let of_undone = |index: usize| match self.states[index].get() {
            State::Until(posted) if undone.contains(&posted) => {
                Some((posted, self.keep(scratch, index, 0)))
            }
            _ => None,
        };
        (0..PIECES).filter_map(of_undone).collect()
    }

    /// Notes that no queue takes the place of that by which peer `index` is reached.
    pub(crate) fn give_up(&self, lane: &Lane, index: u32) {
        (self.unwanted.borrow_mut()).retain(|&posted| !lane.is_to(posted, index));
        for state in &self.states {
            if let State::Until(posted) = state.get()
                && lane.is_to(posted, index)
            {
                state.set(State::Last(posted));
            }
        }
    }

    /// Gives a piece up, at once or when an entry is done.
    pub(crate) fn release(&self, kept: Kept, user: Option<Posted>) {
        let state = user.map_or(State::Free, State::Until);
        self.states[kept.index].set(state);
    }

    /// Claims a piece that nobody uses any more, for `length` bytes of it; `None` while threads
    /// have claimed all. The lane is held.
    pub(crate) fn try_claim<'a>(
        &'a self,
        lane: &'a Lane,
        scratch: &Scratch,
        length: usize,
    ) -> Option<Piece<'a>> {
        let Self { states, next, .. } = self;
        let order = (0..PIECES).map(|at| (next.get() + at) % PIECES);
        let index = { order }.find(|&index| !matches!(states[index].get(), State::Claimed))?;
        next.set((index + 1) % PIECES);
        let state = &states[index];
        if let State::Until(posted) | State::Last(posted) = state.replace(State::Claimed) {
            // Of a queue that has failed the device does nothing any more.
            let _ = lane.wait(posted);
        }
        Some(Piece {
            lane,
            state,
            local: scratch.piece(index, length),
            user: None,
        })
    }

    /// Claims a piece that nobody uses any more, for `length` bytes of it. The lane is held, and
    /// the caller has claimed no other piece: it waits for the callers that have.
    pub(crate) fn claim<'a>(
        &'a self,
        lane: &'a Lane,
        scratch: &Scratch,
        length: usize,
    ) -> Result<Piece<'a>, Failure> {
        loop {
            match self.try_claim(lane, scratch, length) {
                Some(piece) => return Ok(piece),
                None => lane.wait_for_others()?,
            }
        }
    }
}
