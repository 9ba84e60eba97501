//! Shared contexts (fi_endpoint(3), fi_srx_context and fi_stx_context). A shared receive context
//! has the buffers of several endpoints. A shared transmit context has nothing: endpoints keep the
//! queues by which they send, and report to queues of completions of their own anyway.

use crate::object::{Code, InUse, closing, give, object, only, size, status, take, unused};
use crate::slab::is_number;
use crate::state::{Ep, Kept, Receive, Shared, Told, Turn, Wrong};
use crate::tagged::{LOOKS, look_at};
use crate::transfer::{Which, list, piece, writable};
use crate::{domain, ep, msg, refuse, tagged};
use fi_ofi_abi::*;
use fi_provider::raw::address_vector::PeerIndex;
use fi_provider::raw::endpoint::{Posted, ReceiveContext, Wanted};
use fi_provider::raw::error::Error;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::Arc;

/// A shared receive context.
#[derive(Debug)]
pub(crate) struct Receiver {
    raw: ReceiveContext,
    /// Whether receives may be of one peer alone.
    is_directed: bool,
    flags: u64,
    /// Whether receives report only that are told to: as the queue of the last endpoint is bound.
    is_selective: Cell<bool>,
    /// A queue of an endpoint, for receives that are cancelled, and for messages that looks find.
    queue: Cell<Option<u64>>,
    /// Bytes that are left of a buffer for several messages when it is given back.
    least: Cell<usize>,
}

/// The C object of a shared receive context.
#[repr(C)]
#[derive(Debug)]
struct Receiving {
    fid: FidEp,
    shared: Arc<Shared>,
    receiver: Kept<Receiver>,
}

/// The C object of a shared transmit context.
#[repr(C)]
#[derive(Debug)]
struct Transmitting {
    fid: FidStx,
    shared: Arc<Shared>,
    /// Held by the endpoints that it is bound to.
    in_use: InUse,
}

static RECEIVING_OPS: FiOps = closing(close_receive);
static TRANSMITTING_OPS: FiOps = closing(close_transmit);
static NO_EP_OPS: FiOpsEp = refuse::EP;
static NO_CM_OPS: FiOpsCm = refuse::CM;
static EP_OPS: FiOpsEp = FiOpsEp {
    cancel,
    getopt,
    setopt,
    ..refuse::EP
};
static MSG: FiOpsMsg = FiOpsMsg {
    recv,
    recvv,
    recvmsg,
    ..refuse::MSG
};
static TAGGED: FiOpsTagged = FiOpsTagged {
    recv: trecv,
    recvv: trecvv,
    recvmsg: trecvmsg,
    ..refuse::TAGGED
};

/// Bytes and number of messages that are held before buffers are posted for them.
const MOST_EARLY: (usize, usize) = (1 << 20, 1 << 12);

pub(crate) unsafe extern "C" fn open_transmit(
    domain: *mut FidDomain,
    _attr: *mut FiTxAttr,
    stx: *mut *mut FidStx,
    context: *mut c_void,
) -> c_int {
    let shared = Arc::clone(&object!(domain::Object, domain).shared);
    shared.lock().contexts += 1;
    let object = Transmitting {
        fid: FidStx {
            fid: Fid {
                fclass: FI_CLASS_STX_CTX,
                context,
                ops: &TRANSMITTING_OPS,
            },
            ops: &NO_EP_OPS,
        },
        shared,
        in_use: InUse::default(),
    };
    // SAFETY: `stx` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(object, stx) };
    0
}

unsafe extern "C" fn close_transmit(fid: *mut Fid) -> c_int {
    let object = object!(Transmitting, fid);
    if let Err(code) = unused(&object.in_use) {
        return -code;
    }
    object.shared.lock().contexts -= 1;
    // SAFETY: `open_transmit` has given the object, and its caller uses it no more.
    drop(unsafe { take::<Transmitting>(fid) });
    0
}

pub(crate) unsafe extern "C" fn open_receive(
    domain: *mut FidDomain,
    attr: *mut FiRxAttr,
    srx: *mut *mut FidEp,
    context: *mut c_void,
) -> c_int {
    let shared = Arc::clone(&object!(domain::Object, domain).shared);
    // SAFETY: `attr` is NULL or attributes, by fi_endpoint(3).
    let attr = unsafe { attr.as_ref() };
    let (caps, flags) = attr.map_or((0, 0), |attr| (attr.caps, attr.op_flags));
    shared.lock().contexts += 1;
    let object = Receiving {
        fid: FidEp {
            fid: Fid {
                fclass: FI_CLASS_SRX_CTX,
                context,
                ops: &RECEIVING_OPS,
            },
            ops: &EP_OPS,
            cm: &NO_CM_OPS,
            msg: &MSG,
            rma: &refuse::RMA,
            tagged: &TAGGED,
            atomic: &refuse::ATOMIC,
            collective: null_mut(),
        },
        shared,
        receiver: Kept::new(Receiver {
            raw: ReceiveContext::new(MOST_EARLY),
            is_directed: caps & FI_DIRECTED_RECV != 0,
            flags,
            is_selective: Cell::default(),
            queue: Cell::default(),
            least: Cell::new(ep::LEAST),
        }),
    };
    // SAFETY: `srx` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(object, srx) };
    0
}

unsafe extern "C" fn close_receive(fid: *mut Fid) -> c_int {
    let shared = Arc::clone(&object!(Receiving, fid).shared);
    let mut turn = shared.lock();
    let receiver = object!(Receiving, fid).receiver.share(&turn);
    // The object's, and this one.
    if Rc::strong_count(&receiver) > 2 {
        return status(Err(libc::EBUSY));
    }
    let number = receiver.number();
    let posted = turn.receives.iter();
    let posted = posted.filter(|(_, posted)| posted.endpoint == number);
    let posted: Vec<u64> = posted.map(|(number, _)| number).collect();
    for number in posted {
        turn.receives.remove(number);
    }
    turn.contexts -= 1;
    drop(receiver);
    // The last handle goes in this turn.
    // SAFETY: `open_receive` has given the object, and its caller uses it no more.
    drop(unsafe { take::<Receiving>(fid) });
    0
}

/// Binds a shared context to an endpoint that is not enabled.
///
/// # Safety
/// The fid is that of an open shared context.
pub(crate) unsafe fn bind(
    shared: &Arc<Shared>,
    turn: &Turn<'_>,
    ep: &Ep,
    fid: *mut Fid,
) -> Result<(), Code> {
    // SAFETY: the object is open.
    let is_receive = unsafe { (*fid).fclass } == FI_CLASS_SRX_CTX;
    let of = if is_receive {
        &object!(Receiving, fid).shared
    } else {
        &object!(Transmitting, fid).shared
    };
    if !Arc::ptr_eq(of, shared) {
        return Err(FI_EDOMAIN);
    }
    if is_receive {
        let mut bound = ep.further.receiver.borrow_mut();
        if bound.is_some() {
            return Err(libc::EINVAL);
        }
        *bound = Some(object!(Receiving, fid).receiver.share(turn));
    } else {
        let mut bound = ep.further.transmitter.borrow_mut();
        if bound.is_some() {
            return Err(libc::EINVAL);
        }
        *bound = Some(InUse::clone(&object!(Transmitting, fid).in_use));
    }
    Ok(())
}

/// Returns the fabric's part of the receive context that is bound to an endpoint.
pub(crate) fn of(ep: &Ep) -> Option<ReceiveContext> {
    let receiver = ep.further.receiver.borrow();
    receiver.as_ref().map(|receiver| receiver.raw.clone())
}

/// Notes how an endpoint reports that is enabled.
pub(crate) fn note_enabled(ep: &Ep) {
    if let (Some(receiver), Some(binding)) = (&*ep.further.receiver.borrow(), ep.receive.get()) {
        receiver.is_selective.set(binding.is_selective);
        receiver.queue.set(Some(binding.queue));
    }
}

impl Receiver {
    /// Returns the number that tells its receives from those of endpoints, whose numbers are no
    /// addresses.
    fn number(self: &Rc<Self>) -> u64 {
        Rc::as_ptr(self).addr() as u64
    }
}

impl Receiver {
    /// Returns the peer whose messages alone a receive takes, if the context cares.
    fn source(&self, from: u64) -> Result<Option<PeerIndex>, Code> {
        let is_directed = self.is_directed && from != FI_ADDR_NOTAVAIL;
        let source = is_directed.then(|| PeerIndex::try_from(from));
        source.transpose().map_err(|_| libc::EINVAL)
    }
}

/// Posts a buffer.
///
/// # Safety
/// The bytes of the pieces are nobody else's until a completion gives them back.
unsafe fn post(
    srx: *mut FidEp,
    pieces: &[Iovec],
    (which, from): (Which, u64),
    context: *mut c_void,
    flags: Option<u64>,
) -> Result<(), Code> {
    let object = object!(Receiving, srx);
    let mut turn = object.shared.lock();
    let receiver = object.receiver.share(&turn);
    let flags = flags.unwrap_or(receiver.flags);
    let (tag, is_multi) = match which {
        Which::Untagged => (None, flags & FI_MULTI_RECV != 0),
        Which::Tagged(tag, _) | Which::Claimed(tag) => (Some(tag), false),
    };
    if is_multi && pieces.len() != 1 {
        return Err(libc::EINVAL);
    }
    let source = receiver.source(from)?;
    let reports = flags & FI_COMPLETION != 0 || !receiver.is_selective.get();
    let claimed = context.addr() as u64;
    let mut number = claimed;
    if is_multi || !reports || is_number(number) {
        number = turn.receives.add(Receive {
            context,
            buffer: pieces[0].iov_base.cast(),
            is_multi,
            // The application learns by completions alone where its messages lie.
            reports: reports || is_multi,
            endpoint: receiver.number(),
            tag,
        });
    }
    let memory = writable(pieces);
    // SAFETY: the bytes are nobody else's until a completion gives them back, by this function's
    // requirement, or the application cancels the receive, or closes the context, behind all its
    // endpoints.
    let posted = unsafe {
        match which {
            Which::Untagged => {
                let posted = Posted {
                    context: number,
                    source,
                    least: is_multi.then_some(receiver.least.get()),
                };
                receiver.raw.post_receive(&memory, posted).map(|()| true)
            }
            Which::Tagged(tag, ignore) => {
                let wanted = Wanted {
                    tag,
                    ignore,
                    source,
                };
                let posted = receiver.raw.post_tagged(&memory, wanted, number);
                posted.map(|()| true)
            }
            Which::Claimed(_) => receiver.raw.receive_claimed(&memory, claimed, number),
        }
    };
    let is_posted = posted.map_err(Error::code);
    if is_posted != Ok(true) {
        turn.receives.remove(number);
    }
    // An early message may have got the buffer.
    turn.tell_watchers();
    // No such message was claimed.
    is_posted?.then_some(()).ok_or(libc::EINVAL)
}

unsafe extern "C" fn recv(
    srx: *mut FidEp,
    memory: *mut c_void,
    len: usize,
    _desc: *mut c_void,
    from: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the application leaves the buffer alone until its completion, by fi_msg(3).
    let posted = unsafe {
        post(
            srx,
            &[piece(memory, len)],
            (Which::Untagged, from),
            context,
            None,
        )
    };
    size(posted.map(|()| 0))
}

unsafe extern "C" fn recvv(
    srx: *mut FidEp,
    pieces: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    from: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: `pieces` leads to `count` pieces, which the application leaves alone until the
    // completion, by fi_msg(3).
    let posted = unsafe {
        list(pieces, count).and_then(|all| post(srx, all, (Which::Untagged, from), context, None))
    };
    size(posted.map(|()| 0))
}

unsafe extern "C" fn recvmsg(srx: *mut FidEp, message: *const FiMsg, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with a list of pieces, which the application leaves alone
    // until the completion, by fi_msg(3).
    let posted = unsafe {
        let message = &*message;
        only(flags, msg::RECVMSG)
            .and_then(|()| list(message.msg_iov, message.iov_count))
            .and_then(|all| {
                let which = (Which::Untagged, message.addr);
                post(srx, all, which, message.context, Some(flags))
            })
    };
    size(posted.map(|()| 0))
}

unsafe extern "C" fn trecv(
    srx: *mut FidEp,
    memory: *mut c_void,
    len: usize,
    _desc: *mut c_void,
    from: u64,
    tag: u64,
    ignore: u64,
    context: *mut c_void,
) -> isize {
    let which = (Which::Tagged(tag, ignore), from);
    // SAFETY: the application leaves the buffer alone until its completion, by fi_tagged(3).
    let posted = unsafe { post(srx, &[piece(memory, len)], which, context, None) };
    size(posted.map(|()| 0))
}

unsafe extern "C" fn trecvv(
    srx: *mut FidEp,
    pieces: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    from: u64,
    tag: u64,
    ignore: u64,
    context: *mut c_void,
) -> isize {
    let which = (Which::Tagged(tag, ignore), from);
    // SAFETY: `pieces` leads to `count` pieces, which the application leaves alone until the
    // completion, by fi_tagged(3).
    let posted =
        unsafe { list(pieces, count).and_then(|all| post(srx, all, which, context, None)) };
    size(posted.map(|()| 0))
}

unsafe extern "C" fn trecvmsg(srx: *mut FidEp, message: *const FiMsgTagged, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with a list of pieces, which the application leaves alone
    // until the completion, by fi_tagged(3).
    let posted = unsafe {
        let message = &*message;
        only(flags, tagged::RECVMSG).and_then(|()| {
            let which = match flags & LOOKS {
                0 => Which::Tagged(message.tag, message.ignore),
                FI_CLAIM => Which::Claimed(message.tag),
                looks => return look(srx, message, looks),
            };
            let all = list(message.msg_iov, message.iov_count)?;
            post(
                srx,
                all,
                (which, message.addr),
                message.context,
                Some(flags),
            )
        })
    };
    size(posted.map(|()| 0))
}

/// Looks for a message that has come to one of the endpoints.
fn look(srx: *mut FidEp, message: &FiMsgTagged, flags: u64) -> Result<(), Code> {
    let object = object!(Receiving, srx);
    let mut turn = object.shared.lock();
    // The message may have come, but not been seen.
    turn.progress();
    let receiver = object.receiver.share(&turn);
    let source = receiver.source(message.addr)?;
    let queue = receiver.queue.get().ok_or(FI_ENOCQ)?;
    look_at(&mut turn, &receiver.raw, (message, flags), source, queue)
}

unsafe extern "C" fn getopt(
    fid: *mut Fid,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut usize,
) -> c_int {
    let object = object!(Receiving, fid);
    let turn = object.shared.lock();
    // SAFETY: `value` has room for `*len` bytes, and `len` may be written, by fi_endpoint(3).
    unsafe { ep::option(&object.receiver.get(&turn).least, (level, name), value, len) }
}

unsafe extern "C" fn setopt(
    fid: *mut Fid,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: usize,
) -> c_int {
    let object = object!(Receiving, fid);
    let turn = object.shared.lock();
    // SAFETY: `value` holds `len` bytes, by fi_endpoint(3).
    unsafe { ep::set_option(&object.receiver.get(&turn).least, (level, name), value, len) }
}

unsafe extern "C" fn cancel(fid: *mut Fid, context: *mut c_void) -> isize {
    let object = object!(Receiving, fid);
    let mut turn = object.shared.lock();
    let receiver = object.receiver.share(&turn);
    size(cancel_one(&mut turn, &receiver, context).map(|()| 0))
}

fn cancel_one(
    turn: &mut Turn<'_>,
    receiver: &Rc<Receiver>,
    context: *mut c_void,
) -> Result<(), Code> {
    let take_back = |number| match receiver.raw.cancel_tagged(number) {
        Some(tag) => Some(Some(tag)),
        None => receiver.raw.cancel_receive(number).then_some(None),
    };
    let own = receiver.number();
    let (mut buffer, mut multi) = (null_mut(), 0);
    let mut found = take_back(context.addr() as u64);
    if found.is_none() {
        let mut posted = turn.receives.iter();
        let is_it = |posted: &Receive| posted.endpoint == own && posted.context == context;
        let taken = posted.find_map(|(number, posted)| {
            let taken = is_it(posted).then(|| take_back(number)).flatten();
            taken.map(|tag| (number, tag))
        });
        drop(posted);
        let (number, tag) = taken.ok_or(libc::ENOENT)?;
        if let Some(posted) = turn.receives.remove(number) {
            buffer = posted.buffer;
            multi = if posted.is_multi { FI_MULTI_RECV } else { 0 };
        }
        found = Some(tag);
    }
    let tag = found.flatten();
    let queue = receiver.queue.get();
    if let Some(queue) = queue.and_then(|queue| turn.queues.get(queue)) {
        queue.hold_last(Err(Wrong {
            told: Told {
                context,
                flags: FI_RECV | tag.map_or(FI_MSG, |_| FI_TAGGED) | multi,
                len: 0,
                buffer,
                data: 0,
                source: FI_ADDR_NOTAVAIL,
                tag: tag.unwrap_or(0),
            },
            code: libc::ECANCELED,
            cut: 0,
        }));
    }
    Ok(())
}
