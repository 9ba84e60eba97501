//! The barrier among nodes: each PE's part of it, by any carrier of the words.
//!
//! The PEs of a node meet, their leader meets the other leaders by dissemination (Hensgen, Finkel, Manber 1988), and
//! the PEs of the node meet again. The numbers of barriers only grow, so that nothing is reset
//! between two; they are of 64 bits, and none of them wraps.

/// Does one PE's part of barrier `epoch` of all PEs.
///
/// `meet(idle, e)` is barrier `e` of this node's PEs, which takes place twice in each of all PEs;
/// `meet_leaders(idle)` is called by the leader between the two.
pub(super) fn across<I>(
    epoch: u64,
    is_leader: bool,
    idle: &mut I,
    mut meet: impl FnMut(&mut I, u64),
    meet_leaders: impl FnOnce(&mut I),
) {
    let second = epoch * 2;
    meet(idle, second - 1);
    if is_leader {
        meet_leaders(idle);
    }
    meet(idle, second);
}

/// Lets the leader of node `me` meet those of all `nodes`: `step(r, n)` tells node `n` in round
/// `r`, and returns when this node was told in round `r`.
///
/// # Errors
/// That of the first step that fails.
pub(crate) fn disseminate<E>(
    me: usize,
    nodes: usize,
    mut step: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<(), E> {
    let rounds = nodes.next_power_of_two().trailing_zeros() as usize;
    (0..rounds).try_for_each(|round| step(round, (me + (1 << round)) % nodes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fi_provider::node::barrier::Central;
    use fi_provider::node::wait::Patience;
    use proptest::prelude::*;
    use std::convert::Infallible;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    /// A node of the model: the memory that its PEs share, and its leader's mailbox.
    #[derive(Default)]
    struct ModelNode {
        pes: u32,
        central: Central,
        mailbox: [AtomicU64; 8],
    }

    const PATIENCE: Patience = Patience {
        looks: 1,
        bursts: 3,
    };

    /// A job of the model, and the mistakes in it.
    struct Model {
        nodes: Vec<ModelNode>,
        /// The number of times that each PE has come to the barrier.
        came: Vec<AtomicU64>,
        wrongs: Mutex<Vec<String>>,
    }

    impl Model {
        fn wrong(&self, what: String) {
            self.wrongs.lock().unwrap().push(what);
        }

        /// Goes through barriers `first` + 1 to `first` + `count` as one PE, and sees after each whether all have come.
        fn run_pe(&self, pe: usize, me: usize, is_leader: bool, first: u64, count: u64) {
            let node = &self.nodes[me];
            for turn in 1..=count {
                if (pe as u64 * 7 + turn).is_multiple_of(5) {
                    std::thread::yield_now();
                }
                self.came[pe].store(turn, Ordering::Relaxed);
                let epoch = first + turn;
                let meet = |_: &mut (), e| {
                    if node.pes > 1 {
                        node.central.wait(node.pes, e, PATIENCE, || ());
                    }
                };
                across(epoch, is_leader, &mut (), meet, |()| {
                    let Ok(()) = disseminate(me, self.nodes.len(), |round, to| {
                        let word = &self.nodes[to].mailbox[round];
                        word.store(epoch, Ordering::Release);
                        self.wait_for_word(&node.mailbox[round], epoch)
                    });
                });
                let late = |came: &AtomicU64| came.load(Ordering::Relaxed) < turn;
                if let Some(other) = self.came.iter().position(late) {
                    self.wrong(format!("PE {pe} left barrier {turn} before {other} came"));
                }
            }
        }

        fn wait_for_word(&self, word: &AtomicU64, epoch: u64) -> Result<(), Infallible> {
            let end = Instant::now() + Duration::from_secs(2);
            while word.load(Ordering::Acquire) < epoch {
                if Instant::now() > end {
                    self.wrong(format!("nobody came for {epoch}"));
                    break;
                }
                std::thread::yield_now();
            }
            Ok(())
        }
    }

    /// Runs a job with so many PEs on each node through `count` barriers behind number `first`;
    /// returns the mistakes.
    fn run_job(pes_on: &[u32], first: u64, count: u64) -> Vec<String> {
        let node = |&pes: &u32| ModelNode {
            pes,
            // Epochs that earlier barriers have left there.
            mailbox: std::array::from_fn(|_| AtomicU64::new(first)),
            ..ModelNode::default()
        };
        let model = Model {
            nodes: pes_on.iter().map(node).collect(),
            came: (0..pes_on.iter().sum())
                .map(|_| AtomicU64::new(0))
                .collect(),
            wrongs: Mutex::default(),
        };
        for node in model.nodes.iter().filter(|node| node.pes > 1) {
            let end_of_first = || {
                node.central.wait(node.pes, first * 2, PATIENCE, || ());
            };
            std::thread::scope(|scope| (0..node.pes).for_each(|_| drop(scope.spawn(end_of_first))));
        }
        let places = (0..)
            .zip(pes_on)
            .flat_map(|(me, &pes)| (0..pes).map(move |rank| (me, rank)));
        std::thread::scope(|scope| {
            let model = &model;
            for (pe, (me, rank)) in places.enumerate() {
                scope.spawn(move || model.run_pe(pe, me, rank == 0, first, count));
            }
        });
        model.wrongs.into_inner().unwrap()
    }

    #[test]
    fn a_leader_alone_waits_for_nobody() {
        let nobody = |_, _| -> Result<(), ()> { panic!("there is nobody") };
        assert_eq!(disseminate(0, 1, nobody), Ok(()));
    }

    #[test]
    fn a_step_that_fails_is_the_last() {
        let mut steps = 0;
        let failing = |_, _| {
            steps += 1;
            Err("device")
        };
        assert_eq!(disseminate(2, 5, failing), Err("device"));
        assert_eq!(steps, 1);
    }

    #[test]
    fn epochs_go_on_across_the_ends_of_32_bits() {
        let nothing = Vec::<String>::new();
        assert_eq!(run_job(&[1, 2, 1], (1 << 32) - 3, 8), nothing);
        assert_eq!(run_job(&[2, 2], (1 << 31) - 3, 8), nothing);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn nobody_leaves_before_all_have_come(pes_on in proptest::collection::vec(1_u32..4, 1..9)) {
            prop_assert_eq!(run_job(&pes_on, 0, 20), Vec::<String>::new());
        }

        /// Checks that everybody is told by everybody, through others. That is the purpose of
        /// dissemination, without any timing.
        #[test]
        fn word_of_every_node_comes_to_every_node(nodes in 1_usize..200) {
            let mut heard: Vec<Vec<bool>> = (0..nodes).map(|me| (0..nodes).map(|other| other == me).collect()).collect();
            let mut told: Vec<Vec<usize>> = Vec::new();
            for me in 0..nodes {
                let mut partners = Vec::new();
                let Ok(()) = disseminate(me, nodes, |round, node| -> Result<(), Infallible> {
                    assert_eq!(round, partners.len());
                    partners.push(node);
                    Ok(())
                });
                told.push(partners);
            }
            for round in 0..told[0].len() {
                let before = heard.clone();
                for (me, partners) in told.iter().enumerate() {
                    for (knows, says) in heard[partners[round]].iter_mut().zip(&before[me]) {
                        *knows |= says;
                    }
                }
            }
            prop_assert!(heard.iter().flatten().all(|&knows| knows));
        }
    }
}
