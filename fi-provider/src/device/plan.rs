//! The plan of a gate: its send queues, their lengths, and the amount of bounce memory.

use crate::device::config::{Config, Transport};
use fi_mlx5::device::{self as hca, Overrun};
use fi_mlx5::lane::Hook;

/// Basic blocks of a send queue: of an initiator, and of each of a few.
pub(crate) const BLOCKS: u32 = 512;
/// The fewest of one of many.
const FEWEST_BLOCKS: u32 = 64;
/// Basic blocks of all connected send queues of a lane, where they are not the fewest.
const ALL_BLOCKS: u32 = 16 * BLOCKS;
/// The fewest entries of a completion queue, beside one for each send queue, where the queues are
/// many: posts wait when as many completions are due.
pub(crate) const COMPLETIONS: u32 = 4096;
/// Bytes of a piece of the bounce memory: of the default endpoint's gate, and of those made later.
const PIECE: usize = 32 << 10;
const SMALL_PIECE: usize = 8 << 10;

/// The send queues of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queues {
    /// A connected one for each of so many peers.
    Connected(u32),
    /// So many, a power of two, that enter the peers' targets.
    Initiators(u32),
    /// A connected one for each of at most so many peers, which come later.
    Later(u32),
    /// So many that enter the peers' targets, and a connected one for each of so many peers, which
    /// come later if they come.
    Mixed {
        /// A power of two.
        initiators: u32,
        /// Peers.
        peers: u32,
    },
}

impl Queues {
    /// Returns the number of connected queues, those that come later included, and of initiators.
    pub(crate) fn counts(self) -> (u32, u32) {
        match self {
            Self::Connected(count) | Self::Later(count) => (count, 0),
            Self::Initiators(count) => (0, count),
            Self::Mixed { initiators, peers } => (peers, initiators),
        }
    }

    /// Returns the number of basic blocks of each connected queue: fewer where they are many.
    pub(crate) fn connected_blocks(self) -> u32 {
        let (count, _) = self.counts();
        let share = ALL_BLOCKS / count.clamp(1, ALL_BLOCKS).next_power_of_two();
        share.clamp(FEWEST_BLOCKS, BLOCKS)
    }

    /// Returns the number of entries for all completions that can be due: one for each block,
    /// because each entry that is flushed has one.
    fn all_completions(self) -> u32 {
        let (connected, initiators) = self.counts();
        connected
            .saturating_mul(self.connected_blocks())
            .saturating_add(initiators * BLOCKS)
            .max(2 * BLOCKS)
    }

    /// Returns the number of entries of their completion queue, of at most `most`, if so many will
    /// do. Those of a device with fewer than [`Queues::all_completions`] may overflow, but not
    /// before the one that tells why.
    pub(crate) fn completions(self, most: u32) -> Option<u32> {
        let (connected, initiators) = self.counts();
        let wanted = self.all_completions();
        let fewest = wanted.min(COMPLETIONS.saturating_add(connected + initiators));
        (fewest <= most).then(|| wanted.min(most))
    }

    /// Returns whether a completion queue of so many entries may overflow.
    pub(crate) fn overrun(self, entries: u32) -> Overrun {
        if entries < self.all_completions() {
            Overrun::Possible
        } else {
            Overrun::Impossible
        }
    }

    /// Returns the feature that such queues need and the device has not; `entries` is
    /// [`Queues::completions`].
    pub(crate) fn lacking(self, hca: &hca::Device, entries: Option<u32>) -> Option<&'static str> {
        match (self, entries) {
            (_, None) => Some("completion queue for so many peers; use DC"),
            (Self::Initiators(_) | Self::Mixed { .. }, _) if !hca.features().dc => {
                Some("dynamic connections (DC); use RC")
            }
            _ => None,
        }
    }
}

/// Plan by which a gate is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Its send queues.
    pub(crate) queues: Queues,
    /// Whether several threads may use it at a time.
    pub(crate) shared: bool,
    /// Whether it is the default endpoint's.
    pub(crate) default: bool,
    /// Bytes of a piece of the bounce memory, which is at most a message.
    pub(crate) piece_len: usize,
    /// Called where the completion queue was found empty.
    pub(crate) hook: Option<Hook>,
}

impl Plan {
    /// Makes the plan of the default endpoint's gate in a job of so many peers.
    pub(crate) fn of_default(config: &Config, peers: u32, hook: Option<Hook>) -> Self {
        Self {
            queues: match config.transport {
                Transport::Rc => Queues::Connected(peers),
                Transport::Dc => Queues::Initiators(config.initiators),
                Transport::Mixed => Queues::Mixed {
                    initiators: config.initiators,
                    peers,
                },
            },
            shared: config.shared,
            default: true,
            piece_len: PIECE,
            hook,
        }
    }

    /// Makes the plan of a gate beside the default endpoint's.
    pub(crate) fn beside(queues: Queues, shared: bool, hook: Option<Hook>) -> Self {
        Self {
            queues,
            shared,
            default: false,
            piece_len: SMALL_PIECE,
            hook,
        }
    }
}
