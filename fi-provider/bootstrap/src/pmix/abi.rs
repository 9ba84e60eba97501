//! The structs and constants of PMIx (`pmix_common.h`, versions 3 to 5) that a client of few calls needs.

#![expect(
    unsafe_code,
    reason = "unions and C strings, as the library's interface has them"
)]

use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

/// Bytes of a namespace's name, its end included.
pub(super) const NSPACE: usize = 256;
/// Bytes of a key, its end included.
pub(super) const KEY: usize = 512;

/// All processes of a namespace: its own values.
pub(super) const RANK_WILDCARD: u32 = u32::MAX - 1;
/// A value for all processes.
pub(super) const GLOBAL: u8 = 3;

pub(super) const BOOL: u16 = 1;
pub(super) const STRING: u16 = 3;
pub(super) const INT: u16 = 6;
pub(super) const UINT32: u16 = 14;
pub(super) const BYTE_OBJECT: u16 = 27;

pub(super) const SUCCESS: c_int = 0;
pub(super) const ERR_UNREACH: c_int = -25;
pub(super) const ERR_NOT_FOUND: c_int = -46;
pub(super) const ERR_COMM_FAILURE: c_int = -49;
/// A fence that a process can no longer join.
pub(super) const ERR_PARTIAL_SUCCESS: c_int = -52;
pub(super) const ERR_LOST_CONNECTION: c_int = -61;
/// The name that it had up to version 3.
pub(super) const ERR_LOST_CONNECTION_TO_SERVER: c_int = -101;
/// No further handler is to see an event.
pub(super) const EVENT_ACTION_COMPLETE: c_int = -334;

pub(super) const JOB_SIZE: &str = "pmix.job.size";
pub(super) const NODEID: &str = "pmix.nodeid";
pub(super) const HOSTNAME: &str = "pmix.hname";
pub(super) const LOCAL_PEERS: &str = "pmix.lpeers";
pub(super) const COLLECT_DATA: &str = "pmix.collect";
pub(super) const IMMEDIATE: &str = "pmix.immediate";
pub(super) const TIMEOUT: &str = "pmix.timeout";

/// `pmix_proc_t`: a process by the name of its namespace and its rank there.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Proc {
    pub(super) nspace: [c_char; NSPACE],
    pub(super) rank: u32,
}

/// `pmix_byte_object_t`: bytes of any length.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct ByteObject {
    pub(super) bytes: *mut c_char,
    pub(super) size: usize,
}

/// `pmix_envar_t`: the largest member of a value's union.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Envar {
    envar: *mut c_char,
    value: *mut c_char,
    separator: c_char,
}

/// The union of `pmix_value_t`, with the members that are used.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) union Data {
    pub(super) flag: bool,
    pub(super) uint32: u32,
    integer: c_int,
    pub(super) string: *mut c_char,
    pub(super) bo: ByteObject,
    envar: Envar,
}

/// `pmix_value_t`: a value and its type.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Value {
    pub(super) kind: u16,
    pub(super) data: Data,
}

/// `pmix_info_t`: an attribute of a call.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Info {
    key: [c_char; KEY],
    flags: u32,
    value: Value,
}

impl Proc {
    /// A process without a name, to be filled in.
    pub(super) const fn nobody() -> Self {
        Proc {
            nspace: [0; NSPACE],
            rank: u32::MAX,
        }
    }

    /// Another process of the same namespace, or [`RANK_WILDCARD`].
    pub(super) fn of_rank(&self, rank: u32) -> Self {
        Proc { rank, ..*self }
    }
}

impl Value {
    /// Bytes of the caller, which the value borrows: the library only reads them.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        let (size, bytes) = (bytes.len(), bytes.as_ptr().cast_mut().cast());
        let bo = ByteObject { bytes, size };
        Value {
            kind: BYTE_OBJECT,
            data: Data { bo },
        }
    }
}

impl Info {
    /// An attribute that is on.
    pub(super) fn on(name: &str) -> Self {
        Self::of(name, BOOL, |data| data.flag = true)
    }

    /// An attribute that is a number.
    pub(super) fn number(name: &str, number: c_int) -> Self {
        Self::of(name, INT, |data| data.integer = number)
    }

    fn of(name: &str, kind: u16, set: impl FnOnce(&mut Data)) -> Self {
        let mut key = [0; KEY];
        for (place, byte) in key.iter_mut().zip(name.bytes()) {
            *place = byte.cast_signed();
        }
        // All bytes are set: the library may copy the largest member.
        let mut data = Data {
            envar: Envar {
                envar: std::ptr::null_mut(),
                value: std::ptr::null_mut(),
                separator: 0,
            },
        };
        set(&mut data);
        Info {
            key,
            flags: 0,
            value: Value { kind, data },
        }
    }
}

/// A value that the library has allocated for this process.
pub(super) struct Got(*mut Value);

impl Got {
    /// Takes over a value that `PMIx_Get` has returned; `None` for a null pointer.
    ///
    /// # Safety
    /// A pointer that is not null is to a value that `PMIx_Get` has just returned, and nobody else
    /// frees it.
    pub(super) unsafe fn new(value: *mut Value) -> Option<Self> {
        (!value.is_null()).then_some(Got(value))
    }

    fn value(&self) -> &Value {
        // SAFETY: the promise of `new`: the value is there, and is freed by the drop alone.
        unsafe { &*self.0 }
    }

    /// The number, if it is one of 32 bits.
    pub(super) fn uint32(&self) -> Option<u32> {
        let value = self.value();
        if value.kind != UINT32 {
            return None;
        }
        // SAFETY: the type says that the library has written this member; any bits are a number.
        Some(unsafe { value.data.uint32 })
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<String> {
        let value = self.value();
        if value.kind != STRING {
            return None;
        }
        // SAFETY: the type says that the library has written this member.
        let text = unsafe { value.data.string };
        if text.is_null() {
            return None;
        }
        // SAFETY: not null, hence a C string of the library, which lives as long as the value.
        let text = unsafe { std::ffi::CStr::from_ptr(text) };
        Some(text.to_string_lossy().into_owned())
    }

    /// The bytes, if it has them.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        let value = self.value();
        if value.kind != BYTE_OBJECT {
            return None;
        }
        // SAFETY: the type says that the library has written this member.
        let ByteObject { bytes, size } = unsafe { value.data.bo };
        if bytes.is_null() || size == 0 {
            return Some(&[]);
        }
        // SAFETY: the library has allocated `size` bytes there and filled them; they live as long as
        // the value, which this borrows.
        Some(unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) })
    }
}

impl Drop for Got {
    fn drop(&mut self) {
        let value = self.value();
        let inner: *mut c_void = match value.kind {
            // SAFETY: the type says that the library has written this member.
            STRING => unsafe { value.data.string }.cast(),
            // SAFETY: the type says that the library has written this member.
            BYTE_OBJECT => unsafe { value.data.bo }.bytes.cast(),
            _ => std::ptr::null_mut(),
        };
        // SAFETY: PMIx_Get's caller frees the value and its contents by free(3) (PMIX_VALUE_RELEASE
        // of pmix_common.h); both are null or from malloc(3), and nobody uses them after the drop.
        unsafe {
            libc::free(inner);
            libc::free(self.0.cast());
        }
    }
}

/// States sizes and offsets: asserts each, and lists them for the test against the header.
macro_rules! layouts {
    ($($ours:ident = $theirs:ident: $size:literal { $($field:ident = $their:literal $offset:literal),* })*) => {
        $(const _: () = {
            assert!(size_of::<$ours>() == $size);
            $(assert!(offset_of!($ours, $field) == $offset);)*
        };)*

        /// C expressions, and the numbers that they are to have.
        #[cfg(test)]
        pub(super) const NUMBERS: &[(&str, i64)] = &[$(
            (concat!("sizeof(", stringify!($theirs), ")"), $size),
            $((concat!("offsetof(", stringify!($theirs), ", ", $their, ")"), $offset),)*
        )*];
    };
}

layouts! {
    Proc = pmix_proc_t: 260 { nspace = "nspace" 0, rank = "rank" 256 }
    ByteObject = pmix_byte_object_t: 16 { bytes = "bytes" 0, size = "size" 8 }
    Envar = pmix_envar_t: 24 { envar = "envar" 0, value = "value" 8, separator = "separator" 16 }
    Value = pmix_value_t: 32 { kind = "type" 0, data = "data" 8 }
    Info = pmix_info_t: 552 { key = "key" 0, flags = "flags" 512, value = "value" 520 }
}

#[cfg(test)]
#[path = "abi_tests.rs"]
mod tests;
