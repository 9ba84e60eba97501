//! The requests of a PE of OpenSHMEM to its launcher from its first initialisation to its end, as
//! `shmem/src/job` (`node`, `session`) and `shmem/src/world` have them.

/// One step. Names of keys are theirs; values are as long as theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The PE introduces itself.
    Introduce,
    /// It asks for the nodes of all PEs.
    NodeMap,
    /// It publishes bytes under a key.
    Put(String, usize),
    /// It waits for all PEs.
    Barrier,
    /// It asks for the value of a key.
    Get(String),
    /// It asks for all keys `prefix-0`, `prefix-1`, … but one, if one is given.
    GetAll {
        /// The part before the number.
        prefix: &'static str,
        /// Number of the keys.
        count: usize,
        /// The number that is left out.
        but: Option<usize>,
    },
    /// It says that it is done.
    Finalize,
}

/// The network between nodes, which decides about addresses and about the PEs that ask for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// An mlx5 device, by dynamic connections.
    Dc,
    /// A provider of libfabric, after the device was refused (FARREACH_FABRIC=auto).
    Libfabric,
}

impl Network {
    /// Returns the network of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "dc" => Some(Self::Dc),
            "libfabric" => Some(Self::Libfabric),
            _ => None,
        }
    }
}

/// Bytes that PEs publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// A ticket for a node's memory, and the name of its machine.
    pub place: usize,
    /// The fingerprint of the executable and two lengths, in decimal.
    pub sizes: usize,
    /// The processors that a PE may use.
    pub processors: usize,
    /// The address of a network, without the byte that says that there is one.
    pub address: usize,
}

impl Sizes {
    /// Returns the costs of a node of 128 processors.
    #[must_use]
    pub fn of(network: Network) -> Self {
        Self {
            // Two numbers of 16 digits and one of 32, a boot id.
            place: 16 + 1 + 32 + 1 + 10 + 1 + 36,
            sizes: 20 + 1 + 7 + 1 + 9,
            // A mask of two words in hexadecimal.
            processors: 16 + 1 + 16,
            address: match network {
                // fi_provider::device::wire: LID, MTU, reads, target, key, bases, keys, transport.
                Network::Dc => 2 + 2 + 1 + 4 + 8 + 16 + 8 + 1,
                // fi_provider::libfabric: bases and keys; fi_ofi::port: version, name, key and the
                // endpoint's, here `tcp;ofi_rxm` and a sockaddr_in.
                Network::Libfabric => 32 + 2 + 11 + 8 + 16,
            },
        }
    }
}

/// A job: hosts, of which each is a node, and PEs on each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The hosts.
    pub hosts: usize,
    /// The PEs of each.
    pub each: usize,
    /// The network between them.
    pub network: Network,
    /// The lengths of the values that PEs publish.
    pub sizes: Sizes,
}

impl Shape {
    /// Reads `HOSTS,EACH,NETWORK`, as `3,2,dc`.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut words = text.split(',');
        let mut number = || words.next()?.parse().ok().filter(|&number| number > 0);
        let (hosts, each) = (number()?, number()?);
        let network = Network::named(words.next()?)?;
        Some(Self {
            hosts,
            each,
            network,
            sizes: Sizes::of(network),
        })
    }

    /// Returns the number of PEs of the job.
    #[must_use]
    pub fn pes(&self) -> usize {
        self.hosts * self.each
    }

    /// Returns the host of each PE: blocks.
    #[must_use]
    pub fn places(&self) -> Vec<u32> {
        let host = |pe| u32::try_from(pe / self.each).unwrap_or(u32::MAX);
        (0..self.pes()).map(host).collect()
    }
}

/// Returns the steps of PE `pe`, in order.
#[must_use]
pub fn steps(shape: &Shape, pe: usize) -> Vec<Step> {
    let Shape { sizes, each, .. } = *shape;
    let node = pe / each;
    let is_leader = pe.is_multiple_of(each);
    let mut steps = vec![Step::Introduce, Step::NodeMap];
    // Node::join
    if is_leader {
        steps.push(Step::Put(format!("node-{node}"), sizes.place));
    }
    if pe == 0 {
        steps.push(Step::Put("sizes".to_owned(), sizes.sizes));
    }
    steps.push(Step::Put(format!("processors-{pe}"), sizes.processors));
    steps.extend([Step::Barrier, Step::Get("sizes".to_owned())]);
    if is_leader {
        // Whether another node is on this machine.
        steps.push(Step::GetAll {
            prefix: "node",
            count: shape.hosts,
            but: Some(node),
        });
        let own = pe..pe + each;
        steps.extend(own.map(|pe| Step::Get(format!("processors-{pe}"))));
    } else {
        steps.push(Step::Get(format!("node-{node}")));
    }
    steps.push(Step::Barrier);
    // session::exchange
    let all = |prefix| Step::GetAll {
        prefix,
        count: shape.pes(),
        but: None,
    };
    let mut tell = |network: &str, bytes| {
        steps.extend([Step::Put(format!("{network}-{pe}"), bytes), Step::Barrier]);
    };
    match shape.network {
        Network::Dc => {
            tell("device", 1 + sizes.address);
            if is_leader {
                steps.push(all("device"));
            }
            steps.push(Step::Barrier);
        }
        Network::Libfabric => {
            tell("device", 1);
            if is_leader {
                steps.push(Step::Get("device-0".to_owned()));
            }
            steps.push(Step::Barrier);
            steps.push(Step::Put(format!("libfabric-{pe}"), 1 + sizes.address));
            steps.push(Step::Barrier);
            if is_leader {
                steps.push(all("libfabric"));
            }
            // All PEs of the node have the addresses from the leader.
            steps.extend([Step::Barrier, Step::Barrier]);
        }
    }
    steps
}

/// Returns the steps of a PE's end: the last barrier is the launcher's.
#[must_use]
pub fn ending() -> [Step; 2] {
    [Step::Barrier, Step::Finalize]
}
