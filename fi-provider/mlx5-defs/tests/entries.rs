//! Entries built and taken apart again, and any bytes taken apart.

use fi_mlx5_defs::atomic::Arithmetic;
use fi_mlx5_defs::build::{Entry, TooLong};
use fi_mlx5_defs::decode::{self, Malformed, Operation, Piece, Service};
use fi_mlx5_defs::endian::{Be32, Be64};
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::{
    Atomic, CompactAddress, Control, Data, EXTENDED_AV, GlobalRoute, MaskedCompareSwap32,
    MaskedCompareSwap64, MaskedFetchAdd32, MaskedFetchAdd64, RemoteAddress, blocks, flags,
    masked_modifier,
};
use proptest::prelude::*;

#[test]
fn an_inline_write_is_these_bytes() {
    let entry = Entry::new(Opcode::Write, 0x0102, 0x0a0b0c)
        .flags(flags::COMPLETION | flags::FENCE)
        .remote(0x1122_3344_5566_7788, 0x99aa_bbcc)
        .inline(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let bytes = entry.finish().unwrap();
    #[rustfmt::skip]
    let expected = [
        0, 1, 2, 8,  0x0a, 0x0b, 0x0c, 3,  0, 0, 0, 0x88,  0, 0, 0, 0,
        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,  0x99, 0xaa, 0xbb, 0xcc,  0, 0, 0, 0,
        0x80, 0, 0, 8,  1, 2, 3, 4, 5, 6, 7, 8,  0, 0, 0, 0,
    ];
    assert_eq!(bytes, expected);
    assert_eq!(entry.blocks(), 1);
}

#[test]
fn a_dc_put_of_four_bytes_is_one_block() {
    let entry = Entry::new(Opcode::Write, 0, 5)
        .address(CompactAddress::dc(0x77, 0x1234, 9))
        .remote(0, 0)
        .inline(&[0; 4]);
    assert_eq!(entry.blocks(), 1);
    let bytes = entry.finish().unwrap();
    assert_eq!(bytes.len(), 64);
    assert_eq!(
        bytes[16..32],
        [0, 0, 0, 0, 0, 0, 0, 0x77, 0, 0, 0x12, 0x34, 0, 0, 0, 9]
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let fits = Entry::new(Opcode::Send, 0, 1).inline(&[7; 62 * 16 - 4]);
    assert_eq!(fits.finish().unwrap().len(), 63 * 16);
    assert_eq!(fits.blocks(), 16);
    assert_eq!(fits.data(0, 1, 2).finish(), Err(TooLong));
    assert_eq!(
        Entry::new(Opcode::Send, 0, 1)
            .inline(&[7; 62 * 16])
            .finish(),
        Err(TooLong)
    );
}

#[test]
fn blocks_round_up() {
    assert_eq!([1, 4, 5, 8, 63].map(blocks), [1, 1, 2, 2, 16]);
}

#[test]
fn a_doorbell_is_the_first_eight_bytes() {
    let bytes = Entry::new(Opcode::Read, 7, 9)
        .remote(1, 2)
        .data(3, 4, 5)
        .finish()
        .unwrap();
    let control = decode::control(&bytes).unwrap();
    assert_eq!(control.doorbell(), bytes[..8]);
    assert_eq!((control.index(), control.qpn(), control.units()), (7, 9, 3));
    assert_eq!(control, Control::new(Opcode::Read, 0, 7, 9, 3, 0));
}

#[test]
fn an_extended_address_has_its_route_behind_it() {
    let mut address = CompactAddress::dc(1, 2, 3);
    address.destination = Be32::new(2 | EXTENDED_AV);
    let route = GlobalRoute {
        gid: [9; 16],
        ..GlobalRoute::default()
    };
    let bytes = Entry::new(Opcode::Send, 0, 1)
        .address(address)
        .route(route)
        .inline(b"abc")
        .finish()
        .unwrap();
    let request = decode::request(&bytes, Service::Addressed).unwrap();
    assert_eq!(
        (request.address, request.route),
        (Some(address), Some(route))
    );
    assert_eq!(request.address.unwrap().number(), 2);
    assert_eq!(request.pieces.collect().unwrap(), [Piece::Inline(b"abc")]);
}

#[test]
fn masked_atomics_of_both_sizes() {
    let entry = |opcode, size| {
        Entry::new(opcode, 0, 1)
            .modifier(masked_modifier(size))
            .remote(0x1000, 3)
    };
    let remote = RemoteAddress::new(0x1000, 3);
    let cas64 = MaskedCompareSwap64 {
        swap: Be64::new(1 << 40),
        compare: Be64::new(2 << 40),
        swap_mask: Be64::new(3 << 40),
        compare_mask: Be64::new(4 << 40),
    };
    let cas32 = MaskedCompareSwap32 {
        swap: Be32::new(1),
        compare: Be32::new(2),
        swap_mask: Be32::new(3),
        compare_mask: Be32::new(4),
    };
    let add64 = MaskedFetchAdd64 {
        add: Be64::new(5 << 40),
        field_boundary: Be64::new(6 << 40),
    };
    let add32 = MaskedFetchAdd32 {
        add: Be32::new(5),
        field_boundary: Be32::new(6),
        reserved: [0; 8],
    };
    let cas = |s: u32| Arithmetic::CompareSwap {
        swap: 1 << s,
        compare: 2 << s,
        swap_mask: 3 << s,
        compare_mask: 4 << s,
    };
    let add = |s: u32| Arithmetic::FetchAdd {
        add: 5 << s,
        field_boundary: 6 << s,
    };
    for (entry, arithmetic, size) in [
        (
            entry(Opcode::MaskedCompareSwap, 8).segment(&cas64),
            cas(40),
            8,
        ),
        (
            entry(Opcode::MaskedCompareSwap, 4).segment(&cas32),
            cas(0),
            4,
        ),
        (entry(Opcode::MaskedFetchAdd, 8).segment(&add64), add(40), 8),
        (entry(Opcode::MaskedFetchAdd, 4).segment(&add32), add(0), 4),
    ] {
        let bytes = entry.data(8, size as u32, 9).finish().unwrap();
        let request = decode::request(&bytes, Service::Connected).unwrap();
        assert_eq!(
            request.operation,
            Operation::Atomic(remote, arithmetic, size)
        );
        let local = Piece::Local {
            address: 8,
            length: size as u32,
            lkey: 9,
        };
        assert_eq!(request.pieces.collect().unwrap(), [local]);
    }
    let bytes = entry(Opcode::MaskedFetchAdd, 8)
        .modifier(7)
        .segment(&add64)
        .finish()
        .unwrap();
    assert_eq!(
        decode::request(&bytes, Service::Connected).unwrap_err(),
        Malformed::Modifier(7)
    );
}

#[test]
fn lists_end_where_they_say() {
    let mut bytes = Vec::new();
    for segment in [Data::new(0x10, 4, 7), Data::end(), Data::new(0x20, 4, 7)] {
        bytes.extend_from_slice(bytemuck::bytes_of(&segment));
    }
    let pieces = decode::Pieces::of_receive(&bytes).collect().unwrap();
    assert_eq!(
        pieces,
        [Piece::Local {
            address: 0x10,
            length: 4,
            lkey: 7
        }]
    );
    assert_eq!(
        decode::Pieces::of_receive(&bytes[..20]).collect(),
        Err(Malformed::Short)
    );
}

#[derive(Clone, Debug)]
enum Part {
    Inline(Vec<u8>),
    Local(u64, u32, u32),
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..120).prop_map(Part::Inline),
        (any::<u64>(), 1..1_u32 << 31, any::<u32>()).prop_map(|(a, l, k)| Part::Local(a, l, k)),
    ]
}

proptest! {
    #[test]
    fn there_and_back(
        kind in 0..6_usize, index: u16, qpn in 0..1_u32 << 24, fl: u8, immediate: u32,
        address: u64, rkey: u32, operands: (u64, u64), parts in prop::collection::vec(part(), 0..5),
    ) {
        let remote = RemoteAddress::new(address, rkey);
        let (opcode, operation) = [
            (Opcode::Send, Operation::Send(None)),
            (Opcode::SendImmediate, Operation::Send(Some(immediate))),
            (Opcode::WriteImmediate, Operation::Write(remote, Some(immediate))),
            (Opcode::Read, Operation::Read(remote)),
            (Opcode::CompareSwap, Operation::Atomic(remote, Arithmetic::compare_swap(operands.0, operands.1), 8)),
            (Opcode::FetchAdd, Operation::Atomic(remote, Arithmetic::fetch_add(operands.0), 8)),
        ][kind];
        let mut entry = Entry::new(opcode, index, qpn).flags(fl).immediate(immediate);
        if kind >= 2 {
            entry = entry.remote(address, rkey);
        }
        if kind >= 4 {
            entry = entry.segment(&Atomic { swap_or_add: operands.0.into(), compare: operands.1.into() });
        }
        for part in &parts {
            entry = match part {
                Part::Inline(bytes) => entry.inline(bytes),
                Part::Local(address, length, lkey) => entry.data(*address, *length, *lkey),
            };
        }
        let bytes = entry.finish().unwrap();
        prop_assert_eq!(bytes.len().div_ceil(64), entry.blocks());
        let request = decode::request(&bytes, Service::Connected).unwrap();
        prop_assert_eq!(request.operation, operation);
        let control = request.control;
        prop_assert_eq!((control.index(), control.qpn(), control.flags), (index, qpn, fl));
        let pieces = request.pieces.collect().unwrap();
        prop_assert_eq!(pieces.len(), parts.len());
        for (piece, part) in pieces.iter().zip(&parts) {
            match part {
                Part::Inline(bytes) => prop_assert_eq!(*piece, Piece::Inline(bytes)),
                Part::Local(address, length, lkey) => prop_assert_eq!(
                    *piece,
                    Piece::Local { address: *address, length: *length, lkey: *lkey }
                ),
            }
        }
    }

    #[test]
    fn any_bytes_are_an_entry_or_an_error(mut bytes in prop::collection::vec(any::<u8>(), 0..1100), op in 0..12_usize) {
        if bytes.len() > 3 {
            bytes[3] = Opcode::ALL[op].number();
        }
        for service in [Service::Connected, Service::Addressed] {
            if let Ok(pieces) = decode::request(&bytes, service).and_then(|request| request.pieces.collect()) {
                prop_assert!(pieces.len() <= 63);
            }
        }
    }
}
