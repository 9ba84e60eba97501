//! Looks at the machine code of a put of one element over a device: whether the stores are in the order, and between
//! the fences, that the device needs. A compiler may move stores; this reads what it made of them.

use crate::error::{Error, Result};
use crate::stage;
use crate::workspace::{Workspace, output};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The routine that is read, shmem_int_p, by the name that stands before the code.
const ROUTINE: &str = "pshmem_int_p";
/// What a path to the device does, in order: three or four units into the ring, the doorbell record, a store fence, the
/// copy into the register, and another fence. The first is of connected queues, the second of dynamic ones.
const RIGHT: [&str; 2] = ["VVVRFVVVVF", "VVVVRFVVVVF"];
/// More paths through a routine than any has.
const PATHS: usize = 1000;

/// The check.
pub(crate) fn check(ws: &Workspace) -> Result<()> {
    if !cfg!(target_arch = "x86_64") {
        return Ok(());
    }
    let library = stage::stage(ws)?.join("lib/libshmem.so");
    let listing = output(
        Command::new("objdump")
            .args(["--no-show-raw-insn", &format!("--disassemble={ROUTINE}")])
            .arg(library),
    )?;
    verify(&listing).map_err(|what| Error::Check(format!("{ROUTINE}: {what}")))
}

/// Whether all paths of the routine that is listed are right.
fn verify(listing: &str) -> std::result::Result<(), String> {
    let code: BTreeMap<u64, &str> = listing.lines().filter_map(instruction).collect();
    let start = *code.keys().next().ok_or("not in the library")?;
    let mut found = BTreeSet::new();
    walk(&code, start, Path::default(), &mut found, &mut 0)?;
    found.retain(|path| path.contains('V'));
    let right = RIGHT.map(str::to_owned).into();
    if found == right {
        return Ok(());
    }
    Err(format!(
        "its paths to the device store {found:?}, and not {right:?} (V: 16 bytes of the entry, R: the doorbell record, F: sfence)"
    ))
}

/// What a path has done so far.
#[derive(Clone, Default)]
struct Path<'a> {
    stores: String,
    /// Registers that hold numbers with their bytes swapped.
    swapped: BTreeSet<&'a str>,
}

/// Follows all paths from the instruction at `at`.
fn walk<'a>(
    code: &BTreeMap<u64, &'a str>,
    mut at: u64,
    mut path: Path<'a>,
    found: &mut BTreeSet<String>,
    paths: &mut usize,
) -> std::result::Result<(), String> {
    while let Some((&here, line)) = code.range(at..).next().filter(|(here, _)| **here == at) {
        let (mnemonic, operands) = line.split_once(' ').unwrap_or((line, ""));
        let operands = operands.trim();
        if mnemonic == "ret" {
            break;
        }
        let next = code
            .range(here + 1..)
            .next()
            .map_or(here, |(&next, _)| next);
        at = next;
        if mnemonic.starts_with('j') {
            let target = operands.split(' ').next().unwrap_or_default();
            let target = u64::from_str_radix(target, 16).unwrap_or_default();
            if target <= here && code.contains_key(&target) {
                return Err("there is a loop".to_owned());
            }
            if mnemonic == "jmp" {
                at = target;
            } else {
                walk(code, target, path.clone(), found, paths)?;
            }
        } else {
            path.run(mnemonic, operands);
        }
    }
    *paths += 1;
    if *paths > PATHS {
        return Err("too many paths".to_owned());
    }
    found.insert(path.stores);
    Ok(())
}

impl<'a> Path<'a> {
    /// Notes what an instruction stores.
    fn run(&mut self, mnemonic: &str, operands: &'a str) {
        let source = operands.split(',').next().unwrap_or_default();
        let into_memory = operands.ends_with(')') && !operands.contains("(%rsp");
        match mnemonic {
            "sfence" => self.stores.push('F'),
            "bswap" => {
                self.swapped.insert(source);
            }
            _ if into_memory && source.starts_with("%xmm") => self.stores.push('V'),
            "mov" if into_memory && self.swapped.contains(source) && is_32_bits(source) => {
                self.stores.push('R');
            }
            _ if !into_memory => {
                let target = operands.rsplit(',').next().unwrap_or_default();
                self.swapped.remove(target);
            }
            _ => {}
        }
    }
}

/// Whether this names the lower half of a register.
fn is_32_bits(register: &str) -> bool {
    register.starts_with("%e") || register.ends_with('d')
}

/// Address and text of an instruction of objdump's.
fn instruction(line: &str) -> Option<(u64, &str)> {
    let (address, text) = line.split_once(":\t")?;
    let address = u64::from_str_radix(address.trim(), 16).ok()?;
    Some((address, text.split('#').next().unwrap_or(text).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "
0000000000001000 <pshmem_int_p>:
    1000:\tcmp    %ecx,%edx
    1002:\tjae    1010 <pshmem_int_p+0x10>
    1004:\tmov    %esi,(%rdi,%rax,1)
    1006:\tret
    1010:\tje     1040 <pshmem_int_p+0x40>
    1012:\tmovdqa %xmm1,(%rdi,%rdx,1)
    1014:\tmovdqa %xmm0,0x10(%rdi,%rdx,1)
    1016:\tmovdqa %xmm2,0x20(%rdi,%rdx,1)
    1018:\tmov    %ecx,(%rax)
    101a:\tjmp    1060 <pshmem_int_p+0x60>
    1040:\tmovdqa %xmm1,(%rsi,%rdx,1)
    1042:\tmovdqa %xmm2,0x10(%rsi,%rdx,1)
    1044:\tmovdqa %xmm0,0x20(%rsi,%rdx,1)
    1046:\tmovups %xmm3,0x30(%rsi,%rdx,1)
    1060:\tbswap  %ecx
    1062:\tmov    %ecx,(%rax)
    1064:\tsfence
    1066:\tmov    0xaa4df(%rip),%rax        # f81f0 <CONTEXTS>
    1068:\tmovdqa %xmm1,(%rax)
    106a:\tmovdqa %xmm2,0x10(%rax)
    106c:\tmovdqa %xmm0,0x20(%rax)
    106e:\tmovdqa %xmm3,0x30(%rax)
    1070:\tsfence
    1072:\tmov    %rax,0xaa4bc(%rip)        # f81f0 <CONTEXTS>
    1074:\tret
";

    #[test]
    fn the_order_is_right() {
        assert_eq!(verify(LISTING), Ok(()));
    }

    #[test]
    fn what_is_missing_is_found() {
        let needed = ["sfence", "xmm", "bswap", "1062:"];
        for (at, line) in LISTING.lines().enumerate() {
            if !needed.iter().any(|what| line.contains(what)) {
                continue;
            }
            let without: Vec<&str> = LISTING
                .lines()
                .enumerate()
                .filter(|(place, _)| *place != at)
                .map(|(_, line)| line)
                .collect();
            // Jumps to where nothing is end a path, which is wrong as well.
            assert!(verify(&without.join("\n")).is_err(), "without {line}");
        }
    }

    #[test]
    fn a_record_behind_the_fence_is_found() {
        let early = "    1062:\tmov    %ecx,(%rax)\n    1064:\tsfence\n";
        let late = "    1062:\tsfence\n    1064:\tmov    %ecx,(%rax)\n";
        assert!(LISTING.contains(early));
        assert!(verify(&LISTING.replace(early, late)).is_err());
        assert!(verify("").is_err());
    }
}
