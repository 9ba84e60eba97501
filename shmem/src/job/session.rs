//! Beginning a session: the heap, the window, and in a job of several nodes the device that
//! connects them.

use super::env::{self, Transports};
use super::error::Error;
use super::node::{Node, Sizes};
use super::places::Places;
use super::window::HeapSpace;
use super::workspace::MAILBOX_WORDS;
use super::{Job, MULTIPLE, Session, message};
use crate::arena::Arena;
use crate::routine::Routine;
use fi_bootstrap::Bootstrap;
use fi_provider::device::{self, Completions, Config, Policy, Transport};
use fi_provider::libfabric;
use fi_provider::registration::Limits;
use fi_provider::symmetric::address_vector::PeerIndex;
use fi_provider::symmetric::domain::Domain;
use fi_provider::symmetric::window::Window;
use fi_provider::variables::{self, Fabric};
use std::ffi::c_int;
use std::fs::File;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// SHMEM_THREAD_SERIALIZED, the level below [`MULTIPLE`].
const SERIALIZED: c_int = 2;

/// The last of the numbers that standard streams have.
const STDERR: RawFd = 2;

/// Settings of an initialisation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes {
    /// Bytes of heap.
    pub(crate) heap_len: usize,
    pub(crate) thread_level: c_int,
    pub(crate) fabric: Fabric,
    pub(crate) transports: Transports,
    pub(crate) registrations: Limits,
    pub(crate) leave: Duration,
    /// Policy by which lanes share resources; `completions` for completion queues.
    pub(crate) policy: &'static Policy,
    pub(crate) completions: Completions,
}

/// Reason for which an initialisation failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// For a reason of this PE's, which nobody has said yet.
    Own(Error),
    /// On all PEs together, one of which has said why.
    OfAll(Error),
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Own(error.into())
    }
}

impl Session {
    /// Begins the first session, or any of a job of one node.
    pub(crate) fn open(at: Routine, job: &Job, wishes: &Wishes) -> Result<Self, Failure> {
        let layout = &job.node.layout;
        let heap_offset = Sizes::of(&job.image, wishes.heap_len).heap_offset();
        let space = HeapSpace::find(&job.image, wishes.heap_len, heap_offset, layout)?;
        let parts = std::iter::once(space.region()).chain(job.image.regions());
        let window = Window::spanning(parts.collect());
        let places = &job.node.places;
        let mut domain = Domain::open(layout, window, &places.placement()).map_err(|source| {
            match source.kind() {
                ErrorKind::OutOfMemory => Error::AddressSpace {
                    heap: wishes.heap_len,
                    processes: layout.processes as usize,
                },
                _ => Error::System {
                    what: "mapping the peers' memory",
                    source,
                },
            }
        })?;
        if !places.is_one_node() {
            connect(at, job, &space, &mut domain, wishes)?;
        } else if wishes.fabric == Fabric::Mlx5 && places.pe() == 0 {
            say_if_missing(at);
        }
        Ok(Self {
            domain,
            space,
            arena: Mutex::new(Arena::new(wishes.heap_len)),
            thread_level: wishes.thread_level,
            is_shared: wishes.thread_level == MULTIPLE,
        })
    }

    /// Begins again where a session of a job of several nodes has ended: with the same memory, of
    /// which the heap takes as much as is wished now, and the same device.
    pub(crate) fn again(self, wishes: &Wishes) -> Self {
        let before = self
            .arena
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        // The device's queues were made for one thread at a time, or for several.
        let most = if self.is_shared { MULTIPLE } else { SERIALIZED };
        Self {
            arena: Mutex::new(Arena::again(wishes.heap_len, &before)),
            thread_level: wishes.thread_level.min(most),
            ..self
        }
    }
}

/// Says if there is no device, for another time: the user asked for one, and all PEs are on one
/// node.
fn say_if_missing(at: Routine) {
    if let Err(error) = device::probe() {
        message::say(format_args!(
            "{at}: {error}; all PEs are on one node, and go on in shared memory"
        ));
    }
}

/// Opens the network and connects it to those of all PEs: the device, where every PE has one; or
/// else libfabric. That neither can be used on some PE is an error on all, and one of them says so.
fn connect(
    at: Routine,
    job: &Job,
    space: &HeapSpace,
    domain: &mut Domain,
    wishes: &Wishes,
) -> Result<(), Failure> {
    let nodes = job.node.places.nodes();
    let mut launcher = job.launcher.lock().unwrap_or_else(PoisonError::into_inner);
    let mut device = None;
    if wishes.fabric != Fabric::Libfabric {
        let opened = if wishes.fabric == Fabric::Shm {
            Err(Error::NodesWithoutDevice { nodes })
        } else {
            let config = Config {
                transport: wishes.transports.of_job(job.node.pes()),
                initiators: env::initiators(job.node.pes())?,
                policy: wishes.policy,
                completions: wishes.completions,
                shared: wishes.thread_level == MULTIPLE,
                mailbox: space.mailbox(),
                mailbox_words: MAILBOX_WORDS,
                registrations: wishes.registrations,
            };
            let _streams = standard_streams();
            let refused = |source| Error::Device { nodes, source };
            open(domain, config, wishes.transports).map_err(refused)
        };
        let Some(refusing) = exchange("device", &mut launcher, &job.node, domain, &opened)? else {
            return Ok(());
        };
        device = opened.err();
        if wishes.fabric != Fabric::Auto {
            return Err(refused_by(at, &mut launcher, &job.node, refusing, device));
        }
    }
    let config = libfabric::Config {
        provider: variables::libfabric_provider(),
        shared: wishes.thread_level == MULTIPLE,
        is_crowded: job.node.is_crowded(),
        leave: wishes.leave,
        registers_local: false,
        mailbox: space.mailbox(),
        mailbox_words: MAILBOX_WORDS,
        watch: watch(job)?,
    };
    let opened = {
        let _streams = standard_streams();
        domain.open_libfabric(&config)
    };
    let opened = opened.map_err(|source| Error::Network {
        nodes,
        device: device.and_then(Error::of_device).map(Box::new),
        source,
    });
    match exchange("libfabric", &mut launcher, &job.node, domain, &opened)? {
        None => Ok(()),
        Some(refusing) => {
            let own = opened.err();
            Err(refused_by(at, &mut launcher, &job.node, refusing, own))
        }
    }
}

/// Returns the way to watch the hosts of a job, which oshrun does itself.
fn watch(job: &Job) -> Result<Option<libfabric::Watch>, Error> {
    let silence = env::host_timeout()?.filter(|_| !job.by_oshrun);
    Ok(silence.map(|silence| libfabric::Watch {
        peers: job.node.pes() as usize,
        silence,
        tell: host_is_silent,
    }))
}

/// Ends the job because nothing comes from the host of a PE.
fn host_is_silent(pe: u32, address: IpAddr) {
    message::fatal(format_args!(
        "nothing has come from the host of PE {pe}, {address}, for the time of FARREACH_HOST_TIMEOUT: it has ended or is cut off"
    ))
}

/// Opens the device, by RC if it has no DC and the user leaves it to the library.
fn open(
    domain: &mut Domain,
    config: Config,
    transports: Transports,
) -> Result<Vec<u8>, device::Error> {
    match domain.open_device(config) {
        Err(device::Error::Lacks { .. })
            if config.transport != Transport::Rc
                && matches!(transports, Transports::Auto { .. }) =>
        {
            domain.open_device(Config {
                transport: Transport::Rc,
                ..config
            })
        }
        opened => opened,
    }
}

/// Takes the numbers of standard streams that are closed, until it is dropped: none of the device's
/// descriptors may get them, where the program prints.
fn standard_streams() -> Vec<File> {
    let null = || File::open("/dev/null").ok();
    std::iter::from_fn(null)
        .take_while(|file| file.as_raw_fd() <= STDERR)
        .collect()
}

/// First byte of a PE's word about its device: an address follows, or it has none.
const OPEN: u8 = 1;
const REFUSED: u8 = 0;

/// Returns the key under which PE `pe` tells the address of its `network`.
fn key(network: &str, pe: PeerIndex) -> String {
    format!("{network}-{pe}")
}

/// Tells everybody the own network's address, or that there is none, and connects the network to
/// those of all PEs; returns the lowest PE that has none, if there is one.
///
/// Of a node the leader alone asks the launcher for all addresses, and makes the table of peers for
/// the others; it keeps the addresses where these need them, too.
fn exchange(
    network: &str,
    launcher: &mut Bootstrap,
    node: &Node,
    domain: &mut Domain,
    opened: &Result<Vec<u8>, Error>,
) -> Result<Option<PeerIndex>, Failure> {
    let places = &node.places;
    let failed = |source| Error::Device {
        nodes: places.nodes(),
        source,
    };
    let own = match opened {
        Ok(address) => [&[OPEN], &address[..]].concat(),
        Err(_) => vec![REFUSED],
    };
    launcher.put(&key(network, places.pe()), &own)?;
    launcher.barrier()?;
    if places.is_leader() {
        let refused = match opened {
            Ok(_) => fill(network, launcher, node, domain)?,
            Err(_) => first_refused(network, launcher, places)?,
        };
        let refused = refused.map_or(0, |pe| pe + 1);
        node.control().refused.store(refused, Ordering::Relaxed);
    }
    // ORDERING: of the table, the addresses, `has_addresses` and `refused`: the leader's message to
    // the launcher comes behind them, and the launcher's before they are read.
    launcher.barrier()?;
    let refused = node.control().refused.load(Ordering::Relaxed);
    if let Some(pe) = refused.checked_sub(1) {
        return Ok(Some(pe));
    }
    domain.adopt(&node.peers()).map_err(failed)?;
    if domain.needs_queues() {
        let has_addresses = node.control().has_addresses.load(Ordering::Relaxed) != 0;
        for pe in 0..places.pes() {
            let address = if has_addresses {
                node.address(pe)?
            } else {
                address_of(network, launcher, pe)?.unwrap_or_default()
            };
            domain.connect_queue(pe, &address).map_err(failed)?;
        }
        // Nobody sends before all can receive.
        launcher.barrier()?;
    }
    Ok(None)
}

/// Returns the address of the network of `pe`; none where that cannot be used.
fn address_of(
    network: &str,
    launcher: &mut Bootstrap,
    pe: PeerIndex,
) -> Result<Option<Vec<u8>>, Failure> {
    let mut told = launcher.get(&key(network, pe))?;
    if told.first() != Some(&OPEN) {
        return Ok(None);
    }
    told.remove(0);
    Ok(Some(told))
}

/// Writes the table of peers of this node; returns the lowest PE whose network cannot be used, if
/// there is one.
fn fill(
    network: &str,
    launcher: &mut Bootstrap,
    node: &Node,
    domain: &Domain,
) -> Result<Option<PeerIndex>, Failure> {
    let failed = |source| Error::Device {
        nodes: node.places.nodes(),
        source,
    };
    let mut filling = domain.fill(&node.peers()).map_err(failed)?;
    let mut kept = domain.needs_queues();
    for pe in 0..node.pes() {
        let Some(address) = address_of(network, launcher, pe)? else {
            return Ok(Some(pe));
        };
        filling.push(&address).map_err(failed)?;
        kept = kept && node.keep_address(pe, &address)?;
    }
    filling.finish().map_err(failed)?;
    let has_addresses = &node.control().has_addresses;
    has_addresses.store(u32::from(kept), Ordering::Relaxed);
    Ok(None)
}

/// Returns the lowest PE whose network cannot be used.
fn first_refused(
    network: &str,
    launcher: &mut Bootstrap,
    places: &Places,
) -> Result<Option<PeerIndex>, Failure> {
    for pe in 0..places.pes() {
        if address_of(network, launcher, pe)?.is_none() {
            return Ok(Some(pe));
        }
    }
    Ok(None)
}

/// Reports that the network of PE `refusing` cannot be used, for the reason `own` if that is this
/// PE: it says so before any PE goes on.
fn refused_by(
    at: Routine,
    launcher: &mut Bootstrap,
    node: &Node,
    refusing: PeerIndex,
    own: Option<Error>,
) -> Failure {
    let own = own.filter(|_| refusing == node.places.pe());
    if let Some(error) = &own {
        message::say(format_args!("{at}: {error}"));
    }
    // The launcher may take it for an orderly end, whatever the program does now.
    match launcher.barrier().and_then(|()| launcher.finalize()) {
        Ok(()) => Failure::OfAll(own.unwrap_or(Error::SaidByAnother)),
        Err(error) => error.into(),
    }
}
