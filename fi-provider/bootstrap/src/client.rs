//! The PE's end of the connection.

use std::collections::HashMap;
use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::encoding::Piece;
use crate::environment::{self, Launch};
use crate::pmix::Session;
use crate::request::{self, SAFE_LINE};
use crate::sys::Socket;
use crate::wire::{Line, Lines, Message, VALLEN_MAX};
use crate::{Error, encoding, mapping, sys};

/// The connection of one PE to its launcher, or a job of one that needs none.
///
/// The descriptor stays open, and closed on exec, until this is dropped; no call raises SIGPIPE.
#[derive(Debug)]
pub struct Bootstrap {
    rank: usize,
    size: usize,
    /// The process that connected: a forked child must leave the connection alone.
    process: u32,
    finalized: bool,
    /// In a job of one, the tasks of the allocation that it is in.
    allocated: Option<usize>,
    link: Link,
}

#[derive(Debug)]
enum Link {
    Alone(HashMap<String, Vec<u8>>),
    Launcher(Connection),
    Pmix(Box<Session>),
}

#[derive(Debug)]
struct Connection {
    socket: Socket,
    /// Whether the launcher listens until each library of the process that has begun has finalized,
    /// as oshrun does: others close the connection at the first.
    hears_all: bool,
    lines: Lines,
    kvsname: String,
    vallen_max: usize,
}

/// The process that has connected last, or 0.
static CONNECTED: AtomicU32 = AtomicU32::new(0);

/// Returns the error of a descriptor that is not this process's.
fn not_ours(fd: i32, error: &std::io::Error) -> Error {
    Error::Environment(format!(
        "PMI_FD is {fd}, which is not this process's connection to a launcher ({error}). A program \
         that a PE starts is no PE: without PMI_FD (env -u PMI_FD PROGRAM) it is a job of one. A \
         program between the launcher and a PE has to leave its descriptors open. An MPI \
         library of this process may have closed it in MPI_Finalize: initialise this library before"
    ))
}

impl Bootstrap {
    /// Finds the launcher in the environment (`PMI_FD`, `PMI_RANK`, `PMI_SIZE`; without the first of these
    /// `PMIX_NAMESPACE` and `PMIX_RANK`) and introduces this PE to it. Without a launcher this process is a job of one.
    ///
    /// Under a launcher it succeeds once in a process: it uses the descriptor, which programs
    /// that this process starts do not inherit. In those it is an error, as they have the
    /// variables: by mistake a program that closes descriptors before it starts a PE would make
    /// each PE a job of one. Under PMIx such a program connects as the PE that has started it, and
    /// must not.
    ///
    /// An MPI library of this process may use the connection, too, before and after, as long as one
    /// thread at a time is in calls of the two that use it, which initialisation and finalization
    /// are.
    ///
    /// # Errors
    /// [`Error::Connected`] where this process has connected before, [`Error::Unsupported`] under a
    /// launcher that speaks another protocol, [`Error::Environment`] when the variables make no
    /// sense, [`Error::Library`] under PMIx without libpmix, and errors of the connection.
    pub fn connect() -> Result<Self, Error> {
        let launch = environment::read(|name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })?;
        match launch {
            Launch::Alone { allocated } => {
                let mut alone = Self::new(0, 1, Link::Alone(HashMap::new()));
                alone.allocated = allocated;
                Ok(alone)
            }
            Launch::Pmix => Self::once(|| {
                let session = Session::connect()?;
                let (rank, size) = (session.rank(), session.size());
                Ok(Self::new(rank, size, Link::Pmix(Box::new(session))))
            }),
            Launch::Pmi {
                fd,
                rank,
                size,
                inode,
            } => Self::once(|| {
                let socket = Socket::adopt(fd, inode).map_err(|error| not_ours(fd, &error))?;
                let mut pe = Self::over(socket, rank, size)?;
                if let Link::Launcher(connection) = &mut pe.link {
                    connection.hears_all = inode.is_some();
                }
                Ok(pe)
            }),
        }
    }

    /// Connects this process by `connect`, unless it has connected before.
    fn once(connect: impl FnOnce() -> Result<Self, Error>) -> Result<Self, Error> {
        // A forked child has its parent's number here, and is told more by the descriptor.
        let own = std::process::id();
        // ORDERING: the number guards nothing but itself.
        if CONNECTED.swap(own, Ordering::Relaxed) == own {
            return Err(Error::Connected);
        }
        let connected = connect();
        if connected.is_err() {
            // ORDERING: as above.
            CONNECTED.store(0, Ordering::Relaxed);
        }
        connected
    }

    fn new(rank: usize, size: usize, link: Link) -> Self {
        Bootstrap {
            rank,
            size,
            process: std::process::id(),
            finalized: false,
            allocated: None,
            link,
        }
    }

    /// Introduces this PE over an open connection.
    fn over(socket: Socket, rank: usize, size: usize) -> Result<Self, Error> {
        let mut connection = Connection {
            socket,
            hears_all: true,
            lines: Lines::default(),
            kvsname: String::new(),
            vallen_max: VALLEN_MAX,
        };
        connection.init()?;
        Ok(Self::new(rank, size, Link::Launcher(connection)))
    }

    /// This PE's number, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of PEs of the job; it fits a C `int`.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns a line for the user, where this job of one may be a mistake: in an allocation of
    /// Slurm for several tasks. In the shell of sbatch or salloc it is a job of one all the same.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        let tasks = self.allocated?;
        Some(format!(
            "this process is a job of one PE, in an allocation of Slurm for {tasks} tasks \
             (SLURM_NTASKS): srun --mpi=pmix, srun --mpi=pmi2 and oshrun start several PEs"
        ))
    }

    /// Publishes `value` under `key`; other PEs can [`get`](Self::get) it after the next [`barrier`](Self::barrier).
    /// Keys are the job's: put this PE's rank into them. A key is put once.
    ///
    /// # Errors
    /// [`Error::Key`] for a key that cannot be carried, and errors of the launcher or the
    /// connection.
    pub fn put(&mut self, key: &str, value: &[u8]) -> Result<(), Error> {
        if !encoding::is_key(key) {
            return Err(Error::Key(key.to_owned()));
        }
        match self.usable()? {
            Link::Alone(values) => {
                values.insert(key.to_owned(), value.to_vec());
                Ok(())
            }
            Link::Launcher(connection) => connection.put(key, value),
            Link::Pmix(session) => {
                session.put(key, value);
                Ok(())
            }
        }
    }

    /// Fetches the value that some PE has put under `key` before the last
    /// [`barrier`](Self::barrier).
    ///
    /// # Errors
    /// [`Error::Missing`] when nobody has, [`Error::Key`], [`Error::Garbled`], and errors of the
    /// connection.
    pub fn get(&mut self, key: &str) -> Result<Vec<u8>, Error> {
        if !encoding::is_key(key) {
            return Err(Error::Key(key.to_owned()));
        }
        match self.usable()? {
            Link::Alone(values) => values
                .get(key)
                .cloned()
                .ok_or_else(|| Error::Missing(key.to_owned())),
            Link::Launcher(connection) => connection.get(key),
            Link::Pmix(session) => session.get(key),
        }
    }

    /// Waits until every PE of the job has come here.
    ///
    /// # Errors
    /// Errors of the connection; [`Error::Closed`] when the launcher is gone.
    pub fn barrier(&mut self) -> Result<(), Error> {
        match self.usable()? {
            Link::Alone(_) => Ok(()),
            Link::Launcher(connection) => connection
                .ask("barrier_in", request::barrier(), "barrier_out")
                .map(drop),
            Link::Pmix(session) => session.barrier(),
        }
    }

    /// The node of every rank as the launcher numbers them, or `None` when it does not tell.
    ///
    /// # Errors
    /// Errors of the connection.
    pub fn node_map(&mut self) -> Result<Option<Vec<u32>>, Error> {
        let size = self.size;
        match self.usable()? {
            Link::Alone(_) => Ok(Some(vec![0])),
            Link::Launcher(connection) => {
                let text = connection.fetch(mapping::KEY, 0)?;
                Ok(text.and_then(|text| mapping::parse(&text, size)))
            }
            Link::Pmix(session) => session.node_map().map(Some),
        }
    }

    /// Asks the launcher to end all PEs of the job with the exit status `code`; with a message that
    /// is not empty, oshrun prints the PE and the reason. Returns at once: the caller then exits by
    /// itself or is ended. May be called after [`finalize`](Self::finalize); does nothing in a job
    /// of one. Allocates nothing, so that signal handlers may call it.
    ///
    /// Under PMIx a thread makes the call, for which this one waits for two seconds at most; after
    /// finalize it is an error. Open MPI's mpirun is not asked before a second has passed: it ends the
    /// job by this process's exit status.
    ///
    /// # Errors
    /// The connection's error, or [`Error::Forked`] in a forked child.
    pub fn abort(&self, code: i32, message: &str) -> Result<(), Error> {
        if self.process != std::process::id() {
            return Err(Error::Forked);
        }
        let connection = match &self.link {
            Link::Alone(_) => return Ok(()),
            Link::Launcher(connection) => connection,
            Link::Pmix(session) => return session.abort(code, message),
        };
        if message.is_empty() {
            return connection.send_now(format_args!("cmd=abort exitcode={code}\n"));
        }
        let cut = message.floor_char_boundary(message.len().min(400));
        let text = Piece(&message.as_bytes()[..cut]);
        connection.send_now(format_args!("cmd=abort exitcode={code} message={text}\n"))
    }

    /// As [`finalize`](Self::finalize), as the last thing that the process does, whatever MPI does:
    /// allocates nothing, so that signal handlers may call it.
    ///
    /// # Errors
    /// The connection's error, or [`Error::Forked`] in a forked child.
    pub fn leave(&mut self) -> Result<(), Error> {
        if self.process != std::process::id() {
            return Err(Error::Forked);
        }
        if !self.finalized {
            match &self.link {
                Link::Alone(_) => {}
                Link::Launcher(connection) => tell_end(&connection.socket)?,
                Link::Pmix(session) => session.leave()?,
            }
        }
        self.finalized = true;
        Ok(())
    }

    /// Tells the launcher that this PE is done: from now on it may exit as it likes. Idempotent. A
    /// connection that is closed already is no error: MPI's finalization closes it.
    ///
    /// Launchers other than oshrun hear no more of this process then. To those nothing is said
    /// where an MPI library shares the connection: it tells them itself as it finalizes, or at
    /// exit.
    ///
    /// # Errors
    /// Other errors of the connection.
    pub fn finalize(&mut self) -> Result<(), Error> {
        if !self.finalized
            && let Link::Launcher(connection) = self.usable()?
            && !connection.hears_all
            && sys::does_mpi_share()
        {
            self.finalized = true;
        }
        self.end()
    }

    /// As [`finalize`](Self::finalize), and tells the launcher even where MPI would: for a process
    /// that ends at once, without handlers of its exit.
    ///
    /// # Errors
    /// Those of [`finalize`](Self::finalize).
    pub fn end(&mut self) -> Result<(), Error> {
        if self.finalized && self.process == std::process::id() {
            return Ok(());
        }
        match self.usable()? {
            Link::Alone(_) => {}
            Link::Launcher(connection) => {
                let told = connection.ask("finalize", request::finalize(), "finalize_ack");
                told.map(drop)
                    .or_else(|error| is_closed(&error).then_some(()).ok_or(error))?;
            }
            Link::Pmix(session) => session.finalize()?,
        }
        self.finalized = true;
        Ok(())
    }

    /// Introduces this PE to the launcher again after [`finalize`](Self::finalize). `false` when
    /// the launcher no longer listens, as hydra and PMIx do not: then only values that are known
    /// already can be used. A job of one can always go on.
    ///
    /// # Errors
    /// [`Error::Forked`] in a forked child, and errors of a launcher that does listen.
    pub fn try_reinit(&mut self) -> Result<bool, Error> {
        if self.process != std::process::id() {
            return Err(Error::Forked);
        }
        if !self.finalized {
            return Ok(true);
        }
        match &mut self.link {
            Link::Alone(_) => {}
            Link::Launcher(connection) => match connection.init() {
                Ok(()) => {}
                Err(error) if is_closed(&error) => return Ok(false),
                Err(error) => return Err(error),
            },
            // The library does not connect twice.
            Link::Pmix(_) => return Ok(false),
        }
        self.finalized = false;
        Ok(true)
    }

    /// The connection to the launcher, which between two calls can be read only when the launcher
    /// is gone: for poll(2), in waits that it would end. `None` in a job of one. Under PMIx a socket
    /// that can be read when the node's server is gone.
    #[must_use]
    pub fn lifeline(&self) -> Option<BorrowedFd<'_>> {
        match &self.link {
            Link::Alone(_) => None,
            Link::Launcher(connection) => Some(connection.socket.as_fd()),
            Link::Pmix(session) => session.lifeline(),
        }
    }

    fn usable(&mut self) -> Result<&mut Link, Error> {
        if self.process != std::process::id() {
            return Err(Error::Forked);
        }
        if self.finalized {
            return Err(Error::Finalized);
        }
        Ok(&mut self.link)
    }
}

impl Connection {
    fn init(&mut self) -> Result<(), Error> {
        let [hello, maxes, name] = request::introduction();
        self.ask("init", hello.0, hello.1)?;
        let maxes = self.ask("get_maxes", maxes.0, maxes.1)?;
        let maxes = Message::parse(&maxes)?;
        self.vallen_max = maxes.number("vallen_max").unwrap_or(VALLEN_MAX);
        let name = self.ask("get_my_kvsname", name.0, name.1)?;
        let name = Message::parse(&name)?;
        name.get("kvsname")
            .unwrap_or_default()
            .clone_into(&mut self.kvsname);
        Ok(())
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), Error> {
        let lines = request::put(&self.kvsname, self.vallen_max, key, value)
            .ok_or_else(|| Error::Io(ErrorKind::FileTooLarge.into()))?;
        for line in lines {
            self.ask("put", line, "put_result")?;
        }
        Ok(())
    }

    fn get(&mut self, key: &str) -> Result<Vec<u8>, Error> {
        let missing = || Error::Missing(key.to_owned());
        let garbled = || Error::Garbled(key.to_owned());
        let first = self.fetch(key, 0)?.ok_or_else(missing)?;
        let (count, text) = encoding::first_piece(&first).ok_or_else(garbled)?;
        let mut text = text.to_owned();
        for index in 1..count {
            text += &self.fetch(key, index)?.ok_or_else(garbled)?;
        }
        encoding::decode(&text).ok_or_else(garbled)
    }

    /// Fetches the raw piece of the value under a key; `None` when there is none.
    fn fetch(&mut self, key: &str, piece: usize) -> Result<Option<String>, Error> {
        self.send(request::get(&self.kvsname, key, piece))?;
        let answer = self.receive()?;
        let message = Message::parse(&answer)?;
        if message.command() != "get_result" {
            return Err(unexpected("get", &answer));
        }
        Ok(message
            .get("value")
            .filter(|_| message.succeeded())
            .map(str::to_owned))
    }

    /// Sends a request and returns the answer's line, which is `answer` and reports success.
    fn ask(&mut self, request: &'static str, line: Line, answer: &str) -> Result<Vec<u8>, Error> {
        self.send(line)?;
        let text = self.receive()?;
        let message = Message::parse(&text)?;
        if message.command() == answer && message.succeeded() {
            Ok(text)
        } else {
            Err(unexpected(request, &text))
        }
    }

    fn send(&self, line: Line) -> Result<(), Error> {
        self.socket
            .send_all(line.finish().as_bytes())
            .map_err(closed_or_io)
    }

    /// Sends a line of at most [`SAFE_LINE`] bytes, whose text is put together on the stack.
    fn send_now(&self, text: Arguments<'_>) -> Result<(), Error> {
        let mut line = [0; SAFE_LINE];
        let mut rest = &mut line[..];
        rest.write_fmt(text)?;
        let unused = rest.len();
        let length = line.len() - unused;
        self.socket.send_all(&line[..length]).map_err(closed_or_io)
    }

    fn receive(&mut self) -> Result<Vec<u8>, Error> {
        loop {
            if let Some(line) = self.lines.next_line()? {
                return Ok(line);
            }
            let mut bytes = [0; 2048];
            match self.socket.receive(&mut bytes).map_err(closed_or_io)? {
                0 => return Err(Error::Closed),
                count => self.lines.push(&bytes[..count]),
            }
        }
    }
}

/// Tells the launcher that this PE is done, and waits for the answer: allocates nothing.
fn tell_end(socket: &Socket) -> Result<(), Error> {
    socket.send_all(b"cmd=finalize\n").map_err(closed_or_io)?;
    let mut byte = [0];
    while byte != [b'\n'] {
        if socket.receive(&mut byte).map_err(closed_or_io)? == 0 {
            return Err(Error::Closed);
        }
    }
    Ok(())
}

/// Returns whether the launcher, or MPI, has closed the connection: the program has not.
fn is_closed(error: &Error) -> bool {
    match error {
        Error::Closed => true,
        Error::Io(error) => error.raw_os_error() == Some(libc::EBADF) && sys::does_mpi_share(),
        _ => false,
    }
}

fn unexpected(request: &'static str, answer: &[u8]) -> Error {
    Error::Unexpected {
        request,
        answer: String::from_utf8_lossy(answer).into_owned(),
    }
}

fn closed_or_io(error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::NotConnected => {
            Error::Closed
        }
        _ => Error::Io(error),
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
