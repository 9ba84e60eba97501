//! A program over the system's libibverbs and libmlx5, under `softhca run`: every operation's data
//! arrive, and the entries that the library wrote into its rings are, byte for byte, those that
//! fi-mlx5 makes of the same operation.
//!
//! It needs a C compiler and Debian's packages `libibverbs-dev` and `ibverbs-providers`.

mod support;

use fi_mlx5_defs::atomic::Arithmetic;
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::decode::{Operation, Service, request};
use fi_mlx5_defs::endian::{Be32, Be64};
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::{
    Atomic, CompactAddress, EXTENDED_AV, GlobalRoute, MaskedCompareSwap32, MaskedCompareSwap64,
    MaskedFetchAdd32, MaskedFetchAdd64, RemoteAddress, flags, masked_modifier,
};
use std::collections::BTreeMap;
use std::ops::Range;
use support::{Under, program};

const DC_KEY: u64 = 0x1122_3344_5566_7788;

/// Times that each operation of the connected queue pairs is done.
const ROUNDS: usize = 40;

/// An entry that the program printed, and its operation.
struct Printed<'a> {
    name: &'a str,
    qpn: u32,
    index: u16,
    remote: u64,
    rkey: u32,
    local: u64,
    lkey: u32,
    dctn: u32,
    bytes: Vec<u8>,
}

impl<'a> Printed<'a> {
    fn parse(line: &'a str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        let &[name, qpn, index, remote, rkey, local, lkey, dctn, hex] = &words[..] else {
            panic!("{line}");
        };
        let byte = |n: usize| u8::from_str_radix(&hex[n..n + 2], 16).expect("hexadecimal digits");
        Self {
            name,
            qpn: qpn.parse().expect("a number"),
            index: index.parse().expect("a number"),
            remote: remote.parse().expect("a number"),
            rkey: rkey.parse().expect("a number"),
            local: local.parse().expect("a number"),
            lkey: lkey.parse().expect("a number"),
            dctn: dctn.parse().expect("a number"),
            bytes: (0..hex.len()).step_by(2).map(byte).collect(),
        }
    }

    fn entry(&self, opcode: Opcode) -> Entry {
        Entry::new(opcode, self.index, self.qpn).flags(flags::COMPLETION)
    }

    fn write(&self, opcode: Opcode, at: u64) -> Entry {
        self.entry(opcode).remote(self.remote + at, self.rkey)
    }

    fn masked(&self, opcode: Opcode, size: usize) -> Entry {
        self.write(opcode, 0).modifier(masked_modifier(size))
    }

    /// Makes an entry with the address as libmlx5 writes it: the long form, of which InfiniBand
    /// needs the first part only.
    fn dynamic(&self, opcode: Opcode) -> Entry {
        let mut address = CompactAddress::dc(DC_KEY, self.dctn, 1);
        address.destination = Be32::new(self.dctn | EXTENDED_AV);
        self.entry(opcode)
            .address(address)
            .route(GlobalRoute::default())
    }

    /// Returns the bytes that the library leaves as an earlier entry had them, since the device
    /// does not look at them: the immediate data of an entry that has none, the second operand of
    /// an addition, and the padding of inline data.
    fn not_written(&self) -> [Range<usize>; 2] {
        let immediate = match self.name {
            "send_immediate" | "write_immediate" => 0..0,
            _ => 12..16,
        };
        let tail = match self.name {
            "fetch_add" => 40..48,
            "dc_fetch_add" => 88..96,
            "write_inline" => 44..48,
            "send_immediate" => 28..32,
            "dc_write_inline" => 92..96,
            "dc_send" => 75..80,
            _ => 0..0,
        };
        [immediate, tail]
    }

    /// Returns the entry as fi-mlx5 builds it, and the operation that it is.
    fn expected(&self) -> (Entry, Operation) {
        let far = |at| RemoteAddress::new(self.remote + at, self.rkey);
        let add = |add: u64| Atomic {
            swap_or_add: Be64::new(add),
            compare: Be64::new(0),
        };
        let atomic = |arithmetic, size| Operation::Atomic(far(0), arithmetic, size);
        match self.name {
            "write_inline" => (
                self.write(Opcode::Write, 0).inline(b"inlined!"),
                Operation::Write(far(0), None),
            ),
            "write_gather_fence" => {
                let entry = self
                    .write(Opcode::Write, 64)
                    .flags(flags::COMPLETION | flags::FENCE);
                let entry =
                    entry
                        .data(self.local, 3, self.lkey)
                        .data(self.local + 100, 4, self.lkey);
                (entry, Operation::Write(far(64), None))
            }
            "read" => {
                let entry = self
                    .write(Opcode::Read, 200)
                    .data(self.local + 8, 8, self.lkey);
                (entry, Operation::Read(far(200)))
            }
            "fetch_add" => {
                let entry = self.write(Opcode::FetchAdd, 0).segment(&add(2));
                (
                    entry.data(self.local, 8, self.lkey),
                    atomic(Arithmetic::fetch_add(2), 8),
                )
            }
            "compare_swap" => {
                let operands = Atomic {
                    swap_or_add: Be64::new(7),
                    compare: Be64::new(42),
                };
                let entry = self.write(Opcode::CompareSwap, 0).segment(&operands);
                (
                    entry.data(self.local, 8, self.lkey),
                    atomic(Arithmetic::compare_swap(7, 42), 8),
                )
            }
            "send_immediate" => {
                let entry = self
                    .entry(Opcode::SendImmediate)
                    .immediate(0xabcd)
                    .inline(b"message\0");
                (entry, Operation::Send(Some(0xabcd)))
            }
            "write_immediate" => {
                let entry = self.write(Opcode::WriteImmediate, 640).immediate(5);
                (
                    entry.data(self.local, 8, self.lkey),
                    Operation::Write(far(640), Some(5)),
                )
            }
            name if name.starts_with("dc_") => self.expected_dynamic(),
            _ => self.expected_masked(),
        }
    }

    fn expected_dynamic(&self) -> (Entry, Operation) {
        let remote = RemoteAddress::new(self.remote, self.rkey);
        match self.name {
            "dc_write_inline" => {
                let entry = self
                    .dynamic(Opcode::Write)
                    .remote(self.remote, self.rkey)
                    .inline(b"DC, far!");
                (entry, Operation::Write(remote, None))
            }
            "dc_fetch_add" => {
                let operands = Atomic {
                    swap_or_add: Be64::new(2),
                    compare: Be64::new(0),
                };
                let entry = self
                    .dynamic(Opcode::FetchAdd)
                    .remote(self.remote, self.rkey)
                    .segment(&operands);
                (
                    entry.data(self.local, 8, self.lkey),
                    Operation::Atomic(remote, Arithmetic::fetch_add(2), 8),
                )
            }
            "dc_send" => (
                self.dynamic(Opcode::Send).inline(b"to DCT\0"),
                Operation::Send(None),
            ),
            name => panic!("{name} is not known"),
        }
    }

    fn expected_masked(&self) -> (Entry, Operation) {
        let (entry, arithmetic, size) = match self.name {
            "masked_or_8" => {
                let (swap, swap_mask) = (Be64::new(0xff00), Be64::new(0xff00));
                let operands = MaskedCompareSwap64 {
                    swap,
                    swap_mask,
                    ..MaskedCompareSwap64::default()
                };
                (
                    self.masked(Opcode::MaskedCompareSwap, 8).segment(&operands),
                    swap_bits(0xff00, 0xff00),
                    8,
                )
            }
            "masked_and_4" => {
                let swap_mask = Be32::new(!0x3000);
                let operands = MaskedCompareSwap32 {
                    swap_mask,
                    ..MaskedCompareSwap32::default()
                };
                let arithmetic = swap_bits(0, u64::from(!0x3000_u32));
                (
                    self.masked(Opcode::MaskedCompareSwap, 4).segment(&operands),
                    arithmetic,
                    4,
                )
            }
            "masked_xor_8" => {
                let (add, field_boundary) = (0xf0f, u64::MAX);
                let operands = MaskedFetchAdd64 {
                    add: add.into(),
                    field_boundary: field_boundary.into(),
                };
                let arithmetic = Arithmetic::FetchAdd {
                    add,
                    field_boundary,
                };
                (
                    self.masked(Opcode::MaskedFetchAdd, 8).segment(&operands),
                    arithmetic,
                    8,
                )
            }
            "masked_add_4" => {
                let operands = MaskedFetchAdd32 {
                    add: Be32::new(u32::MAX),
                    ..MaskedFetchAdd32::default()
                };
                let arithmetic = Arithmetic::FetchAdd {
                    add: u32::MAX.into(),
                    field_boundary: 0,
                };
                (
                    self.masked(Opcode::MaskedFetchAdd, 4).segment(&operands),
                    arithmetic,
                    4,
                )
            }
            name => panic!("{name} is not known"),
        };
        let remote = RemoteAddress::new(self.remote, self.rkey);
        let entry = entry.data(self.local, size as u32, self.lkey);
        (entry, Operation::Atomic(remote, arithmetic, size))
    }
}

fn swap_bits(swap: u64, swap_mask: u64) -> Arithmetic {
    Arithmetic::CompareSwap {
        swap,
        compare: 0,
        swap_mask,
        compare_mask: 0,
    }
}

#[test]
fn the_library_and_fi_mlx5_write_the_same_bytes() {
    let operations = program("operations", &["mlx5", "ibverbs"]);
    let printed = Under::default().succeed(&[&operations]);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for line in printed.lines() {
        let printed = Printed::parse(line);
        let (entry, operation) = printed.expected();
        let mut expected = entry.finish().expect("it fits");
        for left in printed.not_written() {
            expected[left.clone()].copy_from_slice(&printed.bytes[left]);
        }
        assert_eq!(expected, printed.bytes, "{}", printed.name);
        let service = if printed.name.starts_with("dc_") {
            Service::Addressed
        } else {
            Service::Connected
        };
        let decoded = request(&printed.bytes, service).expect("an entry");
        assert_eq!(decoded.operation, operation, "{}", printed.name);
        *seen.entry(printed.name).or_default() += 1;
    }
    assert_eq!(seen.len(), 14);
    for (name, times) in seen {
        assert_eq!(
            times,
            if name.starts_with("dc_") { 1 } else { ROUNDS },
            "{name}"
        );
    }
}
