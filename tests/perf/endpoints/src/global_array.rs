//! The global array: a server has matrices A, B and C, and the threads of a client fetch tiles of A and B, multiply them, and
//! write tiles of C. As the paper's section VII has it: each operation with a completion and a doorbell of its own, and three
//! buffers and three regions for each thread.

use crate::connect::connect;
use crate::error::{Error, Result};
use crate::job::Member;
use crate::lanes::{End, Ends, Here, Queue, There};
use crate::memory::Memory;
use crate::outcome::Outcome;
use crate::shape::Shape;
use crate::threads::{Team, per_second, together};
use crate::tiles::{Factor, Layout, multiply_add};
use crate::words::{Line, Words};
use std::time::{Duration, Instant};

/// The word by which processes know the benchmark.
pub(crate) const NAME: &str = "global-array";

/// Plan of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The client's endpoints.
    pub(crate) shape: Shape,
    /// The matrices.
    pub(crate) layout: Layout,
    /// Number of times that the product is made.
    pub(crate) rounds: usize,
}

/// The kinds of messages, in the order of the rates.
pub(crate) const KINDS: [&str; 2] = ["reads", "writes"];

/// The buffers of a thread for tiles of A, B and C: where they lie, and their local keys.
type Buffers = [(usize, u32); 3];

/// Entries of a send queue.
const DEPTH: u32 = 64;
/// Alignment of each thread's next buffer: tiles have lines of their own.
const LINE: usize = 64;

impl Plan {
    /// Returns it as a line.
    pub(crate) fn tell(&self) -> String {
        let line = Line::new()
            .word("benchmark", NAME)
            .word("tiles", self.layout.tiles)
            .word("edge", self.layout.edge)
            .word("rounds", self.rounds);
        self.shape.tell(line).end()
    }

    fn hear(line: &str) -> Result<Self> {
        let words = Words::of(line);
        let layout = Layout {
            tiles: words.get("tiles")?,
            edge: words.get("edge")?,
        };
        Ok(Self {
            shape: Shape::hear(&words)?,
            layout,
            rounds: words.get("rounds")?,
        })
    }
}

/// Runs the part of process `member`: the client is the first one.
pub(crate) fn run(member: &mut Member, device: Option<&str>) -> Result<Outcome> {
    let plan = Plan::hear(&member.plan)?;
    if member.rank == 0 {
        client(member, device, &plan)
    } else {
        serve(member, device, &plan)
    }
}

/// Returns the offsets of the matrices in the server's memory, and its length.
fn matrices(layout: Layout) -> [usize; 4] {
    let bytes = layout.len() * size_of::<f64>();
    [0, bytes, 2 * bytes, 3 * bytes]
}

fn serve(member: &mut Member, device: Option<&str>, plan: &Plan) -> Result<Outcome> {
    let layout = plan.layout;
    let [a, b, c, len] = matrices(layout);
    let memory = Memory::new(len);
    memory.set_numbers(a, &layout.factor(Factor::A));
    memory.set_numbers(b, &layout.factor(Factor::B));
    let queue = Queue {
        depth: DEPTH,
        completions: 1,
        blueflame: true,
    };
    let mut ends = Ends::new(device, &Shape::passive(plan.shape.lanes())?, 1, queue)?;
    connect(member, &mut ends, &[(0, 0, 0)])?;
    let (_, key) = ends.register(0, &memory, 0, len)?;
    let words = Line::new()
        .word("address", memory.address(0))
        .word("key", key);
    member.exchange(&words.end())?;
    // The client is done.
    member.barrier()?;
    let mut product = vec![0.0; layout.len()];
    memory.numbers(c, &mut product);
    let expected = layout.product();
    match (0..product.len()).find(|&at| product[at].to_bits() != expected[at].to_bits()) {
        Some(at) => Err(Error::Wrong(format!(
            "element {at} of C is {} and not {}",
            product[at], expected[at]
        ))),
        None => Ok(Outcome::new(&ends, Vec::new())),
    }
}

/// Resources of a thread of the client.
struct Work<'a> {
    plan: &'a Plan,
    end: &'a End,
    memory: &'a Memory,
    buffers: Buffers,
    /// The server's memory.
    there: There,
}

/// The client's endpoints, not connected.
struct Client {
    ends: Ends,
    /// Each thread's buffers.
    buffers: Vec<Buffers>,
    /// The memory in which they lie. Last, because the regions of the endpoints are on it.
    memory: Memory,
}

impl Client {
    fn new(device: Option<&str>, plan: &Plan) -> Result<Self> {
        let shape = plan.shape;
        let bytes = plan.layout.tile_bytes();
        let stride = bytes.next_multiple_of(LINE);
        let memory = Memory::new(shape.threads * 3 * stride);
        let queue = Queue {
            depth: DEPTH,
            completions: DEPTH,
            blueflame: true,
        };
        let mut ends = Ends::new(device, &shape, 1, queue)?;
        let mut buffers = Vec::new();
        for thread in 0..shape.threads {
            let mut own = [(0, 0); 3];
            for (at, buffer) in own.iter_mut().enumerate() {
                let offset = (3 * thread + at) * stride;
                let (key, _) = ends.register(shape.lane_of(thread), &memory, offset, bytes)?;
                *buffer = (offset, key);
            }
            buffers.push(own);
        }
        Ok(Self {
            ends,
            buffers,
            memory,
        })
    }
}

/// Returns the usage of the client's endpoints.
pub(crate) fn endpoints(device: Option<&str>, plan: &Plan) -> Result<Outcome> {
    Ok(Outcome::new(&Client::new(device, plan)?.ends, Vec::new()))
}

fn client(member: &mut Member, device: Option<&str>, plan: &Plan) -> Result<Outcome> {
    let shape = plan.shape;
    // Dropped from the last to the first: the regions go before the memory.
    let Client {
        memory,
        buffers,
        mut ends,
    } = Client::new(device, plan)?;
    connect(member, &mut ends, &[(0, 1, 0)])?;
    let heard = member.exchange("")?;
    let words = Words::of(&heard[1]);
    let there = There {
        pair: 0,
        address: words.get("address")?,
        key: words.get("key")?,
    };
    let lanes = ends.open();
    let all = together(shape.threads, 0, |team| {
        let thread = team.thread;
        let end = &lanes[shape.lane_of(thread)];
        let work = Work {
            plan,
            end,
            memory: &memory,
            buffers: buffers[thread],
            there,
        };
        work.rounds(team)
    });
    let rates = (0..KINDS.len())
        .map(|kind| sums(&all, plan.rounds, kind))
        .collect();
    member.barrier()?;
    Ok(Outcome::new(&ends, rates))
}

/// Sums the rates of one kind over all threads, round by round.
fn sums(all: &[Vec<[f64; 2]>], rounds: usize, kind: usize) -> Vec<f64> {
    let round = |round: usize| all.iter().map(|thread| thread[round][kind]).sum();
    (0..rounds).map(round).collect()
}

impl Work<'_> {
    /// Reads and writes a second, of each round.
    fn rounds(&self, team: &Team<'_>) -> Result<Vec<[f64; 2]>> {
        let round = |_| {
            team.barrier();
            self.product(team.thread)
        };
        (0..self.plan.rounds).map(round).collect()
    }

    /// Makes this thread's tiles of the product; reads and writes a second of the time that was spent for each.
    fn product(&self, thread: usize) -> Result<[f64; 2]> {
        let Layout { tiles, edge } = self.plan.layout;
        let len = self.plan.layout.tile_len();
        let (mut a, mut b) = (vec![0.0; len], vec![0.0; len]);
        let mut spent = [Duration::ZERO; 2];
        let mut count = [0_u64; 2];
        for tile in (thread..tiles * tiles).step_by(self.plan.shape.threads) {
            let (row, column) = (tile / tiles, tile % tiles);
            let mut c = vec![0.0; len];
            for k in 0..tiles {
                let begin = Instant::now();
                self.fetch((row, k), (k, column))?;
                spent[0] += begin.elapsed();
                count[0] += 2;
                self.memory.numbers(self.buffers[0].0, &mut a);
                self.memory.numbers(self.buffers[1].0, &mut b);
                multiply_add(edge, &a, &b, &mut c);
            }
            self.memory.set_numbers(self.buffers[2].0, &c);
            let begin = Instant::now();
            self.end.wait(
                self.end
                    .write(self.tile(2, (row, column)), self.buffer(2))?,
            )?;
            spent[1] += begin.elapsed();
            count[1] += 1;
        }
        Ok([0, 1].map(|kind| {
            if count[kind] == 0 {
                0.0
            } else {
                per_second(count[kind], spent[kind])
            }
        }))
    }

    /// Reads a tile of A and one of B.
    fn fetch(&self, a: (usize, usize), b: (usize, usize)) -> Result<()> {
        let first = self.end.read(self.tile(0, a), self.buffer(0))?;
        let second = self.end.read(self.tile(1, b), self.buffer(1))?;
        self.end.wait(first)?;
        self.end.wait(second)
    }

    fn buffer(&self, which: usize) -> Here<'_> {
        let (offset, key) = self.buffers[which];
        Here {
            memory: self.memory,
            offset,
            len: self.plan.layout.tile_bytes(),
            key,
        }
    }

    /// Returns a tile of the matrix of this number, at the server.
    fn tile(&self, matrix: usize, (row, column): (usize, usize)) -> There {
        let layout = self.plan.layout;
        let offset = matrices(layout)[matrix] + layout.tile(row, column) * size_of::<f64>();
        There {
            address: self.there.address + offset as u64,
            ..self.there
        }
    }
}
