//! Datagrams on the software device.
//!
//! The tests under `softhca run` are this program again. They need Debian's package
//! `ibverbs-providers`.
#![expect(unsafe_code, reason = "polls a file")]

use fi_mlx5::device::{Datagrams, Device, Received, Recipient};
use softhca_again::Again;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

const KEY: u32 = 0x1234_5678;

/// Runs `body`, of the test of this name, on the software device, which is strict about doorbells.
fn on_device(test: &str, body: fn()) {
    on_device_with(&["--trace", "--strict"], test, body);
}

fn on_device_with(options: &[&str], test: &str, body: fn()) {
    let again = Again {
        options,
        ..Again::default()
    };
    again.body(test, body);
}

/// One end.
struct End {
    datagrams: Datagrams,
    lid: u16,
}

impl End {
    fn new(entries: u32, key: u32) -> Self {
        let device = Device::open(None).expect("a device");
        let datagrams = device.datagrams(entries, key).expect("a queue pair");
        let lid = device.features().lid;
        Self { datagrams, lid }
    }

    fn recipient(&self) -> Recipient {
        Recipient {
            lid: self.lid,
            number: self.datagrams.number(),
            key: KEY,
        }
    }

    /// Sends as soon as there is room.
    fn send(&mut self, to: &Recipient, bytes: &[u8]) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.datagrams.send(to, bytes).expect("sent") {
            assert!(Instant::now() < deadline, "no room");
            std::thread::yield_now();
        }
    }

    fn look(&mut self) -> Option<(Received, Vec<u8>)> {
        let mut into = [0xee; Datagrams::LONGEST];
        let received = self.datagrams.receive(&mut into).expect("the device");
        received.map(|received| (received, into[..received.bytes].to_vec()))
    }

    fn receive(&mut self) -> (Received, Vec<u8>) {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(found) = self.look() {
                return found;
            }
            assert!(Instant::now() < deadline, "no datagram");
            std::thread::yield_now();
        }
    }

    /// Returns whether nothing comes within some time.
    fn is_silent(&mut self) -> bool {
        std::thread::sleep(Duration::from_millis(20));
        self.look().is_none()
    }

    /// Returns whether an event comes within so many milliseconds.
    fn has_event(&self, milliseconds: i32) -> bool {
        let mut poll = libc::pollfd {
            fd: self.datagrams.fd().as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: there is one structure, which is valid.
        unsafe { libc::poll(&raw mut poll, 1, milliseconds) == 1 }
    }
}

#[test]
fn datagrams_come_with_their_sender() {
    on_device("datagrams_come_with_their_sender", senders);
}

fn senders() {
    let (mut own, mut other) = (End::new(4, KEY), End::new(8, KEY));
    assert_ne!(own.datagrams.number(), other.datagrams.number());
    let [here, there] = [own.recipient(), other.recipient()];
    // More than there are buffers.
    for round in 0..30_usize {
        let len = [0, 1, 40, 999, Datagrams::LONGEST][round % 5];
        let bytes: Vec<u8> = (0..len).map(|at| (at + round) as u8).collect();
        own.send(&here, &bytes);
        own.send(&there, &bytes);
        for end in [&mut own, &mut other] {
            let (received, found) = end.receive();
            assert_eq!(found, bytes);
            assert_eq!((received.number, received.lid), (here.number, here.lid));
        }
        other.send(&here, &bytes[..len / 2]);
        let (received, found) = own.receive();
        assert_eq!(found, bytes[..len / 2]);
        assert_eq!(received.number, there.number);
    }
    assert!(own.is_silent() && other.is_silent());
}

#[test]
fn events_tell_of_datagrams() {
    on_device("events_tell_of_datagrams", events);
}

fn events() {
    let (mut own, mut other) = (End::new(4, KEY), End::new(4, KEY));
    let here = own.recipient();
    for _ in 0..3 {
        // Without a wish for one there is no event.
        other.send(&here, b"quiet");
        own.receive();
        assert!(!own.has_event(20));
        own.datagrams.arm().expect("armed");
        assert!(own.look().is_none() && !own.has_event(20));
        other.send(&here, b"told");
        assert!(own.has_event(20_000));
        own.datagrams.drain_events().expect("drained");
        assert!(!own.has_event(0));
        assert_eq!(own.receive().1, b"told");
    }
    // Nothing to drain.
    own.datagrams.drain_events().expect("drained");
}

#[test]
fn a_sender_without_room_is_told_when_there_is() {
    // A strict device sends before the post returns.
    on_device_with(
        &["--trace"],
        "a_sender_without_room_is_told_when_there_is",
        room,
    );
}

fn room() {
    let (mut own, mut other) = (End::new(1, KEY), End::new(64, KEY));
    let there = other.recipient();
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut sent = 0;
    while own.datagrams.send(&there, &[1]).expect("sent") {
        sent += 1;
        assert!(Instant::now() < deadline, "there is always room");
        while other.look().is_some() {
            sent -= 1;
        }
    }
    own.datagrams.arm().expect("armed");
    if !own.datagrams.send(&there, &[1]).expect("sent") {
        assert!(own.has_event(20_000));
        own.datagrams.drain_events().expect("drained");
        own.send(&there, &[1]);
    }
    for _ in 0..=sent {
        other.receive();
    }
    assert!(other.is_silent());
}

#[test]
fn datagrams_without_a_receive_are_lost() {
    on_device("datagrams_without_a_receive_are_lost", lost);
}

fn lost() {
    let (mut own, mut other) = (End::new(4, KEY), End::new(4, KEY));
    let there = other.recipient();
    for round in 0..3 {
        for number in 0..10 {
            own.send(&there, &[round, number]);
        }
        // The last one was sent when there was room for as many more.
        for _ in 0..4 {
            let nobody = Recipient { number: 1, ..there };
            own.send(&nobody, b"no");
        }
        for number in 0..4 {
            assert_eq!(other.receive().1, [round, number]);
        }
        assert!(other.is_silent());
    }
}

#[test]
fn who_has_not_number_key_and_port_reaches_nobody() {
    on_device("who_has_not_number_key_and_port_reaches_nobody", nobody);
}

fn nobody() {
    // The highest bit does not count.
    let (mut own, mut other) = (End::new(4, KEY), End::new(4, KEY | 1 << 31));
    let there = other.recipient();
    for wrong in [
        Recipient { number: 1, ..there },
        Recipient {
            number: 0xff_fff0,
            ..there
        },
        Recipient { lid: 77, ..there },
        Recipient {
            key: KEY ^ 1,
            ..there
        },
    ] {
        own.send(&wrong, b"no");
        assert!(other.is_silent() && own.is_silent());
        own.send(&there, b"yes");
        assert_eq!(other.receive().1, b"yes");
    }
}

#[test]
fn everything_is_closed_in_order_and_counted() {
    on_device("everything_is_closed_in_order_and_counted", closing);
}

fn closing() {
    let device = Device::open(None).expect("a device");
    let before = device.account();
    let mut datagrams = device.datagrams(16, KEY).expect("a queue pair");
    let account = device.account();
    let taken = (
        account.queue_pairs - before.queue_pairs,
        account.completion_queues - before.completion_queues,
        account.uars - before.uars,
        account.used_uuars - before.used_uuars,
    );
    assert_eq!(taken, (1, 2, 1, 1));
    let own = Recipient {
        lid: device.features().lid,
        number: datagrams.number(),
        key: KEY,
    };
    // A message under way, and an event that nobody takes, keep nothing alive.
    datagrams.arm().expect("armed");
    assert!(datagrams.send(&own, b"to nobody").expect("sent"));
    // SAFETY: the child drops its objects and ends, by calls that need no lock of another thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(datagrams);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for the child, and writes where it may.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    assert!(datagrams.send(&own, b"still there").expect("sent"));
    std::thread::sleep(Duration::from_millis(20));
    drop(datagrams);
    let account = device.account();
    assert_eq!(account.queue_pairs, before.queue_pairs);
    assert_eq!(account.completion_queues, before.completion_queues);
    assert_eq!(account.bytes, before.bytes);
}
