//! Blocks at regular distances, by write and read: only they change.

use crate::access::Place;
use crate::party::Party;
use crate::transport::{Transport, check};
use crate::values::pattern;
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use fi_provider::symmetric::Error;
use fi_provider::symmetric::blocks::Blocks;

/// Bytes that no party writes.
const GUARD: u8 = 0xee;
/// Beginning of the blocks in the heap, in bytes.
const AT: usize = 64;

fn blocks(dest_stride: usize, source_stride: usize, len: usize, count: usize) -> Blocks {
    Blocks {
        dest_stride,
        source_stride,
        len,
        count,
    }
}

/// Returns shapes of every kind, for elements of `size` bytes; some have blocks and totals that are
/// longer than the pieces of a bounce memory, or than all of it. Blocks without gaps on one side
/// are more than an entry of the device gathers or scatters.
fn shapes(size: usize) -> Vec<Blocks> {
    let long = 700 / size;
    let mut shapes = vec![
        blocks(1, 1, 1, 1),
        blocks(2, 1, 1, 40),
        blocks(1, 3, 1, 40),
        blocks(5, 7, 1, 40),
        blocks(3, 3, 3, 20),
        blocks(4, 3, 3, 20),
        blocks(3, 9, 3, 20),
        blocks(40, 50, 33, 10),
        blocks(0, 0, 1, 0),
        blocks(0, 0, 0, 7),
        blocks(3001, 3000, 3000, 25),
        blocks(40_000, 40_001, 40_000, 3),
        blocks(6, 9, 6, 40),
        blocks(9, 6, 6, 40),
        blocks(long, long + 3, long, 500),
        blocks(long + 3, long, long, 500),
    ];
    shapes.extend((0..6).map(|extra| blocks(6 + extra, 11 - extra, 6, 9)));
    shapes
}

/// Returns `dest` with the blocks of `source` copied into it.
fn copied<T: Pod>(source: &[T], mut dest: Vec<T>, shape: &Blocks) -> Vec<T> {
    for block in 0..shape.count {
        let (to, from) = (block * shape.dest_stride, block * shape.source_stride);
        dest[to..to + shape.len].copy_from_slice(&source[from..from + shape.len]);
    }
    dest
}

/// Returns elements of which all bytes are guard.
fn guarded<T: Pod>(count: usize) -> Vec<T> {
    let mut elements = vec![T::zeroed(); count];
    cast_slice_mut::<T, u8>(&mut elements).fill(GUARD);
    elements
}

/// Returns elements that differ from party to party.
fn numbered<T: Pod>(rank: u32, count: usize) -> Vec<T> {
    let bytes = pattern(rank.into(), count * size_of::<T>());
    let mut elements = vec![T::zeroed(); count];
    cast_slice_mut::<T, u8>(&mut elements).copy_from_slice(&bytes);
    elements
}

fn of_type<T: Pod + PartialEq>(party: &Party) {
    for shape in shapes(size_of::<T>()) {
        let (dest_span, source_span) = (
            shape.span(shape.dest_stride),
            shape.span(shape.source_stride),
        );
        // One element more, which nobody writes.
        let room = dest_span.max(source_span) + 1;
        let bytes = room * size_of::<T>();
        let place: Place<T> = party.heap.place(AT);
        let (mine, left, right) = (
            numbered::<T>(party.rank, room),
            numbered::<T>(party.left(), room),
            numbered::<T>(party.right(), room),
        );

        party.heap.fill(0, AT + bytes, GUARD);
        party.meet();
        let mut source = mine.clone();
        party
            .lane
            .write_blocks(place, &source, &shape, party.right())
            .unwrap();
        // The source may be changed at once.
        cast_slice_mut::<T, u8>(&mut source).fill(!GUARD);
        party.quiet_and_meet();
        let expected = copied(&left, guarded(room), &shape);
        assert!(
            party.heap.bytes(AT, bytes) == cast_slice::<T, u8>(&expected),
            "{shape:?} written"
        );
        assert!(party.heap.bytes(0, AT) == [GUARD; AT], "{shape:?} in front");
        party.meet();
        // The same from memory that peers may reach.
        let behind = (AT + bytes).next_multiple_of(64);
        let own: Place<T> = party.heap.place(behind);
        party.heap.fill(0, AT + bytes, GUARD);
        party.heap.set_bytes(behind, cast_slice(&mine));
        party.meet();
        party
            .lane
            .write_blocks_from_home(place, own, &shape, party.right())
            .unwrap();
        party.heap.fill(behind, bytes, !GUARD);
        party.quiet_and_meet();
        let expected = copied(&left, guarded(room), &shape);
        assert!(
            party.heap.bytes(AT, bytes) == cast_slice::<T, u8>(&expected),
            "{shape:?} written from home"
        );
        party.meet();

        party.heap.set_bytes(AT, cast_slice(&mine));
        party.meet();
        let mut dest = guarded::<T>(room);
        party
            .lane
            .read_blocks(&mut dest, place, &shape, party.right())
            .unwrap();
        let expected = copied(&right, guarded(room), &shape);
        assert!(dest == expected, "{shape:?} read");
        // The same into memory that peers may reach.
        party.heap.fill(behind, bytes, GUARD);
        party
            .lane
            .read_blocks_home(own, place, &shape, party.right())
            .unwrap();
        assert!(
            party.heap.bytes(behind, bytes) == cast_slice::<T, u8>(&expected),
            "{shape:?} read home"
        );
        party.meet();
    }
}

pub(crate) fn of_every_shape(transport: &dyn Transport) {
    for parties in [1, 3] {
        check(transport, parties, |party| {
            of_type::<u8>(party);
            of_type::<u32>(party);
            of_type::<u128>(party);
        });
    }
}

/// Checks that all from the first to the last element has to be inside; memory between two blocks
/// is no error.
pub(crate) fn up_to_the_last_element(transport: &dyn Transport) {
    check(transport, 2, |party| {
        let room = party.heap.place::<u32>(0).room;
        let stride = 1000;
        let count = room / stride;
        let last = blocks(stride, stride, 1, count);
        let first = room - last.span(stride);
        let source = numbered::<u32>(party.rank, last.span(stride) + stride);
        let mut dest = source.clone();
        let lane = &party.lane;
        let place = |index: usize| party.heap.place::<u32>(index * size_of::<u32>());
        lane.write_blocks(place(first), &source, &last, party.right())
            .unwrap();
        party.quiet_and_meet();
        lane.read_blocks(&mut dest, place(first), &last, party.right())
            .unwrap();
        assert_eq!(dest[0], numbered::<u32>(party.rank, 1)[0]);

        // One element further the last one is outside: of the heap, which is the window's last part or is followed by a hole.
        let size = party.heap.len();
        let edge = blocks(size, 1, 1, 2);
        let start = place(first);
        for result in [
            lane.write_blocks(start, &source, &edge, party.right()),
            lane.write_blocks(
                start,
                &source,
                &blocks(usize::MAX / 2, 1, 1, 3),
                party.right(),
            ),
            lane.read_blocks(
                &mut dest,
                start,
                &blocks(1, usize::MAX / 2, 1, 3),
                party.right(),
            ),
        ] {
            let refused = matches!(result, Err(Error::PastWindow | Error::TooLong));
            assert!(refused, "{result:?}");
        }
        assert_eq!(
            lane.write_blocks(start, &source, &last, party.count).err(),
            Some(Error::NoSuchPeer)
        );
        party.meet();
    });
}
