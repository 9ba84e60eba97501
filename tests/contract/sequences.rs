//! Random sequences of operations, against a model that is an array of bytes for each part of each party.

use crate::access::Area;
use crate::party::Party;
use crate::transport::Transport;
use crate::values::pattern;
use bytemuck::Pod;
use fi_provider::symmetric::atomic::Integer;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::fmt::Debug;
use std::ops::Range;

/// Parties, and bytes of each part that the operations touch.
const PARTIES: u32 = 3;
const REACH: usize = 12_000;
/// Turns of a sequence, at the most: many, as opening the parties takes longer than a turn does.
const TURNS: usize = 96;
/// The most attempts to make a failing sequence shorter.
const SHORTENINGS: u32 = 400;

/// Steps of one party before all meet.
#[derive(Clone, Debug)]
struct Turn {
    origin: u32,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    target: u32,
    /// 0 for the heap, 1 for the static data.
    part: usize,
    /// Made a multiple of the operation's alignment.
    offset: usize,
    /// Seed of the bytes to write, or the operand.
    seed: u64,
    op: Op,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Inject(usize),
    ReadElement(usize),
    Write(usize),
    Read(usize),
    StartWrite(usize),
    StartRead(usize),
    /// On 4 or 8 bytes.
    Atomic(usize, Atomic),
}

#[derive(Clone, Copy, Debug)]
enum Atomic {
    Fetch,
    Set,
    Swap,
    Add,
    FetchAdd,
    And,
    Or,
    Xor,
    FetchAnd,
    FetchOr,
    FetchXor,
    CompareSwap,
}

/// The memory of all parties.
type Model = Vec<[Vec<u8>; 2]>;

pub(crate) fn follow_the_model(transport: &dyn Transport) {
    let config = Config {
        cases: transport.openings(),
        max_shrink_iters: SHORTENINGS,
        failure_persistence: None,
        ..Config::default()
    };
    let followed = TestRunner::new(config).run(&vec(turn(), 1..TURNS), |turns| {
        transport
            .run(PARTIES, &|party| play(party, &turns))
            .map_err(TestCaseError::fail)
    });
    if let Err(error) = followed {
        panic!("{}: {error}", transport.name());
    }
}

fn turn() -> impl Strategy<Value = Turn> {
    (0..PARTIES, vec(step(), 1..24)).prop_map(|(origin, steps)| Turn { origin, steps })
}

fn step() -> impl Strategy<Value = Step> {
    // Many steps near each other, so that they meet the same bytes.
    let offset = prop_oneof![0..64_usize, 0..REACH / 2];
    (0..PARTIES, 0..2_usize, offset, any::<u64>(), op()).prop_map(
        |(target, part, offset, seed, op)| {
            Step {
                target,
                part,
                offset,
                seed,
                op,
            }
            .aligned()
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    let size = || prop::sample::select(vec![1, 2, 4, 8, 16]);
    let len = || prop_oneof![0..40_usize, 0..300_usize, 2000..REACH / 2];
    use Atomic::{
        Add, And, CompareSwap, Fetch, FetchAdd, FetchAnd, FetchOr, FetchXor, Or, Set, Swap, Xor,
    };
    let atomic = [
        Fetch,
        Set,
        Swap,
        Add,
        FetchAdd,
        And,
        Or,
        Xor,
        FetchAnd,
        FetchOr,
        FetchXor,
        CompareSwap,
    ];
    prop_oneof![
        2 => size().prop_map(Op::Inject),
        2 => size().prop_map(Op::ReadElement),
        2 => len().prop_map(Op::Write),
        2 => len().prop_map(Op::Read),
        1 => len().prop_map(Op::StartWrite),
        1 => len().prop_map(Op::StartRead),
        5 => (prop::sample::select(vec![4, 8]), prop::sample::select(atomic.to_vec()))
            .prop_map(|(size, atomic)| Op::Atomic(size, atomic)),
    ]
}

impl Step {
    fn aligned(mut self) -> Self {
        if let Op::Inject(size) | Op::ReadElement(size) | Op::Atomic(size, _) = self.op {
            self.offset = self.offset / size * size;
        }
        self
    }

    /// Returns the bytes that the operation works on.
    fn range(&self) -> Range<usize> {
        let (Op::Inject(len)
        | Op::ReadElement(len)
        | Op::Write(len)
        | Op::Read(len)
        | Op::StartWrite(len)
        | Op::StartRead(len)
        | Op::Atomic(len, _)) = self.op;
        self.offset..self.offset + len
    }

    fn writes(&self) -> bool {
        !matches!(
            self.op,
            Op::ReadElement(_) | Op::Read(_) | Op::StartRead(_) | Op::Atomic(_, Atomic::Fetch)
        )
    }

    /// Returns whether `self` works on bytes that `other` works on too.
    fn touches(&self, other: &Self) -> bool {
        let (one, two) = (self.range(), other.range());
        (self.target, self.part) == (other.target, other.part)
            && one.start < two.end
            && two.start < one.end
    }

    /// Returns the comparand of a compare_swap: the model's value, for one half of the seeds.
    fn condition(&self, model: &Model) -> u64 {
        if self.seed.is_multiple_of(2) {
            return self.seed;
        }
        let mut bytes = [0; 8];
        let there = &model[self.target as usize][self.part][self.range()];
        let len = there.len().min(8);
        bytes[..len].copy_from_slice(&there[..len]);
        u64::from_le_bytes(bytes)
    }

    /// Does the step in the model; returns the operation's expected result.
    fn in_model(&self, model: &mut Model, cond: u64) -> Vec<u8> {
        let bytes = &mut model[self.target as usize][self.part][self.range()];
        match self.op {
            Op::Inject(len) | Op::Write(len) | Op::StartWrite(len) => {
                bytes.copy_from_slice(&pattern(self.seed, len));
                Vec::new()
            }
            Op::ReadElement(_) | Op::Read(_) | Op::StartRead(_) => bytes.to_vec(),
            Op::Atomic(4, op) => atomic_in_model(
                bytes,
                op,
                [self.seed as u32, cond as u32],
                u32::wrapping_add,
            ),
            Op::Atomic(_, op) => atomic_in_model(bytes, op, [self.seed, cond], u64::wrapping_add),
        }
    }

    /// Does the step in the fabric; returns the operation's result.
    fn in_fabric(&self, party: &Party, cond: u64) -> Vec<u8> {
        let area = party.areas()[self.part];
        let place = area.place::<u8>(self.offset);
        let (lane, peer) = (&party.lane, self.target);
        match self.op {
            Op::Inject(len) => inject(party, area, self, len),
            Op::ReadElement(len) => return read_element(party, area, self, len),
            Op::Write(len) => lane.write(place, &pattern(self.seed, len), peer).unwrap(),
            Op::StartWrite(len) => lane
                .start_writes(&[(place, &pattern(self.seed, len))], peer)
                .unwrap(),
            Op::Read(len) => {
                let mut got = vec![0; len];
                lane.read(&mut got, place, peer).unwrap();
                return got;
            }
            Op::StartRead(len) => {
                let mut got = vec![0; len];
                lane.start_reads(&mut [(&mut got, place)], peer).unwrap();
                return got;
            }
            Op::Atomic(4, op) => {
                return atomic_in_fabric(party, area, self, op, [self.seed as u32, cond as u32]);
            }
            Op::Atomic(_, op) => return atomic_in_fabric(party, area, self, op, [self.seed, cond]),
        }
        Vec::new()
    }
}

fn atomic_in_model<T>(
    bytes: &mut [u8],
    op: Atomic,
    [value, cond]: [T; 2],
    sum: fn(T, T) -> T,
) -> Vec<u8>
where
    T: Pod
        + Integer
        + std::ops::BitAnd<Output = T>
        + std::ops::BitOr<Output = T>
        + std::ops::BitXor<Output = T>,
{
    let old: T = bytemuck::pod_read_unaligned(bytes);
    let (new, returns) = match op {
        Atomic::Fetch => (old, true),
        Atomic::Set => (value, false),
        Atomic::Swap => (value, true),
        Atomic::Add => (sum(old, value), false),
        Atomic::FetchAdd => (sum(old, value), true),
        Atomic::And => (old & value, false),
        Atomic::Or => (old | value, false),
        Atomic::Xor => (old ^ value, false),
        Atomic::FetchAnd => (old & value, true),
        Atomic::FetchOr => (old | value, true),
        Atomic::FetchXor => (old ^ value, true),
        Atomic::CompareSwap => (if old == cond { value } else { old }, true),
    };
    bytes.copy_from_slice(bytemuck::bytes_of(&new));
    if returns {
        bytemuck::bytes_of(&old).to_vec()
    } else {
        Vec::new()
    }
}

fn atomic_in_fabric<T: Pod + Integer>(
    party: &Party,
    area: Area,
    step: &Step,
    op: Atomic,
    [value, cond]: [T; 2],
) -> Vec<u8> {
    let (lane, at, peer) = (&party.lane, area.place::<T>(step.offset), step.target);
    let got = match op {
        Atomic::Fetch => lane.fetch(at, peer).map(Some),
        Atomic::Set => lane.set(at, value, peer).map(|()| None),
        Atomic::Swap => lane.swap(at, value, peer).map(Some),
        Atomic::Add => lane.add(at, value, peer).map(|()| None),
        Atomic::FetchAdd => lane.fetch_add(at, value, peer).map(Some),
        Atomic::And => lane.and(at, value, peer).map(|()| None),
        Atomic::Or => lane.or(at, value, peer).map(|()| None),
        Atomic::Xor => lane.xor(at, value, peer).map(|()| None),
        Atomic::FetchAnd => lane.fetch_and(at, value, peer).map(Some),
        Atomic::FetchOr => lane.fetch_or(at, value, peer).map(Some),
        Atomic::FetchXor => lane.fetch_xor(at, value, peer).map(Some),
        Atomic::CompareSwap => lane.compare_swap(at, cond, value, peer).map(Some),
    };
    got.unwrap()
        .map_or(Vec::new(), |old| bytemuck::bytes_of(&old).to_vec())
}

fn inject(party: &Party, area: Area, step: &Step, len: usize) {
    fn of<T: Pod>(party: &Party, area: Area, step: &Step) {
        let value = bytemuck::pod_read_unaligned::<T>(&pattern(step.seed, size_of::<T>()));
        party
            .lane
            .inject(value, area.place(step.offset), step.target)
            .unwrap();
    }
    match len {
        1 => of::<u8>(party, area, step),
        2 => of::<u16>(party, area, step),
        4 => of::<u32>(party, area, step),
        8 => of::<u64>(party, area, step),
        _ => of::<u128>(party, area, step),
    }
}

fn read_element(party: &Party, area: Area, step: &Step, len: usize) -> Vec<u8> {
    fn of<T: Pod>(party: &Party, area: Area, step: &Step) -> Vec<u8> {
        let value: T = party
            .lane
            .read_element(area.place(step.offset), step.target)
            .unwrap();
        bytemuck::bytes_of(&value).to_vec()
    }
    match len {
        1 => of::<u8>(party, area, step),
        2 => of::<u16>(party, area, step),
        4 => of::<u32>(party, area, step),
        8 => of::<u64>(party, area, step),
        _ => of::<u128>(party, area, step),
    }
}

/// Lets all parties follow the model; the origin of each turn does its steps, with no more order
/// between them than they need.
fn play(party: &Party, turns: &[Turn]) {
    let mut model: Model = party
        .all()
        .map(|_| [vec![0; REACH], vec![0; REACH]])
        .collect();
    for turn in turns {
        let mine = turn.origin == party.rank;
        let mut pending: Vec<&Step> = Vec::new();
        for step in &turn.steps {
            if mine && pending.iter().any(|earlier| step.touches(earlier)) {
                if matches!(step.op, Op::Atomic(..)) || step.writes() {
                    party.lane.fence().unwrap();
                } else {
                    party.lane.quiet().unwrap();
                    pending.clear();
                }
            }
            let cond = step.condition(&model);
            let expected = step.in_model(&mut model, cond);
            if mine {
                assert_eq!(step.in_fabric(party, cond), expected, "{step:?} returns");
                pending.extend(step.writes().then_some(step));
            }
        }
        party.quiet_and_meet();
    }
    for (index, area) in party.areas().into_iter().enumerate() {
        let got = area.bytes(0, REACH);
        let expected = &model[party.rank as usize][index];
        let wrong = got
            .iter()
            .zip(expected)
            .position(|(one, other)| one != other);
        assert_eq!(
            wrong, None,
            "part {index} differs from the model at this byte"
        );
    }
}
