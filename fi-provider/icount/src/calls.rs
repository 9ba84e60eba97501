//! Calls of a user's program, by the routine that was called and by layer, and the report on them.

use crate::callgrind::{self, Job, Profiles};
use crate::costs::{Costs, Layers, Place, is_own};
use crate::layer::{self, Layer};
use crate::profile::{Line, is_named, lines};
use crate::source::{self, Sources};
use crate::table::{is_none, number, sum, used};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Callers of a function that a profile tells apart: more than a call of these libraries is deep.
const DEPTH: u32 = 40;

/// The calls of one routine.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Call {
    /// How often it was called.
    pub calls: u64,
    /// Instructions of all calls.
    pub instructions: u64,
    /// Instructions of one call in each layer, on the average.
    pub layers: Layers,
    /// Instructions of all calls by source line.
    pub places: BTreeMap<Place, i64>,
    /// The functions that it calls itself. The first is itself.
    pub inside: Vec<Inside>,
}

/// A function that a counted one calls itself.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Inside {
    /// Its name.
    pub name: String,
    /// How often it was called.
    pub calls: u64,
    /// Instructions of all calls, with those of the functions that it calls.
    pub instructions: u64,
}

/// The routines that are counted.
#[derive(Debug, Clone, Copy)]
pub enum Routines<'a> {
    /// Those of Farreach's libraries that the program calls.
    OfLibraries,
    /// A function of this name, of the program or of a library.
    Named(&'a str),
}

/// Runs the program under its launcher and counts on one PE; the routines by their names.
///
/// # Errors
///
/// Fails where the job fails, where callgrind's profile or a file's line information cannot be
/// read.
pub fn count(
    launcher: &[OsString],
    pe: u32,
    program: &[OsString],
    routines: Routines<'_>,
) -> Result<BTreeMap<String, Call>, String> {
    let profiles = Profiles::new()?;
    let options =
        format!("--dump-instr=yes --demangle=no --separate-callers={DEPTH} --compress-pos=no");
    let job = Job {
        launcher,
        environment: &[],
        pe,
        options: &options,
        program,
    };
    callgrind::run(&job, &profiles, false)?;
    evaluate(&profiles.whole()?, routines, &mut Sources::default())
}

/// Returns the calls of a profile with `--separate-callers`.
fn evaluate(
    profile: &str,
    routines: Routines<'_>,
    sources: &mut Sources,
) -> Result<BTreeMap<String, Call>, String> {
    let finder = Finder::new(profile, routines)?;
    let mut found: HashMap<String, Found> = HashMap::new();
    let mut object = PathBuf::new();
    let mut function = Position::default();
    let mut callee = Position::default();
    let mut calls = None;
    for line in lines(profile) {
        match line.map_err(|error| error.to_string())? {
            Line::Object(name) => object = PathBuf::from(name),
            Line::Function(name) => function = finder.position(&name),
            Line::Callee(name) => callee = finder.position(&name),
            Line::Calls(count) => calls = Some(count),
            Line::Cost {
                address,
                instructions,
            } => match (calls.take(), &function, &callee) {
                (
                    None,
                    Position {
                        entry: Some(name),
                        inside,
                        ..
                    },
                    _,
                ) => {
                    let found = found.entry(name.clone()).or_default();
                    let cost = i64::try_from(instructions).unwrap_or(i64::MAX);
                    found.costs.add_one(&object, address, cost);
                    found.inside_of(inside).instructions += instructions;
                }
                (
                    Some(count),
                    _,
                    Position {
                        entry: Some(name),
                        depth,
                        inside,
                    },
                ) => {
                    let found = found.entry(name.clone()).or_default();
                    match depth {
                        0 => found.calls += count,
                        1 => found.inside_of(inside).calls += count,
                        _ => {}
                    }
                }
                _ => {}
            },
        }
    }
    let program = finder.program;
    let mut all = BTreeMap::new();
    for (name, found) in found {
        all.insert(
            source::readable(&name),
            found.call(&name, &program, sources)?,
        );
    }
    Ok(all)
}

/// Costs of a routine on their way.
#[derive(Debug, Default)]
struct Found {
    calls: u64,
    costs: Costs,
    inside: HashMap<String, Inside>,
}

impl Found {
    fn inside_of(&mut self, name: &str) -> &mut Inside {
        self.inside.entry(name.to_owned()).or_default()
    }

    fn call(self, name: &str, program: &Path, sources: &mut Sources) -> Result<Call, String> {
        let places = self.costs.places(program, sources)?;
        let calls = self.calls.max(1) as f64;
        let mut layers = Layers::new();
        for ((layer, ..), cost) in &places {
            *layers.entry(*layer).or_default() += *cost as f64 / calls;
        }
        let mut inside: Vec<_> = self.inside.into_iter().collect();
        inside.sort_by(|(one, first), (other, second)| {
            let order = (one != name).cmp(&(other != name));
            let order = order.then(second.instructions.cmp(&first.instructions));
            order.then(one.cmp(other))
        });
        let inside = inside.into_iter().map(|(name, inside)| Inside {
            name: source::readable(&name),
            ..inside
        });
        Ok(Call {
            calls: self.calls,
            instructions: u64::try_from(self.costs.total()).unwrap_or(0),
            layers,
            places,
            inside: inside.collect(),
        })
    }
}

/// The position of a function in the chain of calls that led to it.
#[derive(Debug, Default, Clone)]
struct Position {
    /// The counted routine that it is or that led to it.
    entry: Option<String>,
    /// Calls between the routine and it; 0 for the routine itself.
    depth: usize,
    /// The function that the routine called on the way, or itself.
    inside: String,
}

/// Finds the routine among the callers of a function.
struct Finder<'a> {
    routines: Routines<'a>,
    /// The functions of Farreach's libraries, and the name that each is called by here.
    own: HashMap<String, String>,
    /// The file of the program.
    program: PathBuf,
}

impl<'a> Finder<'a> {
    fn new(profile: &str, routines: Routines<'a>) -> Result<Self, String> {
        let command = profile.lines().find_map(|line| line.strip_prefix("cmd: "));
        let program = command.and_then(|command| command.split(' ').next());
        let mut finder = Self {
            routines,
            own: HashMap::new(),
            program: program.map(PathBuf::from).unwrap_or_default(),
        };
        if let Ok(path) = finder.program.canonicalize() {
            finder.program = path;
        }
        let mut seen = HashSet::new();
        for line in lines(profile) {
            if let Line::Object(name) = line.map_err(|error| error.to_string())?
                && !seen.contains(&name)
            {
                let path = Path::new(&name);
                if is_own(path) {
                    let functions = source::functions(path)?.into_iter();
                    let is_routine =
                        |name: &str| !layer::comes_with_the_compiler(&source::readable(name));
                    let routines = functions.filter(|(name, _)| is_routine(name));
                    finder.own.extend(routines);
                }
                seen.insert(name);
            }
        }
        Ok(finder)
    }

    /// Returns the position of a function with its callers behind it, as `f'caller'main`.
    fn position(&self, chain: &str) -> Position {
        // A number is a level of recursion.
        let is_level = |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        let chain: Vec<&str> = chain.split('\'').filter(|word| !is_level(word)).collect();
        let Some(at) = chain.iter().rposition(|name| self.is_routine(name)) else {
            return Position::default();
        };
        Position {
            entry: Some(
                self.own
                    .get(chain[at])
                    .map_or(chain[at], String::as_str)
                    .to_owned(),
            ),
            depth: at,
            inside: chain[at.saturating_sub(1)].to_owned(),
        }
    }

    fn is_routine(&self, name: &str) -> bool {
        match self.routines {
            Routines::OfLibraries => self.own.contains_key(name),
            Routines::Named(wanted) => name == wanted || is_named(&source::readable(name), wanted),
        }
    }
}

/// Details of each routine in a report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Details {
    /// The functions that it calls itself.
    pub inside: bool,
    /// The source lines that its instructions are of.
    pub lines: bool,
}

/// Functions called by the counted one that are told of.
const SHOWN: usize = 12;
/// The widest column for the names of routines; longer ones move their line.
const WIDEST: usize = 44;

/// Returns the report on the calls of a PE: a line for each routine.
pub fn report(pe: u32, calls: &BTreeMap<String, Call>, details: Details) -> String {
    let layers = used(calls.values().map(|call| &call.layers));
    let mut order: Vec<_> = calls.iter().collect();
    // Routines that are called once are not in a loop: start and end.
    order.sort_by_key(|(_, call)| (call.calls <= 1, std::cmp::Reverse(call.instructions)));
    let width = calls
        .keys()
        .map(String::len)
        .filter(|len| *len <= WIDEST)
        .max();
    let width = width.unwrap_or(0).max(8);
    let mut text = format!(
        "instructions of one call on PE {pe}, on the average, by layer\n{:width$} {:>9} {:>12}",
        "routine", "calls", "all"
    );
    for layer in &layers {
        let _ = write!(text, " {:>10}", layer.name());
    }
    text.push('\n');
    for (name, call) in order {
        let all = number(sum(&call.layers));
        let _ = write!(text, "{name:width$} {:>9} {all:>12}", call.calls);
        for layer in &layers {
            let count = call.layers.get(layer).copied().unwrap_or(0.0);
            let column = layer.name().len().max(10);
            let count = if is_none(count) {
                String::new()
            } else {
                number(count)
            };
            let _ = write!(text, " {count:>column$}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        if details.inside {
            inside(&mut text, call);
        }
        if details.lines {
            lines_of(&mut text, call);
        }
    }
    if layers.contains(&Layer::Caller) && !details.inside {
        let note = "\"caller\" is code of the program, such as handlers that the library calls.\n";
        text.push_str(note);
    }
    text
}

/// Adds the functions that a function calls itself.
fn inside(text: &mut String, call: &Call) {
    let each = |instructions: u64| number(instructions as f64 / call.calls.max(1) as f64);
    for (index, inside) in call.inside.iter().take(SHOWN).enumerate() {
        let instructions = each(inside.instructions);
        let Inside { name, calls, .. } = inside;
        let _ = match index {
            0 => writeln!(text, "{instructions:>15}  its own"),
            _ => writeln!(text, "{instructions:>15}  {name}, {calls} calls"),
        };
    }
    let rest = call.inside.iter().skip(SHOWN);
    let rest = rest.map(|inside| inside.instructions).sum();
    if rest > 0 {
        let _ = writeln!(text, "{:>15}  other functions", each(rest));
    }
}

/// Adds the source lines of a routine, layer by layer.
fn lines_of(text: &mut String, call: &Call) {
    let calls = call.calls.max(1) as f64;
    for ((layer, file, line, function), instructions) in &call.places {
        let each = number(*instructions as f64 / calls);
        let file = layer::in_project(file);
        let _ = writeln!(text, "{each:>15}  {layer:<15} {file}:{line} {function}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
cmd: /bin/prog 7
positions: instr line
events: Ir
ob=/bin/prog
fn=main'(below main)
0x10 0 5
cob=/lib/libc.so.6
cfn=work'main'(below main)
calls=2 0x20 0
0x14 0 60
fn=work'main'(below main)
0x20 0 20
cob=/lib/libc.so.6
cfn=memcpy'work'main'(below main)
calls=4 0x30 0
0x24 0 40
ob=/lib/libc.so.6
fn=memcpy'work'main'(below main)
0x30 0 40
fn=memcpy'main'(below main)
0x30 0 1000
totals: 1065
";

    #[test]
    fn a_function_has_what_it_calls() {
        let mut sources = Sources::default();
        let found = evaluate(TEXT, Routines::Named("work"), &mut sources).expect("it is right");
        let call = found.get("work").expect("it was called");
        assert_eq!((call.calls, call.instructions), (2, 60));
        let expected = [(Layer::Caller, 10.0), (Layer::Misc, 20.0)];
        assert_eq!(call.layers, expected.into());
        let inside = |name: &str, calls, instructions| Inside {
            name: name.to_owned(),
            calls,
            instructions,
        };
        let expected = [inside("work", 0, 20), inside("memcpy", 4, 40)];
        assert_eq!(call.inside, expected);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_function_that_was_not_called_is_not_found() {
        let found = evaluate(TEXT, Routines::Named("wor"), &mut Sources::default());
        assert_eq!(found, Ok(BTreeMap::new()));
    }

    #[test]
    fn levels_of_recursion_are_no_callers() {
        let finder = Finder {
            routines: Routines::Named("work"),
            own: HashMap::new(),
            program: PathBuf::new(),
        };
        let position = finder.position("work'2'work'main");
        assert!(position.depth == 1 && position.entry.as_deref() == Some("work"));
        assert_eq!(finder.position("work'2'main").depth, 0);
        assert_eq!(finder.position("a'b'work'main").inside, "b");
    }
}
