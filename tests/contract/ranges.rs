//! Ranges of every length and alignment, by write and read, blocking and not.

use crate::access::{Area, Place};
use crate::party::Party;
use crate::transport::{Transport, check};
use crate::values::{pattern, value};
use bytemuck::Pod;

/// Bytes that no party writes.
const GUARD: u8 = 0xee;
/// Bytes of guard between two ranges, at least.
const GAP: usize = 32;

/// One round: every party writes ranges of these lengths to its right neighbour, and reads them.
#[derive(Clone, Copy)]
struct Round<'a> {
    lengths: &'a [usize],
    /// Bytes by which targets and sources are off a multiple of 64.
    target_shift: usize,
    source_shift: usize,
}

impl Round<'_> {
    /// Returns the beginning of each range in the target, and its length.
    fn ranges(&self) -> Vec<(usize, usize)> {
        let mut at = 64;
        let mut ranges = Vec::new();
        for &len in self.lengths {
            ranges.push((at + self.target_shift, len));
            at = (at + self.target_shift + len + GAP).next_multiple_of(64);
        }
        ranges
    }

    /// Returns the bytes of the target when all ranges are there.
    fn image(&self, data: &[u8]) -> Vec<u8> {
        let ranges = self.ranges();
        let end = ranges.last().map_or(0, |(at, len)| at + len);
        let mut image = vec![GUARD; end + GAP];
        for (at, len) in ranges {
            image[at..at + len].copy_from_slice(&data[at..at + len]);
        }
        image
    }

    fn run(&self, party: &Party) {
        let longest = self.lengths.iter().max().copied().unwrap_or(0);
        let size = self.image(&vec![0; party.heap.len()]).len();
        let data = |rank: u32| pattern(u64::from(rank) + 7 * self.target_shift as u64, size);
        let (mine, left, right) = (data(party.rank), data(party.left()), data(party.right()));
        let mut buffer = vec![0_u8; longest + 128];
        let aligned = buffer.as_ptr().align_offset(64) + self.source_shift;

        for started in [false, true] {
            party.heap.fill(0, size, GUARD);
            party.meet();
            if started {
                self.start_writes(party, &mine);
            } else {
                for (at, len) in self.ranges() {
                    let source = &mut buffer[aligned..aligned + len];
                    source.copy_from_slice(&mine[at..at + len]);
                    party
                        .lane
                        .write(party.heap.place(at), source, party.right())
                        .unwrap();
                    // The source may be changed at once.
                    source.fill(!GUARD);
                }
            }
            party.quiet_and_meet();
            assert_same(
                &party.heap.bytes(0, size),
                &self.image(&left),
                "written",
                self,
            );
            party.meet();
        }

        party.heap.set_bytes(0, &mine);
        party.meet();
        for (at, len) in self.ranges() {
            buffer.fill(GUARD);
            let place = party.heap.place(at);
            party
                .lane
                .read(&mut buffer[aligned..aligned + len], place, party.right())
                .unwrap();
            assert_same(
                &buffer[aligned..aligned + len],
                &right[at..at + len],
                "read",
                self,
            );
            let around = buffer[..aligned].iter().chain(&buffer[aligned + len..]);
            assert!(
                around.copied().all(|byte| byte == GUARD),
                "read more than {len} bytes, shifts {:?}",
                self.shifts()
            );
        }
        self.start_reads(party, &right);
        party.meet();
        assert_same(
            &party.heap.bytes(0, size),
            &mine,
            "left after reading",
            self,
        );
    }

    /// Starts all writes of ranges at once, from a copy of `data` that is misaligned as wanted.
    fn start_writes(&self, party: &Party, data: &[u8]) {
        let mut copy = vec![0; data.len() + 256];
        let mut writes: Vec<(Place<u8>, &[u8])> = Vec::new();
        let shift = copy.as_ptr().align_offset(64) + 64 + self.source_shift;
        // Ranges begin `target_shift` behind a multiple of 64: their sources, `source_shift`.
        let from = shift - self.target_shift;
        copy[from..from + data.len()].copy_from_slice(data);
        for (at, len) in self.ranges() {
            writes.push((party.heap.place(at), &copy[from + at..from + at + len]));
        }
        party.lane.start_writes(&writes, party.right()).unwrap();
    }

    /// Starts all reads of ranges at once.
    fn start_reads(&self, party: &Party, data: &[u8]) {
        let mut buffer = vec![GUARD; data.len() + 256];
        let from = buffer.as_ptr().align_offset(64) + 64 + self.source_shift - self.target_shift;
        let mut rest = &mut buffer[from..];
        let mut taken = 0;
        let mut reads = Vec::new();
        for (at, len) in self.ranges() {
            let (_, behind) = std::mem::take(&mut rest).split_at_mut(at - taken);
            let (dest, behind) = behind.split_at_mut(len);
            reads.push((dest, party.heap.place(at)));
            (rest, taken) = (behind, at + len);
        }
        party.lane.start_reads(&mut reads, party.right()).unwrap();
        let image = self.image(data);
        let end = from + taken;
        assert_same(&buffer[from..end], &image[..taken], "read at once", self);
        assert!(
            buffer[..from]
                .iter()
                .chain(&buffer[end..])
                .all(|&byte| byte == GUARD),
            "read too much"
        );
    }

    fn shifts(&self) -> (usize, usize) {
        (self.target_shift, self.source_shift)
    }
}

fn assert_same(got: &[u8], expected: &[u8], what: &str, round: &Round) {
    if got != expected {
        let at = got
            .iter()
            .zip(expected)
            .position(|(one, other)| one != other);
        let range = round
            .ranges()
            .into_iter()
            .rfind(|&(start, _)| Some(start) <= at);
        panic!(
            "{what}: differs at {at:?}, near the range {range:?}; shifts {:?}",
            round.shifts()
        );
    }
}

/// Returns all pairs of shifts below `bound`.
fn shifts(bound: usize) -> Vec<(usize, usize)> {
    (0..bound * bound)
        .map(|pair| (pair / bound, pair % bound))
        .collect()
}

fn run(transport: &dyn Transport, parties: u32, lengths: &[usize], shifts: &[(usize, usize)]) {
    check(transport, parties, |party| {
        for &(target_shift, source_shift) in shifts {
            Round {
                lengths,
                target_shift,
                source_shift,
            }
            .run(party);
        }
    });
}

pub(crate) fn of_every_short_length(transport: &dyn Transport) {
    let lengths: Vec<usize> = (0..300).collect();
    run(transport, 2, &lengths, &shifts(8));
    run(transport, 3, &lengths, &[(15, 1), (9, 8), (31, 17)]);
    run(transport, 1, &lengths, &[(0, 0), (3, 6)]);
}

pub(crate) fn around_two_and_four_kibibytes(transport: &dyn Transport) {
    let lengths: Vec<usize> = (2040..2064).chain([4095, 4096, 4097, 4103, 4104]).collect();
    run(transport, 2, &lengths, &shifts(8));
    run(transport, 3, &lengths, &[(15, 1), (9, 8), (31, 17)]);
}

pub(crate) fn around_64_kibibytes_and_a_mebibyte(transport: &dyn Transport) {
    let lengths = [
        (64 << 10) - 1,
        64 << 10,
        (64 << 10) + 1,
        (1 << 20) - 1,
        1 << 20,
        (1 << 20) + 1,
    ];
    let few: Vec<_> = (0..8).map(|shift| (shift, shift * 3 % 8)).collect();
    run(transport, 2, &lengths, &few);
    run(transport, 3, &lengths, &[(1, 0)]);
}

pub(crate) fn of_larger_elements(transport: &dyn Transport) {
    check(transport, 3, |party| {
        typed::<u16>(party);
        typed::<f32>(party);
        typed::<u64>(party);
        typed::<u128>(party);
        typed::<[u8; 3]>(party);
        typed::<[u32; 5]>(party);
        typed::<[u64; 32]>(party);
    });
}

/// Counts are of elements: the length is their product with the element's size.
fn typed<T: Pod>(party: &Party) {
    for area in party.areas() {
        for count in (0..20).chain([63, 64, 65]) {
            let bytes = count * size_of::<T>();
            let data = |rank: u32| -> Vec<T> {
                (0..count)
                    .map(|index| value(u64::from(rank) << 32 | index as u64))
                    .collect()
            };
            area.fill(0, bytes + 128, GUARD);
            party.meet();
            party
                .lane
                .write(area.place(64), &data(party.rank), party.right())
                .unwrap();
            party.quiet_and_meet();
            let mut expected = vec![GUARD; bytes + 128];
            expected[64..64 + bytes].copy_from_slice(bytemuck::cast_slice(&data(party.left())));
            assert!(
                area.bytes(0, bytes + 128) == expected,
                "{count} of {} bytes",
                size_of::<T>()
            );
            let mut read: Vec<T> = vec![T::zeroed(); count];
            party
                .lane
                .read(&mut read, area.place(64), party.right())
                .unwrap();
            let expected = data(party.rank);
            assert!(
                bytemuck::cast_slice::<T, u8>(&read) == bytemuck::cast_slice::<T, u8>(&expected),
                "{count} of {} bytes, read",
                size_of::<T>()
            );
            party.meet();
        }
    }
}

pub(crate) fn onto_themselves(transport: &dyn Transport) {
    check(transport, 2, |party| {
        for len in [1, 8, 16, 17, 300, 2047, 2048, 5000, 1 << 20] {
            let data = pattern(u64::from(party.rank), len);
            party.heap.set_bytes(3, &data);
            onto_itself(party, party.heap, 3, len);
            assert!(party.heap.bytes(3, len) == data, "{len} bytes");
        }
    });
}

#[expect(
    unsafe_code,
    reason = "source and target are the same bytes, which no slice may be"
)]
fn onto_itself(party: &Party, area: Area, offset: usize, len: usize) {
    let at = area.place::<u8>(offset).at;
    // SAFETY: the range is in the own symmetric memory, and is the target itself.
    unsafe { party.lane.write_raw(at, at, len, party.rank) }.unwrap();
    // SAFETY: the range is in the own symmetric memory, and is the source itself.
    unsafe { party.lane.read_raw(at, at, len, party.rank) }.unwrap();
    party.lane.quiet().unwrap();
}

#[expect(
    unsafe_code,
    reason = "both sides of a transfer are symmetric memory, which no slice may be"
)]
pub(crate) fn between_symmetric_objects(transport: &dyn Transport) {
    check(transport, 2, |party| {
        for (own, far) in pairs(party.areas()) {
            // Source, destination of reads, and target of others' writes, apart from each other.
            let [from, into, target] =
                [0, 1, 2].map(|third| third * (own.len().min(far.len()) / 3) + 5);
            for len in [1, 7, 8, 12, 13, 64, 204, 205, 256, 257, 2049, 5000] {
                let data = |rank: u32| pattern(u64::from(rank) << 16 | len as u64, len);
                own.set_bytes(from, &data(party.rank));
                far.fill(target - 1, len + 2, GUARD);
                own.fill(into - 1, len + 2, GUARD);
                party.meet();
                let [source, dest] = [from, into].map(|offset| own.place::<u8>(offset).at);
                let there = far.place::<u8>(target).at;
                // SAFETY: all is in the own symmetric memory, apart, and stays as it is until quiet.
                unsafe {
                    party
                        .lane
                        .start_write_raw(there, source, len, party.right())
                }
                .unwrap();
                party.quiet_and_meet();
                whole(far, target, &data(party.left()));
                // SAFETY: all is in the own symmetric memory, apart, and nobody uses the
                // destination until quiet.
                unsafe { party.lane.start_read_raw(dest, there, len, party.right()) }.unwrap();
                party.lane.quiet().unwrap();
                whole(own, into, &data(party.rank));
                own.fill(into, len, GUARD);
                // SAFETY: all is in the own symmetric memory, and apart.
                unsafe { party.lane.read_raw(dest, there, len, party.right()) }.unwrap();
                whole(own, into, &data(party.rank));
                party.meet();
            }
        }
    });
}

/// Returns each of two with each.
fn pairs(areas: [Area; 2]) -> impl Iterator<Item = (Area, Area)> {
    areas
        .into_iter()
        .flat_map(move |one| areas.map(|other| (one, other)))
}

/// Asserts that these bytes are there, and nothing around them has changed.
fn whole(area: Area, offset: usize, data: &[u8]) {
    let found = area.bytes(offset - 1, data.len() + 2);
    let around = [found[0], found[data.len() + 1]];
    assert_eq!(around, [GUARD; 2], "around {} bytes", data.len());
    assert!(found[1..=data.len()] == *data, "{} bytes", data.len());
}

pub(crate) fn up_to_the_last_byte(transport: &dyn Transport) {
    check(transport, 3, |party| {
        for area in party.areas() {
            for len in [1, 2, 7, 16, 17, 300, 2049, 5001, area.len()] {
                let offset = area.len() - len;
                let data = |rank: u32| pattern(u64::from(rank) << 8 | 1, len);
                party.meet();
                party
                    .lane
                    .write(area.place(offset), &data(party.rank), party.right())
                    .unwrap();
                party.quiet_and_meet();
                assert!(
                    area.bytes(offset, len) == data(party.left()),
                    "the last {len} bytes"
                );
                let mut read = vec![0; len];
                party
                    .lane
                    .read(&mut read, area.place(offset), party.right())
                    .unwrap();
                assert!(read == data(party.rank), "the last {len} bytes, read");
            }
        }
    });
}
