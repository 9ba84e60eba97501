//! A connection between oshrun and an agent, which never waits, and how long its other end has been silent.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::sys::{self, Watch};
use super::frame::{Frame, LONGEST, LONGEST_GREETING, Malformed};

/// Bytes read in one turn, so that nobody is kept from being heard.
const TURN: usize = 128 * 1024;

/// Beats in the time after which silence ends a job.
const BEATS: u32 = 5;

/// A connection.
#[derive(Debug)]
pub(in super::super) struct Link {
    socket: TcpStream,
    incoming: Vec<u8>,
    /// Number of bytes of `incoming` that were taken.
    taken: usize,
    /// Frames that are not sent yet: those to all hosts are one for all links.
    outgoing: VecDeque<Arc<[u8]>>,
    /// Number of bytes of the first of them that are sent.
    sent: usize,
    /// The longest frame that is taken.
    longest: usize,
    closed: bool,
    silence: Silence,
    /// Time at which something was last to be sent.
    spoke: Instant,
    /// The frames that were sent, and those that were taken.
    pub(in super::super) account: Account,
}

/// Frames and their bytes by kind, sent and taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in super::super) struct Account {
    kinds: BTreeMap<(u8, Way), (u64, u64)>,
}

/// The way of a frame, as the end of the connection sees it that keeps the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Way {
    Sent,
    Taken,
}

impl Account {
    /// Adds `count` frames like this one, which is encoded.
    pub(in super::super) fn add(&mut self, way: Way, count: u64, frame: &[u8]) {
        let Some(&kind) = frame.get(4) else {
            return;
        };
        let (frames, bytes) = self.kinds.entry((kind, way)).or_default();
        *frames += count;
        *bytes += count * frame.len() as u64;
    }

    /// Adds all of another account.
    pub(in super::super) fn join(&mut self, other: &Self) {
        for (kind, (frames, bytes)) in &other.kinds {
            let sum = self.kinds.entry(*kind).or_default();
            sum.0 += frames;
            sum.1 += bytes;
        }
    }

    /// Returns a line for each kind of frames: name, way, frames, bytes.
    pub(in super::super) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.kinds.iter().map(|(&(kind, way), (frames, bytes))| {
            let name = Frame::name_of(kind).unwrap_or("?");
            let way = match way {
                Way::Sent => "sent",
                Way::Taken => "taken",
            };
            format!("{name} {way} {frames} frames {bytes} bytes")
        })
    }
}

impl Link {
    /// Takes over a connection whose other end is not yet known.
    pub(in super::super) fn new(socket: TcpStream) -> std::io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        Ok(Link {
            socket,
            incoming: Vec::new(),
            taken: 0,
            outgoing: VecDeque::new(),
            sent: 0,
            longest: LONGEST_GREETING,
            closed: false,
            silence: Silence::new(None),
            spoke: Instant::now(),
            account: Account::default(),
        })
    }

    /// Trusts the other end, which is known; it may be silent for as long as `patience`, or for
    /// ever.
    pub(in super::super) fn trust(&mut self, patience: Option<Duration>) {
        self.longest = LONGEST;
        self.silence = Silence::new(patience);
    }

    /// Returns the descriptor to poll.
    pub(in super::super) fn watch(&self) -> Option<Watch> {
        if self.closed {
            return None;
        }
        let mut watch = sys::watch(&self.socket, false);
        if !self.outgoing.is_empty() {
            watch.events |= libc::POLLOUT;
        }
        Some(watch)
    }

    /// Sends the bytes that are left, and reads one turn's worth.
    pub(in super::super) fn serve(&mut self) {
        self.flush();
        if self.closed {
            return;
        }
        self.incoming.drain(..self.taken);
        self.taken = 0;
        let start = self.incoming.len();
        self.incoming.resize(start + TURN, 0);
        let read = self.socket.read(&mut self.incoming[start..]);
        self.incoming.truncate(start + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => self.closed = true,
            Ok(_) => self.silence.end(),
            Err(error) if is_for_now(&error) => {}
            Err(_) => self.closed = true,
        }
    }

    /// Takes the next frame that has come.
    ///
    /// # Errors
    /// When the other end does not keep to the protocol.
    pub(in super::super) fn next(&mut self) -> Result<Option<Frame>, Malformed> {
        let mut rest = &self.incoming[self.taken..];
        let frame = Frame::decode(&mut rest, self.longest)?;
        let end = self.incoming.len() - rest.len();
        self.account
            .add(Way::Taken, 1, &self.incoming[self.taken..end]);
        self.taken = end;
        Ok(frame)
    }

    /// Sends a frame, now or later.
    pub(in super::super) fn send(&mut self, frame: &Frame) {
        self.send_encoded(&frame.encode().into());
    }

    /// Sends a frame that is encoded already.
    pub(in super::super) fn send_encoded(&mut self, frame: &Arc<[u8]>) {
        if !self.closed {
            self.account.add(Way::Sent, 1, frame);
            self.outgoing.push_back(Arc::clone(frame));
            self.spoke = Instant::now();
            self.flush();
        }
    }

    fn flush(&mut self) {
        while let Some(frame) = self.outgoing.front()
            && !self.closed
        {
            match self.socket.write(&frame[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_for_now(&error) => break,
                Err(_) => self.closed = true,
            }
            if self.sent == frame.len() {
                self.outgoing.pop_front();
                self.sent = 0;
            }
        }
        if self.closed {
            self.outgoing.clear();
            self.sent = 0;
        }
    }

    /// Returns whether the connection has ended. Frames that have come before can still be taken.
    pub(in super::super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Shows that this end is there, and looks whether the other has been silent for too long.
    pub(in super::super) fn keep_alive(&mut self) -> bool {
        let now = Instant::now();
        if let Some(beat) = self.silence.beat()
            && now.duration_since(self.spoke) >= beat
        {
            self.send(&Frame::Beat {});
        }
        !self.closed && self.silence.is_too_long(now)
    }

    /// Returns the time for which [`Self::keep_alive`] may wait.
    pub(in super::super) fn beat(&self) -> Option<Duration> {
        self.silence.beat()
    }
}

/// Returns whether it may go well another time.
fn is_for_now(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}

/// Time for which nothing has come. Only time counts in which this process could have heard
/// something: one that was stopped, or whose machine stood still, has not listened.
#[derive(Debug)]
struct Silence {
    patience: Option<Duration>,
    lasted: Duration,
    looked: Instant,
}

impl Silence {
    fn new(patience: Option<Duration>) -> Self {
        Silence {
            patience,
            lasted: Duration::ZERO,
            looked: Instant::now(),
        }
    }

    fn beat(&self) -> Option<Duration> {
        self.patience.map(|patience| patience / BEATS)
    }

    /// Ends the silence: something has come.
    fn end(&mut self) {
        self.lasted = Duration::ZERO;
        self.looked = Instant::now();
    }

    fn is_too_long(&mut self, now: Instant) -> bool {
        let (Some(patience), Some(beat)) = (self.patience, self.beat()) else {
            return false;
        };
        self.lasted += now.duration_since(self.looked).min(2 * beat);
        self.looked = now;
        self.lasted >= patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn pair() -> (Link, Link) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (other, _) = listener.accept().unwrap();
        (Link::new(one).unwrap(), Link::new(other).unwrap())
    }

    fn receive(link: &mut Link) -> Result<Option<Frame>, Malformed> {
        for _ in 0..2000 {
            link.serve();
            let frame = link.next();
            if frame != Ok(None) || link.is_closed() {
                return frame;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(None)
    }

    #[test]
    fn frames_of_any_length_arrive() {
        let (mut one, mut other) = pair();
        one.trust(None);
        other.trust(None);
        let frame = |length| Frame::Output {
            way: 0,
            bytes: vec![7; length],
        };
        for length in [0, 1, 3_000_000, 5] {
            one.send(&frame(length));
        }
        for length in [0, 1, 3_000_000, 5] {
            let mut found = Ok(None);
            for _ in 0..10_000 {
                one.flush();
                other.serve();
                found = other.next();
                if found != Ok(None) {
                    break;
                }
                std::thread::sleep(Duration::from_micros(100));
            }
            assert!(found == Ok(Some(frame(length))), "{length}");
        }
        assert!(one.outgoing.is_empty());
    }

    #[test]
    fn a_frame_to_all_hosts_lies_in_memory_once() {
        let (mut one, _other) = pair();
        let (mut two, _third) = pair();
        let frame: Arc<[u8]> = vec![7; 30_000_000].into();
        for link in [&mut one, &mut two] {
            link.send_encoded(&frame);
            assert!(Arc::ptr_eq(&link.outgoing[0], &frame));
        }
    }

    #[test]
    fn frames_are_counted() {
        let (mut one, mut other) = pair();
        for _ in 0..2 {
            one.send(&Frame::Beat {});
        }
        one.send(&Frame::Unread { way: 0 });
        for _ in 0..3 {
            assert!(matches!(receive(&mut other), Ok(Some(_))));
        }
        let lines = |link: &Link| link.account.lines().collect::<Vec<_>>();
        let sent = [
            "Beat sent 2 frames 10 bytes",
            "Unread sent 1 frames 6 bytes",
        ];
        assert_eq!(lines(&one), sent);
        assert_eq!(
            lines(&other),
            sent.map(|line| line.replace("sent", "taken"))
        );
        let mut both = one.account.clone();
        both.join(&one.account);
        assert_eq!(both.lines().next().unwrap(), "Beat sent 4 frames 20 bytes");
    }

    #[test]
    fn who_is_not_known_sends_little() {
        let (mut one, mut other) = pair();
        one.send(&Frame::Output {
            way: 0,
            bytes: vec![7; LONGEST_GREETING],
        });
        assert!(receive(&mut other).is_err());
    }

    #[test]
    fn last_words_are_heard() {
        let (mut one, mut other) = pair();
        one.send(&Frame::Beat {});
        drop(one);
        assert_eq!(receive(&mut other), Ok(Some(Frame::Beat {})));
        assert_eq!(receive(&mut other), Ok(None));
        assert!(other.is_closed() && other.watch().is_none());
    }

    #[test]
    fn silence_counts_while_one_listens() {
        let patience = Duration::from_secs(5);
        let mut silence = Silence::new(Some(patience));
        let start = silence.looked;
        let second = |number| start + Duration::from_secs(number);
        assert!(!(1..5).any(|number| silence.is_too_long(second(number))));
        assert!(silence.is_too_long(second(5)));
        silence.lasted = Duration::ZERO;
        silence.looked = start;
        // This process was stopped for an hour: that is two beats.
        assert!(!silence.is_too_long(second(3600)));
        assert!(!silence.is_too_long(second(3602)));
        assert!(silence.is_too_long(second(3603)));
        assert!(!Silence::new(None).is_too_long(second(3600)));
    }
}
