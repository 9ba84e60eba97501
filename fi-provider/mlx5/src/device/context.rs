//! Finds a device, opens it, and asks for its capabilities.

use super::account::{Book, Regime};
use super::capability;
use super::features::Features;
use crate::error::Error;
use crate::verbs::core::{self, DeviceAttr, Pd, PortAttr, atomic_cap, link_layer, port_state};
use crate::verbs::direct::{ContextAttr, context, uar};
use crate::verbs::{Library, inline};
use std::ffi::{CStr, c_int};
use std::fmt;
use std::io;
use std::mem::zeroed;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

/// An open device.
pub(super) struct Context {
    pub(super) library: &'static Library,
    pub(super) context: NonNull<core::Context>,
    pub(super) book: Book,
    name: String,
    /// Id of the process that opened it.
    process: u32,
}

// SAFETY: libibverbs lets any thread use a device and the objects on it.
unsafe impl Send for Context {}
// SAFETY: libibverbs lets several threads do so at a time.
unsafe impl Sync for Context {}

/// An opened device and its features.
pub(super) struct Opened {
    pub(super) context: Context,
    pub(super) features: Features,
}

impl Context {
    pub(super) fn open(name: Option<&str>) -> Result<Opened, Error> {
        let library = Library::get()?;
        let list = List::get(library)?;
        let mut seen = Vec::new();
        for &device in list.devices() {
            // SAFETY: the device is of the list, hence alive, and its name is a C string in it.
            let found = unsafe { CStr::from_ptr((library.get_device_name)(device)) };
            let found = found.to_string_lossy();
            if name.is_some_and(|name| name != found) {
                continue;
            }
            // SAFETY: the device is of the list, hence alive.
            if !unsafe { (library.is_supported)(device) } {
                seen.push(format!("{found} is not an mlx5 device"));
                continue;
            }
            match Self::try_open(library, device, &found, &mut seen) {
                Ok(Some(opened)) => return Ok(opened),
                Ok(None) => {}
                Err(error) => seen.push(format!("{found}: {error}")),
            }
        }
        if let (Some(name), true) = (name, seen.is_empty()) {
            seen.push(format!("there is no {name}"));
        }
        Err(Error::NoDevice { seen })
    }

    /// Returns the device, if it has a port that will do; otherwise adds to `seen` why not.
    fn try_open(
        library: &'static Library,
        device: *mut core::Device,
        name: &str,
        seen: &mut Vec<String>,
    ) -> Result<Option<Opened>, Error> {
        let (context, devx) = open_device(library, device)?;
        let context = Self {
            library,
            context,
            book: Book::new(regime(library, context)),
            name: name.to_owned(),
            process: std::process::id(),
        };
        let attr = context.attributes()?;
        let Some((port, port_attr)) = context.active_port(attr.phys_port_cnt, seen)? else {
            return Ok(None);
        };
        let features = context.features(&attr, port, &port_attr, devx);
        Ok(Some(Opened { context, features }))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn raw(&self) -> *mut core::Context {
        self.context.as_ptr()
    }

    /// Destroys something by `destroy`, unless this is a child of the process that made it. Nothing can be done about
    /// a failure, and only a device that is gone should give one: the kernel takes everything when the process ends.
    pub(super) fn close(&self, destroy: impl FnOnce(&Library) -> c_int) {
        if std::process::id() == self.process {
            let result = check("closing", destroy(self.library));
            debug_assert!(is_closed(&result), "{}: {result:?}", self.name);
        }
    }

    fn attributes(&self) -> Result<DeviceAttr, Error> {
        // SAFETY: a structure of numbers, of which zero is one.
        let mut attr: DeviceAttr = unsafe { zeroed() };
        // SAFETY: the context is open, and the structure is the one that this function fills.
        let result = unsafe { (self.library.query_device)(self.raw(), &raw mut attr) };
        check("ibv_query_device", result)?;
        Ok(attr)
    }

    /// Returns the first active InfiniBand port of `count`.
    fn active_port(
        &self,
        count: u8,
        seen: &mut Vec<String>,
    ) -> Result<Option<(u8, PortAttr)>, Error> {
        for port in 1..=count {
            // SAFETY: a structure of numbers, of which zero is one.
            let mut attr: PortAttr = unsafe { zeroed() };
            // SAFETY: the context is open.
            let result = unsafe { inline::query_port(self.raw(), port, &mut attr) };
            check("ibv_query_port", result)?;
            match (attr.link_layer, attr.state) {
                (link_layer::INFINIBAND, port_state::ACTIVE) => return Ok(Some((port, attr))),
                (link_layer::INFINIBAND, _) => {
                    seen.push(format!("{} port {port} is not active", self.name));
                }
                (link_layer::ETHERNET, _) => {
                    seen.push(format!("{} port {port} is Ethernet", self.name));
                }
                _ => seen.push(format!("{} port {port} is not InfiniBand", self.name)),
            }
        }
        Ok(None)
    }

    /// Gives the firmware a command and takes its answer; returns 0, or an error.
    fn command(&self, command: &[u8], answer: &mut [u8]) -> c_int {
        // SAFETY: the context is open, and both buffers are as long as said.
        unsafe {
            (self.library.general_command)(
                self.raw(),
                command.as_ptr().cast(),
                command.len(),
                answer.as_mut_ptr().cast(),
                answer.len(),
            )
        }
    }

    fn features(&self, attr: &DeviceAttr, port: u8, port_attr: &PortAttr, devx: bool) -> Features {
        let masked = if devx {
            capability::masked_atomics(|command, answer| self.command(command, answer))
        } else {
            capability::Sizes::NONE
        };
        let max_read_atomic = attr.max_qp_rd_atom.min(attr.max_qp_init_rd_atom);
        Features {
            dc: false,
            host_endian_atomics: attr.atomic_cap != atomic_cap::NONE,
            masked_atomics_4: masked.has(4),
            masked_atomics_8: masked.has(8),
            max_read_atomic: u8::try_from(max_read_atomic).unwrap_or(u8::MAX),
            port,
            lid: port_attr.lid,
            mtu: 128 << port_attr.active_mtu.clamp(1, 5),
            max_message: port_attr.max_msg_sz,
            max_completions: u32::try_from(attr.max_cqe).unwrap_or(0),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let context = self.context.as_ptr();
        // SAFETY: all objects on it hold a share of this, hence are gone.
        self.close(|library| unsafe { (library.close_device)(context) });
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Context").field(&self.name).finish()
    }
}

/// A protection domain: memory and queues of one belong together.
pub(super) struct Protection {
    pub(super) context: Arc<Context>,
    pd: NonNull<Pd>,
}

// SAFETY: libibverbs lets any thread use a protection domain.
unsafe impl Send for Protection {}
// SAFETY: libibverbs lets several threads do so at a time.
unsafe impl Sync for Protection {}

impl Protection {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self, Error> {
        // SAFETY: the context is open.
        let pd = unsafe { (context.library.alloc_pd)(context.raw()) };
        let pd = NonNull::new(pd).ok_or_else(|| Error::last("ibv_alloc_pd"))?;
        context.book.note(|objects| objects.protection_domains += 1);
        let context = Arc::clone(context);
        Ok(Self { context, pd })
    }

    pub(super) fn raw(&self) -> NonNull<Pd> {
        self.pd
    }
}

impl Drop for Protection {
    fn drop(&mut self) {
        let context = &self.context;
        context.book.note(|objects| objects.protection_domains -= 1);
        // SAFETY: all objects of it hold a share of this, hence are gone.
        context.close(|library| unsafe { (library.dealloc_pd)(self.pd.as_ptr()) });
    }
}

impl fmt::Debug for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Protection").field(&self.context).finish()
    }
}

/// Returns which component hands out doorbell pages. Where libmlx5 does, it has taken one that
/// takes no copies when it opened the device, and tells of that one; where the kernel does, there
/// is none.
fn regime(library: &Library, context: NonNull<core::Context>) -> Regime {
    // SAFETY: the context is open.
    let page = unsafe { (library.alloc_uar)(context.as_ptr(), uar::NON_CACHED) };
    if page.is_null() {
        return Regime::Legacy;
    }
    // SAFETY: the library gave the page, and nothing uses it.
    unsafe { (library.free_uar)(page) };
    Regime::Library
}

/// Opens the device, with the right to ask its firmware (DEVX) where this user has it; whether so is the second part.
fn open_device(
    library: &Library,
    device: *mut core::Device,
) -> Result<(NonNull<core::Context>, bool), Error> {
    let mut attr = ContextAttr {
        flags: context::DEVX,
        comp_mask: 0,
    };
    // SAFETY: the device is of a list that is alive; the attributes are valid.
    let opened = unsafe { (library.open_direct)(device, &raw mut attr) };
    if let Some(context) = NonNull::new(opened) {
        return Ok((context, true));
    }
    // SAFETY: the device is of a list that is alive.
    let opened = unsafe { (library.open_device)(device) };
    let opened = NonNull::new(opened).ok_or_else(|| Error::last("ibv_open_device"))?;
    Ok((opened, false))
}

/// The devices of the machine.
struct List {
    library: &'static Library,
    list: *mut *mut core::Device,
    len: usize,
}

impl List {
    fn get(library: &'static Library) -> Result<Self, Error> {
        let mut len = 0;
        // SAFETY: the number is written where it may be.
        let list = unsafe { (library.get_device_list)(&raw mut len) };
        if list.is_null() {
            let error = io::Error::last_os_error();
            // A kernel without RDMA or with none of its modules loaded; a static program says nothing.
            if matches!(error.raw_os_error(), Some(0 | libc::ENOSYS)) {
                return Err(Error::NoDevice { seen: Vec::new() });
            }
            let call = "ibv_get_device_list";
            return Err(Error::Call { call, error });
        }
        let len = usize::try_from(len).unwrap_or(0);
        Ok(Self { library, list, len })
    }

    fn devices(&self) -> &[*mut core::Device] {
        // SAFETY: the library gave a list of so many, and it lives as long as this.
        unsafe { std::slice::from_raw_parts(self.list, self.len) }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: the list is the library's, and freed once.
        unsafe { (self.library.free_device_list)(self.list) };
    }
}

/// Turns the result of a call, which gives 0, an errno, or -1 and sets errno, into an error.
pub(super) fn check(call: &'static str, result: c_int) -> Result<(), Error> {
    match result {
        0 => Ok(()),
        errno if errno > 0 => Err(Error::of(call, io::Error::from_raw_os_error(errno), None)),
        _ => Err(Error::last(call)),
    }
}

/// Returns whether it is closed now, or gone with the device.
fn is_closed(result: &Result<(), Error>) -> bool {
    match result {
        Ok(()) => true,
        Err(Error::Call { error, .. }) => {
            matches!(error.raw_os_error(), Some(libc::EIO | libc::ENODEV))
        }
        Err(_) => false,
    }
}

/// Returns the null pointer for parts of structures that are not used.
pub(super) const fn none<T>() -> *mut T {
    null_mut()
}
