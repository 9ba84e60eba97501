use super::*;

fn labels(source: &str) -> Vec<String> {
    parse(source)
        .unwrap()
        .into_iter()
        .map(|run| run.label)
        .collect()
}

fn error(line: &str) -> String {
    parse(&format!("// run: {line}\n")).unwrap_err()
}

#[test]
fn lists_are_taken_apart() {
    let source = "// What it does.\n// run: np=1,2 std=c11,gnu11 link=static\n// run: np=4 launcher=oshrun,hydra\n";
    assert_eq!(
        labels(source),
        [
            "np=1 std=c11 link=static",
            "np=2 std=c11 link=static",
            "np=1 std=gnu11 link=static",
            "np=2 std=gnu11 link=static",
            "np=4 launcher=oshrun",
            "np=4 launcher=hydra",
        ]
    );
}

#[test]
fn modes_are_taken_apart() {
    let source = "// run: np=1,2 mode=seq,par launcher=hydra\n";
    let expected = [
        "np=1 mode=seq launcher=hydra",
        "np=2 mode=seq launcher=hydra",
        "np=1 mode=par launcher=hydra",
        "np=2 mode=par launcher=hydra",
    ];
    assert_eq!(labels(source), expected);
    assert_eq!(error("np=1 mode=all"), "line 1: mode=all is unknown");
}

#[test]
fn every_word_has_its_effect() {
    let line = [
        "// run: np=3 cflags=\"-O0 -lm\" cc=clang valgrind env=A=1=2 env=B= expect-exit=7",
        "expect-stderr=\"PE 1: x\" expect-stdout=out refuse-stderr=bad timeout=5",
        "args=-n 3 \"two words\" a=b",
    ];
    let run = &parse(&line.join(" ")).unwrap()[0];
    assert_eq!(
        (run.np, run.launcher, run.timeout),
        (3, Launcher::Oshrun, 5)
    );
    assert_eq!(run.cflags, ["-O0", "-lm"]);
    assert_eq!(run.compiler.as_deref(), Some("clang"));
    assert!(run.valgrind);
    assert_eq!(
        run.env,
        [("A".into(), "1=2".into()), ("B".into(), String::new())]
    );
    assert_eq!(run.expect.status, Status::Is(7));
    assert_eq!(run.expect.stderr, ["PE 1: x"]);
    assert_eq!(run.expect.stdout, ["out"]);
    assert_eq!(run.expect.refused, ["bad"]);
    assert_eq!(run.args, ["-n", "3", "two words", "a=b"]);
}

#[test]
fn time_limits_have_defaults() {
    let limits: Vec<_> = parse("// run: np=1\n// run: np=1 valgrind\n")
        .unwrap()
        .iter()
        .map(|run| run.timeout)
        .collect();
    assert_eq!(limits, [20, 60]);
}

#[test]
fn cases_that_differ_in_expectations_only_have_different_names() {
    let source = "// run: np=2 expect-stdout=a\n// run: np=2 expect-stdout=b\n";
    assert_eq!(labels(source), ["np=2", "np=2 (line 2)"]);
}

#[test]
fn run_lines_stand_in_the_header_only() {
    assert_eq!(
        labels("//! Rust.\n//! run: np=1\n\n// run: np=2\n"),
        ["np=1"]
    );
    assert!(parse("int main;\n// run: np=1\n").is_err());
    assert!(parse("").is_err());
}

#[test]
fn the_number_of_nodes_may_be_stated() {
    let source = "// run: np=2\n// run: np=2 nodes=1 args=a\n// run: np=2 nodes=several args=b\n";
    let nodes: Vec<_> = parse(source).unwrap().iter().map(|run| run.nodes).collect();
    assert_eq!(nodes, [Nodes::Any, Nodes::One, Nodes::Several]);
}

#[test]
fn nonsense_is_named() {
    for (line, part) in [
        ("std=c11", "np= is missing"),
        ("np=two", "np=two"),
        ("np=1 launcher=mpirun", "launcher=mpirun"),
        ("np=2 launcher=none", "launcher=none"),
        ("np=1 link=sideways", "link=sideways"),
        ("np=2 nodes=2", "nodes=2"),
        ("np=1 timeout=soon", "timeout=soon"),
        ("np=1 env=A", "env=A"),
        ("np=1 nodes=several device=", "device"),
        ("np=1 device=--strict", "nodes=several"),
        ("np=1 nodes=several transport=tcp", "tcp"),
        ("np=1 transport=rc", "nodes=several"),
        ("np=1 expect-exit=never", "expect-exit=never"),
        ("np=1 expected-exit=1", "expected-exit"),
        ("np=1 valgrind=yes", "valgrind"),
        ("np=1 expect-stderr=\"open", "double quote"),
    ] {
        let message = error(line);
        assert!(
            message.contains(part) && message.starts_with("line 1: "),
            "{line}: {message}"
        );
    }
}
