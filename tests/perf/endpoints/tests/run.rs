//! The benchmarks over the software device: their endpoints take the resources of the paper, their
//! results are right, and their drawings are figures. Debian's package `ibverbs-providers` has to
//! be there.

mod common;

use common::{Directory, endpoints, finish, program, under_softhca};
use fi_mlx5::policy::POLICIES;
use std::collections::HashMap;
use std::net::TcpListener;

/// A row of results.
struct Row(HashMap<String, String>);

impl Row {
    fn text(&self, name: &str) -> &str {
        &self.0[name]
    }

    fn number(&self, name: &str) -> u64 {
        self.text(name)
            .parse()
            .unwrap_or_else(|_| panic!("{name} is {}", self.text(name)))
    }

    /// Returns queue pairs, completion queues, doorbell pages and registers.
    fn counts(&self) -> [u64; 4] {
        ["qps", "cqs", "uars", "uuars"].map(|name| self.number(name))
    }
}

/// Returns the rows of a file of results.
fn rows(directory: &Directory, name: &str) -> Vec<Row> {
    let text = directory.read(name);
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned));
    let names: Vec<String> = lines.next().expect("a line of names").collect();
    lines
        .map(|line| Row(names.iter().cloned().zip(line).collect()))
        .collect()
}

/// Returns a policy's usage for so many threads as section VI of the paper has it: contexts, queue
/// pairs, completion queues, pages. `None` for policies that the paper does not have.
fn of_paper(policy: &str, threads: u64) -> Option<[u64; 4]> {
    let counts = match policy {
        "mpi-everywhere" => [threads, threads, threads, 8 * threads],
        "2x-dynamic" => [1, 2 * threads, 2 * threads, 8 + 2 * threads],
        "dynamic" => [1, threads, threads, 8 + threads],
        "shared-dynamic" => [1, threads, threads, 8 + threads.div_ceil(2)],
        "static" => [1, threads, threads, 8],
        "mpi+threads" => [1, 1, 1, 8],
        _ => return None,
    };
    Some(counts)
}

/// Number of policies.
const COUNT: usize = POLICIES.len();

#[test]
fn accounts_are_those_of_the_paper_for_one_to_sixteen_threads() {
    let directory = Directory::new("account");
    let out = directory.path().to_str().expect("a path");
    endpoints(&["--legacy-uars"], &["account", "--out", out]);
    let rows = rows(&directory, "account.tsv");
    assert_eq!(rows.len(), COUNT * 16);
    for row in &rows {
        let (policy, threads) = (row.text("endpoints"), row.number("threads"));
        let Some([contexts, pairs, completions, pages]) = of_paper(policy, threads) else {
            continue;
        };
        let found = row.counts();
        assert_eq!(
            found,
            [pairs, completions, pages, 2 * pages],
            "{policy}, {threads} threads"
        );
        assert_eq!(
            row.number("contexts"),
            contexts,
            "{policy}, {threads} threads"
        );
        let table = (contexts << 18) + ((pairs * 80) << 10) + ((completions * 9) << 10);
        let small = 144 * (contexts + threads);
        assert_eq!(
            row.number("table_i_bytes"),
            table + small,
            "{policy}, {threads} threads"
        );
        assert!(row.number("bytes") > 0);
    }
    assert_eq!(bars(&directory.read("account.svg")), 5 * COUNT * 16);
}

#[test]
fn results_of_two_regimes_are_two_figures() {
    let directory = Directory::new("regimes");
    let path = |name: &str| {
        directory
            .path()
            .join(name)
            .to_str()
            .expect("a path")
            .to_owned()
    };
    for (regime, options) in [("legacy", &["--legacy-uars"][..]), ("library", &[])] {
        let words = ["account", "--threads", "2", "--out", &path(regime)];
        endpoints(options, &words);
    }
    let files = [path("legacy/account.tsv"), path("library/account.tsv")];
    let mut command = std::process::Command::new(program());
    command.args(["draw", &files[0], &files[1], "--out", &path("")]);
    finish(command);
    assert!(
        directory
            .read("account.svg")
            .contains("legacy doorbell pages")
    );
    assert!(
        directory
            .read("account-2.svg")
            .contains("library doorbell pages")
    );
}

/// Returns the usage of the endpoints of a figure of the message rate for 16 threads in the legacy
/// regime.
fn of_figure(row: &Row) -> [u64; 4] {
    let place = row.text("place");
    let number = place
        .split('-')
        .next()
        .and_then(|number| number.parse().ok());
    let threads = 16;
    // Threads to a shared object, or in all.
    let each: u64 = number.unwrap_or(1);
    let groups = threads / each;
    let counts = |pairs, completions, pages| [pairs, completions, pages, 2 * pages];
    match (row.text("figure"), row.text("endpoints")) {
        ("policies", policy) => {
            let paper = of_paper(policy, each);
            paper.map_or(row.counts(), |[_, pairs, completions, pages]| {
                counts(pairs, completions, pages)
            })
        }
        ("scaling", _) => counts(each, each, 9 * each),
        ("share-buf" | "alignment", _) => counts(16, 16, 9 * 16),
        ("share-ctx", "own pages") => counts(16, 16, 8 * groups + 16),
        ("share-ctx", "2xQPs") => counts(32, 32, 8 * groups + 32),
        ("share-ctx", "Sharing 2") => counts(16, 16, groups * (8 + each.div_ceil(2))),
        ("share-pd" | "share-mr", _) => counts(16, 16, 24),
        ("share-cq" | "unsignalled-p32" | "unsignalled-p1", _) => counts(16, groups, 24),
        ("share-qp", _) => counts(groups, groups, 8),
        other => panic!("{other:?}"),
    }
}

#[test]
fn endpoints_that_share_more_and_more_take_what_is_left() {
    let directory = Directory::new("resources");
    let out = directory.path().to_str().expect("a path");
    endpoints(
        &["--legacy-uars"],
        &["message-rate", "--resources-only", "--out", out],
    );
    let rows = rows(&directory, "message-rate.tsv");
    assert_eq!(rows.len(), 5 * COUNT + 9 * 5 + 2 + 10);
    for row in &rows {
        let what = format!(
            "{} {} {}",
            row.text("figure"),
            row.text("place"),
            row.text("endpoints")
        );
        assert_eq!(row.counts(), of_figure(row), "{what}");
        assert_eq!(row.text("rate"), "-", "{what}");
        let protections = match (row.text("figure"), row.text("place")) {
            ("share-pd", place) => {
                16 / place
                    .trim_end_matches("-way")
                    .parse::<u64>()
                    .expect("a number")
            }
            _ => row.number("contexts"),
        };
        assert_eq!(row.number("pds"), protections, "{what}");
    }
    // "5.39 MB" and "80 uUARs instead of 288".
    let find = |figure: &str, place: &str, endpoints: &str| {
        let same = |row: &&Row| {
            [row.text("figure"), row.text("place"), row.text("endpoints")]
                == [figure, place, endpoints]
        };
        rows.iter().find(same).expect("a row")
    };
    assert_eq!(find("share-ctx", "1-way", "own pages").number("uuars"), 288);
    assert_eq!(find("share-ctx", "16-way", "2xQPs").number("uuars"), 80);
    let megabytes = |row: &Row| row.number("table_i_bytes") as f64 / f64::from(1 << 20);
    assert!((megabytes(find("scaling", "16", "a context each")) - 5.39).abs() < 0.01);
    for (figure, count) in [
        ("scaling", 25),
        ("share-ctx", 75),
        ("share-mr", 25),
        ("alignment", 10),
    ] {
        assert_eq!(
            bars(&directory.read(&format!("{figure}.svg"))),
            count,
            "{figure}"
        );
    }
}

#[test]
fn messages_arrive_whatever_threads_share() {
    let directory = Directory::new("messages");
    let out = directory.path().to_str().expect("a path");
    let options = ["--messages", "200", "--rounds", "1", "--out", out];
    let words = [&["message-rate", "--threads", "2"][..], &options].concat();
    let text = endpoints(&[], &words);
    assert!(
        text.contains("the throughput says nothing about any hardware"),
        "{text}"
    );
    let rows = rows(&directory, "message-rate.tsv");
    // Two places of all policies, of five variants, in one figure two more, or of four values of q.
    assert_eq!(rows.len(), 2 * COUNT + 7 * 10 + 2 + 4 + 2 * 8);
    for row in &rows {
        assert!(row.number("rate") > 0);
        assert!(row.text("device").contains("softhca"));
    }
    let svg = directory.read("share-ctx.svg");
    assert_eq!(bars(&svg), 5 * 6 + 14);
    assert!(svg.contains("messages/s, mlx5_0 (softhca, library doorbell pages)"));
    assert!(svg.contains("throughput says nothing about any hardware"));
    // Drawn again from the saved rows, it is the same.
    let again = Directory::new("again");
    let file = directory.path().join("message-rate.tsv");
    let words = [
        "draw",
        file.to_str().expect("a path"),
        "--out",
        again.path().to_str().expect("a path"),
    ];
    let mut command = std::process::Command::new(program());
    command.args(words);
    finish(command);
    for figure in ["share-ctx.svg", "scaling.svg", "share-qp.svg"] {
        assert_eq!(directory.read(figure), again.read(figure), "{figure}");
    }
}

#[test]
fn several_threads_share_each_of_several_objects() {
    let options = ["--threads", "4", "--messages", "500", "--rounds", "2"];
    let figures = ["message-rate", "share-cq", "share-qp"];
    let text = endpoints(&[], &[&figures[..], &options].concat());
    assert!(text.contains("2-way") && text.contains("4-way"), "{text}");
}

/// Lists, single entries and words, by one thread and by several, on registers of their own and on shared ones.
#[test]
#[cfg(target_arch = "x86_64")]
fn doorbells_are_rung_as_hardware_needs_them() {
    let figures = ["policies", "share-qp"];
    let options = ["--threads", "2", "--messages", "100", "--rounds", "1"];
    endpoints(
        &["--strict"],
        &[&["message-rate"], &figures[..], &options[..]].concat(),
    );
}

#[test]
fn the_product_of_the_global_array_is_right_under_each_policy() {
    let directory = Directory::new("global-array");
    let out = directory.path().to_str().expect("a path");
    let words = [
        "global-array",
        "--tiles",
        "8",
        "--rounds",
        "2",
        "--out",
        out,
    ];
    endpoints(&["--legacy-uars"], &words);
    let rows = rows(&directory, "global-array.tsv");
    assert_eq!(rows.len(), COUNT * 2);
    for row in &rows {
        let policy = row.text("endpoints");
        let Some([contexts, pairs, completions, pages]) = of_paper(policy, 16) else {
            continue;
        };
        assert_eq!(
            row.counts(),
            [pairs, completions, pages, 2 * pages],
            "{policy}"
        );
        assert_eq!(
            (row.number("contexts"), row.number("mrs")),
            (contexts, 3 * 16),
            "{policy}"
        );
        assert!(row.number("rate") > 0);
    }
    assert_eq!(bars(&directory.read("global-array.svg")), 7 * COUNT);
}

/// The words of a small stencil of four threads on each machine.
const STENCIL: [&str; 11] = [
    "stencil",
    "--threads",
    "4",
    "--rows",
    "8",
    "--columns",
    "32",
    "--steps",
    "4",
    "--rounds",
    "2",
];

#[test]
fn the_stencil_computes_what_a_serial_run_does_in_each_layout() {
    let directory = Directory::new("stencil");
    let out = directory.path().to_str().expect("a path");
    endpoints(
        &["--legacy-uars"],
        &[&STENCIL[..], &["--out", out]].concat(),
    );
    let rows = rows(&directory, "stencil.tsv");
    assert_eq!(rows.len(), 3 * COUNT);
    for row in &rows {
        let (layout, policy) = (row.text("place"), row.text("endpoints"));
        let (processes, threads) = layout.split_once('.').expect("a layout");
        let (processes, threads): (u64, u64) = (
            processes.parse().expect("a number"),
            threads.parse().expect("a number"),
        );
        // Of each process; two queue pairs for each completion queue.
        let Some(paper) = of_paper(policy, threads) else {
            continue;
        };
        let [contexts, pairs, completions, pages] = paper.map(|count| count * processes);
        assert_eq!(
            row.counts(),
            [2 * pairs, completions, pages, 2 * pages],
            "{layout} {policy}"
        );
        assert_eq!(row.number("contexts"), contexts, "{layout} {policy}");
        assert!(row.number("rate") > 0);
    }
    assert_eq!(bars(&directory.read("stencil.svg")), 6 * 3 * COUNT);
}

#[test]
fn the_other_half_runs_where_endpoints_serve_does() {
    let port = {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        listener
            .local_addr()
            .expect("an address")
            .port()
            .to_string()
    };
    // The server ends with the device, that is when the script has ended.
    let script = "\"$0\" serve --port \"$1\" & server=$!; shift; \
                  for _ in 1 2 3 4 5 6 7 8 9 10; do \"$0\" \"$@\" && done=yes && break; sleep 0.3; done; \
                  kill $server; test \"$done\"";
    let server = format!("127.0.0.1:{port}");
    let mut command = under_softhca(&[]);
    command.args(["sh", "-c", script, program(), &port]);
    command.args(STENCIL).args([
        "--policy", "dynamic", "--layout", "2.2", "--server", &server,
    ]);
    let text = finish(command);
    assert!(text.contains("elements of the edges"), "{text}");
}

#[test]
fn nonsense_and_missing_files_end_with_a_message() {
    for (words, status, message) in [
        (&["fly"][..], 2, "there is no fly (see endpoints --help)"),
        (
            &["stencil", "--layout", "1.2", "--rows", "7"],
            2,
            "cannot be cut evenly",
        ),
        (&["draw", "/nonexistent.tsv"], 1, "/nonexistent.tsv: "),
    ] {
        let output = std::process::Command::new(program())
            .args(words)
            .output()
            .expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {errors}");
        assert!(errors.contains(message), "{words:?}: {errors}");
    }
}

/// Returns the bars of a figure: all its rectangles but the ground. The figure is well-formed.
fn bars(svg: &str) -> usize {
    let mut open: Vec<&str> = Vec::new();
    let mut rectangles = 0;
    let mut rest = svg;
    while let Some((before, tag)) = rest.split_once('<') {
        assert!(!before.contains('>'), "text with a >: {before}");
        let (tag, after) = tag.split_once('>').expect("a tag ends");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in {tag}");
        let name = tag
            .trim_start_matches('/')
            .split([' ', '/'])
            .next()
            .expect("a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rectangles += usize::from(name == "rect");
        rest = after;
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
    rectangles - 1
}
