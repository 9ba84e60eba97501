//! Atomic operations by the device, whatever process they go to.

#![expect(unsafe_code, reason = "the device writes results to C addresses")]

use crate::engine::{Core, Engine, HANDLER};
use crate::error::Error;
use crate::lock::Guard;
use crate::remote::{Atomic, Done, Ended};
use crate::segment::By;
use fi_job::Job;
use fi_provider::raw::completion::Context;
use fi_provider::raw::domain::Domain;
use fi_provider::raw::endpoint::{self, Arithmetic, Datatype, OneWord, Typed, Word};

/// The operations that devices may have, on integers of 4 and 8 bytes.
const ASKED: [Arithmetic; 7] = [
    Arithmetic::Read,
    Arithmetic::Write,
    Arithmetic::Sum,
    Arithmetic::BitAnd,
    Arithmetic::BitOr,
    Arithmetic::BitXor,
    Arithmetic::SwapIfEqual,
];

/// The operations that the devices of all processes do: two bits for each of [`ASKED`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeviceDoes(u16);

impl DeviceDoes {
    /// Of this process's domain.
    fn own(domain: &Domain) -> Self {
        let typed = |(bit, operation, datatype)| Some((bit, Typed::new(operation, datatype)?));
        let done = bits().filter_map(typed);
        let done = done.filter(|(_, typed)| domain.device_updates(*typed));
        Self(done.fold(0, |all, (bit, _)| all | bit))
    }

    /// Of all processes: collective where this one has a device, as all have then.
    ///
    /// # Errors
    /// Those of the exchange.
    pub(crate) fn all(domain: &Domain, job: &mut Job) -> Result<Self, Error> {
        if !domain.has_device() {
            return Ok(Self::default());
        }
        let Self(own) = Self::own(domain);
        let told = job.exchange(&own.to_le_bytes())?;
        let (each, _) = told.as_chunks();
        let all = each.iter().map(|bytes| u16::from_le_bytes(*bytes));
        Ok(Self(all.fold(own, |all, one| all & one)))
    }
}

/// A bit for each operation on integers of 4 and 8 bytes.
fn bits() -> impl Iterator<Item = (u16, Arithmetic, Datatype)> {
    let both = |operation| [Datatype::Uint32, Datatype::Uint64].map(|size| (operation, size));
    let all = ASKED.into_iter().flat_map(both);
    (0..).zip(all).map(|(bit, (operation, size))| (1 << bit, operation, size))
}

impl Core {
    /// Whether [`Engine::device_atomic`] does the operation on elements of this type: the same for all
    /// processes.
    pub fn device_does(&self, operation: Arithmetic, datatype: Datatype) -> bool {
        let size = match datatype {
            Datatype::Int32 | Datatype::Uint32 => Datatype::Uint32,
            Datatype::Int64 | Datatype::Uint64 => Datatype::Uint64,
            _ => return false,
        };
        let DeviceDoes(done) = self.device_does;
        bits().any(|(bit, one, of)| (one, of) == (operation, size) && done & bit != 0)
    }
}

impl<G: Guard> Engine<G> {
    /// Has the device do an atomic operation on an element of a process's memory, this one's or that of
    /// another one of the node, too; with `TRIES` where that can be started at once. Elements are atomic to
    /// operations of this kind, and not to [`Engine::atomic`].
    ///
    /// # Errors
    /// As [`Engine::atomic`]; [`Error::Unsupported`] where [`Core::device_does`] says no;
    /// [`Error::WouldWait`] with `TRIES`, where nothing has been done.
    ///
    /// # Safety
    /// As [`Engine::atomic`].
    pub unsafe fn device_atomic<const TRIES: bool>(
        &self,
        rank: u32,
        to: u64,
        atomic: &Atomic,
        done: Done,
    ) -> Result<Ended, Error> {
        let Atomic {
            operation,
            datatype,
            operand,
            comparand,
            result,
        } = *atomic;
        let is_done = self.core.device_does(operation, datatype);
        let Some(typed) = Typed::new(operation, datatype).filter(|_| is_done) else {
            return Err(Error::Unsupported);
        };
        let _turn = self.turn_of::<TRIES>()?;
        let range = (to, datatype.bytes());
        self.core
            .access::<TRIES>(By::Device, rank, range, |region, core| {
                let word = Word {
                    region,
                    address: to,
                    operand,
                    comparand,
                    found: result,
                };
                // SAFETY: the result has room for an element until the end is told, or is null.
                unsafe { core.replies.update(&[word], typed, Context(done.0)) }
            })
    }

    /// Starts an atomic operation on a word of 8 bytes by the device, as [`Engine::device_atomic`] does, in
    /// the region of the process that was accessed last. Returns false where that is not possible at once,
    /// and has done nothing. Calls nothing.
    ///
    /// # Safety
    /// `rank` is that of a process of the job; the rest as for [`Engine::atomic`].
    #[inline(always)]
    pub unsafe fn device_word_now(
        &self,
        (rank, to): (usize, u64),
        operation: endpoint::Atomic,
        operands: (u64, u64),
        result: *mut u8,
        done: Done,
    ) -> bool {
        let core = &self.core;
        if !self.guard.try_lock() {
            return false;
        }
        // SAFETY: the rank is one of the job's; the endpoint's functions know nothing of the table,
        // which this thread alone uses.
        let region = unsafe { core.regions.last_in_line(By::Device, rank) };
        let is_posted = match region {
            Some(region) if !core.rest.has(HANDLER) => {
                let word = OneWord {
                    region,
                    address: to,
                    bytes: size_of::<u64>(),
                    operation,
                    operands,
                    found: result,
                };
                // The device's progress tells of its end: ENDED need not be set.
                // SAFETY: the result has room for a word until the end is told, or is null; updates of the
                // region are in line.
                unsafe { core.replies.update_word_in_line(&word, Context(done.0)) }
            }
            _ => false,
        };
        // SAFETY: locked above.
        unsafe { self.guard.unlock() };
        is_posted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_operation_has_a_bit() {
        let all: HashSet<u16> = bits().map(|(bit, ..)| bit).collect();
        assert_eq!(all.len(), 2 * ASKED.len());
        assert!(all.iter().all(|bit| bit.is_power_of_two()));
    }
}
