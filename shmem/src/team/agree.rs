//! The way in which the PEs of a team find out whether they have come to the same call.
//!
//! Each shows its call, with the number of meetings that it has had, in a slot; each compares
//! those of all others with its own. A slot counts only under its own turn: a row that an earlier
//! collective has left there is never taken for a call.

#![expect(unsafe_code, reason = "slots are read that peers write")]

use super::group::Team;
use crate::barrier::barriers_done;
use crate::ctx;
use crate::job::workspace::{SLOT, Slot};
use crate::rma;
use crate::routine::Routine;
use fi_provider::node::copy::copy;
use std::ffi::c_int;
use std::sync::atomic::Ordering;

/// The call of a PE, in numbers.
pub(crate) type Call = [u64; 6];

/// The row of a slot: a call, and the meetings before it.
type Row = [u64; 7];

const _: () = assert!(size_of::<Row>() <= SLOT);

/// A PE that has come to another call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Other {
    /// Its number in the team.
    pub(crate) index: usize,
    /// Its call; none where it is in something that compares no calls, as a barrier.
    pub(crate) call: Option<Call>,
}

impl Team {
    /// Waits for all PEs of the team; their stores before are visible then. Returns whether all
    /// have come to `call`, with as many meetings before it.
    ///
    /// # Errors
    /// One of those that have not. Where this PE is in another call than a second one, the second
    /// gets an error, too, if it returns.
    pub(crate) fn agree(&self, at: Routine, call: &Call) -> Result<(), Other> {
        let mut own: Row = [0; _];
        own[..call.len()].copy_from_slice(call);
        let others = 0..self.pes().len();
        let shown = self.show_call(at, |meetings| {
            own[call.len()] = meetings;
            own
        });
        let result = others
            .filter(|&index| index != self.me())
            .try_for_each(|index| {
                // SAFETY: the turn is the one that `show_call` has taken.
                match unsafe { self.row_of(at, index, shown) } {
                    Some(row) if row == own => Ok(()),
                    row => Err(Other {
                        index,
                        call: row.and_then(|row| row.first_chunk().copied()),
                    }),
                }
            });
        self.turns.all_take_it();
        result
    }

    /// Returns the number of times that the PEs of the team have met, equal on those that have come
    /// to the same calls.
    fn meetings(&self) -> u64 {
        if self.is_job {
            barriers_done()
        } else if self.groups().len() == 1 {
            self.near_epoch.load(Ordering::Relaxed)
        } else {
            self.all_epoch.load(Ordering::Relaxed)
        }
    }

    /// Takes a turn and shows the row in its slot; returns the turn.
    fn show_call(&self, at: Routine, row: impl FnOnce(u64) -> Row) -> u64 {
        let turn = self.begin_turn(at);
        let slot = self.slot_of(turn);
        let row = row(self.meetings());
        // SAFETY: the slot has room for a row, and all have read the row before: the turn was
        // free to take.
        unsafe { copy(slot.bytes(), row.as_ptr().cast(), size_of::<Row>()) };
        slot.turn.post(turn);
        if !self.awaits_turns() {
            self.meet(at);
        }
        turn
    }

    fn slot_of(&self, turn: u64) -> &'static Slot {
        &self.block().slots[self.turns.slot(turn)]
    }

    /// Returns the row that PE `index` of the team shows in `turn`; none where it has not come to
    /// that turn, or is beyond it.
    ///
    /// # Safety
    /// The rules of threads: this one alone is in a collective of the team, and has taken the turn.
    unsafe fn row_of(&self, at: Routine, index: usize, turn: u64) -> Option<Row> {
        let mut row: Row = [0; _];
        let to = row.as_mut_ptr().cast::<u8>();
        if self.groups().len() == 1 {
            // Of a team on one node the blocks are in the order of its PEs.
            let slot = &self.blocks[index].slots[self.turns.slot(turn)];
            if self.awaits_turns() {
                self.await_turn(at, slot, turn);
            }
            if slot.turn.get() != turn {
                return None;
            }
            // SAFETY: a slot has more bytes than a row; they are not written before all have read
            // them, as each PE takes its next turn in this slot behind a meeting of all.
            unsafe { copy(to, slot.bytes(), size_of::<Row>()) };
            return (slot.turn.get() == turn).then_some(row);
        }
        let (slot, pe) = (self.slot_of(turn), self.pes()[index] as c_int);
        let told = (&raw const slot.turn).cast::<u64>();
        let ctx = ctx::default_ctx();
        // SAFETY: the slot is in the workspace, which is symmetric, and its first word is the turn;
        // `row` has room for a row. The rules of threads: this one may use the default context.
        unsafe {
            if rma::g(ctx, at, told, pe) != turn {
                return None;
            }
            rma::get(ctx, at, to, slot.bytes(), size_of::<Row>(), pe);
        }
        Some(row)
    }
}
