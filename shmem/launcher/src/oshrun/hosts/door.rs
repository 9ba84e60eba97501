//! The door for agents: a process that connects is nobody until it has shown that it knows the
//! job's secret, and may neither send much nor stay for long.

use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use super::super::sys::{self, Watch};
use super::super::{Failure, USAGE};
use super::frame::{Frame, Nonce, VERSION};
use super::link::Link;
use super::secret::{Role, Secret, random, same};

/// Time that a guest may take.
const VISIT: Duration = Duration::from_secs(5);

/// Guests at a time; one more has the first of them go.
const MOST_GUESTS: usize = 256;

/// Connections taken in one turn.
const TURN: usize = 32;

/// Names the addresses by which other hosts reach this one.
const ADDRESS_VARIABLE: &str = "FARREACH_HOST_ADDRESS";

/// A process that has connected and is not known yet.
#[derive(Debug)]
struct Guest {
    link: Link,
    since: Instant,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Nothing was said.
    New,
    /// It was welcomed: the host that it names, its number and oshrun's.
    Welcomed(String, Nonce, Nonce),
    /// It knows the secret.
    Known(String),
    /// It goes.
    Refused,
}

/// The owner of a [`Watch`] of [`Door::watches`].
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Token {
    Listener,
    Guest(usize),
}

/// The listening socket and those that have come.
pub(super) struct Door {
    listener: TcpListener,
    secret: Secret,
    patience: Option<Duration>,
    guests: Vec<Guest>,
}

impl Door {
    /// Listens on a port that is free, at all addresses.
    pub(super) fn open(secret: Secret, patience: Option<Duration>) -> std::io::Result<Self> {
        let both = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
        let listener = TcpListener::bind(both).or_else(|_| TcpListener::bind("0.0.0.0:0"))?;
        listener.set_nonblocking(true)?;
        Ok(Door {
            listener,
            secret,
            patience,
            guests: Vec::new(),
        })
    }

    pub(super) fn port(&self) -> u16 {
        self.listener
            .local_addr()
            .map_or(0, |address| address.port())
    }

    /// Returns the descriptors to poll, with their owners.
    pub(super) fn watches(&self) -> Vec<(Watch, Token)> {
        let guest =
            |(index, guest): (usize, &Guest)| Some((guest.link.watch()?, Token::Guest(index)));
        let guests = self.guests.iter().enumerate().filter_map(guest);
        let listener = (sys::watch(&self.listener, false), Token::Listener);
        [listener].into_iter().chain(guests).collect()
    }

    /// Serves a descriptor that poll has found ready.
    pub(super) fn serve(&mut self, token: Token) {
        match token {
            Token::Listener => {
                for _ in 0..TURN {
                    let Ok((socket, _)) = self.listener.accept() else {
                        return;
                    };
                    if let Ok(link) = Link::new(socket) {
                        self.guests.push(Guest {
                            link,
                            since: Instant::now(),
                            stage: Stage::New,
                        });
                    }
                }
            }
            Token::Guest(index) => self.greet(index),
        }
    }

    fn greet(&mut self, index: usize) {
        let guest = &mut self.guests[index];
        guest.link.serve();
        while matches!(guest.stage, Stage::New | Stage::Welcomed(..)) {
            let frame = match guest.link.next() {
                Ok(Some(frame)) => frame,
                Ok(None) => return,
                Err(_) => {
                    guest.stage = Stage::Refused;
                    return;
                }
            };
            let stage = std::mem::replace(&mut guest.stage, Stage::Refused);
            guest.stage = match (stage, frame) {
                (
                    Stage::New,
                    Frame::Hello {
                        host,
                        nonce,
                        version,
                    },
                ) => {
                    let Ok(own) = random() else {
                        return;
                    };
                    // One of another version is told which this is, and goes by itself.
                    let proof = self.secret.proof(Role::Oshrun, &host, &nonce, &own);
                    let patience = self.patience.unwrap_or_default().as_millis();
                    guest.link.send(&Frame::Welcome {
                        version: VERSION,
                        nonce: own,
                        proof,
                        patience: u32::try_from(patience).unwrap_or(u32::MAX),
                    });
                    if version == VERSION {
                        Stage::Welcomed(host, nonce, own)
                    } else {
                        Stage::Refused
                    }
                }
                (Stage::Welcomed(host, agents, own), Frame::Known { proof })
                    if same(
                        &proof,
                        &self.secret.proof(Role::Agent, &host, &agents, &own),
                    ) =>
                {
                    Stage::Known(host)
                }
                _ => Stage::Refused,
            };
        }
    }

    /// Returns the agents that are known now; others that have stayed too long go.
    pub(super) fn arrivals(&mut self) -> Vec<(String, Link)> {
        let mut known = Vec::new();
        let surplus = self.guests.len().saturating_sub(MOST_GUESTS);
        for (index, mut guest) in std::mem::take(&mut self.guests).into_iter().enumerate() {
            match guest.stage {
                Stage::Known(host) => known.push((host, guest.link)),
                // An answer is sent before it goes.
                Stage::Refused => guest.link.serve(),
                _ if index < surplus
                    || guest.since.elapsed() >= VISIT
                    || guest.link.is_closed() => {}
                _ => self.guests.push(guest),
            }
        }
        known
    }
}

/// Returns the addresses by which agents may reach this machine, in the order in which to try them.
pub(super) fn addresses() -> Result<Vec<String>, Failure> {
    let given = std::env::var(ADDRESS_VARIABLE).unwrap_or_default();
    if given.is_empty() {
        let mut found: Vec<IpAddr> = sys::networks()
            .into_iter()
            .map(|(address, _)| address)
            .collect();
        // Addresses of a link alone need its name, which differs between hosts.
        found.retain(|address| match address {
            IpAddr::V4(address) => !address.is_link_local(),
            IpAddr::V6(address) => !address.is_unicast_link_local(),
        });
        found.sort_by_key(|address| (address.is_loopback(), address.is_ipv6()));
        found.dedup();
        return Ok(found.iter().map(IpAddr::to_string).collect());
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:%".contains(&byte);
    let words: Vec<String> = given
        .split(',')
        .map(|word| word.trim().to_owned())
        .collect();
    if words
        .iter()
        .all(|word| !word.is_empty() && word.bytes().all(plain))
    {
        Ok(words)
    } else {
        Err(Failure::new(
            USAGE,
            format!(
                "{ADDRESS_VARIABLE} is \"{given}\": it takes addresses or names with commas between"
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    struct Agent(Link, Nonce);

    impl Agent {
        fn new(door: &Door) -> Self {
            let socket = TcpStream::connect(("127.0.0.1", door.port())).unwrap();
            Agent(Link::new(socket).unwrap(), [5; 16])
        }

        fn hello(&mut self, version: u16) {
            self.0.send(&Frame::Hello {
                version,
                host: "b".to_owned(),
                nonce: self.1,
            });
        }

        /// Reads the answer: oshrun's number and proof.
        fn welcome(&mut self, door: &mut Door) -> Option<(Nonce, [u8; 32])> {
            for _ in 0..200 {
                turn(door);
                self.0.serve();
                if let Ok(Some(Frame::Welcome { nonce, proof, .. })) = self.0.next() {
                    return Some((nonce, proof));
                }
            }
            None
        }

        fn known(&mut self, secret: &Secret, role: Role, nonce: &Nonce) {
            let proof = secret.proof(role, "b", &self.1, nonce);
            self.0.send(&Frame::Known { proof });
        }
    }

    fn turn(door: &mut Door) {
        let (mut watches, tokens): (Vec<_>, Vec<_>) = door.watches().into_iter().unzip();
        sys::poll(&mut watches, Some(Duration::from_millis(5)));
        for (watch, token) in watches.iter().zip(tokens) {
            if watch.revents != 0 {
                door.serve(token);
            }
        }
    }

    /// Returns the agents that are known after some turns.
    fn arrivals(door: &mut Door) -> Vec<String> {
        let mut known = Vec::new();
        for _ in 0..10 {
            turn(door);
            known.extend(door.arrivals().into_iter().map(|(host, _)| host));
        }
        known
    }

    fn door() -> Door {
        Door::open(Secret::new().unwrap(), None).unwrap()
    }

    #[test]
    fn who_knows_the_secret_comes_in() {
        let mut door = door();
        let secret = door.secret.clone();
        let mut agent = Agent::new(&door);
        agent.hello(VERSION);
        let (nonce, proof) = agent.welcome(&mut door).unwrap();
        assert!(same(
            &proof,
            &secret.proof(Role::Oshrun, "b", &agent.1, &nonce)
        ));
        agent.known(&secret, Role::Agent, &nonce);
        assert_eq!(arrivals(&mut door), ["b"]);
    }

    #[test]
    fn strangers_stay_out() {
        let mut door = door();
        let secret = door.secret.clone();
        let wrong = Secret::new().unwrap();
        let tries: [(&str, &Secret, Role, Option<Nonce>); 3] = [
            ("another secret", &wrong, Role::Agent, None),
            ("oshrun's own proof", &secret, Role::Oshrun, None),
            (
                "a proof of another time",
                &secret,
                Role::Agent,
                Some([0; 16]),
            ),
        ];
        for (name, secret, role, other) in tries {
            let mut agent = Agent::new(&door);
            agent.hello(VERSION);
            let (nonce, _) = agent.welcome(&mut door).unwrap();
            agent.known(secret, role, &other.unwrap_or(nonce));
            assert!(arrivals(&mut door).is_empty(), "{name}");
            assert!(door.guests.is_empty(), "{name}");
        }
        // One that skips the greeting, one that talks of something else, one that says too much.
        let mut agents = [Agent::new(&door), Agent::new(&door), Agent::new(&door)];
        agents[0].known(&secret, Role::Agent, &[0; 16]);
        agents[1].0.send(&Frame::Over {});
        agents[2].0.send(&Frame::Input {
            bytes: vec![0; 5000],
        });
        assert!(arrivals(&mut door).is_empty() && door.guests.is_empty());
    }

    #[test]
    fn another_version_is_told_which_this_is() {
        let mut door = door();
        let mut agent = Agent::new(&door);
        agent.hello(VERSION + 1);
        assert!(agent.welcome(&mut door).is_some());
        assert!(arrivals(&mut door).is_empty());
    }

    #[test]
    fn many_who_say_nothing_are_bounded() {
        let mut door = door();
        let mut agents = Vec::new();
        for _ in 0..MOST_GUESTS / TURN + 2 {
            // The listener keeps a hundred waiting, no more.
            agents.extend((0..TURN).map(|_| Agent::new(&door)));
            for _ in 0..3 {
                turn(&mut door);
                door.arrivals();
            }
            assert!(door.guests.len() <= MOST_GUESTS);
        }
        assert_eq!(door.guests.len(), MOST_GUESTS);
        drop(agents);
    }
}
