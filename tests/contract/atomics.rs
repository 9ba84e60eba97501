//! Atomic operations, one at a time, against a model.

use crate::access::Area;
use crate::party::Party;
use crate::transport::{Transport, check};
use bytemuck::Pod;
use fi_provider::symmetric::Error;
use fi_provider::symmetric::address_vector::PeerIndex;
use fi_provider::symmetric::atomic::{Integer, Word};
use std::fmt::Debug;

/// Bytes around each object, and of an object before the party that uses it comes.
const GUARD: u8 = 0xa5;
/// Bytes from one object's slot to the next; the object lies in the middle, twice its size from the slot's start.
const SLOT: usize = 64;

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

/// An operation in the fabric, on one object of one peer.
struct Object<'a, T> {
    party: &'a Party<'a>,
    area: Area,
    offset: usize,
    peer: PeerIndex,
    old: T,
}

impl<T: Pod + Debug> Object<'_, T> {
    /// Puts the old value there, runs `op`, and checks its result and the bytes that it leaves
    /// behind, in the object and around it.
    fn expect<R: Pod + Debug>(
        &self,
        what: &str,
        op: impl FnOnce(crate::access::Place<T>) -> Result<R, Error>,
        returned: R,
        left: T,
    ) {
        let Self {
            party,
            area,
            offset,
            peer,
            ..
        } = *self;
        let mut around = [GUARD; SLOT];
        let middle = 2 * size_of::<T>()..3 * size_of::<T>();
        around[middle.clone()].copy_from_slice(bytemuck::bytes_of(&self.old));
        let slot = offset - middle.start;
        party.lane.write(area.place(slot), &around, peer).unwrap();
        let got = op(area.place(offset)).unwrap();
        assert_eq!(
            bytemuck::bytes_of(&got),
            bytemuck::bytes_of(&returned),
            "{what} of {:?} returns {got:?}",
            self.old
        );
        party.lane.quiet().unwrap();
        let mut read = [0; SLOT];
        party.lane.read(&mut read, area.place(slot), peer).unwrap();
        around[middle].copy_from_slice(bytemuck::bytes_of(&left));
        assert_eq!(
            read, around,
            "{what} of {:?} shall leave {left:?}",
            self.old
        );
    }
}

/// Runs `body` on an object of every peer, in each part, for each old value.
fn on_objects<T: Pod + Debug>(party: &Party, values: &[T], body: impl Fn(&Object<T>)) {
    for peer in party.all() {
        for area in party.areas() {
            for &old in values {
                let offset = party.rank as usize * SLOT + 2 * size_of::<T>();
                body(&Object {
                    party,
                    area,
                    offset,
                    peer,
                    old,
                });
            }
        }
    }
    party.meet();
}

fn words<T: Word + Pod + Debug>(party: &Party, values: &[T]) {
    let lane = &party.lane;
    on_objects(party, values, |object| {
        let (old, peer) = (object.old, object.peer);
        object.expect("fetch", |at| lane.fetch(at, peer), old, old);
        for &value in values {
            object.expect("set", |at| lane.set(at, value, peer), (), value);
            object.expect("swap", |at| lane.swap(at, value, peer), old, value);
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
    on_objects(party, &T::VALUES, |object| {
        let (old, peer) = (object.old, object.peer);
        for value in T::VALUES {
            object.expect("add", |at| lane.add(at, value, peer), (), old.sum(value));
            object.expect(
                "fetch_add",
                |at| lane.fetch_add(at, value, peer),
                old,
                old.sum(value),
            );
            object.expect("and", |at| lane.and(at, value, peer), (), old.both(value));
            object.expect(
                "fetch_and",
                |at| lane.fetch_and(at, value, peer),
                old,
                old.both(value),
            );
            object.expect("or", |at| lane.or(at, value, peer), (), old.either(value));
            object.expect(
                "fetch_or",
                |at| lane.fetch_or(at, value, peer),
                old,
                old.either(value),
            );
            object.expect("xor", |at| lane.xor(at, value, peer), (), old.one(value));
            object.expect(
                "fetch_xor",
                |at| lane.fetch_xor(at, value, peer),
                old,
                old.one(value),
            );
            object.expect(
                "compare_swap",
                |at| lane.compare_swap(at, old, value, peer),
                old,
                value,
            );
            let other = old.sum(T::ONE);
            object.expect(
                "compare_swap in vain",
                |at| lane.compare_swap(at, other, value, peer),
                old,
                old,
            );
        }
    });
}
