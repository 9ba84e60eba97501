//! Parties and their nodes: each has its share of its node's memory and its own mapping of it.

#![expect(unsafe_code, reason = "areas are made of fresh mappings")]

use crate::access::Area;
use crate::lane::Lane;
use crate::meeting::{self, Meeting};
use crate::party::{HEAP, Party, STATICS, open_lane};
use crate::provider::Provider;
use fi_provider::device::{self, Config};
use fi_provider::node::segment::{Memfd, Reservation, page_size};
use fi_provider::symmetric::domain::{Domain, NodeLayout, Placement};
use fi_provider::symmetric::window::{MemoryRegion, Window};
use std::error::Error;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

/// Pages of each window, between its parts, that belong to neither.
pub(crate) const HOLE_PAGES: usize = 3;
/// Bytes of a share that no window shows, so that neighbours' shares do not touch.
const SPARE: usize = 64 << 10;

/// The spread of parties over nodes, and the way in which they reach those of other nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// Parties of each node, which has consecutive ones.
    pub(crate) per_node: u32,
    /// The device, if there is one.
    pub(crate) device: Option<Config>,
    /// The provider of libfabric by which they do, where there is no device.
    pub(crate) provider: Option<Provider>,
    /// Whether parties use a lane beside the default one, and if so, whether it is one for several threads.
    pub(crate) beside: Option<bool>,
    /// Divisor of numbers of repetitions.
    pub(crate) slowness: u32,
}

impl Setting {
    /// All on one node.
    pub(crate) const ONE_NODE: Self = Self {
        per_node: u32::MAX,
        device: None,
        provider: None,
        beside: None,
        slowness: 1,
    };
}

/// A few parties, and the memories of their nodes.
#[derive(Debug)]
pub(crate) struct Node {
    memories: Vec<Arc<Memfd>>,
    parties: u32,
    setting: Setting,
    /// The meeting of the parties.
    pub(crate) meeting: Meeting,
}

impl Node {
    /// Makes nodes for `parties` parties; none is open yet.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn create(parties: u32, setting: &Setting) -> Result<Self, String> {
        let text = |error: std::io::Error| format!("the node's memory: {error}");
        let setting = Setting {
            per_node: setting.per_node.min(parties),
            ..*setting
        };
        let mut memories = Vec::new();
        for _ in 0..parties.div_ceil(setting.per_node) {
            let shares = setting.per_node as usize * (HEAP + STATICS + SPARE);
            let memory =
                Memfd::create(c"farreach-contract", meeting::BYTES + shares).map_err(text)?;
            memories.push(Arc::new(memory));
        }
        let meeting = Meeting::in_memory(&memories[0], parties)?;
        Ok(Self {
            memories,
            parties,
            setting,
            meeting,
        })
    }

    /// Returns the place of party `rank`.
    fn placement(&self, rank: u32) -> Placement {
        let first = rank - rank % self.setting.per_node;
        Placement {
            own: rank,
            near: (first..self.parties.min(first + self.setting.per_node)).collect(),
            count: self.parties,
        }
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

    /// Opens a party. The static data lies below the heap, and behind it in the share; the pages of
    /// the hole, and those around the window, are no memory at all.
    fn open(&self, rank: u32, body: &(dyn Fn(&Party) + Sync)) -> Result<(), Box<dyn Error>> {
        let page = page_size();
        // Of the hole's last page the mailbox is made, where peers are connected by means of it.
        let mixed = |config: Config| config.transport == device::Transport::Mixed;
        let mail = if self.setting.device.is_some_and(mixed) {
            page
        } else {
            0
        };
        let hole = HOLE_PAGES * page - mail;
        // Unequal pages before the window: parties shall not find themselves at equal addresses.
        let before = (1 + rank as usize) * page;
        let space = Reservation::anywhere(before + STATICS + hole + mail + HEAP + page)?;
        let placement = self.placement(rank);
        let memory = &self.memories[(rank / self.setting.per_node) as usize];
        let layout = NodeLayout {
            memory: Arc::clone(memory),
            control_len: meeting::BYTES,
            share_len: HEAP + STATICS + SPARE,
            rank: rank % self.setting.per_node,
            processes: placement.near.len() as u32,
        };
        let share = layout.share_offset(layout.rank);
        space.map_shared(before, memory, share + mail + HEAP, STATICS)?;
        space.map_shared(before + STATICS + hole, memory, share, mail + HEAP)?;
        let statics = space.base() + before;
        let heap = statics + STATICS + hole + mail;
        let window = Window::spanning(vec![
            MemoryRegion {
                base: heap - mail,
                len: mail + HEAP,
                file_offset: 0,
            },
            MemoryRegion {
                base: statics,
                len: STATICS,
                file_offset: mail + HEAP,
            },
        ]);
        let mut domain = Domain::open(&layout, window, &placement)?;
        if let Some(config) = self.setting.device {
            let address = domain.open_device(Config {
                mailbox: heap - mail,
                ..config
            })?;
            let addresses = self.meeting.exchange(rank, &address);
            check_keys(&addresses);
            domain.connect(&addresses)?;
            domain.connect_in_background();
        }
        if let Some(provider) = self.setting.provider {
            let address = domain.open_libfabric(&provider.config(heap))?;
            domain.connect(&self.meeting.exchange(rank, &address))?;
        }
        let all: Vec<_> = (0..self.parties).collect();
        let party = Party {
            rank,
            count: self.parties,
            slowness: self.setting.slowness,
            lane: match self.setting.beside {
                Some(shared) => open_lane(&domain, shared, &all)?,
                None => Lane::enabled(&domain),
            },
            domain: &domain,
            // SAFETY: mapped above; the reservation outlives the party, and only areas use its addresses.
            heap: unsafe { Area::new(heap, HEAP) },
            // SAFETY: mapped above; the reservation outlives the party, and only areas use its
            // addresses.
            statics: unsafe { Area::new(statics, STATICS) },
            meeting: &self.meeting,
        };
        party.meet();
        body(&party);
        party.quiet_and_meet();
        Ok(())
    }
}

/// The place of a process's key in the address of its device.
const KEY: std::ops::Range<usize> = 9..17;

/// Checks that every process has a key of its own.
fn check_keys(addresses: &[Vec<u8>]) {
    let keys: std::collections::BTreeSet<_> =
        addresses.iter().map(|address| &address[KEY]).collect();
    assert_eq!(keys.len(), addresses.len(), "keys of processes");
}
