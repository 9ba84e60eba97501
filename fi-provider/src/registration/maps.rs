//! Mappings of the process: /proc/self/maps (proc(5)).

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;

/// Returns whether all of `range` is private memory of no file that can be read and written. Of
/// such memory alone the kernel tells every change: a file may be cut short, and System V's shared
/// memory detached, without a word.
pub(super) fn is_plain(range: &Range<usize>) -> bool {
    File::open("/proc/self/maps")
        .is_ok_and(|maps| all_plain(BufReader::with_capacity(1 << 16, maps), range))
}

fn all_plain(maps: impl BufRead, range: &Range<usize>) -> bool {
    let mut at = range.start;
    for line in maps.split(b'\n').map_while(Result::ok) {
        let Some((mapping, plain)) = std::str::from_utf8(&line).ok().and_then(parse) else {
            continue;
        };
        if mapping.end <= at {
            continue;
        }
        if mapping.start > at || !plain {
            return false;
        }
        at = mapping.end;
        if at >= range.end {
            return true;
        }
    }
    false
}

/// Returns the addresses of a line, and whether it is of private memory of no file, with both
/// rights.
fn parse(line: &str) -> Option<(Range<usize>, bool)> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?;
    let inode = words.nth(2)?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let plain = rights.starts_with("rw") && rights.ends_with('p') && inode == "0";
    Some((number(start)?..number(end)?, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
1000-2000 r-xp 00000000 08:01 77 /bin/program
2000-3000 rw-p 00001000 08:01 77 /bin/program
3000-5000 rw-p 00000000 00:00 0
5000-6000 rw-p 00000000 00:00 0 [heap]
6000-7000 r--p 00000000 00:00 0
7000-8000 rw-s 00000000 00:01 9 /memfd:x (deleted)
9000-a000 rw-p 00000000 00:00 0 [stack]
";

    #[test]
    fn private_memory_of_no_file() {
        let plain = |range| all_plain(MAPS.as_bytes(), &range);
        for range in [
            0x3000..0x5000,
            0x3000..0x6000,
            0x4000..0x4001,
            0x9000..0xa000,
        ] {
            assert!(plain(range.clone()), "{range:x?}");
        }
        for range in [
            0x1000..0x2000,
            0x2000..0x3000,
            0x2000..0x4000,
            0x5000..0x7000,
            0x7000..0x8000,
            0x8000..0x9000,
            0x8000..0xa000,
            0x9000..0xb000,
            0xb000..0xc000,
        ] {
            assert!(!plain(range.clone()), "{range:x?}");
        }
    }
}
