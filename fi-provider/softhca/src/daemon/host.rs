//! The device's surroundings, for real: programs' memory, command files, queues of events.

use super::memory::Mover;
use super::shared::Shared;
use super::sys;
use super::view::View;
use crate::engine::{ContextId, Fault, MAX_PAGES, Memory, Pid};
use crate::uverbs::{CLOCK_PAGE, Errno, FIRST_UAR_PAGE, Host, clock_info};
use crate::wire;
use bytemuck::bytes_of;
use fi_mlx5_defs::doorbell::{ARM_OFFSET, send_words};
use std::collections::{HashMap, VecDeque};
use std::fs::{self, File};
use std::mem::{replace, take};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The size of a command file: every offset that libmlx5 maps lies below. Pages come into being when they are touched.
const COMMAND_FILE: u64 = 4 << 30;

/// The size of a page of doorbells.
const PAGE: u64 = 4096;

/// The size of all doorbell pages that the library may ask for.
const UAR_BYTES: u64 = MAX_PAGES as u64 * PAGE;

/// The longest event.
const LONGEST_EVENT: usize = 16;

/// Events that wait for room in a socket, at most: a program that reads none of them costs no more than these.
const MOST_EVENTS: usize = 1 << 16;

/// Bytes of a file schedstat (proc(5)) at most: three numbers of 64 bits.
const SCHEDSTAT: usize = 64;

/// Such files that are kept open, at most.
const MOST_SCHEDSTATS: usize = 64;

/// A queue of events: a pair of sockets, of which a program reads one.
///
/// This side keeps the reading end, too: so events that nobody has read can be taken back.
#[derive(Debug)]
struct Queue {
    context: ContextId,
    writing: OwnedFd,
    reading: OwnedFd,
    /// By which the reading end is known wherever a program has it.
    inode: u64,
    /// Events for which the socket has no room now.
    waiting: VecDeque<Vec<u8>>,
}

impl Queue {
    fn flush(&mut self) {
        while let Some(event) = self.waiting.front() {
            if sys::send(self.writing.as_fd(), event, None).is_err() {
                return;
            }
            self.waiting.pop_front();
        }
    }
}

/// The right to lock any number of bytes (capabilities(7)).
const CAP_IPC_LOCK: u32 = 14;

/// Returns the capabilities that a process may use, by its status (proc(5)).
fn capabilities(status: &str) -> Option<u64> {
    let mut lines = status.lines();
    let set = lines.find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(set.trim(), 16).ok()
}

/// Returns the bytes that a process may lock, by its limits (proc(5)); `None` without a limit.
fn locked_memory(limits: &str) -> Option<u64> {
    let mut lines = limits.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max locked memory"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The command file of a context.
#[derive(Debug)]
struct CommandFile {
    file: File,
    /// The doorbell pages that the library asks for.
    pages: View,
    /// The words that send queues ring by, of all pages there are, as they were seen last.
    rung: Vec<u64>,
}

impl CommandFile {
    /// Returns the place of a word of a doorbell page.
    fn place(page: u32, offset: u64) -> u64 {
        u64::from(page) * PAGE + offset
    }

    /// Notes the words that queues ring by; returns whether one was written. Words of a send queue
    /// differ from the one before. The word by which a completion queue is armed may be the same
    /// again, with that of another queue of the page between: it is taken.
    fn note_rings(&mut self, pages: &mut dyn Iterator<Item = u32>) -> bool {
        let mut has_changed = false;
        let mut count = 0;
        for page in pages {
            let armed = self.pages.take_word(Self::place(page, ARM_OFFSET));
            has_changed |= armed.is_some_and(|word| word != 0);
            for offset in send_words() {
                let word = self.pages.word(Self::place(page, offset));
                let word = word.unwrap_or_default();
                match self.rung.get_mut(count) {
                    Some(seen) => has_changed |= replace(seen, word) != word,
                    None => {
                        self.rung.push(word);
                        has_changed = true;
                    }
                }
                count += 1;
            }
        }
        has_changed |= count < self.rung.len();
        self.rung.truncate(count);
        has_changed
    }
}

/// A clock that starts at 0.
#[derive(Debug)]
pub(super) struct Clock(Instant);

impl Default for Clock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock {
    /// Returns the time since the start, in ns.
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns the wall clock's time at the start, in ns.
    fn start(&self) -> u64 {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        let wall = wall.unwrap_or_default().as_nanos();
        u64::try_from(wall).map_or(0, |wall| wall.saturating_sub(self.now()))
    }
}

/// Memory, files and queues of all programs.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    pub(super) clock: Clock,
    pub(super) mover: Mover,
    shared: Shared,
    /// Processes whose memory was written.
    written: Vec<Pid>,
    /// The files that tell how long threads have run (proc(5)).
    schedstats: HashMap<(Pid, u32), File>,
    command_files: HashMap<ContextId, CommandFile>,
    queues: HashMap<u64, Queue>,
    next_queue: u64,
}

impl Programs {
    /// Makes the command file of a new context.
    pub(super) fn open(&mut self, context: ContextId) -> std::io::Result<BorrowedFd<'_>> {
        let name = format!("{}{}", wire::COMMAND_FILE, context.0 + 1);
        let file = sys::sparse_file(&name, COMMAND_FILE)?;
        sys::keep_size(file.as_fd())?;
        let command_file = CommandFile {
            pages: View::of(file.as_fd(), FIRST_UAR_PAGE * PAGE, UAR_BYTES, true)?,
            file: File::from(file),
            rung: Vec::new(),
        };
        let clock = clock_info(self.clock.start());
        let place = CLOCK_PAGE * PAGE;
        command_file.file.write_all_at(bytes_of(&clock), place)?;
        let entry = self.command_files.entry(context);
        Ok(entry.insert_entry(command_file).into_mut().file.as_fd())
    }

    /// Writes the bytes that a program stored into the command file, as if it had stored there
    /// itself.
    pub(super) fn store(&self, context: ContextId, at: u64, bytes: &[u8]) -> std::io::Result<()> {
        match self.command_files.get(&context) {
            Some(CommandFile { file, .. }) => file.write_all_at(bytes, at),
            None => Ok(()),
        }
    }

    /// Forgets the command file and queues of a context.
    pub(super) fn close(&mut self, context: ContextId) {
        self.command_files.remove(&context);
        self.mover.forget();
        self.schedstats.clear();
        self.shared.forget(context);
        self.queues.retain(|_, queue| queue.context != context);
    }

    /// Returns the number of command files and queues that there are.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn holds(&self) -> usize {
        self.command_files.len() + self.queues.len()
    }

    /// Returns the reading end of a queue, to be given to its program.
    pub(super) fn reading_end(&self, queue: u64) -> Option<BorrowedFd<'_>> {
        self.queues.get(&queue).map(|queue| queue.reading.as_fd())
    }

    /// Takes the processes whose memory was written since the last call.
    pub(super) fn take_written(&mut self) -> Vec<Pid> {
        take(&mut self.written)
    }

    fn note_write(&mut self, process: Pid) {
        if !self.written.contains(&process) {
            self.written.push(process);
        }
    }

    /// Sends the events that did not fit before; returns true when some still wait.
    pub(super) fn flush(&mut self) -> bool {
        for queue in self.queues.values_mut() {
            queue.flush();
        }
        self.queues.values().any(|queue| !queue.waiting.is_empty())
    }
}

impl Memory for Programs {
    fn read(&mut self, process: Pid, addr: u64, buf: &mut [u8]) -> Result<(), Fault> {
        self.mover.read(process, addr, buf).map_err(|_| Fault)
    }

    fn read_each(
        &mut self,
        process: Pid,
        addresses: &[u64],
        into: &mut [[u8; 8]],
    ) -> Result<(), Fault> {
        self.mover
            .read_words(process, addresses, into)
            .map_err(|_| Fault)
    }

    fn write(&mut self, process: Pid, addr: u64, data: &[u8]) -> Result<(), Fault> {
        self.note_write(process);
        self.mover.write(process, addr, data).map_err(|_| Fault)
    }

    fn write_up_to_last(&mut self, process: Pid, addr: u64, data: &[u8]) -> Result<(), Fault> {
        self.note_write(process);
        self.mover
            .write_up_to_last(process, addr, data)
            .map_err(|_| Fault)
    }

    fn read_region(
        &mut self,
        region: u32,
        process: Pid,
        addr: u64,
        buf: &mut [u8],
    ) -> Result<(), Fault> {
        if self.shared.read(region, addr, buf) {
            return Ok(());
        }
        self.read(process, addr, buf)
    }

    fn write_region(
        &mut self,
        region: u32,
        process: Pid,
        addr: u64,
        data: &[u8],
    ) -> Result<(), Fault> {
        if self.shared.write(region, addr, data) {
            self.note_write(process);
            return Ok(());
        }
        self.write(process, addr, data)
    }

    fn time(&mut self, _begun: u64) -> u64 {
        self.clock.now()
    }

    fn read_uar(
        &mut self,
        context: ContextId,
        page: u32,
        offset: u32,
        buf: &mut [u8; 8],
    ) -> Result<(), Fault> {
        let file = self.command_files.get(&context).ok_or(Fault)?;
        let word = file.pages.word(CommandFile::place(page, offset.into()));
        *buf = word.ok_or(Fault)?.to_ne_bytes();
        Ok(())
    }

    fn has_rung(&mut self, context: ContextId, pages: &mut dyn Iterator<Item = u32>) -> bool {
        let file = self.command_files.get_mut(&context);
        file.is_none_or(|file| file.note_rings(pages))
    }

    fn has_run(&mut self, process: Pid, thread: u32) -> Option<(u64, u64)> {
        let mut text = [0; SCHEDSTAT];
        let key = (process, thread);
        let kept = self.schedstats.get(&key);
        let length = match kept.map(|file| file.read_at(&mut text, 0)) {
            Some(Ok(length)) => length,
            // The thread has ended; another one may have its number.
            Some(Err(_)) | None => {
                let path = format!("/proc/{process}/task/{thread}/schedstat");
                let file = File::open(path).ok()?;
                let length = file.read_at(&mut text, 0).ok()?;
                if self.schedstats.len() >= MOST_SCHEDSTATS {
                    self.schedstats.clear();
                }
                self.schedstats.insert(key, file);
                length
            }
        };
        let text = str::from_utf8(&text[..length]).ok()?;
        // Time on a processor, time of waiting for one, and how often it was given one.
        let mut numbers = text.split_ascii_whitespace().map(str::parse);
        let time = numbers.next()?.ok()?;
        Some((time, numbers.nth(1)?.ok()?))
    }
}

impl Host for Programs {
    fn create_queue(&mut self, context: ContextId) -> Result<u64, Errno> {
        let (writing, reading) = sys::packet_pair().map_err(|_| Errno::NO_MEMORY)?;
        let file = File::from(reading);
        let inode = file.metadata().map_err(|_| Errno::NO_MEMORY)?.ino();
        self.next_queue += 1;
        let queue = Queue {
            context,
            writing,
            reading: OwnedFd::from(file),
            inode,
            waiting: VecDeque::new(),
        };
        self.queues.insert(self.next_queue, queue);
        Ok(self.next_queue)
    }

    fn find_queue(&mut self, process: Pid, fd: i32) -> Option<u64> {
        let link = fs::read_link(format!("/proc/{process}/fd/{fd}")).ok()?;
        let inode = link.to_str()?.strip_prefix("socket:[")?;
        let inode = inode.strip_suffix(']')?.parse().ok()?;
        let mut queues = self.queues.iter();
        let (number, _) = queues.find(|(_, queue)| queue.inode == inode)?;
        Some(*number)
    }

    fn register(&mut self, context: ContextId, process: Pid, region: u32, range: (u64, u64)) {
        self.shared.register(context, process, region, range);
    }

    fn deregister(&mut self, region: u32) {
        self.shared.deregister(region);
    }

    fn may_lock(&mut self, process: Pid) -> Option<u64> {
        let read = |file| fs::read_to_string(format!("/proc/{process}/{file}")).ok();
        let rights = capabilities(&read("status")?)?;
        if rights & 1 << CAP_IPC_LOCK != 0 {
            return None;
        }
        locked_memory(&read("limits")?)
    }

    fn deliver(&mut self, queue: u64, event: &[u8]) -> bool {
        let Some(queue) = self.queues.get_mut(&queue) else {
            return false;
        };
        let room = queue.waiting.len() < MOST_EVENTS;
        if room {
            queue.waiting.push_back(event.to_vec());
        }
        queue.flush();
        room
    }

    fn withdraw(&mut self, queue: u64, element: u64) -> u32 {
        let Some(queue) = self.queues.get_mut(&queue) else {
            return 0;
        };
        let mut kept = VecDeque::new();
        let mut withdrawn = 0;
        let mut event = [0; LONGEST_EVENT];
        while let Ok(length) = sys::receive(queue.reading.as_fd(), &mut event)
            && length > 0
        {
            kept.push_back(event[..length].to_vec());
        }
        kept.append(&mut queue.waiting);
        kept.retain(|event| {
            let stays = event.get(..8) != Some(&element.to_ne_bytes());
            withdrawn += u32::from(!stays);
            stays
        });
        queue.waiting = kept;
        queue.flush();
        withdrawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_nobody_reads_are_bounded() {
        let mut programs = Programs::default();
        let queue = programs.create_queue(ContextId(1)).expect("a queue");
        let event = 7_u64.to_ne_bytes();
        let delivered = (0..2 * MOST_EVENTS)
            .filter(|_| programs.deliver(queue, &event))
            .count();
        // Beyond those that wait, some are in the socket.
        assert!((MOST_EVENTS..2 * MOST_EVENTS).contains(&delivered));
        assert_eq!(programs.withdraw(queue, 7) as usize, delivered);
        assert!(programs.deliver(queue, &event));
    }

    #[test]
    fn words_that_queues_ring_by_are_watched() {
        let mut programs = Programs::default();
        let context = ContextId(1);
        let file = programs.open(context).expect("a file").try_clone_to_owned();
        let file = File::from(file.expect("a descriptor"));
        let mut has_rung = |pages: &[u32]| programs.has_rung(context, &mut pages.iter().copied());
        assert!(has_rung(&[3, 5]), "the first look");
        assert!(!has_rung(&[3, 5]));
        let store = |offset| {
            let place = (FIRST_UAR_PAGE + 5) * PAGE + offset;
            file.write_all_at(&[7; 8], place).expect("room");
        };
        // A queue may be armed by the same word again.
        for offset in [ARM_OFFSET, ARM_OFFSET].into_iter().chain(send_words()) {
            store(offset);
            assert!(has_rung(&[3, 5]), "a store to {offset:#x} of page 5");
            assert!(!has_rung(&[3, 5]));
        }
        assert!(has_rung(&[3]), "a page fewer");
        assert!(has_rung(&[3, 5]), "a page more");
        let mut word = [0; 8];
        let offset = send_words().next().expect("one") as u32;
        assert_eq!(programs.read_uar(context, 5, offset, &mut word), Ok(()));
        assert_eq!(word, [7; 8]);
        let beyond = programs.read_uar(context, MAX_PAGES, 0, &mut word);
        assert_eq!(beyond, Err(Fault));
        assert!(file.set_len(0).is_err(), "nobody takes the pages away");
    }

    #[test]
    fn threads_that_have_run_are_known_until_they_end() {
        let mut programs = Programs::default();
        let process = std::process::id();
        let (send, receive) = std::sync::mpsc::channel();
        let (end, go_on) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let link = fs::read_link("/proc/thread-self").expect("procfs");
            let name = link.file_name().and_then(|name| name.to_str());
            send.send(name.and_then(|name| name.parse().ok())).ok();
            go_on.recv().ok();
        });
        let number = receive.recv().expect("a message").expect("a number");
        let mut now = || programs.has_run(process, number);
        // Until it sleeps.
        let mut before = now().expect("it is there");
        while let Some(later) = now()
            && later != before
        {
            before = later;
        }
        end.send(()).expect("it waits");
        thread.join().expect("it ends");
        // The kernel may be behind.
        while now() == Some(before) {}
        while now().is_some() {}
        assert!(programs.has_run(process, process).is_some());
        assert_eq!(programs.schedstats.len(), 2, "kept");
        programs.close(ContextId(1));
        assert!(programs.schedstats.is_empty());
    }

    #[test]
    fn what_a_process_may_lock() {
        let limits = |value| {
            format!(
                "Max processes  1 2 processes\nMax locked memory         {value}     unlimited            bytes\n"
            )
        };
        assert_eq!(locked_memory(&limits("65536")), Some(65536));
        assert_eq!(locked_memory(&limits("unlimited")), None);
        assert_eq!(locked_memory(""), None);
        let status = "Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t0000000000004000\n";
        assert_eq!(capabilities(status), Some(1 << CAP_IPC_LOCK));
        assert_eq!(capabilities("CapEff: x"), None);
    }
}
