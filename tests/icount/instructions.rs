//! The instructions of a loop that were executed, and those of them that lock.
//!
//! callgrind writes the address of each within its file; binutils' objdump has the words for it. An instruction locks that no
//! other processor may come between: one with the prefix `lock`, an exchange with memory, which has it unsaid; and a full fence,
//! `mfence`, counts as one. `sfence` does not: it orders the stores of one processor.

use farreach_icount::costs::Costs;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The instructions of the files that were asked for, by their addresses.
#[derive(Debug, Default)]
pub(crate) struct Disassembly(HashMap<PathBuf, HashMap<u64, String>>);

impl Disassembly {
    /// Returns those of the executed instructions that lock, as objdump writes them.
    pub(crate) fn locking(&mut self, executed: &Costs) -> Result<BTreeSet<String>, String> {
        let mut found = BTreeSet::new();
        for (file, costs) in executed.files() {
            let known = self.of(file)?;
            for address in costs.keys() {
                let text = known.get(address).ok_or_else(|| {
                    format!(
                        "{} has no instruction at {address:#x}, which was executed",
                        file.display()
                    )
                })?;
                if locks(text) {
                    found.insert(text.clone());
                }
            }
        }
        Ok(found)
    }

    /// Forgets a file, as another one will have its name.
    pub(crate) fn forget(&mut self, file: &Path) {
        self.0.remove(file);
    }

    fn of(&mut self, file: &Path) -> Result<&HashMap<u64, String>, String> {
        if !self.0.contains_key(file) {
            let output = Command::new("objdump")
                .args(["--disassemble", "--no-show-raw-insn"])
                .arg(file)
                .stdin(Stdio::null())
                .stderr(Stdio::inherit())
                .output()
                .map_err(|error| format!("objdump (Debian: binutils): {error}"))?;
            if !output.status.success() {
                return Err(format!("objdump {}: {}", file.display(), output.status));
            }
            let text = String::from_utf8_lossy(&output.stdout);
            self.0.insert(file.to_owned(), parse(&text));
        }
        Ok(&self.0[file])
    }
}

/// Returns the instructions of a disassembly: lines of an address, a colon, and the words.
fn parse(text: &str) -> HashMap<u64, String> {
    let lines = text.lines().filter_map(|line| line.split_once(":\t"));
    let instructions = lines.filter_map(|(address, words)| {
        let address = u64::from_str_radix(address.trim(), 16).ok()?;
        let words: Vec<_> = words.split_whitespace().collect();
        Some((address, words.join(" ")))
    });
    instructions.collect()
}

fn locks(text: &str) -> bool {
    let mut words = text.split(' ').filter(|word| !PREFIXES.contains(word));
    match words.next() {
        Some("lock" | "mfence") => true,
        // With a register in place of memory it is none, such as the one that does nothing.
        Some(word) => word.starts_with("xchg") && text.contains('('),
        None => false,
    }
}

/// Prefixes that may stand before the word of an instruction.
const PREFIXES: [&str; 4] = ["xacquire", "xrelease", "data16", "cs"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_locks() {
        for text in [
            "lock cmpxchg %cl,(%rdx)",
            "xchg %al,(%rdi)",
            "xchgl (%rdi),%eax",
            "xacquire lock inc (%rax)",
            "mfence",
        ] {
            assert!(locks(text), "{text}");
        }
        for text in [
            "xchg %ax,%ax",
            "sfence",
            "mov %eax,(%rdi)",
            "data16 cs nopw 0x0(%rax,%rax,1)",
            "",
        ] {
            assert!(!locks(text), "{text}");
        }
    }

    #[test]
    fn words_of_a_disassembly() {
        let text = "\n/lib/a:     file format elf64-x86-64\n\n0000000000001000 <f>:\n    1000:\tlock cmpxchg %ecx,(%rdi)\n\
                    \n    1004:\tret    \n\t...\n";
        let known = parse(text);
        assert_eq!(known.len(), 2);
        assert_eq!(known[&0x1000], "lock cmpxchg %ecx,(%rdi)");
        assert_eq!(known[&0x1004], "ret");
    }
}
