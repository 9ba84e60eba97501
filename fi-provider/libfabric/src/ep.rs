//! Endpoints (fi_endpoint(3)): how they are bound, enabled and closed.

use crate::contexts::Further;
use crate::events::{Owner, Source};
use crate::log::{self, Subsystem};
use crate::object::{Code, InUse, give, object, size, status, stub, unused};
use crate::state::{Binding, Counts, Ep, Kept, Own, Shared, Told, Turn, Usual, Wrong};
use crate::{
    alias, atomic, av, closed, cntr, cq, direct, domain, eq, info, msg, refuse, rma,
    shared_contexts, tagged,
};
use fi_ofi_abi::*;
use fi_provider::raw::completion::{CompletionQueue, Counter};
use fi_provider::raw::endpoint::{Config, Endpoint};
use fi_provider::raw::error::Error;
use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::Arc;

/// The C object.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) fid: FidEp,
    pub(crate) shared: Arc<Shared>,
    pub(crate) ep: Kept<Ep>,
    usual: Usual,
    pub(crate) number: u64,
    /// The scalable endpoint of which it is a context, or the endpoint of which it is an alias.
    of: Option<InUse>,
    /// Held by its aliases.
    pub(crate) aliases: InUse,
}

impl Object {
    /// Returns the object of an alias, whose endpoint this is, with flags of its own.
    pub(crate) fn alias(&self, turn: &Turn<'_>, ops: &'static FiOps, usual: Usual) -> Self {
        let alias = Self {
            fid: FidEp {
                fid: Fid {
                    ops,
                    ..self.fid.fid
                },
                ..self.fid
            },
            shared: Arc::clone(&self.shared),
            ep: self.ep.again(turn),
            usual,
            number: self.number,
            of: Some(InUse::clone(&self.aliases)),
            aliases: InUse::default(),
        };
        let own = alias.own(turn);
        if own.ep.raw.get().is_some() {
            own.note_usual();
        }
        alias
    }

    /// Returns the endpoint, with the object's own flags, during a turn at its domain.
    #[inline(always)]
    pub(crate) fn own(&self, turn: &Turn<'_>) -> Own<'_> {
        Own {
            ep: self.ep.get(turn),
            usual: &self.usual,
        }
    }
}

/// The side of a scalable endpoint that a context is of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Half {
    Transmit,
    Receive,
}

impl Half {
    /// Returns the capabilities that a context may have.
    pub(crate) fn caps(self) -> u64 {
        match self {
            Self::Transmit => info::TRANSMIT_CAPS,
            Self::Receive => info::RECEIVE_CAPS,
        }
    }
}

static FID_OPS: FiOps = FiOps {
    size: size_of::<FiOps>(),
    close,
    bind,
    control,
    ops_open: direct::open_endpoint,
    tostr: stub,
    ops_set: stub,
};
pub(crate) static EP_OPS: FiOpsEp = FiOpsEp {
    cancel,
    getopt,
    setopt,
    ..refuse::EP
};
pub(crate) static CM_OPS: FiOpsCm = FiOpsCm {
    getname,
    ..refuse::CM
};
/// The messages of contexts that only send, and only receive.
static SENDING: [FiOpsMsg; 2] = [
    refuse::sending(msg::ops::<false>()),
    refuse::sending(msg::ops::<true>()),
];
static RECEIVING: [FiOpsMsg; 2] = [
    refuse::receiving(msg::ops::<false>()),
    refuse::receiving(msg::ops::<true>()),
];
static SENDING_TAGGED: [FiOpsTagged; 2] = [
    refuse::sending_tagged(tagged::ops::<false>()),
    refuse::sending_tagged(tagged::ops::<true>()),
];
static RECEIVING_TAGGED: [FiOpsTagged; 2] = [
    refuse::receiving_tagged(tagged::ops::<false>()),
    refuse::receiving_tagged(tagged::ops::<true>()),
];
/// Bytes that are left of a buffer for several messages when it is given back, if not told.
pub(crate) const LEAST: usize = 64;
/// Entries of a queue that nobody reads.
const UNREAD: usize = 256;

pub(crate) unsafe extern "C" fn open(
    domain: *mut FidDomain,
    info: *mut FiInfo,
    ep: *mut *mut FidEp,
    context: *mut c_void,
) -> c_int {
    let shared = &object!(domain::Object, domain).shared;
    // SAFETY: `info` is a record as `getinfo` returns it, by fi_endpoint(3): its attributes are
    // NULL or attributes.
    let (caps, kind, transmit_flags, receive_flags) = unsafe {
        let Some(info) = info.as_ref() else {
            return status(Err(libc::EINVAL));
        };
        (
            info::all_of(info.caps),
            info.ep_attr.as_ref().map_or(FI_EP_RDM, |attr| attr.r#type),
            info.tx_attr.as_ref().map_or(0, |attr| attr.op_flags),
            info.rx_attr.as_ref().map_or(0, |attr| attr.op_flags),
        )
    };
    if kind != FI_EP_RDM && kind != FI_EP_UNSPEC {
        return -FI_ENOSYS;
    }
    let usual = Usual::new(transmit_flags, receive_flags);
    let own = (Ep::new(caps, Further::default()), usual);
    let fid = fid_of(shared, FI_CLASS_EP, context);
    // SAFETY: `ep` is where the caller wants the pointer, by fi_endpoint(3).
    unsafe { give_endpoint(shared, (fid, None), own, ep) };
    0
}

impl Ep {
    fn new(caps: u64, further: Further) -> Self {
        Self {
            raw: OnceCell::new(),
            caps,
            vector: Cell::default(),
            transmit: Cell::default(),
            receive: Cell::default(),
            counters: Cell::default(),
            events: RefCell::default(),
            received: OnceCell::new(),
            unread: RefCell::default(),
            has_silent: Cell::default(),
            is_quick: Cell::default(),
            least: Cell::new(LEAST),
            direct: direct::OfEndpoint::default(),
            further,
        }
    }

    /// Refuses to receive where a shared receive context does.
    pub(crate) fn receives_itself(&self) -> Result<(), Code> {
        match *self.further.receiver.borrow() {
            Some(_) => Err(libc::EOPNOTSUPP),
            None => Ok(()),
        }
    }
}

/// Returns the C part of an endpoint in this domain.
fn fid_of(shared: &Shared, fclass: usize, context: *mut c_void) -> FidEp {
    FidEp {
        fid: Fid {
            fclass,
            context,
            ops: &FID_OPS,
        },
        ops: &EP_OPS,
        cm: &CM_OPS,
        msg: either(&msg::SAFE, &msg::ALONE, shared),
        rma: either(&rma::SAFE, &rma::ALONE, shared),
        tagged: either(&tagged::SAFE, &tagged::ALONE, shared),
        atomic: either(&atomic::SAFE, &atomic::ALONE, shared),
        collective: null_mut(),
    }
}

/// Gives an endpoint to C, which holds the scalable one of which it is a context.
///
/// # Safety
/// `place` may be written.
unsafe fn give_endpoint(
    shared: &Arc<Shared>,
    (fid, of): (FidEp, Option<InUse>),
    (ep, usual): (Ep, Usual),
    place: *mut *mut FidEp,
) {
    let ep = Kept::new(ep);
    let mut turn = shared.lock();
    let in_table = ep.share(&turn);
    let number = turn.endpoints.add(in_table);
    drop(turn);
    let object = Object {
        fid,
        shared: Arc::clone(shared),
        ep,
        usual,
        number,
        of,
        aliases: InUse::default(),
    };
    // SAFETY: `place` may be written, by this function's requirement; the object begins with its
    // fid.
    unsafe { give(object, place) };
}

/// Opens a context of a scalable endpoint, with these capabilities and flags.
///
/// # Safety
/// `place` may be written.
pub(crate) unsafe fn open_half(
    shared: &Arc<Shared>,
    half: Half,
    (caps, [transmit, receive]): (u64, [u64; 2]),
    (further, of): (Further, Option<InUse>),
    place: *mut *mut FidEp,
    context: *mut c_void,
) {
    let is_shared = usize::from(shared.is_shared);
    let fid = match half {
        Half::Transmit => FidEp {
            msg: &SENDING[is_shared],
            tagged: &SENDING_TAGGED[is_shared],
            ..fid_of(shared, FI_CLASS_TX_CTX, context)
        },
        Half::Receive => FidEp {
            msg: &RECEIVING[is_shared],
            rma: &refuse::RMA,
            tagged: &RECEIVING_TAGGED[is_shared],
            atomic: &refuse::ATOMIC,
            ..fid_of(shared, FI_CLASS_RX_CTX, context)
        },
    };
    let own = (Ep::new(caps, further), Usual::new(transmit, receive));
    // SAFETY: `place` may be written, by this function's requirement.
    unsafe { give_endpoint(shared, (fid, of), own, place) };
}

/// Chooses between the functions for domains of several threads and of one at a time.
fn either<T>(safe: &'static T, alone: &'static T, shared: &Shared) -> &'static T {
    if shared.is_shared { safe } else { alone }
}

/// Starts an operation; makes progress where there is no room for it. Where it is triggered
/// ([`TRIGGERED`]) `later` has it wait.
#[inline(always)]
pub(crate) fn start(
    ep: *mut FidEp,
    act: impl FnOnce(Own<'_>) -> Result<(), Code>,
    later: impl FnOnce(&mut Turn<'_>, &Object) -> Result<(), Code>,
) -> isize {
    let object = object!(Object, ep);
    let mut turn = object.shared.lock();
    match act(object.own(&turn)) {
        Ok(()) if !turn.is_special => 0,
        Ok(()) => {
            turn.tell_watchers();
            0
        }
        Err(TRIGGERED) => start_later(turn, object, later),
        Err(code) => refused(turn, code),
    }
}

/// No code of libfabric's: the operation waits for its counter (FI_TRIGGER).
pub(crate) const TRIGGERED: Code = -1;

#[cold]
#[inline(never)]
fn start_later(
    mut turn: Turn<'_>,
    object: &Object,
    later: impl FnOnce(&mut Turn<'_>, &Object) -> Result<(), Code>,
) -> isize {
    size(later(&mut turn, object).map(|()| 0))
}

/// Makes progress where there was no room, as the peer may wait for room here.
#[cold]
#[inline(never)]
fn refused(mut turn: Turn<'_>, code: Code) -> isize {
    if code == libc::EAGAIN {
        turn.progress();
    }
    turn.tell_watchers();
    size(Err(code))
}

unsafe extern "C" fn bind(fid: *mut Fid, other: *mut Fid, flags: u64) -> c_int {
    let object = object!(Object, fid);
    let mut objects = object.shared.lock();
    // SAFETY: `other` is an open object, by fi_endpoint(3).
    let class = unsafe { (*other).fclass };
    let (shared, number) = match class {
        FI_CLASS_AV => object!(av::Object, other).place(),
        FI_CLASS_CQ => object!(cq::Object, other).place(),
        FI_CLASS_CNTR => object!(cntr::Object, other).place(),
        FI_CLASS_EQ => {
            let events = InUse::clone(&object!(eq::Object, other).in_use);
            return status(bind_events(&mut objects, object, events));
        }
        FI_CLASS_SRX_CTX | FI_CLASS_STX_CTX => {
            let ep = match opening(&objects, object) {
                Ok(ep) => ep,
                Err(code) => return -code,
            };
            // SAFETY: `other` is an open object of this class.
            return status(unsafe { shared_contexts::bind(&object.shared, &objects, ep, other) });
        }
        _ => return -FI_ENOSYS,
    };
    if !Arc::ptr_eq(shared, &object.shared) {
        return -FI_EDOMAIN;
    }
    status(match class {
        FI_CLASS_AV => bind_vector(&mut objects, object, number),
        FI_CLASS_CQ => bind_queue(&mut objects, object, number, flags),
        _ => bind_counter(&mut objects, object, number, flags),
    })
}

/// Finds an endpoint that is not enabled yet.
fn opening<'a>(objects: &Turn<'_>, object: &'a Object) -> Result<&'a Ep, Code> {
    let ep = object.ep.get(objects);
    if ep.raw.get().is_some() {
        return Err(FI_EOPBADSTATE);
    }
    Ok(ep)
}

fn bind_vector(objects: &mut Turn<'_>, object: &Object, vector: u64) -> Result<(), Code> {
    let ep = opening(objects, object)?;
    // That of a context is its scalable endpoint's.
    if ep.vector.get().is_some() || ep.further.of.is_some() {
        return Err(libc::EINVAL);
    }
    ep.vector.set(Some(vector));
    let vector = objects.vectors.get_mut(vector).ok_or(FI_EDOMAIN)?;
    vector.users += 1;
    Ok(())
}

/// Binds a queue of events, to which nothing is told.
fn bind_events(objects: &mut Turn<'_>, object: &Object, events: InUse) -> Result<(), Code> {
    let ep = opening(objects, object)?;
    if ep.events.borrow().is_some() {
        return Err(libc::EINVAL);
    }
    *ep.events.borrow_mut() = Some(events);
    Ok(())
}

fn bind_queue(objects: &mut Turn<'_>, object: &Object, queue: u64, flags: u64) -> Result<(), Code> {
    crate::object::only(flags, FI_SEND | FI_RECV | FI_SELECTIVE_COMPLETION)?;
    let ep = opening(objects, object)?;
    let binding = Binding {
        queue,
        is_selective: flags & FI_SELECTIVE_COMPLETION != 0,
    };
    let (sends, receives) = (flags & FI_SEND != 0, flags & FI_RECV != 0);
    let is_taken = sends && ep.transmit.get().is_some() || receives && ep.receive.get().is_some();
    if is_taken || !(sends || receives) {
        return Err(libc::EINVAL);
    }
    if sends {
        ep.transmit.set(Some(binding));
    }
    if receives {
        ep.receive.set(Some(binding));
    }
    let queue = objects.queues.get(queue).ok_or(FI_EDOMAIN)?;
    let users = usize::from(sends) + usize::from(receives);
    queue.users.set(queue.users.get() + users);
    Ok(())
}

fn bind_counter(
    objects: &mut Turn<'_>,
    object: &Object,
    counter: u64,
    flags: u64,
) -> Result<(), Code> {
    let mut accesses = flags & (FI_REMOTE_READ | FI_REMOTE_WRITE);
    crate::object::only(flags, FI_SEND | FI_RECV | FI_READ | FI_WRITE | accesses)?;
    let ep = opening(objects, object)?;
    if accesses != 0 && !object.shared.counts_accesses {
        if accesses == flags {
            return Err(libc::EINVAL);
        }
        // A counter of other operations, too, which is not told of these without FI_RMA_EVENT.
        accesses = 0;
    }
    let all = [
        (FI_SEND, Counts::Sent),
        (FI_RECV, Counts::Received),
        (FI_READ, Counts::Read),
        (FI_WRITE, Counts::Written),
    ];
    let wanted = || all.iter().filter(|(flag, _)| flags & flag != 0);
    if wanted().any(|&(_, what)| ep.counts(what)) {
        return Err(libc::EINVAL);
    }
    let source = Source::Domain(object.shared.raw.clone());
    objects.bind_events(Owner::Endpoint(object.number), &source, counter, accesses)?;
    let mut counters = ep.counters.get();
    wanted().for_each(|&(_, what)| counters[what as usize] = Some(counter));
    ep.counters.set(counters);
    let counter = objects.counters.get(counter).ok_or(FI_EDOMAIN)?;
    counter.users.set(counter.users.get() + wanted().count());
    Ok(())
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, argument: *mut c_void) -> c_int {
    let object = object!(Object, fid);
    let mut objects = object.shared.lock();
    match command {
        FI_ENABLE => status(enable(&mut objects, object)),
        FI_ALIAS => {
            // SAFETY: `argument` leads to the record of the request, and the endpoint is open, by
            // fi_endpoint(3).
            status(unsafe { alias::open(object, &objects, argument.cast()) })
        }
        FI_GETOPSFLAG | FI_SETOPSFLAG => {
            // SAFETY: `argument` is NULL or leads to flags, which nobody else uses meanwhile, by
            // fi_endpoint(3).
            let flags = unsafe { argument.cast::<u64>().as_mut() };
            let own = object.own(&objects);
            let flags = flags.ok_or(libc::EINVAL);
            status(flags.and_then(|flags| operation_flags(own, flags, command)))
        }
        _ => -FI_ENOSYS,
    }
}

/// Notes how an endpoint's operations without flags of their own are done.
fn note_usual(own: Own<'_>) {
    own.ep.direct.note(own.note_usual());
}

/// Gets or sets the flags of operations without flags of their own: those of the side that `flags`
/// names.
fn operation_flags(own: Own<'_>, flags: &mut u64, command: c_int) -> Result<(), Code> {
    let (sides, wanted) = (*flags & (FI_SEND | FI_RECV), *flags & !(FI_SEND | FI_RECV));
    let (now, known) = match sides {
        FI_SEND => (own.usual.transmit(), info::TRANSMIT_FLAGS),
        FI_RECV => (own.usual.receive(), info::RECEIVE_FLAGS),
        _ => return Err(libc::EINVAL),
    };
    if command == FI_GETOPSFLAG {
        *flags = now;
        return Ok(());
    }
    crate::object::only(wanted, known)?;
    own.usual.set(sides == FI_SEND, wanted);
    note_usual(own);
    Ok(())
}

fn enable(objects: &mut Turn<'_>, object: &Object) -> Result<(), Code> {
    let ep = opening(objects, object)?;
    let member = ep.further.of.as_ref();
    let of_all = member.and_then(|(scalable, _)| scalable.vector.get());
    let number = ep.vector.get().or(of_all).ok_or(FI_ENOAV)?;
    let counts = |what: &[Counts]| what.iter().any(|&what| ep.counts(what));
    let tells = counts(&[Counts::Sent, Counts::Read, Counts::Written]);
    // Each side that the endpoint has tells of its operations somewhere.
    let has = |caps| ep.caps & caps != 0;
    let is_told = ep.transmit.get().is_some() || tells || !has(FI_SEND | FI_READ | FI_WRITE);
    let hears = ep.receive.get().is_some() || ep.counts(Counts::Received) || !has(FI_RECV);
    if !is_told || !hears {
        return Err(FI_ENOCQ);
    }
    let (transmit, receive) = (ep.transmit.get(), ep.receive.get());
    let counters = ep.counters.get();
    let vector = objects.vectors.get(number).ok_or(FI_EDOMAIN)?;
    ep.further.context_bits.set(vector.context_bits);
    let vector = vector.raw.clone();
    let mut unread = Vec::new();
    let mut queue = |binding: Option<Binding>, is_used: bool| match binding {
        Some(Binding { queue, .. }) => {
            let queue = objects.queues.get(queue).ok_or(FI_EDOMAIN)?;
            Ok(queue.raw.clone())
        }
        // The other side of a context has no entries.
        None if !is_used && member.is_some() => Ok(CompletionQueue::new(UNREAD)),
        None => {
            unread.push(CompletionQueue::new(UNREAD));
            unread.last().cloned().ok_or(libc::ENOMEM)
        }
    };
    let counter = |what: Counts| -> Result<Counter, Code> {
        match counters[what as usize] {
            Some(number) => {
                let counter = objects.counters.get(number).ok_or(FI_EDOMAIN)?;
                Ok(counter.raw.clone())
            }
            None => Ok(Counter::new()),
        }
    };
    let received = counter(Counts::Received)?;
    let transmit = queue(transmit, has(FI_SEND | FI_READ | FI_WRITE))?;
    let receive = queue(receive, has(FI_RECV | FI_REMOTE_WRITE))?;
    let config = Config {
        receive,
        done: counter(Counts::Sent)?,
        read: counter(Counts::Read)?,
        written: counter(Counts::Written)?,
        received: received.clone(),
        shared: shared_contexts::of(ep),
        ..Config::new(&transmit)
    };
    let domain = &object.shared.raw;
    let raw = match member {
        None => Endpoint::open(domain, &vector, config),
        Some((_, member)) => Endpoint::open_member(domain, &vector, config, *member),
    };
    let raw = raw.map_err(Error::code)?;
    let line = format!("{} is open", raw.address());
    log::info(Subsystem::Endpoint, &line);
    shared_contexts::note_enabled(ep);
    *ep.unread.borrow_mut() = unread;
    ep.raw.set(raw).map_err(|_| FI_EOPBADSTATE)?;
    ep.received.get_or_init(|| received);
    note_usual(object.own(objects));
    let running = object.ep.share(objects);
    objects.running.push(running);
    objects.note_drops();
    objects.note_special();
    objects.watch(ep)
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    let object = object!(Object, fid);
    if let Err(code) = unused(&object.aliases) {
        return -code;
    }
    let shared = Arc::clone(&object.shared);
    let mut turn = shared.lock();
    let objects = &mut *turn;
    let Some(ep) = objects.endpoints.remove(object.number) else {
        return status(Err(libc::EINVAL));
    };
    objects.running.retain(|one| !Rc::ptr_eq(one, &ep));
    objects.note_drops();
    objects.note_special();
    if let Some(raw) = ep.raw.get() {
        // Counts that are queued are the domain's.
        if let Some(other) = objects.running.iter().find_map(|ep| ep.raw.get()) {
            raw.leave_counts_to(other);
        }
        for receive in raw.drop_deferred() {
            objects.receives.remove(receive);
        }
        let own = objects.receives.iter();
        let own = own.filter(|(_, posted)| posted.endpoint == object.number);
        // Buffers that wait; those that entries name are let go when these are read.
        let waiting: Vec<u64> = own
            .filter(|(number, posted)| posted.take_back(raw, *number))
            .map(|(number, _)| number)
            .collect();
        let received = ep.received.get().map_or(0, Counter::read);
        let line = format!("{} is closed: {received} messages have come", raw.address());
        log::info(Subsystem::Endpoint, &line);
        for number in waiting {
            objects.receives.remove(number);
        }
    }
    let bindings = [ep.transmit.get(), ep.receive.get()];
    for Binding { queue, .. } in bindings.into_iter().flatten() {
        if let Some(queue) = objects.queues.get(queue) {
            queue.users.set(queue.users.get() - 1);
        }
    }
    for counter in ep.counters.get().into_iter().flatten() {
        if let Some(counter) = objects.counters.get(counter) {
            counter.users.set(counter.users.get() - 1);
        }
    }
    let vector = ep.vector.get();
    if let Some(vector) = vector.and_then(|number| objects.vectors.get_mut(number)) {
        vector.users -= 1;
    }
    objects.unbind_events(Owner::Endpoint(object.number));
    drop(ep);
    // The last handle goes in this turn.
    // SAFETY: `open` has given the object, and its caller uses it no more.
    unsafe { closed::retire::<Object, _>(fid, closed::endpoint()) };
    0
}

unsafe extern "C" fn cancel(fid: *mut Fid, context: *mut c_void) -> isize {
    let object = object!(Object, fid);
    let mut objects = object.shared.lock();
    size(cancel_one(&mut objects, object, context).map(|()| 0))
}

fn cancel_one(turn: &mut Turn<'_>, object: &Object, context: *mut c_void) -> Result<(), Code> {
    let ep = object.ep.get(turn);
    let raw = ep.enabled()?;
    let number = context.addr() as u64;
    let (mut tag, mut buffer, mut multi) = (None, null_mut(), 0);
    if !raw.cancel_receive(number) {
        tag = raw.cancel_tagged(number);
        if tag.is_none() {
            let found = turn.receives.iter().find(|(number, posted)| {
                let is_it = posted.endpoint == object.number && posted.context == context;
                is_it && posted.take_back(raw, *number)
            });
            let number = found.ok_or(libc::ENOENT)?.0;
            let posted = turn.receives.remove(number).ok_or(libc::ENOENT)?;
            (tag, buffer) = (posted.tag, posted.buffer);
            if posted.is_multi {
                multi = FI_MULTI_RECV;
            }
        }
    }
    let binding = ep.receive.get();
    if let Some(queue) = binding.and_then(|binding| turn.queues.get(binding.queue)) {
        let told = Told {
            context,
            flags: FI_RECV | tag.map_or(FI_MSG, |_| FI_TAGGED) | multi,
            len: 0,
            buffer,
            data: 0,
            source: FI_ADDR_NOTAVAIL,
            tag: tag.unwrap_or(0),
        };
        queue.hold_last(Err(Wrong {
            told,
            code: libc::ECANCELED,
            cut: 0,
        }));
    }
    Ok(())
}

unsafe extern "C" fn getopt(
    fid: *mut Fid,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut usize,
) -> c_int {
    let object = object!(Object, fid);
    let turn = object.shared.lock();
    // SAFETY: `value` has room for `*len` bytes, and `len` may be written, by fi_endpoint(3).
    unsafe { option(&object.ep.get(&turn).least, (level, name), value, len) }
}

unsafe extern "C" fn setopt(
    fid: *mut Fid,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: usize,
) -> c_int {
    let object = object!(Object, fid);
    let turn = object.shared.lock();
    // SAFETY: `value` holds `len` bytes, by fi_endpoint(3).
    unsafe { set_option(&object.ep.get(&turn).least, (level, name), value, len) }
}

/// Writes the only option, FI_OPT_MIN_MULTI_RECV, to where the application wants it (fi_getopt).
///
/// # Safety
/// `value` has room for `*len` bytes, and `len` may be written.
pub(crate) unsafe fn option(
    least: &Cell<usize>,
    which: (c_int, c_int),
    value: *mut c_void,
    len: *mut usize,
) -> c_int {
    if which != (FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV) {
        return status(Err(libc::ENOPROTOOPT));
    }
    // SAFETY: `value` has room for `*len` bytes, and `len` may be written.
    unsafe {
        let room = len.replace(size_of::<usize>());
        if room < size_of::<usize>() {
            return -FI_ETOOSMALL;
        }
        value.cast::<usize>().write_unaligned(least.get());
    }
    0
}

/// Sets the only option (fi_setopt).
///
/// # Safety
/// `value` holds `len` bytes.
pub(crate) unsafe fn set_option(
    least: &Cell<usize>,
    which: (c_int, c_int),
    value: *const c_void,
    len: usize,
) -> c_int {
    if which != (FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV) {
        return status(Err(libc::ENOPROTOOPT));
    }
    if len != size_of::<usize>() {
        return status(Err(libc::EINVAL));
    }
    // SAFETY: `value` holds as many bytes as a number has.
    least.set(unsafe { value.cast::<usize>().read_unaligned() });
    0
}

unsafe extern "C" fn getname(fid: *mut Fid, place: *mut c_void, len: *mut usize) -> c_int {
    let object = object!(Object, fid);
    let objects = object.shared.lock();
    let Some(raw) = object.ep.get(&objects).raw.get() else {
        return -FI_EOPBADSTATE;
    };
    // SAFETY: `place` has room for `*len` bytes, and `len` may be written, by fi_cm(3).
    if unsafe { av::put_address(&raw.address(), place, len) } {
        0
    } else {
        -FI_ETOOSMALL
    }
}
