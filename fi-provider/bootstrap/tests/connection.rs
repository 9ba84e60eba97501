//! The connection as a C program would have it: found in the environment, with SIGPIPE as deadly as by default. This
//! changes the whole process, so the test has one of its own.

#![expect(
    unsafe_code,
    reason = "set_var and signal(2) change the process, which is the point here"
)]

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::net::UnixStream;

use fi_bootstrap::environment::{CONNECTION, connection};
use fi_bootstrap::{Bootstrap, Error};

/// Whether a descriptor of this process is closed on exec.
fn is_closed_on_exec(fd: i32) -> bool {
    let info =
        std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).expect("an open descriptor");
    let flags = info
        .lines()
        .find_map(|line| line.strip_prefix("flags:"))
        .expect("flags");
    i32::from_str_radix(flags.trim(), 8).expect("octal") & libc::O_CLOEXEC != 0
}

/// Checks that a descriptor which is not the connection's is refused: a program that a PE starts
/// has the variables and not the descriptor, whose number another socket may have. It is not spoken
/// to.
fn check_that_others_are_refused() {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    ours.set_nonblocking(true).expect("a socket");
    let fd = theirs.as_raw_fd();
    // SAFETY: no other thread runs that could read the environment.
    unsafe {
        std::env::set_var("PMI_FD", "1000000");
        std::env::set_var("PMI_RANK", "1");
        std::env::set_var("PMI_SIZE", "3");
    }
    let error = Bootstrap::connect().expect_err("no descriptor");
    assert!(
        matches!(&error, Error::Environment(text) if text.contains("PMI_FD")),
        "{error}"
    );
    // SAFETY: no other thread runs that could read the environment.
    unsafe {
        std::env::set_var("PMI_FD", fd.to_string());
        std::env::set_var(CONNECTION, connection(fd, 1, 3, 1));
    }
    let error = Bootstrap::connect().expect_err("another socket");
    assert!(error.to_string().contains("another socket"), "{error}");
    assert_eq!(
        (&ours).read(&mut [0]).map_err(|error| error.kind()),
        Err(ErrorKind::WouldBlock)
    );
    // SAFETY: no other thread runs that could read the environment.
    unsafe { std::env::remove_var(CONNECTION) };
}

#[test]
fn a_launchers_end_is_an_error_and_no_signal() {
    check_that_others_are_refused();
    let (mut ours, theirs) = UnixStream::pair().expect("a pair");
    let fd = theirs.into_raw_fd();
    // SAFETY: the only test of this process: no other thread runs that could read the environment or depend on
    // SIGPIPE; fcntl takes integers only.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::fcntl(fd, libc::F_SETFD, 0);
        std::env::set_var("PMI_FD", fd.to_string());
    }
    assert!(!is_closed_on_exec(fd));
    let launcher = std::thread::spawn(move || {
        for answer in [
            "cmd=response_to_init rc=0\n",
            "cmd=maxes vallen_max=64\n",
            "cmd=my_kvsname kvsname=k\n",
        ] {
            let mut bytes = [0; 256];
            assert_ne!(ours.read(&mut bytes).expect("a request"), 0);
            ours.write_all(answer.as_bytes()).expect("room");
        }
    });
    let mut pe = Bootstrap::connect().expect("a launcher");
    launcher.join().expect("the launcher ends");
    assert_eq!((pe.rank(), pe.size()), (1, 3));
    assert!(is_closed_on_exec(fd));

    // Another library of this process is told so, and disturbs nothing.
    assert!(matches!(Bootstrap::connect(), Err(Error::Connected)));

    // The first write meets a closed connection.
    assert!(matches!(pe.barrier(), Err(Error::Closed)));
    pe.finalize()
        .expect("a launcher that is gone need not be told");
    drop(pe);
    // The number is the process's: another library may use it.
    assert!(is_closed_on_exec(fd));
    assert!(matches!(Bootstrap::connect(), Err(Error::Connected)));
}
