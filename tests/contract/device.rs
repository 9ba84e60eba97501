//! Parties over the device: processes, each on a pretended node of its own or a few on each, under `softhca run`.
//!
//! A process has the software device only from its start, so that a test is this program again, under the device, asked
//! for that test alone. It needs Debian's package `ibverbs-providers`.

use crate::party::Party;
use crate::processes;
use crate::shm::Setting;
use crate::transport::Transport;
use fi_provider::device::{self, Config};
use fi_provider::registration::Limits;
use softhca_again::Again;

/// Seconds after which a contract on the device is ended.
const LIMIT: u32 = 170;
/// By what numbers of repetitions are divided: an operation takes microseconds, and in strict mode some dozens per store.
const SLOWNESS: u32 = 250;
const STRICT_SLOWNESS: u32 = 1000;
/// Words of each mailbox, which no contract is about: they are the heap's first.
const MAILBOX_WORDS: usize = 8;

/// Parties are processes, of which `per_node` each are on one node.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) transport: device::Transport,
    pub(crate) per_node: u32,
    /// See [`Setting::beside`].
    pub(crate) beside: Option<bool>,
    /// Whether the device checks what is written to its registers.
    pub(crate) strict: bool,
}

impl Transport for Device {
    fn name(&self) -> &'static str {
        match self.transport {
            device::Transport::Rc => "mlx5 by RC",
            device::Transport::Dc => "mlx5 by DC",
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
                options: if self.strict { &["--strict"] } else { &[] },
                seconds: LIMIT,
                ..Again::default()
            };
            again.run(test);
        }
        elsewhere
    }

    fn run(&self, parties: u32, body: &(dyn Fn(&Party) + Sync)) -> Result<(), String> {
        let setting = Setting {
            per_node: self.per_node,
            device: Some(Config {
                transport: self.transport,
                initiators: 1,
                shared: false,
                policy: device::DEFAULT_POLICY,
                completions: device::Completions::Own,
                mailbox: 0,
                mailbox_words: MAILBOX_WORDS,
                registrations: Limits::default(),
            }),
            beside: self.beside,
            slowness: if self.strict {
                STRICT_SLOWNESS
            } else {
                SLOWNESS
            },
        };
        processes::run(parties, &setting, body)
    }
}
