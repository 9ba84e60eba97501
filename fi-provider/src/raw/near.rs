//! A process of this node that this one reaches: its memory, mapped here, and the connection by
//! which it asks for rings and learns of the other's end.

#![expect(unsafe_code, reason = "reads a peer's table in mapped memory")]

use super::address::Port;
use super::error::Error;
use super::region::{HEAD_BYTES, Table};
use super::wire::{Grant, Request, Welcome};
use fi_shm::handover::{self, Ticket};
use fi_shm::segment::{Reservation, page_size};
use fi_shm::{bell, foreign, ring};
use std::io::{ErrorKind, Read};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Longest time that a process that is asked may take: its thread that answers does nothing else.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest memory of a peer that is mapped: an arena of another configuration may differ.
/// Remote calls have 16 TiB in a pool, and rings beside it.
const MOST_BYTES: u64 = 1 << 45;

/// Another process of the node, or this one as others see it.
#[derive(Debug)]
pub(crate) struct Near {
    stream: Mutex<UnixStream>,
    /// The connection once more, to watch its end without the lock.
    watched: UnixStream,
    memory: Reservation,
    pid: Option<i32>,
    alive: AtomicBool,
    /// Whether the kernel has refused to copy between the two processes.
    kernel_refuses: AtomicBool,
    /// The number of the process as long as it runs and the kernel copies, as far as is known; else
    /// 0.
    copies: AtomicI32,
}

impl Near {
    /// Connects to the process of an address.
    pub(crate) fn connect(process: &Ticket, own: &Ticket, port: Port) -> Result<Self, Error> {
        let stream = process.call().map_err(|error| match error.kind() {
            // Another network namespace, or another machine.
            ErrorKind::AddrNotAvailable => Error::Unreachable,
            ErrorKind::PermissionDenied => Error::Unreachable,
            ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => Error::PeerGone,
            _ => error.into(),
        })?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let hello = Request::Hello {
            process: own.clone(),
            port,
        };
        handover::say(&stream, &hello.encode())?;
        let mut welcome = [0; Welcome::BYTES];
        let file = handover::receive(&stream, &mut welcome)?;
        let len = Welcome::decode(&welcome).len;
        let is_usable = len >= HEAD_BYTES as u64
            && len <= MOST_BYTES
            && len.is_multiple_of(page_size() as u64)
            && file.keeps(len)?;
        if !is_usable {
            return Err(Error::Broken);
        }
        let memory = Reservation::anywhere(len as usize)?;
        memory.map_shared(0, &file, 0, memory.len())?;
        memory.keep_from_children();
        memory.keep_from_cores();
        memory.keep_from_memcheck();
        let pid = handover::process_of(&stream)?;
        Ok(Self {
            watched: stream.try_clone()?,
            pid,
            copies: AtomicI32::new(pid.unwrap_or(0)),
            stream: Mutex::new(stream),
            memory,
            alive: AtomicBool::new(true),
            kernel_refuses: AtomicBool::new(false),
        })
    }

    /// Asks for a ring from the own endpoint `from` to the endpoint `to`.
    pub(crate) fn ask_for_ring(&self, from: u32, to: u32) -> Result<Grant, Error> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answer = [0; Grant::BYTES];
        let answered = handover::say(&stream, &Request::Ring { from, to }.encode())
            .and_then(|()| stream.read_exact(&mut answer));
        if let Err(error) = answered {
            // An answer that came late would be taken for the next one's.
            let _ = stream.shutdown(Shutdown::Both);
            return Err(error.into());
        }
        let grant = Grant::decode(&answer)?;
        let fits = |at: u64, bytes: u64| {
            at.checked_add(bytes)
                .is_some_and(|end| end <= self.memory.len() as u64)
        };
        let is_sound = fits(grant.offset, ring::bytes(grant.capacity as usize) as u64)
            && grant.offset.is_multiple_of(64)
            && grant.bells.is_multiple_of(64)
            && fits(grant.bells, bell::bytes(grant.bell as usize + 1) as u64);
        is_sound.then_some(grant).ok_or(Error::Broken)
    }

    /// Tells that the ring at `offset` is used no more.
    pub(crate) fn release_ring(&self, offset: u64) {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        // A process that is gone has let everything go.
        let _ = handover::say(&stream, &Request::Release { offset }.encode());
    }

    /// Wakes an endpoint of the process.
    ///
    /// # Errors
    /// [`Error::PeerGone`].
    pub(crate) fn wake(&self, endpoint: u32) -> Result<(), Error> {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let said = handover::say(&stream, &Request::Wake { endpoint }.encode());
        said.map_err(|_| {
            // Part of it may be on its way. A process that reads nothing for so long is gone.
            let _ = stream.shutdown(Shutdown::Both);
            Error::PeerGone
        })
    }

    /// Returns the address here of the byte at `offset` in the process's memory.
    pub(crate) fn at(&self, offset: u64) -> *mut u8 {
        (self.memory.base() as *mut u8).wrapping_add(offset as usize)
    }

    /// Returns the bytes of the process's memory.
    pub(crate) fn len(&self) -> u64 {
        self.memory.len() as u64
    }

    /// Returns the process's regions.
    pub(crate) fn table(&self) -> Table {
        // SAFETY: the memory is longer than the table (checked in `connect`), begins with a page,
        // and is mapped as long as `self`, which the users of the table hold.
        unsafe { Table::at(self.at(0)) }
    }

    /// Returns the connection, to wait for its end.
    pub(crate) fn end(&self) -> BorrowedFd<'_> {
        self.watched.as_fd()
    }

    pub(crate) fn is_alive(&self) -> bool {
        // ORDERING: only a hint; all that depends on the process's memory stays mapped.
        self.alive.load(Ordering::Relaxed)
    }

    /// Returns whether the kernel copies between the two processes, as far as is known.
    pub(crate) fn may_copy(&self) -> bool {
        // ORDERING: a fact of its own: whether a system call is worth its time.
        self.pid.is_some() && !self.kernel_refuses.load(Ordering::Relaxed)
    }

    pub(crate) fn note_end(&self) {
        self.alive.store(false, Ordering::Relaxed);
        // ORDERING: a hint, as `alive` is.
        self.copies.store(0, Ordering::Relaxed);
    }

    /// Reads memory of the process that is not mapped here, by the kernel; false where the kernel
    /// does not copy between the two.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where nothing is mapped there, [`Error::PeerGone`].
    ///
    /// # Safety
    /// `dest` has room for the bytes.
    pub(crate) unsafe fn read(
        &self,
        source: u64,
        dest: *mut u8,
        bytes: usize,
    ) -> Result<bool, Error> {
        // SAFETY: `dest` has room for the bytes.
        self.by_kernel(|pid| unsafe { foreign::read(pid, source, dest, bytes) })
    }

    /// Writes to memory of the process that is not mapped here, by the kernel; false where the
    /// kernel does not copy between the two.
    ///
    /// # Errors
    /// As [`Near::read`].
    ///
    /// # Safety
    /// `source` holds the bytes.
    pub(crate) unsafe fn write(
        &self,
        dest: u64,
        source: *const u8,
        bytes: usize,
    ) -> Result<bool, Error> {
        // SAFETY: `source` holds the bytes.
        self.by_kernel(|pid| unsafe { foreign::write(pid, dest, source, bytes) })
    }

    /// Returns the write of a few bytes to memory of the process by one call of the kernel, where
    /// that is worth a trial; where it writes nothing, [`Near::write`] finds out why.
    #[inline(always)]
    pub(crate) fn write_few(
        &self,
        dest: u64,
        source: *const u8,
        bytes: usize,
    ) -> Option<foreign::Write> {
        // ORDERING: a fact of its own: whether a system call is worth its time.
        let pid = self.copies.load(Ordering::Relaxed);
        (pid != 0).then(|| foreign::Write::new(pid, dest, source, bytes))
    }

    /// Reads pieces as [`Near::read`] does.
    ///
    /// # Errors
    /// As [`Near::read`].
    ///
    /// # Safety
    /// Each piece has room for its bytes here.
    pub(crate) unsafe fn read_pieces(&self, pieces: &[foreign::Piece]) -> Result<bool, Error> {
        // SAFETY: the pieces have room for their bytes.
        self.by_kernel(|pid| unsafe { foreign::read_pieces(pid, pieces) })
    }

    /// Writes pieces as [`Near::write`] does.
    ///
    /// # Errors
    /// As [`Near::read`].
    ///
    /// # Safety
    /// Each piece holds its bytes here.
    pub(crate) unsafe fn write_pieces(&self, pieces: &[foreign::Piece]) -> Result<bool, Error> {
        // SAFETY: the pieces hold their bytes.
        self.by_kernel(|pid| unsafe { foreign::write_pieces(pid, pieces) })
    }

    /// Does as `copy` with the process's number, unless the kernel has refused that before.
    fn by_kernel(&self, copy: impl FnOnce(i32) -> std::io::Result<()>) -> Result<bool, Error> {
        // ORDERING: a fact of its own: whether a system call is worth its time.
        let Some(pid) = self
            .pid
            .filter(|_| !self.kernel_refuses.load(Ordering::Relaxed))
        else {
            return Ok(false);
        };
        if !self.is_alive() {
            return Err(Error::PeerGone);
        }
        match copy(pid) {
            Ok(()) => Ok(true),
            Err(error) => match error.raw_os_error() {
                Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => {
                    self.refuse_kernel();
                    Ok(false)
                }
                Some(libc::ESRCH) => Err(Error::PeerGone),
                Some(libc::EFAULT) => Err(Error::OutOfRange),
                _ => Err(error.into()),
            },
        }
    }

    /// Has all that is not mapped here go by the ring.
    pub(crate) fn refuse_kernel(&self) {
        // ORDERING: facts of their own: whether a system call is worth its time.
        self.kernel_refuses.store(true, Ordering::Relaxed);
        self.copies.store(0, Ordering::Relaxed);
    }
}
