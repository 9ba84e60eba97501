//! Doorbells that were seen as they were written: what hardware would act on, and what it would need.

use super::memory::Memory;
use super::types::{ContextId, Violation};
use super::uar::Place;
use super::{Engine, QueuePair};
use fi_mlx5::decode::control;
use fi_mlx5::doorbell::{ARM_OFFSET, register_at};
use fi_mlx5::wqe::{BASIC_BLOCK, blocks};

/// Bytes of a doorbell without BlueFlame.
const PLAIN: usize = 8;

impl Engine {
    /// A write of `bytes` (8, or a BlueFlame copy) to byte `offset` of doorbell page `page`, told by who saw
    /// it. In strict mode this alone makes the send queue move at the next [`Self::step`], up to the entry
    /// that was rung; the violations say what was not as hardware needs it. Writes that arm a completion
    /// queue are taken and need no check: its doorbell record has the same.
    pub fn ring(
        &mut self,
        memory: &mut dyn Memory,
        context: ContextId,
        page: u32,
        offset: u32,
        bytes: &[u8],
    ) -> Vec<Violation> {
        if u64::from(offset) == ARM_OFFSET {
            return Vec::new();
        }
        let mut head = [0; 16];
        let known = bytes.len().min(PLAIN);
        head[..known].copy_from_slice(&bytes[..known]);
        let control = control(&head).unwrap_or_default();
        let qpn = control.qpn();
        let own = self
            .qps
            .get_mut(qpn)
            .filter(|qp| qp.context == context && qp.init.sq_wqe_count > 0);
        let Some(qp) = own else {
            return vec![Violation::UnknownQueue(qpn)];
        };
        if let Place::Page(own, _) = qp.place
            && own == page
        {
            qp.place = Place::Page(page, register_at(offset.into()));
        }
        let length = blocks(control.units()).max(1) as u16;
        let producer = control.index().wrapping_add(length);
        let mut violations = Vec::new();
        let record = qp
            .record(memory)
            .map_or(qp.rung, |record| record.send.get() as u16);
        if (record.wrapping_sub(producer) as i16) < 0 {
            violations.push(Violation::RecordBehind {
                qpn,
                rung: control.index(),
                record,
            });
        }
        violations.extend(compare(qp, memory, qpn, control.index(), bytes));
        qp.rung = producer;
        violations
    }
}

/// Compares what was written to the register with the ring.
fn compare(
    qp: &QueuePair,
    memory: &mut dyn Memory,
    qpn: u32,
    index: u16,
    bytes: &[u8],
) -> Option<Violation> {
    let count = bytes.len().div_ceil(BASIC_BLOCK).min(usize::from(u16::MAX)) as u16;
    let mut ring = Vec::new();
    if qp.read_blocks(memory, index, count, &mut ring).is_err() {
        return Some(Violation::EntryDiffers(qpn));
    }
    let differs = bytes
        .iter()
        .zip(&ring)
        .position(|(rung, posted)| rung != posted);
    differs.map(|at| {
        if at < PLAIN {
            Violation::EntryDiffers(qpn)
        } else {
            Violation::BlueFlameDiffers { qpn, at }
        }
    })
}
