//! Groups that are made of test programs which cargo builds.

use crate::case::{self, Build, Case, Invocation};
use crate::session::Session;
use crate::supervise::End;
use crate::sys::Ended;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const BUILD_LIMIT: Duration = Duration::from_secs(600);
const LIST_LIMIT: Duration = Duration::from_secs(20);
/// Seconds for one test program, and for one model.
const LIMIT: u64 = 180;

/// The package of the test program that is a group of its own.
const CONTRACT: &str = "farreach-contract";

/// Test programs that measure times.
const ALONE: [&str; 3] = [
    "fi-provider/cli/tests/measure.rs",
    "fi-provider/measure/src/lib.rs",
    "fi-provider/softhca/tests/timed.rs",
];

/// A test program that cargo has built.
struct Program {
    executable: PathBuf,
    manifest_dir: PathBuf,
    source: PathBuf,
}

/// Returns one case for each test program of the workspace that holds tests, and one for the
/// documentation.
pub(crate) fn unit(session: &Session) -> Result<Vec<Case>, String> {
    let build = session.cargo(&[
        "test",
        "--workspace",
        "--exclude",
        CONTRACT,
        "--no-run",
        "--message-format=json-render-diagnostics",
    ]);
    let checking = session.cargo(&[
        "test",
        "--package",
        "shmem",
        "--package",
        "shmem-cabi",
        "--features",
        "shmem-cabi/check",
        "--lib",
        "--no-run",
        "--message-format=json-render-diagnostics",
    ]);
    let mut cases = Vec::new();
    for (build, words) in [(build, ""), (checking, ", checking library")] {
        for program in programs(session, &build)? {
            let tests = tests(session, &program)?;
            if !tests.is_empty() {
                let source = program
                    .source
                    .strip_prefix(&session.place.root)
                    .unwrap_or(&program.source);
                let name = format!("{} ({} tests{words})", source.display(), tests.len());
                let mut case = Case::new(name, LIMIT, start(&program));
                case.is_alone = ALONE.iter().any(|path| program.source.ends_with(path));
                cases.push(case);
            }
        }
    }
    let documentation = session.cargo(&["test", "--workspace", "--doc"]);
    cases.push(Case::new("documentation", LIMIT, documentation));
    Ok(cases)
}

/// Returns one case for each contract over each transport.
///
/// Optimised, as the fabric is used: its operations are in line, and the compiler may optimise them
/// as it does there.
pub(crate) fn contract(session: &Session) -> Result<Vec<Case>, String> {
    let build = session.cargo(&[
        "test",
        "-p",
        CONTRACT,
        "--profile",
        "tools",
        "--no-run",
        "--message-format=json-render-diagnostics",
    ]);
    let device = [
        "build",
        "--profile",
        "tools",
        "--package",
        "softhca",
        "--package",
        "softhca-shim",
    ];
    let device = Build::new(session.cargo(&device), BUILD_LIMIT);
    let command = session.place.target.join("tools/softhca");
    let mut cases = each_test(session, &build)?;
    for case in &mut cases {
        case.needs.push(device.clone());
        case.run = std::mem::take(&mut case.run)
            // Once, and not by each test.
            .env("FARREACH_TEST_SOFTHCA", &command)
            // As oshrun has it: libfabric would write 64 MiB of buffers in each process.
            .env("FI_OFI_RXM_MSG_RX_SIZE", "512");
    }
    Ok(cases)
}

/// Returns one case for each model.
pub(crate) fn loom(session: &Session) -> Result<Vec<Case>, String> {
    let target = session.place.target.join("loom");
    let build = session
        .cargo(&[
            "test",
            "-p",
            "fi-shm",
            "-p",
            "shmem-models",
            "-p",
            "calls-models",
            "--profile",
            "tools",
            "--no-run",
            "--message-format=json-render-diagnostics",
        ])
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", target);
    each_test(session, &build)
}

/// Returns one case for each test of the programs that `build` makes.
fn each_test(session: &Session, build: &Invocation) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for program in programs(session, build)? {
        for test in tests(session, &program)? {
            cases.push(Case::new(
                test.clone(),
                LIMIT,
                start(&program).args(["--exact", &test]),
            ));
        }
    }
    Ok(cases)
}

/// Returns the cases of the budgets, as tests/icount checks them.
pub(crate) fn icount(session: &Session) -> Result<Vec<Case>, String> {
    let script = session.place.root.join("tests/icount/run");
    if !script.exists() {
        return Err(format!("{} is missing", script.display()));
    }
    let run = Invocation::new("bash")
        .arg(script)
        .env("CARGO_TARGET_DIR", &session.place.target);
    Ok(vec![Case::new("budgets", 600, run)])
}

/// Returns the builds of tests/icount/icount, for times at which processors idle: with the least
/// priority.
pub(crate) fn icount_ahead(session: &Session) -> Vec<Arc<Build>> {
    let tool = "build --profile tools --package farreach-budgets";
    let loops = "build --release --package farreach-loops --examples";
    let build = |args: &str| {
        let run = Invocation::new("nice").args(["-n", "19", "cargo", "--quiet"]);
        let run = run.args(args.split(' '));
        let run = run.env("CARGO_TARGET_DIR", &session.place.target);
        Build::new(run, BUILD_LIMIT)
    };
    [tool, loops].map(build).into()
}

fn start(program: &Program) -> Invocation {
    Invocation::new(&program.executable)
        .dir(&program.manifest_dir)
        .env("CARGO_MANIFEST_DIR", &program.manifest_dir)
}

/// Builds, and returns the programs that cargo names.
fn programs(session: &Session, build: &Invocation) -> Result<Vec<Program>, String> {
    let outcome = session.run(build, BUILD_LIMIT)?;
    let messages = case::read(&outcome.stdout);
    if outcome.report.end != End::Ended(Ended::Exit(0)) {
        let errors = case::tail(&case::read(&outcome.stderr), 60);
        return Err(format!(
            "the tests do not build: {:?}\n{errors}",
            outcome.report.end
        ));
    }
    let mut found: Vec<_> = messages.lines().filter_map(program).collect();
    found.sort_by(|one, other| one.source.cmp(&other.source));
    Ok(found)
}

/// Returns the program that a line of `--message-format=json-render-diagnostics` tells of. Paths
/// that need escaping in JSON are not understood.
fn program(message: &str) -> Option<Program> {
    let value = |key: &str| {
        let start = message.find(&format!("\"{key}\":\""))? + key.len() + 4;
        message[start..].split('"').next()
    };
    // The target has a key "test" as well: whether it can have tests.
    let (_, profile) = message.split_once("\"profile\":{")?;
    let (profile, _) = profile.split_once('}')?;
    if value("reason") != Some("compiler-artifact") || !profile.contains("\"test\":true") {
        return None;
    }
    Some(Program {
        executable: value("executable")?.into(),
        manifest_dir: Path::new(value("manifest_path")?).parent()?.to_owned(),
        source: value("src_path")?.into(),
    })
}

/// Returns the names of a program's tests.
fn tests(session: &Session, program: &Program) -> Result<Vec<String>, String> {
    let list = start(program).args(["--list", "--format", "terse"]);
    let outcome = session.run(&list, LIST_LIMIT)?;
    if outcome.report.end != End::Ended(Ended::Exit(0)) {
        return Err(format!(
            "{} --list: {:?}",
            program.executable.display(),
            outcome.report.end
        ));
    }
    let printed = case::read(&outcome.stdout);
    Ok(printed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .map(str::to_owned)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(reason: &str, test: bool) -> String {
        format!(
            "{{\"reason\":\"{reason}\",\"manifest_path\":\"/a/b/Cargo.toml\",\"target\":{{\"name\":\"c\",\
             \"src_path\":\"/a/b/src/c.rs\",\"test\":true}},\"profile\":{{\"opt_level\":\"0\",\"test\":{test}}},\
             \"executable\":\"/t/c-1\",\"fresh\":true}}"
        )
    }

    #[test]
    fn test_programs_are_told_from_others() {
        let found = program(&message("compiler-artifact", true)).unwrap();
        assert_eq!(found.executable, Path::new("/t/c-1"));
        assert_eq!(found.manifest_dir, Path::new("/a/b"));
        assert_eq!(found.source, Path::new("/a/b/src/c.rs"));
        assert!(program(&message("compiler-artifact", false)).is_none());
        assert!(program(&message("build-finished", true)).is_none());
        assert!(program("{\"reason\":\"build-finished\",\"success\":true}").is_none());
    }
}
