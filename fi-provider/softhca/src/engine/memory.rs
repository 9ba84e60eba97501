//! Access of the engine to memory that is not its own: that of processes, and doorbell pages.

use super::types::{ContextId, Pid};

/// Memory that is not there, or not to be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault;

/// The memory of the device's clients.
pub trait Memory {
    /// Reads all of `buf` from `addr` of `process`.
    ///
    /// # Errors
    /// [`Fault`] when any byte cannot be read; `buf` may then be partly written.
    fn read(&mut self, process: Pid, addr: u64, buf: &mut [u8]) -> Result<(), Fault>;

    /// Reads 8 bytes from each of `addresses` of `process`, of which naturally aligned ones are not
    /// torn.
    ///
    /// # Errors
    /// [`Fault`] when any of them cannot be read; the contents of the others are then not known.
    fn read_each(
        &mut self,
        process: Pid,
        addresses: &[u64],
        into: &mut [[u8; 8]],
    ) -> Result<(), Fault> {
        let mut places = addresses.iter().zip(into);
        places.try_for_each(|(address, bytes)| self.read(process, *address, bytes))
    }

    /// Writes all of `data` to `addr` of `process`. A naturally aligned write of 1, 2, 4 or 8 bytes must
    /// not be seen torn by the process.
    ///
    /// # Errors
    /// [`Fault`] when any byte cannot be written; some may then have been.
    fn write(&mut self, process: Pid, addr: u64, data: &[u8]) -> Result<(), Fault>;

    /// Writes all of `data`, its last byte last: a process that finds that byte finds the others, which
    /// may be torn until then.
    ///
    /// # Errors
    /// [`Fault`] when any byte cannot be written; some may then have been.
    fn write_up_to_last(&mut self, process: Pid, addr: u64, data: &[u8]) -> Result<(), Fault> {
        let (before, last) = data.split_at(data.len().saturating_sub(1));
        self.write(process, addr, before)?;
        self.write(process, addr + before.len() as u64, last)
    }

    /// Reads likewise from registered memory, of region `region`. A device that knows the memory of
    /// regions no better keeps the default.
    ///
    /// # Errors
    /// As [`Self::read`].
    fn read_region(
        &mut self,
        _region: u32,
        process: Pid,
        addr: u64,
        buf: &mut [u8],
    ) -> Result<(), Fault> {
        self.read(process, addr, buf)
    }

    /// Writes likewise to registered memory, of region `region`.
    ///
    /// # Errors
    /// As [`Self::write`].
    fn write_region(
        &mut self,
        _region: u32,
        process: Pid,
        addr: u64,
        data: &[u8],
    ) -> Result<(), Fault> {
        self.write(process, addr, data)
    }

    /// Reads a word of doorbell page `page` of a context, from byte `offset`: a hint only. A device
    /// that cannot look keeps the default, and accounts of registers then know the assigned
    /// registers, not the rung ones.
    ///
    /// # Errors
    /// [`Fault`] when there is no such page.
    fn read_uar(
        &mut self,
        _context: ContextId,
        _page: u32,
        _offset: u32,
        _buf: &mut [u8; 8],
    ) -> Result<(), Fault> {
        Err(Fault)
    }

    /// Returns whether a register of these doorbell pages of a context may have been written since
    /// the last call for the context. A device that cannot look keeps the default, and reads
    /// doorbell records all the time.
    fn has_rung(&mut self, _context: ContextId, _pages: &mut dyn Iterator<Item = u32>) -> bool {
        true
    }

    /// Returns the time now, in ns, of a step that has begun at `begun`; that is later where the
    /// caller has a clock, as memory may have been written since.
    fn time(&mut self, begun: u64) -> u64 {
        begun
    }

    /// Returns a value that changes whenever a thread of `process` has run; none where that is not
    /// known.
    fn has_run(&mut self, _process: Pid, _thread: u32) -> Option<(u64, u64)> {
        None
    }
}
