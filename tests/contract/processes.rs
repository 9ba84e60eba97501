//! Parties as processes: children of this one, by fork(2).

#![expect(unsafe_code, reason = "forks, and waits for its children by their ids")]

use crate::meeting::Meeting;
use crate::party::Party;
use crate::shm::{Node, Setting};
use crate::transport::Transport;
use std::cell::RefCell;
use std::panic;
use std::thread;
use std::time::{Duration, Instant};

/// Parties are processes, as they are in a job.
#[derive(Debug)]
pub(crate) struct Processes;

/// Time that a contract may take before its parties are killed.
const LIMIT: Duration = Duration::from_secs(150);

thread_local! {
    /// The last panic's message, with its place in the source: a child has nobody else to tell.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

impl Transport for Processes {
    fn name(&self) -> &'static str {
        "shm between processes"
    }

    fn maps(&self, _: u32, _: u32) -> bool {
        true
    }

    fn run(&self, parties: u32, body: &(dyn Fn(&Party) + Sync)) -> Result<(), String> {
        run(parties, &Setting::ONE_NODE, body)
    }
}

/// Does the work of [`Transport::run`] with a process for each party.
///
/// # Errors
/// As there.
pub(crate) fn run(
    parties: u32,
    setting: &Setting,
    body: &(dyn Fn(&Party) + Sync),
) -> Result<(), String> {
    let node = Node::create(parties, setting)?;
    let told = |rank: u32| {
        node.attend(rank, &|party: &Party| {
            telling(&node.meeting, rank, || body(party))
        });
    };
    each(parties, &node.meeting, &told)
}

/// Runs `life` of each party in a process of its own, and waits for them.
///
/// # Errors
/// The verdict of the meeting.
pub(crate) fn each(parties: u32, meeting: &Meeting, life: &dyn Fn(u32)) -> Result<(), String> {
    let mut children = Vec::new();
    for rank in 0..parties {
        match fork() {
            Ok(Some(child)) => children.push((rank, child)),
            Ok(None) => be_party(rank, life),
            Err(error) => {
                meeting.fail(rank, &format!("fork: {error}"));
                break;
            }
        }
    }
    reap(meeting, children);
    meeting.verdict()
}

/// Runs `body`; if it panics, the meeting is told the panic's message.
pub(crate) fn telling(meeting: &Meeting, rank: u32, body: impl FnOnce()) {
    let done = panic::catch_unwind(panic::AssertUnwindSafe(body));
    if let Err(payload) = done {
        let said = SAID.take();
        if !said.is_empty() {
            meeting.fail(rank, &said);
        }
        panic::resume_unwind(payload);
    }
}

/// Returns the child's id in the parent, nothing in the child.
fn fork() -> std::io::Result<Option<libc::pid_t>> {
    // SAFETY: the child has this thread alone. It allocates, which glibc keeps possible, and takes no lock that another
    // thread of the parent could hold, but for the panic hook's, whose wait ends with the parent's patience.
    match unsafe { libc::fork() } {
        -1 => Err(std::io::Error::last_os_error()),
        0 => Ok(None),
        child => Ok(Some(child)),
    }
}

/// Lives the life of a child.
fn be_party(rank: u32, life: &dyn Fn(u32)) -> ! {
    // SAFETY: asks to be killed when the parent's thread ends; no memory is involved.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    panic::set_hook(Box::new(|info| {
        SAID.with(|said| *said.borrow_mut() = info.to_string())
    }));
    let lived = panic::catch_unwind(panic::AssertUnwindSafe(|| life(rank)));
    // SAFETY: ends the process at once; the parent's actions at exit are the parent's to do.
    unsafe { libc::_exit(i32::from(lived.is_err())) }
}

/// Waits for the children, and kills those that take too long.
fn reap(meeting: &Meeting, mut children: Vec<(u32, libc::pid_t)>) {
    let deadline = Instant::now() + LIMIT;
    while !children.is_empty() {
        children.retain(|&(rank, child)| {
            let mut status = 0;
            // SAFETY: the child is this process's own and not waited for yet; the status is a local.
            let ended = unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } != 0;
            if ended && status != 0 {
                let signal = libc::WTERMSIG(status);
                meeting.fail(
                    rank,
                    &format!("ended by signal {signal} (status {status:#x})"),
                );
            }
            !ended
        });
        if Instant::now() > deadline {
            for &(rank, child) in &children {
                meeting.fail(rank, "takes too long");
                // SAFETY: the child is this process's own and not waited for yet, so that the id is still its.
                unsafe { libc::kill(child, libc::SIGKILL) };
            }
        }
        thread::sleep(Duration::from_micros(300));
    }
}
