//! The way in which an agent finds oshrun, and makes sure that it is the one.

use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::super::hosts::{Call, Frame, Link, Role, Secret, VERSION, random, same};
use super::super::sys::{self, Signals};
use super::super::{Failure, report};

/// Time that the secret may take.
const SECRET: Duration = Duration::from_secs(30);

/// Times that each address may take, when all are tried one after the other, and then again.
const TRIES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

/// Time that a greeting may take.
const GREETING: Duration = Duration::from_secs(3);

fn failed(message: impl Into<String>) -> Failure {
    Failure::new(1, message)
}

/// Waits until `fd` can be read.
fn wait(watch: sys::Watch, signals: &Signals, until: Instant) -> Result<bool, Failure> {
    loop {
        let mut watches = [sys::watch(signals, false), watch];
        let left = until.saturating_duration_since(Instant::now());
        sys::poll(&mut watches, Some(left));
        while let Some(signal) = signals.next() {
            if signal != libc::SIGCHLD {
                return Err(report::interrupted(signal, "the agent was being set up"));
            }
        }
        if watches[1].revents != 0 {
            return Ok(true);
        }
        if left.is_zero() {
            return Ok(false);
        }
    }
}

/// Reads the first line of the standard input.
pub(super) fn read_secret(signals: &Signals) -> Result<Secret, Failure> {
    let (stdin, until) = (std::io::stdin(), Instant::now() + SECRET);
    let mut line = String::new();
    let mut lock = stdin.lock();
    while !line.ends_with('\n') && line.len() < 200 {
        let mut byte = [0];
        // std's buffer holds the rest of an earlier read.
        let read = if line.is_empty() && !wait(sys::watch(&stdin, false), signals, until)? {
            0
        } else {
            lock.read(&mut byte).unwrap_or(0)
        };
        if read == 0 {
            return Err(failed("no secret came on the agent's standard input"));
        }
        line.push(char::from(byte[0]));
    }
    Secret::parse(&line)
        .ok_or_else(|| failed("what came on the agent's standard input is no secret"))
}

/// Connects to oshrun.
pub(super) fn connect(call: &Call, secret: &Secret, signals: &Signals) -> Result<Link, Failure> {
    let mut addresses = resolve(call);
    // Networks that both are in are the most likely way.
    let networks = sys::networks();
    addresses.sort_by_key(|address| {
        !networks
            .iter()
            .any(|&(own, mask)| shares(own, mask, address.ip()))
    });
    let mut last = None;
    for time in TRIES {
        for address in &addresses {
            match TcpStream::connect_timeout(address, time) {
                Ok(socket) => match greet(socket, call, secret, signals)? {
                    Ok(link) => return Ok(link),
                    Err(why) => last = Some(format!("{address}: {why}")),
                },
                Err(error) => last = Some(format!("{address}: {error}")),
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let (addresses, port) = (call.addresses.join(", "), call.port);
    let last = last.map_or(String::new(), |last| format!(" (at last {last})"));
    Err(failed(format!(
        "oshrun cannot be reached from here at {addresses}, port {port}{last}; FARREACH_HOST_ADDRESS, set for oshrun, names the address to use"
    )))
}

/// Returns all addresses that the names and addresses stand for.
fn resolve(call: &Call) -> Vec<SocketAddr> {
    let names = call.addresses.iter();
    let found = names.filter_map(|name| (name.as_str(), call.port).to_socket_addrs().ok());
    found.flatten().collect()
}

/// Returns whether `other` is in the network of `own`.
fn shares(own: IpAddr, mask: IpAddr, other: IpAddr) -> bool {
    match (own, mask, other) {
        (IpAddr::V4(own), IpAddr::V4(mask), IpAddr::V4(other)) => {
            own.to_bits() & mask.to_bits() == other.to_bits() & mask.to_bits()
        }
        (IpAddr::V6(own), IpAddr::V6(mask), IpAddr::V6(other)) => {
            own.to_bits() & mask.to_bits() == other.to_bits() & mask.to_bits()
        }
        _ => false,
    }
}

/// Makes sure that this is oshrun, and shows it that this is an agent; the inner error is why it is not.
fn greet(
    socket: TcpStream,
    call: &Call,
    secret: &Secret,
    signals: &Signals,
) -> Result<Result<Link, String>, Failure> {
    let own = random().map_err(|error| failed(format!("cannot read /dev/urandom: {error}")))?;
    let mut link = match Link::new(socket) {
        Ok(link) => link,
        Err(error) => return Ok(Err(error.to_string())),
    };
    link.send(&Frame::Hello {
        version: VERSION,
        host: call.host.clone(),
        nonce: own,
    });
    let until = Instant::now() + GREETING;
    loop {
        match link.next() {
            Ok(Some(Frame::Welcome { version, .. })) if version != VERSION => {
                return Err(failed(format!(
                    "this is another version of Farreach than that of oshrun (it speaks protocol {version}, this one {VERSION}); --prefix tells where the same one is installed"
                )));
            }
            Ok(Some(Frame::Welcome {
                nonce,
                proof,
                patience,
                ..
            })) if same(
                &proof,
                &secret.proof(Role::Oshrun, &call.host, &own, &nonce),
            ) =>
            {
                let proof = secret.proof(Role::Agent, &call.host, &own, &nonce);
                link.send(&Frame::Known { proof });
                let patience = Duration::from_millis(patience.into());
                link.trust((!patience.is_zero()).then_some(patience));
                return Ok(Ok(link));
            }
            Ok(None) => {}
            Ok(Some(_)) | Err(_) => return Ok(Err("somebody else answers there".to_owned())),
        }
        let Some(watch) = link.watch() else {
            return Ok(Err("the connection was closed".to_owned()));
        };
        if !wait(watch, signals, until)? {
            return Ok(Err("nobody answers there".to_owned()));
        }
        link.serve();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for (own, mask, other, same) in [
            ("10.1.2.3", "255.255.0.0", "10.1.9.9", true),
            ("10.1.2.3", "255.255.0.0", "10.2.2.3", false),
            ("fd00::1", "ffff:ffff:ffff:ffff::", "fd00::9", true),
            ("fd00::1", "ffff:ffff:ffff:ffff::", "10.1.2.3", false),
        ] {
            assert_eq!(shares(ip(own), ip(mask), ip(other)), same, "{own} {other}");
        }
    }
}
