//! Single elements, by inject and read.

use crate::party::Party;
use crate::transport::{Transport, check};
use crate::values::value;
use bytemuck::Pod;

/// Bytes that no party writes.
const GUARD: u8 = 0xee;
/// Bytes from one element's slot to the next; the element lies 16 to 31 bytes behind the slot's start.
const SLOT: usize = 48;
/// Bytes that one party uses of each of the others'.
const BLOCK: usize = 16 * SLOT;

/// Calls `$f::<T>($party)` for each type that is injected.
macro_rules! each_type {
    ($f:ident, $party:ident) => {
        each_type!(@ $f $party:
            u8 i8 u16 i16 u32 i32 f32 u64 i64 f64 usize isize u128 i128
            [u64; 2] [u8; 16] [u8; 3] [u16; 3] [u32; 3] [u8; 7] [u8; 13])
    };
    (@ $f:ident $party:ident: $($t:ty)*) => {{
        $($f::<$t>($party);)*
    }};
}

pub(crate) fn arrive_whole_and_alone(transport: &dyn Transport) {
    for parties in [1, 2, 4] {
        check(transport, parties, |party| each_type!(between_all, party));
    }
}

/// Returns the offsets that `T` is written to in a block, and the values.
fn slots<T: Pod>(origin: u32, target: u32) -> impl Iterator<Item = (usize, T)> {
    (0..16_usize).step_by(align_of::<T>()).map(move |shift| {
        let offset = shift * SLOT + 16 + shift;
        (
            offset,
            value(u64::from(origin) << 40 | u64::from(target) << 20 | shift as u64),
        )
    })
}

fn between_all<T: Pod + PartialEq>(party: &Party) {
    for area in party.areas() {
        area.fill(0, BLOCK * party.count as usize, GUARD);
    }
    party.meet();
    for peer in party.all() {
        for area in party.areas() {
            for (offset, value) in slots::<T>(party.rank, peer) {
                let place = area.place(party.rank as usize * BLOCK + offset);
                party.lane.inject(value, place, peer).unwrap();
            }
        }
    }
    party.quiet_and_meet();
    for origin in party.all() {
        let mut expected = vec![GUARD; BLOCK];
        for (offset, value) in slots::<T>(origin, party.rank) {
            expected[offset..offset + size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        }
        for area in party.areas() {
            assert!(
                area.bytes(origin as usize * BLOCK, BLOCK) == expected,
                "from {origin}: {}",
                name::<T>()
            );
        }
    }
    for peer in party.all() {
        for origin in party.all() {
            for area in party.areas() {
                for (offset, value) in slots::<T>(origin, peer) {
                    let place = area.place(origin as usize * BLOCK + offset);
                    let got: T = party.lane.read_element(place, peer).unwrap();
                    assert!(same(&got, &value), "of {peer}: {} at {offset}", name::<T>());
                }
            }
        }
    }
    party.meet();
}

fn same<T: Pod>(one: &T, other: &T) -> bool {
    bytemuck::bytes_of(one) == bytemuck::bytes_of(other)
}

fn name<T>() -> &'static str {
    std::any::type_name::<T>()
}

pub(crate) fn reach_both_ends_of_every_part(transport: &dyn Transport) {
    for parties in [1, 3] {
        check(transport, parties, |party| each_type!(at_both_ends, party));
    }
}

fn at_both_ends<T: Pod>(party: &Party) {
    for (index, area) in party.areas().into_iter().enumerate() {
        let last = (area.len() - size_of::<T>()) / align_of::<T>() * align_of::<T>();
        for offset in [0, last] {
            area.fill(offset / 64 * 64, 64, GUARD);
            party.meet();
            let seed = |rank: u32| u64::from(rank) << 32 | (offset + index) as u64;
            party
                .lane
                .inject::<T>(value(seed(party.rank)), area.place(offset), party.right())
                .unwrap();
            party.quiet_and_meet();
            let got: T = area.load(offset);
            assert!(
                same(&got, &value(seed(party.left()))),
                "{} at {offset}",
                name::<T>()
            );
            let got: T = party
                .lane
                .read_element(area.place(offset), party.right())
                .unwrap();
            assert!(
                same(&got, &value(seed(party.rank))),
                "{} at {offset}",
                name::<T>()
            );
            let around = area.bytes(offset / 64 * 64, 64);
            let untouched = around.iter().filter(|&&byte| byte == GUARD).count();
            let own = bytemuck::bytes_of(&got).len();
            assert!(
                untouched >= 64 - own,
                "{} at {offset}: more than itself",
                name::<T>()
            );
            party.meet();
        }
    }
}
