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
/// By what numbers of repetitions are divided: an operation takes microseconds, and in strict mode some dozens per store.
const SLOWNESS: u32 = 250;
const STRICT_SLOWNESS: u32 = 1000;
/// A device that is not asked looks after 50 us and more.
const UNASKED_SLOWNESS: u32 = 2500;
/// Words of each mailbox: one for each party at least.
const MAILBOX_WORDS: usize = 64;

/// Parties are processes, each on a node of its own unless said otherwise, with the default policy.
#[derive(Debug)]
pub(crate) struct Device {
    transport: device::Transport,
    per_node: u32,
    /// See [`Setting::beside`].
    beside: Option<bool>,
    /// The policy of lanes.
    policy: &'static str,
    /// Where lanes have their completions.
    completions: Completions,
    /// Whether the device checks what is written to its registers.
    strict: bool,
    /// Whether the device acts when it is asked to, or else at its own time, as one in hardware.
    hook: bool,
}

impl Device {
    const fn by(transport: device::Transport) -> Self {
        Self {
            transport,
            per_node: 1,
            beside: None,
            policy: "dynamic",
            completions: Completions::Own,
            strict: false,
            hook: true,
        }
    }

    /// With connected queues between all nodes.
    pub(crate) const fn rc() -> Self {
        Self::by(device::Transport::Rc)
    }

    /// With initiators and targets.
    pub(crate) const fn dc() -> Self {
        Self::by(device::Transport::Dc)
    }

    /// With initiators at once, and connected queues that come while parties are at it.
    pub(crate) const fn connecting() -> Self {
        Self::by(device::Transport::Mixed)
    }

    /// Two parties on each node.
    pub(crate) const fn two_on_each_node(self) -> Self {
        Self {
            per_node: 2,
            ..self
        }
    }

    /// Parties use a lane beside the default one, which may be one for several threads.
    pub(crate) const fn beside(self, shared: bool) -> Self {
        Self {
            beside: Some(shared),
            ..self
        }
    }

    /// With another policy of lanes.
    pub(crate) const fn policy(self, policy: &'static str) -> Self {
        Self { policy, ..self }
    }

    /// With one completion queue for all lanes of a device context.
    pub(crate) const fn one_queue(self) -> Self {
        Self {
            completions: Completions::Shared,
            ..self
        }
    }

    /// The device checks what is written to its registers.
    pub(crate) const fn strict(self) -> Self {
        Self {
            strict: true,
            ..self
        }
    }

    /// The device acts at its own time: parties wait as for one in hardware.
    pub(crate) const fn unasked(self) -> Self {
        Self {
            hook: false,
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
            // In strict mode its violations are failures, too.
            let again = Again {
                options: match (self.strict, self.hook) {
                    (true, _) => &["--strict"],
                    (false, true) => &[],
                    (false, false) => &["--no-hook"],
                },
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
            beside: self.beside,
            slowness: match (self.strict, self.hook) {
                (true, _) => STRICT_SLOWNESS,
                (false, true) => SLOWNESS,
                (false, false) => UNASKED_SLOWNESS,
            },
        };
        processes::run(parties, &setting, body)
    }
}
