//! The executable's static data on a shared mapping, in place.
//!
//! At initialisation the pages of `.data` and `.bss` of the main executable are copied into the PE's
//! share of the node's memory, and that memory is mapped over them. From then on peers reach globals
//! as they reach the heap. Addresses do not change; thread-local data and shared libraries are not
//! touched; read-only-after-relocation pages (PT_GNU_RELRO) stay out.

#![expect(
    unsafe_code,
    reason = "walks the program headers, and replaces the pages of .data and .bss by equal ones"
)]

use super::error::Error;
use super::standstill::Standstill;
use fi_provider::node::segment::{Memfd, Reservation, map_shared_at, page_size};
use fi_provider::symmetric::window::MemoryRegion;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

/// Place of the main executable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    /// The writable segments, in ascending order. There is more than one where an object asks for an
    /// alignment above the page size; the memory between them is not the executable's.
    pub(crate) segments: Vec<Segment>,
    /// From the first to the last page of all segments, writable or not.
    pub(crate) whole: Range<usize>,
    /// Equal for equal segments: sizes and distances, not addresses.
    pub(crate) fingerprint: u64,
}

/// Whole pages of `.data` and `.bss`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) range: Range<usize>,
    /// The file initialises the bytes before; the rest is zero until it is written.
    initialised_end: usize,
}

impl Image {
    /// Returns the range from the first to the last page of the static data.
    pub(crate) fn statics(&self) -> Range<usize> {
        match (self.segments.first(), self.segments.last()) {
            (Some(first), Some(last)) => first.range.start..last.range.end,
            _ => self.whole.end..self.whole.end,
        }
    }

    /// Returns the segments as regions of a PE's share, which holds the static data from its
    /// beginning on.
    pub(crate) fn regions(&self) -> impl Iterator<Item = MemoryRegion> {
        let start = self.statics().start;
        self.segments.iter().map(move |segment| MemoryRegion {
            base: segment.range.start,
            len: segment.range.len(),
            file_offset: segment.range.start - start,
        })
    }
}

/// Finds the main executable: the first object that dl_iterate_phdr(3) shows.
pub(crate) fn find() -> Image {
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        out: *mut libc::c_void,
    ) -> i32 {
        // SAFETY: the C library passes a valid record, and the address that was given to it below.
        let (info, image) = unsafe { (&*info, &mut *out.cast::<Image>()) };
        // SAFETY: the record says where the headers are and how many.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        *image = image_of(headers, info.dlpi_addr as usize, page_size());
        1
    }
    let mut image = Image::default();
    // SAFETY: the callback gets the address of a live Image and keeps nothing.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut image).cast()) };
    image
}

fn image_of(headers: &[libc::Elf64_Phdr], bias: usize, page: usize) -> Image {
    let down = |address: usize| address / page * page;
    let range = |h: &libc::Elf64_Phdr| {
        let start = bias.wrapping_add(h.p_vaddr as usize);
        start..start + h.p_memsz as usize
    };
    let loads = || headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
    let relro_end = headers
        .iter()
        .filter(|h| h.p_type == libc::PT_GNU_RELRO)
        .map(|h| down(range(h).end))
        .max()
        .unwrap_or(0);
    let mut segments: Vec<Segment> = loads()
        .filter(|h| h.p_flags & libc::PF_W != 0)
        .map(|h| Segment {
            range: down(range(h).start).max(relro_end)..range(h).end.next_multiple_of(page),
            initialised_end: range(h).start + h.p_filesz as usize,
        })
        .filter(|segment| !segment.range.is_empty())
        .collect();
    segments.sort_by_key(|segment| segment.range.start);
    let first = loads().map(|h| down(range(h).start)).min();
    let last = loads().map(|h| range(h).end.next_multiple_of(page)).max();
    let mut hasher = DefaultHasher::new();
    for h in loads() {
        (h.p_flags, h.p_vaddr, h.p_filesz, h.p_memsz).hash(&mut hasher);
    }
    Image {
        segments,
        fingerprint: hasher.finish(),
        whole: first.unwrap_or(0)..last.unwrap_or(0),
    }
}

/// Maps the memory between the writable segments onto `memory` as well, of which it takes its place
/// after `offset`, so that the static data is one region: a device registers it as one.
///
/// # Errors
/// The system's errors; [`io::ErrorKind::AlreadyExists`] where something else lies there.
pub(crate) fn close_gaps(image: &mut Image, memory: &Memfd, offset: usize) -> Result<(), Error> {
    let Range { start, end } = image.statics();
    for pair in image.segments.windows(2) {
        let (from, to) = (pair[0].range.end, pair[1].range.start);
        if from < to {
            let gap = Reservation::at(from, to - from);
            let mapped = gap.and_then(|gap| {
                gap.map_shared(0, memory, offset + from - start, to - from)?;
                Ok(gap)
            });
            let what = "mapping what lies between the static data's segments";
            // It stays, as the static data does.
            std::mem::forget(mapped.map_err(Error::system(what))?);
        }
    }
    if let Some(last) = image.segments.last() {
        let initialised_end = last.initialised_end;
        image.segments = vec![Segment {
            range: start..end,
            initialised_end,
        }];
    }
    Ok(())
}

/// Moves the static data onto `memory` at `offset`, in place.
///
/// Other threads stand still meanwhile, and signals wait: writes between the copy and the mapping
/// would be lost.
///
/// # Errors
/// Those of [`Standstill::begin`], before anything has been moved, and the system's; segments that
/// have been moved by then stay moved.
///
/// # Safety
/// One thread calls this at a time.
pub(crate) unsafe fn share(image: &Image, memory: &Memfd, offset: usize) -> Result<(), Error> {
    let presence = Presence::open();
    let start = image.statics().start;
    // SAFETY: one thread calls this at a time. Until the end of the block it makes system calls and
    // copies by loops: it neither allocates nor locks, and drops the value on this thread.
    let moved = unsafe {
        let _standstill = Standstill::begin()?;
        image.segments.iter().try_for_each(|segment| {
            let offset = offset + segment.range.start - start;
            share_segment(segment, memory, offset, &presence)
        })
    };
    moved.map_err(Error::system("moving the static data onto shared memory"))
}

fn share_segment(
    segment: &Segment,
    memory: &Memfd,
    offset: usize,
    presence: &Presence,
) -> io::Result<()> {
    let Range { start, end } = segment.range;
    let copy = Reservation::anywhere(end - start)?;
    copy.map_shared(0, memory, offset, end - start)?;
    let page = page_size();
    let mut in_use = [true; CHUNK];
    // From here to the mapping nothing may write static data, which in a static executable is also
    // that of the C library and of this one: plain loops and system calls only.
    for chunk in (start..end).step_by(CHUNK * page) {
        let pages = CHUNK.min((end - chunk) / page);
        presence.read(chunk / page, &mut in_use[..pages]);
        for (index, in_use) in in_use[..pages].iter().enumerate() {
            let address = chunk + index * page;
            if *in_use || address < segment.initialised_end {
                // SAFETY: both pages are mapped; the target is only known here.
                unsafe { copy_page(copy.base() + (address - start), address, page) };
            }
        }
    }
    // SAFETY: the pages belong to the executable's static data, whose contents have been copied.
    unsafe { map_shared_at(start, memory, offset, end - start) }
}

/// Pages that are asked about at a time.
const CHUNK: usize = 512;

/// Copies a page unless it is all zeros: the target is zero already, and stays without memory.
///
/// # Safety
/// Both pages are mapped, the target for writing, and nobody else knows the target.
unsafe fn copy_page(to: usize, from: usize, page: usize) {
    let words = page / size_of::<u64>();
    // SAFETY: the source page is mapped; volatile because the program's own statics are read as raw memory.
    let word = |i: usize| unsafe { (from as *const u64).add(i).read_volatile() };
    if (0..words).any(|i| word(i) != 0) {
        for i in 0..words {
            // SAFETY: the target page is mapped for writing.
            unsafe { (to as *mut u64).add(i).write_volatile(word(i)) };
        }
    }
}

/// The own pages that have memory, by `/proc/self/pagemap`: an untouched `.bss` is not read, so
/// that it costs nothing.
struct Presence {
    pagemap: Option<File>,
}

/// Bits 63 and 62 of an entry: present, swapped (Documentation/admin-guide/mm/pagemap.rst).
const IN_USE: u64 = 3 << 62;

impl Presence {
    fn open() -> Self {
        Self {
            pagemap: File::open("/proc/self/pagemap").ok(),
        }
    }

    /// Says of up to [`CHUNK`] pages from number `first` whether they may have contents: all of them
    /// when the system does not tell.
    fn read(&self, first: usize, in_use: &mut [bool]) {
        let mut entries = [IN_USE; CHUNK];
        if let Some(pagemap) = &self.pagemap {
            let wanted = size_of_val(&entries[..in_use.len()]);
            let at = (first * size_of::<u64>()) as libc::off_t;
            // SAFETY: the buffer holds `wanted` bytes; the descriptor is open.
            let got = unsafe {
                libc::pread(pagemap.as_raw_fd(), entries.as_mut_ptr().cast(), wanted, at)
            };
            if got != wanted as isize {
                entries = [IN_USE; CHUNK];
            }
        }
        for (in_use, entry) in in_use.iter_mut().zip(entries) {
            *in_use = entry & IN_USE != 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(kind: u32, flags: u32, start: u64, file: u64, memory: u64) -> libc::Elf64_Phdr {
        libc::Elf64_Phdr {
            p_type: kind,
            p_flags: flags,
            p_offset: 0,
            p_vaddr: start,
            p_paddr: start,
            p_filesz: file,
            p_memsz: memory,
            p_align: 0x1000,
        }
    }

    const CODE: u32 = libc::PF_R | libc::PF_X;
    const DATA: u32 = libc::PF_R | libc::PF_W;

    #[test]
    fn relro_stays_out_and_bss_is_in() {
        let headers = [
            header(libc::PT_LOAD, CODE, 0, 0x2000, 0x2000),
            header(libc::PT_LOAD, DATA, 0x3db8, 0x300, 0x2500),
            header(libc::PT_GNU_RELRO, libc::PF_R, 0x3db8, 0x248, 0x248),
        ];
        let image = image_of(&headers, 0x10_0000, 0x1000);
        assert_eq!(image.whole, 0x10_0000..0x10_7000);
        assert_eq!(image.statics(), 0x10_4000..0x10_7000);
        assert_eq!(image.segments[0].initialised_end, 0x10_40b8);
    }

    #[test]
    fn what_lies_between_two_writable_segments_stays_out() {
        let headers = [
            header(libc::PT_LOAD, CODE, 0, 0x1000, 0x1000),
            header(libc::PT_LOAD, DATA, 0x2000, 0x1000, 0x1000),
            header(libc::PT_GNU_RELRO, libc::PF_R, 0x2000, 0x1000, 0x1000),
            header(libc::PT_LOAD, DATA, 0x20_0000, 0, 0x3000),
            header(libc::PT_LOAD, DATA, 0x4000, 0x800, 0x1800),
        ];
        let image = image_of(&headers, 0, 0x1000);
        let ranges: Vec<_> = image.segments.iter().map(|s| s.range.clone()).collect();
        assert_eq!(ranges, [0x4000..0x6000, 0x20_0000..0x20_3000]);
        let regions: Vec<_> = image.regions().collect();
        assert_eq!(
            (regions[1].base, regions[1].file_offset),
            (0x20_0000, 0x1f_c000)
        );
    }

    #[test]
    fn gaps_become_memory_of_the_share() {
        let page = page_size();
        let memory = Memfd::create(c"gaps", 9 * page).unwrap();
        let place = Reservation::anywhere(8 * page).unwrap();
        let base = place.base();
        drop(place);
        let segment = |from: usize, to: usize| Segment {
            range: base + from * page..base + to * page,
            initialised_end: base,
        };
        let held: Vec<Reservation> = [(0, 2), (4, 5), (5, 6)]
            .map(|(from, to)| Reservation::at(base + from * page, (to - from) * page).unwrap())
            .into();
        let mut image = Image {
            segments: vec![segment(0, 2), segment(4, 5), segment(5, 6)],
            ..Image::default()
        };
        close_gaps(&mut image, &memory, page).unwrap();
        assert_eq!(image.regions().count(), 1);
        assert_eq!(image.statics(), base..base + 6 * page);
        let (view, in_gap) = (Reservation::anywhere(9 * page).unwrap(), base + 3 * page);
        view.map_shared(0, &memory, 0, 9 * page).unwrap();
        // SAFETY: both are mapped: the gap by the call above, the view just now.
        unsafe {
            (in_gap as *mut u64).write_volatile(7);
            assert_eq!(((view.base() + 4 * page) as *const u64).read_volatile(), 7);
        }
        image.segments = vec![segment(0, 1), segment(3, 6)];
        assert!(
            close_gaps(&mut image, &memory, page).is_err(),
            "the second page is taken"
        );
        drop(held);
    }

    #[test]
    fn this_program_has_its_statics_in_its_image() {
        static mut WRITABLE: [u8; 3] = [1, 2, 3];
        let image = find();
        let address = (&raw const WRITABLE).addr();
        assert!(image.segments.iter().any(|s| s.range.contains(&address)));
        assert!(image.whole.contains(&(find as *const () as usize)));
        assert!(!image.statics().contains(&(find as *const () as usize)));
    }
}
