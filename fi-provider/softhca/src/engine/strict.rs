//! Strict mode: the device acts on doorbells that were seen as they were written, and checks them.

use super::Engine;
use super::collect::{Key, PLAIN, Rung, Stored, copy_length};
use super::memory::Memory;
use super::queue::QueuePair;
use super::table::Owned;
use super::types::{ContextId, QpState, Violation};
use super::uar::Place;
use fi_mlx5_defs::decode::control;
use fi_mlx5_defs::doorbell::{ARM_OFFSET, BLUEFLAME_HALF, register_at};
use fi_mlx5_defs::wqe::{UNIT, blocks};

/// The shortest store that registers take, in bytes: half a doorbell, as 32-bit processors write it.
const SHORTEST: usize = 4;

/// So long at most, in ns, an entry waits until the thread that rang has run.
const PATIENCE: u64 = 20_000_000;

/// The time between two looks whether records tell of blocks that were not rung, in ns.
const LOOK: u64 = 10_000_000;

/// After this time, in ns, blocks that are not rung are taken never to be, if their context is
/// closed.
const NEVER: u64 = 100_000_000;

impl Engine {
    /// Takes a store as [`Self::store`] does, of a program of one thread.
    pub fn ring(
        &mut self,
        memory: &mut dyn Memory,
        context: ContextId,
        page: u32,
        offset: u32,
        bytes: &[u8],
    ) -> Vec<Violation> {
        self.store(memory, context, 0, page, offset, bytes)
    }

    /// Takes a store of `bytes` to byte `offset` of doorbell page `page` by a thread, as its
    /// observer tells of it. In strict mode this alone makes the send queue move, up to the entry
    /// that was rung, and arms completion queues; the violations tell of bytes that are not as
    /// hardware needs them. A doorbell counts when its first 8 bytes are there. The queue pair goes
    /// on as on hardware, with the entry as it is in the ring; a store that hardware does not take
    /// has no effect.
    pub fn store(
        &mut self,
        memory: &mut dyn Memory,
        context: ContextId,
        thread: u32,
        page: u32,
        offset: u32,
        bytes: &[u8],
    ) -> Vec<Violation> {
        let mut found = Vec::new();
        let (half, room) = buffer_at(offset);
        let at = offset - half;
        if room == 0
            || bytes.len() < SHORTEST
            || at as usize + bytes.len() > room
            || !at.is_multiple_of(SHORTEST as u32)
        {
            let size = bytes.len();
            found.push(Violation::NoRegister { offset, size });
            return found;
        }
        let key = (context, page, half);
        let stored = self
            .doorbells
            .store(key, thread, at as usize, bytes, &mut found);
        let Stored::Head(head) = stored else {
            return found;
        };
        let rung = if u64::from(half) == ARM_OFFSET {
            self.arm(memory, context, head, &mut found)
        } else {
            self.doorbell(memory, key, thread, head, &mut found)
        };
        self.doorbells.rung(key, rung, &mut found);
        found
    }

    /// Arms a completion queue, by a register.
    fn arm(
        &mut self,
        memory: &mut dyn Memory,
        context: ContextId,
        head: [u8; PLAIN],
        found: &mut Vec<Violation>,
    ) -> Rung {
        let value = u64::from_be_bytes(head);
        let (rung, cqn) = ((value >> 32) as u32, value as u32);
        let own = self.cqs.get_mut(cqn).filter(|cq| cq.context() == context);
        match own {
            None => found.push(Violation::UnknownCompletionQueue(cqn)),
            Some(cq) => {
                let record = cq.arm(memory, rung);
                if let Some(record) = record.filter(|record| *record != rung) {
                    found.push(Violation::ArmDiffers { cqn, rung, record });
                }
            }
        }
        Rung {
            copy: PLAIN,
            ..Rung::default()
        }
    }

    /// Rings a send queue, by a register.
    fn doorbell(
        &mut self,
        memory: &mut dyn Memory,
        key: Key,
        thread: u32,
        head: [u8; PLAIN],
        found: &mut Vec<Violation>,
    ) -> Rung {
        let (context, page, half) = key;
        let mut padded = [0; UNIT];
        padded[..PLAIN].copy_from_slice(&head);
        let control = control(&padded).unwrap_or_default();
        let (qpn, index) = (control.qpn(), control.index());
        let mut rung = Rung {
            qpn,
            entry: Vec::new(),
            copy: copy_length(control.units()),
            blueflame: self.has_blueflame(context, page, half),
        };
        let now = self.now;
        let own = self
            .qps
            .get_mut(qpn)
            .filter(|qp| qp.context == context && qp.init.sq_wqe_count > 0);
        let Some(qp) = own else {
            found.push(Violation::UnknownQueue(qpn));
            return rung;
        };
        if let Some(own) = qp.place.page().filter(|own| *own != page) {
            let rung_on = page;
            found.push(Violation::WrongPage { qpn, rung_on, own });
            return rung;
        }
        if let Place::Page(..) = qp.place {
            qp.place = Place::Page(page, register_at(half.into()));
        }
        let length = blocks(control.units()).max(1) as u16;
        let producer = index.wrapping_add(length);
        qp.check_record(memory, qpn, index, producer, found);
        if qp
            .read_blocks(memory, index, length, &mut rung.entry)
            .is_err()
        {
            rung.entry.clear();
        }
        rung.entry.truncate(control.units() * UNIT);
        if rung.entry.get(..PLAIN).is_some_and(|entry| entry != head) || rung.entry.is_empty() {
            found.push(Violation::EntryDiffers(qpn));
            rung.entry.clear();
        }
        qp.advance(memory, (qpn, thread), producer, now, found);
        rung
    }

    /// Returns whether copies may be written to this buffer.
    fn has_blueflame(&self, context: ContextId, page: u32, half: u32) -> bool {
        let Some(owner) = self.contexts.get(&context) else {
            return false;
        };
        register_at(half.into()).is_some_and(|register| owner.uars.has_blueflame((page, register)))
    }

    /// Sets the time, in ns, for doorbells that come before the next step.
    pub fn set_time(&mut self, now: u64) {
        self.now = self.now.max(now);
    }

    /// Ends the hold of all entries that were rung up to now.
    pub fn release(&mut self) {
        self.released = self.now;
    }

    /// Returns the counter up to which a send queue was rung, if anything of it is due.
    pub(super) fn due(&mut self, memory: &mut dyn Memory, handle: u32) -> Option<u16> {
        let (now, hold, released) = (self.now, self.config.hold_ns, self.released);
        let qp = self.qps.get_mut(handle)?;
        if qp.rings.next_look <= now {
            qp.rings.next_look = now + LOOK;
            qp.look(memory, now);
        }
        if qp.rings.rung == qp.send_consumer {
            return None;
        }
        if qp.rings.since > released && qp.is_held(memory, now, hold) {
            self.progress.waiting = true;
            return None;
        }
        Some(qp.rings.rung)
    }

    /// Compares the entry that is going to be executed with its bytes when it was rung.
    pub(super) fn check_unchanged(&mut self, handle: u32, index: u16, bytes: &[u8]) {
        let Some(qp) = self.qps.get_mut(handle) else {
            return;
        };
        let before = qp.rings.posted.iter_mut().zip(bytes);
        let mut changed = None;
        for (at, (then, now)) in before.enumerate().filter(|(_, (then, now))| *then != *now) {
            changed.get_or_insert(at);
            // It is told once, however often the entry is tried.
            *then = *now;
        }
        if let Some(at) = changed {
            let violation = Violation::EntryChanged {
                qpn: handle,
                index,
                at,
            };
            self.violations.push((qp.pid, violation));
        }
    }

    /// Checks whether all blocks of a queue pair were rung, before it is destroyed.
    pub fn check_rung(&mut self, memory: &mut dyn Memory, context: ContextId, handle: u32) {
        let strict = self.config.strict;
        let Some(qp) = self
            .qps
            .get_mut(handle)
            .filter(|qp| strict && qp.context == context)
        else {
            return;
        };
        qp.look(memory, self.now);
        if let Some((_, record)) = qp.rings.unrung {
            let violation = qp.never_rung(handle, record);
            self.violations.push((qp.pid, violation));
        }
    }

    /// Checks the queue pairs of a context before it is closed. Its process may have ended, and its
    /// memory may be gone.
    pub(super) fn check_closed(&mut self, context: ContextId) {
        let Some(pid) = self.contexts.get(&context).map(|context| context.pid) else {
            return;
        };
        let unfinished = self.doorbells.close(context);
        self.violations
            .extend(unfinished.into_iter().map(|violation| (pid, violation)));
        for handle in self.qps.numbers() {
            let Some(qp) = self.qps.get(handle).filter(|qp| qp.context == context) else {
                continue;
            };
            if let Some((since, record)) = qp.rings.unrung
                && self.now.saturating_sub(since) >= NEVER
            {
                self.violations.push((pid, qp.never_rung(handle, record)));
            }
        }
    }
}

impl QueuePair {
    /// Checks that the doorbell record was written before the register.
    fn check_record(
        &self,
        memory: &mut dyn Memory,
        qpn: u32,
        index: u16,
        producer: u16,
        found: &mut Vec<Violation>,
    ) {
        let Ok(record) = self.record(memory) else {
            return;
        };
        let record = record.send.get() as u16;
        if u32::from(record.wrapping_sub(producer)) > self.init.sq_wqe_count {
            found.push(Violation::RecordBehind {
                qpn,
                rung: index,
                record,
            });
        }
    }

    /// Takes the rung blocks, if they are new, and keeps a copy of them.
    fn advance(
        &mut self,
        memory: &mut dyn Memory,
        (qpn, thread): (u32, u32),
        producer: u16,
        now: u64,
        found: &mut Vec<Violation>,
    ) {
        let before = self.rings.rung;
        let new = producer.wrapping_sub(before);
        if new == 0 || u32::from(new) > self.init.sq_wqe_count {
            found.push(Violation::OutOfOrder {
                qpn,
                rung: producer,
                before,
            });
            return;
        }
        if before == self.send_consumer {
            self.rings.since = now;
            self.rings.ringer = memory
                .has_run(self.pid, thread)
                .map(|run| (thread, run, now + PATIENCE));
            self.rings.posted.clear();
        }
        let mut bytes = Vec::new();
        if self.read_blocks(memory, before, new, &mut bytes).is_ok() {
            self.rings.posted.extend(bytes);
        }
        self.rings.rung = producer;
        self.rings.unrung = None;
    }

    /// Returns whether the thread that rang has not had time to change the entry, in case that it
    /// does.
    fn is_held(&mut self, memory: &mut dyn Memory, now: u64, hold: u64) -> bool {
        if let Some((thread, before, end)) = self.rings.ringer {
            if now < end && memory.has_run(self.pid, thread) == Some(before) {
                return true;
            }
            self.rings.ringer = None;
            self.rings.since = now;
        }
        now.saturating_sub(self.rings.since) < hold
    }

    /// Looks whether the doorbell record tells of blocks that were not rung.
    fn look(&mut self, memory: &mut dyn Memory, now: u64) {
        let sends = self.state() == QpState::ReadyToSend && self.init.sq_wqe_count > 0;
        // The memory of a process that has ended says nothing new.
        let Ok(record) = self.record(memory) else {
            return;
        };
        let record = record.send.get() as u16;
        let ahead = u32::from(record.wrapping_sub(self.rings.rung));
        self.rings.unrung = if sends && ahead > 0 && ahead <= self.init.sq_wqe_count {
            let since = self.rings.unrung.map_or(now, |(since, _)| since);
            Some((since, record))
        } else {
            None
        };
    }

    fn never_rung(&self, handle: u32, record: u16) -> Violation {
        Violation::NeverRung {
            qpn: handle,
            rung: self.rings.rung,
            record,
        }
    }
}

/// Returns the buffer that byte `offset` of a page is in: the offset of its start, and its bytes;
/// none where no register is.
fn buffer_at(offset: u32) -> (u32, usize) {
    let arm = ARM_OFFSET as u32;
    let half = BLUEFLAME_HALF as u32;
    if (arm..arm + PLAIN as u32).contains(&offset) {
        (arm, PLAIN)
    } else if register_at(offset.into()).is_some() {
        (offset & !(half - 1), half as usize)
    } else {
        (offset, 0)
    }
}
