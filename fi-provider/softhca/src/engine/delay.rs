//! Delays between queue pairs, by a seed: hardware may have them, and this device has none by
//! itself.
//!
//! A queue pair that has something to do is left alone for some steps now and then, and those that
//! act do so in another order each time. So the operations of one queue pair stay in their order,
//! and those of two are seen in any: a program that does not wait for one before it relies on it in
//! the other is found out. One seed draws the same numbers each time.

use std::collections::BTreeMap;

/// The most steps that a queue pair is left alone.
const LONGEST: u64 = 64;

/// Queue pairs that are left alone.
#[derive(Debug)]
pub(super) struct Delays {
    /// State of the generator (Steele, Lea and Flood 2014, "SplitMix").
    state: u64,
    /// Steps until a queue pair acts.
    left: BTreeMap<u32, u64>,
}

impl Delays {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            state: seed,
            left: BTreeMap::new(),
        }
    }

    /// Returns which of the queue pairs that have something to do, in the order of their numbers,
    /// act in this step, and in which order.
    pub(super) fn choose(&mut self, ringing: &[u32]) -> Vec<u32> {
        // A queue pair that is gone has nothing to do.
        self.left
            .retain(|handle, _| ringing.binary_search(handle).is_ok());
        let mut acting = Vec::new();
        for &handle in ringing {
            let left = match self.left.get(&handle).copied() {
                Some(left) => left,
                None if self.draw(2) == 0 => 0,
                None => self.draw(LONGEST),
            };
            if left == 0 {
                self.left.remove(&handle);
                let at = self.draw(acting.len() as u64 + 1) as usize;
                acting.insert(at, handle);
            } else {
                self.left.insert(handle, left - 1);
            }
        }
        acting
    }

    /// Draws a number below `end`.
    fn draw(&mut self, end: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns in which steps queue pairs act that always have something to do.
    fn acts(seed: u64) -> Vec<Vec<u32>> {
        let mut delays = Delays::new(seed);
        (0..1000).map(|_| delays.choose(&[3, 5, 8])).collect()
    }

    #[test]
    fn a_seed_draws_the_same_and_another_one_does_not() {
        assert_eq!(acts(7), acts(7));
        assert_ne!(acts(7), acts(8));
    }

    #[test]
    fn everybody_acts_again_and_again_in_any_order() {
        let acts = acts(1);
        for handle in [3, 5, 8] {
            let steps: Vec<usize> = (0..acts.len())
                .filter(|&step| acts[step].contains(&handle))
                .collect();
            let pauses = steps.windows(2).map(|pair| pair[1] - pair[0]);
            assert_eq!(
                pauses.clone().max().map(|most| (30..=64).contains(&most)),
                Some(true)
            );
            assert_eq!(pauses.min(), Some(1));
        }
        assert!(acts.contains(&vec![5, 3]) && acts.contains(&vec![3, 5]));
    }

    #[test]
    fn a_queue_pair_that_is_gone_is_forgotten() {
        let mut delays = Delays::new(1);
        for handle in 0..1000 {
            delays.choose(&[handle]);
        }
        assert!(delays.left.len() <= 1);
    }
}
