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

use crate::error::Error;
use fi_provider::node::segment::{Memfd, Reservation, map_shared_at, page_size};
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;

/// Where the main executable lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    /// Whole pages of `.data` and `.bss`.
    pub(crate) statics: Range<usize>,
    /// The part of `statics` that the file initialises; the rest is zero until it is written.
    initialised_end: usize,
    /// From the first to the last page of all segments.
    pub(crate) whole: Range<usize>,
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
        let headers =
            unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
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
    let writable = || loads().filter(|h| h.p_flags & libc::PF_W != 0);
    let relro_end = headers
        .iter()
        .filter(|h| h.p_type == libc::PT_GNU_RELRO)
        .map(|h| down(range(h).end))
        .max()
        .unwrap_or(0);
    let start = writable()
        .map(|h| down(range(h).start))
        .min()
        .unwrap_or(0)
        .max(relro_end);
    let end = writable()
        .map(|h| range(h).end.next_multiple_of(page))
        .max()
        .unwrap_or(start);
    Image {
        statics: start..end.max(start),
        initialised_end: writable()
            .map(|h| range(h).start + h.p_filesz as usize)
            .max()
            .unwrap_or(start),
        whole: loads().map(|h| down(range(h).start)).min().unwrap_or(start)
            ..loads()
                .map(|h| range(h).end.next_multiple_of(page))
                .max()
                .unwrap_or(end),
    }
}

/// Moves the static data onto `memory` at `offset`, in place.
///
/// Writes by other threads between the copy and the mapping would be lost: it is called while the
/// program starts, and other threads are worth a warning.
///
/// # Errors
/// The system's errors; nothing has changed then.
pub(crate) fn share(image: &Image, memory: &Memfd, offset: usize) -> Result<(), Error> {
    let len = image.statics.len();
    if len == 0 {
        return Ok(());
    }
    let what = "moving the static data onto shared memory";
    let copy = Reservation::anywhere(len).map_err(Error::system(what))?;
    copy.map_shared(0, memory, offset, len)
        .map_err(Error::system(what))?;
    let presence = Presence::open();
    let page = page_size();
    let mut in_use = [true; CHUNK];
    // From here to the mapping nothing may write static data, which in a static executable is also
    // that of the C library and of this one: plain loops and system calls only.
    for chunk in image.statics.clone().step_by(CHUNK * page) {
        let pages = CHUNK.min((image.statics.end - chunk) / page);
        presence.read(chunk / page, &mut in_use[..pages]);
        for (index, in_use) in in_use[..pages].iter().enumerate() {
            let address = chunk + index * page;
            if *in_use || address < image.initialised_end {
                let to = copy.base() + (address - image.statics.start);
                // SAFETY: both pages are mapped; the target is only known here.
                unsafe { copy_page(to, address, page) };
            }
        }
    }
    // SAFETY: the pages belong to the executable's static data, whose contents have been copied.
    unsafe { map_shared_at(image.statics.start, memory, offset, len) }.map_err(Error::system(what))
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

/// Which of the own pages have memory, by `/proc/self/pagemap`: an untouched `.bss` is not read, so that
/// it costs nothing.
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
                libc::pread(
                    pagemap.as_raw_fd(),
                    entries.as_mut_ptr().cast(),
                    wanted,
                    at,
                )
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
