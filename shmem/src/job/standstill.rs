//! Holds the other threads of the process still, wherever they are, while its static data moves.
//!
//! Each thread gets a signal whose handler waits until it is let go. The signal is the one by which
//! the C library runs setuid on all threads (SIGSETXID of nptl(7)): its masks never hold that one,
//! so that a thread which has blocked all signals is reached too. The handler restarts system
//! calls; those that no handler restarts (signal(7)) end with EINTR, as they do after setuid.
//!
//! The threads that stand still cannot end, and the kernel's number of threads counts every one
//! that runs. So nobody runs when the number equals that of the threads that stand still, the
//! caller's and, if it has ended before the others, the first thread's.
//!
//! A thread may stand still in the middle of malloc. Until it is let go the caller may neither
//! allocate nor take a lock: system calls and plain loops only.

#![expect(
    unsafe_code,
    reason = "a signal handler that waits, installed by system calls of its own"
)]

use super::error::Error;
use fi_provider::node::segment::Reservation;
use std::ffi::{CStr, c_int, c_void};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The C library's SIGSETXID (nptl(7): the second real-time signal of the kernel).
const SIGNAL: c_int = 33;

/// Threads that can be held.
const MOST: usize = 1 << 16;

/// Time that a thread may take to come to a stop: one that is in an uninterruptible system call may
/// take its time.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time between two looks at threads that have not stopped yet.
const PAUSE: Duration = Duration::from_micros(50);

const TASKS: &CStr = c"/proc/self/task";

/// A thread, and how far it has come.
#[repr(C)]
struct Thread {
    id: AtomicI32,
    state: AtomicU32,
}

/// The thread was sent the signal.
const CALLED: u32 = 0;
/// It stands still.
const HELD: u32 = 1;
/// It has been let go and looks at nothing of the table any more.
const LEFT: u32 = 2;

/// The memory that the caller and the handlers share: none of it is static data.
#[repr(C)]
struct Table {
    /// 0 while threads are held.
    go: AtomicU32,
    threads: [Thread; MOST],
}

/// The table in use. Handlers read it, which is possible while static data moves.
static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());

/// The address of the handler that the signal had before, 0 for none.
static BEFORE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// The threads that stand still. Letting go of this value lets go of them.
#[derive(Debug)]
pub(crate) struct Standstill {
    /// `None` where the caller is the only thread.
    held: Option<Held>,
    /// Dropped last.
    _mask: Mask,
}

/// The table of the threads, their number, and the signal's former action: given back at the end.
#[derive(Debug)]
struct Held {
    memory: Reservation,
    count: usize,
    action: Action,
}

impl Standstill {
    /// Blocks the caller's signals, and returns when no other thread of the process runs.
    ///
    /// # Errors
    /// The reason, when all threads go on as before.
    ///
    /// # Safety
    /// One thread calls this at a time. Until the value is dropped the caller neither allocates nor
    /// takes a lock, and drops it on the same thread.
    pub(crate) unsafe fn begin() -> Result<Self, Error> {
        let mask = Mask::block_all();
        if !others()? {
            return Ok(Self {
                held: None,
                _mask: mask,
            });
        }
        let system = |error| Error::system("holding the other threads")(error);
        let tasks = open(TASKS).map_err(system)?;
        let memory = Reservation::zeroed(size_of::<Table>()).map_err(system)?;
        let action = Action::replace(memory.base() as *mut Table).map_err(system)?;
        let mut held = Held {
            memory,
            count: 0,
            action,
        };
        match held.hold_all(&tasks) {
            Ok(()) => Ok(Self {
                held: Some(held),
                _mask: mask,
            }),
            Err(deaf) => {
                held.abandon();
                drop(mask);
                Err(deaf.into_error())
            }
        }
    }
}

impl Drop for Standstill {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            held.let_go();
        }
    }
}

/// Reason for which not all threads stand still; plain data, as nothing may be allocated then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deaf {
    /// The thread with this number has not stopped in time.
    Thread(i32),
    Many,
    /// The number of an error.
    System(i32),
}

impl Held {
    fn table(&self) -> &Table {
        // SAFETY: the reservation has the table's size, is aligned to a page and mapped as long as
        // `self`; all-zero is a valid table, and all fields are atomic.
        unsafe { &*(self.memory.base() as *const Table) }
    }

    /// Returns when all threads but the caller stand still.
    fn hold_all(&mut self, tasks: &OwnedFd) -> Result<(), Deaf> {
        let end = Instant::now() + PATIENCE;
        loop {
            // ORDERING: Acquire pairs with the handler's release: a thread's writes before its stop
            // are copied.
            let of_table = &self.table().threads[..self.count];
            let held = of_table
                .iter()
                .filter(|t| t.state.load(Ordering::Acquire) == HELD);
            let still = held.count() + 1 + usize::from(first_has_ended());
            if threads().map_err(Deaf::of)? == still {
                return Ok(());
            }
            let running = self.call_new(tasks)?;
            if Instant::now() > end {
                return Err(Deaf::Thread(running));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Sends the signal to all threads that have not got it; returns the number of one that runs.
    fn call_new(&mut self, tasks: &OwnedFd) -> Result<i32, Deaf> {
        let own = own_id();
        let mut running = 0;
        let mut refused = None;
        each_thread(tasks, |id| {
            if id == own || refused.is_some() {
                return;
            }
            match self.call(id) {
                Ok(false) => running = id,
                Ok(true) => (),
                Err(why) => refused = Some(why),
            }
        })
        .map_err(Deaf::of)?;
        refused.map_or(Ok(running), Err)
    }

    /// Sends the signal to the thread unless it has got it; whether it stands still.
    fn call(&mut self, id: i32) -> Result<bool, Deaf> {
        let known = &self.table().threads[..self.count];
        if let Some(thread) = known.iter().find(|t| t.id.load(Ordering::Relaxed) == id) {
            return Ok(thread.state.load(Ordering::Relaxed) == HELD);
        }
        let Some(thread) = self.table().threads.get(self.count) else {
            return Err(Deaf::Many);
        };
        thread.id.store(id, Ordering::Relaxed);
        thread.state.store(CALLED, Ordering::Relaxed);
        match send(id, thread) {
            Ok(()) => self.count += 1,
            // It has ended.
            Err(libc::ESRCH) => (),
            // The queue of signals is full for the moment.
            Err(libc::EAGAIN) => (),
            Err(code) => return Err(Deaf::System(code)),
        }
        Ok(false)
    }

    /// Lets the threads go on, and gives the table back when none looks at it any more.
    fn let_go(self) {
        let table = self.table();
        wake(table);
        let threads = &table.threads[..self.count];
        while threads
            .iter()
            .any(|t| t.state.load(Ordering::Acquire) == HELD)
        {
            std::thread::yield_now();
        }
        TABLE.store(std::ptr::null_mut(), Ordering::Release);
        self.action.put_back();
    }

    /// Lets the threads go on where not all have stopped: those that have not still get the
    /// signal, so that the handler and the table stay for the rest of the process's life.
    fn abandon(self) {
        wake(self.table());
        std::mem::forget(self.memory);
    }
}

impl Deaf {
    fn of(error: io::Error) -> Self {
        Self::System(error.raw_os_error().unwrap_or(libc::EIO))
    }

    /// Puts it into words, once the threads go on.
    fn into_error(self) -> Error {
        match self {
            Self::Thread(id) => {
                let name = std::fs::read_to_string(format!("/proc/self/task/{id}/comm"));
                let name = name.unwrap_or_default().trim().to_owned();
                Error::DeafThread { id, name }
            }
            Self::Many => Error::ManyThreads { most: MOST },
            Self::System(code) => Error::System {
                what: "holding the other threads",
                source: io::Error::from_raw_os_error(code),
            },
        }
    }
}

/// Sends the signal with the thread's place in the table: the error's number otherwise.
fn send(id: i32, thread: &Thread) -> Result<(), i32> {
    // SAFETY: an all-zero record is valid, and is filled as sigqueue(3) does.
    let mut info: Info = unsafe { std::mem::zeroed() };
    info.signal = SIGNAL;
    info.code = libc::SI_QUEUE;
    info.value = std::ptr::from_ref(thread).cast_mut().cast();
    // SAFETY: getpid has no preconditions.
    let pid = unsafe { libc::getpid() };
    info.pid = pid;
    // SAFETY: the record lives during the call and has the kernel's size.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            pid,
            id,
            SIGNAL,
            &raw const info,
        )
    };
    if sent == 0 { Ok(()) } else { Err(errno()) }
}

/// The kernel's siginfo_t of queued signals (asm-generic/siginfo.h).
#[repr(C)]
struct Info {
    signal: c_int,
    errno: c_int,
    code: c_int,
    _pad: c_int,
    pid: libc::pid_t,
    uid: libc::uid_t,
    value: *mut c_void,
    _rest: [u64; 12],
}

const _: () = assert!(size_of::<Info>() == 128);

fn errno() -> i32 {
    io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO)
}

/// Ends the wait of all handlers.
fn wake(table: &Table) {
    // ORDERING: Release pairs with the handler's acquire: a thread that goes on sees the new pages.
    table.go.store(1, Ordering::Release);
    // SAFETY: the word is a valid futex.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            &raw const table.go,
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            c_int::MAX,
        )
    };
}

extern "C" fn on_signal(signal: c_int, info: *mut Info, context: *mut c_void) {
    let table = TABLE.load(Ordering::Acquire);
    // SAFETY: the kernel passes a valid record.
    let (code, value) = unsafe { ((*info).code, (*info).value) };
    // SAFETY: the table is mapped while it can be found in TABLE; only its address is taken here.
    let threads = (!table.is_null()).then(|| unsafe { (&raw const (*table).threads).addr() });
    let places = threads.map(|at| at..at + size_of::<[Thread; MOST]>());
    if code == libc::SI_QUEUE && places.is_some_and(|places| places.contains(&value.addr())) {
        // SAFETY: errno belongs to this thread; the table is mapped until this thread has left it,
        // and the place in it was sent by `send` alone.
        unsafe {
            let saved = *libc::__errno_location();
            stand_still(&(*table).go, &*value.cast());
            *libc::__errno_location() = saved;
        }
        return;
    }
    let before = BEFORE.load(Ordering::Acquire);
    if !before.is_null() {
        // SAFETY: the address is that of the handler which the C library had for this signal; it
        // has the form that SA_SIGINFO asks for.
        let before: extern "C" fn(c_int, *mut Info, *mut c_void) =
            unsafe { std::mem::transmute(before) };
        before(signal, info, context);
    }
}

/// Waits in the handler.
fn stand_still(go: &AtomicU32, own: &Thread) {
    // ORDERING: Release: pairs with the acquire load in `hold_all`.
    own.state.store(HELD, Ordering::Release);
    // ORDERING: Acquire: pairs with the release store in `wake`.
    while go.load(Ordering::Acquire) == 0 {
        // SAFETY: the word is a valid futex, and there is no time limit.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                std::ptr::from_ref(go),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                0,
                std::ptr::null::<libc::timespec>(),
            )
        };
    }
    // ORDERING: Release: pairs with the acquire load in `let_go`, behind which the table is
    // unmapped.
    own.state.store(LEFT, Ordering::Release);
}

/// Returns whether there is another thread than the caller's.
fn others() -> Result<bool, Error> {
    match threads() {
        Ok(count) => Ok(count > 1),
        Err(error) => {
            // The kernel refuses this to a process of several threads and does nothing otherwise
            // (unshare(2)).
            // SAFETY: no memory preconditions.
            match unsafe { libc::unshare(libc::CLONE_THREAD) } {
                0 => Ok(false),
                _ => Err(Error::UncountedThreads(error)),
            }
        }
    }
}

/// Returns the number of threads of this process: the kernel gives the folder a link for each,
/// beside its two.
fn threads() -> io::Result<usize> {
    let mut found = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path is a C string, and the record has room for the answer.
    if unsafe { libc::stat(TASKS.as_ptr(), found.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has filled the record.
    let links = unsafe { found.assume_init() }.st_nlink;
    Ok((links as usize).saturating_sub(2))
}

/// Returns whether the first thread has ended and is kept by the kernel for the others.
fn first_has_ended() -> bool {
    // SAFETY: getpid has no preconditions.
    let pid = unsafe { libc::getpid() };
    if pid == own_id() {
        return false;
    }
    let mut path = [0_u8; 64];
    let mut text = [0_u8; 512];
    if write!(&mut path[..63], "/proc/self/task/{pid}/stat").is_err() {
        return false;
    }
    let Ok(file) = CStr::from_bytes_until_nul(&path)
        .map_err(drop)
        .and_then(|path| open(path).map_err(drop))
    else {
        return false;
    };
    // SAFETY: the buffer has as many bytes.
    let got = unsafe { libc::read(file.as_raw_fd(), text.as_mut_ptr().cast(), text.len()) };
    let text = &text[..usize::try_from(got).unwrap_or(0)];
    // The state stands behind the name, which is in parentheses and may hold any others (proc(5)).
    let state = text
        .iter()
        .rposition(|&byte| byte == b')')
        .and_then(|at| text.get(at + 2));
    matches!(state, Some(b'Z' | b'X'))
}

fn own_id() -> i32 {
    // SAFETY: gettid has no preconditions.
    unsafe { libc::gettid() }
}

fn open(path: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: the path is a C string.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Calls `f` with the number of each thread that the folder shows. Allocates nothing.
fn each_thread(tasks: &OwnedFd, mut f: impl FnMut(i32)) -> io::Result<()> {
    /// The first bytes of linux_dirent64: inode, offset, length, kind; the name follows
    /// (getdents64(2)).
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let mut buffer = [0_u8; 4096];
    // SAFETY: lseek has no memory preconditions.
    unsafe { libc::lseek(tasks.as_raw_fd(), 0, libc::SEEK_SET) };
    loop {
        // SAFETY: the buffer has as many bytes.
        let got = unsafe {
            libc::syscall(
                libc::SYS_getdents64,
                tasks.as_raw_fd(),
                buffer.as_mut_ptr(),
                buffer.len(),
            )
        };
        let mut entries = match usize::try_from(got) {
            Ok(0) => return Ok(()),
            Ok(got) => &buffer[..got],
            Err(_) => return Err(io::Error::last_os_error()),
        };
        while let Some(&[low, high]) = entries.get(LENGTH..LENGTH + 2) {
            let (entry, rest) = entries.split_at(usize::from(u16::from_le_bytes([low, high])));
            let name = CStr::from_bytes_until_nul(&entry[NAME..])
                .ok()
                .and_then(|n| n.to_str().ok());
            if let Some(id) = name.and_then(|name| name.parse().ok()) {
                f(id);
            }
            entries = rest;
        }
    }
}

/// The caller's signal mask, and all signals blocked, the C library's own included.
#[derive(Debug)]
struct Mask(u64);

impl Mask {
    fn block_all() -> Self {
        Self(exchange_mask(u64::MAX))
    }
}

impl Drop for Mask {
    fn drop(&mut self) {
        exchange_mask(self.0);
    }
}

/// Sets the calling thread's mask; returns the one before.
fn exchange_mask(mask: u64) -> u64 {
    let mut before = 0_u64;
    // SAFETY: both sets have the kernel's size of 8 bytes.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const mask,
            &raw mut before,
            size_of::<u64>(),
        )
    };
    before
}

/// The kernel's struct sigaction. (The C library's functions refuse its own signals.)
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Action {
    handler: usize,
    flags: u64,
    #[cfg(target_arch = "x86_64")]
    restorer: usize,
    mask: u64,
}

impl Action {
    /// Installs the handler, which finds `table`; returns the action before.
    fn replace(table: *mut Table) -> io::Result<Self> {
        #[cfg(target_arch = "x86_64")]
        const RESTORER: u64 = 0x0400_0000;
        #[cfg(not(target_arch = "x86_64"))]
        const RESTORER: u64 = 0;
        let flags = (libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK) as u64;
        let ours = Self {
            handler: on_signal as *const () as usize,
            flags: flags | RESTORER,
            #[cfg(target_arch = "x86_64")]
            restorer: restorer as *const () as usize,
            mask: u64::MAX,
        };
        let before = exchange_action(None)?;
        // A second attempt after one that was given up finds the own handler.
        if before.handler != ours.handler {
            let known = before.handler != libc::SIG_DFL && before.handler != libc::SIG_IGN;
            let handler = if known { before.handler } else { 0 };
            BEFORE.store(handler as *mut c_void, Ordering::Release);
        }
        TABLE.store(table, Ordering::Release);
        exchange_action(Some(&ours))?;
        Ok(before)
    }

    fn put_back(&self) {
        // A failure leaves the own handler in place, which passes other signals on.
        let _ = exchange_action(Some(self));
    }
}

/// Sets the signal's action, if there is one to be set; returns the one before.
fn exchange_action(action: Option<&Action>) -> io::Result<Action> {
    let mut before = MaybeUninit::<Action>::zeroed();
    // SAFETY: both records have the kernel's form.
    let done = unsafe {
        libc::syscall(
            libc::SYS_rt_sigaction,
            SIGNAL,
            action.map_or(std::ptr::null(), std::ptr::from_ref),
            before.as_mut_ptr(),
            size_of::<u64>(),
        )
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: an all-zero record is valid, and the call has filled it.
    Ok(unsafe { before.assume_init() })
}

/// Returns from the handler: x86-64 wants the program to bring the system call (sigreturn(2)).
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn restorer() {
    std::arch::naked_asm!("mov eax, {number}", "syscall", number = const libc::SYS_rt_sigreturn)
}
