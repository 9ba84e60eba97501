//! The arguments of calls that post: structs in one place, most fields of which never change.

use crate::message::WORDS;
use crate::transfer::{Local, Place};
use fi_ofi_abi::{FiMsg, FiMsgRma, FiRmaIov, Iovec};
use std::ffi::c_void;
use std::ptr::NonNull;

/// The structs; those of one call are used again by the next.
#[derive(Debug)]
pub(crate) struct Forms(NonNull<Form>);

// SAFETY: the structs are this value's alone; no call reads them behind its end.
unsafe impl Send for Forms {}

#[derive(Debug)]
struct Form {
    transfer: FiMsgRma,
    own: Iovec,
    theirs: FiRmaIov,
    descriptor: *mut c_void,
    message: FiMsg,
    text: Iovec,
    words: [u64; WORDS],
}

impl Forms {
    pub(crate) fn new() -> Self {
        // SAFETY: zeros are valid structs of numbers and pointers.
        let form = Box::leak(Box::new(unsafe { std::mem::zeroed::<Form>() }));
        let place = &raw mut *form;
        // SAFETY: the structs are this function's alone until it returns.
        unsafe {
            (*place).transfer.msg_iov = &raw const (*place).own;
            (*place).transfer.desc = &raw mut (*place).descriptor;
            (*place).transfer.iov_count = 1;
            (*place).transfer.rma_iov = &raw const (*place).theirs;
            (*place).transfer.rma_iov_count = 1;
            (*place).text.iov_base = (&raw mut (*place).words).cast();
            (*place).message.msg_iov = &raw const (*place).text;
            (*place).message.iov_count = 1;
            Self(NonNull::new_unchecked(place))
        }
    }

    /// The arguments of a transfer between own memory and a peer's.
    #[inline(always)]
    pub(crate) fn transfer(
        &mut self,
        local: Local,
        place: Place,
        peer: u64,
        context: *mut c_void,
    ) -> *const FiMsgRma {
        // SAFETY: the structs are this value's alone.
        let form = unsafe { self.0.as_mut() };
        form.own.iov_base = local.start.cast();
        form.own.iov_len = local.len;
        form.descriptor = local.descriptor;
        form.theirs.addr = place.address;
        form.theirs.len = local.len;
        form.theirs.key = place.key;
        form.transfer.addr = peer;
        form.transfer.context = context;
        &raw const form.transfer
    }

    /// The arguments of a send of the first words.
    #[inline(always)]
    pub(crate) fn message(
        &mut self,
        words: [u64; WORDS],
        bytes: usize,
        peer: u64,
        context: *mut c_void,
    ) -> *const FiMsg {
        // SAFETY: the structs are this value's alone.
        let form = unsafe { self.0.as_mut() };
        form.words = words;
        form.text.iov_len = bytes;
        form.message.addr = peer;
        form.message.context = context;
        &raw const form.message
    }
}

impl Drop for Forms {
    fn drop(&mut self) {
        // SAFETY: the allocation is this value's, and was leaked.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
