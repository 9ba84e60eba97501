//! Connections and the loop.

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod bench;
mod kicks;
#[cfg(test)]
mod tests;

use super::host::Programs;
use super::sys::Peer;
use super::transactions::Transactions;
use super::{Directory, sys};
use crate::engine::{Config, ContextId, Pid, Progress};
use crate::uverbs::{self, Device, Errno, Settings};
use crate::wire::{self, Operation, PROBE, Reply, Request, SOCKET, Store};
use std::fmt::{Arguments, Display};
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::mem::take;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command};
use std::thread::available_parallelism;

use kicks::Kick;

/// The shortest and the longest time between two looks at the queues, in ns.
const SHORTEST_SLEEP: u64 = 50_000;
const LONGEST_SLEEP: u64 = 1_000_000;

/// The time between two looks that nobody has asked for, where clients are to kick, in ns.
const UNASKED: u64 = 100_000_000;

/// The longest while something waits for a peer, or an event for room.
const WAITING_SLEEP: u64 = 200_000;

/// The time after the last work in which a device that polls goes on, in ns.
const POLLING: u64 = 10_000_000;

/// So many violations are told in words; the others are counted.
const MOST_TOLD: u64 = 100;

/// So many stores of a connection that nobody waits for are taken at a time, at most: the others
/// have their turn, too. More than a socket has room for, so that none is left that was there.
const MOST_STORES: usize = 1024;

/// The signals that are meant for the program.
pub(crate) struct Signals {
    file: OwnedFd,
    mask: libc::sigset_t,
}

impl Signals {
    /// Takes them from here on.
    pub(crate) fn take() -> Result<Self> {
        let (file, mask) = sys::take_signals()?;
        Ok(Self { file, mask })
    }

    /// Lets a command start as if they had not been taken.
    pub(crate) fn leave_to(&self, command: &mut Command) {
        sys::start_with_mask(command, self.mask);
    }
}

/// A program that speaks to the device.
#[derive(Debug)]
struct Client {
    socket: OwnedFd,
    process: Pid,
    /// Readable when the process has ended.
    end: OwnedFd,
    contexts: Vec<ContextId>,
    /// Whether it was said why the process cannot use the device: libibverbs asks more than once.
    told: bool,
    kick: Kick,
    /// Whether the connection is for stores.
    stores: bool,
}

/// Packet of a client.
enum Packet {
    /// There is none now.
    None,
    Request(Request),
    Store(Store),
    /// The connection is of no more use.
    End,
}

/// Ways in which a server treats its clients.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manners {
    /// Tells on standard error of commands that are refused.
    pub(crate) trace: bool,
    /// Refuses kicks: clients wait as for a device in hardware.
    pub(crate) refuses_kicks: bool,
    /// Looks at the queues where a client kicks, and only now and then otherwise.
    pub(crate) waits_for_kicks: bool,
    /// Looks at the queues all the time while something is posted: operations take the times that
    /// they were given.
    pub(crate) polls: bool,
}

/// The device and its clients.
#[derive(Debug)]
pub(crate) struct Server {
    listener: OwnedFd,
    /// The only user that may connect: the device reads and writes the memory of processes with its
    /// own rights.
    user: u32,
    /// A file that can be closed when there is no other left: a client that connects then is turned
    /// away and not left to wait.
    spare: Option<OwnedFd>,
    clients: Vec<Client>,
    device: Device,
    programs: Programs,
    manners: Manners,
    violations: u64,
    /// File that PCIe transactions are written to.
    transactions: Option<Transactions>,
    /// Until when the device polls, where operations take time.
    busy_until: u64,
    /// When the device has last looked at the queues.
    looked: u64,
}

impl Client {
    fn has_ended(&self) -> bool {
        sys::wait(&[self.end.as_raw_fd()], Some(0))[0]
    }
}

impl Server {
    /// Listens in the directory.
    pub(crate) fn new(
        directory: &Directory,
        config: Config,
        settings: Settings,
        manners: Manners,
    ) -> Result<Self> {
        Ok(Self {
            listener: sys::listen(directory.path(), SOCKET)?,
            user: sys::user(),
            spare: Some(sys::spare()?),
            clients: Vec::new(),
            device: Device::new(config, settings),
            programs: Programs::default(),
            manners,
            violations: 0,
            transactions: None,
            busy_until: 0,
            looked: 0,
        })
    }

    /// Writes PCIe transactions there.
    pub(crate) fn write_transactions(&mut self, to: Transactions) {
        self.transactions = Some(to);
    }

    /// Returns the number of doorbells that were not as hardware needs them (strict mode).
    pub(crate) fn violations(&self) -> u64 {
        self.violations
    }

    /// Serves until the program has ended; signals go on to it.
    pub(crate) fn serve(&mut self, program: &Child, signals: &Signals) -> Result<()> {
        sys::sleep_precisely();
        // A device that polls wants a processor, and leaves one to the program.
        if self.manners.polls
            && available_parallelism().is_ok_and(|processors| processors.get() > 1)
        {
            sys::hurry();
        }
        // Only now: the program has started with the limit that it should have.
        sys::raise_limit_of_files();
        let end = sys::process(program.id())?;
        let mut sleep = SHORTEST_SLEEP;
        loop {
            let progress = self.act_unasked();
            let unsent = self.programs.flush();
            let kick = self.answer_kicks(false);
            let busy = progress.worked || progress.more;
            let timeout = if busy {
                sleep = SHORTEST_SLEEP;
                Some(0)
            } else if self.polls(&progress) {
                Some(0)
            } else if progress.waiting || unsent {
                Some(sleep.min(WAITING_SLEEP))
            } else if self.device.has_queue_pairs() {
                Some(sleep)
            } else {
                None
            };
            let timeout = [timeout, kick].into_iter().flatten().min();
            if timeout != Some(0) {
                self.flush_transactions();
            }
            let mut files = vec![
                end.as_raw_fd(),
                signals.file.as_raw_fd(),
                self.listener.as_raw_fd(),
            ];
            for client in &self.clients {
                files.push(client.socket.as_raw_fd());
                files.push(client.end.as_raw_fd());
            }
            let ready = sys::wait(&files, timeout);
            if ready[0] {
                self.leave();
                return self.close_transactions();
            }
            if ready[1]
                && let Some((signal, true)) = sys::next_signal(signals.file.as_fd())
            {
                sys::signal(program.id(), signal);
            }
            let asked = self.listen_to_clients(&ready[3..]);
            if ready[2] {
                self.accept();
            }
            sleep = if asked {
                SHORTEST_SLEEP
            } else {
                (sleep * 2).min(LONGEST_SLEEP)
            };
        }
    }

    /// Looks at the queues, where no client has asked for it.
    fn act_unasked(&mut self) -> Progress {
        if self.manners.waits_for_kicks && self.now() < self.looked + UNASKED {
            return Progress::default();
        }
        self.act()
    }

    fn act(&mut self) -> Progress {
        let now = self.now();
        self.looked = now;
        let progress = self.device.step(&mut self.programs, now);
        for (process, violation) in &progress.violations {
            self.tell(*process, violation);
        }
        if let Some(to) = &mut self.transactions {
            to.write(&progress.transactions);
        }
        if self.manners.polls && (progress.worked || progress.due.is_some()) {
            self.busy_until = now + POLLING;
        }
        progress
    }

    /// Returns whether the device looks again at once: something is under way, or was a moment ago.
    fn polls(&self, progress: &Progress) -> bool {
        self.manners.polls && (progress.due.is_some() || self.now() < self.busy_until)
    }

    /// Writes out the transactions of operations that are done: the program may want to read them.
    fn flush_transactions(&mut self) {
        if let Some(to) = &mut self.transactions {
            to.flush();
        }
    }

    /// Writes the last transactions; tells whether all were written.
    fn close_transactions(&mut self) -> Result<()> {
        let last = self.device.last_transactions();
        match self.transactions.take() {
            Some(mut to) => {
                to.write(&last);
                to.close()
            }
            None => Ok(()),
        }
    }

    /// Returns the time since the start, in ns.
    fn now(&self) -> u64 {
        self.programs.clock.now()
    }

    /// Tells of a violation, the first ones in words.
    fn tell(&mut self, process: Pid, violation: &dyn Display) {
        self.violations += 1;
        if self.violations <= MOST_TOLD {
            eprintln!("softhca: process {process}: {violation}");
        }
    }

    /// Closes the contexts of processes that have ended, when the program has, and so learns of
    /// their operations that were left undone.
    fn leave(&mut self) {
        let ended = self.clients.iter().filter(|client| client.has_ended());
        for process in ended.map(|client| client.process).collect::<Vec<_>>() {
            self.take_stores(process);
        }
        self.act();
        for client in take(&mut self.clients) {
            if client.has_ended() {
                for context in client.contexts {
                    self.forget(context);
                }
            }
        }
        self.act();
    }

    fn accept(&mut self) {
        loop {
            match sys::accept(self.listener.as_fd()) {
                Ok((socket, peer)) => self.admit(socket, peer),
                Err(error) if sys::is_out_of_files(&error) && self.spare.take().is_some() => {
                    // The error comes whether anybody waits or not.
                    let refused = sys::accept(self.listener.as_fd()).map(drop);
                    self.spare = sys::spare().ok();
                    if refused.is_err() {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// Takes a connection, or closes one that another user has made.
    fn admit(&mut self, socket: OwnedFd, Peer { process, user }: Peer) {
        if user != self.user {
            if self.manners.trace {
                let own = self.user;
                eprintln!(
                    "softhca: process {process} of user {user} is refused: the device is user {own}'s"
                );
            }
            return;
        }
        // A process that has ended already needs no answer.
        if let Ok(end) = sys::process(process) {
            self.clients.push(Client {
                socket,
                process,
                end,
                contexts: Vec::new(),
                told: false,
                kick: Kick::default(),
                stores: false,
            });
        }
    }

    /// Answers clients that ask, and drops clients that are gone; `ready` has two entries for each
    /// client. Returns true when a client asked.
    fn listen_to_clients(&mut self, ready: &[bool]) -> bool {
        let asked = self.answer_requests(ready);
        self.take_kicks() || asked
    }

    fn answer_requests(&mut self, ready: &[bool]) -> bool {
        let mut asked = false;
        for (index, ready) in ready.chunks(2).enumerate().rev() {
            if ready[1] {
                self.take_stores(self.clients[index].process);
            }
            let stays = !ready[1] && (!ready[0] || self.answer(index));
            asked |= ready[0];
            if !stays {
                self.drop_client(index);
            }
        }
        asked
    }

    fn drop_client(&mut self, index: usize) {
        for context in self.clients.swap_remove(index).contexts {
            self.forget(context);
        }
    }

    fn forget(&mut self, context: ContextId) {
        self.device.close(context);
        self.programs.close(context);
    }

    /// Returns the next packet of a client.
    fn receive(&mut self, index: usize) -> Packet {
        let mut packet = [0; Store::SIZE];
        let client = &mut self.clients[index];
        let length = match sys::receive(client.socket.as_fd(), &mut packet) {
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Packet::None,
            Err(_) => return Packet::End,
        };
        if let Some(store) = Store::decode(&packet[..length]) {
            client.stores = true;
            return Packet::Store(store);
        }
        match Request::decode(&packet[..length]) {
            Some(request) if !client.stores => Packet::Request(request),
            _ => Packet::End,
        }
    }

    /// Takes the stores of a process that nobody waits for: it made them before its request, or its
    /// end.
    fn take_stores(&mut self, process: Pid) {
        for index in 0..self.clients.len() {
            let client = &self.clients[index];
            if !client.stores || client.process != process {
                continue;
            }
            for _ in 0..MOST_STORES {
                let Packet::Store(store) = self.receive(index) else {
                    break;
                };
                self.store(index, &store);
            }
        }
    }

    /// Answers a request or a store, and takes the stores before it that nobody waits for; returns
    /// false when the connection is of no more use.
    fn answer(&mut self, index: usize) -> bool {
        for _ in 0..MOST_STORES {
            match self.receive(index) {
                Packet::None => return true,
                Packet::End => return false,
                Packet::Request(request) => return self.answer_request(index, &request),
                Packet::Store(store) => {
                    let stays = self.store(index, &store);
                    if store.is_awaited || !stays {
                        return stays;
                    }
                }
            }
        }
        true
    }

    fn answer_request(&mut self, index: usize, request: &Request) -> bool {
        self.take_stores(self.clients[index].process);
        // On the wire 0 is no context.
        let context = ContextId(request.context.wrapping_sub(1));
        match request.operation {
            Operation::Open => self.open(index, request.argument),
            Operation::Close => {
                let contexts = &mut self.clients[index].contexts;
                // A child of fork has a copy of its parent's file: closing that closes nothing here.
                if contexts.contains(&context) {
                    contexts.retain(|known| *known != context);
                    self.forget(context);
                }
                self.reply(index, Ok(()))
            }
            Operation::Ioctl => self.ioctl(index, context, request.argument),
            Operation::Kick if self.manners.refuses_kicks => {
                self.reply(index, Err(Errno::NOT_SUPPORTED))
            }
            Operation::Kick => {
                self.clients[index].kick.ask();
                true
            }
            Operation::Unmap => {
                let process = self.clients[index].process;
                let (start, end) = wire::addresses(request.argument);
                self.device.unmapped(process, start, end);
                self.reply(index, Ok(()))
            }
            Operation::Account => self.account(index),
        }
    }

    /// Sends a file with the account of doorbell registers, as it is after the entries that were
    /// posted before.
    fn account(&mut self, index: usize) -> bool {
        self.act_until_idle();
        let written = sys::sparse_file("softhca-account", 0).and_then(|file| {
            let file = File::from(file);
            file.write_all_at(self.device.account().as_bytes(), 0)?;
            Ok(file)
        });
        let Ok(file) = written else {
            return self.reply(index, Err(Errno::NO_MEMORY));
        };
        let reply = Reply::default().encode();
        sys::send(
            self.clients[index].socket.as_fd(),
            &reply,
            Some(file.as_fd()),
        )
        .is_ok()
    }

    fn open(&mut self, index: usize, probe: u64) -> bool {
        let process = self.clients[index].process;
        match self.programs.mover.try_word(process, probe) {
            Err(error) => {
                let why = format_args!("its memory cannot be read and written: {error}");
                return self.refuse(index, why, Errno::NOT_PERMITTED);
            }
            Ok(found) if u64::from_ne_bytes(found) != PROBE => {
                return self.reply(index, Err(Errno::INVALID));
            }
            Ok(_) => {}
        }
        let context = self.device.open(process);
        let client = &mut self.clients[index];
        client.contexts.push(context);
        let reply = Reply {
            context: context.0 + 1,
            ..Reply::default()
        };
        match self.programs.open(context) {
            Ok(file) => sys::send(client.socket.as_fd(), &reply.encode(), Some(file)).is_ok(),
            Err(error) => {
                let why = format_args!("there is no file for its doorbells: {error}");
                self.refuse(index, why, Errno::NO_MEMORY)
            }
        }
    }

    /// Refuses to open the device, and says why, once to a client.
    fn refuse(&mut self, index: usize, why: Arguments<'_>, errno: Errno) -> bool {
        let client = &mut self.clients[index];
        if !std::mem::replace(&mut client.told, true) {
            let process = client.process;
            eprintln!("softhca: process {process} cannot use the device: {why}");
        }
        self.reply(index, Err(errno))
    }

    fn ioctl(&mut self, index: usize, context: ContextId, argument: u64) -> bool {
        let process = self.clients[index].process;
        let answer = self
            .device
            .ioctl(&mut self.programs, context, process, argument);
        if let Err(refusal) = &answer
            && self.manners.trace
            && !refusal.expected
        {
            let error = Error::from_raw_os_error(refusal.errno.0);
            eprintln!("softhca: process {process}: {}: {error}", refusal.what);
        }
        let Ok(Some(descriptor)) = answer else {
            return self.reply(index, answer.map(drop).map_err(|refusal| refusal.errno));
        };
        let reply = Reply {
            store_at: descriptor.at,
            store_size: descriptor.size,
            ..Reply::default()
        };
        let file = self.programs.reading_end(descriptor.queue);
        sys::send(self.clients[index].socket.as_fd(), &reply.encode(), file).is_ok()
    }

    /// Takes a store to a doorbell page; returns false when the connection is of no more use.
    fn store(&mut self, index: usize, store: &Store) -> bool {
        let process = self.clients[index].process;
        let context = ContextId(store.context.wrapping_sub(1));
        let bytes = &store.bytes[..store.size as usize];
        let now = self.now();
        let stored = uverbs::Store {
            process,
            thread: store.thread,
            at: store.at,
            bytes,
        };
        let taken = self.device.store(&mut self.programs, context, &stored, now);
        match &taken {
            Ok(found) => {
                // Beyond the file's end nothing is mapped.
                let _ = self.programs.store(context, store.at, bytes);
                for violation in found {
                    self.tell(process, violation);
                }
            }
            Err(Errno::NOT_PERMITTED) => self.tell(
                process,
                &"a write to a doorbell page of another process's context",
            ),
            Err(_) => {}
        }
        !store.is_awaited || self.reply(index, taken.map(drop))
    }

    fn reply(&self, index: usize, result: std::result::Result<(), Errno>) -> bool {
        let reply = Reply {
            errno: result.err().map_or(0, |errno| errno.0),
            ..Reply::default()
        };
        sys::send(self.clients[index].socket.as_fd(), &reply.encode(), None).is_ok()
    }
}
