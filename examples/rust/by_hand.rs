//! Two processes without a launcher: each is started by hand, in a terminal of its own.
//!
//! The first prints its address; the second gets it as its argument, and introduces itself by a
//! message. Each then sends a greeting, writes a line to the other's memory, reads it back, and
//! adds to a counter that lies with the first.
//!
//! Usage: `by_hand`, and in the other terminal `by_hand ADDRESS`

#![expect(unsafe_code, reason = "the fabric stores to buffers given by address")]

use fi_provider::raw::address::Address;
use fi_provider::raw::address_vector::{AddressVector, PeerIndex};
use fi_provider::raw::completion::{CompletionQueue, Counted};
use fi_provider::raw::domain::{self, Domain};
use fi_provider::raw::endpoint::{Atomic, Config, Endpoint, Posted};
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Addressing, Rights};
use std::process::ExitCode;
use std::time::Duration;

/// The key of the memory that each process lets the other use: a counter, and a line behind it.
const KEY: u64 = 1;
/// Place at which the line begins.
const LINE: u64 = 64;
/// The sum that each process adds to the counter, one by one.
const ROUNDS: u64 = 1000;
/// Time between two looks of a waiting process whether its peer is still there.
const LOOK: Duration = Duration::from_millis(200);

/// The own endpoint, and where it reports.
struct Own {
    endpoint: Endpoint,
    queue: CompletionQueue,
}

impl Own {
    /// Waits for the next message, as long as the peer, if it is known by now, is there.
    fn message(&self, peer: Option<PeerIndex>) -> Result<Vec<u8>, Error> {
        let mut buffer = [0; 256];
        let once = Posted {
            context: 0,
            source: peer,
            least: None,
        };
        // SAFETY: the buffer is used by nobody else until its entry is there; where the function
        // fails without, the program ends.
        unsafe {
            self.endpoint
                .post_receive(buffer.as_mut_ptr(), buffer.len(), once)
        };
        let mut entry = None;
        while !self.endpoint.wait(LOOK, || {
            entry = self.queue.next();
            entry.is_some()
        }) {
            if let Some(peer) = peer {
                self.endpoint.resolve(peer, KEY)?;
            }
        }
        match entry {
            Some(Ok(entry)) => Ok(buffer[..entry.len].to_vec()),
            Some(Err(failure)) => Err(failure.error),
            None => Err(Error::PeerGone),
        }
    }

    fn greet(&self, peer: PeerIndex) -> Result<(), Error> {
        let greeting = format!("Hello from process {}", std::process::id());
        self.endpoint.inject(peer, greeting.as_bytes())?;
        let answer = self.message(Some(peer))?;
        println!("The peer says: {}", String::from_utf8_lossy(&answer));
        Ok(())
    }

    /// Writes a line to the peer's memory, and reads it back.
    fn write(&self, peer: PeerIndex) -> Result<(), Error> {
        let region = self.endpoint.resolve(peer, KEY)?;
        let line = format!("written by process {}", std::process::id());
        self.endpoint
            .inject_write(&region, LINE, line.as_bytes(), Counted)?;
        let mut back = vec![0; line.len()];
        // SAFETY: `back` has room for the bytes, and stays until all operations are done.
        unsafe {
            self.endpoint
                .read(&region, LINE, back.as_mut_ptr(), back.len(), Counted)?
        };
        self.endpoint.quiet(Duration::MAX);
        println!("In the peer's memory: {}", String::from_utf8_lossy(&back));
        Ok(())
    }

    /// Adds 1 to the counter of an endpoint, many times, and reads it when both have done so.
    fn count(&self, peer: PeerIndex, owner: PeerIndex) -> Result<u64, Error> {
        let counter = self.endpoint.resolve(owner, KEY)?;
        let add = |operand| -> Result<u64, Error> {
            let (mut before, word, operation) = (0_u64, (0, 8), Atomic::Add);
            let found = (&raw mut before).cast();
            // SAFETY: `before` is a word, and stays until all operations are done.
            unsafe {
                let operands = (operand, 0);
                self.endpoint
                    .fetch_atomic(&counter, word, operation, operands, found, Counted)?;
            }
            self.endpoint.quiet(Duration::MAX);
            Ok(before)
        };
        for _ in 0..ROUNDS {
            add(1)?;
        }
        self.endpoint.inject(peer, b"done")?;
        self.message(Some(peer))?;
        let sum = add(0)?;
        // The owner's memory stays until the other has read it.
        self.endpoint.inject(peer, b"bye")?;
        self.message(Some(peer))?;
        Ok(sum)
    }
}

fn run(address: Option<String>) -> Result<(), String> {
    let told = address.as_deref().map(|text| {
        let address = text.parse::<Address>();
        address.map_err(|error| format!("ADDRESS is {text:?}: {error}"))
    });
    let told = told.transpose()?;
    let text = |error: Error| error.to_string();
    let domain = Domain::open(domain::Config::default()).map_err(text)?;
    let memory = domain.allocate(4096, Rights::ALL, Some(KEY), Addressing::Offset);
    let _memory = memory.map_err(text)?;
    let (peers, queue) = (AddressVector::new(), CompletionQueue::new(16));
    let endpoint = Endpoint::open(&domain, &peers, Config::new(&queue)).map_err(text)?;
    let own = Own { endpoint, queue };
    let address = own.endpoint.address();
    let here = peers.insert(&address).map_err(text)?;
    let (peer, owner) = if let Some(first) = told {
        let peer = peers.insert(&first).map_err(text)?;
        let introduced = own.endpoint.inject(peer, &address.to_bytes());
        introduced.map_err(|error| format!("cannot reach {first}: {error}"))?;
        (peer, peer)
    } else {
        println!("My address; start the other process with it: {address}");
        let second = own
            .message(None)
            .and_then(|bytes| Address::of_bytes(&bytes));
        (
            second
                .and_then(|second| peers.insert(&second))
                .map_err(text)?,
            here,
        )
    };
    let failed = |error: Error| format!("with the peer: {error}");
    own.greet(peer).map_err(failed)?;
    println!("Press Enter to use the peer's memory.");
    let read = std::io::stdin().read_line(&mut String::new());
    read.map_err(|error| format!("standard input: {error}"))?;
    own.write(peer).map_err(failed)?;
    let sum = own.count(peer, owner).map_err(failed)?;
    println!("Both have counted: {sum}");
    Ok(())
}

fn main() -> ExitCode {
    match run(std::env::args().nth(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("by_hand: {why}");
            ExitCode::FAILURE
        }
    }
}
