//! The thread of a domain that answers peers of the node, independently of the work of its process:
//! it passes the memory's descriptor, makes rings, and notices peers that have ended. It answers
//! those of other nodes, too, by the device's datagrams. It sleeps otherwise.

use super::address::{Address, Family, Port};
use super::arena::Arena;
use super::error::Error;
use super::far::device::Device;
use super::far::exchange::Exchange;
use super::inbox::{Inbox, Lead};
use super::near::Near;
use super::wire::{self, Grant, Request, Welcome};
use crate::helper;
use fi_shm::handover::{self, Offer, Ticket};
use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Connections that have not shown the token yet, at most; others wait in the kernel, and the oldest
/// goes when it has been silent for long.
const MOST_SILENT: usize = 32;
const SILENCE: Duration = Duration::from_secs(1);

/// The pause before another attempt where the process has no room for a connection.
const FULL: Duration = Duration::from_millis(10);

/// The part of a domain that its thread uses, too.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) arena: Arc<Arena>,
    ticket: Ticket,
    port: Port,
    exchange: Option<Exchange>,
    state: Mutex<State>,
    /// Wakes the thread.
    wake: UnixStream,
}

#[derive(Debug, Default)]
struct State {
    /// Endpoints by their numbers.
    endpoints: HashMap<u32, Arc<Inbox>>,
    next_number: u32,
    /// Processes whose end is to be noticed.
    watched: Vec<Arc<Near>>,
    is_over: bool,
}

/// The thread: ended and joined when this is dropped.
#[derive(Debug)]
pub(crate) struct Service {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Shared {
    /// Returns the ticket by which other processes reach this one.
    pub(crate) fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Returns the location of this process, and the means by which it answers processes of other
    /// nodes.
    pub(crate) fn port(&self) -> Port {
        self.port
    }

    /// Returns the address of endpoint `number` of this process.
    pub(crate) fn address(&self, number: u32) -> Address {
        wire::address(&self.ticket, number, self.port)
    }

    /// Returns the datagrams of the device, if there is one.
    pub(crate) fn exchange(&self) -> Option<&Exchange> {
        self.exchange.as_ref()
    }

    /// Keeps `many` numbers, a power of two, for endpoints that belong together; none where there
    /// have been too many.
    pub(crate) fn keep(&self, many: u32) -> Option<Family> {
        let mut state = self.lock();
        let first = state.next_number.next_multiple_of(many);
        let next = first.checked_add(many).filter(|&next| next <= Family::END);
        state.next_number = next?;
        Some(Family::new(first, many.trailing_zeros()))
    }

    /// Adds an endpoint under a number that was kept for it. Returns whether none has it.
    pub(crate) fn add(&self, number: u32, inbox: Arc<Inbox>) -> bool {
        let mut state = self.lock();
        let is_free = !state.endpoints.contains_key(&number);
        if is_free {
            state.endpoints.insert(number, inbox);
        }
        is_free
    }

    /// Takes an endpoint out.
    pub(crate) fn remove(&self, number: u32) {
        if let Some(exchange) = &self.exchange {
            exchange.remove(number);
        }
        let inbox = self.lock().endpoints.remove(&number);
        if let Some(inbox) = inbox {
            inbox.close();
        }
    }

    /// Watches for the end of a process.
    pub(crate) fn watch(&self, near: Arc<Near>) {
        self.lock().watched.push(near);
        self.wake();
    }

    /// Has the thread look.
    pub(crate) fn wake(&self) {
        // A full socket has a byte that wakes already.
        let _ = handover::say(&self.wake, &[0]);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Starts the thread for this memory, and this device if there is one; `port` lacks only the
    /// device's part.
    pub(crate) fn start(
        arena: Arc<Arena>,
        device: Option<&Arc<Device>>,
        port: Port,
    ) -> Result<Self, Error> {
        let offer = Offer::new()?;
        let exchange = device.map(|device| Exchange::open(device, offer.ticket()));
        let exchange = exchange.transpose()?;
        let port = match &exchange {
            Some(exchange) => exchange.port(port.node, port.is_far),
            None => port,
        };
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let shared = Arc::new(Shared {
            arena,
            ticket: offer.ticket().clone(),
            port,
            exchange,
            state: Mutex::default(),
            wake,
        });
        let answering = Answering {
            shared: Arc::clone(&shared),
            offer,
            woken,
            silent: Vec::new(),
            clients: Vec::new(),
        };
        let thread = helper::spawn("farreach-peers", move || answering.run())?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Returns the part that both sides use.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.wake();
        if let Some(thread) = self.thread.take() {
            // A panic there has been told already.
            let _ = thread.join();
        }
    }
}

/// A process that has shown the token.
#[derive(Debug)]
struct Client {
    stream: UnixStream,
    /// Ticket and port by which it is reached itself, once it has told.
    process: Option<(Ticket, Port)>,
    leads: Vec<(Arc<Lead>, Arc<Inbox>)>,
}

/// The state of the thread.
#[derive(Debug)]
struct Answering {
    shared: Arc<Shared>,
    offer: Offer,
    woken: UnixStream,
    silent: Vec<(Instant, UnixStream)>,
    clients: Vec<Client>,
}

impl Answering {
    fn run(mut self) {
        loop {
            let watched = {
                let state = self.shared.lock();
                if state.is_over {
                    return;
                }
                state.watched.clone()
            };
            // Datagrams are looked for after any wake-up of the thread.
            let exchange = self.shared.exchange.as_ref();
            let due = exchange.and_then(|it| it.turn(|endpoint| self.shared.address(endpoint)));
            let ready = self.wait(&watched, due);
            let (fixed, ready) = ready.split_at(3);
            let (silent, ready) = ready.split_at(self.silent.len());
            let (clients, ends) = ready.split_at(self.clients.len());
            self.note_ends(&watched, ends);
            self.answer(clients);
            self.listen(silent);
            if fixed[0] {
                let _ = (&self.woken).read(&mut [0; 64]);
            }
            if fixed[1] {
                self.accept();
            }
        }
    }

    /// Waits until a descriptor is ready, or for so long; which are, in the order of `run`.
    fn wait(&self, watched: &[Arc<Near>], limit: Option<Duration>) -> Vec<bool> {
        let reading = |fd: BorrowedFd<'_>| watch(fd, libc::POLLIN);
        let nothing = libc::pollfd {
            fd: -1,
            events: 0,
            revents: 0,
        };
        let exchange = self.shared.exchange.as_ref();
        let mut watches = vec![
            reading(self.woken.as_fd()),
            reading(self.offer.as_fd()),
            exchange.map_or(nothing, |it| it.with_fd(reading)),
        ];
        watches.extend(self.silent.iter().map(|(_, one)| reading(one.as_fd())));
        watches.extend(self.clients.iter().map(|one| reading(one.stream.as_fd())));
        // Answers on these are for the processes that have asked.
        watches.extend(watched.iter().map(|one| watch(one.end(), libc::POLLRDHUP)));
        if handover::poll(&mut watches, limit).is_err() {
            // The system is short of memory for a moment.
            std::thread::sleep(FULL);
            return vec![false; watches.len()];
        }
        watches.iter().map(|one| one.revents != 0).collect()
    }

    fn note_ends(&mut self, watched: &[Arc<Near>], ends: &[bool]) {
        let ended = || watched.iter().zip(ends).filter(|(_, end)| **end);
        if ended().next().is_none() {
            return;
        }
        ended().for_each(|(near, _)| near.note_end());
        let mut state = self.shared.lock();
        state.watched.retain(|near| near.is_alive());
        state.endpoints.values().for_each(|one| one.tell());
    }

    fn accept(&mut self) {
        if self.silent.len() == MOST_SILENT {
            if self.silent[0].0.elapsed() < SILENCE {
                return std::thread::sleep(FULL);
            }
            self.silent.remove(0);
        }
        match self.offer.accept() {
            Ok(Some(stream)) if stream.set_nonblocking(true).is_ok() => {
                self.silent.push((Instant::now(), stream));
            }
            Ok(_) => {}
            // The process has no number left for a descriptor, and a connecting process has to
            // wait.
            Err(_) => std::thread::sleep(FULL),
        }
    }

    /// Takes those connections as clients that show the token, and closes others that speak.
    fn listen(&mut self, ready: &[bool]) {
        let mut ready = ready.iter();
        let streams = std::mem::take(&mut self.silent).into_iter();
        let (spoken, silent): (Vec<_>, Vec<_>) = streams.partition(|_| ready.next() == Some(&true));
        self.silent = silent;
        let spoken = spoken.into_iter().map(|(_, stream)| stream);
        let shown = spoken.filter(|one| self.offer.is_shown_by(one));
        self.clients.extend(shown.map(|stream| Client {
            stream,
            process: None,
            leads: Vec::new(),
        }));
    }

    /// Answers clients that are `ready`, and lets go those that are gone or break the protocol.
    fn answer(&mut self, ready: &[bool]) {
        let shared = &self.shared;
        let mut ready = ready.iter();
        self.clients.retain_mut(|client| {
            let stays = ready.next() != Some(&true) || client.answer(shared);
            if !stays {
                client.leads.drain(..).for_each(|lead| end(&lead));
            }
            stays
        });
    }
}

impl Client {
    /// Answers one request; false where the connection is of no more use.
    fn answer(&mut self, shared: &Shared) -> bool {
        let mut bytes = [0; Request::BYTES];
        match (&self.stream).read(&mut bytes) {
            Ok(length) if length == bytes.len() => {}
            Err(error) => {
                return matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted);
            }
            // The end; or a part of a request, which no peer sends.
            Ok(_) => return false,
        }
        match Request::decode(&bytes) {
            Some(Request::Hello { process, port }) => {
                self.process = Some((process, port));
                let len = shared.arena.len() as u64;
                let welcome = Welcome { len }.encode();
                handover::give(&self.stream, &welcome, shared.arena.memory()).is_ok()
            }
            Some(Request::Ring { from, to }) => {
                let granted = self.ring(shared, from, to);
                handover::say(&self.stream, &Grant::encode_all(granted)).is_ok()
            }
            Some(Request::Release { offset }) => {
                let is_it = |(lead, _): &(Arc<Lead>, _)| lead.memory.offset as u64 == offset;
                let found = self.leads.iter().position(is_it);
                found.map(|at| end(&self.leads.swap_remove(at))).is_some()
            }
            Some(Request::Wake { endpoint }) => {
                let inbox = shared.lock().endpoints.get(&endpoint).cloned();
                // One that is closed may have asked before.
                inbox.iter().for_each(|inbox| inbox.wake());
                true
            }
            None => false,
        }
    }

    fn ring(&mut self, shared: &Shared, from: u32, to: u32) -> Result<Grant, Error> {
        let (process, port) = self.process.as_ref().ok_or(Error::PeerGone)?;
        let from = wire::address(process, from, *port);
        let inbox = shared.lock().endpoints.get(&to).cloned();
        let inbox = inbox.ok_or(Error::PeerGone)?;
        let (lead, grant) = inbox.lead(&shared.arena, from)?;
        self.leads.push((lead, inbox));
        Ok(grant)
    }
}

/// Ends a ring that nobody sends by any more, and tells its endpoint.
fn end((lead, inbox): &(Arc<Lead>, Arc<Inbox>)) {
    lead.end();
    inbox.tell();
}

fn watch(fd: BorrowedFd<'_>, events: i16) -> libc::pollfd {
    libc::pollfd {
        fd: fd.as_raw_fd(),
        events,
        revents: 0,
    }
}
