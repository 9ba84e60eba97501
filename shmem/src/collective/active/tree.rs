//! The meeting of an active set: up and down a tree, by words that are 0 before and after, in
//! memory of any kind.
//!
//! A PE waits for its children's arrivals, tells its parent, waits to be released, and releases its children. Every word is
//! put back by its owner before the PE that writes it can come to do so again: an arrival before
//! the child is released, and the release before the parent can learn that the PE has come to the
//! next meeting. So words need not arrive in any order, and those of one meeting are never taken
//! for those of another.

/// The word that the parent writes; before it there is one for each child.
pub(super) const RELEASE: usize = CHILDREN;

/// The children of a PE in the tree.
pub(super) const CHILDREN: usize = 8;

/// The words of this PE, and its writes to others.
pub(super) trait Words {
    /// Reason for which a word cannot be reached.
    type Error;

    /// Waits until somebody has written the own word `word`, and puts it back.
    fn take(&mut self, word: usize) -> Result<(), Self::Error>;

    /// Writes the word `word` of the set's PE `index`, behind all that this PE has stored before.
    fn tell(&mut self, index: usize, word: usize) -> Result<(), Self::Error>;
}

/// Lets PE `me` of a set of `len` PEs meet the others.
///
/// # Errors
/// Those of the words.
#[inline]
pub(super) fn meet<W: Words>(words: &mut W, me: usize, len: usize) -> Result<(), W::Error> {
    meet_by(CHILDREN, words, me, len)
}

/// Does the work of [`meet`] in a tree in which a PE has `width` children.
#[inline]
fn meet_by<W: Words>(width: usize, words: &mut W, me: usize, len: usize) -> Result<(), W::Error> {
    let first = me * width + 1;
    let children = first..(first + width).min(len).max(first);
    for word in 0..children.len() {
        words.take(word)?;
    }
    if me > 0 {
        words.tell((me - 1) / width, (me - 1) % width)?;
        words.take(RELEASE)?;
    }
    for child in children {
        words.tell(child, RELEASE)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Asked, Model, Op, Pe};
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    /// Words of a PE in the model.
    const EACH: usize = RELEASE + 1;

    /// Told by a PE before a meeting; `LEAVES` behind it.
    const COMES: u64 = 1;
    const LEAVES: u64 = 2;

    impl Words for Pe<'_> {
        type Error = Asked;

        fn take(&mut self, word: usize) -> Result<(), Asked> {
            let word = self.me * EACH + word;
            self.step(Op::WaitOver(word, 0))?;
            self.step(Op::Store(word, 0)).map(drop)
        }

        fn tell(&mut self, index: usize, word: usize) -> Result<(), Asked> {
            self.step(Op::Put(index * EACH + word, 1)).map(drop)
        }
    }

    /// Tries all orders of `turns` meetings of `pes` PEs, one behind the other.
    fn check(width: usize, pes: usize, turns: usize) {
        let run = |pe: &mut Pe<'_>| {
            let me = pe.me;
            pe.step(Op::Tell(COMES))?;
            meet_by(width, pe, me, pes)?;
            pe.step(Op::Tell(LEAVES))?;
            if pe.turn + 1 == turns {
                let left = pe.step(Op::Any(me * EACH, EACH))?;
                assert_eq!(left, 0, "a word is left behind");
            }
            Ok(())
        };
        // The meetings that each PE has come to.
        let observe = |came: &mut Vec<u8>, pe: usize, op: Op, _: u64| {
            came.resize(pes, 0);
            match op {
                Op::Tell(COMES) => came[pe] += 1,
                Op::Tell(LEAVES) if came.iter().any(|&other| other < came[pe]) => {
                    return Err(format!("{pe} leaves before all have come: {came:?}"));
                }
                _ => (),
            }
            Ok(())
        };
        let model = Model {
            words: vec![0; pes * EACH],
            pes,
            turns,
            run: &run,
            observe: &observe,
        };
        match model.check() {
            Ok(states) => assert!(states > 100, "{states} states are no test"),
            Err(wrong) => panic!("{wrong}"),
        }
    }

    #[test]
    fn nobody_leaves_before_all_have_come_and_no_word_is_lost_or_left_behind() {
        // A root with leaves, a chain, and a tree with inner nodes.
        check(8, 3, 3);
        check(1, 3, 3);
        check(2, 4, 3);
        check(2, 5, 2);
    }

    #[test]
    fn every_child_has_a_parent_with_a_word_for_it() {
        for len in 1..200 {
            let mut words = Lists::default();
            for me in 0..len {
                words.me = me;
                let Ok(()) = meet(&mut words, me, len);
            }
            let told: BTreeSet<_> = words.told.iter().collect();
            assert_eq!(told, words.taken.iter().collect());
            assert_eq!(
                [told.len(), words.told.len(), words.taken.len()],
                [2 * (len - 1); 3]
            );
        }
    }

    /// The words that PEs have told and taken, which are not awaited here.
    #[derive(Default)]
    struct Lists {
        me: usize,
        told: Vec<(usize, usize)>,
        taken: Vec<(usize, usize)>,
    }

    impl Words for Lists {
        type Error = Infallible;

        fn take(&mut self, word: usize) -> Result<(), Infallible> {
            self.taken.push((self.me, word));
            Ok(())
        }

        fn tell(&mut self, index: usize, word: usize) -> Result<(), Infallible> {
            self.told.push((index, word));
            Ok(())
        }
    }
}
