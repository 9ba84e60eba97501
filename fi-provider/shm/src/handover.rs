//! Handing a memory over to other processes of the machine (SCM_RIGHTS, unix(7)).
//!
//! The process that has the memory listens on a socket whose random name is in no file system. It
//! gives the descriptor to processes of its own user that show the token, which only those know
//! that were told. Nothing is looked up in `/proc`: neither PID namespaces nor programs that may
//! be executed and not read are in the way.

use crate::random;
use crate::segment::Memfd;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

/// Bytes of a token.
const TOKEN: usize = 16;

/// Connections that are open at a time and have not shown their token yet; others wait in the
/// kernel.
const MOST_WAITING: usize = 32;

/// The pause before another attempt, where the user may have no more descriptors on their way:
/// takers receive some meanwhile.
const FULL: Duration = Duration::from_millis(1);

/// The socket's name and the token, by which a process takes an offered memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    name: u128,
    token: [u8; TOKEN],
    /// The network namespace in which the name is known, 0 where the kernel does not tell.
    network: u64,
}

impl Ticket {
    /// Returns the ticket in one word, for [`Ticket::parse`].
    pub fn to_text(&self) -> String {
        let token = u128::from_ne_bytes(self.token);
        format!("{:x}-{token:x}-{:x}", self.name, self.network)
    }

    /// Returns the ticket that `text` is of.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.splitn(3, '-');
        let number = |word: &str| u128::from_str_radix(word, 16).ok();
        Some(Self {
            name: number(words.next()?)?,
            token: number(words.next()?)?.to_ne_bytes(),
            network: number(words.next()?)?.try_into().ok()?,
        })
    }

    /// Bytes of [`Ticket::to_bytes`].
    pub const BYTES: usize = 40;

    /// Returns the token that it shows.
    pub fn token(&self) -> &[u8; 16] {
        &self.token
    }

    /// Returns the ticket for a message, the same on every machine.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..16].copy_from_slice(&self.name.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.token);
        bytes[32..].copy_from_slice(&self.network.to_le_bytes());
        bytes
    }

    /// Returns the ticket that [`Ticket::to_bytes`] has made `bytes` of.
    pub fn of_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (name, rest) = bytes.split_first_chunk().unwrap_or((&[0; 16], &[]));
        let (token, rest) = rest.split_first_chunk().unwrap_or((&[0; TOKEN], &[]));
        let network = rest.first_chunk().unwrap_or(&[0; 8]);
        Self {
            name: u128::from_le_bytes(*name),
            token: *token,
            network: u64::from_le_bytes(*network),
        }
    }

    fn address(&self) -> io::Result<SocketAddr> {
        SocketAddr::from_abstract_name(format!("farreach-{:032x}", self.name))
    }

    /// Takes the memory that is offered.
    ///
    /// `lifeline` can be read when there is nobody left to wait for.
    ///
    /// # Errors
    /// `AddrNotAvailable` from another network namespace, where the name is not known;
    /// `ConnectionRefused`, `ConnectionReset` or `UnexpectedEof` when the process that offers the
    /// memory is gone or refuses; `NotConnected` when `lifeline` is closed; else the error of a
    /// system call.
    pub fn take(&self, lifeline: Option<BorrowedFd<'_>>) -> io::Result<Memfd> {
        let stream = self.call()?;
        let mut watches = [watch(Some(stream.as_fd())), watch(lifeline)];
        while watches[0].revents == 0 {
            poll(&mut watches, None)?;
            if watches[1].revents != 0 {
                return Err(ErrorKind::NotConnected.into());
            }
        }
        receive(&stream, &mut [0])
    }

    /// Connects to the process that offers, and shows the token.
    ///
    /// # Errors
    /// `PermissionDenied` where that process is another user's, else as [`Ticket::take`].
    pub fn call(&self) -> io::Result<UnixStream> {
        let stream = self.connect()?;
        if !is_of_own_user(&stream)? {
            return Err(ErrorKind::PermissionDenied.into());
        }
        send(&stream, &self.token, None)?;
        Ok(stream)
    }

    fn connect(&self) -> io::Result<UnixStream> {
        let address = self.address()?;
        loop {
            match UnixStream::connect_addr(&address) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    let here = network(&UnixStream::pair()?.0);
                    let told = [here, self.network];
                    if !told.contains(&0) && here != self.network {
                        return Err(ErrorKind::AddrNotAvailable.into());
                    }
                    return Err(error);
                }
                other => return other,
            }
        }
    }
}

/// A memory that other processes may take.
#[derive(Debug)]
pub struct Offer {
    listener: UnixListener,
    ticket: Ticket,
}

impl Offer {
    /// Begins to listen.
    ///
    /// # Errors
    /// A refusal of the system: of random bytes or of a socket.
    pub fn new() -> io::Result<Self> {
        let mut ticket = Ticket {
            name: u128::from_ne_bytes(random::bytes()?),
            token: random::bytes()?,
            network: 0,
        };
        let listener = UnixListener::bind_addr(&ticket.address()?)?;
        listener.set_nonblocking(true)?;
        ticket.network = network(&listener);
        Ok(Self { listener, ticket })
    }

    /// Returns the ticket by which a process takes the memory.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Gives `memory` to `takers` processes; returns when each has it, or has it on its way.
    ///
    /// `lifeline` can be read when there is nobody left to wait for.
    ///
    /// # Errors
    /// `NotConnected` when `lifeline` is closed, else the error of a system call.
    pub fn serve(
        self,
        memory: &Memfd,
        takers: usize,
        lifeline: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let mut waiting: Vec<UnixStream> = Vec::new();
        let mut given = 0;
        while given < takers {
            let listener = (waiting.len() < MOST_WAITING).then_some(self.listener.as_fd());
            let mut watches = vec![watch(lifeline), watch(listener)];
            watches.extend(waiting.iter().map(|stream| watch(Some(stream.as_fd()))));
            poll(&mut watches, None)?;
            if watches[0].revents != 0 {
                return Err(ErrorKind::NotConnected.into());
            }
            let ready = |at: usize| watches[at + 2].revents != 0;
            let (spoken, silent): (Vec<_>, Vec<_>) =
                (0..).zip(waiting).partition(|&(at, _)| ready(at));
            waiting = silent.into_iter().map(|(_, stream)| stream).collect();
            for (_, stream) in spoken {
                given += usize::from(self.answer(&stream, memory)?);
            }
            if watches[1].revents != 0 {
                waiting.extend(self.accept()?);
            }
        }
        Ok(())
    }

    /// Returns the next connection, which has not shown a token yet; none where it is gone again,
    /// or another user's.
    ///
    /// # Errors
    /// The error of accept(2) or getsockopt(2).
    pub fn accept(&self) -> io::Result<Option<UnixStream>> {
        match self.listener.accept() {
            Ok((stream, _)) => Ok(is_of_own_user(&stream)?.then_some(stream)),
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Gives the memory to a process that has spoken. Returns whether it has shown the token and is
    /// there to receive.
    fn answer(&self, stream: &UnixStream, memory: &Memfd) -> io::Result<bool> {
        if !self.is_shown_by(stream) {
            return Ok(false);
        }
        match give(stream, &[0], memory) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns whether the process at the other end of a connection that can be read has shown the
    /// token.
    pub fn is_shown_by(&self, stream: &UnixStream) -> bool {
        let mut shown = [0; TOKEN];
        // SAFETY: recv writes at most the array's length, and the array outlives the call.
        let got = unsafe {
            let flags = libc::MSG_DONTWAIT;
            libc::recv(stream.as_raw_fd(), shown.as_mut_ptr().cast(), TOKEN, flags)
        };
        got == TOKEN as isize && shown == self.ticket.token
    }
}

impl AsFd for Offer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

/// Sends `bytes`, without a signal where nobody receives any more.
///
/// # Errors
/// `BrokenPipe` where the other end is gone, else the error of sendmsg(2).
pub fn say(stream: &UnixStream, bytes: &[u8]) -> io::Result<()> {
    send(stream, bytes, None)
}

/// Sends `bytes` and a descriptor of `memory` to a process that has shown the token.
///
/// # Errors
/// `BrokenPipe` where it is gone, else the error of sendmsg(2).
pub fn give(stream: &UnixStream, bytes: &[u8], memory: &Memfd) -> io::Result<()> {
    loop {
        match send(stream, bytes, Some(memory.as_fd())) {
            Err(error) if error.raw_os_error() == Some(libc::ETOOMANYREFS) => {
                std::thread::sleep(FULL);
            }
            other => return other,
        }
    }
}

/// Returns a record for [`poll`]: of nothing where there is no descriptor.
fn watch(fd: Option<BorrowedFd<'_>>) -> libc::pollfd {
    libc::pollfd {
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    }
}

/// Waits until one of the descriptors is ready, or for so long (poll(2)).
///
/// # Errors
/// The error of poll(2), but for an interruption.
pub fn poll(watches: &mut [libc::pollfd], limit: Option<Duration>) -> io::Result<()> {
    // Rounded up: not again before it is over.
    let limit = limit.map_or(-1, |limit| {
        limit.as_millis().saturating_add(1).min(1 << 30) as i32
    });
    loop {
        let many = watches.len() as libc::nfds_t;
        // SAFETY: poll reads and writes so many records, which the slice has.
        let ready = unsafe { libc::poll(watches.as_mut_ptr(), many, limit) };
        match ready {
            0.. => return Ok(()),
            _ => match io::Error::last_os_error() {
                error if error.kind() == ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
}

/// Returns the value of an option of the socket itself.
///
/// # Safety
/// Any bytes are a `T`.
unsafe fn option<T>(socket: &impl AsRawFd, name: i32, mut value: T) -> io::Result<T> {
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: getsockopt writes at most `length` bytes to `value`, and both outlive the call.
    let got = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            name,
            (&raw mut value).cast(),
            &raw mut length,
        )
    };
    if got == 0 {
        Ok(value)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Returns whether the process at the other end, when it connected or began to listen, was this
/// process's user's.
fn is_of_own_user(stream: &UnixStream) -> io::Result<bool> {
    // SAFETY: geteuid has no preconditions.
    Ok(other_end(stream)?.uid == unsafe { libc::geteuid() })
}

/// Returns the process that connected or began to listen at the other end; its number is 0 in a PID
/// namespace that does not see it.
fn other_end(stream: &UnixStream) -> io::Result<libc::ucred> {
    let nobody = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    // SAFETY: a ucred is three integers.
    unsafe { option(stream, libc::SO_PEERCRED, nobody) }
}

/// Returns the number of the process at the other end (SO_PEERCRED), where this PID namespace has
/// one.
///
/// # Errors
/// The error of getsockopt(2).
pub fn process_of(stream: &UnixStream) -> io::Result<Option<i32>> {
    let pid = other_end(stream)?.pid;
    Ok((pid > 0).then_some(pid))
}

/// Returns a number of the network namespace of a socket; 0 before Linux 5.14.
fn network(socket: &impl AsRawFd) -> u64 {
    // SAFETY: a cookie is an integer.
    unsafe { option(socket, libc::SO_NETNS_COOKIE, 0_u64) }.unwrap_or(0)
}

/// Room for the header and the data of one descriptor, aligned as a header asks for.
type Control = [u64; 4];

const _: () = assert!(size_of::<Control>() >= size_of::<libc::cmsghdr>() + size_of::<RawFd>());

/// Sends `bytes`, and a descriptor with them.
fn send(stream: &UnixStream, bytes: &[u8], with: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let mut control: Control = [0; 4];
    // SAFETY: all zeros is a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if let Some(descriptor) = with {
        let size = size_of::<RawFd>() as u32;
        message.msg_control = control.as_mut_ptr().cast();
        // SAFETY: the lengths are computed from a number. The control buffer has room for a header
        // and a descriptor, so that there is a first header, behind which the descriptor's bytes
        // lie.
        unsafe {
            message.msg_controllen = libc::CMSG_SPACE(size) as _;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size) as _;
            let place = libc::CMSG_DATA(header).cast::<RawFd>();
            place.write_unaligned(descriptor.as_raw_fd());
        }
    }
    loop {
        // SAFETY: sendmsg reads the buffers that the message names, which outlive the call.
        let sent =
            unsafe { libc::sendmsg(stream.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
        match usize::try_from(sent) {
            Ok(sent) if sent == bytes.len() => return Ok(()),
            Ok(_) => return Err(ErrorKind::WriteZero.into()),
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
}

/// Receives a message of [`give`]: exactly so many bytes, and the memory.
///
/// # Errors
/// `UnexpectedEof` where the other end refuses or is gone, `EMFILE` where this process has no number
/// left for a descriptor, else the error of recvmsg(2).
pub fn receive(stream: &UnixStream, bytes: &mut [u8]) -> io::Result<Memfd> {
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let mut control: Control = [0; 4];
    // SAFETY: all zeros is a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    let got = loop {
        let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_WAITALL;
        // SAFETY: recvmsg writes to the buffers that the message names, which outlive the call.
        let got = unsafe { libc::recvmsg(stream.as_raw_fd(), &raw mut message, flags) };
        match usize::try_from(got) {
            Ok(got) => break got,
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    };
    // SAFETY: the kernel has filled the message in, so that this is null or a header inside
    // `control`.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message).as_ref() };
    match header {
        Some(header) if header.cmsg_type == libc::SCM_RIGHTS => {
            // SAFETY: behind a header of SCM_RIGHTS is at least one descriptor, inside `control`.
            let number = unsafe { libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned() };
            // SAFETY: the kernel has just made this descriptor, and nothing else owns it.
            let file = File::from(unsafe { OwnedFd::from_raw_fd(number) });
            if got < bytes.len() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            Memfd::of(file)
        }
        // Nothing came, or the process has no number left for a descriptor.
        Some(_) | None if message.msg_flags & libc::MSG_CTRUNC != 0 => {
            Err(io::Error::from_raw_os_error(libc::EMFILE))
        }
        Some(_) | None => Err(ErrorKind::UnexpectedEof.into()),
    }
}
