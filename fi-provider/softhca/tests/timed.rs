//! Programs on a device whose operations take time, and the file of transactions.
//!
//! They need a C compiler and Debian's packages `libibverbs-dev` and `ibverbs-providers`.

mod support;

use std::sync::Mutex;
use std::time::{Duration, Instant};
use support::{Under, program, scratch, text};

/// Times of the tests, in ns.
const P: u64 = 20_000;
const N: u64 = 60_000;
const M: u64 = 15_000;
const DELAYS: &str = "pcie=20us,wire=0.05ms,switch=10000ns,memory=15us";

/// The most time of the shortest operation beyond its due one, in ns: the device has to see the
/// doorbell, and the program the memory.
const SLACK: u64 = 50_000;

/// One program and its device at a time: each wants a processor.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs a case of `c/timed.c`; gives the columns of its output.
fn timed(options: &[&str], case: &str, count: u32) -> Vec<Vec<u64>> {
    let options = [&["--delays", DELAYS], options].concat();
    let under = Under {
        options: &options,
        ..Under::default()
    };
    let program = program("timed", &["mlx5", "ibverbs"]);
    let _alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let printed = under.succeed(&[&program, case, &count.to_string()]);
    let rows: Vec<Vec<u64>> = printed
        .lines()
        .map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect())
        .collect();
    assert_eq!(rows.len(), count as usize);
    (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column]).collect())
        .collect()
}

/// Checks that no time in a column is shorter than this, and that the shortest is not much longer.
/// Other programs want the processors, too: there are rounds until one round has had them.
fn take(case: &str, options: &[&str], least: &[u64], slack: u64) {
    const LONGEST: Duration = Duration::from_secs(60);
    let begun = Instant::now();
    let mut shortest = vec![u64::MAX; least.len()];
    while begun.elapsed() < LONGEST {
        for (column, times) in timed(options, case, 50).iter().enumerate() {
            let found = times.iter().min().copied().unwrap_or_default();
            shortest[column] = shortest[column].min(found);
        }
        let pairs = || shortest.iter().zip(least);
        assert!(
            pairs().all(|(time, least)| time >= least),
            "{case}: {shortest:?} ns, not {least:?}"
        );
        if pairs().all(|(time, least)| *time < least + slack) {
            return;
        }
    }
    panic!("{case}: {shortest:?} ns at best, not {least:?}");
}

#[test]
fn a_put_takes_its_way() {
    take("put", &[], &[2 * P + N + M, 2 * (P + N) + M], SLACK);
}

#[test]
fn other_operations_take_their_way() {
    // A write whose payload is not in line, a read, an atomic.
    take("others", &[], &[4 * P + 2 * N + M; 3], SLACK);
}

#[test]
fn messages_there_and_back() {
    take("exchange", &[], &[2 * (2 * P + N + M)], SLACK);
}

#[test]
fn operations_overlap() {
    // Sixteen of them one after the other would take sixteen times as long.
    let one = 2 * (P + N) + M;
    take("burst", &[], &[one], 2 * one);
}

#[test]
fn without_kicks() {
    take(
        "put",
        &["--no-hook"],
        &[2 * P + N + M, 2 * (P + N) + M],
        SLACK,
    );
}

#[test]
fn in_strict_mode() {
    // The device holds an entry until the thread has run on: there is no longest time.
    let columns = timed(&["--strict"], "put", 20);
    assert!(columns[1].iter().all(|time| *time >= 2 * (P + N) + M));
}

/// Returns the lines of the file: time and the other words.
fn lines(text: &str) -> Vec<(u64, Vec<&str>)> {
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("time_ns,direction,kind,bytes,queue_pair,what,process,side,operation")
    );
    let line = |line: &'_ str| {
        let (time, rest) = line.split_once(',').unwrap();
        (time.parse().unwrap(), rest.len())
    };
    lines
        .map(|text| {
            let (time, length) = line(text);
            (time, text[text.len() - length..].split(',').collect())
        })
        .collect()
}

#[test]
fn the_file_tells_of_every_put() {
    let directory = scratch();
    let file = directory.join("transactions.csv");
    let file = file.to_str().unwrap();
    timed(&["--transactions", file], "put", 20);
    let written = std::fs::read_to_string(file).unwrap();
    std::fs::remove_dir_all(directory).unwrap();
    let lines = lines(&written);
    assert!(lines.is_sorted_by_key(|line| line.0));
    for operation in 1..=20 {
        let number = operation.to_string();
        let own: Vec<_> = lines
            .iter()
            .filter(|(_, words)| words[7] == number)
            .collect();
        let post = own[0].0;
        let told: Vec<_> = own
            .iter()
            .map(|(time, words)| {
                (
                    time - post,
                    [words[0], words[1], words[2], words[4], words[6]],
                )
            })
            .collect();
        let expected = [
            (0, ["down", "MWr", "64", "post", "requester"]),
            (N, ["up", "MWr", "8", "payload", "responder"]),
            (N + 2 * P, ["down", "Ack", "0", "payload", "responder"]),
            (2 * N, ["up", "MWr", "64", "completion", "requester"]),
            (
                2 * N + 2 * P,
                ["down", "Ack", "0", "completion", "requester"],
            ),
        ];
        let mut expected = expected.to_vec();
        expected.sort_by_key(|line| line.0);
        assert_eq!(told, expected, "operation {operation}");
        let port = |side| {
            let mut of_side = own.iter().filter(move |line| line.1[6] == side);
            let first = of_side.next().unwrap();
            assert!(of_side.all(|line| line.1[3] == first.1[3]));
            (first.1[3], first.1[5])
        };
        let (requester, responder) = (port("requester"), port("responder"));
        assert_ne!(requester.0, responder.0, "two queue pairs");
        assert_eq!(requester.1, responder.1, "of one process");
    }
}

#[test]
fn the_file_is_complete_while_the_device_is_idle() {
    let directory = scratch();
    let file = directory.join("transactions.csv");
    let program = program("timed", &["mlx5", "ibverbs"]);
    let script = format!("{program} put 3 > /dev/null; sleep 0.3; grep -c payload $0");
    let file = file.to_str().unwrap();
    let under = Under {
        options: &["--transactions", file],
        ..Under::default()
    };
    assert_eq!(under.succeed(&["sh", "-c", &script, file]), "6\n");
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_file_that_cannot_be_written_is_told() {
    let refused = |file, why| {
        let under = Under {
            options: &["--transactions", file],
            ..Under::default()
        };
        let output = under.run(&["true"]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(text(&output).contains(why), "{}", text(&output));
    };
    refused("/nowhere/at/all", "softhca: /nowhere/at/all: No such file");
    refused("/dev/full", "No space left");
}

#[test]
fn words_that_are_no_times_are_refused() {
    for list in ["pcie", "pcie=1", "road=1us", "wire=1us,wire=1us"] {
        let under = Under {
            options: &["--delays", list],
            ..Under::default()
        };
        let output = under.run(&["true"]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    }
}
