//! The slots in which the PEs of a team show each other little data.

#![expect(
    unsafe_code,
    reason = "copies to and from the slots, whose turns say who may"
)]

use super::group::Team;
use crate::barrier::barriers_done;
use crate::ctx;
use crate::job::workspace::{SLOT, Slot};
use crate::rma;
use crate::routine::Routine;
use crate::stall::Watch;
use fi_provider::node::barrier::Kind;
use fi_provider::node::copy::copy;
use std::ffi::c_int;

/// A turn of a team's slots that this PE has come to.
#[derive(Debug)]
pub(crate) struct Shown<'a> {
    team: &'a Team,
    turn: u64,
}

impl Team {
    /// Takes a turn without showing anything.
    #[inline]
    pub(crate) fn take_turn(&self, at: Routine) -> Shown<'_> {
        let shown = self.begin(at);
        if !self.awaits_turns() {
            self.meet_for(&shown, at);
        }
        shown
    }

    /// Takes a turn and shows `bytes` bytes to the others.
    ///
    /// # Safety
    /// `source` is readable for `bytes` bytes, [`SLOT`] at most.
    #[inline]
    pub(crate) unsafe fn show(&self, at: Routine, source: *const u8, bytes: usize) -> Shown<'_> {
        debug_assert!(bytes <= SLOT);
        let shown = self.begin(at);
        let slot = &self.block().slots[shown.slot()];
        // SAFETY: the slot has room, and all have read the row before: the turn was free to take.
        unsafe { copy(slot.bytes(), source, bytes) };
        if self.awaits_turns() {
            slot.turn.post(shown.turn);
        } else {
            self.meet_for(&shown, at);
        }
        shown
    }

    /// Returns whether PEs wait for each other's turns: not where they share processors, since then
    /// each should sleep once at most.
    #[inline]
    pub(super) fn awaits_turns(&self) -> bool {
        self.kind == Kind::Dissemination && self.groups().len() == 1
    }

    /// Takes the next turn; its slot may be written then.
    #[inline]
    pub(super) fn begin_turn(&self, at: Routine) -> u64 {
        if self.is_job {
            self.turns.note_barriers(barriers_done());
        }
        self.turns.next(|| self.meet(at))
    }

    #[inline]
    fn begin(&self, at: Routine) -> Shown<'_> {
        Shown {
            team: self,
            turn: self.begin_turn(at),
        }
    }

    /// Waits until `slot` is of `turn`, or of a later one.
    #[inline]
    pub(super) fn await_turn(&self, at: Routine, slot: &Slot, turn: u64) {
        let mut watch = None;
        slot.turn.wait(turn, self.patience, || {
            watch
                .get_or_insert_with(|| Watch::new(at))
                .look_around(None);
        });
    }

    fn meet_for(&self, shown: &Shown<'_>, at: Routine) {
        self.meet(at);
        shown.by_all();
    }
}

impl Shown<'_> {
    #[inline]
    fn slot(&self) -> usize {
        self.team.turns.slot(self.turn)
    }

    /// Notes that this PE has seen that all others take the turn.
    #[inline]
    pub(crate) fn by_all(&self) {
        self.team.turns.all_take_it();
    }

    /// Returns the bytes that the team's PE `index` shows, once it does, where its memory is
    /// reached by loads.
    #[inline]
    pub(crate) fn near(&self, at: Routine, index: usize) -> Option<*const u8> {
        let team = self.team;
        if team.groups().len() > 1 {
            return None;
        }
        // Of a team on one node the blocks are in the order of its PEs.
        let slot = &team.blocks[index].slots[self.slot()];
        if team.awaits_turns() {
            team.await_turn(at, slot, self.turn);
        }
        Some(slot.bytes())
    }

    /// Reads `bytes` bytes, from number `offset` on, of the data that the team's PE `index` shows.
    ///
    /// # Safety
    /// The PE shows them, and `dest` is writable for them.
    #[inline]
    pub(crate) unsafe fn read(
        &self,
        at: Routine,
        index: usize,
        offset: usize,
        dest: *mut u8,
        bytes: usize,
    ) {
        // SAFETY: the PE shows these bytes, `dest` is writable for them, and slots are symmetric.
        unsafe {
            if let Some(shown) = self.near(at, index) {
                return copy(dest, shown.add(offset), bytes);
            }
            let own = self.team.block().slots[self.slot()].bytes();
            let pe = self.team.pes()[index] as c_int;
            rma::get(ctx::default_ctx(), at, dest, own.add(offset), bytes, pe);
        }
    }
}
