//! Connections to a server without a program.

use super::super::sys;
use super::Server;
use crate::engine::Config;
use crate::uverbs::Settings;
use crate::wire::SOCKET;
use std::os::fd::AsFd;
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
