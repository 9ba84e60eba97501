//! Doorbell registers over the system's libmlx5: the registers that the library uses, and those
//! that the device tells of, are the same, and as on hardware.
//!
//! It needs a C compiler and Debian's packages `libibverbs-dev` and `ibverbs-providers`.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use support::{Under, program, softhca};

const TOTAL: &str = "MLX5_TOTAL_UUARS";
const LOW_LATENCY: &str = "MLX5_NUM_LOW_LAT_UUARS";

/// Registers, pages, and the largest number of queue pairs on one register.
type Figures = (usize, usize, usize);

/// Variables of the program.
type Environment<'a> = &'a [(&'a str, &'a str)];

/// Queue pairs by the page and register that they ring on.
type Registers = BTreeMap<(u64, u64), BTreeSet<u32>>;

/// One group of queue pairs, as both sides see it.
#[derive(Default)]
struct Group {
    name: String,
    library: Registers,
    device: Registers,
    /// Kinds of the device's registers.
    kinds: BTreeSet<String>,
    /// The device's sums: the words behind `context=`.
    sums: BTreeMap<String, String>,
}

impl Group {
    fn sum(&self, key: &str) -> &str {
        self.sums.get(key).expect("a sum of this name")
    }

    fn number(&self, key: &str) -> usize {
        self.sum(key).parse().expect("a number")
    }

    /// Returns the figures, which both sides must agree on, register by register.
    fn figures(&self) -> Figures {
        let sets = |registers: &Registers| registers.values().cloned().collect::<BTreeSet<_>>();
        assert_eq!(sets(&self.library), sets(&self.device), "{}", self.name);
        let library = figures(&self.library);
        assert_eq!(library, figures(&self.device), "{}", self.name);
        let sums = ["registers", "used_pages", "largest_sharing"].map(|key| self.number(key));
        assert_eq!(library, (sums[0], sums[1], sums[2]), "{}", self.name);
        assert_eq!(self.number("unseen"), 0, "{}", self.name);
        library
    }
}

fn figures(registers: &Registers) -> Figures {
    let pages: BTreeSet<u64> = registers.keys().map(|(page, _)| *page).collect();
    let largest = registers.values().map(BTreeSet::len).max();
    (registers.len(), pages.len(), largest.unwrap_or(0))
}

/// Returns the `key=value` words of a line.
fn words(line: &str) -> BTreeMap<String, String> {
    let words = line.split(' ').filter_map(|word| word.split_once('='));
    words
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

fn parse(printed: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for line in printed.lines() {
        if let Some(name) = line.strip_prefix("group ") {
            groups.push(Group {
                name: name.to_owned(),
                ..Group::default()
            });
            continue;
        }
        let group = groups.last_mut().expect("a group comes first");
        let words = words(line);
        let word = |key: &str| words.get(key).expect(line);
        if let Some(pair) = line.strip_prefix("pair ") {
            let (number, address) = pair.split_once(' ').expect(line);
            let address: u64 = address.parse().expect(line);
            let at = (address / 4096, address % 4096);
            let pairs = group.library.entry(at).or_default();
            pairs.insert(number.parse().expect(line));
        } else if line.starts_with("register ") {
            let at = ["page", "index"].map(|key| word(key).parse().expect(line));
            let pairs = word("queue_pairs").split(',');
            let pairs = pairs.map(|number| number.parse().expect(line)).collect();
            let twice = group.device.insert((at[0], at[1]), pairs);
            assert!(twice.is_none(), "{line}");
            group.kinds.insert(word("kind").clone());
        } else {
            assert!(line.starts_with("context="), "{line}");
            assert!(group.sums.is_empty(), "one context: {printed}");
            group.sums = words;
        }
    }
    groups
}

/// Makes so many plain queue pairs, then so many with a thread domain each.
fn accounts(under: Under<'_>, plain: usize, domains: usize) -> [Group; 2] {
    let program = program("accounts", &["mlx5", "ibverbs"]);
    let softhca = softhca().to_str().expect("a plain path");
    let counts = [plain.to_string(), domains.to_string()];
    let printed = under.succeed(&[&program, softhca, &counts[0], &counts[1]]);
    let groups: Result<[Group; 2], _> = parse(&printed).try_into();
    groups.unwrap_or_else(|_| panic!("two groups:\n{printed}"))
}

fn kinds(group: &Group) -> Vec<&str> {
    group.kinds.iter().map(String::as_str).collect()
}

#[test]
fn plain_queue_pairs_and_thread_domains_where_the_library_manages_the_pages() {
    let cases: [(Environment<'_>, Figures); 4] = [
        (&[], (16, 8, 3)),
        (&[(TOTAL, "16"), (LOW_LATENCY, "15")], (18, 9, 12)),
        (&[(TOTAL, "32"), (LOW_LATENCY, "8")], (32, 16, 2)),
        // Without BlueFlame all plain ones share the non-cached page.
        (&[("MLX5_SHUT_UP_BF", "1")], (1, 1, 40)),
    ];
    for (environment, expected) in cases {
        let under = Under {
            environment,
            ..Under::default()
        };
        let [plain, domains] = accounts(under, 40, 20);
        assert_eq!(plain.figures(), expected, "{environment:?}");
        assert_eq!(domains.figures(), (20, 10, 1), "{environment:?}");
        assert_eq!(plain.sum("regime"), "library");
        assert_eq!(kinds(&domains), ["blueflame"], "{environment:?}");
        if expected.0 == 1 {
            assert_eq!(kinds(&plain), ["noncached"]);
        }
    }
}

#[test]
fn plain_queue_pairs_and_thread_domains_where_the_kernel_assigns_registers() {
    let cases: [(Environment<'_>, Figures, &str); 3] = [
        (&[], (15, 8, 4), "16/4"),
        (&[(TOTAL, "16"), (LOW_LATENCY, "15")], (16, 8, 25), "16/15"),
        // The library asks for no more than 12 of medium class.
        (&[(TOTAL, "32"), (LOW_LATENCY, "8")], (31, 16, 2), "32/20"),
    ];
    for (environment, expected, counts) in cases {
        let under = Under {
            options: &["--legacy-uars"],
            environment,
        };
        let [plain, domains] = accounts(under, 40, 20);
        assert_eq!(plain.figures(), expected, "{counts}");
        assert_eq!(domains.figures(), (20, 10, 1), "{counts}");
        assert_eq!(plain.sum("regime"), format!("legacy:{counts}"));
        assert_eq!(kinds(&plain), ["assigned"]);
        assert_eq!(kinds(&domains), ["mapped"]);
    }
}

#[test]
fn a_thousand_thread_domains_have_a_thousand_registers() {
    let [plain, domains] = accounts(Under::default(), 1, 1000);
    assert_eq!(plain.figures(), (1, 1, 1));
    assert_eq!(domains.figures(), (1000, 500, 1));
}

#[test]
fn outside_of_a_run_there_is_nothing_to_account_for() {
    let output = std::process::Command::new(softhca())
        .arg("account")
        .env_remove("FARREACH_SOFTHCA")
        .output()
        .expect("softhca starts");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("under `softhca run`"), "{said}");
    let printed = Under::default().succeed(&[softhca().to_str().expect("a plain path"), "account"]);
    assert_eq!(printed, "");
}
