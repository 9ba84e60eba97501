//! Any bytes as packets to the device's process, and in the memory of the program that sends them.
//!
//! The server and the memory are real: the client is a process that only waits, whose memory is read and written as that of any program.

use super::input::Input;
use super::ioctl::{ROOM, build, get_context};
use super::witness::Witness;
use crate::daemon::{Server, bench};
use crate::engine::{Config, Memory as _, Pid};
use crate::uverbs::Settings;
use crate::wire::{Operation, PROBE, Request};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Offset of the probe, behind the room for ioctls.
const PROBE_AT: usize = ROOM;

/// The processes, which are started once: the client and the bystander.
static PROCESSES: Mutex<Option<[Idle; 2]>> = Mutex::new(None);

/// Runs the input as the packets of a client.
pub(super) fn run(bytes: &[u8]) {
    let mut processes = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
    let [client, bystander] = processes.get_or_insert_with(|| [Idle::start(), Idle::start()]);
    let settings = Settings {
        legacy_uars: false,
        devx: true,
        masked_atomics: true,
        ..Settings::default()
    };
    let server = Server::on_bench(Config::default(), settings).expect("a server");
    let mut bench = Bench::new(server, client, bystander);
    let mut input = Input(bytes);
    if input.byte() & 1 == 0 {
        bench.open();
    }
    for _ in 0..24 {
        if input.is_empty() {
            break;
        }
        bench.act(&mut input);
    }
    bench.check();
    let before = bench.before;
    bench.sockets.clear();
    bench.server.turn();
    bench.check();
    let holds = bench.server.holds();
    let census = bench.server.engine().0.census();
    assert_eq!((holds, census), (0, before), "something is left behind");
}

/// A process that only waits.
struct Idle {
    child: Child,
    /// The start of memory that it does not use.
    base: u64,
}

impl Idle {
    fn start() -> Self {
        // It ends when this process ends, as its input does.
        let child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("cat starts");
        let maps = format!("/proc/{}/maps", child.id());
        // Until it has become another program, it has the stack of this one.
        let base = loop {
            let maps = std::fs::read_to_string(&maps).expect("its maps");
            let stack = maps.lines().find(|line| line.ends_with("[stack]"));
            if maps.contains("/cat")
                && let Some((start, _)) = stack.and_then(|line| line.split_once('-'))
            {
                break u64::from_str_radix(start, 16).expect("an address");
            }
            std::thread::yield_now();
        };
        // The stack grows from the other end.
        Self {
            child,
            base: base + 0x1000,
        }
    }

    fn number(&self) -> Pid {
        self.child.id()
    }
}

struct Bench<'a> {
    server: Server,
    client: &'a Idle,
    witness: Witness,
    before: crate::engine::Census,
    sockets: Vec<OwnedFd>,
    now: u64,
}

impl<'a> Bench<'a> {
    fn new(mut server: Server, client: &'a Idle, bystander: &Idle) -> Self {
        let context = server.open_for(bystander.number());
        let (engine, programs) = server.engine();
        let place = (bystander.number(), bystander.base);
        let witness = Witness::new(engine, programs, context, place);
        let blank = [0; ROOM];
        programs
            .write(client.number(), client.base, &blank)
            .expect("memory");
        let before = engine.census();
        let socket = server.connect(client.number()).expect("a connection");
        let mut bench = Self {
            server,
            client,
            witness,
            before,
            sockets: vec![socket],
            now: 0,
        };
        bench.put(PROBE_AT, &PROBE.to_ne_bytes());
        bench
    }

    fn put(&mut self, offset: usize, bytes: &[u8]) {
        let (client, base) = (self.client.number(), self.client.base);
        let (_, programs) = self.server.engine();
        let written = programs.write(client, base + offset as u64, bytes);
        written.expect("memory");
    }

    fn check(&mut self) {
        self.now += 1_000_000;
        let (engine, programs) = self.server.engine();
        self.witness.check(engine, programs, &mut self.now);
    }

    fn send(&mut self, request: &[u8], with: Option<&File>) {
        if let Some(socket) = self.sockets.last() {
            bench::send(socket, request, with.map(File::as_fd));
        }
    }

    fn ask(&mut self, operation: Operation, context: u32, argument: u64) {
        let request = Request {
            operation,
            context,
            argument,
        };
        self.send(&request.encode(), None);
        self.server.turn();
    }

    /// Opens the device and makes a context, as a library does.
    fn open(&mut self) {
        let base = self.client.base;
        self.ask(Operation::Open, 0, base + PROBE_AT as u64);
        let replies = bench::replies(&self.sockets[0]);
        assert_eq!((replies.len(), replies[0].errno), (1, 0));
        self.put(0, &get_context(base, true));
        self.ask(Operation::Ioctl, replies[0].context, base);
        let replies = bench::replies(&self.sockets[0]);
        assert_eq!((replies.len(), replies[0].errno), (1, 0));
    }

    fn act(&mut self, input: &mut Input<'_>) {
        let base = self.client.base;
        let choice = input.byte();
        // The first context of the client is number 3 on the wire: that of the bystander is 2.
        let context = match choice >> 6 {
            3 => input.byte().into(),
            n => [3, 4, 2][usize::from(n)],
        };
        match choice & 15 {
            0 => {
                let length = input.below(64);
                let packet = input.bytes(length).to_vec();
                self.send(&packet, None);
            }
            1 => {
                let file = File::open("/dev/null").expect("a file");
                let length = input.below(24);
                let packet = input.bytes(length).to_vec();
                self.send(&packet, Some(&file));
            }
            2 => {
                let (offset, length) = (usize::from(input.u16()) % (ROOM - 256), input.byte());
                let bytes = input.bytes(length.into()).to_vec();
                self.put(offset, &bytes);
            }
            3 => self.server.turn(),
            4 => self.ask(Operation::Open, context, base + u64::from(input.u16())),
            5 => self.ask(Operation::Open, 0, base + PROBE_AT as u64),
            6 => self.ask(Operation::Close, context, input.number()),
            7 => self.ask(Operation::Kick, context, input.number()),
            8 => self.ask(Operation::Ioctl, context, input.number()),
            9 => self.ask(Operation::Ioctl, context, base + u64::from(input.u16())),
            10 => {
                self.sockets.pop();
                self.server.turn();
            }
            11 if self.sockets.len() < 4 => {
                let process = self.client.number();
                let socket = self.server.connect(process).expect("a connection");
                self.sockets.push(socket);
            }
            12 => {
                for socket in &self.sockets {
                    bench::replies(socket);
                }
            }
            _ => {
                let image = build(input, base);
                self.put(0, &image);
                self.ask(Operation::Ioctl, context, base);
            }
        }
    }
}
