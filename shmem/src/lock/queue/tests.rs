//! The queue under the model checker: every order of the steps of a few PEs.

use super::*;
use crate::model::{Asked, Model, Op, Pe};

/// The word of the tail; the links follow, one for each PE.
const TAIL: usize = 0;

/// What a PE tells when it has the lock, and before it gives it back.
const ENTERS: u64 = 1;
const LEAVES: u64 = 2;

impl Pe<'_> {
    fn own_link(&self) -> usize {
        1 + self.me
    }
}

impl Words for Pe<'_> {
    type Error = Asked;

    fn me(&self) -> PeerIndex {
        self.me as PeerIndex
    }

    fn swap_tail(&mut self, new: u32) -> Result<u32, Asked> {
        Ok(self.step(Op::Swap(TAIL, new.into()))? as u32)
    }

    fn replace_tail(&mut self, old: u32, new: u32) -> Result<u32, Asked> {
        Ok(self.step(Op::CompareSwap(TAIL, old.into(), new.into()))? as u32)
    }

    fn add_to_link(&mut self, pe: PeerIndex, by: i64) -> Result<(), Asked> {
        self.step(Op::Add(1 + pe as usize, by.cast_unsigned()))
            .map(drop)
    }

    fn link(&mut self) -> Result<u32, Asked> {
        Ok(self.step(Op::Load(self.own_link()))? as u32)
    }

    fn wait_for_link_over(&mut self, floor: u32) -> Result<u32, Asked> {
        Ok(self.step(Op::WaitOver(self.own_link(), floor.into()))? as u32)
    }
}

/// Who is in the queue, in the order in which they joined it, and whether the first has the lock.
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

/// Uses the lock once, however it was acquired.
fn use_and_release(pe: &mut Pe<'_>) -> Result<(), Asked> {
    pe.step(Op::Tell(ENTERS))?;
    pe.step(Op::Tell(LEAVES))?;
    assert!(release(pe)?);
    Ok(())
}

fn check(pes: usize, turns: usize, run: &dyn Fn(&mut Pe<'_>) -> Result<(), Asked>) {
    let model = Model {
        words: vec![0; 1 + pes],
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
        assert!(acquire(pe)?);
        use_and_release(pe)
    });
}

#[test]
fn four_pes_get_the_lock_in_the_order_in_which_they_came() {
    check(4, 1, &|pe| {
        assert!(acquire(pe)?);
        use_and_release(pe)
    });
}

#[test]
fn a_pe_that_does_not_wait_disturbs_nobody() {
    check(3, 2, &|pe| {
        let waits = (pe.me + pe.turn).is_multiple_of(2);
        if if waits {
            acquire(pe)?
        } else {
            try_acquire(pe)?
        } {
            use_and_release(pe)?;
        }
        Ok(())
    });
}

#[test]
fn what_cannot_be_right_is_told() {
    let run = |pe: &mut Pe<'_>| {
        assert!(!release(pe)?, "of a lock that is free");
        assert!(try_acquire(pe)?);
        assert!(!try_acquire(pe)?, "of a lock that is set");
        assert!(!acquire(pe)?, "behind oneself");
        assert!(release(pe)?);
        Ok(())
    };
    let observe = |_: &mut (), _: usize, _: Op, _: u64| Ok(());
    let model = Model {
        words: vec![0; 2],
        pes: 1,
        turns: 1,
        run: &run,
        observe: &observe,
    };
    assert!(model.check().is_ok());
}
