//! A PE without a library, for launchers of others: it meets its peers by fi_bootstrap alone.
//!
//! Its argument: `all` (exchanges of all kinds, and a second beginning), `many COUNT` (as many keys
//! of each PE), `wait` (until the launcher is gone; says so in the file that the next argument names).
//! The others are actions of PE 1 while its peers are in a barrier: `abort STATUS` (and exit with
//! it), `ask STATUS` (abort, and wait for the effect), `exit STATUS`, `kill` (itself).

use fi_bootstrap::{Bootstrap, Error};
use std::process::{Command, exit};
use std::time::Duration;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut pe = Bootstrap::connect().unwrap_or_else(|error| fail(&error.to_string()));
    let number = || args.get(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let done = match args.first().map(String::as_str) {
        Some("all") => all(&mut pe),
        Some("many") => many(&mut pe, number()).and_then(|()| pe.finalize()),
        Some("wait") => wait(&mut pe, &args[1]),
        Some(how @ ("abort" | "ask" | "exit" | "kill")) => pe
            .barrier()
            .and_then(|()| end(&mut pe, how, number() as i32)),
        _ => fail("all, many, abort, ask, exit, kill or wait"),
    };
    done.unwrap_or_else(|error| fail(&error.to_string()));
}

fn fail(message: &str) -> ! {
    eprintln!("wireup: {message}");
    exit(99);
}

/// Returns the bytes that a PE tells of itself: as many as its rank asks for, and each differs from
/// the next.
fn bytes(rank: usize, round: usize) -> Vec<u8> {
    let byte = |index: usize| ((index * 7 + rank * 31 + round * 101) % 256) as u8;
    (0..rank * 3000 + round).map(byte).collect()
}

fn hostname() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.unwrap_or_else(|error| fail(&error.to_string()))
        .trim()
        .to_owned()
}

/// Exchanges values of several lengths, and checks the nodes by the hosts' names.
fn all(pe: &mut Bootstrap) -> Result<(), Error> {
    let (rank, size) = (pe.rank(), pe.size());
    let host = hostname();
    pe.put(&format!("host-{rank}"), host.as_bytes())?;
    if rank == size - 1 {
        pe.put("of-the-last", b"one for all")?;
    }
    for round in 0..3 {
        pe.put(&format!("bytes-{round}-{rank}"), &bytes(rank, round))?;
        pe.barrier()?;
        for of in 0..size {
            if pe.get(&format!("bytes-{round}-{of}"))? != bytes(of, round) {
                fail("wrong bytes");
            }
        }
    }
    if pe.get("of-the-last")? != b"one for all" {
        fail("wrong bytes without a rank");
    }
    if !matches!(pe.get("of-nobody"), Err(Error::Missing(_))) {
        fail("a value of nobody");
    }
    let nodes = pe.node_map()?.unwrap_or_else(|| fail("no node map"));
    let mut hosts = Vec::new();
    for of in 0..size {
        hosts.push(pe.get(&format!("host-{of}"))?);
    }
    for (one, other) in (0..size).flat_map(|one| (0..size).map(move |other| (one, other))) {
        if (nodes[one] == nodes[other]) != (hosts[one] == hosts[other]) {
            fail(&format!("nodes {nodes:?} of {one} and {other}"));
        }
    }
    pe.barrier()?;
    pe.finalize()?;
    let listens = pe.try_reinit()?;
    if listens {
        pe.put(&format!("again-{rank}"), &bytes(rank, 9))?;
        pe.barrier()?;
        let next = (rank + 1) % size;
        if pe.get(&format!("again-{next}"))? != bytes(next, 9) {
            fail("wrong bytes in the second session");
        }
        pe.finalize()?;
    }
    println!("PE {rank} of {size} on {host}, nodes {nodes:?}, listens again: {listens}");
    Ok(())
}

/// Puts `count` values, and reads all of the next PE.
fn many(pe: &mut Bootstrap, count: usize) -> Result<(), Error> {
    let (rank, size) = (pe.rank(), pe.size());
    let key = |number: usize, rank: usize| format!("{}.{number}-{rank}", "k".repeat(40));
    for number in 0..count {
        pe.put(&key(number, rank), &(number * size + rank).to_le_bytes())?;
    }
    pe.barrier()?;
    let next = (rank + 1) % size;
    for number in 0..count {
        if pe.get(&key(number, next))? != (number * size + next).to_le_bytes() {
            fail("wrong number");
        }
    }
    pe.barrier()?;
    println!("PE {rank} has read {count}");
    Ok(())
}

/// Ends PE 1 in this way; the others wait for it.
fn end(pe: &mut Bootstrap, how: &str, status: i32) -> Result<(), Error> {
    if pe.rank() != 1 {
        match pe.barrier() {
            Ok(()) => fail("the barrier is over"),
            // The launcher is to end this PE.
            Err(Error::Departed) => std::thread::sleep(Duration::from_secs(60)),
            Err(error) => return Err(error),
        }
    }
    // Most others are in their barrier by then.
    std::thread::sleep(Duration::from_millis(200));
    match how {
        "abort" => {
            pe.abort(status, "")?;
            exit(status);
        }
        "ask" => pe.abort(status, "")?,
        "exit" => exit(status),
        _ => {
            let own = std::process::id().to_string();
            let _ = Command::new("kill").args(["-KILL", &own]).status();
        }
    }
    std::thread::sleep(Duration::from_secs(60));
    fail("PE 1 is still there");
}

/// Waits until the launcher is gone.
fn wait(pe: &mut Bootstrap, file: &str) -> Result<(), Error> {
    pe.barrier()?;
    println!("ready");
    let lifeline = pe.lifeline().unwrap_or_else(|| fail("no launcher"));
    let lifeline = lifeline.try_clone_to_owned()?;
    // A socket that can be read only at that time: peeking would be as good as poll(2).
    let socket = std::os::unix::net::UnixStream::from(lifeline);
    socket.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut read = &socket;
    let is_gone = std::io::Read::read(&mut read, &mut [0; 1]).is_ok();
    let next = pe.barrier();
    let text = format!("gone: {is_gone}, then: {next:?}\n");
    std::fs::write(format!("{file}.{}", pe.rank()), text)?;
    Ok(())
}
