//! Programs of GASNet-1 and of farreach_am.h, compiled with the pkg-config files of the installation:
//! tests/gasnet/README.md.

use super::nodes::{SETTINGS, Setting};
use super::programs;
use crate::case::{Build, Case, Invocation};
use crate::runline::{Nodes, Run};
use crate::session::Session;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The folders of the programs.
const FOLDERS: [&str; 3] = ["tests/am", "tests/gasnet", "examples/gasnet"];

/// The settings of several nodes: the transports, and two of them beside shared memory.
const OF_SETTINGS: [&str; 4] = ["rc ppn=1", "dc ppn=1", "rc ppn=2", "libfabric ppn=2"];

/// Compiles `$3` as `$2` by the package `$1`; further words are the compiler's.
const COMPILE: &str = r#"
    package=$1 program=$2 source=$3; shift 3
    case $source in *.cpp) compiler="c++ -std=c++11" ;; *) compiler="cc -std=c99 -D_GNU_SOURCE" ;; esac
    eval "$compiler -O2 -g -Wall -Wextra -Werror $(pkg-config --cflags $package)" \
        '-o "$program" "$source" "$@"' "$(pkg-config --libs $package)""#;

/// Returns one case for each run of each program, on one node, and a choice of them on several.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for folder in FOLDERS {
        let dir = session.place.root.join(folder);
        for path in programs::sources(&dir, &["c", "cpp"])? {
            let name = path.strip_prefix(&dir).unwrap_or(&path).display();
            cases.extend(of_program(session, &path, &name.to_string())?);
        }
    }
    Ok(cases)
}

fn of_program(session: &Session, path: &Path, name: &str) -> Result<Vec<Case>, String> {
    let runs = programs::runs(path)?;
    let mut builds: HashMap<(&str, &[String]), Arc<Build>> = HashMap::new();
    let mut cases = Vec::new();
    for (run, setting) in jobs(&runs) {
        let Some(mode) = run.mode.as_deref() else {
            return Err(format!("{}: a run line has no mode=", path.display()));
        };
        let program = session.built(&format!("gasnet-{name}.{mode}{}", run.cflags.concat()));
        let build = builds.entry((mode, &run.cflags)).or_insert_with(|| {
            let compile = Invocation::new("sh")
                .args(["-euc", COMPILE, "sh", &package(mode)])
                .arg(&program)
                .arg(path)
                .args(&run.cflags)
                .env("PKG_CONFIG_PATH", session.place.staged("lib/pkgconfig"));
            Build::new(compile, Duration::from_secs(60))
        });
        let mut case = programs::case(session, name, run, setting, &program);
        case.needs.push(build.clone());
        cases.push(case);
    }
    Ok(cases)
}

/// Returns the package of a mode, for pkg-config.
fn package(mode: &str) -> String {
    match mode {
        "am" => "farreach-am".to_owned(),
        mode => format!("farreach-gasnet-{mode}"),
    }
}

/// Returns the runs on one node, and those in each setting of several nodes: of each mode, as
/// [`Setting::choose`] has them.
fn jobs(runs: &[Run]) -> Vec<(&Run, Option<&'static Setting>)> {
    let on_one = runs.iter().filter(|run| run.nodes != Nodes::Several);
    // The first of each: others with the same label are for other programs.
    let first = |label| SETTINGS.iter().find(|setting| setting.label == label);
    let settings = OF_SETTINGS.into_iter().filter_map(first);
    let on_several = settings.flat_map(|setting| {
        let chosen = setting.choose(runs).into_iter();
        chosen.map(move |run| (run, Some(setting)))
    });
    on_one.map(|run| (run, None)).chain(on_several).collect()
}
