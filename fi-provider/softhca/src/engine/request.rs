//! The requester's side: one entry of a send queue, executed.

use super::Engine;
use super::memory::Memory;
use super::queue::{Outcome, Why};
use super::receive::{Message, Responder};
use super::region::Span;
use super::transaction::Content;
use super::transfer::{Side, Source, copy};
use super::types::{Access, AsyncKind, QpKind};
use fi_mlx5_defs::atomic::Arithmetic;
use fi_mlx5_defs::decode::{Operation, Piece, Request, Service, request};
use fi_mlx5_defs::opcode::{CqeOpcode, Syndrome};
use fi_mlx5_defs::wqe::{RemoteAddress, flags};

/// Bytes that a receive of a datagram has before its data: for a global route, of which there is
/// none here.
const NO_ROUTE: [u8; 40] = [0; 40];
/// A datagram has one packet of at most so many bytes of data.
const MOST_OF_DATAGRAM: u64 = 4096;

impl Engine {
    /// Executes the entry at the start of `bytes` for a queue pair that is ready to send.
    pub(super) fn execute(
        &mut self,
        memory: &mut dyn Memory,
        handle: u32,
        bytes: &[u8],
    ) -> Outcome {
        let outcome = self
            .attempt(memory, handle, bytes)
            .unwrap_or_else(|outcome| outcome);
        let qp = self.qps.get(handle);
        match qp.is_some_and(|qp| qp.init.kind == QpKind::Uc) {
            true => unacknowledged(outcome),
            false => outcome,
        }
    }

    fn attempt(
        &mut self,
        memory: &mut dyn Memory,
        handle: u32,
        bytes: &[u8],
    ) -> Result<Outcome, Outcome> {
        let malformed = Outcome::Failed(Syndrome::LocalQpOperation);
        let qp = self.qps.get(handle).ok_or(malformed)?;
        let kind = qp.init.kind;
        let service = match kind {
            QpKind::Rc | QpKind::Uc => Service::Connected,
            QpKind::Dci | QpKind::Ud => Service::Addressed,
            QpKind::Dct => return Err(malformed),
        };
        let pd = qp.init.pd;
        let request = request(bytes, service).map_err(|_| malformed)?;
        let pieces = request.pieces.collect().map_err(|_| malformed)?;
        let len: u64 = pieces.iter().map(Piece::len).sum();
        if len > u64::from(self.config.max_message) {
            return Err(Outcome::Failed(Syndrome::LocalLength));
        }
        match request.operation {
            Operation::Nop => Ok(Outcome::Done(0)),
            Operation::Other(_) => Err(malformed),
            Operation::Send(immediate) if kind == QpKind::Ud => {
                let sources = self.sources(pd, &pieces)?;
                self.datagram(memory, handle, &request, immediate, &sources, len)
            }
            _ if kind == QpKind::Ud => Err(malformed),
            Operation::Send(immediate) => {
                let sources = self.sources(pd, &pieces)?;
                let responder = self.answering(handle, &request)?;
                let opcode = received(immediate);
                let message = message(&request, handle, opcode, immediate, &sources, len);
                Ok(self.deliver(memory, &responder, &message))
            }
            Operation::Write(remote, immediate) => {
                let sources = self.sources(pd, &pieces)?;
                let responder = self.answering(handle, &request)?;
                self.write(memory, &responder, &remote, &sources, len, |sources| {
                    let immediate = immediate?;
                    let opcode = CqeOpcode::ReceiveWriteImmediate;
                    Some(message(
                        &request,
                        handle,
                        opcode,
                        Some(immediate),
                        sources,
                        len,
                    ))
                })
            }
            Operation::Read(_) | Operation::Atomic(..) if kind == QpKind::Uc => Err(malformed),
            Operation::Read(remote) => {
                let spans = self.destinations(pd, &pieces)?;
                let responder = self.answering(handle, &request)?;
                let right = Access::REMOTE_READ;
                let from = self.remote(&responder, &remote, len, right)?;
                moved(
                    self.bring(memory, &[Source::Span(from)], &spans),
                    Side::Destination,
                )?;
                self.trace_fetch(&responder, len, false);
                Ok(Outcome::Done(len as u32))
            }
            Operation::Atomic(remote, arithmetic, size) => {
                let spans = self.destinations(pd, &pieces)?;
                if len < size as u64 {
                    return Err(Outcome::Failed(Syndrome::LocalLength));
                }
                let responder = self.answering(handle, &request)?;
                self.atomic(memory, &responder, &remote, arithmetic, size, &spans)
            }
        }
    }

    /// Sends a datagram. Its recipient may not be there, not want it, or have no receive; then it
    /// is lost (IBTA volume 1, 9.8.3).
    fn datagram(
        &mut self,
        memory: &mut dyn Memory,
        handle: u32,
        request: &Request<'_>,
        immediate: Option<u32>,
        sources: &[Source<'_>],
        len: u64,
    ) -> Result<Outcome, Outcome> {
        if len > MOST_OF_DATAGRAM {
            return Err(Outcome::Failed(Syndrome::LocalLength));
        }
        let sent = Outcome::Done(len as u32);
        let address = request.address.as_ref();
        let Some(responder) = address.and_then(|address| self.recipient(handle, address)) else {
            return Ok(sent);
        };
        let opcode = received(immediate);
        let mut all = vec![Source::Bytes(&NO_ROUTE)];
        all.extend_from_slice(sources);
        let len = len + NO_ROUTE.len() as u64;
        let message = message(request, handle, opcode, immediate, &all, len);
        Ok(match self.deliver(memory, &responder, &message) {
            own @ Outcome::Failed(Syndrome::LocalProtection) => own,
            _ => sent,
        })
    }

    fn answering(&self, handle: u32, request: &Request<'_>) -> Result<Responder, Outcome> {
        let responder = self.responder(handle, request.address.as_ref());
        responder.ok_or(Outcome::Wait(Why::NoAnswer))
    }

    /// Writes, and then delivers the message, if there is one; nothing is written before the message has a
    /// receive.
    fn write<'a>(
        &mut self,
        memory: &mut dyn Memory,
        responder: &Responder,
        remote: &RemoteAddress,
        sources: &'a [Source<'a>],
        len: u64,
        message: impl FnOnce(&'a [Source<'a>]) -> Option<Message<'a>>,
    ) -> Result<Outcome, Outcome> {
        let to = self.remote(responder, remote, len, Access::REMOTE_WRITE)?;
        let message = message(sources);
        if message.is_some() && !self.has_receive(memory, responder) {
            return Err(Outcome::Wait(Why::NotReady(responder.rnr_code)));
        }
        moved(
            copy(memory, sources, &[to], &mut self.scratch),
            Side::Source,
        )?;
        self.trace_delivery(responder, Content::Payload, len);
        Ok(match message {
            Some(message) => self.deliver(memory, responder, &message),
            None => Outcome::Done(len as u32),
        })
    }

    fn atomic(
        &mut self,
        memory: &mut dyn Memory,
        responder: &Responder,
        remote: &RemoteAddress,
        arithmetic: Arithmetic,
        size: usize,
        result: &[Span],
    ) -> Result<Outcome, Outcome> {
        let to = self.remote(responder, remote, size as u64, Access::REMOTE_ATOMIC)?;
        if to.addr % size as u64 != 0 {
            self.refuse(responder, AsyncKind::QpRequestError);
            return Err(Outcome::Failed(Syndrome::RemoteInvalidRequest));
        }
        let failed = |_| Outcome::Failed(Syndrome::RemoteOperation);
        let mut word = [0; 8];
        let word = &mut word[..size];
        to.read(memory, 0, word).map_err(failed)?;
        let old = number(word);
        let new = arithmetic.apply(old);
        if new != old {
            let bytes = match size {
                4 => (new as u32).to_ne_bytes().to_vec(),
                _ => new.to_ne_bytes().to_vec(),
            };
            to.write(memory, 0, &bytes).map_err(failed)?;
        }
        // The mode of the capabilities that says in which order of bytes results come is for 8 bytes: those of 4 are
        // big-endian, as clients that run on hardware take them.
        let told = match size {
            4 => (old as u32).to_be_bytes().to_vec(),
            _ => old.to_ne_bytes().to_vec(),
        };
        moved(
            self.bring(memory, &[Source::Bytes(&told)], result),
            Side::Destination,
        )?;
        self.trace_fetch(responder, size as u64, true);
        Ok(Outcome::Done(size as u32))
    }

    /// Returns the requester's data, as sources to be read.
    fn sources<'a>(&self, pd: u32, pieces: &[Piece<'a>]) -> Result<Vec<Source<'a>>, Outcome> {
        let source = |piece: &Piece<'a>| match *piece {
            Piece::Inline(bytes) => Some(Source::Bytes(bytes)),
            Piece::Local {
                address,
                length,
                lkey,
            } => {
                let span = self.regions.resolve(lkey, pd, address, length.into(), 0);
                span.map(Source::Span)
            }
        };
        let sources: Option<Vec<_>> = pieces.iter().map(source).collect();
        sources.ok_or(Outcome::Failed(Syndrome::LocalProtection))
    }

    /// Returns the requester's data, as spans to be written.
    fn destinations(&self, pd: u32, pieces: &[Piece<'_>]) -> Result<Vec<Span>, Outcome> {
        let mut spans = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let Piece::Local {
                address,
                length,
                lkey,
            } = *piece
            else {
                return Err(Outcome::Failed(Syndrome::LocalQpOperation));
            };
            let span = self
                .regions
                .resolve(lkey, pd, address, length.into(), Access::LOCAL_WRITE);
            spans.push(span.ok_or(Outcome::Failed(Syndrome::LocalProtection))?);
        }
        Ok(spans)
    }

    /// Returns the responder's memory, if its queue pair and its key give the right to it.
    fn remote(
        &mut self,
        responder: &Responder,
        remote: &RemoteAddress,
        len: u64,
        right: u32,
    ) -> Result<Span, Outcome> {
        let needs_resources = right != Access::REMOTE_WRITE;
        if !responder.access.has(right) || needs_resources && !responder.reads {
            self.refuse(responder, AsyncKind::QpRequestError);
            return Err(Outcome::Failed(Syndrome::RemoteInvalidRequest));
        }
        let address = remote.address.get();
        if len == 0 {
            // Nothing is moved, whatever the key says.
            return Ok(Span {
                region: 0,
                pid: responder.pid,
                addr: address,
                len,
            });
        }
        let span = self
            .regions
            .resolve(remote.rkey.get(), responder.pd, address, len, right);
        span.ok_or_else(|| {
            self.refuse(responder, AsyncKind::QpAccessError);
            Outcome::Failed(Syndrome::RemoteAccess)
        })
    }
}

/// Returns the outcome of a request that nobody acknowledges: one that the responder does not take
/// is lost (IBTA volume 1, 9.8.2).
fn unacknowledged(outcome: Outcome) -> Outcome {
    use Syndrome::{LocalLength, LocalProtection, LocalQpOperation};
    match outcome {
        Outcome::Failed(LocalLength | LocalProtection | LocalQpOperation) => outcome,
        Outcome::Done(_) => outcome,
        Outcome::Failed(_) | Outcome::Wait(_) => Outcome::Done(0),
    }
}

/// Returns the opcode by which the receive of a send completes.
fn received(immediate: Option<u32>) -> CqeOpcode {
    match immediate {
        Some(_) => CqeOpcode::ReceiveSendImmediate,
        None => CqeOpcode::ReceiveSend,
    }
}

fn message<'a>(
    request: &Request<'_>,
    from: u32,
    opcode: CqeOpcode,
    immediate: Option<u32>,
    sources: &'a [Source<'a>],
    len: u64,
) -> Message<'a> {
    Message {
        sources,
        len,
        opcode,
        immediate: immediate.unwrap_or(0),
        solicited: request.control.flags & flags::SOLICITED != 0,
        from,
    }
}

/// Turns a failed copy into its outcome for the requester, whose memory is on side `own`.
fn moved(done: Result<(), Side>, own: Side) -> Result<(), Outcome> {
    done.map_err(|side| {
        Outcome::Failed(if side == own {
            Syndrome::LocalProtection
        } else {
            Syndrome::RemoteOperation
        })
    })
}

/// Returns 4 or 8 bytes as the number that the processor sees.
fn number(bytes: &[u8]) -> u64 {
    match (<[u8; 8]>::try_from(bytes), <[u8; 4]>::try_from(bytes)) {
        (Ok(eight), _) => u64::from_ne_bytes(eight),
        (_, Ok(four)) => u32::from_ne_bytes(four).into(),
        _ => 0,
    }
}
