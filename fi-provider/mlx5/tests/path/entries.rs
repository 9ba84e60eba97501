//! Entries, byte by byte: against those of `build`, which tests of softhca compare with rdma-core's and UCX's.

use crate::model::{DC_KEY, DISCARD, HALF, KEY, LOCAL, Rig, Shape, Taken, device};
use fi_mlx5::lane::{self, Lane};
use fi_mlx5_defs::atomic::Arithmetic;
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::decode::{self, Operation, Piece};
use fi_mlx5_defs::endian::{Be32, Be64};
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::{
    Atomic, CompactAddress, MaskedCompareSwap32, MaskedCompareSwap64, MaskedFetchAdd32,
    MaskedFetchAdd64, RemoteAddress, blocks, masked_modifier,
};

const ADDRESS: u64 = 0x1234_5678_9abc_def0;

/// Returns the one entry that was seen since the last time.
pub(crate) fn one() -> Taken {
    device(|device| {
        device.look();
        assert_eq!(device.log.len(), 1);
        device.log.pop().expect("one")
    })
}

/// Returns an entry as `build` makes it, of the operation that `taken` is, with its index and
/// flags.
pub(crate) fn built(rig: &Rig, taken: &Taken, opcode: Opcode, modifier: u8) -> Entry {
    let entry = Entry::new(opcode, taken.control.index(), taken.control.qpn())
        .modifier(modifier)
        .flags(taken.control.flags);
    let entry = if rig.shape.dynamic {
        entry.address(CompactAddress::dc(DC_KEY, 0x0003_2100, 0x17))
    } else {
        entry
    };
    entry.remote(ADDRESS, KEY)
}

/// The halves of the register alternate, and each gets the entry.
pub(crate) struct Register(pub(crate) usize);

impl Register {
    pub(crate) fn check(&mut self, taken: &Taken) {
        let copy = device(|device| device.half(self.0));
        assert!(taken.bytes.len() <= HALF);
        assert_eq!(copy[..taken.bytes.len()], taken.bytes);
        self.0 ^= 1;
    }
}

pub(crate) fn is_inline_write(rig: &Rig, taken: &Taken, bytes: &[u8]) {
    let expected = built(rig, taken, Opcode::Write, 0).inline(bytes);
    let expected = expected.finish().expect("it fits");
    assert_eq!(taken.bytes.len(), expected.len());
    // The bytes that fill up the last unit are of no account.
    let before = if rig.shape.dynamic { 48 } else { 32 };
    let end = before + size_of::<Be32>() + bytes.len();
    assert_eq!(taken.bytes[..end], expected[..end]);
    let request = decode::request(&taken.bytes, rig.shape.service(0)).expect("an entry");
    let there = RemoteAddress::new(ADDRESS, KEY);
    assert_eq!(request.operation, Operation::Write(there, None));
    assert_eq!(request.pieces.collect(), Ok(vec![Piece::Inline(bytes)]));
}

fn elements(shape: Shape) {
    let rig = Rig::new(shape);
    let mut register = Register(0);
    assert!(!rig.inject(1, 1_u32, ADDRESS), "nothing asked for room yet");
    rig.write(1, &[1]).expect("a post");
    let first = one();
    assert!(first.signalled());
    register.check(&first);
    let value: u128 = 0x1f1e_1d1c_1b1a_1918_1716_1514_1312_1110;
    let bytes = value.to_le_bytes();
    let mut check = |posted: bool, len: usize| {
        assert!(posted);
        let taken = one();
        assert!(!taken.signalled() && !taken.fenced());
        is_inline_write(&rig, &taken, &bytes[..len]);
        register.check(&taken);
    };
    check(rig.inject(1, value as u8, ADDRESS), 1);
    check(rig.inject(1, value as u16, ADDRESS), 2);
    check(rig.inject(1, value as u32, ADDRESS), 4);
    check(rig.inject(1, value as u64, ADDRESS), 8);
    let long = rig.inject(1, value, ADDRESS);
    if shape.dynamic {
        assert!(!long, "it takes more than a block");
    } else {
        check(long, 16);
        // Behind quiet the first one has a completion.
        rig.quiet().expect("quiet");
        device(|device| device.log.clear());
        if rig.inject(1, value as u64, ADDRESS) {
            let taken = one();
            assert!(taken.signalled());
            is_inline_write(&rig, &taken, &bytes[..8]);
        }
    }
}

#[test]
fn elements_over_connected_queues() {
    elements(Shape::RC);
}

#[test]
fn elements_over_a_dynamic_queue() {
    elements(Shape::DC);
}

#[test]
fn an_addition_in_line() {
    let rig = Rig::new(Shape::RC);
    rig.write(0, &[1]).expect("a post");
    let mut register = Register(1);
    one();
    assert!(rig.add(0, 0x0102_0304_0506_0708, ADDRESS));
    let taken = one();
    let expected = built(&rig, &taken, Opcode::FetchAdd, 0)
        .segment(&Atomic {
            swap_or_add: Be64::new(0x0102_0304_0506_0708),
            compare: Be64::new(0),
        })
        .data(DISCARD.0, 8, DISCARD.1);
    assert_eq!(taken.bytes, expected.finish().expect("it fits"));
    register.check(&taken);
    let dynamic = Rig::new(Shape::DC);
    dynamic.write(0, &[1]).expect("a post");
    assert!(!dynamic.add(0, 1, ADDRESS), "it takes more than a block");
}

#[test]
fn writes_of_any_length_that_fits() {
    let bytes: Vec<u8> = (0..=255).collect();
    for shape in [Shape::RC, Shape::DC] {
        let rig = Rig::new(shape);
        let mut register = Register(0);
        for len in 0..=rig.lane.max_inline() {
            let to = rig.to(0, ADDRESS);
            // SAFETY: there are as many bytes.
            unsafe { rig.lane.write_inline(to, bytes.as_ptr(), len) }.expect("a post");
            // A post that waits for room lets the device look.
            let taken = one();
            assert!(taken.signalled());
            is_inline_write(&rig, &taken, &bytes[..len]);
            register.check(&taken);
        }
    }
}

#[test]
fn writes_and_reads_of_local_memory() {
    for shape in [Shape::RC, Shape::DC] {
        let rig = Rig::new(shape);
        for opcode in [Opcode::Write, Opcode::Read] {
            let to = rig.to(0, ADDRESS);
            // SAFETY: no device touches the memory.
            let posted = unsafe {
                match opcode {
                    Opcode::Write => rig.lane.write(to, LOCAL),
                    _ => rig.lane.read(to, LOCAL),
                }
            };
            posted.expect("a post");
            let taken = one();
            let expected =
                built(&rig, &taken, opcode, 0).data(LOCAL.address, LOCAL.length, LOCAL.key);
            assert_eq!(taken.bytes, expected.finish().expect("it fits"));
        }
    }
}

#[test]
fn transfers_of_several_pieces_of_local_memory() {
    for shape in [Shape::RC, Shape::DC] {
        let rig = Rig::new(shape);
        for opcode in [Opcode::Write, Opcode::Read] {
            for count in [2, 3, 7, Lane::SEGMENTS] {
                let pieces = (0..count as u32).map(|piece| lane::Local {
                    address: LOCAL.address + 0x1000 * u64::from(piece),
                    length: 100 + piece,
                    key: LOCAL.key + piece,
                });
                let to = rig.to(0, ADDRESS);
                // SAFETY: no device touches the memory.
                let posted = unsafe {
                    match opcode {
                        Opcode::Write => rig.lane.write_gathered(to, pieces.clone()),
                        _ => rig.lane.read_scattered(to, pieces.clone()),
                    }
                };
                posted.expect("a post");
                let taken = one();
                let head = built(&rig, &taken, opcode, 0);
                let expected = pieces.fold(head, |entry, piece| {
                    entry.data(piece.address, piece.length, piece.key)
                });
                assert_eq!(taken.bytes, expected.finish().expect("it fits"));
            }
        }
    }
}

/// An atomic, the parts of its entry (opcode, modifier, operands), and its arithmetic.
type Case = (lane::Atomic, (Opcode, u8, Vec<u8>), Arithmetic);

fn atomics_of_8_bytes() -> [Case; 4] {
    let (a, b, c, d) = (0x0102_0304_0506_0708, 0x1112_1314_1516_1718, 0x21, 0x31_u64);
    let wide = |swap, compare| Atomic {
        swap_or_add: Be64::new(swap),
        compare: Be64::new(compare),
    };
    let add = |field_boundary| Arithmetic::FetchAdd {
        add: a,
        field_boundary,
    };
    let fields = MaskedFetchAdd64 {
        add: Be64::new(a),
        field_boundary: Be64::new(u64::MAX),
    };
    let swap = MaskedCompareSwap64 {
        swap: Be64::new(a),
        compare: Be64::new(b),
        swap_mask: Be64::new(c),
        compare_mask: Be64::new(d),
    };
    let masked = Arithmetic::CompareSwap {
        swap: a,
        compare: b,
        swap_mask: c,
        compare_mask: d,
    };
    let modifier = masked_modifier(8);
    [
        (
            lane::Atomic::add_8(a),
            (Opcode::FetchAdd, 0, bytes(&wide(a, 0))),
            add(0),
        ),
        (
            lane::Atomic::compare_swap_8(b, a),
            (Opcode::CompareSwap, 0, bytes(&wide(a, b))),
            Arithmetic::compare_swap(a, b),
        ),
        (
            lane::Atomic::xor_8(a),
            (Opcode::MaskedFetchAdd, modifier, bytes(&fields)),
            add(u64::MAX),
        ),
        (
            lane::Atomic::masked_swap_8(a, c, b, d),
            (Opcode::MaskedCompareSwap, modifier, bytes(&swap)),
            masked,
        ),
    ]
}

fn atomics_of_4_bytes() -> [Case; 3] {
    let (a, b, c, d) = (0x0102_0304_u32, 0x1112_1314_u32, 0x21, 0x31_u32);
    let add = |boundary: u32| Arithmetic::FetchAdd {
        add: a.into(),
        field_boundary: boundary.into(),
    };
    let operands = |boundary| MaskedFetchAdd32 {
        add: Be32::new(a),
        field_boundary: Be32::new(boundary),
        reserved: [0; 8],
    };
    let swap = MaskedCompareSwap32 {
        swap: Be32::new(a),
        compare: Be32::new(b),
        swap_mask: Be32::new(c),
        compare_mask: Be32::new(d),
    };
    let masked = Arithmetic::CompareSwap {
        swap: a.into(),
        compare: b.into(),
        swap_mask: c.into(),
        compare_mask: d.into(),
    };
    let entry = |opcode, operands| (opcode, masked_modifier(4), operands);
    [
        (
            lane::Atomic::add_4(a),
            entry(Opcode::MaskedFetchAdd, bytes(&operands(0))),
            add(0),
        ),
        (
            lane::Atomic::xor_4(a),
            entry(Opcode::MaskedFetchAdd, bytes(&operands(u32::MAX))),
            add(u32::MAX),
        ),
        (
            lane::Atomic::masked_swap_4(a, c, b, d),
            entry(Opcode::MaskedCompareSwap, bytes(&swap)),
            masked,
        ),
    ]
}

fn atomics(shape: Shape, cases: &[Case], size: usize) {
    let rig = Rig::new(shape);
    let mut register = Register(0);
    for (atomic, (opcode, modifier, operands), arithmetic) in cases {
        let to = rig.to(0, ADDRESS);
        // SAFETY: no device touches the memory.
        unsafe { rig.lane.atomic(to, atomic, LOCAL) }.expect("a post");
        let taken = one();
        let mut expected = built(&rig, &taken, *opcode, *modifier);
        for unit in operands.chunks_exact(16) {
            let unit: [u8; 16] = unit.try_into().expect("16 bytes");
            expected = expected.segment(&unit);
        }
        let expected = expected.data(LOCAL.address, LOCAL.length, LOCAL.key);
        assert_eq!(
            taken.bytes,
            expected.finish().expect("it fits"),
            "{atomic:?}"
        );
        register.check(&taken);
        let request = decode::request(&taken.bytes, shape.service(0)).expect("an entry");
        let there = RemoteAddress::new(ADDRESS, KEY);
        let operation = Operation::Atomic(there, *arithmetic, size);
        assert_eq!(request.operation, operation, "{atomic:?}");
    }
}

#[test]
fn atomics_are_what_they_say() {
    for shape in [Shape::RC, Shape::DC] {
        atomics(shape, &atomics_of_8_bytes(), 8);
        atomics(shape, &atomics_of_4_bytes(), 4);
    }
}

fn bytes(segment: &impl bytemuck::Pod) -> Vec<u8> {
    bytemuck::bytes_of(segment).to_vec()
}

#[test]
fn records_and_indices_wrap() {
    let rig = Rig::new(Shape::RC);
    let mut blocks_posted = 0_usize;
    let mut at = 0_u32;
    while blocks_posted < 3 << 16 {
        at += 1;
        if !rig.inject(0, at, ADDRESS) {
            rig.write(0, &[7; 100]).expect("a post");
        }
        let log = device(|device| {
            device.look();
            std::mem::take(&mut device.log)
        });
        // A wait inside the post may have shown it to the device.
        assert_eq!(log.len(), 1);
        blocks_posted += blocks(log[0].control.units());
        let producer = device(|device| device.producer(0));
        assert_eq!(producer as usize, blocks_posted & 0xffff);
    }
    rig.quiet().expect("quiet");
}

#[test]
fn without_blueflame_the_first_eight_bytes_ring() {
    let rig = Rig::new(Shape {
        register: 0,
        ..Shape::RC
    });
    for len in [1, 30, 150] {
        rig.write(1, &vec![9; len]).expect("a post");
        let taken = one();
        assert_eq!(device(|device| device.half(0))[..8], taken.bytes[..8]);
        assert_eq!(device(|device| device.half(1)), [0; HALF]);
        assert!(
            !rig.inject(1, 1_u8, ADDRESS),
            "the slow path alone rings so"
        );
    }
}
