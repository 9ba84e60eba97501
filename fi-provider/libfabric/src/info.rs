//! The abilities of the provider, compared with the hints of an application (fi_getinfo(3)).

use crate::core;
use crate::log::{self, Subsystem};
use crate::object::{Code, status};
use crate::settings;
use fi_ofi_abi::*;
use fi_provider::raw::address::Address;
use fi_provider::raw::domain::Domain;
use std::ffi::{CStr, c_char, c_int, c_void};

/// The name of the provider, of its fabric and of its domain.
pub(crate) const NAME: &CStr = c"farreach";
/// The most bytes that are taken over at once: they go whole through a ring of
/// [`RING_BYTES`](crate::domain::RING_BYTES), or into memory.
pub(crate) const INJECT_SIZE: usize = 8 << 10;
/// The format of its addresses: [`Address::BYTES`] bytes each.
const FORMAT: u32 = FI_PROV_SPECIFIC | 0xfa;
/// The address of an endpoint that is to be opened: the fabric will choose it.
const NOT_CHOSEN: [u8; Address::BYTES] = [0; Address::BYTES];
/// Its protocol.
const PROTOCOL: u32 = FI_PROV_SPECIFIC | 0xfa;
/// The most pieces of memory of an operation, here and there.
pub(crate) const MOST_PIECES: usize = 4;
/// The format of tags: all 64 bits are the application's, and each may be ignored alone.
const EACH_BIT: u64 = 0xaaaa_aaaa_aaaa_aaaa;
/// The most bytes of an operation.
const MOST_BYTES: usize = 1 << 40;
/// The most objects of a kind, and operations in a queue.
const MOST_OBJECTS: usize = 1 << 10;
const MOST_QUEUED: usize = 1 << 12;
/// The most contexts of each kind of a scalable endpoint.
pub(crate) const MOST_CONTEXTS: usize = 1 << 8;
/// Bytes of a key, and of data that goes along.
const WORD: usize = 8;

const SENDS: u64 = FI_SEND | FI_RECV;
const ACCESSES: u64 = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
/// Capabilities of an endpoint, of its sending side and of its receiving side.
const CAPS: u64 = FI_MSG
    | FI_TAGGED
    | FI_RMA
    | FI_ATOMIC
    | SENDS
    | ACCESSES
    | FI_MULTI_RECV
    | FI_SOURCE
    | FI_DIRECTED_RECV
    | FI_NAMED_RX_CTX
    | FI_RMA_EVENT
    | FI_TRIGGER;
/// Capabilities that an application gets which asks for none.
const USUAL_CAPS: u64 = CAPS & !(FI_RMA_EVENT | FI_TRIGGER);
pub(crate) const TRANSMIT_CAPS: u64 = FI_MSG
    | FI_TAGGED
    | FI_RMA
    | FI_ATOMIC
    | FI_SEND
    | FI_READ
    | FI_WRITE
    | FI_NAMED_RX_CTX
    | FI_TRIGGER;
pub(crate) const RECEIVE_CAPS: u64 = FI_MSG
    | FI_TAGGED
    | FI_RMA
    | FI_ATOMIC
    | FI_RECV
    | FI_REMOTE_READ
    | FI_REMOTE_WRITE
    | FI_MULTI_RECV
    | FI_SOURCE
    | FI_DIRECTED_RECV
    | FI_RMA_EVENT
    | FI_TRIGGER;
/// Flags that an endpoint may give to all its operations.
pub(crate) const TRANSMIT_FLAGS: u64 = FI_COMPLETION
    | FI_INJECT
    | FI_INJECT_COMPLETE
    | FI_TRANSMIT_COMPLETE
    | FI_DELIVERY_COMPLETE
    | FI_MATCH_COMPLETE;
/// A receive with FI_TRANSMIT_COMPLETE is reported as any other one: when its bytes are there.
pub(crate) const RECEIVE_FLAGS: u64 = FI_COMPLETION | FI_MULTI_RECV | FI_TRANSMIT_COMPLETE;
/// Messages to one endpoint arrive in their order.
const ORDER: u64 = FI_ORDER_SAS;

/// The attributes that an application asks for, and gets.
#[derive(Clone, Debug)]
struct Offer {
    caps: u64,
    /// Of it, the domain's: where peers may be, and whether processes share address vectors.
    of_domain: u64,
    /// The capabilities of the sending side and of the receiving one, where the application names
    /// them: else they are those of the endpoint.
    transmit_caps: u64,
    receive_caps: u64,
    transmit_flags: u64,
    receive_flags: u64,
    order: u64,
    av_type: u32,
    threading: u32,
    control_progress: u32,
    data_progress: u32,
    mr_mode: i32,
    /// Numbers of transmit and receive contexts that an endpoint is to have, or FI_SHARED_CONTEXT.
    contexts: (usize, usize),
    dest: Option<Address>,
}

pub(crate) unsafe extern "C" fn getinfo(
    version: u32,
    node: *const c_char,
    _service: *const c_char,
    flags: u64,
    hints: *const FiInfo,
    info: *mut *mut FiInfo,
) -> c_int {
    let reach = match settings::reaches_others() {
        Ok(true) => FI_LOCAL_COMM | FI_REMOTE_COMM,
        Ok(false) => FI_LOCAL_COMM,
        Err(why) => {
            log::tell(&format!("fi_getinfo: {why}"));
            return status(Err(libc::ENODATA));
        }
    };
    // SAFETY: `node` is NULL or ends with a zero, `hints` is NULL or a record whose attributes
    // are NULL or records, by fi_getinfo(3).
    let offer = unsafe { offer(version, node, flags, hints.as_ref(), reach) };
    let offer = offer.map_err(|Refusal(why)| {
        log::info(Subsystem::Core, &format!("fi_getinfo: {why}"));
        libc::ENODATA
    });
    status(offer.and_then(|offer| {
        let record = fill(version, &offer)?;
        // SAFETY: `info` may be written, by fi_getinfo(3).
        unsafe { info.write(record) };
        Ok(())
    }))
}

/// The reason why nothing is offered: an attribute of the hints, and a value of it that cannot be.
#[derive(Debug, PartialEq, Eq)]
struct Refusal(String);

/// Refuses a value of an attribute where it cannot be.
fn require(is_kept: bool, attribute: &str) -> Result<(), Refusal> {
    match is_kept {
        true => Ok(()),
        false => Err(Refusal(format!("hints->{attribute} is not offered"))),
    }
}

/// Refuses bits of an attribute that are not among those which may be; `kind` says how libfabric
/// writes them.
fn only(attribute: &str, asked: u64, may: u64, kind: u32) -> Result<(), Refusal> {
    match asked & !may {
        0 => Ok(()),
        others => {
            let others = core::names(others, kind).unwrap_or_else(|| format!("{others:#x}"));
            Err(Refusal(format!(
                "hints->{attribute}: {others} is not offered"
            )))
        }
    }
}

/// Refuses a number of an attribute above the limit.
fn at_most(attribute: &str, asked: usize, limit: usize) -> Result<(), Refusal> {
    match asked <= limit {
        true => Ok(()),
        false => Err(Refusal(format!(
            "hints->{attribute} is {asked}: it may be at most {limit}"
        ))),
    }
}

/// Finds out the attributes to offer; `reach` says where peers may be.
///
/// # Safety
/// `node` is NULL or ends with a zero; the attributes of `hints` are NULL or records.
unsafe fn offer(
    version: u32,
    node: *const c_char,
    flags: u64,
    hints: Option<&FiInfo>,
    reach: u64,
) -> Result<Offer, Refusal> {
    let is_own = flags & FI_SOURCE != 0;
    // The fabric chooses an endpoint's own address. A service names nothing: an address is whole.
    if !node.is_null() && is_own {
        let why = "FI_SOURCE with a node: the fabric chooses an endpoint's address";
        return Err(Refusal(why.to_owned()));
    }
    let of_domain = reach | FI_SHARED_AV;
    let mut offer = Offer {
        caps: USUAL_CAPS | of_domain,
        of_domain,
        transmit_caps: 0,
        receive_caps: 0,
        transmit_flags: 0,
        receive_flags: 0,
        order: ORDER,
        av_type: FI_AV_TABLE,
        threading: FI_THREAD_SAFE,
        control_progress: FI_PROGRESS_AUTO,
        data_progress: FI_PROGRESS_MANUAL,
        mr_mode: usual_mode(version),
        contexts: (1, 1),
        dest: None,
    };
    if !node.is_null() {
        // SAFETY: the string ends with a zero.
        offer.dest = Some(address_of(unsafe { CStr::from_ptr(node) })?);
    }
    let Some(hints) = hints else {
        return Ok(offer);
    };
    only("caps", hints.caps, CAPS | of_domain, FI_TYPE_CAPS)?;
    let formats = [FI_FORMAT_UNSPEC, FORMAT];
    require(formats.contains(&hints.addr_format), "addr_format")?;
    require(hints.handle.is_null(), "handle")?;
    // SAFETY: the addresses are NULL or have their lengths, by fi_getinfo(3).
    unsafe { check_addresses(hints, is_own, &mut offer) }?;
    if hints.caps != 0 {
        offer.caps = all_of(hints.caps) | of_domain;
    }
    // SAFETY: the attributes are NULL or records.
    unsafe {
        if let Some(attr) = hints.ep_attr.as_ref() {
            check_ep(attr, &mut offer)?;
        }
        if let Some(attr) = hints.tx_attr.as_ref() {
            check_tx(attr, &mut offer)?;
        }
        if let Some(attr) = hints.rx_attr.as_ref() {
            check_rx(attr, &mut offer)?;
        }
        if let Some(attr) = hints.domain_attr.as_ref() {
            check_domain(version, attr, &mut offer)?;
        }
        if let Some(attr) = hints.fabric_attr.as_ref() {
            require(is_name(attr.name), "fabric_attr->name")?;
        }
    }
    Ok(offer)
}

/// Returns the address of an endpoint that is written as text.
fn address_of(text: &CStr) -> Result<Address, Refusal> {
    let address = text.to_str().ok().and_then(|text| text.parse().ok());
    address.ok_or_else(|| {
        let why = format!("{text:?} is no address of an endpoint (fi_av_straddr)");
        Refusal(why)
    })
}

/// # Safety
/// The addresses of `hints` are NULL or have as many bytes as it says.
unsafe fn check_addresses(hints: &FiInfo, is_own: bool, offer: &mut Offer) -> Result<(), Refusal> {
    if !is_own && !hints.src_addr.is_null() {
        require(hints.src_addrlen == Address::BYTES, "src_addrlen")?;
        // SAFETY: there are so many bytes at the address.
        let source = unsafe { *hints.src_addr.cast::<[u8; Address::BYTES]>() };
        require(source == NOT_CHOSEN, "src_addr")?;
    }
    if offer.dest.is_none() && !hints.dest_addr.is_null() {
        require(hints.dest_addrlen == Address::BYTES, "dest_addrlen")?;
        // SAFETY: there are so many bytes at the address.
        let bytes = unsafe { *hints.dest_addr.cast::<[u8; Address::BYTES]>() };
        let address = Address::of_bytes(&bytes).ok();
        require(address.is_some(), "dest_addr")?;
        offer.dest = address;
    }
    Ok(())
}

/// Adds to capabilities those that they stand for: both directions where none is named.
pub(crate) fn all_of(caps: u64) -> u64 {
    let mut all = caps;
    if caps & (FI_MSG | FI_TAGGED) != 0 && caps & SENDS == 0 {
        all |= SENDS;
    }
    if caps & (FI_RMA | FI_ATOMIC) != 0 && caps & ACCESSES == 0 {
        all |= ACCESSES;
    }
    all
}

/// Returns the capabilities of one side of an endpoint: those that the application asks for there,
/// with the directions that they stand for; all that the side may have where it asks for none.
fn of_side(asked: u64, may_have: u64) -> u64 {
    match asked {
        0 => may_have,
        asked => all_of(asked) & may_have,
    }
}

/// # Safety
/// `name` is NULL or a string that ends with a zero.
unsafe fn is_name(name: *const c_char) -> bool {
    // SAFETY: the string ends with a zero.
    name.is_null() || unsafe { CStr::from_ptr(name) } == NAME
}

/// Returns the mode of regions where an application says nothing of it: none has to be kept, and
/// before 1.5 that had a name.
fn usual_mode(version: u32) -> i32 {
    if version < fi_version(1, 5) {
        FI_MR_SCALABLE
    } else {
        0
    }
}

fn check_ep(attr: &FiEpAttr, offer: &mut Offer) -> Result<(), Refusal> {
    let types = [FI_EP_UNSPEC, FI_EP_RDM];
    require(types.contains(&attr.r#type), "ep_attr->type")?;
    require([0, PROTOCOL].contains(&attr.protocol), "ep_attr->protocol")?;
    require(attr.protocol_version <= 1, "ep_attr->protocol_version")?;
    at_most("ep_attr->max_msg_size", attr.max_msg_size, MOST_BYTES)?;
    at_most("ep_attr->msg_prefix_size", attr.msg_prefix_size, 0)?;
    // Reads and writes are not ordered.
    at_most("ep_attr->max_order_raw_size", attr.max_order_raw_size, 0)?;
    at_most("ep_attr->max_order_war_size", attr.max_order_war_size, 0)?;
    at_most("ep_attr->max_order_waw_size", attr.max_order_waw_size, 0)?;
    for (name, wanted, own) in [
        (
            "ep_attr->tx_ctx_cnt",
            attr.tx_ctx_cnt,
            &mut offer.contexts.0,
        ),
        (
            "ep_attr->rx_ctx_cnt",
            attr.rx_ctx_cnt,
            &mut offer.contexts.1,
        ),
    ] {
        if wanted != FI_SHARED_CONTEXT {
            at_most(name, wanted, MOST_CONTEXTS)?;
        }
        *own = wanted.max(1);
    }
    at_most("ep_attr->auth_key_size", attr.auth_key_size, 0)
}

/// Refuses bits that a side of an endpoint cannot have: of capabilities and of flags the asked ones
/// and those that may be, of orders those of messages and of completions.
fn check_side(
    side: &str,
    (caps, may_caps): (u64, u64),
    (flags, may_flags): (u64, u64),
    (of_messages, of_completions): (u64, u64),
) -> Result<(), Refusal> {
    only(&format!("{side}->caps"), caps, may_caps, FI_TYPE_CAPS)?;
    let name = format!("{side}->op_flags");
    only(&name, flags, may_flags, FI_TYPE_OP_FLAGS)?;
    let name = format!("{side}->msg_order");
    only(&name, of_messages, ORDER, FI_TYPE_MSG_ORDER)?;
    require(of_completions == 0, &format!("{side}->comp_order"))
}

fn check_tx(attr: &FiTxAttr, offer: &mut Offer) -> Result<(), Refusal> {
    let caps = (attr.caps, TRANSMIT_CAPS & offer.caps);
    let flags = (attr.op_flags, TRANSMIT_FLAGS);
    check_side("tx_attr", caps, flags, (attr.msg_order, attr.comp_order))?;
    at_most("tx_attr->inject_size", attr.inject_size, INJECT_SIZE)?;
    at_most("tx_attr->size", attr.size, MOST_QUEUED)?;
    at_most("tx_attr->iov_limit", attr.iov_limit, MOST_PIECES)?;
    at_most("tx_attr->rma_iov_limit", attr.rma_iov_limit, MOST_PIECES)?;
    offer.transmit_caps = attr.caps;
    offer.transmit_flags = attr.op_flags;
    Ok(())
}

fn check_rx(attr: &FiRxAttr, offer: &mut Offer) -> Result<(), Refusal> {
    let caps = (attr.caps, RECEIVE_CAPS & offer.caps);
    let flags = (attr.op_flags, RECEIVE_FLAGS);
    check_side("rx_attr", caps, flags, (attr.msg_order, attr.comp_order))?;
    at_most("rx_attr->size", attr.size, MOST_QUEUED)?;
    at_most("rx_attr->iov_limit", attr.iov_limit, MOST_PIECES)?;
    offer.receive_caps = attr.caps;
    offer.receive_flags = attr.op_flags;
    Ok(())
}

/// # Safety
/// The name is NULL or a string that ends with a zero.
unsafe fn check_domain(
    version: u32,
    attr: &FiDomainAttr,
    offer: &mut Offer,
) -> Result<(), Refusal> {
    // SAFETY: the string ends with a zero.
    require(unsafe { is_name(attr.name) }, "domain_attr->name")?;
    require(attr.av_type <= FI_AV_TABLE, "domain_attr->av_type")?;
    for (name, asked, limit) in [
        ("mr_key_size", attr.mr_key_size, WORD),
        ("cq_data_size", attr.cq_data_size, WORD),
        ("cq_cnt", attr.cq_cnt, MOST_OBJECTS),
        ("ep_cnt", attr.ep_cnt, MOST_OBJECTS),
        ("tx_ctx_cnt", attr.tx_ctx_cnt, MOST_OBJECTS),
        ("rx_ctx_cnt", attr.rx_ctx_cnt, MOST_OBJECTS),
        ("cntr_cnt", attr.cntr_cnt, MOST_OBJECTS),
        ("max_ep_tx_ctx", attr.max_ep_tx_ctx, MOST_CONTEXTS),
        ("max_ep_rx_ctx", attr.max_ep_rx_ctx, MOST_CONTEXTS),
        ("max_ep_stx_ctx", attr.max_ep_stx_ctx, MOST_OBJECTS),
        ("max_ep_srx_ctx", attr.max_ep_srx_ctx, MOST_OBJECTS),
        ("mr_iov_limit", attr.mr_iov_limit, 1),
        ("mr_cnt", attr.mr_cnt, Domain::MOST_REGIONS),
        ("auth_key_size", attr.auth_key_size, 0),
        // Errors bring no data of the provider's own.
        ("max_err_data", attr.max_err_data, 0),
    ] {
        at_most(&format!("domain_attr->{name}"), asked, limit)?;
    }
    only(
        "domain_attr->caps",
        attr.caps,
        offer.of_domain,
        FI_TYPE_CAPS,
    )?;
    if attr.control_progress != FI_PROGRESS_UNSPEC {
        // Calls that set objects up need no progress: an application may make it in vain.
        offer.control_progress = attr.control_progress;
    }
    if attr.data_progress == FI_PROGRESS_AUTO {
        offer.data_progress = attr.data_progress;
    } else if attr.threading == FI_THREAD_DOMAIN {
        // The application's calls take turns of themselves, and there is no thread of the domain's.
        // All other promises are of less than a domain, whose objects share the fabric's.
        offer.threading = attr.threading;
    }
    if attr.av_type != FI_AV_UNSPEC {
        offer.av_type = attr.av_type;
    }
    offer.mr_mode = match attr.mr_mode {
        0 => usual_mode(version),
        FI_MR_BASIC | FI_MR_SCALABLE => attr.mr_mode,
        modes => {
            let are_together = modes & (FI_MR_BASIC | FI_MR_SCALABLE) == 0;
            require(
                version >= fi_version(1, 5) && are_together,
                "domain_attr->mr_mode",
            )?;
            // The application is ready for these modes; the provider needs none of them.
            0
        }
    };
    Ok(())
}

/// Makes the record of an offer.
fn fill(version: u32, offer: &Offer) -> Result<*mut FiInfo, Code> {
    let record = core::empty_info().ok_or(libc::ENOMEM)?.as_ptr();
    // SAFETY: the record is new, with attributes of its own that are at least as long as here, all
    // zero; the strings and the address are allocated as libfabric frees them.
    unsafe {
        let info = &mut *record;
        info.caps = offer.caps;
        info.addr_format = FORMAT;
        (info.src_addr, info.src_addrlen) = allocated(NOT_CHOSEN);
        if let Some(dest) = &offer.dest {
            (info.dest_addr, info.dest_addrlen) = allocated(dest.to_short_bytes());
        }
        let tx = &mut *info.tx_attr;
        tx.caps = of_side(offer.transmit_caps, offer.caps & TRANSMIT_CAPS);
        tx.op_flags = offer.transmit_flags;
        tx.msg_order = offer.order;
        tx.inject_size = INJECT_SIZE;
        tx.size = MOST_QUEUED;
        tx.iov_limit = MOST_PIECES;
        tx.rma_iov_limit = MOST_PIECES;
        let rx = &mut *info.rx_attr;
        rx.caps = of_side(offer.receive_caps, offer.caps & RECEIVE_CAPS);
        rx.op_flags = offer.receive_flags;
        rx.msg_order = offer.order;
        rx.size = MOST_QUEUED;
        rx.iov_limit = MOST_PIECES;
        let ep = &mut *info.ep_attr;
        ep.r#type = FI_EP_RDM;
        ep.protocol = PROTOCOL;
        ep.protocol_version = 1;
        ep.max_msg_size = MOST_BYTES;
        ep.mem_tag_format = EACH_BIT;
        (ep.tx_ctx_cnt, ep.rx_ctx_cnt) = offer.contexts;
        fill_domain(&mut *info.domain_attr, offer);
        let fabric = &mut *info.fabric_attr;
        fabric.name = libc::strdup(NAME.as_ptr());
        fabric.prov_version = fi_version(0, 1);
        fabric.api_version = version;
    }
    Ok(record)
}

/// Returns bytes as libfabric frees them, and their length; none where there is no memory.
fn allocated(bytes: [u8; Address::BYTES]) -> (*mut c_void, usize) {
    // SAFETY: malloc may be called with any length.
    let place = unsafe { libc::malloc(bytes.len()) };
    if place.is_null() {
        return (place, 0);
    }
    // SAFETY: `place` has room for the bytes, as it has just been allocated for them.
    unsafe { place.cast::<[u8; Address::BYTES]>().write(bytes) };
    (place, bytes.len())
}

fn fill_domain(attr: &mut FiDomainAttr, offer: &Offer) {
    // SAFETY: the name ends with a zero.
    attr.name = unsafe { libc::strdup(NAME.as_ptr()) };
    attr.threading = offer.threading;
    attr.control_progress = offer.control_progress;
    attr.data_progress = offer.data_progress;
    attr.resource_mgmt = FI_RM_ENABLED;
    attr.av_type = offer.av_type;
    attr.mr_mode = offer.mr_mode;
    attr.mr_key_size = WORD;
    attr.cq_data_size = WORD;
    attr.cq_cnt = MOST_OBJECTS;
    attr.ep_cnt = MOST_OBJECTS;
    attr.tx_ctx_cnt = MOST_OBJECTS;
    attr.rx_ctx_cnt = MOST_OBJECTS;
    attr.max_ep_tx_ctx = MOST_CONTEXTS;
    attr.max_ep_rx_ctx = MOST_CONTEXTS;
    attr.max_ep_stx_ctx = MOST_OBJECTS;
    attr.max_ep_srx_ctx = MOST_OBJECTS;
    attr.cntr_cnt = MOST_OBJECTS;
    attr.mr_iov_limit = 1;
    attr.mr_cnt = Domain::MOST_REGIONS;
    attr.caps = offer.of_domain;
}
