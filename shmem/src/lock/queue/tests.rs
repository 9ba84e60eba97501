//! The queue under the model checker: every order of the steps of a few PEs.

use super::*;
use crate::model::{Asked, Model, Op, Pe};

/// The word of the tail; the links follow, one for each PE, and a word for each that is 0 while it sleeps.
const TAIL: usize = 0;

/// The most PEs.
const PES: usize = 4;

/// Told by a PE when it has the lock; `LEAVES` before it gives the lock back.
const ENTERS: u64 = 1;
const LEAVES: u64 = 2;

/// The words of a lock as a PE of the model uses them.
struct User<'pe, 'run> {
    pe: &'pe mut Pe<'run>,
    /// Whether it goes to sleep where it may.
    sleeps: bool,
}

impl User<'_, '_> {
    fn step(&mut self, op: Op) -> Result<u64, Asked> {
        self.pe.step(op)
    }

    fn own_link(&self) -> usize {
        1 + self.pe.me
    }

    /// Returns the word that is 0 while PE `pe` sleeps.
    fn awake(pe: usize) -> usize {
        1 + PES + pe
    }

    /// Uses the lock once, however it was acquired.
    fn use_and_release(&mut self) -> Result<(), Asked> {
        self.step(Op::Tell(ENTERS))?;
        self.step(Op::Tell(LEAVES))?;
        assert!(release(self)?);
        Ok(())
    }
}

impl Words for User<'_, '_> {
    type Error = Asked;

    fn me(&self) -> PeerIndex {
        self.pe.me as PeerIndex
    }

    fn swap_tail(&mut self, new: u32) -> Result<u32, Asked> {
        Ok(self.step(Op::Swap(TAIL, new.into()))? as u32)
    }

    fn replace_tail(&mut self, old: u32, new: u32) -> Result<u32, Asked> {
        Ok(self.step(Op::CompareSwap(TAIL, old.into(), new.into()))? as u32)
    }

    fn add_to_link(&mut self, pe: PeerIndex, by: i64) -> Result<u32, Asked> {
        Ok(self.step(Op::Add(1 + pe as usize, by.cast_unsigned()))? as u32)
    }

    fn link(&mut self) -> Result<u32, Asked> {
        Ok(self.step(Op::Load(self.own_link()))? as u32)
    }

    fn wait_for_link_over(&mut self, floor: u32) -> Result<u32, Asked> {
        Ok(self.step(Op::WaitOver(self.own_link(), floor.into()))? as u32)
    }

    fn watch_link_over(&mut self, floor: u32) -> Result<u32, Asked> {
        if self.sleeps {
            self.link()
        } else {
            self.wait_for_link_over(floor)
        }
    }

    fn sleep_while(&mut self, seen: u32) -> Result<(), Asked> {
        let awake = Self::awake(self.pe.me);
        if self.step(Op::Sleep(self.own_link(), seen.into(), awake))? != 0 {
            self.step(Op::WaitOver(awake, 0))?;
        }
        Ok(())
    }

    fn wake(&mut self, pe: PeerIndex) -> Result<(), Asked> {
        self.step(Op::Store(Self::awake(pe as usize), 1)).map(drop)
    }
}

/// The PEs in the queue, in the order in which they joined it, and whether the first has the lock.
#[derive(Clone, Default, Hash)]
struct Queue {
    pes: Vec<usize>,
    is_held: bool,
}

/// Looks whether the lock goes to one PE at a time, in the order in which they came.
fn observe(queue: &mut Queue, pe: usize, op: Op, result: u64) -> Result<(), String> {
    match op {
        Op::Swap(TAIL, _) => queue.pes.push(pe),
        Op::CompareSwap(TAIL, 0, _) if result == 0 => queue.pes.push(pe),
        Op::Tell(ENTERS) => {
            if queue.is_held || queue.pes.first() != Some(&pe) {
                return Err(format!(
                    "{pe} enters and is not the next of {:?}",
                    queue.pes
                ));
            }
            queue.is_held = true;
        }
        Op::Tell(LEAVES) => {
            queue.is_held = false;
            queue.pes.remove(0);
        }
        _ => (),
    }
    Ok(())
}

/// Returns the words of a free lock.
fn words() -> Vec<u64> {
    [vec![0; 1 + PES], vec![1; PES]].concat()
}

fn check(pes: usize, turns: usize, run: &dyn Fn(&mut Pe<'_>) -> Result<(), Asked>) {
    let model = Model {
        words: words(),
        pes,
        turns,
        run,
        observe: &observe,
    };
    match model.check() {
        Ok(states) => assert!(states > 100, "{states} states are no test"),
        Err(wrong) => panic!("{wrong}"),
    }
}

#[test]
fn three_pes_get_the_lock_one_after_another() {
    check(3, 2, &|pe| {
        let mut user = User { pe, sleeps: false };
        assert!(acquire(&mut user)?);
        user.use_and_release()
    });
}

#[test]
fn four_pes_get_the_lock_in_the_order_in_which_they_came() {
    check(4, 1, &|pe| {
        let mut user = User { pe, sleeps: false };
        assert!(acquire(&mut user)?);
        user.use_and_release()
    });
}

#[test]
fn who_sleeps_is_woken() {
    check(3, 1, &|pe| {
        let mut user = User { pe, sleeps: true };
        assert!(acquire(&mut user)?);
        user.use_and_release()
    });
    check(2, 3, &|pe| {
        let sleeps = pe.me == 0;
        let mut user = User { pe, sleeps };
        assert!(acquire(&mut user)?);
        user.use_and_release()
    });
}

#[test]
fn a_pe_that_does_not_wait_disturbs_nobody() {
    check(3, 2, &|pe| {
        let waits = (pe.me + pe.turn).is_multiple_of(2);
        let mut user = User { pe, sleeps: false };
        let has_lock = match waits {
            true => acquire(&mut user)?,
            false => try_acquire(&mut user)?,
        };
        if has_lock {
            user.use_and_release()?;
        }
        Ok(())
    });
}

#[test]
fn what_cannot_be_right_is_told() {
    let run = |pe: &mut Pe<'_>| {
        let user = &mut User { pe, sleeps: true };
        assert!(!release(user)?, "of a lock that is free");
        assert!(try_acquire(user)?);
        assert!(!try_acquire(user)?, "of a lock that is set");
        assert!(!acquire(user)?, "behind oneself");
        assert!(release(user)?);
        Ok(())
    };
    let observe = |_: &mut (), _: usize, _: Op, _: u64| Ok(());
    let model = Model {
        words: words(),
        pes: 1,
        turns: 1,
        run: &run,
        observe: &observe,
    };
    assert!(model.check().is_ok());
}
