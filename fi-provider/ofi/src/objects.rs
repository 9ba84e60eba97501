//! libfabric's objects of a port, opened in their order and closed in the opposite one.

use crate::candidates::Candidate;
use crate::error::Error;
use crate::library::Library;
use fi_ofi_abi::*;
use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;

/// An attribute struct with room behind it: later versions of libfabric have added fields, and read
/// them as zero.
#[repr(C)]
struct Padded<T> {
    attributes: T,
    behind: [u64; 8],
}

impl<T> Padded<T> {
    fn new(attributes: T) -> Self {
        Self {
            attributes,
            behind: [0; 8],
        }
    }
}

/// The objects, all of them open.
#[derive(Debug)]
pub(crate) struct Objects {
    provider: String,
    fabric: *mut FidFabric,
    domain: *mut FidDomain,
    av: *mut FidAv,
    pub(crate) cq: *mut FidCq,
    pub(crate) ep: *mut FidEp,
    /// Whether regions are of the endpoint (FI_MR_ENDPOINT).
    of_endpoint: bool,
    /// Whether the provider chooses keys (FI_MR_PROV_KEY).
    chooses_keys: bool,
    /// Whether remote addresses are the peer's own, or count from the region's start.
    by_address: bool,
    next_key: u64,
    /// The completion queue's descriptor to sleep on; none where the provider has none.
    pub(crate) descriptor: Option<RawFd>,
}

// SAFETY: the objects belong to no thread; the port's lock serialises all calls (FI_THREAD_DOMAIN).
unsafe impl Send for Objects {}

/// A registered range of own memory; closed by [`Objects::deregister`].
#[derive(Debug)]
pub(crate) struct Registration {
    mr: *mut FidMr,
    /// The key for peers.
    pub(crate) key: u64,
    /// The address of the first byte for peers.
    pub(crate) base: u64,
    /// The descriptor for local accesses (FI_MR_LOCAL).
    pub(crate) descriptor: *mut c_void,
}

// SAFETY: the region belongs to no thread; the port's lock serialises all calls.
unsafe impl Send for Registration {}

impl Objects {
    /// Opens all objects of the candidate, with a completion queue for so many entries.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub(crate) fn open(candidate: &mut Candidate, entries: usize) -> Result<Self, Error> {
        let library = Library::get()?;
        let info = candidate.info_mut();
        let mut objects = Self {
            provider: candidate.provider.clone(),
            fabric: std::ptr::null_mut(),
            domain: std::ptr::null_mut(),
            av: std::ptr::null_mut(),
            cq: std::ptr::null_mut(),
            ep: std::ptr::null_mut(),
            of_endpoint: false,
            chooses_keys: false,
            by_address: false,
            next_key: 1,
            descriptor: None,
        };
        let provider = candidate.provider.clone();
        let check = |call, result| checked(&provider, call, result);
        let none = std::ptr::null_mut();
        // SAFETY: the info is whole and stays; each object is open when the next is made of it, and
        // there is room for each pointer.
        unsafe {
            let mode = (*(*info).domain_attr).mr_mode;
            objects.of_endpoint = mode & FI_MR_ENDPOINT != 0;
            objects.chooses_keys = mode & FI_MR_PROV_KEY != 0;
            objects.by_address = mode & FI_MR_VIRT_ADDR != 0;
            let opened = (library.fabric)((*info).fabric_attr, &raw mut objects.fabric, none);
            check("fi_fabric", opened)?;
            let fabric = objects.fabric;
            let open = (*(*fabric).ops).domain;
            check(
                "fi_domain",
                open(fabric, info, &raw mut objects.domain, none),
            )?;
            let domain = objects.domain;
            let mut attributes = Padded::new(FiAvAttr {
                r#type: FI_AV_TABLE,
                ..std::mem::zeroed()
            });
            let open = (*(*domain).ops).av_open;
            let given = &raw mut attributes.attributes;
            check("fi_av_open", open(domain, given, &raw mut objects.av, none))?;
            objects.open_queue(entries)?;
            let open = (*(*domain).ops).endpoint;
            check("fi_endpoint", open(domain, info, &raw mut objects.ep, none))?;
            let ep = &raw mut (*objects.ep).fid;
            let bind = (*(*ep).ops).bind;
            let av = &raw mut (*objects.av).fid;
            check("fi_ep_bind of the AV", bind(ep, av, 0))?;
            let cq = &raw mut (*objects.cq).fid;
            // Of sends alone: a message that comes always has its completion.
            for flags in [FI_SEND | FI_SELECTIVE_COMPLETION, FI_RECV] {
                check("fi_ep_bind of the CQ", bind(ep, cq, flags))?;
            }
            let enabled = ((*(*ep).ops).control)(ep, FI_ENABLE, none);
            check("fi_enable", enabled)?;
        }
        Ok(objects)
    }

    /// Opens the completion queue: with a descriptor to sleep on, or without where the provider has
    /// none.
    ///
    /// # Safety
    /// The domain is open.
    unsafe fn open_queue(&mut self, entries: usize) -> Result<(), Error> {
        for wait in [FI_WAIT_FD, FI_WAIT_NONE] {
            // SAFETY: any attributes of zeros are valid.
            let zeroed: FiCqAttr = unsafe { std::mem::zeroed() };
            let mut attributes = Padded::new(FiCqAttr {
                size: entries,
                format: FI_CQ_FORMAT_MSG,
                wait_obj: wait,
                ..zeroed
            });
            // SAFETY: the domain is open, and there is room for the pointer.
            let opened = unsafe {
                let open = (*(*self.domain).ops).cq_open;
                let given = &raw mut attributes.attributes;
                open(self.domain, given, &raw mut self.cq, std::ptr::null_mut())
            };
            if wait == FI_WAIT_FD && opened != 0 {
                continue;
            }
            self.check("fi_cq_open", opened)?;
            if wait == FI_WAIT_FD {
                let mut descriptor: c_int = -1;
                // SAFETY: the queue is open, and there is room for the descriptor.
                let got = unsafe {
                    let cq = &raw mut (*self.cq).fid;
                    let place = (&raw mut descriptor).cast::<c_void>();
                    ((*(*cq).ops).control)(cq, FI_GETWAIT, place)
                };
                self.descriptor = (got == 0 && descriptor >= 0).then_some(descriptor);
            }
            return Ok(());
        }
        Ok(())
    }

    /// Returns the address of the endpoint.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub(crate) fn name(&self) -> Result<Vec<u8>, Error> {
        let mut name = vec![0_u8; 512];
        let mut len = name.len();
        // SAFETY: the endpoint is open, and there is room for so many bytes.
        let got = unsafe {
            let fid = &raw mut (*self.ep).fid;
            let getname = (*(*self.ep).cm).getname;
            getname(fid, name.as_mut_ptr().cast(), &raw mut len)
        };
        self.check("fi_getname", got)?;
        name.truncate(len);
        Ok(name)
    }

    /// Inserts the address of a peer; returns the provider's number of it.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub(crate) fn insert(&mut self, name: &[u8]) -> Result<u64, Error> {
        let mut number = FI_ADDR_NOTAVAIL;
        let none = std::ptr::null_mut();
        // SAFETY: the vector is open; the bytes are an address, as the peer's provider of the same
        // name has made it, and the provider reads as many as its addresses have.
        let inserted = unsafe {
            let insert = (*(*self.av).ops).insert;
            insert(self.av, name.as_ptr().cast(), 1, &raw mut number, 0, none)
        };
        match inserted {
            1 if number != FI_ADDR_NOTAVAIL => Ok(number),
            0.. => Err(self.error("fi_av_insert", libc::EINVAL)),
            error => Err(self.error("fi_av_insert", -error)),
        }
    }

    /// Registers own memory for local accesses, and for peers' where `remote`.
    ///
    /// # Errors
    /// [`Error::Call`].
    ///
    /// # Safety
    /// The memory stays mapped until [`Objects::deregister`]; peers may write it where `remote`.
    pub(crate) unsafe fn register(
        &mut self,
        memory: *mut u8,
        len: usize,
        remote: bool,
    ) -> Result<Registration, Error> {
        let local = FI_SEND | FI_RECV | FI_READ | FI_WRITE;
        let access = if remote {
            local | FI_REMOTE_READ | FI_REMOTE_WRITE
        } else {
            local
        };
        let key = self.next_key;
        self.next_key += 1;
        let mut mr: *mut FidMr = std::ptr::null_mut();
        let none = std::ptr::null_mut();
        // SAFETY: the domain is open, and the memory mapped.
        let registered = unsafe {
            let domain = &raw mut (*self.domain).fid;
            let register = (*(*self.domain).mr).reg;
            let place = memory.cast_const().cast();
            register(domain, place, len, access, 0, key, 0, &raw mut mr, none)
        };
        self.check("fi_mr_reg", registered)?;
        if self.of_endpoint {
            // SAFETY: region and endpoint are open.
            let bound = unsafe {
                let fid = &raw mut (*mr).fid;
                let ops = (*fid).ops;
                let bound = ((*ops).bind)(fid, &raw mut (*self.ep).fid, 0);
                match bound {
                    0 => ((*ops).control)(fid, FI_ENABLE, none),
                    error => error,
                }
            };
            self.check("fi_mr_bind", bound)?;
        }
        // SAFETY: the region is open.
        let (given, descriptor) = unsafe { ((*mr).key, (*mr).mem_desc) };
        Ok(Registration {
            mr,
            key: if self.chooses_keys || given != 0 {
                given
            } else {
                key
            },
            base: if self.by_address {
                memory.addr() as u64
            } else {
                0
            },
            descriptor,
        })
    }

    /// Returns whether a thread may sleep on the descriptor now (fi_trywait).
    pub(crate) fn may_sleep(&self) -> bool {
        // SAFETY: fabric and queue are open.
        unsafe {
            let mut fid = &raw mut (*self.cq).fid;
            let trywait = (*(*self.fabric).ops).trywait;
            trywait(self.fabric, &raw mut fid, 1) == 0
        }
    }

    /// Ends a registration.
    pub(crate) fn deregister(registration: &Registration) {
        // SAFETY: the region is open, and used no more.
        unsafe { close(&raw mut (*registration.mr).fid) }
    }

    /// Closes the endpoint, before regions are closed.
    pub(crate) fn close_endpoint(&mut self) {
        if !self.ep.is_null() {
            // SAFETY: the endpoint is open, and used no more.
            unsafe { close(&raw mut (*self.ep).fid) }
            self.ep = std::ptr::null_mut();
        }
    }

    fn check(&self, call: &'static str, result: c_int) -> Result<(), Error> {
        checked(&self.provider, call, result)
    }

    /// Returns the failure of a call.
    pub(crate) fn error(&self, call: &'static str, errno: i32) -> Error {
        Error::Call {
            provider: self.provider.clone(),
            call,
            errno,
        }
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        self.close_endpoint();
        // SAFETY: each object that is not null is open, and all objects made of it are closed.
        unsafe {
            if !self.cq.is_null() {
                close(&raw mut (*self.cq).fid);
            }
            if !self.av.is_null() {
                close(&raw mut (*self.av).fid);
            }
            if !self.domain.is_null() {
                close(&raw mut (*self.domain).fid);
            }
            if !self.fabric.is_null() {
                close(&raw mut (*self.fabric).fid);
            }
        }
    }
}

/// # Safety
/// The object is open, and used no more.
unsafe fn close(fid: *mut Fid) {
    // SAFETY: the object is open. It is gone, or leaks where the provider refuses.
    unsafe { ((*(*fid).ops).close)(fid) };
}

fn checked(provider: &str, call: &'static str, result: c_int) -> Result<(), Error> {
    match result {
        0 => Ok(()),
        error => Err(Error::Call {
            provider: provider.to_owned(),
            call,
            errno: error.abs(),
        }),
    }
}
