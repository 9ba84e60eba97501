//! The datagrams of a domain: its thread takes and answers them.

use super::device::Device;
use super::hub::Hub;
use super::wire::{self, Body, Datagram, TOKEN};
use crate::raw::address::{Address, Port};
use crate::raw::error::Error;
use fi_mlx5::device::{Datagrams, Recipient};
use fi_shm::handover::Ticket;
use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Datagrams that may wait to be taken.
const ENTRIES: u32 = 256;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Exchange {
    datagrams: Mutex<Datagrams>,
    /// Hubs by the numbers of their endpoints.
    hubs: Mutex<HashMap<u32, Arc<Hub>>>,
    pub(crate) device: Arc<Device>,
    token: [u8; TOKEN],
}

/// Returns the key by which datagrams enter the queue of the process with this token.
fn key(token: &[u8; TOKEN]) -> u32 {
    let [a, b, c, d, ..] = *token;
    // Keys with the highest bit are the system's.
    u32::from_le_bytes([a, b, c, d]) & (u32::MAX >> 1)
}

impl Exchange {
    /// Opens the queue for datagrams of the process that has this ticket.
    pub(crate) fn open(device: &Arc<Device>, ticket: &Ticket) -> Result<Self, Error> {
        let token = *ticket.token();
        let datagrams = device.hca.datagrams(ENTRIES, key(&token));
        Ok(Self {
            datagrams: Mutex::new(datagrams.map_err(|_| Error::NoDevice)?),
            hubs: Mutex::default(),
            device: Arc::clone(device),
            token,
        })
    }

    /// Returns the part of the addresses of this process's endpoints.
    pub(crate) fn port(&self, node: u32, is_far: bool) -> Port {
        Port {
            lid: self.device.hca.features().lid,
            number: lock(&self.datagrams).number(),
            node,
            is_far,
        }
    }

    pub(crate) fn add(&self, hub: &Arc<Hub>) {
        lock(&self.hubs).insert(hub.own, Arc::clone(hub));
    }

    pub(crate) fn remove(&self, endpoint: u32) {
        let hub = lock(&self.hubs).remove(&endpoint);
        if let Some(hub) = hub {
            hub.close();
        }
    }

    /// Calls `act` with the descriptor that can be read when datagrams have come.
    pub(crate) fn with_fd<T>(&self, act: impl FnOnce(BorrowedFd<'_>) -> T) -> T {
        act(lock(&self.datagrams).fd())
    }

    /// Takes and answers the datagrams that have come, and sends those that are due; returns the
    /// time until the next is. `own` makes the address of an endpoint.
    pub(crate) fn turn(&self, own: impl Fn(u32) -> Address) -> Option<Duration> {
        let mut datagrams = lock(&self.datagrams);
        // A device that is gone brings nothing; each endpoint learns it by its own operations.
        let _ = datagrams.drain_events();
        // Those that come from here on make the descriptor readable again.
        let _ = datagrams.arm();
        let mut bytes = [0; Datagrams::LONGEST];
        while let Ok(Some(arrival)) = datagrams.receive(&mut bytes) {
            let Some(datagram) = Datagram::decode(&bytes[..arrival.bytes]) else {
                continue;
            };
            if datagram.token != self.token {
                continue;
            }
            let hub = lock(&self.hubs).get(&datagram.to).cloned();
            let answer = match hub {
                Some(hub) => hub.take(&datagram.from, &datagram.body),
                None => {
                    matches!(datagram.body, Body::Ask(_)).then_some(Body::Refuse(Error::PeerGone))
                }
            };
            if let Some(answer) = answer {
                send(&mut datagrams, &datagram.from, own(datagram.to), answer);
            }
        }
        let hubs: Vec<_> = lock(&self.hubs).values().cloned().collect();
        let due = |hub: Arc<Hub>| hub.due(|to, body| send(&mut datagrams, to, own(hub.own), body));
        let next = hubs.into_iter().filter_map(due).min();
        drop(datagrams);
        self.device.kick();
        next.map(|at| at.saturating_duration_since(Instant::now()))
    }
}

/// Sends a datagram; one that there is no room for is lost, as others may be.
fn send(datagrams: &mut Datagrams, to: &Address, from: Address, body: Body) {
    let token = *to.process.token();
    let datagram = Datagram {
        token,
        to: to.endpoint,
        from,
        body,
    };
    let recipient = Recipient {
        lid: to.port.lid,
        number: to.port.number,
        key: key(&token),
    };
    let bytes: [u8; wire::BYTES] = datagram.encode();
    let _ = datagrams.send(&recipient, &bytes);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
