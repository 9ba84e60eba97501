//! The contract of the fabric's own objects: domains without a job, which find each other by
//! addresses alone.

pub(crate) mod accesses;
pub(crate) mod atomics;
pub(crate) mod counters;
pub(crate) mod ends;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod served;
pub(crate) mod tagged;
pub(crate) mod vectors;
pub(crate) mod waiting;

use crate::meeting::{self, Meeting};
use crate::processes;
use crate::provider::by_hand_or;
use fi_provider::node::segment::Memfd;
use fi_provider::raw::address::Address;
use fi_provider::raw::address_vector::{AddressVector, PeerIndex};
use fi_provider::raw::completion::{CompletionQueue, Entry, Failure};
use fi_provider::raw::domain::{self, Domain};
use fi_provider::raw::endpoint::{Config, Endpoint};
use fi_provider::raw::error::Error;
use fi_provider::raw::far::Transport;
use softhca_again::Again;
use std::time::Duration;

/// The way in which parties are apart, and reach memory that is not of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Threads of a process.
    Threads,
    /// Processes, between which the kernel copies.
    Processes,
    /// Processes, whose bytes go by rings.
    Rings,
    /// Processes that reach each other by a software device.
    Device(Device),
    /// Processes that reach each other by a provider of the system's libfabric.
    Libfabric(Libfabric),
}

/// A provider of libfabric between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Libfabric {
    pub(crate) provider: &'static str,
    /// Number of processes on each pretended node.
    pub(crate) per_node: u32,
}

impl Libfabric {
    pub(crate) const fn by(provider: &'static str) -> Self {
        Self {
            provider,
            per_node: 1,
        }
    }

    pub(crate) const fn two_on_each_node(self) -> Self {
        Self {
            per_node: 2,
            ..self
        }
    }
}

impl From<Libfabric> for Way {
    fn from(libfabric: Libfabric) -> Self {
        Self::Libfabric(libfabric)
    }
}

/// A software device between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) transport: Transport,
    /// Number of processes on each pretended node.
    pub(crate) per_node: u32,
    /// Whether those of one node reach each other in its memory.
    pub(crate) near: bool,
    /// The options of `softhca run`.
    pub(crate) options: &'static [&'static str],
}

impl Device {
    pub(crate) const fn two_on_each_node(self) -> Self {
        Self {
            per_node: 2,
            ..self
        }
    }

    /// Puts all on one node, in whose memory nobody is reached.
    pub(crate) const fn alone(self) -> Self {
        Self {
            per_node: u32::MAX,
            near: false,
            ..self
        }
    }

    pub(crate) const fn with(self, options: &'static [&'static str]) -> Self {
        Self { options, ..self }
    }
}

impl From<Device> for Way {
    fn from(device: Device) -> Self {
        Self::Device(device)
    }
}

impl Way {
    /// Processes, each on a node of its own, by connected queue pairs.
    pub(crate) const RC: Device = Device {
        transport: Transport::Rc,
        per_node: 1,
        near: true,
        options: &[],
    };

    /// Processes, each on a node of its own, by initiators and targets.
    pub(crate) const DC: Device = Device {
        transport: Transport::Dc,
        ..Self::RC
    };

    /// Runs the test again under the device that it needs, if it is not there yet; whether it did.
    pub(crate) fn has_run(self, test: &str) -> bool {
        let Self::Device(device) = self else {
            return false;
        };
        let elsewhere = !softhca_again::is_under();
        if elsewhere {
            let again = Again {
                options: device.options,
                seconds: LIMIT.as_secs() as u32 * 3,
                ..Again::default()
            };
            again.run(test);
        }
        elsewhere
    }

    /// Returns whether each store to a register of the device is checked, and takes long.
    pub(crate) fn is_strict(self) -> bool {
        matches!(self, Self::Device(device) if device.options.contains(&"--strict"))
    }

    /// Returns whether two parties reach each other in the memory of a node.
    pub(crate) fn is_near(self, one: u32, other: u32) -> bool {
        match self {
            Self::Device(device) => device.near && one / device.per_node == other / device.per_node,
            Self::Libfabric(by) => one / by.per_node == other / by.per_node,
            _ => true,
        }
    }

    /// Returns the configuration by which party `rank` opens its domain.
    fn config(self, rank: u32) -> domain::Config {
        match self {
            Self::Device(device) => domain::Config {
                far: Some(device.transport),
                near: device.near,
                node: Some(rank / device.per_node),
                ..domain::Config::default()
            },
            Self::Libfabric(by) => domain::Config {
                far: Some(Transport::Libfabric(Some(by_hand_or(by.provider)))),
                node: Some(rank / by.per_node),
                ..domain::Config::default()
            },
            _ => domain::Config::default(),
        }
    }
}

/// Time that anything may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
/// Entries of a party's queue.
pub(crate) const ENTRIES: usize = 64;

/// A party.
#[derive(Debug)]
pub(crate) struct Party<'a> {
    pub(crate) rank: PeerIndex,
    pub(crate) parties: u32,
    pub(crate) endpoint: Endpoint,
    pub(crate) queue: CompletionQueue,
    pub(crate) config: Config,
    pub(crate) domain: Domain,
    pub(crate) vector: AddressVector,
    pub(crate) meeting: &'a Meeting,
}

impl Party<'_> {
    /// Makes progress until all parties are here.
    pub(crate) fn meet(&self) {
        self.meeting.meet_while(|| self.endpoint.progress());
    }

    /// Does a call until there is room for it.
    pub(crate) fn insist<T>(&self, mut call: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
        let mut last = Err(Error::Again);
        let is_over = self.endpoint.wait(LIMIT, || {
            last = call();
            !matches!(last, Err(Error::Again))
        });
        assert!(is_over, "no room in {LIMIT:?}");
        last
    }

    /// Returns the next entry.
    pub(crate) fn entry(&self) -> Result<Entry, Failure> {
        let mut entry = None;
        let is_there = self.endpoint.wait(LIMIT, || {
            entry = self.queue.next();
            self.meeting.give_up_if_failed();
            entry.is_some()
        });
        assert!(is_there, "no entry in {LIMIT:?}");
        entry.expect("an entry")
    }

    /// Returns the others.
    pub(crate) fn others(&self) -> impl Iterator<Item = PeerIndex> + use<> {
        let own = self.rank;
        (0..self.parties).filter(move |&peer| peer != own)
    }
}

/// Opens `parties` parties, inserts all addresses in the order of the ranks, and runs `body` in each.
pub(crate) fn check(way: Way, parties: u32, body: impl Fn(&Party<'_>) + Sync) {
    let memory = Memfd::create(c"contract", meeting::BYTES).expect("memory");
    let meeting = Meeting::in_memory(&memory, parties).expect("a meeting");
    let life = |rank: u32| {
        processes::telling(&meeting, rank, || {
            attend(way, rank, parties, &meeting, &body)
        });
    };
    let verdict = if way == Way::Threads {
        std::thread::scope(|scope| {
            for rank in 0..parties {
                let (meeting, body) = (&meeting, &body);
                scope.spawn(move || {
                    let attended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                        attend(way, rank, parties, meeting, body);
                    }));
                    attended.unwrap_or_else(|payload| meeting.fail_by(rank, &*payload));
                });
            }
        });
        meeting.verdict()
    } else {
        processes::each(parties, &meeting, &life)
    };
    if let Err(why) = verdict {
        panic!("{way:?} with {parties} parties: {why}");
    }
}

fn attend(
    way: Way,
    rank: u32,
    parties: u32,
    meeting: &Meeting,
    body: &(impl Fn(&Party<'_>) + Sync),
) {
    let domain = Domain::open(way.config(rank)).expect("a domain");
    let vector = AddressVector::new();
    let queue = CompletionQueue::new(ENTRIES);
    let config = Config::new(&queue);
    let endpoint = Endpoint::open(&domain, &vector, config.clone()).expect("an endpoint");
    let told = meeting.exchange(rank, &endpoint.address().to_bytes());
    for (peer, address) in (0..).zip(told) {
        let address = Address::of_bytes(&address).expect("an address");
        assert_eq!(vector.insert(&address), Ok(peer));
        if way == Way::Rings {
            endpoint.avoid_kernel(peer).expect("a peer");
        }
    }
    let party = Party {
        rank,
        parties,
        endpoint,
        queue,
        config,
        domain,
        vector,
        meeting,
    };
    party.meet();
    body(&party);
    party.meet();
}

/// Returns bytes that differ by `seed`, and so tell their origin.
pub(crate) fn bytes(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}
