//! Completions, and messages that come.

use crate::error::{Error, Failure};
use crate::message::{self, Answer, Message, Probe, Request};
use crate::objects::{Objects, Registration};
use crate::operation::{Kind, Operation};
use crate::port::State;
use fi_ofi_abi::*;
use fi_shm::amo::{self, Amo};
use fi_shm::copy;
use std::cell::UnsafeCell;
use std::ffi::c_void;

/// Buffers for messages that come, and bytes of each: more than a message has, so that longer ones
/// are seen to be none.
const BUFFERS: usize = 128;
const ROOM: usize = 64;

/// Completions that are taken at a time.
const BATCH: usize = 16;

const _: () = assert!(ROOM > message::BYTES);

/// Memory for the entries that the completion queue writes.
#[derive(Debug)]
pub(crate) struct Batch {
    cq: *mut FidCq,
    read: unsafe extern "C" fn(*mut FidCq, *mut c_void, usize) -> isize,
    /// Number of entries that a look in short takes: none while answers wait for room, so that it
    /// leaves the queue to a look that sends them first.
    room: usize,
    entries: [UnsafeCell<FiCqMsgEntry>; BATCH],
}

// SAFETY: it belongs to no thread; the port's lock guards it.
unsafe impl Send for Batch {}

impl Batch {
    pub(crate) fn new(objects: &Objects) -> Self {
        let none = || FiCqMsgEntry {
            op_context: std::ptr::null_mut(),
            flags: 0,
            len: 0,
        };
        let cq = objects.cq;
        Self {
            cq,
            room: BATCH,
            // SAFETY: the queue is open.
            read: unsafe { (*(*cq).ops).read },
            entries: std::array::from_fn(|_| UnsafeCell::new(none())),
        }
    }

    /// Reads the queue; returns the number of entries, or an error.
    #[inline(always)]
    fn read(&mut self) -> isize {
        // SAFETY: the queue is open, and there is room for so many entries of its format.
        unsafe { (self.read)(self.cq, self.entries().cast(), BATCH) }
    }

    /// Reads the queue in short; returns the number of entries, or an error.
    #[inline(always)]
    pub(crate) fn read_in_short(&mut self) -> isize {
        // SAFETY: the queue is open, and there is room for so many entries of its format.
        unsafe { (self.read)(self.cq, self.entries().cast(), self.room) }
    }

    /// Returns the operation of the first entry.
    ///
    /// # Safety
    /// The queue has written it.
    #[inline(always)]
    pub(crate) unsafe fn first(&mut self) -> *mut Operation {
        // SAFETY: the queue has written the entry, whose context is an operation.
        unsafe { (*self.entries()).op_context.cast() }
    }

    #[inline(always)]
    fn entries(&mut self) -> *mut FiCqMsgEntry {
        self.entries.as_mut_ptr().cast()
    }
}

/// Returns whether an entry is of a plain write.
///
/// # Safety
/// The queue has written the entry, whose context is an operation.
#[inline(always)]
unsafe fn is_plain(entry: *const FiCqMsgEntry) -> bool {
    // SAFETY: the queue has written the entry, and its context is an operation.
    unsafe { (*(*entry).op_context.cast::<Operation>()).kind() == Kind::Plain }
}

/// Ends a plain write.
///
/// # Safety
/// As [`is_plain`], which it is; the operation is under way.
#[inline(always)]
unsafe fn end_plain(entry: *const FiCqMsgEntry) {
    // SAFETY: by contract of the caller; the lane outlives the operation.
    unsafe {
        let operation: *mut Operation = (*entry).op_context.cast();
        let lane = &*(*operation).lane;
        lane.end(Kind::Plain);
        lane.give_back(operation);
    }
}

/// Returns whether the operation is one of its lane's free ones.
///
/// # Safety
/// It lies in a chunk, and its lane, if it has one, is alive.
unsafe fn is_free(operation: *const Operation) -> bool {
    // SAFETY: the operation lies in a chunk, and its lane is alive.
    unsafe { (*operation).lane.as_ref() }.is_none_or(|lane| lane.has_free(operation))
}

/// Executes an atomic operation on an object of 4 or 8 bytes, and returns the old value. A swap is
/// a write that may be anywhere: its bytes are copied where the object is not aligned. Returns none
/// for others there.
///
/// # Safety
/// The object is mapped, and accessed by others as by this process alone.
unsafe fn execute(amo: Amo, place: usize, bytes: usize) -> Option<u64> {
    if place.is_multiple_of(bytes) {
        // SAFETY: the object is aligned and mapped.
        return Some(unsafe { amo::perform(amo, place, bytes) });
    }
    let Amo::Swap(value) = amo else {
        return None;
    };
    let (mut found, value) = ([0; size_of::<u64>()], value.to_le_bytes());
    let at = place as *mut u8;
    // SAFETY: the object is mapped, and the words have so many bytes.
    unsafe {
        copy::copy(found.as_mut_ptr(), at, bytes);
        copy::copy(at, value.as_ptr(), bytes);
    }
    Some(u64::from_le_bytes(found))
}

/// The buffers for messages that come.
#[derive(Debug)]
pub(crate) struct Receives {
    buffers: Box<[UnsafeCell<[u8; ROOM]>]>,
    registration: Option<Registration>,
    /// Buffers that are not posted.
    idle: Vec<usize>,
}

impl Receives {
    /// Makes them, registered where the provider asks for that.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub(crate) fn new(objects: &mut Objects, is_registered: bool) -> Result<Self, Error> {
        let buffers: Box<[_]> = (0..BUFFERS).map(|_| UnsafeCell::new([0; ROOM])).collect();
        let (start, len) = (buffers[0].get().cast::<u8>(), BUFFERS * ROOM);
        let registration = is_registered
            // SAFETY: the memory is kept until the registration has ended.
            .then(|| unsafe { objects.register(start, len, false) })
            .transpose()?;
        Ok(Self {
            buffers,
            registration,
            idle: (0..BUFFERS).collect(),
        })
    }

    pub(crate) fn close(&mut self) {
        if let Some(registration) = self.registration.take() {
            Objects::deregister(&registration);
        }
    }
}

impl State {
    /// Posts the buffers that are idle.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub(crate) fn post_receives(&mut self) -> Result<(), Error> {
        while let Some(buffer) = self.receives.idle.pop() {
            let posted = self.post_receive(buffer);
            if posted != 0 {
                self.receives.idle.push(buffer);
                if posted == -(libc::EAGAIN as isize) {
                    return Ok(());
                }
                return Err(self.objects.error("fi_recv", -posted as i32));
            }
        }
        Ok(())
    }

    fn post_receive(&mut self, buffer: usize) -> isize {
        let operation = self.operations.take();
        let registration = self.receives.registration.as_ref();
        let descriptor = registration.map_or(std::ptr::null_mut(), |one| one.descriptor);
        let place = self.receives.buffers[buffer].get().cast::<c_void>();
        // SAFETY: the operation is this function's; the endpoint is open, and the buffer stays and
        // is nobody else's until the completion.
        unsafe {
            (*operation).set_kind(Kind::Receive);
            (*operation).len = buffer;
            let ep = self.objects.ep;
            let receive = (*(*ep).msg).recv;
            let anybody = FI_ADDR_UNSPEC;
            let posted = receive(ep, place, ROOM, descriptor, anybody, operation.cast());
            if posted != 0 {
                self.operations.give_back(operation);
            }
            posted
        }
    }

    /// Takes completions, and does the work that they and messages ask for. Returns whether there
    /// were any.
    #[inline(always)]
    pub(crate) fn progress(&mut self) -> bool {
        if !self.owed.is_empty() {
            self.pay();
        }
        let read = self.batch.read();
        if read == -(libc::EAGAIN as isize) {
            return false;
        }
        self.take(read)
    }

    /// Takes the entries that the last look has found; returns whether there were any.
    #[inline(never)]
    pub(crate) fn take(&mut self, read: isize) -> bool {
        let entry = self.batch.entries();
        // SAFETY: the queue has written the entry, if it is one; contexts are operations.
        if read == 1 && unsafe { is_plain(entry) } {
            // SAFETY: as above; the operation is under way until now.
            unsafe { end_plain(entry) };
            return true;
        }
        self.take_all(read)
    }

    #[inline(never)]
    fn take_all(&mut self, read: isize) -> bool {
        if read <= 0 {
            return self.take_other(read);
        }
        let mut entry = self.batch.entries();
        // SAFETY: the queue has written so many entries.
        let end = unsafe { entry.add(read as usize) };
        while entry != end {
            // SAFETY: the queue has written the entry; contexts are operations, and this one is under
            // way until now.
            unsafe {
                if is_plain(entry) {
                    end_plain(entry);
                } else {
                    self.complete((*entry).op_context.cast(), (*entry).len);
                }
                entry = entry.add(1);
            }
        }
        true
    }

    #[cold]
    fn take_other(&mut self, read: isize) -> bool {
        let is_error = read == -(FI_EAVAIL as isize);
        if is_error {
            self.take_error();
        }
        is_error
    }

    /// # Safety
    /// The operation is under way, and libfabric is through with it.
    #[inline(never)]
    unsafe fn complete(&mut self, operation: *mut Operation, len: usize) {
        // SAFETY: the operation lies in a chunk, which stays.
        match unsafe { (*operation).kind() } {
            // SAFETY: the operation is under way.
            Kind::Plain | Kind::Write => unsafe { self.finish(operation, None) },
            Kind::Read => {
                // SAFETY: the operation is under way; where it has a piece, the bytes are there and
                // have room at `dest`.
                unsafe {
                    if let Some(piece) = (*operation).piece {
                        let from = self.pieces.at(piece);
                        std::ptr::copy_nonoverlapping(from, (*operation).dest, (*operation).len);
                    }
                    self.finish(operation, None);
                }
            }
            Kind::Receive => {
                // SAFETY: the operation is libfabric's no more.
                let buffer = unsafe {
                    let buffer = (*operation).len;
                    self.operations.give_back(operation);
                    buffer
                };
                self.take_message(buffer, len);
                if self.post_receive(buffer) != 0 {
                    // It is posted with a later one; a failure shows with the next operation.
                    self.receives.idle.push(buffer);
                } else if !self.receives.idle.is_empty() {
                    let _ = self.post_receives();
                }
            }
            // It ends with the answer.
            Kind::Atomic | Kind::Swap | Kind::Silent => {}
        }
    }

    /// Ends an operation: its lane and the caller that waits are told.
    ///
    /// # Safety
    /// The operation is under way and of a lane, and libfabric is through with it.
    pub(crate) unsafe fn finish(&mut self, operation: *mut Operation, failure: Option<Failure>) {
        // SAFETY: the operation lies in a chunk, which stays; lane and notice outlive it.
        unsafe {
            let one = &mut *operation;
            let lane = &*one.lane;
            if let (Kind::Silent, Some(failure)) = (one.kind(), failure) {
                return lane.lose(operation, failure);
            }
            lane.end(one.kind());
            if let Some(failure) = failure {
                lane.fail(one.peer(), failure);
            }
            if let Some(notice) = one.notice.as_ref() {
                notice.left.set(notice.left.get() - 1);
                if failure.is_some() {
                    notice.failure.set(failure);
                }
            }
            if let Some(piece) = one.piece {
                self.pieces.give_back(piece);
            }
            one.reset();
            lane.give_back(operation);
        }
    }

    /// Takes an error off the completion queue.
    #[cold]
    fn take_error(&mut self) {
        // SAFETY: any entry of zeros is valid; later versions of libfabric have longer ones, for
        // which there is room.
        let mut entry: (FiCqErrEntry, [u64; 8]) = unsafe { std::mem::zeroed() };
        let cq = self.objects.cq;
        // SAFETY: the queue is open, and there is room for the entry.
        let read = unsafe { ((*(*cq).ops).readerr)(cq, &raw mut entry.0, 0) };
        let operation: *mut Operation = entry.0.op_context.cast();
        if read <= 0 || operation.is_null() {
            return;
        }
        // SAFETY: contexts are operations, which lie in chunks that stay.
        let kind = unsafe { (*operation).kind() };
        match kind {
            // SAFETY: as above; a lane is alive as long as operations are.
            Kind::Plain if unsafe { is_free(operation) } => {}
            Kind::Plain | Kind::Write | Kind::Read | Kind::Atomic | Kind::Swap | Kind::Silent => {
                let failure = Failure {
                    errno: entry.0.err,
                    operation: kind.name(),
                };
                // SAFETY: the operation is under way until now.
                unsafe { self.finish(operation, Some(failure)) };
            }
            Kind::Receive => {
                // SAFETY: the operation is libfabric's no more.
                unsafe {
                    self.receives.idle.push((*operation).len);
                    self.operations.give_back(operation);
                }
                if entry.0.err != libc::ECANCELED {
                    let _ = self.post_receives();
                }
            }
        }
    }

    /// Does as a message says, which may be anybody's.
    fn take_message(&mut self, buffer: usize, len: usize) {
        // SAFETY: the buffer is not posted, and nobody else's.
        let bytes = unsafe { &*self.receives.buffers[buffer].get() };
        let message = bytes.get(..len).and_then(Message::decode);
        match message {
            Some(Message::Request(request)) if request.key == self.key => self.serve(request),
            Some(Message::Answer(answer)) if answer.key == self.key => self.hear(answer),
            Some(Message::Probe(probe)) if probe.key == self.key => self.tell(probe),
            _ => {}
        }
    }

    /// Executes an atomic operation for a peer, and answers where it asks for that.
    fn serve(&mut self, request: Request) {
        if request.from as usize >= self.peers.len() {
            return;
        }
        let bytes = usize::from(request.bytes);
        let place = self.own.place(request.region, request.address, bytes);
        // SAFETY: the object is in own memory that peers may change, and mapped.
        let found = place.and_then(|place| unsafe { execute(request.amo, place, bytes) });
        if request.asks {
            self.answer(request.from, request.token, found);
        } else if found.is_none() {
            self.peers[request.from as usize].is_refused = true;
        }
    }

    /// Answers a probe: all requests before it are executed.
    fn tell(&mut self, probe: Probe) {
        let Some(peer) = self.peers.get(probe.from as usize) else {
            return;
        };
        let found = (!peer.is_refused).then_some(0);
        self.answer(probe.from, probe.token, found);
    }

    fn answer(&mut self, peer: u32, token: u64, found: Option<u64>) {
        let answer = Answer {
            key: self.key,
            token,
            found,
        };
        self.owe(peer, answer);
        self.pay();
    }

    /// Has an answer wait until [`State::pay`].
    pub(crate) fn owe(&mut self, peer: u32, answer: Answer) {
        self.owed.push_back((peer, answer));
        self.batch.room = 0;
    }

    /// Ends the operation that an answer is for.
    fn hear(&mut self, answer: Answer) {
        let Some(operation) = self.operations.find(answer.token) else {
            return;
        };
        let failure = answer.found.is_none().then_some(Failure {
            errno: libc::EFAULT,
            operation: Kind::Atomic.name(),
        });
        let found = answer.found.unwrap_or(0);
        // SAFETY: the operation is under way; `dest` has room for so many bytes, and the notice is
        // alive.
        unsafe {
            let one = &*operation;
            if one.kind() == Kind::Silent {
                let lane = &*one.lane;
                lane.end_probe(operation);
                if let Some(failure) = failure {
                    lane.fail(one.peer(), failure);
                }
                return;
            }
            if let Some(notice) = one.notice.as_ref() {
                notice.found.set(found);
            }
            if !one.dest.is_null() {
                match one.len {
                    4 => one.dest.cast::<u32>().write_unaligned(found as u32),
                    _ => one.dest.cast::<u64>().write_unaligned(found),
                }
            }
            self.finish(operation, failure);
        }
    }

    /// Sends the answers that wait, as there is room.
    fn pay(&mut self) {
        while let Some(&(peer, answer)) = self.owed.front() {
            let (words, len) = Message::Answer(answer).encode();
            let address = self.peers[peer as usize].address;
            let ep = self.objects.ep;
            // SAFETY: the endpoint is open, and takes the bytes over.
            let sent = unsafe { ((*(*ep).msg).inject)(ep, words.as_ptr().cast(), len, address) };
            if sent == -(libc::EAGAIN as isize) {
                return;
            }
            // A peer that cannot be reached needs no answer.
            self.owed.pop_front();
        }
        self.batch.room = BATCH;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps_are_executed_anywhere_and_other_operations_where_objects_are_aligned() {
        let mut words = [0x1111_1111_1111_1111_u64; 3];
        let start = words.as_mut_ptr().expose_provenance();
        // SAFETY: the objects are in the words, which nobody else uses.
        unsafe {
            assert_eq!(execute(Amo::Swap(5), start, 8), Some(0x1111_1111_1111_1111));
            assert_eq!(
                execute(Amo::Swap(u64::MAX), start + 9, 8),
                Some(0x1111_1111_1111_1111)
            );
            assert_eq!(execute(Amo::Swap(u64::MAX), start + 2, 4), Some(0));
            assert_eq!(execute(Amo::Add(1), start + 2, 4), None);
            assert_eq!(execute(Amo::Add(1), start + 4, 4), Some(0xffff));
        }
        let left = [
            0x0001_0000_ffff_0005,
            0xffff_ffff_ffff_ff11,
            0x1111_1111_1111_11ff,
        ];
        assert_eq!(words, left);
    }
}
