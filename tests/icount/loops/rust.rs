//! The operations of the safe Rust interface whose instructions tests/icount counts: on 8 bytes of a
//! PE of this node, from a program of a release build with LTO, as a user has it. And remote calls of
//! a process to itself, so that both sides of one are counted.
//!
//! Each operation has two loops of the same shape, as in direct.c: one with the operation, and one
//! that only brings its operands into registers, which the compiler takes for others each round. So
//! nothing is done once for all rounds but to look where the context and the array are.

#![expect(
    unsafe_code,
    reason = "takes operands from the compiler, and gives functions names for callgrind"
)]

use calls::{Calls, Config, action};
use shmem::{Ctx, Shared, World};
use std::arch::asm;
use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;

/// The operands.
struct Operands {
    index: usize,
    value: u64,
    pe: usize,
}

/// The array comes by value, as a program has it that does not pass it on: in registers.
type Loop = for<'w> fn(&Ctx<'w>, Shared<'w, u64>, &Operands, u64) -> Shared<'w, u64>;

/// Returns values that the compiler does not know, in registers; memory may have changed, too.
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

/// Does nothing.
#[action]
fn nothing() {}

/// A loop of calls.
type Calling = fn(&Calls, u64);

fn no_calls(_: &Calls, rounds: u64) {
    for _ in 0..rounds {
        end();
    }
}

fn run(calls: &Calls, rounds: u64) {
    let own = calls.to(0).expect("rank 0");
    for _ in 0..rounds {
        own.run(nothing, ()).wait().expect("a result");
    }
}

const CALLS: &[(&str, Calling)] = &[("Peer::run, wait, both sides", run)];

/// callgrind counts while this runs, and writes the counts at its end.
#[unsafe(no_mangle)]
#[inline(never)]
fn icount_counted(run: &mut dyn FnMut(u64), rounds: u64) {
    run(rounds);
    end();
}

/// Runs a loop with operations and one without, each with two numbers of rounds.
fn count(name: &str, rounds: u64, [with, without]: [&mut dyn FnMut(u64); 2]) {
    println!("loop\t{name}\theap\tfirst\t16");
    icount_counted(with, 16);
    for (kind, run) in [("call", with), ("bare", without)] {
        for rounds in [rounds, 2 * rounds] {
            println!("loop\t{name}\theap\t{kind}\t{rounds}");
            icount_counted(run, rounds);
        }
    }
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let rounds: u64 = rounds.expect("the number of rounds");
    let world = World::init().expect("a job");
    let words: Shared<u64> = world.alloc(8).expect("room");
    assert_eq!(world.n_pes(), 2, "two PEs");
    if world.my_pe() == 0 {
        let operands = Operands {
            index: 3,
            value: 7,
            pe: 1,
        };
        let words = Cell::new(Some(words));
        let in_loop = |run: Loop, rounds| {
            let all = words.take().expect("it is put back");
            words.set(Some(black_box(run)(world.ctx(), all, &operands, rounds)));
        };
        for &(name, with, without) in CASES {
            let with: &mut dyn FnMut(u64) = &mut |rounds| in_loop(with, rounds);
            count(name, rounds, [with, &mut |rounds| in_loop(without, rounds)]);
        }
        // No count depends on a clock.
        let config = Config {
            delay: Duration::MAX,
            ..Config::default()
        };
        let calls = Calls::alone_with(config).expect("a process");
        for &(name, run) in CALLS {
            let with: &mut dyn FnMut(u64) = &mut |rounds| black_box(run)(&calls, rounds);
            let without = &mut |rounds| black_box(no_calls as Calling)(&calls, rounds);
            count(name, rounds, [with, without]);
        }
    }
    world.barrier_all();
}
