//! Settings for opening a device and reaching peers, all of which the layers above choose.
//!
//! The policies of lanes are those of `fi_mlx5`, by the names that they have here.

use crate::registration::Limits;
use std::fmt::{self, Display};

pub use fi_mlx5::policy::{Completions, DEFAULT as DEFAULT_POLICY, POLICIES, Policy};

/// Transport by which a device reaches peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A connected queue pair for each peer (RC).
    Rc,
    /// Initiators that go to all peers, each with a target (DC).
    Dc,
    /// As DC, and in the background a connected queue pair for each peer that much is sent to (RC).
    Mixed,
}

impl Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rc => "RC",
            Self::Dc => "DC",
            Self::Mixed => "DC and RC",
        })
    }
}

/// Configuration of a device that [`crate::symmetric::domain::Domain::open_device`] opens.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Transport by which it reaches peers.
    pub transport: Transport,
    /// The queues that the default endpoint has where peers do not have one each, a power of two: a
    /// peer has always the same of them.
    pub initiators: u32,
    /// Whether several threads may use the default endpoint at a time, or others that share its
    /// lane.
    pub shared: bool,
    /// The sharing between lanes.
    pub policy: &'static Policy,
    /// The users of a completion queue.
    pub completions: Completions,
    /// The address, in the window, of zeroed words of 8 bytes that peers may write and read, for
    /// the layers above; but with [`Transport::Mixed`] the last ones, one for each peer, are the
    /// fabric's.
    pub mailbox: usize,
    /// Number of those words.
    pub mailbox_words: usize,
    /// Limits of the private memory that stays registered.
    pub registrations: Limits,
}
