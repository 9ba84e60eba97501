//! libibverbs and libmlx5, opened at run time and never closed.

use super::core::{
    AhAttr, Context, Cq, CqInitAttrEx, Device, DeviceAttr, Mr, Pd, Qp, QpAttr, QpInitAttrEx, Srq,
    SrqInitAttr,
};
use super::datagrams::{Ah, CompChannel};
use super::direct::{ContextAttr, CqInitAttr, Object, QpInitAttr, Uar};
use crate::error::Error;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

const VERBS: &CStr = c"libibverbs.so.1";
const MLX5: &CStr = c"libmlx5.so.1";

/// Where the functions of the process's only copy are.
static LIBRARY: OnceLock<Library> = OnceLock::new();

/// The protection domain, the address, bytes, the address for the device, and rights.
type RegisterAt = unsafe extern "C" fn(*mut Pd, *mut c_void, usize, u64, c_int) -> *mut Mr;

/// A table of functions: `field = "symbol" of LIBRARY, version: fn(...)`. A structure's layout belongs to the version of
/// the function that takes it, so that one is asked for.
macro_rules! functions {
    ($($field:ident = $symbol:literal of $handle:ident $version:literal: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions that are used.
        pub(crate) struct Library {
            /// `ibv_is_fork_initialized`, which older versions do not have.
            fork_status: Option<unsafe extern "C" fn() -> c_int>,
            /// `ibv_reg_mr_iova`, which older versions do not have.
            register_at: Option<RegisterAt>,
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Library {
            fn find(handles: &Handles) -> Result<Self, Error> {
                Ok(Self {
                    fork_status: handles.fork_status(),
                    register_at: handles.register_at(),
                    $($field: {
                        let symbol = handles.$handle.symbol($symbol, $version)?;
                        // SAFETY: the symbol is a function of the libraries' public interface; this version of it has this type (`verbs.h`,
                        // `mlx5dv.h`), and the library stays loaded.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(symbol)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    get_device_list = "ibv_get_device_list" of verbs "IBVERBS_1.1": fn(*mut c_int) -> *mut *mut Device;
    free_device_list = "ibv_free_device_list" of verbs "IBVERBS_1.1": fn(*mut *mut Device);
    get_device_name = "ibv_get_device_name" of verbs "IBVERBS_1.1": fn(*mut Device) -> *const c_char;
    open_device = "ibv_open_device" of verbs "IBVERBS_1.1": fn(*mut Device) -> *mut Context;
    close_device = "ibv_close_device" of verbs "IBVERBS_1.1": fn(*mut Context) -> c_int;
    query_device = "ibv_query_device" of verbs "IBVERBS_1.1": fn(*mut Context, *mut DeviceAttr) -> c_int;
    alloc_pd = "ibv_alloc_pd" of verbs "IBVERBS_1.1": fn(*mut Context) -> *mut Pd;
    dealloc_pd = "ibv_dealloc_pd" of verbs "IBVERBS_1.1": fn(*mut Pd) -> c_int;
    reg_mr = "ibv_reg_mr" of verbs "IBVERBS_1.1": fn(*mut Pd, *mut c_void, usize, c_int) -> *mut Mr;
    dereg_mr = "ibv_dereg_mr" of verbs "IBVERBS_1.1": fn(*mut Mr) -> c_int;
    create_channel = "ibv_create_comp_channel" of verbs "IBVERBS_1.0": fn(*mut Context) -> *mut CompChannel;
    destroy_channel = "ibv_destroy_comp_channel" of verbs "IBVERBS_1.0": fn(*mut CompChannel) -> c_int;
    get_event = "ibv_get_cq_event" of verbs "IBVERBS_1.1": fn(*mut CompChannel, *mut *mut Cq, *mut *mut c_void) -> c_int;
    ack_events = "ibv_ack_cq_events" of verbs "IBVERBS_1.1": fn(*mut Cq, c_uint);
    create_polled_cq = "ibv_create_cq" of verbs "IBVERBS_1.1": fn(*mut Context, c_int, *mut c_void, *mut CompChannel, c_int) -> *mut Cq;
    destroy_cq = "ibv_destroy_cq" of verbs "IBVERBS_1.1": fn(*mut Cq) -> c_int;
    create_srq = "ibv_create_srq" of verbs "IBVERBS_1.1": fn(*mut Pd, *mut SrqInitAttr) -> *mut Srq;
    destroy_srq = "ibv_destroy_srq" of verbs "IBVERBS_1.1": fn(*mut Srq) -> c_int;
    create_ah = "ibv_create_ah" of verbs "IBVERBS_1.1": fn(*mut Pd, *mut AhAttr) -> *mut Ah;
    destroy_ah = "ibv_destroy_ah" of verbs "IBVERBS_1.1": fn(*mut Ah) -> c_int;
    modify_qp = "ibv_modify_qp" of verbs "IBVERBS_1.1": fn(*mut Qp, *mut QpAttr, c_int) -> c_int;
    destroy_qp = "ibv_destroy_qp" of verbs "IBVERBS_1.1": fn(*mut Qp) -> c_int;
    is_supported = "mlx5dv_is_supported" of mlx5 "MLX5_1.8": fn(*mut Device) -> bool;
    open_direct = "mlx5dv_open_device" of mlx5 "MLX5_1.7": fn(*mut Device, *mut ContextAttr) -> *mut Context;
    general_command = "mlx5dv_devx_general_cmd" of mlx5 "MLX5_1.7": fn(*mut Context, *const c_void, usize, *mut c_void, usize) -> c_int;
    create_cq = "mlx5dv_create_cq" of mlx5 "MLX5_1.1": fn(*mut Context, *mut CqInitAttrEx, *mut CqInitAttr) -> *mut Cq;
    create_qp = "mlx5dv_create_qp" of mlx5 "MLX5_1.3": fn(*mut Context, *mut QpInitAttrEx, *mut QpInitAttr) -> *mut Qp;
    alloc_uar = "mlx5dv_devx_alloc_uar" of mlx5 "MLX5_1.7": fn(*mut Context, u32) -> *mut Uar;
    free_uar = "mlx5dv_devx_free_uar" of mlx5 "MLX5_1.7": fn(*mut Uar);
    init_object = "mlx5dv_init_obj" of mlx5 "MLX5_1.2": fn(*mut Object, u64) -> c_int;
}

impl Library {
    /// The libraries, opened with the first call that can.
    ///
    /// # Errors
    /// [`Error::NotInstalled`], [`Error::NotLoaded`] or [`Error::TooOld`].
    pub(crate) fn get() -> Result<&'static Self, Error> {
        if let Some(library) = LIBRARY.get() {
            return Ok(library);
        }
        let library = Self::find(&Handles {
            verbs: Handle::open(VERBS)?,
            mlx5: Handle::open(MLX5)?,
        })?;
        Ok(LIBRARY.get_or_init(|| library))
    }

    /// `ibv_reg_mr_iova`.
    ///
    /// # Errors
    /// [`Error::TooOld`].
    pub(crate) fn register_at(&self) -> Result<RegisterAt, Error> {
        self.register_at.ok_or(Error::TooOld {
            library: text(VERBS),
            symbol: "ibv_reg_mr_iova",
        })
    }

    /// Whether registered memory is kept out of forked children (`IBV_FORK_ENABLED`).
    pub(crate) fn is_fork_initialised(&self) -> bool {
        const ENABLED: c_int = 1;
        match self.fork_status {
            // SAFETY: it takes nothing, and may be called at any time.
            Some(status) => unsafe { status() == ENABLED },
            // What makes the library do it by itself.
            None => ["RDMAV_FORK_SAFE", "IBV_FORK_SAFE"]
                .iter()
                .any(|name| std::env::var_os(name).is_some()),
        }
    }
}

/// Both libraries.
struct Handles {
    verbs: Handle,
    mlx5: Handle,
}

impl Handles {
    fn fork_status(&self) -> Option<unsafe extern "C" fn() -> c_int> {
        let found = self
            .verbs
            .symbol("ibv_is_fork_initialized", "IBVERBS_1.13")
            .ok()?;
        // SAFETY: the function of this name is of this type (`verbs.h`), and the library stays loaded.
        Some(unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(found) })
    }

    fn register_at(&self) -> Option<RegisterAt> {
        let found = self.verbs.symbol("ibv_reg_mr_iova", "IBVERBS_1.7").ok()?;
        // SAFETY: the function of this name is of this type (`verbs.h`), and the library stays loaded.
        Some(unsafe { std::mem::transmute::<*mut c_void, RegisterAt>(found) })
    }
}

/// A library that is loaded, and stays so: its providers register themselves in it, and its functions are kept.
struct Handle {
    name: &'static CStr,
    handle: *mut c_void,
}

impl Handle {
    fn open(name: &'static CStr) -> Result<Self, Error> {
        // SAFETY: the name is a C string. Initialisers of these libraries do nothing that a program could mind.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
        if handle.is_null() {
            return Err(not_loaded(name));
        }
        Ok(Self { name, handle })
    }

    fn symbol(&self, symbol: &'static str, version: &'static str) -> Result<*mut c_void, Error> {
        let [name, version] = [symbol, version].map(|text| CString::new(text).unwrap_or_default());
        // SAFETY: the handle is open, and both names are C strings.
        let found = unsafe { libc::dlvsym(self.handle, name.as_ptr(), version.as_ptr()) };
        if found.is_null() {
            let library = text(self.name);
            return Err(Error::TooOld { library, symbol });
        }
        Ok(found)
    }
}

/// Why the last `dlopen` of this thread failed: the library is not there, or something else is the matter.
fn not_loaded(name: &'static CStr) -> Error {
    // SAFETY: it takes nothing, and gives null or a C string that lives until the thread's next such call.
    let message = unsafe { libc::dlerror() };
    let reason = if message.is_null() {
        String::new()
    } else {
        // SAFETY: not null, hence a C string, and copied before another call.
        let message = unsafe { CStr::from_ptr(message) };
        message.to_string_lossy().into_owned()
    };
    let library = text(name);
    // A library that is there but lacks one that it needs is told of by the other's name.
    if reason.starts_with(library) && reason.ends_with("No such file or directory") {
        return Error::NotInstalled { library };
    }
    Error::NotLoaded { library, reason }
}

fn text(name: &'static CStr) -> &'static str {
    name.to_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(name: &'static CStr) -> String {
        Handle::open(name).map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn what_is_missing_is_told() {
        assert_eq!(open(c"libc.so.6"), "");
        assert_eq!(
            open(c"libfarreach-none.so.1"),
            "libfarreach-none.so.1 is not installed (Debian: libibverbs1, ibverbs-providers)"
        );
        let other = open(c"/etc/passwd");
        assert!(
            other.starts_with("/etc/passwd cannot be loaded: "),
            "{other}"
        );
        let handle = Handle::open(c"libc.so.6").expect("the C library");
        let error = handle
            .symbol("farreach_none", "GLIBC_2.2.5")
            .expect_err("there is no such function");
        assert_eq!(
            error.to_string(),
            "libc.so.6 is too old: it does not have farreach_none"
        );
    }
}
