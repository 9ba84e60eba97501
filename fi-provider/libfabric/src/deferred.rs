//! Operations that start when a counter has reached a threshold (fi_trigger(3)): as they wait, with
//! lists of their own, as the application's are gone by then. The regions and peers that the lists
//! name are looked up when an operation starts.

use crate::atomic::{Kind, Update};
use crate::info::INJECT_SIZE;
use crate::object::Code;
use crate::rma::with_ranges;
use crate::state::{Counts, Ep, Receive, Turn};
use crate::transfer::{Flags, How, Which, bytes_of, check_inject, read_only, writable};
use fi_ofi_abi::*;
use fi_provider::raw::address_vector::PeerIndex;
use fi_provider::raw::completion::{Counter, Operation, Part};
use fi_provider::raw::endpoint::{
    Call, Condition, Endpoint, Level, Range, RemoteRegion, Start, Typed, Wanted,
};
use fi_provider::raw::error::Error;
use std::rc::Rc;

/// An operation of an endpoint, with flags of its own.
#[derive(Debug)]
pub(crate) enum Later<'a> {
    Send {
        pieces: &'a [Iovec],
        tag: Option<u64>,
        data: Option<u64>,
        to: u64,
    },
    Receive {
        pieces: &'a [Iovec],
        which: Which,
        from: u64,
    },
    Read {
        pieces: &'a [Iovec],
        ranges: &'a [FiRmaIov],
        peer: u64,
    },
    Write {
        pieces: &'a [Iovec],
        ranges: &'a [FiRmaIov],
        data: Option<u64>,
        peer: u64,
    },
    Update(Update<'a>, Typed),
}

/// Ways in which a waiting operation reports.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reports<'a> {
    /// As if it were started then.
    Usually,
    /// To this counter, if there is one, and to the queue alone where it has FI_COMPLETION.
    To(Option<&'a Counter>),
}

/// Memory that is read when an operation starts: the application's, or taken over before.
struct Source {
    pieces: Vec<(*const u8, usize)>,
    _held: Option<Box<[u8]>>,
}

impl Source {
    /// # Safety
    /// The pieces hold their bytes where they are taken over.
    unsafe fn new(pieces: &[Iovec], injects: bool) -> Self {
        if !injects {
            return Self {
                pieces: read_only(pieces),
                _held: None,
            };
        }
        let mut held = Vec::new();
        for (from, len) in read_only(pieces).into_iter().filter(|(_, len)| *len > 0) {
            // SAFETY: the piece holds its bytes.
            held.extend_from_slice(unsafe { std::slice::from_raw_parts(from, len) });
        }
        let held = held.into_boxed_slice();
        Self {
            pieces: vec![(held.as_ptr(), held.len())],
            _held: Some(held),
        }
    }
}

impl Later<'_> {
    fn counts(&self) -> Counts {
        match self {
            Self::Send { .. } => Counts::Sent,
            Self::Receive { .. } => Counts::Received,
            Self::Read { .. } => Counts::Read,
            Self::Write { .. } => Counts::Written,
            Self::Update(update, _) if update.kind == Kind::Base => Counts::Written,
            Self::Update(..) => Counts::Read,
        }
    }

    /// Returns the operation that the entry tells of, its bytes, and the peer.
    fn what(&self, ep: &Ep) -> Result<(Operation, usize, PeerIndex), Code> {
        Ok(match self {
            Self::Send { pieces, to, .. } => (Operation::Send, bytes_of(pieces)?, ep.peer(*to)?),
            Self::Receive { pieces, .. } => (Operation::Receive, bytes_of(pieces)?, 0),
            Self::Read { pieces, peer, .. } => {
                (Operation::Read, bytes_of(pieces)?, ep.peer(*peer)?)
            }
            Self::Write { pieces, peer, .. } => {
                (Operation::Write, bytes_of(pieces)?, ep.peer(*peer)?)
            }
            Self::Update(update, typed) => {
                let operation = match update.kind {
                    Kind::Base => Operation::Atomic,
                    Kind::Fetch | Kind::Compare => Operation::Fetch,
                };
                let bytes = update.count(*typed)? * typed.bytes();
                (operation, bytes, ep.peer(update.peer)?)
            }
        })
    }

    /// Returns the tag of the message that is sent, if it has one.
    fn tag(&self) -> Option<u64> {
        match self {
            Self::Send { tag, .. } => *tag,
            _ => None,
        }
    }

    /// Returns the function that starts the operation.
    ///
    /// # Safety
    /// The memory stays as the operation demands until it has ended, or was cancelled; where
    /// `injects`, that which is read only during this call.
    unsafe fn start(&self, peer: PeerIndex, level: Level, injects: bool) -> Rc<Start> {
        match *self {
            Self::Send {
                pieces, tag, data, ..
            } => {
                // SAFETY: the pieces hold their bytes.
                let source = unsafe { Source::new(pieces, injects) };
                Rc::new(move |raw: &Endpoint, part: Part| {
                    let pieces = &source.pieces;
                    // SAFETY: the pieces hold their bytes until the operation has ended, by the
                    // requirement of `start`; those that were taken over go whole.
                    unsafe {
                        match tag {
                            None => raw.send_vector(peer, pieces, data, level, part),
                            Some(tag) => {
                                raw.send_tagged_vector(peer, pieces, (tag, data), level, part)
                            }
                        }
                    }
                })
            }
            Self::Read { pieces, ranges, .. } => {
                let (pieces, ranges) = (writable(pieces), ranges.to_vec());
                Rc::new(move |raw: &Endpoint, part: Part| {
                    let read = |ranges: &[Range<'_>]| {
                        // SAFETY: the pieces have room for their bytes until the operation has
                        // ended, by the requirement of `start`.
                        unsafe { raw.read_vector(ranges, &pieces, part) }
                    };
                    with_ranges(raw, peer, &ranges, &[], &read)
                })
            }
            Self::Write {
                pieces,
                ranges,
                data,
                ..
            } => {
                // SAFETY: the pieces hold their bytes.
                let (source, ranges) = (unsafe { Source::new(pieces, injects) }, ranges.to_vec());
                Rc::new(move |raw: &Endpoint, part: Part| {
                    let pieces = &source.pieces;
                    let write = |ranges: &[Range<'_>]| {
                        // SAFETY: the pieces hold their bytes until the operation has ended, by
                        // the requirement of `start`; those that were taken over are taken over
                        // again.
                        unsafe {
                            match data {
                                _ if injects => raw.inject_write_vector(ranges, pieces, data, part),
                                None => raw.write_vector(ranges, pieces, part),
                                Some(data) => {
                                    raw.write_vector_with_data(ranges, pieces, data, part)
                                }
                            }
                        }
                    };
                    with_ranges(raw, peer, &ranges, &[], &write)
                })
            }
            Self::Update(update, typed) => {
                // SAFETY: the lists have as many elements, as `what` has found out, and their
                // memory is as this function requires.
                unsafe { start_update(&update, typed, peer, injects) }
            }
            // Posted otherwise.
            Self::Receive { .. } => Rc::new(|_: &Endpoint, _: Part| Err(Error::NoSuchPeer)),
        }
    }
}

/// Returns the function that starts an atomic operation.
///
/// # Safety
/// The lists have as many elements, and their memory is as that of [`Later::start`].
unsafe fn start_update(
    update: &Update<'_>,
    typed: Typed,
    peer: PeerIndex,
    injects: bool,
) -> Rc<Start> {
    let mut operands = update.operands.to_vec();
    let mut held = Vec::new();
    if injects {
        for piece in &mut operands {
            let bytes = piece.count * typed.bytes();
            // SAFETY: the piece has so many elements.
            let taken = unsafe { std::slice::from_raw_parts(piece.addr.cast::<u8>(), bytes) };
            let mut taken = Box::<[u8]>::from(taken);
            piece.addr = taken.as_mut_ptr().cast();
            held.push(taken);
        }
    }
    let comparands = update.comparands.to_vec();
    let results = update.results.to_vec();
    let there = update.there.to_vec();
    let (kind, what) = (update.kind, update.what);
    Rc::new(move |raw: &Endpoint, part: Part| {
        // Stays as long as the function.
        let _ = &held;
        let update = Update {
            kind,
            operands: &operands,
            comparands: &comparands,
            results: &results,
            peer: peer.into(),
            there: &there,
            what,
            context: std::ptr::null_mut(),
            flags: Flags::Usual,
        };
        on_regions(raw, peer, &there, &[], &|regions| {
            // SAFETY: the lists have as many elements, whose memory stays until the operation has
            // ended, by the requirement of `start_update`.
            unsafe {
                let elements = update.elements(typed, regions);
                raw.update(&elements, typed, part)
            }
        })
    })
}

/// Looks regions up, one for each piece there, and acts on them.
fn on_regions(
    raw: &Endpoint,
    peer: PeerIndex,
    there: &[FiRmaIoc],
    found: &[&RemoteRegion],
    act: &dyn Fn(&[&RemoteRegion]) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(next) = there.get(found.len()) else {
        return act(found);
    };
    raw.on_region(peer, next.key, |region| {
        on_regions(raw, peer, there, &[found, &[region]].concat(), act)
    })
}

/// Has an operation start later; returns the number by which it is cancelled, and that of its
/// receive.
///
/// # Safety
/// The memory stays as the operation demands until it has ended, or was cancelled; where the flags
/// say that it is injected, during this call.
pub(crate) unsafe fn defer(
    turn: &mut Turn<'_>,
    (ep, endpoint): (&Ep, u64),
    condition: Condition<'_>,
    later: &Later<'_>,
    (context, flags, reports): (*mut std::ffi::c_void, u64, Reports<'_>),
) -> Result<(u64, u64), Code> {
    if ep.caps & FI_TRIGGER == 0 {
        return Err(libc::EOPNOTSUPP);
    }
    let raw = ep.enabled()?;
    if let Later::Receive {
        pieces,
        which,
        from,
    } = later
    {
        let receive = (*pieces, *which, *from);
        let how = (context, flags, reports);
        // SAFETY: the memory is as this function requires.
        return unsafe { defer_receive(turn, (ep, endpoint), condition, receive, how) };
    }
    let mut how = How::new(flags, ep, later.counts());
    let (operation, len, peer) = later.what(ep)?;
    match later {
        Later::Send { pieces, .. } | Later::Write { pieces, .. } => check_inject(how, pieces)?,
        Later::Update(..) if how.injects && len > INJECT_SIZE => return Err(libc::EMSGSIZE),
        _ => {}
    }
    let counter = match reports {
        Reports::Usually => None,
        Reports::To(counter) => {
            how.completes &= flags & FI_COMPLETION != 0;
            how.counts = false;
            counter
        }
    };
    let How { level, injects, .. } = how;
    // SAFETY: the memory is as this function requires.
    let start = unsafe { later.start(peer, level, injects) };
    let call = Call {
        peer,
        operation,
        len,
        tag: later.tag(),
        start,
    };
    use crate::transfer::with_report;
    use fi_provider::raw::completion::{
        Context, CountedContext, CountedFailureContext, FailureContext,
    };
    let number = with_report!(how, context, |report| raw
        .defer_call(condition, call, report, counter));
    Ok((number.map_err(Error::code)?, 0))
}

/// Has a buffer be posted later.
///
/// # Safety
/// As [`defer`].
unsafe fn defer_receive(
    turn: &mut Turn<'_>,
    (ep, endpoint): (&Ep, u64),
    condition: Condition<'_>,
    (pieces, which, from): (&[Iovec], Which, u64),
    (context, flags, reports): (*mut std::ffi::c_void, u64, Reports<'_>),
) -> Result<(u64, u64), Code> {
    ep.receives_itself()?;
    let (raw, source) = (ep.enabled()?, ep.source(from)?);
    if flags & FI_MULTI_RECV != 0 {
        return Err(libc::EOPNOTSUPP);
    }
    let wanted = match which {
        Which::Untagged => None,
        Which::Tagged(tag, ignore) => Some(Wanted {
            tag,
            ignore,
            source,
        }),
        Which::Claimed(_) => return Err(libc::EOPNOTSUPP),
    };
    let asks = flags & FI_COMPLETION != 0;
    let (counter, reports) = match reports {
        Reports::Usually => {
            let is_selective = ep.receive.get().is_none_or(|queue| queue.is_selective);
            (None, asks || !is_selective)
        }
        // One that nobody reads, where there is none: not the endpoint's.
        Reports::To(counter) => (Some(counter.cloned().unwrap_or_default()), asks),
    };
    // Drops their entries, for which nobody has to read the queue.
    if counter.is_some() && !reports && !ep.has_silent.replace(true) {
        turn.note_drops();
    }
    let number = turn.receives.add(Receive {
        context,
        buffer: pieces[0].iov_base.cast(),
        is_multi: false,
        reports,
        endpoint,
        tag: wanted.map(|wanted| wanted.tag),
    });
    let memory = writable(pieces);
    let act = move |raw: &Endpoint| {
        // SAFETY: the pieces are nobody else's until the receive has ended, by the requirement of
        // `defer`.
        let posted = unsafe {
            match (wanted, &counter) {
                (None, None) => raw.post_receive_vector(&memory, number, source),
                (None, Some(counter)) => {
                    raw.post_receive_counted(&memory, (number, source), counter)
                }
                (Some(wanted), None) => raw.post_tagged_vector(&memory, wanted, number),
                (Some(wanted), Some(counter)) => {
                    raw.post_tagged_counted(&memory, wanted, number, counter)
                }
            }
        };
        if let Err(error) = posted {
            let tag = wanted.map(|wanted| wanted.tag);
            raw.fail_receive((number, tag), counter.as_ref(), error);
        }
    };
    match raw.defer_act(condition, Rc::new(act), number) {
        Ok(work) => Ok((work, number)),
        Err(error) => {
            turn.receives.remove(number);
            Err(error.code())
        }
    }
}
