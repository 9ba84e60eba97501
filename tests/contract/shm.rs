//! Parties over the on-node transport: each has its share of one memory and its own mapping of it.

#![expect(unsafe_code, reason = "areas are made of fresh mappings")]

use crate::access::Area;
use crate::lane::Lane;
use crate::meeting::{self, Meeting};
use crate::party::{HEAP, Party, STATICS};
use fi_provider::domain::{Domain, NodeLayout};
use fi_provider::memory::{MemoryRegion, Window};
use fi_provider::node::segment::{Memfd, Reservation, page_size};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

/// Pages of each window, between its parts, that belong to neither.
pub(crate) const HOLE_PAGES: usize = 3;
/// Bytes of a share that no window shows, so that neighbours' shares do not touch.
const SPARE: usize = 64 << 10;

/// A node of its own for a few parties.
#[derive(Debug)]
pub(crate) struct Node {
    memory: Arc<Memfd>,
    parties: u32,
    /// Where the parties meet.
    pub(crate) meeting: Meeting,
}

impl Node {
    /// A node for `parties` parties; none is open yet.
    ///
    /// # Errors
    /// What the system refused.
    pub(crate) fn create(parties: u32) -> Result<Self, String> {
        let text = |error: std::io::Error| format!("the node's memory: {error}");
        let memory = Memfd::create(c"farreach-contract").map_err(text)?;
        memory
            .set_len(meeting::BYTES + parties as usize * (HEAP + STATICS + SPARE))
            .map_err(text)?;
        let meeting = Meeting::in_memory(&memory, parties)?;
        Ok(Self {
            memory: Arc::new(memory),
            parties,
            meeting,
        })
    }

    /// Opens party `rank`, runs `body` in it with the others, and notes in the meeting whether it failed.
    pub(crate) fn attend(&self, rank: u32, body: &(dyn Fn(&Party) + Sync)) {
        let attended = panic::catch_unwind(AssertUnwindSafe(|| self.open(rank, body)));
        match attended {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.meeting.fail(rank, &format!("opening: {error}")),
            Err(payload) => self.meeting.fail_by(rank, &*payload),
        }
    }

    /// The static data lies below the heap, and behind it in the share; the pages of the hole, and those around the window,
    /// are no memory at all.
    fn open(&self, rank: u32, body: &(dyn Fn(&Party) + Sync)) -> std::io::Result<()> {
        let page = page_size();
        let hole = HOLE_PAGES * page;
        // Unequal pages before the window: parties shall not find themselves at equal addresses.
        let before = (1 + rank as usize) * page;
        let space = Reservation::anywhere(before + STATICS + hole + HEAP + page)?;
        let layout = NodeLayout {
            memory: Arc::clone(&self.memory),
            control_len: meeting::BYTES,
            share_len: HEAP + STATICS + SPARE,
            rank,
            processes: self.parties,
        };
        let share = layout.share_offset(rank);
        space.map_shared(before, &self.memory, share + HEAP, STATICS)?;
        space.map_shared(before + STATICS + hole, &self.memory, share, HEAP)?;
        let statics = space.base() + before;
        let heap = statics + STATICS + hole;
        let window = Window::spanning(vec![
            MemoryRegion {
                base: heap,
                len: HEAP,
                file_offset: 0,
            },
            MemoryRegion {
                base: statics,
                len: STATICS,
                file_offset: HEAP,
            },
        ]);
        let domain = Domain::open(&layout, window)?;
        let party = Party {
            rank,
            count: self.parties,
            lane: Lane::enabled(&domain),
            domain: &domain,
            // SAFETY: mapped above; the reservation outlives the party, and only areas use its addresses.
            heap: unsafe { Area::new(heap, HEAP) },
            // SAFETY: as above.
            statics: unsafe { Area::new(statics, STATICS) },
            meeting: &self.meeting,
        };
        party.meet();
        body(&party);
        party.meet();
        Ok(())
    }
}
