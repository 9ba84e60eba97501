//! Jobs under Open MPI's mpirun, which speaks PMIx: the examples, and PEs without a library.

use super::hosts::{text, wireup};
use crate::case::{Build, Case, Invocation, Status};
use crate::groups::programs::{self, MPIRUN};
use crate::own::Own;
use crate::place::Place;
use crate::runline::Launcher;
use crate::session::Session;
use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The numbers of PEs of a job that ends well.
const SIZES: [u32; 3] = [1, 2, 4];

/// The cases in Rust. Their argument is the compiled wireup.rs.
pub(crate) const OWN: &[Own] = &[Own {
    name: "kill -9 of mpirun",
    seconds: 60,
    run: |_: &Place, args| server_is_killed(&args[0]),
}];

/// The ends of jobs of PEs without a library: the words, the PEs, mpirun's status, and a text on
/// standard output.
const ENDS: &[(&[&str], u32, Status, &str)] = &[
    (&["all"], 1, Status::Is(0), "PE 0 of 1 on "),
    (&["all"], 2, Status::Is(0), "nodes [0, 0]"),
    (&["all"], 4, Status::Is(0), "PE 3 of 4 on "),
    (&["many", "500"], 3, Status::Is(0), "PE 2 has read 500"),
    (&["abort", "7"], 3, Status::Is(7), ""),
    (&["exit", "3"], 3, Status::Is(3), ""),
    (&["kill"], 3, Status::Is(137), ""),
];

/// PMIx's library is no library, and then there is nobody to connect to.
const NO_LIBRARY: &str = r#": > "$TMPDIR/libpmix.so.2"; status=0
    LD_LIBRARY_PATH=$TMPDIR "$@" || status=$?; rm "$TMPDIR/libpmix.so.2"; exit $status"#;

/// Returns all cases.
pub(super) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let (program, build) = wireup(session);
    let mut cases = examples(session)?;
    for (words, pes, status, said) in ENDS {
        let run = Invocation::new(MPIRUN[0])
            .args(&MPIRUN[1..])
            .args(["-n", &pes.to_string(), &program])
            .args(*words);
        let mut case = of_wireup(
            format!("mpirun -n {pes} wireup {}", words.join(" ")),
            &build,
            run,
        );
        case.expect.status = *status;
        case.expect.stdout = vec![(*said).to_owned()];
        cases.push(case);
    }
    let alone = |run: Invocation| {
        let run = run.arg(&program).arg("all");
        run.env("PMIX_NAMESPACE", "farreach").env("PMIX_RANK", "0")
    };
    let no_library = Invocation::new("sh").args(["-euc", NO_LIBRARY, "sh"]);
    for (name, run, said) in [
        ("PMIx without its library", alone(no_library), "libpmix2"),
        (
            "PMIx without a server",
            alone(Invocation::new("env")),
            "PMIx_Init",
        ),
    ] {
        let mut case = of_wireup(name.to_owned(), &build, run);
        case.expect.status = Status::Is(99);
        case.expect.stderr = vec![said.to_owned()];
        cases.push(case);
    }
    for own in OWN {
        let mut case = own.case(std::slice::from_ref(&program))?;
        case.needs.push(build.clone());
        cases.push(case);
    }
    Ok(cases)
}

fn of_wireup(name: String, build: &Arc<Build>, run: Invocation) -> Case {
    let mut case = Case::new(name, 60, run);
    case.needs.push(build.clone());
    case.leaves_nothing = true;
    case
}

/// Returns the runs of the examples in C that end well, with some numbers of PEs.
fn examples(session: &Session) -> Result<Vec<Case>, String> {
    let dir = session.place.root.join("examples/c");
    let mut cases = Vec::new();
    for path in programs::sources(&dir, &["c"])? {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("mpirun, {file}");
        let executable = session.built(&name);
        let build = programs::compile(session, &path, &[], None, &executable);
        for mut run in programs::runs(&path)? {
            if run.expect.status != Status::Is(0) || !SIZES.contains(&run.np) {
                continue;
            }
            run.launcher = Launcher::OpenMpi;
            run.timeout = run.timeout.max(60);
            let mut case = programs::case(session, &name, &run, None, &executable);
            case.needs.push(build.clone());
            cases.push(case);
        }
    }
    let names: HashSet<_> = cases.iter().map(|case| case.name.clone()).collect();
    if cases.len() < 10 || names.len() != cases.len() {
        return Err(format!("{} examples for mpirun", cases.len()));
    }
    Ok(cases)
}

/// Checks that PEs learn of the end of their server, which is mpirun itself on its own node.
fn server_is_killed(program: &str) -> Result<(), String> {
    let scratch = std::env::temp_dir().join("scratch");
    fs::create_dir_all(&scratch).map_err(text)?;
    let file = scratch.join("said");
    let mut mpirun = Command::new(MPIRUN[0])
        .args(&MPIRUN[1..])
        .args(["-n", "2", program, "wait"])
        .arg(&file)
        .env("TMPDIR", &scratch)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(text)?;
    let stdout = mpirun.stdout.take().ok_or("no output")?;
    let ready = BufReader::new(stdout).lines().take(2);
    if ready.flatten().filter(|line| line == "ready").count() != 2 {
        return Err("the PEs are not ready".to_owned());
    }
    let killed = Instant::now();
    mpirun.kill().and_then(|()| mpirun.wait()).map_err(text)?;
    for rank in 0..2 {
        let file = file.with_extension(rank.to_string());
        let said = loop {
            match fs::read_to_string(&file) {
                Ok(said) if said.ends_with('\n') => break said,
                _ if killed.elapsed() > Duration::from_secs(10) => {
                    return Err(format!("PE {rank} does not end"));
                }
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        if said != "gone: true, then: Err(Closed)\n" {
            return Err(format!("PE {rank}: {said}"));
        }
    }
    // Open MPI's own files, which nobody is left to remove.
    fs::remove_dir_all(&scratch).map_err(text)
}
