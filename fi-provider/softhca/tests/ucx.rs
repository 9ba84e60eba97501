//! UCX, unmodified, over the device: its benchmarks of single operations, and its atomics, whose
//! data are verified and whose entries are, byte for byte, those that fi-mlx5 makes of the same
//! operation.
//!
//! It needs a C compiler and Debian's packages `ucx-utils`, `libucx-dev`, `libibverbs-dev` and `ibverbs-providers`.

mod support;

use fi_mlx5_defs::atomic::Arithmetic;
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::decode::{Operation, Service, request};
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::{
    Atomic, CompactAddress, MaskedCompareSwap32, MaskedCompareSwap64, MaskedFetchAdd32,
    MaskedFetchAdd64, RemoteAddress, flags, masked_modifier,
};
use std::collections::BTreeMap;
use std::ops::Range;
use support::{Under, free_port, need, program, text};

const TRANSPORTS: [&str; 2] = ["rc_mlx5", "dc_mlx5"];

/// Times that each operation is done in `c/ucx_atomics.c`.
const ROUNDS: usize = 60;

/// The key that UCX gives to all its targets.
const UCX_KEY: u64 = 0x1ee7_a330;

/// Returns server and client of `ucx_perftest`, the client with the test's options.
fn commands(transport: &str, test: &str) -> [String; 2] {
    need("ucx_perftest");
    let port = free_port();
    [
        format!("ucx_perftest -p {port} 2>&1"),
        format!(
            "ucx_perftest localhost -p {port} -d mlx5_0:1 -x {transport} -n 200 -w 10 -t {test}"
        ),
    ]
}

/// Runs tests that must succeed.
fn measure(under: Under<'_>, tests: &[&str]) {
    for transport in TRANSPORTS {
        for test in tests {
            let [server, client] = commands(transport, test);
            let printed = under.server_and_client(&server, &client);
            let last = printed.lines().find(|line| line.starts_with("Final:"));
            let counted = last.and_then(|line| line.split_whitespace().nth(1));
            assert_eq!(counted, Some("200"), "{transport} {test}: {printed}");
        }
    }
}

/// Checks that without masked atomics there is no swap, and that UCX says so.
fn no_swap(under: Under<'_>) {
    for transport in TRANSPORTS {
        let [server, client] = commands(transport, "swap");
        let script = format!("{server} & sleep 0.5; {client} 2>&1; kill $!; wait");
        let said = text(&under.run(&["sh", "-c", &script]));
        assert!(said.contains("does not support required"), "{said}");
    }
}

#[test]
fn perftest_puts_and_gets() {
    let tests = [
        "put_lat",
        "put_bw",
        "put_bw -D zcopy -s 100000",
        "get -D bcopy",
        "get -D zcopy -s 100000",
    ];
    measure(Under::default(), &tests);
}

#[test]
fn perftest_atomics() {
    let tests = ["add_mr", "fadd", "cswap", "swap", "fadd -s 4", "swap -s 4"];
    measure(Under::default(), &tests);
}

#[test]
fn perftest_without_masked_atomics() {
    let plain = Under {
        options: &["--no-masked-atomics"],
        ..Under::default()
    };
    measure(plain, &["add_mr", "cswap"]);
    no_swap(plain);
}

#[test]
fn perftest_without_devx() {
    for under in [
        Under {
            options: &["--no-devx"],
            ..Under::default()
        },
        Under {
            environment: &[("UCX_IB_MLX5_DEVX", "n")],
            ..Under::default()
        },
    ] {
        measure(under, &["put_lat", "add_mr"]);
        no_swap(under);
    }
}

/// An entry that UCX wrote, and the operation that it was asked for.
struct Written<'a> {
    name: &'a str,
    size: usize,
    value: u64,
    compare: u64,
    qpn: u32,
    index: u16,
    remote: u64,
    rkey: u32,
    bytes: Vec<u8>,
}

impl<'a> Written<'a> {
    fn parse(line: &'a str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        let &[name, size, value, compare, qpn, index, remote, rkey, hex] = &words[..] else {
            panic!("{line}");
        };
        let byte = |n: usize| u8::from_str_radix(&hex[n..n + 2], 16).expect("hexadecimal digits");
        Self {
            name,
            size: size.parse().expect("a number"),
            value: value.parse().expect("a number"),
            compare: compare.parse().expect("a number"),
            qpn: qpn.parse().expect("a number"),
            index: index.parse().expect("a number"),
            remote: remote.parse().expect("a number"),
            rkey: rkey.parse().expect("a number"),
            bytes: (0..hex.len()).step_by(2).map(byte).collect(),
        }
    }

    /// Returns the four bytes at `at` behind the start, or before the end.
    fn word(&self, at: isize) -> u32 {
        let start = if at < 0 {
            self.bytes.len() - at.unsigned_abs()
        } else {
            at.unsigned_abs()
        };
        u32::from_be_bytes(self.bytes[start..start + 4].try_into().expect("4 bytes"))
    }

    /// Returns the arithmetic of the operation, without its name.
    fn arithmetic(&self) -> Arithmetic {
        let (value, all) = (self.value, u64::MAX >> (64 - 8 * self.size));
        let swap = |swap_mask, compare, compare_mask| Arithmetic::CompareSwap {
            swap: value,
            compare,
            swap_mask,
            compare_mask,
        };
        let add = |field_boundary| Arithmetic::FetchAdd {
            add: value,
            field_boundary,
        };
        match self.name.trim_start_matches("fetch_") {
            "add" => add(0),
            // All fields of one bit: no carry leaves any.
            "xor" => add(all),
            "or" => swap(value, 0, 0),
            "and" => swap(!value & all, 0, 0),
            "swap" => swap(all, 0, 0),
            "compare_swap" => swap(all, self.compare, all),
            name => panic!("{name} is not known"),
        }
    }

    /// Returns the entry as fi-mlx5 builds it. UCX alone knows the address of the result, and the
    /// number of its own target.
    fn expected(&self, transport: &str) -> Entry {
        let arithmetic = self.arithmetic();
        let plain =
            self.size == 8 && matches!(self.opcode(), Opcode::FetchAdd | Opcode::CompareSwap);
        let mut entry = Entry::new(self.opcode(), self.index, self.qpn).flags(flags::COMPLETION);
        if !plain {
            entry = entry.modifier(masked_modifier(self.size));
        }
        if transport == "dc_mlx5" {
            let target = self.word(24);
            entry = entry.address(CompactAddress::dc(UCX_KEY, target, 1));
        }
        entry = entry.remote(self.remote, self.rkey);
        entry = operands(entry, arithmetic, self.size, plain);
        let result = u64::from(self.word(-8)) << 32 | u64::from(self.word(-4));
        entry.data(result, self.size as u32, self.word(-12))
    }

    fn opcode(&self) -> Opcode {
        match (self.name.trim_start_matches("fetch_"), self.size) {
            ("add", 8) => Opcode::FetchAdd,
            ("compare_swap", 8) => Opcode::CompareSwap,
            ("add" | "xor", _) => Opcode::MaskedFetchAdd,
            _ => Opcode::MaskedCompareSwap,
        }
    }

    /// Returns the bytes that UCX leaves as an earlier entry had them, since the device does not
    /// look at them: those behind the added number (and the boundary of 4 bytes).
    fn not_written(&self) -> Range<usize> {
        // The operands end where the result's segment starts.
        let end = self.bytes.len() - 16;
        match (self.opcode(), self.size) {
            (Opcode::FetchAdd, _) | (Opcode::MaskedFetchAdd, 4) => end - 8..end,
            _ => end..end,
        }
    }

    /// Returns the value that it leaves in place of `old`, by the meaning of its name.
    fn meaning(&self, old: u64) -> u64 {
        let (value, all) = (self.value, u64::MAX >> (64 - 8 * self.size));
        let new = match self.name.trim_start_matches("fetch_") {
            "add" => old.wrapping_add(value),
            "xor" => old ^ value,
            "or" => old | value,
            "and" => old & value,
            "swap" => value,
            _ if old == self.compare => value,
            _ => old,
        };
        new & all
    }
}

/// Appends the operands of an atomic.
fn operands(entry: Entry, arithmetic: Arithmetic, size: usize, plain: bool) -> Entry {
    let half = |value: u64| (value as u32).into();
    match arithmetic {
        Arithmetic::FetchAdd { add, .. } if plain => entry.segment(&Atomic {
            swap_or_add: add.into(),
            compare: 0.into(),
        }),
        Arithmetic::CompareSwap { swap, compare, .. } if plain => entry.segment(&Atomic {
            swap_or_add: swap.into(),
            compare: compare.into(),
        }),
        Arithmetic::FetchAdd {
            add,
            field_boundary,
        } if size == 4 => entry.segment(&MaskedFetchAdd32 {
            add: half(add),
            field_boundary: half(field_boundary),
            reserved: [0; 8],
        }),
        Arithmetic::FetchAdd {
            add,
            field_boundary,
        } => entry.segment(&MaskedFetchAdd64 {
            add: add.into(),
            field_boundary: field_boundary.into(),
        }),
        Arithmetic::CompareSwap {
            swap,
            compare,
            swap_mask,
            compare_mask,
        } if size == 4 => entry.segment(&MaskedCompareSwap32 {
            swap: half(swap),
            compare: half(compare),
            swap_mask: half(swap_mask),
            compare_mask: half(compare_mask),
        }),
        Arithmetic::CompareSwap {
            swap,
            compare,
            swap_mask,
            compare_mask,
        } => entry.segment(&MaskedCompareSwap64 {
            swap: swap.into(),
            compare: compare.into(),
            swap_mask: swap_mask.into(),
            compare_mask: compare_mask.into(),
        }),
    }
}

#[test]
fn ucx_and_fi_mlx5_write_the_same_atomics() {
    let program = program("ucx_atomics", &["uct", "ucs"]);
    for transport in TRANSPORTS {
        let printed = Under::default().succeed(&[&program, transport]);
        let mut seen: BTreeMap<(&str, usize), usize> = BTreeMap::new();
        for line in printed.lines() {
            let written = Written::parse(line);
            let mut expected = written.expected(transport).finish().expect("it fits");
            let left = written.not_written();
            expected[left.clone()].copy_from_slice(&written.bytes[left]);
            assert_eq!(expected, written.bytes, "{transport}: {line}");
            let service = match transport {
                "dc_mlx5" => Service::Addressed,
                _ => Service::Connected,
            };
            let decoded = request(&written.bytes, service).expect("an entry");
            let remote = RemoteAddress::new(written.remote, written.rkey);
            let arithmetic = written.arithmetic();
            let operation = Operation::Atomic(remote, arithmetic, written.size);
            assert_eq!(decoded.operation, operation, "{transport}: {line}");
            for old in [0, u64::MAX, written.compare, 0x0123_4567_89ab_cdef] {
                let all = u64::MAX >> (64 - 8 * written.size);
                let (old, new) = (old & all, arithmetic.apply(old & all) & all);
                assert_eq!(new, written.meaning(old), "{line}");
            }
            *seen.entry((written.name, written.size)).or_default() += 1;
        }
        // Four that fetch nothing and six that fetch, of two sizes.
        assert_eq!(seen.len(), 20, "{transport}");
        assert!(seen.values().all(|&times| times == ROUNDS), "{seen:?}");
    }
}
