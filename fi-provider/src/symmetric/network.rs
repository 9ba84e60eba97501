//! The way of a domain to the peers of other nodes: a device, or a provider of libfabric.

use crate::device::{Device, Error, Transport};
use crate::libfabric::Libfabric;
use crate::symmetric::address_vector::Peer;
use crate::symmetric::gate::Gate;
use crate::symmetric::remote::{PARTS, Remote};
use crate::symmetric::window::Window;
use std::fmt::{self, Display};
use std::sync::atomic::AtomicU64;

/// A network in a place of its own, because endpoints point into it.
#[derive(Debug)]
pub(crate) enum Network {
    /// An mlx5 device.
    Mlx5(Box<Device>),
    /// A provider of the system's libfabric.
    Libfabric(Box<Libfabric>),
}

impl Network {
    /// Returns the device, where it is one.
    pub(crate) fn device(&self) -> Option<&Device> {
        match self {
            Self::Mlx5(device) => Some(device),
            Self::Libfabric(_) => None,
        }
    }

    /// Makes a lane beside the default one.
    pub(crate) fn open_gate(&self, shared: bool, window: &Window) -> Result<Gate, Error> {
        match self {
            Self::Mlx5(device) => device.open_gate(shared, window).map(Gate::Mlx5),
            Self::Libfabric(port) => Ok(Gate::Libfabric(port.open_gate(shared).into())),
        }
    }

    /// Returns the record of the peer of this address.
    pub(crate) fn remote(&self, index: usize, address: &[u8]) -> Result<Remote, Error> {
        match self {
            Self::Mlx5(device) => device.remote(index, address),
            Self::Libfabric(port) => port.remote(index, address),
        }
    }

    /// Returns the same record for a process whose window has its parts the other way round.
    pub(crate) fn swapped(&self, remote: &Remote) -> Remote {
        match self {
            Self::Mlx5(_) => remote.swapped(),
            Self::Libfabric(_) => remote.swapped_long(),
        }
    }

    /// Returns whether a table with this record of the own process has the window's parts the other
    /// way round.
    pub(crate) fn is_swapped(&self, own: usize, record: &Peer) -> Result<bool, Error> {
        match self {
            Self::Mlx5(device) => device.is_swapped(own, record),
            Self::Libfabric(port) => port.is_swapped(own, record),
        }
    }

    /// Returns whether processor's atomics and the network's are atomic with each other.
    pub(crate) fn has_processors_atomics(&self) -> bool {
        matches!(self, Self::Libfabric(_))
    }

    /// Returns whether every process needs the address of every peer, and not its record alone.
    pub(crate) fn needs_addresses(&self) -> bool {
        match self {
            Self::Mlx5(device) => device.transport() == Transport::Rc,
            Self::Libfabric(_) => true,
        }
    }

    /// Takes the address of peer `index`, one after the other.
    pub(crate) fn connect(
        &mut self,
        own: usize,
        index: usize,
        address: &[u8],
    ) -> Result<(), Error> {
        match self {
            Self::Mlx5(device) => device.connect(own, index, address),
            Self::Libfabric(port) => port.connect(index, address),
        }
    }

    /// Returns the own words that peers write and read.
    pub(crate) fn mailbox(&self) -> &[AtomicU64] {
        match self {
            Self::Mlx5(device) => device.mailbox(),
            Self::Libfabric(port) => port.mailbox(),
        }
    }

    /// Returns the begin of the second part of the window, in bytes from its base.
    pub(crate) fn split(&self) -> usize {
        match self {
            Self::Mlx5(device) => device.split(),
            Self::Libfabric(port) => port.split(),
        }
    }

    /// Returns the ends of the window's parts, in bytes from its base.
    pub(crate) fn ends(&self) -> [usize; PARTS] {
        match self {
            Self::Mlx5(device) => device.ends(),
            Self::Libfabric(port) => port.ends(),
        }
    }
}

impl Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mlx5(device) => device.fmt(f),
            Self::Libfabric(port) => port.fmt(f),
        }
    }
}
