//! `farreach measure` over a software device that is told its delays.
//!
//! It needs Debian's package `ibverbs-providers`. Device and program each need a processor for as
//! long as something is under way: where the test may (root), both run in a class of their own
//! (SCHED_FIFO), so that nothing else disturbs them. Otherwise a measurement that was disturbed is
//! done again, as long as there is time.

use softhca_again::softhca;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One measurement at a time.
static ALONE: Mutex<()> = Mutex::new(());
/// How long a test tries.
const PATIENCE: Duration = Duration::from_secs(60);

/// The delays of the device in nanoseconds, which are to be found again within this part. Device and
/// program are themselves late by 60 us in each one-way message, all of which counts as memory's.
const PCIE: f64 = 300e3;
const WIRE: f64 = 600e3;
const SWITCH: f64 = 200e3;
const MEMORY: f64 = 2e6;
const WITHIN: f64 = 0.05;
const DELAYS: &str = "pcie=300us,wire=600us,switch=200us,memory=2ms";
const WITHOUT_SWITCH: &str = "pcie=300us,wire=600us,memory=2ms";

/// Makes a folder for a test's files, which its guard removes.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("farreach-measure-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the words in front of a command that is to have a processor for itself, if the system
/// allows them.
fn undisturbed() -> &'static [&'static str] {
    const WORDS: [&str; 3] = ["chrt", "--fifo", "1"];
    let mut attempt = Command::new(WORDS[0]);
    attempt.args(&WORDS[1..]).arg("true");
    let tried = attempt.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if tried.is_ok_and(|status| status.success()) {
        &WORDS
    } else {
        &[]
    }
}

/// Runs `farreach measure` with these arguments under the device.
fn measure(options: &[&str], arguments: &[&str]) -> Output {
    Command::new("timeout")
        .arg("100")
        .args(undisturbed())
        .arg(softhca())
        .args(["run", "--no-hook"])
        .args(options)
        .args(["--", env!("CARGO_BIN_EXE_farreach"), "measure"])
        .args(["--samples", "100", "--tsv"])
        .args(arguments)
        .output()
        .expect("timeout starts")
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the fields of the line that has these in the first and the third column.
fn fields<'a>(text: &'a str, table: &str, key: &str) -> Vec<&'a str> {
    let mut lines = text
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let found = lines.find(|fields| fields[0] == table && fields.get(2) == Some(&key));
    found.unwrap_or_else(|| panic!("{table} {key} in\n{text}"))
}

fn number(field: &str) -> f64 {
    field.parse().unwrap_or_else(|_| panic!("{field:?}"))
}

/// Returns the time of a component, and its source.
fn component<'a>(text: &'a str, key: &str) -> (f64, &'a str) {
    let fields = fields(text, "components", key);
    (number(fields[3]), fields[4])
}

/// Returns by which part a time is off.
fn off(time: f64, expected: f64) -> f64 {
    (time - expected).abs() / expected
}

/// Measures until everything is within the tolerance, as long as there is time; `wrong` names what
/// is not.
fn until_right(mut attempt: impl FnMut() -> String, wrong: impl Fn(&str) -> Vec<String>) -> String {
    let begin = Instant::now();
    loop {
        let text = attempt();
        let wrong = wrong(&text);
        if wrong.is_empty() {
            return text;
        }
        assert!(begin.elapsed() < PATIENCE, "{wrong:?} in\n{text}");
    }
}

/// Names the components that are not as expected.
fn wrong(text: &str, expected: &[(&str, f64)]) -> Vec<String> {
    let found = expected.iter().map(|&(key, expected)| {
        let (time, _) = component(text, key);
        (off(time, expected) > WITHIN).then(|| format!("{key}: {time}, not {expected}"))
    });
    found.flatten().collect()
}

/// Names the totals whose model differs from the observation.
fn wrong_totals(text: &str, totals: &[&str]) -> Vec<String> {
    let found = totals.iter().map(|total| {
        let fields = fields(text, "totals", total);
        let (modelled, observed) = (number(fields[3]), number(fields[4]));
        (off(modelled, observed) > WITHIN)
            .then(|| format!("{total}: {modelled}, observed {observed}"))
    });
    found.flatten().collect()
}

#[test]
fn delays_are_found_in_round_trips() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new("fit");
    let system = folder.file("found.system");
    let attempt = || {
        let options = ["--delays", DELAYS];
        printed(&measure(
            &options,
            &["--switch", "200us", "--output", &system],
        ))
    };
    let expected = [
        ("pcie", PCIE),
        ("wire", WIRE),
        ("switch", SWITCH),
        ("rc_to_mem_8", MEMORY),
    ];
    let text = until_right(attempt, |text| {
        let mut wrong = wrong(text, &expected);
        wrong.extend(wrong_totals(text, &["latency"]));
        wrong
    });
    assert_eq!(component(&text, "switch").1, "given");
    let (_, source) = component(&text, "pcie");
    let says = "fitted: writes of bytes that the device reads less those in the entry, halved";
    assert!(source.starts_with(says), "{source}");
    assert!(
        source.contains("loopback stands for wire and switch"),
        "{source}"
    );
    let (post, rest) = (component(&text, "pio_copy"), component(&text, "llp_prog"));
    assert!(post.0 > 0.0 && rest.0 > 0.0, "{text}");
    assert!(rest.1.ends_with("100 samples"), "{}", rest.1);
    let row = fields(&text, "missing", "rc_to_mem_64");
    assert!(row[3].contains("--rc-to-mem-64 gives it"), "{row:?}");
    let bars = text
        .lines()
        .filter(|line| line.starts_with("distribution\t"));
    let posts: f64 = bars
        .map(|line| number(line.split('\t').nth(3).expect("posts")))
        .sum();
    assert!(posts >= 100.0 * 256.0, "{text}");
    // The file has all of it.
    let model = Command::new(env!("CARGO_BIN_EXE_farreach"))
        .args(["model", "--tsv", "--system", &system])
        .output()
        .expect("farreach starts");
    let model = printed(&model);
    for key in ["pcie", "rc_to_mem_8", "hlp_post_lower", "callback_lower"] {
        assert_eq!(
            fields(&model, "components", key),
            fields(&text, "components", key)
        );
    }
    for total in ["injection_low", "latency_low", "injection", "latency"] {
        assert_eq!(
            fields(&model, "totals", total),
            fields(&text, "totals", total)
        );
    }
}

#[test]
fn delays_are_found_in_a_trace() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new("trace");
    let (trace, without) = (folder.file("whole.csv"), folder.file("without.csv"));
    let attempt = || {
        for (delays, file) in [(DELAYS, &trace), (WITHOUT_SWITCH, &without)] {
            let options = ["--delays", delays, "--transactions", file];
            let text = printed(&measure(&options, &["--run", "ping-pong"]));
            assert_eq!(fields(&text, "benchmark", "latency_low")[5], "100");
        }
        let arguments = ["--trace", &trace, "--trace-without-switch", &without];
        let text = printed(&measure(&["--delays", DELAYS], &arguments));
        // These are of the trace's own clock: nothing disturbs them.
        let exact = [("pcie", PCIE), ("wire", WIRE), ("switch", SWITCH)];
        assert_eq!(wrong(&text, &exact), Vec::<String>::new(), "{text}");
        text
    };
    let text = until_right(attempt, |text| {
        let mut wrong = wrong(text, &[("rc_to_mem_8", MEMORY)]);
        wrong.extend(wrong_totals(text, &["latency_low", "latency"]));
        wrong
    });
    for (key, what) in [
        ("pcie", "whole.csv: write to acknowledgement, halved"),
        ("wire", "without.csv: post to completion, halved"),
        ("switch", "less that of trace"),
        ("rc_to_mem_8", "whole.csv: pong to ping"),
    ] {
        let (_, source) = component(&text, key);
        assert!(source.contains(what), "{source}");
    }
}

#[test]
fn what_is_wrong_is_told_before_anything_is_measured() {
    let folder = Folder::new("wrong");
    let file = folder.file("wrong.csv");
    std::fs::write(&file, "time_ns,direction,kind\n1,left,MWr\n").expect("written");
    for (arguments, status, part) in [
        (
            vec!["--samples", "3"],
            2,
            "--samples takes a number from 100",
        ),
        (
            vec!["--trace", &file],
            1,
            "wrong.csv: line 2: \"left\" is no direction",
        ),
        (vec!["--trace", "/nonexistent"], 1, "/nonexistent: "),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_farreach"))
            .arg("measure")
            .args(arguments)
            .env("SYSFS_PATH", "/nonexistent")
            .output()
            .expect("farreach starts");
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(part), "{said}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_farreach"))
        .arg("measure")
        .env("SYSFS_PATH", "/nonexistent")
        .output()
        .expect("farreach starts");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
