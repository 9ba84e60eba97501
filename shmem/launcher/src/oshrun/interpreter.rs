//! The file that is missing when the system finds a program and yet says that there is no such
//! file: the program that is to read it, named in a script's first line or in an ELF file.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The longest first line that the kernel reads.
const LONGEST_LINE: usize = 256;

/// The longest path.
const LONGEST_PATH: usize = 4096;

/// Scripts that scripts name: the kernel follows no more.
const DEPTH: usize = 5;

/// The type of a program header that names the interpreter (elf(5)).
const PT_INTERP: u64 = 3;

/// Returns the interpreter that `program`, or an interpreter of it, names and that is not there.
pub(super) fn missing(program: &Path) -> Option<PathBuf> {
    let mut at = program.to_owned();
    for _ in 0..DEPTH {
        at = of(&File::open(&at).ok()?)?;
        if !at.exists() {
            return Some(at);
        }
    }
    None
}

/// Returns the interpreter that a file names.
fn of(file: &File) -> Option<PathBuf> {
    let mut bytes = [0; LONGEST_LINE];
    let count = file.read_at(&mut bytes, 0).ok()?;
    let head = &bytes[..count];
    let name = match head.strip_prefix(b"#!") {
        Some(line) => in_line(line).to_vec(),
        None => in_elf(head, file)?,
    };
    (!name.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(&name)))
}

/// Returns the first word of a script's first line; a carriage return at the end of the line
/// belongs to it.
fn in_line(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|&byte| byte == b'\n' || byte == 0);
    let line = &line[..end.unwrap_or(line.len())];
    let mut words = line.split(|&byte| byte == b' ' || byte == b'\t');
    words.find(|word| !word.is_empty()).unwrap_or_default()
}

/// Returns the path in an ELF file of 64 or 32 bits, little-endian.
fn in_elf(head: &[u8], file: &File) -> Option<Vec<u8>> {
    let is_64 = match head.get(..6)? {
        [0x7f, b'E', b'L', b'F', 2, 1] => true,
        [0x7f, b'E', b'L', b'F', 1, 1] => false,
        _ => return None,
    };
    let word = if is_64 { 8 } else { 4 };
    let table = number(head, if is_64 { 32 } else { 28 }, word)?;
    let size = number(head, if is_64 { 54 } else { 42 }, 2)?;
    let count = number(head, if is_64 { 56 } else { 44 }, 2)?;
    for index in 0..count {
        let mut entry = [0; 56];
        let entry = &mut entry[..if is_64 { 56 } else { 32 }];
        let at = table.checked_add(index * size)?;
        file.read_exact_at(entry, at).ok()?;
        if number(entry, 0, 4)? == PT_INTERP {
            let place = number(entry, if is_64 { 8 } else { 4 }, word)?;
            let length = number(entry, if is_64 { 32 } else { 16 }, word)?;
            let mut path = vec![0; usize::try_from(length).ok()?.min(LONGEST_PATH)];
            file.read_exact_at(&mut path, place).ok()?;
            path.truncate(path.iter().position(|&byte| byte == 0)?);
            return Some(path);
        }
    }
    None
}

/// Returns the number of so many bytes at a place, little-endian.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + size)?;
    let add = |sum: u64, &byte: &u8| sum << 8 | u64::from(byte);
    Some(bytes.iter().rev().fold(0, add))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_it() {
        for (line, name) in [
            (&b"/bin/sh -e\nrest"[..], &b"/bin/sh"[..]),
            (b" \t/no/such\n", b"/no/such"),
            (b"/bin/sh\r\nrest", b"/bin/sh\r"),
            (b"/bin/sh", b"/bin/sh"),
            (b"\n/bin/sh", b""),
        ] {
            assert_eq!(in_line(line), name);
        }
    }

    #[test]
    fn an_executable_names_the_loader() {
        let own = File::open("/proc/self/exe").unwrap();
        let loader = of(&own).unwrap();
        assert!(loader.to_string_lossy().contains("/ld"), "{loader:?}");
        assert_eq!(missing(Path::new("/proc/self/exe")), None);
        assert_eq!(missing(Path::new("/no/such/program")), None);
    }

    #[test]
    fn one_of_32_bits_names_it_at_other_places() {
        let path = std::env::temp_dir().join(format!("farreach-test-elf-{}", std::process::id()));
        let mut bytes = vec![0; 52 + 2 * 32];
        bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 1, 1]);
        (bytes[28], bytes[42], bytes[44]) = (52, 32, 2);
        let entry = &mut bytes[52 + 32..];
        (entry[0], entry[4], entry[16]) = (3, 116, 9);
        bytes.extend(b"/no/such\0");
        std::fs::write(&path, &bytes).unwrap();
        let found = missing(&path);
        // Cut off anywhere, it names none.
        let cut = (0..bytes.len()).map(|length| {
            std::fs::write(&path, &bytes[..length]).unwrap();
            missing(&path)
        });
        let cut: Vec<_> = cut.flatten().collect();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((found, cut), (Some(PathBuf::from("/no/such")), Vec::new()));
    }
}
