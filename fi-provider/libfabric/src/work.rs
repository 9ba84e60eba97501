//! Triggered operations and deferred work (fi_trigger(3)).

use crate::atomic::{self, Kind, Update};
use crate::deferred::{Later, Reports, defer};
use crate::ep;
use crate::object::{Code, object, only, status};
use crate::rma::{self, ranges_of};
use crate::state::{Shared, Turn};
use crate::transfer::{SENDMSG, Which, bytes_of, list};
use crate::{cntr, domain};
use fi_ofi_abi::*;
use fi_provider::raw::completion::Counter;
use fi_provider::raw::endpoint::Condition;
use fi_provider::raw::error::Error;
use std::ffi::{c_int, c_void};
use std::ptr::without_provenance_mut;
use std::sync::Arc;

/// Returns the fabric's part of a counter of the domain.
///
/// # Safety
/// The counter is open, or NULL.
unsafe fn counter(
    shared: &Arc<Shared>,
    turn: &Turn<'_>,
    cntr: *mut FidCntr,
) -> Result<Counter, Code> {
    if cntr.is_null() {
        return Err(libc::EINVAL);
    }
    let (of, number) = object!(cntr::Object, cntr).place();
    if !Arc::ptr_eq(of, shared) {
        return Err(FI_EDOMAIN);
    }
    let counter = turn.counters.get(number).ok_or(libc::EINVAL)?;
    Ok(counter.raw.clone())
}

/// Has an operation with FI_TRIGGER start as its context says.
///
/// # Safety
/// `context` leads to a triggered context with an open counter, and the memory is as that of
/// [`defer`].
pub(crate) unsafe fn trigger(
    turn: &mut Turn<'_>,
    object: &ep::Object,
    later: &Later<'_>,
    (context, flags): (*mut c_void, u64),
) -> Result<(), Code> {
    // SAFETY: the context is one of fi_trigger(3), by this function's requirement.
    let triggered = unsafe { context.cast::<FiTriggeredContext>().as_ref() };
    let triggered = triggered.ok_or(libc::EINVAL)?;
    if triggered.event_type != FI_TRIGGER_THRESHOLD {
        return Err(FI_ENOSYS);
    }
    // SAFETY: the counter is open, by this function's requirement.
    let counter = unsafe { counter(&object.shared, turn, triggered.cntr)? };
    let condition = Condition {
        counter: &counter,
        threshold: triggered.threshold as u64,
        with_failures: false,
    };
    let own = object.ep.share(turn);
    let how = (context, flags & !FI_TRIGGER, Reports::Usually);
    // SAFETY: the memory is as this function requires.
    unsafe { defer(turn, (&own, object.number), condition, later, how)? };
    turn.tell_watchers();
    Ok(())
}

/// Answers fi_control of a domain.
pub(crate) unsafe extern "C" fn control(
    fid: *mut Fid,
    command: c_int,
    argument: *mut c_void,
) -> c_int {
    let shared = &object!(domain::Object, fid).shared;
    // SAFETY: `argument` is NULL or leads to deferred work, which nobody else uses meanwhile, by
    // fi_trigger(3).
    let work = unsafe { argument.cast::<FiDeferredWork>().as_mut() };
    let mut turn = shared.lock();
    status(match (command, work) {
        (FI_QUEUE_WORK, Some(work)) => {
            // SAFETY: the work's record is that of its kind, whose objects are open, and the memory
            // of the operation stays until it has ended or was cancelled, by fi_trigger(3).
            let queued = unsafe { queue(shared, &mut turn, work) };
            turn.tell_watchers();
            queued
        }
        (FI_CANCEL_WORK, Some(work)) => cancel(&mut turn, work),
        (FI_FLUSH_WORK, work) => {
            // SAFETY: a counter of deferred work is open.
            let counter = work.map(|work| unsafe { counter(shared, &turn, work.triggering_cntr) });
            counter
                .transpose()
                .map(|counter| flush(&mut turn, counter.as_ref()))
        }
        (FI_QUEUE_WORK | FI_CANCEL_WORK, None) => Err(libc::EINVAL),
        _ => Err(FI_ENOSYS),
    })
}

fn flush(turn: &mut Turn<'_>, counter: Option<&Counter>) {
    let objects = &mut **turn;
    for raw in objects.running.iter().filter_map(|ep| ep.raw.get()) {
        for receive in raw.flush_deferred(counter) {
            objects.receives.remove(receive);
        }
    }
}

/// Takes work back that has not begun: it is known by the numbers in its context.
fn cancel(turn: &mut Turn<'_>, work: &FiDeferredWork) -> Result<(), Code> {
    let [number, receive] = [0, 1].map(|at| work.context[at].addr() as u64);
    let mut running = turn.running.iter().filter_map(|ep| ep.raw.get());
    if !running.any(|raw| raw.cancel_deferred(number)) {
        return Err(libc::ENOENT);
    }
    turn.receives.remove(receive);
    Ok(())
}

/// Queues deferred work.
///
/// # Safety
/// Its record is that of its kind, whose objects are open, and the memory of the operation stays
/// until it has ended or was cancelled.
unsafe fn queue(
    shared: &Arc<Shared>,
    turn: &mut Turn<'_>,
    work: &mut FiDeferredWork,
) -> Result<(), Code> {
    if work.op.is_null() {
        return Err(libc::EINVAL);
    }
    // SAFETY: the counters are open.
    let (trigger, completion) = unsafe {
        let completion = work.completion_cntr;
        let completion = (!completion.is_null()).then(|| counter(shared, turn, completion));
        (
            counter(shared, turn, work.triggering_cntr)?,
            completion.transpose()?,
        )
    };
    let condition = Condition {
        counter: &trigger,
        threshold: work.threshold,
        with_failures: true,
    };
    let queue = Queue {
        shared,
        condition,
        completion: completion.as_ref(),
    };
    // SAFETY: the record is that of the work's kind, and the memory is as this function requires.
    let (number, receive) = unsafe { queue.record(turn, work.op_type, work.op)? };
    work.context[0] = without_provenance_mut(number as usize);
    work.context[1] = without_provenance_mut(receive as usize);
    Ok(())
}

/// Domain where work is queued, with its condition and its completion counter.
struct Queue<'a> {
    shared: &'a Arc<Shared>,
    condition: Condition<'a>,
    completion: Option<&'a Counter>,
}

impl Queue<'_> {
    /// Queues the operation of a record.
    ///
    /// # Safety
    /// The record is of this kind, and all is as [`queue`] requires.
    unsafe fn record(
        &self,
        turn: &mut Turn<'_>,
        kind: u32,
        record: *mut c_void,
    ) -> Result<(u64, u64), Code> {
        // SAFETY: the record is of this kind, and its lists are as long as it says.
        unsafe {
            match kind {
                FI_OP_RECV | FI_OP_SEND => {
                    let one = &*record.cast::<FiOpMsg>();
                    let what = (kind == FI_OP_SEND, None);
                    self.message(turn, one.ep, what, &one.msg, one.flags)
                }
                FI_OP_TRECV | FI_OP_TSEND => {
                    let one = &*record.cast::<FiOpTagged>();
                    let what = (kind == FI_OP_TSEND, Some((one.msg.tag, one.msg.ignore)));
                    self.message(turn, one.ep, what, &untagged(&one.msg), one.flags)
                }
                FI_OP_READ | FI_OP_WRITE => self.access(turn, kind, &*record.cast()),
                FI_OP_ATOMIC => {
                    let one = &*record.cast::<FiOpAtomic>();
                    self.update(turn, one.ep, (Kind::Base, &one.msg), (&[], &[]), one.flags)
                }
                FI_OP_FETCH_ATOMIC => {
                    let one = &*record.cast::<FiOpFetchAtomic>();
                    let results = atomic::list(one.fetch.msg_iov, one.fetch.iov_count);
                    let what = (Kind::Fetch, &one.msg);
                    self.update(turn, one.ep, what, (&[], results), one.flags)
                }
                FI_OP_COMPARE_ATOMIC => {
                    let one = &*record.cast::<FiOpCompareAtomic>();
                    let results = atomic::list(one.fetch.msg_iov, one.fetch.iov_count);
                    let comparands = atomic::list(one.compare.msg_iov, one.compare.iov_count);
                    let what = (Kind::Compare, &one.msg);
                    self.update(turn, one.ep, what, (comparands, results), one.flags)
                }
                FI_OP_CNTR_SET | FI_OP_CNTR_ADD => {
                    self.count(turn, &*record.cast(), kind == FI_OP_CNTR_SET)
                }
                _ => Err(FI_ENOSYS),
            }
        }
    }

    /// # Safety
    /// The endpoint is open, and the memory is as [`queue`] requires.
    unsafe fn add(
        &self,
        turn: &mut Turn<'_>,
        ep: *mut FidEp,
        later: &Later<'_>,
        (context, flags): (*mut c_void, u64),
    ) -> Result<(u64, u64), Code> {
        if ep.is_null() {
            return Err(libc::EINVAL);
        }
        // SAFETY: the endpoint is open.
        let class = unsafe { (*ep).fid.fclass };
        if ![FI_CLASS_EP, FI_CLASS_TX_CTX, FI_CLASS_RX_CTX].contains(&class) {
            return Err(FI_ENOSYS);
        }
        let object = object!(ep::Object, ep);
        if !Arc::ptr_eq(&object.shared, self.shared) {
            return Err(FI_EDOMAIN);
        }
        let own = object.ep.share(turn);
        let how = (context, flags, Reports::To(self.completion));
        // SAFETY: the memory is as this function requires.
        unsafe { defer(turn, (&own, object.number), self.condition, later, how) }
    }

    /// Queues a message, or a buffer, of this tag and these bits to ignore if it has one.
    ///
    /// # Safety
    /// As [`Queue::record`].
    unsafe fn message(
        &self,
        turn: &mut Turn<'_>,
        ep: *mut FidEp,
        (sends, tags): (bool, Option<(u64, u64)>),
        msg: &FiMsg,
        flags: u64,
    ) -> Result<(u64, u64), Code> {
        let known = if sends {
            SENDMSG
        } else {
            FI_COMPLETION | FI_TRANSMIT_COMPLETE | FI_MORE
        };
        only(flags, known)?;
        // SAFETY: the list is as long as the record says.
        let pieces = unsafe { list(msg.msg_iov, msg.iov_count)? };
        let later = if sends {
            Later::Send {
                pieces,
                tag: tags.map(|(tag, _)| tag),
                data: (flags & FI_REMOTE_CQ_DATA != 0).then_some(msg.data),
                to: msg.addr,
            }
        } else {
            let tagged = |(tag, ignore)| Which::Tagged(tag, ignore);
            Later::Receive {
                pieces,
                which: tags.map_or(Which::Untagged, tagged),
                from: msg.addr,
            }
        };
        // SAFETY: the endpoint is open, and the memory is as this function requires.
        unsafe { self.add(turn, ep, &later, (msg.context, flags)) }
    }

    /// # Safety
    /// As [`Queue::record`].
    unsafe fn access(
        &self,
        turn: &mut Turn<'_>,
        kind: u32,
        one: &FiOpRma,
    ) -> Result<(u64, u64), Code> {
        let writes = kind == FI_OP_WRITE;
        // SAFETY: the lists are as long as the record says.
        let later = unsafe { access_of(&one.msg, writes, one.flags)? };
        // SAFETY: the endpoint is open, and the memory is as this function requires.
        unsafe { self.add(turn, one.ep, &later, (one.msg.context, one.flags)) }
    }

    /// # Safety
    /// As [`Queue::record`].
    unsafe fn update(
        &self,
        turn: &mut Turn<'_>,
        ep: *mut FidEp,
        what: (Kind, &FiMsgAtomic),
        lists: (&[FiIoc], &[FiIoc]),
        flags: u64,
    ) -> Result<(u64, u64), Code> {
        // SAFETY: the lists are as long as the record says.
        let later = unsafe { update_of(self.shared, what, lists, flags)? };
        // SAFETY: the endpoint is open, and the memory is as this function requires.
        unsafe { self.add(turn, ep, &later, (what.1.context, flags)) }
    }

    /// Has a counter be set, or added to, by any endpoint.
    ///
    /// # Safety
    /// The counter is open.
    unsafe fn count(
        &self,
        turn: &mut Turn<'_>,
        one: &FiOpCntr,
        sets: bool,
    ) -> Result<(u64, u64), Code> {
        if self.completion.is_some() {
            return Err(libc::EINVAL);
        }
        // SAFETY: the counter is open.
        let target = unsafe { counter(self.shared, turn, one.cntr)? };
        let mut running = turn.running.iter().filter_map(|ep| ep.raw.get());
        let raw = running.next().ok_or(FI_EOPBADSTATE)?;
        let queued = raw.defer_count(self.condition, &target, (one.value, sets));
        Ok((queued.map_err(Error::code)?, 0))
    }
}

/// Returns the part of a tagged message that all messages have.
fn untagged(msg: &FiMsgTagged) -> FiMsg {
    FiMsg {
        msg_iov: msg.msg_iov,
        desc: msg.desc,
        iov_count: msg.iov_count,
        addr: msg.addr,
        context: msg.context,
        data: msg.data,
    }
}

/// Returns the access of a record.
///
/// # Safety
/// The lists are as long as the record says.
unsafe fn access_of(msg: &FiMsgRma, writes: bool, flags: u64) -> Result<Later<'_>, Code> {
    let known = if writes { rma::WRITEMSG } else { rma::READMSG };
    only(flags, known)?;
    // SAFETY: the lists are as long as the record says.
    let (pieces, ranges) = unsafe {
        let pieces = list(msg.msg_iov, msg.iov_count)?;
        (pieces, ranges_of(msg, bytes_of(pieces)?)?)
    };
    let peer = msg.addr;
    Ok(if writes {
        Later::Write {
            pieces,
            ranges,
            data: (flags & FI_REMOTE_CQ_DATA != 0).then_some(msg.data),
            peer,
        }
    } else {
        Later::Read {
            pieces,
            ranges,
            peer,
        }
    })
}

/// Returns the atomic operation of a record.
///
/// # Safety
/// The lists are as long as the record says.
unsafe fn update_of<'a>(
    shared: &Shared,
    (kind, msg): (Kind, &'a FiMsgAtomic),
    (comparands, results): (&'a [FiIoc], &'a [FiIoc]),
    flags: u64,
) -> Result<Later<'a>, Code> {
    only(flags, atomic::FLAGS)?;
    let what = (msg.datatype, msg.op);
    let typed = atomic::typed(kind, what).filter(|typed| shared.raw.updates(*typed));
    // SAFETY: the lists are as long as the record says.
    let update = unsafe { Update::of(kind, msg, (comparands, results), flags) };
    Ok(Later::Update(update, typed.ok_or(libc::EOPNOTSUPP)?))
}
