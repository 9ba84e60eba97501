//! Processes of a few pages, and a watch on how much is asked of them.

use crate::engine::{ContextId, Fault, Memory, Pid};
use crate::uverbs::{Errno, Host};
use std::collections::BTreeMap;

/// Address where the memory of each process starts.
pub(super) const BASE: u64 = 0x10_0000;
/// Its size, in bytes.
pub(super) const SIZE: usize = 0x4000;

/// The most that one access may ask for, in bytes: more than any entry, window or chunk has.
const LONGEST: usize = 4 << 20;
/// The most accesses, and the most bytes, of one step.
const MOST_ACCESSES: u64 = 1 << 17;
const MOST_BYTES: u64 = 1 << 30;

/// Memory of processes by number, and their queues of events.
#[derive(Debug, Default)]
pub(super) struct Processes {
    memory: BTreeMap<Pid, Vec<u8>>,
    queues: BTreeMap<u64, Vec<Vec<u8>>>,
    next_queue: u64,
    accesses: u64,
    bytes: u64,
}

impl Processes {
    /// Adds one more process.
    pub(super) fn add(&mut self, process: Pid) {
        self.memory.insert(process, vec![0; SIZE]);
    }

    /// Puts bytes where they fit.
    pub(super) fn put(&mut self, process: Pid, offset: usize, bytes: &[u8]) {
        if let Some(memory) = self.memory.get_mut(&process) {
            let start = offset % SIZE;
            let length = bytes.len().min(SIZE - start);
            memory[start..start + length].copy_from_slice(&bytes[..length]);
        }
    }

    /// Begins a step: earlier accesses do not count any more.
    pub(super) fn begin(&mut self) {
        (self.accesses, self.bytes) = (0, 0);
    }

    fn range(
        &mut self,
        process: Pid,
        addr: u64,
        length: usize,
    ) -> std::result::Result<&mut [u8], Fault> {
        self.accesses += 1;
        self.bytes += length as u64;
        assert!(length <= LONGEST, "{length} bytes at once");
        assert!(self.accesses < MOST_ACCESSES, "a step has no end");
        assert!(self.bytes < MOST_BYTES, "a step moves too much");
        let memory = self.memory.get_mut(&process).ok_or(Fault)?;
        let start = addr.checked_sub(BASE).ok_or(Fault)?;
        let start = usize::try_from(start).map_err(|_| Fault)?;
        let end = start.checked_add(length).ok_or(Fault)?;
        memory.get_mut(start..end).ok_or(Fault)
    }
}

impl Memory for Processes {
    fn read(&mut self, process: Pid, addr: u64, buf: &mut [u8]) -> Result<(), Fault> {
        buf.copy_from_slice(self.range(process, addr, buf.len())?);
        Ok(())
    }

    fn write(&mut self, process: Pid, addr: u64, data: &[u8]) -> Result<(), Fault> {
        self.range(process, addr, data.len())?.copy_from_slice(data);
        Ok(())
    }

    fn read_uar(
        &mut self,
        _context: ContextId,
        page: u32,
        offset: u32,
        buf: &mut [u8; 8],
    ) -> Result<(), Fault> {
        // The doorbell pages are the bytes that the first process has in its memory.
        let at = u64::from(page % 4) * 4096 + u64::from(offset);
        self.read(1, BASE + at, buf)
    }
}

impl Host for Processes {
    fn create_queue(&mut self, _context: ContextId) -> Result<u64, Errno> {
        self.next_queue += 1;
        self.queues.insert(self.next_queue, Vec::new());
        Ok(self.next_queue)
    }

    fn find_queue(&mut self, _process: Pid, fd: i32) -> Option<u64> {
        // Here a descriptor has the number of its queue.
        let number = u64::try_from(fd).ok()?;
        self.queues.contains_key(&number).then_some(number)
    }

    fn deliver(&mut self, queue: u64, event: &[u8]) -> bool {
        self.queues.entry(queue).or_default().push(event.to_vec());
        true
    }

    fn withdraw(&mut self, queue: u64, element: u64) -> u32 {
        let events = self.queues.entry(queue).or_default();
        let before = events.len();
        events.retain(|event| event[..8] != element.to_ne_bytes());
        (before - events.len()) as u32
    }
}
