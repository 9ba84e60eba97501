//! Sharing by processes of a machine: a memory that one gives to others, and claims on it.

#![expect(
    unsafe_code,
    reason = "forks, mappings and system calls with wrong arguments"
)]

use fi_shm::handover::{Offer, Ticket};
use fi_shm::segment::{Memfd, Reservation, page_size};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::{Duration, Instant};

fn memory() -> Memfd {
    Memfd::create(c"processes", page_size()).expect("a memory")
}

/// Calls `look` with the memory's first word, as it is mapped by this call.
fn with_word<T>(memory: &Memfd, look: impl FnOnce(*mut u64) -> T) -> T {
    let space = Reservation::anywhere(page_size()).expect("addresses");
    space.map_shared(0, memory, 0, page_size()).expect("mapped");
    look(space.base() as *mut u64)
}

/// A child of this process that runs `body`, and its exit status.
struct Child(libc::pid_t);

impl Child {
    fn run(body: impl FnOnce() -> i32) -> Self {
        // SAFETY: the child runs `body`, which takes no lock that another thread may hold, and
        // exits without handlers.
        match unsafe { libc::fork() } {
            0 => {
                let status = body();
                // SAFETY: _exit has no preconditions.
                unsafe { libc::_exit(status) }
            }
            pid => Self(pid),
        }
    }

    fn status(self) -> i32 {
        let mut status = 0;
        // SAFETY: the status is written to a local that outlives the call.
        unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        libc::WEXITSTATUS(status)
    }
}

#[test]
fn the_length_of_a_memory_is_sealed() {
    let memory = memory();
    for length in [0, page_size() - 1, page_size() + 1] {
        // SAFETY: ftruncate has no requirement on memory.
        let done = unsafe { libc::ftruncate(memory.raw_fd(), length as libc::off_t) };
        let error = std::io::Error::last_os_error();
        assert_eq!((done, error.raw_os_error()), (-1, Some(libc::EPERM)));
    }
}

#[test]
fn those_that_have_the_ticket_get_the_memory() {
    let (memory, offer) = (memory(), Offer::new().expect("an offer"));
    let text = offer.ticket().to_text();
    let ticket = Ticket::parse(&text).expect("a ticket");
    let name = format!(
        "farreach-{:0>32}",
        text.split('-').next().unwrap_or_default()
    );
    let address = SocketAddr::from_abstract_name(name).expect("an address");
    // One that says nothing, one that leaves at once, and one that does not know the token.
    let silent = UnixStream::connect_addr(&address).expect("a connection");
    drop(UnixStream::connect_addr(&address).expect("a connection"));
    let mut guess = UnixStream::connect_addr(&address).expect("a connection");
    guess.write_all(&[0; 16]).expect("sent");
    let takers: Vec<_> = (0..40_u64)
        .map(|number| {
            let ticket = ticket.clone();
            std::thread::spawn(move || {
                let taken = ticket.take(None).expect("the memory");
                with_word(&taken, |word| {
                    // SAFETY: the page is mapped; other threads add to the word as well, and
                    // atomically.
                    let word = unsafe { std::sync::atomic::AtomicU64::from_ptr(word) };
                    word.fetch_add(1 << number, std::sync::atomic::Ordering::Relaxed)
                })
            })
        })
        .collect();
    offer.serve(&memory, 40, None).expect("served");
    for taker in takers {
        taker.join().expect("a taker");
    }
    // SAFETY: the page is mapped, and nobody writes there any more.
    assert_eq!(with_word(&memory, |word| unsafe { *word }), (1 << 40) - 1);
    assert_eq!(guess.read(&mut [0]).unwrap_or(0), 0, "an answer to a guess");
    drop(silent);
    let late = ticket.take(None).expect_err("nobody is there");
    assert_eq!(late.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn nobody_waits_for_what_does_not_come() {
    let (memory, offer) = (memory(), Offer::new().expect("an offer"));
    let ticket = offer.ticket().clone();
    let (launcher, end) = UnixStream::pair().expect("a pair");
    let taker = {
        let end = end.try_clone().expect("a copy");
        std::thread::spawn(move || ticket.take(Some(end.as_fd())).map(drop))
    };
    // The taker waits for the memory, and then nobody is left to wait for.
    std::thread::sleep(Duration::from_millis(20));
    drop(launcher);
    let taken = taker.join().expect("the thread").expect_err("nothing came");
    assert_eq!(taken.kind(), ErrorKind::NotConnected);
    let served = offer.serve(&memory, 1, Some(end.as_fd()));
    assert_eq!(
        served.expect_err("nobody came").kind(),
        ErrorKind::NotConnected
    );
}

#[test]
fn the_end_of_the_process_that_offers_is_seen() {
    let (mut here, there) = UnixStream::pair().expect("a pair");
    let child = Child::run(|| {
        let offer = Offer::new().expect("an offer");
        let text = offer.ticket().to_text();
        (&there).write_all(text.as_bytes()).expect("told");
        std::thread::sleep(Duration::from_millis(50));
        0
    });
    let mut text = [0; 200];
    let length = here.read(&mut text).expect("a ticket");
    let text = String::from_utf8_lossy(&text[..length]);
    let ticket = Ticket::parse(&text).expect("a ticket");
    let kind = ticket.take(None).expect_err("nothing came").kind();
    assert!(
        matches!(kind, ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof),
        "{kind}"
    );
    child.status();
}

/// Runs as root alone: no other user may become another one.
#[test]
fn other_users_get_nothing() {
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    let (memory, offer) = (memory(), Offer::new().expect("an offer"));
    let ticket = offer.ticket().clone();
    let (launcher, end) = UnixStream::pair().expect("a pair");
    let child = Child::run(|| {
        // SAFETY: setuid has no requirement on memory.
        unsafe { libc::setuid(65534) };
        match ticket.take(None) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => 3,
            Err(_) => 4,
            Ok(_) => 5,
        }
    });
    assert_eq!(child.status(), 3, "what the other user gets");
    // Its connection lies in the queue, and is closed before anything is read from it.
    let another = Child::run(|| {
        // SAFETY: setuid has no requirement on memory.
        unsafe { libc::setuid(65534) };
        let (name, token) = parts(&ticket.to_text());
        let address = SocketAddr::from_abstract_name(name).expect("an address");
        let mut stream = UnixStream::connect_addr(&address).expect("a connection");
        stream.write_all(&token).expect("sent");
        i32::from(stream.read(&mut [0]).is_ok_and(|got| got > 0))
    });
    std::thread::sleep(Duration::from_millis(20));
    drop(launcher);
    assert!(offer.serve(&memory, 1, Some(end.as_fd())).is_err());
    assert_eq!(another.status(), 0);
}

/// Returns the socket's name and the token of a ticket.
fn parts(text: &str) -> (String, [u8; 16]) {
    let words: Vec<_> = text.split('-').collect();
    let token = u128::from_str_radix(words[1], 16).expect("a number");
    (format!("farreach-{:0>32}", words[0]), token.to_ne_bytes())
}

#[test]
fn a_claim_ends_with_its_process() {
    let memory = memory();
    let (mut here, there) = UnixStream::pair().expect("a pair");
    memory.claim(3).expect("a claim");
    assert_eq!(memory.is_claimed(3).ok(), Some(false), "by another process");
    let child = Child::run(|| {
        let seen = memory.is_claimed(3).unwrap_or(false) && memory.claim(3).is_err();
        let claimed = memory.claim(7).is_ok();
        let _ = (&there).write_all(&[u8::from(seen && claimed)]);
        let _ = (&there).read(&mut [0]);
        0
    });
    let mut said = [0];
    here.read_exact(&mut said).expect("word of the child");
    assert_eq!(said, [1], "whether the child could do what it should");
    assert_eq!(memory.is_claimed(6).ok(), Some(false));
    let process = memory.claimant(7).expect("pidfd_open").expect("a process");
    // SAFETY: the descriptor is open; with a null record the call acts as kill(2).
    let asked = unsafe {
        let nothing = std::ptr::null::<libc::siginfo_t>();
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            process.as_raw_fd(),
            libc::SIGKILL,
            nothing,
            0,
        )
    };
    assert_eq!(asked, 0);
    // Its parent has not asked for its status yet: it is gone all the same.
    let since = Instant::now();
    while memory.is_claimed(7).expect("an answer") {
        assert!(since.elapsed() < Duration::from_secs(20), "the claim stays");
        std::thread::yield_now();
    }
    assert!(memory.claimant(7).expect("an answer").is_none());
    child.status();
}
