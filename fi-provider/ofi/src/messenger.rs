//! An endpoint for messages alone, of one thread: they go from memory of the endpoint's, and come to
//! such memory.

use crate::candidates;
use crate::error::{Error, Failure};
use crate::objects::{Objects, Registration};
use crate::watch;
use fi_ofi_abi::*;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::os::fd::RawFd;

/// Buffers that are made at a time.
const CHUNK: usize = 32;
/// The most chunks: messages to that are under way beyond are refused.
const MOST_CHUNKS: usize = 64;
/// Chunks for messages that come.
const RECEIVING: usize = 4;
/// Completions that are taken at a time.
const BATCH: usize = 16;
/// The bytes of a line, to which buffers are rounded up.
const LINE: usize = 64;

/// Options by which a messenger is opened.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'a> {
    /// The provider to take; the best where it is not given.
    pub provider: Option<&'a str>,
    /// The longest message, in bytes.
    pub most: usize,
}

/// Messages by one endpoint of libfabric, which one thread uses.
#[derive(Debug)]
pub struct Messenger {
    objects: RefCell<Objects>,
    chunks: RefCell<Vec<Chunk>>,
    /// Buffers for messages to be sent.
    free: RefCell<Vec<*mut Slot>>,
    /// Buffers for messages that come, not posted.
    idle: RefCell<Vec<*mut Slot>>,
    events: RefCell<VecDeque<Event>>,
    /// Messages that libfabric has not told of yet.
    under_way: Cell<usize>,
    cq: *mut FidCq,
    ep: *mut FidEp,
    name: Box<[u8]>,
    provider: String,
    most: usize,
    is_registered: bool,
}

/// A message that has come, or one that could not be sent.
#[derive(Debug)]
pub enum Event {
    /// A message has come.
    Came(Buffer),
    /// A message to this peer was not sent, and maybe not the ones behind it.
    Failed(u64, Failure),
}

/// A message in its buffer, which goes back by [`Messenger::give_back`].
#[derive(Debug)]
pub struct Buffer {
    slot: *mut Slot,
    len: usize,
}

impl Buffer {
    /// Returns the first byte, aligned to 8; the bytes behind are readable up to the next multiple of 8.
    pub fn start(&self) -> *const u8 {
        // SAFETY: the slot lies in a chunk, which stays as long as the messenger.
        unsafe { (*self.slot).place }
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the message has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Reason why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no room now, or the way to the peer is not ready.
    Again,
    /// The peer cannot be reached.
    Failed(Failure),
}

/// One buffer, and the context of its operation.
#[derive(Debug)]
#[repr(C)]
struct Slot {
    /// libfabric's own (FI_CONTEXT2).
    context: [usize; 8],
    place: *mut u8,
    descriptor: *mut c_void,
    peer: u64,
    is_receive: bool,
}

/// Some buffers.
#[derive(Debug)]
struct Chunk {
    _memory: Box<[UnsafeCell<[u64; LINE / 8]>]>,
    slots: Box<[UnsafeCell<Slot>]>,
    registration: Option<Registration>,
}

impl Messenger {
    /// Opens an endpoint, which takes messages from then on.
    ///
    /// # Errors
    /// [`Error`], but for peers' addresses.
    pub fn open(wishes: Wishes<'_>) -> Result<Self, Error> {
        let mut candidate = candidates::best(wishes.provider)?;
        // SAFETY: the attributes of an entry are there.
        let is_registered = unsafe { (*candidate.info().domain_attr).mr_mode & FI_MR_LOCAL != 0 };
        let queue_size = candidate.queue_size();
        let objects = Objects::open(&mut candidate, queue_size)?;
        let messenger = Self {
            cq: objects.cq,
            ep: objects.ep,
            name: objects.name()?.into_boxed_slice(),
            objects: RefCell::new(objects),
            chunks: RefCell::default(),
            free: RefCell::default(),
            idle: RefCell::default(),
            events: RefCell::default(),
            under_way: Cell::new(0),
            provider: candidate.provider,
            most: wishes.most,
            is_registered,
        };
        for _ in 0..RECEIVING {
            messenger.add_chunk(true)?;
        }
        messenger.post_idle()?;
        Ok(messenger)
    }

    /// Returns the endpoint's address, in the provider's form.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Returns the provider's name.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// Inserts a peer's address, as its [`Messenger::name`] has it: of the same provider. Returns the
    /// provider's number of it.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn insert(&self, name: &[u8]) -> Result<u64, Error> {
        self.objects.borrow_mut().insert(name)
    }

    /// Sends a message of `len` bytes, which `fill` writes to memory aligned to 8: at most as many as
    /// the longest has. Messages to a peer are taken by it in their order, but may be told of in
    /// another one.
    ///
    /// # Errors
    /// [`Refused`]: then nothing was sent.
    pub fn send(&self, peer: u64, len: usize, fill: impl FnOnce(*mut u8)) -> Result<(), Refused> {
        assert!(len <= self.most, "a longer message than was agreed");
        let Some(slot) = self.take_free() else {
            return Err(Refused::Again);
        };
        // SAFETY: the slot lies in a chunk, which stays, and is this function's; the endpoint is open;
        // the structs are there during the call, and the buffer until the completion.
        let sent = unsafe {
            (*slot).peer = peer;
            fill((*slot).place);
            let piece = Iovec {
                iov_base: (*slot).place.cast(),
                iov_len: len,
            };
            let mut descriptor = (*slot).descriptor;
            let message = FiMsg {
                msg_iov: &raw const piece,
                desc: &raw mut descriptor,
                iov_count: 1,
                addr: peer,
                context: slot.cast(),
                data: 0,
            };
            ((*(*self.ep).msg).sendmsg)(self.ep, &raw const message, FI_COMPLETION)
        };
        if sent == 0 {
            self.under_way.set(self.under_way.get() + 1);
            return Ok(());
        }
        self.free.borrow_mut().push(slot);
        Err(match -sent as i32 {
            libc::EAGAIN => Refused::Again,
            errno => Refused::Failed(failure(errno)),
        })
    }

    /// Returns the next message that has come, or failure; none where there is nothing now. It makes
    /// progress.
    pub fn next(&self) -> Option<Event> {
        let known = self.events.borrow_mut().pop_front();
        known.or_else(|| {
            self.look();
            self.events.borrow_mut().pop_front()
        })
    }

    /// Looks whether nobody listens at a peer's address any more, where that is an internet address:
    /// some providers tell no error of such a peer, and have no room for messages to it. Takes up to
    /// 0.1 s.
    pub fn is_refused(name: &[u8]) -> bool {
        watch::is_refused(name)
    }

    /// Has a buffer take another message.
    pub fn give_back(&self, buffer: Buffer) {
        self.idle.borrow_mut().push(buffer.slot);
        // It is posted with a later one; a failure shows with the next operation.
        let _ = self.post_idle();
    }

    /// Returns whether libfabric has told of all messages that were sent.
    pub fn is_quiet(&self) -> bool {
        self.under_way.get() == 0
    }

    /// Returns the descriptor that is readable when there may be something for [`Messenger::next`],
    /// behind a [`Messenger::may_sleep`] that returned true; none where the provider has none.
    pub fn descriptor(&self) -> Option<RawFd> {
        self.objects.borrow().descriptor
    }

    /// Returns whether the thread may sleep on the descriptor now (fi_trywait).
    pub fn may_sleep(&self) -> bool {
        self.events.borrow().is_empty() && self.objects.borrow().may_sleep()
    }

    /// Returns a free buffer for a message; none where too many are under way.
    fn take_free(&self) -> Option<*mut Slot> {
        let free = self.free.borrow_mut().pop();
        free.or_else(|| {
            let is_full = self.chunks.borrow().len() >= MOST_CHUNKS + RECEIVING;
            if is_full || self.add_chunk(false).is_err() {
                return None;
            }
            self.free.borrow_mut().pop()
        })
    }

    /// Makes more buffers.
    fn add_chunk(&self, are_receives: bool) -> Result<(), Error> {
        let lines = self.most.div_ceil(LINE);
        let none = || UnsafeCell::new([0_u64; LINE / 8]);
        let memory: Box<[_]> = (0..lines * CHUNK).map(|_| none()).collect();
        let start = memory[0].get().cast::<u8>();
        let registration = self
            .is_registered
            // SAFETY: the memory is kept until the registration has ended.
            .then(|| unsafe {
                let mut objects = self.objects.borrow_mut();
                objects.register(start, size_of_val(&*memory), false)
            })
            .transpose()?;
        let descriptor = registration
            .as_ref()
            .map_or(std::ptr::null_mut(), |one| one.descriptor);
        let slot = |index| {
            UnsafeCell::new(Slot {
                context: [0; 8],
                place: start.wrapping_add(index * lines * LINE),
                descriptor,
                peer: FI_ADDR_UNSPEC,
                is_receive: are_receives,
            })
        };
        let slots: Box<[_]> = (0..CHUNK).map(slot).collect();
        let list = if are_receives { &self.idle } else { &self.free };
        list.borrow_mut().extend(slots.iter().map(UnsafeCell::get));
        self.chunks.borrow_mut().push(Chunk {
            _memory: memory,
            slots,
            registration,
        });
        Ok(())
    }

    /// Posts the buffers for messages that come, as there is room.
    fn post_idle(&self) -> Result<(), Error> {
        let mut idle = self.idle.borrow_mut();
        while let Some(&slot) = idle.last() {
            let room = self.most.next_multiple_of(LINE);
            // SAFETY: the slot lies in a chunk, which stays, and is this function's; the endpoint is
            // open, and the buffer is nobody else's until the completion.
            let posted = unsafe {
                let (place, descriptor) = ((*slot).place.cast(), (*slot).descriptor);
                let receive = (*(*self.ep).msg).recv;
                receive(
                    self.ep,
                    place,
                    room,
                    descriptor,
                    FI_ADDR_UNSPEC,
                    slot.cast(),
                )
            };
            match -posted as i32 {
                0 => idle.pop(),
                libc::EAGAIN => return Ok(()),
                errno => return Err(self.objects.borrow().error("fi_recv", errno)),
            };
        }
        Ok(())
    }

    /// Takes completions.
    fn look(&self) {
        let mut entries = [const {
            FiCqMsgEntry {
                op_context: std::ptr::null_mut(),
                flags: 0,
                len: 0,
            }
        }; BATCH];
        // SAFETY: the queue is open, and there is room for so many entries of its format.
        let read = unsafe { ((*(*self.cq).ops).read)(self.cq, entries.as_mut_ptr().cast(), BATCH) };
        if read == -(FI_EAVAIL as isize) {
            return self.take_error();
        }
        let count = usize::try_from(read).unwrap_or(0);
        for entry in &entries[..count] {
            let slot: *mut Slot = entry.op_context.cast();
            // SAFETY: contexts are slots, which lie in chunks that stay.
            if unsafe { (*slot).is_receive } {
                let len = entry.len;
                let came = Event::Came(Buffer { slot, len });
                self.events.borrow_mut().push_back(came);
            } else {
                self.end(slot);
            }
        }
    }

    /// Ends a message that was sent.
    fn end(&self, slot: *mut Slot) {
        self.under_way.set(self.under_way.get() - 1);
        self.free.borrow_mut().push(slot);
    }

    #[cold]
    fn take_error(&self) {
        // SAFETY: any entry of zeros is valid; later versions of libfabric have longer ones, for
        // which there is room.
        let mut entry: (FiCqErrEntry, [u64; 8]) = unsafe { std::mem::zeroed() };
        // SAFETY: the queue is open, and there is room for the entry.
        let read = unsafe { ((*(*self.cq).ops).readerr)(self.cq, &raw mut entry.0, 0) };
        let slot: *mut Slot = entry.0.op_context.cast();
        if read <= 0 || slot.is_null() {
            return;
        }
        // SAFETY: contexts are slots, which lie in chunks that stay.
        let (peer, is_receive) = unsafe { ((*slot).peer, (*slot).is_receive) };
        if is_receive {
            // One that was longer than agreed, or of a connection that has broken.
            self.idle.borrow_mut().push(slot);
            if entry.0.err != libc::ECANCELED {
                let _ = self.post_idle();
            }
            return;
        }
        self.end(slot);
        let failed = Event::Failed(peer, failure(entry.0.err));
        self.events.borrow_mut().push_back(failed);
    }
}

fn failure(errno: i32) -> Failure {
    Failure {
        errno,
        operation: "send",
    }
}

impl Drop for Messenger {
    fn drop(&mut self) {
        self.objects.get_mut().close_endpoint();
        for chunk in self.chunks.get_mut() {
            debug_assert_eq!(chunk.slots.len(), CHUNK);
            if let Some(registration) = &chunk.registration {
                Objects::deregister(registration);
            }
        }
    }
}
