//! Completion queues: writing entries, overruns, arming.

use super::memory::{Fault, Memory};
use super::table::Owned;
use super::types::{CompletionEvent, ContextId, CqInit, Error, Pid};
use bytemuck::{Zeroable, bytes_of, bytes_of_mut};
use fi_mlx5_defs::cqe::{Cqe, owner_of};
use fi_mlx5_defs::doorbell::{Arm, CompletionRecord};
use std::mem::offset_of;

/// Consumer indices of doorbell records have 24 bits.
const INDEX_MASK: u32 = 0xff_ffff;
/// Entries of a ring at most.
const MAX_ENTRIES: u32 = 1 << 22;

/// A completion queue.
#[derive(Debug)]
pub(super) struct CompletionQueue {
    context: ContextId,
    pid: Pid,
    init: CqInit,
    /// Entries written so far.
    producer: u32,
    /// Consumer index that the doorbell record held last.
    consumer: u32,
    /// The producer index behind the last solicited entry or error.
    solicited_end: Option<u32>,
    /// The producer index when the last event was raised.
    notified: u32,
    /// The arm word that was seen last.
    seen: u32,
    armed: Option<Arm>,
    /// It overran, or its memory is gone: nothing is written any more.
    failed: bool,
}

impl Owned for CompletionQueue {
    fn context(&self) -> ContextId {
        self.context
    }
}

impl CompletionQueue {
    /// Makes a queue over the process's ring. The arm word is marked, as the first arming may write
    /// the 0 that the library put there before.
    pub(super) fn create(
        memory: &mut dyn Memory,
        context: ContextId,
        pid: Pid,
        init: CqInit,
    ) -> Result<Self, Error> {
        if !init.cqe_count.is_power_of_two() || init.cqe_count > MAX_ENTRIES {
            return Err(Error::Invalid(
                "a completion queue has a power of two of entries",
            ));
        }
        if !matches!(init.cqe_size, 64 | 128) {
            return Err(Error::Invalid("completion entries have 64 or 128 bytes"));
        }
        let bytes = u64::from(init.cqe_count) * u64::from(init.cqe_size);
        if init.buf_addr.checked_add(bytes).is_none() || init.db_addr.checked_add(8).is_none() {
            return Err(Error::Invalid(
                "the completion queue wraps around the address space",
            ));
        }
        memory.write(pid, init.db_addr + 4, &Arm::NEVER.to_be_bytes())?;
        Ok(Self {
            context,
            pid,
            init,
            producer: 0,
            consumer: 0,
            solicited_end: None,
            notified: 0,
            seen: Arm::NEVER,
            armed: None,
            failed: false,
        })
    }

    pub(super) fn user_handle(&self) -> u64 {
        self.init.user_handle
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Writes an entry, its last byte last.
    ///
    /// # Errors
    /// [`Fault`] when the ring is full or not writable; nothing will be written from then on.
    pub(super) fn push(&mut self, memory: &mut dyn Memory, mut cqe: Cqe) -> Result<(), Fault> {
        if self.failed {
            return Err(Fault);
        }
        let done = self
            .has_room(memory)
            .and_then(|()| self.write(memory, &mut cqe));
        self.failed = done.is_err();
        done?;
        self.producer = self.producer.wrapping_add(1);
        if cqe.solicited() || cqe.is_error() {
            self.solicited_end = Some(self.producer);
        }
        Ok(())
    }

    fn has_room(&mut self, memory: &mut dyn Memory) -> Result<(), Fault> {
        if self.init.ignore_overrun {
            return Ok(());
        }
        if self.used() >= self.init.cqe_count {
            self.consumer = self.record(memory)?.consumer.get() & INDEX_MASK;
        }
        if self.used() >= self.init.cqe_count {
            Err(Fault)
        } else {
            Ok(())
        }
    }

    fn used(&self) -> u32 {
        self.producer.wrapping_sub(self.consumer) & INDEX_MASK
    }

    fn write(&self, memory: &mut dyn Memory, cqe: &mut Cqe) -> Result<(), Fault> {
        // The owner, by which the process knows the entry, is the last byte.
        const { assert!(offset_of!(Cqe, opcode_owner) + 1 == size_of::<Cqe>()) };
        cqe.set_owner(owner_of(self.producer, self.init.cqe_count));
        let slot = u64::from(self.producer & (self.init.cqe_count - 1));
        let size = u64::from(self.init.cqe_size);
        let addr = self.init.buf_addr + slot * size + (size - 64);
        memory.write_up_to_last(self.pid, addr, bytes_of(cqe))
    }

    fn record(&self, memory: &mut dyn Memory) -> Result<CompletionRecord, Fault> {
        let mut record = CompletionRecord::zeroed();
        memory.read(self.pid, self.init.db_addr, bytes_of_mut(&mut record))?;
        Ok(record)
    }

    /// Arms it with this word of the register (strict mode); returns the word in the doorbell
    /// record.
    pub(super) fn arm(&mut self, memory: &mut dyn Memory, word: u32) -> Option<u32> {
        self.armed = Arm::from_word(word);
        self.record(memory).ok().map(|record| record.arm.get())
    }

    /// Returns where its doorbell record lies, if it can be armed for events.
    pub(super) fn place_of_arm(&self) -> Option<(Pid, u64)> {
        let can_be = self.init.channel.is_some() && !self.failed;
        can_be.then_some((self.pid, self.init.db_addr))
    }

    /// Returns whether `poll_event` has to look: an event is due, or the record has another word than
    /// before.
    pub(super) fn may_be_due(&self, record: &CompletionRecord) -> bool {
        record.arm.get() != self.seen || self.armed.is_some_and(|arm| self.is_due(arm))
    }

    /// Returns whether it was armed for entries that are there.
    fn is_due(&self, arm: Arm) -> bool {
        // Entries that neither the arming nor an earlier event knew of.
        let unseen = self.producer.wrapping_sub(arm.consumer) & INDEX_MASK;
        let new = unseen.min(self.producer.wrapping_sub(self.notified));
        let solicited = self
            .solicited_end
            .is_some_and(|end| self.producer.wrapping_sub(end) < new);
        new > 0 && unseen <= self.init.cqe_count && (solicited || !arm.solicited_only)
    }

    /// Looks whether it was armed, which in strict mode a register tells, and whether that is due.
    pub(super) fn poll_event(
        &mut self,
        memory: &mut dyn Memory,
        cqn: u32,
        strict: bool,
    ) -> Option<CompletionEvent> {
        let channel = self.init.channel?;
        if self.failed {
            return None;
        }
        let word = match strict {
            true => self.seen,
            false => self.record(memory).ok()?.arm.get(),
        };
        if word != self.seen {
            self.seen = word;
            self.armed = Arm::from_word(word);
        }
        if !self.is_due(self.armed?) {
            return None;
        }
        self.notified = self.producer;
        self.armed = None;
        Some(CompletionEvent {
            context: self.context,
            cqn,
            channel,
            user_handle: self.init.user_handle,
        })
    }
}
