//! The processes of a benchmark, on this machine and perhaps on a second one: their start, and
//! their meeting.
//!
//! The command itself starts them and brings together their words (TCP, a line each): it moves no
//! data. On the second machine `endpoints serve` starts the processes that it is asked for. Without
//! one, all processes are on this machine.

#![expect(
    unsafe_code,
    reason = "asks the kernel to end what would be left behind"
)]

use crate::error::{Error, Result};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::process::{Child, Command};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Port on which `endpoints serve` listens unless told otherwise.
pub(crate) const PORT: u16 = 18_515;
/// Time that all processes may take to start.
const START: Duration = Duration::from_secs(60);
/// Time between two looks at the processes that have come.
const LOOK: Duration = Duration::from_millis(2);

/// The words between a process and the command.
const JOIN: &str = "join";
const SAY: &str = "say";
const END: &str = "end";
const FAIL: &str = "fail";

/// Place in which the processes run.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The machine of the second half, `HOST[:PORT]`; this one if there is none.
    pub(crate) server: Option<String>,
    /// The device to be used here.
    pub(crate) device: Option<String>,
}

/// Runs a benchmark of twice `per_node` processes, of which the first half is this machine's;
/// returns the last words of each.
pub(crate) fn run(place: &Place, per_node: usize, plan: &str) -> Result<Vec<String>> {
    let size = 2 * per_node;
    let control = place.server.as_deref().map(call).transpose()?;
    let host = match &control {
        Some(control) => control
            .local_addr()
            .map_err(Error::job("local address"))?
            .ip(),
        None => IpAddr::V4(Ipv4Addr::LOCALHOST),
    };
    let listener = TcpListener::bind((host, 0)).map_err(Error::job("listening"))?;
    let address = listener.local_addr().map_err(Error::job("listening"))?;
    let mut children = Children::default();
    let here = if control.is_some() { per_node } else { size };
    for rank in 0..here {
        children.start(address, rank, place.device.as_deref())?;
    }
    if let Some(mut control) = control.as_ref() {
        writeln!(control, "start {address} {per_node} {size}").map_err(Error::job("the server"))?;
    }
    let streams = welcome(&listener, size, &mut children)?;
    let said = bring_together(streams, plan)?;
    children.wait()?;
    Ok(said)
}

/// Returns a connection to `endpoints serve`.
fn call(server: &str) -> Result<TcpStream> {
    let tried = || Error::job(server.to_owned());
    let stream = if server.contains(':') {
        TcpStream::connect(server)
    } else {
        TcpStream::connect((server, PORT))
    };
    stream.map_err(tried())
}

/// Starts processes for others, one benchmark after the other, until this is killed.
pub(crate) fn serve(port: u16, device: Option<&str>) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))
        .map_err(Error::job(format!("port {port}")))?;
    loop {
        let (stream, peer) = listener.accept().map_err(Error::job("accepting"))?;
        if let Err(error) = serve_one(stream, device) {
            eprintln!("endpoints: for {peer}: {error}");
        }
    }
}

fn serve_one(stream: TcpStream, device: Option<&str>) -> Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).map_err(Error::job("reading"))?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["start", address, first, behind] = words[..] else {
        return Err(Error::Words(line));
    };
    let (Ok(address), Ok(first), Ok(behind)) =
        (address.parse(), first.parse(), behind.parse::<usize>())
    else {
        return Err(Error::Words(line));
    };
    let mut children = Children::default();
    for rank in first..behind {
        children.start(address, rank, device)?;
    }
    // The command closes the connection when the job is over, in any way; then the rest is ended.
    line.clear();
    let _ = reader.read_line(&mut line);
    Ok(())
}

/// Processes that were started here; those that still run are killed when this is dropped.
#[derive(Default)]
struct Children(Vec<(usize, Child)>);

impl Children {
    fn start(&mut self, address: SocketAddr, rank: usize, device: Option<&str>) -> Result<()> {
        let tried = || Error::job("starting a process");
        let program = std::env::current_exe().map_err(tried())?;
        let mut command = Command::new(program);
        command.args(["member", &address.to_string(), &rank.to_string()]);
        if let Some(device) = device {
            command.args(["--device", device]);
        }
        self.0.push((rank, command.spawn().map_err(tried())?));
        Ok(())
    }

    /// Returns an error if one has ended already.
    fn look(&mut self) -> Result<()> {
        for (rank, child) in &mut self.0 {
            if let Some(status) = child.try_wait().map_err(Error::job("waiting"))? {
                let what = format!("has ended early ({status})");
                return Err(Error::Member { rank: *rank, what });
            }
        }
        Ok(())
    }

    fn wait(mut self) -> Result<()> {
        for (rank, mut child) in self.0.drain(..) {
            let status = child.wait().map_err(Error::job("waiting"))?;
            if !status.success() {
                let what = format!("has ended with {status}");
                return Err(Error::Member { rank, what });
            }
        }
        Ok(())
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for (_, child) in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits until all processes have come; their connections in the order of ranks.
fn welcome(listener: &TcpListener, size: usize, children: &mut Children) -> Result<Vec<TcpStream>> {
    let tried = || Error::job("accepting");
    listener.set_nonblocking(true).map_err(tried())?;
    let begin = Instant::now();
    let mut streams: Vec<Option<TcpStream>> = (0..size).map(|_| None).collect();
    while let Some(missing) = streams.iter().position(Option::is_none) {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).map_err(tried())?;
                stream.set_nodelay(true).map_err(tried())?;
                let line = read_line(&mut BufReader::with_capacity(1, &stream)).map_err(tried())?;
                let rank = line
                    .strip_prefix(JOIN)
                    .and_then(|rank| rank.trim().parse().ok());
                match rank.and_then(|rank: usize| streams.get_mut(rank)) {
                    Some(place) if place.is_none() => *place = Some(stream),
                    _ => return Err(Error::Words(line)),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                children.look()?;
                if begin.elapsed() > START {
                    let what = format!("has not started in {} s", START.as_secs());
                    return Err(Error::Member {
                        rank: missing,
                        what,
                    });
                }
                thread::sleep(LOOK);
            }
            Err(error) => return Err(tried()(error)),
        }
    }
    Ok(streams.into_iter().flatten().collect())
}

/// Tells the plan, and brings together all words until all are at their ends.
fn bring_together(streams: Vec<TcpStream>, plan: &str) -> Result<Vec<String>> {
    let size = streams.len();
    let (sender, receiver) = mpsc::channel();
    let tried = || Error::job("a process of the benchmark");
    for (rank, mut stream) in streams.iter().enumerate() {
        writeln!(stream, "{size} {plan}").map_err(tried())?;
        let own = stream.try_clone().map_err(tried())?;
        let sender = sender.clone();
        thread::spawn(move || listen(rank, own, &sender));
    }
    let said = conduct(&streams, &receiver);
    if said.is_err() {
        // A process that waits for the others learns that there is nothing to wait for.
        for stream in &streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
    said
}

/// Passes on to all the words of each, until all are at their ends.
fn conduct(
    streams: &[TcpStream],
    receiver: &Receiver<(usize, Option<String>)>,
) -> Result<Vec<String>> {
    loop {
        let said = hear_all(streams.len(), receiver)?;
        let ends = said.iter().filter(|(word, _)| word == END).count();
        let said: Vec<String> = said.into_iter().map(|(_, text)| text).collect();
        if ends == said.len() {
            return Ok(said);
        }
        if ends > 0 {
            let what = "some are at their ends, others are not";
            return Err(Error::Words(what.to_owned()));
        }
        let all = said.join("\n") + "\n";
        for mut stream in streams {
            stream
                .write_all(all.as_bytes())
                .map_err(Error::job("a process of the benchmark"))?;
        }
    }
}

/// Passes on the words of a process, and that it is gone.
fn listen(rank: usize, stream: TcpStream, to: &Sender<(usize, Option<String>)>) {
    let mut reader = BufReader::new(stream);
    loop {
        let line = read_line(&mut reader).ok();
        let gone = line.is_none();
        if to.send((rank, line)).is_err() || gone {
            return;
        }
    }
}

/// Returns one line of each process: its first word and the rest.
fn hear_all(
    size: usize,
    from: &Receiver<(usize, Option<String>)>,
) -> Result<Vec<(String, String)>> {
    let mut all: Vec<Option<(String, String)>> = vec![None; size];
    while all.iter().any(Option::is_none) {
        let Ok((rank, line)) = from.recv() else {
            return Err(Error::Words("all are gone".to_owned()));
        };
        let early = || Error::Member {
            rank,
            what: "has ended early".to_owned(),
        };
        let Some(line) = line else {
            // After its end, nothing more is expected.
            if all[rank].as_ref().is_some_and(|(word, _)| word == END) {
                continue;
            }
            return Err(early());
        };
        let (word, text) = line.split_once(' ').unwrap_or((&line, ""));
        if word == FAIL {
            return Err(Error::Member {
                rank,
                what: format!("says: {text}"),
            });
        }
        all[rank] = Some((word.to_owned(), text.to_owned()));
    }
    Ok(all.into_iter().flatten().collect())
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

/// A process of a benchmark, as it sees itself.
pub(crate) struct Member {
    /// The number of this process.
    pub(crate) rank: usize,
    /// Number of processes; the first half are on the first machine.
    pub(crate) size: usize,
    /// The plan of all.
    pub(crate) plan: String,
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Member {
    /// Comes to the command at `address`.
    pub(crate) fn join(address: impl ToSocketAddrs, rank: usize) -> Result<Self> {
        let tried = || Error::job("joining");
        let mut stream = TcpStream::connect(address).map_err(tried())?;
        stream.set_nodelay(true).map_err(tried())?;
        writeln!(stream, "{JOIN} {rank}").map_err(tried())?;
        let mut reader = BufReader::new(stream.try_clone().map_err(tried())?);
        let line = read_line(&mut reader).map_err(tried())?;
        let (size, plan) = line.split_once(' ').unwrap_or((&line, ""));
        let size = size.parse().map_err(|_| Error::Words(line.clone()))?;
        Ok(Self {
            rank,
            size,
            plan: plan.to_owned(),
            stream,
            reader,
        })
    }

    /// Tells all others `own`, a line, and hears the lines of all, in the order of ranks. Nobody
    /// returns before all have come.
    pub(crate) fn exchange(&mut self, own: &str) -> Result<Vec<String>> {
        let tried = || Error::job("meeting the others");
        writeln!(self.stream, "{SAY} {own}").map_err(tried())?;
        let reader = &mut self.reader;
        (0..self.size)
            .map(|_| read_line(reader).map_err(tried()))
            .collect()
    }

    /// Waits until all have come.
    pub(crate) fn barrier(&mut self) -> Result<()> {
        self.exchange("").map(drop)
    }

    /// Tells the command the result, or the reason for which there is none: the last word.
    pub(crate) fn end(mut self, result: std::result::Result<String, String>) -> Result<()> {
        let line = match result {
            Ok(text) => format!("{END} {text}"),
            Err(why) => format!("{FAIL} {why}").replace('\n', " "),
        };
        writeln!(self.stream, "{line}").map_err(Error::job("ending"))
    }
}

/// Has this process killed when its parent is gone: nobody else would end one that waits for a device.
pub(crate) fn end_with_parent() {
    // SAFETY: the call takes a number, and changes nothing but the signal then.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of `size` threads in place of processes.
    fn together(size: usize, body: fn(Member) -> Result<()>) -> Result<Vec<String>> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let members: Vec<_> = (0..size)
            .map(|rank| thread::spawn(move || body(Member::join(address, rank).unwrap())))
            .collect();
        let streams = welcome(&listener, size, &mut Children::default()).unwrap();
        let said = bring_together(streams, "a plan");
        for member in members {
            let _ = member.join();
        }
        said
    }

    #[test]
    fn everybody_hears_everybody_in_the_order_of_ranks() {
        let said = together(3, |mut member| {
            assert_eq!((member.size, member.plan.as_str()), (3, "a plan"));
            let rank = member.rank;
            for turn in 0..4 {
                let heard = member.exchange(&format!("{rank} in {turn}"))?;
                let expected: Vec<_> = (0..3).map(|rank| format!("{rank} in {turn}")).collect();
                assert_eq!(heard, expected);
            }
            member.barrier()?;
            member.end(Ok(format!("{rank} is done")))
        });
        assert_eq!(said.unwrap(), ["0 is done", "1 is done", "2 is done"]);
    }

    #[test]
    fn who_fails_or_leaves_ends_the_benchmark() {
        let failed = together(2, |member| match member.rank {
            0 => member.end(Err("nothing".to_owned())),
            _ => member.end(Ok(String::new())),
        });
        assert!(failed.unwrap_err().to_string().contains("process 0"));
        let left = together(2, |mut member| {
            if member.rank == 1 {
                Ok(())
            } else {
                member.barrier()
            }
        });
        assert!(left.unwrap_err().to_string().contains("process 1"));
    }
}
