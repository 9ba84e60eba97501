//! libibverbs and libmlx5, opened at run time and never closed.

use super::core::{
    AhAttr, CompChannel, Context, Cq, CqInitAttrEx, Device, DeviceAttr, Mr, Pd, Qp, QpAttr,
    QpInitAttrEx, Srq, SrqInitAttr,
};
use super::datagrams::Ah;
use super::direct::{ContextAttr, CqInitAttr, Object, QpInitAttr, Uar};
use crate::error::Error;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

const VERBS: &CStr = c"libibverbs.so.1";
const MLX5: &CStr = c"libmlx5.so.1";

/// The functions of the process's only copy.
static LIBRARY: OnceLock<Library> = OnceLock::new();

/// The protection domain, the address, bytes, the address for the device, and rights.
type RegisterAt = unsafe extern "C" fn(*mut Pd, *mut c_void, usize, u64, c_int) -> *mut Mr;

/// A table of functions: `field = c"symbol" of LIBRARY c"version": fn(...)`. A structure's layout belongs to the version of
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
                            std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn($($argument),*) $(-> $result)?>(symbol)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    get_device_list = c"ibv_get_device_list" of verbs c"IBVERBS_1.1": fn(*mut c_int) -> *mut *mut Device;
    free_device_list = c"ibv_free_device_list" of verbs c"IBVERBS_1.1": fn(*mut *mut Device);
    get_device_name = c"ibv_get_device_name" of verbs c"IBVERBS_1.1": fn(*mut Device) -> *const c_char;
    open_device = c"ibv_open_device" of verbs c"IBVERBS_1.1": fn(*mut Device) -> *mut Context;
    close_device = c"ibv_close_device" of verbs c"IBVERBS_1.1": fn(*mut Context) -> c_int;
    query_device = c"ibv_query_device" of verbs c"IBVERBS_1.1": fn(*mut Context, *mut DeviceAttr) -> c_int;
    alloc_pd = c"ibv_alloc_pd" of verbs c"IBVERBS_1.1": fn(*mut Context) -> *mut Pd;
    dealloc_pd = c"ibv_dealloc_pd" of verbs c"IBVERBS_1.1": fn(*mut Pd) -> c_int;
    reg_mr = c"ibv_reg_mr" of verbs c"IBVERBS_1.1": fn(*mut Pd, *mut c_void, usize, c_int) -> *mut Mr;
    dereg_mr = c"ibv_dereg_mr" of verbs c"IBVERBS_1.1": fn(*mut Mr) -> c_int;
    create_channel = c"ibv_create_comp_channel" of verbs c"IBVERBS_1.0": fn(*mut Context) -> *mut CompChannel;
    destroy_channel = c"ibv_destroy_comp_channel" of verbs c"IBVERBS_1.0": fn(*mut CompChannel) -> c_int;
    get_event = c"ibv_get_cq_event" of verbs c"IBVERBS_1.1": fn(*mut CompChannel, *mut *mut Cq, *mut *mut c_void) -> c_int;
    ack_events = c"ibv_ack_cq_events" of verbs c"IBVERBS_1.1": fn(*mut Cq, c_uint);
    create_polled_cq = c"ibv_create_cq" of verbs c"IBVERBS_1.1": fn(*mut Context, c_int, *mut c_void, *mut CompChannel, c_int) -> *mut Cq;
    destroy_cq = c"ibv_destroy_cq" of verbs c"IBVERBS_1.1": fn(*mut Cq) -> c_int;
    create_srq = c"ibv_create_srq" of verbs c"IBVERBS_1.1": fn(*mut Pd, *mut SrqInitAttr) -> *mut Srq;
    destroy_srq = c"ibv_destroy_srq" of verbs c"IBVERBS_1.1": fn(*mut Srq) -> c_int;
    create_ah = c"ibv_create_ah" of verbs c"IBVERBS_1.1": fn(*mut Pd, *mut AhAttr) -> *mut Ah;
    destroy_ah = c"ibv_destroy_ah" of verbs c"IBVERBS_1.1": fn(*mut Ah) -> c_int;
    modify_qp = c"ibv_modify_qp" of verbs c"IBVERBS_1.1": fn(*mut Qp, *mut QpAttr, c_int) -> c_int;
    destroy_qp = c"ibv_destroy_qp" of verbs c"IBVERBS_1.1": fn(*mut Qp) -> c_int;
    is_supported = c"mlx5dv_is_supported" of mlx5 c"MLX5_1.8": fn(*mut Device) -> bool;
    open_direct = c"mlx5dv_open_device" of mlx5 c"MLX5_1.7": fn(*mut Device, *mut ContextAttr) -> *mut Context;
    general_command = c"mlx5dv_devx_general_cmd" of mlx5 c"MLX5_1.7": fn(*mut Context, *const c_void, usize, *mut c_void, usize) -> c_int;
    create_cq = c"mlx5dv_create_cq" of mlx5 c"MLX5_1.1": fn(*mut Context, *mut CqInitAttrEx, *mut CqInitAttr) -> *mut Cq;
    create_qp = c"mlx5dv_create_qp" of mlx5 c"MLX5_1.3": fn(*mut Context, *mut QpInitAttrEx, *mut QpInitAttr) -> *mut Qp;
    alloc_uar = c"mlx5dv_devx_alloc_uar" of mlx5 c"MLX5_1.7": fn(*mut Context, u32) -> *mut Uar;
    free_uar = c"mlx5dv_devx_free_uar" of mlx5 c"MLX5_1.7": fn(*mut Uar);
    init_object = c"mlx5dv_init_obj" of mlx5 c"MLX5_1.2": fn(*mut Object, u64) -> c_int;
}

impl Library {
    /// Returns the libraries, opened with the first call that can.
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

    /// Returns `ibv_reg_mr_iova`.
    ///
    /// # Errors
    /// [`Error::TooOld`].
    pub(crate) fn register_at(&self) -> Result<RegisterAt, Error> {
        self.register_at.ok_or(Error::TooOld {
            library: text(VERBS),
            symbol: "ibv_reg_mr_iova",
        })
    }

    /// Returns whether registered memory is kept out of forked children (`IBV_FORK_ENABLED`).
    pub(crate) fn is_fork_initialised(&self) -> bool {
        const ENABLED: c_int = 1;
        match self.fork_status {
            // SAFETY: it takes nothing, and may be called at any time.
            Some(status) => unsafe { status() == ENABLED },
            // Variables that make the library do it by itself.
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
            .symbol(c"ibv_is_fork_initialized", c"IBVERBS_1.13")
            .ok()?;
        // SAFETY: the function of this name is of this type (`verbs.h`), and the library stays loaded.
        Some(unsafe {
            std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn() -> c_int>(found)
        })
    }

    fn register_at(&self) -> Option<RegisterAt> {
        let found = self.verbs.symbol(c"ibv_reg_mr_iova", c"IBVERBS_1.7").ok()?;
        // SAFETY: the function of this name is of this type (`verbs.h`), and the library stays loaded.
        Some(unsafe { std::mem::transmute::<NonNull<c_void>, RegisterAt>(found) })
    }
}

/// A library that is loaded, and stays so: its providers register themselves in it, and its functions
/// are kept.
struct Handle {
    name: &'static CStr,
    library: fi_library::Library,
}

impl Handle {
    fn open(name: &'static CStr) -> Result<Self, Error> {
        match fi_library::Library::open(name) {
            Ok(library) => Ok(Self { name, library }),
            Err(error) => Err(not_loaded(name, error.to_string())),
        }
    }

    fn symbol(
        &self,
        symbol: &'static CStr,
        version: &'static CStr,
    ) -> Result<NonNull<c_void>, Error> {
        let found = self.library.symbol_of(symbol, version);
        found.map_err(|_| Error::TooOld {
            library: text(self.name),
            symbol: text(symbol),
        })
    }
}

/// Tells a library that is not there from one that cannot be loaded for another reason.
fn not_loaded(name: &'static CStr, reason: String) -> Error {
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
            .symbol(c"farreach_none", c"GLIBC_2.2.5")
            .expect_err("there is no such function");
        assert_eq!(
            error.to_string(),
            "libc.so.6 is too old: it does not have farreach_none"
        );
    }
}
