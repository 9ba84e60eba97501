//! The responder's side: the queue pair that answers, and the use of its receives.

use super::Engine;
use super::memory::Memory;
use super::queue::{Outcome, QueuePair, Why};
use super::region::Span;
use super::table::Owned;
use super::transaction::Content;
use super::transfer::{Side, Source, copy};
use super::types::{Access, AsyncKind, ContextId, Pid, QpKind};
use fi_mlx5_defs::cqe::Cqe;
use fi_mlx5_defs::decode::{Piece, Pieces};
use fi_mlx5_defs::endian::{Be16, Be32};
use fi_mlx5_defs::opcode::{CqeOpcode, Syndrome};
use fi_mlx5_defs::wqe::{CompactAddress, SrqNext};

/// A queue pair that answers, with the attributes that the requester needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Responder {
    pub(super) handle: u32,
    pub(super) context: ContextId,
    pub(super) pid: Pid,
    pub(super) pd: u32,
    pub(super) access: Access,
    kind: QpKind,
    /// As many reads and atomics at a time are answered as the requester may send: strict mode
    /// counts, otherwise one will do. A requester that names none has one, as hardware knows of their
    /// logarithm.
    pub(super) reads: bool,
    pub(super) rnr_code: u8,
    srq: Option<u32>,
}

/// A message for a receive.
pub(super) struct Message<'a> {
    pub(super) sources: &'a [Source<'a>],
    pub(super) len: u64,
    /// Opcode of the CQE.
    pub(super) opcode: CqeOpcode,
    pub(super) immediate: u32,
    pub(super) solicited: bool,
    /// The requester's number.
    pub(super) from: u32,
}

impl Message<'_> {
    /// Returns whether the data go into the receive's buffers.
    fn scatters(&self) -> bool {
        self.opcode != CqeOpcode::ReceiveWriteImmediate
    }
}

/// A receive that a message is for.
struct Receive {
    index: u16,
    bytes: Vec<u8>,
}

impl Engine {
    /// Returns the queue pair that answers requests of `requester`; `address` is in the request
    /// where the service has it there.
    pub(super) fn responder(
        &self,
        handle: u32,
        address: Option<&CompactAddress>,
    ) -> Option<Responder> {
        let requester = self.qps.get(handle)?;
        let (number, lid) = match address {
            Some(address) => (address.number(), address.lid.get()),
            None => (requester.attr.dest_qpn, requester.attr.path.dlid),
        };
        let peer = self.qps.get(number).filter(|peer| peer.answers())?;
        let known = match address {
            Some(address) => peer.init.kind == QpKind::Dct && peer.init.dc_key == address.key.get(),
            None => {
                // Packets count from there on both sides: those of other numbers are no requests
                // (IBTA volume 1, 9.7.5.1). Unreliable ones begin anew with a message (9.8.2.2).
                let counts_alike = (peer.attr.rq_psn ^ requester.attr.sq_psn) & 0xff_ffff == 0;
                let is_alike = match requester.init.kind {
                    QpKind::Uc => peer.init.kind == QpKind::Uc,
                    _ => peer.init.kind == QpKind::Rc && counts_alike,
                };
                is_alike && peer.attr.dest_qpn == handle
            }
        };
        let reads = if self.config.strict {
            requester.attr.max_rd_atomic
        } else {
            1
        };
        (known && lid == self.config.lid).then(|| Responder::new(number, peer, reads))
    }

    /// Returns the queue pair that gets a datagram of `requester` to this address; none where the
    /// key is another one.
    pub(super) fn recipient(&self, requester: u32, address: &CompactAddress) -> Option<Responder> {
        /// A request with a key of the highest bit has the sender's own instead (IBTA volume 1,
        /// 10.2.5).
        const OWN: u32 = 1 << 31;
        let own = self.qps.get(requester)?.attr.qkey;
        let told = (address.key.get() >> 32) as u32;
        let key = if told & OWN == 0 { told } else { own };
        let peer = self.qps.get(address.number())?;
        let is_it = peer.init.kind == QpKind::Ud
            && peer.answers()
            && peer.attr.qkey == key
            && address.lid.get() == self.config.lid;
        is_it.then(|| Responder::new(address.number(), peer, 1))
    }

    /// Delivers a message to the next receive of `responder`.
    pub(super) fn deliver(
        &mut self,
        memory: &mut dyn Memory,
        responder: &Responder,
        message: &Message<'_>,
    ) -> Outcome {
        let receive = match self.next_receive(memory, responder) {
            Ok(Some(receive)) => receive,
            Ok(None) => return Outcome::Wait(Why::NotReady(responder.rnr_code)),
            Err(event) => {
                self.refuse(responder, event);
                return Outcome::Failed(Syndrome::RemoteOperation);
            }
        };
        if message.scatters() {
            let spans = match self.room(responder, &receive, message.len) {
                Ok(spans) => spans,
                Err((here, there)) => {
                    self.fail_receive(memory, responder, &receive, here);
                    return Outcome::Failed(there);
                }
            };
            match copy(memory, message.sources, &spans, &mut self.scratch) {
                Ok(()) => {}
                Err(Side::Source) => return Outcome::Failed(Syndrome::LocalProtection),
                Err(Side::Destination) => {
                    self.fail_receive(memory, responder, &receive, Syndrome::LocalProtection);
                    return Outcome::Failed(Syndrome::RemoteOperation);
                }
            }
            self.trace_delivery(responder, Content::Payload, message.len);
        }
        let mut cqe = Cqe::new(message.opcode);
        cqe.immediate = Be32::new(message.immediate);
        cqe.byte_count = Be32::new(message.len as u32);
        cqe.flags_remote_qpn = Be32::new(message.from & 0xff_ffff);
        cqe.slid = Be16::new(self.config.lid);
        if message.solicited {
            cqe.set_solicited();
        }
        self.use_receive(memory, responder, &receive, cqe);
        Outcome::Done(message.len as u32)
    }

    /// Returns whether a message can be delivered, or its delivery at least tried.
    pub(super) fn has_receive(&self, memory: &mut dyn Memory, responder: &Responder) -> bool {
        !matches!(self.next_receive(memory, responder), Ok(None))
    }

    /// Returns the next receive, `None` where none is posted, or the error of the queue.
    fn next_receive(
        &self,
        memory: &mut dyn Memory,
        responder: &Responder,
    ) -> Result<Option<Receive>, AsyncKind> {
        if let Some(srq) = responder.srq.and_then(|srqn| self.srqs.get(srqn)) {
            if srq.posted(memory).map_err(|_| AsyncKind::SrqError)? == 0 {
                return Ok(None);
            }
            let (index, bytes) = srq.read_next(memory).map_err(|_| AsyncKind::SrqError)?;
            return Ok(Some(Receive { index, bytes }));
        }
        let Some(qp) = self
            .qps
            .get(responder.handle)
            .filter(|qp| qp.init.rq_wqe_count > 0)
        else {
            return Ok(None);
        };
        let record = qp.record(memory).map_err(|_| AsyncKind::QpFatal)?;
        let index = qp.receive_consumer;
        let posted = (record.receive.get() as u16).wrapping_sub(index);
        if u32::from(posted) > qp.init.rq_wqe_count {
            return Err(AsyncKind::QpFatal);
        }
        if posted == 0 {
            return Ok(None);
        }
        let bytes = qp
            .read_receive(memory, index)
            .map_err(|_| AsyncKind::QpFatal)?;
        Ok(Some(Receive { index, bytes }))
    }

    /// Returns the memory of a receive that `len` bytes go to, or the syndromes that the two sides
    /// are told.
    fn room(
        &self,
        responder: &Responder,
        receive: &Receive,
        len: u64,
    ) -> Result<Vec<Span>, (Syndrome, Syndrome)> {
        let (pd, list) = match responder.srq.and_then(|srqn| self.srqs.get(srqn)) {
            Some(srq) => (srq.init.pd, &receive.bytes[size_of::<SrqNext>()..]),
            None => (responder.pd, &receive.bytes[..]),
        };
        let malformed = (Syndrome::LocalQpOperation, Syndrome::RemoteOperation);
        let pieces = Pieces::of_receive(list).collect().map_err(|_| malformed)?;
        let mut spans = Vec::with_capacity(pieces.len());
        let mut left = len;
        for piece in pieces {
            let Piece::Local {
                address,
                length,
                lkey,
            } = piece
            else {
                return Err(malformed);
            };
            let n = left.min(u64::from(length));
            if n == 0 {
                break;
            }
            let span = self
                .regions
                .resolve(lkey, pd, address, n, Access::LOCAL_WRITE);
            spans.push(span.ok_or((Syndrome::LocalProtection, Syndrome::RemoteOperation))?);
            left -= n;
        }
        if left > 0 {
            return Err((Syndrome::LocalLength, Syndrome::RemoteInvalidRequest));
        }
        Ok(spans)
    }

    /// Uses a receive up, and completes it with `cqe`.
    fn use_receive(
        &mut self,
        memory: &mut dyn Memory,
        responder: &Responder,
        receive: &Receive,
        mut cqe: Cqe,
    ) {
        let Some(qp) = self.qps.get_mut(responder.handle) else {
            return;
        };
        cqe.user_index = Be32::new(qp.init.uidx);
        cqe.opcode_qpn = Be32::new(responder.handle);
        cqe.wqe_counter = Be16::new(receive.index);
        let cqn = qp.init.recv_cq;
        if let Some(srqn) = responder.srq {
            self.use_shared(memory, srqn, &receive.bytes);
        } else {
            qp.receive_consumer = qp.receive_consumer.wrapping_add(1);
        }
        self.trace_delivery(responder, Content::CompletionEntry, 64);
        if !self.complete(memory, cqn, cqe) {
            self.refuse(responder, AsyncKind::QpFatal);
        }
    }

    fn use_shared(&mut self, memory: &mut dyn Memory, srqn: u32, bytes: &[u8]) {
        let Some(srq) = self.srqs.get_mut(srqn) else {
            return;
        };
        srq.advance(bytes);
        if srq.limit > 0
            && srq
                .posted(memory)
                .is_ok_and(|posted| u32::from(posted) < srq.limit)
        {
            srq.limit = 0;
            let element = srq.init.user_handle;
            let context = srq.context();
            self.raise(context, AsyncKind::SrqLimit, element);
        }
    }

    /// Fails a receive, and with it its queue pair.
    fn fail_receive(
        &mut self,
        memory: &mut dyn Memory,
        responder: &Responder,
        receive: &Receive,
        why: Syndrome,
    ) {
        let mut cqe = Cqe::new(CqeOpcode::ResponderError);
        cqe.set_syndrome(why, 0);
        self.use_receive(memory, responder, receive, cqe);
        if matches!(responder.kind, QpKind::Rc | QpKind::Uc) {
            self.fail(responder.handle, None);
        }
    }

    /// Refuses a request that is not as the responder wants it: that of a reliable connection goes
    /// to error, too.
    pub(super) fn refuse(&mut self, responder: &Responder, event: AsyncKind) {
        if responder.kind == QpKind::Rc {
            let event = if event == AsyncKind::SrqError {
                AsyncKind::QpFatal
            } else {
                event
            };
            self.fail(responder.handle, Some(event));
        }
        if event == AsyncKind::SrqError
            && let Some(element) = responder
                .srq
                .and_then(|srqn| self.srqs.get(srqn))
                .map(|srq| srq.init.user_handle)
        {
            self.raise(responder.context, event, element);
        }
    }
}

impl Responder {
    fn new(handle: u32, qp: &QueuePair, reads: u8) -> Self {
        Self {
            handle,
            context: qp.context,
            pid: qp.pid,
            pd: qp.init.pd,
            access: qp.attr.access,
            kind: qp.init.kind,
            reads: qp.init.kind == QpKind::Dct || qp.attr.max_dest_rd_atomic >= reads.max(1),
            rnr_code: qp.attr.min_rnr_timer,
            srq: qp.init.srq,
        }
    }
}
