//! Registered memory: keys, rights, bounds.

use super::memory::{Fault, Memory};
use super::table::{Owned, Table};
use super::types::{Access, ContextId, Error, MrKeys, Pid};

/// A region.
#[derive(Debug)]
pub(super) struct Region {
    context: ContextId,
    pid: Pid,
    pub(super) pd: u32,
    start: u64,
    len: u64,
    hca_va: u64,
    access: Access,
    variant: u8,
    /// Some of its pages are not those that were registered.
    stale: bool,
}

impl Owned for Region {
    fn context(&self) -> ContextId {
        self.context
    }
}

/// Bytes of a process that an operation may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The handle of the region that they are of.
    pub(super) region: u32,
    pub(super) pid: Pid,
    pub(super) addr: u64,
    pub(super) len: u64,
}

impl Span {
    /// Reads all of `into` from byte `at` of the span on.
    pub(super) fn read(
        &self,
        memory: &mut dyn Memory,
        at: u64,
        into: &mut [u8],
    ) -> Result<(), Fault> {
        memory.read_region(self.region, self.pid, self.addr + at, into)
    }

    /// Writes all of `bytes` from byte `at` of the span on.
    pub(super) fn write(
        &self,
        memory: &mut dyn Memory,
        at: u64,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        memory.write_region(self.region, self.pid, self.addr + at, bytes)
    }
}

/// Returns the number of bytes of the pages that have `len` bytes at `start`.
pub(crate) fn whole_pages(start: u64, len: u64) -> u64 {
    const PAGE: u64 = 4096;
    let end = start.saturating_add(len).div_ceil(PAGE);
    end.saturating_sub(start / PAGE).saturating_mul(PAGE)
}

/// All regions of the device, by the index in their keys.
#[derive(Debug)]
pub(super) struct Regions {
    table: Table<Region>,
    variant: u8,
}

/// Keys start here: well away from the key that ends lists.
const FIRST_INDEX: u32 = 0x400;

/// Rights that the model knows, and the range of optional ones, which any device may ignore.
const KNOWN_RIGHTS: u32 = Access::LOCAL_WRITE
    | Access::REMOTE_WRITE
    | Access::REMOTE_READ
    | Access::REMOTE_ATOMIC
    | 0x3ff0_0000;

impl Regions {
    pub(super) fn new() -> Self {
        Self {
            table: Table::new("memory region", FIRST_INDEX, 1 << 24),
            variant: 0,
        }
    }

    /// Registers `[start, start + len)`, addressed from `hca_va` on.
    pub(super) fn register(
        &mut self,
        owner: (ContextId, Pid),
        pd: u32,
        range: (u64, u64),
        hca_va: u64,
        access: Access,
    ) -> Result<MrKeys, Error> {
        let (start, len) = range;
        if start.checked_add(len).is_none() || hca_va.checked_add(len).is_none() {
            return Err(Error::Invalid("the region wraps around the address space"));
        }
        if access.0 & !KNOWN_RIGHTS != 0 {
            return Err(Error::Unsupported("this access right"));
        }
        if access.0 & (Access::REMOTE_WRITE | Access::REMOTE_ATOMIC) != 0
            && !access.has(Access::LOCAL_WRITE)
        {
            return Err(Error::Invalid(
                "peers may not write where the process may not",
            ));
        }
        self.variant = self.variant.wrapping_add(1);
        let variant = self.variant;
        let region = Region {
            context: owner.0,
            pid: owner.1,
            pd,
            start,
            len,
            hca_va,
            access,
            variant,
            stale: false,
        };
        let handle = self.table.insert(region)?;
        let key = handle << 8 | u32::from(variant);
        Ok(MrKeys {
            handle,
            lkey: key,
            rkey: key,
        })
    }

    pub(super) fn deregister(&mut self, context: ContextId, handle: u32) -> Result<(), Error> {
        self.table.of(context, handle)?;
        self.table.remove(handle);
        Ok(())
    }

    pub(super) fn forget(&mut self, context: ContextId) {
        self.table.forget(context);
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Notes that the pages of a process from `start` to `end` are others from here on.
    pub(super) fn unmapped(&mut self, pid: Pid, start: u64, end: u64) {
        for region in self.table.values_mut() {
            let touched = region.start < end && start < region.start + region.len;
            region.stale |= region.pid == pid && touched;
        }
    }

    /// Returns the number of bytes of whole pages that regions of a process have, each counted for
    /// itself.
    pub(super) fn pinned(&self, pid: Pid) -> u64 {
        let own = self.table.values().filter(|region| region.pid == pid);
        own.map(|region| whole_pages(region.start, region.len))
            .fold(0, u64::saturating_add)
    }

    pub(super) fn uses_pd(&self, pd: u32) -> bool {
        self.table.values().any(|region| region.pd == pd)
    }

    /// Returns the bytes that `key` gives at `address`, for a queue pair of domain `pd`, with all
    /// of `rights`.
    pub(super) fn resolve(
        &self,
        key: u32,
        pd: u32,
        address: u64,
        len: u64,
        rights: u32,
    ) -> Option<Span> {
        let region = self.table.get(key >> 8)?;
        if u32::from(region.variant) != key & 0xff
            || region.pd != pd
            || !region.access.has(rights)
            || region.stale
        {
            return None;
        }
        let offset = address.checked_sub(region.hca_va)?;
        if offset.checked_add(len)? > region.len {
            return None;
        }
        Some(Span {
            region: key >> 8,
            pid: region.pid,
            addr: region.start + offset,
            len,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: (ContextId, Pid) = (ContextId(1), 7);

    #[test]
    fn bounds_and_rights() {
        let mut regions = Regions::new();
        let keys = regions
            .register(
                OWNER,
                3,
                (0x1000, 0x100),
                0x9000,
                Access(Access::LOCAL_WRITE),
            )
            .unwrap();
        let key = keys.lkey;
        let whole = Span {
            region: keys.handle,
            pid: 7,
            addr: 0x1000,
            len: 0x100,
        };
        assert_eq!(
            regions.resolve(key, 3, 0x9000, 0x100, Access::LOCAL_WRITE),
            Some(whole)
        );
        let last = Span {
            region: keys.handle,
            pid: 7,
            addr: 0x10ff,
            len: 1,
        };
        assert_eq!(regions.resolve(key, 3, 0x90ff, 1, 0), Some(last));
        for (key, pd, address, len, rights) in [
            (key, 3, 0x8fff, 1, 0),
            (key, 3, 0x9000, 0x101, 0),
            (key, 3, 0x9100, 1, 0),
            (key, 3, 0x9001, u64::MAX, 0),
            (key, 4, 0x9000, 1, 0),
            (key ^ 1, 3, 0x9000, 1, 0),
            (key ^ 0x100, 3, 0x9000, 1, 0),
            (key, 3, 0x9000, 1, Access::REMOTE_READ),
            (
                key,
                3,
                0x9000,
                1,
                Access::LOCAL_WRITE | Access::REMOTE_WRITE,
            ),
        ] {
            assert_eq!(regions.resolve(key, pd, address, len, rights), None);
        }
        assert!(regions.deregister(ContextId(2), keys.handle).is_err());
        regions.deregister(OWNER.0, keys.handle).unwrap();
        assert_eq!(regions.resolve(key, 3, 0x9000, 1, 0), None);
    }

    #[test]
    fn other_pages_are_not_used() {
        let mut regions = Regions::new();
        let mut register = |start| {
            let range = (start, 0x2000);
            let keys = regions.register(OWNER, 3, range, start, Access(Access::LOCAL_WRITE));
            keys.unwrap().lkey
        };
        let keys = [0x10000, 0x12000, 0x14000].map(|start| (register(start), start));
        regions.unmapped(OWNER.1 + 1, 0, u64::MAX);
        regions.unmapped(OWNER.1, 0x13000, 0x14000);
        let used = keys.map(|(key, start)| regions.resolve(key, 3, start, 1, 0).is_some());
        assert_eq!(used, [true, false, true]);
    }

    #[test]
    fn whole_pages_are_counted() {
        for (start, len, pages) in [
            (0, 0, 0),
            (0, 1, 1),
            (4095, 2, 2),
            (4096, 4096, 1),
            (1, 4096, 2),
        ] {
            assert_eq!(whole_pages(start, len), pages * 4096, "{len} at {start}");
        }
        assert_eq!(whole_pages(0, u64::MAX), u64::MAX);
    }

    #[test]
    fn registrations_that_are_refused() {
        let mut regions = Regions::new();
        for (start, len, va, access) in [
            (u64::MAX, 2, 0, 0),
            (0, 2, u64::MAX, 0),
            (0, 1, 0, Access::REMOTE_WRITE),
            (0, 1, 0, Access::REMOTE_ATOMIC | Access::REMOTE_READ),
            (0, 1, 0, 1 << 6),
        ] {
            assert!(
                regions
                    .register(OWNER, 3, (start, len), va, Access(access))
                    .is_err()
            );
        }
    }
}
