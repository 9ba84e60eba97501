//! OpenSHMEM programs whose header comments say how to run them: `tests/conformance/README.md`.

use super::nodes::{HOSTS, LOSSY, SETTINGS, Setting};
use crate::case::{Build, Case, Invocation};
use crate::launch;
use crate::runline::{self, Launcher, Nodes, Run};
use crate::session::Session;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Seconds that compiling may take: the generic names of all types are a lot of work for a
/// compiler.
const COMPILE_LIMIT: Duration = Duration::from_secs(120);
/// Seconds that a job over the software device may take at the least: its PEs take turns with the
/// device's process.
const DEVICE_LIMIT: u64 = 60;
/// Seconds that a job may take at the least where packets are lost: each loss takes 0.2 s at the
/// least, until it is sent again.
const LOSSY_LIMIT: u64 = 240;
/// The soak of the libfabric provider, which is no OpenSHMEM program.
const PROVIDER_SOAK: &str = "provider.c";
const HYDRA: &str = "/usr/bin/mpiexec.hydra";
/// Open MPI's launcher, which starts as many PEs as it is told to, for any user.
pub(crate) const MPIRUN: [&str; 3] = [
    "/usr/bin/mpirun.openmpi",
    "--allow-run-as-root",
    "--oversubscribe",
];
const VALGRIND: [&str; 4] = ["valgrind", "--quiet", "--error-exitcode=99", "--"];

/// Returns the cases of all programs below tests/conformance, neighbours far from each other: those
/// that wait for seconds are neighbours, and others have the processors meanwhile.
pub(crate) fn conformance(session: &Session) -> Result<Vec<Case>, String> {
    let cases = below(session, "tests/conformance", &[])?;
    let turns = cases.len().isqrt().max(1);
    let mut numbered: Vec<_> = cases.into_iter().enumerate().collect();
    numbered.sort_by_key(|(at, _)| at % turns);
    Ok(numbered.into_iter().map(|(_, case)| case).collect())
}

/// Returns the cases of jobs on hosts of a lab; where there can be none, a case that says so.
pub(crate) fn on_hosts(session: &Session) -> Result<Vec<Case>, String> {
    let mut programs = in_labs(session, &HOSTS)?.into_iter();
    let mut cases = Vec::new();
    // Those of the launcher mostly wait: programs have the processors meanwhile.
    for case in launch::on_hosts(session)? {
        cases.push(case);
        cases.extend(programs.by_ref().take(2));
    }
    cases.extend(programs);
    Ok(cases)
}

/// Returns the cases of all programs, on hosts that lose packets.
pub(crate) fn lossy(session: &Session) -> Result<Vec<Case>, String> {
    in_labs(session, &LOSSY)
}

/// Returns the cases of programs in settings with hosts of a lab.
fn in_labs(session: &Session, settings: &'static [Setting]) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    let missing = farreach_hosts::missing().or_else(farreach_hosts::missing_for_drops);
    if let Some(why) = missing {
        let name = format!("programs: skipped, {why}");
        cases.push(Case::new(name, 10, Invocation::new("true")));
        return Ok(cases);
    }
    let args = ["build", "--package", "farreach-hosts"];
    let tool = Build::new(session.cargo(&args), COMPILE_LIMIT);
    let dir = session.place.root.join("tests/conformance");
    for path in sources(&dir, &["c", "cpp"])? {
        let name = path.strip_prefix(&dir).unwrap_or(&path).display();
        let name = name.to_string();
        let runs = runs(&path)?;
        let settings = settings.iter().filter(|setting| setting.has(&name));
        let jobs = settings.flat_map(|setting| {
            let chosen = setting.choose(&runs).into_iter();
            chosen.map(move |run| (run, Some(setting)))
        });
        for mut case in of_jobs(session, &path, &name, jobs.collect())? {
            case.needs.push(tool.clone());
            cases.push(case);
        }
    }
    Ok(cases)
}

/// Returns the cases of the soak.
pub(crate) fn soak(session: &Session) -> Result<Vec<Case>, String> {
    let mut cases = below(session, "tests/soak", &[PROVIDER_SOAK])?;
    cases.extend(provider_soak(session));
    let build = [
        "build",
        "--profile",
        "tools",
        "--package",
        "farreach-tests",
        "--example",
        "raw_soak",
    ];
    let program = session.place.target.join("tools/examples/raw_soak");
    let run = Invocation::new(program).args(["--seconds", "8"]);
    let mut case = Case::new("raw", 60, run);
    case.needs
        .push(Build::new(session.cargo(&build), Duration::from_secs(300)));
    case.leaves_nothing = true;
    cases.push(case);
    Ok(cases)
}

/// Returns the cases of the soak of the libfabric provider: over shared memory, and by a device
/// alone.
fn provider_soak(session: &Session) -> [Case; 3] {
    let program = session.built(PROVIDER_SOAK);
    let compile = Invocation::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"])
        .arg(session.place.root.join("include"))
        .arg("-o")
        .arg(&program)
        .arg(session.place.root.join("tests/soak").join(PROVIDER_SOAK))
        .arg("-lfabric");
    let build = Build::new(compile, COMPILE_LIMIT);
    let near = Invocation::new(&program).args(["--seconds", "4", "--processes", "3"]);
    let far = |transport: &str| {
        Invocation::new(session.place.staged("bin/softhca"))
            .args(["run", "--"])
            .arg(&program)
            .args(["--seconds", "3", "--processes", "2"])
            .env("FI_FARREACH_NEAR", "0")
            .env("FI_FARREACH_TRANSPORT", transport)
    };
    [
        ("provider", near),
        ("provider, rc", far("rc")),
        ("provider, dc", far("dc")),
    ]
    .map(|(name, run)| {
        let path = session.place.staged("lib/farreach");
        let run = run
            .args(["--threads", "2", "--limit", "40", "--seed", "20261128"])
            .env("FI_PROVIDER_PATH", path);
        let mut case = Case::new(name, DEVICE_LIMIT, run);
        case.needs.push(build.clone());
        case.leaves_nothing = true;
        case
    })
}

/// Returns the cases of the programs below a folder, but for these.
fn below(session: &Session, dir: &str, others: &[&str]) -> Result<Vec<Case>, String> {
    let dir = session.place.root.join(dir);
    let mut cases = Vec::new();
    for path in sources(&dir, &["c", "cpp"])? {
        let name = path
            .strip_prefix(&dir)
            .unwrap_or(&path)
            .display()
            .to_string();
        if others.contains(&name.as_str()) {
            continue;
        }
        cases.extend(of_program(session, &path, &name)?);
    }
    Ok(cases)
}

/// Returns the files below `dir` with one of the endings, in order.
pub(crate) fn sources(dir: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, String> {
    let error = |error: std::io::Error| format!("{}: {error}", dir.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(error)? {
        let path = entry.map_err(error)?.path();
        if path.is_dir() {
            found.extend(sources(&path, endings)?);
        } else if path
            .extension()
            .is_some_and(|end| endings.iter().any(|wanted| end == *wanted))
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the run lines of a program.
pub(crate) fn runs(path: &Path) -> Result<Vec<Run>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    runline::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn of_program(session: &Session, path: &Path, name: &str) -> Result<Vec<Case>, String> {
    let runs = runs(path)?;
    of_jobs(session, path, name, jobs(name, &runs))
}

/// Returns the cases of these jobs of a program.
fn of_jobs(
    session: &Session,
    path: &Path,
    name: &str,
    jobs: Vec<(&Run, Option<&'static Setting>)>,
) -> Result<Vec<Case>, String> {
    let mut builds = HashMap::new();
    let mut cases = Vec::new();
    for (run, setting) in jobs {
        let flags = flags(run)?;
        let compiler = run.compiler.clone();
        let number = builds.len();
        let (build, executable): &(Arc<Build>, PathBuf) = builds
            .entry((flags.clone(), compiler.clone()))
            .or_insert_with(|| {
                let executable = session.built(&format!("{name}.{number}"));
                (
                    compile(session, path, &flags, compiler.as_deref(), &executable),
                    executable,
                )
            });
        let mut case = case(session, name, run, setting, executable);
        case.needs.push(build.clone());
        cases.push(case);
    }
    Ok(cases)
}

/// Returns the jobs of a program: all of its runs on one node, and a choice of them in each setting
/// of several nodes. A run by one transport is in some setting, whichever programs that lists.
pub(crate) fn jobs<'a>(name: &str, runs: &'a [Run]) -> Vec<(&'a Run, Option<&'static Setting>)> {
    let on_one = runs.iter().filter(|run| run.nodes != Nodes::Several);
    let on_several = SETTINGS.iter().filter(|setting| setting.has(name));
    let on_several = on_several.flat_map(|setting| {
        let chosen = setting.choose(runs).into_iter();
        chosen.map(move |run| (run, Some(setting)))
    });
    let listed = |run: &Run| {
        let mut settings = SETTINGS.iter().chain(&HOSTS);
        settings.any(|setting| setting.has(name) && setting.allows(run))
    };
    let by_transport = runs.iter().filter(|run| run.transport.is_some());
    let others = by_transport.filter(|run| !listed(run)).filter_map(|run| {
        let setting = SETTINGS.iter().find(|setting| setting.allows(run))?;
        Some((run, Some(setting)))
    });
    let on_one = on_one.map(|run| (run, None));
    on_one.chain(on_several).chain(others).collect()
}

/// Returns the case of a program that starts as `executable`, or of a source for oshrun: on one
/// node, or in a setting of several.
pub(crate) fn case(
    session: &Session,
    name: &str,
    run: &Run,
    setting: Option<&Setting>,
    executable: &Path,
) -> Case {
    let np = run.np.to_string();
    let mut words: Vec<String> = Vec::new();
    if run.valgrind {
        words.extend(VALGRIND.map(str::to_owned));
    }
    words.push(executable.display().to_string());
    words.extend(run.args.iter().cloned());
    let lab = setting.and_then(|setting| setting.lab);
    let start = match run.launcher {
        _ if let Some(names) = lab.and_then(|lab| lab.hydra) => Invocation::new(HYDRA)
            .args(["-launcher", "rsh", "-launcher-exec", farreach_hosts::RSH])
            .args(["-hosts", names, "-n", &np])
            .args(words),
        Launcher::Oshrun => oshrun(session, run, setting)
            .args(["-n", &np])
            .args(setting.into_iter().flat_map(|setting| setting.words))
            .arg("--")
            .args(words),
        Launcher::Hydra => Invocation::new(HYDRA).args(["-n", &np]).args(words),
        Launcher::OpenMpi => Invocation::new(MPIRUN[0])
            .args(&MPIRUN[1..])
            .args(["-n", &np])
            .args(words),
        Launcher::None => Invocation::new(words.remove(0)).args(words),
    };
    let start = match lab {
        Some(lab) => Invocation::new(session.place.target.join("debug/farreach-hosts"))
            .args(["with", lab.count, lab.lost])
            .arg(start.program)
            .args(start.args),
        None => start,
    };
    let start = setting
        .map_or(&[][..], |setting| setting.environment)
        .iter()
        .fold(start, |start, (name, value)| start.env(name, *value));
    let start = run
        .env
        .iter()
        .fold(start, |start, (name, value)| start.env(name, value));
    let (name, seconds) = match setting {
        Some(setting) => (
            format!("{name} {} {}", setting.label, run.label),
            run.timeout.max(match lab {
                Some(lab) if lab.lost != "0" => LOSSY_LIMIT,
                _ => DEVICE_LIMIT,
            }),
        ),
        None => (format!("{name} {}", run.label), run.timeout),
    };
    let mut case = Case::new(name, seconds, start);
    case.expect = run.expect.clone();
    case.leaves_nothing = true;
    case
}

/// Returns the staged oshrun, under a device with the options of run and setting, if there are any.
fn oshrun(session: &Session, run: &Run, setting: Option<&Setting>) -> Invocation {
    let oshrun = session.place.staged("bin/oshrun");
    let of_setting = setting.map_or(&[][..], |setting| setting.device);
    if run.device.is_empty() && of_setting.is_empty() {
        return Invocation::new(oshrun);
    }
    Invocation::new(session.place.staged("bin/softhca"))
        .arg("run")
        .args(&run.device)
        .args(of_setting)
        .arg("--")
        .arg(oshrun)
}

fn flags(run: &Run) -> Result<Vec<String>, String> {
    let mut flags = Vec::new();
    flags.extend(run.standard.as_ref().map(|name| format!("-std={name}")));
    if let Some(link) = &run.link {
        flags.extend(
            runline::link_flags(link)?
                .iter()
                .map(|&flag| flag.to_owned()),
        );
    }
    flags.extend(run.cflags.iter().cloned());
    Ok(flags)
}

/// Returns the build that compiles a program with the staged oshcc or oshc++.
pub(crate) fn compile(
    session: &Session,
    source: &Path,
    flags: &[String],
    compiler: Option<&str>,
    executable: &Path,
) -> Arc<Build> {
    let cxx = source.extension().is_some_and(|end| end != "c");
    let (tool, variable) = if cxx {
        ("bin/oshc++", "OSHCXX_CXX")
    } else {
        ("bin/oshcc", "OSHCC_CC")
    };
    let mut run = Invocation::new(session.place.staged(tool))
        .args(["-O2", "-g1", "-Wall", "-Wextra", "-Werror"])
        .arg("-I")
        .arg(session.place.root.join("tests/conformance"))
        .args(flags)
        .arg("-o")
        .arg(executable)
        .arg(source)
        // Libraries come after the objects that need them.
        .args(flags.iter().filter(|flag| flag.starts_with("-l")));
    if let Some(compiler) = compiler {
        run = run.env(variable, compiler);
    }
    Build::new(run, COMPILE_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runline;

    #[test]
    fn no_line_of_one_transport_is_left_out() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
        for path in sources(&dir, &["c", "cpp"]).unwrap() {
            let name = path.strip_prefix(&dir).unwrap().display().to_string();
            let runs = runs(&path).unwrap();
            let jobs = jobs(&name, &runs);
            for run in runs.iter().filter(|run| run.transport.is_some()) {
                let here = jobs.iter().any(|(job, _)| std::ptr::eq(*job, run));
                let mut hosts = HOSTS.iter().filter(|setting| setting.has(&name));
                let is_run = here || hosts.any(|setting| setting.allows(run));
                assert!(is_run, "{name}: {}", run.label);
            }
        }
    }

    #[test]
    fn a_line_of_one_transport_is_run() {
        let labels = |name, source: &str| -> Vec<_> {
            let runs = runline::parse(source).unwrap();
            let jobs = jobs(name, &runs).into_iter();
            jobs.map(|(_, setting)| setting.map_or("one", |setting| setting.label))
                .collect()
        };
        let lines = |transports: &[&str]| -> String {
            let line = |to| format!("// run: np=3 nodes=several transport={to} args={to}\n");
            transports.iter().map(line).collect()
        };
        assert_eq!(labels("bad_input/x.c", &lines(&["dc"])), ["dc ppn=1"]);
        let both = lines(&["rc", "dc"]);
        assert_eq!(labels("bad_input/x.c", &both), ["rc ppn=1", "dc ppn=1"]);
        let libfabric = lines(&["libfabric"]);
        assert_eq!(labels("bad_input/x.c", &libfabric), ["libfabric ppn=2"]);
        assert_eq!(
            labels("semantics/asleep.c", &libfabric),
            [""; 0],
            "on hosts"
        );
    }
}
