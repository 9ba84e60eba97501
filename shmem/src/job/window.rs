//! The place of the heap: in one window of addresses with the static data, and right below it the
//! library's own workspace ([`crate::job::workspace`]).
//!
//! Below a position-independent executable the addresses are free, and only its code lies between heap
//! and static data. Above an executable are the program's own heap (brk) and, far up, its libraries; so
//! there the heap is put at some distance.

use super::error::Error;
use super::statics::Image;
use super::workspace::{MAILBOX, WORKSPACE};
use fi_provider::node::segment::{Reservation, discard, page_size};
use fi_provider::symmetric::domain::{Domain, NodeLayout};
use fi_provider::symmetric::window::MemoryRegion;
use std::ops::Range;

/// The alignment of the heap's base in bytes, the same for all PEs: the largest that shmem_align can give.
pub(crate) const HEAP_ALIGN: usize = 64 << 20;

/// Distances in bytes at which the heap is tried above the executable. Small ones are for tools that
/// leave little address space, such as valgrind.
const DISTANCES: [usize; 4] = [8 << 30, 1 << 30, 64 << 30, 1 << 40];

/// The addresses of workspace and heap, mapped onto the own share of the node's memory.
#[derive(Debug)]
pub(crate) struct HeapSpace {
    space: Reservation,
    /// The workspace and the heap.
    region: MemoryRegion,
}

/// Returns the bytes to map for a heap of `asked` bytes: whole pages, if the machine could ever
/// hold them.
pub(crate) fn heap_len(asked: usize) -> Result<usize, Error> {
    let available = machine_memory();
    if asked > available {
        return Err(Error::HeapTooLarge { asked, available });
    }
    Ok(asked.next_multiple_of(page_size()))
}

/// Returns memory and swap of this machine in bytes.
#[expect(unsafe_code, reason = "sysinfo(2) fills in a C record")]
fn machine_memory() -> usize {
    // SAFETY: all-zero is a valid record, which the call fills in.
    let info = unsafe {
        let mut info: libc::sysinfo = std::mem::zeroed();
        libc::sysinfo(&raw mut info);
        info
    };
    (info.totalram as usize + info.totalswap as usize).saturating_mul(info.mem_unit as usize)
}

impl HeapSpace {
    /// Finds a place for a heap of `len` bytes such that the windows of all PEs of the node fit as well, and maps the
    /// own share there, from `file_offset` on in it: the workspace, and then the heap.
    pub(crate) fn find(
        image: &Image,
        len: usize,
        file_offset: usize,
        layout: &NodeLayout,
    ) -> Result<Self, Error> {
        let processes = layout.processes as usize;
        let whole = WORKSPACE + len;
        let space = candidates(image, len)
            .map(|heap| heap - WORKSPACE)
            .filter(|&base| windows_fit(image, base, whole, processes))
            // One page more than the heap stays without access, behind its end.
            .find_map(|base| Reservation::at(base, whole + page_size()).ok())
            .ok_or(Error::AddressSpace {
                heap: len,
                processes,
            })?;
        let offset = layout.share_offset(layout.rank) + file_offset;
        space
            .map_shared(0, &layout.memory, offset, whole)
            .map_err(Error::system("mapping the symmetric heap"))?;
        // Until blocks are made there: `put_into_cores`.
        space.keep_from_cores();
        Ok(Self {
            region: MemoryRegion {
                base: space.base(),
                len: whole,
                file_offset,
            },
            space,
        })
    }

    /// Returns the first address of the workspace.
    pub(crate) fn workspace(&self) -> usize {
        self.region.base
    }

    /// Returns the first address of the mailbox.
    pub(crate) fn mailbox(&self) -> usize {
        self.workspace() + MAILBOX
    }

    /// Returns the first address of the heap.
    pub(crate) fn base(&self) -> usize {
        self.region.base + WORKSPACE
    }

    /// Returns the workspace and the heap, as peers reach them.
    pub(crate) fn region(&self) -> MemoryRegion {
        self.region.clone()
    }

    /// Returns the heap.
    pub(crate) fn range(&self) -> Range<usize> {
        self.base()..self.region.range().end
    }

    /// Has core files hold the bytes of the heap at these offsets, as far as the heap goes.
    pub(crate) fn put_into_cores(&self, offsets: Range<usize>) {
        let end = offsets.end.min(self.range().len());
        if offsets.start < end {
            let at = WORKSPACE + offsets.start;
            // The range is the heap's. Where the system refuses, a core file holds less.
            let _ = self.space.put_into_cores(at, end - offsets.start);
        }
    }

    /// Gives the heap's pages back: nobody uses the heap any more.
    #[expect(unsafe_code, reason = "discards the contents of the own heap")]
    pub(crate) fn discard(self) {
        let heap = self.range();
        if !heap.is_empty() {
            // SAFETY: the range is the shared mapping of the heap, whole pages, and nobody needs
            // its contents any more. Where the system refuses, the memory is held until the process
            // ends.
            let _ = unsafe { discard(heap.start, heap.len()) };
        }
    }
}

/// Returns the base addresses of the heap to try, best first; below each is room for the workspace.
fn candidates(image: &Image, len: usize) -> impl Iterator<Item = usize> {
    let below = image
        .whole
        .start
        .checked_sub(len + page_size())
        .map(|base| base / HEAP_ALIGN * HEAP_ALIGN)
        .filter(|&base| base > WORKSPACE);
    let end = image.whole.end;
    let above = DISTANCES
        .iter()
        .map(move |distance| (end + distance).next_multiple_of(HEAP_ALIGN));
    below.into_iter().chain(above)
}

/// Returns whether the peers' windows find room when the heap is at `base`.
fn windows_fit(image: &Image, base: usize, len: usize, processes: usize) -> bool {
    let statics = image.statics();
    let start = base.min(statics.start);
    let end = (base + len).max(statics.end);
    processes == 1
        || Domain::address_space(end - start, processes)
            .is_some_and(|space| Reservation::anywhere(space).is_ok())
}
