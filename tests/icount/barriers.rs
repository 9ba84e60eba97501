//! The order of stores and barriers in which an entry is posted: entry, barrier, doorbell record, barrier, register, barrier.
//!
//! x86-64: in the disassembly of the library that is counted, for the calls that post in line.
//! aarch64, as far as another machine can: the names of the barriers of `unit.rs`, assembled by
//! clang and compared with the numbers that the Arm Architecture Reference Manual has for them
//! (C6.2, DMB and DSB), in the functions that rdma-core's `udma_barrier.h` has the same
//! instructions for; and that the functions are called in this order wherever an entry is posted.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Routines that post in line, each in every way that it has.
const IN_LINE: [&str; 5] = [
    "pshmem_int_p",
    "pshmem_long_p",
    "pshmem_double_p",
    "pshmem_ctx_long_p",
    "pshmem_long_atomic_add",
];

/// The barriers of aarch64: the function of `unit.rs`, the instruction, and its number.
const AARCH64: [(&str, &str, u32); 3] = [
    // udma_to_device_barrier
    ("entry_before_record", "dmb oshst", 0xd503_32bf),
    // mmio_wc_start, mmio_flush_writes
    ("write_combining_fence", "dsb st", 0xd503_3e9f),
    // udma_from_device_barrier
    ("after_device", "dmb oshld", 0xd503_31bf),
];

/// Returns the faults of the library `libshmem`, and of the sources below `root`.
pub(crate) fn broken(root: &Path, libshmem: &Path) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    if cfg!(target_arch = "x86_64") {
        let text = output(
            Command::new("objdump")
                .args(["--disassemble", "--no-show-raw-insn"])
                .arg(libshmem),
        )?;
        for routine in IN_LINE {
            let found = body(&text, routine).ok_or_else(|| format!("no {routine} is there"));
            if let Err(why) = found.and_then(|body| in_order(&body)) {
                wrong.push(format!("{routine}: {why}"));
            }
        }
    }
    let sources = root.join("fi-provider/mlx5/src");
    let barriers = aarch64(&read(&sources.join("unit.rs"))?);
    wrong.extend(unlike(&barriers));
    for (_, instruction) in &barriers {
        wrong.extend(misencoded(instruction)?);
    }
    let mut posting = 0;
    for path in below(&sources)? {
        let text = read(&path)?;
        posting += usize::from(text.contains(ORDER[0]));
        let name = path.display();
        wrong.extend(calls_in_order(&text).map(|why| format!("{name}: {why}")));
    }
    if posting == 0 {
        wrong.push(format!("nothing in {} posts", sources.display()));
    }
    Ok(wrong)
}

/// Returns the instructions of a function.
fn body<'a>(text: &'a str, function: &str) -> Option<Vec<&'a str>> {
    let head = format!("<{function}>:\n");
    let (_, rest) = text.split_once(&head)?;
    let rest = rest.split("\n\n").next()?;
    let instructions = rest.lines().filter_map(|line| line.split_once(":\t"));
    Some(instructions.map(|(_, words)| words.trim()).collect())
}

/// Classifies an instruction for the order of stores.
#[derive(Debug, PartialEq, Eq)]
enum Step<'a> {
    Fence,
    /// Sixteen bytes, and where to.
    Unit(&'a str),
    /// Anything else.
    Word,
    End,
}

fn step(instruction: &str) -> Option<Step<'_>> {
    let (word, operands) = instruction
        .split_once(char::is_whitespace)
        .unwrap_or((instruction, ""));
    match word {
        "sfence" => return Some(Step::Fence),
        "ret" | "jmp" => return Some(Step::End),
        "cmp" | "cmpb" | "cmpw" | "cmpl" | "cmpq" | "test" | "testb" | "lea" => return None,
        _ => {}
    }
    // objdump's remark on an address comes behind blanks.
    let operands = operands.trim().split("  ").next()?.trim();
    if !operands.ends_with(')') {
        return None;
    }
    // The destination is behind the last comma that is in no parentheses.
    let open = operands.rfind('(')?;
    let from = operands[..open].rfind(',')?;
    let (source, to) = (&operands[..from], &operands[from + 1..]);
    Some(if source.contains("%xmm") {
        Step::Unit(to)
    } else {
        Step::Word
    })
}

/// Checks that each post of these instructions has its stores in order; there is one at the least.
fn in_order(body: &[&str]) -> Result<(), String> {
    let steps: Vec<_> = body
        .iter()
        .filter_map(|instruction| step(instruction))
        .collect();
    let fences: Vec<_> = (0..steps.len())
        .filter(|&at| steps[at] == Step::Fence)
        .collect();
    if fences.is_empty() || fences.len() % 2 != 0 {
        return Err(format!("{} store fences", fences.len()));
    }
    let mut begin = 0;
    for pair in fences.chunks_exact(2) {
        let (record, register) = (&steps[begin..pair[0]], &steps[pair[0] + 1..pair[1]]);
        entry_and_record(record)?;
        in_register(register)?;
        let rest = steps[pair[1]..].iter().position(|step| *step == Step::End);
        let end = pair[1] + rest.ok_or("no end behind the last fence")?;
        if steps[pair[1]..end]
            .iter()
            .any(|step| matches!(step, Step::Unit(_)))
        {
            return Err("units are stored behind the last fence".to_owned());
        }
        begin = end + 1;
    }
    Ok(())
}

/// Checks for units of the entry, and behind them nothing but the record and the process's own
/// words.
fn entry_and_record(steps: &[Step<'_>]) -> Result<(), String> {
    // The steps of another path, which ends before this begins, are of no account.
    let begin = steps
        .iter()
        .rposition(|step| *step == Step::End)
        .map_or(0, |at| at + 1);
    let steps = &steps[begin..];
    let last = steps.iter().rposition(|step| matches!(step, Step::Unit(_)));
    let last = last.ok_or("no entry before the first fence")?;
    let units = steps
        .iter()
        .filter(|step| matches!(step, Step::Unit(_)))
        .count();
    if units < 3 {
        return Err(format!("an entry of {units} units before the first fence"));
    }
    if !steps[last..].contains(&Step::Word) {
        return Err("no record between the entry and the first fence".to_owned());
    }
    Ok(())
}

/// Checks for one block of the register, and nothing else.
fn in_register(steps: &[Step<'_>]) -> Result<(), String> {
    let mut places = Vec::new();
    for step in steps {
        let Step::Unit(place) = step else {
            return Err(format!("{step:?} between the fences"));
        };
        places.push(*place);
    }
    let base = places
        .first()
        .and_then(|place| place.split_once('('))
        .map(|(_, base)| base);
    let offsets = places.iter().map(|place| place.split_once('('));
    let mut offsets: Vec<_> = offsets
        .map(|found| {
            found
                .filter(|(_, own)| Some(*own) == base)
                .map(|(offset, _)| offset)
        })
        .collect();
    offsets.sort_unstable();
    if offsets != [Some(""), Some("0x10"), Some("0x20"), Some("0x30")] {
        return Err(format!(
            "{places:?} between the fences is no block of a register"
        ));
    }
    Ok(())
}

/// Returns the functions of `unit.rs` that have an instruction for aarch64, and it.
fn aarch64(source: &str) -> Vec<(String, String)> {
    let mut function = String::new();
    let mut is_own = false;
    let mut found = Vec::new();
    for line in source.lines() {
        if let Some((_, name)) = line.split_once("fn ") {
            function = name.split('(').next().unwrap_or_default().to_owned();
        } else if line.contains("cfg(") {
            is_own = line.contains("#[cfg(target_arch = \"aarch64\")]");
        } else if let Some((_, text)) = line.split_once("asm!(\"")
            && is_own
        {
            let instruction = text.split('"').next().unwrap_or_default();
            found.push((function.clone(), instruction.to_owned()));
        }
    }
    found
}

/// Names the barriers that are missing, and those that are there in place of others.
fn unlike(found: &[(String, String)]) -> Vec<String> {
    let expected =
        AARCH64.map(|(function, instruction, _)| (function.to_owned(), instruction.to_owned()));
    let missing = expected
        .iter()
        .filter(|it| !found.contains(it))
        .map(|it| ("lacks", it));
    let other = found
        .iter()
        .filter(|it| !expected.contains(it))
        .map(|it| ("has", it));
    let all = missing.chain(other);
    all.map(|(what, (function, instruction))| {
        format!("unit.rs on aarch64: {function} {what} \"{instruction}\"")
    })
    .collect()
}

/// Returns a sentence if the assembler makes another instruction of it than the manual.
fn misencoded(instruction: &str) -> Result<Option<String>, String> {
    let Some((.., number)) = AARCH64.iter().find(|(_, known, _)| *known == instruction) else {
        return Ok(None);
    };
    let [ours, manual] =
        [instruction.to_owned(), format!(".inst {number:#x}")].map(|text| assembled(&text));
    let is_wrong = ours? != manual?;
    Ok(is_wrong.then(|| format!("\"{instruction}\" is not {number:#x}")))
}

/// Returns the object file that clang makes of an instruction for aarch64.
fn assembled(text: &str) -> Result<Vec<u8>, String> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (source, object) = (scratch.path().join("it.s"), scratch.path().join("it.o"));
    std::fs::write(&source, format!("{text}\n")).map_err(|error| error.to_string())?;
    output(
        Command::new("clang")
            .args(["--target=aarch64-linux-gnu", "-c", "-o"])
            .args([&object, &source]),
    )?;
    std::fs::read(&object).map_err(|error| error.to_string())
}

/// The barriers in the order in which a post calls them.
const ORDER: [&str; 3] = [
    "entry_before_record();",
    "record_before_register();",
    "flush_register();",
];

/// Returns the fault in the order in which a source calls them. The last one may be there for each
/// of several registers.
fn calls_in_order(source: &str) -> Option<String> {
    let mut next = 0;
    let mut is_flushed = false;
    for line in source.lines() {
        let Some(found) = ORDER.iter().position(|call| line.contains(call)) else {
            continue;
        };
        if is_flushed && found == ORDER.len() - 1 {
            continue;
        }
        if found != next {
            return Some(format!("{} where {} is due", ORDER[found], ORDER[next]));
        }
        next = (next + 1) % ORDER.len();
        is_flushed = next == 0;
    }
    (next != 0).then(|| format!("no {} at the end", ORDER[next]))
}

/// Returns the sources in a folder and those below it.
fn below(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let error = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        if path.is_dir() {
            found.extend(below(&path)?);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("unit.rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name}: {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const POST: &str = "\
movdqa %xmm1,(%rdi,%rcx,1)
movaps %xmm2,0x10(%rdi,%rcx,1)
movdqa %xmm0,0x20(%rdi,%rcx,1)
mov    %r9w,(%rax)
mov    %r9w,0x2(%rdx)
sfence
mov    0x8(%r8,%rax,8),%rcx
movdqa %xmm1,(%rcx)
movaps %xmm2,0x10(%rcx)
movdqa %xmm0,0x20(%rcx)
movdqa %xmm3,0x30(%rcx)
sfence
xorb   $0x1,0x9(%r8,%rax,8)
movl   $0x1,0xeb64a(%rip)        # 174254 <CONTEXTS+0x94>
ret";

    fn judge(text: &str) -> Result<(), String> {
        in_order(&text.lines().collect::<Vec<_>>())
    }

    /// Returns the post with two lines in each other's place.
    fn swapped(one: usize, other: usize) -> String {
        let mut lines: Vec<_> = POST.lines().collect();
        lines.swap(one, other);
        lines.join("\n")
    }

    #[test]
    fn one_post_and_two() {
        assert_eq!(judge(POST), Ok(()));
        assert_eq!(judge(&format!("{POST}\n{POST}\njmp 3c3a0 <far>")), Ok(()));
    }

    #[test]
    fn what_is_out_of_order() {
        // The record behind the fence, or before the entry; some of the register before it, or behind the last one.
        for (one, other) in [(4, 5), (2, 4), (5, 7), (10, 11)] {
            let text = swapped(one, other);
            let text = if (one, other) == (2, 4) {
                text.replace("mov    %r9w,(%rax)\n", "")
            } else {
                text
            };
            assert!(judge(&text).is_err(), "{text}");
        }
        for without in ["sfence\n", "mov    %r9w"] {
            let text: String = POST
                .split_inclusive('\n')
                .filter(|line| !line.contains(without.trim_end()))
                .collect();
            assert!(judge(&text).is_err(), "{text}");
        }
        assert!(judge("ret").is_err());
    }

    #[test]
    fn barriers_of_aarch64() {
        let source = "fn entry_before_record() {\n#[cfg(target_arch = \"x86_64\")]\nasm!(\"nop\")\n\
            #[cfg(target_arch = \"aarch64\")]\ncore::arch::asm!(\"dmb ishst\", options(nostack));\n";
        let found = aarch64(source);
        assert_eq!(
            found,
            [("entry_before_record".to_owned(), "dmb ishst".to_owned())]
        );
        assert_eq!(unlike(&found).len(), 4);
    }

    #[test]
    fn calls() {
        let right = "entry_before_record();\nrecord_before_register();\nx;\nflush_register();\n";
        assert_eq!(calls_in_order(&right.repeat(2)), None);
        let twice = format!("{right}else\nflush_register();\n{right}");
        assert_eq!(calls_in_order(&twice), None);
        assert!(calls_in_order("flush_register();\n").is_some());
        assert!(calls_in_order("record_before_register();\n").is_some());
        assert!(calls_in_order("entry_before_record();\nflush_register();\n").is_some());
        assert!(calls_in_order("entry_before_record();\nrecord_before_register();\n").is_some());
    }
}
