//! Hosts that fall silent, where the launcher does not watch them.
//!
//! The first process of each host connects to that of the next one by TCP, and says nothing
//! afterwards: the hosts' systems keep the connection alive (SO_KEEPALIVE, tcp(7)), also of processes
//! that do nothing. It breaks by a time-out where the other host is dead or cut off. Its plain end is
//! that of a process, which is the launcher's business.

use fi_shm::helper::spawn;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Words of the greeting: the key of the process that is greeted, and the number of the one that
/// greets.
const GREETING: usize = 16;

/// Probes in the time of silence.
const PROBES: u32 = 4;

/// Parameters of the watch over hosts.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// Number of processes.
    pub peers: usize,
    /// Longest time that a host may be silent.
    pub silence: Duration,
    /// Called in a thread of the port's own, with a process of the silent host and its address.
    pub tell: fn(u32, IpAddr),
}

/// A process that may be connected to.
#[derive(Clone, Copy, Debug)]
struct Door {
    number: u32,
    key: u64,
    address: SocketAddr,
}

/// The places of processes in the ring of hosts, of which a process learns in the order of their
/// numbers.
#[derive(Debug)]
pub(crate) struct Ring {
    watch: Watch,
    listener: TcpListener,
    own: (u32, u64),
    address: IpAddr,
    /// Whether no earlier process has this one's address.
    is_first: bool,
    /// The first process of another host, and the first one behind this.
    first: Option<Door>,
    next: Option<Door>,
}

impl Ring {
    /// Listens at the address of the endpoint called `name`, for process `own` with its number and
    /// its key. Returns none where the name is no internet address.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn new(watch: Watch, own: (u32, u64), name: &[u8]) -> io::Result<Option<Self>> {
        let Some(address) = internet_address(name) else {
            return Ok(None);
        };
        let listener = TcpListener::bind((address, 0))?;
        listener.set_nonblocking(true)?;
        Ok(Some(Self {
            watch,
            listener,
            own,
            address,
            is_first: true,
            first: None,
            next: None,
        }))
    }

    /// Returns the port that others connect to.
    pub(crate) fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |local| local.port())
    }

    /// Learns of the next process: its number, its key, the port that it listens at, and its
    /// endpoint's name.
    pub(crate) fn learn(&mut self, number: u32, key: u64, port: u16, name: &[u8]) {
        let Some(address) = internet_address(name) else {
            return;
        };
        if address == self.address {
            self.is_first &= number >= self.own.0;
        } else if port != 0 {
            let door = Door {
                number,
                key,
                address: SocketAddr::new(address, port),
            };
            self.first.get_or_insert(door);
            if number > self.own.0 {
                self.next.get_or_insert(door);
            }
        }
    }

    /// Returns whether `known` processes are all.
    pub(crate) fn is_whole(&self, known: usize) -> bool {
        known >= self.watch.peers
    }

    /// Starts to watch, in the first process of each host; none where there is no other host. Errors
    /// of the system leave hosts unwatched.
    pub(crate) fn start(self) -> Option<Watching> {
        let next = self.next.or(self.first).filter(|_| self.is_first)?;
        Watching::start(self, next).ok()
    }
}

/// The thread; told of the end when this is dropped, and not waited for.
#[derive(Debug)]
pub(crate) struct Watching {
    bell: Arc<OwnedFd>,
    is_over: Arc<AtomicBool>,
}

impl Watching {
    fn start(ring: Ring, next: Door) -> io::Result<Self> {
        // SAFETY: it takes numbers alone.
        let bell = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if bell < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and nobody else's.
        let bell = Arc::new(unsafe { OwnedFd::from_raw_fd(bell) });
        let is_over = Arc::new(AtomicBool::new(false));
        let watched = Watched {
            ring,
            bell: Arc::clone(&bell),
            is_over: Arc::clone(&is_over),
            links: Vec::new(),
        };
        spawn("farreach-watch", move || watched.run(next))?;
        Ok(Self { bell, is_over })
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // ORDERING: the write to the bell comes behind it.
        self.is_over.store(true, Ordering::Release);
        let one = 1_u64;
        // SAFETY: the number has so many bytes.
        unsafe { libc::write(self.bell.as_raw_fd(), (&raw const one).cast(), 8) };
    }
}

struct Watched {
    ring: Ring,
    bell: Arc<OwnedFd>,
    is_over: Arc<AtomicBool>,
    links: Vec<Link>,
}

/// A connection to a process of another host.
struct Link {
    stream: TcpStream,
    address: IpAddr,
    /// The process, once it is known.
    number: Option<u32>,
    greeting: Vec<u8>,
}

impl Watched {
    fn run(mut self, next: Door) {
        // A process that cannot be connected to, as behind a firewall, is not watched from here.
        self.links.extend(self.connect(next).ok());
        while !self.is_over.load(Ordering::Acquire) {
            if self.wait().is_err() {
                return;
            }
            if let Ok((stream, peer)) = self.ring.listener.accept()
                && self.keep_alive(&stream).is_ok()
            {
                self.links.push(Link {
                    stream,
                    address: peer.ip(),
                    number: None,
                    greeting: Vec::new(),
                });
            }
            let key = self.ring.own.1;
            let mut silent = None;
            self.links.retain_mut(|link| match link.read(key) {
                Ok(stays) => stays,
                Err(error) => {
                    if is_silence(&error) {
                        silent = silent.or(link.number.map(|number| (number, link.address)));
                    }
                    false
                }
            });
            // ORDERING: pairs with the store at the end.
            if let Some((number, address)) = silent
                && !self.is_over.load(Ordering::Acquire)
            {
                (self.ring.watch.tell)(number, address);
                return;
            }
        }
    }

    fn connect(&self, next: Door) -> io::Result<Link> {
        let mut stream = TcpStream::connect_timeout(&next.address, self.ring.watch.silence)?;
        let mut greeting = [0; GREETING];
        greeting[..8].copy_from_slice(&next.key.to_le_bytes());
        greeting[8..12].copy_from_slice(&self.ring.own.0.to_le_bytes());
        stream.write_all(&greeting)?;
        self.keep_alive(&stream)?;
        Ok(Link {
            stream,
            address: next.address.ip(),
            number: Some(next.number),
            greeting: Vec::new(),
        })
    }

    /// Has the system look whether the other one is there.
    fn keep_alive(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        let silence = self.ring.watch.silence;
        let seconds = (silence.as_secs() as libc::c_int / (PROBES as libc::c_int + 1)).max(1);
        for (level, name, value) in [
            (libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1),
            (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, seconds),
            (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, seconds),
            (libc::IPPROTO_TCP, libc::TCP_KEEPCNT, PROBES as libc::c_int),
            (
                libc::IPPROTO_TCP,
                libc::TCP_USER_TIMEOUT,
                silence.as_millis() as libc::c_int,
            ),
        ] {
            let (fd, len) = (stream.as_raw_fd(), size_of_val(&value) as libc::socklen_t);
            let place = (&raw const value).cast();
            // SAFETY: the socket is open, and the value has so many bytes.
            if unsafe { libc::setsockopt(fd, level, name, place, len) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Sleeps until something comes, or the end.
    fn wait(&self) -> io::Result<()> {
        let own = [self.bell.as_raw_fd(), self.ring.listener.as_raw_fd()];
        let links = self.links.iter().map(|link| link.stream.as_raw_fd());
        let watch = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut watches: Vec<_> = own.into_iter().chain(links).map(watch).collect();
        let count = watches.len() as libc::nfds_t;
        // SAFETY: there are so many entries.
        let ready = unsafe { libc::poll(watches.as_mut_ptr(), count, -1) };
        match ready {
            0.. => Ok(()),
            _ => match io::Error::last_os_error() {
                error if error.kind() == ErrorKind::Interrupted => Ok(()),
                error => Err(error),
            },
        }
    }
}

impl Link {
    /// Reads a greeting, which tells the process. Returns whether the connection goes on.
    fn read(&mut self, key: u64) -> io::Result<bool> {
        let mut bytes = [0; GREETING];
        let count = match self.stream.read(&mut bytes) {
            Ok(count) => count,
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                return Ok(true);
            }
            Err(error) => return Err(error),
        };
        self.greeting.extend(&bytes[..count]);
        if count == 0 || self.number.is_some() || self.greeting.len() > GREETING {
            return Ok(false);
        }
        if let Ok(whole) = <[u8; GREETING]>::try_from(&self.greeting[..]) {
            let [first, second] = [0, 8].map(|at| {
                let mut word = [0; 8];
                word.copy_from_slice(&whole[at..at + 8]);
                u64::from_le_bytes(word)
            });
            self.number = (first == key).then_some(second as u32);
            return Ok(self.number.is_some());
        }
        Ok(true)
    }
}

/// Returns whether a connection ended by this because nothing came from the other host.
fn is_silence(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ETIMEDOUT | libc::EHOSTUNREACH | libc::ENETUNREACH | libc::EHOSTDOWN)
    )
}

/// Returns whether nobody listens at the address in the name of an endpoint any more. `tcp;ofi_rxm`
/// tells no error of a peer whose process has ended: it connects again and again, and has no room
/// meanwhile.
pub(crate) fn is_refused(name: &[u8]) -> bool {
    /// Longest time that a host may take that is there.
    const LIMIT: Duration = Duration::from_millis(100);
    let port = name
        .get(2..4)
        .map(|port| u16::from_be_bytes([port[0], port[1]]));
    let (Some(address), Some(port)) = (internet_address(name), port) else {
        return false;
    };
    let tried = TcpStream::connect_timeout(&SocketAddr::new(address, port), LIMIT);
    tried.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

/// Returns the address in the name of an endpoint, if that is a sockaddr_in or sockaddr_in6.
fn internet_address(name: &[u8]) -> Option<IpAddr> {
    let (family, _) = name.split_first_chunk::<2>()?;
    match (i32::from(u16::from_ne_bytes(*family)), name.len()) {
        (libc::AF_INET, 16) => {
            let four: [u8; 4] = name[4..8].try_into().ok()?;
            Some(IpAddr::V4(Ipv4Addr::from(four)))
        }
        (libc::AF_INET6, 28) => {
            let six: [u8; 16] = name[8..24].try_into().ok()?;
            Some(IpAddr::V6(Ipv6Addr::from(six)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Instant;

    fn name(last: u8) -> [u8; 16] {
        let mut name = [0; 16];
        name[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
        name[4..8].copy_from_slice(&[127, 0, 0, last]);
        name
    }

    fn ring(number: u32, last: u8) -> Ring {
        let watch = Watch {
            peers: 4,
            silence: Duration::from_secs(5),
            tell: |_, _| panic!("nobody is silent"),
        };
        let key = u64::from(number) + 100;
        let made = Ring::new(watch, (number, key), &name(last));
        made.expect("a port").expect("an internet address")
    }

    #[test]
    fn the_first_process_of_each_host_goes_to_that_of_the_next() {
        // Two processes on each of two hosts.
        for (number, is_first, next) in [(0, true, 2), (1, false, 2), (2, true, 0), (3, false, 0)] {
            let mut ring = ring(number, number as u8 / 2 + 1);
            for peer in 0..4 {
                assert!(!ring.is_whole(peer as usize));
                ring.learn(peer, 0, 1000, &name(peer as u8 / 2 + 1));
            }
            assert!(ring.is_whole(4));
            let found = ring.next.or(ring.first).map(|door| door.number);
            assert_eq!(
                (ring.is_first, found),
                (is_first, Some(next)),
                "process {number}"
            );
        }
    }

    #[test]
    fn names_that_are_no_internet_addresses_are_not_watched() {
        assert_eq!(internet_address(&[]), None);
        assert_eq!(internet_address(&[0; 16]), None);
        assert_eq!(internet_address(&name(1)[..15]), None);
        let six = [
            &(libc::AF_INET6 as u16).to_ne_bytes()[..],
            &[0; 21],
            &[1; 5],
        ]
        .concat();
        let last = Ipv6Addr::from([0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(internet_address(&six[..28]), Some(IpAddr::V6(last)));
    }

    #[test]
    fn ports_without_a_listener_are_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let mut name = name(1);
        name[2..4].copy_from_slice(&port.to_be_bytes());
        assert!(!is_refused(&name));
        drop(listener);
        assert!(is_refused(&name));
        assert!(!is_refused(&name[..3]), "no internet address");
    }

    #[test]
    fn strangers_are_sent_away_and_ends_are_not_silence() {
        let mut ring = ring(0, 1);
        ring.watch.silence = Duration::from_secs(60);
        let at = SocketAddr::new(ring.address, ring.port());
        let next = TcpListener::bind("127.0.0.2:0").expect("a port");
        let port = next.local_addr().expect("an address").port();
        ring.learn(1, 7, port, &name(2));
        let watching = ring.start().expect("a thread");
        let (mut link, _) = next.accept().expect("a connection");
        let mut greeting = [0; GREETING];
        link.read_exact(&mut greeting).expect("a greeting");
        assert_eq!(greeting[..8], 7_u64.to_le_bytes());
        drop(link);
        let mut stranger = TcpStream::connect(at).expect("a connection");
        stranger.write_all(&[9; GREETING]).expect("room");
        assert_eq!(stranger.read(&mut greeting).unwrap_or(0), 0);
        drop(watching);
        // The thread ends, and with it the port.
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || {
            let from = Instant::now();
            while TcpStream::connect(at).is_ok() && from.elapsed() < Duration::from_secs(10) {}
            done.send(from.elapsed()).expect("the test waits");
        });
        let took = is_done.recv().expect("an answer");
        assert!(took < Duration::from_secs(5), "{took:?}");
    }
}
