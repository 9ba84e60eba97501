//! libfabric, opened at run time and never closed.

use crate::error::Error;
use crate::signals::Actions;
use fi_ofi_abi::{FiFabricAttr, FiInfo, FidFabric, fi_version};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::{self, Display};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// The library's name, and the variable that names another file.
const NAME: &str = "libfabric.so.1";
const VARIABLE: &str = "FARREACH_LIBFABRIC";

/// The newest version of the interface that is asked for: the layouts of `fi-ofi-abi` are its.
const NEWEST: u32 = fi_version(1, 17);

type GetInfo = unsafe extern "C" fn(
    u32,
    *const c_char,
    *const c_char,
    u64,
    *const FiInfo,
    *mut *mut FiInfo,
) -> c_int;
type OpenFabric =
    unsafe extern "C" fn(*mut FiFabricAttr, *mut *mut FidFabric, *mut c_void) -> c_int;
type FreeInfo = unsafe extern "C" fn(*mut FiInfo);
type DupInfo = unsafe extern "C" fn(*const FiInfo) -> *mut FiInfo;
type Words = unsafe extern "C" fn(c_int) -> *const c_char;
type Number = unsafe extern "C" fn() -> u32;

/// The functions that are used; all others are in the objects' tables.
pub(crate) struct Library {
    pub(crate) getinfo: GetInfo,
    pub(crate) freeinfo: FreeInfo,
    pub(crate) dupinfo: DupInfo,
    pub(crate) fabric: OpenFabric,
    strerror: Words,
    version: Number,
}

static LIBRARY: OnceLock<Library> = OnceLock::new();

impl Library {
    /// Returns the library, opened with the first call that can.
    ///
    /// # Errors
    /// [`Error::NotLoaded`] or [`Error::NoSymbol`].
    pub(crate) fn get() -> Result<&'static Self, Error> {
        if let Some(library) = LIBRARY.get() {
            return Ok(library);
        }
        let library = Self::open()?;
        Ok(LIBRARY.get_or_init(|| library))
    }

    fn open() -> Result<Self, Error> {
        let named = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
        let library = named.unwrap_or_else(|| NAME.to_owned());
        let not_loaded = |reason| Error::NotLoaded {
            library: library.clone(),
            reason,
        };
        let path = CString::new(library.clone()).map_err(|error| not_loaded(error.to_string()))?;
        let actions = Actions::read();
        let opened = fi_library::Library::open(&path);
        actions.restore();
        let opened = opened.map_err(|error| not_loaded(error.to_string()))?;
        macro_rules! symbol {
            ($name:literal as $type:ty) => {{
                let name: &CStr = $name;
                let found = opened.symbol(name).map_err(|_| Error::NoSymbol {
                    library: library.clone(),
                    symbol: name.to_str().unwrap_or("a function"),
                })?;
                // SAFETY: the function of this name is of the field's type (rdma/fabric.h), and the
                // library stays loaded.
                unsafe { std::mem::transmute::<NonNull<c_void>, $type>(found) }
            }};
        }
        Ok(Self {
            getinfo: symbol!(c"fi_getinfo" as GetInfo),
            freeinfo: symbol!(c"fi_freeinfo" as FreeInfo),
            dupinfo: symbol!(c"fi_dupinfo" as DupInfo),
            fabric: symbol!(c"fi_fabric" as OpenFabric),
            strerror: symbol!(c"fi_strerror" as Words),
            version: symbol!(c"fi_version" as Number),
        })
    }

    /// Returns the version of the interface to ask for: the library's, or the newest that is known
    /// here.
    pub(crate) fn api(&self) -> u32 {
        // SAFETY: it takes nothing, and may be called at any time.
        unsafe { (self.version)() }.min(NEWEST)
    }

    /// Returns the library's words for a positive error number.
    pub(crate) fn words(&self, errno: c_int) -> String {
        // SAFETY: it takes any number, and gives a C string that stays, or null.
        unsafe { text((self.strerror)(errno)) }.unwrap_or_else(|| format!("error {errno}"))
    }
}

/// The version of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The major number.
    pub major: u32,
    /// The minor number.
    pub minor: u32,
}

impl Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Returns the version of the system's libfabric.
///
/// # Errors
/// [`Error::NotLoaded`] or [`Error::NoSymbol`].
pub fn version() -> Result<Version, Error> {
    let library = Library::get()?;
    // SAFETY: it takes nothing, and may be called at any time.
    let number = unsafe { (library.version)() };
    Ok(Version {
        major: number >> 16,
        minor: number & 0xffff,
    })
}

/// Returns the text of a C string; none of a null pointer.
///
/// # Safety
/// `text` is null or a C string.
pub(crate) unsafe fn text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: it is a C string.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}
