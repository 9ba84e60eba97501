//! The safe Rust interface: the programs of `tests/rust`, on one node and on several, and programs
//! that do not compile.

use super::programs;
use crate::case::{self, Build, Case, Invocation, Status};
use crate::session::Session;
use std::sync::Arc;
use std::time::Duration;

/// Programs that succeed; those of a row run in one job, one after the other.
const ROWS: &[&[&str]] = &[
    &[
        "phases",
        "conversion_quiets_threads",
        "conversion_quiets_default",
        "threads",
    ],
    &["forgotten", "twice", "caught"],
    &["transfers", "elements", "strided", "atomics"],
    &["signals", "waits", "statics", "locks", "sessions"],
    &["scopes", "scope_panics"],
    &["futures", "ops_dropped", "ops_of_threads"],
    &["teams", "values", "teams_forgotten"],
    &["collectives"],
    &["dealt", "batches", "arrays_of_teams", "distributed"],
    &["teams_of_threads", "racing_reduction"],
    &["rayon_first", "rayon", "tokio_tasks"],
    &["leaked_to_tokio"],
];

/// The PEs and nodes of a job: oshrun's arguments.
const JOBS: [&[&str]; 5] = [
    &["-n", "1"],
    &["-n", "2"],
    &["-n", "5"],
    &["-n", "2", "--ppn", "1", "--fabric", "softhca"],
    &["-n", "5", "--ppn", "2", "--fabric", "softhca"],
];

/// Programs in which PEs of a job of three call different things, and the messages.
const MISMATCHES: &[(&str, &[&str])] = &[
    (
        "alloc_lengths",
        &["PE 1 calls World::alloc of 11 elements of 4 bytes, and PE 0 calls alloc of 10 elements"],
    ),
    (
        "alloc_sizes",
        &[
            "PE 1 calls World::alloc of 10 elements of 4 bytes, and PE 0 calls alloc of 10 elements of 8 bytes",
        ],
    ),
    (
        "free_others",
        &["of 4 bytes at offset 0x40, and PE 1 calls free of 10 elements of 4 bytes at offset 0x0"],
    ),
    (
        "freeze_others",
        &[
            "of 4 bytes at offset 0x40, and PE 1 calls freeze of 10 elements of 4 bytes at offset 0x0",
        ],
    ),
    (
        "freeze_and_own",
        &["PE 1 calls World::freeze of 10", "PE 1 calls freeze of 10"],
    ),
    (
        "broadcast_roots",
        &[
            "PE 1 calls Team::broadcast of 10 elements of 4 bytes at offset 0x0 from offset 0x40 with 1, and PE 0 calls broadcast of 10 elements of 4 bytes at offset 0x0 from offset 0x40",
        ],
    ),
    (
        "reduce_lengths",
        &[
            "PE 1 calls Team::sum_reduce of 8 elements of 4 bytes at offset 0x0 from offset 0x40, and PE 0 calls sum_reduce of 9 elements",
        ],
    ),
    (
        "reduce_sources",
        &[
            "PE 1 calls Team::sum_reduce of 5 elements of 4 bytes at offset 0x0 from offset 0x0, and PE 0 calls sum_reduce of 5 elements of 4 bytes at offset 0x0 from offset 0x40",
        ],
    ),
    (
        "sum_and_max",
        &["PE 1 calls Team::max of 1", "PE 1 calls max of 1"],
    ),
    (
        "splits",
        &[
            "PE 1 calls Team::split_strided with count 1 with 2, and PE 0 calls split_strided with count 2 with 2",
        ],
    ),
    (
        "splits_back",
        &[
            "PE 1 calls Team::split_strided with count 2 with 1, and PE 0 calls split_strided with count 2 with 2 and 4294967295",
        ],
    ),
    (
        "array_lengths",
        &["PE 1: an array of 11 elements, Block, and of 10 to 11 on others"],
    ),
    (
        "retire_others",
        &[
            "calls World::retire of 1 elements of 4 bytes with 2, and PE 1 calls retire of 1 elements of 4 bytes with 1",
        ],
    ),
    (
        "destroy_and_sum",
        &[
            "PE 1 calls Team::sum of 1",
            "calls Team::destroy, and PE 1 calls sum",
        ],
    ),
    (
        "overlap",
        &["Team::sum_reduce: destination and source overlap"],
    ),
    (
        "collect_too_much",
        &["elements 0 to 0 + 12 of a symmetric array of 10"],
    ),
    (
        "freeze_and_alloc",
        &["PE 1 calls World::freeze of 10", "PE 1 calls freeze of 10"],
    ),
    (
        "lock_and_alloc",
        &[
            "PE 1 calls World::lock of 1 elements of 8 bytes",
            "PE 1 calls lock of 1",
        ],
    ),
];

/// Crates outside of the workspace: the crate that each depends on, where it is, its main file, and
/// the output of three processes.
const OUTSIDE: [(&str, &str, &str, &[&str]); 2] = [
    (
        "shmem",
        "shmem",
        r#"fn main() -> Result<(), shmem::Error> {
    let world = shmem::World::init()?;
    let sum = world.team().sum(world.my_pe());
    println!("PE {} of {} has {sum}", world.my_pe(), world.n_pes());
    Ok(())
}"#,
        &["PE 0 of 3 has 3", "PE 2 of 3 has 3"],
    ),
    (
        "calls",
        "calls",
        r#"use calls::{Calls, Here, Load, RmaVec, Save, action};

#[derive(Save, Load)]
struct Sum {
    by: u32,
    sum: f64,
}

#[action]
fn sum(here: &Here, values: RmaVec<f64>) -> Sum {
    let by = here.calls().rank();
    Sum { by, sum: values.iter().sum() }
}

fn main() -> Result<(), calls::Error> {
    let calls = Calls::open()?;
    let next = (calls.rank() + 1) % calls.ranks();
    let values = calls.rma_vec(&vec![0.5; 100_000])?;
    let Sum { by, sum } = calls.to(next)?.run(sum, (values,)).wait()?;
    println!("rank {} of {} has {sum} by rank {by}", calls.rank(), calls.ranks());
    calls.close()
}"#,
        &[
            "rank 0 of 3 has 50000 by rank 1",
            "rank 2 of 3 has 50000 by rank 0",
        ],
    ),
];

/// Makes these crates outside of TMPDIR, which is in the workspace, builds and runs them: `$1` is the
/// project's root, `$2` oshrun, `$3` the target directory, in which crates of others are built
/// already, and then come for each the crate that it depends on, where that is, and the main file.
const BUILD_OUTSIDE: &str = r#"
place=$(mktemp --directory /tmp/farreach-outside.XXXXXX)
trap 'rm --recursive "$place"' EXIT
root=$1 oshrun=$2
export CARGO_TARGET_DIR="$3"
shift 3
while [ $# -gt 0 ]; do
    mkdir --parents "$place/outside-$1/src"
    cd "$place/outside-$1"
    cp "$root/Cargo.lock" .
    cat > Cargo.toml << END
[package]
name = "outside-$1"
edition = "2024"
[dependencies]
$1 = { path = "$root/$2" }
END
    printf '%s\n' "$3" > src/main.rs
    cargo build --offline --quiet
    "$oshrun" -n 3 "$CARGO_TARGET_DIR/debug/outside-$1"
    shift 3
done"#;

/// Returns the case of the crates outside of the workspace.
fn outside(session: &Session) -> Case {
    let run = Invocation::new("sh")
        .args(["-euc", BUILD_OUTSIDE, "sh"])
        .arg(&session.place.root)
        .arg(session.place.staged("bin/oshrun"))
        .arg(&session.place.target)
        .args(
            OUTSIDE
                .map(|(name, path, text, _)| [name, path, text])
                .concat(),
        );
    let mut case = Case::new("crates outside of the workspace, shmem and calls", 300, run);
    case.leaves_nothing = true;
    let said = OUTSIDE.iter().flat_map(|(.., said)| *said);
    case.expect.stdout = said.map(|&text| text.to_owned()).collect();
    case
}

/// Returns all cases.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let build = ["build", "--package", "farreach-safe", "--example", "safe"];
    let build = Build::new(session.cargo(&build), Duration::from_secs(300));
    // First, as it takes longest.
    let mut cases = vec![outside(session)];
    for row in ROWS {
        for job in JOBS {
            let name = format!("{}, oshrun {}", row.join(" "), job.join(" "));
            cases.push(job_case(session, &build, name, &[], job, row));
        }
    }
    // The system's libibverbs is not clean over the software device.
    for row in ROWS {
        let name = format!("{}, oshrun -n 2 valgrind", row.join(" "));
        let job = ["-n", "2", "valgrind", "--quiet", "--error-exitcode=99"];
        let mut case = job_case(session, &build, name, &[], &job, row);
        case.limit = Duration::from_secs(120);
        cases.push(case);
    }
    // A quiet that is missing shows where the puts and the meeting behind them go by several queues, which
    // are left alone now and then.
    let softhca = session.place.staged("bin/softhca").display().to_string();
    let delayed = [&softhca, "run", "--delay-seed", "1", "--"];
    let job = ["-n", "4", "--ppn", "2", "--transport", "dc"];
    let program = "conversion_quiets_default";
    let name = format!("{program}, oshrun {} with delays", job.join(" "));
    cases.push(job_case(session, &build, name, &delayed, &job, &[program]));
    for (program, said) in MISMATCHES {
        for job in [
            &["-n", "3"][..],
            &["-n", "3", "--ppn", "2", "--fabric", "softhca"],
        ] {
            let name = format!("{program}, oshrun {}", job.join(" "));
            let mut case = job_case(session, &build, name, &[], job, &[program]);
            case.expect = fails(said);
            cases.push(case);
        }
    }
    // PEs that share a processor find out; others wait for ever for a call that never comes.
    let on_one = ["taskset", "--cpu-list", "0"];
    let name = "barrier_and_alloc, oshrun -n 2 on one processor".to_owned();
    let mut mixed = job_case(
        session,
        &build,
        name,
        &on_one,
        &["-n", "2"],
        &["barrier_and_alloc"],
    );
    mixed.expect = fails(&["PE 1 is in a barrier or another call"]);
    cases.push(mixed);
    let name = "oshrun -n 2".to_owned();
    let job = job_case(session, &build, name, &[], &["-n", "2"], &["phases"]);
    cases.extend(unknown_fabrics(&job));
    cases.extend(misuses(session, "tests/rust/misuse", "shmem")?);
    Ok(cases)
}

/// Returns one case for each program in a folder, which the types of a package rule out: its first
/// line has the compiler's error. One of them compiles.
pub(super) fn misuses(session: &Session, folder: &str, package: &str) -> Result<Vec<Case>, String> {
    let (root, target) = (&session.place.root, &session.place.target);
    let build = session.cargo(&["build", "--package", package]);
    let build = Build::new(build, Duration::from_secs(300));
    let mut cases = Vec::new();
    for path in programs::sources(&root.join(folder), &["rs"])? {
        let text = case::read(&path);
        let line = text.lines().next().unwrap_or_default();
        let error = line.strip_prefix("// error").and_then(|rest| {
            let (code, words) = rest.split_once(": ")?;
            Some([format!("error{code}: "), words.to_owned()])
        });
        let in_debug = |name: &str| target.join("debug").join(name).display().to_string();
        let library = in_debug(&format!("lib{package}.rlib"));
        let run = Invocation::new("rustc")
            .args(["--edition", "2024", "--emit", "metadata", "--out-dir"])
            .arg(target.join("misuse").join(package))
            .args(["--extern", &format!("{package}={library}")])
            .args(["-L", &format!("dependency={}", in_debug("deps"))])
            .arg(&path);
        let name = path.file_stem().unwrap_or_default().display();
        let mut case = Case::new(format!("misuse: {name}"), 60, run);
        case.needs.push(Arc::clone(&build));
        match error {
            Some(error) => {
                case.expect.status = Status::Is(1);
                case.expect.stderr = error.into();
            }
            None if line.starts_with("// Compiles") => {}
            None => return Err(format!("{}: no error in line 1", path.display())),
        }
        cases.push(case);
    }
    Ok(cases)
}

/// Returns a case for each variable that says how processes reach each other: `case`, a job on one
/// node, is refused where the variable names nothing, by the same message whatever the job's layer.
pub(super) fn unknown_fabrics(case: &Case) -> impl Iterator<Item = Case> {
    let variables = [
        ("FARREACH_FABRIC", "auto, shm, mlx5 and libfabric"),
        ("FARREACH_TRANSPORT", "auto, rc and dc"),
    ];
    variables.into_iter().map(|(variable, words)| {
        let mut case = case.clone();
        case.name = format!("{variable}=bogus, {}", case.name);
        case.run = case.run.env(variable, "bogus");
        case.expect = fails(&[&format!("{variable}=\"bogus\" is none of {words}")]);
        case
    })
}

/// Returns the expectation of a job that ends by a panic with these words.
fn fails(said: &[&str]) -> case::Expect {
    case::Expect {
        status: Status::Is(101),
        stderr: said.iter().map(|&text| text.to_owned()).collect(),
        ..Default::default()
    }
}

fn job_case(
    session: &Session,
    build: &Arc<Build>,
    name: String,
    before: &[&str],
    job: &[&str],
    programs: &[&str],
) -> Case {
    let oshrun = session.place.staged("bin/oshrun");
    let run = match before {
        [] => Invocation::new(oshrun),
        [first, rest @ ..] => Invocation::new(first).args(rest).arg(oshrun),
    };
    let program = session.place.target.join("debug/examples/safe");
    let run = run.args(job).arg(program).args(programs);
    let mut case = Case::new(name, 60, run);
    case.needs.push(Arc::clone(build));
    case.leaves_nothing = true;
    let done = programs.iter().map(|name| format!("{name}: done"));
    case.expect.stdout = done.collect();
    case
}
