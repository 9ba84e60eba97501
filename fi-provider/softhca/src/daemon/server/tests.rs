//! Connections to a server without a program.

use super::super::sys;
use super::{Server, bench};
use crate::engine::Config;
use crate::uverbs::Settings;
use crate::wire::{Operation, Request, SOCKET, Store};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;
use std::{env, fs, process};

#[test]
fn another_user_does_not_get_in() {
    let directory = env::temp_dir().join(format!("farreach-test-server-{}", process::id()));
    fs::create_dir(&directory).unwrap();
    let mut server = Server::on_bench(Config::default(), Settings::default()).unwrap();
    server.listener = sys::listen(&directory, SOCKET).unwrap();
    // A process cannot be another user's, so that the server is.
    server.user = sys::user() + 1;
    let foreign = sys::connect(&directory, SOCKET).unwrap();
    server.accept();
    assert!(server.clients.is_empty());
    let closed = sys::receive(foreign.as_fd(), &mut [0; 8]).unwrap();
    assert_eq!(closed, 0, "the connection is closed");

    server.user = sys::user();
    let _own = sys::connect(&directory, SOCKET).unwrap();
    server.accept();
    let processes: Vec<_> = server.clients.iter().map(|client| client.process).collect();
    assert_eq!(processes, [process::id()]);
    fs::remove_dir_all(&directory).unwrap();
}

/// Connects a process for stores, of which it makes a first one, and for requests, and opens a
/// context for it; returns both connections and the context on the wire.
fn connected(server: &mut Server, process: u32) -> ([OwnedFd; 2], u32) {
    let [stores, requests] = [(); 2].map(|()| server.connect(process).unwrap());
    let context = server.open_for(process);
    server.clients.last_mut().unwrap().contexts.push(context);
    let context = context.0 + 1;
    send_store(&stores, context, true);
    server.turn();
    assert_eq!(bench::replies(&stores).len(), 1);
    ([stores, requests], context)
}

/// Sends a store beside all registers, which is a violation, unless the context is closed.
fn send_store(connection: &OwnedFd, context: u32, is_awaited: bool) {
    let store = Store {
        context,
        thread: 1,
        at: 0,
        size: 8,
        is_awaited,
        bytes: [0; Store::LONGEST],
    };
    bench::send(connection, &store.encode(), None);
}

#[test]
fn stores_that_nobody_waits_for_come_before_later_requests_and_the_end() {
    let config = Config {
        strict: true,
        ..Config::default()
    };
    let mut server = Server::on_bench(config, Settings::default()).unwrap();
    let ([stores, requests], context) = connected(&mut server, process::id());
    assert_eq!(server.violations(), 1);
    for _ in 0..20 {
        send_store(&stores, context, false);
    }
    let close = Request {
        operation: Operation::Close,
        context,
        argument: 0,
    };
    bench::send(&requests, &close.encode(), None);
    server.turn();
    assert_eq!(server.violations(), 21);
    assert_eq!(bench::replies(&requests).len(), 1);
    assert!(bench::replies(&stores).is_empty());
    send_store(&stores, context, false);
    server.turn();
    assert_eq!(server.violations(), 21, "the context is closed");
    bench::send(&stores, &close.encode(), None);
    server.turn();
    assert_eq!(
        server.clients.len(),
        1,
        "a connection for stores takes no requests"
    );

    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let ([stores, _requests], context) = connected(&mut server, child.id());
    for _ in 0..20 {
        send_store(&stores, context, false);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    server.turn();
    assert_eq!(server.violations(), 42);
    assert_eq!(server.clients.len(), 1, "both ended with it");
}
