//! A model checker for protocols over words that several PEs read and write: every order of their steps is tried.
//!
//! A PE runs a function in each of its turns, which asks [`Pe`] for its operations and does nothing
//! else that depends on the order. It is run again from its beginning for every step, with the
//! results that its operations had so far, until it asks for one more. Puts may arrive at any time
//! later, and overtake one another.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The end of a run of a PE's function: it has asked for an operation that was not executed yet.
#[derive(Debug)]
pub(crate) struct Asked;

/// One step of a PE. Words are counted over all PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Reads a word.
    Load(usize),
    /// Reads so many words from the first at once; the result is 0 if all are.
    Any(usize, usize),
    /// Writes a word at once.
    Store(usize, u64),
    /// Writes a word some time later.
    Put(usize, u64),
    /// Replaces a word; the result is its old value.
    Swap(usize, u64),
    /// Replaces a word that is the first number by the second; the result is its old value.
    CompareSwap(usize, u64, u64),
    /// Adds to a word; the result is its old value.
    Add(usize, u64),
    /// Waits until a word is greater than the number; the result is the word.
    WaitOver(usize, u64),
    /// Makes the second word 0 if the first is still the number; the result is whether it was.
    Sleep(usize, u64, usize),
    /// Tells the observer something.
    Tell(u64),
}

/// A PE in one of its runs.
pub(crate) struct Pe<'a> {
    /// Its number.
    pub(crate) me: usize,
    /// The turn, counted from 0.
    pub(crate) turn: usize,
    results: &'a [u64],
    asked: Option<Op>,
}

impl Pe<'_> {
    /// Returns the result of the next operation, `op`.
    pub(crate) fn step(&mut self, op: Op) -> Result<u64, Asked> {
        assert!(self.asked.is_none(), "goes on after {:?}", self.asked);
        match self.results.split_first() {
            Some((&result, rest)) => {
                self.results = rest;
                Ok(result)
            }
            None => {
                self.asked = Some(op);
                Err(Asked)
            }
        }
    }
}

/// Everything that a further course of the system depends on.
#[derive(Clone, Hash)]
struct State<O> {
    words: Vec<u64>,
    /// Puts that have not arrived, in no order.
    on_their_way: Vec<(usize, u64)>,
    /// Each PE's turn, and the results of its operations in it so far.
    pes: Vec<(usize, Vec<u64>)>,
    observer: O,
}

/// Is told of an operation with its PE and its result; the error says why it is wrong.
type Observe<'a, O> = dyn Fn(&mut O, usize, Op, u64) -> Result<(), String> + 'a;

/// The protocol that the checker tries.
pub(crate) struct Model<'a, O> {
    /// The words at the beginning.
    pub(crate) words: Vec<u64>,
    /// The number of PEs.
    pub(crate) pes: usize,
    /// The turns of each of them, between which a PE remembers nothing.
    pub(crate) turns: usize,
    /// The function that it runs in a turn.
    pub(crate) run: &'a dyn Fn(&mut Pe<'_>) -> Result<(), Asked>,
    /// The observer of every operation.
    pub(crate) observe: &'a Observe<'a, O>,
}

impl<O: Clone + Default + Hash> Model<'_, O> {
    /// Tries all orders; returns the number of states.
    ///
    /// # Errors
    /// Describes the failure in words: the observer's error, PEs that wait for ever, or words that
    /// do not have in the end the values of the beginning.
    pub(crate) fn check(&self) -> Result<usize, String> {
        let mut seen = HashSet::new();
        let mut open = vec![State {
            words: self.words.clone(),
            on_their_way: Vec::new(),
            pes: vec![(0, Vec::new()); self.pes],
            observer: O::default(),
        }];
        while let Some(state) = open.pop() {
            let mut hasher = DefaultHasher::new();
            state.hash(&mut hasher);
            if seen.insert(hasher.finish()) {
                self.expand(&state, &mut open)?;
            }
        }
        Ok(seen.len())
    }

    /// Appends all states that may follow `state`.
    fn expand(&self, state: &State<O>, open: &mut Vec<State<O>>) -> Result<(), String> {
        let before = open.len();
        for (i, &(word, value)) in state.on_their_way.iter().enumerate() {
            let mut next = state.clone();
            next.on_their_way.swap_remove(i);
            next.on_their_way.sort_unstable();
            next.words[word] = value;
            open.push(next);
        }
        let mut waiting = Vec::new();
        for (me, (turn, results)) in state.pes.iter().enumerate() {
            if *turn == self.turns {
                continue;
            }
            let mut pe = Pe {
                me,
                turn: *turn,
                results,
                asked: None,
            };
            let ended = (self.run)(&mut pe).is_ok();
            assert!(!ended, "a turn without operations");
            let op = pe.asked.expect("a run ends with a question");
            let mut next = state.clone();
            let Some(result) = next.execute(op) else {
                waiting.push((me, op));
                continue;
            };
            (self.observe)(&mut next.observer, me, op, result)
                .map_err(|wrong| format!("{wrong}: {}", state.describe()))?;
            next.pes[me].1.push(result);
            if self.has_ended(me, &next.pes[me]) {
                next.pes[me] = (turn + 1, Vec::new());
            }
            open.push(next);
        }
        if open.len() > before {
            return Ok(());
        }
        if !waiting.is_empty() {
            return Err(format!(
                "wait for ever: {waiting:?} in {}",
                state.describe()
            ));
        }
        if state.words != self.words {
            return Err(format!("not as before: {}", state.describe()));
        }
        Ok(())
    }

    /// Returns whether PE `me` asks for no more in its turn.
    fn has_ended(&self, me: usize, (turn, results): &(usize, Vec<u64>)) -> bool {
        let mut pe = Pe {
            me,
            turn: *turn,
            results,
            asked: None,
        };
        let ended = (self.run)(&mut pe).is_ok();
        assert!(pe.results.is_empty(), "not the same course in two runs");
        ended
    }
}

impl<O> State<O> {
    /// Executes an operation; `None` if it has to wait.
    fn execute(&mut self, op: Op) -> Option<u64> {
        let words = &mut self.words;
        Some(match op {
            Op::Load(at) => words[at],
            Op::Any(at, count) => words[at..at + count].iter().fold(0, |any, word| any | word),
            Op::Store(at, value) | Op::Swap(at, value) => std::mem::replace(&mut words[at], value),
            Op::Put(at, value) => {
                self.on_their_way.push((at, value));
                self.on_their_way.sort_unstable();
                0
            }
            Op::CompareSwap(at, old, new) if words[at] == old => {
                std::mem::replace(&mut words[at], new)
            }
            Op::CompareSwap(at, ..) => words[at],
            Op::Add(at, value) => {
                let sum = words[at].wrapping_add(value);
                std::mem::replace(&mut words[at], sum)
            }
            Op::WaitOver(at, floor) if words[at] > floor => words[at],
            Op::WaitOver(..) => return None,
            Op::Sleep(at, seen, awake) => {
                let sleeps = words[at] == seen;
                if sleeps {
                    words[awake] = 0;
                }
                sleeps.into()
            }
            Op::Tell(_) => 0,
        })
    }

    fn describe(&self) -> String {
        let Self {
            words,
            on_their_way,
            pes,
            ..
        } = self;
        format!("words {words:?}, on their way {on_their_way:?}, PEs {pes:?}")
    }
}

mod tests {
    use super::*;

    fn check(run: &dyn Fn(&mut Pe<'_>) -> Result<(), Asked>) -> Result<usize, String> {
        let observe = |_: &mut (), _: usize, op: Op, _: u64| match op {
            Op::Tell(0) => Err("saw nothing".to_owned()),
            _ => Ok(()),
        };
        let (words, pes, turns) = (vec![0; 3], 2, 1);
        Model {
            words,
            pes,
            turns,
            run,
            observe: &observe,
        }
        .check()
    }

    /// Lets PE 0 put data and a flag, and PE 1 wait for the flag, tell the data that it sees, and
    /// clean up.
    fn pass_on(pe: &mut Pe<'_>, put: fn(usize, u64) -> Op) -> Result<(), Asked> {
        if pe.me == 0 {
            pe.step(put(0, 7))?;
            pe.step(put(1, 1))?;
            return Ok(());
        }
        pe.step(Op::WaitOver(1, 0))?;
        let data = pe.step(Op::Load(0))?;
        pe.step(Op::Tell(data))?;
        pe.step(Op::Store(0, 0))?;
        pe.step(Op::Store(1, 0))?;
        Ok(())
    }

    #[test]
    fn puts_overtake_one_another_and_stores_do_not() {
        assert!(check(&|pe| pass_on(pe, Op::Store)).is_ok());
        let wrong = check(&|pe| pass_on(pe, Op::Put)).unwrap_err();
        assert!(wrong.starts_with("saw nothing"), "{wrong}");
    }

    #[test]
    fn who_waits_for_ever_and_what_is_left_behind_is_told() {
        let wrong = check(&|pe| pe.step(Op::WaitOver(2, 0)).map(drop)).unwrap_err();
        assert!(wrong.starts_with("wait for ever"), "{wrong}");
        let wrong = check(&|pe| pe.step(Op::Add(2, 1)).map(drop)).unwrap_err();
        assert!(wrong.starts_with("not as before"), "{wrong}");
    }
}
