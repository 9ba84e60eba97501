//! Stores to doorbell pages, as the shim tells of them in strict mode.

use super::contexts::{FIRST_UAR_PAGE, PAGE};
use super::{Device, Errno, Host};
use crate::engine::{ContextId, Pid, Violation};

/// Fixed pages of the command file: bits 8 to 15 of the page's number tell its kind
/// (`MLX5_IB_MMAP_CMD_SHIFT` of the kernel), the others are an index.
const COMMAND_SHIFT: u64 = 8;
/// A static doorbell page, as it comes, write-combining and non-cached.
const STATIC: [u64; 3] = [0, 2, 3];
/// One more doorbell page of the legacy regime, behind the static ones.
const DYNAMIC: u64 = 6;

/// A store that a thread of a process made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Store<'a> {
    pub(crate) process: Pid,
    pub(crate) thread: u32,
    /// Offset in the command file.
    pub(crate) at: u64,
    pub(crate) bytes: &'a [u8],
}

impl Device {
    /// Takes a store, at a monotonic time in ns; the entries that it rings are executed later.
    pub(crate) fn store(
        &mut self,
        host: &mut dyn Host,
        id: ContextId,
        store: &Store<'_>,
        now: u64,
    ) -> Result<Vec<Violation>, Errno> {
        let owner = self.contexts.get(&id).ok_or(Errno::INVALID)?;
        if owner.process != store.process {
            return Err(Errno::NOT_PERMITTED);
        }
        let offset = (store.at % PAGE) as u32;
        let Some(page) = self.page_at(id, store.at / PAGE) else {
            let size = store.bytes.len();
            return Ok(vec![Violation::NoRegister { offset, size }]);
        };
        self.engine.set_time(now);
        Ok(self
            .engine
            .store(host, id, store.thread, page, offset, store.bytes))
    }

    /// Executes the entries that were rung up to now without holding them.
    pub(crate) fn release(&mut self, now: u64) {
        self.engine.set_time(now);
        self.engine.release();
    }

    /// Returns the doorbell page that a page of the command file is.
    fn page_at(&self, id: ContextId, page: u64) -> Option<u32> {
        if let Some(object) = page.checked_sub(FIRST_UAR_PAGE) {
            return u32::try_from(object).ok();
        }
        let command = page >> COMMAND_SHIFT & 0xff;
        let index = (page & 0xff | page >> 16 << 8) as u32;
        match command {
            _ if STATIC.contains(&command) => Some(index),
            DYNAMIC => Some(self.engine.static_pages(id).ok()? + index),
            _ => None,
        }
    }
}
