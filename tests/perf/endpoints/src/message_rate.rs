//! The message rate: the threads of a sender write small messages to a receiver, which does nothing. As the paper's section IV has it: queues
//! of depth d, posts in lists of p with one doorbell, a completion for every q-th message, completion queues of d/q entries.

use crate::connect::connect;
use crate::error::{Error, Result};
use crate::job::Member;
use crate::lanes::{Ends, Here, Queue, There};
use crate::memory::Memory;
use crate::outcome::Outcome;
use crate::shape::Shape;
use crate::threads::{Stretch, rate, together};
use crate::words::{Line, Words};
use fi_mlx5_defs::wqe::{BASIC_BLOCK, UNIT};
use std::time::Instant;

/// The word by which processes know the benchmark.
pub(crate) const NAME: &str = "message-rate";

/// The features of the device that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features {
    /// Messages to a doorbell (p).
    pub(crate) postlist: u32,
    /// Messages to a completion (q).
    pub(crate) unsignalled: u32,
    /// Whether entries hold the bytes.
    pub(crate) inlining: bool,
    /// Whether entries go to the doorbell register, where they are posted one by one.
    pub(crate) blueflame: bool,
}

/// Plan of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The sender's endpoints.
    pub(crate) shape: Shape,
    /// The features that are used of them.
    pub(crate) features: Features,
    /// Entries of a send queue (d).
    pub(crate) depth: u32,
    /// Bytes of a message.
    pub(crate) size: usize,
    /// Whether the threads' buffers lie one behind the other, and not each in a cache line of its own.
    pub(crate) packed: bool,
    /// Messages of a thread in a round.
    pub(crate) messages: u64,
    /// Rounds.
    pub(crate) rounds: usize,
}

/// Bytes of an entry before those that are written, and the most of these in the largest entry.
const HEAD: usize = 2 * UNIT + size_of::<u32>();
const MOST_INLINE: usize = 4 * BASIC_BLOCK - HEAD;

/// Bytes from one buffer to the next, unless they are packed: a cache line.
const LINE: usize = 64;

impl Plan {
    /// Returns it as a line.
    pub(crate) fn tell(&self) -> String {
        let Features {
            postlist,
            unsignalled,
            inlining,
            blueflame,
        } = self.features;
        let line = Line::new()
            .word("benchmark", NAME)
            .word("postlist", postlist)
            .word("unsignalled", unsignalled)
            .word("inlining", inlining)
            .word("blueflame", blueflame)
            .word("depth", self.depth)
            .word("size", self.size)
            .word("packed", self.packed)
            .word("messages", self.messages)
            .word("rounds", self.rounds);
        self.shape.tell(line).end()
    }

    fn hear(line: &str) -> Result<Self> {
        let words = Words::of(line);
        let features = Features {
            postlist: words.get("postlist")?,
            unsignalled: words.get("unsignalled")?,
            inlining: words.get("inlining")?,
            blueflame: words.get("blueflame")?,
        };
        Ok(Self {
            shape: Shape::hear(&words)?,
            features,
            depth: words.get("depth")?,
            size: words.get("size")?,
            packed: words.get("packed")?,
            messages: words.get("messages")?,
            rounds: words.get("rounds")?,
        })
    }

    /// Returns the basic blocks of an entry: behind control segment, remote address and a count lie
    /// the bytes, or else their address.
    fn blocks(&self) -> u32 {
        if self.features.inlining && self.size <= MOST_INLINE {
            (HEAD + self.size).div_ceil(BASIC_BLOCK) as u32
        } else {
            1
        }
    }

    /// Returns the buffer of a thread.
    fn buffer(&self, thread: usize) -> usize {
        let stride = if self.packed {
            self.size
        } else {
            self.size.next_multiple_of(LINE)
        };
        thread / self.shape.ways.buffer * stride
    }

    /// Returns the region of a thread: its beginning, and its bytes. It holds the buffers of all
    /// threads that share it.
    fn region(&self, thread: usize) -> (usize, usize) {
        let ways = self.shape.ways.region;
        let first = thread / ways * ways;
        let (begin, last) = (self.buffer(first), self.buffer(first + ways - 1));
        (begin, last + self.size - begin)
    }

    /// Returns the place at which the messages of a thread arrive.
    fn arrival(&self, thread: usize) -> usize {
        thread * self.size.next_multiple_of(LINE)
    }
}

/// Runs the part of process `member`: the sender is the first one.
pub(crate) fn run(member: &mut Member, device: Option<&str>) -> Result<Outcome> {
    let plan = Plan::hear(&member.plan)?;
    if member.rank == 0 {
        send(member, device, &plan)
    } else {
        receive(member, device, &plan)
    }
}

fn receive(member: &mut Member, device: Option<&str>, plan: &Plan) -> Result<Outcome> {
    let memory = Memory::new(plan.arrival(plan.shape.threads));
    let queue = Queue {
        depth: 16,
        completions: 1,
        blueflame: true,
    };
    let mut ends = Ends::new(device, &Shape::passive(plan.shape.lanes())?, 1, queue)?;
    connect(member, &mut ends, &[(0, 0, 0)])?;
    let (_, key) = ends.register(0, &memory, 0, memory.len())?;
    let words = Line::new()
        .word("address", memory.address(0))
        .word("key", key);
    member.exchange(&words.end())?;
    // The sender is done, and all is here.
    member.barrier()?;
    let wanted = mark(plan.rounds - 1);
    for thread in 0..plan.shape.threads {
        let begin = plan.arrival(thread);
        if let Some(at) = (begin..begin + plan.size).find(|&at| memory.byte(at) != wanted) {
            let what = format!(
                "byte {} of thread {thread} is {} and not {wanted}",
                at - begin,
                memory.byte(at)
            );
            return Err(Error::Wrong(what));
        }
    }
    Ok(Outcome::new(&ends, Vec::new()))
}

/// Returns the value of all bytes of the messages of a round.
fn mark(round: usize) -> u8 {
    (round % 255) as u8 + 1
}

/// The sender's endpoints, not connected.
struct Sender {
    ends: Ends,
    /// Each thread's local key.
    keys: Vec<u32>,
    /// The buffers. Last, because the regions of the endpoints are on them.
    memory: Memory,
}

impl Sender {
    fn new(device: Option<&str>, plan: &Plan) -> Result<Self> {
        let shape = plan.shape;
        let memory = Memory::new(shape.threads * plan.size.next_multiple_of(LINE));
        let queue = Queue {
            depth: plan.depth * plan.blocks(),
            completions: plan.depth.div_ceil(plan.features.unsignalled),
            blueflame: plan.features.blueflame,
        };
        let mut ends = Ends::new(device, &shape, 1, queue)?;
        let mut keys = Vec::new();
        for thread in 0..shape.threads {
            let (begin, len) = plan.region(thread);
            keys.push(ends.register(shape.lane_of(thread), &memory, begin, len)?.0);
        }
        Ok(Self { ends, keys, memory })
    }
}

/// Returns the usage of the sender's endpoints.
pub(crate) fn endpoints(device: Option<&str>, plan: &Plan) -> Result<Outcome> {
    Ok(Outcome::new(&Sender::new(device, plan)?.ends, Vec::new()))
}

fn send(member: &mut Member, device: Option<&str>, plan: &Plan) -> Result<Outcome> {
    let shape = plan.shape;
    // Dropped from the last to the first: the regions go before the memory.
    let Sender {
        memory,
        keys,
        mut ends,
    } = Sender::new(device, plan)?;
    connect(member, &mut ends, &[(0, 1, 0)])?;
    let heard = member.exchange("")?;
    let words = Words::of(&heard[1]);
    let (address, key): (u64, u32) = (words.get("address")?, words.get("key")?);
    let lanes = ends.open();
    let all = together(shape.threads, 0, |team| {
        let thread = team.thread;
        let end = &lanes[shape.lane_of(thread)];
        let there = There {
            pair: 0,
            address: address + plan.arrival(thread) as u64,
            key,
        };
        let here = Here {
            memory: &memory,
            offset: plan.buffer(thread),
            len: plan.size,
            key: keys[thread],
        };
        let round = |round| {
            team.barrier();
            for at in here.offset..here.offset + here.len {
                memory.set_byte(at, mark(round));
            }
            team.barrier();
            let begin = Instant::now();
            end.write_many(there, here, plan.features, plan.messages)?;
            Ok(Stretch {
                messages: plan.messages,
                begin,
                end: Instant::now(),
            })
        };
        (0..plan.rounds).map(round).collect::<Result<Vec<_>>>()
    });
    let round = |round: usize| {
        let stretches: Vec<Stretch> = all.iter().map(|thread| thread[round]).collect();
        rate(&stretches)
    };
    let rates = vec![(0..plan.rounds).map(round).collect()];
    member.barrier()?;
    Ok(Outcome::new(&ends, rates))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::named;

    #[test]
    fn threads_that_share_regions_and_buffers_have_those_of_their_group() {
        let mut shape = Shape::of_policy(named("dynamic").unwrap(), 8);
        shape.ways.region = 4;
        let features = Features {
            postlist: 32,
            unsignalled: 64,
            inlining: true,
            blueflame: true,
        };
        let mut plan = Plan {
            shape,
            features,
            depth: 128,
            size: 2,
            packed: false,
            messages: 1,
            rounds: 1,
        };
        assert_eq!(plan.region(0), (0, 3 * 64 + 2));
        assert_eq!(plan.region(7), (256, 3 * 64 + 2));
        plan.packed = true;
        assert_eq!((plan.buffer(5), plan.region(5)), (10, (8, 8)));
        plan.packed = false;
        plan.shape.ways.region = 1;
        plan.shape.ways.buffer = 2;
        assert_eq!((plan.region(6), plan.region(7)), ((192, 2), (192, 2)));
        assert_eq!(Plan::hear(&plan.tell()).unwrap(), plan);
        let blocks = |size| Plan { size, ..plan }.blocks();
        assert_eq!([2, 28, 29, 92, 220, 221].map(blocks), [1, 1, 2, 2, 4, 1]);
    }
}
