//! Parties over a provider of the system's libfabric: processes, each on a pretended node of its own or two on each.
//!
//! FARREACH_LIBFABRIC_PROVIDER names another provider than a suite does, and FARREACH_LIBFABRIC another library.

use crate::party::Party;
use crate::processes;
use crate::shm::Setting;
use crate::transport::Transport;
use fi_provider::libfabric;
use std::sync::LazyLock;

/// Words of each mailbox.
const MAILBOX_WORDS: usize = 64;

/// A provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Provider {
    name: &'static str,
    /// Whether local memory is registered where the provider does not ask for it.
    registered: bool,
}

impl Provider {
    /// Returns the configuration by which a party opens it, whose heap begins at `heap`.
    pub(crate) fn config(self, heap: usize) -> libfabric::Config {
        libfabric::Config {
            provider: Some(by_hand_or(self.name).to_owned()),
            // Contracts have threads on several lanes.
            shared: false,
            is_crowded: true,
            registers_local: self.registered,
            mailbox: heap,
            leave: libfabric::LEAVE,
            mailbox_words: MAILBOX_WORDS,
            watch: None,
        }
    }
}

/// Returns the provider that FARREACH_LIBFABRIC_PROVIDER names, or else `name`.
pub(crate) fn by_hand_or(name: &'static str) -> &'static str {
    static BY_HAND: LazyLock<Option<&str>> = LazyLock::new(|| {
        let by_hand = std::env::var("FARREACH_LIBFABRIC_PROVIDER").ok()?;
        Some(by_hand.leak())
    });
    BY_HAND.unwrap_or(name)
}

/// Parties are processes that reach others by a provider of libfabric.
#[derive(Debug)]
pub(crate) struct Libfabric {
    provider: Provider,
    per_node: u32,
}

impl Libfabric {
    /// Makes a transport by the provider of this name.
    pub(crate) const fn by(name: &'static str) -> Self {
        Self {
            provider: Provider {
                name,
                registered: false,
            },
            per_node: 1,
        }
    }

    /// Puts two parties on each node.
    pub(crate) const fn two_on_each_node(self) -> Self {
        Self {
            per_node: 2,
            ..self
        }
    }

    /// Acts as for a provider that wants local memory registered.
    pub(crate) const fn registered(self) -> Self {
        let provider = Provider {
            registered: true,
            ..self.provider
        };
        Self { provider, ..self }
    }
}

impl Transport for Libfabric {
    fn name(&self) -> &'static str {
        self.provider.name
    }

    fn maps(&self, rank: u32, peer: u32) -> bool {
        rank / self.per_node == peer / self.per_node
    }

    fn openings(&self) -> u32 {
        4
    }

    fn run(&self, parties: u32, body: &(dyn Fn(&Party) + Sync)) -> Result<(), String> {
        let setting = Setting {
            per_node: self.per_node,
            provider: Some(self.provider),
            slowness: 250,
            ..Setting::ONE_NODE
        };
        processes::run(parties, &setting, body)
    }
}
