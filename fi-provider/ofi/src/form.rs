//! The arguments of calls that post: structs in one place, most fields of which never change.
//!
//! Each kind of short post has structs of its own: lengths and flags are there already, and an
//! address, a key and a context are stored. A message that swaps an element is its operation's.

use crate::message::{self, WORDS};
use crate::operation::{Kind, Operation};
use crate::transfer::{Local, Place};
use fi_ofi_abi::{FiMsg, FiMsgRma, FiRmaIov, FidEp, Iovec};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::marker::PhantomPinned;
use std::mem::MaybeUninit;

/// A transfer of one range.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Transfer {
    pub(crate) call: FiMsgRma,
    own: Iovec,
    theirs: FiRmaIov,
    descriptor: *mut c_void,
}

/// A message of a few words.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Words {
    pub(crate) call: FiMsg,
    text: Iovec,
    words: [u64; WORDS],
}

/// The message of an operation that swaps an element.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Swap {
    pub(crate) call: FiMsg,
    text: Iovec,
    pub(crate) head: Head,
    /// The words behind the first one.
    words: [u64; WORDS - 1],
}

/// The first word of a request, as it lies in memory.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Head {
    request: [u8; 2],
    bytes: u8,
    /// The kind of the operation that has the message, beside its length: both are stored at once.
    /// The receiver skips it.
    pub(crate) kind: Kind,
    from: [u8; 4],
}

const _: () = assert!(size_of::<Head>() == size_of::<u64>());

/// The structs, and the functions that take them. Those of one call are used again by the next.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Form {
    pub(crate) ep: *mut FidEp,
    pub(crate) writemsg: unsafe extern "C" fn(*mut FidEp, *const FiMsgRma, u64) -> isize,
    pub(crate) sendmsg: unsafe extern "C" fn(*mut FidEp, *const FiMsg, u64) -> isize,
    /// The message of an operation that is sent.
    pub(crate) sent: *mut Swap,
    /// A word of a caller that looks at the queue; it needs no register meanwhile.
    pub(crate) parked: MaybeUninit<u64>,
    /// Writes of 8 bytes, and of any few, that the call takes over.
    pub(crate) word: Transfer,
    pub(crate) short: Transfer,
    /// The bytes of an element that is written.
    pub(crate) held: u64,
    /// Other transfers and messages.
    transfer: Transfer,
    pub(crate) message: Words,
    _pinned: PhantomPinned,
}

/// The structs of a port, guarded by its lock; they lie in one place, as they point to each other.
#[derive(Debug)]
pub(crate) struct Forms(UnsafeCell<Form>);

// SAFETY: guarded by the port's lock; no call reads the structs behind its end.
unsafe impl Send for Forms {}
// SAFETY: guarded by the port's lock; no call reads the structs behind its end.
unsafe impl Sync for Forms {}

impl Forms {
    /// Makes structs for calls on the endpoint, which point nowhere before [`Forms::bind`].
    ///
    /// # Safety
    /// The endpoint is open.
    pub(crate) unsafe fn new(ep: *mut FidEp) -> Self {
        // SAFETY: the endpoint is open; zeros are valid structs of numbers and pointers.
        unsafe {
            Self(UnsafeCell::new(Form {
                ep,
                writemsg: (*(*ep).rma).writemsg,
                sendmsg: (*(*ep).msg).sendmsg,
                sent: std::ptr::null_mut(),
                parked: MaybeUninit::uninit(),
                word: std::mem::zeroed(),
                short: std::mem::zeroed(),
                held: 0,
                transfer: std::mem::zeroed(),
                message: Words::new(),
                _pinned: PhantomPinned,
            }))
        }
    }

    /// Has the structs point to each other.
    ///
    /// # Safety
    /// They stay where they are from now on, and nobody uses them yet.
    pub(crate) unsafe fn bind(&self) {
        let form = self.0.get();
        // SAFETY: nobody else uses the structs.
        unsafe {
            for transfer in [
                &raw mut (*form).word,
                &raw mut (*form).short,
                &raw mut (*form).transfer,
            ] {
                (*transfer).call.msg_iov = &raw const (*transfer).own;
                (*transfer).call.desc = &raw mut (*transfer).descriptor;
                (*transfer).call.iov_count = 1;
                (*transfer).call.rma_iov = &raw const (*transfer).theirs;
                (*transfer).call.rma_iov_count = 1;
            }
            (*form).word.own.iov_len = size_of::<u64>();
            (*form).word.theirs.len = size_of::<u64>();
            Words::bind(&raw mut (*form).message);
        }
    }

    /// Returns the structs.
    #[inline(always)]
    pub(crate) fn get(&self) -> *mut Form {
        self.0.get()
    }
}

impl Form {
    /// Returns the arguments of a transfer between own memory and a peer's.
    #[inline(always)]
    pub(crate) fn transfer(
        &mut self,
        local: Local,
        place: Place,
        peer: u64,
        context: *mut Operation,
    ) -> *const FiMsgRma {
        let form = &mut self.transfer;
        form.descriptor = local.descriptor;
        form.fill(local.start, local.len, place, peer, context);
        &raw const form.call
    }

    /// Returns the arguments of a send of the first words.
    #[inline(always)]
    pub(crate) fn message(
        &mut self,
        words: [u64; WORDS],
        bytes: usize,
        peer: u64,
        context: *mut Operation,
    ) -> *mut FiMsg {
        let form = &mut self.message;
        form.words = words;
        form.text.iov_len = bytes;
        form.call.addr = peer;
        form.call.context = context.cast();
        &raw mut form.call
    }
}

impl Transfer {
    /// Makes it a transfer of `len` bytes, which the operation is told of.
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        start: *mut u8,
        len: usize,
        place: Place,
        peer: u64,
        operation: *mut Operation,
    ) {
        self.own.iov_len = len;
        self.theirs.len = len;
        self.fill_word(start, place, peer, operation);
    }

    /// Makes it a transfer of as many bytes as the last one.
    #[inline(always)]
    pub(crate) fn fill_word(
        &mut self,
        start: *mut u8,
        place: Place,
        peer: u64,
        operation: *mut Operation,
    ) {
        // SAFETY: the operation is the caller's.
        unsafe { (*operation).set_peer(place.peer) };
        self.own.iov_base = start.cast();
        self.theirs.addr = place.address;
        self.theirs.key = place.key;
        self.call.addr = peer;
        self.call.context = operation.cast();
    }
}

impl Words {
    /// Makes a message that points nowhere before [`Words::bind`].
    fn new() -> Self {
        // SAFETY: zeros are valid structs of numbers and pointers.
        unsafe { std::mem::zeroed() }
    }

    /// Has the structs point to each other.
    ///
    /// # Safety
    /// They stay where they are from now on, and nobody uses them yet.
    unsafe fn bind(words: *mut Self) {
        // SAFETY: nobody else uses the structs.
        unsafe {
            (*words).text.iov_base = (&raw mut (*words).words).cast();
            (*words).text.iov_len = message::BYTES;
            (*words).call.msg_iov = &raw const (*words).text;
            (*words).call.iov_count = 1;
        }
    }
}

impl Swap {
    /// Makes a message of process `own`, which points nowhere before [`Swap::bind`].
    pub(crate) fn new(own: u32) -> Self {
        let [request, code, bytes, _, from @ ..] = message::swap_head(0, own).to_ne_bytes();
        Self {
            // SAFETY: zeros are valid structs of numbers and pointers.
            call: unsafe { std::mem::zeroed() },
            text: Iovec {
                iov_base: std::ptr::null_mut(),
                iov_len: message::BYTES,
            },
            head: Head {
                request: [request, code],
                bytes,
                kind: Kind::Plain,
                from,
            },
            words: [0; WORDS - 1],
        }
    }

    /// Has the structs point to each other, and makes them the message of this operation.
    ///
    /// # Safety
    /// They stay where they are from now on, and nobody uses them yet.
    pub(crate) unsafe fn bind(swap: *mut Self, operation: *mut Operation, token: u64) {
        // SAFETY: nobody else uses the structs.
        unsafe {
            (*swap).text.iov_base = (&raw mut (*swap).head).cast();
            (*swap).call.msg_iov = &raw const (*swap).text;
            (*swap).call.iov_count = 1;
            (*swap).call.context = operation.cast();
            (*swap).set_token(token);
        }
    }

    /// Returns the key of the job.
    #[inline(always)]
    pub(crate) fn key(&self) -> u64 {
        u64::from_le(self.words[0])
    }

    pub(crate) fn set_key(&mut self, key: u64) {
        self.words[0] = key.to_le();
    }

    pub(crate) fn set_token(&mut self, token: u64) {
        self.words[1] = token.to_le();
    }

    #[cfg(test)]
    pub(crate) fn token(&self) -> u64 {
        u64::from_le(self.words[1])
    }

    pub(crate) fn set_peer(&mut self, peer: u32) {
        self.call.addr = peer.into();
    }

    /// Returns the peer that it was sent to, whose number is the provider's.
    pub(crate) fn peer(&self) -> u32 {
        self.call.addr as u32
    }

    /// Makes it a request to this peer that asks for its answer.
    #[inline(always)]
    pub(crate) fn fill_first(&mut self, peer: u32) {
        self.head.kind = Kind::Swap;
        self.call.addr = peer.into();
    }

    /// Makes it a request to swap the element of 4 or 8 bytes at `place`, of the peer that it has.
    #[inline(always)]
    pub(crate) fn fill(&mut self, value: u64, place: Place, bytes: usize) {
        self.words[2] = place.key.to_le();
        self.fill_again(value, place.address, bytes);
    }

    /// Does as [`Swap::fill`], in the region of before.
    #[inline(always)]
    pub(crate) fn fill_again(&mut self, value: u64, address: u64, bytes: usize) {
        self.head.bytes = bytes as u8;
        self.words[3] = address.to_le();
        let value = value.to_le_bytes();
        let room: *mut u8 = (&raw mut self.words[4]).cast();
        // SAFETY: the word has room for them; the receiver takes no others.
        unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), room, bytes) };
    }
}
