//! `farreach model` and `farreach whatif`.
//!
//! The account of endpoints needs Debian's package `ibverbs-providers`.

use softhca_again::softhca;
use std::process::{Command, Output};

fn farreach(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_farreach"))
        .args(arguments)
        .output()
        .expect("farreach starts")
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the fields of the line of `--tsv` that begins with these.
fn fields<'a>(text: &'a str, first: &[&str]) -> Vec<&'a str> {
    let mut lines = text
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let found = lines.find(|fields| fields.starts_with(first));
    found.unwrap_or_else(|| panic!("{first:?} in\n{text}"))
}

fn number(field: &str) -> f64 {
    field.parse().unwrap_or_else(|_| panic!("{field:?}"))
}

/// Makes a folder for a test's files, which its guard removes.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("farreach-model-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn text_that_cannot_be_written_is_told_of() {
    for words in [&["whatif"][..], &["--help"], &["model", "--paper"]] {
        let full = std::fs::File::create("/dev/full").expect("/dev/full");
        let mut command = Command::new(env!("CARGO_BIN_EXE_farreach"));
        let output = command.args(words).stdout(full).output();
        let output = output.expect("farreach starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        let part = "farreach: cannot write the output: No space left on device";
        assert!(
            said.starts_with(part) && said.lines().count() == 1,
            "{words:?}: {said}"
        );
    }
}

#[test]
fn the_system_of_the_paper_is_told_with_its_sources() {
    let text = printed(&farreach(&["model", "--paper"]));
    for part in [
        "pio_copy             94.25  paper: Table 1",
        "unknown: the paper does not give it",
        "p >= 8 posts",
        "RC-to-MEM(8B) stands for RC-to-MEM(64B), which is not known",
        "End-to-end latency (figure 13)",
    ] {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
    let text = printed(&farreach(&["model", "--paper", "--tsv"]));
    for (words, modelled, observed) in [
        ("Injection overhead, low level", 295.73, 282.33),
        ("Latency, low level", 1135.8, 1190.25),
        ("Injection overhead, complete", 264.97, 263.91),
        ("Latency, end to end", 1387.02, 1336.0),
    ] {
        let row = fields(&text, &["totals", words]);
        assert!((number(row[3]) - modelled).abs() < 0.006, "{row:?}");
        assert_eq!(number(row[4]), observed, "{row:?}");
    }
    let row = fields(
        &text,
        &["breakdown", "4", "LLP_post", "PIO copy (64 bytes)"],
    );
    assert!((number(row[5]) - 53.73).abs() < 0.006, "{row:?}");
}

#[test]
fn changes_are_told_as_a_table_and_as_curves() {
    let arguments = [
        "whatif", "--paper", "--pio", "15ns", "--hlp", "-20%", "--tsv",
    ];
    let text = printed(&farreach(&arguments));
    let row = fields(
        &text,
        &["whatif", "Injection overhead, complete", "injection"],
    );
    let removed = 94.25 - 15.0 + (26.56 + 59.82 - 61.63 / 64.0) / 5.0;
    assert!((number(row[5]) - removed).abs() < 1e-6, "{row:?}");
    assert!(
        (number(row[6]) - removed / 264.97 * 100.0).abs() < 1e-6,
        "{row:?}"
    );
    let row = fields(&text, &["curves", "d", "latency", "Switch"]);
    assert!((number(row[7]) - 5.45).abs() < 0.006, "{row:?}");
    let json = printed(&farreach(&["whatif", "--json"]));
    assert_eq!(json.matches("\"key\":\"curves\"").count(), 4, "{json}");
}

#[test]
fn a_system_of_ones_own_is_read_from_a_file() {
    let folder = Folder::new("own");
    let file = folder.file(
        "own.system",
        "name = mine\nllp_post_misc = 0.2 us | given\nllp_prog = 50 ns | given\n\
         busy_post = 0 ns | given\nmeasurement_update = 0 ns | given\n\
         md_setup = within llp_post_misc | inlined\nmd_barrier = 0 ns | given\n\
         doorbell_barrier = 0 ns | given\npio_copy = within llp_post_misc | inlined\n",
    );
    let text = printed(&farreach(&["model", "--system", &file, "--tsv"]));
    let row = fields(&text, &["totals", "Injection overhead, low level"]);
    assert_eq!((number(row[3]), row[4]), (250.0, "-"), "{row:?}");
    let row = fields(&text, &["totals", "Latency, low level"]);
    assert_eq!(row[3], "-", "{row:?}");
    let text = printed(&farreach(&["model", "--system", &file]));
    let says = "Latency, low level needs pcie (the system file has no value), wire (";
    assert!(text.contains(says), "{text}");
    let output = farreach(&["whatif", "--system", &file, "--pio", "15ns"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("pio: needs pio_copy (it is contained in llp_post_misc"),
        "{said}"
    );
    let wrong = folder.file("wrong.system", "name = mine\nllp_prog = 50 | given\n");
    let output = farreach(&["model", "--system", &wrong]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("wrong.system: line 2: llp_prog: \"50\" is no time"),
        "{said}"
    );
}

#[test]
fn a_wrong_command_line_is_explained() {
    for (arguments, part) in [
        (
            &["model"][..],
            "model needs --paper, --system FILE or --endpoints",
        ),
        (
            &["whatif", "--pio", "15"][..],
            "--pio: \"15\" is neither a time",
        ),
        (&["whatif", "--frob", "1ns"][..], "'--frob'"),
    ] {
        let output = farreach(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.starts_with("farreach: ") && said.contains(part),
            "{said}"
        );
    }
    let output = farreach(&["model", "--system", "/nonexistent"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn the_account_of_endpoints_is_beside_mpi_everywhere() {
    let output = Command::new("timeout")
        .arg("60")
        .arg(softhca())
        .args(["run", "--legacy-uars", "--", env!("CARGO_BIN_EXE_farreach")])
        .args(["model", "--endpoints", "--threads", "16", "--tsv"])
        .output()
        .expect("timeout starts");
    let text = printed(&output);
    for (policy, queue_pairs, registers, percent) in [
        ("mpi-everywhere", 16, 256, 100.0),
        ("2x-dynamic", 32, 80, 31.25),
        ("dynamic", 16, 48, 18.75),
        ("shared-dynamic", 16, 32, 12.5),
        ("static", 16, 16, 6.25),
        ("mpi+threads", 1, 16, 6.25),
    ] {
        let row = fields(&text, &["endpoints", policy, "16"]);
        assert_eq!(number(row[3]), f64::from(queue_pairs), "{row:?}");
        assert_eq!(number(row[9]), f64::from(registers), "{row:?}");
        assert_eq!(number(row[10]), percent, "{row:?}");
    }
}
