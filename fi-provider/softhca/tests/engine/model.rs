//! Random operations of two connected processes, against byte vectors.

use crate::world::Pair;
use fi_mlx5_defs::atomic::Arithmetic;
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::endian::Be64;
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::{
    Atomic, Data, MaskedCompareSwap64, MaskedFetchAdd64, flags, masked_modifier,
};
use proptest::prelude::*;
use softhca::engine::{Config, Latencies};

#[derive(Clone, Debug)]
enum Step {
    Inline {
        at: u64,
        data: Vec<u8>,
    },
    Write {
        at: u64,
        pieces: Vec<(u64, u32)>,
        immediate: bool,
    },
    Send {
        pieces: Vec<(u64, u32)>,
        to: Vec<(u64, u32)>,
    },
    Read {
        at: u64,
        pieces: Vec<(u64, u32)>,
    },
    Atomic {
        word: u64,
        to: u64,
        op: usize,
        operands: [u64; 4],
    },
}

const SPACE: u64 = 2048;

fn pieces(most: usize) -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((0..SPACE - 300, 1..200_u32), 1..most)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..SPACE - 200, prop::collection::vec(any::<u8>(), 0..200))
            .prop_map(|(at, data)| Step::Inline { at, data }),
        (0..SPACE / 4, pieces(4), any::<bool>()).prop_map(|(at, pieces, immediate)| Step::Write {
            at,
            pieces,
            immediate
        }),
        (pieces(3), pieces(3)).prop_map(|(pieces, to)| Step::Send { pieces, to }),
        (0..SPACE / 4, pieces(4)).prop_map(|(at, pieces)| Step::Read { at, pieces }),
        (0..SPACE / 8, 0..SPACE / 8, 0..4_usize, any::<[u64; 4]>()).prop_map(
            |(word, to, op, operands)| {
                Step::Atomic {
                    word: word * 8,
                    to: to * 8,
                    op,
                    operands,
                }
            }
        ),
    ]
}

/// Copies as the device does: all is read before any is written, up to the shorter side.
fn scatter(data: &[u8], to: &mut [u8], pieces: &[(u64, u32)]) {
    let mut rest = data;
    for &(at, len) in pieces {
        let n = rest.len().min(len as usize);
        to[at as usize..at as usize + n].copy_from_slice(&rest[..n]);
        rest = &rest[n..];
    }
}

fn gather(from: &[u8], pieces: &[(u64, u32)]) -> Vec<u8> {
    pieces
        .iter()
        .flat_map(|&(at, len)| from[at as usize..at as usize + len as usize].to_vec())
        .collect()
}

/// Makes an entry wait for the data of reads and atomics before it: the model takes one at a time.
fn fenced(entry: Entry, wanted: bool) -> Entry {
    let wanted = if wanted { flags::COMPLETION } else { 0 };
    entry.flags(wanted | flags::FENCE)
}

/// Both processes' bytes.
struct Model([Vec<u8>; 2]);

fn run(pair: &mut Pair, model: &mut Model, step: &Step, wanted: bool) {
    let [here, there] = pair.buffer;
    let local = |list: &[(u64, u32)]| -> Vec<Data> {
        list.iter()
            .map(|&(at, len)| Data::new(here.addr + at, len, here.key()))
            .collect()
    };
    let sign = |entry| fenced(entry, wanted);
    let Model([mine, theirs]) = model;
    match step {
        Step::Inline { at, data } => {
            theirs[*at as usize..*at as usize + data.len()].copy_from_slice(data);
            pair.post(Opcode::Write, |e| {
                sign(e).remote(there.addr + at, there.key()).inline(data)
            });
        }
        Step::Write {
            at,
            pieces,
            immediate,
        } => {
            let data = gather(mine, pieces);
            theirs[*at as usize..*at as usize + data.len()].copy_from_slice(&data);
            let opcode = if *immediate {
                Opcode::WriteImmediate
            } else {
                Opcode::Write
            };
            if *immediate {
                pair.world.receive(&mut pair.qp[1], &[]);
            }
            pair.post(opcode, |e| {
                let entry = sign(e).immediate(9).remote(there.addr + at, there.key());
                local(pieces)
                    .iter()
                    .fold(entry, |entry, piece| entry.segment(piece))
            });
        }
        Step::Send { pieces, to } => {
            let mut to = to.clone();
            to.push((SPACE, 600));
            let data = gather(mine, pieces);
            scatter(&data, theirs, &to);
            let list: Vec<Data> = to
                .iter()
                .map(|&(at, n)| Data::new(there.addr + at, n, there.key()))
                .collect();
            pair.world.receive(&mut pair.qp[1], &list);
            pair.post(Opcode::Send, |e| {
                local(pieces)
                    .iter()
                    .fold(sign(e), |entry, piece| entry.segment(piece))
            });
        }
        Step::Read { at, pieces } => {
            let total: u32 = pieces.iter().map(|piece| piece.1).sum();
            let data = theirs[*at as usize..*at as usize + total as usize].to_vec();
            scatter(&data, mine, pieces);
            pair.post(Opcode::Read, |e| {
                let entry = sign(e).remote(there.addr + at, there.key());
                local(pieces)
                    .iter()
                    .fold(entry, |entry, piece| entry.segment(piece))
            });
        }
        Step::Atomic {
            word,
            to,
            op,
            operands,
        } => atomic(pair, model, (*word, *to), *op, operands, wanted),
    }
}

fn atomic(
    pair: &mut Pair,
    model: &mut Model,
    (word, to): (u64, u64),
    op: usize,
    v: &[u64; 4],
    wanted: bool,
) {
    let [here, there] = pair.buffer;
    let at = word as usize;
    let old = u64::from_ne_bytes(model.0[1][at..at + 8].try_into().unwrap());
    // Half of the comparisons succeed.
    let compare = if v[1] & 1 == 0 { old } else { v[1] };
    let plain = |add: u64, compare: u64| Atomic {
        swap_or_add: add.into(),
        compare: compare.into(),
    };
    let (opcode, arithmetic) = [
        (Opcode::CompareSwap, Arithmetic::compare_swap(v[0], compare)),
        (Opcode::FetchAdd, Arithmetic::fetch_add(v[0])),
        (
            Opcode::MaskedCompareSwap,
            Arithmetic::CompareSwap {
                swap: v[0],
                compare,
                swap_mask: v[2],
                compare_mask: v[3],
            },
        ),
        (
            Opcode::MaskedFetchAdd,
            Arithmetic::FetchAdd {
                add: v[0],
                field_boundary: v[1],
            },
        ),
    ][op];
    model.0[1][at..at + 8].copy_from_slice(&arithmetic.apply(old).to_ne_bytes());
    model.0[0][to as usize..to as usize + 8].copy_from_slice(&old.to_ne_bytes());
    pair.post(opcode, |entry| {
        let entry = fenced(entry, wanted);
        let entry = entry.remote(there.addr + word, there.key());
        let entry = match op {
            0 => entry.segment(&plain(v[0], compare)),
            1 => entry.segment(&plain(v[0], 0)),
            2 => entry
                .modifier(masked_modifier(8))
                .segment(&MaskedCompareSwap64 {
                    swap: Be64::new(v[0]),
                    compare: Be64::new(compare),
                    swap_mask: Be64::new(v[2]),
                    compare_mask: Be64::new(v[3]),
                }),
            _ => entry
                .modifier(masked_modifier(8))
                .segment(&MaskedFetchAdd64 {
                    add: Be64::new(v[0]),
                    field_boundary: Be64::new(v[1]),
                }),
        };
        entry.data(here.addr + to, 8, here.key())
    });
}

proptest! {
    #[test]
    fn memory_is_as_the_model_has_it(
        steps in prop::collection::vec((step(), any::<bool>(), any::<bool>()), 1..40),
        burst in 1..5_u32,
        latencies in prop::option::of([0..50_u64, 0..50, 0..50, 0..50]),
    ) {
        let latencies = latencies.map(|[pcie, wire, switch, memory]| Latencies { pcie, wire, switch, memory });
        let mut pair = Pair::with(Config { burst, latencies, ..Config::default() }, 64, 64);
        let mut model = Model([0, 1].map(|side: u64| (0..4096).map(|n| (n * 7 + side * 31) as u8).collect()));
        for side in [0, 1] {
            let bytes = model.0[side].clone();
            pair.fill(side, 0, &bytes);
        }
        let mut expected = 0;
        for (step, wanted, at_once) in &steps {
            run(&mut pair, &mut model, step, *wanted);
            expected += usize::from(*wanted);
            // Up to 40 entries of at most 4 blocks: the ring is emptied before it is full.
            if *at_once || pair.qp[0].producer % 16 > 8 {
                let all = pair.drain(0);
                prop_assert!(all.iter().all(|cqe| !cqe.is_error()), "{all:?}");
                prop_assert_eq!(all.len(), expected);
                expected = 0;
                pair.drain(1);
            }
        }
        pair.drain(0);
        for side in [0, 1] {
            prop_assert!(pair.bytes(side, 0, 4096) == model.0[side], "side {side}");
        }
    }
}
