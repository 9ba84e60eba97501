//! Starts examples/rust/by_hand.rs as two people would, and looks at its output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Time that a process may take to end when its peer is gone.
const SOON: Duration = Duration::from_secs(5);
/// Time that anything else may take.
const LIMIT: Duration = Duration::from_secs(60);

/// A process, killed when it is dropped.
struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(address: Option<&str>) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_by_hand"))
            .args(address)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, output }
    }

    /// Starts the first process; returns its address, too.
    fn first() -> (Self, String) {
        let mut first = Self::start(None);
        let address = first.line("My address; start the other process with it: ");
        (first, address)
    }

    /// Reads a line that begins so; returns the rest of it.
    fn line(&mut self, begin: &str) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        let rest = line.trim_end().strip_prefix(begin);
        rest.unwrap_or_else(|| panic!("{line:?} instead of {begin:?}"))
            .to_owned()
    }

    fn press_enter(&mut self) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        input.write_all(b"\n").expect("room in a pipe");
    }

    /// Waits for its end; returns its status and all of standard error.
    fn end(&mut self, limit: Duration) -> (Option<i32>, String) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the status") {
                break status;
            }
            assert!(start.elapsed() < limit, "it does not end in {limit:?}");
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut said = String::new();
        let errors = self.child.stderr.as_mut().expect("a pipe");
        errors.read_to_string(&mut said).expect("text");
        (status.code(), said)
    }

    /// Checks that it ends soon, and says why.
    fn fails(&mut self, why: &str) {
        assert_eq!(self.end(SOON), (Some(1), format!("by_hand: {why}\n")));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended is no more to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts both; they have exchanged addresses and greetings.
fn both() -> [Process; 2] {
    let (first, address) = Process::first();
    let mut both = [first, Process::start(Some(&address))];
    let ids = [both[1].child.id(), both[0].child.id()];
    for (process, id) in both.iter_mut().zip(ids) {
        process.line(&format!("The peer says: Hello from process {id}"));
        process.line("Press Enter");
    }
    both
}

#[test]
fn two_processes_find_each_other_by_an_address() {
    let mut both = both();
    both.iter_mut().for_each(Process::press_enter);
    for process in &mut both {
        let own = process.child.id();
        assert_eq!(
            process.line(&format!("In the peer's memory: written by process {own}")),
            ""
        );
        assert_eq!(process.line("Both have counted: "), "2000");
        assert_eq!(process.end(LIMIT), (Some(0), String::new()));
    }
}

#[test]
fn wrong_addresses_are_told() {
    let mut other = Process::start(Some("nonsense"));
    other.fails("ADDRESS is \"nonsense\": the address makes no sense");
    let (first, address) = Process::first();
    let mut other = Process::start(Some(&address[..address.len() - 1]));
    let why = format!(
        "ADDRESS is {:?}: the address makes no sense",
        &address[..address.len() - 1]
    );
    other.fails(&why);
    drop(first);
    let mut other = Process::start(Some(&address));
    other.fails(&format!("cannot reach {address}: the peer is gone"));
    // The name of nobody: its last digits are of the network and the node, which are these ones.
    let nobody = format!(
        "farreach:02000000{}{}",
        "0".repeat(72),
        &address[address.len() - 40..]
    );
    let mut other = Process::start(Some(&nobody));
    other.fails(&format!("cannot reach {nobody}: the peer is gone"));
}

#[test]
fn the_end_of_a_peer_is_told() {
    for wants_memory in [true, false] {
        for killed in [0, 1] {
            let mut both = both();
            if !wants_memory {
                // The other waits for its peer, which never says that it has counted.
                let other = &mut both[1 - killed];
                other.press_enter();
                other.line("In the peer's memory: ");
            }
            both[killed].child.kill().expect("a process");
            both[killed].child.wait().expect("its end");
            let other = &mut both[1 - killed];
            if wants_memory {
                other.press_enter();
            }
            other.fails("with the peer: the peer is gone");
        }
    }
}
