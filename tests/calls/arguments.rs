//! Arguments and results of every sort, and of every length.

use super::{Program, Random, next};
use bytemuck::{Pod, Zeroable};
use calls::archive::Serde;
use calls::{Calls, Here, Load, RmaBox, RmaVec, Save, SharedSlice, action};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

pub(super) const PROGRAMS: &[Program] = &[
    ("arguments", arguments),
    ("shared", shared),
    ("registered", registered),
    ("chunks", chunks),
    ("long_index", long_index),
    ("short_chunks", short_chunks),
];

#[derive(Save, Load, Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
#[save(pod)]
#[repr(C)]
struct Point {
    place: [f64; 3],
    number: u64,
}

#[derive(Save, Load, Clone, PartialEq, Debug)]
enum Tree<T> {
    Leaf(T),
    Node {
        left: Box<Tree<T>>,
        right: Box<Tree<T>>,
    },
    Nothing,
}

#[derive(serde::Serialize, serde::Deserialize, Clone, PartialEq, Debug)]
struct Foreign {
    name: String,
    numbers: Vec<i32>,
}

#[derive(Save, Load, Clone, PartialEq, Debug)]
struct Sample {
    name: String,
    numbers: Vec<i64>,
    points: Vec<Point>,
    nested: Vec<Vec<u16>>,
    map: BTreeMap<String, Vec<u8>>,
    set: HashSet<u32>,
    tree: Tree<Vec<u32>>,
    foreign: Serde<Foreign>,
    maybe: [Option<char>; 3],
    result: Result<u8, String>,
    unit: (),
    span: Duration,
}

fn sample(seed: u64, len: usize) -> Sample {
    let mut random = Random(seed);
    let name: String = (0..len).map(|at| ['a', 'é', '𝄞'][at % 3]).collect();
    let point = |at: usize| Point {
        place: [at as f64, 0.5, seed as f64],
        number: seed,
    };
    let leaf = |value: u32| Box::new(Tree::Leaf(vec![value; len / 4]));
    Sample {
        numbers: (0..len).map(|_| random.next() as i64).collect(),
        points: (0..len / 8).map(point).collect(),
        nested: (0..len % 13).map(|at| vec![at as u16; len / 2]).collect(),
        map: (0..5)
            .map(|at| (format!("{at} of {seed}"), vec![at; len]))
            .collect(),
        set: (0..len as u32 % 100).collect(),
        tree: Tree::Node {
            left: leaf(1),
            right: Box::new(Tree::Node {
                left: leaf(2),
                right: Box::new(Tree::Nothing),
            }),
        },
        foreign: Serde(Foreign {
            name: name.chars().take(100).collect(),
            numbers: vec![-7; len / 16],
        }),
        maybe: [Some('x'), None, Some('ß')],
        result: Err(format!("{len}")),
        unit: (),
        span: Duration::new(seed, 999_999_999),
        name,
    }
}

#[action]
fn back(here: &Here, sample: Sample, sum: i64) -> (u32, Sample) {
    let own = sample
        .numbers
        .iter()
        .fold(0_i64, |sum, one| sum.wrapping_add(*one));
    assert_eq!(own, sum);
    (here.source(), sample)
}

fn arguments(calls: &Calls) {
    for (seed, len) in (0..).zip([0, 1, 60, 513, 3000, 20_000]) {
        let given = sample(seed, len);
        let sum = given
            .numbers
            .iter()
            .fold(0_i64, |sum, one| sum.wrapping_add(*one));
        let call = next(calls).run(back, (given.clone(), sum));
        assert_eq!(call.wait().expect("a result"), (calls.rank(), given));
    }
}

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

#[action]
fn length(text: String) -> usize {
    text.len()
}

/// Passes one memory to several calls, and borrowed memory.
fn shared(calls: &Calls) {
    for len in [0, 3, 511, 512, 40_000_u64] {
        let numbers: Vec<u64> = (0..len).collect();
        let wanted: u64 = numbers.iter().sum();
        let to = next(calls);
        let slice = SharedSlice::from(numbers.clone());
        let array: Arc<[u64]> = numbers.clone().into();
        let all = [
            to.run(sum, (array.clone(),)),
            to.run(sum, (slice.clone(),)),
            to.run(sum, (array,)),
            to.run(sum, (Arc::new(numbers.clone()),)),
        ];
        let half = to.run(sum, (slice.slice(0..slice.len() / 2),));
        let rank = (calls.rank() + 1) % calls.ranks();
        let text = "x".repeat(len as usize);
        let (lent, text) = calls.scope(|scope| {
            let lent = scope.run(rank, sum, (&numbers[..],)).expect("a rank");
            (lent, scope.run(rank, length, (&*text,)).expect("a rank"))
        });
        drop((numbers, slice));
        for call in all.into_iter().chain([lent]) {
            assert_eq!(call.wait().expect("a result"), wanted);
        }
        assert_eq!(half.wait().expect("a result"), (0..len / 2).sum());
        assert_eq!(text.wait().expect("a result"), len as usize);
        let each = calls.to_each(0..calls.ranks(), sum, (vec![1_u64; len as usize],));
        for call in each.expect("ranks") {
            assert_eq!(call.wait().expect("a result"), len);
        }
    }
}

#[action]
fn scaled(factor: f64, mut numbers: RmaVec<f64>) -> RmaVec<f64> {
    let all = numbers.get_mut().expect("the only handle");
    all.iter_mut().for_each(|one| *one *= factor);
    numbers
}

#[action]
fn corner(tile: RmaBox<[[f32; 64]; 64]>) -> f32 {
    tile[63][63]
}

/// Passes registered vectors: nothing more is registered once the pool has grown.
fn registered(calls: &Calls) {
    let round = || {
        for len in [0, 1, 700, 30_000] {
            let numbers = calls.rma_vec(&vec![1.5; len]).expect("room");
            let call = next(calls).run(scaled, (2.0, numbers.clone()));
            let back = call.wait().expect("a result");
            assert!(back.len() == len && back.iter().all(|one| *one == 3.0));
            assert!(numbers.iter().all(|one| *one == 1.5));
        }
        let mut tile = calls.rma_box([[0.0_f32; 64]; 64]).expect("room");
        tile.get_mut().expect("the only handle")[63][63] = 7.0;
        let call = next(calls).run(corner, (tile,));
        assert_eq!(call.wait().expect("a result"), 7.0);
    };
    round();
    calls.barrier().expect("all are there");
    let before = calls.pool_registrations();
    (0..10).for_each(|_| round());
    calls.barrier().expect("all are there");
    assert_eq!(calls.pool_registrations(), before);
}

#[action]
fn turned(mut parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    parts.reverse();
    parts
}

/// Passes more chunks than the table of a message takes.
fn chunks(calls: &Calls) {
    for many in [2, 30, 700] {
        let parts: Vec<_> = (0..many).map(|at| vec![at as u8; 4096 + at]).collect();
        let call = next(calls).run(turned, (parts.clone(),));
        let back = call.wait().expect("a result");
        assert!(back.iter().eq(parts.iter().rev()));
    }
}

#[action]
fn texts(texts: Vec<String>, numbers: Vec<f64>) -> (Vec<f64>, Vec<String>) {
    (numbers, texts)
}

/// Passes index data that is longer than a message.
fn long_index(calls: &Calls) {
    for many in [100, 4000] {
        let all: Vec<_> = (0..many).map(|at| format!("text of number {at}")).collect();
        let numbers = vec![0.25; many];
        let back = next(calls)
            .run(texts, (all.clone(), numbers.clone()))
            .wait();
        assert_eq!(back.expect("a result"), (numbers, all));
    }
}

#[action]
fn same(bytes: Vec<u8>) -> Vec<u8> {
    bytes
}

/// Passes chunks of about a message's length, for the configuration of that name: many at a time,
/// so that the keys of some are looked up while others are read.
fn short_chunks(calls: &Calls) {
    let mut random = Random(calls.rank().into());
    for round in 0..20 {
        let mut waiting = Vec::new();
        for to in (0..calls.ranks()).cycle().take(30) {
            let bytes = vec![1 + round; 100 + random.below(160) as usize];
            let call = calls.to(to).expect("a rank").run(same, (bytes.clone(),));
            waiting.push((bytes, call));
        }
        for (bytes, call) in waiting {
            assert_eq!(call.wait().expect("a result"), bytes);
        }
    }
}
