//! Requests to the device's process: one connection a process, made at the first request.

use crate::wire::{Operation, PROBE, Reply, Request, SOCKET};
use crate::{paths, set_context};
use std::ptr::{self, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// A reply and the descriptor that came with it.
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) descriptor: Option<i32>,
}

/// The connection of one process. A child of fork makes its own: the parent's may be in the middle of a request.
struct Connection {
    process: i32,
    socket: Mutex<i32>,
}

static CONNECTION: AtomicPtr<Connection> = AtomicPtr::new(null_mut());
static PROBED: u64 = PROBE;

/// Sends a request and waits for the answer; fails with an errno when the device's process is not there.
pub(crate) fn request(operation: Operation, context: u32, argument: u64) -> Result<Answer, i32> {
    let connection = connection()?;
    let socket = connection.socket.lock().map_err(|_| libc::EIO)?;
    let request = Request {
        operation,
        context,
        argument,
    };
    exchange(*socket, &request.encode())
}

/// Sends a packet and waits for the answer.
pub(crate) fn exchange(socket: i32, packet: &[u8]) -> Result<Answer, i32> {
    send(socket, packet)?;
    receive(socket)
}

/// The process that has opened the device, if it did: forked children have a copy of the number only.
static OPENED_BY: AtomicI32 = AtomicI32::new(0);

/// Returns whether this process has opened the device.
#[cfg(target_arch = "x86_64")]
pub(crate) fn is_opened_here() -> bool {
    // ORDERING: a program that registers memory has opened the device before, and orders that with
    // its other threads.
    let process = OPENED_BY.load(Ordering::Relaxed);
    // SAFETY: getpid has no requirements.
    process != 0 && process == unsafe { libc::getpid() }
}

/// Opens the device: a new file descriptor.
pub(crate) fn open() -> Result<i32, i32> {
    let answer = request(Operation::Open, 0, (&raw const PROBED).addr() as u64)?;
    let descriptor = answer.descriptor.ok_or(libc::EIO)?;
    if answer.reply.errno != 0 || !set_context(descriptor, answer.reply.context) {
        close_raw(descriptor);
        return Err(match answer.reply.errno {
            0 => libc::EMFILE,
            errno => errno,
        });
    }
    // ORDERING: as in `is_opened_here`.
    // SAFETY: getpid has no requirements.
    OPENED_BY.store(unsafe { libc::getpid() }, Ordering::Relaxed);
    Ok(descriptor)
}

/// Executes an ioctl of the device; `argument` is the address of its header.
pub(crate) fn ioctl(context: u32, argument: u64) -> Result<(), i32> {
    let answer = request(Operation::Ioctl, context, argument)?;
    if let Some(descriptor) = answer.descriptor {
        let at = answer.reply.store_at;
        match answer.reply.store_size {
            // SAFETY: the device gives back the address of an output of 4 bytes that the program named in this very ioctl, and
            // which the kernel would write in the same way.
            4 => unsafe {
                ptr::with_exposed_provenance_mut::<i32>(at as usize).write_unaligned(descriptor)
            },
            // SAFETY: the device gives back the address of an output of 8 bytes that the program
            // named in this very ioctl, and which the kernel would write in the same way.
            8 => unsafe {
                ptr::with_exposed_provenance_mut::<i64>(at as usize)
                    .write_unaligned(i64::from(descriptor));
            },
            _ => close_raw(descriptor),
        }
    }
    match answer.reply.errno {
        0 => Ok(()),
        errno => Err(errno),
    }
}

/// Returns this process's connection.
fn connection() -> Result<&'static Connection, i32> {
    // SAFETY: getpid has no requirements.
    let process = unsafe { libc::getpid() };
    // ORDERING: Acquire pairs with the Release below: a thread that sees the pointer sees its
    // target.
    let found = CONNECTION.load(Ordering::Acquire);
    // SAFETY: the pointer is null or came from Box::into_raw below and is never freed.
    if let Some(connection) = unsafe { found.as_ref() }
        && connection.process == process
    {
        return Ok(connection);
    }
    let made = Box::into_raw(Box::new(Connection {
        process,
        socket: Mutex::new(connect()?),
    }));
    // ORDERING: Release publishes the new connection to the Acquire loads; a lost race is resolved by keeping the winner's.
    match CONNECTION.compare_exchange(found, made, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: `made` came from Box::into_raw and is never freed from here on.
        Ok(_) => Ok(unsafe { &*made }),
        Err(_) => {
            // SAFETY: nobody else has seen `made`; it came from Box::into_raw.
            let lost = unsafe { Box::from_raw(made) };
            if let Ok(socket) = lost.socket.into_inner() {
                close_raw(socket);
            }
            connection()
        }
    }
}

/// Connects to the device's process, and allows that process to read and write this one's memory.
pub(crate) fn connect() -> Result<i32, i32> {
    let directory = paths::directory().ok_or(libc::ENODEV)?;
    // The path of a socket has at most 107 bytes; by the open directory it is always short.
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: a plain system call with a C string.
    let open = unsafe {
        libc::syscall(
            libc::SYS_openat,
            libc::AT_FDCWD,
            directory.as_ptr(),
            flags,
            0,
        )
    } as i32;
    if open < 0 {
        return Err(libc::ENODEV);
    }
    let connected = connect_by(open);
    close_raw(open);
    connected
}

/// Connects as [`connect`] does, by the open directory of the fabric.
fn connect_by(directory: i32) -> Result<i32, i32> {
    // SAFETY: all zeros is a valid sockaddr_un.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let name = format!("/proc/self/fd/{directory}/{SOCKET}");
    for (to, from) in address.sun_path.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed();
    }
    // SAFETY: a plain system call.
    let socket = unsafe {
        libc::syscall(
            libc::SYS_socket,
            libc::AF_UNIX,
            libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC,
            0,
        )
    } as i32;
    if socket < 0 {
        return Err(errno());
    }
    let length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: `address` is a sockaddr_un of `length` bytes.
    if unsafe { libc::connect(socket, (&raw const address).cast(), length) } != 0 {
        close_raw(socket);
        return Err(libc::ENODEV);
    }
    let mut peer = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `peer` has `length` bytes, and both outlive the call.
    let known = unsafe {
        libc::getsockopt(
            socket,
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    if known == 0 {
        // Under Yama's ptrace_scope 1 only named processes and ancestors may. Elsewhere the call fails, and is not needed.
        // SAFETY: prctl with numbers alone.
        unsafe { libc::prctl(libc::PR_SET_PTRACER, peer.pid as libc::c_ulong, 0, 0, 0) };
    }
    Ok(socket)
}

/// Sends a packet, and waits for no answer.
pub(crate) fn send(socket: i32, bytes: &[u8]) -> Result<(), i32> {
    loop {
        // SAFETY: the bytes are valid for reads of their length. The raw system call is no cancellation point.
        let sent = unsafe {
            libc::syscall(
                libc::SYS_sendto,
                socket,
                bytes.as_ptr(),
                bytes.len(),
                libc::MSG_NOSIGNAL,
                null_mut::<u8>(),
                0,
            )
        };
        if sent >= 0 {
            return Ok(());
        }
        if errno() != libc::EINTR {
            return Err(libc::EIO);
        }
    }
}

fn receive(socket: i32) -> Result<Answer, i32> {
    let mut bytes = [0_u8; Reply::SIZE];
    let mut control = [0_u64; 4];
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: all zeros is a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control);
    loop {
        // SAFETY: the message describes buffers that outlive the call.
        let got = unsafe {
            libc::syscall(
                libc::SYS_recvmsg,
                socket,
                &raw mut message,
                libc::MSG_CMSG_CLOEXEC,
            )
        };
        if got > 0 {
            break;
        }
        if got == 0 || errno() != libc::EINTR {
            return Err(libc::EIO);
        }
    }
    let mut descriptor = None;
    // SAFETY: the message was filled by recvmsg.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    // SAFETY: CMSG_FIRSTHDR gives null or a header inside `control`.
    if let Some(found) = unsafe { header.as_ref() }
        && found.cmsg_type == libc::SCM_RIGHTS
    {
        // SAFETY: SCM_RIGHTS carries at least one int behind its header.
        descriptor = Some(unsafe { libc::CMSG_DATA(header).cast::<i32>().read_unaligned() });
    }
    let reply = Reply::decode(&bytes).ok_or(libc::EIO)?;
    Ok(Answer { reply, descriptor })
}

/// Closes a descriptor, past this library's own `close`.
pub(crate) fn close_raw(descriptor: i32) {
    // SAFETY: closing a number has no requirement on memory; it is one that this library owns.
    unsafe { libc::syscall(libc::SYS_close, descriptor) };
}

fn errno() -> i32 {
    // SAFETY: the C library gives a valid pointer to the calling thread's own errno.
    unsafe { *libc::__errno_location() }
}
