//! The run lines in the header comments of test programs and examples: `tests/conformance/README.md` describes them.

use crate::case::{Expect, Status};

/// The way in which the PEs of a program are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Launcher {
    /// By the staged oshrun.
    Oshrun,
    /// By MPICH's mpiexec.hydra.
    Hydra,
    /// By Open MPI's mpirun, which speaks PMIx.
    OpenMpi,
    /// Directly, as a job of one PE.
    None,
}

/// Over how many nodes the PEs of a run may be spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nodes {
    /// Runs on one node, and in the settings of several nodes too.
    Any,
    /// On one node only.
    One,
    /// In the settings of several nodes only.
    Several,
}

/// One case that a run line states: all lists are taken apart.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// Number of PEs.
    pub(crate) np: u32,
    /// The way in which they are started.
    pub(crate) launcher: Launcher,
    /// The standard behind `-std=`, if any.
    pub(crate) standard: Option<String>,
    /// The way to link, if not as the compiler likes to.
    pub(crate) link: Option<String>,
    /// The interface, of a program of active messages: GASNet's in the mode seq, parsync or par; or am,
    /// which is farreach_am.h.
    pub(crate) mode: Option<String>,
    /// Over how many nodes the PEs may be spread.
    pub(crate) nodes: Nodes,
    /// The one transport between nodes with which it runs, if not with each.
    pub(crate) transport: Option<String>,
    /// Further words for the compiler.
    pub(crate) cflags: Vec<String>,
    /// The compiler behind oshcc, if not its own choice.
    pub(crate) compiler: Option<String>,
    /// Whether the PEs run under valgrind.
    pub(crate) valgrind: bool,
    /// The program's arguments.
    pub(crate) args: Vec<String>,
    /// Options of the software device that is put around the job, in a setting of several nodes.
    pub(crate) device: Vec<String>,
    /// The environment.
    pub(crate) env: Vec<(String, String)>,
    /// The time limit in seconds.
    pub(crate) timeout: u64,
    /// The expected result.
    pub(crate) expect: Expect,
    /// The words of the line that set this case apart from the others of its program.
    pub(crate) label: String,
}

/// Reads the run lines in the header of a program. An error names the line and its fault.
///
/// # Errors
///
/// A sentence: a line that cannot be read, or no run line at all.
pub(crate) fn parse(source: &str) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    let header = source.lines().take_while(|line| line.starts_with("//"));
    for (number, line) in header.enumerate() {
        let text = line.trim_start_matches(['/', '!']).trim_start();
        if let Some(rest) = text.strip_prefix("run:") {
            let found =
                parse_line(rest).map_err(|error| format!("line {}: {error}", number + 1))?;
            for mut run in found {
                // Lines may differ in nothing but their expectations.
                if runs.iter().any(|other: &Run| other.label == run.label) {
                    run.label.push_str(&format!(" (line {})", number + 1));
                }
                runs.push(run);
            }
        }
    }
    if runs.is_empty() {
        return Err("no run line in the comment at the top".to_owned());
    }
    Ok(runs)
}

/// A line with its lists, before they are taken apart.
struct Line {
    np: Vec<u32>,
    launchers: Vec<Launcher>,
    standards: Vec<Option<String>>,
    links: Vec<Option<String>>,
    modes: Vec<Option<String>>,
    rest: Run,
}

fn parse_line(text: &str) -> Result<Vec<Run>, String> {
    let mut line = Line {
        np: Vec::new(),
        launchers: vec![Launcher::Oshrun],
        standards: vec![None],
        links: vec![None],
        modes: vec![None],
        rest: Run {
            np: 0,
            launcher: Launcher::Oshrun,
            standard: None,
            link: None,
            mode: None,
            nodes: Nodes::Any,
            transport: None,
            cflags: Vec::new(),
            compiler: None,
            valgrind: false,
            args: Vec::new(),
            device: Vec::new(),
            env: Vec::new(),
            timeout: 0,
            expect: Expect::default(),
            label: String::new(),
        },
    };
    let mut labels = Vec::new();
    let mut words = words(text)?.into_iter();
    while let Some(word) = words.next() {
        let (key, value) = word.split_once('=').unwrap_or((&word, ""));
        if key == "args" {
            line.rest.args = std::iter::once(value.to_owned())
                .filter(|first| !first.is_empty())
                .chain(words.by_ref())
                .collect();
            labels.push(format!("args={}", line.rest.args.join(" ")));
        } else {
            set(&mut line, key, value)?;
            if matches!(key, "valgrind" | "env" | "cflags" | "cc" | "device") {
                labels.push(word.clone());
            }
        }
    }
    line.rest.label = labels.join(" ");
    expand(line)
}

fn set(line: &mut Line, key: &str, value: &str) -> Result<(), String> {
    let rest = &mut line.rest;
    match key {
        "np" => {
            line.np = list(value, |np| {
                np.parse().map_err(|_| format!("np={np} is no number"))
            })?
        }
        "launcher" => line.launchers = list(value, launcher)?,
        "std" => line.standards = list(value, |name| Ok(Some(name.to_owned())))?,
        "link" => {
            line.links = list(value, |name| {
                link_flags(name).map(|_| Some(name.to_owned()))
            })?
        }
        "mode" => {
            line.modes = list(value, |name| match name {
                "seq" | "parsync" | "par" | "am" => Ok(Some(name.to_owned())),
                _ => Err(format!("mode={name} is unknown")),
            })?
        }
        "nodes" => rest.nodes = nodes(value)?,
        "transport" if matches!(value, "rc" | "dc" | "libfabric") => {
            rest.transport = Some(value.to_owned())
        }
        "cflags" => rest.cflags = value.split_whitespace().map(str::to_owned).collect(),
        "device" if !value.is_empty() => {
            rest.device = value.split_whitespace().map(str::to_owned).collect();
        }
        "cc" if !value.is_empty() => rest.compiler = Some(value.to_owned()),
        "valgrind" if value.is_empty() => rest.valgrind = true,
        "timeout" => {
            rest.timeout = value
                .parse()
                .map_err(|_| format!("timeout={value} is no number of seconds"))?;
        }
        "env" => {
            let (name, text) = value
                .split_once('=')
                .ok_or_else(|| format!("env={value} has no second '='"))?;
            rest.env.push((name.to_owned(), text.to_owned()));
        }
        "expect-stderr-lines" => {
            let lines = value.parse();
            rest.expect.stderr_lines = Some(
                lines.map_err(|_| format!("expect-stderr-lines={value} is no number of lines"))?,
            );
        }
        "expect-exit" if value == "nonzero" => rest.expect.status = Status::Nonzero,
        "expect-exit" => {
            let status = value
                .parse()
                .map_err(|_| format!("expect-exit={value} is no exit status"))?;
            rest.expect.status = Status::Is(status);
        }
        "expect-stderr" if !value.is_empty() => rest.expect.stderr.push(value.to_owned()),
        "expect-stdout" if !value.is_empty() => rest.expect.stdout.push(value.to_owned()),
        "refuse-stderr" if !value.is_empty() => rest.expect.refused.push(value.to_owned()),
        _ => {
            return Err(format!(
                "the word {key} is unknown, or its value \"{value}\" is"
            ));
        }
    }
    Ok(())
}

fn launcher(name: &str) -> Result<Launcher, String> {
    match name {
        "oshrun" => Ok(Launcher::Oshrun),
        "hydra" => Ok(Launcher::Hydra),
        "openmpi" => Ok(Launcher::OpenMpi),
        "none" => Ok(Launcher::None),
        _ => Err(format!("launcher={name} is unknown")),
    }
}

fn nodes(name: &str) -> Result<Nodes, String> {
    match name {
        "1" => Ok(Nodes::One),
        "several" => Ok(Nodes::Several),
        _ => Err(format!("nodes={name} is unknown")),
    }
}

/// Returns the compiler's words for a way to link.
///
/// # Errors
///
/// A sentence, if the name is unknown.
pub(crate) fn link_flags(name: &str) -> Result<&'static [&'static str], String> {
    match name {
        "static" => Ok(&["-static"]),
        "static-pie" => Ok(&["-static-pie", "-fPIE"]),
        "pie" => Ok(&["-pie", "-fPIE"]),
        "no-pie" => Ok(&["-no-pie", "-fno-pie"]),
        "now" => Ok(&["-Wl,-z,now"]),
        "norelro" => Ok(&["-Wl,-z,norelro"]),
        _ => Err(format!("link={name} is unknown")),
    }
}

fn list<T>(value: &str, item: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    value.split(',').map(item).collect()
}

fn expand(line: Line) -> Result<Vec<Run>, String> {
    if line.np.is_empty() {
        return Err("np= is missing".to_owned());
    }
    let of_several = !line.rest.device.is_empty() || line.rest.transport.is_some();
    if of_several && line.rest.nodes != Nodes::Several {
        return Err("device= and transport= are for nodes=several".to_owned());
    }
    let several = line.launchers.len() > 1 || line.launchers[0] != Launcher::Oshrun;
    let mut runs = Vec::new();
    for standard in &line.standards {
        for link in &line.links {
            for mode in &line.modes {
                for &launcher in &line.launchers {
                    for &np in &line.np {
                        if launcher == Launcher::None && np != 1 {
                            return Err("launcher=none takes np=1".to_owned());
                        }
                        let names = [("std", standard), ("link", link), ("mode", mode)];
                        let named = names.iter().filter_map(|(key, name)| {
                            name.as_ref().map(|name| format!("{key}={name}"))
                        });
                        let mut words = vec![format!("np={np}")];
                        words.extend(named);
                        words.extend(
                            several.then(|| format!("launcher={launcher:?}").to_lowercase()),
                        );
                        words.extend(
                            Some(line.rest.label.clone()).filter(|label| !label.is_empty()),
                        );
                        let timeout = match line.rest.timeout {
                            0 if line.rest.valgrind => 60,
                            0 => 20,
                            seconds => seconds,
                        };
                        runs.push(Run {
                            np,
                            launcher,
                            standard: standard.clone(),
                            link: link.clone(),
                            mode: mode.clone(),
                            timeout,
                            label: words.join(" "),
                            ..line.rest.clone()
                        });
                    }
                }
            }
        }
    }
    Ok(runs)
}

/// Splits a line at blanks; double quotes keep blanks and are removed.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut started = false;
    let mut quoted = false;
    for character in text.chars() {
        match character {
            '"' => {
                quoted = !quoted;
                started = true;
            }
            blank if blank.is_whitespace() && !quoted => {
                if started {
                    words.push(std::mem::take(&mut word));
                    started = false;
                }
            }
            other => {
                word.push(other);
                started = true;
            }
        }
    }
    if quoted {
        return Err("a double quote is not closed".to_owned());
    }
    if started {
        words.push(word);
    }
    Ok(words)
}

#[cfg(test)]
#[path = "runline_tests.rs"]
mod tests;
