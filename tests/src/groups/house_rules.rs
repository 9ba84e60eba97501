//! Rules of the house that no other tool checks: CONTRIBUTING.md lists them.

use crate::own::Own;
use std::fs;
use std::path::{Path, PathBuf};

/// The case.
pub(crate) const OWN: &[Own] = &[Own {
    name: "house-rules",
    seconds: 30,
    run: |place, _| check(&place.root),
}];

/// Lines of a source file.
const LONGEST: usize = 800;
/// Number of lines above an `unsafe` in which its reason may stand.
const REASON_WITHIN: usize = 12;
/// Words that refer: a reason of these and of names alone leaves the requirement to another place.
const REFERRING: &str = "\
    a above all an and are as at before below beside by caller callers contract contracts does \
    ensures for from function functions guarantees has here holds in is it its keep keeps \
    likewise near of one ones or other part pointer pointers previous promise promises \
    requirement requirements requires rest routine routines same see so such that the their \
    there these this those to too under upholds vouch vouches which with";
/// Folders that hold nothing written by hand.
const SKIPPED: [&str; 2] = ["target", ".git"];
/// Written in two parts, so that this file may pass its own check.
const UNFINISHED: [&str; 6] = [
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("TO", "DO"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("#[ign", "ore"),
];

/// The crate whose routines have rules of threads that the compiler does not know.
const ROUTINES: &str = "shmem/src/";
/// The files of it that safe code may use all of: the interface that keeps the rules by its types,
/// plain data, and a type that only unsafe code can make.
const SAFE_FILES: [&str; 3] = [
    "shmem/src/safe/",
    "shmem/src/heap.rs",
    "shmem/src/check/mod.rs",
];
/// The functions elsewhere that safe code may call at any time from any thread.
const SAFE_FUNCTIONS: [&str; 1] = ["query_initialized"];

fn check(root: &Path) -> Result<(), String> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    if files.len() < 20 {
        return Err(format!(
            "only {} source files below {}",
            files.len(),
            root.display()
        ));
    }
    let mut wrong = Vec::new();
    for path in &files {
        let text =
            fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path
            .strip_prefix(root)
            .unwrap_or(path)
            .display()
            .to_string();
        wrong.extend(broken_rules(&name, &text));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

/// Collects the source files below a folder. Generated headers are not among them.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let error = |error: std::io::Error| format!("{}: {error}", dir.display());
    for entry in fs::read_dir(dir).map_err(error)? {
        let entry = entry.map_err(error)?;
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.file_type().map_err(error)?.is_dir() {
            if !SKIPPED.contains(&&*name) {
                collect(&path, files)?;
            }
        } else if [".rs", ".c", ".cpp", ".sh"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns a line for each place where a file breaks a rule.
fn broken_rules(name: &str, text: &str) -> Vec<String> {
    let lines: Vec<_> = text.lines().collect();
    let mut wrong = Vec::new();
    if lines.len() > LONGEST {
        wrong.push(format!(
            "{name}: {} lines, at most {LONGEST} are allowed",
            lines.len()
        ));
    }
    for (index, line) in lines.iter().enumerate() {
        let number = index + 1;
        for mark in UNFINISHED.iter().filter(|mark| has_word(line, mark)) {
            wrong.push(format!("{name}:{number}: {mark}"));
        }
        if name.ends_with(".rs") && needs_reason(line) && !has_reason(&lines, index) {
            wrong.push(format!("{name}:{number}: no // SAFETY: above"));
        }
        if name.ends_with(".rs") && reason(&lines[index..]).is_some_and(|it| only_refers(&it)) {
            wrong.push(format!("{name}:{number}: // SAFETY: names no requirement"));
        }
        if is_safe_routine(name, line) {
            wrong.push(format!(
                "{name}:{number}: a public routine that is not unsafe"
            ));
        }
    }
    wrong
}

/// Returns whether a line defines a function that safe code can call although it has rules of
/// threads.
fn is_safe_routine(name: &str, line: &str) -> bool {
    if !name.starts_with(ROUTINES) || SAFE_FILES.iter().any(|safe| name.starts_with(safe)) {
        return false;
    }
    let Some(rest) = line.trim_start().strip_prefix("pub ") else {
        return false;
    };
    let mut words =
        rest.split(|character: char| !(character.is_alphanumeric() || character == '_'));
    let mut before = words.by_ref().take_while(|&word| word != "fn");
    let is_plain = before.all(|word| ["const", "extern", "C", ""].contains(&word));
    is_plain
        && words
            .next()
            .is_some_and(|function| !SAFE_FUNCTIONS.contains(&function))
}

/// Returns whether `mark` stands in `line` and is not a part of a longer name, such as a template
/// for a file's name.
fn has_word(line: &str, mark: &str) -> bool {
    line.match_indices(mark).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + mark.len()..].chars().next();
        let letter = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        !(letter(before) || letter(after) && mark.ends_with(char::is_alphanumeric))
    })
}

/// Returns whether a line opens an unsafe block or is an unsafe impl.
fn needs_reason(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    let strings = code.contains('"');
    !strings && (code.contains("unsafe {") || code.trim_start().starts_with("unsafe impl"))
}

fn has_reason(lines: &[&str], index: usize) -> bool {
    let from = index.saturating_sub(REASON_WITHIN);
    lines[from..=index]
        .iter()
        .any(|line| line.contains("SAFETY:"))
}

/// Returns the reason that begins in the first of these lines, without the next mark behind it.
fn reason(lines: &[&str]) -> Option<String> {
    let (first, rest) = lines.split_first()?;
    let mut reason = first.trim_start().strip_prefix("// SAFETY:")?.to_owned();
    let more = rest
        .iter()
        .map_while(|line| line.trim_start().strip_prefix("//"));
    for line in more.take_while(|line| !line.contains("SAFETY:") && !line.contains("ORDERING:")) {
        reason.push_str(line);
    }
    Some(reason)
}

/// Returns whether a reason only refers to another one, or to a contract that it does not quote.
fn only_refers(reason: &str) -> bool {
    let mut words = reason.split_whitespace().map(|word| {
        let word = word.trim_matches(|mark: char| ".,;:()[]".contains(mark));
        word.strip_suffix("'s").unwrap_or(word).to_lowercase()
    });
    words.all(|word| {
        word.starts_with('`')
            || REFERRING
                .split_whitespace()
                .any(|referring| referring == word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_is_found_broken() {
        let unfinished = format!("// {}: later", UNFINISHED[0]);
        let ignored = format!("{}]", UNFINISHED[5]);
        let long = "x\n".repeat(LONGEST + 1);
        for text in [
            &unfinished,
            &ignored,
            &long,
            "let x = unsafe { y() };",
            "unsafe impl Send for X {}",
        ] {
            assert_eq!(broken_rules("a.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn routines_are_unsafe() {
        for line in [
            "pub fn quiet() {",
            "    pub const fn quiet() {",
            "pub extern \"C\" fn quiet() {",
        ] {
            assert_eq!(broken_rules("shmem/src/order.rs", line).len(), 1, "{line}");
            assert_eq!(
                broken_rules("shmem/src/safe/mod.rs", line).len(),
                0,
                "{line}"
            );
            assert_eq!(
                broken_rules("shmem/launcher/src/lib.rs", line).len(),
                0,
                "{line}"
            );
        }
        for line in [
            "pub unsafe fn quiet() {",
            "pub(crate) fn quiet() {",
            "pub fn query_initialized() -> c_int {",
            "pub struct Quiet;",
            "pub const QUIET: fn() = quiet;",
        ] {
            assert_eq!(broken_rules("shmem/src/order.rs", line).len(), 0, "{line}");
        }
    }

    #[test]
    fn a_reason_names_a_requirement() {
        let at = |reason: &str| {
            let text = format!("// SAFETY: {reason}\nlet x = unsafe {{ y() }};");
            broken_rules("a.rs", &text)
        };
        for reason in [
            "by contract.",
            "as above.",
            "as before",
            "The contract is the same.",
            "by the function's contract.",
            "by contract of the callers.",
            "the contract is that of the near part.",
            "the caller keeps the requirements of the same function.",
            "the caller vouches for it.",
            "as in `write`.",
            "`dest` and `source`\n    // by contract.",
            "as above.\n// ORDERING: pairs with the store in `y`.",
            "see [`y`].",
            "",
        ] {
            let wrong = ["a.rs:1: // SAFETY: names no requirement"];
            assert_eq!(at(reason), wrong, "{reason}");
        }
        for reason in [
            "y has no requirements.",
            "`dest` is writable by contract.",
            "`ivar` is aligned, as `y` requires.",
            "as above; no device touches the memory.",
            "the contract is the same,\n// and the slot has room.",
            "mapped above.",
            "`at` < `len`.",
        ] {
            assert_eq!(at(reason), Vec::<String>::new(), "{reason}");
        }
    }

    #[test]
    fn what_only_looks_alike_passes() {
        let template = format!("\"/tmp/farreach-{0}{0}\"", UNFINISHED[1]);
        let reasoned = "// SAFETY: y has no requirements.\nlet x = unsafe { y() };";
        let long = "x\n".repeat(LONGEST);
        for text in [
            &template,
            reasoned,
            &long,
            "// an unsafe { block } in a comment",
        ] {
            assert_eq!(broken_rules("a.rs", text), Vec::<String>::new(), "{text}");
        }
    }
}
