//! The operations of messages and accesses: their flags, their pieces of memory, and how they
//! start.

use crate::deferred::Later;
use crate::ep::{self, Object, TRIGGERED};
use crate::info::{INJECT_SIZE, MOST_PIECES};
use crate::object::{Code, object, only};
use crate::slab::is_number;
use crate::state::{Binding, Counts, Ep, Own, Receive, Turn, Usual};
use crate::work::trigger;
use fi_ofi_abi::*;
use fi_provider::raw::address_vector::PeerIndex;
use fi_provider::raw::completion::{
    Context, CountedContext, CountedFailureContext, FailureContext,
};
use fi_provider::raw::endpoint::{Level, Posted, Wanted};
use fi_provider::raw::error::Error;
use std::ffi::c_void;
use std::ptr::null_mut;

/// Flags of one operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flags {
    /// The flags of the endpoint: the call has none.
    Usual,
    /// Its own.
    Own(u64),
    /// Its bytes are taken over at once, and its success makes no completion.
    Inject,
}

/// Reports of an operation, and the level at which its bytes are free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) completes: bool,
    pub(crate) counts: bool,
    pub(crate) level: Level,
    pub(crate) injects: bool,
}

impl Flags {
    /// Returns the flags, which are the object's where the call has none.
    pub(crate) fn of(self, usual: &Usual) -> u64 {
        match self {
            Self::Usual => usual.transmit(),
            Self::Own(flags) => flags,
            Self::Inject => FI_INJECT,
        }
    }

    /// Finds out how an operation is done that an endpoint starts.
    ///
    /// # Errors
    /// [`TRIGGERED`] where it waits.
    #[inline(always)]
    pub(crate) fn how(self, own: Own<'_>, what: Counts) -> Result<How, Code> {
        let flags = self.of(own.usual);
        if flags & FI_TRIGGER != 0 {
            return Err(TRIGGERED);
        }
        let how = How::new(flags, own.ep, what);
        Ok(How {
            completes: !matches!(self, Self::Inject) && how.completes,
            ..how
        })
    }
}

impl How {
    /// Finds out how an operation with these flags is done.
    #[inline(always)]
    pub(crate) fn new(flags: u64, ep: &Ep, what: Counts) -> Self {
        let asks = flags & FI_COMPLETION != 0;
        let wants = |queue: Binding| asks || !queue.is_selective;
        Self {
            completes: ep.transmit.get().is_some_and(wants),
            counts: ep.counts(what),
            // Messages with FI_TRANSMIT_COMPLETE are told when their bytes are free: the fabric's
            // level fails those that the peer took just before it closed.
            level: if flags & FI_MATCH_COMPLETE != 0 {
                Level::Matched
            } else if flags & FI_DELIVERY_COMPLETE != 0 {
                Level::Delivered
            } else {
                Level::Free
            },
            injects: flags & FI_INJECT != 0,
        }
    }
}

/// Calls `$act` with the report of an operation.
macro_rules! with_report {
    ($how:expr, $context:expr, |$report:ident| $act:expr) => {{
        let context = $context.addr() as u64;
        match ($how.completes, $how.counts) {
            (true, true) => {
                let $report = CountedContext(context);
                $act
            }
            (true, false) => {
                let $report = Context(context);
                $act
            }
            (false, true) => {
                let $report = CountedFailureContext(context);
                $act
            }
            (false, false) => {
                let $report = FailureContext(context);
                $act
            }
        }
    }};
}
pub(crate) use with_report;

/// Returns the piece of memory of an operation that has one.
pub(crate) fn piece(memory: *const c_void, iov_len: usize) -> Iovec {
    Iovec {
        iov_base: memory.cast_mut(),
        iov_len,
    }
}

/// Returns the pieces of a list; for an empty one, a piece of no bytes.
///
/// # Safety
/// `pieces` leads to `count` pieces, which stay as long as they are used.
pub(crate) unsafe fn list<'a>(pieces: *const Iovec, count: usize) -> Result<&'a [Iovec], Code> {
    const NOTHING: &[Iovec] = &[Iovec {
        iov_base: null_mut(),
        iov_len: 0,
    }];
    match count {
        0 => Ok(NOTHING),
        1..=MOST_PIECES if !pieces.is_null() => {
            // SAFETY: there are so many pieces, and they stay.
            Ok(unsafe { std::slice::from_raw_parts(pieces, count) })
        }
        _ => Err(libc::EINVAL),
    }
}

/// Returns the bytes of all pieces.
pub(crate) fn bytes_of(pieces: &[Iovec]) -> Result<usize, Code> {
    let mut lengths = pieces.iter().map(|piece| piece.iov_len);
    lengths
        .try_fold(0, usize::checked_add)
        .ok_or(libc::EMSGSIZE)
}

/// Refuses to inject more bytes than are taken over at once.
pub(crate) fn check_inject(how: How, pieces: &[Iovec]) -> Result<(), Code> {
    if how.injects && bytes_of(pieces)? > INJECT_SIZE {
        Err(libc::EMSGSIZE)
    } else {
        Ok(())
    }
}

/// Returns pieces as the fabric takes them to be read.
pub(crate) fn read_only(pieces: &[Iovec]) -> Vec<(*const u8, usize)> {
    let each = |piece: &Iovec| (piece.iov_base.cast_const().cast(), piece.iov_len);
    pieces.iter().map(each).collect()
}

/// Returns pieces as the fabric takes them to be written.
pub(crate) fn writable(pieces: &[Iovec]) -> Vec<(*mut u8, usize)> {
    let each = |piece: &Iovec| (piece.iov_base.cast(), piece.iov_len);
    pieces.iter().map(each).collect()
}

/// Flags of fi_sendmsg and fi_tsendmsg.
pub(crate) const SENDMSG: u64 = FI_INJECT
    | FI_COMPLETION
    | FI_MORE
    | FI_REMOTE_CQ_DATA
    | FI_INJECT_COMPLETE
    | FI_TRANSMIT_COMPLETE
    | FI_DELIVERY_COMPLETE
    | FI_MATCH_COMPLETE;

/// A message to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    pub(crate) pieces: &'a [Iovec],
    /// None where it has none.
    pub(crate) tag: Option<u64>,
    pub(crate) data: Option<u64>,
    pub(crate) to: u64,
    pub(crate) context: *mut c_void,
    pub(crate) flags: Flags,
}

/// Sends a message.
///
/// # Safety
/// The pieces hold their bytes, which stay as they are until the operation is reported; where
/// [`Flags`] say that they are injected, during this call.
#[inline(always)]
pub(crate) unsafe fn send(ep: *mut FidEp, message: Message<'_>) -> isize {
    let Message { data, to, .. } = message;
    let act = |own: Own<'_>| {
        let how = message.flags.how(own, Counts::Sent)?;
        let (raw, peer, level) = (own.ep.enabled()?, own.ep.peer(to)?, how.level);
        check_inject(how, message.pieces)?;
        with_report!(how, message.context, |report| {
            // SAFETY: the pieces hold the bytes, which stay as they are until the operation is
            // reported; so few as are injected go whole, so that they are taken over at once.
            unsafe {
                match (message.tag, message.pieces) {
                    (None, [one]) => {
                        let bytes = one.iov_base.cast_const().cast();
                        raw.send(peer, bytes, one.iov_len, data, level, report)
                    }
                    (Some(tag), [one]) => {
                        let bytes = (one.iov_base.cast_const().cast(), one.iov_len);
                        raw.send_tagged(peer, bytes, (tag, data), level, report)
                    }
                    (None, all) => raw.send_vector(peer, &read_only(all), data, level, report),
                    (Some(tag), all) => {
                        let pieces = read_only(all);
                        raw.send_tagged_vector(peer, &pieces, (tag, data), level, report)
                    }
                }
            }
            .map_err(Error::code)
        })
    };
    ep::start(ep, act, |turn, object| {
        let later = Later::Send {
            pieces: message.pieces,
            tag: message.tag,
            data,
            to,
        };
        let flags = message.flags.of(object.own(turn).usual);
        // SAFETY: the pieces are as this function requires.
        unsafe { trigger(turn, object, &later, (message.context, flags)) }
    })
}

/// The messages that a buffer is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    Untagged,
    /// Messages of this tag but for these bits.
    Tagged(u64, u64),
    /// The one of this tag that was claimed with the buffer's context.
    Claimed(u64),
}

/// A buffer for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer<'a> {
    pub(crate) pieces: &'a [Iovec],
    pub(crate) which: Which,
    pub(crate) from: u64,
    pub(crate) context: *mut c_void,
    /// None where the call has none.
    pub(crate) flags: Option<u64>,
}

impl Ep {
    /// Returns the peer whose messages alone a receive takes, if the endpoint cares.
    pub(crate) fn source(&self, from: u64) -> Result<Option<PeerIndex>, Code> {
        let is_directed = self.caps & FI_DIRECTED_RECV != 0 && from != FI_ADDR_NOTAVAIL;
        let peer = is_directed.then(|| self.peer(from)).transpose()?;
        if let (Some(peer), Some(raw)) = (peer, self.raw.get()) {
            raw.get_to_know(peer);
        }
        Ok(peer)
    }
}

/// Posts a buffer.
///
/// # Safety
/// The bytes of the pieces are nobody else's until a completion gives them back.
#[inline(always)]
pub(crate) unsafe fn receive(ep: *mut FidEp, buffer: Buffer<'_>) -> Result<(), Code> {
    let object = object!(Object, ep);
    let mut turn = object.shared.lock();
    let Own { ep, usual } = object.own(&turn);
    let raw = ep.enabled()?;
    ep.receives_itself()?;
    let flags = buffer.flags.unwrap_or(usual.receive());
    if flags & FI_TRIGGER != 0 {
        // SAFETY: the pieces are as this function requires.
        return unsafe { receive_later(&mut turn, object, buffer, flags) };
    }
    let (tag, is_multi) = match buffer.which {
        Which::Untagged => (None, flags & FI_MULTI_RECV != 0),
        Which::Tagged(tag, _) | Which::Claimed(tag) => (Some(tag), false),
    };
    let asks = flags & FI_COMPLETION != 0;
    let source = ep.source(buffer.from)?;
    let wants = |queue: Binding| asks || !queue.is_selective;
    let reports = ep.receive.get().is_some_and(wants);
    let first = buffer.pieces[0];
    let is_one = buffer.pieces.len() == 1;
    if is_multi && !is_one {
        return Err(libc::EINVAL);
    }
    let mut number = buffer.context.addr() as u64;
    // Most receives are their pointer alone.
    if is_multi || !reports || is_number(number) {
        number = turn.receives.add(Receive {
            context: buffer.context,
            buffer: first.iov_base.cast(),
            is_multi,
            // The application learns by completions alone where its messages lie.
            reports: reports || is_multi,
            endpoint: object.number,
            tag,
        });
    }
    let (memory, len) = (first.iov_base.cast(), first.iov_len);
    // SAFETY: the bytes are nobody else's until a completion gives them back, by this function's
    // requirement, or the application cancels the receive or closes the endpoint.
    let posted = unsafe {
        match buffer.which {
            Which::Untagged if is_one => {
                let posted = Posted {
                    context: number,
                    source,
                    least: is_multi.then_some(ep.least.get()),
                };
                raw.post_receive(memory, len, posted);
                Ok(true)
            }
            Which::Untagged => {
                let pieces = writable(buffer.pieces);
                (raw.post_receive_vector(&pieces, number, source)).map(|()| true)
            }
            Which::Tagged(tag, ignore) => {
                let wanted = Wanted {
                    tag,
                    ignore,
                    source,
                };
                if is_one {
                    raw.post_tagged(memory, len, wanted, number);
                    Ok(true)
                } else {
                    let pieces = writable(buffer.pieces);
                    (raw.post_tagged_vector(&pieces, wanted, number)).map(|()| true)
                }
            }
            Which::Claimed(_) => {
                let claimed = buffer.context.addr() as u64;
                raw.receive_claimed(&writable(buffer.pieces), claimed, number)
            }
        }
    };
    let is_posted = posted.map_err(Error::code);
    if is_posted != Ok(true) {
        turn.receives.remove(number);
    }
    if turn.is_special {
        // An early message may have got the buffer.
        turn.tell_watchers();
    }
    // No such message was claimed.
    is_posted?.then_some(()).ok_or(libc::EINVAL)
}

/// Posts a buffer later.
///
/// # Safety
/// As [`receive`].
#[cold]
unsafe fn receive_later(
    turn: &mut Turn<'_>,
    object: &Object,
    buffer: Buffer<'_>,
    flags: u64,
) -> Result<(), Code> {
    only(flags, FI_TRIGGER | FI_COMPLETION | FI_MORE)?;
    let later = Later::Receive {
        pieces: buffer.pieces,
        which: buffer.which,
        from: buffer.from,
    };
    // SAFETY: the pieces are as this function requires.
    unsafe { trigger(turn, object, &later, (buffer.context, flags)) }
}
