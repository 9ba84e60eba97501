//! Atomic operations, each on an object of its own, against a model.

use crate::access::{Area, Place};
use crate::party::Party;
use crate::transport::{Transport, check};
use bytemuck::Pod;
use fi_provider::symmetric::Error;
use fi_provider::symmetric::address_vector::PeerIndex;
use fi_provider::symmetric::atomic::{Integer, Word};
use std::fmt::Debug;

/// Bytes around each object, and of an object before the party that uses it comes.
const GUARD: u8 = 0xa5;
/// Bytes of an object's slot; the object begins twice its size from the slot's start.
const SLOT: usize = 64;
/// The most slots of a party.
const MOST: usize = 80;

pub(crate) fn of_4_bytes(transport: &dyn Transport) {
    run(transport, |party| {
        integers::<i32>(party);
        integers::<u32>(party);
    });
}

pub(crate) fn of_8_bytes(transport: &dyn Transport) {
    run(transport, |party| {
        integers::<i64>(party);
        integers::<u64>(party);
        integers::<isize>(party);
        integers::<usize>(party);
    });
}

pub(crate) fn of_floats(transport: &dyn Transport) {
    run(transport, |party| {
        let values = [
            0.0,
            -0.0,
            1.5,
            f32::MIN_POSITIVE,
            f32::INFINITY,
            f32::from_bits(0xffc0_1234),
        ];
        words(party, &values);
        let values = [
            0.0,
            -0.0,
            -2.75,
            f64::MAX,
            f64::NEG_INFINITY,
            f64::from_bits(0x7ff8_0000_1234_5678),
        ];
        words(party, &values);
    });
}

fn run(transport: &dyn Transport, body: impl Fn(&Party) + Sync) {
    for parties in [1, 3] {
        check(transport, parties, &body);
    }
}

/// An operation on an object of its own, which holds the batch's old value before.
struct Trial<'a, T> {
    what: &'static str,
    /// Does the operation, and checks its result.
    op: Box<dyn FnOnce(Place<T>) + 'a>,
    left: T,
}

/// Operations on one peer's objects that hold the same value before: their slots are written
/// together, and read together behind all of them.
struct Batch<'a, T> {
    party: &'a Party<'a>,
    area: Area,
    peer: PeerIndex,
    old: T,
    trials: Vec<Trial<'a, T>>,
}

impl<'a, T: Pod + Debug> Batch<'a, T> {
    /// Adds an operation that is to return `returned` and to leave `left` in its object.
    fn expect<R: Pod + Debug>(
        &mut self,
        what: &'static str,
        op: impl FnOnce(Place<T>) -> Result<R, Error> + 'a,
        returned: R,
        left: T,
    ) {
        let old = self.old;
        let op = Box::new(move |at| {
            let got = op(at).unwrap();
            assert_eq!(
                bytemuck::bytes_of(&got),
                bytemuck::bytes_of(&returned),
                "{what} of {old:?} returns {got:?}"
            );
        });
        self.trials.push(Trial { what, op, left });
    }

    /// Does the operations, and checks the bytes that they leave behind, in the objects and around
    /// them.
    fn run(self) {
        let (lane, peer, old) = (&self.party.lane, self.peer, self.old);
        let middle = 2 * size_of::<T>()..3 * size_of::<T>();
        let slot_of = |value: T| {
            let mut slot = [GUARD; SLOT];
            slot[middle.clone()].copy_from_slice(bytemuck::bytes_of(&value));
            slot
        };
        let count = self.trials.len();
        assert!(count <= MOST, "room for {count} operations");
        let first = self.party.rank as usize * MOST * SLOT;
        let before = vec![slot_of(old); count];
        let all = self.area.place(first);
        lane.write(all, before.as_flattened(), peer).unwrap();
        let mut left = Vec::new();
        for (at, trial) in self.trials.into_iter().enumerate() {
            (trial.op)(self.area.place(first + at * SLOT + middle.start));
            left.push((trial.what, trial.left));
        }
        lane.quiet().unwrap();
        let mut found = vec![[0; SLOT]; count];
        lane.read(found.as_flattened_mut(), all, peer).unwrap();
        for (found, (what, left)) in found.into_iter().zip(left) {
            assert_eq!(
                found,
                slot_of(left),
                "{what} of {old:?} shall leave {left:?}"
            );
        }
    }
}

/// Does the operations that `fill` adds on every peer, in each part, for each old value.
fn on_objects<'a, T: Pod + Debug>(
    party: &'a Party,
    values: &[T],
    fill: impl Fn(&mut Batch<'a, T>),
) {
    for peer in party.all() {
        for area in party.areas() {
            for &old in values {
                let mut batch = Batch {
                    party,
                    area,
                    peer,
                    old,
                    trials: Vec::new(),
                };
                fill(&mut batch);
                batch.run();
            }
        }
    }
    party.meet();
}

fn words<T: Word + Pod + Debug>(party: &Party, values: &[T]) {
    let lane = &party.lane;
    on_objects(party, values, |batch| {
        let (old, peer) = (batch.old, batch.peer);
        batch.expect("fetch", move |at| lane.fetch(at, peer), old, old);
        for &value in values {
            batch.expect("set", move |at| lane.set(at, value, peer), (), value);
            batch.expect("swap", move |at| lane.swap(at, value, peer), old, value);
        }
    });
}

/// Models the operations by the operators of the type itself.
trait Model: Integer + Pod + Debug {
    const VALUES: [Self; 8];
    fn sum(self, other: Self) -> Self;
    fn both(self, other: Self) -> Self;
    fn either(self, other: Self) -> Self;
    fn one(self, other: Self) -> Self;
}

macro_rules! models {
    ($($t:ty)*) => {$(
        impl Model for $t {
            const VALUES: [Self; 8] = [
                0, 1, 2, Self::MAX, Self::MIN, !0, (0x5555_5555_5555_5555_u64 & Self::MAX as u64) as Self,
                (0x0123_4567_89ab_cdef_u64 >> (64 - Self::BITS)) as Self,
            ];
            fn sum(self, other: Self) -> Self { self.wrapping_add(other) }
            fn both(self, other: Self) -> Self { self & other }
            fn either(self, other: Self) -> Self { self | other }
            fn one(self, other: Self) -> Self { self ^ other }
        }
    )*};
}

models! { i32 u32 i64 u64 isize usize }

fn integers<T: Model>(party: &Party) {
    words::<T>(party, &T::VALUES);
    let lane = &party.lane;
    on_objects(party, &T::VALUES, |batch| {
        let (old, peer) = (batch.old, batch.peer);
        for value in T::VALUES {
            batch.expect(
                "add",
                move |at| lane.add(at, value, peer),
                (),
                old.sum(value),
            );
            batch.expect(
                "fetch_add",
                move |at| lane.fetch_add(at, value, peer),
                old,
                old.sum(value),
            );
            batch.expect(
                "and",
                move |at| lane.and(at, value, peer),
                (),
                old.both(value),
            );
            batch.expect(
                "fetch_and",
                move |at| lane.fetch_and(at, value, peer),
                old,
                old.both(value),
            );
            batch.expect(
                "or",
                move |at| lane.or(at, value, peer),
                (),
                old.either(value),
            );
            batch.expect(
                "fetch_or",
                move |at| lane.fetch_or(at, value, peer),
                old,
                old.either(value),
            );
            batch.expect(
                "xor",
                move |at| lane.xor(at, value, peer),
                (),
                old.one(value),
            );
            batch.expect(
                "fetch_xor",
                move |at| lane.fetch_xor(at, value, peer),
                old,
                old.one(value),
            );
            batch.expect(
                "compare_swap",
                move |at| lane.compare_swap(at, old, value, peer),
                old,
                value,
            );
            let other = old.sum(T::ONE);
            batch.expect(
                "compare_swap in vain",
                move |at| lane.compare_swap(at, other, value, peer),
                old,
                old,
            );
        }
    });
}
