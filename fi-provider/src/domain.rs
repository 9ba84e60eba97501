//! The domain: the node's memory, this process's window in it, and the peers (fi_domain(3)).

#![expect(
    unsafe_code,
    reason = "the direct map reads the peer table through a raw pointer, so that it can live in a static"
)]

use crate::address_vector::{AddressVector, Peer, PeerIndex};
use crate::memory::{ELEMENT_SLACK, Window};
use fi_shm::segment::{HUGE_PAGE, Memfd, Reservation, page_size};
use std::io;
use std::sync::Arc;

/// Where the processes of a node keep their windows in the node's memory.
///
/// The memory begins with `control_len` bytes for the layers above; then follow the shares, one per
/// process in the order of the ranks on the node, `share_len` bytes each.
#[derive(Clone, Debug)]
pub struct NodeLayout {
    /// The node's memory.
    pub memory: Arc<Memfd>,
    /// Bytes before the first share.
    pub control_len: usize,
    /// Bytes of each process's share.
    pub share_len: usize,
    /// This process's rank on the node.
    pub rank: u32,
    /// Processes on the node.
    pub processes: u32,
}

impl NodeLayout {
    /// Where the share of `rank` begins in the memory.
    pub fn share_offset(&self, rank: u32) -> usize {
        self.control_len + rank as usize * self.share_len
    }
}

/// An open domain: the peers' windows are mapped and their records made.
#[derive(Debug)]
pub struct Domain {
    window: Window,
    peers: AddressVector,
    /// The peers' windows, in the order of their ranks, `stride` bytes each from `first`; unmapped on drop.
    mapped: Option<Reservation>,
    first: usize,
    stride: usize,
    rank: u32,
}

impl Domain {
    /// The bytes of address space that one peer's window of `len` bytes takes: the window, and at least
    /// a page behind it that nothing is mapped to.
    fn stride(len: usize) -> usize {
        (len + ELEMENT_SLACK + page_size()).next_multiple_of(HUGE_PAGE)
    }

    /// The bytes of address space that the windows of `processes` take, each of `len` bytes.
    pub fn address_space(len: usize, processes: usize) -> Option<usize> {
        Self::stride(len)
            .checked_mul(processes)?
            .checked_add(HUGE_PAGE)
    }

    /// Maps the windows of all processes of the node and makes the address vector.
    ///
    /// The own window must already be mapped from the own share, each part at its `file_offset`; all
    /// processes have parts of the same lengths at the same distances.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn open(layout: &NodeLayout, window: Window) -> io::Result<Self> {
        let stride = Self::stride(window.len());
        let mut peers = AddressVector::with_capacity(layout.processes as usize);
        let mapped = if layout.processes > 1 {
            let space = Self::address_space(window.len(), layout.processes as usize)
                .ok_or(io::ErrorKind::OutOfMemory)?;
            Some(Reservation::anywhere(space)?)
        } else {
            None
        };
        // Windows lie at a multiple of a huge page from the own, so that pages that are huge in the
        // owner's mapping can be huge here.
        let first = mapped.as_ref().map_or(0, |space| {
            window.base().wrapping_sub(space.base()) % HUGE_PAGE
        });
        for rank in 0..layout.processes {
            let delta = match &mapped {
                Some(space) if rank != layout.rank => {
                    let at = first + rank as usize * stride;
                    for part in window.parts() {
                        let offset = layout.share_offset(rank) + part.file_offset;
                        let place = at + part.base - window.base();
                        space.map_shared(place, &layout.memory, offset, part.len)?;
                    }
                    (space.base() + at).wrapping_sub(window.base())
                }
                _ => 0,
            };
            peers.insert_on_node(window.len(), delta);
        }
        if let Some(space) = &mapped {
            space.keep_from_children();
        }
        Ok(Self {
            window,
            peers,
            mapped,
            first,
            stride,
            rank: layout.rank,
        })
    }

    /// The own symmetric memory.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The peers.
    pub fn peers(&self) -> &AddressVector {
        &self.peers
    }

    /// Whose window `addr` lies in, the own or a peer's mapped here, and the same object's address in
    /// the own window: for explaining a fault. `None` for any other address.
    pub fn owner_of(&self, addr: usize) -> Option<(u32, usize)> {
        let own = addr.wrapping_sub(self.window.base());
        if own < self.window.len() {
            return Some((self.rank, addr));
        }
        let space = self.mapped.as_ref()?;
        let offset = addr.wrapping_sub(space.base() + self.first);
        if offset >= self.peers.len() * self.stride {
            return None;
        }
        let rank = (offset / self.stride) as u32;
        Some((rank, self.window.base() + offset % self.stride))
    }

    /// The map for [`DirectMap::pointer`].
    pub fn direct_map(&self) -> DirectMap {
        let (first, rest) = match self.window.parts() {
            [first, rest @ ..] => ((first.base, first.len), Window::spanning(rest.to_vec())),
            [] => ((0, 0), Window::spanning(Vec::new())),
        };
        DirectMap {
            peers: self.peers.records().as_ptr(),
            count: self.peers.len() as u32,
            first,
            rest: (rest.base(), rest.len()),
        }
    }
}

/// Where objects of peers are in this process's address space: the hole behind the window's first part is
/// left out.
///
/// Plain data for a static; it holds no peers in a job where some are on other nodes.
#[derive(Clone, Copy, Debug)]
pub struct DirectMap {
    peers: *const Peer,
    count: u32,
    /// Base and length in bytes of the window's first part, and of all that the others span.
    first: (usize, usize),
    rest: (usize, usize),
}

// SAFETY: the records are never written while the domain is open, and a map is used only so long.
unsafe impl Sync for DirectMap {}
// SAFETY: as above.
unsafe impl Send for DirectMap {}

impl DirectMap {
    /// A map without peers.
    pub const fn empty() -> Self {
        Self {
            peers: std::ptr::null(),
            count: 0,
            first: (0, 0),
            rest: (0, 0),
        }
    }

    /// The address, in this process, of the object on `peer` whose own address is `addr`; `None` where there
    /// is none.
    ///
    /// # Safety
    /// The domain of the map is open, or the map is empty.
    #[inline(always)]
    pub unsafe fn pointer(&self, addr: usize, peer: PeerIndex) -> Option<usize> {
        if peer >= self.count {
            return None;
        }
        let inside = |(base, len): (usize, usize)| addr.wrapping_sub(base) < len;
        if !inside(self.first) && !inside(self.rest) {
            return None;
        }
        // SAFETY: `peers` points to `count` records that live while the domain is open.
        let record = unsafe { &*self.peers.add(peer as usize) };
        Some(addr.wrapping_add(record.delta))
    }
}
