//! Order in which queue pairs are served: doorbell records, completions, errors and the entries
//! that they flush.

use super::Engine;
use super::memory::Memory;
use super::queue::{Outcome, Waiting, Why};
use super::table::Owned;
use super::transaction::Role;
use super::types::{AsyncKind, Progress, QpState};
use super::uar::Place;
use fi_mlx5_defs::cqe::Cqe;
use fi_mlx5_defs::decode::control;
use fi_mlx5_defs::doorbell::{register_at, send_words};
use fi_mlx5_defs::endian::{Be16, Be32};
use fi_mlx5_defs::opcode::{CqeOpcode, Syndrome};
use fi_mlx5_defs::wqe::{BASIC_BLOCK, Control, UNIT, blocks, flags};
use std::mem::take;

/// Blocks of a send queue that are read at a time: more than the longest entry has.
const WINDOW: u16 = 64;

/// The time that a code of 5 bits stands for, in units of 10 us (InfiniBand architecture specification,
/// volume 1, table "Encoding for RNR NAK timer field").
const RNR_TIMES: [u32; 32] = [
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
];

/// Posted blocks of an SQ that are not executed.
struct Pending {
    /// The first block.
    index: u16,
    /// Blocks that are posted.
    count: u16,
    /// The blocks, as many as were read.
    bytes: Vec<u8>,
}

impl Engine {
    /// Does the due work: looks at every doorbell record, executes new entries completely, and
    /// tells of the events that the caller has to deliver. `now` is a monotonic time in ns.
    pub fn step(&mut self, memory: &mut dyn Memory, now: u64) -> Progress {
        self.now = now;
        self.progress = Progress::default();
        let mut scan = self.scan(memory);
        if let Some(delays) = &mut self.delays {
            let acting = delays.choose(&scan.ringing);
            self.progress.waiting = acting.len() < scan.ringing.len();
            scan.ringing = acting;
        }
        for &handle in &scan.ringing {
            self.serve(memory, handle);
        }
        self.fly(memory);
        for cqn in self.notifying(&scan) {
            if let Some(cq) = self.cqs.get_mut(cqn)
                && let Some(event) = cq.poll_event(memory, cqn, self.config.strict)
            {
                self.progress.completions.push(event);
            }
        }
        let mut progress = take(&mut self.progress);
        progress.async_events = take(&mut self.async_events);
        progress.violations = take(&mut self.violations);
        progress.worked |= !progress.completions.is_empty() || !progress.async_events.is_empty();
        progress
    }

    fn serve(&mut self, memory: &mut dyn Memory, handle: u32) {
        let Some(qp) = self.qps.get(handle) else {
            return;
        };
        match qp.state() {
            QpState::ReadyToSend => {
                let pending = self.pending(memory, handle);
                let sent = self.qps.get(handle).is_some_and(|qp| qp.send_consumer != 0);
                if sent || pending.is_some() {
                    self.locate(memory, handle);
                }
                if let Some(pending) = pending {
                    self.send(memory, handle, &pending);
                }
            }
            QpState::Error => {
                self.flush_flights(memory, handle);
                if let Some(pending) = self.pending(memory, handle) {
                    self.flush_sends(memory, handle, &pending);
                }
                self.flush_receives(memory, handle);
            }
            _ => {}
        }
    }

    /// Returns the blocks that are posted to an SQ and not executed. A record that cannot be true,
    /// or memory that is gone, is the end of the queue pair.
    fn pending(&mut self, memory: &mut dyn Memory, handle: u32) -> Option<Pending> {
        let rung = match self.config.strict {
            true => Some(self.due(memory, handle)?),
            false => None,
        };
        let qp = self.qps.get_mut(handle)?;
        if qp.init.sq_wqe_count == 0 {
            return None;
        }
        let index = qp.send_consumer;
        let producer = match rung {
            Some(rung) => rung,
            None => match qp.scanned.take().map_or_else(|| qp.record(memory), Ok) {
                Ok(record) => record.send.get() as u16,
                Err(_) => return self.lost(handle),
            },
        };
        let count = producer.wrapping_sub(index);
        if count == 0 {
            return None;
        }
        let mut bytes = Vec::new();
        if u32::from(count) <= qp.init.sq_wqe_count
            && qp
                .read_blocks(memory, index, count.min(WINDOW), &mut bytes)
                .is_ok()
        {
            return Some(Pending {
                index,
                count,
                bytes,
            });
        }
        self.skip_sends(handle, count);
        if self
            .qps
            .get(handle)
            .is_some_and(|qp| qp.state() == QpState::ReadyToSend)
        {
            self.complete_send(
                memory,
                handle,
                index,
                &Control::default(),
                Some(Syndrome::LocalQpOperation),
                0,
            );
            self.fail(handle, Some(AsyncKind::QpFatal));
        }
        None
    }

    /// Fails a queue pair whose own memory is gone.
    fn lost(&mut self, handle: u32) -> Option<Pending> {
        if self
            .qps
            .get(handle)
            .is_some_and(|qp| qp.state() != QpState::Error)
        {
            self.fail(handle, Some(AsyncKind::QpFatal));
        }
        None
    }

    /// Executes entries, one turn.
    fn send(&mut self, memory: &mut dyn Memory, handle: u32, pending: &Pending) {
        let mut at: u16 = 0;
        let mut moved = 0;
        for _ in 0..self.config.burst.max(1) {
            let index = pending.index.wrapping_add(at);
            let Some(bytes) = pending
                .bytes
                .get(usize::from(at) * BASIC_BLOCK..)
                .filter(|b| !b.is_empty())
            else {
                break;
            };
            let control = control(bytes).unwrap_or_default();
            let length = blocks(control.units()).max(1) as u16;
            let left = pending.count - at;
            if usize::from(length) * BASIC_BLOCK > bytes.len() && length <= left {
                break;
            }
            let valid = length <= left
                && control.units() > 0
                && control.qpn() == handle
                && control.index() == index;
            if self.config.strict && valid {
                self.check_unchanged(handle, index, &bytes[..control.units() * UNIT]);
            }
            if self.flights.is_some() {
                let length = length.min(left);
                let entry = bytes.get(..usize::from(length) * BASIC_BLOCK);
                let entry = entry.filter(|_| valid).unwrap_or_default();
                self.take_off(memory, handle, (index, length), entry);
                at += length;
                self.skip_sends(handle, length);
                continue;
            }
            let outcome = if valid {
                self.execute(memory, handle, bytes)
            } else {
                Outcome::Failed(Syndrome::LocalQpOperation)
            };
            let outcome = self.patience(handle, outcome);
            let (failed, bytes) = match outcome {
                Outcome::Wait(_) => {
                    self.progress.waiting = true;
                    return;
                }
                Outcome::Done(bytes) => (None, bytes),
                Outcome::Failed(syndrome) => (Some(syndrome), 0),
            };
            at += length.min(left);
            self.skip_sends(handle, length.min(left));
            if failed.is_some() || wants_completion(&control) {
                let written = self.complete_send(memory, handle, index, &control, failed, bytes);
                if !self.goes_on(handle, failed, written) {
                    return;
                }
            }
            moved += u64::from(bytes);
            if moved >= self.config.burst_bytes {
                break;
            }
            // A peer may have failed it meanwhile: the queue pair that is connected to itself.
            if self
                .qps
                .get(handle)
                .is_none_or(|qp| qp.state() != QpState::ReadyToSend)
            {
                return;
            }
        }
        self.progress.more |= at < pending.count;
    }

    /// Ends a queue pair whose entry has failed, or whose completion was not written; returns true
    /// where it goes on.
    pub(super) fn goes_on(&mut self, handle: u32, failed: Option<Syndrome>, written: bool) -> bool {
        let ends = failed.is_some() || !written;
        if ends {
            self.fail(handle, (!written).then_some(AsyncKind::QpFatal));
        }
        !ends
    }

    /// Ends a wait that has lasted long enough; notes or forgets one.
    pub(super) fn patience(&mut self, handle: u32, outcome: Outcome) -> Outcome {
        let (now, floor) = (self.now, self.config.min_retry_ns);
        let Some(qp) = self.qps.get_mut(handle) else {
            return outcome;
        };
        let Outcome::Wait(why) = outcome else {
            qp.waiting = None;
            return outcome;
        };
        let since = match qp.waiting {
            Some(waiting) if waiting.why == why => waiting.since,
            _ => now,
        };
        qp.waiting = Some(Waiting { why, since });
        let (limit, syndrome) = match why {
            Why::NoAnswer => {
                let attempt = (qp.attr.timeout > 0).then(|| 4096_u64 << qp.attr.timeout);
                let all = attempt.map(|ns| (ns * (u64::from(qp.attr.retry_cnt) + 1)).max(floor));
                (all, Syndrome::TransportRetryExceeded)
            }
            Why::NotReady(code) => {
                let time = u64::from(RNR_TIMES[usize::from(code & 31)]) * 10_000;
                let all = (qp.attr.rnr_retry < 7).then(|| time * u64::from(qp.attr.rnr_retry));
                (all, Syndrome::ReceiverNotReadyRetryExceeded)
            }
        };
        match limit {
            Some(limit) if now.saturating_sub(since) >= limit => {
                qp.waiting = None;
                Outcome::Failed(syndrome)
            }
            _ => outcome,
        }
    }

    fn skip_sends(&mut self, handle: u32, blocks: u16) {
        self.progress.worked = true;
        if let Some(qp) = self.qps.get_mut(handle) {
            qp.send_consumer = qp.send_consumer.wrapping_add(blocks);
            qp.rings.skip(blocks);
        }
    }

    /// Writes the completion of a send; says whether that was possible.
    pub(super) fn complete_send(
        &mut self,
        memory: &mut dyn Memory,
        handle: u32,
        index: u16,
        control: &Control,
        failed: Option<Syndrome>,
        bytes: u32,
    ) -> bool {
        let Some(qp) = self.qps.get(handle) else {
            return false;
        };
        let mut cqe = match failed {
            None => Cqe::new(CqeOpcode::Requester),
            Some(syndrome) => {
                let mut cqe = Cqe::new(CqeOpcode::RequesterError);
                cqe.set_syndrome(syndrome, 0);
                cqe
            }
        };
        cqe.byte_count = Be32::new(bytes);
        cqe.user_index = Be32::new(qp.init.uidx);
        cqe.opcode_qpn = Be32::new(u32::from(control.opcode()) << 24 | handle);
        cqe.wqe_counter = Be16::new(index);
        let cqn = qp.init.send_cq;
        self.complete(memory, cqn, cqe)
    }

    /// Writes a completion; says whether that was possible. A queue that cannot take it has failed.
    pub(super) fn complete(&mut self, memory: &mut dyn Memory, cqn: u32, mut cqe: Cqe) -> bool {
        let now = self.now;
        let Some(cq) = self.cqs.get_mut(cqn) else {
            return false;
        };
        if !cqe.is_error() {
            cqe.timestamp = now.into();
        }
        let failed_before = cq.has_failed();
        let written = cq.push(memory, cqe).is_ok();
        let (context, element) = (cq.context(), cq.user_handle());
        if !written && !failed_before {
            self.raise(context, AsyncKind::CqError, element);
        }
        self.progress.worked |= written;
        written
    }

    /// Puts a queue pair into error, and says why where an event tells it. Posted entries are
    /// flushed next.
    pub(super) fn fail(&mut self, handle: u32, event: Option<AsyncKind>) {
        let Some(qp) = self.qps.get_mut(handle) else {
            return;
        };
        let before = qp.state();
        if matches!(before, QpState::Reset | QpState::Error) {
            return;
        }
        qp.attr.state = QpState::Error;
        qp.waiting = None;
        let (context, element, shared) = (qp.context, qp.init.user_handle, qp.init.srq.is_some());
        self.progress.more = true;
        if let Some(kind) = event {
            self.raise(context, kind, element);
        }
        if shared {
            self.raise(context, AsyncKind::LastWqe, element);
        }
    }

    fn flush_sends(&mut self, memory: &mut dyn Memory, handle: u32, pending: &Pending) {
        let read = (pending.bytes.len() / BASIC_BLOCK) as u16;
        let mut at: u16 = 0;
        while at < read {
            let control =
                control(&pending.bytes[usize::from(at) * BASIC_BLOCK..]).unwrap_or_default();
            let length = (blocks(control.units()).max(1) as u16).min(pending.count - at);
            let index = pending.index.wrapping_add(at);
            self.complete_send(memory, handle, index, &control, Some(Syndrome::Flushed), 0);
            self.skip_sends(handle, length);
            at += length;
        }
        self.progress.more |= at < pending.count;
    }

    fn flush_receives(&mut self, memory: &mut dyn Memory, handle: u32) {
        let Some(qp) = self.qps.get(handle) else {
            return;
        };
        if qp.init.srq.is_some() || qp.init.rq_wqe_count == 0 {
            return;
        }
        let Ok(record) = qp.record(memory) else {
            return;
        };
        let (first, entries) = (qp.receive_consumer, qp.init.rq_wqe_count);
        let (cqn, uidx) = (qp.init.recv_cq, qp.init.uidx);
        let producer = record.receive.get() as u16;
        let count = producer.wrapping_sub(first);
        if count == 0 {
            return;
        }
        if u32::from(count) <= entries {
            for n in 0..count {
                let mut cqe = Cqe::new(CqeOpcode::ResponderError);
                cqe.set_syndrome(Syndrome::Flushed, 0);
                cqe.user_index = Be32::new(uidx);
                cqe.opcode_qpn = Be32::new(handle);
                cqe.wqe_counter = Be16::new(first.wrapping_add(n));
                self.complete(memory, cqn, cqe);
                self.trace_flush(handle, Role::Responder, 0);
            }
        }
        if let Some(qp) = self.qps.get_mut(handle) {
            qp.receive_consumer = producer;
        }
        self.progress.worked = true;
    }

    /// Looks which register of its page a queue pair rings, as long as that is not known. Not only when something is
    /// posted: the record comes before the register, and in between the device may have acted.
    fn locate(&mut self, memory: &mut dyn Memory, handle: u32) {
        let Some(qp) = self.qps.get_mut(handle) else {
            return;
        };
        let Place::Page(page, None) = qp.place else {
            return;
        };
        for offset in send_words() {
            let mut word = [0; 8];
            if memory
                .read_uar(qp.context, page, offset as u32, &mut word)
                .is_err()
            {
                return;
            }
            let rung = u32::from_be_bytes([word[4], word[5], word[6], word[7]]) >> 8;
            if rung == handle {
                qp.place = Place::Page(page, register_at(offset));
                return;
            }
        }
    }
}

/// Returns whether an entry asks for a completion when it succeeds.
pub(super) fn wants_completion(control: &Control) -> bool {
    control.flags & flags::COMPLETION_MASK >= flags::COMPLETION
}
