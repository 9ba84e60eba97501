//! A server on the bench: without a listener and a program, and with the clients' ends of the connections in hand.

use super::super::sys;
use super::kicks::Kick;
use super::{Client, Manners, Programs, Server};
use crate::engine::{Config, ContextId, Engine, Pid};
use crate::uverbs::{Device, Settings};
use crate::wire::Reply;
use std::io::Result;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

impl Server {
    pub(crate) fn on_bench(config: Config, settings: Settings) -> Result<Self> {
        // Nobody connects to this.
        let (listener, _) = sys::packet_pair()?;
        Ok(Self {
            violations: 0,
            listener,
            user: sys::user(),
            spare: None,
            clients: Vec::new(),
            device: Device::new(config, settings),
            programs: Programs::default(),
            manners: Manners::default(),
            transactions: None,
            busy_until: 0,
            looked: 0,
        })
    }

    /// Connects a process; returns its end of the connection.
    pub(crate) fn connect(&mut self, process: Pid) -> Result<OwnedFd> {
        let (socket, other) = sys::packet_pair()?;
        self.clients.push(Client {
            socket,
            process,
            end: sys::process(process)?,
            contexts: Vec::new(),
            told: false,
            kick: Kick::default(),
            stores: false,
        });
        Ok(other)
    }

    /// Opens a context for a process that is no client.
    pub(crate) fn open_for(&mut self, process: Pid) -> ContextId {
        self.device.open(process)
    }

    /// Looks at every connection and at the queues once.
    pub(crate) fn turn(&mut self) {
        let files: Vec<_> = self
            .clients
            .iter()
            .flat_map(|client| [client.socket.as_raw_fd(), client.end.as_raw_fd()])
            .collect();
        let ready = sys::wait(&files, Some(0));
        self.listen_to_clients(&ready);
        self.act();
        self.programs.flush();
        self.answer_kicks(false);
    }

    /// Returns the number of clients, contexts' files and queues that there are.
    pub(crate) fn holds(&self) -> usize {
        self.clients.len() + self.programs.holds()
    }

    pub(crate) fn engine(&mut self) -> (&mut Engine, &mut Programs) {
        (self.device.engine(), &mut self.programs)
    }
}

/// Sends a packet on a client's end, and a descriptor with it.
pub(crate) fn send(socket: &OwnedFd, packet: &[u8], with: Option<BorrowedFd<'_>>) {
    // A connection that the server has closed takes nothing: that is one of its answers.
    let _ = sys::send(socket.as_fd(), packet, with);
}

/// Takes all replies on a client's end, which must be replies. Descriptors that come along are closed by the kernel.
pub(crate) fn replies(socket: &OwnedFd) -> Vec<Reply> {
    let mut replies = Vec::new();
    let mut packet = [0; Reply::SIZE + 1];
    while let Ok(length @ 1..) = sys::receive(socket.as_fd(), &mut packet) {
        replies.push(Reply::decode(&packet[..length]).expect("a reply"));
    }
    replies
}
