//! The operations of the safe Rust interface whose instructions tests/icount counts: on 8 bytes of a
//! PE of this node, from a program of a release build with LTO, as a user has it.
//!
//! Each operation has two loops of the same shape, as in direct.c: one with the operation, and one
//! that only brings its operands into registers, which the compiler takes for others each round. So
//! nothing is done once for all rounds but to look where the context and the array are.

#![expect(
    unsafe_code,
    reason = "takes operands from the compiler, and gives functions names for callgrind"
)]

use shmem::{Ctx, Shared, World};
use std::arch::asm;
use std::hint::black_box;

/// The operands.
struct Operands {
    index: usize,
    value: u64,
    pe: usize,
}

/// The array comes by value, as a program has it that does not pass it on: in registers.
type Loop = for<'w> fn(&Ctx<'w>, Shared<'w, u64>, &Operands, u64) -> Shared<'w, u64>;

/// Values that the compiler does not know, in registers; memory may have changed, too.
#[inline(always)]
fn fresh(operands: &Operands) -> (usize, u64, usize) {
    let (mut index, mut value, mut pe) = (operands.index, operands.value, operands.pe);
    // SAFETY: no instruction.
    unsafe {
        asm!("/* {0} {1} {2} */", inout(reg) index, inout(reg) value, inout(reg) pe,
            options(nostack, preserves_flags));
    }
    (index, value, pe)
}

/// Takes a result.
#[inline(always)]
fn used(value: u64) {
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", in(reg) value, options(nostack, preserves_flags)) };
}

/// Ends a round: memory may have changed.
#[inline(always)]
fn end() {
    // SAFETY: no instruction.
    unsafe { asm!("", options(nostack, preserves_flags)) };
}

macro_rules! loops {
    ($($name:ident: |$ctx:ident, $words:ident, $index:ident, $value:ident, $pe:ident| $body:expr;)*) => {$(
        #[inline(never)]
        fn $name<'w>(
            $ctx: &Ctx<'w>,
            words: Shared<'w, u64>,
            operands: &Operands,
            rounds: u64,
        ) -> Shared<'w, u64> {
            for _ in 0..rounds {
                let (($index, $value, $pe), $words) = (fresh(operands), &words);
                $body;
                end();
            }
            words
        }
    )*};
}

loops! {
    bare: |_ctx, _words, _index, _value, _pe| end();
    bare_result: |_ctx, _words, _index, value, _pe| used(value);
    p: |ctx, words, index, value, pe| ctx.p(words, index, value, pe);
    put: |ctx, words, index, value, pe| ctx.put(words, index, &[value], pe);
    g: |ctx, words, index, _value, pe| used(ctx.g(words, index, pe));
    add: |ctx, words, index, value, pe| ctx.add(words, index, value, pe);
    fetch_add: |ctx, words, index, value, pe| used(ctx.fetch_add(words, index, value, pe));
    load: |_ctx, words, index, _value, _pe| used(words.load(index));
    store: |_ctx, words, index, value, _pe| words.store(index, value);
}

/// An operation's name, and its loops with it and without.
type Case = (&'static str, Loop, Loop);

const CASES: &[Case] = &[
    ("Ctx::p 8 B", p, bare),
    ("Ctx::put 8 B", put, bare),
    ("Ctx::g 8 B", g, bare_result),
    ("Ctx::add 8 B", add, bare),
    ("Ctx::fetch_add 8 B", fetch_add, bare_result),
    ("Shared::load 8 B", load, bare_result),
    ("Shared::store 8 B", store, bare),
];

/// callgrind counts while this runs, and writes the counts at its end.
#[unsafe(no_mangle)]
#[inline(never)]
fn icount_counted<'w>(
    run: Loop,
    ctx: &Ctx<'w>,
    words: Shared<'w, u64>,
    operands: &Operands,
    rounds: u64,
) -> Shared<'w, u64> {
    let words = run(ctx, words, operands, rounds);
    end();
    words
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let rounds: u64 = rounds.expect("the number of rounds");
    let world = World::init().expect("a job");
    let mut words: Shared<u64> = world.alloc(8).expect("room");
    assert_eq!(world.n_pes(), 2, "two PEs");
    if world.my_pe() == 0 {
        let operands = Operands {
            index: 3,
            value: 7,
            pe: 1,
        };
        for (name, with, without) in CASES {
            let loops = [
                ("first", with, 16),
                ("call", with, rounds),
                ("call", with, 2 * rounds),
                ("bare", without, rounds),
                ("bare", without, 2 * rounds),
            ];
            for (kind, run, rounds) in loops {
                println!("loop\t{name}\theap\t{kind}\t{rounds}");
                words = icount_counted(black_box(*run), world.ctx(), words, &operands, rounds);
            }
        }
    }
    world.barrier_all();
}
