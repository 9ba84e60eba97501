//! Atomic operations by the device, to any process.

#![expect(unsafe_code, reason = "the device writes results to C addresses")]

use crate::engine::{Core, Engine};
use crate::error::Error;
use crate::lock::Guard;
use crate::remote::{Atomic, Done, Ended, on_last_in_line};
use crate::segment::By;
use fi_job::Job;
use fi_provider::raw::completion::Context;
use fi_provider::raw::domain::Domain;
use fi_provider::raw::endpoint::{self, Arithmetic, Datatype, OneWord, Typed};

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

/// The operations that the devices of all processes do: a bit for each on 4 bytes, and on 8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeviceDoes([u8; 2]);

impl DeviceDoes {
    /// Returns the operations of this process's domain.
    fn own(domain: &Domain) -> Self {
        let does = |operation, of| {
            Typed::new(operation, of).is_some_and(|typed| domain.device_updates(typed))
        };
        let bits = |of| {
            let done = ASKED.into_iter().filter(|&operation| does(operation, of));
            done.fold(0, |all, operation| all | bit(operation))
        };
        Self([Datatype::Uint32, Datatype::Uint64].map(bits))
    }

    /// Returns the operations of all processes: collective where this one has a device, as all have
    /// then.
    ///
    /// # Errors
    /// Those of the exchange.
    pub(crate) fn all(domain: &Domain, job: &mut Job) -> Result<Self, Error> {
        if !domain.has_device() {
            return Ok(Self::default());
        }
        let Self(own) = Self::own(domain);
        let told = job.exchange(&own)?;
        let (each, _) = told.as_chunks();
        let both = |one: [u8; 2], other: &[u8; 2]| [one[0] & other[0], one[1] & other[1]];
        Ok(Self(each.iter().fold(own, both)))
    }
}

/// Returns the bit of an operation; 0 of those that no device has.
#[inline(always)]
fn bit(operation: Arithmetic) -> u8 {
    let place = ASKED.iter().position(|&one| one == operation);
    place.map_or(0, |place| 1 << place)
}

impl Core {
    /// Returns whether [`Engine::device_atomic`] does the operation on elements of this type: the
    /// same for all processes.
    #[inline]
    pub fn device_does(&self, operation: Arithmetic, datatype: Datatype) -> bool {
        let DeviceDoes([of_4, of_8]) = self.device_does;
        let done = match datatype {
            Datatype::Int32 | Datatype::Uint32 => of_4,
            Datatype::Int64 | Datatype::Uint64 => of_8,
            _ => 0,
        };
        done & bit(operation) != 0
    }
}

impl<G: Guard> Engine<G> {
    /// Has the device do an atomic operation on an element of a process's memory, this one's or
    /// that of another one of the node, too; with `TRIES` where that can be started at once.
    /// Elements are atomic to operations of this kind, and not to [`Engine::atomic`].
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
        if !self.core.device_does(operation, datatype) {
            return Err(Error::Unsupported);
        }
        let typed = Typed::new(operation, datatype);
        let Some(operation) = typed.and_then(Typed::native) else {
            return Err(Error::Unsupported);
        };
        let _turn = self.turn_of::<TRIES>()?;
        let range = (to, datatype.bytes());
        self.access::<TRIES>(By::Device, rank, range, |region, core| {
            let word = OneWord {
                region,
                address: to,
                bytes: datatype.bytes(),
                operation,
                operands: (operand, comparand),
                found: result,
            };
            // SAFETY: the result has room for an element until the end is told, or is null.
            unsafe { core.replies.update_one_by_device(&word, Context(done.0)) }
        })
    }

    /// Starts an atomic operation on a word of 8 bytes by the device, as [`Engine::device_atomic`]
    /// does, in the region of the process that was accessed last. Returns false where that is not
    /// possible at once, and has done nothing. Calls nothing.
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
        // The device's progress tells of its end: ENDED need not be set.
        let report = Context(done.0);
        // SAFETY: the rank is one of the job's; the result has room for a word until the end is
        // told, or is null, and updates of the region are in line.
        unsafe {
            on_last_in_line!(self, By::Device, rank, |endpoint, region| {
                let word = OneWord {
                    region,
                    address: to,
                    bytes: size_of::<u64>(),
                    operation,
                    operands,
                    found: result,
                };
                endpoint.update_word_resolved(&word, report)
            })
        }
    }

    /// Sees to it that [`Engine::device_word_now`] finds room again, if it declined for that.
    /// Returns false where it would do so again.
    ///
    /// # Safety
    /// `rank` is that of a process of the job.
    #[inline(always)]
    pub unsafe fn widen_device_words(&self, rank: usize) -> bool {
        // SAFETY: the rank is one of the job's.
        unsafe { self.widen_posts(By::Device, rank) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_has_a_bit() {
        let all = ASKED.map(bit);
        assert_eq!(all.iter().fold(0, |all, one| all | one), 0x7f);
        assert!(all.iter().all(|bit| bit.is_power_of_two()));
        assert_eq!(bit(Arithmetic::Product), 0);
    }
}
