//! The stencil: processes that stand in a ring have the columns of a grid among them, and the threads of each its rows. Before each
//! step a thread writes the edges of its rows into its neighbours' memory, an element a message, as the paper's section VII has it:
//! each with a completion and a doorbell of its own, over two queue pairs with one completion queue for each thread.
//!
//! A number of the step follows the elements to each neighbour; messages of a queue pair arrive in
//! order, so that a process that sees the number has the elements. They go to two places by turns:
//! a neighbour may be one step ahead.

use crate::connect::connect;
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::job::Member;
use crate::lanes::{End, Ends, Here, Queue, There, pause};
use crate::memory::Memory;
use crate::outcome::Outcome;
use crate::shape::Shape;
use crate::threads::{Team, per_second, together};
use crate::words::{Line, Words};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The word by which processes know the benchmark.
pub(crate) const NAME: &str = "stencil";

/// Plan of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The endpoints of each process.
    pub(crate) shape: Shape,
    /// Rows of the grid.
    pub(crate) rows: usize,
    /// Columns of the grid.
    pub(crate) columns: usize,
    /// Steps of a round.
    pub(crate) steps: usize,
    /// Rounds.
    pub(crate) rounds: usize,
}

/// Entries of a send queue.
const DEPTH: u32 = 64;
/// Bytes of an element, and of the number of a step.
const WORD: usize = size_of::<f64>();
/// The numbers of steps have lines of their own.
const STEP: usize = 64;
/// The queue pairs of a lane, and the sides of a part: to the left and to the right.
const SIDES: [usize; 2] = [0, 1];

impl Plan {
    /// Returns it as a line.
    pub(crate) fn tell(&self) -> String {
        let line = Line::new()
            .word("benchmark", NAME)
            .word("rows", self.rows)
            .word("columns", self.columns)
            .word("steps", self.steps)
            .word("rounds", self.rounds);
        self.shape.tell(line).end()
    }

    fn hear(line: &str) -> Result<Self> {
        let words = Words::of(line);
        Ok(Self {
            shape: Shape::hear(&words)?,
            rows: words.get("rows")?,
            columns: words.get("columns")?,
            steps: words.get("steps")?,
            rounds: words.get("rounds")?,
        })
    }

    /// Returns the grid among so many processes.
    pub(crate) fn grid(&self, processes: usize) -> Grid {
        Grid {
            rows: self.rows,
            columns: self.columns,
            processes,
            threads: self.shape.threads,
        }
    }
}

/// Places in a process's memory; the same in all.
#[derive(Clone, Copy)]
struct Places {
    rows: usize,
    threads: usize,
}

impl Places {
    /// Returns the place at which the element of `row` arrives from a side, in steps of this
    /// parity.
    fn arrival(self, side: usize, parity: usize, row: usize) -> usize {
        ((side * 2 + parity) * self.rows + row) * WORD
    }

    /// Returns the place from which the element of `row` leaves to a side.
    fn departure(self, side: usize, row: usize) -> usize {
        self.arrival(2, 0, side * self.rows + row)
    }

    /// Returns the place at which the number of the step arrives from a side, for a thread.
    fn step_arrival(self, side: usize, thread: usize) -> usize {
        self.departure(2, 0).next_multiple_of(STEP) + (2 * thread + side) * STEP
    }

    /// Returns the place from which a thread's number of the step leaves.
    fn step_departure(self, thread: usize) -> usize {
        self.step_arrival(0, self.threads + thread)
    }

    fn len(self) -> usize {
        self.step_departure(self.threads)
    }
}

/// The endpoints of a process, not connected.
struct Process {
    ends: Ends,
    /// Each lane's keys, the local and the remote one.
    keys: Vec<(u32, u32)>,
    places: Places,
    /// The memory that they use. Last, because the regions of the endpoints are on it.
    memory: Memory,
}

impl Process {
    fn new(device: Option<&str>, plan: &Plan) -> Result<Self> {
        let shape = plan.shape;
        let places = Places {
            rows: plan.rows,
            threads: shape.threads,
        };
        let memory = Memory::new(places.len());
        // Both queue pairs of a thread complete into one queue.
        let queue = Queue {
            depth: DEPTH,
            completions: 2 * DEPTH,
            blueflame: true,
        };
        let mut ends = Ends::new(device, &shape, SIDES.len(), queue)?;
        let key = |lane| ends.register(lane, &memory, 0, places.len());
        let keys = (0..shape.lanes()).map(key).collect::<Result<_>>()?;
        Ok(Self {
            ends,
            keys,
            places,
            memory,
        })
    }
}

/// Returns the usage of the endpoints of so many processes.
pub(crate) fn endpoints(device: Option<&str>, plan: &Plan, processes: usize) -> Result<Outcome> {
    let all: Vec<Process> = (0..processes)
        .map(|_| Process::new(device, plan))
        .collect::<Result<_>>()?;
    let all: Vec<Outcome> = all
        .iter()
        .map(|process| Outcome::new(&process.ends, Vec::new()))
        .collect();
    Outcome::join(&all).ok_or_else(|| Error::Words("no process".to_owned()))
}

/// Runs the part of process `member`.
pub(crate) fn run(member: &mut Member, device: Option<&str>) -> Result<Outcome> {
    let plan = Plan::hear(&member.plan)?;
    let shape = plan.shape;
    let (rank, size) = (member.rank, member.size);
    let neighbours = [(rank + size - 1) % size, (rank + 1) % size];
    // Dropped from the last to the first: the regions go before the memory.
    let Process {
        memory,
        places,
        keys,
        mut ends,
    } = Process::new(device, &plan)?;
    connect(
        member,
        &mut ends,
        &[(0, neighbours[0], 1), (1, neighbours[1], 0)],
    )?;
    let remote: Vec<u32> = keys.iter().map(|&(_, remote)| remote).collect();
    let words = Line::new()
        .word("address", memory.address(0))
        .list("keys", &remote);
    let heard = member.exchange(&words.end())?;
    let there = neighbours.map(|rank| Theirs::hear(&Words::of(&heard[rank])));
    let [left, right] = there;
    let there = [left?, right?];
    let part = RwLock::new(plan.grid(size).part(rank));
    let lanes = ends.open();
    // The processes of a machine follow each other on its processors.
    let first = rank % (size / 2) * shape.threads;
    let all = together(shape.threads, first, |team| {
        let lane = shape.lane_of(team.thread);
        let work = Work {
            plan: &plan,
            grid: plan.grid(size),
            places,
            memory: &memory,
            end: &lanes[lane],
            key: keys[lane].0,
            there: [0, 1].map(|side| there[side].of(side, lane)),
            part: &part,
            thread: team.thread,
        };
        work.rounds(team)
    });
    let round = |round: usize| all.iter().map(|thread| thread[round]).sum();
    let rates = vec![(0..plan.rounds).map(round).collect()];
    verify(
        &plan,
        rank,
        size,
        &part.into_inner().unwrap_or_else(PoisonError::into_inner),
    )?;
    // A process that leaves takes along the memory that its neighbours still write to.
    member.barrier()?;
    Ok(Outcome::new(&ends, rates))
}

/// A neighbour's memory.
struct Theirs {
    address: u64,
    keys: Vec<u32>,
}

impl Theirs {
    fn hear(words: &Words<'_>) -> Result<Self> {
        Ok(Self {
            address: words.get("address")?,
            keys: words.list("keys")?,
        })
    }

    fn of(&self, side: usize, lane: usize) -> There {
        There {
            pair: side as u32,
            address: self.address,
            key: self.keys[lane],
        }
    }
}

fn verify(plan: &Plan, rank: usize, size: usize, part: &[f64]) -> Result<()> {
    let expected = plan.grid(size).serial(rank, plan.steps * plan.rounds);
    match (0..part.len()).find(|&at| part[at].to_bits() != expected[at].to_bits()) {
        Some(at) => Err(Error::Wrong(format!(
            "element {at} of the part is {} and not {}",
            part[at], expected[at]
        ))),
        None => Ok(()),
    }
}

/// Resources of a thread.
struct Work<'a> {
    plan: &'a Plan,
    grid: Grid,
    places: Places,
    memory: &'a Memory,
    end: &'a End,
    /// The local key of the memory.
    key: u32,
    /// The neighbours' memory, by the queue pairs to them.
    there: [There; 2],
    part: &'a RwLock<Vec<f64>>,
    thread: usize,
}

impl Work<'_> {
    /// Returns the messages a second of each round, of the time that was spent for them.
    fn rounds(&self, team: &Team<'_>) -> Result<Vec<f64>> {
        let rows = self.grid.rows_of(self.thread);
        let mut next = vec![0.0; rows.len() * self.grid.width()];
        let mut rates = Vec::new();
        for round in 0..self.plan.rounds {
            team.barrier();
            let (mut spent, mut messages) = (Duration::ZERO, 0);
            for step in 0..self.plan.steps {
                let number = 1 + (round * self.plan.steps + step) as u64;
                self.depart();
                let begin = Instant::now();
                messages += self.exchange(number)?;
                spent += begin.elapsed();
                self.compute(number, &mut next);
                team.barrier();
                self.adopt(&next);
                team.barrier();
            }
            rates.push(per_second(messages, spent));
        }
        Ok(rates)
    }

    /// Puts the edges of this thread's rows where they leave from.
    fn depart(&self) {
        let part = self.part.read().unwrap_or_else(PoisonError::into_inner);
        let width = self.grid.width();
        for row in self.grid.rows_of(self.thread) {
            for (side, column) in [(0, 0), (1, width - 1)] {
                self.memory
                    .set_number(self.places.departure(side, row), part[row * width + column]);
            }
        }
    }

    /// Writes the edges to both neighbours, and waits until theirs have come. How many messages it wrote.
    fn exchange(&self, number: u64) -> Result<u64> {
        let places = self.places;
        let mut messages = 0;
        self.memory
            .store(places.step_departure(self.thread), number);
        let mut last = [None; 2];
        for side in SIDES {
            // An edge that leaves to the left arrives from the right.
            let from = 1 - side;
            for row in self.grid.rows_of(self.thread) {
                let to = places.arrival(from, (number % 2) as usize, row);
                self.end
                    .write(self.to(side, to), self.out(places.departure(side, row)))?;
                messages += 1;
            }
            let to = places.step_arrival(from, self.thread);
            let posted = self.end.write(
                self.to(side, to),
                self.out(places.step_departure(self.thread)),
            )?;
            messages += 1;
            last[side] = Some(posted);
        }
        for posted in last.into_iter().flatten() {
            self.end.wait(posted)?;
        }
        for side in SIDES {
            let mut looks = 0;
            while self.memory.load(places.step_arrival(side, self.thread)) < number {
                pause(&mut looks)?;
            }
        }
        Ok(messages)
    }

    fn to(&self, side: usize, offset: usize) -> There {
        There {
            address: self.there[side].address + offset as u64,
            ..self.there[side]
        }
    }

    fn out(&self, offset: usize) -> Here<'_> {
        Here {
            memory: self.memory,
            offset,
            len: WORD,
            key: self.key,
        }
    }

    /// Computes the next values of this thread's rows.
    fn compute(&self, number: u64, next: &mut [f64]) {
        let part = self.part.read().unwrap_or_else(PoisonError::into_inner);
        let beside = |side, row| {
            self.memory
                .number(self.places.arrival(side, (number % 2) as usize, row))
        };
        let rows = self.grid.rows_of(self.thread);
        for (row, next) in rows.zip(next.chunks_mut(self.grid.width())) {
            self.grid
                .step_row(row, &part, beside(0, row), beside(1, row), next);
        }
    }

    fn adopt(&self, next: &[f64]) {
        let mut part = self.part.write().unwrap_or_else(PoisonError::into_inner);
        let first = self.grid.rows_of(self.thread).start * self.grid.width();
        part[first..first + next.len()].copy_from_slice(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_overlap() {
        let places = Places {
            rows: 3,
            threads: 2,
        };
        let mut all = Vec::new();
        for side in SIDES {
            for row in 0..3 {
                all.extend([0, 1].map(|parity| places.arrival(side, parity, row)));
                all.push(places.departure(side, row));
            }
            all.extend([0, 1].map(|thread| places.step_arrival(side, thread)));
        }
        all.extend([0, 1].map(|thread| places.step_departure(thread)));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(
            all.iter()
                .all(|at| at % WORD == 0 && at + WORD <= places.len())
        );
    }
}
