//! The device of a domain: the part of it that its endpoints share.

#![expect(unsafe_code, reason = "registers memory")]

use crate::device::amo::entry;
use crate::device::{self, Lanes, Plan, Queues};
use crate::raw::atomic::{Atomic, amo};
use crate::raw::error::Error;
use crate::raw::rights::{Addressing, Rights};
use crate::registration::Limits;
use crate::symmetric::window::Window;
use fi_mlx5::device as hca;
use fi_mlx5::lane::Hook;
use fi_mlx5::policy::{Completions, DEFAULT};
use fi_shm::random;
use std::sync::atomic::AtomicU64;

/// The queue pairs by which the device reaches endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QpType {
    /// By connected queue pairs, three for each: for records, and for accesses in either direction.
    Rc,
    /// By initiators that go to all, each with two targets.
    Dc,
}

/// An open device.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) hca: hca::Device,
    pub(crate) qp_type: QpType,
    /// The process's key, by which targets are entered and first packets are numbered.
    pub(crate) key: u64,
    hook: Option<Hook>,
    lanes: Lanes,
}

/// Endpoints that one lane has connected queues to, at most.
pub(crate) const MOST_CONNECTED: u32 = 512;

impl Device {
    /// Opens the first device that there is.
    pub(crate) fn open(qp_type: QpType) -> Result<Self, Error> {
        let key = u64::from_ne_bytes(random::bytes()?);
        let hca = hca::Device::open(None).map_err(|_| Error::NoDevice)?;
        let hca = hca.with_key(key);
        let features = hca.features();
        if !features.host_endian_atomics || qp_type == QpType::Dc && !features.dc {
            return Err(Error::NoDevice);
        }
        let lanes = Lanes::bare(&hca, DEFAULT, Completions::Own, Limits::default());
        Ok(Self {
            lanes: lanes.map_err(|_| Error::NoDevice)?,
            hca,
            qp_type,
            key,
            hook: device::hook::software_hook(),
        })
    }

    /// Tells whether it does an atomic operation on words of `bytes` bytes.
    pub(crate) fn does(&self, operation: Atomic, bytes: usize) -> bool {
        let features = self.hca.features();
        let has_masked = || match bytes {
            4 => features.masked_atomics_4,
            _ => features.masked_atomics_8,
        };
        entry(amo(operation, 0, 0), bytes, has_masked).is_some()
    }

    /// Makes a lane, whose bounce memory has pieces of `piece_len` bytes, and whose completions have
    /// events in this file.
    pub(crate) fn lane(
        &self,
        piece_len: usize,
        channel: &hca::Channel,
    ) -> Result<device::Gate, Error> {
        let queues = match self.qp_type {
            QpType::Rc => Queues::Later(MOST_CONNECTED),
            QpType::Dc => Queues::Initiators(1),
        };
        let plan = Plan {
            piece_len,
            ..Plan::beside(queues, false, self.hook)
        };
        let nowhere = Window::spanning(Vec::new());
        let opened = self.lanes.open_telling(&plan, &nowhere, Some(channel));
        opened.map_err(|_| Error::NoRoom)
    }

    /// Registers words for own entries alone.
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    ///
    /// # Safety
    /// The words stay where they are until the region is dropped.
    pub(crate) unsafe fn register_own(&self, words: &[AtomicU64]) -> Result<hca::Region, Error> {
        let memory = words.as_ptr().cast::<u8>().cast_mut();
        // SAFETY: the words stay mapped until the region is dropped; they are atomic, so that the
        // device may write them.
        let region = unsafe { self.hca.register_local(memory, size_of_val(words)) };
        region.map_err(|_| Error::NoRoom)
    }

    /// Lets a software device act at once. Counts of instructions leave this function out, by its
    /// name.
    #[inline(never)]
    pub(crate) fn kick(&self) {
        if let Some(hook) = self.hook {
            // A device that is gone fails the operations under way.
            let _ = hook();
        }
    }

    /// Registers memory for peers, which name its bytes as `addressing` says.
    ///
    /// # Safety
    /// The bytes stay mapped, writable where `rights` say so, until the region is dropped, and
    /// others write them at any time.
    pub(crate) unsafe fn register(
        &self,
        (memory, len): (*mut u8, usize),
        rights: Rights,
        addressing: Addressing,
    ) -> Result<hca::Region, Error> {
        let start = addressing.start(memory.addr());
        let all = [
            (Rights::READ, hca::Rights::READ),
            (Rights::WRITE, hca::Rights::WRITE),
            (Rights::ATOMIC, hca::Rights::ATOMIC),
        ];
        let given = all.into_iter().filter(|(right, _)| rights.has(*right));
        let none = hca::Rights::NONE;
        let rights = given.fold(none, |rights, (_, right)| rights | right);
        // SAFETY: the bytes stay mapped, writable where rights say so, and others may write them.
        let region = unsafe { self.hca.register_at(memory, len, start, rights) };
        region.map_err(|_| Error::NoRoom)
    }
}
