//! The C library's functions that this library stands in for.
//!
//! Where one system call does the function's work, that call is made; the others go on to the C
//! library's own function with the name replaced. The variadic ones (`open`, `openat`, `ioctl`) are
//! declared with the one argument that may follow: the calling conventions of x86-64 and aarch64
//! Linux pass it in the register where a fixed one would be, and the kernel ignores it where it
//! does not apply.

use crate::paths::Name;
use crate::wire::{DEVICE_NUMBER, Operation};
use crate::{context, device, fail, set_context};
use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};

/// The request number of a uverbs ioctl: `_IOWR(0x1b, 1, 24 bytes)`.
const RDMA_VERBS_IOCTL: c_ulong = 0xc018_1b01;

/// The netlink family of the kernel's RDMA subsystem.
const NETLINK_RDMA: c_int = 20;

/// Makes a system call and gives its result as an int; `errno` is set as the C library does.
macro_rules! system_call {
    ($number:ident, $($argument:expr),+) => {
        // SAFETY: each pointer is valid for the bytes that the call of this number reads or writes
        // there, as the C function of the same meaning requires; a name that was replaced is a C
        // string that lives until the end of the statement.
        unsafe { libc::syscall(libc::$number, $($argument),+) as c_int }
    };
}

/// Calls the C library's function of this name and type.
macro_rules! original {
    ($name:literal as $type:ty) => {{
        use std::sync::atomic::{AtomicPtr, Ordering};
        static FOUND: AtomicPtr<std::ffi::c_void> = AtomicPtr::new(std::ptr::null_mut());
        // ORDERING: the pointer is the same for each thread that looks it up, and its target does
        // not change.
        let mut found = FOUND.load(Ordering::Relaxed);
        if found.is_null() {
            let name = const { crate::calls::c_name($name) };
            // SAFETY: the name is a C string.
            found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
            FOUND.store(found, Ordering::Relaxed);
        }
        // SAFETY: the C library's function of this name has this type; null becomes None.
        unsafe { std::mem::transmute_copy::<*mut std::ffi::c_void, Option<$type>>(&found) }
    }};
}
#[cfg(target_arch = "x86_64")]
pub(crate) use original;

pub(crate) const fn c_name(name: &str) -> &CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name ends in zero"),
    }
}

fn open_name(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the caller gives a C string, as `open` asks for.
    let name = unsafe { Name::of(path) };
    if name.is_device() {
        return device::open().unwrap_or_else(fail);
    }
    system_call!(SYS_openat, directory, name.as_ptr(), flags, mode)
}

macro_rules! opening {
    ($($name:ident)+) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
            open_name(libc::AT_FDCWD, path, flags, mode)
        }
    )+ };
}
opening!(open open64 __open_2 __open64_2);

macro_rules! opening_at {
    ($($name:ident)+) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
            open_name(directory, path, flags, mode)
        }
    )+ };
}
opening_at!(openat openat64 __openat_2 __openat64_2);

/// Enters the directory, so that names without one are found as well.
#[unsafe(no_mangle)]
unsafe extern "C" fn chdir(path: *const c_char) -> c_int {
    // SAFETY: the caller gives a C string.
    let name = unsafe { Name::of(path) };
    system_call!(SYS_chdir, name.as_ptr())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    if let Some(number) = context(fd) {
        set_context(fd, 0);
        // The device refuses a close by a process that did not open: a child of fork closes its copy only.
        let _ = device::request(Operation::Close, number, 0);
    }
    system_call!(SYS_close, fd)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    // Callers may pass the request as an int, sign-extended.
    if request & 0xffff_ffff == RDMA_VERBS_IOCTL
        && let Some(number) = context(fd)
    {
        let result = device::ioctl(number, argument.expose_provenance() as u64);
        #[cfg(target_arch = "x86_64")]
        if crate::strict::is_wanted() {
            crate::strict::watch();
        }
        return match result {
            Ok(()) => 0,
            Err(errno) => fail(errno),
        };
    }
    system_call!(SYS_ioctl, fd, request, argument)
}

/// Refuses sockets that ask the kernel for RDMA devices by netlink, as it may know of other
/// devices: the caller is told that it has no RDMA, and reads sysfs instead.
#[unsafe(no_mangle)]
unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    if domain == libc::AF_NETLINK && protocol == NETLINK_RDMA && crate::paths::directory().is_some()
    {
        return fail(libc::EPROTONOSUPPORT);
    }
    system_call!(SYS_socket, domain, kind, protocol)
}

/// Makes a status that of the device node.
///
/// # Safety
/// `status` points to a status that the caller may write.
unsafe fn as_device(status: *mut libc::stat) {
    // SAFETY: `status` points to a status that may be written.
    let status = unsafe { &mut *status };
    status.st_mode = libc::S_IFCHR | 0o666;
    status.st_rdev = libc::makedev(DEVICE_NUMBER.0, DEVICE_NUMBER.1);
    status.st_size = 0;
}

fn status_of(
    directory: c_int,
    path: *const c_char,
    status: *mut libc::stat,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller gives a C string, as `stat` asks for.
    let name = unsafe { Name::of(path) };
    let result = system_call!(SYS_newfstatat, directory, name.as_ptr(), status, flags);
    if result == 0 && name.is_device() {
        // SAFETY: the kernel has just written it.
        unsafe { as_device(status) };
    }
    result
}

fn status_of_open(fd: c_int, status: *mut libc::stat) -> c_int {
    let result = system_call!(SYS_fstat, fd, status);
    if result == 0 && context(fd).is_some() {
        // SAFETY: the kernel has just written it.
        unsafe { as_device(status) };
    }
    result
}

macro_rules! status {
    ($($name:ident $old:ident $flags:expr;)+) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, status: *mut libc::stat) -> c_int {
            status_of(libc::AT_FDCWD, path, status, $flags)
        }
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $old(_version: c_int, path: *const c_char, status: *mut libc::stat) -> c_int {
            status_of(libc::AT_FDCWD, path, status, $flags)
        }
    )+ };
}
status! {
    stat __xstat 0;
    stat64 __xstat64 0;
    lstat __lxstat libc::AT_SYMLINK_NOFOLLOW;
    lstat64 __lxstat64 libc::AT_SYMLINK_NOFOLLOW;
}

macro_rules! status_of_open {
    ($($name:ident $old:ident)+) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(fd: c_int, status: *mut libc::stat) -> c_int {
            status_of_open(fd, status)
        }
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $old(_version: c_int, fd: c_int, status: *mut libc::stat) -> c_int {
            status_of_open(fd, status)
        }
    )+ };
}
status_of_open!(fstat __fxstat fstat64 __fxstat64);

macro_rules! status_at {
    ($($name:ident $old:ident)+) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(directory: c_int, path: *const c_char, status: *mut libc::stat, flags: c_int) -> c_int {
            status_of(directory, path, status, flags)
        }
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $old(_version: c_int, directory: c_int, path: *const c_char, status: *mut libc::stat, flags: c_int) -> c_int {
            status_of(directory, path, status, flags)
        }
    )+ };
}
status_at!(fstatat __fxstatat fstatat64 __fxstatat64);

#[unsafe(no_mangle)]
unsafe extern "C" fn statx(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    status: *mut libc::statx,
) -> c_int {
    // SAFETY: the caller gives a C string.
    let name = unsafe { Name::of(path) };
    let result = system_call!(SYS_statx, directory, name.as_ptr(), flags, mask, status);
    // SAFETY: `path` is a C string, or null with AT_EMPTY_PATH on newer kernels.
    let empty = path.is_null() || unsafe { *path } == 0;
    let open_device = empty && flags & libc::AT_EMPTY_PATH != 0 && context(directory).is_some();
    if result == 0 && (name.is_device() || open_device) {
        // SAFETY: the kernel has just written it.
        let status = unsafe { &mut *status };
        status.stx_mode = (libc::S_IFCHR | 0o666) as u16;
        (status.stx_rdev_major, status.stx_rdev_minor) = DEVICE_NUMBER;
        status.stx_size = 0;
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: the caller gives a C string.
    let name = unsafe { Name::of(path) };
    system_call!(SYS_faccessat, libc::AT_FDCWD, name.as_ptr(), mode)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readlink(path: *const c_char, buffer: *mut c_char, size: usize) -> isize {
    // SAFETY: `path` is a C string, and `buffer` is writable for `size` bytes, as readlink(2)
    // requires.
    unsafe { readlinkat(libc::AT_FDCWD, path, buffer, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readlinkat(
    directory: c_int,
    path: *const c_char,
    buffer: *mut c_char,
    size: usize,
) -> isize {
    // SAFETY: the caller gives a C string.
    let name = unsafe { Name::of(path) };
    // SAFETY: the name is a C string, and the caller gives a buffer of this size.
    let result: c_long =
        unsafe { libc::syscall(libc::SYS_readlinkat, directory, name.as_ptr(), buffer, size) };
    result as isize
}

/// Functions whose first argument is a name and which go on to the C library.
macro_rules! named {
    ($($name:ident $c_name:literal ($($argument:ident: $type:ty),*) -> $result:ty, $failure:expr;)+) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, $($argument: $type),*) -> $result {
            // SAFETY: the caller gives a C string.
            let name = unsafe { Name::of(path) };
            match original!($c_name as unsafe extern "C" fn(*const c_char, $($type),*) -> $result) {
                // SAFETY: the name is a C string; the other arguments are as the C library's
                // function of this name requires.
                Some(function) => unsafe { function(name.as_ptr(), $($argument),*) },
                None => {
                    fail(libc::ENOSYS);
                    $failure
                }
            }
        }
    )+ };
}
named! {
    fopen "fopen\0" (mode: *const c_char) -> *mut c_void, std::ptr::null_mut();
    fopen64 "fopen64\0" (mode: *const c_char) -> *mut c_void, std::ptr::null_mut();
    opendir "opendir\0" () -> *mut c_void, std::ptr::null_mut();
    realpath "realpath\0" (resolved: *mut c_char) -> *mut c_char, std::ptr::null_mut();
    __realpath_chk "__realpath_chk\0" (resolved: *mut c_char, size: usize) -> *mut c_char, std::ptr::null_mut();
    canonicalize_file_name "canonicalize_file_name\0" () -> *mut c_char, std::ptr::null_mut();
    eaccess "eaccess\0" (mode: c_int) -> c_int, -1;
    euidaccess "euidaccess\0" (mode: c_int) -> c_int, -1;
    scandir "scandir\0" (list: *mut c_void, filter: *mut c_void, compare: *mut c_void) -> c_int, -1;
    scandir64 "scandir64\0" (list: *mut c_void, filter: *mut c_void, compare: *mut c_void) -> c_int, -1;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn faccessat(
    directory: c_int,
    path: *const c_char,
    mode: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller gives a C string.
    let name = unsafe { Name::of(path) };
    let function = original!(
        "faccessat\0" as unsafe extern "C" fn(c_int, *const c_char, c_int, c_int) -> c_int
    );
    match function {
        // SAFETY: the name is a C string, which is all that faccessat(2) requires.
        Some(function) => unsafe { function(directory, name.as_ptr(), mode, flags) },
        None => fail(libc::ENOSYS),
    }
}
