//! The providers of the system's libfabric, and which of them will do.

use crate::error::Error;
use crate::library::{Library, text};
use crate::message;
use fi_ofi_abi::*;
use std::ffi::CString;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Providers that reach the own node alone, or are this project's.
const ON_NODE: [&str; 3] = ["shm", "sm2", "farreach"];

/// Providers whose writes are of a stream of bytes: an element may be seen half written where a
/// piece of the stream ends in it.
const STREAMS: [&str; 4] = ["tcp", "net", "sockets", "udp"];

/// One way in which a provider offers to reach peers.
#[derive(Debug)]
pub struct Candidate {
    info: Info,
    /// Its name.
    pub provider: String,
    /// Its fabric: processes on the same one reach each other.
    pub fabric: String,
    /// Its domain: the interface or device.
    pub domain: String,
    /// Reason why it will not do; none where it will.
    pub refused: Option<String>,
}

impl Candidate {
    /// Returns whether small elements of its writes may be seen half written.
    pub(crate) fn is_stream(&self) -> bool {
        let first = self.provider.split(';').next().unwrap_or_default();
        STREAMS.contains(&first)
    }

    /// Returns its offer.
    pub(crate) fn info(&self) -> &FiInfo {
        self.info.get()
    }

    /// Returns the number of entries for a completion queue of one endpoint.
    pub(crate) fn queue_size(&self) -> usize {
        let info = self.info();
        // SAFETY: the attributes of an entry are there.
        unsafe { (*info.tx_attr).size + (*info.rx_attr).size }
    }

    pub(crate) fn info_mut(&mut self) -> *mut FiInfo {
        self.info.0
    }
}

/// An own copy of an fi_info.
#[derive(Debug)]
pub(crate) struct Info(*mut FiInfo);

// SAFETY: the copy is this value's alone, and belongs to no thread.
unsafe impl Send for Info {}

impl Info {
    fn get(&self) -> &FiInfo {
        // SAFETY: not null, and alive as long as `self`.
        unsafe { &*self.0 }
    }
}

impl Drop for Info {
    fn drop(&mut self) {
        if let Ok(library) = Library::get() {
            // SAFETY: the list is this value's alone.
            unsafe { (library.freeinfo)(self.0) }
        }
    }
}

/// Returns all candidates in libfabric's order: the first that is not refused is the best;
/// `provider` names the only one to ask, where it is given.
///
/// # Errors
/// [`Error::NotLoaded`], [`Error::NoSymbol`], or that libfabric has no provider at all, or none of
/// that name, with messages and RMA between RDM endpoints.
pub fn candidates(provider: Option<&str>) -> Result<Vec<Candidate>, Error> {
    let library = Library::get()?;
    let hints = hints(library, provider)?;
    let mut list = std::ptr::null_mut();
    let nowhere = std::ptr::null();
    // SAFETY: the hints are whole, and there is room for the list.
    let found =
        unsafe { (library.getinfo)(library.api(), nowhere, nowhere, 0, hints.0, &raw mut list) };
    if found == -libc::ENODATA || (found == 0 && list.is_null()) {
        return Err(match provider {
            Some(name) => Error::NoSuchProvider(name.to_owned()),
            None => Error::NoProvider { seen: Vec::new() },
        });
    }
    if found != 0 {
        return Err(Error::Call {
            provider: "libfabric".to_owned(),
            call: "fi_getinfo",
            errno: -found,
        });
    }
    let list = Info(list);
    let mut all = Vec::new();
    let mut next = Some(list.get());
    while let Some(info) = next {
        // SAFETY: the entry is whole; the copy has no successor.
        let copy = Info(unsafe { (library.dupinfo)(info) });
        // SAFETY: the attributes of an entry are there, and so are its names, or they are null.
        let one = unsafe {
            let (fabric, domain) = (&*info.fabric_attr, &*info.domain_attr);
            Candidate {
                provider: text(fabric.prov_name).unwrap_or_default(),
                fabric: text(fabric.name).unwrap_or_default(),
                domain: text(domain.name).unwrap_or_default(),
                refused: None,
                info: copy,
            }
        };
        all.push(one);
        // SAFETY: null, or the list's next entry.
        next = unsafe { info.next.as_ref() };
    }
    judge(&mut all);
    Ok(all)
}

/// Returns the best candidate.
///
/// # Errors
/// As [`candidates`], and [`Error::NoProvider`] with the reason for each.
pub fn best(provider: Option<&str>) -> Result<Candidate, Error> {
    let mut all = candidates(provider)?;
    match all.iter().position(|one| one.refused.is_none()) {
        Some(first) => Ok(all.swap_remove(first)),
        None => {
            let mut seen: Vec<String> = Vec::new();
            for one in all {
                let why = one.refused.unwrap_or_default();
                let line = format!("{} on {}: {why}", one.provider, one.domain);
                if !seen.contains(&line) {
                    seen.push(line);
                }
            }
            Err(Error::NoProvider { seen })
        }
    }
}

/// Says of each candidate why it will not do. The loopback interface will where there is no other.
fn judge(all: &mut [Candidate]) {
    for one in all.iter_mut() {
        one.refused = refusal(one).map(str::to_owned);
    }
    let has_other = all
        .iter()
        .any(|one| one.refused.is_none() && !is_loopback(one.info()));
    for one in all.iter_mut() {
        if has_other && one.refused.is_none() && is_loopback(one.info()) {
            one.refused = Some("it is the loopback interface, and there is another".to_owned());
        }
    }
}

fn refusal(one: &Candidate) -> Option<&'static str> {
    let info = one.info();
    if one.provider.split(';').any(|name| ON_NODE.contains(&name)) {
        return Some("it is not for peers on other nodes");
    }
    // SAFETY: the attributes of an entry are there.
    let transmit = unsafe { &*info.tx_attr };
    if transmit.inject_size < message::BYTES {
        return Some("it takes too few bytes over at once (inject_size)");
    }
    if address_bytes(info).is_some_and(|bytes| is_link_local(&bytes)) {
        return Some("its address is of one link alone");
    }
    None
}

/// Returns the address that the candidate binds to, where it is an internet address.
fn address_bytes(info: &FiInfo) -> Option<Vec<u8>> {
    let (start, len) = match info.addr_format {
        FI_SOCKADDR_IN => (4, 4),
        FI_SOCKADDR_IN6 => (8, 16),
        _ => return None,
    };
    if info.src_addr.is_null() || info.src_addrlen < start + len {
        return None;
    }
    // SAFETY: the address has so many bytes (`src_addrlen`).
    let bytes = unsafe {
        std::slice::from_raw_parts(info.src_addr.cast::<u8>().cast_const().add(start), len)
    };
    Some(bytes.to_vec())
}

fn is_loopback(info: &FiInfo) -> bool {
    address_bytes(info).is_some_and(|bytes| match <[u8; 4]>::try_from(&bytes[..]) {
        Ok(four) => Ipv4Addr::from(four).is_loopback(),
        Err(_) => six(&bytes).is_some_and(|address| address.is_loopback()),
    })
}

fn is_link_local(bytes: &[u8]) -> bool {
    match <[u8; 4]>::try_from(bytes) {
        Ok(four) => Ipv4Addr::from(four).is_link_local(),
        Err(_) => six(bytes).is_some_and(|address| address.is_unicast_link_local()),
    }
}

fn six(bytes: &[u8]) -> Option<Ipv6Addr> {
    <[u8; 16]>::try_from(bytes).ok().map(Ipv6Addr::from)
}

/// Returns the hints for fi_getinfo: messages and RMA between RDM endpoints; every mode of
/// registration that a port can do.
fn hints(library: &Library, provider: Option<&str>) -> Result<Info, Error> {
    let none = std::ptr::null();
    // SAFETY: null asks for an empty one.
    let hints = Info(unsafe { (library.dupinfo)(none) });
    if hints.0.is_null() {
        return Err(Error::System {
            what: "fi_allocinfo",
            source: std::io::ErrorKind::OutOfMemory.into(),
        });
    }
    // SAFETY: the structs are whole and this function's alone; the names are of the C library's
    // allocator, as fi_freeinfo expects.
    unsafe {
        let info = &mut *hints.0;
        info.caps = FI_MSG | FI_RMA;
        info.mode = FI_CONTEXT | FI_CONTEXT2;
        (*info.ep_attr).r#type = FI_EP_RDM;
        let domain = &mut *info.domain_attr;
        domain.threading = FI_THREAD_DOMAIN;
        domain.resource_mgmt = FI_RM_ENABLED;
        domain.av_type = FI_AV_TABLE;
        domain.mr_mode =
            FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
        if let Some(name) = provider.and_then(|name| CString::new(name).ok()) {
            (*info.fabric_attr).prov_name = libc::strdup(name.as_ptr());
        }
    }
    Ok(hints)
}
