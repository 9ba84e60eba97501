//! Parties over the device: processes, each on a pretended node of its own or a few on each, under `softhca run`.
//!
//! A process has the software device only from its start, so that a test is this program again, under the device, asked
//! for that test alone. It needs Debian's package `ibverbs-providers`.

use crate::party::Party;
use crate::processes;
use crate::shm::Setting;
use crate::transport::Transport;
use fi_provider::device::{self, Completions, Config, Policy};
use fi_provider::registration::Limits;
use softhca_again::Again;

/// Seconds after which a contract on the device is ended.
const LIMIT: u32 = 170;
/// Words of each mailbox: one for each party at least.
const MAILBOX_WORDS: usize = 64;

/// The mode that the software device runs in.
#[derive(Clone, Copy, Debug)]
enum Behaviour {
    /// Acts when it is asked to.
    Asked,
    /// Checks each store to its registers.
    Strict,
    /// Acts at its own time, as one in hardware.
    Unasked,
    /// Delays queue pairs, in an order drawn by a seed.
    Delayed,
}

impl Behaviour {
    /// Returns the options of `softhca run`. In strict mode violations are failures, too.
    const fn options(self) -> &'static [&'static str] {
        match self {
            Self::Asked => &[],
            Self::Strict => &["--strict"],
            Self::Unasked => &["--no-hook"],
            Self::Delayed => &["--delay-seed", "7"],
        }
    }

    /// Divides numbers of repetitions: an operation takes microseconds, in strict mode some dozens
    /// for each store, and from a device that is not asked 50 and more.
    const fn slowness(self) -> u32 {
        match self {
            Self::Asked => 250,
            Self::Strict | Self::Delayed => 1000,
            Self::Unasked => 2500,
        }
    }
}

/// Parties are processes, each on a node of its own unless said otherwise, with the default policy.
#[derive(Debug)]
pub(crate) struct Device {
    transport: device::Transport,
    per_node: u32,
    /// See [`Setting::beside`].
    beside: Option<bool>,
    /// The policy of lanes.
    policy: &'static str,
    /// The place of lanes' completions.
    completions: Completions,
    behaviour: Behaviour,
}

impl Device {
    const fn by(transport: device::Transport) -> Self {
        Self {
            transport,
            per_node: 1,
            beside: None,
            policy: "dynamic",
            completions: Completions::Own,
            behaviour: Behaviour::Asked,
        }
    }

    /// Makes a transport with connected queues between all nodes.
    pub(crate) const fn rc() -> Self {
        Self::by(device::Transport::Rc)
    }

    /// Makes a transport with initiators and targets.
    pub(crate) const fn dc() -> Self {
        Self::by(device::Transport::Dc)
    }

    /// Makes a transport with initiators at once, and connected queues that come while parties are
    /// at it.
    pub(crate) const fn connecting() -> Self {
        Self::by(device::Transport::Mixed)
    }

    /// Puts two parties on each node.
    pub(crate) const fn two_on_each_node(self) -> Self {
        Self {
            per_node: 2,
            ..self
        }
    }

    /// Lets parties use a lane beside the default one, which may be one for several threads.
    pub(crate) const fn beside(self, shared: bool) -> Self {
        Self {
            beside: Some(shared),
            ..self
        }
    }

    /// Chooses another policy of lanes.
    pub(crate) const fn policy(self, policy: &'static str) -> Self {
        Self { policy, ..self }
    }

    /// Chooses one completion queue for all lanes of a device context.
    pub(crate) const fn one_queue(self) -> Self {
        Self {
            completions: Completions::Shared,
            ..self
        }
    }

    /// Lets the device check the writes to its registers.
    pub(crate) const fn strict(self) -> Self {
        Self {
            behaviour: Behaviour::Strict,
            ..self
        }
    }

    /// Lets the device act at its own time: parties wait as for one in hardware.
    pub(crate) const fn unasked(self) -> Self {
        Self {
            behaviour: Behaviour::Unasked,
            ..self
        }
    }

    /// Lets the device delay queue pairs: the effects of one are seen in any order with those of
    /// another.
    pub(crate) const fn delayed(self) -> Self {
        Self {
            behaviour: Behaviour::Delayed,
            ..self
        }
    }
}

impl Transport for Device {
    fn name(&self) -> &'static str {
        match self.transport {
            device::Transport::Rc => "mlx5 by RC",
            device::Transport::Dc => "mlx5 by DC",
            device::Transport::Mixed => "mlx5 by DC, then RC",
        }
    }

    fn maps(&self, rank: u32, peer: u32) -> bool {
        rank / self.per_node == peer / self.per_node
    }

    fn has_run(&self, test: &str) -> bool {
        let elsewhere = !softhca_again::is_under();
        if elsewhere {
            let again = Again {
                options: self.behaviour.options(),
                seconds: LIMIT,
                ..Again::default()
            };
            again.run(test);
        }
        elsewhere
    }

    fn run(&self, parties: u32, body: &(dyn Fn(&Party) + Sync)) -> Result<(), String> {
        let policy = Policy::named(self.policy).expect("a policy");
        let setting = Setting {
            per_node: self.per_node,
            device: Some(Config {
                transport: self.transport,
                initiators: 1,
                // Contracts have threads on several lanes, which may all be the default one.
                shared: policy.one_lane,
                policy,
                completions: self.completions,
                mailbox: 0,
                mailbox_words: MAILBOX_WORDS,
                registrations: Limits::default(),
            }),
            provider: None,
            beside: self.beside,
            slowness: self.behaviour.slowness(),
        };
        processes::run(parties, &setting, body)
    }
}
