//! Shared memory of programs that the device maps as well, where a region of it is registered: a
//! transfer there takes no system call. The pages stay those of the registration, as on hardware.
//!
//! Memory of the program alone, and files whose size may change, are left to system calls.

use super::sys;
use super::view::View;
use crate::engine::{ContextId, Pid};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// The size of a page.
const PAGE: u64 = 4096;

/// The start of names by which maps (proc(5)) tells of files in memory (memfd_create(2)).
const IN_MEMORY: &str = "/memfd:";

/// Shared memory of all regions, by their handles.
#[derive(Debug, Default)]
pub(super) struct Shared {
    regions: HashMap<u32, Region>,
}

/// Parts of a region that are mapped, those with lower addresses first.
#[derive(Debug)]
struct Region {
    context: ContextId,
    parts: Vec<Part>,
}

/// Addresses of a program that are mapped.
#[derive(Debug)]
struct Part {
    start: u64,
    end: u64,
    view: View,
}

impl Shared {
    /// Maps the shared memory in `len` bytes of a process from `start` on.
    pub(super) fn register(
        &mut self,
        context: ContextId,
        process: Pid,
        region: u32,
        (start, len): (u64, u64),
    ) {
        let parts = parts(process, start, start.saturating_add(len));
        if parts.is_empty() {
            self.regions.remove(&region);
        } else {
            self.regions.insert(region, Region { context, parts });
        }
    }

    /// Takes the mappings of a region away.
    pub(super) fn deregister(&mut self, region: u32) {
        self.regions.remove(&region);
    }

    /// Takes the mappings of all regions of a context away.
    pub(super) fn forget(&mut self, context: ContextId) {
        self.regions.retain(|_, region| region.context != context);
    }

    /// Reads from `addr` of a region; returns false where not all of that is mapped.
    pub(super) fn read(&self, region: u32, addr: u64, into: &mut [u8]) -> bool {
        let place = self.place(region, addr, into.len());
        place.is_some_and(|(view, at)| view.read(at, into))
    }

    /// Writes to `addr` of a region; returns false where not all of that is mapped to be written.
    pub(super) fn write(&self, region: u32, addr: u64, bytes: &[u8]) -> bool {
        let place = self.place(region, addr, bytes.len());
        place.is_some_and(|(view, at)| view.write(at, bytes))
    }

    /// Returns the mapping with `length` bytes from `addr` on, and the first one's place in it.
    fn place(&self, region: u32, addr: u64, length: usize) -> Option<(&View, usize)> {
        let parts = &self.regions.get(&region)?.parts;
        let behind = parts.partition_point(|part| part.start <= addr);
        let part = parts.get(behind.checked_sub(1)?)?;
        let end = addr.checked_add(length as u64)?;
        (end <= part.end).then(|| (&part.view, (addr - part.start) as usize))
    }
}

/// A line of maps (proc(5)) that tells of shared memory.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    start: u64,
    end: u64,
    is_writable: bool,
    /// Place of `start` in the file.
    offset: u64,
    /// Device and number of the file.
    file: (u64, u64),
}

impl Line {
    /// Reads a line; `None` unless it is of a file in memory that is mapped to be shared and read.
    fn of(line: &str) -> Option<Self> {
        let hex = |text| u64::from_str_radix(text, 16).ok();
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let rights = words.next()?.as_bytes();
        let offset = hex(words.next()?)?;
        let (major, minor) = words.next()?.split_once(':')?;
        let device = libc::makedev(hex(major)? as u32, hex(minor)? as u32);
        let inode = words.next()?.parse().ok()?;
        let is_shared = rights.first() == Some(&b'r') && rights.last() == Some(&b's');
        if !is_shared || !words.next()?.starts_with(IN_MEMORY) {
            return None;
        }
        Some(Self {
            start: hex(start)?,
            end: hex(end)?,
            is_writable: rights.get(1) == Some(&b'w'),
            offset,
            file: (device, inode),
        })
    }
}

/// Maps the shared memory of a process between two addresses, that with lower ones first.
fn parts(process: Pid, start: u64, end: u64) -> Vec<Part> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let touched = |line: &Line| line.start < end && start < line.end;
    let lines = maps.lines().filter_map(Line::of).filter(touched);
    let mut files = HashMap::new();
    let part = |line: Line| {
        let file = files.entry(line.file);
        let file = file.or_insert_with(|| open(process, &line)).as_ref()?;
        let first = line.start.max(start / PAGE * PAGE);
        let last = line.end.min(end.checked_next_multiple_of(PAGE)?);
        let at = line.offset + (first - line.start);
        if !sys::keeps(file, at + (last - first)).unwrap_or(false) {
            return None;
        }
        let view = View::of(file.as_fd(), at, last - first, line.is_writable).ok()?;
        let (start, end) = (first, last);
        Some(Part { start, end, view })
    };
    lines.filter_map(part).collect()
}

/// Opens the file of a mapping: by a descriptor of the process, or as the mapping's own.
fn open(process: Pid, line: &Line) -> Option<File> {
    let is_it = |file: &fs::Metadata| (file.dev(), file.ino()) == line.file;
    let open = |path| {
        let file = OpenOptions::new().read(true).write(true).open(path).ok()?;
        is_it(&file.metadata().ok()?).then_some(file)
    };
    let mut descriptors = fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    let by_descriptor = descriptors.find_map(|entry| {
        let path = entry.ok()?.path();
        // Opens no other file, which might be a device.
        is_it(&fs::metadata(&path).ok()?).then(|| open(path))?
    });
    let range = format!("{:x}-{:x}", line.start, line.end);
    by_descriptor.or_else(|| open(format!("/proc/{process}/map_files/{range}").into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_shared_memory_are_understood() {
        let line = "7f0000002000-7f0000005000 rw-s 00003000 00:01 1234      /memfd:a b (deleted)";
        let found = Line {
            start: 0x7f00_0000_2000,
            end: 0x7f00_0000_5000,
            is_writable: true,
            offset: 0x3000,
            file: (libc::makedev(0, 1), 1234),
        };
        assert_eq!(Line::of(line), Some(found));
        let constant = Line::of(&line.replace("rw-s", "r--s"));
        assert!(constant.is_some_and(|line| !line.is_writable));
        for (from, to) in [
            ("rw-s", "rw-p"),
            ("rw-s", "-w-s"),
            ("/memfd:", "/dev/shm/"),
            ("/memfd:a b (deleted)", ""),
            ("-7f0000005000", ""),
        ] {
            assert_eq!(Line::of(&line.replace(from, to)), None, "{from} {to}");
        }
        assert_eq!(Line::of(""), None);
    }

    #[test]
    fn addresses_are_found_in_their_parts() {
        let file = sys::sparse_file("shared", 4 * PAGE).expect("a file");
        let part = |start, pages| Part {
            start,
            end: start + pages * PAGE,
            view: View::of(file.as_fd(), 0, pages * PAGE, true).expect("room"),
        };
        let mut shared = Shared::default();
        let context = ContextId(1);
        let parts = vec![part(0x1_0000, 1), part(0x2_0000, 2)];
        shared.regions.insert(5, Region { context, parts });
        let has = |region, addr, length| {
            let mut bytes = vec![0; length];
            let is_read = shared.read(region, addr, &mut bytes);
            assert_eq!(shared.write(region, addr, &bytes), is_read);
            is_read
        };
        assert!(has(5, 0x1_0000, 4096) && has(5, 0x2_0000, 8192) && has(5, 0x2_1fff, 1));
        assert!(!has(5, 0x1_0000, 4097) && !has(5, 0xffff, 1) && !has(5, 0x2_1fff, 2));
        assert!(!has(5, u64::MAX, 1) && !has(5, 0x1_1000, 1) && !has(4, 0x1_0000, 1));
        shared.forget(ContextId(2));
        assert_eq!(shared.regions.len(), 1);
        shared.forget(context);
        assert!(shared.regions.is_empty());
    }
}
