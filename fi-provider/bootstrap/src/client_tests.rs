use super::*;
use crate::server::{Effect, Host};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// Serves `host` to the PEs behind `sockets` until all have hung up.
fn serve(mut host: Host, mut sockets: Vec<UnixStream>) -> Vec<Effect> {
    let mut ends = Vec::new();
    let mut open: Vec<_> = sockets.iter().map(|_| Some(Lines::default())).collect();
    for socket in &sockets {
        socket.set_nonblocking(true).unwrap();
    }
    while open.iter().any(Option::is_some) {
        for rank in 0..sockets.len() {
            let Some(lines) = &mut open[rank] else {
                continue;
            };
            let mut bytes = [0; 4096];
            match sockets[rank].read(&mut bytes) {
                Ok(0) => open[rank] = None,
                Ok(count) => lines.push(&bytes[..count]),
                Err(_) => std::thread::sleep(std::time::Duration::from_micros(200)),
            }
            while let Some(line) = open[rank]
                .as_mut()
                .and_then(|lines| lines.next_line().unwrap())
            {
                let mut effects = VecDeque::from(host.receive(rank, &line));
                while let Some(effect) = effects.pop_front() {
                    match effect {
                        Effect::Entered { values } => effects.extend(host.open(values)),
                        Effect::Reply { rank, line } => {
                            drop(sockets[rank].write_all(line.as_bytes()))
                        }
                        other => ends.push(other),
                    }
                }
            }
        }
    }
    ends
}

/// Introduces a PE over a socket, which outlives it.
fn over(socket: &UnixStream, rank: usize, size: usize) -> Result<Bootstrap, Error> {
    Bootstrap::over(Socket::adopt(socket.as_raw_fd(), None)?, rank, size)
}

/// Runs `pe` on `size` threads against a server; returns the server's effects besides replies.
fn run(size: usize, pe: impl Fn(Bootstrap) + Sync) -> Vec<Effect> {
    let (ours, theirs): (Vec<_>, Vec<_>) = (0..size).map(|_| UnixStream::pair().unwrap()).unzip();
    let host = Host::alone(size, "kvs_test");
    std::thread::scope(|scope| {
        let server = scope.spawn(move || serve(host, ours));
        for (rank, socket) in theirs.into_iter().enumerate() {
            let pe = &pe;
            scope.spawn(move || pe(over(&socket, rank, size).unwrap()));
        }
        server.join().unwrap()
    })
}

#[test]
fn values_of_any_size_reach_every_pe() {
    let value = |rank: usize| -> Vec<u8> {
        (0..rank * 1500)
            .map(|i| u8::try_from((i + rank) % 256).unwrap())
            .collect()
    };
    let ends = run(4, |mut pe| {
        pe.put(&format!("value-{}", pe.rank()), &value(pe.rank()))
            .unwrap();
        pe.barrier().unwrap();
        for rank in 0..pe.size() {
            assert_eq!(pe.get(&format!("value-{rank}")).unwrap(), value(rank));
        }
        assert!(matches!(pe.get("nobody"), Err(Error::Missing(_))));
        assert!(matches!(
            pe.get("PMI_process_mapping"),
            Err(Error::Garbled(_))
        ));
        assert_eq!(pe.node_map().unwrap(), Some(vec![0; 4]));
        pe.finalize().unwrap();
        pe.finalize().unwrap();
        assert!(matches!(pe.barrier(), Err(Error::Finalized)));
    });
    assert_eq!(ends, []);
}

#[test]
fn no_line_is_longer_than_launchers_read() {
    // For all lengths of values that launchers take, and of the names of their jobs.
    for (vallen_max, kvsname) in [(64, 1), (1024, 1), (65536, 256), (1024, 256)] {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let kvsname = "k".repeat(kvsname);
        let server = std::thread::spawn(move || {
            let mut longest = 0;
            let mut lines = BufReader::new(ours.try_clone().unwrap());
            let mut line = String::new();
            while lines.read_line(&mut line).unwrap() > 0 {
                let request = std::mem::take(&mut line);
                longest = longest.max(request.len());
                let answer = match Message::parse(request.as_bytes()).unwrap().command() {
                    "init" => "cmd=response_to_init rc=0".to_owned(),
                    "get_maxes" => format!("cmd=maxes vallen_max={vallen_max}"),
                    "get_my_kvsname" => format!("cmd=my_kvsname kvsname={kvsname}"),
                    "put" => "cmd=put_result rc=0".to_owned(),
                    "get" => "cmd=get_result rc=-1".to_owned(),
                    _ => continue,
                };
                writeln!(&ours, "{answer}").unwrap();
            }
            longest
        });
        let mut pe = over(&theirs, 0, 1).unwrap();
        let key = "k".repeat(encoding::MAX_KEY);
        pe.put(&key, &[7; 5000]).unwrap();
        assert!(matches!(pe.get(&key), Err(Error::Missing(_))));
        pe.abort(1, &"é".repeat(5000)).unwrap();
        drop((pe, theirs));
        let longest = server.join().unwrap();
        assert!(longest <= 1024, "{longest} bytes with {vallen_max}");
    }
}

#[test]
fn a_pe_may_begin_again() {
    let ends = run(2, |mut pe| {
        for round in 0..3_u8 {
            assert!(pe.try_reinit().unwrap());
            let (mine, other) = (pe.rank(), 1 - pe.rank());
            pe.put(&format!("k{mine}"), &[round]).unwrap();
            pe.barrier().unwrap();
            assert_eq!(pe.get(&format!("k{other}")).unwrap(), [round]);
            pe.barrier().unwrap();
            pe.finalize().unwrap();
        }
    });
    assert_eq!(ends, []);
}

#[test]
fn abort_arrives_with_its_message() {
    let ends = run(1, |pe| pe.abort(9, "two words\nand é").unwrap());
    let message = Some("two words and é".to_owned());
    assert_eq!(
        ends,
        [Effect::Abort {
            rank: 0,
            code: 9,
            message
        }]
    );
}

#[test]
fn abort_without_a_message_arrives() {
    for code in [i32::MIN, 7] {
        let ends = run(1, |pe| pe.abort(code, "").unwrap());
        let (rank, message) = (0, None);
        assert_eq!(
            ends,
            [Effect::Abort {
                rank,
                code,
                message
            }]
        );
    }
}

#[test]
fn a_pe_that_leaves_is_done() {
    let ends = run(2, |mut pe| {
        pe.leave().unwrap();
        pe.leave().unwrap();
        assert!(matches!(pe.barrier(), Err(Error::Finalized)));
        assert!(pe.try_reinit().unwrap(), "the answer was taken");
        pe.finalize().unwrap();
        pe.leave().unwrap();
    });
    assert_eq!(ends, []);
}

/// Has another library of a PE speak by its connection, and returns the command of the answer.
fn by_another(pe: &Bootstrap, line: &str) -> String {
    let Link::Launcher(connection) = &pe.link else {
        panic!("{pe:?}");
    };
    let mut socket = UnixStream::from(connection.socket.as_fd().try_clone_to_owned().unwrap());
    socket.write_all(line.as_bytes()).unwrap();
    let mut answer = String::new();
    // The answer is one line, and nothing follows before the next request.
    BufReader::new(socket).read_line(&mut answer).unwrap();
    answer.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn another_library_may_use_the_connection() {
    for closes in [false, true] {
        let ends = run(2, |mut pe| {
            let own = pe.rank();
            assert_eq!(by_another(&pe, "cmd=init\n"), "cmd=response_to_init");
            pe.put(&format!("k{own}"), b"v").unwrap();
            assert_eq!(by_another(&pe, "cmd=barrier_in\n"), "cmd=barrier_out");
            assert_eq!(pe.get(&format!("k{}", 1 - own)).unwrap(), b"v");
            pe.barrier().unwrap();
            assert_eq!(by_another(&pe, "cmd=finalize\n"), "cmd=finalize_ack");
            // As MPICH does up to 4.1: the connection of all is closed by that.
            if let Link::Launcher(connection) = &pe.link
                && closes
            {
                let socket = connection.socket.as_fd().try_clone_to_owned().unwrap();
                UnixStream::from(socket).shutdown(Shutdown::Both).unwrap();
            }
            assert_eq!(pe.barrier().is_err(), closes);
            pe.finalize().unwrap();
            assert_eq!(pe.try_reinit().unwrap(), !closes);
            pe.leave().unwrap();
        });
        assert_eq!(ends, []);
    }
}

#[test]
fn a_launcher_that_hangs_up_is_noticed() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    drop(ours);
    assert!(matches!(over(&theirs, 0, 1), Err(Error::Closed)));

    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let server = std::thread::spawn(move || {
        for line in [
            "cmd=response_to_init rc=0\n",
            "cmd=maxes\n",
            "cmd=my_kvsname kvsname=k\n",
            "cmd=finalize_ack\n",
        ] {
            let mut bytes = [0; 256];
            assert_ne!(ours.read(&mut bytes).unwrap(), 0);
            ours.write_all(line.as_bytes()).unwrap();
        }
    });
    let mut pe = over(&theirs, 0, 1).unwrap();
    pe.finalize().unwrap();
    server.join().unwrap();
    assert!(!pe.try_reinit().unwrap());
    assert!(matches!(pe.abort(1, ""), Err(Error::Closed)));
}

#[test]
fn a_wrong_answer_is_shown() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(b"cmd=response_to_init rc=-1\n").unwrap();
    let error = over(&theirs, 0, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the launcher answered \"cmd=response_to_init rc=-1\" to init"
    );
}

#[test]
fn a_job_of_one_needs_no_launcher() {
    let mut pe = Bootstrap::new(0, 1, Link::Alone(HashMap::new()));
    pe.put("k", b"v").unwrap();
    pe.barrier().unwrap();
    assert_eq!(pe.get("k").unwrap(), b"v");
    assert!(matches!(pe.get("l"), Err(Error::Missing(_))));
    assert!(matches!(pe.put("two words", b""), Err(Error::Key(_))));
    assert_eq!(pe.node_map().unwrap(), Some(vec![0]));
    pe.finalize().unwrap();
    assert!(pe.try_reinit().unwrap());
    pe.barrier().unwrap();
    pe.abort(1, "nothing happens").unwrap();
}

#[test]
fn a_forked_child_is_kept_out() {
    let mut pe = Bootstrap::new(0, 1, Link::Alone(HashMap::new()));
    pe.process += 1;
    assert!(matches!(pe.barrier(), Err(Error::Forked)));
    assert!(matches!(pe.finalize(), Err(Error::Forked)));
    assert!(matches!(pe.leave(), Err(Error::Forked)));
    assert!(matches!(pe.try_reinit(), Err(Error::Forked)));
    assert!(matches!(pe.abort(1, ""), Err(Error::Forked)));
}
